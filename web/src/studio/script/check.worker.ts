// What a build says about Lua scripts, in a thread of its own so that typing never waits for it. The
// rules are those of core.wasm, the same as the server's.
import wasmUrl from '../../../../build/wasm/core.wasm?url'; // made by the wasm preset

import { Core, type ScriptCheck } from '../../core/bridge.ts';

export interface CheckRequest {
    id: number;
    path: string;
    files: Map<string, Uint8Array>; // this one, place.json, and the names of the other scripts
}
export interface CheckAnswer {
    id: number;
    check: ScriptCheck | null; // null: see failure
    failure: string;
    ms: number;
}

interface WorkerScope {
    postMessage(message: CheckAnswer): void;
    addEventListener(type: 'message', listener: (event: MessageEvent<CheckRequest>) => void): void;
}
const scope = self as unknown as WorkerScope;

let core: Promise<Core> | null = null;

async function answer({ id, path, files }: CheckRequest): Promise<CheckAnswer> {
    core ??= WebAssembly.compileStreaming(fetch(wasmUrl)).then((module) => Core.load(module));
    const ready = await core;
    const start = performance.now();
    const check = ready.checkScript(path, files);
    return { id, check, failure: '', ms: performance.now() - start };
}

scope.addEventListener('message', ({ data }) => {
    answer(data).catch((error: unknown) => {
        core = error instanceof WebAssembly.RuntimeError || error instanceof TypeError ? null : core;
        return { id: data.id, check: null, failure: String(error), ms: 0 };
    }).then((said) => scope.postMessage(said), () => undefined);
});

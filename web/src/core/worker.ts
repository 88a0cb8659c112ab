// The worker: the client in WASM, its connection, and the clock that drives it. Workers' timers
// continue while the tab is hidden, so the player stays in the world and is not dropped.
import wasmUrl from '../../../build/wasm/core.wasm?url'; // made by the wasm preset

import { Core } from './bridge.ts';
import type { FromWorker, Join, ToWorker } from './channel.ts';
import { checkPlace } from './check.ts';
import { ClientLoop, UPDATE_MS } from './client_loop.ts';
import { Link } from './link.ts';
import { speak } from '../ui/languages.ts';
import { linkWords as words } from '../ui/link_words.ts';

declare const CORE_BYTES: number; // of core.wasm, by vite.config.ts

// The page's library of types has no workers; this is what is used of one.
interface WorkerScope {
    postMessage(message: FromWorker, transfer: Transferable[]): void;
    addEventListener(type: 'message', listener: (event: MessageEvent<ToWorker>) => void): void;
}
const scope = self as unknown as WorkerScope;
const tell = (message: FromWorker, transfer: Transferable[] = []): void =>
    scope.postMessage(message, transfer);

let module: Promise<WebAssembly.Module> | null = null;
let core: Promise<Core> | null = null;
let link: Link | null = null;
let isDamaged = false; // what came of the core was no module: the browser must not give it again
const loop = new ClientLoop(tell);

// --- messages from the page ---

// A copy is counted: browsers keep what they compiled of an answer that they got themselves.
async function count(answer: Response): Promise<void> {
    const reader = answer.body?.getReader();
    for (let have = 0; reader !== undefined;) {
        const { done, value } = await reader.read();
        if (done) {
            break;
        }
        have += value.length;
        tell({ type: 'core', have, bytes: CORE_BYTES });
    }
}

async function fetchCore(): Promise<Response> {
    const answer = await fetch(wasmUrl, { cache: isDamaged ? 'reload' : 'default' });
    if (answer.ok) {
        count(answer.clone()).catch(() => undefined); // who compiles it hears of it too
    }
    return answer;
}

function compiled(): Promise<WebAssembly.Module> {
    module ??= WebAssembly.compileStreaming(fetchCore()).catch((error: unknown) => {
        module = null; // the next one who asks tries again
        isDamaged = true;
        throw error;
    });
    return module;
}

// Why there is no core, and what one can do.
function coreTrouble(error: unknown): string {
    return typeof WebAssembly === 'undefined' ? words.core.refused
        : error instanceof WebAssembly.CompileError ? words.core.damaged(String(error))
        : error instanceof TypeError ? words.core.unreachable
        : words.core.failed(String(error));
}

async function load(): Promise<Core> {
    if (typeof WebAssembly === 'undefined') {
        throw new Error('no WebAssembly');
    }
    return Core.load(await compiled());
}

async function start(join: Join): Promise<void> {
    link?.leave(); // nothing of it is told any more
    await speak(join.language, words);
    tell({ type: 'status', phase: 'starting', text: words.joining.start });
    core ??= load();
    const ready = await core;
    link?.abandon();
    link?.client.destroy();
    link = new Link(ready, join, tell);
    loop.setLink(link, ready);
    await link.start();
}

// In an instance of its own, so that what goes wrong in it does not end a game, and its memory is
// given back.
async function check(files: Map<string, Uint8Array>): Promise<void> {
    try {
        const checker = await Core.load(await compiled());
        tell({ type: 'checked', failure: '', ...checkPlace(checker, files) });
    } catch (error) {
        tell({ type: 'checked', failure: String(error), scripts: 0, diagnostics: [] });
    }
}

// A trap in WASM leaves its memory in an undefined state: the session ends, and the page shows why.
function guarded(work: () => void): void {
    try {
        work();
    } catch (error) {
        link?.abandon();
        link = null;
        loop.setLink(null, null);
        core = null;
        tell({
            type: 'status', phase: 'closed',
            text: words.core.trapped(String(error)),
        });
    }
}

function hear(message: ToWorker): void {
    if (message.type === 'join') {
        start(message).catch((error: unknown) => {
            core = null;
            tell({
                type: 'status', phase: 'closed', trouble: 'core', text: coreTrouble(error),
            });
        });
    } else if (message.type === 'check') {
        void check(message.files);
    } else {
        loop.hear(message);
    }
}

// While the player still reads the first screen.
if (typeof WebAssembly !== 'undefined') {
    compiled().catch(() => undefined); // it is tried again, and said, when it is needed
}
scope.addEventListener('message', (event) => guarded(() => hear(event.data)));
setInterval(() => guarded(() => loop.update()), UPDATE_MS);

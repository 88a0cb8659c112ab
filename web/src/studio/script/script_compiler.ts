// Compiling and running scripts, as the script-system document has it: one facade with a cache by script
// and hash, a few compiles per frame, parameters parsed once per hash, and a measure of everything. What
// compiles and runs is given to it: in the studio the checker's worker and the TypeScript compiler, for
// running a small world in core.wasm.
import { signal, type Signal } from '@preact/signals';

import { hashOf } from './hash.ts';
import { perfMark, perfMeasure } from './perf.ts';

export interface CompileRequest {
    scriptId: string;
    code: string;
    codeHash?: string; // equal id and hash: nothing is compiled again
}
export interface CompileResult {
    ok: boolean;
    error?: string;
    compileMs: number;
    cached?: boolean;
}
export type Lifecycle = 'onStart' | 'onUpdate' | 'onDestroy' | 'onEnable' | 'onDisable';
export interface ExecuteOptions {
    entityId: number;
    maxExecutionTimeMs?: number;
    parameters?: Record<string, unknown>;
    parametersJson?: string; // as a creator typed them
    parametersHash?: string; // equal hash: not parsed again
    deltaTimeSec?: number;
}
export interface ExecuteResult {
    ok: boolean;
    execMs: number;
    error?: string;
}
export interface IScriptCompiler {
    compile(request: CompileRequest): Promise<CompileResult>;
    execute(scriptId: string, lifecycle: Lifecycle, options: ExecuteOptions): ExecuteResult;
    invalidate(scriptId: string): void;
    getScriptSystemStats(): ScriptSystemStats;
    readonly change: Signal<number>; // of the stats
}

export interface EntityTiming {
    entityId: number;
    scriptId: string;
    calls: number;
    ms: number;
}
export interface ScriptSystemStats {
    compiles: number;
    cacheHits: number;
    pendingCompiles: number;
    averageCompileMs: number;
    executions: number;
    averageExecutionMs: number;
    slow: number; // calls that took longer than their maxExecutionTimeMs
    invalidParameters: { scriptId: string; entityId: number; error: string }[];
    entities: EntityTiming[]; // the dearest first
}

export interface ScriptCompilerParts {
    // Lua of it, ready to run; throws with file and line.
    build(scriptId: string, code: string): Promise<{ lua: string }>;
    // Null: nothing here runs scripts.
    run: ((scriptId: string, lua: string, lifecycle: Lifecycle, entityId: number,
        parameters: Record<string, unknown>, deltaTimeSec: number) => { error?: string }) | null;
    nextFrame(work: () => void): void;
    compilesPerFrame: number;
    warn(text: string): void;
}

const SLOW_SKIPS = 10; // calls of onUpdate that are left out after a slow one
const ENTITIES_LISTED = 20;
const encoder = new TextEncoder();

interface Compiled {
    hash: string;
    lua: string;
    result: CompileResult;
}
interface Parameters {
    hash: string;
    good: Record<string, unknown>; // the last that could be read
    error: string;
}

export function createScriptCompiler(parts: ScriptCompilerParts): IScriptCompiler {
    const compiled = new Map<string, Compiled>();
    const parameters = new Map<string, Parameters>(); // by script and entity
    const timings = new Map<string, EntityTiming>();
    const throttled = new Map<string, number>();
    const warned = new Set<string>();
    const queue: { request: CompileRequest; hash: string; done: (result: CompileResult) => void }[] = [];
    const change = signal(0);
    const totals = { compiles: 0, cacheHits: 0, compileMs: 0, executions: 0, execMs: 0, slow: 0, running: 0 };
    let isScheduled = false;
    let marks = 0; // so that two of one script have marks of their own

    const touch = (): void => { change.value = change.peek() + 1; };

    async function compileOne({ scriptId, code }: CompileRequest, hash: string): Promise<CompileResult> {
        const mark = ++marks;
        const start = perfMark(`sandlot.compile.start ${mark} ${scriptId}`).name;
        let lua = '';
        let error: string | undefined;
        totals.running += 1;
        try {
            ({ lua } = await parts.build(scriptId, code));
        } catch (thrown) {
            error = thrown instanceof Error ? thrown.message : String(thrown);
        }
        totals.running -= 1;
        const end = perfMark(`sandlot.compile.end ${mark} ${scriptId}`).name;
        const compileMs = perfMeasure('sandlot.compile', start, end);
        totals.compiles += 1;
        totals.compileMs += compileMs;
        const result: CompileResult = { ok: error === undefined, compileMs, ...(error === undefined ? {} : { error }) };
        const before = compiled.get(scriptId);
        // What does not compile leaves the last good one to run.
        compiled.set(scriptId, { hash, lua: error === undefined ? lua : before?.lua ?? '', result });
        return result;
    }

    function work(): void {
        isScheduled = false;
        for (const { request, hash, done } of queue.splice(0, parts.compilesPerFrame)) {
            void compileOne(request, hash).then((result) => {
                done(result);
                touch();
            });
        }
        schedule();
        touch();
    }

    function schedule(): void {
        if (!isScheduled && queue.length > 0) {
            isScheduled = true;
            parts.nextFrame(work);
        }
    }

    function warnOnce(key: string, text: string): void {
        if (!warned.has(key)) {
            warned.add(key);
            parts.warn(text);
        }
    }

    function readParameters(scriptId: string, options: ExecuteOptions): Record<string, unknown> {
        if (options.parametersJson === undefined) {
            return options.parameters ?? {};
        }
        const key = `${scriptId} ${options.entityId}`;
        const hash = options.parametersHash ?? options.parametersJson;
        const known = parameters.get(key);
        if (known?.hash === hash) {
            return known.good;
        }
        let good = known?.good ?? {};
        let error = '';
        try {
            const read: unknown = JSON.parse(options.parametersJson);
            if (read === null || typeof read !== 'object' || Array.isArray(read)) {
                throw new Error('parameters are an object: {"name": value}');
            }
            good = read as Record<string, unknown>;
        } catch (thrown) {
            error = thrown instanceof Error ? thrown.message : String(thrown);
        }
        parameters.set(key, { hash, good, error });
        touch();
        return good;
    }

    function isLeftOut(key: string, lifecycle: Lifecycle): boolean {
        const left = throttled.get(key) ?? 0;
        if (lifecycle !== 'onUpdate' || left === 0) {
            return false;
        }
        throttled.set(key, left - 1);
        return true;
    }

    function count(scriptId: string, options: ExecuteOptions, execMs: number): void {
        const key = `${scriptId} ${options.entityId}`;
        const timing = timings.get(key) ?? { entityId: options.entityId, scriptId, calls: 0, ms: 0 };
        timings.set(key, { ...timing, calls: timing.calls + 1, ms: timing.ms + execMs });
        totals.executions += 1;
        totals.execMs += execMs;
        if (options.maxExecutionTimeMs !== undefined && execMs > options.maxExecutionTimeMs) {
            totals.slow += 1;
            throttled.set(key, SLOW_SKIPS);
            warnOnce(`slow ${key}`, `${scriptId} took ${execMs.toFixed(1)} ms on entity ${options.entityId}; it may take ` +
                `${options.maxExecutionTimeMs}, so it runs less often`);
        }
        touch();
    }

    return {
        change,
        compile(request) {
            const hash = request.codeHash ?? hashOf(encoder.encode(request.code));
            const known = compiled.get(request.scriptId);
            if (known?.hash === hash) {
                totals.cacheHits += 1;
                touch();
                return Promise.resolve({ ...known.result, cached: true });
            }
            return new Promise((done) => {
                // What waits for the same script is replaced: only its newest text counts.
                const at = queue.findIndex((waiting) => waiting.request.scriptId === request.scriptId);
                if (at >= 0) {
                    const [old] = queue.splice(at, 1);
                    void Promise.resolve().then(() => old?.done({ ok: false, error: 'replaced by a newer text', compileMs: 0 }));
                }
                queue.push({ request, hash, done });
                schedule();
                touch();
            });
        },
        execute(scriptId, lifecycle, options) {
            const script = compiled.get(scriptId);
            if (script === undefined || script.lua === '') {
                warnOnce(`missing ${scriptId}`, scriptId === '' ? `entity ${options.entityId} has no scriptPath: its script is left out`
                    : `${scriptId} is not compiled: the script of entity ${options.entityId} is left out`);
                return { ok: false, execMs: 0, error: 'there is no such script' };
            }
            if (parts.run === null || isLeftOut(`${scriptId} ${options.entityId}`, lifecycle)) {
                return { ok: true, execMs: 0 };
            }
            const given = readParameters(scriptId, options);
            const start = perfMark(`sandlot.execute.start ${scriptId}`).name;
            const { error } = parts.run(scriptId, script.lua, lifecycle, options.entityId, given, options.deltaTimeSec ?? 1 / 60);
            const end = perfMark(`sandlot.execute.end ${scriptId}`).name;
            const execMs = perfMeasure('sandlot.execute', start, end);
            count(scriptId, options, execMs);
            return { ok: error === undefined, execMs, ...(error === undefined ? {} : { error }) };
        },
        invalidate(scriptId) {
            compiled.delete(scriptId);
            for (const key of [...parameters.keys(), ...timings.keys()].filter((each) => each.startsWith(`${scriptId} `))) {
                parameters.delete(key);
                timings.delete(key);
            }
            touch();
        },
        getScriptSystemStats() {
            const average = (sum: number, all: number): number => all === 0 ? 0 : sum / all;
            return {
                compiles: totals.compiles, cacheHits: totals.cacheHits, pendingCompiles: queue.length + totals.running,
                averageCompileMs: average(totals.compileMs, totals.compiles), executions: totals.executions,
                averageExecutionMs: average(totals.execMs, totals.executions), slow: totals.slow,
                invalidParameters: [...parameters].filter(([, { error }]) => error !== '').map(([key, { error }]) => ({
                    scriptId: key.slice(0, key.lastIndexOf(' ')), entityId: Number(key.slice(key.lastIndexOf(' ') + 1)), error,
                })),
                entities: [...timings.values()].sort((a, b) => b.ms - a.ms).slice(0, ENTITIES_LISTED),
            };
        },
    };
}

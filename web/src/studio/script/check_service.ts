// Asks the worker that checks Lua. One script is checked at a time, and of several requests for one
// script only the newest is answered: what was typed since makes the others worthless.
import type { ScriptCheck } from '../../core/bridge.ts';
import type { CheckAnswer, CheckRequest } from './check.worker.ts';

const TRIES_MAX = 3; // of starting the worker

type Waiting = { request: CheckRequest; done: (check: ScriptCheck | null) => void; fail: (error: Error) => void };

export interface WorkerLike {
    postMessage(message: unknown): void;
    addEventListener(type: 'message', listener: (event: { data: CheckAnswer }) => void): void;
    addEventListener(type: 'error', listener: () => void): void;
    terminate(): void;
}

export class CheckService {
    private worker: WorkerLike | null = null;
    private running: Waiting | null = null;
    private readonly waiting = new Map<string, Waiting>();
    private nextId = 1;
    private failures = 0;
    private readonly start: () => WorkerLike;
    lastMs = 0; // what the last check took

    constructor(start: () => WorkerLike) {
        this.start = start;
    }

    // Null: a newer request for the same script took its place.
    check(path: string, files: Map<string, Uint8Array>): Promise<ScriptCheck | null> {
        this.waiting.get(path)?.done(null);
        return new Promise((done, fail) => {
            this.waiting.set(path, { request: { id: this.nextId++, path, files }, done, fail });
            this.next();
        });
    }

    private next(): void {
        const [path, first] = this.waiting.entries().next().value ?? [];
        if (this.running !== null || path === undefined || first === undefined) {
            return;
        }
        this.waiting.delete(path);
        this.running = first;
        this.worker ??= this.begin();
        this.worker.postMessage(first.request);
    }

    private begin(): WorkerLike {
        const worker = this.start();
        worker.addEventListener('message', ({ data }) => {
            const { running } = this;
            if (running === null || running.request.id !== data.id) {
                return;
            }
            this.running = null;
            this.failures = 0;
            this.lastMs = data.ms;
            if (data.check === null) {
                running.fail(new Error(data.failure));
            } else {
                running.done(data.check);
            }
            this.next();
        });
        worker.addEventListener('error', () => this.broken());
        return worker;
    }

    private broken(): void {
        this.worker?.terminate();
        this.worker = null;
        this.failures += 1;
        const { running } = this;
        this.running = null;
        if (running !== null && this.failures < TRIES_MAX) {
            this.waiting.set(running.request.path, running);
        } else {
            running?.fail(new Error('the worker that checks scripts could not be started'));
        }
        this.next();
    }

    stop(): void {
        this.worker?.terminate();
        this.worker = null;
        this.running?.done(null);
        this.running = null;
        this.waiting.forEach(({ done }) => done(null));
        this.waiting.clear();
    }
}

export const startCheckWorker = (): WorkerLike =>
    new Worker(new URL('./check.worker.ts', import.meta.url), { type: 'module' });

// TypeScript → Lua without making the page wait. The worker is started with the first request; when it
// cannot be started it is tried again after growing pauses, and when that does not help either, the
// compiler runs in the page itself, which is said once.
import type { CompileAnswer, CompilerQuestion, CompilerReply, CompilerRequest, CompileScript } from './compiler/request.ts';

const TRIES_MAX = 4;
const FIRST_PAUSE_MS = 250; // doubled with each try

export interface TranspileInput {
    code: string;
    path?: string; // "Workspace/Door.ts"
}
export interface TranspileOutput {
    code: string; // Lua
}

export interface TranspileWorker {
    postMessage(message: CompilerRequest): void;
    addEventListener(type: 'message', listener: (event: { data: CompilerReply }) => void): void;
    addEventListener(type: 'error' | 'messageerror', listener: (event: unknown) => void): void;
    terminate(): void;
}

export interface TranspileParts {
    startWorker(): TranspileWorker;
    loadHere(): Promise<{ ask(request: CompilerRequest): CompilerReply }>; // the same compiler in the page
    log(text: string): void;
    pause(ms: number): Promise<void>;
}

interface Waiting {
    request: CompilerRequest;
    done: (reply: CompilerReply) => void;
    fail: (error: Error) => void;
}

export class TranspileService {
    private worker: TranspileWorker | null = null;
    private hasAnswered = false; // this worker
    private failures = 0; // since one answered
    private here: Promise<{ ask(request: CompilerRequest): CompilerReply }> | null = null;
    private nextId = 1;
    private readonly waiting = new Map<number, Waiting>();
    private readonly parts: TranspileParts;
    lastMs = 0;

    constructor(parts: TranspileParts) {
        this.parts = parts;
    }

    // Starts the compiler before it is needed.
    async init(): Promise<void> {
        await this.ask([], { kind: 'compile' });
    }

    async transpile({ code, path = 'Workspace/Script.ts' }: TranspileInput): Promise<TranspileOutput> {
        const name = path.replace(/\.ts$/, '');
        const { status, reason, diagnostics, outputs } = await this.compile([{
            index: 0, path: name, file: path, isTypeScript: true, isWanted: true, isSent: true, text: code,
        }]);
        const error = diagnostics.find(({ isError }) => isError);
        if (status !== 0) {
            throw new Error(error === undefined ? reason : `${error.file}:${error.line}: ${error.message}`);
        }
        return { code: outputs.find((output) => output.path === name)?.lua ?? '' };
    }

    async compile(scripts: CompileScript[]): Promise<CompileAnswer> {
        const reply = await this.ask(scripts, { kind: 'compile' });
        if (reply.answer === undefined) {
            throw new Error(reply.failure);
        }
        return reply.answer;
    }

    ask(scripts: CompileScript[], question: CompilerQuestion): Promise<CompilerReply> {
        const request = { id: this.nextId++, scripts, question };
        return new Promise((done, fail) => {
            this.waiting.set(request.id, { request, done, fail });
            this.send(request);
        });
    }

    private send(request: CompilerRequest): void {
        if (this.here !== null) {
            void this.askHere(request);
            return;
        }
        try {
            this.worker ??= this.begin();
            this.worker.postMessage(request);
        } catch {
            void this.broken();
        }
    }

    private begin(): TranspileWorker {
        const worker = this.parts.startWorker();
        this.hasAnswered = false;
        worker.addEventListener('message', ({ data }) => {
            this.hasAnswered = true;
            this.failures = 0;
            this.hear(data);
        });
        const fail = (): void => {
            if (this.worker === worker) {
                void this.broken();
            }
        };
        worker.addEventListener('error', fail);
        worker.addEventListener('messageerror', fail);
        return worker;
    }

    private hear(reply: CompilerReply): void {
        const waiting = this.waiting.get(reply.id);
        this.waiting.delete(reply.id);
        this.lastMs = reply.ms;
        waiting?.done(reply);
    }

    // The worker could not be started, or is gone: what it was asked is asked again.
    private async broken(): Promise<void> {
        this.worker?.terminate();
        this.worker = null;
        this.failures += 1;
        if (this.failures >= TRIES_MAX && this.here === null) {
            this.parts.log('The TypeScript compiler runs in the page, because its worker could not be started: ' +
                'typing may be slow.');
            this.here = this.parts.loadHere();
        } else if (this.here === null) {
            await this.parts.pause(FIRST_PAUSE_MS * 2 ** (this.failures - 1));
        }
        for (const { request } of [...this.waiting.values()]) {
            this.send(request);
        }
    }

    private async askHere(request: CompilerRequest): Promise<void> {
        try {
            const { ask } = await (this.here ?? this.parts.loadHere());
            if (this.waiting.has(request.id)) {
                this.hear(ask(request));
            }
        } catch (error) {
            this.here = null; // the next request begins anew
            this.failures = 0;
            this.waiting.get(request.id)?.fail(error instanceof Error ? error : new Error(String(error)));
            this.waiting.delete(request.id);
        }
    }

    // False: the compiler runs in the page.
    get isInWorker(): boolean {
        return this.here === null && this.hasAnswered;
    }

    stop(): void {
        this.worker?.terminate();
        this.worker = null;
        this.waiting.forEach(({ fail }) => fail(new Error('the compiler was stopped')));
        this.waiting.clear();
    }
}

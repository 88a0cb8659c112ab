// How a page starts the TypeScript compiler: in a worker, or from the same file in the page itself.
import workerUrl from './transpile.worker.ts?worker&url';

import type { CompilerReply, CompilerRequest } from './compiler/request.ts';
import type { TranspileParts } from './transpile_service.ts';

export const transpileParts: TranspileParts = {
    startWorker: () => new Worker(workerUrl, { type: 'module' }),
    async loadHere() {
        await import(/* @vite-ignore */ workerUrl);
        const { sandlotCompiler } = globalThis as { sandlotCompiler?: (request: CompilerRequest) => CompilerReply };
        if (sandlotCompiler === undefined) {
            throw new Error('the compiler could not be loaded');
        }
        return { ask: sandlotCompiler };
    },
    log: (text) => console.warn(text),
    pause: (ms) => new Promise((done) => setTimeout(done, ms)),
};

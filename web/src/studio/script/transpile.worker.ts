// The TypeScript compiler in a thread of its own: it takes seconds to start and up to 400 MB, and never
// makes the page wait. Started by TranspileService for places that have TypeScript; where no worker can be
// started, the page imports this file and calls `sandlotCompiler` itself.
import { ask } from './compiler/compiler.ts';
import type { CompilerReply, CompilerRequest } from './compiler/request.ts';

interface WorkerScope {
    sandlotCompiler?: typeof ask;
    postMessage(message: CompilerReply): void;
    addEventListener(type: 'message', listener: (event: MessageEvent<CompilerRequest>) => void): void;
}
const scope = self as unknown as WorkerScope;

if (typeof document === 'undefined') {
    scope.addEventListener('message', ({ data }) => scope.postMessage(ask(data)));
} else {
    scope.sandlotCompiler = ask; // the file of a worker exports nothing
}

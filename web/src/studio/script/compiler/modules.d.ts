// The server's modules and what vite.config.ts makes, as the compiler in the browser uses them.
declare module 'virtual:compiler-files' {
    const files: Record<string, string>;
    export default files;
}

declare module 'virtual:script-declarations' {
    const declarations: string;
    export default declarations;
}

declare module '*/server/build/typescript/compile.mjs' {
    import type { CompileAnswer, CompileScript } from './request.ts';

    export function answer(request: { declarations: string; scripts: CompileScript[] }): CompileAnswer;
}

declare module '*/server/build/typescript/host.mjs' {
    import type * as typescript from 'typescript';

    export const ts: typeof typescript;
    export const ROOT: string;
    export const OPTIONS: typescript.CompilerOptions;
    export class Libraries {
        constructor(declarations: string);
        texts: Map<string, string>;
    }
    export class PlaceHost {
        constructor(libraries: Libraries);
        texts: Map<string, string>;
        update(files: { path: string; text: string }[], others: string[]): void;
        rootNames(): string[];
        compilerHost(): typescript.CompilerHost;
    }
}

// What the compiler is asked, and says: as server/build/typescript/compile.mjs has it.
import type { Offer } from '../api_help.ts';

export interface CompileScript {
    index: number;
    path: string; // "Workspace/Door"
    file: string; // "Workspace/Door.ts"
    isTypeScript: boolean;
    isWanted: boolean; // its Lua
    isSent: boolean; // to players
    text: string;
}

export interface CompileDiagnostic {
    isError: boolean;
    file: string;
    line: number;
    column: number;
    code: string;
    message: string;
}

export interface CompileAnswer {
    status: number; // 0: all of it is good; 1: errors; 2: the compiler failed, see `reason`
    reason: string;
    diagnostics: CompileDiagnostic[];
    outputs: { path: string; lua: string; map: string; lines: number[] }[];
}

export type CompilerQuestion =
    | { kind: 'compile' }
    | { kind: 'complete'; path: string; at: number }
    | { kind: 'help'; path: string; at: number }
    | { kind: 'parameters'; path: string; at: number };

export interface CompilerRequest {
    id: number;
    scripts: CompileScript[];
    question: CompilerQuestion;
}

export interface CompilerReply {
    id: number;
    failure: string; // '': none
    answer?: CompileAnswer;
    offers?: { from: number; offers: Offer[] } | null;
    help?: { from: number; to: number; code: string; text: string } | null;
    parameters?: { parts: string[]; at: number; text: string } | null;
    ms: number;
}

// What a build says about the Lua and Luau scripts of a place, in the browser. The rules are core's
// (core/script/check); here they are only asked script by script. The studio's editor asks here too.
import type { Core, Diagnostic } from './bridge.ts';

const isLua = (path: string): boolean =>
    (path.endsWith('.lua') || path.endsWith('.luau')) && !path.endsWith('.soul.lua');

// Sorted by file and line. What several scripts are told (of place.json) stands once.
export function checkPlace(core: Core, files: Map<string, Uint8Array>): {
    scripts: number; diagnostics: Diagnostic[];
} {
    const paths = [...files.keys()].filter(isLua);
    const told = new Map<string, Diagnostic>();
    for (const path of paths) {
        for (const diagnostic of core.checkScript(path, files).diagnostics) {
            told.set(JSON.stringify(diagnostic), diagnostic);
        }
    }
    const diagnostics = [...told.values()].sort((a, b) =>
        (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
    return { scripts: paths.length, diagnostics };
}

// For people, as `sandlot build` prints it.
export function diagnosticText({ file, line, column, level, message, code }: Diagnostic): string {
    const where = line === 0 ? '' : column === 0 ? `${line}:` : `${line}:${column}:`;
    return `${file}:${where} ${level}: ${message} [${code}]`;
}

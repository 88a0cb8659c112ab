// What the editor asks about a .ts: the compiler's worker answers, over all TypeScript of the place.
import type { ScriptDocument, ScriptFiles } from './contract.ts';
import type { Language } from './editor.ts';
import { compilerFault, PlaceScripts, scriptPath, toDiagnostics, transpileService } from './place_scripts.ts';

export function typescriptLanguage(document: ScriptDocument, files: ScriptFiles): Language {
    const place = new PlaceScripts(document, files);
    let newest = 0; // of what was asked to be checked
    return {
        async check(path, text) {
            const turn = ++newest;
            const scripts = await place.forCompiler(path, text);
            if (turn !== newest) {
                return null;
            }
            const { status, reason, diagnostics } = await transpileService().compile(scripts);
            if (turn !== newest) {
                return null;
            }
            return status === 2
                ? [compilerFault(path, reason)]
                : toDiagnostics(diagnostics);
        },
        async complete(path, text, at) {
            const scripts = await place.forCompiler(path, text);
            return (await transpileService().ask(scripts, { kind: 'complete', path: scriptPath(path), at })).offers ?? null;
        },
        async help(path, text, at) {
            const scripts = await place.forCompiler(path, text);
            return (await transpileService().ask(scripts, { kind: 'help', path: scriptPath(path), at })).help ?? null;
        },
        async parameters(path, text, at) {
            if (!/[(,]\s*[^()]*$/.test(text.slice(Math.max(0, at - 300), at))) {
                return null;
            }
            const scripts = await place.forCompiler(path, text);
            return (await transpileService().ask(scripts, { kind: 'parameters', path: scriptPath(path), at })).parameters ?? null;
        },
    };
}

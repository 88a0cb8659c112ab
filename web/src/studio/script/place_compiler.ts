// Compiles the scripts of a place while one works on it, a few per frame: so the status bar and the list of
// problems know of scripts that nobody has opened. All TypeScript of a place is one question to its compiler,
// which is started for places that have some.
import { effect } from '@preact/signals';

import type { Diagnostic } from '../../core/bridge.ts';
import type { CompileAnswer, CompileScript } from './compiler/request.ts';
import { isLua, isTypeScript, type ScriptDocument, type ScriptFiles } from './contract.ts';
import { checkLua, compilerFault, PlaceScripts, scriptPath, toDiagnostics, transpileService } from './place_scripts.ts';
import { createScriptCompiler, type IScriptCompiler } from './script_compiler.ts';
import { scriptStats } from './status.tsx';

const COMPILES_PER_FRAME = 2;

export interface PlaceCompiler {
    compiler: IScriptCompiler;
    end(): void;
}

class Refused extends Error {}

// One question at a time: all who ask while one runs get the answer of the next.
export function shareCompiles(scripts: () => Promise<CompileScript[]>,
    compile: (scripts: CompileScript[]) => Promise<CompileAnswer>): () => Promise<CompileAnswer> {
    let running: Promise<unknown> = Promise.resolve();
    let next: Promise<CompileAnswer> | null = null;
    return () => {
        if (next === null) {
            const begun = running.then(async () => {
                next = null;
                return compile(await scripts());
            });
            running = begun.catch(() => undefined);
            next = begun;
        }
        return next;
    };
}

export function startPlaceCompiler(document: ScriptDocument, files: ScriptFiles,
    tell: (path: string, diagnostics: Diagnostic[]) => void): PlaceCompiler {
    const place = new PlaceScripts(document, files);
    const firstError = (path: string, diagnostics: Diagnostic[]): void => {
        tell(path, diagnostics);
        const error = diagnostics.find(({ level, file }) => level === 'error' && file === path);
        if (error !== undefined) {
            throw new Refused(`${path}:${error.line}: ${error.message}`);
        }
    };
    const compileAll = shareCompiles(() => place.forCompiler(), (scripts) => transpileService().compile(scripts));
    const compiler = createScriptCompiler({
        async build(path, code) {
            if (isTypeScript(path)) {
                const { status, reason, diagnostics, outputs } = await compileAll();
                const found = toDiagnostics(diagnostics);
                // What one script exports changes what is wrong with others.
                document.files().filter((file) => isTypeScript(file.path) && file.path !== path)
                    .forEach((file) => tell(file.path, found.filter((one) => one.file === file.path)));
                firstError(path, status === 2 ? [compilerFault(path, reason)] : found.filter(({ file }) => file === path));
                return { lua: outputs.find((output) => output.path === scriptPath(path))?.lua ?? '' };
            }
            const check = await checkLua(document, path, code);
            if (check !== null) { // else the editor has asked about the same script, and says it
                firstError(path, check.diagnostics);
            }
            return { lua: code };
        },
        run: null,
        nextFrame: (work) => requestAnimationFrame(work),
        compilesPerFrame: COMPILES_PER_FRAME,
        warn: (text) => console.warn(text),
    });
    const known = new Map<string, string>();
    const look = (): void => {
        for (const { path, hash } of document.files()) {
            const isWanted = (isLua(path) && !path.endsWith('.soul.lua')) || isTypeScript(path);
            if (isWanted && !path.startsWith('.') && known.get(path) !== hash) {
                known.set(path, hash);
                place.text(path, hash).then((code) => compiler.compile({ scriptId: path, code, codeHash: hash }))
                    .catch(() => known.delete(path)); // it could not be read: with the next change
            }
        }
        for (const path of [...known.keys()].filter((each) => !document.files().some((file) => file.path === each))) {
            known.delete(path);
            compiler.invalidate(path);
            tell(path, []);
        }
    };
    look();
    const ends = [document.on('files', look), effect(() => {
        void compiler.change.value;
        scriptStats.value = { ...scriptStats.peek(), compiler: compiler.getScriptSystemStats() };
    })];
    return { compiler, end: () => ends.forEach((end) => end()) };
}

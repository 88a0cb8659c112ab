// The scripts of a place as the checkers and the compiler want them: the newest text of each, whether it
// is saved yet or not.
import type { Diagnostic, ScriptCheck } from '../../core/bridge.ts';
import { CheckService, startCheckWorker } from './check_service.ts';
import type { CompileAnswer, CompileDiagnostic, CompileScript } from './compiler/request.ts';
import { isScript, isTypeScript, type ScriptDocument, type ScriptFiles } from './contract.ts';
import { openText } from './open_texts.ts';
import { transpileParts } from './transpile_parts.ts';
import { TranspileService } from './transpile_service.ts';

const utf8 = new TextEncoder();
const plain = new TextDecoder();

let checker: CheckService | null = null;
let compiler: TranspileService | null = null;

// One of each for the page.
export const checkService = (): CheckService => (checker ??= new CheckService(startCheckWorker));
export const transpileService = (): TranspileService => (compiler ??= new TranspileService(transpileParts));

// "SoulService/Workspace/Door.ts" → "Workspace/Door".
export const scriptPath = (file: string): string => file.replace(/^SoulService\//, '').replace(/\.(?:lua|luau|ts|soul)$/, '');

// What checkScript needs beside the script: place.json and the names of the others.
function surroundings(document: ScriptDocument, path: string, text: string): Map<string, Uint8Array> {
    const files = new Map<string, Uint8Array>([[path, utf8.encode(text)]]);
    files.set('place.json', utf8.encode(document.placeJson()));
    for (const other of document.files()) {
        if (isScript(other.path) && !files.has(other.path)) {
            files.set(other.path, new Uint8Array());
        }
    }
    return files;
}

export const checkLua = (document: ScriptDocument, path: string, text: string): Promise<ScriptCheck | null> =>
    checkService().check(path, surroundings(document, path, text));

// Whether players get it: where a script of that name runs, as a build decides it.
async function isSent(document: ScriptDocument, file: string): Promise<boolean> {
    const as = file.replace(/\.ts$/, '.lua');
    const files = surroundings(document, as, '-- nothing');
    files.delete(file); // the same script in another language
    const check = await checkService().check(as, files).catch(() => null);
    return check === null ? true : check.run_context !== 'Server';
}

export class PlaceScripts {
    private readonly texts = new Map<string, { hash: string; text: string }>();
    private readonly sent = new Map<string, Promise<boolean>>();
    private settings = '';
    private readonly document: ScriptDocument;
    private readonly files: ScriptFiles;

    constructor(document: ScriptDocument, files: ScriptFiles) {
        this.document = document;
        this.files = files;
    }

    async text(path: string, hash: string): Promise<string> {
        const open = openText(this.document, path);
        if (open !== undefined) {
            return open;
        }
        const known = this.texts.get(path);
        if (known?.hash === hash) {
            return known.text;
        }
        const text = plain.decode(await this.files.read(path));
        this.texts.set(path, { hash, text });
        return text;
    }

    private whereSent(file: string): Promise<boolean> {
        const settings = this.document.placeJson();
        if (settings !== this.settings) {
            this.settings = settings;
            this.sent.clear();
        }
        const known = this.sent.get(file) ?? isSent(this.document, file);
        this.sent.set(file, known);
        return known;
    }

    // All scripts for the compiler, with `changed` instead of the text of `file`.
    async forCompiler(file = '', changed = ''): Promise<CompileScript[]> {
        const scripts = this.document.files().filter(({ path }) =>
            isScript(path) && !path.endsWith('.soul.lua') && !path.startsWith('.')).map(({ path, hash }) => ({ path, hash }));
        if (file !== '' && !scripts.some(({ path }) => path === file)) {
            scripts.push({ path: file, hash: '' });
        }
        return Promise.all(scripts.map(async ({ path, hash }, index) => ({
            index, path: scriptPath(path), file: path, isTypeScript: isTypeScript(path), isWanted: isTypeScript(path),
            isSent: isTypeScript(path) ? await this.whereSent(path) : true,
            text: !isTypeScript(path) ? '' : path === file ? changed : await this.text(path, hash),
        })));
    }

    // The place with Lua instead of TypeScript, as the local host wants it. Throws with file and line.
    async forWorld(others: readonly string[]): Promise<Map<string, Uint8Array>> {
        const files = new Map<string, Uint8Array>();
        files.set('place.json', utf8.encode(this.document.placeJson()));
        files.set('scene.json', utf8.encode(this.document.sceneJson()));
        const wanted = this.document.files().filter(({ path }) => others.includes(path) || this.isForWorld(path));
        for (const { path } of this.document.files().filter((file) => file.path.startsWith('assets/'))) {
            files.set(path, new Uint8Array()); // only their names matter to a world
        }
        await Promise.all(wanted.map(async ({ path, hash }) => files.set(path, isScript(path)
            ? utf8.encode(await this.text(path, hash)) : await this.files.read(path))));
        if (this.document.files().some(({ path }) => isTypeScript(path))) {
            for (const [path, lua] of await this.madeLua()) {
                files.set(path, utf8.encode(lua));
            }
        }
        return files;
    }

    isForWorld(path: string): boolean {
        return !path.startsWith('.') && path !== 'place.json' && path !== 'scene.json' && !isTypeScript(path) &&
            (/\.(?:lua|luau|soul)$/.test(path) || path.startsWith('prefabs/') || path.startsWith('chunks/'));
    }

    // Where lines of the Lua that was made last come from.
    lineTables: Map<string, { file: string; lines: readonly number[] }> = new Map();

    // "Workspace/Door.lua" → the Lua of Workspace/Door.ts, and the library.
    async madeLua(): Promise<Map<string, string>> {
        const { status, reason, diagnostics, outputs } = await this.compile();
        const error = diagnostics.find(({ isError }) => isError);
        if (status !== 0) {
            throw new Error(error === undefined ? reason : `${error.file}:${Math.max(1, error.line)}: ${error.message}`);
        }
        return new Map(outputs.map(({ path, lua }) => [`${path}.lua`, lua]));
    }

    private async compile(): Promise<CompileAnswer> {
        const scripts = await this.forCompiler();
        const answer = await transpileService().compile(scripts);
        const files = new Map(scripts.map(({ path, file }) => [path, file]));
        this.lineTables = new Map(answer.outputs.filter(({ lines }) => lines.length > 0)
            .map(({ path, lines }) => [`${path}.lua`, { file: files.get(path) ?? path, lines }]));
        return answer;
    }
}

export const toDiagnostics = (found: readonly CompileDiagnostic[]): Diagnostic[] =>
    found.map(({ isError, file, line, column, code, message }) =>
        ({ level: isError ? 'error' : 'warning', file, line: Math.max(1, line), column, code, message })); // 0: of the whole file

// The compiler itself has failed, on no script that it can name.
export const compilerFault = (file: string, message: string): Diagnostic =>
    ({ level: 'error', file, line: 1, column: 0, code: 'compiler', message });

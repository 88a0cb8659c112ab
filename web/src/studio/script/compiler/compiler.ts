// TypeScript in the browser: the server's own compiler, and a language service over the same files. It
// is used in a worker; where no worker can be started, in the page.
import declarations from 'virtual:script-declarations';

import { answer } from '../../../../../server/build/typescript/compile.mjs';
import { Libraries, OPTIONS, PlaceHost, ROOT, ts } from '../../../../../server/build/typescript/host.mjs';
import type { Offer } from '../api_help.ts';
import type { CompilerReply, CompilerRequest, CompileScript } from './request.ts';

const OFFERS_MAX = 400;
let isTold = false; // the compiler has the declarations
let service: import('typescript').LanguageService | null = null;
let place: PlaceHost | null = null;
const versions = new Map<string, { text: string; version: number }>();

// --- the language service ---

function versionOf(name: string, text: string): string {
    const before = versions.get(name);
    if (before === undefined || before.text !== text) {
        versions.set(name, { text, version: (before?.version ?? 0) + 1 });
    }
    return String(versions.get(name)?.version ?? 0);
}

function startService(): { service: import('typescript').LanguageService; place: PlaceHost } {
    const libraries = new Libraries(declarations);
    const host = new PlaceHost(libraries);
    const files = host.compilerHost();
    const textOf = (name: string): string | undefined => host.texts.get(name) ?? libraries.texts.get(name);
    const made = ts.createLanguageService({
        getCompilationSettings: () => OPTIONS,
        getScriptFileNames: () => host.rootNames(),
        getScriptVersion: (name) => host.texts.has(name) ? versionOf(name, host.texts.get(name) ?? '') : '0',
        getScriptSnapshot: (name) => {
            const text = textOf(name);
            return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
        },
        getCurrentDirectory: () => ROOT,
        getDefaultLibFileName: (options) => files.getDefaultLibFileName(options),
        fileExists: (name) => files.fileExists(name),
        readFile: (name) => files.readFile(name),
        directoryExists: () => false,
        getDirectories: () => [],
        ...(files.resolveModuleNameLiterals === undefined ? {}
            : { resolveModuleNameLiterals: files.resolveModuleNameLiterals }),
        ...(files.resolveTypeReferenceDirectiveReferences === undefined ? {}
            : { resolveTypeReferenceDirectiveReferences: files.resolveTypeReferenceDirectiveReferences }),
    });
    return { service: made, place: host };
}

function serve(scripts: readonly CompileScript[]): import('typescript').LanguageService {
    if (service === null || place === null) {
        ({ service, place } = startService());
    }
    place.update(scripts.filter(({ isTypeScript }) => isTypeScript),
        scripts.filter(({ isTypeScript }) => !isTypeScript).map(({ path }) => path));
    return service;
}

const KINDS: Record<string, Offer['kind']> = {
    function: 'function', method: 'method', property: 'property', getter: 'property', class: 'class', module: 'namespace',
    interface: 'class', type: 'class', const: 'constant', keyword: 'keyword', 'local function': 'function',
};

// What is meant comes before what the language has anyway.
function complete(scripts: CompileScript[], path: string, at: number): { from: number; offers: Offer[] } | null {
    const text = scripts.find((script) => script.path === path)?.text ?? '';
    const found = serve(scripts).getCompletionsAtPosition(`${ROOT}${path}.ts`, at, {
        includeCompletionsForModuleExports: false, includeCompletionsWithInsertText: false,
    });
    if (found === undefined) {
        return null;
    }
    const word = /[A-Za-z_$][\w$]*$/.exec(text.slice(0, at))?.[0] ?? '';
    const fits = found.entries.filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()));
    return {
        from: at - word.length,
        offers: fits.slice(0, OFFERS_MAX).map((entry) => ({
            label: entry.name, kind: KINDS[entry.kind] ?? 'variable', detail: '', doc: '',
            boost: entry.kind === 'keyword' ? -1 : 0,
        })),
    };
}

const plain = (parts: readonly { text: string }[] | undefined): string => (parts ?? []).map(({ text }) => text).join('');

function help(scripts: CompileScript[], path: string, at: number): CompilerReply['help'] {
    const found = serve(scripts).getQuickInfoAtPosition(`${ROOT}${path}.ts`, at);
    return found === undefined ? null : {
        from: found.textSpan.start, to: found.textSpan.start + found.textSpan.length,
        code: plain(found.displayParts), text: plain(found.documentation),
    };
}

function parameters(scripts: CompileScript[], path: string, at: number): CompilerReply['parameters'] {
    const found = serve(scripts).getSignatureHelpItems(`${ROOT}${path}.ts`, at, {});
    const item = found?.items[found.selectedItemIndex];
    if (found === undefined || item === undefined) {
        return null;
    }
    const current = item.parameters[found.argumentIndex];
    return {
        parts: [plain(item.prefixDisplayParts).replace(/\($/, ''),
            ...item.parameters.map(({ displayParts }) => plain(displayParts))],
        at: found.argumentIndex,
        text: plain(current?.documentation) || plain(item.documentation),
    };
}

export { declarations };

// --- one question ---

export function ask({ id, scripts, question }: CompilerRequest): CompilerReply {
    const start = performance.now();
    const reply: CompilerReply = { id, failure: '', ms: 0 };
    try {
        switch (question.kind) {
            case 'compile':
                reply.answer = answer({ declarations: isTold ? '' : declarations, scripts });
                isTold = true;
                break;
            case 'complete':
                reply.offers = complete(scripts, question.path, question.at);
                break;
            case 'help':
                reply.help = help(scripts, question.path, question.at) ?? null;
                break;
            case 'parameters':
                reply.parameters = parameters(scripts, question.path, question.at) ?? null;
                break;
        }
    } catch (error) {
        service = null;
        reply.failure = error instanceof Error ? error.message : String(error);
    }
    reply.ms = performance.now() - start;
    return reply;
}

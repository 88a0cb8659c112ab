// The editor of one script: CodeMirror with our Lua mode, the diagnostics of a build, and what api.def
// knows. TypeScript has the JavaScript mode and asks the compiler's worker instead; both are loaded
// when the first .ts is opened.
import {
    acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type Completion,
    type CompletionContext, type CompletionResult, snippetCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { bracketMatching, indentOnInput, indentUnit, StreamLanguage } from '@codemirror/language';
import { type Diagnostic as Mark, lintGutter, lintKeymap, linter } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, StateEffect, StateField, type Transaction } from '@codemirror/state';
import {
    crosshairCursor, drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter,
    highlightSpecialChars, hoverTooltip, keymap, lineNumbers, rectangularSelection, showTooltip, type Tooltip,
} from '@codemirror/view';

import type { Diagnostic } from '../../core/bridge.ts';
import { type ApiHelp, describe, type Offer, signature, splitArguments } from './api_help.ts';
import { isLua, isTypeScript } from './contract.ts';
import { luaParser } from './lua_mode.ts';
import { codeLook } from './theme.ts';

const CHECK_MS = 30; // after a key
const LONG_TEXT = 200_000; // characters; more is not searched for names

// What the editor asks while somebody types. `path` is the file that is shown.
export interface Language {
    check(path: string, text: string): Promise<Diagnostic[] | null>; // null: something newer was asked
    complete(path: string, text: string, at: number): Promise<{ from: number; offers: Offer[] } | null>;
    help(path: string, text: string, at: number): Promise<{ from: number; to: number; code: string; text: string } | null>;
    parameters(path: string, text: string, at: number): Promise<{ parts: string[]; at: number; text: string } | null>;
}

const lua = StreamLanguage.define(luaParser);

export const writable = new Compartment();
const languageOf = new Compartment();

// --- diagnostics ---

const encoder = new TextEncoder();

// The core counts columns in bytes.
function characterAt(line: string, column: number): number {
    const bytes = encoder.encode(line).subarray(0, Math.max(column - 1, 0));
    return new TextDecoder().decode(bytes).length;
}

export function toMarks(state: EditorState, path: string, diagnostics: readonly Diagnostic[]): Mark[] {
    return diagnostics.filter(({ file }) => file === path).map((diagnostic) => {
        const line = state.doc.line(Math.min(Math.max(diagnostic.line, 1), state.doc.lines));
        const start = diagnostic.column <= 0 ? line.text.length - line.text.trimStart().length
            : isTypeScript(path) ? diagnostic.column - 1 : characterAt(line.text, diagnostic.column);
        const from = Math.min(line.from + start, line.to);
        const word = /^\w+/.exec(line.text.slice(from - line.from))?.[0].length ?? 0;
        return {
            from, to: diagnostic.column <= 0 ? line.to : Math.min(from + Math.max(word, 1), line.to),
            severity: diagnostic.level, source: diagnostic.code, message: diagnostic.message,
        };
    });
}

// --- completion, help and arguments ---

function helpElement(code: string, text: string, parts: string[] | null = null, at = 0): HTMLElement {
    const box = document.createElement('div');
    box.className = 'cm-help';
    const head = document.createElement('code');
    if (parts === null) {
        head.textContent = code;
    } else {
        const names = parts.map((part, index) => {
            const element = document.createElement(index === at ? 'strong' : 'span');
            element.textContent = part;
            return element;
        });
        head.append(`${code}(`, ...names.flatMap((name, index) => index === 0 ? [name] : [', ', name]), ')');
    }
    box.append(head);
    if (text !== '') {
        const body = document.createElement('p');
        body.textContent = text;
        box.append(body);
    }
    return box;
}

const KINDS: Record<Offer['kind'], string> = {
    function: 'function', method: 'method', property: 'property', event: 'interface', constant: 'constant',
    class: 'class', namespace: 'namespace', keyword: 'keyword', hook: 'function', variable: 'variable',
};

function toCompletion(offer: Offer): Completion {
    const completion: Completion = {
        label: offer.label, type: KINDS[offer.kind], detail: offer.detail, boost: offer.boost,
        ...(offer.doc === '' ? {} : { info: offer.doc }),
    };
    // A hook is written whole.
    return offer.kind !== 'hook' ? completion : snippetCompletion(
        `function ${offer.label}(${offer.detail.replace(/^\(|\)$/g, '').split(',').map((part) =>
            part.split(':')[0]?.trim() ?? '').join(', ')})\n\t\${}\nend`, completion);
}

function offersOf(language: Language, path: string) {
    return async (context: CompletionContext): Promise<CompletionResult | null> => {
        if (context.state.doc.length > LONG_TEXT) {
            return null;
        }
        const found = await language.complete(path, context.state.doc.toString(), context.pos);
        if (found === null) {
            return null;
        }
        const word = context.state.sliceDoc(found.from, context.pos); // what is written whole needs no offer
        const offers = found.offers.filter(({ label }) => label !== word);
        return {
            from: found.from, options: offers.map(toCompletion),
            validFor: (text) => /^\w*$/.test(text) && !offers.some(({ label }) => label === text),
        };
    };
}

const setTooltip = StateEffect.define<Tooltip | null>();

// The arguments of the call that is being written, above the line.
function argumentHelp(language: Language, path: string): Extension {
    let asked = 0;
    const shown = StateField.define<{ asked: number; tooltip: Tooltip | null }>({
        create: () => ({ asked: 0, tooltip: null }),
        update(value, transaction) {
            for (const effect of transaction.effects) {
                if (effect.is(setTooltip)) {
                    return { asked, tooltip: effect.value };
                }
            }
            return value;
        },
        provide: (field) => showTooltip.from(field, ({ tooltip }) => tooltip),
    });
    const hide = (_event: Event, view: EditorView): boolean => {
        asked += 1; // an answer that is on its way is too late
        if (view.state.field(shown, false)?.tooltip != null) {
            view.dispatch({ effects: setTooltip.of(null) });
        }
        return false;
    };
    return [shown, EditorView.domEventHandlers({ blur: hide }), EditorView.updateListener.of((update) => {
        if (!update.docChanged && !update.selectionSet) {
            return;
        }
        const turn = ++asked;
        const { view, state } = update;
        const at = state.selection.main.head;
        if (state.doc.length > LONG_TEXT) {
            return;
        }
        language.parameters(path, state.doc.toString(), at).then((found) => {
            if (turn !== asked || (found === null && view.state.field(shown, false)?.tooltip === null)) {
                return;
            }
            const tooltip: Tooltip | null = found === null ? null : {
                pos: at, above: true, strictSide: false,
                create: () => ({ dom: helpElement(found.parts[0] ?? '', found.text, found.parts.slice(1), found.at) }),
            };
            view.dispatch({ effects: setTooltip.of(tooltip) });
        }).catch(() => undefined);
    })];
}

function helpOf(language: Language, path: string): Extension {
    return hoverTooltip(async (view, at) => {
        const found = await language.help(path, view.state.doc.toString(), at);
        return found === null ? null : {
            pos: found.from, end: found.to, above: true,
            create: () => ({ dom: helpElement(found.code, found.text) }),
        };
    }, { hoverTime: 250 });
}

// --- all of it ---

// Typing over a selection. Left to the browser, it would keep the colour of the deleted text as an inline
// style, which the content security policy refuses with a complaint.
const typeOver = EditorView.domEventHandlers({
    beforeinput(event, view) {
        const { state } = view;
        const text = event.data;
        if (event.inputType !== 'insertText' || text === null || text === '' || view.composing || state.readOnly ||
            state.selection.ranges.every(({ empty }) => empty)) {
            return false;
        }
        event.preventDefault();
        const { from, to } = state.selection.main;
        const insert = (): Transaction => state.update(state.replaceSelection(text),
            { userEvent: 'input.type', scrollIntoView: true });
        if (!state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert))) {
            view.dispatch(insert());
        }
        return true;
    },
});

const indentWithTab = { key: 'Tab', run: indentMore, shift: indentLess };

export interface EditorHooks {
    language: Language;
    changed(view: EditorView, docChanged: boolean): void;
    save(): void;
    found(diagnostics: Diagnostic[]): void;
}

function asks(path: string, hooks: EditorHooks): Extension {
    const check = async (view: EditorView): Promise<readonly Mark[]> => {
        const { state } = view;
        const found = await hooks.language.check(path, state.doc.toString());
        if (found === null) {
            return new Promise(() => undefined); // a newer check will say it
        }
        hooks.found(found);
        return toMarks(view.state, path, found);
    };
    return [
        linter(check, { delay: CHECK_MS }), lintGutter(),
        autocompletion({ override: [offersOf(hooks.language, path)], icons: false }),
        helpOf(hooks.language, path), argumentHelp(hooks.language, path),
    ];
}

export function makeState(path: string, text: string, isWritable: boolean, hooks: EditorHooks): EditorState {
    const isCode = isLua(path) || isTypeScript(path);
    return EditorState.create({
        doc: text,
        extensions: [
            lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), dropCursor(),
            EditorState.allowMultipleSelections.of(true), indentOnInput(), bracketMatching(), closeBrackets(),
            rectangularSelection(), crosshairCursor(), highlightActiveLine(), highlightSelectionMatches(),
            search({ top: true }), indentUnit.of('    '), EditorState.tabSize.of(4),
            keymap.of([
                { key: 'Mod-s', preventDefault: true, run: () => (hooks.save(), true) },
                { key: 'Tab', run: acceptCompletion },
                ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap,
                ...lintKeymap, indentWithTab,
            ]),
            EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': path, spellcheck: isCode ? 'false' : 'true' }),
            isCode ? [] : EditorView.lineWrapping,
            codeLook, typeOver,
            languageOf.of(isLua(path) ? lua : []),
            writable.of([EditorState.readOnly.of(!isWritable), EditorView.editable.of(true)]),
            isCode ? asks(path, hooks) : [],
            EditorView.updateListener.of((update) => hooks.changed(update.view, update.docChanged)),
        ],
    });
}

export function setWritable(view: EditorView, isWritable: boolean): void {
    if (view.state.readOnly === isWritable) {
        view.dispatch({ effects: writable.reconfigure([EditorState.readOnly.of(!isWritable), EditorView.editable.of(true)]) });
    }
}

// The mode of TypeScript comes later than its text.
export async function addTypeScript(view: EditorView, path: string): Promise<void> {
    const { typescriptLanguage } = await import('@codemirror/lang-javascript');
    if (view.contentDOM.getAttribute('aria-label') === path) {
        view.dispatch({ effects: languageOf.reconfigure(typescriptLanguage) });
    }
}

export const luaLook: Extension = [lua, codeLook, lineNumbers(), EditorState.readOnly.of(true)];

export function goTo(view: EditorView, line: number, column = 1): void {
    const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
    const position = Math.min(at.from + Math.max(column - 1, 0), at.to);
    view.dispatch({
        selection: { anchor: position }, effects: EditorView.scrollIntoView(position, { y: 'center' }),
    });
    view.focus();
}

// Lua's own language service: the build's check, and api.def.
export function luaLanguage(api: ApiHelp,
    check: (path: string, text: string) => Promise<Diagnostic[] | null>): Language {
    return {
        check,
        complete: (_path, text, at) => Promise.resolve(api.complete(text.slice(0, at), text)),
        help: (_path, text, at) => {
            const found = api.lookUp(text, at);
            const { row = null, owner = null } = found ?? {};
            return Promise.resolve(found === null ? null : {
                from: found.from, to: found.to,
                code: row !== null ? signature(row) : owner?.name ?? '',
                text: row !== null ? describe(row) : owner?.doc ?? '',
            });
        },
        parameters: (_path, text, at) => {
            const call = api.callAt(text.slice(Math.max(0, at - 2000), at));
            if (call === null) {
                return Promise.resolve(null);
            }
            const { row } = call;
            const name = row.owner === '' ? row.name : `${row.owner}${row.kind === 'method' ? ':' : '.'}${row.name}`;
            const doc = api.argumentDoc(row, call.argument);
            return Promise.resolve({
                parts: [name, ...splitArguments(row.arguments)], at: call.argument, text: doc === '' ? describe(row) : doc,
            });
        },
    };
}

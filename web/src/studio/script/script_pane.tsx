// The code editor as the studio shows it: tabs, the editor, and a line that says how things stand. One
// CodeMirror view shows all open scripts one after the other; each keeps its own history.
import type { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import scriptApi from 'virtual:script-api';
import type { Diagnostic } from '../../core/bridge.ts';
import { Button } from '../../ui/parts.tsx';
import { ApiHelp } from './api_help.ts';
import { type ScriptBuffer, type Workspace, workspaceOf } from './buffers.ts';
import { ConflictDialog } from './conflict.tsx';
import { isLua, isSoul, isTypeScript, type ScriptDocument, type ScriptFiles } from './contract.ts';
import { addTypeScript, goTo, type Language, luaLanguage, makeState, setWritable } from './editor.ts';
import { checkLua } from './place_scripts.ts';
import { SoulReview } from './soul.tsx';
import { typescriptLanguage } from './typescript.ts';
import './script.css';
import { words } from './words_script.ts';

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const api = new ApiHelp(scriptApi);

// --- the editor on the screen ---

class Shown {
    readonly view: EditorView;
    readonly host: HTMLElement;
    private buffer: ScriptBuffer | null = null;
    private readonly workspace: Workspace;
    private readonly languages: (path: string) => Language;
    private readonly tell: (state: { line: number; column: number }) => void;
    readonly found: (path: string, diagnostics: Diagnostic[]) => void;
    readonly gone: (path: string, next: string) => void;

    constructor(host: HTMLElement, workspace: Workspace, languages: (path: string) => Language,
        tell: (state: { line: number; column: number }) => void, found: (path: string, diagnostics: Diagnostic[]) => void,
        gone: (path: string, next: string) => void) {
        this.gone = gone;
        this.host = host;
        this.workspace = workspace;
        this.languages = languages;
        this.tell = tell;
        this.found = found;
        const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
        root.replaceChildren();
        this.view = new EditorView({ parent: root, root });
        this.view.dom.style.height = '100%';
    }

    show(buffer: ScriptBuffer): void {
        if (this.buffer === buffer) {
            return;
        }
        this.buffer = buffer;
        const { workspace } = this;
        buffer.state ??= makeState(buffer.path, buffer.content(), this.workspace.mayWrite(buffer.path), {
            language: this.languages(buffer.path),
            // A state outlives the view that it was made in.
            changed: (view, docChanged) => workspace.view?.changed(buffer, view.state, docChanged),
            save: () => void buffer.write(),
            found: (diagnostics) => workspace.view?.found(buffer.path, diagnostics),
        });
        this.view.setState(buffer.state);
        this.refresh();
        if (isTypeScript(buffer.path)) {
            void addTypeScript(this.view, buffer.path);
        }
        this.position();
    }

    changed(buffer: ScriptBuffer, state: EditorState, docChanged: boolean): void {
        buffer.state = state;
        if (docChanged) {
            buffer.edited(state.doc);
        }
        if (this.buffer === buffer) {
            this.position();
        }
    }

    private position(): void {
        const { head } = this.view.state.selection.main;
        const line = this.view.state.doc.lineAt(head);
        this.tell({ line: line.number, column: head - line.from + 1 });
    }

    // Another text from outside; undo brings the last one back.
    replace(buffer: ScriptBuffer, text: string): void {
        const state = this.buffer === buffer ? this.view.state : buffer.state;
        if (state === null || state.doc.toString() === text) {
            return;
        }
        const change = { changes: { from: 0, to: state.doc.length, insert: text }, userEvent: 'sync' };
        if (this.buffer === buffer) {
            this.view.dispatch(change);
        } else {
            buffer.state = state.update(change).state;
        }
    }

    refresh(): void {
        if (this.buffer !== null) {
            setWritable(this.view, this.workspace.mayWrite(this.buffer.path));
        }
    }

    end(): void {
        this.view.destroy();
    }
}

// --- the parts of the pane ---

function Tabs({ buffers, current, choose, close }: {
    buffers: readonly ScriptBuffer[]; current: string; choose: (path: string) => void; close: (path: string) => void;
}): JSX.Element {
    const move = (event: KeyboardEvent, index: number): void => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        const next = buffers[(index + step + buffers.length) % buffers.length];
        if (step !== 0 && next !== undefined) {
            event.preventDefault();
            choose(next.path);
            const tabs = (event.currentTarget as HTMLElement).closest('.script-tabs');
            tabs?.querySelectorAll<HTMLElement>('.script-tab > :first-child')[(index + step + buffers.length) % buffers.length]?.focus();
        } else if (event.key === 'Delete') {
            close(buffers[index]?.path ?? '');
        }
    };
    return (
        <div class="script-tabs" role="toolbar" aria-label={words.tabs}>
            {buffers.map((buffer, index) => (
                <span key={buffer.path} class={buffer.path === current ? 'script-tab current' : 'script-tab'}>
                    <button type="button" aria-current={buffer.path === current ? 'true' : undefined} title={buffer.path}
                        tabIndex={buffer.path === current ? 0 : -1} onClick={() => choose(buffer.path)}
                        onKeyDown={(event) => move(event, index)}>
                        {buffer.save.value.kind !== 'saved' && <span class="script-dot" aria-hidden="true" />}
                        {nameOf(buffer.path)}
                    </button>
                    <button type="button" class="script-close" aria-label={words.close(nameOf(buffer.path))} tabIndex={-1}
                        onClick={() => close(buffer.path)}>✕</button>
                </span>
            ))}
        </div>
    );
}

function Banner({ buffer, workspace, compare }: {
    buffer: ScriptBuffer; workspace: Workspace; compare: () => void;
}): JSX.Element | null {
    const state = buffer.save.value;
    const other = workspace.otherWriter(buffer.path);
    if (state.kind === 'conflict') {
        return <p class="script-banner wrong" role="alert">{words.conflict.banner}
            <Button onClick={compare}>{words.conflict.open}</Button></p>;
    }
    if (state.kind === 'failed') {
        return <p class="script-banner wrong" role="alert">{words.failed(state.message)}
            <Button onClick={() => void buffer.write()}>{words.again}</Button></p>;
    }
    if (other !== null) {
        return <p class="script-banner" role="status">{words.otherWrites(other)}
            <Button onClick={() => workspace.takeOver(buffer.path)}>{words.takeOver}</Button></p>;
    }
    return workspace.mayWrite(buffer.path) ? null : <p class="script-banner" role="status">{words.readOnly}</p>;
}

const SAVED: Record<'saved' | 'changed' | 'saving' | 'sent', string> = {
    saved: words.saved, changed: words.changed, saving: words.saving, sent: words.saving,
};

function saveText(buffer: ScriptBuffer): string {
    const { kind } = buffer.save.value;
    return kind === 'failed' || kind === 'conflict' ? words.changed : SAVED[kind];
}

export interface ScriptPaneProps {
    document: ScriptDocument;
    files: ScriptFiles;
    path: string; // '': the one that was shown last
    line?: number | undefined; // shown, and the cursor put there, whenever it or `path` changes
    onShow?: ((path: string) => void) | undefined; // another tab was chosen
    hasTabs?: boolean; // false: the page has them
    onDiagnostics?: ((path: string, diagnostics: Diagnostic[]) => void) | undefined;
}

export function ScriptPane({ document, files, path, line, onShow, hasTabs = true, onDiagnostics }: ScriptPaneProps): JSX.Element {
    const workspace = useMemo(() => workspaceOf(document, files), [document, files]);
    const [current, setCurrent] = useState(path !== '' ? path : workspace.open.value.at(-1)?.path ?? '');
    const [failure, setFailure] = useState('');
    const [note, setNote] = useState('');
    const [position, setPosition] = useState({ line: 1, column: 1 });
    const [counts, setCounts] = useState({ errors: 0, warnings: 0 });
    const [isComparing, setComparing] = useState(false);
    const [, redraw] = useState(0);
    const host = useRef<HTMLDivElement>(null);
    const shown = useRef<Shown | null>(null);
    const tell = useRef(onDiagnostics);
    tell.current = onDiagnostics;
    const removed = useRef((_file: string, _next: string): void => undefined);

    useLayoutEffect(() => {
        const element = host.current;
        if (element === null) {
            return undefined;
        }
        const lua = luaLanguage(api, async (file, text) =>
            (await checkLua(document, file, text))?.diagnostics ?? null);
        const typed = typescriptLanguage(document, files);
        const view = new Shown(element, workspace, (file) => isLua(file) ? lua : typed, setPosition,
            (file, diagnostics) => {
                const own = diagnostics.filter((each) => each.file === file);
                setCounts({
                    errors: own.filter(({ level }) => level === 'error').length,
                    warnings: own.filter(({ level }) => level === 'warning').length,
                });
                tell.current?.(file, diagnostics);
            }, (file, next) => removed.current(file, next));
        shown.current = view;
        workspace.view = view;
        const end = effect(() => {
            workspace.open.value.forEach((buffer) => buffer.save.value);
            void workspace.change.value;
            view.refresh();
            redraw((count) => count + 1);
        });
        return () => {
            end();
            workspace.view = null;
            shown.current = null;
            workspace.unsaved().forEach((buffer) => void buffer.write());
            view.end();
        };
    }, [workspace]);

    useEffect(() => {
        if (path !== '') {
            setCurrent(path);
        }
    }, [path, line]);

    useEffect(() => {
        let isGone = false;
        setFailure('');
        setNote('');
        if (current === '') {
            return undefined;
        }
        workspace.load(current).then((buffer) => {
            if (!isGone) {
                shown.current?.show(buffer);
                if (line !== undefined && line > 0 && current === path && shown.current !== null) {
                    goTo(shown.current.view, line);
                }
            }
        }, (error: unknown) => {
            if (!isGone) {
                setFailure(words.cannotLoad(current, error instanceof Error ? error.message : String(error)));
            }
        });
        return () => { isGone = true; };
    }, [workspace, current, line, path]);

    const choose = (next: string): void => {
        setCurrent(next);
        onShow?.(next);
    };
    removed.current = (file, next) => {
        if (file === current) {
            choose(next);
        }
    };
    const close = async (file: string): Promise<void> => {
        const before = workspace.open.value;
        const at = before.findIndex((buffer) => buffer.path === file);
        if (!await workspace.close(file)) {
            setNote(words.keptOpen(nameOf(file)));
        } else if (file === current) {
            choose((before[at + 1] ?? before[at - 1])?.path ?? '');
        }
    };
    const buffer = workspace.find(current);
    return (
        <section class="script-pane">
            {hasTabs && <Tabs buffers={workspace.open.value} current={current} choose={choose} close={(file) => void close(file)} />}
            {buffer !== undefined && <Banner buffer={buffer} workspace={workspace} compare={() => setComparing(true)} />}
            {note !== '' && <p class="script-banner" role="status">{note}</p>}
            {failure !== '' && <p class="script-banner wrong" role="alert">{failure}</p>}
            {current === '' && <p class="script-empty">{words.nothing}</p>}
            {current !== '' && buffer === undefined && failure === '' && <p class="script-empty" role="status">{words.loading(current)}</p>}
            <div class="script-body" hidden={buffer === undefined}>
                <div ref={host} class="script-host" />
                {buffer !== undefined && isSoul(buffer.path) &&
                    <SoulReview document={document} files={files} path={buffer.path} open={choose} />}
            </div>
            {buffer !== undefined && (
                <footer class="script-foot">
                    <span role="status">{saveText(buffer)}</span>
                    {(isLua(buffer.path) || isTypeScript(buffer.path)) &&
                        <span class={counts.errors > 0 ? 'wrong' : ''}>{words.problems(counts.errors, counts.warnings)}</span>}
                    <span class="script-where">{words.position(position.line, position.column)}</span>
                </footer>
            )}
            {isComparing && buffer !== undefined && buffer.save.value.kind === 'conflict' &&
                <ConflictDialog buffer={buffer} state={buffer.save.value} close={() => setComparing(false)} />}
        </section>
    );
}

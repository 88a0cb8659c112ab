// Two people have changed one file: both texts side by side, and a choice. Until there is one neither is
// dropped; closing the window only puts the choice off.
import { goToNextChunk, goToPreviousChunk, MergeView } from '@codemirror/merge';
import { history, historyKeymap, defaultKeymap } from '@codemirror/commands';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { StreamLanguage } from '@codemirror/language';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { Button, Dialog } from '../../ui/parts.tsx';
import type { SaveState, ScriptBuffer } from './buffers.ts';
import { isLua } from './contract.ts';
import { luaParser } from './lua_mode.ts';
import { codeLook } from './theme.ts';
import { words } from './words_script.ts';

const look = (path: string): readonly unknown[] => [codeLook, lineNumbers(), isLua(path) ? StreamLanguage.define(luaParser) : []];

export function ConflictDialog({ buffer, state, close }: {
    buffer: ScriptBuffer; state: Extract<SaveState, { kind: 'conflict' }>; close: () => void;
}): JSX.Element {
    const host = useRef<HTMLDivElement>(null);
    const merge = useRef<MergeView | null>(null);
    useLayoutEffect(() => {
        const element = host.current;
        if (element === null) {
            return undefined;
        }
        const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
        const extensions = look(buffer.path) as [];
        const view = new MergeView({
            a: {
                doc: state.theirs,
                extensions: [extensions, EditorState.readOnly.of(true),
                    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': words.conflict.theirs })],
            },
            b: {
                doc: buffer.content(),
                extensions: [extensions, history(), keymap.of([...historyKeymap, ...defaultKeymap]),
                    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': words.conflict.mine })],
            },
            parent: root, root, revertControls: 'a-to-b', gutter: true, highlightChanges: true,
        });
        view.dom.style.height = '100%';
        view.dom.style.overflow = 'auto';
        merge.current = view;
        return () => view.destroy();
    }, [buffer, state]);
    const decide = (text: string): void => {
        close();
        void buffer.resolve(text);
    };
    const step = (move: typeof goToNextChunk): void => {
        if (merge.current !== null) {
            move(merge.current.b);
            merge.current.b.focus();
        }
    };
    return (
        <Dialog title={words.conflict.title(buffer.path.slice(buffer.path.lastIndexOf('/') + 1))} onClose={close}>
            <p>{state.hash === null ? words.conflict.deleted : words.conflict.explain}</p>
            <div class="conflict-heads" aria-hidden="true"><strong>{words.conflict.theirs}</strong><strong>{words.conflict.mine}</strong></div>
            <div ref={host} class="conflict-host" />
            <div class="conflict-actions">
                <Button quiet onClick={() => step(goToPreviousChunk)}>{words.conflict.before}</Button>
                <Button quiet onClick={() => step(goToNextChunk)}>{words.conflict.next}</Button>
                <span class="script-space" />
                <Button quiet onClick={close}>{words.conflict.later}</Button>
                <Button onClick={() => decide(state.theirs)}>{words.conflict.takeTheirs}</Button>
                <Button onClick={() => decide(buffer.content())}>{words.conflict.keepMine}</Button>
                <Button onClick={() => decide(merge.current?.b.state.doc.toString() ?? buffer.content())}>{words.conflict.saveMerged}</Button>
            </div>
        </Dialog>
    );
}

// Beside a plain-language script the Lua that a build made of it, `Door.soul.lua`: what is new since a
// person accepted it is marked, and accepting writes the hash of what was read into its first line, as
// `sandlot soul accept` does.
import { unifiedMergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Button } from '../../ui/parts.tsx';
import { generatedLua, type ScriptDocument, type ScriptFiles } from './contract.ts';
import { luaLook } from './editor.ts';
import { hashOf } from './hash.ts';
import { acceptGenerated, bodyHash, readGenerated } from './soul_lua.ts';
import { words } from './words_script.ts';

const KEPT_MAX = 256 * 1024;
const plain = new TextDecoder();
const utf8 = new TextEncoder();
const keptKey = (hash: string): string => `sandlot.reviewed.${hash}`;

function readKept(hash: string): string {
    try {
        return localStorage.getItem(keptKey(hash)) ?? '';
    } catch {
        return ''; // this browser keeps nothing: all of it is shown as new
    }
}

function keep(body: string): void {
    try {
        if (body.length <= KEPT_MAX) {
            localStorage.setItem(keptKey(bodyHash(body)), body);
        }
    } catch {
        // The next review shows more than it has to.
    }
}

export function SoulReview({ document, files, path, open }: {
    document: ScriptDocument; files: ScriptFiles; path: string; open: (path: string) => void;
}): JSX.Element {
    const lua = generatedLua(path);
    const [text, setText] = useState<string | null>(null);
    const [failure, setFailure] = useState('');
    const host = useRef<HTMLDivElement>(null);
    const hash = (): string | null => document.files().find((file) => file.path === lua)?.hash ?? null;

    useEffect(() => {
        let isGone = false;
        let before: string | null | undefined;
        const look = (): void => {
            const now = hash();
            if (now === before) {
                return;
            }
            before = now;
            if (now === null) {
                setText(null);
                return;
            }
            files.read(lua).then((bytes) => isGone || setText(plain.decode(bytes)),
                (error: unknown) => isGone || setFailure(String(error)));
        };
        look();
        const end = document.on('files', look);
        return () => {
            isGone = true;
            end();
        };
    }, [document, lua]);

    const read = text === null ? null : readGenerated(text);
    useLayoutEffect(() => {
        const element = host.current;
        if (element === null || read === null) {
            return undefined;
        }
        const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
        const view = new EditorView({
            doc: read.body, parent: root, root,
            extensions: [luaLook, EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': lua }),
                read.isReviewed ? [] : unifiedMergeView({ original: readKept(read.reviewed), mergeControls: false, gutter: true })],
        });
        view.dom.style.height = '100%';
        return () => view.destroy();
    }, [text]);

    const accept = (): void => {
        if (text === null || read === null) {
            return;
        }
        const accepted = acceptGenerated(text);
        files.write(lua, utf8.encode(accepted), hashOf(utf8.encode(text)), words.soul.accept).then(() => {
            keep(read.body);
            setText(accepted);
            setFailure('');
        }, (error: unknown) => setFailure(words.failed(error instanceof Error ? error.message : String(error))));
    };
    return (
        <aside class="soul-review">
            <header>
                <h3>{words.soul.title}</h3>
                {read !== null && <p>{read.isReviewed ? words.soul.same : words.soul.changes}</p>}
                {read !== null && read.isOurs && !read.isReviewed && document.canWrite !== false &&
                    <Button onClick={accept}>{words.soul.accept}</Button>}
                {read !== null && <Button quiet onClick={() => open(lua)}>{words.soul.openIt}</Button>}
            </header>
            {failure !== '' && <p class="wrong" role="alert">{failure}</p>}
            {read === null ? <p class="script-empty">{words.soul.none}</p> : <div ref={host} class="soul-host" />}
        </aside>
    );
}

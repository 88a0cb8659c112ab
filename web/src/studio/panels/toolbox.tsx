// Things to insert without code, and the draft's scripts.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { KITS, insertKit } from '../kits.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';
import { Sign } from './icons.tsx';

const SCRIPT_NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;
export const KIT_TYPE = 'application/x-sandlot-kit';

// Its folder and its ending stay. What has the script goes on having it.
function rename(studio: Studio, path: string, stem: string): void {
    const { document: doc } = studio;
    const known = studio.files.hashOf(path);
    const to = path.replace(/[^/.]+(?=\.[a-z.]+$)/, () => stem);
    if (known === null || to === path) {
        return;
    }
    if (!SCRIPT_NAME.test(stem) || studio.files.hashOf(to) !== null) {
        studio.say(studio.files.hashOf(to) !== null ? words.newScript.taken(to) : words.newScript.nameRule, 'error');
        return;
    }
    const ids = [...studio.rows.keys()].filter((id) => (doc.entity(id).scriptRef as { path?: string } | undefined)?.path === path);
    doc.edit(words.renameScript(path), [{ op: 'rename', from: path, to, known },
        ...(ids.length > 0 ? [{ op: 'set' as const, member: 'scriptRef.path', ids, value: to }, { op: 'set' as const, member: 'scriptPath', ids, value: null }] : [])]);
}

function Script({ studio, path }: { studio: Studio; path: string }): JSX.Element {
    const [isRenamed, setRenamed] = useState(false);
    const canWrite = studio.link.canWrite.value;
    const stem = /[^/.]+(?=\.[a-z.]+$)/.exec(path)?.[0] ?? '';
    const end = (text: string): void => {
        setRenamed(false);
        rename(studio, path, text.trim());
    };
    if (isRenamed) {
        return <li><input class="rename" aria-label={words.renameScript(path)} defaultValue={stem} maxLength={40} ref={(field) => field?.focus()}
            onBlur={(event) => end(event.currentTarget.value)}
            onKeyDown={(event) => {
                if (event.key === 'Enter') {
                    event.currentTarget.blur();
                } else if (event.key === 'Escape') {
                    event.currentTarget.value = stem;
                    event.currentTarget.blur();
                }
            }} /></li>;
    }
    return (
        <li class="one">
            <button type="button" onClick={() => studio.openScript(path)}
                onKeyDown={(event) => { if (event.key === 'F2' && canWrite) { event.preventDefault(); event.stopPropagation(); setRenamed(true); } }}>{path}</button>
            <button type="button" class="of" disabled={!canWrite} aria-label={words.renameScript(path)} title={words.renameScript(path)}
                onClick={() => setRenamed(true)}>✎</button>
            <button type="button" class="of" disabled={!canWrite} aria-label={words.deleteFile(path)} title={words.deleteFile(path)}
                onClick={() => studio.files.remove(path, words.steps.removeFile(path))}>✕</button>
        </li>
    );
}

function Scripts({ studio }: { studio: Studio }): JSX.Element {
    studio.filed.value;
    const scripts = studio.document.files().filter(({ path }) => /\.(lua|luau|ts|soul)$/.test(path));
    return (
        <>
            <h2>{words.scripts}</h2>
            <ul class="scripts">
                {scripts.map(({ path }) => <Script key={path} studio={studio} path={path} />)}
                <li><button type="button" class="button quiet small" disabled={!studio.link.canWrite.value} data-command="new-script"
                    onClick={() => { studio.dialog.value = 'script'; }}>{words.newScript.title}</button></li>
                {scripts.length === 0 && <li class="soft">{words.noScripts}</li>}
            </ul>
        </>
    );
}

export function Toolbox({ studio }: { studio: Studio }): JSX.Element {
    const canWrite = studio.link.canWrite.value;
    return (
        <div class="toolbox">
            <ul class="kits" aria-label={words.sides.insert}>
                {KITS.map((kit) => (
                    <li key={kit}>
                        <button type="button" data-kit={kit} title={words.kits[kit].about} disabled={!canWrite} draggable={canWrite}
                            onDragStart={(event) => event.dataTransfer?.setData(KIT_TYPE, kit)}
                            onClick={() => {
                                insertKit(studio, kit).catch((cause: unknown) =>
                                    studio.say(String((cause as Error).message), 'error'));
                            }}>
                            <Sign name={kit} /><span>{words.kits[kit].name}</span>
                        </button>
                    </li>
                ))}
            </ul>
            <Scripts studio={studio} />
        </div>
    );
}

// Things to insert without code, and the draft's scripts.
import { Fragment, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { KITS, insertKit } from '../kits.ts';
import { checkName, deleteScript, nameOf, renameScript, SCRIPT } from '../script_file.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';
import { Sign } from './icons.tsx';

export const KIT_TYPE = 'application/x-sandlot-kit';

function ScriptName({ studio, path, done }: { studio: Studio; path: string; done: () => void }): JSX.Element {
    const field = useRef<HTMLInputElement>(null);
    const [said, setSaid] = useState('');
    const isOver = useRef(false); // what goes away loses the focus once more
    useEffect(() => { field.current?.select(); }, []);
    const end = (isKept: boolean): void => {
        const name = field.current?.value.trim() ?? '';
        const isSame = !isKept || name === nameOf(path);
        const wrong = isSame ? '' : checkName(studio, path, name);
        setSaid(wrong);
        if (wrong === '' && !isOver.current) {
            isOver.current = true;
            done();
            if (!isSame) {
                void renameScript(studio, path, name);
            }
        }
    };
    return (
        <>
            <input ref={field} class="rename" aria-label={words.renameScript(path)} defaultValue={nameOf(path)} maxLength={40} spellcheck={false}
                aria-invalid={said !== ''} aria-describedby="script-name-said" onInput={() => setSaid('')}
                onBlur={() => end(said === '')} // a name that was refused is given up
                onKeyDown={(event) => {
                    event.stopPropagation();
                    if (event.key === 'Enter' || event.key === 'Escape') {
                        end(event.key === 'Enter');
                    }
                }} />
            <span id="script-name-said" class="wrong" role="alert">{said}</span>
        </>
    );
}

function Script({ studio, path }: { studio: Studio; path: string }): JSX.Element {
    const [isRenamed, setRenamed] = useState(false);
    const canWrite = studio.link.canWrite.value;
    if (isRenamed) {
        return <li><ScriptName studio={studio} path={path} done={() => setRenamed(false)} /></li>;
    }
    const keys = (event: KeyboardEvent): void => {
        if (canWrite && (event.key === 'F2' || event.key === 'Delete')) {
            event.preventDefault();
            event.stopPropagation();
            if (event.key === 'F2') {
                setRenamed(true);
            } else {
                void deleteScript(studio, path);
            }
        }
    };
    return (
        <li class="one">
            <button type="button" onClick={() => studio.openScript(path)} onKeyDown={keys}>
                {path.split('/').map((part, i) => <Fragment key={i}>{i > 0 && <>/<wbr /></>}{part}</Fragment>)}</button>
            <button type="button" class="of" disabled={!canWrite} aria-label={words.renameScript(path)} title={words.renameScript(path)}
                onClick={() => setRenamed(true)}>✎</button>
            <button type="button" class="of" disabled={!canWrite} aria-label={words.deleteFile(path)} title={words.deleteFile(path)}
                onClick={() => void deleteScript(studio, path)}>✕</button>
        </li>
    );
}

function Scripts({ studio }: { studio: Studio }): JSX.Element {
    studio.filed.value;
    const scripts = studio.document.files().filter(({ path }) => SCRIPT.test(path));
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

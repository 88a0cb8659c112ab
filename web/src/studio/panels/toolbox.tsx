// Things to insert without code, and the draft's scripts.
import type { JSX } from 'preact';

import { KITS, insertKit } from '../kits.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';
import { Sign } from './icons.tsx';

export const KIT_TYPE = 'application/x-sandlot-kit';

function Scripts({ studio }: { studio: Studio }): JSX.Element {
    studio.filed.value;
    const scripts = studio.document.files().filter(({ path }) => /\.(lua|luau|ts|soul)$/.test(path));
    return (
        <>
            <h2>{words.scripts}</h2>
            <ul class="scripts">
                {scripts.map(({ path }) => (
                    <li key={path}><button type="button" onClick={() => studio.openScript(path)}>{path}</button></li>
                ))}
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

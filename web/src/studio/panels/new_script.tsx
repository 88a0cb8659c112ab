// A new script: where it runs, its language, and its name. A script of the Workspace can be given to what is selected.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { session } from '../../site/session.ts';
import { words as siteWords } from '../../site/words.ts';
import { Dialog } from '../../ui/parts.tsx';
import type { Op } from '../document.ts';
import { SCRIPT_NAME } from '../script_file.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

const SERVICES = ['Workspace', 'ServerScriptService', 'StarterGui', 'StarterPlayer', 'ReplicatedStorage'] as const;
const LANGUAGES = ['lua', 'ts'] as const;
type Language = typeof LANGUAGES[number];
type Service = typeof SERVICES[number];

// A place that is published or played on the server is compiled there.
const hasTypescript = (): boolean => session.value?.typescript !== false;

// Most of the place's own scripts are in it.
function usual(studio: Studio): Language {
    const paths = studio.document.files().map(({ path }) => path);
    const count = (ending: RegExp): number => paths.filter((path) => ending.test(path)).length;
    return hasTypescript() && count(/\.ts$/) > count(/\.luau?$/) ? 'ts' : 'lua';
}

async function make(studio: Studio, path: string, text: string, isGiven: boolean): Promise<void> {
    const { document: doc, files } = studio;
    const hash = await files.store(new TextEncoder().encode(text));
    const given: Op[] = isGiven ? [{ op: 'set', member: 'scriptRef.path', ids: [...studio.selection.value], value: path }] : [];
    if (doc.edit(words.newScript.step(path), [{ op: 'file', path, hash, known: null }, ...given])) {
        studio.openScript(path);
    }
}

// The scripts that what is selected has now: a thing has one.
function replacedBy({ document, selection }: Studio): string[] {
    return [...new Set(selection.value.flatMap((id) => {
        const { scriptRef, scriptPath } = document.entity(id) as { scriptRef?: { path?: string }; scriptPath?: string };
        const path = scriptRef?.path ?? scriptPath ?? '';
        return path === '' ? [] : [path];
    }))];
}

export function NewScript({ studio, close }: { studio: Studio; close: () => void }): JSX.Element {
    const [service, setService] = useState<Service>('Workspace');
    const [language, setLanguage] = useState<Language>(() => usual(studio));
    const [name, setName] = useState('');
    const replaced = replacedBy(studio);
    const [wantsGiven, setGiven] = useState(replaced.length === 0);
    const [said, setSaid] = useState('');
    const chosen = studio.selection.value.length;
    const canGive = service === 'Workspace' && chosen > 0;
    const stem = `${service}/${name.trim()}`;
    const taken = ['lua', 'luau', 'ts'].map((ending) => `${stem}.${ending}`).find((path) => studio.files.hashOf(path) !== null);
    const submit = (event: Event): void => {
        event.preventDefault();
        if (!SCRIPT_NAME.test(name.trim())) {
            setSaid(words.newScript.nameRule);
        } else if (taken !== undefined) {
            setSaid(words.newScript.taken(taken));
        } else {
            make(studio, `${stem}.${language}`, words.newScript.texts[language][service](name.trim()), canGive && wantsGiven).then(close, (cause: unknown) => setSaid(String((cause as Error).message)));
        }
    };
    return (
        <Dialog title={words.newScript.title} onClose={close}>
            <form class="publish-form new-script" onSubmit={submit}>
                <label for="script-name">{words.newScript.name}</label>
                <input id="script-name" type="text" autocomplete="off" spellcheck={false} value={name} aria-invalid={said !== ''}
                    aria-describedby="script-said" onInput={(event) => { setName(event.currentTarget.value); setSaid(''); }} />
                <fieldset class="who">
                    <legend>{words.newScript.where}</legend>
                    {SERVICES.map((each) => <label key={each}><input type="radio" name="service" value={each} checked={service === each}
                        onChange={() => setService(each)} /> {words.newScript.services[each]}</label>)}
                </fieldset>
                <fieldset class="who">
                    <legend>{words.newScript.language}</legend>
                    {LANGUAGES.map((each) => <label key={each}><input type="radio" name="language" value={each} checked={language === each}
                        disabled={each === 'ts' && !hasTypescript()} onChange={() => setLanguage(each)} /> {words.newScript.languages[each]}</label>)}
                    {!hasTypescript() && <p class="soft">{siteWords.noTypescript[session.value?.typescript_lacks ?? 'node']}</p>}
                </fieldset>
                {canGive && <label><input type="checkbox" checked={wantsGiven}
                    onChange={(event) => setGiven(event.currentTarget.checked)} /> {words.newScript.give(chosen, replaced)}</label>}
                <p id="script-said" class="wrong" role="alert">{said}</p>
                <p class="ways"><button type="submit" class="button">{words.newScript.make}</button></p>
            </form>
        </Dialog>
    );
}

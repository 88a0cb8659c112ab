// The files of the draft that are no scripts: pictures, sounds and models, by whom they are used.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { assetFault, assetName } from '../asset_check.ts';
import { SCRIPT } from '../script_file.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

// As a package takes them (docs/FORMATS.md): a file that the Studio takes is not refused by a build for its size.
const bytesMax = (name: string): number => (/\.(wav|glb|bin)$/i.test(name) ? 64 : 32) << 20;
const TYPES = '.png,.jpg,.jpeg,.ogg,.wav,.glb,.gltf,.bin';

// Things by the names of pictures and models that they have. Those that look alike are asked once.
function usersByName(studio: Studio): ReadonlyMap<string, readonly number[]> {
    const alike = new Map<string, number[]>();
    for (const { id, texture, model } of studio.rows.values()) {
        if (texture !== 0 || model !== 0) {
            const key = `${texture} ${model}`;
            const ids = alike.get(key) ?? [];
            ids.push(id);
            alike.set(key, ids);
        }
    }
    const named = new Map<string, number[]>();
    for (const ids of alike.values()) {
        const { texture, model } = studio.document.entity(ids[0] ?? 0);
        for (const name of new Set([texture, model])) {
            if (typeof name === 'string') {
                named.set(name, [...named.get(name) ?? [], ...ids]);
            }
        }
    }
    return named;
}

// A file may be named as "assets/door.png", "door.png" or "door".
function usersOf(named: ReadonlyMap<string, readonly number[]>, path: string): number[] {
    const file = path.split('/').at(-1) ?? path;
    return [...new Set([path, file, file.replace(/\.[^.]+$/, '')].flatMap((name) => named.get(name) ?? []))];
}

// What is wrong with it, or nothing.
async function uploadOne(studio: Studio, file: File): Promise<string> {
    const path = `assets/${assetName(file.name)}`;
    if (file.size > bytesMax(file.name)) {
        return words.assetTooLarge(file.name, bytesMax(file.name) >> 20);
    }
    try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        const fault = await assetFault(path, bytes);
        if (fault !== '') {
            return words.assetRefused(file.name, fault);
        }
        await studio.files.write(path, bytes, studio.files.hashOf(path), words.steps.upload(path));
        studio.note(words.uploaded(path), 'info');
        return '';
    } catch (cause) {
        return `${path}: ${(cause as Error).message}`;
    }
}

// What was refused is said at the end, so that no other file's word takes its place, and given back.
async function upload(studio: Studio, files: readonly File[]): Promise<string[]> {
    const wrong: string[] = [];
    for (const file of files) {
        wrong.push(await uploadOne(studio, file));
    }
    const refused = wrong.filter((text) => text !== '');
    if (refused.length > 0) {
        studio.say(refused.join(' '), 'error');
    } else if (files.length > 0) {
        studio.say(files.length === 1 ? words.uploaded(`assets/${assetName(files[0]!.name)}`) : words.uploadedAll(files.length));
    }
    return refused;
}

export function Assets({ studio }: { studio: Studio }): JSX.Element {
    studio.filed.value;
    studio.changed.value;
    const field = useRef<HTMLInputElement>(null);
    const [isOver, setOver] = useState(false);
    const [refused, setRefused] = useState<string[]>([]); // of the last upload
    const canWrite = studio.link.canWrite.value;
    const files = studio.document.files().filter(({ path }) => !SCRIPT.test(path));
    const named = usersByName(studio);
    return (
        <div class={`assets ${isOver ? 'over' : ''}`}
            onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
            onDrop={(event) => {
                event.preventDefault();
                setOver(false);
                void upload(studio, [...event.dataTransfer?.files ?? []]).then(setRefused);
            }}>
            <p>
                <input ref={field} type="file" id="asset-file" multiple accept={TYPES} disabled={!canWrite} class="hidden-file"
                    onChange={(event) => {
                        void upload(studio, [...event.currentTarget.files ?? []]).then(setRefused); // a copy: clearing the field empties its own list
                        event.currentTarget.value = '';
                    }} />
                <label for="asset-file" class="button quiet small">{words.upload}</label>{' '}
                <span class="soft">{words.uploadHint}</span>
            </p>
            {refused.map((text) => <p key={text} class="wrong">{text}</p>)}
            <ul class="lines">
                {files.map(({ path, hash }) => {
                    const users = usersOf(named, path);
                    return (
                        <li key={path}>
                            <a href={`/api/places/${encodeURIComponent(studio.place)}/blob/${hash}`} download={path.split('/').at(-1)}>{path}</a>{' '}
                            {users.length > 0
                                ? <button type="button" onClick={() => { studio.select(users); studio.view?.focus(users); }}>{words.usedBy(users.length)}</button>
                                : <span class="soft">{words.unused}</span>}{' '}
                            <button type="button" class="end" disabled={!canWrite} aria-label={words.deleteFile(path)}
                                onClick={() => studio.files.remove(path, words.steps.removeFile(path))}>✕</button>
                        </li>
                    );
                })}
                {files.length === 0 && <li class="soft">{words.noAssets}</li>}
            </ul>
        </div>
    );
}

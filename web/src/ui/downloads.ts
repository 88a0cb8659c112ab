// What is being downloaded, in words and true numbers.
import type { Progress } from '../core/download.ts';
import type { Asset, AssetProgress } from '../play/assets.ts';
import { words } from './words.ts';

const NAMES_SHOWN = 3; // of the place's files

export function megabytes(bytes: number): string {
    return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`
        : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

// From 0 to 1, of scene and scripts together; null: nothing is known yet.
export function share(progress: Progress): number | null {
    const all = progress.sceneBytes + progress.runeBytes;
    return all === 0 ? null : (progress.sceneHave + progress.runeHave) / all;
}

const part = (have: number, all: number): string => words.downloads.part(megabytes(have), megabytes(all));

export const coreLine = (have: number, bytes: number): string => words.downloads.core(part(have, bytes));

export function sceneLine({ sceneBytes, sceneHave }: Progress): string {
    return sceneBytes === 0 ? ''
        : words.downloads.scene(sceneHave >= sceneBytes ? megabytes(sceneBytes) : part(sceneHave, sceneBytes));
}

// Empty while nothing of the place's own files is on its way.
export function assetLine({ files, filesHave, bytes, bytesHave, current }: AssetProgress): string {
    return files === 0 ? '' : words.assets.loading(filesHave, files, part(bytesHave, bytes), current);
}

// The row of the first screen: what is on its way, or how much there is.
export function assetRow(list: readonly Asset[] | null, progress: AssetProgress): string {
    const all = list ?? [];
    return assetLine(progress) || (all.length === 0 ? ''
        : words.assets.known(all.length, megabytes(all.reduce((sum, { bytes }) => sum + bytes, 0)),
            all.slice(0, NAMES_SHOWN).map(({ path }) => path.replace(/^assets\//, '')).join(', ') +
                (all.length > NAMES_SHOWN ? ', …' : '')));
}

// Empty once all of them are here.
export function downloadLine(progress: Progress): string {
    const { scripts, scriptsHave, scriptsRefused, runeBytes, runeHave, current, isWaiting } = progress;
    const say = words.downloads;
    if (scriptsRefused > 0) {
        return say.damaged(scriptsRefused, scripts);
    }
    if (scripts === 0 || scriptsHave >= scripts) {
        return '';
    }
    const bytes = runeBytes > 0 ? `, ${part(runeHave, runeBytes)}` : '';
    const what = isWaiting ? ` · ${say.stuck}`
        : current.includes('/') ? ` · ${current}` : ''; // a script's path
    return `${say.scripts(scriptsHave, scripts)}${bytes}${what}`;
}

// What differs between two states of a place, in words: the texts of both are fetched, and core/edit compares them.
import type { FileTexts, PlaceTexts } from '../studio/document.ts';
import { Failure } from './api.ts';
import type { FileChange } from './compare.ts';

const TEXTS_MAX = 24; // files whose lines are counted
const TEXT_BYTES_MAX = 256 * 1024;

export interface WordsTool {
    words(before: PlaceTexts, after: PlaceTexts, files: readonly FileTexts[]): string[];
}

// Reads one file of a state of the place.
export type ReadText = (path: string) => Promise<string>;

export const revisionText = (base: string, revision: string): ReadText => async (path) => {
    const answer = await fetch(`${base}/revisions/${encodeURIComponent(revision)}/files/${path.split('/').map(encodeURIComponent).join('/')}`);
    if (!answer.ok) {
        throw new Failure(answer.status, '', `${path} cannot be read`);
    }
    return answer.text();
};

const isText = ({ path, kind, before, after }: FileChange): boolean => kind === 'changed' &&
    /\.(?:lua|luau|ts|soul|json|md|txt)$/.test(path) && Math.max(before ?? 0, after ?? 0) <= TEXT_BYTES_MAX;

export async function differenceWords(tool: WordsTool, before: ReadText, after: ReadText,
    changes: readonly FileChange[]): Promise<string[]> {
    const texts = async (read: ReadText): Promise<PlaceTexts> => {
        const [place, scene] = await Promise.all([read('place.json'), read('scene.json')]);
        return { place, scene };
    };
    const others = changes.filter(({ path }) => path !== 'place.json' && path !== 'scene.json');
    const counted = new Set(others.filter(isText).slice(0, TEXTS_MAX));
    const files = others.map(async (change): Promise<FileTexts> => {
        const { path, kind } = change;
        if (!counted.has(change)) {
            return { path, before: kind === 'added' ? null : true, after: kind === 'removed' ? null : true };
        }
        const [old, now] = await Promise.all([before(path), after(path)]);
        return { path, before: old, after: now };
    });
    const [old, now] = await Promise.all([texts(before), texts(after)]);
    return tool.words(old, now, await Promise.all(files));
}

// Looks at the pictures, sounds and models of a draft, whoever put them there: what a build would refuse is a
// problem of the file. Each content is looked at once, one after the other.
import { assetFault, isAsset } from './asset_check.ts';
import type { Studio } from './state.ts';

export function watchAssets(studio: Studio): () => void {
    const seen = new Map<string, string>(); // path → hash
    let isBusy = false;
    let isOver = false;
    const look = async (): Promise<void> => {
        for (let next = find(); next !== undefined && !isOver; next = find()) {
            const { path, hash } = next;
            seen.set(path, hash);
            const message = await studio.files.readHash(hash).then((bytes) => assetFault(path, bytes), () => ''); // offline: no fault of the file
            if (studio.files.hashOf(path) === hash) {
                studio.setFaults(path, message === '' ? [] : [{ file: path, line: 0, column: 0, level: 'error', code: 'asset', message }]);
            }
        }
    };
    const find = (): { path: string; hash: string } | undefined =>
        studio.document.files().find(({ path, hash }) => isAsset(path) && seen.get(path) !== hash);
    const start = (): void => {
        const there = new Set(studio.document.files().map(({ path }) => path));
        for (const path of [...seen.keys()].filter((each) => !there.has(each))) {
            seen.delete(path);
            studio.setFaults(path, []);
        }
        if (!isBusy) {
            isBusy = true;
            void look().finally(() => { isBusy = false; });
        }
    };
    start();
    const end = studio.document.on('files', start);
    return () => {
        isOver = true;
        end();
    };
}

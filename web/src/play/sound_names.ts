// Which file a script means.
import { SOUNDS, type Asset } from './assets.ts';

// A file may be named by its path, without "assets/", without its ending, and by its last part alone.
export function soundNamed(list: readonly Asset[], name: string): Asset | null {
    const sounds = list.filter(({ kind }) => SOUNDS.includes(kind));
    const bare = (path: string): string => path.replace(/\.[^./]*$/, '');
    const tests: ((path: string) => boolean)[] = [
        (path) => path === name,
        (path) => path === `assets/${name}`,
        (path) => bare(path) === `assets/${name}`,
        (path) => path.endsWith(`/${name}`),
        (path) => bare(path).endsWith(`/${name}`),
    ];
    for (const test of tests) {
        const found = sounds.find(({ path }) => test(path));
        if (found !== undefined) {
            return found;
        }
    }
    return null;
}

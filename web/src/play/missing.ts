// What a browser withholds from pages that do not come over https, as on the network of a school. The
// game works without it; the settings say what is not there.
import { laterWords } from '../ui/words_later.ts';

export function missingHere(): string[] {
    const { names } = laterWords.missing;
    const has: Record<keyof typeof names, boolean> = {
        crypto: (globalThis.crypto as Crypto | undefined)?.subtle !== undefined,
        files: 'serviceWorker' in navigator,
        clipboard: 'clipboard' in navigator,
        gamepads: 'getGamepads' in navigator,
    };
    return (Object.keys(has) as (keyof typeof names)[]).filter((each) => !has[each])
        .map((each) => names[each]);
}

// Which page is shown. Links inside the site change the address without loading a new document; back and
// forward work, and a list is where it was when one comes back to it.
import { signal } from '@preact/signals';

export interface Address {
    path: string;
    query: string; // with its question mark, or empty
}

function here(): Address {
    return { path: location.pathname, query: location.search };
}

export const address = signal<Address>(here());

// Pages of the site; everything else (the game, downloads) is a document of its own.
const PAGES = [/^\/$/, /^\/search$/, /^\/place\/[^/]+$/, /^\/create(\/[^/]+)?$/, /^\/account$/,
    /^\/class(\/[^/]+)?$/, /^\/operat(?:e|or)(\/[^/]+)?$/];

export function isPage(path: string): boolean {
    return PAGES.some((page) => page.test(path));
}

// To the page for signing in, which leads back here.
export function signInPath(): string {
    const { path, query } = address.value;
    return path === '/account' || path === '/' ? '/account'
        : `/account?next=${encodeURIComponent(path + query)}`;
}

// What an entry of the history keeps, also when the game was played in between: how far it was scrolled, and
// how many further pages of a list were shown.
interface Entry {
    scroll?: number;
    pages?: number;
    from?: string; // the page that led here
    reloaded?: boolean; // a file of the page was not there
}

export function entry(): Entry {
    return history.state as Entry | null ?? {};
}

export function keepInEntry(more: Entry): void {
    history.replaceState({ ...entry(), ...more }, '');
}

// After somebody has scrolled. When they go back or forward it is too late: the entry is another one then.
let keeping: ReturnType<typeof setTimeout> | undefined;
const KEEP_MS = 150;
const RESTORE_MS = 5000;
const OWN_WAYS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const; // somebody scrolls by themselves
let restoring = 0; // the number of the last attempt; 0: none

function keepScroll(): void {
    clearTimeout(keeping);
    if (restoring === 0) {
        keepInEntry({ scroll: scrollY });
    }
}

// Lists that are still being fetched are too short at first, so it is tried again until they are long enough.
let attempts = 0;
function restoreScroll(): void {
    clearTimeout(keeping);
    const wanted = entry().scroll ?? 0;
    const end = performance.now() + RESTORE_MS;
    attempts += 1;
    const own = attempts;
    restoring = own;
    const step = (): void => {
        if (restoring !== own) {
            return;
        }
        scrollTo(0, wanted);
        if (Math.abs(scrollY - wanted) > 2 && performance.now() < end) {
            requestAnimationFrame(step);
        } else {
            restoring = 0;
        }
    };
    step();
}

export function go(to: string, replace = false): void {
    restoring = 0;
    keepScroll();
    const from = location.pathname + location.search;
    if (replace) {
        history.replaceState({ scroll: scrollY }, '', to);
    } else {
        history.pushState({ scroll: 0, from }, '', to);
        scrollTo(0, 0);
    }
    const isOther = location.pathname !== address.value.path;
    address.value = here();
    if (isOther && !replace && document.activeElement?.closest('[role=search]') == null) {
        // What had the focus is gone with its page: Tab and screen readers go on with the new one.
        document.getElementById('content')?.focus({ preventScroll: true });
    }
}

function isPlainClick(event: MouseEvent): boolean {
    return event.button === 0 && !event.defaultPrevented && !event.metaKey && !event.ctrlKey &&
        !event.shiftKey && !event.altKey;
}

export function startRouting(): void {
    history.scrollRestoration = 'manual';
    addEventListener('popstate', () => {
        if (location.hash !== '' && location.pathname === address.value.path) {
            return; // a part of this page, where the browser has gone itself
        }
        address.value = here();
        restoreScroll();
    });
    addEventListener('pagehide', keepScroll);
    addEventListener('scroll', () => {
        clearTimeout(keeping);
        keeping = setTimeout(keepScroll, KEEP_MS);
    }, { passive: true });
    for (const way of OWN_WAYS) {
        addEventListener(way, () => {
            restoring = 0;
        }, { passive: true, capture: true });
    }
    document.addEventListener('click', (event) => {
        const link = event.target instanceof Element ? event.target.closest('a') : null;
        if (link === null || !isPlainClick(event) || link.target !== '' ||
            link.origin !== location.origin || !isPage(link.pathname) ||
            (link.hash !== '' && link.pathname === location.pathname)) {
            return;
        }
        event.preventDefault();
        go(link.pathname + link.search + link.hash);
    });
    restoreScroll();
}

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

// How far each entry of the history was scrolled, kept in the entry itself.
function keepScroll(): void {
    history.replaceState({ ...history.state as object | null, scroll: scrollY }, '');
}

// Lists that are still being fetched are too short at first, so it is tried again for a moment.
function restoreScroll(): void {
    const wanted = (history.state as { scroll?: number } | null)?.scroll ?? 0;
    let tries = 30;
    const step = (): void => {
        scrollTo(0, wanted);
        tries -= 1;
        if (Math.abs(scrollY - wanted) > 2 && tries > 0) {
            requestAnimationFrame(step);
        }
    };
    step();
}

export function go(to: string, replace = false): void {
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
    document.addEventListener('click', (event) => {
        const link = event.target instanceof Element ? event.target.closest('a') : null;
        if (link === null || !isPlainClick(event) || link.target !== '' ||
            link.origin !== location.origin || !isPage(link.pathname) ||
            (link.hash !== '' && link.pathname === location.pathname)) {
            return;
        }
        event.preventDefault();
        go(link.pathname + link.search);
    });
    restoreScroll();
}

// What the browser remembers for this page. Where that is forbidden (a private window, a setting) or
// full, whoever asks gets nothing, and nothing is thrown.

function storage(kind: 'localStorage' | 'sessionStorage'): Storage | null {
    try {
        return window[kind]; // may throw, or be null
    } catch {
        return null;
    }
}

export function readKept(key: string): string | null {
    try {
        return storage('localStorage')?.getItem(key) ?? null;
    } catch {
        return null;
    }
}

// False: it is forgotten when the page is closed.
export function keep(key: string, text: string): boolean {
    try {
        const kept = storage('localStorage');
        kept?.setItem(key, text);
        return kept?.getItem(key) === text;
    } catch {
        return false;
    }
}

// Of this tab alone; null: there is none.
export const tabStorage = (): Storage | null => storage('sessionStorage');

// A guest's sign-in without accounts, for as long as the tab is open: a page that is loaded again goes on
// with the body that it had. With accounts there is a cookie, which no script can read, and nothing here.
const TOKEN_KEY = 'sandlot.guest';

export function keepTabToken(name: string, token: string): void {
    try {
        if (token !== '') {
            tabStorage()?.setItem(TOKEN_KEY, JSON.stringify([name, token]));
        }
    } catch {
        // The next page has another body.
    }
}

// Of a guest of that name; '': none.
export function tabToken(name: string): string {
    try {
        const [whose, token] = JSON.parse(tabStorage()?.getItem(TOKEN_KEY) ?? '[]') as unknown[];
        return whose === name && typeof token === 'string' ? token : '';
    } catch {
        return '';
    }
}

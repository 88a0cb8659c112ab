// Whether the server has a newer page than this one. A page that runs goes on with its own files; the
// new one is used when the page is loaded again, and the player is told so.

const LOOK_MS = 3600_000;

// The game's page names the script that this is a part of, unless it is another build.
async function isNewer(): Promise<boolean> {
    const answer = await fetch('/play', { cache: 'no-store' }).catch(() => null);
    const text = answer?.ok === true ? await answer.text().catch(() => '') : '';
    return text.includes('/assets/') && !text.includes(new URL(import.meta.url).pathname);
}

// Returns how to look now.
export function watchVersion(tell: () => void): () => void {
    const look = (): void => void isNewer().then((newer) => {
        if (newer) {
            tell();
        }
    });
    setInterval(look, LOOK_MS);
    // Plain http has no service workers, private windows may not have them.
    if (import.meta.env.PROD && 'serviceWorker' in navigator) {
        addEventListener('load', () => {
            navigator.serviceWorker.register('/service-worker.js', { updateViaCache: 'none' })
                .then((registration) => registration.addEventListener('updatefound', () => {
                    if (navigator.serviceWorker.controller !== null) {
                        look(); // else it is the first one
                    }
                }))
                .catch(() => undefined);
        });
    }
    return look;
}

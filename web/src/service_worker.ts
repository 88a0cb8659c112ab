// The service worker: keeps the files of the page whose names contain their hashes, and nothing else.
// Pages and answers of the API always come from the server, so a page and its files are of one build:
// the page names the files, and a name means the same bytes for ever.
//
// It is replaced only when no tab of the last build is open any more; what the new build does not
// have is dropped then.

interface WorkerEvent {
    waitUntil(work: Promise<unknown>): void;
    respondWith(answer: Promise<Response>): void;
    readonly request: Request;
}
interface Scope {
    addEventListener(type: 'activate' | 'fetch', listener: (event: WorkerEvent) => void): void;
}
const scope = self as unknown as Scope;

const CACHE = 'sandlot-files';
const FILES = new Set(JSON.parse('__FILES__') as string[]); // paths, by vite.config.ts

async function dropOld(): Promise<void> {
    const cache = await caches.open(CACHE);
    for (const request of await cache.keys()) {
        if (!FILES.has(new URL(request.url).pathname)) {
            await cache.delete(request);
        }
    }
}

// `reload`: what is here is damaged, says the page.
async function answer(event: WorkerEvent): Promise<Response> {
    const { request } = event;
    const cache = await caches.open(CACHE).catch(() => null); // storage may be forbidden or full
    const kept = request.cache === 'reload' ? undefined : await cache?.match(request.url);
    if (kept !== undefined) {
        return kept;
    }
    const fresh = await fetch(request);
    if (fresh.status === 200 && cache !== null) {
        event.waitUntil(cache.put(request.url, fresh.clone()).catch(() => undefined));
    }
    return fresh;
}

scope.addEventListener('activate', (event) => event.waitUntil(dropOld()));
scope.addEventListener('fetch', (event) => {
    const { request } = event;
    const url = new URL(request.url);
    if (request.method === 'GET' && url.origin === location.origin && FILES.has(url.pathname)) {
        event.respondWith(answer(event));
    }
});

// What it costs to stand in the obby, in the real page over a link of 10 Mbit/s with 50 ms for a round
// trip: bytes, round trips and seconds, for somebody who was never there and for somebody who was.
//   tools/bench_start [--json]
// A round trip is a request that began after another had ended: requests at the same time count as one.
// The socket counts as two: the switch of protocols, and the welcome. Bytes are all that came to the
// browser, with headers; who has to type their name is as quick as the page.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { World, closeBrowser, openBrowser } from '../tests/browser/support.mjs';
import { outcome, row } from './report.mjs';
import { roundTrips, slowLink } from './slow_link.mjs';

const BYTES_A_SECOND = 10_000_000 / 8;
const DELAY_MS = 50;
const GOALS = { cold: { bytes: 800_000, trips: 8 }, warm: { bytes: 40_000, trips: 5 } };
const folder = mkdtempSync(join(tmpdir(), 'sandlot-start-'));
process.env.SECRET_KEY ??= 'a-key-of-this-bench-alone-1';

class Up extends World {
    command() {
        return ['up', '--places', this.place, '--default-place', 'obby'];
    }
}

// Requests of the page and its workers, as the browser sees them, and the link's view of the socket.
function watch(context) {
    const requests = [];
    context.on('requestfinished', (request) => {
        const { startTime, responseEnd } = request.timing();
        const { pathname } = new URL(request.url());
        requests.push({ path: pathname, begin: startTime, end: startTime + responseEnd });
    });
    return requests;
}

async function stand(context, link, kind) {
    const requests = watch(context);
    link.paths.clear(); // what is in the browser's cache never gets there
    const page = await context.newPage();
    // The socket is the worker's: it is watched there, on the clock of the other requests.
    await page.addInitScript(`{
        const Real = Worker;
        window.trips = [];
        window.Worker = class extends Real {
            constructor(...rest) {
                super(...rest);
                this.addEventListener('message', ({ data }) => {
                    if (data.type === 'status') {
                        window.trips.push([data.phase, performance.timeOrigin + performance.now()]);
                    }
                });
            }
        };
    }`);
    const bytesBefore = link.bytes;
    const began = performance.now();
    await page.goto(`http://127.0.0.1:${link.port}/play?place=place_obby`, { waitUntil: 'commit' });
    await page.waitForFunction(() => window.sandlot !== undefined, null, { polling: 20 });
    await page.evaluate(() => document.querySelector('#enter').click());
    await page.waitForFunction(() => {
        const { phase, own } = window.sandlot.inspect();
        return phase === 'playing' && own[0] === 1;
    }, null, { polling: 20, timeout: 60_000 });
    const seconds = (performance.now() - began) / 1000;
    const bytes = link.bytes - bytesBefore;
    const phases = new Map(await page.evaluate(() => window.trips));
    const connecting = phases.get('connecting');
    const ended = phases.get('fetching') ?? phases.get('playing');
    const middle = (connecting + ended) / 2;
    requests.push({ path: 'socket', begin: connecting, end: middle },
        { path: 'welcome', begin: middle, end: ended });
    const until = phases.get('playing');
    const counted = requests.filter(({ path, begin }) =>
        begin < until && (link.paths.has(path) || !path.startsWith('/')));
    if (process.env.SHOW) {
        const zero = Math.min(...requests.map(({ begin }) => begin));
        counted.sort((a, b) => a.begin - b.begin).forEach(({ path, begin, end }) =>
            console.log(`  ${(begin - zero).toFixed(0).padStart(6)} ${(end - zero).toFixed(0).padStart(6)} ${path}`));
    }
    row(`start.${kind}.bytes`, bytes, 'bytes', GOALS[kind].bytes);
    row(`start.${kind}.round_trips`, roundTrips(counted), 'round trips', GOALS[kind].trips);
    row(`start.${kind}.requests`, counted.length, 'requests');
    row(`start.${kind}.seconds`, seconds, 's');
    await page.close();
}

cpSync(join(process.argv[4], '..', 'obby'), join(folder, 'places', 'obby'),
    { recursive: true, filter: (from) => !from.includes('.sandlot') });
const world = await Up.start(join(folder, 'places'));
try {
    const link = await slowLink(world.port, BYTES_A_SECOND, DELAY_MS);
    const context = await (await openBrowser()).newContext({ viewport: { width: 320, height: 180 } });
    await stand(context, link, 'cold');
    await new Promise((done) => setTimeout(done, 1500)); // what came is written to the browser's storage
    await stand(context, link, 'warm');
    link.stop();
} finally {
    await world.stop();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
}
process.exit(outcome());

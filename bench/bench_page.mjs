// What a picture costs in the real page: 10,000 parts and 100 players in sight, on a canvas so small that
// filling pixels costs nothing.
//   tools/bench_page [--parts 10000] [--players 100] [--frames 300] [--quality high] [--json]
// Time is processor time of the page's and the worker's own threads, from Chromium's trace: JavaScript,
// WASM and collecting garbage, whatever else the machine does meanwhile. Drawing itself happens in another
// process, is not counted, and is spared where a processor has to do it (countBytes). What the worker
// does for a picture is counted for each; what it does by its own clock, and for what arrives, as at 60
// pictures a second.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Player, World, closeBrowser, openBrowser, sleep, until } from '../tests/browser/support.mjs';
import { outcome, row } from './report.mjs';

const [program, , , screens] = process.argv.slice(2);
const argument = (name, otherwise) => {
    const at = process.argv.indexOf(name);
    return at < 0 ? otherwise : process.argv[at + 1];
};
const PARTS = Number(argument('--parts', 10_000));
const PLAYERS = Number(argument('--players', 100));
const FRAMES = Number(argument('--frames', 300));
const QUALITY = argument('--quality', 'high');
const CANVAS = '64px'; // wide and high
const WINDOW = { width: 320, height: 180 }; // Chromium draws a smaller one twice a second
const LARGE = { width: 1280, height: 720 };
const PICTURES_A_SECOND = 60;
const GOAL = { ms: 4, calls: 150, triangles: 250_000, megabytes: 350 };
const SIDE = 80; // the town reaches so far from the middle
const folder = mkdtempSync(join(tmpdir(), 'sandlot-page-'));

// --- the place: a town of huts on hills beside water ---

// The same numbers in every run.
let seed = 1;
function random() {
    seed = Math.imul(seed, 1664525) + 1013904223 >>> 0;
    return seed / 2 ** 32;
}

const COLOURS = ['#b5835a', '#8a8a80', '#d9534f', '#4f8fd9', '#e0a63a', '#55a868', '#f0ead8', '#7a4a24'];
const KINDS = [['box', 'wood'], ['box', 'stone'], ['box', 'wood'], ['box', 'plastic'], ['box', 'stone'],
    ['box', 'metal'], ['box', 'wood'], ['wedge', 'straw'], ['cylinder', 'wood'], ['sphere', 'leaf']];

// A hut has 25 parts around a point.
function parts() {
    const list = [];
    const aRow = Math.ceil(Math.sqrt(PARTS / 25));
    for (let i = 0; i < PARTS; i++) {
        const hut = Math.floor(i / 25);
        const [kind, material] = KINDS[i % KINDS.length];
        const size = kind === 'box' ? [1 + random() * 3, 0.3 + random() * 2, 0.3 + random() * 2]
            : [1, 1, 1].map((value) => value + (kind === 'sphere' ? 0.5 : random()));
        list.push({
            id: 1000 + i,
            transform: {
                position: [
                    (hut % aRow + 0.5) / aRow * 2 * SIDE - SIDE + (random() - 0.5) * 6,
                    0.5 + random() * 5,
                    (Math.floor(hut / aRow) + 0.5) / aRow * 2 * SIDE - SIDE + (random() - 0.5) * 6,
                ],
                rotation: [0, random() * 360, 0],
            },
            shape: { kind, size: kind === 'cylinder' || kind === 'sphere'
                ? [size[0], size[1], size[0]] : size },
            material: i % 50 === 7 ? 'glass' : material,
            colour: COLOURS[Math.floor(random() * COLOURS.length)],
        });
    }
    return list;
}

function writePlace() {
    const place = join(folder, 'town');
    mkdirSync(place, { recursive: true });
    const hills = Array.from({ length: 60 }, () => {
        const [x, z] = [random() * 220 - 110, random() * 220 - 110].map(Math.floor);
        const [width, height] = [4 + random() * 10, random() * 3].map(Math.floor);
        return { min: [x, 0, z], max: [x + width, height, z + width], kind: 'grass' };
    });
    const spawns = Array.from({ length: 25 }, (_, i) => ({
        id: i + 1, name: `Start${i}`, type: 'spawn',
        transform: { position: [(i % 5 - 2) * 24, 8, (Math.floor(i / 5) - 2) * 24] },
    }));
    writeFileSync(join(place, 'place.json'), JSON.stringify({
        format: 1, name: 'Town', limits: { players: PLAYERS + 4, viewRadius: 128 },
        voxelKinds: [
            { name: 'grass', material: 'grass', colour: '#5d9c4d' },
            { name: 'sand', material: 'sand', colour: '#e3d3a0' },
            { name: 'water', solid: false, material: 'water', colour: '#3a78b8' },
        ],
    }));
    writeFileSync(join(place, 'scene.json'), JSON.stringify({
        format: 1, bounds: { min: [-160, -16, -160], max: [160, 64, 160] },
        terrain: [
            { min: [-160, -6, -160], max: [159, -5, 159], kind: 'sand' },
            { min: [-160, -4, -160], max: [159, -2, 159], kind: 'water' },
            { min: [-112, -4, -112], max: [111, -1, 111], kind: 'grass' }, ...hills,
        ],
        entities: [...spawns, ...parts()],
    }));
    return place;
}

// --- what the page takes on the graphics card ---

// Runs in the page before anything else: adds up what buffers, textures and render targets hold.
function countBytes() {
    const held = new Map(); // by object
    window.gpuBytes = () => [...held.values()].reduce((sum, bytes) => sum + bytes, 0);
    const { prototype } = WebGL2RenderingContext;
    const bound = new Map(); // by target
    const wrap = (name, after) => {
        const call = prototype[name];
        prototype[name] = function wrapped(...all) {
            after(...all);
            return call.apply(this, all);
        };
    };
    const sizeOf = (format, type) => format === 0x8c3a || format === 0x881a ? 8 // floats
        : format === 0x8814 ? 16 : format === 0x8229 ? 1 : 4;
    const hold = (target, bytes) => {
        const object = bound.get(target >= 0x8515 && target <= 0x851a ? 0x8513 : target);
        if (object) {
            held.set(object, bytes);
        }
    };
    wrap('bindBuffer', (target, object) => bound.set(target, object));
    wrap('bindTexture', (target, object) => bound.set(target, object));
    wrap('bindRenderbuffer', (target, object) => bound.set(target, object));
    wrap('bufferData', (target, data) => hold(target, typeof data === 'number' ? data : data.byteLength));
    wrap('texStorage2D', (target, levels, format, width, height) =>
        hold(target, width * height * sizeOf(format) * (levels > 1 ? 4 / 3 : 1)));
    wrap('texImage2D', (target, level, format, width, height) => {
        if (level === 0 && typeof height === 'number') {
            hold(target, width * height * sizeOf(format));
        }
    });
    wrap('renderbufferStorage', (target, format, width, height) => hold(target, width * height * 4));
    wrap('renderbufferStorageMultisample', (target, samples, format, width, height) =>
        hold(target, width * height * 4 * Math.max(samples, 1)));
    // A processor that stands in for a graphics card would need a second for a picture: while it is
    // spared, a call draws the first of its instances alone. The page's work is the same.
    window.spared = true;
    for (const [name, at] of [['drawElementsInstanced', 4], ['drawArraysInstanced', 3]]) {
        const call = prototype[name];
        prototype[name] = function wrapped(...all) {
            all[at] = window.spared ? Math.min(all[at], 1) : all[at];
            call.apply(this, all);
        };
    }
    for (const name of ['deleteBuffer', 'deleteTexture', 'deleteRenderbuffer']) {
        wrap(name, (object) => held.delete(object));
    }
}

// --- the trace ---

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1] ?? NaN;
const sum = (list) => list.reduce((all, value) => all + value, 0);
const WORK = new Set(['FunctionCall', 'FireAnimationFrame', 'MinorGC', 'MajorGC', 'V8.GCScavenger',
    'V8.GCFinalizeMC', 'BlinkGC.AtomicPhase']);

// Events of a thread that are in no other one: what ran, by processor time in ms.
function outermost(events) {
    const list = events.filter(({ name, ph, tdur }) => ph === 'X' && tdur !== undefined && WORK.has(name))
        .sort((a, b) => a.ts - b.ts || b.dur - a.dur);
    let end = -1;
    return list.filter(({ ts, dur }) => {
        const isOuter = ts >= end;
        end = Math.max(end, ts + dur);
        return isOuter;
    }).map((event) => ({ ...event, ms: event.tdur / 1000 }));
}

function byThread(trace) {
    const threads = new Map();
    for (const event of trace) {
        const key = `${event.pid} ${event.tid}`;
        if (!threads.has(key)) {
            threads.set(key, []);
        }
        threads.get(key).push(event);
    }
    return threads;
}

// What a thread does for a picture, and its share of what it does by the clock or for what arrives. The
// worker is sent a message for each picture, and sends one.
function readThread(events, seconds) {
    const all = outermost(events);
    const messages = events.filter(({ name, ph }) => name === 'HandlePostMessage' && ph === 'X');
    const pictures = all.filter(({ name }) => name === 'FireAnimationFrame').slice(0, FRAMES);
    const isIn = ({ ts }) => messages.some((one) => ts >= one.ts && ts <= one.ts + one.dur);
    const rest = all.filter((event) => event.name !== 'FireAnimationFrame' && !isIn(event));
    return {
        pictures: pictures.length,
        pictureMs: (pictures.length > 0 ? median(pictures.map(({ ms }) => ms)) : 0)
            + median(messages.map(({ tdur }) => tdur / 1000)),
        restMs: sum(rest.map(({ ms }) => ms)) / seconds / PICTURES_A_SECOND,
    };
}

// The page's thread is the one with pictures; the worker is another one of its process.
function readTrace(trace) {
    const threads = byThread(trace);
    const frames = (events) => events.filter(({ name }) => name === 'FireAnimationFrame').length;
    const [[key, events]] = [...threads].sort(([, a], [, b]) => frames(b) - frames(a));
    const times = events.filter(({ name }) => name === 'FireAnimationFrame').map(({ ts }) => ts);
    const seconds = (Math.max(...times) - Math.min(...times)) / 1e6;
    const others = [...threads].filter(([other]) =>
        other !== key && other.split(' ')[0] === key.split(' ')[0]).flatMap(([, all]) => all);
    return { seconds, page: readThread(events, seconds), worker: readThread(others, seconds) };
}

// --- the measurement ---

// Asks the worker's own V8, which the page's one knows nothing of.
async function heaps(page) {
    const session = await page.context().newCDPSession(page);
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const attached = new Promise((done) => session.once('Target.attachedToTarget', done));
    await session.send('Target.setAutoAttach',
        { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
    const { sessionId } = await attached;
    const answer = new Promise((done) => session.on('Target.receivedMessageFromTarget', ({ message }) => {
        const { id, result } = JSON.parse(message); // events have no id
        if (id === 1) {
            done(result);
        }
    }));
    await session.send('Target.sendMessageToTarget',
        { sessionId, message: JSON.stringify({ id: 1, method: 'Runtime.getHeapUsage' }) });
    const worker = await answer;
    await session.detach();
    return [usedSize, worker.usedSize];
}

// `size`: a side of the canvas; '': as large as the window.
const resize = (player, size) => player.page.evaluate((side) => {
    const { style } = document.getElementById('view');
    Object.assign(style, { width: side, height: side });
    dispatchEvent(new Event('resize'));
}, size);

// Everybody has come, and everything that is in sight is drawn.
async function settle(player) {
    let seen = 0;
    await until('everybody is in sight', async () => {
        const { movers } = await player.inspect();
        seen = movers.length / 16;
        return seen >= PLAYERS;
    }, 120_000).catch((error) => console.error(`${error.message}; ${seen} are`));
    let before = -1;
    await until('the terrain is drawn', async () => {
        await sleep(1500);
        const { chunks } = await player.inspect();
        const same = chunks === before && chunks > 0;
        before = chunks;
        return same;
    }, 120_000);
}

async function record(player) {
    const browser = await openBrowser();
    const drawn = [];
    await browser.startTracing(player.page, {
        categories: ['devtools.timeline', 'v8', 'blink_gc', 'disabled-by-default-v8.gc'],
    });
    const count = () => player.page.evaluate(() => window.pictures);
    const from = await count();
    await until('the pictures are made', async () => {
        await player.look(drawn.length * 0.45, -0.05); // once around, and more
        await sleep(200);
        drawn.push((await player.inspect()).drawn);
        return await count() - from > FRAMES + 1;
    }, 300_000);
    return { trace: JSON.parse(String(await browser.stopTracing())).traceEvents, drawn };
}

async function measure(player) {
    const { trace, drawn } = await record(player);
    const { page, worker, seconds } = readTrace(trace);
    row('page.players', (await player.inspect()).movers.length / 16, 'in sight');
    row('page.frames', page.pictures, 'pictures');
    row('page.frames.rate', page.pictures / seconds, 'a second');
    row('page.main.median', page.pictureMs, 'ms');
    row('page.main.rest', page.restMs, 'ms');
    row('page.worker.median', worker.pictureMs, 'ms');
    row('page.worker.rest', worker.restMs, 'ms');
    row('page.cpu', page.pictureMs + page.restMs + worker.pictureMs + worker.restMs, 'ms a picture',
        GOAL.ms);
    row('page.calls', Math.max(...drawn.map(({ calls }) => calls)), 'draw calls', GOAL.calls);
    row('page.triangles', Math.max(...drawn.map(({ triangles }) => triangles)), 'triangles',
        GOAL.triangles);
    const { link } = await player.inspect();
    const heap = await heaps(player.page);
    const gpu = await player.page.evaluate(() => window.gpuBytes());
    row('page.heap', sum(heap) / 1e6, 'MB');
    row('page.wasm', link.wasmBytes / 1e6, 'MB');
    row('page.gpu', gpu / 1e6, 'MB');
    row('page.memory', (sum(heap) + link.wasmBytes + gpu) / 1e6, 'MB', GOAL.megabytes);
}

const world = await World.start(writePlace());
const bots = spawn(program, ['bots', '--server', `http://127.0.0.1:${world.port}`, '-n',
    String(PLAYERS - 1), '--seconds', '600', '--best-effort', '--truth', '0'], { stdio: 'ignore' });
try {
    const context = await (await openBrowser()).newContext({ viewport: WINDOW });
    const player = await Player.open(world.port, 'Ada', {
        context, pauseMs: 0, paints: true,
        before: async (all) => {
            await all.addInitScript(countBytes);
            await all.addInitScript((quality) => {
                localStorage.setItem('sandlot.settings', JSON.stringify({ quality, camera: 'first' }));
                window.pictures = 0;
                const draw = window.requestAnimationFrame.bind(window);
                window.requestAnimationFrame = (picture) => {
                    window.pictures += 1;
                    return draw(picture);
                };
            }, QUALITY);
        },
    });
    await player.playing();
    await resize(player, CANVAS);
    await settle(player);
    await player.look(0.78, -0.05);
    await sleep(1000);
    await measure(player);
    await player.page.evaluate(() => { window.spared = false; });
    await player.page.setViewportSize(LARGE);
    await resize(player, '');
    await sleep(3000);
    await player.page.screenshot({ path: join(screens, 'bench_page.png') });
    if (player.complaints.length > 0) { // then perhaps less was drawn
        throw new Error(`the page complains: ${player.complaints.slice(0, 5).join('; ')}`);
    }
} finally {
    bots.kill('SIGKILL');
    await closeBrowser();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
}
process.exit(outcome());

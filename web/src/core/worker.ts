// The worker: the client in WASM, its connection, and the clock that drives it. Workers' timers
// continue while the tab is hidden, so the player stays in the world and is not dropped.
import wasmUrl from '../../../build/wasm/core.wasm?url'; // made by the wasm preset

import {
    type ClientEvent, ClientState, Core, type CoreClient, type Input, type Ray,
} from './bridge.ts';
import type { FromWorker, Join, PlanWish, Rays, ToWorker } from './channel.ts';
import { checkPlace } from './check.ts';
import { Link } from './link.ts';
import { linkWords as words } from '../ui/link_words.ts';

const UPDATE_MS = 1000 / 60;
const STATS_MS = 250;
const PAUSE_MS = 5000; // between two updates: something has stopped this thread
const CHUNKS_A_TURN = 6; // meshes made between two pictures

declare const CORE_BYTES: number; // of core.wasm, by vite.config.ts

// The page's library of types has no workers; this is what is used of one.
interface WorkerScope {
    postMessage(message: FromWorker, transfer: Transferable[]): void;
    addEventListener(type: 'message', listener: (event: MessageEvent<ToWorker>) => void): void;
}
const scope = self as unknown as WorkerScope;
const tell = (message: FromWorker, transfer: Transferable[] = []): void =>
    scope.postMessage(message, transfer);

let module: Promise<WebAssembly.Module> | null = null;
let core: Promise<Core> | null = null;
let loaded: Core | null = null;
let link: Link | null = null;
let input: Input = { moveX: 0, moveZ: 0, yaw: 0, pitch: 0, buttons: 0 };
let statsMs = 0;
let updatedMs = performance.now();
let isDamaged = false; // what came of the core was no module: the browser must not give it again
let costsWanted = false; // the page shows them

// --- terrain ---

const known = new Map<string, number>(); // the version each chunk was drawn in
const due = new Map<string, [number, number, number]>();
let terrainVersion = -1;
let sceneHash = '';
let paintVersion = -1; // that the page has

function mark(x: number, y: number, z: number): void {
    due.set(`${x},${y},${z}`, [x, y, z]);
}

// A chunk that changed may show or hide faces of its neighbours.
function findChunks(): void {
    if (link === null || link.client.terrainVersion() === terrainVersion) {
        return;
    }
    terrainVersion = link.client.terrainVersion();
    const rows = link.client.chunks();
    const gone = new Set(known.keys());
    for (let at = 0; at < rows.length; at += 4) {
        const [x = 0, y = 0, z = 0, version = 0] = rows.slice(at, at + 4);
        const before = known.get(`${x},${y},${z}`);
        gone.delete(`${x},${y},${z}`);
        if (before === version) {
            continue;
        }
        known.set(`${x},${y},${z}`, version);
        mark(x, y, z);
        if (before !== undefined || version > 0) {
            for (const [dx, dy, dz] of NEIGHBOURS) {
                mark(x + dx, y + dy, z + dz);
            }
        }
    }
    // Air that was built in, in another life of the world.
    for (const key of gone) {
        known.delete(key);
        const [x = 0, y = 0, z = 0] = key.split(',').map(Number);
        mark(x, y, z);
    }
}

const NEIGHBOURS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]] as const;

// The nearest first.
function sendChunks(): void {
    if (link === null || due.size === 0) {
        return;
    }
    const [, , ownX = 0, ownY = 0, ownZ = 0] = link.client.own();
    const distance = ([x, y, z]: [number, number, number]): number =>
        Math.hypot(x * 32 + 16 - ownX, y * 32 + 16 - ownY, z * 32 + 16 - ownZ);
    const nearest = [...due].sort(([, a], [, b]) => distance(a) - distance(b))
        .slice(0, CHUNKS_A_TURN);
    for (const [key, [x, y, z]] of nearest) {
        due.delete(key);
        const quads = link.client.chunkMesh(x, y, z);
        const version = known.get(key) ?? 0;
        tell({ type: 'chunk', x, y, z, version, quads }, [quads.buffer]);
    }
}

// --- what the page draws ---

let soundsChange = 0; // as the page knows it
let pendingWelcome: Record<string, unknown> | null = null;

// When the scene of a welcome is loaded. After a reconnect to the same scene, drawing continues.
function sendPlace(events: readonly ClientEvent[]): void {
    const welcome = events.findLast(({ message }) => message.kind === 'welcome')?.message.payload;
    pendingWelcome = welcome ?? pendingWelcome;
    const place = pendingWelcome === null || link === null ? null : link.client.place();
    if (place === null || link === null || pendingWelcome === null) {
        return;
    }
    const hash = String(pendingWelcome.sceneHash);
    if (hash !== sceneHash) {
        known.clear();
        due.clear();
        terrainVersion = -1;
        sceneHash = hash;
        paintVersion = -1;
        tell({ type: 'place', place, parts: link.client.parts() });
    }
    tell({
        type: 'welcome', player: Number(pendingWelcome.player),
        resumed: pendingWelcome.resumed === true,
    });
    pendingWelcome = null;
}

// Messages of scripts for their creators.
function sendScripts(): void {
    const faults = link?.client.faults() ?? [];
    if (faults.length > 0) {
        tell({ type: 'faults', faults });
    }
    const lines = loaded?.logLines() ?? [];
    if (lines.length > 0) {
        tell({ type: 'log', lines });
    }
}

function sendSounds(client: CoreClient): void {
    const once = client.sounds();
    const change = client.soundsChange();
    if (once.length > 0 || change !== soundsChange) {
        tell({ type: 'sounds', once, state: change === soundsChange ? null : client.soundState() });
        soundsChange = change;
    }
}

function update(): void {
    const pausedMs = performance.now() - updatedMs;
    updatedMs += pausedMs;
    if (link === null) {
        return;
    }
    if (pausedMs > PAUSE_MS) {
        link.woke(pausedMs);
    }
    const { client } = link;
    sendSounds(client); // what has come since, which an update forgets
    client.setInput(input);
    client.update(performance.now());
    sendSounds(client);
    link.pump();
    link.watch();
    const events = client.events();
    sendPlace(events);
    if (events.length > 0) {
        tell({ type: 'events', events });
    }
    const shown = client.shown();
    if (shown.length > 0) {
        tell({ type: 'shown', shown });
    }
    const now = performance.now();
    if (now - statsMs >= STATS_MS) {
        statsMs = now;
        sendScripts();
        link.showDownloads();
        const { phase, connections } = link;
        const hash = client.hash().toString(16).padStart(16, '0');
        const wasmBytes = loaded?.memoryBytes() ?? 0;
        tell({
            type: 'stats', stats: client.stats(),
            link: { phase, connections, hash, atMs: now, wasmBytes },
            costs: costsWanted ? client.costs() : null,
        });
    }
}

function planned(aim: Ray, wish: PlanWish): Float64Array<ArrayBuffer> | null {
    return link === null ? null
        : 'piece' in wish ? link.client.buildAim(aim, wish.piece, wish.turn)
        : link.client.digAim(aim, wish.edge, wish.kind);
}

function takePaints(client: CoreClient): Float64Array<ArrayBuffer> | null {
    const version = client.paintVersion();
    if (version === paintVersion) {
        return null;
    }
    paintVersion = version;
    return client.paints();
}

function sendFrame({ back, aim: aimed, plan: wish = null }: Rays): void {
    if (link === null || sceneHash === '') {
        tell({ type: 'nothing' });
        return;
    }
    const { client } = link;
    const own = client.own();
    const movers = client.movers();
    const shapes = client.shapes();
    const hidden = client.hidden();
    const paints = takePaints(client);
    const free = (back === null ? null : client.ray(back))?.[0] ?? back?.distance ?? 0;
    const aim = aimed === null ? null : client.ray(aimed);
    const scenery = {
        sky: client.sky(), visuals: client.visuals(), moments: client.moments(),
        cameraWanted: client.cameraWanted(),
    };
    const plan = aimed === null || wish === null ? null : planned(aimed, wish);
    tell({ type: 'frame', own, movers, shapes, hidden, paints, free, aim, plan, ...scenery },
        [own.buffer, movers.buffer, shapes.buffer, hidden.buffer]);
    findChunks();
    sendChunks();
}

// --- messages from the page ---

// A copy is counted: browsers keep what they compiled of an answer that they got themselves.
async function count(answer: Response): Promise<void> {
    const reader = answer.body?.getReader();
    for (let have = 0; reader !== undefined;) {
        const { done, value } = await reader.read();
        if (done) {
            break;
        }
        have += value.length;
        tell({ type: 'core', have, bytes: CORE_BYTES });
    }
}

async function fetchCore(): Promise<Response> {
    const answer = await fetch(wasmUrl, { cache: isDamaged ? 'reload' : 'default' });
    if (answer.ok) {
        count(answer.clone()).catch(() => undefined); // who compiles it hears of it too
    }
    return answer;
}

function compiled(): Promise<WebAssembly.Module> {
    module ??= WebAssembly.compileStreaming(fetchCore()).catch((error: unknown) => {
        module = null; // the next one who asks tries again
        isDamaged = true;
        throw error;
    });
    return module;
}

// Why there is no core, and what one can do.
function coreTrouble(error: unknown): string {
    return typeof WebAssembly === 'undefined' ? words.core.refused
        : error instanceof WebAssembly.CompileError ? words.core.damaged(String(error))
        : error instanceof TypeError ? words.core.unreachable
        : words.core.failed(String(error));
}

async function load(): Promise<Core> {
    if (typeof WebAssembly === 'undefined') {
        throw new Error('no WebAssembly');
    }
    return Core.load(await compiled());
}

async function start(join: Join): Promise<void> {
    link?.leave(); // nothing of it is told any more
    tell({ type: 'status', phase: 'starting', text: words.joining.start });
    core ??= load();
    const ready = await core;
    loaded = ready;
    link?.abandon();
    link?.client.destroy();
    sceneHash = '';
    soundsChange = 0;
    link = new Link(ready, join, tell);
    await link.start();
}

// In an instance of its own, so that what goes wrong in it does not end a game, and its memory is
// given back.
async function check(files: Map<string, Uint8Array>): Promise<void> {
    try {
        const checker = await Core.load(await compiled());
        tell({ type: 'checked', failure: '', ...checkPlace(checker, files) });
    } catch (error) {
        tell({ type: 'checked', failure: String(error), scripts: 0, diagnostics: [] });
    }
}

function command(feature: string, action: string, payload: object): void {
    if (link === null || link.client.state() !== ClientState.playing) {
        return;
    }
    try {
        link.client.send(feature, action, payload);
    } catch (error) {
        // As if the world had refused it.
        const refusal = { code: 'malformed', message: String(error) };
        tell({
            type: 'events',
            events: [{
                tick: 0,
                message: { kind: 'error', feature: 'session', action: 'error', payload: refusal },
            }],
        });
    }
    link.pump();
}

// A trap in WASM leaves its memory in an undefined state: the session ends, and the page shows why.
function guarded(work: () => void): void {
    try {
        work();
    } catch (error) {
        link?.abandon();
        link = null;
        core = null;
        tell({
            type: 'status', phase: 'closed',
            text: words.core.trapped(String(error)),
        });
    }
}

function hear(message: ToWorker): void {
    switch (message.type) {
        case 'join':
            start(message).catch((error: unknown) => {
                core = null;
                tell({
                    type: 'status', phase: 'closed', trouble: 'core', text: coreTrouble(error),
                });
            });
            break;
        case 'input':
            input = message.input;
            link?.client.setCamera(message.camera.slice(0, 3), message.camera.slice(3));
            update();
            sendFrame(message.rays);
            break;
        case 'key':
            link?.client.setKey(message.key, message.down);
            break;
        case 'costs':
            costsWanted = message.wanted;
            break;
        case 'widget':
            link?.client.useWidget(message.use);
            break;
        case 'command':
            command(message.feature, message.action, message.payload);
            break;
        case 'check':
            void check(message.files);
            break;
        case 'retry':
            link?.retryNow();
            break;
        case 'network':
            link?.networkChanged();
            break;
        case 'leave':
            link?.leave();
            break;
    }
}

// While the player still reads the first screen.
if (typeof WebAssembly !== 'undefined') {
    compiled().catch(() => undefined); // it is tried again, and said, when it is needed
}
scope.addEventListener('message', (event) => guarded(() => hear(event.data)));
setInterval(() => guarded(update), UPDATE_MS);

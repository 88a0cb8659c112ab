// A whole place in one thread: its world, one player, and the clock that drives both. It is thrown away
// when playing ends, so nothing of it can reach the document.
import wasmUrl from '../../../../build/wasm/core.wasm?url'; // made by the wasm preset

import { Core, type CoreWorld } from '../../core/bridge.ts';
import type { FromWorker, ToWorker } from '../../core/channel.ts';
import { ClientLoop, UPDATE_MS } from '../../core/client_loop.ts';
import type { Asset } from '../../core/asset.ts';
import { LocalLink } from './local_link.ts';
import { logLine } from './log_line.ts';
import type { FromPlay, LogLine, PlayDiff, PlayPlace, ToPlay } from './play_channel.ts';

const NUMBERS_MS = 500;
const LINES_A_TURN = 100;

interface WorkerScope {
    postMessage(message: FromPlay): void;
    addEventListener(type: 'message', listener: (event: MessageEvent<ToPlay>) => void): void;
    close(): void;
}
const scope = self as unknown as WorkerScope;
const tell = (message: FromPlay): void => scope.postMessage(message);

let module: WebAssembly.Module | null = null;
let core: Core | null = null;
let world: CoreWorld | null = null;
let link: LocalLink | null = null;
let screen: MessagePort | null = null;
let startMs = 0;
let isIn = false; // the player is in the world
let numbersMs = 0;
let assets: Asset[] = [];
let turn: Promise<void> = Promise.resolve(); // the start, and what is applied after it: one after the other
let isPaused = false;
const lines: LogLine[] = [];

const loop = new ClientLoop((message: FromWorker, transfer: Transferable[] = []) => {
    if (message.type !== 'log') { // taken where it is known whose it is
        screen?.postMessage(message, transfer);
    }
    if (message.type === 'place') {
        link?.setRate(message.place.tickRate);
    }
});

// Whoever ran last has written what is in the log now.
function takeLog(side: LogLine['side']): void {
    for (const line of core?.logLines() ?? []) {
        lines.push(logLine(side, line));
    }
}

function sendNumbers(now: number): void {
    if (link === null || world === null || now - numbersMs < NUMBERS_MS) {
        return;
    }
    numbersMs = now;
    const costs = world.costs();
    const { tick } = world.stats();
    const { ticks, ms } = link.times;
    tell({
        type: 'numbers',
        numbers: {
            tick, tickMs: ticks === 0 ? 0 : ms / ticks, execMs: tick === 0 || costs === null ? 0 : costs.execMs / tick,
            wasmBytes: core?.memoryBytes() ?? 0, costs, client: link.client.stats(),
        },
    });
}

function update(): void {
    if (link === null) {
        return;
    }
    link.tick(() => takeLog('server'));
    loop.update();
    takeLog('client');
    if (lines.length > 0) {
        tell({ type: 'log', lines: lines.splice(0, LINES_A_TURN) });
    }
    if (!isIn && link.phase === 'playing') {
        isIn = true;
        tell({ type: 'playing', ms: performance.now() - startMs });
    }
    sendNumbers(performance.now());
}

// A trap in WASM leaves its memory in an undefined state: playing ends, and the studio shows why.
function guarded(work: () => void): void {
    try {
        work();
    } catch (error) {
        link = null;
        loop.setLink(null, null);
        tell({ type: 'ended', message: error instanceof Error ? error.message : String(error) });
    }
}

function listen(port: MessagePort): void {
    screen?.close();
    screen = port;
    port.postMessage({ type: 'assets', assets } satisfies FromWorker);
    port.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => guarded(() => {
        if (data.type === 'join') {
            loop.setLink(link, core); // the screen knows nothing yet
        } else {
            loop.hear(data);
        }
    }));
    port.start();
}

async function start({ place, name, placeId, port }: Extract<ToPlay, { type: 'start' }>): Promise<void> {
    const { files, compiled } = place;
    module = await WebAssembly.compileStreaming(fetch(wasmUrl));
    startMs = performance.now();
    core = await Core.load(module);
    try {
        world = compiled === null ? core.createWorld(files) : core.createCompiledWorld(files, compiled);
    } catch (error) {
        takeLog('server');
        tell({ type: 'log', lines: lines.splice(0) });
        tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
        return;
    }
    tell({ type: 'started', loadMs: performance.now() - startMs });
    link = new LocalLink(core, world, name, (message) => screen?.postMessage(message));
    link.isPaused = isPaused;
    link.onLeave = () => tell({ type: 'left' });
    listen(port);
    loop.setLink(link, core);
    screen?.postMessage({ type: 'room', code: '', worldId: '', placeId, token: '' } satisfies FromWorker);
    link.connect();
    setInterval(() => guarded(update), UPDATE_MS);
}

// The player goes on in a world of its own memory; until that stands, the old one goes on.
async function remake(place: PlayPlace): Promise<void> {
    const fresh = module === null ? null : await Core.load(module);
    if (link === null || fresh === null || place.compiled === null) {
        return;
    }
    try {
        [link, world] = link.remade(fresh, { files: place.files, compiled: place.compiled });
    } catch (error) {
        for (const line of fresh.logLines()) {
            lines.push({ side: 'server', level: 'error', text: line });
        }
        throw error;
    }
    core = fresh;
    loop.setLink(link, core);
    link.connect();
}

async function apply(diff: PlayDiff): Promise<void> {
    const began = performance.now();
    try {
        const isHere = link === null || link.applyHere(diff);
        if (!isHere && diff.place !== undefined && diff.place.compiled !== null) {
            await remake(diff.place);
        } else if (!isHere && diff.edit !== undefined) {
            tell({ type: 'whole' });
            return;
        } else if (!isHere) {
            link?.applyTexts(diff);
        }
        tell({ type: 'applied', isRemade: !isHere, ms: performance.now() - began });
    } catch (error) {
        if (error instanceof WebAssembly.RuntimeError) {
            guarded(() => { throw error; });
        } else {
            tell({ type: 'refused', message: error instanceof Error ? error.message : String(error) });
        }
    }
}

scope.addEventListener('message', ({ data }) => guarded(() => {
    switch (data.type) {
        case 'start':
            turn = start(data).catch((error: unknown) => tell({ type: 'failed', message: String(error) }));
            break;
        case 'screen':
            listen(data.port);
            break;
        case 'assets':
            assets = data.assets;
            screen?.postMessage({ type: 'assets', assets } satisfies FromWorker);
            break;
        case 'apply':
            turn = turn.then(() => apply(data.diff));
            break;
        case 'pause':
            ({ isPaused } = data);
            if (link !== null) {
                link.isPaused = isPaused;
            }
            break;
    }
}));

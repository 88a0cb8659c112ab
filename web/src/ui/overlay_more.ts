// What else the overlay (Tab) shows: how long pictures took, what is downloaded, and what scripts cost
// and where they failed, here and, for those who may know, on the server. Loaded with the overlay.
import type { CacheStats } from '../core/cache.ts';
import type { ScriptCosts } from '../core/bridge.ts';
import type { Progress } from '../core/download.ts';
import { megabytes } from './downloads.ts';
import { laterWords } from './words_later.ts';

const FRAMES = 240;
const GRAPH_MS = 66; // the height of the graph, one pixel a millisecond
const ROWS_MAX = 8;
const AGAIN_MS = 3000;

// GET /api/worlds/<id>/scripts, as far as it is shown.
interface ServerScripts {
    version: number;
    scriptCount: number;
    scripts: { path: string; calls: number; timeUs: number; memoryBytes: number; faults: number }[];
    faults: { path: string; line: number; message: string }[];
}

const cell = (kind: 'th' | 'td', text: string): HTMLElement => {
    const made = document.createElement(kind);
    made.textContent = text;
    return made;
};

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]):
HTMLTableElement {
    const made = document.createElement('table');
    made.createCaption().textContent = title;
    if (rows.length > 0) {
        const top = made.createTHead().insertRow();
        head.forEach((each) => top.append(Object.assign(cell('th', each), { scope: 'col' })));
    }
    const body = made.createTBody();
    for (const [first = '', ...rest] of rows) {
        const row = body.insertRow();
        row.append(Object.assign(cell('th', first), { scope: 'row' }),
            ...rest.map((each) => cell('td', each)));
    }
    return made;
}

export class OverlayMore {
    private readonly root: HTMLElement;
    private readonly graph = document.createElement('canvas');
    private readonly downloads = document.createElement('div');
    private readonly own = document.createElement('div');
    private readonly server = document.createElement('div');
    private frames: number[] = []; // ms, the newest last
    private following = false;
    private forbidden = ''; // the world that refused
    private readonly canSeeServer: () => boolean;
    world = ''; // the id of the one the player is in

    // `canSeeServer`: whether this player may see what the world's scripts cost on the server.
    constructor(root: HTMLElement, canSeeServer: () => boolean) {
        this.root = root;
        this.canSeeServer = canSeeServer;
        this.graph.width = FRAMES;
        this.graph.height = GRAPH_MS;
        this.graph.setAttribute('role', 'img');
        root.append(this.graph, this.downloads, this.own, this.server);
    }

    show(visible: boolean): void {
        this.root.hidden = !visible;
        this.forbidden = '';
        if (visible && !this.following) {
            void this.follow();
        }
    }

    // With each picture.
    frame(ms: number): void {
        this.frames = [...this.frames, ms].slice(-FRAMES);
        if (this.root.hidden) {
            return;
        }
        const context = this.graph.getContext('2d');
        context?.clearRect(0, 0, FRAMES, GRAPH_MS);
        this.frames.forEach((each, at) => {
            if (context !== null) {
                const high = Math.min(each, GRAPH_MS);
                context.fillStyle = each <= 17.5 ? '#6cc04a' : each <= 34 ? '#f2b441' : '#e0503c';
                context.fillRect(at, GRAPH_MS - high, 1, high);
            }
        });
        const sorted = [...this.frames].sort((a, b) => a - b);
        this.graph.setAttribute('aria-label', laterWords.overlay.graph(this.frames.length,
            sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0));
    }

    // A few times a second.
    update(progress: Progress | null, cache: CacheStats | null, costs: ScriptCosts | null): void {
        const say = laterWords.overlay;
        if (progress !== null) {
            this.downloads.replaceChildren(table(say.downloads, say.downloadHead, [
                [say.scene, megabytes(progress.sceneHave), megabytes(progress.sceneBytes)],
                [say.scripts, megabytes(progress.runeHave), megabytes(progress.runeBytes)],
                [say.files, String(progress.scriptsHave), String(progress.scripts)],
                [say.wire, megabytes(progress.wireBytes), say.requests(progress.requests)],
                ...cache === null ? [] : [[say.cache, megabytes(cache.bytes), say.found(cache.hits)]],
            ]));
        }
        this.own.replaceChildren(costs === null ? table(say.own, [], [])
            : table(say.ownOf(costs.scripts, costs.faults), say.costHead,
                costs.rows.slice(0, ROWS_MAX).map((row) => [row.path, String(row.calls),
                    row.ms.toFixed(1), megabytes(row.memoryBytes), String(row.faults)])));
    }

    // As long as it is seen. Nobody asks without the right: browsers write each refusal to the console.
    private async follow(): Promise<void> {
        this.following = true;
        let version = -1;
        let asked = '';
        while (!this.root.hidden) {
            const { world } = this;
            if (asked !== world) {
                asked = world;
                version = -1;
                this.server.replaceChildren();
            }
            if (world !== '' && world !== this.forbidden && this.canSeeServer()) {
                const after = version < 0 ? '' : `?follow=1&after=${version}`;
                const answer = await fetch(`/api/worlds/${world}/scripts${after}`).catch(() => null);
                if (answer?.ok === true) {
                    const said = await answer.json() as ServerScripts;
                    version = said.version;
                    this.showServer(said);
                } else {
                    this.forbidden = answer?.status === 404 || answer?.status === 403 ? world : '';
                    this.server.replaceChildren();
                }
            }
            await new Promise((done) => setTimeout(done, AGAIN_MS));
        }
        this.following = false;
    }

    private showServer(said: ServerScripts): void {
        const say = laterWords.overlay;
        this.server.replaceChildren(
            table(say.server(said.scriptCount), say.costHead, said.scripts.slice(0, ROWS_MAX)
                .map((row) => [row.path, String(row.calls), (row.timeUs / 1000).toFixed(1),
                    megabytes(row.memoryBytes), String(row.faults)])),
            table(say.faults(said.faults.length), say.faultHead, said.faults.slice(-ROWS_MAX)
                .map(({ path, line, message }) => [`${path}:${line}`, message])));
    }
}

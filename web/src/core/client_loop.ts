// A client in WASM and what a page draws of it: messages of the page go in, frames, events, sounds and
// terrain come out. Where its world is, on a server or in the same memory, is the link's business.
import { type ClientEvent, ClientState, type Core, type CoreClient, type Input, type Ray } from './bridge.ts';
import type { FromWorker, Phase, PlanWish, Rays, ToWorker } from './channel.ts';

export const UPDATE_MS = 1000 / 60;
const STATS_MS = 250;
const PAUSE_MS = 5000; // between two updates: something has stopped this thread
const CHUNKS_A_TURN = 6; // meshes made between two pictures
const NEIGHBOURS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]] as const;

// What brings messages between the client and its world.
export interface ClientLink {
    readonly client: CoreClient;
    readonly phase: Phase;
    readonly connections: number;
    pump(): void; // what there is to send; after every update of the client
    watch(): void; // with every update
    woke(pausedMs: number): void;
    showDownloads(): void;
    retryNow(): void;
    networkChanged(): void;
    leave(): void;
}

export class ClientLoop {
    private link: ClientLink | null = null;
    private loaded: Core | null = null;
    private input: Input = { moveX: 0, moveZ: 0, yaw: 0, pitch: 0, buttons: 0 };
    private statsMs = 0;
    private updatedMs = performance.now();
    private costsWanted = false; // the page shows them
    private readonly known = new Map<string, number>(); // the version each chunk was drawn in
    private readonly due = new Map<string, [number, number, number]>();
    private terrainVersion = -1;
    private sceneHash = '';
    private paintVersion = -1; // that the page has
    private soundsChange = 0; // as the page knows it
    private pendingWelcome: Record<string, unknown> | null = null;
    private readonly tell: (message: FromWorker, transfer?: Transferable[]) => void;

    constructor(tell: (message: FromWorker, transfer?: Transferable[]) => void) {
        this.tell = tell;
    }

    // Null: nobody is anywhere.
    setLink(link: ClientLink | null, core: Core | null): void {
        this.link = link;
        this.loaded = core ?? this.loaded;
        if (link !== null) {
            this.sceneHash = '';
            this.soundsChange = 0;
        }
    }

    // False: the message is not about the client.
    hear(message: ToWorker): boolean {
        switch (message.type) {
            case 'input':
                this.input = message.input;
                this.link?.client.setCamera(message.camera.slice(0, 3), message.camera.slice(3));
                this.update();
                this.sendFrame(message.rays);
                return true;
            case 'key':
                this.link?.client.setKey(message.key, message.down);
                return true;
            case 'costs':
                this.costsWanted = message.wanted;
                return true;
            case 'widget':
                this.link?.client.useWidget(message.use);
                return true;
            case 'command':
                this.command(message.feature, message.action, message.payload);
                return true;
            case 'retry':
                this.link?.retryNow();
                return true;
            case 'network':
                this.link?.networkChanged();
                return true;
            case 'leave':
                this.link?.leave();
                return true;
            default:
                return false;
        }
    }

    // --- terrain ---

    private mark(x: number, y: number, z: number): void {
        this.due.set(`${x},${y},${z}`, [x, y, z]);
    }

    // A chunk that changed may show or hide faces of its neighbours.
    private findChunks(): void {
        if (this.link === null || this.link.client.terrainVersion() === this.terrainVersion) {
            return;
        }
        this.terrainVersion = this.link.client.terrainVersion();
        const rows = this.link.client.chunks();
        const gone = new Set(this.known.keys());
        for (let at = 0; at < rows.length; at += 4) {
            const [x = 0, y = 0, z = 0, version = 0] = rows.slice(at, at + 4);
            const before = this.known.get(`${x},${y},${z}`);
            gone.delete(`${x},${y},${z}`);
            if (before === version) {
                continue;
            }
            this.known.set(`${x},${y},${z}`, version);
            this.mark(x, y, z);
            if (before !== undefined || version > 0) {
                for (const [dx, dy, dz] of NEIGHBOURS) {
                    this.mark(x + dx, y + dy, z + dz);
                }
            }
        }
        // Air that was built in, in another life of the world.
        for (const key of gone) {
            this.known.delete(key);
            const [x = 0, y = 0, z = 0] = key.split(',').map(Number);
            this.mark(x, y, z);
        }
    }

    // The nearest first.
    private sendChunks(): void {
        if (this.link === null || this.due.size === 0) {
            return;
        }
        const [, , ownX = 0, ownY = 0, ownZ = 0] = this.link.client.own();
        const distance = ([x, y, z]: [number, number, number]): number =>
            Math.hypot(x * 32 + 16 - ownX, y * 32 + 16 - ownY, z * 32 + 16 - ownZ);
        const nearest = [...this.due].sort(([, a], [, b]) => distance(a) - distance(b))
            .slice(0, CHUNKS_A_TURN);
        for (const [key, [x, y, z]] of nearest) {
            this.due.delete(key);
            const quads = this.link.client.chunkMesh(x, y, z);
            const version = this.known.get(key) ?? 0;
            this.tell({ type: 'chunk', x, y, z, version, quads }, [quads.buffer]);
        }
    }

    // --- what the page draws ---

    // When the scene of a welcome is loaded. After a reconnect to the same scene, drawing continues.
    private sendPlace(events: readonly ClientEvent[]): void {
        const welcome = events.findLast(({ message }) => message.kind === 'welcome')?.message.payload;
        this.pendingWelcome = welcome ?? this.pendingWelcome;
        const place = this.pendingWelcome === null || this.link === null ? null : this.link.client.place();
        if (place === null || this.link === null || this.pendingWelcome === null) {
            return;
        }
        const hash = String(this.pendingWelcome.sceneHash);
        if (hash !== this.sceneHash) {
            this.known.clear();
            this.due.clear();
            this.terrainVersion = -1;
            this.sceneHash = hash;
            this.paintVersion = -1;
            this.tell({ type: 'place', place, parts: this.link.client.parts() });
        }
        this.tell({
            type: 'welcome', player: Number(this.pendingWelcome.player),
            resumed: this.pendingWelcome.resumed === true,
        });
        this.pendingWelcome = null;
    }

    // Messages of scripts for their creators.
    private sendScripts(): void {
        const faults = this.link?.client.faults() ?? [];
        if (faults.length > 0) {
            this.tell({ type: 'faults', faults });
        }
        const lines = this.loaded?.logLines() ?? [];
        if (lines.length > 0) {
            this.tell({ type: 'log', lines });
        }
    }

    private sendSounds(client: CoreClient): void {
        const once = client.sounds();
        const change = client.soundsChange();
        if (once.length > 0 || change !== this.soundsChange) {
            this.tell({ type: 'sounds', once, state: change === this.soundsChange ? null : client.soundState() });
            this.soundsChange = change;
        }
    }

    update(): void {
        const pausedMs = performance.now() - this.updatedMs;
        this.updatedMs += pausedMs;
        if (this.link === null) {
            return;
        }
        if (pausedMs > PAUSE_MS) {
            this.link.woke(pausedMs);
        }
        const { client } = this.link;
        this.sendSounds(client); // what has come since, which an update forgets
        client.setInput(this.input);
        client.update(performance.now());
        this.sendSounds(client);
        this.link.pump();
        this.link.watch();
        const events = client.events();
        this.sendPlace(events);
        if (events.length > 0) {
            this.tell({ type: 'events', events });
        }
        const shown = client.shown();
        if (shown.length > 0) {
            this.tell({ type: 'shown', shown });
        }
        const now = performance.now();
        if (now - this.statsMs >= STATS_MS) {
            this.statsMs = now;
            this.sendScripts();
            this.link.showDownloads();
            const { phase, connections } = this.link;
            const hash = client.hash().toString(16).padStart(16, '0');
            const wasmBytes = this.loaded?.memoryBytes() ?? 0;
            this.tell({
                type: 'stats', stats: client.stats(),
                link: { phase, connections, hash, atMs: now, wasmBytes },
                costs: this.costsWanted ? client.costs() : null,
            });
        }
    }

    private planned(aim: Ray, wish: PlanWish): Float64Array<ArrayBuffer> | null {
        return this.link === null ? null
            : 'piece' in wish ? this.link.client.buildAim(aim, wish.piece, wish.turn)
            : this.link.client.digAim(aim, wish.edge, wish.kind);
    }

    private takePaints(client: CoreClient): Float64Array<ArrayBuffer> | null {
        const version = client.paintVersion();
        if (version === this.paintVersion) {
            return null;
        }
        this.paintVersion = version;
        return client.paints();
    }

    private sendFrame({ back, aim: aimed, plan: wish = null }: Rays): void {
        if (this.link === null || this.sceneHash === '') {
            this.tell({ type: 'nothing' });
            return;
        }
        const { client } = this.link;
        const own = client.own();
        const movers = client.movers();
        const shapes = client.shapes();
        const hidden = client.hidden();
        const paints = this.takePaints(client);
        const free = (back === null ? null : client.ray(back))?.[0] ?? back?.distance ?? 0;
        const aim = aimed === null ? null : client.ray(aimed);
        const scenery = {
            sky: client.sky(), visuals: client.visuals(), moments: client.moments(),
            cameraWanted: client.cameraWanted(),
        };
        const plan = aimed === null || wish === null ? null : this.planned(aimed, wish);
        this.tell({ type: 'frame', own, movers, shapes, hidden, paints, free, aim, plan, ...scenery },
            [own.buffer, movers.buffer, shapes.buffer, hidden.buffer]);
        this.findChunks();
        this.sendChunks();
    }

    // --- what the player does ---

    private command(feature: string, action: string, payload: object): void {
        if (this.link === null || this.link.client.state() !== ClientState.playing) {
            return;
        }
        try {
            this.link.client.send(feature, action, payload);
        } catch (error) {
            // As if the world had refused it.
            const refusal = { code: 'malformed', message: String(error) };
            this.tell({
                type: 'events',
                events: [{
                    tick: 0,
                    message: { kind: 'error', feature: 'session', action: 'error', payload: refusal },
                }],
            });
        }
        this.link.pump();
    }
}

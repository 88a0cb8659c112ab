// A client and a world in the same memory, without a network: what one sends, the other has at once. It
// stands where core/link.ts stands in the game page's worker.
import { ClientState, type Core, type CoreClient, type CoreWorld } from '../../core/bridge.ts';
import type { FromWorker, Phase } from '../../core/channel.ts';
import type { ClientLink } from '../../core/client_loop.ts';
import { isLua } from '../script/contract.ts';
import type { PlayDiff } from './play_channel.ts';

const PLAYER_ID = 'you'; // a shown name may have letters that an id may not have
const TICKS_BEHIND_MAX = 5; // more are left out: the tab slept

export class LocalLink implements ClientLink {
    readonly client: CoreClient;
    phase: Phase = 'starting';
    connections = 0;
    isPaused = false;
    onLeave: () => void = () => undefined;
    private connection = 0;
    private dueMs: number;
    private tickMs: number;
    private readonly world: CoreWorld;
    private readonly name: string;
    private readonly report: (message: FromWorker) => void;
    readonly times = { ticks: 0, ms: 0 };

    // `before`: of the world that this one replaces; its player goes on here.
    constructor(core: Core, world: CoreWorld, name: string, report: (message: FromWorker) => void, before?: LocalLink) {
        const resumeToken = before?.client.resumeToken() ?? '';
        this.client = core.createClient({
            name, playerId: PLAYER_ID, scripts: true, visibleMax: 256, ...(resumeToken === '' ? {} : { resumeToken }),
        });
        this.name = name;
        this.world = world;
        this.report = report;
        this.tickMs = 1000 / 60;
        this.dueMs = performance.now();
    }

    connect(): void {
        this.connection = ++this.connections;
        this.world.connect(this.connection);
        this.client.connect(performance.now());
    }

    setRate(tickRate: number): void {
        this.tickMs = 1000 / tickRate;
    }

    // The world's own time; `after` each tick.
    tick(after: () => void): void {
        const now = performance.now();
        if (now - this.dueMs > TICKS_BEHIND_MAX * this.tickMs) {
            this.dueMs = now - TICKS_BEHIND_MAX * this.tickMs;
        }
        while (!this.isPaused && this.dueMs <= now) {
            this.dueMs += this.tickMs;
            const start = performance.now();
            this.world.tick(Date.now());
            this.times.ticks += 1;
            this.times.ms += performance.now() - start;
            after();
        }
        this.receive();
    }

    private receive(): void {
        for (const message of this.world.outputs(this.connection)) {
            this.client.receive(performance.now(), message);
        }
        while (this.world.closing() !== 0) {
            this.world.disconnect(this.connection);
            if (this.phase !== 'closed') {
                this.client.disconnected();
                this.connect();
            }
        }
    }

    pump(): void {
        for (const message of this.client.outputs()) {
            this.world.message(this.connection, message);
        }
        const state = this.client.state();
        const phase: Phase = state === ClientState.playing ? 'playing'
            : state === ClientState.fetching ? 'fetching' : this.phase === 'playing' ? 'playing' : 'connecting';
        if (phase !== this.phase && this.phase !== 'closed') {
            this.phase = phase;
            this.report({ type: 'status', phase, text: '' });
        }
    }

    // What can be done in this world. False: it has to be made anew. Throws, and nothing has changed.
    applyHere({ edit, files = {} }: PlayDiff): boolean {
        if (edit !== undefined) {
            return this.world.edit(edit);
        }
        const isScripts = Object.keys(files).every((path) => isLua(path) && files[path] !== null);
        return isScripts && !this.world.applyDiff({ files });
    }

    // Made anew from texts, in the same memory; the player comes back into it.
    applyTexts({ files = {} }: PlayDiff): void {
        this.world.applyDiff({ files });
        this.client.disconnected();
        this.connect();
    }

    // Made anew from what the document compiled, in a fresh instance of the module: the memory of this one is freed
    // whole. Throws, and this one goes on.
    remade(core: Core, { files, compiled }: { files: Map<string, Uint8Array>; compiled: Uint8Array }): [LocalLink, CoreWorld] {
        const world = core.createCompiledWorld(files, compiled, this.world);
        const link = new LocalLink(core, world, this.name, this.report, this);
        link.isPaused = this.isPaused;
        link.onLeave = this.onLeave;
        link.tickMs = this.tickMs;
        link.phase = this.phase;
        return [link, world];
    }

    leave(): void {
        this.phase = 'closed';
        this.onLeave();
    }

    watch(): void { /* nothing gets lost here */ }
    woke(): void { /* the world slept too */ }
    showDownloads(): void { /* nothing is downloaded */ }
    retryNow(): void { /* nothing is waited for */ }
    networkChanged(): void { /* there is none */ }
}

// The connection of one player to one world, from signing in to coming back after a cut. It drives
// the client in WASM and says where things stand; it knows no rule of the game.
//
//   start ─▶ sign in ─▶ ticket ─▶ socket ─▶ scene ─▶ playing
//                          ▲                            │ cut
//                          └──── waits a little ◀───────┘     the client resumes by its token
import { ClientState, type Core, type CoreClient } from './bridge.ts';
import type { FromWorker, Join, Phase } from './channel.ts';
import { Refused, fetchBlob, fetchPacked, join, signIn } from './join.ts';
import { explain } from './reasons.ts';
import { isSigned } from './verify.ts';

const SUBPROTOCOL = 'sandlot.v2.bin';
const BACKOFF_MS = [300, 700, 1500, 3000, 5000, 8000];
// A crashed world takes a moment to come back; after this time the player is informed.
const GIVE_UP_MS = 10 * 60_000;

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export class Link {
    readonly client: CoreClient;
    phase: Phase = 'starting';
    connections = 0;
    private socket: WebSocket | null = null;
    private signedIn: boolean; // with a token, or else a cookie
    private readonly hadCookie: boolean; // before we did anything: it is somebody's
    private token = '';
    private lostMs = 0; // when the connection was lost; 0: it was not
    private attempts = 0;
    private gone = false;
    private signedInAgain = false;
    private fetching = new Set<string>();
    private key = ''; // of the host, from the newest ticket
    private packing = 0; // how runes may come; 0: only as they are
    private verifying = 0; // version of the manifest that is being verified; 0: none
    private have = 0; // bytes of the scene that have arrived
    private readonly core: Core;
    private readonly origin: string;
    private room: string; // "": any
    private readonly place: string;
    private readonly name: string;
    private readonly report: (message: FromWorker) => void;

    constructor(core: Core, join: Join, report: (message: FromWorker) => void) {
        this.client = core.createClient({
            ownerFetches: true, ownerVerifies: true, scripts: true, visibleMax: 256, name: join.name,
        });
        this.core = core;
        this.origin = join.origin;
        this.room = join.room;
        this.place = join.place;
        this.name = join.name;
        this.hadCookie = join.signedIn;
        this.signedIn = join.signedIn;
        this.report = report;
    }

    async start(): Promise<void> {
        try {
            if (!this.signedIn) {
                this.say('signing-in', 'Signing in');
                this.token = (await signIn(this.origin, this.name)).session_token ?? '';
                this.signedIn = true;
            }
            this.say(this.lostMs === 0 ? 'joining' : 'waiting',
                this.lostMs === 0 ? 'Asking for a ticket' : 'Reconnecting');
            const ticket = await join(this.origin, { room: this.room, place: this.place }, this.token);
            if (!this.gone) {
                this.room = ticket.room_code; // the same world after a cut
                this.report({ type: 'room', code: this.room });
                this.key = ticket.signing_key;
                const packing = this.core.packing();
                this.packing = ticket.rune_packing === packing ? packing : 0;
                this.client.setTicket(ticket.ticket);
                this.open(ticket.server_address);
            }
        } catch (error) {
            await this.startFailed(error);
        }
    }

    private async startFailed(error: unknown): Promise<void> {
        if (this.gone) {
            return;
        }
        if (!(error instanceof Refused)) {
            await this.retry('The server cannot be reached');
        } else if (error.status === 401 && this.hadCookie) {
            this.say('closed', 'Your sign-in has ended. Sign in again, or go on as a guest.');
        } else if (error.status === 401 && this.signedIn && !this.signedInAgain) {
            // A sign-in expires, and a host may have dropped it.
            this.signedInAgain = true;
            this.signedIn = false;
            this.token = '';
            await this.start();
        } else {
            this.say('closed', sentence(error.message));
        }
    }

    leave(): void {
        this.phase = 'closed';
        this.socket?.close(1000);
    }

    // The client is about to be destroyed: nothing of this link may touch it again.
    abandon(): void {
        this.gone = true;
        this.socket?.close(1000);
        this.socket = null;
    }

    // What there is to send, and what is missing. Called after every update of the client.
    pump(): void {
        if (this.socket === null || this.socket.readyState !== WebSocket.OPEN) {
            return;
        }
        for (const message of this.client.outputs()) {
            this.socket.send(message);
        }
        this.verify();
        switch (this.client.state()) {
            case ClientState.fetching:
                this.say('fetching', 'Fetching the world', this.progress());
                this.fetchMissing();
                break;
            case ClientState.playing:
                this.lostMs = 0;
                this.attempts = 0;
                this.signedInAgain = false;
                this.say('playing', '', 1);
                this.fetchMissing();
                break;
            case ClientState.closed:
                this.socket.close(1000);
                break;
        }
    }

    private say(phase: Phase, text: string, progress = 0): void {
        if (phase === 'playing' && this.phase === 'playing') {
            return;
        }
        this.phase = phase;
        this.report({ type: 'status', phase, text, progress });
    }

    private progress(): number {
        const scene = this.client.wants().find((want) => want.scene);
        return scene === undefined ? this.client.progress() : this.have / scene.bytes;
    }

    private open(address: string): void {
        // The page may have come over TLS that ends before the host.
        const url = new URL(address);
        url.protocol = new URL(this.origin).protocol === 'https:' ? 'wss:' : 'ws:';
        const socket = new WebSocket(url, SUBPROTOCOL);
        socket.binaryType = 'arraybuffer';
        this.socket = socket;
        if (this.lostMs === 0) {
            this.say('connecting', 'Connecting');
        }
        socket.addEventListener('open', () => {
            if (socket !== this.socket) {
                return;
            }
            this.connections += 1;
            this.client.connect(performance.now());
            this.pump();
        });
        socket.addEventListener('message', (event) => {
            if (socket !== this.socket) {
                return;
            }
            this.client.receive(performance.now(), new Uint8Array(event.data as ArrayBuffer));
            this.pump();
        });
        socket.addEventListener('close', () => this.closed(socket));
    }

    private closed(socket: WebSocket): void {
        if (socket !== this.socket) {
            return;
        }
        this.socket = null;
        const state = this.client.state();
        const reason = state === ClientState.closed ? explain(this.client.closedReason()) : null;
        const outdated = state === ClientState.closed && this.client.outdated();
        if (state !== ClientState.idle) {
            this.client.disconnected();
        }
        if (this.phase === 'closed') {
            return;
        }
        if (reason !== null && !reason.passing) {
            this.say('closed', reason.text);
            if (outdated) {
                this.report({ type: 'outdated' });
            }
        } else {
            void this.retry(reason?.text ?? 'The connection was lost');
        }
    }

    private async retry(why: string): Promise<void> {
        const now = performance.now();
        this.lostMs = this.lostMs === 0 ? now : this.lostMs;
        if (now - this.lostMs > GIVE_UP_MS) {
            this.say('closed', `${sentence(why)} It did not come back.`);
            return;
        }
        const base = BACKOFF_MS[Math.min(this.attempts, BACKOFF_MS.length - 1)] ?? 0;
        this.attempts += 1;
        // Not everybody at once when a world comes back.
        const pause = base * (0.75 + Math.random() / 2);
        this.say('waiting', `${sentence(why)} Trying again${pause > 1000
            ? ` in ${Math.round(pause / 1000)} s` : ''}…`);
        await wait(pause);
        if (this.phase === 'waiting' && !this.gone) {
            await this.start();
        }
    }

    // Nothing of a manifest is wanted, fetched or run before this.
    private verify(): void {
        const proof = this.client.proof();
        if (proof === null || proof.version === this.verifying) {
            return;
        }
        this.verifying = proof.version;
        void isSigned(this.key, proof).then((good) => {
            this.verifying = 0;
            if (!this.gone) {
                this.client.verified(proof.version, good);
                this.pump();
            }
        });
    }

    private fetchMissing(): void {
        for (const want of this.client.wants()) {
            if (!this.fetching.has(want.hash)) {
                this.fetching.add(want.hash);
                void this.fetchOne(want.hash, want.bytes, want.scene);
            }
        }
    }

    // Packed if both sides support it; otherwise, or if its hash is wrong, uncompressed. What this
    // host does not have, or has with another hash, comes over the socket instead.
    private async fetchOne(hash: string, bytes: number, scene: boolean): Promise<void> {
        if (!scene && this.packing !== 0 && await this.fetchedPacked(hash, bytes)) {
            return;
        }
        const data = await fetchBlob(this.origin, hash, bytes, (have) => {
            // It may arrive after the session has ended.
            if (scene && !this.gone && this.phase === 'fetching') {
                this.have = have;
                this.say('fetching', 'Fetching the world', this.progress());
            }
        }).catch(() => null);
        this.fetching.delete(hash);
        if (this.gone) {
            return;
        }
        const state = this.client.state();
        if (state !== ClientState.fetching && state !== ClientState.playing) {
            return;
        }
        if (data === null || this.client.give(data) !== 0) {
            this.client.fetchOverWire();
        }
        this.pump();
    }

    // Is there nothing left to do?
    private async fetchedPacked(hash: string, bytes: number): Promise<boolean> {
        const packed = await fetchPacked(this.origin, this.packing, hash, bytes).catch(() => null);
        if (!this.gone) {
            if (packed === null || this.client.givePacked(hash, packed) !== 0) {
                return false;
            }
            this.fetching.delete(hash);
            this.pump();
        }
        return true;
    }
}

function sentence(text: string): string {
    const whole = text === '' ? 'Something went wrong' : text;
    return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${/[.!?]$/.test(whole) ? '' : '.'}`;
}

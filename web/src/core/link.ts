// The connection of one player to one world, from signing in to coming back after a cut. It drives
// the client in WASM and says where things stand; it knows no rule of the game.
//
//   start ─▶ sign in ─▶ ticket ─▶ socket ─▶ scene ─▶ playing
//                          ▲                            │ cut
//                          └──── waits a little ◀───────┘     the client resumes by its token
import { ClientState, type Core, type CoreClient } from './bridge.ts';
import { BlobCache } from './cache.ts';
import type { FromWorker, Join, Phase, Trouble } from './channel.ts';
import { Downloader } from './download.ts';
import { Later, Refused, join, signIn } from './join.ts';
import { explain, sentence } from './reasons.ts';
import { isSigned } from './verify.ts';
import { linkWords as words } from '../ui/link_words.ts';

const SUBPROTOCOL = 'sandlot.v2.bin';
const BACKOFF_MS = [300, 700, 1500, 3000, 5000, 8000];
// A crashed world takes a moment to come back; after this time the player is informed.
const GIVE_UP_MS = 10 * 60_000;
const LIST_MS = 250; // how often the client is asked what it lacks
const SHOW_MS = 100; // how often the progress of downloads is told
const SOON_MS = 100; // a world that moves to another host is there at once
const FULL_MS = 10_000; // between two times that a full world is asked for room, or a paused class whether it goes on
// A world answers pings every second: this long without a word, the connection is dead, although
// nobody has said so. After a network changed, or a pause, there is less patience.
const SILENT_MS = 15_000;
const DOUBT_MS = 4000;
// Whoever slept longer than this has been given up by the host (SOCKET_SILENT_MS in limits.h).
const ASLEEP_MS = 20_000;

// One for all worlds that this page visits.
const cache = new BlobCache();

export class Link {
    readonly client: CoreClient;
    phase: Phase = 'starting';
    connections = 0;
    private socket: WebSocket | null = null;
    private signedIn: boolean; // with a token, or else a cookie
    private readonly hadCookie: boolean; // before we did anything: it is somebody's
    private token = '';
    private keepsNoCookie = false; // inside a page of another site browsers keep none
    private lostMs = 0; // when the connection was lost; 0: it was not
    private attempts = 0;
    private gone = false;
    private signedInAgain = false;
    private key = ''; // of the host, from the newest ticket
    private verifying = 0; // version of the manifest that is being verified; 0: none
    private listed = -1; // the change of the client's wants that was last looked at
    private listedMs = -Infinity; // when that was
    private shownMs = -Infinity;
    private heardMs = 0; // when the world was last heard
    private patienceMs = SILENT_MS; // how long it may be silent
    private trouble: Trouble | undefined;
    private why = ''; // it was lost, or could not be had
    private wake: () => void = () => undefined; // ends the wait for the next try
    private readonly downloads: Downloader;
    private readonly core: Core;
    private readonly origin: string;
    private room: string; // "": any
    private readonly place: string;
    private readonly channel: string;
    private readonly name: string;
    private readonly report: (message: FromWorker) => void;

    constructor(core: Core, join: Join, report: (message: FromWorker) => void) {
        this.client = core.createClient({
            ownerFetches: true, ownerVerifies: true, scripts: true, visibleMax: 256, name: join.name,
        });
        this.downloads = new Downloader(this.client, cache, () => this.changed());
        this.core = core;
        this.origin = join.origin;
        this.room = join.room;
        this.place = join.place;
        this.channel = join.channel;
        this.name = join.name;
        this.hadCookie = join.signedIn;
        this.token = join.token;
        this.signedIn = join.signedIn || join.token !== '';
        this.report = report;
    }

    async start(): Promise<void> {
        try {
            if (!this.signedIn) {
                this.say('signing-in', words.joining.signIn);
                this.token = (await signIn(this.origin, this.name, this.keepsNoCookie)).session_token ?? '';
                this.signedIn = true;
            }
            this.say(this.lostMs === 0 ? 'joining' : 'waiting',
                this.lostMs === 0 ? words.joining.ticket : `${this.why} ${words.joining.again}`);
            const ticket = await join(this.origin,
                { room: this.room, place: this.place, channel: this.channel }, this.token);
            if (!this.gone) {
                this.room = ticket.room_code; // the same world after a cut
                this.report({ type: 'room', code: this.room, worldId: ticket.world_id,
                    placeId: ticket.place_id, token: this.token });
                this.key = ticket.signing_key;
                const packing = this.core.packing();
                this.downloads.setSources({
                    origin: this.origin,
                    token: this.token,
                    cdnBase: (ticket.cdn_base ?? '').replace(/\/$/, ''),
                    packing: ticket.rune_packing === packing ? packing : 0,
                    runeSet: ticket.rune_set ?? '',
                    placeId: ticket.place_id,
                });
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
        if (error instanceof Later) {
            await this.retry(sentence(error.message));
        } else if (!(error instanceof Refused)) {
            await this.retry(navigator.onLine ? words.unreachable : words.offline);
        } else if (error.code === 'world_full') {
            await this.retry(words.reasons.world_full, 'full');
        } else if (error.code === 'class_paused') {
            await this.retry(words.reasons.class_paused, 'paused');
        } else if (error.status === 401 && this.hadCookie) {
            this.trouble = 'signedOut';
            this.say('closed', words.signInEnded);
        } else if (error.status === 401 && this.signedIn && !this.signedInAgain) {
            // A sign-in expires, and a host may have dropped it.
            this.signedInAgain = true;
            this.keepsNoCookie = this.connections === 0; // it was made a moment ago
            this.signedIn = false;
            this.token = '';
            await this.start();
        } else if (this.channel === 'draft' && (error.status === 404 || error.code === 'draft_denied')) {
            this.trouble = 'stranger';
            this.say('closed', words.draftDenied); // whether there is one is not told
        } else {
            this.say('closed', sentence(error.message));
        }
    }

    leave(): void {
        this.phase = 'closed';
        this.gone = true; // also in the middle of joining
        this.wake();
        this.downloads.stop();
        this.socket?.close(1000);
    }

    retryNow(): void {
        this.attempts = 0;
        this.wake();
    }

    // The network is back, or is another one. What is connected has to answer soon.
    networkChanged(): void {
        this.heardMs = performance.now();
        this.patienceMs = DOUBT_MS;
        this.retryNow();
    }

    // Nothing ran for a while: the tab slept, or the machine did.
    woke(pausedMs: number): void {
        this.networkChanged();
        if (this.lostMs !== 0) {
            this.lostMs = performance.now(); // nothing was tried meanwhile
        } else if (pausedMs > ASLEEP_MS) {
            this.drop(words.woke);
        }
    }

    // Called with every update of the client.
    watch(): void {
        if (this.socket !== null && performance.now() - this.heardMs > this.patienceMs) {
            this.drop(navigator.onLine ? words.silent : words.offline);
        }
    }

    // A dead socket may take minutes to say so.
    private drop(why: string): void {
        const { socket } = this;
        if (socket !== null) {
            socket.close();
            this.closed(socket, why);
        }
    }

    // The client is about to be destroyed: nothing of this link may touch it again.
    abandon(): void {
        this.gone = true;
        this.wake();
        this.downloads.stop();
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
                this.say('fetching', words.joining.fetch);
                this.fetchMissing();
                break;
            case ClientState.playing:
                this.lostMs = 0;
                this.attempts = 0;
                this.signedInAgain = false;
                this.trouble = undefined;
                this.say('playing', '');
                this.fetchMissing();
                break;
            case ClientState.closed:
                this.socket.close(1000);
                break;
        }
    }

    private say(phase: Phase, text: string, waitMs?: number): void {
        this.downloads.setPlaying(phase === 'playing');
        if (phase === this.phase && (phase === 'playing' || phase === 'fetching')) {
            return;
        }
        this.phase = phase;
        this.report({
            type: 'status', phase, text,
            ...this.trouble === undefined ? {} : { trouble: this.trouble },
            ...waitMs === undefined ? {} : { waitMs },
        });
        this.showDownloads();
    }

    // Something has arrived, or waits.
    private changed(): void {
        if (this.gone) {
            return;
        }
        this.pump();
        const now = performance.now();
        if (now - this.shownMs >= SHOW_MS) {
            this.shownMs = now;
            this.showDownloads();
        }
    }

    showDownloads(): void {
        const { scriptsWanted, scriptsHere, scriptsRefused } = this.client.fetchProgress();
        const progress = {
            ...this.downloads.progress, scripts: scriptsWanted, scriptsHave: scriptsHere,
            scriptsRefused,
        };
        this.report({ type: 'downloads', progress, cache: { ...cache.stats } });
    }

    private open(address: string): void {
        // The page may have come over TLS that ends before the host.
        const url = new URL(address);
        url.protocol = new URL(this.origin).protocol === 'https:' ? 'wss:' : 'ws:';
        const socket = new WebSocket(url, SUBPROTOCOL);
        socket.binaryType = 'arraybuffer';
        this.socket = socket;
        this.heardMs = performance.now();
        this.patienceMs = SILENT_MS;
        if (this.lostMs === 0) {
            this.say('connecting', words.joining.connect);
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
            this.heardMs = performance.now();
            this.patienceMs = SILENT_MS;
            this.client.receive(this.heardMs, new Uint8Array(event.data as ArrayBuffer));
            this.pump();
        });
        socket.addEventListener('close', () => this.closed(socket));
    }

    private closed(socket: WebSocket, why = navigator.onLine ? words.lost : words.offline): void {
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
            this.trouble = reason.trouble;
            this.say('closed', reason.text);
            if (outdated) {
                this.report({ type: 'outdated' });
            }
        } else {
            void this.retry(reason?.text ?? why, reason?.trouble, reason?.soon);
        }
    }

    private async retry(why: string, trouble?: Trouble, soon = false): Promise<void> {
        const now = performance.now();
        this.lostMs = this.lostMs === 0 || trouble === 'paused' ? now : this.lostMs; // a pause is as long as a lesson
        this.trouble = trouble;
        if (now - this.lostMs > GIVE_UP_MS) {
            this.say('closed', `${why} ${words.gaveUp}`);
            return;
        }
        const base = trouble === 'full' || trouble === 'paused' ? FULL_MS
            : soon ? SOON_MS
            : BACKOFF_MS[Math.min(this.attempts, BACKOFF_MS.length - 1)] ?? 0;
        this.attempts += 1;
        // Not everybody at once when a world comes back.
        const pause = base * (0.75 + Math.random() / 2);
        this.why = why;
        this.say('waiting', why, pause);
        await this.wait(pause);
        if (this.phase === 'waiting' && !this.gone) {
            await this.start();
        }
    }

    private wait(ms: number): Promise<void> {
        return new Promise((done) => {
            const timer = setTimeout(done, ms);
            this.wake = () => {
                clearTimeout(timer);
                done();
            };
        });
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
                this.listedMs = -Infinity; // what it names is wanted now
                this.pump();
            }
        });
    }

    // The list may be long, and is the same most of the time.
    private fetchMissing(): void {
        this.downloads.giveHeld();
        const now = performance.now();
        const change = this.client.wantsChange();
        if (change !== this.listed && now - this.listedMs >= LIST_MS) {
            this.listed = change;
            this.listedMs = now;
            this.downloads.want(this.client.wants());
        }
    }
}

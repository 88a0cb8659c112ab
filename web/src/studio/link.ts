// The connection to the edit session: what this editor changes goes up, what the session says comes down
// (docs/PROTOCOL.md). A lost connection is made again, with pauses that grow; what was not confirmed is sent
// again, so nothing that was done offline is lost while the page is open.
import { signal } from '@preact/signals';

import { Failure, get, send, type Session } from '../site/api.ts';

import type { StudioDocument } from './document.ts';
import { refusal } from './failure.ts';
import type { Files } from './files.ts';

const PROTOCOL = 'sandlot.edit.v1';
const FRAGMENT_BYTES = 64 * 1024;
const MESSAGE_BYTES_MAX = 64 << 20; // a whole document is the largest
const PAUSE_FIRST_MS = 500;
const PAUSE_MOST_MS = 10_000;
const SIGNED_OUT_MS = 2000; // between two looks whether somebody has signed in again
const PRESENCE_MS = 1000 / 15;
const MAKER_PAGES_MAX = 10;
const KIND_MESSAGE = 0;
const KIND_DOCUMENT = 1;
const WELCOME = 3; // EditDownType

export interface Editor {
    editor: number;
    name: string;
}

interface Makers {
    ops: { seq: number; name: string | null }[];
    next: number | null;
}

export interface Presence {
    editor: number;
    camera?: number[];
    selection?: number[];
}

export interface Writer {
    path: string;
    editor: number;
}

// ended: nobody is signed in any more; other: somebody else is. What waits is kept until its maker is back.
export type LinkState = 'connecting' | 'online' | 'offline' | 'refused' | 'ended' | 'other';

interface Opened {
    ticket: string;
    address: string;
    can_write: boolean;
}

// A message that comes down as text.
interface Said {
    kind: string;
    editor?: number;
    epoch?: number;
    seq?: number;
    can_write?: boolean;
    editors?: Editor[];
    writers?: Writer[];
    file?: string;
    message?: string;
    line?: number;
    camera?: number[];
    selection?: number[];
    code?: string;
    resume?: string;
    written?: number;
}

// The session knows this tab again by a token, and with it its number and its undo, also after the page was
// loaded again.
const KEPT = 'sandlot.studio.resume.';
function keptToken(place: string): string | null {
    try {
        return sessionStorage.getItem(KEPT + place);
    } catch {
        return null; // a browser that keeps nothing
    }
}
function keepToken(place: string, token: string): void {
    try {
        sessionStorage.setItem(KEPT + place, token);
    } catch {
        // as above
    }
}

export class Link {
    readonly state = signal<LinkState>('connecting');
    readonly waiting = signal(0); // own changes that are not confirmed
    readonly written = signal(0); // the files on disk are as of that seq
    readonly editors = signal<readonly Editor[]>([]);
    readonly writers = signal<readonly Writer[]>([]);
    readonly presence = signal<ReadonlyMap<number, Presence>>(new Map());
    readonly canWrite = signal(true);
    readonly blocked = signal<{ file: string; message: string; line: number } | null>(null);
    readonly failed = signal(''); // a file that could not be written, and why
    readonly reason = signal(''); // why it was refused
    readonly other = signal(''); // who is signed in instead, as others see the name
    private readonly place: string;
    private readonly document: StudioDocument;
    private readonly files: Files;
    private readonly maker: string | null; // name of the account that changes are made by; null: there are no accounts
    private timer = 0;
    private isConnecting = false;
    private socket: WebSocket | null = null;
    private isReady = false; // the session has welcomed this page
    private isClosed = false;
    private hasAskedForDraft = false;
    private epoch = 0;
    private pauseMs = PAUSE_FIRST_MS;
    private parts: Uint8Array[] = [];
    private partBytes = 0;
    private lastPresence = '';
    private presenceTimer = 0;
    private opened: (() => void) | null = null;

    constructor(place: string, document: StudioDocument, files: Files, maker: string | null) {
        this.place = place;
        this.document = document;
        this.files = files;
        this.maker = maker;
        files.isOnline = () => this.state.value === 'online';
        files.onDue = () => {
            if (this.state.value === 'online') { // an operation must not come before the content that it names
                this.isReady = false;
                this.socket?.close();
            }
        };
        document.on('send', (message) => this.send(message));
        document.on('history', () => { this.waiting.value = document.pendingCount(); });
        document.on('stale', () => this.reload());
    }

    // Resolves when the document is here.
    start(): Promise<void> {
        for (const event of ['focus', 'online', 'pageshow']) {
            window.addEventListener(event, this.now);
        }
        const done = new Promise<void>((resolve) => { this.opened = resolve; });
        void this.connect();
        return done;
    }

    stop(): void {
        this.isClosed = true;
        for (const event of ['focus', 'online', 'pageshow']) {
            window.removeEventListener(event, this.now);
        }
        this.socket?.close();
    }

    // Who comes back to the page may have signed in elsewhere.
    private readonly now = (): void => {
        if (this.socket === null && this.document.isOpen) {
            void this.connect();
        }
    };

    // Whether whose changes wait here is signed in. Else the state says so, and it is looked again.
    private async isMaker(): Promise<boolean> {
        if (this.maker === null || !this.document.isOpen) {
            return true;
        }
        const { signed_in, username, shown_name } = await get<Session>('/api/session');
        if (signed_in && username === this.maker) {
            return true;
        }
        this.other.value = signed_in ? shown_name ?? username ?? '' : '';
        this.again(signed_in ? 'other' : 'ended');
        return false;
    }

    private async connect(): Promise<void> {
        if (this.isConnecting || this.isClosed) {
            return;
        }
        clearTimeout(this.timer);
        this.isConnecting = true;
        if (this.state.value === 'offline') {
            this.state.value = 'connecting';
        }
        try {
            await this.open();
        } finally {
            this.isConnecting = false;
        }
    }

    private async open(): Promise<void> {
        try {
            const path = `/api/places/${encodeURIComponent(this.place)}/edit`;
            if (!await this.isMaker()) {
                return;
            }
            const { ticket, address, can_write } = await send<Opened>('POST', path, {});
            if (!await this.isMaker()) { // the ticket is of whoever signed in between
                return;
            }
            this.canWrite.value = can_write;
            const url = new URL(address, location.href);
            url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
            this.listen(new WebSocket(url, PROTOCOL), ticket);
        } catch (cause) {
            if (cause instanceof Failure && cause.status === 404 && await this.makeDraft()) {
                await this.open();
            } else if (cause instanceof Failure && cause.status === 401 && this.document.isOpen) {
                this.again('ended');
            } else if (cause instanceof Failure && cause.status >= 400 && cause.status < 500 && cause.status !== 429) {
                this.reason.value = refusal(cause);
                this.again('refused');
            } else {
                this.again();
            }
        }
    }

    // A place that was uploaded has revisions, and no draft yet: one is made from the newest. True: it was.
    private async makeDraft(): Promise<boolean> {
        if (this.hasAskedForDraft) {
            return false;
        }
        this.hasAskedForDraft = true;
        return send('POST', `/api/places/${encodeURIComponent(this.place)}/draft`, {}).then(() => true, () => false);
    }

    // The names of those who made the steps from that seq on; '' where they are gone.
    async makersFrom(seq: number): Promise<ReadonlyMap<number, string>> {
        const makers = new Map<number, string>();
        let from: number | null = seq - 1;
        for (let page = 0; page < MAKER_PAGES_MAX && from !== null; page++) {
            const { ops, next }: Makers = await get<Makers>(`/api/places/${encodeURIComponent(this.place)}/ops?from=${from}`);
            for (const each of ops) {
                makers.set(each.seq, each.name ?? '');
            }
            from = next;
        }
        return makers;
    }

    private listen(socket: WebSocket, ticket: string): void {
        socket.binaryType = 'arraybuffer';
        this.socket = socket;
        this.isReady = false;
        this.parts = [];
        this.partBytes = 0;
        const resume = keptToken(this.place);
        socket.onopen = () => socket.send(JSON.stringify({
            kind: 'hello', ticket, epoch: this.document.isOpen ? this.epoch : 0,
            seq: this.document.isOpen && this.epoch !== 0 ? this.document.seq() : 0,
            ...(resume === null ? {} : { resume }),
        }));
        socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
            if (typeof data === 'string') {
                this.hear(JSON.parse(data) as Said);
            } else {
                this.collect(new Uint8Array(data));
            }
        };
        socket.onclose = () => {
            if (this.socket === socket) {
                this.socket = null;
                this.again();
            }
        };
    }

    private again(state: LinkState = 'offline'): void {
        this.isReady = false;
        if (this.isClosed) {
            return;
        }
        this.state.value = state;
        if (state === 'refused' && !this.document.isOpen) {
            return; // nothing is lost by it
        }
        this.presence.value = new Map();
        const isSignedOut = state === 'ended' || state === 'other';
        const pause = isSignedOut ? SIGNED_OUT_MS : this.pauseMs * (0.75 + Math.random() * 0.5);
        this.pauseMs = isSignedOut ? PAUSE_FIRST_MS : Math.min(this.pauseMs * 2, PAUSE_MOST_MS);
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.connect(), pause);
    }

    // The document here is not the session's: everything is asked for anew.
    private reload(): void {
        this.epoch = 0;
        this.socket?.close();
    }

    // --- down ------------------------------------------------------------------------------------------

    private hear(said: Said): void {
        switch (said.kind) {
            case 'welcome':
                this.epoch = said.epoch ?? 0;
                this.document.setEditor(said.editor ?? 0);
                this.canWrite.value = said.can_write ?? true;
                this.editors.value = said.editors ?? [];
                this.writers.value = said.writers ?? [];
                this.written.value = said.written ?? 0;
                if (said.resume !== undefined) {
                    keepToken(this.place, said.resume);
                }
                this.pauseMs = PAUSE_FIRST_MS;
                this.reason.value = '';
                this.state.value = 'online';
                this.lastPresence = '';
                break;
            case 'editors': {
                this.editors.value = said.editors ?? [];
                const here = new Set(this.editors.value.map(({ editor }) => editor));
                this.presence.value = new Map([...this.presence.value].filter(([editor]) => here.has(editor)));
                break;
            }
            case 'presence':
                if (said.editor !== undefined && said.editor !== this.document.editor) {
                    this.presence.value = new Map(this.presence.value).set(said.editor, said as Presence);
                }
                break;
            case 'writers': this.writers.value = said.writers ?? []; break;
            case 'written': this.written.value = said.seq ?? 0; break;
            case 'blocked':
                this.blocked.value = { file: said.file ?? '', message: said.message ?? '', line: said.line ?? 0 };
                break;
            case 'failed':
                this.failed.value = `${said.file ?? ''}: ${said.message ?? ''}`;
                break;
            case 'unblocked': this.blocked.value = null; break;
            case 'error':
                this.reason.value = said.message ?? '';
                break;
            default: // a newer server says more than this page knows
        }
    }

    private collect(frame: Uint8Array): void {
        const head = frame[0] ?? 0;
        this.parts.push(frame.subarray(1));
        this.partBytes += frame.length - 1;
        if (this.partBytes > MESSAGE_BYTES_MAX) {
            this.socket?.close();
            return;
        }
        if ((head & 1) !== 0) {
            return;
        }
        const whole = new Uint8Array(this.partBytes);
        let end = 0;
        for (const part of this.parts) {
            whole.set(part, end);
            end += part.length;
        }
        this.parts = [];
        this.partBytes = 0;
        this.take(head >> 1, whole);
    }

    private take(kind: number, message: Uint8Array): void {
        if (kind === KIND_DOCUMENT) {
            const seq = Number(new DataView(message.buffer).getBigUint64(0, true));
            this.document.open(message.subarray(8), this.document.editor, seq);
            this.opened?.();
            this.opened = null;
        } else if (kind === KIND_MESSAGE && this.document.isOpen) {
            if (this.document.receive(message) === WELCOME) {
                void this.sendWaiting(this.socket);
            }
        }
        this.waiting.value = this.document.pendingCount();
    }

    // --- up --------------------------------------------------------------------------------------------

    // Contents first: an operation names them.
    private async sendWaiting(socket: WebSocket | null): Promise<void> {
        try {
            while (this.files.hasDue()) {
                await this.files.storeDue();
            }
        } catch {
            socket?.close(); // it is connected again, and tried again
        }
        if (this.socket === socket && socket?.readyState === WebSocket.OPEN) {
            this.isReady = true;
            this.document.pendingMessages().forEach((each) => this.push(each));
        }
    }

    private send(message: Uint8Array): void {
        this.waiting.value = this.document.pendingCount();
        if (this.isReady) {
            this.push(message); // else it is sent when the session welcomes this page
        }
    }

    private push(message: Uint8Array): void {
        const room = FRAGMENT_BYTES - 1;
        for (let at = 0; at < message.length || at === 0; at += room) {
            const part = message.subarray(at, at + room);
            const frame = new Uint8Array(part.length + 1);
            frame[0] = KIND_MESSAGE << 1 | (at + room < message.length ? 1 : 0);
            frame.set(part, 1);
            this.socket?.send(frame);
        }
    }

    private say(message: object): void {
        if (this.socket?.readyState === WebSocket.OPEN && this.state.value === 'online') {
            this.socket.send(JSON.stringify(message));
        }
    }

    // Where one looks and what one has selected, for the others; never stored. Not more often than allowed.
    showPresence(read: () => { camera: number[]; selection: number[] }): void {
        if (this.presenceTimer !== 0 || this.editors.value.length < 2) {
            return;
        }
        this.presenceTimer = window.setTimeout(() => {
            this.presenceTimer = 0;
            const text = JSON.stringify({ kind: 'presence', ...read() });
            if (text !== this.lastPresence && text.length < 4096) {
                this.lastPresence = text;
                this.say(JSON.parse(text) as object);
            }
        }, PRESENCE_MS * 1.2);
    }

    // I write this file; with `take`: also if somebody else does.
    write(path: string, take: boolean): void {
        this.say({ kind: 'writer', path, take });
    }
}

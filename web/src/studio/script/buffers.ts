// The scripts that are open in the editor: their text, what of it is saved, and who may write it. A
// text that could not be saved stays here until a person has decided what becomes of it.
//
//   saved ─type─▶ changed ─pause─▶ saving ─▶ sent ─▶ saved    (sent: the session has not confirmed it)
//                    ▲                ├─▶ failed    (shown; tried again with the next key or by hand; without a network by itself)
//                    └────────────────┴─▶ conflict  (a person chooses; nothing is written until then)
import { type EditorState, Text } from '@codemirror/state';
import { effect, type Signal, signal } from '@preact/signals';

import type { Diagnostic } from '../../core/bridge.ts';
import { isConflict, type ScriptDocument, type ScriptFiles } from './contract.ts';
import { hashOf } from './hash.ts';
import { offerOpenTexts, scriptsSaved } from './open_texts.ts';
import { words } from './words_script.ts';

const SAVE_MS = 700; // after the last key
const LONGEST_MS = 5000; // while somebody keeps typing
const AGAIN_MS = 3000; // after one that did not reach the server

const utf8 = new TextEncoder();
const plain = new TextDecoder();
const plainLines = (text: string): string => text.replace(/\r\n?/g, '\n');

// What a fetch throws without a network is in the browser's words.
const whyNot = (error: unknown): string => error instanceof TypeError ? words.noServer
    : error instanceof Error ? error.message : String(error);

export type SaveState =
    | { kind: 'saved' }
    | { kind: 'changed' }
    | { kind: 'saving' }
    | { kind: 'sent' }
    | { kind: 'failed'; message: string }
    | { kind: 'conflict'; theirs: string; hash: string | null };

// What the editor on the screen does for the buffer it shows.
export interface BufferView {
    replace(buffer: ScriptBuffer, text: string): void;
    changed(buffer: ScriptBuffer, state: EditorState, docChanged: boolean): void;
    found(path: string, diagnostics: Diagnostic[]): void;
    gone(path: string, next: string): void; // its file was removed; `next` is open beside it
}

export class ScriptBuffer {
    readonly path: string;
    readonly save: Signal<SaveState> = signal<SaveState>({ kind: 'saved' });
    state: EditorState | null = null; // as it was last shown, with its history
    text: Text;
    private base: string; // as it was last read or written, with plain line ends
    private readonly lineEnd: string; // of the file
    private known: string | null;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private firstMs = 0; // when the oldest unsaved key was pressed
    private isWriting = false;
    private isRefused = false; // something was, since the last write: perhaps that
    private readonly files: ScriptFiles;
    private readonly workspace: Workspace;

    constructor(workspace: Workspace, files: ScriptFiles, path: string, text: string, known: string | null) {
        this.workspace = workspace;
        this.files = files;
        this.path = path;
        this.base = plainLines(text);
        this.lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
        this.text = Text.of(this.base.split('\n'));
        this.known = known;
    }

    content(): string {
        return this.text.toString();
    }

    isDirty(): boolean {
        return this.content() !== this.base;
    }

    // The editor has another text.
    edited(text: Text): void {
        this.text = text;
        if (this.save.value.kind === 'conflict') {
            return; // nothing is written before it is decided
        }
        if (!this.isDirty()) {
            clearTimeout(this.timer);
            this.firstMs = 0;
            this.settle();
            return;
        }
        const now = performance.now();
        this.firstMs = this.firstMs === 0 ? now : this.firstMs;
        if (!this.isWriting) {
            this.save.value = { kind: 'changed' };
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.write(), now - this.firstMs > LONGEST_MS ? 0 : SAVE_MS);
    }

    // At once: by a key, or because the tab is about to go.
    async write(): Promise<void> {
        clearTimeout(this.timer);
        if (this.isWriting || this.save.value.kind === 'conflict' || !this.isDirty() ||
            !this.workspace.mayWrite(this.path)) {
            return;
        }
        const text = this.content();
        await this.put(text, this.known);
        if ((this.save.value.kind === 'saved' || this.save.value.kind === 'sent') && this.isDirty()) {
            this.edited(this.text); // what was typed meanwhile
        }
    }

    private async put(text: string, known: string | null): Promise<void> {
        this.isWriting = true;
        this.isRefused = false;
        this.firstMs = 0;
        if (this.save.value.kind !== 'failed') { // else it is said until it is saved
            this.save.value = { kind: 'saving' };
        }
        try {
            this.known = await this.files.write(this.path,
                utf8.encode(text.replaceAll('\n', this.lineEnd)), known, words.label(this.path));
            this.base = text;
            this.settle();
        } catch (error) {
            if (isConflict(error)) {
                await this.collide(error.theirs);
            } else {
                this.fail(error);
            }
        } finally {
            this.isWriting = false;
        }
    }

    private settle(): void {
        this.save.value = { kind: this.workspace.isConfirmed(this.path, this.known) ? 'saved' : 'sent' };
    }

    // The session has taken or refused everything.
    confirmed(): void {
        if (this.save.peek().kind === 'sent' && this.workspace.isConfirmed(this.path, this.known)) {
            this.save.value = { kind: 'saved' };
        }
    }

    // Without a network it is tried again by itself; what the server refused waits for a person.
    private fail(error: unknown): void {
        const message = whyNot(error);
        const { value } = this.save;
        if (value.kind !== 'failed' || value.message !== message) {
            this.save.value = { kind: 'failed', message };
        }
        if (error instanceof TypeError) {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => void this.write(), AGAIN_MS);
        }
    }

    private async collide(hash: string | null): Promise<void> {
        try {
            const theirs = hash === null ? '' : plainLines(plain.decode(await this.files.read(this.path)));
            if (theirs === this.content()) {
                this.known = hash; // the same text by another way
                this.base = theirs;
                this.save.value = { kind: 'saved' };
            } else {
                this.save.value = { kind: 'conflict', theirs, hash };
            }
        } catch (error) {
            this.save.value = { kind: 'failed', message: whyNot(error) };
        }
    }

    // The choice of a person: that text is the file from now on. "Theirs" writes nothing.
    async resolve(text: string): Promise<void> {
        const { value } = this.save;
        if (value.kind !== 'conflict') {
            return;
        }
        this.known = value.hash;
        this.base = value.theirs;
        this.save.value = { kind: 'changed' };
        this.show(text);
        if (text === value.theirs) {
            this.save.value = { kind: 'saved' };
        } else {
            await this.put(text, value.hash);
        }
    }

    private show(text: string): void {
        this.text = Text.of(text.split('\n'));
        this.workspace.view?.replace(this, text);
    }

    // The file on the server is another one than the one that was read.
    async arrived(hash: string): Promise<void> {
        await Promise.resolve(); // a refusal is told right after what it changes
        if (hash === this.known || this.isWriting || this.save.value.kind === 'conflict') {
            return;
        }
        // What was written may be refused after all, because somebody was faster.
        if (this.isDirty() || this.isRefused || this.workspace.isWaiting()) {
            await this.collide(hash);
            return;
        }
        const text = plainLines(plain.decode(await this.files.read(this.path)));
        if (!this.isDirty()) {
            this.base = text;
            this.known = hash;
            this.show(text);
        } else {
            await this.collide(hash);
        }
    }

    // The file is not there any more. True: nor need its text be.
    async removed(): Promise<boolean> {
        await Promise.resolve(); // as above
        const { kind } = this.save.value;
        if (this.known === null || this.isWriting || kind === 'conflict') {
            return false; // it was never there, or a person decides already
        }
        if (this.isDirty() || this.isRefused || kind === 'sent') {
            await this.collide(null);
            return false;
        }
        this.close();
        return true;
    }

    refused(): void {
        this.isRefused = true;
    }

    close(): void {
        clearTimeout(this.timer);
    }
}

export class Workspace {
    readonly open: Signal<readonly ScriptBuffer[]> = signal<readonly ScriptBuffer[]>([]);
    readonly change: Signal<number> = signal(0); // of files and writers
    view: BufferView | null = null;
    private readonly document: ScriptDocument;
    private readonly files: ScriptFiles;
    private readonly opening = new Map<string, Promise<ScriptBuffer>>();

    constructor(document: ScriptDocument, files: ScriptFiles) {
        this.document = document;
        this.files = files;
        offerOpenTexts(document, (path) => this.find(path)?.content(), (path) => this.close(path));
        effect(() => {
            const kinds = this.open.value.map(({ save }) => save.value.kind);
            scriptsSaved.value = kinds.some((kind) => kind === 'failed' || kind === 'conflict') ? 'unsaved'
                : kinds.some((kind) => kind !== 'saved') ? 'saving' : 'saved';
        });
        document.on('files', () => this.look());
        document.onRefused?.(() => this.open.peek().forEach((buffer) => buffer.refused()));
        document.onConfirmed?.(() => this.open.peek().forEach((buffer) => buffer.confirmed()));
        document.onWriters?.(() => { this.change.value = this.change.peek() + 1; });
        globalThis.addEventListener?.('beforeunload', (event) => {
            if (this.unsaved().length > 0) {
                event.preventDefault();
                this.unsaved().forEach((buffer) => void buffer.write());
            }
        });
    }

    unsaved(): ScriptBuffer[] {
        return this.open.value.filter((buffer) => buffer.isDirty());
    }

    find(path: string): ScriptBuffer | undefined {
        return this.open.value.find((buffer) => buffer.path === path);
    }

    hash(path: string): string | null {
        return this.document.files().find((file) => file.path === path)?.hash ?? null;
    }

    load(path: string): Promise<ScriptBuffer> {
        const known = this.find(path);
        const before = this.opening.get(path);
        if (known !== undefined || before !== undefined) {
            return before ?? Promise.resolve(known as ScriptBuffer);
        }
        const loading = this.read(path).finally(() => this.opening.delete(path));
        this.opening.set(path, loading);
        return loading;
    }

    private async read(path: string): Promise<ScriptBuffer> {
        const hash = this.hash(path);
        const bytes = hash === null ? new Uint8Array() : await this.files.read(path);
        const buffer = new ScriptBuffer(this, this.files, path, plain.decode(bytes),
            hash === null ? null : hashOf(bytes));
        this.open.value = [...this.open.value, buffer];
        this.document.write?.(path, false);
        return buffer;
    }

    // Refused while its text is nowhere else.
    async close(path: string): Promise<boolean> {
        const buffer = this.find(path);
        await buffer?.write();
        if (buffer !== undefined && buffer.isDirty()) {
            return false;
        }
        buffer?.close();
        this.open.value = this.open.value.filter((each) => each !== buffer);
        return true;
    }

    // Who else writes this file; null: nobody, or I do.
    otherWriter(path: string): string | null {
        const writer = this.document.writers?.().find((each) => each.path === path);
        return writer === undefined || writer.isOwn ? null : writer.name;
    }

    mayWrite(path: string): boolean {
        return this.document.canWrite !== false && this.otherWriter(path) === null;
    }

    isWaiting(): boolean {
        return this.document.isWaiting?.() ?? false;
    }

    // The session has that file, and nothing of one's own waits for it.
    isConfirmed(path: string, hash: string | null): boolean {
        return this.document.isConfirmed === undefined || this.document.isConfirmed() && this.hash(path) === hash;
    }

    takeOver(path: string): void {
        this.document.write?.(path, true);
    }

    private look(): void {
        this.change.value = this.change.peek() + 1;
        for (const buffer of this.open.value) {
            const hash = this.hash(buffer.path);
            if (hash !== null) {
                buffer.arrived(hash).catch(() => undefined); // the next change or save tries again
            } else {
                void buffer.removed().then((isGone) => { if (isGone) { this.leave(buffer); } });
            }
        }
    }

    // An undo or somebody else has removed the file, and nothing that was typed is lost with it.
    private leave(buffer: ScriptBuffer): void {
        const before = this.open.value;
        const at = before.indexOf(buffer);
        if (at >= 0) {
            this.open.value = before.filter((each) => each !== buffer);
            this.view?.gone(buffer.path, (before[at + 1] ?? before[at - 1])?.path ?? '');
        }
    }
}

const workspaces = new WeakMap<ScriptDocument, Workspace>();

// One for each document: what was typed stays when the pane is closed and opened again.
export function workspaceOf(document: ScriptDocument, files: ScriptFiles): Workspace {
    const workspace = workspaces.get(document) ?? new Workspace(document, files);
    workspaces.set(document, workspace);
    return workspace;
}

// A place as a document, in the page: the only file that touches the memory of studio.wasm. The document
// itself is C (core/edit), the same as on the server; here it becomes plain values, and everything that
// changes is told to whoever listens. Own changes apply at once; the link (link.ts) sends them and gives back
// what the edit session says.
//
// It runs in the page and, for the tests, under Node.

import { packFiles } from '../core/packed_files.ts';

type Address = number;
type Handle = number;

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    alloc(bytes: number): Address;
    release(block: Address): void;
    resultBytes(): number;
    errorText(): Address;
    editOpen(bytes: Address, count: number, editor: number, seq: number, seed: number): Handle;
    editOpenTexts(settings: Address, settingsBytes: number, scene: Address, sceneBytes: number,
        editor: number, seed: number): Handle;
    editReset(studio: Handle, bytes: Address, count: number, seq: number): number;
    editClose(studio: Handle): void;
    editHash(studio: Handle): bigint;
    editSetEditor(studio: Handle, editor: number): void;
    editMark(): number;
    editSeq(studio: Handle): number;
    editBytes(studio: Handle): Address;
    editNewId(studio: Handle, kind: number): number;
    editEdit(studio: Handle, label: Address, labelBytes: number, json: Address, jsonBytes: number): Address;
    editCopy(studio: Handle, ids: Address, count: number): Address;
    editPaste(studio: Handle, label: Address, labelBytes: number, clip: Address, clipBytes: number): Address;
    editUndo(studio: Handle, seq: number): Address;
    editReceive(studio: Handle, bytes: Address, count: number): Address;
    editPendingCount(studio: Handle): number;
    editPendingMessage(studio: Handle, index: number): Address;
    editObject(studio: Handle, kind: number, id: number): Address;
    editOrder(studio: Handle, kind: number): Address;
    editName(studio: Handle, id: number): Address;
    editState(studio: Handle, which: number): bigint;
    editFind(studio: Handle, part: Address, bytes: number): Address;
    editFiles(studio: Handle): Address;
    editProblems(studio: Handle): Address;
    editText(studio: Handle, which: number): Address;
    editCompile(studio: Handle, files: Address, bytes: number): Address;
    editWords(json: Address, bytes: number): Address;
    editChanges(studio: Handle): Address;
    editPick(studio: Handle, x: number, y: number, z: number, dx: number, dy: number, dz: number,
        distance: number): Address;
    editPickSkip(studio: Handle, ids: Address, count: number): void;
    editPickInside(studio: Handle, planes: Address, count: number): Address;
    editGiveChunk(studio: Handle, path: Address, pathBytes: number, data: Address, bytes: number): number;
    editGround(studio: Handle): Address;
    editChunkMesh(studio: Handle, x: number, y: number, z: number): Address;
}

export const KIND = { settings: 0, scene: 1, terrain: 2, entity: 3 } as const;
export type Kind = keyof typeof KIND;
export const TYPES = ['part', 'prop', 'npc', 'spawn', 'group'] as const;

export type Triple = [number, number, number];

// An entity as scene.json has it: what is as by default is left out.
export interface EntityRecord {
    id: number;
    name?: string;
    type?: typeof TYPES[number];
    parent?: number;
    transform?: { position?: Triple; rotation?: number[] };
    shape?: { kind?: string; size?: Triple };
    [member: string]: unknown;
}

export interface FillRecord {
    min?: Triple;
    max?: Triple;
    kind?: string;
    chunk?: string;
}

export interface SettingsRecord {
    name: string;
    voxelKinds?: { name: string; solid?: boolean; colour?: string; material?: string }[];
    [member: string]: unknown;
}

export interface FileEntry {
    path: string;
    hash: string;
}

// The two texts of a place, and a file that differs: null, it is not there; true, its text does not matter.
export interface PlaceTexts {
    place: string;
    scene: string;
}
export interface FileTexts {
    path: string;
    before: string | true | null;
    after: string | true | null;
}

// core/edit/op_json.h.
export type Op =
    | { op: 'create'; entity: EntityRecord; after?: number }
    | { op: 'delete'; ids: number[]; kind?: Kind }
    | { op: 'set'; member: string; ids: number[]; value: unknown; kind?: Kind }
    | { op: 'set'; member: string; values: [number, unknown][]; kind?: Kind }
    | { op: 'move'; ids: number[]; parent?: number; after?: number }
    | { op: 'fill'; id: number; box: FillRecord; after?: number }
    | { op: 'file'; path: string; hash: string | null; known: string | null }
    | { op: 'rename'; from: string; to: string; known: string };

export interface Problem {
    kind: number; // of KIND
    id: number; // of an entity or of terrain; 0: none
    list: string;
    index: number;
    member: string;
    message: string;
}

// What is drawn of an entity (core/edit/draw_list.h).
export interface DrawRow {
    id: number;
    parent: number;
    type: number; // of TYPES
    shape: number;
    flags: number;
    colour: number;
    material: number;
    texture: number;
    model: number;
    transparency: number;
    glow: number;
    position: Triple;
    rotation: [number, number, number, number];
    half: Triple;
}
export const FLAG = {
    ghost: 1, trigger: 32, visible: 1 << 16, anchored: 1 << 17, script: 1 << 18, motion: 1 << 19,
} as const;
const ROW_BYTES = 84;

export interface Changes {
    rows: DrawRow[];
    gone: number[];
    order: boolean;
}

export interface Picked {
    id: number; // 0: terrain
    distance: number;
    point: Triple;
    normal: Triple;
}

// A step of the history: one transaction that the session has confirmed.
export interface Step {
    seq: number;
    editor: number;
    label: string;
    undone: number; // the seq that this takes back; 0: none
    step: number; // the seq of the first transaction of the same gesture: together they are one step of undo
    ms: number; // when, since 1970
}

interface News {
    type: number; // EditDownType
    own: boolean;
    stale: boolean;
    seq: number;
    n: number;
    editor: number;
    undone: number;
    text: string;
}
const TOLD = 1;
const REFUSED = 2;

interface Events {
    change: Changes; // entities
    terrain: null;
    settings: null;
    files: null;
    history: null; // undo, redo, or what the session confirmed
    refused: string; // a change of one's own was refused or could not be made
    send: Uint8Array; // for the link
    stale: null; // the link must load the document anew
    reset: null; // another document was loaded
}

// What this editor did and has not heard of yet.
interface Waiting {
    n: number;
    as: 'edit' | 'undo' | 'redo';
    group: Group;
}

// Transactions that are one step for their editor: a drag is stored while it goes on, and undone at once.
interface Group {
    gesture: number; // 0: a transaction of its own
    seqs: number[]; // those that are confirmed
}

const HISTORY_MAX = 1000;
const BUILT = 'Built'; // EDIT_LABEL_BUILT: what a build wrote is nobody's step
const GESTURE_MS = 1000; // transactions of one gesture are not further apart

// The module imports functions of the C library; none of them is needed.
function noSystem(module: WebAssembly.Module): WebAssembly.Imports {
    const imports: Record<string, Record<string, () => number>> = {};
    for (const { module: space, name } of WebAssembly.Module.imports(module)) {
        (imports[space] ??= {})[name] = () => 8; // EBADF
    }
    return imports;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// A number as the messages of core/edit write it, from the second byte on.
function numberOf(message: Uint8Array): number {
    let value = 0;
    for (let at = 1, scale = 1; at < message.length; at++, scale *= 128) {
        const byte = message[at] ?? 0;
        value += (byte & 127) * scale;
        if (byte < 128) {
            break;
        }
    }
    return value;
}

const isBuilt = ({ editor, label }: { editor: number; label: string }): boolean => editor === 0 && label === BUILT;

export class EditError extends Error {}

export class StudioDocument {
    private readonly raw: Exports;
    private studio: Handle = 0;
    private readonly listeners = new Map<string, Set<(value: never) => void>>();
    private waiting: Waiting[] = [];
    private undoable: Group[] = []; // the newest last
    private redoable: Group[] = [];
    private wantedUndos = 0; // asked for before the step was confirmed
    private known = { settings: 0n, terrain: 0n, files: 0n }; // to tell what has changed
    editor = 0;
    readonly history: Step[] = []; // the newest last

    private constructor(raw: Exports) {
        this.raw = raw;
    }

    static async load(module: WebAssembly.Module): Promise<StudioDocument> {
        const instance = await WebAssembly.instantiate(module, noSystem(module));
        const raw = instance.exports as unknown as Exports;
        raw._initialize();
        return new StudioDocument(raw);
    }

    // --- memory ----------------------------------------------------------------------------------------

    private withBytes<T>(parts: readonly Uint8Array[], use: (...at: Address[]) => T): T {
        const at = parts.map((bytes) => {
            const address = this.raw.alloc(bytes.length + 1);
            if (address === 0) {
                throw new EditError('there is not enough memory');
            }
            return address;
        });
        parts.forEach((bytes, i) => new Uint8Array(this.raw.memory.buffer).set(bytes, at[i]));
        try {
            return use(...at);
        } finally {
            at.forEach((address) => this.raw.release(address));
        }
    }

    private failure(): EditError {
        return new EditError(decoder.decode(this.bytesAt(this.raw.errorText())));
    }

    // A copy.
    private bytesAt(address: Address): Uint8Array {
        return new Uint8Array(this.raw.memory.buffer, address, this.raw.resultBytes()).slice();
    }

    private result(address: Address): Uint8Array {
        if (address === 0) {
            throw this.failure();
        }
        return this.bytesAt(address);
    }

    private json<T>(address: Address): T {
        return JSON.parse(decoder.decode(this.result(address))) as T;
    }

    memoryBytes(): number {
        return this.raw.memory.buffer.byteLength;
    }

    // --- opening ---------------------------------------------------------------------------------------

    get isOpen(): boolean {
        return this.studio !== 0;
    }

    // A whole document, as the session gives it. What was not confirmed stays, on top of it.
    open(bytes: Uint8Array, editor: number, seq: number): void {
        this.editor = editor;
        const done = this.withBytes([bytes], (at) => this.studio !== 0
            ? this.raw.editReset(this.studio, at, bytes.length, seq)
            : (this.studio = this.raw.editOpen(at, bytes.length, editor, seq, Math.random() * 2 ** 52)));
        if (done === 0) {
            throw this.failure();
        }
        this.tell('reset', null);
        this.tellChanges();
    }

    // From the texts of the two files; for tests and for places that are not on a server.
    openTexts(settings: string, scene: string): void {
        const parts = [encoder.encode(settings), encoder.encode(scene)] as const;
        this.studio = this.withBytes(parts, (a = 0, b = 0) => this.raw.editOpenTexts(a, parts[0].length, b,
            parts[1].length, this.editor, Math.random() * 2 ** 52));
        if (this.studio === 0) {
            throw this.failure();
        }
        this.tellChanges();
    }

    // The session gives another number after a connection was lost.
    setEditor(editor: number): void {
        this.editor = editor;
        if (this.studio !== 0) {
            this.raw.editSetEditor(this.studio, editor);
        }
    }

    bytes(): Uint8Array {
        return this.result(this.raw.editBytes(this.studio));
    }

    hash(): bigint {
        return BigInt.asUintN(64, this.raw.editHash(this.studio));
    }

    // Differs from the server's when the page is older or newer than it.
    mark(): number {
        return this.raw.editMark() >>> 0;
    }

    seq(): number {
        return this.studio === 0 ? 0 : this.raw.editSeq(this.studio);
    }

    close(): void {
        if (this.studio !== 0) {
            this.raw.editClose(this.studio);
            this.studio = 0;
        }
    }

    // --- telling ---------------------------------------------------------------------------------------

    on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
        const all = this.listeners.get(event) ?? new Set();
        this.listeners.set(event, all.add(listener as (value: never) => void));
        return () => void all.delete(listener as (value: never) => void);
    }

    private tell<E extends keyof Events>(event: E, value: Events[E]): void {
        for (const listener of [...this.listeners.get(event) ?? []]) {
            (listener as (value: Events[E]) => void)(value);
        }
    }

    // After whatever may have changed the document.
    private tellChanges(): void {
        const changes = this.readChanges();
        if (changes.rows.length > 0 || changes.gone.length > 0 || changes.order) {
            this.tell('change', changes);
        }
        const state = (which: number): bigint => this.raw.editState(this.studio, which);
        const now = { settings: state(KIND.settings), terrain: state(KIND.terrain), files: state(4) };
        const before = this.known;
        this.known = now;
        if (now.settings !== before.settings) {
            this.tell('settings', null);
        }
        if (now.terrain !== before.terrain || now.settings !== before.settings) {
            this.tell('terrain', null);
        }
        if (now.files !== before.files) {
            this.tell('files', null);
        }
    }

    private readChanges(): Changes {
        const bytes = this.result(this.raw.editChanges(this.studio));
        const view = new DataView(bytes.buffer);
        const rowCount = view.getUint32(0, true);
        const goneCount = view.getUint32(4, true);
        const rows = Array.from({ length: rowCount }, (_, i) => readRow(view, 16 + i * ROW_BYTES));
        const goneAt = 16 + rowCount * ROW_BYTES;
        const gone = Array.from({ length: goneCount }, (_, i) => view.getUint32(goneAt + i * 4, true));
        return { rows, gone, order: view.getUint32(8, true) !== 0 };
    }

    // --- reading ---------------------------------------------------------------------------------------

    // Ids in order, each with its parent (0: none).
    tree(): Uint32Array {
        const bytes = this.result(this.raw.editOrder(this.studio, KIND.entity));
        return new Uint32Array(bytes.buffer, 0, bytes.length / 4);
    }

    *entities(): Iterable<number> {
        const tree = this.tree();
        for (let i = 0; i < tree.length; i += 2) {
            yield tree[i] ?? 0;
        }
    }

    has(id: number): boolean {
        return this.raw.editObject(this.studio, KIND.entity, id) !== 0;
    }

    // Fails if it is not there.
    entity(id: number): EntityRecord {
        return this.json<EntityRecord>(this.raw.editObject(this.studio, KIND.entity, id));
    }

    name(id: number): string {
        return decoder.decode(this.result(this.raw.editName(this.studio, id)));
    }

    find(part: string): number[] {
        const bytes = encoder.encode(part);
        const found = this.withBytes([bytes], (at = 0) =>
            this.result(this.raw.editFind(this.studio, at, bytes.length)));
        return [...new Uint32Array(found.buffer, 0, found.length / 4)];
    }

    settings(): SettingsRecord {
        return this.json<SettingsRecord>(this.raw.editObject(this.studio, KIND.settings, 0));
    }

    terrain(): number[] {
        const bytes = this.result(this.raw.editOrder(this.studio, KIND.terrain));
        return [...new Uint32Array(bytes.buffer, 0, bytes.length / 4)];
    }

    fill(id: number): FillRecord {
        return this.json<FillRecord>(this.raw.editObject(this.studio, KIND.terrain, id));
    }

    files(): FileEntry[] {
        return this.json<FileEntry[]>(this.raw.editFiles(this.studio));
    }

    problems(): Problem[] {
        return this.json<Problem[]>(this.raw.editProblems(this.studio));
    }

    placeJson(): string {
        return decoder.decode(this.result(this.raw.editText(this.studio, 0)));
    }

    // The place as a world is made from it (Core.createCompiledWorld), with prefabs, chunks and the paths of assets
    // among the files. Throws with what is wrong.
    compile(files: Map<string, Uint8Array>): Uint8Array {
        const packed = packFiles(files);
        return this.result(this.withBytes([packed], (at = 0) => this.raw.editCompile(this.studio, at, packed.length)));
    }

    // What differs between two states of a place, one line for each difference (core/edit/words.h).
    words(before: PlaceTexts, after: PlaceTexts, files: readonly FileTexts[]): string[] {
        const json = encoder.encode(JSON.stringify({ before, after, files }));
        return this.json<string[]>(this.withBytes([json], (at = 0) => this.raw.editWords(at, json.length)));
    }

    sceneJson(): string {
        return decoder.decode(this.result(this.raw.editText(this.studio, 1)));
    }

    // --- changing --------------------------------------------------------------------------------------

    newId(kind: 'entity' | 'terrain' = 'entity'): number {
        return this.raw.editNewId(this.studio, KIND[kind]) >>> 0;
    }

    // All of it or nothing. One step of undo, together with those before it of the same gesture (not 0).
    // False: it was refused, which is told as well.
    edit(label: string, ops: readonly Op[], gesture = 0): boolean {
        const json = encoder.encode(JSON.stringify(ops));
        return this.change(label, json, gesture, (name, nameBytes, at) =>
            this.raw.editEdit(this.studio, name, nameBytes, at, json.length));
    }

    // Those with everything below them, for a paste in any place (core/edit/clip.h).
    copy(ids: readonly number[]): Uint8Array {
        const bytes = new Uint8Array(new Uint32Array(ids).buffer);
        return this.withBytes([bytes], (at = 0) => this.result(this.raw.editCopy(this.studio, at, ids.length)));
    }

    // The clip must be a blob of the place already. The session tells everybody the entities themselves.
    paste(label: string, clip: Uint8Array): boolean {
        return this.change(label, clip, 0, (name, nameBytes, at) =>
            this.raw.editPaste(this.studio, name, nameBytes, at, clip.length));
    }

    private change(label: string, bytes: Uint8Array, gesture: number,
        apply: (name: Address, nameBytes: number, at: Address) => Address): boolean {
        const name = encoder.encode(label).slice(0, 64);
        try {
            const message = this.withBytes([name, bytes], (a = 0, b = 0) =>
                this.result(apply(a, name.length, b)));
            this.waiting.push({ n: numberOf(message), as: 'edit', group: this.groupOf(gesture) });
            this.redoable = [];
            this.tellChanges();
            this.tell('history', null);
            this.tell('send', message);
            return true;
        } catch (cause) {
            if (!(cause instanceof EditError)) {
                throw cause;
            }
            this.tell('refused', cause.message);
            return false;
        }
    }

    private groupOf(gesture: number): Group {
        const last = this.undoable.at(-1);
        if (gesture !== 0 && last?.gesture === gesture) {
            return last;
        }
        const group = { gesture, seqs: [] };
        this.undoable.push(group);
        return group;
    }

    get canUndo(): boolean {
        return this.undoable.length > this.wantedUndos;
    }

    get canRedo(): boolean {
        return this.redoable.length > 0;
    }

    // The session takes it back, and only what nobody else has changed since. What it has not confirmed yet
    // cannot be named: then the undo waits.
    undo(): void {
        const last = this.undoable.at(-1);
        if (this.waiting.some(({ as, group }) => as === 'edit' && group === last)) {
            this.wantedUndos += this.canUndo ? 1 : 0;
            return;
        }
        this.takeBack(this.undoable, 'undo');
    }

    redo(): void {
        this.takeBack(this.redoable, 'redo');
    }

    private takeBack(groups: Group[], as: 'undo' | 'redo'): void {
        const done = groups.pop();
        const group: Group = { gesture: 0, seqs: [] };
        (as === 'undo' ? this.redoable : this.undoable).push(...done === undefined ? [] : [group]);
        for (const seq of (done?.seqs ?? []).toReversed()) {
            try {
                const message = this.result(this.raw.editUndo(this.studio, seq));
                this.waiting.push({ n: numberOf(message), as, group });
                this.tell('send', message);
            } catch (cause) {
                this.tell('refused', String((cause as Error).message));
            }
        }
        this.tell('history', null);
    }

    // How many of one's own changes are not confirmed.
    // The session has not answered all that was changed here.
    isWaiting(): boolean {
        return this.waiting.length > 0;
    }

    pendingCount(): number {
        return this.studio === 0 ? 0 : this.raw.editPendingCount(this.studio);
    }

    // After a lost connection: everything that is not confirmed, to be sent again.
    pendingMessages(): Uint8Array[] {
        return Array.from({ length: this.pendingCount() }, (_, i) =>
            this.result(this.raw.editPendingMessage(this.studio, i)));
    }

    // A message of the session; returns which kind it was (EditDownType).
    receive(message: Uint8Array): number {
        const news = this.withBytes([message], (at = 0) =>
            this.json<News>(this.raw.editReceive(this.studio, at, message.length)));
        this.settle(news);
        this.tellChanges();
        this.tell('history', null);
        if (news.stale) {
            this.tell('stale', null);
        }
        const wanted = this.wantedUndos;
        this.wantedUndos = 0;
        for (let i = 0; i < wanted; i++) {
            this.undo();
        }
        return news.type;
    }

    private settle(news: News): void {
        if (news.type === TOLD && !news.stale) {
            const now = { seq: news.seq, editor: news.editor, label: news.text, undone: news.undone, ms: Date.now() };
            const own = news.own ? this.waiting.find(({ n }) => n === news.n) : undefined;
            if (!isBuilt(now)) {
                this.history.push({
                    ...now, step: own !== undefined ? own.group.seqs[0] ?? news.seq : this.stepOf(now, this.history),
                });
            }
            if (this.history.length > HISTORY_MAX) {
                this.history.shift();
            }
        }
        const own = news.own ? this.waiting.find(({ n }) => n === news.n) : undefined;
        this.waiting = this.waiting.filter((each) => each !== own);
        if (own !== undefined && news.type === TOLD) {
            own.group.seqs.push(news.seq);
        }
        if (own !== undefined && news.type === REFUSED) {
            this.drop(own.group);
            this.tell('refused', news.text);
        }
    }

    // A group of which nothing is left is no step.
    private drop(group: Group): void {
        if (group.seqs.length === 0 && !this.waiting.some((each) => each.group === group)) {
            this.undoable = this.undoable.filter((each) => each !== group);
            this.redoable = this.redoable.filter((each) => each !== group);
        }
    }

    // The log does not say which transactions were one gesture: those that follow each other closely and do the same.
    private stepOf(now: Omit<Step, 'step'>, log: readonly Step[]): number {
        const last = log.at(-1);
        const back = (seq: number): number => seq === 0 ? 0 : log.findLast((each) => each.seq === seq)?.step ?? 0;
        const isOn = last !== undefined && last.editor === now.editor && last.label === now.label && now.ms - last.ms <= GESTURE_MS &&
            (last.undone === 0) === (now.undone === 0) && back(last.undone) === back(now.undone);
        return isOn ? last.step : now.seq;
    }

    // What was confirmed before this page was loaded, the oldest first. What takes back an undo did it again, so of
    // one's own transactions that are not taken back themselves, some can be undone and some be done again.
    remember(log: readonly Omit<Step, 'step'>[]): void {
        const known = new Set(this.history.map(({ seq }) => seq));
        const fresh: Step[] = [];
        for (const each of log.filter((one) => !known.has(one.seq) && !isBuilt(one))) {
            fresh.push({ ...each, step: this.stepOf(each, fresh) });
        }
        const gone = new Set([...fresh, ...this.history].map(({ undone }) => undone));
        const undos = new Set<number>();
        const groups = { done: [] as (Group & { step: number })[], undone: [] as (Group & { step: number })[] };
        const steps = new Map(fresh.map(({ seq, step }) => [seq, step])); // of what takes back: as of what is taken back
        for (const { seq, editor, undone } of fresh.filter((each) => each.editor === this.editor)) {
            const isUndo = undone !== 0 && !undos.has(undone);
            const step = steps.get(undone) ?? steps.get(seq) ?? seq;
            steps.set(seq, step);
            if (isUndo) {
                undos.add(seq);
            } else if (undone === 0) {
                groups.undone = []; // who does something new cannot redo what was undone before
            }
            if (gone.has(seq) || editor === 0) {
                continue;
            }
            const into = isUndo ? groups.undone : groups.done;
            const last = into.at(-1);
            if (last?.step === step) {
                last.seqs.push(seq);
            } else {
                into.push({ gesture: 0, seqs: [seq], step });
            }
        }
        const isFresh = this.undoable.length === 0 && this.redoable.length === 0;
        this.history.unshift(...fresh);
        this.undoable.unshift(...groups.done);
        this.redoable = isFresh ? groups.undone : this.redoable;
        this.tell('history', null);
    }

    // --- pointing --------------------------------------------------------------------------------------

    pick(from: Triple, way: Triple, distance = 4096): Picked | null {
        const at = this.raw.editPick(this.studio, ...from, ...way, distance);
        if (at === 0) {
            return null;
        }
        const bytes = this.bytesAt(at);
        const [id = 0, far = 0, x = 0, y = 0, z = 0, nx = 0, ny = 0, nz = 0] =
            new Float64Array(bytes.buffer, 0, 8);
        return { id, distance: far, point: [x, y, z], normal: [nx, ny, nz] };
    }

    // Rays go through these, until others are named.
    skip(ids: readonly number[]): void {
        const bytes = new Uint8Array(new Uint32Array(ids).buffer);
        this.withBytes([bytes], (at = 0) => this.raw.editPickSkip(this.studio, at, ids.length));
    }

    // Those whose middle is inside of all planes, four numbers each.
    pickInside(planes: Float32Array): number[] {
        const bytes = new Uint8Array(planes.buffer, planes.byteOffset, planes.byteLength);
        const found = this.withBytes([bytes], (at = 0) =>
            this.result(this.raw.editPickInside(this.studio, at, planes.length / 4)));
        return [...new Uint32Array(found.buffer, 0, found.length / 4)];
    }

    // --- terrain ---------------------------------------------------------------------------------------

    giveChunk(path: string, content: Uint8Array): void {
        const name = encoder.encode(path);
        this.withBytes([name, content], (a = 0, b = 0) =>
            this.raw.editGiveChunk(this.studio, a, name.length, b, content.length));
    }

    // Makes the terrain anew; the chunks there are, three numbers each.
    ground(): Int32Array {
        const bytes = this.result(this.raw.editGround(this.studio));
        return new Int32Array(bytes.buffer, 0, bytes.length / 4);
    }

    chunkMesh(x: number, y: number, z: number): Uint8Array {
        return this.result(this.raw.editChunkMesh(this.studio, x, y, z));
    }
}

function readRow(view: DataView, at: number): DrawRow {
    const u = (i: number): number => view.getUint32(at + i * 4, true);
    const f = (i: number): number => view.getFloat32(at + i * 4, true);
    return {
        id: u(0), parent: u(1), type: u(2), shape: u(3), flags: u(4), colour: u(5), material: u(6),
        texture: u(7), model: u(8), transparency: f(9), glow: f(10),
        position: [f(11), f(12), f(13)], rotation: [f(14), f(15), f(16), f(17)],
        half: [f(18), f(19), f(20)],
    };
}

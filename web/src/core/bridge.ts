// The only file that touches the memory of core.wasm. Everything else sees plain values: numbers,
// strings, copies of bytes. The functions are those of core/wasm/exports*.c; docs/ARCHITECTURE.md
// has the table. Nothing here knows a rule of the game.
//
// It runs in a web worker and, for the tests, under Node.

import { packFiles } from './packed_files.ts';
import { readValues, type Value } from './value.ts';
import type { Proof } from './verify.ts';

type Address = number;
type Handle = number;

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    alloc(bytes: number): Address;
    release(block: Address): void;
    resultBytes(): number;
    errorText(): Address;
    logLine(): Address;

    checkScript(packed: Address, bytes: number): Address;
    loadScene(packed: Address, bytes: number): Handle;
    loadCompiled(packed: Address, bytes: number, compiled: Address, compiledBytes: number, kept: Address,
        keptBytes: number, runes: Address, runeBytes: number): Handle;
    worldKeep(world: Handle): Address;
    worldRunes(world: Handle): Address;
    applyDiff(host: Handle, json: Address, bytes: number): number;
    worldEdit(host: Handle, json: Address, bytes: number): number;
    worldDestroy(host: Handle): void;
    worldScene(host: Handle): Address;
    worldTick(host: Handle, unixMs: number): void;
    worldConnect(host: Handle, connection: number, json: number): number;
    worldDisconnect(host: Handle, connection: number): number;
    worldMessage(host: Handle, connection: number, data: Address, bytes: number): number;
    worldOutput(host: Handle, connection: number): Address;
    worldOutputTake(host: Handle, connection: number): void;
    worldClosing(host: Handle): number;
    worldHash(host: Handle): bigint;
    worldStats(host: Handle): Address;
    worldFaults(host: Handle): Address;
    worldCosts(host: Handle): Address;

    packing(): number;
    clientCreate(json: Address, bytes: number): Handle;
    clientDestroy(client: Handle): void;
    clientConnect(client: Handle, nowMs: number): void;
    clientSetTicket(client: Handle, ticket: Address): number;
    clientReceive(client: Handle, nowMs: number, bytes: Address, count: number): void;
    clientDisconnected(client: Handle): void;
    clientOutput(client: Handle): Address;
    clientOutputTake(client: Handle): void;
    clientState(client: Handle): number;
    clientResumeToken(client: Handle): Address;
    clientClosedReason(client: Handle): Address;
    clientOutdated(client: Handle): number;
    clientWants(client: Handle, most: number): Address;
    clientWantsChange(client: Handle): number;
    clientFetchProgress(client: Handle): Address;
    clientGiveFor(client: Handle, bytes: Address, count: number): number;
    clientFetchOneOverWire(client: Handle, hash: Address, count: number): number;
    clientGive(client: Handle, bytes: Address, count: number): number;
    clientGivePacked(client: Handle, bytes: Address, count: number): number;
    clientProof(client: Handle): Address;
    clientVerified(client: Handle, version: number, good: number): void;
    clientFetchOverWire(client: Handle): void;
    clientProgress(client: Handle): number;
    clientInput(
        client: Handle, moveX: number, moveZ: number, yaw: number, pitch: number, buttons: number,
        turnSeen: number,
    ): void;
    clientUpdate(client: Handle, nowMs: number): void;
    clientSend(client: Handle, json: Address, bytes: number): number;
    clientEvent(client: Handle): Address;
    clientMovers(client: Handle): Address;
    clientShapes(client: Handle): Address;
    clientOwn(client: Handle): Address;
    clientRay(
        client: Handle, x: number, y: number, z: number,
        dx: number, dy: number, dz: number, distance: number,
    ): Address;
    clientBuildAim(
        client: Handle, x: number, y: number, z: number,
        dx: number, dy: number, dz: number, piece: number, turn: number,
    ): Address;
    clientDigAim(
        client: Handle, x: number, y: number, z: number,
        dx: number, dy: number, dz: number, edge: number, kind: number,
    ): Address;
    clientHash(client: Handle): bigint;
    clientStats(client: Handle): Address;
    clientPlace(client: Handle): Address;
    clientParts(client: Handle, from: number): Address;
    clientHidden(client: Handle): Address;
    clientPaintVersion(client: Handle): number;
    clientPaints(client: Handle, from: number): Address;
    clientTerrain(client: Handle): number;
    clientChunks(client: Handle, from: number): Address;
    clientChunkMesh(client: Handle, x: number, y: number, z: number): Address;
    clientFaults(client: Handle): Address;
    clientCosts(client: Handle): Address;
    clientShown(client: Handle): Address;
    clientSound(client: Handle): Address;
    clientSounds(client: Handle): Address;
    clientSoundsChange(client: Handle): number;
    clientWidget(
        client: Handle, owner: number, entity: number, handler: number, typed: Address, bytes: number,
    ): void;
    clientKey(client: Handle, key: Address, bytes: number, down: number): void;
    clientSky(client: Handle): Address;
    clientVisuals(client: Handle): Address;
    clientMoments(client: Handle): Address;
    clientCameraWanted(client: Handle): Address;
    clientCamera(
        client: Handle, x: number, y: number, z: number,
        forwardX: number, forwardY: number, forwardZ: number,
    ): void;
}

export const ClientState = { idle: 0, connecting: 1, fetching: 2, playing: 3, closed: 4 } as const;

export interface Want {
    kind: 'scene' | 'manifest' | 'rune';
    scene: boolean; // the same as kind
    hash: string;
    bytes: number;
    path: string; // of a rune
    priority: number; // 0 before the world appears, 1 needed, 2 a script waits for it
    fromHost: boolean; // it came damaged: neither from a cache nor from a cdn
}

// How far the fetching is (ClientProgress in core/client/client.h).
export interface FetchProgress {
    bytesHere: number;
    bytesWanted: number;
    scriptsHere: number;
    scriptsWanted: number;
    scriptsLater: number;
    scriptsRefused: number;
    inFlight: number;
    firstIsRunning: boolean;
    fetching: string;
    change: number;
}

// How something looks (core/wire/look.def); what is left out is as nobody has painted it.
export interface Look {
    material: string;
    colour: number; // DEFAULT_COLOUR: that of the material
    transparency?: number; // 0..1
    visible?: boolean;
    glow?: number; // 0..1
    texture?: number; // 1 + the number of an asset; 0: none
    model?: number; // the same
}
export const DEFAULT_COLOUR = 0xa0a0a0;

export interface Part extends Look {
    id: number;
    shape: number;
    p: [number, number, number];
    r: [number, number, number, number];
    half: [number, number, number];
    flags: number;
}

export interface Place {
    name: string;
    tickRate: number;
    viewRadius: number;
    reach: number;
    build: boolean;
    terraform: boolean;
    weapons: number; // how many kinds there are
    actions: string[]; // the place's own buttons
    min: [number, number, number];
    max: [number, number, number];
    radius: number;
    height: number;
    partCount: number;
    pieces: (Look & {
        name: string; cells: [number, number, number]; health: number; groundOnly: boolean;
    })[];
    voxelKinds: (Look & { name: string; solid: boolean })[];
    materials: string[]; // names of the numbers in clientPaints
}

export interface ClientStats {
    state: number;
    viewTick: number;
    rttMs: number;
    jitterMs: number;
    delayMs: number;
    leadTicks: number;
    serverTick: number;
    inputSeq: number;
    pendingInputs: number;
    visible: number;
    corrections: number;
    correctionsWithoutCause: number;
    correctionLastM: number;
    bytesDown: number;
    bytesUp: number;
    snapshots: number;
    snapshotIntervalP99Ms: number;
    manifestVersion: number; // of the scripts that run; 0: none yet
    manifestProven: boolean; // the host's signature was verified
    scripts: number; // in the newest manifest
    runes: number; // of those, here
}

export interface WorldStats {
    tick: number;
    players: number;
    sessions: number;
    snapshots: number;
    bytesDown: number;
    bytesUp: number;
    inputsLate: number;
    corrections: number;
    correctionsWithoutCause: number;
}

export interface Fault {
    path: string;
    file: string; // as messages name it: with its ending
    line: number;
    message: string;
    tick: number;
}

// What the client's own scripts cost, the dearest first.
export interface ScriptCosts {
    scripts: number;
    faults: number;
    rows: {
        path: string; calls: number; ms: number; memoryBytes: number; faults: number; throttled: number;
    }[];
}

// The same of the scripts of a local world, by entity too: getScriptSystemStats() of the script-system
// document.
export interface WorldCosts extends ScriptCosts {
    entities: (ScriptCosts['rows'][number] & { entity: number })[];
    compiles: number;
    cached: number; // of those, not compiled again
    pending: number; // wait for their turn
    calls: number;
    execMs: number; // of all calls, by steps
    parametersFailed: number;
}

// What a script shows, or no longer (tree null), on the screen or above an entity.
export interface Shown {
    owner: number; // its widgets' events go back to it
    entity: number; // 0: on the screen
    tree: Value;
}

// What a script wants heard (core/wasm/exports_sound.c).
export interface Sound {
    act: 'play' | 'change' | 'stop' | 'music';
    own: boolean; // of a script of this client
    id: number; // among those of the server, or of this client
    name: string;
    caption: string; // '': none
    loop: boolean;
    entity: number; // it follows that; 0, or not in sight: `p`
    p?: Triple; // without: from everywhere
    volume: number;
    pitch: number;
    fade: number; // of music, in seconds
    age: number; // of music: for how many seconds it plays
}

// What goes on.
export interface SoundState {
    loops: Sound[];
    music: Sound | null;
}

// A widget was used. `typed` is null for a button.
export interface WidgetUse {
    owner: number;
    entity: number;
    handler: number;
    typed: string | null;
}

// What a build says about a file, as `sandlot build --json` prints it.
export interface Diagnostic {
    level: 'error' | 'warning';
    file: string;
    line: number; // from 1; 0: of the file as a whole
    column: number;
    code: string; // "syntax", "undefined-global"
    message: string;
}

export interface ScriptCheck {
    ok: boolean; // a world would take it
    run_context: 'Server' | 'Client' | 'Both' | ''; // '': it is in no service
    rune_bytes: number; // compiled; 0: it does not compile
    requires: string[];
    diagnostics: Diagnostic[]; // of this file and of place.json
    errors: number;
    warnings: number;
}

// A message of docs/PROTOCOL.md as JSON, and the tick it belongs to (0: an answer).
export interface ClientEvent {
    tick: number;
    message: {
        kind: string;
        feature: string;
        action: string;
        payload: Record<string, unknown>;
    };
}

export interface ClientConfig {
    ticket?: string;
    session_token?: string;
    playerId?: string;
    name?: string;
    resumeToken?: string;
    visibleMax?: number;
    scripts?: boolean;
    ownerFetches?: boolean;
    ownerVerifies?: boolean;
}

export interface Input {
    moveX: number;
    moveZ: number;
    yaw: number;
    pitch: number;
    buttons: number;
    turnSeen?: number; // how much of what scripts have turned is in this yaw
}

export type Triple = [number, number, number];

export interface Ray {
    from: Triple;
    to: Triple; // a direction of length 1
    distance: number; // at most
}

// Doubles in a row of clientMovers and clientShapes; bytes of a face of terrain.
export const ROW = 16;
export const PAINT_ROW = 8; // of clientPaints
export const QUAD_BYTES = 8;

const SIGNATURE_BYTES = 64;
const HASH_BYTES = 32;
const ERRNO_BADF = 8;
const ERRNO_NOSYS = 52;
const utf8 = new TextEncoder();
const text = new TextDecoder();

function exit(): never {
    throw new Error('core.wasm ended');
}

// The core asks nothing of the outside: whatever a C library would like to do cannot be done.
function noSystem(module: WebAssembly.Module): WebAssembly.Imports {
    const imports: Record<string, Record<string, () => number>> = {};
    for (const { module: space, name } of WebAssembly.Module.imports(module)) {
        const group = (imports[space] ??= {});
        group[name] = name === 'proc_exit' ? exit
            : name.startsWith('fd_') ? () => ERRNO_BADF : () => ERRNO_NOSYS;
    }
    return imports;
}

// A hash and what belongs to it, as one block.
function withHash(hash: string, data: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(HASH_BYTES + data.length);
    for (let i = 0; i < HASH_BYTES; i++) {
        bytes[i] = Number.parseInt(hash.slice(i * 2, i * 2 + 2), 16);
    }
    bytes.set(data, HASH_BYTES);
    return bytes;
}

// One instance of the module: its worlds and clients share a memory and nothing else.
export class Core {
    private readonly raw: Exports;

    private constructor(raw: Exports) {
        this.raw = raw;
    }

    static async load(module: WebAssembly.Module): Promise<Core> {
        const instance = await WebAssembly.instantiate(module, noSystem(module));
        const raw = instance.exports as unknown as Exports;
        raw._initialize();
        return new Core(raw);
    }

    createClient(config: ClientConfig): CoreClient {
        const handle = this.withText(JSON.stringify(config), (at, bytes) =>
            this.raw.clientCreate(at, bytes));
        if (handle === 0) {
            throw new Error(this.error());
        }
        return new CoreClient(this, this.raw, handle);
    }

    // The files of a place by path. Throws with file and line when they are no place.
    createWorld(files: Map<string, Uint8Array>): CoreWorld {
        const handle = this.withBytes(packFiles(files), (at, bytes) =>
            this.raw.loadScene(at, bytes));
        if (handle === 0) {
            throw new Error(this.error());
        }
        return new CoreWorld(this, this.raw, handle);
    }

    // The same from a place that is compiled already (StudioDocument.compile): of the files place.json and
    // the scripts are needed. `before` is the world that this one replaces, in this or another instance of the
    // module: its rows go along, and the runes of scripts that did not change. Runes run as they are, so they are
    // taken from there and from nowhere else.
    createCompiledWorld(files: Map<string, Uint8Array>, compiled: Uint8Array, before?: CoreWorld): CoreWorld {
        const kept = before?.keep() ?? new Uint8Array();
        const runes = before?.runes() ?? new Uint8Array();
        const packed = packFiles(files);
        const handle = this.withBytes(packed, (at) => this.withBytes(compiled, (compiledAt) =>
            this.withBytes(kept, (keptAt) => this.withBytes(runes, (runesAt) => this.raw.loadCompiled(at, packed.length,
                compiledAt, compiled.length, keptAt, kept.length, runesAt, runes.length)))));
        if (handle === 0) {
            throw new Error(this.error());
        }
        return new CoreWorld(this, this.raw, handle);
    }

    // What a build says about one Lua script of a place. Of the other files place.json is read, and
    // the names of the scripts; what is in those may be left out. Throws for a file that is no Lua.
    checkScript(path: string, files: Map<string, Uint8Array>): ScriptCheck {
        const source = files.get(path);
        if (source === undefined) {
            throw new Error(`there is no ${path}`);
        }
        const rest = [...files].filter(([name]) => name !== path).map(([name, data]) =>
            [name, name === 'place.json' ? data : new Uint8Array()] as const);
        return this.withBytes(packFiles(new Map([[path, source], ...rest])), (at, bytes) => {
            const answer = this.raw.checkScript(at, bytes);
            if (answer === 0) {
                throw new Error(`${path}: ${this.error()}`);
            }
            return this.takeJson(answer) as ScriptCheck;
        });
    }

    // The way in which it can unpack runes; 0: in none.
    packing(): number {
        return this.raw.packing();
    }

    memoryBytes(): number {
        return this.raw.memory.buffer.byteLength;
    }

    error(): string {
        return this.takeText(this.raw.errorText());
    }

    logLines(): string[] {
        const lines: string[] = [];
        for (let at = this.raw.logLine(); at !== 0; at = this.raw.logLine()) {
            lines.push(this.takeText(at));
        }
        return lines;
    }

    // --- for CoreClient and CoreWorld: what crosses the border is copied ---

    withBytes<T>(bytes: Uint8Array, use: (at: Address, count: number) => T): T {
        const at = this.raw.alloc(bytes.length + 1);
        if (at === 0) {
            throw new Error('out of memory');
        }
        new Uint8Array(this.raw.memory.buffer, at, bytes.length).set(bytes);
        try {
            return use(at, bytes.length);
        } finally {
            this.raw.release(at);
        }
    }

    withText<T>(value: string, use: (at: Address, count: number) => T): T {
        return this.withBytes(utf8.encode(value), use);
    }

    takeBytes(at: Address): Uint8Array<ArrayBuffer> {
        return new Uint8Array(this.raw.memory.buffer, at, this.raw.resultBytes()).slice();
    }

    takeNumbers(at: Address): Float64Array<ArrayBuffer> {
        return new Float64Array(this.takeBytes(at).buffer);
    }

    takeText(at: Address): string {
        return text.decode(new Uint8Array(this.raw.memory.buffer, at, this.raw.resultBytes()));
    }

    takeJson(at: Address): unknown {
        return JSON.parse(this.takeText(at));
    }
}

export class CoreClient {
    private readonly core: Core;
    private readonly raw: Exports;
    private readonly handle: Handle;

    constructor(core: Core, raw: Exports, handle: Handle) {
        this.core = core;
        this.raw = raw;
        this.handle = handle;
    }

    destroy(): void {
        this.raw.clientDestroy(this.handle);
    }

    connect(nowMs: number): void {
        this.raw.clientConnect(this.handle, nowMs);
    }

    // For the next handshake, should the resume token no longer be good.
    setTicket(ticket: string): void {
        this.core.withText(`${ticket}\0`, (at) => this.raw.clientSetTicket(this.handle, at));
    }

    receive(nowMs: number, message: Uint8Array): void {
        this.core.withBytes(message, (at, bytes) =>
            this.raw.clientReceive(this.handle, nowMs, at, bytes));
    }

    disconnected(): void {
        this.raw.clientDisconnected(this.handle);
    }

    // Every message that waits to be sent.
    outputs(): Uint8Array<ArrayBuffer>[] {
        const messages: Uint8Array<ArrayBuffer>[] = [];
        for (let at = this.raw.clientOutput(this.handle); at !== 0;
            at = this.raw.clientOutput(this.handle)) {
            messages.push(this.core.takeBytes(at));
            this.raw.clientOutputTake(this.handle);
        }
        return messages;
    }

    state(): number {
        return this.raw.clientState(this.handle);
    }

    closedReason(): string {
        return this.core.takeText(this.raw.clientClosedReason(this.handle));
    }

    // What a client that takes this one's place brings along (ClientConfig.resumeToken).
    resumeToken(): string {
        return this.core.takeText(this.raw.clientResumeToken(this.handle));
    }

    // The session ended because page and world are of different versions: loading the page again
    // may help, connecting again cannot.
    outdated(): boolean {
        return this.raw.clientOutdated(this.handle) !== 0;
    }

    // What is missing, the most urgent first.
    wants(most = 2002): Want[] {
        const at = this.raw.clientWants(this.handle, most);
        return at === 0 ? [] : this.core.takeJson(at) as Want[];
    }

    // A number that changes whenever wants() would give something else.
    wantsChange(): number {
        return this.raw.clientWantsChange(this.handle);
    }

    fetchProgress(): FetchProgress {
        return this.core.takeJson(this.raw.clientFetchProgress(this.handle)) as FetchProgress;
    }

    // What a cache had or a server sent for that hash. 0: kept. Otherwise it was damaged, and is
    // wanted once more (fromHost), or it is not missing (any more).
    giveFor(hash: string, data: Uint8Array): number {
        return this.core.withBytes(withHash(hash, data), (at, count) =>
            this.raw.clientGiveFor(this.handle, at, count));
    }

    // The page cannot fetch this one: the world is asked for it. False: it is not missing.
    fetchOneOverWire(hash: string): boolean {
        return this.core.withBytes(withHash(hash, new Uint8Array()), (at, count) =>
            this.raw.clientFetchOneOverWire(this.handle, at, count)) !== 0;
    }

    // Returns 0, or the status of the failure.
    give(bytes: Uint8Array): number {
        return this.core.withBytes(bytes, (at, count) =>
            this.raw.clientGive(this.handle, at, count));
    }

    // The rune of that hash, packed as Core.packing; the core checks the result.
    givePacked(hash: string, packed: Uint8Array): number {
        return this.core.withBytes(withHash(hash, packed), (at, count) =>
            this.raw.clientGivePacked(this.handle, at, count));
    }

    // A manifest that waits for the verdict of verified(); null: none does.
    proof(): Proof | null {
        const at = this.raw.clientProof(this.handle);
        if (at === 0) {
            return null;
        }
        const bytes = this.core.takeBytes(at);
        return {
            version: new DataView(bytes.buffer).getUint32(0, true),
            signature: bytes.slice(4, 4 + SIGNATURE_BYTES),
            text: bytes.slice(4 + SIGNATURE_BYTES),
        };
    }

    verified(version: number, good: boolean): void {
        this.raw.clientVerified(this.handle, version, good ? 1 : 0);
    }

    // What wants() lists cannot be brought: it is asked for over the wire.
    fetchOverWire(): void {
        this.raw.clientFetchOverWire(this.handle);
    }

    progress(): number {
        return this.raw.clientProgress(this.handle);
    }

    setInput(input: Input): void {
        this.raw.clientInput(this.handle, input.moveX, input.moveZ, input.yaw, input.pitch,
            input.buttons, input.turnSeen ?? 0);
    }

    update(nowMs: number): void {
        this.raw.clientUpdate(this.handle, nowMs);
    }

    // A command of docs/PROTOCOL.md; the number its answer will name.
    send(feature: string, action: string, payload: object): number {
        const message = JSON.stringify({ v: 2, kind: 'command', feature, action, payload });
        const seq = this.core.withText(message, (at, bytes) =>
            this.raw.clientSend(this.handle, at, bytes));
        if (seq === 0) {
            throw new Error(this.core.error());
        }
        return seq;
    }

    events(): ClientEvent[] {
        const list: ClientEvent[] = [];
        for (let at = this.raw.clientEvent(this.handle); at !== 0;
            at = this.raw.clientEvent(this.handle)) {
            list.push(this.core.takeJson(at) as ClientEvent);
        }
        return list;
    }

    movers(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientMovers(this.handle));
    }

    shapes(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientShapes(this.handle));
    }

    own(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientOwn(this.handle));
    }

    // What a ray meets first: distance, point, normal. Null: nothing that blocks.
    ray({ from, to, distance }: Ray): Float64Array<ArrayBuffer> | null {
        const at = this.raw.clientRay(this.handle, ...from, ...to, distance);
        return at === 0 ? null : this.core.takeNumbers(at);
    }

    // Where a piece of the catalogue would stand, and whether it may: rows of build_mode.ts. A piece
    // beyond the catalogue: only what is aimed at. Null: nothing is in reach there.
    buildAim({ from, to }: Ray, piece: number, turn: number): Float64Array<ArrayBuffer> | null {
        const at = this.raw.clientBuildAim(this.handle, ...from, ...to, piece, turn);
        return at === 0 ? null : this.core.takeNumbers(at);
    }

    // The same for a cube of voxels of that kind; 0 digs.
    digAim({ from, to }: Ray, edge: number, kind: number): Float64Array<ArrayBuffer> | null {
        const at = this.raw.clientDigAim(this.handle, ...from, ...to, edge, kind);
        return at === 0 ? null : this.core.takeNumbers(at);
    }

    hash(): bigint {
        return BigInt.asUintN(64, this.raw.clientHash(this.handle));
    }

    stats(): ClientStats {
        return this.core.takeJson(this.raw.clientStats(this.handle)) as ClientStats;
    }

    place(): Place | null {
        const at = this.raw.clientPlace(this.handle);
        return at === 0 ? null : this.core.takeJson(at) as Place;
    }

    parts(): Part[] {
        const parts: Part[] = [];
        for (;;) {
            const at = this.raw.clientParts(this.handle, parts.length);
            const page = at === 0 ? [] : this.core.takeJson(at) as Part[];
            if (page.length === 0) {
                return parts;
            }
            parts.push(...page);
        }
    }

    // A number that changes whenever paints() may give something else.
    paintVersion(): number {
        return this.raw.clientPaintVersion(this.handle);
    }

    // How things look that do not look as the scene has them, 8 numbers each (clientPaints).
    paints(): Float64Array<ArrayBuffer> {
        const pages: Float64Array<ArrayBuffer>[] = [];
        for (let count = 0; ;) {
            const page = this.core.takeNumbers(this.raw.clientPaints(this.handle, count / PAINT_ROW));
            if (page.length === 0) {
                break;
            }
            count += page.length;
            pages.push(page);
        }
        const all = new Float64Array(pages.reduce((sum, page) => sum + page.length, 0));
        pages.reduce((at, page) => (all.set(page, at), at + page.length), 0);
        return all;
    }

    hidden(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientHidden(this.handle));
    }

    // Another number whenever terrain has changed.
    terrainVersion(): number {
        return this.raw.clientTerrain(this.handle);
    }

    // Rows of four: x, y, z, version.
    chunks(): number[] {
        const rows: number[] = [];
        for (;;) {
            const page = this.core.takeNumbers(
                this.raw.clientChunks(this.handle, rows.length / 4));
            if (page.length === 0) {
                return rows;
            }
            rows.push(...page);
        }
    }

    chunkMesh(x: number, y: number, z: number): Uint8Array<ArrayBuffer> {
        return this.core.takeBytes(this.raw.clientChunkMesh(this.handle, x, y, z));
    }

    faults(): Fault[] {
        return this.core.takeJson(this.raw.clientFaults(this.handle)) as Fault[];
    }

    // Null: none run.
    costs(): ScriptCosts | null {
        const at = this.raw.clientCosts(this.handle);
        return at === 0 ? null : this.core.takeJson(at) as ScriptCosts;
    }

    // What scripts showed since the last call, the oldest first.
    shown(): Shown[] {
        const list: Shown[] = [];
        for (let at = this.raw.clientShown(this.handle); at !== 0;
            at = this.raw.clientShown(this.handle)) {
            const bytes = this.core.takeBytes(at);
            const view = new DataView(bytes.buffer);
            list.push({
                owner: Number(view.getBigUint64(0, true)),
                entity: Number(view.getBigUint64(8, true)),
                tree: bytes.length > 16 ? readValues(bytes.subarray(16))[0] ?? null : null,
            });
        }
        return list;
    }

    // Sounds that end by themselves, since the last call; to be asked after every update.
    sounds(): Sound[] {
        const list: Sound[] = [];
        for (let at = this.raw.clientSound(this.handle); at !== 0;
            at = this.raw.clientSound(this.handle)) {
            list.push(this.core.takeJson(at) as Sound);
        }
        return list;
    }

    // A number that changes with soundState.
    soundsChange(): number {
        return this.raw.clientSoundsChange(this.handle);
    }

    soundState(): SoundState {
        const at = this.raw.clientSounds(this.handle);
        const state = at === 0 ? { loops: [] } : this.core.takeJson(at) as Partial<SoundState>;
        return { loops: state.loops ?? [], music: state.music ?? null };
    }

    useWidget({ owner, entity, handler, typed }: WidgetUse): void {
        if (typed === null) {
            this.raw.clientWidget(this.handle, owner, entity, handler, 0, 0);
        } else {
            this.core.withText(typed, (at, bytes) =>
                this.raw.clientWidget(this.handle, owner, entity, handler, at, bytes));
        }
    }

    setKey(key: string, down: boolean): void {
        this.core.withText(key, (at, bytes) =>
            this.raw.clientKey(this.handle, at, bytes, down ? 1 : 0));
    }

    // The sky now, what stays with entities, what scripts here showed once since the last call, and what
    // they want of the camera; the rows are those of core/wasm/exports_sky.c.
    sky(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientSky(this.handle));
    }

    visuals(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientVisuals(this.handle));
    }

    moments(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientMoments(this.handle));
    }

    cameraWanted(): Float64Array<ArrayBuffer> {
        return this.core.takeNumbers(this.raw.clientCameraWanted(this.handle));
    }

    setCamera(position: readonly number[], forward: readonly number[]): void {
        const [x = 0, y = 0, z = 0] = position;
        const [fx = 0, fy = 0, fz = 1] = forward;
        this.raw.clientCamera(this.handle, x, y, z, fx, fy, fz);
    }
}

// A whole world in the same memory, without a server: the studio's preview.
export class CoreWorld {
    private readonly core: Core;
    private readonly raw: Exports;
    private readonly handle: Handle;

    constructor(core: Core, raw: Exports, handle: Handle) {
        this.core = core;
        this.raw = raw;
        this.handle = handle;
    }

    destroy(): void {
        this.raw.worldDestroy(this.handle);
    }

    // Throws with file and line, and nothing has changed. True: the world was made again, and every
    // connection is gone.
    applyDiff(diff: object | string): boolean {
        const json = typeof diff === 'string' ? diff : JSON.stringify(diff);
        const done = this.core.withText(json, (at, bytes) =>
            this.raw.applyDiff(this.handle, at, bytes));
        if (done < 0) {
            throw new Error(this.core.error());
        }
        return done === 1;
    }

    // What is changed, removed or added while it is played (local_host_edit). False: this cannot be done in place, and the
    // world has to be made anew.
    edit(diff: {
        entities?: object[]; removed?: number[]; given?: object[]; lost?: object[]; created?: object[]; spawns?: object[]; spawnsGone?: object[];
    }): boolean {
        const done = this.core.withText(JSON.stringify(diff), (at, bytes) =>
            this.raw.worldEdit(this.handle, at, bytes));
        if (done < 0) {
            throw new Error(this.core.error());
        }
        return done === 0;
    }

    // What a world that replaces this one begins with: its rows, and what scripts stored.
    keep(): Uint8Array<ArrayBuffer> {
        const at = this.raw.worldKeep(this.handle);
        if (at === 0) {
            throw new Error(this.core.error());
        }
        return this.core.takeBytes(at);
    }

    // Of its scripts, compiled; for createCompiledWorld alone.
    runes(): Uint8Array<ArrayBuffer> {
        const at = this.raw.worldRunes(this.handle);
        if (at === 0) {
            throw new Error(this.core.error());
        }
        return this.core.takeBytes(at);
    }

    scene(): Uint8Array<ArrayBuffer> {
        return this.core.takeBytes(this.raw.worldScene(this.handle));
    }

    tick(unixMs: number): void {
        this.raw.worldTick(this.handle, unixMs);
    }

    connect(connection: number): number {
        return this.raw.worldConnect(this.handle, connection, 0);
    }

    disconnect(connection: number): number {
        return this.raw.worldDisconnect(this.handle, connection);
    }

    message(connection: number, message: Uint8Array): number {
        return this.core.withBytes(message, (at, bytes) =>
            this.raw.worldMessage(this.handle, connection, at, bytes));
    }

    outputs(connection: number): Uint8Array<ArrayBuffer>[] {
        const messages: Uint8Array<ArrayBuffer>[] = [];
        for (let at = this.raw.worldOutput(this.handle, connection); at !== 0;
            at = this.raw.worldOutput(this.handle, connection)) {
            messages.push(this.core.takeBytes(at));
            this.raw.worldOutputTake(this.handle, connection);
        }
        return messages;
    }

    // A connection that the world is done with; 0: none.
    closing(): number {
        return this.raw.worldClosing(this.handle);
    }

    hash(): bigint {
        return BigInt.asUintN(64, this.raw.worldHash(this.handle));
    }

    stats(): WorldStats {
        return this.core.takeJson(this.raw.worldStats(this.handle)) as WorldStats;
    }

    faults(): Fault[] {
        return this.core.takeJson(this.raw.worldFaults(this.handle)) as Fault[];
    }

    // Null: it has no scripts.
    costs(): WorldCosts | null {
        const at = this.raw.worldCosts(this.handle);
        return at === 0 ? null : this.core.takeJson(at) as WorldCosts;
    }
}

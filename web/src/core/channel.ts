// What the page and its worker say to each other. The worker owns the connection and the client in
// WASM; the page owns the screen and the keys.
import type { Asset } from './asset.ts';
import type {
    ClientEvent, ClientStats, Diagnostic, Fault, Input, Part, Place, Ray, ScriptCosts, Shown, Sound,
    SoundState, WidgetUse,
} from './bridge.ts';
import type { CacheStats } from './cache.ts';
import type { Progress } from './download.ts';
import type { Language } from '../ui/languages.ts';

export interface Join {
    type: 'join';
    origin: string;
    room: string; // '': any
    place: string; // of which any world will do; '': the default place
    channel: string; // of that place; '': live
    name: string; // of a guest
    signedIn: boolean; // the browser has a cookie, and the name is the account's
    token: string; // of a guest who was here with this tab; '': none
    language: Language; // of what the worker says about the connection
}

export type ToWorker =
    | Join
    // Once for each picture; the answer is a frame.
    | { type: 'input'; input: Input; camera: number[]; rays: Rays }
    | { type: 'key'; key: string; down: boolean }
    | { type: 'costs'; wanted: boolean } // with the next stats, and all that follow
    | { type: 'widget'; use: WidgetUse } // of what scripts show
    | { type: 'command'; feature: string; action: string; payload: object }
    // The files of a place; the answer is `checked`. Nothing is joined or run for it.
    | { type: 'check'; files: Map<string, Uint8Array> }
    | { type: 'retry' } // not after the wait, but now
    | { type: 'network' } // it is back, or another one: what was connected may be dead
    | { type: 'leave' };

// Where joining stands. Only `playing` shows the world without anything before it.
export type Phase =
    | 'starting' | 'signing-in' | 'joining' | 'connecting' | 'fetching' | 'playing'
    | 'waiting' // the connection was lost; it is tried again
    | 'closed'; // for good

// What happened, where the page can offer more than to try again.
export type Trouble =
    | 'full' // the world has no room
    | 'paused' // the class of the place pauses
    | 'signedOut' // a sign-in has ended
    | 'stranger' // guests do not come in
    | 'replaced' // the same player came in elsewhere
    | 'core'; // the game itself could not be loaded

export interface Status {
    type: 'status';
    phase: Phase;
    text: string; // for people
    trouble?: Trouble;
    waitMs?: number; // until it is tried again by itself
}

// What the page asks the world about with each picture: how far back the camera can go, and what
// is looked at. Null: not wanted.
export interface Rays {
    back: Ray | null;
    aim: Ray | null;
    plan?: PlanWish | null; // of build mode, where `aim` goes
}

// A piece of the catalogue, or a cube of voxels.
export type PlanWish = { piece: number; turn: number } | { edge: number; kind: number };

export interface Frame {
    type: 'frame';
    own: Float64Array<ArrayBuffer>;
    movers: Float64Array<ArrayBuffer>;
    shapes: Float64Array<ArrayBuffer>;
    hidden: Float64Array<ArrayBuffer>;
    paints: Float64Array<ArrayBuffer> | null; // all of them, whenever one is another
    sky: Float64Array<ArrayBuffer>; // these four as bridge.ts has them
    visuals: Float64Array<ArrayBuffer>;
    moments: Float64Array<ArrayBuffer>;
    cameraWanted: Float64Array<ArrayBuffer>;
    free: number; // how far the ray back goes
    aim: Float64Array<ArrayBuffer> | null; // distance, point, normal
    plan: Float64Array<ArrayBuffer> | null; // what build mode would do there
}

export interface LinkStats {
    phase: Phase;
    connections: number; // since the page was opened
    hash: string; // of the client: for comparing builds
    atMs: number; // when the worker counted, by its own clock
    wasmBytes: number; // of memory that the core has
}

// What a build says about the Lua scripts of some files.
export interface Checked {
    type: 'checked';
    scripts: number;
    diagnostics: Diagnostic[];
    failure: string; // why it could not be found out; '': it was
}

export type FromWorker =
    | Status
    | { type: 'core'; have: number; bytes: number } // how much of the game itself has come
    | { type: 'downloads'; progress: Progress; cache: CacheStats }
    | Frame
    | { type: 'place'; place: Place; parts: Part[] } // another scene than before
    | { type: 'welcome'; player: number; resumed: boolean }
    | { type: 'room'; code: string; worldId: string; placeId: string; token: string } // there is a ticket for it
    | { type: 'assets'; assets: Asset[] } // of a place that is being made; no server has its list
    // After `closed`: page and world are of different versions.
    | { type: 'outdated' }
    | { type: 'nothing' } // the answer to an input while there is no scene
    | { type: 'chunk'; x: number; y: number; z: number; version: number;
        quads: Uint8Array<ArrayBuffer> }
    | { type: 'events'; events: ClientEvent[] }
    | { type: 'shown'; shown: Shown[] }
    | { type: 'sounds'; once: Sound[]; state: SoundState | null } // null: as before
    // Of client scripts: what failed, and what they printed.
    | { type: 'faults'; faults: Fault[] }
    | { type: 'log'; lines: string[] }
    | Checked
    | { type: 'stats'; stats: ClientStats; link: LinkStats; costs: ScriptCosts | null };

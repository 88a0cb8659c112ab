// What the page and its worker say to each other. The worker owns the connection and the client in
// WASM; the page owns the screen and the keys.
import type {
    ClientEvent, ClientStats, Diagnostic, Fault, Input, Part, Place, Ray, Shown, WidgetUse,
} from './bridge.ts';
import type { CacheStats } from './cache.ts';
import type { Progress } from './download.ts';

export interface Join {
    type: 'join';
    origin: string;
    room: string; // '': any
    place: string; // of which any world will do; '': the default place
    channel: string; // of that place; '': live
    name: string; // of a guest
    signedIn: boolean; // the browser has a cookie, and the name is the account's
}

export type ToWorker =
    | Join
    // Once for each picture; the answer is a frame.
    | { type: 'input'; input: Input; camera: number[]; rays: Rays }
    | { type: 'key'; key: string; down: boolean }
    | { type: 'widget'; use: WidgetUse } // of what scripts show
    | { type: 'command'; feature: string; action: string; payload: object }
    // The files of a place; the answer is `checked`. Nothing is joined or run for it.
    | { type: 'check'; files: Map<string, Uint8Array> }
    | { type: 'leave' };

// Where joining stands. Only `playing` shows the world without anything before it.
export type Phase =
    | 'starting' | 'signing-in' | 'joining' | 'connecting' | 'fetching' | 'playing'
    | 'waiting' // the connection was lost; it is tried again
    | 'closed'; // for good

export interface Status {
    type: 'status';
    phase: Phase;
    text: string; // for people
}

// What the page asks the world about with each picture: how far back the camera can go, and what
// is looked at. Null: not wanted.
export interface Rays {
    back: Ray | null;
    aim: Ray | null;
}

export interface Frame {
    type: 'frame';
    own: Float64Array<ArrayBuffer>;
    movers: Float64Array<ArrayBuffer>;
    shapes: Float64Array<ArrayBuffer>;
    hidden: Float64Array<ArrayBuffer>;
    free: number; // how far the ray back goes
    aim: Float64Array<ArrayBuffer> | null; // distance, point, normal
}

export interface LinkStats {
    phase: Phase;
    connections: number; // since the page was opened
    hash: string; // of the client: for comparing builds
    atMs: number; // when the worker counted, by its own clock
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
    | { type: 'downloads'; progress: Progress; cache: CacheStats }
    | Frame
    | { type: 'place'; place: Place; parts: Part[] } // another scene than before
    | { type: 'welcome'; player: number; resumed: boolean }
    | { type: 'room'; code: string } // there is a ticket for it
    // After `closed`: page and world are of different versions.
    | { type: 'outdated' }
    | { type: 'nothing' } // the answer to an input while there is no scene
    | { type: 'chunk'; x: number; y: number; z: number; version: number;
        quads: Uint8Array<ArrayBuffer> }
    | { type: 'events'; events: ClientEvent[] }
    | { type: 'shown'; shown: Shown[] }
    // Of client scripts: what failed, and what they printed.
    | { type: 'faults'; faults: Fault[] }
    | { type: 'log'; lines: string[] }
    | Checked
    | { type: 'stats'; stats: ClientStats; link: LinkStats };

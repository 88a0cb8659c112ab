// What the studio and the worker that plays a place say to each other. The screen, a game page in a
// frame, has a port of its own to the same worker and speaks core/channel.ts.
import type { ClientStats, WorldCosts } from '../../core/bridge.ts';
import type { Asset } from '../../core/asset.ts';
import type { SceneEdit } from './scene_edit.ts';

export interface LogLine {
    side: 'server' | 'client';
    level: 'info' | 'warn' | 'error';
    text: string;
}

export type ToPlay =
    | { type: 'start'; place: PlayPlace; name: string; placeId: string; port: MessagePort }
    | { type: 'screen'; port: MessagePort } // another one, for the same world
    | { type: 'assets'; assets: Asset[] }
    | { type: 'apply'; diff: PlayDiff }
    | { type: 'pause'; isPaused: boolean };

// What a world is made from.
export interface PlayPlace {
    files: Map<string, Uint8Array>;
    compiled: Uint8Array | null; // place and scene; null: they are compiled from the files
}

// local_host.h: everything is optional.
export interface PlayDiff {
    edit?: SceneEdit; // entities that were changed, to be done in place; nothing else then
    place?: PlayPlace; // all of it, if the world has to be made anew
    files?: Record<string, string | null>;
}

export interface PlayNumbers {
    tick: number;
    tickMs: number; // of one tick of the world on average, measured
    execMs: number; // of all scripts in one tick on average, by steps
    wasmBytes: number;
    costs: WorldCosts | null;
    client: ClientStats;
}

export type FromPlay =
    | { type: 'started'; loadMs: number } // the world runs
    | { type: 'playing'; ms: number } // and the player is in it
    | { type: 'failed'; message: string } // it could not start
    | { type: 'applied'; isRemade: boolean; ms: number }
    | { type: 'whole' } // an edit cannot be done in place; it needs all of the place
    | { type: 'refused'; message: string } // the world goes on as it was
    | { type: 'log'; lines: LogLine[] }
    | { type: 'numbers'; numbers: PlayNumbers }
    | { type: 'left' } // by the menu of the game
    | { type: 'ended'; message: string }; // the worker itself broke down

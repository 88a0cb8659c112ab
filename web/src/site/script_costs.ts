// What the scripts of a world cost, say and where they fail, as GET /api/worlds/<id>/scripts has it. Asked with
// `follow`, so a fault or a line is here at the end of the tick in which it happened.
import { Failure, get } from './api.ts';

export interface CostRow {
    path: string;
    state: string;
    calls: number;
    timeUs: number;
    timeMeanUs: number;
    timeP99Us: number;
    memoryBytes: number;
    faults: number;
}

export interface ScriptFault {
    number: number;
    path: string;
    file: string;
    kind: string;
    line: number;
    message: string;
}

export interface ClientFault {
    path: string;
    line: number;
    message: string;
    count: number;
}

export interface ScriptCosts {
    version: number;
    epoch: number;
    tick: number;
    scripts: CostRow[];
    entities: (CostRow & { entity: number })[];
    faults: ScriptFault[];
    lines: { number: number; level: string; text: string }[]; // what scripts printed, faults too
    clients: { faults: ClientFault[] };
}

const PAUSE_MS = 2000; // after a refusal, and while nobody looks

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

// Asks again and again until it is ended; `said` hears every answer and every failure.
export async function followScripts(world: string, ended: AbortSignal, said: (answer: ScriptCosts | Failure) => void):
Promise<void> {
    let after: number | null = null;
    while (!ended.aborted) {
        if (document.visibilityState !== 'visible') {
            await pause(PAUSE_MS);
            continue;
        }
        try {
            const way: string = after === null ? '' : `?follow=1&after=${after}`;
            const answer: ScriptCosts = await get<ScriptCosts>(`/api/worlds/${encodeURIComponent(world)}/scripts${way}`, ended);
            after = answer.version;
            said(answer);
        } catch (cause) {
            if (!(cause instanceof Failure)) {
                return; // ended
            }
            after = null;
            said(cause);
            await pause(Math.max(PAUSE_MS, cause.retryAfter * 1000));
        }
    }
}

// Where a place is played while it is made: in a worker of this browser (loadScene and applyDiff of
// core.wasm), or in a world of its draft on the server, where friends can join. Both are shown by the game
// page in a frame, so both look and feel as players will have them.
import { type Signal, signal } from '@preact/signals';

import type { Asset } from '../../core/asset.ts';
import { place } from './console.ts';
import type { FromPlay, PlayDiff, PlayNumbers, PlayPlace, ToPlay } from './play_channel.ts';
import { words } from './words_play.ts';

export type PlayMode = 'here' | 'server';
export type PlayState =
    | { kind: 'stopped' }
    | { kind: 'starting' }
    | { kind: 'playing' }
    | { kind: 'failed'; message: string };

export interface PlayWorker {
    postMessage(message: ToPlay, transfer?: Transferable[]): void;
    addEventListener(type: 'message', listener: (event: { data: FromPlay }) => void): void;
    addEventListener(type: 'error', listener: () => void): void;
    terminate(): void;
}

export interface BridgeEvents {
    log(message: Extract<FromPlay, { type: 'log' }>): void;
    note(level: 'info' | 'error', text: string): void;
    left(): void;
    whole(): void; // an edit cannot be done in the running world: it has to get everything
}

const startWorker = (): PlayWorker => new Worker(new URL('./play.worker.ts', import.meta.url), { type: 'module' });

export class ScriptBridge {
    readonly mode: Signal<PlayMode> = signal<PlayMode>('here');
    readonly state: Signal<PlayState> = signal<PlayState>({ kind: 'stopped' });
    readonly numbers: Signal<PlayNumbers | null> = signal<PlayNumbers | null>(null);
    startMs = 0; // from loadScene to the player being in the world, measured in the worker
    private worker: PlayWorker | null = null;
    private readonly events: BridgeEvents;
    private readonly start: () => PlayWorker;

    constructor(events: BridgeEvents, start: () => PlayWorker = startWorker) {
        this.events = events;
        this.start = start;
    }

    // Plays this place in a fresh worker. `screen` is the worker's end of the game page's port.
    loadScene(scene: PlayPlace, screen: MessagePort, who: { name: string; placeId: string }): void {
        this.stop();
        this.state.value = { kind: 'starting' };
        const worker = this.start();
        this.worker = worker;
        worker.addEventListener('message', ({ data }) => {
            if (this.worker === worker) {
                this.hear(data);
            }
        });
        worker.addEventListener('error', () => {
            if (this.worker === worker) {
                this.fail('the worker could not be started');
            }
        });
        worker.postMessage({ type: 'start', place: scene, port: screen, ...who }, [screen]);
    }

    // What was edited since; the world on the server gets it by the saved files.
    applyDiff(diff: PlayDiff): void {
        if (this.mode.value === 'here') {
            this.worker?.postMessage({ type: 'apply', diff });
        }
    }

    // Where the page that shows the game finds pictures, sounds and models.
    showAssets(assets: Asset[]): void {
        this.worker?.postMessage({ type: 'assets', assets });
    }

    pause(isPaused: boolean): void {
        this.worker?.postMessage({ type: 'pause', isPaused });
    }

    stop(): void {
        this.worker?.terminate();
        this.worker = null;
        this.numbers.value = null;
        this.state.value = { kind: 'stopped' };
    }

    private fail(message: string): void {
        this.worker?.terminate();
        this.worker = null;
        this.numbers.value = null;
        this.state.value = { kind: 'failed', message };
        this.events.note('error', message);
    }

    private hear(message: FromPlay): void {
        switch (message.type) {
            case 'started':
                performance.measure?.('sandlot.play.load', { start: performance.now() - message.loadMs, duration: message.loadMs });
                break;
            case 'playing':
                this.startMs = message.ms;
                this.state.value = { kind: 'playing' };
                break;
            case 'failed':
            case 'ended':
                this.fail(message.message);
                break;
            case 'refused':
                this.events.note('error', place(message.message, new Map(), []).file !== '' ? message.message
                    : words.notApplied(message.message.trim().replace(/[.]$/, '')));
                break;
            case 'log':
                this.events.log(message);
                break;
            case 'numbers':
                this.numbers.value = message.numbers;
                break;
            case 'left':
                this.events.left();
                break;
            case 'whole':
                this.events.whole();
                break;
            case 'applied':
                break;
        }
    }
}

// Build mode: what the player is about to build, remove, dig or fill, the ghost of it, and the ghosts
// of others. Loaded when it is first needed. The core says where it would stand and whether the world
// would allow it (clientBuildAim, clientDigAim); nothing here knows a rule.
import { signal } from '@preact/signals';

import type { Place, Triple } from '../core/bridge.ts';
import type { PlanWish, ToWorker } from '../core/channel.ts';
import type { laterWords } from '../ui/words_later.ts';
import { Ghosts } from './ghosts.ts';
import type { View } from './view.ts';

export type Tool = 'build' | 'remove' | 'dig' | 'fill';
export const EDGES = [1, 2, 3, 5]; // voxels along an edge of what is dug or filled

// Keys of build mode that cannot be chosen in the settings.
export const BUILD_KEY = 'KeyQ'; // back from another tool
export const TURN_KEY = 'KeyR';
export const MOUSE_KEY = 'KeyC'; // the pointer for the bar, and back

const REFUSAL_MS = 4000; // for which the world's answer is shown
const PREVIEW_MS = 300; // not more often, also when the aim moves
const PREVIEW_AGAIN_MS = 3000; // the world forgets it after five seconds
const FORGET_MS = 6000; // of others, should their end be lost

export type Reason = keyof typeof laterWords.build.reasons;
const REASONS: readonly (Reason | '')[] = ['', 'forbidden', 'far', 'blocked', 'unsupported', 'full',
    'outside', 'dead', 'noChange'];

// What the core said about the last picture.
export interface Plan {
    reason: Reason | ''; // '': the world would allow it
    min: Triple; // cells or voxels, both ends included
    max: Triple;
    target: number; // the structure that is aimed at; 0: none
    targetPiece: number;
    targetIsOwn: boolean;
}

export function readPlan(row: Float64Array): Plan {
    const [reason = 0, x = 0, y = 0, z = 0, toX = 0, toY = 0, toZ = 0, target = 0, piece = 0, own = 0] =
        row;
    return {
        reason: REASONS[reason] ?? 'blocked', min: [x, y, z], max: [toX, toY, toZ], target,
        targetPiece: piece, targetIsOwn: own === 1,
    };
}

type Payload = Record<string, unknown>;
type Send = (message: ToWorker) => void;

export class BuildMode {
    readonly isOpen = signal(false);
    readonly tool = signal<Tool>('build');
    readonly piece = signal(0);
    readonly turn = signal(0); // quarter turns
    readonly kind = signal(1); // of voxel, to fill with
    readonly edge = signal(1);
    readonly plan = signal<Plan | null>(null);
    readonly isAsking = signal(true); // about the tool that was just chosen
    readonly refusal = signal<{ text: string; number: number } | null>(null); // by the world, just now
    readonly place: Place;
    private readonly send: Send;
    private readonly ghosts: Ghosts;
    private previewed = ''; // what others were told last
    private previewedMs = -Infinity;
    private refusals = 0;
    private asked: Tool | null = null; // what the next answer is about
    private readonly others = new Map<string, number>(); // ghosts of others, and until when

    constructor(place: Place, view: View, send: Send) {
        this.place = place;
        this.send = send;
        this.ghosts = new Ghosts(place);
        view.attach(this.ghosts.group);
        this.tool.value = this.tools()[0] ?? 'build';
        this.tool.subscribe(() => this.forget()); // it is another tool's
    }

    private forget(): void {
        this.asked = null;
        this.isAsking.value = true;
        this.plan.value = null;
        this.refusal.value = null;
    }

    // The place has changed: nothing of this one is used again.
    close(): void {
        this.setOpen(false);
        this.ghosts.dispose();
    }

    // What the place allows.
    tools(): Tool[] {
        return [
            ...this.place.build && this.place.pieces.length > 0 ? ['build', 'remove'] as const : [],
            ...this.place.terraform ? ['dig', 'fill'] as const : [],
        ];
    }

    setOpen(open: boolean): void {
        this.isOpen.value = open;
        if (!open) {
            this.forget();
            this.ghosts.remove('own');
            this.tellOthers(null, 0);
        }
    }

    // What the core is asked with the next picture.
    wish(): PlanWish | null {
        if (!this.isOpen.value) {
            return null;
        }
        this.asked = this.tool.value;
        switch (this.asked) {
            case 'build':
                return { piece: this.piece.value, turn: this.turn.value };
            case 'remove':
                return { piece: this.place.pieces.length, turn: 0 };
            case 'dig':
                return { edge: this.edge.value, kind: 0 };
            case 'fill':
                return { edge: this.edge.value, kind: this.kind.value };
        }
    }

    // With each picture: what the core answered.
    update(row: Float64Array | null, nowMs: number): void {
        for (const [key, until] of this.others) {
            if (nowMs > until) {
                this.ghosts.remove(key);
                this.others.delete(key);
            }
        }
        if (!this.isOpen.value || this.asked === null) {
            return;
        }
        this.isAsking.value = false;
        const plan = row === null ? null : readPlan(row);
        this.plan.value = plan;
        if (plan === null || (this.tool.value === 'remove' && plan.target === 0)) {
            this.ghosts.remove('own');
            this.tellOthers(null, nowMs);
        } else if (this.tool.value === 'remove') {
            this.ghosts.mark('own', plan.target, plan.targetIsOwn);
        } else {
            this.ghosts.show('own', plan.min, plan.max, plan.reason === '' ? 'good' : 'bad',
                this.tool.value === 'build' ? this.piece.value : -1);
            this.tellOthers(plan.reason === '' ? plan : null, nowMs);
        }
    }

    // Where the structure that is aimed at stands, for its mark.
    findShapes(rows: Float64Array): void {
        this.ghosts.findMarked(rows);
    }

    ghostList(): object[] {
        return this.ghosts.list();
    }

    rotate(by = 1): void {
        this.turn.value = (this.turn.value + by + 4) % 4;
    }

    // The next or the one before of what the tool chooses from.
    choose(by: number): void {
        const next = (value: number, count: number): number => (value + by + count) % count;
        switch (this.tool.value) {
            case 'build':
                this.piece.value = next(this.piece.value, this.place.pieces.length);
                break;
            case 'fill':
                this.kind.value = 1 + next(this.kind.value - 1, Math.max(1, this.place.voxelKinds.length));
                break;
            case 'dig':
                this.edge.value = EDGES[next(EDGES.indexOf(this.edge.value), EDGES.length)] ?? 1;
                break;
            case 'remove':
                break;
        }
    }

    nextTool(): void {
        const tools = this.tools();
        this.tool.value = tools[(tools.indexOf(this.tool.value) + 1) % tools.length] ?? 'build';
    }

    // Builds, removes, digs or fills; the world answers with a sentence if it may not be.
    use(): void {
        const plan = this.plan.value;
        if (plan === null) {
            return;
        }
        switch (this.tool.value) {
            case 'build':
                this.command('build', 'place',
                    { piece: this.piece.value, cell: plan.min, turn: this.turn.value });
                break;
            case 'remove':
                this.remove();
                break;
            case 'dig':
            case 'fill':
                this.command('voxel', 'terraform', {
                    shape: 1, min: plan.min, max: plan.max,
                    voxelKind: this.tool.value === 'dig' ? 0 : this.kind.value,
                });
                break;
        }
        this.previewed = '';
    }

    // The world's answer to what was tried, in its words.
    refuse(text: string): void {
        const number = ++this.refusals;
        this.refusal.value = { text, number };
        setTimeout(() => {
            if (this.refusal.value?.number === number) {
                this.refusal.value = null;
            }
        }, REFUSAL_MS);
    }

    // Whatever the tool: takes down what is aimed at.
    remove(): void {
        const target = this.plan.value?.target ?? 0;
        if (target !== 0) {
            this.command('build', 'remove', { entityId: target });
        }
    }

    // Keys of build mode; true: it was one.
    key(code: string): boolean {
        const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1];
        if (digit !== undefined) {
            const at = Number(digit) - 1;
            if (this.tool.value === 'fill' && at < this.place.voxelKinds.length) {
                this.kind.value = at + 1;
            } else if (at < this.place.pieces.length && this.tools().includes('build')) {
                this.tool.value = 'build';
                this.piece.value = at;
            }
            return true;
        }
        switch (code) {
            case BUILD_KEY:
                this.tool.value = this.tools()[0] ?? this.tool.value;
                return true;
            case TURN_KEY:
                this.rotate();
                return true;
            case 'KeyX':
                this.remove();
                return true;
            case 'BracketLeft':
            case 'BracketRight': {
                const at = EDGES.indexOf(this.edge.value) + (code === 'BracketLeft' ? -1 : 1);
                this.edge.value = EDGES[at] ?? this.edge.value;
                return true;
            }
            default:
                return false;
        }
    }

    // Frees the pointer for the bar, or takes it back.
    isMouseKey(code: string): boolean {
        return code === MOUSE_KEY;
    }

    // --- others ---

    hear(action: string, payload: Payload, nowMs: number): void {
        const key = `${action} ${String(payload.player)}`;
        if (payload.active !== true) {
            this.ghosts.remove(key);
            this.others.delete(key);
            return;
        }
        this.others.set(key, nowMs + FORGET_MS);
        if (action === 'build.previewed') {
            this.ghosts.showPiece(key, Number(payload.piece), payload.cell as Triple,
                Number(payload.turn));
        } else if (Number(payload.shape) === 2) {
            const radius = Number(payload.radius);
            const centre = payload.centre as Triple;
            this.ghosts.show(key, centre.map((v) => Math.floor(v - radius)) as Triple,
                centre.map((v) => Math.floor(v + radius)) as Triple, 'other', -1);
        } else {
            const min = payload.min as Triple;
            this.ghosts.show(key, min, Number(payload.shape) === 0 ? min : payload.max as Triple,
                'other', -1);
        }
    }

    private tellOthers(plan: Plan | null, nowMs: number): void {
        const now = plan === null ? ''
            : JSON.stringify([this.tool.value, this.piece.value, this.turn.value, plan.min, plan.max]);
        const sinceMs = nowMs - this.previewedMs;
        if (plan === null) {
            if (this.previewed.includes('build')) {
                this.command('build', 'preview', { active: false, piece: 0, cell: [0, 0, 0], turn: 0 });
            }
            this.previewed = '';
        } else if (sinceMs > PREVIEW_AGAIN_MS || (now !== this.previewed && sinceMs > PREVIEW_MS)) {
            this.previewed = now;
            this.previewedMs = nowMs;
            if (this.tool.value === 'build') {
                this.command('build', 'preview', {
                    active: true, piece: this.piece.value, cell: plan.min, turn: this.turn.value,
                });
            } else {
                this.command('voxel', 'terraform', {
                    shape: 1, min: plan.min, max: plan.max, preview: true,
                    voxelKind: this.tool.value === 'dig' ? 0 : this.kind.value,
                });
            }
        }
    }

    private command(feature: string, action: string, payload: object): void {
        this.send({ type: 'command', feature, action, payload });
    }
}

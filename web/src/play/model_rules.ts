// What a page makes of a model: how large it is drawn, which of its movements belongs to which pose, and
// how much of one it takes. Without the drawing, so that it is tested by itself.

import type { Moving } from './poses.ts';

export const MODEL_TRIANGLES_MAX = 50_000; // of one model
export const MODEL_PICTURES_MAX = 16;
export const MODEL_MESHES_MAX = 32; // each is a call to the graphics card
export const DRAWN_TRIANGLES_MAX = 1_000_000; // of all models that stand in the world
export const MOVED_MAX = 48; // with a skeleton, or that move: each is a mesh of its own

export type Triple = [number, number, number];
export type Pose = 'idle' | 'walk' | 'run' | 'jump' | 'fall' | 'dead';

const WALK_MS = 0.3; // m/s
const RUN_MS = 6;

// What a body does, as the core says of its motion.
export function poseOf({ speed, rise, stands, climbs, dead }: Moving): Pose {
    if (dead) {
        return 'dead';
    }
    if (!stands && !climbs) {
        return rise > 0 ? 'jump' : 'fall';
    }
    return speed > RUN_MS ? 'run' : speed > WALK_MS || (climbs && Math.abs(rise) > WALK_MS) ? 'walk'
        : 'idle';
}

// Other names of a pose in the order of how well they do, then poses that stand for it.
const CLIPS: Record<Pose, readonly string[]> = {
    idle: ['idle', 'stand', 'survey'],
    walk: ['walk', 'walking', 'run', 'idle'],
    run: ['run', 'running', 'walk', 'walking', 'idle'],
    jump: ['jump', 'jumping', 'fall', 'idle'],
    fall: ['fall', 'falling', 'jump', 'idle'],
    dead: ['dead', 'death', 'die', 'idle'],
};

// Programs write "Armature|Walk" and "CharacterArmature|Walk_Loop".
const plain = (name: string): string =>
    name.replace(/^.*\|/, '').replace(/[_.\- ]*(loop|anim|action|\d+)$/i, '').toLowerCase();

// Which of the clips shows that pose; -1: none does.
export function clipFor(names: readonly string[], pose: Pose): number {
    const known = names.map(plain);
    for (const wanted of CLIPS[pose]) {
        const at = known.indexOf(wanted);
        if (at >= 0) {
            return at;
        }
    }
    return -1;
}

const ANY = 1e9;

// How large something may be, half of it: a character's model is as high as its body, and may be as wide
// as it likes, arms spread out.
export const roomFor = (half: Triple, isCharacter: boolean): Triple =>
    isCharacter ? [ANY, half[1], ANY] : half;

// A model may have been made in metres, inches or anything else. It is made larger or smaller by the same
// factor along all edges until it just fits into the thing's size, stands on its bottom, and is in the
// middle of it. Returns the factor and where the model's origin comes to be.
export function fitModel(low: Triple, high: Triple, half: Triple): { scale: number; at: Triple } {
    const size = high.map((value, axis) => value - (low[axis] ?? 0));
    const factors = size.map((value, axis) =>
        value > 1e-6 ? (half[axis] ?? 0) * 2 / value : Infinity);
    const least = Math.min(...factors);
    const scale = Number.isFinite(least) ? least : 1;
    const [x = 0, y = 0, z = 0] = low.map((value, axis) => (value + (high[axis] ?? 0)) / -2 * scale);
    return { scale, at: [x, y - half[1] + (size[1] ?? 0) / 2 * scale, z] };
}

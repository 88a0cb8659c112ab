// Sounds of bodies, found in what the page draws anyway: steps, jumps, landings, shots.
import { ROW, type Triple } from '../core/bridge.ts';
import type { MadeSound } from './sound_made.ts';

const KIND_PROJECTILE = 3;
const FLAG_GROUNDED = 1;
const STEP_M = 1.9;
const STEPS_HEARD_M = 24;
const JUMP_SPEED = 2;
const LAND_SPEED = 4;
const WALK_SPEED = 0.8;

type Play = (name: MadeSound, p: Triple, volume: number) => void;

interface Feet {
    walked: number; // since the last step
    stands: boolean;
    falls: number; // how fast, in the last picture
}

export class BodySounds {
    private readonly play: Play;
    private feet = new Map<number, Feet>();
    private shots = new Set<number>();
    private isNew = true; // what is here when one comes is no news

    constructor(play: Play) {
        this.play = play;
    }

    reset(): void {
        this.feet.clear();
        this.shots.clear();
        this.isNew = true;
    }

    update(own: Float64Array, movers: Float64Array, seconds: number): void {
        const [present = 0, ownId = 0, x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, , , , stands = 0] = own;
        const feet = new Map<number, Feet>();
        const shots = new Set<number>();
        if (present !== 0) {
            feet.set(ownId, this.walk(ownId, [x, y, z], Math.hypot(vx, vz), vy, (stands & 1) !== 0,
                seconds, true));
        }
        for (let at = 0; at < movers.length; at += ROW) {
            const [id = 0, , kind = 0, px = 0, py = 0, pz = 0, sx = 0, sy = 0, sz = 0, , , flags = 0] =
                movers.subarray(at, at + ROW);
            const p: Triple = [px, py, pz];
            if (kind === KIND_PROJECTILE) {
                shots.add(id);
                if (!this.shots.has(id) && !this.isNew) {
                    this.play('shot', p, 0.3);
                }
            } else if (id !== ownId && Math.hypot(px - x, py - y, pz - z) < STEPS_HEARD_M) {
                feet.set(id, this.walk(id, p, Math.hypot(sx, sz), sy, (flags & FLAG_GROUNDED) !== 0,
                    seconds, false));
            }
        }
        this.feet = feet;
        this.shots = shots;
        this.isNew = false;
    }

    private walk(id: number, p: Triple, speed: number, rise: number, stands: boolean, seconds: number,
        isOwn: boolean): Feet {
        const before = this.feet.get(id);
        if (before === undefined) {
            return { walked: 0, stands, falls: -rise };
        }
        if (before.stands && !stands && rise > JUMP_SPEED) {
            this.play('jump', p, isOwn ? 0.2 : 0.12);
        } else if (!before.stands && stands && before.falls > LAND_SPEED) {
            this.play('land', p, isOwn ? 0.25 : 0.15);
        }
        const walked = stands && speed > WALK_SPEED ? before.walked + speed * seconds : 0;
        if (walked >= STEP_M) {
            this.play('step', p, isOwn ? 0.16 : 0.2);
        }
        return { walked: walked % STEP_M, stands, falls: -rise };
    }
}

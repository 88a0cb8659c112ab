// How a body holds its limbs: idle, walk, jump, fall and climb are blended by what the core says of its
// motion, so that none of them begins with a jerk. Angles in radians; forward is negative pitch.
export interface Pose {
    walk: number; // shares of each way to move, 0..1
    jump: number;
    fall: number;
    climb: number;
    crouch: number;
    phase: number; // of the stride, or of the hands on a ladder
    breath: number; // of standing about
}

export interface Moving {
    speed: number; // along the ground, m/s
    rise: number; // m/s, up is above zero
    stands: boolean;
    climbs: boolean;
    crouches: boolean;
    dead: boolean;
}

export interface Limbs {
    legs: [number, number]; // pitch, left and right
    arms: [number, number];
    spread: number; // how far the arms are from the body
    lean: number; // of the whole body, forward
    bob: number; // share of its height that it rises
}

const BLEND_A_SECOND = 12;
const WALK_FULL = 4; // m/s at which one strides fully
const RISE_FULL = 3;
const STRIDES = 2.6; // radians for each metre
const RUNGS = 3.2;
const CROUCH_LEGS = 0.85; // so far apart that the feet stay on the ground although the body is lower
const CROUCH_BOB = 0.13;

export const newPose = (seed = 0): Pose =>
    ({ walk: 0, jump: 0, fall: 0, climb: 0, crouch: 0, phase: 0, breath: seed });

const limit = (value: number): number => Math.max(0, Math.min(1, value));

// Goes on by so many seconds.
export function poseStep(pose: Pose, moving: Moving, seconds: number): void {
    const { speed, rise, stands, climbs, crouches, dead } = moving;
    const inAir = !stands && !climbs && !dead;
    const share = 1 - Math.exp(-BLEND_A_SECOND * seconds);
    const blend = (now: number, wanted: number): number => now + (wanted - now) * share;
    pose.walk = blend(pose.walk, stands && !dead ? limit(speed / WALK_FULL) : 0);
    pose.climb = blend(pose.climb, climbs && !dead ? 1 : 0);
    pose.crouch = blend(pose.crouch, crouches && stands && !dead ? 1 : 0);
    pose.jump = blend(pose.jump, inAir ? limit(0.35 + rise / RISE_FULL) : 0);
    pose.fall = blend(pose.fall, inAir ? limit(-rise / RISE_FULL - 0.35) : 0);
    pose.phase = (pose.phase + (climbs ? Math.abs(rise) * RUNGS : speed * STRIDES) * seconds)
        % (Math.PI * 2);
    pose.breath = (pose.breath + seconds * 1.6) % (Math.PI * 2);
}

export function poseLimbs({ walk, jump, fall, climb, crouch, phase, breath }: Pose): Limbs {
    const swing = Math.sin(phase);
    const still = limit(1 - walk - jump - fall - climb);
    const leg = (side: number): number =>
        side * swing * 0.8 * walk + jump * (side < 0 ? -0.9 : 0.35) + fall * side * 0.3
        + climb * (-0.5 - side * swing * 0.5) + crouch * side * CROUCH_LEGS;
    const arm = (side: number): number =>
        -side * swing * 0.7 * walk - jump * 0.5 - fall * (0.5 + side * Math.sin(breath * 5) * 0.25)
        - climb * (2.5 - side * swing * 0.45) - crouch * 0.6;
    return {
        legs: [leg(-1), leg(1)],
        arms: [arm(-1), arm(1)],
        spread: 0.1 + still * Math.sin(breath) * 0.035 + jump * 0.5 + fall * 1.5,
        lean: walk * 0.07 + jump * 0.06 - fall * 0.08 + crouch * 0.3,
        bob: walk * Math.abs(Math.cos(phase)) * 0.018 - still * Math.sin(breath) * 0.002
            - crouch * CROUCH_BOB,
    };
}

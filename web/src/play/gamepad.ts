// A gamepad with the browser's standard mapping, read with each picture: in the world it walks, looks
// and presses buttons; while a menu is open it moves the focus in it.
import { CROUCH, FIRE, JUMP, RUN, USE, actionBit, type Controls } from './controls.ts';
import { device } from './device.ts';
import { menuBack, menuMove, menuPress, menuRoot } from './pad_menu.ts';
import { readPads } from './pads.ts';

export type PadCommand = 'menu' | 'overlay' | 'camera' | 'dig' | 'fill' | 'focus' | 'build' | 'build-tool' |
    'build-turn' | 'build-next' | 'build-before' | 'build-remove';

// Places in Gamepad.buttons.
const A = 0, B = 1, X = 2, Y = 3, LB = 4, RB = 5, LT = 6, RT = 7, BACK = 8, START = 9, L3 = 10, R3 = 11;
const UP = 12, DOWN = 13, LEFT = 14, RIGHT = 15;

const DEAD = 0.18; // sticks that nobody touches are seldom at zero
const PRESSED = 0.4; // of a trigger
const STEER = 0.6; // of the stick, in menus
const REPEAT_FIRST_MS = 400;
const REPEAT_MS = 120;

const OWN: readonly (readonly [number, number])[] =
    [[A, JUMP], [B, CROUCH], [X, USE], [RT, FIRE], [LB, RUN]];
const COMMANDS: readonly (readonly [number, PadCommand])[] =
    [[START, 'menu'], [BACK, 'overlay'], [R3, 'camera'], [Y, 'focus']];
const BUILDING: readonly (readonly [number, PadCommand])[] =
    [[UP, 'build-turn'], [RIGHT, 'build-next'], [DOWN, 'build-tool'], [LEFT, 'build-before'],
        [LT, 'build-remove']];
const TERRAIN: readonly (readonly [number, PadCommand])[] = [[LT, 'dig'], [RB, 'fill']];
// For the place's own actions, in their order. Where nobody digs or builds, more buttons are free.
const ACTIONS = [UP, RIGHT, DOWN, LEFT];
const DIG_BUTTONS = [LT, RB];

// Without the dead zone: its edge is 0, the rim is 1. A pad that says nonsense is at rest.
export function stickOf(x: number, y: number): [number, number] {
    const size = Math.hypot(x, y);
    if (!(size > DEAD)) {
        return [0, 0];
    }
    const part = Math.min((size - DEAD) / (1 - DEAD), 1) / size;
    return [x * part, y * part];
}

export class GamepadReader {
    terraforms = false; // the place lets one dig
    builds = false; // there is a build mode
    isBuilding = false; // it is open, and has the d-pad and LT
    private readonly controls: Controls;
    private readonly command: (command: PadCommand) => void;
    private down: ReadonlySet<number> = new Set();
    private fresh: ReadonlySet<number> = new Set(); // those pressed since the last picture
    private waiting: ReadonlySet<number> = new Set(); // held since a menu was open
    private repeatMs = 0;

    constructor(controls: Controls, command: (command: PadCommand) => void) {
        this.controls = controls;
        this.command = command;
    }

    poll(nowMs: number): void {
        const pad = readPads()?.find((each) =>
            each?.connected === true && each.mapping === 'standard');
        if (pad === undefined || pad === null) {
            this.controls.pad.release();
            this.down = new Set();
            return;
        }
        const down = new Set(pad.buttons.flatMap(({ pressed, value }, at) =>
            pressed || value > PRESSED ? [at] : []));
        this.fresh = new Set([...down].filter((at) => !this.down.has(at)));
        this.down = down;
        const axes = [0, 1, 2, 3].map((at) => pad.axes[at] ?? 0);
        const walk = stickOf(axes[0] ?? 0, axes[1] ?? 0);
        const look = stickOf(axes[2] ?? 0, axes[3] ?? 0);
        if (this.fresh.size > 0 || [...walk, ...look].some((value) => value !== 0)) {
            device.value = 'pad';
        }
        const root = menuRoot();
        if (root !== null) {
            this.waiting = down; // what chose something in a menu does nothing in the world
            this.controls.pad.release();
            this.menu(root, walk, nowMs);
        } else {
            this.waiting = new Set([...this.waiting].filter((at) => down.has(at)));
            this.world(walk, look);
        }
    }

    private world(walk: [number, number], look: [number, number]): void {
        const actions = this.isBuilding ? []
            : [...ACTIONS, ...this.builds ? [] : [L3], ...this.terraforms ? [] : DIG_BUTTONS];
        const all = [...OWN, ...actions.map((at, action) => [at, actionBit(action)] as const)];
        const buttons = all.reduce((bits, [at, bit]) =>
            bits | (this.down.has(at) && !this.waiting.has(at) ? bit : 0), 0);
        const { pad } = this.controls;
        pad.moveX = walk[0];
        pad.moveZ = -walk[1];
        pad.turnX = look[0] * Math.abs(look[0]); // fine near the middle
        pad.turnY = look[1] * Math.abs(look[1]);
        pad.hold(~0, buttons);
        const commands = [...COMMANDS, ...this.builds ? [[L3, 'build'] as const] : [],
            ...this.isBuilding ? BUILDING : this.terraforms ? TERRAIN : []];
        for (const [at, command] of commands) {
            if (this.fresh.has(at)) {
                this.command(command);
            }
        }
    }

    private menu(root: Element, [x, y]: [number, number], nowMs: number): void {
        const steer = (button: number, value: number): boolean =>
            this.down.has(button) || value > STEER;
        const step = (steer(DOWN, y) ? 1 : 0) - (steer(UP, -y) ? 1 : 0);
        const side = (steer(RIGHT, x) ? 1 : 0) - (steer(LEFT, -x) ? 1 : 0);
        if (step === 0 && side === 0) {
            this.repeatMs = 0;
        } else if (this.repeatMs === 0 || nowMs >= this.repeatMs) {
            this.repeatMs = nowMs + (this.repeatMs === 0 ? REPEAT_FIRST_MS : REPEAT_MS);
            menuMove(root, step, side);
        }
        if (this.fresh.has(A)) {
            menuPress(root);
        } else if (this.fresh.has(B) || this.fresh.has(START)) {
            menuBack(root);
        }
    }
}

// Keys, mouse, touch and gamepad, as the input of a tick. Movement is by the place of a key, not by its
// letter, so that other keyboards walk with the same fingers.
import { signal } from '@preact/signals';

import type { Input } from '../core/bridge.ts';
import { device } from './device.ts';
import { actionKey, settings, type KeyAction } from './settings.ts';

export const JUMP = 1;
export const RUN = 2;
export const FIRE = 4;
export const USE = 8;
export const CROUCH = 0x8000;
// The place's own buttons, in the order of `actions` in place.json, follow Use.
export const actionBit = (action: number): number => (USE << 1) << action;

const TURN_PER_PIXEL = 0.0024;
const TURN_PER_TOUCH_PIXEL = 0.006; // a thumb's way is shorter than a mouse's
const TURN_PER_SECOND = 2.8; // of a stick at its rim
const PITCH_MAX = Math.PI / 2 - 0.02;

// Beside those of the settings.
const ALSO: Partial<Record<KeyAction, string>> = {
    forward: 'ArrowUp', back: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight', run: 'ShiftRight',
};

// A key for something on the page that has the focus, not for the world.
const isTyping = ({ target }: Event): boolean =>
    target instanceof Element && target.closest('#screen') !== null;

// What a device other than keys and mouse holds now.
export class Held {
    moveX = 0; // -1 to 1
    moveZ = 0;
    turnX = 0; // to the right, -1 to 1
    turnY = 0; // down
    buttons = 0;
    private readonly change: (pressed: number) => void;

    constructor(change: (pressed: number) => void) {
        this.change = change;
    }

    // Of the buttons in `mask`, those in `bits` are down now.
    hold(mask: number, bits: number): void {
        const before = this.buttons;
        this.buttons = (before & ~mask) | (bits & mask);
        if (this.buttons !== before) {
            this.change(this.buttons & ~before);
        }
    }

    release(): void {
        this.moveX = this.moveZ = this.turnX = this.turnY = 0;
        this.hold(~0, 0);
    }
}

export class Controls {
    yaw = 0;
    pitch = -0.12;
    turnSeen = 0; // how much of what scripts have turned is in yaw
    active = false; // the world is shown, and keys are for it
    actions: readonly string[] = []; // the place's own
    onKey: (code: string, down: boolean) => void = () => {};
    onRelease: () => void = () => {}; // the window lost the keys
    onWheel: (steps: number) => void = () => {};
    takesKey: (code: string) => boolean = () => false; // a key that is not for the world
    takesFire: (() => void) | null = null; // what a press of Fire does instead, and of the second
    takesSecond: (() => void) | null = null; // button of the mouse
    onButtons: () => void = () => {}; // touch or gamepad: other buttons are down than before
    readonly used = signal(0); // which of FIRE and USE do something here: there is a weapon, or a script asks
    readonly runs = signal(false); // with the setting that a press is enough
    readonly crouches = signal(false); // likewise
    readonly touch = new Held((pressed) => this.held(pressed));
    readonly pad = new Held((pressed) => this.held(pressed));
    private readonly down = new Set<string>();
    private firing = false;
    private readonly canvas: HTMLCanvasElement;

    constructor(canvas: HTMLCanvasElement) {
        this.canvas = canvas;
        addEventListener('keydown', (event) => this.key(event, true));
        addEventListener('keyup', (event) => this.key(event, false));
        // Whatever was held when the window lost its keys is not held any more.
        for (const [target, event] of [[window, 'blur'], [document, 'visibilitychange']] as const) {
            target.addEventListener(event, () => {
                this.release();
                this.onRelease();
            });
        }
        document.addEventListener('pointerlockchange', () => {
            if (!this.isLocked()) {
                this.firing = false;
            }
        });
        canvas.addEventListener('mousedown', (event) => this.press(event));
        addEventListener('mouseup', (event) => {
            this.firing = event.button === 0 ? false : this.firing;
        });
        addEventListener('mousemove', (event) => {
            if (this.active && this.isLocked()) {
                this.look(event.movementX * TURN_PER_PIXEL, event.movementY * TURN_PER_PIXEL);
            }
        });
        canvas.addEventListener('wheel', (event) => {
            if (this.active && event.deltaY !== 0) {
                this.onWheel(Math.sign(event.deltaY));
            }
        }, { passive: true });
        canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    }

    isLocked(): boolean {
        return document.pointerLockElement === this.canvas;
    }

    // The mouse looks around, or is a pointer again.
    switchMouse(): true {
        if (this.isLocked()) {
            document.exitPointerLock();
        } else {
            this.lock();
        }
        return true;
    }

    input(): Input {
        const held = (action: KeyAction): number =>
            this.down.has(settings.value.keys[action]) || this.down.has(ALSO[action] ?? '') ? 1 : 0;
        const others = this.touch.buttons | this.pad.buttons;
        const runs = settings.value.toggleRun ? this.runs.value
            : held('run') === 1 || (others & RUN) !== 0;
        const crouches = settings.value.toggleCrouch ? this.crouches.value
            : held('crouch') === 1 || (others & CROUCH) !== 0;
        const buttons = this.actions.reduce(
            (bits, name, at) => bits | (this.down.has(actionKey(name, at)) ? actionBit(at) : 0),
            (held('jump') === 1 ? JUMP : 0) | (runs ? RUN : 0) | (crouches ? CROUCH : 0) |
            (this.firing ? FIRE : 0) | (held('use') === 1 ? USE : 0));
        // A gamepad has more buttons than a place.
        const known = (actionBit(this.actions.length) - 1) & (this.takesFire === null ? ~0 : ~FIRE);
        const add = (...parts: number[]): number =>
            Math.max(-1, Math.min(1, parts.reduce((sum, part) => sum + part)));
        return {
            moveX: add(held('right'), -held('left'), this.touch.moveX, this.pad.moveX),
            moveZ: add(held('forward'), -held('back'), this.touch.moveZ, this.pad.moveZ),
            yaw: this.yaw,
            pitch: this.pitch,
            buttons: buttons | (others & known & ~RUN),
            turnSeen: this.turnSeen,
        };
    }

    // Sticks turn for as long as they are held.
    step(seconds: number): void {
        for (const { turnX, turnY } of [this.touch, this.pad]) {
            this.look(turnX * TURN_PER_SECOND * seconds, turnY * TURN_PER_SECOND * seconds);
        }
    }

    // A finger was moved by so many pixels.
    drag(x: number, y: number): void {
        this.look(x * TURN_PER_TOUCH_PIXEL, y * TURN_PER_TOUCH_PIXEL);
    }

    // Scripts have turned the player by so much since it came; 0 in a new world.
    turn(total: number): void {
        this.yaw += total === 0 ? 0 : total - this.turnSeen;
        this.turnSeen = total;
    }

    release(): void {
        const held = [...this.down];
        this.down.clear();
        this.firing = false;
        this.touch.release();
        this.pad.release();
        for (const code of held) {
            this.onKey(code, false);
        }
    }

    private held(pressed: number): void {
        this.runs.value = this.runs.value !== ((pressed & RUN) !== 0);
        this.crouches.value = this.crouches.value !== ((pressed & CROUCH) !== 0);
        if ((pressed & FIRE) !== 0) {
            this.takesFire?.();
        }
        this.onButtons();
    }

    private key(event: KeyboardEvent, down: boolean): void {
        if (this.active && down && event.code === 'Escape' && isTyping(event) &&
            event.target instanceof HTMLElement) {
            event.target.blur(); // back to the world
            return;
        }
        if (!this.active || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) {
            return;
        }
        // What the key means to the browser must not happen to what the key opens.
        if (/^(Tab|Space|Enter|Escape|Slash|Arrow.*|F2)$/.test(event.code) ||
            Object.values(settings.value.keys).includes(event.code)) {
            event.preventDefault();
        }
        if (event.repeat || (down && this.takesKey(event.code))) {
            return;
        }
        if (down) {
            this.runs.value = this.runs.value !== this.is('run', event.code);
            this.crouches.value = this.crouches.value !== this.is('crouch', event.code);
            this.down.add(event.code);
        } else {
            this.down.delete(event.code);
        }
        this.onKey(event.code, down);
    }

    is(action: KeyAction, code: string): boolean {
        return settings.value.keys[action] === code || ALSO[action] === code;
    }

    private press(event: MouseEvent): void {
        // Browsers send what a mouse would have done after each touch.
        if (!this.active || device.value === 'touch') {
            return;
        }
        if (event.button === 2 && this.isLocked()) {
            this.takesSecond?.();
        }
        if (event.button !== 0) {
            return;
        }
        if (this.isLocked()) {
            this.firing = this.takesFire === null;
            this.takesFire?.();
            return;
        }
        this.lock();
    }

    // The browser may refuse, shortly after the lock was left for instance.
    private lock(): void {
        const asked = this.canvas.requestPointerLock() as Promise<void> | undefined;
        asked?.catch(() => {});
    }

    // To the right and down, in radians before the player's setting.
    private look(right: number, down: number): void {
        const { sensitivity, invert } = settings.value;
        this.yaw -= right * sensitivity;
        this.pitch -= down * sensitivity * (invert ? -1 : 1);
        this.yaw -= Math.floor(this.yaw / (2 * Math.PI)) * 2 * Math.PI;
        this.pitch = Math.max(-PITCH_MAX, Math.min(PITCH_MAX, this.pitch));
    }
}

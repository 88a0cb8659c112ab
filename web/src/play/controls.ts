// Keys and mouse, as the input of a tick. Movement is by the place of a key, not by its letter, so
// that other keyboards walk with the same fingers.
import type { Input } from '../core/bridge.ts';
import { settings, type KeyAction } from './settings.ts';

const JUMP = 1;
const RUN = 2;
const FIRE = 4;
const USE = 8;
const TURN_PER_PIXEL = 0.0024;
const PITCH_MAX = Math.PI / 2 - 0.02;

// Beside those of the settings.
const ALSO: Partial<Record<KeyAction, string>> = {
    forward: 'ArrowUp', back: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight', run: 'ShiftRight',
};
// For the place's own buttons, in the order of `actions` in place.json; they follow USE.
const ACTIONS = ['KeyQ', 'KeyR', 'KeyT', 'KeyZ', 'KeyX', 'KeyC', 'KeyB', 'KeyY', 'KeyH', 'KeyJ', 'KeyK',
    'KeyL'];

// A key for something on the page that has the focus, not for the world.
const isTyping = ({ target }: Event): boolean =>
    target instanceof Element && target.closest('#screen') !== null;

export class Controls {
    yaw = 0;
    pitch = -0.12;
    turnSeen = 0; // how much of what scripts have turned is in yaw
    active = false; // the world is shown, and keys are for it
    actionCount = 0;
    onKey: (code: string, down: boolean) => void = () => {};
    onRelease: () => void = () => {}; // the window lost the keys
    private readonly down = new Set<string>();
    private firing = false;
    private runs = false; // with the setting that a press is enough
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
        addEventListener('mousemove', (event) => this.look(event));
        canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    }

    isLocked(): boolean {
        return document.pointerLockElement === this.canvas;
    }

    input(): Input {
        const held = (action: KeyAction): number =>
            this.down.has(settings.value.keys[action]) || this.down.has(ALSO[action] ?? '') ? 1 : 0;
        const runs = settings.value.toggleRun ? this.runs : held('run') === 1;
        const buttons = ACTIONS.slice(0, this.actionCount).reduce(
            (bits, code, at) => bits | (this.down.has(code) ? (USE << 1) << at : 0),
            (held('jump') === 1 ? JUMP : 0) | (runs ? RUN : 0) |
            (this.firing ? FIRE : 0) | (held('use') === 1 ? USE : 0));
        return {
            moveX: held('right') - held('left'),
            moveZ: held('forward') - held('back'),
            yaw: this.yaw,
            pitch: this.pitch,
            buttons,
            turnSeen: this.turnSeen,
        };
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
        for (const code of held) {
            this.onKey(code, false);
        }
    }

    private key(event: KeyboardEvent, down: boolean): void {
        if (!this.active || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) {
            return;
        }
        // What the key means to the browser must not happen to what the key opens.
        if (/^(Tab|Space|Enter|Escape|Slash|Arrow.*|F2)$/.test(event.code) ||
            Object.values(settings.value.keys).includes(event.code)) {
            event.preventDefault();
        }
        if (event.repeat) {
            return;
        }
        if (down) {
            this.runs = this.runs !== this.is('run', event.code);
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
        if (!this.active || event.button !== 0) {
            return;
        }
        if (this.isLocked()) {
            this.firing = true;
            return;
        }
        // The browser may refuse, shortly after the lock was left for instance.
        const asked = this.canvas.requestPointerLock() as Promise<void> | undefined;
        asked?.catch(() => {});
    }

    private look(event: MouseEvent): void {
        if (!this.active || !this.isLocked()) {
            return;
        }
        const { sensitivity, invert } = settings.value;
        const turn = TURN_PER_PIXEL * sensitivity;
        this.yaw -= event.movementX * turn;
        this.pitch -= event.movementY * turn * (invert ? -1 : 1);
        this.yaw -= Math.floor(this.yaw / (2 * Math.PI)) * 2 * Math.PI;
        this.pitch = Math.max(-PITCH_MAX, Math.min(PITCH_MAX, this.pitch));
    }
}

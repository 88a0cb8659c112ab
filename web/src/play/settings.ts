// What a player chose, remembered by the browser. Where that is forbidden (a private window), it holds
// until the page is closed.
import { effect, signal } from '@preact/signals';

const KEY = 'sandlot.settings';

export type KeyAction =
    | 'forward' | 'back' | 'left' | 'right' | 'jump' | 'run' | 'use' | 'dig' | 'fill' | 'camera'
    | 'chat' | 'focus' | 'overlay';

export const DEFAULT_KEYS: Record<KeyAction, string> = {
    forward: 'KeyW', back: 'KeyS', left: 'KeyA', right: 'KeyD', jump: 'Space', run: 'ShiftLeft',
    use: 'KeyE', dig: 'KeyF', fill: 'KeyG', camera: 'KeyV', chat: 'Enter', focus: 'F2', overlay: 'Tab',
};

// Where the touch controls are: the stick at the left, at the right, or everything for one thumb.
export const TOUCH_LAYOUTS = ['right-handed', 'left-handed', 'one-right', 'one-left'] as const;
export type TouchLayout = typeof TOUCH_LAYOUTS[number];

export interface Settings {
    textSize: number; // 1 to 2
    sensitivity: number; // 0.25 to 4
    invert: boolean;
    toggleRun: boolean;
    touch: TouchLayout;
    camera: 'first' | 'third';
    quality: 'auto' | 'low' | 'high';
    theme: 'system' | 'light' | 'dark';
    keys: Record<KeyAction, string>; // by KeyboardEvent.code
}

export const DEFAULTS: Settings = {
    textSize: 1, sensitivity: 1, invert: false, toggleRun: false, touch: 'right-handed',
    camera: 'third', quality: 'auto', theme: 'system', keys: DEFAULT_KEYS,
};

const within = (value: unknown, low: number, high: number, otherwise: number): number =>
    typeof value === 'number' && value >= low && value <= high ? value : otherwise;
const oneOf = <T extends string>(value: unknown, all: readonly T[], otherwise: T): T =>
    all.find((each) => each === value) ?? otherwise;

function readKeys(value: unknown): Record<KeyAction, string> {
    const kept = typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
    return Object.fromEntries(Object.entries(DEFAULT_KEYS).map(([action, code]) => {
        const own = kept[action];
        return [action, typeof own === 'string' && /^[A-Za-z0-9]{1,24}$/.test(own) ? own : code];
    })) as Record<KeyAction, string>;
}

// What the browser kept, member by member: an older page's, another one's, or nonsense.
export function readSettings(text: string | null): Settings {
    let kept: Record<string, unknown>;
    try {
        kept = JSON.parse(text ?? '{}') as Record<string, unknown> | null ?? {};
    } catch {
        kept = {};
    }
    return {
        textSize: within(kept.textSize, 1, 2, 1),
        sensitivity: within(kept.sensitivity, 0.25, 4, 1),
        invert: kept.invert === true,
        toggleRun: kept.toggleRun === true,
        touch: oneOf(kept.touch, TOUCH_LAYOUTS, 'right-handed'),
        camera: oneOf(kept.camera, ['first', 'third'], 'third'),
        quality: oneOf(kept.quality, ['auto', 'low', 'high'], 'auto'),
        theme: oneOf(kept.theme, ['system', 'light', 'dark'], 'system'),
        keys: readKeys(kept.keys),
    };
}

function stored(): string | null {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

export const settings = signal<Settings>(DEFAULTS);

export const change = (some: Partial<Settings>): void => {
    settings.value = { ...settings.value, ...some };
};

// A key has one action: what had it before gets the key that is free now.
export function bindKey(action: KeyAction, code: string): void {
    const keys = { ...settings.value.keys };
    const before = (Object.keys(keys) as KeyAction[]).find((each) => keys[each] === code);
    if (before !== undefined) {
        keys[before] = keys[action];
    }
    keys[action] = code;
    change({ keys });
}

// Called once, by the page.
export function openSettings(): void {
    settings.value = readSettings(stored());
    effect(() => {
        const text = JSON.stringify(settings.value);
        try {
            localStorage.setItem(KEY, text);
        } catch {
            // It holds until the page is closed.
        }
    });
    effect(() => {
        const { textSize, theme } = settings.value;
        document.documentElement.style.setProperty('--text', String(textSize));
        document.documentElement.dataset.theme = theme;
    });
}

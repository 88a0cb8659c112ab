// What a player chose, remembered by the browser. Where that is forbidden (a private window), it holds
// until the page is closed.
import { effect, signal } from '@preact/signals';

import { QUALITIES, type QualityChoice } from './quality.ts';
import { LANGUAGES, type Language } from '../ui/languages.ts';

const KEY = 'sandlot.settings';

export type KeyAction =
    | 'forward' | 'back' | 'left' | 'right' | 'jump' | 'run' | 'crouch' | 'use' | 'dig' | 'fill' | 'camera'
    | 'build' | 'chat' | 'focus' | 'overlay';

export const DEFAULT_KEYS: Record<KeyAction, string> = {
    forward: 'KeyW', back: 'KeyS', left: 'KeyA', right: 'KeyD', jump: 'Space', run: 'ShiftLeft', crouch: 'KeyZ',
    use: 'KeyE', dig: 'KeyF', fill: 'KeyG', camera: 'KeyV', build: 'KeyB',
    chat: 'Enter', focus: 'F2', overlay: 'Tab',
};

// Where the touch controls are: the stick at the left, at the right, or everything for one thumb.
export const TOUCH_LAYOUTS = ['right-handed', 'left-handed', 'one-right', 'one-left'] as const;
export type TouchLayout = typeof TOUCH_LAYOUTS[number];

export interface Settings {
    textSize: number; // 1 to 2
    sensitivity: number; // 0.25 to 4
    invert: boolean;
    toggleRun: boolean; // a press begins it, and the next one ends it
    toggleCrouch: boolean;
    touch: TouchLayout;
    camera: 'first' | 'third';
    quality: QualityChoice;
    language: Language;
    teamNames: boolean; // for those who do not tell the colours apart
    theme: 'system' | 'light' | 'dark';
    volume: number; // of everything, 0 to 1
    musicVolume: number;
    effectsVolume: number;
    ownSounds: boolean; // steps and the like, which the page makes
    captions: boolean;
    keys: Record<KeyAction, string>; // by KeyboardEvent.code
    actionKeys: Record<string, string>; // the same, for actions of places, by name
}

export const DEFAULTS: Settings = {
    textSize: 1, sensitivity: 1, invert: false, toggleRun: false, toggleCrouch: false,
    touch: 'right-handed', camera: 'third', quality: 'auto', language: 'en', teamNames: false, theme: 'system',
    volume: 0.8, musicVolume: 0.7, effectsVolume: 1, ownSounds: true, captions: false,
    keys: DEFAULT_KEYS,
    actionKeys: {},
};

// For a place's own actions, in the order of place.json, where the player chose no others.
const ACTION_KEYS = ['KeyQ', 'KeyR', 'KeyT', 'KeyX', 'KeyC', 'KeyY', 'KeyH', 'KeyJ', 'KeyK',
    'KeyL', 'KeyN'];
const ACTION_KEYS_MAX = 200; // remembered, of all places'


const within = (value: unknown, low: number, high: number, otherwise: number): number =>
    typeof value === 'number' && value >= low && value <= high ? value : otherwise;
const oneOf = <T extends string>(value: unknown, all: readonly T[], otherwise: T): T =>
    all.find((each) => each === value) ?? otherwise;

const membersOf = (value: unknown): Record<string, unknown> =>
    typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
const isCode = (value: unknown): value is string =>
    typeof value === 'string' && /^[A-Za-z0-9]{1,24}$/.test(value);

function readKeys(value: unknown): Record<KeyAction, string> {
    const kept = membersOf(value);
    return Object.fromEntries(Object.entries(DEFAULT_KEYS).map(([action, code]) => {
        const own = kept[action];
        return [action, isCode(own) ? own : code];
    })) as Record<KeyAction, string>;
}

const readActionKeys = (value: unknown): Record<string, string> =>
    Object.fromEntries(Object.entries(membersOf(value))
        .filter((entry): entry is [string, string] => isCode(entry[1])).slice(-ACTION_KEYS_MAX));

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
        toggleCrouch: kept.toggleCrouch === true,
        touch: oneOf(kept.touch, TOUCH_LAYOUTS, 'right-handed'),
        camera: oneOf(kept.camera, ['first', 'third'], 'third'),
        quality: oneOf(kept.quality, QUALITIES, 'auto'),
        language: oneOf(kept.language, Object.keys(LANGUAGES) as Language[], 'en'),
        teamNames: kept.teamNames === true,
        theme: oneOf(kept.theme, ['system', 'light', 'dark'], 'system'),
        volume: within(kept.volume, 0, 1, DEFAULTS.volume),
        musicVolume: within(kept.musicVolume, 0, 1, DEFAULTS.musicVolume),
        effectsVolume: within(kept.effectsVolume, 0, 1, DEFAULTS.effectsVolume),
        ownSounds: kept.ownSounds !== false,
        captions: kept.captions === true,
        keys: readKeys(kept.keys),
        actionKeys: readActionKeys(kept.actionKeys),
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

// The key of the action that is the `at`th of its place.
export const actionKey = (name: string, at: number): string =>
    settings.value.actionKeys[name] ?? ACTION_KEYS[at] ?? '';

// One of the page's own, or one of a place's actions.
export type Bound = { own: KeyAction } | { place: string; at: number };

export const keyOf = (bound: Bound): string =>
    'own' in bound ? settings.value.keys[bound.own] : actionKey(bound.place, bound.at);

// A key has one meaning: what had it before, also of this place's actions, gets the key that is
// free now.
export function bindKey(bound: Bound, code: string, places: readonly string[] = []): void {
    const free = keyOf(bound);
    const all: Bound[] = [
        ...(Object.keys(DEFAULT_KEYS) as KeyAction[]).map((own) => ({ own })),
        ...places.map((place, at) => ({ place, at })),
    ];
    const before = all.find((each) => keyOf(each) === code);
    const keys = { ...settings.value.keys };
    const actionKeys = { ...settings.value.actionKeys };
    const set = (each: Bound, key: string): void => {
        if ('own' in each) {
            keys[each.own] = key;
        } else {
            actionKeys[each.place] = key;
        }
    };
    if (before !== undefined) {
        set(before, free);
    }
    set(bound, code);
    change({ keys, actionKeys });
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

// As it stands on the key: KeyW is W, ShiftLeft is Shift Left.
export const keyName = (code: string): string =>
    code.replace(/^(Key|Digit)/, '').replace(/^(Shift|Control|Alt)Left$/, '$1').replace(/([a-z])([A-Z0-9])/g, '$1 $2');

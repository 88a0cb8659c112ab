// The controls on a touch screen: a stick that walks, the rest of the screen to look around, and
// buttons, those of the place's own actions too. For one thumb the stick walks and turns, and a walk
// ahead at full tilt goes on after the thumb has left it for a button.
import { useSignal } from '@preact/signals';
import type { JSX, TargetedPointerEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import type { Place } from '../../core/bridge.ts';
import { words } from '../../ui/words.ts';
import type { BuildMode } from '../build_mode.ts';
import { CROUCH, FIRE, JUMP, RUN, USE, actionBit, type Controls } from '../controls.ts';
import { settings } from '../settings.ts';
import './touch.css';

const REACH = 56; // pixels from the stick's middle to full tilt
const FULL = 0.95; // of it runs
const SHOWN_MAX = 4; // of the place's actions and digging; the rest is behind a button

type Pointer = TargetedPointerEvent<HTMLElement>;

interface Drag {
    start?: (event: Pointer) => void;
    move?: (x: number, y: number) => void; // since the last one
    end?: () => void;
}

interface DragHandlers {
    onPointerDown: (event: Pointer) => void;
    onPointerMove: (event: Pointer) => void;
    onLostPointerCapture: (event: Pointer) => void;
}

// Handlers that follow the first finger on an element, wherever it goes, until it leaves the screen.
function useDrag({ start, move, end }: Drag): DragHandlers {
    const finger = useRef<{ id: number; x: number; y: number } | null>(null);
    return {
        onPointerDown: (event) => {
            if (finger.current !== null || event.target !== event.currentTarget) {
                return;
            }
            event.preventDefault();
            event.currentTarget.setPointerCapture(event.pointerId);
            finger.current = { id: event.pointerId, x: event.clientX, y: event.clientY };
            start?.(event);
        },
        onPointerMove: (event) => {
            const last = finger.current;
            if (last?.id === event.pointerId) {
                finger.current = { id: last.id, x: event.clientX, y: event.clientY };
                move?.(event.clientX - last.x, event.clientY - last.y);
            }
        },
        onLostPointerCapture: (event) => {
            if (finger.current?.id === event.pointerId) {
                finger.current = null;
                end?.();
            }
        },
    };
}

interface Tilt {
    x: number; // pixels from the middle
    y: number;
    middle: [number, number] | null; // where the finger came down, in the stick's half
}

// What the stick says to the controls. `x` and `y` are at most 1, down and right.
function tilt({ touch }: Controls, x: number, y: number, isOneHanded: boolean): void {
    touch.moveX = isOneHanded ? 0 : x;
    touch.turnX = isOneHanded ? x * Math.abs(x) : 0;
    touch.moveZ = -y;
    if (!settings.value.toggleRun) {
        touch.hold(RUN, Math.hypot(x, y) >= FULL ? RUN : 0);
    }
}

function Stick({ controls, onTouch }: { controls: Controls; onTouch: () => void }): JSX.Element {
    const now = useSignal<Tilt>({ x: 0, y: 0, middle: null });
    const far = useRef({ x: 0, y: 0 }); // where the finger is, also beyond the rim
    const isOneHanded = settings.value.touch.startsWith('one');
    const drag = useDrag({
        start: (event) => {
            const box = event.currentTarget.getBoundingClientRect();
            far.current = { x: 0, y: 0 };
            now.value = { x: 0, y: 0, middle: [event.clientX - box.x, event.clientY - box.y] };
            tilt(controls, 0, 0, isOneHanded);
            onTouch();
        },
        move: (dx, dy) => {
            const { x, y } = far.current = { x: far.current.x + dx, y: far.current.y + dy };
            const part = Math.min(1, REACH / Math.hypot(x, y));
            now.value = { ...now.value, x: x * part, y: y * part };
            if (controls.active) {
                tilt(controls, now.value.x / REACH, now.value.y / REACH, isOneHanded);
            }
        },
        end: () => {
            const goesOn = isOneHanded && controls.active && now.value.y < -FULL * REACH;
            now.value = { x: 0, y: goesOn ? -REACH : 0, middle: null };
            tilt(controls, 0, now.value.y / REACH, isOneHanded);
        },
    });
    const { x, y, middle } = now.value;
    return (
        <div class="touch-stick" {...drag}>
            <div class="touch-ring" style={middle === null ? {}
                : { inset: 'auto', left: `${middle[0] - REACH}px`, top: `${middle[1] - REACH}px` }}>
                <div class="touch-knob" style={{ transform: `translate(${x}px, ${y}px)` }} />
            </div>
        </div>
    );
}

function HoldButton({ text, kind = '', pressed, hold, move }: {
    text: string; kind?: string; pressed?: boolean; hold: (down: boolean) => void;
    move?: (x: number, y: number) => void;
}): JSX.Element {
    const isDown = useSignal(false);
    const set = (down: boolean): void => {
        isDown.value = down;
        hold(down);
    };
    const drag = useDrag({
        start: () => set(true), end: () => set(false), ...(move === undefined ? {} : { move }),
    });
    return (
        <button type="button" tabIndex={-1} class={`button ${kind} ${isDown.value ? 'down' : ''}`}
            {...(pressed === undefined ? {} : { 'aria-pressed': pressed })} {...drag}>{text}</button>
    );
}

export function TouchControls({ controls, place, build, onDig, onTouch }: {
    controls: Controls; place: Place; build: BuildMode | null; onDig: (take: boolean) => void;
    onTouch: () => void;
}): JSX.Element {
    const isBuilding = build?.isOpen.value === true;
    const isMore = useSignal(false);
    useEffect(() => () => controls.touch.release(), []);
    // What scripts show at the bottom stands above the buttons, however many lines they take (touch.css).
    const buttons = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        const root = document.documentElement;
        const watch = new ResizeObserver(() =>
            root.style.setProperty('--buttons', `${buttons.current?.offsetHeight ?? 0}px`));
        if (buttons.current !== null) {
            watch.observe(buttons.current);
        }
        return () => {
            watch.disconnect();
            root.style.removeProperty('--buttons');
        };
    }, []);
    const turn = (x: number, y: number): void => {
        if (controls.active) {
            controls.drag(x, y);
        }
    };
    const look = useDrag({ start: onTouch, move: turn });
    const press = (bit: number) => (down: boolean): void =>
        controls.touch.hold(bit, down ? bit : 0);
    const once = (act: () => void) => (down: boolean): void => {
        if (down) {
            act();
        }
    };
    const more = isBuilding ? [] : [
        ...place.actions.map((text, at) => ({ text, hold: press(actionBit(at)) })),
        ...place.terraform ? [
            { text: words.keys.dig, hold: once(() => onDig(true)) },
            { text: words.keys.fill, hold: once(() => onDig(false)) },
        ] : [],
        {
            text: words.keys.crouch, hold: press(CROUCH),
            ...settings.value.toggleCrouch ? { pressed: controls.crouches.value } : {},
        },
    ];
    return (
        <div class={`touch ${settings.value.touch}`} {...look}
            onContextMenu={(event) => event.preventDefault()}>
            <Stick controls={controls} onTouch={onTouch} />
            <div ref={buttons} class="touch-buttons" role="group" aria-label={words.touch.label}>
                <HoldButton text={words.keys.jump} kind="large" hold={press(JUMP)} />
                {(isBuilding || (controls.used.value & FIRE) !== 0) && (
                    <HoldButton text={isBuilding ? words.build.use[build.tool.value] : words.touch.fire} kind="large"
                        hold={press(FIRE)} move={turn} />
                )}
                {(controls.used.value & USE) !== 0 && (
                    <HoldButton text={words.keys.use} hold={press(USE)} />
                )}
                {settings.value.toggleRun && (
                    <HoldButton text={words.keys.run} pressed={controls.runs.value}
                        hold={press(RUN)} />
                )}
                {more.slice(0, isMore.value ? more.length : SHOWN_MAX).map((each, at) => (
                    <HoldButton key={at} {...each} />
                ))}
                {more.length > SHOWN_MAX && (
                    <HoldButton text={isMore.value ? words.touch.less : words.touch.more}
                        hold={once(() => { isMore.value = !isMore.value; })} />
                )}
            </div>
        </div>
    );
}

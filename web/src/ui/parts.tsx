// The parts that menus are made of. Colours and sizes are those of style.css: everything that can be
// pressed is at least 44 pixels high, and texts grow with the setting.
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

import { words } from './words.ts';

interface ButtonProps {
    children: ComponentChildren;
    onClick: () => void;
    quiet?: boolean;
    disabled?: boolean;
    label?: string; // for those who hear the page, if the button has only a sign
    pressed?: boolean; // of one that switches something on and off
}

export function Button({ children, onClick, quiet = false, disabled = false, label, pressed }:
ButtonProps): JSX.Element {
    return (
        <button type="button" class={quiet ? 'button quiet' : 'button'} disabled={disabled}
            {...(label === undefined ? {} : { 'aria-label': label })}
            {...(pressed === undefined ? {} : { 'aria-pressed': pressed })} onClick={onClick}>
            {children}
        </button>
    );
}

const ICONS = {
    menu: 'M3 5h14M3 10h14M3 15h14',
    chat: 'M3 4h14v9H9l-4 4v-4H3z',
    up: 'M3 9h3v8H3zM6 9l4-7c2 0 2.5 1 2 3l-.5 3H17l-1.5 9H6',
    down: 'M3 11h3V3H3zM6 11l4 7c2 0 2.5-1 2-3l-.5-3H17L15.5 3H6',
    star: 'M10 2.5l2.3 4.9 5.2.7-3.8 3.7.9 5.3L10 14.5l-4.6 2.6.9-5.3L2.5 8.1l5.2-.7z',
    build: 'M3 12h6v5H3zM11 12h6v5h-6zM7 6h6v6H7z',
};

export function Icon({ name, filled = false }: {
    name: keyof typeof ICONS; filled?: boolean;
}): JSX.Element {
    return (
        <svg viewBox="0 0 20 20" width="22" height="22" fill={filled ? 'currentColor' : 'none'} stroke="currentColor"
            stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden>
            <path d={ICONS[name]} />
        </svg>
    );
}

// A window over the game. The rest of the page is out of reach while it is open; Escape closes it, and
// what had the focus gets it back.
export function Dialog({ title, onClose, children }: {
    title: string; onClose: () => void; children: ComponentChildren;
}): JSX.Element {
    const dialog = useRef<HTMLDialogElement>(null);
    const heading = useId();
    useLayoutEffect(() => {
        const before = document.activeElement;
        const element = dialog.current;
        element?.showModal();
        return () => {
            element?.close(); // while it is open, nothing outside can have the focus
            if (before instanceof HTMLElement) {
                before.focus();
                if (before.closest('#screen') !== null) {
                    before.blur(); // over the world of a game the keys walk again
                }
            }
        };
    }, []);
    return (
        <dialog ref={dialog} class="dialog" aria-labelledby={heading} onCancel={(event) => {
            event.preventDefault();
            onClose();
        }}>
            <header>
                <h2 id={heading}>{title}</h2>
                <Button quiet label={words.menu.close} onClick={onClose}>✕</Button>
            </header>
            {children}
        </dialog>
    );
}

export function Slider({ label, value, min, max, step, shown, onChange }: {
    label: string; value: number; min: number; max: number; step: number; shown: string;
    onChange: (value: number) => void;
}): JSX.Element {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <output for={id}>{shown}</output>
            <input id={id} type="range" min={min} max={max} step={step} value={value}
                aria-valuetext={shown}
                onInput={(event) => onChange(event.currentTarget.valueAsNumber)} />
        </div>
    );
}

export function Toggle({ label, value, onChange }: {
    label: string; value: boolean; onChange: (value: boolean) => void;
}): JSX.Element {
    return (
        <label class="field toggle">
            <span>{label}</span>
            <input type="checkbox" checked={value}
                onChange={(event) => onChange(event.currentTarget.checked)} />
        </label>
    );
}

export function Choice<T extends string>({ label, value, choices, onChange }: {
    label: string; value: T; choices: Record<T, string>; onChange: (value: T) => void;
}): JSX.Element {
    const id = useId();
    return (
        <div class="field">
            <label for={id}>{label}</label>
            <select id={id} value={value}
                onChange={(event) => onChange(event.currentTarget.value as T)}>
                {(Object.entries(choices) as [T, string][]).map(([each, text]) => (
                    <option key={each} value={each}>{text}</option>
                ))}
            </select>
        </div>
    );
}

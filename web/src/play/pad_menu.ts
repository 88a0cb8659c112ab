// A gamepad in menus: it moves the focus through whatever can be used there, as the Tab key does.
const USABLE = 'button:not(:disabled), input:not(:disabled), select, textarea, a[href]';

// What has the buttons of the gamepad now: a window over the game, the screen before the world, or
// what scripts show if the focus is in it. Null: the world.
export function menuRoot(): Element | null {
    return document.querySelector('dialog[open]') ??
        document.querySelector('#gate:not([hidden])') ??
        document.activeElement?.closest('#script-ui, .chat') ?? null;
}

const usable = (root: Element): HTMLElement[] => [...root.querySelectorAll<HTMLElement>(USABLE)]
    .filter((each) => each.getClientRects().length > 0);

const tell = (target: HTMLElement, event: string): boolean =>
    target.dispatchEvent(new Event(event, { bubbles: true, cancelable: true }));

// Left and right change a value; elsewhere they move like up and down.
function changeValue(target: Element | null, side: number): boolean {
    if (target instanceof HTMLInputElement && target.type === 'range') {
        target.stepUp(side);
        return tell(target, 'input');
    }
    if (target instanceof HTMLSelectElement) {
        const at = target.selectedIndex + side;
        if (at >= 0 && at < target.length) {
            target.selectedIndex = at;
            tell(target, 'change');
        }
        return true;
    }
    return false;
}

export function menuMove(root: Element, step: number, side: number): void {
    const now = document.activeElement;
    if (side !== 0 && changeValue(now, side)) {
        return;
    }
    const all = usable(root);
    const at = all.findIndex((each) => each === now);
    const next = at < 0 ? 0 : (at + (step === 0 ? side : step) + all.length) % all.length;
    all[next]?.focus();
}

export function menuPress(root: Element): void {
    const now = document.activeElement;
    if (now instanceof HTMLElement && root.contains(now)) {
        now.click();
    } else {
        menuMove(root, 1, 0);
    }
}

// As Escape does.
export function menuBack(root: Element): void {
    if (root instanceof HTMLDialogElement) {
        root.dispatchEvent(new Event('cancel', { cancelable: true }));
    } else if (document.activeElement instanceof HTMLElement) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
        document.activeElement.blur();
    }
}

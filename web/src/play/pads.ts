// Whether there are gamepads. What reads them (gamepad.ts) is loaded when there is one.

// Null: the browser keeps gamepads from this page, as some do over plain http.
export function readPads(): readonly (Gamepad | null)[] | null {
    try {
        return typeof navigator.getGamepads === 'function' ? navigator.getGamepads() : null;
    } catch {
        return null;
    }
}

export const padsAreWithheld = (): boolean => readPads() === null;
export const hasPad = (): boolean => readPads()?.some((each) => each?.connected === true) === true;

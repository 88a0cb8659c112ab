// Node's `assert`, as TypeScriptToLua calls it.
export function ok(value: unknown, message = 'an assertion of the compiler failed'): void {
    if (!value) {
        throw new Error(message);
    }
}

export const equal = (a: unknown, b: unknown, message?: string): void => ok(a === b, message);
export const fail = (message?: string): void => ok(false, message);
export default { ok, equal, fail };

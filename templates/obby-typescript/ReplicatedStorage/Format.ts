// A module: server and clients import it, and both see times in the same form.

/** A line of the board. */
export interface BoardRow {
    name: string;
    seconds: number;
}

export function seconds(value: number): string {
    return `${value.toFixed(1)} s`;
}

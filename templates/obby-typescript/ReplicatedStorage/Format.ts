// A module: server and clients import it, so that both show times in the same way.

/** A line of the board. */
export interface BoardRow {
    name: string;
    seconds: number;
}

export function seconds(value: number): string {
    return `${value.toFixed(1)} s`;
}

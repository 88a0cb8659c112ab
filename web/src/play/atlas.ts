// Which cell of a texture has which text. There are so many cells and no more: the text that was not
// wanted for the longest time makes room for a new one.
export class AtlasCells {
    readonly count: number;
    private readonly cells = new Map<string, { cell: number; turn: number }>(); // the oldest first
    private turn = 0;

    constructor(count: number) {
        this.count = count;
    }

    // Begins a picture.
    begin(): void {
        this.turn += 1;
    }

    has(text: string): boolean {
        return this.cells.has(text);
    }

    // The cell of that text; `isNew`: it has to be drawn there first. Null: all are in this picture.
    take(text: string): { cell: number; isNew: boolean } | null {
        const known = this.cells.get(text);
        if (known !== undefined) {
            known.turn = this.turn;
            this.cells.delete(text);
            this.cells.set(text, known);
            return { cell: known.cell, isNew: false };
        }
        let cell = this.cells.size;
        if (cell >= this.count) {
            const oldest = this.cells.entries().next().value;
            if (oldest === undefined || oldest[1].turn === this.turn) {
                return null;
            }
            cell = oldest[1].cell;
            this.cells.delete(oldest[0]);
        }
        this.cells.set(text, { cell, turn: this.turn });
        return { cell, isNew: true };
    }

    clear(): void {
        this.cells.clear();
    }
}

// The nearest first, so many and within reach; `distance` is squared.
export function nearest<T extends { distance: number }>(all: readonly T[], most: number,
    reach: number): T[] {
    return all.filter(({ distance }) => distance <= reach * reach)
        .sort((a, b) => a.distance - b.distance).slice(0, most);
}

export interface Box {
    left: number;
    right: number;
    bottom: number;
    top: number;
}

// Of what is not in the picture: it covers nothing.
export const NO_BOX: Box = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };

// Whether a box stands free: one that covers an earlier one, which is nearer, does not.
export function freeBoxes(boxes: readonly Box[]): boolean[] {
    const kept: Box[] = [];
    return boxes.map((box) => {
        const isFree = kept.every((other) => box.right <= other.left || other.right <= box.left ||
            box.top <= other.bottom || other.top <= box.bottom);
        if (isFree) {
            kept.push(box);
        }
        return isFree;
    });
}

// A mark for each team, by shape as much as by colour, so that nobody has to tell colours apart.
// The colours are those of Okabe and Ito, which people with any kind of colour blindness can tell apart.
export const MARKS = [
    { shape: 'circle', colour: '#56b4e9' },
    { shape: 'triangle', colour: '#e69f00' },
    { shape: 'square', colour: '#33c79a' },
    { shape: 'diamond', colour: '#f0e442' },
    { shape: 'cross', colour: '#ff8a3d' },
    { shape: 'star', colour: '#e7a3c8' },
    { shape: 'bar', colour: '#ffffff' },
    { shape: 'ring', colour: '#8fb8ff' },
] as const;

// The place of a team among all of them decides, so everybody sees the same mark. -1: no team.
export function teamMark(teams: readonly string[], team: string): number {
    return team === '' ? -1 : teams.indexOf(team) % MARKS.length;
}

// Corners of a mark in a square from -1 to 1; the circle and the ring have none.
export function markCorners(shape: typeof MARKS[number]['shape']): [number, number][] {
    const around = (count: number, turn: number, inner = 1): [number, number][] =>
        Array.from({ length: count }, (_, i) => {
            const angle = (i / count) * Math.PI * 2 + turn;
            const far = i % 2 === 0 ? 1 : inner;
            return [Math.cos(angle) * far, Math.sin(angle) * far];
        });
    switch (shape) {
        case 'triangle': return around(3, -Math.PI / 2);
        case 'square': return around(4, Math.PI / 4);
        case 'diamond': return around(4, 0, 0.62);
        case 'star': return around(10, -Math.PI / 2, 0.45);
        case 'cross': {
            const [a, b] = [0.32, 1];
            return [[-a, -b], [a, -b], [a, -a], [b, -a], [b, a], [a, a], [a, b], [-a, b], [-a, a],
                [-b, a], [-b, -a], [-a, -a]];
        }
        case 'bar': return [[-1, -0.4], [1, -0.4], [1, 0.4], [-1, 0.4]];
        default: return [];
    }
}

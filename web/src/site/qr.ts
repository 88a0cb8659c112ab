// QR codes (ISO/IEC 18004) for links: bytes, error correction M, versions 1 to 10, which is up to 213
// bytes. The steps are those of the standard: bits, blocks with their check words (Reed-Solomon over
// GF(256) with 0x11d), the fixed patterns, the words in a zigzag, and the best of eight masks.

const VERSION_MAX = 10;
// By version, from 1: check words of each block, and blocks. Level M.
const CHECK_WORDS = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5];
const LEVEL_M = 0;

// --- words -----------------------------------------------------------------------------------------

// Modules that are left for words, of all that the fixed patterns do not take.
function rawBits(version: number): number {
    const patterns = Math.floor(version / 7) + 2;
    return (16 * version + 128) * version + 64 -
        (version < 2 ? 0 : (25 * patterns - 10) * patterns - 55) - (version < 7 ? 0 : 36);
}

function dataWords(version: number): number {
    return Math.floor(rawBits(version) / 8) -
        (CHECK_WORDS[version - 1] ?? 0) * (BLOCKS[version - 1] ?? 0);
}

// Byte mode: 4 bits for the mode, the length in 8 bits (16 from version 10 on), the bytes, then an end
// and filling.
function makeWords(bytes: Uint8Array, version: number): number[] {
    const bits: number[] = [];
    const put = (value: number, count: number): void => {
        for (let i = count - 1; i >= 0; i--) {
            bits.push(value >> i & 1);
        }
    };
    put(4, 4);
    put(bytes.length, version < 10 ? 8 : 16);
    bytes.forEach((byte) => put(byte, 8));
    const room = dataWords(version) * 8;
    put(0, Math.min(4, room - bits.length));
    put(0, (8 - bits.length % 8) % 8);
    for (let filling = 0xec; bits.length < room; filling ^= 0xec ^ 0x11) {
        put(filling, 8);
    }
    return Array.from({ length: room / 8 }, (_, at) =>
        bits.slice(at * 8, at * 8 + 8).reduce((word, bit) => word * 2 + bit, 0));
}

function multiply(a: number, b: number): number {
    let product = 0;
    for (let i = 7; i >= 0; i--) {
        product = product << 1 ^ (product >> 7) * 0x11d;
        product ^= (b >> i & 1) * a;
    }
    return product;
}

// The rest of a division by (x - 1)(x - 2)(x - 4)…
function checkWords(data: number[], count: number): number[] {
    const divisor = new Array<number>(count).fill(0).with(count - 1, 1);
    for (let i = 0, root = 1; i < count; i++, root = multiply(root, 2)) {
        divisor.forEach((value, j) => {
            divisor[j] = multiply(value, root) ^ (divisor[j + 1] ?? 0);
        });
    }
    const rest = new Array<number>(count).fill(0);
    for (const word of data) {
        const factor = word ^ (rest.shift() ?? 0);
        rest.push(0);
        divisor.forEach((value, i) => { rest[i] = (rest[i] ?? 0) ^ multiply(value, factor); });
    }
    return rest;
}

// The blocks' words in turns, then their check words in turns. The last blocks may be one longer.
function interleave(words: number[], version: number): number[] {
    const count = BLOCKS[version - 1] ?? 1;
    const short = Math.floor(words.length / count);
    const longer = words.length % count;
    const blocks: number[][] = [];
    for (let i = 0, at = 0; i < count; i++) {
        const length = short + (i >= count - longer ? 1 : 0);
        blocks.push(words.slice(at, at + length));
        at += length;
    }
    const checks = blocks.map((block) => checkWords(block, CHECK_WORDS[version - 1] ?? 0));
    const inTurns = (lists: number[][]): number[] =>
        Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) =>
            lists.flatMap((list) => list[i] ?? [])).flat();
    return [...inTurns(blocks), ...inTurns(checks)];
}

// --- the square ------------------------------------------------------------------------------------

interface Square {
    size: number;
    dark: Uint8Array; // size * size, rows from the top
    fixed: Uint8Array; // not a place for words
}

function set(square: Square, x: number, y: number, dark: boolean): void {
    if (x >= 0 && y >= 0 && x < square.size && y < square.size) {
        square.dark[y * square.size + x] = dark ? 1 : 0;
        square.fixed[y * square.size + x] = 1;
    }
}

// Rings around a point; those at an odd distance are dark, or those at an even one.
function drawRings(square: Square, x: number, y: number, radius: number, light: number[]): void {
    for (let dy = -radius; dy <= radius; dy++) {
        for (let dx = -radius; dx <= radius; dx++) {
            set(square, x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
        }
    }
}

function alignmentRows(version: number): number[] {
    if (version === 1) {
        return [];
    }
    const count = Math.floor(version / 7) + 2;
    const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
    return [6, ...Array.from({ length: count - 1 }, (_, i) =>
        version * 4 + 10 - step * (count - 2 - i))];
}

// A value with the rest of its division by a polynomial behind it.
function withRest(value: number, polynomial: number, bits: number): number {
    let rest = value;
    for (let i = 0; i < bits; i++) {
        rest = rest << 1 ^ (rest >> bits - 1) * polynomial;
    }
    return value << bits | rest;
}

function drawVersion(square: Square, version: number): void {
    const bits = version < 7 ? 0 : withRest(version, 0x1f25, 12);
    for (let i = 0; version >= 7 && i < 18; i++) {
        const [far, near] = [square.size - 11 + i % 3, Math.floor(i / 3)];
        set(square, far, near, (bits >> i & 1) === 1);
        set(square, near, far, (bits >> i & 1) === 1);
    }
}

function drawFormat(square: Square, mask: number): void {
    const bits = withRest(LEVEL_M << 3 | mask, 0x537, 10) ^ 0x5412;
    const { size } = square;
    for (let i = 0; i < 15; i++) {
        const isDark = (bits >> i & 1) === 1;
        // Around the corner at the top left, without the timing pattern.
        const [x, y] = i < 8 ? [8, i < 6 ? i : i + 1] : [i === 8 ? 7 : 14 - i, 8];
        set(square, x, y, isDark);
        set(square, i < 8 ? size - 1 - i : 8, i < 8 ? 8 : size - 15 + i, isDark);
    }
    set(square, 8, size - 8, true);
}

function drawFixed(version: number): Square {
    const size = version * 4 + 17;
    const square = { size, dark: new Uint8Array(size * size), fixed: new Uint8Array(size * size) };
    for (let i = 0; i < size; i++) {
        set(square, 6, i, i % 2 === 0);
        set(square, i, 6, i % 2 === 0);
    }
    drawRings(square, 3, 3, 4, [2, 4]);
    drawRings(square, size - 4, 3, 4, [2, 4]);
    drawRings(square, 3, size - 4, 4, [2, 4]);
    const rows = alignmentRows(version);
    const last = rows[rows.length - 1];
    for (const y of rows) {
        for (const x of rows) {
            if (!(x === 6 && (y === 6 || y === last)) && !(x === last && y === 6)) {
                drawRings(square, x, y, 2, [1]);
            }
        }
    }
    drawVersion(square, version);
    drawFormat(square, 0); // its room; the mask is not known yet
    return square;
}

// Two columns at a time from the right, up and down in turns, without the timing column.
function drawWords(square: Square, words: number[]): void {
    const { size, dark, fixed } = square;
    let bit = 0;
    for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
        right -= right === 6 ? 1 : 0;
        for (let i = 0; i < 2 * size; i++) {
            const row = i >> 1;
            const at = (isUp ? size - 1 - row : row) * size + right - i % 2;
            if (fixed[at] === 0 && bit < words.length * 8) {
                dark[at] = (words[bit >> 3] ?? 0) >> 7 - bit % 8 & 1;
                bit += 1;
            }
        }
    }
}

const MASKS: ((x: number, y: number) => number)[] = [
    (x, y) => (x + y) % 2,
    (_, y) => y % 2,
    (x) => x % 3,
    (x, y) => (x + y) % 3,
    (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
    (x, y) => x * y % 2 + x * y % 3,
    (x, y) => (x * y % 2 + x * y % 3) % 2,
    (x, y) => ((x + y) % 2 + x * y % 3) % 2,
];

function masked(square: Square, mask: number): Square {
    const dark = square.dark.map((value, at) => {
        const flips = square.fixed[at] === 0 &&
            MASKS[mask]?.(at % square.size, Math.floor(at / square.size)) === 0;
        return value ^ (flips ? 1 : 0);
    });
    const copy = { size: square.size, dark, fixed: square.fixed.slice() };
    drawFormat(copy, mask);
    return copy;
}

// How hard a line is to read: long runs, and what looks like a finder pattern.
function linePenalty(line: string): number {
    const runs = (line.match(/0{5,}|1{5,}/g) ?? []).reduce((sum, run) => sum + run.length - 2, 0);
    let finders = 0;
    for (const pattern of ['10111010000', '00001011101']) {
        for (let at = line.indexOf(pattern); at >= 0; at = line.indexOf(pattern, at + 1)) {
            finders += 40;
        }
    }
    return runs + finders;
}

function penalty({ size, dark }: Square): number {
    const rows = Array.from({ length: size }, (_, y) => dark.slice(y * size, (y + 1) * size).join(''));
    const columns = rows.map((_, x) => rows.map((row) => row[x]).join(''));
    let sum = [...rows, ...columns].reduce((all, line) => all + linePenalty(line), 0);
    for (let at = 0; at < size * (size - 1); at++) {
        const same = at % size < size - 1 && dark[at] === dark[at + 1] &&
            dark[at] === dark[at + size] && dark[at] === dark[at + size + 1];
        sum += same ? 3 : 0;
    }
    const part = dark.reduce((count, value) => count + value, 0) / dark.length;
    return sum + 10 * Math.floor(Math.abs(part - 0.5) * 20);
}

// The rows of the code, '1' for dark; null: the text is too long.
export function makeQr(text: string): string[] | null {
    const bytes = new TextEncoder().encode(text);
    let version = 1;
    while (version <= VERSION_MAX &&
        dataWords(version) * 8 < 4 + (version < 10 ? 8 : 16) + bytes.length * 8) {
        version += 1;
    }
    if (version > VERSION_MAX) {
        return null;
    }
    const square = drawFixed(version);
    drawWords(square, interleave(makeWords(bytes, version), version));
    const best = MASKS.map((_, mask) => masked(square, mask))
        .map((tried) => ({ tried, cost: penalty(tried) }))
        .reduce((least, each) => each.cost < least.cost ? each : least).tried;
    return Array.from({ length: best.size }, (_, y) =>
        best.dark.slice(y * best.size, (y + 1) * best.size).join(''));
}

// As the path of a drawing: a rectangle for each run of dark modules, with the quiet zone of four.
export function qrPath(rows: string[]): { path: string; size: number } {
    const path = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) =>
        `M${run.index + 4} ${y + 4}h${run[0].length}v1h-${run[0].length}z`)).join('');
    return { path, size: rows.length + 8 };
}

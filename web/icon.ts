// The icon as PNG, for devices that show no SVG: the shapes of src/ui/icon.svg, drawn here.
import { deflateSync } from 'node:zlib';

const SIDE = 32; // of the drawing
const CORNER = 7;
const SAMPLES = 4; // across a pixel
const SEA = [0x2b, 0x7f, 0xb5, 255];
const SAND = [0xe3, 0xd3, 0xa0, 255];
const GREEN = [0x5d, 0x9c, 0x4d, 255];
const NOTHING = [0, 0, 0, 0];

type Point = [number, number];

const bezier = ([a, b, c, d]: [Point, Point, Point, Point]): Point[] =>
    Array.from({ length: 33 }, (_, i) => {
        const t = i / 32;
        const u = 1 - t;
        const at = (k: 0 | 1): number =>
            u ** 3 * a[k] + 3 * u * u * t * b[k] + 3 * u * t * t * c[k] + t ** 3 * d[k];
        return [at(0), at(1)];
    });

const HILL = [...bezier([[4, 24], [8, 18], [12, 16], [16, 16]]),
    ...bezier([[16, 16], [20, 16], [24, 18], [28, 24]])];
const TREE: Point[] = [[11, 17], [16, 9], [21, 17]];

function isInside(polygon: Point[], x: number, y: number): boolean {
    let inside = false;
    polygon.forEach(([ax, ay], i) => {
        const [bx, by] = polygon[(i + 1) % polygon.length] ?? [0, 0];
        if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) {
            inside = !inside;
        }
    });
    return inside;
}

function isOnCard(x: number, y: number): boolean {
    const away = (value: number): number => Math.max(CORNER - value, value - (SIDE - CORNER), 0);
    return Math.hypot(away(x), away(y)) <= CORNER;
}

function colourAt(x: number, y: number): number[] {
    return !isOnCard(x, y) ? NOTHING : isInside(TREE, x, y) ? GREEN : isInside(HILL, x, y) ? SAND : SEA;
}

function pixel(column: number, row: number, scale: number): number[] {
    const sum = [0, 0, 0, 0];
    for (let i = 0; i < SAMPLES * SAMPLES; i++) {
        const x = (column + (i % SAMPLES + 0.5) / SAMPLES) * scale;
        const y = (row + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES) * scale;
        const [r = 0, g = 0, b = 0, alpha = 0] = colourAt(x, y);
        [r * alpha, g * alpha, b * alpha, alpha].forEach((value, k) => {
            sum[k] = (sum[k] ?? 0) + value;
        });
    }
    const [r = 0, g = 0, b = 0, alpha = 0] = sum;
    return alpha === 0 ? NOTHING
        : [r / alpha, g / alpha, b / alpha, alpha / SAMPLES ** 2].map(Math.round);
}

function crc(bytes: Uint8Array): number {
    let value = 0xffffffff;
    for (const byte of bytes) {
        value ^= byte;
        for (let bit = 0; bit < 8; bit++) {
            value = value >>> 1 ^ (value & 1 ? 0xedb88320 : 0);
        }
    }
    return (value ^ 0xffffffff) >>> 0;
}

function chunk(kind: string, data: Uint8Array): Buffer {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
}

export function drawIcon(size: number): Buffer {
    const rows = Buffer.alloc(size * (size * 4 + 1)); // a zero before each row: no filter
    for (let row = 0; row < size; row++) {
        for (let column = 0; column < size; column++) {
            rows.set(pixel(column, row, SIDE / size), row * (size * 4 + 1) + 1 + column * 4);
        }
    }
    const head = Buffer.alloc(13);
    head.writeUInt32BE(size, 0);
    head.writeUInt32BE(size, 4);
    head.set([8, 6, 0, 0, 0], 8); // 8 bits of red, green, blue and alpha
    return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        chunk('IHDR', head), chunk('IDAT', deflateSync(rows, { level: 9 })),
        chunk('IEND', new Uint8Array(0))]);
}

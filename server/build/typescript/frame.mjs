// Frames between the host and this process, on descriptor 3: the bytes are described in
// server/build/typescript/typescript_frame.h. Reading and writing block; there is nothing else to do meanwhile.
import { readSync, writeSync } from "node:fs";

const STREAM = 3;
const REQUEST_BYTES_MAX = 512 * 1024 * 1024;

const KIND_PROGRESS = 0;
export const KIND_RESULT = 1;

function readExactly(bytes) {
    const out = Buffer.allocUnsafe(bytes);
    let used = 0;
    while (used < bytes) {
        const got = readSync(STREAM, out, used, bytes - used, null);
        if (got === 0) {
            return null;
        }
        used += got;
    }
    return out;
}

function writeAll(bytes) {
    let used = 0;
    while (used < bytes.length) {
        used += writeSync(STREAM, bytes, used);
    }
}

/** The next request; null: the other side is gone. */
export function readFrame() {
    const head = readExactly(8);
    if (head === null) {
        return null;
    }
    const bytes = Number(head.readBigUInt64LE(0));
    if (bytes > REQUEST_BYTES_MAX) {
        throw new Error("a request that is too large");
    }
    return readExactly(bytes);
}

export function writeFrame(kind, body) {
    const head = Buffer.alloc(9);
    head.writeUInt8(kind, 0);
    head.writeBigUInt64LE(BigInt(body.length), 1);
    writeAll(head);
    writeAll(body);
}

const NO_SCRIPT = 0xffffffff;

/** A sign of life, how much of the work is done, and which script is next: should it be the last
 *  sign, that one is to blame. */
export function tellProgress(script, done) {
    const message = Buffer.alloc(17); // in one write: there are many
    message.writeUInt8(KIND_PROGRESS, 0);
    message.writeUInt8(8, 1);
    message.writeUInt32LE(script, 9);
    message.writeUInt32LE(done, 13);
    writeAll(message);
}

/** Only the sign, where there is no script to blame: while it starts, and between scripts. */
export function tellAlive() {
    tellProgress(NO_SCRIPT, 0);
}

export class FrameReader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    u8() {
        this.at += 1;
        return this.bytes.readUInt8(this.at - 1);
    }
    u32() {
        this.at += 4;
        return this.bytes.readUInt32LE(this.at - 4);
    }
    text() {
        const bytes = this.u32();
        if (bytes > this.bytes.length - this.at) {
            throw new Error("a request that ends too early");
        }
        this.at += bytes;
        return this.bytes.toString("utf8", this.at - bytes, this.at);
    }
}

export class FrameWriter {
    constructor() {
        this.pieces = [];
    }
    u8(value) {
        this.pieces.push(Buffer.from([value]));
    }
    u32(value) {
        const piece = Buffer.alloc(4);
        piece.writeUInt32LE(value, 0);
        this.pieces.push(piece);
    }
    u32s(values) {
        const piece = Buffer.alloc(4 * values.length);
        values.forEach((value, i) => piece.writeUInt32LE(value, 4 * i));
        this.u32(values.length);
        this.pieces.push(piece);
    }
    text(value) {
        const piece = Buffer.from(value, "utf8");
        this.u32(piece.length);
        this.pieces.push(piece);
    }
    bytes() {
        return Buffer.concat(this.pieces);
    }
}

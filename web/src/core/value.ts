// Values that leave a script (core/script/runtime/value.h), as JavaScript has them.
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

const NIL = 0;
const FALSE = 1;
const TRUE = 2;
const INTEGER = 3;
const FLOAT = 4;
const TEXT = 5;
const LIST = 6;
const MAP = 7;
const VECTOR = 8;
const ENTITY = 9;
const PLAYER = 10;

const utf8 = new TextDecoder();

class Reader {
    private readonly bytes: Uint8Array;
    private readonly view: DataView;
    private at = 0;

    constructor(bytes: Uint8Array) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    private varint(): number {
        let value = 0;
        for (let scale = 1; ; scale *= 128) {
            const byte = this.view.getUint8(this.at++);
            value += (byte & 127) * scale;
            if (byte < 128) {
                return value;
            }
        }
    }

    private float(bytes: 4 | 8): number {
        const at = this.at;
        this.at += bytes;
        return bytes === 4 ? this.view.getFloat32(at, true) : this.view.getFloat64(at, true);
    }

    private text(): string {
        const bytes = this.varint();
        this.at += bytes;
        return utf8.decode(this.bytes.subarray(this.at - bytes, this.at));
    }

    private map(): Value {
        const map: { [key: string]: Value } = Object.create(null) as { [key: string]: Value };
        for (let count = this.varint(); count > 0; count--) {
            map[String(this.value())] = this.value();
        }
        return map;
    }

    value(): Value {
        const type = this.view.getUint8(this.at++);
        switch (type) {
            case NIL:
                return null;
            case FALSE:
            case TRUE:
                return type === TRUE;
            case INTEGER: {
                const zigzag = this.varint();
                return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
            }
            case FLOAT:
                return this.float(8);
            case TEXT:
                return this.text();
            case LIST:
                return Array.from({ length: this.varint() }, () => this.value());
            case MAP:
                return this.map();
            case VECTOR:
                return [this.float(4), this.float(4), this.float(4)];
            case ENTITY:
            case PLAYER:
                return this.varint();
            default:
                throw new Error(`a value has the unknown type ${type}`);
        }
    }
}

// The core has written and checked them; a damaged one throws.
export function readValues(bytes: Uint8Array): Value[] {
    const list = new Reader(bytes).value();
    return Array.isArray(list) ? list : [];
}

// The place as a .game file, packed in the page: it works when nothing else does, also when the place does not
// compile. The files are stored and not compressed, as a ZIP allows; they are small or compressed already.
import type { Studio } from './state.ts';

const table = Array.from({ length: 256 }, (_, n) => {
    let value = n;
    for (let i = 0; i < 8; i++) {
        value = value & 1 ? 0xedb88320 ^ value >>> 1 : value >>> 1;
    }
    return value >>> 0;
});

export function crc32(bytes: Uint8Array): number {
    let crc = 0xffffffff;
    for (const byte of bytes) {
        crc = (table[(crc ^ byte) & 255] ?? 0) ^ crc >>> 8;
    }
    return (crc ^ 0xffffffff) >>> 0;
}

const DATE_1980 = 0x21; // the same file gives the same bytes, whenever it is packed

// What both heads of a file have in common.
function heads(name: Uint8Array, bytes: Uint8Array, at: number): { local: Uint8Array; central: Uint8Array } {
    const make = (central: boolean): Uint8Array => {
        const head = new Uint8Array((central ? 46 : 30) + name.length);
        const view = new DataView(head.buffer);
        const from = central ? 6 : 4; // from "version needed" on they are alike
        view.setUint32(0, central ? 0x02014b50 : 0x04034b50, true);
        if (central) {
            view.setUint16(4, 20, true);
            view.setUint32(42, at, true);
        }
        view.setUint16(from, 20, true);
        view.setUint16(from + 2, 0x800, true); // names are UTF-8
        view.setUint16(from + 8, DATE_1980, true);
        view.setUint32(from + 10, crc32(bytes), true);
        view.setUint32(from + 14, bytes.length, true);
        view.setUint32(from + 18, bytes.length, true);
        view.setUint16(from + 22, name.length, true);
        head.set(name, head.length - name.length);
        return head;
    };
    return { local: make(false), central: make(true) };
}

export function zip(files: readonly { path: string; bytes: Uint8Array }[]): Blob {
    const parts: Uint8Array[] = [];
    const index: Uint8Array[] = [];
    let at = 0;
    for (const { path, bytes } of files) {
        const { local, central } = heads(new TextEncoder().encode(path), bytes, at);
        parts.push(local, bytes);
        index.push(central);
        at += local.length + bytes.length;
    }
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, files.length, true);
    end.setUint16(10, files.length, true);
    end.setUint32(12, index.reduce((sum, { length }) => sum + length, 0), true);
    end.setUint32(16, at, true);
    return new Blob([...parts, ...index, new Uint8Array(end.buffer)] as BlobPart[], { type: 'application/zip' });
}

export async function packGame(studio: Studio): Promise<Blob> {
    const { document, files } = studio;
    const encoder = new TextEncoder();
    const all = [
        { path: 'place.json', bytes: encoder.encode(document.placeJson()) },
        { path: 'scene.json', bytes: encoder.encode(document.sceneJson()) },
    ];
    for (const { path, hash } of document.files()) {
        all.push({ path, bytes: await files.readHash(hash) as Uint8Array<ArrayBuffer> });
    }
    return zip(all);
}

export async function downloadGame(studio: Studio): Promise<void> {
    const game = await packGame(studio);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(game);
    link.download = `${studio.document.settings().name.replace(/[^\w-]+/g, '_')}.game`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

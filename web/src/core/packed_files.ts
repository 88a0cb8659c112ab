// The files of a place as the modules want them (core/wasm/packed_files.h).
export function packFiles(files: Map<string, Uint8Array>): Uint8Array {
    const utf8 = new TextEncoder(); // in here, so that pages without it leave this module out
    const names = [...files].map(([path, data]) => ({ path: utf8.encode(path), data }));
    const packed = new Uint8Array(
        names.reduce((sum, file) => sum + 8 + file.path.length + file.data.length, 0));
    const view = new DataView(packed.buffer);
    let at = 0;
    for (const { path, data } of names) {
        for (const part of [path, data]) {
            view.setUint32(at, part.length, true);
            packed.set(part, at + 4);
            at += 4 + part.length;
        }
    }
    return packed;
}

// What the tests of core.wasm read from the disk.
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

import { Core } from '../../web/src/core/bridge.ts';

// The files of a place folder by path, in the order of their paths.
export function readPlace(folder) {
    const files = new Map();
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && !relative(folder, path).startsWith('.')) {
            files.set(relative(folder, path), readFileSync(path));
        }
    }
    return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export async function loadCore(path) {
    return Core.load(new WebAssembly.Module(readFileSync(path)));
}

// The hashes of tests/unit/island_session.h: the world's, Ada's, Bo's.
export function readSession(path) {
    return [...readFileSync(path, 'utf8').matchAll(/"([0-9a-f]{16})"/g)].map(([, hash]) => hash);
}

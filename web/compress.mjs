// Puts compressed forms beside every file of a built page: `compress.mjs FOLDER` makes name.br and
// name.gz of each name, as small as possible, because it is done once and sent often. The host
// sends them to clients that accept them (server/net/http_file.h). One that saves nothing is not
// kept.
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const codings = {
    '.br': (bytes) => brotliCompressSync(bytes, {
        params: {
            [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
            [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
            [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
    }),
    '.gz': (bytes) => gzipSync(bytes, { level: 9, memLevel: 9 }),
};

// Whole or not at all: a host may be serving this folder.
function write(path, bytes) {
    const aside = `${path}.new`;
    writeFileSync(aside, bytes);
    renameSync(aside, path);
}

const [folder] = process.argv.slice(2);
const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const known = new Set(names);
for (const [ending, compress] of Object.entries(codings)) {
    for (const name of names.filter((name) => !isCoded(name))) {
        const bytes = readFileSync(name);
        const coded = compress(bytes);
        if (coded.length < bytes.length) {
            write(name + ending, coded);
        } else {
            rmSync(name + ending, { force: true });
        }
    }
}

// Whether it is from an earlier run, or a file that only has this ending.
function isCoded(name) {
    return Object.keys(codings).some((ending) =>
        name.endsWith(ending) && known.has(name.slice(0, -ending.length)));
}

// Parts of the page's downloads that need no browser: reading bundles cut anywhere, going on with a blob
// that was cut, choosing what a cache drops, and numbers that the page and limits.h share.
//   node test_downloads.mjs LIMITS_H
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';

import { CACHE_BYTES_MAX, CACHE_ENTRIES_MAX, chooseDropped } from '../../web/src/core/cache.ts';
import {
    BUNDLE_RUNES_MAX, BundleReader, NotThere, Partial, fetchBlob, fetchBundle,
} from '../../web/src/core/fetch.ts';

const limits = readFileSync(process.argv[2], 'utf8');

test('the page has the numbers of limits.h', () => {
    const value = (name) => {
        const [, text] = new RegExp(`#define ${name} +\\(?([0-9a-z< ]+)\\)?`).exec(limits);
        const [number, shift] = text.replaceAll('u', '').split('<<').map(Number);
        return number * 2 ** (shift ?? 0);
    };
    assert.equal(BUNDLE_RUNES_MAX, value('BUNDLE_RUNES_MAX'));
    assert.equal(CACHE_BYTES_MAX, value('RUNE_STORE_BYTES_MAX'));
    assert.equal(CACHE_ENTRIES_MAX, value('RUNE_STORE_FILES_MAX'));
});

function bundle(parts, hashes = null) {
    return Buffer.concat(parts.flatMap(([form, text], i) => {
        const head = Buffer.alloc(5);
        head.writeUInt8(form);
        head.writeUInt32LE(text.length, 1);
        return [...hashes === null ? [] : [Buffer.from(hashes[i], 'hex')], head, Buffer.from(text)];
    }));
}

const PARTS = [[2, 'packed'], [0, ''], [1, 'plain and longer'], [2, '']];

test('a bundle is read whole, wherever it is cut', () => {
    const hashes = PARTS.map((_, i) => `${i}`.repeat(64));
    for (const names of [null, hashes]) {
        const all = bundle(PARTS, names);
        for (let cut = 0; cut <= all.length; cut++) {
            const reader = new BundleReader(100, names !== null);
            const got = [...reader.push(all.subarray(0, cut)), ...reader.push(all.subarray(cut))];
            assert.deepEqual(got.map(([, entry]) => entry === null ? null
                : [entry.isPacked, Buffer.from(entry.bytes).toString()]),
            [[true, 'packed'], null, [false, 'plain and longer'], [true, '']]);
            assert.deepEqual(got.map(([hash]) => hash), names ?? ['', '', '', '']);
        }
    }
    assert.throws(() => new BundleReader(5, false).push(bundle([[2, 'longer']])), NotThere);
    assert.throws(() => new BundleReader(5, false).push(bundle([[3, '']])), NotThere);
});

test('the least recently used are dropped until the rest fits', () => {
    const rows = [30, 10, 40, 20].map((used, i) => ({ hash: `${i}`, bytes: 10, used }));
    const dropped = (bytes, entries) => chooseDropped(rows, bytes, entries).map(({ used }) => used);
    assert.deepEqual(dropped(40, 4), []);
    assert.deepEqual(dropped(39, 4), [10]);
    assert.deepEqual(dropped(20, 4), [10, 20]);
    assert.deepEqual(dropped(40, 1), [10, 20, 30]);
    assert.deepEqual(dropped(0, 0), [10, 20, 30, 40]);
});

async function withServer(answer, body) {
    const server = createServer(answer);
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    try {
        await body(`http://127.0.0.1:${server.address().port}`);
    } finally {
        server.closeAllConnections();
        server.close();
    }
}

const DATA = Buffer.from(Array.from({ length: 5000 }, (_, i) => i * 7 % 251));
const none = () => undefined;
const { signal } = new AbortController();

test('a blob that was cut goes on where it was', () => {
    const ranges = [];
    return withServer((request, answer) => {
        const { range } = request.headers;
        ranges.push(range);
        if (range === undefined) {
            answer.writeHead(200, { 'Content-Length': DATA.length });
            answer.write(DATA.subarray(0, 2000), () => setTimeout(() => answer.destroy(), 50));
        } else {
            const from = Number(/^bytes=(\d+)-$/.exec(range)[1]);
            answer.writeHead(206, { 'Content-Range': `bytes ${from}-${DATA.length - 1}/${DATA.length}` });
            answer.end(DATA.subarray(from));
        }
    }, async (url) => {
        const partial = new Partial(DATA.length);
        await assert.rejects(fetchBlob(url, partial, signal, none));
        assert.equal(partial.have, 2000);
        assert.deepEqual(Buffer.from(await fetchBlob(url, partial, signal, none)), DATA);
        assert.deepEqual(ranges, [undefined, 'bytes=2000-']);
    });
});

test('a server that sends all of it again, or another part, is not believed', () => withServer(
    (request, answer) => {
        if (request.url === '/other') {
            answer.writeHead(206, { 'Content-Range': 'bytes 7-4999/5000' }).end(DATA.subarray(7));
        } else if (request.url === '/long') {
            answer.writeHead(200).end(Buffer.concat([DATA, DATA]));
        } else {
            answer.writeHead(request.url === '/gone' ? 404 : 200).end(DATA);
        }
    },
    async (url) => {
        const begun = () => Object.assign(new Partial(DATA.length), { have: 1000 });
        assert.deepEqual(Buffer.from(await fetchBlob(`${url}/again`, begun(), signal, none)), DATA);
        const other = await fetchBlob(`${url}/other`, begun(), signal, none);
        assert.equal(other.length, DATA.length - 7, 'from the beginning; its hash will tell');
        await assert.rejects(fetchBlob(`${url}/long`, begun(), signal, none), NotThere);
        await assert.rejects(fetchBlob(`${url}/gone`, begun(), signal, none), NotThere);
    }));

test('what came of a bundle before a cut is taken', () => withServer(
    (_, answer) => {
        const all = bundle(PARTS);
        answer.writeHead(200, { 'Content-Length': all.length });
        answer.write(all.subarray(0, all.length - 8), () => setTimeout(() => answer.destroy(), 50));
    },
    async (url) => {
        const taken = [];
        await assert.rejects(fetchBundle(new Request(url), ['a', 'b', 'c', 'd'], 100, none,
            (hash) => taken.push(hash)));
        assert.deepEqual(taken, ['a', 'b']);
    }));

// The place's own files as the page sees them: the list, names, downloads, and how much of them is kept
// at once. Without a browser, because none of this touches one.
//   node test_assets.mjs
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';

import * as THREE from 'three';

import { Budget } from '../../web/src/play/budget.ts';
import { clipFor, fitModel, poseOf, roomFor } from '../../web/src/play/model_rules.ts';
import { addTiles } from '../../web/src/play/tiles.ts';
import { Wanted } from '../../web/src/play/wanted.ts';
import { Assets, MODELS, PICTURES, SOUNDS, assetUrl, readList } from '../../web/src/play/assets.ts';

const hash = (digit) => `sha256:${digit.repeat(64)}`;
const row = (path, kind, digit, more = {}) =>
    ({ path, kind, hash: hash(digit), size_bytes: 4, ...more });
const LIST = {
    assets: [
        row('assets/boom.wav', 'wav', 'a', { seconds: 1.5 }),
        row('assets/door.jpg', 'jpeg', 'b', { width: 8, height: 4 }),
        row('assets/door.png', 'png', 'c', { width: 16, height: 16 }),
        row('assets/props/tree.glb', 'glb', 'd', { triangles: 12 }),
        row('assets/<img src=x onerror=alert(1)>.png', 'png', 'e'),
    ],
    thumbnail: null,
};
const real = globalThis.fetch;
afterEach(() => { globalThis.fetch = real; });

const answer = (body, status = 200) => new Response(
    typeof body === 'string' ? body : JSON.stringify(body), { status });

async function opened(list = LIST) {
    const said = [];
    const assets = new Assets((name, message) => said.push([name, message]));
    globalThis.fetch = async () => answer(list);
    await assets.open('');
    return { assets, said };
}

test('an asset is found by its name, with or without its folder and ending', async () => {
    const { assets, said } = await opened();
    for (const name of ['assets/door.png', 'door.png']) {
        assert.equal(assets.find(name, PICTURES).path, 'assets/door.png');
    }
    assert.equal(assets.find('door', PICTURES).kind, 'png');
    assert.equal(assets.find('boom', SOUNDS).seconds, 1.5);
    assert.equal(assets.find('props/tree', MODELS).triangles, 12);
    assert.equal(assetUrl(assets.find('boom', SOUNDS)), `/blob/${'a'.repeat(64)}`);
    assert.deepEqual(said, []);
    assert.equal(assets.find('boom', PICTURES), null); // another kind
    assert.equal(assets.find('constructor', PICTURES), null);
    assert.equal(assets.find('boom', PICTURES), null); // is said once
    assert.deepEqual(said.map(([name]) => name), ['boom', 'constructor']);
    assert.match(said[0][1], /^boom: there is no such file .* Put it into assets\//);
});

test('an asset is found by its number, which is one more than its place', async () => {
    const { assets, said } = await opened();
    assert.equal(assets.at(3, PICTURES).path, 'assets/door.png');
    assert.equal(assets.at(0, PICTURES), null);
    assert.deepEqual(said, []);
    assert.equal(assets.at(1, PICTURES), null); // a sound
    assert.equal(assets.at(99, MODELS), null);
    assert.deepEqual(said.map(([name]) => name), ['assets/boom.wav', '#99']);
});

test('before the list is known nothing is said to be missing', () => {
    const assets = new Assets(() => assert.fail('too early'));
    assert.equal(assets.find('door', PICTURES), null);
    assert.equal(assets.at(1, PICTURES), null);
});

test('a damaged list is refused as a whole, because numbers would shift', () => {
    for (const bad of [null, 7, {}, { assets: 3 }, { assets: [null] },
        { assets: [{ ...LIST.assets[0], hash: 'sha256:xyz' }] },
        { assets: [{ ...LIST.assets[0], kind: 'exe' }] },
        { assets: [{ ...LIST.assets[0], path: 3 }] }]) {
        assert.throws(() => readList(bad), /damaged/);
    }
    const [odd] = readList({ assets: [{ ...LIST.assets[0], size_bytes: 1e99, seconds: 'x' }] });
    assert.deepEqual([odd.bytes, odd.seconds], [0, 0]);
});

test('a later answer wins, and a place without a list has no assets', async () => {
    const { assets } = await opened();
    const held = [];
    globalThis.fetch = () => new Promise((done) => held.push(done));
    const first = assets.open('one');
    const second = assets.open('two');
    held[1](answer({ assets: [LIST.assets[0]] }));
    await second;
    held[0](answer(LIST));
    await first;
    assert.equal(assets.list.value.length, 1);
    globalThis.fetch = async (url) => {
        assert.equal(url, '/api/assets?place=a%26b');
        return answer('{}', 404);
    };
    await assets.open('a&b');
    assert.deepEqual(assets.list.value, []);
});

test('few files are fetched at once, and each is counted', async () => {
    const { assets } = await opened();
    let running = 0;
    let most = 0;
    globalThis.fetch = async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((done) => setTimeout(done, 5));
        running -= 1;
        return answer('abcd');
    };
    const all = [...LIST.assets, ...LIST.assets].map((_, at) =>
        assets.bytes(assets.list.value[at % 5]));
    assert.deepEqual([assets.progress.value.files, assets.progress.value.bytes], [10, 40]);
    const done = await Promise.all(all);
    assert.equal(new TextDecoder().decode(done[9]), 'abcd');
    assert.equal(most, 3);
    assert.deepEqual(assets.progress.value,
        { files: 0, filesHave: 0, bytes: 0, bytesHave: 0, current: '' });
});

test('a file that is not there is said by name, one that is cut is tried again', async () => {
    const { assets, said } = await opened();
    globalThis.fetch = async () => answer('{}', 404);
    await assert.rejects(assets.bytes(assets.list.value[4]));
    assert.equal(said.length, 1);
    assert.match(said[0][1], /^assets\/<img src=x onerror=alert\(1\)>.png: it could not be fetched/);
    let tries = 0;
    globalThis.fetch = async () => {
        tries += 1;
        return tries === 1 ? answer('busy', 503) : answer('abcd');
    };
    assert.equal((await assets.bytes(assets.list.value[0])).length, 4);
    assert.equal(tries, 2);
    globalThis.fetch = async () => answer('abcdefgh'); // longer than the list says
    await assert.rejects(assets.bytes(assets.list.value[0]), /longer/);
    assert.equal(assets.progress.value.files, 0);
});

test('what was seen least recently makes room, what is in sight stays', () => {
    const budget = new Budget(100);
    const dropped = [];
    const add = (key, bytes, nowMs) => budget.add(key, bytes, nowMs, () => dropped.push(key));
    assert.ok(add('a', 40, 0) && add('b', 40, 0));
    budget.see('a', 5000);
    assert.ok(add('c', 40, 6000)); // b was not seen for the longest time
    assert.deepEqual([dropped, budget.used], [['b'], 80]);
    assert.ok(!add('d', 40, 6500)); // a and c are in sight
    assert.deepEqual([dropped, budget.used], [['b'], 80]);
    assert.ok(add('d', 90, 60_000));
    assert.deepEqual([dropped, budget.used], [['b', 'a', 'c'], 90]);
    assert.ok(!add('e', 101, 1e9)); // never
    budget.remove('d');
    budget.remove('d');
    assert.equal(budget.used, 0);
});

test('what is held stays until the last one lets go of it', () => {
    const budget = new Budget(100);
    assert.ok(budget.hold('a', 60, 0) && budget.hold('a', 60, 0));
    assert.ok(!budget.hold('b', 60, 1e9));
    budget.see('a', 0);
    assert.ok(!budget.hold('b', 60, 1e9));
    budget.release('a');
    assert.ok(!budget.hold('b', 60, 1e9));
    budget.release('a');
    budget.release('a');
    assert.ok(budget.hold('b', 60, 1e9));
    assert.equal(budget.used, 60);
});

// A Wanted whose files are texts of four bytes each.
async function wanting(bytesMax = 100, load = async ({ path }) => path) {
    const { assets, said } = await opened();
    const changed = [];
    const gone = [];
    const wanted = new Wanted({
        assets, budget: new Budget(bytesMax), kinds: PICTURES,
        load: async (asset) => ({
            value: await load(asset), bytes: 60, dispose: () => gone.push(asset.path),
        }),
        changed: (ids) => changed.push(ids),
    });
    return { wanted, said, changed, gone };
}
const settle = () => new Promise((done) => setTimeout(done, 5));
const everything = () => true;

test('a file is fetched once one of its things is in sight', async () => {
    const { wanted, changed } = await wanting();
    assert.equal(wanted.use(2, 7, 0, 0, 100, 1), null);
    wanted.use(2, 8, 0, 0, 5, 1);
    wanted.look((x, y, z) => z < 4, 1000);
    await settle();
    assert.deepEqual(changed, []);
    wanted.use(2, 8, 0, 0, 3, 1); // it has moved
    wanted.look((x, y, z) => z < 4, 1100); // too soon to look again
    await settle();
    assert.deepEqual(changed, []);
    wanted.look((x, y, z) => z < 4, 2000);
    await settle();
    assert.deepEqual(changed, [[7, 8]]);
    assert.equal(wanted.use(2, 7, 0, 0, 100, 1), 'assets/door.jpg');
});

test('a file makes room when nothing of it is seen, and comes back', async () => {
    const { wanted, changed, gone, said } = await wanting();
    wanted.use(2, 7, 0, 0, 0, 1);
    wanted.look(everything, 1000);
    await settle();
    wanted.use(3, 8, 9, 0, 0, 1);
    wanted.look(everything, 2000);
    await settle();
    assert.equal(wanted.use(3, 8, 9, 0, 0, 1), null); // both do not fit, and the first is in sight
    assert.match(said[0][1], /^assets\/door.png: there is no room/);
    wanted.look((x) => x > 5, 10_000); // only the second is in sight, and it is too soon
    await settle();
    assert.deepEqual(gone, ['assets/door.png']);
    wanted.look((x) => x > 5, 30_000);
    await settle();
    assert.deepEqual(gone, ['assets/door.png', 'assets/door.jpg']);
    assert.deepEqual(changed, [[7], [7], [8]]); // here, away, here
    assert.equal(wanted.use(2, 7, 0, 0, 0, 1), null);
    assert.equal(wanted.use(3, 8, 9, 0, 0, 1), 'assets/door.png');
});

test('a file that cannot be read is said once and not fetched again', async () => {
    let loads = 0;
    const { wanted, said, changed } = await wanting(100, async () => {
        loads += 1;
        throw new Error('it is broken');
    });
    for (const nowMs of [1000, 2000, 60_000]) {
        assert.equal(wanted.use(2, 7, 0, 0, 0, 1), null);
        wanted.look(everything, nowMs);
        await settle();
    }
    wanted.use(1, 8, 0, 0, 0, 1); // a sound is no picture
    wanted.use(4000, 9, 0, 0, 0, 1);
    wanted.look(everything, 70_000);
    await settle();
    assert.equal(loads, 1);
    assert.deepEqual(changed, []);
    assert.deepEqual(said.map(([name]) => name), ['assets/door.jpg', 'assets/boom.wav', '#4000']);
});

test('what arrives for a scene that is gone is let go of', async () => {
    const { wanted, gone, changed } = await wanting();
    wanted.use(2, 7, 0, 0, 0, 1);
    wanted.look(everything, 1000);
    wanted.clear();
    await settle();
    assert.deepEqual([gone, changed], [['assets/door.jpg'], []]);
    wanted.use(2, 7, 0, 0, 0, 1);
    wanted.look(everything, 2000);
    await settle();
    wanted.renew(); // another list
    assert.deepEqual(changed, [[7], [7]]);
    assert.deepEqual(gone, ['assets/door.jpg', 'assets/door.jpg']);
});

test('a model fits into its thing and stands on the bottom of it', () => {
    const at = (low, high, half) => {
        const { scale, at: [x, y, z] } = fitModel(low, high, half);
        const place = (p) => [p[0] * scale + x, p[1] * scale + y, p[2] * scale + z]
            .map((value) => Math.round(value * 1000) / 1000 + 0);
        return [place(low), place(high)];
    };
    assert.deepEqual(at([0, 0, 0], [2, 4, 2], [1, 2, 1]), [[-1, -2, -1], [1, 2, 1]]);
    assert.deepEqual(at([0, 0, 0], [20, 40, 20], [1, 2, 1]), [[-1, -2, -1], [1, 2, 1]]);
    // Broad and low in a cube: as broad as it, and on the ground.
    assert.deepEqual(at([5, 5, 5], [9, 6, 9], [1, 1, 1]), [[-1, -1, -1], [1, -0.5, 1]]);
    assert.deepEqual(at([0, 0, 0], [2, 0, 2], [1, 1, 1]), [[-1, -1, -1], [1, -1, 1]]); // flat
    assert.equal(fitModel([0, 0, 0], [0, 0, 0], [1, 1, 1]).scale, 1);
    // A character with its arms spread out is as high as its body.
    assert.deepEqual(at([-9, 0, -1], [9, 18, 1], roomFor([0.4, 0.9, 0.4], true)),
        [[-0.9, -0.9, -0.1], [0.9, 0.9, 0.1]]);
});

test('movements are found by the names that programs write', () => {
    const names = ['Armature|Idle', 'Armature|Walk_Loop', 'Jump.001', 'Death'];
    assert.deepEqual(['idle', 'walk', 'run', 'jump', 'fall', 'dead'].map((pose) =>
        clipFor(names, pose)), [0, 1, 1, 2, 2, 3]);
    assert.equal(clipFor(['mixamo.com'], 'walk'), -1);
    assert.equal(clipFor([], 'idle'), -1);
    const pose = (more) => poseOf(
        { speed: 0, rise: 0, stands: true, climbs: false, dead: false, ...more });
    assert.deepEqual([pose({}), pose({ speed: 4 }), pose({ speed: 8 }), pose({ dead: true }),
        pose({ stands: false, rise: 3 }), pose({ stands: false, rise: -3 }),
        pose({ stands: false, climbs: true, rise: 2 })],
    ['idle', 'walk', 'run', 'dead', 'jump', 'fall', 'walk']);
});

test('each side of a shape has the whole picture, upright', () => {
    const box = addTiles(new THREE.BoxGeometry(2, 2, 2), 'flat');
    const read = (name, i, size) => [...box.getAttribute(name).array.slice(i * size, i * size + size)];
    for (let i = 0; i < 24; i++) {
        const [x, y, z] = read('position', i, 3);
        const [nx, ny, nz] = read('normal', i, 3);
        const [u, v] = read('uv', i, 2);
        assert.ok([0, 1].includes(u) && [0, 1].includes(v));
        if (ny === 0) {
            assert.equal(v, (y + 1) / 2);
            // Seen from outside, left is left: u grows along up × normal.
            assert.equal(u, (1 + nz * x - nx * z) / 2);
            assert.deepEqual([read('tileU', i, 3), read('tileV', i, 3)],
                [nx === 0 ? [2, 0, 0] : [0, 0, 2], [0, 2, 0]]);
        }
    }
});

// core.wasm through the page's own bridge: a world and two clients play in one instance; the same
// twice gives the same hashes; a place changes while it is played.
//   node test_exports.mjs CORE.wasm PLACE SESSION    (tests/unit/island_session.h)
import assert from 'node:assert/strict';
import test from 'node:test';

import { loadCore, readPlace, readSession } from './files.mjs';
import { ClientState, Stage, playSession } from './stage.mjs';

const [wasm, folder, session] = process.argv.slice(2);
const files = readPlace(folder);

const own = (player) => {
    const [present, id, x, y, z] = player.client.own();
    return { present: present === 1, id, x, y, z };
};
const playing = (player) => player.client.state() === ClientState.playing;

function newPart(id) {
    return {
        id, name: 'Added', transform: { position: [3, 4, 5] },
        shape: { size: [2, 1, 6] }, colour: '#123456',
    };
}

const play = async () => playSession(await loadCore(wasm), files);

test('two clients reach the world, walk, and see each other', async () => {
    const stage = new Stage(await loadCore(wasm), files);
    const ada = stage.join('ada');
    const bo = stage.join('bo');
    stage.run(2);
    assert.ok(playing(ada), ada.client.closedReason());
    assert.ok(playing(bo), bo.client.closedReason());
    const before = own(ada);
    assert.ok(before.present);
    ada.input.moveZ = 1;
    stage.run(8);
    const after = own(ada);
    assert.equal(after.id, before.id);
    const walked = Math.hypot(after.x - before.x, after.z - before.z);
    assert.ok(walked > 10, `walked ${walked} m`);
    ada.input.moveZ = 0;
    stage.run(1);

    const movers = bo.client.movers();
    const seen = [];
    for (let at = 0; at < movers.length; at += 16) {
        seen.push({ id: movers[at], x: movers[at + 3], z: movers[at + 5] });
    }
    const other = seen.find(({ id }) => id === after.id);
    assert.ok(other, 'bo does not see ada');
    assert.ok(Math.hypot(other.x - own(ada).x, other.z - own(ada).z) < 0.1);
    const joined = bo.events.filter(({ message }) => message.action === 'joined');
    assert.ok(joined.some(({ message }) => message.payload.name === 'ada'));
    assert.equal(ada.client.stats().correctionsWithoutCause, 0);
    assert.deepEqual(stage.world.faults(), []);
    stage.end();
});

test('the same inputs give the same hashes, twice and as in native builds', async () => {
    const first = await play();
    const second = await play();
    assert.ok(playing(first.ada));
    assert.deepEqual(first.stage.hashes(), second.stage.hashes());
    assert.deepEqual(first.stage.hashes(), readSession(session));
    first.stage.end();
    second.stage.end();
});

test('what a page draws', async () => {
    const { stage, ada } = await play();
    const place = ada.client.place();
    assert.equal(place.name, 'Island');
    assert.equal(place.voxelKinds.length, 4);
    assert.equal(place.voxelKinds[3].solid, false);
    assert.equal(place.pieces[1].name, 'wall');
    const parts = ada.client.parts();
    assert.equal(parts.length, place.partCount);
    assert.ok(parts.some(({ shape, colour }) => shape === 3 && colour === 0xcc4466));
    assert.ok(parts.every(({ material }) => typeof material === 'string'));
    const chunks = ada.client.chunks();
    assert.ok(chunks.length > 4 * 20);
    let quads = 0;
    for (let at = 0; at < chunks.length; at += 4) {
        quads += ada.client.chunkMesh(chunks[at], chunks[at + 1], chunks[at + 2]).length / 8;
    }
    assert.ok(quads > 50, `${quads} faces`);
    assert.equal(ada.client.chunkMesh(400, 400, 400).length, 0);
    // The raft moves: it is no part of the scene.
    assert.ok(ada.client.shapes().length >= 16);

    const before = ada.client.terrainVersion();
    const { x, y, z } = own(ada);
    const min = [Math.floor(x) + 2, Math.floor(y) - 1, Math.floor(z)];
    ada.client.send('voxel', 'terraform', { shape: 1, min, max: min, voxelKind: 3 });
    stage.run(1);
    assert.notEqual(ada.client.terrainVersion(), before);
    const at = min.map((v) => v >> 5);
    const rows = ada.client.chunks();
    const versions = [];
    for (let i = 0; i < rows.length; i += 4) {
        if (at.every((v, axis) => rows[i + axis] === v)) {
            versions.push(rows[i + 3]);
        }
    }
    assert.ok(versions.length > 0 && versions.every((version) => version === 1));
    stage.end();
});

test('scene and runes come over the wire when the owner cannot bring them', async () => {
    const seen = new Map(files)
        .set('StarterPlayer/Hello.lua', new TextEncoder().encode('error("hello from the client")'));
    for (const ownerFetches of [true, false]) {
        const stage = new Stage(await loadCore(wasm), seen);
        const ada = stage.join('ada', { ownerFetches });
        stage.run(3);
        assert.ok(playing(ada), ada.client.closedReason());
        assert.deepEqual(ada.client.wants(), []);
        assert.equal(ada.client.progress(), 1);
        assert.match(ada.client.faults()[0]?.message ?? '', /hello from the client/);
        stage.end();
    }
    const stage = new Stage(await loadCore(wasm), seen);
    const ada = stage.join('ada');
    stage.fetch = () => {};
    stage.run(1);
    assert.equal(ada.client.state(), ClientState.fetching);
    assert.equal(ada.client.give(new Uint8Array(10)) !== 0, true);
    ada.client.fetchOverWire();
    stage.run(2);
    assert.ok(playing(ada), ada.client.closedReason());
    assert.deepEqual(ada.client.wants(), []);
    stage.end();
});

// What a host packs is given in tests/browser.
test('what is no packed rune is refused, and the rune comes otherwise', async () => {
    const core = await loadCore(wasm);
    assert.ok(core.packing() > 0);
    assert.equal(core.packing(), (await loadCore(wasm)).packing());
    const seen = new Map(files)
        .set('StarterPlayer/Hello.lua', new TextEncoder().encode('error("hello from the client")'));
    const stage = new Stage(core, seen);
    const ada = stage.join('ada');
    stage.fetch = ({ client }) => client.wants().filter(({ scene }) => scene)
        .forEach(() => client.give(stage.world.scene()));
    stage.run(2);
    const [{ hash, bytes }] = ada.client.wants();
    for (const count of [0, 1, 3, 31, 100, bytes - 1, bytes, bytes + 1, 100_000]) {
        for (const value of [0, 1, 0x2b, 0xff]) {
            assert.notEqual(ada.client.givePacked(hash, new Uint8Array(count).fill(value)), 0);
        }
    }
    assert.notEqual(ada.client.givePacked('0'.repeat(64), new Uint8Array(100)), 0);
    assert.notEqual(ada.client.givePacked('', new Uint8Array(0)), 0);
    assert.ok(playing(ada), ada.client.closedReason());
    assert.equal(ada.client.wants().some((want) => want.hash === hash), true);
    ada.client.fetchOverWire();
    stage.run(2);
    assert.deepEqual(ada.client.wants(), []);
    assert.match(ada.client.faults()[0]?.message ?? '', /hello from the client/);
    stage.end();
});

// A world of the studio signs nothing; what the page does with a host's is tested in the browser.
test('who wants a proof takes no manifest without a signature', async () => {
    const stage = new Stage(await loadCore(wasm), files);
    const ada = stage.join('ada', { ownerVerifies: true });
    stage.run(2);
    assert.equal(ada.client.proof(), null);
    assert.equal(ada.client.state(), ClientState.closed);
    assert.match(ada.client.closedReason(), /manifest of the scripts is not signed/);
    ada.client.verified(1, true); // about nothing
    assert.equal(ada.client.state(), ClientState.closed);
    stage.end();
});

test('a difference in the scene: the world is made anew, the players resume', async () => {
    const { stage, ada } = await play();
    const before = own(ada);
    assert.ok(!ada.client.parts().some(({ colour }) => colour === 0x123456));
    assert.equal(stage.world.applyDiff({ entities: [newPart(900)] }), true);
    stage.reconnectAll();
    stage.run(2);
    assert.ok(playing(ada), ada.client.closedReason());
    assert.ok(ada.client.parts().some(({ colour, half }) => colour === 0x123456 && half[2] === 3));
    const after = own(ada);
    assert.ok(Math.hypot(after.x - before.x, after.z - before.z) < 0.5, 'resumed elsewhere');
    // The same id again replaces it, and `removed` takes it away.
    assert.equal(stage.world.applyDiff({ entities: [{ ...newPart(900), colour: '#654321' }] }), true);
    assert.equal(stage.world.applyDiff({ removed: [900] }), true);
    stage.reconnectAll();
    stage.run(2);
    assert.ok(playing(ada));
    assert.ok(!ada.client.parts().some(({ colour }) => colour === 0x123456 || colour === 0x654321));
    stage.end();
});

test('a difference in a script alone is taken while the world runs', async () => {
    const { stage, ada } = await play();
    const tick = stage.world.stats().tick;
    for (const text of ['one', 'two']) {
        const source = `function onUpdate() error("it is ${text}") end`;
        assert.equal(stage.world.applyDiff(
            { files: { 'ServerScriptService/Sea.lua': source } }), false);
    }
    stage.run(1);
    assert.ok(playing(ada));
    assert.equal(ada.client.stats().state, ClientState.playing);
    assert.ok(stage.world.stats().tick > tick);
    const faults = stage.world.faults();
    assert.ok(faults.some(({ message, line }) => message.includes('it is two') && line === 1),
        JSON.stringify(faults));
    stage.end();
});

test('a broken difference is refused with file and line, and changes nothing', async () => {
    const { stage, ada } = await play();
    const before = stage.hashes();
    const refused = (diff, pattern) => {
        assert.throws(() => stage.world.applyDiff(diff), (error) => {
            assert.match(error.message, pattern);
            return true;
        });
        assert.deepEqual(stage.hashes(), before);
    };
    refused({ entities: [{ ...newPart(901), shape: { size: [0, 1, 1] } }] },
        /^scene\.json line \d+, column \d+: \$\.entities\[\d+\]\.shape/);
    refused({ files: { 'scene.json': '{"format": 1,\n "entities": [}' } }, /^scene\.json line 2/);
    refused({ files: { 'ServerScriptService/Sea.lua': 'local x = 1\nlocal = 2' } },
        /^ServerScriptService\/Sea\.lua line 2.*unexpected symbol|<name> expected/);
    refused({ entities: [newPart(902)], files: { 'Workspace/New.lua': 'x x' } },
        /^Workspace\/New\.lua line 1/);
    refused({ files: { 'Elsewhere/New.lua': 'x = 1' } }, /^Elsewhere\/New\.lua/);
    refused({ files: { 'scene.json': null } }, /scene\.json/);
    refused({ entities: 3 }, /\$\.entities must be a list/);
    refused({ entities: [7] }, /entities/);
    refused({ files: { 'a.json': 3 } }, /must be a string or null/);
    refused({ unknown: 1 }, /unknown/);
    refused('{"entities": [', /line 1/);
    refused('[]', /object/);
    // One good and one bad script: neither is taken, and the good one can be taken later.
    const good = 'function onUpdate() error("taken") end';
    refused({ files: { 'ServerScriptService/Sea.lua': good, 'Workspace/DoorMat.lua': 'end' } },
        /^Workspace\/DoorMat\.lua line 1/);
    stage.run(1);
    assert.ok(playing(ada));
    assert.deepEqual(stage.world.faults(), []);
    assert.equal(stage.world.applyDiff({ files: { 'ServerScriptService/Sea.lua': good } }), false);
    stage.run(1);
    assert.ok(stage.world.faults().length > 0);
    stage.end();
});

test('files that are no place are refused', async () => {
    const core = await loadCore(wasm);
    assert.throws(() => core.createWorld(new Map()), /place\.json|scene\.json/);
    const broken = new Map(files).set('place.json', new TextEncoder().encode('{"format": 1'));
    assert.throws(() => core.createWorld(broken), /^Error: place\.json line 1/);
    const script = new Map(files).set('Workspace/X.lua', new TextEncoder().encode('\n\nend'));
    assert.throws(() => core.createWorld(script), /Workspace\/X\.lua line 3/);
    assert.throws(() => core.createClient({ visibleMax: 0 }), /visibleMax/);
});

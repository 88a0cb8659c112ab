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

test('what build mode asks is what the world decides', async () => {
    const stage = new Stage(await loadCore(wasm), files);
    const ada = stage.join('ada');
    stage.run(3);
    const ray = (pitch, yaw = 0) => {
        const { x, y, z } = own(ada);
        return {
            from: [x, y + 1.62, z], distance: 10,
            to: [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)],
        };
    };
    const WALL = 1;
    assert.equal(ada.client.buildAim(ray(1.2), WALL, 0), null, 'nothing is in the sky');
    // Many places around her: each that is said to be allowed is built, each other one is refused.
    let built = 0, refused = 0;
    for (let turn = 0; turn < 12; turn++) {
        const aim = ada.client.buildAim(ray(-0.35 - turn % 4 * 0.3, turn * 0.55), WALL, turn % 4);
        if (aim === null) {
            continue;
        }
        const [reason, x, y, z, toX, toY, toZ] = aim;
        assert.deepEqual([toX - x, toY - y, toZ - z], turn % 2 === 0 ? [2, 2, 0] : [0, 2, 2]);
        ada.events.length = 0;
        ada.client.send('build', 'place', { piece: WALL, cell: [x, y, z], turn: turn % 4 });
        stage.run(0.5);
        const isBuilt = ada.events.some(({ message }) => message.action === 'placed');
        assert.equal(isBuilt, reason === 0, `reason ${reason} at ${[x, y, z]}`);
        built += isBuilt ? 1 : 0;
        refused += isBuilt ? 0 : 1;
    }
    assert.ok(built > 1 && refused > 1, `${built} built, ${refused} refused`);
    // What is aimed at, and whose it is.
    const seen = Array.from({ length: 24 }, (_, at) =>
        ada.client.buildAim(ray(-0.2, at * Math.PI / 12), 999, 0)).filter((aim) => aim?.[7] > 0);
    assert.ok(seen.length > 0 && seen.every((aim) => aim[8] === WALL && aim[9] === 1));
    // Digging goes into the ground, filling on top of it.
    const dig = ada.client.digAim(ray(-1.2), 2, 0);
    const fill = ada.client.digAim(ray(-1.2), 2, 3);
    assert.ok(dig !== null && fill !== null && dig[5] < fill[2]);
    assert.equal(ada.client.digAim({ from: [NaN, 0, 0], to: [0, 0, 1] }, 2, 0), null);
    stage.end();
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

test('sounds of scripts: what ends by itself once, what goes on as a state', async () => {
    const script = (text) => new TextEncoder().encode(text);
    const noisy = new Map(files)
        .set('ServerScriptService/Band.lua', script(`Sound.Music("calm", {fade = 2, caption = "calm"})
Players.PlayerAdded:Connect(function(player)
    task.wait(1)
    local hum = Sound.Play("hum", {entity = player, loop = true, volume = 0.5, pitch = 2})
    Sound.Play("bang \\"\\n<b>", {position = player.Character.Position})
    task.wait(2)
    hum:Stop()
end)`))
        .set('StarterGui/Ear.lua', script('Sound.Play("own", {loop = true})'));
    const stage = new Stage(await loadCore(wasm), noisy);
    const ada = stage.join('ada');
    const once = [];
    const states = [];
    for (let i = 0, change = 0; i < 300; i++) {
        stage.run(1 / 60);
        once.push(...ada.client.sounds());
        if (ada.client.soundsChange() !== change) {
            change = ada.client.soundsChange();
            states.push(ada.client.soundState());
        }
    }
    assert.equal(once.length, 1);
    assert.equal(once[0].name, 'bang "\n<b>');
    assert.deepEqual([once[0].act, once[0].own, once[0].loop, once[0].p.length],
        ['play', false, false, 3]);
    const hums = states.map(({ loops }) => loops.find(({ name }) => name === 'hum'));
    const hum = hums.find((each) => each !== undefined);
    assert.deepEqual([hum.entity, hum.volume, hum.pitch, hum.loop, hum.own],
        [own(ada).id, 0.5, 2, true, false]);
    const last = states.at(-1);
    assert.deepEqual(last.loops.map(({ name, own: isOwn }) => [name, isOwn]), [['own', true]]);
    assert.equal(last.music.name, 'calm');
    assert.equal(last.music.caption, 'calm');
    assert.equal(last.music.fade, 2);
    assert.ok(last.music.age > 0.5 && last.music.age < 10, `${last.music.age} s`);
    assert.deepEqual(ada.client.faults(), []);
    assert.deepEqual(stage.world.faults(), []);
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

test('parts are edited while they are played', async () => {
    const stage = new Stage(await loadCore(wasm), files);
    const ada = stage.join('ada');
    stage.run(2);
    const scene = JSON.parse(new TextDecoder().decode(files.get('scene.json')));
    const part = scene.entities.find(({ type, parent, motion, anchored, shape }) => type === undefined &&
        parent === undefined && motion === undefined && anchored !== false && shape !== undefined);
    const [x, y, z] = part.transform.position;
    const now = { ...part, transform: { position: [x, y + 3, z] }, colour: '#fe01dc', bounce: 7 };
    const before = stage.world.hash();
    assert.equal(stage.world.edit({ entities: [now] }), true);
    assert.notEqual(stage.world.hash(), before);
    const after = stage.world.hash();
    assert.equal(stage.world.edit({ entities: [now] }), true);
    assert.equal(stage.world.hash(), after, 'it is so already');
    stage.run(1);
    assert.equal(stage.world.edit({ removed: [part.id] }), true);
    stage.run(1);
    assert.equal(stage.world.edit({ removed: [part.id] }), false, 'it is gone');
    assert.equal(stage.world.edit({ entities: [{ ...now, id: 999_999 }] }), false, 'no part of the scene');
    assert.throws(() => stage.world.edit({ entities: [{ ...now, colour: 'greenish' }] }), /colour/);
    assert.throws(() => stage.world.edit([]), /object/);
    assert.ok(playing(ada));
    stage.end();
});

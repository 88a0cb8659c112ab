// The real page in Chromium against the real program.
//   node test_play.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { readPlace, readSession } from '../wasm/files.mjs';
import {
    Player, Relay, World, closeBrowser, distance, onlyInAll, openBrowser, sleep, until,
} from './support.mjs';

const [, web, place] = process.argv.slice(2);

after(closeBrowser);

// Runs a test with a world and what goes with it, and ends all of it whatever happens.
async function stage(body) {
    const world = await World.start();
    const relay = await Relay.start(world.port);
    const players = [];
    const open = async (name) => {
        const player = await Player.open(relay.port, name);
        players.push(player);
        await player.playing();
        return player;
    };
    try {
        await body({ world, relay, open });
        for (const player of players) {
            assert.deepEqual(player.complaints, [], `${player.name}'s console`);
            const { stats } = await player.inspect();
            assert.equal(stats.correctionsWithoutCause, 0);
        }
    } catch (error) {
        for (const player of players) {
            await player.screenshot(`failed_${player.name}`).catch(() => {});
            console.error(player.name, player.complaints, await player.inspect().catch(() => null));
        }
        console.error(world.output);
        throw error;
    } finally {
        await Promise.all(players.map((player) => player.close().catch(() => {})));
        relay.stop();
        await world.stop();
    }
}

// A module of ours as a part of one script.
const part = (path) => stripTypeScriptTypes(readFileSync(new URL(path, import.meta.url), 'utf8'))
    .replace(/^import .*;$/gm, '').replace(/^export \{.*\};$/gm, '').replace(/^export /gm, '');

test('the same inputs in this browser and in native builds give the same hashes', async () => {
    const context = await (await openBrowser()).newContext();
    const page = await context.newPage();
    await page.addScriptTag({
        type: 'module',
        content: `const packFiles = (() => { ${part('../../web/src/core/packed_files.ts')} return packFiles; })();
            ${part('../../web/src/core/bridge.ts')}
            ${part('../wasm/stage.mjs')}
            const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
            window.play = async (wasm, files) => playSession(
                await Core.load(await WebAssembly.compile(bytes(wasm))),
                new Map(files.map(([path, data]) => [path, bytes(data)]))).stage.hashes();`,
    });
    const assets = join(web, 'assets');
    const wasm = readdirSync(assets).find((name) => name.endsWith('.wasm'));
    const encoded = [...readPlace(place)].map(([path, data]) => [path, data.toString('base64')]);
    const hashes = await page.evaluate(([core, files]) => window.play(core, files),
        [readFileSync(join(assets, wasm)).toString('base64'), encoded]);
    assert.deepEqual(hashes,
        readSession(new URL('../unit/island_session.h', import.meta.url)));
    await context.close();
});

test('the files of the page come compressed, and once', () => stage(async ({ open }) => {
    const ada = await open('Ada');
    const core = await until('core.wasm came', () =>
        ada.files.find(({ path }) => path.endsWith('.wasm')));
    const script = ada.files.find(({ path }) => /\/index-.*\.js$/.test(path));
    for (const { path, status, encoding, bytes } of [core, script]) {
        assert.equal(`${status} ${encoding}`, '200 br', path);
        assert.ok(bytes > 0 && bytes < statSync(join(web, path)).size / 2, `${path}: ${bytes}`);
    }
    // The second time nothing comes: the page is asked for and is the same, the rest is kept.
    ada.files.length = 0;
    const again = await ada.context.newPage();
    await again.goto(ada.page.url());
    await until('it is open', () => ada.files.find(({ path }) => path === script.path));
    const known = ada.files.filter(({ path }) => ['/', core.path, script.path].includes(path));
    assert.deepEqual(known.filter(({ bytes }) => bytes > 0), []);
}));

test('two tabs see each other walk', () => stage(async ({ open }) => {
    const ada = await open('Ada');
    const bo = await open('Bo');
    const { id } = await ada.position();
    await until('bo sees ada', () => bo.sees(id));
    const before = await ada.position();
    const seenBefore = await bo.sees(id);
    await ada.look(0.4);
    await ada.hold('w', 1500);
    const now = await ada.stands();
    assert.ok(distance(before, now) > 3, `ada walked ${distance(before, now)} m`);
    await until('bo sees her where she is', async () =>
        distance(now, await bo.sees(id)) < 0.1);
    assert.ok(distance(seenBefore, await bo.sees(id)) > 3, 'bo saw her walk');
    assert.equal((await bo.inspect()).people[id], 'Ada');

    await bo.look(0.2);
    await bo.page.keyboard.down('ArrowRight');
    await bo.page.keyboard.press('Space');
    await sleep(800);
    await bo.page.keyboard.up('ArrowRight');
    const bos = await bo.stands();
    await until('ada sees bo where he is', async () => {
        const shown = await ada.sees(bos.id);
        return shown !== null && distance(shown, bos) < 0.1;
    });

    // The picture is one: not a single colour.
    assert.ok((await ada.inspect()).chunks > 20);
    const there = await bo.position();
    const here = await ada.position();
    await ada.look(Math.atan2(there.x - here.x, there.z - here.z), -0.08);
    await ada.page.keyboard.press('Tab');
    await until('the overlay has numbers', async () =>
        /\d/.test(await ada.page.textContent('#overlay [data-row="server tick"]')));
    await sleep(600);
    await ada.screenshot('two_players');
}));

test('the numbers of the overlay, and no policy violation', () => stage(async ({ open }) => {
    const ada = await open('Ada');
    assert.ok(await ada.page.isHidden('#overlay'));
    await ada.page.keyboard.press('Tab');
    await ada.page.waitForSelector('#overlay', { state: 'visible' }); // it is fetched first
    await sleep(1500);
    const rows = await ada.page.$$eval('#overlay th', (cells) => cells.map((c) => c.textContent));
    for (const row of ['connection', 'server tick', 'round trip', 'jitter', 'input sequence',
        'pending inputs', 'corrections', 'interpolation', 'bytes down', 'bytes up', 'pictures']) {
        assert.ok(rows.includes(row), row);
    }
    const { stats } = await ada.inspect();
    assert.ok(stats.serverTick > 0 && stats.inputSeq >= stats.serverTick);
    assert.ok(stats.bytesDown > 0 && stats.bytesUp > 0);
    // The policy works: what it forbids is blocked and reported.
    const before = ada.complaints.length;
    await ada.page.evaluate(() => {
        const script = document.createElement('script');
        script.textContent = 'window.inline = true';
        document.body.append(script);
    });
    assert.equal(await ada.page.evaluate(() => window.inline), undefined);
    await until('the violation is seen', () => ada.complaints.length > before);
    ada.complaints.length = before;
    await ada.screenshot('overlay');
}));

// Counts what a world sends over its socket: bytes of messages, and snapshots.
function socketCounter() {
    const counted = { bytes: 0, snapshots: 0 };
    counted.change = (data, connection) => {
        if (connection.rest === undefined) {
            const isSocket = data.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'));
            connection.rest = isSocket ? data.subarray(data.indexOf('\r\n\r\n') + 4) : null;
        } else if (connection.rest !== null) {
            connection.rest = Buffer.concat([connection.rest, data]);
        }
        for (let rest = connection.rest; rest !== null && rest.length >= 4; rest = connection.rest) {
            const short = rest[1] & 0x7f;
            const head = short < 126 ? 2 : short === 126 ? 4 : 10;
            const bytes = short < 126 ? short : short === 126 ? rest.readUInt16BE(2)
                : rest.length < 10 ? Infinity : Number(rest.readBigUInt64BE(2));
            if (rest.length < head + bytes) {
                break;
            }
            counted.bytes += bytes;
            counted.snapshots += bytes > 0 && rest[head] === 68 ? 1 : 0; // MESSAGE_SNAPSHOT
            connection.rest = rest.subarray(head + bytes);
        }
        return data;
    };
    return counted;
}

const SHOWN = /^([\d.]+)(?: (B|KiB))?\/s/;

test('the rates of the overlay are those on the wire', { skip: onlyInAll },
    () => stage(async ({ world }) => {
    const counted = socketCounter();
    const relay = await Relay.start(world.port, counted.change);
    const ada = await Player.open(relay.port, 'Ada');
    try {
        await ada.playing();
        await ada.page.keyboard.press('Tab');
        await sleep(3000); // what comes on joining is over
        const shown = { 'bytes down': [], 'snapshots': [] };
        const seen = []; // what was counted, and when
        const before = { ...counted, at: performance.now() };
        for (let i = 0; i < 20; i++) {
            await sleep(250);
            seen.push({ 'bytes down': counted.bytes, snapshots: counted.snapshots, at: performance.now() });
            for (const [name, list] of Object.entries(shown)) {
                const text = await ada.page.textContent(`#overlay [data-row="${name}"]`);
                const [, number, unit] = SHOWN.exec(text) ?? assert.fail(text);
                list.push(Number(number) * (unit === 'KiB' ? 1024 : 1));
            }
        }
        const seconds = (performance.now() - before.at) / 1000;
        for (const [name, total] of [['bytes down', counted.bytes - before.bytes],
            ['snapshots', counted.snapshots - before.snapshots]]) {
            const real = total / seconds;
            const list = shown[name];
            const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
            const say = `${name}: ${real.toFixed(1)} a second, shown ${list.join(' ')}`;
            assert.ok(Math.abs(mean / real - 1) < 0.15, say);
            // A busy machine sends less for a moment: each is within what there was in about a second.
            const rates = seen.slice(4).map((now, at) => (now[name] - seen[at][name]) / (now.at - seen[at].at) * 1000);
            assert.ok(list.every((value) => value > Math.min(...rates) * 0.6 && value < Math.max(...rates) * 1.4),
                `${say}; counted ${rates.map(Math.round).join(' ')}`);
        }
    } finally {
        await ada.close();
        relay.stop();
    }
}));

test('a cut connection resumes into the same body', () => stage(async ({ relay, open }) => {
    const ada = await open('Ada');
    const bo = await open('Bo');
    await ada.look(1);
    await ada.hold('w', 1000);
    // Bo sees her there, so the server has her there: what it has not heard when the connection is
    // cut is lost, and she would rightly stand where it had her.
    const before = await until('bo sees where she stands', async () => {
        const own = await ada.stands();
        const seen = await bo.sees(own.id);
        return seen !== null && distance(seen, own) < 0.1 && own;
    });
    ada.expectDrops = true;
    bo.expectDrops = true;
    await ada.page.keyboard.press('Tab');
    await ada.page.waitForSelector('#overlay', { state: 'visible' });
    relay.cut();
    await until('ada is told', async () => (await ada.inspect()).phase === 'waiting');
    await ada.page.waitForSelector('#gate:not([hidden])');
    await sleep(300);
    await ada.screenshot('reconnecting');
    await ada.page.click('#cancel', { trial: true }); // the numbers do not lie over it
    relay.mend();
    await ada.playing();
    await bo.playing();
    const after = await ada.stands();
    assert.equal(after.id, before.id, 'another body');
    assert.ok(distance(before, after) < 0.5, `${distance(before, after)} m away`);
    assert.ok((await ada.inspect()).link.connections >= 2);
    await ada.hold('w', 800);
    const walked = await ada.stands();
    assert.ok(distance(after, walked) > 1, 'walks on');
    await until('bo sees her there', async () => {
        const seen = await bo.sees(after.id);
        return seen !== null && distance(seen, walked) < 0.1;
    });
}));

test('kill -9 of the world: back with the terrain that was dug', () => stage(async ({ world, open }) => {
    const ada = await open('Ada');
    const dug = () => ada.page.evaluate(() => window.sandlot.inspect().chunks);
    await ada.look(0, -0.55);
    await sleep(700);
    const before = await dug();
    for (const key of ['g', 'g', 'f', 'g']) {
        await ada.page.keyboard.press(key);
        await sleep(500);
    }
    await until('the terrain is another', async () => await dug() > before);
    const edits = await ada.page.evaluate(() => window.sandlot.terrain());
    assert.ok(edits.length > 0, 'no chunk was changed');
    await sleep(1500);
    const stood = await ada.stands();

    ada.expectDrops = true;
    const pid = world.worldPid();
    const links = (await ada.inspect()).link.connections;
    process.kill(pid, 'SIGKILL');
    // She may be back before the page is asked how she is.
    await until('ada has come again', async () =>
        (await ada.inspect()).link.connections > links);
    await ada.playing();
    assert.notEqual(world.worldPid(), pid);
    await sleep(1000);
    assert.ok(distance(stood, await ada.position()) < 0.5, 'she stands elsewhere');
    const kept = async (player) => JSON.stringify(
        await player.page.evaluate(() => window.sandlot.terrain())) === JSON.stringify(edits);
    await until('ada has the terrain', () => kept(ada));

    // Somebody who never saw the world before finds it as it is, too.
    const bo = await open('Bo');
    await until('bo has the terrain', () => kept(bo));
    await ada.look(0, -0.5);
    await sleep(500);
    await ada.screenshot('after_kill');

    // And after the whole host was killed.
    bo.expectDrops = true;
    await world.killHost();
    await sleep(500);
    await world.run();
    await ada.playing();
    await bo.playing();
    await sleep(1000);
    await until('the terrain is still there', async () => await kept(ada) && kept(bo));
}));

test('shots are fired and seen; reasons are given in words', () => stage(async ({ world, relay, open }) => {
    const ada = await open('Ada');
    await ada.look(0, 0.2);
    await ada.page.mouse.move(160, 90);
    await ada.page.mouse.down();
    await ada.page.mouse.up();
    await until('the pointer is locked', () =>
        ada.page.evaluate(() => document.pointerLockElement !== null));
    await ada.page.mouse.down();
    await until('a projectile flies', async () => {
        const { movers } = await ada.inspect();
        return movers.some((value, at) => at % 16 === 2 && value === 3);
    });
    await ada.page.mouse.up();
    await ada.screenshot('shot');
    await sleep(1500);

    // Without a server the page shows that, and continues by itself when it is back.
    ada.expectDrops = true;
    await world.killHost();
    await until('ada is told', async () => (await ada.inspect()).phase === 'waiting');
    await until('and why', async () => /lost|reach/.test(await ada.page.textContent('#detail')));
    await world.run();
    await ada.playing();

    // A room that is not here: the reason, and a way to try again.
    const bo = await Player.open(relay.port, 'Bo', { query: 'play?room=NOWHERE', expectDrops: true });
    await bo.page.waitForSelector('#again:not([hidden])');
    assert.match(await bo.page.textContent('#detail'), /no such world/);
    await bo.page.waitForSelector('#leave:not([hidden]) a[href="/"]');
    await bo.page.click('#again');
    await bo.page.waitForSelector('#again:not([hidden])');
    assert.deepEqual(bo.complaints, []);
    await bo.close();
}));

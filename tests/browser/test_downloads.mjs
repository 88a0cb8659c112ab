// Downloads of the real page: the second visit fetches nothing, what is damaged is fetched again, a cut
// connection goes on where it was, and static files of another server are used and checked.
//   node test_downloads.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { after } from 'node:test';

import { Player, Relay, World, closeBrowser, onlyInAll, sleep, until } from './support.mjs';

const [program] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-downloads-'));
const MODULES = 50; // that one script requires
const PARTS = 3000;

after(async () => {
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

function write(place, name, text) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), typeof text === 'string' ? text : JSON.stringify(text));
}

// Many scripts, and a scene of some hundred kilobytes.
function writePlace(name, more = {}) {
    const place = join(folder, name);
    write(place, 'place.json', {
        format: 1, name: 'Many',
        voxelKinds: [{ name: 'grass', material: 'grass', colour: '#5d9c4d' }],
    });
    const parts = Array.from({ length: PARTS }, (_, i) => ({
        id: i + 2, name: `Part ${i}`, type: 'part', anchored: true,
        transform: { position: [(i * 37 % 997) / 20 - 25, 12 + (i * 61 % 89) / 10, (i * 53 % 991) / 20 - 25] },
        shape: { size: [0.3 + (i * 7 % 11) / 30, 0.4, 0.5 + (i * 5 % 13) / 40] },
    }));
    write(place, 'scene.json', {
        format: 1, bounds: { min: [-64, -8, -64], max: [64, 40, 64] },
        terrain: [{ min: [-32, -2, -32], max: [31, -1, 31], kind: 'grass' }],
        entities: [{ id: 1, name: 'Start', type: 'spawn', transform: { position: [0, 1, 0] } }, ...parts],
    });
    for (let i = 0; i < MODULES; i++) {
        const words = Array.from({ length: 150 }, (_, k) =>
            `"${((i * 7919 + k * 104729) % 1000003).toString(36)}${(k * i * 31).toString(36)}"`).join(', ');
        write(place, `ReplicatedStorage/Module${i}.lua`, `local names = {${words}}\nreturn names\n`);
    }
    write(place, 'ServerScriptService/Ears.lua', `Network.OnClientEvent("hello", function(player, word)
    print("heard", word)
end)
`);
    const all = Array.from({ length: MODULES }, (_, i) => `count = count + #require("ReplicatedStorage/Module${i}")`);
    write(place, 'StarterGui/Hello.lua', `local count = 0
${all.join('\n')}
function onStart()
    print("in the page", count)
    Network.FireServer("hello", count)
end
`);
    for (const [path, text] of Object.entries(more)) {
        write(place, path, text);
    }
    return place;
}

const many = writePlace('many');

// So many that their manifest fits no message.
const LONG = 600;
const long = writePlace('long', Object.fromEntries(Array.from({ length: LONG }, (_, i) =>
    [`ReplicatedStorage/Long/Part${i}.lua`, `return ${i}\n`])));

async function stage({ place = many, options = () => [], relayed = null }, body) {
    const world = await World.start(place, options);
    const relay = relayed === null ? null : await Relay.start(world.port, relayed);
    const players = [];
    const open = async (name, more = {}) => {
        const player = await Player.open(relay?.port ?? world.port, name, more);
        players.push(player);
        return player;
    };
    try {
        await body({ world, relay, open });
    } catch (error) {
        for (const player of players) {
            await player.screenshot(`failed_${player.name}`).catch(() => {});
            console.error(player.name, player.complaints, player.printed,
                JSON.stringify(await player.inspect().catch(() => null))?.slice(-1500));
        }
        console.error(world.output);
        throw error;
    } finally {
        await Promise.all(players.map((player) => player.close().catch(() => {})));
        relay?.stop();
        await world.stop();
    }
}

// Until all scripts run; what was downloaded for it.
async function complete(player) {
    await player.playing();
    await until('the script runs', () => player.printed.some((line) => line.includes('in the page')));
    return until('everything is here', async () => {
        const { downloads, stats, cache } = await player.inspect();
        return stats !== null && stats.scripts === MODULES + 1 && stats.runes === stats.scripts &&
            downloads.scriptsHave === downloads.scripts && { ...downloads, cache };
    });
}

async function again(player) {
    player.printed.length = 0;
    player.fetched.length = 0;
    await player.page.reload();
    await player.page.fill('#name', player.name);
    await player.page.press('#name', 'Enter');
    return complete(player);
}

// Whatever the page has written is on disk.
const settle = (player, entries) => until('it is kept', async () =>
    (await player.inspect()).cache?.entries >= entries);

test('the second visit fetches nothing, and what was damaged meanwhile is fetched again', () =>
    stage({}, async ({ open }) => {
        const ada = await open('Ada');
        const cold = await complete(ada);
        assert.ok(cold.requests <= 4, `${cold.requests} requests`);
        assert.equal(cold.fromCache, 0);
        assert.equal(cold.runeHave, cold.runeBytes);
        await settle(ada, MODULES + 2);
        const warm = await again(ada);
        assert.equal(warm.requests, 0);
        assert.equal(warm.wireBytes, 0);
        assert.equal(warm.fromCache, MODULES + 2, 'scripts and scene');
        assert.deepEqual(ada.fetched, []);

        // One entry with other bytes, one that is nothing of ours, one that is gone.
        await ada.page.evaluate(() => new Promise((done, failed) => {
            const opening = indexedDB.open('sandlot');
            opening.onsuccess = () => {
                const transaction = opening.result.transaction(['data'], 'readwrite');
                const data = transaction.objectStore('data');
                data.getAllKeys().onsuccess = ({ target: { result: keys } }) => {
                    data.get(keys[3]).onsuccess = ({ target: { result: kept } }) => {
                        kept.bytes[kept.bytes.length >> 1] ^= 0x40;
                        data.put(kept, keys[3]);
                    };
                    data.put('rubbish', keys[7]);
                    data.delete(keys[9]);
                };
                transaction.oncomplete = () => { opening.result.close(); done(); };
                transaction.onerror = failed;
            };
        }));
        const mended = await again(ada);
        assert.equal(mended.cache.damaged, 1);
        assert.equal(mended.fromCache, MODULES + 2 - 3);
        assert.ok(mended.requests >= 1 && mended.requests <= 2, `${mended.requests} requests`);
        await settle(ada, MODULES + 2);
        assert.equal((await again(ada)).requests, 0, 'it is mended');
        assert.deepEqual(ada.complaints, []);
    }));

test('a manifest that fits no message is kept too, and a second life of the world has the same one', { skip: onlyInAll }, () =>
    stage({ place: long }, async ({ world, open }) => {
        const ada = await open('Ada');
        const complete = async () => {
            await ada.playing();
            await until('the script runs', () => ada.printed.some((line) => line.includes('in the page')));
            const { stats, downloads } = await ada.inspect();
            assert.equal(stats.scripts, MODULES + 1 + LONG);
            assert.ok(stats.manifestProven, 'it is verified');
            return downloads;
        };
        const cold = await complete();
        assert.equal(cold.requests, 3, 'the scene, the rows of the manifest, the runes');
        const rows = await until('it is counted', () =>
            ada.fetched.find(({ encoding }) => encoding === 'zstd'));
        assert.ok(rows.bytes < (MODULES + LONG) * 110, `${rows.bytes} bytes: half of them are hashes`);
        await settle(ada, MODULES + 3);
        for (const life of ['same', 'next']) {
            if (life === 'next') {
                ada.expectDrops = true;
                await world.killHost();
                await world.run();
            }
            ada.printed.length = 0;
            ada.fetched.length = 0;
            await ada.page.reload();
            await ada.page.fill('#name', 'Ada');
            await ada.page.press('#name', 'Enter');
            const warm = await complete();
            assert.equal(warm.requests, 0, `the ${life} life`);
            assert.equal(warm.wireBytes, 0);
            assert.equal(warm.fromCache, MODULES + 3, 'the scripts that run, the scene, the manifest');
            assert.deepEqual(ada.fetched, []);
        }
        assert.deepEqual(ada.complaints, []);
    }));

test('two tabs that come at the same time share what they keep', { skip: onlyInAll }, () => stage({}, async ({ open }) => {
    const ada = await open('Ada');
    const bo = await Player.open(new URL(ada.page.url()).port, 'Bo', { context: ada.context });
    const [first, second] = await Promise.all([complete(ada), complete(bo)]);
    assert.ok(first.requests + second.requests > 0);
    await settle(ada, MODULES + 2);
    assert.equal((await again(bo)).requests, 0);
    assert.deepEqual([...ada.complaints, ...bo.complaints], []);
}));

test('without storage, and where it is full, everything still runs', { skip: onlyInAll }, () =>
    stage({}, async ({ world, open }) => {
        const full = await open('Full', {
            before: async (context, page) => {
                const session = await context.newCDPSession(page);
                await session.send('Storage.overrideQuotaForOrigin',
                    { origin: `http://127.0.0.1:${world.port}`, quotaSize: 2000 });
            },
        });
        await complete(full);
        await until('storage refused', async () => (await full.inspect()).cache.failures > 0);
        const none = await open('None', {
            before: async (context, page) => {
                // A database of a later version, which cannot be opened.
                await page.goto(`http://127.0.0.1:${world.port}/`);
                await page.evaluate(() => new Promise((done, failed) => {
                    const opening = indexedDB.open('sandlot', 9);
                    opening.onsuccess = () => { opening.result.close(); done(); };
                    opening.onerror = failed;
                }));
            },
        });
        const downloads = await complete(none);
        assert.ok(downloads.requests > 0 && !downloads.cache.isOpen);
        assert.deepEqual([...full.complaints, ...none.complaints], []);
    }));

// Lets so many bytes of a blob pass, of the first one or of a later one, and holds the rest back until
// it is over.
function holder(number, bytes) {
    const state = { isHeld: false, isOver: false, seen: 0 };
    const isBlob = (data) => data.subarray(0, 12).equals(Buffer.from('HTTP/1.1 200')) &&
        /immutable[^]*octet-stream|octet-stream[^]*immutable/.test(
            data.subarray(0, 1500).toString('latin1'));
    state.change = (data, connection) => {
        if (isBlob(data)) {
            state.seen += 1;
            connection.isIt ||= state.seen === number;
        }
        if (!connection.isIt || state.isOver) {
            return data;
        }
        const before = connection.count ?? 0;
        connection.count = before + data.length;
        state.isHeld ||= connection.count > bytes;
        return data.subarray(0, Math.max(bytes - before, 0));
    };
    return state;
}

// Has the page got a part of it?
async function hasPart(player, what) {
    const { downloads } = await player.inspect();
    return downloads !== null && (what === 'scene'
        ? downloads.sceneHave > 0 && downloads.sceneHave < downloads.sceneBytes
        : downloads.wireBytes > downloads.sceneHave);
}

test('a cut in the middle of a download goes on where it was', async () => {
    // The scene comes first, then all runes together.
    for (const [what, number, bytes] of [['scene', 1, 60_000], ['scripts', 2, 30_000]]) {
        const held = holder(number, bytes);
        await stage({ relayed: held.change }, async ({ relay, open }) => {
            const ada = await open('Ada', { expectDrops: true });
            await until(`a part of the ${what} is here`, async () =>
                held.isHeld && await hasPart(ada, what));
            held.isOver = true;
            relay.cut();
            await ada.screenshot(`cut_${what}`);
            relay.mend();
            const downloads = await complete(ada);
            assert.ok(downloads.cuts >= 1, `${downloads.cuts} cuts`);
            assert.equal(downloads.refused.length, 0);
            if (what === 'scene') {
                assert.ok(ada.fetched.some(({ status }) => status === 206), 'the rest, by Range');
            }
            const all = downloads.sceneBytes + downloads.runeBytes;
            assert.ok(downloads.wireBytes < all, `${downloads.wireBytes} of ${all}: nothing came twice`);
        });
    }
});

const stuck = writePlace('stuck', {
    'StarterGui/Stuck.lua': 'function onUpdate()\n    while true do end\nend\n',
    // Before the world appears, and beside everything else.
    'ReplicatedFirst/Never.lua': 'local count = 0\nwhile true do\n    count = count + 1\nend\n',
    'StarterGui/Strings.lua': 'function onUpdate()\n    local text = "x"\n    while true do\n' +
        '        text = text .. text\n    end\nend\n',
});

test('a script that never ends is ended, and the page goes on', () => stage({
    place: stuck,
}, async ({ open }) => {
    const ada = await open('Ada');
    await ada.playing();
    await until('the script runs', () => ada.printed.some((line) => line.includes('in the page')));
    for (const [script, lines] of [['StarterGui/Stuck', [2]], ['ReplicatedFirst/Never', [2, 3]],
        ['StarterGui/Strings', [3, 4]]]) {
        const fault = await until(`${script} is told`, async () =>
            (await ada.inspect()).faults.find(({ path }) => path === script));
        assert.ok(lines.includes(fault.line), `${script}: line ${fault.line}: ${fault.message}`);
    }
    const before = (await ada.inspect()).stats;
    const began = Date.now();
    await ada.page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    assert.ok(Date.now() - began < 5000, 'the page draws');
    await until('snapshots arrive', async () =>
        (await ada.inspect()).stats.snapshots > before.snapshots + 20);
    await ada.hold('w', 800);
    assert.deepEqual(ada.complaints, []);
}));

// The files of a folder, as a web server with the header has them.
async function staticServer(root, change = (data) => data) {
    const server = createServer((request, answer) => {
        server.paths.push(request.url);
        try {
            const data = change(readFileSync(join(root, request.url)));
            answer.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end(data);
        } catch {
            answer.writeHead(404, { 'Access-Control-Allow-Origin': '*' }).end();
        }
    });
    server.paths = [];
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    return server;
}

test('static files of another server are used, checked, and done without', { skip: onlyInAll }, async () => {
    const out = join(folder, 'cdn');
    execFileSync(program, ['export-cdn', many, out, '--allow-weak-jail'], { stdio: 'ignore' });
    const server = await staticServer(out);
    const cdn = `http://127.0.0.1:${server.address().port}`;
    await stage({ options: () => ['--cdn-base', cdn] }, async ({ world, open }) => {
        const ada = await open('Ada');
        const cold = await complete(ada);
        assert.equal(server.paths.length, 2, 'the scene, and all runes in one file');
        assert.equal(cold.requests, 2);
        assert.deepEqual(ada.fetched.filter(({ port }) => port === String(world.port)), []);
        assert.deepEqual(ada.complaints, []);
        // It is gone: the host has everything.
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
        const bo = await open('Bo', { expectDrops: true });
        await complete(bo);
        assert.ok(bo.fetched.some(({ port }) => port === String(world.port)));
    });
    // It has other bytes under these names.
    const liar = await staticServer(out, (data) => {
        data[data.length >> 1] ^= 1;
        return data;
    });
    await stage({ options: () => ['--cdn-base', `http://127.0.0.1:${liar.address().port}`] },
        async ({ open }) => {
            const eve = await open('Eve');
            const downloads = await complete(eve);
            assert.ok(downloads.refused.length > 0, 'it was noticed');
        });
    liar.closeAllConnections();
    await new Promise((done) => liar.close(done));
});

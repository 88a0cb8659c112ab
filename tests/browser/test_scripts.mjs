// Client scripts in the real page: they run once their manifest is verified, what fails is shown to
// whoever writes them, and what somebody changed on the way is refused.
//   node test_scripts.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { Player, Relay, World, closeBrowser, sleep, until } from './support.mjs';

const [, , place] = process.argv.slice(2);
const LAN = 'lan.test'; // support.mjs tells the browser that it is here
const folder = mkdtempSync(join(tmpdir(), 'sandlot-scripts-'));

after(async () => {
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

const SCRIPTS = {
    'ServerScriptService/Ears.lua': `Network.OnClientEvent("hello", function(player, word)
    print("heard", word)
end)
`,
    'ReplicatedStorage/Words.lua': 'return {word = "verified"}\n',
    'StarterGui/Hello.lua': `local words = require("ReplicatedStorage/Words")
function onStart()
    print("in the page")
    Network.FireServer("hello", words.word)
end
`,
    'ReplicatedFirst/Early.lua': 'print("first of all")\n',
    'StarterGui/Clumsy.lua': `-- The third line fails.
function onUpdate()
    local nothing = (nil).field
end
`,
};

function writePlace() {
    const path = join(folder, 'island');
    cpSync(place, path, {
        recursive: true, filter: (from) => !from.includes('.sandlot'),
    });
    for (const [name, text] of Object.entries(SCRIPTS)) {
        mkdirSync(join(path, name, '..'), { recursive: true });
        writeFileSync(join(path, name), text);
    }
    return path;
}

const scripted = writePlace();

async function stage(change, body) {
    const world = await World.start(scripted, (port) => ['--origin', `http://${LAN}:${port}`]);
    const relay = await Relay.start(world.port, change === null ? null : await change(world));
    const players = [];
    const open = async (name, port = relay.port, host = '127.0.0.1') => {
        const player = await Player.open(port, name, { width: 960, height: 540 }, '', false, host);
        players.push(player);
        return player;
    };
    try {
        await body({ world, open });
    } catch (error) {
        for (const player of players) {
            await player.screenshot(`failed_${player.name}`).catch(() => {});
            console.error(player.name, player.complaints, player.printed,
                await player.inspect().catch(() => null));
        }
        console.error(world.output);
        throw error;
    } finally {
        await Promise.all(players.map((player) => player.close().catch(() => {})));
        relay.stop();
        await world.stop();
    }
}

async function refused(player, world) {
    await until('the page says why', async () => (await player.inspect()).phase === 'closed');
    const text = await player.page.textContent('#gate');
    await sleep(500);
    assert.ok(!/heard/.test(world.output), 'a script ran');
    assert.deepEqual(player.printed.filter((line) => /first of all|in the page/.test(line)), []);
    return text;
}

async function runs(player, world) {
    await player.playing();
    await until('the server hears the script', () => /heard verified/.test(world.output));
    await until('the manifest is verified', async () => {
        const { stats } = await player.inspect();
        return stats !== null && stats.manifestProven && stats.manifestVersion >= 1;
    });
    assert.ok(player.printed.some((line) => line.includes('in the page')), 'what it printed');
}

test('client scripts run once they are verified, and faults are shown', () =>
    stage(null, async ({ world, open }) => {
        const ada = await open('Ada');
        await runs(ada, world);
        const { stats, faults } = await ada.inspect();
        assert.equal(stats.runes, stats.scripts);
        assert.ok(faults.some(({ path, line }) => path === 'StarterGui/Clumsy' && line === 3));
        assert.match(await ada.page.textContent('#faults'), /StarterGui\/Clumsy:3: /);
        assert.ok(await ada.page.isVisible('#faults'));
        await ada.page.keyboard.press('Tab');
        await until('the overlay tells of scripts', async () => /manifest \d+, verified/.test(
            await ada.page.textContent('#overlay [data-row="scripts"]')));
        const first = ada.printed.findIndex((line) => line.includes('first of all'));
        const then = ada.printed.findIndex((line) => line.includes('in the page'));
        assert.ok(first >= 0 && first < then, 'ReplicatedFirst is first');
        assert.ok(ada.encodings.includes('zstd'), `runes as zstd: ${ada.encodings}`);
        await ada.screenshot('scripts');
        assert.deepEqual(ada.complaints, []);
    }));

// Not a secure page: no WebCrypto there.
test('on an address of the local network they are verified too', () =>
    stage(null, async ({ world, open }) => {
        const ada = await open('Ada', world.port, LAN);
        assert.equal(await ada.page.evaluate(() => isSecureContext), false);
        await runs(ada, world);
        assert.ok(await ada.page.isHidden('#faults'), 'players can do nothing about faults');
        // The browser's own word on headers that such a page cannot have.
        assert.deepEqual(ada.complaints.filter((line) => !line.includes('untrustworthy')), []);
    }));

test('a manifest by another key is refused', () => stage(
    async (world) => {
        const answer = await fetch(`http://127.0.0.1:${world.port}/join`, {
            method: 'POST', body: '{}',
        });
        const key = (await answer.json()).signing_key;
        return (data) => Buffer.from(
            data.toString('latin1').replace(key, '0'.repeat(64)), 'latin1');
    },
    async ({ world, open }) => {
        const text = await refused(await open('Eve'), world);
        assert.match(text, /not signed by this world's host/);
    }));

test('a manifest that was changed is refused', () => stage(
    () => (data) => Buffer.from(data.toString('latin1')
        .replace('StarterGui/Hello', 'StarterGui/Hullo'), 'latin1'),
    async ({ world, open }) => {
        const text = await refused(await open('Eve'), world);
        assert.match(text, /script|signed|manifest/i);
    }));

const spoil = (data, where) => {
    const text = data.toString('latin1');
    return where(text) ? Buffer.from(text.replaceAll('SLRN', 'SLRX'), 'latin1') : data;
};

test('a rune that HTTP changed comes over the socket instead', () => stage(
    () => (data) => spoil(data, (text) => text.startsWith('HTTP/1.1 200')),
    async ({ world, open }) => {
        await runs(await open('Ada'), world);
    }));

test('a rune that is changed everywhere never runs', () => stage(
    () => (data) => spoil(data, (text) => text.includes('SLRN')),
    async ({ world, open }) => {
        const text = await refused(await open('Eve'), world);
        assert.match(text, /rune/);
    }));

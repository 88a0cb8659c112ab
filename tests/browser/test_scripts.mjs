// Client scripts in the real page: they run once their manifest is verified, their errors are shown to
// the creator, and scripts that were changed in transit are rejected.
//   node test_scripts.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { Player, Relay, World, closeBrowser, onlyInAll, sleep, until } from './support.mjs';

const [program, , place] = process.argv.slice(2);
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
require("ReplicatedStorage/Bag")
function onStart()
    print("in the page")
    Network.FireServer("hello", words.word)
end
`,
    'ReplicatedFirst/Early.lua': 'print("first of all")\n',
    'ReplicatedStorage/Bag.lua': `local Bag = {}
Bag.__index = Bag

function Bag.new(room)
    return setmetatable({slots = {}, room = room or 20}, Bag)
end

function Bag:count(item)
    local count = 0
    for _, slot in ipairs(self.slots) do
        if slot.item == item then
            count = count + slot.amount
        end
    end
    return count
end

function Bag:put(item, amount)
    if #self.slots >= self.room then
        return false, "the bag is full"
    end
    table.insert(self.slots, {item = item, amount = amount})
    return true
end

return Bag
`,
    'StarterGui/Keys.lua': `Input.Pressed:Connect(function(key) print("down " .. key) end)
Input.Released:Connect(function(key) print("up " .. key) end)
local told
function onUpdate()
    if Input.IsKeyPressed("W") and Input.IsKeyPressed("KeyW") and input.isKeyDown("w") and not told then
        told = true
        print("held W")
    end
end
`,
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

// The runes that players get, as the manifest of their build has them.
function readRunes() {
    execFileSync(program, ['build', scripted, '--allow-weak-jail'], { stdio: 'ignore' });
    const path = join(scripted, '.sandlot', 'client', 'soul', 'manifest.json');
    const { scripts } = JSON.parse(readFileSync(path, 'utf8'));
    return scripts.map(({ rune_hash: hash, size_bytes: bytes }) =>
        ({ hash: hash.replace('sha256:', ''), bytes }));
}

const runes = readRunes();

// An answer as it is on the way; null where there is none.
function download(world, path, headers = {}) {
    return new Promise((done, failed) => {
        get({ port: world.port, path, headers }, (answer) => {
            const pieces = [];
            answer.on('data', (piece) => pieces.push(piece));
            answer.on('end', () =>
                done(answer.statusCode === 200 ? Buffer.concat(pieces) : null));
        }).on('error', failed);
    });
}

async function joined(world) {
    const answer = await fetch(`http://127.0.0.1:${world.port}/join`, {
        method: 'POST', body: '{}',
    });
    return answer.json();
}

// Damages runes on their way to the page: packed ones, or all of them, over HTTP or everywhere.
async function spoiler(world, { plain, socket }) {
    const { rune_packing: packing } = await joined(world);
    const wanted = [];
    for (const { hash } of runes) {
        wanted.push(await download(world, `/packed/${packing}/${hash}`));
        if (plain) {
            wanted.push(await download(world, `/blob/${hash}`));
            wanted.push(await download(world, `/blob/${hash}`, { 'Accept-Encoding': 'zstd' }));
        }
    }
    const marks = wanted.map((bytes) => bytes.subarray(0, 24));
    return (data, connection) => {
        connection.isSocket ||= data.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'));
        if (connection.isSocket && !socket) {
            return data;
        }
        for (const mark of marks) {
            const at = data.indexOf(mark);
            if (at >= 0) {
                data[at + 8] ^= 0x55;
            }
        }
        return data;
    };
}

// What came of runes, once they are as many.
async function runesOf(player, count) {
    const isRune = ({ path, status }) =>
        status === 200 && runes.some(({ hash }) => path.endsWith(hash));
    await until('all runes are counted', () => player.fetched.filter(isRune).length >= count);
    return player.fetched.filter(isRune);
}

// Answers with many of them.
async function bundlesOf(player) {
    const isBundle = ({ path, status }) => status === 200 && /^\/packed\/\d+$/.test(path);
    await until('runes came together', () => player.fetched.some(isBundle));
    return player.fetched.filter(isBundle);
}

async function stage(change, body) {
    const world = await World.start(scripted, (port) => ['--public-url', `http://${LAN}:${port}`]);
    const relay = await Relay.start(world.port, change === null ? null : await change(world));
    const players = [];
    const open = async (name, port = relay.port, host = '127.0.0.1') => {
        const player = await Player.open(port, name, { host });
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
        assert.match(await ada.page.textContent('#faults'), /^StarterGui\/Clumsy\.lua:3: (?!StarterGui)/);
        assert.ok(await ada.page.isVisible('#faults'));
        await ada.page.keyboard.press('Tab');
        await until('the overlay tells of scripts', async () => /manifest \d+, verified/.test(
            await ada.page.textContent('#overlay [data-row="scripts"]')));
        const first = ada.printed.findIndex((line) => line.includes('first of all'));
        const then = ada.printed.findIndex((line) => line.includes('in the page'));
        assert.ok(first >= 0 && first < then, 'ReplicatedFirst is first');
        const { rune_packing: packing } = await joined(world);
        const came = await bundlesOf(ada);
        assert.deepEqual(came.map(({ path }) => path), [`/packed/${packing}`], 'all in one answer');
        const sum = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
        assert.ok(sum(came) > 0 && sum(came) <= 0.45 * sum(runes), `${sum(came)} of ${sum(runes)}`);
        await ada.screenshot('scripts');
        assert.deepEqual(ada.complaints, []);
    }));

// Drops a folder of this machine on the page, as a hand does.
async function drop(page, path) {
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) {
        await session.send('Input.dispatchDragEvent', { type, x: 200, y: 150, data });
    }
}

test('the scripts of a folder that is dropped on the page are checked as a build checks them', () =>
    stage(null, async ({ open }) => {
        const broken = join(folder, 'broken');
        cpSync(scripted, broken, { recursive: true, filter: (from) => !from.includes('.sandlot') });
        writeFileSync(join(broken, 'StarterGui', 'Broken.lua'), '-- one\nlocal = 2\n');
        writeFileSync(join(broken, 'Workspace', 'Side.lua'), 'function onStrat()\nend\n');
        const built = spawnSync(program, ['build', broken, '--json', '--allow-weak-jail'],
            { encoding: 'utf8' });
        const wanted = JSON.parse(built.stdout).diagnostics.map((row) =>
            `${row.file}:${row.line}: ${row.level}: ${row.message} [${row.code}]`);
        assert.equal(wanted.length, 2);
        const ada = await open('Ada');
        await ada.playing();
        assert.ok(await ada.page.isHidden('#diagnostics'));
        await drop(ada.page, broken);
        await until('the page says what is wrong', () => ada.page.isVisible('#diagnostics'));
        const shown = await ada.page.locator('#diagnostics li').allTextContents();
        assert.match(shown[0], /^\d+ scripts checked: 1 error, 1 warning$/);
        assert.deepEqual(shown.slice(1), wanted);
        await ada.screenshot('check');
        await ada.page.click('#diagnostics');
        assert.ok(await ada.page.isHidden('#diagnostics'));
        await ada.playing(); // it went on meanwhile
        assert.deepEqual(ada.complaints, []);
    }));

test('keys, buttons and actions reach scripts', () => stage(null, async ({ world, open }) => {
    const ada = await open('Ada');
    await runs(ada, world);
    const says = (line) => until(`a script says "${line}"`,
        () => ada.printed.some((said) => said.endsWith(line)));
    // The page's name of the key, and what scripts are told: itself, and the button it stands for.
    for (const [code, ...names] of [['KeyW', 'W'], ['Space', 'Space', 'Jump'], ['KeyE', 'E', 'Use'],
        ['ShiftLeft', 'Shift', 'Run'], ['Digit7', '7'], ['ArrowUp', 'Up'], ['KeyQ', 'Q', 'wave']]) {
        await ada.page.keyboard.down(code);
        for (const name of names) {
            await says(`down ${name}`);
        }
        await ada.page.keyboard.up(code);
        for (const name of names) {
            await says(`up ${name}`);
        }
    }
    await says('held W');
    await ada.page.mouse.move(160, 90);
    await ada.page.mouse.down(); // the first one takes the mouse
    await until('the page has the mouse', () =>
        ada.page.evaluate(() => document.pointerLockElement !== null));
    await ada.page.mouse.up();
    await ada.page.mouse.down();
    await says('down Fire');
    await ada.page.mouse.up();
    await says('up Fire');
    // What is held when the window loses its keys goes up.
    await ada.page.keyboard.down('KeyB');
    await says('down B');
    await ada.page.evaluate(() => window.dispatchEvent(new Event('blur')));
    await says('up B');
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
        const { signing_key: key } = await joined(world);
        return (data) => Buffer.from(
            data.toString('latin1').replace(key, '0'.repeat(64)), 'latin1');
    },
    async ({ world, open }) => {
        const text = await refused(await open('Eve'), world);
        assert.match(text, /not signed by this world's host/);
    }));

test('a manifest that was changed is refused', { skip: onlyInAll }, () => stage(
    () => (data) => Buffer.from(data.toString('latin1')
        .replace('StarterGui/Hello', 'StarterGui/Hullo'), 'latin1'),
    async ({ world, open }) => {
        const text = await refused(await open('Eve'), world);
        assert.match(text, /script|signed|manifest/i);
    }));

// Nothing is asked for packed where the numbers differ: the page of another version.
test('a host that packs otherwise sends runes as they are', { skip: onlyInAll }, () => stage(
    () => (data) => Buffer.from(data.toString('latin1').replace(
        /"rune_packing":(\d)/, (_, digit) => `"rune_packing":${(Number(digit) % 9) + 1}`), 'latin1'),
    async ({ world, open }) => {
        const ada = await open('Ada');
        await runs(ada, world);
        const { downloads } = await ada.inspect();
        assert.equal(downloads.requests, 2, 'the scene, and all runes in one answer');
        assert.equal(downloads.wireBytes,
            downloads.sceneBytes + downloads.runeBytes + 5 * downloads.scripts, 'as they are');
    }));

test('a rune that is damaged where it is packed comes as it is', { skip: onlyInAll }, () => stage(
    (world) => spoiler(world, { plain: false, socket: false }),
    async ({ world, open }) => {
        const ada = await open('Ada');
        await runs(ada, world);
        const came = (await runesOf(ada, 2 * runes.length)).map(({ path }) => path.split('/')[1]);
        assert.equal(came.filter((form) => form === 'packed').length, runes.length);
        assert.equal(came.filter((form) => form === 'blob').length, runes.length);
    }));

test('a rune that HTTP changed comes over the socket instead', () => stage(
    (world) => spoiler(world, { plain: true, socket: false }),
    async ({ world, open }) => {
        const ada = await open('Ada');
        await runs(ada, world);
        const { downloads } = await ada.inspect();
        assert.ok(downloads.refused.length >= runes.length, `${downloads.refused.length} came damaged`);
        assert.equal(downloads.scriptsRefused, 0);
        assert.ok(downloads.requests <= 2 + 3 * runes.length,
            `${downloads.requests} requests: damage is asked for twice, not as often as a server that is gone`);
    }));

test('a rune that is changed everywhere never runs', () => stage(
    (world) => spoiler(world, { plain: true, socket: true }),
    async ({ world, open }) => {
        const eve = await open('Eve');
        await until('they are refused', async () =>
            (await eve.inspect()).downloads?.scriptsRefused === runes.length);
        await sleep(500);
        assert.ok(!/heard/.test(world.output), 'a script ran');
        assert.deepEqual(eve.printed.filter((line) => /first of all|in the page/.test(line)), []);
        assert.match(`${await eve.page.textContent('#loading')}${await eve.page.textContent('#downloads')}`,
            /scripts came damaged and do not run\. Load the page again/);
    }));

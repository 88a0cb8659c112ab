// Save, and it runs: `sandlot dev`, and two people who play in the real page meanwhile. And the page
// loads itself again when the world has become another version, but never for ever.
//   node test_reload.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { after } from 'node:test';

import { Dev, Player, Relay, World, closeBrowser, sleep, until } from './support.mjs';

const place = process.argv[4];
const folder = mkdtempSync(join(tmpdir(), 'sandlot-reload-'));

after(async () => {
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

const WORDS = 'ReplicatedStorage/Words.lua';
const words = (word) => `return {word = "${word}"}\n`;

const SCRIPTS = {
    [WORDS]: words('one'),
    // `count` is how often it has started, if onReload gets the globals of the version before.
    'StarterGui/Say.lua': `local words = require("ReplicatedStorage/Words")
count = 1
local function say()
    print("says " .. words.word .. " " .. count)
    Network.FireServer("runs", words.word)
end
function onStart()
    say()
end
function onReload(old)
    count = old.count + 1
    say()
end
`,
    // It requires nothing, so nothing that is saved here starts it again.
    'StarterGui/Still.lua': `print("still starts")
local presses = 0
Input.Pressed:Connect(function(key)
    if key == "K" then
        presses = presses + 1
        print("still counts " .. presses)
    end
end)
`,
    // It fails once both players run the bad word, so that the roll-back finds them doing so.
    'ServerScriptService/Guard.lua': `local words = require("ReplicatedStorage/Words")
local heard = 0
Network.OnClientEvent("runs", function(player, word)
    if word == words.word then
        heard = heard + 1
        print("heard " .. word .. " " .. heard)
    end
end)
function onUpdate()
    if words.word == "bad" and heard >= 2 then
        error("boom of the guard")
    end
end
`,
};

function save(path, text) {
    mkdirSync(dirname(join(folder, 'island', path)), { recursive: true });
    writeFileSync(join(folder, 'island', path), text);
}

function writePlace() {
    const path = join(folder, 'island');
    cpSync(place, path, { recursive: true, filter: (from) => !from.includes('.sandlot') });
    Object.entries(SCRIPTS).forEach(([name, text]) => save(name, text));
    return path;
}

// What the scripts of this test have printed in a page, without the script's name.
const said = (player) => player.printed.flatMap((line) => /(says|still) .*/.exec(line)?.[0] ?? []);

async function bothSay(players, line) {
    await Promise.all(players.map((player) =>
        until(`${player.name} sees "${line}"`, () => said(player).includes(line))));
}

async function press(players, line) {
    for (const { page } of players) {
        await page.keyboard.press('KeyK');
    }
    await bothSay(players, line);
}

// What would be different after a new page, a new connection or a new body.
async function lifeOf(player) {
    const { link, own } = await player.inspect();
    const mark = await player.page.evaluate(() => window.markOfTest ?? null);
    return { mark, connections: link.connections, body: own[1] };
}

async function versionOf(player) {
    return (await player.inspect()).stats.manifestVersion;
}

async function saveWord(dev, players) {
    await bothSay(players, 'says one 1');
    await press(players, 'still counts 1');
    save(WORDS, words('two'));
    await bothSay(players, 'says two 2');
    await until('the creator is told', () => /dev {3}reloaded in \d+ ms: version \d+, 1 world/.test(dev.output));
    await press(players, 'still counts 2');
    // It has been watched for some seconds: from now on this is what a roll-back brings back.
    await until('the new set is good', () => /manifest 2 is good/.test(dev.output));
}

// An error is told with file and line; nobody gets anything new.
async function saveError(dev, players) {
    const before = await Promise.all(players.map(versionOf));
    save(WORDS, 'return {word = = "three"}\n');
    await until('the error is told', () =>
        /ReplicatedStorage\/Words\.lua:1: error: .*\[syntax\]/.test(dev.output) &&
        /dev {3}not built: 1 error; the world runs on as it was/.test(dev.output));
    await sleep(1000);
    assert.deepEqual(await Promise.all(players.map(versionOf)), before, 'no other manifest');
    await press(players, 'still counts 3');
}

async function saveFault(dev, players) {
    save(WORDS, words('bad'));
    await bothSay(players, 'says bad 3');
    await until('the reason is told', () => /boom of the guard[^]*dev {3}rolled back/.test(dev.output));
    await bothSay(players, 'says two 4');
    await press(players, 'still counts 4');
}

test('what is saved runs in the pages of all who play, and only what changed starts again', async () => {
    const dev = await Dev.start(writePlace());
    const players = [];
    try {
        for (const name of ['Ada', 'Bo']) {
            players.push(await Player.open(dev.port, name));
        }
        await Promise.all(players.map((player) => player.playing()));
        await until('the pages have counted their connections', async () => // it is told four times a second
            (await Promise.all(players.map(lifeOf))).every(({ connections }) => connections > 0));
        for (const { page, name } of players) {
            await page.evaluate((mark) => { window.markOfTest = mark; }, name);
        }
        const lives = await Promise.all(players.map(lifeOf));
        assert.deepEqual(lives.map(({ mark, connections }) => [mark, connections]), [['Ada', 1], ['Bo', 1]]);
        await saveWord(dev, players);
        await saveError(dev, players);
        await saveFault(dev, players);
        save(WORDS, words('four'));
        await bothSay(players, 'says four 5');
        await players[0].screenshot('reload');
        for (const player of players) {
            assert.deepEqual(said(player).filter((line) => line.startsWith('says')),
                ['says one 1', 'says two 2', 'says bad 3', 'says two 4', 'says four 5'], player.name);
            assert.equal(said(player).filter((line) => line === 'still starts').length, 1, player.name);
            assert.deepEqual(player.complaints, []);
        }
        assert.deepEqual(await Promise.all(players.map(lifeOf)), lives, 'nobody left');
        // They still play: one walks, and the other sees it.
        const [ada, bo] = players;
        const { id } = await ada.position();
        const before = await until('Bo sees Ada', () => bo.sees(id));
        await ada.hold('w', 800);
        await until('Bo sees Ada walk', async () => {
            const now = await bo.sees(id);
            return now !== null && Math.hypot(now.x - before.x, now.z - before.z) > 0.5;
        });
    } catch (error) {
        for (const player of players) {
            console.error(player.name, player.complaints, player.printed,
                JSON.stringify(await player.inspect().catch(() => null))?.slice(-1500));
        }
        console.error(dev.output);
        throw error;
    } finally {
        await Promise.all(players.map((player) => player.close().catch(() => {})));
        await dev.stop();
    }
});

// The welcome is the first frame of a socket: its number, its own number 1, and the schema.
const WELCOME = 78;
const FRAME = 0x82;

function schemaChanger() {
    const state = { isOn: true, changed: 0 };
    state.change = (data) => {
        const at = data[1] < 126 ? 2 : 4;
        if (state.isOn && data[0] === FRAME && data[at] === WELCOME && data[at + 1] === 1) {
            data[at + 2] += 1;
            state.changed += 1;
        }
        return data;
    };
    return state;
}

test('a page of another version than the world loads itself again, once', async () => {
    const world = await World.start();
    const schema = schemaChanger();
    const relay = await Relay.start(world.port, schema.change);
    let loads = 0;
    const ada = await Player.open(relay.port, 'Ada', {
        expectDrops: true, before: (_, page) => page.on('load', () => { loads += 1; }),
    });
    const failed = (times) => until('it says that this did not help', async () =>
        schema.changed === times &&
        /loading the page again did not help/.test(await ada.page.textContent('#detail')));
    try {
        await until('it loads itself again', () => loads === 2);
        assert.equal(schema.changed, 1);
        assert.equal(await ada.page.inputValue('#name'), 'Ada', 'her name is kept');
        await ada.page.press('#name', 'Enter');
        await failed(2);
        await ada.page.click('#again');
        await failed(3);
        await sleep(1000);
        assert.equal(loads, 2, 'not for ever');
        // The versions fit, and differ again after an update of the world.
        schema.isOn = false;
        await ada.page.click('#again');
        await ada.playing();
        schema.isOn = true;
        relay.cut();
        relay.mend();
        await until('it loads itself again', () => loads === 3);
        assert.deepEqual(ada.complaints, []);
    } catch (error) {
        console.error(loads, schema.changed, ada.complaints, await ada.page.textContent('body'));
        throw error;
    } finally {
        await ada.close();
        relay.stop();
        await world.stop();
    }
});

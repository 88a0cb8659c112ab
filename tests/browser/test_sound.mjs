// Sounds in the real page: the graph is rendered by the browser and measured; sounds of a server's
// script arrive and play; captions and volumes are remembered.
//   node test_sound.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Player, World, closeBrowser, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-sound-'));
const RATE = 22050;
const WIDE_SECONDS = 200;

// One second of a tone, as 16-bit WAV.
function wav(hertz) {
    const data = new Int16Array(RATE);
    data.forEach((_, i) => { data[i] = 20000 * Math.sin(2 * Math.PI * hertz * i / RATE); });
    return wavOf(data, 1, RATE);
}

function wavOf(data, channels, rate) {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.writeUInt32LE(36 + data.byteLength, 4);
    head.write('WAVEfmt ', 8);
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(channels, 22);
    head.writeUInt32LE(rate, 24);
    const bytes = data.BYTES_PER_ELEMENT;
    head.writeUInt32LE(rate * channels * bytes, 28);
    head.writeUInt16LE(channels * bytes, 32);
    head.writeUInt16LE(bytes * 8, 34);
    head.write('data', 36);
    head.writeUInt32LE(data.byteLength, 40);
    return Buffer.concat([head, Buffer.from(data.buffer)]);
}

const SCRIPT = `Sound.Music("calm", {volume = 0.5, caption = "calm music"})
local hums = {}
Chat.Received:Connect(function(player, text)
    if text == "hum" then
        hums[1] = Sound.Play("tone.wav", {entity = player, loop = true, volume = 0.5, caption = "<b>it hums</b>"})
        Sound.Play("far", {position = player.Character.Position + Vector3.new(0, 90, 0)})
    elseif text == "softer" then
        hums[1].Volume = 0.25
    elseif text == "stop" then
        hums[1]:Stop()
        Sound.Music()
    elseif text == "wide" then
        Sound.Play("wide")
    elseif text == "wrong" then
        Sound.Play("tonne")
    elseif text == "document" then
        Network.Broadcast("PlaySound", "shoot.wav")
    end
end)
`;

let world;
let player;

before(async () => {
    const path = join(folder, 'island');
    cpSync(place, path, { recursive: true, filter: (from) => !from.includes('.sandlot') });
    mkdirSync(join(path, 'assets/sound'), { recursive: true });
    for (const [name, hertz] of [['tone', 441], ['calm', 220], ['shoot', 600], ['far', 300]]) {
        writeFileSync(join(path, `assets/sound/${name}.wav`), wav(hertz));
    }
    // One byte for each sample of its eight channels: decoded it would be eleven times as large.
    writeFileSync(join(path, 'assets/sound/wide.wav'), wavOf(new Uint8Array(WIDE_SECONDS * 8 * 8000), 8, 8000));
    mkdirSync(join(path, 'ServerScriptService'), { recursive: true });
    writeFileSync(join(path, 'ServerScriptService/Band.lua'), SCRIPT);
    world = await World.start(path);
    player = await open();
});

async function open() {
    const opened = await Player.open(world.port, 'Ada', {
        before: (_, page) => page.addInitScript(() => {
            localStorage['sandlot.settings'] ??= '{"captions": true, "ownSounds": false}';
        }),
    });
    await opened.playing();
    return opened;
}

afterEach(() => assert.deepEqual(player.complaints, []));

after(async () => {
    await player?.close();
    await world?.stop();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

// Renders `seconds` of what the expression `act` does with `stage` and `voice`, and returns the loudness of left and right in
// tenths of a second, and how often the left one crosses zero. `later` is done after half a second.
// Chromium sometimes never ends such a sound, and then ends no other one in that page either, nor leaves the page: another one
// is opened, and it is asked once more.
const RENDER_MS = 15_000;
async function render(act, options = {}) {
    for (let attempt = 0; attempt < 2; attempt++) {
        const heard = await Promise.race([renderOnce(act, options), sleep(RENDER_MS, null, { ref: false })]);
        if (heard !== null) {
            return heard;
        }
        await Promise.race([player.close(), sleep(5_000, null, { ref: false })]);
        player = await open();
        await filesKnown();
    }
    return assert.fail(`${act} is not rendered`);
}
const filesKnown = () => until('the list of files', async () => (await player.inspect()).assets.known > 0);
const renderOnce = (act, { seconds = 1, later = null, panning = 'equalpower' } = {}) =>
    player.page.evaluate(`(async () => {
        const context = new OfflineAudioContext(2, ${seconds} * 44100, 44100);
        const stage = await window.sandlot.sounds.stageOn(context);
        stage.panning = '${panning}';
        stage.listen([0, 0, 0], [0, 0, -1]);
        const voice = (more) => ({
            name: 'tone', group: 'effects', volume: 1, pitch: 1, loop: false, entity: 0, p: null, ...more,
        });
        await (${act});
        const voices = stage.voices();
        ${later === null ? '' : `void context.suspend(0.5).then(() => {
            void (${later});
            return context.resume();
        });`}
        const buffer = await context.startRendering();
        const loud = (samples) => Array.from({ length: ${seconds} * 10 }, (_, i) => Math.sqrt(
            samples.subarray(i * 4410, (i + 1) * 4410).reduce((sum, x) => sum + x * x, 0) / 4410));
        const [left, right] = [buffer.getChannelData(0), buffer.getChannelData(1)];
        const crossings = left.reduce((sum, x, i) => sum + (i > 0 && x >= 0 && left[i - 1] < 0), 0);
        return { left: loud(left), right: loud(right), crossings, voices };
    })()`);

const near = (value, wanted, within, what) =>
    assert.ok(Math.abs(value - wanted) <= within, `${what}: ${value}, not ${wanted}`);

test('what is rendered: direction, distance, pitch, loops, groups', async () => {
    await filesKnown();
    const plain = await render("stage.play('a', voice({}))");
    near(plain.left[4], 20000 / 32768 / Math.SQRT2, 0.02, 'as loud as the file');
    near(plain.crossings, 441, 3, 'as high');

    const right = await render("stage.play('a', voice({ p: [6, 0, 0] }))");
    assert.ok(right.right[4] > 10 * right.left[4], 'from the right');
    const left = await render("stage.play('a', voice({ p: [-6, 0, 0] }))");
    assert.ok(left.left[4] > 10 * left.right[4], 'from the left');
    const ears = await render("stage.play('a', voice({ p: [6, 0, 0] }))", { panning: 'HRTF' });
    assert.ok(ears.right[4] > 1.5 * ears.left[4], 'from the right, by the ears');

    const ahead = async (metres) =>
        (await render(`stage.play('a', voice({ p: [0, 0, -${metres}] }))`)).left[4];
    const [close, middle, far] = [await ahead(2), await ahead(20), await ahead(50)];
    near(middle / close, (1 - 17 / 61) ** 2, 0.02, 'at 20 m');
    near(far / close, (1 - 47 / 61) ** 2, 0.02, 'at 50 m');
    assert.equal(await ahead(70), 0, 'nobody hears that far');

    const high = await render("stage.play('a', voice({ pitch: 2 }))");
    near(high.crossings, 441, 5, 'twice as high for half as long');
    near(high.left[7], 0, 1e-4, 'it is over sooner');

    const once = await render("stage.play('a', voice({}))", { seconds: 2 });
    near(once.left[15], 0, 1e-4, 'once');
    const loop = "stage.setLoops(new Map([['a', voice({ loop: true })]])), new Promise((go) => " +
        'setTimeout(go, 300))';
    const again = await render(loop, { seconds: 2 });
    near(again.left[15], again.left[2], 0.02, 'again and again');
    const stopped = await render(loop, { later: 'stage.setLoops(new Map())' });
    near(stopped.left[7], 0, 1e-4, 'stopped');
    const softer = await render("stage.play('a', voice({}))",
        { later: "stage.change('a', 0.5, 1)" });
    near(softer.left[8] / softer.left[2], 0.5, 0.03, 'a changed volume');

    const volumes = { master: 0.5, music: 0.5, effects: 0 };
    const mute = await render(`stage.setVolumes(${JSON.stringify(volumes)}), ` +
        "stage.play('a', voice({}))");
    near(mute.left[4], 0, 1e-4, 'effects are off');
    const music = await render(`stage.setVolumes(${JSON.stringify(volumes)}), ` +
        "stage.setMusic(voice({ name: 'calm', loop: true }), 0)");
    near(music.left[4] / plain.left[4], 0.25, 0.02, 'music, through two volumes');
    const faded = await render("stage.setMusic(voice({ name: 'calm', loop: true }), 1)");
    assert.ok(faded.left[1] < faded.left[5] && faded.left[5] < faded.left[9], 'it fades in');
});

test('voices are bounded: the loudest and newest are heard', async () => {
    const { voices } = await render('Promise.all(Array.from({ length: 60 }, (_, i) => ' +
        "stage.play(`${i}`, voice({ p: [0, 0, -1 - i] }))))", { seconds: 1 });
    assert.equal(voices.length, 32);
    assert.ok(voices.every(({ key }) => Number(key) < 32), 'the nearest');
    const equal = await render('Promise.all(Array.from({ length: 60 }, (_, i) => ' +
        'stage.play(`${i}`, voice({}))))');
    assert.ok(equal.voices.every(({ key }) => Number(key) >= 28), 'the newest');
});

test('what plays at once has a bounded size, too', async () => {
    // A second of a tone has 176,400 bytes here: there is room for one of two, however often it plays.
    const { voices } = await render("stage.bytesMax = 200_000, stage.play('a', voice({})).then(() => " +
        "stage.play('b', voice({ name: 'calm' }))).then(() => stage.play('c', voice({})))");
    assert.deepEqual(voices.map(({ key }) => key), ['a', 'c']);
});

const heard = () => player.page.evaluate(() => window.sandlot.sounds.inspect());

async function say(text) {
    await player.page.keyboard.press('Enter');
    await player.page.keyboard.type(text);
    await player.page.keyboard.press('Enter');
}


test('sounds of the server play with the first key, follow, change and stop', async () => {
    await player.page.keyboard.press('KeyV');
    await until('it is unlocked', async () => (await heard()).state === 'running');
    await until('the music of before', async () => (await heard()).music === 'calm');
    await say('hum');
    const hum = await until('the loop', async () =>
        (await heard()).voices.find(({ name }) => name === 'tone.wav'));
    const own = await player.position();
    near(hum.p[0], own.x, 0.5, 'at the body');
    assert.ok((await heard()).voices.every(({ name }) => name !== 'far'));
    await until('its caption', () => player.page.getByText('<b>it hums</b>').isVisible());
    await player.screenshot('captions');
    await say('softer');
    await until('softer', async () => {
        const { level } = (await heard()).voices.find(({ name }) => name === 'tone.wav');
        return level > 0.1 && level < 0.26;
    });
    await say('document');
    await until('the broadcast of the document', async () =>
        (await heard()).voices.some(({ name }) => name === 'shoot.wav'));
    await say('wrong');
    await until('its creator is told', async () => (await player.inspect()).faults
        .some(({ message }) => message.includes('tonne') && message.includes('sound/tone.wav')));
    await say('wide');
    await until('its creator is told that it is too large', async () => (await player.inspect()).faults
        .some(({ message }) => /200 seconds with 8 channels need too much memory/.test(message)));
    await say('stop');
    await until('silence', async () => {
        const { voices, music } = await heard();
        return voices.length === 0 && music === '';
    });
});

test('volumes are in the settings and are remembered', async () => {
    const { page } = player;
    await page.setViewportSize({ width: 720, height: 420 }); // a larger one takes seconds to draw
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Settings' }).click();
    const music = page.getByLabel('Music', { exact: true });
    await music.fill('0.25');
    await page.getByLabel('Captions: sounds as text').uncheck();
    await music.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(screens, 'sound_settings.png') });
    await page.setViewportSize({ width: 375, height: 667 });
    await music.scrollIntoViewIfNeeded();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 375, 'nothing is wider than a phone');
    await page.screenshot({ path: join(screens, 'sound_settings_375.png') });
    await page.reload();
    const kept = await page.evaluate(() => JSON.parse(localStorage.getItem('sandlot.settings')));
    assert.equal(kept.musicVolume, 0.25);
    assert.equal(kept.captions, false);
    assert.equal(kept.ownSounds, false);
});

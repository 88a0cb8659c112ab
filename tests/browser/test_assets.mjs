// The place's own files in the real page: pictures among widgets and on parts, models in place of shapes;
// what is shown while they load, when they are broken, and that nothing of them becomes markup or
// is fetched from elsewhere.
//   node test_assets.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import { makeGlb, makePng, readPng } from './media.mjs';
import { Player, World, closeBrowser, until } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'sandlot-assets-'));
const WIDE = { width: 480, height: 270 };
const PHONE = { width: 375, height: 667 };
const RED = [230, 40, 30];
const BLUE = [30, 60, 230];
// Markup in a name that scripts use, and in a file's name as far as file systems allow it.
const MARKUP = '<img src=x onerror=alert(1)>';
const ODD_NAME = `assets/'onerror=alert(1) &lt;b&gt;.png`;

const PLACE = { format: 1, name: 'Assets' };
const thing = (id, position, size, more) =>
    ({ id, name: `Thing ${id}`, transform: { position }, shape: { size }, ...more });
const SCENE = {
    format: 1,
    entities: [
        { id: 1, name: 'Spawn', type: 'spawn', transform: { position: [0, 0, 0] } },
        {
            id: 2, name: 'Ground', transform: { position: [0, -0.5, 0] },
            shape: { size: [64, 1, 64] }, colour: '#808080',
        },
        // Nine metres wide: the sign is on it twice.
        thing(3, [0, 2.5, 14], [9, 5, 1], { texture: 'assets/wall.png' }),
        thing(4, [6.5, 1, 9], [2, 2, 2], { model: 'assets/prop.glb' }),
        thing(5, [-4, 1, 8], [2, 2, 2], { model: 'assets/torn.glb', colour: '#ffe000' }),
        thing(6, [-7, 1, 9], [2, 2, 2], { model: 'assets/heavy.glb', colour: '#ffe000' }),
        // Above the wall, grey until a script paints them; the pane hides the box behind it.
        thing(7, [-6, 7.5, 14], [2, 2, 2], { name: 'Recoloured', colour: '#707070' }),
        thing(8, [-2, 7.5, 14], [2, 2, 2], { name: 'Textured', colour: '#707070' }),
        thing(9, [2, 7.5, 14], [2, 2, 2], { name: 'Modelled', colour: '#707070' }),
        thing(10, [6, 7.5, 13], [3.4, 3.4, 0.2], { name: 'Pane', colour: '#707070' }),
        thing(11, [6, 7.5, 14], [2, 2, 1], { colour: '#f07a14' }),
    ],
};
const SCRIPT = `UI.Show(UI.List({anchor = "top-left", id = "pictures",
    UI.Image({image = "sign", alt = "A red and blue sign", width = 64, id = "sign"}),
    UI.Image({image = "broken.png", width = 40, height = 20, id = "broken"}),
    UI.Image({image = "${MARKUP}", width = 40, height = 20, id = "unknown"}),
    UI.Image({image = "${ODD_NAME}", id = "odd"}),
    UI.Button({text = "Paint", OnClick = function() Network.FireServer("Paint") end}),
}))
`;
const SERVER = `Players.PlayerAdded:Connect(function(player)
    task.wait(0.5)
    player.Character:SetLook({model = "assets/robot.glb"})
end)
Network.OnClientEvent("Paint", function()
    World.Find("Recoloured").Color = "#1e3ce6"
    World.Find("Textured"):SetLook({texture = "assets/lime.png"})
    World.Find("Modelled"):SetLook({model = "assets/mint.glb"})
    World.Find("Pane").Transparency = 0.75
end)
`;
const sign = makePng(32, 16, (x) => x < 16 ? RED : BLUE);
const GREEN = [20, 200, 40];
const FILES = {
    'place.json': JSON.stringify(PLACE),
    'scene.json': JSON.stringify(SCENE),
    'StarterGui/Pictures.lua': SCRIPT,
    'ServerScriptService/Robots.lua': SERVER,
    'assets/wall.png': makePng(16, 16, (x) => x < 8 ? RED : GREEN),
    'assets/prop.glb': makeGlb({ // a picture inside the file; its middle is somewhere else
        picture: makePng(8, 8, () => [255, 0, 255]), at: [70, -30, 5],
    }),
    'assets/lime.png': makePng(8, 8, () => [140, 230, 20]),
    'assets/mint.glb': makeGlb({ colour: [0, 1, 0.42] }),
    'assets/torn.glb': makeGlb({}),
    'assets/heavy.glb': makeGlb({ times: 4200 }),
    'assets/robot.glb': makeGlb({ colour: [0.12, 0, 1], bone: true, clips: ['Armature|Idle', 'Walk'] }),
    'assets/sign.png': sign,
    'assets/broken.png': makePng(9, 9, () => [1, 2, 3]),
    [ODD_NAME]: makePng(12, 12, () => RED),
};

let world;
let held = null; // answers that wait
let player;
const hosts = new Set();

// One file is damaged on its way, and some wait until the test lets them go. What the first screen
// waits for (the scene) waits until it has shown the row of files.
async function meddle(context, page) {
    context.on('request', (request) => hosts.add(new URL(request.url()).host));
    await context.route('**/blob/*', async (route) => {
        await page.waitForFunction(() => [...window.rowsSeen].some((row) => row.includes('Pictures')));
        await route.continue();
    });
    const answer = await fetch(`http://127.0.0.1:${world.port}/api/assets`);
    const { assets } = await answer.json();
    const url = (path) => `**/blob/${assets.find((each) => each.path === path).hash.slice(7)}`;
    await context.route(url('assets/broken.png'), (route) =>
        route.fulfill({ contentType: 'image/png', body: 'this is no picture' }));
    await context.route(url('assets/torn.glb'), (route) =>
        route.fulfill({ contentType: 'model/gltf-binary', body: Buffer.alloc(FILES['assets/torn.glb'].length, 'x') }));
    for (const path of ['assets/sign.png', 'assets/wall.png', 'assets/prop.glb', 'assets/robot.glb']) {
        await context.route(url(path), async (route) => {
            await held;
            await route.continue();
        });
    }
}

before(async () => {
    for (const [name, text] of Object.entries(FILES)) {
        mkdirSync(join(folder, name, '..'), { recursive: true });
        writeFileSync(join(folder, name), text);
    }
    world = await World.start(folder);
    let release;
    held = new Promise((go) => { release = go; });
    held.release = release;
    player = await Player.open(world.port, 'Ada', {
        before: async (context, page) => {
            await meddle(context, page);
            // Until the own body is a model, one looks out of it: its shirt and hair have colours too.
            await page.addInitScript(() => localStorage.setItem('sandlot.settings', '{"camera":"first"}'));
            await page.addInitScript(() => addEventListener('DOMContentLoaded', () => {
                const rows = document.querySelector('#downloads');
                window.rowsSeen = new Set();
                new MutationObserver(() => window.rowsSeen.add(rows.textContent))
                    .observe(rows, { childList: true, characterData: true, subtree: true });
            }));
        },
    });
    await player.playing();
});

afterEach(() => assert.deepEqual(player?.complaints ?? [], []));

after(async () => {
    await player?.close();
    await closeBrowser();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
});

const HUES = { red: 0, yellow: 52, green: 127, violet: 262, magenta: 300,
    orange: 28, lime: 87, mint: 160, blue: 231 };
const TOLERANCE = 14; // degrees; light changes how bright a colour is, and hardly which one

function hueOf([r, g, b]) {
    const most = Math.max(r, g, b);
    const span = most - Math.min(r, g, b);
    if (most < 40 || span < most * 0.5) {
        return '';
    }
    const turn = most === r ? (g - b) / span : most === g ? 2 + (b - r) / span : 4 + (r - g) / span;
    const degrees = (turn * 60 + 360) % 360;
    return Object.keys(HUES).find((name) =>
        Math.abs((degrees - HUES[name] + 540) % 360 - 180) <= TOLERANCE) ?? '';
}

// What the world looks like, without what lies over it: where each of the strong colours is.
async function look() {
    await player.page.setViewportSize(WIDE);
    await player.look(0, 0);
    const over = (shown) => player.page.evaluate((visibility) => {
        for (const id of ['hud', 'faults', 'screen', 'crosshair']) {
            document.getElementById(id).style.visibility = visibility;
        }
        return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    }, shown ? 'visible' : 'hidden');
    await over(false);
    const picture = readPng(await player.page.screenshot());
    await over(true);
    const line = (y) => Array.from({ length: picture.width }, (_, x) => hueOf(picture.at(x, y)));
    const seen = { line, rows: {} };
    const boxes = {};
    for (let y = 0; y < picture.height; y++) {
        line(y).forEach((hue, x) => {
            const at = boxes[hue] ??= { count: 0, columns: new Map(), rows: new Map() };
            at.count += 1;
            at.columns.set(x, (at.columns.get(x) ?? 0) + 1);
            at.rows.set(y, (at.rows.get(y) ?? 0) + 1);
        });
    }
    // Where two colours meet there are single points of a third one.
    const dense = (counts) => [...counts].filter(([, count]) => count >= 5).map(([at]) => at);
    for (const hue of Object.keys(HUES)) {
        const at = boxes[hue] ?? { count: 0, columns: new Map(), rows: new Map() };
        const rows = dense(at.rows);
        seen[hue] = { count: at.count, width: dense(at.columns).length, height: rows.length };
        seen.rows[hue] = { y: Math.min(...rows) + 2 };
    }
    return seen;
}

async function hues() {
    const seen = await look();
    return Object.fromEntries(Object.keys(HUES).filter((hue) => seen[hue].count > 20)
        .map((hue) => [hue, true]));
}

const box = (selector) => player.page.$eval(selector, (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
});

test('the first screen has a row for files, with their bytes and names', async () => {
    const rows = await player.page.evaluate(() => [...window.rowsSeen]);
    const size = Object.entries(FILES).filter(([name]) => name.startsWith('assets/')).length;
    assert.ok(rows.some((row) => new RegExp(`^Pictures, sounds and models: ${size} files, [\\d.]+ [kM]B`, 'm')
        .test(row)), rows.join(' | '));
    assert.ok(rows.some((row) => /^World: .*\n(Scripts: .*\n)?Pictures, .*kB · .*\.png, .*, … ·/.test(row)),
        rows.join(' | '));
});

test('a picture takes its room before it is here, and has a text', async () => {
    const image = '#script-ui img[alt="A red and blue sign"]';
    await player.page.waitForSelector(image, { state: 'attached' });
    const [, , width, height] = await box(image);
    assert.deepEqual([width, height], [64, 32]); // the other edge follows from the list
    await until('the download is shown', () => player.page.$eval('#loading', (line) =>
        line.textContent.includes('assets/')));
    const before = await box(image);
    assert.deepEqual(await hues(), { yellow: true }); // shapes, until their files are here
    held.release();
    await until('the picture is here', () => player.page.$eval(image, (each) =>
        each.complete && each.naturalWidth === 32 && each.classList.contains('here')));
    assert.deepEqual(await box(image), before);
    await until('nothing is on its way', () => player.page.$eval('#loading', (line) =>
        line.textContent === ''));
    const pixel = await player.page.$eval(image, (each) => {
        const canvas = document.createElement('canvas');
        const context = canvas.getContext('2d');
        context.drawImage(each, 0, 0);
        const { data } = context.getImageData(0, 4, 32, 1);
        return [...data.slice(16, 20), ...data.slice(112, 116)];
    });
    assert.deepEqual(pixel, [...RED, 255, ...BLUE, 255]);
    assert.equal((await player.inspect()).assets.known, 10);
});

test('what cannot be shown has a text in its place, and its creator is told', async () => {
    await until('the broken one is given up', async () => (await player.page.$$eval(
        '#script-ui .w-image.blank', (all) => all.length)) === 2, 15_000);
    const texts = await player.page.$$eval('#script-ui .w-image.blank', (all) =>
        all.map((each) => [each.getAttribute('aria-label'), each.textContent,
            each.getBoundingClientRect().width]));
    assert.deepEqual(texts, [['broken', 'broken', 40], [MARKUP, MARKUP, 40]]);
    const faults = (await player.inspect()).faults.map(({ message }) => message);
    assert.ok(faults.some((text) => /^assets\/broken.png: the browser cannot show/.test(text)), faults);
    assert.ok(faults.some((text) => text.startsWith(`${MARKUP}: there is no such file`)), faults);
    const shown = await player.page.$eval('#faults', (list) => [list.textContent,
        list.querySelectorAll('img').length]);
    assert.ok(shown[0].includes(MARKUP));
    assert.equal(shown[1], 0);
});

test('a name that looks like markup is only a name', async () => {
    const image = '#script-ui img[alt^="\'onerror"]';
    await player.page.waitForSelector(image);
    assert.deepEqual((await box(image)).slice(2), [12, 12]);
    assert.equal(await player.page.$eval(image, (each) => each.getAttribute('onerror')), null);
});

test('parts, props and characters have their pictures and models', async () => {
    await player.page.keyboard.press('v');
    await until('all of them are drawn', async () => {
        const seen = await hues();
        return seen.red && seen.green && seen.magenta && seen.violet;
    }, 20_000);
    const seen = await look();
    assert.ok(seen.yellow.count > 20); // the torn one and the heavy one stay shapes
    // The sign is there twice beside each other, and not mirrored.
    const row = seen.rows.red.y;
    const order = seen.line(row).filter((hue, at, all) => hue !== '' && hue !== all[at - 1])
        .filter((hue) => hue === 'red' || hue === 'green');
    assert.deepEqual(order, ['red', 'green', 'red', 'green']);
    // A cube in a cube, wherever its middle is in the file; one side of it is seen too.
    const { width, height } = seen.magenta;
    assert.ok(height > 20 && width > 0.8 * height && width < 2 * height, `${width} ${height}`);
    const faults = (await player.inspect()).faults.map(({ message }) => message);
    assert.ok(faults.some((text) => /^assets\/torn.glb: the model cannot be read/.test(text)), faults);
    assert.ok(faults.some((text) =>
        /^assets\/heavy.glb: it has 50400 triangles, at most 50000/.test(text)), faults);
});

test('scripts recolour parts, see through them, and give them pictures and models', async () => {
    const painted = ['blue', 'lime', 'mint', 'orange'];
    const before = await look();
    await player.page.getByRole('button', { name: 'Paint' }).click();
    let seen;
    // Where red and green of the wall meet there are some points of others.
    const more = (hue) => seen[hue].count - before[hue].count;
    await until('all of them are painted', async () => {
        seen = await look();
        return painted.every((hue) => more(hue) > 100);
    }, 20_000).catch((error) => {
        throw new Error(`${error.message}: ${painted.map((hue) => `${hue} ${more(hue)}`)}`);
    });
    // Boxes of two metres, all equally far away: each about as large as the others.
    const sizes = painted.map(more);
    assert.ok(Math.max(...sizes) < 2.5 * Math.min(...sizes), `${sizes}`);
});

test('on a phone', async () => {
    await player.screenshot('assets');
    await player.page.setViewportSize(PHONE);
    const wide = await player.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= PHONE.width, `${wide}`);
    await player.page.screenshot({ path: join(process.argv[5], 'assets-phone.png') });
});

test('nothing was asked of another host', () => {
    assert.deepEqual([...hosts], [`127.0.0.1:${world.port}`]);
});

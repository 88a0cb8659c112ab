// What is drawn, by its pixels: a tower's shadow that the setting for the picture turns off, water that
// moves and mirrors the sky, a name above a head that grows with the text size.
//   node test_draw.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { Player, SMALL, World, closeBrowser, sleep, until } from './support.mjs';

const [program] = process.argv.slice(2);
const FIELD = 70 / 360 * Math.PI; // half of what the camera sees from top to bottom
const BODY_M = 1.8;

after(closeBrowser);

// A beach: sand in front, a tower on it, water behind. The sun stands as at ten o'clock.
function writePlace(folder) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'place.json'), JSON.stringify({
        format: 1, name: 'Beach',
        voxelKinds: [
            { name: 'sand', material: 'sand', colour: '#d8c898' },
            { name: 'water', solid: false, material: 'water', colour: '#3a78b8' },
        ],
    }));
    writeFileSync(join(folder, 'scene.json'), JSON.stringify({
        format: 1, bounds: { min: [-64, -16, -64], max: [64, 48, 64] },
        terrain: [
            { min: [-64, -4, -64], max: [63, -3, 63], kind: 'sand' },
            { min: [-64, -2, -64], max: [63, -1, -5], kind: 'water' },
            { min: [-64, -2, -4], max: [63, -1, 63], kind: 'sand' },
        ],
        entities: [
            { id: 1, name: 'Start', type: 'spawn', transform: { position: [0, 0, 0] } },
            { id: 2, name: 'Tower', transform: { position: [4, 4, 10] }, shape: { size: [2, 8, 2] },
                material: 'stone', colour: '#808080' },
        ],
    }));
    return folder;
}

// The page keeps its picture, so that it can be read at any time.
function keepPicture() {
    const open = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function wrapped(kind, options) {
        return open.call(this, kind, kind === 'webgl2' ? { ...options, preserveDrawingBuffer: true }
            : options);
    };
    localStorage.setItem('sandlot.settings', JSON.stringify({ quality: 'high', camera: 'first' }));
}

// Red, green, blue of every pixel of that part of the picture, as numbers from 0 to 255.
const pixels = (player, x, y, width, height) => player.page.evaluate(([area, size]) => {
    const copy = document.createElement('canvas');
    Object.assign(copy, size);
    const context = copy.getContext('2d');
    context.drawImage(document.getElementById('view'), 0, 0, size.width, size.height);
    const { data } = context.getImageData(...area);
    return Array.from({ length: data.length / 4 }, (_, at) => [...data.slice(at * 4, at * 4 + 3)]);
}, [[x, y, width, height].map(Math.round), SMALL]);

const mean = (list) => [0, 1, 2].map((channel) =>
    list.reduce((sum, colour) => sum + colour[channel], 0) / list.length);
const bright = (colour) => colour.reduce((sum, value) => sum + value, 0) / 3;

// Where a point of the world is in the picture, seen from there in that direction.
function project([x, y, z], [ex, ey, ez], yaw, pitch) {
    const [dx, dy, dz] = [x - ex, y - ey, z - ez];
    const right = -dx * Math.cos(yaw) + dz * Math.sin(yaw);
    const ahead = dx * Math.sin(yaw) + dz * Math.cos(yaw);
    const depth = ahead * Math.cos(pitch) + dy * Math.sin(pitch);
    const up = dy * Math.cos(pitch) - ahead * Math.sin(pitch);
    const scale = SMALL.height / 2 / Math.tan(FIELD);
    return [SMALL.width / 2 + right / depth * scale, SMALL.height / 2 - up / depth * scale];
}

const drawn = (player) => player.page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

// The colour around a point of the world while one looks there.
async function colourAt(player, point, yaw, pitch) {
    const { x, y, z } = await player.position();
    const [px, py] = project(point, [x, y + BODY_M * 0.9, z], yaw, pitch);
    return mean(await pixels(player, px - 3, py - 1, 6, 3));
}

async function choose(player, label, value) {
    await player.page.keyboard.press('Escape');
    await player.page.getByRole('button', { name: 'Settings' }).click();
    await player.page.getByLabel(label).selectOption(value);
    await player.page.keyboard.press('Escape');
    await player.page.keyboard.press('Escape');
    await drawn(player);
}

async function seeShadow(ada) {
    const [yaw, pitch] = [0, -0.1];
    await ada.look(yaw, pitch);
    await drawn(ada);
    const both = async () => [
        bright(await colourAt(ada, [1.9, 0, 11.9], yaw, pitch)), // the sun is behind the tower
        bright(await colourAt(ada, [-4, 0, 11.9], yaw, pitch)),
    ];
    await until('the tower casts a shadow', async () => {
        const [dark, light] = await both();
        return light > 90 && dark < light * 0.75;
    }, 20_000).catch(async (error) => { throw new Error(`${error.message}: ${await both()}`); });
    await choose(ada, 'Picture', 'low');
    const [dark, light] = await both();
    assert.ok(Math.abs(dark - light) < light * 0.1, `without shadows: ${dark}, ${light}`);
    await choose(ada, 'Picture', 'high');
}

async function seeWater(ada) {
    const [yaw, pitch] = [Math.PI, -0.2];
    await ada.look(yaw, pitch);
    await drawn(ada);
    let near;
    await until('water is blue', async () => {
        near = await colourAt(ada, [0, -0.15, -9], yaw, pitch);
        return near[2] > near[0] * 1.2;
    }, 20_000).catch((error) => { throw new Error(`${error.message}: ${near}`); });
    const far = await colourAt(ada, [0, -0.15, -50], yaw, pitch);
    assert.ok(bright(far) > bright(near), `far away it mirrors the sky: ${near}, ${far}`);
    const [, row] = project([0, -0.15, -9], [0, BODY_M * 0.9, 0], yaw, pitch);
    const before = await pixels(ada, 100, row, 120, 12);
    await sleep(500);
    await drawn(ada);
    const after = await pixels(ada, 100, row, 120, 12);
    const moved = after.filter((colour, at) =>
        Math.abs(bright(colour) - bright(before[at])) > 2).length / after.length;
    assert.ok(moved > 0.2, `water moves: ${moved}`);
}

// How much of a name is there, in pixels that are nearly white.
async function nameSize(ada, { x, y, z }) {
    const own = await ada.position();
    const yaw = Math.atan2(x - own.x, z - own.z);
    await ada.look(yaw, 0);
    await drawn(ada);
    const eye = [own.x, own.y + BODY_M * 0.9, own.z];
    const [px, py] = project([x, y + BODY_M + 0.25, z], eye, yaw, 0);
    const list = await pixels(ada, px - 60, py - 36, 120, 38);
    return list.filter((colour) => Math.min(...colour) > 225).length;
}

async function seeName(ada) {
    const { own } = await ada.inspect();
    const other = await until('somebody else is here', async () => {
        const { movers } = await ada.inspect();
        const at = movers.findIndex((id, k) => k % 16 === 0 && id !== own[1]);
        return at >= 0 && { id: movers[at] };
    });
    await ada.look(0, 0);
    await ada.hold('KeyW', 1200);
    await ada.stands();
    const found = await ada.sees(other.id);
    const small = await until('the name is there', async () => {
        const size = await nameSize(ada, found);
        return size > 15 && size;
    }, 10_000);
    await ada.screenshot('draw-name');
    await ada.page.keyboard.press('Escape');
    await ada.page.getByRole('button', { name: 'Settings' }).click();
    await ada.page.getByLabel('Size of texts').evaluate((input) => {
        input.value = '2';
        input.dispatchEvent(new Event('input', { bubbles: true }));
        input.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await ada.page.keyboard.press('Escape');
    await ada.page.keyboard.press('Escape');
    await drawn(ada);
    const large = await nameSize(ada, found);
    assert.ok(large > small * 1.8, `a larger text has a larger name: ${small}, ${large}`);
}

test('shadows, water and names are in the picture', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandlot-draw-'));
    const world = await World.start(writePlace(join(folder, 'beach')));
    const bot = spawn(program, ['bots', '--server', `http://127.0.0.1:${world.port}`, '-n', '1',
        '--seconds', '120', '--best-effort', '--behaviour', 'stand'], { stdio: 'ignore' });
    let ada;
    try {
        ada = await Player.open(world.port, 'Ada', {
            pauseMs: 100, paints: true, before: (context) => context.addInitScript(keepPicture),
        });
        await ada.playing();
        await ada.stands();
        await seeShadow(ada);
        await seeWater(ada);
        await seeName(ada);
        assert.deepEqual(ada.complaints, []);
    } catch (error) {
        await ada?.screenshot('failed_draw').catch(() => {});
        console.error(world.output, ada?.complaints);
        throw error;
    } finally {
        bot.kill('SIGKILL');
        await ada?.close();
        await world.stop();
        rmSync(folder, { recursive: true, force: true });
    }
});

// The sky, effects and the camera in the real page: what scripts set is seen in pixels, a strobe gives at
// most three flashes a second, and the camera goes where a script wants it, but through no wall.
//   node test_sky.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { Player, World, closeBrowser, sleep, until } from './support.mjs';

const TINY = { width: 160, height: 90 }; // many pictures a second, without a graphics card

const folder = mkdtempSync(join(tmpdir(), 'sandlot-sky-'));
const shoots = process.env.SANDLOT_SCREENS === 'all'; // pictures for people

const FILES = {
    'place.json': '{"format": 1, "name": "Sky"}\n',
    'scene.json': JSON.stringify({
        format: 1,
        entities: [
            { id: 1, name: 'Spawn', type: 'spawn', transform: { position: [0, 0, 0] } },
            { id: 2, name: 'Ground', transform: { position: [0, -0.5, 0] }, shape: { size: [64, 1, 64] },
                material: 'grass', colour: '#5d9c4d' },
            { id: 3, name: 'Wall', transform: { position: [0, 2, -2.5] }, shape: { size: [8, 6, 1] },
                material: 'stone', colour: '#9a9a92' },
            { id: 4, name: 'Lamp', transform: { position: [0, 1.5, 5] }, shape: { size: [0.6, 3, 0.6] },
                material: 'wood', colour: '#c0c0c0' },
            { id: 5, name: 'House', transform: { position: [-6, 2, 9] }, shape: { size: [4, 4, 4] },
                material: 'stone', colour: '#d9b99b' },
        ],
    }),
    'ServerScriptService/Sky.lua': `local lamp = World.Find("Lamp")
local at = lamp.Position
local strobe
local turn = 0
local does = {
    ["1"] = function() World.SetSky({hour = 12, weather = "clear", hoursPerSecond = 0}) end,
    ["2"] = function() World.SetSky({hour = 0, weather = "clear"}) end,
    ["3"] = function() World.SetSky({hour = 17.9, weather = "clear"}) end,
    ["4"] = function() World.SetSky({hour = 12, weather = "rain"}) end,
    ["5"] = function()
        lamp:SetEmitter("fire", {size = 1.5})
        lamp:SetLight({colour = "#ff9a40", range = 14, brightness = 1.5})
    end,
    ["6"] = function()
        strobe = Timer.Every(0.1, function()
            turn = turn + 1
            local on = turn % 2 == 0
            World.SetSky({hour = on and 12 or 0})
            lamp:SetLight(on and {brightness = 10, range = 32} or nil)
            Effect.Burst("explosion", at)
            Effect.Beam(at, at + Vector3.new(9, 0, 0), {width = 2, seconds = 0.05})
        end)
    end,
    ["7"] = function()
        strobe:Disconnect()
        lamp:SetLight()
    end,
    ["8"] = function() Effect.Burst("confetti", at + Vector3.new(0, 0, -2), {size = 2}) end,
    ["9"] = function()
        lamp:SetEmitter()
        lamp:SetLight()
    end,
}
Network.OnClientEvent("do", function(player, key) does[key]() end)
`,
    'StarterGui/Keys.lua': `local does = {
    Z = function() camera.SetMode("top") end,
    X = function()
        camera.Move(Vector3.new(8, 6, 8), Vector3.new(0, 1, 0), 0.2)
        camera.FieldOfView = 50
    end,
    C = function() camera.SetMode("first") end,
    B = function() camera.SetMode() end,
    N = function() camera.Shake(1, 3) end,
    M = function() Effect.Burst("magic", Vector3.new(0, 1, 3)) end,
}
Input.Pressed:Connect(function(key)
    if tonumber(key) then
        Network.FireServer("do", key)
    elseif does[key] then
        does[key]()
    end
end)
`,
};

let world;
let ada;

// Twenty pictures a second at most, and after each what colour is where. A flash is one of an area.
const readPictures = (context, page) => page.addInitScript((quality) => {
    localStorage.setItem('sandlot.settings', JSON.stringify({ quality }));
    window.samples = [];
    const sample = () => {
        const canvas = document.querySelector('#view');
        const gl = canvas?.getContext('webgl2');
        if (!gl || window.sandlot?.inspect().phase !== 'playing') {
            return;
        }
        const { width, height } = canvas;
        const pixels = new Uint8Array(width * height * 4);
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
        // The mean colour of a part of the picture, whose lower edge is 0.
        const mean = (left, bottom, right, top) => {
            const sum = [0, 0, 0];
            let count = 0;
            for (let y = Math.floor(height * bottom); y < Math.floor(height * top); y++) {
                for (let x = Math.floor(width * left); x < Math.floor(width * right); x++, count++) {
                    const at = (y * width + x) * 4;
                    sum.forEach((value, i) => { sum[i] = value + pixels[at + i]; });
                }
            }
            return sum.map((value) => Math.round(value / count));
        };
        window.samples.push({
            ms: performance.now(), sky: mean(0, 0.9, 0.4, 1), ground: mean(0.25, 0.3, 0.4, 0.42),
            middle: mean(0.25, 0.25, 0.75, 0.75), all: mean(0, 0, 1, 1),
        });
        window.samples.splice(0, window.samples.length - 400);
    };
    window.requestAnimationFrame = (picture) => setTimeout(() => {
        picture(performance.now());
        sample();
    }, 50);
}, shoots ? 'high' : 'low');

before(async () => {
    for (const [name, text] of Object.entries(FILES)) {
        mkdirSync(join(folder, name, '..'), { recursive: true });
        writeFileSync(join(folder, name), text);
    }
    world = await World.start(folder);
    ada = await Player.open(world.port, 'Ada', { before: readPictures, paints: true });
    await ada.page.setViewportSize(TINY);
    await ada.playing();
    await until('the ground is drawn', async () =>
        (await ada.page.evaluate(() => window.samples.length)) > 5);
});

after(async () => {
    await closeBrowser();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
});

const press = (key) => ada.page.keyboard.press(key);
const scenery = async () => (await ada.inspect()).scenery;
const newest = () => ada.page.evaluate(() => window.samples.at(-1));
const light = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b;
const shoot = async (name) => {
    if (shoots) {
        await ada.screenshot(name);
        await ada.page.setViewportSize(TINY);
    }
};

test('the default sky is a bright day', async () => {
    const { sky } = await newest();
    assert.ok(sky[2] > sky[0] && light(sky) > 110, `the sky is ${sky}`);
    assert.equal((await scenery()).hour, 10);
    await shoot('sky-day');
});

test('noon and midnight are other pictures', async () => {
    await press('Digit1');
    await until('noon', async () => (await scenery()).hour === 12);
    await sleep(300);
    const noon = await newest();
    await shoot('sky-noon');
    await press('Digit2');
    const midnight = await until('it is dark', async () => {
        const now = await newest();
        return light(now.sky) < 60 && now;
    });
    assert.ok(light(noon.sky) > 110 && light(noon.sky) > light(midnight.sky) + 80,
        `${noon.sky} and ${midnight.sky}`);
    assert.ok(light(noon.ground) > light(midnight.ground) + 40,
        `the ground: ${noon.ground} and ${midnight.ground}`);
    assert.ok(midnight.sky[2] > midnight.sky[0], 'the night is blue');
    await shoot('sky-night');
});

test('a fire burns and lights the ground', async () => {
    const dark = await newest();
    await press('Digit5');
    await until('it burns', async () => {
        const { effects } = await scenery();
        return effects.particles > 3 && effects.lights === 1;
    });
    const lit = await until('the ground is lit', async () => {
        const now = await newest();
        return light(now.ground) > light(dark.ground) + 12 && now;
    });
    assert.ok(lit.ground[0] > lit.ground[2], `its light is warm: ${lit.ground}`);
    await shoot('sky-fire');
    await press('Digit9');
    await until('it is out', async () => {
        const { effects } = await scenery();
        return effects.particles === 0 && effects.lights === 0;
    });
});

test('a burst comes and goes, of the server and of a client', async () => {
    await press('Digit8');
    await until('confetti', async () => (await scenery()).effects.particles >= 10);
    await until('it is gone', async () => (await scenery()).effects.particles === 0);
    await press('KeyM');
    await until('magic', async () => (await scenery()).effects.particles >= 6);
});

// How often the brightness rises and falls by a tenth, in the worst second.
function worstSecond(samples, where) {
    const times = [];
    let low = Infinity;
    let isUp = false;
    let high = 0;
    for (const sample of samples) {
        const now = light(sample[where]);
        if (!isUp) {
            low = Math.min(low, now);
            if (now > low + 25.5) {
                isUp = true;
                high = now;
                times.push(sample.ms);
            }
        } else {
            high = Math.max(high, now);
            if (now < high - 25.5) {
                isUp = false;
                low = now;
            }
        }
    }
    return Math.max(0, ...times.map((from) => times.filter((ms) => ms >= from && ms < from + 1000).length));
}

test('a strobe gives at most three flashes a second', async () => {
    const before = (await scenery()).effects;
    const began = await ada.page.evaluate(() => { window.samples.length = 0; return performance.now(); });
    await press('Digit6');
    await sleep(4000);
    const { effects } = await scenery();
    const samples = await ada.page.evaluate(() => window.samples);
    await press('Digit7');
    const seconds = (samples.at(-1).ms - began) / 1000;
    const flashes = effects.flashes - before.flashes;
    assert.ok(samples.length > 12, `${samples.length} pictures`);
    assert.ok(flashes >= 3, `${flashes} flashes: some are allowed`);
    assert.ok(flashes <= 3 * Math.ceil(seconds + 1), `${flashes} flashes in ${seconds} s`);
    assert.ok(effects.flashesHeld > before.flashesHeld + 10, 'the others were held back');
    for (const where of ['sky', 'ground', 'middle', 'all']) {
        const worst = worstSecond(samples, where);
        assert.ok(worst <= 3, `${where}: ${worst} flashes in a second`);
    }
});

test('the camera goes where a script wants it, and never through a wall', async () => {
    await press('Digit1');
    const third = await until('third', async () => {
        const now = await scenery();
        return now.cameraMode === 'third' && now;
    });
    assert.ok(third.camera[2] > -2, `before the wall at -2: ${third.camera}`);
    assert.ok(third.camera[2] < -0.5, `behind the player: ${third.camera}`);
    await press('KeyZ');
    const top = await until('top', async () => {
        const now = await scenery();
        return now.cameraMode === 'top' && now.camera[1] > 10 && now;
    });
    assert.ok(top.camera[4] < -0.99, `it looks down: ${top.camera}`);
    await shoot('sky-top');
    await press('KeyX');
    const fixed = await until('fixed', async () => {
        const now = await scenery();
        return now.cameraMode === 'fixed' && Math.abs(now.camera[0] - 8) < 0.01 && now;
    });
    assert.ok(Math.abs(fixed.camera[1] - 6) < 0.01 && fixed.camera[3] < 0 && fixed.camera[5] < 0);
    assert.equal(fixed.field, 50);
    await press('KeyC');
    const first = await until('first', async () => {
        const now = await scenery();
        return now.cameraMode === 'first' && now;
    });
    assert.ok(Math.abs(first.camera[2]) < 0.5 && first.camera[1] < 2, `the eye: ${first.camera}`);
    await press('KeyB');
    await until('the player has it again', async () => (await scenery()).cameraMode === 'third');
});

test('shaking stops for who asked for less motion', async () => {
    await press('KeyN');
    await until('it shakes', async () => (await scenery()).shake > 0);
    await ada.page.emulateMedia({ reducedMotion: 'reduce' });
    await until('it does not', async () => (await scenery()).shake === 0);
    await press('KeyN');
    await sleep(300);
    assert.equal((await scenery()).shake, 0);
    await ada.page.emulateMedia({ reducedMotion: null });
});

test('rain and dusk', async () => {
    await press('Digit4');
    await until('it rains', async () => (await scenery()).weather === 1);
    if (shoots) {
        await sleep(2500);
        await shoot('sky-rain');
        await press('Digit3');
        await sleep(3000);
        await shoot('sky-dusk');
    }
    assert.deepEqual(ada.complaints, []);
    assert.deepEqual((await ada.inspect()).faults, []);
});

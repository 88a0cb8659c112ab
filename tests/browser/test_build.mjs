// Two players in one browser, one at a desk and one on a phone: they build, dig and remove with a
// ghost that says what may be, see each other's ghosts, fight, see scores, and chat.
//   node test_build.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { Player, World, checkAccessible, closeBrowser, openBrowser, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-build-'));
const DESK = { width: 1280, height: 720 };
const SMALL = { width: 560, height: 420 }; // the bar has room, and pictures are quick
const PHONE = { width: 375, height: 667 };
const GOOD = 0x3fe07a, BAD = 0xff4a3d, OTHER = 0x58a8ff; // of ghosts.ts
const SCORES = `Players.PlayerAdded:Connect(function(player)
    player.leaderstats.Kills = 0
    player.Died:Connect(function(cause)
        for _, other in ipairs(Players:GetPlayers()) do
            if cause ~= nil and other.Character == cause then
                other.leaderstats.Kills = other.leaderstats.Kills + 1
            end
        end
    end)
end)
`;

let world, ada, bo;

before(async () => {
    const path = join(folder, 'island');
    cpSync(place, path, { recursive: true, filter: (from) => !from.includes('.sandlot') });
    const about = JSON.parse(readFileSync(join(path, 'place.json'), 'utf8'));
    about.weapons[0] = { ...about.weapons[0], damage: 12, rate: 5, radius: 0.4, gravity: 0 };
    writeFileSync(join(path, 'place.json'), JSON.stringify(about));
    mkdirSync(join(path, 'ServerScriptService'), { recursive: true });
    mkdirSync(screens, { recursive: true });
    writeFileSync(join(path, 'ServerScriptService/Scores.lua'), SCORES);
    world = await World.start(path);
    const context = await (await openBrowser()).newContext(
        { viewport: PHONE, hasTouch: true, isMobile: true });
    [ada, bo] = await Promise.all(
        [Player.open(world.port, 'Ada'), Player.open(world.port, 'Bo', { context })]);
    await Promise.all([ada.playing(), bo.playing()]);
});

after(async () => {
    await ada?.close();
    await bo?.close();
    await world?.stop();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

const building = (player) => player.page.evaluate(() => window.sandlot.building());
const ghostOf = async (player, key) =>
    (await building(player)).ghosts.find((ghost) => ghost.key.startsWith(key));
const status = (player) => player.page.locator('.build-plan').textContent();
const structures = async (player) => player.page.evaluate(() => window.sandlot.structures());

// Every tool can be reached, and the bar leaves the middle, where one builds, free.
async function checkFits(page) {
    const [tools, bar, { width, height }] = await page.evaluate(() => [
        [...document.querySelectorAll('.build-tools .button')].map((each) =>
            [each.textContent, each.getBoundingClientRect().toJSON()]),
        document.querySelector('.build').getBoundingClientRect().toJSON(),
        { width: innerWidth, height: innerHeight },
    ]);
    const cut = tools.filter(([, box]) => box.left < 0 || box.right > width || box.top < bar.top ||
        box.bottom > bar.bottom).map(([name]) => name);
    assert.deepEqual(cut, [], 'cut off');
    assert.equal(tools.length, 6);
    assert.ok(bar.bottom < height * 0.48, `the bar ends at ${bar.bottom} of ${height}`);
}

// The ground before her that is free: looking there, the ghost is green.
async function findGood(player) {
    let turn = 0;
    const seen = new Set();
    await until(`${player.name} finds a place`, async () => {
        await player.look((turn++ % 16) * Math.PI / 8, -0.4 - turn % 3 * 0.2);
        await player.page.waitForTimeout(400); // a picture, and its plan
        seen.add(await status(player));
        return (await ghostOf(player, 'own'))?.colour === GOOD;
    }).catch((error) => { throw new Error(`${error.message}: ${[...seen].join(' | ')}`); });
}

test('they fight, see scores, and chat',
    async () => {
    const { page } = ada;
    await page.setViewportSize(SMALL);
    await ada.stands();
    await page.mouse.move(280, 120);
    await page.mouse.down();
    await page.mouse.up();
    await until('the pointer is locked', () =>
        page.evaluate(() => document.pointerLockElement !== null));
    const bodyOf = async (player) => (await player.position()).id;
    const boBody = await bodyOf(bo);
    const aim = async () => {
        const own = await ada.position();
        const him = await ada.sees(boBody);
        if (him !== null) {
            const [dx, dz] = [him.x - own.x, him.z - own.z];
            await ada.look(Math.atan2(dx, dz), Math.atan2(him.y + 0.9 - own.y - 1.62,
                Math.hypot(dx, dz)));
        }
    };
    const hurt = new Set();
    await page.mouse.down();
    await until('she has hit him', async () => {
        await aim();
        for (const { text, part } of await page.evaluate(() => window.sandlot.healthBars())) {
            assert.ok(part > 0 && part < 1);
            hurt.add(text);
        }
        return /⚔ ~?Bo/.test(await page.locator('.feed').textContent()) ||
            /Ada\s*[1-9]/.test(await page.locator('#board').textContent());
    });
    await page.mouse.up();
    assert.ok(hurt.size > 0, 'his health was seen above his head');
    await until('both see the score', async () =>
        /Ada\s*[1-9]/.test(await page.locator('#board').textContent()));
    await page.setViewportSize(DESK);
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(screens, 'build-fight.png') });
    await page.setViewportSize(SMALL);
    await bo.page.getByRole('button', { name: 'Chat' }).tap();
    await bo.page.locator('#chat-text').fill('well aimed');
    await bo.page.getByRole('button', { name: 'Send' }).tap();
    await until('she hears him', async () =>
        (await page.locator('#messages').textContent()).includes('Bo: well aimed'));
    assert.deepEqual([...ada.complaints, ...bo.complaints], []);
});

test('at a desk: a ghost, what may be, and others see it', async () => {
    const { page } = ada;
    await ada.stands();
    assert.ok(!ada.files.some(({ path }) => /build/.test(path)), 'it is loaded when it is used');
    await page.keyboard.press('b');
    await page.getByRole('region', { name: 'Build' }).waitFor();
    const bar = page.locator('.build');
    await page.keyboard.press('2'); // the wall
    await findGood(ada);
    assert.match(await status(ada), /Here: wall/);
    await until('Bo sees where she is about to build', async () => {
        const [ghost, seen] = [await ghostOf(ada, 'own'), await ghostOf(bo, 'build.previewed')];
        return seen?.colour === OTHER && seen.at.join() === ghost?.at.join();
    });
    await page.setViewportSize(DESK);
    await page.waitForTimeout(600);
    await page.screenshot({ path: join(screens, 'build-desk.png') });
    await checkAccessible(page, 'build mode');
    await page.setViewportSize(SMALL);

    await until('the ghost is where it may be', async () =>
        (await ghostOf(ada, 'own'))?.colour === GOOD);
    await page.mouse.down();
    await page.mouse.up();
    await until('it stands, for both', async () =>
        (await structures(ada)).length === 1 && (await structures(bo)).length === 1);

    // Turned by the key, with its ends along the other axis.
    await page.keyboard.press('r');
    await until('it is turned', async () => (await building(ada)).plan !== null &&
        (await page.evaluate(() => window.sandlot.building().plan.max[0] -
            window.sandlot.building().plan.min[0])) === 0);

    // In her own body's way, seen through the eyes: red, with the reason, and the world refuses in words.
    await page.keyboard.press('v');
    await ada.look(0, -1.5);
    await until('it is red', async () => (await ghostOf(ada, 'own'))?.colour === BAD);
    assert.match(await status(ada), /Something is in the way/);
    await page.mouse.down();
    await page.mouse.up();
    await until('the world says why, where she looks', async () =>
        /Something is in the way/.test(await page.locator('.build-plan.refused').textContent()));
    assert.doesNotMatch(await page.locator('#messages').textContent(), /in the way/, 'and only there');
    assert.equal((await structures(ada)).length, 1);
    await page.keyboard.press('f'); // another tool: the words about the one before are gone at once
    await page.waitForFunction(() => document.querySelector('.build-plan.refused') === null, null, { timeout: 2000 });
    await page.keyboard.press('q');

    // A key frees the mouse for the bar and gives it back, and each tool has a key.
    const pressed = () => bar.locator('.build-tools [aria-pressed=true]').innerText();
    const isLocked = () => page.evaluate(() => document.pointerLockElement !== null);
    await page.keyboard.press('c');
    await until('the mouse is free', async () => !await isLocked());
    await bar.getByRole('button', { name: 'Fill' }).click();
    assert.match(await pressed(), /Fill\s*G/);
    await page.keyboard.press('q');
    await until('back to building', async () => /Build\s*Q/.test(await pressed()));
    await page.keyboard.press('c');
    await until('the mouse looks around', isLocked);

    // The ghost of digging: a box of voxels, green where something would change.
    await page.keyboard.press('f');
    await page.keyboard.press(']');
    await until('it would dig', async () => /Dig these 8 blocks/.test(await status(ada)));
    await until('Bo sees that too', () => ghostOf(bo, 'voxel.previewed'));
    const before = (await page.evaluate(() => window.sandlot.terrain())).join();
    await page.mouse.down();
    await page.mouse.up();
    await until('it is dug', async () =>
        (await page.evaluate(() => window.sandlot.terrain())).join() !== before);
    await page.keyboard.press('g');
    await page.keyboard.press('2');
    await until('it would fill', async () => /Fill.*grass|in the way|out of reach/.test(await status(ada)));
    await page.keyboard.press('v');
    await page.keyboard.press('b');
    await page.locator('.build').waitFor({ state: 'detached' });
    assert.deepEqual((await building(ada)).ghosts.filter(({ key }) => key === 'own'), []);
    assert.deepEqual(ada.complaints, []);
});

test('on a phone: with fingers, and only one\'s own is removed',
    async () => {
    const { page } = bo;
    await page.getByRole('button', { name: 'Build', exact: true }).tap();
    await page.getByRole('region', { name: 'Build' }).waitFor();
    const bar = page.locator('.build');
    await bar.getByRole('button', { name: /^campfire/ }).tap();
    await bar.getByRole('button', { name: 'Turn' }).tap();
    await findGood(bo);
    await page.screenshot({ path: join(screens, 'build-phone.png') });
    await checkAccessible(page, 'build mode on a phone');
    await checkFits(page);
    await page.setViewportSize({ width: PHONE.height, height: PHONE.width });
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(screens, 'build-phone-wide.png') });
    await checkFits(page);
    await page.setViewportSize(PHONE);
    await page.waitForTimeout(400);
    const boxes = await page.evaluate(() => [...document.querySelectorAll(
        '.build .button, .touch .button, .touch-ring, .tools .button')].map((each) =>
        [each.textContent || each.className, each.getBoundingClientRect().toJSON()]));
    const wrong = boxes.flatMap(([name, a], at) => [
        ...(/ring/.test(name) || (a.width >= 44 && a.height >= 44) ? [] : [`${name} is small`]),
        ...boxes.slice(at + 1).filter(([, b]) => a.left < b.right && b.left < a.right &&
            a.top < b.bottom && b.top < a.bottom).map(([other]) => `${name} and ${other} overlap`),
    ]);
    assert.deepEqual(wrong, []);
    // Texts twice as large: the tools are one row that a finger moves, and two thirds are free.
    await page.evaluate(() => document.documentElement.style.setProperty('--text', '2'));
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(screens, 'build-phone-large.png') });
    const { top, bottom, rows } = await page.evaluate(() => ({
        ...document.querySelector('.build').getBoundingClientRect().toJSON(),
        rows: new Set([...document.querySelectorAll('.build-tools .button')]
            .map((each) => Math.round(each.getBoundingClientRect().top))).size,
    }));
    assert.ok(rows === 1 && bottom - top <= PHONE.height / 3, `${rows} rows, ${bottom - top} px`);
    await page.evaluate(() => document.documentElement.style.removeProperty('--text'));
    await page.locator('.touch').getByRole('button', { name: 'Place' }).tap();
    await until('it stands', async () => (await structures(bo)).length === 2);

    // What is hers is not his.
    await bar.getByRole('button', { name: 'Remove' }).tap();
    const fire = (await structures(bo)).find(({ piece }) => piece === 2);
    const lookAt = async ({ p: [x, y, z] }) => {
        const own = await bo.position();
        const [dx, dy, dz] = [x - own.x, y - own.y - 1.6, z - own.z];
        await bo.look(Math.atan2(dx, dz), Math.atan2(dy, Math.hypot(dx, dz)));
    };
    await lookAt(fire);
    await until('it is said what it is', async () => /Remove your campfire/.test(await status(bo)));
    await page.locator('.touch').getByRole('button', { name: 'Remove' }).tap();
    await until('it is gone', async () => (await structures(bo)).length === 1);
    await bar.getByRole('button', { name: 'Done' }).tap();
    await bar.waitFor({ state: 'detached' });
    assert.deepEqual(bo.complaints, []);
});

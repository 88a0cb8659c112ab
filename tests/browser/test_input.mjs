// Touch and gamepad in the real page: with fingers on a small screen, in every layout, and with a
// gamepad that the test puts in place of the browser's.
//   node test_input.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import {
    Player, World, checkAccessible, closeBrowser, distance, onlyInAll, openBrowser, sleep, until,
} from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-input-'));
const PORTRAIT = { width: 375, height: 667 };
const LANDSCAPE = { width: 667, height: 375 };
const ACTIONS = ['wave', 'bomb', 'sing', 'hide']; // with Dig and Fill more than are shown at once

const HEARD = `Input.Pressed:Connect(function(key) print("pressed " .. key) end)
Input.Released:Connect(function(key) print("released " .. key) end)
`;
// One tree for each script.
const shows = (anchor) => `UI.Show(UI.Panel({anchor = "${anchor}",
    UI.Button({text = "At ${anchor}", OnClick = function() print("clicked ${anchor}") end})}))
`;

let world;

before(async () => {
    const path = join(folder, 'island');
    cpSync(place, path, { recursive: true, filter: (from) => !from.includes('.sandlot') });
    const about = JSON.parse(readFileSync(join(path, 'place.json'), 'utf8'));
    writeFileSync(join(path, 'place.json'), JSON.stringify({ ...about, actions: ACTIONS }));
    mkdirSync(join(path, 'StarterGui'), { recursive: true });
    mkdirSync(screens, { recursive: true });
    writeFileSync(join(path, 'StarterGui/Heard.lua'), HEARD);
    for (const anchor of ['top', 'left', 'right', 'bottom']) {
        writeFileSync(join(path, `StarterGui/At_${anchor}.lua`), shows(anchor));
    }
    world = await World.start(path, (port) => ['--public-url', `http://lan.test:${port}`]);
});

const players = [];
const open = async (name, options) => {
    const player = await Player.open(world.port, name, options);
    players.push(player);
    await player.playing();
    return player;
};

afterEach(async () => {
    await Promise.all(players.splice(0).map((player) => player.close()));
});

after(async () => {
    await world?.stop();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

// Several fingers at once, which Playwright's own touchscreen has not.
class Fingers {
    static async on(page) {
        const fingers = new Fingers();
        fingers.session = await page.context().newCDPSession(page);
        fingers.points = new Map();
        return fingers;
    }

    send(type) {
        return this.session.send('Input.dispatchTouchEvent',
            { type, touchPoints: [...this.points.values()] });
    }

    down(id, { x, y }) {
        this.points.set(id, { id, x, y });
        return this.send('touchStart');
    }

    async move(id, { x, y }) {
        const from = this.points.get(id);
        for (const part of [0.5, 1]) {
            this.points.set(id, { id, x: from.x + (x - from.x) * part, y: from.y + (y - from.y) * part });
            await this.send('touchMove');
        }
    }

    up(id) {
        this.points.delete(id);
        return this.send(this.points.size === 0 ? 'touchEnd' : 'touchMove');
    }
}

const middle = async (locator) => {
    const { x, y, width, height } = await locator.boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
};
const ring = (page) => middle(page.locator('.touch-ring'));
const button = (page, name) => page.locator('.touch').getByRole('button', { name, exact: true });
const heard = (player, line) => until(`the script hears "${line}"`, () =>
    player.printed.some((each) => each.includes(line)));
const turned = (before, now) => Math.abs(Math.atan2(Math.sin(now - before), Math.cos(now - before)));

// Nothing that lies over the world covers anything else, leaves the screen, or is too small to hit.
async function checkLayout(page, what) {
    const wrong = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('.touch .button, .touch-ring, .tools .button, ' +
            '#board, #health, #place, #messages p, #script-ui .tree')]
            .filter((each) => each.checkVisibility({ visibilityProperty: true }))
            .map((each) => [each.textContent.trim() || each.id || each.className,
                each.getBoundingClientRect(), each.matches('.button')])
            .filter(([, box]) => box.width > 0 && box.height > 0);
        const found = [];
        boxes.forEach(([name, a, isButton], at) => {
            if (isButton && (a.width < 44 || a.height < 44)) {
                found.push(`${name} is small: ${a.width}×${a.height}`);
            }
            if (a.left < 0 || a.top < 0 || a.right > innerWidth || a.bottom > innerHeight) {
                found.push(`${name} is not on the screen`);
            }
            for (const [other, b] of boxes.slice(at + 1)) {
                if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
                    found.push(`${name} and ${other} overlap`);
                }
            }
        });
        return found;
    });
    assert.deepEqual(wrong, [], what);
}

async function phone() {
    const context = await (await openBrowser()).newContext(
        { viewport: PORTRAIT, hasTouch: true, isMobile: true });
    const ada = await open('Ada', { context });
    return { ada, page: ada.page, fingers: await Fingers.on(ada.page) };
}

// Where a finger looks around: nothing else is there.
const freePoint = (page) => page.evaluate(() => {
    for (let y = innerHeight / 2; y > 0; y -= 8) {
        for (let x = innerWidth - 20; x > innerWidth / 2; x -= 8) {
            if ([0, 12, -12].every((off) => document.elementFromPoint(x + off, y + off)?.matches('.touch'))) {
                return [x, y];
            }
        }
    }
    return [0, 0];
});

const settle = (page) => page.evaluate(() => new Promise((drawn) =>
    requestAnimationFrame(() => requestAnimationFrame(drawn))));

test('fingers walk, look, jump and press what the place has', async () => {
    const { ada, page, fingers } = await phone();
    // A device without a mouse has them from the beginning, and nobody is told to click.
    await page.locator('.touch').waitFor();
    assert.equal(await page.locator('#grab').isVisible(), false);
    await checkAccessible(page, 'the game with touch controls');

    // The stick walks; at full tilt it runs. A second finger looks around meanwhile.
    const start = await ada.stands();
    const stick = await ring(page);
    await fingers.down(1, stick);
    await fingers.move(1, { x: stick.x, y: stick.y - 30 });
    await until('she walks', async () => distance(await ada.position(), start) > 0.5);
    assert.ok(!ada.printed.some((line) => line.includes('pressed Run')), 'half a tilt is a walk');
    await fingers.move(1, { x: stick.x, y: stick.y - 90 });
    await heard(ada, 'pressed Run');
    const { look: before } = await ada.inspect();
    await fingers.down(2, { x: 240, y: 310 });
    await fingers.move(2, { x: 140, y: 290 });
    await until('she looks around', async () => {
        const { look } = await ada.inspect();
        return turned(before[0], look[0]) > 0.4 && look[1] > before[1];
    });
    await fingers.up(2);
    await fingers.up(1);
    await heard(ada, 'released Run');

    const ground = await ada.stands();
    await fingers.down(1, await middle(button(page, 'Jump')));
    await until('she jumps', async () => (await ada.position()).y > ground.y + 0.3);
    await fingers.up(1);
    await heard(ada, 'released Jump');
    for (const name of ['Fire', 'Use', 'wave', 'bomb']) {
        await fingers.down(1, await middle(button(page, name)));
        await heard(ada, `pressed ${name}`);
        await fingers.up(1);
        await heard(ada, `released ${name}`);
    }
    assert.equal(await button(page, 'Fill').count(), 0);
    await fingers.down(1, await middle(button(page, 'More')));
    await fingers.up(1);
    await button(page, 'Fill').waitFor();
    // Then all buttons are there, and with one thumb they stand above the stick.
    for (const name of ['one-right', 'right-handed']) {
        await chooseLayout(page, name);
        await settle(page);
        await page.screenshot({ path: join(screens, `input-all-buttons-${name}.png`) });
        await checkLayout(page, `${name}, all buttons`);
    }
    await fingers.down(1, await middle(button(page, 'Less')));
    await fingers.up(1);
    await until('they are fewer', async () => await button(page, 'Fill').count() === 0);

    // What scripts show is still theirs.
    await page.touchscreen.tap(...Object.values(
        await middle(page.getByRole('button', { name: 'At bottom' }))));
    await heard(ada, 'clicked bottom');

    // Whoever writes in the chat has a keyboard only there.
    await page.getByRole('button', { name: 'Chat' }).tap();
    await page.locator('#chat-text:focus').waitFor(); // the click comes after the touch
    await page.keyboard.type('hello');
    assert.equal(await page.locator('.touch').count(), 1);
    await page.touchscreen.tap(...await freePoint(page));
    await until('the chat is closed', async () => await page.locator('#chat-text').count() === 0);
    await page.keyboard.press('w');
    await until('the keys took over', async () => await page.locator('.touch').count() === 0);
    await page.touchscreen.tap(300, 200);
    await page.locator('.touch').waitFor();
    await page.mouse.move(100, 100);
    await page.mouse.move(120, 100);
    await until('the mouse took over', async () => await page.locator('.touch').count() === 0);

    // Two fingers that move apart zoom nothing, and nothing scrolls.
    await fingers.down(1, { x: 250, y: 200 });
    await fingers.down(2, { x: 250, y: 300 });
    await fingers.move(1, { x: 250, y: 120 });
    await fingers.move(2, { x: 250, y: 380 });
    await fingers.up(2);
    await fingers.up(1);
    assert.deepEqual(await page.evaluate(() =>
        [visualViewport.scale, scrollX, scrollY, visualViewport.offsetTop]), [1, 0, 0, 0]);
    // Nor if one of them is on a button, which works as before.
    await page.touchscreen.tap(300, 200);
    await page.locator('.touch').waitFor();
    const chat = await middle(page.getByRole('button', { name: 'Chat' }));
    for (const [a, b] of [[chat, { x: 250, y: 300 }], [{ x: 250, y: 300 }, chat]]) {
        await fingers.down(1, a);
        await fingers.down(2, b);
        await fingers.move(1, { x: a.x - 20, y: a.y + (a === chat ? -15 : 60) });
        await fingers.move(2, { x: b.x + 20, y: b.y + (b === chat ? -15 : 60) });
        await fingers.up(1);
        await fingers.up(2);
        assert.equal(await page.evaluate(() => visualViewport.scale), 1);
    }
    // The fingers above may have opened it already: then the first tap closes it.
    await until('a tap opens the chat', async () => {
        await page.touchscreen.tap(chat.x, chat.y);
        await page.waitForTimeout(500);
        return await page.locator('#chat-text:focus').count() > 0;
    });
    assert.deepEqual(ada.complaints, []);
});

async function chooseLayout(page, name) {
    await page.getByRole('button', { name: 'Menu' }).tap();
    await page.getByRole('button', { name: 'Settings' }).tap();
    await page.getByLabel('Touch controls').selectOption(name);
    if (name === 'one-right' && onlyInAll === false) {
        await checkAccessible(page, 'the settings');
    }
    await page.getByRole('button', { name: 'Back', exact: true }).tap();
    await page.getByRole('button', { name: 'Back to the game' }).tap();
    await page.locator('dialog').waitFor({ state: 'detached' });
}

test('every layout has room on a small screen, upright and lying', { skip: onlyInAll }, async () => {
    const { ada, page, fingers } = await phone();
    await page.touchscreen.tap(300, 200);
    for (const name of ['right-handed', 'left-handed', 'one-left', 'one-right']) {
        await chooseLayout(page, name);
        for (const [way, size] of Object.entries({ portrait: PORTRAIT, landscape: LANDSCAPE })) {
            await page.setViewportSize(size);
            await page.getByRole('button', { name: 'Chat' }).tap(); // one line of it stands there for a while
            await page.locator('#chat-text:focus').waitFor();
            await page.keyboard.type('hi');
            await page.keyboard.press('Enter');
            await page.locator('#messages p:not([hidden])').last().waitFor();
            await settle(page);
            await page.screenshot({ path: join(screens, `input-${name}-${way}.png`) });
            await checkLayout(page, `${name}, ${way}`);
            await button(page, 'More').tap();
            await button(page, 'Less').waitFor();
            await settle(page);
            await checkLayout(page, `${name}, ${way}, all buttons`);
            await button(page, 'Less').tap();
        }
        await page.setViewportSize(PORTRAIT);
    }

    // One thumb: the stick turns, and a walk at full tilt goes on while the thumb is on a button.
    const { look } = await ada.inspect();
    const stick = await ring(page);
    await fingers.down(1, stick);
    await fingers.move(1, { x: stick.x + 40, y: stick.y });
    await until('she turns', async () => turned(look[0], (await ada.inspect()).look[0]) > 0.3);
    await fingers.move(1, { x: stick.x, y: stick.y - 80 });
    await fingers.up(1);
    const start = await ada.position();
    await fingers.down(1, await middle(button(page, 'Jump')));
    await until('she goes on', async () => distance(await ada.position(), start) > 1);
    await fingers.up(1);
    await fingers.down(1, stick);
    await fingers.up(1);
    await ada.stands();
    assert.deepEqual(ada.complaints, []);
});

// Pressed, released and tilted by the test.
const fakePad = (_context, page) => page.addInitScript(() => {
    const pad = {
        connected: true, mapping: 'standard', axes: [0.05, -0.08, 0, 0.1],
        buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })),
    };
    window.pad = pad;
    navigator.getGamepads = () => [null, pad, null, null];
});

test('a gamepad walks, looks, jumps, and finds its way through the menu', async () => {
    const ada = await open('Ada', { before: fakePad });
    const { page } = ada;
    const set = (at, pressed) => page.evaluate(([button, down]) => {
        window.pad.buttons[button] = { pressed: down, value: down ? 1 : 0 };
    }, [at, pressed]);
    const tilt = (...axes) => page.evaluate((all) => { window.pad.axes = all; }, axes);
    const press = async (at) => {
        await set(at, true);
        await settle(page);
        await set(at, false);
        await settle(page);
    };
    const [A, B, X, RT, START, DOWN, RIGHT] = [0, 1, 2, 7, 9, 13, 15];

    const start = await ada.stands(); // within the dead zone nothing moves
    const { look } = await ada.inspect();
    await tilt(0, -1, 0, 0);
    await until('she walks', async () => distance(await ada.position(), start) > 0.5);
    await tilt(0, 0, 0.9, -0.5);
    await until('she looks around', async () => {
        const { look: now } = await ada.inspect();
        return turned(look[0], now[0]) > 0.4 && now[1] > look[1];
    });
    await tilt(0, 0, 0, 0);
    const ground = await ada.stands();
    await set(A, true);
    await until('she jumps', async () => (await ada.position()).y > ground.y + 0.3);
    await set(A, false);
    await heard(ada, 'released Jump');
    for (const [at, name] of [[X, 'Use'], [RT, 'Fire'], [RIGHT, 'bomb'], [DOWN, 'sing']]) {
        await press(at);
        await heard(ada, `pressed ${name}`);
    }

    // The menu: B closes it, and the focus goes round in it.
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await press(START);
    await menu.waitFor();
    await press(B);
    await menu.waitFor({ state: 'detached' });
    await press(START);
    await menu.waitFor();
    // A busy browser may miss a press, or take a long one for two.
    const choose = (what, element) => until(`${what} has the focus`, async () => {
        const chosen = () => page.locator(`${element}:focus`, { hasText: what }).count();
        if (await chosen() === 0) {
            await press(DOWN);
        }
        return await chosen() === 1;
    });
    await choose('Back to the game', 'button');
    await choose('Settings', 'button');
    await press(A);
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    assert.equal(await page.getByText('gamepads').count(), 0);
    await choose('', 'input[type=range]');
    // A press between two slow pictures is one that nobody made.
    await until('the texts are larger', async () => {
        await press(RIGHT);
        return await page.locator('output', { hasText: /^(1[1-9]0|200) %$/ }).count() > 0;
    });
    await press(B);
    await menu.waitFor();
    await choose('Back to the game', 'button');
    const jumps = ada.printed.filter((line) => line.includes('pressed Jump')).length;
    await press(A);
    await menu.waitFor({ state: 'detached' });
    await sleep(300);
    assert.equal(ada.printed.filter((line) => line.includes('pressed Jump')).length, jumps,
        'what chose in the menu does not jump');
    const back = await ada.stands();
    let turns = 0; // there may be a wall on one side
    await until('she walks again', async () => {
        const side = Math.floor(turns++ / 25) * Math.PI / 2; // some seconds each
        await tilt(Math.sin(side), Math.cos(side), 0, 0);
        return distance(await ada.position(), back) > 0.5;
    });
    await page.evaluate(() => { window.pad.connected = false; });
    await ada.stands();
    assert.deepEqual(ada.complaints, []);
});

test('the settings say that the browser keeps gamepads from the page', { skip: onlyInAll }, async () => {
    const ada = await open('Ada', {
        host: 'lan.test',
        before: (_context, page) => page.addInitScript(() => {
            Object.defineProperty(navigator, 'getGamepads', { value: undefined });
        }),
    });
    await ada.page.keyboard.press('Escape');
    await ada.page.getByRole('button', { name: 'Settings' }).press('Enter');
    await ada.page.getByText('read gamepads only over https').waitFor();
    // The browser's own word on headers that such a page cannot have.
    assert.deepEqual(ada.complaints.filter((line) => !line.includes('untrustworthy')), []);
});

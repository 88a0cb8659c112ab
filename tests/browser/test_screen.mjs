// What lies over the world in the real page: what scripts show and hear of it, chat, board, menu and
// settings; by keyboard too, and on a small screen.
//   node test_screen.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import { Player, World, XSS, checkAccessible, closeBrowser, drawSeldom, openBrowser, until } from './support.mjs';

const [, , place] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-screen-'));
const PHONE = { width: 375, height: 667 };
const DESK = { width: 720, height: 420 }; // pictures of a larger one would take seconds here
const [MARKUP] = XSS;
const lua = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;

const SCRIPTS = {
    'ServerScriptService/Scores.lua': `Players.PlayerAdded:Connect(function(player)
    player.leaderstats.Coins = 3
    player.leaderstats.Wins = 0
end)
Chat.Received:Connect(function(player, text) print("heard " .. text) end)
Network.OnClientEvent("bought", function(player, what)
    player.leaderstats.Coins = player.leaderstats.Coins - 1
    print("bought", what)
end)
`,
    'StarterGui/Shop.lua': `local clicks = 0
local function draw()
    UI.Show(UI.Panel({anchor = "right", title = ${lua(`Shop ${MARKUP}`)},
        UI.Text({text = "Clicks: " .. clicks, id = "clicks"}),
        UI.Bar({id = "wood", value = clicks, max = 4}),
        UI.Button({text = "Buy", OnClick = function()
            clicks = clicks + 1
            Network.FireServer("bought", "apple")
            draw()
        end}),
        UI.Input({id = "name", placeholder = "A name", OnSubmit = function(text)
            print("typed " .. text)
        end}),
    }))
end
draw()
task.spawn(function()
    while true do
        task.wait(0.5)
        draw() -- while somebody types
    end
end)
`,
    'StarterGui/Second.lua': `UI.Show(UI.List({anchor = "bottom-left", layer = 2,
    UI.Text({text = "From another script", color = "#ffcc00", size = 20}),
    UI.Grid({columns = 3, UI.Text({text = "a"}), UI.Text({text = "b"}), UI.Text({text = "c"})})}))
function onStart()
    local body = Players.LocalPlayer.Character
    while body == nil do
        task.wait()
        body = Players.LocalPlayer.Character
    end
    UI.At(body, UI.Text({text = "Above me"}))
end
`,
};

// More than a small screen has room for, an empty line, and words beside a button.
SCRIPTS['StarterGui/Tall.lua'] = `local panel = {anchor = "left", title = "Rules", UI.Text({text = ""})}
for i = 1, 24 do
    panel[#panel + 1] = UI.Text({text = "Rule " .. i .. " understandable"})
end
panel[#panel + 1] = UI.List({direction = "right", UI.Text({text = "understandable"}),
    UI.Button({text = "Understood", OnClick = function() print("understood") end})})
UI.Show(UI.Panel(panel))
`;

// The corpus in every kind of widget that has a text.
SCRIPTS['StarterGui/Markup.lua'] = `local list = {anchor = "top", layer = 3, id = "markup"}
for _, text in ipairs({${XSS.map(lua).join(', ')}}) do
    list[#list + 1] = UI.Text({text = text})
    list[#list + 1] = UI.Button({text = text})
    list[#list + 1] = UI.Input({placeholder = text})
end
Network.OnServerEvent("markup", function() UI.Show(UI.List(list)) end)
`;
SCRIPTS['ServerScriptService/Markup.lua'] = `Chat.Received:Connect(function(player, text)
    if text == "/markup" then
        Network.FireClient(player, "markup")
    end
end)
`;

let world;

before(async () => {
    const path = join(folder, 'island');
    cpSync(place, path, { recursive: true, filter: (from) => !from.includes('.sandlot') });
    for (const [name, text] of Object.entries(SCRIPTS)) {
        mkdirSync(join(path, name, '..'), { recursive: true });
        writeFileSync(join(path, name), text);
    }
    world = await World.start(path);
});

const players = [];
const open = async (name) => {
    const player = await Player.open(world.port, name);
    players.push(player);
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

// Nothing of what was written became an element, or an attribute that runs.
async function checkNoMarkup(page) {
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('#screen :is(img, script, iframe, style, ' +
        'base, meta, details, math, a), base, iframe, :is(#screen, #hud, #gate) :is([onerror], [onload], [onfocus], [ontoggle])')]
        .map((each) => each.outerHTML)), []);
}

test('what scripts show is seen, pressed and typed into', async () => {
    const ada = await open('Ada');
    await ada.playing();
    const { page } = ada;
    await page.setViewportSize(DESK);
    const panel = page.locator('#script-ui .anchor.right .w-panel');
    await panel.waitFor();
    assert.equal(await panel.locator('h3').textContent(), `Shop ${MARKUP}`);
    assert.equal(await page.locator('#script-ui img, #script-ui script').count(), 0);
    assert.match(await page.locator('#script-ui .anchor.bottom-left').textContent(),
        /From another script/, 'the second script took nothing from the first');
    let turns = 0; // a wall behind her may bring the camera too near to see what is above her
    await until('it stands above her', async () => {
        await ada.look((turns++ / 4) * Math.PI / 2);
        return page.locator('.above', { hasText: 'Above me' }).isVisible();
    });

    await panel.locator('button').click();
    await until('the click reached the script', async () =>
        await panel.locator('.w-text').textContent() === 'Clicks: 1');
    assert.equal(await panel.locator('.w-bar').getAttribute('aria-valuenow'), '1');
    await until('the server heard of it', () => /bought\W+t?apple/.test(world.output));
    await until('the board shows it', async () =>
        /Ada\s*2\s*0/.test(await page.locator('#board').textContent()));

    // The tree is drawn anew twice a second, and the line one types into stays.
    const input = panel.locator('input');
    await input.click();
    await input.pressSequentially('wasd walk', { delay: 150 });
    assert.equal(await input.inputValue(), 'wasd walk');
    const still = await ada.stands(); // letters that were typed moved nobody
    await input.press('Enter');
    await until('the text reached the script', () =>
        ada.printed.some((line) => line.includes('typed wasd walk')));
    assert.equal(await input.inputValue(), '');
    await input.press('Escape'); // the keys are for the world again
    assert.ok(await page.evaluate(() => document.activeElement === document.body));
    assert.ok(still.id > 0);
    await checkAccessible(page, 'the game');
    await ada.screenshot('screen-scripts');

    await page.keyboard.press('Enter');
    await page.keyboard.type('/markup');
    await page.keyboard.press('Enter');
    const markup = page.locator('#script-ui .anchor.top .tree');
    await markup.waitFor();
    assert.deepEqual(await markup.evaluate((tree) => [
        [...tree.querySelectorAll('p')].map((each) => each.textContent),
        [...tree.querySelectorAll('button')].map((each) => each.textContent),
        [...tree.querySelectorAll('input')].map((each) => each.placeholder),
    ]), [XSS, XSS, XSS], 'widgets show it as it is');
    await checkNoMarkup(page);
    assert.deepEqual(ada.complaints, []);
});

// The Tab key alone brings the focus to what has that name, as people without a mouse come there.
async function tabTo(page, name) {
    const seen = [];
    for (let presses = 0; presses < 80; presses++) {
        const now = await page.evaluate(() => {
            const { activeElement: each } = document;
            return (each.ariaLabel ?? each.labels?.[0]?.textContent ?? each.textContent).trim();
        });
        if (typeof name === 'string' ? now === name : name.test(now)) {
            return;
        }
        seen.push(now);
        await page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not come to ${name}, only to ${[...new Set(seen)].join(', ')}`);
}

// Opens what has that name, from where the focus is.
async function choose(page, name, dialog) {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: dialog }).waitFor();
}

test('two players chat, mute and report, by keyboard alone', async () => {
    const [ada, bo] = await Promise.all(['Ada', MARKUP.slice(0, 24)].map((name) =>
        open(name)));
    await Promise.all([ada.playing(), bo.playing()]);
    const log = (player) => player.page.locator('#messages').textContent();
    const say = async (player, text) => {
        await player.page.keyboard.press('Enter');
        await player.page.keyboard.type(text);
        await player.page.keyboard.press('Enter');
    };
    await until('both know each other', async () =>
        Object.values((await ada.inspect()).people).some((name) => name.startsWith('<img')));
    for (const half of [XSS.slice(0, XSS.length / 2), XSS.slice(XSS.length / 2)]) {
        const line = half.join(' ');
        assert.ok(line.length < 512);
        await say(ada, line);
        await until('it is heard', async () => (await log(bo)).includes(`Ada: ${line}`));
    }
    for (const { page } of [ada, bo]) {
        await checkNoMarkup(page);
    }
    await say(ada, '/give 7'); // the page has no such command: it is for the place's scripts
    await until('the script heard it', () => /heard \/give 7/.test(world.output));
    const name = Object.values((await bo.inspect()).people).find((each) => each !== 'Ada');
    await say(ada, `/mute ${name}`);
    await say(bo, 'can you hear me');
    await until('the speaker sees it', async () => (await log(bo)).includes('can you hear me'));
    await say(ada, '/players');
    await until('Ada is told who is here', async () => (await log(ada)).includes('Here are:'));
    assert.ok(!(await log(ada)).includes('can you hear me'), 'muted');
    await say(ada, `/unmute ${name}`);
    await say(bo, 'and now');
    await until('it is heard again', async () => (await log(ada)).includes('and now'));

    // What one has said comes back with the arrow.
    await ada.page.keyboard.press('Enter');
    await ada.page.keyboard.press('ArrowUp');
    await ada.page.keyboard.press('ArrowUp');
    assert.equal(await ada.page.locator('#chat-text').inputValue(), '/players');
    await ada.page.keyboard.press('Escape');
    await ada.page.locator('#chat-text').waitFor({ state: 'detached' });

    // The menu: Escape, then Tab and Enter.
    const { page } = ada;
    await page.setViewportSize(PHONE);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    await checkAccessible(page, 'the menu');
    await choose(page, 'Settings', 'Settings');
    await tabTo(page, 'Size of texts');
    await page.keyboard.press('ArrowRight');
    await page.locator('output', { hasText: '110 %' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await tabTo(page, 'Colours of menus');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
    await page.keyboard.press('ArrowUp');
    await choose(page, 'Back', 'Menu');
    await choose(page, 'Players', 'Players');
    await choose(page, /^Report <img/, /^Report/);
    await tabTo(page, /^What happened\?/);
    await page.keyboard.type('It shouted.');
    await checkAccessible(page, 'the report');
    await tabTo(page, 'Send the report');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Players' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('dialog').count(), 0);
    assert.match(await log(ada), /Your report about .* was sent/);
    await page.screenshot({ path: join(process.argv[5], 'screen-phone.png') });
    const before = await ada.stands();
    await ada.hold('w', 600);
    const after = await ada.position();
    assert.ok(Math.hypot(after.x - before.x, after.z - before.z) > 0.5, 'the keys are back');
    assert.deepEqual([...ada.complaints, ...bo.complaints], []);
});

// Which of these lie over each other.
const overlaps = (page, selector) => page.evaluate((which) => {
    const boxes = [...document.querySelectorAll(which)]
        .map((each) => [each.id || each.textContent.slice(0, 20), each.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && box.height > 0);
    return boxes.flatMap(([name, a], at) => boxes.slice(at + 1).flatMap(([other, b]) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
            ? [`${name} and ${other}`] : []));
}, selector);

test('what lies over the world has room, also on small screens', async () => {
    const ada = await open('Ada');
    await ada.playing();
    const { page } = ada;
    await page.setViewportSize({ width: 800, height: 500 });
    const rules = page.locator('#script-ui .anchor.left .tree');
    await rules.waitFor();
    assert.match(await page.locator('#help').textContent(), /shoot[^]*dig[^]*fill[^]*Q wave/);
    // The line that asks for a click is below the body, which ends at three quarters of the picture.
    const grab = await page.locator('#grab').boundingBox();
    assert.ok(grab.y > 500 * 0.75, `${grab.y}`);
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('#messages').evaluate((log) => log.childElementCount === 0 &&
        log.clientHeight > 0), false, 'an empty chat has no empty box');
    await page.keyboard.press('Escape');
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
        await page.keyboard.press('Enter');
        await page.keyboard.type(`a line of the chat, ${text}`);
        await page.keyboard.press('Enter');
        await until('it is heard', async () =>
            (await page.locator('#messages').textContent()).includes(text));
    }
    await page.screenshot({ path: join(process.argv[5], 'screen-small-desk.png') });
    assert.deepEqual(await overlaps(page, '#help, #health, #grab'), []);
    assert.deepEqual(await overlaps(page, '.chat, #script-ui .anchor.left .tree'), []);

    // The panel scrolls to its last line, and no word of it is split.
    for (const size of [{ width: 800, height: 500 }, PHONE]) {
        await page.setViewportSize(size);
        await rules.locator('p', { hasText: 'Rule 24' }).scrollIntoViewIfNeeded();
        assert.deepEqual(await page.locator('#script-ui .tree').evaluateAll((all) => all
            .filter((each) => each.getBoundingClientRect().right > innerWidth)
            .map((each) => each.textContent.slice(0, 20))), [], 'beyond the screen');
        assert.deepEqual(await page.locator('#script-ui .w-panel > *').evaluateAll((all) => all
            .filter((each) => each.getBoundingClientRect().right > each.parentElement.getBoundingClientRect().right)
            .map((each) => each.outerHTML.slice(0, 60))), [], 'beyond its panel');
        const box = await rules.locator('button').boundingBox();
        assert.ok(box.y > 0 && box.y + box.height < size.height, 'the last button is on the screen');
        await rules.locator('button').click();
        assert.deepEqual(await rules.locator('p').evaluateAll((all) => all.flatMap((each) => {
            const word = document.createRange();
            word.setStart(each.firstChild, each.textContent.indexOf('underst'));
            word.setEnd(each.firstChild, each.textContent.length);
            return word.getClientRects().length === 1 ? [] : [each.textContent];
        })), [], 'no word is split, and an empty text is no line');
        assert.deepEqual(await overlaps(page, '.chat, #board'), []);
        await page.screenshot({ path: join(process.argv[5], `screen-tall-${size.width}.png`) });
    }
    await until('the click arrived', () => ada.printed.some((line) => line.includes('understood')));

    // The place's own action has a key that can be chosen.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Settings' }).press('Enter');
    await page.getByRole('button', { name: 'wave: Q' }).press('Enter');
    await page.keyboard.press('v'); // which was the camera's
    await page.getByRole('button', { name: 'wave: V' }).waitFor();
    await page.getByRole('button', { name: 'Change the camera: Q' }).waitFor();
    assert.deepEqual(ada.complaints, []);
});

test('a place without digging and weapons does not speak of them', async () => {
    const plain = await World.start(join(place, '..', 'obby'));
    const bo = await Player.open(plain.port, 'Bo');
    await bo.playing();
    await bo.page.setViewportSize({ width: 800, height: 500 });
    const help = await bo.page.locator('#help').textContent();
    assert.match(help, /walk/);
    assert.doesNotMatch(help, /dig|fill|shoot|build/);
    await bo.page.getByText('Nobody has finished yet').waitFor();
    await bo.close();
    // On a phone: no button to fire with, and the board says what it counts.
    const cy = await Player.open(plain.port, 'Cy', { context: await (await openBrowser()).newContext({
        viewport: PHONE, hasTouch: true, serviceWorkers: 'block' }) });
    await cy.playing();
    await cy.page.touchscreen.tap(200, 300);
    const touch = cy.page.locator('.touch');
    await touch.getByRole('button', { name: 'Jump', exact: true }).waitFor();
    for (const name of ['Fire', 'Use']) {
        assert.equal(await touch.getByRole('button', { name, exact: true }).count(), 0, name);
    }
    const cell = cy.page.locator('#board .own td').first();
    await cell.waitFor();
    assert.match(await cell.evaluate((each) => getComputedStyle(each, '::before').content), /Stage/);
    await cy.page.screenshot({ path: join(process.argv[5], 'screen-plain-phone.png') });
    await cy.close();
    await plain.stop();
});

// With accounts.
class Up extends World {
    command() {
        return ['up', '--places', dirname(this.place), '--default-place', basename(this.place),
            '--registration', 'open'];
    }
}

test('guests are told why they cannot write; an account blocks, and an owner removes',
    async (t) => {
    const up = await Up.start(join(folder, 'island'));
    t.after(() => up.stop());
    const context = await (await openBrowser()).newContext({ viewport: PHONE });
    await drawSeldom(context);
    const site = `http://127.0.0.1:${up.port}`;
    const anna = await context.newPage();
    await anna.goto(`${site}/play`);
    const made = await anna.evaluate(async (invitation) => {
        const answer = await fetch('/register', {
            method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
            body: JSON.stringify({ username: 'anna', password: 'a long word 17', invitation }),
        });
        return answer.ok ? '' : answer.text();
    }, /link=([\w-]+)/.exec(up.output)[1]); // she runs the server
    assert.equal(made, '');
    const den = await anna.evaluate(async () => (await fetch('/api/worlds', {
        method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
        body: JSON.stringify({ name: 'Den' }),
    })).json());
    await anna.goto(`${site}/play/${den.room_code}`);
    await anna.getByText('You are anna.').waitFor();
    assert.equal(await anna.textContent('#title'), 'Island', 'one sees where one goes');
    await anna.locator('#enter').press('Enter');
    await until('anna plays', () => anna.evaluate(() => window.sandlot.inspect().phase === 'playing'));
    const bo = await Player.open(up.port, 'Bo', { query: `play/${den.room_code}` });
    await bo.playing();
    assert.equal(await bo.page.getAttribute('#account', 'href'), `/account?next=${encodeURIComponent(`/play/${den.room_code}`)}`,
        'who signs in there comes back to this world');
    await bo.page.setViewportSize(PHONE);
    await until('the rule is known', async () => {
        await bo.page.keyboard.press('Enter');
        return await bo.page.getByText('Guests cannot write here.').count() === 1;
    });
    assert.equal(await bo.page.locator('#chat-text').count(), 0);
    assert.match(await bo.page.getByRole('link', { name: /make an account/ }).getAttribute('href'),
        /^\/account\?next=%2Fplay%2F/, 'and comes back here');
    await checkAccessible(bo.page, 'the chat of a guest');
    await bo.page.keyboard.type('hi every one v'); // who writes without looking presses nothing, and the game hears none of it
    assert.equal(await bo.page.getByText('Guests cannot write here.').count(), 1, 'it is closed only by choice');
    assert.equal(await bo.page.locator('.chat-guest:focus').count(), 1, 'and the keys go nowhere else');
    await bo.page.screenshot({ path: join(process.argv[5], 'screen-guest.png') });
    await bo.page.keyboard.press('Escape');
    await bo.page.locator('.chat-guest').waitFor({ state: 'detached' });
    assert.equal(await bo.page.locator('dialog').count(), 0, 'that was the chat, not the menu');

    // What the server's scripts cost is for who makes them; a guest's page does not even ask.
    const asked = [];
    bo.page.on('request', (request) => asked.push(request.url()));
    await Promise.all([anna, bo.page].map((page) => page.keyboard.press('Tab')));
    await anna.locator('#overlay-more', { hasText: /Scripts of the server: \d/ }).waitFor();
    await bo.page.locator('#overlay-more', { hasText: /Downloads/ }).waitFor();
    await Promise.all([anna, bo.page].map((page) => page.keyboard.press('Tab')));
    assert.deepEqual(asked.filter((url) => url.includes('/scripts')), []);

    // With phrases to choose from: the keyboard alone says one.
    const set = (path, body) => anna.evaluate(async ([where, what]) => (await fetch(where, {
        method: 'PUT', headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' }, body: what,
    })).status, [path, body]);
    assert.deepEqual([await set('/admin/phrases', `Hello!\n${MARKUP}\n`),
        await set('/admin/settings', JSON.stringify({ guest_chat: 'phrases' }))], [200, 200]);
    await bo.page.reload();
    await bo.page.locator('#enter').press('Enter');
    await bo.playing();
    await until('the phrases are offered', async () => {
        await bo.page.keyboard.press('Enter');
        return await bo.page.locator('.chat-phrases:focus').count() === 1;
    });
    await bo.page.keyboard.type('hi every one');
    await bo.page.locator('.chat-phrases:focus').waitFor();
    assert.ok(!(await anna.textContent('#messages')).includes('~Bo: Hello!'), 'a space says nothing');
    await bo.page.keyboard.press('Tab');
    await bo.page.locator('.chat-phrases button:focus', { hasText: 'Hello!' }).waitFor();
    assert.equal(await bo.page.locator('.chat-phrases button').nth(1).textContent(), MARKUP);
    await checkAccessible(bo.page, 'phrases');
    await bo.page.screenshot({ path: join(process.argv[5], 'screen-phrases.png') });
    await bo.page.keyboard.press('Enter');
    await until('she hears it', async () => (await anna.textContent('#messages')).includes('~Bo: Hello!'));

    await anna.keyboard.press('Escape');
    await anna.getByRole('button', { name: 'Players' }).press('Enter');
    await anna.getByRole('button', { name: 'Block ~Bo' }).press('Enter');
    await anna.getByRole('button', { name: 'Unblock ~Bo' }).waitFor();
    const blocks = await anna.evaluate(async () => (await fetch('/api/me/blocks')).json());
    assert.deepEqual(blocks.blocks.map(({ shown_name: name }) => name), ['~Bo']);
    await checkAccessible(anna, 'the players');
    await anna.screenshot({ path: join(process.argv[5], 'screen-players.png') });
    await anna.getByRole('button', { name: 'Unblock ~Bo' }).press('Enter');
    await anna.getByRole('button', { name: 'Block ~Bo', exact: true }).waitFor();

    // The world is hers, so she may remove him, after one question; he reads why.
    await bo.page.keyboard.press('Escape');
    await bo.page.getByRole('button', { name: 'Players' }).press('Enter');
    await bo.page.getByRole('button', { name: 'Report anna' }).waitFor();
    assert.equal(await bo.page.getByRole('button', { name: /^Remove/ }).count(), 0, 'it is not his');
    await anna.getByRole('button', { name: 'Remove ~Bo from the world' }).press('Enter');
    await anna.getByLabel(/^Why\?/).fill('no digging');
    await checkAccessible(anna, 'the question before somebody is removed');
    await anna.screenshot({ path: join(process.argv[5], 'screen-remove.png') });
    await anna.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await until('he reads why', async () => await bo.page.locator('#detail').textContent() ===
        'You were removed from this world: its owner wrote: no digging.');
    await anna.getByText('~Bo was removed from the world.').waitFor({ state: 'attached' });
    await bo.page.screenshot({ path: join(process.argv[5], 'screen-removed.png') });
    await bo.close();
    await context.close();
    assert.deepEqual(bo.complaints, []);
});

// Pictures, downloads, and what scripts cost on both sides.
async function useOverlay(ada) {
    const { page } = ada;
    await page.setViewportSize(DESK);
    assert.ok(!ada.files.some(({ path }) => /overlay/.test(path)), 'it is loaded when it is used');
    await page.keyboard.press('Tab');
    const more = page.locator('#overlay-more');
    await more.waitFor();
    await until('pictures are drawn', async () =>
        /The last \d+ pictures/.test(await more.locator('canvas').getAttribute('aria-label') ?? ''));
    await until('the own scripts are listed', async () =>
        /StarterGui\/Shop/.test(await more.textContent()));
    // In development everybody on the machine may know what the server's scripts cost.
    await until('the server\'s scripts are listed', async () =>
        /Scripts of the server: \d[^]*ServerScriptService\/Scores/.test(await more.textContent()));
    assert.match(await more.textContent(), /Downloads[^]*world/);
    await checkAccessible(page, 'the overlay');
    await page.screenshot({ path: join(process.argv[5], 'screen-overlay.png') });
    await page.setViewportSize({ width: 960, height: 540 });
    assert.equal(await page.locator('#numbers').evaluate((each) => each.scrollHeight > each.clientHeight ||
        each.scrollWidth > each.clientWidth), false, 'nothing of it is cut off');
    await page.keyboard.press('Tab');
    await more.waitFor({ state: 'hidden' });
}

// An invitation, and another body.
async function useMenu(ada) {
    const { page } = ada;
    await page.setViewportSize(PHONE);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Invite others' }).press('Enter');
    const link = await page.getByLabel('Link').inputValue();
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/play\/\w+$/);
    await page.getByText('This address works on this computer only.').waitFor();
    await page.evaluate(() => {
        navigator.clipboard.writeText = (text) => {
            window.copied = text;
            return Promise.resolve();
        };
    });
    await page.getByRole('button', { name: 'Copy the link' }).press('Enter');
    await page.getByText('The link was copied.').waitFor();
    assert.equal(await page.evaluate(() => window.copied), link);
    await page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); });
    await page.getByRole('button', { name: 'Copy the link' }).press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.value.slice(
        document.activeElement.selectionStart, document.activeElement.selectionEnd)), link);
    await checkAccessible(page, 'the invitation');
    await page.screenshot({ path: join(process.argv[5], 'screen-invite.png') });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Give up this body' }).press('Enter');
    await until('the body is dead, and she is told', async () => (await ada.inspect()).own[10] <= 0 &&
        /You died/.test(await page.textContent('#died')));
    await page.screenshot({ path: join(process.argv[5], 'screen-died.png') });
    await until('there is another life', async () => (await ada.inspect()).own[10] > 0 &&
        await page.textContent('#died') === '');
}

// They hold, and stay.
async function useSettings(ada) {
    const { page } = ada;
    await page.setViewportSize(DESK);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Size of texts').fill('2');
    await page.getByLabel('Colours of menus').selectOption('dark');
    await page.getByLabel('Picture', { exact: true }).selectOption('medium');
    await page.getByLabel(/^Teams in words/).check();
    await page.getByLabel(/^Crouch: press once/).check();
    await page.getByLabel(/^Run: press once/).check();
    await checkAccessible(page, 'the settings, dark, with large texts');
    await page.screenshot({ path: join(process.argv[5], 'screen-settings.png') });
    await page.getByRole('button', { name: /^Walk forward/ }).click();
    await page.keyboard.press('i');
    await page.getByRole('button', { name: 'Walk forward: I' }).waitFor();
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.getByRole('button', { name: 'Back to the game' }).click();
    const before = await ada.stands();
    await page.keyboard.down('i');
    await until('the new key walks', async () => {
        const after = await ada.position();
        return Math.hypot(after.x - before.x, after.z - before.z) > 0.5;
    });
    const speed = async () => {
        const { own } = await ada.inspect();
        return Math.hypot(own[5], own[7]);
    };
    const walking = await speed();
    let turns = 0; // there may be a wall
    const goes = (what, check) => until(what, async () => {
        await ada.look(Math.floor(turns++ / 10) * Math.PI / 2);
        return check(await speed());
    });
    await page.keyboard.press('Shift');
    await goes('one press is enough to run', (now) => now > walking * 1.3);
    await page.keyboard.press('Shift');
    await goes('the next one ends it', (now) => now > 1 && now < walking * 1.1);
    await page.keyboard.up('i');

    const crouches = async () => ((await ada.inspect()).own[11] & 4) !== 0;
    assert.equal(await crouches(), false);
    await page.keyboard.press('z');
    await until('one press is enough to crouch', crouches);
    await page.keyboard.press('z');
    await until('the next one ends it', async () => !await crouches());

    const { id } = await ada.position();
    await page.route('**/api/chat*', (route) => // as a server with accounts answers where nobody may write
        route.fulfill({ json: { rule: 'off', guest: false, phrases: [] } }));
    await page.reload();
    await page.press('#name', 'Enter');
    await ada.playing();
    assert.equal((await ada.position()).id, id, 'the same body, and no twin of it');
    assert.equal(await page.evaluate(() =>
        getComputedStyle(document.documentElement).getPropertyValue('--text')), '2');
    const kept = await page.evaluate(() => JSON.parse(localStorage.getItem('sandlot.settings')));
    assert.deepEqual([kept.quality, kept.teamNames, kept.language, kept.toggleCrouch, kept.toggleRun],
        ['medium', true, 'en', true, true]);
    await until('it is said that nobody may write', async () => {
        await page.keyboard.press('Enter');
        return await page.getByText('Chat is switched off here.').count() === 1;
    });
    await page.keyboard.press('Escape');
    await page.locator('.chat-guest').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Leave' }).click();
    await until('she is out', async () => (await ada.inspect()).phase === 'closed');
    assert.match(await page.locator('#detail').textContent(), /You have left/);
}

test('one player uses the overlay, the menu and the settings', async () => {
    const ada = await open('Ada');
    await ada.playing();
    await useOverlay(ada);
    await useMenu(ada);
    await useSettings(ada);
    assert.deepEqual(ada.complaints, []);
});

// What lies over the world in the real page: what scripts show and hear of it, chat, board, menu and
// settings; by keyboard too, and on a small screen.
//   node test_screen.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import { Player, World, closeBrowser, until } from './support.mjs';

const [, , place] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-screen-'));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { width: 375, height: 667 };
const DESK = { width: 720, height: 420 }; // pictures of a larger one would take seconds here
// Names and texts that are markup somewhere.
const MARKUP = ['<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', 'javascript:alert(1)'];

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
    UI.Show(UI.Panel({anchor = "right", title = "Shop ${MARKUP[0].replaceAll('"', '\\"')}",
        UI.Text({text = "Clicks: " .. clicks, id = "clicks"}),
        UI.Bar({id = "wood", value = clicks, max = 4}),
        UI.Button({text = "Buy ${MARKUP[1].replaceAll('"', '\\"')}", OnClick = function()
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

async function checkAccessible(page, what) {
    // The policy of the page allows no other scripts: this one comes from the test, not from the page.
    const violations = await page.evaluate(`${AXE}; axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
        rules: { 'color-contrast': { enabled: true } },
    }).then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`);
    assert.deepEqual(violations, [], what);
}

test('what scripts show is seen, pressed and typed into', async () => {
    const ada = await open('Ada');
    await ada.playing();
    const { page } = ada;
    await page.setViewportSize(DESK);
    const panel = page.locator('#script-ui .anchor.right .w-panel');
    await panel.waitFor();
    assert.equal(await panel.locator('h3').textContent(), `Shop ${MARKUP[0]}`);
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
    assert.deepEqual(ada.complaints, []);
});

test('two players chat, mute and report, by keyboard alone', async () => {
    const [ada, bo] = await Promise.all(['Ada', MARKUP[0].slice(0, 24)].map((name) =>
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
    await say(ada, `hello ${MARKUP[1]}`);
    await until('it is heard', async () => (await log(bo)).includes(`Ada: hello ${MARKUP[1]}`));
    assert.equal(await bo.page.locator('#messages img, #messages script').count(), 0);
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

    // The menu: Escape, then Tab and Enter.
    const { page } = ada;
    await page.setViewportSize(PHONE);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    await checkAccessible(page, 'the menu');
    await page.getByRole('button', { name: 'Players' }).press('Enter');
    await page.getByRole('dialog', { name: 'Players' }).waitFor();
    await page.getByRole('button', { name: /^Report <img/ }).press('Enter');
    await page.getByLabel('What happened?').fill('It shouted.');
    await checkAccessible(page, 'the report');
    await page.getByRole('button', { name: 'Send the report' }).press('Enter');
    await page.keyboard.press('Escape');
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

test('settings hold, and stay', async () => {
    const ada = await open('Ada');
    await ada.playing();
    const { page } = ada;
    await page.setViewportSize(DESK);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel('Size of texts').fill('2');
    await page.getByLabel('Colours of menus').selectOption('dark');
    await checkAccessible(page, 'the settings, dark, with large texts');
    await page.screenshot({ path: join(process.argv[5], 'screen-settings.png') });
    await page.getByRole('button', { name: /^Walk forward/ }).click();
    await page.keyboard.press('i');
    await page.getByRole('button', { name: 'Walk forward: I' }).waitFor();
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.getByRole('button', { name: 'Back to the game' }).click();
    const before = await ada.stands();
    await ada.hold('i', 600);
    const after = await ada.position();
    assert.ok(Math.hypot(after.x - before.x, after.z - before.z) > 0.5, 'the new key walks');

    await page.reload();
    await page.press('#name', 'Enter');
    await ada.playing();
    assert.equal(await page.evaluate(() =>
        getComputedStyle(document.documentElement).getPropertyValue('--text')), '2');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Leave' }).click();
    await until('she is out', async () => (await ada.inspect()).phase === 'closed');
    assert.match(await page.locator('#detail').textContent(), /You have left/);
    assert.deepEqual(ada.complaints, []);
});

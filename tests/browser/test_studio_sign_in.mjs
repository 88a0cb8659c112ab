// The Studio when a sign-in ends while one works: nothing is lost, nothing is said to be saved that is not, and nothing
// is sent as somebody else. And what a beginner meets next: a script for a thing that has one, warnings.
//   node test_studio_sign_in.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import { Up, ask, drawn, find, openPage, openStudio, register, saved, shot, step, studio } from './studio.mjs';
import { closeBrowser, until } from './support.mjs';

const WINDOW = { width: 1100, height: 640 };
const PASSWORD = 'a sea of violets';
const HELLO = 'ServerScriptService/Greets.lua';
let up = null;
let anna = null;
let other = null; // another tab of the same browser
let id = '';

before(async () => { up = await Up.start(); });
after(async () => {
    await closeBrowser();
    await up?.stop();
});

const signIn = async (name) => assert.equal((await ask(other, 'POST', '/login', { username: name, password: PASSWORD })).status, 200);
const signOut = () => ask(other, 'POST', '/logout', {});
const state = () => studio(anna.page, () => window.studio.link.state.value);
const body = () => anna.page.textContent('body');

step('a place and two accounts', async () => {
    anna = await openPage(up.port, WINDOW);
    await anna.go('/');
    assert.equal(await register(anna.page, 'bert', /link=([\w-]+)/.exec(up.output)?.[1]), 200); // an operator, who may write there too
    const { body: invitation } = await ask(anna.page, 'POST', '/api/invitations', { role: 'creator' });
    await anna.context.clearCookies();
    await anna.go('/');
    assert.equal(await register(anna.page, 'anna', /link=([\w-]+)/.exec(invitation.link)?.[1]), 200);
    await anna.go('/create');
    await anna.page.fill('#new-title', 'Our town');
    await anna.page.click('input[value=blank]');
    await anna.page.click('button:has-text("Make it")');
    await anna.page.waitForURL(/\/create\/place_/);
    id = /place_[\w-]+/.exec(anna.page.url())[0];
    await openStudio(anna, id);
    await saved(anna.page);
    other = await anna.context.newPage();
    await other.goto(`http://127.0.0.1:${up.port}/`);
});

step('a new script replaces one only if that is wanted, and its tab goes with its file', async () => {
    const { page } = anna;
    await page.click('[data-kit=coin]');
    await until('a coin', async () => (await find(page, 'Coin')).length === 1);
    await saved(page);
    await studio(page, () => { window.studio.dialog.value = 'script'; });
    const give = page.locator('.new-script label', { hasText: 'in place of Workspace/Coin.lua' }).locator('input');
    assert.equal(await give.isChecked(), false);
    await page.fill('#script-name', 'Spin');
    await page.click('.new-script button[type=submit]');
    await page.locator('.script-tab.current', { hasText: 'Spin.lua' }).waitFor();
    await saved(page);
    const [coin] = await find(page, 'Coin');
    assert.equal(coin.scriptRef.path, 'Workspace/Coin.lua');
    await studio(page, () => window.studio.document.undo());
    await page.locator('.script-pane').waitFor({ state: 'detached' });
    assert.equal(await studio(page, () => window.studio.open.value), null);
    // A thing without a script gets it.
    await page.click('[data-kit=block]');
    await until('a block', async () => (await find(page, 'Block')).length === 1);
    await studio(page, () => { window.studio.dialog.value = 'script'; });
    assert.ok(await page.locator('.new-script label', { hasText: 'Give it to what is selected' }).locator('input').isChecked());
    await page.keyboard.press('Escape');
});

step('a warning is a warning everywhere, and keeps nothing from being published', async () => {
    const { page } = anna;
    await studio(page, async (path) => {
        const { files } = window.studio;
        await files.write(path, new TextEncoder().encode('local unused = player.Nam.x\nprint("v1")\n'), null, 'Greets');
        window.studio.openScript(path);
    }, HELLO);
    await until('there is a warning', () => studio(page, () => window.studio.warningCount?.value > 0));
    const warnings = await studio(page, () => window.studio.warningCount.value);
    assert.equal(await studio(page, () => window.studio.problemCount.value), 0);
    assert.match(await page.locator('.status button.warned').textContent(), new RegExp(`^${warnings} warning`));
    assert.equal(await page.locator('#tab-problems .badge.warning').textContent(), String(warnings));
    assert.equal(await page.locator('#tab-problems .badge:not(.warning)').count(), 0);
    await saved(page);
    await page.click('[data-command=publish]');
    await page.locator('.publish-form .warned', { hasText: `${warnings} warning` }).waitFor();
    await until('it can be published', () => page.locator('.publish-form button[type=submit]').isEnabled());
    await page.keyboard.press('Escape');
});

const type = async (text) => {
    await anna.page.locator('.script-host').click();
    await anna.page.keyboard.press('Control+End');
    await anna.page.keyboard.type(text);
};

step('the sign-in ends: it is said, what is done is kept, and sent after signing in elsewhere', async () => {
    const { page } = anna;
    await signOut();
    await until('it is known', async () => await state() === 'ended');
    await page.locator('.signed-out a', { hasText: 'Sign in' }).waitFor();
    await page.click('[data-kit=door]'); // with a script
    await until('a door', async () => (await find(page, 'Door')).length === 1);
    await type('\n-- typed later\n');
    await until('it was written', () => studio(page, () => window.studio.link.waiting.value >= 2));
    assert.equal(await page.locator('.script-foot [role=status]').textContent(), 'Saving …');
    assert.doesNotMatch(await body(), /POST|session_token|\bSaved\b/);
    assert.equal(await studio(page, () => window.studio.saved.value), 'ended');
    await shot(page, 'signed_out');
    await signIn('anna');
    await saved(page);
    await until('the editor says so', async () => await page.locator('.script-foot [role=status]').textContent() === 'Saved');
    assert.equal(await page.locator('.signed-out').count(), 0);
    await page.reload();
    await page.waitForSelector('.studio canvas');
    await drawn(page);
    assert.equal((await find(page, 'Door')).length, 1);
    const kept = await studio(page, (path) => window.studio.files.text(path), HELLO);
    assert.match(kept, /typed later/);
});

step('somebody else signs in: nothing is sent as them, and all of it when its maker is back', async () => {
    const { page } = anna;
    await signOut();
    await until('it is known', async () => await state() === 'ended');
    await page.click('[data-kit=trampoline]');
    await until('it is there', async () => (await find(page, 'Trampoline')).length === 1);
    const asked = [];
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await signIn('bert');
    await page.locator('.signed-out', { hasText: 'nothing of it is sent as bert' }).waitFor();
    await page.click('[data-kit=lift]'); // its script is a content that would be put at once
    await until('it is there too', async () => (await find(page, 'Lift')).length === 1);
    assert.equal(await state(), 'other');
    assert.deepEqual(asked.filter((each) => !each.startsWith('GET ')), []);
    await shot(page, 'other_signed_in');
    await signOut();
    await signIn('anna');
    await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await saved(page);
    await page.reload();
    await page.waitForSelector('.studio canvas');
    await drawn(page);
    assert.deepEqual([(await find(page, 'Trampoline')).length, (await find(page, 'Lift')).length], [1, 1]);
    assert.deepEqual(anna.complaints, []);
});

// The play-test beside a script with the console below: what a place shows at the top has room above the line that asks
// for a click and the health.
step('in a small play-test nothing lies over anything else', async () => {
    const { page } = anna;
    await studio(page, async () => {
        const { files } = window.studio;
        await files.write('StarterGui/Best.lua', new TextEncoder().encode('function onStart()\n    UI.Show(UI.List({anchor = "top", ' +
            'UI.Text({text = "Best times"}), UI.Text({text = "Nobody has finished yet"})}))\nend\n'), null, 'Best');
        window.studio.openScript('StarterGui/Best.lua');
        window.studio.panel.value = 'console';
        window.studio.playing.value = true;
    });
    const frame = page.frameLocator('.play-screen');
    await frame.locator('.tree', { hasText: 'Nobody has finished yet' }).waitFor();
    await frame.locator('#grab').waitFor();
    for (const panel of ['console', null]) { // also where the game has more room
        await studio(page, (which) => { window.studio.panel.value = which; }, panel);
        const boxes = async () => Object.fromEntries(await Promise.all(['.tree', '#grab', '#health'].map(async (each) =>
            [each, await frame.locator(each).first().boundingBox()])));
        const over = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
        const isFree = (all) => !over(all['.tree'], all['#grab']) && !over(all['.tree'], all['#health']) && !over(all['#grab'], all['#health']);
        await until(`nothing overlaps (${panel})`, async () => isFree(await boxes()), 5000).catch(async (error) => {
            await shot(page, 'small_play');
            throw new Error(`${error.message}: ${JSON.stringify(await boxes())}`);
        });
        await shot(page, `small_play_${panel}`);
    }
    assert.deepEqual(anna.complaints, []);
});

// The page on the network of a school: plain http at an address that is not the machine's own, where
// browsers withhold cryptography, service workers and the clipboard. It has a network of its own: the
// test begins again in a namespace with that address.
//   node test_lan.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test, { after } from 'node:test';

import { makePng } from './media.mjs';
import { ask, find, openPage, openStudio, register, saved } from './studio.mjs';
import { Player, World, closeBrowser, until } from './support.mjs';

const ADDRESS = '10.77.0.1';
const INSIDE = 'LAN_TEST_INSIDE';
const [, , place, screens] = process.argv.slice(2);

// With accounts: a world without them lets nobody in from another machine.
class Up extends World {
    command() {
        return ['up', '--places', this.place];
    }
}

function enterNetwork() {
    const unshare = process.getuid() === 0 ? ['--net'] : ['--user', '--map-root-user', '--net'];
    const setUp = `ip link set lo up && ip link add lan0 type veth peer name lan1 && ip link set lan1 up && \
        ip link set lan0 up && ip addr add ${ADDRESS}/32 dev lan0`;
    const tried = spawnSync('unshare', [...unshare, 'sh', '-c', setUp], { encoding: 'utf8' });
    if (tried.status !== 0) {
        console.log(`1..0 # SKIP skipped: no network namespace here: ${tried.stderr ?? tried.error}`);
        return 77;
    }
    return spawnSync('unshare', [...unshare, 'sh', '-c', `${setUp} && exec "$0" "$@"`,
        process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } }).status ?? 1;
}

if (process.env[INSIDE] === undefined) {
    process.exit(enterNetwork());
}

after(closeBrowser);

test('over plain http at an address of the network one plays, and is told what is missing', async (t) => {
    process.env.SECRET_KEY ??= 'a-key-of-this-test-alone-1';
    const up = await Up.start(join(place, '..'), () => ['--host', '0.0.0.0']);
    t.after(() => up.stop());
    const ada = await Player.open(up.port, 'Ada', { host: ADDRESS });
    const { page } = ada;
    assert.deepEqual(await page.evaluate(() => [isSecureContext, crypto.subtle === undefined,
        'serviceWorker' in navigator, 'clipboard' in navigator]), [false, true, false, false],
    'the browser withholds it');
    assert.match(await page.textContent('#notes'), /plain http/);
    await ada.playing();
    const before = await ada.stands();
    await ada.hold('w', 800);
    const { x, z } = await ada.stands();
    assert.ok(Math.hypot(x - before.x, z - before.z) > 0.5, 'she walks');
    // Hashes are the core's, and the signature is verified by the page's own code: scripts run.
    const { downloads, stats } = await ada.inspect();
    assert.ok(stats.scripts > 0 && downloads.scriptsHave === downloads.scripts, JSON.stringify(downloads));
    assert.ok(ada.files.some(({ path }) => /ed25519/.test(path)), 'the signature was verified here');
    assert.equal(downloads.scriptsRefused, 0);

    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Settings' }).click();
    assert.match(await page.textContent('#missing'),
        /Missing here: .*cryptography.*keeping the page’s files.*copying.*https/);
    await page.setViewportSize({ width: 375, height: 667 });
    await page.locator('#missing').scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(screens, 'lan_settings_phone.png') });
    const ours = ada.complaints.filter((line) => !line.includes('untrustworthy'));
    assert.deepEqual(ours, []);
    await ada.close();
});

test('the Studio works there too: what is built is stored, a script is checked, an asset is uploaded, the place is played', async (t) => {
    const up = await Up.start(join(place, '..'), () => ['--host', '0.0.0.0']);
    t.after(() => up.stop());
    const user = await openPage(up.port, { width: 1024, height: 700 }, {}, ADDRESS);
    const { page } = user;
    await user.go('/');
    assert.equal(await register(page, 'maker', /link=([\w-]+)/.exec(up.output)?.[1]), 200);
    const { body: { place_id: id } } = await ask(page, 'POST', '/api/drafts', { title: 'LAN', template: 'obby' });
    await openStudio(user, id);
    assert.equal(await page.evaluate(() => isSecureContext), false);
    await page.click('[data-kit=block]');
    await until('a block', async () => (await find(page, 'Block')).length === 1);
    await saved(page);
    // Hashes without the browser's cryptography: the file's content has to be named by its own.
    await page.click('#tab-assets');
    await page.setInputFiles('#asset-file', { name: 'dot.png', mimeType: 'image/png', buffer: makePng(4, 4, () => [9, 9, 9]) });
    await page.waitForSelector('.assets li:has-text("assets/dot.png")');
    await saved(page);
    await page.evaluate(() => window.studio.openScript('Workspace/Lift.lua', 0));
    const text = page.locator('.cm-content[aria-label="Workspace/Lift.lua"]');
    await text.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('function onStart(self) print("lift over plain http") end');
    await page.locator('.script-foot', { hasText: 'No problems' }).waitFor();
    await page.locator('.script-foot', { hasText: 'Saved' }).waitFor();
    await page.click('[data-command=play]');
    await page.locator('.console-list', { hasText: 'lift over plain http' }).waitFor({ timeout: 60_000 });
    await page.screenshot({ path: join(screens, 'lan_studio.png') });
    assert.deepEqual(user.complaints.filter((line) => !line.includes('untrustworthy')), []);
    await user.context.close();
});

test('cards of a class that is opened on the server itself show the address that others have; no TypeScript without Node', async (t) => {
    process.env.SANDLOT_NODE = '/nowhere/node';
    const up = await Up.start(join(place, '..'), () => ['--host', '0.0.0.0']);
    delete process.env.SANDLOT_NODE;
    t.after(() => up.stop());
    const teacher = await openPage(up.port, { width: 1024, height: 700 });
    const { page } = teacher;
    const others = `http://${ADDRESS}:${up.port}`;
    await teacher.go('/');
    assert.equal(await register(page, 'kim', /link=([\w-]+)/.exec(up.output)?.[1]), 200);
    const { body: { class_id: id } } = await ask(page, 'POST', '/api/classes', { name: '5b' });
    await teacher.go(`/class/${id}`);
    const note = page.locator('[role=note]', { hasText: 'works on this computer only' });
    await note.waitFor();
    assert.ok((await note.textContent()).includes(`${others}/account`), 'before there are codes');
    await page.fill('#names', 'Anna');
    await page.click('text=Make their accounts');
    await page.waitForSelector('.codes-list li');
    assert.ok((await page.textContent('.codes [role=note]')).includes(`${others}/account`), 'before it is printed');
    await page.screenshot({ path: join(screens, 'lan_class_cards.png') });
    const [sheet] = await Promise.all([teacher.context.waitForEvent('page'), page.click('text=Print the cards')]);
    await sheet.waitForSelector('li');
    assert.ok((await sheet.textContent('li')).includes(`${others}/account`), 'on paper');
    await sheet.screenshot({ path: join(screens, 'lan_cards.png') });
    await sheet.close();
    assert.deepEqual((await ask(page, 'GET', '/api/session')).body.shared_urls, [others]);
    // Of several addresses nobody but the teacher knows which one pupils reach.
    assert.equal(spawnSync('ip', ['addr', 'add', '10.77.0.2/32', 'dev', 'lan0']).status, 0);
    await teacher.go(`/class/${id}`);
    await note.waitFor();
    assert.ok((await note.textContent()).includes(`${others} or http://10.77.0.2:${up.port} before you make codes`));
    await note.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(screens, 'lan_class_several.png') });
    assert.equal(spawnSync('ip', ['addr', 'del', '10.77.0.2/32', 'dev', 'lan0']).status, 0);
    // Others are told nothing of the machine's addresses.
    const other = await openPage(up.port, { width: 1024, height: 700 }, {}, ADDRESS);
    await other.go('/');
    assert.equal((await ask(other.page, 'GET', '/api/session')).body.shared_urls, undefined);
    await other.context.close();

    await teacher.go('/create');
    const box = page.getByLabel('Write its scripts in TypeScript');
    await box.waitFor();
    assert.ok(await box.isDisabled(), 'what is made could not be published');
    assert.match(await page.textContent('#new-typescript'), /no Node of its own.*tools\/setup/s);
    await box.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(screens, 'lan_no_typescript.png') });
    const { body: { place_id: made } } = await ask(page, 'POST', '/api/drafts', { title: 'Lua', template: 'obby' });
    await openStudio(teacher, made);
    await page.getByRole('button', { name: 'New script' }).click();
    assert.ok(await page.locator('input[name=language][value=ts]').isDisabled());
    assert.match(await page.textContent('.new-script'), /cannot compile TypeScript, because it has no Node of its own/);
    await page.screenshot({ path: join(screens, 'lan_new_script.png') });
    assert.deepEqual(teacher.complaints, []);
    await teacher.context.close();
});

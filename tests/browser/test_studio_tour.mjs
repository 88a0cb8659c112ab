// A newcomer with an empty account walks the guided tour by mouse and keys, all ten steps, and plays the published
// course in another browser. Then what comes after a first place: pictures and models, a draft on the server with its
// console, a .game brought in, and a tablet.
//   node test_studio_tour.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { after, before } from 'node:test';

import { Up, ask, drawn, find, openPage, openStudio, register, saved, shot, spotOf, step, studio } from './studio.mjs';
import { makeGlb, makePng } from './media.mjs';
import { checkAccessible, closeBrowser, until } from './support.mjs';

const DESK = { width: 1024, height: 600 };
const TOUR_S = 180;
let up = null;
let own = null;
let id = '';

before(async () => { up = await Up.start(); });
after(async () => {
    await closeBrowser();
    await up?.stop();
});

const tourAt = (page) => studio(page, () => window.studio.tour.value);
const arrives = (page, at) => until(`step ${at + 1} of the tour`, async () => await tourAt(page) === at, 20_000);

async function drag(page, from, to) {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 2 });
    await page.mouse.move(to.x, to.y, { steps: 2 });
    await page.mouse.up();
}

step('the guided tour, from an empty account to a course that is played in another browser', async () => {
    own = await openPage(up.port, DESK);
    const { page } = own;
    await own.go('/');
    await register(page, 'root', /link=([\w-]+)/.exec(up.output)?.[1]); // an operator is there before anybody else
    const { body: invitation } = await ask(page, 'POST', '/api/invitations', { role: 'creator' });
    await page.context().clearCookies();
    await own.go('/');
    assert.equal(await register(page, 'newcomer', /link=([\w-]+)/.exec(invitation.link)?.[1]), 200);
    await own.go('/create');
    const began = Date.now();
    await page.fill('#new-title', 'My first course');
    await page.click('input[value=blank]');
    await page.click('button:has-text("Make it")');
    await page.waitForURL(/\/create\/place_/);
    id = /place_[\w-]+/.exec(page.url())[0];
    await page.click('a:has-text("guided tour")');
    await page.waitForSelector('.tour h2:has-text("Look around")');
    await drawn(page);
    await shot(page, 'tour_1');
    const covered = await page.evaluate(() => {
        const [tour, picture] = ['.tour', '.stage canvas'].map((each) => document.querySelector(each).getBoundingClientRect());
        return tour.bottom - picture.top;
    });
    assert.ok(covered <= 0.5, `the tour covers ${covered} pixels of the picture`);
    // 1: looks around.
    const { x, y, width, height } = await page.locator('.stage canvas').boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(x + width / 2 + 20, y + height / 2 + 10, { steps: 2 });
    await page.mouse.up({ button: 'right' });
    await arrives(page, 1);
    await shot(page, 'tour_2');
    // 2: a block.
    await page.click('[data-kit=block]');
    await arrives(page, 2);
    // A page that is loaded again goes on there.
    await saved(page);
    await page.reload();
    await drawn(page);
    assert.equal(await tourAt(page), 2);
    await studio(page, () => window.studio.select(window.studio.document.find('Block')));
    await shot(page, 'tour_3');
    // Another one does not make it the wrong number of blocks for ever.
    await page.click('[data-kit=wedge]');
    await until('a wedge', async () => (await find(page, 'Wedge')).length === 1);
    await page.click('.inspector [data-command=delete]');
    await until('no wedge', async () => (await find(page, 'Wedge')).length === 0);
    await page.click('[data-kit=wedge]');
    await until('a wedge again', async () => (await find(page, 'Wedge')).length === 1);
    await studio(page, () => window.studio.select(window.studio.document.find('Block')));
    // 3: moves it, by its middle.
    const block = await spotOf(page, 'Block');
    await drag(page, block, { x: block.x + 60, y: block.y + 10 });
    await arrives(page, 3);
    await shot(page, 'tour_4');
    // 4: a copy alone is not enough; it is moved on. What the step says can be read beside the block.
    await page.keyboard.press('Control+d');
    await until('a copy', async () => (await studio(page, () => window.studio.rows.size)) > 2);
    await page.waitForTimeout(700);
    assert.equal(await tourAt(page), 3, 'the copy has to be moved on');
    const copy = await studio(page, () => window.studio.rows.get(window.studio.selection.value[0]).position);
    const from = await spotOf(page, copy);
    await drag(page, from, { x: from.x + 50, y: from.y - 20 });
    await arrives(page, 4);
    await shot(page, 'tour_5');
    // 5: a colour.
    const colour = page.locator('.member.type-colour input[type=text]').first();
    const isSeen = () => colour.evaluate((field) => {
        const members = field.closest('.members') ?? field.closest('.inspector');
        const [own, whole] = [field, members].map((each) => each.getBoundingClientRect());
        return own.top >= whole.top && own.bottom <= Math.min(whole.bottom, innerHeight);
    });
    await until('the field that the step is about is in sight', isSeen);
    await studio(page, () => window.studio.select([]));
    await colour.waitFor({ state: 'detached' });
    await studio(page, () => window.studio.select(window.studio.document.find('Block').slice(-1)));
    await until('also when something is selected later', isSeen);
    await page.waitForSelector('.member.type-colour.pointed');
    await colour.fill('#ff8800');
    await colour.press('Enter');
    await arrives(page, 5);
    await shot(page, 'tour_6');
    // 6, 7: a kill brick and a checkpoint.
    await page.click('[data-kit=kill]');
    await arrives(page, 6);
    await shot(page, 'tour_7');
    await page.click('[data-kit=checkpoint]');
    await arrives(page, 7);
    await shot(page, 'tour_8');
    // 8: undone, and done again.
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('Control+z');
    await until('undone', async () => (await find(page, 'Checkpoint')).length === 0);
    await page.waitForTimeout(400);
    assert.equal(await tourAt(page), 7, 'it has to be there again');
    await page.keyboard.press('Control+y');
    await arrives(page, 8);
    await saved(page);
    await shot(page, 'tour_9');
    // 9: publishes.
    await page.click('[data-command=publish]');
    await page.fill('#publish-notes', 'My first course.');
    await page.waitForSelector('.publish-form button[type=submit]:not([disabled])');
    const pressed = Date.now();
    await page.click('.publish-form button[type=submit]');
    await page.waitForSelector('.published .qr', { timeout: 60_000 });
    const publishMs = Date.now() - pressed;
    const link = await page.inputValue('.copy input');
    await page.keyboard.press('Escape');
    await arrives(page, 9);
    await shot(page, 'tour_10');
    console.log(JSON.stringify({ tourSeconds: Math.round((Date.now() - began) / 1000), publishMs }));
    assert.ok(Date.now() - began < TOUR_S * 1000, 'three minutes are enough');
    // 10: somebody else plays it.
    const guest = await openPage(up.port, { width: 640, height: 360 });
    await guest.go(new URL(link).pathname);
    await guest.page.click('a:has-text("Play"), button:has-text("Play")');
    await guest.page.waitForURL(/\/play/);
    await guest.page.fill('#name', 'Guest');
    await guest.page.press('#name', 'Enter');
    await until('the guest is in the course', () => guest.page.evaluate(() =>
        window.sandlot?.inspect().phase === 'playing' && window.sandlot.inspect().own[0] === 1).catch(() => false));
    await shot(guest.page, 'tour_played');
    await guest.context.close();
    // Who plays it is told that this was all.
    const [played] = await Promise.all([page.waitForEvent('popup'), page.click('.tour a:has-text("Play it")')]);
    await played.close();
    await page.waitForSelector('.tour h2:has-text("You have made your first place")');
    // On an upright tablet everything is in sight.
    await page.setViewportSize({ width: 820, height: 1180 });
    for (const id of ['play', 'publish']) {
        const { x, width } = await page.locator(`.toolbar [data-command=${id}]`).boundingBox();
        assert.ok(x >= 0 && x + width <= 820, `${id} ends at ${x + width}`);
    }
    await shot(page, 'tour_tablet');
    await page.click('.tour button:has-text("Done")');
    assert.equal(await page.locator('.tour').count(), 0);
    assert.deepEqual(own.complaints, []);
});

// How much of the picture of the Studio is magenta, or a darker shade of it, which nothing of ours is.
const magenta = (page) => page.evaluate(async () => {
    const bitmap = await createImageBitmap(await window.studio.view.thumbnail(160, 90));
    const context = new OffscreenCanvas(160, 90).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, 160, 90);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
        const least = Math.min(data[i], data[i + 2]);
        count += least > 30 && data[i + 1] < least * 0.4 ? 1 : 0;
    }
    return count;
});

const plain = (...colour) => makePng(4, 4, () => colour);
const upload = (page, files) => page.setInputFiles('#asset-file', files.map(([name, buffer]) => ({ name, mimeType: '', buffer })));

step('a picture and a model that are uploaded are seen at once, also under another number', async () => {
    const { page } = own;
    await studio(page, () => window.studio.select([window.studio.document.find('Block')[0]]));
    await page.keyboard.press('f'); // focus
    assert.equal(await magenta(page), 0);
    await page.click('#tab-assets');
    await upload(page, [['skin.png', plain(255, 0, 255)]]);
    await until('it is listed', async () => /assets\/skin\.png/.test(await page.textContent('.assets')));
    const texture = page.locator('.member:has-text("Texture") input').first();
    await texture.fill('skin');
    await texture.press('Enter');
    await until('the block has the picture', async () => await magenta(page) > 20);
    await until('and it is said who uses it', async () => /used by 1/i.test(await page.textContent('.assets li:has-text("skin.png")')));
    await shot(page, 'picture');
    // Another file comes before it in the list, and then the picture itself is another one.
    await upload(page, [['aaa.png', plain(0, 255, 0)]]);
    await until('the second file', async () => /assets\/aaa\.png/.test(await page.textContent('.assets')));
    await page.waitForTimeout(500);
    await until('it has its own picture and not the new one', async () => await magenta(page) > 20);
    await upload(page, [['skin.png', plain(0, 255, 0)]]);
    await until('the changed picture', async () => await magenta(page) === 0);
    // A model takes the place of the shape; what cannot be read leaves it, and is said.
    await upload(page, [['thing.glb', makeGlb({ colour: [1, 0, 1] })], ['broken.glb', Buffer.from('glTF\x02\0\0\0\x14\0\0\0no model')]]);
    // What is not what its name says is refused; put there in another way, it is a problem until it is gone.
    await page.waitForSelector('.assets li:has-text("broken.glb")');
    await page.waitForSelector('.notice:has-text("2 files")');
    await upload(page, [['notes.txt', Buffer.from('a')], ['My Photo.PNG', plain(0, 0, 255)], ['bad.png', Buffer.from('\x89PNG\r\n\x1a\n12345', 'latin1')]]);
    await page.waitForSelector('.notice.wrong:has-text("notes.txt was not taken")');
    assert.equal(await page.locator('.assets p.wrong').count(), 2, 'both are said where one looks');
    await page.waitForSelector('.assets li:has-text("assets/My_Photo.png")');
    await shot(page, 'refused');
    assert.equal(await page.locator('.assets li:has-text("bad.png")').count(), 0);
    await page.evaluate((place) => fetch(`/api/places/${place}/draft/files/assets/bad.png`, {
        method: 'PUT', headers: { 'X-Sandlot': '1', 'If-None-Match': '*' }, body: new Uint8Array([0x89, 0x50, 1, 2]) }), id);
    await page.click('#tab-problems');
    await page.click('.lines li.error:has-text("assets/bad.png") button');
    await page.click('.assets [aria-label="Delete assets/bad.png"]');
    await until('there is no problem', () => studio(page, () => window.studio.problemCount.value === 0));
    const field = page.locator('.member:has-text("Model") input').first();
    await field.fill('thing');
    await field.press('Enter');
    await until('the block is the model', async () => await magenta(page) > 20);
    await shot(page, 'model');
    await field.fill('broken');
    await field.press('Enter');
    await until('the shape is back', async () => await magenta(page) === 0);
    await page.click('#tab-console');
    await until('and it is said', async () => /broken\.glb/.test(await page.textContent('.console-list')));
    await field.fill('');
    await field.press('Enter');
    await page.click('#tab-assets');
    await page.click('[aria-label="Delete assets/broken.glb"]');
    await saved(page);
    assert.deepEqual(own.complaints, []);
});

step('on the server: prints and faults of both sides are in the console, and a click opens the line', async () => {
    const { page } = own;
    await studio(page, async () => {
        const { files } = window.studio;
        const path = 'Workspace/KillBrick.lua';
        const text = await files.text(path);
        await files.write(path, new TextEncoder().encode(`${text}function onStart(self)\n    print("ready", self.Name)\n    local none = nil\n    print(none.x)\nend\n`),
            files.hashOf(path), 'Write');
    });
    await saved(page);
    await page.click('[data-command=play]');
    await page.selectOption('.play-mode select', 'server');
    await page.locator('#tab-console[aria-selected=true]').waitFor();
    for (const side of ['server', 'client']) {
        await page.locator('.console-line', { hasText: new RegExp(`^\\s*${side}.*ready`) }).first().waitFor({ timeout: 60_000 });
        await page.locator('.console-line.error', { hasText: new RegExp(`^\\s*${side}.*KillBrick`) }).first().waitFor();
    }
    await until('what they cost', async () => /Scripts \d+\.\d\d ms/.test(await page.textContent('.script-status')));
    await page.click('button:has-text("Friends")');
    await page.waitForSelector('dialog .qr');
    await page.fill('#friend-name', 'nobody-here');
    await page.click('dialog button:has-text("May join")');
    await until('it is refused in words', async () => (await page.textContent('dialog form + p')).length > 5);
    await page.fill('#friend-name', 'root');
    await page.click('dialog button:has-text("May join")');
    await page.waitForSelector('dialog p:has-text("root may join now")');
    await checkAccessible(page, 'friends');
    await shot(page, 'friends');
    await page.keyboard.press('Escape');
    await page.locator('.console-line.error button', { hasText: 'KillBrick' }).first().click();
    await until('the line is shown', async () => /Line \d+,/.test(await page.locator('.script-where').textContent()));
    assert.ok(await studio(page, () => window.studio.open.value.line > 3));
    await shot(page, 'server');
    await page.locator('.play-bar button:has-text("Stop")').click();
    await page.click('.back');
    await saved(page);
});

step('a .game is brought in without leaving, refused with entry and rule, and downloaded from a place that does not compile', async () => {
    const { page } = own;
    await studio(page, async () => {
        const { files } = window.studio;
        await files.write('ServerScriptService/Broken.lua', new TextEncoder().encode('local = 1\n'), null, 'Write');
    });
    await until('the fault is known', () => studio(page, () => window.studio.problemCount.value > 0));
    const [bad] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Control+Shift+S')]);
    const broken = await bad.path();
    const bring = async (file, into) => {
        await page.keyboard.press('Control+Shift+o');
        await page.waitForSelector('.import-form');
        await page.setInputFiles('#import-file', typeof file === 'string' ? file : { name: 'x.game', mimeType: '', buffer: file });
        await page.click(`.import-form input[value=${into}]`);
        await page.click('.import-form button[type=submit]');
    };
    await bring(Buffer.from('no package'), 'new');
    await page.waitForSelector('.import-form [role=alert]');
    await page.keyboard.press('Escape');
    await bring(broken, 'here');
    await page.waitForSelector('.import-form [role=alert]');
    assert.match(await page.textContent('.import-form .wrong'), /ServerScriptService\/Broken\.lua.*As a new place/s);
    await checkAccessible(page, 'import');
    await shot(page, 'import_refused');
    assert.ok(await page.evaluate(() => ['.toolbar', '.inspector', '.status'].every((each) =>
        document.querySelector(each).getBoundingClientRect().right <= innerWidth)), 'the number of problems moves nothing out of sight');
    await page.keyboard.press('Escape');
    // As a new place it comes in with its problems, so that it can be mended.
    const open = page.locator('.import-form a:has-text("Open it in the Studio")');
    await bring(broken, 'new');
    await open.waitFor({ timeout: 60_000 });
    assert.match(await page.textContent('.import-form .wrong'), /ServerScriptService\/Broken\.lua/);
    const mended = /place_[\w-]+/.exec(await open.getAttribute('href'))[0];
    const { body: held } = await ask(page, 'GET', `/api/places/${mended}/draft`);
    assert.ok(held.files.some(({ path }) => path === 'ServerScriptService/Broken.lua'), JSON.stringify(held));
    await page.keyboard.press('Escape');
    await studio(page, () => window.studio.files.remove('ServerScriptService/Broken.lua', 'Delete'));
    await until('it compiles', () => studio(page, () => window.studio.problemCount.value === 0));
    await saved(page);
    const [good] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Control+Shift+S')]);
    const game = await good.path();
    await bring(game, 'new');
    await open.waitFor({ timeout: 60_000 });
    assert.match(await open.getAttribute('href'), /^\/studio\/place_/);
    assert.notEqual(await open.getAttribute('href'), `/studio/${id}`);
    await page.keyboard.press('Escape');
    // Into this place: what was done since the file was made is gone, and comes with everybody's changes.
    await studio(page, () => window.studio.document.edit('Delete', [{ op: 'delete', ids: window.studio.document.find('Checkpoint') }]));
    await saved(page);
    await bring(game, 'here');
    await page.waitForSelector('.import-form button:has-text("Look at it")', { timeout: 60_000 });
    await page.click('.import-form button:has-text("Look at it")');
    await until('it is as in the file', async () => (await find(page, 'Checkpoint')).length === 1);
    await saved(page);
    // Players can be given an earlier revision again.
    await page.click('[data-command=publish]');
    await page.fill('#publish-notes', 'Second.');
    await page.waitForSelector('.publish-form button[type=submit]:not([disabled])');
    await page.click('.publish-form button[type=submit]');
    await page.waitForSelector('.published .qr', { timeout: 60_000 });
    await page.keyboard.press('Escape');
    await page.click('[data-command=publish]');
    await page.click('.roll-back summary');
    await page.click('.roll-back button:has-text("Go back to r1")');
    await page.waitForSelector('.roll-back p:has-text("Players have r1 again")');
    assert.equal((await ask(page, 'GET', `/api/places/${id}`)).body.live, 'r1');
    await shot(page, 'roll_back');
    await page.keyboard.press('Escape');
    assert.deepEqual(own.complaints, []);
});

// Fingers, by the protocol of the browser: Playwright itself only taps.
async function hand(page) {
    const session = await page.context().newCDPSession(page);
    const send = (type, points) => session.send('Input.dispatchTouchEvent', {
        type, touchPoints: points.map(([x, y], at) => ({ x, y, id: at })),
    });
    return async (...way) => { // each a list of fingers
        await send('touchStart', way[0]);
        for (const points of way.slice(1)) {
            await send('touchMove', points);
            await page.waitForTimeout(30);
        }
        await send('touchEnd', []);
    };
}

step('a tablet: fingers turn, move and zoom, select, drag a thing, and use the handles, the toolbox and the inspector', async () => {
    const state = await own.context.storageState();
    const tablet = await openPage(up.port, { width: 1024, height: 768 }, { hasTouch: true, isMobile: true, storageState: state });
    const { page } = tablet;
    await openStudio(tablet, id);
    const fingers = await hand(page);
    const { x, y, width, height } = await page.locator('.stage canvas').boundingBox();
    const [cx, cy] = [x + width / 2, y + height / 4];
    const eye = () => studio(page, () => [...window.studio.view.rig.camera.position.toArray(), ...window.studio.view.rig.target.toArray()]);
    const far = ([a, b, c, d, e, f]) => Math.hypot(a - d, b - e, c - f);
    const start = await eye();
    await fingers([[cx, cy]], [[cx + 30, cy]], [[cx + 60, cy]]);
    const turned = await eye();
    assert.notEqual(turned[0], start[0], 'one finger turns');
    assert.deepEqual(turned.slice(3).map(Math.round), start.slice(3).map(Math.round), 'around the same point');
    await fingers([[cx - 40, cy], [cx + 40, cy]], [[cx - 60, cy], [cx + 60, cy]], [[cx - 80, cy], [cx + 80, cy]]);
    const near = await eye();
    assert.ok(far(near) < far(turned) * 0.8, 'two fingers apart come nearer');
    await fingers([[cx - 40, cy], [cx + 40, cy]], [[cx - 40, cy + 30], [cx + 40, cy + 30]], [[cx - 40, cy + 60], [cx + 40, cy + 60]]);
    const moved = await eye();
    assert.ok(Math.hypot(...[3, 4, 5].map((i) => moved[i] - near[i])) > 0.3, 'two fingers along move');
    assert.ok(Math.abs(far(moved) - far(near)) < far(near) * 0.2, 'and do not zoom much');
    await page.tap('[data-command=look-all]');
    // A tap selects; then the thing follows the finger.
    const name = 'Checkpoint';
    let at = await spotOf(page, name);
    await page.touchscreen.tap(at.x, at.y);
    await until('it is selected', () => studio(page, (wanted) => window.studio.document.name(window.studio.selection.value[0] ?? 0) === wanted, name));
    const before = (await find(page, name))[0].transform.position;
    await studio(page, () => { window.studio.tool.value = 'select'; });
    await fingers([[at.x, at.y]], [[at.x - 30, at.y]], [[at.x - 60, at.y + 5]]);
    await until('it was dragged', async () => (await find(page, name))[0].transform.position.join() !== before.join());
    await studio(page, () => { window.studio.tool.value = 'move'; });
    // By its handle: up along the green arrow.
    at = await spotOf(page, name);
    const handle = await studio(page, () => {
        const { view, rows, selection } = window.studio;
        const [px, py, pz] = rows.get(selection.value[0]).position;
        const size = view.rig.camera.position.distanceTo(view.rig.camera.position.clone().set(px, py, pz)) * 0.9 / 7;
        return [px, py + size * 1.1, pz];
    });
    const grip = await spotOf(page, handle);
    const low = (await find(page, name))[0].transform.position[1];
    await fingers([[grip.x, grip.y]], [[grip.x, grip.y - 20]], [[grip.x, grip.y - 60]]);
    await until('it was lifted by its arrow', async () => (await find(page, name))[0].transform.position[1] > low);
    await page.tap('[data-kit=wedge]');
    await until('a wedge', async () => (await find(page, 'Wedge2')).length === 1);
    const size = page.locator('input[aria-label="Size y"]');
    await size.tap();
    await size.fill('3');
    await size.press('Enter');
    await until('it is higher', async () => (await find(page, 'Wedge2'))[0].shape.size[1] === 3);
    // What a keyboard does has buttons too.
    await page.tap('.inspector [data-command=duplicate]');
    await until('two', async () => (await studio(page, () => window.studio.document.find('Wedge').length)) === 3);
    await page.tap('.inspector [data-command=delete]');
    await until('one', async () => (await studio(page, () => window.studio.document.find('Wedge').length)) === 2);
    await shot(page, 'touch');
    await saved(page);
    assert.deepEqual(tablet.complaints, []);
    await tablet.context.close();
});

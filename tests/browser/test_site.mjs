// The site around the game, as people use it: a guest finds a place and plays it; search, back and
// forward; what an account keeps; texts of strangers stay texts.
//   node test_site.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';
import { crc32 } from 'node:zlib';

import { makeQr } from '../../web/src/site/qr.ts';

import { MAIN, OTHER, World, checkAccessible, checkAccessibleToo, closeBrowser, drawSeldom, onlyInAll, openBrowser, picture, until } from './support.mjs';

const [program, , place, screens] = process.argv.slice(2);
const MARKUP = '<img src=x onerror=alert(1)>"\'';
let up = null;
// Another site, whose pages may show the game inside them: whatever is asked for, with the address after the ?.
const friend = createServer((request, answer) => answer.setHeader('Content-Type', 'text/html').end(
    `<!doctype html><title>x</title><iframe width="640" height="360" src="${decodeURIComponent(request.url.slice(2))}"></iframe>`));

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open', '--embed-origin', `http://localhost:${friend.address().port}`];
    }
}

// A browser of its own; what the page complains about is collected, and nothing may leave the server.
async function openPage(viewport, options = {}) {
    const context = await (await openBrowser()).newContext({ viewport, ...options });
    await drawSeldom(context);
    const page = await context.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of (40[0134]|429)/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    page.on('request', (request) => {
        if (new URL(request.url()).host !== `127.0.0.1:${up.port}`) {
            complaints.push(`asks ${request.url()}`);
        }
    });
    return { context, page, complaints, go: (path) => page.goto(`http://127.0.0.1:${up.port}${path}`) };
}

const shot = (page, name) => picture(page, { path: join(screens, `site_${name}.png`) });

before(async () => {
    await new Promise((done) => friend.listen(0, '127.0.0.1', done));
    up = await Up.start();
});

after(async () => {
    await closeBrowser();
    await up?.stop();
    friend.close();
    friend.closeAllConnections();
});

test('a guest finds a place and plays it', async () => {
    for (const viewport of [MAIN, OTHER]) {
        const name = viewport.width < 500 ? 'phone' : 'desk';
        const { context, page, complaints, go } = await openPage(viewport);
        await go('/');
        await page.waitForSelector('.card a');
        await (viewport === MAIN ? checkAccessible : checkAccessibleToo)(page, `discover, ${name}`);
        await shot(page, `discover_${name}`);
        await page.locator('.card a', { hasText: 'Obby' }).first().click();
        await page.waitForSelector('h1:has-text("Obby")');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'content', 'Tab goes on with the new page');
        assert.equal(await page.title(), 'Obby · Sandlot');
        await (viewport === MAIN ? checkAccessible : checkAccessibleToo)(page, `place, ${name}`);
        await shot(page, `place_${name}`);
        assert.ok(await page.evaluate(() =>
            document.documentElement.scrollWidth <= innerWidth), `${name}: nothing is cut off`);
        if (onlyInAll !== false) { // a guest plays in the test of a creator below, and on a phone in browser_text
            assert.equal(await page.getAttribute('.play', 'href'), '/play?place=place_obby');
            assert.deepEqual(complaints, []);
            await context.close();
            continue;
        }
        await page.click('.play');
        await page.waitForSelector('#name');
        await page.fill('#name', 'Ada');
        await page.press('#name', 'Enter');
        await until('she plays', async () =>
            (await page.evaluate(() => window.sandlot.inspect())).phase === 'playing');
        assert.match(page.url(), /\/play\/[A-Z0-9]+$/);
        assert.deepEqual(complaints, []);
        await context.close();
    }
});

test('search follows what is typed; back, forward and reloading show the same', async () => {
    const { context, page, go } = await openPage(MAIN);
    await go('/');
    await page.waitForSelector('.card a');
    await page.fill('[type=search]', 'isl');
    await page.waitForURL(/\/search\?q=isl$/);
    await until('one is found', async () => await page.locator('.card a').count() === 1);
    await page.fill('[type=search]', MARKUP);
    await until('nothing fits', async () => /Nothing fits/.test(await page.textContent('h1')));
    assert.ok((await page.textContent('h1')).includes(MARKUP), 'it is shown as text');
    await page.reload();
    await until('the same again', async () => /Nothing fits/.test(await page.textContent('h1')));
    await page.goBack(); // searching replaces what was searched before
    await page.waitForURL(/:\d+\/$/);
    await page.waitForSelector('h2:has-text("Popular")');
    await page.goForward();
    await until('the search again', async () => /Nothing fits/.test(await page.textContent('h1')));
    await context.close();
});

// Cards of places that are not there, 24 on a page.
const manyPlaces = (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('after') ?? 0);
    const places = Array.from({ length: 24 }, (_, at) => ({
        id: `place_${from + at}`, title: `Place ${from + at}`, description: '', thumbnail: null, creator: null, creator_id: '',
        players: 0, visits: 0, votes_up: 0, votes_down: 0, updated_at: '2026-01-01T00:00:00Z', tags: [],
    }));
    return route.fulfill({ json: { places, next: String(from + 24) } });
};

test('a long list is where it was after going back, forward, and to another document and back', async () => {
    const { context, page, go } = await openPage(MAIN);
    await page.route('**/api/places?*', manyPlaces);
    await go('/search?sort=new');
    for (const last of ['Place 47', 'Place 71']) {
        await page.click('button:has-text("Show more")');
        await page.waitForSelector(`.title:text-is("${last}")`);
    }
    await page.locator('.title:text-is("Place 60")').scrollIntoViewIfNeeded();
    const place = () => page.evaluate(() => Math.round(scrollY));
    const wanted = await place();
    assert.ok(wanted > 500, `${wanted}`);
    const isThere = (how) => until(`the list is where it was, ${how}`, async () => Math.abs(await place() - wanted) <= 2 &&
        await page.locator('.card').count() === 72, 10_000);
    await page.evaluate(() => document.querySelector('.brand').click()); // page.click() would scroll
    await page.waitForSelector('h2:has-text("Popular")');
    await page.goBack();
    await isThere('back');
    await page.evaluate(() => scrollTo(0, 0));
    await until('it is kept', () => page.evaluate(() => history.state.scroll === 0));
    await page.evaluate((to) => scrollTo(0, to), wanted);
    await until('it is kept', () => page.evaluate((to) => Math.abs(history.state.scroll - to) <= 2, wanted));
    await page.goForward(); // not by a link: nothing is told to the page before it leaves
    await page.waitForSelector('h2:has-text("Popular")');
    await page.goBack();
    await isThere('forward and back');
    await page.goto(`http://127.0.0.1:${up.port}/api/docs`); // as the game, a document of its own
    await page.goBack();
    await isThere('from another document');
    await context.close();
});

test('a page whose files cannot be fetched says so, and comes when one tries again', async () => {
    const { context, page, go } = await openPage(MAIN);
    await go('/');
    await page.waitForSelector('.card a');
    await page.route(/\/(assets\/.*\.js|healthz)$/, (route) => route.abort());
    await page.locator('.card a', { hasText: 'Obby' }).first().click();
    await page.waitForSelector('[role=alert]:has-text("The server cannot be reached")');
    await page.unroute(/\/(assets\/.*\.js|healthz)$/);
    await page.click('button:has-text("Try again")');
    await page.waitForSelector('h1:has-text("Obby")');
    await context.close();
});

test('a room is joined by its code, and a wrong code is said at its field', async () => {
    const { context, page, go } = await openPage(MAIN);
    await go('/');
    await page.waitForSelector('#room-code');
    await page.click('.code button');
    await page.waitForSelector('#room-said.wrong:has-text("Type the code")');
    await page.fill('#room-code', 'no-whe re');
    await page.press('#room-code', 'Enter');
    await until('it says so', async () =>
        /no room NOWHERE/.test(await page.textContent('#room-said')));
    assert.equal(await page.inputValue('#room-code'), 'no-whe re', 'what was typed stays');
    assert.equal(await page.getAttribute('#room-code', 'aria-invalid'), 'true');
    await context.close();
});

// The rows of the QR code on the page, from its path: what a camera would see.
const qrRows = (page) => page.evaluate(() => {
    const drawing = document.querySelector('.qr');
    const size = drawing.viewBox.baseVal.width - 8;
    const rows = Array.from({ length: size }, () => new Array(size).fill('0'));
    for (const [, x, y, width] of drawing.querySelector('path').getAttribute('d').matchAll(/M(\d+) (\d+)h(\d+)/g)) {
        rows[y - 4].fill('1', x - 4, x - 4 + Number(width));
    }
    return rows.map((row) => row.join(''));
});

async function register(page, username) {
    return page.evaluate(async (body) => (await fetch('/register', {
        method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
        body: JSON.stringify({ ...body, password: 'a sea of violets' }),
    })).status, { username });
}

// The one who may make places signs in: registerMaker() made the account.
async function becomeMaker(page) {
    return page.evaluate(async () => (await fetch('/login', {
        method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
        body: JSON.stringify({ username: 'maker', password: 'a sea of violets' }),
    })).status);
}

// The first account of an installation, by the link that the server prints, as a person does it.
async function registerMaker({ page, go }) {
    const link = await until('the link is printed', () => /link=([\w-]+)/.exec(up.output)?.[1]);
    await go(`/account?link=${link}&next=%2Fcreate`);
    const form = page.locator('form[data-form=register]');
    await form.locator('[name=username]').fill('maker');
    await form.locator('[name=password]').fill('a sea of violets');
    await form.locator('button[type=submit]').click();
    await page.waitForSelector('h1:has-text("Your recovery codes")');
    await page.click('button:has-text("go on")');
    await page.waitForURL(/\/create$/);
}

test('an account has favourites, a private world with a link, and may report', async () => {
    const { context, page, complaints, go } = await openPage(MAIN);
    await go('/place/place_obby');
    await page.waitForSelector('h1:has-text("Obby")');
    await page.click('button:has-text("Favourite")');
    await until('it says to sign in', async () => /Sign in/.test(await page.textContent('.opinion')));
    await page.click('button:has-text("Report")');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog .wrong:has-text("Sign in to do this.") a[href="/account?next=%2Fplace%2Fplace_obby"]');
    await page.keyboard.press('Escape');
    assert.equal(await register(page, 'grace'), 200);
    await page.reload();
    await page.waitForSelector('.who:has-text("grace")');
    await page.route('**/favourite', (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '120' },
        json: { error: { code: 'too_many', message: 'Too many requests.' } } }));
    await page.click('button:has-text("Favourite")');
    await page.waitForSelector('.opinion:has-text("Too many requests. Try again in 2 min.")');
    await page.unroute('**/favourite');
    await page.click('button:has-text("Favourite")');
    await page.waitForSelector('button[aria-pressed=true]:has-text("A favourite")');
    await page.click('button:has-text("I like it")');
    await until('who has not played it may not vote', async () =>
        /play/.test(await page.textContent('.opinion')) &&
        await page.getAttribute('button:has-text("I like it")', 'aria-pressed') === 'false');
    await page.click('button:has-text("Play with friends")');
    const link = await page.waitForSelector('dialog a[href*="/play/"]');
    const way = await link.getAttribute('href');
    assert.match(way, /\/play\/[A-Z0-9]{10}$/);
    assert.ok(way.endsWith(await page.textContent('.big')), 'the code is that of the link');
    assert.deepEqual(await qrRows(page), makeQr(way), 'the QR code is of the link');
    assert.equal(await page.inputValue('.copy input'), way);
    await checkAccessible(page, 'private world');
    await shot(page, 'private');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.click('button:has-text("Play with friends")'); // the same world again, not another one
    await page.waitForSelector('dialog a[href*="/play/"]');
    assert.ok(way.endsWith(await page.textContent('.big')), 'one world is enough');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.click('button:has-text("Report")');
    await page.waitForSelector('dialog[open]');
    await page.fill('#report-text', MARKUP);
    await checkAccessible(page, 'report');
    await page.click('dialog .button:has-text("Send")');
    await until('it was sent', async () => /was sent/.test(await page.textContent('.place')));
    await go('/');
    await page.waitForSelector('h2:has-text("Your favourites")');
    await shot(page, 'favourites');
    await go('/place/place_obby');
    await page.route('**/api/worlds', (route) => route.fulfill({ status: 409,
        json: { error: { code: 'too_many_worlds', message: 'you have too many worlds' } } }));
    await page.route('**/worlds?mine=true&*', (route) => route.fulfill({ json: { worlds: [] } }));
    await page.click('button:has-text("Play with friends")');
    await page.click('[role=alert] a:has-text("Your worlds")');
    await page.waitForURL(/\/account#own-worlds$/); // with the part of the page
    await page.unroute('**/api/worlds');
    await page.unroute('**/worlds?mine=true&*');
    await page.reload();
    await page.click(`button[aria-label="Delete the world ${way.split('/').at(-1)}"]`);
    await page.waitForSelector('#own-worlds:has-text("You have none.")');
    assert.deepEqual(complaints.filter((line) => !/status of 409/.test(line)), []);
    await context.close();
});

test('without JavaScript a place says what it is; what is not there says so', async () => {
    const plain = await openPage(OTHER, { javaScriptEnabled: false });
    await plain.go('/place/place_obby');
    assert.match(await plain.page.textContent('main'),
        /Obby[^]*Jump from block to block[^]*Versions[^]*r1[^]*JavaScript/);
    await plain.page.locator('main a[href="/account"]').scrollIntoViewIfNeeded();
    await shot(plain.page, 'plain');
    await plain.context.close();
    const { context, page, go } = await openPage(OTHER);
    for (const path of ['/place/nowhere', '/place/%E0%A4%A', `/place/${encodeURIComponent(MARKUP)}`, '/no/such/address']) {
        await go(path);
        await page.waitForSelector('h1:has-text("There is nothing here")');
        await page.waitForSelector('.empty a:has-text("Sign in")');
    }
    assert.equal(await page.getAttribute('.empty a:has-text("Sign in")', 'href'), '/account?next=%2Fno%2Fsuch%2Faddress');
    assert.equal(await page.title(), 'There is nothing here · Sandlot');
    await checkAccessible(page, 'nothing here');
    await context.close();
});

// A package of the obby, another one that differs in one file, and one with a file that no place may have.
function makeFiles() {
    const path = (name) => join(up.folder, name);
    execFileSync(program, ['new', path('course'), '--template', 'obby'], { stdio: 'pipe' });
    execFileSync(program, ['pack', path('course'), '-o', path('course.game')], { stdio: 'pipe' });
    writeFileSync(path('course/Workspace/Extra.lua'), '-- a note\n');
    execFileSync(program, ['pack', path('course'), '-o', path('more.game')], { stdio: 'pipe' });
    writeFileSync(path('hostile.game'), makeZip('../../etc/passwd', 'root::0:0::/:/bin/sh'));
    return { good: path('course.game'), more: path('more.game'), hostile: path('hostile.game') };
}

// A zip with one stored file, as no honest tool would name it.
function makeZip(name, text) {
    const [path, data] = [Buffer.from(name), Buffer.from(text)];
    const head = (signature, bytes) => {
        const out = Buffer.alloc(bytes);
        out.writeUInt32LE(signature);
        return out;
    };
    const sizes = (out, at) => {
        out.writeUInt32LE(crc32(data), at);
        out.writeUInt32LE(data.length, at + 4);
        out.writeUInt32LE(data.length, at + 8);
        out.writeUInt16LE(path.length, at + 12);
    };
    const [local, entry, end] = [head(0x04034b50, 30), head(0x02014b50, 46), head(0x06054b50, 22)];
    sizes(local, 14);
    sizes(entry, 16);
    const directory = local.length + path.length + data.length;
    end.writeUInt16LE(1, 8);
    end.writeUInt16LE(1, 10);
    end.writeUInt32LE(entry.length + path.length, 12);
    end.writeUInt32LE(directory, 16);
    return Buffer.concat([local, path, data, entry, path, end]);
}

// A new place is not asked what is new in it.
async function upload(page, file, notes = null) {
    await page.setInputFiles('#file', file);
    if (notes !== null) {
        await page.fill('#file-notes', notes);
    }
    await page.click('button:has-text("Upload")');
}

test('a creator registers, makes a place from a template, is led to publish and list it, and another one plays it', async () => {
    const maker = await openPage(OTHER);
    const { context, page, complaints, go } = maker;
    await go('/create');
    await page.waitForSelector('text=Guests have none');
    await registerMaker(maker);
    await page.waitForSelector('text=You have no place yet');
    await checkAccessible(page, 'create');
    await shot(page, 'create');
    // From a template, by keyboard alone: a draft, which can be played and is published.
    await page.focus('#new-title');
    await page.keyboard.type('A course');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight'); // the other template
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/create\/place_a-course/);
    await page.waitForSelector('.lead:has-text("Open it in the Studio") a[href^="/studio/place_a-course"]');
    await shot(page, 'next');
    assert.match(await page.getAttribute('a:has-text("Play the draft")', 'href'), /place=place_a-course.*&channel=draft$/);
    const managed = new URL(page.url()).pathname;
    const api = `/api/places/${managed.split('/').at(-1)}`;
    // A script of its own, with a mistake in line 2.
    assert.equal(await page.evaluate(async (to) => (await fetch(`${to}/draft/files/ServerScriptService/Bridge.lua`, {
        method: 'PUT', headers: { 'X-Sandlot': '1', 'If-None-Match': '*' },
        body: 'Players.PlayerAdded:Connect(function(player)\n    error("there is no bridge for " .. player.Name)\nend)\n',
    })).ok, api), true);
    await page.fill('#draft-notes', 'the first one');
    await page.click('button:has-text("Publish the draft")');
    await page.waitForSelector('.badge:has-text("live")');
    await page.waitForSelector('.lead:has-text("List it")');
    // Not live: it can be saved as listed, and the page says what is missing.
    await page.click('button:has-text("Take it off")');
    await page.waitForSelector('.lead:has-text("Make revision r1 live, then list it")');
    await page.fill('#description', `# Jump!\n\n- **Green** is good ${MARKUP}\n\n[x](javascript:alert(1)) [rules](/search)`);
    await page.fill('#tags', 'obby for-two');
    await page.selectOption('#visibility', 'listed');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('[role=status]:has-text("as soon as a revision is live")');
    await page.fill('#tags', 'NOT A TAG!');
    await page.click('button:has-text("Save")');
    await page.waitForSelector('#tags-wrong:has-text("tag")');
    assert.equal(await page.inputValue('#tags'), 'NOT A TAG!', 'what was typed stays');
    assert.equal(await page.getAttribute('#tags', 'aria-invalid'), 'true');
    await checkAccessible(page, 'manage');
    await shot(page, 'manage');
    await page.click('.lead button:has-text("Make r1 live")');
    await page.waitForSelector('.lead', { state: 'detached' });
    assert.equal(await page.inputValue('#tags'), 'NOT A TAG!', 'also when something else changes the place');
    assert.doesNotMatch(await page.textContent('main'), /promote/);
    await page.click('a:has-text("See its page")');
    await page.waitForSelector('.about h3:has-text("Jump!")');
    assert.ok((await page.textContent('.about li')).includes(MARKUP), 'markup is text');
    assert.equal(await page.locator('.about img, .about a').count(), 1, 'and only the good link is one');
    assert.ok((await page.textContent('.about')).includes('[x](javascript:alert(1))'));
    await checkAccessibleToo(page, 'its page');
    await shot(page, 'its_page');
    await page.click('button:has-text("Share")');
    assert.equal(await page.inputValue('dialog .copy input'), page.url());
    await page.keyboard.press('Escape');
    await page.click('a:has-text("for-two")');
    await page.waitForSelector('.card a:has-text("A course")');
    // Somebody else finds and plays it, and its maker sees what its scripts cost meanwhile.
    const other = await openPage(MAIN);
    await other.go('/search?tag=for-two');
    await other.page.click('.card a:has-text("A course")');
    await other.page.waitForSelector('.about h3');
    await shot(other.page, 'its_page_other');
    assert.ok(await other.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is cut off');
    await other.page.click('.play');
    await other.page.waitForSelector('#name');
    await other.page.fill('#name', 'Bob');
    await other.page.press('#name', 'Enter');
    await go(managed);
    await until('Bob plays', async () =>
        (await other.page.evaluate(() => window.sandlot.inspect())).phase === 'playing');
    await page.waitForSelector('th:has-text("ServerScriptService/Game")');
    await page.waitForSelector('.faults li:has-text("ServerScriptService/Bridge.lua:2"):has-text("there is no bridge for")');
    await shot(page, 'scripts');
    await until('he is counted', () => page.evaluate(async (to) => (await (await fetch(`${to}/stats?days=1`)).json()).visits === 1, api));
    await page.setViewportSize(MAIN);
    await page.reload();
    await page.waitForSelector('.facts div:has-text("Different players"):has(dd:text-is("1"))');
    await page.waitForSelector('.chart rect:has-text(": 1")', { state: 'attached' });
    await shot(page, 'manage_other');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is cut off');
    await checkAccessibleToo(page, 'manage, the other width');
    assert.deepEqual([...complaints, ...other.complaints], []);
    await other.context.close();
    await context.close();
});

test('a creator uploads files, compares, rolls back, forks; a hostile file is refused with its rule', async () => {
    const { context, page, complaints, go } = await openPage(MAIN);
    const { good, more, hostile } = makeFiles();
    await go('/create');
    assert.equal(await becomeMaker(page), 200);
    await page.reload();
    await page.waitForSelector('#file');
    const places = () => page.evaluate(async () => (await (await fetch('/api/me/places')).json()).places.length);
    const before = await places();
    await upload(page, { name: 'notes.game', mimeType: 'application/zip', buffer: Buffer.from('no package') });
    await page.waitForSelector('form .wrong:has-text("notes.game is not a .game file")');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a long line of it makes the page no wider');
    await upload(page, hostile);
    const refusal = await page.waitForSelector('form .wrong:has-text("passwd")');
    assert.match(await refusal.textContent(), /not accepted[^]*\.\.\/etc\/passwd[^]*dotdot[^]*no path leads out/, 'the entry and the rule');
    await shot(page, 'refused');
    await until('nothing is left of what was refused', async () => await places() === before);
    await upload(page, good);
    await page.waitForSelector('.revision:has-text("The first version") button:has-text("Make live")');
    await page.click('.lead button:has-text("Make r1 live")');
    await page.waitForSelector('.revision:has-text("The first version") .badge:has-text("live")');
    await upload(page, more, 'the second one');
    await page.click('.revision:has-text("the second one") button:has-text("Make live")');
    await page.waitForSelector('.revision:has-text("the second one") .badge:has-text("live")');
    await page.click('summary:has-text("What has changed")');
    await page.waitForSelector('tr:has-text("Workspace/Extra.lua"):has-text("added"):has-text("10 B")');
    assert.equal(await page.locator('.table tbody tr').count(), 1, 'only what differs');
    await page.waitForSelector('.difference li:has-text("Workspace/Extra.lua")'); // and in words
    await shot(page, 'compare');
    await page.click('.revision:has-text("The first version") button:has-text("Roll back to it")');
    await page.waitForSelector('.revision:has-text("The first version") .badge:has-text("live")');
    // A screenshot, which is shown on the page of the place.
    await page.setInputFiles('#shot', { name: 'a.png', mimeType: 'image/png', buffer: await page.screenshot() });
    await page.waitForSelector('.shots img[alt="Screenshot 1"]');
    // A thumbnail of its own, in place of the one that is drawn.
    await page.waitForSelector('.shots :text("drawn, because the place has no picture")');
    await page.setInputFiles('#thumbnail', { name: 'a.txt', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.waitForSelector('#pictures-said:has-text("PNG")');
    await page.setInputFiles('#thumbnail', { name: 'b.png', mimeType: 'image/png', buffer: await page.screenshot() });
    await page.waitForSelector('button[aria-label="Remove: Thumbnail"]');
    await page.locator('.shots').scrollIntoViewIfNeeded();
    await shot(page, 'pictures');
    await page.click('a:has-text("See its page")');
    await page.waitForSelector('.cover .large, .cover img.thumbnail');
    assert.equal(await page.locator('.strip li').count(), 2, 'the thumbnail and the screenshot');
    // Versions that are or were live, newest first.
    const place = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1));
    const versions = () => page.locator('.version').evaluateAll((rows) => rows.map((row) =>
        [...row.querySelectorAll('strong, .badge, p')].map((part) => part.textContent).join(' ')));
    await page.waitForSelector('.version');
    assert.deepEqual(await versions(), ['Version r2 the second one', 'Version r1 live The first version']);
    await page.locator('.end').scrollIntoViewIfNeeded();
    await shot(page, 'versions');
    // Many: five, then all that came, then the next page of them.
    await page.route('**/revisions?live=1**', (route) => {
        const from = /after=r(\d+)/.exec(route.request().url())?.[1] ?? 31;
        const numbers = Array.from({ length: Math.min(20, from - 1) }, (_, at) => from - 1 - at);
        return route.fulfill({ json: { next: numbers.at(-1) > 1 ? `r${numbers.at(-1)}` : null, revisions:
            numbers.map((number) => ({ revision_id: `r${number}`, notes: `the ${number}th`, created_at: '2026-11-18T10:00:00Z',
                bytes: 10, live: number === 30 })) } });
    });
    await go(`/place/${encodeURIComponent(place)}`);
    for (const count of [5, 20, 30]) {
        await until(`${count} versions`, async () => await page.locator('.version').count() === count);
        if (count < 30) {
            await page.click('button[aria-label="Show more versions"]');
        }
    }
    assert.deepEqual((await versions()).slice(18, 22), [12, 11, 10, 9].map((number) => `Version r${number} the ${number}th`));
    assert.equal(await page.locator('button[aria-label="Show more versions"]').count(), 0);
    await page.unroute('**/revisions?live=1**');
    // A copy of a place whose files may be read.
    await go('/place/place_island');
    await page.click('button:has-text("Make your own from it")');
    await page.waitForURL(/\/create\/place_island-/);
    // Away with it, and back.
    await page.click('button:has-text("Put it into the trash")');
    await page.waitForURL(/\/create$/);
    await page.click('button:has-text("Take it out of the trash")');
    await page.click('a:has-text("Island")');
    // Away for good, which asks once.
    await page.click('button:has-text("Put it into the trash")');
    await page.click('button:has-text("Delete it for good")');
    await page.waitForSelector('dialog[open]:has-text("Nobody can bring it back")');
    await checkAccessible(page, 'delete for good');
    await shot(page, 'purge');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('button:has-text("Take it out of the trash")');
    await page.click('button:has-text("Delete it for good")');
    await page.click('dialog .danger');
    await page.waitForSelector('button:has-text("Delete it for good")', { state: 'detached' });
    assert.equal(await page.locator('.mine:has-text("Island")').count(), 0);
    assert.deepEqual(complaints, []);
    await context.close();
});

test('a tester finds the way into the draft, and nothing to change', async () => {
    const maker = await openPage(MAIN);
    await maker.go('/create');
    assert.equal(await becomeMaker(maker.page), 200);
    const ask = (page, method, path, body) => page.evaluate(async ([how, where, what]) => (await fetch(where, {
        method: how, headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' }, body: JSON.stringify(what),
    })).json(), [method, path, body]);
    const { place_id: id } = await ask(maker.page, 'POST', '/api/drafts', { title: 'Secret', template: 'blank' });
    const { context, page, complaints, go } = await openPage(MAIN);
    await go('/');
    assert.equal(await register(page, 'tess'), 200);
    await maker.go(`/create/${id}`);
    await maker.page.fill('#member', 'nobody-here');
    await maker.page.press('#member', 'Enter');
    await maker.page.waitForSelector('#member-said:not(:empty)');
    assert.equal(await maker.page.inputValue('#member'), 'nobody-here', 'what was typed stays');
    await maker.page.fill('#member', 'tess');
    await maker.page.selectOption('#role', 'tester');
    await maker.page.press('#member', 'Enter');
    await maker.page.waitForSelector('li:has-text("tess"):has-text("Tester") button[aria-label="Remove: tess"]');
    await go('/create');
    await page.click('a:has-text("Secret")');
    await page.waitForURL(new RegExp(`/place/${id}$`));
    await page.waitForSelector('text=It has no live version yet.');
    assert.equal(await page.locator('a:has-text("Work on it")').count(), 0);
    await checkAccessibleToo(page, 'a draft to test');
    await shot(page, 'tester');
    if (onlyInAll === false) { // tests/flow/test_reload.py joins a draft as a tester
        await page.click('a:has-text("Play the draft")');
        await page.waitForSelector('#title:text-is("Secret")'); // the page itself does not tell the name of a closed place
        await page.locator('#enter').press('Enter');
        await until('she plays the draft', () => page.evaluate(() => window.sandlot.inspect().phase === 'playing'));
    }
    await go(`/create/${id}`);
    await page.waitForSelector('text=You do not work on this place');
    await page.click('a:has-text("See its page")');
    await page.waitForSelector('a:has-text("Play the draft")');
    assert.deepEqual([...complaints, ...maker.complaints], []);
    await maker.context.close();
    await context.close();
});

// A page of another site with one of ours inside it.
async function openFrame(host, path) {
    const context = await (await openBrowser()).newContext({ viewport: MAIN });
    const page = await context.newPage();
    const address = encodeURIComponent(`http://127.0.0.1:${up.port}${path}`);
    await page.goto(`http://${host}:${friend.address().port}/?${address}`);
    return { context, frame: await (await page.waitForSelector('iframe')).contentFrame() };
}

test('the game is played inside a page of a site that the operator names, and of no other', async () => {
    const { context, frame } = await openFrame('localhost', '/play?place=place_obby');
    await frame.waitForSelector('#name');
    assert.equal(await frame.evaluate(async () => (await (await fetch('/login', { method: 'POST', body: '{"username":"Eve"}',
        headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' } })).json()).username), '~Eve', 'a guest, in a page of another site');
    if (onlyInAll === false) {
        await frame.fill('#name', 'Eve');
        await frame.press('#name', 'Enter');
        await until('she plays, without a cookie', async () =>
            (await frame.evaluate(() => window.sandlot.inspect())).phase === 'playing').catch(async (error) => {
            throw new Error(`${error.message}: ${await frame.textContent('body')}`);
        });
    }
    await context.close();
    for (const [host, path] of [['127.0.0.1', '/play'], ['localhost', '/'], ['localhost', '/account']]) {
        const refused = await openFrame(host, path);
        await until(`${path} in a page of ${host} is refused`, async () => /^chrome-error:/.test(refused.frame.url()));
        await refused.context.close();
    }
});

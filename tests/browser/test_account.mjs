// The page of one's account, as people use it: with and without JavaScript, by keyboard, at a desk and on
// a phone. tests/browser/test_accounts.mjs plays with such an account over a network.
//   node test_account.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';

import { MAIN, OTHER, World, checkAccessible, checkAccessibleToo, closeBrowser, onlyInAll, openBrowser, picture, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const markup = (number) => `<img src=x onerror=alert(${number})>"'`; // short enough for a name
const MARKUP = markup(2); // names of accounts differ
const PASSWORD = 'a sea of violets';
const OBBY = '/place/place_obby';
// Each could be read as another site, or as no address at all; tests/wasm/test_site.mjs has more of them.
const HOSTILE = ['//evil.test', '/\\evil.test', '/\t/evil.test', 'https://evil.test/', '/.//evil.test',
    'javascript:alert(1)', '/account'];
let up = null;
let boss = ''; // the operator's token
const kept = {}; // recovery codes of ada

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open'];
    }
}

const site = (path) => `http://127.0.0.1:${up.port}${path}`;

async function ask(method, path, body, token = boss) {
    const answer = await fetch(site(path), {
        method, headers: token === '' ? {} : { Authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.json();
    assert.ok(answer.ok, `${method} ${path}: ${JSON.stringify(text)}`);
    return text;
}

const register = (username, more = {}) => ask('POST', '/register', { username, password: PASSWORD, ...more }, '');
const signIn = (username) => ask('POST', '/login', { username, password: PASSWORD }, '');

// A browser of its own; whatever it complains about is collected, and nothing may leave the server.
async function openPage(viewport, options = {}) {
    const context = await (await openBrowser()).newContext({ viewport, ...options });
    const page = await context.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of 4\d\d/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    page.on('request', (request) => {
        if (/^http/.test(request.url()) && new URL(request.url()).host !== `127.0.0.1:${up.port}`) {
            complaints.push(`asks ${request.url()}`);
        }
    });
    await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
    const end = async () => {
        assert.deepEqual(complaints, []);
        await context.close();
    };
    return { context, page, end, go: (path) => page.goto(site(path)) };
}

// Signed in as somebody who exists.
async function openAs(username, viewport, options = {}) {
    const opened = await openPage(viewport, options);
    const { session_token: token } = await signIn(username);
    await opened.context.addCookies([{ name: 'sandlot', value: token, url: site('/') }]);
    return { ...opened, token };
}

const shot = (page, name, fullPage = true) =>
    picture(page, { path: join(screens, `account_${name}.png`), fullPage });
const fits = (page, what) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
    .then((does) => assert.ok(does, `${what}: nothing is cut off`));
const form = (page, name) => page.locator(`form[data-form=${name}]`);

async function fill(page, name, values) {
    for (const [field, value] of Object.entries(values)) {
        await form(page, name).locator(`[name="${field}"]`).fill(value);
    }
    await form(page, name).locator('button[type=submit]').click();
}

// What is said at a field.
const wrongAt = async (page, name, field) => {
    const input = form(page, name).locator(`[name="${field}"]`);
    await until(`${name}: something is wrong at ${field}`, async () =>
        await input.getAttribute('aria-invalid') === 'true');
    const described = (await input.getAttribute('aria-describedby')).trim().split(' ').at(-1);
    return page.locator(`[id="${described}"]`).textContent();
};

before(async () => {
    mkdirSync(screens, { recursive: true });
    up = await Up.start();
    const invitation = await until('the link is printed', () => /link=([\w-]+)/.exec(up.output)?.[1]);
    boss = (await register('boss', { invitation })).session_token;
});

after(async () => {
    await closeBrowser();
    await up?.stop();
});

test('without JavaScript one registers, signs out and signs in, and returns to where one was', async () => {
    const { page, go, end } = await openPage(OTHER, { javaScriptEnabled: false });
    const plain = (action) => page.locator(`form[action="${action}"]`);
    await go(`/account?next=${encodeURIComponent(OBBY)}`);
    assert.match(await page.title(), /^Your account · Sandlot$/);
    await shot(page, 'plain_phone');
    await fits(page, 'plain');
    await plain('/register').locator('[name=username]').fill('noscript');
    await plain('/register').locator('[name=shown_name]').fill(MARKUP);
    await plain('/register').locator('[name=password]').fill(PASSWORD);
    await plain('/register').locator('button').click();
    await page.waitForSelector('text=Your recovery codes');
    assert.equal(await page.locator('main code').count(), 8);
    assert.ok((await page.textContent('main')).includes(`You are ${MARKUP}`), 'a name is text');
    await shot(page, 'plain_codes');
    await page.click('text=Go on');
    assert.equal(new URL(page.url()).pathname, OBBY);
    await go('/account');
    await page.click('button:has-text("Sign out")');
    await go(`/account?next=${encodeURIComponent(OBBY)}`);
    const login = page.locator('form[action="/login"]:has([name=password])');
    await login.locator('[name=username]').fill('noscript');
    await login.locator('[name=password]').fill('not this one');
    await login.locator('button').click();
    assert.match(await page.textContent('[role=alert]'), /^The name, the password or the code is wrong\.$/);
    assert.equal(await login.locator('[name=username]').inputValue(), 'noscript', 'what was typed stays');
    await login.locator('[name=password]').fill(PASSWORD);
    await login.locator('button').click();
    await page.waitForURL(new RegExp(`${OBBY}$`));
    await end();
});

test('who sends a form before the script is there keeps the recovery codes', async () => {
    const { page, go, end } = await openPage(MAIN);
    await page.route('**/assets/*.js', (route) => route.abort());
    await go('/account').catch(() => {});
    await page.unroute('**/assets/*.js');
    await page.evaluate((password) => {
        const early = document.querySelector('form[action="/register"]');
        early.elements.username.value = 'early';
        early.elements.password.value = password;
        early.submit();
    }, PASSWORD);
    await page.waitForSelector('text=Your recovery codes');
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator('main code').count(), 8, 'the script leaves the answer alone');
    await page.context().close();
    void end; // the scripts that were cut off are complained about
});

// Presses Tab until the focus is on what fits.
async function tabTo(page, selector) {
    for (let tries = 0; tries < 80; tries++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) {
            return;
        }
    }
    assert.fail(`no Tab leads to ${selector}`);
}

test('by keyboard alone: from a place to a new account with printed codes, and back', async () => {
    const { context, page, go, end } = await openPage(MAIN);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await go(OBBY);
    await page.waitForSelector('h1:has-text("Obby")');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // to the content
    await until('the content has the focus', () =>
        page.evaluate(() => document.activeElement?.id === 'content'));
    await page.reload();
    await page.waitForSelector('h1:has-text("Obby")');
    await tabTo(page, '.who');
    await page.keyboard.press('Enter');
    await form(page, 'register').waitFor();
    await checkAccessible(page, 'signed out');
    await shot(page, 'signed_out_desk');
    await tabTo(page, 'form[data-form=register] [name=username]');
    await page.keyboard.type('a!');
    await page.keyboard.press('Enter');
    assert.match(await wrongAt(page, 'register', 'username'), /3 to 20/);
    await page.keyboard.press('Control+a'); // the focus is where the error is
    await page.keyboard.type('ada');
    await tabTo(page, '[name=shown_name]');
    await page.keyboard.type('Ada L');
    await tabTo(page, '[name=password]');
    await page.keyboard.type('password');
    await page.keyboard.press('Enter');
    assert.match(await wrongAt(page, 'register', 'password'), /^This password is too easy to guess/);
    assert.equal(await form(page, 'register').locator('[name=username]').inputValue(), 'ada');
    await page.keyboard.press('Control+a');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Your recovery codes")');
    await checkAccessible(page, 'codes');
    await shot(page, 'codes_desk');
    await tabTo(page, '.copied button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Copied.');
    kept.codes = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
    assert.equal(kept.codes.length, 8);
    assert.match(kept.codes[0], /^[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}$/);
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('.codes li').first().isVisible(), 'they are on paper');
    assert.ok(!await page.locator('.bar').isVisible(), 'and nothing else is');
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => { window.print = () => { document.title = 'printed'; }; });
    await page.click('button:has-text("Print")');
    assert.equal(await page.title(), 'printed');
    await page.click('button:has-text("go on")');
    await page.waitForURL(new RegExp(`${OBBY}$`));
    await page.waitForSelector('.who:has-text("Ada L")');
    await tabTo(page, 'summary.who');
    await page.keyboard.press('Enter');
    assert.deepEqual(await page.locator('.who-menu a').allTextContents(), ['Your account', 'Your classes'], 'a player');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.who-menu[open]').count(), 0);
    await end();
});

test('name, looks, password, sign-ins, tokens, blocked people, storage and export', async () => {
    await register('bob');
    const { page, go, end, token } = await openAs('ada', MAIN, { acceptDownloads: true });
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await ask('PUT', '/api/me/blocks/bob', {}, token);
    await signIn('ada'); // another sign-in
    await go('/account');
    await page.waitForSelector('canvas[data-drawn]');
    await shot(page, 'own_desk');
    await checkAccessibleToo(page, 'own');
    // The name that others see.
    await fill(page, 'shown-name', { shown_name: 'boss' });
    assert.match(await wrongAt(page, 'shown-name', 'shown_name'), /^Somebody has this name/);
    await fill(page, 'shown-name', { shown_name: markup(3) });
    await page.waitForSelector('h1:has-text("You are <img")');
    assert.equal(await page.textContent('summary.who'), markup(3));
    // Looks: the picture changes with the colour, and what is saved is there again.
    const pixels = () => page.locator('canvas').evaluate((canvas) => canvas.toDataURL());
    const was = await page.locator('canvas').screenshot();
    await form(page, 'looks').locator('[name=colour_shirt]').fill('#ff0000');
    await until('the picture is another', async () =>
        !was.equals(await page.locator('canvas').screenshot()));
    assert.match(await pixels(), /^data:image/);
    await page.locator('canvas').focus();
    await page.keyboard.press('ArrowRight');
    await page.click('button:has-text("New character")');
    await form(page, 'looks').locator('[name=name]').fill(' ');
    await form(page, 'looks').locator('[type=submit]').click();
    await page.waitForSelector('form[data-form=looks] .wrong:has-text("has 1 to 32")');
    await form(page, 'looks').locator('[name=name]').fill(MARKUP);
    await form(page, 'looks').locator('[name=colour_legs]').fill('#00ff00');
    await form(page, 'looks').locator('[type=submit]').click();
    await page.waitForSelector('form[data-form=looks] [role=status]:has-text("Saved.")');
    const { active, profiles } = await ask('GET', '/api/account/profiles', undefined, token);
    assert.deepEqual(profiles.map(({ name, colour_shirt, colour_legs }) => [name, colour_shirt, colour_legs]),
        [['Ada L', 0xff0000, 0x404050], [MARKUP, 0xff0000, 0x00ff00]]);
    assert.equal(active, profiles[1].character_id);
    // Password.
    await fill(page, 'password', { old: 'not this one', new: PASSWORD });
    assert.match(await wrongAt(page, 'password', 'old'), /is wrong\.$/);
    // A token: what it may do must be chosen; it is shown once, selected where pages may not copy.
    await fill(page, 'token', { name: MARKUP });
    await page.waitForSelector('form[data-form=token] .wrong:has-text("Choose at least one")');
    await form(page, 'token').locator('[name=play]').check();
    assert.equal(await form(page, 'token').locator('[name=operate], [name=create]').count(), 0);
    await form(page, 'token').locator('[type=submit]').click();
    const box = page.locator('.copied:has-text("Your new token")');
    await box.locator('button').click();
    await box.locator('text=It is selected').waitFor();
    const made = await box.locator('textarea').inputValue();
    assert.equal((await ask('GET', '/api/account', undefined, made)).scopes[0], 'play');
    assert.equal(await page.evaluate(() => getSelection().toString() ||
        document.activeElement.value.slice(document.activeElement.selectionStart)), made);
    await page.click(`button[aria-label="${`End ${MARKUP}`.replaceAll('"', '\\"')}"]`);
    await page.waitForSelector('text=You have made none.');
    // Sign-ins: this one is named, and the others end.
    const rows = page.locator('.panel:has-text("Where you are signed in") li');
    assert.equal(await rows.filter({ hasText: 'this browser' }).count(), 1);
    const others = await rows.count() - 1;
    assert.ok(others >= 1);
    await rows.filter({ hasNotText: 'this browser' }).first().locator('button').click();
    await until('it is gone', async () => await rows.count() === others);
    // Blocked people, storage, export.
    await page.click('button[aria-label="Unblock bob"]');
    await page.waitForSelector('text=You have blocked nobody');
    assert.match(await page.textContent('.panel:has(meter)'), /0 MB of 1,024 MB/);
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('text=Download it')]);
    assert.equal(JSON.parse(readFileSync(await file.path(), 'utf8')).account.length, 1);
    await page.setViewportSize(OTHER);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.click('summary.who');
    const menu = await page.locator('.who-menu nav').boundingBox();
    assert.ok(menu.x >= 0 && menu.x + menu.width <= OTHER.width, 'the menu is on the screen');
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, 'menu_phone', false);
    await page.keyboard.press('Escape');
    await shot(page, 'own_phone_dark');
    await fits(page, 'own, phone');
    await checkAccessible(page, 'own, phone, dark');
    await end();
});

test('a place that is offered is accepted, and counts', async () => {
    const { session_token: maker } = await register('maker');
    await ask('POST', '/api/accounts/maker/roles', { roles: 'creator' });
    const { place_id: id } = await ask('POST', '/api/drafts', { title: MARKUP, template: 'blank' }, maker);
    await ask('POST', `/api/places/${id}/give`, { account: 'ada' }, maker);
    const { page, go, end } = await openAs('ada', OTHER);
    await go('/account');
    const offer = page.locator('.panel:has-text("offered to you") li');
    await offer.waitFor();
    assert.ok((await offer.textContent()).includes(MARKUP));
    assert.match(await offer.textContent(), /by maker · /);
    await offer.locator('button:has-text("Accept")').click();
    await page.waitForSelector(`.panel:has(meter) a[href="/create/${id}"]`);
    await offer.waitFor({ state: 'detached' });
    await end();
});

test('invitations, links for a new password, and links that are gone', async () => {
    const { page, go, end } = await openAs('boss', MAIN);
    await go('/account');
    await page.waitForSelector('h1:has-text("You are boss")');
    assert.deepEqual(await page.locator('.head a').evaluateAll((links) => links.map((each) =>
        each.getAttribute('href'))), ['/', '/create', '/class', '/operator']);
    await fill(page, 'invite', { days: '400' });
    assert.match(await wrongAt(page, 'invite', 'days'), /1 to 365/);
    await form(page, 'invite').locator('[name=role]').selectOption('creator');
    await fill(page, 'invite', { days: '3' });
    await page.waitForSelector('.copied:has-text("The link")');
    const link = new URL(await page.locator('.copied textarea').inputValue());
    await go(link.pathname + link.search);
    await page.waitForSelector('button:has-text("Sign out and go on")');
    await end();
    await ask('PUT', '/admin/settings', { registration: 'invite' });
    const guest = await openPage(OTHER);
    await guest.go('/account');
    await guest.page.waitForSelector('text=you need an invitation');
    assert.equal(await form(guest.page, 'register').count(), 0);
    await shot(guest.page, 'closed_phone');
    await fits(guest.page, 'closed');
    await guest.go(link.pathname + link.search);
    await guest.page.waitForSelector('text=with the role Creator');
    await checkAccessible(guest.page, 'invited');
    await shot(guest.page, 'invited_phone');
    await fill(guest.page, 'register', { username: 'cleo', password: PASSWORD });
    await guest.page.waitForSelector('h1:has-text("Your recovery codes")');
    await shot(guest.page, 'codes_phone');
    await guest.page.click('button:has-text("go on")');
    await guest.page.waitForSelector('h1:has-text("You are cleo")');
    assert.deepEqual(await guest.page.locator('.head a').evaluateAll((links) => links.map((each) =>
        each.getAttribute('href'))), ['/', '/create'], 'a creator');
    await guest.page.click('.head button:has-text("Sign out")');
    await guest.page.waitForSelector('a.who:has-text("Sign in")');
    await guest.go(link.pathname + link.search);
    await guest.page.waitForSelector('[role=alert]:has-text("This link was used already")');
    await guest.go(`/account?link=${encodeURIComponent(MARKUP)}`);
    await guest.page.waitForSelector('[role=alert]:has-text("This link was used already")');
    const reset = new URL((await ask('POST', '/api/accounts/cleo/reset')).link);
    await guest.go(reset.pathname + reset.search);
    await fill(guest.page, 'reset', { new: 'short' });
    assert.match(await wrongAt(guest.page, 'reset', 'new'), /at least 8/);
    await fill(guest.page, 'reset', { new: 'another sea of violets' });
    await guest.page.waitForSelector('h1:has-text("Your recovery codes")');
    await ask('PUT', '/admin/settings', { registration: 'open' });
    await guest.end();
});

test('a guest keeps everything; a pupil has a code; a recovery code sets a password', async () => {
    const { page, go, end } = await openPage(OTHER);
    const whoAmI = () => page.evaluate(async () => (await fetch('/api/account')).json());
    await go('/account');
    await fill(page, 'guest', { username: markup(4) });
    await page.waitForURL(/:\d+\/$/);
    const guest = await whoAmI();
    assert.equal(guest.shown_name, `~${markup(4)}`);
    await go('/account');
    await page.waitForSelector('h1:has-text("a guest")');
    await shot(page, 'guest_phone');
    await fits(page, 'guest');
    await fill(page, 'register', { username: 'dora', password: PASSWORD });
    await page.waitForSelector('h1:has-text("Your recovery codes")');
    const made = await whoAmI();
    assert.deepEqual([made.username, made.user_id], ['dora', guest.user_id]);
    await page.click('button:has-text("go on")');
    await page.waitForSelector('h1:has-text("You are dora")');
    await page.click('.head button:has-text("Sign out")');
    await page.waitForSelector('a.who:has-text("Sign in")');
    const { class_id: id } = await ask('POST', '/api/classes', { name: '5b' });
    const { pupils: [{ code }] } = await ask('POST', `/api/classes/${id}/pupils`, { names: ['Anna'] });
    await go('/account');
    await fill(page, 'code', { code: MARKUP });
    assert.match(await wrongAt(page, 'code', 'code'), /^This code is not valid/);
    await fill(page, 'code', { code: ` ${code.toUpperCase()} ` });
    await page.waitForURL(/\/class$/); // where her places are
    await page.waitForSelector('.who:has-text("Anna")');
    await page.context().clearCookies();
    await go('/account');
    await page.click('summary:has-text("Forgot your password?")');
    await fill(page, 'recover', { username: 'ada', code: MARKUP, new: PASSWORD });
    assert.match(await wrongAt(page, 'recover', 'code'), /is wrong\.$/);
    await fill(page, 'recover', { username: 'ada', code: kept.codes[3], new: PASSWORD });
    await page.waitForSelector('.who:has-text("<img")');
    await end();
});

test('after signing in one never is on another site', async () => {
    const { page, go, end, context } = await openPage(MAIN);
    for (const next of onlyInAll === false ? HOSTILE : HOSTILE.slice(1, 2)) {
        await go(`/account?next=${encodeURIComponent(next)}`);
        await fill(page, 'guest', {});
        await page.waitForURL((url) => url.href === site('/'), { timeout: 5000 });
        await context.clearCookies();
    }
    await go(`/account?next=${encodeURIComponent(`${OBBY}?channel=beta`)}`);
    await fill(page, 'guest', {});
    await page.waitForURL((url) => url.href === site(`${OBBY}?channel=beta`));
    await end();
});

test('too many attempts say when to try again, and deleting asks for the password', async () => {
    await register('eve');
    const { page, go, end } = await openAs('eve', MAIN);
    await go('/account');
    await fill(page, 'delete', { password: 'not this one' });
    assert.match(await wrongAt(page, 'delete', 'sure'), /Tick this/);
    await form(page, 'delete').locator('[name=sure]').check();
    await fill(page, 'delete', { password: 'not this one' });
    assert.match(await wrongAt(page, 'delete', 'password'), /is wrong\.$/);
    await fill(page, 'delete', { password: PASSWORD });
    await page.waitForURL(/:\d+\/$/);
    await go('/account');
    await fill(page, 'sign-in', { username: 'eve', password: PASSWORD });
    assert.match(await wrongAt(page, 'sign-in', 'password'), /is wrong\.$/);
    for (let tries = 0; tries < 10; tries++) {
        await fetch(site('/login'), { method: 'POST', body: '{"username":"eve","password":"wrong one"}' });
    }
    await fill(page, 'sign-in', { username: 'eve', password: PASSWORD });
    await page.waitForSelector('form[data-form=sign-in] .wrong:has-text("You can try again in")');
    assert.match(await form(page, 'sign-in').textContent(), /Too many attempts\. You can try again in 1?\d minutes?\./);
    await shot(page, 'limited', false);
    await end();
});

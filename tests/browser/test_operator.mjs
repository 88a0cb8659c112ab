// The operator's pages, as somebody who runs a server uses them: live worlds, an announcement, a report
// with its evidence, a ban, featured places, a setting that holds at once, draining; by keyboard too.
//   node test_operator.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';

import { MAIN, OTHER, Player, World, checkAccessible, checkAccessibleToo, closeBrowser, openBrowser, picture, sleep, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const MARKUP = '<img src=x onerror=alert(1)>"\'';
const PASSWORD = 'a sea of violets';
const SECTIONS = ['worlds', 'people', 'reports', 'approvals', 'featured', 'rules', 'invitations', 'jobs', 'log', 'audit',
    'storage', 'about'];
let up = null;
let boss = null; // the operator's page
let bo = null; // somebody who misbehaves

// Without a key the server is in development, where everybody on this machine is an operator.
process.env.SECRET_KEY = 'correct-horse-battery-staple';

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open'];
    }
}

async function openPage(viewport) {
    const context = await (await openBrowser()).newContext({ viewport, serviceWorkers: 'block' });
    const page = await context.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of (40[0134]|503)|WebSocket/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    page.on('dialog', (dialog) => {
        complaints.push(`a script of a stranger ran: ${dialog.message()}`);
        void dialog.dismiss();
    });
    page.on('request', (request) => {
        if (new URL(request.url()).host !== `127.0.0.1:${up.port}`) {
            complaints.push(`asks ${request.url()}`);
        }
    });
    return { context, page, complaints, go: (path) => page.goto(`http://127.0.0.1:${up.port}${path}`) };
}

// As our pages ask: the status and the answer.
function ask(page, method, path, body) {
    return page.evaluate(async ([how, where, what]) => {
        const answer = await fetch(where, { method: how, headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
            ...(what === undefined ? {} : { body: JSON.stringify(what) }) });
        return { status: answer.status, body: await answer.json().catch(() => null) };
    }, [method, path, body]);
}

const register = (page, username, more = {}) => ask(page, 'POST', '/register', { username, password: PASSWORD, ...more });
const shot = (page, name) => picture(page, { path: join(screens, `operator_${name}.png`), fullPage: true });
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

// Links that are alone where they are, not in a sentence, and too small for a finger.
const smallLinks = (page) => page.evaluate(() => [...document.querySelectorAll('.section a')].filter((link) =>
    link.textContent.trim() === link.parentElement.textContent.trim() && link.getBoundingClientRect().height < 44)
    .map((link) => link.outerHTML));

before(async () => {
    up = await Up.start();
    boss = await openPage(MAIN);
    await boss.go('/account');
    const link = await until('the link is printed', () => /link=([\w-]+)/.exec(up.output)?.[1]);
    assert.equal((await register(boss.page, 'boss', { invitation: link })).status, 200);
});

after(async () => {
    await closeBrowser();
    await up?.stop();
    rmSync(`${up?.folder}-backups`, { recursive: true, force: true });
});

test('who is no operator reads a plain refusal', async () => {
    const { context, page, complaints, go } = await openPage(OTHER);
    await go('/operator');
    await page.waitForSelector('h1:has-text("These pages are for operators")');
    await page.waitForSelector('a.button:has-text("Sign in")');
    await go('/account');
    assert.equal((await register(page, 'ann')).status, 200);
    for (const path of ['/operator', '/operator/people?who=boss', '/operator/nothing']) {
        await go(path);
        await page.waitForSelector('text=Your account is not an operator’s');
    }
    await checkAccessible(page, 'refusal');
    await shot(page, 'refused');
    for (const path of ['/api/live?topics=operator', '/admin/storage', '/admin/backups']) {
        assert.equal((await ask(page, 'GET', path)).status, 403, path);
    }
    assert.deepEqual(complaints, []);
    await context.close();
});

test('worlds are shown as they run; an announcement is heard; draining', async () => {
    const { page } = boss;
    await boss.go('/operator');
    await page.waitForSelector('text=No world runs.');
    bo = await Player.open(up.port, '<b>Bo</b>', { query: 'play?place=place_island', expectDrops: true });
    await bo.playing();
    await page.waitForSelector('tbody tr:has-text("place_island")');
    await until('his world has a player', async () =>
        /\b1\b/.test(await page.locator('tbody tr td').nth(1).innerText()));
    await until('charts grow', async () =>
        (await page.locator('.live-chart polyline').first().getAttribute('points')).split(' ').length >= 2);
    await page.fill('#announce', `Tea at five ${MARKUP}`);
    await page.press('#announce', 'Enter');
    await page.waitForSelector('.outcome:has-text("Said in 1 world, to 1 player.")');
    // It is no line of the place's chat alone: it stands apart, is read aloud, and stays until it is closed.
    const notice = bo.page.locator('[role=status] .announcement', { hasText: 'From whoever runs this server' });
    await notice.waitFor();
    assert.match(await notice.innerText(), /Tea at five/);
    await picture(bo.page, { path: join(screens, 'operator_announced.png') });
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
    await until('bo reads it', async () =>
        (await bo.page.evaluate(() => document.body.textContent)).includes(`Tea at five ${MARKUP}`));
    await page.click('button:has-text("People")');
    await page.waitForSelector('.list a:has-text("<b>Bo</b>")');
    // Kicked, he reads why and comes back.
    await page.click('.list button:has-text("Kick")');
    await page.fill('dialog input', `too loud ${MARKUP}`);
    await page.click('dialog .danger');
    await until('bo reads why he was kicked', async () =>
        (await bo.page.evaluate(() => document.body.innerText)).includes(`too loud ${MARKUP}`));
    await page.waitForSelector('.outcome:has-text("was removed")');
    await bo.page.locator('#enter:visible, button:has-text("Try again"):visible').first().click();
    await bo.playing();
    await shot(page, 'worlds');
    await checkAccessibleToo(page, 'worlds');
    // By keyboard: the button opens a window that says what will happen; Escape leaves everything as it is.
    await page.focus('button:has-text("Drain")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]:has-text("No new world starts")');
    await checkAccessible(page, 'asking');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Drain', 'the focus is back');
    assert.equal((await ask(page, 'GET', '/readyz')).status, 200);
    await page.keyboard.press('Enter');
    await page.focus('dialog .danger');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.drain:has-text("This server drains")');
    assert.equal((await ask(page, 'GET', '/readyz')).status, 503);
    await page.click('button:has-text("Start worlds again")');
    await page.waitForSelector('.drain:has-text("This server starts worlds")');
    await until('it is ready', async () => (await ask(page, 'GET', '/readyz')).status === 200);
    // Stopped means stopped: bo reads it, and his page waits for him.
    await page.click('tbody tr:has-text("place_island") button:has-text("Stop")');
    await page.click('dialog .danger');
    await bo.page.waitForSelector('#detail:has-text("An operator stopped this world.")');
    await page.waitForSelector('text=No world runs.');
    assert.ok(await bo.page.isVisible('#again'), 'it does not come back by itself');
    await picture(bo.page, { path: join(screens, 'operator_stopped.png') });
    await bo.page.click('#again');
    await bo.playing();
});

test('discover shows who plays now, without a reload, and rests while it is hidden', async () => {
    const { context, page, complaints, go } = await openPage(MAIN);
    const streams = { open: new Set(), opened: 0 }; // connections to /api/live
    page.on('request', (request) => {
        if (new URL(request.url()).pathname === '/api/live') {
            streams.open.add(request);
            streams.opened += 1;
        }
    });
    for (const ended of ['requestfailed', 'requestfinished']) {
        page.on(ended, (request) => streams.open.delete(request));
    }
    await go('/');
    await page.waitForSelector('.card:has-text("Island") .live:has-text("1 plays")');
    await until('one stream is open', () => streams.open.size === 1);
    // Headless Chromium never hides a tab by itself: the page is told that it is hidden, as a browser tells it.
    const hide = (isHidden) => page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
        document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
    await hide(true);
    await until('the stream is closed', () => streams.open.size === 0, 5000);
    const before = streams.opened;
    await sleep(3000); // longer than the first pause after a failure
    assert.equal(streams.opened, before, 'nothing is opened while it is hidden');
    await hide(false);
    await until('it follows again', () => streams.open.size === 1 && streams.opened === before + 1);
    assert.deepEqual(complaints, []);
    await context.close();
});

test('a report with its evidence leads to a ban, which cuts off at once and says why', async () => {
    const ann = await openPage(OTHER);
    await ann.go('/account');
    assert.equal((await register(ann.page, 'cleo')).status, 200);
    const { sessions } = (await ask(boss.page, 'GET', '/admin/sessions')).body;
    const { account, world_id: world } = sessions.find((one) => one.username.includes('<b>Bo</b>'));
    const sent = await ask(ann.page, 'POST', '/api/reports', { reason: 'abuse', account, world_id: world, text: MARKUP });
    assert.equal(sent.status, 201);
    await ann.context.close();
    const { page } = boss;
    await page.click('.sections a:has-text("Reports")');
    await page.click('a:has-text("Report 1: Insults or threats")');
    await page.waitForSelector('.quoted');
    assert.equal(await page.textContent('.quoted'), MARKUP, 'what strangers write stays text');
    await page.waitForSelector('.evidence li:has-text("<b>Bo</b>"):has-text("came")');
    assert.deepEqual(await smallLinks(page), [], 'report: links that stand alone are 44 px high');
    await checkAccessible(page, 'report');
    await shot(page, 'report');
    await page.click('.ways button:has-text("Ban")');
    await page.fill('dialog input', 'was rude to Cleo');
    await page.selectOption('dialog select', '60');
    await page.click('dialog .danger');
    await page.waitForSelector('.outcome:has-text("Done.")');
    await page.waitForSelector('.ways button:has-text("Lift the ban")'); // the report knows it, too
    await until('bo is cut off and reads why', async () =>
        (await bo.page.evaluate(() => document.body.innerText)).includes('was rude to Cleo'));
    const again = await ask(bo.page, 'POST', '/join', { place_id: 'place_island' });
    assert.equal(again.body.error.code, 'banned');
    await page.fill('#note', MARKUP);
    await page.click('button:has-text("Close as acted")');
    await page.waitForSelector('.badge:has-text("Acted")');
    await page.click('.sections a:has-text("People")');
    await page.waitForSelector('section:has-text("Bans") li:has-text("<b>Bo</b>"):has-text("was rude to Cleo (by boss)")');
    await page.fill('#person', 'LEO');
    await page.press('#person', 'Enter');
    await page.waitForSelector('tbody a:text-is("cleo")');
    assert.equal(await page.locator('tbody tr').count(), 1, 'nobody else has it in the name');
    await page.fill('#person', account);
    await page.press('#person', 'Enter');
    await page.waitForSelector('.badge:has-text("Banned")');
    await page.waitForSelector('h2:has-text("<b>Bo</b>")');
    await shot(page, 'person');
    await page.click('button:has-text("Lift the ban")');
    await page.waitForSelector('button:text-is("Ban")');
    assert.equal((await ask(bo.page, 'POST', '/join', { place_id: 'place_island' })).status, 200);
    // What else is done about somebody.
    await boss.go('/operator/people?who=cleo');
    const confirm = async (label) => {
        await page.click(`button:text-is("${label}")`);
        await page.click('dialog .danger');
    };
    await confirm('Mute');
    await page.waitForSelector('.badge:has-text("Muted")');
    await page.click('button:text-is("Lift the mute")');
    await page.waitForSelector('.badge', { state: 'detached' });
    await page.check('label:has-text("Creator") input');
    await confirm('Save roles');
    await until('the role holds', async () => (await ask(page, 'GET', '/admin/users/cleo')).body.roles.join() === 'creator');
    await page.selectOption('#chat-rule', 'off');
    await page.click('button:text-is("Save chat")');
    await until('the rule holds', async () => (await ask(page, 'GET', '/admin/audit?limit=1')).body.audit[0].action === 'chat');
    await confirm('Reset link');
    const reset = new URL(await page.inputValue('.copied textarea'));
    assert.equal((await ask(page, 'POST', '/api/account/link', { link: reset.searchParams.get('link') })).body.purpose, 'password');
});

const manyPeople = (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('after') ?? 0);
    const users = Array.from({ length: 50 }, (_, at) => ({ account: `user_${from + at}`, username: `person${from + at}`,
        shown_name: `person${from + at}`, guest: false, roles: [], created: '2026-01-01T00:00:00Z',
        last_sign_in: '2026-01-01T00:00:00Z', banned: false, muted: false }));
    return route.fulfill({ json: { users, next: from < 100 ? String(from + 50) : null } });
};

test('a list of people is as long as it was when one comes back from one of them', async () => {
    const { page } = boss;
    await page.route('**/admin/users?*', manyPeople);
    await page.click('.sections a:has-text("People")');
    for (const count of [50, 100]) {
        await until(`${count} are shown`, async () => await page.locator('tbody tr').count() === count);
        await page.click('button:has-text("Show more")');
    }
    await until('all are shown', async () => await page.locator('tbody tr').count() === 150);
    assert.equal(await page.locator('button:has-text("Show more")').count(), 0);
    await page.click('a:text-is("person149")');
    await page.waitForURL(/who=person149$/);
    await page.goBack();
    await until('as many as before', async () => await page.locator('tbody tr').count() === 150);
    await page.unroute('**/admin/users?*');
});

test('a world is stopped', async () => {
    const { page } = boss;
    await page.click('.sections a:has-text("Worlds")');
    const stop = page.locator('tbody tr:has-text("place_island") button:text-is("Stop")');
    const size = page.viewportSize();
    await page.setViewportSize({ width: 375, height: 740 });
    await stop.waitFor();
    const box = await stop.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 375, `in sight on a phone: ${JSON.stringify(box)}`);
    await stop.scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(screens, 'operator_stop_phone.png') });
    await page.setViewportSize(size);
    await stop.click();
    await page.waitForSelector('dialog:has-text("is saved and stops")');
    await page.click('dialog .danger');
    await page.waitForSelector('.outcome:has-text("stops.")');
    await page.waitForSelector('tbody tr:has-text("place_island")', { state: 'detached' });
});

test('a featured place is on the front page of a guest; a setting holds at once', async () => {
    const { page } = boss;
    await page.click('.sections a:has-text("Featured")');
    await page.fill('#collection', 'Not a name');
    await page.press('#collection', 'Enter');
    await page.waitForSelector('#collection[aria-invalid=true]');
    await page.fill('#collection', 'best');
    await page.press('#collection', 'Enter');
    await page.fill('#collection-title', MARKUP);
    await page.click('[aria-label="Add Obby"]');
    await page.click('[aria-label="Add Island"]');
    await page.click('[aria-label="Move Island up"]');
    await page.click('button:text-is("Save")');
    await page.waitForSelector('.outcome:has-text("Saved.")');
    const guest = await openPage(OTHER);
    await guest.go('/');
    await guest.page.waitForSelector('section:has(h2:has-text("<img")) .card .title');
    assert.deepEqual(await guest.page.locator('section:has(h2:has-text("<img")) .title').allTextContents(), ['Island', 'Obby']);
    await page.click('.sections a:has-text("Settings")');
    await page.selectOption('#setting-registration', 'invite');
    await page.waitForSelector('.outcome:has-text("Who may register: who has an invitation now.")');
    assert.equal((await register(guest.page, 'late')).body.error.code, 'invitation_required');
    await page.fill('#words', 'x\nok-word');
    await page.click('button:has-text("Save words")');
    await page.waitForSelector('[role=alert]:has-text("line")');
    assert.equal(await page.inputValue('#words'), 'x\nok-word', 'what was typed stays');
    await page.click('.sections a:has-text("Invitations")');
    await page.selectOption('#role', 'creator');
    await page.click('button:has-text("Make an invitation")');
    const link = new URL(await page.inputValue('.copied textarea')).searchParams.get('link');
    await page.waitForSelector('[role=note]:has-text("works on this computer only")');
    assert.equal((await register(guest.page, 'maker', { invitation: link, shown_name: '<i>Maker</i>' })).status, 200);
    // What a creator calls a place is text in the queue, among builds and in the audit.
    assert.equal((await ask(page, 'PUT', '/admin/settings', { approve_listing: 'yes' })).status, 200);
    const draft = (await ask(guest.page, 'POST', '/api/drafts', { title: MARKUP.slice(0, 40), template: 'blank' })).body.place_id;
    assert.equal((await ask(guest.page, 'POST', `/api/places/${draft}/draft/publish`, { notes: 'one', channel: 'live' })).status, 202);
    await page.click('.sections a:has-text("Builds")');
    const build = page.locator('li', { hasText: draft });
    await build.locator('span:text-is("done")').waitFor();
    await build.locator('summary').click();
    assert.match(await build.locator('pre').innerText(), /\w/);
    await shot(page, 'builds');
    assert.equal((await ask(guest.page, 'PATCH', `/api/places/${draft}`, { visibility: 'listed' })).status, 200);
    await page.click('.sections a:has-text("Approvals")');
    await page.waitForSelector('li:has-text("<img")');
    await shot(page, 'approvals');
    // Who is refused, unlisted or removed reads so, and why, wherever they look for it.
    const act = async (what, reason) => assert.equal(
        (await ask(page, 'POST', `/admin/packages/${draft}`, { act: what, reason })).status, 200);
    const reads = async (path, title) => {
        await guest.go(path);
        await guest.page.waitForSelector(`text=${title}`);
        await guest.page.waitForSelector('text=too dull');
    };
    await page.click('li:has-text("<img") button:has-text("Refuse")');
    await page.fill('dialog input', 'too dull');
    await page.click('dialog .danger');
    await page.waitForSelector('text=Nothing waits.');
    await reads('/create', 'Not listed: an operator refused it');
    await reads(`/create/${draft}`, 'An operator did not let it be listed');
    await shot(guest.page, 'owner_refused');
    await reads(`/place/${draft}`, 'An operator did not let it be listed');
    await act('unlist', 'too dull');
    await reads('/create', 'Taken off the lists by an operator');
    await reads(`/create/${draft}`, 'An operator has taken this place off the lists');
    await act('remove', 'too dull');
    await reads('/create', 'Removed by an operator');
    await shot(guest.page, 'owner_list');
    await reads(`/create/${draft}`, 'An operator has removed this place');
    assert.equal(await guest.page.getByText('You do not work on this place.').count(), 0);
    await shot(guest.page, 'owner_removed');
    await reads(`/place/${draft}`, 'An operator has removed this place');
    await checkAccessible(guest.page, 'a removed place');
    assert.equal(await guest.page.locator('.play, button:has-text("Make your own"), .trouble').count(), 0, 'nobody plays or copies it');
    await shot(guest.page, 'owner_removed_page');
    await guest.go(`/play?place=${draft}`);
    await guest.page.waitForSelector('#progress :text("An operator has removed this place")');
    assert.ok(!await guest.page.isVisible('#name'), 'who is signed in is not asked for a name');
    await act('restore', '');
    assert.equal((await ask(page, 'PUT', '/admin/settings', { approve_listing: 'no' })).status, 200);
    // With the rule off the list says so; switching it on asks, and says what it hides.
    await page.click('.sections a:has-text("Settings")');
    await page.click('.sections a:has-text("Approvals")');
    await page.waitForSelector('text=“Approve places first” is off');
    await page.click('.sections a:has-text("Settings")');
    await page.selectOption('#setting-approve_listing', 'yes');
    await page.waitForSelector('dialog:has-text("1 place that nobody has approved yet will be hidden")');
    await shot(page, 'approve_first');
    assert.equal(await page.inputValue('#setting-approve_listing'), 'no', 'nothing has changed yet');
    await page.click('dialog .danger');
    await page.waitForSelector('text=Approve places first: yes now.');
    await page.click('.sections a:has-text("Approvals")');
    await page.click('li:has-text("<img") button:has-text("Approve")');
    await page.waitForSelector('text=Nothing waits.');
    await guest.context.close();
});

test('a backup is cancelled, another is made; every page fits a phone, is accessible and complains of nothing', async () => {
    const { page, complaints } = boss;
    await page.click('.sections a:has-text("Storage")');
    await page.waitForSelector('tbody tr:has-text("<i>Maker</i>")');
    const large = join(up.folder, 'blobs', 'large');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 31); // takes some seconds to copy
    await page.click('button:has-text("Back up now")');
    await page.click('dialog .danger');
    await page.click('button:has-text("Cancel the backup")');
    await page.waitForSelector('[role=status]:has-text("The backup was cancelled")');
    assert.equal(await page.locator('code:has-text(".tar")').count(), 0);
    rmSync(large);
    await page.click('button:has-text("Back up now")');
    await page.click('dialog .danger');
    await page.waitForSelector('text=is complete.');
    await page.setViewportSize(OTHER);
    for (const section of SECTIONS) {
        await page.click(`.sections a[href="/operator${section === 'worlds' ? '' : `/${section}`}"]`);
        await page.waitForSelector('.sections a[aria-current=page]');
        await until(`${section} is loaded`, async () => (await page.textContent('.section')).length > 40 &&
            await page.locator('.section .trouble').count() === 0);
        assert.deepEqual(await smallLinks(page), [], `${section}: links that stand alone are 44 px high`);
        await checkAccessible(page, section);
        await shot(page, `phone_${section}`);
        assert.ok(await fits(page), `${section}: nothing is cut off`);
    }
    await boss.go('/operator/audit');
    await page.waitForSelector('tbody tr:has-text("settings"):has(a:text-is("boss"))');
    // Opened by itself, a table has its style, and the chosen section is in sight.
    assert.equal(await page.locator('tbody td').first().evaluate((cell) => getComputedStyle(cell).borderBottomStyle), 'solid');
    assert.ok(await page.locator('.sections a[aria-current=page]').evaluate((link) => {
        const box = link.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth;
    }), 'Audit is in sight');
    assert.ok(!(await page.textContent('tbody')).includes('this machine'), 'every act has somebody’s name');
    await page.goBack();
    await page.waitForSelector('.sections a[aria-current=page]:has-text("Version")');
    assert.deepEqual(complaints, []);
});

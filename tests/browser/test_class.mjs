// A class as a school uses it: a teacher makes one of 25 from a list of names, prints the codes and hands
// out a template; three pupils sign in with their codes and play together; a pause, a new code, a draft
// that is read, the end. Texts of strangers stay texts.
//   node test_class.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';

import { MAIN, OTHER, SMALL, World, checkAccessible, closeBrowser, drawSeldom, onlyInAll, openBrowser, picture, sleep, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const CLASS = '<img src=x onerror=alert(1)>';
const PUPIL = '<b onclick=alert(2)>Eve</b>';
const TITLE = 'Town "<script>alert(3)</script>';
const NAMES = ['Anna', 'Bert', PUPIL, ...Array.from({ length: 22 }, (_, number) => `Kid ${number + 1}`)];
const PASSWORD = 'a sea of violets';
let up = null;
let kim = null; // the teacher's page
let classAt = ''; // its path
let codes = [];
const pupils = [];

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open'];
    }
}

// A browser of its own. What a page complains about fails the test, so does a dialog of a hostile text.
async function openPage(viewport) {
    const context = await (await openBrowser()).newContext({ viewport });
    await drawSeldom(context);
    const page = await context.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => { complaints.push(`a text ran: ${dialog.message()}`); void dialog.dismiss(); });
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of 40[0-9]/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    return { context, page, complaints, go: (path) => page.goto(`http://127.0.0.1:${up.port}${path}`) };
}

// As the pages do it, with the cookie of the page.
function send(page, method, path, body) {
    return page.evaluate(async ([how, where, what]) => {
        const answer = await fetch(where, {
            method: how, headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
            ...(what === undefined ? {} : { body: JSON.stringify(what) }),
        });
        return { status: answer.status, body: await answer.json().catch(() => null) };
    }, [method, path, body]);
}

const shot = (page, name) => picture(page, { path: join(screens, `class_${name}.png`), fullPage: true });
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
const phaseOf = (page) => page.evaluate(() => window.sandlot?.inspect().phase);

// Presses Tab until that has the focus.
async function tabTo(page, selector) {
    for (let count = 0; count < 250; count++) {
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) {
            return;
        }
        await page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not reach ${selector}`);
}

before(async () => {
    up = await Up.start();
    const boss = await openPage(MAIN);
    await boss.go('/class');
    await until('the link is printed', () => /link=([\w-]+)/.test(up.output));
    const register = (page, username, more = {}) =>
        send(page, 'POST', '/register', { username, password: PASSWORD, ...more });
    assert.equal((await register(boss.page, 'boss', { invitation: /link=([\w-]+)/.exec(up.output)[1] })).status, 200);
    kim = await openPage(MAIN);
    await kim.go('/class');
    await kim.page.waitForSelector('h1:has-text("Classes")');
    assert.match(await kim.page.textContent('main'), /Sign in to see your classes/);
    assert.equal((await register(kim.page, 'kim')).status, 200);
    await kim.page.reload();
    await kim.page.waitForSelector('text=you need the role of a teacher');
    assert.match(await kim.page.textContent('main'), /Ask whoever runs this server .*\(kim\)/);
    assert.equal(await kim.page.locator('form.form').count(), 0, 'nothing to make');
    await checkAccessible(kim.page, 'classes without the role');
    await shot(kim.page, 'no_role');
    for (const username of ['kim', 'lee']) {
        if (username === 'lee') {
            const lee = await openPage(MAIN);
            await lee.go('/class');
            await register(lee.page, 'lee');
            await lee.context.close();
        }
        assert.equal((await send(boss.page, 'POST', `/api/accounts/${username}/roles`,
            { roles: 'teacher creator' })).status, 200);
    }
    await boss.context.close();
});

after(async () => {
    await closeBrowser();
    await up?.stop();
});

test('a class of 25 from a list of names, by keyboard; faults are said at the name', async () => {
    const { page, go, context } = kim;
    await go('/account'); // the looks of this page must not be those of the next one
    await page.waitForSelector('canvas[data-drawn]');
    await page.click('.head a[href="/class"]');
    await page.waitForSelector('#class-name');
    await tabTo(page, '#class-name');
    await page.keyboard.type(CLASS);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/class\/class_\w+$/);
    classAt = new URL(page.url()).pathname;
    await page.waitForSelector('h1');
    assert.equal(await page.textContent('h1'), CLASS);
    // What to do first comes first, and what cannot be done yet looks so.
    assert.equal(await page.textContent('main h2 >> nth=0'), 'Pupils');
    assert.ok(await page.isDisabled('button:has-text("Hand it out")'));
    assert.notEqual(await page.locator('button:has-text("Hand it out")').evaluate((it) => getComputedStyle(it).opacity), '1');
    assert.ok(await page.locator('li:has-text("kim (you)")').evaluate((it) =>
        it.checkVisibility({ visibilityProperty: true })), 'the teachers are shown at once');
    await tabTo(page, '#names');
    await page.keyboard.insertText([...NAMES.slice(0, 4), 'x'.repeat(33), ...NAMES.slice(4)].join('\n'));
    await tabTo(page, 'button[type=submit]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#names-said li');
    assert.match(await page.textContent('#names-said li'), /Line 5: “x+” has more than 32 characters/);
    assert.equal(await page.getAttribute('#names', 'aria-invalid'), 'true');
    assert.ok((await page.inputValue('#names')).includes('Kid 22'), 'what was typed stays');
    await page.fill('#names', Array.from({ length: 41 }, (_, number) => `Kid ${number}`).join('\n'));
    await page.click('text=Make their accounts');
    await until('too many', async () => /at most 40/.test(await page.textContent('#names-said')));
    await page.fill('#names', 'a\u200bb');
    await page.click('text=Make their accounts');
    await until('hidden', async () => /Line 1.*cannot be seen/.test(await page.textContent('#names-said')));
    await page.fill('#names', NAMES.join('\n'));
    await page.click('text=Make their accounts');
    await page.waitForSelector('.codes-list li');
    codes = await page.locator('.codes-list code').allTextContents();
    assert.equal(codes.length, 25);
    await page.waitForSelector('.codes [role=note]:has-text("works on this computer only")');
    const lost = await openPage(OTHER);
    await lost.go('/account');
    await lost.page.fill('form[data-form=code] input', 'no-such-code');
    await lost.page.press('form[data-form=code] input', 'Enter');
    await lost.page.waitForSelector('text=ask your teacher for a new code'); // a child there has neither a name nor a password
    await lost.page.context().close();
    await until('all are listed', async () => await page.locator('tbody tr').count() === 25);
    assert.ok(await page.locator('.codes h3').evaluate((heading) => heading === document.activeElement &&
        heading.getBoundingClientRect().top >= 0 && heading.getBoundingClientRect().bottom < innerHeight), 'the codes, shown once, are in sight');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('button:visible, form:visible, tbody:visible, h1:visible, header:visible').count(), 0, 'paper has no buttons');
    assert.deepEqual(await page.locator('.codes-list code:visible').allTextContents(), codes, 'and each code');
    assert.equal(await page.locator('.codes-list .on-paper:visible').count(), 25, 'with the address');
    await page.emulateMedia({ media: null });
    const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    assert.ok(await asks(), 'who leaves the page without the codes is asked');
    const [sheet] = await Promise.all([context.waitForEvent('page'), page.click('text=Print the cards')]);
    await sheet.waitForSelector('li code');
    assert.deepEqual(await sheet.locator('li code').allTextContents(), codes);
    assert.ok((await sheet.locator('h2').allTextContents()).includes(PUPIL), 'a name is text');
    await until('the cards have their style', () => sheet.evaluate(() => document.styleSheets.length === 1 &&
        document.styleSheets[0].cssRules.length > 0));
    await picture(sheet, { path: join(screens, 'class_cards.png') });
    await sheet.close();
    await until('printed, they may be left', async () => !await asks());
    await page.click('text=Done');
});

test('a template for everybody; three pupils play together in one of their places', async () => {
    const { page } = kim;
    await page.fill('#hand-title', TITLE);
    await page.selectOption('#hand-from', 'template:blank');
    await page.click('text=Hand it out');
    await page.click('text=Stop handing out');
    await until('it stops', async () => /Stopped: \d+ of 25 pupils have it/.test(await page.textContent('#hand-said')), 60000);
    await page.click('text=Hand it out');
    await until('the rest get it too', async () => /\d+ pupils got it, \d+ had it already/.test(await page.textContent('#hand-said')), 60000);
    await until('the gallery', async () => await page.locator('.cards > li').count() === 25);
    await checkAccessible(page, 'the class of a teacher');
    await shot(page, 'teacher_desk');
    for (const code of codes.slice(0, 3)) {
        const pupil = await openPage(OTHER);
        await pupil.go('/class');
        assert.equal((await send(pupil.page, 'POST', '/login', { code })).status, 200);
        pupils.push(pupil);
    }
    const [anna, bert, eve] = pupils;
    // A child's account has no password, no name of its own making, and nothing that a teacher deletes.
    await anna.go('/account');
    await anna.page.waitForSelector('text=Your teacher decides whether you may change it');
    await anna.page.waitForSelector('text=you sign in with the code of your class');
    assert.equal(await anna.page.locator('[type=password], form[data-form=shown-name], form[data-form=token]').count(), 0);
    await shot(anna.page, 'pupil_account');
    await anna.go('/class');
    await anna.page.click('.class-row');
    await anna.page.waitForSelector('h2:has-text("Your places")');
    await anna.page.waitForSelector('.cards > li');
    assert.equal(await anna.page.locator('.cards > li').count(), 1, 'her own place alone');
    assert.equal(await anna.page.locator('text=Pause the class').count(), 0, 'she leads nothing');
    // It shows how far it is, and can be cancelled. (It is asked for on the way, so that the build cannot be ready before.)
    await anna.page.route('**/api/jobs/*', (route) => route.request().method() === 'DELETE' ? route.continue()
        : route.fulfill({ json: { job_id: 'x', status: isStopped ? 'cancelled' : 'running', stage: 'compile', progress_pct: 40, log: [], reason: null } }));
    let isStopped = false;
    anna.page.on('request', (request) => { isStopped ||= request.method() === 'DELETE' && /\/api\/jobs\//.test(request.url()); });
    await anna.page.click('text=Let the class play it');
    await until('the progress', () => anna.page.locator('.work progress').evaluate((bar) => bar.value === 0.4));
    await anna.page.click('.work button:has-text("Cancel")');
    await anna.page.waitForSelector('.work .said:has-text("Cancelled. Nothing was changed.")');
    await anna.page.unroute('**/api/jobs/*');
    await anna.page.click('.work button:has-text("Let the class play it"), .work button:has-text("Publish what you changed")');
    await anna.page.waitForSelector('text=Publish what you changed', { timeout: 60000 });
    await checkAccessible(anna.page, 'the class of a pupil, phone');
    assert.ok(await fits(anna.page), 'nothing is cut off for a pupil');
    await shot(anna.page, 'pupil_phone');
    const own = await anna.page.evaluate(async () => (await (await fetch('/api/me/places')).json()).places[0].place_id);
    await anna.go(`/create/${own}`);
    await anna.page.waitForSelector('#visibility');
    assert.deepEqual(await anna.page.locator('#visibility option').allTextContents(), ['Only you and your teacher', 'Your class']);
    assert.equal(await anna.page.inputValue('#visibility'), 'unlisted');
    // The Studio says the same.
    await anna.go(`/studio/${own}`);
    await anna.page.click('[data-command=publish]');
    await anna.page.waitForSelector('.publish-form .who');
    assert.deepEqual((await anna.page.locator('.publish-form .who label').allTextContents()).map((text) => text.trim()),
        ['Your class', 'Only you and your teacher']);
    await anna.page.keyboard.press('Escape');
    await anna.page.click('[data-command=play]');
    await anna.page.selectOption('.play-mode select', 'server');
    await anna.page.click('button:has-text("Friends")');
    await anna.page.waitForSelector('select#friend-name');
    const mates = await anna.page.locator('#friend-name option').allTextContents();
    assert.ok(mates.includes('Bert') && !mates.includes('Anna'), `classmates by the names of the class: ${mates}`);
    for (const pupil of [anna, bert, eve]) {
        await pupil.go(classAt);
        await pupil.page.click('a[aria-label*="by Anna"]');
        await pupil.page.setViewportSize(SMALL); // few pixels, because a processor draws them
        await pupil.page.click('#enter');
    }
    for (const pupil of pupils) {
        await until('they play', async () => await phaseOf(pupil.page) === 'playing', 60000);
    }
    assert.equal(new Set(pupils.map((pupil) => new URL(pupil.page.url()).pathname)).size, 1, 'one world');
    await page.reload();
    await page.waitForSelector('.live:has-text("3 play")', { timeout: 20000 });
});

test('chat that is allowed during play reaches those who play, and so does its end', async () => {
    const [anna, bert] = pupils;
    const allow = async (rule) => assert.equal((await send(kim.page, 'PUT', `/api/classes/${classAt.split('/').at(-1)}/chat`, { rule })).status, 200);
    const opens = (selector) => until(selector, async () => {
        await bert.page.keyboard.press('Enter');
        return await bert.page.locator(selector).count() === 1;
    });
    await opens('.chat-guest:has-text("Chat is switched off here.")');
    await allow('free');
    await bert.page.waitForSelector('#chat-text', { timeout: 20000 });
    await bert.page.keyboard.type('hello Anna');
    await bert.page.keyboard.press('Enter');
    await until('she hears it', async () => (await anna.page.textContent('#messages')).includes('hello Anna'));
    await opens('#chat-text');
    await allow('off');
    await bert.page.waitForSelector('.chat-guest:has-text("Chat is switched off here.")', { timeout: 20000 });
    await bert.page.keyboard.press('Escape');
});

test('a pause puts everybody out, and the pupils read why; then it goes on', { skip: onlyInAll }, async () => {
    const { page } = kim;
    await page.click('text=Pause the class');
    await page.waitForSelector('.state.paused');
    assert.match(await page.textContent('.notice'), /nobody can play/);
    assert.equal(await page.locator('a:text-is("Play")').count(), 0);
    for (const pupil of pupils) {
        await until('they are out', async () => await phaseOf(pupil.page) !== 'playing', 30000);
    }
    await shot(page, 'paused_desk');
    const [anna, bert, eve] = pupils;
    await eve.page.waitForSelector('#phase:has-text("The class pauses")');
    await eve.page.waitForSelector('#countdown:has-text("Trying again in")');
    await bert.go(classAt);
    await bert.page.waitForSelector('.notice.paused');
    assert.match(await bert.page.textContent('.notice'), /Your teacher has paused the class/);
    assert.equal(await bert.page.locator('a:text-is("Play")').count(), 0);
    await page.click('text=Let the class go on');
    await page.waitForSelector('text=Pause the class');
    await until('he reads it', async () => await bert.page.locator('.notice.paused').count() === 0, 15000);
    for (const pupil of [anna, eve]) {
        await until('they come back by themselves', async () => await phaseOf(pupil.page) === 'playing', 60000);
    }
    await bert.page.setViewportSize(MAIN);
    await bert.page.waitForSelector('a[aria-label*="by Anna"]');
    await checkAccessible(bert.page, 'the class of a pupil');
    await shot(bert.page, 'pupil_desk');
    assert.deepEqual(anna.complaints.filter((text) => /text ran|policy/i.test(text)), []);
});

test('whose sign-in has ended signs in again and comes back; as a guest only where guests come in', async () => {
    const { page } = pupils[1];
    const here = new URL(pupils[0].page.url()).pathname;
    const cookies = await page.context().cookies();
    for (const [path, isForGuests] of [[here, false], ['/play', true]]) {
        await page.context().addCookies(cookies);
        await pupils[1].go(path);
        await page.waitForSelector('#intro:has-text("You are Bert.")');
        await page.context().clearCookies();
        const last = page.waitForResponse((answer) => /\/api\/places\//.test(answer.url()) || (!answer.ok() && /\/api\/rooms\//.test(answer.url())));
        await page.click('#enter');
        await page.waitForSelector('#phase:has-text("Your sign-in has ended")');
        assert.equal(await page.locator('#sign-in:visible').getAttribute('href'), `/account?next=${encodeURIComponent(path)}`);
        await last;
        await sleep(300);
        assert.equal(await page.isVisible('#again:has-text("Go on as a guest")'), isForGuests, path);
    }
    await page.context().addCookies(cookies);
    await pupils[1].go(classAt);
});

test('a draft is read, a code replaced by keyboard, rules kept, a colleague added', async () => {
    const { page, go } = kim;
    await page.click(`a[aria-label="Read the draft of ${TITLE.replaceAll('"', '\\"')} by Anna"]`);
    await page.waitForSelector('.reader nav button');
    await page.click('.reader nav button:has-text("place.json")');
    await until('its text', async () => /"format"/.test(await page.textContent('.source')));
    assert.ok((await page.textContent('h1')).includes(TITLE));
    await checkAccessible(page, 'a draft');
    await shot(page, 'reader_desk');
    await page.setViewportSize(OTHER);
    await page.click('.reader nav button:has-text("scene.json")');
    await until('what was chosen is in sight', () => page.locator('.source').evaluate((text) => {
        const { top, bottom } = text.getBoundingClientRect();
        return text.textContent.includes('entities') && (top < innerHeight / 2 || bottom <= innerHeight);
    }));
    assert.ok(await fits(page), 'a draft on a phone');
    await shot(page, 'reader_phone');
    await page.setViewportSize(MAIN);
    await page.goBack();
    await page.waitForSelector('tbody tr');

    await tabTo(page, '[aria-label="New code for Bert"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await checkAccessible(page, 'a question');
    await page.keyboard.press('Escape');
    await until('it is closed', async () => await page.locator('dialog').count() === 0);
    assert.ok(await page.evaluate(() => document.activeElement.matches('[aria-label="New code for Bert"]')),
        'the focus is back');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await tabTo(page, 'dialog .button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.codes-list code');
    const fresh = await page.textContent('.codes-list code');
    const [, bert] = pupils;
    assert.equal((await send(bert.page, 'POST', '/login', { code: codes[1] })).status, 401, 'the old code');
    assert.equal((await send(bert.page, 'POST', '/login', { code: fresh })).status, 200, 'the new code');
    await page.click('text=Done');

    assert.equal(await page.inputValue('#chat-rule'), 'off', 'a new class does not chat freely');
    await page.selectOption('#chat-rule', 'free');
    await until('saved', async () => (await send(page, 'GET', `/api${classAt.replace('/class', '/classes')}`))
        .body.chat === 'free');
    await page.selectOption('#chat-rule', 'phrases');
    await page.waitForSelector('text=there are no phrases yet');
    await until('what holds is shown', async () => await page.inputValue('#chat-rule') === 'free');
    await page.click('text=People outside of the class');
    await until('saved', async () => (await send(page, 'GET', `/api${classAt.replace('/class', '/classes')}`))
        .body.public_names === true);
    await page.fill('#teacher', MARKUP_ACCOUNT);
    await page.press('#teacher', 'Enter');
    await until('nobody is called so', async () => (await page.textContent('#teacher-said')) !== '');
    assert.equal(await page.inputValue('#teacher'), MARKUP_ACCOUNT, 'what was typed stays');
    await page.fill('#teacher', 'lee');
    await page.press('#teacher', 'Enter');
    await page.waitForSelector('[aria-label="Remove the teacher lee"]');
    await page.setViewportSize(OTHER);
    assert.ok(await fits(page), 'the class on a phone');
    await shot(page, 'teacher_phone');
    await page.setViewportSize(MAIN);
    await go(classAt);
});

const MARKUP_ACCOUNT = '"><svg onload=alert(4)>';

test('somebody is taken out, outsiders find nothing, and the class ends with its accounts', { skip: onlyInAll }, async () => {
    const { page } = kim;
    await page.click('[aria-label="Take out Kid 22"]');
    await page.click('text=Keep the account');
    await until('24 are left', async () => await page.locator('tbody tr').count() === 24);
    const stranger = await openPage(OTHER);
    await stranger.go('/class');
    await send(stranger.page, 'POST', '/register', { username: 'stranger', password: PASSWORD });
    await stranger.go(classAt);
    await stranger.page.waitForSelector('text=There is nothing here');
    await stranger.context.close();
    await page.click('section:last-child > .button.danger');
    await page.click('text=Delete the class and all its accounts');
    await page.waitForURL(/\/class$/);
    await page.waitForSelector('text=You have no class yet');
    await checkAccessible(page, 'classes');
    await shot(page, 'classes');
    assert.equal((await send(pupils[0].page, 'POST', '/login', { code: codes[0] })).status, 401, 'codes ended');
    assert.deepEqual(kim.complaints, []);
    for (const pupil of pupils) {
        assert.deepEqual(pupil.complaints.filter((text) => /text ran|policy/i.test(text)), []);
    }
});

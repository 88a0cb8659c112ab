// Texts twice as large as usual, as a reader's browser or the setting of the game makes them, on every page
// of the site and every screen of the game, wide and on a phone: nothing is cut off, no text lies on another.
// And every page of the site by keyboard alone, and with a hostile text in each of its fields.
//   node test_text.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';

import {
    World, checkAccessible, closeBrowser, drawSeldom, findTextTrouble, onlyInAll, openBrowser, picture, until,
} from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const VIEWS = { desk: { width: 1280, height: 800 }, phone: { width: 375, height: 740 } };
const PASSWORD = 'a sea of violets';
const LONG = 'An extraordinarily incomprehensible underwater world'; // a title that people do write
let up = null;
let page = null;
let context = null;
const found = {}; // ids that pages are about
const complaints = []; // of the operator's page: a script that ran, a violated policy, an error
const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>${7*7}{{7*7}}\u202e';

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open'];
    }
}

async function send(method, path, body) {
    const answer = await page.evaluate(async ([how, where, what]) => {
        const got = await fetch(where, { method: how, headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
            ...(what === undefined ? {} : { body: JSON.stringify(what) }) });
        return { status: got.status, body: await got.json().catch(() => null) };
    }, [method, path, body]);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
}

const go = (path) => page.goto(`http://127.0.0.1:${up.port}${path}`);
// As somebody who presses a link goes there: without another document, which costs more.
const follow = (path) => page.evaluate((to) => {
    const link = document.createElement('a');
    link.href = to;
    document.body.append(link);
    link.click();
    link.remove();
}, path);

before(async () => {
    up = await Up.start();
    // As in the settings of a browser: letters of 32 pixels where 16 are usual.
    const browser = await openBrowser(undefined, ['--blink-settings=defaultFontSize=32']);
    context = await browser.newContext({ viewport: VIEWS.desk, serviceWorkers: 'block' });
    page = await context.newPage();
    page.on('dialog', (dialog) => { complaints.push(`a text ran: ${dialog.message()}`); void dialog.dismiss(); });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of 4\d\d/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    await go('/account');
    await until('the link is printed', () => /link=([\w-]+)/.test(up.output));
    await send('POST', '/register', { username: 'an-operator-of-many', password: PASSWORD, invitation: /link=([\w-]+)/.exec(up.output)[1] });
    const made = await send('POST', '/api/drafts', { title: LONG, template: 'obby' });
    found.place = made.place_id;
    const publish = async (notes) => {
        const { job_id: job } = await send('POST', `/api/places/${found.place}/draft/publish`, { notes, channel: 'live' });
        await until('it is built', async () => (await send('GET', `/api/jobs/${job}`)).status === 'done');
    };
    await publish('the first one');
    await publish('another one, with incomprehensible notes');
    await send('PATCH', `/api/places/${found.place}`, { visibility: 'listed', description: '# Come in\n\nIt is *wet*.\n\n- `one`\n- two' });
    await send('PUT', `/api/places/${found.place}/tags`, { tags: ['underwater', 'incomprehensible-tag', 'quiet'] });
    found.room = (await send('POST', '/api/worlds', { place_id: found.place })).room_code;
    const { class_id: id } = await send('POST', '/api/classes', { name: 'Incomprehensible arts' });
    found.class = id;
    await send('POST', `/api/classes/${id}/pupils`, { names: ['Anna-Magdalena Wilhelmine', 'Bert'] });
    await send('POST', '/api/reports', { place_id: found.place, reason: 'other', text: 'It is incomprehensible.' });
});

after(async () => {
    await closeBrowser();
    await up?.stop();
});

const SITE = {
    discover: () => '/', search: () => '/search?q=incomprehensible', nothing: () => '/search?q=zzz', gone: () => '/place/none',
    place: () => `/place/${found.place}`, create: () => '/create', manage: () => `/create/${found.place}`,
    account: () => '/account', classes: () => '/class', class: () => `/class/${found.class}`,
    ...Object.fromEntries(['', 'people', 'reports', 'approvals', 'featured', 'rules', 'invitations', 'jobs', 'log', 'audit',
        'storage', 'about'].map((section) => [`operator_${section}`, () => `/operator/${section}`.replace(/\/$/, '')])),
    person: () => '/operator/people?who=an-operator-of-many', report: () => '/operator/reports?id=1',
};

async function look(name, within = 'body') {
    const trouble = [];
    for (const [view, size] of Object.entries(VIEWS)) {
        await page.setViewportSize(size);
        const seen = await findTextTrouble(page, within);
        trouble.push(...seen.map((text) => `${name}, ${view}: ${text}`));
        await picture(page, { path: join(screens, `text_${name}_${view}.png`) });
    }
    return trouble;
}

const loaded = async () => {
    await page.waitForSelector('main h1, main h2');
    await until('it is loaded', () => page.evaluate(() => document.querySelector('.waiting') === null &&
        !/^Loading/m.test(document.querySelector('main').innerText)));
};

// What Tab does not reach of all that can be used, and what has the focus without showing it.
async function findKeyboardTrouble() {
    const count = await page.evaluate(() => {
        const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
            .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.matches(':disabled') && each.tabIndex >= 0 &&
                (each.type !== 'radio' || each.checked));
        window.waiting = new Set(all);
        window.unseen = [];
        document.activeElement?.blur();
        document.addEventListener('focusin', ({ target }) => {
            window.waiting.delete(target);
            const { outlineStyle, boxShadow } = getComputedStyle(target);
            if (target.id !== 'content' && target.type !== 'radio' && outlineStyle === 'none' && boxShadow === 'none') {
                window.unseen.push(target);
            }
        });
        return all.length;
    });
    for (let presses = 0; presses < count + 5; presses++) {
        await page.keyboard.press('Tab');
    }
    return page.evaluate(() => {
        const name = (each) => each.outerHTML.slice(0, 120);
        return [...[...window.waiting].filter((each) => each.isConnected).map((each) => `Tab does not reach ${name(each)}`),
            ...window.unseen.map((each) => `no sign of the focus on ${name(each)}`)];
    });
}

// Which links lead to nothing. A page of the site is there for every name: what it is about is asked of the API.
const findDead = (links) => page.evaluate(async (all) => {
    const dead = [];
    for (const link of all) {
        const { pathname: path, search } = new URL(link);
        const about = /^\/(place|create|studio|class|play)\/([^/]+)$/.exec(path);
        const api = { place: 'places', create: 'places', studio: 'places', class: 'classes', play: 'rooms' }[about?.[1]];
        for (const each of [path + search, ...api === undefined ? [] : [`/api/${api}/${about[2]}`]]) {
            const { status, body } = await fetch(each, { headers: { Accept: 'text/html' } });
            await body?.cancel();
            dead.push(...status === 200 ? [] : [`${status} ${each}`]);
        }
    }
    return dead;
}, [...links]);

test('every page of the site', async () => {
    const trouble = [];
    const links = new Set();
    for (const [name, path] of Object.entries(SITE)) {
        await page.setViewportSize(VIEWS.desk);
        await go(path());
        await loaded();
        trouble.push(...await look(name));
        trouble.push(...(await findKeyboardTrouble()).map((text) => `${name}: ${text}`));
        (await page.locator('a[href]:not([href^="#"])').evaluateAll((all) => all.filter((each) => each.origin === location.origin).map((each) => each.href.split('#')[0])))
            .forEach((link) => links.add(link));
        if (onlyInAll === false) { // in `make test` those of other files show it
            await page.emulateMedia({ colorScheme: 'dark' });
            await checkAccessible(page, `${name}, dark`);
            await page.emulateMedia({ colorScheme: 'light' });
            await checkAccessible(page, name);
        }
    }
    assert.deepEqual(trouble, []);
    assert.ok(links.size > 40, `${links.size} links`);
    assert.deepEqual(await findDead(links), [], 'links to nothing');
    assert.deepEqual(complaints, []);
});

// Nothing of a hostile text has become an element, and none is where the page should be.
const becameMarkup = () => page.evaluate(() => [...document.querySelectorAll('img[src="x"], main script')].map((each) => each.outerHTML));

// Fills every field that can be seen with it; those that are in no form, and those of the form at `index`.
async function fillHostile(index) {
    const fields = await page.locator('main').locator('input, textarea').elementHandles();
    for (const field of fields) {
        const may = await field.evaluate((each, at) => {
            const forms = [...document.querySelectorAll('main form')];
            return each.checkVisibility() && !each.disabled && !each.readOnly && ['text', 'search', 'password', 'textarea'].includes(each.type) &&
                (each.form === null || forms.indexOf(each.form) === at) ? each.maxLength : 0;
        }, index);
        if (may !== 0) {
            await field.fill(may > 0 ? HOSTILE.slice(0, may) : HOSTILE);
        }
    }
}

test('a hostile text in every field of every page stays a text', async () => {
    await page.setViewportSize(VIEWS.desk);
    const sent = new Set(); // what is not answered yet
    page.on('request', (request) => request.method() !== 'GET' && sent.add(request));
    page.on('response', (answer) => sent.delete(answer.request()));
    page.on('requestfailed', (request) => sent.delete(request));
    await go('/'); // from here by links, where the test above opens each page by its address
    for (const [name, path] of Object.entries(SITE)) {
        await follow(path());
        await loaded();
        const { url, forms } = await page.evaluate(() => ({ url: location.href, forms: document.querySelectorAll('main form').length }));
        for (let index = 0; index < Math.max(forms, 1); index++) {
            if (page.url() !== url) { // a form has led somewhere else
                assert.deepEqual(await becameMarkup(), [], `after ${name}`);
                await follow(path());
                await loaded();
            }
            await fillHostile(index);
            await page.evaluate((at) => document.querySelectorAll('main form')[at]?.requestSubmit(), index);
            await until('it is answered', () => page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => drawn(true))))
                .then(() => sent.size === 0, () => false)).catch((error) => { // a form may lead to another page
                throw new Error(`${name}: ${error.message}: ${[...sent].map((each) => `${each.method()} ${each.url()}`).join(' ')}`);
            });
            assert.deepEqual(await becameMarkup(), [], name);
        }
    }
    for (const name of ['discover', 'create', 'classes', 'account', 'manage', 'class', 'place', 'operator_people', 'operator_featured',
        'operator_jobs', 'operator_audit', 'operator_reports', 'operator_rules']) { // where it is shown now
        await follow(SITE[name]());
        await loaded();
        assert.deepEqual(await becameMarkup(), [], `${name}, later`);
    }
    assert.ok((await page.evaluate(async () => (await fetch('/api/me/places')).text())).includes('onerror'), 'there is a place of that name');
    assert.deepEqual(complaints, []);
});

test('signing in, as nobody', async () => {
    const before = page;
    const other = await (await openBrowser()).newContext({ viewport: VIEWS.desk, serviceWorkers: 'block' });
    page = await other.newPage();
    const trouble = [];
    for (const [name, path] of [['sign_in', '/account'], ['no_class', '/class'], ['no_create', '/create'], ['guest', '/']]) {
        await page.setViewportSize(VIEWS.desk);
        await go(path);
        await page.waitForSelector('main h1, main h2');
        trouble.push(...await look(name));
    }
    await other.close();
    page = before;
    assert.deepEqual(trouble, []);
});

// Each screen, and how one comes to it from the one before.
const menu = (button) => async ({ keyboard }) => {
    await keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    if (button !== null) {
        await page.getByRole('button', { name: button, exact: true }).press('Enter');
        await page.getByRole('dialog', { name: button }).waitFor();
    }
};
const away = async () => {
    for (let tries = 0; tries < 5 && await page.evaluate(() => document.activeElement?.tagName === 'INPUT' ||
        document.querySelector('dialog[open], [role=dialog]') !== null); tries++) {
        await page.keyboard.press('Escape');
    }
};
const GAME = {
    playing: async () => {},
    chat: async ({ keyboard }) => {
        await keyboard.press('Enter');
        await keyboard.type('Does anybody understand this incomprehensible underwater world?');
        await keyboard.press('Enter');
        await page.locator('#messages', { hasText: 'incomprehensible' }).waitFor();
    },
    menu: menu(null), settings: menu('Settings'), players: menu('Players'), invite: menu('Invite others'),
    overlay: async ({ keyboard }) => keyboard.press('Tab'),
};

const SHORT = ['playing', 'chat', 'settings'];

// A tab of the operator, who may write in the chat, in the world.
async function play(view, more = {}) {
    const own = await (await openBrowser()).newContext({ viewport: view, serviceWorkers: 'block', ...more });
    await own.addCookies(await context.cookies());
    page = await own.newPage();
    await drawSeldom(own);
    await go(`/play/${found.room}`);
    return own;
}

// `isShort`: a few screens at a desk, where another way to make texts larger goes through all of them.
async function lookAtGame(mode, prepare, isShort = false) {
    const trouble = [];
    const site = page;
    let own = await play(VIEWS.desk);
    await prepare();
    await page.waitForSelector('#enter');
    trouble.push(...await look(`${mode}_gate`));
    await page.locator('#enter').press('Enter');
    const isPlaying = () => page.evaluate(() => window.sandlot.inspect().phase === 'playing' &&
        document.querySelector('#loading').textContent === '');
    await until('she plays', isPlaying);
    for (const [name, open] of Object.entries(GAME).filter(([each]) => !isShort || SHORT.includes(each))) {
        await page.setViewportSize(VIEWS.desk);
        await open(page);
        trouble.push(...await look(`${mode}_${name}`, name === 'overlay' ? '#numbers' : 'body'));
        await away();
    }
    await own.close();
    if (isShort) {
        page = site;
        return trouble;
    }
    own = await play(VIEWS.phone, { hasTouch: true, isMobile: true });
    await prepare();
    await page.locator('#enter').tap();
    await until('she plays', isPlaying);
    for (const name of ['touch', 'touch_chat']) {
        if (name === 'touch_chat') {
            await page.getByRole('button', { name: 'Chat' }).tap();
        }
        const seen = await findTextTrouble(page);
        trouble.push(...seen.map((text) => `${mode}_${name}: ${text}`));
        await picture(page, { path: join(screens, `text_${mode}_${name}.png`) });
    }
    await own.close();
    page = site;
    return trouble;
}

test('every screen of the game, by the browser', async () => {
    assert.deepEqual(await lookAtGame('browser', async () => {}), []);
});

test('every screen of the game, by its own setting', async () => {
    const cookies = await context.cookies();
    await closeBrowser();
    context = await (await openBrowser()).newContext();
    await context.addCookies(cookies);
    assert.deepEqual(await lookAtGame('setting', async () => {
        await page.evaluate(() => localStorage.setItem('sandlot.settings', JSON.stringify({ textSize: 2 })));
        await page.reload();
    }, onlyInAll !== false), []);
});

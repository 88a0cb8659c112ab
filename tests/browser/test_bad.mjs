// Bad days in the real page: what it says when something that it needs is missing, breaks, or comes back.
//   node test_bad.mjs PROGRAM WEB PLACE SCREENS
// Long waits are made short: timers of more than HURRY_MS are due twenty times as soon, and clocks are
// moved by hand.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import {
    Player, Relay, SMALL, World, checkAccessible, closeBrowser, drawSeldom, onlyInAll, openBrowser, sleep,
    until,
} from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-bad-'));
const SIZES = { phone: { width: 375, height: 667 }, desk: { width: 1280, height: 720 } };
const HURRY = `{
    const real = self.setTimeout.bind(self);
    self.setTimeout = (work, ms, ...rest) => real(work, ms > 7000 ? ms / 20 : ms, ...rest);
}`;
const HOUR_MS = 3600_000;

// The whole server, with accounts; its place has room for two.
class Up extends World {
    static async make() {
        const path = join(mkdtempSync(join(folder, 'places-')), 'island');
        cpSync(place, path, { recursive: true, filter: (from) => !from.includes('.sandlot') });
        const about = JSON.parse(readFileSync(join(path, 'place.json'), 'utf8'));
        about.limits.players = 2;
        writeFileSync(join(path, 'place.json'), JSON.stringify(about));
        return this.start(join(path, '..'));
    }

    command() {
        return ['up', '--places', this.place];
    }
}

let world;
let up;
let relay;
let isSilent = false; // what the world says is lost on the way, and nobody is told

before(async () => {
    process.env.SECRET_KEY ??= 'a-key-of-this-test-alone-1';
    mkdirSync(screens, { recursive: true });
    [world, up] = await Promise.all([World.start(), Up.make(), openBrowser()]);
    relay = await Relay.start(world.port, (data) => isSilent ? Buffer.alloc(0) : data);
});

const closing = [];
afterEach(async () => {
    await Promise.all(closing.splice(0).map((each) => each.close().catch(() => {})));
});

after(async () => {
    relay?.stop();
    await Promise.all([world?.stop(), up?.stop()]);
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

// `change` runs in the page, `changeInWorker` in its worker, before they do anything.
const open = async (name, { port = relay.port, change = '', changeInWorker = '', before, ...rest } = {}) => {
    const player = await Player.open(port, name, {
        expectDrops: true,
        before: async (context, page) => {
            await page.addInitScript(`${HURRY};${change}`);
            page.on('worker', (worker) => worker.evaluate(`${HURRY};${changeInWorker}`).catch(() => {}));
            await before?.(context, page);
        },
        ...rest,
    });
    closing.push(player);
    return player;
};

// What a person reads there.
const says = (page, title, detail) => until(`it says ${title} ${detail}`, async () =>
    title.test(await page.textContent('#phase')) && detail.test(await page.textContent('#detail')));

// Both sizes are looked at by people; the world behind it is not drawn for that.
async function look(page, name) {
    await page.evaluate(() => { document.querySelector('#view').style.visibility = 'hidden'; });
    for (const [size, viewport] of Object.entries(SIZES)) {
        await page.setViewportSize(viewport);
        await page.screenshot({ path: join(screens, `bad_${name}_${size}.png`) });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}: ${wide} px too wide`);
    }
    await checkAccessible(page, name);
    await page.setViewportSize(SMALL);
    await page.evaluate(() => { document.querySelector('#view').style.visibility = ''; });
}

const moveClock = (ms) => {
    const real = performance.now.bind(performance);
    performance.now = () => real() + ms;
};
const workerOf = (player) => player.page.workers()[0];
const connections = async (player) => (await player.inspect()).link.connections;
const phaseOf = (page) => page.evaluate(() => window.sandlot.inspect().phase);

test('without WebGL the page says so, and starts when there is some', async () => {
    const context = await (await openBrowser()).newContext({ viewport: SMALL });
    closing.push(context);
    const page = await context.newPage();
    await page.addInitScript(() => {
        if (sessionStorage.getItem('draws') === null) {
            HTMLCanvasElement.prototype.getContext = () => null;
        }
    });
    await page.goto(`http://127.0.0.1:${relay.port}/play`);
    await says(page, /cannot draw/, /WebGL 2.*hardware acceleration/);
    assert.ok(await page.isHidden('#join'));
    assert.ok(await page.isVisible('#leave a'), 'there is a way on');
    await look(page, 'webgl');
    await page.evaluate(() => sessionStorage.setItem('draws', '1'));
    await page.click('#again');
    await page.waitForSelector('#name', { state: 'visible' });
});

test('a core that does not come, or comes in part, or may not run, and a worker that does not', async () => {
    for (const [path, detail, serve] of [
        ['**/*.wasm', /could not be fetched.*\.wasm/, (route) => route.abort()],
        ['**/*.wasm', /arrived damaged/, async (route) => {
            const answer = await route.fetch();
            await route.fulfill({ response: answer, body: (await answer.body()).subarray(0, 90_000) });
        }],
        ['**/assets/worker-*.js', /part of the page/, (route) => route.abort()],
    ]) {
        const ada = await open('Ada', { before: (context) => context.route(path, serve) });
        await says(ada.page, /could not be loaded/, detail);
        await ada.context.unroute(path);
        await ada.page.click('#again');
        await ada.playing();
        assert.deepEqual(ada.complaints, []);
        await ada.close();
    }
    const bo = await open('Bo', { changeInWorker: 'delete self.WebAssembly' });
    await says(bo.page, /could not be loaded/, /does not run WebAssembly.*another browser/);
    await look(bo.page, 'core');
});

test('where nothing may be stored one plays all the same', async () => {
    for (const [name, change, changeInWorker] of [
        ['forbidden', `for (const kind of ['localStorage', 'sessionStorage', 'indexedDB']) {
            Object.defineProperty(window, kind, {
                get() { throw new DOMException('denied', 'SecurityError'); },
            });
        }`, 'Object.defineProperty(self, "indexedDB", { value: undefined })'],
        ['full', `Storage.prototype.setItem = () => {
            throw new DOMException('full', 'QuotaExceededError');
        }`, 'IDBFactory.prototype.open = () => { throw new DOMException("full", "QuotaExceededError"); }'],
    ]) {
        const ada = await open('Ada', { change, changeInWorker });
        assert.match(await ada.page.textContent('#notes'), /keeps nothing/, name);
        await ada.playing();
        assert.equal((await ada.inspect()).cache.isOpen, false);
        assert.deepEqual(ada.complaints, [], name);
        if (name === 'full') {
            await ada.page.goto(`http://127.0.0.1:${relay.port}/play`);
            await look(ada.page, 'storage');
        }
        await ada.close();
    }
});

test('a lost picture, clocks that jump, an hour of sleep, a dead connection: one player through all', async () => {
    const ada = await open('Ada');
    const { page } = ada;
    await ada.playing();
    const { id } = await ada.stands();
    await page.evaluate(() => {
        window.loser = document.querySelector('#view').getContext('webgl2')
            .getExtension('WEBGL_lose_context');
        window.loser.loseContext();
    });
    const notice = page.locator('#notice');
    await until('she is told that it is lost, and then that it does not come back', async () =>
        /did not come back/.test(await notice.textContent()));
    assert.ok(await page.getByRole('button', { name: 'Load the page again' }).isVisible());
    await look(page, 'picture_lost');
    const draws = () => page.evaluate(() => {
        const gl = document.querySelector('#view').getContext('webgl2');
        return !gl.isContextLost() && gl.getError() === gl.NO_ERROR;
    });
    assert.equal(await draws(), false);
    await page.evaluate(() => window.loser.restoreContext());
    await notice.waitFor({ state: 'hidden' });
    await until('there is a picture again', draws);

    for (const hours of [1, -1]) { // the wall clock: nothing happens
        const jump = (ms) => {
            const real = Date.now;
            Date.now = () => real() + ms;
        };
        await Promise.all([workerOf(ada).evaluate(jump, hours * HOUR_MS),
            page.evaluate(jump, hours * HOUR_MS)]);
        await sleep(300);
        assert.equal((await ada.inspect()).phase, 'playing');
    }
    assert.equal(await connections(ada), 1);

    const told = [];
    await page.exposeFunction('toldTest', (text) => told.push(text));
    await page.evaluate(() => new MutationObserver(() =>
        window.toldTest(document.querySelector('#detail').textContent))
        .observe(document.querySelector('#detail'), { childList: true }));
    await workerOf(ada).evaluate(moveClock, HOUR_MS); // it goes on after an hour
    await until('she is connected again', async () => await connections(ada) === 2);
    await ada.playing();
    assert.ok(told.some((text) => /You were away/.test(text)), told.join('\n'));
    const back = await ada.stands();
    assert.equal(back.id, id, 'the same body');
    await ada.hold('w', 800);
    const walked = await ada.stands();
    assert.ok(Math.hypot(walked.x - back.x, walked.z - back.z) > 0.5, 'she walks');

    isSilent = true;
    try {
        for (let seconds = 0; seconds < 20; seconds += 4) { // less than what counts as sleep
            await workerOf(ada).evaluate(moveClock, 4000);
            await sleep(100);
        }
        await says(page, /One moment/, /not been heard/);
    } finally {
        isSilent = false;
    }
    relay.cut(); // what was lost on the way does not come later
    relay.mend();
    await ada.playing();
    assert.deepEqual(ada.complaints, []);
});

test('a host that restarts, and a network that goes and comes', { skip: onlyInAll }, async () => {
    const ada = await open('Ada');
    await ada.playing();
    const seconds = async () =>
        Number(/in (\d+) s/.exec(await ada.page.textContent('#countdown'))?.[1] ?? 0);
    await world.killHost();
    await says(ada.page, /One moment/, /cannot be reached.*restarting/);
    await until('it counts', async () => await seconds() >= 3);
    await look(ada.page, 'restart');
    await until('it counts', async () => await seconds() >= 3);
    await Promise.all([ada.page.waitForRequest('**/join', { timeout: 1500 }),
        ada.page.evaluate(() => document.querySelector('#now').click())]);
    await world.run();
    await ada.page.evaluate(() => document.querySelector('#now').click());
    await ada.playing();

    await ada.context.setOffline(true);
    await ada.page.waitForSelector('#notice');
    assert.match(await ada.page.textContent('#notice'), /offline/);
    relay.cut();
    await says(ada.page, /One moment/, /This device is offline/);
    relay.mend();
    await until('it waits', async () => await seconds() >= 3);
    await Promise.all([ada.page.waitForRequest('**/join', { timeout: 1500 }),
        ada.context.setOffline(false)]);
    await ada.playing();
    await ada.page.waitForSelector('#notice', { state: 'hidden' });
    assert.deepEqual(ada.complaints, []);
});

test('a second window takes the player over, and the first can have it back',
    async () => {
    const first = await open('Ada', { port: up.port });
    await first.playing();
    await drawSeldom(first.context);
    const second = await first.context.newPage();
    await second.goto(first.page.url());
    await until('she is known', async () => /You are/.test(await second.textContent('#intro')));
    await second.click('#enter');
    await says(first.page, /somewhere else/, /another window of this browser/);
    await until('the second plays', async () => await phaseOf(second) === 'playing');
    await look(first.page, 'replaced');
    assert.equal(await phaseOf(first.page), 'closed', 'the two do not take turns');
    await first.page.getByRole('button', { name: 'Play here instead' }).click();
    await first.playing();
    await says(second, /somewhere else/, /another window of this browser/);

    // Another browser, with the same sign-in.
    const third = await (await openBrowser()).newContext({
        viewport: SMALL, storageState: await first.context.storageState(),
    });
    closing.push(third);
    await drawSeldom(third);
    await first.page.evaluate(moveClock, 11_000); // the second window's word is old then
    const page = await third.newPage();
    await page.goto(first.page.url());
    await page.click('#enter');
    await says(first.page, /somewhere else/, /another browser or another device/);
});

// A guest who is in a world by a socket of their own.
async function sit(wish) {
    const post = async (path, body, headers = {}) => (await fetch(`http://127.0.0.1:${up.port}${path}`, {
        method: 'POST', body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', ...headers },
    })).json();
    const { session_token: token } = await post('/login', {});
    const ticket = await post('/join', wish, { Authorization: `Bearer ${token}` });
    assert.ok(ticket.ticket, JSON.stringify(ticket));
    const socket = new WebSocket(`${ticket.server_address}?token=${ticket.ticket}`, 'sandlot.v2.json');
    await new Promise((done, failed) => {
        socket.addEventListener('message', done, { once: true });
        socket.addEventListener('close', failed, { once: true });
    });
    return { room: ticket.room_code, leave: () => socket.close(1000) };
}

test('an address of no world says so at once, with the box for the right code', async () => {
    const context = await (await openBrowser()).newContext({ viewport: SMALL });
    closing.push(context);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${up.port}/play/ZZZZZZ`);
    await page.getByRole('heading', { name: 'There is no world ZZZZZZ' }).waitFor();
    assert.ok(!await page.locator('#enter').isVisible(), 'nobody can press Play');
    assert.ok(await page.getByRole('link', { name: 'To the start page' }).isVisible());
    await look(page, 'no_world');
    await page.getByLabel('Room code').fill('zzz-zzy');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'There is no world ZZZZZY' }).waitFor();
});

test('a full world offers others, counts, and lets in as soon as there is room',
    async () => {
    let ann = await sit({ place_id: 'place_island' });
    // Somebody of the test before may still have a body there; then the world is full now.
    const ben = await sit({ world_id: ann.room }).catch(async () => {
        ann = await sit({ place_id: 'place_island' });
        return sit({ world_id: ann.room });
    });
    const cat = await sit({ place_id: 'place_island' });
    assert.equal(ben.room, ann.room);
    assert.notEqual(cat.room, ann.room);
    const [bo, cy] = await Promise.all(['Bo', 'Cy'].map((name) =>
        open(name, { port: up.port, query: `play/${ann.room}` })));
    for (const { page } of [bo, cy]) {
        await says(page, /world is full/, /as soon as somebody leaves/);
        await page.waitForSelector('#others li');
    }
    await look(bo.page, 'full');
    // One cancels and then goes elsewhere, one waits.
    await bo.page.click('#cancel');
    await says(bo.page, /not in the world/, /cancelled/);
    assert.ok(await bo.page.isHidden('#others'));
    await bo.page.click('#again');
    await bo.page.locator('#others button').first().click();
    await bo.playing();
    assert.ok(bo.page.url().endsWith(`/play/${cat.room}`), bo.page.url());
    assert.match(await cy.page.textContent('#countdown'), /Trying again in \d+ s/);
    assert.notEqual((await cy.inspect()).phase, 'playing');
    ann.leave();
    await cy.playing();
    assert.ok(cy.page.url().endsWith(`/play/${ann.room}`), cy.page.url());
    [ben, cat].forEach((each) => each.leave());
    assert.deepEqual([...bo.complaints, ...cy.complaints], []);
});

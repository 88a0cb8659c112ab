// Two machines on a school's network: the server on one of them, under a plain http address, and a
// browser on the other. Each is a network namespace of its own, which needs root.
//   node test_accounts.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';

import { Player, SMALL, closeBrowser, openBrowser, sleep, until } from './support.mjs';

const [program, web, place] = process.argv.slice(2);
// Others may run this test at the same time.
const SERVER = `sandlot-server-${process.pid}`;
const SCHOOL = `sandlot-school-${process.pid}`;
const HOST = '10.77.77.1';
const PORT = 5000;
const SITE = `http://${HOST}:${PORT}`;
const folder = mkdtempSync(join(tmpdir(), 'sandlot-accounts-'));

const ip = (...words) => execFileSync('ip', words, { stdio: 'pipe' });
// Not `ip netns exec`, which mounts, and fails where the root directory is no mount point.
const inside = (name, ...words) => [`--net=/run/netns/${name}`, '--', ...words];
const run = (name, ...words) => execFileSync('nsenter', inside(name, ...words), { stdio: 'pipe' });

let server = null;
let output = '';

function connectNamespaces() {
    ip('netns', 'add', SERVER);
    ip('netns', 'add', SCHOOL);
    ip('link', 'add', 'sl-server', 'netns', SERVER, 'type', 'veth',
        'peer', 'name', 'sl-school', 'netns', SCHOOL);
    for (const [name, link, address] of [[SERVER, 'sl-server', HOST],
        [SCHOOL, 'sl-school', '10.77.77.2']]) {
        // Without an IPv6 address, which would become valid a second later: Chromium ends its requests then.
        run(name, 'ip', 'link', 'set', link, 'addrgenmode', 'none');
        run(name, 'ip', 'addr', 'add', `${address}/24`, 'dev', link);
        run(name, 'ip', 'link', 'set', link, 'up');
        run(name, 'ip', 'link', 'set', 'lo', 'up');
    }
}

function removeNamespaces() {
    for (const name of [SERVER, SCHOOL]) {
        try {
            ip('netns', 'del', name);
        } catch {
            // it was not there
        }
    }
}

// What another machine gets; curl, because the test itself is on neither of them.
function ask(...words) {
    return execFileSync('nsenter', inside(SCHOOL, 'curl', '-s', '--max-time', '10', ...words),
        { encoding: 'utf8' });
}

// Whoever is not root sees these named as not run.
const needs = { skip: process.getuid() === 0 ? false : 'network namespaces need root' };

before(async () => {
    if (needs.skip) {
        return;
    }
    removeNamespaces();
    connectNamespaces();
    server = spawn('nsenter', inside(SERVER, program, 'up', '--data', join(folder, 'data'), '--places',
        dirname(place), '--web', web, '--allow-weak-jail', '--registration', 'open'), {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, HOST, PORT: String(PORT), SECRET_KEY: 'a-key-of-this-test-alone-1' },
    });
    for (const stream of [server.stdout, server.stderr]) {
        stream.on('data', (data) => { output += data; });
    }
    await until('the server is ready', () => {
        try {
            return ask(`${SITE}/readyz`).includes('ready');
        } catch {
            return false;
        }
    }).catch((error) => { throw new Error(`${error.message}\n${output}`); });
    // The browser is on the other machine.
    const wrapper = join(folder, 'chromium');
    writeFileSync(wrapper, `#!/bin/sh\nexec nsenter ${inside(SCHOOL).join(' ')} ` +
        `${process.env.CHROMIUM ?? '/usr/bin/chromium'} "$@"\n`);
    chmodSync(wrapper, 0o755);
    await openBrowser(wrapper);
});

after(async () => {
    if (needs.skip) {
        return;
    }
    await closeBrowser();
    if (server !== null) {
        const ended = new Promise((done) => server.once('exit', done));
        server.kill('SIGTERM');
        await Promise.race([ended, sleep(8000)]);
        server.kill('SIGKILL');
    }
    removeNamespaces();
    rmSync(folder, { recursive: true, force: true });
});

test('a guest plays, and a friend comes by the address of the page', needs, async () => {
    const ada = await Player.open(PORT, 'Ada', { host: HOST });
    const bo = new Player();
    try {
        await ada.playing();
        await until('the address names the room', () => /\/play\/[A-Z0-9]+$/.test(ada.page.url()));
        const [cookie] = await ada.context.cookies();
        assert.equal(cookie.name, 'sandlot');
        assert.ok(cookie.httpOnly);
        assert.equal(cookie.sameSite, 'Lax');
        const kept = await ada.page.evaluate(() => JSON.stringify({ ...localStorage }) +
            document.cookie);
        assert.ok(!kept.includes(cookie.value), 'no script can read the sign-in');
        const friend = await Player.open(PORT, 'Bo',
            { query: new URL(ada.page.url()).pathname.slice(1), host: HOST });
        Object.assign(bo, friend);
        await friend.playing();
        assert.equal(friend.page.url(), ada.page.url());
        const { id } = await ada.position();
        await until('they see each other', () => friend.sees(id));
        await ada.screenshot('accounts_guest');
        assert.deepEqual([...ada.complaints, ...friend.complaints], []);
    } finally {
        await ada.close();
        await bo.context?.close();
    }
});

test('an account is made by a form without JavaScript, and then plays under its name', needs,
    async () => {
    const browser = await openBrowser();
    const plain = await browser.newContext({ javaScriptEnabled: false });
    try {
        const page = await plain.newPage();
        await page.goto(`${SITE}/account`);
        const form = page.locator('form[action="/register"]');
        await form.locator('[name=username]').fill('grace');
        await form.locator('[name=password]').fill('a sea of violets');
        await form.locator('button, [type=submit]').first().click();
        await page.waitForLoadState();
        assert.match(await page.textContent('body'), /grace/);
        await page.screenshot({ path: join(process.argv[5], 'accounts_registered.png') });
        const state = await plain.storageState();
        const context = await browser.newContext({ storageState: state,
            viewport: SMALL });
        const game = await context.newPage();
        await game.goto(`${SITE}/play`);
        await until('the page knows her', async () =>
            /grace/.test(await game.textContent('#intro')));
        await game.screenshot({ path: join(process.argv[5], 'accounts_gate.png') });
        await game.click('#enter');
        await until('grace plays', async () =>
            (await game.evaluate(() => window.sandlot.inspect())).phase === 'playing');
        await context.close();
    } finally {
        await plain.close();
    }
});

test('the address of a beta asks for the beta, which a guest may not play', needs, async () => {
    const guest = await Player.open(PORT, 'Kit', { query: 'play?place=place_island&channel=beta', host: HOST });
    try {
        await until('the page says why', async () =>
            /beta/.test(await guest.page.textContent('#detail')));
    } finally {
        await guest.close();
    }
});

test('a page of another site gets nothing with her cookie', needs, () => {
    const guest = JSON.parse(ask('-XPOST', `${SITE}/login`, '-d', '{}'));
    const cookie = `Cookie: sandlot=${guest.session_token}`;
    const status = (...words) => Number(ask('-o', '/dev/null', '-w', '%{http_code}', '-XPOST',
        `${SITE}/join`, '-d', '{}', '-H', cookie, ...words));
    assert.equal(status('-H', 'X-Sandlot: 1', '-H', 'Origin: http://evil.test'), 403);
    assert.equal(status('-H', 'X-Sandlot: 1'), 403, 'without Origin');
    assert.equal(status('-H', `Origin: ${SITE}`), 403, 'without the header');
    assert.equal(status('-H', 'X-Sandlot: 1', '-H', `Origin: ${SITE}`,
        '-H', 'Host: evil.test'), 421);
    assert.equal(status('-H', 'X-Sandlot: 1', '-H', `Origin: ${SITE}`), 200);
});

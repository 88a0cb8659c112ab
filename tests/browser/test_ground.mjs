// The ground of the page: what it weighs, what its loading screen says, and how it is kept, installed and
// replaced by a newer one.
//   node test_ground.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import { slowLink } from '../../bench/slow_link.mjs';
import { Player, Relay, SMALL, World, checkAccessible, closeBrowser, onlyInAll, openBrowser, until } from './support.mjs';

const [, web, place, screens] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-ground-'));
const pages = join(folder, 'web'); // a copy that is built anew while it is served
const SCRIPT_BYTES_MAX = 200_000; // packed with gzip, before the first picture
const SLOW = 4_000_000 / 8;

let world;
let relay;

before(async () => {
    mkdirSync(screens, { recursive: true });
    cpSync(web, pages, { recursive: true });
    [world] = await Promise.all([World.start(place, () => [], pages), openBrowser()]);
    relay = await Relay.start(world.port);
});

const closing = [];
afterEach(async () => {
    await Promise.all(closing.splice(0).map((each) => each.close().catch(() => {})));
});

after(async () => {
    relay?.stop();
    await world?.stop();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
});

test('few scripts, nothing from elsewhere, and a loading screen with true numbers', async (t) => {
    const link = await slowLink(world.port, SLOW);
    t.after(() => link.stop());
    link.holds = /\.wasm$/; // a part of the core is here, however late the name is typed
    const asked = [];
    let goOn;
    const isLooked = new Promise((done) => { goOn = done; });
    const ada = await Player.open(link.port, 'Ada', {
        before: async (context, page) => {
            // The scene waits until the loading screen was looked at.
            await context.route(/\/(blob|packed)\//, async (route) => {
                await isLooked;
                await route.continue();
            });
            context.on('request', (request) => asked.push(request.url()));
            await page.addInitScript(() => {
                window.said = new Set();
                addEventListener('DOMContentLoaded', () => {
                    const line = document.querySelector('#downloads');
                    new MutationObserver(() => window.said.add(line.textContent))
                        .observe(line, { childList: true });
                });
            });
        },
    });
    closing.push(ada);
    await ada.page.locator('#downloads', { hasText: 'Game' }).waitFor();
    link.holds = null;
    await ada.page.setViewportSize({ width: 375, height: 667 });
    await ada.page.screenshot({ path: join(screens, 'ground_loading_phone.png') });
    await checkAccessible(ada.page, 'the loading screen');
    assert.ok(await ada.page.locator('#downloads').isVisible(), 'it was still there');
    await ada.page.setViewportSize(SMALL);
    goOn();
    await ada.playing();
    assert.match(await ada.page.title(), / · Sandlot$/);

    const said = await ada.page.evaluate(() => [...window.said].join('\n'));
    const size = (path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
    const core = readdirSync(join(web, 'assets')).find((name) => name.endsWith('.wasm'));
    assert.match(said, new RegExp(`Game: [0-9.]+ (kB|MB) of ${size(join(web, 'assets', core))}`));
    const { downloads } = await ada.inspect();
    assert.match(said, /World: [0-9.]+ (kB|MB)/);
    assert.ok(downloads.sceneBytes > 0 && downloads.sceneHave === downloads.sceneBytes);

    const elsewhere = asked.filter((url) => !/^(blob:)?http:\/\/127\.0\.0\.1:/.test(url) ||
        new URL(url.replace('blob:', '')).port !== String(link.port));
    assert.deepEqual(elsewhere, []);
    // Effects and their lights are asked for with the first picture, sounds and their words with the first key.
    const scripts = [...new Set(asked.map((url) => new URL(url).pathname))]
        .filter((path) => path.endsWith('.js') && !/^\/assets\/(effects|PointLight|sound_|words_later)/.test(path));
    const bytes = scripts.reduce((sum, path) => sum + statSync(join(web, `${path}.gz`)).size, 0);
    console.log(`# ${bytes} bytes of scripts before the first picture: ${scripts.join(' ')}`);
    assert.ok(scripts.length >= 2 && bytes <= SCRIPT_BYTES_MAX, `${bytes} bytes: ${scripts.join(' ')}`);
    assert.deepEqual(ada.complaints, []);
});

// As a build makes it: other scripts, which name each other, and pages and a service worker that name them.
function buildAnew() {
    const scripts = readdirSync(join(pages, 'assets')).filter((name) => name.endsWith('.js'));
    const renewed = (text) => scripts.reduce((sum, name) => sum.replaceAll(name, newer(name)), text);
    for (const name of scripts) {
        writeFileSync(join(pages, 'assets', newer(name)),
            renewed(readFileSync(join(pages, 'assets', name), 'utf8')));
    }
    for (const name of ['index.html', 'site.html', 'service-worker.js']) {
        writeFileSync(join(pages, name), renewed(readFileSync(join(pages, name), 'utf8')));
        rmSync(join(pages, `${name}.br`), { force: true });
        rmSync(join(pages, `${name}.gz`), { force: true });
    }
    return scripts.find((name) => name.startsWith('index-'));
}

const newer = (name) => name.replace(/\.js$/, '-newer.js');

const keptFiles = (page) => page.evaluate(async () => {
    const cache = await caches.open('sandlot-files');
    return (await cache.keys()).map(({ url }) => new URL(url).pathname).sort();
});

test('files are kept, a newer page is told and used after a reload, and the old files go', { skip: onlyInAll },
    async () => {
    const context = await (await openBrowser()).newContext({ viewport: SMALL });
    closing.push(context);
    const { page } = await Player.open(relay.port, 'Ada', { context, expectDrops: true });
    const enter = async (tab) => {
        await tab.fill('#name', 'Ada');
        await tab.press('#name', 'Enter');
        await until('she plays', () => tab.evaluate(() => window.sandlot?.inspect().own[0] === 1));
    };
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    await page.reload();
    await enter(page);
    assert.ok(await page.evaluate(() => navigator.serviceWorker.controller !== null));
    const kept = await until('the files are kept', async () => {
        const list = await keptFiles(page);
        return list.length >= 4 && list;
    });
    assert.ok(kept.every((path) => path.startsWith('/assets/')), `no page, no answer: ${kept}`);

    const old = buildAnew();
    relay.cut(); // as when a server is replaced
    relay.mend();
    const notice = page.locator('#notice');
    await until('she is told', async () => /new version/.test(await notice.textContent()));
    assert.equal(await page.evaluate(() => window.sandlot.inspect().own[0]), 1, 'the old page goes on');
    const loaded = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await until('it is the new page', () => page.evaluate((name) =>
        document.querySelector('script')?.src.endsWith(`/assets/${name}`) && window.sandlot !== undefined,
    newer(old)).catch(() => false));
    assert.ok(!loaded.includes(`/assets/${old}`), 'nothing of the old one');
    await enter(page);
    await until('the new worker waits for the old pages to go', () => page.evaluate(async () =>
        (await navigator.serviceWorker.getRegistration()).waiting !== null));

    const other = await context.newPage();
    await page.close();
    // The browser lets the new worker take over when it has noticed that no tab of the old build is left.
    await until('what nobody needs is gone', async () => {
        await other.goto('about:blank');
        await other.goto(`http://127.0.0.1:${relay.port}/play`);
        return !(await keptFiles(other)).includes(`/assets/${old}`);
    });
});

test('it can be installed', async () => {
    const context = await (await openBrowser()).newContext({ viewport: SMALL });
    closing.push(context);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${relay.port}/play`);
    const client = await context.newCDPSession(page);
    const { errors, url, data } = await client.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    assert.match(url, /\/manifest\.webmanifest$/);
    const { icons, start_url: start, name } = JSON.parse(data);
    assert.deepEqual([start, name], ['/', 'Sandlot']);
    for (const { src, sizes, type } of icons) {
        const answer = await fetch(`http://127.0.0.1:${relay.port}${src}`);
        assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type]);
        const drawn = await page.evaluate(async (path) => {
            const image = new Image();
            image.src = path;
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }, src);
        assert.ok(sizes === 'any' || drawn.join('x') === sizes, `${src}: ${drawn}`);
    }
    const { installabilityErrors } = await client.send('Page.getInstallabilityErrors');
    assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito'), []);
});

// What the tests of the Studio have in common: the program with accounts, pages that record what goes wrong, and steps
// of which each goes on where the one before it ended.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';

import { World, openBrowser, sleep, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);

export class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open'];
    }
}

export async function openPage(port, viewport, options = {}, host = '127.0.0.1') {
    const context = await (await openBrowser()).newContext({ viewport, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of 4\d\d/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
    return { context, page, complaints, go: (path) => page.goto(`http://${host}:${port}${path}`) };
}

export const ask = (page, method, path, body) => page.evaluate(async ([m, p, b]) => {
    const answer = await fetch(p, {
        method: m, headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
        ...(b === undefined ? {} : { body: JSON.stringify(b) }),
    });
    return { status: answer.status, body: await answer.json().catch(() => null) };
}, [method, path, body]);

// The operator's account is made by a link that the program prints.
export async function register(page, username, invitation = undefined) {
    return (await ask(page, 'POST', '/register', { username, password: 'a sea of violets', ...(invitation === undefined ? {} : { invitation }) })).status;
}

export const studio = (page, read, value) => page.evaluate(read, value);

export const drawn = (page) => until('it is drawn', () => studio(page, () => window.studio?.view?.cost.pictures > 0));

export async function openStudio({ go, page }, id, query = '') {
    await go(`/studio/${id}${query}`);
    await page.waitForSelector('.studio canvas');
    await drawn(page);
}

export const shot = async (page, name) => {
    mkdirSync(screens, { recursive: true });
    await page.screenshot({ path: join(screens, `${['studio', name].filter((part) => part !== '').join('_')}.png`) });
};
export const saved = (page) => until('everything is saved', () => studio(page, () => window.studio.saved.value === 'saved'));
export const find = (page, name) => page.evaluate((wanted) => window.studio.document.find(wanted)
    .map((each) => window.studio.document.entity(each)).filter((each) => each.name === wanted), name);

// Where something is in the window: the middle of an entity (its name), or a point of the world.
export async function spotOf(page, what) {
    const box = await page.locator('.stage canvas').boundingBox();
    const [x, y] = await studio(page, (wanted) => {
        const { view, rows, document: doc } = window.studio;
        const point = typeof wanted === 'string'
            ? rows.get(doc.find(wanted).find((id) => doc.name(id) === wanted)).position : wanted;
        const at = view.rig.camera.position.clone().set(...point).project(view.rig.camera);
        return [(at.x + 1) / 2, (1 - at.y) / 2];
    }, what);
    return { x: box.x + x * box.width, y: box.y + y * box.height };
}

// Another tab of `user` drags something by a handle and its process dies in it (Page.crash). What the others see then: how
// much of the drag is missing, in ms and in places. The same numbers are in bench_studio.
const DRAG_MS = 2600;
const DRAG_PLACES = 12; // at least, on a machine that is busy with more
export async function killInDrag(port, user, id, name) {
    const other = await openPage(port, { width: 900, height: 420 }, { storageState: await user.context.storageState() });
    await openStudio(other, id);
    const places = [];
    await other.page.exposeFunction('dragMoved', (ms, x) => places.push([ms, x]));
    await studio(other.page, (wanted) => { // the controls' own handler, as if the x arrow was held
        const { view, document: doc, grid, tool } = window.studio;
        grid.value = 0;
        tool.value = 'move';
        window.studio.select([doc.find(wanted).find((each) => doc.name(each) === wanted)]);
        view.focus(window.studio.selection.value);
        const preview = view.preview.bind(view);
        view.preview = (rows) => {
            preview(rows);
            window.dragMoved(Date.now(), rows[0].position[0]);
        };
        const { gizmo } = view;
        gizmo.begin();
        let x = 0;
        setInterval(() => {
            x += 0.05;
            gizmo.proxy.position.x = gizmo.start.position.x + x;
            gizmo.drag(false);
        }, 20);
    }, name);
    await sleep(DRAG_MS);
    await until('it has moved', () => places.length >= DRAG_PLACES);
    const session = await other.context.newCDPSession(other.page);
    let isDead = false;
    other.page.once('crash', () => { isDead = true; });
    void session.send('Page.crash').catch(() => undefined);
    await until('the tab is dead', () => isDead);
    await sleep(1000);
    await other.context.close().catch(() => undefined);
    await openStudio(user, id);
    await saved(user.page);
    const [{ transform: { position: [x] } }] = await find(user.page, name);
    const kept = places.filter(([, each]) => each <= x + 1e-3);
    return { pictures: places.length, kept: kept.length, ms: (places.at(-1)?.[0] ?? 0) - (kept.at(-1)?.[0] ?? 0) };
}

let hasFailed = false;
export const step = (name, act, options = {}) => test(name, options, async (t) => {
    if (hasFailed) {
        t.skip('an earlier one failed');
        return;
    }
    hasFailed = true;
    await act();
    hasFailed = false;
});

// The Studio as people use it: from a new account and a template to a published place; two people in one
// document; what is wrong is found by a click; keys alone; ten thousand parts.
//   node test_studio.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { gzipSync } from 'node:zlib';

import { Up, ask, find, killInDrag, openPage as newPage, openStudio as openAt, register, saved, shot, spotOf, step, studio } from './studio.mjs';
import { checkAccessible, closeBrowser, until } from './support.mjs';

const DESK = { width: 1280, height: 800 };
const SMALL = { width: 1024, height: 480 };
const PARTS = 10_000;
let up = null;
let own = null; // of the newcomer
let id = '';

const openPage = (viewport, options) => newPage(up.port, viewport, options);
const openStudio = (user, query) => openAt(user, id, query);

before(async () => { up = await Up.start(); });
after(async () => {
    await closeBrowser();
    await up?.stop();
});

step('a newcomer makes a place from a template and opens it in the Studio', async () => {
    own = await openPage(SMALL);
    await own.go('/');
    assert.equal(await register(own.page, 'maker', /link=([\w-]+)/.exec(up.output)?.[1]), 200);
    await own.go('/create');
    await own.page.fill('#new-title', 'First steps');
    await own.page.click('input[value=blank]');
    await own.page.click('button:has-text("Make it")');
    await own.page.waitForURL(/\/create\/place_/);
    id = /place_[\w-]+/.exec(own.page.url())[0];
    const scripts = [];
    const keep = (answer) => {
        if (/\/assets\/.*\.js$/.test(answer.url())) {
            scripts.push(answer.body());
        }
    };
    own.page.on('response', keep);
    await own.page.click('a:has-text("Open in Studio")');
    await own.page.waitForSelector('.studio canvas');
    await until('it is drawn', () => studio(own.page, () => window.studio.view?.cost.pictures > 0));
    own.page.off('response', keep); // of a page that was left, no body can be read
    const bytes = (await Promise.all(scripts)).reduce((sum, each) => sum + gzipSync(each, { level: 9 }).length, 0);
    console.log(JSON.stringify({ scriptsGzipBytes: bytes }));
    assert.ok(bytes > 100_000 && bytes <= 300_000, `${bytes} bytes of scripts`);
    assert.equal(await own.page.textContent('.toolbar h1'), 'First steps');
});

step('inserts, drags by its handle and over the ground, colours, undoes and redoes', async () => {
    const { page } = own;
    await page.click('[data-kit=block]');
    await until('a block', async () => (await find(page, 'Block')).length === 1);
    await saved(page);
    const [block] = await find(page, 'Block');
    const spawn = await studio(page, () => [...window.studio.rows.values()].find(({ type }) => type === 3).position);
    assert.ok(Math.max(...[0, 2].map((i) => Math.abs(spawn[i] - block.transform.position[i]))) >= 3.9, 'not where people start');
    // Lost: nothing but sky, and a way back.
    await studio(page, () => {
        window.studio.view.rig.look(0, -600);
        window.studio.view.checkSight();
    });
    await page.waitForSelector('.lost');
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('Home');
    await page.waitForSelector('.lost', { state: 'detached' });
    await studio(page, () => window.studio.view.checkSight());
    assert.equal(await studio(page, () => window.studio.lost.value), '');
    // On the ground, in the middle of the picture: dragged from its middle to the side.
    const box = await page.locator('.stage canvas').boundingBox();
    const spot = await studio(page, () => {
        const { view, rows, selection } = window.studio;
        const at = view.rig.camera.position.clone().set(...rows.get(selection.value[0]).position).project(view.rig.camera);
        window.studio.tool.value = 'select';
        return [(at.x + 1) / 2, (1 - at.y) / 2];
    });
    const [x, y] = [box.x + spot[0] * box.width, box.y + spot[1] * box.height];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y + 10, { steps: 3 });
    await until('a part of the drag is stored', async () => {
        await page.mouse.move(x + 60 + Math.random() * 20, y + 15);
        return studio(page, () => window.studio.document.history.some(({ label }) => label === 'Move'));
    });
    await page.mouse.move(x + 90, y + 20, { steps: 3 });
    await page.mouse.up();
    await until('it moved', async () => {
        const [now] = await find(page, 'Block');
        return now.transform.position.join() !== block.transform.position.join();
    });
    const [moved] = await find(page, 'Block');
    assert.equal(moved.transform.position[1], block.transform.position[1], 'it stands on the ground');
    assert.equal(moved.transform.position[0] * 2 % 1, 0, 'on the grid');
    await saved(page);
    const drag = await studio(page, () => window.studio.document.history.filter(({ label }) => label === 'Move').map(({ step }) => step));
    assert.ok(drag.length > 1 && new Set(drag).size === 1, `one step: ${drag.join()}`);
    // From the floor, which is a thing too, a drag draws a box and moves nothing.
    const floor = await studio(page, () => [...window.studio.rows.values()].find(({ half }) => half[0] > 10).position);
    await studio(page, () => window.studio.select([]));
    const around = await spotOf(page, moved.transform.position);
    await page.mouse.move(around.x - 110, around.y + 80);
    await page.mouse.down();
    await page.mouse.move(around.x, around.y, { steps: 2 });
    assert.ok(await page.locator('.rubber').isVisible(), 'a box');
    await page.mouse.move(around.x + 110, around.y - 80, { steps: 2 });
    await page.mouse.up();
    await until('what is in the box is selected', () => studio(page, () =>
        window.studio.selection.value.some((each) => window.studio.document.name(each) === 'Block')));
    assert.deepEqual(await studio(page, () => [...window.studio.rows.values()].find(({ half }) => half[0] > 10).position), floor);
    await studio(page, () => window.studio.select([window.studio.document.find('Block')[0]]));
    const colour = page.locator('.member.type-colour input[type=text]').first();
    await colour.fill('#ff8800');
    await colour.press('Enter');
    await until('it is coloured', async () => (await find(page, 'Block'))[0].colour === '#ff8800');
    const size = page.locator('input[aria-label="Size y"]');
    await size.fill('2*3-1');
    await size.press('Enter');
    await until('a sum', async () => (await find(page, 'Block'))[0].shape.size[1] === 5);
    const bottom = await studio(page, () => {
        const { view: { gizmo }, tool, rows, selection } = window.studio;
        tool.value = 'scale';
        const { position, half } = rows.get(selection.value[0]);
        const placed = gizmo.place(gizmo.hold()[0], null, null, gizmo.proxy.scale.clone().set(1, 1, 1));
        gizmo.begin();
        const larger = gizmo.place(gizmo.held[0], null, null, gizmo.proxy.scale.clone().set(1, 2, 1));
        gizmo.held = [];
        tool.value = 'select';
        return [position[1] - half[1], placed.size[1], larger.size[1], larger.position.y - larger.size[1] / 2];
    });
    assert.deepEqual(bottom.slice(1), [5, 10, bottom[0]], 'sizing keeps it on the floor');
    await page.locator('.stage canvas').focus();
    await studio(page, () => { window.studio.tour.value = 7; });
    await page.waitForSelector('.tour');
    await page.keyboard.press('Control+z');
    await until('the size is undone', async () => (await find(page, 'Block'))[0].shape.size[1] === 1);
    await page.keyboard.press('Control+z');
    await until('the colour is undone', async () => (await find(page, 'Block'))[0].colour === '#4f8fd0');
    await page.keyboard.press('Control+z');
    await until('the whole drag is undone at once', async () =>
        (await find(page, 'Block'))[0].transform.position.join() === block.transform.position.join());
    assert.equal(await studio(page, () => window.studio.tour.value), 7, 'the tour waits until it is there again');
    for (let i = 0; i < 3; i++) {
        await page.keyboard.press('Control+y');
    }
    await until('the tour goes on', () => studio(page, () => window.studio.tour.value === 8));
    await studio(page, () => { window.studio.tour.value = -1; });
    await until('all is redone', async () => {
        const [now] = await find(page, 'Block');
        return now.shape.size[1] === 5 && now.colour === '#ff8800' &&
            now.transform.position.join() === moved.transform.position.join();
    });
    await saved(page);
});

step('what the toolbox inserts brings its script; the draft’s files have it', async () => {
    const { page } = own;
    // All of them: publishing compiles their scripts later on.
    for (const [kit, name] of [['spawn', 'Spawn2'], ['checkpoint', 'Checkpoint'], ['door', 'Door'], ['lift', 'Lift'], ['conveyor', 'Conveyor'],
        ['guard', 'Guard'], ['coin', 'Coin'], ['kill', 'KillBrick']]) {
        await page.click(`[data-kit=${kit}]`);
        await until(name, async () => (await find(page, name)).length === 1);
    }
    await saved(page);
    assert.deepEqual(await studio(page, () => window.studio.document.settings().contexts),
        { 'Workspace/Door': 'Server', 'Workspace/Lift': 'Server' });
    await page.waitForSelector('.scripts button:has-text("Workspace/Coin.lua")');
    await until('they are files of the draft', async () => {
        const { body } = await ask(page, 'GET', `/api/places/${id}/draft`);
        return ['Checkpoint', 'Door', 'Lift', 'Coin', 'KillBrick'].map((name) => `Workspace/${name}.lua`).every((path) => body.files.some((file) => file.path === path));
    });
    await until('and the scene', async () => {
        const text = await page.evaluate(async (path) => (await fetch(path)).text(), `/api/places/${id}/draft/files/scene.json`);
        return text.includes('"Coin"') && text.includes('#ff8800');
    });
    await page.click('.scripts button:has-text("Workspace/Coin.lua")');
    await page.waitForSelector('.script-pane');
    // Renamed while it is open, and deleted; each is one step back.
    const coin = async () => (await find(page, 'Coin'))[0].scriptRef.path;
    const isThere = (path) => until(path, () => studio(page, (wanted) => window.studio.files.hashOf(wanted) !== null, path));
    const scripts = (name) => page.locator(`.scripts button:has-text("Workspace/${name}.lua")`);
    await scripts('Coin').press('F2');
    await page.fill('.scripts .rename', 'Door');
    await page.press('.scripts .rename', 'Enter');
    await page.waitForSelector('.scripts .wrong:has-text("Workspace/Door.lua is there already")');
    await page.fill('.scripts .rename', 'Euro');
    await page.press('.scripts .rename', 'Enter');
    await isThere('Workspace/Euro.lua');
    await page.waitForSelector('.script-tab.current:has-text("Euro.lua")');
    assert.equal(await coin(), 'Workspace/Euro.lua');
    await page.click('.back');
    await page.keyboard.press('Control+z');
    await isThere('Workspace/Coin.lua');
    assert.equal(await coin(), 'Workspace/Coin.lua');
    await scripts('Door').press('Delete');
    await page.waitForSelector('.notice:has-text("1 thing still names it")');
    await until('it is a problem', () => studio(page, () => window.studio.problems.value.some(({ message }) => message.includes('Workspace/Door.lua'))));
    assert.deepEqual(await studio(page, () => window.studio.document.settings().contexts), { 'Workspace/Lift': 'Server' });
    await shot(page, 'script_files');
    await page.keyboard.press('Control+z');
    await isThere('Workspace/Door.lua');
    await until('no problem', () => studio(page, () => window.studio.problems.value.length === 0));
});

step('a second person sees changes and selections at once, and both keep their own undo', async () => {
    const other = await openPage(SMALL);
    await other.go('/');
    assert.equal(await register(other.page, 'friend'), 200);
    const added = await ask(own.page, 'PUT', `/api/places/${id}/team/friend`, { role: 'editor' });
    assert.ok(added.status < 300, JSON.stringify(added));
    await openStudio(other);
    await until('two are here', () => studio(own.page, () => window.studio.link.editors.value.length === 2));
    await other.page.click('[data-kit=wedge]');
    await until('the other one sees it', async () => (await find(own.page, 'Wedge')).length === 1);
    await until('and what is selected', () => studio(own.page, () =>
        [...window.studio.link.presence.value.values()].some(({ selection }) => selection.length === 1)));
    await shot(own.page, 'two');
    await own.page.click('[data-command=undo]');
    await until('one takes back one’s own', async () => (await find(other.page, 'KillBrick')).length === 0);
    assert.equal((await find(other.page, 'Wedge')).length, 1);
    await own.page.click('[data-command=redo]');
    await until('and does it again', async () => (await find(other.page, 'KillBrick')).length === 1);
    const hashes = await Promise.all([own, other].map(({ page }) =>
        studio(page, () => String(window.studio.document.hash()))));
    assert.equal(hashes[0], hashes[1]);
    assert.deepEqual(other.complaints, []);
    await other.context.close();
    await until('one is left', () => studio(own.page, () => window.studio.link.editors.value.length === 1));
});

step('a problem is shown, found by a click, and mended', async () => {
    const { page } = own;
    await page.evaluate(() => window.studio.document.edit('Set Texture', [{
        op: 'set', member: 'texture', ids: [window.studio.document.find('Wedge')[0]], value: 'nowhere.png' }]));
    await page.evaluate(() => window.studio.select([]));
    await page.click('.status button.wrong:has-text("1 problem")');
    await page.click('#bottom-panel button:has-text("Wedge")');
    await until('it is selected', () => studio(page, () =>
        window.studio.document.name(window.studio.selection.value[0] ?? 0) === 'Wedge'));
    await page.click('[aria-label="Texture: as by default"]');
    await until('no problems', () => studio(page, () => window.studio.problems.value.length === 0));
    await page.click('#tab-problems');
});

step('keys alone: the palette, the tree, renaming, grouping', async () => {
    const { page } = own;
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('Shift+H');
    await page.waitForSelector('#tree-search:focus');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    await page.keyboard.press('F2');
    await page.waitForSelector('.rename:focus');
    await page.keyboard.type('Beginning');
    await page.keyboard.press('Enter');
    await until('renamed', async () => (await find(page, 'Beginning')).length === 1);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('select everything');
    await page.keyboard.press('Enter');
    await until('selected', () => studio(page, () => window.studio.selection.value.length > 3));
    await page.keyboard.press('Control+g');
    await until('grouped', async () => (await find(page, 'Group')).length === 1);
    await page.keyboard.press('Control+z');
    await until('and not any more', async () => (await find(page, 'Group')).length === 0);
    // Arrows move as one sees it, and several presses are one step.
    const wedge = async () => (await find(page, 'Wedge'))[0].transform.position;
    const before = await wedge();
    await studio(page, () => {
        window.studio.select([window.studio.document.find('Wedge')[0]]);
        window.studio.view.rig.orbit(Math.PI / 0.005, 0); // from behind
    });
    await page.locator('.stage canvas').focus();
    await studio(page, () => ['ArrowRight', 'ArrowRight', 'PageUp'].forEach((key) => // one right after the other, however busy the machine is
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }))));
    await until('moved', async () => (await wedge()).join() === [before[0] - 1, before[1] + 0.5, before[2]].join());
    await page.keyboard.press('Control+z');
    await until('one step', async () => (await wedge()).join() === before.join());
    await page.keyboard.press('Home');
    // What gets another parent stays where it is in the world, and so it does when the group is taken apart.
    const worldOf = () => studio(page, () => window.studio.rows.get(window.studio.document.find('Wedge')[0]));
    const there = await worldOf();
    await page.setViewportSize(DESK); // all rows of the tree are in sight
    await studio(page, () => {
        const { document: doc } = window.studio;
        doc.edit('Group', [{ op: 'create', entity: { id: doc.newId(), type: 'group', name: 'Turned', transform: { position: [5, 1, -2], rotation: [0, 30, 0] } } }]);
        window.studio.side.value = 'tree';
        window.studio.select([doc.find('Wedge')[0]]);
    });
    const row = (name) => page.locator('[role=treeitem]', { hasText: new RegExp(`${name}$`) });
    const close = (now) => ['position', 'rotation'].every((what) => now[what].every((each, i) => Math.abs(each - there[what][i]) < 2e-3));
    await row('Wedge').dragTo(row('Turned'));
    await until('it has a parent', async () => (await find(page, 'Wedge'))[0].parent === (await find(page, 'Turned'))[0].id);
    assert.ok(close(await worldOf()), JSON.stringify([there, await worldOf()]));
    await studio(page, () => window.studio.select([window.studio.document.find('Turned')[0]]));
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('Control+Shift+g');
    await until('taken apart', async () => (await find(page, 'Wedge'))[0].parent === undefined && (await find(page, 'Turned')).length === 0);
    assert.ok(close(await worldOf()), JSON.stringify([there, await worldOf()]));
    for (let i = 0; i < 3; i++) {
        await page.keyboard.press('Control+z');
    }
    await until('all as before', async () => (await find(page, 'Turned')).length === 0 && (await wedge()).join() === before.join());
    await page.click('#side-insert');
    await page.setViewportSize(SMALL);
});

step('several at once, the parameters that a script names, and the handles: axes of the thing, angles, single cubes', async () => {
    const { page } = own;
    await studio(page, () => window.studio.files.write('Workspace/Spin.lua', new TextEncoder().encode(
        '-- turns\nlocal parameters = { speed = 2.5, loop = false, -- how\n    sound = "hum" }\nfunction onStart(self) print(self.params.speed) end\n'), null, 'Write'));
    await studio(page, () => {
        const { document: doc } = window.studio;
        window.studio.tool.value = 'select';
        doc.edit('Set', [{ op: 'set', member: 'scriptRef.path', ids: [doc.find('Block')[0], doc.find('Wedge')[0]], value: 'Workspace/Spin.lua' }]);
        window.studio.select([doc.find('Block')[0], doc.find('Wedge')[0]]);
    });
    const both = async (read) => Promise.all(['Block', 'Wedge'].map(async (name) => read((await find(page, name))[0])));
    const glow = page.locator('input[aria-label="Glow"]');
    await glow.fill('0.5');
    await glow.press('Enter');
    await until('both glow', async () => (await both((each) => each.glow)).join() === '0.5,0.5');
    // One axis of several things: each keeps the others, and where they differ is said.
    const places = await both((each) => [...each.transform.position]);
    assert.notEqual(places[0][0], places[1][0]);
    const across = page.locator('input[aria-label="Position x"]');
    assert.equal(await across.getAttribute('placeholder'), 'different');
    const up = page.locator('input[aria-label="Position y"]');
    await up.fill('7');
    await up.press('Enter');
    await until('both are as high', async () => (await both((each) => each.transform.position[1])).join() === '7,7');
    assert.deepEqual(await both((each) => each.transform.position), places.map(([x, , z]) => [x, 7, z]));
    assert.equal(await up.inputValue(), '7');
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('Control+z');
    await until('and back in one step', async () => JSON.stringify(await both((each) => each.transform.position)) === JSON.stringify(places));
    // Fields by type, with the values of the script; a thing gets only what is set.
    const speed = page.locator('.parameters input[aria-label=speed]');
    await speed.waitFor();
    assert.equal(await speed.inputValue(), '2.5');
    assert.equal(await page.inputValue('.parameters input[aria-label=sound]'), 'hum');
    await page.check('.parameters input[type=checkbox][aria-label=loop]');
    await until('both have it', async () => (await both((each) => JSON.stringify(each.parameters))).every((each) => each === '{"loop":true}'));
    // A thing that is turned by 90 degrees: its own x axis is the z axis of the world. A turn keeps to the angle.
    const held = await studio(page, async () => {
        const { document: doc, view, tool, space, grid } = window.studio;
        const [id] = doc.find('Block');
        window.studio.select([id]);
        [tool.value, space.value, grid.value] = ['move', 'local', 0];
        doc.edit('Turn', [{ op: 'set', member: 'transform.rotation', ids: [id], value: [0, 90, 0] }]);
        await new Promise((done) => setTimeout(done, 300));
        const { controls } = view.gizmo;
        const local = [controls.space, view.gizmo.proxy.rotation.y, controls.translationSnap];
        space.value = 'world';
        tool.value = 'rotate';
        grid.value = 0.5;
        await new Promise((done) => setTimeout(done, 100));
        return { local, world: [controls.space, controls.mode, Math.round(controls.rotationSnap * 180 / Math.PI), controls.translationSnap] };
    });
    assert.equal(held.local[0], 'local');
    assert.ok(Math.abs(held.local[1] - Math.PI / 2) < 1e-3, `turned by ${held.local[1]}`);
    assert.equal(held.local[2], null);
    assert.deepEqual(held.world, ['world', 'rotate', 15, 0.5]);
    // F looks at it; with the right button held, W flies ahead and is no command.
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('f');
    const eye = () => studio(page, () => [window.studio.view.rig.target, window.studio.view.rig.camera.position].map((each) => each.toArray()));
    const [target, from] = await eye();
    const block = (await find(page, 'Block'))[0].transform.position;
    assert.ok(Math.hypot(...target.map((each, i) => each - block[i])) < 3, `looks at ${target}`);
    const box = await page.locator('.stage canvas').boundingBox();
    await page.mouse.move(box.x + 40, box.y + 40);
    await page.mouse.down({ button: 'right' });
    await page.keyboard.down('w');
    await until('it flies ahead', async () => {
        const [, now] = await eye();
        return now.reduce((sum, each, i) => sum + (each - from[i]) * (target[i] - from[i]), 0) > 0.5;
    });
    await page.keyboard.up('w');
    await page.mouse.up({ button: 'right' });
    assert.equal(await studio(page, () => window.studio.tool.value), 'rotate', 'W was no command');
    // One click with the terrain tool is one cube.
    await page.keyboard.press('Home');
    const fills = () => studio(page, () => window.studio.document.history.filter(({ label, undone }) => undone === 0 && /terrain/i.test(label)).length);
    const before = await fills();
    await page.keyboard.press('t');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height * 0.8);
    await until('one cube', async () => await fills() === before + 1);
    const { min, max } = await studio(page, () => JSON.parse(window.studio.document.sceneJson()).terrain.at(-1));
    assert.deepEqual(min, max);
    assert.equal(min.length, 3);
    await studio(page, () => { window.studio.tool.value = 'select'; });
    await saved(page);
});

step('a tab that is killed in a drag loses a moment of it and nothing else', async () => {
    const lost = await killInDrag(up.port, own, id, 'Block');
    console.log(JSON.stringify(lost));
    assert.ok(lost.kept >= 6 && lost.kept >= lost.pictures / 2, `${lost.kept} of ${lost.pictures} places`);
    assert.ok(lost.ms <= 1000, `${lost.ms} ms are lost`); // bench_studio has the goal, on a quiet machine: 250
    await until('all the same', async () => (await find(own.page, 'Block')).length === 1 && (await find(own.page, 'Wedge')).length === 1);
});

step('nothing that was done offline is lost', async () => {
    const { page } = own;
    await studio(page, () => { window.studio.link.socket.close(); });
    await page.click('#side-insert');
    await page.click('[data-kit=trampoline]');
    await until('it is there', async () => (await find(page, 'Trampoline')).length === 1);
    await saved(page);
    await page.click('[data-command=undo]');
    await until('it is undone', async () => (await find(page, 'Trampoline')).length === 0);
    await page.click('[data-command=redo]');
    await saved(page);
    await page.reload();
    await page.waitForSelector('.studio canvas');
    assert.equal((await find(page, 'Trampoline')).length, 1);
    await until('also undo is still there', () => studio(page, () => window.studio.document.canUndo));
    await page.click('[data-command=undo]');
    await until('and works', async () => (await find(page, 'Trampoline')).length === 0);
    assert.ok(await studio(page, () => window.studio.document.canRedo));
});

step('every panel can be used by everybody (axe), in both themes and on a tablet', async () => {
    const { page } = own;
    await page.setViewportSize(DESK);
    await page.click('#tab-history');
    await until('it is drawn', () => studio(page, () => window.studio.view?.cost.pictures > 0));
    assert.match(await page.textContent('#bottom-panel'), /Undid: Insert Trampoline/);
    assert.doesNotMatch(await page.textContent('#bottom-panel'), /(?:Undid|Did again): Undo/);
    await checkAccessible(page, 'studio');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog[open]');
    await checkAccessible(page, 'palette');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.status .package:has-text("B")');
    assert.match(await page.textContent('.status'), /\d+ calls · [\d,.]+ triangles · \d+ MB/);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.click('#side-tree');
    await page.evaluate(() => window.studio.select([window.studio.document.find('Wedge')[0]]));
    await checkAccessible(page, 'studio, dark');
    await shot(page, 'dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.click('#side-insert');
    await shot(page, 'tablet');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is cut off');
});

step('a new script is made by a form, a wrong number is said, and a telephone has the picture', async () => {
    const { page } = own;
    await page.setViewportSize({ width: 375, height: 700 });
    await openStudio(own);
    assert.equal(await page.locator('.left, .inspector').count(), 0, 'nothing covers the picture');
    await shot(page, 'phone');
    const right = await page.locator('.toolbar .publish').evaluate((button) => button.getBoundingClientRect().right);
    assert.ok(right <= 375, `Publish ends at ${right}`);
    await page.click('[data-command=inspector]');
    const players = page.locator('input[aria-label="Players at most"]');
    await players.fill('-5');
    await players.press('Enter');
    await page.waitForSelector('.number-wrong:has-text("Not set")');
    await page.click('[data-command=sidebar]');
    assert.equal(await page.locator('.inspector').count(), 0, 'one at a time');
    await page.click('[data-command=new-script]');
    await page.fill('#script-name', 'My script');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#script-said:has-text("letters")');
    await page.fill('#script-name', 'Rules');
    await page.click('input[value=ServerScriptService]');
    await checkAccessible(page, 'new script');
    await page.click('.new-script button[type=submit]');
    await page.waitForSelector('.script-pane, .cm-editor');
    await until('it is a file', () => studio(page, () => window.studio.files.hashOf('ServerScriptService/Rules.lua') !== null));
    await saved(page);
    await page.setViewportSize(SMALL);
    await openStudio(own);
});

step('publishes with notes and a thumbnail, and the link leads to the place', async () => {
    const { page } = own;
    await page.setViewportSize(SMALL);
    await saved(page);
    await studio(page, () => { window.studio.tour.value = 8; });
    await page.click('[data-command=publish]');
    await page.waitForSelector('.publish-form img');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Download as .game")')]);
    const game = readFileSync(await download.path());
    const sent = await page.evaluate(async (base64) => {
        const body = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const answer = await fetch('/api/places?notes=again', { method: 'POST', body, headers: { 'X-Sandlot': '1', 'Content-Type': 'application/octet-stream' } });
        return { status: answer.status, job: (await answer.json()).job_id };
    }, game.toString('base64'));
    assert.equal(sent.status, 202);
    await page.fill('#publish-notes', 'A first course.');
    await page.waitForSelector('.who input[value=unlisted]:checked');
    await checkAccessible(page, 'publish');
    await shot(page, 'publish');
    assert.equal(await studio(page, () => window.studio.tour.value), 8, 'the tour waits until it is published');
    await page.click('.publish-form button[type=submit]');
    await page.waitForSelector('.published .qr', { timeout: 60_000 });
    await until('the tour goes on', () => studio(page, () => window.studio.tour.value === 9));
    await checkAccessible(page, 'published');
    const link = await page.inputValue('.copy input');
    assert.ok(link.endsWith(`/place/${id}`));
    assert.match(await page.textContent('.published .opens'), /Everybody who has this link/);
    assert.match(await page.textContent('.published .loopback'), /works on this computer only/);
    await shot(page, 'published');
    await page.keyboard.press('Escape');
    await studio(page, () => { window.studio.tour.value = -1; });
    // What is new since then, in words.
    await studio(page, () => {
        const { document } = window.studio;
        const part = [...document.entities()].find((each) => (document.entity(each).type ?? 'part') === 'part');
        document.edit('Paint', [{ op: 'set', member: 'colour', ids: [part], value: '#123456' }]);
    });
    await page.click('[data-command=publish]');
    await page.waitForSelector('.difference li');
    assert.match(await page.textContent('.difference'), /: colour #[0-9a-f]{6} → #123456/);
    await shot(page, 'publish-again');
    await page.keyboard.press('Escape');
    const guest = await openPage(SMALL);
    await guest.go(new URL(link).pathname);
    await guest.page.waitForSelector('h1:has-text("First steps")');
    await guest.context.close();
    await until('the .game file is a place as well', async () =>
        (await ask(page, 'GET', `/api/jobs/${sent.job}`)).body.status === 'done');
    const { body } = await ask(page, 'GET', `/api/places/${id}`);
    assert.equal(body.live, 'r1');
    assert.deepEqual(body.pictures, [0]);
    assert.deepEqual(own.complaints, []);
});

step('ten thousand parts: few calls, few rows, a quick picture', async () => {
    const { page } = own;
    await page.evaluate((count) => {
        const { document: doc } = window.studio;
        for (let from = 0; from < count; from += 2500) {
            doc.edit('Many', Array.from({ length: 2500 }, (_, i) => ({
                op: 'create', entity: {
                    id: doc.newId(), name: `Part${from + i}`, colour: '#448844',
                    transform: { position: [(from + i) % 100 * 2, Math.floor((from + i) / 1000), Math.floor((from + i) / 100) % 100 * 2] },
                    shape: { kind: ['box', 'wedge', 'sphere', 'cylinder'][i % 4] },
                },
            })));
        }
    }, PARTS);
    await saved(page);
    await page.click('#side-tree');
    await page.setViewportSize({ width: 700, height: 300 });
    const measured = await page.evaluate(async () => {
        const { view, document: doc, rows } = window.studio;
        const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
        const pictures = [];
        for (let i = 0; i < 9; i++) {
            const before = view.cost.pictures;
            view.rig.orbit(3, 0);
            view.moved();
            while (view.cost.pictures === before) {
                await new Promise((done) => setTimeout(done, 5));
            }
            pictures.push(view.cost.cpuMs);
        }
        const timed = (run) => { const from = performance.now(); run(); return performance.now() - from; };
        const ids = [...rows.keys()].slice(0, 1000);
        return {
            parts: rows.size, pictureMs: median(pictures), calls: view.cost.calls,
            pickMs: median(Array.from({ length: 15 }, () => timed(() => doc.pick([0, 60, 0], [0.6, -0.5, 0.62])))),
            moveMs: timed(() => doc.edit('Move', [{ op: 'set', member: 'transform.position', values: ids.map((each, i) => [each, [i, 30, 0]]) }])),
            rows: document.querySelectorAll('[role=treeitem]').length,
        };
    });
    console.log(JSON.stringify(measured));
    await page.locator('.stage canvas').focus();
    await page.keyboard.press('Home'); // everything that was built is in the picture
    assert.equal(await page.evaluate(() => {
        const { view, rows } = window.studio;
        const { camera } = view.rig;
        camera.updateMatrixWorld();
        return [...rows.values()].filter(({ half, position }) => Math.max(...half) < 2 &&
            camera.position.clone().set(...position).project(camera).toArray().some((at) => Math.abs(at) > 1)).length;
    }), 0);
    // Nothing is drawn while nothing changes, and the light is red above what a phone should have to draw.
    const drawn = () => studio(page, () => window.studio.view.cost.pictures);
    await until('the picture stands still', async () => {
        const pictures = await drawn();
        await page.waitForTimeout(400);
        return await drawn() === pictures;
    });
    const triangles = await studio(page, () => window.studio.view.cost.triangles);
    await page.waitForSelector(`.status .light.${triangles > 250_000 ? 'red' : 'green'}`, { state: 'attached' });
    assert.ok(measured.parts > PARTS);
    assert.ok(measured.calls <= 40, `${measured.calls} calls`);
    assert.ok(measured.rows <= 100, `${measured.rows} rows`);
    assert.ok(measured.pickMs <= 2, `a pick takes ${measured.pickMs} ms`);
    assert.deepEqual(own.complaints, []);
});

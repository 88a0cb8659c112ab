// Scripts in the studio, as their writers use them: type, see what is wrong, fix it, play the place beside the
// editor and see the change run; two people and one file; TypeScript.
//   node test_studio_scripts.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import test, { after, before } from 'node:test';

import { World, checkAccessible, closeBrowser, onlyInAll, openBrowser, until } from './support.mjs';

const [, , place, screens] = process.argv.slice(2);
const DESK = { width: 1280, height: 800 };
const WAIT_MS = Number(process.env.BROWSER_WAIT_MS ?? 60_000);
let up = null;
let page = null;
const complaints = [];

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open'];
    }
}

const shot = (name) => page.screenshot({ path: join(screens, `studio_${name}.png`) });

// A request of the page's own account.
const ask = (method, path, body, headers = {}) => page.evaluate(async ([how, where, what, more]) => {
    const answer = await fetch(where, {
        method: how, headers: { 'X-Sandlot': '1', 'Content-Type': 'application/json', ...more },
        ...(what === undefined ? {} : { body: typeof what === 'string' ? what : JSON.stringify(what) }),
    });
    const text = await answer.text();
    return { status: answer.status, tag: answer.headers.get('ETag'), text };
}, [method, path, body, headers]);

async function openStudio(title, typescript) {
    const made = await ask('POST', '/api/drafts', { title, template: 'obby', typescript });
    assert.ok(made.status < 300, made.text);
    const id = JSON.parse(made.text).place_id;
    await page.goto(`http://127.0.0.1:${up.port}/studio/${id}`);
    await page.waitForFunction(() => window.studio?.document?.isOpen === true, null, { timeout: WAIT_MS });
    return id;
}

const openScript = (path, line = 0) =>
    page.evaluate(([file, at]) => window.studio.openScript(file, at), [path, line]);
const editor = (path) => page.locator(`.cm-content[aria-label="${path}"]`);
const fileOf = async (id, path) => (await ask('GET', `/api/places/${id}/draft/files/${path}`)).text;

before(async () => {
    up = await Up.start();
    const context = await (await openBrowser()).newContext({ viewport: DESK, serviceWorkers: 'block' });
    page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
        if (line.type() === 'error' && !/status of 40[0-9]|GL Driver/.test(line.text())) {
            complaints.push(line.text());
        }
    });
    await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`)));
    await page.goto(`http://127.0.0.1:${up.port}/account`);
    const { status } = await ask('POST', '/register',
        { username: 'maker', password: 'a sea of violets', invitation: /link=([\w-]+)/.exec(up.output)?.[1] });
    assert.equal(status, 200);
});

after(async () => {
    await closeBrowser();
    await up?.stop();
});

test('a fault is shown while typing, opened by a click, fixed and saved', async () => {
    const id = await openStudio('Scripts', false);
    await openScript('Workspace/Lift.lua');
    await editor('Workspace/Lift.lua').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nlocal broken = = 3\n');
    await page.locator('.script-foot .wrong').waitFor();
    // The help of a call's arguments is there while one types them, and goes with the focus.
    await page.keyboard.type('World.Spawn(');
    await page.locator('.cm-tooltip', { hasText: 'Spawn' }).first().waitFor();
    await page.locator('#tab-problems').focus();
    await page.locator('.cm-tooltip').waitFor({ state: 'detached' });
    await page.locator('.status button.wrong').click(); // the list of problems
    await page.locator('.lines button', { hasText: 'Workspace/Lift.lua' }).first().waitFor();
    const problems = await page.evaluate(() => window.studio.problemCount.value);
    assert.match(await page.locator('.status button.wrong').textContent(), new RegExp(`^${problems} problem`));
    assert.equal(await page.locator('#tab-problems .badge:not(.warning)').textContent(), String(problems));
    await shot('problem');
    await page.locator('[data-command=publish]').click();
    await page.locator('.publish-form .wrong', { hasText: /keeps? it from being published/ }).waitFor();
    assert.ok(await page.locator('.publish-form button[type=submit]').isDisabled());
    await page.keyboard.press('Escape');
    await page.locator('.lines button', { hasText: 'Workspace/Lift.lua' }).first().click();
    const line = await page.evaluate(() => window.studio.open.value.line);
    await until('the cursor is on the line', async () =>
        new RegExp(`Line ${line},`).test(await page.locator('.script-where').textContent()));
    await editor('Workspace/Lift.lua').click(); // on a busy machine the line comes before the focus
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('function onStart(self) print("the lift is here") end');
    await page.locator('.script-foot', { hasText: 'No problems' }).waitFor();
    await until('the text is in the draft', async () =>
        (await fileOf(id, 'Workspace/Lift.lua')).includes('the lift is here'));
});

test('a place is played beside its script, a change runs at once, and nothing of it stays', async () => {
    await page.keyboard.press('Escape');
    const hash = () => page.evaluate(() => String(window.studio.document.hash()));
    const picture = await page.evaluate(async () => {
        const { document: doc, files } = window.studio;
        const canvas = new OffscreenCanvas(4, 4);
        canvas.getContext('2d').fillRect(0, 0, 4, 4);
        const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
        await files.write('assets/dot.png', bytes, null, 'Upload');
        doc.edit('Set Texture', [{ op: 'set', member: 'texture', ids: [doc.find('Lift')[0]], value: 'dot' }]);
        return files.hashOf('assets/dot.png');
    });
    const before = await hash();
    await page.evaluate(() => { // what a world is made from, and how often
        const { document: doc } = window.studio;
        const [compile, sceneJson] = [doc.compile.bind(doc), doc.sceneJson.bind(doc)];
        window.made = { compiled: 0, printed: 0 };
        doc.compile = (files) => { const bytes = compile(files); window.made.compiled += 1; return bytes; };
        doc.sceneJson = () => { window.made.printed += 1; return sceneJson(); };
    });
    const made = () => page.evaluate(() => ({ ...window.made }));
    const missing = [];
    page.on('response', (answer) => { if (answer.status() >= 400) { missing.push(answer.url()); } });
    const drawn = page.waitForResponse((answer) => answer.url().endsWith(`/blob/${picture}`) && answer.request().frame() !== page.mainFrame());
    await page.evaluate(() => { window.studio.playing.value = true; window.studio.panel.value = 'console'; });
    const frame = page.frameLocator('.play-screen');
    await frame.locator('#view').waitFor();
    const inside = async () => (await page.locator('.play-screen').elementHandle())?.contentFrame();
    await until('the player is in the place', async () => (await (await inside())?.evaluate(() =>
        window.sandlot?.inspect().phase === 'playing' && window.sandlot.inspect().own[0] === 1)));
    await page.locator('.console-list', { hasText: 'the lift is here' }).waitFor();
    assert.equal((await drawn).status(), 200, 'its picture is drawn');
    assert.deepEqual(missing, []);
    await shot('play');
    await checkAccessible(page, 'playing'); // Stop, in the bar and above the game, can be read
    assert.equal(await hash(), before);
    await editor('Workspace/Lift.lua').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('function onUpdate(self)\nlocal none = nil\nprint(none.x)\nend'); // Enter would take a completion
    const fault = page.locator('.console-line.error button', { hasText: 'Workspace/Lift.lua:3' }).first();
    await fault.waitFor();
    await shot('play_fault');
    await fault.click();
    await until('the line is shown', async () => /Line 3,/.test(await page.locator('.script-where').textContent()));
    assert.match(await page.locator('.script-status').textContent(), /Scripts \d+\.\d\d ms/);
    // What can be done in the running world is, a new part with a script too, another name for it, and where players start:
    // nothing is printed or compiled for it. A setting of the place makes it anew.
    const { compiled } = await made();
    assert.ok(compiled >= 1, 'it was not made of what the document compiled');
    const paint = (colour) => page.evaluate((value) => {
        const { document: doc } = window.studio;
        doc.edit('Set Colour', [{ op: 'set', member: 'colour', ids: [doc.find('Finish')[0]], value }]);
    }, colour);
    const { printed } = await made();
    await paint('#123456');
    await page.evaluate(() => window.studio.document.edit('Insert Block', [{
        op: 'create', entity: { id: window.studio.document.newId(), name: 'Late', transform: { position: [0, 30, 0] }, scriptRef: { path: 'Workspace/Lift.lua' },
            parameters: { rise: 1, seconds: 1, pause: 1 } } }]));
    await page.waitForTimeout(500);
    await page.evaluate(() => {
        const { document: doc } = window.studio;
        doc.edit('Rename', [{ op: 'set', member: 'name', ids: [doc.find('Late')[0]], value: 'Later' }]);
    });
    await page.waitForTimeout(500);
    await page.evaluate(() => {
        const { document: doc, rows } = window.studio;
        const ids = [[...rows.values()].find(({ type }) => type === 3).id]; // spawn
        doc.edit('Move', [{ op: 'set', member: 'transform.position', ids, value: [0, 3, 0] }]);
    });
    await page.waitForTimeout(500);
    assert.deepEqual(await made(), { compiled, printed });
    await page.evaluate(() => window.studio.document.edit('Set', [{ op: 'set', kind: 'settings', member: 'respawnMs', ids: [0], value: 1234 }]));
    await until('the world is made anew', async () => (await made()).compiled === compiled + 1);
    await until('and the player is in it', async () => (await (await inside())?.evaluate(() =>
        window.sandlot?.inspect().phase === 'playing' && window.sandlot.inspect().own[0] === 1)));
    const edited = await hash();
    await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
    await page.locator('.play-screen').waitFor({ state: 'detached' });
    assert.equal(await hash(), edited);
});

test('two people and one file: both texts are shown, and a person chooses', async () => {
    const id = await page.evaluate(() => window.studio.place);
    const path = 'Workspace/KillBrick.lua';
    const url = `/api/places/${id}/draft/files/${path}`;
    await openScript(path);
    await editor(path).waitFor();
    for (const [choice, expected] of [['Keep mine', '-- mine 0'], ['Take theirs', '-- theirs 1'], ['Save the right side', '-- mine 2']]) {
        const number = expected.at(-1);
        const { tag } = await ask('GET', url);
        await editor(path).click();
        await page.keyboard.press('Control+Home');
        await page.keyboard.type(`-- mine ${number}\n`, { delay: 0 });
        const theirs = await ask('PUT', url, `-- theirs ${number}\nfunction OnTouch() end\n`, { 'If-Match': tag });
        assert.ok(theirs.status < 300, theirs.text); // before this page has saved
        await page.locator('.status .saved', { hasText: 'A script is not saved' }).waitFor();
        await page.getByRole('button', { name: 'Compare and choose' }).click();
        await page.locator('.cm-merge-b').waitFor();
        await shot('conflict');
        if (number === '0') { // nothing is written or lost until a person has chosen
            await page.getByRole('button', { name: 'Decide later' }).click();
            await page.locator('.cm-merge-b').waitFor({ state: 'detached' });
            assert.match(await editor(path).textContent(), /-- mine 0/);
            assert.match(await fileOf(id, path), /^-- theirs 0/);
            await page.locator('.status .saved', { hasText: 'A script is not saved' }).waitFor();
            await page.getByRole('button', { name: 'Compare and choose' }).click();
            await page.locator('.cm-merge-b').waitFor();
        }
        await page.getByRole('button', { name: choice }).click();
        await until(`${choice}: ${expected}`, async () => (await fileOf(id, path)).startsWith(expected));
        await page.locator('.script-foot', { hasText: 'Saved' }).waitFor();
    }
});

test('one person writes a file, another reads along and takes over by a click; a save that fails is said above the text', { skip: onlyInAll }, async () => {
    const id = await page.evaluate(() => window.studio.place);
    const path = 'Workspace/Lift.lua';
    await openScript(path);
    await editor(path).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('-- first');
    const second = await page.context().newPage();
    await second.goto(`http://127.0.0.1:${up.port}/studio/${id}`);
    await second.waitForFunction(() => window.studio?.document?.isOpen === true, null, { timeout: WAIT_MS });
    await second.evaluate((file) => window.studio.openScript(file, 0), path);
    const text = second.locator(`.cm-content[aria-label="${path}"]`);
    await second.locator('.script-banner', { hasText: 'maker is writing this file' }).waitFor({ timeout: WAIT_MS });
    await text.click();
    await second.keyboard.type('refused');
    assert.doesNotMatch(await text.textContent(), /refused/);
    await second.getByRole('button', { name: 'Take over' }).click();
    await second.locator('.script-banner').waitFor({ state: 'detached' });
    await page.locator('.script-banner', { hasText: 'is writing this file' }).waitFor();
    await text.click();
    await second.keyboard.type('taken');
    await until('the other one reads along', async () => /taken/.test(await editor(path).textContent()));
    await second.close();
    await page.locator('.script-banner').waitFor({ state: 'detached' }); // nobody writes it any more
    // The server takes nothing for a while.
    await page.route('**/blob/*', (route) => route.request().method() === 'PUT'
        ? route.fulfill({ status: 409, contentType: 'application/json', body: '{"error":{"code":"quota","message":"there is no room for it"}}' })
        : route.continue());
    await editor(path).click();
    await page.keyboard.type('-- second');
    const banner = page.locator('.script-banner.wrong', { hasText: 'Not saved: there is no room for it' });
    await banner.waitFor();
    await page.unroute('**/blob/*');
    await banner.getByRole('button', { name: 'Try again' }).click();
    await banner.waitFor({ state: 'detached' });
    await until('it is saved', async () => (await fileOf(id, path)).includes('-- second'));
});

test('a plain-language script has the Lua that was made of it beside it, with what is new marked, and is accepted', async () => {
    const id = await page.evaluate(() => window.studio.place);
    const made = (body, reviewed) => `-- made from Workspace/Door.soul · sha256:${'a'.repeat(64)} · source:${'b'.repeat(64)} · body:none · reviewed:${reviewed} · model:none\n${body}`;
    const write = (path, text) => page.evaluate(([file, what]) => window.studio.files.write(file, new TextEncoder().encode(what),
        window.studio.files.hashOf(file), 'Write'), [path, text]);
    const first = 'function onStart(self)\n    print("one")\nend\n';
    await write('Workspace/Door.soul', 'Say one.\n');
    await write('Workspace/Door.soul.lua', made(first, 'none'));
    await openScript('Workspace/Door.soul');
    await page.getByRole('button', { name: 'I have reviewed it' }).click();
    await page.getByText('You have reviewed this Lua.').waitFor();
    let hash = '';
    await until('the hash is in the file', async () => {
        hash = /reviewed:([0-9a-f]{64})/.exec(await fileOf(id, 'Workspace/Door.soul.lua'))?.[1] ?? '';
        return hash !== '';
    });
    await write('Workspace/Door.soul.lua', made(first.replace('one', 'two'), hash));
    await page.locator('.cm-changedLine', { hasText: 'two' }).waitFor();
    await page.locator('.cm-deletedChunk', { hasText: 'one' }).waitFor();
    assert.equal(await page.locator('.cm-changedLine').count(), 1, 'only what is new');
    await shot('soul');
});

test('TypeScript has diagnostics and completion, and plays', async () => {
    await openStudio('Typed', true);
    await openScript('Workspace/Lift.ts');
    await editor('Workspace/Lift.ts').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nconst wrong: number = "text";\nWorld.Sp');
    await page.locator('.cm-tooltip-autocomplete', { hasText: 'Spawn' }).waitFor();
    await page.locator('.script-foot .wrong').waitFor();
    await shot('typescript');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('export function onStart(self: Entity): void { print(`typed ${self.Name}`); }', { delay: 0 });
    await page.locator('.script-foot', { hasText: 'No problems' }).waitFor();
    await page.locator('.script-foot', { hasText: 'Saved' }).waitFor();
    await page.evaluate(() => { window.studio.playing.value = true; window.studio.panel.value = 'console'; });
    await page.locator('.console-list', { hasText: /typed \w+/ }).waitFor();
    assert.deepEqual(complaints, []);
});

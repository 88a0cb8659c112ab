// What the Studio takes in the real page: bytes of scripts, the time from a key to what is said about a script, work of
// the main thread while one types (processor time of its tasks, from the browser's own trace), a picture and a ray at
// 10,000 parts, the tree of 20,000 things, how long a change takes to be stored, and what is lost of a drag when the
// tab dies.
//   node bench_studio.mjs PROGRAM WEB PLACE SCREENS [--json]
import { gzipSync } from 'node:zlib';

import { Up, ask, killInDrag, openPage, openStudio, register, saved, studio } from '../tests/browser/studio.mjs';
import { closeBrowser, openBrowser, sleep, until } from '../tests/browser/support.mjs';
import { outcome, row } from './report.mjs';

const PARTS = 10_000;
const KEYS = 12;
const EDITS = 200;
const TYPED = 120; // letters
const SMALL = { width: 900, height: 420 };

const at = (values, part) => values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

async function place(page, typescript) {
    const { body } = await ask(page, 'POST', '/api/drafts', { title: `Bench ${typescript}`, template: 'obby', typescript });
    return body.place_id;
}

const openScript = async (page, path) => {
    await page.evaluate((file) => window.studio.openScript(file, 0), path);
    await page.locator(`.cm-content[aria-label="${path}"]`).click();
    await page.locator('.script-foot', { hasText: 'No problems' }).waitFor({ timeout: 60_000 });
};

// From a key that makes a fault (or takes it away) to the line below the text that says so; in the page's own time.
async function diagnosticsMs(page) {
    await page.evaluate(() => {
        window.benchSaid = [];
        let pressed = 0;
        let before = document.querySelector('.script-foot').textContent.includes('No problems');
        addEventListener('keydown', () => { pressed = performance.now(); }, true);
        new MutationObserver(() => {
            const now = document.querySelector('.script-foot').textContent.includes('No problems');
            if (now !== before && pressed > 0) {
                window.benchSaid.push(performance.now() - pressed);
                pressed = 0;
            }
            before = now;
        }).observe(document.querySelector('.script-foot'), { subtree: true, childList: true, characterData: true });
    });
    await page.keyboard.press('Control+End');
    for (let i = 0; i < KEYS; i++) {
        await page.keyboard.press(i % 2 === 0 ? '=' : 'Backspace');
        await until('it is said', () => page.evaluate((count) => window.benchSaid.length > count, i), 20_000);
    }
    return page.evaluate(() => window.benchSaid);
}

// The longest task of the page's main thread while somebody types, by processor time.
async function typingMs(page, text) {
    const browser = await openBrowser();
    await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
    await page.keyboard.type(text, { delay: 25 });
    await sleep(800);
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const main = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
        .map(({ pid, tid }) => `${pid} ${tid}`));
    const tasks = traceEvents.filter(({ name, pid, tid, tdur }) => /RunTask$/.test(name) && tdur > 0 && main.has(`${pid} ${tid}`))
        .map(({ tdur }) => tdur / 1000);
    return { longest: Math.max(0, ...tasks), long: tasks.filter((ms) => ms > 50).length, tasks: tasks.length };
}

// PARTS more of them.
async function addParts(page, first) {
    await studio(page, ([start, count]) => {
        const { document: doc } = window.studio;
        for (let from = start; from < start + count; from += 2500) {
            doc.edit('Many', Array.from({ length: 2500 }, (_, i) => ({
                op: 'create', entity: {
                    id: doc.newId(), name: `Part${from + i}`, colour: '#448844',
                    transform: { position: [(from + i) % 100 * 2, Math.floor((from + i) / 1000), Math.floor((from + i) / 100) % 100 * 2] },
                    shape: { kind: ['box', 'wedge', 'sphere', 'cylinder'][i % 4] },
                },
            })));
        }
    }, [first, PARTS]);
    await saved(page);
}

// In the tree: how many rows are in the page, most of all while one scrolls, and how long it takes from a letter in the
// search to the rows that have it.
async function treeOf(page) {
    await page.click('#side-tree');
    await page.waitForSelector('[role=treeitem]');
    return studio(page, async () => {
        const list = document.querySelector('[role=tree]');
        const field = document.querySelector('#tree-search');
        const rows = () => document.querySelectorAll('[role=treeitem]').length;
        let most = rows();
        for (let i = 1; i <= 8; i++) {
            list.scrollTop = list.scrollHeight * i / 8;
            await new Promise((done) => setTimeout(done, 100));
            most = Math.max(most, rows());
        }
        const searches = [];
        for (const wanted of ['Part1', 'Part12', 'Part123', 'Part1234', 'Part12345']) {
            const from = performance.now();
            field.value = wanted;
            field.dispatchEvent(new Event('input', { bubbles: true }));
            const shows = () => rows() > 0 && [...document.querySelectorAll('[role=treeitem]')].every((row) => row.textContent.includes(wanted));
            while (!shows()) {
                await new Promise((done) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); });
            }
            searches.push(performance.now() - from);
        }
        return { most, searches, found: rows(), nodes: window.studio.rows.size };
    });
}

const up = await Up.start();
try {
    const user = await openPage(up.port, SMALL);
    const { page } = user;
    await user.go('/');
    await register(page, 'maker', /link=([\w-]+)/.exec(up.output)?.[1]);
    const scripts = new Map();
    page.on('response', (answer) => {
        if (/\/assets\/.*\.js$/.test(answer.url())) {
            scripts.set(answer.url(), answer.body().then((body) => gzipSync(body, { level: 9 }).length, () => 0));
        }
    });
    const bytes = async () => (await Promise.all(scripts.values())).reduce((sum, each) => sum + each, 0) / 1024;
    const lua = await place(page, false);
    await openStudio(user, lua);
    await sleep(3000); // whatever comes later by itself
    const first = await bytes();
    row('studio_scripts', first, 'KB gz', 300);
    await openScript(page, 'Workspace/Lift.lua');
    row('studio_editor', await bytes() - first, 'KB gz', 175);
    const luaMs = await diagnosticsMs(page);
    row('studio_lua_diagnostics', at(luaMs, 0.5), 'ms', 100);
    await page.keyboard.press('Control+Home');
    const typed = await typingMs(page, 'local far = self.Position '.repeat(Math.ceil(TYPED / 26)).slice(0, TYPED));
    row('studio_typing_longest_task', typed.longest, 'ms CPU', 50);
    row('studio_typing_long_tasks', typed.long, 'tasks', 0);

    // TypeScript.
    const ts = await place(page, true);
    await openStudio(user, ts);
    await openScript(page, 'Workspace/Lift.ts');
    const tsMs = await diagnosticsMs(page);
    row('studio_ts_diagnostics', at(tsMs.slice(2), 0.5), 'ms', 200);

    // Changes, from the call to being told by the session, which has stored it.
    await openStudio(user, lua);
    const stored = await studio(page, async (count) => {
        const { document: doc } = window.studio;
        const [id] = doc.find('Lift');
        const all = [];
        for (let i = 0; i < count; i++) {
            const from = performance.now();
            doc.edit('Move', [{ op: 'set', member: 'transform.position', ids: [id], value: [i, 1, 0] }]);
            while (doc.pendingCount() > 0) {
                await new Promise((done) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); });
            }
            all.push(performance.now() - from);
            await new Promise((done) => setTimeout(done, 50));
        }
        return all;
    }, EDITS);
    row('studio_durable_median', at(stored, 0.5), 'ms');
    row('studio_durable_p99', at(stored, 0.99), 'ms', 150);

    // A drag by a handle, and the tab dies in it.
    const lost = await killInDrag(up.port, user, lua, 'Lift');
    if (lost.kept < 6) {
        throw new Error(`nothing of the drag was kept: ${JSON.stringify(lost)}`);
    }
    row('studio_killed_tab_loses', lost.ms, 'ms', 250);

    // Ten thousand parts, in a small picture: what is measured is the page's work, and not the software that draws.
    await addParts(page, 0);
    const drawn = await studio(page, async () => {
        const { view, document: doc } = window.studio;
        Object.assign(view.canvas.style, { width: '64px', height: '64px' });
        await new Promise((done) => setTimeout(done, 500));
        const pictures = [];
        for (let i = 0; i < 31; i++) {
            const count = view.cost.pictures;
            view.rig.orbit(3, 0);
            view.moved();
            while (view.cost.pictures === count) {
                await new Promise((done) => setTimeout(done, 2));
            }
            pictures.push(view.cost.cpuMs);
        }
        const picks = Array.from({ length: 200 }, (_, i) => {
            const from = performance.now();
            doc.pick([i % 20 * 10, 60, i], [0.6, -0.5, 0.62]);
            return performance.now() - from;
        });
        return { pictures, picks, calls: view.cost.calls };
    });
    row('studio_picture_10000', at(drawn.pictures, 0.5), 'ms', 4);
    row('studio_calls_10000', drawn.calls, 'calls', 40);
    row('studio_pick_10000', at(drawn.picks, 0.5), 'ms', 2);

    await addParts(page, PARTS);
    const tree = await treeOf(page);
    if (tree.nodes < 2 * PARTS || tree.found !== 1) {
        throw new Error(`the tree: ${JSON.stringify(tree)}`);
    }
    row('studio_tree_rows_20000', tree.most, 'rows', 100);
    row('studio_tree_search_20000', at(tree.searches, 0.5), 'ms', 100);
} finally {
    await closeBrowser();
    await up.stop();
}
process.exit(outcome());

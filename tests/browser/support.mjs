// Helpers of the browser tests: a separate world for each test (the real program with its own data
// folder), a relay in front of it whose connections can be cut, one Chromium, and pages that record
// every console error and policy violation.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

const [program, web, place, screens] = process.argv.slice(2);
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const START_MS = Number(process.env.BROWSER_START_MS ?? 60_000);
const WAIT_MS = Number(process.env.BROWSER_WAIT_MS ?? 60_000); // longer on a machine that is busy with more
// Without a graphics card a picture is made by the processors, and a page would do nothing else. None of
// these tests is about how often or how finely it draws: a small page and five pictures a second leave
// the processors to the rest. Screenshots are larger, so that people can see something.
const PAUSE_MS = Number(process.env.BROWSER_PAUSE_MS ?? 180); // between two pictures
export const SMALL = { width: 320, height: 180 };
const LARGE = { width: 960, height: 540 };
const STANDS_TICKS = 40; // two thirds of a second

// For tests that `make test` has no time for: `make test-all` runs them too (docs/DEVELOPMENT.md).
export const onlyInAll = process.env.TEST_SHORT === '1' && 'make test-all runs it';

// A picture of a page of the site, for people to look at. Each costs a quarter of a second of processor time, so only
// `make test-all` takes them.
export const picture = (page, options) => onlyInAll === false ? page.screenshot(options) : Promise.resolve();

// The pages of the site are walked at two widths. Each test has one for its main flow and uses the other for
// the rest; a second run of the same file (BROWSER_WIDTHS=swapped, in `make test-all`) exchanges them, so that
// every flow is walked at both.
const WIDTHS = [{ width: 1280, height: 800 }, { width: 375, height: 740 }];
export const [MAIN, OTHER] = process.env.BROWSER_WIDTHS === 'swapped' ? WIDTHS.toReversed() : WIDTHS;

// What must stay text wherever somebody can write it: markup, ways out of attributes, scripts and comments,
// addresses that run, entities, and texts that end a string of JavaScript or Lua. No line break among them.
export const XSS = [
    '<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', 'javascript:alert(1)', '<svg/onload=alert(1)>',
    "'-alert(1)-'", '</textarea><script>alert(1)</script>', '<iframe srcdoc="<script>alert(1)</script>">',
    '<a href="javascript:alert(1)">x</a>', '--><script>alert(1)</script><!--', '&lt;script&gt;alert(1)&lt;/script&gt;',
    '<details open ontoggle=alert(1)>', '<math><mtext></p><style><img src onerror=alert(1)></style>', '{{7*7}}${alert(1)}',
    '<style>@import"//evil.example/x"</style>', '<base href="//evil.example/">', '<meta http-equiv=refresh content=0;url=//evil.example>',
    '<form action="//evil.example"><input autofocus onfocus=alert(1)>', '\\"}); alert(1); //', ']]><script>alert(1)</script>',
];

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export async function until(what, check, timeoutMs = WAIT_MS) {
    const end = Date.now() + timeoutMs;
    for (;;) {
        const value = await check();
        if (value) {
            return value;
        }
        if (Date.now() > end) {
            throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
        }
        await sleep(100);
    }
}

function freePort() {
    return new Promise((done, failed) => {
        const server = createServer();
        server.once('error', failed);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => done(port));
        });
    });
}

export class World {
    static async start(folder = place, options = () => [], pages = web) {
        const world = new this();
        world.web = pages;
        world.place = folder;
        world.options = options; // more of them, once the port is known
        world.folder = mkdtempSync(join(tmpdir(), 'sandlot-browser-'));
        world.port = await freePort();
        await world.run();
        return world;
    }

    async run() {
        this.output = '';
        this.process = spawn(program, [...this.command(), '--port', String(this.port),
            '--data', this.folder, '--web', this.web, '--allow-weak-jail', ...this.options(this.port)],
        { stdio: ['ignore', 'pipe', 'pipe'] });
        for (const stream of [this.process.stdout, this.process.stderr]) {
            stream.on('data', (data) => { this.output += data; });
        }
        this.ended = new Promise((done) => this.process.once('exit', done));
        await until('the world is ready', () => this.isReady(), START_MS).catch((error) => {
            throw new Error(`${error.message}\n${this.output}`);
        });
    }

    command() {
        return ['world', '--place', this.place];
    }

    async isReady() {
        const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => null);
        await answer?.arrayBuffer();
        return answer?.ok === true;
    }

    // The world process: the host's only child.
    worldPid() {
        const { pid } = this.process;
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
        return Number(children.trim().split(' ')[0]);
    }

    async killHost() {
        this.process.kill('SIGKILL');
        await this.ended;
    }

    async stop() {
        this.process.kill('SIGTERM');
        const late = new Promise((done) => { setTimeout(done, 8000).unref(); });
        await Promise.race([this.ended, late]);
        this.process.kill('SIGKILL');
        rmSync(this.folder, { recursive: true, force: true });
    }
}

// The place is built and reloaded whenever one of its files is saved.
export class Dev extends World {
    command() {
        return ['dev', this.place];
    }
}

// Bytes both ways, until it is asked to cut.
export class Relay {
    // `change` gets every piece of the world's data, and an object of its connection for whatever it
    // has to remember of it, and returns what is passed on.
    static async start(port, change = null) {
        const relay = new Relay();
        relay.change = change;
        relay.pairs = new Set();
        relay.open = true;
        relay.server = createServer((from) => relay.join(from, port));
        await new Promise((done) => relay.server.listen(0, '127.0.0.1', done));
        relay.port = relay.server.address().port;
        return relay;
    }

    join(from, port) {
        if (!this.open) {
            from.destroy();
            return;
        }
        const to = connect(port, '127.0.0.1');
        const pair = [from, to];
        this.pairs.add(pair);
        const end = () => {
            from.destroy();
            to.destroy();
            this.pairs.delete(pair);
        };
        for (const socket of pair) {
            socket.on('error', end);
            socket.on('close', end);
        }
        from.pipe(to);
        if (this.change === null) {
            to.pipe(from);
        } else {
            const connection = {};
            to.on('data', (data) => from.write(this.change(data, connection)));
        }
    }

    // Everything that is connected loses its connection, and nothing new gets through until mend().
    cut() {
        this.open = false;
        for (const [from, to] of this.pairs) {
            from.destroy();
            to.destroy();
        }
    }

    mend() {
        this.open = true;
    }

    stop() {
        this.server.close();
        for (const [from, to] of this.pairs) {
            from.destroy();
            to.destroy();
        }
    }
}

let browser = null;
export async function openBrowser(executablePath = CHROMIUM, more = []) {
    browser ??= await chromium.launch({
        executablePath,
        args: [...more,
            '--headless', '--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader',
            '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync', '--webgl-antialiasing-mode=none',
            // No process is started ahead for the next page: that is a seventh of what a test of pages computes. The
            // others are those that Playwright turns off, whose list this one takes the place of.
            '--disable-features=SpareRendererForSitePerProcess,AvoidUnnecessaryBeforeUnloadCheckSync,' +
                'DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,' +
                'PaintHolding,ThirdPartyStoragePartitioning,OptimizationHints',
            // A name that is not this machine's own: pages from there are not secure ones.
            '--host-resolver-rules=MAP lan.test 127.0.0.1'],
    });
    return browser;
}

// In a page: pictures come seldom, and nothing is painted unless `window.isPainting`: without a graphics card
// that takes nearly all of the processors. Everything else of a picture is done as always.
const spareProcessors = ([pause, paints]) => {
    if (window.isPainting !== undefined) {
        return; // its profile and the page itself were told so
    }
    if (pause > 0) {
        const draw = window.requestAnimationFrame.bind(window);
        window.requestAnimationFrame = (picture) => setTimeout(() => draw(picture), pause);
        window.cancelAnimationFrame = clearTimeout; // its numbers are those of timers now
    }
    window.isPainting = paints;
    window.answers = 0; // of the worker to what the page asked for a picture
    window.Worker = class extends Worker {
        constructor(...where) {
            super(...where);
            this.addEventListener('message', ({ data }) => { window.answers += data.type === 'frame' ? 1 : 0; });
        }
    };
    const { prototype } = WebGL2RenderingContext;
    for (const name of ['drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced']) {
        const paint = prototype[name];
        prototype[name] = function painted(...numbers) {
            if (window.isPainting) {
                paint.apply(this, numbers);
            }
        };
    }
};

// A screenshot is of a picture that was painted for it.
function paintScreenshots(page) {
    const shoot = page.screenshot.bind(page);
    page.screenshot = async (options) => {
        await page.evaluate(() => new Promise((painted) => {
            const view = document.querySelector('#view');
            const isSeen = view?.checkVisibility({ visibilityProperty: true }) === true &&
                document.querySelector('#hud')?.hidden === false;
            window.isPainting = isSeen;
            if (isSeen) {
                requestAnimationFrame(() => requestAnimationFrame(painted));
            } else {
                painted();
            }
        }));
        const picture = await shoot(options);
        await page.evaluate(() => { window.isPainting = false; });
        return picture;
    };
}

// Where a page of this profile is the game, it draws as seldom as those of Player, and paints nothing.
export async function drawSeldom(context) {
    await context.addInitScript(`if (location.pathname.startsWith('/play')) {
        (${spareProcessors})([${PAUSE_MS}, false]);
    }`);
}

export async function closeBrowser() {
    await browser?.close();
    browser = null;
}

// A tab of its own browser profile. `complaints` is everything that must not happen.
export class Player {
    // `context`: another tab of that one's profile. `before` is called before the page is loaded.
    static async open(port, name, {
        query = 'play', expectDrops = false, host = '127.0.0.1', context = null, before = null,
        pauseMs = PAUSE_MS, paints = false, // paints: every picture, for those who read its pixels
    } = {}) {
        const player = new Player();
        player.name = name;
        player.complaints = [];
        player.printed = []; // what scripts print
        player.expectDrops = expectDrops; // a connection is about to be lost: the browser will say so
        player.context = context ?? await (await openBrowser()).newContext({
            viewport: SMALL, serviceWorkers: 'block', // they hide requests from tests
        });
        player.page = await player.context.newPage();
        player.fetched = []; // by their hashes: {path, status, bytes on the way}
        player.files = []; // of the page: the same, and the encoding
        player.context.on('requestfinished', async (request) => {
            const { pathname: path, port: at } = new URL(request.url());
            const isFile = path === '/' || path.startsWith('/assets/');
            if (isFile || /^\/(blob|packed)\//.test(path)) {
                const [answer, sizes] = await Promise.all([request.response(), request.sizes()])
                    .catch(() => [null]); // the page was closed meanwhile
                if (answer === null) {
                    return;
                }
                (isFile ? player.files : player.fetched).push({
                    path, port: at, status: answer.status(), bytes: sizes.responseBodySize,
                    encoding: answer.headers()['content-encoding'],
                });
            }
        });
        const complain = (text) => {
            if (!(player.expectDrops && /WebSocket|ERR_|Failed to load resource|503/.test(text))) {
                player.complaints.push(text);
            }
        };
        player.page.on('console', (message) => {
            // Chromium's own word on reading pictures back, which a screenshot does.
            // Over plain http it says of a header that it means nothing there. Service workers are
            // turned off above. What was made before a picture was lost is deleted after it came back.
            const ours = !/GL Driver Message|Opener-Policy header has been ignored|blocked by Playwright|does not belong to this context/
                .test(message.text());
            if (message.type() === 'info') {
                player.printed.push(message.text());
            }
            if (ours && (message.type() === 'error' || message.type() === 'warning')) {
                complain(message.text());
            }
        });
        player.page.on('dialog', (dialog) => { // a text ran as a script
            complain(`dialog: ${dialog.message()}`);
            void dialog.dismiss();
        });
        player.page.on('pageerror', (error) => complain(String(error)));
        await player.page.addInitScript(spareProcessors, [pauseMs, paints]);
        if (!paints) {
            paintScreenshots(player.page);
        }
        await player.page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
            console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
        await before?.(player.context, player.page);
        await player.page.goto(`http://${host}:${port}/${query}`);
        await player.page.fill('#name', name);
        await player.page.press('#name', 'Enter');
        return player;
    }

    inspect() {
        return this.page.evaluate(() => window.sandlot.inspect());
    }

    async playing() {
        await until(`${this.name} plays`, async () => {
            const { phase, own } = await this.inspect();
            return phase === 'playing' && own[0] === 1;
        });
    }

    async position() {
        const { own } = await this.inspect();
        return { id: own[1], x: own[2], y: own[3], z: own[4] };
    }

    // Where she is now: what the page shows may be as old as its last picture, and a busy machine makes
    // few. The worker answers a picture after everything that it was told before; of two answers
    // from now on at least one was asked for after now.
    async now() {
        const answers = () => this.page.evaluate(() => window.answers);
        const before = await answers();
        await until(`${this.name}'s page gets answers`, async () => await answers() >= before + 2);
        const { own, stats } = await this.inspect();
        return { id: own[1], x: own[2], y: own[3], z: own[4], tick: stats?.inputSeq ?? 0 };
    }

    // Where she is once she stands: for most of a second of the world, however long that takes here.
    async stands() {
        let before = await this.now();
        await until(`${this.name} stands`, async () => {
            await sleep(400);
            const now = await this.now();
            if (before.tick !== 0 && now.tick >= before.tick && now.tick < before.tick + STANDS_TICKS) {
                return false; // the numbers come four times a second
            }
            const still = Math.hypot(now.x - before.x, now.y - before.y, now.z - before.z) < 0.001;
            before = now;
            return still;
        });
        return before;
    }

    look(yaw, pitch = 0) {
        return this.page.evaluate(([y, p]) => window.sandlot.look(y, p), [yaw, pitch]);
    }

    async hold(key, ms) {
        await this.page.keyboard.down(key);
        await sleep(ms);
        await this.page.keyboard.up(key);
    }

    // Another body as this page shows it.
    async sees(id) {
        const { movers } = await this.inspect();
        for (let at = 0; at < movers.length; at += 16) {
            if (movers[at] === id) {
                return { x: movers[at + 3], y: movers[at + 4], z: movers[at + 5] };
            }
        }
        return null;
    }

    async screenshot(name) {
        mkdirSync(screens, { recursive: true });
        await this.page.setViewportSize(LARGE);
        await this.page.evaluate(() => new Promise((drawn) =>
            requestAnimationFrame(() => requestAnimationFrame(drawn))));
        await this.page.screenshot({ path: join(screens, `${name}.png`) });
        await this.page.setViewportSize(SMALL);
    }

    close() {
        return this.context.close();
    }
}

// Without a serious finding of axe-core.
export async function checkAccessible(page, what) {
    // The policy of the page allows no other scripts: this one comes from the test, not from the page. Going from page to
    // page of the site keeps it.
    const axe = await page.evaluate(() => 'axe' in window) ? ''
        : readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const violations = await page.evaluate(`${axe}; axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'],
        rules: { 'color-contrast': { enabled: true } },
    }).then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`);
    assert.deepEqual(violations, [], what);
}

// The same of a page that another check has looked at already, at another width or with other people in it.
export const checkAccessibleToo = (page, what) => onlyInAll === false ? checkAccessible(page, what) : Promise.resolve();

// What is wrong with the texts of a page as it is laid out now: words that are cut off, or lie on others.
// Nobody scrolls here, so what a list that scrolls has below is left out.
// `within`: of a part of the page that lies over the rest.
export function findTextTrouble(page, within = 'body') {
    return page.evaluate((selector) => {
        const trouble = [];
        const name = (element) => `${element.tagName.toLowerCase()}${element.id === '' ? '' : `#${element.id}`}${
            typeof element.className === 'string' && element.className !== '' ? `.${element.className}` : ''}`;
        if (document.documentElement.scrollWidth > innerWidth + 1) {
            const scrolls = (each) => each !== null && (/auto|scroll/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
            const wide = [...document.body.querySelectorAll('*')].filter((each) =>
                each.getBoundingClientRect().right > innerWidth + 1 && !scrolls(each.parentElement));
            trouble.push(`the page is ${document.documentElement.scrollWidth} wide, not ${innerWidth}: ${wide.slice(0, 3).map(name)}`);
        }
        // The part of a box that its ancestors leave of it, and whether one of them can be scrolled to show the rest.
        const visible = (element, box) => {
            let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
            let scrolls = false;
            for (let at = element; at !== null && at !== document.documentElement; at = at.parentElement) {
                const style = getComputedStyle(at);
                const outer = at.getBoundingClientRect();
                scrolls ||= /auto|scroll/.test(style.overflowX + style.overflowY);
                if (style.overflowX !== 'visible' && at !== document.body) {
                    left = Math.max(left, outer.left);
                    right = Math.min(right, outer.right);
                }
                if (style.overflowY !== 'visible' && at !== document.body) {
                    top = Math.max(top, outer.top);
                    bottom = Math.min(bottom, outer.bottom);
                }
                if (style.position === 'fixed') {
                    break;
                }
            }
            return { left, top, right, bottom, scrolls };
        };
        const texts = [];
        const modal = document.querySelector('dialog:modal');
        const walker = document.createTreeWalker(modal ?? document.querySelector(selector), NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
            const element = node.parentElement;
            if (node.data.trim() === '' || element.closest('svg, option, script, style, noscript, .hidden, .skip, textarea, [aria-hidden=true]') !== null ||
                !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) {
                continue;
            }
            const range = document.createRange();
            range.selectNodeContents(node);
            for (const box of range.getClientRects()) {
                const seen = visible(element, box);
                const [width, height] = [seen.right - seen.left, seen.bottom - seen.top];
                const isCut = width < box.width - 2 || height < box.height - 4 || seen.left < -2 || seen.right > innerWidth + 2;
                // Of the name of a place the menu has all, of the chat that one which is open.
                const isShortened = element.closest('#place, .chat:not(.open)') !== null;
                if (isCut && !seen.scrolls && !isShortened) {
                    trouble.push(`cut off: ${JSON.stringify(node.data.trim().slice(0, 40))} in ${name(element)}`);
                }
                if (width > 2 && height > 2) {
                    texts.push({ node, element, ...seen });
                }
            }
        }
        for (const input of (modal ?? document.body).querySelectorAll('button, select, a.button')) {
            if (input.checkVisibility() && input.scrollWidth > input.clientWidth + 2 && getComputedStyle(input).display !== 'inline') {
                trouble.push(`wider than its box: ${name(input)} ${JSON.stringify(input.textContent.trim().slice(0, 40))}`);
            }
        }
        for (let i = 0; i < texts.length; i++) {
            for (let j = i + 1; j < texts.length; j++) {
                const [a, b] = [texts[i], texts[j]];
                const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                // Lines of one text may touch each other; what lies in a layer above hides what is below it.
                const line = Math.min(a.bottom - a.top, b.bottom - b.top);
                if (a.node !== b.node && width > 3 && height > line / 3) {
                    trouble.push(`${JSON.stringify(a.node.data.trim().slice(0, 30))} (${name(a.element)}) lies on ${
                        JSON.stringify(b.node.data.trim().slice(0, 30))} (${name(b.element)})`);
                }
            }
        }
        return [...new Set(trouble)];
    }, within);
}

export const distance = (a, b) => Math.hypot(a.x - b.x, a.z - b.z);

// What the pages of the site weigh and how long the server takes for them.
//   tools/bench_site [--places 10000] [--worlds 1000] [--rounds 100] [--json]
// A browser opens each page once, as somebody who comes for the first time, without the stream of live
// numbers. Bytes are those of the files with gzip; answers of the API count as they came. Time is measured
// without a browser: the document and then everything of the API that the page asks for, one after the
// other, on one machine: the middle and the 99th percentile of all rounds. Goal: discover has at most 60 KB
// of JavaScript.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { dirname, join } from 'node:path';

import { World, closeBrowser, openBrowser } from '../tests/browser/support.mjs';

const [program, web, place] = process.argv.slice(2);
const argument = (name, otherwise) => {
    const at = process.argv.indexOf(name);
    return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const PLACES = argument('--places', 10_000);
const WORLDS = argument('--worlds', 1000);
const ROUNDS = argument('--rounds', 100);
const AS_JSON = process.argv.includes('--json');
const PASSWORD = 'a sea of violets';
const GOAL_KB = 60;
let missed = 0;

function row(name, value, unit, goal = null) {
    const isGood = goal === null || value <= goal;
    missed += isGood ? 0 : 1;
    const shown = Math.round(value * 100) / 100;
    console.log(AS_JSON ? JSON.stringify({ bench: name, value: shown, unit, ...(goal === null ? {} : { goal }) })
        : `  ${name.padEnd(34)} ${String(shown).padStart(10)} ${unit}${
            goal === null ? '' : `  goal ${goal}  ${isGood ? 'ok' : 'MISSED'}`}`);
}

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--registration', 'open', '--log-level', 'warn'];
    }

    async again() {
        this.process.kill('SIGTERM');
        await this.ended;
    }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

// The status, and how long it took in ms. `send` is what changes something.
function ask(up, path, cookie, send = null) {
    return new Promise((done, failed) => {
        const began = performance.now();
        const asked = request({
            agent, host: '127.0.0.1', port: up.port, path, method: send === null ? 'GET' : 'POST',
            headers: {
                ...(cookie === '' ? {} : { Cookie: cookie }),
                ...(send === null ? {} : { 'Content-Type': 'application/json', 'X-Sandlot': '1', Origin: `http://127.0.0.1:${up.port}` }),
            },
        }, (answer) => {
            const pieces = [];
            answer.on('data', (piece) => pieces.push(piece));
            answer.on('end', () => done({
                status: answer.statusCode, ms: performance.now() - began, headers: answer.headers,
                text: Buffer.concat(pieces).toString(),
            }));
        });
        asked.on('error', failed);
        asked.end(send === null ? undefined : JSON.stringify(send));
    });
}

// A server with all of it, and somebody who has a place.
async function prepare() {
    const up = await Up.start();
    const link = /link=([\w-]+)/.exec(up.output)?.[1];
    const made = await ask(up, '/register', '', { username: 'maker', password: PASSWORD, invitation: link });
    const cookie = made.headers['set-cookie'].find((one) => one.startsWith('sandlot=')).split(';')[0];
    await ask(up, '/api/drafts', cookie, { title: 'Mine', template: 'obby' });
    await ask(up, '/api/worlds', cookie, { place_id: 'place_island' });
    await up.again();
    const helper = join(dirname(program), 'control_helper');
    const store = join(up.folder, 'sandlot.db');
    execFileSync(helper, ['places', store, String(PLACES)], { stdio: 'pipe' });
    execFileSync(helper, ['fill', store, String(WORLDS)], { stdio: 'pipe' });
    await up.run();
    const places = JSON.parse((await ask(up, '/api/me/places', cookie)).text).places;
    return { up, cookie, mine: places[0].place_id };
}

// What a browser fetches for a page, until nothing more comes.
async function load(up, path, cookie) {
    const context = await (await openBrowser()).newContext();
    if (cookie !== '') {
        const [name, value] = cookie.split('=');
        await context.addCookies([{ name, value, url: `http://127.0.0.1:${up.port}` }]);
    }
    const page = await context.newPage();
    const fetched = [];
    page.on('response', (answer) => {
        const url = new URL(answer.url());
        if (url.pathname === '/api/live') {
            return; // a stream, which does not end
        }
        fetched.push({ path: url.pathname + url.search, file: join(web, url.pathname), body: answer.body().catch(() => Buffer.alloc(0)) });
    });
    await page.goto(`http://127.0.0.1:${up.port}${path}`);
    await page.waitForSelector('h1');
    await page.waitForTimeout(1500); // what is asked for after what came
    const files = await Promise.all(fetched.map(async ({ path: name, file, body }) => ({
        name, bytes: existsSync(`${file}.gz`) ? statSync(`${file}.gz`).size : (await body).length,
    })));
    await context.close();
    return files;
}

const sum = (files) => files.reduce((total, { bytes }) => total + bytes, 0) / 1000;
const at = (times, part) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))];

async function measure(up, name, path, cookie) {
    const files = await load(up, path, cookie);
    const scripts = files.filter((file) => /\.js$/.test(file.name));
    row(`site.${name}.javascript`, sum(scripts), 'kB', name === 'discover' ? GOAL_KB : null);
    row(`site.${name}.all`, sum(files), 'kB');
    row(`site.${name}.requests`, files.length, 'requests');
    const api = files.map((file) => file.name).filter((each) => /^\/(api|admin|worlds|healthz)/.test(each) && !each.includes('follow='));
    const [documents, answers] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
        documents.push((await ask(up, path, cookie)).ms);
        let total = 0;
        for (const each of api) {
            total += (await ask(up, each, cookie)).ms;
        }
        answers.push(total);
    }
    row(`site.${name}.document_p50`, at(documents, 0.5), 'ms');
    row(`site.${name}.document_p99`, at(documents, 0.99), 'ms');
    row(`site.${name}.answers_p50`, at(answers, 0.5), 'ms');
    row(`site.${name}.answers_p99`, at(answers, 0.99), 'ms');
}

const { up, cookie, mine } = await prepare();
try {
    await measure(up, 'discover', '/', '');
    await measure(up, 'search', '/search?q=tower', '');
    await measure(up, 'place', '/place/place_bench-000003', '');
    await measure(up, 'create', '/create', cookie);
    await measure(up, 'manage', `/create/${mine}`, cookie);
    await measure(up, 'account', '/account', cookie);
    await measure(up, 'class', '/class', cookie);
    await measure(up, 'operator', '/operator', cookie);
    await measure(up, 'people', '/operator/people', cookie);
} finally {
    agent.destroy();
    await closeBrowser();
    await up.stop();
}
process.exitCode = missed > 0 ? 1 : 0;

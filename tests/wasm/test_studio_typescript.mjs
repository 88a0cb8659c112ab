// TypeScript in the studio: the compiler as the pages bundle it makes the bytes and the diagnostics that the
// server's makes, and TranspileService uses it from a worker, or without one.
//   node test_studio_typescript.mjs SOURCE_FOLDER
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';

import { build } from 'vite';

import { scriptModules } from '../../web/compiler_plugin.ts';
import { words } from '../../web/src/studio/words_studio.ts';
import { TranspileService } from '../../web/src/studio/script/transpile_service.ts';

const { newScript } = words;
const [source] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sandlot-typescript-'));
let browser; // {ask}: the studio's compiler
let server = null;

after(() => {
    rmSync(folder, { recursive: true, force: true });
    server?.kill();
});

before(async () => {
    const { output } = (await build({
        configFile: false, logLevel: 'silent', plugins: [scriptModules()],
        build: {
            write: false, minify: false, target: 'es2022',
            lib: { entry: join(source, 'web/src/studio/script/compiler/compiler.ts'), formats: ['es'], fileName: 'compiler' },
        },
    })).at(0);
    const file = join(folder, 'compiler.mjs');
    writeFileSync(file, `const process = undefined; // as in a browser\n${output[0].code}`);
    assert.ok(!/from ["']node:|require\(["'](?:fs|path|crypto)["']\)/.test(output[0].code), 'asks for Node');
    browser = await import(pathToFileURL(file).href);
});

// --- the server's process, by its frames ---

const text = (value) => {
    const bytes = Buffer.from(value);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(bytes.length);
    return Buffer.concat([head, bytes]);
};
const u32 = (value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
};

function askServer(declarations, scripts) {
    server ??= spawn(process.execPath, [join(source, 'server/build/typescript/compiler.mjs')], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    const body = Buffer.concat([text(declarations), u32(scripts.length), ...scripts.flatMap((script) => [
        text(script.path), text(script.file), Buffer.from([script.isTypeScript ? 1 : 0, script.isWanted ? 1 : 0, script.isSent ? 1 : 0]),
        text(script.text)])]);
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(body.length));
    server.stdio[3].write(Buffer.concat([head, body]));
    return new Promise((done, failed) => {
        let have = Buffer.alloc(0);
        server.once('exit', () => failed(new Error('the compiler ended')));
        const hear = (data) => {
            have = Buffer.concat([have, data]);
            while (have.length >= 9) {
                const bytes = Number(have.readBigUInt64LE(1));
                if (have.length < 9 + bytes) {
                    return;
                }
                const frame = have.subarray(9, 9 + bytes);
                const kind = have[0];
                have = have.subarray(9 + bytes);
                if (kind === 1) {
                    server.stdio[3].off('data', hear);
                    done(readAnswer(frame));
                    return;
                }
            }
        };
        server.stdio[3].on('data', hear);
    });
}

function readAnswer(bytes) {
    let at = 0;
    const number = () => bytes.readUInt32LE((at += 4) - 4);
    const string = () => {
        const count = number();
        return bytes.subarray(at, at += count).toString();
    };
    const list = (read) => Array.from({ length: number() }, read);
    return {
        status: number(), reason: string(),
        diagnostics: list(() => ({
            isError: bytes[at++] === 0, file: string(), line: number(), column: number(), code: string(), message: string(),
        })),
        outputs: list(() => ({ path: string(), lua: string(), map: string(), lines: list(number) })),
    };
}

const script = (path, code, index = 0) => ({
    index, path, file: `${path}.ts`, isTypeScript: true, isWanted: true, isSent: !path.startsWith('Server'), text: code,
});

// The scripts of the template that has most of them, and every example of the guide's tests.
function corpus() {
    const template = join(source, 'templates/obby-typescript');
    const scripts = readdirSync(template, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
        .map((name, index) => script(name.slice(0, -3), readFileSync(join(template, name), 'utf8'), index));
    return [
        scripts,
        [script('Workspace/Many', `class A { constructor(readonly n: number) {} get double(): number { return this.n * 2; } }
const list = [1, 2, 3].map((n) => new A(n).double).filter((n) => n > 2);
for (const [key, value] of Object.entries({ a: 1, b: 2 })) { print(key, value, \`\${list.length} of \${value / 2}\`); }
async function later(): Promise<void> { await Promise.resolve(); try { throw new Error("x"); } catch (e) { print(e); } finally { print("end"); } }
export function onStart(self: Entity): void { void later(); for (let i = 0; i < 3; i++) { task.spawn(() => print(i)); } }`)],
        [script('Workspace/Wrong', 'const a: number = "text";\nWorld.Spwan("x");\nlet = 3;')],
        [script('Workspace/Trap', 'export function onStart(): void { if (0) { print("never"); } print((7 / 2) | 0); }')],
        [script('ServerScriptService/Secret', 'export const secret = 5;', 0), script('StarterGui/Leak', 'import { secret } from "../ServerScriptService/Secret";\nprint(secret);', 1)],
        [script('Workspace/Import', 'import fs from "fs";\nprint(fs);')],
    ];
}

test('the same Lua, the same maps and the same diagnostics as the server', async () => {
    const { declarations } = browser;
    assert.ok(declarations.includes('declare'));
    let isFirst = true;
    for (const scripts of corpus()) {
        const wanted = await askServer(isFirst ? declarations : '', scripts);
        const { answer, failure } = browser.ask({ id: 1, scripts, question: { kind: 'compile' } });
        isFirst = false;
        assert.equal(failure, '');
        assert.deepEqual(answer.diagnostics, wanted.diagnostics);
        assert.deepEqual(answer.outputs.map(({ path }) => path), wanted.outputs.map(({ path }) => path));
        for (const [i, { path, lua, map, lines }] of answer.outputs.entries()) {
            assert.equal(lua, wanted.outputs[i].lua, path);
            assert.equal(map, wanted.outputs[i].map, path);
            assert.deepEqual([...lines], wanted.outputs[i].lines, path);
        }
    }
});

test('what "New script" writes in TypeScript has no problem', () => {
    for (const [service, text] of Object.entries(newScript.texts.ts)) {
        const { answer, failure } = browser.ask({ id: 1, scripts: [script(`${service}/Thing`, text('Thing'))], question: { kind: 'compile' } });
        assert.deepEqual([failure, answer.diagnostics, answer.outputs.length > 0], ['', [], true], service);
    }
});

test('completion, help and arguments by the language service', () => {
    const code = 'export function onStart(self: Entity): void { World.Sp; World.Spawn("Coin", ); }';
    const ask = (question) => browser.ask({ id: 1, scripts: [script('Workspace/A', code)], question });
    const { offers } = ask({ kind: 'complete', path: 'Workspace/A', at: code.indexOf('Sp;') + 2 });
    assert.ok(offers.offers.some(({ label }) => label === 'Spawn'));
    assert.match(ask({ kind: 'help', path: 'Workspace/A', at: code.indexOf('Spawn') + 1 }).help.code, /Spawn/);
    assert.equal(ask({ kind: 'parameters', path: 'Workspace/A', at: code.indexOf(', )') + 2 }).parameters.at, 1);
});

// --- what the compiler gives up on ---

// The error would have a type in it whose text is longer than a text can be.
const TOO_LONG = `type U0 = "a";\n${Array.from({ length: 40 }, (_, i) => `type U${i + 1} = \`\${U${i}}\${U${i}}\`;\n`).join('')}const v: U40 = "q";`;
const GIVES_UP = ['Workspace/T.ts', 'a text becomes too long for the compiler'];
const WRONG = ['Workspace/T2.ts', "Type 'string' is not assignable to type 'number'."];

test('a script that the compiler gives up on hides no others, and is tried again only when it changes', () => {
    const scripts = [script('Workspace/T', TOO_LONG), script('Workspace/T2', 'const x: number = "s";', 1)];
    const ask = () => browser.ask({ id: 1, scripts, question: { kind: 'compile' } }).answer.diagnostics;
    const first = ask();
    assert.deepEqual(first.map(({ file, message }) => [file, message]), [GIVES_UP, WRONG]);
    scripts[1].text = 'const x: number = 1;';
    const second = ask();
    assert.equal(second.length, 1);
    assert.equal(second[0], first[0], 'it was tried again'); // else another object
    scripts[0].text = 'const v: string = "q";';
    assert.deepEqual(ask(), []);
});

const STUBS = {
    'transpile_parts.ts': 'export const transpileParts = globalThis.testParts;',
    'check_service.ts': 'export class CheckService { check() { return Promise.resolve(null); } }\nexport const startCheckWorker = null;',
    'status.tsx': "import { signal } from '@preact/signals';\nexport const scriptStats = signal({});",
};

// place_compiler.ts as a page has it, with the compiler but without workers.
async function loadPlaceCompiler() {
    const { output } = (await build({
        configFile: false, logLevel: 'silent', plugins: [{
            name: 'stubs', enforce: 'pre',
            resolveId: (id) => id.split('/').at(-1) in STUBS ? `\0${id.split('/').at(-1)}` : null,
            load: (id) => id.startsWith('\0') ? STUBS[id.slice(1)] ?? null : null,
        }],
        resolve: { alias: { '@preact/signals': '@preact/signals-core' } },
        build: {
            write: false, minify: false, target: 'es2022',
            lib: { entry: join(source, 'web/src/studio/script/place_compiler.ts'), formats: ['es'], fileName: 'place_compiler' },
        },
    })).at(0);
    const file = join(folder, 'place_compiler.mjs');
    writeFileSync(file, output[0].code);
    return import(pathToFileURL(file).href);
}

test('TypeScript that nobody has opened is checked, whatever the compiler gives up on', async () => {
    let questions = 0;
    globalThis.testParts = { startWorker: () => { throw new Error('no workers here'); }, log() {}, pause: async () => undefined,
        loadHere: async () => ({ ask: (request) => (questions++, browser.ask(request)) }) };
    globalThis.requestAnimationFrame = (work) => setImmediate(work);
    const { startPlaceCompiler } = await loadPlaceCompiler();
    const texts = { 'Workspace/T.ts': TOO_LONG, 'Workspace/T2.ts': 'const x: number = "s";', 'Workspace/T3.ts': 'print("a");' };
    const problems = new Map();
    const document = { files: () => Object.keys(texts).map((path) => ({ path, hash: texts[path].slice(0, 40), bytes: 1 })),
        placeJson: () => '{}', on: () => () => undefined };
    const files = { read: async (path) => new TextEncoder().encode(texts[path]) };
    const { compiler, end } = startPlaceCompiler(document, files, (path, found) => problems.set(path, found));
    for (let turn = 0; turn < 5000 && compiler.getScriptSystemStats().compiles < 3; turn++) {
        await new Promise((done) => setImmediate(done));
    }
    end();
    assert.deepEqual([...problems.values()].flat().map(({ file, line, message }) => [file, line, message]).sort(),
        [[GIVES_UP[0], 1, GIVES_UP[1]], [WRONG[0], 1, WRONG[1]]]);
    assert.ok(questions <= 2, `${questions} questions for three scripts`);
});

// --- TranspileService ---

class FakeWorker {
    constructor(answers) {
        this.answers = answers;
        this.listeners = { message: [], error: [], messageerror: [] };
    }
    addEventListener(type, listener) {
        this.listeners[type].push(listener);
    }
    postMessage(request) {
        queueMicrotask(() => this.answers ? this.listeners.message.forEach((hear) => hear({ data: browser.ask(request) }))
            : this.listeners.error.forEach((hear) => hear({})));
    }
    terminate() {}
}

function makeService(startWorker) {
    const told = [];
    const pauses = [];
    const loaded = [];
    const service = new TranspileService({
        startWorker, log: (line) => told.push(line), pause: async (ms) => { pauses.push(ms); },
        loadHere: async () => (loaded.push(1), browser),
    });
    return { service, told, pauses, loaded };
}
const CODE = { code: 'export function onStart(): void { print("hello"); }' };

test('TranspileService: in a worker', async () => {
    const { service, told, loaded } = makeService(() => new FakeWorker(true));
    await service.init();
    assert.match((await service.transpile(CODE)).code, /print\("hello"\)/);
    await assert.rejects(service.transpile({ code: 'let x: number = "a"', path: 'Workspace/Door.ts' }), /^Error: Workspace\/Door\.ts:1: /);
    assert.deepEqual([told, loaded, service.isInWorker], [[], [], true]);
});

test('TranspileService: a worker that fails is started again after growing pauses', async () => {
    let started = 0;
    const { service, told, pauses } = makeService(() => new FakeWorker(++started > 2));
    assert.match((await service.transpile(CODE)).code, /hello/);
    assert.deepEqual([started, pauses, told], [3, [250, 500], []]);
});

test('TranspileService: without workers it compiles in the page, and says so once', async () => {
    const { service, told, pauses, loaded } = makeService(() => { throw new Error('no workers here'); });
    assert.match((await service.transpile(CODE)).code, /hello/);
    assert.match((await service.transpile(CODE)).code, /hello/);
    assert.deepEqual([told.length, loaded.length, service.isInWorker], [1, 1, false]);
    assert.deepEqual(pauses, [250, 500, 1000]);
});

// The studio's scripts without a page: the tokens of the Lua mode, what the editor knows of the API, the rows
// of the script-system document by name, and the same diagnostics and the same Lua as the server.
//   node test_studio_scripts.mjs CORE.wasm API.def STUDIO.wasm
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import test from 'node:test';

import { StringStream } from '@codemirror/language';
import { Text } from '@codemirror/state';

import { readApi } from '../../web/api_table.ts';
import { ApiHelp } from '../../web/src/studio/script/api_help.ts';
import { luaParser } from '../../web/src/studio/script/lua_mode.ts';
import { COMMANDS } from '../../web/src/studio/commands.ts';
import { ConsoleLog, place } from '../../web/src/studio/play/console.ts';
import { KITS, insertKit } from '../../web/src/studio/kits.ts';
import { sha256 } from '../../web/src/studio/files.ts';
import { LocalLink } from '../../web/src/studio/play/local_link.ts';
import { words as studioWords } from '../../web/src/studio/words_studio.ts';
import { PlayedScene } from '../../web/src/studio/play/scene_edit.ts';
import { Workspace } from '../../web/src/studio/script/buffers.ts';
import { createScriptCompiler } from '../../web/src/studio/script/script_compiler.ts';
import { acceptGenerated, bodyHash, readGenerated } from '../../web/src/studio/script/soul_lua.ts';
import { makeWorldExecutor } from '../../web/src/studio/script/world_executor.ts';
import { StudioDocument } from '../../web/src/studio/document.ts';
import { loadCore } from './files.mjs';
import { Stage } from './stage.mjs';

const [wasm, apiDef, studioWasm] = process.argv.slice(2);
const encoder = new TextEncoder();

// --- the Lua mode ---

function tokens(text, state = luaParser.startState()) {
    const found = [];
    for (const line of text.split('\n')) {
        const stream = new StringStream(line, 4, 4);
        while (!stream.eol()) {
            stream.start = stream.pos;
            const style = luaParser.token(stream, state);
            assert.ok(stream.pos > stream.start, `stands still at ${line.slice(stream.pos)}`);
            if (style !== null) {
                found.push(`${style} ${stream.current()}`);
            }
        }
    }
    return found;
}
const kinds = (text) => tokens(text).map((token) => token.split(' ')[0]);

test('Lua: words, names, calls and numbers', () => {
    assert.deepEqual(tokens('local function go(self) return self.x:Run(0x1F, 1e-3) end'), [
        'keyword local', 'keyword function', 'variableName.definition go', 'paren (', 'variableName.special self', 'paren )',
        'keyword return', 'variableName.special self', 'punctuation .', 'propertyName x', 'punctuation :',
        'propertyName.function Run', 'paren (', 'number 0x1F', 'punctuation ,', 'number 1e-3', 'paren )', 'keyword end']);
    assert.deepEqual(tokens('a.end = nil'), ['variableName a', 'punctuation .', 'propertyName end', 'operator =', 'atom nil']);
});

test('Lua: strings and comments over lines', () => {
    assert.deepEqual(kinds('--[==[ a\n]] b\n]==] x'), ['comment', 'comment', 'comment', 'variableName']);
    assert.deepEqual(kinds('[[ a\nb ]] .. "c\\"d"'), ['string', 'string', 'operator', 'string']);
    assert.deepEqual(kinds('"never closed\nx'), ['string', 'variableName']);
    assert.deepEqual(kinds('"goes on \\\nhere" x'), ['string', 'string', 'variableName']);
});

test('Luau: texts with values, types, compound operators and continue', () => {
    assert.deepEqual(tokens('`a {b.c} d`').map((token) => token.split(' ')[0]),
        ['string', 'variableName', 'punctuation', 'propertyName', 'string']);
    assert.deepEqual(kinds('x += 1_000'), ['variableName', 'operator', 'number']);
    assert.equal(kinds('    continue')[0], 'keyword');
    assert.equal(kinds('continue(x)')[0], 'variableName.function');
    assert.deepEqual(kinds('type Row = number').slice(0, 2), ['keyword', 'variableName']);
    assert.equal(kinds('local t = type(x)')[3], 'variableName.function');
});

test('Lua: lines are indented by open blocks', () => {
    const indentAfter = (text, next) => {
        const state = luaParser.startState();
        tokens(text, state);
        return luaParser.indent(state, next, { unit: 4 });
    };
    assert.equal(indentAfter('if x then', ''), 4);
    assert.equal(indentAfter('if x then', 'else'), 0);
    assert.equal(indentAfter('for i = 1, 3 do\n    call(function()', ''), 12);
    assert.equal(indentAfter('local s = [[', ''), null);
});

test('any text is read to its end', () => {
    let seed = 7;
    const signs = ['`', '{', '}', '[[', ']]', '--[[', '"', "'", '\\', '\n', 'end', 'function', '::', '[=[', ' ', '\u{1f600}', '\0', '.', ':'];
    for (let round = 0; round < 300; round++) {
        let text = '';
        for (let i = 0; i < 40; i++) {
            seed = (seed * 1103515245 + 12345) % 2 ** 31;
            text += signs[seed % signs.length];
        }
        tokens(text);
    }
});

// --- what the editor knows ---

const api = readApi(readFileSync(apiDef, 'utf8'));
const help = new ApiHelp(api);

test('api.def is read whole', () => {
    const rows = readFileSync(apiDef, 'utf8').replace(/^\s*(?:\/\/|#).*$/gm, '')
        .match(/\bAPI_(?:FUNCTION|METHOD|PROPERTY|EVENT|GLOBAL|HOOK|FIELD|CONSTANT|LUA)\(/g);
    assert.equal(api.rows.length, rows.length);
    assert.ok(api.rows.every(({ name, doc }) => /^[A-Za-z]\w*$/.test(name) && doc !== ''));
});

test('completion: members by type, names of the API, words of the text', () => {
    const labels = (before) => help.complete(before, before)?.offers.map(({ label }) => label) ?? [];
    assert.ok(labels('World.').includes('Spawn'));
    assert.ok(labels('local p = World.Spawn("Coin")\np.').includes('Position'));
    assert.ok(labels('function OnTouch(self, other)\n    other:').includes('SetPosition'));
    assert.ok(!labels('function OnTouch(self, other)\n    other:').includes('Position'));
    assert.ok(labels('string.').includes('format') && !labels('string.').includes('dump'));
    assert.ok(labels('local speed = 3\nsp').includes('speed'));
    assert.ok(labels('on').includes('onStart'));
    assert.equal(help.complete('-- wor', '-- wor'), null);
});

test('hover and arguments', () => {
    assert.equal(help.lookUp('World.Spawn', 8)?.row?.owner, 'World');
    assert.equal(help.lookUp('local x = 3', 7), null);
    const call = help.callAt('World.Spawn("Coin", Vector3.new(1, 2');
    assert.deepEqual([call?.row.name, call?.argument], ['new', 1]);
    const outer = help.callAt('World.Spawn("Coin", Vector3.new(1, 2, 3)');
    assert.deepEqual([outer?.row.name, outer?.argument], ['Spawn', 1]);
    assert.equal(help.callAt('function onStart('), null);
    for (const text of ['Chat.Send("Ouch, " .. ', 'Chat.Send("Ouch, ', "Chat.Send('a, \\'b, (' .. "]) {
        assert.deepEqual([help.callAt(text)?.row.name, help.callAt(text)?.argument], ['Send', 0], text);
    }
});

test('a line of the console names its file and line, also of TypeScript', () => {
    const tables = new Map([['Workspace/Lift.lua', { file: 'Workspace/Lift.ts', lines: [1, 1, 5] }]]);
    const at = (text) => place(text, tables, ['Workspace/Lift.ts', 'ServerScriptService/Game.lua']);
    assert.deepEqual(at('ServerScriptService/Game.lua:12: attempt'), { file: 'ServerScriptService/Game.lua', line: 12, text: 'ServerScriptService/Game.lua:12: attempt' });
    assert.deepEqual(at('Workspace/Lift.lua:3: attempt'), { file: 'Workspace/Lift.ts', line: 5, text: 'Workspace/Lift.ts:5: attempt' });
    assert.equal(at('ServerScriptService/Game: hello').file, 'ServerScriptService/Game.lua');
    assert.equal(at('nothing of the kind').file, '');
});

test('accepting generated Lua writes the hash of its text into its first line, and nothing else', () => {
    const head = (reviewed) => `-- made from Door.soul · sha256:${'a'.repeat(64)} · source:${'b'.repeat(64)} · body:none · reviewed:${reviewed} · model:m-1\n`;
    const body = 'function onStart(self)\r\nend\n';
    const before = readGenerated(head('none') + body);
    assert.deepEqual([before.body, before.reviewed, before.isReviewed, before.isOurs], [body, 'none', false, true]);
    const accepted = acceptGenerated(head('none') + body);
    assert.equal(accepted, head(bodyHash(body)) + body);
    assert.equal(readGenerated(accepted).isReviewed, true);
    assert.equal(readGenerated(`${accepted}-- more\n`).isReviewed, false);
    assert.equal(bodyHash(body), bodyHash(body.replaceAll('\r\n', '\n'))); // as soul_body_hash
    assert.equal(acceptGenerated('print(1)'), 'print(1)');
    assert.equal(readGenerated('print(1)').isOurs, false);
});

// --- the rows of the script-system document, by name ---

function makeCompiler(more = {}) {
    const built = [];
    const frames = [];
    const warnings = [];
    const compiler = createScriptCompiler({
        build: async (id, code) => {
            built.push(id);
            if (code.includes('broken')) {
                throw new Error(`${id}:1: broken`);
            }
            return { lua: code };
        },
        run: () => ({}), nextFrame: (work) => frames.push(work), compilesPerFrame: 2, warn: (text) => warnings.push(text), ...more,
    });
    const frame = async () => {
        frames.splice(0).forEach((work) => work());
        await new Promise((done) => setImmediate(done));
    };
    return { compiler, built, frames, warnings, frame };
}

test('compile: cache by scriptId and codeHash', async () => {
    const { compiler, built, frame } = makeCompiler();
    const first = compiler.compile({ scriptId: 'a', code: 'x = 1', codeHash: 'h1' });
    await frame();
    assert.equal((await first).ok, true);
    assert.deepEqual(await compiler.compile({ scriptId: 'a', code: 'x = 1', codeHash: 'h1' }).then(({ ok, cached }) => [ok, cached]), [true, true]);
    const other = compiler.compile({ scriptId: 'a', code: 'x = 2', codeHash: 'h2' });
    await frame();
    await other;
    assert.deepEqual(built, ['a', 'a']);
    compiler.invalidate('a');
    const again = compiler.compile({ scriptId: 'a', code: 'x = 2', codeHash: 'h2' });
    await frame();
    await again;
    const { compiles, cacheHits } = compiler.getScriptSystemStats();
    assert.deepEqual([built.length, compiles, cacheHits], [3, 3, 1]);
});

test('compile: N per frame, and how many are pending', async () => {
    const { compiler, built, frame } = makeCompiler();
    const all = ['a', 'b', 'c', 'd', 'e'].map((scriptId) => compiler.compile({ scriptId, code: scriptId }));
    assert.equal(compiler.getScriptSystemStats().pendingCompiles, 5);
    await frame();
    assert.deepEqual(built, ['a', 'b']);
    assert.equal(compiler.getScriptSystemStats().pendingCompiles, 3);
    await frame();
    await frame();
    assert.ok((await Promise.all(all)).every(({ ok }) => ok));
    assert.equal(compiler.getScriptSystemStats().pendingCompiles, 0);
});

test('compile: what does not compile is told, and the last good one still runs', async () => {
    const ran = [];
    const { compiler, frame } = makeCompiler({ run: (_id, lua) => (ran.push(lua), {}) });
    const good = compiler.compile({ scriptId: 'a', code: 'good' });
    await frame();
    await good;
    const bad = compiler.compile({ scriptId: 'a', code: 'broken' });
    await frame();
    assert.deepEqual([(await bad).ok, (await bad).error], [false, 'a:1: broken']);
    assert.equal(compiler.execute('a', 'onStart', { entityId: 1 }).ok, true);
    assert.deepEqual(ran, ['good']);
});

test('parameters: parsed once per parametersHash; invalid ones keep the last good and are shown', async () => {
    const seen = [];
    const { compiler, frame } = makeCompiler({ run: (_id, _lua, _cycle, _entity, given) => (seen.push(given), {}) });
    const done = compiler.compile({ scriptId: 'a', code: 'x' });
    await frame();
    await done;
    const run = (parametersJson, parametersHash) =>
        compiler.execute('a', 'onUpdate', { entityId: 4, parametersJson, parametersHash });
    run('{"speed": 3}', 'p1');
    run('not read, because its hash is known', 'p1');
    assert.deepEqual(seen, [{ speed: 3 }, { speed: 3 }]);
    assert.equal(seen[0], seen[1]);
    run('{"speed": ', 'p2');
    assert.deepEqual(seen.at(-1), { speed: 3 });
    assert.deepEqual(compiler.getScriptSystemStats().invalidParameters.map(({ scriptId, entityId }) => [scriptId, entityId]), [['a', 4]]);
    run('[1]', 'p3');
    assert.equal(compiler.getScriptSystemStats().invalidParameters.length, 1);
    run('{"speed": 5}', 'p4');
    assert.deepEqual([seen.at(-1), compiler.getScriptSystemStats().invalidParameters], [{ speed: 5 }, []]);
});

test('a missing scriptPath warns once', () => {
    const { compiler, warnings } = makeCompiler();
    for (let i = 0; i < 3; i++) {
        assert.equal(compiler.execute('', 'onStart', { entityId: 9 }).ok, false);
    }
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /entity 9 has no scriptPath/);
});

test('marks of compile and execute, timing per entity, and getScriptSystemStats()', async () => {
    performance.clearMeasures();
    const { compiler, frame } = makeCompiler();
    const done = compiler.compile({ scriptId: 'a', code: 'x' });
    await frame();
    await done;
    compiler.execute('a', 'onStart', { entityId: 1 });
    compiler.execute('a', 'onUpdate', { entityId: 1 });
    compiler.execute('a', 'onUpdate', { entityId: 2 });
    assert.equal(performance.getEntriesByName('sandlot.compile', 'measure').length, 1);
    assert.equal(performance.getEntriesByName('sandlot.execute', 'measure').length, 3);
    const stats = compiler.getScriptSystemStats();
    assert.deepEqual(stats.entities.map(({ entityId, calls }) => [entityId, calls]).sort(), [[1, 2], [2, 1]]);
    assert.equal(stats.executions, 3);
    assert.ok(stats.averageExecutionMs >= 0 && stats.averageCompileMs >= 0);
});

test('a long onUpdate is warned of and throttled', async () => {
    let calls = 0;
    const { compiler, frame, warnings } = makeCompiler({ run: () => {
        calls += 1;
        for (const end = performance.now() + 3; performance.now() < end;);
        return {};
    } });
    const done = compiler.compile({ scriptId: 'a', code: 'x' });
    await frame();
    await done;
    for (let i = 0; i < 6; i++) {
        compiler.execute('a', 'onUpdate', { entityId: 1, maxExecutionTimeMs: 1 });
    }
    assert.deepEqual([calls, compiler.getScriptSystemStats().slow, warnings.length], [1, 1, 1]);
});

test('execute runs the hooks of a script in core.wasm, with its parameters', async () => {
    const core = await loadCore(wasm);
    const { compiler, frame } = makeCompiler({ run: makeWorldExecutor(core) });
    const code = `function onStart(self) print("start", self.params.speed) end
function onUpdate(self) print("update") end
function onDisable(self) error("no") end`;
    const done = compiler.compile({ scriptId: 'Workspace/Door', code });
    await frame();
    await done;
    core.logLines();
    assert.deepEqual(compiler.execute('Workspace/Door', 'onStart', { entityId: 42, parameters: { speed: 7 } }).ok, true);
    assert.ok(core.logLines().some((line) => /start\t7/.test(line)));
    compiler.execute('Workspace/Door', 'onUpdate', { entityId: 42 });
    assert.ok(core.logLines().some((line) => line.endsWith('update')));
    const broken = compiler.compile({ scriptId: 'Workspace/Bad', code: 'function onStart() local a = nil; a.b = 1 end' });
    await frame();
    await broken;
    assert.match(compiler.execute('Workspace/Bad', 'onStart', { entityId: 1 }).error ?? '', /attempt to index a nil value/);
});

// --- a text that somebody else changes too ---

// A file of one's own and of others. `change` is what the others make of it.
async function openText() {
    const heard = { files: [], refused: [] };
    const texts = new Map([['a', 'old']]); // by hash
    const state = { hash: 'a', isWaiting: false, isCut: false };
    const document = {
        files: () => [{ path: 'x.lua', hash: state.hash }], placeJson: () => '', sceneJson: () => '',
        on: (event, listener) => { heard[event]?.push(listener); return () => undefined; },
        onRefused: (listener) => { heard.refused.push(listener); return () => undefined; },
        isWaiting: () => state.isWaiting,
    };
    const files = {
        read: () => Promise.resolve(encoder.encode(texts.get(state.hash))),
        write: (_, bytes) => {
            if (state.isCut) {
                return Promise.reject(new TypeError('Failed to fetch'));
            }
            texts.set('b', new TextDecoder().decode(bytes));
            state.hash = 'b';
            return Promise.resolve('b');
        },
    };
    const buffer = await new Workspace(document, files).load('x.lua');
    buffer.edited(Text.of(['mine']));
    await buffer.write();
    assert.equal(buffer.save.value.kind, 'saved');
    const change = async (how = () => undefined) => {
        texts.set('c', 'theirs');
        state.hash = 'c';
        heard.files.forEach((listener) => listener());
        how(heard);
        await new Promise((done) => setTimeout(done, 5));
        return [buffer.save.value.kind, buffer.content()];
    };
    return { state, change, buffer, texts };
}

test('a text that did not reach the server is sent again by itself', async (t) => {
    const { state, buffer, texts } = await openText();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    state.isCut = true;
    buffer.edited(Text.of(['typed offline']));
    await buffer.write();
    const turns = async () => { for (let i = 0; i < 10; i++) { await Promise.resolve(); } };
    for (let i = 0; i < 3; i++) {
        assert.equal(buffer.save.value.kind, 'failed', 'it is said until it is saved');
        t.mock.timers.tick(3000);
        await turns();
    }
    state.isCut = false;
    t.mock.timers.tick(3000);
    await turns();
    assert.equal(buffer.save.value.kind, 'saved');
    assert.equal(texts.get('b'), 'typed offline');
});

test('the console keeps the newest thousand lines', () => {
    const log = new ConsoleLog();
    log.add(Array.from({ length: 1500 }, (_, i) => ({ side: 'server', level: 'info', text: `line ${i}` })));
    log.add([{ side: 'client', level: 'info', text: 'last' }, { side: 'client', level: 'info', text: 'last' }]);
    assert.equal(log.lines.value.length, 1000);
    assert.equal(log.lines.value[0].text, 'line 501');
    assert.deepEqual([log.lines.value.at(-1).text, log.lines.value.at(-1).count], ['last', 2]);
});

test('every command has a key, and no two have the same', () => {
    const keys = COMMANDS.map(({ key }) => key);
    assert.ok(keys.every((key) => key !== ''));
    assert.equal(new Set(keys).size, keys.length);
});

test('what somebody writes after a text was taken is shown; if it may not have been taken, a person is asked', async () => {
    const taken = await openText();
    assert.deepEqual(await taken.change(), ['saved', 'theirs']);
    const waiting = await openText();
    waiting.state.isWaiting = true;
    assert.deepEqual(await waiting.change(), ['conflict', 'mine'], 'the session has not answered');
    const refused = await openText();
    assert.deepEqual(await refused.change((heard) => heard.refused.forEach((listener) => listener())), ['conflict', 'mine']);
});

test('what "New script" writes in Lua has no problem', async () => {
    const core = await loadCore(wasm);
    for (const [service, text] of Object.entries(studioWords.newScript.texts.lua)) {
        const path = `${service}/Thing.lua`;
        const { diagnostics } = core.checkScript(path, new Map([[path, encoder.encode(text('Thing'))],
            ['place.json', encoder.encode('{"format": 1, "name": "A"}')]]));
        assert.deepEqual(diagnostics, [], path);
    }
});

// --- the toolbox ---

const sceneOf = (entities) => encoder.encode(JSON.stringify({ format: 1, entities }));
const PARTS = [
    { id: 1, name: 'Floor', shape: { size: [20, 1, 20] }, transform: { position: [0, -0.5, 0] } },
    { id: 2, name: 'Spawn', type: 'spawn', transform: { position: [0, 1, 0] } },
    { id: 3, name: 'Box', transform: { position: [5, 1, 5] }, shape: { size: [1, 1, 1] } },
    { id: 4, name: 'Lid', parent: 3, transform: { position: [0, 1, 0] }, shape: { size: [1, 0.2, 1] } },
];

// What scripts of the test say: how many coins somebody has, and where the guard is.
const WATCH = `
function onStart()
    while true do
        task.wait(0.25)
        for _, player in ipairs(Players.GetPlayers()) do print("coins " .. tostring(player.leaderstats.Coins)) end
        for _, guard in ipairs(World.GetTagged("guard")) do print("guard " .. guard.Position.x .. " " .. guard.Position.z) end
    end
end
`;

// A place that has a floor, a spawn at the middle, and what the buttons of the toolbox insert, at [x, z, turned by].
async function inserted(core, kits) {
    const document = await StudioDocument.load(new WebAssembly.Module(readFileSync(studioWasm)));
    document.openTexts('{"format": 1, "name": "Kits"}', new TextDecoder().decode(sceneOf(
        [{ ...PARTS[0], shape: { size: [80, 1, 80] } }, { ...PARTS[1], transform: { position: [0, 0, 0] } }])));
    const blobs = new Map();
    const files = {
        hashOf: (path) => document.files().find((file) => file.path === path)?.hash ?? null,
        store: async (bytes) => {
            const hash = await sha256(bytes);
            blobs.set(hash, bytes);
            return hash;
        },
    };
    const studio = { document, files, view: null, rows: new Map(), grid: { value: 0.5 }, select: () => undefined };
    for (const [kit, [x, z, turn = 0]] of kits) {
        const id = await insertKit(studio, kit);
        const { transform } = document.entity(id);
        document.edit('Put', [{ op: 'set', member: 'transform.position', ids: [id], value: [x, transform?.position?.[1] ?? 0, z] },
            ...turn === 0 ? [] : [{ op: 'set', member: 'transform.rotation', ids: [id], value: [0, turn, 0] }]]);
    }
    const all = new Map(document.files().map(({ path, hash }) => [path, blobs.get(hash)]));
    all.set('place.json', encoder.encode(document.placeJson()));
    all.set('ServerScriptService/Watch.lua', encoder.encode(WATCH));
    assert.deepEqual(document.problems(), []);
    const stage = new Stage(core, all, document.compile(all));
    const player = stage.join('ada');
    stage.run(1);
    core.logLines();
    // Walks along z with that strength, and tells all places where one was.
    const walk = (seconds, moveZ = 1) => {
        player.input.moveZ = moveZ;
        return Array.from({ length: seconds * 10 }, () => {
            stage.run(0.1);
            const [, , x, y, z] = player.client.own();
            return { x, y, z };
        });
    };
    return { stage, walk, document, said: (word) => core.logLines().filter((line) => line.includes(`${word} `)).map((line) => line.split(`${word} `)[1]) };
}

test('what the toolbox inserts does what its button says', async () => {
    const core = await loadCore(wasm);
    const most = (places, axis) => Math.max(...places.map((place) => place[axis]));
    const play = async (kits, act) => {
        const place = await inserted(core, kits);
        await act(place);
        place.stage.end();
    };
    await play([['block', [0, 5]]], ({ walk }) => assert.ok(most(walk(2), 'z') < 3, 'a block stops who walks'));
    const climbed = [];
    for (const turn of [0, 90, 180, 270]) {
        await play([['wedge', [0, 5, turn]]], ({ walk }) => climbed.push(most(walk(2), 'y')));
    }
    assert.ok(Math.max(...climbed) > 1.2 && Math.min(...climbed) < 0.5, `a ramp, from one side: ${climbed}`);
    await play([['spawn', [9, 9]]], ({ stage }) => {
        ['b', 'c', 'd'].forEach((name) => stage.join(name));
        stage.run(1);
        const places = stage.players.map(({ client }) => client.own()[2]);
        assert.ok(places.some((x) => x > 8) && places.some((x) => x < 1), `players are spread: ${places}`);
    });
    await play([['checkpoint', [0, 6]], ['kill', [0, 14]]], ({ walk }) => {
        assert.ok(most(walk(2), 'z') > 8, 'a checkpoint is in nobody’s way');
        assert.ok(most(walk(1.5), 'z') > 12);
        const after = walk(6, 0).at(-1);
        assert.ok(Math.abs(after.z - 6) < 2.1, `who dies begins at the checkpoint: ${after.z}`);
    });
    await play([['coin', [0, 4]]], ({ walk, said }) => {
        walk(3);
        assert.ok(said('coins').includes('1'), 'a coin');
    });
    await play([['door', [0, 4]]], ({ walk }) => {
        assert.ok(most(walk(1), 'z') < 4, 'a closed door');
        assert.ok(most(walk(3), 'z') > 5, 'it opens');
    });
    await play([['lift', [0, 0]]], ({ walk }) => assert.ok(most(walk(5, 0), 'y') > 3, 'a lift goes up'));
    await play([['trampoline', [0, 5]]], ({ walk }) => assert.ok(most(walk(3), 'y') > 3, 'a trampoline throws up'));
    await play([['conveyor', [0, 0]]], ({ walk }) => assert.ok(most(walk(2, 0), 'z') > 3, 'a conveyor carries'));
    await play([['guard', [20, 20]]], ({ walk, said }) => {
        walk(8, 0);
        assert.ok(new Set(said('guard')).size > 5, 'a guard walks');
    });
    assert.deepEqual(KITS.filter((kit) => !['block', 'wedge', 'spawn', 'checkpoint', 'kill', 'coin', 'door', 'lift', 'trampoline', 'conveyor', 'guard'].includes(kit)), []);
});

// --- editing while it is played ---

const changed = (id, members) => ({ ...PARTS.find((part) => part.id === id), ...members });
// What follows from these entities being so, and those being gone.
const editOf = (nows, gone = [], scene = new PlayedScene(sceneOf(PARTS))) =>
    scene.edit(nows.map(({ id }) => id), gone, (id) => nows.find((now) => now.id === id));

test('what is changed in a scene is done in place if it can be', () => {
    assert.deepEqual(editOf([changed(1, { colour: '#112233' })]).entities.map(({ id }) => id), [1]);
    assert.deepEqual(editOf([changed(4, { bounce: 3 })]).entities.map(({ entity }) => entity.id), [4]);
    const nothing = { entities: [], removed: [], given: [], lost: [], created: [], spawns: [], spawnsGone: [] };
    assert.deepEqual(editOf([], [4]), { ...nothing, removed: [4] });
    assert.deepEqual(editOf([PARTS[0], PARTS[1]]), nothing, 'what is as it was');
    const fresh = { ...PARTS[0], id: 9 };
    assert.deepEqual(editOf([fresh]), { ...nothing, created: [fresh] });
    const above = [{ id: 3, transform: PARTS[2].transform }];
    for (const members of [{ scriptPath: 'Workspace/Door.lua' }, { anchored: false }, { type: 'prop' }, { motion: { waypoints: [] } },
        { attributes: { to: { entity: 1 }, a: { value: 1, persistent: true } } }]) {
        assert.deepEqual(editOf([{ ...fresh, ...members }]), { ...nothing, created: [{ ...fresh, ...members }] });
    }
    assert.deepEqual(editOf([{ ...fresh, parent: 3 }]), { ...nothing, created: [{ entity: { ...fresh, parent: 3 }, above }] });
    // With another size, name or motion it goes and comes; what stands on it stays.
    for (const members of [{ shape: { size: [1, 1, 1] } }, { name: 'Ground' }, { motion: { waypoints: [] } }, { parameters: { a: 1 } }]) {
        assert.deepEqual(editOf([changed(1, members)]), { ...nothing, removed: [1], created: [changed(1, members)] });
    }
    // What moves takes along what stands on it.
    const box = changed(3, { transform: { position: [0, 9, 0] } });
    assert.deepEqual(editOf([box]), { ...nothing, entities: [box, { entity: PARTS[3], above: [{ id: 3, transform: box.transform }] }] });
    const lid = changed(4, { transform: { position: [0, 9, 0] } });
    assert.deepEqual(editOf([lid]), { ...nothing, entities: [{ entity: lid, above }] });
    const crate = { ...PARTS[3], id: 5, type: 'prop' };
    assert.deepEqual(editOf([box], [], new PlayedScene(sceneOf([...PARTS, crate]))).created, [{ entity: crate, above: [{ id: 3, transform: box.transform }] }]);
    const group = { id: 6, type: 'group' };
    const inGroup = { ...PARTS[0], parent: 6 };
    const lifted = { ...group, transform: { position: [0, 2, 0] } };
    assert.deepEqual(editOf([lifted], [], new PlayedScene(sceneOf([group, inGroup, PARTS[1]]))).entities,
        [{ entity: inGroup, above: [{ id: 6, transform: lifted.transform }] }]);
    assert.deepEqual(editOf([group]), nothing, 'a group is nothing in a world');
    // Where players start: moved, new, gone, and with the group that it is in.
    const [, spawn] = PARTS;
    const elsewhere = changed(2, { transform: { position: [0, 9, 0] } });
    assert.deepEqual(editOf([elsewhere, { ...spawn, id: 9 }]), { ...nothing, spawns: [elsewhere, { ...spawn, id: 9 }] });
    assert.deepEqual(editOf([], [2]), { ...nothing, spawnsGone: [{ id: 2 }] });
    const hidden = { ...spawn, id: 8, parent: 6 };
    assert.deepEqual(editOf([lifted], [], new PlayedScene(sceneOf([group, hidden, spawn]))).spawns,
        [{ entity: hidden, above: [{ id: 6, transform: lifted.transform }] }]);
    const sign = { ...PARTS[2], id: 7, attributes: { to: { entity: 4 }, kept: { value: 1, persistent: true } } };
    const scened = () => new PlayedScene(sceneOf([...PARTS, sign]));
    const not = {
        'a new one for the server alone': [{ ...fresh, serverOnly: true }],
        'a spawn that becomes a part': [{ ...PARTS[0], id: 2 }],
        'a part that becomes a spawn': [{ ...PARTS[1], id: 3 }],
        'another size of what is named': [changed(4, { shape: { size: [1, 1, 1] } })],
        'another size of what is stored': [{ ...sign, shape: { size: [2, 1, 1] } }],
        'what stands on nothing there is': [{ ...fresh, parent: 99 }],
    };
    for (const [why, nows] of Object.entries(not)) {
        assert.equal(editOf(nows, [], scened()), null, why);
    }
    const gone = scened();
    assert.deepEqual(editOf([], [4], gone).removed, [4]);
    assert.equal(editOf([PARTS[3]], [], gone), null, 'it comes back by undo, and the sign names it');
    assert.deepEqual(editOf([], [55]), nothing, 'it came and went');
    // The next one is compared with what is played then; only what was changed is asked for.
    const scene = new PlayedScene(sceneOf(PARTS));
    const blue = changed(1, { colour: '#0000ff' });
    assert.equal(editOf([blue], [], scene).entities.length, 1);
    assert.equal(editOf([blue], [], scene).entities.length, 0);
    assert.equal(editOf([], [4], scene).removed.length, 1);
    assert.equal(editOf([box], [], scene).entities.length, 1, 'nothing stands on it any more');
});

test('attributes and tags: what came, and what went', () => {
    const scene = new PlayedScene(sceneOf([{ ...PARTS[0], attributes: { a: 1, b: [1, 2, 3], hidden: { value: 1, visibility: 'server' } }, tags: ['x', 'y'] },
        ...PARTS.slice(1)]));
    const now = { ...PARTS[0], attributes: { a: 2, c: 'new', hidden: { value: 1, visibility: 'server' } }, tags: ['y', 'z'] };
    assert.deepEqual(editOf([now], [], scene), { entities: [], removed: [], created: [], spawns: [], spawnsGone: [],
        given: [{ id: 1, attributes: { a: 2, c: 'new' }, tags: ['z'] }], lost: [{ id: 1, attributes: { b: [1, 2, 3] }, tags: ['x'] }] });
    const other = { ...PARTS[2], tags: ['t'] };
    assert.deepEqual(editOf([other], [], scene).given, [{ id: other.id, attributes: {}, tags: ['t'] }], 'the world knows whether it is there');
    assert.deepEqual(editOf([{ ...now, attributes: { a: 2, c: 'new', hidden: 1 } }], [], scene).given,
        [{ id: 1, attributes: { hidden: 1 }, tags: [] }], 'everybody sees it now');
});

// The worker itself, with a scope and a clock of the test.
test('what is edited before the world stands is done when it does', async () => {
    registerHooks({ resolve: (name, context, next) => name.endsWith('core.wasm?url')
        ? { url: 'data:text/javascript,export default "core.wasm"', shortCircuit: true } : next(name, context) });
    const told = [];
    let hear = () => undefined;
    const kept = [globalThis.self, globalThis.fetch, globalThis.setInterval];
    globalThis.self = { postMessage: (message) => told.push(message), addEventListener: (_, listener) => { hear = (data) => listener({ data }); } };
    globalThis.fetch = async () => new Response(readFileSync(wasm), { headers: { 'content-type': 'application/wasm' } });
    globalThis.setInterval = () => 0;
    const { port1, port2 } = new MessageChannel();
    try {
        await import('../../web/src/studio/play/play.worker.ts');
        const files = new Map([['place.json', encoder.encode('{"format": 1, "name": "Edited"}')], ['scene.json', sceneOf(PARTS)]]);
        hear({ type: 'start', place: { files, compiled: null }, name: 'ada', placeId: '', port: port1 });
        const fresh = { ...PARTS[0], id: 9 };
        hear({ type: 'apply', diff: { edit: editOf([fresh]) } });
        hear({ type: 'apply', diff: { edit: { entities: [{ ...fresh, bounce: 3 }], removed: [] } } });
        hear({ type: 'apply', diff: { edit: { entities: [{ ...fresh, id: 10 }], removed: [] } } });
        for (let i = 0; i < 500 && !told.some(({ type }) => type === 'whole'); i++) {
            await new Promise((done) => setTimeout(done, 10));
        }
        assert.deepEqual(told.map(({ type }) => type), ['started', 'applied', 'applied', 'whole'], 'the first is there, the last is not');
        assert.equal(told[1].isRemade, false);
    } finally {
        [globalThis.self, globalThis.fetch, globalThis.setInterval] = kept;
        port1.close();
        port2.close();
    }
});

test('a part moves while it is played; the next new world has it there too', async () => {
    const core = await loadCore(wasm);
    const files = new Map([
        ['ServerScriptService/Main.lua', encoder.encode('print("one")\n')],
        ['place.json', encoder.encode('{"format": 1, "name": "Edited"}')], ['scene.json', sceneOf(PARTS)]]);
    const world = core.createWorld(files);
    const link = new LocalLink(core, world, 'ada', () => undefined);
    link.connect();
    world.tick(1);
    const decoder = new TextDecoder();
    const floor = changed(1, { transform: { position: [0, -3, 0] } });
    const moved = sceneOf(PARTS.map((part) => (part.id === 1 ? floor : part)));
    assert.equal(link.applyHere({ edit: editOf([floor]) }), true, 'the world goes on');
    assert.equal(link.applyHere({ edit: { entities: [{ ...floor, id: 9 }], removed: [] } }), false, 'there is none');
    assert.equal(link.applyHere({ edit: editOf([{ ...floor, id: 9 }]) }), true, 'a new one');
    assert.equal(link.applyHere({ edit: { entities: [{ ...floor, id: 9, colour: '#ff0000' }], removed: [] } }), true, 'it is there now');
    assert.equal(link.applyHere({ files: { 'ServerScriptService/Main.lua': 'print("two")\n' } }), true, 'a reload');
    const before = decoder.decode(world.scene());
    const again = { files: { 'place.json': '{"format": 1, "name": "Again"}', 'scene.json': decoder.decode(moved) } };
    assert.equal(link.applyHere(again), false, 'it has to be made anew');
    link.applyTexts(again);
    assert.notEqual(decoder.decode(world.scene()), before);
    assert.ok(Buffer.from(world.scene()).includes(Buffer.from(new Float32Array([-3]).buffer)), 'made of the edited scene');
    assert.equal(link.applyHere({ files: { 'ServerScriptService/New.lua': 'print("new")\n' } }), true, 'a script that comes');
    assert.equal(link.applyHere({ files: { 'ServerScriptService/New.lua': null } }), false);
    world.destroy();
});

// --- a world of what the document compiled ---

const HOME = `
local store = DataStore.GetDataStore("coins")
function onStart()
    print("has " .. tostring(store:GetAsync("ada")))
    store:SetAsync("ada", 7)
end
`;

test('a world made of what the document compiled is the world of its texts, and goes on in another memory', async () => {
    const document = await StudioDocument.load(new WebAssembly.Module(readFileSync(studioWasm)));
    document.openTexts('{"format": 1, "name": "Made"}', new TextDecoder().decode(sceneOf(PARTS)));
    const files = new Map([
        ['ServerScriptService/Main.lua', encoder.encode(HOME)],
        ['place.json', encoder.encode(document.placeJson())], ['scene.json', encoder.encode(document.sceneJson())]]);
    const texts = new Stage(await loadCore(wasm), files);
    const scripts = new Map([...files].filter(([path]) => path !== 'scene.json'));
    const compiled = new Stage(await loadCore(wasm), scripts, document.compile(scripts));
    for (const stage of [texts, compiled]) {
        const ada = stage.join('ada');
        stage.run(2);
        ada.input.moveZ = 1;
        stage.run(1);
    }
    assert.deepEqual(compiled.hashes(), texts.hashes());
    compiled.end();
    texts.end();

    // A new part makes a new world in a fresh instance; the player and what scripts stored are in it.
    const core = await loadCore(wasm);
    const world = core.createCompiledWorld(scripts, document.compile(scripts));
    const link = new LocalLink(core, world, 'Lea Müller, 7.b', () => undefined);
    const play = (its, of, seconds, moveZ) => {
        for (let i = 0; i < seconds * 60; i++) {
            now += 1000 / 60;
            its.client.setInput({ moveX: 0, moveZ: i < 60 ? moveZ : 0, yaw: 0, pitch: 0, buttons: 0 });
            its.client.update(now);
            its.pump();
            of.tick(1_700_000_000_000 + Math.round(now));
            its.tick(() => undefined);
            for (const _ of its.client.wants()) {
                its.client.fetchOverWire();
            }
        }
    };
    let now = performance.now();
    link.isPaused = true; // its clock is this test's
    link.connect();
    play(link, world, 3, 1);
    assert.equal(link.phase, 'playing');
    const was = link.client.own();
    assert.ok(was[4] > 2, 'it has walked');
    document.edit('new', [{ op: 'create', entity: { id: 77, name: 'New', shape: { size: [1, 1, 1] } } }]);
    const fresh = await loadCore(wasm);
    const [next, made] = link.remade(fresh, { files: scripts, compiled: document.compile(scripts) });
    next.connect();
    play(next, made, 3, 0);
    assert.equal(next.phase, 'playing');
    const is = next.client.own();
    assert.ok(Math.hypot(is[2] - was[2], is[4] - was[4]) < 0.5, `${is} is near ${was}`);
    assert.ok(fresh.logLines().some((line) => line.includes('has 7')), 'what was stored is there');
    // Also here a script can be exchanged, though the world goes on with the version of what was stored.
    const [path, text] = [...scripts].find(([each]) => each.endsWith('.lua'));
    for (const turn of [1, 2]) {
        assert.equal(made.applyDiff({ files: { [path]: `${new TextDecoder().decode(text)}\n-- ${turn}\n` } }), false, 'while it runs');
        play(next, made, 1, 0);
        assert.equal(next.phase, 'playing');
    }
    assert.throws(() => link.remade(fresh, { files: scripts, compiled: new Uint8Array(9) }), /compiled place/);
});

// What core.wasm says about scripts, asked as a page asks it: the diagnostics of
// tests/script/check/expected.txt, which native builds and `sandlot build --json` have too.
//   node test_check.mjs CORE.wasm SCRIPTS ISLAND    (tests/script, places/island)
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { loadCore, readPlace } from './files.mjs';

const [wasm, scripts, island] = process.argv.slice(2);
const corpus = join(scripts, 'check');

// As tests/flow/test_check.py has them.
const MORE = {
    hostile: 'ReplicatedStorage', neighbours: 'ReplicatedStorage', same: 'ReplicatedStorage',
    api: 'Workspace',
};

function readExpected() {
    const cases = new Map();
    for (const line of readFileSync(join(corpus, 'expected.txt'), 'utf8').split('\n')) {
        if (line.startsWith('== ')) {
            cases.set(line.slice(3), []);
        } else if (line !== '') {
            [...cases.values()].at(-1).push(JSON.parse(line));
        }
    }
    return cases;
}

function readCase(name) {
    const files = readPlace(name === 'island' ? island : join(corpus, name));
    for (const row of readFileSync(join(corpus, 'made.txt'), 'utf8').trim().split('\n')) {
        const [path, count, line] = row.split(' ');
        if (path.startsWith(`${name}/`)) {
            files.set(path.slice(name.length + 1), Buffer.from(`${line}\n`.repeat(Number(count))));
        }
    }
    for (const [folder, service] of name === 'whole' ? Object.entries(MORE) : []) {
        for (const file of readdirSync(join(scripts, folder)).filter((f) => f.endsWith('.lua'))) {
            files.set(`${service}/${folder}/${file}`, readFileSync(join(scripts, folder, file)));
        }
    }
    return files;
}

// After these there is no rune.
const FATAL = new Set(['syntax', 'luau', 'file', 'limit', 'service', 'name']);

const isScript = (path) => /\.luau?$/.test(path) && !path.endsWith('.soul.lua');

const utf8Order = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

// In the order of a build.
function order(a, b) {
    return utf8Order(a.file, b.file) || a.line - b.line || a.column - b.column ||
        (a.level === b.level ? 0 : a.level === 'error' ? -1 : 1) ||
        utf8Order(a.code, b.code) || utf8Order(a.message, b.message);
}

test('a page says what a build says', async () => {
    const core = await loadCore(wasm);
    const expected = readExpected();
    assert.ok(expected.size > 10 && expected.get('whole').length > 100);
    for (const [name, wanted] of expected) {
        const files = readCase(name);
        const told = new Map();
        for (const path of [...files.keys()].filter(isScript)) {
            const answer = core.checkScript(path, files);
            answer.diagnostics.forEach((row) => told.set(JSON.stringify(row), row));
            const errors = answer.diagnostics.filter(({ level }) => level === 'error');
            assert.equal(answer.errors, errors.length, path);
            assert.equal(answer.ok, errors.length === 0, path);
            assert.equal(answer.rune_bytes > 0,
                !errors.some(({ file, code }) => file === path && FATAL.has(code)), path);
        }
        assert.deepEqual([...told.values()].sort(order), wanted, name);
    }
});

test('where a script runs, and what it requires', async () => {
    const core = await loadCore(wasm);
    const files = readCase('whole');
    const at = (path) => core.checkScript(path, files);
    assert.equal(at('Workspace/as_it_is.lua').run_context, 'Both');
    assert.equal(at('Workspace/narrowed_to_server.lua').run_context, 'Server');
    assert.equal(at('SoulService/Workspace/in_soul_service.lua').run_context, 'Both');
    assert.equal(at('Nowhere/lost.lua').run_context, '');
    assert.deepEqual(at('ServerScriptService/requires_twice.lua').requires,
        ['ReplicatedStorage/Tols', 'ReplicatedStorage/Tools']);
    assert.equal(at('ServerScriptService/requires_64.lua').requires.length, 64);
    assert.throws(() => at('scene.json'), /only Lua/);
    assert.throws(() => at('none.lua'), /there is no none.lua/);
});

// Runs two builds of lua_smoke crosswise: each compiles the smoke script to bytecode, each runs the
// script and both bytecodes. All bytecode must be the same bytes, and so must everything printed.
//   node compare.mjs PROGRAM PROGRAM      (a .wasm runs under this Node)
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const runner = new URL('../support/run_wasm.mjs', import.meta.url).pathname;
const script = readFileSync(new URL('smoke.lua', import.meta.url));

let passed = 0;
let failed = 0;

function check(condition, what) {
    passed += condition ? 1 : 0;
    failed += condition ? 0 : 1;
    if (!condition) {
        console.log(`failed: ${what}`);
    }
}

function run(program, mode, input) {
    const [command, args] = program.endsWith('.wasm')
        ? [process.execPath, [runner, program, mode]]
        : [program, [mode]];
    const result = spawnSync(command, args, { input, maxBuffer: 1 << 26 });
    check(result.status === 0, `${program} ${mode}: ${result.error ?? result.stderr}`);
    return result.stdout;
}

const [first, second] = process.argv.slice(2);
const expected = run(first, 'run', script);
check(expected.includes('garbage\ttrue\n'), `the script came to its end:\n${expected}`);

const bytecode = run(first, 'dump', script);
check(bytecode.subarray(0, 4).equals(Buffer.from('\x1bLua', 'latin1')), 'the dump is bytecode');
check(run(second, 'dump', script).equals(bytecode), 'both compile to the same bytes');

for (const [what, got] of [
    ['bytecode natively', run(first, 'run', bytecode)],
    ['the script, second build', run(second, 'run', script)],
    ['bytecode, second build', run(second, 'run', bytecode)],
]) {
    const [lines, wanted] = [`${got}`.split('\n'), `${expected}`.split('\n')];
    const at = lines.findIndex((line, i) => line !== wanted[i]);
    check(got.equals(expected), `${what} printed "${lines[at]}" instead of "${wanted[at]}"`);
}

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

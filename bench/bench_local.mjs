// What a place costs that is played in the page alone, as the studio's play-test does it: resident
// memory of the linear memory (a page of it takes room only once it was written), and the processor
// time until the world stands and until it is made anew after an edit.
// The world is made from what the document compiled (studio.wasm), without JSON between them.
//   node bench_local.mjs CORE.wasm STUDIO.wasm [--json]
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { Core, Stage } from '../tests/wasm/stage.mjs';
import { StudioDocument } from '../web/src/studio/document.ts';
import { outcome, row } from './report.mjs';

const [wasm, studio] = process.argv.slice(2);
const GOALS = [{ parts: 1000, mb: 48, remakeMs: 15 }, { parts: 10_000, mb: 96, remakeMs: 60 }];
const PLAYED_SECONDS = 5;
const REPEATS = 40;
const text = new TextEncoder();
const plain = new TextDecoder();

function place(parts) {
    const side = Math.ceil(Math.sqrt(parts));
    const entities = [{
        id: 1, name: 'Floor', type: 'part', transform: { position: [0, -0.5, 0] },
        shape: { kind: 'box', size: [4 * side, 1, 4 * side] },
    }, { id: 2, name: 'Spawn', type: 'spawn', transform: { position: [0, 1, 0] } }];
    for (let i = 0; i < parts; i++) {
        entities.push({
            id: i + 3, name: `Part ${i}`, type: 'part',
            transform: { position: [4 * (i % side) - 2 * side, 3 + i % 5, 4 * Math.floor(i / side) - 2 * side] },
            shape: { kind: 'box', size: [2, 1, 2] }, colour: '#33aa66',
        });
    }
    const json = (value) => text.encode(JSON.stringify(value));
    return new Map([
        ['StarterPlayer/Hello.lua', text.encode('function onStart() print("here") end\n')],
        ['place.json', json({ format: 1, name: 'Bench' })],
        ['scene.json', json({ format: 1, entities })],
    ]);
}

// Of everything that this process may write.
function residentBytes() {
    let resident = 0;
    let bytes = 0;
    for (const line of readFileSync('/proc/self/smaps', 'latin1').split('\n')) {
        const mapping = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line);
        if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) {
            bytes = mapping === null ? 0 : parseInt(mapping[2], 16) - parseInt(mapping[1], 16);
        } else if (line.startsWith('Rss:')) {
            resident += bytes > 0 ? Number(/(\d+)/.exec(line)[1]) * 1024 : 0;
        }
    }
    return resident;
}

const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
};
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function measure({ parts, mb, remakeMs }) {
    const files = place(parts);
    const module = new WebAssembly.Module(readFileSync(wasm));
    const document = await StudioDocument.load(new WebAssembly.Module(readFileSync(studio)));
    document.openTexts(plain.decode(files.get('place.json')), plain.decode(files.get('scene.json')));
    const scripts = new Map([...files].filter(([path]) => path !== 'scene.json'));
    const compileMs = [];
    const times = []; // beside the world before, which gives its rows and its scripts
    const aloneMs = []; // without it: every script is checked
    let last = null;
    let compiled = new Uint8Array();
    // As the studio makes a world anew: a fresh instance, which frees the old one's memory whole. The first ones
    // also pay for the engine's compiler, which goes on beside them.
    for (let i = 0; i < REPEATS; i++) {
        const asked = cpuMs();
        compiled = document.compile(scripts);
        const began = cpuMs();
        const stage = new Stage(await Core.load(module), scripts, compiled, last?.world);
        compileMs.push(began - asked);
        times.push(cpuMs() - began);
        last?.end();
        last = stage;
        const again = cpuMs();
        const alone = new Stage(await Core.load(module), scripts, compiled);
        aloneMs.push(cpuMs() - again);
        alone.end();
    }
    last.end();
    last = null;
    globalThis.gc();
    const before = residentBytes();
    const stage = new Stage(await Core.load(module), scripts, compiled);
    stage.join('ada');
    stage.run(PLAYED_SECONDS);
    globalThis.gc();
    row(`local.resident_${parts}`, (residentBytes() - before) / 1e6, 'MB', mb);
    row(`local.compile_${parts}`, median(compileMs.slice(1)), 'ms', remakeMs);
    row(`local.start_${parts}`, compileMs[0] + times[0], 'ms', 500);
    row(`local.first_${parts}`, median(aloneMs.slice(1)), 'ms');
    row(`local.remake_${parts}`, median(times.slice(1)), 'ms', remakeMs);
    stage.end();
}

// Each in a process of its own, so that one's memory is not the other's.
const [, , , , which] = process.argv;
if (which === undefined || which === '--json') {
    for (const { parts } of GOALS) {
        const { status } = spawnSync(process.execPath, [...process.execArgv, '--expose-gc',
            process.argv[1], wasm, studio, String(parts), ...process.argv.slice(4)], { stdio: 'inherit' });
        process.exitCode ||= status;
    }
} else {
    await measure(GOALS.find(({ parts }) => parts === Number(which)));
    process.exitCode = outcome();
}

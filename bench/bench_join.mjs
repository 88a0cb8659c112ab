// What joining costs in the real page: requests, round trips and bytes of scene and scripts, the first
// time and the second; and over a link of 2 Mbit/s how regularly snapshots arrive while 20 MB of the
// place are downloaded, beside quiet times over the same link.
//   tools/bench_join [--scripts 1000] [--megabytes 20] [--pairs 3] [--json]
// A round trip here is a request that began after another had ended: requests at the same time count
// as one. The link passes 1,400 bytes of each connection in turn, as a fair queue does. All of it takes
// three minutes, two of which are the download: 20 MB take 80 s, and quiet times are between.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { outcome, row } from './report.mjs';
import { roundTrips, slowLink } from './slow_link.mjs';
import { Player, World, closeBrowser, sleep, until } from '../tests/browser/support.mjs';

const argument = (name, otherwise) => {
    const at = process.argv.indexOf(name);
    return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const SCRIPTS = argument('--scripts', 1000);
const MEGABYTES = argument('--megabytes', 20);
const PAIRS = argument('--pairs', 3);
const FILES = 4; // that these megabytes are in
const AT_ONCE = 2; // as many as the page has while one plays (download.ts)
const QUIET_MS = 14_000; // the client measures its last 256 snapshots: 13 s
const BYTES_A_SECOND = 2_000_000 / 8;
const GOAL_TRIPS = 3; // the scene and the list of scripts, then the scripts; and one to spare
const GOAL_SHARE = 0.45; // of the runes' own bytes
const GOAL_RATIO = 1.25;
const folder = mkdtempSync(join(tmpdir(), 'sandlot-join-'));

function write(place, name, text) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), typeof text === 'string' ? text : JSON.stringify(text));
}

// A module of about 5 kB, compiled, as people write them.
function moduleText(i) {
    const functions = Array.from({ length: 14 }, (_, k) => `
function Module.step${k}(entity, amount)
    local position = entity.Position
    local value_${(i * 31 + k * 7) % 997} = (amount or ${k + i % 13}) * ${(i * 17 + k) % 251} / 60
    if position.Y < ${k - 5} or value_${(i * 31 + k * 7) % 997} > ${i % 90 + 10} then
        return nil, "part ${(i * 7919 + k * 104729) % 100003} of ${i} is out of range"
    end
    Module.count = Module.count + 1
    return position + Vector3.new(value_${(i * 31 + k * 7) % 997}, ${k}, ${(i + k) % 7})
end`).join('\n');
    return `local Module = {count = 0, name = "module ${i}"}\n${functions}\nreturn Module\n`;
}

// Sounds of noise, which no packing makes smaller; the hashes that they are served under.
function writeAssets(place) {
    const bytes = Math.round(MEGABYTES * 1e6 / FILES / 2) * 2;
    return Array.from({ length: FILES }, (_, i) => {
        const file = Buffer.alloc(44 + bytes);
        file.write('RIFF', 0);
        file.writeUInt32LE(36 + bytes, 4);
        file.write('WAVEfmt ', 8);
        file.writeUInt32LE(16, 16);
        [1, 1].forEach((value, k) => file.writeUInt16LE(value, 20 + 2 * k)); // PCM, mono
        file.writeUInt32LE(44_100, 24);
        file.writeUInt32LE(88_200, 28);
        [2, 16].forEach((value, k) => file.writeUInt16LE(value, 32 + 2 * k));
        file.write('data', 36);
        file.writeUInt32LE(bytes, 40);
        randomBytes(bytes).copy(file, 44);
        mkdirSync(join(place, 'assets'), { recursive: true });
        writeFileSync(join(place, 'assets', `noise${i}.wav`), file);
        return { hash: createHash('sha256').update(file).digest('hex'), bytes: file.length };
    });
}

function writePlace() {
    const place = join(folder, 'many');
    write(place, 'place.json', {
        format: 1, name: 'Many',
        voxelKinds: [{ name: 'grass', material: 'grass', colour: '#5d9c4d' }],
    });
    write(place, 'scene.json', {
        format: 1, bounds: { min: [-64, -8, -64], max: [64, 40, 64] },
        terrain: [{ min: [-32, -2, -32], max: [31, -1, 31], kind: 'grass' }],
        entities: [{ id: 1, name: 'Start', type: 'spawn', transform: { position: [0, 1, 0] } }],
    });
    const hubs = [];
    for (let i = 0; i < SCRIPTS; i++) {
        write(place, `ReplicatedStorage/Module${i}.lua`, moduleText(i));
        if (i % 50 === 0) {
            hubs.push(i);
        }
    }
    for (const hub of hubs) {
        const names = Array.from({ length: Math.min(50, SCRIPTS - hub) }, (_, k) =>
            `require("ReplicatedStorage/Module${hub + k}")`);
        write(place, `ReplicatedStorage/Hub${hub}.lua`, `${names.join('\n')}\nreturn 1\n`);
    }
    write(place, 'StarterGui/Hello.lua', `${hubs.map((hub) => `require("ReplicatedStorage/Hub${hub}")`)
        .join('\n')}\nfunction onStart()\n    print("all run")\nend\n`);
    return place;
}

async function complete(player) {
    await until('all scripts run', () => player.printed.some((line) => line.includes('all run')), 240_000);
    return (await player.inspect()).downloads;
}

function watch(player) {
    const requests = [];
    player.context.on('requestfinished', async (request) => {
        if (/^\/(blob|packed)\//.test(new URL(request.url()).pathname)) {
            const { startTime, responseEnd } = request.timing();
            requests.push({ begin: startTime, end: startTime + responseEnd });
        }
    });
    return requests;
}

// Fetches the files two at a time for so long, each from where it was left.
const download = (player, files, ms) => player.page.evaluate(async ([list, most, time]) => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), time);
    const next = () => list.find((file) => !file.taken && file.have < file.bytes);
    const work = async () => {
        for (let file = next(); file !== undefined && !ending.signal.aborted; file = next()) {
            file.taken = true;
            try {
                const answer = await fetch(`/blob/${file.hash}`,
                    { headers: { Range: `bytes=${file.have}-` }, signal: ending.signal, cache: 'no-store' });
                const reader = answer.body.getReader();
                for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
                    file.have += piece.value.length;
                }
            } catch (error) {
                if (!ending.signal.aborted) {
                    throw error;
                }
            }
        }
    };
    await Promise.all(Array.from({ length: most }, work));
    return list.map(({ taken, ...file }) => file);
}, [files, AT_ONCE, ms]);

const p99 = async (player) => (await player.inspect()).stats.snapshotIntervalP99Ms;
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

// A quiet time and a part of the download, by turns; so the machine's other work is in both.
async function measureDownload(player) {
    const partMs = MEGABYTES * 1e6 / BYTES_A_SECOND / PAIRS * 1000 + 2000;
    let files = assets.map((file) => ({ ...file, have: 0 }));
    const ratios = [];
    for (let pair = 0; pair < PAIRS; pair++) {
        await sleep(QUIET_MS);
        const quiet = await p99(player);
        let busy = 0;
        let isOver = false;
        const part = download(player, files, partMs).finally(() => { isOver = true; });
        await sleep(Math.min(QUIET_MS, partMs) - 500);
        while (!isOver) {
            busy = Math.max(busy, await p99(player));
            await Promise.race([part.catch(() => undefined), sleep(500)]);
        }
        files = await part;
        row('join.link.quiet.p99', quiet, 'ms');
        row('join.link.download.p99', busy, 'ms');
        ratios.push(busy / quiet);
    }
    row('join.link.megabytes', files.reduce((sum, file) => sum + file.have, 0) / 1e6, 'MB');
    row('join.link.p99_ratio.median', median(ratios), 'of the quiet ones', GOAL_RATIO);
}

const place = writePlace();
const assets = writeAssets(place);
const starting = performance.now();
const world = await World.start(place);
row('join.start.seconds', (performance.now() - starting) / 1000, 's');
try {
    const requests = [];
    const began = performance.now();
    const ada = await Player.open(world.port, 'Ada', {
        before: (context) => { requests.list = watch({ context }); },
    });
    const cold = await complete(ada);
    await sleep(500);
    row('join.cold.requests', cold.requests, 'requests');
    row('join.cold.round_trips', roundTrips(requests.list), 'round trips', GOAL_TRIPS);
    const coldBytes = ada.fetched.reduce((sum, { bytes }) => sum + bytes, 0); // as they are on the wire
    row('join.cold.bytes', coldBytes, 'bytes');
    row('join.cold.rune_bytes', cold.runeBytes, 'bytes');
    row('join.cold.share', (coldBytes - cold.sceneBytes) / cold.runeBytes, 'of the runes', GOAL_SHARE);
    row('join.cold.seconds', (performance.now() - began) / 1000, 's');
    await until('it is kept', async () => (await ada.inspect()).cache.entries >= cold.scripts, 60_000);
    ada.printed.length = 0;
    const again = performance.now();
    await ada.page.reload();
    await ada.page.fill('#name', 'Ada');
    await ada.page.press('#name', 'Enter');
    const warm = await complete(ada);
    row('join.warm.requests', warm.requests, 'requests', 0);
    row('join.warm.bytes', warm.wireBytes, 'bytes', 0);
    row('join.warm.seconds', (performance.now() - again) / 1000, 's');
    await ada.close();

    const link = await slowLink(world.port, BYTES_A_SECOND);
    const bo = await Player.open(link.port, 'Bo');
    const slow = performance.now();
    await complete(bo);
    row('join.slow.seconds', (performance.now() - slow) / 1000, 's');
    await measureDownload(bo);
    await bo.close();
    link.stop();
} finally {
    await world.stop();
    await closeBrowser();
    rmSync(folder, { recursive: true, force: true });
}
process.exit(outcome());

// A short set in a second browser: the page starts, one joins, walks, chats and sees another player.
//   node test_firefox.mjs PROGRAM WEB PLACE SCREENS
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { Firefox } from './firefox.mjs';
import { World, until } from './support.mjs';

const [program, , , screens] = process.argv.slice(2);
const ENTER = '\uE006'; // the large one

test('one joins, walks, chats and sees another player in Firefox', async () => {
    const [world, firefox] = await Promise.all([World.start(), Firefox.start()]);
    const other = spawn(program, ['bots', '--server', `http://127.0.0.1:${world.port}`, '-n', '1',
        '--seconds', '120', '--best-effort', '--behaviour', 'stand'], { stdio: 'ignore' });
    try {
        await firefox.go(`http://127.0.0.1:${world.port}/play`);
        await until('the page is there', () => firefox.evaluate('document.activeElement.id === "name"'));
        await firefox.type(`Ada${ENTER}`);
        const inspect = () => firefox.evaluate('sandlot.inspect()');
        await until('Ada plays', async () => {
            const { phase, own } = await inspect();
            return phase === 'playing' && own[0] === 1;
        });

        // Drawn, by this browser's WebGL.
        await until('the world is drawn', async () => (await inspect()).drawn.triangles > 1000);

        await until('Ada sees another one', async () => {
            const { people, movers, own } = await inspect();
            return movers.length >= 16 && Object.keys(people).some((id) => Number(id) !== own[1]);
        });

        const [, , x, , z] = (await inspect()).own;
        await firefox.hold('w', 1200);
        await until('Ada has walked', async () => {
            const { own } = await inspect();
            return Math.hypot(own[2] - x, own[4] - z) > 1;
        });

        await firefox.type(ENTER);
        await until('the chat is open', () =>
            firefox.evaluate('document.activeElement.tagName === "INPUT"'));
        await firefox.type(`Hello from Firefox${ENTER}`);
        await until('the line is there', () =>
            firefox.evaluate('document.body.innerText.includes("Hello from Firefox")'));

        const { stats } = await inspect();
        assert.equal(stats.correctionsWithoutCause, 0);
        assert.deepEqual(firefox.complaints, []);
        mkdirSync(screens, { recursive: true });
        await firefox.screenshot(join(screens, 'firefox.png'));
    } catch (error) {
        console.error(firefox.complaints, world.output);
        await firefox.screenshot(join(screens, 'failed_firefox.png')).catch(() => {});
        throw error;
    } finally {
        other.kill('SIGKILL');
        await firefox.stop();
        await world.stop();
    }
});

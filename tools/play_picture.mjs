// The picture of README.md: two players on the island, as one of them sees the other.
//   node play_picture.mjs PROGRAM WEB PLACE IMAGES
import { dirname, join } from 'node:path';

import { Player, World, closeBrowser, sleep } from '../tests/browser/support.mjs';

const [, , place, images] = process.argv.slice(2);
const SIZE = { width: 1280, height: 720 };
const STEP_MS = 120;

class Up extends World {
    command() {
        return ['up', '--places', dirname(place), '--default-place', 'island'];
    }
}

const yawTo = (from, to) => Math.atan2(to.x - from.x, to.z - from.z);

async function walkTo(player, spot) {
    for (let step = 0; step < 200; step++) {
        const at = await player.now();
        const left = Math.hypot(spot.x - at.x, spot.z - at.z);
        if (left < 0.5) {
            return;
        }
        await player.look(yawTo(at, spot));
        await player.hold('w', Math.min(1000, STEP_MS * Math.max(1, left)));
    }
    throw new Error('the way is blocked');
}

const up = await Up.start();
try {
    const bo = await Player.open(up.port, 'Bo');
    await bo.playing();
    const ada = await Player.open(up.port, 'Ada');
    await ada.playing();
    await walkTo(ada, { x: 3, z: -24 });
    await walkTo(bo, { x: 1.2, z: -20.2 });
    const [here, there] = [await ada.stands(), await bo.stands()];
    await bo.look(yawTo(there, here));
    await ada.page.setViewportSize(SIZE);
    await ada.page.mouse.click(SIZE.width / 2, SIZE.height / 2); // looks around from now on
    await ada.look(0.12, -0.1);
    await sleep(3000); // until everything is drawn at this size
    await ada.page.screenshot({ path: join(images, 'play.png') });
} finally {
    await closeBrowser();
    await up.stop();
}

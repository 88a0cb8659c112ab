// The pictures of the Studio's documentation: an obstacle course with something selected, a step of the tour, a script beside the
// place that runs it, and the publish window.
//   node studio_pictures.mjs PROGRAM WEB PLACE IMAGES
import { Up, ask, find, openPage, openStudio, register, saved, shot, studio } from '../tests/browser/studio.mjs';
import { closeBrowser, sleep, until } from '../tests/browser/support.mjs';

const SIZE = { width: 1100, height: 640 };
const PLAYED = { width: 1400, height: 820 }; // a script and the game beside each other

const up = await Up.start();
try {
    const user = await openPage(up.port, SIZE);
    const { page } = user;
    await user.go('/');
    await register(page, 'maker', /link=([\w-]+)/.exec(up.output)?.[1]);
    const make = async (template) => (await ask(page, 'POST', '/api/drafts', { title: 'Stepping stones', template })).body.place_id;

    await openStudio(user, await make('blank'), '?tour');
    await studio(page, () => { window.studio.tour.value = 2; });
    await page.click('[data-kit=block]');
    await until('a block', async () => (await find(page, 'Block')).length === 1);
    await sleep(500);
    await shot(page, 'tour');

    await openStudio(user, await make('obby'));
    await studio(page, () => {
        const { view } = window.studio;
        view.rig.orbit(-60, 0);
        view.moved();
        window.studio.select([view.pick({ x: 0.28, y: -0.28 })?.id ?? 0]); // a stone
    });
    await sleep(1000);
    await shot(page, '');

    await saved(page);
    await page.click('[data-command=publish]');
    await page.waitForSelector('.publish-form img');
    await page.fill('#publish-notes', 'A lift, and two more stones.');
    await shot(page, 'publish');
    await page.keyboard.press('Escape');

    await page.setViewportSize(PLAYED);
    await page.evaluate(() => window.studio.openScript('Workspace/KillBrick.lua', 1));
    await page.locator('.cm-content').first().waitFor();
    await page.click('[data-command=play]');
    await until('it is played', () => studio(page, () => document.querySelector('.play-screen')?.contentWindow.sandlot?.inspect().phase === 'playing'));
    await page.locator('.cm-content').first().click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nfunction onStart(self)\nprint(self.Nme.x)\nend\n');
    await page.locator('.console-line.error').first().waitFor();
    await sleep(1500);
    await shot(page, 'play');
} finally {
    await closeBrowser();
    await up.stop();
}

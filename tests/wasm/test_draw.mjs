// What decides how the world is drawn: the quality that adapts, texts in one texture, what is left out
// because it is far away, and how bodies hold their limbs. Without a browser, because none of this
// touches one.
//   node test_draw.mjs
import assert from 'node:assert/strict';
import test from 'node:test';

import { AtlasCells, MARKS, NO_BOX, freeBoxes, markCorners, nearest, teamMark } from '../../web/src/play/atlas.ts';
import { UploadQueue, cullChunk } from '../../web/src/play/culling.ts';
import { newPose, poseLimbs, poseStep } from '../../web/src/play/poses.ts';
import { AdaptiveQuality, QUALITIES, levelOf, qualityOf } from '../../web/src/play/quality.ts';

// So many seconds of frames that take so long each; the levels in which it was.
function run(quality, seconds, frameMs) {
    const levels = new Set([quality.level]);
    for (let ms = 0; ms < seconds * 1000; ms += frameMs(quality.level, ms)) {
        quality.add(frameMs(quality.level, ms));
        levels.add(quality.level);
    }
    return [...levels];
}

test('a fast device gets the finest picture, a slow one the quickest', () => {
    const fast = new AdaptiveQuality();
    run(fast, 30, () => 1000 / 60);
    assert.equal(fast.level, 2);
    const slow = new AdaptiveQuality();
    run(slow, 10, () => 50);
    assert.equal(slow.level, 0);
    const crawls = new AdaptiveQuality();
    run(crawls, 20, () => 900);
    assert.equal(crawls.level, 0);
});

test('the quality does not go to and fro', () => {
    const quality = new AdaptiveQuality();
    let changes = 0;
    let before = quality.level;
    // This device manages 60 frames at the middle level and 30 at the highest.
    run(quality, 600, (level) => {
        changes += level === before ? 0 : 1;
        before = level;
        return level === 2 ? 33 : 1000 / 60;
    });
    assert.ok(changes <= 14, `${changes} changes in ten minutes`);
    // Between good and slow nothing changes.
    const between = new AdaptiveQuality();
    assert.deepEqual(run(between, 120, () => 21), [1]);
});

test('a frame that a sleeping tab took is not slow, and one slow frame is not many', () => {
    const quality = new AdaptiveQuality();
    assert.deepEqual(run(quality, 5, (_, ms) => ms % 500 < 16 ? 60 : 1000 / 60), [1]);
    const fresh = new AdaptiveQuality();
    for (let i = 0; i < 1000; i++) {
        assert.equal(fresh.add(3_600_000), false);
        assert.equal(fresh.add(NaN), false);
        assert.equal(fresh.add(-1), false);
    }
    assert.equal(fresh.level, 1);
});

test('a chosen level holds whatever the frames take', () => {
    const quality = new AdaptiveQuality();
    run(quality, 20, () => 80);
    assert.deepEqual(QUALITIES.map((choice) => levelOf(choice, quality)), [0, 0, 1, 2]);
    const [low, medium, high] = [0, 1, 2].map(qualityOf);
    for (const member of ['pixelRatio', 'shadowPixels', 'distance', 'particles', 'labels']) {
        assert.ok(low[member] < medium[member] && medium[member] < high[member], member);
    }
    assert.equal(low.shadowPixels, 0);
});

test('texts share the cells of a texture, and the one that is wanted least gives its cell away', () => {
    const cells = new AtlasCells(3);
    cells.begin();
    assert.deepEqual(['a', 'b', 'c'].map((text) => cells.take(text)?.cell), [0, 1, 2]);
    assert.deepEqual(cells.take('a'), { cell: 0, isNew: false });
    assert.equal(cells.take('d'), null); // all are in this picture
    cells.begin();
    cells.take('a');
    assert.deepEqual(cells.take('d'), { cell: 1, isNew: true }); // b was wanted before c
    assert.equal(cells.has('b'), false);
    for (let i = 0; i < 10_000; i++) {
        cells.begin();
        const { cell } = cells.take(`player ${i}`);
        assert.ok(cell >= 0 && cell < 3);
    }
    cells.begin();
    const used = ['x', 'y', 'z'].map((text) => cells.take(text).cell);
    assert.deepEqual(used.sort(), [0, 1, 2]); // never two texts in one cell
});

test('the nearest labels are shown, and no more than wanted', () => {
    const all = Array.from({ length: 100 }, (_, i) => ({ id: i, distance: (i * 37 % 100) ** 2 }));
    const shown = nearest(all, 5, 50);
    assert.deepEqual(shown.map(({ distance }) => Math.sqrt(distance)), [0, 1, 2, 3, 4]);
    assert.equal(nearest(all, 1000, 9.5).length, 10);
});

test('of two names at one spot the nearer one is shown', () => {
    const box = (left, bottom) => ({ left, right: left + 4, bottom, top: bottom + 1 });
    assert.deepEqual(freeBoxes([box(0, 0), box(3, 0.5), box(3, 1), box(6.5, 1.5), box(7, 0)]),
        [true, false, true, false, true]);
    assert.deepEqual(freeBoxes([NO_BOX, box(-2, -0.5), NO_BOX]), [true, true, true],
        'what is behind the camera covers nothing');
});

test('teams differ by shape, not only by colour', () => {
    assert.equal(new Set(MARKS.map(({ shape }) => shape)).size, MARKS.length);
    const corners = MARKS.map(({ shape }) => JSON.stringify(markCorners(shape)));
    assert.equal(new Set(corners).size, MARKS.length - 1); // the circle and the ring have none
    assert.equal(teamMark(['blue', 'red'], 'red'), 1);
    assert.equal(teamMark(['blue', 'red'], ''), -1);
    const many = Array.from({ length: 30 }, (_, i) => `team ${i}`);
    assert.ok(many.every((team) => MARKS[teamMark(many, team)] !== undefined));
});

test('what is farther away than the picture reaches is not drawn', () => {
    const chunk = (x) => ({
        group: { visible: true }, sphere: () => ({ center: { x, y: 0, z: 0 }, radius: 10 }),
    });
    const eye = { x: 0, y: 0, z: 0 };
    const [inside, near, edge, far] = [5, 40, 109, 120].map(chunk);
    assert.equal(cullChunk(inside, eye, 100), 0);
    assert.equal(cullChunk(near, eye, 100), 30);
    [edge, far].forEach((each) => cullChunk(each, eye, 100));
    assert.deepEqual([inside, near, edge, far].map(({ group }) => group.visible),
        [true, true, true, false]);
    cullChunk(far, { x: 60, y: 0, z: 0 }, 100); // one has come nearer
    assert.equal(far.group.visible, true);
    const unknown = { group: { visible: false }, sphere: () => null };
    cullChunk(unknown, eye, 1);
    assert.equal(unknown.group.visible, true);
});

test('at most two chunks are uploaded with a picture, and only their newest version', () => {
    const queue = new UploadQueue();
    const costs = (value) => value > 0;
    for (let i = 1; i <= 5; i++) {
        queue.put(`chunk ${i}`, i);
    }
    queue.put('chunk 1', 10); // changed again before it was shown
    queue.put('empty', 0);
    assert.deepEqual(queue.take(2, costs), [['chunk 2', 2], ['chunk 3', 3]]);
    assert.deepEqual(queue.take(2, costs), [['chunk 4', 4], ['chunk 5', 5]]);
    assert.deepEqual(queue.take(2, costs), [['chunk 1', 10], ['empty', 0]]);
    assert.equal(queue.size, 0);
});

const STANDS = { speed: 0, rise: 0, stands: true, climbs: false, crouches: false, dead: false };

// After half a second of it.
function held(moving) {
    const pose = newPose();
    for (let i = 0; i < 30; i++) {
        poseStep(pose, { ...STANDS, ...moving }, 1 / 60);
    }
    return { pose, limbs: poseLimbs(pose) };
}

test('standing, walking, jumping, falling and climbing look different', () => {
    const idle = held({});
    const walks = held({ speed: 5 });
    const jumps = held({ stands: false, rise: 6 });
    const falls = held({ stands: false, rise: -8 });
    const climbs = held({ stands: false, climbs: true, rise: 2 });
    assert.ok(Math.max(...idle.limbs.legs.map(Math.abs)) < 0.01);
    assert.ok(walks.pose.walk > 0.95 && Math.sign(walks.limbs.legs[0]) === -Math.sign(walks.limbs.legs[1]));
    assert.ok(jumps.pose.jump > 0.95 && jumps.pose.fall < 0.05);
    assert.ok(falls.pose.fall > 0.95 && falls.limbs.spread > 1);
    assert.ok(climbs.limbs.arms.every((angle) => angle < -1.5)); // above the head
    assert.ok(held({ dead: true, speed: 5 }).pose.walk < 0.01);
    // Lower, with feet that are still on the ground: legs are 0.38 of the height.
    const crouches = held({ crouches: true });
    assert.ok(crouches.limbs.bob < -0.1 && crouches.limbs.lean > 0.2);
    for (const angle of crouches.limbs.legs) {
        assert.ok(Math.abs(crouches.limbs.bob + 0.38 * (1 - Math.cos(angle))) < 0.01);
    }
    assert.ok(held({ crouches: true, stands: false, rise: 6 }).pose.crouch < 0.01);
});

test('one pose goes over into the next without a jerk, and no number escapes', () => {
    const { pose } = held({ speed: 5 });
    let before = poseLimbs(pose);
    for (let i = 0; i < 120; i++) {
        poseStep(pose, { ...STANDS, stands: false, rise: 5 - i / 10 }, 1 / 60);
        const now = poseLimbs(pose);
        for (const member of ['spread', 'lean', 'bob']) {
            assert.ok(Math.abs(now[member] - before[member]) < 0.3, member);
        }
        before = now;
    }
    for (let i = 0; i < 1000; i++) {
        poseStep(pose, { ...STANDS, speed: 1e6, rise: -1e6, stands: i % 2 === 0 }, 10);
    }
    assert.ok(Object.values(pose).every(Number.isFinite));
    assert.ok(poseLimbs(pose).legs.every((angle) => Math.abs(angle) < 3));
});

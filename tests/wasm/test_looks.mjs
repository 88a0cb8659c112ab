// How things look, as the page draws it: rows of clientPaints as looks, which looks are drawn together,
// and that what scripts change is drawn anew and nothing else. Without a browser: no picture is made.
//   node test_looks.mjs
import assert from 'node:assert/strict';
import test from 'node:test';

import { DEFAULT_COLOUR, ROW } from '../../web/src/core/bridge.ts';
import { Assets } from '../../web/src/play/assets.ts';
import { Budget } from '../../web/src/play/budget.ts';
import { Dress } from '../../web/src/play/dress.ts';
import { colourOf, finishOf, instanceMaterial, isDrawn } from '../../web/src/play/looks.ts';
import { FLASHES_A_SECOND, FlashGuard } from '../../web/src/play/flash.ts';
import { Paints } from '../../web/src/play/paints.ts';
import { ShapesView } from '../../web/src/play/shapes.ts';

const MATERIALS = ['plain', 'plastic', 'metal', 'wood'];
const row = (id, {
    colour = DEFAULT_COLOUR, transparency = 0, material = 0, visible = 1, glow = 0, texture = 0, model = 0,
} = {}) => [id, colour, transparency, material, visible, glow, texture, model];
const rows = (...all) => new Float64Array(all.flat());

function painted() {
    const paints = new Paints();
    paints.reset(MATERIALS);
    return paints;
}

test('rows become looks, and only what changed is named', () => {
    const paints = painted();
    assert.deepEqual([...paints.update(rows(row(1), row(7, { colour: 0xff0000, material: 3 })))], [1, 7]);
    assert.deepEqual(paints.get(7), {
        colour: 0xff0000, transparency: 0, material: 'wood', visible: true, glow: 0, texture: 0, model: 0,
    });
    const before = paints.get(1);
    assert.deepEqual([...paints.update(rows(row(1), row(7, { colour: 0x00ff00, material: 3 })))], [7]);
    assert.equal(paints.get(1), before); // the same object: nothing to draw anew
    assert.deepEqual([...paints.update(rows(row(1)))], [7]); // gone
    assert.equal(paints.get(7), undefined);
    assert.deepEqual([...paints.update(rows(row(1), row(1)))], []); // twice is once
    assert.equal(paints.update(rows(row(9, { material: 31 }))).has(9), true); // of a later version
    assert.equal(paints.get(9).material, '');
});

test('things of one finish are drawn together, in a material that fits', () => {
    const look = (more) => ({ material: 'plain', colour: 0x123456, ...more });
    const rough = instanceMaterial(finishOf(look({})));
    assert.equal(instanceMaterial(finishOf(look({ colour: 0xffffff }))), rough);
    assert.equal(instanceMaterial(finishOf(look({ material: 'stone' }))), rough);
    assert.notEqual(instanceMaterial(finishOf(look({ material: 'metal' }))), rough);
    const shiny = instanceMaterial(finishOf(look({ material: 'plastic' })));
    assert.ok(shiny.isMeshPhongMaterial && rough.isMeshLambertMaterial);
    const half = instanceMaterial(finishOf(look({ transparency: 0.5 })));
    assert.ok(half.transparent && half.opacity === 0.5 && !half.depthWrite && !rough.transparent);
    const glass = instanceMaterial(finishOf(look({ material: 'glass', transparency: 0.5 })));
    assert.equal(glass.opacity, 0.2); // half of what glass has
    const bright = instanceMaterial(finishOf(look({ glow: 1 })));
    const shader = { fragmentShader: 'a\n#include <emissivemap_fragment>\nb' };
    bright.onBeforeCompile(shader);
    assert.match(shader.fragmentShader, /totalEmissiveRadiance \+= diffuseColor.rgb \* 1.00/);
    assert.equal(finishOf(look({ material: 'neon' })).glow, 1);
    // A fade has a bounded number of materials.
    const all = new Set();
    for (let i = 0; i <= 1000; i++) {
        all.add(finishOf(look({ transparency: i / 1000, glow: i / 1000 })).key);
    }
    assert.ok(all.size <= 40, String(all.size));
});

test('a colour wins over that of the material, black too', () => {
    assert.equal(colourOf({ material: 'wood', colour: 0 }), 0);
    assert.equal(colourOf({ material: 'wood', colour: DEFAULT_COLOUR }), 0x9c6b3f);
    assert.ok(!isDrawn({ material: '', colour: 0, visible: false }));
    assert.ok(!isDrawn({ material: '', colour: 0, transparency: 1 }));
    assert.ok(isDrawn({ material: '', colour: 0, transparency: 0.99 }));
});

const part = (id, x) => ({
    id, shape: 0, p: [x, 0, 0], r: [0, 0, 0, 1], half: [1, 1, 1], flags: 0, material: 'plain',
    colour: DEFAULT_COLOUR,
});
const PLACE = { min: [-50, 0, -50], max: [50, 50, 50], pieces: [], materials: MATERIALS };

// Every instance that is drawn: its colour, and whether one sees through it.
function drawn(view) {
    const found = [];
    view.group.traverse((mesh) => {
        for (let i = 0; mesh.isInstancedMesh && mesh.material.visible && i < mesh.count; i++) {
            if (mesh.instanceColor !== null) {
                const at = mesh.instanceMatrix.array[i * 16 + 12];
                found.push([at, mesh.instanceColor.array[i * 3] > 0.9, mesh.material.transparent]);
            }
        }
    });
    return found.sort(([a], [b]) => a - b);
}

test('parts of the scene and things that move are drawn as they are painted', () => {
    const paints = painted();
    const files = { assets: new Assets(() => {}), budget: new Budget() };
    const view = new ShapesView(paints, new Dress(files, () => {}));
    view.reset(PLACE, [part(1, 10), part(2, 20), part(3, 30)]);
    const none = new Float64Array(0);
    const box = new Float64Array(ROW);
    box.set([9, 5, 0, 40, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
    view.update(box, none);
    assert.deepEqual(drawn(view).map(([at]) => at), [10, 20, 30, 40]);
    view.repaint(paints.update(rows(row(1, { colour: 0xff0000 }), row(2, { transparency: 0.5 }),
        row(3, { visible: 0 }), row(9, { colour: 0xff0000, transparency: 0.3 }))));
    view.update(box, none);
    assert.deepEqual(drawn(view), [[10, true, false], [20, false, true], [40, true, true]]);
    view.repaint(paints.update(rows(row(9, { visible: 0 }))));
    view.update(box, none);
    assert.deepEqual(drawn(view).map(([at, , through]) => [at, through]),
        [[10, false], [20, false], [30, false]]);
});

// How often something brightened in the worst second.
function worstSecond(times) {
    return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 0.999).length));
}

test('large parts that scripts switch to and fro flash at most three times a second', () => {
    const looks = {
        glow: [{ glow: 0, colour: 0xffffff }, { glow: 1, colour: 0xffffff }],
        visible: [{ visible: 0, colour: 0xffffff }, { visible: 1, colour: 0xffffff }],
        colour: [{ colour: 0x101010 }, { colour: 0xf0f0f0 }],
        transparency: [{ transparency: 1, colour: 0xffffff }, { transparency: 0, colour: 0xffffff }],
    };
    for (const [name, [dark, bright]] of Object.entries(looks)) {
        const guard = new FlashGuard();
        const paints = painted();
        let now = 0;
        const light = { mayFlash: () => guard.allow(now), unpainted: () => undefined };
        const times = [];
        paints.update(rows(row(1, dark)), light);
        for (let i = 1; i < 300; i++) {
            now = i / 60;
            const before = paints.get(1);
            const isBright = i % 6 < 3; // ten times a second
            if (i % 3 === 0) {
                paints.update(rows(row(1, isBright ? bright : dark)), light);
            } else {
                paints.settle(light);
            }
            const after = paints.get(1);
            const value = (look) => Number(look[name === 'colour' ? 'colour' : name]);
            if (name === 'transparency' ? value(after) < value(before) : value(after) > value(before)) {
                times.push(now);
            }
        }
        assert.ok(times.length > 6, `${name}: it is shown as often as it may`);
        assert.ok(worstSecond(times) <= FLASHES_A_SECOND, `${name}: ${worstSecond(times)} flashes`);
    }
});

test('what was held back is shown in the end, and darker is shown at once', () => {
    const paints = painted();
    let isAllowed = false;
    const light = {
        mayFlash: (ids) => {
            assert.deepEqual(ids, [2]);
            return isAllowed;
        },
        unpainted: (id) => id === 2 ? { material: '', colour: 0x000000 } : undefined,
    };
    const white = { colour: 0xffffff, glow: 1 };
    // The first is new, the second brightens from the scene's black, the third is dark.
    assert.deepEqual([...paints.update(rows(row(1, white), row(2, white), row(3)), light)], [1, 3]);
    assert.equal(paints.get(2), undefined);
    assert.equal(paints.settle(light).size, 0);
    isAllowed = true;
    assert.deepEqual([...paints.settle(light)], [2]);
    assert.equal(paints.get(2).glow, 1);
    assert.equal(paints.settle({ mayFlash: () => assert.fail('nothing waits') }).size, 0);
    isAllowed = false;
    assert.deepEqual([...paints.update(rows(row(1, white), row(2, { colour: 0 }), row(3)), light)], [2]);
});

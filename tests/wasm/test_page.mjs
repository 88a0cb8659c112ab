// What the page makes of things it did not choose: trees of scripts, kept settings, names in chat.
// Without a browser, because none of this touches one.
//   node test_page.mjs
import assert from 'node:assert/strict';
import test from 'node:test';

import { readValues } from '../../web/src/core/value.ts';
import { Chat } from '../../web/src/play/chat.ts';
import { FLASHES_A_SECOND, FlashGuard } from '../../web/src/play/flash.ts';
import { People } from '../../web/src/play/people.ts';
import { seedOf } from '../../web/src/play/seed.ts';
import { DEFAULTS, bindKey, readSettings, settings } from '../../web/src/play/settings.ts';
import { ShownTrees, makeWidget } from '../../web/src/play/shown.ts';
import { explain, sentence } from '../../web/src/core/reasons.ts';
import { coreLine, downloadLine, sceneLine } from '../../web/src/ui/downloads.ts';
import { LANGUAGES, speak } from '../../web/src/ui/languages.ts';
import { linkWords } from '../../web/src/ui/link_words.ts';
import { words } from '../../web/src/ui/words.ts';

const list = (...bytes) => readValues(Uint8Array.from([6, 1, ...bytes]))[0];

test('values are read as they were written', () => {
    assert.equal(list(0), null);
    assert.equal(list(2), true);
    assert.equal(list(3, 3), -2);
    assert.equal(list(3, 0x80, 0x80, 0x80, 0x80, 0x20), 2 ** 32);
    assert.equal(list(5, 2, 0xc3, 0xa4), 'ä');
    assert.deepEqual(list(6, 2, 1, 2), [false, true]);
    assert.deepEqual({ ...list(7, 2, 3, 2, 5, 1, 97, 5, 1, 98, 3, 8) }, { 1: 'a', b: 4 });
    assert.deepEqual(list(8, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64), [1, 2, 3]);
    const proto = list(7, 1, 5, 9, ...new TextEncoder().encode('__proto__'), 3, 2);
    assert.equal(Object.getPrototypeOf(proto), null); // a key, not a prototype
    assert.throws(() => list(11));
    assert.throws(() => readValues(Uint8Array.from([6, 200])));
});

test('whatever a script shows becomes a widget', () => {
    const odd = makeWidget({
        kind: 'text', text: 7, size: 1e9, value: 'x', anchor: 'moon', layer: -3, columns: NaN,
    }, '');
    assert.equal(odd.text, '7');
    assert.equal(odd.size, 96);
    assert.equal(odd.value, 0);
    assert.equal(odd.anchor, 'top');
    assert.equal(odd.layer, 0);
    assert.equal(makeWidget(null, '').kind, 'text');
    const tree = makeWidget({
        kind: 'list', 2: { kind: 'button', OnClick: 4 }, 1: { kind: 'text' }, 10: { kind: 'bar' },
        children: [{ kind: 'input', OnSubmit: 5, id: 'name' }],
    }, '');
    assert.deepEqual(tree.children.map(({ kind, handler }) => [kind, handler]),
        [['text', 0], ['button', 4], ['bar', 0], ['input', 5]]);
    assert.equal(tree.children[3].key, 'name');
});

test('a script shows and takes away its own', () => {
    const shown = new ShownTrees();
    const show = (owner, entity, text) => shown.change([{
        owner, entity, tree: text === null ? null : { kind: 'text', text, layer: 3 - owner },
    }]);
    show(1, 0, 'one');
    show(2, 0, 'two');
    show(1, 9, 'above');
    show(1, 0, 'new');
    assert.deepEqual(shown.screen.value.map(({ root }) => root.text), ['two', 'new']); // by layer
    show(1, 0, null);
    assert.deepEqual(shown.screen.value.map(({ owner }) => owner), [2]);
    assert.equal(shown.above.value.length, 1);
});

test('kept settings may be anything', () => {
    for (const text of [null, '', 'null', '[]', '7', '{"textSize":1e9,"keys":{"jump":"<b>"}}', '{{{']) {
        assert.deepEqual(readSettings(text), DEFAULTS, String(text));
    }
    settings.value = DEFAULTS;
    bindKey({ own: 'jump' }, 'KeyW'); // what walked forward gets the key that is free
    assert.equal(settings.value.keys.jump, 'KeyW');
    assert.equal(settings.value.keys.forward, 'Space');
});

test('lines that begin with a slash are commands', () => {
    const people = new People();
    const sent = [];
    let hasLeft = false;
    const chat = new Chat(people, (...args) => sent.push(args), () => { hasLeft = true; });
    const join = (player, name) => people.meet({
        player, playerId: `p_${player}`, entityId: player + 100, name, team: '', colourShirt: 0,
        colourSkin: 0,
    });
    assert.ok(join(1, 'Ada'));
    assert.ok(join(2, 'Ada Lovelace'));
    assert.ok(!join(2, 'Ada Lovelace'));
    chat.say('  hello ');
    chat.say('/report ada lovelace she shouts');
    assert.deepEqual(sent, [['chat', 'say', { text: 'hello' }],
        ['moderation', 'report', { player: 2, reason: 'other', text: 'she shouts' }]]);
    chat.say('/mute Ada');
    assert.ok(people.isMuted(1) && !people.isMuted(2));
    chat.hear({ player: 1, name: 'Ada', text: 'hi' });
    chat.hear({ player: 2, name: 'Ada Lovelace', text: 'ho' });
    assert.equal(chat.lines.value.at(-1).text, 'ho');
    chat.say('/mute Nobody');
    assert.match(chat.lines.value.at(-1).text, /Nobody here is called Nobody/);
    chat.say('/leave');
    assert.ok(hasLeft);
    people.score({ player: 1, name: 'Coins', value: 3 });
    assert.deepEqual(people.columns.value, ['Coins']);
    people.welcome(1);
    join(1, 'Ada');
    people.sweep(); // the other one was not named again
    assert.deepEqual([...people.list.value.keys()], [1]);
});

test('who has chosen no looks looks the same in each body', () => {
    const people = new People();
    for (const entityId of [101, 202]) { // a new body after a death
        people.meet({ player: 1, playerId: 'p_1', entityId, name: 'Ada', team: '', colourShirt: 0, colourSkin: 0 });
        assert.equal(seedOf(people.bodies.value.get(entityId), entityId), seedOf({ playerId: 'p_1' }, 0));
    }
    assert.notEqual(seedOf({ playerId: 'p_1' }, 0), seedOf({ playerId: 'p_2' }, 0));
    assert.equal(seedOf(undefined, 9), 9, 'a body of the place is its own');
});

test('an open chat asks again what may be said, and follows the rule both ways', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    let rule = 'off';
    let asked = 0;
    context.mock.method(globalThis, 'fetch', () => {
        asked += 1;
        return Promise.resolve({ ok: true, status: 200, json: () => Promise.resolve({ rule, phrases: [], guest: false }) });
    });
    const settle = () => new Promise(setImmediate);
    const chat = new Chat(new People(), () => {}, () => {});
    await chat.ask('place_x');
    assert.equal(chat.rule.value.rule, 'off');
    rule = 'free';
    chat.isOpen.value = true;
    await settle();
    assert.equal(chat.rule.value.rule, 'free', 'as soon as it opens');
    rule = 'off';
    context.mock.timers.tick(5000);
    await settle();
    assert.equal(chat.rule.value.rule, 'off', 'and while it is open');
    chat.isOpen.value = false;
    const before = asked;
    context.mock.timers.tick(60_000);
    assert.equal(asked, before, 'a closed one asks nothing');
});

// In the worst second, for lights that are switched to and fro at many speeds and drawn at many rates.
test('nothing flashes more than three times a second', () => {
    for (const rate of [5, 20, 60, 144]) {
        for (const hertz of [1, 3, 4, 7.5, 15, 30]) {
            const guard = new FlashGuard();
            const lamps = [0, 0, 0];
            const times = [];
            let before = 0;
            let low = 0;
            let isUp = false;
            for (let now = 0; now < 8; now += 1 / rate) {
                lamps.forEach((shown, i) => {
                    const isOn = Math.floor(now * hertz * 2 + i / 3) % 2 === 0;
                    lamps[i] = guard.brightness(shown, isOn ? 1 : 0, now, 1 / rate);
                });
                const shown = Math.max(...lamps);
                low = Math.min(low, shown);
                if (!isUp && shown > low + 0.1) {
                    isUp = true;
                    times.push(now);
                } else if (isUp && shown < before - 0.05) {
                    isUp = false;
                    low = shown;
                }
                before = shown;
            }
            const worst = Math.max(0, ...times.map((from) =>
                times.filter((at) => at >= from && at < from + 0.999).length));
            assert.ok(worst <= FLASHES_A_SECOND, `${worst} flashes: ${hertz} Hz at ${rate} pictures a second`);
        }
    }
});

test('a light that stays is bright in the end, without a flash to spare', () => {
    const guard = new FlashGuard();
    for (let i = 0; i < FLASHES_A_SECOND; i++) {
        assert.ok(guard.allow(0));
    }
    assert.ok(!guard.allow(0.9));
    let shown = 0;
    for (let now = 0; now < 3; now += 0.05) {
        const next = guard.brightness(shown, 1, now, 0.05);
        assert.ok(next >= shown);
        shown = next;
    }
    assert.equal(shown, 1);
    assert.equal(guard.brightness(shown, 0.2, 3, 0.05), 0.2, 'darker at once');
    assert.equal(guard.held > 0, true);
});

test('a script cannot make the whole screen flash with what it shows', () => {
    const guard = new FlashGuard();
    let now = 0;
    const mayFlash = () => guard.allow(now);
    const shown = new ShownTrees();
    const show = (tree) => shown.change([{ owner: 1, entity: 0, tree }], mayFlash);
    const white = { kind: 'image', image: 'white.png' };
    const isUp = () => shown.screen.value.some(({ root }) => root.image === 'white.png');
    const times = [];
    show(white);
    shown.measured(shown.screen.value[0], 0.8);
    for (let i = 0; i < 300; i++) {
        now = i / 60;
        const before = isUp();
        if (i % 3 === 0) {
            show(i % 6 < 3 ? null : i % 12 < 6 ? white : { kind: 'list', 1: white });
            if (isUp() && !before) {
                shown.measured(shown.screen.value[0], 0.8);
            }
        } else {
            shown.settle(mayFlash);
        }
        if (isUp() && !before) {
            times.push(now);
        }
    }
    const worst = Math.max(...times.map((from) =>
        times.filter((at) => at >= from && at < from + 0.999).length));
    assert.ok(times.length > 3 && worst <= FLASHES_A_SECOND, `${worst} flashes`);
    // Texts change as often as they like, and so does what is small.
    now = 10;
    shown.clear();
    const count = (text) => show({ kind: 'panel', 1: { kind: 'text', text } });
    count('0');
    shown.measured(shown.screen.value[0], 0.8);
    for (let i = 1; i < 30; i++) {
        count(String(i));
        assert.equal(shown.screen.value[0].root.children[0].text, String(i));
    }
    shown.measured(shown.screen.value[0], 0.01);
    for (let i = 0; i < 30; i++) {
        show(i % 2 === 0 ? white : null);
        assert.equal(isUp(), i % 2 === 0);
    }
});

// A made-up one: every text of a table stands in brackets.
const bracketed = (value) => typeof value === 'string' ? `[${value}]`
    : typeof value === 'function' ? (...given) => `[${value(...given)}]`
    : Array.isArray(value) ? value.map(bracketed)
    : Object.fromEntries(Object.entries(value).map(([member, each]) => [member, bracketed(each)]));

// Letters that stand in no bracket come from no table.
function checkSpoken(text) {
    let depth = 0;
    const outside = [...text].filter((letter) => {
        depth += letter === '[' ? 1 : letter === ']' ? -1 : 0;
        return depth === 0 && /[a-z]/i.test(letter);
    });
    assert.deepEqual([outside.join(''), depth], ['', 0], text);
}

test('another language is one file: nothing is said past its tables', async () => {
    const { laterWords: english } = await import('../../web/src/ui/words_later.ts?english');
    LANGUAGES.xx = { name: 'Brackets', load: () =>
        Promise.resolve({ words: bracketed(words), laterWords: bracketed(english) }) };
    const before = [{ ...words }, { ...linkWords }];
    await speak('xx', words, linkWords);
    try {
        // What is asked for after the language is here, as the page does.
        const { laterWords } = await import('../../web/src/ui/words_later.ts');
        assert.equal(laterWords.settings.title, '[Settings]');
        assert.equal(words.menu.title, '[Menu]');
        const progress = {
            sceneBytes: 4000, sceneHave: 100, scripts: 3, scriptsHave: 1, scriptsRefused: 0, runeBytes: 5000,
            runeHave: 90, current: '', isWaiting: true,
        };
        const chat = new Chat(new People(), () => {}, () => {});
        ['/help', '/players', '/mute x'].forEach((line) => chat.say(line));
        for (const text of [
            sceneLine(progress), downloadLine(progress), downloadLine({ ...progress, scriptsRefused: 2 }), coreLine(1, 2),
            explain('behind').text, explain('').text, sentence(''), ...chat.lines.value.map(({ text: line }) => line),
        ]) {
            checkSpoken(text);
        }
        // The numbers for creators, all of which are text.
        const said = [];
        const cell = () => ({ dataset: {}, set textContent(text) { said.push(text); } });
        globalThis.document = { createElement: cell };
        const { Overlay } = await import('../../web/src/ui/overlay.ts');
        const table = new Overlay({ hidden: false, tBodies: [{ insertRow: () => ({ append() {}, insertCell: cell }) }] });
        const stats = Object.fromEntries(['bytesDown', 'bytesUp', 'snapshots', 'correctionLastM', 'serverTick', 'rttMs', 'jitterMs',
            'inputSeq', 'pendingInputs', 'leadTicks', 'corrections', 'delayMs', 'snapshotIntervalP99Ms', 'visible', 'scripts',
            'runes', 'manifestVersion'].map((name) => [name, 1]));
        table.update({ ...stats, manifestProven: true }, { phase: 'playing', connections: 2, atMs: 0 }, 60);
        assert.ok(said.some((text) => text.includes('reconnected')));
        said.map((text) => text.replace(/[\d.]+ (ms|B|KiB)/g, '')).forEach(checkSpoken);
    } finally {
        delete globalThis.document;
        delete LANGUAGES.xx;
        Object.assign(words, before[0]);
        Object.assign(linkWords, before[1]);
    }
});

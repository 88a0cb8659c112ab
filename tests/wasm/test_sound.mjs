// What the page knows of sounds without a browser: which file a name means, the sounds it makes itself,
// how many decoded ones are kept, when bodies are heard.
//   node test_sound.mjs
import assert from 'node:assert/strict';
import test from 'node:test';

import { BodySounds } from '../../web/src/play/sound_bodies.ts';
import { SoundBuffers } from '../../web/src/play/sound_buffers.ts';
import { MADE_SOUNDS, makeSound } from '../../web/src/play/sound_made.ts';
import { distanceGain } from '../../web/src/play/sound_stage.ts';
import { soundNamed } from '../../web/src/play/sound_names.ts';
import { readSettings } from '../../web/src/play/settings.ts';

test('a file has several names', () => {
    const list = [
        { path: 'assets/bell.png', kind: 'png' },
        { path: 'assets/deep/bell.ogg', kind: 'ogg' },
        { path: 'assets/sound/bell.wav', kind: 'wav' },
        { path: 'assets/top.wav', kind: 'wav' },
    ];
    const path = (name) => soundNamed(list, name)?.path ?? null;
    assert.equal(path('assets/sound/bell.wav'), 'assets/sound/bell.wav');
    assert.equal(path('sound/bell.wav'), 'assets/sound/bell.wav');
    assert.equal(path('sound/bell'), 'assets/sound/bell.wav');
    assert.equal(path('bell.wav'), 'assets/sound/bell.wav');
    assert.equal(path('bell'), 'assets/deep/bell.ogg', 'the first of the list');
    assert.equal(path('top'), 'assets/top.wav');
    for (const wrong of ['', 'ell', 'bell.png', 'assets/bell', 'assets', '.wav', 'sound']) {
        assert.equal(path(wrong), null, wrong);
    }
});

test('sounds that are made are short, soft and always the same', () => {
    for (const name of MADE_SOUNDS) {
        const samples = makeSound(name, 48000);
        const most = samples.reduce((high, x) => Math.max(high, Math.abs(x)), 0);
        assert.ok(most > 0.02 && most < 1, `${name}: ${most}`);
        assert.ok(samples.length <= 0.3 * 48000);
        assert.ok(Math.abs(samples[0]) < 0.01 && Math.abs(samples.at(-1)) < 0.01, 'no crack');
        assert.deepEqual(makeSound(name, 48000), samples);
    }
});

test('farther is softer, and from the hearing distance on nothing', () => {
    const gains = [0, 3, 10, 30, 63, 64, 1000].map(distanceGain);
    assert.deepEqual([gains[0], gains[1], gains[5], gains[6]], [1, 1, 0, 0]);
    assert.ok(gains[2] > gains[3] && gains[3] > gains[4] && gains[4] > 0);
});

test('decoded sounds are bounded, and those used longest ago go', async () => {
    let decoded = 0;
    const failed = [];
    const context = {
        sampleRate: 48000,
        decodeAudioData: async (data) => {
            decoded += 1;
            if (data.byteLength === 1) {
                throw new Error('nonsense');
            }
            return { length: 250, numberOfChannels: 1 };
        },
    };
    const files = {
        find: (name) => name === 'none' ? null : {
            seconds: name === 'endless' ? 1000 : 1,
            bytes: async () => new Uint8Array(name === 'bad' ? 1 : 8),
        },
        fail: (name) => failed.push(name),
    };
    const buffers = new SoundBuffers(files, 3000);
    for (const name of ['a', 'b', 'c']) {
        assert.notEqual(await buffers.get(context, name), null);
    }
    await buffers.get(context, 'a'); // used again
    await buffers.get(context, 'd'); // b goes
    assert.equal(buffers.bytes, 3000);
    assert.equal(decoded, 4);
    await buffers.get(context, 'a');
    assert.equal(decoded, 4);
    await buffers.get(context, 'b');
    assert.equal(decoded, 5);
    for (const name of ['bad', 'endless', 'none']) {
        assert.equal(await buffers.get(context, name), null);
    }
    assert.deepEqual(failed, ['bad', 'endless']);
    assert.equal(buffers.bytes, 3000);
    assert.equal(buffers.count, 3);
});

test('bodies walk, jump, land and shoot', () => {
    const heard = [];
    const bodies = new BodySounds((name) => heard.push(name));
    const own = (vx, vy, stands) => Float64Array.of(1, 7, 0, 0, 0, vx, vy, 0, 0, 0, 100, stands, 0);
    const mover = (id, kind, x) =>
        Float64Array.of(id, 0, kind, x, 0, 0, 5, 0, 0, 0, 0, 1, 100, 0, 0, 0);
    bodies.update(own(0, 0, 1), mover(30, 3, 0), 0.1);
    assert.deepEqual(heard.splice(0), [], 'what is there already is no news');
    for (let i = 0; i < 10; i++) {
        bodies.update(own(4, 0, 1), new Float64Array(), 0.1);
    }
    assert.deepEqual(heard.splice(0), ['step', 'step'], 'four metres');
    bodies.update(own(0, 6, 0), new Float64Array(), 0.1);
    bodies.update(own(0, -6, 0), new Float64Array(), 0.1);
    bodies.update(own(0, 0, 1), mover(31, 3, 0), 0.1);
    assert.deepEqual(heard.splice(0), ['jump', 'land', 'shot']);
    for (let i = 0; i < 10; i++) {
        bodies.update(own(0, 0, 1), mover(40, 1, 100), 0.1);
    }
    assert.deepEqual(heard.splice(0), [], 'too far away');
    for (let i = 0; i < 10; i++) {
        bodies.update(own(0, 0, 1), mover(40, 1, 10), 0.1);
    }
    assert.deepEqual(heard.splice(0), ['step', 'step']);
});

test('nonsense in the settings is as if nothing was kept', () => {
    const { volume, musicVolume, effectsVolume, ownSounds, captions } = readSettings(
        '{"volume": 2, "musicVolume": "loud", "effectsVolume": 0, "ownSounds": 0, "captions": 1}');
    assert.deepEqual([volume, musicVolume, effectsVolume, ownSounds, captions],
        [0.8, 0.7, 0, true, false]);
});

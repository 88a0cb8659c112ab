// What is heard: sounds and music of scripts, and the page's own. The state is kept here from the
// start; the graph behind it (sound_stage.ts) is loaded and begins with the first touch or key, because
// browsers play nothing before that.
import { effect, signal } from '@preact/signals';

import type { Sound, SoundState, Triple } from '../core/bridge.ts';
import { words } from '../ui/words.ts';
import { SOUNDS, type Asset, type Assets } from './assets.ts';
import { settings } from './settings.ts';
import type { SoundBuffers, SoundFile, SoundFiles } from './sound_buffers.ts';
import { isMade, MADE_SOUNDS, type MadeSound } from './sound_made.ts';
import { soundNamed } from './sound_names.ts';
import type { SoundStage, Voice } from './sound_stage.ts';

const CAPTIONS_MAX = 3;
const CAPTION_MS = 5000;
const GESTURES = ['pointerdown', 'keydown', 'touchend'] as const;

export interface Caption {
    key: number;
    text: string;
}

const keyOf = ({ own, id }: Sound): string => `${own ? 'own' : 'server'}:${id}`;

const voiceOf = ({ name, volume, pitch, loop, entity, p }: Sound, group: Voice['group']): Voice =>
    ({ name, group, volume, pitch, loop, entity, p: p ?? null });

export class Sounds {
    readonly captions = signal<readonly Caption[]>([]);
    private readonly assets: Assets;
    private stage: SoundStage | null = null;
    private buffers: SoundBuffers | null = null;
    private state: SoundState = { loops: [], music: null };
    private audible = new Set<string>(); // loops and music whose captions were shown
    private where: (entity: number) => Triple | null = () => null;
    private ear: Triple = [0, 0, 0];
    private nextMade = 1;
    private nextCaption = 1;

    constructor(assets: Assets) {
        this.assets = assets;
        this.unlockLater();
        document.addEventListener('visibilitychange', () => this.wake());
        document.addEventListener('click', ({ target }) => {
            if (target instanceof Element && target.closest('button') !== null) {
                this.made('click', null, 0.3, 'interface');
            }
        });
        assets.list.subscribe(() => {
            this.buffers?.clear(); // other files, perhaps of the same names
            this.stage?.retry();
            this.show();
        });
    }

    // A graph on that context, with the sounds of this place; also for a test, which renders it.
    async stageOn(context: BaseAudioContext): Promise<SoundStage> {
        const [{ SoundStage: Stage }, { SoundBuffers: Buffers }] =
            await Promise.all([import('./sound_stage.ts'), import('./sound_buffers.ts')]);
        this.buffers ??= new Buffers(this.files());
        return new Stage(context, this.buffers);
    }

    inspect(): { state: string; voices: ReturnType<SoundStage['voices']>; music: string;
        bytes: number } {
        return {
            state: this.stage?.context.state ?? 'locked',
            voices: this.stage?.voices() ?? [],
            music: this.stage?.musicName() ?? '',
            bytes: this.buffers?.bytes ?? 0,
        };
    }

    // --- what happens ---

    // A sound that ends by itself, or a change of one.
    hear(sound: Sound): void {
        const key = keyOf(sound);
        if (sound.act === 'stop') {
            this.stage?.stop(key);
        } else if (sound.act === 'change') {
            this.stage?.change(key, sound.volume, sound.pitch);
        } else if (!document.hidden) {
            const voice = voiceOf(sound, 'effects');
            this.caption(sound.caption, voice);
            void this.stage?.play(key, voice);
        }
    }

    // What goes on from now on.
    set(state: SoundState): void {
        this.state = state;
        this.show();
    }

    // One of the page's own.
    made(name: MadeSound, p: Triple | null, volume: number, group: Voice['group'] = 'effects'): void {
        if (settings.value.ownSounds && !document.hidden) {
            void this.stage?.play(`made:${this.nextMade++}`,
                { name, group, volume, pitch: 1, loop: false, entity: 0, p });
        }
    }

    // With each picture: where one is and looks, and where everything is.
    update(camera: readonly number[], where: (entity: number) => Triple | null): void {
        const [x = 0, y = 0, z = 0, dx = 0, dy = 0, dz = 1] = camera;
        this.ear = [x, y, z];
        this.where = where;
        this.stage?.listen(this.ear, [dx, dy, dz]);
        this.stage?.update(where);
        if (settings.value.captions) {
            this.captionLoops();
        }
    }

    // The world is left.
    silence(): void {
        this.state = { loops: [], music: null };
        this.audible.clear();
        this.stage?.silence();
    }

    // --- the graph ---

    // Browsers allow sound from the first key or touch on.
    private unlockLater(): void {
        const unlock = (): void => {
            GESTURES.forEach((name) => removeEventListener(name, unlock, { capture: true }));
            void this.open();
        };
        GESTURES.forEach((name) => addEventListener(name, unlock, { capture: true }));
    }

    private async open(): Promise<void> {
        let context: AudioContext;
        try {
            context = new AudioContext({ latencyHint: 'interactive' });
        } catch {
            return; // without a sound card one plays in silence
        }
        const stage = await this.stageOn(context).catch(() => null);
        if (stage === null) {
            void context.close();
            this.unlockLater(); // the network is gone, perhaps for a moment
            return;
        }
        this.stage = stage;
        effect(() => {
            const { volume, musicVolume, effectsVolume, quality } = settings.value;
            stage.setVolumes({ master: volume, music: musicVolume, effects: effectsVolume });
            stage.panning = quality === 'low' ? 'equalpower' : 'HRTF';
        });
        this.wake();
        this.show();
    }

    // A tab that nobody sees is silent, and nothing is calculated for it.
    private wake(): void {
        const context = this.stage?.context;
        if (context instanceof AudioContext) {
            void (document.hidden ? context.suspend() : context.resume()).catch(() => undefined);
        }
    }

    private show(): void {
        const { loops, music } = this.state;
        this.stage?.setLoops(new Map(loops.map((each) => [keyOf(each), voiceOf(each, 'effects')])));
        void this.stage?.setMusic(music === null ? null
            : { ...voiceOf(music, 'music'), loop: true, p: null }, music?.fade ?? 1, music?.age);
    }

    private files(): SoundFiles {
        return {
            find: (name): SoundFile | null => {
                const list = this.assets.list.value;
                const asset = list === null ? null : soundNamed(list, name);
                if (asset === null) {
                    if (list !== null && !isMade(name)) {
                        this.unknown(list, name);
                    }
                    return null;
                }
                return { seconds: asset.seconds, bytes: () => this.assets.bytes(asset) };
            },
            fail: (name, why) => this.assets.fail(name, why),
        };
    }

    private unknown(list: readonly Asset[], name: string): void {
        const known = list.filter(({ kind }) => SOUNDS.includes(kind)).map(({ path }) =>
            path.replace(/^assets\//, ''));
        const start = name.slice(0, 2).toLowerCase();
        const near = [...known, ...MADE_SOUNDS].filter((each) =>
            each.toLowerCase().split('/').some((part) => part.startsWith(start)));
        this.assets.fail(name, words.sound.unknown((near.length > 0 ? near : [...known, ...MADE_SOUNDS])
            .slice(0, 8)));
    }

    // --- captions ---

    private isHeard({ p, entity }: Voice): boolean {
        const at = (entity === 0 ? null : this.where(entity)) ?? p;
        return at === null ||
            Math.hypot(at[0] - this.ear[0], at[1] - this.ear[1], at[2] - this.ear[2]) < 50;
    }

    private caption(text: string, voice: Voice): void {
        if (text === '' || !settings.value.captions || voice.volume < 0.02 || !this.isHeard(voice)) {
            return;
        }
        const key = this.nextCaption++;
        this.captions.value = [...this.captions.value.filter((each) => each.text !== text),
            { key, text }].slice(-CAPTIONS_MAX);
        setTimeout(() => {
            this.captions.value = this.captions.value.filter((each) => each.key !== key);
        }, CAPTION_MS);
    }

    // Those that go on are said once when they begin to be heard.
    private captionLoops(): void {
        const { loops, music } = this.state;
        const heard = new Set<string>();
        for (const sound of music === null ? loops : [...loops, music]) {
            const voice = voiceOf(sound, 'effects');
            const key = sound.act === 'music' ? `music:${sound.name}` : keyOf(sound);
            if (this.isHeard(voice)) {
                heard.add(key);
                if (!this.audible.has(key)) {
                    this.caption(sound.caption, voice);
                }
            }
        }
        this.audible = heard;
    }
}

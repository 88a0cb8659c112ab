// The graph of sounds, on any kind of audio context, so that a test can render and measure it:
//
//   source ─▶ level (volume, distance, fades) ─▶ panner (direction) ─▶ its group ─▶ master ─▶ out
//
// How loud a distance is, is decided here and not by the panner, because it also decides who is heard
// when there are more sounds than voices. Loops and music are what should be heard now (`setLoops`,
// `setMusic`); which of the loops have a voice is chosen anew with each update.
import type { Triple } from '../core/bridge.ts';
import { bufferBytes, type SoundBuffers } from './sound_buffers.ts';

export const VOICES_MAX = 32;
export const LOOP_VOICES_MAX = 16; // of those
const PLAYING_BYTES_MAX = 128 * 1024 * 1024; // of sounds that are heard at once, decoded
export const HEARING_M = 64; // SOUND_HEARING_M: a world sends nothing from farther away
const NEAR_M = 3; // within it a sound is as loud as it is
const LATE_SECONDS = 1.5; // a sound that was fetched for so long is over
const STOP_SECONDS = 0.08;
const MOVE_SECONDS = 0.03;

export type SoundGroup = 'music' | 'effects' | 'interface';

export interface Voice {
    name: string;
    group: SoundGroup;
    volume: number; // 0 to 1
    pitch: number;
    loop: boolean;
    entity: number; // what it comes from; 0: nothing
    p: Triple | null; // where; null: everywhere
}

export interface Volumes {
    master: number;
    music: number;
    effects: number;
}

interface Playing {
    key: string;
    voice: Voice;
    source: AudioBufferSourceNode;
    level: GainNode;
    panner: PannerNode | null;
    order: number; // when it began, among all
}

interface Music {
    key: string;
    volume: number;
    source: AudioBufferSourceNode;
    level: GainNode;
}

// 1 near by, 0 from the hearing distance on; twice as far is about half as loud.
export function distanceGain(metres: number): number {
    const part = Math.min(1, Math.max(0, (metres - NEAR_M) / (HEARING_M - NEAR_M)));
    return (1 - part) ** 2;
}

const distance = (a: Triple, b: Triple): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

export class SoundStage {
    readonly context: BaseAudioContext;
    panning: PanningModelType = 'HRTF';
    bytesMax = PLAYING_BYTES_MAX;
    private readonly buffers: SoundBuffers;
    private readonly master: GainNode;
    private readonly groups: Record<SoundGroup, GainNode>;
    private readonly playing = new Map<string, Playing>();
    private readonly starting = new Set<string>(); // their files are on the way
    private loops = new Map<string, Voice>();
    private music: Music | null = null;
    private musicKey = ''; // of what should play
    private ear: Triple = [0, 0, 0];
    private where: (entity: number) => Triple | null = () => null;
    private nextOrder = 1;

    constructor(context: BaseAudioContext, buffers: SoundBuffers) {
        this.context = context;
        this.buffers = buffers;
        this.master = context.createGain();
        this.master.connect(context.destination);
        const group = (): GainNode => {
            const gain = context.createGain();
            gain.connect(this.master);
            return gain;
        };
        this.groups = { music: group(), effects: group(), interface: group() };
    }

    get voiceCount(): number {
        return this.playing.size;
    }

    voices(): { key: string; name: string; level: number; p: Triple | null }[] {
        return [...this.playing.values()].map(({ key, voice, level }) =>
            ({ key, name: voice.name, level: level.gain.value, p: this.place(voice) }));
    }

    musicName(): string {
        return this.music === null ? '' : this.musicKey;
    }

    setVolumes({ master, music, effects }: Volumes): void {
        this.glide(this.master.gain, master);
        this.glide(this.groups.music.gain, music);
        this.glide(this.groups.effects.gain, effects);
        this.glide(this.groups.interface.gain, effects);
    }

    // --- where one hears ---

    listen(p: Triple, forward: Triple): void {
        const { listener } = this.context;
        this.ear = p;
        // Some browsers have only the older functions.
        if ((listener.positionX as AudioParam | undefined) === undefined) {
            listener.setPosition(...p);
            listener.setOrientation(...forward, 0, 1, 0);
            return;
        }
        const values = [p[0], p[1], p[2], forward[0], forward[1], forward[2], 0, 1, 0];
        const params = [listener.positionX, listener.positionY, listener.positionZ,
            listener.forwardX, listener.forwardY, listener.forwardZ,
            listener.upX, listener.upY, listener.upZ];
        params.forEach((param, i) => { param.value = values[i] ?? 0; });
    }

    // Called with each picture: sounds move with their entities, and the loops that are heard best
    // have voices.
    update(where: (entity: number) => Triple | null): void {
        this.where = where;
        for (const playing of this.playing.values()) {
            this.glide(playing.level.gain, this.loudness(playing.voice));
            this.move(playing);
        }
        this.chooseLoops();
    }

    loudness(voice: Voice): number {
        const p = this.place(voice);
        return voice.volume * (p === null ? 1 : distanceGain(distance(p, this.ear)));
    }

    // --- sounds that end by themselves ---

    // Resolves when it plays, or when it is known that it will not.
    async play(key: string, voice: Voice): Promise<void> {
        const begun = this.context.currentTime;
        this.starting.add(key);
        const buffer = await this.buffers.get(this.context, voice.name);
        const isWanted = this.starting.delete(key);
        if (buffer !== null && this.hasMemory(buffer) && isWanted && this.context.currentTime - begun < LATE_SECONDS &&
            this.loudness(voice) > 0) {
            this.begin(key, voice, buffer);
        }
    }

    change(key: string, volume: number, pitch: number): void {
        const playing = this.playing.get(key);
        if (playing !== undefined) {
            playing.voice = { ...playing.voice, volume, pitch };
            this.glide(playing.level.gain, this.loudness(playing.voice));
            this.glide(playing.source.playbackRate, pitch);
        }
    }

    stop(key: string, seconds = STOP_SECONDS): void {
        this.starting.delete(key);
        const playing = this.playing.get(key);
        if (playing !== undefined) {
            this.playing.delete(key);
            this.fadeOut(playing.level, playing.source, seconds);
        }
    }

    // --- sounds that go on ---

    // All that should be heard now; those that are not among them end.
    setLoops(loops: ReadonlyMap<string, Voice>): void {
        for (const key of this.loops.keys()) {
            if (!loops.has(key)) {
                this.stop(key);
            }
        }
        this.loops = new Map(loops);
        for (const [key, { volume, pitch }] of this.loops) {
            this.change(key, volume, pitch);
        }
        this.chooseLoops();
    }

    private chooseLoops(): void {
        const loud = [...this.loops].map(([key, voice]) => ({ key, voice, loud: this.loudness(voice) }))
            .sort((a, b) => b.loud - a.loud);
        loud.forEach(({ key, voice, loud: level }, rank) => {
            const isOn = this.playing.has(key) || this.starting.has(key);
            if ((rank >= LOOP_VOICES_MAX || level === 0) && isOn) {
                this.stop(key);
            } else if (rank < LOOP_VOICES_MAX && level > 0 && !isOn) {
                void this.beginLoop(key, voice);
            }
        });
    }

    private async beginLoop(key: string, voice: Voice): Promise<void> {
        this.starting.add(key);
        const buffer = await this.buffers.get(this.context, voice.name);
        const now = this.loops.get(key);
        if (buffer === null || !this.hasMemory(buffer)) {
            // It stays among the starting ones: it is not asked for again with each picture.
            return;
        }
        if (this.starting.delete(key) && now !== undefined) {
            this.begin(key, now, buffer);
        }
    }

    // Files that were not there may be now.
    retry(): void {
        [...this.starting].filter((key) => this.loops.has(key))
            .forEach((key) => this.starting.delete(key));
        if (this.music === null) {
            this.musicKey = '';
        }
    }

    // One at a time; the same one again only changes. `age` is for how long it plays elsewhere.
    async setMusic(voice: Voice | null, fadeSeconds: number, age = 0): Promise<void> {
        const key = voice?.name ?? '';
        if (key === this.musicKey) {
            if (this.music !== null && voice !== null) {
                this.music.volume = voice.volume;
                this.glide(this.music.level.gain, voice.volume);
                this.glide(this.music.source.playbackRate, voice.pitch);
            }
            return;
        }
        this.musicKey = key;
        const buffer = voice === null ? null : await this.buffers.get(this.context, key);
        if (this.musicKey !== key) {
            return; // meanwhile something else is wanted
        }
        if (this.music !== null) {
            this.fadeOut(this.music.level, this.music.source, Math.max(fadeSeconds, STOP_SECONDS));
            this.music = null;
        }
        if (buffer === null || voice === null) {
            return;
        }
        const now = this.context.currentTime;
        const source = this.source(buffer, voice);
        const level = this.context.createGain();
        level.gain.setValueAtTime(fadeSeconds > 0 ? 0 : voice.volume, now);
        level.gain.linearRampToValueAtTime(voice.volume, now + fadeSeconds);
        source.connect(level).connect(this.groups.music);
        source.start(now, age * voice.pitch % buffer.duration);
        this.music = { key, volume: voice.volume, source, level };
    }

    // Nothing is heard any more.
    silence(): void {
        this.setLoops(new Map());
        [...this.playing.keys()].forEach((key) => this.stop(key));
        this.starting.clear();
        void this.setMusic(null, STOP_SECONDS);
    }

    // --- nodes ---

    private place({ entity, p }: Voice): Triple | null {
        return (entity === 0 ? null : this.where(entity)) ?? p;
    }

    private source(buffer: AudioBuffer, { pitch, loop }: Voice): AudioBufferSourceNode {
        const source = this.context.createBufferSource();
        source.buffer = buffer;
        source.loop = loop;
        source.playbackRate.value = pitch;
        return source;
    }

    private begin(key: string, voice: Voice, buffer: AudioBuffer): void {
        this.stop(key);
        if (!this.makeRoom(voice)) {
            return;
        }
        const source = this.source(buffer, voice);
        const level = this.context.createGain();
        const p = this.place(voice);
        const panner = p === null ? null : new PannerNode(this.context, {
            panningModel: this.panning, rolloffFactor: 0,
            positionX: p[0], positionY: p[1], positionZ: p[2],
        });
        level.gain.value = this.loudness(voice);
        source.connect(level);
        const last = panner === null ? level : level.connect(panner);
        last.connect(this.groups[voice.group]);
        const playing = { key, voice, source, level, panner, order: this.nextOrder++ };
        source.onended = () => {
            last.disconnect();
            if (this.playing.get(key) === playing) {
                this.playing.delete(key);
            }
        };
        source.start();
        this.playing.set(key, playing);
    }

    // What plays stays in memory even if the buffers have forgotten it.
    private hasMemory(buffer: AudioBuffer): boolean {
        const all = new Set([...this.playing.values()].map(({ source }) => source.buffer).filter((each) => each !== null));
        return [...all.add(buffer)].reduce((sum, each) => sum + bufferBytes(each), 0) <= this.bytesMax;
    }

    // The weakest, and of equal ones the oldest, makes room; a loop never does. False: the new one would
    // be the weakest.
    private makeRoom(voice: Voice): boolean {
        if (this.playing.size < VOICES_MAX) {
            return true;
        }
        const weakest = [...this.playing.values()].filter((each) => !each.voice.loop)
            .sort((a, b) => this.loudness(a.voice) - this.loudness(b.voice) || a.order - b.order)[0];
        if (weakest === undefined || this.loudness(weakest.voice) > this.loudness(voice)) {
            return false;
        }
        this.stop(weakest.key);
        return true;
    }

    private move({ voice, panner }: Playing): void {
        const p = this.place(voice);
        if (panner !== null && p !== null) {
            this.glide(panner.positionX, p[0]);
            this.glide(panner.positionY, p[1]);
            this.glide(panner.positionZ, p[2]);
        }
    }

    private glide(param: AudioParam, value: number): void {
        if (this.context.currentTime === 0) {
            param.value = value; // nothing was heard yet
        } else if (Math.abs(param.value - value) > 1e-4) {
            param.setTargetAtTime(value, this.context.currentTime, MOVE_SECONDS);
        }
    }

    private fadeOut(level: GainNode, source: AudioBufferSourceNode, seconds: number): void {
        const now = this.context.currentTime;
        const { value } = level.gain;
        level.gain.cancelScheduledValues(now);
        level.gain.setValueAtTime(value, now);
        level.gain.linearRampToValueAtTime(0, now + seconds);
        source.stop(now + seconds);
    }
}

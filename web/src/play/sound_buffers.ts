// Decoded sounds, a bounded number of bytes of them: those that were not used for the longest time go.
// Decoded, a sound is ten times its file, so long ones are kept with half the detail.
import { laterWords } from '../ui/words_later.ts';
import { isMade, makeSound } from './sound_made.ts';

export const BUFFER_BYTES_MAX = 96 * 1024 * 1024;
const LONG_SECONDS = 60;
const SECONDS_MAX = 300;
const LONG_RATE = 22050;

export interface SoundFile {
    seconds: number;
    bytes: () => Promise<Uint8Array<ArrayBuffer>>;
}

export interface SoundFiles {
    find: (name: string) => SoundFile | null; // of the place
    fail: (name: string, why: string) => void; // for its creator
}

interface Kept {
    buffer: Promise<AudioBuffer | null>;
    bytes: number; // 0 until it is decoded
}

export class SoundBuffers {
    bytes = 0;
    private readonly files: SoundFiles;
    private readonly kept = new Map<string, Kept>(); // the oldest use first
    private readonly bytesMax: number;

    constructor(files: SoundFiles, bytesMax = BUFFER_BYTES_MAX) {
        this.files = files;
        this.bytesMax = bytesMax;
    }

    get count(): number {
        return this.kept.size;
    }

    // Null: there is no such sound, or it cannot be decoded.
    get(context: BaseAudioContext, name: string): Promise<AudioBuffer | null> {
        const before = this.kept.get(name);
        if (before !== undefined) {
            this.kept.delete(name);
            this.kept.set(name, before);
            return before.buffer;
        }
        const kept: Kept = { buffer: Promise.resolve(null), bytes: 0 };
        this.kept.set(name, kept);
        kept.buffer = this.load(context, name).then((buffer) => {
            if (this.kept.get(name) !== kept) {
                return buffer; // it is not wanted any more
            }
            if (buffer === null) {
                this.kept.delete(name); // the list of files may come later
            } else {
                kept.bytes = buffer.length * buffer.numberOfChannels * 4;
                this.bytes += kept.bytes;
                this.makeRoom(name);
            }
            return buffer;
        });
        return kept.buffer;
    }

    clear(): void {
        this.kept.clear();
        this.bytes = 0;
    }

    private makeRoom(newest: string): void {
        for (const [name, { bytes }] of this.kept) {
            if (this.bytes <= this.bytesMax) {
                return;
            }
            if (name !== newest && bytes > 0) {
                this.kept.delete(name);
                this.bytes -= bytes;
            }
        }
    }

    private async load(context: BaseAudioContext, name: string): Promise<AudioBuffer | null> {
        const file = this.files.find(name);
        if (file === null) {
            if (!isMade(name)) {
                return null;
            }
            const samples = makeSound(name, context.sampleRate);
            const made = context.createBuffer(1, samples.length, context.sampleRate);
            made.copyToChannel(samples, 0);
            return made;
        }
        if (file.seconds > SECONDS_MAX) {
            this.files.fail(name, laterWords.sound.tooLong(Math.round(file.seconds), SECONDS_MAX));
            return null;
        }
        const decoder = file.seconds > LONG_SECONDS ? new OfflineAudioContext(1, 1, LONG_RATE) : context;
        try {
            const { buffer } = await file.bytes();
            return await decoder.decodeAudioData(buffer);
        } catch (error) {
            this.files.fail(name, laterWords.sound.undecodable(String(error)));
            return null;
        }
    }
}

// Decoded sounds, a bounded number of bytes of them: those that were not used for the longest time go.
// Decoded, a sound is ten times its file, so long ones are kept with half the detail.
import { laterWords } from '../ui/words_later.ts';
import { isMade, makeSound } from './sound_made.ts';

export const BUFFER_BYTES_MAX = 96 * 1024 * 1024;
const LONG_SECONDS = 60;
const SECONDS_MAX = 300;
export const DECODED_BYTES_MAX = 128 * 1024 * 1024; // five minutes in stereo; while it is decoded
const LONG_RATE = 22050;

const LARGE_BYTES = 16 * 1024 * 1024;

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

// What the head of a file says, and otherwise what most files have.
export function soundFormat(file: Uint8Array): { channels: number; rate: number } {
    const head = String.fromCharCode(...file.subarray(0, 256));
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
    const at = (mark: string, more: number): number => head.includes(mark) && head.indexOf(mark) + more + 4 <= head.length
        ? head.indexOf(mark) + more : -1;
    const [opus, vorbis, wav] = [at('OpusHead', 9), at('\x01vorbis', 11), at('fmt ', 10)];
    return opus >= 0 ? { channels: view.getUint8(opus), rate: 48000 }
        : vorbis >= 0 ? { channels: view.getUint8(vorbis), rate: view.getUint32(vorbis + 1, true) }
        : wav >= 0 ? { channels: view.getUint16(wav, true), rate: view.getUint32(wav + 2, true) }
        : { channels: 2, rate: 48000 };
}

export const bufferBytes = ({ length, numberOfChannels }: AudioBuffer): number =>
    length * numberOfChannels * 4;

export class SoundBuffers {
    bytes = 0;
    private readonly files: SoundFiles;
    private readonly kept = new Map<string, Kept>(); // the oldest use first
    private readonly bytesMax: number;
    private decoding: Promise<unknown> = Promise.resolve(); // of large ones: one after another

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
                kept.bytes = bufferBytes(buffer);
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
            const bytes = await file.bytes();
            const { channels, rate } = soundFormat(bytes);
            const decoded = file.seconds * channels * Math.max(rate, decoder.sampleRate) * 4;
            if (decoded > DECODED_BYTES_MAX) {
                this.files.fail(name, laterWords.sound.tooLarge(channels, Math.round(file.seconds)));
                return null;
            }
            const decode = (): Promise<AudioBuffer> => decoder.decodeAudioData(bytes.buffer);
            if (decoded < LARGE_BYTES) {
                return await decode();
            }
            const before = this.decoding;
            const buffer = before.then(decode);
            this.decoding = buffer.catch(() => undefined);
            return await buffer;
        } catch (error) {
            this.files.fail(name, laterWords.sound.undecodable(String(error)));
            return null;
        }
    }
}

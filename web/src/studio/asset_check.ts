// Whether a file of assets/ is what its name says, so that it is said here and not only when a build refuses it.
// Decoding shows whether a picture is whole. What only a build knows (what a model contains, how long a sound is)
// is left to the build.
import { words } from './words_studio.ts';

const EDGE_PX_MAX = 4096; // ASSET_EDGE_PX_MAX
export type Decode = (bytes: Uint8Array, type: string) => Promise<{ width: number; height: number }>;

const begins = (bytes: Uint8Array, text: string, at = 0): boolean =>
    [...text].every((letter, i) => bytes[at + i] === letter.charCodeAt(0));
const uint32 = (bytes: Uint8Array, at: number): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);

function isGltf(bytes: Uint8Array): boolean {
    try {
        const { asset } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as { asset?: { version?: unknown } };
        return asset?.version === '2.0';
    } catch {
        return false;
    }
}

interface Kind {
    name: string;
    picture?: string; // its media type
    is: (bytes: Uint8Array) => boolean;
}
const png: Kind = { name: 'PNG', picture: 'image/png', is: (bytes) => begins(bytes, '\x89PNG\r\n\x1a\n') && begins(bytes, 'IHDR', 12) };
const jpeg: Kind = { name: 'JPEG', picture: 'image/jpeg', is: (bytes) => begins(bytes, '\xff\xd8\xff') };
const KINDS: Record<string, Kind> = {
    png, jpg: jpeg, jpeg,
    ogg: { name: 'Ogg', is: (bytes) => begins(bytes, 'OggS') },
    wav: { name: 'WAV', is: (bytes) => begins(bytes, 'RIFF') && begins(bytes, 'WAVE', 8) },
    glb: { name: 'glTF', is: (bytes) => bytes.length >= 12 && begins(bytes, 'glTF') && uint32(bytes, 4) === 2 && uint32(bytes, 8) === bytes.length },
    gltf: { name: 'glTF', is: isGltf },
    bin: { name: 'bin', is: () => true }, // numbers of a .gltf
};

export const isAsset = (path: string): boolean => path.startsWith('assets/') && endingOf(path) in KINDS;
const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1] ?? '';

// As cameras and other systems name them: "My Photo.PNG" becomes "My_Photo.png".
export const assetName = (name: string): string => name.normalize('NFKD').replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[._]+/, '')
    .replace(/\.[^.]+$/, (ending) => ending.toLowerCase());

const decodeHere: Decode = async (bytes, type) => {
    const picture = await createImageBitmap(new Blob([bytes as Uint8Array<ArrayBuffer>], { type }));
    const { width, height } = picture;
    picture.close();
    return { width, height };
};

// What is wrong with it; empty if nothing is.
export async function assetFault(path: string, bytes: Uint8Array, decode: Decode = decodeHere): Promise<string> {
    const kind = KINDS[endingOf(path)];
    if (kind === undefined) {
        return words.assetUnknown;
    }
    if (!kind.is(bytes)) {
        return words.assetNot(kind.name);
    }
    if (kind.picture === undefined) {
        return '';
    }
    const size = await decode(bytes, kind.picture).catch(() => null);
    return size === null ? words.assetBroken(kind.name)
        : Math.max(size.width, size.height) > EDGE_PX_MAX ? words.assetPixels(size.width, size.height, EDGE_PX_MAX) : '';
}

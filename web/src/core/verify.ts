// Ed25519: did the host sign what the core asks about? WebCrypto where the page has it, which is a
// secure one (https, or this machine); @noble where it has not, so that a world on an address of the
// local network is verified like any other. Nothing here decides what happens then.

export interface Proof {
    version: number;
    signature: Uint8Array<ArrayBuffer>;
    text: Uint8Array<ArrayBuffer>;
}

const KEY_BYTES = 32;

export function keyFromHex(hex: string): Uint8Array<ArrayBuffer> | null {
    if (!/^[0-9a-f]{64}$/.test(hex)) {
        return null;
    }
    return Uint8Array.from({ length: KEY_BYTES }, (_, at) =>
        Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

// Null: this browser has no Ed25519, or does not let this page have it.
async function byWebCrypto(key: Uint8Array<ArrayBuffer>, proof: Proof): Promise<boolean | null> {
    const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
    if (subtle === undefined) {
        return null;
    }
    const imported = await subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify'])
        .catch(() => null);
    return imported === null ? null
        : subtle.verify({ name: 'Ed25519' }, imported, proof.signature, proof.text);
}

async function byNoble(key: Uint8Array<ArrayBuffer>, proof: Proof): Promise<boolean> {
    const [ed25519, { sha512 }] = await Promise.all([
        import('@noble/ed25519'), import('@noble/hashes/sha2.js'),
    ]);
    ed25519.hashes.sha512 = sha512;
    return ed25519.verify(proof.signature, proof.text, key, { zip215: false });
}

// Whatever goes wrong on the way is no proof.
export async function isSigned(hex: string, proof: Proof): Promise<boolean> {
    const key = keyFromHex(hex);
    if (key === null) {
        return false;
    }
    try {
        return await byWebCrypto(key, proof) ?? await byNoble(key, proof);
    } catch {
        return false;
    }
}

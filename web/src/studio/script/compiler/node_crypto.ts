// Node's createHash('sha256'), as the compiler calls it.
import { sha256 } from '@noble/hashes/sha2.js';

export interface Hash {
    update(text: string): Hash;
    digest(encoding: 'base64'): string;
}

export function createHash(): Hash {
    const state = sha256.create();
    const hash: Hash = {
        update(text) {
            state.update(new TextEncoder().encode(text));
            return hash;
        },
        digest: () => btoa(String.fromCharCode(...state.digest())),
    };
    return hash;
}

// SHA-256 of a file's bytes, also where a page has no crypto.subtle (plain http on a LAN address).
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export const hashOf = (bytes: Uint8Array): string => bytesToHex(sha256(bytes));

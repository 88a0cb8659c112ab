// The Lua that a build keeps beside a plain-language script: its first line says what it was made of and what a
// person has accepted (server/build/soul/soul_header.h).
import { hashOf } from './hash.ts';

const utf8 = new TextEncoder();
const HEADER = /^(-- made from \S+ · sha256:[0-9a-f]{64} · source:[0-9a-f]{64} · body:(?:[0-9a-f]{64}|none) · reviewed:)([0-9a-f]{64}|none)( · model:\S+)\r?\n/;

export interface GeneratedLua {
    body: string;
    reviewed: string; // the hash of what a person accepted, or 'none'
    isReviewed: boolean;
    isOurs: boolean; // it has our first line
}

// The server's soul_body_hash: line ends count as \n.
export const bodyHash = (body: string): string => hashOf(utf8.encode(body.replace(/\r\n?/g, '\n')));

export function readGenerated(text: string): GeneratedLua {
    const match = HEADER.exec(text);
    const body = match === null ? text : text.slice(match[0].length);
    const reviewed = match?.[2] ?? 'none';
    return { body, reviewed, isReviewed: reviewed === bodyHash(body), isOurs: match !== null };
}

export function acceptGenerated(text: string): string {
    return text.replace(HEADER, (line, before: string, _old, after: string) =>
        `${before}${bodyHash(readGenerated(text).body)}${after}${line.endsWith('\r\n') ? '\r\n' : '\n'}`);
}

// Descriptions of places: a small part of Markdown, made into Preact nodes and never into markup, so a
// text cannot become anything but the elements below. Everything that is not understood stays text.
//
//   # heading      - item   1. item      ```code```      a blank line begins a paragraph
//   **bold**  *italic*  _italic_  `code`  [text](https://… or /path)
//
// The time is linear in the length of the text: every pattern is bounded, and nesting has a limit.
import { h } from 'preact';
import type { ComponentChild, JSX } from 'preact';

const NESTED_MAX = 3; // a link in italics in bold
const BLOCKS_MAX = 500;
const HEADINGS = ['h3', 'h4', 'h5'] as const; // a page has h1 and h2 itself

// Only pages: http(s) elsewhere, or a path of this site, which does not begin like another site's.
export function safeAddress(text: string): string | null {
    if (/[\u0000-\u0020\u007f-\u009f\\<>"]/.test(text)) {
        return null;
    }
    if (/^\/(?!\/)/.test(text)) {
        return text;
    }
    return /^https?:\/\/[^/?#@]+([/?#]|$)/i.test(text) && URL.canParse(text) ? text : null;
}

function makeLink(text: string, to: string, depth: number): ComponentChild | null {
    const href = safeAddress(to);
    return href === null ? null : h('a', { href, rel: 'noopener nofollow ugc' }, inline(text, depth + 1, false));
}

interface Mark {
    pattern: RegExp;
    make: (found: RegExpExecArray, depth: number, links: boolean) => ComponentChild | null;
}

const MARKS: Record<string, Mark[]> = {
    '`': [{ pattern: /`([^`\n]{1,1000})`/y, make: ([, code]) => h('code', null, code) }],
    '*': [
        { pattern: /\*\*(?! )([^*\n]{1,1000}(?:\*[^*\n]{1,200}\*[^*\n]{0,1000}){0,4})\*\*/y,
            make: ([, text = ''], depth, links) => h('strong', null, inline(text, depth + 1, links)) },
        { pattern: /\*(?! )([^*\n]{1,1000})\*/y,
            make: ([, text = ''], depth, links) => h('em', null, inline(text, depth + 1, links)) },
    ],
    _: [{ pattern: /_(?! )([^_\n]{1,1000})_(?![\p{L}\p{N}])/uy,
        make: ([, text = ''], depth, links) => h('em', null, inline(text, depth + 1, links)) }],
    '[': [{ pattern: /\[([^[\]\n]{1,200})\]\(([^()\s]{1,1000})\)/y,
        make: ([, text = '', to = ''], depth, links) => links ? makeLink(text, to, depth) : null }],
};

// The marks inside a line; `links`: none is inside another one.
function inline(text: string, depth: number, links: boolean): ComponentChild[] {
    const out: ComponentChild[] = [];
    let from = 0;
    let at = 0;
    while (at < text.length) {
        const letter = text[at] ?? '';
        const isInWord = letter === '_' && /[\p{L}\p{N}]/u.test(text[at - 1] ?? '');
        let length = 0;
        for (const mark of depth > NESTED_MAX || isInWord ? [] : MARKS[letter] ?? []) {
            mark.pattern.lastIndex = at;
            const found = mark.pattern.exec(text);
            const node = found === null ? null : mark.make(found, depth, links);
            if (found !== null && node !== null) {
                out.push(text.slice(from, at), node);
                length = found[0].length;
                break;
            }
        }
        at += Math.max(length, 1);
        from = length > 0 ? at : from;
    }
    out.push(text.slice(from));
    return out.filter((part) => part !== '');
}

const BULLET = /^ {0,3}[-*+] +(?=\S)/;
const NUMBER = /^ {0,3}\d{1,9}[.)] +(?=\S)/;
const HEADING = /^ {0,3}(#{1,6}) +(.*?)[ #]*$/;
const FENCE = /^ {0,3}```/;

function isBlockStart(line: string): boolean {
    return BULLET.test(line) || NUMBER.test(line) || HEADING.test(line) || FENCE.test(line);
}

// Lines of one paragraph; a line break stays one.
function paragraph(lines: string[]): JSX.Element {
    return h('p', null, lines.flatMap((line, i) =>
        i === 0 ? inline(line, 0, true) : [h('br', null), ...inline(line, 0, true)]));
}

// The lines of a text, and the next one to be read. (Taking lines off the front of an array moves all others.)
interface Reader {
    lines: string[];
    at: number;
}

function takeBlock(reader: Reader): JSX.Element {
    const { lines } = reader;
    const first = lines[reader.at++] ?? '';
    const heading = HEADING.exec(first);
    if (heading !== null) {
        const level = Math.min((heading[1] ?? '').length, HEADINGS.length);
        return h(HEADINGS[level - 1] ?? 'h5', null, inline(heading[2] ?? '', 0, true));
    }
    if (FENCE.test(first)) {
        const begin = reader.at;
        while (reader.at < lines.length && !FENCE.test(lines[reader.at] ?? '')) {
            reader.at++;
        }
        const code = lines.slice(begin, reader.at++);
        return h('pre', { tabIndex: 0 }, h('code', null, code.join('\n')));
    }
    const item = BULLET.test(first) ? BULLET : NUMBER.test(first) ? NUMBER : null;
    const taken = [first];
    for (let line = lines[reader.at]; line !== undefined && line.trim() !== '' &&
        (item !== null ? item.test(line) : !isBlockStart(line)); line = lines[reader.at]) {
        taken.push(line);
        reader.at++;
    }
    return item === null ? paragraph(taken) : h(item === BULLET ? 'ul' : 'ol', null,
        taken.map((line) => h('li', null, inline(line.replace(item, ''), 0, true))));
}

export function renderMarkdown(text: string): JSX.Element[] {
    const lines = text.replace(/\r\n?/g, '\n').split('\n');
    const blocks: JSX.Element[] = [];
    const reader = { lines, at: 0 };
    while (reader.at < lines.length && blocks.length < BLOCKS_MAX) {
        if ((lines[reader.at] ?? '').trim() === '') {
            reader.at++;
        } else {
            blocks.push(takeBlock(reader));
        }
    }
    if (reader.at < lines.length) {
        blocks.push(h('p', null, lines.slice(reader.at).join('\n'))); // far too many blocks: the rest as it is
    }
    return blocks;
}

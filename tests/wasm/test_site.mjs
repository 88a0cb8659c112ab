// Parts of the site that need no browser: Markdown of strangers, and QR codes. No decoder is at hand, so
// one is here, written from the standard and not from the encoder: it checks the format and version words
// against the tables of the standard, undoes the mask, and every block must have no error.
//   node test_site.mjs
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { renderMarkdown, safeAddress } from '../../web/src/site/markdown.ts';
import { ownPath } from '../../web/src/site/next.ts';
import { CHART_SECONDS, Histories } from '../../web/src/site/operator/history.ts';
import { makeQr, qrPath } from '../../web/src/site/qr.ts';

// --- Markdown ---

const TAGS = new Set(['p', 'br', 'h3', 'h4', 'h5', 'ul', 'ol', 'li', 'pre', 'code', 'strong', 'em', 'a']);

const escape = (text) => text.replace(/[&<>"]/g, (sign) =>
    ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);

// The nodes as HTML, after checking that each is one of ours with the properties that ours have.
function html(node) {
    if (typeof node === 'string') {
        return escape(node);
    }
    if (Array.isArray(node)) {
        return node.map(html).join('');
    }
    assert.ok(TAGS.has(node.type), `a ${String(node.type)}`);
    const { children = [], ...rest } = node.props;
    const allowed = { a: ['href', 'rel'], pre: ['tabIndex'] }[node.type] ?? [];
    assert.deepEqual(Object.keys(rest).sort(), allowed, node.type);
    if (node.type === 'a') {
        assert.match(rest.href, /^(https?:\/\/|\/(?!\/))/i);
        const to = new URL(rest.href, 'https://here.example');
        assert.ok(['http:', 'https:'].includes(to.protocol) && to.username === '', rest.href);
        assert.ok(!rest.href.startsWith('/') || to.host === 'here.example', rest.href);
        assert.equal(rest.rel, 'noopener nofollow ugc');
    }
    const link = node.type === 'a' ? ` href="${escape(rest.href)}"` : '';
    return node.type === 'br' ? '<br>' : `<${node.type}${link}>${html(children)}</${node.type}>`;
}

const shown = (text) => html(renderMarkdown(text));

test('the marks that there are', () => {
    const cases = [
        ['one\ntwo\n\nthree', '<p>one<br>two</p><p>three</p>'],
        ['# A\n## B\n###### F #', '<h3>A</h3><h4>B</h4><h5>F</h5>'],
        ['- a\n- **b**\n\n1. c\n2) d', '<ul><li>a</li><li><strong>b</strong></li></ul><ol><li>c</li><li>d</li></ol>'],
        ['text\n- item', '<p>text</p><ul><li>item</li></ul>'],
        ['*a* _b_ **c *d* e** `f*g*`', '<p><em>a</em> <em>b</em> <strong>c <em>d</em> e</strong> <code>f*g*</code></p>'],
        ['snake_case_name 2*3*4', '<p>snake_case_name 2<em>3</em>4</p>'],
        ['```lua\nif a < b\n\n# no heading\n```\nafter', '<pre><code>if a &lt; b\n\n# no heading</code></pre><p>after</p>'],
        ['[rules](/place/a) [site](https://a.example/x?y=1)',
            '<p><a href="/place/a">rules</a> <a href="https://a.example/x?y=1">site</a></p>'],
        ['[**b**](/x)', '<p><a href="/x"><strong>b</strong></a></p>'],
        ['** no ** * no * __', '<p>** no ** * no * __</p>'],
        ['', ''], ['\n \n', ''], ['a\r\nb', '<p>a<br>b</p>'],
    ];
    for (const [text, wanted] of cases) {
        assert.equal(shown(text), wanted, JSON.stringify(text));
    }
});

test('what strangers write stays text', () => {
    const path = new URL('hostile_markdown.txt', import.meta.url);
    const corpus = readFileSync(path, 'utf8').split('\n').filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    assert.ok(corpus.length > 50, `${corpus.length}`);
    for (const text of corpus) {
        const out = shown(text); // every node is checked
        assert.ok(!/<a [^>]*href="(?!https?:|\/)/i.test(out), `${text} became ${out}`);
        const lost = (line) => line.replace(/[\s#`*_\-+.)\d]|\]\([^()\s]*\)|\[/g, '');
        assert.equal(lost(out.replace(/<[^>]*>/g, '').replace(/&lt;/g, '<').replace(/&gt;/g, '>')
            .replace(/&quot;/g, '"').replace(/&amp;/g, '&')), lost(text), `nothing is lost of ${text}`);
    }
    for (const each of ['javascript:alert(1)', '//evil.example', '/\\evil.example', 'https://a@evil.example',
        'https://', 'HTTPS:evil', 'data:text/html,x', '', 'a/b', '#x', 'https://a b']) {
        assert.equal(safeAddress(each), null, each);
    }
});

test('signing in leads to a path of this site, never to another one', () => {
    for (const each of ['//evil.test', '/\\evil.test', '/\t/evil.test', 'https://evil.test/', '/.//evil.test', 'javascript:alert(1)',
        '', ' /', 'evil.test', '/a b', '/\u00e9', `/${'a'.repeat(511)}`, null, undefined]) {
        assert.equal(ownPath(each), '', String(each));
    }
    for (const each of ['/', '/place/place_obby?channel=beta', '/class', `/${'a'.repeat(510)}`]) {
        assert.equal(ownPath(each), each);
    }
});

// What a text of that length takes of the processor: the best of three, for other work disturbs.
function cost(piece, letters) {
    const text = piece.repeat(Math.ceil(letters / piece.length));
    return Math.min(...[1, 2, 3].map(() => {
        const before = process.cpuUsage();
        renderMarkdown(text);
        return process.cpuUsage(before).user;
    }));
}

// Four times the text takes about four times as long, and sixteen times where the time is quadratic. What plain
// text takes is added, for those that take almost none.
test('the time for a text grows as its length does', () => {
    const plain = cost('a b\n', 40_000);
    for (const piece of ['*', '**a', '[', '[a](', '`', '_a', '- \n', '#\n', '```\n', '[a](/b', '**a*b', 'a\n\n', '> ', '\\']) {
        const [short, long] = [cost(piece, 10_000), cost(piece, 40_000)];
        assert.ok(long < 9 * short + 3 * plain, `${JSON.stringify(piece)}: ${short} and ${long} us, plain text ${plain}`);
    }
});

// --- charts ---

test('what was sent while the tab was hidden is no peak in the chart', () => {
    const histories = new Histories();
    const rows = (bytes, more = []) => new Map([['server', { players: 2, tick_p99_ms: 1, memory_bytes: 5, bytes_down: bytes }], ...more]);
    const seen = (seconds, bytes) => {
        const now = rows(bytes, [[`w${bytes}`, rows(1).get('server')]]);
        histories.add(now, seconds * 1000);
        return now;
    };
    seen(0, 0);
    seen(1, 100);
    const last = seen(2, 300);
    assert.deepEqual(histories.of('server').traffic, [0, 100, 200]);
    histories.rest(last);
    histories.add(last, 62_000); // seen again, before the stream has said something
    seen(63, 300 + 61 * 50);
    seen(64, 300 + 61 * 50 + 70);
    assert.deepEqual(histories.of('server').traffic, [0, 100, 200, 50, 70]);
    assert.deepEqual([histories.of('w300').players, histories.of(`w${370 + 61 * 50}`).players], [[], [2]], 'worlds that are gone');
    for (let second = 65; second < 65 + CHART_SECONDS; second++) {
        seen(second, 0); // the counter began anew
    }
    assert.equal(histories.of('server').traffic.length, CHART_SECONDS);
    assert.equal(Math.min(...histories.of('server').traffic), 0);
});

// --- QR codes ---

const FORMATS_M = ['101010000010010', '101000100100101', '101111001111100', '101101101001011',
    '100010111111001', '100000011001110', '100111110010111', '100101010100000']; // by mask
const VERSIONS = { 7: '000111110010010100', 8: '001000010110111100', 9: '001001101010011001', 10: '001010010011010011' };
const ALIGNED = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];
// [blocks, words of all, words of data] of each group; level M.
const GROUPS = [[[1, 26, 16]], [[1, 44, 28]], [[1, 70, 44]], [[2, 50, 32]], [[2, 67, 43]], [[4, 43, 27]],
    [[4, 49, 31]], [[2, 60, 38], [2, 61, 39]], [[3, 58, 36], [2, 59, 37]], [[4, 69, 43], [1, 70, 44]]];
const FLIPS = [(i, j) => (i + j) % 2 === 0, (i) => i % 2 === 0, (_, j) => j % 3 === 0,
    (i, j) => (i + j) % 3 === 0, (i, j) => ((i >> 1) + Math.trunc(j / 3)) % 2 === 0,
    (i, j) => i * j % 2 + i * j % 3 === 0, (i, j) => (i * j % 2 + i * j % 3) % 2 === 0,
    (i, j) => ((i + j) % 2 + i * j % 3) % 2 === 0]; // row i, column j

const [exp, log] = [[], []];
for (let i = 0, value = 1; i < 255; i++) {
    exp[i] = value;
    log[value] = i;
    value = value << 1 ^ (value > 127 ? 0x11d : 0);
}

function isWhole(block, checks) {
    return Array.from({ length: checks }, (_, root) => block.reduce((sum, word) =>
        (sum === 0 ? 0 : exp[(log[sum] + root) % 255]) ^ word, 0)).every((value) => value === 0);
}

// Rows of the square that are no words: finders with their border and formats, timing, alignment, version.
function isFunction(i, j, size, version) {
    const isCorner = (i < 9 && (j < 9 || j >= size - 8)) || (i >= size - 8 && j < 9);
    const rows = ALIGNED[version - 1];
    const isAligned = rows.some((y) => rows.some((x) => Math.abs(i - y) <= 2 && Math.abs(j - x) <= 2 &&
        !(y === 6 && x === 6) && !(y === 6 && x === size - 7) && !(y === size - 7 && x === 6)));
    const isVersion = version >= 7 && ((i < 6 && j >= size - 11) || (j < 6 && i >= size - 11));
    return isCorner || i === 6 || j === 6 || isAligned || isVersion;
}

function decode(rows) {
    const size = rows.length;
    const version = (size - 17) / 4;
    const pick = (places) => places.map(([i, j]) => rows[i][j]).join('');
    const range = (count) => Array.from({ length: count }, (_, i) => i);
    const format = pick([...[0, 1, 2, 3, 4, 5, 7, 8].map((j) => [8, j]), ...[7, 5, 4, 3, 2, 1, 0].map((i) => [i, 8])]);
    assert.equal(pick([...range(7).map((n) => [size - 1 - n, 8]), ...range(8).map((n) => [8, size - 8 + n])]), format);
    const mask = FORMATS_M.indexOf(format);
    assert.ok(mask >= 0, `the format ${format}`);
    assert.equal(rows[size - 8][8], '1');
    if (version >= 7) {
        const bits = range(18).map((n) => 17 - n);
        assert.equal(pick(bits.map((n) => [Math.trunc(n / 3), size - 11 + n % 3])), VERSIONS[version]);
        assert.equal(pick(bits.map((n) => [size - 11 + n % 3, Math.trunc(n / 3)])), VERSIONS[version]);
    }
    for (const [y, x] of [[0, 0], [0, size - 7], [size - 7, 0]]) {
        assert.deepEqual(range(7).map((i) => rows[y + i].slice(x, x + 7)),
            ['1111111', '1000001', '1011101', '1011101', '1011101', '1000001', '1111111']);
    }
    let bits = '';
    for (let j = size - 1, n = 0; j > 0; j -= 2, n++) {
        j -= j === 6 ? 1 : 0;
        for (const row of range(size)) {
            const i = n % 2 === 0 ? size - 1 - row : row;
            for (const at of [j, j - 1]) {
                if (!isFunction(i, at, size, version)) {
                    bits += Number(rows[i][at]) ^ (FLIPS[mask](i, at) ? 1 : 0);
                }
            }
        }
    }
    const words = bits.match(/.{8}/g).map((word) => parseInt(word, 2));
    const blocks = GROUPS[version - 1].flatMap(([count, all, data]) =>
        range(count).map(() => ({ all, data, words: [] })));
    assert.equal(words.length, blocks.reduce((sum, { all }) => sum + all, 0));
    for (const part of ['data', 'all']) {
        for (let turn = 0; blocks.some((block) => block.words.length < block[part]) && turn < 200; turn++) {
            blocks.filter((block) => part === 'all' || turn < block.data)
                .forEach((block) => block.words.push(words.shift()));
        }
    }
    blocks.forEach((block) => assert.ok(isWhole(block.words, block.all - block.data), 'a block has errors'));
    const text = blocks.flatMap((block) => block.words.slice(0, block.data))
        .map((word) => word.toString(2).padStart(8, '0')).join('');
    assert.equal(text.slice(0, 4), '0100', 'bytes');
    const lengthBits = version < 10 ? 8 : 16;
    const count = parseInt(text.slice(4, 4 + lengthBits), 2);
    const bytes = range(count).map((i) => parseInt(text.substr(4 + lengthBits + i * 8, 8), 2));
    return { version, mask, text: new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes)) };
}

test('QR codes say what they were made from', () => {
    const seen = { versions: new Set(), masks: new Set() };
    for (let length = 0; length <= 213; length++) {
        const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + (i * 7 + length * 13) % 94)).join('');
        const { version, mask, text: read } = decode(makeQr(text));
        assert.equal(read, text);
        seen.versions.add(version);
        seen.masks.add(mask);
    }
    assert.equal(seen.versions.size, 10, 'every version');
    assert.ok(seen.masks.size >= 6, `masks ${[...seen.masks]}`);
    const link = 'http://192.168.1.20:5000/play/K7QX2MABCD';
    assert.equal(decode(makeQr(link)).text, link);
    assert.equal(decode(makeQr('ä 😀')).text, 'ä 😀');
    assert.equal(makeQr('x'.repeat(214)), null, 'too long');
});

test('the drawing has the same squares', () => {
    const rows = makeQr('https://play.example/play/K7QX2M');
    const { path, size } = qrPath(rows);
    assert.equal(size, rows.length + 8);
    const drawn = rows.map((row) => [...row].map(() => '0'));
    for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
        drawn[y - 4].fill('1', x - 4, x - 4 + Number(width));
    }
    assert.deepEqual(drawn.map((row) => row.join('')), rows);
});

// Colours and indentation of Lua 5.4 and Luau in the editor. It reads line by line and knows words,
// strings and comments; what a script means is decided by core/script/check alone.
import type { StreamParser, StringStream } from '@codemirror/language';

const KEYWORDS = new Set(['and', 'break', 'do', 'else', 'elseif', 'end', 'for', 'function', 'goto', 'if',
    'in', 'local', 'not', 'or', 'repeat', 'return', 'then', 'until', 'while']);
const LUAU_KEYWORDS = new Set(['continue', 'export', 'type']);
const ATOMS = new Set(['nil', 'true', 'false']);
const OPENS = new Set(['function', 'if', 'repeat', 'do', '(', '{', '[']);
const CLOSES = new Set(['end', 'until', ')', '}', ']']);
const CLOSES_LINE = /^(?:end|until|else|elseif)\b|^[)}\]]/;
const OPERATORS = /^(?:\.\.\.|\.\.=|\.\.|::|->|\/\/=|\/\/|<<|>>|[=~<>]=|[-+*/%^]=|[-+*/%^#&~|<>=?])/;

type Inside =
    | { kind: 'comment' | 'long'; level: number } // until ]==] of that level
    | { kind: 'text'; quote: string; braces: number } // braces: open ones of `{…}` in a Luau text
    | null;

export interface LuaState {
    inside: Inside;
    outer: { quote: string; braces: number }[]; // Luau texts around the code between braces
    indent: number; // blocks that are open at the start of the line
    depth: number; // and here
    after: '' | 'dot' | 'function' | 'goto'; // what came before a name
}

// `[[`, `[==[`: the number of signs, or -1.
function longBracket(stream: StringStream): number {
    const match = stream.match(/^\[(=*)\[/) as RegExpMatchArray | null;
    return match === null ? -1 : (match[1] ?? '').length;
}

function readLong(stream: StringStream, state: LuaState, kind: 'comment' | 'long', level: number): string {
    const end = `]${'='.repeat(level)}]`;
    const at = stream.string.indexOf(end, stream.pos);
    if (at < 0) {
        stream.skipToEnd();
        state.inside = { kind, level };
    } else {
        stream.pos = at + end.length;
        state.inside = null;
    }
    return kind === 'comment' ? 'comment' : 'string';
}

function readText(stream: StringStream, state: LuaState, quote: string): string {
    state.inside = { kind: 'text', quote, braces: 0 };
    while (!stream.eol()) {
        const next = stream.next();
        if (next === '\\') {
            stream.match(/^z\s*$/) || stream.next();
            if (stream.eol()) {
                return 'string'; // it goes on in the next line
            }
        } else if (next === quote) {
            state.inside = null;
            return 'string';
        } else if (quote === '`' && next === '{') {
            state.inside = null;
            state.outer.push({ quote, braces: 0 });
            return 'string';
        }
    }
    if (stream.string.charAt(stream.pos - 1) !== '\\') {
        state.inside = quote === '`' ? state.inside : null; // a quote that was never closed
    }
    return 'string';
}

function readWord(stream: StringStream, state: LuaState, word: string): string {
    const { after } = state;
    state.after = '';
    if (KEYWORDS.has(word) && after !== 'dot') {
        if (OPENS.has(word)) {
            state.depth += 1;
        } else if (CLOSES.has(word)) {
            state.depth -= 1;
        }
        state.after = word === 'function' ? 'function' : word === 'goto' ? 'goto' : '';
        return 'keyword';
    }
    if (after === 'function') {
        state.after = /^\s*[.:]/.test(stream.string.slice(stream.pos)) ? 'function' : '';
        return 'variableName.definition';
    }
    if (after === 'goto') {
        return 'labelName';
    }
    const isCall = /^\s*(?:\(|"|'|\{|\[\[)/.test(stream.string.slice(stream.pos));
    if (after === 'dot') {
        return isCall ? 'propertyName.function' : 'propertyName';
    }
    if (ATOMS.has(word)) {
        return 'atom';
    }
    if (word === 'self' || word === '_G' || word === '_ENV') {
        return 'variableName.special';
    }
    // These are names in Lua, and words of Luau where a declaration begins.
    if (LUAU_KEYWORDS.has(word) && (word === 'continue'
        ? /^\s*(?:$|;|end\b|--)/.test(stream.string.slice(stream.pos))
        : /^\s+(?:type\s+)?[A-Za-z_]\w*\s*[=<]?/.test(stream.string.slice(stream.pos)) &&
            /^\s*(?:export\s+)?$/.test(stream.string.slice(0, stream.start)))) {
        return 'keyword';
    }
    return isCall ? 'variableName.function' : 'variableName';
}

function readCode(stream: StringStream, state: LuaState): string | null {
    if (stream.eatSpace()) {
        return null;
    }
    if (stream.match('--')) {
        const level = longBracket(stream);
        if (level >= 0) {
            return readLong(stream, state, 'comment', level);
        }
        stream.skipToEnd();
        return 'comment';
    }
    const level = longBracket(stream);
    if (level >= 0) {
        return readLong(stream, state, 'long', level);
    }
    if (stream.match(/^(?:0[xX][\da-fA-F_]*\.?[\da-fA-F_]*(?:[pP][-+]?\d+)?|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?)/)) {
        state.after = '';
        return 'number';
    }
    const word = stream.match(/^[A-Za-z_][A-Za-z0-9_]*/) as RegExpMatchArray | null;
    if (word !== null) {
        return readWord(stream, state, word[0]);
    }
    const operator = stream.match(OPERATORS) as RegExpMatchArray | null;
    if (operator !== null) {
        state.after = '';
        return operator[0] === '::' ? 'punctuation' : 'operator';
    }
    return readSign(stream, state, stream.next() ?? '');
}

function readSign(stream: StringStream, state: LuaState, sign: string): string | null {
    if (sign === '"' || sign === "'" || sign === '`') {
        state.after = '';
        return readText(stream, state, sign);
    }
    const outer = state.outer.at(-1);
    if (outer !== undefined && sign === '}' && outer.braces === 0) {
        state.outer.pop();
        return readText(stream, state, outer.quote);
    }
    if (outer !== undefined && (sign === '{' || sign === '}')) {
        outer.braces += sign === '{' ? 1 : -1;
    }
    if (OPENS.has(sign)) {
        state.depth += 1;
    } else if (CLOSES.has(sign)) {
        state.depth -= 1;
    }
    const isFunctionName = state.after === 'function' && (sign === '.' || sign === ':');
    state.after = sign === '.' || sign === ':' ? isFunctionName ? 'function' : 'dot' : '';
    return sign === '(' || sign === ')' ? 'paren'
        : sign === '{' || sign === '}' ? 'brace'
        : sign === '[' || sign === ']' ? 'squareBracket'
        : '.:,;'.includes(sign) ? 'punctuation' : 'invalid';
}

export const luaParser: StreamParser<LuaState> = {
    name: 'lua',
    startState: () => ({ inside: null, outer: [], indent: 0, depth: 0, after: '' }),
    copyState: (state) => ({
        ...state, inside: state.inside === null ? null : { ...state.inside },
        outer: state.outer.map((each) => ({ ...each })),
    }),
    token(stream, state) {
        if (stream.sol()) {
            state.depth = Math.max(state.depth, 0);
            state.indent = state.depth;
        }
        const { inside } = state;
        if (inside?.kind === 'text') {
            return readText(stream, state, inside.quote);
        }
        return inside === null ? readCode(stream, state)
            : readLong(stream, state, inside.kind, inside.level);
    },
    indent(state, textAfter, { unit }) {
        if (state.inside !== null) {
            return null; // as it is: spaces belong to a long string
        }
        const closes = CLOSES_LINE.test(textAfter) ? 1 : 0;
        return Math.max(0, state.depth - closes) * unit;
    },
    tokenTable: {},
    languageData: {
        commentTokens: { line: '--', block: { open: '--[[', close: ']]' } },
        closeBrackets: { brackets: ['(', '[', '{', '"', "'", '`'] },
        indentOnInput: /^\s*(?:end|until|else|elseif|\)|\}|\])$/,
    },
};

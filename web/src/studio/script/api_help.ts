// What the editor knows of the API: what can stand after a dot, what a name means, and which argument
// of a call one is writing. It guesses types from the text alone, so a wrong guess only offers less.
import type { ApiRow, ApiTable } from '../../../api_table.ts';

// Lua's own libraries; what the sandbox leaves out is left out here too.
const LIBRARIES: Record<string, string> = {
    string: 'byte char find format gmatch gsub len lower match pack packsize rep reverse sub unpack upper',
    table: 'concat insert move pack remove sort unpack',
    math: 'abs acos asin atan ceil cos deg exp floor fmod huge log max maxinteger min mininteger modf pi rad ' +
        'random sin sqrt tan tointeger type ult',
    coroutine: 'create isyieldable resume running status wrap yield',
    utf8: 'char charpattern codepoint codes len offset',
};
const LUA_GLOBALS = ('assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select ' +
    'setmetatable tonumber tostring type xpcall').split(' ');
const KEYWORDS = ('and break do else elseif end false for function goto if in local nil not or repeat return ' +
    'then true until while').split(' ');
const NAME = '[A-Za-z_][A-Za-z0-9_]*';

export interface Offer {
    label: string;
    kind: 'function' | 'method' | 'property' | 'event' | 'constant' | 'class' | 'namespace' | 'keyword' | 'hook' |
        'variable';
    detail: string;
    doc: string;
    boost: number;
}

export interface Call {
    row: ApiRow;
    argument: number; // the one that is being written, from 0
}

const sideWords: Record<string, string> = {
    SERVER: 'on the server only', CLIENT: 'on the client only', WRITES: 'changes the world: on the server',
};

export function signature(row: ApiRow): string {
    const name = row.owner === '' ? row.name
        : `${row.owner}${row.kind === 'method' ? ':' : '.'}${row.name}`;
    const isCall = row.kind === 'function' || row.kind === 'method' || row.kind === 'global' || row.kind === 'hook';
    const type = row.type === '' ? '' : `: ${row.type}`;
    return row.kind === 'event' ? `${name}:Connect(function(${row.arguments}) … end)`
        : isCall ? `${row.kind === 'hook' ? 'function ' : ''}${name}(${row.arguments})${type}` : `${name}${type}`;
}

export function describe(row: ApiRow): string {
    const side = sideWords[row.side];
    return side === undefined ? row.doc : `${row.doc} (${side})`;
}

// "a: number, f: function(x, y)" has two.
export function splitArguments(list: string): string[] {
    const parts: string[] = [];
    let depth = 0;
    let part = '';
    for (const sign of list) {
        depth += '({'.includes(sign) ? 1 : ')}'.includes(sign) ? -1 : 0;
        if (sign === ',' && depth === 0) {
            parts.push(part.trim());
            part = '';
        } else {
            part += sign;
        }
    }
    return part.trim() === '' ? parts : [...parts, part.trim()];
}

const plainType = (type: string): string => type.replace(/[?{}]/g, '').split('|')[0]?.trim() ?? '';

// The same text with blanks for what is in quotes or a comment, so that a comma there separates nothing. The last
// quote may be open: that is where one writes.
const QUOTED = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|--[^\n]*/g;
export const withoutTexts = (text: string): string => text.replace(QUOTED, (found) => ' '.repeat(found.length));

export class ApiHelp {
    private readonly members = new Map<string, ApiRow[]>();
    private readonly table: ApiTable;

    constructor(table: ApiTable) {
        this.table = table;
        for (const row of table.rows) {
            this.members.set(row.owner, [...this.members.get(row.owner) ?? [], row]);
        }
        for (const [library, names] of Object.entries(LIBRARIES)) {
            const own: ApiRow[] = names.split(' ').map((name) => ({
                kind: /^(?:huge|pi|maxinteger|mininteger|charpattern)$/.test(name) ? 'constant' : 'function',
                owner: library, name, side: '', arguments: '', type: '', doc: 'Of Lua’s own library.',
            }));
            const known = new Set((this.members.get(library) ?? []).map(({ name }) => name));
            this.members.set(library,
                [...this.members.get(library) ?? [], ...own.filter(({ name }) => !known.has(name))]);
        }
    }

    private find(owner: string, name: string): ApiRow | undefined {
        return this.members.get(owner)?.find((row) => row.name === name);
    }

    private isLibrary(name: string): boolean {
        return this.members.has(name) && name !== '';
    }

    // The type of a name at the end of `before`: from the hook it is an argument of, from the call it
    // was given by, or from what such names usually hold.
    typeOf(name: string, before: string): string {
        if (this.isLibrary(name)) {
            return name;
        }
        const given = [...before.matchAll(new RegExp(`\\b${name}\\s*=\\s*(${NAME})[.:](${NAME})\\s*\\(`, 'g'))].at(-1);
        if (given !== undefined) {
            const owner = this.isLibrary(given[1] ?? '') ? given[1] ?? '' : this.guess(given[1] ?? '');
            const row = this.find(owner, given[2] ?? '');
            return given[2] === 'new' ? given[1] ?? '' : row === undefined ? this.guess(name) : plainType(row.type);
        }
        const inHook = [...before.matchAll(new RegExp(`function\\s+(${NAME})\\s*\\(([^)]*)\\)`, 'g'))].at(-1);
        const hook = inHook === undefined ? undefined : this.find('', inHook[1] ?? '');
        const at = inHook?.[2]?.split(',').map((each) => each.trim()).indexOf(name) ?? -1;
        const argument = hook === undefined || at < 0 ? undefined : splitArguments(hook.arguments)[at];
        const type = plainType(argument?.split(':')[1] ?? '');
        return this.isLibrary(type) ? type : this.guess(name);
    }

    private guess(name: string): string {
        return /^(?:self|other|entity|part|character|bullet)$/i.test(name) ? 'Entity'
            : /player|who/i.test(name) ? 'Player'
            : /position|velocity|direction|offset|size$/i.test(name) ? 'Vector3' : '';
    }

    // What can be written where `before` ends. `from`: where the unfinished word begins.
    complete(before: string, whole: string): { from: number; offers: Offer[] } | null {
        const member = new RegExp(`(${NAME})\\s*([.:])\\s*([A-Za-z0-9_]*)$`).exec(before);
        if (member !== null) {
            const [, owner = '', sign = '', word = ''] = member;
            if (before.at(-member[0].length - 1) === '.' && sign === '.') {
                return null; // deeper than what is known
            }
            const type = this.typeOf(owner, before.slice(0, -member[0].length));
            const rows = (this.members.get(type) ?? []).filter((row) =>
                sign === '.' || row.kind === 'method' || row.kind === 'function');
            return rows.length === 0 ? null : { from: before.length - word.length, offers: rows.map((row) => this.offer(row)) };
        }
        const word = /[A-Za-z_][A-Za-z0-9_]*$/.exec(before)?.[0] ?? '';
        if (word === '' || /--.*$/.test(before.slice(before.lastIndexOf('\n') + 1))) {
            return null;
        }
        return { from: before.length - word.length, offers: this.globals(word, whole) };
    }

    private globals(word: string, whole: string): Offer[] {
        const offers = (this.members.get('') ?? []).map((row) => this.offer(row));
        const seen = new Set(offers.map(({ label }) => label));
        const add = (offer: Offer): void => {
            if (!seen.has(offer.label)) {
                seen.add(offer.label);
                offers.push(offer);
            }
        };
        for (const { name, kind, doc } of this.table.owners) {
            if (kind !== 'shape') {
                add({ label: name, kind: kind === 'class' ? 'class' : 'namespace', detail: '', doc, boost: 2 });
            }
        }
        Object.keys(LIBRARIES).forEach((name) =>
            add({ label: name, kind: 'namespace', detail: '', doc: 'A library of Lua.', boost: 0 }));
        LUA_GLOBALS.forEach((name) => add({ label: name, kind: 'function', detail: '', doc: 'Of Lua.', boost: 0 }));
        KEYWORDS.forEach((name) => add({ label: name, kind: 'keyword', detail: '', doc: '', boost: -1 }));
        for (const [name] of whole.matchAll(new RegExp(`\\b${NAME}\\b`, 'g'))) {
            if (name !== word) {
                add({ label: name, kind: 'variable', detail: '', doc: '', boost: 1 });
            }
        }
        return offers;
    }

    private offer(row: ApiRow): Offer {
        const kinds: Record<ApiRow['kind'], Offer['kind']> = {
            function: 'function', global: 'function', method: 'method', property: 'property', field: 'property',
            event: 'event', constant: 'constant', hook: 'hook',
        };
        const isCall = kinds[row.kind] === 'function' || row.kind === 'method' || row.kind === 'hook';
        const type = row.type === '' ? '' : `: ${row.type}`;
        return {
            label: row.name, kind: kinds[row.kind], detail: isCall ? `(${row.arguments})${type}` : type,
            doc: describe(row), boost: row.kind === 'hook' ? 3 : 2,
        };
    }

    // What the word around `at` is; undefined: nothing of the API.
    lookUp(text: string, at: number): { row: ApiRow | null; owner: { name: string; doc: string } | null; from: number; to: number } | null {
        const from = at - (/[A-Za-z0-9_]*$/.exec(text.slice(0, at))?.[0].length ?? 0);
        const to = at + (/^[A-Za-z0-9_]*/.exec(text.slice(at))?.[0].length ?? 0);
        const word = text.slice(from, to);
        const before = /([A-Za-z_][A-Za-z0-9_]*)\s*[.:]\s*$/.exec(text.slice(0, from));
        const owner = before === null ? '' : this.typeOf(before[1] ?? '', text.slice(0, before.index));
        const row = before !== null && owner === '' ? undefined : this.find(owner, word);
        const known = before === null ? this.table.owners.find(({ name, kind }) => name === word && kind !== 'shape') : undefined;
        return row === undefined && known === undefined ? null
            : { row: row ?? null, owner: known ?? null, from, to };
    }

    // The innermost call of the API whose arguments one writes at the end of `before`.
    callAt(text: string): Call | null {
        const before = withoutTexts(text);
        let depth = 0;
        let argument = 0;
        for (let i = before.length - 1; i >= 0 && before.length - i < 1000; i--) {
            const sign = before.charAt(i);
            if (sign === '\n' && /^\s*(?:end|local|function|if|for|while|return)\b/.test(before.slice(i + 1))) {
                return null;
            }
            if (')}]'.includes(sign)) {
                depth += 1;
            } else if (depth > 0 && '({['.includes(sign)) {
                depth -= 1;
            } else if (sign === ',' && depth === 0) {
                argument += 1;
            } else if (sign === '{' || sign === '[') {
                argument = 0; // of a table that is an argument itself
            } else if (sign === '(') {
                return this.calledAs(text.slice(0, i), argument);
            }
        }
        return null;
    }

    private calledAs(before: string, argument: number): Call | null {
        const match = new RegExp(`(?:(${NAME})\\s*([.:])\\s*)?(${NAME})\\s*$`).exec(before);
        if (match === null || /\bfunction\s*$/.test(before.slice(0, match.index))) {
            return null;
        }
        const owner = match[1] === undefined ? '' : this.typeOf(match[1], before.slice(0, match.index));
        const row = match[1] !== undefined && owner === '' ? undefined : this.find(owner, match[3] ?? '');
        return row === undefined || row.kind === 'hook' || (row.arguments === '' && row.doc.startsWith('Of Lua')) ? null
            : { row, argument };
    }

    // What is said about one argument of a call.
    argumentDoc(row: ApiRow, argument: number): string {
        const name = splitArguments(row.arguments)[argument]?.split(':')[0]?.trim() ?? '';
        const type = plainType(splitArguments(row.arguments)[argument]?.split(':')[1] ?? '');
        const words = this.table.words[type]?.join(', ');
        const doc = this.table.arguments[`${row.owner}.${row.name}.${name}`] ?? '';
        return words === undefined ? doc : `${doc}${doc === '' ? '' : ' '}One of: ${words}.`;
    }
}

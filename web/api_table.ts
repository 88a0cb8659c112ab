// core/script/api.def as data for the studio's editor: names, arguments, types and help of everything
// that scripts can call. vite.config.ts makes it when the pages are built; nothing of it is committed.

export interface ApiRow {
    kind: 'function' | 'method' | 'property' | 'event' | 'constant' | 'field' | 'global' | 'hook';
    owner: string; // '': a global or a hook
    name: string;
    side: string; // BOTH, SERVER, CLIENT, WRITES; '': anywhere
    arguments: string; // "position: Vector3, speed: number?"; '': takes none, or is no function
    type: string; // what it returns, or is; '': nothing
    doc: string;
}

export interface ApiOwner {
    name: string;
    kind: 'group' | 'class' | 'shape' | 'library';
    doc: string;
}

export interface ApiTable {
    owners: ApiOwner[];
    rows: ApiRow[];
    words: Record<string, string[]>; // types that are one of some words
    arguments: Record<string, string>; // "World.Spawn.prefab" → its unit, limits and default
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', '"': '"', "'": "'", '\\': '\\' };

// What stands between the parentheses that begin at `at`; C joins strings that follow each other.
function readArguments(text: string, at: number): { values: string[]; end: number } {
    const values: string[] = [];
    let value = '';
    let depth = 0;
    for (let i = at; i < text.length; i++) {
        const sign = text.charAt(i);
        if (sign === '"') {
            for (i += 1; text.charAt(i) !== '"'; i++) {
                const isEscape = text.charAt(i) === '\\';
                i += isEscape ? 1 : 0;
                value += isEscape ? ESCAPES[text.charAt(i)] ?? text.charAt(i) : text.charAt(i);
            }
        } else if (sign === '(') {
            depth += 1;
        } else if (sign === ')' && depth > 0) {
            depth -= 1;
        } else if (sign === ',' || sign === ')') {
            values.push(value);
            value = '';
            if (sign === ')') {
                return { values, end: i };
            }
        } else if (!/\s/.test(sign)) {
            value += sign;
        }
    }
    throw new Error('api.def: a row has no end');
}

const SCHEMAS: Record<string, (v: string[]) => Partial<ApiRow>> = {
    FUNCTION: ([owner, name, side, args, type, doc]) =>
        ({ kind: 'function', owner, name, side, arguments: args, type, doc }) as ApiRow,
    METHOD: ([owner, name, side, args, type, doc]) =>
        ({ kind: 'method', owner, name, side, arguments: args, type, doc }) as ApiRow,
    PROPERTY: ([owner, name, , type, doc]) => ({ kind: 'property', owner, name, type, doc }) as ApiRow,
    EVENT: ([owner, name, side, args, doc]) =>
        ({ kind: 'event', owner, name, side, arguments: args, type: 'Signal', doc }) as ApiRow,
    GLOBAL: ([name, side, args, type, doc]) =>
        ({ kind: 'global', name, side, arguments: args, type, doc }) as ApiRow,
    HOOK: ([name, side, args, doc]) => ({ kind: 'hook', name, side, arguments: args, doc }) as ApiRow,
    FIELD: ([owner, name, type, doc]) => ({ kind: 'field', owner, name, type, doc }) as ApiRow,
    CONSTANT: ([owner, name, type, doc]) => ({ kind: 'constant', owner, name, type, doc }) as ApiRow,
    LUA: ([owner, name, args, type, doc]) => // those of the language itself have no library
        ({ kind: owner === '' ? 'global' : 'function', owner, name, arguments: args, type, doc }) as ApiRow,
};
const OWNERS: Record<string, ApiOwner['kind']> = {
    GROUP: 'group', CLASS: 'class', SHAPE: 'shape', LIBRARY: 'library',
};

export function readApi(source: string): ApiTable {
    const text = source.replace(/^\s*(?:\/\/|#).*$/gm, '');
    const table: ApiTable = { owners: [], rows: [], words: {}, arguments: {} };
    const start = /\bAPI_([A-Z]+)\(/g;
    for (let match = start.exec(text); match !== null; match = start.exec(text)) {
        const { values, end } = readArguments(text, start.lastIndex);
        start.lastIndex = end;
        const kind = match[1] ?? '';
        const row = SCHEMAS[kind]?.(values);
        if (row !== undefined) {
            table.rows.push({ owner: '', side: '', arguments: '', type: '', ...row } as ApiRow);
        } else if (kind in OWNERS) {
            table.owners.push({ name: values[0] ?? '', kind: OWNERS[kind] ?? 'group', doc: values.at(-1) ?? '' });
        } else if (kind === 'WORDS') {
            table.words[values[0] ?? ''] = (values[1] ?? '').split(' ');
        } else if (kind === 'ARGUMENT') {
            table.arguments[values.slice(0, 3).join('.')] = values[3] ?? '';
        }
    }
    return table;
}

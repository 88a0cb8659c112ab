// What scripts say and where they fail while a place is played, as lines of the studio's console: with the
// file and the line that a click opens, also of TypeScript.
import type { LogLine } from './play_channel.ts';

export interface ConsoleLine {
    side: 'server' | 'client' | 'studio';
    level: 'info' | 'warning' | 'error';
    text: string;
    path?: string;
    line?: number;
}

// Lines of generated Lua → lines of the source, by "Workspace/Door.lua".
export type LineTables = ReadonlyMap<string, { file: string; lines: readonly number[] }>;

const AT = /^\s*((?:[\w .-]+\/)+[\w .-]+?\.(?:lua|luau|ts|soul)|(?:place|scene)\.json)(?::(\d+)| line (\d+))(?::\d+|, column \d+)?:?\s*/;
const BY = /^((?:[\w .-]+\/)+[\w.-]+): /;

// "Workspace/Door.lua:3: …" has both; what a script prints begins with its name.
export function toConsoleLine({ side, level, text }: LogLine | { side: 'studio'; level: 'info' | 'error'; text: string },
    tables: LineTables, files: readonly string[]): ConsoleLine {
    const head = { side, level: level === 'warn' ? 'warning' as const : level };
    const at = AT.exec(text);
    if (at !== null) {
        const path = at[1] ?? '';
        const line = Number(at[2] ?? at[3] ?? 0);
        const table = tables.get(path);
        const rest = text.slice(at[0].length);
        return table === undefined ? { ...head, text: rest, path, line }
            : { ...head, text: rest, path: table.file, line: table.lines[line - 1] ?? line };
    }
    const by = BY.exec(text);
    const path = by === null ? undefined
        : files.find((each) => each.replace(/^SoulService\//, '').replace(/\.(?:lua|luau|ts|soul)$/, '') === by[1]);
    return path === undefined ? { ...head, text } : { ...head, text: text.slice(by?.[0].length ?? 0), path, line: 1 };
}

// What scripts said and where they failed while a place was played, on both sides: the newest thousand
// lines. A line that names a file and a line can be opened.
import { type Signal, signal } from '@preact/signals';

import type { LogLine } from './play_channel.ts';
import { words } from './words_play.ts';

export const LINES_MAX = 1000;

export interface ConsoleLine {
    key: number;
    side: 'server' | 'client' | 'studio';
    level: 'info' | 'warn' | 'error';
    text: string;
    file: string; // '': none
    line: number; // 0: none
    count: number; // how many times in a row
}

// Lines of generated Lua → lines of the source, by "Workspace/Door.lua".
export type LineTables = ReadonlyMap<string, { file: string; lines: readonly number[] }>;

const AT = /^(\s*)((?:[\w .-]+\/)+[\w .-]+?\.(?:lua|luau|ts|soul))(?::(\d+)| line (\d+))/;
const BY = /^((?:[\w .-]+\/)+[\w.-]+): /;

// "Workspace/Door.lua:3: …" has both; what a script prints begins with its name.
export function place(text: string, tables: LineTables, files: readonly string[]): { text: string; file: string; line: number } {
    const at = AT.exec(text);
    if (at !== null) {
        const file = at[2] ?? '';
        const line = Number(at[3] ?? at[4] ?? 0);
        const table = tables.get(file);
        const found = table === undefined ? { file, line } : { file: table.file, line: table.lines[line - 1] ?? line };
        return { ...found, text: table === undefined ? text
            : `${at[1] ?? ''}${found.file}:${found.line}${text.slice(at[0].length)}` };
    }
    const path = BY.exec(text)?.[1];
    const file = path === undefined ? undefined
        : files.find((each) => each.replace(/^SoulService\//, '').replace(/\.(?:lua|luau|ts|soul)$/, '') === path);
    return { text, file: file ?? '', line: 0 };
}

export class ConsoleLog {
    readonly lines: Signal<readonly ConsoleLine[]> = signal<readonly ConsoleLine[]>([]);
    private nextKey = 1;
    private runs = 0;

    add(lines: readonly LogLine[] | readonly { side: 'studio'; level: ConsoleLine['level']; text: string }[],
        tables: LineTables = new Map(), files: readonly string[] = []): void {
        const all = [...this.lines.value];
        for (const { side, level, text } of lines) {
            const last = all.at(-1);
            const found = place(text, tables, files);
            if (last !== undefined && last.side === side && last.level === level && last.text === found.text) {
                all[all.length - 1] = { ...last, count: last.count + 1 };
            } else {
                all.push({ key: this.nextKey++, side, level, ...found, count: 1 });
            }
        }
        this.lines.value = all.slice(-LINES_MAX);
    }

    // What comes now is of another run of the place than what is there.
    begin(): void {
        this.runs += 1;
        if (this.lines.value.length > 0) {
            this.add([{ side: 'studio', level: 'info', text: words.run(this.runs) }]);
        }
    }

    clear(): void {
        this.lines.value = [];
    }
}

export const consoleLog = new ConsoleLog(); // of the page

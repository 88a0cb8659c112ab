// A line of the core's log ("error script: Workspace/Door.lua:3: …") for the console.
import type { LogLine } from './play_channel.ts';

export const levelOf = (name: string | undefined): LogLine['level'] =>
    name === 'error' ? 'error' : name === 'warn' || name === 'warning' ? 'warn' : 'info';

export function logLine(side: LogLine['side'], line: string): LogLine {
    const match = /^(\w+) (\w+): ([\s\S]*)$/.exec(line);
    return { side, level: levelOf(match?.[1]), text: match?.[3] ?? line };
}

// The console of a draft that is played on the server. What server scripts print and where they fail comes with what
// they cost; the game page in the frame tells what its own client's scripts say, and other players' clients report
// their faults to the world.
import { Failure } from '../../site/api.ts';
import { followScripts, type ScriptCosts } from '../../site/script_costs.ts';
import { fromScreen } from '../../ui/studio_frame.ts';
import { scriptStats } from '../script/status.tsx';
import { levelOf, logLine } from './log_line.ts';
import type { LogLine } from './play_channel.ts';
import { words } from './words_play.ts';

const OWN_MAX = 200; // texts of one's own client that are remembered

export class ServerConsole {
    private readonly add: (lines: readonly LogLine[]) => void;
    private readonly screen: () => Window | null;
    private readonly own = new Set<string>(); // what this browser's client has said already
    private readonly reported = new Map<string, number>(); // faults of clients, how often each
    private following: AbortController | null = null;
    private world = '';
    private epoch = 0;
    private last = 0; // number of the last line

    constructor(screen: () => Window | null, add: (lines: readonly LogLine[]) => void) {
        this.screen = screen;
        this.add = add;
        addEventListener('message', this.hear);
    }

    end(): void {
        removeEventListener('message', this.hear);
        this.following?.abort();
        scriptStats.value = { ...scriptStats.peek(), play: null };
    }

    private readonly hear = (event: MessageEvent): void => {
        const said = fromScreen(event, this.screen());
        if (said?.kind === 'log') {
            const lines = said.lines.map((line) => logLine('client', line));
            lines.slice(0, OWN_MAX).forEach(({ text }) => this.own.add(text));
            if (this.own.size > OWN_MAX * 2) {
                this.own.clear();
            }
            this.add(lines);
        } else if (said?.kind === 'room' && said.world !== this.world) {
            this.world = said.world;
            this.follow();
        }
    };

    private follow(): void {
        this.following?.abort();
        this.following = new AbortController();
        void followScripts(this.world, this.following.signal, (answer) => {
            if (!(answer instanceof Failure)) {
                this.show(answer);
            } else if (answer.status !== 503) { // else the world starts again
                this.add([{ side: 'server', level: 'warn', text: words.noScripts(answer.message) }]);
            }
        });
    }

    private show(costs: ScriptCosts): void {
        if (costs.epoch !== this.epoch) { // the world has started anew, and counts from one
            this.epoch = costs.epoch;
            this.last = 0;
            this.reported.clear();
        }
        const fresh = costs.lines.filter(({ number }) => number > this.last);
        const missed = this.last === 0 ? 0 : (fresh[0]?.number ?? this.last + 1) - this.last - 1;
        this.last = fresh.at(-1)?.number ?? this.last;
        const lines: LogLine[] = missed === 0 ? []
            : [{ side: 'server', level: 'warn', text: words.missedLines(missed) }];
        lines.push(...fresh.map(({ level, text }): LogLine => ({ side: 'server', level: levelOf(level), text })));
        this.add([...lines, ...this.faultsOf(costs)]);
        const { tick, scripts, entities } = costs;
        scriptStats.value = {
            ...scriptStats.peek(),
            play: {
                execMs: tick === 0 ? 0 : scripts.reduce((sum, { timeUs }) => sum + timeUs, 0) / 1000 / tick,
                costs: {
                    pending: 0, parametersFailed: 0,
                    entities: entities.map(({ entity, path, timeUs, calls }) => ({ entity, path, ms: timeUs / 1000, calls })),
                },
            },
        };
    }

    // Of other people's clients. One's own were said at once.
    private faultsOf({ clients }: ScriptCosts): LogLine[] {
        return clients.faults.flatMap(({ path, line, message, count }): LogLine[] => {
            const key = `${path} ${line} ${message}`;
            const before = this.reported.get(key) ?? 0;
            this.reported.set(key, count);
            const isOwn = [...this.own].some((text) => text.includes(message));
            return count <= before || isOwn ? [] : [{ side: 'client', level: 'error', text: `${path}:${line}: ${message}` }];
        });
    }
}

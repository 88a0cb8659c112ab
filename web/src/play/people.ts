// Who is here: names, teams, scores, and whom this player does not want to hear. From the events of the
// world; nothing here decides anything.
import { computed, signal } from '@preact/signals';

export interface Person {
    player: number; // number of the player
    playerId: string; // the same next time
    entity: number; // the body; 0: none
    name: string;
    team: string;
    shirt: number; // 0: one of our choosing
    skin: number;
    legs: number;
    stats: ReadonlyMap<string, number>;
}

export const STATS_SHOWN_MAX = 4;
const MUTED_KEY = 'sandlot.muted';
const MUTED_MAX = 500;

type Payload = Record<string, unknown>;

function readMuted(): Set<string> {
    try {
        const list = JSON.parse(localStorage.getItem(MUTED_KEY) ?? '[]') as unknown;
        return new Set(Array.isArray(list) ? list.filter((id) => typeof id === 'string') : []);
    } catch {
        return new Set();
    }
}

export class People {
    readonly list = signal<ReadonlyMap<number, Person>>(new Map()); // by player
    readonly own = signal(0); // the own player
    readonly muted = signal<ReadonlySet<string>>(readMuted()); // by playerId
    // By body, for whoever draws them.
    readonly bodies = computed(() => new Map([...this.list.value.values()]
        .filter(({ entity }) => entity !== 0).map((person) => [person.entity, person])));
    // The same with the team's name beside their own, for those who do not tell colours apart.
    readonly bodiesWithTeams = computed(() => new Map([...this.bodies.value].map(([id, person]) =>
        [id, person.team === '' ? person : { ...person, name: `${person.name} · ${person.team}` }])));
    // The columns of the board, in the order in which the world named them.
    readonly columns = computed(() => [...new Set([...this.list.value.values()]
        .flatMap(({ stats }) => [...stats.keys()]))].slice(0, STATS_SHOWN_MAX));
    private stale = new Set<number>(); // who was here before a cut and was not named since

    // Everybody who is here will be named again; who is not, has left meanwhile (sweep).
    welcome(own: number): void {
        this.own.value = own;
        this.stale = new Set(this.list.value.keys());
    }

    // Returns whether it is somebody new.
    meet(payload: Payload): boolean {
        const player = Number(payload.player);
        const before = this.list.value.get(player);
        this.stale.delete(player);
        this.set({
            player,
            playerId: String(payload.playerId),
            entity: Number(payload.entityId),
            name: String(payload.name),
            team: String(payload.team ?? ''),
            shirt: Number(payload.colourShirt),
            skin: Number(payload.colourSkin),
            legs: Number(payload.colourLegs),
            stats: before?.stats ?? new Map(),
        });
        return before === undefined;
    }

    score(payload: Payload): void {
        const person = this.list.value.get(Number(payload.player));
        if (person !== undefined) {
            this.set({
                ...person,
                stats: new Map([...person.stats, [String(payload.name), Number(payload.value)]]),
            });
        }
    }

    part(player: number): Person | undefined {
        const person = this.list.value.get(player);
        if (person !== undefined) {
            const rest = new Map(this.list.value);
            rest.delete(player);
            this.list.value = rest;
        }
        return person;
    }

    sweep(): void {
        for (const player of this.stale) {
            this.part(player);
        }
        this.stale.clear();
    }

    isMuted(player: number): boolean {
        return this.muted.value.has(this.list.value.get(player)?.playerId ?? '');
    }

    mute(playerId: string, muted: boolean): void {
        const ids = new Set(this.muted.value);
        ids.delete(playerId);
        if (muted) {
            ids.add(playerId);
        }
        this.muted.value = new Set([...ids].slice(-MUTED_MAX));
        try {
            localStorage.setItem(MUTED_KEY, JSON.stringify([...this.muted.value]));
        } catch {
            // It holds until the page is closed.
        }
    }

    private set(person: Person): void {
        this.list.value = new Map([...this.list.value, [person.player, person]]);
    }
}

// What the toolbox inserts, without a line of code to write: entities, and for some a short script that one
// can read and change. A script that is there already is used as it is.
import * as THREE from 'three';

import { FLAG, type EntityRecord, type Op, type Triple } from './document.ts';
import { round } from './frame.ts';
import type { Studio } from './state.ts';
import { words } from './words_studio.ts';
import { WIDE_M } from './view/parts.ts';

export const KITS = ['block', 'wedge', 'spawn', 'checkpoint', 'kill', 'coin', 'door', 'lift', 'trampoline',
    'conveyor', 'guard'] as const;
export type Kit = typeof KITS[number];

const TYPE_SPAWN = 3;
const TYPE_GROUP = 4;
const SPAWN_M = 2; // around a spawn nothing is put
const TOUCH_M = 0.05; // what touches is not in it
const RINGS = 8;
const RING_M = 1.5;
const WAYS = 12;
const ABOVE_M = 3;
const BESIDE_M = 2.5; // from a side that is hit: half of most of what is inserted, and a bit

type Part = { transform?: EntityRecord['transform'] } & Record<string, unknown>;

interface Plan {
    entity: Part;
    half: number; // how far its position is above what it stands on
    script?: { path: string; text: string };
    isOfServer?: boolean; // the script only says what the server does: players' machines do not run it
}

const CHECKPOINT = `-- A checkpoint: who touches it starts here again.
function OnTriggerEnter(self, other)
    local player = other.Player
    if player and self.last ~= player.UserId then
        self.last = player.UserId
        player:SetSpawn(self)
        Chat.Send("Checkpoint!", player)
    end
end
`;
const KILL = `-- Who touches it starts again at the last checkpoint, or at the beginning.
function OnTriggerEnter(self, other)
    KillPlayer() -- the player who touched it
end
`;
const COIN = `-- A coin: whoever touches it gets one more, and it comes back after a while.
function OnTriggerEnter(self, other)
    local player = other.Player
    if player and self.Visible then
        player.leaderstats.Coins = (player.leaderstats.Coins or 0) + self.params.worth
        self.Visible = false
        task.wait(self.params.back)
        self.Visible = true
    end
end
`;
const DOOR = `-- A door that rises when somebody touches it, and comes down again.
function onStart(self)
    self.closed = self.closed or self.Position
end

function OnTouch(self, other)
    if other.Player and not self.moves then
        self.moves = true
        self:MoveTo(self.closed + Vector3.new(0, self.params.rise, 0), self.params.seconds)
        task.wait(self.params.seconds + self.params.open)
        self:MoveTo(self.closed, self.params.seconds)
        task.wait(self.params.seconds)
        self.moves = false
    end
end
`;
const LIFT = `-- Goes up, waits, comes down, waits. "parameters" say how far and how fast.
function onStart(self)
    self.low = self.low or self.Position -- where it began: a script that is saved again starts anew
    local low = self.low
    local high = low + Vector3.new(0, self.params.rise, 0)

    local function ride(goal)
        self:MoveTo(goal, self.params.seconds)
        task.wait(self.params.seconds + self.params.pause)
    end

    task.spawn(function()
        while true do
            ride(high)
            ride(low)
        end
    end)
end
`;

const script = (path: string, text: string): Pick<Plan, 'script'> => ({ script: { path, text } });
const bound = (path: string, parameters?: object): Part => ({
    scriptRef: { path }, ...(parameters === undefined ? {} : { parameters }),
});

function plan(kit: Kit, at: Triple): Plan {
    const box = (size: Triple, more: Part): Plan => ({ half: size[1] / 2, entity: { shape: { size }, ...more } });
    switch (kit) {
        case 'block': return box([4, 1, 4], { material: 'plastic', colour: '#4f8fd0' });
        case 'wedge': return { half: 1, entity: { shape: { kind: 'wedge', size: [4, 2, 4] }, material: 'plastic', colour: '#6fb04f' } };
        case 'spawn': return { half: 0, entity: { type: 'spawn' } };
        case 'checkpoint': return {
            ...box([4, 0.2, 4], {
                trigger: true, ghost: true, colour: '#52b788', glow: 0.4, tags: ['checkpoint'],
                ...bound('Workspace/Checkpoint.lua'),
            }), ...script('Workspace/Checkpoint.lua', CHECKPOINT),
        };
        case 'kill': return {
            ...box([4, 0.6, 1], { trigger: true, ghost: true, colour: '#e63946', material: 'neon', ...bound('Workspace/KillBrick.lua') }),
            ...script('Workspace/KillBrick.lua', KILL),
        };
        case 'coin': return {
            half: 0.8,
            entity: {
                shape: { kind: 'cylinder', size: [0.9, 0.16, 0.9] }, transform: { rotation: [90, 0, 0] },
                trigger: true, ghost: true, material: 'metal', colour: '#ffd166', glow: 0.3, tags: ['coin'],
                ...bound('Workspace/Coin.lua', { worth: 1, back: 10 }),
            }, ...script('Workspace/Coin.lua', COIN),
        };
        case 'door': return {
            ...box([3, 4, 0.4], { material: 'wood', colour: '#9c6b3f', ...bound('Workspace/Door.lua', { rise: 3.8, seconds: 0.8, open: 2 }) }),
            ...script('Workspace/Door.lua', DOOR), isOfServer: true,
        };
        case 'lift': return {
            ...box([4, 0.5, 4], { material: 'metal', colour: '#9aa3ab', ...bound('Workspace/Lift.lua', { rise: 4, seconds: 3, pause: 2 }) }),
            ...script('Workspace/Lift.lua', LIFT), isOfServer: true,
        };
        case 'trampoline': return box([4, 0.5, 4], { bounce: 14, material: 'cloth', colour: '#c77dff' });
        case 'conveyor': return box([3, 0.4, 8], { conveyor: [0, 0, 4], material: 'metal', colour: '#495057' });
        case 'guard': {
            const [x, y, z] = at;
            return {
                half: 0,
                entity: {
                    type: 'npc', tags: ['guard'],
                    npc: { sight: 12, patrol: [[x, y, z], [x + 5, y, z], [x + 5, y, z + 5]], pauseMs: 1500 },
                },
            };
        }
    }
}

// "Block", "Block2", …: names that scripts can find one by.
export function freeName(studio: Studio, wanted: string): string {
    const taken = new Set(studio.document.find(wanted).map((id) => studio.document.name(id)));
    let name = wanted;
    for (let i = 2; taken.has(name); i++) {
        name = `${wanted}${i}`;
    }
    return name;
}

// On top of what is there; beside it, on the ground, where its side is hit.
function floorAt(studio: Studio, { point, normal }: { point: Triple; normal: Triple }, snap: (value: number) => number): Triple {
    if (normal[1] > 0.7) {
        return [snap(point[0]), round(point[1]), snap(point[2])];
    }
    const [x, z] = [snap(point[0] + normal[0] * BESIDE_M), snap(point[2] + normal[2] * BESIDE_M)];
    studio.document.skip(studio.view?.hollow() ?? []);
    const below = studio.document.pick([x, point[1] + 0.5, z], [0, -1, 0], 100);
    return [x, round(below?.point[1] ?? point[1]), z];
}

// Whether something of that size would stand where people start, or in something else.
function isFree(studio: Studio, at: Triple, half: Triple): boolean {
    return [...studio.rows.values()].every(({ type, position, half: own, flags }) => {
        if (type === TYPE_GROUP || (flags & FLAG.ghost) !== 0 && Math.max(...own) > WIDE_M) {
            return true;
        }
        const far = type === TYPE_SPAWN ? [SPAWN_M, SPAWN_M, SPAWN_M] : own;
        const middle = [at[0], at[1] + half[1], at[2]];
        return middle.some((value, i) => Math.abs(value - position[i]!) >= half[i]! + far[i]! - TOUCH_M);
    });
}

// The nearest place around a spot that is free, has a floor, and is in the picture. If there is none, the spot.
function freeSpot(studio: Studio, floor: Triple, half: Triple, snap: (value: number) => number): Triple {
    const { view, document } = studio;
    if (view === null || isFree(studio, floor, half)) {
        return floor;
    }
    for (let ring = 1; ring <= RINGS; ring++) {
        for (let turn = 0; turn < WAYS; turn++) {
            const angle = turn / WAYS * 2 * Math.PI;
            const [x, z] = [snap(floor[0] + Math.cos(angle) * ring * RING_M), snap(floor[2] + Math.sin(angle) * ring * RING_M)];
            document.skip(view.hollow());
            const below = document.pick([x, floor[1] + ABOVE_M, z], [0, -1, 0], 100);
            const found: Triple | null = below === null || below.normal[1] < 0.7 ? null : [x, round(below.point[1]), z];
            if (found !== null && view.shows(found) && isFree(studio, found, half)) {
                return found;
            }
        }
    }
    return floor;
}

// Half of its size, for what is not turned in a way that matters.
function halfOf({ entity, half }: Plan): Triple {
    const [x, , z] = (entity.shape as { size?: Triple } | undefined)?.size ?? [1, 2, 1];
    return [x / 2, Math.max(half, 0.1), z / 2];
}

// `at`: where it is dropped. Else near the middle of the picture, where it is in nobody's way.
export async function insertKit(studio: Studio, kit: Kit, at?: THREE.Vector2): Promise<number> {
    const { document } = studio;
    if (at === undefined) {
        studio.view?.comeBack();
    }
    const spot = studio.view?.spot(at) ?? { point: [0, 0, 0] as Triple, normal: [0, 1, 0] as Triple };
    const grid = studio.grid.value;
    const snap = (value: number): number => grid === 0 ? round(value) : round(Math.round(value / grid) * grid);
    const beside = floorAt(studio, spot, snap);
    const floor = at !== undefined ? beside : freeSpot(studio, beside, halfOf(plan(kit, beside)), snap);
    const { entity, half, script: source, isOfServer = false } = plan(kit, floor);
    const id = document.newId();
    const name = freeName(studio, words.kits[kit].entity);
    const position: Triple = [floor[0], round(floor[1] + half), floor[2]];
    const ops: Op[] = [{
        op: 'create', entity: { id, name, ...entity, transform: { ...entity.transform, position } } as EntityRecord,
    }];
    if (source !== undefined && studio.files.hashOf(source.path) === null) {
        const hash = await studio.files.store(new TextEncoder().encode(source.text));
        if (studio.files.hashOf(source.path) === null) { // nobody else has put it there meanwhile
            ops.push({ op: 'file', path: source.path, hash, known: null });
        }
        if (isOfServer) {
            const contexts = (document.settings() as { contexts?: Record<string, unknown> }).contexts ?? {};
            ops.push({
                op: 'set', kind: 'settings', member: 'contexts', ids: [0],
                value: { ...contexts, [source.path.replace(/\.lua$/, '')]: 'Server' },
            });
        }
    }
    if (document.edit(words.steps.insert(words.kits[kit].name), ops)) {
        studio.select([id]);
    }
    return id;
}

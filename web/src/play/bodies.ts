// Moving things: players and NPCs with rigid limbs and a name, projectiles as small balls. Their
// positions are computed in WASM; this only draws them, each kind of limb of everybody at once.
import * as THREE from 'three';

import { DEFAULT_COLOUR, ROW, type Look, type Place } from '../core/bridge.ts';
import { teamMark } from './atlas.ts';
import type { Dress } from './dress.ts';
import { Instances } from './instances.ts';
import type { Label } from './labels.ts';
import { PLAIN_FINISH, finishOf, instanceMaterial, isDrawn, type Finish } from './looks.ts';
import { poseOf } from './model_rules.ts';
import type { Paints } from './paints.ts';
import type { Person } from './people.ts';
import { seedOf } from './seed.ts';
import { newPose, poseLimbs, poseStep, type Limbs, type Moving, type Pose } from './poses.ts';

const KIND_PLAYER = 1;
const KIND_NPC = 2;
const KIND_PROJECTILE = 3;
const FLAG_GROUNDED = 1;
const FLAG_CLIMBING = 2;
const FLAG_CROUCHING = 16;
const FLAG_DEAD = 4;

interface Body {
    kind: number;
    position: THREE.Vector3;
    pose: Pose;
    limbs: Limb[] | null; // in which it is drawn now; null: it is not
    near: boolean;
    person: Person | undefined; // whose colours it has
    look: Look | undefined; // as scripts have painted it
}

const SHIRTS = [0xd9534f, 0x4f8fd9, 0xe0a63a, 0x55a868, 0x8f6bc7, 0xd977a8, 0x3fb0ac, 0xb87333];
// The default profile (core/world/save/row.c), which no player has chosen.
const UNCHOSEN_SHIRT = 0x3070c0;
const UNCHOSEN_LEGS = 0x404050;
const LEGS = 0x39445a;
const SKINS = [0xf1c9a5, 0xd8a47f, 0xa8744f, 0x6f4a32];
const HAIR = [0x2b2118, 0x5a3a22, 0x8a5a2b, 0xc9a25a, 0x3a3a40, 0x7a3020];
const pick = (list: readonly number[], id: number): number => list[id % list.length] ?? 0xffffff;
const FAR_M = 26; // from there on a body has fewer corners
const BOUNDS_M = 5; // around a body; its shadow is in it too
const FULL_HEALTH = 100;
const SIDES = [-1, 1] as const;

// One kind of limb of everybody. Those that there are two of are numbered by body and side.
interface Limb {
    set: Instances;
    at: [number, number, number]; // where the right one is joined to the body
    pairs: boolean;
    kind: 'trunk' | 'head' | 'hair' | 'eyes' | 'legs' | 'arms';
}

const joint = new THREE.Matrix4();
const whole = new THREE.Matrix4();
const turn = new THREE.Euler();
const spin = new THREE.Quaternion();
const one = new THREE.Vector3(1, 1, 1);
const colour = new THREE.Color();
const at = new THREE.Vector3();
const half = new THREE.Vector3();
const bounds = new THREE.Sphere(new THREE.Vector3(), BOUNDS_M);

// The limbs of bodies of one finish that are so high and half so wide as their radius.
function makeLimbs(radius: number, height: number, near: boolean, finish: Finish): Limb[] {
    const round = near ? 16 : 8;
    const leg = height * 0.38;
    const head = height * 0.15;
    const trunk = height - leg - head * 2;
    const limb = (kind: Limb['kind'], geometry: THREE.BufferGeometry, joined: Limb['at'],
        pairs = false): Limb => {
        const set = new Instances(geometry, instanceMaterial(finish));
        const casts = near && finish.opacity === 1;
        set.setShadow(casts, casts);
        return { set, at: joined, pairs, kind };
    };
    const hanging = (thick: number, long: number): THREE.BufferGeometry =>
        new THREE.CapsuleGeometry(thick, Math.max(long - thick * 2, 0.05), near ? 3 : 1, round / 2)
            .translate(0, -long / 2, 0);
    const limbs = [
        limb('trunk', new THREE.CapsuleGeometry(radius * 0.74, Math.max(trunk - radius * 0.7, 0.1),
            near ? 4 : 1, round), [0, leg + trunk / 2, 0]),
        limb('head', new THREE.SphereGeometry(head, round, round * 0.75), [0, height - head, 0]),
        limb('legs', hanging(radius * 0.32, leg), [radius * 0.4, leg, 0], true),
        limb('arms', hanging(radius * 0.25, trunk * 0.98), [radius * 0.9, leg + trunk * 0.98, 0],
            true),
        limb('hair', new THREE.SphereGeometry(head * 1.06, round, near ? 6 : 3, 0, Math.PI * 2, 0, 1.45)
            .rotateX(-0.42), [0, height - head, 0]),
    ];
    return !near ? limbs : [...limbs,
        limb('eyes', new THREE.SphereGeometry(head * 0.16, 6, 4),
            [head * 0.4, height - head * 0.9, head * 0.88], true)];
}

// Whether something is to be drawn, and how near it is.
export interface Sight {
    eye: THREE.Vector3;
    frustum: THREE.Frustum;
    reach: number;
}

export class BodiesView {
    readonly group = new THREE.Group();
    readonly labels: Label[] = []; // of the last picture
    hasShades = false; // a disc below who stands, where there are no shadows
    private readonly bodies = new Map<number, Body>();
    private readonly families = new Map<string, Limb[]>(); // by distance and finish
    private shades: Instances | null = null; // on the ground, below who stands there
    private readonly balls = new Instances(new THREE.SphereGeometry(1, 10, 8),
        new THREE.MeshBasicMaterial({ color: 0x3d3a36 }));
    private readonly paints: Paints;
    private readonly models: Pick<Dress, 'put' | 'remove'>;
    private radius = 0.4;
    private height = 1.8;

    constructor(paints: Paints, models: Pick<Dress, 'put' | 'remove'>) {
        this.paints = paints;
        this.models = models;
    }

    reset(place: Pick<Place, 'radius' | 'height'>): void {
        this.radius = place.radius;
        this.height = place.height;
        for (const id of [...this.bodies.keys()]) {
            this.drop(id);
        }
        this.limbs().forEach(({ set }) => set.dispose());
        this.group.clear();
        this.families.clear();
        this.shades = new Instances(
            new THREE.CircleGeometry(this.radius * 1.15, 20).rotateX(-Math.PI / 2),
            new THREE.MeshBasicMaterial({
                color: 0x0a1420, transparent: true, opacity: 0.28, depthWrite: false,
                polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
            }));
        this.group.add(this.balls.group, this.shades.group);
    }

    // Rows of clientMovers; `own` is left out, see updateOwn.
    update(rows: Float64Array, own: number, people: ReadonlyMap<number, Person>, sight: Sight,
        seconds: number): void {
        const seen = new Set<number>();
        const teams = [...new Set([...people.values()].map(({ team }) => team))]
            .filter((team) => team !== '').sort();
        this.labels.length = 0;
        for (let from = 0; from < rows.length; from += ROW) {
            const [id = 0, , kind = 0, x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, yaw = 0, ,
                flags = 0, health = 0, state = 0, , radius = 0.1] = rows.subarray(from, from + ROW);
            if (id === own || (kind === KIND_PROJECTILE && radius <= 0)) {
                continue;
            }
            seen.add(id);
            const body = this.bodies.get(id) ?? this.make(id, kind);
            body.position.set(x, y, z);
            if (kind === KIND_PROJECTILE) {
                this.balls.set(id, body.position, spin.identity(),
                    at.setScalar(Math.max(radius, 0.08)));
                continue;
            }
            const person = people.get(id);
            this.pose(id, body, person, yaw, {
                speed: Math.hypot(vx, vz), rise: vy, stands: (flags & FLAG_GROUNDED) !== 0,
                climbs: (flags & FLAG_CLIMBING) !== 0,
                crouches: (flags & FLAG_CROUCHING) !== 0, dead: (flags & FLAG_DEAD) !== 0,
            }, sight, seconds);
            this.label(body, kind === KIND_PLAYER ? person?.name ?? ''
                : ['', '?', '!', '?'][state] ?? '', teamMark(teams, person?.team ?? ''), health);
        }
        for (const id of this.bodies.keys()) {
            if (!seen.has(id) && id !== own) {
                this.drop(id);
            }
        }
    }

    // The own body, from the prediction; hidden when one looks out of it. Ends the changes of a picture.
    updateOwn(own: Float64Array, visible: boolean, person: Person | undefined, sight: Sight,
        seconds: number): void {
        const [present = 0, id = 0, x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, yaw = 0, ,
            health = 0, stands = 0] = own;
        if (present !== 0) {
            const body = this.bodies.get(id) ?? this.make(id, KIND_PLAYER);
            body.position.set(x, y, z);
            const moving = {
                speed: Math.hypot(vx, vz), rise: vy, stands: (stands & 1) !== 0,
                climbs: (stands & 2) !== 0, crouches: (stands & 4) !== 0, dead: health <= 0,
            };
            if (visible) {
                this.pose(id, body, person, yaw, moving, sight, seconds);
            } else {
                poseStep(body.pose, moving, seconds);
                this.undraw(id, body);
                this.models.remove(id);
            }
        }
        this.limbs().forEach(({ set }) => set.finish(false));
        this.shades?.finish(false);
        this.balls.finish(false);
    }

    // A little above its head; null: it is not here.
    top(id: number): THREE.Vector3 | null {
        const found = this.bodies.get(id)?.position;
        return found === undefined ? null : found.clone().setY(found.y + this.height + 0.45);
    }

    private limbs(): Limb[] {
        return [...this.families.values()].flat();
    }

    private family(near: boolean, look: Look | undefined): Limb[] {
        const finish = look === undefined ? PLAIN_FINISH : finishOf(look);
        const key = `${near} ${finish.key}`;
        let limbs = this.families.get(key);
        if (limbs === undefined) {
            limbs = makeLimbs(this.radius, this.height, near, finish);
            this.families.set(key, limbs);
            this.group.add(...limbs.map(({ set }) => set.group));
        }
        return limbs;
    }

    // Moves its limbs, if it is in sight.
    private pose(id: number, body: Body, person: Person | undefined, yaw: number, moving: Moving,
        { eye, frustum, reach }: Sight, seconds: number): void {
        poseStep(body.pose, moving, seconds);
        bounds.center.copy(body.position);
        const distance = eye.distanceTo(body.position);
        const look = this.paints.get(id);
        if (this.hasModel(id, body, yaw, moving, look)) {
            this.undraw(id, body);
            return;
        }
        if (distance > reach || !frustum.intersectsSphere(bounds) || (look && !isDrawn(look))) {
            this.undraw(id, body);
            return;
        }
        const near = distance < FAR_M;
        if (body.limbs === null || body.near !== near || body.person !== person || body.look !== look) {
            this.undraw(id, body);
            body.near = near;
            body.look = look;
            this.dress(id, body, this.family(near, look), person);
        }
        const limbs = poseLimbs(body.pose);
        whole.compose(at.copy(body.position).setY(body.position.y + limbs.bob * this.height),
            spin.setFromEuler(turn.set(moving.dead ? -Math.PI / 2 : limbs.lean, yaw, 0, 'YXZ')), one);
        body.limbs?.forEach((limb) => this.place(id, limb, limbs));
        if (this.hasShades && moving.stands && !moving.dead) {
            this.shades?.set(id, at.copy(body.position).setY(body.position.y + 0.02),
                spin.identity(), one);
        } else {
            this.shades?.remove(id);
        }
    }

    // Drawn as a model of the place, which is here.
    private hasModel(id: number, { position }: Body, yaw: number, moving: Moving,
        look: Look | undefined): boolean {
        const model = look?.model ?? 0;
        if (look === undefined || model === 0 || !isDrawn(look)) {
            this.models.remove(id);
            return false;
        }
        return this.models.put({
            id, place: '', shape: 0, position: at.copy(position).setY(position.y + this.height / 2),
            rotation: spin.setFromEuler(turn.set(0, yaw, 0)),
            half: half.set(this.radius, this.height / 2, this.radius), texture: 0, model,
            colour: colour.set(0xffffff), opacity: finishOf(look).opacity, pose: poseOf(moving),
        });
    }

    // A limb, or both of them, of a body that stands as `whole` says.
    private place(id: number, { set, at: [x, y, z], pairs, kind }: Limb, limbs: Limbs): void {
        if (!pairs) {
            joint.makeTranslation(x, y, z);
            set.setMatrix(id, joint.premultiply(whole));
            return;
        }
        SIDES.forEach((side, which) => {
            const pitch = kind === 'legs' ? limbs.legs[which] : kind === 'arms' ? limbs.arms[which] : 0;
            turn.set(pitch ?? 0, 0, kind === 'arms' ? side * limbs.spread : 0, 'YXZ');
            joint.compose(at.set(side * x, y, z), spin.setFromEuler(turn), one);
            set.setMatrix(id * 2 + which, joint.premultiply(whole));
        });
    }

    private label(body: Body, text: string, mark: number, health: number): void {
        if (text !== '') {
            const { x, y, z } = body.position;
            const share = health / FULL_HEALTH;
            this.labels.push({
                text, mark, health: share > 0 && share < 1 ? share : -1, x, y: y + this.height + 0.25, z,
                distance: 0,
            });
        }
    }

    private make(id: number, kind: number): Body {
        const body: Body = {
            kind, position: new THREE.Vector3(), pose: newPose(id % 7), limbs: null, near: true, person: undefined, look: undefined,
        };
        this.bodies.set(id, body);
        return body;
    }

    private dress(id: number, body: Body, family: Limb[], person: Person | undefined): void {
        const seed = seedOf(person, id);
        const chosen = person !== undefined && person.shirt !== UNCHOSEN_SHIRT ? person.shirt : 0;
        const painted = body.look !== undefined && body.look.colour !== DEFAULT_COLOUR;
        const shirt = painted ? body.look?.colour : body.kind === KIND_NPC ? 0x7b6a58
            : chosen || pick(SHIRTS, seed);
        const legs = person !== undefined && person.legs !== UNCHOSEN_LEGS ? person.legs || LEGS : LEGS;
        const colours = {
            trunk: shirt ?? 0, arms: shirt ?? 0, head: person?.skin || pick(SKINS, seed), legs,
            eyes: 0x1d2430, hair: pick(HAIR, seed * 7 + 3),
        };
        body.limbs = family;
        body.person = person;
        for (const { set, pairs, kind } of family) {
            colour.set(colours[kind]);
            (pairs ? [id * 2, id * 2 + 1] : [id]).forEach((each) => set.paint(each, colour));
        }
    }

    private undraw(id: number, body: Body): void {
        body.limbs?.forEach(({ set, pairs }) => {
            (pairs ? [id * 2, id * 2 + 1] : [id]).forEach((each) => set.remove(each));
        });
        body.limbs = null;
        this.shades?.remove(id);
    }

    private drop(id: number): void {
        const body = this.bodies.get(id);
        if (body !== undefined) {
            this.undraw(id, body);
            this.models.remove(id);
            this.balls.remove(id);
            this.bodies.delete(id);
        }
    }
}

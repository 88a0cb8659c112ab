// Moving things: players and NPCs with rigid limbs and a name, projectiles as small balls. Their
// positions are computed in WASM; this only draws them, each kind of limb of everybody at once.
import * as THREE from 'three';

import { ROW, type Place } from '../core/bridge.ts';
import { Instances, NOWHERE } from './instances.ts';
import { instanceMaterial } from './looks.ts';
import type { Person } from './people.ts';

const KIND_PLAYER = 1;
const KIND_NPC = 2;
const KIND_PROJECTILE = 3;
const FLAG_GROUNDED = 1;
const FLAG_DEAD = 4;

interface Body {
    kind: number;
    position: THREE.Vector3;
    label: THREE.Sprite | null;
    labelText: string;
    stride: number;
}

const SHIRTS = [0xd9534f, 0x4f8fd9, 0xe0a63a, 0x55a868, 0x8f6bc7, 0xd977a8, 0x3fb0ac, 0xb87333];
// The default profile (core/world/save/row.c), which no player has chosen.
const UNCHOSEN_SHIRT = 0x3070c0;
const SKINS = [0xf1c9a5, 0xd8a47f, 0xa8744f, 0x6f4a32];
const pick = (list: readonly number[], id: number): number => list[id % list.length] ?? 0xffffff;
const LABEL_SIZE = 0.042; // of the picture's height, however far away

// Text on a canvas, as wide as it needs to be.
function makeLabel(text: string): THREE.Sprite {
    const canvas = document.createElement('canvas');
    const font = '600 34px system-ui, sans-serif';
    let context = canvas.getContext('2d');
    if (context !== null) {
        context.font = font;
        canvas.width = Math.ceil(context.measureText(text).width) + 36;
        canvas.height = 56;
        context = canvas.getContext('2d');
    }
    if (context !== null) {
        context.font = font;
        context.textBaseline = 'middle';
        context.fillStyle = 'rgba(16, 28, 40, 0.55)';
        context.beginPath();
        context.roundRect(0, 0, canvas.width, canvas.height, 18);
        context.fill();
        context.fillStyle = '#ffffff';
        context.fillText(text, 18, canvas.height / 2 + 2);
    }
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({
        map: texture, depthWrite: false, sizeAttenuation: false, fog: false,
    }));
    sprite.scale.set(LABEL_SIZE * canvas.width / canvas.height, LABEL_SIZE, 1);
    sprite.center.set(0.5, 0);
    sprite.renderOrder = 2;
    return sprite;
}

// One limb of everybody.
interface Limb {
    set: Instances;
    at: THREE.Vector3; // where it is joined to the body, in its height
    side: number; // -1 left, 1 right, 0 in the middle
    swings: number; // how far with a step; arms against legs
    dress: 'shirt' | 'skin' | 'legs' | 'eyes';
}

const joint = new THREE.Matrix4();
const whole = new THREE.Matrix4();
const turn = new THREE.Euler();
const spin = new THREE.Quaternion();
const one = new THREE.Vector3(1, 1, 1);
const colour = new THREE.Color();
const at = new THREE.Vector3();

// The limbs of a body that is so high and half so wide as its radius.
function makeLimbs(radius: number, height: number): Limb[] {
    const leg = height * 0.38;
    const head = height * 0.15;
    const trunk = height - leg - head * 2;
    const limb = (geometry: THREE.BufferGeometry, at: [number, number, number], dress: Limb['dress'],
        side = 0, swings = 0): Limb => ({
        set: new Instances(geometry, instanceMaterial()),
        at: new THREE.Vector3(...at), side, swings, dress,
    });
    const hanging = (thick: number, long: number): THREE.BufferGeometry =>
        new THREE.CapsuleGeometry(thick, Math.max(long - thick * 2, 0.05), 3, 8)
            .translate(0, -long / 2, 0);
    return [
        limb(new THREE.CapsuleGeometry(radius * 0.8, Math.max(trunk - radius, 0.1), 4, 12),
            [0, leg + trunk / 2, 0], 'shirt'),
        limb(new THREE.SphereGeometry(head, 16, 12), [0, height - head, 0], 'skin'),
        ...[-1, 1].flatMap((side) => [
            limb(new THREE.SphereGeometry(head * 0.16, 8, 6),
                [side * head * 0.4, height - head * 0.9, head * 0.88], 'eyes', side),
            limb(hanging(radius * 0.32, leg), [side * radius * 0.4, leg, 0], 'legs', side, side),
            limb(hanging(radius * 0.24, trunk * 0.95),
                [side * radius * 1.02, leg + trunk * 0.92, 0], 'shirt', side, -side),
        ]),
    ];
}

export class BodiesView {
    readonly group = new THREE.Group();
    private readonly bodies = new Map<number, Body>();
    private limbs: Limb[] = [];
    private shades: Instances | null = null; // on the ground, below who stands there
    private readonly balls = new Instances(new THREE.SphereGeometry(1, 10, 8),
        new THREE.MeshBasicMaterial({ color: 0x3d3a36 }));
    private radius = 0.4;
    private height = 1.8;

    reset(place: Place): void {
        this.radius = place.radius;
        this.height = place.height;
        for (const id of [...this.bodies.keys()]) {
            this.drop(id);
        }
        this.limbs.forEach(({ set }) => set.dispose());
        this.group.clear();
        this.limbs = makeLimbs(this.radius, this.height);
        this.shades = new Instances(
            new THREE.CircleGeometry(this.radius * 1.15, 20).rotateX(-Math.PI / 2),
            new THREE.MeshBasicMaterial({
                color: 0x0a1420, transparent: true, opacity: 0.28, depthWrite: false,
                polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
            }));
        this.group.add(this.balls.group, this.shades.group, ...this.limbs.map(({ set }) => set.group));
    }

    // Rows of clientMovers; `own` is left out, see updateOwn.
    update(rows: Float64Array, own: number, people: ReadonlyMap<number, Person>,
        seconds: number): void {
        const seen = new Set<number>();
        for (let at = 0; at < rows.length; at += ROW) {
            const [id = 0, , kind = 0, x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, yaw = 0, ,
                flags = 0, , state = 0, , radius = 0.1] = rows.subarray(at, at + ROW);
            if (id === own || (kind === KIND_PROJECTILE && radius <= 0)) {
                continue;
            }
            seen.add(id);
            const body = this.bodies.get(id) ?? this.make(id, kind, people.get(id));
            body.position.set(x, y, z);
            if (kind === KIND_PROJECTILE) {
                this.balls.set(id, body.position, spin.identity(),
                    new THREE.Vector3().setScalar(Math.max(radius, 0.08)));
                continue;
            }
            this.pose(id, body, yaw, Math.hypot(vx, vz), vy, flags, seconds);
            this.setLabel(body, kind === KIND_PLAYER ? people.get(id)?.name ?? ''
                : ['', '?', '!', '?'][state] ?? '');
        }
        for (const id of this.bodies.keys()) {
            if (!seen.has(id) && id !== own) {
                this.drop(id);
            }
        }
    }

    // The own body, from the prediction; hidden when one looks out of it. Ends the changes of a picture.
    updateOwn(own: Float64Array, visible: boolean, person: Person | undefined,
        seconds: number): void {
        const [present = 0, id = 0, x = 0, y = 0, z = 0, vx = 0, vy = 0, vz = 0, yaw = 0, ,
            health = 0, stands = 0] = own;
        if (present !== 0) {
            const body = this.bodies.get(id) ?? this.make(id, KIND_PLAYER, person);
            body.position.set(x, y, z);
            const flags = ((stands & 1) === 1 ? FLAG_GROUNDED : 0) | (health <= 0 ? FLAG_DEAD : 0);
            this.pose(id, body, yaw, Math.hypot(vx, vz), vy, flags, seconds);
            if (!visible) {
                this.limbs.forEach(({ set }) => set.setMatrix(id, NOWHERE));
            }
        }
        this.limbs.forEach(({ set }) => set.finish(false));
        this.shades?.finish(false);
        this.balls.finish(false);
    }

    // A little above its head; null: it is not here.
    top(id: number): THREE.Vector3 | null {
        const at = this.bodies.get(id)?.position;
        return at === undefined ? null : at.clone().setY(at.y + this.height + 0.45);
    }

    // Walking swings the limbs; in the air the arms go up and the legs apart.
    private pose(id: number, body: Body, yaw: number, speed: number, rise: number, flags: number,
        seconds: number): void {
        const dead = (flags & FLAG_DEAD) !== 0;
        const stands = (flags & FLAG_GROUNDED) !== 0;
        body.stride += speed * seconds * 2.6;
        const step = stands ? Math.sin(body.stride) * Math.min(speed / 5, 1) * 0.7 : 0;
        const idle = stands && speed < 0.2 ? Math.sin(performance.now() / 700 + id) * 0.04 : 0;
        const air = stands || dead ? 0 : Math.max(-1, Math.min(1, rise / 6));
        whole.compose(body.position,
            spin.setFromEuler(turn.set(dead ? -Math.PI / 2 : 0, yaw, 0, 'YXZ')), one);
        for (const { set, at: from, side, swings, dress } of this.limbs) {
            const isArm = dress === 'shirt' && side !== 0;
            const lift = isArm ? side * (0.12 + idle + Math.abs(air) * 0.9) : 0;
            turn.set(swings * step + (dress === 'legs' ? side * air * 0.4 : 0), 0, lift, 'YXZ');
            joint.compose(from, spin.setFromEuler(turn), one);
            set.setMatrix(id, joint.premultiply(whole));
        }
        if (stands && !dead) {
            this.shades?.set(id, at.copy(body.position).setY(body.position.y + 0.02),
                spin.identity(), one);
        } else {
            this.shades?.remove(id);
        }
        if (body.label !== null) {
            body.label.position.copy(body.position).setY(body.position.y + this.height + 0.15);
        }
    }

    private setLabel(body: Body, text: string): void {
        if (body.labelText === text) {
            return;
        }
        if (body.label !== null) {
            this.group.remove(body.label);
            body.label.material.map?.dispose();
            body.label.material.dispose();
            body.label = null;
        }
        body.labelText = text;
        if (text !== '') {
            body.label = makeLabel(text);
            this.group.add(body.label);
        }
    }

    private make(id: number, kind: number, person: Person | undefined): Body {
        const body: Body = {
            kind, position: new THREE.Vector3(), label: null, labelText: '', stride: 0,
        };
        this.bodies.set(id, body);
        if (kind !== KIND_PROJECTILE) {
            const chosen = person !== undefined && person.shirt !== UNCHOSEN_SHIRT ? person.shirt : 0;
            const colours = {
                shirt: kind === KIND_NPC ? 0x7b6a58 : chosen || pick(SHIRTS, id),
                skin: person?.skin || pick(SKINS, id),
                legs: 0x39445a,
                eyes: 0x1d2430,
            };
            this.limbs.forEach(({ set, dress }) => set.paint(id, colour.set(colours[dress])));
        }
        return body;
    }

    private drop(id: number): void {
        const body = this.bodies.get(id);
        if (body !== undefined) {
            this.setLabel(body, '');
            this.limbs.forEach(({ set }) => set.remove(id));
            this.shades?.remove(id);
            this.balls.remove(id);
            this.bodies.delete(id);
        }
    }
}

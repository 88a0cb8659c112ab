// Moving things: players and NPCs as capsules with a face and a name, projectiles as small balls.
// Their positions are computed in WASM; this only draws them.
import * as THREE from 'three';

import { ROW, type Place } from '../core/bridge.ts';
import type { Person } from './people.ts';

const KIND_PLAYER = 1;
const KIND_NPC = 2;
const KIND_PROJECTILE = 3;
const FLAG_GROUNDED = 1;
const FLAG_DEAD = 4;

interface Body {
    group: THREE.Group;
    label: THREE.Sprite | null;
    labelText: string;
    stride: number;
    legs: [THREE.Mesh, THREE.Mesh] | null;
    shade: THREE.Mesh | null; // on the ground, while it stands there
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

export class BodiesView {
    readonly group = new THREE.Group();
    private readonly bodies = new Map<number, Body>();
    private radius = 0.4;
    private height = 1.8;

    reset(place: Place): void {
        this.radius = place.radius;
        this.height = place.height;
        for (const id of [...this.bodies.keys()]) {
            this.drop(id);
        }
    }

    // Rows of clientMovers; `own` is left out, see updateOwn.
    update(rows: Float64Array, own: number, people: ReadonlyMap<number, Person>,
        seconds: number): void {
        const seen = new Set<number>();
        for (let at = 0; at < rows.length; at += ROW) {
            const [id = 0, , kind = 0, x = 0, y = 0, z = 0, vx = 0, , vz = 0, yaw = 0, , flags = 0,
                , state = 0, , radius = 0.1] = rows.subarray(at, at + ROW);
            if (id === own || (kind === KIND_PROJECTILE && radius <= 0)) {
                continue;
            }
            seen.add(id);
            const body = this.bodies.get(id) ?? this.make(id, kind, radius, people.get(id));
            body.group.position.set(x, y, z);
            this.pose(body, yaw, Math.hypot(vx, vz), flags, seconds);
            const name = kind === KIND_PLAYER ? people.get(id)?.name ?? ''
                : kind === KIND_NPC ? ['', '?', '!', '?'][state] ?? '' : '';
            this.setLabel(body, name);
        }
        for (const id of this.bodies.keys()) {
            if (!seen.has(id) && id !== own) {
                this.drop(id);
            }
        }
    }

    // The own body, from the prediction; hidden when one looks out of it.
    updateOwn(own: Float64Array, visible: boolean, person: Person | undefined,
        seconds: number): void {
        const [present = 0, id = 0, x = 0, y = 0, z = 0, vx = 0, , vz = 0, yaw = 0, , health = 0,
            stands = 0] = own;
        if (present === 0) {
            return;
        }
        const body = this.bodies.get(id) ?? this.make(id, KIND_PLAYER, 0, person);
        body.group.visible = visible;
        body.group.position.set(x, y, z);
        const flags = ((stands & 1) === 1 ? FLAG_GROUNDED : 0) | (health <= 0 ? FLAG_DEAD : 0);
        this.pose(body, yaw, Math.hypot(vx, vz), flags, seconds);
    }

    // A little above its head; null: it is not here.
    top(id: number): THREE.Vector3 | null {
        const at = this.bodies.get(id)?.group.position;
        return at === undefined ? null : at.clone().setY(at.y + this.height + 0.45);
    }

    private pose(body: Body, yaw: number, speed: number, flags: number, seconds: number): void {
        const dead = (flags & FLAG_DEAD) !== 0;
        body.group.rotation.set(dead ? -Math.PI / 2 : 0, yaw, 0, 'YXZ');
        if (body.legs === null || body.shade === null) {
            return;
        }
        body.shade.visible = (flags & FLAG_GROUNDED) !== 0 && !dead;
        body.stride += speed * seconds * 2.6;
        const swing = Math.sin(body.stride) * Math.min(speed / 5, 1) * 0.7;
        body.legs[0].rotation.x = swing;
        body.legs[1].rotation.x = -swing;
    }

    private setLabel(body: Body, text: string): void {
        if (body.labelText === text) {
            return;
        }
        if (body.label !== null) {
            body.group.remove(body.label);
            body.label.material.map?.dispose();
            body.label.material.dispose();
            body.label = null;
        }
        body.labelText = text;
        if (text !== '') {
            body.label = makeLabel(text);
            body.label.position.y = this.height + 0.15;
            body.group.add(body.label);
        }
    }

    private make(id: number, kind: number, radius: number, person: Person | undefined): Body {
        const group = new THREE.Group();
        const body: Body = { group, label: null, labelText: '', stride: 0, legs: null, shade: null };
        if (kind === KIND_PROJECTILE) {
            group.add(new THREE.Mesh(new THREE.SphereGeometry(Math.max(radius, 0.08), 10, 8),
                new THREE.MeshBasicMaterial({ color: 0x3d3a36 })));
        } else {
            const chosen = person !== undefined && person.shirt !== UNCHOSEN_SHIRT ? person.shirt : 0;
            this.dress(body, kind === KIND_NPC ? 0x7b6a58 : chosen || pick(SHIRTS, id),
                person?.skin || pick(SKINS, id));
        }
        this.bodies.set(id, body);
        this.group.add(group);
        return body;
    }

    private dress(body: Body, shirt: number, skin: number): void {
        const { radius, height } = this;
        const lambert = (color: number): THREE.Material => new THREE.MeshLambertMaterial({ color });
        const legHeight = height * 0.38;
        const head = height * 0.15;
        const trunk = height - legHeight - head * 2;
        const chest = new THREE.Mesh(
            new THREE.CapsuleGeometry(radius * 0.8, Math.max(trunk - radius, 0.1), 4, 12),
            lambert(shirt));
        chest.position.y = legHeight + trunk / 2;
        const skull = new THREE.Mesh(new THREE.SphereGeometry(head, 16, 12), lambert(skin));
        skull.position.y = height - head;
        body.group.add(chest, skull);
        for (const side of [-1, 1]) {
            const eye = new THREE.Mesh(new THREE.SphereGeometry(head * 0.16, 8, 6),
                lambert(0x1d2430));
            eye.position.set(side * head * 0.4, height - head * 0.9, head * 0.88);
            body.group.add(eye);
        }
        const leg = (side: number): THREE.Mesh => {
            const geometry = new THREE.CapsuleGeometry(radius * 0.32, legHeight - radius * 0.5, 3, 8);
            geometry.translate(0, -legHeight / 2, 0);
            const mesh = new THREE.Mesh(geometry, lambert(0x39445a));
            mesh.position.set(side * radius * 0.4, legHeight, 0);
            body.group.add(mesh);
            return mesh;
        };
        body.legs = [leg(-1), leg(1)];
        body.shade = new THREE.Mesh(new THREE.CircleGeometry(radius * 1.15, 20),
            new THREE.MeshBasicMaterial({
                color: 0x0a1420, transparent: true, opacity: 0.28, depthWrite: false,
                polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
            }));
        body.shade.rotation.x = -Math.PI / 2;
        body.shade.position.y = 0.02;
        body.group.add(body.shade);
    }

    private drop(id: number): void {
        const body = this.bodies.get(id);
        if (body === undefined) {
            return;
        }
        this.setLabel(body, '');
        body.group.traverse((child) => {
            if (child instanceof THREE.Mesh) {
                (child.geometry as THREE.BufferGeometry).dispose();
                (child.material as THREE.Material).dispose();
            }
        });
        this.group.remove(body.group);
        this.bodies.delete(id);
    }
}

// Parts: anchored ones of the scene, those that move, and what players built. All are one of four
// shapes, scaled from a unit geometry, and drawn by the hundred.
import * as THREE from 'three';

import { ROW, type Look, type Part, type Place } from '../core/bridge.ts';
import { Instances } from './instances.ts';
import { colourOf, instanceMaterial, materialLook } from './looks.ts';

const SHAPE_WEDGE = 1;
const SHAPE_SPHERE = 2;
const SHAPE_CYLINDER = 3;
const FLAG_GHOST = 1;
const FLAG_TRIGGER = 32;
const TYPE_PART = 4;
const TYPE_STRUCTURE = 6; // EntityType of core/sim/entity.h
const CELL_M = 32; // parts of a cell are drawn together
const CELLS_A_SIDE = 8;
const ABOVE_M = 0.2;
const PLAIN: Look = { material: '', colour: 0 };

// A unit box cut from its lower -z edge to its upper +z edge.
function wedge(): THREE.BufferGeometry {
    const a = [-1, -1, -1], b = [1, -1, -1], c = [1, -1, 1], d = [-1, -1, 1];
    const e = [1, 1, 1], f = [-1, 1, 1];
    const triangles = [a, b, c, a, c, d, d, c, e, d, e, f, a, f, e, a, e, b, b, e, c, a, d, f];
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(triangles.flat(), 3));
    geometry.computeVertexNormals();
    return geometry;
}

const GEOMETRY = {
    box: new THREE.BoxGeometry(2, 2, 2),
    wedge: wedge(),
    sphere: new THREE.SphereGeometry(1, 24, 16),
    cylinder: new THREE.CylinderGeometry(1, 1, 2, 24),
};

function geometryOf(shape: number): THREE.BufferGeometry {
    switch (shape) {
        case SHAPE_WEDGE: return GEOMETRY.wedge;
        case SHAPE_SPHERE: return GEOMETRY.sphere;
        case SHAPE_CYLINDER: return GEOMETRY.cylinder;
        default: return GEOMETRY.box;
    }
}

const position = new THREE.Vector3();
const rotation = new THREE.Quaternion();
const size = new THREE.Vector3();
const colour = new THREE.Color();

// Half the size along each axis, as the unit geometry is scaled.
function setSize(shape: number, x: number, y: number, z: number): void {
    size.set(x, shape === SHAPE_SPHERE ? x : y,
        shape === SHAPE_SPHERE || shape === SHAPE_CYLINDER ? x : z);
}

// Zones of the scene are there to be felt, not seen; a thing to pick up is seen.
const isSeen = (flags: number): boolean =>
    (flags & (FLAG_GHOST | FLAG_TRIGGER)) !== (FLAG_GHOST | FLAG_TRIGGER);

// A set of shapes that stand near each other, or that move.
class Sets {
    readonly root: THREE.Group;
    private readonly sets = new Map<string, Instances>();
    private readonly owners = new Map<number, Instances>(); // by id
    private readonly tops = new Map<number, THREE.Vector3>();

    constructor(root: THREE.Group) {
        this.root = root;
    }

    // Takes position, rotation and size from above.
    put(id: number, place: string, shape: number, look: Look): void {
        let set = this.owners.get(id);
        if (set === undefined) {
            const { opacity } = materialLook(look.material);
            const key = `${place} ${shape} ${opacity ?? 1}`;
            set = this.sets.get(key);
            if (set === undefined) {
                set = new Instances(geometryOf(shape), instanceMaterial(opacity));
                this.sets.set(key, set);
                this.root.add(set.group);
            }
            this.owners.set(id, set);
            set.paint(id, colour.set(colourOf(look)));
        }
        set.set(id, position, rotation, size);
        const top = this.tops.get(id) ?? new THREE.Vector3();
        this.tops.set(id, top.copy(position).setY(position.y + size.y + ABOVE_M));
    }

    remove(id: number): void {
        this.owners.get(id)?.remove(id);
        this.owners.delete(id);
        this.tops.delete(id);
    }

    ids(): IterableIterator<number> {
        return this.owners.keys();
    }

    top(id: number): THREE.Vector3 | null {
        return this.tops.get(id)?.clone() ?? null;
    }

    finish(bounds: boolean): void {
        for (const set of this.sets.values()) {
            set.finish(bounds);
        }
    }

    clear(): void {
        for (const set of this.sets.values()) {
            set.dispose();
        }
        this.root.clear();
        this.sets.clear();
        this.owners.clear();
        this.tops.clear();
    }
}

export class ShapesView {
    readonly group = new THREE.Group();
    private readonly still = new Sets(new THREE.Group());
    private readonly moving = new Sets(new THREE.Group());
    private readonly parts = new Map<number, Part>(); // of the scene, those that are seen
    private looks = new Map<number, Look>();
    private pieces: Look[] = [];
    private hidden = new Set<number>();
    private cell = CELL_M;

    constructor() {
        this.group.add(this.still.root, this.moving.root);
    }

    reset(place: Place, parts: readonly Part[]): void {
        this.still.clear();
        this.moving.clear();
        this.parts.clear();
        this.hidden.clear();
        this.looks = new Map([...place.looks, ...parts].map((look) => [look.id, look]));
        this.pieces = place.pieces;
        // Few enough sets for the graphics card, small enough to leave out what is not in sight.
        this.cell = Math.max(CELL_M, (place.max[0] - place.min[0]) / CELLS_A_SIDE,
            (place.max[2] - place.min[2]) / CELLS_A_SIDE);
        for (const part of parts) {
            if (isSeen(part.flags)) {
                this.parts.set(part.id, part);
                this.stand(part);
            }
        }
        this.still.finish(true);
    }

    // Rows of clientShapes, and the anchored parts that are not where the scene has them.
    update(rows: Float64Array, hidden: Float64Array): void {
        this.hide(new Set(hidden));
        const seen = new Set<number>();
        for (let at = 0; at < rows.length; at += ROW) {
            const row = rows.subarray(at, at + ROW);
            if (row[1] !== TYPE_PART || isSeen(row[14] ?? 0)) {
                seen.add(row[0] ?? 0);
                this.move(row);
            }
        }
        for (const id of [...this.moving.ids()]) {
            if (!seen.has(id)) {
                this.moving.remove(id);
            }
        }
        this.moving.finish(false);
    }

    // Just above it; null: it is not here.
    top(id: number): THREE.Vector3 | null {
        return this.moving.top(id) ?? this.still.top(id);
    }

    private hide(now: Set<number>): void {
        const changed = [...this.hidden].filter((id) => !now.has(id));
        for (const id of changed) {
            const part = this.parts.get(id);
            if (part !== undefined) {
                this.stand(part);
            }
        }
        for (const id of now) {
            if (!this.hidden.has(id)) {
                this.still.remove(id);
                changed.push(id);
            }
        }
        this.hidden = now;
        if (changed.length > 0) {
            this.still.finish(true);
        }
    }

    private stand(part: Part): void {
        position.set(...part.p);
        rotation.set(...part.r);
        setSize(part.shape, ...part.half);
        const x = Math.floor(part.p[0] / this.cell);
        const z = Math.floor(part.p[2] / this.cell);
        this.still.put(part.id, `${x} ${z}`, part.shape, part);
    }

    private move(row: Float64Array): void {
        const [id = 0, type = 0, shape = 0, x = 0, y = 0, z = 0, rx = 0, ry = 0, rz = 0, rw = 1,
            hx = 1, hy = 1, hz = 1, piece = 0] = row;
        position.set(x, y, z);
        rotation.set(rx, ry, rz, rw);
        setSize(shape, hx, hy, hz);
        const look = type === TYPE_STRUCTURE ? this.pieces[piece] : this.looks.get(id);
        this.moving.put(id, '', shape, look ?? PLAIN);
    }
}

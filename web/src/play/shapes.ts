// Parts: anchored ones of the scene, those that move, and what players built. All are one of four
// shapes, scaled from a unit geometry, and drawn by the hundred.
import * as THREE from 'three';

import { DEFAULT_COLOUR, ROW, type Look, type Part, type Place } from '../core/bridge.ts';
import { Casters, type PartCell } from './casters.ts';
import { cullChunk, type Chunk } from './culling.ts';
import type { Dress } from './dress.ts';
import { Instances } from './instances.ts';
import { colourOf, finishOf, instanceMaterial, isDrawn, isPainted, type Finish } from './looks.ts';
import type { Paints } from './paints.ts';
import { SHADOW_M } from './sun.ts';
import { wedge } from './tiles.ts';

const SHAPE_WEDGE = 1;
const SHAPE_SPHERE = 2;
const SHAPE_CYLINDER = 3;
const FLAG_GHOST = 1;
const FLAG_TRIGGER = 32;
const TYPE_PART = 4;
export const TYPE_STRUCTURE = 6; // EntityType of core/sim/entity.h
const CELL_M = 32; // parts of a cell are drawn together
const CELLS_A_SIDE = 8;
const ABOVE_M = 0.2;
const PLAIN: Look = { material: '', colour: DEFAULT_COLOUR };

// Each as it is seen from near, from some way off, and from afar.
export type Detail = [THREE.BufferGeometry, THREE.BufferGeometry, THREE.BufferGeometry];
const always = (one: THREE.BufferGeometry): Detail => [one, one, one];
const ball = (around: number, high: number): THREE.BufferGeometry =>
    new THREE.SphereGeometry(1, around, high);
const can = (around: number): THREE.BufferGeometry => new THREE.CylinderGeometry(1, 1, 2, around);
const BOX = always(new THREE.BoxGeometry(2, 2, 2));
const WEDGE = always(wedge());
// Small ones, of which there are many, and large ones, whose corners would be seen.
const SPHERE: [Detail, Detail] = [
    [ball(14, 9), ball(9, 6), ball(7, 4)], [ball(32, 20), ball(20, 12), ball(12, 8)]];
const CYLINDER: [Detail, Detail] = [
    [can(14), can(9), can(6)], [can(32), can(20), can(12)]];
export const LARGE_M = 1.5; // radius
const DETAIL_M = [4, 26]; // from there on the next one
const detailAt = (distance: number): number => DETAIL_M.filter((from) => distance > from).length;

export function geometryOf(shape: number, large: boolean): Detail {
    switch (shape) {
        case SHAPE_WEDGE: return WEDGE;
        case SHAPE_SPHERE: return SPHERE[large ? 1 : 0];
        case SHAPE_CYLINDER: return CYLINDER[large ? 1 : 0];
        default: return BOX;
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

// A zone is there to be felt, not seen, unless somebody gave it a look: a coin, a kill brick.
const isSeen = (flags: number, look: Look): boolean =>
    (flags & (FLAG_GHOST | FLAG_TRIGGER)) !== (FLAG_GHOST | FLAG_TRIGGER) || isPainted(look);

type Cell = Chunk & PartCell & { detail: Detail };

const stillId = (id: number): number => -1 - id;

// Sets of shapes that stand near each other, or that move.
class Sets {
    readonly root: THREE.Group;
    private readonly dress: Dress;
    private readonly moves: boolean; // each casts its own shadow
    private readonly sets = new Map<string, Cell>();
    private readonly owners = new Map<number, Instances>(); // by id
    private readonly looks = new Map<number, Look>(); // what it is drawn as
    private readonly tops = new Map<number, THREE.Vector3>();

    constructor(root: THREE.Group, dress: Dress, moves: boolean) {
        this.root = root;
        this.dress = dress;
        this.moves = moves;
    }

    // Takes position, rotation and size from above.
    put(id: number, place: string, shape: number, look: Look): void {
        if (this.looks.get(id) !== look) {
            this.undraw(id);
            this.looks.set(id, look);
        }
        if (!isDrawn(look)) {
            this.dress.remove(this.dressId(id));
            this.tops.delete(id);
            return;
        }
        const top = this.tops.get(id) ?? new THREE.Vector3();
        this.tops.set(id, top.copy(position).setY(position.y + size.y + ABOVE_M));
        if (this.hasDress(id, place, shape, look)) {
            this.undraw(id);
            return;
        }
        let set = this.owners.get(id);
        if (set === undefined) {
            const finish = finishOf(look);
            const isLarge = size.x > LARGE_M && (shape === SHAPE_SPHERE || shape === SHAPE_CYLINDER);
            const key = `${place} ${shape} ${finish.key} ${isLarge}`;
            set = this.sets.get(key)?.set ?? this.make(key, shape, geometryOf(shape, isLarge), finish);
            this.owners.set(id, set);
            set.paint(id, colour.set(colourOf(look)));
        }
        set.set(id, position, rotation, size);
    }

    // With a picture or a model that is here. A part that stands still has another number there than
    // the same one while it moves.
    private hasDress(id: number, place: string, shape: number, look: Look): boolean {
        const { texture = 0, model = 0 } = look;
        if (texture === 0 && model === 0) {
            this.dress.remove(this.dressId(id));
            return false;
        }
        return this.dress.put({
            id: this.dressId(id), place, shape, position, rotation, half: size, texture, model,
            colour: colour.set(look.colour === DEFAULT_COLOUR ? 0xffffff : look.colour),
            opacity: finishOf(look).opacity, pose: null,
        });
    }

    private dressId(id: number): number {
        return this.moves ? id : stillId(id);
    }

    private undraw(id: number): void {
        this.owners.get(id)?.remove(id);
        this.owners.delete(id);
    }

    private make(key: string, shape: number, detail: Detail, finish: Finish): Instances {
        const set = new Instances(detail[0], instanceMaterial(finish));
        const casts = finish.opacity === 1;
        set.setShadow(casts && this.moves, casts);
        this.sets.set(key, {
            set, shape, detail, casts, distance: 0, group: set.group, sphere: () => set.sphere,
        });
        this.root.add(set.group);
        return set;
    }

    cells(): IterableIterator<Cell> {
        return this.sets.values();
    }

    // Leaves out what is too far away to be seen. What is far has fewer corners.
    cull(eye: THREE.Vector3, reach: number): void {
        for (const cell of this.sets.values()) {
            cell.distance = cullChunk(cell, eye, reach);
            cell.set.setGeometry(cell.detail[detailAt(cell.distance)]!);
        }
    }

    remove(id: number): void {
        this.undraw(id);
        this.looks.delete(id);
        this.tops.delete(id);
        this.dress.remove(this.dressId(id));
    }

    ids(): IterableIterator<number> {
        return this.looks.keys();
    }

    top(id: number): THREE.Vector3 | null {
        return this.tops.get(id)?.clone() ?? null;
    }

    finish(bounds: boolean): void {
        for (const { set } of this.sets.values()) {
            set.finish(bounds);
        }
    }

    clear(): void {
        for (const { set } of this.sets.values()) {
            set.dispose();
        }
        this.root.clear();
        this.sets.clear();
        this.owners.clear();
        this.looks.clear();
        this.tops.clear();
    }
}

export class ShapesView {
    readonly group = new THREE.Group();
    private readonly still: Sets;
    private readonly moving: Sets;
    private readonly casters = new Casters([0, SHAPE_WEDGE, SHAPE_SPHERE, SHAPE_CYLINDER]
        .map((shape) => geometryOf(shape, false)[2]));
    private changed = true; // anchored parts, since the last picture
    private readonly parts = new Map<number, Part>(); // of the scene
    private looks = new Map<number, Look>();
    private pieces: Look[] = [];
    private hidden = new Set<number>();
    private cell = CELL_M;
    private rows: Float64Array = new Float64Array(); // of the last picture
    private readonly paints: Paints;

    constructor(paints: Paints, dress: Dress) {
        this.paints = paints;
        this.still = new Sets(new THREE.Group(), dress, false);
        this.moving = new Sets(new THREE.Group(), dress, true);
        this.group.add(this.still.root, this.moving.root, this.casters.group);
    }

    reset(place: Place, parts: readonly Part[]): void {
        this.still.clear();
        this.moving.clear();
        this.parts.clear();
        this.hidden.clear();
        this.looks = new Map(parts.map((look) => [look.id, look]));
        this.pieces = place.pieces;
        // Few enough sets for the graphics card, small enough to leave out what is not in sight.
        this.cell = Math.max(CELL_M, (place.max[0] - place.min[0]) / CELLS_A_SIDE,
            (place.max[2] - place.min[2]) / CELLS_A_SIDE);
        for (const part of parts) {
            this.parts.set(part.id, part);
            this.stand(part);
        }
        this.still.finish(true);
        this.changed = true;
    }

    // Parts of the scene that have another look; those that move get theirs with their place.
    repaint(changed: ReadonlySet<number>): void {
        const still = [...changed].flatMap((id) => this.parts.get(id) ?? [])
            .filter(({ id }) => !this.hidden.has(id));
        still.forEach((part) => this.stand(part));
        if (still.length > 0) {
            this.changed = true;
            this.still.finish(true);
        }
    }

    // Rows of clientShapes, and the anchored parts that are not where the scene has them.
    update(rows: Float64Array, hidden: Float64Array): void {
        this.rows = rows;
        this.hide(new Set(hidden));
        const seen = new Set<number>();
        for (let at = 0; at < rows.length; at += ROW) {
            const row = rows.subarray(at, at + ROW);
            const look = this.lookOf(row);
            if (row[1] !== TYPE_PART || isSeen(row[14] ?? 0, look)) {
                seen.add(row[0] ?? 0);
                this.move(row, look);
            }
        }
        for (const id of [...this.moving.ids()]) {
            if (!seen.has(id)) {
                this.moving.remove(id);
            }
        }
        this.moving.finish(false);
    }

    // A picture or a model of these has come or gone. What moves is put with every picture anyway.
    again(ids: number[]): void {
        for (const id of ids) {
            const part = this.parts.get(stillId(id));
            if (part !== undefined && !this.hidden.has(part.id)) {
                this.stand(part);
            }
        }
        this.changed = true;
        this.still.finish(true);
    }

    // Before each picture.
    cull(eye: THREE.Vector3, reach: number): void {
        this.still.cull(eye, reach);
        this.casters.update(this.still.cells(), eye, SHADOW_M, this.changed);
        this.changed = false;
    }

    // Just above it; null: it is not here.
    top(id: number): THREE.Vector3 | null {
        return this.moving.top(id) ?? this.still.top(id);
    }

    // As the scene has it, without paint.
    unpainted(id: number): Look | undefined {
        return this.looks.get(id);
    }

    // A ball around it; false: it is not among the shapes.
    ball(id: number, out: THREE.Sphere): boolean {
        const part = this.parts.get(id);
        const row = part !== undefined && !this.hidden.has(id) ? null : this.rowOf(id);
        if (row === null && part !== undefined) {
            out.center.set(...part.p);
            out.radius = Math.hypot(...part.half);
        } else if (row !== null) {
            out.center.set(row[3] ?? 0, row[4] ?? 0, row[5] ?? 0);
            out.radius = Math.hypot(row[10] ?? 0, row[11] ?? 0, row[12] ?? 0);
        }
        return row !== null || part !== undefined;
    }

    private rowOf(id: number): Float64Array | null {
        for (let at = 0; at < this.rows.length; at += ROW) {
            if (this.rows[at] === id) {
                return this.rows.subarray(at, at + ROW);
            }
        }
        return null;
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
            this.changed = true;
            this.still.finish(true);
        }
    }

    private stand(part: Part): void {
        const look = this.paints.get(part.id) ?? part;
        if (!isSeen(part.flags, look)) {
            this.still.remove(part.id);
            return;
        }
        position.set(...part.p);
        rotation.set(...part.r);
        setSize(part.shape, ...part.half);
        const x = Math.floor(part.p[0] / this.cell);
        const z = Math.floor(part.p[2] / this.cell);
        this.still.put(part.id, `${x} ${z}`, part.shape, look);
    }

    private lookOf(row: Float64Array): Look {
        const [id = 0, type = 0] = row;
        return this.paints.get(id) ??
            (type === TYPE_STRUCTURE ? this.pieces[row[13] ?? 0] : this.looks.get(id)) ?? PLAIN;
    }

    private move(row: Float64Array, look: Look): void {
        const [id = 0, , shape = 0, x = 0, y = 0, z = 0, rx = 0, ry = 0, rz = 0, rw = 1,
            hx = 1, hy = 1, hz = 1] = row;
        position.set(x, y, z);
        rotation.set(rx, ry, rz, rw);
        setSize(shape, hx, hy, hz);
        this.moving.put(id, '', shape, look);
    }
}

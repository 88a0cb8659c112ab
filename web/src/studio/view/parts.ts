// The entities of a document as they are drawn: like parts of the game, with their pictures and models once those are
// here, but zones, spawns and characters are seen too. Things of one shape and finish are one call to the graphics card, however many there are, and a
// change costs as much as what changed.
import * as THREE from 'three';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

import type { Dress } from '../../play/dress.ts';
import { Instances } from '../../play/instances.ts';
import { colourOf, finishOf, instanceMaterial, isPainted, type Finish } from '../../play/looks.ts';
import { LARGE_M, geometryOf } from '../../play/shapes.ts';
import { DEFAULT_COLOUR } from '../../core/bridge.ts';
import { FLAG, type DrawRow } from '../document.ts';

const SPHERE = 2;
const CYLINDER = 3;
const TYPE_NPC = 2;
const TYPE_SPAWN = 3;
const TYPE_GROUP = 4;
const ZONE_OPACITY = 0.35;
export const WIDE_M = 25; // zones that are larger are drawn fainter: one looks through them at everything
const WIDE_OPACITY = 0.1;
const HIDDEN_OPACITY = 0.2;
const SPAWN_COLOUR = 0x3fa7ff;
const NPC_COLOUR = 0xff9a3d;
// By the numbers of core/wire/look.def.
const MATERIALS = ['plain', 'plastic', 'metal', 'wood', 'stone', 'brick', 'glass', 'neon', 'grass', 'sand', 'leaf',
    'straw', 'water', 'ice', 'snow', 'cloth'];

// In a box from -1 to 1: a plate with an arrow to where one looks, and somebody who stands.
function spawnGeometry(): THREE.BufferGeometry {
    const plate = new THREE.CylinderGeometry(1, 1, 0.5, 24).translate(0, -0.7, 0);
    const arrow = new THREE.ConeGeometry(0.5, 1.1, 3).rotateX(Math.PI / 2).scale(1, 1.4, 1).translate(0, 0.1, 0.15);
    return mergeGeometries([plate, arrow]);
}
function npcGeometry(): THREE.BufferGeometry {
    const body = new THREE.CylinderGeometry(0.8, 0.6, 1.2, 12).translate(0, -0.4, 0);
    const head = new THREE.SphereGeometry(0.5, 12, 8).scale(1, 0.62, 1).translate(0, 0.62, 0);
    const nose = new THREE.ConeGeometry(0.16, 0.5, 6).rotateX(Math.PI / 2).translate(0, 0.6, 0.6);
    return mergeGeometries([body, head, nose]);
}

const position = new THREE.Vector3();
const rotation = new THREE.Quaternion();
const size = new THREE.Vector3();
const colour = new THREE.Color();

interface Look {
    finish: Finish;
    colour: number;
    geometry: string;
}

function lookOf(row: DrawRow): Look {
    const look = {
        material: MATERIALS[row.material] ?? '', colour: row.colour, transparency: row.transparency, glow: row.glow,
        texture: row.texture, model: row.model,
    };
    if (row.type === TYPE_SPAWN || row.type === TYPE_NPC) {
        const shown = row.type === TYPE_SPAWN ? SPAWN_COLOUR : row.colour === DEFAULT_COLOUR ? NPC_COLOUR : row.colour;
        return {
            finish: finishOf({ material: 'plastic', colour: shown }), colour: shown,
            geometry: row.type === TYPE_SPAWN ? 'spawn' : 'npc',
        };
    }
    const isZone = (row.flags & (FLAG.ghost | FLAG.trigger)) === (FLAG.ghost | FLAG.trigger) && !isPainted(look);
    const isHidden = (row.flags & FLAG.visible) === 0 || row.transparency >= 1;
    const isWide = Math.max(...row.half) > WIDE_M;
    const most = isHidden ? HIDDEN_OPACITY : isZone ? isWide ? WIDE_OPACITY : ZONE_OPACITY : 1;
    const finish = finishOf({ ...look, transparency: isHidden ? 0 : row.transparency });
    const opacity = Math.min(finish.opacity, most);
    const isLarge = (row.shape === SPHERE || row.shape === CYLINDER) && row.half[0] > LARGE_M;
    return {
        finish: { ...finish, opacity, key: `${finish.light} ${opacity} ${finish.glow}` },
        colour: colourOf(look), geometry: `${row.shape} ${isLarge}`,
    };
}

export class PartsView {
    readonly group = new THREE.Group();
    private readonly sets = new Map<string, Instances>();
    private readonly owners = new Map<number, { key: string; set: Instances }>(); // by id
    private readonly geometries = new Map<string, THREE.BufferGeometry>([
        ['spawn', spawnGeometry()], ['npc', npcGeometry()]]);
    private readonly touched = new Set<Instances>();
    private readonly dress: Dress;
    private readonly dressed = new Set<number>(); // drawn with a picture or as a model, which are here
    private isMoved = false; // one of those

    constructor(dress: Dress) {
        this.dress = dress;
    }

    put(row: DrawRow): void {
        if (row.type === TYPE_GROUP) {
            this.remove(row.id);
            return;
        }
        const look = lookOf(row);
        if (this.hasDress(row, look)) {
            this.undraw(row.id);
            return;
        }
        const key = `${look.geometry} ${look.finish.key}`;
        let owner = this.owners.get(row.id);
        if (owner?.key !== key) {
            this.undraw(row.id);
            owner = { key, set: this.setOf(key, look, row) };
            this.owners.set(row.id, owner);
        }
        this.place(row, owner.set);
        owner.set.paint(row.id, colour.set(look.colour));
        this.touched.add(owner.set);
    }

    // Somewhere else for the moment, as while it is dragged.
    move(row: DrawRow): void {
        const set = this.owners.get(row.id)?.set;
        if (set !== undefined) {
            this.place(row, set);
            this.touched.add(set);
        } else if (this.dressed.has(row.id)) {
            this.hasDress(row, lookOf(row));
        }
    }

    remove(id: number): void {
        this.undraw(id);
        this.dress.remove(id);
        this.isMoved ||= this.dressed.delete(id);
    }

    // With its picture or model, if that is here. Until then, and if it cannot be, it has its shape.
    private hasDress(row: DrawRow, look: Look): boolean {
        const { id, texture, model, type } = row;
        const isNpc = type === TYPE_NPC;
        if (type === TYPE_SPAWN || model === 0 && (isNpc || texture === 0)) {
            if (this.dressed.delete(id)) {
                this.isMoved = true;
            }
            this.dress.remove(id);
            return false;
        }
        this.pose(row);
        const isHere = this.dress.put({
            id, place: '', shape: row.shape, position, rotation, half: size, texture: isNpc ? 0 : texture, model,
            colour: colour.set(row.colour === DEFAULT_COLOUR ? 0xffffff : row.colour),
            opacity: look.finish.opacity, pose: isNpc ? 'idle' : null,
        });
        this.isMoved ||= isHere || this.dressed.has(id);
        if (isHere) {
            this.dressed.add(id);
        } else {
            this.dressed.delete(id);
        }
        return isHere;
    }

    private undraw(id: number): void {
        const owner = this.owners.get(id);
        if (owner !== undefined) {
            owner.set.remove(id);
            this.touched.add(owner.set);
            this.owners.delete(id);
        }
    }

    // The picture is thrown away.
    clear(): void {
        this.dress.clear();
        this.sets.forEach((set) => set.dispose());
    }

    // Before the picture. True: something is not where it was.
    finish(): boolean {
        const isChanged = this.touched.size > 0 || this.isMoved;
        this.touched.forEach((set) => set.finish(false));
        this.touched.clear();
        this.isMoved = false;
        return isChanged;
    }

    private pose(row: DrawRow): void {
        position.set(...row.position);
        rotation.set(...row.rotation);
        const [x, y, z] = row.half;
        size.set(x, row.shape === SPHERE ? x : y, row.shape === SPHERE || row.shape === CYLINDER ? x : z);
    }

    private place(row: DrawRow, set: Instances): void {
        this.pose(row);
        set.set(row.id, position, rotation, size);
    }

    private setOf(key: string, look: Look, row: DrawRow): Instances {
        let set = this.sets.get(key);
        if (set === undefined) {
            let geometry = this.geometries.get(look.geometry);
            if (geometry === undefined) {
                geometry = geometryOf(row.shape, look.geometry.endsWith('true'))[0];
                this.geometries.set(look.geometry, geometry);
            }
            set = new Instances(geometry, instanceMaterial(look.finish));
            const casts = look.finish.opacity === 1;
            set.setShadow(casts, casts);
            this.sets.set(key, set);
            this.group.add(set.group);
        }
        return set;
    }
}

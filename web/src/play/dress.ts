// The place's own pictures and models on the things of the world. Whoever draws a thing as a shape asks
// here first: what has a picture or a model that is here is drawn by this, the rest as before.
import * as THREE from 'three';

import type { Assets } from './assets.ts';
import type { Sight } from './bodies.ts';
import type { Budget } from './budget.ts';
import { Instances } from './instances.ts';
import type { Pose } from './model_rules.ts';
import { ModelsView } from './models.ts';
import { wantPictures } from './pictures.ts';
import { tiledMaterial, tiledShape } from './tiles.ts';
import type { Sees, Wanted } from './wanted.ts';

export interface Dressed {
    id: number;
    place: string; // those of one are drawn together; '': it moves
    shape: number; // box, wedge, sphere, cylinder
    position: THREE.Vector3; // of its middle
    rotation: THREE.Quaternion;
    half: THREE.Vector3; // half its size
    texture: number; // of the assets; 0: none
    model: number;
    colour: THREE.Color; // of what is below the picture
    opacity: number;
    pose: Pose | null; // of a character
}

interface Cover {
    set: Instances;
    material: THREE.Material;
    colours: Map<number, number>; // by id
}

export class Dress {
    readonly group = new THREE.Group();
    private readonly models: ModelsView;
    private readonly pictures: Wanted<THREE.Texture>;
    private readonly covers = new Map<string, Cover>();
    private readonly owners = new Map<number, string>(); // by id, the key of the cover
    private readonly sphere = new THREE.Sphere();

    // `changed`: these things have to be put again, because a file has come or gone.
    constructor({ assets, budget }: { assets: Assets; budget: Budget },
        changed: (ids: number[]) => void) {
        this.models = new ModelsView(assets, budget, changed);
        this.pictures = wantPictures(assets, budget, (ids) => {
            ids.forEach((id) => this.uncover(id));
            changed(ids);
        });
        this.group.add(this.models.group);
        let isFirst = true;
        assets.list.subscribe(() => {
            if (!isFirst) {
                this.models.renew();
                this.pictures.renew();
            }
            isFirst = false;
        });
    }

    // Draws it, if its picture or model is here. False: it has to be drawn as a plain shape.
    put(thing: Dressed): boolean {
        const { id, model, texture } = thing;
        if (model !== 0 && this.models.show(id, { ...thing, number: model })) {
            this.uncover(id);
            return true;
        }
        if (model === 0) {
            this.models.hide(id);
        }
        const { x, y, z } = thing.position;
        const map = texture === 0 ? null
            : this.pictures.use(texture, id, x, y, z, thing.half.length());
        if (map === null) {
            this.uncover(id);
            if (texture === 0) {
                this.pictures.leave(id);
            }
            return false;
        }
        this.cover(thing, map);
        return true;
    }

    // It is gone.
    remove(id: number): void {
        this.models.hide(id);
        this.uncover(id);
        this.pictures.leave(id);
    }

    // Another scene: nothing of this one is left.
    clear(): void {
        this.models.clear();
        [...this.owners.keys()].forEach((id) => this.uncover(id));
        this.pictures.clear();
    }

    // After changes, before the picture: fetches what is in sight.
    finish({ eye, frustum, reach }: Sight, seconds: number): void {
        for (const [key, { set }] of this.covers) {
            set.finish(!key.startsWith(' '));
        }
        this.models.finish(seconds);
        const sees: Sees = (x, y, z, radius) => {
            this.sphere.center.set(x, y, z);
            this.sphere.radius = radius;
            return this.sphere.center.distanceTo(eye) < reach + radius &&
                frustum.intersectsSphere(this.sphere);
        };
        const nowMs = performance.now();
        this.models.look(sees, nowMs);
        this.pictures.look(sees, nowMs);
    }

    // For who draws only when something has changed: there is more to fetch, if it is in sight.
    get isDue(): boolean {
        return this.models.isDue || this.pictures.isDue;
    }

    private cover(thing: Dressed, map: THREE.Texture): void {
        const { id, place, shape, opacity, position, rotation, half, colour } = thing;
        const key = `${place} ${shape} ${opacity} ${map.id}`;
        if (this.owners.get(id) !== key) {
            this.uncover(id);
            this.owners.set(id, key);
        }
        let cover = this.covers.get(key);
        if (cover === undefined) {
            const material = tiledMaterial(map, opacity);
            cover = { set: new Instances(tiledShape(shape), material), material, colours: new Map() };
            cover.set.setShadow(opacity === 1, opacity === 1);
            this.covers.set(key, cover);
            this.group.add(cover.set.group);
        }
        cover.set.set(id, position, rotation, half);
        const hex = colour.getHex();
        if (cover.colours.get(id) !== hex) {
            cover.colours.set(id, hex);
            cover.set.paint(id, colour);
        }
    }

    private uncover(id: number): void {
        const key = this.owners.get(id);
        const cover = key === undefined ? undefined : this.covers.get(key);
        this.owners.delete(id);
        if (key === undefined || cover === undefined) {
            return;
        }
        cover.set.remove(id);
        cover.colours.delete(id);
        if (cover.set.count === 0) { // its picture may go
            this.covers.delete(key);
            this.group.remove(cover.set.group);
            cover.set.dispose();
            cover.material.dispose();
        }
    }
}

// Models of the place in the world. Those without a skeleton are drawn by the hundred, one call for each
// mesh of the model; those that move are copies, and there are only so many of them. Until a model is
// here, and when it cannot be, its thing is drawn as the shape it has.
import * as THREE from 'three';

import { words } from '../ui/words.ts';
import { type Assets, MODELS } from './assets.ts';
import type { Budget } from './budget.ts';
import { Instances } from './instances.ts';
import type { Model, MovedModel } from './model_load.ts';
import { DRAWN_TRIANGLES_MAX, MOVED_MAX, type Pose, fitModel, roomFor } from './model_rules.ts';
import { type Sees, Wanted } from './wanted.ts';

// A thing that has a model.
export interface Thing {
    number: number; // of the model
    place: string; // those of one are drawn together
    position: THREE.Vector3; // of its middle
    rotation: THREE.Quaternion;
    half: THREE.Vector3; // half its size
    opacity: number;
    pose: Pose | null; // of a character
}

interface Drawn {
    number: number;
    key: string; // of the set, '' for a copy
    triangles: number;
    moved: MovedModel | null;
    pose: Pose;
}

interface Set {
    parts: { instances: Instances; matrix: THREE.Matrix4 }[];
    materials: THREE.Material[]; // its own
}

const whole = new THREE.Matrix4();
const inside = new THREE.Matrix4();
const own = new THREE.Matrix4();
const one = new THREE.Vector3(1, 1, 1);
const at = new THREE.Vector3();
const still = new THREE.Quaternion();
const even = new THREE.Vector3();

export class ModelsView {
    readonly group = new THREE.Group();
    private readonly assets: Assets;
    private readonly wanted: Wanted<Model>;
    private readonly drawn = new Map<number, Drawn>(); // by id
    private readonly sets = new Map<string, Set>();
    private late: typeof import('./model_load.ts') | null = null;
    private triangles = 0;
    private movedCount = 0;

    // `changed` has the things put again, with show or as shapes.
    constructor(assets: Assets, budget: Budget, changed: (ids: number[]) => void) {
        this.assets = assets;
        this.wanted = new Wanted<Model>({
            assets, budget, kinds: MODELS,
            load: async (asset) => {
                this.late = await import('./model_load.ts');
                return this.late.loadModel(assets, asset);
            },
            changed: (ids) => {
                ids.forEach((id) => this.undraw(id));
                changed(ids);
            },
        });
    }

    // False: it is not here, and the thing has to be drawn as a shape.
    show(id: number, thing: Thing): boolean {
        const { x, y, z } = thing.position;
        const model = this.wanted.use(thing.number, id, x, y, z, thing.half.length());
        if (model === null) {
            this.undraw(id);
            return false;
        }
        const isMoved = !model.isRigid || (thing.pose !== null && model.clips.length > 0);
        const key = isMoved ? '' : `${thing.place} ${thing.number} ${thing.opacity}`;
        let drawn = this.drawn.get(id);
        if (drawn === undefined || drawn.key !== key || drawn.number !== thing.number) {
            this.undraw(id);
            drawn = this.draw(id, thing, model, key);
        }
        if (drawn === undefined) {
            return false;
        }
        const fit = fitModel(model.low, model.high,
            roomFor(thing.half.toArray(), thing.pose !== null));
        whole.compose(thing.position, thing.rotation, one).multiply(
            inside.compose(at.set(...fit.at), still, even.setScalar(fit.scale)));
        if (drawn.moved !== null) {
            drawn.moved.object.matrix.copy(whole);
            drawn.moved.object.matrixWorldNeedsUpdate = true;
            drawn.pose = thing.pose ?? 'idle';
        } else {
            for (const { instances, matrix } of this.sets.get(key)?.parts ?? []) {
                instances.setMatrix(id, own.multiplyMatrices(whole, matrix));
            }
        }
        return true;
    }

    // It has no model any more, or is gone.
    hide(id: number): void {
        this.undraw(id);
        this.wanted.leave(id);
    }

    // After changes, before the picture. Things of a named place stand still.
    finish(seconds: number): void {
        for (const { moved, pose } of this.drawn.values()) {
            moved?.step(pose, seconds);
        }
        for (const [key, set] of this.sets) {
            set.parts.forEach(({ instances }) => instances.finish(!key.startsWith(' ')));
        }
    }

    look(sees: Sees, nowMs: number): void {
        this.wanted.look(sees, nowMs);
    }

    get isDue(): boolean {
        return this.wanted.isDue;
    }

    // Another scene: nothing of this one is left.
    clear(): void {
        [...this.drawn.keys()].forEach((id) => this.undraw(id));
        this.wanted.clear();
        [...this.sets.keys()].forEach((key) => this.dropSet(key));
    }

    // The list of files is another one.
    renew(): void {
        this.wanted.renew();
        [...this.sets.keys()].forEach((key) => this.dropSet(key));
    }

    private draw(id: number, thing: Thing, model: Model, key: string): Drawn | undefined {
        if (this.triangles + model.triangles > DRAWN_TRIANGLES_MAX) {
            this.say(thing.number, words.assets.manyDrawn(DRAWN_TRIANGLES_MAX));
            return undefined;
        }
        let moved: MovedModel | null = null;
        if (key === '') {
            if (this.movedCount >= MOVED_MAX || this.late === null) {
                this.say(thing.number, words.assets.manyMoved(MOVED_MAX));
                return undefined;
            }
            moved = new this.late.MovedModel(model);
            this.movedCount += 1;
            this.group.add(moved.object);
        } else if (!this.sets.has(key)) {
            this.sets.set(key, this.makeSet(model, thing.opacity));
        }
        const drawn: Drawn = {
            number: thing.number, key, triangles: model.triangles, moved, pose: 'idle',
        };
        this.drawn.set(id, drawn);
        this.triangles += model.triangles;
        return drawn;
    }

    private makeSet(model: Model, opacity: number): Set {
        const materials: THREE.Material[] = [];
        const parts = model.meshes.map(({ geometry, material, matrix }) => {
            let used = material;
            if (opacity < 1) {
                used = material.clone();
                used.transparent = true;
                used.opacity *= opacity;
                used.depthWrite = false;
                materials.push(used);
            }
            const instances = new Instances(geometry, used);
            instances.setShadow(opacity === 1, opacity === 1);
            this.group.add(instances.group);
            return { instances, matrix };
        });
        return { parts, materials };
    }

    private undraw(id: number): void {
        const drawn = this.drawn.get(id);
        if (drawn === undefined) {
            return;
        }
        this.drawn.delete(id);
        this.triangles -= drawn.triangles;
        if (drawn.moved !== null) {
            drawn.moved.dispose();
            this.movedCount -= 1;
            return;
        }
        const parts = this.sets.get(drawn.key)?.parts ?? [];
        parts.forEach(({ instances }) => instances.remove(id));
        if (parts[0]?.instances.count === 0) {
            this.dropSet(drawn.key); // its model may go
        }
    }

    private dropSet(key: string): void {
        const set = this.sets.get(key);
        this.sets.delete(key);
        set?.parts.forEach(({ instances }) => {
            this.group.remove(instances.group);
            instances.dispose();
        });
        set?.materials.forEach((material) => material.dispose());
    }

    private say(number: number, message: string): void {
        const asset = this.assets.at(number, MODELS);
        if (asset !== null) {
            this.assets.fail(asset.path, message);
        }
    }
}

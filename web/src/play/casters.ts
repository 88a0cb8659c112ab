// What casts the shadows of anchored parts: those within some metres, with few corners, one call to the
// graphics card for each shape however many cells they stand in. They are in the map of shadows only.
import * as THREE from 'three';

import type { Instances } from './instances.ts';

const MOST = 4096; // of each shape; more are left out, the farthest cells first
const STEP_M = 4; // they are gathered again when the camera has moved so far

// Anchored parts of one shape that stand near each other.
export interface PartCell {
    set: Instances;
    shape: number;
    casts: boolean;
    distance: number; // from the camera to its nearest point
}

class Caster {
    readonly mesh: THREE.InstancedMesh;
    count = 0;

    constructor(geometry: THREE.BufferGeometry) {
        this.mesh = new THREE.InstancedMesh(geometry, new THREE.MeshBasicMaterial(), MOST);
        this.mesh.castShadow = true;
        this.mesh.frustumCulled = false;
        this.mesh.matrixAutoUpdate = false;
        this.mesh.count = 0; // none in the picture itself
        this.mesh.onBeforeShadow = () => { this.mesh.count = this.count; };
        this.mesh.onAfterShadow = () => { this.mesh.count = 0; };
    }

    fill(cells: readonly PartCell[], eye: THREE.Vector3, reach: number): void {
        const { instanceMatrix } = this.mesh;
        this.count = 0;
        for (const { set } of cells) {
            this.count = set.copyNear(eye, reach, instanceMatrix.array, this.count, MOST);
        }
        this.mesh.visible = this.count > 0;
        instanceMatrix.clearUpdateRanges();
        instanceMatrix.addUpdateRange(0, this.count * 16);
        instanceMatrix.needsUpdate = true;
    }
}

export class Casters {
    readonly group = new THREE.Group();
    private readonly casters: Caster[]; // by shape
    private readonly from = new THREE.Vector3(Infinity, 0, 0);

    constructor(geometries: readonly THREE.BufferGeometry[]) {
        this.casters = geometries.map((geometry) => new Caster(geometry));
        this.group.add(...this.casters.map(({ mesh }) => mesh));
    }

    // Before each picture. `changed`: other parts stand there than before.
    update(cells: Iterable<PartCell>, eye: THREE.Vector3, reach: number, changed: boolean): void {
        if (!changed && eye.distanceTo(this.from) < STEP_M) {
            return;
        }
        this.from.copy(eye);
        const near = [...cells].filter(({ casts, distance }) => casts && distance < reach)
            .sort((a, b) => a.distance - b.distance);
        this.casters.forEach((caster, shape) =>
            caster.fill(near.filter((cell) => cell.shape === shape), eye, reach));
    }
}

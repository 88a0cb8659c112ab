// Frames around what is selected: twelve edges for each, in one call for each colour. They are seen through
// everything, faintly, so that nobody looks for what they have selected.
import * as THREE from 'three';

import type { DrawRow } from '../document.ts';

const EDGES = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];
const corner = new THREE.Vector3();
const turn = new THREE.Quaternion();
const MARGIN_M = 0.02;

function lines(colour: number, opacity: number, depthTest: boolean): THREE.LineSegments {
    const mesh = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({
        color: colour, transparent: opacity < 1, opacity, depthTest, toneMapped: false,
    }));
    mesh.frustumCulled = false;
    mesh.renderOrder = depthTest ? 4 : 5;
    return mesh;
}

export class Frames {
    readonly group = new THREE.Group();
    private readonly meshes: THREE.LineSegments[];

    constructor(colour: number) {
        this.meshes = [lines(colour, 1, true), lines(colour, 0.3, false)];
        this.group.add(...this.meshes);
    }

    show(rows: readonly DrawRow[]): void {
        const positions = new Float32Array(rows.length * EDGES.length * 3);
        let at = 0;
        for (const row of rows) {
            turn.set(...row.rotation);
            const corners = Array.from({ length: 8 }, (_, i) => {
                const [x, y, z] = row.half;
                return corner.set((i & 1 ? 1 : -1) * (x + MARGIN_M), (i & 2 ? 1 : -1) * (y + MARGIN_M),
                    (i & 4 ? 1 : -1) * (z + MARGIN_M)).applyQuaternion(turn).toArray();
            });
            for (const index of EDGES) {
                corners[index]!.forEach((value, axis) => { positions[at + axis] = value + row.position[axis]!; });
                at += 3;
            }
        }
        const attribute = new THREE.BufferAttribute(positions, 3);
        for (const mesh of this.meshes) {
            mesh.geometry.dispose();
            mesh.geometry = new THREE.BufferGeometry().setAttribute('position', attribute);
            mesh.visible = rows.length > 0;
        }
    }
}

// Parts: anchored ones of the scene, those that move, and what players built. All are one of four
// shapes, scaled from a unit geometry.
import * as THREE from 'three';

import { ROW, type Look, type Part, type Place } from '../core/bridge.ts';
import { material } from './looks.ts';

const SHAPE_WEDGE = 1;
const SHAPE_SPHERE = 2;
const SHAPE_CYLINDER = 3;
const FLAG_GHOST = 1;
const FLAG_TRIGGER = 32;
const TYPE_STRUCTURE = 6; // EntityType of core/sim/entity.h

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

function scale(mesh: THREE.Object3D, shape: number, x: number, y: number, z: number): void {
    if (shape === SHAPE_SPHERE) {
        mesh.scale.set(x, x, x);
    } else if (shape === SHAPE_CYLINDER) {
        mesh.scale.set(x, y, x);
    } else {
        mesh.scale.set(x, y, z);
    }
}

// Zones are there to be felt, not seen.
const isSeen = (flags: number): boolean =>
    (flags & (FLAG_GHOST | FLAG_TRIGGER)) !== (FLAG_GHOST | FLAG_TRIGGER);

export class ShapesView {
    readonly group = new THREE.Group();
    private readonly anchored = new Map<number, THREE.Mesh>();
    private readonly moving = new Map<number, THREE.Mesh>();
    private looks = new Map<number, Look>();
    private pieces: Look[] = [];
    private hiddenBefore = '';

    reset(place: Place, parts: readonly Part[]): void {
        this.group.clear();
        this.anchored.clear();
        this.moving.clear();
        this.hiddenBefore = '';
        this.looks = new Map([...place.looks, ...parts].map((look) => [look.id, look]));
        this.pieces = place.pieces;
        for (const part of parts) {
            if (!isSeen(part.flags)) {
                continue;
            }
            const mesh = new THREE.Mesh(geometryOf(part.shape), material(part));
            mesh.position.set(...part.p);
            mesh.quaternion.set(...part.r);
            scale(mesh, part.shape, ...part.half);
            mesh.updateMatrix();
            mesh.matrixAutoUpdate = false;
            this.anchored.set(part.id, mesh);
            this.group.add(mesh);
        }
    }

    // Rows of clientShapes, and the anchored parts that are not where the scene has them.
    update(rows: Float64Array, hidden: Float64Array): void {
        const now = hidden.join();
        if (now !== this.hiddenBefore) {
            this.hiddenBefore = now;
            const gone = new Set(hidden);
            for (const [id, mesh] of this.anchored) {
                mesh.visible = !gone.has(id);
            }
        }
        const seen = new Set<number>();
        for (let at = 0; at < rows.length; at += ROW) {
            const row = rows.subarray(at, at + ROW);
            if (isSeen(row[14] ?? 0)) {
                seen.add(row[0] ?? 0);
                this.place(row);
            }
        }
        for (const [id, mesh] of this.moving) {
            if (!seen.has(id)) {
                this.group.remove(mesh);
                this.moving.delete(id);
            }
        }
    }

    // Just above it; null: it is not here.
    top(id: number): THREE.Vector3 | null {
        const mesh = this.moving.get(id) ?? this.anchored.get(id);
        return mesh === undefined || !mesh.visible ? null
            : mesh.position.clone().setY(mesh.position.y + mesh.scale.y + 0.2);
    }

    private place(row: Float64Array): void {
        const [id = 0, type = 0, shape = 0, x = 0, y = 0, z = 0, rx = 0, ry = 0, rz = 0, rw = 1,
            hx = 1, hy = 1, hz = 1, piece = 0] = row;
        let mesh = this.moving.get(id);
        if (mesh === undefined) {
            const look = type === TYPE_STRUCTURE ? this.pieces[piece] : this.looks.get(id);
            mesh = new THREE.Mesh(geometryOf(shape), material(look ?? { material: '', colour: 0 }));
            this.moving.set(id, mesh);
            this.group.add(mesh);
        }
        mesh.position.set(x, y, z);
        mesh.quaternion.set(rx, ry, rz, rw);
        scale(mesh, shape, hx, hy, hz);
    }
}

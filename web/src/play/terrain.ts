// Terrain: a mesh for each chunk, from the rectangles that core/client/terrain_mesh.h finds. Colours
// stand at the corners, a little different from place to place, so that large faces do not look like
// plastic; what one sees through (water) is drawn after the rest.
import * as THREE from 'three';

import { QUAD_BYTES, type Place } from '../core/bridge.ts';
import { colourOf, materialLook, noise } from './looks.ts';

const CHUNK = 32;
// Light from the side that a face looks to, baked: +x, -x, +y, -y, +z, -z.
const SHADE = [0.86, 0.86, 1, 0.6, 0.78, 0.78];
// Rectangles are cut into pieces of this size, so that grain has corners to stand at.
const PIECE = 4;

interface Quads {
    positions: number[];
    normals: number[];
    colours: number[];
}

export class TerrainView {
    readonly group = new THREE.Group();
    private readonly chunks = new Map<string, THREE.Object3D>();
    private readonly solid = new THREE.MeshLambertMaterial({ vertexColors: true });
    private readonly clear = new THREE.MeshLambertMaterial({
        vertexColors: true, transparent: true, opacity: 0.72, depthWrite: false,
    });
    private kinds: Place['voxelKinds'] = [];

    reset(place: Place): void {
        this.kinds = place.voxelKinds;
        for (const key of [...this.chunks.keys()]) {
            this.drop(key);
        }
    }

    private drop(key: string): void {
        const old = this.chunks.get(key);
        if (old !== undefined) {
            old.traverse((child) => {
                if (child instanceof THREE.Mesh) {
                    (child.geometry as THREE.BufferGeometry).dispose();
                }
            });
            this.group.remove(old);
            this.chunks.delete(key);
        }
    }

    set(x: number, y: number, z: number, bytes: Uint8Array): void {
        const key = `${x},${y},${z}`;
        this.drop(key);
        if (bytes.length === 0) {
            return;
        }
        const origin: [number, number, number] = [x * CHUNK, y * CHUNK, z * CHUNK];
        const solid: Quads = { positions: [], normals: [], colours: [] };
        const clear: Quads = { positions: [], normals: [], colours: [] };
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        for (let at = 0; at < bytes.length; at += QUAD_BYTES) {
            const kind = view.getUint16(at + 6, true);
            const opaque = materialLook(this.kinds[kind - 1]?.material ?? '').opacity === undefined;
            this.addQuad(opaque ? solid : clear, bytes.subarray(at, at + QUAD_BYTES), kind, origin);
        }
        const chunk = new THREE.Group();
        chunk.position.set(...origin);
        addMesh(chunk, solid, this.solid, 0);
        addMesh(chunk, clear, this.clear, 1);
        this.chunks.set(key, chunk);
        this.group.add(chunk);
    }

    private addQuad(out: Quads, quad: Uint8Array, kind: number,
        origin: [number, number, number]): void {
        const [qx = 0, qy = 0, qz = 0, face = 0, width = 0, height = 0] = quad;
        const axis = face >> 1;
        const positive = (face & 1) === 0;
        // The two other axes, x before y before z.
        const u = axis === 0 ? 1 : 0;
        const v = axis === 2 ? 1 : 2;
        const low = [qx, qy, qz];
        const colour = this.colour(kind);
        const grain = materialLook(this.kinds[kind - 1]?.material ?? '').grain;
        const sinks = axis === 1 && positive && materialLook(this.kinds[kind - 1]?.material ?? '').opacity !== undefined;
        for (let i = 0; i < width; i += PIECE) {
            for (let j = 0; j < height; j += PIECE) {
                const du = Math.min(PIECE, width - i);
                const dv = Math.min(PIECE, height - j);
                const corner = (a: number, b: number): [number, number, number] => {
                    const point: [number, number, number] = [low[0] ?? 0, low[1] ?? 0, low[2] ?? 0];
                    point[axis] = (point[axis] ?? 0) + (positive ? 1 : 0) - (sinks ? 0.15 : 0);
                    point[u] = (point[u] ?? 0) + i + a * du;
                    point[v] = (point[v] ?? 0) + j + b * dv;
                    return point;
                };
                const corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)] as const;
                // u × v looks along +axis for y alone of the three when reversed.
                const forward = (axis === 1) !== positive;
                const order = forward ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2];
                for (const index of order) {
                    const point = corners[index] ?? corners[0];
                    out.positions.push(...point);
                    const normal: [number, number, number] = [0, 0, 0];
                    normal[axis] = positive ? 1 : -1;
                    out.normals.push(...normal);
                    const light = (SHADE[face] ?? 1) * (1 + grain *
                        (noise(point[0] + origin[0], Math.floor(point[1] + origin[1]),
                            point[2] + origin[2]) - 0.5) * 2);
                    out.colours.push(colour.r * light, colour.g * light, colour.b * light);
                }
            }
        }
    }

    private colour(kind: number): THREE.Color {
        const look = this.kinds[kind - 1];
        return new THREE.Color(look === undefined ? 0xff00ff : colourOf(look));
    }
}

function addMesh(to: THREE.Group, quads: Quads, material: THREE.Material, order: number): void {
    if (quads.positions.length === 0) {
        return;
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(quads.positions, 3));
    geometry.setAttribute('normal', new THREE.Float32BufferAttribute(quads.normals, 3));
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(quads.colours, 3));
    const mesh = new THREE.Mesh(geometry, material);
    mesh.renderOrder = order;
    to.add(mesh);
}

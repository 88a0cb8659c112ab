// Terrain: a mesh for each chunk, from the rectangles that core/client/terrain_mesh.h finds. Colours
// stand at the corners, a little different from place to place, and a fine grain lies over every
// voxel, so that large faces do not look like plastic. What one sees through (water) is drawn after
// the rest.
import * as THREE from 'three';

import { QUAD_BYTES, type Place } from '../core/bridge.ts';
import { colourOf, materialLook, noise } from './looks.ts';

const CHUNK = 32;
// Light from the side that a face looks to, baked: +x, -x, +y, -y, +z, -z.
const SHADE = [0.86, 0.86, 1, 0.6, 0.78, 0.78];
// Rectangles are cut into pieces of this size, so that grain has corners to stand at.
const PIECE = 8;
const GRAIN_PIXELS = 16; // of a voxel's side

interface Quads {
    positions: number[];
    normals: number[];
    colours: number[];
    uvs: number[];
}

const noQuads = (): Quads => ({ positions: [], normals: [], colours: [], uvs: [] });

// Grey, around white, the same on every voxel, with a hint of its edge.
function makeGrain(): THREE.DataTexture {
    const size = GRAIN_PIXELS;
    const data = new Uint8Array(size * size * 4);
    for (let y = 0; y < size; y++) {
        for (let x = 0; x < size; x++) {
            const edge = x === 0 || y === 0 ? 10 : 0;
            const value = 255 - Math.floor(noise(x, 3, y) * 26) - edge;
            data.set([value, value, value, 255], (y * size + x) * 4);
        }
    }
    const texture = new THREE.DataTexture(data, size, size);
    texture.wrapS = THREE.RepeatWrapping;
    texture.wrapT = THREE.RepeatWrapping;
    texture.magFilter = THREE.NearestFilter;
    texture.minFilter = THREE.LinearMipmapLinearFilter;
    texture.generateMipmaps = true;
    texture.anisotropy = 4;
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.needsUpdate = true;
    return texture;
}

export class TerrainView {
    readonly group = new THREE.Group();
    private readonly chunks = new Map<string, THREE.Object3D>();
    private readonly solid = new THREE.MeshLambertMaterial({
        vertexColors: true, map: makeGrain(),
    });
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
        const solid = noQuads();
        const clear = noQuads();
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
        const { grain, opacity } = materialLook(this.kinds[kind - 1]?.material ?? '');
        // The surface of water lies a little lower than the ground beside it.
        const sinks = axis === 1 && positive && opacity !== undefined;
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
                    out.uvs.push(point[u] ?? 0, point[v] ?? 0);
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
    geometry.setAttribute('uv', new THREE.Float32BufferAttribute(quads.uvs, 2));
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(quads.colours, 3));
    const mesh = new THREE.Mesh(geometry, material);
    mesh.renderOrder = order;
    to.add(mesh);
}

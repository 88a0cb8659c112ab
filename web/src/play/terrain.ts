// Terrain: for each chunk the rectangles that core/client/terrain_mesh.h finds, uploaded as they are,
// eight bytes each. The graphics card makes their corners, so nothing is computed here for a face. Grain
// lies over every voxel, and each voxel is a little lighter or darker than its neighbours, so that
// large faces do not look like plastic. What one sees through (water) is drawn after the rest.
import * as THREE from 'three';

import { QUAD_BYTES, type Place } from '../core/bridge.ts';
import { colourOf, materialLook, noise } from './looks.ts';

const CHUNK = 32;
const CHUNK_RADIUS = CHUNK * Math.sqrt(3) / 2;
const GRAIN_PIXELS = 16; // of a voxel's side
const PALETTE_SIDE = 256; // of the texture that has the colour of each kind

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
    texture.needsUpdate = true;
    return texture;
}

// A pixel for each kind of voxel: its colour, and in alpha how much it varies.
function makePalette(): THREE.DataTexture {
    const texture = new THREE.DataTexture(new Uint8Array(PALETTE_SIDE * PALETTE_SIDE * 4),
        PALETTE_SIDE, PALETTE_SIDE);
    texture.minFilter = THREE.NearestFilter;
    texture.magFilter = THREE.NearestFilter;
    texture.colorSpace = THREE.SRGBColorSpace;
    return texture;
}

// `where` is x, y, z and the side (+x, -x, +y, -y, +z, -z); `what` is width, height and the kind in two
// bytes. The two axes along the face are x before y before z.
const DECLARE = /* glsl */`
attribute vec4 where;
attribute vec4 what;
uniform sampler2D palette;
uniform float sink;
varying vec4 vTint;
varying vec2 vGrain;
varying vec3 vVoxel;
`;
const NORMAL = /* glsl */`
float axis = floor(where.w * 0.5 + 0.25);
float away = mod(where.w, 2.0) < 0.5 ? 1.0 : -1.0;
vec3 along = vec3(axis == 0.0, axis == 1.0, axis == 2.0);
vec3 uAxis = axis == 0.0 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
vec3 vAxis = axis == 2.0 ? vec3(0.0, 1.0, 0.0) : vec3(0.0, 0.0, 1.0);
vec3 objectNormal = along * away;
`;
const POSITION = /* glsl */`
bool turns = (axis == 1.0) == (away > 0.0); // so that the front is outside
vec2 corner = turns ? position.yx : position.xy;
vec3 transformed = where.xyz + along * max(away, 0.0) + uAxis * corner.x * what.x + vAxis * corner.y * what.y;
transformed.y -= axis == 1.0 && away > 0.0 ? sink : 0.0; // water lies lower than the ground beside it
vTint = texture2D(palette, (what.zw + 0.5) / ${PALETTE_SIDE}.0);
// Light from the side that a face looks to.
vTint.rgb *= axis == 1.0 ? (away > 0.0 ? 1.0 : 0.6) : axis == 0.0 ? 0.86 : 0.78;
vGrain = corner * what.xy;
vVoxel = (modelMatrix * vec4(transformed - objectNormal * 0.5, 1.0)).xyz;
`;
const PAINT = /* glsl */`
vec3 voxel = floor(vVoxel + 0.001);
float varied = fract(sin(dot(voxel, vec3(12.9898, 78.233, 37.719))) * 43758.5453) - 0.5;
diffuseColor.rgb *= vTint.rgb * (1.0 + vTint.a * varied * 2.0) * texture2D(grain, vGrain).rgb;
`;

interface Paint {
    palette: { value: THREE.DataTexture };
    grain: { value: THREE.DataTexture };
}

function makeMaterial(paint: Paint, sink: number, own: THREE.MeshLambertMaterialParameters):
THREE.Material {
    const material = new THREE.MeshLambertMaterial(own);
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, paint, { sink: { value: sink } });
        shader.vertexShader = shader.vertexShader
            .replace('#include <common>', `#include <common>${DECLARE}`)
            .replace('#include <beginnormal_vertex>', NORMAL)
            .replace('#include <begin_vertex>', POSITION);
        shader.fragmentShader = shader.fragmentShader
            .replace('#include <common>', `#include <common>
                uniform sampler2D grain; varying vec4 vTint; varying vec2 vGrain; varying vec3 vVoxel;`)
            .replace('#include <color_fragment>', PAINT);
    };
    return material;
}

// The corners of every rectangle.
const CORNERS = new THREE.BufferAttribute(
    new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]), 3);
const ORDER = new THREE.BufferAttribute(new Uint16Array([0, 1, 2, 0, 2, 3]), 1);

function makeMesh(quads: Uint8Array, material: THREE.Material, order: number): THREE.Mesh {
    const geometry = new THREE.InstancedBufferGeometry();
    const rows = new THREE.InstancedInterleavedBuffer(quads, QUAD_BYTES);
    geometry.setIndex(ORDER);
    geometry.setAttribute('position', CORNERS);
    geometry.setAttribute('where', new THREE.InterleavedBufferAttribute(rows, 4, 0));
    geometry.setAttribute('what', new THREE.InterleavedBufferAttribute(rows, 4, 4));
    geometry.instanceCount = quads.length / QUAD_BYTES;
    geometry.boundingSphere = new THREE.Sphere(
        new THREE.Vector3(CHUNK / 2, CHUNK / 2, CHUNK / 2), CHUNK_RADIUS);
    const mesh = new THREE.Mesh(geometry, material);
    mesh.renderOrder = order;
    return mesh;
}

export class TerrainView {
    readonly group = new THREE.Group();
    private readonly chunks = new Map<string, THREE.Group>();
    private readonly paint: Paint = {
        palette: { value: makePalette() }, grain: { value: makeGrain() },
    };
    private readonly solid = makeMaterial(this.paint, 0, {});
    private readonly clear = makeMaterial(this.paint, 0.15,
        { transparent: true, opacity: 0.72, depthWrite: false });
    private isClear: boolean[] = []; // by kind

    reset(place: Place): void {
        const { value: palette } = this.paint.palette;
        this.isClear = [false];
        place.voxelKinds.forEach((kind, at) => {
            const { grain, opacity } = materialLook(kind.material);
            const shown = colourOf(kind);
            palette.image.data?.set([shown >> 16, shown >> 8 & 255, shown & 255, grain * 255],
                (at + 1) * 4);
            this.isClear.push(opacity !== undefined);
        });
        palette.needsUpdate = true;
        for (const key of [...this.chunks.keys()]) {
            this.drop(key);
        }
    }

    set(x: number, y: number, z: number, quads: Uint8Array): void {
        const key = `${x},${y},${z}`;
        this.drop(key);
        if (quads.length === 0) {
            return;
        }
        const [solid, clear] = this.divide(quads);
        const chunk = new THREE.Group();
        chunk.position.set(x * CHUNK, y * CHUNK, z * CHUNK);
        if (solid.length > 0) {
            chunk.add(makeMesh(solid, this.solid, 0));
        }
        if (clear.length > 0) {
            chunk.add(makeMesh(clear, this.clear, 1));
        }
        chunk.updateMatrixWorld();
        this.chunks.set(key, chunk);
        this.group.add(chunk);
    }

    // What hides what is behind it, and what does not.
    private divide(quads: Uint8Array): [Uint8Array, Uint8Array] {
        const view = new DataView(quads.buffer, quads.byteOffset, quads.byteLength);
        const isClear = (at: number): boolean =>
            this.isClear[view.getUint16(at * QUAD_BYTES + 6, true)] === true;
        const count = quads.length / QUAD_BYTES;
        const clear = Array.from({ length: count }, (_, at) => at).filter(isClear);
        if (clear.length === 0) {
            return [quads, new Uint8Array()];
        }
        const parts: [Uint8Array, Uint8Array] = [
            new Uint8Array((count - clear.length) * QUAD_BYTES),
            new Uint8Array(clear.length * QUAD_BYTES),
        ];
        const ends: [number, number] = [0, 0];
        for (let at = 0; at < count; at++) {
            const part = isClear(at) ? 1 : 0;
            parts[part].set(quads.subarray(at * QUAD_BYTES, (at + 1) * QUAD_BYTES), ends[part]);
            ends[part] += QUAD_BYTES;
        }
        return parts;
    }

    private drop(key: string): void {
        const old = this.chunks.get(key);
        if (old !== undefined) {
            for (const mesh of old.children) {
                const { geometry } = mesh as THREE.Mesh;
                geometry.setIndex(null); // the corners belong to all of them
                geometry.deleteAttribute('position');
                geometry.dispose();
            }
            this.group.remove(old);
            this.chunks.delete(key);
        }
    }
}

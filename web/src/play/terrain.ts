// Terrain: for each chunk the rectangles that core/client/terrain_mesh.h finds, eight bytes each. The
// graphics card makes their corners, so nothing is computed here for a face. Grain lies over every
// voxel, and each voxel is a little lighter or darker than its neighbours, so that large faces do not
// look like plastic. What one sees through is drawn after the rest; water has waves, and shows the
// sky where one looks along it.
import * as THREE from 'three';

import { QUAD_BYTES, type Place } from '../core/bridge.ts';
import { UploadQueue, cullChunk } from './culling.ts';
import { colourOf, materialLook, noise } from './looks.ts';
import { SHADOW_M } from './sun.ts';

const CHUNK = 32;
const GRAIN_PIXELS = 16; // of a voxel's side
const PALETTE_SIDE = 256; // of the texture that has the colour of each kind
const UPLOADS_A_PICTURE = 2; // more at once would be felt
const GRAIN_MOST = 250; // in the palette; above it: water

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

// A pixel for each kind of voxel: its colour, and in alpha how much it varies, or that it is water.
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
varying vec4 vSurface; // where in the world; 1 on the upper side
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
vSurface = vec4((modelMatrix * vec4(transformed, 1.0)).xyz, axis == 1.0 && away > 0.0 ? 1.0 : 0.0);
`;
const PAINT = /* glsl */`
bool isWater = vTint.a > ${(GRAIN_MOST / 255).toFixed(3)};
float grainy = isWater ? 0.0 : vTint.a;
vec3 voxel = floor(vVoxel + 0.001);
float varied = fract(sin(dot(voxel, vec3(12.9898, 78.233, 37.719))) * 43758.5453) - 0.5;
diffuseColor.rgb *= vTint.rgb * (1.0 + grainy * varied * 2.0) *
    (isWater ? vec3(1.0) : texture2D(grain, vGrain).rgb);
`;
// Waves are sums of sines that bend the normal; far away they would only flicker.
const WATER = /* glsl */`
if (isWater && vSurface.w > 0.5) {
    vec3 toEye = cameraPosition - vSurface.xyz;
    float far = length(toEye);
    toEye /= far;
    vec2 at = vSurface.xz;
    vec2 slope = vec2(0.0);
    float crest = 0.0;
    for (int i = 0; i < 5; i++) {
        float turn = float(i) * 2.4 + 0.6;
        vec2 way = vec2(cos(turn), sin(turn));
        float often = 0.55 * pow(1.62, float(i));
        float phase = dot(at, way) * often + time * (0.7 + 0.45 * float(i))
            + sin(dot(at, way.yx) * 0.21) * 1.7;
        slope += way * cos(phase) * 0.13 / (1.0 + 0.25 * float(i));
        crest += sin(phase) / (1.0 + float(i));
    }
    float calm = 1.0 / (1.0 + far * 0.035);
    vec3 wave = normalize(vec3(-slope.x * calm, 1.0, -slope.y * calm));
    float grazing = 1.0 - max(dot(wave, toEye), 0.0);
    float mirror = 0.05 + 0.85 * pow(grazing, 4.0);
    vec3 shine = mix(skyLow, skyHigh, clamp(reflect(-toEye, wave).y * 1.6, 0.0, 1.0));
    outgoingLight *= 0.86 + 0.11 * crest * calm;
    outgoingLight = mix(outgoingLight, shine, mirror);
    float glint = max(dot(reflect(-toEye, wave), sunWay), 0.0);
    outgoingLight += sunColour * (pow(glint, 220.0) * 1.6 + pow(glint, 24.0) * 0.06);
    diffuseColor.a = mix(0.74, 0.97, clamp(mirror + far * 0.006, 0.0, 1.0));
}
#include <opaque_fragment>
`;

interface Paint {
    palette: { value: THREE.DataTexture };
    grain: { value: THREE.DataTexture };
    time: { value: number }; // seconds
    skyHigh: { value: THREE.Color };
    skyLow: { value: THREE.Color };
    sunWay: { value: THREE.Vector3 };
    sunColour: { value: THREE.Color };
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
                uniform sampler2D grain; varying vec4 vTint; varying vec2 vGrain; varying vec3 vVoxel;
                varying vec4 vSurface; uniform float time; uniform vec3 skyHigh; uniform vec3 skyLow;
                uniform vec3 sunWay; uniform vec3 sunColour;`)
            .replace('#include <color_fragment>', PAINT)
            .replace('#include <opaque_fragment>', WATER);
    };
    return material;
}

// The same corners, for the map of shadows.
function makeDepthMaterial(paint: Paint): THREE.Material {
    const material = new THREE.MeshDepthMaterial();
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, paint, { sink: { value: 0 } });
        shader.vertexShader = shader.vertexShader
            .replace('#include <common>', `#include <common>${DECLARE}`)
            .replace('#include <begin_vertex>', NORMAL + POSITION);
    };
    return material;
}

// The corners of every rectangle.
const CORNERS = new THREE.BufferAttribute(
    new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]), 3);
const ORDER = new THREE.BufferAttribute(new Uint16Array([0, 1, 2, 0, 2, 3]), 1);

function makeMesh(quads: Uint8Array, material: THREE.Material, order: number, around: THREE.Sphere):
THREE.Mesh {
    const geometry = new THREE.InstancedBufferGeometry();
    const rows = new THREE.InstancedInterleavedBuffer(quads, QUAD_BYTES);
    geometry.setIndex(ORDER);
    geometry.setAttribute('position', CORNERS);
    geometry.setAttribute('where', new THREE.InterleavedBufferAttribute(rows, 4, 0));
    geometry.setAttribute('what', new THREE.InterleavedBufferAttribute(rows, 4, 4));
    geometry.instanceCount = quads.length / QUAD_BYTES;
    geometry.boundingSphere = around;
    const mesh = new THREE.Mesh(geometry, material);
    mesh.renderOrder = order;
    return mesh;
}

// Chunks that are drawn together, so that there are few calls to the graphics card: their rectangles, moved
// to where the chunk is in the region, which is less than 256 voxels wide and high.
interface Region {
    chunks: Map<string, { at: [number, number, number]; solid: Uint8Array; clear: Uint8Array }>;
    group: THREE.Group;
    around: THREE.Sphere; // in the world
}

const REGION = [4, 4, 4] as const; // in chunks
const REGION_DOWN = 2; // of them below height 0, where most ground is

// The region of a chunk, and where in it the chunk is.
function regionOf(chunk: [number, number, number]): { corner: THREE.Vector3; at: [number, number, number] } {
    const corner = chunk.map((value, axis) => {
        const [size, down] = [REGION[axis] ?? 1, axis === 1 ? REGION_DOWN : 0];
        return Math.floor((value + down) / size) * size - down;
    });
    const at = chunk.map((value, axis) => (value - (corner[axis] ?? 0)) * CHUNK);
    return {
        corner: new THREE.Vector3(...corner).multiplyScalar(CHUNK),
        at: at as [number, number, number],
    };
}

function join(parts: Uint8Array[]): Uint8Array {
    const whole = new Uint8Array(parts.reduce((bytes, { length }) => bytes + length, 0));
    let end = 0;
    for (const part of parts) {
        whole.set(part, end);
        end += part.length;
    }
    return whole;
}

// Around all chunks of a region, no higher than what is in them.
function sphereAround({ chunks }: Region): THREE.Sphere {
    const box = new THREE.Box3();
    for (const { at: [x, , z], solid, clear } of chunks.values()) {
        for (const quads of [solid, clear]) {
            for (let row = 0; row < quads.length; row += QUAD_BYTES) {
                const [, y = 0, , side = 0, width = 0, height = 0] = quads.subarray(row, row + 6);
                const up = side < 2 ? width : side < 4 ? 1 : height;
                box.min.set(Math.min(box.min.x, x), Math.min(box.min.y, y), Math.min(box.min.z, z));
                box.max.set(Math.max(box.max.x, x + CHUNK), Math.max(box.max.y, y + up),
                    Math.max(box.max.z, z + CHUNK));
            }
        }
    }
    return box.getBoundingSphere(new THREE.Sphere());
}

export class TerrainView {
    readonly group = new THREE.Group();
    private readonly regions = new Map<string, Region>();
    private readonly queue = new UploadQueue<[number, number, number, Uint8Array]>();
    private readonly paint: Paint = {
        palette: { value: makePalette() }, grain: { value: makeGrain() }, time: { value: 0 },
        skyHigh: { value: new THREE.Color() }, skyLow: { value: new THREE.Color() },
        sunWay: { value: new THREE.Vector3(0, 1, 0) }, sunColour: { value: new THREE.Color() },
    };
    private readonly depth = makeDepthMaterial(this.paint);
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
            palette.image.data?.set([shown >> 16, shown >> 8 & 255, shown & 255,
                kind.material === 'water' ? 255 : Math.min(grain * 255, GRAIN_MOST)], (at + 1) * 4);
            this.isClear.push(opacity !== undefined);
        });
        palette.needsUpdate = true;
        this.queue.clear();
        for (const region of this.regions.values()) {
            this.empty(region);
            this.group.remove(region.group);
        }
        this.regions.clear();
    }

    // What water mirrors.
    light(high: THREE.Color, low: THREE.Color, way: THREE.Vector3, sun: THREE.Color): void {
        this.paint.skyHigh.value.copy(high);
        this.paint.skyLow.value.copy(low);
        this.paint.sunWay.value.copy(way);
        this.paint.sunColour.value.copy(sun);
    }

    // It is shown with one of the next pictures.
    set(x: number, y: number, z: number, quads: Uint8Array): void {
        this.queue.put(`${x},${y},${z}`, [x, y, z, quads]);
    }

    // How many are not shown yet.
    get waiting(): number {
        return this.queue.size;
    }

    // Before each picture.
    update(eye: THREE.Vector3, reach: number, seconds: number): void {
        this.paint.time.value = (this.paint.time.value + seconds) % 3600;
        for (const [key, chunk] of this.queue.take(UPLOADS_A_PICTURE, ([, , , { length }]) => length > 0)) {
            this.upload(key, ...chunk);
        }
        for (const { group, around } of this.regions.values()) {
            const isNear = cullChunk({ group, sphere: () => around }, eye, reach) < SHADOW_M;
            for (const mesh of group.children) {
                mesh.castShadow = isNear && (mesh as THREE.Mesh).material === this.solid;
            }
        }
    }

    private upload(key: string, x: number, y: number, z: number, quads: Uint8Array): void {
        const { corner, at } = regionOf([x, y, z]);
        const name = corner.toArray().join();
        let region = this.regions.get(name);
        if (region === undefined && quads.length === 0) {
            return;
        }
        if (region === undefined) {
            region = { chunks: new Map(), group: new THREE.Group(), around: new THREE.Sphere() };
            region.group.position.copy(corner);
            this.regions.set(name, region);
            this.group.add(region.group);
        }
        region.chunks.delete(key);
        if (quads.length > 0) {
            for (let row = 0; row < quads.length; row += QUAD_BYTES) {
                at.forEach((by, axis) => { quads[row + axis]! += by; });
            }
            const [solid, clear] = this.divide(quads);
            region.chunks.set(key, { at, solid, clear });
        }
        this.fill(region);
    }

    private fill(region: Region): void {
        this.empty(region);
        const chunks = [...region.chunks.values()];
        const solid = join(chunks.map((chunk) => chunk.solid));
        const clear = join(chunks.map((chunk) => chunk.clear));
        const around = sphereAround(region);
        if (solid.length > 0) {
            const mesh = makeMesh(solid, this.solid, 0, around);
            mesh.receiveShadow = true;
            mesh.customDepthMaterial = this.depth;
            region.group.add(mesh);
        }
        if (clear.length > 0) {
            region.group.add(makeMesh(clear, this.clear, 1, around));
        }
        region.group.updateMatrixWorld();
        region.around.copy(around).applyMatrix4(region.group.matrixWorld);
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

    private empty({ group }: Region): void {
        for (const mesh of group.children) {
            const { geometry } = mesh as THREE.Mesh;
            geometry.setIndex(null); // the corners belong to all of them
            geometry.deleteAttribute('position');
            geometry.dispose();
        }
        group.clear();
    }
}

// Reads a model: glTF 2.0 by three's own loader, which is fetched when the first model is in sight. All
// bytes come through the place's list of assets, and pictures are decoded without an address, because
// the page's policy forbids fetching blob: and data: addresses. What only a physical material would
// show (roughness, bumps) is left out: all of the world is drawn with one simple light.
import * as THREE from 'three';
import { GLTFLoader, type GLTF, type GLTFParser } from 'three/examples/jsm/loaders/GLTFLoader.js';
import { clone } from 'three/examples/jsm/utils/SkeletonUtils.js';

import { laterWords } from '../ui/words_later.ts';
import { type Asset, type Assets, Reported } from './assets.ts';
import { pictureBytes } from './budget.ts';
import {
    MODEL_MESHES_MAX, MODEL_PICTURES_MAX, MODEL_TRIANGLES_MAX, type Pose, clipFor,
} from './model_rules.ts';
import { decodePicture } from './pictures.ts';
import type { Held } from './wanted.ts';

const BLEND_SECONDS = 0.2; // from one movement to the next

export interface RigidMesh {
    geometry: THREE.BufferGeometry;
    material: THREE.Material;
    matrix: THREE.Matrix4; // in the model
}

export interface Model {
    root: THREE.Object3D; // to be copied
    meshes: RigidMesh[]; // to be drawn by the hundred
    isRigid: boolean; // no skeleton
    clips: THREE.AnimationClip[];
    low: [number, number, number];
    high: [number, number, number];
    triangles: number;
}

// The part of a document that is looked at here.
interface Document {
    buffers?: { uri?: string }[];
    images?: { uri?: string; bufferView?: number; mimeType?: string }[];
    materials?: Record<string, unknown>[];
}

// What the loader calls for each file, replaced by ours.
interface Inside {
    json: Document;
    loadBuffer: (at: number) => Promise<ArrayBuffer>;
    loadImageSource: (at: number) => Promise<THREE.Texture>;
    sourceCache: Record<number, Promise<THREE.Texture>>;
    getDependency: (kind: 'bufferView', at: number) => Promise<ArrayBuffer>;
}

function decodeData(uri: string): ArrayBuffer {
    const text = atob(uri.slice(uri.indexOf(',') + 1));
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer;
}

// A file beside the model, as the build resolved it.
async function fileOf(assets: Assets, model: Asset, uri: string): Promise<ArrayBuffer> {
    if (uri.startsWith('data:')) {
        return decodeData(uri);
    }
    const { pathname } = new URL(uri, `http://place/${model.path}`);
    const path = decodeURIComponent(pathname.slice(1));
    const asset = assets.list.value?.find((each) => each.path === path);
    if (asset === undefined) {
        throw new Error(`there is no ${path}`);
    }
    return (await assets.bytes(asset)).buffer;
}

// Only what is drawn is fetched and decoded.
function forget(json: Document): void {
    for (const material of json.materials ?? []) {
        delete material.normalTexture;
        delete material.occlusionTexture;
        delete (material.pbrMetallicRoughness as Record<string, unknown> | undefined)
            ?.metallicRoughnessTexture;
        const unlit = (material.extensions as Record<string, unknown> | undefined)
            ?.KHR_materials_unlit;
        material.extensions = unlit === undefined ? {} : { KHR_materials_unlit: unlit };
    }
}

// What went wrong with a picture, which the loader would pass over.
interface Pictures {
    bytes: number;
    failure: unknown;
    images: ImageBitmap[];
}

function takeOver(parser: GLTFParser, assets: Assets, asset: Asset, pictures: Pictures): void {
    const inside = parser as unknown as Inside;
    const body = inside.loadBuffer.bind(parser);
    forget(inside.json);
    if ((inside.json.images?.length ?? 0) > MODEL_PICTURES_MAX) {
        throw new Error(laterWords.model.manyPictures(MODEL_PICTURES_MAX));
    }
    inside.loadBuffer = (at) => {
        const uri = inside.json.buffers?.[at]?.uri;
        return uri === undefined ? body(at) : fileOf(assets, asset, uri);
    };
    const decode = async (at: number): Promise<THREE.Texture> => {
        const image = inside.json.images?.[at];
        const bytes = image?.bufferView !== undefined
            ? await inside.getDependency('bufferView', image.bufferView)
            : await fileOf(assets, asset, image?.uri ?? '');
        const bitmap = await decodePicture(bytes, image?.mimeType ?? '', false);
        pictures.images.push(bitmap);
        pictures.bytes += pictureBytes(bitmap.width, bitmap.height);
        const texture = new THREE.Texture(bitmap);
        texture.needsUpdate = true;
        return texture;
    };
    inside.loadImageSource = (at) => {
        inside.sourceCache[at] ??= decode(at).catch((error: unknown) => {
            pictures.failure ??= error;
            throw error;
        });
        return inside.sourceCache[at].then((texture) => texture.clone());
    };
}

// The world's own light, in place of a physical one.
function plainMaterial(from: THREE.Material): THREE.Material {
    if (!(from instanceof THREE.MeshStandardMaterial)) {
        return from;
    }
    const { color, map, emissive, emissiveMap, emissiveIntensity, vertexColors, transparent, opacity,
        alphaTest, side, depthWrite, flatShading } = from;
    from.dispose();
    return new THREE.MeshLambertMaterial({
        color, map, emissive, emissiveMap, emissiveIntensity, vertexColors, transparent, opacity,
        alphaTest, side, depthWrite, flatShading,
    });
}

const trianglesOf = ({ index, attributes }: THREE.BufferGeometry): number =>
    Math.floor((index?.count ?? attributes.position?.count ?? 0) / 3);

function geometryBytes({ index, attributes, morphAttributes }: THREE.BufferGeometry): number {
    const all = [index, ...Object.values(attributes), ...Object.values(morphAttributes).flat()];
    return all.reduce((sum, each) => sum + (each?.array.byteLength ?? 0), 0);
}

// Lights and cameras of a file are its author's studio, not part of the world.
function makeModel({ scene, animations }: GLTF): Model {
    const model: Model = {
        root: scene, meshes: [], isRigid: true, clips: animations, low: [0, 0, 0], high: [0, 0, 0],
        triangles: 0,
    };
    const made = new Map<THREE.Material, THREE.Material>();
    const plain = (material: THREE.Material): THREE.Material => {
        const known = made.get(material) ?? plainMaterial(material);
        made.set(material, known);
        return known;
    };
    const others: THREE.Object3D[] = [];
    scene.updateMatrixWorld(true);
    scene.traverse((node) => {
        if (node instanceof THREE.Light || node instanceof THREE.Camera ||
            node instanceof THREE.Line || node instanceof THREE.Points) {
            others.push(node);
        } else if (node instanceof THREE.Mesh) {
            const { geometry } = node as THREE.Mesh;
            const [material] = [node.material as THREE.Material | THREE.Material[]].flat();
            node.material = plain(material ?? new THREE.MeshLambertMaterial());
            model.isRigid &&= !(node instanceof THREE.SkinnedMesh) &&
                !(node instanceof THREE.InstancedMesh) &&
                Object.keys(geometry.morphAttributes).length === 0;
            model.triangles += trianglesOf(geometry);
            model.meshes.push({
                geometry, material: node.material as THREE.Material,
                matrix: node.matrixWorld.clone(),
            });
        }
    });
    others.forEach((node) => node.removeFromParent());
    const box = new THREE.Box3().setFromObject(scene, true);
    model.low = box.min.toArray();
    model.high = box.max.toArray();
    return model;
}

// Throws what its creator can do about it.
function check(model: Model): void {
    const { meshes, triangles, low, high } = model;
    if (meshes.length === 0) {
        throw new Error(laterWords.model.emptyModel);
    }
    if (triangles > MODEL_TRIANGLES_MAX) {
        throw new Error(laterWords.model.manyTriangles(triangles, MODEL_TRIANGLES_MAX));
    }
    if (meshes.length > MODEL_MESHES_MAX) {
        throw new Error(laterWords.model.manyMeshes(meshes.length, MODEL_MESHES_MAX));
    }
    if (![...low, ...high].every((value) => Math.abs(value) < 1e6)) {
        throw new Error(laterWords.model.oddModel);
    }
}

function disposeModel({ meshes }: Model, pictures: Pictures): void {
    for (const { geometry, material } of meshes) {
        geometry.dispose();
        for (const value of Object.values(material)) {
            if (value instanceof THREE.Texture) {
                value.dispose();
            }
        }
        material.dispose();
    }
    pictures.images.forEach((image) => image.close());
}

// A copy that moves by itself.
export class MovedModel {
    readonly object: THREE.Object3D;
    private readonly mixer: THREE.AnimationMixer;
    private readonly clips: readonly THREE.AnimationClip[];
    private action: THREE.AnimationAction | null = null;
    private clip = -1;

    constructor({ root, clips }: Model) {
        this.object = clone(root);
        this.object.matrixAutoUpdate = false;
        this.mixer = new THREE.AnimationMixer(this.object);
        this.clips = clips;
        // Its box is that of the pose it was made in, and it moves.
        this.object.traverse((node) => {
            node.frustumCulled = false;
            node.castShadow = true;
        });
    }

    // Blends into the movement for that pose, if there is one.
    step(pose: Pose, seconds: number): void {
        const clip = clipFor(this.clips.map(({ name }) => name), pose);
        const wanted = clip < 0 ? undefined : this.clips[clip];
        if (clip !== this.clip) {
            this.action?.fadeOut(BLEND_SECONDS);
            this.action = wanted === undefined ? null
                : this.mixer.clipAction(wanted).reset().fadeIn(BLEND_SECONDS).play();
            if (this.action !== null && pose === 'dead') {
                this.action.setLoop(THREE.LoopOnce, 1);
                this.action.clampWhenFinished = true;
            }
            this.clip = clip;
        }
        this.mixer.update(seconds);
    }

    dispose(): void {
        this.mixer.stopAllAction();
        this.mixer.uncacheRoot(this.object);
        this.object.removeFromParent();
        this.object.traverse((node) => {
            if (node instanceof THREE.SkinnedMesh) {
                node.skeleton.dispose();
            }
        });
    }
}

async function parse(assets: Assets, asset: Asset, pictures: Pictures): Promise<GLTF> {
    const { buffer } = await assets.bytes(asset);
    const loader = new GLTFLoader();
    let refusal: unknown = null;
    loader.register((parser) => {
        try {
            takeOver(parser, assets, asset, pictures);
        } catch (error) {
            refusal = error;
        }
        return { name: 'SANDLOT_files' };
    });
    const data = asset.kind === 'gltf' ? new TextDecoder().decode(buffer) : buffer;
    const parsed = await loader.parseAsync(data, '').catch((error: unknown) => {
        throw refusal ?? error;
    });
    if (refusal !== null || pictures.failure !== null) {
        throw refusal ?? pictures.failure;
    }
    return parsed;
}

export async function loadModel(assets: Assets, asset: Asset): Promise<Held<Model>> {
    if (asset.triangles > MODEL_TRIANGLES_MAX) { // known before it is fetched
        throw new Error(laterWords.model.manyTriangles(asset.triangles, MODEL_TRIANGLES_MAX));
    }
    const pictures: Pictures = { bytes: 0, failure: null, images: [] };
    const parsed = await parse(assets, asset, pictures).catch((error: unknown) => {
        throw error instanceof Reported ? error
            : new Error(laterWords.model.modelFailed(error instanceof Error ? error.message : ''));
    });
    const model = makeModel(parsed);
    try {
        check(model);
    } catch (error) {
        disposeModel(model, pictures);
        throw error;
    }
    const geometries = new Set(model.meshes.map(({ geometry }) => geometry));
    const bytes = [...geometries].reduce((sum, each) => sum + geometryBytes(each), pictures.bytes);
    return { value: model, bytes, dispose: () => disposeModel(model, pictures) };
}

// The picture: sky, light, fog, terrain, parts, bodies, small effects, and the camera.
import * as THREE from 'three';

import type { Part, Place } from '../core/bridge.ts';
import type { Frame, Rays } from '../core/channel.ts';
import { BodiesView } from './bodies.ts';
import type { Person } from './people.ts';
import { ShapesView } from './shapes.ts';
import { TerrainView } from './terrain.ts';

const SKY_HIGH = 0x4f9bd8;
const SKY_LOW = 0xcfe6f2;
const EYE = 0.9; // of a body's height
const BEHIND_M = 4.5;
const PUFF_SECONDS = 0.35;
const ABOVE_M = 60; // how far away what scripts show above entities is seen

export interface Aim {
    point: [number, number, number];
    normal: [number, number, number];
    distance: number; // from the eye
}

interface Puff {
    mesh: THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial>;
    age: number;
}

export class View {
    readonly terrain = new TerrainView();
    readonly shapes = new ShapesView();
    readonly bodies = new BodiesView();
    thirdPerson = true;
    private readonly renderer: THREE.WebGLRenderer;
    private readonly scene = new THREE.Scene();
    private readonly camera = new THREE.PerspectiveCamera(70, 1, 0.08, 600);
    private readonly sky: THREE.Mesh;
    private readonly eye = new THREE.Vector3();
    private readonly forward = new THREE.Vector3(0, 0, 1);
    private yaw = 0;
    private aimed: Float64Array | null = null;
    private puffs: Puff[] = [];
    private height = 1.8;

    constructor(canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        this.sky = makeSky();
        const sun = new THREE.DirectionalLight(0xfff1d6, 2);
        sun.position.set(-0.45, 0.8, -0.55);
        this.scene.add(this.sky, sun, new THREE.HemisphereLight(0xe6f2ff, 0x9a8a68, 2),
            this.terrain.group, this.shapes.group, this.bodies.group);
        this.scene.fog = new THREE.Fog(SKY_LOW, 60, 140);
        this.resize();
    }

    resize(): void {
        const { clientWidth, clientHeight } = this.renderer.domElement;
        this.renderer.setSize(clientWidth, clientHeight, false);
        this.camera.aspect = clientWidth / Math.max(clientHeight, 1);
        this.camera.updateProjectionMatrix();
    }

    reset(place: Place, parts: readonly Part[]): void {
        this.height = place.height;
        this.scene.fog = new THREE.Fog(SKY_LOW, place.viewRadius * 0.7, place.viewRadius * 1.7);
        this.terrain.reset(place);
        this.shapes.reset(place, parts);
        this.bodies.reset(place);
    }

    // A small cloud where something was hit.
    puff(x: number, y: number, z: number): void {
        const mesh = new THREE.Mesh(new THREE.SphereGeometry(0.12, 8, 6),
            new THREE.MeshBasicMaterial({ color: 0xf6efe0, transparent: true, opacity: 0.9 }));
        mesh.position.set(x, y, z);
        this.scene.add(mesh);
        this.puffs.push({ mesh, age: 0 });
    }

    draw(frame: Frame, yaw: number, pitch: number, people: ReadonlyMap<number, Person>,
        seconds: number): void {
        const ownId = frame.own[1] ?? 0;
        this.shapes.update(frame.shapes, frame.hidden);
        this.bodies.update(frame.movers, ownId, people, seconds);
        this.bodies.updateOwn(frame.own, this.thirdPerson, people.get(ownId), seconds);
        this.puffs = this.puffs.filter((puff) => this.agePuff(puff, seconds));
        if (frame.own[0] === 1) {
            const [, , x = 0, y = 0, z = 0] = frame.own;
            this.eye.set(x, y + this.height * EYE, z);
        }
        this.forward.set(Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch),
            Math.cos(yaw) * Math.cos(pitch));
        this.yaw = yaw;
        this.aimed = frame.aim;
        this.placeCamera(frame.free);
        this.sky.position.copy(this.camera.position);
        this.renderer.render(this.scene, this.camera);
    }

    // Where something above that entity stands on the screen, in pixels; null: not in sight.
    above(entity: number): [number, number] | null {
        const at = this.bodies.top(entity) ?? this.shapes.top(entity);
        if (at === null || at.distanceTo(this.camera.position) > ABOVE_M) {
            return null;
        }
        const { x, y, z } = at.project(this.camera);
        const { clientWidth, clientHeight } = this.renderer.domElement;
        return z > 1 || Math.abs(x) > 1.1 || Math.abs(y) > 1.1 ? null
            : [(x + 1) / 2 * clientWidth, (1 - y) / 2 * clientHeight];
    }

    // Where the camera is and looks, six numbers, for scripts.
    cameraNumbers(): number[] {
        const { x, y, z } = this.camera.position;
        return [x, y, z, this.forward.x, this.forward.y, this.forward.z];
    }

    // What the core is asked with each picture: how far back the camera can go, what is looked at.
    rays(reach: number): Rays {
        const from = this.eye.toArray();
        const way = this.backWay();
        return {
            back: this.thirdPerson
                ? { from, to: way.clone().normalize().toArray(), distance: way.length() + 0.3 } : null,
            aim: reach > 0 ? { from, to: this.forward.toArray(), distance: reach } : null,
        };
    }

    // What was in the middle of the last picture, within reach.
    aim(): Aim | null {
        if (this.aimed === null) {
            return null;
        }
        const [distance = 0, x = 0, y = 0, z = 0, nx = 0, ny = 0, nz = 0] = this.aimed;
        return { point: [x, y, z], normal: [nx, ny, nz], distance };
    }

    // From the eye over the right shoulder.
    private backWay(): THREE.Vector3 {
        const side = new THREE.Vector3(-Math.cos(this.yaw) * 0.55, 0.35, Math.sin(this.yaw) * 0.55);
        return this.forward.clone().multiplyScalar(-BEHIND_M).add(side);
    }

    // No further back than what is in the way allows.
    private placeCamera(free: number): void {
        this.camera.position.copy(this.eye);
        if (this.thirdPerson) {
            const way = this.backWay();
            const distance = Math.min(way.length(), Math.max(free - 0.3, 0.2));
            this.camera.position.addScaledVector(way.normalize(), distance);
        }
        this.camera.lookAt(this.camera.position.clone().add(this.forward));
    }

    private agePuff(puff: Puff, seconds: number): boolean {
        puff.age += seconds;
        const part = puff.age / PUFF_SECONDS;
        puff.mesh.scale.setScalar(1 + part * 3);
        puff.mesh.material.opacity = 0.9 * (1 - part);
        if (part < 1) {
            return true;
        }
        this.scene.remove(puff.mesh);
        puff.mesh.geometry.dispose();
        puff.mesh.material.dispose();
        return false;
    }
}

// A dome whose colour falls from the zenith to the haze that the fog fades into.
function makeSky(): THREE.Mesh {
    const geometry = new THREE.SphereGeometry(500, 24, 16);
    const high = new THREE.Color(SKY_HIGH);
    const low = new THREE.Color(SKY_LOW);
    const position = geometry.getAttribute('position');
    const colours: number[] = [];
    for (let i = 0; i < position.count; i++) {
        const up = Math.max(0, Math.min(1, position.getY(i) / 300));
        colours.push(...low.clone().lerp(high, Math.sqrt(up)).toArray());
    }
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(colours, 3));
    const sky = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({
        vertexColors: true, side: THREE.BackSide, fog: false, depthWrite: false,
    }));
    sky.renderOrder = -1;
    sky.frustumCulled = false;
    return sky;
}

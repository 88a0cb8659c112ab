// The picture: everything that is drawn, and with it the camera.
import * as THREE from 'three';

import type { Part, Place } from '../core/bridge.ts';
import type { Frame, Rays } from '../core/channel.ts';
import { BodiesView } from './bodies.ts';
import { CameraRig } from './camera.ts';
import { Dress } from './dress.ts';
import type { EffectCounts, EffectsView } from './effects.ts';
import { LabelsView } from './labels.ts';
import type { Person } from './people.ts';
import { qualityOf, type Level, type Quality } from './quality.ts';
import type { Files } from './screen/picture.tsx';
import { settings } from './settings.ts';
import { FlashGuard, LARGE_SHARE } from './flash.ts';
import { Paints, type Light } from './paints.ts';
import { ShapesView } from './shapes.ts';
import { SkyView } from './sky.ts';
import { Sun } from './sun.ts';
import { TerrainView } from './terrain.ts';

const EYE = 0.9; // of a body's height
const INSIDE_M = 1.1; // nearer than that the camera is in the own head
const SHADOW_EVERY = 2; // pictures: casting shadows is a third of the work, and nobody sees the delay
const PUFF_SECONDS = 0.35;
const REACH = 1.7; // of the radius in which others are seen: so far the ground is
const ABOVE_M = 60; // how far away what scripts show above entities is seen

const ball = new THREE.Sphere();
const matrix = new THREE.Matrix4();
const forward = new THREE.Vector3();

const MOMENT_ROW = 11; // numbers of a row of clientMoments

export interface Aim {
    point: [number, number, number];
    normal: [number, number, number];
    distance: number; // from the eye
}

// What the last picture took of the graphics card, shadows included.
export interface Drawn {
    calls: number;
    triangles: number;
}

// For tests and the console: the sky, effects and the camera, as they are drawn.
export interface Scenery {
    hour: number;
    weather: number;
    daylight: number; // 0 to 1
    effects: EffectCounts | null; // null: not here yet
    cameraMode: string;
    camera: number[]; // where it is, where it looks
    field: number; // of view, degrees
    shake: number;
}

interface Puff {
    mesh: THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial>;
    age: number;
}

// There is no WebGL here.
export class CannotDraw extends Error {}

export class View {
    readonly terrain = new TerrainView();
    readonly paints = new Paints();
    readonly shapes: ShapesView;
    readonly bodies: BodiesView;
    private readonly dress: Dress;
    readonly sky = new SkyView();
    private effects: EffectsView | null = null; // fetched with the first picture
    private hasAskedEffects = false;
    readonly guard = new FlashGuard(); // for everything that scripts show
    clock = 0; // seconds that were drawn, which the guard counts by
    private readonly light: Light = {
        mayFlash: (ids) => this.shareOf(ids) < LARGE_SHARE || this.guard.allow(this.clock),
        unpainted: (id) => this.shapes.unpainted(id),
    };
    ownCamera: 'first' | 'third' = 'third'; // as the player has chosen
    private readonly renderer: THREE.WebGLRenderer;
    private readonly scene = new THREE.Scene();
    private readonly rig = new CameraRig();
    private readonly camera = this.rig.camera;
    private readonly sun: Sun;
    private readonly labels = new LabelsView();
    private readonly frustum = new THREE.Frustum();
    private quality: Quality = { ...qualityOf(1) }; // none yet
    private sight = 96; // the place's
    private pictures = 0;
    private aimed: Float64Array | null = null;
    private puffs: Puff[] = [];
    private height = 1.8;

    constructor(canvas: HTMLCanvasElement, files: Files) {
        this.dress = new Dress(files, (ids) => this.shapes.again(ids));
        this.shapes = new ShapesView(this.paints, this.dress);
        this.bodies = new BodiesView(this.paints, this.dress);
        try {
            this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        } catch (error) {
            throw new CannotDraw(String(error));
        }
        this.renderer.info.autoReset = false; // it would forget what casting shadows took
        this.renderer.toneMapping = THREE.CustomToneMapping; // in sun.ts
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.autoUpdate = false; // draw does
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.sun = new Sun(this.scene);
        this.scene.add(this.sky.group, this.terrain.group, this.shapes.group, this.dress.group,
            this.bodies.group, this.labels.mesh);
        this.scene.fog = this.sky.fog;
        this.setQuality(1);
    }

    setQuality(level: Level): void {
        if (this.quality === qualityOf(level)) {
            return;
        }
        this.quality = qualityOf(level);
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.quality.pixelRatio));
        this.sun.setShadow(this.quality.shadowPixels);
        this.bodies.hasShades = this.quality.shadowPixels === 0;
        this.sky.particles = this.quality.particles;
        if (this.effects !== null) {
            this.effects.share = this.quality.particles;
        }
        this.resize();
    }

    // How far away things are drawn.
    private reach(): number {
        return this.sight * REACH * this.quality.distance;
    }

    resize(): void {
        const { clientWidth, clientHeight } = this.renderer.domElement;
        this.renderer.setSize(clientWidth, clientHeight, false);
        this.camera.aspect = clientWidth / Math.max(clientHeight, 1);
        this.camera.updateProjectionMatrix();
    }

    reset(place: Place, parts: readonly Part[]): void {
        this.height = place.height;
        this.dress.clear();
        this.sight = place.viewRadius;
        this.sky.reset();
        this.effects?.reset();
        this.terrain.reset(place);
        this.paints.reset(place.materials);
        this.shapes.reset(place, parts);
        this.bodies.reset(place);
    }

    // Something else to draw; it is taken away by removeFromParent.
    attach(object: THREE.Object3D): void {
        this.scene.add(object);
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
        this.rig.want(frame.cameraWanted, this.ownCamera);
        if (frame.own[0] === 1) {
            const [, , x = 0, y = 0, z = 0] = frame.own;
            this.rig.eye.set(x, y + this.height * EYE, z);
        }
        this.rig.look(yaw, pitch);
        this.rig.place(frame.free, seconds);
        this.aimed = frame.aim;
        this.update(frame, people, seconds);
        this.renderer.info.reset();
        this.pictures += 1;
        this.renderer.shadowMap.needsUpdate = this.pictures % SHADOW_EVERY === 0;
        this.renderer.render(this.scene, this.camera);
    }

    // Everything that is drawn, as it is seen from the camera.
    private update(frame: Frame, people: ReadonlyMap<number, Person>, seconds: number): void {
        const ownId = frame.own[1] ?? 0;
        const eye = this.camera.position;
        const reach = this.reach();
        this.frustum.setFromProjectionMatrix(matrix.multiplyMatrices(
            this.camera.projectionMatrix, this.camera.matrixWorldInverse));
        this.terrain.update(eye, reach, seconds);
        this.clock += seconds;
        this.shapes.repaint(frame.paints !== null ? this.paints.update(frame.paints, this.light)
            : this.paints.settle(this.light));
        this.shapes.update(frame.shapes, frame.hidden);
        this.shapes.cull(eye, reach);
        const sight = { eye, frustum: this.frustum, reach };
        this.bodies.update(frame.movers, ownId, people, sight, seconds);
        const isOutside = this.rig.mode !== 'first' && eye.distanceTo(this.rig.eye) > INSIDE_M;
        this.bodies.updateOwn(frame.own, isOutside, people.get(ownId), sight, seconds);
        this.dress.finish(sight, seconds);
        this.labels.update(this.bodies.labels, this.renderer, this.camera,
            { most: this.quality.labels, reach: reach * 0.8, scale: settings.value.textSize });
        this.puffs = this.puffs.filter((puff) => this.agePuff(puff, seconds));
        this.updateSky(frame, reach, seconds);
    }

    drawn(): Drawn {
        const { calls, triangles } = this.renderer.info.render;
        return { calls, triangles };
    }

    // Rows of clientMoments: what scripts here showed once.
    show(moments: Float64Array): void {
        for (let at = 0; at + MOMENT_ROW <= moments.length; at += MOMENT_ROW) {
            const [kind = 0, effect = 0, colour = 0, size = 1, seconds = 1, x = 0, y = 0, z = 0] =
                moments.subarray(at, at + MOMENT_ROW);
            if (kind === 0) {
                this.effects?.burst(effect, x, y, z, colour, size);
            } else if (kind === 1) {
                this.effects?.beam([x, y, z], moments.subarray(at + 8, at + 11), colour, size, seconds);
            } else {
                this.rig.shakeBy(size, seconds);
            }
        }
    }

    // The same from the server, an event `script.effect`.
    effect(payload: Record<string, unknown>): void {
        const [x = 0, y = 0, z = 0] = payload.p as number[] | undefined ?? [];
        const colour = Number(payload.colour ?? 0);
        const size = Number(payload.size ?? 0);
        if (payload.beam === 1) {
            this.effects?.beam([x, y, z], payload.to as number[] | undefined ?? [], colour, size,
                Number(payload.seconds ?? 0.3));
        } else {
            this.effects?.burst(Number(payload.effect ?? 0), x, y, z, colour, size);
        }
    }

    scenery(): Scenery {
        return {
            hour: this.sky.hour, weather: this.sky.weather, daylight: this.sky.level(),
            effects: this.effects?.counts() ?? null, cameraMode: this.rig.mode, camera: this.cameraNumbers(),
            field: this.camera.fov, shake: this.rig.shake,
        };
    }

    // Where the sky is, what falls from it and lights the world, and what burns under it.
    private updateSky(frame: Frame, reach: number, seconds: number): void {
        const eye = this.camera.position;
        const { sky } = this;
        sky.sight = reach * 0.97;
        sky.update(frame.sky, eye, seconds);
        this.sun.set(sky.daylight);
        this.sun.follow(eye, this.rig.forward);
        this.terrain.light(sky.top, sky.horizon, sky.daylight.direction, sky.daylight.sun);
        this.effects?.update(frame.visuals, eye, sky.fog, sky.level(), seconds);
        if (!this.hasAskedEffects) {
            this.hasAskedEffects = true;
            void this.loadEffects().catch(() => { this.hasAskedEffects = false; });
        }
    }

    // How much of the picture these things fill at most, roughly.
    private shareOf(ids: readonly number[]): number {
        const { fov, aspect, position } = this.camera;
        const high = 2 * Math.tan(fov * Math.PI / 360);
        let share = 0;
        for (const id of ids) {
            if (this.shapes.ball(id, ball) && this.frustum.intersectsSphere(ball)) {
                const wide = ball.radius * 2 / Math.max(position.distanceTo(ball.center) - ball.radius, 0.1);
                share += Math.min(wide * wide / (high * high * aspect), 1);
            }
        }
        return share;
    }

    private async loadEffects(): Promise<void> {
        const loaded = await import('./effects.ts');
        this.effects = new loaded.EffectsView(this.guard, this.clock);
        this.effects.share = this.quality.particles;
        this.scene.add(this.effects.group);
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
        const way = this.camera.getWorldDirection(forward);
        return [x, y, z, way.x, way.y, way.z];
    }

    // What the core is asked with each picture: how far back the camera can go, what is looked at.
    rays(reach: number): Rays {
        return {
            back: this.rig.ray(),
            aim: reach > 0
                ? { from: this.aimFrom(), to: this.rig.forward.toArray(), distance: reach } : null,
        };
    }

    // The point beside the eye that the middle of the picture goes through: what is aimed at lies
    // under the cross, also from behind. Where a script has put the camera elsewhere, it is the eye.
    private aimFrom(): [number, number, number] {
        if (this.rig.mode === 'top' || this.rig.mode === 'fixed') {
            return this.rig.eye.toArray();
        }
        const ahead = this.rig.eye.clone().sub(this.camera.position).dot(this.rig.forward);
        return this.camera.position.clone().addScaledVector(this.rig.forward, Math.max(ahead, 0)).toArray();
    }

    // What was in the middle of the last picture, within reach.
    aim(): Aim | null {
        if (this.aimed === null) {
            return null;
        }
        const [distance = 0, x = 0, y = 0, z = 0, nx = 0, ny = 0, nz = 0] = this.aimed;
        return { point: [x, y, z], normal: [nx, ny, nz], distance };
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

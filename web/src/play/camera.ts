// The camera: first person, over the shoulder, from above, or fixed, as the player chose or a script wants
// it. The core says how far it can go before something is in the way. Shaking is left out for people who
// asked their device for less motion, and a camera that would glide is then there at once.
import * as THREE from 'three';

import type { Ray } from '../core/bridge.ts';

export type CameraMode = 'first' | 'third' | 'top' | 'fixed';

const MODES = ['own', 'first', 'third', 'top', 'fixed'] as const; // by the numbers of clientCameraWanted
const BEHIND_M = 4.5;
const ABOVE_M = 18;
const MARGIN_M = 0.3; // between the camera and what is in the way
const SHAKE_M = 0.22;
export const FIELD_NORMAL = 70;

const still = matchMedia('(prefers-reduced-motion: reduce)');
export const wantsLessMotion = (): boolean => still.matches;

export class CameraRig {
    readonly camera = new THREE.PerspectiveCamera(FIELD_NORMAL, 1, 0.08, 600);
    readonly eye = new THREE.Vector3(); // the player's
    readonly forward = new THREE.Vector3(0, 0, 1); // where the player looks
    mode: CameraMode = 'third';
    shake = 0; // how much, in metres, in the last picture
    private yaw = 0;
    private version = -1;
    private strength = 0;
    private shakeLeft = 0;
    private shakeSeconds = 1;
    private time = 0;
    private glide = 1; // from 0 to 1: how far it has come
    private glideSeconds = 0;
    private looks = false; // at the target
    private readonly from = new THREE.Vector3();
    private readonly goal = new THREE.Vector3();
    private readonly fromTarget = new THREE.Vector3();
    private readonly target = new THREE.Vector3();
    private readonly way = new THREE.Vector3();
    private readonly spot = new THREE.Vector3();

    look(yaw: number, pitch: number): void {
        this.yaw = yaw;
        this.forward.set(Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch),
            Math.cos(yaw) * Math.cos(pitch));
    }

    // What scripts want, a row of clientCameraWanted; otherwise what the player has chosen.
    want(row: Float64Array, own: 'first' | 'third'): void {
        const wanted = MODES[row[1] ?? 0] ?? 'own';
        this.mode = wanted === 'own' ? own : wanted;
        const field = row[11] ?? FIELD_NORMAL;
        if (this.camera.fov !== field) {
            this.camera.fov = field;
            this.camera.updateProjectionMatrix();
        }
        if (row[0] !== this.version) {
            this.version = row[0] ?? 0;
            this.begin(row);
        }
    }

    shakeBy(strength: number, seconds: number): void {
        this.strength = strength;
        this.shakeSeconds = Math.max(seconds, 0.01);
        this.shakeLeft = seconds;
    }

    // What is asked of the core: how far the camera can go. Null: nothing.
    ray(): Ray | null {
        if (this.mode !== 'third' && this.mode !== 'top') {
            return null;
        }
        const way = this.backWay();
        const distance = way.length() + MARGIN_M;
        return { from: this.eye.toArray(), to: way.normalize().toArray(), distance };
    }

    // `free` is how far the ray went.
    place(free: number, seconds: number): void {
        const { camera, spot } = this;
        this.time += seconds;
        if (this.mode === 'fixed') {
            this.placeFixed(seconds);
        } else {
            camera.up.set(0, 1, 0);
            camera.position.copy(this.eye);
            if (this.mode !== 'first') {
                const way = this.backWay();
                const distance = Math.min(way.length(), Math.max(free - MARGIN_M, 0.2));
                camera.position.addScaledVector(way.normalize(), distance);
            }
            if (this.mode === 'top') { // what is ahead of the player is up in the picture
                camera.up.set(Math.sin(this.yaw), 0, Math.cos(this.yaw));
                spot.copy(camera.position).setY(camera.position.y - 1);
            } else {
                spot.copy(camera.position).add(this.forward);
            }
            camera.lookAt(spot);
        }
        this.tremble(seconds);
        camera.updateMatrixWorld();
    }

    private begin(row: Float64Array): void {
        if (this.mode !== 'fixed') {
            return;
        }
        this.from.copy(this.camera.position);
        this.goal.copy(this.camera.position);
        this.looks = row[6] === 1;
        if (row[2] === 1) {
            this.goal.set(row[3] ?? 0, row[4] ?? 0, row[5] ?? 0);
        }
        this.camera.getWorldDirection(this.fromTarget).add(this.camera.position);
        this.target.set(row[7] ?? 0, row[8] ?? 0, row[9] ?? 0);
        this.glideSeconds = wantsLessMotion() ? 0 : row[10] ?? 0;
        this.glide = 0;
    }

    private placeFixed(seconds: number): void {
        const { camera, spot } = this;
        this.glide = this.glideSeconds > 0 ? Math.min(this.glide + seconds / this.glideSeconds, 1) : 1;
        const part = this.glide * this.glide * (3 - 2 * this.glide);
        camera.up.set(0, 1, 0);
        camera.position.lerpVectors(this.from, this.goal, part);
        spot.copy(camera.position).add(this.forward);
        if (this.looks) {
            spot.lerpVectors(this.fromTarget, this.target, part);
        }
        if (Math.hypot(spot.x - camera.position.x, spot.z - camera.position.z) < 1e-3) {
            camera.up.set(0, 0, 1); // straight down or up
        }
        camera.lookAt(spot);
    }

    private tremble(seconds: number): void {
        this.shakeLeft = Math.max(0, this.shakeLeft - seconds);
        this.shake = wantsLessMotion() ? 0
            : this.strength * SHAKE_M * this.shakeLeft / this.shakeSeconds;
        if (this.shake > 0) {
            const { time } = this;
            this.camera.translateX(Math.sin(time * 61) * this.shake);
            this.camera.translateY(Math.sin(time * 47 + 1) * this.shake);
            this.camera.rotateZ(Math.sin(time * 53 + 2) * this.shake * 0.12);
        }
    }

    // Over the right shoulder, or straight up.
    private backWay(): THREE.Vector3 {
        if (this.mode === 'top') {
            return this.way.set(0, ABOVE_M, 0);
        }
        return this.way.set(-Math.cos(this.yaw) * 0.55, 0.35, Math.sin(this.yaw) * 0.55)
            .addScaledVector(this.forward, -BEHIND_M);
    }
}

// The camera of the Studio: around a point (orbit), or as one flies. A mouse turns it with the right button
// and moves it with the middle one; fingers turn it with one and move and zoom with two.
import * as THREE from 'three';

import type { Triple } from '../document.ts';

const UP = new THREE.Vector3(0, 1, 0);
const PITCH_MOST = Math.PI / 2 - 0.01;
const TURN = 0.005; // radians a pixel
const FLY_M_A_SECOND = 12;
const NEAR_M = 0.4;
const FAR_M = 2000;
const FIRST_YAW = 0.7;
const FIRST_PITCH = -0.5;

const right = new THREE.Vector3();
const up = new THREE.Vector3();
const forward = new THREE.Vector3();

export class EditorCamera {
    readonly camera = new THREE.PerspectiveCamera(55, 1, 0.1, 4000);
    readonly target = new THREE.Vector3();
    private distance = 24;
    private yaw = FIRST_YAW;
    private pitch = FIRST_PITCH;
    readonly keys = new Set<string>(); // that are held, while one flies
    turns = 0; // how often a person has moved it; the page itself looks at things by focus() and level()

    constructor() {
        this.place();
    }

    private place(): void {
        this.direction(forward);
        this.camera.position.copy(this.target).addScaledVector(forward, -this.distance);
        this.camera.lookAt(this.target);
        this.camera.updateMatrixWorld();
    }

    private direction(out: THREE.Vector3): THREE.Vector3 {
        return out.set(Math.sin(this.yaw) * Math.cos(this.pitch), Math.sin(this.pitch),
            -Math.cos(this.yaw) * Math.cos(this.pitch));
    }

    // Around the point that is looked at.
    orbit(dx: number, dy: number): void {
        this.turns++;
        this.yaw += dx * TURN;
        this.pitch = THREE.MathUtils.clamp(this.pitch - dy * TURN, -PITCH_MOST, PITCH_MOST);
        this.place();
    }

    // Around the eye.
    look(dx: number, dy: number): void {
        this.turns++;
        const eye = this.camera.position.clone();
        this.yaw += dx * TURN;
        this.pitch = THREE.MathUtils.clamp(this.pitch - dy * TURN, -PITCH_MOST, PITCH_MOST);
        this.target.copy(eye).addScaledVector(this.direction(forward), this.distance);
        this.place();
    }

    pan(dx: number, dy: number, height: number): void {
        this.turns++;
        const scale = 2 * this.distance * Math.tan(this.camera.fov * Math.PI / 360) / Math.max(height, 1);
        this.direction(forward);
        right.crossVectors(forward, UP).normalize();
        up.crossVectors(right, forward);
        this.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
        this.place();
    }

    zoom(by: number): void {
        this.turns++;
        this.distance = THREE.MathUtils.clamp(this.distance * by, NEAR_M, FAR_M);
        this.place();
    }

    // While keys are held. True: it moved, and there is more to come.
    fly(seconds: number): boolean {
        const way = new THREE.Vector3(
            Number(this.keys.has('KeyD')) - Number(this.keys.has('KeyA')),
            Number(this.keys.has('KeyE')) - Number(this.keys.has('KeyQ')),
            Number(this.keys.has('KeyS')) - Number(this.keys.has('KeyW')));
        if (way.lengthSq() === 0) {
            return false;
        }
        this.turns++;
        const speed = FLY_M_A_SECOND * (this.keys.has('ShiftLeft') ? 4 : 1);
        way.normalize().multiplyScalar(speed * Math.min(seconds, 0.1));
        this.target.add(way.applyQuaternion(this.camera.quaternion));
        this.place();
        return true;
    }

    // So that the whole of it is in the picture.
    focus(sphere: THREE.Sphere): void {
        this.target.copy(sphere.center);
        const half = this.camera.fov * Math.PI / 360 * Math.min(1, this.camera.aspect);
        this.distance = THREE.MathUtils.clamp(Math.max(sphere.radius, 1) * 1.25 / Math.sin(half), 2, FAR_M);
        this.place();
    }

    // From above, as in the beginning.
    level(): void {
        this.yaw = FIRST_YAW;
        this.pitch = FIRST_PITCH;
        this.place();
    }

    // Along the axis of the world that is nearest to what is right, up or towards the eye in the picture.
    alongView([x, y, z]: Triple): Triple {
        const turns = Math.round(this.yaw / (Math.PI / 2));
        const [cos, sin] = [Math.round(Math.cos(turns * Math.PI / 2)), Math.round(Math.sin(turns * Math.PI / 2))];
        return [x * cos - z * sin, y, x * sin + z * cos];
    }

    resize(width: number, height: number): void {
        this.camera.aspect = width / Math.max(height, 1);
        this.camera.updateProjectionMatrix();
    }
}

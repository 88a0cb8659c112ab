// Light from the sun and the sky, and the shadows of what is near. One map of shadows follows the camera;
// it moves in steps of its own pixels, so that the edges of shadows do not crawl.
import * as THREE from 'three';

import type { Daylight } from './sky.ts';

export const SHADOW_M = 44; // from the camera, in every direction
const DEPTH_M = 160;

// Colours stay what creators chose; only what is brighter than most is bent, so that nothing burns out.
THREE.ShaderChunk.tonemapping_pars_fragment = THREE.ShaderChunk.tonemapping_pars_fragment.replace(
    'vec3 CustomToneMapping( vec3 color ) { return color; }', /* glsl */`
vec3 CustomToneMapping( vec3 color ) {
    vec3 bright = max( color * toneMappingExposure - 0.7, 0.0 );
    return min( color * toneMappingExposure, 0.7 ) + 0.3 * ( 1.0 - exp( - bright / 0.3 ) );
}`);

const right = new THREE.Vector3();
const up = new THREE.Vector3();
const middle = new THREE.Vector3();
const UP = new THREE.Vector3(0, 1, 0);

export class Sun {
    readonly light = new THREE.DirectionalLight();
    readonly sky = new THREE.HemisphereLight();
    private readonly direction = new THREE.Vector3(0, 1, 0);

    constructor(scene: THREE.Scene) {
        const { shadow } = this.light;
        Object.assign(shadow.camera, {
            left: -SHADOW_M, right: SHADOW_M, top: SHADOW_M, bottom: -SHADOW_M,
            near: 1, far: DEPTH_M,
        });
        shadow.camera.updateProjectionMatrix();
        shadow.bias = -0.0006;
        shadow.normalBias = 0.06;
        scene.add(this.light, this.light.target, this.sky);
    }

    set(daylight: Daylight): void {
        this.direction.copy(daylight.direction);
        this.light.color.copy(daylight.sun);
        this.light.intensity = daylight.sunStrength;
        this.sky.color.copy(daylight.above);
        this.sky.groundColor.copy(daylight.below);
        this.sky.intensity = daylight.skyStrength;
    }

    // 0: no shadows.
    setShadow(pixels: number): void {
        const { shadow } = this.light;
        this.light.castShadow = pixels > 0;
        if (pixels > 0 && shadow.mapSize.x !== pixels) {
            shadow.mapSize.set(pixels, pixels);
            shadow.map?.dispose();
            shadow.map = null;
        }
    }

    // Around what the camera looks at, more ahead of it than behind it.
    follow(eye: THREE.Vector3, forward: THREE.Vector3): void {
        const { direction } = this;
        const step = SHADOW_M * 2 / Math.max(this.light.shadow.mapSize.x, 1);
        middle.copy(forward).setY(0).normalize().multiplyScalar(SHADOW_M * 0.6).add(eye);
        right.crossVectors(UP, direction).normalize();
        up.crossVectors(direction, right);
        const snap = (axis: THREE.Vector3): void => {
            const along = middle.dot(axis);
            middle.addScaledVector(axis, Math.round(along / step) * step - along);
        };
        snap(right);
        snap(up);
        this.light.target.position.copy(middle);
        this.light.position.copy(middle).addScaledVector(direction, DEPTH_M / 2);
    }
}

// How materials look. A part has a material and a colour; the colour wins, the material defines how
// light falls on it and the colour if none was given.
import * as THREE from 'three';

import type { Look } from '../core/bridge.ts';

interface MaterialLook {
    colour: number; // when the part has none
    roughness: number;
    metalness?: number;
    opacity?: number;
    grain: number; // how much the colour varies over the surface, 0..1
}

const MATERIALS: Record<string, MaterialLook> = {
    wood: { colour: 0x9c6b3f, roughness: 0.8, grain: 0.12 },
    stone: { colour: 0x8d8d86, roughness: 0.9, grain: 0.1 },
    sand: { colour: 0xe3d3a0, roughness: 1, grain: 0.06 },
    grass: { colour: 0x5d9c4d, roughness: 1, grain: 0.1 },
    leaf: { colour: 0x4c8f3f, roughness: 0.9, grain: 0.14 },
    straw: { colour: 0xc9b458, roughness: 1, grain: 0.16 },
    metal: { colour: 0x9aa3ab, roughness: 0.35, metalness: 0.7, grain: 0.03 },
    water: { colour: 0x3a86c0, roughness: 0.15, opacity: 0.72, grain: 0 },
    glass: { colour: 0xbfe3ee, roughness: 0.1, opacity: 0.4, grain: 0 },
    plastic: { colour: 0xd0d4da, roughness: 0.5, grain: 0.02 },
};
const PLAIN: MaterialLook = { colour: 0xb9b4a8, roughness: 0.85, grain: 0.05 };

export const materialLook = (name: string): MaterialLook => MATERIALS[name] ?? PLAIN;

export function colourOf(look: Look): number {
    return look.colour !== 0 ? look.colour : materialLook(look.material).colour;
}

const cache = new Map<number, THREE.Material>();

// For things that each have a colour of their own. Lambert, not physical: a software renderer draws
// it too.
export function instanceMaterial(opacity = 1): THREE.Material {
    let made = cache.get(opacity);
    if (made === undefined) {
        made = new THREE.MeshLambertMaterial({
            transparent: opacity < 1, opacity, depthWrite: opacity === 1,
        });
        cache.set(opacity, made);
    }
    return made;
}

// A number of its own for each point of space, 0..1, for grain that stays where it is.
export function noise(x: number, y: number, z: number): number {
    let h = (Math.imul(x, 374761393) + Math.imul(y, 668265263) + Math.imul(z, 2147483647)) | 0;
    h = Math.imul(h ^ (h >>> 13), 1274126177);
    return ((h ^ (h >>> 16)) >>> 0) / 0xffffffff;
}

// How materials look. A part has a material and a colour; the colour wins, the material defines how
// light falls on it and the colour if none was given.
import * as THREE from 'three';

import { DEFAULT_COLOUR, type Look } from '../core/bridge.ts';

interface MaterialLook {
    colour: number; // when the part has none
    roughness: number;
    metalness?: number;
    opacity?: number;
    glow?: number;
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
    brick: { colour: 0xa5533d, roughness: 0.95, grain: 0.14 },
    neon: { colour: 0x39ff9e, roughness: 1, grain: 0, glow: 1 },
    ice: { colour: 0xbfe8ff, roughness: 0.12, opacity: 0.8, grain: 0.02 },
    snow: { colour: 0xf2f7fb, roughness: 1, grain: 0.03 },
    cloth: { colour: 0x8c6f9e, roughness: 1, grain: 0.08 },
};
const PLAIN: MaterialLook = { colour: 0xb9b4a8, roughness: 0.85, grain: 0.05 };
const SHINY_BELOW = 0.6; // roughness
const OPACITY_STEPS = 20; // a material of its own for each
const GLOW_STEPS = 5;

export const materialLook = (name: string): MaterialLook => MATERIALS[name] ?? PLAIN;

export function colourOf(look: Look): number {
    return look.colour !== DEFAULT_COLOUR ? look.colour : materialLook(look.material).colour;
}

// Whether anybody said how it looks.
export const isPainted = ({ colour, material, glow = 0, texture = 0, model = 0 }: Look): boolean =>
    colour !== DEFAULT_COLOUR || (material !== '' && material !== 'plain') || glow + texture + model > 0;

// What can be seen of it at all.
export const isDrawn = (look: Look): boolean =>
    look.visible !== false && (look.transparency ?? 0) < 1;

// How bright it is for the eye, 0..1, in full daylight: enough to tell whether a change is a flash.
export function lightOf(look: Look): number {
    if (!isDrawn(look)) {
        return 0;
    }
    const colour = colourOf(look);
    const grey = (0.2126 * (colour >> 16 & 255) + 0.7152 * (colour >> 8 & 255) +
        0.0722 * (colour & 255)) / 255;
    const glow = Math.max(materialLook(look.material).glow ?? 0, look.glow ?? 0);
    return grey * (1 - (look.transparency ?? 0)) * (0.6 + 0.4 * glow);
}

// Things of one finish are drawn together; only their colours differ.
export interface Finish {
    key: string;
    light: 'rough' | 'shiny' | 'metal';
    opacity: number; // 0..1
    glow: number; // 0..1
}

const step = (value: number, steps: number): number => Math.round(value * steps) / steps;

export function finishOf(look: Look): Finish {
    const { roughness, metalness = 0, opacity = 1, glow = 0 } = materialLook(look.material);
    const light = metalness > 0.3 ? 'metal' : roughness < SHINY_BELOW ? 'shiny' : 'rough';
    const finish = {
        light, opacity: step(opacity * (1 - (look.transparency ?? 0)), OPACITY_STEPS),
        glow: step(Math.max(glow, look.glow ?? 0), GLOW_STEPS),
    } as const;
    return { ...finish, key: `${finish.light} ${finish.opacity} ${finish.glow}` };
}

const cache = new Map<string, THREE.Material>();

// Not physical: a software renderer draws it too. Gloss is a spot of light, on metal in its own colour.
function makeMaterial({ light, opacity, glow }: Finish): THREE.Material {
    const see = { transparent: opacity < 1, opacity, depthWrite: opacity === 1 };
    const made = light === 'rough' ? new THREE.MeshLambertMaterial(see)
        : new THREE.MeshPhongMaterial({
            ...see, shininess: light === 'metal' ? 70 : 45,
            specular: light === 'metal' ? 0xb8c0c8 : 0x555555,
        });
    if (glow > 0) {
        // Each in its own colour, which an instance has, and not in one for all.
        made.onBeforeCompile = (shader) => {
            shader.fragmentShader = shader.fragmentShader.replace('#include <emissivemap_fragment>',
                `#include <emissivemap_fragment>
                totalEmissiveRadiance += diffuseColor.rgb * ${glow.toFixed(2)};`);
        };
        made.customProgramCacheKey = () => `glow ${glow}`;
    }
    return made;
}

export const PLAIN_FINISH: Finish = finishOf({ material: '', colour: 0 });

// For things that each have a colour of their own.
export function instanceMaterial(finish: Finish = PLAIN_FINISH): THREE.Material {
    let made = cache.get(finish.key);
    if (made === undefined) {
        made = makeMaterial(finish);
        cache.set(finish.key, made);
    }
    return made;
}

// A number of its own for each point of space, 0..1, for grain that stays where it is.
export function noise(x: number, y: number, z: number): number {
    let h = (Math.imul(x, 374761393) + Math.imul(y, 668265263) + Math.imul(z, 2147483647)) | 0;
    h = Math.imul(h ^ (h >>> 13), 1274126177);
    return ((h ^ (h >>> 16)) >>> 0) / 0xffffffff;
}

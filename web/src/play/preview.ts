// A character alone, as the game draws it: for choosing its looks.
import * as THREE from 'three';

import { BodiesView } from './bodies.ts';
import { Paints } from './paints.ts';
import type { Person } from './people.ts';

export interface PreviewLook {
    name: string;
    colour_skin: number;
    colour_shirt: number;
    colour_legs: number;
}

export interface Preview {
    show: (look: PreviewLook) => void;
    turn: (radians: number) => void;
    stop: () => void;
}

const BODY = 1; // its number
const HEIGHT_M = 1.8;
const PICTURE_MS = 40;
const TURN_A_SECOND = 0.35; // by itself
const FRONT = 0.5; // as it stands at first, so that one sees that it is round

function personOf(look: PreviewLook): Person {
    return {
        player: BODY, playerId: '', entity: BODY, name: look.name, team: '', shirt: look.colour_shirt,
        skin: look.colour_skin, legs: look.colour_legs, stats: new Map(),
    };
}

// Throws where there is no WebGL.
export function startPreview(canvas: HTMLCanvasElement): Preview {
    const renderer = new THREE.WebGLRenderer({ canvas, alpha: true, antialias: true });
    const scene = new THREE.Scene();
    const camera = new THREE.PerspectiveCamera(30, canvas.width / canvas.height, 0.1, 20);
    const bodies = new BodiesView(new Paints(), { put: () => false, remove: () => {} });
    const sun = new THREE.DirectionalLight(0xfff2dd, 2.2);
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let person: Person | undefined;
    let yaw = FRONT;
    let last = performance.now();
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(canvas.width, canvas.height, false);
    sun.position.set(2, 4, 3);
    scene.add(new THREE.HemisphereLight(0xdfeeff, 0x8a7a5a, 1.6), sun, bodies.group);
    camera.position.set(0, 1.25, 4.3);
    camera.lookAt(0, HEIGHT_M / 2, 0);
    bodies.reset({ radius: 0.4, height: HEIGHT_M });
    bodies.hasShades = true;
    const draw = (): void => {
        const now = performance.now();
        const seconds = Math.min((now - last) / 1000, 0.1);
        last = now;
        if (document.hidden || person === undefined) {
            return;
        }
        yaw += isStill ? 0 : TURN_A_SECOND * seconds;
        camera.updateMatrixWorld();
        const frustum = new THREE.Frustum().setFromProjectionMatrix(
            new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
        bodies.updateOwn(new Float64Array([1, BODY, 0, 0, 0, 0, 0, 0, yaw, 0, 100, 1]), true, person,
            { eye: camera.position, frustum, reach: 50 }, isStill ? 0 : seconds);
        renderer.render(scene, camera);
        canvas.dataset.drawn = 'yes';
    };
    const timer = setInterval(draw, PICTURE_MS);
    return {
        show: (look) => {
            person = personOf(look);
            draw();
        },
        turn: (radians) => {
            yaw += radians;
            draw();
        },
        stop: () => {
            clearInterval(timer);
            renderer.dispose();
        },
    };
}

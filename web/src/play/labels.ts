// Names, team marks and health above heads. All texts are in one texture and drawn by one call; there
// are at most so many as the quality allows, the nearest, and of two at one spot the nearer one. A text is drawn once, into a cell of the
// texture (atlas.ts), and only that cell is uploaded.
import * as THREE from 'three';

import { AtlasCells, MARKS, NO_BOX, freeBoxes, markCorners, nearest, type Box } from './atlas.ts';

export interface Label {
    text: string;
    mark: number; // of MARKS; -1: none
    health: number; // 0..1 shows a bar; below 0: no bar
    x: number;
    y: number; // its lower edge
    z: number;
    distance: number; // squared, from the camera; filled in here
}

const SIDE = 1024; // of the texture
const CELL_W = 256;
const CELL_H = 40;
const COLUMNS = SIDE / CELL_W;
const CELLS = COLUMNS * Math.floor(SIDE / CELL_H);
const NEW_A_PICTURE = 4; // texts drawn and uploaded; the others appear with the next pictures
const FONT_PIXELS = 25;
const FONT_SMALLEST = 15;
const EDGE = 12; // left and right of the text
const MARK_ROOM = 26;
const HEIGHT_SHARE = 0.03; // of the picture's height, however far away
const HEIGHT_PIXELS: [number, number] = [17, 30];
const NUMBERS = 8; // for each label: position, cell, width, health, fading

const VERTEX = /* glsl */`
attribute vec4 spot; // where it stands, and the share of the cell's width that it needs
attribute vec4 look; // the cell's corner, health, opacity
uniform vec2 size;
varying vec2 vPlace;
varying vec2 vCell;
varying vec3 vLook;
void main() {
    gl_Position = projectionMatrix * viewMatrix * vec4(spot.xyz, 1.0);
    gl_Position.xy += position.xy * size * vec2(spot.w, 1.0) * gl_Position.w;
    vPlace = vec2(position.x + 0.5, position.y);
    vCell = look.xy + vPlace * vec2(spot.w * ${(CELL_W / SIDE).toFixed(6)}, ${(CELL_H / SIDE).toFixed(6)});
    vLook = vec3(look.zw, spot.w);
}`;
const FRAGMENT = /* glsl */`
uniform sampler2D atlas;
varying vec2 vPlace;
varying vec2 vCell;
varying vec3 vLook;
void main() {
    vec4 colour = texture2D(atlas, vCell);
    if (vPlace.y < 0.0) { // below the text is the bar of health
        bool isBar = vLook.x >= 0.0 && vPlace.y < -0.08;
        bool isFull = vPlace.x < vLook.x && vPlace.y < -0.14 && vPlace.y > -0.29;
        colour = isFull ? vec4(1.0, 0.62, 0.2, 1.0) : vec4(0.0, 0.0, 0.0, isBar ? 0.6 : 0.0);
    }
    colour.a *= vLook.y;
    if (colour.a < 0.02) {
        discard;
    }
    gl_FragColor = colour;
    #include <colorspace_fragment>
}`;

// A box of 1 × 1 above its point, and room for the bar below it.
const BAR_SHARE = 0.35;
const CORNERS = [-0.5, -BAR_SHARE, 0, 0.5, -BAR_SHARE, 0, 0.5, 1, 0, -0.5, 1, 0];
const spot = new THREE.Vector4();

function drawMark(context: CanvasRenderingContext2D, mark: number): void {
    const { shape, colour } = MARKS[mark] ?? MARKS[0];
    const [x, y, size] = [EDGE + 9, CELL_H / 2, 9];
    context.fillStyle = colour;
    context.strokeStyle = colour;
    context.lineWidth = 4;
    context.beginPath();
    const corners = markCorners(shape);
    corners.forEach(([dx, dy]) => context.lineTo(x + dx * size, y + dy * size));
    if (corners.length === 0) {
        context.arc(x, y, shape === 'ring' ? size - 2 : size, 0, Math.PI * 2);
    }
    if (shape === 'ring') {
        context.stroke();
    } else {
        context.fill();
    }
}

// Draws a text as large as fits; returns the width that it needs.
function drawText(context: CanvasRenderingContext2D, text: string, mark: number): number {
    const left = EDGE + (mark >= 0 ? MARK_ROOM : 0);
    const room = CELL_W - left - EDGE;
    const font = (pixels: number): string => `600 ${pixels}px system-ui, sans-serif`;
    context.clearRect(0, 0, CELL_W, CELL_H);
    context.font = font(FONT_PIXELS);
    const natural = Math.max(context.measureText(text).width, 1);
    context.font = font(Math.max(FONT_SMALLEST, Math.min(1, room / natural) * FONT_PIXELS));
    const wide = Math.min(context.measureText(text).width, room);
    const width = Math.ceil(left + wide + EDGE);
    context.fillStyle = 'rgba(16, 28, 40, 0.62)';
    context.beginPath();
    context.roundRect(0, 0, width, CELL_H, 12);
    context.fill();
    if (mark >= 0) {
        drawMark(context, mark);
    }
    context.fillStyle = '#ffffff';
    context.textBaseline = 'middle';
    context.fillText(text, left, CELL_H / 2 + 1, room); // narrower if even the smallest is too wide
    return width;
}

export class LabelsView {
    readonly mesh: THREE.Mesh;
    private readonly cells = new AtlasCells(CELLS);
    private readonly widths = new Float32Array(CELLS);
    private readonly atlas = new THREE.DataTexture(null, SIDE, SIDE);
    private readonly pen: CanvasRenderingContext2D | null;
    private readonly stamp: THREE.CanvasTexture;
    private readonly size = { value: new THREE.Vector2() };
    private readonly geometry = new THREE.InstancedBufferGeometry();
    private readonly rows = new THREE.InstancedInterleavedBuffer(
        new Float32Array(CELLS * NUMBERS), NUMBERS);
    private isReady = false;

    constructor() {
        const canvas = document.createElement('canvas');
        canvas.width = CELL_W;
        canvas.height = CELL_H;
        this.pen = canvas.getContext('2d', { willReadFrequently: true });
        this.stamp = new THREE.CanvasTexture(canvas);
        for (const texture of [this.stamp, this.atlas]) {
            texture.colorSpace = THREE.SRGBColorSpace;
            texture.minFilter = THREE.LinearFilter;
            texture.magFilter = THREE.LinearFilter;
            texture.generateMipmaps = false;
            texture.flipY = true;
        }
        this.rows.setUsage(THREE.DynamicDrawUsage);
        this.geometry.setIndex([0, 1, 2, 0, 2, 3]);
        this.geometry.setAttribute('position', new THREE.Float32BufferAttribute(CORNERS, 3));
        this.geometry.setAttribute('spot', new THREE.InterleavedBufferAttribute(this.rows, 4, 0));
        this.geometry.setAttribute('look', new THREE.InterleavedBufferAttribute(this.rows, 4, 4));
        this.mesh = new THREE.Mesh(this.geometry, new THREE.ShaderMaterial({
            vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false,
            uniforms: { atlas: { value: this.atlas }, size: this.size },
        }));
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = 3;
        this.mesh.visible = false;
    }

    // Shows the nearest of them. `scale` is the setting of the text size.
    update(all: Label[], renderer: THREE.WebGLRenderer, camera: THREE.Camera,
        { most, reach, scale }: { most: number; reach: number; scale: number }): void {
        const { clientWidth, clientHeight } = renderer.domElement;
        const eye = camera.position;
        const [low, high] = HEIGHT_PIXELS;
        const pixels = Math.max(low, Math.min(high, clientHeight * HEIGHT_SHARE)) * scale;
        this.size.value.set(pixels * CELL_W / CELL_H * 2 / Math.max(clientWidth, 1),
            pixels * 2 / Math.max(clientHeight, 1));
        for (const label of all) {
            label.distance = (label.x - eye.x) ** 2 + (label.y - eye.y) ** 2 + (label.z - eye.z) ** 2;
        }
        const shown = nearest(all, Math.min(most, CELLS), reach);
        this.geometry.instanceCount = this.fill(shown, renderer, camera, reach);
        this.mesh.visible = this.geometry.instanceCount > 0;
        this.rows.needsUpdate = this.mesh.visible;
    }

    // Where it is in the picture, from -1 to 1; behind the camera it covers nothing.
    private box({ x, y, z, health }: Label, cell: number, camera: THREE.Camera): Box {
        spot.set(x, y, z, 1).applyMatrix4(camera.matrixWorldInverse)
            .applyMatrix4(camera.projectionMatrix);
        if (spot.w <= 0) {
            return NO_BOX;
        }
        const { x: width, y: height } = this.size.value;
        const [middle, low] = [spot.x / spot.w, spot.y / spot.w];
        const half = width * (this.widths[cell] ?? 0) / CELL_W / 2;
        return {
            left: middle - half, right: middle + half,
            bottom: low - (health >= 0 ? height * BAR_SHARE : 0), top: low + height,
        };
    }

    // The nearest get their cells first.
    private fill(shown: readonly Label[], renderer: THREE.WebGLRenderer, camera: THREE.Camera,
        reach: number): number {
        let fresh = 0;
        const ready: { label: Label; cell: number }[] = [];
        this.cells.begin();
        for (const label of shown) {
            const text = `${label.mark} ${label.text}`;
            const taken = fresh < NEW_A_PICTURE || this.cells.has(text) ? this.cells.take(text) : null;
            if (taken !== null) {
                ready.push({ label, cell: taken.cell });
                fresh += taken.isNew ? 1 : 0;
                if (taken.isNew) {
                    this.draw(taken.cell, label, renderer);
                }
            }
        }
        const isFree = freeBoxes(ready.map(({ label, cell }) => this.box(label, cell, camera)));
        const free = ready.filter((_, at) => isFree[at]);
        free.forEach(({ label, cell }, at) => this.rows.array.set([
            label.x, label.y, label.z, (this.widths[cell] ?? 0) / CELL_W,
            cell % COLUMNS * CELL_W / SIDE, Math.floor(cell / COLUMNS) * CELL_H / SIDE,
            label.health, Math.min(1, (1 - Math.sqrt(label.distance) / reach) * 4),
        ], at * NUMBERS));
        return free.length;
    }

    private draw(cell: number, { text, mark }: Label, renderer: THREE.WebGLRenderer): void {
        if (this.pen === null) {
            return;
        }
        if (!this.isReady) {
            this.atlas.source.dataReady = false; // it begins empty
            this.atlas.needsUpdate = true;
            renderer.initTexture(this.atlas);
            this.isReady = true;
        }
        this.widths[cell] = drawText(this.pen, text, mark);
        renderer.copyTextureToTexture(this.stamp, this.atlas, null, new THREE.Vector2(
            cell % COLUMNS * CELL_W, Math.floor(cell / COLUMNS) * CELL_H));
    }
}

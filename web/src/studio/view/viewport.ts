// The picture of the place that is edited. It is drawn only when something has changed: the document, what is
// selected, or the camera. A desk with an open Studio costs nothing while nobody touches it.
import { effect } from '@preact/signals';
import * as THREE from 'three';

import { Assets } from '../../play/assets.ts';
import { Budget } from '../../play/budget.ts';
import { Dress } from '../../play/dress.ts';
import { SkyView } from '../../play/sky.ts';
import { Sun } from '../../play/sun.ts';
import { TerrainView } from '../../play/terrain.ts';
import type { Place } from '../../core/bridge.ts';
import { assetList } from '../asset_list.ts';
import { FLAG, type Changes, type DrawRow, type Picked, type Triple } from '../document.ts';
import type { Studio } from '../state.ts';
import { EditorCamera } from './camera.ts';
import { Frames } from './frames.ts';
import { Gizmo } from './gizmo.ts';
import { PartsView, WIDE_M } from './parts.ts';
import { Pointer } from './pointer.ts';

const PIXEL_RATIO_MOST = 2;
const SHADOW_PIXELS = 2048;
const SHADOW_STEP_M = 6;
const SKY_ROW = new Float64Array([10, 0, 0, 0, 0, 0]); // ten in the morning
const REACH_M = 4000;
const GRID_M = 80; // it follows what is looked at
const FIRST_M = 24; // around the first spawn, for the first picture
const FIRST_RADIUS_M = 8; // a place that has only a spawn yet: where its first blocks will stand is seen too
const SIGHT_RAYS = 9; // in each direction, to find out whether there is anything in view
const SIGHT_M = 500;
const LOOK_AGAIN_MS = 300; // a little more than Wanted waits
const SELECTED = 0xffc233;
// Others are told apart by these, in the order of their numbers. None is near the colour of one's own selection.
export const EDITOR_COLOURS = ['#56b4e9', '#ff6fb1', '#33c79a', '#b58cff', '#e0533d', '#8be0e8', '#8fb8ff', '#ffffff'];
export const colourOfEditor = (editor: number): string =>
    EDITOR_COLOURS[(editor - 1 + EDITOR_COLOURS.length) % EDITOR_COLOURS.length] ?? '#ffffff';

const TYPE_NPC = 2;
const TYPE_SPAWN = 3;
const TYPE_GROUP = 4;
const box = new THREE.Box3();
const sphere = new THREE.Sphere();
const turn = new THREE.Quaternion();
const corner = new THREE.Vector3();
const matrix = new THREE.Matrix4();

export interface DrawCost {
    cpuMs: number; // of the last picture
    calls: number;
    triangles: number;
    pictures: number;
    bytes: number; // that pictures and models of the place take, decoded
}

export class Viewport {
    readonly canvas: HTMLCanvasElement;
    readonly rig = new EditorCamera();
    readonly scene = new THREE.Scene();
    readonly assets: Assets;
    readonly parts: PartsView;
    readonly gizmo: Gizmo;
    readonly cost: DrawCost = { cpuMs: 0, calls: 0, triangles: 0, pictures: 0, bytes: 0 };
    readonly studio: Studio;
    private readonly renderer: THREE.WebGLRenderer;
    private readonly budget = new Budget();
    private readonly dress: Dress;
    private readonly frustum = new THREE.Frustum();
    private lookTimer = 0;
    private readonly sky = new SkyView();
    private readonly sun: Sun;
    private readonly terrain = new TerrainView();
    private readonly grid = new THREE.GridHelper(GRID_M, GRID_M, 0x6b7a88, 0x8fa0ae);
    private readonly frames = new Frames(SELECTED);
    private readonly others = new Map<number, Frames>();
    private readonly pointer: Pointer;
    private readonly shadowFrom = new THREE.Vector3(Infinity, 0, 0);
    private isAsked = false;
    private lastMs = 0;
    private readonly ends: (() => void)[] = [];

    constructor(canvas: HTMLCanvasElement, studio: Studio) {
        this.canvas = canvas;
        this.studio = studio;
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.renderer.toneMapping = THREE.CustomToneMapping; // in sun.ts
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.autoUpdate = false;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.renderer.info.autoReset = false;
        this.sun = new Sun(this.scene);
        this.sun.setShadow(SHADOW_PIXELS);
        this.grid.material.transparent = true;
        this.grid.material.opacity = 0.3;
        this.grid.material.depthWrite = false;
        this.assets = new Assets((_, message) => studio.note(message, 'warn'));
        this.dress = new Dress({ assets: this.assets, budget: this.budget }, (ids) => this.again(ids));
        this.parts = new PartsView(this.dress);
        this.gizmo = new Gizmo(this);
        this.scene.add(this.sky.group, this.terrain.group, this.parts.group, this.dress.group, this.grid, this.frames.group,
            this.gizmo.helper);
        this.pointer = new Pointer(this);
        this.follow();
    }

    // Everything that leads to another picture.
    private follow(): void {
        const { studio } = this;
        const { document } = studio;
        const size = new ResizeObserver(() => this.resize());
        size.observe(this.canvas);
        this.ends.push(
            () => size.disconnect(),
            document.on('change', (changes) => this.apply(changes)),
            document.on('files', () => this.giveAssets()),
            document.on('terrain', () => void this.readTerrain()),
            effect(() => {
                this.showSelection(studio.selection.value);
                this.tellPresence();
            }),
            effect(() => {
                this.gizmo.configure(studio.tool.value, studio.space.value, studio.grid.value, studio.angle.value,
                    studio.link.canWrite.value);
                this.request();
            }),
            effect(() => {
                studio.changed.value; // what they have selected may have moved
                this.showOthers([...studio.link.presence.value.values()]);
            }),
        );
        this.giveAssets();
        this.apply({ rows: [...studio.rows.values()], gone: [], order: true });
        void this.readTerrain();
        this.resize();
        this.focus(this.firstSight(), FIRST_RADIUS_M);
    }

    // What stands near a spawn and is no zone; everything in a place without one.
    private firstSight(): number[] {
        const rows = [...this.studio.rows.values()];
        const spawn = rows.find(({ type }) => type === TYPE_SPAWN);
        const near = rows.filter(({ position, half, flags }) => spawn !== undefined &&
            (flags & (FLAG.ghost | FLAG.trigger)) === 0 && Math.max(...half) < FIRST_M &&
            Math.hypot(...position.map((value, i) => value - spawn.position[i]!)) < FIRST_M);
        return (near.length > 0 ? near : rows).map(({ id }) => id);
    }

    // Everything that stands there, but for zones and floors, which may be far larger than what is built.
    lookAtAll(): void {
        const rows = [...this.studio.rows.values()];
        const built = rows.filter(({ half, flags }) => (flags & (FLAG.ghost | FLAG.trigger)) === 0 && Math.max(...half) < FIRST_M);
        this.lookFromAbove((built.length > 0 ? built : rows).map(({ id }) => id));
    }

    private lookFromAbove(ids: readonly number[]): void {
        this.rig.level();
        this.focus(ids, FIRST_RADIUS_M);
        this.studio.lost.value = '';
    }

    // After a flight: whether there is anything to be seen, and whether one is not below the floor.
    checkSight(): void {
        const eye = this.rig.camera.position.toArray();
        const isBelow = this.studio.document.pick(eye, [0, 1, 0], SIGHT_M) !== null && this.studio.document.pick(eye, [0, -1, 0], SIGHT_M) === null;
        this.studio.lost.value = this.studio.rows.size === 0 ? '' : this.seesNothing() ? 'nothing' : isBelow ? 'below' : '';
    }

    // Before something is put where one looks.
    comeBack(): void {
        this.checkSight();
        if (this.studio.lost.value !== '') {
            this.lookFromAbove(this.firstSight());
        }
    }

    private seesNothing(): boolean {
        for (let i = 0; i < SIGHT_RAYS * SIGHT_RAYS; i++) {
            const [x, y] = [i % SIGHT_RAYS, Math.floor(i / SIGHT_RAYS)].map((at) => (at + 0.5) / SIGHT_RAYS * 2 - 1);
            if (this.pick(new THREE.Vector2(x, y)) !== null) {
                return false;
            }
        }
        return true;
    }

    // Where a point of the world is in the picture: it is not near its edge.
    shows(point: Triple): boolean {
        corner.set(...point).project(this.rig.camera);
        return Math.abs(corner.x) < 0.8 && Math.abs(corner.y) < 0.8 && corner.z < 1;
    }

    stop(): void {
        this.ends.forEach((end) => end());
        this.pointer.stop();
        this.gizmo.stop();
        clearTimeout(this.lookTimer);
        this.parts.clear();
        this.renderer.dispose();
    }

    // --- what is drawn ---------------------------------------------------------------------------------

    private apply({ rows, gone }: Changes): void {
        gone.forEach((id) => this.parts.remove(id));
        rows.forEach((row) => this.parts.put(row));
        this.showSelection(this.studio.selection.value);
        this.request();
    }

    private giveAssets(): void {
        this.assets.give(assetList(this.studio.place, this.studio.document.files()));
        this.request();
    }

    // A picture or a model of these has come or gone.
    private again(ids: readonly number[]): void {
        ids.flatMap((id) => this.studio.rows.get(id) ?? []).forEach((row) => this.parts.put(row));
        this.request();
    }

    // Fetches what is in sight. That is looked for only so often, so a last picture may have to look once more.
    private finishDress(): void {
        const { camera } = this.rig;
        this.frustum.setFromProjectionMatrix(matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
        this.dress.finish({ eye: camera.position, frustum: this.frustum, reach: REACH_M }, 0);
        const isLast = this.lookTimer === -1;
        clearTimeout(this.lookTimer);
        this.lookTimer = isLast || !this.dress.isDue ? 0 : window.setTimeout(() => {
            this.lookTimer = -1;
            this.request();
        }, LOOK_AGAIN_MS);
    }

    private async readTerrain(): Promise<void> {
        const { document, files } = this.studio;
        for (const id of document.terrain()) {
            const { chunk } = document.fill(id);
            if (chunk !== undefined) {
                const bytes = await files.read(chunk).catch(() => null);
                if (bytes !== null) {
                    document.giveChunk(chunk, bytes);
                }
            }
        }
        this.drawTerrain();
    }

    private drawTerrain(): void {
        const { document } = this.studio;
        const kinds = (document.settings().voxelKinds ?? []).map((kind) => ({
            name: kind.name, solid: kind.solid ?? true, material: kind.material ?? 'plain',
            colour: kind.colour === undefined ? 0xa0a0a0 : Number.parseInt(kind.colour.slice(1), 16),
        }));
        this.terrain.reset({ voxelKinds: kinds } as unknown as Place);
        const coordinates = document.ground();
        for (let i = 0; i < coordinates.length; i += 3) {
            const [x = 0, y = 0, z = 0] = coordinates.subarray(i, i + 3);
            this.terrain.set(x, y, z, document.chunkMesh(x, y, z));
        }
        this.request();
    }

    private showSelection(ids: readonly number[]): void {
        this.frames.show(this.drawnOf(ids));
        this.gizmo.follow();
        this.request();
    }

    // Of a group everything in it is framed.
    private drawnOf(ids: readonly number[]): DrawRow[] {
        const { studio } = this;
        const all = ids.some((id) => studio.rows.get(id)?.type === TYPE_GROUP) ? studio.withBelow(ids) : ids;
        return all.flatMap((id) => studio.rows.get(id) ?? []).filter(({ type }) => type !== TYPE_GROUP);
    }

    private showOthers(all: readonly { editor: number; selection?: number[] }[]): void {
        for (const [editor, frames] of this.others) {
            if (!all.some((each) => each.editor === editor)) {
                this.scene.remove(frames.group);
                this.others.delete(editor);
            }
        }
        for (const { editor, selection } of all) {
            let frames = this.others.get(editor);
            if (frames === undefined) {
                frames = new Frames(Number.parseInt(colourOfEditor(editor).slice(1), 16));
                this.others.set(editor, frames);
                this.scene.add(frames.group);
            }
            frames.show(this.drawnOf(selection ?? []));
        }
        this.request();
    }

    // While something is dragged: as it would be. Nothing is stored by this.
    preview(rows: readonly DrawRow[]): void {
        rows.forEach((row) => this.parts.move(row));
        this.frames.show(rows.filter(({ type }) => type !== TYPE_GROUP));
        this.request();
    }

    // --- pictures --------------------------------------------------------------------------------------

    request(): void {
        if (!this.isAsked) {
            this.isAsked = true;
            requestAnimationFrame((now) => this.draw(now));
        }
    }

    private draw(now: number): void {
        this.isAsked = false;
        const seconds = Math.min((now - this.lastMs) / 1000, 0.1);
        this.lastMs = now;
        const from = performance.now();
        if (this.rig.fly(seconds)) {
            this.request();
            this.tellPresence();
        }
        const eye = this.rig.camera.position;
        this.grid.position.set(Math.round(this.rig.target.x), 0, Math.round(this.rig.target.z));
        this.sky.sight = REACH_M;
        this.sky.update(SKY_ROW, eye, seconds);
        this.sun.set(this.sky.daylight);
        this.terrain.update(eye, REACH_M, 0);
        this.terrain.light(this.sky.top, this.sky.horizon, this.sky.daylight.direction, this.sky.daylight.sun);
        this.finishDress();
        const isChanged = this.parts.finish() || this.terrain.waiting > 0;
        if (isChanged || this.shadowFrom.distanceTo(this.rig.target) > SHADOW_STEP_M) {
            this.shadowFrom.copy(this.rig.target);
            this.sun.follow(this.rig.target, corner.set(0, 0, 0));
            this.renderer.shadowMap.needsUpdate = true;
        }
        this.renderer.info.reset();
        this.renderer.render(this.scene, this.rig.camera);
        if (this.terrain.waiting > 0) {
            this.request();
        }
        const { calls, triangles } = this.renderer.info.render;
        Object.assign(this.cost, {
            cpuMs: performance.now() - from, calls, triangles, pictures: this.cost.pictures + 1, bytes: this.budget.used,
        });
    }

    private resize(): void {
        const { clientWidth, clientHeight } = this.canvas;
        if (clientWidth > 0 && clientHeight > 0) {
            this.renderer.setPixelRatio(Math.min(devicePixelRatio, PIXEL_RATIO_MOST));
            this.renderer.setSize(clientWidth, clientHeight, false);
            this.rig.resize(clientWidth, clientHeight);
            this.request();
        }
    }

    // The camera has moved.
    moved(): void {
        this.request();
        this.tellPresence();
    }

    private tellPresence(): void {
        this.studio.link.showPresence(() => ({
            camera: [...this.rig.camera.position.toArray(), ...this.rig.target.toArray()]
                .map((value) => Math.round(value * 100) / 100),
            selection: this.studio.selection.value.slice(0, 200),
        }));
    }

    // `room`: so much around it is seen at least.
    focus(ids: readonly number[], room = 0): void {
        const around = this.boundsOf(ids);
        if (around !== null) {
            around.getBoundingSphere(sphere).radius = Math.max(sphere.radius, room);
            this.rig.focus(sphere);
            this.moved();
        }
    }

    boundsOf(ids: readonly number[]): THREE.Box3 | null {
        box.makeEmpty();
        for (const row of this.drawnOf(ids)) {
            const [x, y, z] = row.half;
            turn.set(...row.rotation);
            for (let i = 0; i < 8; i++) {
                corner.set(i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z).applyQuaternion(turn);
                box.expandByPoint(corner.add(new THREE.Vector3(...row.position)));
            }
        }
        return box.isEmpty() ? null : box.clone();
    }

    // --- pointing --------------------------------------------------------------------------------------

    // From -1 to 1.
    normal(event: { clientX: number; clientY: number }): THREE.Vector2 {
        const { left, top, width, height } = this.canvas.getBoundingClientRect();
        return new THREE.Vector2((event.clientX - left) / width * 2 - 1, 1 - (event.clientY - top) / height * 2);
    }

    ray(at: THREE.Vector2): THREE.Ray {
        const caster = new THREE.Raycaster();
        caster.setFromCamera(at, this.rig.camera);
        return caster.ray;
    }

    // Zones as wide as the place, such as the void below it, are chosen in the tree: one would hit nothing else.
    pick(at: THREE.Vector2, skip: readonly number[] = []): Picked | null {
        const { origin, direction } = this.ray(at);
        const wide = this.rowsOf(({ flags, half }) => (flags & FLAG.ghost) !== 0 && Math.max(...half) > WIDE_M);
        this.studio.document.skip([...wide, ...skip]);
        return this.studio.document.pick(origin.toArray(), direction.toArray());
    }

    private rowsOf(wanted: (row: DrawRow) => boolean): number[] {
        return [...this.studio.rows.values()].filter(wanted).map(({ id }) => id);
    }

    // Where something new would stand: on what is in the middle of the picture or under the pointer.
    spot(at = new THREE.Vector2(0, 0)): { point: Triple; normal: Triple } {
        const picked = this.pick(at, this.hollow());
        if (picked !== null && picked.distance < 300) {
            return picked;
        }
        const ray = this.ray(at);
        const ground = ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, 1, 0), 0), corner);
        const point = ground !== null && ground.distanceTo(ray.origin) < 300 ? ground.toArray()
            : ray.at(12, corner).toArray();
        return { point, normal: [0, 1, 0] };
    }

    // Nothing stands on spawns, characters, and what one walks through.
    hollow(): number[] {
        return this.rowsOf(({ type, flags }) => type === TYPE_NPC || type === TYPE_SPAWN || (flags & FLAG.ghost) !== 0);
    }

    // The topmost group that has it; what one means by a click.
    topOf(id: number): number {
        let at = id;
        for (let depth = 0; depth < 64; depth++) {
            const above = this.studio.rows.get(at)?.parent ?? 0;
            if (above === 0 || this.studio.rows.get(above)?.type !== TYPE_GROUP) {
                break;
            }
            at = above;
        }
        return at;
    }

    // A picture of what is seen, without grid, frames and handles.
    async thumbnail(width: number, height: number): Promise<Blob | null> {
        const tools = this.scene.children.filter((child) => child === this.frames.group ||
            child === this.gizmo.helper || child === this.grid ||
            [...this.others.values()].some(({ group }) => group === child));
        const shown = tools.map(({ visible }) => visible);
        tools.forEach((tool) => { tool.visible = false; });
        this.renderer.render(this.scene, this.rig.camera);
        const picture = document.createElement('canvas');
        picture.width = width;
        picture.height = height;
        const { width: w, height: h } = this.canvas;
        const scale = Math.max(width / w, height / h);
        picture.getContext('2d')?.drawImage(this.canvas, (width - w * scale) / 2, (height - h * scale) / 2,
            w * scale, h * scale);
        tools.forEach((tool, i) => { tool.visible = shown[i] ?? true; });
        this.request();
        return new Promise((done) => picture.toBlob(done, 'image/png'));
    }
}

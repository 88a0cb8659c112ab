// What a pointer does in the picture: selects by a click or with a box, drags what is selected over surfaces,
// turns and moves the camera, paints terrain. A mouse, a pen and fingers alike.
import * as THREE from 'three';

import type { DrawRow } from '../document.ts';
import { paintTerrain } from '../terrain.ts';
import type { Viewport } from './viewport.ts';

const GROUND_HALF_M = 8; // a floor of a template is 20 m wide
const DRAG_PIXELS = 5;
const STORE_MS = 200;

type Act =
    | { kind: 'wait'; id: number; button: number; add: boolean }
    | { kind: 'look' | 'pan' | 'orbit' }
    | { kind: 'box' }
    | { kind: 'surface'; held: ReturnType<Viewport['gizmo']['hold']>; grip: THREE.Vector3; gesture: number;
        storedMs: number; by: THREE.Vector3; foot: number; skip: number[] }
    | { kind: 'paint'; from: THREE.Vector3; to: THREE.Vector3; normal: THREE.Vector3 };

const plane = new THREE.Plane();

export class Pointer {
    private readonly view: Viewport;
    private readonly ended = new AbortController();
    private act: Act | null = null;
    private readonly fingers = new Map<number, { x: number; y: number }>();
    private from = { x: 0, y: 0 };
    private last = { x: 0, y: 0 };
    private readonly rubber = document.createElement('div'); // the box that selects
    private readonly brush = new THREE.LineSegments(new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1)),
        new THREE.LineBasicMaterial({ color: 0xffffff, depthTest: false, toneMapped: false }));

    constructor(view: Viewport) {
        this.view = view;
        this.rubber.className = 'rubber';
        this.rubber.hidden = true;
        view.canvas.parentElement?.append(this.rubber);
        this.brush.visible = false;
        this.brush.renderOrder = 6;
        view.scene.add(this.brush);
        const { signal } = this.ended;
        const on = <E extends keyof HTMLElementEventMap>(event: E, act: (event: HTMLElementEventMap[E]) => void): void =>
            view.canvas.addEventListener(event, act, { signal });
        on('pointerdown', (event) => this.down(event));
        on('pointermove', (event) => this.move(event));
        on('pointerup', (event) => this.up(event));
        on('pointercancel', (event) => this.up(event));
        on('contextmenu', (event) => event.preventDefault());
        on('dblclick', (event) => {
            const picked = view.pick(view.normal(event));
            if (picked !== null && picked.id !== 0) {
                view.studio.select([picked.id]);
            }
        });
        view.canvas.addEventListener('wheel', (event) => {
            event.preventDefault();
            view.rig.zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) * 0.0015));
            view.moved();
        }, { signal, passive: false });
        window.addEventListener('keydown', (event) => {
            if (this.act?.kind === 'look') {
                view.rig.keys.add(event.code);
                event.preventDefault();
                event.stopPropagation(); // they fly and are no commands
                view.request();
            }
        }, { signal, capture: true });
        window.addEventListener('keyup', (event) => view.rig.keys.delete(event.code), { signal });
        window.addEventListener('blur', () => view.rig.keys.clear(), { signal });
    }

    stop(): void {
        this.ended.abort();
        this.rubber.remove();
    }

    private down(event: PointerEvent): void {
        const { view } = this;
        view.canvas.focus({ preventScroll: true });
        this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
        if (view.gizmo.isBusy && event.button === 0) {
            return;
        }
        view.canvas.setPointerCapture(event.pointerId);
        this.from = { x: event.clientX, y: event.clientY };
        this.last = this.from;
        if (this.fingers.size > 1) {
            this.cancel();
            this.act = { kind: 'pan' };
        } else if (event.button === 2) {
            this.act = { kind: 'look' };
        } else if (event.button === 1) {
            this.act = { kind: 'pan' };
        } else if (event.altKey) {
            this.act = { kind: 'orbit' };
        } else {
            this.act = this.begin(event);
        }
    }

    private begin(event: PointerEvent): Act {
        const { view } = this;
        const picked = view.pick(view.normal(event));
        if (view.studio.tool.value === 'terrain' && view.studio.canWrite()) {
            return this.beginPaint(event);
        }
        return { kind: 'wait', id: picked?.id ?? 0, button: event.button, add: event.shiftKey || event.ctrlKey };
    }

    private move(event: PointerEvent): void {
        const before = this.fingers.get(event.pointerId);
        if (this.act === null || before === undefined) {
            return;
        }
        const now = { x: event.clientX, y: event.clientY };
        if (this.fingers.size === 2) {
            this.pinch(event.pointerId, before, now);
            return;
        }
        this.fingers.set(event.pointerId, now);
        const dx = now.x - this.last.x;
        const dy = now.y - this.last.y;
        if (this.act.kind === 'wait' && Math.hypot(now.x - this.from.x, now.y - this.from.y) > DRAG_PIXELS) {
            this.act = this.decide(this.act, event);
        }
        switch (this.act.kind) {
            case 'wait': return;
            case 'look': this.view.rig.look(dx, dy); this.view.moved(); break;
            case 'orbit': this.view.rig.orbit(dx, dy); this.view.moved(); break;
            case 'pan': this.view.rig.pan(dx, dy, this.view.canvas.clientHeight); this.view.moved(); break;
            case 'box': this.showRubber(now); break;
            case 'surface': this.slide(this.act, event); break;
            case 'paint': this.paint(this.act, event); break;
        }
        this.last = now;
    }

    // Two fingers: apart and together zooms, along moves.
    private pinch(id: number, before: { x: number; y: number }, now: { x: number; y: number }): void {
        const other = [...this.fingers].find(([each]) => each !== id)?.[1] ?? now;
        const far = (a: { x: number; y: number }): number => Math.hypot(a.x - other.x, a.y - other.y);
        this.fingers.set(id, now);
        this.view.rig.zoom(THREE.MathUtils.clamp(far(before) / Math.max(far(now), 1), 0.5, 2));
        this.view.rig.pan((now.x - before.x) / 2, (now.y - before.y) / 2, this.view.canvas.clientHeight);
        this.view.moved();
    }

    // What a drag means that began as a click.
    private decide(act: Act & { kind: 'wait' }, event: PointerEvent): Act {
        const { studio } = this.view;
        const top = act.id === 0 ? 0 : this.view.topOf(act.id);
        const isHeld = studio.selection.value.includes(top) || studio.selection.value.includes(act.id);
        if (act.id !== 0 && studio.canWrite() && (isHeld || event.pointerType === 'mouse') && !act.add &&
            studio.surface.value && !this.isGround(act.id)) {
            if (!isHeld) {
                studio.select([top]);
            }
            return this.beginSlide(event);
        }
        return event.pointerType === 'mouse' ? { kind: 'box' } : { kind: 'orbit' };
    }

    // Something so large that one means the picture when one drags on it.
    private isGround(id: number): boolean {
        const half = this.view.studio.rows.get(id)?.half ?? [0, 0, 0];
        return half[0] >= GROUND_HALF_M && half[2] >= GROUND_HALF_M;
    }

    private up(event: PointerEvent): void {
        const { act, view } = this;
        this.fingers.delete(event.pointerId);
        const [rest] = this.fingers.values();
        if (act === null || rest !== undefined) {
            this.last = rest ?? this.last; // the other finger goes on from where it is
            return;
        }
        this.act = null;
        view.rig.keys.clear();
        if (act.kind === 'look' || act.kind === 'orbit' || act.kind === 'pan') {
            view.checkSight();
        }
        if (act.kind === 'wait' && act.button === 0 && event.type === 'pointerup') {
            this.click(act.id, act.add);
        } else if (act.kind === 'box') {
            this.rubber.hidden = true;
            this.selectBox(event);
        } else if (act.kind === 'surface') {
            view.gizmo.moveBy(act.by, act.held, act.gesture, true);
            view.gizmo.follow();
        } else if (act.kind === 'paint') {
            this.brush.visible = false;
            paintTerrain(view.studio, act.from, act.to);
            view.request();
        }
    }

    private cancel(): void {
        if (this.act?.kind === 'surface') { // what is seen by now is stored
            this.view.gizmo.moveBy(this.act.by, this.act.held, this.act.gesture, true);
            this.view.gizmo.follow();
        }
        this.rubber.hidden = true;
        this.brush.visible = false;
        this.act = null;
    }

    private click(id: number, add: boolean): void {
        const { studio } = this.view;
        const top = id === 0 ? 0 : this.view.topOf(id);
        const before = studio.selection.value;
        if (id === 0) {
            studio.select(add ? before : []);
        } else if (add) {
            studio.select(before.includes(top) ? before.filter((each) => each !== top) : [...before, top]);
        } else {
            studio.select([top]);
        }
    }

    // --- a box -----------------------------------------------------------------------------------------

    private showRubber(now: { x: number; y: number }): void {
        const { left, top } = this.view.canvas.getBoundingClientRect();
        this.rubber.hidden = false;
        Object.assign(this.rubber.style, {
            left: `${Math.min(now.x, this.from.x) - left}px`, top: `${Math.min(now.y, this.from.y) - top}px`,
            width: `${Math.abs(now.x - this.from.x)}px`, height: `${Math.abs(now.y - this.from.y)}px`,
        });
    }

    private selectBox(event: PointerEvent): void {
        const { view } = this;
        const a = view.normal({ clientX: this.from.x, clientY: this.from.y });
        const b = view.normal(event);
        const [l, r, d, u] = [Math.min(a.x, b.x), Math.max(a.x, b.x), Math.min(a.y, b.y), Math.max(a.y, b.y)];
        const way = (x: number, y: number): THREE.Vector3 => view.ray(new THREE.Vector2(x, y)).direction.clone();
        const corners = [way(l, d), way(r, d), way(r, u), way(l, u)];
        const eye = view.rig.camera.position;
        const planes = new Float32Array(16);
        corners.forEach((each, i) => {
            const inward = new THREE.Vector3().crossVectors(each, corners[(i + 1) % 4]!).normalize().negate();
            if (inward.dot(corners[(i + 2) % 4]!) < 0) {
                inward.negate();
            }
            planes.set([...inward.toArray(), -inward.dot(eye)], i * 4);
        });
        const found = view.studio.document.pickInside(planes).map((id) => view.topOf(id));
        view.studio.select([...new Set([...(event.shiftKey ? view.studio.selection.value : []), ...found])]);
    }

    // --- over surfaces ---------------------------------------------------------------------------------

    private beginSlide(event: PointerEvent): Act {
        const { view } = this;
        const held = view.gizmo.hold();
        const grip = new THREE.Vector3(...view.pick(view.normal(event))?.point ?? [0, 0, 0]);
        const lowest = Math.min(...held.map(({ row }: { row: DrawRow }) => this.lowestOf(row)));
        return {
            kind: 'surface', held, grip, gesture: view.gizmo.newGesture(), storedMs: performance.now(),
            by: new THREE.Vector3(), foot: lowest, skip: [...held.map(({ row }) => row.id), ...view.hollow()],
        };
    }

    private lowestOf(row: DrawRow): number {
        const turn = new THREE.Matrix4().makeRotationFromQuaternion(new THREE.Quaternion(...row.rotation)).elements;
        const [x, y, z] = row.half;
        return row.position[1] - Math.abs(turn[1]! * x) - Math.abs(turn[5]! * y) - Math.abs(turn[9]! * z);
    }

    // What is dragged stands on what the pointer is over.
    private slide(act: Act & { kind: 'surface' }, event: PointerEvent): void {
        const { view } = this;
        const at = view.normal(event);
        const picked = view.pick(at, act.skip);
        const grid = view.studio.grid.value;
        const snap = (value: number): number => grid === 0 ? value : Math.round(value / grid) * grid;
        if (picked !== null && picked.normal[1] > 0.7) {
            act.by.set(snap(picked.point[0] - act.grip.x), picked.point[1] - act.foot, snap(picked.point[2] - act.grip.z));
        } else {
            const point = view.ray(at).intersectPlane(
                plane.setFromNormalAndCoplanarPoint(new THREE.Vector3(0, 1, 0), act.grip), new THREE.Vector3());
            if (point === null || point.distanceTo(view.rig.camera.position) > 400) {
                return;
            }
            act.by.set(snap(point.x - act.grip.x), act.by.y, snap(point.z - act.grip.z));
        }
        const isStored = performance.now() - act.storedMs > STORE_MS;
        act.storedMs = isStored ? performance.now() : act.storedMs;
        view.gizmo.moveBy(act.by, act.held, act.gesture, isStored);
    }

    // --- terrain ---------------------------------------------------------------------------------------

    private cellAt(event: PointerEvent, removes: boolean): { cell: THREE.Vector3; normal: THREE.Vector3 } {
        const { point, normal } = this.view.spot(this.view.normal(event));
        const way = new THREE.Vector3(...normal);
        const cell = new THREE.Vector3(...point).addScaledVector(way, removes ? -0.5 : 0.5).floor();
        return { cell, normal: way };
    }

    private beginPaint(event: PointerEvent): Act {
        const removes = this.view.studio.voxel.value === 'air';
        const { cell, normal } = this.cellAt(event, removes);
        this.showBrush(cell, cell);
        return { kind: 'paint', from: cell, to: cell.clone(), normal };
    }

    // In the plane of the face where it began.
    private paint(act: Act & { kind: 'paint' }, event: PointerEvent): void {
        const middle = act.from.clone().addScalar(0.5);
        const hit = this.view.ray(this.view.normal(event)).intersectPlane(
            plane.setFromNormalAndCoplanarPoint(act.normal, middle), new THREE.Vector3());
        if (hit !== null && hit.distanceTo(this.view.rig.camera.position) < 400) {
            act.to.copy(hit).floor();
            for (const axis of ['x', 'y', 'z'] as const) {
                if (Math.abs(act.normal[axis]) > 0.5) {
                    act.to[axis] = act.from[axis];
                }
                act.to[axis] = THREE.MathUtils.clamp(act.to[axis], act.from[axis] - 63, act.from[axis] + 63);
            }
            this.showBrush(act.from, act.to);
        }
    }

    private showBrush(a: THREE.Vector3, b: THREE.Vector3): void {
        const low = a.clone().min(b);
        const size = a.clone().max(b).sub(low).addScalar(1);
        this.brush.visible = true;
        this.brush.scale.copy(size).addScalar(0.04);
        this.brush.position.copy(low).addScaledVector(size, 0.5);
        this.view.request();
    }
}

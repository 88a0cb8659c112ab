// Handles that move, turn and size what is selected. They hold a stand-in; what is selected follows it. While
// one drags, the picture follows at once and the document several times a second, all of it one step of undo.
import * as THREE from 'three';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';

import type { DrawRow, Op, Triple } from '../document.ts';
import { frameOf, rotationOf, round, triple, type Frame } from '../frame.ts';
import type { Tool } from '../state.ts';
import { words } from '../words_studio.ts';
import type { Viewport } from './viewport.ts';

const STORE_MS = 200;
const SIZE_LEAST = 0.05;

interface Held {
    row: DrawRow;
    position: THREE.Vector3; // in the world; of the entity itself, not of its middle
    rotation: THREE.Quaternion;
    frame: Frame; // of its parent
    size: Triple;
    isRoot: boolean;
}

export interface Placed {
    row: DrawRow;
    position: THREE.Vector3;
    rotation: THREE.Quaternion;
    size: Triple;
}

let gestures = 0;

export class Gizmo {
    readonly helper: THREE.Object3D;
    private readonly view: Viewport;
    private readonly controls: TransformControls;
    private readonly proxy = new THREE.Object3D();
    private readonly start = { position: new THREE.Vector3(), rotation: new THREE.Quaternion() };
    private held: Held[] = [];
    private gesture = 0;
    private storedMs = 0;
    private mode: Tool = 'move';

    constructor(view: Viewport) {
        this.view = view;
        this.controls = new TransformControls(view.rig.camera, view.canvas);
        this.controls.setSize(0.9);
        this.helper = this.controls.getHelper();
        view.scene.add(this.proxy);
        this.controls.addEventListener('change', () => view.request());
        this.controls.addEventListener('mouseDown', () => this.begin());
        this.controls.addEventListener('objectChange', () => this.drag(false));
        this.controls.addEventListener('mouseUp', () => this.drag(true));
    }

    // The pointer holds a handle, or is over one.
    get isBusy(): boolean {
        return this.controls.dragging || this.controls.axis !== null && this.controls.object !== undefined;
    }

    configure(tool: Tool, space: 'world' | 'local', grid: number, angle: number, canWrite: boolean): void {
        this.mode = tool;
        this.controls.enabled = canWrite;
        if (tool === 'move' || tool === 'rotate' || tool === 'scale') {
            this.controls.setMode(tool === 'move' ? 'translate' : tool);
        }
        this.controls.setSpace(space);
        this.controls.setTranslationSnap(grid === 0 ? null : grid);
        this.controls.setRotationSnap(angle === 0 ? null : THREE.MathUtils.degToRad(angle));
        this.follow();
    }

    // To what is selected now.
    follow(): void {
        if (this.controls.dragging) {
            return;
        }
        const { studio } = this.view;
        const roots = studio.roots();
        const isShown = roots.length > 0 && this.mode !== 'select' && this.mode !== 'terrain' &&
            this.controls.enabled;
        if (!isShown) {
            this.controls.detach();
            return;
        }
        const only = roots.length === 1 ? studio.rows.get(roots[0] ?? 0) : undefined;
        const bounds = this.view.boundsOf(roots);
        if (only !== undefined && only.type !== 4) {
            this.proxy.position.set(...only.position);
        } else if (bounds !== null) {
            bounds.getCenter(this.proxy.position);
        } else {
            this.proxy.position.set(...only?.position ?? [0, 0, 0]);
        }
        this.proxy.quaternion.set(...only?.rotation ?? [0, 0, 0, 1]);
        this.proxy.scale.set(1, 1, 1);
        this.proxy.updateMatrixWorld();
        this.controls.attach(this.proxy);
    }

    stop(): void {
        this.controls.dispose();
    }

    // --- a drag ----------------------------------------------------------------------------------------

    private begin(): void {
        gestures += 1;
        this.gesture = gestures;
        this.storedMs = performance.now();
        this.start.position.copy(this.proxy.position);
        this.start.rotation.copy(this.proxy.quaternion);
        this.held = this.hold();
    }

    // Roots are stored; what is below them is only drawn.
    hold(): Held[] {
        const { studio } = this.view;
        const roots = new Set(studio.roots());
        return studio.withBelow([...roots]).flatMap((id) => {
            const row = studio.rows.get(id);
            if (row === undefined) {
                return [];
            }
            const record = studio.document.entity(id);
            const frame = frameOf(studio, row.parent);
            const own = new THREE.Vector3(...record.transform?.position ?? [0, 0, 0]);
            return [{
                row, frame, rotation: new THREE.Quaternion(...row.rotation), isRoot: roots.has(id),
                position: own.applyQuaternion(frame.rotation).add(frame.position),
                size: record.shape?.size ?? [1, 1, 1],
            }];
        });
    }

    private drag(isLast: boolean): void {
        const by = new THREE.Vector3().subVectors(this.proxy.position, this.start.position);
        const turn = this.proxy.quaternion.clone().multiply(this.start.rotation.clone().invert());
        const { scale } = this.proxy;
        const placed = this.held.map((held) => this.place(held, by, turn, scale));
        this.view.preview(placed.map((each, i) => this.rowOf(each, this.held[i]!)));
        if (isLast || performance.now() - this.storedMs > STORE_MS) {
            this.storedMs = performance.now();
            this.store(placed.filter((_, i) => this.held[i]?.isRoot));
        }
        if (isLast) {
            this.held = [];
            this.proxy.scale.set(1, 1, 1);
            this.follow();
            this.view.request();
        }
    }

    private place(held: Held, by: THREE.Vector3, turn: THREE.Quaternion, scale: THREE.Vector3): Placed {
        const { row, size } = held;
        const pivot = this.start.position;
        const position = held.position.clone().sub(pivot);
        if (this.mode === 'scale') {
            const back = this.start.rotation.clone().invert();
            position.applyQuaternion(back).multiply(scale).applyQuaternion(this.start.rotation);
            const { grid } = this.view.studio;
            const sized = size.map((value, axis) => {
                const wanted = Math.abs(value * scale.getComponent(axis));
                const step = grid.value;
                return round(Math.max(step > 0 && scale.getComponent(axis) !== 1
                    ? Math.max(Math.round(wanted / step) * step, step) : wanted, SIZE_LEAST));
            }) as Triple;
            if (this.held.length === 1) { // it grows upwards: what stands on a floor does not go through it
                position.add(new THREE.Vector3(0, (sized[1] - size[1]) / 2, 0).applyQuaternion(held.rotation));
            }
            return { row, position: position.add(pivot), rotation: held.rotation, size: sized };
        }
        position.applyQuaternion(turn).add(pivot).add(by);
        return { row, position, rotation: turn.clone().multiply(held.rotation), size };
    }

    private rowOf({ row, position, rotation, size }: Placed, held: Held): DrawRow {
        const lift = new THREE.Vector3(...row.position).sub(held.position); // to the middle of what stands
        const at = position.clone().add(this.mode === 'rotate' ? new THREE.Vector3(0, lift.y, 0) : lift);
        return {
            ...row, position: at.toArray(), rotation: rotation.toArray() as DrawRow['rotation'],
            half: row.type <= 1 ? size.map((value) => value / 2) as Triple : row.half,
        };
    }

    // A step of the gesture that goes on.
    private store(placed: readonly Placed[]): void {
        const ops: Op[] = [];
        const local = placed.map((each) => {
            const { frame } = this.held.find(({ row }) => row.id === each.row.id) ??
                { frame: { position: new THREE.Vector3(), rotation: new THREE.Quaternion() } };
            const back = frame.rotation.clone().invert();
            return {
                id: each.row.id, size: each.size,
                position: triple(each.position.clone().sub(frame.position).applyQuaternion(back)),
                rotation: rotationOf(back.clone().multiply(each.rotation)),
            };
        });
        const { mode } = this;
        if (mode !== 'rotate' || placed.length > 1) {
            ops.push({ op: 'set', member: 'transform.position', values: local.map(({ id, position }) => [id, position]) });
        }
        if (mode === 'rotate') {
            ops.push({ op: 'set', member: 'transform.rotation', values: local.map(({ id, rotation }) => [id, rotation]) });
        }
        const sized = local.filter(({ id }) => (this.view.studio.rows.get(id)?.type ?? 4) <= 1);
        if (mode === 'scale' && sized.length > 0) {
            ops.push({ op: 'set', member: 'shape.size', values: sized.map(({ id, size }) => [id, size]) });
        }
        const label = mode === 'rotate' ? words.steps.rotate : mode === 'scale' ? words.steps.scale : words.steps.move;
        if (ops.length > 0) {
            this.view.studio.document.edit(label, ops, this.gesture);
        }
    }

    // --- without handles -------------------------------------------------------------------------------

    // Moves everything that is selected, for the pointer and for keys. `gesture`: goes on with that one.
    moveBy(by: THREE.Vector3, held: Held[], gesture: number, isStored: boolean): void {
        this.held = held;
        const before = this.mode;
        this.mode = 'move';
        this.start.position.set(0, 0, 0);
        this.start.rotation.identity();
        const still = new THREE.Quaternion();
        const placed = held.map((each) => this.place(each, by, still, new THREE.Vector3(1, 1, 1)));
        this.view.preview(placed.map((each, i) => this.rowOf(each, held[i]!)));
        if (isStored) {
            this.gesture = gesture;
            this.store(placed.filter((_, i) => held[i]?.isRoot));
        }
        this.mode = before;
    }

    newGesture(): number {
        gestures += 1;
        return gestures;
    }
}

// Many things of one geometry in one call to the graphics card: each has a number, a place, a size and a
// colour of its own. Ten thousand separate meshes cost a hundred milliseconds a picture, so nothing
// that there can be many of is a mesh.
import * as THREE from 'three';

const FIRST_ROOM = 16;

const matrix = new THREE.Matrix4();
// Of a size that is not drawn.
export const NOWHERE = new THREE.Matrix4().makeScale(0, 0, 0);

export class Instances {
    readonly group = new THREE.Group();
    private mesh: THREE.InstancedMesh;
    private readonly slots = new Map<number, number>(); // by id
    private readonly free: number[] = [];
    private moved = false;
    private painted = false;

    constructor(geometry: THREE.BufferGeometry, material: THREE.Material, room = FIRST_ROOM) {
        this.mesh = this.make(geometry, material, room);
    }

    get count(): number {
        return this.slots.size;
    }

    set(id: number, position: THREE.Vector3, rotation: THREE.Quaternion, scale: THREE.Vector3): void {
        this.setMatrix(id, matrix.compose(position, rotation, scale));
    }

    setMatrix(id: number, own: THREE.Matrix4): void {
        const slot = this.slotOf(id); // may make another mesh
        this.mesh.setMatrixAt(slot, own);
        this.moved = true;
    }

    paint(id: number, colour: THREE.Color): void {
        const slot = this.slotOf(id);
        this.mesh.setColorAt(slot, colour);
        this.painted = true;
    }

    remove(id: number): void {
        const slot = this.slots.get(id);
        if (slot !== undefined) {
            this.slots.delete(id);
            this.free.push(slot);
            this.mesh.setMatrixAt(slot, NOWHERE);
            this.moved = true;
        }
    }

    clear(): void {
        this.slots.clear();
        this.free.length = 0;
        this.mesh.count = 0;
    }

    // After changes, before the picture. `bounds`: things stand still, so that what lies outside the
    // picture can be left out as a whole.
    finish(bounds: boolean): void {
        if (this.moved) {
            this.mesh.instanceMatrix.needsUpdate = true;
            this.mesh.frustumCulled = bounds;
            if (bounds) {
                this.mesh.computeBoundingSphere();
            }
        }
        if (this.painted && this.mesh.instanceColor !== null) {
            this.mesh.instanceColor.needsUpdate = true;
        }
        this.moved = false;
        this.painted = false;
    }

    dispose(): void {
        this.mesh.dispose();
    }

    private make(geometry: THREE.BufferGeometry, material: THREE.Material, room: number):
    THREE.InstancedMesh {
        const mesh = new THREE.InstancedMesh(geometry, material, room);
        mesh.count = 0;
        mesh.frustumCulled = false;
        this.group.clear();
        this.group.add(mesh);
        return mesh;
    }

    private slotOf(id: number): number {
        const known = this.slots.get(id);
        if (known !== undefined) {
            return known;
        }
        let slot = this.free.pop();
        if (slot === undefined) {
            slot = this.mesh.count;
            if (slot === this.mesh.instanceMatrix.count) {
                this.grow();
            }
            this.mesh.count = slot + 1;
        }
        this.slots.set(id, slot);
        return slot;
    }

    private grow(): void {
        const old = this.mesh;
        const room = old.instanceMatrix.count;
        this.mesh = this.make(old.geometry, old.material as THREE.Material, room * 2);
        this.mesh.count = old.count;
        this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
        if (old.instanceColor !== null) {
            this.mesh.instanceColor = new THREE.InstancedBufferAttribute(
                new Float32Array(room * 2 * 3), 3);
            this.mesh.instanceColor.array.set(old.instanceColor.array);
        }
        old.dispose();
    }
}

// Many things of one geometry in one call to the graphics card: each has a number, a place, a size and a
// colour of its own. Ten thousand separate meshes cost a hundred milliseconds a picture, so nothing
// that there can be many of is a mesh.
import * as THREE from 'three';

const FIRST_ROOM = 16;

const matrix = new THREE.Matrix4();

export class Instances {
    readonly group = new THREE.Group();
    private mesh: THREE.InstancedMesh;
    private readonly slots = new Map<number, number>(); // by id
    private readonly ids: number[] = []; // by slot; all slots are in use
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

    // The last one takes its slot, so that nothing is drawn that is not there.
    remove(id: number): void {
        const slot = this.slots.get(id);
        if (slot === undefined) {
            return;
        }
        this.slots.delete(id);
        const moved = this.ids.pop() ?? id;
        this.mesh.count = this.ids.length;
        if (moved !== id) {
            const from = this.ids.length;
            this.ids[slot] = moved;
            this.slots.set(moved, slot);
            this.mesh.instanceMatrix.array.copyWithin(slot * 16, from * 16, from * 16 + 16);
            this.mesh.instanceColor?.array.copyWithin(slot * 3, from * 3, from * 3 + 3);
            this.painted = true;
        }
        this.moved = true;
    }

    // Draws with another geometry from now on, one that is coarser for example.
    setGeometry(geometry: THREE.BufferGeometry): void {
        this.mesh.geometry = geometry;
    }

    setShadow(casts: boolean, receives: boolean): void {
        this.mesh.castShadow = casts;
        this.mesh.receiveShadow = receives;
    }

    // Around everything in it; null before finish(true).
    get sphere(): THREE.Sphere | null {
        return this.mesh.boundingSphere;
    }

    // Copies the matrices of those within reach; returns how many there are then, `most` at most.
    copyNear(eye: THREE.Vector3, reach: number, into: THREE.TypedArray, count: number, most: number):
    number {
        const from = this.mesh.instanceMatrix.array;
        let filled = count;
        for (let at = 0; at < this.ids.length * 16 && filled < most; at += 16) {
            const dx = (from[at + 12] ?? 0) - eye.x;
            const dz = (from[at + 14] ?? 0) - eye.z;
            if (dx * dx + dz * dz < reach * reach) {
                for (let k = 0; k < 16; k++) {
                    into[filled * 16 + k] = from[at + k] ?? 0;
                }
                filled += 1;
            }
        }
        return filled;
    }

    // After changes, before the picture. `bounds`: things stand still, so that what lies outside the
    // picture can be left out as a whole.
    finish(bounds: boolean): void {
        if (this.moved) {
            this.upload(this.mesh.instanceMatrix);
            this.mesh.frustumCulled = bounds;
            this.mesh.visible = this.mesh.count > 0;
            if (bounds) {
                this.mesh.computeBoundingSphere();
            }
        }
        if (this.painted && this.mesh.instanceColor !== null) {
            this.upload(this.mesh.instanceColor);
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
        mesh.matrixAutoUpdate = false; // it stands where its instances are
        this.group.matrixAutoUpdate = false;
        this.group.clear();
        this.group.add(mesh);
        return mesh;
    }

    // Only what is in use.
    private upload(attribute: THREE.InstancedBufferAttribute): void {
        attribute.clearUpdateRanges();
        attribute.addUpdateRange(0, this.mesh.count * attribute.itemSize);
        attribute.needsUpdate = true;
    }

    private slotOf(id: number): number {
        const known = this.slots.get(id);
        if (known !== undefined) {
            return known;
        }
        const slot = this.ids.length;
        if (slot === this.mesh.instanceMatrix.count) {
            this.grow();
        }
        this.ids.push(id);
        this.mesh.count = this.ids.length;
        this.slots.set(id, slot);
        return slot;
    }

    private grow(): void {
        const old = this.mesh;
        const room = old.instanceMatrix.count;
        this.mesh = this.make(old.geometry, old.material as THREE.Material, room * 2);
        this.mesh.count = old.count;
        this.mesh.castShadow = old.castShadow;
        this.mesh.receiveShadow = old.receiveShadow;
        this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
        if (old.instanceColor !== null) {
            this.mesh.instanceColor = new THREE.InstancedBufferAttribute(
                new Float32Array(room * 2 * 3), 3);
            this.mesh.instanceColor.array.set(old.instanceColor.array);
        }
        old.dispose();
    }
}

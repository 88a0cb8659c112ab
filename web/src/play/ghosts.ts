// Boxes of light where somebody is about to build, dig or fill: green where it may be, red where not,
// blue those of others. Few at a time, so each is a mesh.
import * as THREE from 'three';

import { ROW, type Place, type Triple } from '../core/bridge.ts';

export type GhostKind = 'good' | 'bad' | 'other';
const COLOURS: Record<GhostKind, number> = { good: 0x3fe07a, bad: 0xff4a3d, other: 0x58a8ff };
const LARGER_M = 0.02; // so that it is seen around what it replaces
const GHOSTS_MAX = 64;

interface Ghost {
    root: THREE.Group;
    body: THREE.Mesh<THREE.BoxGeometry, THREE.MeshBasicMaterial>;
    edges: THREE.LineSegments<THREE.EdgesGeometry, THREE.LineBasicMaterial>;
}

const box = new THREE.BoxGeometry(1, 1, 1);
const edges = new THREE.EdgesGeometry(box);

export class Ghosts {
    readonly group = new THREE.Group();
    private readonly place: Place;
    private readonly ghosts = new Map<string, Ghost>();
    private marked: { key: string; target: number; isOwn: boolean } | null = null;

    constructor(place: Place) {
        this.place = place;
        this.group.name = 'ghosts';
    }

    dispose(): void {
        for (const key of [...this.ghosts.keys()]) {
            this.remove(key);
        }
        this.group.removeFromParent();
    }

    // From the lowest to the highest cell, both included. `piece`: in its colour too.
    show(key: string, min: Triple, max: Triple, kind: GhostKind, piece: number): void {
        this.marked = this.marked?.key === key ? null : this.marked;
        this.put(key, min, [max[0] + 1, max[1] + 1, max[2] + 1], kind, piece);
    }

    // Somebody else's, by its place in the catalogue; a piece that is not in it is not drawn.
    showPiece(key: string, piece: number, cell: Triple, turn: number): void {
        const cells = this.place.pieces[piece]?.cells;
        if (cells !== undefined) {
            const [x, y, z] = cells;
            const size = turn % 2 === 1 ? [z, y, x] as const : [x, y, z] as const;
            this.put(key, cell, [cell[0] + size[0], cell[1] + size[1], cell[2] + size[2]], 'other',
                piece);
        }
    }

    // Around a structure, which findMarked finds.
    mark(key: string, target: number, isOwn: boolean): void {
        this.marked = { key, target, isOwn };
    }

    // Rows of clientShapes.
    findMarked(rows: Float64Array): void {
        if (this.marked === null) {
            return;
        }
        for (let at = 0; at < rows.length; at += ROW) {
            if (rows[at] === this.marked.target) {
                const [x = 0, y = 0, z = 0] = rows.subarray(at + 3, at + 6);
                const [hx = 0, hy = 0, hz = 0] = rows.subarray(at + 10, at + 13);
                this.put(this.marked.key, [x - hx, y - hy, z - hz], [x + hx, y + hy, z + hz],
                    this.marked.isOwn ? 'good' : 'bad', -1);
                return;
            }
        }
        this.remove(this.marked.key);
    }

    remove(key: string): void {
        const ghost = this.ghosts.get(key);
        this.marked = this.marked?.key === key ? null : this.marked;
        if (ghost !== undefined) {
            this.group.remove(ghost.root);
            ghost.body.material.dispose();
            ghost.edges.material.dispose();
            this.ghosts.delete(key);
        }
    }

    // What is drawn, for tests: key, kind, and the middle.
    list(): { key: string; colour: number; at: number[] }[] {
        return [...this.ghosts].map(([key, { root, edges: line }]) =>
            ({ key, colour: line.material.color.getHex(), at: root.position.toArray() }));
    }

    private put(key: string, min: Triple, max: Triple, kind: GhostKind, piece: number): void {
        const ghost = this.ghosts.get(key) ?? this.make(key);
        if (ghost === null) {
            return;
        }
        ghost.root.position.set((min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2);
        ghost.root.scale.set(max[0] - min[0] + LARGER_M, max[1] - min[1] + LARGER_M,
            max[2] - min[2] + LARGER_M);
        const own = this.place.pieces[piece]?.colour ?? 0;
        ghost.body.material.color.setHex(COLOURS[kind]);
        if (own !== 0 && kind !== 'bad') {
            ghost.body.material.color.lerp(new THREE.Color(own), 0.5);
        }
        ghost.edges.material.color.setHex(COLOURS[kind]);
    }

    private make(key: string): Ghost | null {
        if (this.ghosts.size >= GHOSTS_MAX) {
            return null;
        }
        const body = new THREE.Mesh(box, new THREE.MeshBasicMaterial({
            transparent: true, opacity: 0.38, depthWrite: false, fog: false,
        }));
        const line = new THREE.LineSegments(edges, new THREE.LineBasicMaterial({ fog: false }));
        const root = new THREE.Group();
        root.add(body, line);
        this.group.add(root);
        const ghost = { root, body, edges: line };
        this.ghosts.set(key, ghost);
        return ghost;
    }
}

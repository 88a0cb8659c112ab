// Another parent for things that are to stay where they are: their poses are worked out anew in its frame.
import * as THREE from 'three';

import type { Op, Triple } from './document.ts';
import type { Studio } from './state.ts';

export const round = (value: number): number => Math.round(value * 10_000) / 10_000;
export const triple = (v: THREE.Vector3): Triple => [round(v.x), round(v.y), round(v.z)];

// As scene.json has it: degrees about x, y, z where that is exact enough, in its order.
export function rotationOf(q: THREE.Quaternion): number[] {
    const { x, y, z } = new THREE.Euler().setFromQuaternion(q, 'YXZ');
    return [x, y, z].map((angle) => round(THREE.MathUtils.radToDeg(angle)));
}

const STANDS = new Set([2, 3]); // characters and spawns

export interface Frame {
    position: THREE.Vector3;
    rotation: THREE.Quaternion;
}

// Of what stands on that thing; 0: of the place.
export function frameOf(studio: Studio, id: number): Frame {
    const row = studio.rows.get(id);
    const [x, y, z] = row?.position ?? [0, 0, 0]; // the middle of what stands
    return {
        position: new THREE.Vector3(x, row !== undefined && STANDS.has(row.type) ? y - row.half[1] : y, z),
        rotation: new THREE.Quaternion(...row?.rotation ?? [0, 0, 0, 1]),
    };
}

export function placedUnder(studio: Studio, ids: readonly number[], parent: number): Op[] {
    if (ids.length === 0) {
        return [];
    }
    const to = frameOf(studio, parent);
    const back = to.rotation.clone().invert();
    const ops: Op[] = [{ op: 'move', ids: [...ids], parent }];
    for (const id of ids) {
        const { transform } = studio.document.entity(id);
        const from = frameOf(studio, studio.rows.get(id)?.parent ?? 0);
        const own = new THREE.Vector3(...transform?.position ?? [0, 0, 0]);
        const position = own.clone().applyQuaternion(from.rotation).add(from.position).sub(to.position).applyQuaternion(back);
        if (position.distanceTo(own) > 1e-4) {
            ops.push({ op: 'set', member: 'transform.position', ids: [id], value: triple(position) });
        }
        if (from.rotation.angleTo(to.rotation) > 1e-4) {
            const turned = new THREE.Quaternion(...studio.rows.get(id)?.rotation ?? [0, 0, 0, 1]);
            ops.push({ op: 'set', member: 'transform.rotation', ids: [id], value: rotationOf(back.clone().multiply(turned)) });
        }
    }
    return ops;
}

// Putting and removing boxes of voxels.
import type { Vector3 } from 'three';

import type { Op, SettingsRecord, Triple } from './document.ts';
import type { Studio } from './state.ts';
import { words } from './words_studio.ts';

// For a place that has no kinds yet.
const FIRST_KINDS: NonNullable<SettingsRecord['voxelKinds']> = [
    { name: 'grass', material: 'grass', colour: '#5d9c4d' },
    { name: 'dirt', material: 'plain', colour: '#8a6a4a' },
    { name: 'stone', material: 'stone', colour: '#8d8d86' },
    { name: 'sand', material: 'sand', colour: '#e3d3a0' },
    { name: 'snow', material: 'snow', colour: '#f2f7fb' },
    { name: 'water', material: 'water', colour: '#3a86c0', solid: false },
];

// Names of what can be put, whether or not the place has them yet.
export function voxelKinds(studio: Studio): string[] {
    return (studio.document.settings().voxelKinds ?? FIRST_KINDS).map(({ name }) => name);
}

export function paintTerrain(studio: Studio, from: Vector3, to: Vector3): void {
    const kind = studio.voxel.value === '' ? voxelKinds(studio)[0] ?? 'grass' : studio.voxel.value;
    const ops: Op[] = [];
    if (kind !== 'air' && (studio.document.settings().voxelKinds ?? []).length === 0) {
        ops.push({ op: 'set', kind: 'settings', member: 'voxelKinds', ids: [0], value: FIRST_KINDS });
    }
    const min: Triple = [Math.min(from.x, to.x), Math.min(from.y, to.y), Math.min(from.z, to.z)];
    const max: Triple = [Math.max(from.x, to.x), Math.max(from.y, to.y), Math.max(from.z, to.z)];
    ops.push({ op: 'fill', id: studio.document.newId('terrain'), box: { min, max, kind } });
    studio.document.edit(kind === 'air' ? words.steps.dig : words.steps.fill, ops);
}

// The pictures, sounds and models of a draft as the game page lists those of a revision. Their contents are blobs
// of the draft.
import type { Asset, AssetKind } from '../core/asset.ts';
import type { FileEntry } from './script/contract.ts';

const KINDS: Record<string, AssetKind> = {
    png: 'png', jpg: 'jpeg', jpeg: 'jpeg', ogg: 'ogg', wav: 'wav', glb: 'glb', gltf: 'gltf', bin: 'bin',
};

// As a build lists them: by path, so that their numbers are those of the scene (core/wire/asset_names.h).
export function assetList(place: string, files: readonly FileEntry[]): Asset[] {
    return files.flatMap(({ path, hash }): Asset[] => {
        const kind = path.startsWith('assets/') ? KINDS[/\.([^.]+)$/.exec(path)?.[1] ?? ''] : undefined;
        return kind === undefined ? [] : [{
            path, hash, kind, url: `/api/places/${encodeURIComponent(place)}/blob/${hash}`,
            bytes: 0, width: 0, height: 0, triangles: 0, seconds: 0,
        }];
    }).sort((a, b) => a.path < b.path ? -1 : 1);
}

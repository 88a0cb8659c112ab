// A file of a place that players fetch when they need it: a picture, a sound or a model.
export type AssetKind = 'png' | 'jpeg' | 'ogg' | 'wav' | 'glb' | 'gltf' | 'bin';

export interface Asset {
    path: string; // "assets/door.png"
    url?: string; // where it is, if it is no file of a revision
    hash: string; // 64 hex digits
    kind: AssetKind;
    bytes: number; // of the file
    width: number; // of a picture, in pixels; 0 else
    height: number;
    triangles: number; // of a model
    seconds: number; // of a sound
}

// Pictures of the place on parts: decoded, no larger than a page needs, as textures that repeat.
import * as THREE from 'three';

import { words } from '../ui/words.ts';
import { type Asset, type Assets, PICTURES } from './assets.ts';
import { type Budget, pictureBytes } from './budget.ts';
import { type Held, Wanted } from './wanted.ts';

const EDGE_MAX = 1024; // pixels; larger ones are made smaller when they are decoded

// Through a Blob and no address, because the page's policy forbids fetching blob: addresses.
// `up`: the first row is the lowest one, as the graphics card has it.
export async function decodePicture(bytes: BlobPart, type: string, up: boolean):
Promise<ImageBitmap> {
    const whole = await createImageBitmap(new Blob([bytes], { type }), {
        imageOrientation: up ? 'flipY' : 'from-image', premultiplyAlpha: 'none',
        colorSpaceConversion: 'none',
    });
    const part = EDGE_MAX / Math.max(whole.width, whole.height);
    if (part >= 1) {
        return whole;
    }
    const small = await createImageBitmap(whole, {
        resizeWidth: Math.max(1, Math.round(whole.width * part)),
        resizeHeight: Math.max(1, Math.round(whole.height * part)),
        resizeQuality: 'medium', premultiplyAlpha: 'none', colorSpaceConversion: 'none',
    });
    whole.close();
    return small;
}

async function loadPicture(assets: Assets, asset: Asset): Promise<Held<THREE.Texture>> {
    const bytes = await assets.bytes(asset);
    const image = await decodePicture(bytes, `image/${asset.kind}`, true).catch(() => {
        throw new Error(words.assets.pictureFailed);
    });
    const texture = new THREE.Texture(image);
    texture.flipY = false; // it is, by decodePicture
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.wrapS = THREE.RepeatWrapping;
    texture.wrapT = THREE.RepeatWrapping;
    texture.anisotropy = 4;
    texture.needsUpdate = true;
    return {
        value: texture,
        bytes: pictureBytes(image.width, image.height),
        dispose: () => {
            texture.dispose();
            image.close();
        },
    };
}

export const wantPictures = (assets: Assets, budget: Budget, changed: (ids: number[]) => void):
Wanted<THREE.Texture> => new Wanted({
    assets, budget, kinds: PICTURES, changed, load: (asset) => loadPicture(assets, asset),
});

// A picture of the place among the widgets of scripts (UI.Image). It takes its room before it is here, so
// that nothing jumps; while it loads and when it cannot be shown, the text that stands for it is there.
import { useComputed, useSignal } from '@preact/signals';
import { createContext, type CSSProperties, type JSX } from 'preact';
import { useContext, useEffect } from 'preact/hooks';

import { words } from '../../ui/words.ts';
import { type Asset, type Assets, PICTURES, assetUrl } from '../assets.ts';
import { type Budget, pictureBytes } from '../budget.ts';
import type { Widget } from '../shown.ts';

const AGAIN_MS = [1000, 4000]; // after a failure

export interface Files {
    assets: Assets;
    budget: Budget;
}
export const FilesContext = createContext<Files | null>(null);

// The file's name without folder and ending, where the script says nothing better.
export const describe = ({ alt, image }: Pick<Widget, 'alt' | 'image'>): string =>
    alt ?? image.replace(/^.*\//, '').replace(/\.[^.]*$/, '');

// What the script left out follows from the picture, as does the other edge from one.
export function pictureSize({ width, height }: Pick<Widget, 'width' | 'height'>,
    asset: Pick<Asset, 'width' | 'height'> | null): [number, number] {
    const ratio = asset === null || asset.width === 0 || asset.height === 0 ? 1
        : asset.width / asset.height;
    return width > 0 ? [width, height > 0 ? height : width / ratio]
        : height > 0 ? [height * ratio, height]
        : [asset?.width ?? 0, asset?.height ?? 0];
}

function Shown({ asset, files, alt, style }: {
    asset: Asset; files: Files; alt: string; style: CSSProperties;
}): JSX.Element {
    const state = useSignal<'loading' | 'here' | 'failed'>('loading');
    const tries = useSignal(0);
    const { assets, budget } = files;
    useEffect(() => {
        const key = `ui ${asset.hash}`; // the browser decodes it once, however often it is shown
        if (budget.hold(key, pictureBytes(asset.width, asset.height), performance.now())) {
            return () => budget.release(key);
        }
        assets.fail(asset.path, words.assets.tooMuch);
        state.value = 'failed';
        return undefined;
    }, [asset.hash]);
    useEffect(() => state.value === 'loading' ? assets.begin(asset) : undefined, [state.value]);
    const failed = (): void => {
        const pause = AGAIN_MS[tries.value];
        if (pause === undefined) {
            assets.fail(asset.path, words.assets.pictureFailed);
            state.value = 'failed';
        } else {
            setTimeout(() => { tries.value += 1; }, pause);
        }
    };
    return state.value === 'failed' ? <Blank alt={alt} style={style} /> : (
        <img key={tries.value} class={`w-image ${state.value}`} src={assetUrl(asset)} alt={alt}
            draggable={false} decoding="async" style={style}
            onLoad={() => { state.value = 'here'; }} onError={failed} />
    );
}

function Blank({ alt, style }: { alt: string; style: CSSProperties }): JSX.Element {
    const size = style.width === undefined ? 'unknown' : '';
    return <div class={`w-image blank ${size}`} role="img" aria-label={alt} style={style}>{alt}</div>;
}

export function Picture({ widget }: { widget: Widget }): JSX.Element {
    const files = useContext(FilesContext);
    const found = useComputed(() => files?.assets.list.value); // drawn again when the list is here
    const asset = found.value === null ? null : files?.assets.find(widget.image, PICTURES) ?? null;
    const [width, height] = pictureSize(widget, asset);
    const style: CSSProperties = width === 0 ? {}
        : { width: `${width}px`, aspectRatio: `${width} / ${height}` };
    const alt = describe(widget);
    return asset === null || files === null ? <Blank alt={alt} style={style} />
        : <Shown key={asset.hash} asset={asset} files={files} alt={alt} style={style} />;
}

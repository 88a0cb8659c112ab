// The document of the Studio, without a place: for comparing two. Loaded when somebody asks for it.
import wasmUrl from '../../../build/wasm/studio.wasm?url'; // made by the wasm preset

import { StudioDocument } from '../studio/document.ts';

export const loadWordsTool = async (): Promise<StudioDocument> =>
    StudioDocument.load(await WebAssembly.compileStreaming(fetch(wasmUrl)));

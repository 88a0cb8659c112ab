// The page's document as the code editor and the play pane see it.
import { effect, untracked } from '@preact/signals';

import type { Studio } from '../state.ts';
import type { ScriptDocument } from './contract.ts';

const documents = new WeakMap<Studio, ScriptDocument>();

function make(studio: Studio): ScriptDocument {
    const { document, link, place } = studio;
    return {
        placeId: place,
        get canWrite() { return link.canWrite.peek(); },
        files: () => document.files(),
        placeJson: () => document.placeJson(),
        sceneJson: () => document.sceneJson(),
        on: (event, listener) => document.on(event, () => listener()),
        writers: () => link.writers.peek().map(({ path, editor }) => ({
            path, isOwn: editor === document.editor,
            name: link.editors.peek().find((each) => each.editor === editor)?.name ?? '',
        })),
        onWriters: (listener) => effect(() => {
            void link.writers.value;
            void link.canWrite.value;
            untracked(listener);
        }),
        write: (path, take) => link.write(path, take),
    };
}

export function scriptDocument(studio: Studio): ScriptDocument {
    const known = documents.get(studio) ?? make(studio);
    documents.set(studio, known);
    return known;
}

// The texts of open scripts, saved or not, for those who need the newest without loading the editor.
import { signal } from '@preact/signals';

import type { ScriptDocument } from './contract.ts';

// Of open scripts: whether all are saved, some are about to be, or one could not be saved.
export const scriptsSaved = signal<'saved' | 'saving' | 'unsaved'>('saved');

type Find = (path: string) => string | undefined;
const finders = new WeakMap<ScriptDocument, Find>();

export const offerOpenTexts = (document: ScriptDocument, find: Find): void => void finders.set(document, find);
export const openText = (document: ScriptDocument, path: string): string | undefined => finders.get(document)?.(path);

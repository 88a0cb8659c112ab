// The texts of open scripts, saved or not, for those who need the newest without loading the editor.
import { signal } from '@preact/signals';

import type { ScriptDocument } from './contract.ts';

// Of open scripts: whether all are saved, some are about to be, or one could not be saved.
export const scriptsSaved = signal<'saved' | 'saving' | 'unsaved'>('saved');

type Find = (path: string) => string | undefined;
type Close = (path: string) => Promise<boolean>;
const finders = new WeakMap<ScriptDocument, { find: Find; close: Close }>();

export const offerOpenTexts = (document: ScriptDocument, find: Find, close: Close): void => void finders.set(document, { find, close });
export const openText = (document: ScriptDocument, path: string): string | undefined => finders.get(document)?.find(path);
// Saves it first; false: it could not be saved, and stays open.
export const closeText = async (document: ScriptDocument, path: string): Promise<boolean> => await finders.get(document)?.close(path) ?? true;

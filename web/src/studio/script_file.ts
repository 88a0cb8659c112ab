// Renaming and deleting a script, as one step of undo: what names the file is changed with it. An open text is
// saved and its tab closed first, so that nothing that was typed is lost.
import { FLAG, type Op } from './document.ts';
import { closeText } from './script/open_texts.ts';
import type { Studio } from './state.ts';
import { words } from './words_studio.ts';

export const SCRIPT = /\.(lua|luau|ts|soul)$/;
export const SCRIPT_NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;

const ending = (path: string): string => SCRIPT.exec(path)?.[0] ?? '';
// "SoulService/Workspace/Door.soul.lua" → "Workspace/Door": as others name it.
const plain = (path: string): string => path.replace(/^SoulService\//, '').replace(SCRIPT, '').replace(/\.soul$/, '');
export const nameOf = (path: string): string => plain(path).split('/').at(-1) ?? '';

function usersOf({ document, rows }: Studio, path: string): { id: number; hasPath: boolean }[] {
    return [...rows.values()].filter(({ flags }) => (flags & FLAG.script) !== 0).flatMap(({ id }) => {
        const { scriptRef, scriptPath } = document.entity(id) as { scriptRef?: { path?: string }; scriptPath?: string };
        return plain(scriptRef?.path ?? scriptPath ?? '') === plain(path) ? [{ id, hasPath: scriptPath !== undefined }] : [];
    });
}

// The file, and the Lua that was made of a text in plain language.
const filesOf = ({ files }: Studio, path: string): { path: string; hash: string }[] =>
    [path, `${path}.lua`].flatMap((each) => {
        const hash = files.hashOf(each);
        return hash === null || each !== path && !path.endsWith('.soul') ? [] : [{ path: each, hash }];
    });

// Where it runs is said by its name in the settings.
function contextOps({ document }: Studio, from: string, to: string | null): Op[] {
    const { [plain(from)]: context, ...others } = (document.settings().contexts ?? {}) as Record<string, unknown>;
    return context === undefined ? [] : [{
        op: 'set', kind: 'settings', member: 'contexts', ids: [0],
        value: to === null ? others : { ...others, [plain(to)]: context },
    }];
}

// What is wrong with the name; empty if nothing is.
export function checkName(studio: Studio, path: string, name: string): string {
    const to = path.slice(0, path.lastIndexOf('/') + 1) + name;
    const taken = studio.document.files().find((file) => SCRIPT.test(file.path) && file.path !== path && plain(file.path) === plain(to + ending(path)));
    return !SCRIPT_NAME.test(name) ? words.newScript.nameRule : taken !== undefined ? words.newScript.taken(taken.path) : '';
}

// False: somebody else writes it, or its text could not be saved.
async function release(studio: Studio, path: string): Promise<boolean> {
    const writer = studio.link.writers.value.find((each) => each.path === path && each.editor !== studio.document.editor);
    if (writer !== undefined) {
        const name = studio.link.editors.value.find(({ editor }) => editor === writer.editor)?.name ?? words.bySomebody;
        studio.say(words.otherWrites(name, path), 'error');
        return false;
    }
    const isClosed = await closeText(studio.scriptDocument, path);
    if (!isClosed) {
        studio.say(words.notSavedYet(path), 'error');
    }
    return isClosed;
}

export async function renameScript(studio: Studio, path: string, name: string): Promise<void> {
    const isOpen = studio.open.value?.path === path;
    const to = path.slice(0, path.lastIndexOf('/') + 1) + name + ending(path);
    if (!await release(studio, path)) {
        return;
    }
    const users = usersOf(studio, path);
    const built = users.filter(({ hasPath }) => hasPath).map(({ id }) => id);
    const ops: Op[] = filesOf(studio, path).map((file) =>
        ({ op: 'rename', from: file.path, to: to + file.path.slice(path.length), known: file.hash }));
    if (users.length > 0) {
        ops.push({ op: 'set', member: 'scriptRef.path', ids: users.map(({ id }) => id), value: to });
    }
    if (built.length > 0) {
        ops.push({ op: 'set', member: 'scriptPath', ids: built, value: null }); // a build writes it anew
    }
    if (studio.document.edit(words.steps.renameFile(nameOf(path), name), [...ops, ...contextOps(studio, path, to)]) && isOpen) {
        studio.openScript(to);
    }
}

export async function deleteScript(studio: Studio, path: string): Promise<void> {
    if (!await release(studio, path)) {
        return;
    }
    const users = usersOf(studio, path);
    const ops: Op[] = filesOf(studio, path).map((file) => ({ op: 'file', path: file.path, hash: null, known: file.hash }));
    if (studio.document.edit(words.steps.removeFile(path), [...ops, ...contextOps(studio, path, null)])) {
        studio.open.value = studio.open.value?.path === path ? null : studio.open.value;
        studio.say(words.scriptDeleted(path, users.length), users.length > 0 ? 'warn' : 'info');
    }
}

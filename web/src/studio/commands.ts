// Everything that can be done, by name and key: the palette lists it, the keyboard calls it, and buttons show
// the same names. A key is written as it is shown: "Ctrl+Shift+G". On a Mac Ctrl means the command key too.
import * as THREE from 'three';

import { keepCopied, lastCopied, type Copied } from './clipboard.ts';
import type { EntityRecord, Op, Triple } from './document.ts';
import { placedUnder, round } from './frame.ts';
import { downloadGame } from './game_file.ts';
import { KITS, insertKit } from './kits.ts';
import { isNarrow, type Panel, type Side, type Studio, type Tool } from './state.ts';
import { words } from './words_studio.ts';

export interface Command {
    id: string;
    name: string;
    key: string;
    run: (studio: Studio) => void;
    can?: (studio: Studio) => boolean;
}

const hasSelection = (studio: Studio): boolean => studio.selection.value.length > 0 && studio.canWrite();
const mayWrite = (studio: Studio): boolean => studio.canWrite();

// --- what is selected ----------------------------------------------------------------------------------

export function remove(studio: Studio): void {
    const ids = studio.roots();
    if (ids.length > 0) {
        studio.document.edit(words.steps.remove(ids.length), [{ op: 'delete', ids }]);
    }
}

// With everything below; new ids, the same parents.
export function copyOps(studio: Studio, ids: readonly number[], by: Triple): { ops: Op[]; roots: number[] } {
    const all = studio.withBelow(ids);
    const fresh = new Map(all.map((id) => [id, studio.document.newId()]));
    const chosen = new Set(ids);
    const ops = all.map((id): Op => {
        const record = studio.document.entity(id);
        const entity: EntityRecord = { ...record, id: fresh.get(id) ?? 0 };
        const parent = record.parent === undefined ? undefined : fresh.get(record.parent) ?? record.parent;
        const [x, y, z] = record.transform?.position ?? [0, 0, 0];
        return {
            op: 'create',
            entity: {
                ...entity, ...(parent === undefined ? {} : { parent }),
                ...(chosen.has(id) ? {
                    transform: { ...record.transform, position: [round(x + by[0]), round(y + by[1]), round(z + by[2])] },
                } : {}),
            },
        };
    });
    return { ops, roots: ids.map((id) => fresh.get(id) ?? 0) };
}

export function duplicate(studio: Studio): void {
    const roots = studio.roots();
    const step = studio.grid.value === 0 ? 1 : studio.grid.value;
    const { ops, roots: made } = copyOps(studio, roots, [step, 0, step]);
    if (ops.length > 0 && studio.document.edit(words.steps.duplicate(roots.length), ops)) {
        studio.select(made);
    }
}

// A group at their middle; they keep their places in the world.
export function group(studio: Studio): void {
    const roots = studio.roots();
    const { document } = studio;
    const id = document.newId();
    const parents = new Set(roots.map((each) => studio.rows.get(each)?.parent ?? 0));
    const parent = parents.size === 1 ? [...parents][0] ?? 0 : 0;
    if (parents.size > 1) {
        studio.say(words.groupApart, 'warn');
        return;
    }
    const entity: EntityRecord = {
        id, type: 'group', name: words.groupName, ...(parent === 0 ? {} : { parent }),
    };
    const ops: Op[] = [{ op: 'create', entity }, { op: 'move', ids: roots, parent: id }];
    if (document.edit(words.steps.group(roots.length), ops)) {
        studio.select([id]);
    }
}

// Children of a group get the places that they have in the world.
export function ungroup(studio: Studio): void {
    const groups = studio.roots().filter((id) => studio.rows.get(id)?.type === 4);
    const below = [...studio.rows.values()].filter(({ parent }) => groups.includes(parent)).map(({ id }) => id);
    const ops = groups.flatMap((id) => placedUnder(studio, below.filter((each) => studio.rows.get(each)?.parent === id),
        studio.rows.get(id)?.parent ?? 0));
    if (groups.length > 0 && studio.document.edit(words.steps.ungroup, [...ops, { op: 'delete', ids: groups }])) {
        studio.select(below);
    }
}

// A key that is held, or pressed several times, is one step.
const NUDGE_MS = 700;
let nudged = { ids: '', ms: 0, gesture: 0 };

// Left and right as one sees it, by the grid.
function nudge(studio: Studio, by: Triple): void {
    const { view } = studio;
    const step = studio.grid.value === 0 ? 0.1 : studio.grid.value;
    const held = view?.gizmo.hold() ?? [];
    if (view === null || held.length === 0) {
        return;
    }
    const now = performance.now();
    const ids = studio.selection.value.join();
    const goesOn = nudged.ids === ids && now - nudged.ms < NUDGE_MS;
    nudged = { ids, ms: now, gesture: goesOn ? nudged.gesture : view.gizmo.newGesture() };
    view.gizmo.moveBy(new THREE.Vector3(...view.rig.alongView(by)).multiplyScalar(step), held, nudged.gesture, true);
    view.gizmo.follow();
}

// --- the clipboard -------------------------------------------------------------------------------------

// So many bytes of entities fit a transaction with room to spare; more goes to the server as a file first.
const CREATE_BYTES_MAX = 768 << 10;

let clip: { studio: Studio; ids: number[]; records: EntityRecord[]; copied: Copied } | null = null;

function copy(studio: Studio): void {
    const ids = studio.roots();
    const copied = { bytes: studio.document.copy(ids), count: ids.length, at: Date.now() };
    clip = { studio, ids, records: studio.withBelow(ids).map((id) => studio.document.entity(id)), copied };
    void keepCopied(copied);
    studio.say(words.copied(ids.length));
}

function pasteHere(studio: Studio, ids: number[], records: EntityRecord[]): void {
    const fresh = new Map(records.map(({ id }) => [id, studio.document.newId()]));
    const ops = records.map((record): Op => {
        const { parent, ...rest } = record;
        const above = parent === undefined ? undefined : fresh.get(parent);
        return { op: 'create', entity: { ...rest, id: fresh.get(record.id) ?? 0, ...(above === undefined ? {} : { parent: above }) } };
    });
    const roots = ids.map((id) => fresh.get(id) ?? 0);
    if (ops.length > 0 && studio.document.edit(words.steps.paste(roots.length), ops)) {
        studio.select(roots);
    }
}

async function pasteClip(studio: Studio, { bytes, count }: Copied): Promise<void> {
    try {
        await studio.files.store(bytes);
    } catch (cause) {
        studio.say(words.pasteFailed(cause instanceof Error ? cause.message : String(cause)));
        return;
    }
    const before = new Set(studio.rows.keys());
    if (studio.document.paste(words.steps.paste(count), bytes)) {
        studio.select([...studio.rows.values()].filter(({ id, parent }) => parent === 0 && !before.has(id)).map(({ id }) => id));
    }
}

// The newest copy counts, also if it was made in another tab.
async function paste(studio: Studio): Promise<void> {
    const last = await lastCopied();
    if (clip !== null && (last === null || last.at <= clip.copied.at)) {
        if (clip.studio === studio && clip.copied.bytes.length <= CREATE_BYTES_MAX) {
            pasteHere(studio, clip.ids, clip.records);
        } else {
            await pasteClip(studio, clip.copied);
        }
    } else if (last !== null) {
        await pasteClip(studio, last);
    }
}

// --- the table -----------------------------------------------------------------------------------------

const GRIDS = [0.25, 0.5, 1, 2, 0];
const ANGLES = [5, 15, 45, 90, 0];
const nextOf = (all: readonly number[], now: number): number => all[(all.indexOf(now) + 1) % all.length] ?? 0;

const tool = (id: Tool, key: string): Command => ({
    id: `tool-${id}`, name: words.tools[id], key, run: (studio) => { studio.tool.value = id; },
});
const panel = (id: Panel, key: string): Command => ({
    id: `panel-${id}`, name: words.panels[id], key,
    run: (studio) => { studio.panel.value = studio.panel.value === id ? null : id; },
});
const side = (id: Side, key: string): Command => ({
    id: `side-${id}`, name: words.sides[id], key,
    run: (studio) => {
        studio.showsSide.value = true;
        studio.side.value = id;
        setTimeout(() => document.querySelector<HTMLElement>(id === 'tree' ? '#tree-search' : '.kits button')?.focus(), 50);
    },
});
const KIT_KEYS = ['Alt+1', 'Alt+2', 'Alt+3', 'Alt+4', 'Alt+5', 'Alt+6', 'Alt+7', 'Alt+8', 'Alt+9', 'Alt+0', 'Alt+-'];

export const COMMANDS: readonly Command[] = [
    tool('select', 'Q'), tool('move', 'W'), tool('rotate', 'E'), tool('scale', 'R'), tool('terrain', 'T'),
    { id: 'undo', name: words.undo, key: 'Ctrl+Z', run: ({ document: doc }) => doc.undo(), can: ({ document: doc }) => doc.canUndo },
    { id: 'redo', name: words.redo, key: 'Ctrl+Y', run: ({ document: doc }) => doc.redo(), can: ({ document: doc }) => doc.canRedo },
    { id: 'redo-2', name: words.redo, key: 'Ctrl+Shift+Z', run: ({ document: doc }) => doc.redo(), can: ({ document: doc }) => doc.canRedo },
    { id: 'duplicate', name: words.duplicate, key: 'Ctrl+D', run: duplicate, can: hasSelection },
    { id: 'copy', name: words.copy, key: 'Ctrl+C', run: copy, can: ({ selection }) => selection.value.length > 0 },
    { id: 'paste', name: words.paste, key: 'Ctrl+V', run: (studio) => { void paste(studio); }, can: mayWrite },
    { id: 'delete', name: words.remove, key: 'Delete', run: remove, can: hasSelection },
    { id: 'group', name: words.group, key: 'Ctrl+G', run: group, can: hasSelection },
    { id: 'ungroup', name: words.ungroup, key: 'Ctrl+Shift+G', run: ungroup, can: hasSelection },
    { id: 'select-all', name: words.selectAll, key: 'Ctrl+A', run: (studio) => studio.select([...studio.rows.values()].filter(({ parent }) => parent === 0).map(({ id }) => id)) },
    { id: 'select-none', name: words.selectNone, key: 'Escape', run: (studio) => studio.select([]) },
    { id: 'focus', name: words.focus, key: 'F', run: (studio) => studio.view?.focus(studio.selection.value.length > 0 ? studio.selection.value : [...studio.rows.keys()]) },
    { id: 'look-all', name: words.lookAtAll, key: 'Home', run: (studio) => studio.view?.lookAtAll() },
    { id: 'space', name: words.localOrWorld, key: 'X', run: ({ space }) => { space.value = space.value === 'world' ? 'local' : 'world'; } },
    { id: 'grid', name: words.nextGrid, key: 'G', run: ({ grid }) => { grid.value = nextOf(GRIDS, grid.value); } },
    { id: 'angle', name: words.nextAngle, key: 'Shift+G', run: ({ angle }) => { angle.value = nextOf(ANGLES, angle.value); } },
    { id: 'surface', name: words.surface, key: 'Shift+S', run: ({ surface }) => { surface.value = !surface.value; } },
    { id: 'nudge-left', name: words.nudge.left, key: 'ArrowLeft', run: (studio) => nudge(studio, [-1, 0, 0]), can: hasSelection },
    { id: 'nudge-right', name: words.nudge.right, key: 'ArrowRight', run: (studio) => nudge(studio, [1, 0, 0]), can: hasSelection },
    { id: 'nudge-back', name: words.nudge.back, key: 'ArrowUp', run: (studio) => nudge(studio, [0, 0, -1]), can: hasSelection },
    { id: 'nudge-front', name: words.nudge.front, key: 'ArrowDown', run: (studio) => nudge(studio, [0, 0, 1]), can: hasSelection },
    { id: 'nudge-up', name: words.nudge.up, key: 'PageUp', run: (studio) => nudge(studio, [0, 1, 0]), can: hasSelection },
    { id: 'nudge-down', name: words.nudge.down, key: 'PageDown', run: (studio) => nudge(studio, [0, -1, 0]), can: hasSelection },
    ...KITS.map((kit, i): Command => ({
        id: `insert-${kit}`, name: words.insertKit(words.kits[kit].name), key: KIT_KEYS[i] ?? '',
        run: (studio) => {
            insertKit(studio, kit).catch((cause: unknown) => studio.say(String((cause as Error).message), 'error'));
        }, can: mayWrite,
    })),
    side('insert', 'Shift+I'), side('tree', 'Shift+H'),
    panel('problems', 'Shift+P'), panel('console', 'Shift+C'), panel('assets', 'Shift+A'), panel('history', 'Shift+U'),
    { id: 'inspector', name: words.inspector, key: 'Shift+N', run: (studio) => {
        studio.showsInspector.value = !studio.showsInspector.value;
        studio.showsSide.value &&= !isNarrow() || !studio.showsInspector.value;
    } },
    { id: 'sidebar', name: words.sidebar, key: 'Shift+B', run: (studio) => {
        studio.showsSide.value = !studio.showsSide.value;
        studio.showsInspector.value &&= !isNarrow() || !studio.showsSide.value;
    } },
    { id: 'settings', name: words.settings, key: 'Shift+O', run: (studio) => { studio.select([]); studio.showsInspector.value = true; } },
    { id: 'play', name: words.play, key: 'F5', run: (studio) => {
        studio.playing.value = !studio.playing.value;
        studio.panel.value = studio.playing.value ? 'console' : studio.panel.value;
    } },
    { id: 'new-script', name: words.newScript.title, key: 'Shift+K', run: ({ dialog }) => { dialog.value = 'script'; }, can: mayWrite },
    { id: 'publish', name: words.publish, key: 'Ctrl+Shift+P', run: ({ dialog }) => { dialog.value = 'publish'; } },
    { id: 'import', name: words.importGame, key: 'Ctrl+Shift+O', run: ({ dialog }) => { dialog.value = 'import'; } },
    { id: 'download', name: words.downloadGame, key: 'Ctrl+Shift+S', run: (studio) => {
        void downloadGame(studio).catch((cause: unknown) => studio.say(String((cause as Error).message), 'error'));
    } },
    { id: 'save', name: words.save, key: 'Ctrl+S', run: (studio) => studio.say(words.savedStates[studio.saved.value]) },
    { id: 'palette', name: words.palette, key: 'Ctrl+K', run: ({ dialog }) => { dialog.value = 'palette'; } },
    { id: 'keys', name: words.keys, key: 'F1', run: ({ dialog }) => { dialog.value = 'keys'; } },
    { id: 'tour', name: words.tour.start, key: 'Shift+F1', run: ({ tour }) => { tour.value = 0; } },
];

const CODES: Record<string, string> = { '-': 'Minus' };

// The key of an event, as commands write theirs. Letters by where they are on the keyboard would be wrong
// on other layouts; with Alt only the place is certain.
function keyOf(event: KeyboardEvent): string {
    const parts = [event.ctrlKey || event.metaKey ? 'Ctrl' : '', event.altKey ? 'Alt' : '', event.shiftKey ? 'Shift' : ''];
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
    const name = event.altKey && event.code === CODES['-'] ? '-' : digit ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
    return [...parts, name === 'Backspace' ? 'Delete' : name].filter((part) => part !== '').join('+');
}

const WRITES = 'input:not([type=checkbox]):not([type=range]):not([type=color]), textarea, select, [contenteditable=true], .cm-editor';

// True: it was a command.
export function press(studio: Studio, event: KeyboardEvent): boolean {
    const key = keyOf(event);
    const [target] = event.composedPath(); // the code editor is inside a shadow root
    const isWriting = target instanceof Element && target.closest(WRITES) !== null;
    const isInTree = target instanceof Element && target.closest('[role=tree], [role=tablist], [role=listbox], .script-tabs') !== null;
    const command = COMMANDS.find((each) => each.key === key);
    // Somebody who plays may have clicked beside the game: then walking and jumping change nothing here.
    const isForGame = studio.playing.value && command?.id !== 'play' && !key.startsWith('Ctrl+') &&
        !(target instanceof Element && target.closest('.left, .inspector') !== null);
    if (command === undefined || isForGame ||
        isWriting && !/^Ctrl\+(K|S|Shift\+P)$|^F\d/.test(key) || isInTree && /^Arrow|^Page|^Home|^End|^Escape/.test(key) ||
        studio.dialog.value !== null && command.id !== 'palette') {
        return false;
    }
    event.preventDefault();
    if (command.can?.(studio) ?? true) {
        command.run(studio);
    }
    return true;
}

export const commandOf = (id: string): Command => {
    const found = COMMANDS.find((each) => each.id === id);
    if (found === undefined) {
        throw new Error(`no command ${id}`);
    }
    return found;
};

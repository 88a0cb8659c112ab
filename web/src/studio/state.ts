// What the parts of the Studio share: the document, what is selected, and how one works. Everything that is
// shown is a signal, so a part draws itself again when what it shows has changed, and only then.
import { computed, signal } from '@preact/signals';

import type { Diagnostic } from '../core/bridge.ts';

import type { DrawRow, Problem, StudioDocument } from './document.ts';
import type { Files } from './files.ts';
import type { Link } from './link.ts';
import { consoleLog } from './play/console.ts';
import type { Schema } from './schema.ts';
import type { ScriptDocument } from './script/contract.ts';
import { scriptsSaved } from './script/open_texts.ts';
import type { Viewport } from './view/viewport.ts';

export type Tool = 'select' | 'move' | 'rotate' | 'scale' | 'terrain';
export type Panel = 'problems' | 'console' | 'assets' | 'history';
export type Side = 'insert' | 'tree';

const PROBLEMS_MS = 350;
const NOTICE_MS = 6000;

const NARROW = '(max-width: 800px)'; // as studio.css has it
export const isNarrow = (): boolean => matchMedia(NARROW).matches;

export class Studio {
    readonly place: string;
    readonly document: StudioDocument;
    readonly files: Files;
    readonly link: Link;
    readonly schema: Schema;
    readonly rows = new Map<number, DrawRow>(); // of everything, as it is drawn
    readonly selection = signal<readonly number[]>([]);
    readonly tool = signal<Tool>('move');
    readonly space = signal<'world' | 'local'>('world');
    readonly grid = signal(0.5); // metres; 0: none
    readonly angle = signal(15); // degrees; 0: none
    readonly surface = signal(true);
    readonly voxel = signal(''); // the kind that is put; 'air' removes
    readonly changed = signal(0); // entities
    readonly ordered = signal(0); // which there are, and their order
    readonly configured = signal(0); // settings
    readonly filed = signal(0); // files
    readonly stepped = signal(0); // history
    readonly problems = signal<readonly Problem[]>([]);
    readonly faults = signal<ReadonlyMap<string, readonly Diagnostic[]>>(new Map()); // of scripts, by path
    readonly published = signal(''); // the revision that was published here last
    readonly lost = signal<'' | 'nothing' | 'below'>(''); // what the picture shows is of no use
    readonly notice = signal('');
    readonly isNoticeWrong = signal(false);
    readonly panel = signal<Panel | null>(null);
    readonly side = signal<Side>('insert');
    readonly dialog = signal<'palette' | 'publish' | 'import' | 'keys' | 'script' | null>(null);
    readonly open = signal<{ path: string; line: number } | null>(null); // a script
    readonly playing = signal(false);
    readonly tour = signal(-1); // the step; -1: not now
    readonly showsInspector = signal(!isNarrow()); // where there is no room for it beside the picture, it is opened by a button
    readonly showsSide = signal(!isNarrow());
    view: Viewport | null = null;
    readonly scriptDocument: ScriptDocument; // what the code editor and the play-test see
    private problemTimer = 0;
    private noticeTimer = 0;

    // What keeps it from being published, of the scene, of the scripts and of files that cannot be read; and what does
    // not. The same two numbers everywhere.
    readonly problemCount = computed(() => this.problems.value.length + (this.link.blocked.value === null ? 0 : 1) +
        [...this.faults.value.values()].flat().filter(({ level }) => level === 'error').length);
    readonly warningCount = computed(() => [...this.faults.value.values()].flat().filter(({ level }) => level !== 'error').length);

    // What is said about saving.
    readonly saved = computed(() => {
        const { state, waiting, blocked, canWrite } = this.link;
        return state.value === 'offline' || state.value === 'refused' || state.value === 'ended' || state.value === 'other' ? state.value
            : blocked.value !== null ? 'blocked' as const
                : !canWrite.value ? 'reading' as const
                    : scriptsSaved.value === 'unsaved' ? 'unsaved' as const
                        : state.value === 'connecting' || waiting.value > 0 ? 'saving' as const : scriptsSaved.value;
    });

    hasAccounts = true; // false: the place is a folder, and whoever reaches this computer may join (sandlot dev)

    constructor(place: string, document: StudioDocument, files: Files, link: Link, schema: Schema) {
        this.place = place;
        this.document = document;
        this.files = files;
        this.link = link;
        this.schema = schema;
        this.scriptDocument = {
            files: () => document.files(),
            placeJson: () => document.placeJson(),
            sceneJson: () => document.sceneJson(),
            compile: (files) => document.compile(files),
            isWaiting: () => document.isWaiting(),
            isConfirmed: () => document.pendingCount() === 0,
            onConfirmed: (listener) => link.waiting.subscribe((waiting) => { if (waiting === 0) { listener(); } }),
            onRefused: (listener) => document.on('refused', () => listener()),
            onEntities: (listener) => document.on('change', ({ rows, gone }) => listener(rows.map(({ id }) => id), gone)),
            entity: (id) => document.entity(id),
            on: (event, listener) => document.on(event, listener),
            writers: () => link.writers.value.map(({ path, editor }) => ({
                path, isOwn: editor === document.editor,
                name: link.editors.value.find((each) => each.editor === editor)?.name ?? '',
            })),
            onWriters: (listener) => link.writers.subscribe(() => listener()),
            write: (path, take) => link.write(path, take),
            get canWrite() { return link.canWrite.value; },
            placeId: place,
            hasAccounts: () => this.hasAccounts,
            userName: () => link.editors.value.find(({ editor }) => editor === document.editor)?.name ?? '',
        };
        document.on('change', ({ rows, gone, order }) => {
            rows.forEach((row) => this.rows.set(row.id, row));
            gone.forEach((id) => this.rows.delete(id));
            if (gone.length > 0 && this.selection.value.some((id) => !this.rows.has(id))) {
                this.selection.value = this.selection.value.filter((id) => this.rows.has(id));
            }
            this.changed.value += 1;
            this.ordered.value += order || gone.length > 0 ? 1 : 0;
            this.checkSoon();
        });
        document.on('settings', () => { this.configured.value += 1; this.checkSoon(); });
        document.on('terrain', () => this.checkSoon());
        document.on('files', () => { this.filed.value += 1; this.checkSoon(); });
        document.on('history', () => { this.stepped.value += 1; });
        document.on('refused', (text) => this.say(text, 'error'));
        link.failed.subscribe((text) => {
            if (text !== '') {
                this.say(text, 'error');
            }
        });
    }

    private checkSoon(): void {
        clearTimeout(this.problemTimer);
        this.problemTimer = window.setTimeout(() => { this.problems.value = this.document.problems(); },
            PROBLEMS_MS);
    }

    select(ids: readonly number[]): void {
        this.selection.value = ids.filter((id) => this.rows.has(id));
    }

    // A line for the console.
    note(text: string, level: 'info' | 'warn' | 'error' = 'info'): void {
        consoleLog.add([{ side: 'studio', level, text }]);
    }

    // For a moment also where one looks.
    say(text: string, level: 'info' | 'warn' | 'error' = 'info'): void {
        this.note(text, level);
        this.notice.value = text;
        this.isNoticeWrong.value = level === 'error';
        clearTimeout(this.noticeTimer);
        this.noticeTimer = window.setTimeout(() => { this.notice.value = ''; }, NOTICE_MS);
    }

    setFaults(path: string, found: readonly Diagnostic[]): void {
        const own = found.filter(({ file }) => file === path);
        if (own.length > 0 || this.faults.value.has(path)) {
            const all = new Map(this.faults.value);
            all.delete(path);
            this.faults.value = own.length > 0 ? all.set(path, own) : all;
        }
    }

    openScript(path: string, line = 0): void {
        this.open.value = { path, line };
    }

    // Of what is selected, those that are below nothing else that is selected.
    roots(): number[] {
        const chosen = new Set(this.selection.value);
        return this.selection.value.filter((id) => {
            let above = this.rows.get(id)?.parent ?? 0;
            for (let depth = 0; above !== 0 && depth < 64; depth++) {
                if (chosen.has(above)) {
                    return false;
                }
                above = this.rows.get(above)?.parent ?? 0;
            }
            return true;
        });
    }

    // Those and everything below them, in the order of the document.
    withBelow(ids: readonly number[]): number[] {
        const all = new Set(ids);
        const tree = this.document.tree();
        const parents = new Map<number, number>();
        for (let i = 0; i < tree.length; i += 2) {
            parents.set(tree[i] ?? 0, tree[i + 1] ?? 0);
        }
        const isBelow = (id: number): boolean => {
            for (let at = id, depth = 0; at !== 0 && depth < 64; at = parents.get(at) ?? 0, depth++) {
                if (all.has(at)) {
                    return true;
                }
            }
            return false;
        };
        return [...parents.keys()].filter(isBelow);
    }

    canWrite(): boolean {
        return this.link.canWrite.value;
    }
}

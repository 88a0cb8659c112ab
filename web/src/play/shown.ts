// What scripts show, by the script and the entity it stands above. Trees are plain data (UI.* in
// docs/SCRIPTING.md); nothing of them is ever markup.
import { signal } from '@preact/signals';

import type { Shown } from '../core/bridge.ts';
import type { Value } from '../core/value.ts';
import { LARGE_SHARE } from './flash.ts';

export interface Widget {
    kind: string;
    text: string;
    title: string;
    image: string;
    alt: string | null; // what a picture shows; null: the script does not say
    placeholder: string;
    colour: string; // as CSS has it, '' for the page's own
    size: number; // pixels; 0: the page's own
    width: number;
    height: number;
    value: number;
    max: number;
    columns: number;
    gap: number;
    direction: 'row' | 'column';
    anchor: string;
    layer: number;
    handler: number; // 0: none
    key: string;
    children: Widget[];
}

export interface Tree {
    owner: number;
    entity: number;
    root: Widget;
}

export const ANCHORS = ['top-left', 'top', 'top-right', 'left', 'center', 'right', 'bottom-left',
    'bottom', 'bottom-right'] as const;

type Fields = { [key: string]: Value };

const isFields = (value: Value | undefined): value is Fields =>
    typeof value === 'object' && value !== null && !Array.isArray(value);

function numberIn(fields: Fields, name: string, low: number, high: number, otherwise: number): number {
    const value = fields[name];
    return typeof value === 'number' ? Math.max(low, Math.min(high, value)) : otherwise;
}

function textIn(fields: Fields, ...names: string[]): string {
    for (const name of names) {
        const value = fields[name];
        if (typeof value === 'string' || typeof value === 'number') {
            return String(value);
        }
    }
    return '';
}

// Widgets that stand in a table by number, in their order.
function childrenOf(fields: Fields): Widget[] {
    const own = Object.entries(fields).filter(([key]) => /^\d+$/.test(key))
        .sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
    const listed = Array.isArray(fields.children) ? fields.children : [];
    return [...own, ...listed].map((child, at) => makeWidget(child, String(at)));
}

// Whatever a script wrote becomes a widget; what is no number or text where one belongs is left out.
export function makeWidget(value: Value, place: string): Widget {
    const fields: Fields = isFields(value) ? value
        : Array.isArray(value) ? { kind: 'list', children: value } : { kind: 'text', text: value };
    const kind = textIn(fields, 'kind') || 'list';
    return {
        kind,
        text: textIn(fields, 'text'),
        title: textIn(fields, 'title'),
        image: textIn(fields, 'image'),
        alt: typeof fields.alt === 'string' ? fields.alt : null,
        placeholder: textIn(fields, 'placeholder'),
        colour: textIn(fields, 'color', 'colour'),
        size: numberIn(fields, 'size', 8, 96, 0),
        width: numberIn(fields, 'width', 1, 2000, 0),
        height: numberIn(fields, 'height', 1, 2000, 0),
        value: numberIn(fields, 'value', -1e9, 1e9, 0),
        max: numberIn(fields, 'max', 1e-9, 1e9, 1),
        columns: Math.round(numberIn(fields, 'columns', 1, 12, 2)),
        gap: numberIn(fields, 'gap', 0, 100, 8),
        direction: /^(row|horizontal|right|across)$/.test(textIn(fields, 'direction')) ? 'row'
            : 'column',
        anchor: ANCHORS.find((each) => each === textIn(fields, 'anchor')) ?? 'top',
        layer: Math.round(numberIn(fields, 'layer', 0, 9, 0)),
        handler: numberIn(fields, kind === 'input' ? 'OnSubmit' : 'OnClick', 0, 1e9, 0),
        key: textIn(fields, 'id') || `${kind} ${place}`,
        children: childrenOf(fields),
    };
}

// What of a tree can be bright: other texts and numbers are no flash.
function lightOf({ kind, image, colour, size, children }: Widget): string {
    return `${kind} ${image} ${colour} ${size}(${children.map(lightOf).join()})`;
}

const keyOf = ({ owner, entity }: Pick<Shown, 'owner' | 'entity'>): string => `${owner} ${entity}`;

export class ShownTrees {
    readonly screen = signal<readonly Tree[]>([]);
    readonly above = signal<readonly Tree[]>([]);
    private readonly shares = new Map<string, number>(); // of the screen, as they were last drawn
    private readonly waiting = new Map<string, Tree>(); // that would flash

    clear(): void {
        this.screen.value = [];
        this.above.value = [];
        this.shares.clear();
        this.waiting.clear();
    }

    // A tree was drawn, and fills so much of the screen.
    measured(tree: Tree, share: number): void {
        this.shares.set(keyOf(tree), share);
    }

    // `mayFlash` is asked before something large appears or has other colours; without leave it waits.
    change(list: readonly Shown[], mayFlash: () => boolean = () => true): void {
        for (const { owner, entity, tree } of list) {
            const key = keyOf({ owner, entity });
            this.waiting.delete(key);
            if (tree === null) {
                this.put({ owner, entity }, null);
                continue;
            }
            const wanted = { owner, entity, root: makeWidget(tree, '') };
            if (this.isFlash(wanted) && !mayFlash()) {
                this.waiting.set(key, wanted);
            } else {
                this.put(wanted, wanted);
            }
        }
    }

    // With each picture: what waited may be shown now.
    settle(mayFlash: () => boolean): void {
        for (const [key, tree] of this.waiting) {
            if (mayFlash()) {
                this.waiting.delete(key);
                this.put(tree, tree);
            }
        }
    }

    private isFlash(tree: Tree): boolean {
        const before = this.listOf(tree).value.find((each) => keyOf(each) === keyOf(tree));
        return (this.shares.get(keyOf(tree)) ?? 0) >= LARGE_SHARE &&
            (before === undefined || lightOf(before.root) !== lightOf(tree.root));
    }

    private listOf({ entity }: Pick<Tree, 'entity'>): typeof this.screen {
        return entity === 0 ? this.screen : this.above;
    }

    private put(which: Pick<Tree, 'owner' | 'entity'>, tree: Tree | null): void {
        const trees = this.listOf(which);
        const rest = trees.value.filter((each) => keyOf(each) !== keyOf(which));
        trees.value = tree === null ? rest
            : [...rest, tree].sort((a, b) => a.root.layer - b.root.layer || a.owner - b.owner);
    }
}

// Everything in the place, as a tree. Only the rows that can be seen are in the page, so twenty thousand are
// as quick as twenty.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { TYPES } from '../document.ts';
import { placedUnder } from '../frame.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

const ROW_PIXELS = 30;
const SPARE_ROWS = 6;

interface Row {
    id: number;
    depth: number;
    count: number; // below it
    isOpen: boolean;
}

const opened = signal<ReadonlySet<number>>(new Set());

// In the order in which they are seen.
function rowsOf(tree: Uint32Array, open: ReadonlySet<number>, found: ReadonlySet<number> | null): Row[] {
    const below = new Map<number, number[]>();
    for (let i = 0; i < tree.length; i += 2) {
        const [id = 0, parent = 0] = [tree[i], tree[i + 1]];
        const siblings = below.get(parent);
        if (siblings === undefined) {
            below.set(parent, [id]);
        } else {
            siblings.push(id);
        }
    }
    const rows: Row[] = [];
    if (found !== null) {
        for (let i = 0; i < tree.length; i += 2) {
            if (found.has(tree[i] ?? 0)) {
                rows.push({ id: tree[i] ?? 0, depth: 0, count: 0, isOpen: false });
            }
        }
        return rows;
    }
    const visit = (parent: number, depth: number): void => {
        for (const id of below.get(parent) ?? []) {
            const count = below.get(id)?.length ?? 0;
            const isOpen = count > 0 && open.has(id);
            rows.push({ id, depth, count, isOpen });
            if (isOpen && depth < 40) {
                visit(id, depth + 1);
            }
        }
    };
    visit(0, 0);
    return rows;
}

const ICONS: Record<string, string> = { part: '◼', prop: '◆', npc: '☻', spawn: '⚑', group: '▣' };

function RowName({ studio, id, done }: { studio: Studio; id: number; done: () => void }): JSX.Element {
    const field = useRef<HTMLInputElement>(null);
    useEffect(() => { field.current?.select(); }, []);
    const isOver = useRef(false); // what goes away loses the focus once more
    const end = (isKept: boolean): void => {
        const name = field.current?.value ?? '';
        if (isOver.current) {
            return;
        }
        isOver.current = true;
        if (isKept && name !== studio.document.name(id)) {
            studio.document.edit(words.steps.rename, [{ op: 'set', member: 'name', ids: [id], value: name === '' ? null : name }]);
        }
        done();
    };
    return <input ref={field} class="rename" aria-label={words.newName} defaultValue={studio.document.name(id)} maxLength={64}
        onBlur={() => end(true)} onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === 'Enter' || event.key === 'Escape') {
                end(event.key === 'Enter');
                document.querySelector<HTMLElement>('.tree')?.focus();
            }
        }} />;
}

export function Tree({ studio }: { studio: Studio }): JSX.Element {
    const [part, setPart] = useState('');
    const [top, setTop] = useState(0);
    const [high, setHigh] = useState(400);
    const [renamed, setRenamed] = useState(0);
    const [over, setOver] = useState<number | null>(null);
    const list = useRef<HTMLDivElement>(null);
    const anchor = useRef(0);
    const order = studio.ordered.value;
    studio.changed.value; // names
    const selected = studio.selection.value;
    const open = opened.value;
    const rows = useMemo(() => rowsOf(studio.document.tree(), open,
        part === '' ? null : new Set(studio.document.find(part))), [order, open, part]);
    const at = rows.findIndex(({ id }) => id === selected.at(-1));
    useEffect(() => {
        const element = list.current;
        if (element === null) {
            return undefined;
        }
        const size = new ResizeObserver(() => setHigh(element.clientHeight));
        size.observe(element);
        return () => size.disconnect();
    }, []);
    // What is selected elsewhere is opened and brought into sight here.
    useEffect(() => {
        const last = selected.at(-1);
        const above: number[] = [];
        for (let id = last === undefined ? 0 : studio.rows.get(last)?.parent ?? 0; id !== 0 && above.length < 64;
            id = studio.rows.get(id)?.parent ?? 0) {
            above.push(id);
        }
        if (above.some((id) => !opened.value.has(id))) {
            opened.value = new Set([...opened.value, ...above]);
        }
    }, [selected]);
    useEffect(() => {
        const element = list.current;
        if (element !== null && at >= 0 && (at * ROW_PIXELS < element.scrollTop ||
            (at + 1) * ROW_PIXELS > element.scrollTop + element.clientHeight)) {
            element.scrollTop = at * ROW_PIXELS - element.clientHeight / 2;
        }
    }, [at, selected]);
    // The list may have become shorter than where one had scrolled to: a search found few.
    const end = rows.length - Math.ceil(high / ROW_PIXELS);
    const first = Math.max(0, Math.min(Math.floor(top / ROW_PIXELS), end) - SPARE_ROWS);
    const shown = rows.slice(first, Math.min(first + Math.ceil(high / ROW_PIXELS) + 2 * SPARE_ROWS, first + 96));
    const toggle = (id: number, isOpen: boolean): void => {
        const next = new Set(open);
        if (isOpen) {
            next.add(id);
        } else {
            next.delete(id);
        }
        opened.value = next;
    };
    const choose = (id: number, event: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }): void => {
        const from = rows.findIndex((row) => row.id === anchor.current);
        const to = rows.findIndex((row) => row.id === id);
        if (event.shiftKey && from >= 0) {
            studio.select(rows.slice(Math.min(from, to), Math.max(from, to) + 1).map((row) => row.id));
            return;
        }
        anchor.current = id;
        studio.select(event.ctrlKey || event.metaKey
            ? selected.includes(id) ? selected.filter((each) => each !== id) : [...selected, id] : [id]);
    };
    const keys = (event: KeyboardEvent): void => {
        const row = rows[at];
        const go = (to: number): void => {
            const next = rows[Math.max(0, Math.min(rows.length - 1, to))];
            if (next !== undefined) {
                choose(next.id, event);
            }
        };
        switch (event.key) {
            case 'ArrowDown': go(at + 1); break;
            case 'ArrowUp': go(at - 1); break;
            case 'Home': go(0); break;
            case 'End': go(rows.length - 1); break;
            case 'ArrowRight': if (row !== undefined && row.count > 0) { toggle(row.id, true); } break;
            case 'ArrowLeft': if (row !== undefined) { toggle(row.id, false); } break;
            case 'F2': if (row !== undefined && studio.canWrite()) { setRenamed(row.id); } break;
            default: return;
        }
        event.preventDefault();
        event.stopPropagation();
    };
    const drop = (id: number): void => {
        setOver(null);
        const dragged = studio.roots().filter((each) => each !== id);
        if (dragged.length > 0 && studio.canWrite()) {
            studio.document.edit(words.steps.reparent, placedUnder(studio, dragged, id));
        }
    };
    return (
        <div class="tree-panel">
            <input type="search" id="tree-search" placeholder={words.searchTree} aria-label={words.searchTree} value={part}
                onInput={(event) => setPart(event.currentTarget.value)} />
            <div ref={list} class="tree" role="tree" aria-label={words.sides.tree} aria-multiselectable tabIndex={0}
                aria-activedescendant={at >= first && at < first + shown.length ? `row-${rows[at]?.id}` : undefined}
                onScroll={(event) => setTop(event.currentTarget.scrollTop)} onKeyDown={keys}
                onDragOver={(event) => { event.preventDefault(); }}
                onDragEnter={(event) => {
                    if (!(event.target as Element).closest('[role=treeitem]')) {
                        setOver(null); // below the last one: to the top
                    }
                }}
                onDrop={(event) => { event.preventDefault(); drop(over ?? 0); }}>
                <div class="tree-space" role="presentation" style={{ height: `${rows.length * ROW_PIXELS}px` }}>
                    {shown.map((row, i) => {
                        const type = TYPES[studio.rows.get(row.id)?.type ?? 0] ?? 'part';
                        const isSelected = selected.includes(row.id);
                        return (
                            <div key={row.id} id={`row-${row.id}`} role="treeitem" aria-level={row.depth + 1}
                                aria-selected={isSelected} aria-posinset={first + i + 1} aria-setsize={rows.length}
                                {...(row.count > 0 ? { 'aria-expanded': row.isOpen } : {})}
                                class={`row ${over === row.id ? 'over' : ''}`} draggable={renamed !== row.id}
                                style={{ top: `${(first + i) * ROW_PIXELS}px`, paddingLeft: `${0.4 + Math.min(row.depth, 12) * 0.9}rem` }}
                                onClick={(event) => choose(row.id, event)}
                                onDblClick={() => { if (studio.canWrite()) { setRenamed(row.id); } }}
                                onDragStart={() => { if (!isSelected) { studio.select([row.id]); } }}
                                onDragEnter={() => setOver(row.id)}>
                                {row.count > 0
                                    ? <button type="button" class="fold" tabIndex={-1} aria-label={row.isOpen ? words.fold : words.unfold}
                                        onClick={(event) => { event.stopPropagation(); toggle(row.id, !row.isOpen); }}>
                                        {row.isOpen ? '▾' : '▸'}</button>
                                    : <span class="fold" />}
                                <span class={`icon ${type}`} aria-hidden="true">{ICONS[type]}</span>
                                {renamed === row.id
                                    ? <RowName studio={studio} id={row.id} done={() => setRenamed(0)} />
                                    : <span class="name">{studio.document.name(row.id) || words.types[type]}</span>}
                            </div>
                        );
                    })}
                </div>
            </div>
            <p class="count" role="status">{words.treeCount(part === '' ? studio.rows.size : rows.length)}</p>
        </div>
    );
}

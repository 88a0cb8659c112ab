// What scripts show, as elements of the page: always text, never markup. A widget keeps its element
// while its id or place in the tree stays, so that a line one types into is not lost to a change.
import { useSignal } from '@preact/signals';
import type { CSSProperties, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import type { WidgetUse } from '../../core/bridge.ts';
import { ANCHORS, type ShownTrees, type Tree, type Widget } from '../shown.ts';
import { Picture } from './picture.tsx';

type Use = (handler: number, typed: string | null) => void;

const sized = (pixels: number): string => `calc(${pixels}px * var(--text))`;

function InputWidget({ widget, use }: { widget: Widget; use: Use }): JSX.Element {
    const text = useSignal('');
    return (
        <input type="text" maxLength={512} placeholder={widget.placeholder}
            aria-label={widget.placeholder || widget.key} value={text}
            onInput={(event) => { text.value = event.currentTarget.value; }}
            onKeyDown={(event) => {
                if (event.key === 'Enter') {
                    use(widget.handler, text.value);
                    text.value = '';
                }
            }} />
    );
}

function Children({ widget, use }: { widget: Widget; use: Use }): JSX.Element[] {
    const seen = new Map<string, number>(); // two with one id are two
    return widget.children.map((child) => {
        const count = seen.get(child.key) ?? 0;
        seen.set(child.key, count + 1);
        return <WidgetView key={`${child.key} ${count}`} widget={child} use={use} />;
    });
}

function Box({ widget, use, style }: { widget: Widget; use: Use; style: CSSProperties }):
JSX.Element {
    return (
        <div class={`w-${widget.kind}`} style={{ ...style, gap: `${widget.gap}px` }}>
            {widget.title !== '' && <h3>{widget.title}</h3>}
            <Children widget={widget} use={use} />
        </div>
    );
}

function WidgetView({ widget, use }: { widget: Widget; use: Use }): JSX.Element | null {
    const colour = widget.colour === '' ? {} : { color: widget.colour };
    switch (widget.kind) {
        case 'text':
            return widget.text === '' ? null : (
                <p class="w-text" style={{
                    ...colour, ...(widget.size > 0 ? { fontSize: sized(widget.size) } : {}),
                }}>{widget.text}</p>
            );
        case 'button':
            return (
                <button type="button" class="button" style={colour} onClick={(event) => {
                    use(widget.handler, null);
                    if (event.detail > 0) {
                        event.currentTarget.blur(); // the next Space is a jump
                    }
                }}>{widget.text}</button>
            );
        case 'bar': {
            const part = Math.max(0, Math.min(1, widget.value / widget.max));
            return (
                <div class="w-bar" role="meter" aria-label={widget.key} aria-valuemin={0}
                    aria-valuemax={widget.max} aria-valuenow={widget.value}>
                    <div style={{
                        width: `${part * 100}%`,
                        ...(widget.colour === '' ? {} : { backgroundColor: widget.colour }),
                    }} />
                </div>
            );
        }
        case 'image':
            return <Picture widget={widget} />;
        case 'input':
            return <InputWidget widget={widget} use={use} />;
        case 'grid':
            return (
                <Box widget={widget} use={use}
                    style={{ gridTemplateColumns: `repeat(${widget.columns}, auto)` }} />
            );
        default:
            // A column that could wrap would be as wide as its widest word, and leave a narrow screen.
            return <Box widget={widget} use={use} style={{ flexDirection: widget.direction,
                ...(widget.direction === 'column' ? { flexWrap: 'nowrap' } : {}) }} />;
    }
}

function TreeView({ tree, onUse }: { tree: Tree; onUse: (use: WidgetUse) => void }): JSX.Element {
    const { owner, entity, root } = tree;
    return (
        <WidgetView widget={root} use={(handler, typed) => {
            if (handler > 0) {
                onUse({ owner, entity, handler, typed });
            }
        }} />
    );
}

// A tree that is higher than its place scrolls; if nothing in it takes the focus, it takes it itself,
// so that the arrow keys move it.
function AnchoredTree({ tree, shown, onUse }: {
    tree: Tree; shown: ShownTrees; onUse: (use: WidgetUse) => void;
}): JSX.Element {
    const box = useRef<HTMLDivElement>(null);
    const measure = (): void => {
        const now = box.current;
        if (now !== null) {
            shown.measured(tree, now.clientWidth * now.clientHeight /
                Math.max(innerWidth * innerHeight, 1));
            const scrolls = now.scrollHeight > now.clientHeight + 1;
            now.classList.toggle('scrolls', scrolls);
            now.tabIndex = scrolls && now.querySelector('button, input') === null ? 0 : -1;
        }
        measureBottom();
    };
    useLayoutEffect(measure);
    useLayoutEffect(() => {
        const watch = new ResizeObserver(measure); // the window, or the size of texts
        if (box.current !== null) {
            watch.observe(box.current);
        }
        return () => watch.disconnect();
    }, []);
    return (
        <div ref={box} class="tree" style={{ zIndex: tree.root.layer }}>
            <TreeView tree={tree} onUse={onUse} />
        </div>
    );
}

// How high what stands at the bottom is: captions, and the line that asks for a click, stand above it.
function measureBottom(): void {
    const boxes = [...document.querySelectorAll('#script-ui .anchor.bottom .tree')].map((tree) => tree.getBoundingClientRect());
    const high = boxes.length === 0 ? 0
        : Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
    document.documentElement.style.setProperty('--bottom', `${high}px`);
}

// On the screen, around its nine anchors.
export function ScreenTrees({ shown, onUse }: {
    shown: ShownTrees; onUse: (use: WidgetUse) => void;
}): JSX.Element {
    useLayoutEffect(measureBottom); // also when nothing is there any more
    return (
        <div id="script-ui">
            {ANCHORS.map((anchor) => (
                <div key={anchor} class={`anchor ${anchor}`}>
                    {shown.screen.value.filter(({ root }) => root.anchor === anchor).map((tree) => (
                        <AnchoredTree key={tree.owner} tree={tree} shown={shown} onUse={onUse} />
                    ))}
                </div>
            ))}
        </div>
    );
}

// Above entities: where each one stands is set for every picture, by placeAbove; hidden until then.
export function AboveTrees({ shown, onUse }: {
    shown: ShownTrees; onUse: (use: WidgetUse) => void;
}): JSX.Element {
    return (
        <div id="script-above">
            {shown.above.value.map((tree) => (
                <div key={`${tree.owner} ${tree.entity}`} class="above" data-entity={tree.entity}
                    hidden>
                    <TreeView tree={tree} onUse={onUse} />
                </div>
            ))}
        </div>
    );
}

// Moves what stands above entities; `where` gives pixels, or null for what is not in sight.
export function placeAbove(where: (entity: number) => [number, number] | null): void {
    for (const item of document.querySelectorAll<HTMLElement>('#script-above > .above')) {
        const at = where(Number(item.dataset.entity));
        item.hidden = at === null;
        if (at !== null) {
            item.style.transform = `translate(${at[0]}px, ${at[1]}px) translate(-50%, -100%)`;
        }
    }
}

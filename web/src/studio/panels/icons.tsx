// Signs of tools and of what the toolbox has, drawn with lines so that they follow the colours of the page.
import type { JSX } from 'preact';

const PATHS: Record<string, string> = {
    select: 'M5 3l11 7-5 1 3 6-2 1-3-6-4 4z',
    move: 'M10 2v16M2 10h16M10 2l-2 2.5M10 2l2 2.5M10 18l-2-2.5M10 18l2-2.5M2 10l2.5-2M2 10l2.5 2M18 10l-2.5-2M18 10l-2.5 2',
    rotate: 'M16.5 10a6.5 6.5 0 1 1-2-4.7M15 2v4h-4',
    scale: 'M3 11v6h6M17 9V3h-6M3 17l6-6M17 3l-6 6',
    terrain: 'M2 16h16M3 16l5-8 3 4 2-3 4 7',
    all: 'M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4M7 8l3-1.5L13 8v4l-3 1.5L7 12z',
    undo: 'M8 4L3.5 8.5 8 13M4 8.5h8a4.5 4.5 0 0 1 0 9H8',
    redo: 'M12 4l4.5 4.5L12 13M16 8.5H8a4.5 4.5 0 0 0 0 9h4',
    duplicate: 'M7 7h10v10H7zM13 7V3H3v10h4',
    delete: 'M3 5h14M8 5V3h4v2M5 5l1 12h8l1-12M8.5 8.5v5M11.5 8.5v5',
    local: 'M10 10V3M10 10l6 4M10 10l-6 4',
    world: 'M10 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16M2 10h16M10 2c3 3 3 13 0 16M10 2c-3 3-3 13 0 16',
    grid: 'M3 3h14v14H3zM3 7.7h14M3 12.3h14M7.7 3v14M12.3 3v14',
    angle: 'M3 16h14M3 16L13 4M9 16a6 6 0 0 0-2-4.6',
    surface: 'M2 17h16M6 13h8V5H6zM10 13v4',
    play: 'M6 3l11 7-11 7z',
    stop: 'M5 5h10v10H5z',
    publish: 'M10 14V3M6 7l4-4 4 4M3 13v4h14v-4',
    search: 'M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4',
    keys: 'M2 5h16v10H2zM5 8h1M9 8h1M13 8h1M6 12h8',
    side: 'M3 4h14v12H3zM8 4v12',
    inspector: 'M3 4h14v12H3zM12 4v12',
    block: 'M3 7l7-4 7 4v7l-7 4-7-4zM3 7l7 4 7-4M10 11v7',
    wedge: 'M3 15h14V5zM3 15l3 2h11l-0-2',
    spawn: 'M5 18V3l10 3-10 4M3 18h6',
    checkpoint: 'M3 16h14M10 3v10M6.5 9.5L10 13l3.5-3.5',
    kill: 'M10 2a6 6 0 0 0-4 10.5V16h8v-3.5A6 6 0 0 0 10 2M7.5 9.5h.1M12.5 9.5h.1M8.5 16v2M11.5 16v2',
    coin: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M10 6.5v7M8 8h3a1.5 1.5 0 0 1 0 3H8.5',
    door: 'M5 18V3h10v15M3 18h14M12 10.5v.5',
    lift: 'M3 13h14M6 13v4M14 13v4M10 10V3M7 6l3-3 3 3',
    trampoline: 'M3 14c4 3 10 3 14 0M4 14v4M16 14v4M10 12V4M7.5 6.5L10 4l2.5 2.5',
    conveyor: 'M4 8h12a3 3 0 0 1 0 6H4a3 3 0 0 1 0-6M8 4h6M12 2l2 2-2 2M5 11h.1M10 11h.1M15 11h.1',
    guard: 'M10 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6M4 18c0-4 2.5-6.5 6-6.5s6 2.5 6 6.5',
};

export function Sign({ name }: { name: string }): JSX.Element {
    return (
        <svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.6"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d={PATHS[name] ?? ''} /></svg>
    );
}

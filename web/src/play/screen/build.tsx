// The bar of build mode: tools, the catalogue with small pictures, materials, the size of the brush,
// and in words what would happen. It is loaded together with build mode.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import type { Place } from '../../core/bridge.ts';
import { words } from '../../ui/words.ts';
import { laterWords } from '../../ui/words_later.ts';
import {
    BUILD_KEY, EDGES, MOUSE_KEY, TURN_KEY, type BuildMode, type Plan, type Tool,
} from '../build_mode.ts';
import { device } from '../device.ts';
import { colourOf } from '../looks.ts';
import { keyName, settings } from '../settings.ts';
import './build.css';

type Piece = Place['pieces'][number];

const css = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

function shaded(colour: number, part: number): string {
    const channel = (shift: number): number => Math.round(((colour >> shift) & 255) * part);
    return css(channel(16) << 16 | channel(8) << 8 | channel(0));
}

// A box seen from above at an angle: top, left and right side.
export function BoxPicture({ cells, colour }: { cells: readonly number[]; colour: number }):
JSX.Element {
    const [x = 1, y = 1, z = 1] = cells;
    const size = 36 / Math.max(x + z, y + (x + z) / 2); // of a cell, so that all of it fits
    const dx = size * 0.8;
    const dy = size * 0.42;
    const up = size * 0.8;
    const points = (...list: [number, number, number][]): string => list.map(([px, py, pz]) =>
        `${(20 + (px - pz) * dx * 0.9).toFixed(1)},${(34 + (px + pz - x - z) * dy - py * up)
            .toFixed(1)}`).join(' ');
    return (
        <svg viewBox="0 0 40 40" width="40" height="40" aria-hidden>
            <polygon fill={shaded(colour, 1)} points={points([0, y, 0], [x, y, 0], [x, y, z],
                [0, y, z])} />
            <polygon fill={shaded(colour, 0.72)} points={points([0, y, z], [x, y, z], [x, 0, z],
                [0, 0, z])} />
            <polygon fill={shaded(colour, 0.5)} points={points([x, y, 0], [x, y, z], [x, 0, z],
                [x, 0, 0])} />
        </svg>
    );
}

function Choice({ text, note, pressed, onClick, children }: {
    text: string; note: string; pressed: boolean; onClick: () => void; children: JSX.Element;
}): JSX.Element {
    return (
        <button type="button" class="button build-choice" aria-pressed={pressed} title={note}
            aria-label={note === '' ? text : `${text}, ${note}`}
            onClick={(event) => {
                onClick();
                if (event.detail > 0) {
                    event.currentTarget.blur(); // the next Space is a jump
                }
            }}>{children}<span>{text}</span></button>
    );
}

const pieceNote = ({ cells, health, groundOnly }: Piece): string => [
    laterWords.build.cells(cells), laterWords.build.health(health), groundOnly ? laterWords.build.groundOnly : '',
].filter((each) => each !== '').join(', ');

// What would happen now, or why not.
export function planText(mode: BuildMode, plan: Plan | null): string {
    const say = laterWords.build;
    const { place } = mode;
    const tool = mode.tool.value;
    if (plan === null) {
        return mode.isAsking.value ? '…' : say.nothing;
    }
    if (tool === 'remove') {
        const name = place.pieces[plan.targetPiece]?.name ?? '';
        return plan.target === 0 ? say.noTarget
            : plan.targetIsOwn ? say.remove(name) : say.notOwn(name);
    }
    if (plan.reason !== '') {
        return say.reasons[plan.reason];
    }
    return tool === 'build' ? say.place(place.pieces[mode.piece.value]?.name ?? '')
        : tool === 'dig' ? say.dig(mode.edge.value ** 3)
        : say.fill(place.voxelKinds[mode.kind.value - 1]?.name ?? '', mode.edge.value ** 3);
}

function Catalogue({ mode }: { mode: BuildMode }): JSX.Element {
    return (
        <>
            {mode.place.pieces.map((piece, at) => (
                <Choice key={at} text={piece.name} note={pieceNote(piece)}
                    pressed={mode.piece.value === at} onClick={() => { mode.piece.value = at; }}>
                    <BoxPicture cells={piece.cells} colour={colourOf(piece)} />
                </Choice>
            ))}
        </>
    );
}

function Materials({ mode }: { mode: BuildMode }): JSX.Element {
    return (
        <>
            {mode.place.voxelKinds.map((kind, at) => (
                <Choice key={at} text={kind.name} note="" pressed={mode.kind.value === at + 1}
                    onClick={() => { mode.kind.value = at + 1; }}>
                    <BoxPicture cells={[1, 1, 1]} colour={colourOf(kind)} />
                </Choice>
            ))}
        </>
    );
}

function Edges({ mode }: { mode: BuildMode }): JSX.Element {
    return (
        <>
            {EDGES.filter((edge) => edge / 2 <= Math.max(mode.place.reach, 0.5)).map((edge) => (
                <Choice key={edge} text={laterWords.build.edge(edge)} note=""
                    pressed={mode.edge.value === edge} onClick={() => { mode.edge.value = edge; }}>
                    <BoxPicture cells={[edge, edge, edge]} colour={0x8fb6d6} />
                </Choice>
            ))}
        </>
    );
}

// A tool, or another button of the bar, with its key for those who have keys.
function BarButton({ text, code, pressed, quiet = false, onClick }: {
    text: string; code: string; pressed?: boolean; quiet?: boolean; onClick: () => void;
}): JSX.Element {
    return (
        <button type="button" class={quiet ? 'button quiet' : 'button'}
            {...(pressed === undefined ? {} : { 'aria-pressed': pressed })}
            onClick={(event) => {
                onClick();
                if (event.detail > 0) {
                    event.currentTarget.blur(); // the next Space is a jump
                }
            }}>{text}{device.value === 'desk' && code !== '' && <kbd aria-hidden>{keyName(code)}</kbd>}
        </button>
    );
}

// What would happen, or why it did not: the world's own words for a moment after it refused.
function PlanLine({ mode }: { mode: BuildMode }): JSX.Element {
    const tool = mode.tool.value;
    const plan = mode.plan.value;
    const refused = mode.refusal.value;
    const isBad = refused !== null || (plan !== null && (tool === 'remove'
        ? plan.target !== 0 && !plan.targetIsOwn : plan.reason !== ''));
    return (
        <p key={refused?.number ?? 0} role="status" class={['build-plan', isBad ? 'bad' : '',
            refused === null ? '' : 'refused'].join(' ')}>
            {refused?.text ?? planText(mode, plan)}
        </p>
    );
}

export function BuildBar(props: { mode: BuildMode; onClose: () => void }): JSX.Element | null {
    return props.mode.isOpen.value ? <Bar {...props} /> : null;
}

function Bar({ mode, onClose }: { mode: BuildMode; onClose: () => void }): JSX.Element {
    const bar = useRef<HTMLElement>(null);
    useLayoutEffect(() => { // where it ends: on a touch screen the rest stands below it
        const watch = new ResizeObserver(([entry]) => document.documentElement.style.setProperty(
            '--build', `${entry?.target.getBoundingClientRect().bottom ?? 0}px`));
        if (bar.current !== null) {
            watch.observe(bar.current);
        }
        return () => watch.disconnect();
    }, []);
    const say = laterWords.build;
    const tool = mode.tool.value;
    const { keys } = settings.value;
    const codes: Record<Tool, string> = { build: BUILD_KEY, remove: '', dig: keys.dig, fill: keys.fill };
    return (
        <section ref={bar} class="build" aria-label={words.build.title}>
            <PlanLine mode={mode} />
            <div class="build-row build-choices" role="group" aria-label={say.choices}>
                {tool === 'build' && <Catalogue mode={mode} />}
                {tool === 'fill' && <Materials mode={mode} />}
                {(tool === 'dig' || tool === 'fill') && <Edges mode={mode} />}
            </div>
            <div class="build-row build-tools" role="group" aria-label={say.tools}>
                {mode.tools().map((each) => (
                    <BarButton key={each} text={say.toolNames[each]} code={codes[each]}
                        pressed={tool === each} onClick={() => { mode.tool.value = each; }} />
                ))}
                {tool === 'build' && (
                    <BarButton text={say.turn} code={TURN_KEY} quiet onClick={() => mode.rotate()} />
                )}
                <BarButton text={say.close} code={keys.build} quiet onClick={onClose} />
            </div>
            {device.value === 'desk' && (
                <p class="build-keys">{say.keys(keyName(MOUSE_KEY))}</p>
            )}
        </section>
    );
}

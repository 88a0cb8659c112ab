// The bar above everything: tools, how they snap, undo, who is here, playing and publishing.
import type { JSX } from 'preact';

import { commandOf } from '../commands.ts';
import type { Studio } from '../state.ts';
import { voxelKinds } from '../terrain.ts';
import { colourOfEditor } from '../view/viewport.ts';
import { words } from '../words_studio.ts';
import { Sign } from './icons.tsx';

export function CommandButton({ studio, id, sign, pressed, label, disabled = false, isNarrow = false }: {
    studio: Studio; id: string; sign: string; pressed?: boolean; label?: string; disabled?: boolean; isNarrow?: boolean;
}): JSX.Element {
    const { name, key, run } = commandOf(id);
    return (
        <button type="button" class={`tool${label === undefined ? '' : ' labelled'}${isNarrow ? ' narrow' : ''}`} title={`${name} (${key})`}
            aria-label={label === undefined ? name : undefined} aria-keyshortcuts={key.replace('Ctrl', 'Control')}
            aria-pressed={pressed} disabled={disabled} data-command={id} onClick={() => run(studio)}>
            <Sign name={sign} />{label !== undefined && <span>{label}</span>}
        </button>
    );
}

const initials = (name: string): string => [...name].slice(0, 2).join('').toUpperCase();

function People({ studio }: { studio: Studio }): JSX.Element {
    const { editors } = studio.link;
    const own = studio.document.editor;
    return (
        <ul class="people" aria-label={words.people}>
            {editors.value.map(({ editor, name }) => (
                <li key={editor}>
                    <button type="button" style={{ '--person': colourOfEditor(editor) }} title={editor === own ? words.you(name) : words.lookAt(name)}
                        aria-label={editor === own ? words.you(name) : words.lookAt(name)} disabled={editor === own}
                        onClick={() => {
                            const chosen = studio.link.presence.value.get(editor)?.selection ?? [];
                            studio.view?.focus(chosen.length > 0 ? chosen : [...studio.rows.keys()]);
                        }} data-initials={initials(name)} />
                </li>
            ))}
        </ul>
    );
}

function Snapping({ studio }: { studio: Studio }): JSX.Element {
    const { grid, angle, surface, space } = studio;
    return (
        <div class="tools" role="group" aria-label={words.snapping}>
            <CommandButton studio={studio} id="space" sign={space.value} label={words.spaces[space.value]} />
            <CommandButton studio={studio} id="grid" sign="grid" label={grid.value === 0 ? words.off : words.metres(grid.value)} />
            <CommandButton studio={studio} id="angle" sign="angle" label={angle.value === 0 ? words.off : `${angle.value}°`} />
            <CommandButton studio={studio} id="surface" sign="surface" pressed={surface.value} />
        </div>
    );
}

function Voxels({ studio }: { studio: Studio }): JSX.Element {
    studio.configured.value;
    const kinds = voxelKinds(studio);
    return (
        <label class="voxels">{words.voxelKind}{' '}
            <select value={studio.voxel.value === '' ? kinds[0] : studio.voxel.value}
                onChange={(event) => { studio.voxel.value = event.currentTarget.value; }}>
                {kinds.map((kind) => <option key={kind} value={kind}>{kind}</option>)}
                <option value="air">{words.voxelAir}</option>
            </select>
        </label>
    );
}

export function Toolbar({ studio }: { studio: Studio }): JSX.Element {
    const { tool, link } = studio;
    studio.stepped.value;
    studio.configured.value;
    const canWrite = link.canWrite.value;
    return (
        <header class="toolbar">
            {studio.hasAccounts && <a class="home" href={`/create/${encodeURIComponent(studio.place)}`} title={words.back} aria-label={words.back}>‹</a>}
            <h1>{studio.document.settings().name}</h1>
            <div class="tools" role="group" aria-label={words.toolsLabel}>
                {(['select', 'move', 'rotate', 'scale', 'terrain'] as const).map((each) =>
                    <CommandButton key={each} studio={studio} id={`tool-${each}`} sign={each} pressed={tool.value === each} />)}
            </div>
            {tool.value === 'terrain' ? <Voxels studio={studio} /> : <Snapping studio={studio} />}
            <div class="tools" role="group" aria-label={words.historyLabel}>
                <CommandButton studio={studio} id="undo" sign="undo" disabled={!studio.document.canUndo || !canWrite} />
                <CommandButton studio={studio} id="redo" sign="redo" disabled={!studio.document.canRedo || !canWrite} />
            </div>
            <CommandButton studio={studio} id="look-all" sign="all" />
            <CommandButton studio={studio} id="sidebar" sign="side" pressed={studio.showsSide.value} isNarrow />
            <CommandButton studio={studio} id="inspector" sign="inspector" pressed={studio.showsInspector.value} isNarrow />
            <div class="ends">
                <People studio={studio} />
                <CommandButton studio={studio} id="palette" sign="search" />
                <CommandButton studio={studio} id="play" sign={studio.playing.value ? 'stop' : 'play'}
                    label={studio.playing.value ? words.stop : words.play} pressed={studio.playing.value} />
                <button type="button" class="button publish" data-command="publish" title={`${words.publish} (Ctrl+Shift+P)`}
                    onClick={() => { studio.dialog.value = 'publish'; }}>{words.publish}</button>
            </div>
        </header>
    );
}

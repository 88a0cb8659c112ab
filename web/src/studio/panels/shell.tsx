// How the Studio is laid out: the bar, things to insert and the tree at the left, the picture or a script in
// the middle, members at the right, lists below.
import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { watchAssets } from '../asset_watch.ts';
import { press } from '../commands.ts';
import { insertKit, type Kit } from '../kits.ts';
import type { Link } from '../link.ts';
import type { PlayPane } from '../play/play_pane.tsx';
import type { ScriptPane } from '../script/script_pane.tsx';
import type { Side, Studio } from '../state.ts';
import { Viewport } from '../view/viewport.ts';
import { words } from '../words_studio.ts';
import { Bottom } from './bottom.tsx';
import { ImportGame } from './import_game.tsx';
import { Inspector } from './inspector.tsx';
import { NewScript } from './new_script.tsx';
import { Keys, Palette } from './palette.tsx';
import { Publish } from './publish.tsx';
import { Status } from './status.tsx';
import { Toolbar } from './toolbar.tsx';
import { KIT_TYPE, Toolbox } from './toolbox.tsx';
import { Tour } from './tour.tsx';
import { Tree } from './tree.tsx';

const CHECK_LATER_MS = 1500;

// The editor and the play-test are chunks of their own, fetched when they are first wanted.
function usePane<P>(isWanted: boolean, load: () => Promise<ComponentType<P>>): ComponentType<P> | null {
    const [Pane, setPane] = useState<ComponentType<P> | null>(null);
    useEffect(() => {
        if (isWanted && Pane === null) {
            load().then((loaded) => setPane(() => loaded), () => location.reload());
        }
    }, [isWanted]);
    return Pane;
}
const loadScript = async (): Promise<typeof ScriptPane> => (await import('../script/script_pane.tsx')).ScriptPane;
const loadPlay = async (): Promise<typeof PlayPane> => (await import('../play/play_pane.tsx')).PlayPane;

function Picture({ studio }: { studio: Studio }): JSX.Element {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [isOff, setOff] = useState(false);
    useEffect(() => {
        if (canvas.current === null) {
            return undefined;
        }
        try {
            studio.view = new Viewport(canvas.current, studio);
        } catch {
            setOff(true);
            return undefined;
        }
        return () => {
            studio.view?.stop();
            studio.view = null;
        };
    }, []);
    return (
        <div class="picture" onDragOver={(event) => { if (event.dataTransfer?.types.includes(KIT_TYPE) === true) { event.preventDefault(); } }}
            onDrop={(event) => {
                const kit = event.dataTransfer?.getData(KIT_TYPE);
                if (kit !== undefined && kit !== '' && studio.view !== null) {
                    event.preventDefault();
                    insertKit(studio, kit as Kit, studio.view.normal(event)).catch((cause: unknown) =>
                        studio.say(String((cause as Error).message), 'error'));
                }
            }}>
            <canvas ref={canvas} tabIndex={0} role="application" aria-label={words.pictureLabel} aria-describedby="picture-help" />
            <p id="picture-help" class="hidden">{words.mouseHint}</p>
            {studio.lost.value !== '' && <p class="lost" role="status">
                {studio.lost.value === 'below' ? words.belowFloor : words.nothingInView}{' '}
                <button type="button" class="button small" onClick={() => studio.view?.lookAtAll()}>{words.lookAtAll} (Home)</button></p>}
            {isOff && <p class="wrong middle" role="alert">{words.noWebGl}</p>}
        </div>
    );
}

// The picture stays where it is behind a script, so that nothing is loaded again.
function Middle({ studio }: { studio: Studio }): JSX.Element {
    const open = studio.open.value;
    const isPlaying = studio.playing.value;
    const Script = usePane(open !== null, loadScript);
    const Play = usePane(isPlaying, loadPlay);
    const { scriptDocument, files } = studio;
    // Scripts that nobody has opened are checked too, once there is time for it.
    useEffect(() => {
        let compiler: { end(): void } | null = null;
        let isGone = false;
        let endAssets = (): void => undefined;
        const timer = setTimeout(() => void import('../script/place_compiler.ts').then(({ startPlaceCompiler }) => {
            compiler = isGone ? null
                : startPlaceCompiler(scriptDocument, files, (path, found) => studio.setFaults(path, found));
        }).catch(() => undefined), CHECK_LATER_MS); // without it the editor still checks what is open
        const later = setTimeout(() => { endAssets = watchAssets(studio); }, CHECK_LATER_MS);
        return () => {
            isGone = true;
            clearTimeout(timer);
            clearTimeout(later);
            endAssets();
            compiler?.end();
        };
    }, [studio]);
    const both = open !== null && isPlaying ? ' half' : ''; // a script beside the place that runs it
    return (
        <main class="middle-column">
            <Tour studio={studio} />
            {open !== null && <div class="tabs files">
                <button type="button" class="back" onClick={() => { studio.open.value = null; }}>‹ {words.scene}</button>
            </div>}
            <div class="stage">
                <Picture studio={studio} />
                {open !== null && <div class={`over${both}`}>
                    {Script === null ? <p role="status">{words.loading}</p>
                        : <Script document={scriptDocument} files={files} path={open.path} line={open.line}
                            onShow={(path) => { studio.open.value = path === '' ? null : { path, line: 0 }; }}
                            onDiagnostics={(path, found) => studio.setFaults(path, found)} />}
                </div>}
                {isPlaying && <div class={`over right${both}`}>{Play === null ? <p role="status">{words.loading}</p>
                    : <Play document={scriptDocument} files={files} hasConsole={false}
                        onOpen={(path, line) => studio.openScript(path, line)}
                        onStop={() => { studio.playing.value = false; }} />}</div>}
            </div>
        </main>
    );
}

function Left({ studio }: { studio: Studio }): JSX.Element {
    const now = studio.side.value;
    return (
        <nav class="left" aria-label={words.sidebar}>
            <div class="tabs" role="tablist" aria-label={words.sidebar}>
                {(['insert', 'tree'] as const).map((side: Side) => (
                    <button key={side} type="button" role="tab" id={`side-${side}`} aria-selected={now === side} aria-controls="side-panel"
                        onClick={() => { studio.side.value = side; }}>{words.sides[side]}</button>
                ))}
            </div>
            <div id="side-panel" role="tabpanel" aria-labelledby={`side-${now}`}>
                {now === 'insert' ? <Toolbox studio={studio} /> : <Tree studio={studio} />}
            </div>
        </nav>
    );
}

// Why nothing is sent, and what to do.
function SignedOut({ link }: { link: Link }): JSX.Element | null {
    const state = link.state.value;
    if (state !== 'ended' && state !== 'other' && state !== 'refused') {
        return null;
    }
    return (
        <div class="signed-out" role="alert">
            <span>{state === 'ended' ? words.signInEnded : state === 'other' ? words.otherSignedIn(link.other.value) : words.notTaken(link.reason.value)}</span>
            {state !== 'refused' && <a class="button small" href="/account" target="_blank">{words.signInTab}</a>}
        </div>
    );
}

export function Shell({ studio }: { studio: Studio }): JSX.Element {
    const { dialog } = studio;
    const close = (): void => { dialog.value = null; };
    useEffect(() => {
        const keys = (event: KeyboardEvent): void => void press(studio, event);
        const leave = (event: BeforeUnloadEvent): void => {
            if (studio.link.waiting.value > 0) {
                event.preventDefault();
            }
        };
        window.addEventListener('keydown', keys);
        window.addEventListener('beforeunload', leave);
        return () => {
            window.removeEventListener('keydown', keys);
            window.removeEventListener('beforeunload', leave);
        };
    }, []);
    return (
        <div class="studio">
            <Toolbar studio={studio} />
            <SignedOut link={studio.link} />
            <div class="columns">
                {studio.showsSide.value && <Left studio={studio} />}
                <div class="centre"><Middle studio={studio} /><Bottom studio={studio} /></div>
                {studio.showsInspector.value && <Inspector studio={studio} />}
            </div>
            <Status studio={studio} />
            {dialog.value === 'palette' && <Palette studio={studio} close={close} />}
            {dialog.value === 'keys' && <Keys close={close} />}
            {dialog.value === 'script' && <NewScript studio={studio} close={close} />}
            {dialog.value === 'import' && <ImportGame studio={studio} close={close} />}
            {dialog.value === 'publish' && <Publish studio={studio} close={close} />}
        </div>
    );
}

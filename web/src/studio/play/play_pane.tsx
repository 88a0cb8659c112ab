// Playing the place that is being made: the game page in a frame, and a worker or a server behind it. The
// worker is thrown away with the frame; the document never hears of what happened in it.
import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { get, send } from '../../site/api.ts';
import { messageOf } from '../../site/message.ts';
import { session } from '../../site/session.ts';
import { CopyLink, QrCode } from '../../site/share.tsx';
import { Button, Dialog } from '../../ui/parts.tsx';
import { assetList } from '../asset_list.ts';
import { LoopbackNote } from '../panels/loopback.tsx';
import { isLua, type ScriptDocument, type ScriptFiles } from '../script/contract.ts';
import { PlaceScripts } from '../script/place_scripts.ts';
import { scriptStats } from '../script/status.tsx';
import { consoleLog, type LineTables } from './console.ts';
import { ConsoleList } from './console_list.tsx';
import './play.css';
import type { PlayPlace } from './play_channel.ts';
import { isEmpty, PlayedScene, type SceneEdit } from './scene_edit.ts';
import { ServerConsole } from './server_console.ts';
import { ScriptBridge } from './script_bridge.ts';
import { words } from './words_play.ts';

const APPLY_MS = 120; // after the last change: a drag is one difference
const plain = new TextDecoder();

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at]);

// What is different between two states of a place, as applyDiff has it.
export function difference(before: ReadonlyMap<string, Uint8Array>, after: ReadonlyMap<string, Uint8Array>):
Record<string, string | null> {
    const files: Record<string, string | null> = {};
    for (const [path, bytes] of after) {
        const old = before.get(path);
        if (old === undefined || !same(old, bytes)) {
            files[path] = plain.decode(bytes);
        }
    }
    for (const path of before.keys()) {
        if (!after.has(path)) {
            files[path] = null;
        }
    }
    return files;
}

// What a world is made from: compiled by the document if it can be, and then the text of the scene is not sent.
function playPlace(document: ScriptDocument, files: Map<string, Uint8Array>): PlayPlace {
    try {
        const compiled = document.compile?.(files) ?? null;
        return compiled === null ? { files, compiled }
            : { files: new Map([...files].filter(([path]) => path !== 'scene.json')), compiled };
    } catch {
        return { files, compiled: null }; // the world says what is wrong, with its line
    }
}

// One run of the place in a worker: what it was given last, and what has to be told to it.
class Run {
    private given: Map<string, Uint8Array> = new Map();
    private played: PlayedScene | null = null;
    private readonly changed = new Set<number>(); // entities, since the last time
    private readonly gone = new Set<number>();
    private isSceneOther = false; // than what is played, in a way that cannot be done in place
    private isMore = false; // more than the entities has changed
    private tables: LineTables = new Map();
    private timer: ReturnType<typeof setTimeout> | undefined;
    private isBusy = false;
    private isDue = false;
    private hasEnded = false;
    readonly bridge: ScriptBridge;
    private readonly document: ScriptDocument;
    private readonly scripts: PlaceScripts;
    private readonly ends: (() => void)[];

    constructor(document: ScriptDocument, files: ScriptFiles, left: () => void) {
        this.document = document;
        this.scripts = new PlaceScripts(document, files);
        this.bridge = new ScriptBridge({
            log: ({ lines }) => consoleLog.add(lines, this.tables, document.files().map(({ path }) => path)),
            note: (level, text) => consoleLog.add([{ side: 'studio', level, text }], this.tables,
                document.files().map(({ path }) => path)),
            left,
            whole: () => {
                this.isSceneOther = true;
                this.later();
            },
        });
        const more = (): void => {
            this.isMore = true;
            this.later();
        };
        this.ends = (['files', 'settings', 'terrain'] as const).map((event) => document.on(event, more));
        this.ends.push(document.onEntities?.((ids, gone) => this.note(ids, gone)) ?? document.on('change', () => {
            this.isSceneOther = true;
            this.later();
        }));
        this.ends.push(effect(() => {
            const numbers = this.bridge.numbers.value;
            scriptStats.value = { ...scriptStats.peek(), play: numbers };
        }));
    }

    private later(): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.apply(), APPLY_MS);
    }

    private note(ids: readonly number[], gone: readonly number[]): void {
        for (const id of ids) {
            this.changed.add(id);
            this.gone.delete(id);
        }
        for (const id of gone) {
            this.gone.add(id);
            this.changed.delete(id);
        }
        this.later();
    }

    private give(files: Map<string, Uint8Array>): void {
        const scene = files.get('scene.json');
        this.given = files;
        this.played = scene === undefined ? null : new PlayedScene(scene);
    }

    async start(port: MessagePort): Promise<void> {
        this.bridge.state.value = { kind: 'starting' };
        consoleLog.begin();
        try {
            const files = await this.scripts.forWorld([]);
            this.tables = this.scripts.lineTables;
            this.give(files);
            if (!this.hasEnded) {
                this.bridge.loadScene(playPlace(this.document, files), port, { name: this.document.userName?.() || words.name, placeId: this.document.placeId ?? '' });
                this.bridge.showAssets(assetList(this.document.placeId ?? '', this.document.files()));
            }
        } catch (error) {
            const message = error instanceof Error ? error.message : String(error);
            this.bridge.state.value = { kind: 'failed', message };
            consoleLog.add([{ side: 'studio', level: 'error', text: message }], this.tables,
                this.document.files().map(({ path }) => path));
        }
    }

    // Entities that were changed, if the running world can take that: as much work as was changed.
    private takeEdit(): SceneEdit | null {
        const { document } = this;
        const edit = this.isSceneOther || document.entity === undefined ? null
            : this.played?.edit(this.changed, this.gone, (id) => document.entity!(id)) ?? null;
        this.isSceneOther = edit === null;
        this.changed.clear();
        this.gone.clear();
        return edit;
    }

    // What was changed since the last time. While one difference is made, further changes wait.
    private async apply(): Promise<void> {
        if (this.isBusy || this.hasEnded || this.played === null) {
            this.isDue = true;
            return;
        }
        this.isBusy = true;
        try {
            if (this.isMore && !this.isSceneOther) {
                await this.applyScripts(); // first: something new may be bound to one that is new
            }
            const edit = this.takeEdit();
            if (edit !== null && !isEmpty(edit)) {
                this.bridge.applyDiff({ edit });
            }
            if (this.isMore || this.isSceneOther) {
                await this.applyWhole();
            }
        } catch (error) {
            consoleLog.add([{ side: 'studio', level: 'error', text: error instanceof Error ? error.message : String(error) }],
                this.tables, this.document.files().map(({ path }) => path));
        }
        this.isBusy = false;
        if (this.isDue) {
            this.isDue = false;
            void this.apply();
        }
    }

    // Scripts that changed or came are exchanged in the running world; if more than scripts has changed, nothing is done.
    private async applyScripts(): Promise<void> {
        this.isMore = false;
        const files = await this.scripts.forWorld([]);
        files.delete('scene.json');
        const { 'scene.json': _, ...changed } = difference(this.given, files);
        if (!Object.entries(changed).every(([path, text]) => isLua(path) && text !== null)) {
            this.isMore = true;
            return;
        }
        if (Object.keys(changed).length > 0 && !this.hasEnded) {
            files.forEach((bytes, path) => this.given.set(path, bytes));
            this.tables = this.scripts.lineTables;
            this.bridge.applyDiff({ files: changed });
        }
        this.bridge.showAssets(assetList(this.document.placeId ?? '', this.document.files()));
    }

    // The world is made anew.
    private async applyWhole(): Promise<void> {
        this.isMore = this.isSceneOther = false;
        const files = await this.scripts.forWorld([]);
        if (this.hasEnded) {
            return;
        }
        const changed = difference(this.given, files);
        this.give(files);
        this.tables = this.scripts.lineTables;
        this.bridge.showAssets(assetList(this.document.placeId ?? '', this.document.files()));
        const place = playPlace(this.document, files);
        // Made from texts: the world has not seen the scene's since it was made, only edits of it.
        this.bridge.applyDiff({ files: place.compiled === null ? { ...changed, 'scene.json': this.document.sceneJson() } : changed, place });
    }

    end(): void {
        this.hasEnded = true;
        clearTimeout(this.timer);
        this.ends.forEach((end) => end());
        this.bridge.stop();
        scriptStats.value = { ...scriptStats.peek(), play: null };
    }
}

// The game page in a frame; it asks for its port when it is loaded.
function Screen({ onPort }: { onPort: (port: MessagePort) => void }): JSX.Element {
    const frame = useRef<HTMLIFrameElement>(null);
    useEffect(() => {
        const hear = ({ source, origin, data }: MessageEvent): void => {
            const page = frame.current?.contentWindow;
            if (source === page && origin === location.origin && data === 'sandlot-screen' && page != null) {
                const { port1, port2 } = new MessageChannel();
                page.postMessage('sandlot-port', location.origin, [port1]);
                onPort(port2);
                frame.current?.focus();
            }
        };
        addEventListener('message', hear);
        return () => removeEventListener('message', hear);
    }, []);
    return <iframe ref={frame} class="play-screen" title={words.screen} src="/play#studio"
        allow="fullscreen; gamepad; autoplay" />;
}

function ServerScreen({ document }: { document: ScriptDocument }): JSX.Element {
    const frame = useRef<HTMLIFrameElement>(null);
    useEffect(() => {
        consoleLog.begin();
        const log = new ServerConsole(() => frame.current?.contentWindow ?? null,
            (lines) => consoleLog.add(lines, undefined, document.files().map(({ path }) => path)));
        return () => log.end();
    }, []);
    return <iframe ref={frame} class="play-screen" title={words.screen} allow="fullscreen; gamepad; autoplay"
        src={`${draftPath(document.placeId ?? '')}#now`} />;
}

const draftPath = (placeId: string): string => `/play?place=${encodeURIComponent(placeId)}&channel=draft`;

interface Mate {
    username: string;
    shown_name: string;
}

// Those of one's classes, for a pupil: they know each other by other names than those of the accounts.
async function classmates(): Promise<Mate[]> {
    if (session.value?.is_pupil !== true) {
        return [];
    }
    const { classes } = await get<{ classes: { class_id: string }[] }>('/api/classes');
    const all = await Promise.all(classes.map(({ class_id: id }) => get<{ pupils: Mate[] }>(`/api/classes/${encodeURIComponent(id)}`)));
    const found = all.flatMap(({ pupils }) => pupils).filter(({ username }) => username !== session.value?.username);
    return [...new Map(found.map((mate) => [mate.username, mate])).values()];
}

// Who may come into the world of the draft, and how.
function Friends({ placeId, hasAccounts, close }: { placeId: string; hasAccounts: boolean; close: () => void }): JSX.Element {
    const [name, setName] = useState('');
    const [mates, setMates] = useState<Mate[]>([]);
    const [said, setSaid] = useState('');
    useEffect(() => void classmates().then(setMates, () => undefined), []); // without, one types the name
    const link = location.origin + draftPath(placeId);
    const letIn = async (event: Event): Promise<void> => {
        event.preventDefault();
        try {
            await send('PUT', `/api/places/${encodeURIComponent(placeId)}/team/${encodeURIComponent(name)}`, { role: 'tester' });
            setSaid(words.mayJoin(mates.find(({ username }) => username === name)?.shown_name ?? name));
            setName('');
        } catch (cause) {
            setSaid(messageOf(cause));
        }
    };
    return (
        <Dialog title={words.friendsTitle} onClose={close}>
            <div class="room friends">
                <p>{mates.length > 0 ? words.friendsClass : hasAccounts ? words.friendsHint : words.friendsAll}</p>
                <LoopbackNote />
                {hasAccounts && <form onSubmit={(event) => void letIn(event)}>
                    <label for="friend-name">{mates.length > 0 ? words.classmate : words.friendName}</label>
                    {mates.length > 0 ? <select id="friend-name" required value={name} onChange={(event) => setName(event.currentTarget.value)}>
                        <option value="">{words.chooseMate}</option>
                        {mates.map((mate) => <option key={mate.username} value={mate.username}>{mate.shown_name}</option>)}
                    </select> : <input id="friend-name" required value={name} autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />}
                    <button type="submit" class="button quiet">{words.letIn}</button>
                </form>}
                <p role="status">{said}</p>
                <QrCode link={link} />
                <CopyLink link={link} label={words.link} />
            </div>
        </Dialog>
    );
}

function Invite({ placeId, hasAccounts }: { placeId: string; hasAccounts: boolean }): JSX.Element {
    const [isOpen, setOpen] = useState(false);
    return <><Button quiet onClick={() => setOpen(true)}>{words.friends}</Button>
        <span role="status" class="play-said">{words.serverHint}</span>
        {isOpen && <Friends placeId={placeId} hasAccounts={hasAccounts} close={() => setOpen(false)} />}</>;
}

export interface PlayPaneProps {
    document: ScriptDocument;
    files: ScriptFiles;
    onOpen?: ((path: string, line: number) => void) | undefined; // a line of the console was clicked
    onStop?: (() => void) | undefined;
    hasConsole?: boolean; // false: the page shows consoleLog elsewhere
}

export function PlayPane({ document, files, onOpen, onStop, hasConsole = true }: PlayPaneProps): JSX.Element {
    const [turn, setTurn] = useState(1); // 0: stopped; another number: another run
    const [mode, setMode] = useState<'here' | 'server'>('here');
    const [isPaused, setPaused] = useState(false);
    const [, redraw] = useState(0);
    const stop = (): void => {
        setTurn(0);
        setPaused(false);
        onStop?.();
    };
    const run = useMemo(() => turn === 0 || mode === 'server' ? null : new Run(document, files, stop),
        [turn, mode, document, files]);
    useEffect(() => {
        if (run === null) {
            return undefined;
        }
        const end = effect(() => {
            void run.bridge.state.value;
            void run.bridge.numbers.value;
            redraw((count) => count + 1);
        });
        return () => {
            end();
            run.end();
        };
    }, [run]);
    const state = run?.bridge.state.value;
    const numbers = run?.bridge.numbers.value ?? null;
    const placeId = document.placeId ?? '';
    const again = (): void => {
        setPaused(false);
        setTurn((count) => count + 1);
    };
    return (
        <section class="play-pane">
            <div class="play-bar" role="toolbar" aria-label={words.play}>
                {turn === 0 ? <Button onClick={again}>{words.play}</Button>
                    : <Button onClick={stop}>{words.stop}</Button>}
                {turn !== 0 && <Button quiet onClick={again}>{words.again}</Button>}
                {turn !== 0 && run !== null && <Button quiet pressed={isPaused} onClick={() => {
                    run.bridge.pause(!isPaused);
                    setPaused(!isPaused);
                }}>{isPaused ? words.go : words.pause}</Button>}
                {placeId !== '' && <label class="play-mode"><span>{words.where}</span>
                    <select value={mode} onChange={(event) => setMode(event.currentTarget.value as 'here' | 'server')}>
                        <option value="here">{words.here}</option>
                        <option value="server">{words.server}</option>
                    </select></label>}
                {turn !== 0 && mode === 'server' && <Invite placeId={placeId} hasAccounts={document.hasAccounts?.() ?? true} />}
                {(state?.kind === 'starting' || state?.kind === 'stopped') && <span role="status" class="play-said">{words.starting}</span>}
                {numbers !== null && <span class="play-numbers">{words.tick(numbers.tickMs)}</span>}
            </div>
            <div class="play-stage">
                {turn === 0 && <p class="play-empty">{words.stopped}</p>}
                {turn !== 0 && mode === 'server' && <ServerScreen key={turn} document={document} />}
                {run !== null && state?.kind !== 'failed' &&
                    <Screen key={turn} onPort={(port) => void run.start(port)} />}
                {state?.kind === 'failed' && <div class="play-empty" role="alert"><strong>{words.failed}</strong>
                    <p>{state.message}</p><Button onClick={again}>{words.again}</Button></div>}
            </div>
            {hasConsole && <ConsoleList log={consoleLog} onOpen={onOpen} />}
        </section>
    );
}

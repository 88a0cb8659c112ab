// The game page: it joins the keys, the worker and the picture. What happens in the world is decided
// elsewhere.
import { effect } from '@preact/signals';

import { ROW, type ClientEvent, type ClientStats, type Fault, type Place, type Triple }
    from '../core/bridge.ts';
import type { CacheStats } from '../core/cache.ts';
import type { Checked, Frame, FromWorker, LinkStats, Status, ToWorker } from '../core/channel.ts';
import type { Progress } from '../core/download.ts';
import { sentence } from '../core/reasons.ts';
import type { DiagnosticList } from '../ui/diagnostics.ts';
import { assetLine, assetRow, downloadLine } from '../ui/downloads.ts';
import { element } from '../ui/element.ts';
import { FaultList, isDevelopment } from '../ui/faults.ts';
import { Gate, type Wish } from '../ui/gate.ts';
import { keepTabToken, tabStorage, tabToken } from '../ui/kept.ts';
import { chosenLanguage } from '../ui/languages.ts';
import type { Overlay } from '../ui/overlay.ts';
import type { OverlayMore } from '../ui/overlay_more.ts';
import { type AssetProgress, Assets } from './assets.ts';
import { Budget } from './budget.ts';
import type { BuildMode } from './build_mode.ts';
import { Chat } from './chat.ts';
import { Controls } from './controls.ts';
import { watchDevice } from './device.ts';
import type { GamepadReader, PadCommand } from './gamepad.ts';
import { Outside } from './outside.ts';
import { hasPad } from './pads.ts';
import { People } from './people.ts';
import { AdaptiveQuality, levelOf } from './quality.ts';
import { reloadOnce, reloadWorked } from './reload.ts';
import { canBuild } from './screen/help.tsx';
import type { MenuPage } from './screen/menu.tsx';
import { Screen } from './screen/screen.tsx';
import { placeAbove } from './screen/widgets.tsx';
import { change, openSettings, settings } from './settings.ts';
import { ShownTrees } from './shown.ts';
import { AccountRights } from './account_rights.ts';
import { TYPE_STRUCTURE } from './shapes.ts';
import { Sounds } from './sound.ts';
import type { BodySounds } from './sound_bodies.ts';
import { watchVersion } from './version.ts';
import { View, type Drawn, type Scenery } from './view.ts';
import { tellStudio } from '../ui/studio_frame.ts';
import { words } from '../ui/words.ts';

const ROSTER_MS = 3000;
const FULL_HEALTH = 100;
const LOAD_AGAIN_MS = 5000; // after a part of the page that nobody asked for could not be loaded
const FPS_WINDOW_MS = 1000;
const KEY_COMMANDS = ['overlay', 'camera', 'dig', 'fill', 'focus', 'build'] as const;

// For tests and for use in the console: what is shown, read-only.
export interface Inspection {
    phase: string;
    own: number[];
    look: [number, number]; // yaw and pitch
    movers: number[];
    chunks: number;
    stats: ClientStats | null;
    link: LinkStats | null;
    people: Record<string, string>;
    faults: Fault[]; // of client scripts, the newest
    downloads: Progress | null;
    cache: CacheStats | null;
    drawn: Drawn;
    scenery: Scenery;
    assets: { known: number | null; progress: AssetProgress }; // null: no list yet
}

// What runs the client: a worker, or a port to one that the studio has started.
export interface Runner {
    postMessage(message: ToWorker): void;
    terminate(): void;
}

interface LoadedOverlay {
    table: Overlay;
    more: OverlayMore;
}

export class PlayPage {
    private readonly canvas = element('view', HTMLCanvasElement);
    private readonly hud = element('hud', HTMLElement);
    private readonly crosshair = element('crosshair', HTMLDivElement);
    private readonly health = element('health-bar', HTMLDivElement);
    private readonly healthMeter = element('health', HTMLDivElement);
    private readonly grab = element('grab', HTMLParagraphElement);
    private readonly deadLine = element('died', HTMLParagraphElement);
    private readonly faults = new FaultList(element('faults', HTMLOListElement));
    private diagnostics: Promise<DiagnosticList> | null = null; // once scripts were checked
    private overlay: LoadedOverlay | null = null; // once it was asked for
    private readonly rights = new AccountRights();
    private readonly controls = new Controls(this.canvas);
    private readonly budget = new Budget();
    private readonly assets = new Assets((name, message) => this.faults.add(
        { path: name, file: name, line: 0, message, tick: this.stats?.serverTick ?? 0 }));
    private readonly view = new View(this.canvas, { assets: this.assets, budget: this.budget });
    private gamepad: GamepadReader | null = null; // when there is one
    private isPadAsked = false;
    private readonly local: MessagePort | null; // of the studio: the world is in this browser
    private worker: Runner | null;
    private readonly outside = new Outside(this.canvas,
        () => this.freeMouse(), () => this.say({ type: 'network' }));
    private readonly checkVersion = watchVersion(() => this.outside.tellNewer());
    private readonly gate = new Gate({
        join: (wish) => this.join(wish),
        cancel: () => this.leave(words.cancelled),
        retry: () => this.say({ type: 'retry' }),
    });
    private readonly people = new People();
    private readonly chat = new Chat(this.people,
        (feature, action, payload) => this.say({ type: 'command', feature, action, payload }),
        () => this.leave());
    private readonly shown = new ShownTrees();
    private readonly mayFlash = (): boolean => this.view.guard.allow(this.view.clock);
    readonly sounds = new Sounds(this.assets);
    private bodySounds: BodySounds | null | undefined; // null: on its way, with the first picture
    private readonly screen = new Screen(element('screen', HTMLDivElement), {
        people: this.people,
        chat: this.chat,
        rights: this.rights,
        shown: this.shown,
        files: { assets: this.assets, budget: this.budget },
        sounds: this.sounds,
        controls: this.controls,
        onDig: (take) => this.dig(take),
        onBuild: () => void this.toggleBuild(),
        onUse: (use) => this.say({ type: 'widget', use }),
        onOpenChat: () => this.openChat(),
        onCloseChat: () => this.closeChat(),
        actions: {
            open: (page) => this.openMenu(page),
            respawn: () => {
                this.say({ type: 'command', feature: 'session', action: 'respawn', payload: {} });
                this.openMenu('closed');
            },
            leave: () => this.leave(),
        },
    });
    private place: Place | null = null;
    private frame: Frame | null = null;
    private waiting = false; // for a frame
    private pictureMs = 0;
    private readonly adaptive = new AdaptiveQuality();
    private pictures: number[] = [];
    private phase = 'gate';
    private name = ''; // as it was asked for
    private hasLeft = false;
    private welcomeMs = 0;
    private chunks = 0;
    private readonly edited = new Map<string, string>();
    private stats: ClientStats | null = null;
    private link: LinkStats | null = null;
    private downloads: { progress: Progress; cache: CacheStats } | null = null;
    private readonly loading = element('loading', HTMLParagraphElement);

    constructor(local: MessagePort | null = null) {
        this.local = local;
        this.worker = this.makeWorker();
        openSettings();
        watchDevice();
        this.controls.onKey = (code, down) => this.key(code, down);
        this.controls.onButtons = () => this.sendInput();
        // Drawing may stop now, and with it inputs: nobody must keep walking without their player.
        this.controls.onRelease = () => this.sendInput();
        document.addEventListener('pointerlockchange', () => {
            this.grab.hidden = this.controls.isLocked();
        });
        addEventListener('resize', () => this.view.resize());
        if (isDevelopment()) {
            addEventListener('dragover', (event) => event.preventDefault());
            addEventListener('drop', (event) => this.drop(event));
        }
        effect(() => {
            this.gate.showAssets(assetRow(this.assets.list.value, this.assets.progress.value));
            this.showLoading();
        });
        requestAnimationFrame((now) => this.picture(now));
    }

    inspect(): Inspection {
        return {
            phase: this.phase,
            own: [...this.frame?.own ?? []],
            look: [this.controls.yaw, this.controls.pitch],
            movers: [...this.frame?.movers ?? []],
            chunks: this.chunks,
            stats: this.stats,
            link: this.link,
            people: Object.fromEntries(
                [...this.people.bodies.value].map(([entity, { name }]) => [entity, name])),
            faults: this.faults.newest(),
            downloads: this.downloads?.progress ?? null,
            cache: this.downloads?.cache ?? null,
            drawn: this.view.drawn(),
            scenery: this.view.scenery(),
            assets: {
                known: this.assets.list.value?.length ?? null, progress: this.assets.progress.value,
            },
        };
    }

    // The chunks that were changed, with a sum over their faces.
    terrain(): string[] {
        return [...this.edited].map(([at, value]) => `${at} ${value}`).sort();
    }

    // Ghosts of build mode that are drawn, and what the own one says.
    building(): object {
        const mode = this.screen.build.value?.mode;
        return { ghosts: mode?.ghostList() ?? [], plan: mode?.plan.value ?? null };
    }

    // Bars above the heads of those who were hurt.
    healthBars(): { text: string; part: number }[] {
        return this.view.bodies.labels.filter(({ health }) => health >= 0)
            .map(({ text, health }) => ({ text, part: health }));
    }

    // What players have built that is in sight.
    structures(): { id: number; piece: number; p: number[] }[] {
        const rows = this.frame?.shapes ?? new Float64Array();
        return Array.from({ length: rows.length / ROW }, (_, at) => rows.subarray(at * ROW, at * ROW + ROW))
            .filter((row) => row[1] === TYPE_STRUCTURE)
            .map((row) => ({ id: row[0] ?? 0, piece: row[13] ?? 0, p: [...row.subarray(3, 6)] }));
    }

    // Turns the head; a test has no mouse that is locked.
    look(yaw: number, pitch: number): void {
        this.controls.yaw = yaw;
        this.controls.pitch = pitch;
    }

    // What a build says about the Lua scripts of a place, by its files: shown with file and line.
    check(files: Map<string, Uint8Array>): void {
        this.say({ type: 'check', files });
    }

    // A place's folder, or scripts of it, that its creator drops on the page.
    private drop(event: DragEvent): void {
        event.preventDefault();
        if (event.dataTransfer !== null) {
            const dropped = [...event.dataTransfer.items].map((item) =>
                [item.webkitGetAsEntry(), item.getAsFile()] as const);
            import('../ui/drop.ts').then(({ readDropped }) => readDropped(dropped)).then((files) => this.check(files),
                (error: unknown) => this.showChecked({
                    type: 'checked', scripts: 0, diagnostics: [], failure: String(error),
                }));
        }
    }

    private showChecked(checked: Checked): void {
        this.diagnostics ??= import('../ui/diagnostics.ts').then(({ DiagnosticList: List }) =>
            new List(element('diagnostics', HTMLOListElement)));
        this.diagnostics.then((list) => list.show(checked)).catch(() => {
            this.diagnostics = null;
            this.chat.note(words.menu.notLoaded);
        });
    }

    private hearBodies(frame: Frame, seconds: number): void {
        if (this.bodySounds === undefined) {
            this.bodySounds = null;
            import('./sound_bodies.ts').then(({ BodySounds: Bodies }) => {
                this.bodySounds = new Bodies((name, p, volume) => this.sounds.made(name, p, volume));
            }).catch(() => setTimeout(() => { this.bodySounds = undefined; }, LOAD_AGAIN_MS));
        }
        this.bodySounds?.update(frame.own, frame.movers, seconds);
    }

    private makeWorker(): Runner {
        this.waiting = false; // for what the last one would have said
        const port = this.local;
        if (port !== null) {
            port.addEventListener('message', (event: MessageEvent<FromWorker>) => this.hear(event.data));
            port.start();
            return { postMessage: (message) => port.postMessage(message), terminate: () => port.close() };
        }
        const worker = new Worker(new URL('../core/worker.ts', import.meta.url), { type: 'module' });
        worker.addEventListener('message', (event: MessageEvent<FromWorker>) =>
            this.hear(event.data));
        worker.addEventListener('error', () => this.workerFailed());
        return worker;
    }

    // It could not be loaded, or made a mistake that it did not catch. The next try has a new one.
    private workerFailed(): void {
        this.worker?.terminate();
        this.worker = null;
        this.waiting = false;
        if (this.phase !== 'gate') {
            this.show({ type: 'status', phase: 'closed', trouble: 'core', text: words.core.worker });
        }
    }

    private say(message: ToWorker): void {
        if (message.type === 'join' || message.type === 'check') {
            this.worker ??= this.makeWorker();
        }
        this.worker?.postMessage(message);
    }

    private join(wish: Wish): void {
        this.show({ type: 'status', phase: 'starting', text: words.joining.start });
        this.name = wish.name;
        this.hasLeft = false;
        this.outside.announce(); // before the world can end the session of another window
        this.say({
            type: 'join', origin: location.origin, token: tabToken(wish.name), language: chosenLanguage(), ...wish,
        });
    }

    // In the studio: without asking who one is.
    playHere(): void {
        this.show({ type: 'status', phase: 'starting', text: words.joining.start });
        this.say({
            type: 'join', origin: location.origin, room: '', place: '', channel: '', name: '', signedIn: false,
            token: '', language: chosenLanguage(),
        });
    }

    private hear(message: FromWorker): void {
        switch (message.type) {
            case 'status':
                if (!this.hasLeft) {
                    this.show(message);
                }
                break;
            case 'core':
                this.gate.showCore(message.have, message.bytes);
                break;
            case 'downloads':
                this.downloads = message;
                this.gate.showDownloads(message.progress);
                this.showLoading();
                break;
            case 'outdated':
                if (!reloadOnce(tabStorage(), () => location.reload())) {
                    this.show({ type: 'status', phase: 'closed', text: words.reloadFailed });
                }
                break;
            case 'assets':
                this.assets.give(message.assets);
                break;
            case 'room':
                this.gate.entered(message.code);
                keepTabToken(this.name, message.token);
                if (message.worldId !== '') { // else in the Studio, which gives the list itself
                    void this.assets.open(message.placeId);
                }
                this.rights.room = message.code;
                this.rights.world = message.worldId;
                tellStudio({ kind: 'room', world: message.worldId });
                if (this.overlay !== null) {
                    this.overlay.more.world = message.worldId;
                }
                break;
            case 'place':
                this.edited.clear();
                this.shown.clear();
                this.endBuild();
                this.open(message.place);
                this.view.reset(message.place, message.parts);
                break;
            case 'welcome':
                this.welcome(message.player);
                break;
            case 'chunk':
                this.chunks += 1;
                this.edited.delete(`${message.x},${message.y},${message.z}`);
                if (message.version > 0) {
                    this.edited.set(`${message.x},${message.y},${message.z}`,
                        `v${message.version} ${message.quads.reduce(
                            (sum, byte, at) => (sum + byte * (at % 251 + 1)) >>> 0, 0)}`);
                }
                this.view.terrain.set(message.x, message.y, message.z, message.quads);
                break;
            case 'frame':
                this.frame = message;
                this.view.show(message.moments);
                this.controls.turn(message.own[12] ?? 0);
                this.controls.used.value = message.own[13] ?? 0;
                this.waiting = false;
                break;
            case 'nothing':
                this.waiting = false;
                break;
            case 'events':
                message.events.forEach((event) => this.event(event));
                break;
            case 'sounds':
                message.once.forEach((sound) => this.sounds.hear(sound));
                if (message.state !== null) {
                    this.sounds.set(message.state);
                }
                break;
            case 'shown':
                this.shown.change(message.shown, this.mayFlash);
                break;
            case 'faults':
                message.faults.forEach((fault) => this.faults.add(fault));
                break;
            case 'checked':
                this.showChecked(message);
                break;
            case 'log':
                message.lines.forEach((line) => console.info(line));
                tellStudio({ kind: 'log', lines: message.lines });
                break;
            case 'stats':
                this.stats = message.stats;
                this.link = message.link;
                this.overlay?.table.update(message.stats, message.link, this.pictures.length);
                this.overlay?.more.update(this.downloads?.progress ?? null,
                    this.downloads?.cache ?? null, message.costs);
                break;
        }
    }

    private show(said: Status): void {
        const playing = said.phase === 'playing';
        if (playing) {
            reloadWorked(tabStorage());
            if (this.phase === 'waiting') {
                this.checkVersion(); // the server may be a new one
            }
        } else if (said.phase === 'connecting') {
            this.outside.announce();
        }
        const status = said.trouble === 'replaced'
            ? { ...said, text: this.outside.replacedText() } : said;
        this.phase = status.phase;
        this.gate.show(status);
        this.hud.hidden = !playing;
        this.crosshair.hidden = !playing;
        this.screen.isPlaying.value = playing;
        this.controls.active = playing;
        if (!playing) {
            this.sounds.silence();
            this.bodySounds?.reset();
            this.screen.menu.value = 'closed';
            this.chat.isOpen.value = false;
            this.controls.release();
            if (document.pointerLockElement !== null && status.phase === 'closed') {
                document.exitPointerLock();
            }
        }
    }

    // What is missing while one plays: scripts first.
    private showLoading(): void {
        const scripts = this.downloads === null ? '' : downloadLine(this.downloads.progress);
        this.loading.textContent = this.phase !== 'playing' ? ''
            : scripts || assetLine(this.assets.progress.value);
    }

    private open(place: Place): void {
        this.place = place;
        this.screen.place.value = place;
        this.controls.actions = place.actions;
        element('place', HTMLDivElement).textContent = place.name;
        document.title = `${place.name} · Sandlot`;
    }

    private welcome(player: number): void {
        this.welcomeMs = performance.now();
        this.people.welcome(player);
        setTimeout(() => this.people.sweep(), ROSTER_MS);
        void this.chat.ask(this.gate.placeId());
        if (this.gate.hasAccounts) {
            void this.rights.load();
        }
    }

    // --- what lies over the world ---

    private openChat(begin = ''): void {
        this.chat.begin = begin;
        this.chat.isOpen.value = true;
        this.freeMouse();
    }

    private closeChat(): void {
        this.chat.isOpen.value = false;
        this.canvas.focus();
    }

    private openMenu(page: MenuPage): void {
        this.screen.menu.value = page;
        this.controls.active = page === 'closed';
        if (page === 'closed') {
            this.canvas.focus();
        } else {
            this.freeMouse();
        }
    }

    private freeMouse(): void {
        this.controls.release();
        if (document.pointerLockElement !== null) {
            document.exitPointerLock();
        }
    }

    private leave(text = words.left): void {
        this.hasLeft = true; // what the worker said before it heard of that comes later
        this.say({ type: 'leave' });
        this.show({ type: 'status', phase: 'closed', text });
    }

    // --- what happened ---

    private event({ message }: ClientEvent): void {
        const { payload } = message;
        switch (`${message.feature}.${message.action}`) {
            case 'presence.joined':
                if (this.people.meet(payload) && this.isNews(Number(payload.player))) {
                    this.chat.note(words.people.joined(String(payload.name)));
                }
                break;
            case 'presence.left': {
                const person = this.people.part(Number(payload.player));
                if (person !== undefined) {
                    this.chat.note(words.people.left(person.name));
                }
                break;
            }
            case 'presence.stat':
                this.people.score(payload);
                break;
            case 'build.previewed':
            case 'voxel.previewed':
                void this.othersBuild(`${message.feature}.${message.action}`, payload);
                break;
            case 'projectile.hit': {
                const [x = 0, y = 0, z = 0] = payload.p as number[];
                this.view.puff(x, y, z);
                this.sounds.made('hit', [x, y, z], 0.25);
                break;
            }
            case 'script.effect':
                this.view.effect(payload);
                break;
            case 'entity.damaged':
                if (Number(payload.cause) === this.frame?.own[1] && Number(payload.amount) > 0) {
                    this.screen.mark();
                }
                if (Number(payload.entityId) === this.frame?.own[1]) {
                    this.sounds.made('hit', null, 0.35);
                }
                break;
            case 'build.placed':
                this.sounds.made('place', this.placeOf(Number(payload.entityId)), 0.35);
                break;
            case 'entity.died':
                this.died(Number(payload.entityId), Number(payload.cause));
                break;
            case 'chat.said':
                this.chat.hear(payload);
                break;
            case 'session.error':
                if (payload.fatal === true) {
                    break; // the screen says why the session has ended
                }
                this.refused(String(payload.code), sentence(String(payload.message)));
                break;
        }
    }

    // Who builds reads it where they look; everything else stands in the chat.
    private refused(code: string, text: string): void {
        const mode = this.screen.build.value?.mode;
        if (mode?.isOpen.value === true && code !== 'chat_restricted') {
            mode.refuse(text);
        } else {
            this.chat.note(text);
        }
    }

    // Those who are here already when one comes are no news.
    private isNews(player: number): boolean {
        return player !== this.people.own.value && performance.now() - this.welcomeMs > ROSTER_MS;
    }

    private died(entity: number, cause: number): void {
        const bodies = this.people.bodies.value;
        const who = bodies.get(entity)?.name;
        const by = bodies.get(cause)?.name;
        if (who !== undefined) {
            this.screen.tell(by === undefined || by === who ? words.died(who)
                : words.killed(by, who));
        }
    }

    // --- what the player does ---

    private sendInput(): void {
        this.waiting = true;
        this.say({
            type: 'input', input: this.controls.input(), camera: this.view.cameraNumbers(),
            rays: {
                ...this.view.rays(this.place?.reach ?? 0),
                plan: this.screen.build.value?.mode.wish() ?? null,
            },
        });
    }

    private key(code: string, down: boolean): void {
        this.say({ type: 'key', key: code, down });
        this.sendInput(); // at once, however slowly pictures come
        if (!down) {
            return;
        }
        if (code === 'Escape' && this.chat.isOpen.value) {
            this.closeChat();
            return;
        }
        const command = code === 'Escape' ? 'menu'
            : KEY_COMMANDS.find((each) => this.controls.is(each, code));
        if (command !== undefined) {
            this.command(command);
        } else if (this.controls.is('chat', code) || code === 'Slash') {
            this.openChat(code === 'Slash' ? '/' : '');
        }
    }

    private pollPad(now: number): void {
        const { gamepad, place } = this;
        if (gamepad !== null) {
            gamepad.terraforms = place?.terraform === true;
            gamepad.builds = place !== null && canBuild(place);
            gamepad.isBuilding = this.screen.build.value?.mode.isOpen.value === true;
            gamepad.poll(now);
        } else if (!this.isPadAsked && hasPad()) {
            this.isPadAsked = true;
            import('./gamepad.ts').then(({ GamepadReader: Reader }) => {
                this.gamepad = new Reader(this.controls, (command) => this.command(command));
            }).catch(() => setTimeout(() => { this.isPadAsked = false; }, LOAD_AGAIN_MS));
        }
    }

    private command(command: PadCommand): void {
        switch (command) {
            case 'menu':
                this.openMenu('menu');
                break;
            case 'overlay':
                void this.toggleOverlay();
                break;
            case 'camera':
                change({ camera: settings.value.camera === 'third' ? 'first' : 'third' });
                break;
            case 'dig':
            case 'fill': {
                const mode = this.screen.build.value?.mode;
                if (mode?.isOpen.value === true && mode.tools().includes(command)) {
                    mode.tool.value = command;
                } else {
                    this.dig(command === 'dig');
                }
                break;
            }
            case 'build':
                void this.toggleBuild();
                break;
            case 'build-tool':
                this.screen.build.value?.mode.nextTool();
                break;
            case 'build-turn':
                this.screen.build.value?.mode.rotate();
                break;
            case 'build-next':
            case 'build-before':
                this.screen.build.value?.mode.choose(command === 'build-next' ? 1 : -1);
                break;
            case 'build-remove':
                this.screen.build.value?.mode.remove();
                break;
            case 'focus':
                document.querySelector<HTMLElement>('#script-ui :is(button, input)')?.focus();
                break;
        }
    }

    // Takes the voxel one looks at, or puts one on it.
    private dig(take: boolean): void {
        const aim = this.place?.terraform === true ? this.view.aim() : null;
        if (aim === null || this.place === null) {
            return;
        }
        const side = take ? -0.5 : 0.5;
        const min = aim.point.map((value, axis) =>
            Math.floor(value + (aim.normal[axis] ?? 0) * side));
        const stone = this.place.voxelKinds.findIndex(({ name }) => name === 'stone') + 1;
        const voxelKind = take ? 0 : Math.max(stone, 1);
        this.sounds.made(take ? 'dig' : 'place', aim.point, 0.35);
        this.say({
            type: 'command', feature: 'voxel', action: 'terraform',
            payload: { shape: 0, min, max: min, voxelKind },
        });
    }

    private async toggleOverlay(): Promise<void> {
        if (this.overlay === null) {
            const loaded = await Promise.all([import('../ui/overlay.ts'), import('../ui/overlay_more.ts')])
                .catch(() => null);
            if (loaded === null) {
                this.chat.note(words.menu.notLoaded);
                return;
            }
            const [{ Overlay: Table }, { OverlayMore: More }] = loaded;
            this.overlay ??= {
                table: new Table(element('overlay', HTMLTableElement)),
                more: new More(element('overlay-more', HTMLDivElement), () =>
                    this.gate.hasAccounts ? this.rights.canSeeScripts : isDevelopment()),
            };
            this.overlay.more.world = this.rights.world;
        }
        const visible = this.overlay.table.toggle();
        this.overlay.more.show(visible);
        element('numbers', HTMLElement).hidden = !visible;
        this.say({ type: 'costs', wanted: visible });
    }

    // --- build mode ---

    // Loaded the first time it is used, by this player or in sight of her.
    private async loadBuild(): Promise<BuildMode | null> {
        const { place } = this;
        if (this.screen.build.value !== null || place === null) {
            return this.screen.build.value?.mode ?? null;
        }
        const [{ BuildMode: Mode }, { BuildBar: Bar }] = await Promise.all(
            [import('./build_mode.ts'), import('./screen/build.tsx')]);
        if (this.screen.build.value === null && this.place === place) {
            const mode = new Mode(place, this.view, (message) => this.say(message));
            this.screen.build.value = { mode, Bar };
        }
        return this.screen.build.value?.mode ?? null;
    }

    private async toggleBuild(): Promise<void> {
        if (this.place === null || !canBuild(this.place)) {
            return;
        }
        const mode = await this.loadBuild().catch(() => null);
        if (mode === null) {
            this.chat.note(words.build.notLoaded);
            return;
        }
        const open = !mode.isOpen.value;
        mode.setOpen(open);
        this.controls.takesKey = (code) => open && (mode.key(code) ||
            (mode.isMouseKey(code) && this.controls.switchMouse()));
        this.controls.takesFire = open ? () => mode.use() : null;
        this.controls.takesSecond = open ? () => mode.remove() : null;
        this.controls.onWheel = (steps) => open && mode.rotate(steps);
    }

    // Another place: its catalogue is another one.
    private endBuild(): void {
        this.screen.build.value?.mode.close();
        this.screen.build.value = null;
        this.controls.takesKey = () => false;
        this.controls.takesFire = null;
        this.controls.takesSecond = null;
        this.controls.onWheel = () => {};
    }

    private async othersBuild(action: string, payload: Record<string, unknown>): Promise<void> {
        if (Number(payload.player) !== this.people.own.value) {
            const mode = payload.active === true ? await this.loadBuild().catch(() => null)
                : this.screen.build.value?.mode;
            mode?.hear(action, payload, performance.now());
        }
    }

    // Where something in sight is; null: it is not in sight, or a part that does not move.
    private placeOf(entity: number): Triple | null {
        const { own, movers, shapes } = this.frame ?? {};
        if (own !== undefined && own[0] !== 0 && own[1] === entity) {
            return [own[2] ?? 0, own[3] ?? 0, own[4] ?? 0];
        }
        for (const rows of [movers ?? [], shapes ?? []]) {
            for (let at = 0; at < rows.length; at += ROW) {
                if (rows[at] === entity) {
                    return [rows[at + 3] ?? 0, rows[at + 4] ?? 0, rows[at + 5] ?? 0];
                }
            }
        }
        return null;
    }

    // --- the picture ---

    private picture(now: number): void {
        requestAnimationFrame((next) => this.picture(next));
        this.overlay?.more.frame(now - this.pictureMs);
        const seconds = Math.min((now - this.pictureMs) / 1000, 0.1);
        this.adaptive.add(document.hidden ? 0 : now - this.pictureMs);
        this.pictureMs = now;
        this.pictures = this.pictures.filter((at) => now - at < FPS_WINDOW_MS);
        this.pictures.push(now);
        this.pollPad(now);
        this.controls.step(seconds);
        if (!this.waiting) {
            this.sendInput();
        }
        if (this.frame !== null && this.place !== null && !this.outside.isPictureLost) {
            const health = this.frame.own[10] ?? 0;
            this.health.style.width = `${Math.max(0, Math.min(100, health / FULL_HEALTH * 100))}%`;
            this.health.classList.toggle('low', health < FULL_HEALTH * 0.3);
            this.healthMeter.setAttribute('aria-valuenow', String(Math.round(health)));
            const died = health <= 0 && this.frame.own[0] === 1 ? words.youDied : '';
            if (this.deadLine.textContent !== died) {
                this.deadLine.textContent = died;
            }
            this.view.setQuality(levelOf(settings.value.quality, this.adaptive));
            this.view.ownCamera = settings.value.camera;
            const mode = this.screen.build.value?.mode;
            mode?.update(this.frame.plan, now);
            mode?.findShapes(this.frame.shapes);
            this.view.draw(this.frame, this.controls.yaw, this.controls.pitch,
                settings.value.teamNames ? this.people.bodiesWithTeams.value
                    : this.people.bodies.value, seconds);
            this.shown.settle(this.mayFlash);
            placeAbove((entity) => this.view.above(entity));
            this.hearBodies(this.frame, seconds);
            this.sounds.update(this.view.cameraNumbers(), (entity) => this.placeOf(entity));
        }
    }
}

// The game page: it joins the keys, the worker and the picture. What happens in the world is decided
// elsewhere.
import type { ClientEvent, ClientStats, Fault, Place } from '../core/bridge.ts';
import type { CacheStats } from '../core/cache.ts';
import type { Frame, FromWorker, LinkStats, Status, ToWorker } from '../core/channel.ts';
import type { Progress } from '../core/download.ts';
import { DiagnosticList } from '../ui/diagnostics.ts';
import { downloadLine } from '../ui/downloads.ts';
import { readDropped } from '../ui/drop.ts';
import { element } from '../ui/element.ts';
import { FaultList, isDevelopment } from '../ui/faults.ts';
import { Gate, type Wish } from '../ui/gate.ts';
import { Overlay } from '../ui/overlay.ts';
import { Chat } from './chat.ts';
import { Controls } from './controls.ts';
import { watchDevice } from './device.ts';
import { GamepadReader, type PadCommand } from './gamepad.ts';
import { People } from './people.ts';
import { RELOAD_FAILED, reloadOnce, reloadWorked } from './reload.ts';
import type { MenuPage } from './screen/menu.tsx';
import { Screen } from './screen/screen.tsx';
import { placeAbove } from './screen/widgets.tsx';
import { change, openSettings, settings } from './settings.ts';
import { ShownTrees } from './shown.ts';
import { View } from './view.ts';
import { words } from '../ui/words.ts';

const ROSTER_MS = 3000;
const FULL_HEALTH = 100;
const FPS_WINDOW_MS = 1000;
const KEY_COMMANDS = ['overlay', 'camera', 'dig', 'fill', 'focus'] as const;

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
}

export class PlayPage {
    private readonly canvas = element('view', HTMLCanvasElement);
    private readonly hud = element('hud', HTMLElement);
    private readonly crosshair = element('crosshair', HTMLDivElement);
    private readonly health = element('health-bar', HTMLDivElement);
    private readonly healthMeter = element('health', HTMLDivElement);
    private readonly grab = element('grab', HTMLParagraphElement);
    private readonly faults = new FaultList(element('faults', HTMLOListElement));
    private readonly diagnostics = new DiagnosticList(element('diagnostics', HTMLOListElement));
    private readonly overlay = new Overlay(element('overlay', HTMLTableElement));
    private readonly controls = new Controls(this.canvas);
    private readonly gamepad = new GamepadReader(this.controls,
        (command) => this.command(command));
    private readonly view = new View(this.canvas);
    private readonly worker = new Worker(new URL('../core/worker.ts', import.meta.url),
        { type: 'module' });
    private readonly gate = new Gate((wish) => this.join(wish), () => this.say({ type: 'leave' }));
    private readonly people = new People();
    private readonly chat = new Chat(this.people,
        (feature, action, payload) => this.say({ type: 'command', feature, action, payload }),
        () => this.leave());
    private readonly shown = new ShownTrees();
    private readonly screen = new Screen(element('screen', HTMLDivElement), {
        people: this.people,
        chat: this.chat,
        shown: this.shown,
        controls: this.controls,
        onDig: (take) => this.dig(take),
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
    private pictures: number[] = [];
    private phase = 'gate';
    private welcomeMs = 0;
    private chunks = 0;
    private readonly edited = new Map<string, string>();
    private stats: ClientStats | null = null;
    private link: LinkStats | null = null;
    private downloads: { progress: Progress; cache: CacheStats } | null = null;
    private readonly loading = element('loading', HTMLParagraphElement);

    constructor() {
        openSettings();
        watchDevice();
        this.worker.addEventListener('message', (event: MessageEvent<FromWorker>) =>
            this.hear(event.data));
        this.worker.addEventListener('error', (event) => this.show({
            type: 'status', phase: 'closed',
            text: `The page made a mistake (${event.message}). Reload it.`,
        }));
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
        };
    }

    // The chunks that were changed, with a sum over their faces.
    terrain(): string[] {
        return [...this.edited].map(([at, value]) => `${at} ${value}`).sort();
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
            readDropped(event.dataTransfer.items).then((files) => this.check(files),
                (error: unknown) => this.diagnostics.show({
                    type: 'checked', scripts: 0, diagnostics: [], failure: String(error),
                }));
        }
    }

    private say(message: ToWorker): void {
        this.worker.postMessage(message);
    }

    private join(wish: Wish): void {
        this.say({ type: 'join', origin: location.origin, ...wish });
    }

    private hear(message: FromWorker): void {
        switch (message.type) {
            case 'status':
                this.show(message);
                break;
            case 'downloads':
                this.downloads = message;
                this.gate.showDownloads(message.progress);
                this.loading.textContent = this.phase === 'playing'
                    ? downloadLine(message.progress) : '';
                break;
            case 'outdated':
                if (!reloadOnce(sessionStorage, () => location.reload())) {
                    this.show({ type: 'status', phase: 'closed', text: RELOAD_FAILED });
                }
                break;
            case 'room':
                this.gate.entered(message.code);
                break;
            case 'place':
                this.edited.clear();
                this.shown.clear();
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
                this.controls.turn(message.own[12] ?? 0);
                this.waiting = false;
                break;
            case 'nothing':
                this.waiting = false;
                break;
            case 'events':
                message.events.forEach((event) => this.event(event));
                break;
            case 'shown':
                this.shown.change(message.shown);
                break;
            case 'faults':
                message.faults.forEach((fault) => this.faults.add(fault));
                break;
            case 'checked':
                this.diagnostics.show(message);
                break;
            case 'log':
                message.lines.forEach((line) => console.info(line));
                break;
            case 'stats':
                this.stats = message.stats;
                this.link = message.link;
                this.overlay.update(message.stats, message.link, this.pictures.length);
                break;
        }
    }

    private show(status: Status): void {
        const playing = status.phase === 'playing';
        if (playing) {
            reloadWorked(sessionStorage);
        }
        this.phase = status.phase;
        this.gate.show(status);
        this.hud.hidden = !playing;
        this.crosshair.hidden = !playing;
        this.screen.isPlaying.value = playing;
        this.controls.active = playing;
        if (!playing) {
            this.screen.menu.value = 'closed';
            this.chat.isOpen.value = false;
            this.controls.release();
            if (document.pointerLockElement !== null && status.phase === 'closed') {
                document.exitPointerLock();
            }
        }
    }

    private open(place: Place): void {
        this.place = place;
        this.screen.place.value = place;
        this.controls.actionCount = place.actions.length;
        this.gamepad.terraforms = place.terraform;
        element('place', HTMLDivElement).textContent = place.name;
        document.title = `${place.name} · Sandlot`;
    }

    private welcome(player: number): void {
        this.welcomeMs = performance.now();
        this.people.welcome(player);
        setTimeout(() => this.people.sweep(), ROSTER_MS);
        void this.chat.ask(this.gate.placeId());
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

    private leave(): void {
        this.say({ type: 'leave' });
        this.show({ type: 'status', phase: 'closed', text: words.left });
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
            case 'projectile.hit': {
                const [x = 0, y = 0, z = 0] = payload.p as number[];
                this.view.puff(x, y, z);
                break;
            }
            case 'entity.damaged':
                if (Number(payload.cause) === this.frame?.own[1] && Number(payload.amount) > 0) {
                    this.screen.mark();
                }
                break;
            case 'entity.died':
                this.died(Number(payload.entityId), Number(payload.cause));
                break;
            case 'chat.said':
                this.chat.hear(payload);
                break;
            case 'session.error':
                this.chat.note(String(payload.message));
                break;
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
            rays: this.view.rays(this.place?.reach ?? 0),
        });
    }

    private key(code: string, down: boolean): void {
        this.say({ type: 'key', key: code, down });
        this.sendInput(); // at once, however slowly pictures come
        if (!down) {
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

    private command(command: PadCommand): void {
        switch (command) {
            case 'menu':
                this.openMenu('menu');
                break;
            case 'overlay':
                this.overlay.toggle();
                break;
            case 'camera':
                change({ camera: settings.value.camera === 'third' ? 'first' : 'third' });
                break;
            case 'dig':
            case 'fill':
                this.dig(command === 'dig');
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
        this.say({
            type: 'command', feature: 'voxel', action: 'terraform',
            payload: { shape: 0, min, max: min, voxelKind },
        });
    }

    // --- the picture ---

    private picture(now: number): void {
        requestAnimationFrame((next) => this.picture(next));
        const seconds = Math.min((now - this.pictureMs) / 1000, 0.1);
        this.pictureMs = now;
        this.pictures = this.pictures.filter((at) => now - at < FPS_WINDOW_MS);
        this.pictures.push(now);
        this.gamepad.poll(now);
        this.controls.step(seconds);
        if (!this.waiting) {
            this.sendInput();
        }
        if (this.frame !== null && this.place !== null) {
            const health = this.frame.own[10] ?? 0;
            this.health.style.width = `${Math.max(0, Math.min(100, health / FULL_HEALTH * 100))}%`;
            this.health.classList.toggle('low', health < FULL_HEALTH * 0.3);
            this.healthMeter.setAttribute('aria-valuenow', String(Math.round(health)));
            this.view.thirdPerson = settings.value.camera === 'third';
            this.view.draw(this.frame, this.controls.yaw, this.controls.pitch,
                this.people.bodies.value, seconds);
            placeAbove((entity) => this.view.above(entity));
        }
    }
}

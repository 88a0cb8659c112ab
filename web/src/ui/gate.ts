// The screen before the world: who one is, where people play, and the progress of joining. It is
// shown again when the connection is lost, with what is being done about it.
import { type OpenWorld, aboutPlace, hasWorld, openWorlds, readSession } from '../core/account.ts';
import type { Status, Trouble } from '../core/channel.ts';
import type { Progress } from '../core/download.ts';
import { coreLine, downloadLine, sceneLine, share } from './downloads.ts';
import { element } from './element.ts';
import { keep, readKept } from './kept.ts';
import { words } from './words.ts';

const NAME_KEY = 'sandlot.name';
const titleFor = (trouble: Trouble): string => words[trouble].title;

export interface Wish {
    name: string;
    room: string; // '': any
    place: string; // '': the default place
    channel: string; // of that place: 'beta', 'draft', or '' for what players get
    signedIn: boolean;
}

// `/play/K7QX2M`, or `?room=K7QX2M`.
function roomOfAddress(): string {
    return /^\/play\/([^/]+)$/.exec(location.pathname)?.[1] ??
        new URLSearchParams(location.search).get('room') ?? '';
}

// `/place/place_obby-k3x9ab`, or `?place=…`.
function placeOfAddress(): string {
    return /^\/place\/([^/]+)$/.exec(location.pathname)?.[1] ??
        new URLSearchParams(location.search).get('place') ?? '';
}

// The server writes it into the head of the page, together with its own name: "Obby · Sandlot".
const titleOfPlace = (): string => / · /.test(document.title)
    ? document.title.slice(0, document.title.lastIndexOf(' · ')) : '';

// With the way back to here.
const signInAddress = (): string => `/account?next=${encodeURIComponent(location.pathname + location.search)}`;

// `?place=place_obby-k3x9ab&channel=beta`, for those who test it; `draft` for those who work on it.
function channelOfAddress(): string {
    const asked = new URLSearchParams(location.search).get('channel') ?? '';
    return ['beta', 'draft'].includes(asked) ? asked : '';
}

export interface GateActions {
    join(wish: Wish): void;
    cancel(): void;
    retry(): void; // without waiting any longer
}

function makeButton(text: string, press: () => void): HTMLLIElement {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = text;
    button.addEventListener('click', press);
    item.append(button);
    return item;
}

export class Gate {
    private readonly gate = element('gate', HTMLElement);
    private readonly form = element('join', HTMLFormElement);
    private readonly intro = element('intro', HTMLParagraphElement);
    private readonly name = element('name', HTMLInputElement);
    private readonly who = element('who', HTMLDivElement);
    private readonly account = element('account', HTMLAnchorElement);
    private readonly worlds = element('worlds', HTMLUListElement);
    private readonly progress = element('progress', HTMLDivElement);
    private readonly phase = element('phase', HTMLHeadingElement);
    private readonly bar = element('bar', HTMLDivElement);
    private readonly fill = element('bar-fill', HTMLDivElement);
    private readonly detail = element('detail', HTMLParagraphElement);
    private readonly downloads = element('downloads', HTMLParagraphElement);
    private readonly cancel = element('cancel', HTMLButtonElement);
    private readonly again = element('again', HTMLButtonElement);
    private readonly leave = element('leave', HTMLParagraphElement);
    private readonly now = element('now', HTMLButtonElement);
    private readonly countdown = element('countdown', HTMLParagraphElement);
    private readonly others = element('others', HTMLDivElement);
    private readonly actions: GateActions;
    private againMs = 0; // when it is tried again; 0: nothing is waited for
    private isOffering = false; // other worlds than the full one
    private status: Status | null = null;
    private core = { have: 0, bytes: 0 }; // of the game itself
    private rows = ''; // of scene and scripts
    private assets = ''; // and of the place's own files
    private room = roomOfAddress();
    private place = placeOfAddress();
    private readonly channel = placeOfAddress() === '' ? '' : channelOfAddress();
    hasAccounts = false; // the server has them
    private signedIn = false;
    private isAccount = false; // and no guest
    private wasPlaying = false;

    constructor(actions: GateActions) {
        this.actions = actions;
        for (const [id, text] of Object.entries(words.gate.page)) {
            element(id, HTMLElement).textContent = text;
        }
        for (const [id, text] of Object.entries(words.gate.labels)) {
            element(id, HTMLElement).setAttribute('aria-label', text);
        }
        this.name.placeholder = words.gate.guest;
        const place = titleOfPlace();
        if (place !== '') {
            element('title', HTMLHeadingElement).textContent = place;
        }
        const kept = readKept(NAME_KEY);
        this.name.value = new URLSearchParams(location.search).get('name') ?? kept ?? '';
        this.name.focus();
        this.note(!keep(NAME_KEY, kept ?? ''), words.gate.nothingKept);
        this.note(!isSecureContext, words.gate.plainHttp);
        const asked = this.ask();
        this.form.addEventListener('submit', (event) => {
            event.preventDefault();
            void asked.then(() => this.start());
        });
        if (location.hash === '#now' && parent !== window) { // in the Studio: who is signed in has said already that they play
            void asked.then(() => {
                if (this.signedIn) {
                    this.start();
                }
            });
        }
        this.cancel.addEventListener('click', () => actions.cancel());
        this.again.addEventListener('click', () => void this.ask().then(() => this.start()));
        this.now.textContent = words.gate.now;
        this.now.addEventListener('click', () => actions.retry());
        setInterval(() => this.count(), 250);
    }

    // What one should know before one plays.
    private note(isSo: boolean, text: string): void {
        if (isSo) {
            const item = document.createElement('li');
            item.textContent = text;
            const notes = element('notes', HTMLUListElement);
            notes.append(item);
            notes.hidden = false;
        }
    }

    private start(): void {
        const name = this.name.value.trim();
        if (!this.signedIn) {
            keep(NAME_KEY, name);
        }
        this.form.hidden = true;
        this.progress.hidden = false;
        this.actions.join({
            name, room: this.room, place: this.place, channel: this.channel, signedIn: this.signedIn,
        });
    }

    // Nobody starts before this is known; without an answer they start as a guest.
    private async ask(): Promise<void> {
        const session = await readSession();
        if (!session.accounts) {
            return;
        }
        this.hasAccounts = true;
        if (session.signed_in && titleOfPlace() === '' && (this.place !== '' || this.room !== '')) {
            void aboutPlace(this.room, this.place).then(({ title, isRemoved }) => {
                if (title !== '') {
                    element('title', HTMLHeadingElement).textContent = title;
                }
                if (isRemoved && !this.form.hidden) {
                    this.show({ type: 'status', phase: 'closed', text: words.gate.removed });
                }
            });
        }
        if (this.place === '') {
            this.place = session.default_place ?? ''; // where others are, not a world of one's own
        }
        this.account.hidden = false;
        this.isAccount = session.signed_in && session.is_guest !== true;
        this.account.href = this.isAccount ? '/account' : signInAddress();
        this.signedIn = session.signed_in;
        this.who.hidden = session.signed_in;
        if (session.signed_in && document.activeElement === document.body) {
            element('enter', HTMLButtonElement).focus(); // the name had it, and is not asked for
        }
        if (session.signed_in) {
            this.intro.textContent = words.gate.youAre(session.shown_name ?? '');
            this.account.textContent = session.is_guest === true
                ? words.gate.keepAccount : words.gate.ownAccount;
        }
        if (this.room === '') {
            void openWorlds().then((worlds) => this.offer(worlds)); // nobody waits for that
        } else if (!this.form.hidden) {
            void this.findRoom();
        }
    }

    // Who has pressed Play before it is known reads why they are not in.
    private async findRoom(): Promise<void> {
        if (!await hasWorld(this.room)) {
            const { showNoWorld } = await import('./no_world.ts');
            if (!this.form.hidden) {
                showNoWorld(this.room);
            }
        }
    }

    private offer(worlds: OpenWorld[]): void {
        this.worlds.hidden = worlds.length === 0;
        this.worlds.replaceChildren(...worlds.map((world) => this.offerOne(world)));
    }

    private offerOne({ placeName, players, roomCode, placeId }: OpenWorld): HTMLLIElement {
        return makeButton(words.gate.world(placeName ?? placeId, players), () => this.go(roomCode, ''));
    }

    private go(room: string, place: string): void {
        this.room = room;
        this.place = place === '' ? this.place : place;
        this.start();
    }

    // Where else one can play, while a full world is asked again and again.
    private async offerOthers(): Promise<void> {
        const { otherWorlds } = await import('./gate_offers.ts');
        const { place, worlds } = await otherWorlds(this.room);
        const items = worlds.map((world) => this.offerOne(world));
        if (place !== null && this.hasAccounts) {
            items.push(makeButton(words.gate.anotherWorld(place.placeName ?? place.placeId),
                () => this.go('', place.placeId)));
        }
        element('others-list', HTMLUListElement).replaceChildren(...items);
        element('others-text', HTMLParagraphElement).textContent =
            items.length > 0 ? words.full.others : words.full.noOthers;
        this.others.hidden = !this.isOffering;
    }

    private showOthers(isWanted: boolean): void {
        if (isWanted && !this.isOffering) {
            void this.offerOthers();
        }
        this.isOffering = isWanted;
        this.others.hidden ||= !isWanted;
    }

    private count(): void {
        const seconds = Math.ceil((this.againMs - performance.now()) / 1000);
        this.countdown.hidden = this.againMs === 0 || seconds <= 0;
        if (!this.countdown.hidden) {
            this.countdown.textContent = words.gate.countdown(seconds);
        }
    }

    // '': whichever the server chooses.
    placeId(): string {
        return this.place;
    }

    // The address that a friend can be sent.
    entered(room: string): void {
        if (this.hasAccounts) {
            this.room = room;
            history.replaceState(null, '', `/play/${room}`);
        }
    }

    show(status: Status): void {
        this.status = status;
        const playing = status.phase === 'playing';
        this.gate.hidden = playing;
        this.wasPlaying ||= playing;
        this.gate.classList.toggle('over', this.wasPlaying);
        if (playing) {
            return;
        }
        this.form.hidden = true;
        this.progress.hidden = false;
        const { phase, trouble } = status;
        const isDown = phase === 'closed' || phase === 'waiting';
        this.phase.textContent = isDown && trouble !== undefined ? titleFor(trouble)
            : phase === 'closed' ? words.gate.closed
            : phase === 'waiting' ? words.gate.waiting : status.text;
        this.detail.textContent = isDown ? status.text : '';
        this.againMs = status.waitMs === undefined ? 0 : performance.now() + status.waitMs;
        this.now.hidden = this.againMs === 0;
        this.count();
        this.showOthers(phase === 'waiting' && trouble === 'full');
        this.again.textContent = trouble === 'replaced' ? words.replaced.here : words.gate.again;
        this.bar.hidden = status.phase === 'closed';
        this.bar.classList.add('unknown');
        this.downloads.hidden = status.phase !== 'fetching';
        this.rows = '';
        this.downloads.textContent = status.phase === 'fetching' ? this.assets : '';
        if (phase === 'starting') {
            this.showCore(this.core.have, this.core.bytes);
        }
        this.cancel.hidden = status.phase === 'closed';
        this.again.hidden = status.phase !== 'closed' || trouble === 'signedOut'; // until it is known that guests come in
        this.leave.hidden = status.phase !== 'closed';
        element('sign-in-line', HTMLParagraphElement).hidden = true;
        if (phase === 'closed' && (trouble === 'signedOut' || trouble === 'stranger')) {
            void this.offerSignIn(trouble);
        }
    }

    private async offerSignIn(trouble: Trouble): Promise<void> {
        const { canBeGuest, showSignIn } = await import('./gate_offers.ts');
        const isStill = (): boolean => this.status?.trouble === trouble;
        if (isStill() && (trouble === 'signedOut' || !this.isAccount)) {
            showSignIn(signInAddress());
        }
        if (trouble === 'signedOut' && this.channel !== 'draft' && await canBeGuest(this.room, this.place) && isStill()) {
            this.again.textContent = words.gate.asGuest;
            this.again.hidden = false;
        }
    }

    // It comes while one still reads the first screen, and may be here before one starts.
    showCore(have: number, bytes: number): void {
        this.core = { have, bytes };
        if (this.status?.phase === 'starting' && have < bytes) {
            this.bar.classList.remove('unknown');
            this.fill.style.width = `${Math.round(have / bytes * 100)}%`;
            this.downloads.hidden = false;
            this.downloads.textContent = coreLine(have, bytes);
        }
    }

    showDownloads(progress: Progress): void {
        const part = share(progress);
        if (this.status?.phase !== 'fetching' || part === null) {
            return;
        }
        this.bar.classList.remove('unknown');
        this.fill.style.width = `${Math.round(part * 100)}%`;
        this.detail.textContent = `${Math.round(part * 100)} %`;
        this.rows = [
            sceneLine(progress), downloadLine(progress),
            progress.isWaiting ? words.gate.stuck : '',
        ].filter((line) => line !== '').join('\n');
        this.showRows();
    }

    // The row of pictures, sounds and models. They load while one plays already, so the bar is not theirs.
    showAssets(row: string): void {
        this.assets = row;
        if (this.status?.phase === 'fetching') {
            this.showRows();
        }
    }

    private showRows(): void {
        this.downloads.textContent = [this.rows, this.assets].filter((row) => row !== '').join('\n');
    }
}

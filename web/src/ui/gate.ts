// The screen before the world: who one is, where people play, and the progress of joining. It is
// shown again when the connection is lost, with what is being done about it.
import { type OpenWorld, openWorlds, readSession } from '../core/account.ts';
import type { Status } from '../core/channel.ts';
import type { Progress } from '../core/download.ts';
import { downloadLine, sceneLine, share } from './downloads.ts';
import { element } from './element.ts';

const NAME_KEY = 'sandlot.name';

export interface Wish {
    name: string;
    room: string; // '': any
    place: string; // '': the default place
    channel: string; // of that place: 'beta', or '' for what players get
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

// `/place/place_obby-k3x9ab?channel=beta`, for those who test it.
function channelOfAddress(): string {
    return new URLSearchParams(location.search).get('channel') === 'beta' ? 'beta' : '';
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
    private readonly join: (wish: Wish) => void;
    private status: Status | null = null;
    private room = roomOfAddress();
    private place = placeOfAddress();
    private readonly channel = placeOfAddress() === '' ? '' : channelOfAddress();
    private hasAccounts = false;
    private signedIn = false;
    private wasPlaying = false;

    constructor(join: (wish: Wish) => void, leave: () => void) {
        this.join = join;
        this.name.value = new URLSearchParams(location.search).get('name') ??
            localStorage.getItem(NAME_KEY) ?? '';
        this.name.focus();
        const asked = this.ask();
        this.form.addEventListener('submit', (event) => {
            event.preventDefault();
            void asked.then(() => this.start());
        });
        this.cancel.addEventListener('click', () => {
            leave();
            this.show({ type: 'status', phase: 'closed', text: 'You have cancelled it.' });
        });
        this.again.addEventListener('click', () => void this.ask().then(() => this.start()));
    }

    private start(): void {
        const name = this.name.value.trim();
        if (!this.signedIn) {
            localStorage.setItem(NAME_KEY, name);
        }
        this.form.hidden = true;
        this.progress.hidden = false;
        this.join({
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
        if (this.place === '') {
            this.place = session.default_place ?? ''; // where others are, not a world of one's own
        }
        this.account.hidden = false;
        this.signedIn = session.signed_in;
        this.who.hidden = session.signed_in;
        if (session.signed_in) {
            this.intro.textContent = `You are ${session.shown_name}.`;
            this.account.textContent = session.is_guest === true
                ? 'Make an account, and keep what you have' : 'Your account';
        }
        if (this.room === '') {
            this.offer(await openWorlds());
        }
    }

    private offer(worlds: OpenWorld[]): void {
        this.worlds.hidden = worlds.length === 0;
        this.worlds.replaceChildren(...worlds.map((world) => {
            const item = document.createElement('li');
            const button = document.createElement('button');
            button.type = 'button';
            button.className = 'quiet';
            button.textContent = `${world.place_name} · ${world.players} playing`;
            button.addEventListener('click', () => {
                this.room = world.room_code;
                this.start();
            });
            item.append(button);
            return item;
        }));
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
        this.phase.textContent = status.phase === 'closed' ? 'You are out of the world'
            : status.phase === 'waiting' ? 'Hold on' : status.text;
        this.detail.textContent =
            status.phase === 'closed' || status.phase === 'waiting' ? status.text : '';
        this.bar.hidden = status.phase === 'closed';
        this.bar.classList.add('unknown');
        this.downloads.hidden = status.phase !== 'fetching';
        this.cancel.hidden = status.phase === 'closed';
        this.again.hidden = status.phase !== 'closed';
        this.leave.hidden = this.again.hidden;
    }

    showDownloads(progress: Progress): void {
        const part = share(progress);
        if (this.status?.phase !== 'fetching' || part === null) {
            return;
        }
        this.bar.classList.remove('unknown');
        this.fill.style.width = `${Math.round(part * 100)}%`;
        this.detail.textContent = `${Math.round(part * 100)} %`;
        this.downloads.textContent = [
            sceneLine(progress), downloadLine(progress),
            progress.isWaiting ? 'Nothing arrives; trying again…' : '',
        ].filter((line) => line !== '').join('\n');
    }
}

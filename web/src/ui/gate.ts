// The screen before the world: the name, and the progress of joining. It is shown again when the
// connection is lost, with what is being done about it.
import type { Status } from '../core/channel.ts';
import { element } from './element.ts';

const NAME_KEY = 'sandlot.name';

export class Gate {
    private readonly gate = element('gate', HTMLElement);
    private readonly form = element('join', HTMLFormElement);
    private readonly name = element('name', HTMLInputElement);
    private readonly progress = element('progress', HTMLDivElement);
    private readonly phase = element('phase', HTMLHeadingElement);
    private readonly bar = element('bar', HTMLDivElement);
    private readonly fill = element('bar-fill', HTMLDivElement);
    private readonly detail = element('detail', HTMLParagraphElement);
    private readonly again = element('again', HTMLButtonElement);
    private wasPlaying = false;

    constructor(join: (name: string) => void) {
        this.name.value = new URLSearchParams(location.search).get('name') ??
            localStorage.getItem(NAME_KEY) ?? '';
        this.name.focus();
        const start = (): void => {
            const name = this.name.value.trim();
            localStorage.setItem(NAME_KEY, name);
            this.form.hidden = true;
            this.progress.hidden = false;
            join(name);
        };
        this.form.addEventListener('submit', (event) => {
            event.preventDefault();
            start();
        });
        this.again.addEventListener('click', start);
    }

    show(status: Status): void {
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
        this.detail.textContent = status.phase === 'closed' || status.phase === 'waiting'
            ? status.text
            : status.phase === 'fetching' ? `${Math.round(status.progress * 100)} %` : '';
        this.bar.hidden = status.phase === 'closed';
        this.bar.classList.toggle('unknown', status.phase !== 'fetching');
        this.fill.style.width = `${Math.round(status.progress * 100)}%`;
        this.again.hidden = status.phase !== 'closed';
    }
}

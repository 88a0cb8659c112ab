// What a build says about scripts, for whoever writes them: a line that counts, then each diagnostic
// with its file and line. A click puts it away.
import type { Checked } from '../core/channel.ts';
import { diagnosticText } from '../core/check.ts';
import { laterWords } from './words_later.ts';

const SHOWN_MAX = 50;

function summary({ scripts, diagnostics, failure }: Checked): string {
    if (failure !== '') {
        return laterWords.check.failed(failure);
    }
    const errors = diagnostics.filter(({ level }) => level === 'error').length;
    return laterWords.check.counts(scripts, errors, diagnostics.length - errors);
}

export class DiagnosticList {
    private readonly list: HTMLOListElement;

    constructor(list: HTMLOListElement) {
        this.list = list;
        list.addEventListener('click', () => {
            list.hidden = true;
        });
    }

    show(checked: Checked): void {
        const more = checked.diagnostics.length - SHOWN_MAX;
        const lines = [
            summary(checked),
            ...checked.diagnostics.slice(0, SHOWN_MAX).map(diagnosticText),
            ...(more > 0 ? [`… and ${more} more`] : []),
        ];
        this.list.replaceChildren(...lines.map((text) => {
            const item = document.createElement('li');
            item.textContent = text;
            return item;
        }));
        this.list.hidden = false;
    }
}

// What a build says about scripts, for whoever writes them: a line that counts, then each diagnostic
// with its file and line. A click puts it away.
import type { Checked } from '../core/channel.ts';
import { diagnosticText } from '../core/check.ts';

const SHOWN_MAX = 50;

const counted = (count: number, what: string): string =>
    `${count} ${what}${count === 1 ? '' : 's'}`;

function summary({ scripts, diagnostics, failure }: Checked): string {
    if (failure !== '') {
        return `The scripts could not be checked: ${failure}`;
    }
    const errors = diagnostics.filter(({ level }) => level === 'error').length;
    return `${counted(scripts, 'script')} checked: ${counted(errors, 'error')}, ${
        counted(diagnostics.length - errors, 'warning')}`;
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

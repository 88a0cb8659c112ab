// One line over the world about what is wrong outside of it, and for what cannot be mended from here a
// button that loads the page again.
import { element } from './element.ts';
import { words } from './words.ts';

export class Notice {
    private readonly box = element('notice', HTMLDivElement);
    private readonly text = element('notice-text', HTMLSpanElement);
    private readonly reload = element('notice-reload', HTMLButtonElement);

    constructor() {
        this.reload.textContent = words.picture.reload;
        this.reload.addEventListener('click', () => location.reload());
    }

    show(text: string, canReload = false): void {
        this.text.textContent = text;
        this.reload.hidden = !canReload;
        this.box.hidden = false;
    }

    hide(): void {
        this.box.hidden = true;
    }
}

// Instead of the page: it could not even be made.
export function showFailure(title: string, text: string): void {
    element('join', HTMLFormElement).hidden = true;
    element('progress', HTMLDivElement).hidden = false;
    element('bar', HTMLDivElement).hidden = true;
    element('cancel', HTMLButtonElement).hidden = true;
    element('phase', HTMLHeadingElement).textContent = title;
    element('detail', HTMLParagraphElement).textContent = text;
    const again = element('again', HTMLButtonElement);
    again.hidden = false;
    element('leave', HTMLParagraphElement).hidden = false;
    again.textContent = words.gate.again;
    again.addEventListener('click', () => location.reload());
}

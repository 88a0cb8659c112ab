// Instead of Play, when the address names a world that there is not: the box for the right code.
import { element } from './element.ts';
import { laterWords } from './words_later.ts';

export function showNoWorld(code: string): void {
    const words = laterWords.noWorld;
    element('join', HTMLFormElement).hidden = true;
    element('bar', HTMLDivElement).hidden = true;
    element('cancel', HTMLButtonElement).hidden = true;
    element('phase', HTMLHeadingElement).textContent = words.title(code);
    element('detail', HTMLParagraphElement).textContent = words.text;
    const form = document.createElement('form');
    const label = document.createElement('label');
    const input = document.createElement('input');
    const button = document.createElement('button');
    label.textContent = words.code;
    label.htmlFor = input.id = 'code';
    input.value = code;
    input.maxLength = 24;
    input.autocomplete = 'off';
    input.spellcheck = false;
    input.required = true;
    button.textContent = words.join;
    form.append(label, input, button);
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        location.assign(`/play/${encodeURIComponent(input.value.replace(/[\s-]/g, '').toUpperCase())}`);
    });
    const leave = element('leave', HTMLParagraphElement);
    leave.before(form);
    leave.hidden = false;
    element('progress', HTMLDivElement).hidden = false;
    input.select();
}

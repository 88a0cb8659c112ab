// Every command by name (Ctrl+K), and the list of all keys.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Dialog } from '../../ui/parts.tsx';
import { COMMANDS, type Command } from '../commands.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

// All letters of what was typed, in their order; the closer together, the better. -1: it does not fit.
function rate(name: string, typed: string): number {
    const text = name.toLowerCase();
    const whole = text.indexOf(typed);
    if (whole >= 0) {
        return 1000 - whole;
    }
    let at = -1;
    let gaps = 0;
    for (const letter of typed) {
        const next = text.indexOf(letter, at + 1);
        if (next < 0) {
            return -1;
        }
        gaps += next - at - 1;
        at = next;
    }
    return 500 - gaps;
}

interface Choice {
    name: string;
    key: string;
    run: () => void;
    can: boolean;
}

function choicesOf(studio: Studio, typed: string): Choice[] {
    const commands = COMMANDS.filter(({ id }) => id !== 'palette' && id !== 'redo-2').map((command: Command): Choice => ({
        name: command.name, key: command.key, run: () => command.run(studio), can: command.can?.(studio) ?? true,
    }));
    const entities = typed.length < 2 ? [] : studio.document.find(typed).slice(0, 20).map((id): Choice => ({
        name: words.goTo(studio.document.name(id) || `#${id}`), key: '', can: true,
        run: () => { studio.select([id]); studio.view?.focus([id]); },
    }));
    const files = typed.length < 2 ? [] : studio.document.files().filter(({ path }) => /\.(lua|luau|ts)$/.test(path))
        .map(({ path }): Choice => ({ name: words.openFile(path), key: '', can: true, run: () => studio.openScript(path) }));
    return [...commands, ...files, ...entities].map((choice) => ({ choice, rating: rate(choice.name, typed.toLowerCase()) }))
        .filter(({ rating }) => rating >= 0).sort((a, b) => b.rating - a.rating).map(({ choice }) => choice).slice(0, 40);
}

export function Palette({ studio, close }: { studio: Studio; close: () => void }): JSX.Element {
    const [typed, setTyped] = useState('');
    const [at, setAt] = useState(0);
    const list = useRef<HTMLUListElement>(null);
    const choices = choicesOf(studio, typed.trim());
    useEffect(() => { list.current?.children[at]?.scrollIntoView({ block: 'nearest' }); }, [at]);
    const run = (choice: Choice | undefined): void => {
        if (choice?.can === true) {
            close();
            setTimeout(choice.run, 0); // when the window is closed and has given the focus back
        }
    };
    return (
        <Dialog title={words.palette} onClose={close}>
            <input type="text" class="palette" role="combobox" aria-expanded aria-controls="palette-list" autofocus
                aria-activedescendant={`choice-${at}`} aria-label={words.paletteHint} placeholder={words.paletteHint} value={typed}
                onInput={(event) => { setTyped(event.currentTarget.value); setAt(0); }}
                onKeyDown={(event) => {
                    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
                    if (by !== 0) {
                        event.preventDefault();
                        setAt(Math.max(0, Math.min(choices.length - 1, at + by)));
                    } else if (event.key === 'Enter') {
                        event.preventDefault();
                        run(choices[at]);
                    }
                }} />
            <ul class="choices" id="palette-list" role="listbox" aria-label={words.palette} ref={list}>
                {choices.map((choice, i) => (
                    <li key={i} id={`choice-${i}`} role="option" aria-selected={i === at}
                        aria-disabled={!choice.can} onClick={() => run(choice)}>
                        <span>{choice.name}</span>{choice.key !== '' && <kbd>{choice.key}</kbd>}
                    </li>
                ))}
            </ul>
        </Dialog>
    );
}

export function Keys({ close }: { close: () => void }): JSX.Element {
    return (
        <Dialog title={words.keys} onClose={close}>
            <p class="soft">{words.mouseHint}</p>
            <p class="soft">{words.touchHint}</p>
            <table class="keys"><tbody>
                {COMMANDS.map(({ id, name, key }) => <tr key={id}><th scope="row">{name}</th><td><kbd>{key}</kbd></td></tr>)}
            </tbody></table>
        </Dialog>
    );
}

// What is heard, written, for those who read sounds.
import type { ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';

import { words } from '../../ui/words.ts';
import type { Caption } from '../sound.ts';

export function Captions({ captions }: { captions: ReadonlySignal<readonly Caption[]> }): JSX.Element {
    return (
        <ol class="captions" aria-live="polite" aria-label={words.sound.captions}>
            {captions.value.map(({ key, text }) => <li key={key}>{text}</li>)}
        </ol>
    );
}

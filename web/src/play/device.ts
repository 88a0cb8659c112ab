// What the player uses now: keys and mouse, touch, or a gamepad. The last one used counts, so that the
// touch controls appear with the first touch and go away with the first key.
import { effect, signal } from '@preact/signals';

export type Device = 'desk' | 'touch' | 'pad';

// A phone has no mouse that could hover: nobody needs to be told to click there.
const startsWithTouch = (): boolean => matchMedia('(hover: none) and (pointer: coarse)').matches;

export const device = signal<Device>('desk');

// A phone's own keyboard types into a line; that does not mean that there is a real one.
const isTyping = ({ target }: Event): boolean =>
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

// Called once, by the page. Capturing, so that no handler can keep an event from it.
export function watchDevice(): void {
    device.value = startsWithTouch() ? 'touch' : 'desk';
    const pointer = ({ pointerType }: PointerEvent): void => {
        device.value = pointerType === 'mouse' ? 'desk' : 'touch';
    };
    addEventListener('pointerdown', pointer, { capture: true });
    addEventListener('pointermove', (event) => {
        // Browsers send a move without movement when something under the mouse changes.
        if (event.pointerType === 'mouse' && (event.movementX !== 0 || event.movementY !== 0)) {
            device.value = 'desk';
        }
    }, { capture: true });
    addEventListener('keydown', (event) => {
        if (!isTyping(event)) {
            device.value = 'desk';
        }
    }, { capture: true });
    effect(() => {
        document.documentElement.dataset.device = device.value; // for the style sheets
    });
}

// What the pages of classes share: what the server tells about a class, questions before something ends,
// and a message beside what it is about.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Failure, get } from './api.ts';
import { messageOf } from './message.ts';
import type { Loaded } from './parts.tsx';
import { words } from './words_class.ts';

export type ChatRule = 'free' | 'phrases' | 'off';

// Accounts are told apart by their names: their numbers have 64 bits, more than a number here keeps.
export interface Person {
    username: string | null;
    shown_name: string | null;
}

export interface SchoolClass {
    class_id: string;
    name: string;
    part: 'teacher' | 'pupil';
    paused: boolean;
    chat: ChatRule;
    public_names: boolean;
    created_at: string;
    teachers: Person[];
}

export interface ClassPeople extends SchoolClass {
    pupils: Person[];
}

export interface ClassPlace {
    place_id: string;
    title: string;
    username: string | null;
    shown_name: string | null;
    visibility: 'private' | 'unlisted' | 'listed';
    thumbnail: string | null;
    players: number;
    live: string | null;
    draft: boolean;
    updated_at: string;
}

export function pathOf(id: string): string {
    return `/api/classes/${encodeURIComponent(id)}`;
}

export function playAddress(place: ClassPlace): string {
    return `/play?${new URLSearchParams({ place: place.place_id })}`;
}

export function nameOf(person: { username: string | null; shown_name: string | null }): string {
    return person.shown_name ?? person.username ?? '–';
}

const byName = new Intl.Collator(undefined, { numeric: true });

export function sorted(people: Person[]): Person[] {
    return [...people].sort((a, b) => byName.compare(nameOf(a), nameOf(b)));
}

export { messageOf };

export interface Said {
    ok: boolean;
    text: string;
}

export const NOTHING: Said = { ok: true, text: '' };

export function Saying({ said, id }: { said: Said; id?: string }): JSX.Element {
    return <p {...(id === undefined ? {} : { id })} class={said.ok ? 'soft said' : 'wrong said'}
        role={said.ok ? 'status' : 'alert'}>{said.text}</p>;
}

// What a button does, with what came of it: `run` gives the sentence that is shown.
export function useAction(): { said: Said; busy: boolean; act: (run: () => Promise<string>) => void } {
    const [said, setSaid] = useState<Said>(NOTHING);
    const [busy, setBusy] = useState(false);
    const act = (run: () => Promise<string>): void => {
        setBusy(true);
        run().then((text) => setSaid({ ok: true, text }),
            (cause: unknown) => setSaid({ ok: false, text: messageOf(cause) }))
            .finally(() => setBusy(false));
    };
    return { said, busy, act };
}

// Again and again while somebody looks at the page.
export function useEvery(ms: number, run: () => void): void {
    const latest = useRef(run);
    latest.current = run;
    useEffect(() => {
        const timer = setInterval(() => {
            if (!document.hidden) {
                latest.current();
            }
        }, ms);
        return () => clearInterval(timer);
    }, [ms]);
}

// A question; Escape is “cancel”.
export function Question({ text, children, onCancel }: {
    text: string; children: ComponentChildren; onCancel: () => void;
}): JSX.Element {
    const dialog = useRef<HTMLDialogElement>(null);
    const id = useId();
    useLayoutEffect(() => {
        const box = dialog.current;
        box?.showModal();
        return () => box?.close(); // what had the focus before gets it back
    }, []);
    return (
        <dialog ref={dialog} class="question" aria-labelledby={id} onCancel={(event) => {
            event.preventDefault();
            onCancel();
        }}>
            <p id={id}>{text}</p>
            <div class="ways">
                {children}
                <button type="button" class="button quiet" onClick={onCancel}>{words.cancel}</button>
            </div>
        </dialog>
    );
}

const PAGES_MAX = 25; // of 100 places each: as many as a large class has after some handouts
const AGAIN_MS = 5000;

async function allPlaces(classId: string, signal: AbortSignal): Promise<ClassPlace[]> {
    const places: ClassPlace[] = [];
    let after: string | null = '';
    for (let page = 0; page < PAGES_MAX && after !== null; page++) {
        const got: { places: ClassPlace[]; next: string | null } = await get(
            `${pathOf(classId)}/places?${new URLSearchParams({ limit: '100', after })}`, signal);
        places.push(...got.places);
        after = got.next;
    }
    return places.sort((a, b) => byName.compare(a.title, b.title) || byName.compare(nameOf(a), nameOf(b)));
}

// The places of a class that one may see, by title and name, looked at again every few seconds.
export function usePlaces(classId: string): Loaded<ClassPlace[]> {
    const [value, setValue] = useState<ClassPlace[] | null>(null);
    const [failure, setFailure] = useState<Failure | null>(null);
    const [count, setCount] = useState(0);
    const again = (): void => setCount((before) => before + 1);
    useEffect(() => {
        const ended = new AbortController();
        allPlaces(classId, ended.signal).then((places) => {
            setValue(places);
            setFailure(null);
        }, (cause: unknown) => {
            if (cause instanceof Failure) {
                setFailure(cause);
            }
        });
        return () => ended.abort();
    }, [classId, count]);
    useEvery(AGAIN_MS, again);
    return { value, failure, again };
}

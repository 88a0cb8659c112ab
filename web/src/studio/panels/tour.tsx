// The guided first place: ten steps to an obby of one's own, played. Each step waits until it is done; it can
// also be passed over.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { tabStorage } from '../../ui/kept.ts';
import type { Step } from '../document.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

interface Facts {
    studio: Studio;
    started: { count: number; turns: number; places: ReadonlyMap<number, string>; seq: number; published: string; kills: number; checkpoints: number };
}

const turnsOf = ({ view }: Studio): number => view?.rig.turns ?? 0;
const placesOf = ({ rows }: Studio): ReadonlyMap<number, string> => new Map([...rows.values()].map(({ id, position }) => [id, position.join()]));
// How many things have a script: a template may have some before the tour begins.
const countOf = (studio: Studio, script: string): number =>
    [...studio.rows.keys()].filter((id) => String((studio.document.entity(id).scriptRef as { path?: string } | undefined)?.path ?? '').includes(script)).length;

// What was done since the step began.
const since = ({ studio, started }: Facts): readonly Step[] => studio.document.history.filter(({ seq }) => seq > started.seq);

// A copy, and after that a move: the copy is selected when it is made.
function hasMovedCopy(facts: Facts): boolean {
    const done = since(facts);
    const made = done.findIndex(({ label, undone }) => undone === 0 && label !== words.steps.move);
    return facts.studio.rows.size > facts.started.count && made >= 0 && done.slice(made).some(({ label }) => label === words.steps.move);
}

// Undone and done again, so that nothing is missing afterwards.
function hasRedone(facts: Facts): boolean {
    const done = since(facts);
    const undos = new Set(done.filter(({ undone }) => undone !== 0).map(({ seq }) => seq));
    return done.some(({ undone }) => undos.has(undone));
}

// When each of the steps of words.tour.steps is done.
const DONE: readonly ((facts: Facts) => boolean)[] = [
    ({ studio, started }) => turnsOf(studio) > started.turns,
    ({ studio, started }) => studio.rows.size > started.count,
    ({ studio, started }) => [...started.places].some(([id, place]) => (studio.rows.get(id)?.position.join() ?? place) !== place),
    hasMovedCopy,
    (facts) => since(facts).some(({ label }) => label === words.steps.set(words.colourLabel)),
    ({ studio, started }) => countOf(studio, 'KillBrick') > started.kills,
    ({ studio, started }) => countOf(studio, 'Checkpoint') > started.checkpoints,
    hasRedone,
    ({ studio, started }) => studio.published.value !== started.published,
    () => false, // the last one
];

// What each step is about, to be shown where it is.
const TARGETS = ['.stage', '[data-kit=block]', '.stage', '.stage', '.member.type-colour', '[data-kit=kill]', '[data-kit=checkpoint]',
    '[data-command=undo]', '.toolbar .publish', '.toolbar .publish'];

export const TOUR_STEPS = DONE.length;

const keyOf = ({ place }: Studio): string => `sandlot tour ${place}`;

// Where one was before the page was loaded again; from the first step if it was not begun.
export function resumeTour(studio: Studio): void {
    const at = Number(tabStorage()?.getItem(keyOf(studio)) ?? 0);
    studio.tour.value = Number.isInteger(at) && at >= -1 && at <= TOUR_STEPS ? at : 0;
}

// The published place is played: the last step is done.
export function endTour(studio: Studio): void {
    if (studio.tour.value === TOUR_STEPS - 1) {
        studio.tour.value = TOUR_STEPS;
    }
}

export function Tour({ studio }: { studio: Studio }): JSX.Element | null {
    const at = studio.tour.value;
    const started = useRef<Facts['started']>({ count: 0, turns: 0, places: new Map(), seq: 0, published: '', kills: 0, checkpoints: 0 });
    useEffect(() => {
        tabStorage()?.setItem(keyOf(studio), `${at}`);
    }, [at]);
    useEffect(() => {
        if (at < 0) {
            return undefined;
        }
        started.current = {
            count: studio.rows.size, turns: turnsOf(studio), places: placesOf(studio), seq: studio.document.seq(),
            published: studio.published.value, kills: countOf(studio, 'KillBrick'), checkpoints: countOf(studio, 'Checkpoint'),
        };
        // What it is about may come later: a field is there when something is selected.
        let target: Element | null = null;
        const point = (): void => {
            const now = document.querySelector(TARGETS[at] ?? '#none');
            if (now !== target) {
                target?.classList.remove('pointed');
                now?.classList.add('pointed');
                now?.scrollIntoView({ block: 'nearest' });
                target = now;
            }
        };
        point();
        const timer = setInterval(() => {
            point();
            if (at < TOUR_STEPS - 1 && DONE[at]?.({ studio, started: started.current }) === true) {
                studio.tour.value = at + 1;
            }
        }, 300);
        return () => {
            clearInterval(timer);
            target?.classList.remove('pointed');
        };
    }, [at]);
    const isDone = at >= TOUR_STEPS; // it was played
    const step = isDone ? words.tour.done : words.tour.steps[at];
    if (at < 0 || step === undefined) {
        return null;
    }
    const isLast = at === TOUR_STEPS - 1;
    const end = (): void => { studio.tour.value = -1; };
    return (
        <aside class={studio.playing.value ? 'tour small' : 'tour'} aria-label={words.tour.title} role="region">
            <header><strong>{isDone ? words.tour.title : words.tour.step(at + 1, TOUR_STEPS)}</strong>
                <progress max={TOUR_STEPS} value={at} aria-label={words.tour.title} />
                <button type="button" class="end" aria-label={words.tour.end} onClick={end}>✕</button></header>
            <div role="status"><h2>{step.title}</h2><p>{step.text}</p></div>
            <p class="ways">
                {isDone && <button type="button" class="button small" onClick={end}>{words.tour.done.end}</button>}
                {at > 0 && !isDone && <button type="button" class="button quiet small" onClick={() => { studio.tour.value = at - 1; }}>{words.tour.back}</button>}
                {isDone ? null : isLast
                    ? <a class="button small" href={`/play?${new URLSearchParams({ place: studio.place })}`} target="_blank" rel="noopener"
                        onClick={() => endTour(studio)}>{words.playIt}</a>
                    : <button type="button" class="button quiet small" onClick={() => { studio.tour.value = at + 1; }}>{words.tour.skip}</button>}
            </p>
        </aside>
    );
}

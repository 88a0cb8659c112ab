// The line at the bottom: whether everything is saved, what is wrong, and what the place costs.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { ScriptStatus } from '../script/status.tsx';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

const CALLS_GOAL = 150; // of the game page
const TRIANGLES_GOAL = 250_000;
const EVERY_MS = 1000;

export function Status({ studio }: { studio: Studio }): JSX.Element {
    const [cost, setCost] = useState({ calls: 0, triangles: 0, cpuMs: 0 });
    useEffect(() => {
        const timer = setInterval(() => {
            const { calls = 0, triangles = 0, cpuMs = 0 } = studio.view?.cost ?? {};
            setCost((before) => before.calls === calls && before.triangles === triangles ? before : { calls, triangles, cpuMs });
        }, EVERY_MS);
        return () => clearInterval(timer);
    }, []);
    studio.ordered.value;
    const saved = studio.saved.value;
    const count = studio.problemCount.value;
    const isHeavy = cost.calls > CALLS_GOAL || cost.triangles > TRIANGLES_GOAL;
    return (
        <footer class="status">
            <span class={`saved ${saved}`} role="status" title={studio.link.reason.value || words.savedHints[saved]}>
                {words.savedStates[saved]}{studio.link.waiting.value > 0 && ` (${studio.link.waiting.value})`}</span>
            <button type="button" class={count > 0 ? 'wrong' : ''}
                onClick={() => { studio.panel.value = studio.panel.value === 'problems' ? null : 'problems'; }}>
                {words.problemCount(count)}</button>
            <span class="notice" role="alert">{studio.notice.value}</span>
            <span class="space" />
            <ScriptStatus />
            <span class="wide">{words.selectedOf(studio.selection.value.length, studio.rows.size)}</span>
            <span class="wide" title={words.costHint}><span class={`light ${isHeavy ? 'red' : 'green'}`} aria-hidden="true" />{' '}
                {words.cost(cost.calls, cost.triangles)}</span>
            <button type="button" onClick={() => { studio.dialog.value = 'keys'; }}>{words.keys}</button>
        </footer>
    );
}

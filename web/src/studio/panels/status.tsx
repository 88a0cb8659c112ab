// The line at the bottom: whether everything is saved, what is wrong, and what the place costs.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { get } from '../../site/api.ts';
import { bytesText } from '../../site/words_place.ts';
import { ScriptStatus } from '../script/status.tsx';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

const CALLS_GOAL = 150; // of the game page
const TRIANGLES_GOAL = 250_000;
const MEGABYTES_GOAL = 350;
const EVERY_MS = 1000;

const PACKAGE_LATER_MS = 2000; // after the last change of a file

// Of all files of the draft, as the server has them; null: not known.
function usePackageBytes(studio: Studio): number | null {
    const [bytes, setBytes] = useState<number | null>(null);
    const written = studio.link.written.value;
    useEffect(() => {
        const timer = setTimeout(() => {
            get<{ files: { bytes: number }[] }>(`/api/places/${encodeURIComponent(studio.place)}/draft`).then(
                ({ files }) => setBytes(files.reduce((sum, file) => sum + file.bytes, 0)), () => undefined);
        }, PACKAGE_LATER_MS);
        return () => clearTimeout(timer);
    }, [written]);
    return bytes;
}

// Of the page; only some browsers tell.
const heapBytes = (): number => (performance as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize ?? 0;

export function Status({ studio }: { studio: Studio }): JSX.Element {
    const [cost, setCost] = useState({ calls: 0, triangles: 0, megabytes: 0 });
    const bytes = usePackageBytes(studio);
    useEffect(() => {
        const timer = setInterval(() => {
            const { calls = 0, triangles = 0, bytes: decoded = 0 } = studio.view?.cost ?? {};
            const megabytes = Math.round((decoded + heapBytes()) / 1e6);
            setCost((before) => before.calls === calls && before.triangles === triangles && before.megabytes === megabytes ? before
                : { calls, triangles, megabytes });
        }, EVERY_MS);
        return () => clearInterval(timer);
    }, []);
    studio.ordered.value;
    const saved = studio.saved.value;
    const problems = studio.problemCount.value;
    const warnings = studio.warningCount.value;
    const isHeavy = cost.calls > CALLS_GOAL || cost.triangles > TRIANGLES_GOAL || cost.megabytes > MEGABYTES_GOAL;
    return (
        <footer class="status">
            <span class={`saved ${saved}`} role="status" title={studio.link.reason.value || words.savedHints[saved]}>
                {words.savedStates[saved]}{studio.link.waiting.value > 0 && ` (${studio.link.waiting.value})`}</span>
            <button type="button" class={problems > 0 ? 'wrong' : warnings > 0 ? 'warned' : ''}
                onClick={() => { studio.panel.value = studio.panel.value === 'problems' ? null : 'problems'; }}>
                {words.problemCount(problems, warnings)}</button>
            <span class={studio.isNoticeWrong.value ? 'notice wrong' : 'notice'} role="alert">{studio.notice.value}</span>
            <span class="space" />
            <ScriptStatus />
            <span class="wide">{words.selectedOf(studio.selection.value.length, studio.rows.size)}</span>
            <span class="wide" title={words.costHint}><span class={`light ${isHeavy ? 'red' : 'green'}`} aria-hidden="true" />{' '}
                {words.cost(cost.calls, cost.triangles, cost.megabytes)}</span>
            {bytes !== null && <span class="wide package" title={words.packageHint}>{bytesText(bytes)}</span>}
            <button type="button" onClick={() => { studio.dialog.value = 'keys'; }}>{words.keys}</button>
        </footer>
    );
}

// A .game file, brought in without leaving the Studio: as a new place, or into this one. The server unpacks, checks
// and builds it; what it refuses is shown with the entry and the rule. What cannot be built becomes a new place
// nevertheless, with its problems: nobody's work is locked into a file.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Failure, send } from '../../site/api.ts';
import { messageOf } from '../../site/message.ts';
import { followJob, logLines, sendFile, stopJob } from '../../site/upload.ts';
import { Dialog } from '../../ui/parts.tsx';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';

type State =
    | { phase: 'ask' }
    | { phase: 'busy'; said: string; part: number; job: string }
    | { phase: 'refused'; said: string; lines: string[] }
    | { phase: 'done'; place: string; problems: string[] }; // which one has it now, and what keeps it from being built

type Into = 'new' | 'here';

export function ImportGame({ studio, close }: { studio: Studio; close: () => void }): JSX.Element {
    const [into, setInto] = useState<Into>('new');
    const [state, setState] = useState<State>({ phase: 'ask' });
    const file = useRef<HTMLInputElement>(null);
    const ended = useRef<AbortController | null>(null);
    useEffect(() => () => ended.current?.abort(), []);
    const bring = async (event: Event): Promise<void> => {
        event.preventDefault();
        const chosen = file.current?.files?.[0];
        if (chosen === undefined) {
            return;
        }
        const own = new AbortController();
        ended.current = own;
        const notes = new URLSearchParams({ notes: words.importNotes(chosen.name) });
        const here = `/api/places/${encodeURIComponent(studio.place)}`;
        try {
            const sent = await sendFile(`${into === 'new' ? '/api/places' : `${here}/revisions`}?${notes}`, chosen, own.signal,
                (part) => setState({ phase: 'busy', said: words.sendingFile(part), part: part / 2, job: '' }));
            const job = await followJob(sent.job_id, own.signal, ({ stage, progress_pct }) => setState({
                phase: 'busy', said: words.building(stage), part: 0.5 + progress_pct / 200, job: sent.job_id,
            }));
            const isBuilt = job.status === 'done';
            const said = job.reason ?? words.importFailed;
            const lines = logLines(job).filter((line) => !line.includes(said));
            if (!isBuilt && (into === 'here' || job.status === 'cancelled')) {
                setState({ phase: 'refused', said, lines: into === 'here' ? [...lines, words.importHereHint] : lines });
                return;
            }
            try { // The draft is what the Studio opens. Into this place it comes as one change that everybody sees.
                await send('POST', `/api/places/${encodeURIComponent(sent.place_id)}/draft`, into === 'new'
                    ? { revision_id: sent.revision_id } : { revision_id: sent.revision_id, replace: true });
                setState({ phase: 'done', place: sent.place_id, problems: isBuilt ? [] : [said, ...lines] });
            } catch (cause) {
                if (isBuilt) {
                    throw cause;
                }
                setState({ phase: 'refused', said, lines }); // it is no package, and nothing of it was kept
            }
        } catch (cause) {
            setState(cause instanceof Failure ? { phase: 'refused', said: messageOf(cause), lines: [] } : { phase: 'ask' });
        }
    };
    const cancel = (): void => {
        if (state.phase === 'busy' && state.job !== '') {
            stopJob(state.job);
        }
        ended.current?.abort();
    };
    if (state.phase === 'done') {
        return (
            <Dialog title={words.importGame} onClose={close}>
                <div class="import-form">
                    <p role="status">{into === 'here' ? words.importedHere : state.problems.length > 0 ? words.importedWrong : words.importedNew}</p>
                    {state.problems.length > 0 && <pre class="wrong">{state.problems.join('\n')}</pre>}
                    <p class="ways">{into === 'new'
                        ? <a class="button" href={`/studio/${encodeURIComponent(state.place)}`}>{words.openImported}</a>
                        : <button type="button" class="button" onClick={close}>{words.toPicture}</button>}</p>
                </div>
            </Dialog>
        );
    }
    const isBusy = state.phase === 'busy';
    return (
        <Dialog title={words.importGame} onClose={close}>
            <form class="import-form" onSubmit={(event) => void bring(event)}>
                <label for="import-file">{words.importFile}</label>
                <input id="import-file" ref={file} type="file" accept=".game" required disabled={isBusy} />
                <fieldset class="who" disabled={isBusy}>
                    <legend>{words.importInto}</legend>
                    {(['new', 'here'] as const).map((each) => <label key={each}><input type="radio" name="into" value={each} checked={into === each}
                        disabled={each === 'here' && !studio.link.canWrite.value} onChange={() => setInto(each)} /> {words.importWays[each]}</label>)}
                </fieldset>
                {isBusy && <><progress max={1} value={state.part} aria-label={words.progress} /><p role="status">{state.said}</p></>}
                {state.phase === 'refused' && <div class="wrong" role="alert"><p><strong>{words.importRefused}</strong> {state.said}</p>
                    {state.lines.length > 0 && <pre>{state.lines.join('\n')}</pre>}</div>}
                <p class="ways">
                    <button type="submit" class="button" disabled={isBusy}>{words.importNow}</button>
                    {isBusy && <button type="button" class="button quiet" onClick={cancel}>{words.cancel}</button>}
                </p>
            </form>
        </Dialog>
    );
}

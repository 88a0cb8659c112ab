// Sending a .game file and watching it being built: used for a new place and for a new revision.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Failure } from './api.ts';
import { messageOf } from './parts.tsx';
import { followJob, logLines, sendFile, stopJob } from './upload.ts';
import type { Job, Sent } from './upload.ts';
import { words as siteWords } from './words.ts';
import { words } from './words_create.ts';

type State =
    | { phase: 'idle' }
    | { phase: 'stopped' }
    | { phase: 'sending'; part: number }
    | { phase: 'building'; job: Job | null; sent: Sent }
    | { phase: 'refused'; reason: string; lines: string[] };

const NO_PACKAGE = /^\(package\): format:/; // what the build says of a file of another kind

// `refused`: it came, but nothing became of it. `notes`: what is said of it, where nobody is asked what is new.
export function Sending({ path, label, done, refused, notes: given }: {
    path: (notes: string) => string; label: string; done: (sent: Sent) => void;
    refused?: (sent: Sent) => Promise<unknown>; notes?: string;
}): JSX.Element {
    const [state, setState] = useState<State>({ phase: 'idle' });
    const [notes, setNotes] = useState('');
    const file = useRef<HTMLInputElement>(null);
    const ending = useRef<AbortController | null>(null);
    useEffect(() => () => ending.current?.abort(), []);
    const send = async (event: Event): Promise<void> => {
        event.preventDefault();
        const chosen = file.current?.files?.[0];
        if (chosen === undefined) {
            return;
        }
        const controller = new AbortController();
        ending.current = controller;
        let sent: Sent | null = null;
        try {
            setState({ phase: 'sending', part: 0 });
            sent = await sendFile(path(given ?? notes.trim()), chosen, controller.signal,
                (part) => setState({ phase: 'sending', part }));
            const begun = sent;
            setState({ phase: 'building', job: null, sent: begun });
            const job = await followJob(begun.job_id, controller.signal,
                (now) => setState({ phase: 'building', job: now, sent: begun }));
            if (job.status === 'done') {
                setState({ phase: 'idle' });
                setNotes('');
                done(begun);
                return;
            }
            const reason = job.reason ?? words.failed;
            setState({ phase: 'refused', reason: NO_PACKAGE.test(reason) ? words.noPackage(chosen.name) : reason, lines: [
                ...NO_PACKAGE.test(reason) ? [reason] : [],
                ...logLines(job).filter((line) => !line.includes(reason))] });
        } catch (cause) {
            setState(cause instanceof Failure
                ? { phase: 'refused', reason: messageOf(cause), lines: [] } : { phase: 'stopped' });
        }
        if (sent !== null) {
            await refused?.(sent).catch(() => {}); // then it is in the list, where it can be deleted
        }
    };
    // What is being sent is cut off; what is being built is stopped on the server too.
    const cancel = (): void => {
        if (state.phase === 'building') {
            stopJob(state.sent.job_id);
        }
        ending.current?.abort();
    };
    const isBusy = state.phase === 'sending' || state.phase === 'building';
    const part = state.phase === 'sending' ? state.part
        : state.phase === 'building' ? (state.job?.progress_pct ?? 0) / 100 : 0;
    return (
        <form class="form" onSubmit={(event) => void send(event)}>
            <label for="file">{words.file}</label>
            <input id="file" ref={file} type="file" accept=".game" required disabled={isBusy}
                aria-describedby="file-hint" />
            <p id="file-hint" class="soft">{words.fileHint}</p>
            {given === undefined && <>
                <label for="file-notes">{words.notes}</label>
                <input id="file-notes" required maxLength={1000} value={notes} disabled={isBusy}
                    onInput={(event) => setNotes(event.currentTarget.value)} />
            </>}
            <div class="ways">
                <button class="button" type="submit" disabled={isBusy}>{label}</button>
                {isBusy && <button class="button quiet" type="button"
                    onClick={cancel}>{siteWords.cancel}</button>}
            </div>
            {isBusy && <>
                <progress max={1} value={part} aria-label={words.progress} />
                <p role="status">{state.phase === 'sending' ? words.sending(state.part)
                    : words.building(state.phase === 'building' ? state.job?.stage ?? '' : '')}</p>
            </>}
            {state.phase === 'stopped' && <p class="soft" role="status">{words.stopped}</p>}
            {state.phase === 'refused' && <div class="wrong" role="alert">
                <p><strong>{words.refused}:</strong> {state.reason}</p>
                {state.lines.length > 0 && <pre>{state.lines.join('\n')}</pre>}
            </div>}
        </form>
    );
}

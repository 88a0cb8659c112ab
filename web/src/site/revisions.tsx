// The draft of a place, its revisions with their channels, and what differs between two of them.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { send } from './api.ts';
import { compareFiles } from './compare.ts';
import type { FileChange, RevisionFile } from './compare.ts';
import { differenceWords, revisionText } from './difference.ts';
import type { Managed } from './manage.tsx';
import { Trouble, messageOf, useLoaded } from './parts.tsx';
import type { Loaded } from './parts.tsx';
import { Sending } from './sending.tsx';
import { followJob, logLines, stopJob } from './upload.ts';
import type { Sent } from './upload.ts';
import { words as siteWords } from './words.ts';
import { words } from './words_create.ts';
import { bytesText } from './words_place.ts';

export interface Revision {
    revision_id: string;
    state: string;
    notes: string;
    created_at: string;
    maker?: string | null;
    bytes: number;
    reason?: string | null;
}

// What differs, in words. Nothing, if that cannot be said: the table of files is there too.
function InWords({ base, from, to, changes }: { base: string; from: string; to: string; changes: FileChange[] }): JSX.Element | null {
    const [lines, setLines] = useState<string[] | null>(null);
    useEffect(() => {
        let isGone = false;
        setLines(null);
        import('./words_tool.ts').then(({ loadWordsTool }) => loadWordsTool())
            .then((tool) => differenceWords(tool, revisionText(base, from), revisionText(base, to), changes))
            .then((found) => isGone || setLines(found), () => isGone || setLines([]));
        return () => {
            isGone = true;
        };
    }, [from, to]);
    return lines === null ? <p role="status">{siteWords.loading}</p>
        : lines.length === 0 ? null : <ul class="difference">{lines.map((line) => <li key={line}>{line}</li>)}</ul>;
}

function Compare({ base, revisions }: { base: string; revisions: Revision[] }): JSX.Element {
    const ready = revisions.filter((revision) => revision.state === 'ready');
    const [from, setFrom] = useState(ready[1]?.revision_id ?? '');
    const [to, setTo] = useState(ready[0]?.revision_id ?? '');
    const files = (revision: string): string => `${base}/revisions/${encodeURIComponent(revision)}/files`;
    const old = useLoaded<{ files: RevisionFile[] }>(files(from));
    const now = useLoaded<{ files: RevisionFile[] }>(files(to));
    const failure = old.failure ?? now.failure;
    const changes = old.value === null || now.value === null ? null
        : compareFiles(old.value.files, now.value.files);
    const choice = (id: string, label: string, value: string, set: (value: string) => void): JSX.Element => (
        <>
            <label for={id}>{label}</label>
            <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
                {ready.map((each) => <option key={each.revision_id}>{each.revision_id}</option>)}
            </select>
        </>
    );
    return (
        <div>
            <p class="inline">{choice('compare-from', words.from, from, setFrom)}
                {choice('compare-to', words.to, to, setTo)}</p>
            {failure !== null ? <p class="wrong" role="alert">{messageOf(failure)}</p>
                : changes === null ? <p role="status">{siteWords.loading}</p>
                    : changes.length === 0 ? <p role="status">{words.same}</p>
                        : <><InWords key={`${from} ${to}`} base={base} from={from} to={to} changes={changes} />
                            <div class="table" tabIndex={0} role="region" aria-label={words.compare}><table>
                            <thead><tr><th scope="col">{words.fileColumn}</th>
                                <th scope="col">{words.changeColumn}</th>
                                <th scope="col" class="number">{words.before}</th>
                                <th scope="col" class="number">{words.after}</th></tr></thead>
                            <tbody>{changes.map((change) => <tr key={change.path}>
                                <th scope="row">{change.path}</th><td>{words.changes[change.kind]}</td>
                                <td class="number">{change.before === null ? '–' : bytesText(change.before)}</td>
                                <td class="number">{change.after === null ? '–' : bytesText(change.after)}</td>
                            </tr>)}</tbody>
                        </table></div></>}
        </div>
    );
}

const numberOf = (revision: string | null): number => Number((revision ?? 'r0').slice(1));

function RevisionRow({ place, revision, name }: {
    place: Managed; revision: Revision; name: (channel: 'live' | 'beta', revision: string | null) => void;
}): JSX.Element {
    const id = revision.revision_id;
    const isOlder = numberOf(id) < numberOf(place.live);
    const base = `/api/places/${encodeURIComponent(place.place_id)}`;
    return (
        <li class="revision">
            <div>
                <strong>{id}</strong>
                {place.live === id && <span class="badge">live</span>}
                {place.beta === id && <span class="badge">beta</span>}
                <span class="soft"> {siteWords.day(revision.created_at)} · {bytesText(revision.bytes)}
                    {revision.state !== 'ready' && ` · ${words.states[revision.state] ?? revision.state}`}</span>
                <p>{revision.notes}</p>
                {revision.reason != null && revision.reason !== '' && revision.state === 'failed' &&
                    <p class="wrong">{revision.reason}</p>}
            </div>
            {revision.state === 'ready' && <div class="ways">
                {place.live !== id
                    ? <button type="button" class={isOlder ? 'button quiet' : 'button'}
                        onClick={() => name('live', id)}>{isOlder ? words.rollBack : words.makeLive}</button>
                    : <button type="button" class="button quiet" onClick={() => name('live', null)}>
                        {words.takeOff}</button>}
                {place.beta !== id
                    ? <button type="button" class="button quiet" onClick={() => name('beta', id)}>
                        {words.makeBeta}</button>
                    : <a class="button quiet" href={`/play?${new URLSearchParams(
                        { place: place.place_id, channel: 'beta' })}`}>{words.playBeta}</a>}
                <a class="button quiet" download
                    href={`${base}/package?revision=${encodeURIComponent(id)}`}>{words.download}</a>
            </div>}
        </li>
    );
}

export function Revisions({ place, list, changed }: {
    place: Managed; list: Loaded<{ revisions: Revision[] }>; changed: () => void;
}): JSX.Element {
    const base = `/api/places/${encodeURIComponent(place.place_id)}`;
    const [said, setSaid] = useState<{ ok: boolean; text: string }>({ ok: true, text: '' });
    const revisions = list.value?.revisions ?? [];
    const name = async (channel: 'live' | 'beta', revision: string | null): Promise<void> => {
        try {
            const answer = await send<{ waits_for_approval?: boolean }>('POST', `${base}/channels/${channel}`,
                { revision_id: revision });
            setSaid({ ok: true, text: answer.waits_for_approval === true ? words.waits
                : words.named(channel, revision) });
            changed();
        } catch (cause) {
            setSaid({ ok: false, text: messageOf(cause) });
        }
    };
    return (
        <section>
            <h2>{words.revisions}</h2>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            <p class={said.ok ? 'soft' : 'wrong'} role={said.ok ? 'status' : 'alert'}>{said.text}</p>
            {list.value !== null && revisions.length === 0 && <p class="soft">{words.noRevisions}</p>}
            <ul class="list">{revisions.map((revision) => <RevisionRow key={revision.revision_id} place={place}
                revision={revision} name={(channel, id) => void name(channel, id)} />)}</ul>
            {revisions.filter((revision) => revision.state === 'ready').length > 1 &&
                <details><summary>{words.compare}</summary>
                    <Compare key={revisions[0]?.revision_id} base={base} revisions={revisions} /></details>}
            <h3>{words.newRevision}</h3>
            <Sending label={words.upload} done={changed}
                path={(notes) => `${base}/revisions?${new URLSearchParams({ notes })}`} />
        </section>
    );
}

interface Draft {
    files: { path: string; bytes: number }[];
}

// The draft on the server: what it has, and making a revision of it as it is.
export function DraftSection({ place, changed, found }: {
    place: Managed; changed: () => void; found: (hasDraft: boolean) => void;
}): JSX.Element {
    const base = `/api/places/${encodeURIComponent(place.place_id)}/draft`;
    const draft = useLoaded<Draft>(base);
    const [notes, setNotes] = useState('');
    const [state, setState] = useState<{ ok: boolean; text: string; lines: string[] }>(
        { ok: true, text: '', lines: [] });
    const [isBusy, setBusy] = useState(false);
    const [job, setJob] = useState<{ id: string; part: number } | null>(null); // while it is built
    const ending = useRef(new AbortController());
    useEffect(() => () => ending.current.abort(), []);
    useEffect(() => found(draft.value !== null), [draft.value !== null]);
    const make = async (): Promise<void> => {
        try {
            await send('POST', base, {});
            draft.again();
        } catch (cause) {
            setState({ ok: false, text: messageOf(cause), lines: [] });
        }
    };
    const publish = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        try {
            const sent = await send<Sent>('POST', `${base}/publish`, { notes: notes.trim(), channel: 'live' });
            const built = await followJob(sent.job_id, ending.current.signal, (now) => {
                setJob({ id: sent.job_id, part: now.progress_pct / 100 });
                setState({ ok: true, text: words.building(now.stage), lines: [] });
            });
            const isDone = built.status === 'done';
            setState(built.status === 'cancelled' ? { ok: true, text: words.stopped, lines: [] }
                : { ok: isDone, lines: isDone ? [] : logLines(built),
                    text: isDone ? words.named('live', sent.revision_id) : built.reason ?? words.failed });
            setNotes(isDone ? '' : notes);
            changed();
        } catch (cause) {
            setState({ ok: false, text: messageOf(cause), lines: [] });
        }
        setJob(null);
        setBusy(false);
    };
    return (
        <section>
            <h2>{words.draft}</h2>
            {draft.failure?.status === 404
                ? <p>{words.noDraft} <button type="button" class="button quiet"
                    onClick={() => void make()}>{words.makeDraft}</button></p>
                : draft.failure !== null ? <Trouble failure={draft.failure} again={draft.again} />
                : <details>
                    <summary>{words.files(draft.value?.files.length ?? 0)}</summary>
                    <ul>{(draft.value?.files ?? []).map((file) => (
                        <li key={file.path}><a download
                            href={`${base}/files/${file.path.split('/').map(encodeURIComponent).join('/')}`}>
                            {file.path}</a></li>
                    ))}</ul>
                </details>}
            {draft.value !== null && <p class="ways"><a class="button" href={`/studio/${encodeURIComponent(place.place_id)}`}>{words.studio}</a>
                <a class="button quiet" href={`/studio/${encodeURIComponent(place.place_id)}?tour`}>{words.studioTour}</a>
                <span class="soft">{words.studioHint}</span></p>}
            {draft.value !== null && <p><a class="button quiet" href={`/play?${new URLSearchParams(
                { place: place.place_id, channel: 'draft' })}`}>{words.playDraft}</a>{' '}
            <span class="soft">{words.playDraftHint}</span></p>}
            {draft.value !== null && <form class="form" onSubmit={(event) => void publish(event)}>
                <label for="draft-notes">{words.notes}</label>
                <input id="draft-notes" required maxLength={1000} value={notes} disabled={isBusy}
                    onInput={(event) => setNotes(event.currentTarget.value)} />
                <div class="ways">
                    <button class="button" type="submit" disabled={isBusy}>{words.publish}</button>
                    {job !== null && <button class="button quiet" type="button"
                        onClick={() => stopJob(job.id)}>{siteWords.cancel}</button>}
                </div>
                {job !== null && <progress max={1} value={job.part} aria-label={words.progress} />}
            </form>}
            <div class={state.ok ? 'soft' : 'wrong'} role={state.ok ? 'status' : 'alert'}>
                <p>{state.text}</p>
                {state.lines.length > 0 && <pre>{state.lines.join('\n')}</pre>}
            </div>
        </section>
    );
}

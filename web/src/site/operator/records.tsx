// What happened: builds with their logs, the server's log, and what operators did.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Failure, get, send } from '../api.ts';
import { More, Trouble, useLoaded, useRest } from '../parts.tsx';
import { words } from '../words_operator.ts';

import { AskOnce, Outcome, PersonLink, Table, reasonOf, useActing } from './parts.tsx';

// --- builds ----------------------------------------------------------------------------------------

interface Job {
    about: {
        account: string | null; name: string | null; place_id: string | null; revision_id: string | null; queued: string; ended: string | null;
    };
    job: { job_id: string; status: string; stage: string; progress_pct: number; log: string[]; reason: string };
}

const JOBS_MS = 3000;

export function JobsSection(): JSX.Element {
    const [jobs, setJobs] = useState<Job[] | null>(null);
    const [wrong, setWrong] = useState('');
    const acting = useActing();
    useEffect(() => {
        const load = (): void => {
            if (document.visibilityState === 'visible') {
                get<{ jobs: Job[] }>('/admin/jobs?limit=50')
                    .then((answer) => { setJobs(answer.jobs); setWrong(''); })
                    .catch((cause: unknown) => setWrong(reasonOf(cause)));
            }
        };
        load();
        const timer = setInterval(load, JOBS_MS);
        return () => clearInterval(timer);
    }, []);
    return (
        <>
            <Outcome said={acting.said} />
            {wrong !== '' && <p class="wrong" role="alert">{wrong}</p>}
            {jobs?.length === 0 && <p>{words.jobs.none}</p>}
            <ul class="list">{(jobs ?? []).map(({ about, job }) => (
                <li key={job.job_id} class="revision">
                    <div class="job">
                        <strong>{about.place_id !== null
                            ? <a href={`/place/${encodeURIComponent(about.place_id)}`}>{about.place_id} {about.revision_id}</a>
                            : words.jobs.draft}</strong>{' '}
                        <span class={job.status === 'failed' ? 'wrong' : 'soft'}>{words.jobs.states[job.status] ?? job.status}</span>
                        <p class="soft"><PersonLink account={about.account}>{about.name}</PersonLink> · {words.time(about.queued)}</p>
                        {job.reason !== '' && <p class="wrong">{job.reason}</p>}
                        {job.status === 'running' &&
                            <progress max={100} value={job.progress_pct} aria-label={words.jobs.progress} />}
                        <details>
                            <summary>{words.jobs.log}</summary>
                            {job.log.length === 0 ? <p class="soft">{words.jobs.noLog}</p>
                                : <pre tabIndex={0}>{job.log.join('\n')}</pre>}
                        </details>
                    </div>
                    {(job.status === 'running' || job.status === 'waiting') &&
                        <AskOnce label={words.jobs.cancel} title={words.jobs.cancelTitle} text={words.jobs.cancelText}
                            run={acting.run} act={async () => {
                                await send('DELETE', `/api/jobs/${job.job_id}`);
                                return words.done;
                            }} />}
                </li>
            ))}</ul>
        </>
    );
}

// --- the log ---------------------------------------------------------------------------------------

interface LogLine {
    id: number;
    time: string;
    level: string;
    area: string;
    text: string;
}

const LINES_KEPT = 500;
const WAIT_S = 20;
const AGAIN_MS = 3000; // after a failure
const HIDDEN_MS = 1000;

// At most so long: less if it has ended meanwhile.
const pause = (ms: number, ended: AbortSignal): Promise<void> => new Promise((done) => {
    const timer = setTimeout(done, ms);
    ended.addEventListener('abort', () => { clearTimeout(timer); done(); }, { once: true });
});

export function LogSection(): JSX.Element {
    const [lines, setLines] = useState<LogLine[] | null>(null);
    const [isFollowing, setFollowing] = useState(true);
    const [wrong, setWrong] = useState('');
    useEffect(() => {
        const ended = new AbortController();
        const follow = async (): Promise<void> => {
            let last = 0;
            do {
                if (document.hidden) { // nobody reads it
                    await pause(HIDDEN_MS, ended.signal);
                    continue;
                }
                const query = last === 0 ? 'limit=200' : `after=${last}&limit=200&wait=${WAIT_S}`;
                const answer = await get<{ lines: LogLine[]; last: number }>(`/admin/logs?${query}`, ended.signal);
                const isFirst = last === 0;
                last = answer.last;
                setLines((before) => [...isFirst ? [] : before ?? [], ...answer.lines].slice(-LINES_KEPT));
                setWrong('');
            } while (isFollowing && !ended.signal.aborted);
        };
        // A server that starts again is asked again: its log goes on with its first lines.
        const keepOn = async (): Promise<void> => {
            while (!ended.signal.aborted) {
                try {
                    await follow();
                    return;
                } catch (cause) {
                    if (!(cause instanceof Failure)) {
                        return; // ended
                    }
                    setWrong(reasonOf(cause));
                    await pause(Math.max(AGAIN_MS, cause.retryAfter * 1000), ended.signal);
                }
            }
        };
        void keepOn();
        return () => ended.abort();
    }, [isFollowing]);
    return (
        <>
            <p class="soft">{words.log.hint}</p>
            <label class="check field-check">
                <input type="checkbox" checked={isFollowing} onChange={(event) => setFollowing(event.currentTarget.checked)} />
                {words.log.follow}
            </label>
            {wrong !== '' && <p class="wrong" role="alert">{wrong}</p>}
            {lines?.length === 0 && <p>{words.log.none}</p>}
            <pre class="log" role="region" tabIndex={0} aria-label={words.sections.log}>
                {[...lines ?? []].reverse().map((line) =>
                    `${words.exactTime(line.time)}  ${line.level.padEnd(5)} ${line.area}: ${line.text}\n`)}
            </pre>
        </>
    );
}

// --- the audit -------------------------------------------------------------------------------------

interface Act {
    id: number;
    time: string;
    account: string | null;
    name: string | null;
    action: string;
    detail: string;
}

interface Acts {
    audit: Act[];
    next: number | null;
}

const ACTS = '/admin/audit?limit=100';

export function AuditSection(): JSX.Element {
    const first = useLoaded<Acts>(ACTS);
    const rest = useRest(ACTS, first.value, 'before');
    const acts = [first.value, ...rest.pages].flatMap((page) => page?.audit ?? []);
    if (first.failure !== null) {
        return <Trouble failure={first.failure} again={first.again} />;
    }
    return (
        <>
            {first.value !== null && acts.length === 0 && <p>{words.audit.none}</p>}
            {acts.length > 0 && <Table label={words.sections.audit} head={[words.audit.when, words.audit.who, words.audit.what, words.audit.detail]}>
                {acts.map((act) => (
                    <tr key={act.id}>
                        <td>{words.exactTime(act.time)}</td>
                        <td>{act.account === null ? words.audit.machine : <PersonLink account={act.account}>{act.name}</PersonLink>}</td>
                        <th scope="row">{act.action}</th>
                        <td class="detail">{act.detail}</td>
                    </tr>
                ))}
            </Table>}
            <More rest={rest} />
        </>
    );
}

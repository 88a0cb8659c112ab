// Reports with their evidence, and places that wait to be approved.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { words as gameWords } from '../../ui/words.ts';

import { send } from '../api.ts';
import { More, Trouble, useLoaded, useRest } from '../parts.tsx';
import { go } from '../route.ts';
import { words as siteWords } from '../words.ts';
import { words } from '../words_operator.ts';

import { AskOnce, Outcome, PersonLink, useActing } from './parts.tsx';
import type { Acting } from './parts.tsx';
import { Restrict } from './people.tsx';

interface Report {
    report_id: number;
    state: string;
    source: string;
    reporter: string | null;
    account: string | null;
    reporter_name: string | null;
    account_name: string | null;
    reporter_shown_name: string | null;
    account_shown_name: string | null;
    place_title: string | null;
    place_id: string | null;
    world_id: string | null;
    reason: string;
    text: string;
    note: string;
    created: string;
}

interface Line {
    at: string;
    kind: string | null;
    account: string | null;
    shown_name: string | null;
    text: string;
    known: boolean;
}

const reasonOf = ({ reason }: Report): string => gameWords.people.reasons[reason as keyof typeof gameWords.people.reasons] ?? reason;

// An account's name, and what others read in a game where that is another one.
const named = (name: string | null, shown: string | null): string => shown === null || shown === name || name === null
    ? shown ?? name ?? '' : `${name} (${shown})`;

function Facts({ report }: { report: Report }): JSX.Element {
    return (
        <dl class="facts">
            <div><dt>{words.reports.by}</dt><dd><PersonLink account={report.reporter}>{named(report.reporter_name, report.reporter_shown_name)}</PersonLink></dd></div>
            {report.account !== null && <div><dt>{words.reports.about}</dt>
                <dd><PersonLink account={report.account}>{named(report.account_name, report.account_shown_name)}</PersonLink></dd></div>}
            {report.place_id !== null && <div><dt>{words.reports.place}</dt>
                <dd><a href={`/place/${encodeURIComponent(report.place_id)}`}>{report.place_title ?? report.place_id}</a></dd></div>}
            {report.world_id !== null && <div><dt>{words.reports.world}</dt><dd>{report.world_id}</dd></div>}
            <div><dt>{words.reports.why}</dt><dd>{reasonOf(report)}</dd></div>
            <div><dt>{words.reports.source}</dt><dd>{words.reports.sources[report.source] ?? report.source}</dd></div>
            <div><dt>{words.reports.when}</dt><dd>{words.time(report.created)}</dd></div>
        </dl>
    );
}

function Evidence({ lines }: { lines: Line[] }): JSX.Element {
    return (
        <section>
            <h2>{words.reports.evidence}</h2>
            {lines.length === 0 ? <p class="soft">{words.reports.noEvidence}</p> : <>
                <p class="soft">{words.reports.evidenceHint}</p>
                <ol class="evidence">{lines.map((line, at) => (
                    <li key={at}>
                        <time dateTime={line.at}>{words.exactTime(line.at)}</time>{' '}
                        <PersonLink account={line.account}>{line.shown_name ?? line.account}</PersonLink>{' '}
                        {line.known && <span class="badge">{words.reports.known}</span>}{' '}
                        <span class="soft">{words.reports.line[line.kind ?? ''] ?? line.kind}</span>{' '}
                        <q>{line.text}</q>
                    </li>
                ))}</ol>
            </>}
        </section>
    );
}

// What operators do about a place; its owner reads the reason.
function ActPlace({ id, act, label, text, acting }: {
    id: string; act: string; label: string; text: string; acting: Acting;
}): JSX.Element {
    return <AskOnce label={label} title={words.reports.actTitle(label)} text={text} withReason run={acting.run}
        act={async ({ reason }) => {
            await send('POST', `/admin/packages/${encodeURIComponent(id)}`, { act, reason });
            return words.done;
        }} />;
}

function ReportPage({ id }: { id: string }): JSX.Element {
    const loaded = useLoaded<Report & { evidence: Line[] }>(`/admin/reports/${encodeURIComponent(id)}`);
    const acting = useActing();
    const [typed, setNote] = useState<string | null>(null); // null: as it is kept
    const report = loaded.value;
    const person = useLoaded<{ banned: boolean; muted: boolean }>(report === null || report.account === null ? null
        : `/admin/users/${encodeURIComponent(report.account)}`);
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    if (report === null) {
        return <p role="status">{siteWords.loading}</p>;
    }
    const note = typed ?? report.note;
    const close = (state: string): void => void acting.run(async () => {
        await send('POST', `/admin/reports/${report.report_id}`, { state, note });
        loaded.again();
        return words.reports.closed(words.reports.states[state] ?? state);
    });
    const restrict = { account: report.account ?? '', name: report.account_name ?? report.account ?? '', acting, again: person.again };
    return (
        <>
            <p><a class="back" href="/operator/reports">{words.reports.back}</a></p>
            <h2>{words.reports.number(report.report_id)} <span class="badge">{words.reports.states[report.state] ?? report.state}</span></h2>
            <Facts report={report} />
            <h3>{words.reports.text}</h3>
            {report.text === '' ? <p class="soft">{words.reports.noText}</p> : <p class="about quoted">{report.text}</p>}
            <Evidence lines={report.evidence} />
            <Outcome said={acting.said} />
            <div class="form">
                <label for="note">{words.reports.note}</label>
                <input id="note" value={note} maxLength={200}
                    onInput={(event) => setNote(event.currentTarget.value)} />
            </div>
            <div class="ways">
                {report.state === 'open' ? <>
                    <button type="button" class="button" onClick={() => close('acted')}>{words.reports.acted}</button>
                    <button type="button" class="button quiet" onClick={() => close('dismissed')}>{words.reports.dismiss}</button>
                </> : <button type="button" class="button quiet" onClick={() => close('open')}>{words.reports.reopen}</button>}
                {report.account !== null && <>
                    <Restrict kind="ban" isOn={person.value?.banned === true} {...restrict} />
                    <Restrict kind="mute" isOn={person.value?.muted === true} {...restrict} />
                </>}
                {report.place_id !== null && <>
                    <ActPlace id={report.place_id} act="unlist" label={words.reports.unlist} text={words.reports.unlistText} acting={acting} />
                    <ActPlace id={report.place_id} act="remove" label={words.reports.remove} text={words.reports.removeText} acting={acting} />
                </>}
            </div>
        </>
    );
}

export function ReportsSection({ query }: { query: URLSearchParams }): JSX.Element {
    const id = query.get('id');
    const state = query.get('state') ?? 'open';
    const path = `/admin/reports?state=${encodeURIComponent(state)}&limit=100`;
    const list = useLoaded<{ reports: Report[]; next: number | null }>(
        id === null ? path : null);
    const rest = useRest(path, list.value, 'before');
    if (id !== null) {
        return <ReportPage key={id} id={id} />;
    }
    const reports = [list.value, ...rest.pages].flatMap((page) => page?.reports ?? []);
    return (
        <>
            <div class="inline">
                <label for="state">{words.reports.state}</label>
                <select id="state" value={state} onChange={(event) => go(`/operator/reports?state=${event.currentTarget.value}`, true)}>
                    {Object.entries(words.reports.states).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
                </select>
            </div>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value !== null && reports.length === 0 && <p>{words.reports.none[state] ?? ''}</p>}
            <ul class="list">{reports.map((report) => (
                <li key={report.report_id} class="mine">
                    <div>
                        <a class="open" href={`/operator/reports?id=${report.report_id}`}>
                            {words.reports.number(report.report_id)}: {reasonOf(report)}</a>
                        <p class="clipped">{report.text}</p>
                        <p class="soft">{words.time(report.created)} · {report.account !== null ? named(report.account_name ?? report.account, report.account_shown_name)
                            : report.place_title ?? report.place_id ?? report.world_id ?? ''}</p>
                    </div>
                </li>
            ))}</ul>
            <More rest={rest} />
        </>
    );
}

// --- approvals -------------------------------------------------------------------------------------

// Without the rule the list is of places that everybody sees already.
function ApprovalRule(): JSX.Element | null {
    const settings = useLoaded<{ approve_listing: string }>('/admin/settings');
    return settings.value?.approve_listing === 'no' ? <p class="soft">{words.approvals.off}</p> : null;
}

interface Waiting {
    package_id: string;
    title: string;
    owner: string;
    owner_name: string | null;
    updated: string;
}

const WAITING = '/admin/approvals?limit=100';

export function ApprovalsSection(): JSX.Element {
    const list = useLoaded<{ approvals: Waiting[]; next: string | null }>(WAITING);
    const rest = useRest(WAITING, list.value, 'after');
    const acting = useActing();
    const waiting = [list.value, ...rest.pages].flatMap((page) => page?.approvals ?? []);
    const decide = async (one: Waiting, act: string, reason: string): Promise<string> => {
        await send('POST', `/admin/packages/${encodeURIComponent(one.package_id)}`, { act, reason });
        list.again();
        return act === 'approve' ? words.approvals.approved(one.title) : words.approvals.refused(one.title);
    };
    return (
        <>
            <ApprovalRule />
            <Outcome said={acting.said} />
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value !== null && waiting.length === 0 && <>
                <p>{words.approvals.none}</p><p class="soft">{words.approvals.noneHint}</p></>}
            <ul class="list">{waiting.map((one) => (
                <li key={one.package_id} class="revision">
                    <div>
                        <strong>{one.title}</strong>
                        <p class="soft"><PersonLink account={one.owner}>{words.approvals.owner(one.owner_name ?? one.owner)}</PersonLink> · {words.time(one.updated)}</p>
                    </div>
                    <div class="ways">
                        <a class="button quiet" href={`/place/${encodeURIComponent(one.package_id)}`}>{words.approvals.look}</a>
                        <button type="button" class="button" onClick={() => void acting.run(() => decide(one, 'approve', ''))}>
                            {words.approvals.approve}</button>
                        <AskOnce label={words.approvals.refuse} title={words.approvals.refuseTitle(one.title)} withReason
                            text={words.approvals.refuseText} run={acting.run} act={({ reason }) => decide(one, 'refuse', reason)} />
                    </div>
                </li>
            ))}</ul>
            <More rest={rest} />
        </>
    );
}

// Publishing: what is new since the last revision, in words; notes; a picture of it; and then the link for
// others. Also the place as a file.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Failure, get, send } from '../../site/api.ts';
import { compareFiles, type FileChange } from '../../site/compare.ts';
import { differenceWords, revisionText } from '../../site/difference.ts';
import { messageOf } from '../../site/message.ts';
import { session } from '../../site/session.ts';
import { QrCode, CopyLink } from '../../site/share.tsx';
import { followJob, logLines, type Sent } from '../../site/upload.ts';
import { Dialog } from '../../ui/parts.tsx';
import { sha256 } from '../files.ts';
import { downloadGame } from '../game_file.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';
import { LoopbackNote } from './loopback.tsx';
import { RollBack } from './roll_back.tsx';
import { endTour } from './tour.tsx';

const THUMBNAIL = { width: 640, height: 360 };
const THUMBNAIL_PATH = 'assets/thumbnail.png';
const WRITTEN_MS = 5000;

interface Managed {
    live: string | null;
    title: string;
    visibility: Visibility;
    waits_for_approval: boolean;
}
const VISIBILITIES = ['unlisted', 'listed', 'private'] as const;
type Visibility = typeof VISIBILITIES[number];

// What a pupil makes is for the class, however it is published.
const isPupil = (): boolean => session.value?.is_pupil === true;
const offered = (): readonly Visibility[] => isPupil() ? ['unlisted', 'private'] : VISIBILITIES;
const opensWords = (opens: Visibility): string => isPupil() ? words.opensClass[opens === 'private' ? 'private' : 'unlisted']
    : words.opens[opens];

interface RevisionFile {
    path: string;
    bytes: number;
    hash: string;
}

interface News {
    live: string | null; // null: there is no revision yet
    visibility: Visibility;
    changes: FileChange[];
    words: string[] | null; // what differs; null: only the files can be compared
}

// The files of the live revision and of the draft, which differ, and how.
async function difference(studio: Studio, base: string): Promise<News> {
    const { live, visibility } = await get<Managed>(base);
    if (live === null) {
        return { live, visibility, changes: [], words: null };
    }
    const { files } = await get<{ files: RevisionFile[] }>(`${base}/revisions/${encodeURIComponent(live)}/files`);
    const encoder = new TextEncoder();
    const texts = [['place.json', studio.document.placeJson()], ['scene.json', studio.document.sceneJson()]] as const;
    const own = await Promise.all(texts.map(async ([path, text]) => ({ path, bytes: text.length, hash: await sha256(encoder.encode(text)) })));
    const draft = [...own, ...studio.document.files().map(({ path, hash }) => ({ path, bytes: 0, hash }))];
    const changes = compareFiles(files, draft).filter(({ path }) => path !== 'place.json' && path !== 'scene.json');
    const now = async (path: string): Promise<string> => new Map<string, string>(texts).get(path) ?? studio.files.text(path);
    const found = await differenceWords(studio.document, revisionText(base, live), now, changes).catch(() => null);
    return { live, visibility, changes, words: found };
}

function Steps({ studio }: { studio: Studio }): JSX.Element | null {
    const counts = new Map<string, number>();
    const undone = new Set(studio.document.history.map(({ undone: back }) => back));
    studio.document.history.filter(({ undone: back, seq, step }) => back === 0 && !undone.has(seq) && seq === step)
        .forEach(({ label }) => counts.set(label, (counts.get(label) ?? 0) + 1));
    return counts.size === 0 ? null : (
        <p>{words.stepsSince} {[...counts].slice(-12).map(([label, count]) => count === 1 ? label : `${label} ×${count}`).join(', ')}</p>
    );
}

// Until the files of the draft are as the document is. A server that does not say so is not waited for long.
async function written(studio: Studio): Promise<void> {
    const until = Date.now() + WRITTEN_MS;
    const { link, document: doc } = studio;
    while ((link.waiting.value > 0 || link.written.value < doc.seq()) && Date.now() < until) {
        await new Promise((done) => setTimeout(done, 50));
    }
}

// What a build makes the place's thumbnail of.
async function putThumbnail(studio: Studio, picture: Blob): Promise<void> {
    const bytes = new Uint8Array(await picture.arrayBuffer());
    await studio.files.write(THUMBNAIL_PATH, bytes, studio.files.hashOf(THUMBNAIL_PATH), words.steps.upload(THUMBNAIL_PATH));
}

type State = { phase: 'ask'; said: string; lines: string[] } | { phase: 'busy'; stage: string; part: number } | { phase: 'done'; revision: string; opens: Visibility; said: string };

export function Publish({ studio, close }: { studio: Studio; close: () => void }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(studio.place)}`;
    const [news, setNews] = useState<News | null>(null);
    const [who, setWho] = useState<Visibility>('unlisted');
    const [notes, setNotes] = useState('');
    const [state, setState] = useState<State>({ phase: 'ask', said: '', lines: [] });
    const [picture, setPicture] = useState<{ blob: Blob; url: string } | null>(null);
    const [usesPicture, setUsesPicture] = useState(true);
    const ended = useRef(new AbortController());
    useEffect(() => {
        difference(studio, base).then((found) => {
            setNews(found);
            // A new place is private; who publishes it for the first time wants it to be played.
            const isNew = found.live === null && found.visibility === 'private';
            setWho(isNew || !offered().includes(found.visibility) ? 'unlisted' : found.visibility);
        }, (cause: unknown) => {
            if (!ended.current.signal.aborted) {
                setState({ phase: 'ask', said: cause instanceof Failure && cause.status === 404 ? words.notOnServer : messageOf(cause), lines: [] });
            }
        });
        void studio.view?.thumbnail(THUMBNAIL.width, THUMBNAIL.height).then((blob) => {
            if (blob !== null) {
                setPicture({ blob, url: URL.createObjectURL(blob) });
            }
        });
        return () => ended.current.abort();
    }, []);
    const problems = studio.problemCount.value;
    const warnings = studio.warningCount.value;
    const isSaved = studio.saved.value === 'saved';
    // Who may play it, once there is something to play. The installation may refuse it, or ask an operator first.
    const allow = async (): Promise<{ opens: Visibility; said: string }> => {
        const before = news?.visibility ?? 'private';
        try {
            if (who !== before) {
                await send('PATCH', base, { visibility: who });
            }
            const now = await get<Managed>(base);
            return { opens: now.visibility, said: now.waits_for_approval ? words.waitsForApproval : '' };
        } catch (cause) {
            return { opens: before, said: messageOf(cause) };
        }
    };
    const publish = async (event: Event): Promise<void> => {
        event.preventDefault();
        setState({ phase: 'busy', stage: '', part: 0 });
        try {
            if (usesPicture && picture !== null) {
                await putThumbnail(studio, picture.blob);
            }
            await written(studio);
            const sent = await send<Sent>('POST', `${base}/draft/publish`, { notes: notes.trim(), channel: 'live' });
            const job = await followJob(sent.job_id, ended.current.signal,
                (now) => setState({ phase: 'busy', stage: now.stage, part: now.progress_pct / 100 }));
            if (job.status !== 'done') {
                setState({ phase: 'ask', said: job.reason ?? words.publishFailed, lines: logLines(job) });
                return;
            }
            studio.published.value = sent.revision_id;
            setState({ phase: 'done', revision: sent.revision_id, ...await allow() });
        } catch (cause) {
            if (!ended.current.signal.aborted) {
                setState({ phase: 'ask', said: messageOf(cause), lines: [] });
            }
        }
    };
    if (state.phase === 'done') {
        const link = `${location.origin}/place/${encodeURIComponent(studio.place)}`;
        return (
            <Dialog title={words.published(state.revision)} onClose={close}>
                <div class="published">
                    <p class="opens">{opensWords(state.opens)}</p>
                    {state.said !== '' && <p class="wrong" role="alert">{state.said}</p>}
                    <LoopbackNote />
                    <QrCode link={link} />
                    <CopyLink link={link} label={isPupil() ? words.playLinkClass : words.playLink} />
                    <p><a class="button play" href={`/play?${new URLSearchParams({ place: studio.place })}`} target="_blank" rel="noopener"
                        onClick={() => endTour(studio)}>{words.playIt}</a>{' '}
                        <a class="button quiet" href={`/create/${encodeURIComponent(studio.place)}`}>{words.manage}</a></p>
                </div>
            </Dialog>
        );
    }
    const isBusy = state.phase === 'busy';
    return (
        <Dialog title={words.publish} onClose={close}>
            <form class="publish-form" onSubmit={(event) => void publish(event)}>
                {news === null ? <p role="status">{state.phase === 'ask' && state.said !== '' ? '' : words.comparing}</p> : <div class="news">
                    <p>{news.live === null ? words.firstRevision : words.sinceRevision(news.live)}</p>
                    {news.words === null && <Steps studio={studio} />}
                    {news.words !== null ? <ul class="difference">{news.words.map((line) => <li key={line}>{line}</li>)}
                        {news.words.length === 0 && <li>{words.nothingNew}</li>}</ul> : <ul>{news.changes.slice(0, 12).map(({ path, kind }) => <li key={path}>{words.fileChanges[kind](path)}</li>)}
                        {news.changes.length > 12 && <li>{words.moreChanges(news.changes.length - 12)}</li>}</ul>}
                    <p class="soft">{words.counts(studio.rows.size, studio.document.files().length)}</p>
                </div>}
                {picture !== null && <label class="picture"><img src={picture.url} alt={words.thumbnail} width={240} height={135} />
                    <span><input type="checkbox" checked={usesPicture} onChange={(event) => setUsesPicture(event.currentTarget.checked)} /> {words.useThumbnail}</span></label>}
                <label for="publish-notes">{words.notes}</label>
                <textarea id="publish-notes" required maxLength={1000} rows={2} value={notes} disabled={isBusy}
                    onInput={(event) => setNotes(event.currentTarget.value)} />
                <fieldset class="who" disabled={isBusy || news === null}>
                    <legend>{words.whoMayPlay}</legend>
                    {offered().map((each) => <label key={each}><input type="radio" name="visibility" value={each} checked={who === each}
                        onChange={() => setWho(each)} /> {isPupil() && each !== 'listed' ? words.visibilitiesClass[each] : words.visibilities[each]}</label>)}
                </fieldset>
                {problems > 0 && <p class="wrong" role="alert">{words.problemsFirst(problems)}{' '}
                    <button type="button" class="link" onClick={() => { close(); studio.panel.value = 'problems'; }}>{words.showProblems}</button></p>}
                {warnings > 0 && <p class="warned">{words.warningsToo(warnings)}{' '}
                    <button type="button" class="link" onClick={() => { close(); studio.panel.value = 'problems'; }}>{words.showProblems}</button></p>}
                {isBusy && <><progress max={1} value={state.part} aria-label={words.progress} />
                    <p role="status">{words.building(state.stage)}</p></>}
                {state.phase === 'ask' && state.said !== '' && <div class="wrong" role="alert"><p>{state.said}</p>
                    {state.lines.length > 0 && <pre>{state.lines.join('\n')}</pre>}</div>}
                <p class="ways">
                    <button type="submit" class="button" disabled={isBusy || news === null || problems > 0 || !isSaved}>{words.publishNow}</button>
                    <button type="button" class="button quiet" onClick={() => {
                        downloadGame(studio).catch((cause: unknown) => studio.say(messageOf(cause), 'error'));
                    }}>{words.downloadGame}</button>
                    <button type="button" class="button quiet" onClick={() => { studio.dialog.value = 'import'; }}>{words.importGame}</button>
                </p>
                {news !== null && news.live !== null && <RollBack base={base} live={news.live}
                    changed={(live) => {
                        setNews({ ...news, live });
                        difference(studio, base).then(setNews, () => undefined);
                    }} />}
            </form>
        </Dialog>
    );
}

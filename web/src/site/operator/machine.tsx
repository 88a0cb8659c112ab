// The machine: who stores how much, backups, which version runs and what is new in it.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { send } from '../api.ts';
import { Trouble, useLoaded } from '../parts.tsx';
import { words } from '../words_operator.ts';

import { AskOnce, Outcome, PersonLink, Table, useActing } from './parts.tsx';
import type { Acting } from './parts.tsx';

interface Storage {
    accounts: { account: string; username: string | null; shown_name: string | null; places: number; bytes: number }[];
    account_bytes_max: number;
    disk_free_bytes: number;
    disk_total_bytes: number;
}

interface Backups {
    state: 'none' | 'running' | 'done' | 'failed' | 'cancelled';
    name: string | null;
    bytes_written: number;
    reason: string | null;
    folder: string;
    backups: { name: string; bytes: number; made: string }[];
}

const LOOK_MS = 2000; // while a backup is made

function BackupPart({ acting }: { acting: Acting }): JSX.Element {
    const loaded = useLoaded<Backups>('/admin/backups');
    const again = useRef(loaded.again);
    again.current = loaded.again;
    const backup = loaded.value;
    const isRunning = backup?.state === 'running';
    useEffect(() => {
        if (!isRunning) {
            return undefined;
        }
        const timer = setInterval(() => again.current(), LOOK_MS);
        return () => clearInterval(timer);
    }, [isRunning]);
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    return (
        <section>
            <h2>{words.storage.backup}</h2>
            {backup !== null && <>
                <p class="soft path">{words.storage.where(backup.folder)}</p>
                <p role="status">
                    {isRunning ? words.storage.running(words.bytes(backup.bytes_written))
                        : backup.state === 'done' ? words.storage.finished(backup.name ?? '')
                        : backup.state === 'cancelled' ? words.storage.cancelled
                        : backup.state === 'failed' ? `${words.storage.failed} ${backup.reason ?? ''}`
                        : backup.backups.length === 0 ? words.storage.noneYet : ''}
                </p>
                {isRunning && <div class="inline">
                    <progress aria-label={words.storage.backup} />
                    <button type="button" class="button quiet" onClick={() => void acting.run(async () => {
                        await send('DELETE', `/admin/backups/${encodeURIComponent(backup.name ?? '')}`);
                        loaded.again();
                        return '';
                    })}>{words.storage.stop}</button>
                </div>}
                <ul class="list">{backup.backups.map((file) => (
                    <li key={file.name} class="inline">
                        <code>{file.name}</code>
                        <span>{words.bytes(file.bytes)}</span>
                        <span class="soft">{words.time(file.made)}</span>
                        <AskOnce label={words.storage.delete} title={words.storage.deleteTitle(file.name)}
                            text={words.storage.deleteText} run={acting.run} act={async () => {
                                await send('DELETE', `/admin/backups/${encodeURIComponent(file.name)}`);
                                loaded.again();
                                return words.done;
                            }} />
                    </li>
                ))}</ul>
            </>}
            {!isRunning && <AskOnce quiet={false} label={words.storage.make} title={words.storage.title} text={words.storage.text}
                run={acting.run} act={async () => {
                    await send('POST', '/admin/backups');
                    loaded.again();
                    return '';
                }} />}
        </section>
    );
}

// Places that came with the program and spells of it belong to accounts that nobody has: one row.
function withoutNobodies(accounts: Storage['accounts']): Storage['accounts'] {
    const own = accounts.filter((one) => one.shown_name !== null);
    const others = accounts.filter((one) => one.shown_name === null);
    return others.length === 0 ? own : [...own, { account: '', username: null, shown_name: null,
        places: others.reduce((sum, one) => sum + one.places, 0), bytes: others.reduce((sum, one) => sum + one.bytes, 0) }];
}

export function StorageSection(): JSX.Element {
    const loaded = useLoaded<Storage>('/admin/storage?limit=200');
    const acting = useActing();
    const storage = loaded.value;
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    return (
        <>
            <Outcome said={acting.said} />
            {storage !== null && <>
                <p><strong>{words.storage.disk}:</strong> {words.storage.free(words.bytes(storage.disk_free_bytes),
                    words.bytes(storage.disk_total_bytes))}. {words.storage.limit(storage.account_bytes_max)}</p>
                {storage.accounts.length === 0 ? <p class="soft">{words.storage.none}</p>
                    : <Table label={words.sections.storage} head={[words.storage.who, words.storage.places, words.storage.bytes]}>
                        {withoutNobodies(storage.accounts).map((one) => (
                            <tr key={one.account}>
                                <th scope="row">{one.shown_name === null ? words.storage.builtIn
                                    : <PersonLink account={one.username ?? one.account}>{one.shown_name}</PersonLink>}</th>
                                <td>{words.number(one.places)}</td>
                                <td>{words.bytes(one.bytes)}</td>
                            </tr>
                        ))}
                    </Table>}
            </>}
            <AskOnce label={words.storage.cleanup} title={words.storage.cleanupTitle} text={words.storage.cleanupText}
                run={acting.run} act={async () => {
                    const swept = await send<{ places: number; blob_bytes: number }>('POST', '/admin/cleanup');
                    loaded.again();
                    return words.storage.cleaned(swept.places, words.bytes(swept.blob_bytes));
                }} />
            <BackupPart acting={acting} />
        </>
    );
}

// --- the version -----------------------------------------------------------------------------------

interface Note {
    level: 'h2' | 'h3' | 'li' | 'p';
    text: string;
}

// The newest entry of the notes that came with this program, as plain texts.
function newestNotes(text: string): Note[] {
    const notes: Note[] = [];
    let entries = 0;
    for (const line of text.split('\n')) {
        const last = notes.at(-1);
        if (line.startsWith('## ')) {
            entries += 1;
            if (entries > 1) {
                break;
            }
            notes.push({ level: 'h2', text: line.slice(3) });
        } else if (entries === 1 && line.startsWith('### ')) {
            notes.push({ level: 'h3', text: line.slice(4) });
        } else if (entries === 1 && line.startsWith('- ')) {
            notes.push({ level: 'li', text: line.slice(2) });
        } else if (entries === 1 && line.trim() !== '' && last !== undefined) {
            last.text += ` ${line.trim()}`;
        }
    }
    return notes.map((note) => ({ ...note, text: note.text.replace(/\*\*|`/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1') }));
}

// Notes below their headings, such as “For operators”, which is open when one comes here.
function chapters(notes: Note[]): { title: string; texts: string[] }[] {
    const found: { title: string; texts: string[] }[] = [];
    for (const note of notes) {
        if (note.level === 'h2' || note.level === 'h3') {
            found.push({ title: note.text, texts: [] });
        } else {
            found.at(-1)?.texts.push(note.text);
        }
    }
    return found.filter(({ texts }) => texts.length > 0);
}

export function AboutSection(): JSX.Element {
    const description = useLoaded<{ info: { version: string } }>('/api/openapi.json');
    const [notes, setNotes] = useState<Note[] | null>(null);
    useEffect(() => {
        import('../../../../CHANGELOG.md?raw').then(({ default: text }) => setNotes(newestNotes(text)), () => setNotes([]));
    }, []);
    return (
        <>
            <p>{description.value !== null && words.about.version(description.value.info.version)}</p>
            <p class="soft">{words.about.update}</p>
            <h2>{words.about.notes}</h2>
            {notes?.length === 0 && <p class="soft">{words.about.none}</p>}
            <div class="notes">{chapters(notes ?? []).map((chapter, at) => (
                <details key={at} open={/operat/i.test(chapter.title)}>
                    <summary>{chapter.title} <span class="soft">({words.number(chapter.texts.length)})</span></summary>
                    <ul>{chapter.texts.map((text, row) => <li key={row}>{text}</li>)}</ul>
                </details>
            ))}</div>
        </>
    );
}

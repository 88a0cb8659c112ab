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
    state: 'none' | 'running' | 'done' | 'failed';
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
                        : backup.state === 'failed' ? `${words.storage.failed} ${backup.reason ?? ''}`
                        : backup.backups.length === 0 ? words.storage.noneYet : ''}
                </p>
                {isRunning && <progress aria-label={words.storage.backup} />}
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

export function StorageSection(): JSX.Element {
    const loaded = useLoaded<Storage>('/admin/storage');
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
                    words.bytes(storage.disk_total_bytes))}. {words.storage.limit(words.bytes(storage.account_bytes_max))}</p>
                {storage.accounts.length === 0 ? <p class="soft">{words.storage.none}</p>
                    : <Table label={words.sections.storage} head={[words.storage.who, words.storage.places, words.storage.bytes]}>
                        {storage.accounts.map((one) => (
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
            <div class="notes">{(notes ?? []).map((note, at) =>
                note.level === 'h2' || note.level === 'h3' ? <h3 key={at}>{note.text}</h3>
                    : <p key={at}>• {note.text}</p>)}</div>
        </>
    );
}

// A teacher reads the draft of a pupil: its files as they are now. Nothing can be changed here.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Failure } from './api.ts';
import { messageOf, nameOf, pathOf } from './class_parts.tsx';
import type { ClassPlace } from './class_parts.tsx';
import { Trouble, useLoaded } from './parts.tsx';
import { words as site } from './words.ts';
import { words } from './words_class.ts';

interface DraftFile {
    path: string;
    bytes: number;
}

const SHOWN_BYTES_MAX = 512 * 1024;

// The text, or null if it is none.
async function readText(address: string, signal: AbortSignal): Promise<string | null> {
    const answer = await fetch(address, { signal });
    if (!answer.ok) {
        throw new Failure(answer.status, '', site.notFound);
    }
    try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(await answer.arrayBuffer());
        return text.includes('\0') ? null : text.slice(0, SHOWN_BYTES_MAX);
    } catch {
        return null;
    }
}

function FileText({ base, path, came }: { base: string; path: string; came: () => void }): JSX.Element {
    const [text, setText] = useState<string | null | undefined>(undefined);
    const [failure, setFailure] = useState('');
    useEffect(() => {
        const ended = new AbortController();
        setText(undefined);
        setFailure('');
        readText(`${base}/files/${path.split('/').map(encodeURIComponent).join('/')}`, ended.signal)
            .then(setText, (cause: unknown) => {
                if (!ended.signal.aborted) {
                    setFailure(messageOf(cause));
                }
            });
        return () => ended.abort();
    }, [base, path]);
    useEffect(() => {
        if (text !== undefined) {
            came();
        }
    }, [text]);
    if (failure !== '') {
        return <p class="wrong" role="alert">{failure}</p>;
    }
    if (text === undefined) {
        return <p role="status">{site.loading}</p>;
    }
    return text === null ? <p>{words.noText}</p>
        : <pre class="source" tabIndex={0} aria-label={path}>{text}</pre>;
}

export function Reader({ classId, placeId }: { classId: string; placeId: string }): JSX.Element {
    const base = `/api/places/${encodeURIComponent(placeId)}/draft`;
    const draft = useLoaded<{ files: DraftFile[] }>(base);
    const places = useLoaded<{ places: ClassPlace[] }>(`${pathOf(classId)}/places`);
    const [chosen, setChosen] = useState<string | null>(null);
    const shown = useRef<HTMLDivElement>(null);
    const bringIntoSight = (): void => { // on a phone it is below the list
        if ((shown.current?.getBoundingClientRect().top ?? 0) > innerHeight / 2) {
            shown.current?.scrollIntoView({ block: 'start' });
        }
    };
    const place = places.value?.places.find((one) => one.place_id === placeId);
    if (draft.failure !== null) {
        return <Trouble failure={draft.failure} again={draft.again} />;
    }
    const files = draft.value?.files ?? [];
    return (
        <>
            <p><a class="back" href={`/class/${encodeURIComponent(classId)}`}>{words.back}</a></p>
            <h1>{place === undefined ? words.read : words.reading(place.title, nameOf(place))}</h1>
            <p class="soft wide">{words.readingHint}</p>
            {draft.value === null && <p role="status">{site.loading}</p>}
            {draft.value !== null && files.length === 0 && <p>{words.noFiles}</p>}
            <div class="reader">
                <nav aria-label={words.files}>
                    <ul>{files.map((file) => (
                        <li key={file.path}>
                            <button type="button" aria-current={file.path === chosen ? 'true' : undefined}
                                onClick={() => setChosen(file.path)}>
                                <span>{file.path}</span> <span class="soft">{words.bytes(file.bytes)}</span>
                            </button>
                        </li>
                    ))}</ul>
                </nav>
                <div ref={shown}>{chosen === null ? files.length > 0 && <p class="soft">{words.chooseFile}</p>
                    : <FileText base={base} path={chosen} came={bringIntoSight} />}</div>
            </div>
        </>
    );
}

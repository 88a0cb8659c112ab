// Classes: those that one teaches or is in, and one of them, as its teacher or as a pupil sees it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import './class.css';
import { send } from './api.ts';
import type { Session } from './api.ts';
import { messageOf, pathOf } from './class_parts.tsx';
import type { ClassPeople, SchoolClass } from './class_parts.tsx';
import { Reader } from './class_reader.tsx';
import { PupilView } from './class_pupil.tsx';
import { TeacherView } from './class_teacher.tsx';
import { Trouble, useLoaded } from './parts.tsx';
import { go, signInPath } from './route.ts';
import { words as site } from './words.ts';
import { words } from './words_class.ts';

function addressOf(id: string): string {
    return `/class/${encodeURIComponent(id)}`;
}

function NewClass(): JSX.Element {
    const [name, setName] = useState('');
    const [said, setSaid] = useState('');
    const [isBusy, setBusy] = useState(false);
    const make = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        try {
            const made = await send<SchoolClass>('POST', '/api/classes', { name: name.trim() });
            go(addressOf(made.class_id));
        } catch (cause) {
            setSaid(messageOf(cause));
            setBusy(false);
        }
    };
    return (
        <form class="form" onSubmit={(event) => void make(event)}>
            <label for="class-name">{words.className}</label>
            <input id="class-name" required maxLength={32} value={name} autoComplete="off"
                aria-invalid={said !== ''} aria-describedby="class-said"
                onInput={(event) => { setName(event.currentTarget.value); setSaid(''); }} />
            <p id="class-said" class="wrong said" role="alert">{said}</p>
            <button class="button" type="submit" disabled={isBusy}>{words.make}</button>
        </form>
    );
}

function ClassRow({ one }: { one: SchoolClass }): JSX.Element {
    return (
        <li>
            <a class="class-row" href={addressOf(one.class_id)}>
                <strong>{one.name}</strong>
                <span class="soft">{one.part === 'teacher' ? words.teacherOf : words.pupilOf}</span>
                {one.paused && <span class="state paused">{words.paused}</span>}
            </a>
        </li>
    );
}

function SignInFirst(): JSX.Element {
    return (
        <div class="empty">
            <h1>{words.title}</h1>
            <p>{words.what}</p>
            <p>{words.signInFirst}</p>
            <p><a class="button" href={signInPath()}>{words.signIn}</a></p>
        </div>
    );
}

function Classes({ session }: { session: Session }): JSX.Element {
    useEffect(() => {
        document.title = `${words.title} · ${site.name}`;
    }, []);
    const list = useLoaded<{ classes: SchoolClass[]; may_make: boolean }>('/api/classes');
    if (list.failure !== null) {
        return <Trouble failure={list.failure} again={list.again} />;
    }
    if (list.value === null) {
        return <p role="status">{site.loading}</p>;
    }
    const { classes, may_make: mayMake } = list.value;
    return (
        <>
            <h1>{words.title}</h1>
            {classes.length > 0 && <ul class="list classes">{classes.map((one) =>
                <ClassRow key={one.class_id} one={one} />)}</ul>}
            {classes.length === 0 && <p class="wide">{words.what}</p>}
            {classes.length === 0 && (mayMake ? <p>{words.none}</p>
                : <p class="wide">{words.noRole}{words.noRoleName(session.username ?? '')}</p>)}
            {mayMake && <section><h2>{words.newClass}</h2><NewClass /></section>}
        </>
    );
}

function OneClass({ id, read, me }: { id: string; read: string | null; me: string }): JSX.Element {
    const loaded = useLoaded<ClassPeople>(pathOf(id));
    useEffect(() => {
        if (loaded.value !== null) {
            document.title = `${loaded.value.name} · ${site.name}`;
        }
    }, [loaded.value]);
    if (loaded.failure !== null) {
        return <Trouble failure={loaded.failure} again={loaded.again} />;
    }
    if (loaded.value === null) {
        return <p role="status">{site.loading}</p>;
    }
    if (loaded.value.part === 'pupil') {
        return <PupilView one={loaded.value} me={me} again={loaded.again} />;
    }
    return read !== null ? <Reader classId={id} placeId={read} />
        : <TeacherView one={loaded.value} me={me} again={loaded.again} />;
}

export function ClassPage({ id, read, session }: {
    id: string | null; read: string | null; session: Session | null;
}): JSX.Element {
    if (session === null) {
        return <p role="status">{site.loading}</p>;
    }
    if (!session.signed_in || session.is_guest === true) {
        return <SignInFirst />;
    }
    return id === null ? <Classes session={session} />
        : <OneClass key={id} id={id} read={read} me={session.username ?? ''} />;
}

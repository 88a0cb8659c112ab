// The Studio: a place is made here, in the browser. Its document is fetched from the edit session, everything
// else follows from it.
import { render } from 'preact';
import type { JSX } from 'preact';

import wasmUrl from '../../../build/wasm/studio.wasm?url'; // made by the wasm preset
import { Failure, get } from '../site/api.ts';
import type { Session } from '../site/api.ts';
import { messageOf } from '../site/message.ts';
import { session } from '../site/session.ts';
import { element } from '../ui/element.ts';
import { StudioDocument } from './document.ts';
import { Files } from './files.ts';
import { Link } from './link.ts';
import { Shell } from './panels/shell.tsx';
import { resumeTour } from './panels/tour.tsx';
import { type PastPage, readPast } from './past.ts';
import type { Schema } from './schema.ts';
import { Studio } from './state.ts';
import { words } from './words_studio.ts';
import './studio.css';

declare global {
    interface Window {
        studio?: Studio; // for tests and the console
    }
}

const root = element('studio', HTMLDivElement);

function Gate({ title, text, href, label }: { title: string; text: string; href?: string; label?: string }): JSX.Element {
    return (
        <main class="gate">
            <h1>{title}</h1>
            <p role="status">{text}</p>
            {href !== undefined && <p><a class="button" href={href}>{label}</a></p>}
        </main>
    );
}

async function loadModule(): Promise<WebAssembly.Module> {
    const answer = await fetch(wasmUrl);
    if (!answer.ok) {
        throw new Failure(answer.status, '', words.notLoaded);
    }
    return WebAssembly.compile(await answer.arrayBuffer());
}

// What was done before this page was loaded, so that it can still be undone.
async function remember(doc: StudioDocument, place: string): Promise<void> {
    doc.remember(await readPast(doc.seq(), (from, limit) =>
        get<PastPage>(`/api/places/${encodeURIComponent(place)}/ops?from=${from}&limit=${limit}`).catch(() => ({ ops: [], next: null }))));
}

async function start(place: string): Promise<void> {
    const [who, module, schema] = await Promise.all([
        get<Session>('/api/session'), loadModule(), get<Schema>('/api/schema')]);
    session.value = who;
    if (who.accounts && !who.signed_in) {
        render(<Gate title={words.title} text={words.needAccount} label={words.signIn}
            href={`/account?next=${encodeURIComponent(location.pathname)}`} />, root);
        return;
    }
    const doc = await StudioDocument.load(module);
    if (doc.mark() !== schema.mark) {
        throw new Failure(0, 'outdated', words.outdated);
    }
    const files = new Files(place, doc);
    const link = new Link(place, doc, files, who.accounts ? who.username ?? '' : null);
    const studio = new Studio(place, doc, files, link, schema);
    studio.hasAccounts = who.accounts;
    window.studio = studio;
    const refused = link.state.subscribe((state) => {
        if (state === 'refused' && !doc.isOpen) {
            render(<Gate title={words.title} text={link.reason.value} href="/create" label={words.toPlaces} />, root);
        }
    });
    await link.start();
    refused();
    document.title = `${doc.settings().name} · ${words.title}`;
    void remember(doc, place);
    if (new URLSearchParams(location.search).has('tour')) {
        resumeTour(studio);
    }
    render(<Shell studio={studio} />, root);
}

const place = decodeURIComponent(/^\/studio\/([^/]+)/.exec(location.pathname)?.[1] ?? '');
render(<Gate title={words.title} text={words.loading} />, root);
start(place).catch((cause: unknown) => {
    render(<Gate title={words.title} text={messageOf(cause)} href="/create" label={words.toPlaces} />, root);
});

// The pages of those who run the server. The server decides who may ask what; this page only says it.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Session } from '../api.ts';
import { NotFound, useLoaded } from '../parts.tsx';
import { signInPath } from '../route.ts';
import { words as siteWords } from '../words.ts';
import { words } from '../words_operator.ts';

import { AboutSection, StorageSection } from './machine.tsx';
import { PeopleSection } from './people.tsx';
import { AuditSection, JobsSection, LogSection } from './records.tsx';
import { ApprovalsSection, ReportsSection } from './reports.tsx';
import { FeaturedSection, InvitationsSection, RulesSection } from './rules.tsx';
import { WorldsSection } from './worlds.tsx';

import '../operator.css';

type Section = keyof typeof words.sections;

const SECTIONS: Record<Section, (props: { query: URLSearchParams }) => JSX.Element> = {
    worlds: WorldsSection,
    people: PeopleSection,
    reports: ReportsSection,
    approvals: ApprovalsSection,
    featured: FeaturedSection,
    rules: RulesSection,
    invitations: InvitationsSection,
    jobs: JobsSection,
    log: LogSection,
    audit: AuditSection,
    storage: StorageSection,
    about: AboutSection,
};

function Refused({ session }: { session: Session }): JSX.Element {
    const isGuest = !session.signed_in || session.is_guest === true;
    return (
        <div class="empty">
            <h1>{words.refused}</h1>
            <p>{isGuest ? words.refusedGuest : words.refusedOther}</p>
            <p><a class="button" href={isGuest ? signInPath() : '/'}>
                {isGuest ? words.signIn : siteWords.toDiscover}</a></p>
        </div>
    );
}

export function OperatorPage({ section, query, session }: {
    section: string; query: string; session: Session | null;
}): JSX.Element {
    const name = section === '' ? 'worlds' : section;
    const isKnown = Object.hasOwn(SECTIONS, name);
    const title = isKnown ? words.sections[name as Section] : words.title;
    useEffect(() => {
        document.title = `${title} · ${words.title} · ${siteWords.name}`;
    }, [title]);
    const chosen = useRef<HTMLAnchorElement>(null);
    useEffect(() => chosen.current?.parentElement?.scrollTo({
        left: chosen.current.offsetLeft - chosen.current.parentElement.offsetLeft - 48 }));
    const who = useLoaded<{ roles: string[] }>(session?.signed_in === true ? '/api/account' : null);
    if (session === null || (session.signed_in && who.value === null && who.failure === null)) {
        return <p role="status">{siteWords.loading}</p>;
    }
    if (who.value?.roles.includes('operator') !== true) {
        return <Refused session={session} />;
    }
    if (!isKnown) {
        return <NotFound />;
    }
    const Shown = SECTIONS[name as Section];
    return (
        <div class="operator">
            <nav class="sections" aria-label={words.title}>
                {(Object.keys(SECTIONS) as Section[]).map((each) => (
                    <a key={each} href={each === 'worlds' ? '/operator' : `/operator/${each}`}
                        {...(each === name ? { 'aria-current': 'page', ref: chosen } : {})}>{words.sections[each]}</a>
                ))}
            </nav>
            <div class="section">
                <h1>{title}</h1>
                <Shown query={new URLSearchParams(query)} />
            </div>
        </div>
    );
}

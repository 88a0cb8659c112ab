// One's account: signing in and registering, and everything that belongs to who is signed in.
import './account.css';

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { OwnAccount } from './account_own.tsx';
import { ClosedRegister, Code, Codes, Guest, Recover, Register, Reset, SignIn } from './account_sign_in.tsx';
import { send } from './api.ts';
import type { Session } from './api.ts';
import { Act, sayFailure } from './forms.tsx';
import { ownPath } from './next.ts';
import { entry } from './route.ts';
import { leave, readSession, signOut } from './session.ts';
import { words as site } from './words.ts';
import { words } from './words_account.ts';

interface Link {
    purpose: 'register' | 'password';
    roles: string[];
}

// Where one came from: as the address says, or the page of the site that led here.
function nextOf(query: string): string {
    const next = ownPath(new URLSearchParams(query).get('next') ?? entry().from);
    return next.startsWith('/account') ? '' : next;
}

function Panel({ title, children }: { title: string; children: JSX.Element | (JSX.Element | false)[] }): JSX.Element {
    return <section class="panel"><h2>{title}</h2>{children}</section>;
}

// A link and no request: the browser goes to the issuer and comes back.
function IssuerSignIn({ name, next }: { name: string; next: string }): JSX.Element {
    return (
        <Panel title={words.issuer.signIn(name)}>
            <p class="soft">{words.issuer.hint(name)}</p>
            <p class="ways">
                <a class="button" href={`/login/issuer${next === '' ? '' : `?next=${encodeURIComponent(next)}`}`}>
                    {words.issuer.signIn(name)}</a>
                <a class="button quiet" href="/logout/issuer">{words.issuer.signOut}</a>
            </p>
        </Panel>
    );
}

// For who is nobody yet, or a guest.
function Ways({ session, next, done, given }: {
    session: Session; next: string; done: () => void; given: (name: string, codes: string[]) => void;
}): JSX.Element {
    const isGuest = session.signed_in;
    const isOpen = session.registration === 'open';
    const register = <Panel title={isGuest && isOpen ? words.register.keep : words.register.title}>
        {isOpen ? <Register isGuest={isGuest} given={given} /> : <ClosedRegister />}
    </Panel>;
    return (
        <div class="two">
            {session.issuer !== undefined && <IssuerSignIn name={session.issuer} next={next} />}
            {isGuest && isOpen && register}
            <Panel title={words.signIn.title}><SignIn done={done} /><Recover done={done} /></Panel>
            {!(isGuest && isOpen) && register}
            {!isGuest && <Panel title={words.guest.title}><Guest done={done} /></Panel>}
            <Panel title={words.code.title}><Code done={() => leave(next === '' || next === '/' ? '/class' : next)} /></Panel>
        </div>
    );
}

function Invited({ link, token, session, given, done }: {
    link: Link; token: string; session: Session; done: () => void;
    given: (name: string, codes: string[]) => void;
}): JSX.Element {
    const makes = link.roles.length > 0 && <p>{words.link.makes(link.roles)}</p>;
    if (session.signed_in && session.is_guest !== true) {
        return (
            <section class="panel">
                <h1>{words.link.invited}</h1>
                {makes}
                <p>{words.link.signOutFirst(session.username ?? '')}</p>
                <Act text={words.link.signOut} quiet={false}
                    act={() => signOut(`/account?link=${encodeURIComponent(token)}`)} />
            </section>
        );
    }
    return (
        <>
            <h1>{words.link.invited}</h1>
            {makes}
            <div class="two">
                <Panel title={session.signed_in ? words.register.keep : words.register.title}>
                    <Register isGuest={session.signed_in} invitation={token} given={given} />
                </Panel>
                <Panel title={words.signIn.have}><SignIn done={done} /></Panel>
            </div>
        </>
    );
}

// What the link in the address is for; undefined: that is still asked.
function useLink(token: string): { link: Link | null | undefined; said: string } {
    const [link, setLink] = useState<Link | null | undefined>(token === '' ? null : undefined);
    const [said, setSaid] = useState('');
    useEffect(() => {
        if (token !== '') {
            send<Link>('POST', '/api/account/link', { link: token }).then(setLink, (cause: unknown) => {
                setSaid(sayFailure(cause));
                setLink(null);
            });
        }
    }, []);
    return { link, said };
}

export function AccountPage({ session, query }: { session: Session | null; query: string }): JSX.Element {
    const token = new URLSearchParams(query).get('link') ?? '';
    const [next] = useState(() => nextOf(query));
    const [codes, setCodes] = useState<{ name: string; codes: string[] } | null>(null);
    const { link, said } = useLink(token);
    useEffect(() => {
        document.title = `${words.title} · ${site.name}`;
    }, []);
    if (session === null || link === undefined) {
        return <p role="status">{site.loading}</p>;
    }
    const done = (): void => leave(next === '' ? '/' : next);
    const given = (name: string, list: string[]): void => {
        if (list.length === 0) {
            done();
        } else {
            setCodes({ name, codes: list });
            void readSession();
        }
    };
    if (codes !== null) {
        return <Codes {...codes} next={next === '' ? '/account' : next} />;
    }
    if (link?.purpose === 'password') {
        return (
            <section class="panel narrow">
                <h1>{words.link.reset}</h1><p>{words.link.resetHint}</p>
                <Reset link={token} given={given} />
            </section>
        );
    }
    if (link !== null) {
        return <Invited link={link} token={token} session={session} given={given} done={done} />;
    }
    const isSignedOut = !session.signed_in;
    return (
        <div class="account">
            {isSignedOut && <h1>{words.welcome}</h1>}
            {said !== '' && <p class="wrong" role="alert">{said}</p>}
            {!isSignedOut && <OwnAccount session={session}
                ways={session.is_guest === true && <Ways session={session} next={next} done={done} given={given} />} />}
            {isSignedOut && <Ways session={session} next={next} done={done} given={given} />}
        </div>
    );
}

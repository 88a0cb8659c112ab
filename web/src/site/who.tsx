// Who one is, at the upper right: a link to sign in, or a menu of what one may do.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Session } from './api.ts';
import { messageOf } from './message.ts';
import { address, signInPath } from './route.ts';
import { hasRole, signOut } from './session.ts';
import { words } from './words.ts';

export function Who({ session }: { session: Session | null }): JSX.Element {
    const [said, setSaid] = useState('');
    const menu = useRef<HTMLDetailsElement>(null);
    const close = (): void => {
        if (menu.current !== null) {
            menu.current.open = false;
        }
    };
    useEffect(close, [address.value]);
    useEffect(() => {
        const outside = (event: Event): void => {
            if (event.target instanceof Node && menu.current?.contains(event.target) === false) {
                close();
            }
        };
        document.addEventListener('pointerdown', outside);
        return () => document.removeEventListener('pointerdown', outside);
    }, []);
    if (session?.signed_in !== true) {
        return <a class="who" href={signInPath()}>{words.signIn}</a>;
    }
    const isOperator = hasRole(session, 'operator');
    return (
        <details class="who-menu" ref={menu} onKeyDown={(event) => {
            if (event.key === 'Escape') {
                close();
                menu.current?.querySelector('summary')?.focus();
            }
        }}>
            <summary class="who"><span>{session.shown_name ?? words.account}</span></summary>
            <nav aria-label={words.account}>
                <a href="/account">{words.who.account}</a>
                {(isOperator || hasRole(session, 'creator')) && <a href="/create">{words.who.places}</a>}
                {session.is_guest !== true && <a href="/class">{words.who.classes}</a>}
                {isOperator && <a href="/operator">{words.who.operator}</a>}
                <button type="button" onClick={() => {
                    signOut('/').catch((cause: unknown) => setSaid(messageOf(cause)));
                }}>{words.who.signOut}</button>
                {said !== '' && <p class="wrong" role="alert">{said}</p>}
            </nav>
        </details>
    );
}

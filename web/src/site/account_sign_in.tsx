// The forms by which one becomes somebody here, and the recovery codes that come with it.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Failure, send } from './api.ts';
import { Copied, Form } from './forms.tsx';
import type { Field, Values } from './forms.tsx';
import { leave } from './session.ts';
import { words } from './words_account.ts';

interface SignedIn {
    username: string;
    recovery_codes?: string[];
}
type Given = (name: string, codes: string[]) => void;

const NAME_LETTERS = /^[A-Za-z0-9_-]{3,20}$/;
const isName = (text: string): boolean => NAME_LETTERS.test(text);
const isShort = (text: string): string =>
    new TextEncoder().encode(text).length < 8 ? words.passwordShort : '';

const nameField: Field = { name: 'username', label: words.name, autocomplete: 'username', max: 32 };
export const newPassword = (name: string, label: string): Field => ({
    name, label, type: 'password', autocomplete: 'new-password', hint: words.passwordRule, max: 256,
    check: isShort,
});
const PASSWORD_CODES = ['invalid_password', 'common_password'];

export function SignIn({ done }: { done: () => void }): JSX.Element {
    return (
        <Form name="sign-in" button={words.signIn.button} fields={[nameField,
            { name: 'password', label: words.password, type: 'password', autocomplete: 'current-password', max: 256 }]}
            at={(code) => code === 'wrong_credentials' ? 'password' : ''}
            act={async ({ username = '', password = '' }) => {
                await send('POST', '/login', { username: username.trim(), password });
                done();
            }} />
    );
}

export function Code({ done }: { done: () => void }): JSX.Element {
    return (
        <Form name="code" button={words.code.button} fields={[
            { name: 'code', label: words.code.label, hint: words.code.hint, autocomplete: 'off', max: 40 }]}
            at={() => 'code'}
            act={async ({ code = '' }) => {
                await send('POST', '/login', { code: code.trim() }).catch((cause: unknown) => {
                    throw cause instanceof Failure && cause.code === 'wrong_credentials'
                        ? new Failure(cause.status, cause.code, words.code.wrong) : cause;
                });
                done();
            }} />
    );
}

export function Guest({ done }: { done: () => void }): JSX.Element {
    return (
        <Form name="guest" button={words.guest.button} fields={[{
            name: 'username', label: words.guest.label, hint: words.guest.hint, optional: true,
            autocomplete: 'nickname', max: 32,
        }]}
            at={() => 'username'}
            act={async ({ username = '' }) => {
                await send('POST', '/login', username.trim() === '' ? {} : { username: username.trim() });
                done();
            }} />
    );
}

// The API has one code for both names; ours was checked before it was sent.
function wrongName(code: string, values: Values): string {
    const shown = (values.shown_name ?? '').trim();
    if (PASSWORD_CODES.includes(code)) {
        return 'password';
    }
    return code === 'invalid_name' && shown !== '' && !/^(guest|user)_/i.test(values.username ?? '') ? 'shown_name'
        : ['invalid_name', 'name_taken', 'word_not_allowed'].includes(code) ? 'username' : '';
}

export function Register({ isGuest, invitation, given }: {
    isGuest: boolean; invitation?: string; given: Given;
}): JSX.Element {
    return (
        <>
            {isGuest && <p>{words.register.keepHint}</p>}
            <Form name="register" button={words.register.button} at={wrongName} fields={[
                { ...nameField, hint: words.nameRule, check: (text) => isName(text.trim()) ? '' : words.nameWrong },
                { name: 'shown_name', label: words.shownName, hint: words.shownRule, optional: true,
                    autocomplete: 'nickname', max: 64 },
                newPassword('password', words.password)]}
                act={async ({ username = '', shown_name = '', password = '' }) => {
                    const made = await send<SignedIn>('POST', '/register', {
                        username: username.trim(), password,
                        ...(shown_name.trim() === '' ? {} : { shown_name: shown_name.trim() }),
                        ...(invitation === undefined ? {} : { invitation }),
                    });
                    given(username.trim(), made.recovery_codes ?? []);
                }} />
        </>
    );
}

export function ClosedRegister(): JSX.Element {
    return <><p>{words.register.closed}</p><p class="soft">{words.register.closedHint}</p></>;
}

export function Recover({ done }: { done: () => void }): JSX.Element {
    return (
        <details>
            <summary>{words.recover.title}</summary>
            <p class="soft">{words.recover.hint}</p>
            <Form name="recover" button={words.recover.button} fields={[nameField,
                { name: 'code', label: words.recover.code, autocomplete: 'off', max: 40 },
                newPassword('new', words.recover.fresh)]}
                at={(code) => code === 'wrong_credentials' ? 'code' : PASSWORD_CODES.includes(code) ? 'new' : ''}
                act={async (values) => {
                    await send('POST', '/api/account/recover', {
                        username: values.username?.trim(), code: values.code?.trim(), new: values.new,
                    });
                    done();
                }} />
        </details>
    );
}

export function Reset({ link, given }: { link: string; given: Given }): JSX.Element {
    return (
        <Form name="reset" button={words.recover.button} fields={[newPassword('new', words.recover.fresh)]}
            at={(code) => PASSWORD_CODES.includes(code) ? 'new' : ''}
            act={async (values) => {
                const made = await send<SignedIn>('POST', '/api/account/recover', { link, new: values.new });
                given(made.username, made.recovery_codes ?? []);
            }} />
    );
}

// Shown once. Nothing else is on paper when it is printed.
export function Codes({ name, codes, next }: {
    name: string; codes: string[]; next: string;
}): JSX.Element {
    const heading = useRef<HTMLHeadingElement>(null);
    const [isKept, setKept] = useState(false);
    useEffect(() => heading.current?.focus(), []);
    useEffect(() => {
        const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
        if (isKept) {
            leave(next);
            return undefined;
        }
        addEventListener('beforeunload', warn);
        return () => removeEventListener('beforeunload', warn);
    }, [isKept]);
    return (
        <section class="panel narrow codes">
            <h1 ref={heading} tabIndex={-1}>{words.codes.title}</h1>
            <p class="on-screen">{words.codes.hint}</p>
            <p>{words.codes.paper(name, location.host)}</p>
            <ul>{codes.map((code) => <li key={code}><code>{code}</code></li>)}</ul>
            <div class="on-screen">
                <Copied label={words.codes.title} text={codes.join('\n')} rows={codes.length} />
                <p class="ways">
                    <button type="button" class="button quiet" onClick={() => print()}>{words.codes.print}</button>
                    <button type="button" class="button" onClick={() => setKept(true)}>{words.codes.go}</button>
                </p>
            </div>
        </section>
    );
}

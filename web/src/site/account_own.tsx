// What belongs to who is signed in: name and looks, password, sign-ins, tokens, people, places, data.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { newPassword } from './account_sign_in.tsx';
import { send } from './api.ts';
import type { Session } from './api.ts';
import { Act, Copied, Form } from './forms.tsx';
import type { Field } from './forms.tsx';
import { Looks } from './looks.tsx';
import { Trouble, useLoaded } from './parts.tsx';
import { hasRole, leave, readSession, signOut } from './session.ts';
import { words as site } from './words.ts';
import { words } from './words_account.ts';

interface SignInRow {
    id: string;
    kind: 'session' | 'token';
    name: string;
    scopes: string[];
    created: string;
    used: string;
    is_this: boolean;
}
interface Block { account: string; shown_name: string | null; since: string }
interface Offer { place_id: string; title: string; creator: { shown_name: string } | null; bytes: number; expires_at: string }
interface Quota {
    bytes_used: number;
    bytes_max: number;
    places: { place_id: string; title: string; bytes: number; datastore_bytes: number; trashed: boolean }[];
}

function Section({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
    return <section class="panel"><h2>{title}</h2>{children}</section>;
}

// --- who -------------------------------------------------------------------------------------------

function Head({ session }: { session: Session }): JSX.Element {
    const isOperator = hasRole(session, 'operator');
    const shown = session.shown_name ?? '';
    return (
        <div class="head">
            <h1>{session.is_guest === true ? words.guestIs(shown) : words.youAre(shown)}</h1>
            {session.is_guest !== true && <p class="soft">{words.accountName(session.username ?? '')}
                {(session.roles ?? []).length > 0 && ` · ${words.rolesAre(session.roles ?? [])}`}</p>}
            <p class="ways">
                <a class="button" href="/">{words.toDiscover}</a>
                {(isOperator || hasRole(session, 'creator')) &&
                    <a class="button quiet" href="/create">{words.toPlaces}</a>}
                {(isOperator || session.is_pupil === true || hasRole(session, 'teacher')) &&
                    <a class="button quiet" href="/class">{words.toClass}</a>}
                {isOperator && <a class="button quiet" href="/operator">{words.toOperator}</a>}
                <Act text={words.signOut} act={() => signOut('/')} />
            </p>
        </div>
    );
}

function Name({ session }: { session: Session }): JSX.Element {
    return (
        <Form name="shown-name" button={words.profile.button} done={site.saved} at={() => 'shown_name'} fields={[{
            name: 'shown_name', label: words.shownName, first: session.shown_name ?? '', max: 64,
            autocomplete: 'nickname',
        }]}
            act={async ({ shown_name = '' }) => {
                await send('POST', '/api/account', { shown_name: shown_name.trim() });
                await readSession();
            }} />
    );
}

// Who came by an issuer may have no password yet.
function Password({ mayHaveNone }: { mayHaveNone: boolean }): JSX.Element {
    return (
        <Form name="password" button={words.change.button} done={words.change.done} fields={[
            { name: 'old', label: words.change.old, type: 'password', optional: mayHaveNone,
                ...(mayHaveNone ? { hint: words.change.oldHint } : {}), autocomplete: 'current-password', max: 256 },
            newPassword('new', words.change.fresh)]}
            at={(code) => code === 'wrong_credentials' ? 'old'
                : ['invalid_password', 'common_password'].includes(code) ? 'new' : ''}
            act={async (values) => {
                await send('POST', '/api/account/password', { old: values.old, new: values.new });
            }} />
    );
}

// --- the issuer ----------------------------------------------------------------------------------------

interface IssuerLink { name: string; linked: boolean; has_password: boolean; link: string }

function IssuerSection(): JSX.Element | null {
    const { value, failure, again } = useLoaded<IssuerLink>('/api/account/issuer');
    if (value === null) {
        return failure === null ? null : <Trouble failure={failure} again={again} />;
    }
    return (
        <Section title={value.name}>
            <p>{value.linked ? words.issuer.linked : words.issuer.unlinked}</p>
            {value.linked && !value.has_password && <p class="soft">{words.issuer.setFirst}</p>}
            <p class="ways">{value.linked
                ? <Act text={words.issuer.unlink} act={async () => {
                    await send('POST', '/api/account/issuer/unlink', {});
                    again();
                }} />
                : <a class="button" href={value.link}>{words.issuer.link}</a>}</p>
        </Section>
    );
}

// --- sign-ins and tokens -----------------------------------------------------------------------------

function SignIns({ rows, changed }: { rows: SignInRow[]; changed: () => void }): JSX.Element {
    return (
        <ul class="rows">{rows.map((row) => {
            const name = row.name === '' ? words.signIns.unknown : row.name;
            return (
                <li key={row.id}>
                    <span><strong>{name}</strong>{row.is_this && ` (${words.signIns.here})`}
                        {row.kind === 'token' && ` · ${row.scopes.join(', ')}`}
                        <span class="soft">{words.signIns.times(row.created, row.used)}</span></span>
                    <Act text={words.signIns.end} label={words.signIns.endNamed(name)} act={async () => {
                        if (row.is_this) {
                            await signOut('/account');
                            return;
                        }
                        await send('DELETE', `/api/account/sign-ins/${encodeURIComponent(row.id)}`);
                        changed();
                    }} />
                </li>
            );
        })}</ul>
    );
}

function NewToken({ session, changed }: { session: Session; changed: () => void }): JSX.Element {
    const isOperator = hasRole(session, 'operator');
    const may = ['play',
        ...(isOperator || hasRole(session, 'creator') ? ['create'] : []),
        ...(isOperator || hasRole(session, 'teacher') ? ['operate'] : [])];
    const [chosen, setChosen] = useState<string[]>([]);
    const [token, setToken] = useState('');
    return (
        <>
            <Form name="token" button={words.tokens.button} quiet fields={[
                { name: 'name', label: words.tokens.name, max: 32 }]}
                at={(code) => code === 'malformed' || code === 'invalid_name' ? 'name' : ''}
                act={async ({ name = '' }) => {
                    if (chosen.length === 0) {
                        throw new Error(words.tokens.scopeNeeded);
                    }
                    const made = await send<{ token: string }>('POST', '/api/account/tokens',
                        { name: name.trim(), scope: chosen.join(' ') });
                    setToken(made.token);
                    changed();
                }}>
                <fieldset>
                    <legend>{words.tokens.scope}</legend>
                    {may.map((scope) => (
                        <label key={scope} class="check">
                            <input type="checkbox" name={scope} checked={chosen.includes(scope)}
                                onChange={(event) => setChosen(event.currentTarget.checked
                                    ? [...chosen, scope] : chosen.filter((each) => each !== scope))} />
                            <span>{words.tokens.scopes[scope]}</span>
                        </label>
                    ))}
                </fieldset>
            </Form>
            {token !== '' && <><p><strong>{words.tokens.once}</strong></p>
                <Copied label={words.tokens.made} text={token} rows={2} /></>}
        </>
    );
}

function Access({ session }: { session: Session }): JSX.Element {
    const list = useLoaded<{ sign_ins: SignInRow[] }>('/api/account/sign-ins');
    const rows = list.value?.sign_ins ?? [];
    const tokens = rows.filter(({ kind }) => kind === 'token');
    return (
        <>
            <Section title={words.signIns.title}>
                {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
                <SignIns rows={rows.filter(({ kind }) => kind === 'session')} changed={list.again} />
            </Section>
            {session.is_guest !== true && session.is_pupil !== true && <Section title={words.tokens.title}>
                <p class="soft">{words.tokens.hint}</p>
                {list.value !== null && tokens.length === 0 && <p>{words.tokens.none}</p>}
                <SignIns rows={tokens} changed={list.again} />
                <NewToken session={session} changed={list.again} />
            </Section>}
        </>
    );
}

// --- people ------------------------------------------------------------------------------------------

const HOURS_A_DAY = 24;

function Invite({ session }: { session: Session }): JSX.Element {
    const [link, setLink] = useState('');
    const { player = '', creator = '', teacher = '', operator = '' } = words.invite.roles;
    const choices: Record<string, string> = hasRole(session, 'operator')
        ? { player, creator, teacher, operator } : { player };
    const check = (text: string): string =>
        /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 365 ? '' : words.invite.daysWrong;
    return (
        <Section title={words.invite.title}>
            <p class="soft">{words.invite.hint}</p>
            <Form name="invite" button={words.invite.button} quiet fields={[
                { name: 'role', label: words.invite.role, choices, first: 'player' },
                { name: 'days', label: words.invite.days, isNumber: true, max: 3, first: '7', check }]}
                act={async ({ role = '', days = '' }) => {
                    const made = await send<{ link: string }>('POST', '/api/invitations',
                        { role, expires_h: Number(days) * HOURS_A_DAY });
                    setLink(made.link);
                }} />
            {link !== '' && <Copied label={words.invite.made} text={link} rows={2} />}
        </Section>
    );
}

function Blocks(): JSX.Element {
    const list = useLoaded<{ blocks: Block[] }>('/api/me/blocks');
    return (
        <Section title={words.blocks.title}>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value?.blocks.length === 0 && <p>{words.blocks.none}</p>}
            <ul class="rows">{list.value?.blocks.map((each) => {
                const name = each.shown_name ?? words.blocks.gone;
                return (
                    <li key={each.account}>
                        <span><strong>{name}</strong>
                            <span class="soft">{words.blocks.since(each.since)}</span></span>
                        <Act text={words.blocks.end} label={words.blocks.endNamed(name)} act={async () => {
                            await send('DELETE', `/api/me/blocks/${encodeURIComponent(each.account)}`);
                            list.again();
                        }} />
                    </li>
                );
            })}</ul>
        </Section>
    );
}

interface OwnWorld { worldId: string; roomCode: string; placeId: string; placeName: string | null; name: string; isPrivate: boolean; createdAt: string; players: number }

function Worlds(): JSX.Element {
    const list = useLoaded<{ worlds: OwnWorld[] }>('/worlds?mine=true&limit=500');
    const section = useRef<HTMLElement>(null);
    useEffect(() => { // the way from a place that could not make another one
        if (location.hash === '#own-worlds' && list.value !== null) {
            section.current?.scrollIntoView();
        }
    }, [list.value === null]);
    return (
        <section class="panel" id="own-worlds" ref={section}><h2>{words.worlds.title}</h2>
            <p class="soft">{words.worlds.hint}</p>
            {list.failure !== null && <Trouble failure={list.failure} again={list.again} />}
            {list.value?.worlds.length === 0 && <p>{words.worlds.none}</p>}
            <ul class="rows">{list.value?.worlds.map((world) => (
                <li key={world.worldId}>
                    <span><a href={`/play/${encodeURIComponent(world.roomCode)}`}><strong>{world.name === '' ? world.placeName ?? world.placeId : world.name}</strong></a>
                        <span class="soft">{words.worlds.about(world.roomCode, world.isPrivate, world.players, world.createdAt)}</span></span>
                    <Act text={words.worlds.end} label={words.worlds.endNamed(world.roomCode)} act={async () => {
                        await send('DELETE', `/world/${encodeURIComponent(world.worldId)}`);
                        list.again();
                    }} />
                </li>
            ))}</ul>
        </section>
    );
}

// --- places and data -----------------------------------------------------------------------------------

function Offers({ changed }: { changed: () => void }): JSX.Element | null {
    const list = useLoaded<{ offers: Offer[] }>('/api/me/offers?limit=100');
    const answer = (offer: Offer, how: 'accept' | 'decline') => async (): Promise<void> => {
        await send('POST', `/api/places/${encodeURIComponent(offer.place_id)}/${how}`, {});
        list.again();
        changed();
    };
    if ((list.value?.offers.length ?? 0) === 0) {
        return null;
    }
    return (
        <Section title={words.offers.title}>
            <ul class="rows">{list.value?.offers.map((offer) => (
                <li key={offer.place_id}>
                    <span><a href={`/place/${encodeURIComponent(offer.place_id)}`}><strong>{offer.title}</strong></a>
                        <span class="soft">{words.offers.by(offer.creator?.shown_name ?? words.offers.nobody,
                            offer.bytes, offer.expires_at)}</span></span>
                    <Act text={words.offers.accept} quiet={false} act={answer(offer, 'accept')} />
                    <Act text={words.offers.decline} act={answer(offer, 'decline')} />
                </li>
            ))}</ul>
        </Section>
    );
}

function Storage({ quota }: { quota: Quota }): JSX.Element {
    return (
        <Section title={words.storage.title}>
            <p><label>{words.storage.used(quota.bytes_used, quota.bytes_max)}
                <meter max={quota.bytes_max} high={quota.bytes_max * 0.9} value={quota.bytes_used} /></label></p>
            {quota.places.length === 0 && <p>{words.storage.none}</p>}
            <ul class="rows">{quota.places.map((place) => (
                <li key={place.place_id}>
                    <span><a href={`/create/${encodeURIComponent(place.place_id)}`}>{place.title}</a>
                        {place.trashed && ` (${words.storage.trashed})`}
                        <span class="soft">{words.storage.place(place.bytes, place.datastore_bytes)}</span></span>
                </li>
            ))}</ul>
        </Section>
    );
}

function Places(): JSX.Element {
    const quota = useLoaded<Quota>('/api/me/quota');
    return (
        <>
            <Offers changed={quota.again} />
            {quota.failure !== null && <Trouble failure={quota.failure} again={quota.again} />}
            {quota.value !== null && <Storage quota={quota.value} />}
        </>
    );
}

function Data({ isGuest, isPupil }: { isGuest: boolean; isPupil: boolean }): JSX.Element {
    const sure: Field = { name: 'sure', label: words.end.sure, type: 'checkbox' };
    const password: Field = {
        name: 'password', label: words.end.password, type: 'password', autocomplete: 'current-password', max: 256,
    };
    return (
        <>
            <Section title={words.data.title}>
                <p class="soft">{words.data.hint}</p>
                <p><a class="button quiet" href="/api/account/export" download="sandlot-account.json">
                    {words.data.button}</a></p>
            </Section>
            {isPupil ? <Section title={words.end.title}><p>{words.end.pupil}</p></Section> : <Section title={words.end.title}>
                <p class="soft">{isGuest ? words.end.guestHint : words.end.hint}</p>
                <Form name="delete" button={words.end.button} quiet
                    fields={isGuest ? [sure] : [password, sure]}
                    at={(code) => code === 'wrong_credentials' ? 'password' : ''}
                    act={async (values) => {
                        await send('DELETE', '/api/account', isGuest ? {} : { password: values.password });
                        leave('/');
                    }} />
            </Section>}
        </>
    );
}

export function OwnAccount({ session, ways }: { session: Session; ways: JSX.Element | false }): JSX.Element {
    const isGuest = session.is_guest === true;
    const isPupil = session.is_pupil === true;
    return (
        <>
            <Head session={session} />
            {ways}
            <Looks session={session} />
            <div class="own">
                {!isGuest && <Section title={words.profile.title}>
                    {session.may_rename === false ? <p>{words.profile.closed}</p> : <Name session={session} />}</Section>}
                {!isGuest && <Section title={words.change.title}>
                    {isPupil ? <p>{words.change.pupil}</p> : <Password mayHaveNone={session.issuer !== undefined} />}</Section>}
                {!isGuest && session.issuer !== undefined && <IssuerSection />}
                <Access session={session} />
                {(hasRole(session, 'operator') || hasRole(session, 'teacher')) && <Invite session={session} />}
                <Blocks />
                <Worlds />
                {!isGuest && <Places />}
                <Data isGuest={isGuest} isPupil={isPupil} />
            </div>
        </>
    );
}

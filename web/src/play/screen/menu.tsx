// The menu over the game: resume, settings, players, another life, leave.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

import type { Place } from '../../core/bridge.ts';
import { isDevelopment } from '../../ui/faults.ts';
import { Button, Choice, Dialog, Slider, Toggle } from '../../ui/parts.tsx';
import { LANGUAGES, type Language } from '../../ui/languages.ts';
import { words } from '../../ui/words.ts';
import { laterWords } from '../../ui/words_later.ts';
import type { Chat } from '../chat.ts';
import { padsAreWithheld } from '../pads.ts';
import { missingHere } from '../missing.ts';
import type { People, Person } from '../people.ts';
import {
    DEFAULTS, DEFAULT_KEYS, bindKey, change, keyName, keyOf, settings, type Bound, type KeyAction,
} from '../settings.ts';
import type { AccountRights } from '../account_rights.ts';

const LANGUAGE_NAMES = Object.fromEntries(Object.entries(LANGUAGES).map(([code, { name }]) =>
    [code, name])) as Record<Language, string>;

export type MenuPage = 'closed' | 'menu' | 'settings' | 'players' | 'invite';

export interface MenuActions {
    open: (page: MenuPage) => void;
    respawn: () => void;
    leave: () => void;
}

function KeyButton({ bound, text, actions }: {
    bound: Bound; text: string; actions: readonly string[];
}): JSX.Element {
    const waits = useSignal(false);
    useLayoutEffect(() => {
        if (!waits.value) {
            return undefined;
        }
        const hear = (event: KeyboardEvent): void => {
            event.preventDefault();
            event.stopPropagation();
            waits.value = false;
            if (event.code !== 'Escape') {
                bindKey(bound, event.code, actions);
            }
        };
        addEventListener('keydown', hear, { capture: true, once: true });
        return () => removeEventListener('keydown', hear, { capture: true });
    }, [waits.value]);
    const name = keyName(keyOf(bound));
    return (
        <div class="field">
            <span>{text}</span>
            <Button quiet label={`${text}: ${name}`}
                onClick={() => { waits.value = true; }}>
                {waits.value ? laterWords.settings.keyPress : <kbd>{name}</kbd>}
            </Button>
        </div>
    );
}

const VOLUMES = ['volume', 'musicVolume', 'effectsVolume'] as const;

function SettingsPage({ actions, onBack }: {
    actions: readonly string[]; onBack: () => void;
}): JSX.Element {
    const say = laterWords.settings;
    const now = settings.value;
    const missing = missingHere();
    return (
        <Dialog title={say.title} onClose={onBack}>
            <Slider label={say.textSize} value={now.textSize} min={1} max={2} step={0.1}
                shown={words.percent(now.textSize)} onChange={(textSize) => change({ textSize })} />
            <Slider label={say.sensitivity} value={now.sensitivity} min={0.25} max={4} step={0.05}
                shown={words.percent(now.sensitivity)}
                onChange={(sensitivity) => change({ sensitivity })} />
            <Toggle label={say.invert} value={now.invert}
                onChange={(invert) => change({ invert })} />
            <Toggle label={say.toggleRun} value={now.toggleRun}
                onChange={(toggleRun) => change({ toggleRun })} />
            <Toggle label={say.toggleCrouch} value={now.toggleCrouch}
                onChange={(toggleCrouch) => change({ toggleCrouch })} />
            <Choice label={say.touch} value={now.touch} choices={say.touchLayouts}
                onChange={(touch) => change({ touch })} />
            {padsAreWithheld() && (
                <p class="note">{isSecureContext ? say.padsWithheld : say.padsNeedHttps}</p>
            )}
            <Choice label={say.camera} value={now.camera}
                choices={{ third: say.third, first: say.first }}
                onChange={(camera) => change({ camera })} />
            <Choice label={say.graphics} value={now.quality} choices={say.quality}
                onChange={(quality) => change({ quality })} />
            {Object.keys(LANGUAGES).length > 1 && (
                <Choice label={say.language} value={now.language} choices={LANGUAGE_NAMES}
                    onChange={(language) => change({ language })} />
            )}
            <Toggle label={say.teamNames} value={now.teamNames}
                onChange={(teamNames) => change({ teamNames })} />
            <Choice label={say.theme} value={now.theme} choices={say.themes}
                onChange={(theme) => change({ theme })} />
            <h3>{laterWords.sound.title}</h3>
            {VOLUMES.map((name) => (
                <Slider key={name} label={laterWords.sound[name]} value={now[name]} min={0} max={1}
                    step={0.05} shown={words.percent(now[name])}
                    onChange={(value) => change({ [name]: value })} />
            ))}
            <Toggle label={laterWords.sound.ownSounds} value={now.ownSounds}
                onChange={(ownSounds) => change({ ownSounds })} />
            <Toggle label={laterWords.sound.captionsOn} value={now.captions}
                onChange={(captions) => change({ captions })} />
            <h3>{say.keys}</h3>
            {(Object.keys(DEFAULT_KEYS) as KeyAction[]).map((action) => (
                <KeyButton key={action} bound={{ own: action }} text={words.keys[action]}
                    actions={actions} />
            ))}
            {actions.length > 0 && <h3>{say.actions}</h3>}
            {actions.map((name, at) => (
                <KeyButton key={name} bound={{ place: name, at }} text={name} actions={actions} />
            ))}
            <div class="row">
                <Button quiet onClick={() => change({ keys: DEFAULT_KEYS, actionKeys: {} })}>{say.keysReset}</Button>
                <Button quiet onClick={() => change(DEFAULTS)}>{say.reset}</Button>
            </div>
            <p class="note" id="missing">{missing.length === 0 ? laterWords.missing.none
                : laterWords.missing.text(missing.join(', '))}</p>
            <Button onClick={onBack}>{words.menu.back}</Button>
        </Dialog>
    );
}

type Reason = keyof typeof words.people.reasons;

function ReportForm({ person, chat, onDone }: {
    person: Person; chat: Chat; onDone: () => void;
}): JSX.Element {
    const reason = useSignal<Reason>('abuse');
    const text = useSignal('');
    const id = useId();
    return (
        <Dialog title={words.people.reportTitle(person.name)} onClose={onDone}>
            <Choice label={words.people.reportReason} value={reason.value}
                choices={words.people.reasons} onChange={(value) => { reason.value = value; }} />
            <div class="field tall">
                <label for={id}>{words.people.reportText}</label>
                <textarea id={id} rows={4} maxLength={500} value={text}
                    onInput={(event) => { text.value = event.currentTarget.value; }} />
            </div>
            <Button onClick={() => {
                chat.report(person.player, person.name, reason.value, text.value);
                onDone();
            }}>{words.people.reportSend}</Button>
            <Button quiet onClick={onDone}>{words.menu.back}</Button>
        </Dialog>
    );
}

const KICK_REASON_MAX = 64; // bytes, as OWNER_REASON_BYTES_MAX

// As much of a text as has room in so many bytes.
function cutBytes(text: string, most: number): string {
    const letters = [...text];
    while (new TextEncoder().encode(letters.join('')).length > most) {
        letters.pop();
    }
    return letters.join('');
}

// The one question before somebody is removed.
function KickForm({ person, chat, rights, onDone }: {
    person: Person; chat: Chat; rights: AccountRights; onDone: () => void;
}): JSX.Element {
    const reason = useSignal('');
    const id = useId();
    return (
        <Dialog title={laterWords.people.kickTitle(person.name)} onClose={onDone}>
            <div class="field tall">
                <label for={id}>{laterWords.people.kickReason(person.name)}</label>
                <input id={id} type="text" maxLength={KICK_REASON_MAX} value={reason}
                    onInput={(event) => { reason.value = event.currentTarget.value; }} />
            </div>
            <p class="note">{laterWords.people.kickNote(person.name)}</p>
            <Button onClick={() => {
                void rights.kick(person, cutBytes(reason.value.trim(), KICK_REASON_MAX))
                    .then((failure) => chat.note(failure ?? laterWords.people.kickDone(person.name)));
                onDone();
            }}>{laterWords.people.kick}</Button>
            <Button quiet onClick={onDone}>{words.menu.back}</Button>
        </Dialog>
    );
}

// What an account may do about somebody, where there are accounts.
function AccountButtons({ person, chat, rights, onKick }: {
    person: Person; chat: Chat; rights: AccountRights; onKick: () => void;
}): JSX.Element {
    const say = words.people;
    const blocked = rights.isBlocked(person);
    const act = (done: Promise<string | null>, text: string): void =>
        void done.then((failure) => chat.note(failure ?? text));
    return (
        <>
            {rights.canBlock.value && (
                <Button quiet label={`${blocked ? say.unblock : say.block} ${person.name}`}
                    onClick={() => act(rights.block(person, !blocked),
                        blocked ? say.unblocked(person.name) : say.blocked(person.name))}>
                    {blocked ? say.unblock : say.block}
                </Button>
            )}
            {rights.canKick.value && (
                <Button quiet label={laterWords.people.kickLabel(person.name)} onClick={onKick}>{laterWords.people.kick}</Button>
            )}
        </>
    );
}

// The address of this world, for others. Browsers let a page copy only over https.
function InvitePage({ room, onBack }: { room: string; onBack: () => void }): JSX.Element {
    const said = useSignal('');
    const field = useRef<HTMLInputElement>(null);
    const id = useId();
    const link = `${location.origin}/play/${room}`;
    const copy = async (): Promise<void> => {
        try {
            await navigator.clipboard.writeText(link);
            said.value = words.menu.copied;
        } catch {
            field.current?.focus();
            field.current?.select();
            said.value = document.execCommand('copy') ? words.menu.copied : words.menu.copyYourself;
        }
    };
    return (
        <Dialog title={words.menu.invite} onClose={onBack}>
            <div class="field"><span>{words.menu.inviteCode}</span><strong>{room}</strong></div>
            <div class="field tall">
                <label for={id}>{words.menu.inviteLink}</label>
                <input ref={field} id={id} type="text" readOnly value={link} />
            </div>
            {isDevelopment() && <p class="note">{laterWords.thisComputer}</p>}
            <Button onClick={() => void copy()}>{words.menu.copy}</Button>
            <p class="note" role="status">{said}</p>
            <Button quiet onClick={onBack}>{words.menu.back}</Button>
        </Dialog>
    );
}

function PlayersPage({ people, chat, rights, onBack }: {
    people: People; chat: Chat; rights: AccountRights; onBack: () => void;
}): JSX.Element {
    const reported = useSignal<Person | null>(null);
    const kicked = useSignal<Person | null>(null);
    const others = [...people.list.value.values()]
        .filter(({ player }) => player !== people.own.value)
        .sort((a, b) => a.name.localeCompare(b.name));
    if (reported.value !== null) {
        return (
            <ReportForm person={reported.value} chat={chat}
                onDone={() => { reported.value = null; }} />
        );
    }
    if (kicked.value !== null) {
        return (
            <KickForm person={kicked.value} chat={chat} rights={rights}
                onDone={() => { kicked.value = null; }} />
        );
    }
    return (
        <Dialog title={words.menu.players} onClose={onBack}>
            {others.length === 0 && <p>{words.people.alone}</p>}
            <ul class="players">
                {others.map((person) => {
                    const muted = people.muted.value.has(person.playerId);
                    return (
                        <li key={person.player}>
                            <span>{person.name}</span>
                            <Button quiet label={`${muted ? words.people.unmute
                                : words.people.mute} ${person.name}`}
                            onClick={() => chat.mute(person.playerId, person.name, !muted)}>
                                {muted ? words.people.unmute : words.people.mute}
                            </Button>
                            <Button quiet label={words.people.reportTitle(person.name)}
                                onClick={() => { reported.value = person; }}>
                                {words.people.report}
                            </Button>
                            <AccountButtons person={person} chat={chat} rights={rights}
                                onKick={() => { kicked.value = person; }} />
                        </li>
                    );
                })}
            </ul>
            <Button onClick={onBack}>{words.menu.back}</Button>
        </Dialog>
    );
}

export function Menu({ page, place, people, chat, rights, actions }: {
    page: MenuPage; place: Place | null; people: People; chat: Chat; rights: AccountRights;
    actions: MenuActions;
}): JSX.Element | null {
    const back = (): void => actions.open('menu');
    switch (page) {
        case 'closed':
            return null;
        case 'settings':
            return <SettingsPage actions={place?.actions ?? []} onBack={back} />;
        case 'players':
            return (
                <PlayersPage people={people} chat={chat} rights={rights} onBack={back} />
            );
        case 'invite':
            return <InvitePage room={rights.room} onBack={back} />;
        case 'menu':
            return (
                <Dialog title={words.menu.title} onClose={() => actions.open('closed')}>
                    {place !== null && <p class="note">{place.name}</p>}
                    <Button onClick={() => actions.open('closed')}>{words.menu.resume}</Button>
                    <Button quiet onClick={() => actions.open('settings')}>
                        {words.menu.settings}
                    </Button>
                    <Button quiet onClick={() => actions.open('players')}>{words.menu.players}</Button>
                    {rights.room !== '' && (
                        <Button quiet onClick={() => actions.open('invite')}>
                            {words.menu.invite}
                        </Button>
                    )}
                    <Button quiet onClick={actions.respawn}>{words.menu.respawn}</Button>
                    <Button quiet onClick={actions.leave}>{words.menu.leave}</Button>
                </Dialog>
            );
    }
}

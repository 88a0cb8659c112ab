// The menu over the game: resume, settings, players, another life, leave.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useLayoutEffect } from 'preact/hooks';

import { Button, Choice, Dialog, Slider, Toggle } from '../../ui/parts.tsx';
import { words } from '../../ui/words.ts';
import type { Chat } from '../chat.ts';
import { padsAreWithheld } from '../gamepad.ts';
import type { People, Person } from '../people.ts';
import {
    DEFAULTS, DEFAULT_KEYS, bindKey, change, settings, type KeyAction,
} from '../settings.ts';

export type MenuPage = 'closed' | 'menu' | 'settings' | 'players';

export interface MenuActions {
    open: (page: MenuPage) => void;
    respawn: () => void;
    leave: () => void;
}

// As it stands on the key: KeyW is W, ShiftLeft is Shift Left.
export const keyName = (code: string): string =>
    code.replace(/^(Key|Digit)/, '').replace(/([a-z])([A-Z0-9])/g, '$1 $2');

function KeyButton({ action }: { action: KeyAction }): JSX.Element {
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
                bindKey(action, event.code);
            }
        };
        addEventListener('keydown', hear, { capture: true, once: true });
        return () => removeEventListener('keydown', hear, { capture: true });
    }, [waits.value]);
    const name = keyName(settings.value.keys[action]);
    return (
        <div class="field">
            <span>{words.keys[action]}</span>
            <Button quiet label={`${words.keys[action]}: ${name}`}
                onClick={() => { waits.value = true; }}>
                {waits.value ? words.settings.keyPress : <kbd>{name}</kbd>}
            </Button>
        </div>
    );
}

function SettingsPage({ onBack }: { onBack: () => void }): JSX.Element {
    const say = words.settings;
    const now = settings.value;
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
            <Choice label={say.theme} value={now.theme} choices={say.themes}
                onChange={(theme) => change({ theme })} />
            <h3>{say.keys}</h3>
            {(Object.keys(DEFAULT_KEYS) as KeyAction[]).map((action) => (
                <KeyButton key={action} action={action} />
            ))}
            <div class="row">
                <Button quiet onClick={() => change({ keys: DEFAULT_KEYS })}>{say.keysReset}</Button>
                <Button quiet onClick={() => change(DEFAULTS)}>{say.reset}</Button>
            </div>
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

function PlayersPage({ people, chat, onBack }: {
    people: People; chat: Chat; onBack: () => void;
}): JSX.Element {
    const reported = useSignal<Person | null>(null);
    const others = [...people.list.value.values()]
        .filter(({ player }) => player !== people.own.value)
        .sort((a, b) => a.name.localeCompare(b.name));
    if (reported.value !== null) {
        return (
            <ReportForm person={reported.value} chat={chat}
                onDone={() => { reported.value = null; }} />
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
                        </li>
                    );
                })}
            </ul>
            <Button onClick={onBack}>{words.menu.back}</Button>
        </Dialog>
    );
}

export function Menu({ page, people, chat, actions }: {
    page: MenuPage; people: People; chat: Chat; actions: MenuActions;
}): JSX.Element | null {
    const back = (): void => actions.open('menu');
    switch (page) {
        case 'closed':
            return null;
        case 'settings':
            return <SettingsPage onBack={back} />;
        case 'players':
            return <PlayersPage people={people} chat={chat} onBack={back} />;
        case 'menu':
            return (
                <Dialog title={words.menu.title} onClose={() => actions.open('closed')}>
                    <Button onClick={() => actions.open('closed')}>{words.menu.resume}</Button>
                    <Button quiet onClick={() => actions.open('settings')}>
                        {words.menu.settings}
                    </Button>
                    <Button quiet onClick={() => actions.open('players')}>{words.menu.players}</Button>
                    <Button quiet onClick={actions.respawn}>{words.menu.respawn}</Button>
                    <Button quiet onClick={actions.leave}>{words.menu.leave}</Button>
                </Dialog>
            );
    }
}

// The chat: the newest lines fade over the game; open, it shows all of them and a line to write.
import { useSignal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { Button } from '../../ui/parts.tsx';
import { words } from '../../ui/words.ts';
import type { Chat } from '../chat.ts';

const FADE_MS = 12_000;
const TEXT_MAX = 512;

function Lines({ chat }: { chat: Chat }): JSX.Element {
    const list = useRef<HTMLDivElement>(null);
    const now = useSignal(performance.now());
    const isOpen = chat.isOpen.value;
    const lines = chat.lines.value;
    useEffect(() => {
        const timer = setInterval(() => { now.value = performance.now(); }, 1000);
        return () => clearInterval(timer);
    }, []);
    useLayoutEffect(() => { // the newest line is shown whole, and others whole or not at all
        const newest = isOpen ? null : list.current?.lastElementChild as HTMLElement | null;
        list.current?.style.setProperty('min-height', `min(${newest?.offsetHeight ?? 0}px, 40vh)`);
        const top = (list.current?.getBoundingClientRect().top ?? 0) - 1;
        for (const line of list.current?.children ?? []) {
            line.classList.toggle('cut', !isOpen && line !== newest && line.getBoundingClientRect().top < top);
        }
        // In a narrow window what places show begins below it.
        const end = newest === null || newest.hidden ? 0 : list.current?.getBoundingClientRect().bottom ?? 0;
        document.documentElement.style.setProperty('--chat-end', `${end}px`);
    });
    useEffect(() => {
        list.current?.scrollTo(0, list.current.scrollHeight);
    }, [lines, isOpen]);
    return (
        <div ref={list} id="messages" role="log" aria-live="polite" aria-label={words.chat.log}
            tabIndex={isOpen ? 0 : -1}>
            {lines.map(({ key, from, text, at }) => (
                <p key={key} hidden={!isOpen && now.value - at > FADE_MS}
                    class={from === '' ? 'note' : ''}>
                    {from !== '' && <b>{from}: </b>}{text}
                </p>
            ))}
        </div>
    );
}

function Writing({ chat, onClose }: { chat: Chat; onClose: () => void }): JSX.Element {
    const text = useSignal(chat.begin);
    const back = useSignal(0); // how far one went back through what one said
    const input = useRef<HTMLInputElement>(null);
    useLayoutEffect(() => input.current?.focus(), []); // before the next key
    const recall = (step: number): void => {
        const said = chat.history();
        back.value = Math.max(0, Math.min(said.length, back.value + step));
        text.value = back.value === 0 ? '' : said[said.length - back.value] ?? '';
    };
    return (
        <form class="chat-line" onSubmit={(event) => {
            event.preventDefault();
            chat.say(text.value);
            onClose();
        }}>
            <input ref={input} id="chat-text" type="text" maxLength={TEXT_MAX} autoComplete="off"
                enterkeyhint="send" aria-label={words.chat.label} placeholder={words.chat.placeholder}
                value={text} onInput={(event) => { text.value = event.currentTarget.value; }}
                onKeyDown={(event) => {
                    if (event.key === 'Escape') {
                        onClose();
                    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
                        event.preventDefault();
                        recall(event.key === 'ArrowUp' ? 1 : -1);
                    }
                    event.stopPropagation();
                }} />
            <button type="submit" class="button">{words.chat.send}</button>
        </form>
    );
}

// The box itself has the focus, and no button in it: one comes here by a key, and whoever begins to write without looking presses
// nothing by the first space.
function useBoxFocus(): RefObject<HTMLDivElement | null> {
    const box = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => box.current?.focus(), []);
    return box;
}

// The game hears no key while the box is there.
function keepKeys(event: KeyboardEvent, onClose: () => void): void {
    if (event.key === 'Escape') {
        onClose();
    }
    event.stopPropagation();
}

function Phrases({ chat, onClose }: { chat: Chat; onClose: () => void }): JSX.Element {
    const box = useBoxFocus();
    return (
        <div ref={box} class="chat-phrases" role="group" tabIndex={-1} aria-label={words.chat.phrases}
            onKeyDown={(event) => keepKeys(event, onClose)}>
            {chat.rule.value.phrases.map((phrase) => (
                <Button key={phrase} quiet onClick={() => {
                    chat.say(phrase);
                    onClose();
                }}>{phrase}</Button>
            ))}
            <Button quiet onClick={onClose}>{words.menu.close}</Button>
        </div>
    );
}

// Nobody writes here; why, and for a guest what to do about it.
function Silence({ guest, onClose }: { guest: boolean; onClose: () => void }): JSX.Element {
    const box = useBoxFocus();
    return (
        <div ref={box} class="chat-guest" role="group" tabIndex={-1} aria-label={guest ? words.chat.guestOff : words.chat.off}
            onKeyDown={(event) => keepKeys(event, onClose)}>
            {guest ? <GuestNote rule="off" /> : <p>{words.chat.off}</p>}
            <Button quiet onClick={onClose}>{words.menu.close}</Button>
        </div>
    );
}

function GuestNote({ rule }: { rule: string }): JSX.Element {
    return (
        <p>{rule === 'off' ? words.chat.guestOff : words.chat.guestPhrases}{' '}
            <a href={`/account?next=${encodeURIComponent(location.pathname + location.search)}`}>
                {words.chat.guestHelp}</a></p>
    );
}

export function ChatBox({ chat, onClose }: { chat: Chat; onClose: () => void }): JSX.Element {
    const { rule, guest } = chat.rule.value;
    return (
        <section class={chat.isOpen.value ? 'chat open' : 'chat'} onKeyDown={(event) => {
            if (event.key === 'Escape') {
                onClose();
                event.stopPropagation();
            }
        }}>
            <Lines chat={chat} />
            {chat.isOpen.value && (rule === 'free' ? <Writing chat={chat} onClose={onClose} />
                : rule === 'phrases' ? <Phrases chat={chat} onClose={onClose} />
                : <Silence guest={guest} onClose={onClose} />)}
            {chat.isOpen.value && guest && rule === 'phrases' && (
                <div class="chat-guest"><GuestNote rule={rule} /></div>
            )}
        </section>
    );
}

// What is said, and what a line that begins with "/" does.
import { effect, signal } from '@preact/signals';

import { words } from '../ui/words.ts';
import type { People } from './people.ts';

export interface Line {
    key: number;
    from: string; // '': the page itself
    text: string;
    at: number; // performance.now()
}

export interface ChatRule {
    rule: 'free' | 'phrases' | 'off';
    phrases: string[];
    guest: boolean; // it is the rule of guests: with an account one may say more
}

const LINES_MAX = 100;
const OPERATOR = 'operator'; // what player 0 is called when an operator speaks; scripts have no name
const ANNOUNCED_MS = 60_000;
const ANNOUNCED_MAX = 3;
const REPORT_REASON = 'other';
const RULE_MS = 5000; // how often the rule is asked for while the chat is open

export type Send = (feature: string, action: string, payload: object) => void;

export class Chat {
    readonly lines = signal<readonly Line[]>([]);
    readonly announcements = signal<readonly Line[]>([]); // of whoever runs the server
    readonly isOpen = signal(false);
    begin = ''; // what stands in the line when it opens
    readonly rule = signal<ChatRule>({ rule: 'free', phrases: [], guest: false });
    private readonly people: People;
    private readonly send: Send;
    private readonly leave: () => void;
    private place = '';
    private hasRules = true; // a world without accounts answers that it knows none
    private next = 1;
    private said: string[] = []; // what this player said, for the arrow keys

    constructor(people: People, send: Send, leave: () => void) {
        this.people = people;
        this.send = send;
        this.leave = leave;
        // The rule may change while one plays, and no world tells: it is asked for whenever the chat opens and while it is open.
        effect(() => {
            const ask = (): void => void this.ask(this.place);
            if (this.isOpen.value && this.hasRules) {
                ask();
                const timer = setInterval(ask, RULE_MS);
                return () => clearInterval(timer);
            }
            return undefined;
        });
    }

    // Which rule holds in a place; a server without accounts has none.
    async ask(place: string): Promise<void> {
        this.place = place;
        const query = place === '' ? '' : `?place_id=${encodeURIComponent(place)}`;
        const answer = await fetch(`/api/chat${query}`).catch(() => null);
        this.hasRules = answer?.status !== 404;
        if (answer?.ok === true) {
            const { rule, phrases, guest } = await answer.json() as Partial<ChatRule>;
            this.rule.value = { rule: rule ?? 'free', phrases: phrases ?? [], guest: guest === true };
        }
    }

    note(text: string, from = ''): void {
        const line = { key: this.next++, from, text, at: performance.now() };
        this.lines.value = [...this.lines.value, line].slice(-LINES_MAX);
    }

    hear(payload: Record<string, unknown>): void {
        const player = Number(payload.player);
        if (player === 0 && payload.name === OPERATOR) {
            this.announce(String(payload.text));
        } else if (!this.people.isMuted(player)) {
            this.note(String(payload.text), player === 0 ? words.chat.world : String(payload.name));
        }
    }

    // It is in the chat too, for who looks for it later.
    private announce(text: string): void {
        this.note(text, words.chat.announcement);
        const line = { key: this.next++, from: '', text, at: performance.now() };
        this.announcements.value = [...this.announcements.value, line].slice(-ANNOUNCED_MAX);
        setTimeout(() => this.closeAnnouncement(line.key), ANNOUNCED_MS);
    }

    closeAnnouncement(key: number): void {
        this.announcements.value = this.announcements.value.filter((line) => line.key !== key);
    }

    history(): readonly string[] {
        return this.said;
    }

    say(text: string): void {
        const line = text.trim();
        if (line === '') {
            return;
        }
        this.said = [...this.said.filter((before) => before !== line), line].slice(-LINES_MAX);
        const command = /^\/(\w+)\s*(.*)$/.exec(line);
        if (command === null) {
            this.send('chat', 'say', { text: line });
        } else {
            this.command(command[1] ?? '', command[2] ?? '');
        }
    }

    report(player: number, name: string, reason: string, text: string): void {
        this.send('moderation', 'report', { player, reason, text });
        this.note(words.chat.reported(name));
    }

    mute(playerId: string, name: string, muted: boolean): void {
        this.people.mute(playerId, muted);
        this.note(muted ? words.chat.muted(name) : words.chat.unmuted(name));
    }

    private command(word: string, rest: string): void {
        switch (word.toLowerCase()) {
            case 'help':
                this.note(words.chat.help);
                break;
            case 'players':
                this.note(words.chat.here([...this.people.list.value.values()]
                    .map(({ name }) => name)));
                break;
            case 'respawn':
                this.send('session', 'respawn', {});
                break;
            case 'leave':
                this.leave();
                break;
            case 'mute':
            case 'unmute':
            case 'report':
                this.about(word.toLowerCase(), rest);
                break;
            default: // perhaps a command of the place's scripts
                this.send('chat', 'say', { text: `/${word} ${rest}`.trim() });
        }
    }

    // Names may have spaces: the longest name that the words begin with is meant.
    private about(word: string, rest: string): void {
        const person = [...this.people.list.value.values()]
            .filter(({ name }) => `${rest} `.toLowerCase().startsWith(`${name.toLowerCase()} `))
            .sort((a, b) => b.name.length - a.name.length)[0];
        if (person === undefined) {
            this.note(words.chat.unknownPlayer(rest));
        } else if (word === 'report') {
            this.report(person.player, person.name, REPORT_REASON,
                rest.slice(person.name.length).trim());
        } else {
            this.mute(person.playerId, person.name, word === 'mute');
        }
    }
}

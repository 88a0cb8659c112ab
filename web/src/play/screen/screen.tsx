// Everything over the picture of the world: what scripts show, chat, board, feed, menu.
import { signal } from '@preact/signals';
import { render, type JSX } from 'preact';

import type { Place, WidgetUse } from '../../core/bridge.ts';
import { Button, Icon } from '../../ui/parts.tsx';
import { words } from '../../ui/words.ts';
import type { Chat } from '../chat.ts';
import type { Controls } from '../controls.ts';
import { device } from '../device.ts';
import type { People } from '../people.ts';
import type { ShownTrees } from '../shown.ts';
import { Board } from './board.tsx';
import { ChatBox } from './chat_box.tsx';
import { Menu, type MenuActions, type MenuPage } from './menu.tsx';
import './screen.css';
import { TouchControls } from './touch.tsx';
import { AboveTrees, ScreenTrees } from './widgets.tsx';

const FEED_MS = 6000;
const FEED_MAX = 5;

export interface ScreenParts {
    people: People;
    chat: Chat;
    shown: ShownTrees;
    controls: Controls;
    onDig: (take: boolean) => void;
    onUse: (use: WidgetUse) => void;
    onOpenChat: () => void;
    onCloseChat: () => void;
    actions: MenuActions;
}

export class Screen {
    readonly isPlaying = signal(false);
    readonly place = signal<Place | null>(null);
    readonly menu = signal<MenuPage>('closed');
    private readonly feed = signal<readonly { key: number; text: string }[]>([]);
    private readonly hits = signal(0); // how many marks were shown
    private nextKey = 1;

    constructor(root: HTMLElement, parts: ScreenParts) {
        render(<this.View {...parts} />, root);
    }

    // Who did what to whom.
    tell(text: string): void {
        const key = this.nextKey++;
        this.feed.value = [...this.feed.value, { key, text }].slice(-FEED_MAX);
        setTimeout(() => {
            this.feed.value = this.feed.value.filter((line) => line.key !== key);
        }, FEED_MS);
    }

    // The own player hit somebody.
    mark(): void {
        this.hits.value += 1;
    }

    private readonly View = (parts: ScreenParts): JSX.Element | null => {
        if (!this.isPlaying.value) {
            return null;
        }
        return (
            <>
                {device.value === 'touch' && this.place.value !== null && (
                    <TouchControls controls={parts.controls} place={this.place.value}
                        onDig={parts.onDig} onTouch={() => {
                            if (parts.chat.isOpen.value) {
                                parts.onCloseChat();
                            }
                        }} />
                )}
                <AboveTrees shown={parts.shown} onUse={parts.onUse} />
                <ScreenTrees shown={parts.shown} onUse={parts.onUse} />
                {this.hits.value > 0 && <div key={this.hits.value} class="hit-mark" aria-hidden />}
                <div class="corner">
                    <Board people={parts.people} />
                    <ol class="feed" aria-live="polite">
                        {this.feed.value.map(({ key, text }) => <li key={key}>{text}</li>)}
                    </ol>
                </div>
                <nav class="tools">
                    <Button quiet label={words.menu.open}
                        onClick={() => parts.actions.open('menu')}><Icon name="menu" /></Button>
                    <Button quiet label={words.chat.open} onClick={parts.onOpenChat}>
                        <Icon name="chat" />
                    </Button>
                </nav>
                <ChatBox chat={parts.chat} onClose={parts.onCloseChat} />
                <Menu page={this.menu.value} people={parts.people} chat={parts.chat}
                    actions={parts.actions} />
            </>
        );
    };
}

// Everything over the picture of the world: what scripts show, chat, board, feed, menu.
import { effect, signal } from '@preact/signals';
import { render, type JSX } from 'preact';

import type { Place, WidgetUse } from '../../core/bridge.ts';
import { Button, Icon } from '../../ui/parts.tsx';
import { words } from '../../ui/words.ts';
import type { Chat } from '../chat.ts';
import type { Controls } from '../controls.ts';
import { device } from '../device.ts';
import type { People } from '../people.ts';
import type { ShownTrees } from '../shown.ts';
import type { BuildMode } from '../build_mode.ts';
import type { Sounds } from '../sound.ts';
import type { AccountRights } from '../account_rights.ts';
import { Announcements } from './announcement.tsx';
import { Board } from './board.tsx';
import type { BuildBar } from './build.tsx';
import { Captions } from './captions.tsx';
import { ChatBox } from './chat_box.tsx';
import { Help, canBuild } from './help.tsx';
import type { Menu, MenuActions, MenuPage } from './menu.tsx';
import { type Files, FilesContext } from './picture.tsx';
import './screen.css';
import type { TouchControls } from './touch.tsx';
import { AboveTrees, ScreenTrees } from './widgets.tsx';

const FEED_MS = 6000;
const FEED_MAX = 5;

// Build mode and its bar, once they are loaded.
export interface LoadedBuild {
    mode: BuildMode;
    Bar: typeof BuildBar;
}

export interface ScreenParts {
    people: People;
    chat: Chat;
    rights: AccountRights;
    shown: ShownTrees;
    files: Files;
    sounds: Sounds;
    controls: Controls;
    onDig: (take: boolean) => void;
    onBuild: () => void; // build mode on or off
    onUse: (use: WidgetUse) => void;
    onOpenChat: () => void;
    onCloseChat: () => void;
    actions: MenuActions;
}

export class Screen {
    readonly isPlaying = signal(false);
    readonly place = signal<Place | null>(null);
    readonly build = signal<LoadedBuild | null>(null);
    readonly menu = signal<MenuPage>('closed');
    private readonly loadedMenu = signal<typeof Menu | null>(null); // once it was opened
    private readonly loadedTouch = signal<typeof TouchControls | null>(null); // once somebody touches the screen
    private readonly feed = signal<readonly { key: number; text: string }[]>([]);
    private readonly hits = signal(0); // how many marks were shown
    private nextKey = 1;

    constructor(root: HTMLElement, parts: ScreenParts) {
        render(<this.View {...parts} />, root);
        const stop = effect(() => {
            if (this.menu.value !== 'closed' && this.loadedMenu.value === null) {
                import('./menu.tsx').then((loaded) => {
                    stop();
                    this.loadedMenu.value = loaded.Menu;
                }, () => {
                    this.menu.value = 'closed';
                    this.tell(words.menu.notLoaded);
                });
            }
        });
        this.loadTouch();
    }

    private loadTouch(): void {
        const stop = effect(() => {
            if (device.value === 'touch' && this.loadedTouch.value === null) {
                import('./touch.tsx').then((loaded) => {
                    stop();
                    this.loadedTouch.value = loaded.TouchControls;
                }, () => this.tell(words.menu.notLoaded));
            }
        });
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
        const build = this.build.value;
        const LoadedMenu = this.loadedMenu.value;
        const LoadedTouch = this.loadedTouch.value;
        return (
            <>
                {LoadedTouch !== null && device.value === 'touch' && this.place.value !== null && (
                    <LoadedTouch controls={parts.controls} place={this.place.value}
                        onDig={parts.onDig} build={build?.mode ?? null} onTouch={() => {
                            if (parts.chat.isOpen.value) {
                                parts.onCloseChat();
                            }
                        }} />
                )}
                {this.place.value !== null && <Help place={this.place.value} />}
                <FilesContext.Provider value={parts.files}>
                    <AboveTrees shown={parts.shown} onUse={parts.onUse} />
                    <ScreenTrees shown={parts.shown} onUse={parts.onUse} />
                </FilesContext.Provider>
                {this.hits.value > 0 && <div key={this.hits.value} class="hit-mark" aria-hidden />}
                <div class="corner">
                    <Board people={parts.people} />
                    <ol class="feed" aria-live="polite">
                        {this.feed.value.map(({ key, text }) => <li key={key}>{text}</li>)}
                    </ol>
                </div>
                <Captions captions={parts.sounds.captions} />
                <Announcements chat={parts.chat} />
                <nav class="tools">
                    <Button quiet label={words.menu.open}
                        onClick={() => parts.actions.open('menu')}><Icon name="menu" /></Button>
                    <Button quiet label={words.chat.open} onClick={parts.onOpenChat}>
                        <Icon name="chat" />
                    </Button>
                    {this.place.value !== null && canBuild(this.place.value) && (
                        <Button quiet label={words.build.title}
                            pressed={build?.mode.isOpen.value === true} onClick={parts.onBuild}>
                            <Icon name="build" />
                        </Button>
                    )}
                </nav>
                {build !== null && <build.Bar mode={build.mode} onClose={parts.onBuild} />}
                <ChatBox chat={parts.chat} onClose={parts.onCloseChat} />
                {LoadedMenu !== null && <LoadedMenu page={this.menu.value} place={this.place.value}
                    people={parts.people} chat={parts.chat} rights={parts.rights}
                    actions={parts.actions} />}
            </>
        );
    };
}

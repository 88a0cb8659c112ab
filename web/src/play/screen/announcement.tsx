// What whoever runs the server says to everybody. It stands apart from the chat, where a place could write
// the same, and stays until it is closed or has been there long enough to be read.
import type { JSX } from 'preact';

import { Button } from '../../ui/parts.tsx';
import { words } from '../../ui/words.ts';
import type { Chat } from '../chat.ts';
import './announcement.css';

export function Announcements({ chat }: { chat: Chat }): JSX.Element {
    return (
        <div class="announcements" role="status" aria-label={words.chat.announcement}>
            {chat.announcements.value.map(({ key, text }) => (
                <section key={key} class="announcement">
                    <strong>{words.chat.announcement}</strong>
                    <p>{text}</p>
                    <Button quiet onClick={() => chat.closeAnnouncement(key)}>{words.menu.close}</Button>
                </section>
            ))}
        </div>
    );
}

// Beside a link for friends: whether anybody but this computer can open it.
import type { JSX } from 'preact';

import { session } from '../../site/session.ts';
import { words } from '../words_studio.ts';

const isLoopback = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);

export function LoopbackNote(): JSX.Element | null {
    const { hostname } = location;
    return isLoopback(hostname) ? <p class="wrong loopback" role="note">{words.loopbackLink(hostname, session.value?.shared_urls ?? [])}</p> : null;
}

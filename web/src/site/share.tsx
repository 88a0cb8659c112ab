// Handing a link to somebody: a field to copy from, the browser's own way to share, and a QR code.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { Dialog } from '../ui/parts.tsx';

import { makeQr, qrPath } from './qr.ts';
import { words } from './words_place.ts';

export function QrCode({ link }: { link: string }): JSX.Element | null {
    const rows = makeQr(link);
    if (rows === null) {
        return null;
    }
    const { path, size } = qrPath(rows);
    return (
        <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={words.qr(link)}
            shape-rendering="crispEdges"><path d={path} /></svg>
    );
}

// Pages without https have no clipboard; then the field is selected, to copy by hand.
async function copyFrom(field: HTMLInputElement): Promise<boolean> {
    field.select();
    try {
        await navigator.clipboard.writeText(field.value);
        return true;
    } catch {
        return false;
    }
}

export function CopyLink({ link, label }: { link: string; label: string }): JSX.Element {
    const field = useRef<HTMLInputElement>(null);
    const [said, setSaid] = useState('');
    const copy = async (): Promise<void> => {
        if (field.current !== null) {
            setSaid(await copyFrom(field.current) ? words.copied : words.copyByHand);
        }
    };
    return (
        <div class="copy">
            <input ref={field} readOnly value={link} aria-label={label} />
            <button type="button" class="button" onClick={() => void copy()}>{words.copy}</button>
            <p class="soft" role="status">{said}</p>
        </div>
    );
}

// The link of this place. Where the browser can share by itself, it does.
export function Share({ title }: { title: string }): JSX.Element {
    const [isOpen, setOpen] = useState(false);
    const link = location.origin + location.pathname;
    const share = async (): Promise<void> => {
        if (navigator.share === undefined) {
            setOpen(true);
            return;
        }
        await navigator.share({ title, url: link }).catch((cause: unknown) => {
            if (!(cause instanceof DOMException && cause.name === 'AbortError')) {
                setOpen(true);
            }
        });
    };
    return (
        <>
            <button type="button" class="button quiet" onClick={() => void share()}>{words.share}</button>
            {isOpen && <Dialog title={words.shareTitle} onClose={() => setOpen(false)}>
                <div class="room"><QrCode link={link} /><CopyLink link={link} label={words.link} /></div>
            </Dialog>}
        </>
    );
}

// The way into a private world, to show to friends.
export function RoomDialog({ code, close }: { code: string; close: () => void }): JSX.Element {
    const link = `${location.origin}/play/${encodeURIComponent(code)}`;
    return (
        <Dialog title={words.privateTitle} onClose={close}>
            <div class="room">
                <p>{words.privateHint}</p>
                <p class="big" aria-label={words.code}>{code}</p>
                <QrCode link={link} />
                <p class="soft">{words.qrHint}</p>
                <CopyLink link={link} label={words.link} />
                <a class="button play" href={link}>{words.enter}</a>
            </div>
        </Dialog>
    );
}

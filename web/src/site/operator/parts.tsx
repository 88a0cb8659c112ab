// What the operator's pages share: actions that ask once, what came of them, charts, and lists.
import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';

import { Dialog } from '../../ui/parts.tsx';
import { messageOf } from '../message.ts';
import { words } from '../words_operator.ts';

// What became of the last action of a part of a page.
export interface Said {
    text: string;
    isWrong: boolean;
}

export interface Acting {
    said: Said | null;
    // True: it was done.
    run: (act: () => Promise<string>) => Promise<boolean>;
}

export const reasonOf = messageOf;

export function useActing(): Acting {
    const [said, setSaid] = useState<Said | null>(null);
    const run = async (act: () => Promise<string>): Promise<boolean> => {
        try {
            setSaid({ text: await act(), isWrong: false });
            return true;
        } catch (cause) {
            setSaid({ text: reasonOf(cause), isWrong: true });
            return false;
        }
    };
    return { said, run };
}

export function Outcome({ said }: { said: Said | null }): JSX.Element {
    return said?.isWrong === true
        ? <p class="wrong" role="alert">{said.text}</p>
        : <p class="soft outcome" role="status">{said?.text ?? ''}</p>;
}

export interface AskFields {
    reason: string;
    minutes: string; // '': for good
}

// A button of something that cannot be taken back so easily: asks once, and says what will happen.
export function AskOnce({
    label, title, text, act, run, withReason = false, withMinutes = false, quiet = true, isReady = true,
}: {
    label: string; title: string; text: string; act: (fields: AskFields) => Promise<string>;
    run: Acting['run']; withReason?: boolean; withMinutes?: boolean; quiet?: boolean;
    isReady?: boolean; // false: something has to be filled in first
}): JSX.Element {
    const [isOpen, setOpen] = useState(false);
    const [wrong, setWrong] = useState('');
    const [isBusy, setBusy] = useState(false);
    const [fields, setFields] = useState<AskFields>({ reason: '', minutes: '1440' });
    const id = useId();
    const close = (): void => {
        setOpen(false);
        setWrong('');
    };
    const confirm = async (event: Event): Promise<void> => {
        event.preventDefault();
        setBusy(true);
        const isDone = await run(async () => {
            try {
                return await act(fields);
            } catch (cause) {
                setWrong(reasonOf(cause));
                throw cause;
            }
        });
        setBusy(false);
        if (isDone) {
            close();
        }
    };
    return (
        <>
            <button type="button" class={quiet ? 'button quiet' : 'button'} disabled={!isReady}
                onClick={() => setOpen(true)}>{label}</button>
            {isOpen && <Dialog title={title} onClose={close}>
                <form class="form" onSubmit={(event) => void confirm(event)}>
                    <p class="about">{text}</p>
                    {withReason && <>
                        <label for={`${id}-reason`}>{words.reason}</label>
                        <input id={`${id}-reason`} value={fields.reason} maxLength={120}
                            onInput={(event) => setFields({ ...fields, reason: event.currentTarget.value })} />
                    </>}
                    {withMinutes && <>
                        <label for={`${id}-minutes`}>{words.minutes}</label>
                        <select id={`${id}-minutes`} value={fields.minutes}
                            onChange={(event) => setFields({ ...fields, minutes: event.currentTarget.value })}>
                            {Object.entries(words.durations).map(([value, name]) =>
                                <option key={value} value={value}>{name}</option>)}
                        </select>
                    </>}
                    {wrong !== '' && <p class="wrong" role="alert">{wrong}</p>}
                    <div class="ways">
                        <button class="button danger" type="submit" disabled={isBusy}>{label}</button>
                        <button class="button quiet" type="button" onClick={close}>{words.cancel}</button>
                    </div>
                </form>
            </Dialog>}
        </>
    );
}

// The body of a ban or mute.
export function banBody(account: string, fields: AskFields): object {
    return {
        account, reason: fields.reason,
        ...(fields.minutes === '' ? {} : { minutes: Number(fields.minutes) }),
    };
}

const SECONDS_FIRST = 60; // of the width, while no more than that was seen

// At most the last ten minutes, the newest at the right; one number for each second.
export function Chart({ label, values, shown, small = false }: {
    label: string; values: readonly number[]; shown: (value: number) => string; small?: boolean;
}): JSX.Element {
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const top = most > 0 ? most : 1;
    const seconds = Math.max(values.length, SECONDS_FIRST);
    const points = values.map((value, at) =>
        `${seconds - values.length + at + 1},${(58 - 54 * value / top).toFixed(1)}`).join(' ');
    const now = values.at(-1) ?? 0;
    const svg = (
        <svg class={small ? 'spark' : 'live-chart'} viewBox={`0 0 ${seconds} 60`} preserveAspectRatio="none"
            role="img" aria-label={words.worlds.chart(label, shown(now), shown(most))}>
            <polyline points={points} fill="none" stroke="currentColor" stroke-width="2" vector-effect="non-scaling-stroke" />
        </svg>
    );
    return small ? svg : (
        <figure class="live-figure">
            <figcaption><span>{label}</span> <strong>{shown(now)}</strong></figcaption>
            {svg}
        </figure>
    );
}

// A table that can be scrolled sideways on a small screen, by keyboard too.
export function Table({ label, head, children }: {
    label: string; head: string[]; children: ComponentChildren;
}): JSX.Element {
    return (
        <div class="wide" tabIndex={0} role="region" aria-label={label}>
            <table class="worlds">
                <thead><tr>{head.map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
                <tbody>{children}</tbody>
            </table>
        </div>
    );
}

export function PersonLink({ account, children }: {
    account: string | null; children?: ComponentChildren;
}): JSX.Element {
    return account === null ? <span>{words.nobody}</span>
        : <a href={`/operator/people?who=${encodeURIComponent(account)}`}>{children ?? account}</a>;
}

// Forms that say what is wrong at the field it is about, and keep what was typed.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import { isDevelopment } from '../ui/faults.ts';

import { Failure } from './api.ts';
import { session } from './session.ts';
import { words as siteWords } from './words.ts';
import { words } from './words_account.ts';

export interface Field {
    name: string;
    label: string;
    hint?: string;
    type?: 'text' | 'password' | 'checkbox';
    isNumber?: boolean; // for keyboards on glass
    autocomplete?: string;
    optional?: boolean;
    max?: number; // letters
    first?: string; // what is there at first
    choices?: Record<string, string>; // one of them
    check?: (value: string) => string; // what is wrong with it; '': nothing
}

export type Values = Record<string, string>;
interface Wrong {
    field: string; // '': none of them
    text: string;
}
const NOTHING: Wrong = { field: '', text: '' };

function checkFields(fields: Field[], values: Values): Wrong {
    for (const { name, optional, check, type } of fields) {
        const value = values[name] ?? '';
        const missing = optional === true ? '' : type === 'checkbox' ? words.tick : words.needed;
        const text = value.trim() === '' ? missing : check?.(value) ?? '';
        if (text !== '') {
            return { field: name, text };
        }
    }
    return NOTHING;
}

// Every failure of the server as words for people, with when to try again.
export function sayFailure(cause: unknown): string {
    if (!(cause instanceof Failure)) {
        return String(cause);
    }
    return cause.retryAfter === 0 ? cause.message
        : `${cause.message.replace('; try again later', '')} ${words.tryIn(cause.retryAfter)}`;
}

function Input({ id, field, value, wrong, onInput }: {
    id: string; field: Field; value: string; wrong: string; onInput: (value: string) => void;
}): JSX.Element {
    const { name, label, hint, type = 'text', autocomplete, max, choices, isNumber } = field;
    const about = {
        id, name, 'aria-invalid': wrong !== '',
        'aria-describedby': `${hint === undefined ? '' : `${id}-hint `}${id}-wrong`,
    };
    const control = choices !== undefined
        ? <select {...about} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
            {Object.entries(choices).map(([key, text]) => <option key={key} value={key}>{text}</option>)}
        </select>
        : <input {...about} {...({ type } as { type: 'text' })} value={value} spellcheck={false}
            {...(isNumber === true ? { inputMode: 'numeric' as const } : {})}
            {...(autocomplete === undefined ? {} : { autocomplete })}
            {...(max === undefined ? {} : { maxLength: max })}
            {...(name === 'username' || name === 'code' ? { autocapitalize: 'none' as const } : {})}
            onInput={(event) => onInput(event.currentTarget.value)} />;
    const check = <label class="check">
        <input {...about} type="checkbox" checked={value !== ''}
            onChange={(event) => onInput(event.currentTarget.checked ? 'yes' : '')} />
        <span>{label}</span>
    </label>;
    return (
        <div class="entry">
            {type === 'checkbox' ? check : <><label for={id}>{label}</label>{control}</>}
            {hint !== undefined && <p id={`${id}-hint`} class="soft">{hint}</p>}
            <p id={`${id}-wrong`} class="wrong" role="alert">{wrong}</p>
        </div>
    );
}

// `at` says which field a failure is about, by its code; one that names none is said below.
export function Form({ name, fields, button, act, at = () => '', quiet = false, done = '', children }: {
    name: string; fields: Field[]; button: string; act: (values: Values) => Promise<void>;
    at?: (code: string, values: Values) => string; quiet?: boolean; done?: string;
    children?: ComponentChildren;
}): JSX.Element {
    const first = (): Values => Object.fromEntries(fields.map((each) => [each.name, each.first ?? '']));
    const [values, setValues] = useState<Values>(first);
    const [wrong, setWrong] = useState<Wrong>(NOTHING);
    const [state, setState] = useState<'idle' | 'busy' | 'done'>('idle');
    const form = useRef<HTMLFormElement>(null);
    const id = useId();
    useEffect(() => {
        if (wrong.field !== '') {
            (form.current?.elements.namedItem(wrong.field) as HTMLElement | null)?.focus();
        }
    }, [wrong]);
    const submit = async (event: Event): Promise<void> => {
        event.preventDefault();
        const early = checkFields(fields, values);
        setWrong(early);
        if (early.text !== '' || state === 'busy') {
            return;
        }
        setState('busy');
        try {
            await act(values);
            setState('done');
            setValues((now) => ({ // passwords and codes are not kept any longer than needed
                ...now, ...Object.fromEntries(fields.filter(({ type }) => type === 'password')
                    .map((each) => [each.name, ''])),
            }));
        } catch (cause) {
            setState('idle');
            setWrong({ field: cause instanceof Failure ? at(cause.code, values) : '', text: sayFailure(cause) });
        }
    };
    return (
        <form class="form" ref={form} data-form={name} noValidate onSubmit={(event) => void submit(event)}>
            {fields.map((field) => (
                <Input key={field.name} id={`${id}-${field.name}`} field={field}
                    value={values[field.name] ?? ''} wrong={wrong.field === field.name ? wrong.text : ''}
                    onInput={(value) => {
                        setValues((now) => ({ ...now, [field.name]: value }));
                        setWrong(NOTHING);
                        setState('idle');
                    }} />
            ))}
            {children}
            <button class={quiet ? 'button quiet' : 'button'} type="submit" disabled={state === 'busy'}>
                {button}
            </button>
            <p class="wrong" role="alert">{wrong.field === '' ? wrong.text : ''}</p>
            <p role="status">{state === 'done' ? done : ''}</p>
        </form>
    );
}

// A button that asks the server for something, and says below it if that failed.
export function Act({ text, label, act, quiet = true }: {
    text: string; label?: string; act: () => Promise<void>; quiet?: boolean;
}): JSX.Element {
    const [said, setSaid] = useState('');
    const [busy, setBusy] = useState(false);
    const press = async (): Promise<void> => {
        setBusy(true);
        await act().then(() => setSaid(''), (cause: unknown) => setSaid(sayFailure(cause)));
        setBusy(false);
    };
    return (
        <>
            <button type="button" class={quiet ? 'button quiet' : 'button'} disabled={busy}
                {...(label === undefined ? {} : { 'aria-label': label })}
                onClick={() => void press()}>{text}</button>
            {said !== '' && <span class="wrong" role="alert">{said}</span>}
        </>
    );
}

// Something to take along: shown whole, and copied where the browser lets pages do that. Over plain
// http it does not; then the text is selected.
export function Copied({ label, text, rows = 1 }: {
    label: string; text: string; rows?: number;
}): JSX.Element {
    const [said, setSaid] = useState('');
    const box = useRef<HTMLTextAreaElement>(null);
    const id = useId();
    const copy = async (): Promise<void> => {
        box.current?.focus();
        box.current?.select();
        try {
            await navigator.clipboard.writeText(text);
            setSaid(words.copied);
        } catch {
            setSaid(words.copyYourself);
        }
    };
    return (
        <div class="copied">
            <label for={id}>{label}</label>
            <textarea id={id} ref={box} readOnly rows={rows} value={text} />
            <button type="button" class="button quiet" onClick={() => void copy()}>{words.copy}</button>
            <p role="status">{said}</p>
        </div>
    );
}

// Beside a link that is handed to others. Null: they can open it.
export function LoopbackNote(): JSX.Element | null {
    return isDevelopment() ? <p class="wrong" role="note">{siteWords.loopback(session.value?.shared_urls ?? [])}</p> : null;
}

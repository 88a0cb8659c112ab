// The pupils of a class, for its teacher: a list of names becomes accounts with codes, which are printed
// and given out; a lost code is replaced; somebody leaves.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Failure, send } from './api.ts';
import { NOTHING, Question, Saying, messageOf, nameOf, pathOf, sorted, useAction } from './class_parts.tsx';
import type { ClassPeople, Person, Said } from './class_parts.tsx';
import { LoopbackNote } from './forms.tsx';
import { session } from './session.ts';
import { NAMES_AT_ONCE, words } from './words_class.ts';

interface Coded extends Person {
    code: string;
}

interface Fault {
    line: number;
    text: string;
    why: string;
}

const LETTERS_MAX = 32;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

interface Line {
    line: number;
    text: string;
}

function linesOf(text: string): Line[] {
    return text.split('\n')
        .map((each, index) => ({ line: index + 1, text: each.trim().replace(/\s+/g, ' ') }))
        .filter((each) => each.text !== '');
}

// What the server would refuse in any case, for all lines at once.
function faultsOf(lines: Line[]): Fault[] {
    const faults: Fault[] = [];
    for (const each of lines) {
        if ([...each.text].length > LETTERS_MAX) {
            faults.push({ ...each, why: words.wrongName.long });
        } else if (HIDDEN.test(each.text)) {
            faults.push({ ...each, why: words.wrongName.hidden });
        }
    }
    return faults;
}

// The server names the line in quotation marks.
function faultOf(lines: Line[], message: string): Fault[] {
    const named = /^“(.*)” is no name for a pupil: (.*)$/su.exec(message);
    const found = lines.find((each) => each.text === named?.[1]);
    return found === undefined ? [] : [{ ...found, why: named?.[2] ?? '' }];
}

// The page with the cards, in a window of its own, which must be opened before anything is waited for.
async function printCards(classId: string, body: object): Promise<void> {
    const sheet = open('', '_blank');
    if (sheet === null) {
        throw new Error(words.popup);
    }
    try {
        const answer = await fetch(`${pathOf(classId)}/cards`, {
            method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sandlot': '1' },
            body: JSON.stringify(body),
        });
        if (!answer.ok) {
            const { error } = await answer.json().catch(() => ({})) as { error?: { message?: string } };
            throw new Failure(answer.status, '', error?.message ?? `${answer.status}`,
                Number(answer.headers.get('Retry-After') ?? 0));
        }
        sheet.document.write(await answer.text());
        sheet.document.close();
    } catch (cause) {
        sheet.close();
        throw cause;
    }
}

// What address the cards show if this page is at one that only this computer has (class_cards.c).
function CardsNote(): JSX.Element {
    const urls = session.value?.shared_urls ?? [];
    return urls.length === 0 ? <LoopbackNote /> : urls.length === 1
        ? <p class="soft" role="note">{words.cardsShow(urls[0] ?? '')}</p>
        : <p class="wrong" role="note">{words.cardsFirst(urls)}</p>;
}

function Codes({ classId, pupils, done }: {
    classId: string; pupils: Coded[]; done: () => void;
}): JSX.Element {
    const { said, busy, act } = useAction();
    const heading = useRef<HTMLHeadingElement>(null);
    const [printed, setPrinted] = useState<Coded[] | null>(null);
    useEffect(() => heading.current?.focus(), [pupils]);
    useEffect(() => { // nobody can show them again
        const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
        if (printed !== pupils) {
            addEventListener('beforeunload', warn);
        }
        return () => removeEventListener('beforeunload', warn);
    }, [pupils, printed]);
    return (
        <div class="notice codes" role="region" aria-label={words.codes}>
            <h3 tabIndex={-1} ref={heading}>{words.codes}</h3>
            <p>{words.codesHint}</p>
            <CardsNote />
            <div class="ways">
                <button type="button" class="button" disabled={busy} onClick={() => act(async () => {
                    await printCards(classId, { codes: pupils.map((pupil) => pupil.code) });
                    setPrinted(pupils);
                    return '';
                })}>{words.printCards}</button>
                <button type="button" class="button quiet" onClick={done}>{words.done}</button>
            </div>
            <Saying said={said} />
            <ul class="codes-list">{pupils.map((pupil) => (
                <li key={pupil.username}><span>{nameOf(pupil)}</span> <code>{pupil.code}</code>
                    <span class="on-paper">{`${session.value?.shared_urls?.[0] ?? location.origin}/account`}</span></li>
            ))}</ul>
        </div>
    );
}

function AddPupils({ classId, added }: {
    classId: string; added: (pupils: Coded[]) => void;
}): JSX.Element {
    const [text, setText] = useState('');
    const [faults, setFaults] = useState<Fault[]>([]);
    const [said, setSaid] = useState<Said>(NOTHING);
    const [busy, setBusy] = useState(false);
    const refuse = (found: Fault[], message: string): void => {
        setFaults(found);
        setSaid({ ok: false, text: found.length > 0 ? words.wrongNames : message });
    };
    const make = async (event: Event): Promise<void> => {
        event.preventDefault();
        const lines = linesOf(text);
        const found = faultsOf(lines);
        if (lines.length === 0 || lines.length > NAMES_AT_ONCE || found.length > 0) {
            refuse(found, lines.length === 0 ? words.noNames : words.tooMany(lines.length));
            return;
        }
        setBusy(true);
        try {
            const made = await send<{ pupils: Coded[] }>('POST', `${pathOf(classId)}/pupils`,
                { names: lines.map((each) => each.text) });
            setText('');
            refuse([], '');
            added(made.pupils);
        } catch (cause) {
            refuse(faultOf(lines, messageOf(cause)), messageOf(cause));
        } finally {
            setBusy(false);
        }
    };
    return (
        <form class="form" onSubmit={(event) => void make(event)}>
            <label for="names">{words.names}</label>
            <textarea id="names" rows={8} value={text} spellcheck={false} autoComplete="off"
                aria-invalid={said.text !== ''} aria-describedby="names-said names-hint"
                onInput={(event) => { setText(event.currentTarget.value); refuse([], ''); }} />
            <div id="names-said" role="alert" class="wrong">
                {said.text !== '' && <p>{said.text}</p>}
                {faults.length > 0 && <ul>{faults.map((fault) => (
                    <li key={fault.line}>{words.inLine(fault.line)}: “{fault.text}” {fault.why}</li>
                ))}</ul>}
            </div>
            <p id="names-hint" class="soft">{words.namesHint}</p>
            <button class="button" type="submit" disabled={busy}>{busy ? words.adding : words.add}</button>
        </form>
    );
}

type Asking = { kind: 'code' | 'out'; pupil: Person } | { kind: 'all' } | null;

// `taken`: somebody has the codes that were shown.
export function Pupils({ one, again, taken }: { one: ClassPeople; again: () => void; taken: () => void }): JSX.Element {
    const { said, busy, act } = useAction();
    const [asking, setAsking] = useState<Asking>(null);
    const [codes, setCodes] = useState<Coded[]>([]);
    const base = pathOf(one.class_id);
    const at = (pupil: Person): string => `${base}/pupils/${encodeURIComponent(pupil.username ?? '')}`;
    const resetCode = (pupil: Person): void => act(async () => {
        setAsking(null);
        setCodes([await send<Coded>('POST', `${at(pupil)}/code`)]);
        return '';
    });
    const takeOut = (pupil: Person, accounts: 'keep' | 'delete'): void => act(async () => {
        setAsking(null);
        await send('DELETE', `${at(pupil)}?accounts=${accounts}`);
        again();
        return '';
    });
    const renewAll = (): void => act(async () => {
        setAsking(null);
        await printCards(one.class_id, { renew: true });
        return '';
    });
    return (
        <section>
            <h2>{words.pupils}</h2>
            {codes.length > 0 && <Codes classId={one.class_id} pupils={codes}
                done={() => { setCodes([]); taken(); }} />}
            {one.pupils.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label={words.pupils}>
                <table class="worlds">
                    <thead><tr><th scope="col">{words.name}</th><th scope="col">{words.account}</th>
                        <th scope="col"><span class="hidden">{words.actions}</span></th></tr></thead>
                    <tbody>{sorted(one.pupils).map((pupil) => (
                        <tr key={pupil.username}>
                            <th scope="row">{nameOf(pupil)}</th>
                            <td class="soft">{pupil.username}</td>
                            <td><div class="ways">
                                <button type="button" class="button quiet" disabled={busy}
                                    aria-label={words.newCodeOf(nameOf(pupil))}
                                    onClick={() => setAsking({ kind: 'code', pupil })}>{words.newCode}</button>
                                <button type="button" class="button quiet" disabled={busy}
                                    aria-label={words.takeOutOf(nameOf(pupil))}
                                    onClick={() => setAsking({ kind: 'out', pupil })}>{words.takeOut}</button>
                            </div></td>
                        </tr>
                    ))}</tbody>
                </table>
            </div>}
            <Saying said={said} />
            {one.pupils.length > 0 && <p><button type="button" class="button quiet" disabled={busy}
                onClick={() => setAsking({ kind: 'all' })}>{words.allNew}</button></p>}
            {codes.length === 0 && <CardsNote />}
            <h3>{words.addPupils}</h3>
            <AddPupils classId={one.class_id} added={(made) => { setCodes(made); again(); }} />
            {asking?.kind === 'code' && <Question text={words.newCodeSure(nameOf(asking.pupil))}
                onCancel={() => setAsking(null)}>
                <button type="button" class="button" onClick={() => resetCode(asking.pupil)}>{words.newCode}</button>
            </Question>}
            {asking?.kind === 'out' && <Question text={words.takeOutSure(nameOf(asking.pupil))}
                onCancel={() => setAsking(null)}>
                <button type="button" class="button" onClick={() => takeOut(asking.pupil, 'keep')}>
                    {words.keepAccount}</button>
                <button type="button" class="button danger" onClick={() => takeOut(asking.pupil, 'delete')}>
                    {words.deleteAccount}</button>
            </Question>}
            {asking?.kind === 'all' && <Question text={words.allNewSure} onCancel={() => setAsking(null)}>
                <CardsNote />
                <button type="button" class="button" onClick={renewAll}>{words.allNew}</button>
            </Question>}
        </section>
    );
}

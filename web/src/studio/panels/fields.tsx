// Fields of the inspector, one for each type of member. A value that differs among what is selected is shown
// as such, and typing sets it for all. What cannot be read stays in its field and is said below it.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';

import type { Member } from '../schema.ts';
import type { Parameters } from '../script_parameters.ts';
import { sum } from '../sums.ts';
import { words } from '../words_studio.ts';

export const MIXED = Symbol('mixed');

interface FieldProps {
    member: Member;
    value: unknown; // MIXED: they differ; of a vector each axis may be that
    label: string;
    describedBy: string;
    set: (value: unknown) => void; // of all that is selected
    setEach?: (change: (old: unknown) => unknown) => void; // what becomes of each one's own
}

const shown = (value: unknown): string => typeof value === 'number'
    ? String(Math.round(value * 10_000) / 10_000) : typeof value === 'string' ? value : '';

// A number, or a sum that gives one.
function NumberField({ value, label, low, high, whole, describedBy, set }: {
    value: unknown; label: string; low: number | undefined; high: number | undefined; whole: boolean;
    describedBy: string; set: (value: number) => void;
}): JSX.Element {
    const [typed, setTyped] = useState<string | null>(null);
    const [isWrong, setWrong] = useState(false);
    const commit = (text: string): void => {
        if (typed === null) {
            return;
        }
        const read = sum(text);
        const result = whole ? Math.round(read) : read;
        if (Number.isNaN(result) || low !== undefined && result < low || high !== undefined && result > high) {
            setWrong(text !== '');
            if (text === '') {
                setTyped(null);
            }
            return;
        }
        setTyped(null);
        setWrong(false);
        if (result !== value) {
            set(result);
        }
    };
    return (<>
        <input type="text" inputMode="decimal" autocomplete="off" aria-label={label} aria-invalid={isWrong}
            aria-describedby={describedBy} title={isWrong ? words.rangeOf(low, high) : label}
            value={typed ?? shown(value)} placeholder={value === MIXED ? words.mixed : ''}
            onInput={(event) => { setTyped(event.currentTarget.value); setWrong(false); }}
            onBlur={(event) => commit(event.currentTarget.value)}
            onKeyDown={(event) => {
                if (event.key === 'Enter') {
                    commit(event.currentTarget.value);
                } else if (event.key === 'Escape') {
                    setTyped(null);
                    setWrong(false);
                }
            }} />
        {isWrong && <span class="wrong number-wrong" role="alert">{words.notSet(words.rangeOf(low, high))}</span>}
    </>);
}

const AXES = ['x', 'y', 'z', 'w'] as const;

function VectorField({ member, value, label, describedBy, setEach }: FieldProps): JSX.Element {
    const isRotation = member.type === 'rotation';
    const numbers: readonly unknown[] = Array.isArray(value) ? value : isRotation && value !== MIXED ? [0, 0, 0] : [];
    const count = numbers.length === 4 ? 4 : 3;
    // Only that axis: several things keep what they have in the others.
    const setAxis = (axis: number, number: number): void => setEach?.((old) => {
        const own: readonly unknown[] = Array.isArray(old) && old.length === count ? old : [];
        return AXES.slice(0, count).map((_, i) => i === axis ? number : own[i] ?? 0);
    });
    return (
        <span class={`vector of-${count}`}>{AXES.slice(0, count).map((axis, i) => (
            <span key={axis} class={`axis ${axis}`}>
                <span aria-hidden="true">{axis}</span>
                <NumberField value={value === MIXED ? MIXED : numbers[i]} label={`${label} ${axis}`}
                    low={isRotation ? undefined : member.low} high={isRotation ? undefined : member.high}
                    whole={member.type === 'cells'} describedBy={describedBy}
                    set={(number) => setAxis(i, number)} />
            </span>
        ))}</span>
    );
}

function ColourField({ value, label, describedBy, set }: FieldProps): JSX.Element {
    const text = typeof value === 'string' ? value : '#a0a0a0';
    const [typed, setTyped] = useState<string | null>(null);
    const [isWrong, setWrong] = useState(false);
    const commit = (now: string): void => {
        const colour = /^#?([0-9a-f]{6})$/i.exec(now.trim())?.[1];
        setWrong(colour === undefined);
        if (colour === undefined) {
            return; // it stays, to be mended
        }
        setTyped(null);
        if (`#${colour.toLowerCase()}` !== value) {
            set(`#${colour.toLowerCase()}`);
        }
    };
    return (
        <span class="colour">
            <input type="color" aria-label={words.pickColour(label)} value={text}
                onChange={(event) => set(event.currentTarget.value)} />
            <input type="text" aria-label={label} aria-describedby={describedBy} aria-invalid={isWrong} spellcheck={false}
                value={typed ?? (value === MIXED ? '' : text)} placeholder={value === MIXED ? words.mixed : ''}
                onInput={(event) => { setTyped(event.currentTarget.value); setWrong(false); }}
                onBlur={(event) => { if (typed !== null) { commit(event.currentTarget.value); } }}
                onKeyDown={(event) => {
                    if (event.key === 'Enter') {
                        commit(event.currentTarget.value);
                    } else if (event.key === 'Escape') {
                        setTyped(null);
                        setWrong(false);
                    }
                }} />
            {isWrong && <span class="wrong number-wrong" role="alert">{words.notAColour}</span>}
        </span>
    );
}

// The files of the place that a member can name, by how their names end.
export const assetNames = signal<readonly string[]>([]);
const ASSET_LISTS: Record<string, string> = { texture: 'names-of-pictures', model: 'names-of-models' };
function AssetNames({ member }: { member: string }): JSX.Element {
    const wanted = member === 'model' ? /\.(?:glb|gltf)$/ : /\.(?:png|jpe?g)$/;
    return (
        <datalist id={ASSET_LISTS[member]}>{assetNames.value.filter((path) => wanted.test(path)).map((path) =>
            <option key={path} value={path.replace(/^assets\//, '')} />)}</datalist>
    );
}

function TextField({ member, value, label, describedBy, set, long = false }: FieldProps & { long?: boolean }): JSX.Element {
    const [typed, setTyped] = useState<string | null>(null);
    const commit = (text: string): void => {
        setTyped(null);
        if (text !== (typeof value === 'string' ? value : '')) {
            set(text);
        }
    };
    const own = {
        'aria-label': label, 'aria-describedby': describedBy, spellcheck: false, list: ASSET_LISTS[member.name],
        value: typed ?? (value === MIXED ? '' : shown(value)), placeholder: value === MIXED ? words.mixed : '',
    };
    return long
        ? <textarea {...own} rows={3} onInput={(event) => setTyped(event.currentTarget.value)}
            onBlur={(event) => { if (typed !== null) { commit(event.currentTarget.value); } }} />
        : <input type="text" {...own} onInput={(event) => setTyped(event.currentTarget.value)}
            onBlur={(event) => { if (typed !== null) { commit(event.currentTarget.value); } }}
            onKeyDown={(event) => { if (event.key === 'Enter') { commit(event.currentTarget.value); } }} />;
}

// Parameters of a script: a field for each that has a plain value, also for those that only the script names. Everything
// else as JSON.
export const scriptParameters = signal<Parameters>({});
function ParametersField({ value, label, describedBy, set }: FieldProps): JSX.Element {
    const own = typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Record<string, unknown>
        : value === undefined || value === null ? {} : null; // null: they differ, or it is none
    const record = own === null ? null : { ...scriptParameters.value, ...own };
    const isPlain = record !== null && Object.keys(record).length > 0 && Object.values(record).every((each) =>
        typeof each === 'number' || typeof each === 'string' || typeof each === 'boolean');
    if (!isPlain || record === null) {
        return <JsonField member={{} as Member} value={value} label={label} describedBy={describedBy} set={set} />;
    }
    return (
        <span class="parameters">{Object.entries(record).map(([name, each]) => (
            <label key={name}><span>{name}</span>
                {typeof each === 'boolean'
                    ? <input type="checkbox" aria-label={name} checked={each} onChange={(event) => set({ ...own, [name]: event.currentTarget.checked })} />
                    : typeof each === 'number'
                        ? <NumberField value={each} label={name} low={undefined} high={undefined} whole={false}
                            describedBy={describedBy} set={(number) => set({ ...own, [name]: number })} />
                        : <TextField member={{} as Member} value={each} label={name} describedBy={describedBy}
                            set={(text) => set({ ...own, [name]: text })} />}
            </label>
        ))}</span>
    );
}

// Lists and objects, as they are in the file.
function JsonField({ value, label, describedBy, set }: FieldProps): JSX.Element {
    const text = value === MIXED || value === undefined || value === null ? '' : JSON.stringify(value, null, 1);
    const [typed, setTyped] = useState<string | null>(null);
    const [said, setSaid] = useState('');
    useEffect(() => setSaid(''), [text]);
    const commit = (now: string): void => {
        try {
            const read = now.trim() === '' ? null : JSON.parse(now) as unknown;
            setTyped(null);
            setSaid('');
            if (JSON.stringify(read) !== JSON.stringify(value ?? null)) {
                set(read);
            }
        } catch {
            setSaid(words.notJson);
        }
    };
    return (
        <>
            <textarea rows={Math.min(6, Math.max(2, text.split('\n').length))} class="code" spellcheck={false}
                aria-label={label} aria-describedby={describedBy} aria-invalid={said !== ''}
                placeholder={value === MIXED ? words.mixed : ''} value={typed ?? text}
                onInput={(event) => setTyped(event.currentTarget.value)}
                onBlur={(event) => { if (typed !== null) { commit(event.currentTarget.value); } }} />
            {said !== '' && <span class="wrong" role="alert">{said}</span>}
        </>
    );
}

function TagsField({ value, label, describedBy, set }: FieldProps): JSX.Element {
    const tags = Array.isArray(value) ? value as string[] : [];
    return <TextField member={{} as Member} label={label} describedBy={describedBy}
        value={value === MIXED ? MIXED : tags.join(', ')}
        set={(text) => {
            const all = [...new Set(String(text).split(',').map((tag) => tag.trim()).filter((tag) => tag !== ''))];
            set(all.length === 0 ? null : all);
        }} />;
}

function Control(props: FieldProps): JSX.Element {
    const { member, value, label, describedBy, set } = props;
    switch (member.type) {
        case 'boolean':
            return <input type="checkbox" aria-label={label} aria-describedby={describedBy} checked={value === true}
                ref={(box) => { if (box !== null) { box.indeterminate = value === MIXED; } }}
                onChange={(event) => set(event.currentTarget.checked)} />;
        case 'integer':
        case 'number':
            return <NumberField value={value} label={label} low={member.low} high={member.high}
                whole={member.type === 'integer'} describedBy={describedBy} set={set} />;
        case 'vector': case 'cells': case 'rotation': return <VectorField {...props} />;
        case 'colour': return <ColourField {...props} />;
        case 'choice':
            return (
                <select aria-label={label} aria-describedby={describedBy} value={value === MIXED ? '' : String(value)}
                    onChange={(event) => set(event.currentTarget.value)}>
                    {value === MIXED && <option value="">{words.mixed}</option>}
                    {(member.choices ?? []).map((each) => <option key={each} value={each}>{words.choices[each] ?? each}</option>)}
                </select>
            );
        case 'text': return <><TextField {...props} />{ASSET_LISTS[member.name] !== undefined && <AssetNames member={member.name} />}</>;
        case 'texts': return <TagsField {...props} />;
        case 'json': return member.name === 'parameters' ? <ParametersField {...props} /> : <JsonField {...props} />;
        default: return <JsonField {...props} />;
    }
}

// Without what it is in: "transform.position" is "Position".
export function labelOf(member: Member): string {
    const named = words.members[member.name] ?? member.name.split('.').at(-1) ?? member.name;
    const own = member.unit === 'ms' ? named.replace(/Ms$/, '') : named;
    const spaced = own.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
    return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

const VECTORS = new Set(['vector', 'cells', 'rotation']);

// What a field shows of several values: the one that they all have; of vectors that of each axis.
export function common({ type }: Member, values: readonly unknown[]): unknown {
    const [first, ...rest] = values;
    if (rest.every((value) => JSON.stringify(value) === JSON.stringify(first))) {
        return first;
    }
    return VECTORS.has(type) && Array.isArray(first) && rest.every((value) => Array.isArray(value) && value.length === first.length)
        ? first.map((each: unknown, i) => rest.every((value) => (value as unknown[])[i] === each) ? each : MIXED) : MIXED;
}

export function Field({ member, value, disabled, set, setEach }: {
    member: Member; value: unknown; disabled: boolean; set: FieldProps['set']; setEach: NonNullable<FieldProps['setEach']>;
}): JSX.Element {
    const id = useId();
    const label = labelOf(member);
    const isChanged = value !== MIXED && !isSame(value, member.default) && !member.required;
    return (
        <fieldset class={`member type-${member.type}`} disabled={disabled || !member.can_set}>
            <legend class="hidden">{label}</legend>
            <span class="legend" title={member.help} aria-hidden="true">{label}
                {member.unit !== '' && <span class="unit"> {words.units[member.unit] ?? member.unit}</span>}</span>
            <Control member={member} value={value} label={label} describedBy={id} set={set} setEach={setEach} />
            {isChanged && member.can_set && <button type="button" class="reset" title={words.resetTo}
                aria-label={words.resetMember(label)} onClick={() => set(null)}>↺</button>}
            <span id={id} class="help">{member.help}</span>
        </fieldset>
    );
}

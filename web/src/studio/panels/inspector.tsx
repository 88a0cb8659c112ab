// The members of what is selected, made from the schema of the server; of the place itself if nothing is.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

import { TYPES, type Op } from '../document.ts';
import { valueOf, type Member } from '../schema.ts';
import { literalParameters } from '../script_parameters.ts';
import type { Studio } from '../state.ts';
import { words } from '../words_studio.ts';
import { CommandButton } from './toolbar.tsx';
import { Field, assetNames, common, labelOf, scriptParameters } from './fields.tsx';

// Where a member is shown. What is named by no section comes last.
const SECTIONS: readonly [string, RegExp][] = [
    ['basic', /^(name|type|enabled|team)$/],
    ['transform', /^transform\./],
    ['shape', /^shape\./],
    ['look', /^(colour|material|transparency|visible|glow|texture|model)$/],
    ['behaviour', /^(anchored|trigger|ghost|ladder|bounce|damage|conveyor|serverOnly)$/],
    ['script', /^(scriptRef\.path|scriptPath|parameters|attributes|tags)$/],
    ['motion', /^motion\./],
    ['npc', /^npc\./],
    ['place', /^(name|respawnMs|limits\.players|permissions\..*)$/],
    ['character', /^character\./],
    ['limits', /^limits\./],
    ['technical', /^(tickRate|snapshotRate|source|actions|contexts)$/],
    ['lists', /^(catalogue|weapons|voxelKinds|spells)$/],
];
const HIDDEN = /^(id|parent|format|scriptRef\.codeHash|motion\.segments)$/;
const CLOSED = new Set(['motion', 'npc', 'character', 'limits', 'technical', 'lists', 'more']);

// What has no use for something of that type.
function isOf(member: Member, type: string): boolean {
    if (member.name.startsWith('npc.')) {
        return type === 'npc';
    }
    if (type === 'spawn' || type === 'group') {
        return /^(name|type|team|enabled|transform\.|tags|attributes)/.test(member.name) &&
            (member.name !== 'team' || type === 'spawn');
    }
    return member.name !== 'team';
}

function sectionsOf(members: readonly Member[], isPlace: boolean): [string, Member[]][] {
    const left = new Set(members.filter(({ name }) => !HIDDEN.test(name)));
    const found: [string, Member[]][] = [];
    for (const [section, pattern] of SECTIONS) {
        if (isPlace === ['place', 'character', 'limits', 'technical', 'lists'].includes(section)) {
            const own = [...left].filter(({ name }) => pattern.test(name));
            own.forEach((member) => left.delete(member));
            if (own.length > 0) {
                found.push([section, own]);
            }
        }
    }
    return left.size === 0 ? found : [...found, ['more', [...left]]];
}

// The same for all, or what becomes of each one's own.
type To = { value: unknown } | { change: (old: unknown) => unknown };

function Section({ studio, name, isOpen, members, records, set }: {
    studio: Studio; name: string; isOpen: boolean; members: readonly Member[]; records: readonly Record<string, unknown>[];
    set: (member: Member, to: To) => void;
}): JSX.Element {
    return (
        <details class="section" open={isOpen}>
            <summary>{words.sections[name] ?? name}</summary>
            {members.map((member) => {
                const value = common(member, records.map((record) => valueOf(record, member)));
                return <Field key={member.name} member={member} value={value} disabled={!studio.canWrite()}
                    set={(now) => set(member, { value: now })} setEach={(change) => set(member, { change })} />;
            })}
        </details>
    );
}

export function Inspector({ studio }: { studio: Studio }): JSX.Element {
    const [filter, setFilter] = useState('');
    const ids = studio.selection.value;
    studio.changed.value;
    studio.configured.value;
    useEffect(() => { assetNames.value = studio.document.files().map(({ path }) => path).filter((path) => path.startsWith('assets/')); },
        [studio.filed.value]);
    const isPlace = ids.length === 0;
    const records = isPlace ? [studio.document.settings()] : ids.slice(0, 500).map((id) => studio.document.entity(id));
    const types = new Set(records.map((record) => String(record.type ?? 'part')));
    const members = useMemo(() => studio.schema.kinds[isPlace ? 'settings' : 'entity'], [isPlace]);
    const wanted = members.filter((member) => isPlace || [...types].every((type) => isOf(member, type)))
        .filter((member) => filter === '' || `${member.name} ${labelOf(member)}`.toLowerCase().includes(filter.toLowerCase()));
    const set = (member: Member, to: To): void => {
        const { document } = studio;
        const all = isPlace ? [0] : [...ids];
        const of = { op: 'set', member: member.name, kind: isPlace ? 'settings' : 'entity' } as const;
        const op: Op = 'value' in to ? { ...of, ids: all, value: to.value } : {
            ...of, values: all.map((id) => [id, to.change(valueOf(isPlace ? document.settings() : document.entity(id), member))]),
        };
        document.edit(words.steps.set(labelOf(member)), [op]);
    };
    const only = ids.length === 1 ? records[0] : undefined;
    const scripts = new Set(records.map((record) =>
        String((record.scriptRef as { path?: string } | undefined)?.path ?? (isPlace ? '' : record.scriptPath ?? ''))));
    const script = scripts.size === 1 ? [...scripts][0] ?? '' : '';
    const sourceHash = script === '' ? null : studio.files.hashOf(script);
    useEffect(() => {
        let isGone = false;
        scriptParameters.value = {};
        if (sourceHash !== null) {
            studio.files.readHash(sourceHash).then((bytes) => {
                scriptParameters.value = isGone ? scriptParameters.value : literalParameters(new TextDecoder().decode(bytes));
            }, () => undefined); // then there are those of the thing itself
        }
        return () => { isGone = true; };
    }, [sourceHash]);
    const title = isPlace ? words.thePlace
        : only !== undefined ? studio.document.name(ids[0] ?? 0) || words.types[TYPES[studio.rows.get(ids[0] ?? 0)?.type ?? 0] ?? 'part']
            : words.selectedCount(ids.length);
    return (
        <aside class="inspector" aria-label={words.inspector}>
            <header><h2>{title}</h2>
                {only !== undefined && <span class="soft">{words.types[String(only.type ?? 'part')]}</span>}
                {!isPlace && <span class="acts">
                    <CommandButton studio={studio} id="focus" sign="all" />
                    <CommandButton studio={studio} id="duplicate" sign="duplicate" disabled={!studio.canWrite()} />
                    <CommandButton studio={studio} id="delete" sign="delete" disabled={!studio.canWrite()} /></span>}</header>
            <input type="search" class="filter" placeholder={words.filterMembers} aria-label={words.filterMembers}
                value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
            {script !== '' && only !== undefined && <button type="button" class="open-script" onClick={() => studio.openScript(script)}>
                {words.openScript(script)}</button>}
            <div class="members">{sectionsOf(wanted, isPlace).map(([name, own]) =>
                <Section key={`${isPlace} ${name}`} studio={studio} name={name} isOpen={filter !== '' || !CLOSED.has(name)} members={own} records={records} set={set} />)}</div>
        </aside>
    );
}

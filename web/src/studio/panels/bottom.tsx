// Below the picture: problems, the console, files, and what was done.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { KIND, type Problem, type Step } from '../document.ts';
import { consoleLog } from '../play/console.ts';
import { ConsoleList } from '../play/console_list.tsx';
import { SCRIPT } from '../script_file.ts';
import type { Panel, Studio } from '../state.ts';
import { words } from '../words_studio.ts';
import { Assets } from './assets.tsx';

const PANELS: readonly Panel[] = ['problems', 'console', 'assets', 'history'];
const SHOWN_LINES = 300;

function showProblem(studio: Studio, problem: Problem): void {
    studio.open.value = null;
    if (problem.kind === KIND.entity && problem.id !== 0) {
        studio.select([problem.id]);
        studio.view?.focus([problem.id]);
    } else {
        studio.select([]);
    }
    studio.showsInspector.value = true;
}

function whereOf(studio: Studio, { kind, id, list, index, member }: Problem): string {
    const own = kind === KIND.entity && id !== 0 ? studio.document.name(id) || `#${id}`
        : kind === KIND.terrain ? words.terrainBox(index + 1) : list === '' ? words.thePlace : `${list} ${index + 1}`;
    return member === '' ? own : `${own} · ${member}`;
}

function Problems({ studio }: { studio: Studio }): JSX.Element {
    const problems = studio.problems.value;
    const { blocked } = studio.link;
    const faults = [...studio.faults.value].flatMap(([path, all]) => all.map((each) => [path, each] as const));
    return (
        <ul class="lines" aria-label={words.panels.problems}>
            {blocked.value !== null && <li class="error">
                <span>{words.blocked(blocked.value.file, blocked.value.line, blocked.value.message)}</span></li>}
            {problems.map((problem, i) => (
                <li key={i} class="error"><button type="button" onClick={() => showProblem(studio, problem)}>
                    <strong>{whereOf(studio, problem)}</strong> {problem.message}</button></li>
            ))}
            {faults.map(([path, { level, line, message }], i) => (
                <li key={`${path} ${i}`} class={level}>
                    <button type="button" onClick={() => { if (SCRIPT.test(path)) { studio.openScript(path, line); } else { studio.panel.value = 'assets'; } }}>
                        <strong>{line > 0 ? `${path}:${line}` : path}</strong> {message}</button></li>
            ))}
            {problems.length === 0 && faults.length === 0 && blocked.value === null && <li class="soft">{words.noProblems}</li>}
        </ul>
    );
}

function History({ studio }: { studio: Studio }): JSX.Element {
    studio.stepped.value;
    const names = new Map(studio.link.editors.value.map(({ editor, name }) => [editor, name]));
    const { history } = studio.document;
    const steps = history.filter(({ seq, step }) => seq === step).slice(-SHOWN_LINES).toReversed();
    const undone = new Set(history.map((step) => step.undone));
    const labels = new Map(history.map((step) => [step.seq, step]));
    // What an undo took back; an undo of an undo did it again.
    const said = (step: Step): string => {
        let at = step;
        let times = 0;
        for (let before = labels.get(at.undone); before !== undefined && before.seq < at.seq; before = labels.get(at.undone)) {
            at = before;
            times += 1;
        }
        return times === 0 ? step.label : times % 2 === 1 ? words.undidStep(at.label) : words.redidStep(at.label);
    };
    // Who made a step and is not here any more is in the log of the server, by the number of the step.
    const [makers, setMakers] = useState<ReadonlyMap<number, string>>(new Map());
    const isUnknown = ({ seq, editor }: Step): boolean =>
        editor !== 0 && editor !== studio.document.editor && !names.has(editor) && !makers.has(seq);
    const firstUnknown = steps.findLast(isUnknown)?.seq; // the newest comes first
    useEffect(() => {
        if (firstUnknown !== undefined) {
            studio.link.makersFrom(firstUnknown).then(
                (found) => setMakers(new Map([...steps.map(({ seq }) => [seq, ''] as const), ...makers, ...found])),
                () => { /* they stay unknown until the next step */ });
        }
    }, [firstUnknown]);
    const nameOf = ({ seq, editor }: Step): string =>
        editor === studio.document.editor ? words.byYou
            : editor === 0 ? words.byFiles : makers.get(seq) || names.get(editor) || words.bySomebody;
    return (
        <ol class="lines" aria-label={words.panels.history}>
            {steps.map((step) => ({ ...step, said: said(step), name: nameOf(step) })).map(({ seq, name, said: text, ms }) => (
                <li key={seq} class={undone.has(seq) ? 'undone' : ''}>
                    <time class="where" dateTime={new Date(ms).toISOString()}>{words.clock(ms)}</time>{' '}
                    <span>{text}</span>{' '}
                    <span class="soft">{name}</span>
                </li>
            ))}
            {steps.length === 0 && <li class="soft">{words.noHistory}</li>}
        </ol>
    );
}

export function Bottom({ studio }: { studio: Studio }): JSX.Element {
    const now = studio.panel.value;
    const [height, setHeight] = useState(200);
    const problems = studio.problemCount.value;
    const warnings = studio.warningCount.value;
    const resize = (event: PointerEvent): void => {
        const from = event.clientY + height;
        const move = (at: PointerEvent): void => setHeight(Math.max(96, Math.min(innerHeight * 0.6, from - at.clientY)));
        const end = (): void => window.removeEventListener('pointermove', move);
        window.addEventListener('pointermove', move);
        window.addEventListener('pointerup', end, { once: true });
    };
    return (
        <section class="bottom" aria-label={words.bottom}>
            {now !== null && <div class="grip" onPointerDown={resize} aria-hidden="true" />}
            <div class="tabs" role="tablist" aria-label={words.bottom}>
                {PANELS.map((panel) => (
                    <button key={panel} type="button" role="tab" id={`tab-${panel}`} aria-selected={now === panel}
                        aria-controls="bottom-panel" tabIndex={now === panel || now === null && panel === 'problems' ? 0 : -1}
                        onKeyDown={(event) => {
                            const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
                            if (by !== 0) {
                                const next = PANELS[(PANELS.indexOf(panel) + by + PANELS.length) % PANELS.length] ?? panel;
                                studio.panel.value = next;
                                document.getElementById(`tab-${next}`)?.focus();
                            }
                        }}
                        onClick={() => { studio.panel.value = now === panel ? null : panel; }}>
                        {words.panels[panel]}
                        {panel === 'problems' && problems > 0 && <span class="badge" title={words.problemBadge(problems)}>{problems}</span>}
                        {panel === 'problems' && warnings > 0 && <span class="badge warning" title={words.warningBadge(warnings)}>{warnings}</span>}
                    </button>
                ))}
            </div>
            <div id="bottom-panel" role="tabpanel" aria-labelledby={`tab-${now ?? 'problems'}`} hidden={now === null}
                tabIndex={0} style={{ height: `${height}px` }}>
                {now === 'problems' && <Problems studio={studio} />}
                {now === 'console' && <ConsoleList log={consoleLog} onOpen={(path, line) => studio.openScript(path, line)} />}
                {now === 'assets' && <Assets studio={studio} />}
                {now === 'history' && <History studio={studio} />}
            </div>
        </section>
    );
}

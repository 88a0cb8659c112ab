// The console as a list. Who stands at its end sees what comes; who has scrolled up is left there.
import { useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { Button } from '../../ui/parts.tsx';
import type { ConsoleLine, ConsoleLog } from './console.ts';
import './play.css';
import { words } from './words_play.ts';

const END_PX = 24;
const SHOWN_MAX = 200; // rows in the document

function Line({ line, onOpen }: { line: ConsoleLine; onOpen: ((path: string, line: number) => void) | undefined }): JSX.Element {
    const text = <><span class="console-side">{words.sides[line.side]}</span> {line.text}
        {line.count > 1 && <span class="console-count">{words.times(line.count)}</span>}</>;
    return (
        <li class={`console-line ${line.level}`}>
            {line.file !== '' && onOpen !== undefined
                ? <button type="button" title={words.open(line.file, line.line)}
                    onClick={() => onOpen(line.file, line.line)}>{text}</button>
                : <span>{text}</span>}
        </li>
    );
}

export function ConsoleList({ log, onOpen }: {
    log: ConsoleLog; onOpen?: ((path: string, line: number) => void) | undefined;
}): JSX.Element {
    const list = useRef<HTMLOListElement>(null);
    const isAtEnd = useRef(true);
    const shown = useSignal(log.lines.value);
    useSignalEffect(() => {
        const element = list.current;
        isAtEnd.current = element === null || element.scrollHeight - element.scrollTop - element.clientHeight < END_PX;
        shown.value = log.lines.value;
    });
    useLayoutEffect(() => {
        if (isAtEnd.current && list.current !== null) {
            list.current.scrollTop = list.current.scrollHeight;
        }
    }, [shown.value]);
    return (
        <div class="console">
            <div class="console-head"><strong>{words.console}</strong>
                <Button quiet onClick={() => log.clear()}>{words.clear}</Button></div>
            {shown.value.length === 0 && <p class="console-empty">{words.silent}</p>}
            <div role="log" aria-label={words.console} class="console-rows">
                <ol ref={list} class="console-list" tabIndex={0}>
                    {shown.value.slice(-SHOWN_MAX).map((line) => <Line key={line.key} line={line} onOpen={onOpen} />)}
                </ol>
            </div>
        </div>
    );
}

// The numbers of scripts for the studio's status bar: what they take while the place is played, and how
// many wait to be compiled.
import { type Signal, signal } from '@preact/signals';
import type { JSX } from 'preact';

import type { WorldCosts } from '../../core/bridge.ts';
import type { ScriptSystemStats } from './script_compiler.ts';
import { words } from './words_script.ts';

export interface ScriptStats {
    compiler: ScriptSystemStats | null;
    play: PlayCosts | null;
}

// Of the world that is played, here or on the server.
export interface PlayCosts {
    execMs: number; // of all scripts in one tick
    costs: (Pick<WorldCosts, 'pending' | 'parametersFailed'> & { entities: { entity: number; path: string; ms: number; calls: number }[] }) | null;
}

export const scriptStats: Signal<ScriptStats> = signal<ScriptStats>({ compiler: null, play: null });

// What the document calls getScriptSystemStats(): of the world that is played, and of compiling.
export function getScriptSystemStats(): {
    averageExecutionMs: number; pendingCompiles: number; compiles: number; averageCompileMs: number;
    invalidParameters: number; entities: { entity: number; path: string; ms: number; calls: number }[];
} {
    const { compiler, play } = scriptStats.value;
    return {
        averageExecutionMs: play?.execMs ?? compiler?.averageExecutionMs ?? 0,
        pendingCompiles: (compiler?.pendingCompiles ?? 0) + (play?.costs?.pending ?? 0),
        compiles: compiler?.compiles ?? 0,
        averageCompileMs: compiler?.averageCompileMs ?? 0,
        invalidParameters: (compiler?.invalidParameters.length ?? 0) + (play?.costs?.parametersFailed ?? 0),
        entities: play?.costs?.entities ?? [],
    };
}

export function ScriptStatus(): JSX.Element {
    const stats = getScriptSystemStats();
    return (
        <span class="script-status">
            {scriptStats.value.play !== null &&
                <span title={words.status.executionHelp}>{words.status.execution(stats.averageExecutionMs)}</span>}
            <span title={words.status.pendingHelp}>{words.status.pending(stats.pendingCompiles)}</span>
            {stats.invalidParameters > 0 && <span class="wrong">{words.status.parameters(stats.invalidParameters)}</span>}
        </span>
    );
}

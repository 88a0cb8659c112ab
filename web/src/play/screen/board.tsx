// The board: who is here with what scripts count of them (leaderstats), by team.
import type { JSX } from 'preact';

import { words } from '../../ui/words.ts';
import type { People, Person } from '../people.ts';

const NAMES_MAX = 12;

const number = (value: number | undefined): string =>
    value === undefined ? '' : Number.isInteger(value) ? String(value) : value.toFixed(1);

function byScore(column: string | undefined): (a: Person, b: Person) => number {
    return (a, b) => (column === undefined ? 0
        : (b.stats.get(column) ?? -Infinity) - (a.stats.get(column) ?? -Infinity)) ||
        a.name.localeCompare(b.name);
}

export function Board({ people }: { people: People }): JSX.Element | null {
    const columns = people.columns.value;
    const everybody = [...people.list.value.values()];
    const teams = [...new Set(everybody.map(({ team }) => team))].sort();
    if (columns.length === 0 && teams.every((team) => team === '')) {
        return null;
    }
    return (
        <table id="board" aria-label={words.board.label}>
            <thead><tr>
                <th scope="col">{words.board.name}</th>
                {columns.map((column) => <th key={column} scope="col">{column}</th>)}
            </tr></thead>
            {teams.map((team) => (
                <tbody key={team}>
                    {teams.length > 1 && (
                        <tr class="team"><th scope="rowgroup" colSpan={columns.length + 1}>
                            {team === '' ? words.board.noTeam : team}
                        </th></tr>
                    )}
                    {everybody.filter((person) => person.team === team).sort(byScore(columns[0]))
                        .slice(0, NAMES_MAX).map((person) => (
                            <tr key={person.player}
                                class={person.player === people.own.value ? 'own' : ''}>
                                <th scope="row">{person.name}</th>
                                {columns.map((column) => (
                                    <td key={column} data-column={column}>{number(person.stats.get(column))}</td>
                                ))}
                            </tr>
                        ))}
                </tbody>
            ))}
        </table>
    );
}

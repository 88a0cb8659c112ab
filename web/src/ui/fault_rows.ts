// The newest faults as rows of a list. Equal ones are shown once, with a count.
import type { Fault } from '../core/bridge.ts';

const SHOWN_MAX = 5;

const rows = new Map<string, { count: number; item: HTMLLIElement }>();

export function showFault(list: HTMLOListElement, fault: Fault): void {
    const text = fault.message.startsWith(`${fault.file}:`)
        ? fault.message : `${fault.file}:${fault.line}: ${fault.message}`;
    const row = rows.get(text) ?? { count: 0, item: document.createElement('li') };
    row.count += 1;
    row.item.textContent = row.count === 1 ? text : `${text} (${row.count}×)`;
    rows.delete(text); // the newest stand last
    rows.set(text, row);
    list.append(row.item);
    for (const [oldest, { item }] of rows) {
        if (rows.size <= SHOWN_MAX) {
            break;
        }
        rows.delete(oldest);
        item.remove();
    }
    list.hidden = false;
}

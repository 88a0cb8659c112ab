// Faults of client scripts, for their creators: shown only on the creator's own machine, because
// players can do nothing about them. How they are shown is fetched with the first one.
import type { Fault } from '../core/bridge.ts';

const KEPT_MAX = 50;

// A world that gives everybody a ticket runs on this machine, in development.
export const isDevelopment = (): boolean =>
    /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

export class FaultList {
    private readonly list: HTMLOListElement;
    private readonly kept: Fault[] = [];

    constructor(list: HTMLOListElement) {
        this.list = list;
    }

    newest(): Fault[] {
        return [...this.kept];
    }

    add(fault: Fault): void {
        this.kept.push(fault);
        this.kept.splice(0, this.kept.length - KEPT_MAX);
        if (isDevelopment()) {
            void import('./fault_rows.ts').then(({ showFault }) => showFault(this.list, fault));
        }
    }
}

// What was done to a place before this page was loaded, as the server's log has it.
const PAGE_ROWS = 200; // the most that the server gives at once
const PAGES = 10; // a step of undo may be several rows, and 1,000 steps are to be there

export interface PastRow {
    seq: number;
    editor: number;
    label: string;
    undone: number;
}

export interface PastPage {
    ops: (PastRow & { time: string })[];
    next: number | null;
}

// The newest rows up to `seq`, the oldest first.
export async function readPast(seq: number, readPage: (from: number, limit: number) => Promise<PastPage>):
Promise<(PastRow & { ms: number })[]> {
    const ops: PastPage['ops'] = [];
    for (let from: number | null = Math.max(0, seq - PAGES * PAGE_ROWS), page = 0; from !== null && from < seq && page < PAGES; page++) {
        const got: PastPage = await readPage(from, PAGE_ROWS);
        ops.push(...got.ops);
        from = got.next;
    }
    return ops.filter((each) => each.seq <= seq).map(({ time, ...row }) => ({ ...row, ms: Date.parse(time) }));
}

// Which files differ between two revisions of a place.
export interface RevisionFile {
    path: string;
    bytes: number;
    hash: string;
}

export interface FileChange {
    path: string;
    kind: 'added' | 'removed' | 'changed';
    before: number | null; // bytes
    after: number | null;
}

export function compareFiles(from: RevisionFile[], to: RevisionFile[]): FileChange[] {
    const old = new Map(from.map((file) => [file.path, file]));
    const now = new Map(to.map((file) => [file.path, file]));
    const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
    return paths.flatMap((path) => {
        const [before, after] = [old.get(path), now.get(path)];
        if (before !== undefined && after !== undefined && before.hash === after.hash) {
            return [];
        }
        const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
        return [{ path, kind, before: before?.bytes ?? null, after: after?.bytes ?? null }];
    });
}

// Files that are dropped on the page: a place's folder, or some scripts of it, by their paths in the
// place. Only what a check of scripts reads is opened.
const FILES_MAX = 512; // as many as core.wasm takes
const BYTES_MAX = 4 << 20; // of a file; what is longer is too long in any case

type Found = [path: string, file: File];

const isWanted = (name: string): boolean => /\.(lua|ts|soul)$/.test(name) || name === 'place.json';

function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
    const reader = folder.createReader();
    const all: FileSystemEntry[] = [];
    // Some browsers give a hundred at a time.
    const more = (): Promise<FileSystemEntry[]> =>
        new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed))
            .then((some) => (some.length === 0 ? all : (all.push(...some), more())));
    return more();
}

async function walk(entry: FileSystemEntry, found: Found[]): Promise<void> {
    if (entry.name.startsWith('.') || found.length >= FILES_MAX) {
        return;
    }
    if (entry.isDirectory) {
        for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
            await walk(inner, found);
        }
    } else if (isWanted(entry.name)) {
        const file = await new Promise<File>((done, failed) =>
            (entry as FileSystemFileEntry).file(done, failed));
        found.push([entry.fullPath.replace(/^\//, ''), file]);
    }
}

// Paths begin where place.json is.
function inPlace(found: Found[]): Found[] {
    const settings = found.map(([path]) => path).filter((path) => /(^|\/)place\.json$/.test(path))
        .sort((a, b) => a.length - b.length)[0] ?? '';
    const root = settings.slice(0, settings.length - 'place.json'.length);
    return found.filter(([path]) => path.startsWith(root))
        .map(([path, file]) => [path.slice(root.length), file]);
}

// What was dropped. The page asks for it at once, before anything is waited for: later it is gone.
export type Dropped = readonly (readonly [FileSystemEntry | null, File | null])[];

export async function readDropped(dropped: Dropped): Promise<Map<string, Uint8Array>> {
    const entries = dropped.flatMap(([entry]) => entry ?? []);
    const found: Found[] = dropped.flatMap(([entry, file]): Found[] =>
        entry === null && file !== null && isWanted(file.name.replace(/^.*\//, '')) ? [[file.name, file]] : []);
    for (const entry of entries) {
        await walk(entry, found);
    }
    const files = new Map<string, Uint8Array>();
    for (const [path, file] of inPlace(found)) {
        files.set(path, new Uint8Array(await file.slice(0, BYTES_MAX).arrayBuffer()));
    }
    return files;
}

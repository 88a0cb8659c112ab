// What the code editor and the play pane need of the page around them. The page's document and files
// (web/src/studio/document.ts, files.ts) offer more; tests offer exactly this.

export interface FileEntry {
    path: string;
    hash: string; // SHA-256 of its bytes, hex
}

// Who writes a file at the moment; everybody else reads it.
export interface FileWriter {
    path: string;
    name: string; // for people
    isOwn: boolean;
}

export interface ScriptDocument {
    files(): readonly FileEntry[];
    placeJson(): string;
    sceneJson(): string;
    // The place as a world is made from it (StudioDocument.compile); without it, from the texts.
    compile?(files: Map<string, Uint8Array>): Uint8Array;
    on(event: 'files' | 'change' | 'settings' | 'terrain', listener: () => void): () => void; // returns what ends it
    isWaiting?(): boolean; // the session has not answered all changes of one's own
    isConfirmed?(): boolean; // the session has everything that was changed here
    onConfirmed?(listener: () => void): () => void;
    onRefused?(listener: () => void): () => void; // a change of one's own was not taken by the session
    // Which entities have changed (or are new), and which are gone; and one of them as scene.json has it. Without these a
    // world that is played is made anew for each change.
    onEntities?(listener: (ids: readonly number[], gone: readonly number[]) => void): () => void;
    entity?(id: number): Record<string, unknown> & { id: number };
    // Of an edit session with several people; without these everybody writes.
    writers?(): readonly FileWriter[];
    onWriters?(listener: () => void): () => void;
    write?(path: string, take: boolean): void; // I write this file; take: from whoever has it
    readonly canWrite?: boolean; // false: may look only
    readonly placeId?: string;
    hasAccounts?(): boolean; // of the server; false: everybody may join
    userName?(): string; // of whoever has this page open; '': not known
}

// The file is no longer the one that was read: nothing was written.
export class FileConflict extends Error {
    readonly theirs: string | null; // the hash of what is there now; null: it was deleted

    constructor(theirs: string | null) {
        super('somebody else has changed this file');
        this.theirs = theirs;
    }
}

// Also of an error that the page's own files throw.
export const isConflict = (error: unknown): error is { theirs: string | null } =>
    error instanceof Error && 'theirs' in error;

export interface ScriptFiles {
    read(path: string): Promise<Uint8Array>;
    // Returns the new hash. `known`: the hash of what it replaces, null for a new file. `label`: what the history
    // calls it. Throws a conflict.
    write(path: string, bytes: Uint8Array, known: string | null, label: string): Promise<string>;
}

export const isScript = (path: string): boolean => /\.(?:lua|luau|ts|soul)$/.test(path);
export const isLua = (path: string): boolean => /\.luau?$/.test(path);
export const isTypeScript = (path: string): boolean => path.endsWith('.ts') && !path.endsWith('.d.ts');
export const isSoul = (path: string): boolean => path.endsWith('.soul');
export const generatedLua = (path: string): string => `${path}.lua`; // of a .soul

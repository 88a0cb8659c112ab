// Every sentence of the code editor and of playing in the studio.
const english = {
    label: (path: string) => `Write ${path.slice(path.lastIndexOf('/') + 1)}`,
    tabs: 'Open scripts',
    close: (name: string) => `Close ${name}`,
    nothing: 'Choose a script on the left, or make a new one.',
    loading: (path: string) => `Loading ${path} …`,
    cannotLoad: (path: string, why: string) => `${path} could not be loaded: ${why}`,
    again: 'Try again',
    saved: 'Saved',
    changed: 'Not saved yet',
    saving: 'Saving …',
    failed: (why: string) => `Not saved: ${why}`,
    saveNow: 'Save now',
    readOnly: 'You can look at this place, but not change it.',
    otherWrites: (name: string) => `${name} is writing this file. You can read along.`,
    takeOver: 'Take over',
    keptOpen: (name: string) => `${name} stays open: its text is not saved yet.`,
    problems: (errors: number, warnings: number) =>
        errors + warnings === 0 ? 'No problems'
            : [errors === 0 ? '' : `${errors} error${errors === 1 ? '' : 's'}`,
                warnings === 0 ? '' : `${warnings} warning${warnings === 1 ? '' : 's'}`].filter((text) => text !== '').join(', '),
    position: (line: number, column: number) => `Line ${line}, column ${column}`,
    checkFailed: (why: string) => `The script could not be checked: ${why}`,
    conflict: {
        banner: 'Somebody else has changed this file since you opened it. Nothing of yours is lost.',
        open: 'Compare and choose',
        title: (name: string) => `Two versions of ${name}`,
        explain: 'On the left is the version that is saved now, on the right is yours. The arrows take over single ' +
            'parts of the left into yours, and you can type on the right.',
        theirs: 'Saved now',
        mine: 'Yours',
        keepMine: 'Keep mine',
        takeTheirs: 'Take theirs',
        saveMerged: 'Save the right side',
        later: 'Decide later',
        deleted: 'The file was deleted. “Keep mine” writes it again.',
        next: 'Next difference',
        before: 'Previous difference',
    },
    soul: {
        title: 'The Lua that was made of it',
        none: 'No Lua has been made of it yet. Save it and build the place.',
        stale: 'The text has changed since this Lua was made.',
        fresh: 'This Lua was made of this text.',
        same: 'You have reviewed this Lua.',
        changes: 'What is new since you reviewed it is marked.',
        accept: 'I have reviewed it',
        openIt: 'Open it as a file',
    },
    typescript: {
        starting: 'Starting the TypeScript compiler …',
        failed: (why: string) => `The TypeScript compiler could not be started: ${why}`,
    },
    status: {
        execution: (ms: number) => `Scripts ${ms.toFixed(2)} ms`,
        executionHelp: 'How long all scripts take in one tick on average, while the place is played here.',
        pending: (count: number) => `${count} to compile`,
        pendingHelp: 'Scripts that wait to be compiled.',
        parameters: (count: number) => `${count} with invalid parameters`,
    },
};

export const words: typeof english = english;

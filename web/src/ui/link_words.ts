// What the worker says about the connection: a part of the table of words (words.ts), apart from it because
// the worker is a bundle of its own and would bring the whole table a second time.
export const linkWords = {
    joining: {
        start: 'Starting',
        signIn: 'Signing in',
        ticket: 'Asking for a ticket',
        connect: 'Connecting',
        fetch: 'Fetching the world',
        again: 'Trying again…',
    },
    core: {
        title: 'The game could not be loaded',
        refused: 'This browser does not run WebAssembly, in which the game is written. A strict '
            + 'security mode may have switched it off: allow it for this site, or use another '
            + 'browser.',
        unreachable: 'A part of the game could not be fetched. Look whether your network works, and '
            + 'whether a filter blocks files that end in .wasm; then try again.',
        damaged: (error: string) => 'A part of the game arrived damaged. Trying again fetches it anew. '
            + `(${error})`,
        failed: (error: string) => `The game could not start. (${error})`,
        trapped: (error: string) => `The game made a mistake and had to stop. (${error})`,
        worker: 'A part of the page could not be loaded, or made a mistake. Try again; if that does '
            + 'not help, load the page again.',
    },
    wrong: 'Something went wrong',
    ended: 'The session ended.',
    lost: 'The connection was lost.',
    silent: 'The world has not been heard for a while.',
    woke: 'You were away: this page or this device was asleep.',
    offline: 'This device is offline. It goes on by itself as soon as there is a network.',
    unreachable: 'The server cannot be reached. It may be restarting, or your network is down.',
    gaveUp: 'It did not come back.',
    draftDenied: 'This is the link to a place that is still being made. Only people with an account here whom its maker has '
        + 'let in can play it: sign in, and tell the maker the name of your account.',
    signInEnded: 'Sign in again; then you come back here.',
    // By the codes of docs/PROTOCOL.md.
    reasons: {
        unsupported_version: 'This page does not fit the world. Reload it.',
        auth_required: 'The world wants a ticket. Join again.',
        auth_failed: 'The ticket is no longer good. Join again.',
        handshake_timeout: 'The world heard nothing from you in time.',
        world_full: 'This world has no room for another player now. You come in as soon as somebody leaves.',
        class_paused: 'You come in by yourself when it goes on.',
        busy: 'Too many are coming in at once.',
        stopping: 'The world is closing.',
        stopped: 'The world has closed.',
        moved: 'The world moves to another machine.',
        replaced: 'You are playing somewhere else.',
        behind: 'The connection was too slow to keep up.',
        flood: 'Too many messages were sent at once.',
        internal: 'The world made a mistake.',
    },
};

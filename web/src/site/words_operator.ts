// Every sentence of the operator's pages.
const whole = new Intl.NumberFormat();
const one = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

function bytes(value: number): string {
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let at = 0;
    let left = value;
    while (left >= 1000 && at < units.length - 1) {
        left /= 1000;
        at += 1;
    }
    return `${one.format(left)} ${units[at]}`;
}

const english = {
    title: 'Operator',
    sections: {
        worlds: 'Worlds', people: 'People', reports: 'Reports', approvals: 'Approvals', featured: 'Featured',
        rules: 'Settings', invitations: 'Invitations', jobs: 'Builds', log: 'Log', audit: 'Audit',
        storage: 'Storage', about: 'Version',
    },
    refused: 'These pages are for operators',
    refusedGuest: 'Sign in with an operator’s account to see them.',
    refusedOther: 'Your account is not an operator’s. The person who runs this server can make it one.',
    signIn: 'Sign in',
    number: (value: number) => whole.format(value),
    percent: (value: number) => percent.format(value),
    milliseconds: (value: number) => `${one.format(value)} ms`,
    bytes,
    rate: (value: number) => `${bytes(value)}/s`,
    time: (iso: string) => moment.format(new Date(iso)),
    exactTime: (iso: string) => exact.format(new Date(iso)),
    cancel: 'Cancel',
    more: 'Show more',
    done: 'Done.',
    nobody: 'nobody',
    forGood: 'for good',
    until: (iso: string) => `until ${moment.format(new Date(iso))}`,
    reason: 'Reason, which they read',
    minutes: 'How long',
    durations: {
        '60': 'One hour', '1440': 'One day', '10080': 'One week', '43200': '30 days', '': 'For good',
    } as Record<string, string>,
    worlds: {
        none: 'No world runs. One starts when somebody plays.',
        now: 'The server now',
        players: 'Players', tick: 'Tick lateness, p99', memory: 'Memory of worlds', traffic: 'Bytes sent',
        worlds: 'Worlds',
        search: 'Find a world or place',
        shown: (shown: number, all: number) => `${whole.format(shown)} of ${whole.format(all)} worlds`,
        chart: (what: string, now: string, most: string) =>
            `${what}: ${now} now, at most ${most} in the last ten minutes`,
        name: 'World', place: 'Place', state: 'State', crashes: 'Crashes', actions: 'What to do',
        open: 'People', close: 'Hide people',
        elsewhere: (host: string) => `on ${host}`,
        stop: 'Stop',
        stopTitle: 'Stop this world?',
        stopText: (name: string, players: number) => players === 0
            ? `${name} is saved and stops. It starts again when somebody joins.`
            : `${name} is saved and stops. ${players === 1 ? 'One player in it is told so and has' : `${whole.format(players)} players in it are told so and have`} to leave. It starts again when somebody joins.`,
        stopped: (name: string) => `${name} stops.`,
        kick: 'Kick',
        kickTitle: (name: string) => `Kick ${name}?`,
        kickText: 'They leave the world at once and read why. They can come back; a ban keeps them out.',
        kicked: (name: string) => `${name} was removed.`,
        noPeople: 'Nobody with a sign-in is in it.',
        peopleThere: 'Who is in it is shown by its own host:',
        announce: 'Announce to everybody',
        announceText: 'Text',
        announceHint: 'One line, at most 256 bytes. Everybody who plays reads it.',
        send: 'Announce',
        announced: (worlds: number, players: number) => `Said in ${worlds === 1 ? '1 world' : `${whole.format(worlds)} worlds`}, to ${
            players === 1 ? '1 player' : `${whole.format(players)} players`}.`,
        drain: 'Drain',
        undrain: 'Start worlds again',
        drainTitle: 'Drain this server?',
        drainText: 'No new world starts, and the server says that it is not ready. Worlds that run go on until everybody has left. You can end it here.',
        draining: 'This server drains: it starts no new worlds.',
        accepts: 'This server starts worlds.',
        hosts: 'Hosts', host: 'Host', memoryShare: 'Memory', tickShare: 'Processor for ticks',
        hostSelf: '(this one)',
        hostSilent: 'does not answer', hostDrains: 'drains', hostServes: 'serves',
        hostDrainTitle: 'Drain that host?',
        hostDrained: (host: string) => `${host} drains: it starts no new worlds.`,
        hostUndrained: (host: string) => `${host} starts worlds again.`,
    },
    people: {
        search: 'Name',
        find: 'Find',
        none: 'Nobody has such a name.',
        noneHint: 'A part of the name or of the shown name is enough. Guests are found by their number, like guest_1f.',
        name: 'Name', roles: 'Roles', seen: 'Last seen', back: 'All people',
        account: 'Account', since: 'Since', signIns: 'Sign-ins', guest: 'Guest',
        kind: 'Kind', used: 'Last used', expires: 'Ends', world: 'Plays in',
        kinds: { session: 'Browser', token: 'Tool' } as Record<string, string>,
        noSignIns: 'None.',
        roleNames: {
            creator: 'Creator: makes places',
            teacher: 'Teacher: leads classes',
            operator: 'Operator: may do everything here',
            trusted: 'Trusted: what they publish stays approved',
        } as Record<string, string>,
        saveRoles: 'Save roles',
        rolesTitle: 'Change the roles?',
        rolesText: (name: string, roles: string) => `${name} will be: ${roles === '' ? 'player' : roles}. It holds at once.`,
        chat: 'Chat',
        chatAsIs: 'Leave as it is',
        chatRules: { free: 'May say anything', phrases: 'Only phrases', off: 'Nothing' } as Record<string, string>,
        saveChat: 'Save chat',
        reset: 'Reset link',
        resetTitle: 'Make a link for a new password?',
        resetText: 'Anybody who has the link can set a new password, once and within 24 hours. An older link ends.',
        link: 'Give them this link. It is shown once.',
        ban: 'Ban', banTitle: (name: string) => `Ban ${name}?`,
        banText: 'They are cut off at once, read why, and cannot come in or publish until the ban ends.',
        unban: 'Lift the ban', banned: 'Banned',
        mute: 'Mute', muteTitle: (name: string) => `Mute ${name}?`,
        muteText: 'Nobody reads what they write until the mute ends. They can play on.',
        unmute: 'Lift the mute', muted: 'Muted',
        remove: 'Delete the account',
        removeTitle: (name: string) => `Delete ${name} and everything about them?`,
        removeText: 'Their account, worlds, characters and places are deleted. Places that are listed stay in the trash for 30 days. This cannot be undone.',
        removed: (name: string) => `${name} was deleted.`,
        bans: 'Bans', mutes: 'Mutes', noBans: 'Nobody is banned.', noMutes: 'Nobody is muted.',
        by: (who: string) => `by ${who}`,
        lift: 'Lift',
        addresses: 'Addresses', noAddresses: 'No address is banned.',
        range: 'Addresses, like 192.0.2.0/24 or 2001:db8::/32',
        banRange: 'Ban addresses', banRangeTitle: 'Ban these addresses?',
        banRangeText: (range: string) => `Nobody comes in from ${range}, and who plays from there is cut off. A school or a household may share one.`,
    },
    reports: {
        state: 'Show', states: { open: 'Open', acted: 'Acted', dismissed: 'Dismissed' } as Record<string, string>,
        none: { open: 'No report is open.', acted: 'None was acted on.', dismissed: 'None was dismissed.' } as Record<string, string>,
        number: (id: number) => `Report ${id}`,
        by: 'Reported by', about: 'About', place: 'Place', world: 'World', when: 'When', source: 'From',
        sources: { page: 'a page', game: 'a game' } as Record<string, string>,
        why: 'Reason', text: 'What they wrote', noText: 'They wrote nothing.', back: 'All reports',
        evidence: 'Evidence', noEvidence: 'There is none: no world was named, or it is older than 30 days.',
        evidenceHint: 'A world said all of this. “Known” means that this server itself let that account in.',
        known: 'known', line: { said: 'said', refused: 'was not allowed to say', came: 'came', left: 'left' } as Record<string, string>,
        note: 'Note for operators',
        acted: 'Close as acted', dismiss: 'Dismiss', reopen: 'Open again',
        closed: (state: string) => `The report is ${state} now.`,
        unlist: 'Unlist the place', unlistText: 'It is found by its address alone. Its owner reads why.',
        remove: 'Remove the place', removeText: 'Nobody plays it any more, and its worlds stop. Its owner reads why. It can be restored.',
        actTitle: (act: string) => `${act}?`,
    },
    approvals: {
        off: '“Approve places first” is off: places are listed without approval, also those that stand here. Under Settings it can be switched on.',
        none: 'Nothing waits.',
        noneHint: 'With the setting “Approve places first”, new and changed places wait here before everybody finds them.',
        owner: (who: string) => `by ${who}`, look: 'Look at it', approve: 'Approve', refuse: 'Refuse',
        refuseTitle: (title: string) => `Refuse ${title}?`, refuseText: 'It stays unlisted, and its owner reads why.',
        approved: (title: string) => `${title} is listed.`, refused: (title: string) => `${title} was refused.`,
    },
    featured: {
        collections: 'Collections', none: 'There is no collection yet. Each one is a row on the front page.',
        name: 'Name, a-z, 0-9 and -', title: 'Title', make: 'New collection', edit: 'Edit', places: (count: number) =>
            count === 1 ? '1 place' : `${whole.format(count)} places`,
        find: 'Add a place: search', add: (title: string) => `Add ${title}`, plus: 'Add',
        up: (title: string) => `Move ${title} up`, down: (title: string) => `Move ${title} down`,
        take: (title: string) => `Take ${title} out`, save: 'Save', saved: 'Saved. It is a row on the front page.',
        empty: 'No place is in it. One without places is gone when it is saved.', nothing: 'No listed place fits.',
    },
    rules: {
        settings: 'Settings', saved: (name: string, value: string) => `${name}: ${value} now.`,
        names: {
            registration: 'Who may register', chat: 'Chat', guest_chat: 'Chat of guests', approve_listing: 'Approve places first',
        } as Record<string, string>,
        values: {
            open: 'everybody', invite: 'who has an invitation', free: 'free', phrases: 'phrases only', off: 'off', yes: 'yes', no: 'no',
        } as Record<string, string>, now: 'It holds at once, without a restart.',
        approveTitle: 'Approve places first?',
        approveText: (count: number, hasMore: boolean) => `${hasMore ? `${whole.format(count)} places or more` : count === 1 ? '1 place'
            : `${whole.format(count)} places`} that nobody has approved yet will be hidden at once: off the front page and out of the `
            + 'search, until an operator approves them under Approvals. Who has a link can play on.',
        approveNow: 'Hide them until approved',
        noPhrases: 'There are no phrases yet, so nobody could say anything. Write some into the box “Phrases” further down, and press “Save phrases”.',
        words: 'Words', wordsHint: 'Not said in chat and not used in names and titles. One per line; word* and *word* match inside words.',
        phrases: 'Phrases', phrasesHint: 'What may be said where only phrases are allowed. One per line, at most 64.',
        save: 'Save', saveWords: 'Save words', savePhrases: 'Save phrases', savedList: 'Saved.',
    },
    invitations: {
        text: 'An invitation is a link that makes one account with a role. It is shown once and cannot be listed.',
        role: 'Role', roles: { player: 'Player', creator: 'Creator', teacher: 'Teacher', operator: 'Operator' } as Record<string, string>,
        hours: 'Good for', durations: { 24: 'One day', 168: 'One week', 720: '30 days' } as Record<string, string>,
        make: 'Make an invitation', made: 'Give this link to one person.', link: 'The link',
    },
    jobs: {
        none: 'Nothing was built since the server started.', place: 'Place', state: 'State', by: 'By', when: 'Began', log: 'Log',
        states: { waiting: 'waits', running: 'runs', done: 'done', failed: 'failed', cancelled: 'cancelled' } as Record<string, string>,
        cancel: 'Cancel', cancelTitle: 'Cancel this build?', cancelText: 'Everybody who waits for it is told. Nothing that is live changes.',
        noLog: 'It has no lines.', draft: 'a draft or a folder', progress: 'Progress',
    },
    log: { follow: 'Follow new lines', none: 'There are no lines.', hint: 'The last lines of the server’s log.' },
    audit: { none: 'Nothing was done yet.', when: 'When', who: 'Who', what: 'What', detail: 'Asked with', machine: 'this machine' },
    storage: {
        disk: 'Disk', free: (free: string, total: string) => `${free} free of ${total}`, limit: (max: number) => `Each account may store ${whole.format(max / 2 ** 20)} MB.`,
        none: 'Nobody stores anything.', who: 'Who', places: 'Places and spells', bytes: 'Bytes', builtIn: 'came with the program',
        backup: 'Backup', make: 'Back up now', title: 'Back up now?',
        text: 'The data folder is copied into one file while the server runs. It takes room on the disk and some time.',
        where: (folder: string) => `Backups lie in ${folder} on the server. They hold the keys, so they are not sent over the network: copy them with your own tools, and restore one with “sandlot restore”.`,
        running: (text: string) => `A backup is being made: ${text} written.`, finished: (name: string) => `${name} is complete.`,
        failed: 'The last backup failed.', stop: 'Cancel the backup', cancelled: 'The backup was cancelled. Nothing of it is left.', noneYet: 'There is no backup yet.', delete: 'Delete',
        deleteTitle: (name: string) => `Delete ${name}?`, deleteText: 'The file is deleted for good.', name: 'File', made: 'Made',
        cleanup: 'Clean up', cleanupTitle: 'Clean up?',
        cleanupText: 'Ended sign-ins, unused links, guests who left nothing, and files that nothing names are deleted.',
        cleaned: (places: number, text: string) => `Cleaned up: ${whole.format(places)} places out of the trash, ${text} freed.`,
    },
    about: {
        version: (text: string) => `This is Sandlot ${text}.`, notes: 'What is new in it', none: 'There are no notes.',
        update: 'To update: make a backup, drain, stop the server, replace the program, start it. Data of an older version is taken over by itself.',
    },
};

export type OperatorWords = typeof english;
export const words: OperatorWords = english;

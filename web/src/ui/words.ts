// Every sentence that the game page says, in one table; what is needed only later is in words_later.ts. Another
// language is one file with the same members (languages.ts), so read a member when it is said and not before.
// Names of places and people, and what servers answer, come from elsewhere.
import { linkWords } from './link_words.ts';

export { speak } from './languages.ts';

export const words = {
    ...linkWords,
    menu: {
        title: 'Menu',
        notLoaded: 'A part of the page could not be fetched. Try again.',
        open: 'Menu',
        resume: 'Back to the game',
        settings: 'Settings',
        players: 'Players',
        respawn: 'Give up this body and start again',
        invite: 'Invite others',
        inviteCode: 'Room code',
        inviteLink: 'Link',
        copy: 'Copy the link',
        copied: 'The link was copied.',
        copyYourself: 'This browser does not let the page copy. The link is marked: copy it yourself.',
        leave: 'Leave',
        back: 'Back',
        close: 'Close',
    },
    chat: {
        open: 'Chat',
        label: 'Say something to everybody',
        placeholder: 'Say something, or /help',
        send: 'Send',
        log: 'Chat',
        off: 'Chat is switched off here.',
        guestOff: 'Guests cannot write here.',
        guestPhrases: 'Guests can only say these.',
        guestHelp: 'Sign in or make an account to write.',
        phrases: 'Choose what to say',
        world: 'World',
        announcement: 'From whoever runs this server',
        unknownPlayer: (name: string) => `Nobody here is called ${name}.`,
        help: '/mute NAME · /unmute NAME · /report NAME WHY · /players · /respawn · /leave; the place may have more',
        muted: (name: string) => `You do not hear ${name} any more. /unmute ${name} undoes it.`,
        unmuted: (name: string) => `You hear ${name} again.`,
        reported: (name: string) => `Your report about ${name} was sent to whoever runs this server.`,
        here: (names: string[]) => `Here are: ${names.join(', ')}`,
    },
    people: {
        joined: (name: string) => `${name} joined`,
        left: (name: string) => `${name} left`,
        you: 'you',
        mute: 'Mute',
        unmute: 'Unmute',
        report: 'Report',
        block: 'Block',
        unblock: 'Unblock',
        blocked: (name: string) => `You do not see what ${name} writes any more, anywhere on this server.`,
        unblocked: (name: string) => `You see again what ${name} writes.`,
        alone: 'Nobody else is here.',
        reportTitle: (name: string) => `Report ${name}`,
        reportReason: 'What is it about?',
        reportText: 'What happened? The last ten minutes of the chat are sent with it.',
        reportSend: 'Send the report',
        reasons: {
            abuse: 'Insults or threats',
            spam: 'Spam',
            sexual: 'Sexual content',
            violence: 'Violence',
            cheating: 'Cheating',
            privacy: 'Private things of somebody',
            copyright: 'Stolen work',
            other: 'Something else',
        },
    },
    board: { label: 'Scores', name: 'Player', noTeam: 'No team' },
    assets: {
        known: (files: number, bytes: string, names: string) => 'Pictures, sounds and models: ' +
            `${files === 1 ? '1 file' : `${files} files`}, ${bytes} · ${names} · each comes when it ` +
            'is needed',
        loading: (have: number, all: number, bytes: string, name: string) =>
            `Pictures, sounds and models: ${have} of ${all}, ${bytes} · ${name}`,
        listFailed: (why: string) =>
            `the list of the place's files did not come (${why}). Load the page again.`,
        unknown: (kind: string) => `there is no such file of that kind (${kind}, …) in the ` +
            'place. Put it into assets/, build again, and write its name as it is there.',
        fetchFailed: (why: string) => `it could not be fetched (${why}). If the file has ` +
            'changed, build the place again.',
        pictureFailed: 'the browser cannot show this picture. Save it again as PNG or JPEG, and ' +
            'build the place again.',
        manyDrawn: (most: number) => 'not all of these are drawn, because all models together have ' +
            `more than ${most} triangles. Simplify the models, or place fewer.`,
        manyMoved: (most: number) => `at most ${most} models that move are drawn at once. The ` +
            'others stay plain shapes.',
        tooMuch: 'there is no room for it beside what is in sight. Make the pictures and models ' +
            'of the place smaller, or show fewer at once.',
    },
    downloads: {
        part: (have: string, all: string) => `${have} of ${all}`,
        core: (bytes: string) => `Game: ${bytes}`,
        scene: (bytes: string) => `World: ${bytes}`,
        scripts: (have: number, all: number) => `Scripts: ${have} of ${all}`,
        stuck: 'nothing arrives, trying again…',
        damaged: (count: number, all: number) => `${count} of ${all} scripts came damaged and do not run. ` +
            'Load the page again; if that does not help, tell whoever runs this server.',
    },
    sound: {
        captions: 'Captions',
        unknown: (near: readonly string[]) =>
            `there is no such sound. There are: ${near.join(', ')}. A file belongs into assets/.`,
    },
    left: 'You have left.',
    cancelled: 'You cancelled it.',
    gate: {
        // By the ids of index.html, which has them in English for pages without scripts.
        page: {
            intro: 'A world is waiting.',
            'name-label': 'Your name',
            enter: 'Play',
            account: 'Sign in or register',
            cancel: 'Cancel',
            again: 'Try again',
            'sign-in': 'Sign in',
            'leave-link': 'To the start page',
            grab: 'Click to look around',
        },
        labels: { // for those who hear the page, likewise
            view: 'The world',
            health: 'Health',
            numbers: 'Numbers',
            faults: 'What failed in scripts',
            diagnostics: 'What a build says about scripts',
            worlds: 'Worlds with people in them',
            notes: 'Good to know',
        },
        guest: 'Guest',
        removed: 'An operator has removed this place; nobody plays it. Its page says why.',
        youAre: (name: string) => `You are ${name}.`,
        keepAccount: 'Make an account, and keep what you have',
        ownAccount: 'Your account',
        closed: 'You are not in the world',
        waiting: 'One moment',
        again: 'Try again',
        asGuest: 'Go on as a guest',
        now: 'Try now',
        countdown: (seconds: number) => `Trying again in ${seconds} s.`,
        stuck: 'Nothing arrives; trying again…',
        world: (place: string, players: number) => `${place} · ${players} playing`,
        anotherWorld: (place: string) => `Another world of ${place}`,
        nothingKept: 'This window keeps nothing: your name, your settings and what was downloaded are '
            + 'forgotten when you close it. Another window, or allowing this site to store data, '
            + 'helps.',
        plainHttp: 'This address is plain http. You can play here, but others on this network could '
            + 'read along, and the browser may withhold gamepads and copying.',
    },
    full: {
        title: 'The world is full',
        others: 'There is room in these:',
        noOthers: 'No other world is open now.',
    },
    paused: { title: 'The class pauses' },
    signedOut: { title: 'Your sign-in has ended' },
    stranger: { title: 'Not for guests' },
    replaced: {
        title: 'You play somewhere else now',
        here: 'Play here instead',
        sameBrowser: 'You came into this world with another window of this browser. One player has '
            + 'one body, so this window has stopped.',
        elsewhere: 'You came into this world with another browser or another device. One player has '
            + 'one body, so this window has stopped. If that was not you, change your password.',
    },
    picture: {
        title: 'This page cannot draw here',
        missing: 'The world is drawn with WebGL 2, and this browser does not offer it. Turn on '
            + 'hardware acceleration (graphics acceleration) in the settings of the browser, close '
            + 'other tabs with games, bring browser and graphics driver up to date, or use another '
            + 'browser.',
        lost: 'The graphics card has lost the picture. You are still in the world; the picture comes '
            + 'back by itself in a moment.',
        gone: 'The picture did not come back. Load the page again; you return to where you are.',
        reload: 'Load the page again',
    },
    pageFailed: {
        title: 'This page could not start',
        text: (error: string) => `Load it again, or use another browser. (${error})`,
    },
    newer: 'There is a new version of this page. It is used once you load the page again.',
    offlineNotice: 'This device says that it is offline. If the game stops, that is why.',
    reloadFailed: 'This page and the world are of different versions, and loading the page again did not '
        + 'help. Empty the browser’s cache for this site, or tell whoever runs the server.',
    youDied: 'You died. You will be back in a moment.',
    help: {
        walk: 'walk', jump: 'jump', run: 'run', chat: 'chat', click: 'Click', shoot: 'shoot', dig: 'dig',
        fill: 'fill', build: 'build', camera: 'camera',
    },
    died: (who: string) => `${who} died`,
    killed: (by: string, who: string) => `${by} ⚔ ${who}`,
    keys: {
        forward: 'Walk forward',
        back: 'Walk back',
        left: 'Walk left',
        right: 'Walk right',
        jump: 'Jump',
        run: 'Run',
        crouch: 'Crouch',
        use: 'Use',
        dig: 'Dig',
        fill: 'Fill',
        camera: 'Change the camera',
        build: 'Build mode',
        chat: 'Chat',
        focus: 'Go to what the place shows',
        overlay: 'Numbers for creators',
    },
    build: { // the rest is in words_later.ts
        title: 'Build',
        use: { build: 'Place', remove: 'Remove', dig: 'Dig', fill: 'Fill' },
        notLoaded: 'Build mode could not be loaded. Is the connection up? Try again.',
    },
    touch: { label: 'Buttons', fire: 'Fire', more: 'More', less: 'Less' },
    percent: (part: number) => `${Math.round(part * 100)} %`,
};

export type Words = typeof words;

// Every sentence of the page of one's account.
const whole = new Intl.NumberFormat();
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const megabytes = new Intl.NumberFormat(undefined,
    { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
const MEGABYTE = 1 << 20;
const list = new Intl.ListFormat(undefined, { type: 'conjunction' });
const minutes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'minute', unitDisplay: 'long' });
const seconds = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'second', unitDisplay: 'long' });

const roles: Record<string, string> = {
    player: 'Player', creator: 'Creator', teacher: 'Teacher', operator: 'Operator', trusted: 'Trusted creator',
};
const scopes: Record<string, string> = {
    play: 'Play: join worlds, vote, characters',
    create: 'Create: change places, drafts and spells',
    operate: 'Operate: what operators and teachers do',
};

const english = {
    title: 'Your account',
    welcome: 'Sign in, or make an account',
    needed: 'Please fill this in.',
    tick: 'Tick this to go on.',
    name: 'Account name',
    nameRule: '3 to 20 letters of A–Z, a–z, 0–9, _ and -. It cannot be changed later.',
    nameWrong: 'An account name has 3 to 20 letters of A–Z, a–z, 0–9, _ and -.',
    shownName: 'Name that others see',
    shownRule: 'Free text; if you leave it out, it is the account name.',
    password: 'Password',
    passwordRule: 'At least 8 characters.',
    passwordShort: 'A password has at least 8 characters.',
    show: 'Show',
    tryIn: (wait: number) => wait < 90 ? `You can try again in ${seconds.format(Math.ceil(wait))}.`
        : `You can try again in ${minutes.format(Math.ceil(wait / 60))}.`,
    signIn: {
        title: 'Sign in',
        button: 'Sign in',
        have: 'I have an account already',
    },
    issuer: {
        signIn: (name: string) => `Sign in with ${name}`,
        hint: (name: string) => `You type your password there, and ${name} says who you are.`,
        signOut: 'Sign out there',
        linked: 'You can sign in to this account with it.',
        unlinked: 'Link it, and you can sign in to this account with it.',
        link: 'Link it',
        unlink: 'Unlink it',
        setFirst: 'This account has no password yet. Set one under Password (the old one stays empty), and you can unlink it.',
    },
    register: {
        title: 'Register',
        button: 'Register',
        keep: 'Register, and keep everything',
        keepHint: 'You keep your characters, worlds and everything that places have stored about you.',
        closed: 'To register here you need an invitation: a link that you open in this browser.',
        closedHint: 'Ask whoever runs this server for one, or your teacher. If you have such a link, open it now.',
    },
    code: {
        title: 'I have a code of a class',
        label: 'Code',
        hint: 'It is on the card that your teacher gave you.',
        button: 'Sign in with the code',
        wrong: 'This code is not valid, or not valid any more. Look at your card again, or ask your teacher for a new code.',
    },
    guest: {
        title: 'Play as a guest',
        hint: 'Nothing to remember. You can register later and keep what you have.',
        label: 'Name',
        button: 'Play as a guest',
    },
    recover: {
        title: 'Forgot your password?',
        hint: 'Use one of the recovery codes that you were given when you registered. If you have none left, ask whoever runs this server for a link; pupils ask their teacher for a new code.',
        code: 'Recovery code',
        fresh: 'New password',
        button: 'Set the password',
    },
    link: {
        reset: 'Choose a new password',
        resetHint: 'All your other sign-ins end, and you get new recovery codes.',
        invited: 'You are invited',
        makes: (given: string[]) => `This link makes an account with the role ${list.format(given.map((role) => roles[role] ?? role))}.`,
        signOutFirst: (name: string) => `You are signed in as ${name}. Sign out to register the new account; this one stays as it is.`,
        signOut: 'Sign out and go on',
    },
    codes: {
        title: 'Your recovery codes',
        hint: 'Print them or write them down now: nobody can show them again. Each of them sets a new password, once, if you forget yours.',
        print: 'Print',
        go: 'I have kept them: go on',
        paper: (name: string, site: string) => `Recovery codes of ${name} at ${site}`,
    },
    copy: 'Copy',
    copied: 'Copied.',
    copyYourself: 'It is selected: copy it with Ctrl+C, or by a long press.',
    signOut: 'Sign out',
    menu: (name: string) => `Menu of ${name}`,
    toAccount: 'Your account',
    toPlaces: 'Your places',
    toClass: 'Your classes',
    toOperator: 'Run this server',
    toDiscover: 'Find places to play',
    guestIs: (name: string) => `You are ${name}, a guest`,
    youAre: (name: string) => `You are ${name}`,
    accountName: (name: string) => `Account name: ${name}`,
    rolesAre: (given: string[]) => given.map((role) => roles[role] ?? role).join(', '),
    profile: {
        title: 'Your name',
        button: 'Save the name',
        closed: 'Your class sees your name. Your teacher decides whether you may change it, and whether others see it.',
    },
    looks: {
        title: 'Your looks',
        hint: 'These are your characters. The one you choose is how others see you in every world.',
        guestName: 'Others see the name of a guest as it is, whatever the character is called.',
        ownName: 'Others see the name of your account, whatever the character is called.',
        which: 'Character',
        name: 'Name of the character',
        skin: 'Skin',
        shirt: 'Shirt',
        legs: 'Trousers',
        add: 'New character',
        remove: 'Remove this character',
        save: 'Save the looks',
        fresh: (number: number) => `Character ${whole.format(number)}`,
        preview: (name: string) => `How ${name} looks`,
        turn: 'Drag the picture, or use the arrow keys, to turn it.',
        noPicture: 'This browser cannot draw the picture. Colours are saved all the same.',
        most: (count: number) => `You have ${whole.format(count)} characters, which is as many as one may have.`,
    },
    change: {
        title: 'Password',
        old: 'Old password',
        oldHint: 'Leave it empty if you have none yet.',
        pupil: 'You have none: you sign in with the code of your class. If you lose it, your teacher gives you a new one.',
        fresh: 'New password',
        button: 'Change the password',
        done: 'Your password is changed, and all your other sign-ins have ended.',
    },
    signIns: {
        title: 'Where you are signed in',
        unknown: 'A browser or tool',
        here: 'this browser',
        times: (created: string, used: string) =>
            `since ${moment.format(new Date(created))}, last used ${moment.format(new Date(used))}`,
        end: 'End',
        endNamed: (name: string) => `End ${name}`,
    },
    tokens: {
        title: 'Tokens of tools',
        hint: 'For “sandlot publish”, your own programs and the like: they sign in with a token and not with your password.',
        none: 'You have made none.',
        name: 'What is it for?',
        scope: 'What may it do?',
        scopeNeeded: 'Choose at least one.',
        scopes,
        button: 'Make a token',
        once: 'Copy it now: nobody can show it again.',
        made: 'Your new token',
    },
    invite: {
        title: 'Invite somebody',
        hint: 'A link that makes one account, once. Anybody who has the link can use it.',
        role: 'Role of the new account',
        roles,
        days: 'Good for how many days?',
        daysWrong: 'A number from 1 to 365.',
        button: 'Make a link',
        made: 'The link',
    },
    blocks: {
        title: 'Blocked people',
        none: 'You have blocked nobody. In a game, open the list of players to block somebody’s chat.',
        since: (when: string) => `since ${moment.format(new Date(when))}`,
        gone: 'Somebody whose account is gone',
        end: 'Unblock',
        endNamed: (name: string) => `Unblock ${name}`,
    },
    offers: {
        title: 'Places that are offered to you',
        by: (name: string, bytes: number, until: string) =>
            `by ${name} · ${megabytes.format(bytes / MEGABYTE)} · until ${moment.format(new Date(until))}`,
        nobody: 'somebody',
        accept: 'Accept',
        decline: 'Decline',
    },
    worlds: {
        title: 'Your worlds',
        hint: 'Those that you made to play with friends. Each keeps what happened in it until you delete it.',
        none: 'You have none. “Play with friends” on the page of a place makes one.',
        about: (code: string, isPrivate: boolean, players: number, created: string) =>
            `${code} · ${isPrivate ? 'private' : 'public'} · ${players === 0 ? 'nobody plays now' : players === 1 ? '1 plays' : `${whole.format(players)} play`} · since ${day.format(new Date(created))}`,
        end: 'Delete',
        endNamed: (code: string) => `Delete the world ${code}`,
    },
    storage: {
        title: 'What you store',
        used: (used: number, max: number) => `${megabytes.format(used / MEGABYTE)} of ${megabytes.format(max / MEGABYTE)}`,
        place: (bytes: number, data: number) =>
            `${megabytes.format(bytes / MEGABYTE)}, and ${megabytes.format(data / MEGABYTE)} in its DataStores`,
        trashed: 'in the trash',
        none: 'You have no places yet.',
    },
    data: {
        title: 'Your data',
        hint: 'Everything that this server stores about you, as one file.',
        button: 'Download it',
    },
    end: {
        title: 'Delete the account',
        hint: 'Everything about you is deleted at once and cannot be taken back: characters, worlds, what places have stored about you. Your places and spells go too; those that everybody can find are in the trash for 30 days first, where an operator can restore them.',
        guestHint: 'Everything about you is deleted at once and cannot be taken back: characters, worlds, what places have stored about you.',
        pupil: 'It belongs to your class. Ask your teacher to delete it.',
        password: 'Your password',
        sure: 'I want to delete everything',
        button: 'Delete everything',
    },
};

export type AccountWords = typeof english;
export const words: AccountWords = english;

// Every sentence of the site, in one table like that of the game page.
const number = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

const english = {
    name: 'Sandlot',
    skip: 'To the content',
    search: 'Search places',
    signIn: 'Sign in',
    signInFirst: 'Sign in to do this.',
    account: 'Account',
    who: {
        account: 'Your account',
        places: 'Your places',
        classes: 'Your classes',
        operator: 'Run this server',
        signOut: 'Sign out',
    },
    create: { short: 'Create' },
    save: 'Save',
    saved: 'Saved.',
    cancel: 'Cancel',
    add: 'Add',
    remove: 'Remove',
    loading: 'Loading …',
    again: 'Try again',
    more: 'Show more',
    loopback: (others: readonly string[]) => `This address works on this computer only. ${others.length > 0
        ? `For people on others, open this page at ${others.join(' or ')} first.`
        : 'For people on others, open this page by the server’s address in the network first. If there is none yet, whoever '
            + 'runs the server makes one: sandlot up --new-secret-key, once, and then sandlot up --host 0.0.0.0.'}`,
    noTypescript: {
        node: 'This server cannot compile TypeScript, because it has no Node of its own and none is named to it. Whoever runs the server '
            + 'runs tools/setup, or sets SANDLOT_NODE to the path of Node, and starts the server again.',
        packages: 'This server cannot compile TypeScript, because the packages typescript and typescript-to-lua are not installed there. '
            + 'Whoever runs the server runs tools/setup and starts the server again.',
    },
    unreachable: 'The server cannot be reached. It may be starting again; nothing is lost.',
    retryIn: (seconds: number) => seconds < 90 ? `Try again in ${whole.format(seconds)} s.`
        : `Try again in ${whole.format(Math.ceil(seconds / 60))} min.`,
    notFound: 'There is nothing here',
    notFoundHint: 'The address may be wrong, or it is private and not for you.',
    notFoundGuest: 'The address may be wrong, or it is private and you have to sign in to see it.',
    toDiscover: 'See what there is to play',
    discover: {
        title: 'Places',
        popular: 'Popular',
        newest: 'New',
        featured: 'Featured',
        favourites: 'Your favourites',
        recent: 'Played lately',
        code: 'Room code',
        join: 'Join',
        codeHint: 'Somebody who plays can tell you theirs.',
        noRoom: (code: string) => `There is no room ${code}.`,
        empty: 'Nobody has published a place yet.',
        emptyHint: 'Make the first one: begin with a template, publish it and list it. Then everybody finds it here.',
        make: 'Make a place',
        codeNeeded: 'Type the code of a room first.',
        found: (count: number, text: string, isAll: boolean) => count === 0 ? `Nothing fits “${text}”.`
            : isAll ? `${whole.format(count)} for “${text}”` : `More than ${whole.format(count)} for “${text}”`,
        foundHint: 'Try fewer or shorter words. Titles, tags, names of creators and descriptions are searched.',
        tags: 'Tags',
        allPlaces: 'All places',
    },
    card: {
        players: (count: number) => count === 1 ? '1 plays' : `${whole.format(count)} play`,
        nobody: 'nobody plays now',
        liked: (part: number) => `${percent.format(part)} like it`,
        by: (name: string) => `by ${name}`,
    },
    compact: (value: number) => number.format(value),
    day: (iso: string) => day.format(new Date(iso)),
};

export type SiteWords = typeof english;
export const words: SiteWords = english;

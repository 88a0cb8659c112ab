// Every sentence of the site, in one table like that of the game page.
const number = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat();
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

const english = {
    name: 'Sandlot',
    skip: 'To the content',
    search: 'Search places',
    signIn: 'Sign in',
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
    unreachable: 'The server cannot be reached. It may be starting again; nothing is lost.',
    retryIn: (seconds: number) => seconds < 90 ? `Try again in ${whole.format(seconds)} s.`
        : `Try again in ${whole.format(Math.ceil(seconds / 60))} min.`,
    notFound: 'There is nothing here',
    notFoundHint: 'The address may be wrong, or it is private and you are not signed in.',
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
        emptyHint: 'Make one with “sandlot new” and publish it with “sandlot publish”. It is here as soon as it is listed.',
        found: (count: number, text: string) =>
            count === 0 ? `Nothing fits “${text}”.` : `${whole.format(count)} for “${text}”`,
        foundHint: 'Try fewer or shorter words. Titles, tags, names of creators and descriptions are searched.',
        tags: 'Tags',
        allPlaces: 'All places',
    },
    card: {
        players: (count: number) => count === 1 ? '1 plays' : `${whole.format(count)} play`,
        nobody: 'nobody plays now',
        liked: (percent: number) => `${percent} % like it`,
        by: (name: string) => `by ${name}`,
    },
    compact: (value: number) => number.format(value),
    day: (iso: string) => day.format(new Date(iso)),
};

export type SiteWords = typeof english;
export const words: SiteWords = english;

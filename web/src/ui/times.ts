// What a server says of a time is for programs: "2026-11-19T21:42:11Z".
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

// Such times in a text as the reader writes them, in their own zone.
export function localTimes(text: string): string {
    return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (iso) => moment.format(new Date(iso)));
}

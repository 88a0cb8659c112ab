// Where to go after signing in: a path of this site, or '' for whatever could lead anywhere else. The
// server has the same rule for forms (account_next). Browsers read a backslash as a slash and leave out
// tabs, so that more than "//" would be another site.
const NEXT_MAX = 511;

export function ownPath(text: string | null | undefined): string {
    return text !== null && text !== undefined && text.length <= NEXT_MAX &&
        /^\/[!-~]*$/.test(text) && !text.includes('//') && !text.includes('\\') ? text : '';
}

// Page and world are of different versions, after an update of the server for example: the page loads
// itself again, which brings the version that fits. It does so once. If that did not help, something
// between here and the server keeps an old page, and a person has to act.
const MARK = 'sandlot.reloaded';

type Marks = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null; // null: there is no storage

// False: it has been done already, or cannot be remembered and might never end.
export function reloadOnce(marks: Marks, reload: () => void): boolean {
    try {
        if (marks === null || marks.getItem(MARK) !== null) {
            return false;
        }
        marks.setItem(MARK, '1');
        if (marks.getItem(MARK) === null) {
            return false;
        }
    } catch {
        return false; // storage is switched off
    }
    reload();
    return true;
}

// They fit: after another update the page may load itself again.
export function reloadWorked(marks: Marks): void {
    try {
        marks?.removeItem(MARK);
    } catch {
        // storage is switched off
    }
}

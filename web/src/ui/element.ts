// An element of the page that must be there.
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
    const found = document.getElementById(id);
    if (!(found instanceof type)) {
        throw new Error(`the page has no ${type.name} #${id}`);
    }
    return found;
}

// What the compiler uses of Node's `path`: POSIX paths, as on the server.

export const sep = '/';

export function normalize(path: string): string {
    const isAbsolute = path.startsWith('/');
    const parts: string[] = [];
    for (const part of path.split('/')) {
        if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') {
            parts.pop();
        } else if (part === '..' ? !isAbsolute : part !== '' && part !== '.') {
            parts.push(part);
        }
    }
    const plain = `${isAbsolute ? '/' : ''}${parts.join('/')}`;
    return plain === '' ? '.' : path.endsWith('/') && parts.length > 0 ? `${plain}/` : plain;
}

export const isAbsolute = (path: string): boolean => path.startsWith('/');

export const join = (...paths: string[]): string => normalize(paths.filter((path) => path !== '').join('/'));

export function resolve(...paths: string[]): string {
    const start = Math.max(paths.findLastIndex(isAbsolute), 0);
    const plain = normalize(`/${paths.slice(start).join('/')}`);
    return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

export function dirname(path: string): string {
    const at = path.replace(/\/+$/, '').lastIndexOf('/');
    return at < 0 ? '.' : at === 0 ? '/' : path.slice(0, at);
}

export function basename(path: string, ending = ''): string {
    const name = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
    return ending !== '' && name.endsWith(ending) && name !== ending ? name.slice(0, -ending.length) : name;
}

export function extname(path: string): string {
    const name = basename(path);
    const at = name.lastIndexOf('.');
    return at <= 0 ? '' : name.slice(at);
}

export function relative(from: string, to: string): string {
    const start = resolve(from).split('/').filter((part) => part !== '');
    const end = resolve(to).split('/').filter((part) => part !== '');
    let same = 0;
    while (same < start.length && same < end.length && start[same] === end[same]) {
        same += 1;
    }
    return [...start.slice(same).map(() => '..'), ...end.slice(same)].join('/');
}

export const posix = { sep, normalize, isAbsolute, join, resolve, dirname, basename, extname, relative };
export default { ...posix, posix };

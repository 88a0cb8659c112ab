// What the compiler reads while it starts: the files that vite.config.ts has put beside it, and nothing
// else. There is nothing to write to.
import files from 'virtual:compiler-files';

export function readFileSync(name: string): string {
    const text = files[name];
    if (text === undefined) {
        throw new Error(`there is no file ${name}`);
    }
    return text;
}

export const readdirSync = (folder: string): string[] =>
    Object.keys(files).filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1));
export const existsSync = (name: string): boolean => name in files;
export const statSync = (): never => {
    throw new Error('there are no files here');
};
export default { readFileSync, readdirSync, existsSync, statSync };

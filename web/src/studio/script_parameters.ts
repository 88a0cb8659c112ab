// The parameters that a script says it has, by a literal table at its top: `parameters = { rise = 4, loop = true }`, in
// TypeScript `const parameters = { rise: 4 }`. The inspector has a field for each, with the value of the script until a
// thing has its own. Only plain values: numbers, texts, true and false.
export type Parameters = Record<string, number | string | boolean>;

const TABLE = /^(?:local\s+|export\s+const\s+|const\s+)?parameters\s*(?::[^=\n]*)?=\s*\{([^{}]*)\}/m;
const ENTRY = /([A-Za-z_]\w*)\s*[=:]\s*(?:(-?\d+(?:\.\d+)?)|(true|false)|"([^"\n]*)"|'([^'\n]*)')\s*(?=[,;]|\s*$)/gm;
const COMMENT = /("[^"\n]*"|'[^'\n]*')|(?:--|\/\/).*$/gm;

export function literalParameters(text: string): Parameters {
    const table = TABLE.exec(text.replace(COMMENT, '$1'))?.[1] ?? '';
    return Object.fromEntries([...table.matchAll(ENTRY)].map(([, name = '', number, flag, double, single]) =>
        [name, number !== undefined ? Number(number) : flag !== undefined ? flag === 'true' : double ?? single ?? '']));
}

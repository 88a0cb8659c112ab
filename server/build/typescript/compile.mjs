// TypeScript → Lua: from the scripts of a place to their Lua, with what is wrong with them. It keeps the
// parsed sources and the last program between requests, because most requests differ from the last one
// in a line. It runs in the server's jailed process (compiler.mjs) and in the studio's worker.
import { findTooDeep } from "./depth.mjs";
import { tellAlive, tellProgress } from "./frame.mjs";
import { Libraries, OPTIONS, PlaceHost, ROOT, ts } from "./host.mjs";
import { ADVICE, LIBRARY_PATH, library, transpile } from "./lua.mjs";
import { findMissing } from "./missing.mjs";
import { findRefused } from "./refused.mjs";
import { findLeaks } from "./sides.mjs";
import { findTraps } from "./traps.mjs";

const STATUS_OK = 0;
const STATUS_ERRORS = 1;
const STATUS_FAILED = 2;

const UNTYPED_MODULE = 7016; // a module in another language: its exports are `any` on purpose
const NO_MODULE = new Set([2307, 2792, 2580, 2584, 2591, 2882]);
const NO_MODULE_ADVICE =
    "A script can use what `sandlot script api` lists, and import the other scripts of its place " +
    '("../ReplicatedStorage/Name"), and nothing else';
const NO_DECLARATIONS =
    ". Files .d.ts are not read by the build: types go into a .ts file (export type …, import type …)";
const MESSAGE_LENGTH_MAX = 700;
const DIAGNOSTICS_MAX = 1000;
const GIVEN_UP_MAX = 5; // rounds of one request; each gives up on one script more
// The stages of each script, and their relative duration.
const PARSE = 0;
const BIND = 1;
const CHECK = 2;
const SIDES = 3;
const MAKE = 4;
const PHASES = [2, 1, 7, 1, 9];
const LUA_BYTES_MAX = 256 * 1024; // of one script: VM_SOURCE_BYTES_MAX
const ANSWER_BYTES_MAX = 80 * 1024 * 1024; // of all of them; TYPESCRIPT_REPLY_MAX is a little more

let libraries;
let place;
let program;
// By file and everything it depends on: its diagnostics, its Lua, and what it leaks. Only results
// of the last request are kept.
let checked = new Map();
let made = new Map();
let leaks = new Map();
let lost = new Map(); // by the same: what is told of a script that the compiler has given up on
let libraryText;
let total; // scripts of TypeScript in this request

// --- progress ---------------------------------------------------------------------------------------

/** Called before each script of each phase: how far the request is, in scripts. Scripts that are as
 *  they were count too, so that it ends at all of them. */
function tell(phase, scripts, i) {
    const before = PHASES.slice(0, phase).reduce((sum, weight) => sum + weight, 0);
    const all = PHASES.reduce((sum, weight) => sum + weight, 0);
    const share = (before + (PHASES[phase] * i) / scripts.length) / all;
    tellProgress(scripts[i].index, Math.floor(total * share));
}

// --- diagnostics --------------------------------------------------------------------------------

function messageOf(diagnostic) {
    let text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n").replace(/\s*\n\s*/g, "; ");
    if (NO_MODULE.has(diagnostic.code)) {
        // The rest of its advice is about packages, which scripts do not have.
        const what = text.split(/(?<=\S')[.,]| or its corresponding/)[0];
        text = `${what}. ${NO_MODULE_ADVICE}${/module '\./.test(what) ? NO_DECLARATIONS : ""}`;
    }
    if (diagnostic.source === "typescript-to-lua" && ADVICE.has(diagnostic.code)) {
        text = `${text.replace(/\.$/, "")}: ${ADVICE.get(diagnostic.code)}`;
    }
    text = text.replaceAll(ROOT, "");
    return text.length > MESSAGE_LENGTH_MAX ? `${text.slice(0, MESSAGE_LENGTH_MAX)}…` : text;
}

/** As the answer has it. `names`: "/place/….ts" → the file as it is in the place's folder. */
function plainDiagnostic(diagnostic, names) {
    const { file, start } = diagnostic;
    let line = 0;
    let column = 0;
    if (file !== undefined && start !== undefined) {
        const position = file.getLineAndCharacterOfPosition(start);
        line = position.line + 1;
        column = position.character + 1;
    }
    const isOwn = diagnostic.source === "typescript-to-lua";
    return {
        isError: diagnostic.category === ts.DiagnosticCategory.Error,
        file: names.get(file?.fileName) ?? "",
        line,
        column,
        code: isOwn ? "typescript-to-lua" : `TS${diagnostic.code}`,
        message: messageOf(diagnostic),
    };
}

// --- compiling ----------------------------------------------------------------------------------

function isWorthTelling({ category, code }) {
    return (
        (category === ts.DiagnosticCategory.Error || category === ts.DiagnosticCategory.Warning) &&
        code !== UNTYPED_MODULE
    );
}

function checkOne(sourceFile, names) {
    const file = names.get(sourceFile.fileName);
    try {
        const said = [
            ...program.getSyntacticDiagnostics(sourceFile),
            ...program.getSemanticDiagnostics(sourceFile),
        ];
        const refused = [...findRefused(program, sourceFile), ...findMissing(program, sourceFile)];
        return [
            ...said.filter(isWorthTelling).map((one) => plainDiagnostic(one, names)),
            ...refused.map((one) => ({ ...one, isError: true, file })),
        ];
    } catch (error) {
        throw new GaveUp(error, file);
    }
}

/** All that the checker has to say about the place's files. What it said about a file holds as long
 *  as that file and everything it depends on are as they were. (TypeScript's own incremental programs
 *  look at types before they check them, and lose errors that way.) */
function check(scripts, sources, keys, names) {
    const found = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
        .filter(isWorthTelling)
        .map((one) => plainDiagnostic(one, names));
    const before = checked;
    checked = new Map();
    sources.forEach((sourceFile, i) => {
        let said = before.get(keys[i]);
        if (said === undefined) {
            tell(CHECK, scripts, i);
            said = checkOne(sourceFile, names);
        }
        checked.set(keys[i], said);
        found.push(...said);
    });
    return found;
}

function leaksOf(sourceFile, secret, file) {
    try {
        return findLeaks(program, sourceFile, secret);
    } catch (error) {
        throw new GaveUp(error, file);
    }
}

/** Which values of the server would go to players. What stays may change without any text doing so. */
function checkSides(scripts, sources, keys) {
    const secret = new Map();
    for (const { path, isSent } of scripts) {
        if (!isSent) {
            secret.set(`${ROOT}${path}.ts`, path);
        }
    }
    const before = leaks;
    const secrets = [...secret.keys()].join("\n");
    leaks = new Map();
    const found = [];
    scripts.forEach(({ file, isSent }, i) => {
        const key = `${keys[i]}\n${secrets}`;
        let said = isSent ? before.get(key) : [];
        if (said === undefined) {
            tell(SIDES, scripts, i);
            said = leaksOf(sources[i], secret, file);
        }
        leaks.set(key, said);
        found.push(...said.map((leak) => ({ ...leak, isError: true, file })));
    });
    return found;
}

/** The compiler itself fails on a script, as it does on what is nested too deeply: an error of that
 *  script, as far as its creator can help it. */
class GaveUp extends Error {
    isKnown = false; // from an earlier request: nothing was tried

    constructor(error, file, position = { line: 0, column: 0 }) {
        super();
        const where = position.line > 0 ? "here" : "on this script";
        this.diagnostic = {
            isError: true,
            file,
            ...position,
            code: "compiler",
            message:
                error instanceof RangeError
                    ? /length/.test(error.message)
                        ? "a text becomes too long for the compiler"
                        : "a type or an expression is nested too deeply for the compiler, or a list too " +
                          "long"
                    : `the compiler fails ${where} (${error?.message ?? error}); write it in a plainer ` +
                      "way",
        };
    }
}

const byteLength = (text) => new TextEncoder().encode(text).length;

function tooLarge(file, message) {
    return { isError: true, file, line: 0, column: 0, code: "too-large", message };
}

/** A few bytes of TypeScript can become any amount of Lua: constants are written out at each use. */
function whyTooLarge(lua) {
    const bytes = byteLength(lua);
    return bytes <= LUA_BYTES_MAX
        ? undefined
        : `its Lua has ${Math.ceil(bytes / 1024)} KiB, and a script has at most ` +
              `${LUA_BYTES_MAX / 1024}: cut it in two; where a large const enum or its like is ` +
              "used often, use a plain const";
}

function makeOne(script, sourceFile, names) {
    const position = { line: 0, column: 0 }; // of the node it works on
    try {
        const result = transpile(program, sourceFile, place, script.file, position);
        Object.assign(position, { line: 0, column: 0 });
        const said = result.diagnostics
            .filter(isWorthTelling)
            .map((one) => plainDiagnostic(one, names));
        const why = whyTooLarge(result.lua);
        if (why !== undefined) {
            const diagnostics = [...said, tooLarge(script.file, why)];
            return { lua: "", map: "", lines: [], usesLibrary: false, diagnostics };
        }
        const traps = findTraps(program, sourceFile);
        return {
            ...result,
            diagnostics: [
                ...said,
                ...traps.map((trap) => ({ ...trap, isError: false, file: script.file })),
            ],
        };
    } catch (error) {
        throw new GaveUp(error, script.file, position);
    }
}

function makeLua(scripts, sources, keys, names, diagnostics) {
    const outputs = [];
    let bytes = 0;
    const before = made;
    made = new Map();
    for (const [i, script] of scripts.entries()) {
        let result = before.get(keys[i]);
        if (result === undefined && script.isWanted) {
            tell(MAKE, scripts, i);
            result = makeOne(script, sources[i], names);
        }
        if (result !== undefined) {
            made.set(keys[i], result);
        }
        if (script.isWanted) {
            diagnostics.push(...result.diagnostics);
            outputs.push({ path: script.path, ...result });
            bytes += byteLength(result.lua) + result.map.length + 4 * result.lines.length;
        }
        if (bytes > ANSWER_BYTES_MAX) {
            made = new Map();
            const all = `${ANSWER_BYTES_MAX / 1024 / 1024} MiB`;
            diagnostics.push(
                tooLarge(script.file, `with this one the Lua of all scripts has more than ${all}`),
            );
            break;
        }
    }
    if (outputs.some(({ usesLibrary }) => usesLibrary)) {
        libraryText ??= library();
        outputs.push({ path: LIBRARY_PATH, lua: libraryText, map: "", lines: [] });
    }
    return outputs;
}

function forget() {
    program = undefined;
    checked = new Map();
    made = new Map();
    leaks = new Map();
}

/** One round. `others`: paths of scripts that have no types here; `givenUp`: what is to be told of them;
 *  `known`: the scripts that the last request has given up on. */
function compileAll(scripts, others, givenUp, known) {
    const names = new Map(scripts.map(({ path, file }) => [`${ROOT}${path}.ts`, file]));
    place.update(scripts, others);
    for (const [i, { path, file }] of scripts.entries()) {
        try {
            // The program would do both, and could not report where it failed.
            const sourceFile = place.sourceFile(`${ROOT}${path}.ts`);
            if (sourceFile.locals === undefined) {
                tell(BIND, scripts, i);
                ts.bindSourceFile(sourceFile, OPTIONS);
            }
        } catch (error) {
            throw new GaveUp(error, file);
        }
    }
    program = ts.createProgram({
        rootNames: place.rootNames(),
        options: OPTIONS,
        host: place.compilerHost(),
        oldProgram: program,
    });
    tellAlive();
    const sources = scripts.map(({ path }) => program.getSourceFile(`${ROOT}${path}.ts`));
    const dependencies = place.dependencyKeys();
    const keys = sources.map(
        ({ fileName }) => `${names.get(fileName)}\n${dependencies.get(fileName)}`,
    );
    const again = keys.find((key) => known.has(key));
    if (again !== undefined) {
        lost.set(again, Object.assign(known.get(again), { isKnown: true }));
        throw known.get(again);
    }
    let diagnostics;
    let outputs = [];
    const hasError = () => diagnostics.some(({ isError }) => isError);
    try {
        diagnostics = [...givenUp, ...check(scripts, sources, keys, names)];
        diagnostics.push(...checkSides(scripts, sources, keys));
        outputs = hasError() ? [] : makeLua(scripts, sources, keys, names, diagnostics);
    } catch (error) {
        const i = scripts.findIndex(({ file }) => file === error.diagnostic?.file);
        if (i >= 0) {
            lost.set(keys[i], error);
        }
        throw error;
    }
    return {
        status: hasError() ? STATUS_ERRORS : STATUS_OK,
        reason: "",
        diagnostics: diagnostics.slice(0, DIAGNOSTICS_MAX),
        outputs: hasError() ? [] : outputs,
    };
}

/** What is to be told of one script that is nested too deeply for all that follows. */
function tooDeep({ path, file }) {
    const name = `${ROOT}${path}.ts`;
    const error = { isError: true, file };
    try {
        const { deep, said } = findTooDeep(place, name);
        const names = new Map([[name, file]]);
        return [
            ...deep.map((one) => ({ ...error, code: "too-deep", ...one })),
            ...said.map((one) => plainDiagnostic(one, names)),
        ];
    } catch (thrown) {
        return [new GaveUp(thrown, file).diagnostic];
    }
}

/** A script that the compiler gives up on hides no mistake of the others: they are looked at once more
 *  as if it were in another language, so that nothing is said of what they import from it. */
function compile({ declarations, scripts: all }) {
    if (declarations !== "") {
        libraries = new Libraries(declarations);
        place = new PlaceHost(libraries);
        forget();
        lost = new Map();
    }
    const known = lost;
    lost = new Map();
    const typed = all.filter(({ isTypeScript }) => isTypeScript);
    place.update(typed, []);
    total = typed.length;
    const givenUp = typed.flatMap((script, i) => {
        if (!place.parsed.has(`${ROOT}${script.path}.ts`)) {
            tell(PARSE, typed, i);
        }
        return tooDeep(script);
    });
    for (let round = 0; round < GIVEN_UP_MAX; round++) {
        const isLeft = ({ isTypeScript, file }) =>
            isTypeScript && !givenUp.some((one) => one.file === file);
        const others = all.filter((script) => !isLeft(script)).map(({ path }) => path);
        try {
            return compileAll(all.filter(isLeft), others, givenUp, known);
        } catch (error) {
            if (!error.isKnown) { // else its caches may be inconsistent
                forget();
                place.parsed.clear();
            }
            if (error instanceof GaveUp) {
                givenUp.push(error.diagnostic);
            } else if (givenUp.length === 0) {
                throw error;
            } else {
                break; // report what is known already
            }
        }
    }
    return { status: STATUS_ERRORS, reason: "", diagnostics: givenUp, outputs: [] };
}

/** {declarations, scripts}: declarations are the text of sandlot.d.ts, or empty if it is as before; of each
 *  script its index, path, file, isTypeScript, isWanted, isSent (to players) and text. */
export function answer(request) {
    try {
        return compile(request);
    } catch (error) {
        forget();
        place?.parsed.clear();
        const reason =
            error instanceof RangeError
                ? "an expression of this place is nested too deeply for the compiler"
                : `the compiler failed: ${error?.message ?? error}`;
        return { status: STATUS_FAILED, reason, diagnostics: [], outputs: [] };
    }
}

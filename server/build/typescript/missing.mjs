// Values that TypeScript's libraries declare but the Lua does not have: without this a script with
// `new Date()` type-checks, and fails when it runs, inside a library that its creator does not
// know. The list contains what exists; so anything that a newer TypeScript declares is missing
// until it is added.
import { ts } from "./host.mjs";

const LIBRARY_ROOT = "/lib/";

const THERE = new Set(
    (
        "Array Map Set WeakMap WeakSet Object Promise Symbol undefined globalThis NaN Infinity Math Number " +
        "String parseInt parseFloat isNaN isFinite Error RangeError ReferenceError SyntaxError TypeError " +
        "URIError"
    ).split(" "),
);

// They become something else where they are called or a member is taken, and are nothing by themselves.
const NO_VALUES = new Set("Math Number String parseInt parseFloat isNaN isFinite".split(" "));

const NUMBERS = "use number[]";
const CODE = "a script cannot make code: write the function";
const ADVICE = new Map([
    ["Date", "use os.time() for the seconds since 1970, os.clock() or World.Time() for what passes"],
    ["JSON", "use Json.Encode(value) and Json.Decode(text)"],
    ["Intl", "use toFixed(n) or string.format(…)"],
    ["Proxy", "write a class with get and set, or functions"],
    ["Reflect", "use Object.keys(x), x[key] and their like"],
    [
        "RegExp",
        "use includes, indexOf, split, replaceAll and their like, or a module in Lua with string.match",
    ],
    ["WeakRef", "keep the object itself, and let go of it in onDestroy or PlayerRemoving"],
    ["FinalizationRegistry", "nothing tells when an object goes: use onDestroy or PlayerRemoving"],
    ["Boolean", "write x !== undefined, or another comparison"],
    ["BigInt", "whole numbers have 64 bits: write the number"],
    ["AggregateError", "use Error"],
    ["EvalError", "use Error"],
    ["eval", CODE],
    ["Function", CODE],
    ["ArrayBuffer", NUMBERS],
    ["SharedArrayBuffer", NUMBERS],
    ["DataView", NUMBERS],
    ["Iterator", "use an array, or a generator in a for … of"],
]);

function adviceOf(name) {
    const known = ADVICE.get(name) ?? (/Array$/.test(name) ? NUMBERS : undefined);
    return known !== undefined ? `there is no ${name}: ${known}` : `there is no ${name} in Lua`;
}

/** `Math.floor`, `String(x)` */
function isUsedAsPart(node) {
    const { parent } = node;
    return (
        (ts.isPropertyAccessExpression(parent) ||
            ts.isElementAccessExpression(parent) ||
            ts.isCallExpression(parent) ||
            ts.isNewExpression(parent)) &&
        parent.expression === node
    );
}

/** Is the name a value that the language's libraries declare for all? (The members of a type that has
 *  no name of its own, as of `typeof f` or the result of a generator's next, have no parent.) */
function isOfLibrary(node, checker) {
    const symbol = ts.isShorthandPropertyAssignment(node.parent)
        ? checker.getShorthandAssignmentValueSymbol(node.parent)
        : checker.getSymbolAtLocation(node);
    return (
        symbol !== undefined &&
        symbol.parent === undefined && // no member of another
        (symbol.flags & ts.SymbolFlags.ClassMember) === 0 &&
        (symbol.flags & ts.SymbolFlags.Value) !== 0 &&
        symbol.declarations?.length > 0 &&
        symbol.declarations.every((one) => one.getSourceFile().fileName.startsWith(LIBRARY_ROOT))
    );
}

/** Types may speak of anything. */
function isOfTypesAlone(node) {
    return (
        (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node)
    );
}

function whyMissing(node, checker) {
    const name = node.text;
    if (THERE.has(name) && (!NO_VALUES.has(name) || isUsedAsPart(node))) {
        return undefined;
    }
    if (ts.isPartOfTypeNode(node) || !isOfLibrary(node, checker)) {
        return undefined;
    }
    return THERE.has(name)
        ? `${name} is nothing by itself in Lua: ` +
              (name === "Math" ? "write Math.floor and its like" : `write (x) => ${name}(x)`)
        : adviceOf(name);
}

/** [{line, column, code, message}] of one source. */
export function findMissing(program, sourceFile) {
    const checker = program.getTypeChecker();
    const found = [];
    const nodes = [sourceFile];
    while (nodes.length > 0) {
        const node = nodes.pop();
        if (isOfTypesAlone(node)) {
            continue;
        }
        const why = ts.isIdentifier(node) ? whyMissing(node, checker) : undefined;
        if (why !== undefined) {
            const { line, character } = sourceFile.getLineAndCharacterOfPosition(
                node.getStart(sourceFile),
            );
            found.push({ line: line + 1, column: character + 1, code: "no-lua", message: why });
        }
        const children = [];
        ts.forEachChild(node, (child) => void children.push(child));
        children.reverse().forEach((child) => nodes.push(child)); // in the order of the text
    }
    return found;
}

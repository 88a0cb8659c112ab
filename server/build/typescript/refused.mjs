// TypeScript that cannot be expressed in Lua: found before anything is generated, so that it is
// reported together with the checker's errors, with its line and a solution. TypeScriptToLua
// rejects most of it too, in terms of its own internals, or fails.
import { ts } from "./host.mjs";

const BY_KIND = new Map([
    [
        ts.SyntaxKind.LabeledStatement,
        "there are no labels: put the inner loop into a function and return from it",
    ],
    [
        ts.SyntaxKind.BigIntLiteral,
        "there is no bigint: write the number without n; whole numbers have 64 bits",
    ],
    [
        ts.SyntaxKind.RegularExpressionLiteral,
        "there are no regular expressions: use includes, indexOf, split, replaceAll and their like, or " +
            "a module in Lua with string.match",
    ],
    [ts.SyntaxKind.DebuggerStatement, "there is no debugger: use print(…)"],
    [ts.SyntaxKind.MetaProperty, "there is neither import.meta nor new.target"],
    [
        ts.SyntaxKind.PrivateIdentifier,
        "there are no # names: write private in front of a plain name",
    ],
]);

function isAsync(node) {
    return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false;
}

function whyRefused(node, checker) {
    const why = BY_KIND.get(node.kind);
    if (why !== undefined) {
        return why;
    }
    if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.Using) !== 0) {
        return "there is no using: end it in the finally of a try";
    }
    if (ts.isAccessor(node) && ts.isObjectLiteralExpression(node.parent)) {
        return "an object literal has no get and set: write a class, or a function";
    }
    if (ts.isFunctionLike(node) && node.asteriskToken !== undefined && isAsync(node)) {
        return "a function is either async or a generator: return an array of promises, or call back";
    }
    if (ts.isForOfStatement(node) && node.awaitModifier !== undefined) {
        return "there is no for await: write await inside of a plain for … of";
    }
    if (ts.isIdentifier(node) && node.text === "arguments") {
        const symbol = checker.getSymbolAtLocation(node);
        return symbol !== undefined && checker.isArgumentsSymbol(symbol)
            ? "there is no arguments: write (...args: number[]) and use args"
            : undefined;
    }
    return undefined;
}

/** [{line, column, code, message}] of one source. */
export function findRefused(program, sourceFile) {
    const checker = program.getTypeChecker();
    const found = [];
    const nodes = [sourceFile];
    while (nodes.length > 0) {
        const node = nodes.pop();
        const why = whyRefused(node, checker);
        if (why !== undefined) {
            const start = node.getStart(sourceFile);
            const { line, character } = sourceFile.getLineAndCharacterOfPosition(start);
            found.push({ line: line + 1, column: character + 1, code: "no-lua", message: why });
        }
        const children = [];
        ts.forEachChild(node, (child) => void children.push(child));
        children.reverse().forEach((child) => nodes.push(child)); // in the order of the text
    }
    return found;
}

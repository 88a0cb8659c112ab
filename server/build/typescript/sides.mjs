// What a script that players get uses of one that stays on the server. Types vanish, but a value
// can be written into the Lua without any `require` that the build would see: a const enum, or the
// values that an enum's members are computed from. So a script that is sent must not name values of
// one that is not.
import { ts } from "./host.mjs";

const VALUES =
    ts.SymbolFlags.Variable |
    ts.SymbolFlags.Function |
    ts.SymbolFlags.Class |
    ts.SymbolFlags.Enum |
    ts.SymbolFlags.EnumMember |
    ts.SymbolFlags.ValueModule;

function isOfTypesAlone(node) {
    return (
        (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node) ||
        (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true) ||
        (ts.isExportDeclaration(node) && node.isTypeOnly) ||
        ((ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) && node.isTypeOnly)
    );
}

/** The file of `secret` that a name's value is of; undefined: none. */
function originOf(checker, node, secret) {
    let symbol = checker.getSymbolAtLocation(node);
    if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0) {
        symbol = checker.getAliasedSymbol(symbol);
    }
    if (symbol === undefined || (symbol.flags & VALUES) === 0) {
        return undefined;
    }
    return symbol.declarations
        ?.map((declaration) => declaration.getSourceFile().fileName)
        .find((fileName) => secret.has(fileName));
}

/** `secret`: "/place/….ts" → the script, of those that stay on the server. */
export function findLeaks(program, sourceFile, secret) {
    const checker = program.getTypeChecker();
    const found = [];
    const nodes = [sourceFile];
    const said = new Set(); // each name is reported once
    while (nodes.length > 0) {
        const node = nodes.pop();
        if (isOfTypesAlone(node)) {
            continue;
        }
        const origin = ts.isIdentifier(node) ? originOf(checker, node, secret) : undefined;
        if (origin !== undefined && !said.has(node.text)) {
            said.add(node.text);
            const { line, character } = sourceFile.getLineAndCharacterOfPosition(node.getStart());
            const path = secret.get(origin);
            found.push({
                line: line + 1,
                column: character + 1,
                code: "server-only",
                message:
                    `"${node.text}" is of ${path}, which stays on the server, and its value would ` +
                    "be sent to players with this script; " +
                    (path.startsWith("ServerScriptService/")
                        ? "move it to ReplicatedStorage"
                        : "contexts in place.json keeps it there") +
                    ", or import types alone (import type)",
            });
        }
        const children = [];
        ts.forEachChild(node, (child) => void children.push(child));
        children.reverse().forEach((child) => nodes.push(child)); // in the order of the text
    }
    return found;
}

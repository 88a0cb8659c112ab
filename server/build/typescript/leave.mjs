// `break` and `continue` out of a `try`. TypeScriptToLua turns the blocks of a `try` into
// functions, and a function cannot leave a loop around it in Lua. So the function records what to
// do and returns, and the code after the `try` does it, or passes it on to the next one:
//
//     local ____leave1
//     …pcall(function() … ____leave1 = "break"; return … end)
//     if ____leave1 == "break" then break end
import { createRequire } from "node:module";
import { ts } from "./host.mjs";

const require = createRequire(import.meta.url);
const lua = require("typescript-to-lua/dist/LuaAST.js");
const { isInAsyncFunction } = require("typescript-to-lua/dist/transformation/utils/typescript");

const WORDS = new Map([
    [ts.SyntaxKind.BreakStatement, "break"],
    [ts.SyntaxKind.ContinueStatement, "continue"],
]);

/** The `try` that a `break` or `continue` leaves first on its way out of `from`, if any. */
function tryAround(node, from) {
    const isGoal = (one) =>
        ts.isIterationStatement(one, false) ||
        (ts.isSwitchStatement(one) && ts.isBreakStatement(node)) ||
        ts.isFunctionLike(one);
    for (let one = from; one.parent !== undefined && !isGoal(one.parent); one = one.parent) {
        const { parent } = one;
        // After `finally` there is a function in async functions only.
        if (
            ts.isTryStatement(parent) &&
            (one !== parent.finallyBlock || isInAsyncFunction(node))
        ) {
            return parent;
        }
    }
    return undefined;
}

/** Visitors of TypeScriptToLua for one file. */
export function leaveVisitors() {
    const waiting = new Map(); // a `try` → {name, nodes: by word}, while it is transformed
    const leftBy = new Map(); // a `break` → the `try` that it has left already
    let count = 0;

    function leave(node, context) {
        const around = tryAround(node, leftBy.get(node) ?? node);
        if (around === undefined) {
            // TypeScriptToLua's own `break` takes a `switch` in an async `try` for a loop outside
            // it.
            return ts.isBreakStatement(node)
                ? [lua.createBreakStatement(node)]
                : context.superTransformStatements(node);
        }
        if (!waiting.has(around)) {
            count += 1;
            waiting.set(around, { name: `____leave${count}`, nodes: new Map() });
        }
        const { name, nodes } = waiting.get(around);
        const word = WORDS.get(node.kind);
        nodes.set(word, node);
        return [
            lua.createAssignmentStatement(
                lua.createIdentifier(name),
                lua.createStringLiteral(word),
                node,
            ),
            lua.createReturnStatement([], node),
        ];
    }

    function visitTry(node, context) {
        const statements = context.superTransformStatements(node);
        const left = waiting.get(node);
        if (left === undefined) {
            return statements;
        }
        waiting.delete(node);
        const after = [...left.nodes].map(([word, one]) => {
            leftBy.set(one, node);
            return lua.createIfStatement(
                lua.createBinaryExpression(
                    lua.createIdentifier(left.name),
                    lua.createStringLiteral(word),
                    lua.SyntaxKind.EqualityOperator,
                ),
                lua.createBlock(context.transformStatements(one)),
            );
        });
        const note = lua.createVariableDeclarationStatement(lua.createIdentifier(left.name));
        return [lua.createDoStatement([note, ...statements, ...after], node)];
    }

    return {
        [ts.SyntaxKind.BreakStatement]: leave,
        [ts.SyntaxKind.ContinueStatement]: leave,
        [ts.SyntaxKind.TryStatement]: visitTry,
    };
}

// `for (let i = 0; …)` with a function in it that uses i: each round has an i of its own, as
// TypeScript says. TypeScriptToLua has one for all rounds. So the value is carried from one round to
// the next, and the function keeps the variable of its round:
//
//     local i = 0
//     local ____round1, ____next1 = i, false
//     while true do
//         local i = ____round1
//         if ____next1 then i = i + 1 else ____next1 = true end
//         if not (i < 3) then break end
//         do … end
//         ____round1 = i
//     end
//
// And `yield x`, which is handed to the library: it knows who asked, also if the generator has waited.
import { createRequire } from "node:module";
import { ts } from "./host.mjs";

const require = createRequire(import.meta.url);
require("typescript-to-lua/dist/transformation/visitors/index.js"); // before its parts: they are a circle
const lua = require("typescript-to-lua/dist/LuaAST.js");
const inside = "typescript-to-lua/dist/transformation/";
const { LuaLibFeature, transformLuaLibFunction } = require(`${inside}utils/lualib.js`);
const { transformInPrecedingStatementScope } = require(`${inside}utils/preceding-statements.js`);
const { ScopeType } = require(`${inside}utils/scope.js`);
const { transformIdentifier } = require(`${inside}visitors/identifier.js`);
const { invertCondition, transformLoopBody } = require(`${inside}visitors/loops/utils.js`);
const variables = require(`${inside}visitors/variable-declaration.js`);

/** The names that a declaration or pattern declares. */
function namesOf(name) {
    return ts.isIdentifier(name)
        ? [name]
        : name.elements
              .filter((element) => !ts.isOmittedExpression(element))
              .flatMap((element) => namesOf(element.name));
}

/** The variables of a loop that a function in it uses. */
function keptNames(node, checker) {
    const { initializer } = node;
    if (
        initializer === undefined ||
        !ts.isVariableDeclarationList(initializer) ||
        (initializer.flags & ts.NodeFlags.BlockScoped) !== ts.NodeFlags.Let
    ) {
        return [];
    }
    const names = initializer.declarations.flatMap(({ name }) => namesOf(name));
    const symbols = new Map(names.map((name) => [checker.getSymbolAtLocation(name), name]));
    const texts = new Set(names.map(({ text }) => text));
    const kept = new Set();
    const stack = [[node, false]];
    while (stack.length > 0) {
        const [one, isInFunction] = stack.pop();
        if (isInFunction && ts.isIdentifier(one) && texts.has(one.text)) {
            const symbol = ts.isShorthandPropertyAssignment(one.parent)
                ? checker.getShorthandAssignmentValueSymbol(one.parent)
                : checker.getSymbolAtLocation(one);
            const name = symbols.get(symbol);
            if (name !== undefined) {
                kept.add(name);
            }
        }
        const next = isInFunction || (ts.isFunctionLike(one) && !ts.isTypeNode(one));
        ts.forEachChild(one, (child) => void stack.push([child, next]));
    }
    return [...kept];
}

/** Statements that leave the loop if its condition does not hold. */
function leaveUnless(node, context) {
    if (node.condition === undefined) {
        return [];
    }
    const { precedingStatements, result } = transformInPrecedingStatementScope(context, () =>
        context.transformExpression(node.condition),
    );
    const leave = lua.createBlock([lua.createBreakStatement()]);
    return [
        ...precedingStatements,
        lua.createIfStatement(invertCondition(result), leave, undefined, node.condition),
    ];
}

/** Statements that do what comes between two rounds, except before the first. */
function stepAfter(flag, node, context) {
    if (node.incrementor === undefined) {
        return [];
    }
    const step = context.transformStatements(
        ts.factory.createExpressionStatement(node.incrementor),
    );
    const isNext = lua.createAssignmentStatement(flag, lua.createBooleanLiteral(true));
    return [lua.createIfStatement(flag, lua.createBlock(step), lua.createBlock([isNext]), node)];
}

/** Visitors of TypeScriptToLua for one file. */
export function roundVisitors() {
    let count = 0;

    function visitFor(node, context) {
        const kept = keptNames(node, context.checker);
        if (kept.length === 0) {
            return context.superTransformStatements(node);
        }
        count += 1;
        context.pushScope(ScopeType.Loop, node);
        variables.checkVariableDeclarationList(context, node.initializer);
        const begin = node.initializer.declarations.flatMap((declaration) =>
            variables.transformVariableDeclaration(context, declaration),
        );
        const own = kept.map((name) => transformIdentifier(context, name));
        const carried = own.map((_, i) => lua.createIdentifier(`____round${count}_${i + 1}`));
        const flag = lua.createIdentifier(`____next${count}`);
        const body = transformLoopBody(context, node);
        const round = lua.createBlock([
            lua.createVariableDeclarationStatement(own, carried, node.initializer),
            ...stepAfter(flag, node, context),
            ...leaveUnless(node, context),
            lua.createDoStatement(body),
            lua.createAssignmentStatement(carried, own, node.initializer),
        ]);
        context.popScope();
        const loop = lua.createWhileStatement(round, lua.createBooleanLiteral(true), node);
        return lua.createDoStatement(
            [
                ...begin,
                lua.createVariableDeclarationStatement(
                    [...carried, flag],
                    [...own, lua.createBooleanLiteral(false)],
                    node.initializer,
                ),
                loop,
            ],
            node,
        );
    }

    function visitYield(node, context) {
        if (node.asteriskToken !== undefined) {
            return context.superTransformExpression(node);
        }
        const value =
            node.expression !== undefined
                ? context.transformExpression(node.expression)
                : lua.createNilLiteral();
        return transformLuaLibFunction(context, LuaLibFeature.Await, node, value);
    }

    return {
        [ts.SyntaxKind.ForStatement]: visitFor,
        [ts.SyntaxKind.YieldExpression]: visitYield,
    };
}

// From a checked program to Lua: TypeScriptToLua's transformation with a printer of our own, which
// writes imports as paths for our `require`, and the table from lines of the Lua to lines of the
// source.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tellAlive } from "./frame.mjs";
import { ROOT, ts } from "./host.mjs";
import { leaveVisitors } from "./leave.mjs";

const require = createRequire(import.meta.url);
const { getProgramTranspileResult } = require("typescript-to-lua/dist/transpilation/transpile.js");
const { standardVisitors } = require("typescript-to-lua/dist/transformation/visitors/index.js");
const { LuaPrinter } = require("typescript-to-lua/dist/LuaPrinter.js");
const { LuaLibFeature, buildMinimalLualibBundle } = require("typescript-to-lua/dist/LuaLib.js");
const lua = require("typescript-to-lua/dist/LuaAST.js");
const known = require("typescript-to-lua/dist/transformation/utils/diagnostics.js");
tellAlive();

export const LIBRARY_PATH = "ReplicatedStorage/lualib_bundle";
const LIBRARY_NAME = "lualib_bundle"; // as TypeScriptToLua calls it

// Only its own files: other files do not exist for it.
const libraryFiles = require.resolve("typescript-to-lua").replace(/index\.js$/, "lualib/");
const emitHost = {
    fileExists: () => false,
    directoryExists: () => false,
    getCurrentDirectory: () => ROOT,
    readFile: (name) =>
        name.startsWith(libraryFiles) ? readFileSync(name, "utf8") : undefined,
    writeFile: () => {},
};

// By TypeScriptToLua's code: what to write instead, if its own message does not say so.
export const ADVICE = new Map([
    [known.decoratorInvalidContext.code, "write this: any as its first parameter"],
    [known.awaitMustBeInAsyncFunction.code, "put it into an async function and call that"],
    [known.forbiddenForIn.code, "use for … of, or .entries() for the indices too"],
    [
        known.unsupportedArrayWithLengthConstructor.code,
        "write [] and push, or Array.from({ length: n }, () => 0)",
    ],
]);

/** `-x`, or what a const enum has below zero. */
function isNegative(expression) {
    return lua.isUnaryExpression(expression)
        ? expression.operator === lua.SyntaxKind.NegationOperator
        : lua.isNumericLiteral(expression) && expression.value < 0;
}

function isInline(expression) {
    return lua.isFunctionExpression(expression) && lua.isInlineFunctionExpression(expression);
}

// What Lua's parser takes of statements and expressions inside one another: LUAI_MAXCCALLS less its
// beginning. It says "C stack overflow", and not where.
const LEVELS_MAX = 125;

class RequirePrinter extends LuaPrinter {
    constructor(program, fileName, place) {
        super(emitHost, program, fileName);
        this.place = place;
        this.usesLibrary = false;
        this.level = 0;
        this.deepest = { level: 0, position: {} };
        this.position = {}; // of the innermost node that has one: {line, column}, from 0
        this.chained = new Set(); // expressions that Lua reads without going a level deeper
        this.line = undefined; // of the source: the last that was begun to be printed
    }
    printCallExpression(expression) {
        const [parameter] = expression.params;
        if (
            expression.expression.text === "require" &&
            parameter !== undefined &&
            lua.isStringLiteral(parameter)
        ) {
            parameter.value = this.modulePath(parameter.value);
        }
        this.chained.add(expression.expression);
        return super.printCallExpression(expression);
    }
    /** `local E = E or ({})` of an enum or a namespace: E is new here, whatever is called so outside. */
    printVariableDeclarationStatement(statement) {
        const [name, second] = statement.left;
        const [value] = statement.right ?? [];
        if (
            second === undefined &&
            value !== undefined &&
            lua.isBinaryExpression(value) &&
            value.operator === lua.SyntaxKind.OrOperator &&
            lua.isIdentifier(value.left) &&
            value.left.text === name.text &&
            lua.isTableExpression(value.right)
        ) {
            statement.right = [value.right];
        }
        return super.printVariableDeclarationStatement(statement);
    }
    // --- what would be read otherwise than it is meant, or not at all ---

    /** In front of `.`, `[` and `(`, where nothing is said of precedence, Lua wants a name, a call or a
     *  parenthesis: `(nil).x` is a fault when it runs, as in JavaScript, and `nil.x` no Lua. */
    needsParenthesis(expression, minPrecedence) {
        if (isNegative(expression)) {
            const precedence = LuaPrinter.operatorPrecedence[lua.SyntaxKind.NegationOperator];
            return minPrecedence === undefined || precedence < minPrecedence;
        }
        return (
            (minPrecedence === undefined && lua.isLiteral(expression)) ||
            super.needsParenthesis(expression, minPrecedence)
        );
    }
    /** `-(-x)`: two signs without anything between them begin a comment. */
    printUnaryExpression(expression) {
        const { operator, operand } = expression;
        if (operator === lua.SyntaxKind.NegationOperator && isNegative(operand)) {
            expression.operand = lua.createParenthesizedExpression(operand);
        }
        return super.printUnaryExpression(expression);
    }
    /** `until x` and a line that begins with a parenthesis would be a call. */
    statementMayRequireSemiColon(statement) {
        return lua.isRepeatStatement(statement) || super.statementMayRequireSemiColon(statement);
    }
    /** A carriage return ends a line in Lua, and with it the comment. */
    printComment(comment) {
        const plain = (line) => (typeof line === "string" ? line.replace(/\r/g, " ") : line);
        return super.printComment(Array.isArray(comment) ? comment.map(plain) : plain(comment));
    }

    // --- how deep it is for Lua, which has a level for each statement and for each expression that is
    // not the beginning of another ---

    deeper(node, levels, print) {
        const { position } = this;
        const { line, column } = lua.getOriginalPos(node);
        if (line !== undefined) {
            this.position = { line, column };
        }
        this.level += levels;
        if (this.level > this.deepest.level) {
            this.deepest = { level: this.level, position: this.position };
        }
        const printed = print();
        this.level -= levels;
        this.position = position;
        return printed;
    }
    printStatement(statement) {
        this.beginLine(statement);
        return this.deeper(statement, 1, () => super.printStatement(statement));
    }
    printExpression(expression) {
        const isBeginning = this.chained.has(expression) || lua.isTableFieldExpression(expression);
        // `function() return x end` has a statement that is not printed as one.
        const levels = (isBeginning ? 0 : 1) + (isInline(expression) ? 1 : 0);
        const before = this.isOnNewLine(expression) ? this.newLine() : "";
        const printed = this.deeper(expression, levels, () => super.printExpression(expression));
        return before === "" ? printed : this.concatNodes(before, printed);
    }
    printExpressionInParenthesesIfNeeded(expression, minPrecedence) {
        const levels = this.needsParenthesis(expression, minPrecedence) ? 1 : 0;
        return this.deeper(expression, levels, () =>
            super.printExpressionInParenthesesIfNeeded(expression, minPrecedence),
        );
    }
    printBinaryExpression(expression) {
        this.chained.add(expression.left);
        return super.printBinaryExpression(expression);
    }
    printMethodCallExpression(expression) {
        this.chained.add(expression.prefixExpression);
        return super.printMethodCallExpression(expression);
    }
    printTableIndexExpression(expression) {
        this.chained.add(expression.table);
        return super.printTableIndexExpression(expression);
    }

    // --- lines: a fault in Lua has its line and nothing finer. So what begins on a line of its own in
    // the source does so in the Lua, inside of calls, texts and sums too ---

    newLine() {
        return `\n${this.currentIndent}    `;
    }
    /** What comes now has a line of its own anyway. Most statements do not know which. */
    beginLine(node) {
        this.line = lua.getOriginalPos(node).line;
    }
    isOnNewLine(node) {
        const { line } = lua.getOriginalPos(node);
        if (line === undefined || line <= this.line) {
            return false;
        }
        const isNew = this.line !== undefined;
        this.line = line;
        return isNew;
    }
    /** As it is in the printer itself, with lines of their own for what has them anyway. */
    printExpressionList(expressions) {
        if (this.isSimpleExpressionList(expressions)) {
            return super.printExpressionList(expressions);
        }
        this.pushIndent();
        const items = expressions.flatMap((expression) => {
            this.beginLine(expression);
            return ["\n", this.indent(), this.printExpression(expression), ","];
        });
        this.popIndent();
        return [...items.slice(0, -1), "\n", this.indent()];
    }
    printIfStatement(statement, isElseIf) {
        this.beginLine(statement);
        return super.printIfStatement(statement, isElseIf);
    }

    modulePath(specifier) {
        if (specifier === LIBRARY_NAME) {
            this.usesLibrary = true;
            return LIBRARY_PATH;
        }
        const found = this.place.find(specifier, this.sourceFile);
        return found !== undefined ? found.slice(ROOT.length) : specifier;
    }
}

// --- source maps --------------------------------------------------------------------------------

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The numbers of one segment of "mappings". */
function decodeSegment(text) {
    const numbers = [];
    let value = 0;
    let shift = 0;
    for (const character of text) {
        const digit = DIGITS.indexOf(character);
        value += (digit & 31) << shift;
        shift += 5;
        if ((digit & 32) === 0) {
            numbers.push((value & 1) !== 0 ? -(value >>> 1) : value >>> 1);
            value = 0;
            shift = 0;
        }
    }
    return numbers;
}

/** By line of the Lua, from 0: the line of the source, from 1. A line without one has that of the
 *  line before it: it belongs to the same statement. */
export function lineTable(mappings, lineCount) {
    const lines = [];
    let source = 0; // the running sum of the source lines, from 0
    let last = 1;
    for (const group of mappings.split(";")) {
        let first = 0;
        for (const segment of group === "" ? [] : group.split(",")) {
            const numbers = decodeSegment(segment);
            source += numbers[2] ?? 0;
            if (first === 0 && numbers.length >= 4) {
                first = source + 1;
            }
        }
        last = first !== 0 ? first : last;
        lines.push(last);
    }
    while (lines.length < lineCount) {
        lines.push(last);
    }
    return lines.slice(0, lineCount);
}

// --- files --------------------------------------------------------------------------------------

function isStatement(kind) {
    return (
        (kind >= ts.SyntaxKind.FirstStatement && kind <= ts.SyntaxKind.LastStatement) ||
        kind === ts.SyntaxKind.FunctionDeclaration ||
        kind === ts.SyntaxKind.ClassDeclaration
    );
}

/** Visitors of TypeScriptToLua that keep in `position` where it is, for when it throws. */
function positionVisitors(sourceFile, position) {
    const visit = (node, context) => {
        const before = { ...position };
        if (node.pos >= 0) {
            const start = node.getStart(sourceFile);
            const { line, character } = sourceFile.getLineAndCharacterOfPosition(start);
            Object.assign(position, { line: line + 1, column: character + 1 });
        }
        const made = context.superTransformStatements(node);
        Object.assign(position, before);
        return made;
    };
    const kinds = Object.keys(standardVisitors).map(Number).filter(isStatement);
    return Object.fromEntries(kinds.map((kind) => [kind, visit]));
}

function tooDeepForLua(file, line, column) {
    return {
        category: ts.DiagnosticCategory.Error,
        source: "typescript-to-lua",
        file,
        start: file.getPositionOfLineAndCharacter(line, column),
        messageText:
            "brackets, calls, functions, blocks or texts that are joined by + are nested more than " +
            `${LEVELS_MAX} levels deep here, and Lua takes no more. Split it: give parts of it names, or ` +
            'make functions of them; join many texts with [a, b, c].join("")',
    };
}

/** {lua, map, lines, usesLibrary, diagnostics} of one source. Should it throw, `position` is the
 *  statement where: {line, column}. */
export function transpile(program, sourceFile, place, fileName, position) {
    let printer;
    const { diagnostics, transpiledFiles } = getProgramTranspileResult(emitHost, () => {}, {
        program,
        sourceFiles: [sourceFile],
        plugins: [
            {
                visitors: leaveVisitors(),
                printer: (program_, _host, name, file) => {
                    printer = new RequirePrinter(program_, name, place);
                    return printer.print(file);
                },
            },
            { visitors: positionVisitors(sourceFile, position) },
        ],
    });
    const [file] = transpiledFiles;
    if (file === undefined) {
        return { lua: "", map: "", lines: [], usesLibrary: false, diagnostics };
    }
    if (printer.deepest.level > LEVELS_MAX) {
        const { line = 0, column = 0 } = printer.deepest.position;
        diagnostics.push(tooDeepForLua(sourceFile, line, column));
    }
    const map = { ...JSON.parse(file.sourceMap), file: "", sources: [fileName] };
    return {
        lua: file.code,
        map: JSON.stringify(map),
        lines: lineTable(map.mappings, file.code.split("\n").length),
        usesLibrary: printer.usesLibrary,
        // Our own traps report the same, with a solution.
        diagnostics: diagnostics.filter(({ code }) => code !== known.truthyOnlyConditionalValue.code),
    };
}

// --- the library --------------------------------------------------------------------------------

// Errors ask for the stack, which scripts cannot see.
const PREFIX =
    "local debug = {getinfo = function(level) if level == 3 then return {} end end, " +
    "traceback = function() end}\nlocal unpack = table.unpack\n";

// A rejection that is not handled by the end of the turn is a fault of its script, as in other
// runtimes; the library itself ignores it. Handled means: it has callbacks, a callback returned it,
// or it was passed to Promise.all and similar functions.
const REJECTIONS = `
do
    local Promise, prototype = __TS__Promise, __TS__Promise.prototype
    local add, reject, rejected = prototype.addCallbacks, prototype.reject, Promise.reject
    local take = prototype.handleCallbackValue
    local function mark(value)
        if __TS__InstanceOf(value, Promise) then
            value.isHandled = true
        end
    end
    local function together(combine)
        return function(iterable)
            local items = {}
            for _, item in __TS__Iterator(iterable) do
                mark(item)
                items[#items + 1] = item
            end
            return combine(items)
        end
    end
    __TS__PromiseAll = together(__TS__PromiseAll)
    __TS__PromiseAllSettled = together(__TS__PromiseAllSettled)
    __TS__PromiseAny = together(__TS__PromiseAny)
    __TS__PromiseRace = together(__TS__PromiseRace)
    function prototype.handleCallbackValue(self, value, ...)
        mark(value)
        return take(self, value, ...)
    end
    local function watch(promise)
        task.defer(function()
            if not promise.isHandled then
                error("unhandled rejection: " .. tostring(promise.rejectionReason), 0)
            end
        end)
    end
    function prototype.addCallbacks(self, ...)
        self.isHandled = true
        return add(self, ...)
    end
    function prototype.reject(self, reason)
        if self.state == 0 and not self.isHandled then
            watch(self)
        end
        return reject(self, reason)
    end
    function Promise.reject(...)
        local promise = rejected(...)
        watch(promise)
        return promise
    end
end
`;

/** What the Lua made from TypeScript calls, whole: it is the same for every place, so that it is
 *  compiled, sent and kept once, and an edit never changes it. */
export function library() {
    const features = Object.values(LuaLibFeature).filter((name) => name !== "SourceMapTraceBack");
    const text = buildMinimalLualibBundle(new Set(features), "5.4", emitHost);
    // Weak tables would show scripts when memory is collected: WeakMap and WeakSet keep what is in
    // them.
    const pieces = text.split('{__mode = "k"}');
    const plain = pieces.join("{}");
    const exported = plain.lastIndexOf("return {");
    if (pieces.length !== 3 || exported < plain.lastIndexOf("\nend")) {
        throw new Error("TypeScriptToLua's library is not the one that this compiler knows");
    }
    return PREFIX + plain.slice(0, exported) + REJECTIONS + plain.slice(exported);
}

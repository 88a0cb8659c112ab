// From a checked program to Lua: TypeScriptToLua's transformation with a printer of our own, which
// writes imports as paths for our `require`, and the table from lines of the Lua to lines of the
// source.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tellAlive } from "./frame.mjs";
import { ROOT, ts } from "./host.mjs";
import { leaveVisitors } from "./leave.mjs";
import { roundVisitors } from "./rounds.mjs";

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
        const call = super.printCallExpression(expression);
        // No tail call: the library finds the line of an async function on the stack.
        return expression.expression.text === "__TS__AsyncAwaiter"
            ? this.createSourceNode(expression, ["(", call, ")"])
            : call;
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
                visitors: { ...leaveVisitors(), ...roundVisitors() },
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

// Where the creator's code is, for errors that are told later or elsewhere: "at Workspace/Door.ts:12".
// `error` names the line of a function that is so many calls away.
const PLACES = `
local where, place_of, thrownAt, later
do
    local pcall, error, find, match = pcall, error, string.find, string.match
    -- If \`after\` is given: of the code that called the function at that place.
    function where(after)
        for level = 3, 24 do
            local _, place = pcall(error, "", level)
            if place == after then
                after = nil
            elseif after == nil and find(place, ":%d+: $") and
                not find(place, "${LIBRARY_PATH}", 1, true) then
                return match(place, "^(.*): $")
            end
        end
    end
    -- The place of an error, and what it says.
    function place_of(reason, otherwise)
        if type(reason) == "string" then
            local place, rest = match(reason, "^([^\\n:]+[/.][^\\n:]+:%d+): (.*)$")
            return place or otherwise, rest or reason
        end
        local stack = type(reason) == "table" and reason.stack
        local place = type(stack) == "string" and match(stack, "^at ([^\\n]+)")
        return place or otherwise, reason == nil and "undefined" or tostring(reason)
    end
    local function defer(call)
        task.defer(call)
    end
    -- At the end of this turn, or in the next tick if this one has had too many of them.
    function later(call)
        if not pcall(defer, call) then
            task.delay(0, call)
        end
    end
    local new -- the place in __TS__New that calls a constructor
    local probe = {prototype = {____constructor = function()
        local _, place = pcall(error, "", 3)
        new = place
    end}}
    probe.prototype.__index = probe.prototype
    __TS__New(probe)
    local construct = Error.prototype.____constructor
    function Error.prototype.____constructor(self, message)
        construct(self, message)
        local place = where(new) -- not of the constructor of a class that extends Error
        self.stack = place and "at " .. place or nil
    end
end
`;

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
    local function watch(promise, rejectedAt)
        later(function()
            if not promise.isHandled then
                local place, what = place_of(promise.rejectionReason, rejectedAt)
                error((place and place .. ": " or "") .. "unhandled rejection: " .. what, 0)
            end
        end)
    end
    function prototype.addCallbacks(self, ...)
        self.isHandled = true
        return add(self, ...)
    end
    function prototype.reject(self, reason)
        if self.state == 0 and not self.isHandled then
            watch(self, thrownAt or where())
        end
        return reject(self, reason)
    end
    function Promise.reject(...)
        local promise = rejected(...)
        watch(promise, where())
        return promise
    end
end
`;

// async, await and generators, in coroutines that may also wait for time, for a store or for a
// signal: TypeScriptToLua's own take every pause for an await or a yield, and resume what the
// scheduler resumes too. Here an async function settles its promise itself, and who awaits one that
// is not settled waits for a signal, so that the scheduler alone resumes it. A generator that waits
// lets the one that asked it wait too. Functions that start one another are nested coroutines, of
// which Lua takes few: a deep one starts when the others have paused.
const PAUSES = `
do
    local Promise = __TS__Promise
    local create, resume, running = coroutine.create, coroutine.resume, coroutine.running
    local status, yield, pcall, error = coroutine.status, coroutine.yield, pcall, error
    local function fire(signal)
        signal:Fire()
    end
    local NESTED_MAX = 8
    local nested = 0
    function __TS__AsyncAwaiter(generator)
        local _, begunAt = pcall(error, "", 3) -- for what is thrown and is no Error
        return __TS__New(Promise, function(____, resolve, reject)
            local isReturned = false
            local function give(____, value)
                isReturned = true
                return Promise.resolve(value):addCallbacks(resolve, reject)
            end
            local function body()
                local isGood, result = pcall(generator, give)
                if not isGood then
                    thrownAt = string.match(begunAt, "^(.*): $")
                    reject(nil, result)
                    thrownAt = nil
                elseif not isReturned then
                    resolve(nil, result)
                end
            end
            if nested >= NESTED_MAX then
                later(body)
                return
            end
            nested = nested + 1
            local isGood, what = resume(create(body))
            nested = nested - 1
            if not isGood then
                error(what, 0)
            end
        end)
    end
    local asked = {} -- the generators that run now, by their coroutine
    local function settled(promise)
        if promise.state == 2 then
            promise.isHandled = true
            error(promise.rejectionReason, 0)
        end
        return promise.value
    end
    function __TS__Await(thing)
        local generator = asked[running()]
        if generator ~= nil then
            generator.given, generator.isGiven = thing, true
            return yield()
        end
        if not __TS__InstanceOf(thing, Promise) then
            return thing
        end
        if thing.state == 0 then
            local signal = Signal.new()
            local function wake()
                if not pcall(fire, signal) then -- too many of them in one tick
                    task.delay(0, fire, signal)
                end
            end
            thing:addCallbacks(wake, wake)
            signal:Wait()
        end
        return settled(thing)
    end
    local function finish(generator, isGood, value)
        generator.isDone, generator.isGood, generator.value = true, isGood, value
    end
    -- Runs a generator up to its next yield: whether there was one, and what it gave.
    local function ask(generator, ...)
        local thread = generator.____coroutine
        if generator.isDone then
            return false
        end
        if asked[thread] ~= nil then
            error("a generator is asked for its next value while it makes one", 0)
        end
        asked[thread], generator.isGiven = generator, false
        resume(thread, ...)
        if not generator.isGiven and not generator.isDone then
            repeat
                task.wait()
            until generator.isGiven or generator.isDone
            task.cancel(thread) -- it is resumed from here again
        end
        asked[thread] = nil
        if generator.isDone and not generator.isGood then
            error(generator.value, 0)
        end
        return not generator.isDone, generator.given
    end
    local function itself(self)
        return self
    end
    local function next(self, ...)
        if self.isDone then
            return {done = true}
        end
        local isGiven, value = ask(self, ...)
        if isGiven then
            return {value = value, done = false}
        end
        return {value = self.value, done = true}
    end
    function __TS__Generator(fn)
        return function(...)
            local arguments, count = {...}, select("#", ...)
            local generator = {[Symbol.iterator] = itself, next = next}
            generator.____coroutine = create(function()
                finish(generator, pcall(fn, unpack(arguments, 1, count)))
            end)
            return generator
        end
    end
    local iterate = __TS__Iterator
    local function step(generator)
        local isGiven, value = ask(generator)
        if isGiven then
            return true, value
        end
    end
    local function is_generator(value)
        return type(value) == "table" and value.____coroutine ~= nil
    end
    function __TS__Iterator(iterable)
        if is_generator(iterable) then
            return step, iterable
        end
        return iterate(iterable)
    end
    function __TS__DelegatedYield(iterable)
        if is_generator(iterable) then
            local isGiven, value = ask(iterable)
            while isGiven do
                isGiven, value = ask(iterable, __TS__Await(value))
            end
            return iterable.value
        end
        local iterator = type(iterable) == "table" and iterable[Symbol.iterator]
        if iterator then
            iterator = iterator(iterable)
            local result = iterator:next()
            while not result.done do
                __TS__Await(result.value)
                result = iterator:next()
            end
            return result.value
        end
        for _, value in iterate(iterable) do
            __TS__Await(value)
        end
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
    const own = PLACES + REJECTIONS + PAUSES;
    return PREFIX + plain.slice(0, exported) + own + plain.slice(exported);
}

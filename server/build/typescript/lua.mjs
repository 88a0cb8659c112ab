// From a checked program to Lua: TypeScriptToLua's transformation with a printer of our own, which
// writes imports as the paths that our `require` knows, and the table from lines of the Lua to lines
// of the source.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ROOT, ts } from "./host.mjs";

const require = createRequire(import.meta.url);
const { getProgramTranspileResult } = require("typescript-to-lua/dist/transpilation/transpile.js");
const { LuaPrinter } = require("typescript-to-lua/dist/LuaPrinter.js");
const { LuaLibFeature, buildMinimalLualibBundle } = require("typescript-to-lua/dist/LuaLib.js");
const lua = require("typescript-to-lua/dist/LuaAST.js");
const known = require("typescript-to-lua/dist/transformation/utils/diagnostics.js");

export const LIBRARY_PATH = "ReplicatedStorage/lualib_bundle";
const LIBRARY_NAME = "lualib_bundle"; // as TypeScriptToLua calls it

// Its own files alone: what it is asked for besides does not exist.
const libraryFiles = require.resolve("typescript-to-lua").replace(/index\.js$/, "lualib/");
const emitHost = {
    fileExists: () => false,
    directoryExists: () => false,
    getCurrentDirectory: () => ROOT,
    readFile: (name) =>
        name.startsWith(libraryFiles) ? readFileSync(name, "utf8") : undefined,
    writeFile: () => {},
};

class RequirePrinter extends LuaPrinter {
    constructor(program, fileName, place) {
        super(emitHost, program, fileName);
        this.place = place;
        this.usesLibrary = false;
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

/** {lua, map, lines, usesLibrary, diagnostics} of one source. */
export function transpile(program, sourceFile, place, fileName) {
    let printer;
    const { diagnostics, transpiledFiles } = getProgramTranspileResult(emitHost, () => {}, {
        program,
        sourceFiles: [sourceFile],
        plugins: [
            {
                printer: (program_, _host, name, file) => {
                    printer = new RequirePrinter(program_, name, place);
                    return printer.print(file);
                },
            },
        ],
    });
    const [file] = transpiledFiles;
    if (file === undefined) {
        return { lua: "", map: "", lines: [], usesLibrary: false, diagnostics };
    }
    const map = { ...JSON.parse(file.sourceMap), file: "", sources: [fileName] };
    return {
        lua: file.code,
        map: JSON.stringify(map),
        lines: lineTable(map.mappings, file.code.split("\n").length),
        usesLibrary: printer.usesLibrary,
        // Our own traps say the same with a way out.
        diagnostics: diagnostics.filter(({ code }) => code !== known.truthyOnlyConditionalValue.code),
    };
}

// --- the library --------------------------------------------------------------------------------

// Errors ask for the stack, which scripts have no way to see.
const PREFIX =
    "local debug = {getinfo = function(level) if level == 3 then return {} end end, " +
    "traceback = function() end}\nlocal unpack = table.unpack\n";

// A rejection that nobody has handled by the end of the turn is a fault of its script, as it is
// anywhere else; by itself the library forgets it. Handled is what has callbacks, what a callback
// returned, and what Promise.all and its like were given.
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

// What is known of a number without running the script: its possible values, and whether it is a
// Lua integer or a float, which prints as "2.0" and has no bit operations. JavaScript has no such
// difference, so the source does not tell; its operators, the functions it calls and its
// assignments do.
import { ts } from "./host.mjs";
import { PLAIN_OPERATORS, Signs, plain } from "./signs.mjs";

const DEPTH_MAX = 16; // of expressions looked into

const MATH_INTEGER = new Set(["floor", "ceil", "round", "trunc", "sign", "clz32", "imul"]);
const MATH_SAME = new Set(["abs", "min", "max"]); // as their arguments
const VECTOR_PARTS = new Set(["X", "Y", "Z", "x", "y", "z", "Magnitude"]);
const FLOAT_CALLS = new Set(["task.wait", "World.Time", "os.clock", "Math.random"]);
// Arrays of what was in the one before.
const SAME_ELEMENTS = new Set("filter slice sort reverse toSorted toReversed".split(" "));

export const BIT_OPERATORS = new Set([
    ts.SyntaxKind.BarToken,
    ts.SyntaxKind.AmpersandToken,
    ts.SyntaxKind.CaretToken,
    ts.SyntaxKind.LessThanLessThanToken,
    ts.SyntaxKind.GreaterThanGreaterThanGreaterThanToken,
    ts.SyntaxKind.BarEqualsToken,
    ts.SyntaxKind.AmpersandEqualsToken,
    ts.SyntaxKind.CaretEqualsToken,
    ts.SyntaxKind.LessThanLessThanEqualsToken,
    ts.SyntaxKind.GreaterThanGreaterThanGreaterThanEqualsToken,
]);

// Numbers of JavaScript that have names; Lua makes all of them by floating point.
const NAMED_NUMBERS = new Set([
    "POSITIVE_INFINITY",
    "NEGATIVE_INFINITY",
    "NaN",
    "EPSILON",
    "MIN_VALUE",
    "MAX_VALUE",
    "MIN_SAFE_INTEGER",
    "MAX_SAFE_INTEGER",
]);

/** Is a literal of that value an integer of Lua? What needs more than 63 bits is a float there. */
function isLuaInteger(value) {
    return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

/** ["d.ddddddddddddd", exponent], rounded as C does it: to the even one of two that are as near. */
function fourteenDigits(value) {
    const [all, exponent] = value.toExponential(100).split("e");
    const kept = all.slice(0, 15);
    const isEvenHalf = /^50*$/.test(all.slice(15)) && Number(kept.at(-1)) % 2 === 0;
    const [mantissa, power] = isEvenHalf ? [kept, exponent] : value.toExponential(13).split("e");
    return [mantissa, Number(power)];
}

/** What Lua prints: integers with all their digits, floats as "%.14g" and visibly as floats. */
export function luaText({ value, isFloat }) {
    if (!isFloat) {
        return value === 0 ? "0" : String(BigInt(value));
    }
    if (!Number.isFinite(value)) {
        return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    }
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    const [mantissa, power] = fourteenDigits(Math.abs(value));
    const strip = (text) => (text.includes(".") ? text.replace(/\.?0*$/, "") : text);
    if (power < -4 || power >= 14) {
        const shown = String(Math.abs(power)).padStart(2, "0");
        return `${sign}${strip(mantissa)}e${power < 0 ? "-" : "+"}${shown}`;
    }
    const digits = mantissa.replace(".", "");
    const text = strip(
        power < 0
            ? `0.${"0".repeat(-power - 1)}${digits}`
            : `${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`,
    );
    return sign + text + (text.includes(".") ? "" : ".0");
}

/** What a function returns; of what is none, or gives something else when it is called, nothing. */
function returnsOf(node) {
    const isPlain =
        ts.isFunctionLike(node) &&
        node.body !== undefined &&
        node.asteriskToken === undefined &&
        !node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
    if (!isPlain || !ts.isBlock(node.body)) {
        return isPlain ? [node.body] : [];
    }
    const found = [];
    const nodes = [node.body];
    while (nodes.length > 0) {
        const one = nodes.pop();
        if (ts.isReturnStatement(one) && one.expression !== undefined) {
            found.push(one.expression);
        }
        ts.forEachChild(one, (child) => void (ts.isFunctionLike(child) || nodes.push(child)));
    }
    return found;
}

export class Numbers {
    constructor(program, sourceFile) {
        this.checker = program.getTypeChecker();
        this.sourceFile = sourceFile;
        this.signs = new Signs(this.checker, sourceFile);
        this.known = new Map(); // symbol → its kind
        this.knownWithoutEngine = new Map();
        this.isEngineLeftOut = false;
    }

    /** The types that a value may have, one by one. */
    parts(node) {
        const type = this.checker.getTypeAtLocation(node);
        const whole = type.flags & ts.TypeFlags.TypeParameter
            ? (this.checker.getBaseConstraintOfType(type) ?? type)
            : type;
        return whole.isUnion() ? whole.types : [whole];
    }

    isNumeric(node) {
        const parts = this.parts(node);
        return parts.length > 0 && parts.every((part) => part.flags & ts.TypeFlags.NumberLike);
    }

    /** What a constant was made of; undefined for everything that may change. */
    constantValue(node) {
        const symbol = this.checker.getSymbolAtLocation(node);
        const declaration = symbol?.valueDeclaration;
        const isConstant =
            declaration !== undefined &&
            ts.isVariableDeclaration(declaration) &&
            (ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const) !== 0;
        return isConstant ? declaration.initializer : undefined;
    }

    /** The numbers that it can be, as Lua has them, if all of them are known; else undefined. */
    values(given, depth = 0) {
        const node = plain(given);
        if (depth > DEPTH_MAX) {
            return undefined;
        }
        if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
            return this.values(node.operand, depth + 1)?.map(({ value, isFloat }) => ({
                // An integer has no -0.
                value: isFloat || value !== 0 ? -value : 0,
                isFloat,
            }));
        }
        if (ts.isPropertyAccessExpression(node) && NAMED_NUMBERS.has(node.name.text)) {
            return this.isGlobal(node.expression, "Number")
                ? [{ value: Number[node.name.text], isFloat: true }]
                : undefined;
        }
        if (this.isGlobal(node, "NaN") || this.isGlobal(node, "Infinity")) {
            return [{ value: Number(node.text), isFloat: true }];
        }
        const parts = this.parts(node);
        if (parts.length > 0 && parts.every((part) => part.isNumberLiteral())) {
            return parts.map(({ value }) => ({ value, isFloat: !isLuaInteger(value) }));
        }
        const value = ts.isIdentifier(node) ? this.constantValue(node) : undefined;
        return value !== undefined ? this.values(value, depth + 1) : undefined;
    }

    /** A name that is JavaScript's own and not the script's. */
    isGlobal(node, name) {
        if (!ts.isIdentifier(node) || node.text !== name) {
            return false;
        }
        const declarations = this.checker.getSymbolAtLocation(node)?.declarations ?? [];
        return declarations.every((declaration) => {
            const file = declaration.getSourceFile();
            return file.isDeclarationFile && file !== this.sourceFile;
        });
    }

    /** "integer", "float" (its text may end in ".0", bits cannot be had), or "unknown". */
    kind(given, depth = 0) {
        const node = plain(given);
        if (depth > DEPTH_MAX) {
            return "unknown";
        }
        if (ts.isNumericLiteral(node)) {
            return isLuaInteger(Number(node.text)) ? "integer" : "float";
        }
        if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
            return node.operator === ts.SyntaxKind.TildeToken
                ? "integer"
                : this.kind(node.operand, depth + 1);
        }
        if (ts.isBinaryExpression(node)) {
            return this.kindOfBinary(node, depth);
        }
        if (ts.isCallExpression(node)) {
            return this.kindOfCall(node, depth);
        }
        if (ts.isConditionalExpression(node)) {
            return this.join([node.whenTrue, node.whenFalse], depth);
        }
        if (ts.isPropertyAccessExpression(node)) {
            return this.kindOfProperty(node);
        }
        const parts = this.parts(node);
        if (parts.every((part) => part.isNumberLiteral() && isLuaInteger(part.value))) {
            return "integer";
        }
        return ts.isIdentifier(node) ? this.kindOfVariable(node, depth) : "unknown";
    }

    /** Of what it is at first and of all that is written to it. Where one of these is rounded, others
     *  are on their way to be. */
    kindOfVariable(node, depth) {
        const symbol = this.checker.getSymbolAtLocation(node);
        const declaration = symbol?.valueDeclaration;
        if (declaration === undefined || !ts.isVariableDeclaration(declaration)) {
            return "unknown";
        }
        const isConstant = (ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const) !== 0;
        if (!isConstant && declaration.getSourceFile() !== this.sourceFile) {
            return "unknown";
        }
        return this.once(symbol, () => {
            const written = isConstant ? [] : (this.signs.findWrites().get(symbol) ?? []);
            if (written.some((one) => one === null || this.isRounding(one))) {
                return "unknown";
            }
            const { initializer } = declaration;
            return this.join(initializer === undefined ? written : [initializer, ...written], depth);
        });
    }

    /** `Math.floor(…)`, `x = Math.floor(…)` */
    isRounding(given) {
        const node = plain(given);
        if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
            return this.isRounding(node.right);
        }
        const [, name] = ts.isCallExpression(node)
            ? (/^Math\.(\w+)$/.exec(node.expression.getText()) ?? [])
            : [];
        return MATH_INTEGER.has(name);
    }

    /** Of all that a function returns. */
    kindOfResult(node, depth) {
        const callee = plain(node.expression);
        const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
        let symbol = this.checker.getSymbolAtLocation(name);
        if (symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0) {
            symbol = this.checker.getAliasedSymbol(symbol);
        }
        const declaration = symbol?.valueDeclaration;
        const whole =
            declaration !== undefined && ts.isVariableDeclaration(declaration)
                ? declaration.initializer
                : declaration;
        return whole === undefined
            ? "unknown"
            : this.once(symbol, () => this.join(returnsOf(whole), depth));
    }

    /** What was found out of a name; "none" while that is being done, for it says nothing of itself. */
    once(symbol, find) {
        const { known } = this;
        if (!known.has(symbol)) {
            known.set(symbol, "none");
            known.set(symbol, find());
        }
        return known.get(symbol);
    }

    /** `find` with what the engine gives as floats left out: who looks at a position or a time knows. */
    withoutEngine(find) {
        const { known } = this;
        this.known = this.knownWithoutEngine;
        this.isEngineLeftOut = true;
        const found = find();
        this.known = known;
        this.isEngineLeftOut = false;
        return found;
    }

    kindOfBinary(node, depth) {
        const operator = PLAIN_OPERATORS.get(node.operatorToken.kind) ?? node.operatorToken.kind;
        if (BIT_OPERATORS.has(operator)) {
            return "integer";
        }
        switch (operator) {
            case ts.SyntaxKind.SlashToken:
            case ts.SyntaxKind.AsteriskAsteriskToken:
                return "float"; // always in Lua, also 4 / 2
            case ts.SyntaxKind.PlusToken:
            case ts.SyntaxKind.MinusToken:
            case ts.SyntaxKind.AsteriskToken:
            case ts.SyntaxKind.PercentToken:
            case ts.SyntaxKind.QuestionQuestionToken:
                return this.join([node.left, node.right], depth);
            case ts.SyntaxKind.EqualsToken:
                return this.kind(node.right, depth + 1);
            default:
                return "unknown";
        }
    }

    /** One float makes the sum one. */
    join(nodes, depth) {
        const kinds = nodes
            .map((node) => this.kind(node, depth + 1))
            .filter((kind) => kind !== "none");
        if (kinds.includes("float")) {
            return "float";
        }
        return kinds.length > 0 && kinds.every((kind) => kind === "integer") ? "integer" : "unknown";
    }

    kindOfCall(node, depth) {
        const callee = node.expression.getText();
        if (FLOAT_CALLS.has(callee)) {
            return this.isEngineLeftOut ? "unknown" : "float";
        }
        if (callee === "math.tointeger" || /\.(indexOf|charCodeAt|push)$/.test(callee)) {
            return "integer";
        }
        if (!callee.startsWith("Math.")) {
            return this.kindOfResult(node, depth);
        }
        const name = callee.slice("Math.".length);
        if (MATH_INTEGER.has(name)) {
            return "integer";
        }
        return MATH_SAME.has(name) ? this.join([...node.arguments], depth) : "float";
    }

    kindOfProperty(node) {
        const owner = this.checker.getTypeAtLocation(node.expression).symbol?.name;
        if (node.name.text === "length") {
            return "integer";
        }
        if (owner === "Vector3" && VECTOR_PARTS.has(node.name.text)) {
            return this.isEngineLeftOut ? "unknown" : "float";
        }
        if (owner === "Math") {
            return "float";
        }
        return this.checker.getTypeAtLocation(node).flags & ts.TypeFlags.EnumLike
            ? "integer"
            : "unknown";
    }

    /** What the elements of an array are made of, as far as that stands there. */
    elements(given, depth = 0) {
        const node = plain(given);
        if (depth > DEPTH_MAX) {
            return [];
        }
        if (ts.isArrayLiteralExpression(node)) {
            return node.elements.flatMap((one) =>
                ts.isSpreadElement(one) ? this.elements(one.expression, depth + 1) : [one],
            );
        }
        if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
            const { name, expression } = node.expression;
            const [callback] = node.arguments;
            return name.text === "map" && callback !== undefined
                ? returnsOf(plain(callback))
                : SAME_ELEMENTS.has(name.text)
                  ? this.elements(expression, depth + 1)
                  : [];
        }
        const value = ts.isIdentifier(node) ? this.constantValue(node) : undefined;
        return value !== undefined ? this.elements(value, depth + 1) : [];
    }
}

// Where Lua means something else than TypeScript looks like: found with the types, so that what is
// harmless is left alone. Each finding says what happens and what to write instead; a comment
// `// trap-ok` on the line or the one above it says that it is meant.
import { ts } from "./host.mjs";
import { Signs, plain } from "./signs.mjs";

const DEPTH_MAX = 16; // of expressions looked into

const HOOKS = new Set([
    "onStart",
    "onUpdate",
    "onDestroy",
    "onEnable",
    "onDisable",
    "onReload",
    "OnTriggerEnter",
    "OnTriggerLeave",
    "OnTouch",
]);

const MATH_INTEGER = new Set(["floor", "ceil", "round", "trunc", "sign", "clz32", "imul"]);
const MATH_SAME = new Set(["abs", "min", "max"]); // as their arguments
const TIMES = new Set(["dt", "delta", "deltaTime", "delta_time", "deltatime"]);
const VECTOR_PARTS = new Set(["X", "Y", "Z", "x", "y", "z", "Magnitude"]);
const FLOAT_CALLS = new Set(["task.wait", "World.Time", "os.clock"]);

const BIT_OPERATORS = new Set([
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

// They call what they are given before they return, and do not keep it.
const CALLS_AT_ONCE = new Set(
    (
        "map filter forEach find findIndex findLast findLastIndex some every reduce reduceRight flatMap sort " +
        "toSorted from pcall"
    ).split(" "),
);

const EQUALITY = new Set([
    ts.SyntaxKind.EqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsToken,
    ts.SyntaxKind.EqualsEqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

function isNumber(node, value) {
    return ts.isNumericLiteral(node) && Number(node.text) === value;
}

function isNothing(node) {
    return (
        node.kind === ts.SyntaxKind.NullKeyword ||
        (ts.isIdentifier(node) && node.text === "undefined")
    );
}

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
function luaText({ value, isFloat }) {
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

class Finder {
    constructor(program, sourceFile) {
        this.checker = program.getTypeChecker();
        this.sourceFile = sourceFile;
        this.signs = new Signs(this.checker, sourceFile);
        this.found = [];
        this.meant = new Set();
        sourceFile.text.split("\n").forEach((line, i) => {
            if (/\/\/\s*trap-ok\b/.test(line)) {
                this.meant.add(i);
                this.meant.add(i + 1);
            }
        });
    }

    say(node, code, message) {
        const start = node.getStart(this.sourceFile);
        const { line, character } = this.sourceFile.getLineAndCharacterOfPosition(start);
        if (!this.meant.has(line)) {
            this.found.push({ line: line + 1, column: character + 1, code, message });
        }
    }

    // --- what is known about a value -------------------------------------------------------------

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
        if (ts.isPrefixUnaryExpression(node)) {
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
        const value = ts.isIdentifier(node) ? this.constantValue(node) : undefined;
        return value !== undefined ? this.kind(value, depth + 1) : "unknown";
    }

    kindOfBinary(node, depth) {
        const operator = node.operatorToken.kind;
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
                return this.join([node.left, node.right], depth);
            default:
                return "unknown";
        }
    }

    /** One float makes the sum one. */
    join(nodes, depth) {
        const kinds = nodes.map((node) => this.kind(node, depth + 1));
        if (kinds.includes("float")) {
            return "float";
        }
        return kinds.every((kind) => kind === "integer") ? "integer" : "unknown";
    }

    kindOfCall(node, depth) {
        const callee = node.expression.getText(this.sourceFile);
        if (FLOAT_CALLS.has(callee)) {
            return "float";
        }
        if (!callee.startsWith("Math.")) {
            return /\.(indexOf|charCodeAt|push)$/.test(callee) ? "integer" : "unknown";
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
            return "float";
        }
        if (owner === "Math") {
            return "float";
        }
        return this.checker.getTypeAtLocation(node).flags & ts.TypeFlags.EnumLike
            ? "integer"
            : "unknown";
    }

    // --- the traps -------------------------------------------------------------------------------

    bits(node, operands) {
        const [left, right] = operands.map(plain);
        const truncates =
            right === undefined || // ~x, and so ~~x
            isNumber(right, 0);
        const bad = operands.find((operand) => {
            const kind = this.kind(operand);
            return kind === "float" || (truncates && kind === "unknown" && operand === operands[0]);
        });
        if (bad === undefined || (right === undefined && this.kind(left) === "integer")) {
            return;
        }
        this.say(
            node,
            "trap-bits",
            "bit operations raise an error on numbers that are not whole: Lua does not cut them off. " +
                "Write Math.floor(…) or Math.trunc(…) around the number",
        );
    }

    /** A number that becomes text. */
    text(node) {
        const values = this.isNumeric(node) ? this.values(node) : undefined;
        if (values !== undefined) {
            const other = values.find((known) => luaText(known) !== String(known.value));
            if (other !== undefined) {
                this.say(
                    node,
                    "trap-number-text",
                    `this number prints as "${luaText(other)}" in Lua, not "${other.value}". ` +
                        "Write the text that you want, or string.format(…)",
                );
            }
        } else if (this.isNumeric(node) && this.kind(node) === "float") {
            this.say(
                node,
                "trap-number-text",
                'this number is a float, and whole floats print as "2.0" in Lua, not "2", others ' +
                    "with at most 14 digits. Write Math.floor(…) around it, or x.toFixed(n)",
            );
        }
    }

    condition(given) {
        const node = plain(given);
        if (
            ts.isPrefixUnaryExpression(node) ||
            (ts.isBinaryExpression(node) &&
                ts.isLogicalOrCoalescingBinaryOperator(node.operatorToken.kind))
        ) {
            return; // their parts are conditions themselves
        }
        const zero = (part) =>
            part.flags & ts.TypeFlags.NumberLike && !(part.isNumberLiteral() && part.value !== 0);
        const empty = (part) =>
            part.flags & ts.TypeFlags.StringLike && !(part.isStringLiteral() && part.value !== "");
        const parts = this.parts(node);
        const isEnum = (part) => part.flags & ts.TypeFlags.EnumLike;
        const what = parts.some((part) => zero(part) && !isEnum(part))
            ? ["0 (and NaN)", "!== 0"]
            : parts.some((part) => zero(part))
              ? ["0", "!== 0"]
              : parts.some(empty)
                ? ['""', '!== ""']
                : undefined;
        if (what === undefined) {
            return;
        }
        const optional = parts.some(
            (part) => part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null),
        );
        this.say(
            node,
            "trap-truthiness",
            `${what[0]} counts as true in Lua: only false, undefined and null do not. Compare: ` +
                (optional ? `x !== undefined, or also x ${what[1]}` : `x ${what[1]}`),
        );
    }

    modulo(node, left, right) {
        const { signs } = this;
        if (
            (signs.isNeverNegative(left) || this.isLifted(left, right)) &&
            !signs.isNegative(right)
        ) {
            return;
        }
        if (!this.isSignIgnored(node)) {
            this.say(
                node,
                "trap-modulo",
                "% has the sign of the right side in Lua: -1 % 3 is 2 here and -1 in JavaScript. If the " +
                    "left side can be below zero, write math.fmod(a, b) for JavaScript's answer, or " +
                    "((a % b) + b) % b, which is the same in both",
            );
        }
    }

    isSame(one, other) {
        const text = (node) => plain(node).getText(this.sourceFile);
        return text(one) === text(other);
    }

    /** `(i - 1 + n) % n`: who adds what is divided by has thought of it; and `(i + 1) % n` is the next
     *  one of what is counted from 0. */
    isLifted(given, right) {
        const terms = [[plain(given), false]];
        while (terms.length > 0) {
            const [term, isAdded] = terms.pop();
            if (this.isSame(term, right) || (isAdded && isNumber(term, 1))) {
                return true;
            }
            const operator = ts.isBinaryExpression(term) ? term.operatorToken.kind : undefined;
            if (operator === ts.SyntaxKind.PlusToken) {
                terms.push([plain(term.left), true], [plain(term.right), true]);
            } else if (operator === ts.SyntaxKind.MinusToken) {
                terms.push([plain(term.left), isAdded]);
            }
        }
        return false;
    }

    /** Where both answers do the same: `a % 2 === 0`, `(a % n) + n`, and what is looked up in a list,
     *  for nobody means the element that JavaScript does not find. */
    isSignIgnored(node) {
        let whole = node;
        while (plain(whole.parent) !== whole.parent) {
            whole = whole.parent;
        }
        const { parent } = whole;
        if (ts.isElementAccessExpression(parent)) {
            return parent.argumentExpression === whole;
        }
        if (!ts.isBinaryExpression(parent)) {
            return false;
        }
        const other = plain(parent.left === whole ? parent.right : parent.left);
        return EQUALITY.has(parent.operatorToken.kind)
            ? isNumber(other, 0)
            : parent.operatorToken.kind === ts.SyntaxKind.PlusToken && this.isSame(other, node.right);
    }

    equality(node) {
        const sides = [node.left, node.right].map(plain);
        const nothing = sides.find(isNothing);
        const other = sides.find((side) => !isNothing(side));
        const isLoose =
            node.operatorToken.kind === ts.SyntaxKind.EqualsEqualsToken ||
            node.operatorToken.kind === ts.SyntaxKind.ExclamationEqualsToken;
        if (nothing !== undefined && other !== undefined) {
            const flags = this.parts(other).reduce((sum, part) => sum | part.flags, 0);
            if (!isLoose && flags & ts.TypeFlags.Null && flags & ts.TypeFlags.Undefined) {
                this.say(
                    node,
                    "trap-equality",
                    "null and undefined are the same in Lua (nil): this is true for both",
                );
            }
            return;
        }
        if (isLoose) {
            const [left, right] = sides.map((side) => this.parts(side));
            const loose = (part) => part.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown);
            if (left.some(loose) || right.some(loose)) {
                this.say(
                    node,
                    "trap-equality",
                    '== converts nothing in Lua: 1 == "1" is false. Write ===, and convert with ' +
                        "Number(…) or String(…)",
                );
            }
        }
    }

    isArray(node) {
        const type = this.checker.getTypeAtLocation(node);
        return this.checker.isArrayType(type) || this.checker.isTupleType(type);
    }

    hole(node) {
        this.say(
            node,
            "trap-array",
            "an array ends at its first hole in Lua: its length and loops over it stop there. Remove " +
                "elements with splice, or keep a value that means nothing",
        );
    }

    /** `for (let i = 0; …)` has one i for all rounds: a function that is kept sees the last. */
    loopVariables(node) {
        const { initializer } = node;
        if (initializer === undefined || !ts.isVariableDeclarationList(initializer)) {
            return;
        }
        const names = new Set(initializer.declarations.map(({ name }) => name.getText()));
        const stack = [[node.statement, undefined]];
        while (stack.length > 0) {
            const [one, kept] = stack.pop(); // kept: the function around it that may run later
            if (kept !== undefined && ts.isIdentifier(one) && names.has(one.text)) {
                const declaration = this.checker.getSymbolAtLocation(one)?.valueDeclaration;
                if (declaration?.parent === initializer) {
                    names.delete(one.text); // told once
                    this.say(
                        one,
                        "trap-closure",
                        `all rounds of the loop share one ${one.text} in Lua: a function that runs later ` +
                            `sees its last value. Write const own = ${one.text} in the loop, and use own ` +
                            "in the function",
                    );
                }
            }
            const next = kept ?? (this.isKept(one) ? one : undefined);
            ts.forEachChild(one, (child) => void stack.push([child, next]));
        }
    }

    /** A function that is not called on the spot. */
    isKept(node) {
        if (!ts.isFunctionLike(node) || ts.isTypeNode(node)) {
            return false;
        }
        let whole = node;
        while (plain(whole.parent) !== whole.parent) {
            whole = whole.parent;
        }
        const { parent } = whole;
        if (!ts.isCallExpression(parent)) {
            return true;
        }
        const callee = plain(parent.expression);
        const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
        return callee !== node && !(ts.isIdentifier(name) && CALLS_AT_ONCE.has(name.text));
    }

    /** `x[i]` where nothing is known of x: only what is known to be an array counts from 0. */
    index(node) {
        const flags = this.checker.getTypeAtLocation(node.expression).flags;
        if (flags & ts.TypeFlags.Any && this.isNumeric(node.argumentExpression)) {
            this.say(
                node,
                "trap-index",
                "this may be a Lua array, which counts from 1: only what has an array's type counts " +
                    "from 0. Give it one, as in (x as number[])[0]",
            );
        }
    }

    /** `export function onUpdate(dt: number)`: the entity comes first, whatever it is called. */
    hookParameter(node) {
        const first = node.parameters[0]?.name;
        const hook = node.name?.text;
        if (HOOKS.has(hook) && hook !== "onReload" && first && TIMES.has(first.getText())) {
            this.say(
                first,
                "hook-parameter",
                `${hook} is called with the entity first, so ${first.getText()} is not the time; ` +
                    `write ${hook}(self: Entity${hook === "onUpdate" ? ", dt: number" : ""})`,
            );
        }
    }

    hook(node, name) {
        if (HOOKS.has(name)) {
            this.say(
                node,
                "hook-not-exported",
                `${name} is never called: hooks are exported, \`export function ${name}(…)\``,
            );
        }
    }

    // --- the walk --------------------------------------------------------------------------------

    look(node) {
        if (ts.isBinaryExpression(node)) {
            this.lookBinary(node);
        } else if (ts.isPrefixUnaryExpression(node)) {
            if (node.operator === ts.SyntaxKind.ExclamationToken) {
                this.condition(node.operand);
            } else if (node.operator === ts.SyntaxKind.TildeToken) {
                this.bits(node, [node.operand]);
            }
        } else if (
            ts.isIfStatement(node) ||
            ts.isWhileStatement(node) ||
            ts.isDoStatement(node)
        ) {
            this.condition(node.expression);
        } else if (ts.isForStatement(node)) {
            if (node.condition !== undefined) {
                this.condition(node.condition);
            }
            this.loopVariables(node);
        } else if (ts.isConditionalExpression(node)) {
            this.condition(node.condition);
        } else if (ts.isTemplateExpression(node)) {
            node.templateSpans.forEach((span) => this.text(span.expression));
        } else if (ts.isForInStatement(node)) {
            this.say(
                node,
                "trap-for-in",
                "for…in visits keys in no order that you can know, not in the order they were set. Use " +
                    "an array or a Map if the order matters",
            );
        } else {
            this.lookRest(node);
        }
    }

    lookRest(node) {
        if (ts.isCallExpression(node)) {
            const callee = node.expression;
            if (ts.isIdentifier(callee) && callee.text === "String" && node.arguments.length === 1) {
                this.text(node.arguments[0]);
            } else if (
                ts.isPropertyAccessExpression(callee) &&
                callee.name.text === "toString" &&
                node.arguments.length === 0
            ) {
                this.text(callee.expression);
            }
        } else if (ts.isNewExpression(node)) {
            const [length, second] = node.arguments ?? [];
            if (
                ts.isIdentifier(node.expression) &&
                node.expression.text === "Array" &&
                length !== undefined &&
                second === undefined &&
                this.isNumeric(length)
            ) {
                this.hole(node);
            }
        } else if (ts.isArrayLiteralExpression(node)) {
            const hole = node.elements.find(
                (element, i) =>
                    ts.isOmittedExpression(element) ||
                    (isNothing(plain(element)) && i < node.elements.length),
            );
            if (hole !== undefined) {
                this.hole(node);
            }
        } else if (ts.isElementAccessExpression(node)) {
            this.index(node);
        } else if (ts.isDeleteExpression(node)) {
            const target = plain(node.expression);
            if (ts.isElementAccessExpression(target) && this.isArray(target.expression)) {
                this.hole(node);
            }
        } else if (ts.isFunctionDeclaration(node) && node.parent === this.sourceFile) {
            const isExported = node.modifiers?.some(
                ({ kind }) => kind === ts.SyntaxKind.ExportKeyword,
            );
            if (!isExported && node.name !== undefined && !this.isExportedLater(node.name)) {
                this.hook(node.name, node.name.text);
            } else {
                this.hookParameter(node);
            }
        }
    }

    /** `export { onStart }` at some other place. */
    isExportedLater(name) {
        const module = this.checker.getSymbolAtLocation(this.sourceFile);
        return module?.exports?.has(name.escapedText) ?? false;
    }

    lookBinary(node) {
        const operator = node.operatorToken.kind;
        const { left, right } = node;
        if (BIT_OPERATORS.has(operator)) {
            this.bits(node, [left, right]);
        } else if (
            operator === ts.SyntaxKind.PercentToken ||
            operator === ts.SyntaxKind.PercentEqualsToken
        ) {
            this.modulo(node, left, right);
        } else if (
            operator === ts.SyntaxKind.PlusToken ||
            operator === ts.SyntaxKind.PlusEqualsToken
        ) {
            const isText = (side) =>
                this.parts(side).every((part) => part.flags & ts.TypeFlags.StringLike);
            if (isText(left)) {
                this.text(right);
            } else if (isText(right)) {
                this.text(left);
            }
        } else if (
            operator === ts.SyntaxKind.BarBarToken ||
            operator === ts.SyntaxKind.AmpersandAmpersandToken ||
            operator === ts.SyntaxKind.BarBarEqualsToken ||
            operator === ts.SyntaxKind.AmpersandAmpersandEqualsToken
        ) {
            this.condition(left);
            this.lookRightOfLogical(node);
        } else if (EQUALITY.has(operator)) {
            this.equality(node);
        } else if (operator === ts.SyntaxKind.EqualsToken) {
            const target = plain(left);
            if (
                ts.isElementAccessExpression(target) &&
                isNothing(plain(right)) &&
                this.isArray(target.expression)
            ) {
                this.hole(node);
            }
        }
    }

    /** `if (a && b)`: the right side is a condition where the whole is one. */
    lookRightOfLogical(node) {
        let whole = node;
        while (ts.isParenthesizedExpression(whole.parent) || this.isLogical(whole.parent)) {
            whole = whole.parent;
        }
        const { parent } = whole;
        const isCondition =
            ((ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent)) &&
                parent.expression === whole) ||
            ((ts.isConditionalExpression(parent) || ts.isForStatement(parent)) &&
                parent.condition === whole) ||
            (ts.isPrefixUnaryExpression(parent) &&
                parent.operator === ts.SyntaxKind.ExclamationToken);
        if (isCondition) {
            this.condition(node.right);
        }
    }

    isLogical(node) {
        return (
            ts.isBinaryExpression(node) &&
            (node.operatorToken.kind === ts.SyntaxKind.BarBarToken ||
                node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken)
        );
    }

    walk() {
        // With a stack of its own: an expression may be as deep as the source is long.
        const stack = [this.sourceFile];
        while (stack.length > 0) {
            const node = stack.pop();
            this.look(node);
            ts.forEachChild(node, (child) => {
                stack.push(child);
            });
        }
    }
}

/** [{line, column, code, message}] of one source without errors. */
/** Characters that nobody sees, one a line; as lint_text does it for Lua (utf8_is_hidden). */
const INVISIBLE = new RegExp(
    "(?<![\\ufe0f\\u{1f000}-\\u{10ffff}])\\u200d|[" +
        "\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5" +
        "\\u180b-\\u180f\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff" +
        "\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
    "u",
);

function findInvisible(sourceFile) {
    const found = [];
    sourceFile.text.split("\n").forEach((text, line) => {
        const match = INVISIBLE.exec(text);
        // The mark at the very beginning is some editors'.
        if (match !== null && line + match.index > 0) {
            const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
            found.push({
                line: line + 1,
                column: match.index + 1,
                code: "invisible-character",
                message:
                    `U+${code} is a character that nobody sees: remove it, or write it in a string ` +
                    `as \\u{${code}}`,
            });
        }
    });
    return found;
}

export function findTraps(program, sourceFile) {
    const finder = new Finder(program, sourceFile);
    finder.walk();
    return [...finder.found, ...findInvisible(sourceFile)];
}

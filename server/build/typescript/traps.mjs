// Where Lua behaves differently from what the TypeScript looks like: found with the types, so that
// harmless code is not reported. Each finding says what happens and what to write instead; a
// comment `// trap-ok` on the line or the one above it confirms that it is intended.
import { ts } from "./host.mjs";
import { BIT_OPERATORS, Numbers, luaText } from "./numbers.mjs";
import { plain } from "./signs.mjs";

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

const TIMES = new Set(["dt", "delta", "deltaTime", "delta_time", "deltatime"]);

const UNSIGNED_SHIFTS = new Set([
    ts.SyntaxKind.GreaterThanGreaterThanGreaterThanToken,
    ts.SyntaxKind.GreaterThanGreaterThanGreaterThanEqualsToken,
]);

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

class Finder extends Numbers {
    constructor(program, sourceFile) {
        super(program, sourceFile);
        this.found = [];
        this.told = new Set();
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
        const key = `${start} ${code}`;
        if (!this.meant.has(line) && !this.told.has(key)) {
            this.told.add(key);
            this.found.push({ line: line + 1, column: character + 1, code, message });
        }
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

    /** What is below zero has 64 bits, of which the shift brings zeros to the highest. */
    isShiftOfNegative(operator, left) {
        const node = plain(left);
        const isInverse =
            ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.TildeToken;
        return UNSIGNED_SHIFTS.has(operator) && (isInverse || this.signs.isNegative(node));
    }

    /** A number that becomes text; for the log if `isLog`. */
    text(node, isLog = false) {
        const isFloat = () => this.kind(node) === "float";
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
        } else if (this.isNumeric(node) && (isLog ? this.withoutEngine(isFloat) : isFloat())) {
            this.say(
                node,
                "trap-number-text",
                'this number is a float, and whole floats print as "2.0" in Lua, not "2", others ' +
                    "with at most 14 digits. Write Math.floor(…) around it, x.toFixed(n), or " +
                    'string.format("%.2f", x)',
            );
        }
    }

    condition(given) {
        const node = plain(given);
        if (
            ts.isPrefixUnaryExpression(node) ||
            this.isLogical(node)
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
    hookParameter(hook, { parameters }) {
        const first = parameters[0]?.name;
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

    lookCall(node) {
        const callee = plain(node.expression);
        const given = node.arguments.filter((one) => !ts.isSpreadElement(one));
        if (ts.isPropertyAccessExpression(callee)) {
            const { name, expression } = callee;
            if (name.text === "toString" && node.arguments.length === 0) {
                this.text(expression);
            } else if (name.text === "join" && this.isArray(expression)) {
                this.elements(expression).forEach((one) => this.text(one));
            } else if (this.isGlobal(expression, "Log")) {
                given.forEach((one) => this.text(one, true));
            }
        } else if (this.isGlobal(callee, "String") || this.isGlobal(callee, "tostring")) {
            given.slice(0, 1).forEach((one) => this.text(one));
        } else if (this.isGlobal(callee, "print") || this.isGlobal(callee, "warn")) {
            given.forEach((one) => this.text(one, true));
        } else if (this.isGlobal(callee, "assert") && given.length > 0) {
            this.condition(given[0]);
        }
    }

    lookRest(node) {
        if (ts.isCallExpression(node)) {
            this.lookCall(node);
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
            if (node.name !== undefined && !this.isExported(node.name)) {
                this.hook(node.name, node.name.text);
            } else {
                this.hookParameter(node.name?.text, node);
            }
        } else if (ts.isVariableStatement(node) && node.parent === this.sourceFile) {
            for (const { name, initializer } of node.declarationList.declarations) {
                const value = initializer !== undefined ? plain(initializer) : undefined;
                const isFunction =
                    value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));
                if (isFunction && ts.isIdentifier(name) && this.isExported(name)) {
                    this.hookParameter(name.text, value);
                }
            }
        }
    }

    /** Also by `export { onStart }` at some other place. */
    isExported(name) {
        const module = this.checker.getSymbolAtLocation(this.sourceFile);
        return module?.exports?.has(name.escapedText) ?? false;
    }

    lookBinary(node) {
        const operator = node.operatorToken.kind;
        const { left, right } = node;
        if (this.isShiftOfNegative(operator, left)) {
            this.say(
                node,
                "trap-bits",
                ">>> has 64 bits in Lua and 32 in JavaScript: -5 >>> 1 is 9223372036854775805 here. " +
                    "Write (x & 0xffffffff) >>> n",
            );
        } else if (BIT_OPERATORS.has(operator)) {
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
        // A mark at the very beginning is written by some editors.
        if (match !== null && line + match.index > 0) {
            const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
            found.push({
                line: line + 1,
                column: match.index + 1,
                code: "invisible-character",
                message:
                    `U+${code} is an invisible character: remove it, or write it in a string ` +
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

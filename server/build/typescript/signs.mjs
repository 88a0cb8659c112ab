// Whether a number can be below zero, as far as the source shows. Counters from zero, lengths,
// times and their sums never are; differences and parts of a vector may be; and if nothing else is
// known, a name that suggests counting decides.
import { ts } from "./host.mjs";

const DEPTH_MAX = 16; // of expressions looked into

const NEVER_CALLS =
    /^(Math\.(abs|sqrt|hypot|random|exp|cosh|clz32)|Date\.now|World\.(Time|Tick|GetVoxel)|task\.wait|os\.(clock|time))$/;
const NEVER_METHODS = new Set(["charCodeAt", "codePointAt", "push", "unshift", "getTime"]);
const MAY_CALLS = /^Math\.(sin|cos|tan|asin|atan|atan2|sign|log|log2|log10)$/;
const AS_ARGUMENTS = /^(Math\.(floor|ceil|round|trunc|fround|min)|math\.tointeger)$/;
const MAY_PROPERTIES = new Set(["x", "y", "z", "X", "Y", "Z"]);
const NEVER_PROPERTIES = new Set(["length", "size", "Magnitude", "Distance", "Id", "UserId", "Health"]);
// If nothing else is known, the last word of a name decides: probeIndex, seconds.
const COUNTED = new Set(
    (
        "i j k n dt id idx index count counter frame tick step level score second minute hour day round " +
        "wave turn time elapsed total size length amount number num seed frames ticks steps seconds minutes " +
        "hours days rounds waves turns coins points"
    ).split(" "),
);
const INDEX_NAMES = new Set(["index", "currentIndex", "k"]); // as the language's libraries call them

const { SyntaxKind } = ts;

/** An expression without what only the checker sees. */
export function plain(node) {
    while (
        ts.isParenthesizedExpression(node) ||
        ts.isAsExpression(node) ||
        ts.isNonNullExpression(node) ||
        ts.isSatisfiesExpression(node)
    ) {
        node = node.expression;
    }
    return node;
}

// What is below zero only if that operand is; of other operators it may be either.
const LEFT_ALONE = new Set([
    SyntaxKind.AsteriskAsteriskToken,
    SyntaxKind.LessThanLessThanToken,
    SyntaxKind.GreaterThanGreaterThanGreaterThanToken,
]);
const RIGHT_ALONE = new Set([
    SyntaxKind.AmpersandAmpersandToken,
    SyntaxKind.CommaToken,
    SyntaxKind.EqualsToken,
]);
const GREATER = new Set([SyntaxKind.GreaterThanToken, SyntaxKind.GreaterThanEqualsToken]);
const LESS = new Set([SyntaxKind.LessThanToken, SyntaxKind.LessThanEqualsToken]);
export const PLAIN_OPERATORS = new Map([
    [SyntaxKind.PlusEqualsToken, SyntaxKind.PlusToken],
    [SyntaxKind.MinusEqualsToken, SyntaxKind.MinusToken],
    [SyntaxKind.AsteriskEqualsToken, SyntaxKind.AsteriskToken],
    [SyntaxKind.SlashEqualsToken, SyntaxKind.SlashToken],
    [SyntaxKind.PercentEqualsToken, SyntaxKind.PercentToken],
    [SyntaxKind.AsteriskAsteriskEqualsToken, SyntaxKind.AsteriskAsteriskToken],
    [SyntaxKind.AmpersandEqualsToken, SyntaxKind.AmpersandToken],
    [SyntaxKind.BarEqualsToken, SyntaxKind.BarToken],
    [SyntaxKind.CaretEqualsToken, SyntaxKind.CaretToken],
    [SyntaxKind.LessThanLessThanEqualsToken, SyntaxKind.LessThanLessThanToken],
    [
        SyntaxKind.GreaterThanGreaterThanGreaterThanEqualsToken,
        SyntaxKind.GreaterThanGreaterThanGreaterThanToken,
    ],
    [SyntaxKind.QuestionQuestionEqualsToken, SyntaxKind.QuestionQuestionToken],
    [SyntaxKind.BarBarEqualsToken, SyntaxKind.BarBarToken],
    [SyntaxKind.AmpersandAmpersandEqualsToken, SyntaxKind.AmpersandAmpersandToken],
]);

const NEVER = "never"; // below zero
const UNKNOWN = "unknown";
const MAY = "may";

function join(signs) {
    return signs.includes(MAY) ? MAY : signs.includes(UNKNOWN) ? UNKNOWN : NEVER;
}

function isCounted(name) {
    return COUNTED.has(name.split(/_|(?<=[a-z0-9])(?=[A-Z])/).at(-1).toLowerCase());
}

/** Of what has that name. */
function named(name, sign) {
    return sign === UNKNOWN && isCounted(name) ? NEVER : sign;
}

export class Signs {
    constructor(checker, sourceFile) {
        this.checker = checker;
        this.sourceFile = sourceFile;
        this.writes = undefined; // symbol → what is written to it after its declaration
        this.known = new Map(); // symbol → its sign; NEVER as long as it is being found out
    }

    isNeverNegative(node) {
        return this.sign(node, 0) === NEVER;
    }

    /** Plainly below zero: `-1`, `-x`. */
    isNegative(given) {
        const node = plain(given);
        const type = this.checker.getTypeAtLocation(node);
        return type.isNumberLiteral()
            ? type.value < 0
            : ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.MinusToken;
    }

    sign(given, depth) {
        const node = plain(given);
        if (depth > DEPTH_MAX) {
            return UNKNOWN;
        }
        const type = this.checker.getTypeAtLocation(node);
        const parts = type.isUnion() ? type.types : [type];
        if (parts.every((part) => part.isNumberLiteral())) {
            return parts.every(({ value }) => value >= 0) ? NEVER : MAY;
        }
        if (ts.isBinaryExpression(node)) {
            return this.signOfBinary(node, depth);
        }
        if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
            const { operator, operand } = node;
            return operator === SyntaxKind.PlusToken || operator === SyntaxKind.PlusPlusToken
                ? this.sign(operand, depth + 1)
                : MAY;
        }
        if (ts.isConditionalExpression(node)) {
            return join([node.whenTrue, node.whenFalse].map((one) => this.sign(one, depth + 1)));
        }
        if (ts.isCallExpression(node)) {
            return this.signOfCall(node, depth);
        }
        if (ts.isIdentifier(node)) {
            const symbol = this.checker.getSymbolAtLocation(node);
            return named(node.text, this.signOfVariable(symbol, depth));
        }
        return ts.isPropertyAccessExpression(node)
            ? named(node.name.text, this.signOfProperty(node, depth))
            : UNKNOWN;
    }

    signOfBinary(node, depth) {
        const { left, right, operatorToken } = node;
        const operator = PLAIN_OPERATORS.get(operatorToken.kind) ?? operatorToken.kind;
        if (operator === SyntaxKind.PercentToken) {
            return this.isNegative(right) ? MAY : NEVER; // it has the sign of that
        }
        if (operator === SyntaxKind.MinusToken) {
            return MAY;
        }
        const used = LEFT_ALONE.has(operator)
            ? [left]
            : RIGHT_ALONE.has(operator)
              ? [right]
              : [left, right];
        const signs = used.map((one) => this.sign(one, depth + 1));
        return operator === SyntaxKind.AmpersandToken && signs.includes(NEVER) ? NEVER : join(signs);
    }

    signOfCall(node, depth) {
        const callee = node.expression.getText(this.sourceFile);
        const method = ts.isPropertyAccessExpression(node.expression) && node.expression.name.text;
        if (NEVER_CALLS.test(callee) || NEVER_METHODS.has(method)) {
            return NEVER;
        }
        if (MAY_CALLS.test(callee)) {
            return MAY;
        }
        const signs = node.arguments.map((one) => this.sign(one, depth + 1));
        if (method === "NextInteger" || method === "NextNumber") {
            return signs[0] ?? NEVER; // from that on
        }
        if (callee === "Math.max" && signs.includes(NEVER)) {
            return NEVER;
        }
        return callee === "Math.max" || AS_ARGUMENTS.test(callee) ? join(signs) : UNKNOWN;
    }

    signOfProperty(node, depth) {
        const symbol = this.checker.getSymbolAtLocation(node.name);
        const declaration = symbol?.valueDeclaration;
        if (declaration?.getSourceFile().isDeclarationFile) {
            const { text } = node.name;
            return NEVER_PROPERTIES.has(text) ? NEVER : MAY_PROPERTIES.has(text) ? MAY : UNKNOWN;
        }
        const isOwn =
            declaration?.getSourceFile() === this.sourceFile &&
            (ts.isPropertyDeclaration(declaration) || ts.isPropertyAssignment(declaration));
        return isOwn ? this.signOfWritten(symbol, declaration.initializer, depth) : UNKNOWN;
    }

    signOfVariable(symbol, depth) {
        const declaration = symbol?.valueDeclaration;
        if (declaration?.getSourceFile() !== this.sourceFile) {
            return UNKNOWN;
        }
        if (ts.isParameter(declaration)) {
            return this.isIndexParameter(declaration) ? NEVER : UNKNOWN;
        }
        if (ts.isBindingElement(declaration)) {
            return this.isIndexOfEntries(declaration) ? NEVER : UNKNOWN;
        }
        if (!ts.isVariableDeclaration(declaration)) {
            return UNKNOWN;
        }
        const loop = declaration.parent.parent;
        if (ts.isForOfStatement(loop)) {
            return this.signOfRange(loop.expression, depth);
        }
        return ts.isForStatement(loop) && this.isGuarded(loop.condition, symbol, depth)
            ? NEVER
            : this.signOfWritten(symbol, declaration.initializer, depth);
    }

    /** `(item, index) => …` of map, forEach and their like. */
    isIndexParameter(declaration) {
        const whole = declaration.parent;
        if (!ts.isArrowFunction(whole) && !ts.isFunctionExpression(whole)) {
            return false;
        }
        const [signature] = this.checker.getContextualType(whole)?.getCallSignatures() ?? [];
        const parameter = signature?.parameters[whole.parameters.indexOf(declaration)];
        return (
            INDEX_NAMES.has(parameter?.name) &&
            parameter.valueDeclaration?.getSourceFile().isDeclarationFile === true
        );
    }

    /** `for (const [index, item] of list.entries())` */
    isIndexOfEntries(declaration) {
        const pattern = declaration.parent;
        const loop = pattern.parent.parent?.parent;
        const node = loop !== undefined && ts.isForOfStatement(loop) ? loop.expression : undefined;
        return (
            ts.isArrayBindingPattern(pattern) &&
            pattern.elements[0] === declaration &&
            node !== undefined &&
            ts.isCallExpression(node) &&
            ts.isPropertyAccessExpression(node.expression) &&
            node.expression.name.text === "entries" &&
            this.checker.isArrayType(this.checker.getTypeAtLocation(node.expression.expression))
        );
    }

    /** `of $range(1, 5)` */
    signOfRange(node, depth) {
        const isRange =
            ts.isCallExpression(node) && node.expression.getText(this.sourceFile) === "$range";
        return isRange
            ? join(node.arguments.slice(0, 2).map((one) => this.sign(one, depth + 1)))
            : UNKNOWN;
    }

    /** `for (…; i >= 0; …)`: whatever it does, inside of the loop it is not below that. */
    isGuarded(condition, symbol, depth) {
        if (condition === undefined || !ts.isBinaryExpression(condition)) {
            return false;
        }
        const { left, right, operatorToken } = condition;
        const isOf = (one) => this.checker.getSymbolAtLocation(plain(one)) === symbol;
        const [low, high] = GREATER.has(operatorToken.kind)
            ? [right, left]
            : LESS.has(operatorToken.kind)
              ? [left, right]
              : [];
        return low !== undefined && isOf(high) && this.sign(low, depth + 1) === NEVER;
    }

    /** Of what it is at first and of all that this file writes to it. */
    signOfWritten(symbol, initializer, depth) {
        if (!this.known.has(symbol)) {
            this.known.set(symbol, NEVER); // `x = x + 1` asks about x again
            const written = this.findWrites().get(symbol) ?? [];
            const values = initializer === undefined ? written : [initializer, ...written];
            const signs = values.map((one) => (one === null ? UNKNOWN : this.sign(one, depth + 1)));
            this.known.set(symbol, values.length > 0 ? join(signs) : UNKNOWN);
        }
        return this.known.get(symbol);
    }

    /** By symbol: the expressions that are its values, `x++` and `x += 2` as they are; null for any. */
    findWrites() {
        if (this.writes !== undefined) {
            return this.writes;
        }
        this.writes = new Map();
        const stack = [this.sourceFile];
        while (stack.length > 0) {
            const node = stack.pop();
            if (ts.isBinaryExpression(node) && ts.isAssignmentOperator(node.operatorToken.kind)) {
                this.noteWrite(node.left, node);
            } else if (
                (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
                (node.operator === SyntaxKind.PlusPlusToken ||
                    node.operator === SyntaxKind.MinusMinusToken)
            ) {
                this.noteWrite(node.operand, node);
            } else if (
                (ts.isForOfStatement(node) || ts.isForInStatement(node)) &&
                !ts.isVariableDeclarationList(node.initializer)
            ) {
                this.noteWrite(node.initializer, null);
            }
            ts.forEachChild(node, (child) => void stack.push(child));
        }
        return this.writes;
    }

    noteWrite(given, value) {
        const stack = [plain(given)];
        const isPattern =
            ts.isArrayLiteralExpression(stack[0]) || ts.isObjectLiteralExpression(stack[0]);
        while (stack.length > 0) {
            const node = stack.pop();
            const name = ts.isPropertyAccessExpression(node) ? node.name : node;
            const symbol = ts.isShorthandPropertyAssignment(node.parent)
                ? this.checker.getShorthandAssignmentValueSymbol(node.parent)
                : this.checker.getSymbolAtLocation(name);
            if (symbol !== undefined) {
                const written = this.writes.get(symbol) ?? [];
                written.push(isPattern ? null : value);
                this.writes.set(symbol, written);
            }
            if (isPattern) {
                ts.forEachChild(node, (child) => void stack.push(child));
            }
        }
    }
}

// How deep a source is nested. The compilers call themselves once or more for each level, so what is
// too deep ends them; and long before that the checker's time grows with the third power of it. So
// each source is measured, without recursion, as soon as it is parsed and before anything else looks
// at it. `a + b + c`, `else if` and `a.b().c()` are nested too: each link is inside the next.
import { makeSourceFile, ts } from "./host.mjs";

// Of 3,000 files of other people's JavaScript none has more than 219, of those written by hand few
// have 60; a chain of 250 conditions is checked in a second.
const DEPTH_MAX = 250;

// They cost the checker more than others, and Lua two levels.
const TWO_LEVELS = new Set([ts.SyntaxKind.ConditionalExpression, ts.SyntaxKind.ModuleDeclaration]);

const ADVICE =
    "Split it: give parts of it names with const, and use an array, a Map or a switch instead of a " +
    "long chain";

/** [{node, depth}]: of each statement of the file the first node that is too deep, and how deep the
 *  deepest inside that statement is. */
function findDeep(sourceFile) {
    const found = [];
    const stack = [[sourceFile, 0]];
    let current;
    while (stack.length > 0) {
        const [node, depth] = stack.pop();
        if (depth === 1) {
            current = undefined;
        }
        if (depth > DEPTH_MAX) {
            if (current === undefined) {
                current = { node, depth };
                found.push(current);
            }
            current.depth = Math.max(current.depth, depth);
        }
        const children = [...(node.jsDoc ?? [])];
        ts.forEachChild(node, (child) => void children.push(child));
        const next = depth + (TWO_LEVELS.has(node.kind) ? 2 : 1);
        children.reverse().forEach((child) => stack.push([child, next])); // in order
    }
    return found;
}

/** Of a text that ends the parser itself: its longest beginning that does not, parsed. */
function parseBeginning(name, text) {
    let best = makeSourceFile(name, "");
    let fits = 0;
    let fails = text.length;
    while (fails - fits > 1) {
        const middle = (fits + fails) >> 1;
        try {
            best = makeSourceFile(name, text.slice(0, middle));
            fits = middle;
        } catch {
            fails = middle;
        }
    }
    return best;
}

const measured = new WeakSet(); // sources that are not too deep

/** {deep: [{line, column, message}], said: what the parser has to say} of one of the place's sources;
 *  both empty if it can be gone on with. Throws what the parser throws for another reason. */
export function findTooDeep(place, name) {
    let sourceFile;
    let error;
    try {
        sourceFile = place.sourceFile(name);
    } catch (thrown) {
        error = thrown;
        sourceFile = parseBeginning(name, place.texts.get(name));
    }
    const deep = measured.has(sourceFile) ? [] : findDeep(sourceFile);
    if (deep.length === 0) {
        if (error !== undefined) {
            throw error;
        }
        measured.add(sourceFile);
        return { deep, said: [] };
    }
    const more = error !== undefined ? "more than " : "";
    return {
        deep: deep.map(({ node, depth }) => {
            const start = node.getStart(sourceFile);
            const { line, character } = sourceFile.getLineAndCharacterOfPosition(start);
            const what = `this is nested ${more}${depth} deep, and the most is ${DEPTH_MAX}`;
            return { line: line + 1, column: character + 1, message: `${what}. ${ADVICE}` };
        }),
        said: error !== undefined ? [] : sourceFile.parseDiagnostics,
    };
}

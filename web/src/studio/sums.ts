// Sums in number fields: "2*3+1", "(10-4)/2", "-1.5". Nothing else: a text that is no sum gives NaN.
export function sum(text: string): number {
    let at = 0;
    const skip = (): void => {
        while (text[at] === ' ') {
            at += 1;
        }
    };
    const value = (depth: number): number => {
        skip();
        const sign = text[at];
        if (sign === '-' || sign === '+') {
            at += 1;
            return sign === '-' ? -value(depth + 1) : value(depth + 1);
        }
        if (sign === '(' && depth < 32) {
            at += 1;
            const inside = added(depth + 1);
            skip();
            if (text[at] !== ')') {
                return NaN;
            }
            at += 1;
            return inside;
        }
        const number = /^(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?/i.exec(text.slice(at))?.[0];
        if (number === undefined || depth > 32) {
            return NaN;
        }
        at += number.length;
        return Number(number.replace(',', '.'));
    };
    const multiplied = (depth: number): number => {
        let left = value(depth);
        for (skip(); text[at] === '*' || text[at] === '/'; skip()) {
            const isTimes = text[at] === '*';
            at += 1;
            const right = value(depth);
            left = isTimes ? left * right : left / right;
        }
        return left;
    };
    const added = (depth: number): number => {
        let left = multiplied(depth);
        for (skip(); text[at] === '+' || text[at] === '-'; skip()) {
            const isPlus = text[at] === '+';
            at += 1;
            const right = multiplied(depth);
            left = isPlus ? left + right : left - right;
        }
        return left;
    };
    const result = added(0);
    skip();
    return at === text.length && Number.isFinite(result) ? result : NaN;
}

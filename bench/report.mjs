// The rows that a measurement in a browser prints, as bench_report.h prints those of the programs in C.
const rows = [];

export function row(bench, value, unit, goal) {
    const one = { bench, value, unit, ...goal !== undefined && { goal } };
    rows.push(one);
    console.log(process.argv.includes('--json') ? JSON.stringify(one)
        : `${bench.padEnd(28)} ${Number(value.toFixed(3))} ${unit}${
            goal === undefined ? '' : `  (goal ${goal}${value > goal ? ', MISSED' : ''})`}`);
}

// What the program exits with: 1 if a goal was missed.
export const outcome = () => (rows.some(({ value, goal }) => goal !== undefined && !(value <= goal)) ? 1 : 0);

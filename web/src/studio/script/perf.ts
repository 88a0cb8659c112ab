// Marks of what takes time, for the browser's own tools and for the studio's numbers.
const KEPT = 200; // entries of a name; the browser keeps them all otherwise

export const perfMark = (name: string): PerformanceMark => performance.mark(name);

// The duration between two marks, which are taken away.
export function perfMeasure(name: string, start: string, end: string): number {
    const { duration } = performance.measure(name, start, end);
    performance.clearMarks(start);
    performance.clearMarks(end);
    if (performance.getEntriesByName(name, 'measure').length > KEPT) {
        performance.clearMeasures(name);
    }
    return duration;
}

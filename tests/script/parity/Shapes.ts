// A module of both versions of library.
export class Shape {
    constructor(readonly name: string) {}
    size() {
        return 0;
    }
    describe() {
        return `${this.name} is ${this.size()}`;
    }
}

export function area(shapes: Shape[]) {
    let sum = 0;
    for (const shape of shapes) {
        sum += shape.size();
    }
    return sum;
}

export const names = (shapes: Shape[]) => shapes.map(({ name }) => name);

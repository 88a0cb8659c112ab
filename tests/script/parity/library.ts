// What TypeScript brings along: classes, arrays, maps, strings, errors, generators.
import { Shape, area, names } from "../ReplicatedStorage/Shapes";

class Square extends Shape {
    static made = 0;
    constructor(private side: number) {
        super("square");
        Square.made += 1;
    }
    override size() {
        return this.side * this.side;
    }
    get double() {
        return 2 * this.side;
    }
}

enum Color {
    Red,
    Green = 5,
    Blue,
}

interface Item {
    name: string;
    price?: number;
}

function* count(to: number) {
    for (let i = 1; i <= to; i++) {
        yield i;
    }
}

function price({ name, price: cost = 7 }: Item, ...rest: number[]) {
    return `${name}=${cost + rest.length}`;
}

export function onStart() {
    const shapes: Shape[] = [new Square(3), new Shape("dot")];
    print(shapes.map((s) => s.describe()).join("; "), Square.made);
    print(shapes[0] instanceof Square, shapes[1] instanceof Square, new Square(4).double);
    print(area(shapes), names(shapes).join("+"));

    const list = [5, 3, 9, 1];
    print([...list].sort((a, b) => a - b).join(","), list.indexOf(9), list.includes(4));
    print(list.filter((x) => x > 2).reduce((sum, x) => sum + x, 0), list.slice(1, 3).join(","));
    print(list.some((x) => x === 1), list.every((x) => x > 1), list.find((x) => x > 5));
    list.push(7);
    list.unshift(0);
    print(list.splice(1, 2).join(","), list.join(","), list.length, list.reverse().join(","));
    print(list.concat([4, 4]).lastIndexOf === undefined, [[1], [2, 3]].flat().length);

    const text = "Hello, World";
    print(text.length, text.toUpperCase(), text.substring(0, 5), text.slice(-5), text.charAt(4));
    print(text.split(", ").join("|"), text.replace("World", "Lua"), text.indexOf("o"));
    print("  trim ".trim() + "!", "7".padStart(3, "0"), "ab".repeat(3), text.startsWith("Hell"));
    print(price({ name: "cup" }), price({ name: "pen", price: 1 }, 1, 2), Number("12") + 1);

    task.wait(1); // as many lines as a second has

    const map = new Map<string, number>([["a", 1]]);
    map.set("b", 2).set("c", 3);
    map.delete("a");
    const pairs: string[] = [];
    map.forEach((value, key) => pairs.push(`${key}${value}`));
    print(pairs.join(","), map.size, map.has("a"), map.get("c"), new Set([1, 1, 2]).size);
    print([...count(4)].join(" "), Color.Green, Color[6], Object.keys({ only: 1 }).join(","));

    let caught = "nothing";
    try {
        throw new RangeError("too far");
    } catch (e) {
        caught = e instanceof Error ? `${e.name} / ${e.message}` : "other";
    } finally {
        print("caught", caught);
    }
    const [ok, message] = pcall(() => error("plain", 0));
    print(ok, message, tostring(new Error("shown")));
    const maybe: Item | undefined = undefined as Item | undefined;
    print(maybe?.name ?? "none", typeof text, typeof list, Math.floor(-1.5), Math.max(2, 8));
    for (const a of [1, 2, 3]) {
        for (const b of [1, 2, 3]) {
            if (b === 1) continue;
            if (a + b > 4) break;
            print("pair", a, b);
        }
    }
    switch (Color.Blue as Color) {
        case Color.Red:
            print("red");
            break;
        case Color.Blue:
            print("blue");
        default:
            print("through");
    }
}

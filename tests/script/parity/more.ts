// The rest of the library: what leans on things that the sandbox does not have, or has otherwise.
class Thing {
    private value = 1;
    get twice() {
        return this.value * 2;
    }
    set twice(v: number) {
        this.value = Math.floor(v / 2);
    }
    [Symbol.iterator] = function* () {
        yield "first";
        yield "second";
    };
}

class Failure extends Error {
    constructor(readonly code: number) {
        super(`code ${code}`);
        this.name = "Failure";
    }
}

async function later(n: number) {
    await Promise.resolve();
    if (n > 2) {
        throw new Failure(n);
    }
    return n + 1;
}

function logged<T>(this: unknown, method: T, context: ClassMethodDecoratorContext) {
    print("decorated", tostring(context.name));
    return method;
}

class Decorated {
    @logged
    act() {
        return "acted";
    }
}

export function onStart() {
    const thing = new Thing();
    thing.twice = 8;
    print(thing.twice, [...thing].join("/"), Object.values({ only: 5 }).length);

    const weak = new WeakMap<Thing, number>();
    weak.set(thing, 3);
    print(weak.get(thing), weak.has(new Thing()), new WeakSet([thing]).has(thing));

    later(1).then((n) => print("then", n));
    later(3).catch((e: Failure) => print("catch", e.name, e.code, e.message, tostring(e)));
    Promise.all([later(0), later(1)]).then((all) => print("all", all.join(",")));
    print(new Decorated().act(), new Failure(7) instanceof Error, (new Failure(7).stack ?? "").includes("More:55"));

    print("a-b-a".replaceAll("a", "c"), parseInt("ff", 16), (2.345).toFixed(2), (255).toString(16));
    print([3, 1, 2].toSorted().join(","), [1, 2].flatMap((x) => [x, x]).join(","));
    print([1, 2, 3].findIndex((x) => x === 3), [1, 2, 3].at(-1), Array.from("ab").join("."));
    print("abc".charCodeAt(1), "a,b".split(",").length, " x".trimStart());
    print(Number.isInteger(3), Number.isNaN(NaN), Math.trunc(-2.5), Math.sign(-3));

    const { a, ...rest } = { a: 1, b: 2, c: 3 };
    const merged = Object.assign({ z: 0 }, rest);
    print(a, merged.b + merged.c, Object.entries({ k: "v" })[0].join("="), "z" in merged);
    const bound = thing.constructor !== undefined;
    const tag = (parts: TemplateStringsArray, ...values: number[]) => parts.join("_") + values.length;
    print(bound, tag`one${1}two${2}`, void 0);

    const sets = new Set([1, 2, 3]).intersection(new Set([2, 3, 4]));
    print([...sets].join(","), new Map([[1, "one"]]).get(1), [1, 2, 3, 4].fill(0, 1, 3).join(""));
}

// What needs care to become Lua at all: ways out of a try, signs in a row, lines that begin with a
// parenthesis, and values of which Lua wants to see that they are one.
const enum Below {
    One = -1,
}

let said: string[] = [];

function say(...words: (string | number)[]) {
    said.push(words.join(" "));
}

/** Only so many lines a second are printed. */
function tell() {
    print(said.join("; "));
    said = [];
}

function loop(until: number) {
    for (let i = 0; i < 5; i++) {
        try {
            try {
                if (i === 1) {
                    continue;
                }
                if (i === until) {
                    break;
                }
                if (i === 2) {
                    throw "two";
                }
                say("in", i);
            } finally {
                say("inner", i);
            }
            say("between", i);
        } catch (e) {
            say("caught", e as string);
            if (until === 4) {
                return "returned";
            }
            continue;
        } finally {
            say("outer", i);
        }
        say("after", i);
    }
    return "through";
}

function choose(n: number) {
    switch (n) {
        case 1:
            try {
                break;
            } finally {
                say("one");
            }
        default:
            say("other", n);
    }
    let rounds = 0;
    do {
        rounds++;
        try {
            switch (rounds) {
                case 2:
                    continue;
                case 4:
                    break;
                default:
                    say("round", rounds);
            }
        } catch {
            say("never");
        }
        say("end of", rounds);
    } while (rounds < 4);
    (function () {
        say("a function");
    })();
}

function* some() {
    for (const n of [1, 2, 3]) {
        try {
            if (n === 2) {
                continue;
            }
            yield n;
        } finally {
            say("had", n);
        }
    }
}

async function later() {
    for (const n of [1, 2, 3]) {
        try {
            await Promise.resolve();
            switch (n) {
                case 1:
                    say("first");
                    break;
                case 2:
                    continue;
                default:
                    say("third");
            }
            if (n === 3) {
                break;
            }
        } finally {
            say("awaited", n);
        }
        say("next");
    }
    say("all");
    tell();
}

export function onStart() {
    say(loop(3));
    tell();
    say(loop(4));
    tell();
    choose(1);
    tell();
    choose(2);
    tell();
    for (const n of some()) {
        say("some", n);
    }
    tell();
    later();
    const three = 3;
    print(-(-three), - -5, 1 - -three, -Below.One, Below.One ** 2); // trap-ok
    const text = ("abc" as any).nothing;
    print(text, `x`.length, [1, 2].length, (5).toString(), ({ a: 1 }).a);
}

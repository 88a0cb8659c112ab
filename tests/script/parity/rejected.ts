// Three rejections that nobody handles, among many that somebody does.
async function fails() {
    throw new TypeError("nobody looked");
}

export async function onStart() {
    void fails();
    fails().catch(() => print("caught"));
    void Promise.reject("plain");
    try {
        await fails();
    } catch {
        print("awaited");
    }
    const late = fails();
    late.then(undefined, () => print("in time"));
    Promise.resolve()
        .then(() => fails())
        .catch(() => print("from a callback"));
    fails()
        .finally(() => print("finally"))
        .catch(() => print("after it"));
    Promise.all([fails(), 1]).catch(() => print("all"));
    Promise.race([fails()]).catch(() => print("race"));
    Promise.any([fails()]).catch(() => print("any"));
    void Promise.allSettled([fails()]).then(() => print("settled"));
    try {
        await Promise.all([fails(), new Promise((resolve) => task.delay(0, () => resolve(1)))]);
    } catch {
        print("awaited together");
    }
    void Promise.all([Promise.reject("together")]);
}

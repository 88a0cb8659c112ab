// Two rejections that nobody handles, between others that somebody does.
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
}

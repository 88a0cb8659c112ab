// An edit session inside of studio_session.wasm, for tests without a server: pages send to it and receive
// from it at once or when `deliver` is called.
const noSystem = (module) => {
    const imports = {};
    for (const { module: space, name } of WebAssembly.Module.imports(module)) {
        (imports[space] ??= {})[name] = () => 8;
    }
    return imports;
};

export class EditHost {
    static async open(module, document) {
        const host = new EditHost();
        host.raw = (await WebAssembly.instantiate(module, noSystem(module))).exports;
        host.raw._initialize();
        host.handle = host.give(document, (at, count) => host.raw.sessionOpen(at, count));
        if (host.handle === 0) {
            throw new Error('the document cannot be opened');
        }
        return host;
    }

    give(bytes, use) {
        const at = this.raw.alloc(bytes.length + 1);
        new Uint8Array(this.raw.memory.buffer).set(bytes, at);
        const value = use(at, bytes.length);
        this.raw.release(at);
        return value;
    }

    join(editor, seq = 0) {
        this.raw.sessionJoin(this.handle, editor, seq);
    }

    receive(editor, bytes) {
        this.give(bytes, (at, count) => this.raw.sessionReceive(this.handle, editor, at, count));
    }

    // The oldest message, {editor, bytes}, or null.
    take() {
        const at = this.raw.sessionTake(this.handle);
        if (at === 0) {
            return null;
        }
        const bytes = new Uint8Array(this.raw.memory.buffer, at, this.raw.resultBytes()).slice();
        return { editor: new DataView(bytes.buffer).getUint32(0, true), bytes: bytes.subarray(4) };
    }

    hash() {
        return BigInt.asUintN(64, this.raw.sessionHash(this.handle));
    }
}

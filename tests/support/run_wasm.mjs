// Runs a WASI command module under Node: the wasm preset's tests, scenarios and benchmarks.
//   node run_wasm.mjs PROGRAM.wasm [ARGUMENT…]
// This is our own small WASI, not Node's, because it provides only arguments, standard input and
// output, the clock, and exit. Files, the environment and randomness are missing on purpose: code of
// the core that uses them fails here.
import { readFileSync, readSync, writeSync } from 'node:fs';

const ERRNO_SUCCESS = 0;
const ERRNO_BADF = 8;
const ERRNO_INVAL = 28;
const ERRNO_IO = 29;
const ERRNO_NOSYS = 52;
const ERRNO_SPIPE = 70;
const FILETYPE_CHARACTER_DEVICE = 2;
const CLOCK_REALTIME = 0;
const CLOCK_MONOTONIC = 1;
const OUTPUT_BUFFER_BYTES = 1 << 16;

class Exit extends Error {
    constructor(code) {
        super(`exit ${code}`);
        this.code = code;
    }
}

// Collects what is written to one descriptor, so that many short lines are few system calls.
class Output {
    constructor(fd) {
        this.fd = fd;
        this.buffer = Buffer.alloc(OUTPUT_BUFFER_BYTES);
        this.used = 0;
    }

    write(bytes) {
        if (this.used + bytes.length > this.buffer.length) {
            this.flush();
        }
        if (bytes.length > this.buffer.length) {
            this.writeAll(bytes);
        } else {
            this.buffer.set(bytes, this.used);
            this.used += bytes.length;
        }
    }

    flush() {
        this.writeAll(this.buffer.subarray(0, this.used));
        this.used = 0;
    }

    // A pipe that is full refuses for a moment; there is nothing else to do meanwhile.
    writeAll(bytes) {
        for (let done = 0; done < bytes.length; ) {
            try {
                done += writeSync(this.fd, bytes, done);
            } catch (error) {
                if (error.code !== 'EAGAIN') {
                    throw error;
                }
            }
        }
    }
}

function makeWasi(args, outputs) {
    let memory;
    const view = () => new DataView(memory.buffer);
    const bytes = (start, length) => new Uint8Array(memory.buffer, start, length);
    const encoded = args.map((argument) => Buffer.from(`${argument}\0`));

    // The buffers of an fd_read or fd_write: pairs of address and length.
    function* vectors(start, count) {
        for (let i = 0; i < count; i++) {
            const address = view().getUint32(start + 8 * i, true);
            yield bytes(address, view().getUint32(start + 8 * i + 4, true));
        }
    }

    function storeSizes(countAt, bytesAt, count, total) {
        view().setUint32(countAt, count, true);
        view().setUint32(bytesAt, total, true);
        return ERRNO_SUCCESS;
    }

    const calls = {
        args_sizes_get(countAt, bytesAt) {
            const total = encoded.reduce((sum, argument) => sum + argument.length, 0);
            return storeSizes(countAt, bytesAt, encoded.length, total);
        },
        args_get(pointersAt, textAt) {
            for (const [i, argument] of encoded.entries()) {
                view().setUint32(pointersAt + 4 * i, textAt, true);
                bytes(textAt, argument.length).set(argument);
                textAt += argument.length;
            }
            return ERRNO_SUCCESS;
        },
        environ_sizes_get: (countAt, bytesAt) => storeSizes(countAt, bytesAt, 0, 0),
        environ_get: () => ERRNO_SUCCESS,
        clock_time_get(clock, precision, timeAt) {
            if (clock !== CLOCK_REALTIME && clock !== CLOCK_MONOTONIC) {
                return ERRNO_INVAL;
            }
            const now = clock === CLOCK_MONOTONIC
                ? process.hrtime.bigint() : BigInt(Date.now()) * 1_000_000n;
            view().setBigUint64(timeAt, now, true);
            return ERRNO_SUCCESS;
        },
        random_get: () => ERRNO_NOSYS,
        fd_write(fd, vectorsAt, count, writtenAt) {
            const output = outputs.get(fd);
            if (output === undefined) {
                return ERRNO_BADF;
            }
            let written = 0;
            for (const part of vectors(vectorsAt, count)) {
                output.write(part);
                written += part.length;
            }
            view().setUint32(writtenAt, written, true);
            return ERRNO_SUCCESS;
        },
        fd_read(fd, vectorsAt, count, readAt) {
            if (fd !== 0) {
                return ERRNO_BADF;
            }
            let total = 0;
            for (const part of vectors(vectorsAt, count)) {
                try {
                    const got = part.length > 0 ? readSync(0, part) : 0;
                    total += got;
                    if (got < part.length) {
                        break;
                    }
                } catch (error) {
                    if (error.code === 'EOF') {
                        break;
                    }
                    return ERRNO_IO;
                }
            }
            view().setUint32(readAt, total, true);
            return ERRNO_SUCCESS;
        },
        fd_fdstat_get(fd, statAt) {
            if (fd > 2) {
                return ERRNO_BADF;
            }
            bytes(statAt, 24).fill(0);
            view().setUint8(statAt, FILETYPE_CHARACTER_DEVICE);
            return ERRNO_SUCCESS;
        },
        fd_seek: () => ERRNO_SPIPE,
        fd_close: (fd) => (fd > 2 ? ERRNO_BADF : ERRNO_SUCCESS),
        fd_prestat_get: () => ERRNO_BADF,
        proc_exit(code) {
            throw new Exit(code);
        },
    };

    return {
        setMemory: (value) => (memory = value),
        // A missing call may be imported, but it returns that it is missing.
        imports: new Proxy(calls, { get: (known, name) => known[name] ?? (() => ERRNO_NOSYS) }),
    };
}

function run(path, args) {
    const outputs = new Map([1, 2].map((fd) => [fd, new Output(fd)]));
    const wasi = makeWasi([path, ...args], outputs);
    let code = 0;
    try {
        const module = new WebAssembly.Module(readFileSync(path));
        const { exports } = new WebAssembly.Instance(module, {
            wasi_snapshot_preview1: wasi.imports,
        });
        wasi.setMemory(exports.memory);
        exports._start();
    } catch (error) {
        if (!(error instanceof Exit)) {
            outputs.get(2).write(Buffer.from(`${path}: ${error.stack ?? error}\n`));
        }
        // As a shell reports a native program that died by abort().
        code = error instanceof Exit ? error.code : 134;
    }
    for (const output of outputs.values()) {
        output.flush();
    }
    return code;
}

if (process.argv.length < 3) {
    console.error('usage: run_wasm.mjs PROGRAM.wasm [ARGUMENT…]');
    process.exitCode = 2;
} else {
    process.exitCode = run(process.argv[2], process.argv.slice(3));
}

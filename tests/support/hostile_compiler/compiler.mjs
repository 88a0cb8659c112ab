// In place of the real compiler, inside its jail: tries everything that must not be possible, and
// answers what was. The first line of the script it is sent names a folder that everybody may read
// and write, the second the process that started it.
import fs from "node:fs";
import net from "node:net";
import dgram from "node:dgram";
import os from "node:os";
import childProcess from "node:child_process";
import { Worker } from "node:worker_threads";

const STREAM = 3;

function readExactly(bytes) {
    const out = Buffer.alloc(bytes);
    let used = 0;
    while (used < bytes) {
        const got = fs.readSync(STREAM, out, used, bytes - used, null);
        if (got === 0) {
            process.exit(0);
        }
        used += got;
    }
    return out;
}

function answer(text) {
    const reason = Buffer.from(text);
    const body = Buffer.alloc(4 + 4 + reason.length + 8);
    body.writeUInt32LE(2, 0);
    body.writeUInt32LE(reason.length, 4);
    reason.copy(body, 8);
    const head = Buffer.alloc(9);
    head.writeUInt8(1, 0);
    head.writeBigUInt64LE(BigInt(body.length), 1);
    fs.writeSync(STREAM, Buffer.concat([head, body]));
}

const done = [];
function attempt(name, action) {
    try {
        action();
        done.push(name);
    } catch {
        // as it must be
    }
}

// Resolves whether something that happens later happened.
function later(name, begin) {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, 1500);
        const end = (happened) => {
            clearTimeout(timer);
            if (happened) {
                done.push(name);
            }
            resolve();
        };
        try {
            begin(end);
        } catch {
            end(false);
        }
    });
}

const request = readExactly(Number(readExactly(8).readBigUInt64LE(0))).toString("latin1");
const [, folder, parent] = /(\/tmp\/sandlot-typescript-\w+)\n(\d+)\n/.exec(request);

attempt("read /etc/passwd", () => fs.readFileSync("/etc/passwd"));
attempt("read /etc/hostname", () => fs.readFileSync("/etc/hostname"));
attempt("read the place", () => fs.readFileSync(`${folder}/secret.ts`));
attempt("list the place", () => fs.readdirSync(folder));
attempt("list /", () => fs.readdirSync("/"));
attempt("list home", () => fs.readdirSync(os.homedir()));
attempt("read through a link", () => fs.readFileSync("/proc/self/root/etc/passwd"));
attempt("read by descriptor", () => fs.readFileSync("/proc/self/fd/3/../../cwd/etc/passwd"));
attempt("read a program", () => fs.readFileSync("/bin/sh"));
attempt("read the host", () => fs.readFileSync(`/proc/${parent}/environ`));
attempt("read the host's memory", () => fs.openSync(`/proc/${parent}/mem`, "r"));
attempt("read the host's maps", () => fs.readFileSync(`/proc/${parent}/maps`));
attempt("read the host's name", () => fs.readFileSync(`/proc/${parent}/cmdline`));
attempt("read init", () => fs.readFileSync("/proc/1/cmdline"));
attempt("write own memory", () => fs.openSync("/proc/self/mem", "r+"));
attempt("write a file", () => fs.writeFileSync(`${folder}/made`, "x"));
attempt("write into a file", () => fs.writeFileSync(`${folder}/secret.ts`, "x"));
attempt("append to a file", () => fs.appendFileSync(`${folder}/secret.ts`, "x"));
attempt("shorten a file", () => fs.truncateSync(`${folder}/secret.ts`, 0));
attempt("write in its own folder", () => fs.writeFileSync(new URL("made", import.meta.url), "x"));
attempt("write /dev/shm", () => fs.writeFileSync("/dev/shm/sandlot-made", "x"));
attempt("make a folder", () => fs.mkdirSync(`${folder}/made`));
attempt("make a link", () => fs.symlinkSync("/etc/passwd", `${folder}/made`));
attempt("make a hard link", () => fs.linkSync(`${folder}/secret.ts`, `${folder}/made`));
attempt("remove a file", () => fs.unlinkSync(`${folder}/secret.ts`));
attempt("rename a file", () => fs.renameSync(`${folder}/secret.ts`, `${folder}/made`));
attempt("change a mode", () => fs.chmodSync(`${folder}/secret.ts`, 0o600));
attempt("change times", () => fs.utimesSync(`${folder}/secret.ts`, 1, 1));
attempt("kill the host", () => process.kill(Number(parent), 0));
attempt("kill init", () => process.kill(1, 0));
attempt("kill the group", () => process.kill(0, 0));
attempt("change user", () => process.setuid(0));
attempt("change priority", () => os.setPriority(-5));
attempt("load a library", () => process.dlopen({ exports: {} }, "/bin/sh"));
for (const program of ["/bin/sh", "/usr/bin/env", process.execPath]) {
    attempt(`run ${program}`, () => {
        const ended = childProcess.spawnSync(program, ["--version"]);
        if (ended.error !== undefined || ended.pid === 0) {
            throw ended.error;
        }
    });
}

await later("connect by TCP", (end) => {
    const socket = net.connect(22, "127.0.0.1", () => end(true));
    socket.on("error", (error) => end(error.code === "ECONNREFUSED"));
});
await later("connect by a socket file", (end) => {
    const socket = net.connect(`${folder}/socket`, () => end(true));
    socket.on("error", (error) => end(error.code === "ENOENT" || error.code === "ECONNREFUSED"));
});
await later("listen", (end) => {
    const server = net.createServer();
    server.on("error", () => end(false));
    server.listen(0, "127.0.0.1", () => end(true));
});
await later("send by UDP", (end) => {
    const socket = dgram.createSocket("udp4");
    socket.on("error", () => end(false));
    socket.send("x", 9, "127.0.0.1", (error) => end(error === null));
});
await later("fork a worker that runs a program", (end) => {
    const worker = new Worker(
        'const c = require("child_process").spawnSync("/bin/sh", ["-c", "true"]);' +
            'require("worker_threads").parentPort.postMessage(c.error === undefined);',
        { eval: true },
    );
    worker.on("message", end);
    worker.on("error", () => end(false));
});

answer(done.length === 0 ? "all refused" : `done: ${done.join(", ")}`);

// Asked again: if this worked it would be another program, which ends well. Node ends badly when it
// does not.
readExactly(8);
if (process.execve !== undefined) {
    process.execve("/bin/sh", ["sh", "-c", "exit 0"], {});
}
process.abort();

// Replaces the real compiler: sends messages that the real one never would, or nothing. The script
// it gets names which of the messages below, as "say: name".
import { readSync, writeSync } from "node:fs";

const STREAM = 3;
const NO_SCRIPT = 0xffffffff;

function progress(script, done) {
    const message = Buffer.alloc(17);
    message.writeUInt8(8, 1);
    message.writeUInt32LE(script, 9);
    message.writeUInt32LE(done, 13);
    return message;
}

const MESSAGES = {
    nothing: Buffer.alloc(0),
    alive: progress(NO_SCRIPT, 0),
    "more than all": progress(0, 2),
    "more than all, of none": progress(NO_SCRIPT, 2),
    "another script": progress(1, 0),
    "half a progress": progress(0, 0).fill(4, 1, 2).subarray(0, 13),
};

const request = Buffer.alloc(1 << 20);
let bytes = 0;
let said;
while (said === undefined) {
    bytes += readSync(STREAM, request, bytes, request.length - bytes, null);
    said = /say: (.*)\n/.exec(request.toString("latin1", 0, bytes))?.[1];
}
if (MESSAGES[said].length > 0) {
    writeSync(STREAM, MESSAGES[said]);
}
setInterval(() => {}, 1000);

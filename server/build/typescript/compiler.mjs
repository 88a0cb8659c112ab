// TypeScript → Lua (compile.mjs) as a process that answers requests until its host is gone. It runs in a
// jail: it can read Node's files and the compiler's, and nothing else; a place's sources come in requests
// and stay in memory.
import { answer } from "./compile.mjs";
import { FrameReader, FrameWriter, KIND_RESULT, readFrame, writeFrame } from "./frame.mjs";

const LANGUAGE_TYPESCRIPT = 1;
const STATUS_FAILED = 2;

function readRequest(bytes) {
    const reader = new FrameReader(bytes);
    const declarations = reader.text(); // empty: unchanged
    const scripts = [];
    for (let left = reader.u32(); left > 0; left--) {
        scripts.push({
            index: scripts.length,
            path: reader.text(),
            file: reader.text(),
            isTypeScript: reader.u8() === LANGUAGE_TYPESCRIPT,
            isWanted: reader.u8() !== 0,
            isSent: reader.u8() !== 0,
            text: reader.text().replace(/^\uFEFF/, ""), // a byte order mark is not a column
        });
    }
    return { declarations, scripts };
}

function writeAnswer({ status, reason, diagnostics, outputs }) {
    const writer = new FrameWriter();
    writer.u32(status);
    writer.text(reason);
    writer.u32(diagnostics.length);
    for (const { isError, file, line, column, code, message } of diagnostics) {
        writer.u8(isError ? 0 : 1);
        writer.text(file);
        writer.u32(line);
        writer.u32(column);
        writer.text(code);
        writer.text(message);
    }
    writer.u32(outputs.length);
    for (const { path, lua, map, lines } of outputs) {
        writer.text(path);
        writer.text(lua);
        writer.text(map);
        writer.u32s(lines);
    }
    writeFrame(KIND_RESULT, writer.bytes());
}

function answerBytes(bytes) {
    let request;
    try {
        request = readRequest(bytes);
    } catch (error) {
        const reason = `the compiler failed: ${error?.message ?? error}`;
        return { status: STATUS_FAILED, reason, diagnostics: [], outputs: [] };
    }
    return answer(request);
}

for (let request = readFrame(); request !== null; request = readFrame()) {
    writeAnswer(answerBytes(request));
}

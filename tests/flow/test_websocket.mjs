// Our WebSocket framing against an implementation that is not ours: ws, from npm. Starts the echo
// program and checks, conversation by conversation, what comes back and with which close code.
//
//   test_websocket.mjs ECHO_PROGRAM
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import net from 'node:net';
import { once } from 'node:events';
import WebSocket from 'ws';

const SECONDS = 10;
const echo = spawn(process.argv[2], { stdio: ['pipe', 'pipe', 'inherit'] });
const port = Number((await once(echo.stdout, 'data'))[0].toString());
const address = `ws://127.0.0.1:${port}/`;
let failed = 0;

/** Connects; `next()` is the next message, `closed` the close code. */
async function open(protocols = [], options = {}) {
  const socket = new WebSocket(address, protocols, options);
  const messages = [];
  const waiting = [];
  socket.on('message', (data, isBinary) => {
    const message = { data, isBinary, text: data.toString() };
    (waiting.shift() ?? ((item) => messages.push(item)))(message);
  });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.on('close', (code) => resolve(code)));
  const next = () => messages.length > 0 ? Promise.resolve(messages.shift())
    : new Promise((resolve) => waiting.push(resolve));
  await once(socket, 'open');
  return { socket, next, closed };
}

/** Sends bytes as they are, under the library's feet, and says with which code it ends. */
async function codeAfter(bytes) {
  const { socket, closed } = await open();
  socket._socket.write(Buffer.from(bytes));
  return closed;
}

async function test(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${SECONDS} s`)), SECONDS * 1000);
  });
  try {
    await Promise.race([run(), late]);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${error.stack}`);
  } finally {
    clearTimeout(timer);
  }
}

/** A masked frame by hand. */
function frame(first, payload, { masked = true, length = payload.length } = {}) {
  const mask = Buffer.from([1, 2, 3, 4]);
  assert.ok(length < 126);
  const body = Buffer.from(payload).map((byte, i) => masked ? byte ^ mask[i & 3] : byte);
  return Buffer.concat([Buffer.from([first, (masked ? 0x80 : 0) | length]),
    masked ? mask : Buffer.alloc(0), body]);
}

await test('text and binary come back as they were', async () => {
  const { socket, next, closed } = await open();
  for (const text of ['', 'a', 'grüße ✓ 𝄞', 'x'.repeat(125), 'x'.repeat(126), 'x'.repeat(65535)]) {
    socket.send(text);
    const got = await next();
    assert.equal(got.text, text);
    assert.equal(got.isBinary, false);
  }
  const bytes = Buffer.from(Array.from({ length: 65536 }, (_, i) => i % 251));
  socket.send(bytes);
  const got = await next();
  assert.ok(got.isBinary && got.data.equals(bytes));
  socket.close(1000);
  assert.equal(await closed, 1000);
});

await test('a message of a megabyte, and one byte more', async () => {
  const { socket, next, closed } = await open();
  const large = Buffer.alloc(1 << 20, 7);
  socket.send(large);
  assert.ok((await next()).data.equals(large));
  socket.send(Buffer.alloc((1 << 20) + 1));
  assert.equal(await closed, 1009);
});

await test('fragments up count together, with a ping between them', async () => {
  const { socket, next, closed } = await open();
  const ponged = once(socket, 'pong');
  socket.send('frag', { fin: false });
  socket.ping('between');
  socket.send('men', { fin: false });
  socket.send('', { fin: false });
  socket.send('ts of one', { fin: true });
  assert.equal((await next()).text, 'fragments of one');
  assert.equal((await ponged)[0].toString(), 'between');
  for (let i = 0; i < 17; i += 1) {
    socket.send(Buffer.alloc(1 << 16), { fin: false });
  }
  assert.equal(await closed, 1009);
});

await test('a character may be cut between two fragments', async () => {
  const { socket, next } = await open();
  const bytes = Buffer.from('a𝄞b');
  socket.send(bytes.subarray(0, 3), { fin: false, binary: false });
  socket.send(bytes.subarray(3), { fin: true });
  assert.equal((await next()).text, 'a𝄞b');
  socket.terminate();
});

await test('fragments down, with a ping between them', async () => {
  const { socket, next } = await open();
  const pinged = once(socket, 'ping');
  socket.send('fragments');
  assert.equal((await next()).text, 'onetwothree');
  assert.equal((await pinged)[0].toString(), '?');
  assert.equal((await next()).text, 'ponged'); // the library answered by itself
  socket.terminate();
});

await test('pings both ways, up to 125 bytes', async () => {
  const { socket, next } = await open();
  for (const size of [0, 1, 125]) {
    const ponged = once(socket, 'pong');
    socket.ping(Buffer.alloc(size, 9));
    assert.ok((await ponged)[0].equals(Buffer.alloc(size, 9)));
  }
  socket.send('ping');
  assert.equal((await next()).text, 'ponged');
  socket.terminate();
});

await test('close codes come back, and those of the server arrive', async () => {
  for (const code of [1000, 1001, 1011, 3000, 4999]) {
    const { socket, closed } = await open();
    socket.close(code, 'because');
    assert.equal(await closed, code);
  }
  const { socket: bare, closed: bareClosed } = await open();
  bare.close();
  assert.equal(await bareClosed, 1000);
  for (const code of [1000, 1001, 1008, 1012, 4000]) {
    const { socket, closed } = await open();
    socket.send(`close ${code}`);
    assert.equal(await closed, code);
  }
});

await test('what breaks the protocol ends with 1002', async () => {
  assert.equal(await codeAfter(frame(0x81, [65], { masked: false })), 1002);
  assert.equal(await codeAfter(frame(0xc1, [65])), 1002); // a reserved bit
  assert.equal(await codeAfter(frame(0x83, [65])), 1002); // a reserved opcode
  assert.equal(await codeAfter(frame(0x8b, [65])), 1002);
  assert.equal(await codeAfter(frame(0x80, [65])), 1002); // a continuation of nothing
  assert.equal(await codeAfter(frame(0x09, [65])), 1002); // a ping in fragments
  assert.equal(await codeAfter([0x89, 0xfe, 0, 126]), 1002); // a ping of 126 bytes
  assert.equal(await codeAfter([0x82, 0xfe, 0, 5, 0, 0, 0, 0]), 1002); // not the shortest length
  assert.equal(await codeAfter([0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), 1002);
  assert.equal(await codeAfter(frame(0x88, [3])), 1002); // half a close code
  assert.equal(await codeAfter(frame(0x88, [0x03, 0xed])), 1002); // 1005 is never sent
  assert.equal(await codeAfter(Buffer.concat([frame(0x01, [65]), frame(0x81, [66])])), 1002);
});

await test('the library sends unmasked: 1002', async () => {
  const { socket, closed } = await open();
  socket.send('hello', { mask: false });
  assert.equal(await closed, 1002);
});

await test('text that is not UTF-8 ends with 1007', async () => {
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
    const { socket, closed } = await open();
    socket.send(Buffer.from(bytes), { binary: false });
    assert.equal(await closed, 1007);
  }
  assert.equal(await codeAfter(frame(0x88, [0x03, 0xe8, 0xff])), 1007); // in a reason, too
});

await test('compression is offered and not taken', async () => {
  const { socket, next } = await open([], { perMessageDeflate: true });
  assert.equal(socket.extensions, '');
  socket.send('x'.repeat(100000), { compress: true });
  assert.equal((await next()).text.length, 100000);
  socket.terminate();
});

await test('subprotocols', async () => {
  for (const [offered, chosen] of [[['sandlot.v2.json'], 'sandlot.v2.json'],
    [['sandlot.v2.json', 'sandlot.v2.bin'], 'sandlot.v2.bin'],
    [['other', 'sandlot.v2.json'], 'sandlot.v2.json'], [[], '']]) {
    const { socket } = await open(offered);
    assert.equal(socket.protocol, chosen);
    socket.terminate();
  }
  await assert.rejects(open(['chat']), /400/);
});

await test('origins', async () => {
  const own = await open([], { origin: `http://127.0.0.1:${port}` });
  own.socket.terminate();
  await assert.rejects(open([], { origin: 'http://evil.example' }), /403/);
  await assert.rejects(open([], { protocolVersion: 8 }), /426/);
});

await test('a request and its first frame in one packet', async () => {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(Buffer.concat([Buffer.from(`GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n`
    + 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'), frame(0x81, Buffer.from('early'))]));
  let got = Buffer.alloc(0);
  while (!got.includes('\x81\x05early', 0, 'latin1')) {
    got = Buffer.concat([got, (await once(socket, 'data'))[0]]);
  }
  assert.ok(got.includes('s3pPLMBiTxaQ9kYGzzhZRbK+xOo='));
  socket.destroy();
});

await test('bytes one by one', async () => {
  const { socket, next } = await open();
  const bytes = Buffer.concat([frame(0x01, Buffer.from('slow')), frame(0x89, []),
    frame(0x80, Buffer.from('ly'))]);
  socket._socket.setNoDelay(true);
  for (const byte of bytes) {
    socket._socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.equal((await next()).text, 'slowly');
  socket.terminate();
});

echo.stdin.end();
const [code] = await once(echo, 'exit');
if (code !== 0) {
  failed += 1;
  console.log(`FAIL  the echo program ends with ${code}`);
}
process.exit(failed > 0 ? 1 : 0);

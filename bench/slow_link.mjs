// For benches of the real page: a link whose speed and delay are known, and round trips.
import { connect, createServer } from 'node:net';

const SLICE = 1400; // of each connection in turn, as a fair queue does
const CLOCK_MS = 3; // between two that tell when something began and ended
const BUFFER = 24; // slices that wait, about 32 kB, as in a socket's buffer
const HELD_AFTER = 20_000; // bytes of an answer that is held back

// A link that all connections share. Only what comes from the server is slow; the delay is that of a
// round trip, and a new connection costs one of its own.
export async function slowLink(port, bytesPerSecond, delayMs = 0) {
    const queues = new Map(); // socket → waiting pieces, null: the end
    const link = { bytes: 0, paths: new Set(), holds: null }; // that went to the browser; what it asked for; answers that wait
    const isHeld = (socket) => socket.sent > HELD_AFTER && link.holds?.test(socket.asked) === true;
    const later = (work) => delayMs > 0 ? setTimeout(work, delayMs / 2) : work();
    const server = createServer((from) => {
        const to = connect(port, '127.0.0.1');
        const openMs = performance.now() + delayMs;
        from.on('data', (data) => {
            const asked = /^[A-Z]+ (\S+) HTTP\//.exec(data.subarray(0, 300).toString('latin1'));
            if (asked !== null) {
                link.paths.add(asked[1]);
                Object.assign(from, { asked: asked[1], sent: 0 });
            }
            const waitMs = Math.max(0, openMs - performance.now()) + delayMs / 2;
            if (waitMs > 0) {
                setTimeout(() => to.write(data), waitMs);
            } else {
                to.write(data);
            }
        });
        queues.set(from, []);
        to.on('data', (data) => {
            const queue = queues.get(from);
            for (let at = 0; at < data.length; at += SLICE) {
                queue?.push(data.subarray(at, at + SLICE));
            }
            if ((queue?.length ?? 0) > BUFFER) {
                to.pause();
            }
        });
        from.resumeSender = () => to.resume();
        const end = () => {
            queues.delete(from);
            from.destroy();
            to.destroy();
        };
        to.on('end', () => queues.get(from)?.push(null));
        for (const socket of [from, to]) {
            socket.setNoDelay(true);
            socket.on('error', end);
        }
        from.on('close', end);
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    let credit = 0;
    let last = performance.now();
    const timer = setInterval(() => {
        const now = performance.now();
        credit = Math.min(credit + (now - last) / 1000 * bytesPerSecond, 16_000);
        last = now;
        while (credit > 0 && [...queues].some(([socket, queue]) => queue.length > 0 && !isHeld(socket))) {
            for (const [socket, queue] of queues) {
                const piece = isHeld(socket) ? undefined : queue.shift();
                if (piece === null) {
                    later(() => socket.end());
                } else if (piece !== undefined) {
                    credit -= piece.length;
                    link.bytes += piece.length;
                    socket.sent += piece.length;
                    later(() => socket.write(piece));
                }
                if (queue.length < BUFFER / 2) {
                    socket.resumeSender();
                }
            }
        }
    }, 4);
    link.port = server.address().port;
    link.stop = () => { clearInterval(timer); server.close(); };
    return link;
}

// The longest chain of requests ({begin, end}), each begun after the one before had ended.
export function roundTrips(requests) {
    const depth = [];
    const sorted = [...requests].sort((a, b) => a.begin - b.begin);
    sorted.forEach((one, i) => {
        depth[i] = 1 + Math.max(0, ...sorted.slice(0, i).map((other, k) =>
            other.end <= one.begin + CLOCK_MS ? depth[k] : 0));
    });
    return Math.max(0, ...depth);
}

"""A second client, written only from docs/PROTOCOL.md, which proves that the page is complete.

It shares no code with the project, not even with the other tests, and needs only Python's standard
library. It joins over HTTP, has its own WebSocket code, uses the JSON encoding, walks, and stores the
positions of everybody. It does not predict: its own position is that of the last snapshot.

    protocol_client.py ADDRESS      walks ten metres in the world at http://ADDRESS and says where it is
"""

import base64
import hashlib
import json
import math
import os
import select
import socket
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
INPUTS_PER_MESSAGE = 2
MESSAGES_PER_SECOND = 30


class ProtocolError(Exception):
    """The other side did not do what the page says."""


def expect(condition, text):
    if not condition:
        raise ProtocolError(text)


def distance(a, b):
    return math.dist(a, b)


# --- RFC 6455 -------------------------------------------------------------------------------------


class Line:
    """A WebSocket: text messages in and out, pings answered."""

    def __init__(self, address, subprotocol="sandlot.v2.json"):
        parts = urllib.parse.urlsplit(address)
        expect(parts.scheme == "ws", f"an address like ws://…, not {address}")
        self.socket = socket.create_connection((parts.hostname, parts.port or 80), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.fragments = b""
        self.pings_answered, self.pongs = 0, []
        self.close_code = None
        self._upgrade(parts, subprotocol)

    def _upgrade(self, parts, subprotocol):
        key = base64.b64encode(os.urandom(16)).decode()
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        self.socket.sendall("\r\n".join([
            f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}",
            f"Sec-WebSocket-Protocol: {subprotocol}", "", ""]).encode())
        while b"\r\n\r\n" not in self.received:
            more = self.socket.recv(4096)
            expect(more, "the connection ended during the handshake")
            self.received += more
        head, self.received = self.received.split(b"\r\n\r\n", 1)
        status, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip()
                   for name, value in (line.split(":", 1) for line in lines)}
        guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        wanted = base64.b64encode(hashlib.sha1((key + guid).encode()).digest()).decode()
        expect(status.split(" ")[1] == "101", f"no upgrade: {status}")
        expect(headers.get("sec-websocket-accept") == wanted, "the answer to the key")
        expect(headers.get("sec-websocket-protocol") == subprotocol, "the subprotocol")
        expect("sec-websocket-extensions" not in headers, "an extension nobody asked for")

    def send_frame(self, opcode, data):
        length = len(data)
        if length < 126:
            header = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
        elif length < 1 << 16:
            header = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            header = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
        mask = os.urandom(4)
        pad = (mask * (length // 4 + 1))[:length]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(length, "big")
        self.socket.sendall(header + mask + masked)

    def send(self, text):
        self.send_frame(TEXT, text.encode())

    def _next_frame(self):
        """(fin, opcode, payload) of a whole frame that has arrived, or None."""
        data = self.received
        if len(data) < 2:
            return None
        length, at = data[1] & 0x7F, 2
        expect(not data[1] & 0x80 and not data[0] & 0x70, "a frame that a server may not send")
        if length >= 126:
            size = 2 if length == 126 else 8
            if len(data) < 2 + size:
                return None
            length, at = int.from_bytes(data[2:2 + size], "big"), 2 + size
        if len(data) < at + length:
            return None
        self.received = data[at + length:]
        return bool(data[0] & 0x80), data[0] & 0x0F, data[at:at + length]

    def receive(self, seconds):
        """The next text, or None if none comes in that time or the other side has ended it."""
        end = time.monotonic() + seconds
        while True:
            frame = self._next_frame()
            if frame is None:
                left = end - time.monotonic()
                if self.close_code is not None or left < 0 or \
                        not select.select([self.socket], [], [], left)[0]:
                    return None
                more = self.socket.recv(1 << 16)
                if not more:
                    self.close_code = 1006
                self.received += more
                continue
            fin, opcode, payload = frame
            if opcode == PING:
                self.send_frame(PONG, payload)
                self.pings_answered += 1
            elif opcode == CLOSE:
                self.close_code = int.from_bytes(payload[:2], "big") if payload else 1005
            elif opcode <= TEXT:
                self.fragments += payload
                if fin:
                    text, self.fragments = self.fragments.decode(), b""
                    return text
            else:
                expect(opcode == PONG, f"a frame of kind {opcode} in a JSON session")
                self.pongs.append(payload)

    def close(self):
        self.socket.close()


# --- joining and playing --------------------------------------------------------------------------


def join(address, **wish):
    """What POST /join of http://address answers."""
    request = urllib.request.Request(f"http://{address}/join", json.dumps(wish).encode(),
                                     {"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise ProtocolError(f"/join: {error.code} {error.read()!r}") from None


class Body:
    """What is known of one character."""

    def __init__(self):
        self.tick, self.p, self.v = 0, None, [0.0, 0.0, 0.0]


class Client:
    """One player in a world. `play` must be called all the time: it sends inputs and listens."""

    def __init__(self, address, name, debug=False):
        ticket = join(address, username=name, debug=True) if debug else join(address, username=name)
        self.line = Line(ticket["server_address"])
        self.seq = self.input_seq = self.last_snapshot = self.tick = self.acknowledged = 0
        self.bodies, self.types, self.truth, self.pongs, self.events = {}, {}, [], {}, []
        self.trace = {}  # of others and oneself: (entity, tick) to p
        self.acks, self.errors = set(), []
        self.yaw = 0.0
        self.next_send = time.monotonic()
        handshake = self.command("session", "handshake", {"version": 2, "ticket": ticket["ticket"]})
        self.welcome = None
        end = time.monotonic() + 10
        while self.welcome is None:
            expect(time.monotonic() < end, "no welcome")
            self._hear(0.1)
            expect(not self.errors, f"an error instead of a welcome: {self.errors} to {handshake}")
        self.entity = self.welcome["entityId"]

    def command(self, feature, action, payload):
        self.seq += 1
        self.line.send(json.dumps({
            "v": 2, "kind": "command", "seq": self.seq, "feature": feature, "action": action,
            "clientTime": round(time.monotonic() * 1000, 2), "payload": payload}))
        return self.seq

    # What comes.

    def _hear(self, seconds):
        text = self.line.receive(seconds)
        if text is None:
            expect(self.line.close_code is None, f"closed with {self.line.close_code}, {self.errors}")
            return False
        message = json.loads(text)
        expect(message["v"] == 2, "the version")
        payload = message.get("payload", {})
        kind = message["kind"]
        if kind == "snapshot":
            self._take_snapshot(message["seq"], payload)
        elif kind == "welcome":
            self.welcome = payload
            self.tick = payload["tick"]
        elif kind == "ack":
            self.acks.add(payload["commandSeq"])
        elif kind == "pong":
            self.pongs[payload["nonce"]] = payload["tick"]
        elif kind == "error":
            self.errors.append(payload)
        elif kind == "event":
            if (message["feature"], message["action"]) == ("session", "debug_truth"):
                self.truth.append((payload["tick"],
                                   {item["entityId"]: item["p"] for item in payload["entities"]}))
            self.events.append((message["feature"], message["action"]))
        return True

    def _take_snapshot(self, seq, payload):
        if payload["mode"] == "full":
            self.bodies, self.types = {}, {}
        else:
            expect(seq == self.last_snapshot + 1, f"snapshot {seq} after {self.last_snapshot}")
        expect(payload["tick"] >= self.tick, "time runs backwards")
        self.last_snapshot, self.tick = seq, payload["tick"]
        self.acknowledged = payload["localAckSeq"]
        features = payload["features"]
        entities = features.get("entity", {})
        for entity in entities.get("leave", []):
            self.bodies.pop(entity, None)
            self.types.pop(entity, None)
        for entity in entities.get("enter", []):
            self.types[entity["entityId"]] = entity["type"]
        for entity, state in features.get("movement", {}).items():
            body = self.bodies.setdefault(int(entity), Body())
            body.tick, body.p, body.v = self.tick, state["p"], state["v"]
        # Who is not in the frame has not moved.
        for entity, body in self.bodies.items():
            self.trace[(entity, self.tick)] = body.p

    # What goes.

    def play(self, seconds, **held):
        """Holds these members of an input (up, right, move, run, …) for so long, and listens."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if time.monotonic() >= self.next_send:
                self._send_inputs(held)
                self.next_send = max(self.next_send + 1 / MESSAGES_PER_SECOND,
                                     time.monotonic() - 0.1)
            self._hear(max(0.0, min(end, self.next_send) - time.monotonic()))

    def _send_inputs(self, held):
        inputs = []
        for _ in range(INPUTS_PER_MESSAGE):
            self.input_seq += 1
            inputs.append({"seq": self.input_seq, "yawRadians": self.yaw, **held})
        self.command("movement", "input_batch",
                     {"lastSnapshot": self.last_snapshot, "inputs": inputs})

    @property
    def p(self):
        body = self.bodies.get(self.entity)
        return body.p if body else None

    def walk_to(self, target, seconds=60.0, near=0.02):
        """Walks to (x, z): fast with `up`, the last bit with less and less of `move`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            dx, dz = target[0] - self.p[0], target[1] - self.p[2]
            left = math.hypot(dx, dz)
            if left < near:
                self.play(0.3)
                if math.hypot(target[0] - self.p[0], target[1] - self.p[2]) < near * 2:
                    return
                continue
            self.yaw = math.atan2(dx, dz)
            if left > 2.0:
                self.play(0.1, up=True)
            else:
                self.play(0.05, move=[0, max(0.04, min(1.0, left / 2.0))])
        raise ProtocolError(f"at {self.p} and not at {target} after {seconds} s")

    def wait(self, condition, what, seconds=40.0):
        end = time.monotonic() + seconds
        while not condition():
            expect(time.monotonic() < end, f"not within {seconds} s: {what}")
            self.play(0.05)

    def leave(self):
        self.command("session", "leave", {})
        end = time.monotonic() + 5
        while self.line.close_code is None and time.monotonic() < end:
            self.line.receive(0.1)
        self.line.close()
        return self.line.close_code


if __name__ == "__main__":
    walker = Client(sys.argv[1], "walker")
    walker.wait(lambda: walker.p, "a position")
    print("from", walker.p)
    walker.walk_to((walker.p[0] + 10, walker.p[2]))
    print("to", walker.p)
    walker.leave()

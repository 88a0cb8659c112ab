"""An editor of a draft, as a page is one: a ticket, the socket, fragments, and operations as bytes
(core/edit/op.h, session_message.h). Member numbers come from GET /api/schema."""

import hashlib
import json
import struct

from support import PATIENCE, WebSocket, check

PROTOCOL = "sandlot.edit.v1"
SETTINGS, SCENE, TERRAIN, ENTITY = range(4)
KINDS = {"settings": SETTINGS, "scene": SCENE, "terrain": TERRAIN, "entity": ENTITY}
TOLD, REFUSED, WELCOME, HASH, RELOAD = range(1, 6)
NO_HASH = bytes(32)


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def block(data):
    return varint(len(data)) + data


def text_value(text):
    data = text.encode()
    return b"\1" + varint(len(data)) + data + b"\0"


def vector_value(x, y, z):
    return b"\1" + struct.pack("<fff", x, y, z)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        number, shift = 0, 0
        while True:
            one = self.byte()
            number |= (one & 127) << shift
            shift += 7
            if one < 128:
                return number

    def block(self):
        count = self.varint()
        self.at += count
        return self.data[self.at - count:self.at]

    def rest(self):
        return self.data[self.at:]


def read_message(data):
    reader = Reader(data)
    kind = reader.byte()
    if kind == TOLD:
        return {"type": "told", "seq": reader.varint(), "editor": reader.varint(), "n": reader.varint(),
                "undone": reader.varint(), "label": reader.block().decode(), "ops": reader.block()}
    if kind == REFUSED:
        return {"type": "refused", "n": reader.varint(), "status": reader.byte(),
                "message": reader.block().decode()}
    if kind == WELCOME:
        return {"type": "welcomed", "seq": reader.varint(), "n": reader.varint()}
    if kind == HASH:
        return {"type": "hash", "seq": reader.varint(), "hash": struct.unpack("<Q", reader.rest())[0]}
    return {"type": "reload"}


class Schema:
    """Writes operations with the numbers of the server's tables."""

    def __init__(self, schema):
        self.head = b"\1" + varint(schema["mark"])
        self.numbers = {(kind, one["name"]): one["number"]
                        for kind, members in schema["kinds"].items() for one in members}

    def set(self, kind, ids, member, value):
        return (b"\3" + bytes([KINDS[kind]]) + varint(self.numbers[kind, member]) + b"\1" + block(value) +
                varint(len(ids)) + b"".join(varint(one) for one in ids))

    @staticmethod
    def delete(ids):
        return b"\2" + bytes([ENTITY]) + varint(len(ids)) + b"".join(varint(one) for one in ids)

    @staticmethod
    def file(path, content=None, known=None):
        """`known` is what the file holds now; None: there is none."""
        return b"\7" + block(path.encode()) + hash_of(content) + hash_of(known)

    @staticmethod
    def paste(digest, seed=1):
        return b"\6" + digest + varint(seed) + varint(0) + bytes(12)

    def clip(self, document, ids=None):
        """Everything at the top of a document (edit_doc_write), or those entities, as core/edit/clip.h has it."""
        reader = Reader(document[len(self.head):])
        reader.block(), reader.block()
        for _ in range(reader.varint()):
            reader.varint(), reader.block()
        records = {reader.varint(): reader.block() for _ in range(reader.varint())}
        chosen = [record for number, record in records.items() if ids is None or number in ids]
        return self.head + varint(len(chosen)) + b"".join(block(record) for record in chosen)

    def transaction(self, *ops):
        return self.head + b"".join(ops)


def hash_of(data):
    return NO_HASH if data is None else hashlib.sha256(data).digest()


class Editor:
    def __init__(self, up, place, token, epoch=0, seq=0, resume=None, ticket=None):
        self.up, self.place, self.token = up, place, token
        if ticket is None:
            status, answer = up.post(f"/api/places/{place}/edit", None, token)
            check(status == 200, f"POST edit says {status}: {answer}")
            ticket, self.can_write = answer["ticket"], answer["can_write"]
        self.socket = WebSocket(up.port, f"/api/places/{place}/edit?ticket={ticket}", PROTOCOL)
        check(self.socket.status == 101, self.socket.head)
        hello = {"kind": "hello", "ticket": ticket, "epoch": epoch, "seq": seq}
        if resume:
            hello["resume"] = resume
        self.say(hello)
        self.part, self.n, self.seq, self.told, self.notes = b"", 0, 0, [], []
        self.document = None
        self.welcome = self.wait("welcome")
        self.editor, self.epoch = self.welcome["editor"], self.welcome["epoch"]
        self.seq = seq
        self.n = self.wait("welcomed")["n"]

    def say(self, note):
        self.socket.send(json.dumps(note))

    def send_message(self, data):
        while True:
            part, data = data[:65535], data[65535:]
            self.socket.send(bytes([1 if data else 0]) + part)
            if not data:
                return

    def send(self, transaction, label="Test", n=None):
        self.n = self.n + 1 if n is None else n
        self.send_message(b"\1" + varint(self.n) + varint(self.seq) + block(label.encode()) +
                          block(transaction))
        return self.n

    def undo(self, seq):
        self.n += 1
        self.send_message(b"\2" + varint(self.n) + varint(self.seq) + varint(seq))
        return self.n

    def hear(self, seconds=10.0 * PATIENCE):
        """The next note (with "type" as its kind), message, or document."""
        while True:
            data = self.socket.receive(seconds)
            if isinstance(data, str):
                note = json.loads(data)
                note["type"] = note["kind"]
                self.notes.append(note)
                return note
            self.part += data[1:]
            if data[0] & 1:
                continue
            whole, self.part = self.part, b""
            if data[0] >> 1 == 1:
                self.seq = struct.unpack("<Q", whole[:8])[0]
                self.document = whole[8:]
                return {"type": "document", "seq": self.seq}
            message = read_message(whole)
            if message["type"] == "told":
                check(message["seq"] == self.seq + 1, f"{message['seq']} told after {self.seq}")
                self.seq = message["seq"]
                self.told.append(message)
            return message

    def wait(self, kind, seconds=15.0 * PATIENCE, **wanted):
        while True:
            one = self.hear(seconds)
            if one["type"] == kind and all(one.get(name) == value for name, value in wanted.items()):
                return one

    def edit(self, transaction, label="Test"):
        """Sends it and waits until it is told; the message."""
        n = self.send(transaction, label)
        while True:
            one = self.hear()
            if one["type"] == "told" and one["editor"] == self.editor and one["n"] == n:
                return one
            check(not (one["type"] == "refused" and one["n"] == n), f"refused: {one}")

    def close(self):
        self.socket.close()

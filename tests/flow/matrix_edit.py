"""The matrix's rows about editing drafts."""

import hashlib

from edit_client import PROTOCOL
from matrix import Ask
from matrix_drafts import draft, in_trash
from support import WebSocket, check

CONTENT = b"print(1)"
HASH = hashlib.sha256(CONTENT).hexdigest()


def opened(server):
    """A draft that somebody edits, and the address of its socket."""
    name, place = draft(server)
    return place, server.post(f"/api/places/{place}/edit", None, name)["address"]


def editing(server):
    name, place = draft(server)
    return Ask(name, place_id=place)


def connecting(server):
    place, address = opened(server)
    return Ask(place_id=place, protocol=PROTOCOL, query={"ticket": address.split("ticket=")[1]})


def uploading(server):
    name, place = draft(server)
    return Ask(name, CONTENT, place_id=place, sha256=HASH)


def downloading(server):
    name, place = draft(server)
    server.request("PUT", f"/api/places/{place}/blob/{HASH}", CONTENT, server.tokens[name])
    return Ask(name, place_id=place, sha256=HASH)


def many_sockets(server):
    """An address has at most 64, in two drafts that take 48 each."""
    address = ["X-Forwarded-For: 198.51.100.8"]
    paths = [opened(server)[1] for _ in range(2)]
    links = [WebSocket(server.up.port, paths[i % 2], PROTOCOL, headers=address)
             for i in range(65)]
    last = links[-1]
    head = dict(line.split(": ", 1) for line in last.head.split("\r\n")[1:])
    while len(last.buffer) < int(head.get("Content-Length", 0)):
        last.buffer += last.socket.recv(4096)
    for link in links:
        link.close()
    check([link.status for link in links[:-1]] == [101] * 64, [link.status for link in links])
    return last.status, head, last.buffer


GOOD = {
    "POST /api/places/{place_id}/edit": editing,
    "GET /api/places/{place_id}/edit": connecting,
    "PUT /api/places/{place_id}/blob/{sha256}": uploading,
    "GET /api/places/{place_id}/blob/{sha256}": downloading,
    "GET /api/places/{place_id}/ops": editing,
    "GET /api/schema": lambda server: Ask(),
}

CONFLICT = {
    "POST /api/places/{place_id}/edit": in_trash(editing),
    "PUT /api/places/{place_id}/blob/{sha256}": in_trash(uploading),
    "GET /api/places/{place_id}/blob/{sha256}": in_trash(downloading),
    "GET /api/places/{place_id}/ops": in_trash(editing),
}

LIMITED = {"GET /api/places/{place_id}/edit": many_sockets}

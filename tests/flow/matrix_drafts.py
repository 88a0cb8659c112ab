"""The matrix's rows about drafts."""

import contextlib
import hashlib

from matrix import Ask


def creator(server):
    """One who makes places; the same one each time."""
    if not getattr(server, "creator", None):
        server.creator = server.account()
        server.post(f"/api/accounts/{server.creator}/roles", {"roles": "creator"}, "operator")
    return server.creator


def draft(server):
    """A new draft with one file, and whose it is."""
    name = creator(server)
    place = server.post("/api/drafts", {"title": "A place"}, name)["place_id"]
    return name, place


def content(server, name, place, path="place.json"):
    """The hash of a file as it is."""
    _, _, body = server.request("GET", f"/api/places/{place}/draft/files/{path}", token=server.tokens[name])
    return hashlib.sha256(body).hexdigest()


def listed(server):
    name, place = draft(server)
    return Ask(name, place_id=place)


def a_file(server):
    name, place = draft(server)
    return Ask(name, place_id=place, path="place.json")


def writing(known):
    def ask(server):
        name, place = draft(server)
        return Ask(name, b"hello", place_id=place, path="notes.txt", headers=[("If-None-Match", known)])
    return ask


def writing_late(server):
    name, place = draft(server)
    return Ask(name, b"{}", place_id=place, path="place.json", headers=[("If-None-Match", "*")])


def deleting(server):
    name, place = draft(server)
    return Ask(name, place_id=place, path="place.json",
               headers=[("If-Match", f'"{content(server, name, place)}"')])


def deleting_late(server):
    name, place = draft(server)
    return Ask(name, place_id=place, path="place.json", headers=[("If-Match", f'"{"0" * 64}"')])


def moving(server, to="other.json"):
    name, place = draft(server)
    return Ask(name, {"from": "place.json", "to": to, "hash": content(server, name, place)}, place_id=place)


def restoring(server, is_late=False):
    name, place = draft(server)
    known = "0" * 64 if is_late else content(server, name, place)
    return Ask(name, {"path": "place.json", "version": 1, "hash": known}, place_id=place)


def drafted_already(server):
    name, place = draft(server)
    return Ask(name, {}, place_id=place)


def one_too_many(server, kind=1):
    """An account has at most a two hundred places. These are nothing, but they count."""
    name = server.account()
    server.post(f"/api/accounts/{name}/roles", {"roles": "creator"}, "operator")
    owner = server.post("/api/account", None, name, "GET")["user_id"]
    with contextlib.closing(server.database()) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(packages)")]
        database.execute("BEGIN IMMEDIATE")
        for number in range(200):
            given = {"package_id": f"none-{owner}-{number}".encode(), "owner_id": owner, "kind": kind,
                     **{text: b"" for text in ("title", "description", "forked_from")}}
            database.execute(f"INSERT INTO packages VALUES ({','.join('?' * len(columns))})",
                             [given.get(column, 0) for column in columns])
        database.execute("COMMIT")
    return Ask(name, {"title": "one more"})


def without_draft(server):
    """A place that has a revision and no draft."""
    return Ask("operator", {}, place_id="place_none", status=404)


def publishing(server):
    name, place = draft(server)
    return Ask(name, {"notes": "what is new"}, place_id=place)


def in_trash(asking):
    """The same of a place that was thrown away."""
    def ask(server):
        made = asking(server)
        server.post(f"/api/places/{made.parts['place_id']}", None, made.who, "DELETE")
        return made
    return ask


GOOD = {
    "POST /api/places/{place_id}/draft/publish": publishing,
    "POST /api/drafts": lambda server: Ask(creator(server), {"title": "A place"}),
    "POST /api/places/{place_id}/draft": without_draft,
    "GET /api/places/{place_id}/draft": listed,
    "DELETE /api/places/{place_id}/draft": listed,
    "GET /api/places/{place_id}/draft/files/{path}": a_file,
    "PUT /api/places/{place_id}/draft/files/{path}": writing("*"),
    "DELETE /api/places/{place_id}/draft/files/{path}": deleting,
    "POST /api/places/{place_id}/draft/move": moving,
    "GET /api/places/{place_id}/draft/history/{path}": a_file,
    "POST /api/places/{place_id}/draft/restore": restoring,
}

CONFLICT = {
    "POST /api/places/{place_id}/draft/publish": in_trash(publishing),
    "GET /api/places/{place_id}/draft": in_trash(listed),
    "GET /api/places/{place_id}/draft/files/{path}": in_trash(a_file),
    "GET /api/places/{place_id}/draft/history/{path}": in_trash(a_file),
    "POST /api/drafts": one_too_many,
    "POST /api/places/{place_id}/draft": drafted_already,
    "DELETE /api/places/{place_id}/draft": in_trash(listed),
    "PUT /api/places/{place_id}/draft/files/{path}": writing_late,
    "DELETE /api/places/{place_id}/draft/files/{path}": deleting_late,
    "POST /api/places/{place_id}/draft/move": lambda server: moving(server, "scene.json"),
    "POST /api/places/{place_id}/draft/restore": lambda server: restoring(server, True),
}

"""The matrix's rows about places: uploads, revisions, channels, teams, pictures."""

import contextlib
import json
import socket
import struct
import urllib.parse
import zlib

from hosts import parallel
from matrix import Ask
from matrix_drafts import in_trash, one_too_many
from publish import package
from support import PATIENCE, check, wait_until

NOTES = {"notes": "new"}


def creator(server):
    """A new one: of each only so many builds may wait."""
    name = server.account()
    server.post(f"/api/accounts/{name}/roles", {"roles": "creator"}, "operator")
    return name


def upload(server, name, place=None, data=None):
    path = f"/api/places/{place}/revisions" if place else "/api/places"
    status, _, body = server.request("POST", f"{path}?{urllib.parse.urlencode(NOTES)}",
                                     data or package(), server.tokens[name])
    check(status == 202, f"the upload says {status}: {body}")
    return json.loads(body)


def wait_built(server, name, job):
    def look():
        _, _, body = server.request("GET", f"/api/jobs/{job}", token=server.tokens[name])
        return json.loads(body)["status"] not in ("waiting", "running")
    wait_until(look, "the build ends", 60)


def shared(server):
    """A place that is built, and whose it is: the same each time."""
    if not getattr(server, "shared_place", None):
        name = creator(server)
        made = upload(server, name)
        wait_built(server, name, made["job_id"])
        server.shared_place = name, made["place_id"]
    return server.shared_place


def of_shared(body=None, **parts):
    def ask(server):
        name, place = shared(server)
        return Ask(name, body, place_id=place, **parts)
    return ask


def new_place(server):
    """One that may be spoilt. The end of a build changes it too, so that is waited for."""
    name = creator(server)
    made = upload(server, name)
    wait_built(server, name, made["job_id"])
    return Ask(name, place_id=made["place_id"])


def trashed(server):
    ask = new_place(server)
    server.post(f"/api/places/{ask.parts['place_id']}", None, ask.who, "DELETE")
    return ask


def uploading(server):
    return Ask(creator(server), package(), query=dict(NOTES))


def revising(server):
    ask = new_place(server)
    return Ask(ask.who, package("Second"), query=dict(NOTES), **ask.parts)


def not_ready(server):
    """A revision whose build has failed."""
    ask = new_place(server)
    made = upload(server, ask.who, ask.parts["place_id"],
                  package(ServerScriptService__Game="local = 1"))
    wait_built(server, ask.who, made["job_id"])
    return Ask(ask.who, {"revision_id": made["revision_id"]}, channel="live", **ask.parts)


def with_too_many(server):
    """Somebody who has as many places as may be."""
    return one_too_many(server).who


def upload_too_many(server):
    return Ask(with_too_many(server), package(), query=dict(NOTES))


def fork_too_many(server):
    name, place = shared(server)
    other = with_too_many(server)
    server.post(f"/api/places/{place}/team/{other}", {"role": "editor"}, name, "PUT")
    return Ask(other, {}, place_id=place)


def forking(server):
    """By somebody else each time, who may read it."""
    name, place = shared(server)
    other = creator(server)
    server.post(f"/api/places/{place}/team/{other}", {"role": "editor"}, name, "PUT")
    return Ask(other, {}, place_id=place)


def offered(server, to=None):
    ask = new_place(server)
    to = to or server.account()
    server.post(f"/api/places/{ask.parts['place_id']}/give", {"account": to}, ask.who)
    server.owner_of_offer = ask.who
    return Ask(to, **ask.parts)


def offering(server):
    ask = offered(server)
    return Ask(server.owner_of_offer, **ask.parts)


def unneeded(server):
    """A revision that no channel names."""
    ask = new_place(server)
    return Ask(ask.who, revision_id="r1", **ask.parts)


def needed(server):
    ask = unneeded(server)
    server.post(f"/api/places/{ask.parts['place_id']}/channels/live", {"revision_id": "r1"}, ask.who)
    return ask


def member(server):
    name, place = shared(server)
    other = server.account()
    server.post(f"/api/places/{place}/team/{other}", {"role": "tester"}, name, "PUT")
    return Ask(name, place_id=place, account=other)


def adding(server):
    name, place = shared(server)
    return Ask(name, {"role": "tester"}, place_id=place, account="ann")


def owner_as_member(server):
    name, place = shared(server)
    return Ask(name, {"role": "tester"}, place_id=place, account=name)


def giving(server):
    ask = new_place(server)
    return Ask(ask.who, {"account": "ann"}, **ask.parts)


def giving_to_owner(server):
    name, place = shared(server)
    return Ask(name, {"account": name}, place_id=place)


def png():
    def chunk(kind, data):
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack("!IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(12) for _ in range(4))))
            + chunk(b"IEND", b""))


def picture(server):
    """A place with a picture."""
    name, place = shared(server)
    status, _, body = server.request("PUT", f"/api/places/{place}/pictures/1", png(),
                                     server.tokens[name])
    check(status == 200, body)
    return Ask(name, place_id=place, number=1)


def picturing(server):
    ask = new_place(server)
    return Ask(ask.who, png(), number=1, **ask.parts)


def two_uploads(path_of):
    """Two uploads of an account have begun and do not go on."""
    def ask(server):
        wanted = path_of(server)
        path = "/api/places" + (f"/{wanted.parts['place_id']}/revisions" if wanted.parts else "")
        with contextlib.ExitStack() as links:
            for _ in range(2):
                link = links.enter_context(socket.create_connection(
                    ("127.0.0.1", server.up.port), timeout=10 * PATIENCE))
                link.sendall((f"POST {path}?notes=new HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                              f"Authorization: Bearer {server.tokens[wanted.who]}\r\n"
                              "Content-Length: 100000\r\n\r\n").encode() + bytes(100))
            def third():
                answer = server.request("POST", f"{path}?notes=new", package(),
                                        server.tokens[wanted.who])
                return answer if answer[0] == 429 else None
            return wait_until(third, "both have begun")
    return ask


def many_builds(server):
    """As many builds of one account as may wait: of forks that are asked for at the same time."""
    ask = forking(server)
    path = f"/api/places/{ask.parts['place_id']}/fork"
    for _ in range(5):
        answers = parallel(24, lambda number: server.request("POST", path, {}, server.tokens[ask.who]))
        refused = [answer for answer in answers if answer[0] == 429]
        if refused:
            return refused[0]
    return answers[0]


GOOD = {
    "POST /api/places": uploading,
    "GET /api/me/places": lambda server: Ask("account"),
    "GET /api/me/offers": lambda server: Ask("account"),
    "GET /api/me/quota": lambda server: Ask("account"),
    "GET /api/places/{place_id}": of_shared(),
    "PATCH /api/places/{place_id}": of_shared({"title": "Another"}),
    "DELETE /api/places/{place_id}": new_place,
    "POST /api/places/{place_id}/restore": trashed,
    "POST /api/places/{place_id}/revisions": revising,
    "GET /api/places/{place_id}/revisions": of_shared(),
    "GET /api/places/{place_id}/revisions/{revision_id}": of_shared(revision_id="r1"),
    "DELETE /api/places/{place_id}/revisions/{revision_id}": unneeded,
    "GET /api/places/{place_id}/revisions/{revision_id}/manifest": of_shared(revision_id="r1"),
    "GET /api/places/{place_id}/revisions/{revision_id}/files": of_shared(revision_id="r1"),
    "GET /api/places/{place_id}/revisions/{revision_id}/files/{path}":
        of_shared(revision_id="r1", path="place.json"),
    "GET /api/places/{place_id}/package": of_shared(),
    "POST /api/places/{place_id}/channels/{channel}": of_shared({"revision_id": "r1"}, channel="live"),
    "POST /api/places/{place_id}/fork": forking,
    "GET /api/places/{place_id}/team": of_shared(),
    "PUT /api/places/{place_id}/team/{account}": adding,
    "DELETE /api/places/{place_id}/team/{account}": member,
    "POST /api/places/{place_id}/give": giving,
    "DELETE /api/places/{place_id}/give": offering,
    "POST /api/places/{place_id}/accept": offered,
    "POST /api/places/{place_id}/decline": offered,
    "GET /api/places/{place_id}/pictures/{number}": picture,
    "PUT /api/places/{place_id}/pictures/{number}": lambda server: Ask(
        shared(server)[0], png(), place_id=shared(server)[1], number=1),
    "DELETE /api/places/{place_id}/pictures/{number}": picture,
}

CONFLICT = {
    "POST /api/places": upload_too_many,
    "PATCH /api/places/{place_id}": lambda server: Ask(
        shared(server)[0], {"title": "Late"}, place_id=shared(server)[1],
        headers=[("If-Match", '"999999"')]),
    "DELETE /api/places/{place_id}": lambda server: Ask("operator", place_id="place_island"),
    "POST /api/places/{place_id}/restore": new_place,  # it is not in the trash
    "POST /api/places/{place_id}/revisions": in_trash(revising),
    "GET /api/places/{place_id}/team": in_trash(new_place),
    "DELETE /api/places/{place_id}/revisions/{revision_id}": needed,
    "POST /api/places/{place_id}/channels/{channel}": not_ready,
    "POST /api/places/{place_id}/fork": fork_too_many,
    "PUT /api/places/{place_id}/team/{account}": owner_as_member,
    "DELETE /api/places/{place_id}/team/{account}": "who is not of the team is 404",
    "POST /api/places/{place_id}/give": giving_to_owner,
    "POST /api/places/{place_id}/accept": lambda server: offered(server, with_too_many(server)),
    "DELETE /api/places/{place_id}/give": "what is not offered is 404",
    "POST /api/places/{place_id}/decline": "what is not offered is 404",
    "PUT /api/places/{place_id}/pictures/{number}": in_trash(picturing),
    "DELETE /api/places/{place_id}/pictures/{number}": in_trash(picturing),
}

LIMITED = {
    "POST /api/places": two_uploads(lambda server: Ask(creator(server))),
    "POST /api/places/{place_id}/revisions": two_uploads(new_place),
    "POST /api/places/{place_id}/fork": many_builds,
}

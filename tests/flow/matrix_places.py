"""The matrix's rows about places, their revisions and builds."""

import contextlib
import http.client
import json
import threading
import time

import package_corpus
from matrix import Ask
from matrix_drafts import creator, one_too_many
from publish import package
from support import check, wait_until

NOTES = {"notes": "new"}


def upload(server, name, data, path="/api/places", query="notes=new"):
    status, _, body = server.request("POST", f"{path}?{query}", data, server.tokens[name])
    check(status == 202, f"{path} says {status}: {body}")
    return json.loads(body)


def built(server, name, answer):
    def look():
        status, _, body = server.request("GET", f"/api/jobs/{answer['job_id']}",
                                         token=server.tokens[name])
        check(status == 200, body)
        return json.loads(body)["status"] not in ("waiting", "running")
    wait_until(look, "it is built", 60)
    return answer


def published(server):
    """A place with a live revision that everybody may see and read; the same one each time."""
    if not getattr(server, "published", None):
        name = creator(server)
        made = built(server, name, upload(server, name, package("Matrix"),
                                          query="notes=new&visibility=listed&channel=live"))
        place = made["place_id"]
        server.post(f"/api/places/{place}", {"open": True}, name, "PATCH")
        server.request("PUT", f"/api/places/{place}/pictures/1", package_corpus.png(),
                       server.tokens[name])
        server.published = made
    return creator(server), server.published["place_id"]


def fresh(server, name=None):
    """One of its own, that may be spoilt."""
    name = name or creator(server)
    return name, built(server, name, upload(server, name, package("Fresh")))["place_id"]


def of_place(body=None, who=True, **parts):
    def ask(server):
        name, place = published(server)
        return Ask(name if who else None, body, place_id=place, **parts)
    return ask


def of_fresh(body=None, **parts):
    def ask(server):
        name, place = fresh(server)
        return Ask(name, body, place_id=place, **parts)
    return ask


def job(server):
    name, _ = published(server)
    return Ask(name, id=server.published["job_id"])


def trashed(server):
    name, place = fresh(server)
    server.post(f"/api/places/{place}", None, name, "DELETE")
    return Ask(name, place_id=place)


def teammate(server):
    name, place = published(server)
    server.post(f"/api/places/{place}/team/ann", {"role": "tester"}, name, "PUT")
    return Ask(name, place_id=place, account="ann")


def offered(server, to="ann", who="account"):
    name, place = fresh(server)
    server.post(f"/api/places/{place}/give", {"account": to}, name)
    return Ask(who, place_id=place)


def offered_too_much(server):
    name = one_too_many(server).who
    return offered(server, name, name)


def pictured(server):
    name, place = published(server)
    server.request("PUT", f"/api/places/{place}/pictures/2", package_corpus.png(), server.tokens[name])
    return Ask(name, place_id=place, number=2)


def changed_meanwhile(body=None):
    def ask(server):
        name, place = fresh(server)
        return Ask(name, body, place_id=place, headers=[("If-Match", '"0.0"')])
    return ask


def not_ready(server):
    name = creator(server)
    data = package("Wrong", ServerScriptService__Game="local = 1")
    place = built(server, name, upload(server, name, data))["place_id"]
    return Ask(name, {"revision_id": "r1"}, place_id=place, channel="live")


def full_account(server):
    return Ask(one_too_many(server).who, package("More"), NOTES)


def full_account_forks(server):
    _, place = published(server)
    return Ask(one_too_many(server).who, {}, place_id=place)


def new_creator(server):
    name = server.account()
    server.post(f"/api/accounts/{name}/roles", {"roles": "creator"}, "operator")
    return name


def uploading(path):
    """Two uploads of one account run, and do not end."""
    def ask(server):
        name = new_creator(server)
        place = fresh(server, name)[1]
        address = path.replace("{place_id}", place) + "?notes=new"
        with contextlib.ExitStack() as links:
            for _ in range(2):
                links.enter_context(half_upload(server, address, name))
            return server.request("POST", address, package("Third"), server.tokens[name])
    return ask


@contextlib.contextmanager
def half_upload(server, address, name):
    link = http.client.HTTPConnection("127.0.0.1", server.up.port, timeout=40)
    try:
        link.putrequest("POST", address)
        link.putheader("Content-Length", "100000")
        link.putheader("Authorization", f"Bearer {server.tokens[name]}")
        link.endheaders()
        link.send(b"x" * 1000)
        time.sleep(0.3)
        yield link
    finally:
        link.close()


def forking_much(server):
    """So many forks at once that their builds wait."""
    _, place = published(server)
    name = new_creator(server)
    answers = []
    for _ in range(10):
        threads = [threading.Thread(target=lambda: answers.append(server.request(
            "POST", f"/api/places/{place}/fork", {}, server.tokens[name]))) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = [answer for answer in answers if answer[0] == 429]
        if found:
            return found[0]
    return answers[-1]


PLACE = "/api/places/{place_id}"

GOOD = {
    "GET /api/jobs/{id}": job,
    "DELETE /api/jobs/{id}": job,
    "POST /api/places": lambda server: Ask(new_creator(server), package("New"), NOTES),
    "GET /api/me/places": lambda server: Ask(creator(server)),
    "GET /api/me/quota": lambda server: Ask(creator(server)),
    f"GET {PLACE}": of_place(who=False),
    f"PATCH {PLACE}": of_fresh({"title": "Another title"}),
    f"DELETE {PLACE}": of_fresh(),
    f"POST {PLACE}/restore": trashed,
    f"POST {PLACE}/revisions": lambda server: (lambda name: Ask(
        name, package("Next"), NOTES, place_id=fresh(server, name)[1]))(new_creator(server)),
    f"GET {PLACE}/revisions": of_place(),
    f"GET {PLACE}/revisions/{{revision_id}}": of_place(revision_id="r1"),
    f"GET {PLACE}/revisions/{{revision_id}}/manifest": of_place(revision_id="r1"),
    f"GET {PLACE}/revisions/{{revision_id}}/files": of_place(revision_id="r1"),
    f"GET {PLACE}/revisions/{{revision_id}}/files/{{path}}": of_place(revision_id="r1",
                                                                      path="scene.json"),
    f"GET {PLACE}/package": of_place(),
    f"POST {PLACE}/channels/{{channel}}": of_place({"revision_id": "r1"}, channel="beta"),
    f"POST {PLACE}/fork": lambda server: Ask(new_creator(server), {}, place_id=published(server)[1]),
    f"GET {PLACE}/team": of_place(),
    f"PUT {PLACE}/team/{{account}}": of_place({"role": "tester"}, account="ann"),
    f"DELETE {PLACE}/team/{{account}}": teammate,
    f"POST {PLACE}/give": of_fresh({"account": "ann"}),
    f"POST {PLACE}/accept": offered,
    f"GET {PLACE}/pictures/{{number}}": of_place(number=1),
    f"PUT {PLACE}/pictures/{{number}}": of_place(package_corpus.png(), number=3),
    f"DELETE {PLACE}/pictures/{{number}}": pictured,
}

CONFLICT = {
    "POST /api/places": full_account,
    f"PATCH {PLACE}": changed_meanwhile({"title": "Late"}),
    f"DELETE {PLACE}": changed_meanwhile(),
    f"POST {PLACE}/restore": of_fresh(),
    f"POST {PLACE}/revisions": "each one is a new revision",
    f"POST {PLACE}/channels/{{channel}}": not_ready,
    f"POST {PLACE}/fork": full_account_forks,
    f"PUT {PLACE}/team/{{account}}": lambda server: Ask(
        creator(server), {"role": "tester"}, place_id=published(server)[1], account=creator(server)),
    f"DELETE {PLACE}/team/{{account}}": "who is not of the team is 404",
    f"POST {PLACE}/give": lambda server: Ask(creator(server), {"account": creator(server)},
                                             place_id=published(server)[1]),
    f"POST {PLACE}/accept": offered_too_much,
    f"PUT {PLACE}/pictures/{{number}}": "it takes the place of what was there",
    f"DELETE {PLACE}/pictures/{{number}}": "one that is gone is 404",
}

LIMITED = {
    "POST /api/places": uploading("/api/places"),
    f"POST {PLACE}/revisions": uploading("/api/places/{place_id}/revisions"),
    f"POST {PLACE}/fork": forking_much,
}

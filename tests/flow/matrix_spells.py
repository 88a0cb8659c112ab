"""The matrix's rows about spells."""

import itertools
import json

from matrix import Ask
from matrix_drafts import one_too_many
from matrix_places import creator, wait_built
from support import check, wait_until

CODE = {"code": "return {}"}
numbers = itertools.count()


def build(server, name, spell, body=None):
    status, _, answer = server.request("POST", f"/api/spells/{spell}/build", body or CODE,
                                       server.tokens[name])
    check(status == 202, f"the build says {status}: {answer}")
    wait_built(server, name, json.loads(answer)["job_id"])


def new_id():
    return f"spell-{next(numbers)}"


def shared(server):
    """A spell that is built, and whose it is: the same each time."""
    if not getattr(server, "shared_spell", None):
        name = creator(server)
        build(server, name, "shared")
        server.shared_spell = name
    return server.shared_spell


def of_shared(body=None, **parts):
    return lambda server: Ask(shared(server), body, spell_id="shared", **parts)


def new_spell(server):
    """One that may be spoilt."""
    name, spell = creator(server), new_id()
    build(server, name, spell)
    return Ask(name, spell_id=spell)


def trashed(server):
    ask = new_spell(server)
    server.post(f"/api/spells/{ask.parts['spell_id']}", None, ask.who, "DELETE")
    return ask


def not_ready(server):
    name, spell = creator(server), new_id()
    build(server, name, spell, {"code": "local = 1"})
    return Ask(name, {"revision_id": "r1", "channel": "live"}, spell_id=spell)


def too_many(server):
    """An account has at most two hundred spells. These are nothing, but they count."""
    return Ask(one_too_many(server, kind=2).who, CODE, spell_id=new_id())


def many_builds(server):
    """As many builds of one account as may wait."""
    name = creator(server)

    def one_more():
        answer = server.request("POST", f"/api/spells/{new_id()}/build", CODE, server.tokens[name])
        return answer if answer[0] == 429 else None
    return wait_until(one_more, "so many wait")


GOOD = {
    "POST /api/spells/{spell_id}/build": lambda server: Ask(creator(server), CODE, spell_id=new_id()),
    "POST /api/spells/{spell_id}/publish": of_shared({"revision_id": "r1", "channel": "beta"}),
    "GET /api/spells/{spell_id}": of_shared(),
    "PATCH /api/spells/{spell_id}": of_shared({"title": "Another"}),
    "DELETE /api/spells/{spell_id}": new_spell,
    "POST /api/spells/{spell_id}/restore": trashed,
    "GET /api/spells/{spell_id}/revisions": of_shared(),
    "GET /api/spells/{spell_id}/revisions/{revision_id}/manifest": of_shared(revision_id="r1"),
    "GET /api/spells/{spell_id}/revisions/{revision_id}/files": of_shared(revision_id="r1"),
    "GET /api/spells/{spell_id}/revisions/{revision_id}/files/{path}":
        of_shared(revision_id="r1", path="place.json"),
    "GET /api/spells/{spell_id}/revisions/{revision_id}/module": of_shared(revision_id="r1"),
}

CONFLICT = {
    "POST /api/spells/{spell_id}/build": too_many,
    "POST /api/spells/{spell_id}/publish": not_ready,
    "PATCH /api/spells/{spell_id}": lambda server: Ask(
        shared(server), {"title": "Late"}, spell_id="shared", headers=[("If-Match", '"999999"')]),
    "DELETE /api/spells/{spell_id}": lambda server: Ask(
        shared(server), spell_id="shared", headers=[("If-Match", '"999999"')]),
    "POST /api/spells/{spell_id}/restore": new_spell,  # it is not in the trash
}

LIMITED = {"POST /api/spells/{spell_id}/build": many_builds}

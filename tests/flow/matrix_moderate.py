"""The matrix's rows about keeping order: reports, chat rules, blocks, lists of words."""

import json

from matrix import Ask
from matrix_places import shared


def development_guest(server):
    """A guest of `sandlot world`, which has no accounts; the name of the token."""
    _, _, body = server.development.request("POST", "/login", {})
    server.tokens["development"] = json.loads(body)["session_token"]
    return "development"


def without_accounts(body=None, is_guest=False, **parts):
    return lambda server: Ask(development_guest(server) if is_guest else None, body,
                              server=server.development, **parts)


def reporting(server):
    """By somebody new: nobody reports without end."""
    return Ask(server.account(), {"reason": "spam", "account": "boss"})


def report(server):
    ask = reporting(server)
    return server.post("/api/reports", ask.body, ask.who)["report_id"]


def many_reports(server):
    ask = reporting(server)
    for _ in range(10):
        server.post("/api/reports", ask.body, ask.who)
    return ask


def of_place(server):
    name, place = shared(server)
    return Ask(name, {"rule": "free"}, id=place)


def blocked(server):
    name = server.account()
    server.post(f"/api/me/blocks/{name}", None, "account", "PUT")
    return Ask("account", account=name)


def acting(server):
    _, place = shared(server)
    return Ask("operator", {"act": "approve"}, id=place)


def banned_range(server):
    server.ranges = getattr(server, "ranges", 0) + 1
    text = f"203.0.{server.ranges % 256}.0/24"
    server.post("/admin/bans/addresses", {"range": text}, "operator")
    return Ask("operator", query={"range": text})


GOOD = {
    "GET /admin/approvals": lambda server: Ask("operator"),
    "POST /admin/packages/{id}": acting,
    "GET /admin/bans/addresses": lambda server: Ask("operator"),
    "POST /admin/bans/addresses": lambda server: Ask("operator", {"range": "203.0.113.0/24"}),
    "DELETE /admin/bans/addresses": banned_range,
    "POST /api/reports": reporting,
    "GET /admin/reports": lambda server: Ask("operator"),
    "GET /admin/reports/{id}": lambda server: Ask("operator", id=report(server)),
    "POST /admin/reports/{id}": lambda server: Ask("operator", {"state": "acted"}, id=report(server)),
    "GET /api/chat": lambda server: Ask(),
    "PUT /api/places/{id}/chat": of_place,
    "PUT /admin/users/{id}/chat": lambda server: Ask("operator", {"rule": "free"}, id="ann"),
    "GET /api/me/blocks": lambda server: Ask("account"),
    "PUT /api/me/blocks/{account}": lambda server: Ask("account", account="boss"),
    "DELETE /api/me/blocks/{account}": blocked,
    "GET /admin/words": lambda server: Ask("operator"),
    "PUT /admin/words": lambda server: Ask("operator", b"rudeword\n"),
    "GET /admin/phrases": lambda server: Ask("operator"),
    "PUT /admin/phrases": lambda server: Ask("operator", b"Hello!\n"),
}

CONFLICT = {
    "GET /admin/approvals": without_accounts(),
    "POST /admin/packages/{id}": without_accounts({"act": "restore"}, id="place_island"),
    "GET /admin/bans/addresses": without_accounts(),
    "POST /admin/bans/addresses": lambda server: Ask("operator", {"range": "127.0.0.0/8"}),  # one's own
    "DELETE /admin/bans/addresses": without_accounts(query={"range": "203.0.113.0/24"}),
    "POST /api/reports": without_accounts({"reason": "spam", "world_id": "w"}, True),
    "GET /admin/reports": without_accounts(),
    "GET /admin/reports/{id}": without_accounts(id=1),
    "POST /admin/reports/{id}": without_accounts({"state": "acted"}, id=1),
    "PUT /api/places/{id}/chat": without_accounts({"rule": "free"}, id="place_island"),
    "PUT /admin/users/{id}/chat": without_accounts({"rule": "free"}, id="ann"),
    "GET /api/me/blocks": without_accounts(None, True),
    "PUT /api/me/blocks/{account}": lambda server: Ask("account", account="ann"),  # oneself
    "DELETE /api/me/blocks/{account}": without_accounts(None, True, account="ann"),
    "GET /admin/words": without_accounts(),
    "PUT /admin/words": without_accounts(b"rudeword\n"),
    "GET /admin/phrases": without_accounts(),
    "PUT /admin/phrases": without_accounts(b"Hello!\n"),
}

LIMITED = {"POST /api/reports": many_reports}
AT_ONCE = {"GET /admin/bans/addresses", "GET /admin/words", "GET /admin/phrases"}

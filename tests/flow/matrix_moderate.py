"""The matrix's rows about keeping order."""

from matrix import Ask
from matrix_drafts import draft


def without_accounts(body=None, query=None, **parts):
    """`sandlot world` has no accounts."""
    return lambda server: Ask(None, body, query, server=server.development, **parts)


def report(server):
    """One that was made, by somebody who has not made many."""
    if not getattr(server, "report", None):
        server.report = server.post("/api/reports", {"reason": "spam", "account": "ann"},
                                    server.account())["report_id"]
    return server.report


def reporting(server):
    return Ask(server.account(), {"reason": "abuse", "account": "ann"})


def many_reports(server):
    name = server.account()
    for _ in range(10):
        server.post("/api/reports", {"reason": "spam", "account": "ann"}, name)
    return Ask(name, {"reason": "spam", "account": "ann"})


def place_chat(server):
    name, place = draft(server)
    return Ask(name, {"rule": "phrases"}, id=place)


def acting(server):
    _, place = draft(server)
    return Ask("operator", {"act": "unlist", "reason": "not for children"}, id=place)


def banned_range(server):
    server.ranges = getattr(server, "ranges", 0) + 1
    text = f"203.0.{server.ranges % 256}.0/24"
    server.post("/admin/bans/addresses", {"range": text}, "operator")
    return Ask("operator", query={"range": text})


def many_blocks(server):
    return Ask("account", account="ann")  # oneself


OPERATORS = ["GET /admin/reports", "GET /admin/words", "GET /admin/phrases", "GET /admin/approvals",
             "GET /admin/bans/addresses"]

GOOD = {
    **{name: (lambda server: Ask("operator")) for name in OPERATORS},
    "POST /api/reports": reporting,
    "GET /admin/reports/{id}": lambda server: Ask("operator", id=report(server)),
    "POST /admin/reports/{id}": lambda server: Ask(
        "operator", {"state": "dismissed", "note": "nothing"}, id=report(server)),
    "GET /api/chat": lambda server: Ask(),
    "PUT /api/places/{id}/chat": place_chat,
    "PUT /admin/users/{id}/chat": lambda server: Ask("operator", {"rule": "free"}, id="ann"),
    "GET /api/me/blocks": lambda server: Ask("account"),
    "PUT /api/me/blocks/{account}": lambda server: Ask("account", account="boss"),
    "DELETE /api/me/blocks/{account}": lambda server: Ask("account", account="boss"),
    "PUT /admin/words": lambda server: Ask("operator", b"forbidden\n"),
    "PUT /admin/phrases": lambda server: Ask("operator", b"Hello!\n"),
    "POST /admin/packages/{id}": acting,
    "POST /admin/bans/addresses": lambda server: Ask("operator", {"range": "203.0.113.0/24"}),
    "DELETE /admin/bans/addresses": banned_range,
}

CONFLICT = {
    **{name: without_accounts() for name in OPERATORS},
    "POST /api/reports": without_accounts({"reason": "abuse", "account": "ann"}),
    "GET /admin/reports/{id}": without_accounts(id=1),
    "POST /admin/reports/{id}": without_accounts({"state": "open"}, id=1),
    "PUT /api/places/{id}/chat": without_accounts({"rule": "off"}, id="place_island"),
    "PUT /admin/users/{id}/chat": without_accounts({"rule": "off"}, id="ann"),
    "GET /api/me/blocks": without_accounts(),
    "PUT /api/me/blocks/{account}": many_blocks,
    "DELETE /api/me/blocks/{account}": many_blocks,
    "PUT /admin/words": without_accounts(b"forbidden\n"),
    "PUT /admin/phrases": without_accounts(b"Hello!\n"),
    "POST /admin/packages/{id}": without_accounts({"act": "restore"}, id="place_island"),
    "POST /admin/bans/addresses": lambda server: Ask("operator", {"range": "127.0.0.0/8"}),
    "DELETE /admin/bans/addresses": without_accounts(query={"range": "203.0.113.0/24"}),
}

LIMITED = {"POST /api/reports": many_reports}

AT_ONCE = {"GET /api/chat", "GET /admin/words", "GET /admin/phrases", "GET /admin/bans/addresses"}

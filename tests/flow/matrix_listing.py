"""The matrix's rows about the listing."""

import contextlib

from matrix import Ask
from matrix_drafts import creator, draft


def place(server, body=None):
    """By the one whose place it is."""
    name, found = draft(server)
    return Ask(name, body, place_id=found)


def collection(server):
    return Ask("operator", {"places": [draft(server)[1]], "title": "Best"}, name="featured")


def put_rows(server, table, rows):
    """Rows that say nothing to anybody, but count."""
    with contextlib.closing(server.database()) as database:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        database.execute("BEGIN IMMEDIATE")
        for given in rows:
            database.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(columns))})",
                             [given.get(column, 0) for column in columns])
        database.execute("COMMIT")


def many_favourites(server):
    name, found = draft(server)
    who = server.post("/api/account", None, name, "GET")["user_id"]
    put_rows(server, "favourites", [{"account_id": who, "package_id": f"none-{number}".encode()}
                                    for number in range(1000)])
    return Ask(name, place_id=found)


def many_collections(server):
    ask = collection(server)
    put_rows(server, "collections", [{"name": f"none-{number}".encode(), "position": 1,
                                      "package_id": b"none", "title": b""} for number in range(64)])
    return Ask("operator", ask.body, name="one-more")


GOOD = {
    "GET /api/places": lambda server: Ask(),
    "GET /api/tags": lambda server: Ask(),
    "GET /api/collections": lambda server: Ask(),
    "PUT /admin/collections/{name}": collection,
    "GET /api/places/{place_id}/worlds": place,
    "GET /api/places/{place_id}/stats": place,
    "PUT /api/places/{place_id}/tags": lambda server: place(server, {"tags": ["obby"]}),
    "GET /api/places/{place_id}/vote": place,
    "PUT /api/places/{place_id}/vote": lambda server: place(server, {"vote": 0}),
    "PUT /api/places/{place_id}/favourite": place,
    "DELETE /api/places/{place_id}/favourite": place,
    "GET /api/me/favourites": lambda server: Ask(creator(server)),
    "GET /api/me/recent": lambda server: Ask("guest"),
}

CONFLICT = {
    "PUT /admin/collections/{name}": many_collections,
    "PUT /api/places/{place_id}/tags": "all are replaced: the last one wins",
    "PUT /api/places/{place_id}/vote": "it says how one's vote shall be",
    "PUT /api/places/{place_id}/favourite": many_favourites,
    "DELETE /api/places/{place_id}/favourite": "what is no favourite stays none",
}

"""The matrix's rows about live numbers and the operator's pages."""

import os

from matrix import Ask
from matrix_moderate import without_accounts

FOLLOWED_MAX = 8  # streams of one account


def many_streams(server):
    """Pages of one person, which stay open."""
    name = server.account()
    address = {"topics": "places"}
    server.streams = [server.open_stream("/api/live?topics=places", server.tokens[name])
                      for _ in range(FOLLOWED_MAX)]
    return Ask(name, query=address)


def full_shelf(server):
    """As many backups as are kept."""
    folder = os.path.join(server.folder, "up", "data-backups")
    os.makedirs(folder, exist_ok=True)
    for number in range(16):
        with open(os.path.join(folder, f"sandlot-{number}.tar"), "w", encoding="ascii") as file:
            file.write("x")
    return Ask("operator")


def empty_shelf(server):
    """So that the next one is begun and not refused; one that runs is waited for."""
    server.wait_for_backup()
    folder = os.path.join(server.folder, "up", "data-backups")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        os.unlink(os.path.join(folder, name))
    return Ask("operator")


def one_backup(server):
    folder = os.path.join(server.folder, "up", "data-backups")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "sandlot-1.tar"), "w", encoding="ascii") as file:
        file.write("x")
    return Ask("operator", name="sandlot-1.tar")


GOOD = {
    "GET /api/live": lambda server: Ask("guest", query={"topics": "places"}),
    "GET /admin/jobs": lambda server: Ask("operator"),
    "GET /admin/storage": lambda server: Ask("operator"),
    "GET /admin/backups": lambda server: Ask("operator"),
    "POST /admin/backups": empty_shelf,
    "DELETE /admin/backups/{name}": one_backup,
}

CONFLICT = {
    "GET /admin/storage": without_accounts(),
    "POST /admin/backups": full_shelf,
    "DELETE /admin/backups/{name}": "one that is gone is 404",
}

LIMITED = {
    "GET /api/live": many_streams,
}

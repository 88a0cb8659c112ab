"""The matrix's row about hosts of one database. This server shares its database with none, so it knows no
such question; test_peers.py has several hosts, and test_peer_message the forgeries."""

from matrix import Ask

GOOD = {"POST /api/peers": lambda server: Ask(body=b"no question of a host", status=404)}
CONFLICT = {"POST /api/peers": "too costly to try here: it needs a second host on the same database"}
AT_ONCE = {"POST /api/peers"}  # it refuses without asking anybody

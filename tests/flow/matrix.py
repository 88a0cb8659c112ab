"""What the tables of the matrix are made of (test_matrix.py). A part of the API may have its rows in a
file of its own, matrix_<part>.py, with any of GOOD, CONFLICT, LIMITED, AT_ONCE and AFTER."""

import glob
import importlib
import os


class Ask:
    """A request: what fills the braces of the path, the query, the body, and whose token."""

    def __init__(self, who=None, body=None, query=None, status=None, server=None, headers=(),
                 protocol="sandlot.v2.json", **parts):
        self.who, self.body, self.query, self.status = who, body, query or {}, status
        self.server, self.headers, self.protocol, self.parts = server, headers, protocol, parts


def add_parts(**tables):
    """Adds the rows of every matrix_<part>.py to these tables."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(here, "matrix_*.py"))):
        part = importlib.import_module(os.path.splitext(os.path.basename(path))[0])
        for name, table in tables.items():
            table.update(getattr(part, name, type(table)()))

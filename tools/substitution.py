"""Exact replacements of text in source files. Each must match exactly once.

Two things are built from slightly changed sources: Lua, which gets our changes at build time, and the
mutants, which get one bug each. Both use the same plain format, which this file reads. A file contains
one or more substitutions:

    # A comment.
    name: fixed_seed
    file: lmathlib.c
    why: the first random number must not depend on the clock
    -  lua_Unsigned seed1 = (lua_Unsigned)time(NULL);
    +  lua_Unsigned seed1 = 0;

The lines marked `-` are the old text and must be found as whole lines, together and exactly once;
the lines marked `+` replace them. To insert, repeat a neighbouring line in both. A substitution that
does not match is an error that names it, so that no change is ever lost silently.

`with: NAME` makes a substitution a part of another one before it: both are made, or neither.
"""

from dataclasses import dataclass, field
from pathlib import Path

HEADERS = ("name", "file", "why")  # and "with", which few have


class SubstitutionError(Exception):
    """Says, for a person, which substitution does not fit and why."""


@dataclass
class Substitution:
    where: str
    name: str = ""
    file: str = ""
    why: str = ""
    whole: str = ""  # `with:`
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def check(self):
        for header in HEADERS:
            if not getattr(self, header):
                raise SubstitutionError(f"{self.where}: no `{header}:` line")
        if not self.old:
            raise SubstitutionError(f"{self.where}: {self.name} has no old text (lines with -)")
        if self.old == self.new:
            raise SubstitutionError(f"{self.where}: {self.name} changes nothing")

    def apply(self, text):
        lines = text.split("\n")
        size = len(self.old)
        places = [i for i in range(len(lines) - size + 1) if lines[i:i + size] == self.old]
        if len(places) != 1:
            raise SubstitutionError(
                f"{self.where}: {self.name}: the old text occurs {len(places)} times in {self.file}, "
                "must occur exactly once")
        lines[places[0]:places[0] + size] = self.new
        return "\n".join(lines)


def read_substitutions(path):
    """All substitutions of one file, in order."""
    found = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        where = f"{path}:{number}"
        if line.startswith("name:"):
            found.append(Substitution(where))
        if line.startswith("-") and found and not found[-1].new:
            found[-1].old.append(line[1:])
        elif line.startswith("+") and found:
            found[-1].new.append(line[1:])
        elif line.startswith("#") or not line.strip():
            continue
        else:
            key, colon, value = line.partition(":")
            if not colon or key not in (*HEADERS, "with") or not found or found[-1].old:
                raise SubstitutionError(f"{where}: cannot read `{line}`")
            setattr(found[-1], "whole" if key == "with" else key, value.strip())
    for substitution in found:
        substitution.check()
    return found

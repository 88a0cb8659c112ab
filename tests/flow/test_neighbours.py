"""Hostile scripts beside honest ones, live: real processes, real sockets, real time. A world has two
honest scripts, and two bots play in it. In turn it runs alone and with a hostile script, or ten of
them. The honest scripts stay on time, no tick is missed that the quiet world did not miss, snapshots
arrive as regularly as in the quiet world (p99 within 1.25 times), and nothing restarts.

The test compares runs that follow each other, because the machine may be busy. A script that seems to
disturb the others is tried again; only one that does so three times in a row counts. In virtual time
the same is tested exactly, by ticks: tests/script/test_neighbours.c.

SANDLOT_NEIGHBOURS says how many hostile scripts are tried alone (0: all); SANDLOT_SEED repeats a choice.
"""

import os
import random
import re
import shutil
import sys

from bots import Bots, write_meadow
from support import Failure, World, check, run

COUNT = int(os.environ.get("SANDLOT_NEIGHBOURS", "1"))
SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "script")
SECONDS = 4
TRIES = 3
QUIET_SERVES = 6
RATIO = 1.25
SLACK_MS = 5  # what two quiet runs may differ by on a busy machine
GAP_TICKS = 2
LATE_TICKS = 6

HONEST = """
local last, beat, gap, late, updates = nil, nil, 0, 0, 0
Timer.Every(0.5, function()
    local now = World.Tick()
    if beat then late = math.max(late, now - beat - 30) end
    beat = now
end)
function onUpdate()
    local now = World.Tick()
    if last and updates > 30 then gap = math.max(gap, now - last) end
    last, updates = now, updates + 1
    if updates % 60 == 0 then print("fared", updates, gap, late) end
end
"""


def sources():
    """Every hostile script: its name and text."""
    found = {}
    for kind in ("hostile", "neighbours"):
        folder = os.path.join(SCRIPTS, kind)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as file:
                found[f"{kind}/{name[:-4]}"] = file.read()
    return found


def write_place(folder, scripts):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    place = write_meadow(folder)
    service = os.path.join(place, "ServerScriptService")
    os.makedirs(service)
    for name, text in {"Alpha": HONEST, "Omega": HONEST, **scripts}.items():
        with open(os.path.join(service, name + ".lua"), "w", encoding="utf-8",
                  errors="surrogateescape") as file:
            file.write(text)
    return place


def live(program, folder, scripts):
    """A few seconds of a world with these scripts: what the bots measured and the honest ones say."""
    place = write_place(os.path.join(folder, "place"), scripts)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        result = Bots(program, world.port, 2, SECONDS, "walk").result(90)
        fared = {}
        for line in world.lines:
            found = re.search(r"ServerScriptService/(Alpha|Omega): fared\s+(\d+)\s+(\d+)\s+(\d+)", line)
            if found:
                fared[found[1]] = tuple(int(number) for number in found.groups()[1:])
        starts = world.metric("sandlot_world_starts_total")
        missed = world.metric("sandlot_world_ticks_missed_total")
        world.stop()
    finally:
        world.kill()
        shutil.rmtree(os.path.join(folder, "data"), ignore_errors=True)
    return {"p99": result["interarrival_p99_ms"], "playing": result["playing"], "fared": fared,
            "starts": starts, "missed": missed}


def trouble(quiet, now):
    """What is worse than in the quiet world; empty: nothing."""
    if now["starts"] != 1:
        return f"the world was started {now['starts']:.0f} times"
    if now["playing"] != 2:
        return f"{now['playing']} of 2 play"
    for name in ("Alpha", "Omega"):
        if name not in now["fared"]:
            return f"{name} says nothing"
        _, gap, late = now["fared"][name]
        if gap > GAP_TICKS or late > LATE_TICKS:
            return f"{name} waited {gap} ticks, its timer {late} too long"
    if now["missed"] > quiet["missed"] + SECONDS * 60 // 20:
        return f"{now['missed']:.0f} ticks were missed, {quiet['missed']:.0f} when quiet"
    if now["p99"] > RATIO * quiet["p99"] + SLACK_MS:
        return f"snapshots come within {now['p99']:.0f} ms, {quiet['p99']:.0f} when quiet"
    return ""


class Tries:
    """Runs scripts beside honest ones and keeps what failed. A quiet run serves the next few tries; a
    try that finds trouble is repeated with a quiet run of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.quiet, self.used = None, 0
        self.failed = []

    def run(self, what, scripts):
        said = []
        for number in range(TRIES):
            if number or self.used % QUIET_SERVES == 0:
                self.quiet = live(self.program, self.folder, {})
            self.used += 1
            try:
                said.append(trouble(self.quiet, live(self.program, self.folder, scripts)))
            except Failure as failure:
                said.append(str(failure).splitlines()[0])
            if not said[-1]:
                break
        else:
            self.failed.append(f"{what}: " + "; ".join(said))
        print(f"{what}: {'; '.join(filter(None, said)) or 'no trouble'}", flush=True)


def test_neighbours_live(program, places, folder):
    rng = random.Random(SEED)
    every = sources()
    names = sorted(every)
    rng.shuffle(names)
    chosen = names if COUNT == 0 else names[:COUNT]
    tries = Tries(program, folder)
    for name in chosen:
        tries.run(name, {"Hostile": every[name]})
    for first in range(0, len(chosen), 10):
        ten = names[first:first + 10]
        tries.run(" ".join(ten), {f"Hostile{i}": every[name] for i, name in enumerate(ten)})
    check(not tries.failed, f"seed {SEED}: " + "\n".join(tries.failed))


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

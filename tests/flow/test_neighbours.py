"""Hostile scripts beside honest ones, live: real processes, real sockets, real time. A world has two
honest scripts, and two bots play in it. In turn it runs alone and with a hostile script, or ten of
them. The honest scripts stay on time, no tick is missed that the quiet world did not miss, snapshots
arrive as regularly as in the quiet world (p99 within 1.25 times), and nothing restarts.

The test compares runs that follow each other, because the machine may be busy. A script that seems to
disturb the others is tried again; only one that does so three times in a row counts. A try that finds
trouble does not count if the world's process had to wait for a processor for more than a fifth of the
time: then other programs made it late. Such tries are repeated, but not without end. A script that the
build refuses is left out. In virtual time the same is tested exactly, by ticks:
tests/script/test_neighbours.c.

SANDLOT_NEIGHBOURS says how many hostile scripts are tried alone (0: all); SANDLOT_SEED repeats a choice.
"""

import os
import random
import re
import shutil
import sys
import tempfile
import time

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
WAIT_SHARE = 0.2  # of the time that a world may wait for a processor
BUSY_TRIES = 6  # of one script that do not count
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


class Busy(Exception):
    """The world did not get the processor, and something went wrong."""


class Waiting:
    """How long the threads of a world were ready to run and had no processor."""

    def __init__(self, world):
        self.world, self.begin = world, time.monotonic()
        self.pids = world.children()
        self.before = self._seconds()

    def _seconds(self):
        total = 0
        for pid in self.pids:
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                        total += int(file.read().split()[1])
            except OSError:  # it has ended
                pass
        return total / 1e9

    def share(self):
        return max(0, self._seconds() - self.before) / max(0.001, time.monotonic() - self.begin)


def play(program, world):
    """What two bots measured; Busy if they failed in a world that did not get its processor."""
    waiting = Waiting(world)
    try:
        result = Bots(program, world.port, 2, SECONDS, "walk").result(90)
    except Failure:
        if waiting.share() > WAIT_SHARE:
            raise Busy(f"{waiting.share():.0%}") from None
        raise
    return result, waiting.share()


def live(program, folder, scripts):
    """A few seconds of a world with these scripts: what the bots measured and the honest ones say."""
    place = write_place(os.path.join(folder, "place"), scripts)
    data = tempfile.mkdtemp(prefix="data", dir=folder)  # each time another one: a database would keep what was in it
    world = World(program, place, data)
    try:
        result, waited = play(program, world)
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
        shutil.rmtree(data, ignore_errors=True)
    return {"p99": result["interarrival_p99_ms"], "playing": result["playing"], "fared": fared,
            "starts": starts, "missed": missed, "waited": waited}


def refused(failure):
    """The names of scripts that the build refuses, if that is why a world did not start."""
    text = str(failure)
    if "cannot be built" not in text:
        return set()
    return set(re.findall(r"ServerScriptService/(Hostile\d*)\.lua:\d+: error:", text))


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
        self.failed, self.untried, self.count = [], [], 0

    def once(self, scripts, is_first):
        """What is wrong with the world that has these scripts; empty: nothing."""
        if not is_first or self.used % QUIET_SERVES == 0:
            self.quiet = live(self.program, self.folder, {})
        self.used += 1
        now = live(self.program, self.folder, scripts)
        found = trouble(self.quiet, now)
        if found and now["waited"] > WAIT_SHARE:
            raise Busy(f"{now['waited']:.0%}")
        return found

    def run(self, what, scripts):
        said, busy, is_first = [], [], True
        while scripts and len(said) < TRIES and len(busy) < BUSY_TRIES:
            try:
                said.append(self.once(scripts, is_first))
            except Busy as share:
                busy.append(str(share))
            except Failure as failure:
                left_out = refused(failure)
                if left_out:
                    print(f"{what}: the build refuses {', '.join(sorted(left_out))}", flush=True)
                    scripts = {name: text for name, text in scripts.items() if name not in left_out}
                    continue
                said.append(str(failure).splitlines()[0])
            is_first = False
            if said and not said[-1]:
                break
        self.report(what, scripts, said, busy)

    def report(self, what, scripts, said, busy):
        self.count += 1
        if busy:
            print(f"{what}: {len(busy)} tries do not count, the world waited for a processor "
                  f"{', '.join(busy)} of the time", flush=True)
        result = "; ".join(filter(None, said)) or "no trouble"
        if not scripts:
            result = "nothing to try"
        elif len(said) == TRIES and said[-1]:
            self.failed.append(f"{what}: {result}")
        elif not said or said[-1]:
            self.untried.append(what)
            result = "could not be tried, the machine is too busy"
        print(f"{what}: {result}", flush=True)


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
    if tries.untried:
        print(f"{len(tries.untried)} could not be tried, the machine is too busy")
    check(len(tries.untried) < tries.count, "nothing could be tried: the machine is too busy")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""kill -9 at random moments, of the world process and of its host, while bots build. Everything that the
server confirmed as stored must be there at the end, seen by new clients, and connected players must
get back into a session.

SANDLOT_KILLS=1000 makes it long (make torture); SANDLOT_SEED repeats a run.
"""

import os
import random
import signal
import sqlite3
import sys
import time

from bots import Bots, write_meadow
from support import World, check, run, wait_until

KILLS = int(os.environ.get("SANDLOT_KILLS", "10"))
BOTS = int(os.environ.get("SANDLOT_BOTS", "20"))  # a few of them build, the others walk
BUILDERS = 8  # what they build fits into what one client may see at once
SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
DATABASE = "sandlot.db"
SEEN_MAX = 200
PAUSE_S = (0.5, 2.2)  # between the world's return and its next end


def restart(program, place, data, port):
    """The port may still be held for a moment by the one that was killed."""
    for attempt in range(20):
        try:
            return World(program, place, data, "--port", str(port))
        except Exception:
            if attempt == 19:
                raise
            time.sleep(0.25)
    return None


def kill_world(world):
    starts = world.metric("sandlot_world_starts_total")
    for pid in world.children():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: world.metric("sandlot_world_starts_total") > starts and world.is_ready(),
               "the world is back", 30)


def check_database(data, ledger):
    """Every structure of the ledger, as the disk has it; leaves in the ledger what clients can see.
    One of them sees the 256 things nearest to it, and after a thousand kills more are standing."""
    with open(ledger, encoding="ascii") as file:
        lines = file.read().splitlines()
    database = sqlite3.connect(f"file:{data}/{DATABASE}?mode=ro", uri=True)
    stored = {row[0] for row in database.execute("SELECT net_id FROM structures")}
    database.close()
    lost = [line for line in lines
            if line.startswith("structure ") and int(line.split()[1]) not in stored]
    back = [line for line in lines
            if line.startswith("gone-structure ") and int(line.split()[1]) in stored]
    check(not lost and not back, f"on disk: lost {lost}, back again {back}")
    if len(stored) > SEEN_MAX:
        with open(ledger, "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines if "structure" not in line)
    return len(stored)


def test_kill_under_bots(program, places, folder):
    print(f"seed {SEED}, {KILLS} kills, {BOTS} bots")
    rng = random.Random(SEED)
    place, data, ledger = write_meadow(folder, BOTS + 16), folder + "/data", folder + "/ledger"
    world = restart(program, place, data, 0)
    port, bots, walkers, hosts = world.port, None, None, 0
    try:
        bots = Bots(program, port, BUILDERS, 86400, "build", "--ledger", ledger, "--seed", str(SEED))
        walkers = Bots(program, port, BOTS - BUILDERS, 86400, "walk", "--seed", str(SEED + 1),
                       "--best-effort")
        time.sleep(4)
        done = 0
        while done < KILLS and bots.runs() and walkers.runs():
            time.sleep(rng.uniform(*PAUSE_S))
            if rng.random() < 0.25:
                world.kill()
                hosts += 1
                world = restart(program, place, data, port)
            else:
                kill_world(world)
            done += 1
        time.sleep(6)  # who waits longest tries again after four
        walkers.stop()
        walked = walkers.result(30)
        bots.stop()
        result = bots.result(30)
        print(f"{done} kills ({hosts} of the host), {result['durable']} stored, {result['resumes']} "
              f"resumes, {result['connects']} connects, {result['failures']} failures")
        check(result["durable"] > 20, f"the bots built: {result}")
        check(result["playing"] == BUILDERS, f"every builder is back: {result}")
        check(walked["playing"] == BOTS - BUILDERS, f"every walker is back: {walked}")
        # Everyone comes back into a session of theirs, but for those who were only just in.
        check(result["resumes"] >= BUILDERS * done * 0.4, f"sessions resume: {result}")
        check(result["corrections_without_cause"] == 0, f"every correction has a cause: {result}")
        world.kill()
        standing = check_database(data, ledger)
        world = restart(program, place, data, port)
        print(f"{standing} structures are standing")
        found = Bots(program, port, 6, 3, "stand", "--check", ledger).result(60)
        check(found["durable_checked"] > 10, f"there is something to look for: {found}")
        check(found["durable_lost"] == 0, f"nothing is lost: {found}")
        world.stop()
    finally:
        world.kill()
        for some in (bots, walkers):
            if some:
                some.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

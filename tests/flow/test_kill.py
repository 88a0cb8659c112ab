"""kill -9 at random moments, of world processes and of their host, while bots build. Everything that the
server confirmed as stored must be there at the end, seen by new clients, and connected players must
get back into a session. In one world, and in several worlds of one host.

SANDLOT_KILLS=1000 makes it long (make torture), SANDLOT_MANY_KILLS that of several worlds; SANDLOT_SEED
repeats a run.
"""

import os
import random
import signal
import sqlite3
import sys
import time

from bots import Bots, write_meadow
from hosts import Host
from support import World, check, needs_file, run, wait_until

KILLS = int(os.environ.get("SANDLOT_KILLS", "10"))
BOTS = int(os.environ.get("SANDLOT_BOTS", "20"))  # a few of them build, the others walk
BUILDERS = 8  # what they build fits into what one client may see at once
SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
MANY_KILLS = int(os.environ.get("SANDLOT_MANY_KILLS", "20"))
WORLDS = 5
MANY_BUILDERS = 3  # in each of several worlds
DATABASE = "sandlot.db"
SEEN_MAX = 200
PAUSE_S = (0.5, 2.2)  # between the world's return and its next end
MANY_PAUSE_S = (0.1, 1.5)  # between any two ends


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


def restart_host(program, place, data, port):
    for attempt in range(20):
        try:
            return Host(program, [place], data, "--port", str(port))
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


def check_database(data, ledger, world_id=None):
    """Of one world: every structure of the ledger, as the disk has it; leaves in the ledger what clients can see.
    One of them sees the 256 things nearest to it, and after a thousand kills more are standing."""
    with open(ledger, encoding="ascii") as file:
        lines = file.read().splitlines()
    database = sqlite3.connect(f"file:{data}/{DATABASE}?mode=ro", uri=True)
    stored = {net_id for net_id, owner in database.execute("SELECT net_id, world_id FROM structures")
              if world_id in (None, owner.decode())}
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


def test_kill_many_worlds(program, places, folder):
    """The host or a random world of several dies, at any moment of the others and of its own start."""
    needs_file()
    print(f"seed {SEED}, {MANY_KILLS} kills, {WORLDS} worlds")
    rng = random.Random(SEED)
    place, data = write_meadow(folder, 64), folder + "/data"
    host = Host(program, [place], data)
    port, bots, hosts, done = host.port, {}, 0, 0
    try:
        worlds = [host.join()["world_id"] for _ in range(WORLDS)]
        ledgers = {world: f"{folder}/{world}" for world in worlds}
        for number, world in enumerate(worlds):
            bots[world] = Bots(program, port, MANY_BUILDERS, 86400, "build", "--world", world,
                               "--ledger", ledgers[world], "--seed", str(SEED + number))
        time.sleep(4)
        while done < MANY_KILLS and all(some.runs() for some in bots.values()):
            time.sleep(rng.uniform(*MANY_PAUSE_S))
            running = host.children()
            if rng.random() < 0.25:
                host.kill()
                hosts += 1
                host = restart_host(program, place, data, port)
            elif running:
                os.kill(rng.choice(running), signal.SIGKILL)
            else:
                continue  # all of them are starting
            done += 1
        wait_until(lambda: all(host.worlds()[world]["players"] == MANY_BUILDERS for world in worlds),
                   "every builder is back", 60)
        check(host.metric("sandlot_saves_lost_total") == 0, "the host lost no save")
        stored = 0
        for world, some in bots.items():
            some.stop()
            result = some.result(30)
            stored += result["durable"]
            check(result["corrections_without_cause"] == 0, f"every correction has a cause: {result}")
        print(f"      {done} kills ({hosts} of the host), {stored} stored")
        check(done == MANY_KILLS and stored > 20, f"{done} kills, {stored} stored")
        host.kill()
        standing = [check_database(data, ledgers[world], world) for world in worlds]
        print(f"      {standing} structures are standing")
        host = restart_host(program, place, data, port)
        found = [Bots(program, port, 6, 3, "stand", "--world", world, "--check", ledgers[world])
                 for world in worlds]
        found = [some.result(90) for some in found]
        check(sum(some["durable_checked"] for some in found) > 10, f"something to look for: {found}")
        check(all(some["durable_lost"] == 0 for some in found), f"nothing is lost: {found}")
        host.stop()
    finally:
        host.kill()
        for some in bots.values():
            some.kill()


def test_kill_under_bots(program, places, folder):
    needs_file()
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

"""An empty world pauses: its process sleeps, its ticks stand still, and whoever joins wakes it."""

import os
import re
import subprocess
import sys
import time

from support import Player, World, check, run, wait_until

SECONDS = 3


def wakeups(pid):
    """How often the process went to sleep by itself: once for each time it woke up."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", file.read(), re.MULTILINE)[1])


def cpu_ms(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e6


def observed(pid):
    """Wake-ups and processor time of some seconds, while nobody asks it anything."""
    before, cpu = wakeups(pid), cpu_ms(pid)
    time.sleep(SECONDS)
    return wakeups(pid) - before, cpu_ms(pid) - cpu


def replay(program, journal, place):
    done = subprocess.run([program, "replay", journal, "--place", place], capture_output=True,
                          text=True, timeout=90, check=False)
    return done.returncode, done.stdout + done.stderr


def test_pause_and_wake(program, places, folder):
    journal = os.path.join(folder, "journal")
    place = os.path.join(places, "island")
    world = World(program, place, os.path.join(folder, "data"),
                  "--journal", journal)
    try:
        pid = world.children()[0]
        awake, awake_ms = observed(pid)
        check(world.metric("sandlot_world_paused") == 0, "it pauses too early")
        wait_until(lambda: world.metric("sandlot_world_paused") == 1, "it pauses", 30)
        ticks = world.metric("sandlot_world_ticks_total")
        missed = world.metric("sandlot_world_ticks_missed_total")
        paused, paused_ms = observed(pid)
        print(f"      {SECONDS} s awake: {awake} wake-ups, {awake_ms:.2f} ms of processor time; "
              f"paused: {paused} wake-ups, {paused_ms:.2f} ms")
        # A sign of life every few seconds, and some spare for what the kernel does.
        check(paused <= SECONDS and paused * 5 < awake, f"{paused} wake-ups, awake {awake}")
        check(world.children() == [pid], "the host takes it for dead")
        # A join is answered at once, and time goes on where it stood.
        player = Player(world, ticket=world.join(name="bo")["ticket"])
        seen = player.wait("snapshot")["payload"]["tick"]
        check(ticks - 60 <= seen <= ticks + 120, f"tick {seen} after {ticks}")
        wait_until(lambda: world.metric("sandlot_world_paused") == 0, "it is awake")
        player.walk(1.2)
        check(world.metric("sandlot_world_ticks_total") >= ticks + 30, "ticks go on")
        missed = world.metric("sandlot_world_ticks_missed_total") - missed
        check(missed < SECONDS * 60, f"the pause counts as {missed} ticks that came too late")
        player.say("session", "leave", {})
        player.close()
        wait_until(lambda: world.metric("sandlot_world_paused") == 1, "it pauses again", 30)
        check(world.children() == [pid], "it was started again")
        world.stop()
    finally:
        world.kill()
    code, text = replay(program, journal, place)
    check(code == 0 and "all equal" in text, text)


if __name__ == "__main__":
    sys.exit(run(globals(), sys.argv))

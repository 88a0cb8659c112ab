"""Helpers of the tests of `sandlot host`: the process, its worlds, and players who join one of them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time

from support import Database, Player, World, check, wait_until


class Host(World):
    """`sandlot host` with these places, on any free port. A World in all that is about the process."""

    def __init__(self, program, places, data, *options, before=None):
        self.lines = []
        self.process = subprocess.Popen(
            [program, "host", *places, "--data", data, "--port", "0", "--allow-weak-jail",
             *Database.options(data), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=before)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.port = int(self.wait_line(r"host +http://127\.0\.0\.1:(\d+)/", 60)[1])
        wait_until(self.is_ready, "the host is ready")

    def children(self):
        """Process ids of the world processes."""
        return [pid for pid in super().children() if is_world_process(pid)]

    def ask_join(self, token=None, **wish):
        """Status and answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        status, _, body = self.request("POST", "/join", wish, headers)
        return status, json.loads(body)

    def join(self, token=None, **wish):
        status, answer = self.ask_join(token, **wish)
        check(status == 200, f"/join says {status}: {answer}")
        return answer

    def worlds(self):
        """What GET /worlds says, by the id of the world."""
        status, _, body = self.request("GET", "/worlds")
        check(status == 200, f"/worlds says {status}: {body}")
        return {world["worldId"]: world for world in json.loads(body)["worlds"]}

    def metrics(self, name):
        """The values of a metric, by what stands in its braces."""
        text = self.request("GET", "/metrics")[2].decode()
        found = re.findall(rf"^{name}(?:{{([^}}]*)}})? (\S+)$", text, re.MULTILINE)
        return {labels: float(value) for labels, value in found}

    def of_worlds(self, name):
        """A metric of each world, by its id."""
        return {re.search(r'world="([^"]*)"', labels)[1]: value
                for labels, value in self.metrics(name).items()}

    def sum(self, name):
        return sum(self.metrics(name).values())


def is_world_process(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"world-process" in file.read()
    except OSError:
        return False


class Room:
    """Looks like a world to a Player."""

    def __init__(self, host, answer):
        self.port, self.room = host.port, answer["room_code"]


def enter(host, token=None, name="bo", **wish):
    """A player in the world that the host chooses for this wish."""
    answer = host.join(token=token, username=name, **wish)
    player = Player(Room(host, answer), name=name, ticket=answer["ticket"])
    player.session_token, player.world_id = answer["session_token"], answer["world_id"]
    return player


def leave(player):
    player.say("session", "leave", {})
    player.close()
    return player


def parallel(count, work):
    """work(0 … count - 1), all at the same time, and what each gave."""
    ready, results = threading.Barrier(count), [None] * count

    def do(number):
        ready.wait()
        results[number] = work(number)
    threads = [threading.Thread(target=do, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Killer:
    """Kills a world every so often: of the host's processes that are not spared, the one that has run
    longest, but none that has run for less than `life`: one that ends too often is not started again
    at once."""

    def __init__(self, host, spared, life=1.2):
        self.host, self.spared, self.life = host, set(spared), life
        self.since, self.kills = {}, 0

    def kill(self):
        now = time.monotonic()
        running = set(self.host.children()) - self.spared
        self.since = {pid: self.since.get(pid, now) for pid in running}
        old = [pid for pid, since in self.since.items() if now - since >= self.life]
        if old:
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(min(old, key=self.since.get), signal.SIGKILL)
                self.kills += 1

    def kill_for(self, seconds, every):
        begin = time.monotonic()
        for number in range(round(seconds / every)):
            time.sleep(max(0.0, begin + number * every - time.monotonic()))
            self.kill()
        time.sleep(max(0.0, begin + seconds - time.monotonic()))


# --- what the kernel says of processes -------------------------------------------------------------


def pss_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Pss: +(\d+) kB", file.read(), re.MULTILINE)[1])


def cpu_s(pid):
    """Processor time of all threads."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_exact_s(pid):
    """The same in nanoseconds, where the kernel counts so."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9

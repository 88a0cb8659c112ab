"""Machines that fail: three hosts, two PostgreSQL nodes under pg_auto_failover and its monitor, each in a
network namespace, with bots that build in several worlds. Machines are killed, frozen and cut off from
each other. Afterwards everything that a server confirmed as stored is there, no world was written by two
hosts, and every player is back.

SANDLOT_FAULTS=20 makes it long (make torture; Ctrl-C ends it after the faults that are under way),
SANDLOT_BOTS says how many bots, SANDLOT_SEED repeats the choices of a run. Without root, or without
pg_auto_failover, it is skipped.
"""

import ctypes
import http.client
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

from bots import write_meadow
from support import Skip, check, run, wait_until
from test_up import SECRET, environment

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import machines  # noqa: E402

FAULTS = int(os.environ.get("SANDLOT_FAULTS", "1"))  # of each kind
BOTS = int(os.environ.get("SANDLOT_BOTS", "12"))
SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
HOSTS, FIRST_HOST, FIRST_BOTS, TESTER = 3, 1, 40, 60
WORLDS = 4 if BOTS >= 40 else 2
BUILDERS = 3  # in each world; the others walk
PORT = 5000
FREEZE_S, CUT_S = 8, 16
TAKES_S = 10  # a host that has just begun takes no worlds until then
GAP_S = 15  # what is promised of a failure; printed, and checked in the long form
CONTROL_S = 10 if FAULTS > 1 else 0  # nothing fails for so long: what gaps the machine makes by itself
BACK_S = 90
CLONE_NEWNET = 0x40000000

AUDIT = """
CREATE TABLE test_writes (n BIGSERIAL PRIMARY KEY, world BYTEA, epoch BIGINT, seq BIGINT);
CREATE FUNCTION test_note() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO test_writes (world, epoch, seq) VALUES (NEW.world_id, NEW.epoch, NEW.seq); RETURN NEW; END $$;
CREATE TRIGGER test_note AFTER UPDATE ON world_head FOR EACH ROW EXECUTE FUNCTION test_note();
"""
# Writes of one world follow each other in the order of its row's lock: an epoch never comes back, and
# within one the number of the last save only rises.
DOUBLE = """
SELECT count(*) FROM (SELECT epoch, seq, lag(epoch) OVER w AS e, lag(seq) OVER w AS s FROM test_writes
                      WINDOW w AS (PARTITION BY world ORDER BY n)) AS a
WHERE epoch < e OR (epoch = e AND seq <= s)
"""


def enter(network, number):
    """This thread, and what it starts, is on that machine from now on."""
    with open(f"/run/netns/{network.mark}m{number}", encoding="ascii") as file:
        check(ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) == 0, "setns")


class Host:
    """`sandlot up` on a machine of its own."""

    def __init__(self, club, number):
        self.club, self.number = club, number
        self.address = club.network.add(number)
        self.home = os.path.join(club.folder, f"host{number}")
        os.makedirs(self.home)
        self.process, self.lines, self.restarts = None, [], 0

    def start(self):
        # Its temporary files and worlds belong to it, so it leads a group of processes.
        self.process = subprocess.Popen(
            self.club.network.inside(
                self.number, self.club.program, "up", "--allow-weak-jail", "--host", self.address,
                "--port", str(PORT), "--data", os.path.join(self.home, "data"), "--store",
                self.club.databases.url(), "--places", self.club.places, "--default-place", "meadow",
                "--log-level", "info"),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment(self.home, SANDLOT_SECRET_KEY=SECRET))
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process):
        for line in process.stderr:
            self.lines.append(f"{time.time():.1f} {line.rstrip()}")

    def request(self, method, path, body=None, headers=None, seconds=8):
        link = http.client.HTTPConnection(self.address, PORT, timeout=seconds)
        try:
            link.request(method, path, body=None if body is None else json.dumps(body),
                         headers=headers or {})
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        except OSError as error:
            return 0, {}, str(error)
        finally:
            link.close()

    def is_ready(self):
        # A host that finds the database away when it begins ends, and is begun again (Restart=on-failure).
        if self.process.poll() == 1 and self.restarts < FAULTS:
            self.restarts += 1
            time.sleep(2)
            self.start()
        check(self.process.poll() is None,
              f"host {self.address} ended ({self.process.returncode}):\n" + "\n".join(self.lines[-20:]))
        return self.request("GET", "/readyz")[0] == 200

    def metric(self, name):
        found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$",
                          self.request("GET", "/metrics")[2].decode(), re.MULTILINE)
        return float(found[1]) if found else 0

    def freeze(self):
        machines.tell(machines.children(self.process.pid), signal.SIGSTOP)

    def thaw(self):
        machines.tell(machines.children(self.process.pid), signal.SIGCONT)

    def kill(self):
        """The whole machine: its worlds too."""
        if self.process is not None and self.process.poll() is None:
            pids = machines.children(self.process.pid)
            machines.tell(pids, signal.SIGKILL)
            machines.tell(pids, signal.SIGCONT)
            self.process.wait()


class Crowd:
    """Bots of one machine, in one world: `sandlot bots`, with the lines that it prints every second."""

    def __init__(self, club, number, world, count, behaviour, ledger=None):
        servers = [word for host in club.hosts for word in ("--server", f"http://{host.address}:{PORT}")]
        self.count, self.ledger, self.lines = count, ledger, []
        self.process = subprocess.Popen(
            club.network.inside(number, club.program, "bots", *servers, "-n", str(count), "--seconds",
                                "86400", "--behaviour", behaviour, "--world", world, "--best-effort",
                                "--truth", "0", "--ramp", "120", "--seed",
                                str(number * 100 + len(behaviour)),
                                *(["--ledger", ledger] if ledger else [])),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip()))

    def now(self):
        """How many play, and the longest gap within the last second."""
        check(self.process.poll() is None, "bots ended:\n" + "\n".join(text for _, text in self.lines[-20:]))
        for at, text in reversed(self.lines):
            found = re.search(r"(\d+)/\d+ playing .* gap ([\d.]+) s", text)
            if found:
                return int(found[1]), float(found[2]), time.monotonic() - at, "measuring" in text
        return 0, 0.0, 1e9, False

    def plays(self):
        playing, gap, age, measuring = self.now()
        return measuring and playing == self.count and gap < 2 and age < 3

    def gap(self, since):
        gaps = [float(found[1]) for at, text in self.lines if at >= since
                for found in [re.search(r" gap ([\d.]+) s", text)] if found]
        return max(gaps, default=0.0)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        check(self.process.wait(60) == 0, "\n".join(text for _, text in self.lines[-30:]))
        self.reader.join(60)
        text = "\n".join(text for _, text in self.lines)
        return int(re.search(r"^ *durable +(\d+)$", text, re.MULTILINE)[1])

    def losses(self):
        """How bots lost their hosts, other than by being told `moved`. Whoever was not in yet and has to ask
        again, because the world has just left (1013, or the answer to the join), has lost nothing."""
        return [text.strip() for _, text in self.lines
                if re.match(r" +failed +\d+ × (?!join|closed with 1013)", text)]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Club:
    """All of it."""

    def __init__(self, program, folder, network, databases):
        self.program, self.folder, self.network, self.databases = program, folder, network, databases
        self.places = os.path.join(folder, "places")
        os.makedirs(self.places)
        write_meadow(self.places, 80)
        network.add(TESTER)
        enter(network, TESTER)
        self.hosts = [Host(self, FIRST_HOST + i) for i in range(HOSTS)]
        self.bot_machines = [FIRST_BOTS + i for i in range(WORLDS)]
        for number in self.bot_machines:
            network.add(number)
        self.crowds, self.worlds, self.rounds = [], [], 0
        self.rng = random.Random(SEED)

    def open(self):
        for host in self.hosts:
            host.start()
            wait_until(host.is_ready, "a host is ready", 30)
        primary = self.databases.primary()
        check(primary.ask(AUDIT, "sandlot") is not None, f"the audit: {primary.said}")
        time.sleep(TAKES_S)
        for number in range(WORLDS):
            # Guests of one address may make three worlds, as each host counts them.
            answer = self.join(self.sign_in(f"maker{number}"), self.hosts[number % HOSTS])
            self.worlds.append(answer["world_id"])

    def sign_in(self, name):
        status, _, body = self.hosts[0].request("POST", "/login", {"username": name})
        check(status == 200, f"/login says {status}: {body}")
        return json.loads(body)["session_token"]

    def join(self, token, host=None, **wish):
        def ask():
            status, _, body = (host or self.hosts[0]).request(
                "POST", "/join", wish, headers={"Authorization": f"Bearer {token}"}, seconds=25)
            check(status in (0, 200, 503), f"/join says {status}: {body}")
            return json.loads(body) if status == 200 else None
        return wait_until(ask, "a join", 20)

    def owner(self, world):
        """The host that runs it, by its row."""
        address = self.databases.primary().ask(
            "SELECT convert_from(h.address, 'UTF8') FROM world_leases l JOIN hosts h ON h.host_id = l.host_id "
            f"WHERE l.world_id = convert_to('{world}', 'UTF8')", "sandlot")
        return next((host for host in self.hosts if address and host.address in address),
                    self.hosts[0])

    def start_bots(self):
        each = BOTS // WORLDS
        for machine, world in zip(self.bot_machines, self.worlds):
            self.crowds.append(Crowd(self, machine, world, BUILDERS, "build",
                                     f"{self.folder}/ledger{machine}"))
            if each > BUILDERS:
                self.crowds.append(Crowd(self, machine, world, each - BUILDERS, "walk"))
        self.wait_back()

    def upgrade(self):
        """One host after the other ends and begins again, as for a new version. Players are told `moved`,
        and nothing else happens to them."""
        self.start_bots()
        since, gaps = time.monotonic(), []
        print("  one host after the other ends and begins again", flush=True)
        for host in self.hosts:
            begin = time.monotonic()
            host.process.send_signal(signal.SIGTERM)
            check(host.process.wait(60) == 0, "\n".join(host.lines[-20:]))
            host.start()
            wait_until(host.is_ready, "a host is ready again", 30)
            time.sleep(TAKES_S)
            self.wait_back()
            gaps.append(max(crowd.gap(begin) for crowd in self.crowds))
        crowds, worlds = self.crowds, len(self.worlds)
        stored = self.stop_bots()
        print(f"    gaps {' '.join(f'{gap:.1f}' for gap in gaps)} s; {stored} things stored, none lost; it took "
              f"{time.monotonic() - since:.0f} s", flush=True)
        lost = [line for crowd in crowds for line in crowd.losses()]
        is_starved = any("behind" in line or "silent" in line for line in lost)  # bots, or worlds, for seconds
        print("    ".join(["", *lost]) + "\n" if lost else "", end="", flush=True)
        check(not lost or is_starved, f"players of {worlds} worlds lost their host: {lost}")

    def wait_back(self):
        wait_until(lambda: all(crowd.plays() for crowd in self.crowds), "everybody plays", BACK_S)

    def stop_bots(self):
        stored = sum(crowd.stop() for crowd in self.crowds)
        self.check_ledgers()
        self.crowds = []
        return stored

    def check_ledgers(self):
        """Everything that was confirmed is in the database."""
        for machine, world in zip(self.bot_machines, self.worlds):
            with open(f"{self.folder}/ledger{machine}", encoding="ascii") as file:
                lines = file.read().splitlines()
            rows = self.databases.primary().ask(
                f"SELECT net_id FROM structures WHERE world_id = convert_to('{world}', 'UTF8')", "sandlot")
            stored = {int(line) for line in rows.split()}
            lost = [line for line in lines
                    if line.startswith("structure ") and int(line.split()[1]) not in stored]
            back = [line for line in lines
                    if line.startswith("gone-structure ") and int(line.split()[1]) in stored]
            check(lines, "nothing was confirmed as stored")
            check(not lost and not back, f"{world}: lost {lost}, back again {back}")

    def check_writers(self):
        double = self.databases.primary().ask(DOUBLE, "sandlot")
        check(double == "0", f"{double} writes of two hosts")

    def fault(self, name, begin, end, seconds=0.0, until=None):
        """Lets something fail, mends it some time later, or when something has happened, and waits until
        all is well. Gives the longest gap."""
        since = time.monotonic()
        time.sleep(CONTROL_S)
        quiet = max(crowd.gap(since) for crowd in self.crowds)
        since = time.monotonic()
        print(f"  {name}", flush=True)
        begin()
        time.sleep(seconds)
        if until:
            self.databases.wait(until, f"what follows from the {name}")
            print(f"    the database takes writes again after {time.monotonic() - since:.1f} s", flush=True)
        end()
        self.wait_back()
        back = time.monotonic() - since
        self.databases.wait(self.databases.is_whole, "the databases are whole", 180)
        for host in self.hosts:
            wait_until(host.is_ready, "all hosts are ready", 60)
        self.wait_back()
        self.check_writers()
        gap = max(crowd.gap(since) for crowd in self.crowds)
        self.rounds += 1
        if gap > GAP_S:
            self.explain(since)
        print(f"    gap {gap:.1f} s (before, with nothing failing, {quiet:.1f} s; load "
              f"{os.getloadavg()[0]:.0f}), back after {back:.1f} s, whole after "
              f"{time.monotonic() - since:.1f} s", flush=True)
        return gap

    def explain(self, since):
        """What hosts said of leases and worlds meanwhile."""
        begin = time.time() - (time.monotonic() - since)
        for host in self.hosts:
            told = [line for line in list(host.lines)
                    if float(line.split(" ", 1)[0]) >= begin and "area=http" not in line]
            print(f"    host {host.address}:\n      " + "\n      ".join(line[:200] for line in told[-40:]))
        for crowd in self.crowds:
            print("    bots:\n      " + "\n      ".join(text[:150] for at, text in crowd.lines
                                                          if at >= since and " gap 0." not in text))

    # --- what fails ---

    def takes_over(self, node):
        other = self.databases.other(node)
        return lambda: other.ask("SELECT pg_is_in_recovery()", seconds=3) == "f"

    def kill_primary(self):
        node = self.databases.primary()
        return self.fault(f"kill -9 of the primary, {node.address}", node.kill, node.start, 2,
                          self.takes_over(node))

    def freeze_primary(self):
        node = self.databases.primary()
        return self.fault(f"freeze of the primary, {node.address}", node.freeze, node.thaw, 2,
                          self.takes_over(node))

    def kill_host(self):
        host = self.owner(self.rng.choice(self.worlds))
        return self.fault(f"kill -9 of host {host.address}", host.kill, host.start, 3)

    def freeze_host(self):
        host = self.owner(self.rng.choice(self.worlds))
        return self.fault(f"freeze of host {host.address}", host.freeze, host.thaw, FREEZE_S)

    def cut(self, one, other):
        return self.fault(f"cut between {machines.NET}{one} and {machines.NET}{other}",
                          lambda: self.network.cut(one, other), self.network.mend, CUT_S)

    def pairs(self):
        """Any two, in a random order."""
        numbers = [host.number for host in self.hosts]
        numbers += [node.number for node in self.databases.nodes] + [machines.MONITOR]
        pairs = list(itertools.combinations(numbers, 2))
        self.rng.shuffle(pairs)
        return itertools.cycle(pairs)

    def close(self):
        for one in [*self.crowds, *self.hosts]:
            one.kill()


def with_club(program, folder, work):
    reason = machines.missing()
    if reason:
        raise Skip(reason)
    print(f"seed {SEED}, {BOTS} bots in {WORLDS} worlds, {FAULTS} of each")
    with machines.Machines() as (network, databases):
        club = Club(program, folder, network, databases)
        try:
            club.open()
            club.upgrade()
            club.start_bots()
            work(club)
        except BaseException:
            for host in club.hosts:
                print(f"host {host.address}:\n  " + "\n  ".join(host.lines[-40:]))
            for crowd in club.crowds:
                print("bots:\n  " + "\n  ".join(text for _, text in crowd.lines[-12:]))
            raise
        finally:
            club.close()


def end(club, gaps, limit=GAP_S):
    stored = club.stop_bots()
    print(f"{club.rounds} faults, {stored} things stored, none lost; gaps: "
          + " ".join(f"{gap:.1f}" for gap in gaps))
    check(stored > 0, "nothing was stored")
    if FAULTS > 1:
        check(max(gaps) <= limit, f"a gap of {max(gaps):.1f} s")


def test_machines_fail(program, _, folder):
    ends = threading.Event()  # Ctrl-C: after these faults it is looked whether anything was lost
    if FAULTS > 1:
        signal.signal(signal.SIGINT, lambda *_: ends.set())

    def work(club):
        gaps, pairs = [], club.pairs()
        for _ in range(FAULTS):
            if ends.is_set():
                break
            gaps += [club.kill_host(), club.freeze_host(), club.kill_primary(), club.freeze_primary()]
            # In the short form the pair that hurts: a host with a world, and the database.
            gaps.append(club.cut(*next(pairs)) if FAULTS > 1 else
                        club.cut(club.owner(club.worlds[0]).number, club.databases.primary().number))
        end(club, gaps)
    with_club(program, folder, work)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

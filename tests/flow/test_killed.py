"""kill -9 of `sandlot up` while people sign in, register, join, build, import a world and while a backup is
made, all at the same time and again and again: each of its lives ends at another moment. What was
answered is there in the next one, what was not answered is there as a whole or not at all.

SANDLOT_LIVES says how many lives there are; SANDLOT_SEED repeats the moments. test_killed_aimed needs no
chance: the server dies at each system call that changes a file, one after the other.
"""

import collections
import contextlib
import hashlib
import http.client
import itertools
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

from bots import write_meadow
from hosts import Room
from publish import Publisher, package
from support import Player, check, needs_file, run, wait_until
from test_accounts import PASSWORD, People
from test_backup import manifest_of, sandlot

LIVES = int(os.environ.get("SANDLOT_LIVES", "18"))
SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
KINDS = ("sign-in", "register", "join", "save", "import", "backup")
POINTS = 12         # how often each kind of request must have been cut off, at least
LIFE_S = 0.6        # the longest life after all have begun
STRUCTURES = 1500   # in a world that is imported
COPIES = 12         # in one life
SIGN_INS_KEPT = 20  # of one account; the oldest make room for new ones


class Life:
    """One process of the server. What a worker asks is begun, and then answered or cut off."""

    def __init__(self, test):
        self.up = test.start()
        self.open = collections.Counter()  # by kind: requests that are not answered yet
        self.over = False

    def ask(self, kind, path, body=None, token=None, method="POST"):
        """The answer, or EOFError: the server is dead."""
        self.open[kind] += 1
        try:
            status, answer = self.up.post(path, body, token, method)
        except Exception as error:  # cut off
            raise EOFError from error
        self.open[kind] -= 1
        check(status in (200, 201), f"{method} {path} says {status}: {answer}")
        return answer


class Test:
    def __init__(self, program, folder):
        self.program, self.folder, self.data = program, folder, folder + "/data"
        self.backup = folder + "/backup.tar"
        write_meadow(folder + "/places")
        self.failures, self.cut = [], collections.Counter()
        self.numbers = collections.Counter()
        # What was answered, and what was begun last.
        self.sign_ins, self.own_sign_ins = {}, []
        self.accounts, self.registering = {}, set()
        self.guests, self.joins = [], {}
        self.cells = itertools.cycle([(x, y, z) for y in range(6) for x in range(-6, 6, 2)
                                      for z in range(-6, 6) if abs(x) + abs(z) > 3])
        self.structures = set()
        self.imported, self.importing, self.copies, self.copying = 0, 0, set(), set()
        self.begin()

    def next(self, kind):
        self.numbers[kind] += 1
        return self.numbers[kind]

    def start(self):
        return People(self.program, self.folder, "--places", self.folder + "/places",
                      "--default-place", "meadow")

    def begin(self):
        up = self.start()
        up.operator()
        self.ann = up.register("ann")["session_token"]
        self.built = self.make_world(up, "built")
        self.file_world = self.make_world(up, "file")
        status, self.file = up.post(f"/world/{self.file_world}", token=self.ann, method="GET")
        check(status == 200, self.file)
        status, answer = up.post(f"/world/{self.file_world}", self.version(0), self.ann)
        check(status == 200, answer)
        sandlot(self.program, "backup", "--data", self.data, self.backup)
        up.stop()

    def make_world(self, up, name):
        status, answer = up.post("/api/worlds", {"name": name}, self.ann)
        check(status == 201, answer)
        return answer["world_id"]

    def version(self, number):
        """The file of a world that looks different all over."""
        entities = [{"type": "structure", "net_id": 1000 + i, "owner": 0, "piece": number % 2,
                     "x": i % 50, "y": number % 60, "z": i // 50, "turn": 0, "health": 40}
                    for i in range(STRUCTURES)]
        metadata = {**self.file["metadata"], "name": f"v{number}", "next_net_id": 1000 + STRUCTURES}
        return {**self.file, "metadata": metadata, "entities": entities}

    # --- what people do, until the server is dead -------------------------------------------------

    def sign_in(self, life):
        guest = life.ask("sign-in", "/login", {})
        self.sign_ins[guest["session_token"]] = guest["user_id"]
        own = life.ask("sign-in", "/login", {"username": "ann", "password": PASSWORD})
        self.own_sign_ins.append(own["session_token"])

    def register(self, life):
        name = f"person{self.next('register')}"
        self.registering.add(name)
        made = life.ask("register", "/register", {"username": name, "password": PASSWORD})
        self.accounts[name] = made

    def join(self, life):
        guest = life.ask("guest", "/login", {})["session_token"]
        self.guests.append(guest)
        self.joins[guest] = life.ask("join", "/join", {}, guest)["world_id"]

    def save(self, life):
        """A player builds until the end."""
        answer = life.ask("enter", "/join", {"world_id": self.built}, self.ann)
        try:
            player = Player(Room(life.up, answer), ticket=answer["ticket"])
            while player.position() is None:
                player.hear()
            while True:
                self.place(life, player)
        except Exception as error:
            raise EOFError from error

    def place(self, life, player):
        cell = [int(at) + away for at, away in zip(player.position(), next(self.cells))]
        seq = player.say("build", "place", {"piece": 0, "cell": cell})
        life.open["save"] += 1
        entity = None
        while True:
            message = player.hear()
            payload = message.get("payload", {})
            if payload.get("commandSeq") != seq:
                continue
            if message["kind"] == "ack":
                entity = payload["entityId"]
            elif message["kind"] == "error":
                break  # not there; somewhere else
            elif message.get("action") == "durable":
                self.structures.add(entity)
                break
        life.open["save"] -= 1

    def import_one(self, life):
        self.importing = number = self.next("import")
        life.ask("import", f"/world/{self.file_world}", self.version(number), self.ann)
        self.imported = number

    def copy_one(self, life):
        """An import that makes a world. Nobody may have many: the next life deletes them."""
        if len(self.copies) >= COPIES:
            time.sleep(0.01)
            return
        name = f"copy{self.next('copy')}"
        self.copying.add(name)
        life.ask("import", f"/world/{name}/import", self.version(1), self.ann)
        self.copies.add(name)

    def make_backup(self, life):
        """The backup is killed at the same moment."""
        life.open["backup"] += 1
        known = set(self.accounts)
        process = subprocess.Popen([self.program, "backup", "--data", self.data, self.backup],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not life.over:
            time.sleep(0.001)
        if process.poll() is None:
            process.kill()
            process.wait()
            raise EOFError
        if process.returncode == 0:
            life.open["backup"] -= 1
            self.in_backup = known
        elif life.over:
            raise EOFError
        else:
            check(False, f"the backup ended with {process.returncode}")

    def repeat(self, life, work):
        try:
            while not life.over:
                work(life)
        except EOFError:
            if not life.over:
                self.failures.append(f"{work.__name__}: an answer was cut off, but the server ran")
        except Exception as error:
            self.failures.append(f"{work.__name__}: {error!r}")

    # --- lives ------------------------------------------------------------------------------------

    def live(self, seconds):
        life = Life(self)
        self.look(life.up)
        works = [self.sign_in, self.register, self.join, self.save, self.import_one, self.copy_one,
                 self.make_backup]
        threads = [threading.Thread(target=self.repeat, args=(life, work)) for work in works]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        life.over = True
        life.up.kill()
        for thread in threads:
            thread.join()
        self.cut.update({kind: 1 for kind, count in life.open.items() if count > 0})
        check(not self.failures, "\n".join(self.failures))

    def look(self, up):
        """What the next life finds."""
        for token, user in self.sign_ins.items():
            who = up.who(token)
            check(who and who["user_id"] == user, f"a sign-in is lost: {who}")
        for token in self.own_sign_ins[-SIGN_INS_KEPT:]:
            check(up.who(token), "a sign-in with a password is lost")
        for name, made in self.accounts.items():
            who = up.who(made["session_token"])
            check(who and who["username"] == name, f"{name} is lost: {who}")
        for guest in self.guests:
            status, answer = up.post("/worlds?mine=true", token=guest, method="GET")
            mine = [world["worldId"] for world in answer["worlds"]]
            check(status == 200 and len(mine) <= 1, f"{status} {answer}")
            check(guest not in self.joins or mine == [self.joins[guest]], f"{mine} is not {self.joins}")
        self.look_at_imports(up)
        self.look_into_database()
        manifest_of(self.backup)
        # All of this stays so: it need not be looked at again.
        self.sign_ins, self.guests, self.joins = {}, [], {}
        self.seen = {**getattr(self, "seen", {}), **self.accounts}
        self.accounts = {}

    def look_at_imports(self, up):
        status, found = up.post(f"/world/{self.file_world}", token=self.ann, method="GET")
        check(status == 200, found)
        may = [self.version(number) for number in (self.imported, self.importing)]
        check(found in may, f"half a world: {found['metadata']} with {len(found['entities'])} entities, "
              f"and not {self.imported} or {self.importing}")
        self.imported = self.importing = int(found["metadata"]["name"][1:])
        for name in self.copying:
            status, found = up.post(f"/world/{name}", token=self.ann, method="GET")
            check(status == 404 or found["entities"] == self.version(1)["entities"],
                  f"half a world: {status} with {len(found.get('entities', []))}")
            check(status == 200 or name not in self.copies, f"{name} is lost")
            if status == 200:
                check(up.post(f"/world/{name}", token=self.ann, method="DELETE")[0] == 200, name)
        self.copies, self.copying = set(), set()

    def look_into_database(self):
        needs_file()
        database = sqlite3.connect(f"file:{self.data}/sandlot.db?mode=ro", uri=True)
        def numbers(text, *values):
            return {row[0] for row in database.execute(text, values)} - {None, b""}
        built = numbers("SELECT net_id FROM structures WHERE world_id = ?", self.built.encode())
        check(self.structures <= built, f"lost: {self.structures - built}")
        accounts = numbers("SELECT account_id FROM accounts")
        named = numbers("SELECT account_id FROM accounts WHERE length(name) > 0")
        for table in ("sign_ins", "account_names", "recovery_codes"):
            lost = numbers(f"SELECT account_id FROM {table}") - accounts
            check(not lost, f"{table} has accounts that are not there: {lost}")
        codes = dict(database.execute("SELECT account_id, count(*) FROM recovery_codes GROUP BY 1"))
        check(all(codes.get(account) == 8 for account in named), f"recovery codes: {codes}")
        worlds = numbers("SELECT world_id FROM worlds")
        for table in ("world_about", "structures", "world_meta", "chunks"):
            lost = numbers(f"SELECT world_id FROM {table}") - worlds
            check(not lost, f"{table} has worlds that are not there: {lost}")
        database.close()

    def look_at_backup(self):
        """Who had registered before the last backup began is in it."""
        needs_file()
        other = self.folder + "/other"
        sandlot(self.program, "restore", self.backup, "--data", other)
        database = sqlite3.connect(f"file:{other}/sandlot.db?mode=ro", uri=True)
        names = {(row[0] or b"").decode() for row in database.execute("SELECT name FROM accounts")}
        database.close()
        check(self.in_backup <= names, f"not in the backup: {self.in_backup - names}")


def test_killed_up(program, _places, folder):
    needs_file("it takes backups of the file, and looks into it")
    print(f"seed {SEED}, {LIVES} lives")
    rng = random.Random(SEED)
    test = Test(program, folder)
    test.in_backup = set()
    lives = 0
    while lives < LIVES or (lives < 3 * LIVES and min(test.cut[kind] for kind in KINDS) < POINTS):
        test.live(LIFE_S * (lives % LIVES + rng.random()) / LIVES)
        lives += 1
    up = test.start()
    try:
        test.look(up)
        for name in test.registering:  # as a whole or not at all
            status, answer = up.post("/login", {"username": name, "password": PASSWORD})
            check(status == 200 or name not in test.seen, f"{name}: {status} {answer}")
            if status == 401:
                status, answer = up.post("/register", {"username": name, "password": PASSWORD})
            check(status == 200, f"{name} is half there: {answer}")
        test.look_at_backup()
        up.stop()
    finally:
        up.kill()
    print(f"      {lives} lives, cut off: " + ", ".join(f"{kind} {test.cut[kind]}" for kind in KINDS)
          + f"; {len(test.structures)} pieces stored, {test.imported} imports")
    check(len(test.structures) > 0, "nothing was stored")
    check(all(test.cut[kind] >= POINTS for kind in KINDS), f"too seldom: {test.cut}")


# --- aimed ----------------------------------------------------------------------------------------

STRAYS = 4
CALLS = {"cleanup": "unlink,unlinkat,fdatasync,fsync", "promote": "pwrite64,fdatasync,fsync",
         "purge": "unlink,unlinkat,rename,renameat,renameat2,fdatasync,fsync"}
AIMED_MAX = int(os.environ.get("SANDLOT_AIMED", "7"))  # of one kind; there are at most 12


class Aimed(contextlib.AbstractContextManager):
    """The server dies at the n-th of these system calls from now on, before it is carried out."""

    def __init__(self, up, calls, number):
        self.process = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(up.process.pid), "-e", f"trace={calls}",
             "-e", f"inject={calls}:signal=SIGKILL:when={number}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: self.is_attached(up.process.pid), "strace is there")

    @staticmethod
    def is_attached(pid):
        def tracer(thread):
            with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as file:
                return re.search(r"TracerPid:\t(\d+)", file.read())[1] != "0"
        return all(tracer(thread) for thread in os.listdir(f"/proc/{pid}/task"))

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:  # it waits for a process that has died and is not taken away yet
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


class Shelf:
    """A place with two revisions, and blobs that nobody uses."""

    def __init__(self, program, places, folder):
        self.program, self.places, self.folder = program, places, folder
        self.up = Publisher(program, places, folder)
        self.up.begin("ann")
        self.place = self.up.publish("ann", package("One"), channel="live", visibility="listed")["place_id"]
        self.up.publish("ann", package("Two"), self.place)
        self.path = f"/api/places/{self.place}"

    def restart(self):
        self.up = Publisher(self.program, self.places, self.folder, tokens=self.up.tokens)

    def blob(self, name):
        return os.path.join(self.folder, "data", "blobs", name[:2], name[2:])

    def write_strays(self):
        names = [hashlib.sha256(os.urandom(8)).hexdigest() for _ in range(STRAYS)]
        for name in names:
            os.makedirs(os.path.dirname(self.blob(name)), exist_ok=True)
            with open(self.blob(name), "wb") as file:
                file.write(b"nobody's")
        return names

    def look(self):
        """Every row has its blob, wherever the server died, and live names a revision that is ready."""
        needs_file()
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/data/sandlot.db?mode=ro",
                                                uri=True)) as database:
            used = {row[0].hex() for row in database.execute("SELECT hash FROM blob_uses WHERE length(hash) = 32")}
            packages = {row[0] for row in database.execute("SELECT package_id FROM packages")}
            for table in ("revisions", "blob_uses", "draft_files", "draft_history", "listing"):
                of = {row[0] for row in database.execute(f"SELECT package_id FROM {table}")}
                check(of <= packages | {b"", None}, f"{table} has rows of what is gone: {of - packages}")
        lost = [name for name in used if not os.path.exists(self.blob(name))]
        check(not lost, f"blobs in use are gone: {lost}")
        page = self.up.good("GET", self.path, who="ann")
        ready = [row["revision_id"] for row in self.up.good("GET", f"{self.path}/revisions", who="ann")["revisions"]
                 if row["state"] == "ready"]
        check(page["live"] in ready and len(ready) == 2, (page["live"], ready))
        return page

    def die(self, kind, number, request):
        """True: the server died at that call. Else the request was answered."""
        with Aimed(self.up, CALLS[kind], number):
            try:
                request()
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)
        died = self.up.process.poll() is not None
        if died:
            self.up.kill()
            self.restart()
        return died


def test_killed_aimed(program, places, folder):
    """At each of the first system calls that change a file: of a collection, a promotion, and of deleting for
    good."""
    if shutil.which("strace") is None:
        print("strace is not there")
        sys.exit(77)
    shelf = Shelf(program, places, folder)
    counts = collections.Counter()
    try:
        for number in range(1, AIMED_MAX):
            strays = shelf.write_strays()
            died = shelf.die("cleanup", number, lambda: shelf.up.good("POST", "/admin/cleanup", who="boss"))
            shelf.look()
            shelf.up.good("POST", "/admin/cleanup", who="boss")
            check(not any(os.path.exists(shelf.blob(name)) for name in strays), "strays stay")
            if not died:
                break
            counts["cleanup"] += 1
        for number in range(1, AIMED_MAX):
            before = shelf.look()["live"]
            wanted = "r1" if before == "r2" else "r2"
            answered = []

            def promote():
                answered.append(shelf.up.good("POST", f"{shelf.path}/channels/live", {"revision_id": wanted}, "ann"))
            died = shelf.die("promote", number, promote)
            now = shelf.look()["live"]
            check(now == wanted if answered else now in (before, wanted), (before, wanted, now, answered))
            if not died:
                break
            counts["promote"] += 1
        for number in range(1, AIMED_MAX):
            made = shelf.up.publish("ann", package(f"Thrown away {number}"))["place_id"]
            shelf.up.good("POST", f"/api/places/{made}/draft", {}, "ann")
            shelf.up.good("DELETE", f"/api/places/{made}", who="ann")
            died = shelf.die("purge", number, lambda: shelf.up.good("DELETE", f"/api/places/{made}?purge=1", who="ann"))
            shelf.look()
            status, _ = shelf.up.ask("GET", f"/api/places/{made}", who="ann")
            check(status == 404 or died, "it is there")
            if status == 200:
                shelf.up.good("DELETE", f"/api/places/{made}?purge=1", who="ann")
            shelf.up.good("POST", "/admin/cleanup", who="boss")
            check(not os.path.exists(os.path.join(folder, "data", "drafts", made)), "its draft is there")
            if not died:
                break
            counts["purge"] += 1
        shelf.up.stop()
    finally:
        shelf.up.kill()
    print(f"      died at {dict(counts)}")
    check(counts["cleanup"] >= STRAYS and counts["promote"] >= 2 and counts["purge"] >= 3, counts)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

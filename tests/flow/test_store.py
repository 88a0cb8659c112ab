"""`sandlot store copy`: an installation moves from SQLite to PostgreSQL and back, and its worlds play on."""
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from support import PATIENCE, Player, World, check, run, wait_until  # noqa: E402
from test_accounts import People  # noqa: E402
from test_up import SECRET  # noqa: E402
import postgres  # noqa: E402


def copy(program, source, target, code=0, options=()):
    done = subprocess.run([program, "store", "copy", *options, source, target], capture_output=True, text=True,
                          timeout=60 * PATIENCE, check=False)
    check(done.returncode == code, f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def same(text):
    found = re.search(r"both are the same: (\d+) rows, hash ([0-9a-f]+); (\d+) written", text)
    check(found, text)
    return int(found[1]), found[2], int(found[3])


def visit(world, name):
    """Somebody comes in and goes."""
    player = Player(world, name=name, player_id=name)
    time.sleep(1.0)
    player.socket.close()


def test_store_copy(program, places, folder):
    """Copied while the world runs, once more when it has stopped, then it runs on the server; and back."""
    os.environ.pop("STORE", None)
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    place = os.path.join(places, "island")
    with postgres.Running() as server:
        world = World(program, place, first)
        room = world.room
        visit(world, "ann")
        text = copy(program, first, server.url(), code=1)
        check("Stop that server and run this again" in text, text)
        visit(world, "bo")
        world.stop()
        rows, seen, written = same(copy(program, first, server.url()))
        check(rows > 5 and 0 < written < rows + 5, f"{written} of {rows} rows written")
        check(same(copy(program, first, server.url())) == (rows, seen, 0), "nothing to do")
        # The same folder, so the same host and the same keys; its database is not used any more.
        older = os.path.join(folder, "older")
        os.mkdir(older)
        os.rename(os.path.join(first, "sandlot.db"), os.path.join(older, "sandlot.db"))
        moved = World(program, place, first, "--store", server.url())
        check(moved.room == room, "it is the same world")
        visit(moved, "cy")
        # The same line once more, from the shell's history: nothing of what runs is set back.
        counted = "SELECT host_id, boot FROM hosts; SELECT * FROM world_leases;"
        before = server.ask(counted)
        text = copy(program, older, server.url(), code=1)
        check("hosts run on the target" in text and "Stop them first" in text, text)
        check(server.ask(counted) == before, "rows of the host were set back")
        text = copy(program, server.url(), os.path.join(folder, "early"), code=1)
        check("hosts run on the source. Stop all of them" in text, text)
        moved.stop()  # and takes its row along
        names = server.ask("SELECT encode(name, 'escape') FROM presence_players ORDER BY 1;").split()
        check(len(names) == 3, f"everybody who was there: {names}")
        # And back, into a new folder; a copy that is stopped goes on where it was.
        stopped = subprocess.Popen([program, "store", "copy", server.url(), second],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.2)
        stopped.send_signal(signal.SIGKILL)
        stopped.wait()
        more, _, _ = same(copy(program, server.url(), second))
        check(more >= rows, f"{more} rows, {rows} before")
        back = World(program, place, second)
        wait_until(lambda: back.room == room, "the same world again")
        back.stop()


def test_store_copy_settings(program, places, folder):
    """What an operator changed on one machine holds on all of them, when there are several."""
    del places
    os.environ.pop("STORE", None)
    homes = [os.path.join(folder, name) for name in ("a", "b")]
    secret = {"SANDLOT_SECRET_KEY": SECRET}
    for home in homes:
        os.makedirs(os.path.join(home, "data"))
    with postgres.Running() as server:
        alone = People(program, homes[0], variables=secret)
        boss = alone.operator()
        status, answer = alone.post("/admin/settings", {"chat": "off", "approve_listing": "yes"}, boss, "PUT")
        check(status == 200, answer)
        alone.stop()
        same(copy(program, os.path.join(homes[0], "data"), server.url()))
        hosts = [People(program, home, "--store", server.url(), variables=secret) for home in homes]
        for host in hosts:
            status, answer = host.post("/admin/settings", None, boss, "GET")
            check(status == 200 and (answer["registration"], answer["chat"], answer["approve_listing"])
                  == ("open", "off", "yes"), f"port {host.port}: {answer}")
            host.stop()
        hosts = [People(program, homes[0], "--store", server.url(), variables=secret)]
        hosts[0].post("/admin/settings", {"registration": "open"}, boss, "PUT")
        hosts[0].register("dora")
        hosts[0].stop()
        valid = "SELECT count(*) FROM hosts WHERE expires_unix_ms > extract(epoch FROM now()) * 1000;"
        check(server.ask(valid).strip() == "0", "a host that has ended counts")
        # Nobody runs there now. What was made there since is not deleted unless somebody says so.
        count = "SELECT count(*) FROM accounts;"
        before = server.ask(count)
        text = copy(program, os.path.join(homes[0], "data"), server.url(), code=1)
        check("hosts have run on the target" in text and "--overwrite" in text, text)
        check(server.ask(count) == before, "accounts were deleted")
        same(copy(program, os.path.join(homes[0], "data"), server.url(), options=["--overwrite"]))
        check(server.ask(count) != before, "it is as the source")


def test_store_copy_killed(program, places, folder):
    """A copy that is killed in the middle of a large table goes on there, in both directions."""
    del places
    os.environ.pop("STORE", None)
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    os.mkdir(first)
    rows = 12000
    with postgres.Running() as server:
        copy(program, server.url(), first)  # makes the tables
        with contextlib.closing(sqlite3.connect(os.path.join(first, "sandlot.db"))) as database:
            database.executemany("INSERT INTO audit VALUES(?, 1, 1, x'61', x'62', 3)",
                                 ((number,) for number in range(1000000, 1000000 + rows)))
            database.commit()

        def on_server():
            return int(server.ask("SELECT count(*) FROM audit;"))

        def in_file():
            if not os.path.exists(os.path.join(second, "sandlot.db")):
                return 0
            with contextlib.closing(sqlite3.connect(f"file:{second}/sandlot.db?mode=ro", uri=True)) as database:
                return database.execute("SELECT count(*) FROM audit").fetchone()[0]

        for source, target, count in ((first, server.url(), on_server), (server.url(), second, in_file)):
            stopped = subprocess.Popen([program, "store", "copy", source, target],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda: count() >= 1000 or stopped.poll() is not None, "it has begun")  # pylint: disable=W0640
            stopped.kill()
            stopped.wait()
            there = count()
            check(there >= 1000, "what was written is lost")
            found, _, written = same(copy(program, source, target))
            # The server began with a row of its own.
            check(found >= rows and written <= found - there + 2, f"{written} of {found} written, {there} were there")
        check(same(copy(program, first, second))[2] == 0, "it came back as it was")


def test_store_copy_refuses(program, places, folder):
    """Wrong arguments, a target in use, a server that is not there."""
    del places
    done = subprocess.run([program, "store", "copy", folder], capture_output=True, text=True,
                          timeout=20 * PATIENCE, check=False)
    check(done.returncode == 2 and "FROM and TO" in done.stderr, done.stderr)
    text = copy(program, os.path.join(folder, "nothing"), os.path.join(folder, "other"), code=1)
    check("there is no database" in text, text)
    text = copy(program, "postgres://x@%2Fnobody%2Fis%2Fhere/x", os.path.join(folder, "other"), code=1)
    check("cannot be opened" in text, text)
    for url in ("postgres://x:S3cret@%2Fnobody/x", "postgres://x@%2Fnobody/x?password=S3cret",
                "postgres://x@%2Fnobody/x?p%61ssword=S3cret"):
        for ends in ((url, folder), (folder, url)):
            text = copy(program, *ends, code=2)
            check("must not have a password" in text and "S3cret" not in text, text)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Backup and restore: while bots build, with kill -9 at many points of both, and play on the restored copy.

SANDLOT_BACKUP_KILLS says how often each is killed; SANDLOT_SEED repeats a run.
"""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time

from bots import Bots, write_meadow
from hosts import Host
from support import check, needs_file, run, wait_until
from test_up import Up

SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
KILLS = int(os.environ.get("SANDLOT_BACKUP_KILLS", "12"))
BUILDERS = 4
LARGE_MB = 12  # of blobs, so that there is something to be killed in


def sandlot(program, *arguments, code=0, env=None):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, check=False, env=env)
    check(done.returncode == code,
          f"sandlot {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def manifest_of(backup):
    """Its first lines by their first word, and the hashes by name; every file is compared with them."""
    with tarfile.open(backup) as tar:
        names = tar.getnames()
        check(names[0] == "sandlot.db" and names[-1] == "manifest.txt", f"the order: {names}")
        lines = tar.extractfile("manifest.txt").read().decode().splitlines()
        hashes = {line[66:]: line[:64] for line in lines if not line.startswith("#")}
        check(list(hashes) == names[:-1], f"a line for each file: {lines}")
        for member in tar.getmembers()[:-1]:
            check(member.mode == 0o600 and member.isfile(), f"{member.name}")
            content = tar.extractfile(member).read()
            check(hashlib.sha256(content).hexdigest() == hashes[member.name], member.name)
    return dict(line[2:].split(" ", 1) for line in lines if line.startswith("#")), hashes


def durable(ledger):
    """What the bots were told is stored: structures by number, and those that were removed."""
    with open(ledger, encoding="ascii") as file:
        lines = [line.split() for line in file.read().splitlines()]
    return ({int(line[1]) for line in lines if line[0] == "structure"},
            {int(line[1]) for line in lines if line[0] == "gone-structure"})


def structures_in(data):
    database = sqlite3.connect(f"file:{data}/sandlot.db?mode=ro", uri=True)
    found = {row[0] for row in database.execute("SELECT net_id FROM structures")}
    epochs = {row[0].decode(): row[1] for row in
              database.execute("SELECT world_id, epoch FROM world_head WHERE length(world_id) > 0")}
    database.close()
    return found, epochs


def test_backup_while_bots_build(program, places, folder):
    """Everything that was called stored before the backup began is in the copy, and one can play on it."""
    needs_file()
    print(f"seed {SEED}")
    place, data, other = write_meadow(folder, 32), folder + "/data", folder + "/other"
    backup, ledger = folder + "/backup.tar", folder + "/ledger"
    host = Host(program, [place], data)
    bots = None
    try:
        world = host.join()["world_id"]
        first = Bots(program, host.port, BUILDERS, 5, "build", "--world", world, "--ledger", ledger,
                     "--seed", str(SEED)).result(90)
        before, gone_before = durable(ledger)
        check(before, f"they built: {first}")  # and took some away again
        bots = Bots(program, host.port, BUILDERS, 86400, "build", "--world", world, "--ledger",
                    ledger + ".during", "--seed", str(SEED + 1))
        wait_until(lambda: structures_in(data)[0] - before, "others build", 30)
        wait_until(lambda: host.sum("sandlot_world_players") == BUILDERS, "all of them are in", 30)
        sandlot(program, "backup", "--data", data, backup)
        after = structures_in(data)[0]
        facts, _ = manifest_of(backup)
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", facts["time"]), f"{facts}")
        check(os.stat(backup).st_mode & 0o7777 == 0o600, "it is its owner's alone")
        wait_until(lambda: structures_in(data)[0] - after, "they go on building", 30)
        check(host.metric("sandlot_saves_lost_total") == 0, "the host lost no save")
        check(host.metric("sandlot_world_crashes_total") == 0, "the world ran on")
        check("a sandlot is running" in sandlot(program, "restore", backup, "--data", data, code=1),
              "the folder is used")
        # The world goes on to another epoch, which the restored one must not meet.
        for pid in host.children():
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: structures_in(data)[1][world] > 1, "another epoch", 30)
        wait_until(lambda: host.sum("sandlot_world_players") == BUILDERS, "they are back", 30)
        time.sleep(1)  # and say so themselves
        bots.stop()
        bots.result(90)
        host.stop()
        check("not empty" in sandlot(program, "restore", backup, "--data", data, code=1), "not empty")

        text = sandlot(program, "restore", backup, "--data", other)
        check(f"start it:    sandlot up --data {other};" in text, text)
        check(facts["time"] in text, text)
        stored, epochs = structures_in(other)
        gone = gone_before | durable(ledger + ".during")[1]
        check(before - gone <= stored, f"lost: {before - gone - stored}")
        check(not gone_before & stored, f"back again: {gone_before & stored}")
        check(epochs[world] > structures_in(data)[1][world] + 1000, f"the epoch rises: {epochs}")
        check_play(program, place, other, world, before - gone, folder)
    finally:
        host.kill()
        if bots:
            bots.kill()


def check_play(program, place, data, world, expected, folder):
    """New bots see what was there and build more."""
    host = Host(program, [place], data)
    try:
        check(world in host.worlds(), "the world is known")
        ledger = folder + "/ledger.expected"
        with open(folder + "/ledger", encoding="ascii") as file:
            lines = [line for line in file if line.split()[0] == "structure" and
                     int(line.split()[1]) in expected]
        with open(ledger, "w", encoding="ascii") as file:
            file.writelines(lines)
        found = Bots(program, host.port, 4, 3, "stand", "--world", world, "--check", ledger).result(90)
        check(found["durable_checked"] > 0 and found["durable_lost"] == 0, f"{found}")
        built = Bots(program, host.port, 2, 4, "build", "--world", world, "--ledger",
                     folder + "/ledger.new").result(90)
        check(built["durable"] > 0, f"they build on: {built}")
        host.stop()
    finally:
        host.kill()


def sign_in(up):
    status, _, body = up.request("POST", "/login", {"username": "bo"})
    check(status == 200, f"/login says {status}: {body}")
    return json.loads(body)["session_token"]


def join_status(up, token):
    return up.ask_join(token=token)[0]


def test_restore_ends_sign_ins(program, places, folder):
    """Of the time of the backup, because some were ended since, and of the time after it."""
    needs_file()
    data, other, backup = folder + "/data", folder + "/other", folder + "/b.tar"
    key = {"SECRET_KEY": "k" * 48}
    up = Up(program, folder, "--data", data, variables=key)
    try:
        before = sign_in(up)
        check(join_status(up, before) == 200, "it is good")
        sandlot(program, "backup", "--data", data, backup)
        after = sign_in(up)
        check(join_status(up, before) == 200 == join_status(up, after), "nobody is disturbed")
        up.stop()
        sandlot(program, "restore", backup, "--data", other)
        up = Up(program, folder, "--data", other, variables=key)
        check(join_status(up, before) == 401 == join_status(up, after), "signed in no more")
        check(join_status(up, sign_in(up)) == 200, "and again")
        up.stop()
    finally:
        up.kill()


# --- kill -9 ---------------------------------------------------------------------------------------


def make_data(program, places, folder):
    """A data folder that a world has used, with blobs in it."""
    data = folder + "/data"
    host = Host(program, [os.path.join(places, "island")], data)
    host.join()
    host.stop()
    rng = random.Random(SEED)
    for _ in range(LARGE_MB):
        content = rng.randbytes(1 << 20)
        name = hashlib.sha256(content).hexdigest()
        os.makedirs(f"{data}/blobs/{name[:2]}", exist_ok=True)
        with open(f"{data}/blobs/{name[:2]}/{name[2:]}", "wb") as file:
            file.write(content)
    return data


def kill_after(seconds, arguments):
    """True if it was killed before its end."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait() == -signal.SIGKILL


def tree(folder):
    """Every file that a restore brings, with its hash; the database is changed by it."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("sandlot.db") and not name.endswith(".lock"):
                with open(os.path.join(path, name), "rb") as file:
                    found[os.path.relpath(os.path.join(path, name), folder)] = \
                        hashlib.sha256(file.read()).hexdigest()
    return found


def timed(arguments):
    begin = time.monotonic()
    sandlot(*arguments)
    return time.monotonic() - begin


def test_backup_killed(program, places, folder):
    """At any moment: the file that was there before, or a whole new one."""
    needs_file()
    data, backup = make_data(program, places, folder), folder + "/b.tar"
    rng, killed = random.Random(SEED), 0
    print(f"seed {SEED}")
    took = timed((program, "backup", "--data", data, backup))
    for number in range(KILLS):
        with open(data + "/host.note", "w", encoding="ascii") as file:
            file.write(f"{number}")
        killed += kill_after(took * rng.random(), [program, "backup", "--data", data, backup])
        facts, hashes = manifest_of(backup)
        check(facts["schema"].isdigit() and len(hashes) >= LARGE_MB + 3, f"whole: {facts}")
    check(killed > KILLS // 4, f"{killed} of {KILLS} were killed before their end")
    sandlot(program, "backup", "--data", data, backup)
    left = [name for name in os.listdir(folder) if ".part" in name]
    check(not left, f"the next one removes what is left: {left}")
    _, hashes = manifest_of(backup)
    check(hashes["host.note"] == hashlib.sha256(f"{KILLS - 1}".encode()).hexdigest(), "the last one")


def test_restore_killed(program, places, folder):
    """At any moment: no folder, or a whole one."""
    needs_file()
    data, backup, other = make_data(program, places, folder), folder + "/b.tar", folder + "/other"
    rng, killed, whole = random.Random(SEED), 0, 0
    print(f"seed {SEED}")
    sandlot(program, "backup", "--data", data, backup)
    took = timed((program, "restore", backup, "--data", other))
    expected = tree(other)
    check({"host.id", "ticket.key"} <= set(expected) and len(expected) >= LARGE_MB + 2, f"{expected}")
    shutil.rmtree(other)
    for number in range(KILLS):
        if number % 2:
            os.mkdir(other)  # an empty one is replaced as a whole, too
        killed += kill_after(took * rng.random() * 1.1,
                             [program, "restore", backup, "--data", other])
        if os.path.exists(other) and os.listdir(other):
            whole += 1
            check(tree(other) == expected, "whole")
            check(max(structures_in(other)[1].values()) > 1 << 32, "with a new life")
        shutil.rmtree(other, ignore_errors=True)
    print(f"      {killed} of {KILLS} killed, {whole} whole")
    check(killed > KILLS // 4, f"{killed} of {KILLS} were killed before their end")
    sandlot(program, "restore", backup, "--data", other)
    check(tree(other) == expected and not os.path.exists(other + ".restoring"), "nothing is left")
    host = Host(program, [os.path.join(places, "island")], other)
    host.join()
    host.stop()


# What schema 4 had; everything else came later.
OLD_SCHEMA, OLD_TABLES = 4, (
    "worlds", "world_head", "world_meta", "structures", "chunks", "attributes", "player_checkpoints",
    "presence_players", "character_profiles", "active_character_profiles", "resume_sessions", "datastore",
    "datastore_use", "datastore_versions", "blobs", "hosts", "world_leases", "world_players")


def make_old(path):
    """A database as a program of schema 4 left it, and large enough that copying it takes a moment."""
    database = sqlite3.connect(path)
    for name, kind in database.execute("SELECT name, type FROM sqlite_schema WHERE type = 'table'").fetchall():
        if name not in OLD_TABLES:
            database.execute(f"DROP {kind} {name}")
    database.execute("CREATE TABLE filler(bytes BLOB)")
    database.executemany("INSERT INTO filler VALUES(randomblob(?))", [(1 << 20,)] * 24)
    database.execute(f"PRAGMA user_version = {OLD_SCHEMA}")
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def check_whole(path):
    """The schema of a database that SQLite finds nothing wrong with."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = (database.execute("PRAGMA integrity_check").fetchone()[0],
             database.execute("SELECT count(*) FROM filler").fetchone()[0])
    schema = database.execute("PRAGMA user_version").fetchone()[0]
    database.close()
    check(found == ("ok", 24), f"{path}: {found}")
    return schema


def test_migration_killed(program, places, folder):
    """At any moment: the old database, or the new one with a whole copy of the old one beside it."""
    needs_file()
    place, data, old = os.path.join(places, "island"), folder + "/data", folder + "/old.db"
    rng, schemas = random.Random(SEED), []
    print(f"seed {SEED}")
    host = Host(program, [place], data)
    world = host.join()["world_id"]
    host.stop()
    path, copy = data + "/sandlot.db", f"{data}/sandlot.db.v{OLD_SCHEMA}"
    shutil.copy(path, old)
    make_old(old)
    command = [program, "host", place, "--data", data, "--port", "0", "--allow-weak-jail"]
    for _ in range(KILLS):
        for name in os.listdir(data):
            if name.startswith("sandlot.db"):
                os.remove(os.path.join(data, name))
        shutil.copy(old, path)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(copy + ".new") or os.path.exists(copy), "it copies", 20)
        time.sleep(rng.uniform(0, 0.6))
        process.kill()
        process.wait()
        schemas.append(check_whole(path))
        check(schemas[-1] == OLD_SCHEMA or os.path.exists(copy), "migrated without a copy")
        check(not os.path.exists(copy) or check_whole(copy) == OLD_SCHEMA, "the copy is whole")
    print(f"      schemas after the kills: {schemas}")
    host = Host(program, [place], data)
    check(world in host.worlds(), "what was stored is there")
    host.stop()
    check(check_whole(copy) == OLD_SCHEMA and check_whole(path) > OLD_SCHEMA, "migrated, with a copy")
    check(not os.path.exists(copy + ".new"), "nothing is left")


# --- what is refused, and words --------------------------------------------------------------------


def test_backup_words(program, places, folder):
    needs_file()
    data, backup = make_data(program, places, folder), folder + "/b.tar"
    text = sandlot(program, "backup", "--data", folder + "/none", backup, code=1)
    check("there is no sandlot.db in it; --data names the folder" in text, text)
    check(not os.path.exists(folder + "/none"), "nothing is made")
    text = sandlot(program, "backup", "--data", data, data + "/b.tar", code=1)
    check("inside the data folder" in text, text)
    check("no file given" in sandlot(program, "backup", code=2), "no file")
    check("did you mean --data" in sandlot(program, "restore", "--dat", "x", code=2), "--dat")
    env = dict(os.environ, SANDLOT_DATA=data)
    sandlot(program, "backup", backup, env=env)
    with open(folder + "/text", "w", encoding="ascii") as file:
        file.write("no backup\n" * 1000)
    text = sandlot(program, "restore", folder + "/text", "--data", folder + "/o", code=1)
    check("this is no backup of sandlot" in text, text)
    text = sandlot(program, "restore", folder + "/missing", "--data", folder + "/o", code=1)
    check("No such file" in text, text)
    check_deletions(program, backup, folder)
    with open(backup, "r+b") as file:
        file.seek(2000)
        byte = file.read(1)
        file.seek(2000)
        file.write(bytes([byte[0] ^ 1]))
    text = sandlot(program, "restore", backup, "--data", folder + "/o", code=1)
    check("sandlot.db is not what was backed up; use another backup" in text, text)
    check(not os.path.exists(folder + "/o") and not os.path.exists(folder + "/o.restoring"), "nothing")


def check_deletions(program, backup, folder):
    """A list that cannot be read stops the restore, before anything appears."""
    log, other = folder + "/deletions.log", folder + "/o"
    for text, code, words in ((None, 1, "deletions.log"), ("<html>\n", 1, "this is no list of deletions"),
                              ("", 0, "deleted 0 accounts again")):
        if text is not None:
            with open(log, "w", encoding="ascii") as file:
                file.write(text)
        said = sandlot(program, "restore", backup, "--data", other, "--deletions", log, code=code)
        check(words in said and os.path.exists(other) == (code == 0), said)
    shutil.rmtree(other)


def test_upgrade_rebuilds_places(program, places, folder):
    """After an upgrade the cache may be of another program, or gone: places are built again. A database of
    a later program is refused with what to do."""
    needs_file()
    data, place = folder + "/data", folder + "/island"
    shutil.copytree(os.path.join(places, "island"), place, ignore=shutil.ignore_patterns(".sandlot"))
    host = Host(program, [place], data)
    world = host.join()["world_id"]
    host.stop()
    for change in ("garbage", "gone"):
        for path, _, names in os.walk(data + "/cache"):
            for name in names:
                if change == "gone":
                    os.remove(os.path.join(path, name))
                else:
                    with open(os.path.join(path, name), "wb") as file:
                        file.write(b"of another program")
        host = Host(program, [place], data)
        check(host.join(world_id=world)["world_id"] == world, f"cache {change}: the world starts")
        wait_until(lambda: host.worlds()[world]["state"] == "running", "it runs", 20)
        host.stop()
    database = sqlite3.connect(data + "/sandlot.db")
    database.execute("PRAGMA user_version = 999")
    database.close()
    done = subprocess.run([program, "host", place, "--data", data, "--port", "0", "--allow-weak-jail"],
                          capture_output=True, text=True, timeout=100, check=False)
    check(done.returncode == 1 and "a later version of sandlot wrote this database (schema 999" in
          done.stderr and "Start that version again" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

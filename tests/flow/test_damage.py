"""A damaged data folder: the program rejects it, says what to do, and changes no byte; or the damage
does not matter, and all data is there. If the log is cut off, only the last saves are lost. (The
store's own test damages many more files; this one tests the whole program.)
"""

import os
import random
import shutil
import sqlite3
import subprocess
import sys

from support import Failure, Player, World, check, needs_file, run, wait_until
from test_world import build_something, end_of, structures

SEED = 20240
TRIES = 16


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def start(program, place, data):
    """A world; or None and what the program says, the second time it is tried."""
    try:
        return World(program, place, data), ""
    except Failure as failure:
        check(str(failure).startswith("it ended"), f"{failure}")
    code, text = end_of(program, "world", "--place", place, "--port", "0", "--data", data,
                        "--allow-weak-jail")
    check(code == 1, f"exit code {code}: {text}")
    return None, text


def built(program, place, data, count):
    """A world in which so many pieces were built, one after the other; still running."""
    world = World(program, place, data)
    player = Player(world, player_id="bo")
    player.walk(0.3, move_z=0)
    return world, [build_something(player) for _ in range(count)]


def seen(world):
    player = Player(world, player_id="eye")
    player.listen(0.7)
    return structures(player)


def damage(rng, data):
    at = rng.randrange(len(data))
    page = at // 4096 * 4096
    kind = rng.randrange(4)
    if kind == 0:  # torn: the second half of a page was never written
        return data[:page + 2048] + bytes(2048) + data[page + 4096:], f"page {page // 4096} torn"
    if kind == 1:
        return data[:page + 1], f"cut off after {page + 1} bytes"
    if kind == 2:
        return data[:page] + bytes(rng.randbytes(4096)) + data[page + 4096:], f"noise at {page}"
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:], f"a bit at {at}"


def test_damaged_database(program, places, folder):
    needs_file()
    place, data = os.path.join(places, "island"), os.path.join(folder, "data")
    world, pieces = built(program, place, data, 3)
    try:
        world.stop()
    finally:
        world.kill()
    path = os.path.join(data, "sandlot.db")
    whole, rng, refused = read(path), random.Random(SEED), 0
    for _ in range(TRIES):
        shutil.rmtree(data + "2", ignore_errors=True)
        shutil.copytree(data, data + "2")
        path = os.path.join(data + "2", "sandlot.db")
        harmed, what = damage(rng, whole)
        write(path, harmed)
        world, text = start(program, place, data + "2")
        if world is None:
            refused += 1
            check("sandlot.db: " in text and "Nothing was changed" in text and
                  "Put back a copy" in text, f"{what}: {text}")
            check(read(path) == harmed, f"{what}: the file was changed")
        else:
            try:
                check(set(pieces) <= seen(world), f"{what}: silent damage")
                world.stop()
            finally:
                world.kill()
    check(TRIES > refused > TRIES // 4, f"{refused} of {TRIES} were refused")


def test_no_database(program, places, folder):
    needs_file()
    place, data = os.path.join(places, "island"), os.path.join(folder, "data")
    os.mkdir(data, 0o700)
    path = os.path.join(data, "sandlot.db")
    write(path, b"This is a shopping list, not a database.\n" * 300)
    world, text = start(program, place, data)
    check(world is None and "not a database" in text and "Put back a copy" in text, text)
    check(read(path).startswith(b"This is a shopping list"), "it is left alone")


def test_empty_database(program, places, folder):
    """A file of no bytes is damage, not a new world; no file at all is a new one."""
    needs_file()
    place, data = os.path.join(places, "island"), os.path.join(folder, "data")
    world, pieces = built(program, place, data, 1)
    world.stop()
    path = os.path.join(data, "sandlot.db")
    write(path, b"")
    world, text = start(program, place, data)
    check(world is None and "the file is empty" in text and "Nothing was changed" in text and
          "Put back a copy" in text, text)
    check(read(path) == b"", "it is left alone")
    os.remove(path)
    world, text = start(program, place, data)
    check(world is not None, text)
    try:
        check(not set(pieces) & seen(world), "a new world")
        world.stop()
    finally:
        world.kill()


def test_damage_beside_a_log(program, places, folder):
    """Refused while there is a log: that stays too, since it may hold what the file lost."""
    needs_file()
    place, data = os.path.join(places, "island"), os.path.join(folder, "data")
    built(program, place, data, 2)[0].stop()
    world, _ = built(program, place, data, 1)
    world.kill()
    path, log = (os.path.join(data, name) for name in ("sandlot.db", "sandlot.db-wal"))
    harmed = bytearray(read(path))
    for page in range(4096, len(harmed), 4096):  # also those of which the log has no copy
        harmed[page:page + 8] = b"\xff" * 8
    before = read(log)
    check(before, "a log")
    for harmed in (harmed, b"", b"S"):
        write(path, harmed)
        world, text = start(program, place, data)
        check(world is None and "damaged" in text, text)
        check(read(path) == harmed and read(log) == before, "both are left alone")
    os.remove(path)
    world, text = start(program, place, data)
    check(world is None and "the file is gone" in text, text)
    check(not os.path.exists(path) and read(log) == before, "the log is left alone")


def test_cut_log(program, places, folder):
    """What a killed host leaves is a log; cut anywhere it is the world of some moment."""
    needs_file()
    place, data = os.path.join(places, "island"), os.path.join(folder, "data")
    world, pieces = built(program, place, data, 4)
    world.kill()
    log = read(os.path.join(data, "sandlot.db-wal"))
    check(len(log) > 20000, f"a log of {len(log)} bytes")
    rng, counts = random.Random(SEED), set()
    for cut in [0, len(log)] + sorted(rng.randrange(len(log)) for _ in range(4)):
        for flip in (False, True) if 0 < cut < len(log) else (False,):
            shutil.rmtree(data + "2", ignore_errors=True)
            shutil.copytree(data, data + "2")
            shm = os.path.join(data + "2", "sandlot.db-shm")
            if os.path.exists(shm):
                os.remove(shm)  # as after a power cut
            torn = log[:cut]
            if flip:  # the rest is there, but a bit of it is wrong
                torn = log[:cut] + bytes([log[cut] ^ 4]) + log[cut + 1:]
            write(os.path.join(data + "2", "sandlot.db-wal"), torn)
            world, text = start(program, place, data + "2")
            check(world is not None, f"cut at {cut}: {text}")
            try:
                there = seen(world)
                count = sum(piece in there for piece in pieces)
                check(there & set(pieces) == set(pieces[:count]), f"cut at {cut}: {there}")
                counts.add(count)
                told = any("commits lost: " in line for line in world.lines)
                check(told or not flip, f"a bit at {cut}: nothing is said of it")
                check(flip or not told, f"cut at {cut}: a log that ends is whole")
                world.stop()
            finally:
                world.kill()
    check(0 in counts and 4 in counts, f"{counts}")


READER = """local store = DataStore.GetDataStore("s")
task.spawn(function()
    for n = 1, 1000 do
        local ok, why = pcall(function() return store:GetAsync("k\\n1") end)
        print(ok and "read" or "not read: " .. tostring(why))
        if ok then
            store:SetAsync("k\\n1", "a value")
        end
        task.wait(0.2)
    end
end)
"""


def test_a_damaged_value_is_named(program, places, folder):
    """It is found when it is read: the script gets an error, and the log names the key, once."""
    needs_file()
    data, place = os.path.join(folder, "data"), os.path.join(folder, "island")
    shutil.copytree(os.path.join(places, "island"), place,
                    ignore=shutil.ignore_patterns(".sandlot"))
    os.makedirs(os.path.join(place, "ServerScriptService"), exist_ok=True)
    write(os.path.join(place, "ServerScriptService", "Reader.lua"), READER.encode())
    world = World(program, place, data)
    try:
        wait_until(lambda: sum("Reader" in line and ": read" in line for line in world.lines) > 2,
                   "it is read", 20)
        world.stop()
        database = sqlite3.connect(os.path.join(data, "sandlot.db"))
        found = database.execute("UPDATE datastore SET value = zeroblob(length(value)) "
                                 "WHERE length(key) > 0").rowcount
        database.commit()
        database.close()
        check(found == 1, f"{found} rows")
        world = World(program, place, data)
        wait_until(lambda: sum("not read: " in line for line in world.lines) > 3, "an error", 20)
        named = [line for line in world.lines if " store: what is stored there is damaged" in line]
        check(len(named) == 1 and '(store "s", key "k 1")' in named[0], f"{named}")
        world.stop()
    finally:
        world.kill()


def test_what_a_damaged_schema_says_is_cleaned(program, places, folder):
    needs_file()
    place, data = os.path.join(places, "island"), os.path.join(folder, "data")
    world = World(program, place, data)
    world.stop()
    database = sqlite3.connect(os.path.join(data, "sandlot.db"))
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_schema SET name = CAST(x'1b5b33316dff' AS TEXT), sql = 'x' "
                     "WHERE name = 'datastore'")
    database.commit()
    database.close()
    ended = subprocess.run([program, "world", "--place", place, "--port", "0", "--data", data,
                            "--allow-weak-jail"], capture_output=True, timeout=60, check=False)
    check(ended.returncode == 1 and b"sandlot.db: " in ended.stderr, f"{ended}")
    check(b"?[31m" in ended.stderr, f"{ended.stderr}")
    check(b"\x1b" not in ended.stderr and b"\xff" not in ended.stderr, f"{ended.stderr}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""A full disk while the program runs: saves wait, play continues, and when there is space again
everything is stored, without a restart.

The data folder is a small file system in memory, mounted in a private namespace. If the system does
not allow that, the test says so and is skipped.
"""

import ctypes
import errno
import json
import os
import re
import shutil
import signal
import sys
import time

from support import PATIENCE, Player, Skip, World, check, needs_file, run, wait_until
from test_world import build_something, distance, end_of, structures

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_REMOUNT, MS_REC, MS_PRIVATE = 0x1, 0x20, 0x4000, 0x40000
FULL_SECONDS = 12  # longer than a lease lasts


def small_disk(folder, megabytes):
    """Mounts one at the folder, for this process and its children; False where that is forbidden."""
    needs_file("what is stored is on the database server's disk")
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user != 0 else 0)) != 0:
        return False
    if user != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"),
                           ("gid_map", f"0 {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    os.makedirs(folder, exist_ok=True)
    return (libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0 and
            libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0,
                       f"size={megabytes}m,mode=700".encode()) == 0)


def fill(path):
    """Writes until not a byte is left."""
    with open(path, "wb", buffering=0) as file:
        for piece in (1 << 16, 4096, 1):
            try:
                while True:
                    file.write(bytes(piece))
            except OSError as error:
                check(error.errno == errno.ENOSPC, f"{error}")


def place_piece(player, near):
    """Builds a piece in the air over another; the number of the command."""
    x, y, z = (int(number // 1) for number in near)
    for dx, dz in ((2, 2), (-2, 2), (2, -2), (-2, -2), (5, 0), (-5, 0), (0, 5), (0, -5)):
        for dy in (0, -1, 1, -2, 2):
            seq = player.say("build", "place", {"piece": 0, "cell": [x + dx, y + dy, z + dz]})
            while True:
                message = player.hear()
                payload = message.get("payload", {})
                if message["kind"] == "ack" and payload["commandSeq"] == seq:
                    return seq, payload["entityId"]
                if message["kind"] == "error" and payload.get("commandSeq") == seq:
                    break
    raise AssertionError("nowhere to build")


def is_durable(player, seq):
    return any(event["action"] == "durable" and event["payload"]["commandSeq"] == seq
               for event in player.events)


def test_full_disk(program, places, folder):
    data = os.path.join(folder, "data")
    if not small_disk(data, 24):
        raise Skip("no file system can be mounted here")
    place = os.path.join(places, "island")
    world = World(program, place, data)
    again = None
    try:
        player = Player(world, player_id="bo")
        player.walk(0.3, move_z=0)
        first = build_something(player)
        fill(os.path.join(data, "filler"))
        seq, second = place_piece(player, player.position())

        # Nothing is durable, the log and the numbers say why, and play goes on.
        begin, snapshots, ends = time.monotonic(), len(player.snapshots), []
        enough = snapshots + 15 * FULL_SECONDS
        while time.monotonic() - begin < \
                FULL_SECONDS * (1 if len(player.snapshots) > enough else PATIENCE):
            before = player.position()
            player.walk(1.0, move_z=127 if len(ends) % 2 == 0 else -127)
            ends.append(distance(before, player.position()))
        check(not is_durable(player, seq), "nothing is durable on a full disk")
        check(len(player.snapshots) > enough, f"{len(player.snapshots) - snapshots} snapshots")
        check(sum(ends) > 10, f"it walks: {ends}")
        world.wait_line(r"warn  .*the disk accepts no writes", 1)
        check(world.metric("sandlot_store_disk_refuses") == 1, "the metric")
        check(world.is_ready(), "the world runs")
        third = Player(world, name="late", player_id="late")  # one may even come in
        third.walk(0.3)

        os.remove(os.path.join(data, "filler"))
        wait_until(lambda: player.listen(0.1) or is_durable(player, seq), "durable", 10)
        world.wait_line(r"info  .*the disk accepts writes again", 5)
        wait_until(lambda: world.metric("sandlot_store_disk_refuses") == 0, "the metric", 5)
        check(world.metric("sandlot_world_crashes_total") == 0, "without a restart")
        fourth = build_something(third)
        world.kill()

        # And it is: everything that was called durable is there for the next program.
        again = World(program, place, data)
        player = Player(again, player_id="bo")
        player.listen(1.0)
        check({first, second, fourth} <= structures(player), f"{structures(player)}")
        again.stop()
    finally:
        world.kill()
        if again is not None:
            again.kill()


def leave_free(folder, path, percent):
    """Fills the disk up to that share."""
    about = os.statvfs(folder)
    count = about.f_bfree * about.f_frsize - about.f_blocks * about.f_frsize * percent // 100
    with open(path, "wb") as file:
        file.write(bytes(count))


def test_uploads_stop_on_a_disk_that_is_nearly_full(program, places, folder):
    """With less than 5 % free a script cannot be saved, and the world goes on storing."""
    data, place = os.path.join(folder, "data"), os.path.join(folder, "island")
    if not small_disk(data, 100):
        raise Skip("no file system can be mounted here")
    shutil.copytree(os.path.join(places, "island"), place, ignore=shutil.ignore_patterns(".sandlot"))
    world = World(program, place, data)
    save = {"id": "island/Workspace/New.lua", "code": "print(1)\n", "knownHash": None}
    filler = os.path.join(data, "filler")
    try:
        leave_free(data, filler, 8)
        check(world.request("POST", "/api/script/save", save)[0] == 200, "8 % are enough")
        os.remove(filler)
        leave_free(data, filler, 4)
        status, _, body = world.request("POST", "/api/script/save", dict(save, id="island/Workspace/B.lua"))
        check(status == 507 and json.loads(body)["error"]["code"] == "disk_low", f"{status}: {body}")
        check(not os.path.exists(place + "/Workspace/B.lua"), "nothing was written")
        player = Player(world, player_id="bo")
        player.walk(0.3, move_z=0)
        build_something(player)  # waits until it is durable
        free = os.statvfs(data).f_bfree * os.statvfs(data).f_frsize
        check(abs(world.metric("sandlot_disk_free_bytes") - free) < 4 << 20, "the metric")
        check(world.metric("sandlot_store_disk_refuses") == 0, "worlds are not touched")
        os.remove(filler)
        check(world.request("POST", "/api/script/save", dict(save, id="island/Workspace/B.lua"))[0] == 200,
              "room again")
        world.stop()
    finally:
        world.kill()


UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
           "Sec-WebSocket-Protocol": "sandlot.v2.json"}


def refusal(world, method, path, **rest):
    """The error's code and the header Retry-After of a 503; None for any other answer."""
    status, headers, body = world.request(method, path, **rest)
    return (json.loads(body)["error"]["code"], headers.get("Retry-After")) if status == 503 else None


def test_world_killed_on_a_full_disk(program, places, folder):
    """No world can start then. Whoever comes is told so at once, and it starts by itself later."""
    data = os.path.join(folder, "data")
    if not small_disk(data, 24):
        raise Skip("no file system can be mounted here")
    world = World(program, os.path.join(places, "island"), data)
    socket_path = f"/api/rooms/{world.room}/ws"
    try:
        Player(world, player_id="bo").walk(0.3, move_z=0)
        fill(os.path.join(data, "filler"))
        os.kill(world.children()[0], signal.SIGKILL)
        wait_until(lambda: refusal(world, "POST", "/join", body={"name": "bo"}), "a refusal", 15)
        for _ in range(3):
            check(refusal(world, "POST", "/join", body={"name": "bo"}) == ("disk_full", "5"),
                  "/join")
            check(refusal(world, "GET", socket_path, headers=UPGRADE) == ("disk_full", "5"),
                  "the socket")
            check(refusal(world, "GET", "/readyz") == ("disk_full", "5"), "/readyz")
            time.sleep(1)
        world.wait_line(r"error .*the world cannot be taken: the disk is full", 10)
        check(not any("in the way" in line for line in world.lines), "\n".join(world.lines))
        check(world.request("GET", "/healthz")[0] == 200, "the host itself is well")
        os.remove(os.path.join(data, "filler"))
        wait_until(world.is_ready, "the world is back", 15)
        player = Player(world, ticket=world.join(name="bo")["ticket"])
        player.walk(0.3)
        build_something(player)
        world.stop()
    finally:
        world.kill()


def test_start_without_a_disk(program, places, folder):
    """The message names the reason, whichever file is the first that cannot be written."""
    data = os.path.join(folder, "data")
    if not small_disk(data, 3):
        raise Skip("no file system can be mounted here")
    begin = (program, "world", "--place", os.path.join(places, "island"), "--port", "0", "--data",
             data, "--allow-weak-jail")
    filler = os.path.join(data, "filler")
    fill(filler)  # before there is anything, and when there is everything
    code, text = end_of(*begin)
    check(code == 1 and "the disk is full" in text, f"{code}: {text}")
    os.remove(filler)
    World(program, begin[3], data).stop()
    fill(filler)
    code, text = end_of(*begin)
    check(code == 1 and "the disk is full" in text, f"{code}: {text}")
    os.remove(filler)
    libc = ctypes.CDLL(None, use_errno=True)
    check(libc.mount(None, data.encode(), None, MS_REMOUNT | MS_RDONLY, None) == 0, "remount")
    code, text = end_of(*begin)
    check(code == 1 and "the disk is read-only" in text, f"{code}: {text}")


KEEPER = """local store = DataStore.GetDataStore("s")
task.spawn(function()
    for n = 1, 1000 do
        local ok, why = pcall(function() store:SetAsync("k", n) end)
        print(ok and "stored" or "not stored: " .. tostring(why))
        task.wait(0.5)
    end
end)
"""


def test_scripts_and_the_end_on_a_full_disk(program, places, folder):
    """A script is told why its value is not stored, and a program that loses something says so by
    its exit code, in the time that it has."""
    data, place = os.path.join(folder, "data"), os.path.join(folder, "island")
    if not small_disk(data, 24):
        raise Skip("no file system can be mounted here")
    shutil.copytree(os.path.join(places, "island"), place,
                    ignore=shutil.ignore_patterns(".sandlot"))
    os.makedirs(os.path.join(place, "ServerScriptService"), exist_ok=True)
    with open(os.path.join(place, "ServerScriptService", "Keeper.lua"), "w",
              encoding="utf-8") as file:
        file.write(KEEPER)
    world = World(program, place, data)
    try:
        player = Player(world, player_id="bo")
        player.walk(0.3, move_z=0)
        world.wait_line(r"Keeper.*: stored", 10)
        fill(os.path.join(data, "filler"))
        world.wait_line(r"not stored: .*nothing was stored on the server: the disk is full", 10)
        place_piece(player, player.position())
        player.walk(1.5)
        world.process.send_signal(signal.SIGTERM)
        code = world.process.wait(5 * PATIENCE)
        world.reader.join(2)
        check(code == 1, f"exit code {code}:\n" + "\n".join(world.lines[-20:]))
        check(any(re.search(r"error host: lost, because not on disk: saves [1-9].*; the disk is full",
                            line) for line in world.lines), "\n".join(world.lines[-20:]))
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

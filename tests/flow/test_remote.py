"""`sandlot world --world ID --control-plane URL`: a world on another machine, here as two processes. Players
join at the control plane and play at the host; what was confirmed as stored is there whichever of the two is
killed; a host that is cut off or whose key is revoked stops, and one that lies changes nothing.

SANDLOT_REMOTE_KILLS makes the test of kills longer; SANDLOT_SEED repeats a run.
"""

import json
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from bots import Bots, write_meadow
from hosts import Host, leave
from support import PATIENCE, Closed, Failure, Player, World, check, run, wait_until
from test_kill import check_database

KILLS = int(os.environ.get("SANDLOT_REMOTE_KILLS", "5"))
SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
BUILDERS = 4
WORLD = "world_abc123"
OK, EXISTS, BLOCKED, DENIED = 0, 7, 8, 9  # core/base/status.h
RENEW, TAKE, RELEASE, SAVE, REQUEST = 1, 2, 3, 4, 5


class ControlPlane(Host):
    """`sandlot up` with one place."""

    def __init__(self, program, place, data, port=0):
        self.lines = []
        self.process = subprocess.Popen(
            [program, "up", "--data", data, "--places", os.path.dirname(place), "--default-place",
             os.path.basename(place), "--port", str(port), "--allow-weak-jail", "--guest-chat", "free"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("SANDLOT_")})
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.port = int(self.wait_line(r"http://127\.0\.0\.1:(\d+)", 60)[1])
        wait_until(self.is_ready, "the control plane is ready", 30)

    def ask(self, method, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        status, _, answer = self.request(method, path, body, headers)
        return status, json.loads(answer) if answer else None

    def key(self, name="second machine"):
        status, answer = self.ask("POST", "/admin/host-keys", {"name": name})
        check(status == 200, f"no key: {status} {answer}")
        return answer

    def login(self, name="bo"):
        status, answer = self.ask("POST", "/login", {"username": name})
        check(status == 200, f"no sign-in: {status} {answer}")
        return answer["session_token"]

    def join_world(self, world=WORLD, token=None):
        status, answer = self.ask("POST", "/join", {"world_id": world}, token or self.login())
        check(status == 200, f"/join says {status}: {answer}")
        return answer


class Remote(World):
    """A host of a control plane."""

    def __init__(self, program, url, key, *options, world=WORLD, port=0):
        self.lines = []
        self.process = subprocess.Popen(
            [program, "world", "--world", world, "--port", str(port), "--control-plane", url,
             "--allow-weak-jail", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "SANDLOT_HOST_KEY": key})
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        found = self.wait_line(r"join +ws://127\.0\.0\.1:(\d+)/api/rooms/([A-Z0-9]+)/ws")
        self.port, self.room = int(found[1]), found[2]
        wait_until(self.is_ready, "the world is ready", 30)

    def ends(self, seconds=20):
        """It ends by itself; its exit code."""
        try:
            return self.process.wait(seconds * 4)
        except subprocess.TimeoutExpired:
            raise Failure("it runs on:\n" + "\n".join(self.lines[-20:])) from None


class Room:
    """Looks like a world to a Player."""

    def __init__(self, host, answer):
        self.port, self.room = host.port, answer["room_code"]


class Line:
    """The network between a host and its control plane; it can be cut without anybody being told."""

    def __init__(self, port):
        self.to, self.is_cut = port, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        try:
            while True:
                near = self.listener.accept()[0]
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()
        except OSError:
            pass

    def _carry(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.to))
            while True:
                ready = select.select([near, far], [], [], 0.05)[0]
                for end in ready if not self.is_cut else []:
                    data = end.recv(65536)
                    if not data:
                        near.close()
                        far.close()
                        return
                    (far if end is near else near).sendall(data)
                if self.is_cut:
                    time.sleep(0.05)
        except (OSError, ValueError):
            near.close()


def kill_all(*processes):
    for process in processes:
        if process is not None:
            process.kill()


def again(make):
    """The port may still be held for a moment by the one that was killed."""
    for attempt in range(20):
        try:
            return make()
        except Exception:
            if attempt == 19:
                raise
            time.sleep(0.25)
    return None


def port_of(answer):
    return int(re.match(r"ws://127\.0\.0\.1:(\d+)/api/rooms/", answer["server_address"])[1])


def test_remote_play(program, places, folder):
    plane = remote = bots = None
    ledger = folder + "/ledger"
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        remote = Remote(program, f"http://127.0.0.1:{plane.port}", plane.key()["key"])
        answer = plane.join_world()
        check(port_of(answer) == remote.port, f"players are led to the host: {answer}")
        check(answer["room_code"] == remote.room, f"by its room: {answer}")
        player = Player(remote, ticket=answer["ticket"])
        player.walk(1)
        check(player.position() is not None, "the player sees itself")
        # The listing counts who is led there, and shows the players that the host reports.
        page = f"/api/places/{answer['place_id']}"
        def counted():
            place = json.loads(plane.request("GET", page)[2])
            return place.get("players") == 1 and place["visits"] == 1
        wait_until(counted, "the player is counted", 20 * PATIENCE)
        # A ticket is good once, and only there.
        for world in (remote, plane):
            world.room = answer["room_code"]
            try:
                Player(world, ticket=answer["ticket"])
                raise Failure("a used ticket is let in")
            except (Closed, Failure) as error:
                check("is let in" not in str(error), str(error))
        # The host lets nobody in by itself.
        for path in ("/join", "/login", "/admin/host-keys", "/api/hosts/register"):
            status, _, body = remote.request("POST", path, {})
            check(status in (403, 404), f"{path} at the host says {status}: {body}")
        bots = Bots(program, plane.port, BUILDERS, 8, "build", "--world", WORLD, "--ledger", ledger)
        result = bots.result(90)
        check(result["durable"] > 5, f"something was stored: {result}")
        player.close()
        check(check_database(folder + "/data", ledger, WORLD) > 0, "at the control plane")
        remote.stop()
        # It has given the world back: the control plane runs it, with all that was built.
        answer = plane.join_world()
        check(port_of(answer) == plane.port, f"it runs at the control plane: {answer}")
        leave(Player(Room(plane, answer), ticket=answer["ticket"]))
        # And goes to a host again once nobody is in it.
        remote = Remote(program, f"http://127.0.0.1:{plane.port}", plane.key()["key"])
        check(port_of(plane.join_world()) == remote.port, "back at a host")
        bots = Bots(program, plane.port, 4, 3, "stand", "--world", WORLD, "--check", ledger)
        result = bots.result(90)
        check(result["durable_checked"] > 3 and result["durable_lost"] == 0, f"nothing is lost: {result}")
        remote.stop()
        plane.stop()
    finally:
        kill_all(bots, remote, plane)


def test_remote_kills(program, places, folder):
    """Either of them dies at random moments while bots build."""
    print(f"seed {SEED}, {KILLS} kills")
    rng = random.Random(SEED)
    place, data, ledger = write_meadow(folder + "/places"), folder + "/data", folder + "/ledger"
    plane = remote = bots = None
    try:
        plane = ControlPlane(program, place, data)
        port, key = plane.port, plane.key()["key"]
        remote = Remote(program, f"http://127.0.0.1:{port}", key)
        remote_port = remote.port
        bots = Bots(program, port, BUILDERS, 86400, "build", "--world", WORLD, "--ledger", ledger,
                    "--seed", str(SEED))
        time.sleep(4)
        for number in range(KILLS):
            time.sleep(rng.uniform(0.5, 3))
            check(bots.runs(), "the bots play on")
            check(remote.process.poll() is None, "the host runs:\n" + "\n".join(remote.lines[-20:]))
            if number % 2 == 0:
                plane.kill()
                time.sleep(rng.uniform(0, 2))
                plane = again(lambda: ControlPlane(program, place, data, port))
            else:
                remote.kill()
                remote = again(lambda: Remote(program, f"http://127.0.0.1:{port}", key,
                                              port=remote_port))
        wait_until(lambda: remote.metric("sandlot_world_sessions") == BUILDERS, "every builder is back", 60)
        time.sleep(2)
        check(remote.metric("sandlot_saves_lost_total") == 0, "no save is lost")
        bots.stop()
        result = bots.result(60)
        check(result["durable"] > 10, f"something was stored: {result}")
        print(f"      {result['durable']} stored")
        plane.kill()
        check(check_database(data, ledger, WORLD) > 0, "something stands")
        remote.kill()
        plane = again(lambda: ControlPlane(program, place, data, port))
        remote = again(lambda: Remote(program, f"http://127.0.0.1:{port}", key, port=remote_port))
        found = Bots(program, port, 4, 3, "stand", "--world", WORLD, "--check", ledger).result(90)
        check(found["durable_checked"] > 3 and found["durable_lost"] == 0, f"nothing is lost: {found}")
        remote.stop()
        plane.stop()
    finally:
        kill_all(bots, remote, plane)


def test_remote_cut(program, places, folder):
    """The network is away for longer than the lease: the host's world stops, and another may run it."""
    plane = remote = None
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        line, key = Line(plane.port), plane.key()["key"]
        remote = Remote(program, f"http://127.0.0.1:{line.port}", key, "--lease", "5")
        answer = plane.join_world()
        check(port_of(answer) == remote.port, f"it runs at the host: {answer}")
        # For a moment: nothing happens.
        line.is_cut = True
        time.sleep(1.5)
        line.is_cut = False
        time.sleep(3)
        check(remote.is_ready(), "a short cut does no harm:\n" + "\n".join(remote.lines[-9:]))
        line.is_cut = True
        check(remote.ends() == 1, "it ends as failed")
        check(any("lease" in text for text in remote.lines), "and says why: " + str(remote.lines[-9:]))

        def runs_here():
            status, here = plane.ask("POST", "/join", {"world_id": WORLD}, plane.login())
            return status == 200 and port_of(here) == plane.port and here
        answer = wait_until(runs_here, "the control plane has taken the world", 15)
        player = Player(Room(plane, answer), ticket=answer["ticket"])
        player.walk(0.5)
        player.close()
        plane.stop()
    finally:
        kill_all(remote, plane)


def test_remote_key_revoked(program, places, folder):
    plane = remote = None
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        first, other = plane.key("first"), plane.key("other")
        remote = Remote(program, f"http://127.0.0.1:{plane.port}", first["key"])
        status, keys = plane.ask("GET", "/admin/host-keys")
        check(status == 200 and {key["name"] for key in keys["host_keys"]} == {"first", "other"},
              f"both are listed: {keys}")
        check(first["key"] not in json.dumps(keys), "without their secrets")
        check(plane.ask("DELETE", "/admin/host-keys/0123456789abcdef")[0] == 404, "no such key")
        check(plane.ask("DELETE", f"/admin/host-keys/{first['id']}")[0] == 200, "it is revoked")
        check(remote.ends() == 1, "its world ends")
        check(any("revoked" in text for text in remote.lines), f"and it says why: {remote.lines[-9:]}")
        check(port_of(plane.join_world()) == plane.port, "the world can be taken at once")
        again_ = subprocess.run(
            [program, "world", "--world", WORLD, "--port", "0", "--control-plane",
             f"http://127.0.0.1:{plane.port}"], env={**os.environ, "SANDLOT_HOST_KEY": first["key"]},
            capture_output=True, text=True, timeout=60, check=False)
        check(again_.returncode == 1 and "not valid" in again_.stderr, f"refused: {again_}")
        plane.kill()
        plane = again(lambda: ControlPlane(program, folder + "/places/meadow", folder + "/data"))
        status, keys = plane.ask("GET", "/admin/host-keys")
        check([key["name"] for key in keys["host_keys"]] == ["other"], f"for ever: {keys}")
        check(other["id"] == keys["host_keys"][0]["id"], "and the other is kept")
        plane.stop()
    finally:
        kill_all(remote, plane)


def test_remote_a_place_that_is_not_open(program, places, folder):
    """A host gets the place of its world though nobody plays it at the control plane, and goes on when
    the control plane was restarted and has not opened it."""
    plane = remote = None
    try:
        place = write_meadow(folder + "/places")
        shutil.copytree(place, folder + "/places/pond", ignore=shutil.ignore_patterns(".sandlot"))
        plane = ControlPlane(program, place, folder + "/data")
        port, key = plane.port, plane.key()["key"]
        remote = Remote(program, f"http://127.0.0.1:{port}", key, "--place-id", "place_pond",
                        "--lease", "60")
        check(any("place_pond: revision 1 is open" in text for text in plane.lines), plane.lines)
        check(port_of(plane.join_world()) == remote.port, "players are led there")
        plane.kill()
        plane = again(lambda: ControlPlane(program, place, folder + "/data", port))
        wait_until(lambda: any("place_pond: revision 1 is open" in text for text in plane.lines),
                   "its batches open the place", 60)
        wait_until(lambda: port_of(plane.join_world()) == remote.port, "players are led there again", 60)
        check(remote.process.poll() is None, remote.lines)
        status, _ = plane.ask("GET", "/api/hosts/place/place_pond?hash=" + 64 * "0", token=key)
        check(status == 404, f"{status}: another form")
        plane.stop()
    finally:
        kill_all(remote, plane)


def of_world(rows, world=WORLD):
    return next((row for row in rows if row["world_id"] == world), None)


def heard(player, words, seconds=60):
    """The player was told something with these words."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if words in json.dumps(player.hear(end - time.monotonic())):
                return True
        except (Closed, TimeoutError):
            break
    return False


def test_remote_operated(program, places, folder):
    """What operators do reaches people who play on another machine, also over a restart of the control plane."""
    plane = remote = None
    place = write_meadow(folder + "/places")
    try:
        plane = ControlPlane(program, place, folder + "/data")
        port = plane.port
        line = Line(port)
        remote = Remote(program, f"http://127.0.0.1:{line.port}", plane.key()["key"], "--lease", "30")

        def enter(name):
            token = plane.login(name)
            answer = plane.join_world(token=token)
            check(port_of(answer) == remote.port, f"at the host: {answer}")
            return Player(remote, name, ticket=answer["ticket"]), answer["client_id"], token

        ann, ann_id, ann_token = enter("ann")
        bo, bo_id, _ = enter("bo")
        # It is seen as any other world, and marked as what its host says.
        row = wait_until(lambda: (lambda one: one if one and one["players"] == 2 else None)(
            of_world(plane.ask("GET", "/admin/servers")[1]["servers"])), "both are counted", 20)
        check(row["state"] == "running" and row["reported_by"] and row["memory_bytes"] > 1 << 20
              and row["pid"] == 0 and row["tick"] > 0, row)
        room = plane.ask("GET", f"/api/rooms/{WORLD}")[1]
        check(room["players"] == 2 and room["ready"] and room["state"] == "running"
              and room["isReported"], room)
        listed = [one for one in plane.ask("GET", "/worlds")[1]["worlds"] if one["worldId"] == WORLD]
        check(listed == [room], listed)
        session = next(one for one in plane.ask("GET", "/admin/sessions")[1]["sessions"]
                       if one["account"] == ann_id)
        check(session["world_id"] == WORLD and session["is_reported"], session)
        # Announcing, muting, kicking.
        check(plane.ask("POST", "/admin/announce", {"text": "Tea at five."}) == (200, {"worlds": 1}), "told")
        check(heard(ann, "Tea at five.") and heard(bo, "Tea at five."), "both hear it, once")
        check(plane.ask("POST", "/admin/mute", {"account": ann_id, "reason": "too loud"})[0] == 200, "mute")
        time.sleep(2.5)
        ann.say("chat", "say", {"text": "hello"})
        check(heard(ann, "too loud"), "she is muted, and told why")
        check(plane.ask("DELETE", f"/admin/mute?account={ann_id}")[0] == 200, "unmute")
        time.sleep(2.5)
        ann.say("chat", "say", {"text": "hello again"})
        check(heard(bo, "hello again"), "she may chat again")
        check(plane.ask("POST", "/admin/kick", {"account": ann_id, "reason": "go to bed"})
              == (200, {"worlds": 1}), "told")
        check(heard(ann, "go to bed"), "she is removed")
        ann, _, _ = enter("ann2")
        # Somebody is banned while they play there.
        check(plane.ask("POST", "/admin/ban", {"account": bo_id, "reason": "rude"})[0] == 200, "ban")
        check(heard(bo, "rude"), "their play ends")
        # A ban that the host could not be told of before the control plane died.
        dan, dan_id, _ = enter("dan")
        line.is_cut = True
        check(plane.ask("POST", "/admin/ban", {"account": dan_id, "reason": "ruder"})[0] == 200, "ban")
        plane.kill()
        plane = again(lambda: ControlPlane(program, place, folder + "/data", port))
        line.is_cut = False
        check(heard(dan, "ruder", 30), "the control plane looks again after a restart")
        # Draining reaches the host: it is not ready, and its world goes on.
        check(plane.ask("POST", "/admin/drain")[0] == 200, "drain")
        wait_until(lambda: remote.request("GET", "/readyz")[0] == 503, "the host drains")
        ann.walk(0.5)
        status, answer = plane.ask("POST", "/api/hosts/register", {"world_id": "w", "boot": "0" * 32},
                                   plane.key()["key"])
        check((status, answer["error"]["code"]) == (503, "draining"), answer)
        check(plane.ask("DELETE", "/admin/drain")[0] == 200, "drain no more")
        wait_until(remote.is_ready, "the host is ready again")
        # Stopping: it is saved and given back, and the next join starts it at the control plane.
        status, answer = plane.ask("DELETE", f"/admin/servers/{WORLD}")
        check((status, answer) == (200, {"world_id": WORLD, "state": "stopping"}), answer)
        row = of_world(plane.ask("GET", "/admin/servers")[1]["servers"])
        check(row is None or row["state"] == "stopping", f"the list does not know yet: {row}")
        check(heard(ann, "an operator stopped this world"), "she is told")
        check(remote.ends() == 0, "the host ends, and all is well:\n" + "\n".join(remote.lines[-9:]))
        wait_until(lambda: of_world(plane.ask("GET", "/admin/servers")[1]["servers"]) is None, "it is gone", 5)
        check(plane.ask("DELETE", f"/admin/servers/{WORLD}")[0] == 409, "it does not run")
        check(not plane.ask("GET", f"/api/rooms/{WORLD}")[1]["isReported"], "nobody speaks of it")
        check(port_of(plane.join_world()) == plane.port, "the control plane runs it")
        plane.stop()
    finally:
        kill_all(remote, plane)


# --- a host that lies ---------------------------------------------------------------------------


def block(data):
    return struct.pack("<I", len(data)) + data


def renew(address=b"ws://127.0.0.1:1"):
    return bytes([RENEW, 0]) + struct.pack("<I", 20000) + block(address)


def save(epoch, seq, rows=b""):
    return bytes([SAVE]) + struct.pack("<QQ", epoch, seq) + block(rows)


def increment(epoch):
    return (bytes([REQUEST]) + struct.pack("<Q", epoch) + bytes([2, 0, 0, 0]) + struct.pack("<d", 1) +
            block(b"coins") + block(b"bo") + block(b""))


class Liar:
    """A host that was written by somebody else."""

    def __init__(self, plane, key, world):
        self.plane, self.key, self.world, self.number = plane, key, world, 0
        self.boot, self.revision = os.urandom(16), b"\0" * 32

    def register(self):
        status, answer = self.plane.ask(
            "POST", "/api/hosts/register", {"world_id": self.world, "boot": self.boot.hex()}, self.key)
        check(status == 200, f"it registers: {status} {answer}")
        self.revision = bytes.fromhex(answer["revision"])
        return answer

    def body(self, jobs, again_=False, world=None):
        return (bytes([1, again_]) + struct.pack("<Q", self.number) + self.boot +
                block((world or self.world).encode()) + self.revision + bytes([len(jobs)]) +
                b"".join(jobs))

    def send(self, body, key=None, length=None):
        link = socket.create_connection(("127.0.0.1", self.plane.port), timeout=40)
        link.sendall(b"POST /api/hosts/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                     b"Authorization: Bearer " + (key or self.key).encode() +
                     b"\r\nContent-Length: " + str(length or len(body)).encode() + b"\r\n\r\n" + body)
        data = b""
        while more := link.recv(65536):
            data += more
        link.close()
        head, rest = data.split(b"\r\n\r\n", 1)
        return int(head.split()[1]), rest

    def ask(self, *jobs, again_=False, world=None):
        """(type, status, epoch, bytes, rows) of each job."""
        self.number += not again_
        status, reply = self.send(self.body(jobs, again_, world))
        check(status == 200, f"the batch is answered: {status} {reply[:200]}")
        check(reply[0] == 1 and struct.unpack("<Q", reply[1:9])[0] == self.number, "with its number")
        count, at, answers = reply[18], 19, []
        for _ in range(count):
            kind, code, epoch = reply[at], reply[at + 1], reply[at + 4]
            at, pieces = at + 5, []
            for _ in range(2):
                length = struct.unpack("<I", reply[at:at + 4])[0]
                pieces.append(reply[at + 4:at + 4 + length])
                at += 4 + length
            answers.append((kind, code, epoch, *pieces))
        check(at == len(reply), "and nothing else")
        return answers

    def codes(self, *jobs, **how):
        return [answer[1] for answer in self.ask(*jobs, **how)]

    def report(self, done=0, **change):
        """Status and answer."""
        body = {"world_id": self.world, "boot": self.boot.hex(), "done": done, "state": "running",
                "players": 1, "tick": 5, "late_p99_us": 1, "work_max_us": 1, "memory_bytes": 1,
                "uptime_seconds": 1, "crashes": 0, "accounts": [], **change}
        return self.plane.ask("POST", "/api/hosts/report", body, self.key)


def check_reports(plane, liar, own):
    """Of two worlds one is the liar's own. It is told what to do until it says that it was done."""
    status, answer = liar.report(players=77)
    check((status, answer["error"]["code"]) == (409, "not_held"), f"it speaks of another's: {answer}")
    check(plane.ask("GET", f"/api/rooms/{WORLD}")[1]["players"] != 77, "and is not believed")
    status, answer = own.report()
    check(status == 200 and answer["again"] and answer["orders"] == [], f"its own: {answer}")
    for wrong in ({"players": 4001}, {"players": -1}, {"players": "1"}, {"state": "fine"}, {"boot": "0"},
                  {"accounts": ["user_1"] * 257}, {"accounts": [5]}, {"accounts": ["user_xyz"]},
                  {"done": 1 << 60}, {"tick": 0.5}, {"world_id": "x" * 65}, {"odd": 1}):
        status, answer = own.report(**wrong)
        check(status == 400, f"{wrong} is no report: {status} {answer}")
    check(plane.ask("GET", f"/api/rooms/{own.world}")[1]["players"] == 1, "it is shown as said")
    # Bans of accounts that it names, and orders; each until its number was reported as done.
    bad = plane.ask("POST", "/login", {"username": "bad"})[1]["client_id"]
    check(plane.ask("POST", "/admin/ban", {"account": bad, "reason": "rude"})[0] == 200, "ban")
    orders = wait_until(lambda: own.report()[1]["orders"], "the ban is told")
    check([one["order"] for one in orders] == ["kick"] and "rude" in orders[0]["text"], orders)
    check(own.report()[1]["orders"] == orders, "until it is done")
    check(own.report(done=orders[0]["number"])[1]["orders"] == [], "and no longer")
    at = orders[0]["number"]
    orders = own.report(done=at, accounts=[bad, "user_7fffffff"])[1]["orders"]
    check([(one["order"], one["number"]) for one in orders] == [("kick", at + 1), ("rules", at + 2)], orders)
    check((orders[1]["chat"], orders[1]["blocks"], orders[1]["until_unix_ms"]) == ("free", "", 0), orders)
    at += 1
    check(own.report(done=at - 1, accounts=[bad])[1]["orders"] == orders, "they wait already")
    check([one["order"] for one in own.report(done=at)[1]["orders"]] == ["rules"], "one is done")
    orders = own.report(done=at, accounts=[bad])[1]["orders"]
    check([one["order"] for one in orders] == ["rules", "kick"], "whom it lets in again is looked up again")
    check(own.report(done=orders[0]["number"])[1]["orders"] == orders[1:], "one is left")
    at = orders[0]["number"]
    check(plane.ask("POST", "/admin/announce", {"text": "hi", "world_id": own.world})
          == (200, {"worlds": 1}), "told")
    orders = own.report(done=at)[1]["orders"]
    check([one["order"] for one in orders] == ["kick", "announce"], orders)
    # Too many wait: whoever orders is told, and nothing grows.
    statuses = [plane.ask("POST", "/admin/announce", {"text": "hi", "world_id": own.world})[0]
                for _ in range(64)]
    check(statuses == [200] * 63 + [503], statuses)
    status, answer = own.report(done=at)
    check(len(answer["orders"]) == 16, "some at a time")
    check(own.report(done=answer["orders"][-1]["number"])[1]["orders"][0]["number"]
          == answer["orders"][-1]["number"] + 1, "in their order")
    # A number that was never given, and another life of the process.
    check(own.report(done=at + 10000)[1]["orders"] == [], "it claims to have done everything")
    check(plane.ask("POST", "/admin/announce", {"text": "hi", "world_id": own.world})[0] == 200, "told")
    check(own.report(done=at + 10000)[1]["orders"][0]["number"] == at + 10001, "and is told the next")
    boot, own.boot = own.boot, os.urandom(16)
    check(own.report()[0] == 409, "another process does not hold it")
    own.boot = boot


def test_remote_lies(program, places, folder):
    plane = remote = None
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        remote = Remote(program, f"http://127.0.0.1:{plane.port}", plane.key()["key"])
        key = plane.key("liar")["key"]
        # Another host's world: it gets nothing of it, and changes nothing.
        liar = Liar(plane, key, WORLD)
        liar.register()
        check(liar.codes(renew()) == [OK], "it is a host")
        answer = liar.ask(bytes([TAKE]))[0]
        check(answer[1] == EXISTS and answer[4] == b"", f"it does not get the world: {answer}")
        for epoch in (1, 2):
            codes = liar.codes(save(epoch, 1), save(epoch, 2), increment(epoch),
                               bytes([RELEASE]) + struct.pack("<Q", epoch))
            check(codes == [DENIED] * 4, f"it writes nothing: {codes}")
        check(liar.codes(save(1, 1), again_=False) == [DENIED], "not even what is stored already")
        check(remote.is_ready(), "and the world runs on")
        # Its own world: what is asked twice is done once.
        own = Liar(plane, key, "world_own")
        own.register()
        taken = own.ask(renew(), bytes([TAKE]))[1]
        check(taken[1] == OK and taken[2] == 1 and b'"signature"' in taken[3], f"it gets its own: {taken}")
        first = own.ask(increment(1), save(1, 1))
        check([job[1] for job in first] == [OK, OK], f"and writes it: {first}")
        check(own.ask(increment(1), save(1, 1), again_=True) == first, "the same answer once more")
        second = own.ask(increment(1))[0]
        check(second[3] != first[0][3], "two were counted")
        check(own.codes(save(1, 1)) == [DENIED], "a number is used once")
        check(own.codes(save(1, 3)) == [DENIED], "and none is left out")
        own.number += 1  # a batch that the control plane does not know
        codes = own.codes(increment(1), save(1, 1), again_=True)
        check(codes == [BLOCKED, OK], f"nothing is counted twice, a save is known: {codes}")
        check(own.ask(increment(1))[0][3] != second[3], "counting goes on")
        check_reports(plane, liar, own)
        # An old epoch, and a place that is not the control plane's.
        check(own.codes(renew(), bytes([TAKE]))[1] == OK, "the next epoch")
        check(own.codes(save(1, 2), increment(1)) == [DENIED, DENIED], "the old one is over")
        check(own.codes(save(2, 1)) == [OK], "the new one is not")
        own.revision = b"\1" * 32
        codes = own.codes(renew(), bytes([TAKE]), save(2, 2))
        check(codes[0] == DENIED and codes[1] != OK and codes[2] == OK, f"another place: {codes}")
        # What is no batch, and who is no host.
        good = own.body([renew()])
        for body in (b"", b"\0", good[:-1], good + b"\0", b"\2" + good[1:], os.urandom(500)):
            check(own.send(body)[0] == 400, f"no batch: {body[:30]}")
        check(own.send(good, length=(8 << 20) + 1)[0] == 413, "too large")
        token = plane.login()
        for wrong in ("", "x", token):
            check(own.send(good, wrong or " ")[0] == 401, "no host key")
        check(plane.ask("POST", "/join", {}, key)[0] == 401, "a host key is no sign-in")
        for body in ({}, {"world_id": "w"}, {"world_id": "w", "boot": "zz"}, {"world_id": 5},
                     {"world_id": "../x", "boot": "0" * 32}, {"world_id": "x" * 65, "boot": "0" * 32}):
            status = plane.ask("POST", "/api/hosts/register", body, key)[0]
            check(status == 400, f"{body} is no registration: {status}")
        status = plane.ask("POST", "/api/hosts/register",
                           {"world_id": "w", "boot": "0" * 32, "place_id": "none"}, key)[0]
        check(status == 404, f"no such place: {status}")
        check(remote.is_ready() and plane.is_ready(), "nobody is disturbed")
        remote.stop()
        plane.stop()
    finally:
        kill_all(remote, plane)


if __name__ == "__main__":
    sys.exit(run(globals(), sys.argv))

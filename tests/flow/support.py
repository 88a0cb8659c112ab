"""Helpers of the flow tests: the real program as a process, a small WebSocket client, and a player that
uses the JSON protocol. They use only Python's standard library, and no code of the server.

A test file is a program: `test_world.py PROGRAM PLACES [TEST]`. Tests are its functions test_*; each
gets a fresh folder.
"""

import atexit
import base64
import fcntl
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback


# The times in these tests are for a machine with nothing else to do. What must happen is awaited this
# many times longer, so that a busy one passes too; nobody waits longer than until it has happened.
PATIENCE = 4
SKIPPED = 77  # the exit code that says so to CTest


class Failure(Exception):
    pass


class Skip(Exception):
    """This machine cannot run the test; CTest lists it among those that did not run."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def wait_until(condition, what, seconds=15.0):
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise Failure(f"not within {seconds * PATIENCE} s: {what}")


class Database:
    """With STORE=postgres in the environment, what a data folder would hold is on a PostgreSQL server
    that starts with the first test and ends with the last: a schema for each data folder."""

    server = None
    folders = {}
    lock = threading.Lock()  # some tests start programs on several threads

    @classmethod
    def url(cls, folder):
        """None: SQLite, in the data folder."""
        if os.environ.get("STORE") != "postgres":
            return None
        with cls.lock:
            return cls._url(folder)

    @classmethod
    def _url(cls, folder):
        if cls.server is None:
            sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
            import postgres  # pylint: disable=import-outside-toplevel
            running = postgres.Running()
            cls.server = running.__enter__()
            atexit.register(running.__exit__)
        folder = os.path.realpath(folder)
        if folder not in cls.folders:
            cls.folders[folder] = f"folder{len(cls.folders)}"
            cls.server.ask(f"CREATE SCHEMA {cls.folders[folder]};")
        return f"{cls.server.url()}?options=-csearch_path%3D{cls.folders[folder]}"

    @classmethod
    def options(cls, folder):
        url = cls.url(folder)
        return ["--store", url] if url else []


def needs_file(why="it is about SQLite's file"):
    """Of a test that looks into the database file, or is not about a database that others use too."""
    if os.environ.get("STORE") == "postgres":
        raise Skip(why)


def blob_folder(data):
    """Where the files of blobs are: the blobs themselves, or copies of what is on the server."""
    return os.path.join(data, "blobs" if os.environ.get("STORE") != "postgres" else "blob-cache")


def prepared_data(program, name, data, begin):
    """Makes `data` the data folder of a server that has started once and stopped: its places are built
    and packed, which would take most of the time of a test that is about something else. The first
    test of this program that asks for `name` makes the folder (begin(folder) starts the server); all
    others get copies. It is kept beside the program. Nothing is done on PostgreSQL, or if there is a
    data folder already."""
    if os.environ.get("STORE") == "postgres" or os.path.exists(data):
        return
    home = os.path.join(os.path.dirname(os.path.abspath(program)), "flow_data")
    os.makedirs(home, mode=0o700, exist_ok=True)
    made = os.path.join(home, f"{name}-{os.stat(program).st_mtime_ns}")
    with open(os.path.join(home, f"{name}.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(made):
            for older in os.listdir(home):
                if re.fullmatch(re.escape(name) + r"-\d{16,}", older):
                    shutil.rmtree(os.path.join(home, older), ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix="making-", dir=home) as folder:
                begin(folder).stop()
                os.rename(os.path.join(folder, "data"), made)
    shutil.copytree(made, data, symlinks=True)


class World:
    """`sandlot world` on any free port, with what it prints. Without a data folder everything is in
    the place's own .sandlot."""

    @staticmethod
    def arguments(place, data, options):
        return ["world", "--place", place, "--port", "0", *(["--data", data] if data else []),
                *Database.options(data or place), "--allow-weak-jail", *options]

    def __init__(self, program, place, data, *options, wait=True):
        self.lines = []
        self.process = subprocess.Popen(
            [program, *self.arguments(place, data, options)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if wait:
            self.find_port()

    def find_port(self):
        found = self.wait_line(r"join +ws://127\.0\.0\.1:(\d+)/api/rooms/([A-Z0-9]+)/ws")
        self.port, self.room = int(found[1]), found[2]
        wait_until(self.is_ready, "the world is ready")

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait_line(self, pattern, seconds=30.0):
        def look():
            for line in list(self.lines):
                found = re.search(pattern, line)
                if found:
                    return found
            check(self.process.poll() is None, "it ended:\n" + "\n".join(self.lines))
            return None
        return wait_until(look, f"a line like {pattern}", seconds)

    def request(self, method, path, body=None, headers=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10 * PATIENCE)
        try:
            link.request(method, path, body=None if body is None else json.dumps(body),
                         headers=headers or {})
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def is_ready(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def metric(self, name):
        text = self.request("GET", "/metrics")[2].decode()
        found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        check(found, f"there is no metric {name}")
        return float(found[1])

    def join(self, **wish):
        status, _, body = self.request("POST", "/join", wish)
        check(status == 200, f"/join says {status}: {body}")
        return json.loads(body)

    def children(self):
        """Process ids of the world process."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path, encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def stop(self, number=signal.SIGTERM, seconds=5.5):
        """Ends it; the exit code must be 0."""
        self.process.send_signal(number)
        try:
            code = self.process.wait(seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure("it did not end:\n" + "\n".join(self.lines[-20:]))
        self.reader.join(2)
        check(code == 0, f"exit code {code}:\n" + "\n".join(self.lines[-20:]))

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Closed(Exception):
    def __init__(self, code):
        super().__init__(f"closed with code {code}")
        self.code = code


class WebSocket:
    """RFC 6455, a client: whole messages in and out."""

    def __init__(self, port, path, protocol="sandlot.v2.json", headers=(), host=None):
        self.socket = socket.create_connection(("127.0.0.1", port),
                                               timeout=10 * PATIENCE)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13",
                 *headers]
        if protocol:
            lines.append(f"Sec-WebSocket-Protocol: {protocol}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            more = self.socket.recv(4096)
            check(more, f"the upgrade was cut off: {self.buffer!r}")
            self.buffer += more
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ", 2)[1])
        self.head = head.decode()

    def send(self, data, opcode=None):
        if isinstance(data, str):
            data, opcode = data.encode(), 1 if opcode is None else opcode
        opcode = 2 if opcode is None else opcode
        mask = os.urandom(4)
        length = len(data)
        if length < 126:
            header = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
        elif length < 65536:
            header = struct.pack("!BBH", 0x80 | opcode, 0xFE, length)
        else:
            header = struct.pack("!BBQ", 0x80 | opcode, 0xFF, length)
        masked = bytes(byte ^ mask[i & 3] for i, byte in enumerate(data))
        self.socket.sendall(header + mask + masked)

    def _take(self, count, deadline):
        while len(self.buffer) < count:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.socket.settimeout(left)
            more = self.socket.recv(65536)
            if not more:
                raise Closed(1006)
            self.buffer += more

    def receive(self, seconds=10.0 * PATIENCE):
        """A whole message; (text or bytes). Pings are answered."""
        deadline = time.monotonic() + seconds
        while True:
            self._take(2, deadline)
            opcode, length, at = self.buffer[0] & 15, self.buffer[1] & 127, 2
            if length == 126:
                self._take(4, deadline)
                length, at = struct.unpack("!H", self.buffer[2:4])[0], 4
            elif length == 127:
                self._take(10, deadline)
                length, at = struct.unpack("!Q", self.buffer[2:10])[0], 10
            self._take(at + length, deadline)
            data = self.buffer[at:at + length]
            self.buffer = self.buffer[at + length:]
            if opcode == 8:
                raise Closed(struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005)
            if opcode == 9:
                self.send(data, 10)
            elif opcode in (1, 2):
                return data.decode() if opcode == 1 else data

    def close(self):
        self.socket.close()


class Relay:
    """Stands between players and a world, reads whatever comes and keeps it for who does not: the
    world's socket is always empty, as behind a proxy. Looks like a world to a Player."""

    def __init__(self, world):
        self.room, self.world = world.room, world
        self.from_world = 0  # bytes
        self.closed = 0      # connections that the world ended
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        try:
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.world.port))
                threading.Thread(target=self._up, args=(near, far), daemon=True).start()
                threading.Thread(target=self._down, args=(far, near), daemon=True).start()
        except OSError:
            pass

    def _up(self, near, far):
        try:
            while data := near.recv(65536):
                far.sendall(data)
            far.close()
        except OSError:
            pass

    def _down(self, far, near):
        """Never waits for the player: what it does not take is kept here."""
        kept = b""
        try:
            while data := far.recv(65536):
                self.from_world += len(data)
                kept += data
                try:
                    kept = kept[near.send(kept, socket.MSG_DONTWAIT):]
                except BlockingIOError:
                    pass
        except OSError:
            pass
        self.closed += 1
        near.close()

    def close(self):
        self.listener.close()


class Player:
    """A player over JSON: joins, says what it does 30 times a second, keeps what it is told."""

    def __init__(self, world, name="bo", ticket=None, resume=None, player_id=None, session=None):
        self.socket = WebSocket(world.port, f"/api/rooms/{world.room}/ws",
                                host=getattr(world, "host_name", None))
        check(self.socket.status == 101, f"no upgrade: {self.socket.head}")
        self.seq, self.input_seq, self.last_snapshot = 0, 0, 0
        self.positions, self.errors, self.events, self.snapshots = {}, [], [], []
        payload = {"name": name}
        if ticket:
            payload["ticket"] = ticket
        if session:
            payload["session_token"] = session
        if resume:
            payload["resumeToken"] = resume
        if player_id:
            payload["playerId"] = player_id
        self.say("session", "handshake", payload)
        self.welcome = self.wait("welcome")["payload"]
        self.entity = self.welcome["entityId"]

    def say(self, feature, action, payload):
        self.seq += 1
        self.socket.send(json.dumps({"v": 2, "kind": "command", "seq": self.seq,
                                     "feature": feature, "action": action, "payload": payload}))
        return self.seq

    def hear(self, seconds=10.0 * PATIENCE):
        try:
            message = json.loads(self.socket.receive(seconds))
        except Closed as end:
            end.args = (f"{end}; errors: {self.errors}",)
            raise
        kind, payload = message["kind"], message.get("payload", {})
        if kind == "snapshot":
            self.last_snapshot = message["seq"]
            self.snapshots.append(message)
            movement = payload.get("features", {}).get("movement", {})
            for entity, state in movement.items():
                if "p" in state:
                    self.positions[int(entity)] = state["p"]
        elif kind == "error":
            self.errors.append(payload)
        elif kind == "event":
            self.events.append(message)
        return message

    def wait(self, kind, action=None, seconds=10.0 * PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.hear(end - time.monotonic())
            if message["kind"] == kind and (action is None or message.get("action") == action):
                return message
            check(message["kind"] != "error" or kind == "error",
                  f"an error instead of {kind}: {message}")
        raise Failure(f"no {kind} within {seconds} s")

    def position(self):
        return self.positions.get(self.entity)

    def walk(self, seconds, move_z=127, move_x=0):
        """Walks by sending two inputs thirty times a second, and hears everything meanwhile."""
        begin = time.monotonic()
        sent = 0
        while time.monotonic() - begin < seconds:
            if sent <= (time.monotonic() - begin) * 30:
                inputs = []
                for _ in range(2):
                    self.input_seq += 1
                    inputs.append({"seq": self.input_seq, "moveZ": move_z, "moveX": move_x})
                self.say("movement", "input_batch",
                         {"lastSnapshot": self.last_snapshot, "inputs": inputs})
                sent += 1
            try:
                self.hear(0.01)
            except TimeoutError:
                pass

    def listen(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self.hear(max(0.001, end - time.monotonic()))
            except TimeoutError:
                return

    def close(self):
        self.socket.close()


def come_back(world, player):
    """The same player, over a new connection. One that reaches a world which has just died, before
    the host knows it, is cut: like any client, this one tries again."""
    def attempt():
        try:
            return Player(world, resume=player.welcome["resumeToken"])
        except (Closed, OSError):
            return None
    return wait_until(attempt, "a player is back")


def run(tests, arguments):
    """Runs the tests of a file, or the one that is named."""
    program, places, names = arguments[1], arguments[2], arguments[3:]
    tests = {name: test for name, test in tests.items()
             if name.startswith("test_") and test.__module__ == "__main__"}
    unknown = [name for name in names if name not in tests]
    if unknown:
        print(f"FAIL  there is no {' '.join(unknown)}")
        return 1
    failed = skipped = 0
    for name, test in tests.items():
        if names and name not in names:
            continue
        folder = tempfile.mkdtemp(prefix="sandlot-flow-")
        begin = time.monotonic()
        try:
            test(program, places, folder)
            print(f"ok    {name} ({time.monotonic() - begin:.1f} s)")
        except Skip as reason:
            skipped += 1
            print(f"skip  {name}: {reason}")
        except Exception as error:  # every failure is reported, of whatever kind
            failed += 1
            print(f"FAIL  {name}: {error}")
            traceback.print_exc()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else SKIPPED if skipped else 0

"""A world does what the tables of docs/PROTOCOL.md say: each error code that a client can cause, each
command's answer, and the limits around them. The tables are read from the page, not repeated here.

    test_conformance.py PROGRAM PLACES [TEST]
"""

import base64
import json
import os
import re
import shutil
import signal
import struct
import sys
import time

from protocol_client import Line, expect, join
from support import PATIENCE, World, run, wait_until
from test_live_scripts import schema_number

# Codes that no client can cause from outside, and why.
NOT_FROM_OUTSIDE = {
    "handshake_timeout": "only when the host does not answer the world; unit test of sessions",
    "busy": "needs a host that is busy for as long as thousands ask; or a body that does not leave",
    "stopping": "sessions are told `stopped` first, and no new ones are let in; a second lock",
    "moved": "needs a second host on the same database; test_peers.py",
    "kicked": "an operator's act; unit test of sessions",
    "banned": "an operator's act; test_admin.py",
    "forbidden": "there are private worlds only with accounts; test_worlds.py",
    "address_full": "guests on a loopback address are not counted in development; unit test of sessions",
    "chat_restricted": "there are chat rules only with accounts; test_moderate.py",
    "internal": "a fault of the server itself",
    "exists": "no command answers with it today",
    "mismatch": "no command answers with it today",
    "unsupported": "no command answers with it today",
}


# --- the page -------------------------------------------------------------------------------------


def table(places, name):
    """The rows of a printed table of the page, as lists of cells."""
    path = os.path.join(places, os.pardir, "docs", "PROTOCOL.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    found = re.search(rf"<!-- {name}: begin -->\n(.*?)<!-- {name}: end -->", page, re.DOTALL)
    expect(found, f"the page has no table {name}")
    lines = [line for line in found[1].splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def codes(places):
    return {row[0]: row[1] for row in table(places, "error codes")}


def limits(places):
    return {row[0]: int(row[1]) for row in table(places, "limits")}


def described_members(places, heading):
    """What the second table below a heading of docs/HTTP.md lists: the members of an answer."""
    path = os.path.join(places, os.pardir, "docs", "HTTP.md")
    with open(path, encoding="utf-8") as file:
        part = file.read().split(f"## {heading}\n")[1].split("\n## ")[0]
    answer = part.split("| member | means |")[2].split("\n\n")[0]
    return {name for line in answer.splitlines() if line.startswith("| `")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])}


# --- a client -------------------------------------------------------------------------------------


class Session:
    """One connection that speaks JSON: says what a test wants and keeps what it hears."""

    def __init__(self, world, handshake=True, **hello):
        self.address = f"127.0.0.1:{world.port}"
        self.line = Line(f"ws://{self.address}/api/rooms/{world.room}/ws")
        self.seq = self.input_seq = self.last_snapshot = 0
        self.heard = []
        self.acknowledges = True
        self.next_input = 0.0
        if handshake:
            self.say("session", "handshake", {"version": 2, **hello})
            self.until(lambda m: m["kind"] == "welcome", "a welcome")
            self.welcome = self.heard[-1]["payload"]

    def say(self, feature, action, payload=None, seq=None):
        if seq is None:
            self.seq += 1
            seq = self.seq
        self.line.send(json.dumps({"v": 2, "kind": "command", "seq": seq, "feature": feature,
                                   "action": action, "payload": payload or {}}))
        return seq

    def hear(self, seconds):
        """The next message, or None when the time is over or the connection is."""
        text = self.line.receive(seconds)
        if text is None:
            return None
        message = json.loads(text)
        self.heard.append(message)
        if message["kind"] == "snapshot":
            self.last_snapshot = message["seq"]
            # Acknowledges as in PROTOCOL.md: with inputs, 30 times a second.
            if self.acknowledges and time.monotonic() >= self.next_input:
                self.next_input = time.monotonic() + 1 / 30
                self.walk()
        return message

    def walk(self, **held):
        self.input_seq += 1
        self.say("movement", "input_batch",
                 {"lastSnapshot": self.last_snapshot if self.acknowledges else 0,
                  "inputs": [{"seq": self.input_seq, **held}]}, seq=0)

    def until(self, wanted, what, seconds=10.0 * PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.line.close_code is None:
            message = self.hear(end - time.monotonic())
            if message is not None and wanted(message):
                return message
        raise AssertionError(f"no {what}; closed: {self.line.close_code}; the last messages: "
                             f"{[m for m in self.heard if m['kind'] != 'snapshot'][-3:]}")

    def listen(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.line.close_code is None:
            self.hear(end - time.monotonic())

    def error(self, seconds=10.0 * PATIENCE):
        """The next error, and whether the session really ended with it."""
        error = self.until(lambda m: m["kind"] == "error", "an error", seconds)["payload"]
        self.listen(5.0 if error["fatal"] else 0.2)
        ended = self.line.close_code is not None
        expect(ended == error["fatal"], f"{error}, and the connection is over: {ended}")
        expect(not ended or self.line.close_code in (1000, 1001), f"{self.line.close_code}")
        return error

    def answer(self, feature, action, payload, seconds=10.0 * PATIENCE):
        """The ACK or ERROR of a command, and what was heard before it."""
        before = len(self.heard)
        seq = self.say(feature, action, payload)
        answer = self.until(lambda m: m["kind"] in ("ack", "error") and
                            m["payload"]["commandSeq"] == seq, f"answer to {action}", seconds)
        return answer, self.heard[before:]

    def place(self):
        """Where the own body is; once it stands still."""
        entity = str(self.welcome["entityId"])
        end = time.monotonic() + 10
        where, since = None, time.monotonic()
        while time.monotonic() < end and (where is None or time.monotonic() - since < 0.5):
            message = self.hear(0.1)
            if message and message["kind"] == "snapshot":
                movement = message["payload"]["features"].get("movement", {}).get(entity)
                if movement and movement["p"] != where:
                    where, since = movement["p"], time.monotonic()
        expect(where, "a position")
        return where

    def close(self):
        self.line.close()


def island(program, places, folder, name, *options):
    return World(program, os.path.join(places, "island"), os.path.join(folder, name), *options)


# --- one function for each code: it returns the session that gets the error ---------------------


def cause_unsupported_version(world):
    session = Session(world, handshake=False)
    session.line.send('{"v":1,"kind":"ping"}')
    return session


def cause_malformed(world):
    session = Session(world)
    session.line.send('{"v":2,"kind":"ping","jmup":1}')
    return session


def cause_unknown_action(world):
    session = Session(world)
    session.say("no", "such")
    return session


def cause_handshake_first(world):
    session = Session(world, handshake=False)
    session.say("chat", "say", {"text": "hi"})
    return session


def cause_auth_failed(world):
    session = Session(world, handshake=False)
    session.say("session", "handshake", {"version": 2, "ticket": "not one of yours"})
    return session


def cause_invalid_name(world):
    session = Session(world, handshake=False)
    session.say("session", "handshake", {"version": 2, "playerId": "p\u200b1"})
    return session


def cause_replaced(world):
    ticket = join(f"127.0.0.1:{world.port}")
    first = Session(world, ticket=ticket["ticket"])
    request = world.request("POST", "/join", {},
                            {"Authorization": f"Bearer {ticket['session_token']}"})
    expect(request[0] == 200, f"/join: {request}")
    second = Session(world, ticket=json.loads(request[2])["ticket"])
    expect(second.welcome["player"] == first.welcome["player"], "it is the same player")
    second.close()
    return first


def cause_flood(world):
    session = Session(world)
    # Frames written by hand, so that all of them go in one piece.
    ping = b'{"v":2,"kind":"ping"}'
    mask = b"\1\2\3\4"
    frame = struct.pack("!BB", 0x81, 0x80 | len(ping)) + mask + \
        bytes(byte ^ mask[i & 3] for i, byte in enumerate(ping))
    session.line.socket.sendall(frame * 1200)
    return session


def cause_rate_limited(world):
    """Twenty in a tick are few enough to be read at once, and too many for a second."""
    session = Session(world)
    for _ in range(60):
        for _ in range(20):
            session.line.send('{"v":2,"kind":"ping"}')
        session.listen(1 / 60)
        if any(message["kind"] == "error" for message in session.heard):
            break
    error = next((m for m in session.heard if m["kind"] == "error"), None)
    expect(error, "an error")
    session.until = lambda *_: error  # it has been received already
    return session


def cause_behind(world):
    session = Session(world)
    session.until(lambda m: m["kind"] == "snapshot", "a snapshot")
    session.listen(0.5)
    session.acknowledges = False
    return session


def cause_limit(world):
    session = Session(world)
    for _ in range(6):
        session.say("chat", "say", {"text": "hi"})
    return session


def cause_range(world):
    session = Session(world)
    session.say("chat", "say", {"text": "  "})
    return session


def cause_not_found(world):
    session = Session(world)
    session.say("build", "remove", {"entityId": 999999999})
    return session


def cause_blocked(world):
    """A wall where one stands."""
    session = Session(world)
    x, y, z = session.place()
    session.say("voxel", "terraform", {"shape": 0, "min": [int(x // 1), int(y // 1) + 1, int(z // 1)],
                                       "voxelKind": 3})
    return session


def cause_denied(world):
    """Digging where the arm does not reach."""
    session = Session(world)
    x, y, z = session.place()
    session.say("voxel", "terraform", {"shape": 0, "min": [int(x // 1) + 40, int(y // 1), int(z // 1)],
                                       "voxelKind": 0})
    return session


def check_code(places, code, session):
    error = session.error()
    expect(error["code"] == code, f"wanted {code}, got {error}")
    fatal = codes(places)[code]
    expect(fatal == "sometimes" or error["fatal"] == (fatal == "yes"), f"{error}; the page: {fatal}")
    expect(error["message"], "a sentence for people")
    session.close()
    print(f"      {code}: {error['message']}")


CAUSES = {name[len("cause_"):]: function for name, function in list(globals().items())
          if name.startswith("cause_")}
ELSEWHERE = {"auth_required", "world_full", "stopped"}  # they need a world of their own


def test_conformance_every_code_has_a_cause_or_a_reason(program, places, folder):
    del program, folder
    known = set(CAUSES) | ELSEWHERE | set(NOT_FROM_OUTSIDE)
    expect(set(codes(places)) == known, f"differs: {set(codes(places)) ^ known}")


def test_conformance_join_answers_as_the_page_says(program, places, folder):
    world = island(program, places, folder, "data")
    try:
        answer = join(f"127.0.0.1:{world.port}")
        wanted = described_members(places, "POST /join") - {"cdn_base"}  # only if it is set
        expect(set(answer) == wanted, f"differs: {set(answer) ^ wanted}")
        world.stop()
    finally:
        world.kill()


def test_conformance_codes(program, places, folder):
    world = island(program, places, folder, "data")
    try:
        for code, cause in CAUSES.items():
            check_code(places, code, cause(world))
        session = Session(world)
        world.process.send_signal(signal.SIGTERM)
        check_code(places, "stopped", session)
        expect(session.line.close_code == 1001, f"closed with {session.line.close_code}")
        world.process.wait(10)
    finally:
        world.kill()


def test_conformance_a_world_for_strangers_wants_a_ticket(program, places, folder):
    class OpenWorld(World):
        def wait_line(self, pattern, seconds=90.0):
            return super().wait_line(pattern.replace(r"127\.0\.0\.1", r"[^:/]*"), seconds)
    world = OpenWorld(program, os.path.join(places, "island"), os.path.join(folder, "data"),
                      "--address", "0.0.0.0")
    try:
        session = Session(world, handshake=False)
        session.say("session", "handshake", {"version": 2, "playerId": "bo"})
        check_code(places, "auth_required", session)
        world.stop()
    finally:
        world.kill()


def test_conformance_a_full_world_says_so(program, places, folder):
    """By players, and by JSON sessions."""
    world = island(program, places, folder, "one", "--players", "1")
    try:
        first = Session(world)
        second = Session(world, handshake=False)
        second.say("session", "handshake", {"version": 2})
        check_code(places, "world_full", second)
        first.close()
        world.stop()
    finally:
        world.kill()
    place = os.path.join(folder, "place")
    shutil.copytree(os.path.join(places, "island"), place)
    with open(os.path.join(place, "place.json"), encoding="utf-8") as file:
        settings = json.load(file)
    settings["limits"]["players"] = 100
    with open(os.path.join(place, "place.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
    world = World(program, place, os.path.join(folder, "many"))
    try:
        most = limits(places)["JSON_SESSIONS_MAX"]
        sessions = [Session(world) for _ in range(most)]
        another = Session(world, handshake=False)
        another.say("session", "handshake", {"version": 2})
        check_code(places, "world_full", another)
        sessions.pop().close()

        def comes_in():
            late = Session(world, handshake=False)
            late.say("session", "handshake", {"version": 2})
            kind = late.until(lambda m: m["kind"] in ("welcome", "error"), "an answer")["kind"]
            late.close()
            return kind == "welcome"
        wait_until(comes_in, "there is room for one again")
        for session in sessions:
            session.close()
        world.stop()
    finally:
        world.kill()


# --- messages that cannot be read -----------------------------------------------------------------


def test_conformance_malformed_messages(program, places, folder):
    most = limits(places)["MALFORMED_MAX"]
    world = island(program, places, folder, "data")
    try:
        # At first, one is too many.
        for text in ("{", '{"v":2,"kind":"ping","jmup":1}', "[]"):
            session = Session(world, handshake=False)
            session.line.send(text)
            error = session.error()
            expect((error["code"], error["fatal"]) == ("malformed", True), f"{text}: {error}")
            session.close()
        # What can be read and is not known is no handshake.
        session = Session(world, handshake=False)
        session.say("no", "such")
        expect(session.error()["code"] == "handshake_first", "an unknown action at first")
        session.close()
        # Later the last of so many is; what the world does not know does not count.
        session = Session(world)
        for i in range(most):
            session.say("no", "such")
            error = session.error()
            expect((error["code"], error["fatal"]) == ("unknown_action", False), f"{error}")
            session.line.send('{"v":2,"kind":"command","seq":7,"feature":"chat","action":"say",'
                              '"payload":{"text":1}}')
            error = session.error()
            expect(error["code"] == "malformed" and error["commandSeq"] == 0 and
                   error["fatal"] == (i == most - 1), f"number {i + 1}: {error}")
        session.close()
        # A second handshake, with its number.
        session = Session(world)
        answer, _ = session.answer("session", "handshake", {"version": 2})
        expect(answer["payload"]["code"] == "malformed" and not answer["payload"]["fatal"],
               f"{answer}")
        session.close()
        # Too large is a matter of the socket.
        session = Session(world)
        session.line.send('{"v":2,"kind":"ping"}' + " " * limits(places)["MESSAGE_BYTES_MAX"])
        session.listen(5)
        expect(session.line.close_code == 1009, f"too large: {session.line.close_code}")
        session.close()
        world.stop()
    finally:
        world.kill()


# --- answers and numbers --------------------------------------------------------------------------

# Something to say for each command; what comes back may be a refusal.
SAMPLES = {
    "session.ping": {"nonce": 5},
    "movement.input_batch": {"inputs": [{"seq": 100000}]},
    "voxel.terraform": {"shape": 0, "min": [0, 200, 0], "voxelKind": 1},
    "build.place": {"piece": 250},
    "build.remove": {"entityId": 1},
    "build.preview": {"active": False},
    "voxel.chunk_request": {},
    "entity.patch_request": {"cells": [{"at": [0, 0, 0]}]},
    "profile.list": {},
    "profile.select": {"characterId": "default"},
    "profile.save": {"profiles": [{"characterId": "second", "name": "Bo"}]},
    "profile.delete": {"characterId": "second"},
    "remote.fire": {"name": "nobody"},
    "script.ScriptRequest": {"script_paths": ["Workspace/Nothing"]},
    "script.ScriptVerify": {"script_path": "Workspace/Nothing"},
    "script.ScriptVerifyList": {"scripts": [{"script_path": "Workspace/Nothing"}]},
    "script.costs": {},
    "chat.say": {"text": "hi"},
    "moderation.report": {"reason": "other"},
    "session.respawn": {},
    "session.blob_request": {"hash": "sha256:" + "0" * 64},
}


def test_conformance_commands_are_answered_as_the_page_says(program, places, folder):
    world = island(program, places, folder, "data")
    try:
        session = Session(world)
        session.place()
        for command, acknowledged, _ in table(places, "answers"):
            if command in ("session.handshake", "session.leave"):
                expect(acknowledged == "no", f"{command} is not acknowledged")
                continue
            feature, action = command.split(".")
            before = len(session.heard)
            seq = session.say(feature, action, SAMPLES[command])
            answers = []
            for _ in range(20):  # a busy machine takes its time
                session.listen(0.6)
                answers = [m for m in session.heard[before:] if m["kind"] in ("ack", "error") and
                           m["payload"]["commandSeq"] == seq]
                if answers or acknowledged != "yes":
                    break
            expect(len(answers) == (acknowledged == "yes"), f"{command}: {answers}")
            if command == "session.ping":
                pong = [m for m in session.heard[before:] if m["kind"] == "pong"]
                expect(pong[0]["payload"]["nonce"] == 5, f"{pong}")
        # Who does not number a command does not want to hear that it is done.
        before = len(session.heard)
        session.say("chat", "say", {"text": "hi"}, seq=0)
        session.listen(0.6)
        expect(not [m for m in session.heard[before:] if m["kind"] in ("ack", "error")],
               "an answer to nobody")
        # The two counters: snapshots by themselves, all other messages by themselves.
        for kinds in (lambda kind: kind == "snapshot", lambda kind: kind != "snapshot"):
            numbers = [m["seq"] for m in session.heard if kinds(m["kind"])]
            expect(numbers == list(range(1, len(numbers) + 1)), f"{numbers[:20]}")
        session.say("session", "leave")
        session.listen(5)
        expect(session.line.close_code == 1000, f"left with {session.line.close_code}")
        world.stop()
    finally:
        world.kill()


def test_conformance_who_acknowledges_nothing(program, places, folder):
    """A JSON session goes on getting every snapshot; a binary one gets those of the first moment."""
    world = island(program, places, folder, "data")
    try:
        tool = Session(world)
        tool.acknowledges = False
        before = len(tool.heard)

        def snapshots():
            return sum(m["kind"] == "snapshot" for m in tool.heard[before:])
        tool.listen(3)
        expect(snapshots() <= 70, f"{snapshots()} snapshots in 3 s")
        for _ in range(9):  # a busy server sends them later
            if snapshots() < 50:
                tool.listen(1)
        expect(snapshots() >= 50, f"{snapshots()} snapshots in 12 s")

        bare = Line(f"ws://127.0.0.1:{world.port}/api/rooms/{world.room}/ws", "sandlot.v2.bin")
        # HANDSHAKE, seq 1, version 2
        bare.send_frame(2, bytes([21, 1, 0, 2, schema_number(), 0, 0, 0, 0, 0, 0]))
        bare.socket.settimeout(0.2)
        end, data = time.monotonic() + 3, bare.received
        while time.monotonic() < end:
            try:
                data += bare.socket.recv(65536)
            except TimeoutError:
                pass
        numbers = []
        while data:
            length, at = data[1], 2
            if length == 126:
                length, at = struct.unpack("!H", data[2:4])[0], 4
            numbers.append(data[at])
            data = data[at + length:]
        frames = numbers.count(68)
        wanted = -(-(limits(places)["ACK_GUESS_MS"] + limits(places)["ACK_SLACK_MS"]) // 50)
        expect(frames == wanted, f"{frames} frames, not {wanted}, of {numbers}")
        bare.close()
        tool.close()
        world.stop()
    finally:
        world.kill()


def test_conformance_the_last_input_is_held(program, places, folder):
    """One input, then none: the player walks for as long as the page says, then stands."""
    hold = limits(places)["INPUT_HOLD_MS"] / 1000
    world = island(program, places, folder, "data")
    try:
        session = Session(world)
        session.acknowledges = False  # a tool; so no other input is sent
        session.place()
        session.walk(up=True)
        session.listen(2.0)
        entity = str(session.welcome["entityId"])
        moves = [(m["payload"]["tick"], m["payload"]["features"]["movement"][entity]["v"])
                 for m in session.heard if m["kind"] == "snapshot" and
                 entity in m["payload"]["features"].get("movement", {})]
        walked = [tick for tick, v in moves if abs(v[0]) + abs(v[2]) > 1]
        expect(walked, "it walked")
        seconds = (walked[-1] - walked[0]) / session.welcome["tickRate"]
        expect(hold - 0.2 <= seconds <= hold + 0.2, f"walked for {seconds:.2f} s, not {hold}")
        session.close()
        world.stop()
    finally:
        world.kill()


# --- remotes --------------------------------------------------------------------------------------


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def write_value(value):
    """As the page has it."""
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return b"\2" if value else b"\1"
    if isinstance(value, int):
        return b"\3" + varint(value * 2 if value >= 0 else -value * 2 - 1)
    if isinstance(value, float):
        return b"\4" + struct.pack("<d", value)
    if isinstance(value, str):
        return b"\5" + varint(len(value.encode())) + value.encode()
    if isinstance(value, list):
        return b"\6" + varint(len(value)) + b"".join(map(write_value, value))
    if isinstance(value, dict):
        return b"\7" + varint(len(value)) + b"".join(
            write_value(key) + write_value(item) for key, item in value.items())
    if isinstance(value, tuple):
        return b"\10" + struct.pack("<3f", *value)
    raise AssertionError(f"what is {value!r}?")


ECHO = """
Network.OnInvoke("echo", function(player, ...)
    return ...
end)
Network.OnClientEvent("again", function(player, ...)
    Network.FireClient(player, "again", ...)
end)
"""


def test_conformance_remote_values(program, places, folder):
    """Every kind of value goes to a script and comes back as the same bytes."""
    place = os.path.join(folder, "place")
    shutil.copytree(os.path.join(places, "island"), place)
    with open(os.path.join(place, "ServerScriptService", "Echo.lua"), "w", encoding="ascii") as file:
        file.write(ECHO)
    values = [None, True, False, 3, -70000, 2.5, "grüße", [1, [2]], {1: "one", "two": 2},
              (1.0, 2.0, 3.0)]
    payload = base64.b64encode(write_value(values)).decode()
    world = World(program, place, os.path.join(folder, "data"))
    try:
        session = Session(world)
        session.place()
        version = session.welcome["manifestVersion"]

        def heard(name):
            for message in session.heard:
                if message["kind"] == "snapshot":
                    script = message["payload"]["features"].get("script", {})
                    for remote in script.get("remote", []):
                        if remote["name"] == name:
                            return remote
            return None

        session.say("remote", "fire", {"name": "echo", "payload": payload, "invokeId": 77,
                                       "generation": version})
        session.until(lambda _: heard("answer"), "an answer")
        answer = heard("answer")
        expect(answer["invokeId"] == 77 and answer["payload"] == payload, f"{answer} {payload}")
        session.say("remote", "fire", {"name": "again", "payload": payload, "generation": version})
        session.until(lambda _: heard("again"), "an event")
        expect(heard("again")["payload"] == payload and heard("again")["invokeId"] == 0, "the same")
        session.say("remote", "fire", {"name": "echo", "payload": payload, "invokeId": 78,
                                       "generation": version + 1})
        session.until(lambda _: heard("refusal"), "a refusal")
        refusal = heard("refusal")
        expect(refusal["invokeId"] == 78 and
               base64.b64decode(refusal["payload"]) == b"the scripts have changed", f"{refusal}")
        session.close()
        world.stop()
    finally:
        world.kill()


# --- changed parts of the scene -------------------------------------------------------------------

TILES = 3000
CHANGES = """
function onStart()
  for i = 0, 1999 do World.Find('T'..i).Color = string.format('#%06x', i + 1)
    if i % 200 == 0 then task.wait() end end
  for i = 2000, 2499 do local t = World.Find('T'..i) t.Position = t.Position + Vector3.new(0, 0.25, 0) end
  for i = 2500, 2999 do local t = World.Find('T'..i)
    t:SetAttribute('Price', i) t:SetAttribute('Secret', 'hidden'..i, {visibility = 'server'})
    t:AddTag('sold') end
end
"""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        expect(self.at <= len(self.data), "a row that ends too soon")
        return self.data[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        return self.take(self.varint()).decode()


def read_attributes(data):
    """As the page describes them; numbers alone are needed here."""
    reader = Reader(data)
    expect(reader.text() == "", "a name")
    found, tags = {}, []
    while (kind := reader.take(1)[0]) != 0:
        expect(kind == 2, f"a value of type {kind}")
        name = reader.text()
        found[name] = struct.unpack("<d", reader.take(8))[0]
    while (length := reader.varint()) != 0:
        tags.append(reader.take(length).decode())
    expect(reader.at == len(data), "bytes after the tags")
    return found, tags


def read_rows(data, parts):
    """Positions, attributes, and paints in which only the colour is other than the default."""
    reader, part = Reader(data), 0
    while reader.at < len(data):
        part += reader.varint()
        groups = reader.take(1)[0]
        row = parts.setdefault(part, {})
        if groups & 1:
            row["p"] = struct.unpack("<fff", reader.take(12))
        if groups & 16:  # a bit for each of seven members, the first is the colour
            bits = int.from_bytes(reader.take(4), "little")
            expect(bits & 127 == 1, f"a paint of {bits:x}")
            row["colour"] = bits >> 7
        if groups & 32:
            row["attributes"], row["tags"] = read_attributes(reader.take(reader.varint()))


def test_conformance_changed_parts_of_the_scene(program, places, folder):
    """2,000 recoloured parts, 500 moved ones and 500 with attributes: a JSON session has all of them."""
    place = os.path.join(folder, "floor")
    os.makedirs(os.path.join(place, "ServerScriptService"))
    entities = [{"id": 1, "name": "Start", "type": "spawn", "transform": {"position": [30, 1, 25]}}]
    entities += [{"id": i + 2, "name": f"T{i}", "type": "part", "shape": {"size": [1, 1, 1]},
                  "transform": {"position": [i % 60 + 0.5, -0.5, i // 60 + 0.5]}} for i in range(TILES)]
    for name, value in (("place.json", {"format": 1, "name": "Floor", "limits": {"viewRadius": 96}}),
                        ("scene.json", {"format": 1, "entities": entities})):
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            json.dump(value, file)
    with open(os.path.join(place, "ServerScriptService", "Main.lua"), "w", encoding="ascii") as file:
        file.write(CHANGES)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        session = Session(world)
        parts, versions, entered = {}, {}, set()

        def take(message):
            payload = message["payload"]
            if message["kind"] == "snapshot":
                entered.update(each["type"] for each in payload["features"].get("entity", {}).get("enter", []))
                for event in payload["features"].get("entity", {}).get("patch_versions", []):
                    for cell in event["cells"]:
                        session.say("entity", "patch_request", {"cells": [
                            {"at": cell["at"], "version": versions.get(tuple(cell["at"]), 0)}]})
            if message.get("action") == "patch":
                read_rows(base64.b64decode(payload["data"]), parts)
                if payload["last"]:
                    versions[tuple(payload["at"])] = payload["version"]

        def is_complete(message):
            take(message)
            return [sum(name in row for row in parts.values()) for name in ("colour", "p", "attributes")] \
                == [2000, 500, 500]

        session.until(is_complete, "all of the rows", 30 * PATIENCE)
        for part, row in parts.items():
            if "p" in row:
                expect(2000 < part <= 2500 and row["p"][1] == -0.25, f"part {part}: {row}")
            if "attributes" in row:
                expect(2500 < part <= 3000 and row["tags"] == ["sold"] and
                       row["attributes"] == {"Price": part - 1}, f"part {part}: {row}")
            if "colour" in row:
                expect(part <= 2000 and row["colour"] == part, f"part {part}: {row}")
        expect(entered <= {"player"}, f"no part takes a slot: {entered}")
        session.close()
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

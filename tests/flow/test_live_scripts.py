"""A live world runs the built scripts: platforms that scripts move, prefabs that they spawn, triggers,
faults. Clients verify scripts before they run them, server-only scripts are never sent, and artifacts
that somebody changed are detected."""

import base64
import ctypes
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

from bots import Bots
from support import Player, Relay, WebSocket, World, check, run, wait_until

SECRET = "xyzzy-never-to-be-seen"

SCRIPTS = {
    # Moves up and down for ever.
    "Workspace/Lift.lua": """
local low
function onStart(self)
    low = self.Position
    task.spawn(function()
        while true do
            self:MoveTo(low + Vector3.new(0, 4, 0), 1)
            task.wait(1.2)
            self:MoveTo(low, 1)
            task.wait(1.2)
        end
    end)
end
""",
    "Workspace/Pit.lua": """
function OnTriggerEnter(self, other)
    KillPlayer(other)
end
""",
    "ServerScriptService/Vault.lua": f"""
local code = "{SECRET}"
local words = require("ReplicatedStorage/Words")
print("guards", #code, words.greeting)
Network.OnClientEvent("greet", function(player, text)
    print("heard", text)
end)
function onStart()
    local bullet = World.Spawn("Bullet", Vector3.new(0, 3, 4))
    bullet.SetVelocity(Vector3.new(0, 0.2, 0))
    print("spawned", bullet.Name)
    World.Spawn("Bulet", Vector3.new(0, 3, 4))
end
""",
    # The line of the fault is the fourth.
    "ServerScriptService/Clumsy.lua": """local count = 0
function onUpdate()
    count = count + 1
    local nothing = (nil).field
end
""",
    "ReplicatedStorage/Words.lua": """return {greeting = "good day"}
""",
    "StarterGui/Hello.lua": """local words = require("ReplicatedStorage/Words")
function onStart()
    Network.FireServer("greet", words.greeting)
end
""",
    "ReplicatedFirst/Wobble.lua": """function onStart()
    error("the screen wobbles")
end
""",
}

SCENE = {
    "format": 1,
    "bounds": {"min": [-64, -40, -64], "max": [64, 60, 64]},
    "terrain": [{"min": [-20, -2, -20], "max": [20, -1, 20], "kind": "grass"}],
    "entities": [
        {"id": 1, "name": "Start", "type": "spawn", "transform": {"position": [0, 0, 0]}},
        {"id": 2, "name": "Lift", "transform": {"position": [8, 1, 0]},
         "shape": {"size": [3, 0.4, 3]}, "scriptPath": "Workspace/Lift.lua"},
        {"id": 3, "name": "Pit", "transform": {"position": [0, 1, 9]},
         "shape": {"size": [8, 3, 3]}, "trigger": True, "ghost": True,
         "scriptPath": "Workspace/Pit.lua"},
    ],
}


def write(place, path, text):
    full = os.path.join(place, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))


def write_place(folder, scripts=None):
    place = os.path.join(folder, "live")
    write(place, "place.json", {
        "format": 1, "name": "Live", "respawnMs": 1000,
        "voxelKinds": [{"name": "grass", "material": "grass", "colour": "#5d9c4d"}]})
    write(place, "scene.json", SCENE)
    write(place, "prefabs/Bullet.json", {
        "format": 1, "kind": "projectile",
        "projectile": {"radius": 0.1, "gravity": 0, "damage": 20, "lifetimeMs": 60000}})
    for path, text in (SCRIPTS if scripts is None else scripts).items():
        write(place, path, text)
    return place


def manifest_of(player):
    """The newest that it was told."""
    def look():
        player.listen(0.2)
        found = [event for event in player.events if event.get("action") == "ScriptManifest"]
        return found[-1]["payload"] if found else None
    return wait_until(look, "a manifest")


def runes_of(place):
    """Path and hash of every rune that was built, from the server's own manifest."""
    with open(os.path.join(place, ".sandlot/server/soul/manifest.json"), encoding="utf-8") as file:
        return {row["path"]: row["rune_hash"].removeprefix("sha256:")
                for row in json.load(file)["scripts"]}


def told_of(player, what):
    """Everything that snapshots said of entities: what entered, or what was updated."""
    return [entity for message in player.snapshots
            for entity in message["payload"].get("features", {}).get("entity", {}).get(what, [])]


def test_scripts_run_in_a_live_world(program, places, folder):
    place = write_place(folder)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        world.wait_line(r"guards 22 good day")
        world.wait_line(r"spawned Bullet")
        # An unknown name: the nearest is named, with file and line.
        world.wait_line(r'ServerScriptService/Vault\.lua:12: .*"Bulet".*did you mean "Bullet"\?')
        # A fault has a place, comes again and again, and is held back at last; the world goes on.
        world.wait_line(r"ServerScriptService/Clumsy\.lua:4: ")
        world.wait_line(r"Clumsy: paused for a while after repeated faults")
        player = Player(world, name="ann", ticket=world.join(name="ann")["ticket"])
        # The bullet is there, and the lift goes up and down by the script's own numbers.
        player.listen(4)
        check(any(entity.get("name") == "Bullet" for entity in told_of(player, "enter")),
              "nobody sees the bullet")
        ways = {tuple(part["motion"][0]["v"]) for part in
                (entity.get("shape", {}) for entity in
                 told_of(player, "enter") + told_of(player, "update")) if part.get("motion")}
        check({(0, 4, 0), (0, -4, 0)} <= ways, f"the lift: {ways}")
        check(world.children(), "it runs")
    finally:
        world.kill()


def test_a_trigger_kills_and_the_player_comes_back(program, places, folder):
    place = write_place(folder)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        player = Player(world, name="ann", ticket=world.join(name="ann")["ticket"])
        player.walk(0.5, move_z=0)
        player.walk(4.0)  # into the pit, 9 m ahead
        text = json.dumps(player.snapshots) + json.dumps(player.events)
        check('"died"' in text, "nobody died")
        player.walk(2.0, move_z=0)
        check(player.position()[2] < 7, f"she does not begin anew: {player.position()}")
    finally:
        world.kill()


def test_clients_verify_and_run(program, places, folder):
    place = write_place(folder)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        bots = Bots(program, world.port, 3, 2, "walk", "--scripts", "--allow-weak-jail")
        out, err = bots.process.communicate(timeout=90)
        check(bots.process.returncode == 0, f"bots end with {bots.process.returncode}: {err}{out}")
        result = json.loads(out.splitlines()[-1])
        check(result["scripted"] == 3, f"not all run scripts: {result}")
        check(result["failures"] == 0, f"failures: {result['reasons']}")
        sent = sum("ServerScript" not in path for path in SCRIPTS)
        check(result["runes_unpacked"] == 3 * sent, f"not every rune came packed: {result}")
        # What a client's script said came to the server's; what failed there has file and line.
        world.wait_line(r"heard good day")
        check(re.search(r"ReplicatedFirst/Wobble\.lua:2: .*the screen wobbles", err), f"no fault: {err}")
        check(result["script_faults"] >= 3, f"faults: {result}")
    finally:
        world.kill()


def test_typescript_in_a_live_world(program, places, folder):
    place = write_place(folder, {
        "Workspace/Lift.lua": SCRIPTS["Workspace/Lift.lua"],
        "Workspace/Pit.lua": SCRIPTS["Workspace/Pit.lua"],
        "ReplicatedStorage/Words.ts": """const words = ["good", "day"];
export function greeting(): string {
    return words.map((word) => word).join(" ");
}
""",
        "ServerScriptService/Ears.ts": """import { greeting } from "../ReplicatedStorage/Words";
print("says", greeting());
Network.OnClientEvent("greet", (player: Player, text: string) => {
    print("heard", text);
});
""",
        "ServerScriptService/Sore.ts": """export function onStart(): void {

    throw new Error("sore");
}
""",
        "StarterGui/Hello.ts": """import { greeting } from "../ReplicatedStorage/Words";

export function onStart(): void {
    Network.FireServer("greet", greeting());
    const list: number[] = [];
    error(`line six ${list.length}`);
}
"""})
    world = World(program, place, os.path.join(folder, "data"))
    try:
        world.wait_line(r"says good day")
        world.wait_line(r"ServerScriptService/Sore\.ts:3: Error: sore")
        bots = Bots(program, world.port, 1, 1, "stand", "--scripts", "--allow-weak-jail")
        out, err = bots.process.communicate(timeout=60)
        check(json.loads(out.splitlines()[-1])["scripted"] == 1, out + err)
        world.wait_line(r"heard good day")
        check("StarterGui/Hello.ts:6: line six 0" in err, f"another line: {err}")
    finally:
        world.kill()


class Liar(Relay):
    """A relay that changes what the world says."""

    def __init__(self, world, change):
        self.change = change
        super().__init__(world)

    def _down(self, far, near):
        try:
            while data := far.recv(65536):
                near.sendall(self.change(data))
        except OSError:
            pass
        near.close()


def refused_by_clients(program, world, change, pattern):
    liar = Liar(world, change)
    try:
        bots = Bots(program, liar.port, 1, 1, "stand", "--scripts", "--allow-weak-jail", "--ramp",
                    "6")
        out, err = bots.process.communicate(timeout=60)
        result = json.loads(out.splitlines()[-1])
        check(result.get("scripted", 0) == 0, f"it runs all the same: {result}")
        reasons = [result["reason"], *result.get("reasons", {})]
        check(any(re.search(pattern, reason) for reason in reasons), f"another reason: {result}")
        check("wobbles" not in err, "a script ran")
    finally:
        liar.close()


def test_clients_refuse_what_is_not_signed(program, places, folder):
    place = write_place(folder)
    world = World(program, place, None)
    try:
        hello = bytes.fromhex(runes_of(place)["StarterGui/Hello.lua"])
        key = world.join(name="x")["signing_key"].encode()
        # Another key; another rune; another context; another order of time.
        by = r"not signed by this world's host"
        refused_by_clients(program, world, lambda data: data.replace(key, b"0" * 64), by)
        refused_by_clients(program, world, lambda data: data.replace(
            hello, bytes([hello[0] ^ 1]) + hello[1:]), by)
        refused_by_clients(program, world, lambda data: data.replace(
            b"ReplicatedFirst/Wobble", b"ReplicatedFirst/Wobblo"), r"manifest|script|signed")
        heard = [line for line in world.lines if "heard good day" in line]
        check(not heard, f"a client's script ran: {heard}")
    finally:
        world.kill()


# --- what never leaves ----------------------------------------------------------------------------

def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def schema_number():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, "core/wire/message.h"), encoding="utf-8") as file:
        return int(re.search(r"#define PROTOCOL_SCHEMA\s+(\d+)", file.read())[1])


def binary_handshake(ticket):
    texts = b"".join(varint(len(text)) + text for text in (b"", ticket.encode(), b"", b"", b"eve"))
    return bytes([21]) + varint(1) + varint(0) + varint(2) + varint(schema_number()) + texts + varint(0)


def hear_all(socket, seconds):
    out = b""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            data = socket.receive(max(0.01, end - time.monotonic()))
        except TimeoutError:
            break
        out += data.encode() if isinstance(data, str) else data
    return out


def unzstd(data, limit):
    """By the library that the program itself is linked with."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(limit)
    made = library.ZSTD_decompress(out, ctypes.c_size_t(limit), data, ctypes.c_size_t(len(data)))
    check(made <= limit, f"not a zstd frame of at most {limit} bytes")
    return out.raw[:made]


def test_runes_over_http_may_be_zstd(program, places, folder):
    place = write_place(folder)
    world = World(program, place, None)
    try:
        smaller = 0
        for path, found in runes_of(place).items():
            accepts = {"Accept-Encoding": "gzip, deflate, br, zstd"}
            status, headers, body = world.request("GET", f"/blob/{found}", headers=accepts)
            if "ServerScriptService" in path:
                check(status == 404 and "Content-Encoding" not in headers, f"{path}: {status}")
                continue
            plain = world.request("GET", f"/blob/{found}")
            check(plain[0] == 200 and hashlib.sha256(plain[2]).hexdigest() == found, path)
            check("Content-Encoding" not in plain[1], "nobody asked for it")
            check(plain[1]["Vary"] == "Accept-Encoding", "a cache may not mix them up")
            check(status == 200 and headers["Vary"] == "Accept-Encoding", f"{path}: {headers}")
            zstd = headers.get("Content-Encoding") == "zstd"
            check(zstd or len(plain[2]) < 400, f"{path}: {headers}")  # the least do not shrink
            check("immutable" in headers["Cache-Control"], "it never changes")
            check(int(headers["Content-Length"]) == len(body), "the length is that of what is sent")
            whole = unzstd(body, len(plain[2])) if zstd else body
            check(whole == plain[2], f"{path} is another rune")
            smaller += zstd and len(body) < len(plain[2])
            # Refused, or a part of the rune's own bytes.
            refused = world.request("GET", f"/blob/{found}", headers={"Accept-Encoding": "br, zstd;q=0"})
            check(refused[2] == plain[2] and "Content-Encoding" not in refused[1], "it was refused")
            part = world.request("GET", f"/blob/{found}", headers={**accepts, "Range": "bytes=4-19"})
            check(part[0] == 206 and part[2] == plain[2][4:20], f"another part: {part}")
            check("Content-Encoding" not in part[1], "a range is of the rune")
            check(part[1]["Content-Range"] == f"bytes 4-19/{len(plain[2])}", f"{part[1]}")
            outside = world.request("GET", f"/blob/{found}",
                                    headers={**accepts, "Range": "bytes=99999999-"})
            check(outside[0] == 416 and "Content-Encoding" not in outside[1], f"{outside}")
        check(smaller > 0, "there was nothing to see")
        scene = json.loads(world.request("GET", f"/api/rooms/{world.room}")[2])["sceneHash"]
        status, headers, body = world.request("GET", f"/blob/{scene}", headers=accepts)
        check(status == 200 and hashlib.sha256(body).hexdigest() == scene, "the scene is as it is")
    finally:
        world.kill()


def test_packed_runes_have_an_address_of_their_own(program, places, folder):
    place = write_place(folder)
    world = World(program, place, None)
    try:
        packing = world.join(name="ann")["rune_packing"]
        check(isinstance(packing, int) and 0 < packing < 2 ** 32, f"a number: {packing}")
        for path, found in runes_of(place).items():
            if "ServerScriptService" in path:
                continue
            plain = world.request("GET", f"/blob/{found}")[2]
            for accepts in ({}, {"Accept-Encoding": "gzip, zstd"}):
                status, headers, body = world.request("GET", f"/packed/{packing}/{found}", headers=accepts)
                check(status == 200 and len(body) * 2 < len(plain), f"{path}: {status}, {len(body)}")
                check("Content-Encoding" not in headers, "whoever asked unpacks it, nobody before")
                check("immutable" in headers["Cache-Control"], "it never changes")
                check(headers["Content-Security-Policy"] == "sandbox", "and is no page")
            for other in (packing + 1, 0, f"0{packing}", f"{packing}x", "", "blob", -1):
                status = world.request("GET", f"/packed/{other}/{found}")[0]
                check(status == 404, f"{other}: {status}")
            for name in (found[:-1], found + "0", found[:-1] + "g", "..", "", f"{found}/x"):
                status = world.request("GET", f"/packed/{packing}/{name}")[0]
                check(status == 404, f"{name}: {status}")
        scene = json.loads(world.request("GET", f"/api/rooms/{world.room}")[2])["sceneHash"]
        check(world.request("GET", f"/packed/{packing}/{scene}")[0] == 404, "a scene is no rune")
    finally:
        world.kill()


def test_servers_own_scripts_never_leave(program, places, folder):
    place = write_place(folder)
    world = World(program, place, None)
    try:
        hashes = runes_of(place)
        vault = hashes["ServerScriptService/Vault.lua"]
        door = WebSocket(world.port, f"/api/rooms/{world.room}/ws", protocol="sandlot.v2.bin")
        door.send(binary_handshake(world.join(name="eve")["ticket"]), opcode=2)
        heard = hear_all(door, 2)
        check(b"StarterGui/Hello" in heard, "the binary session has no manifest")
        player = Player(world, name="mal", ticket=world.join(name="mal")["ticket"])
        manifest = manifest_of(player)
        check([row["path"] for row in manifest["scripts"]]
              == sorted(path for path in hashes if "ServerScript" not in path),
              f"another list: {manifest}")
        check(len(manifest["signature"]) == 88, "it is signed")
        for path in ("ServerScriptService/Vault", "ServerScriptService/Clumsy"):
            player.say("script", "ScriptRequest", {"script_paths": [path]})
            check(player.wait("error")["payload"]["code"] == "not_found", "it is not there")
            player.say("script", "ScriptRequest", {"script_paths": [path], "encoding": 1})
            check(player.wait("error")["payload"]["code"] == "not_found", "nor packed")
        player.say("script", "ScriptRequest", {"script_paths": ["StarterGui/Hello"]})
        chunk = player.wait("event", "ScriptChunk")["payload"]
        check(chunk["encoding"] == 0, "JSON clients get runes as they are")
        heard += json.dumps(player.events).encode() + json.dumps(player.snapshots).encode()
        heard += json.dumps(player.welcome).encode()
        # Every way in by HTTP that could have it.
        packing = world.join(name="mal")["rune_packing"]
        missing = world.request("GET", f"/packed/{packing}/" + "0" * 64)
        check(missing[0] == 404, "there is something under no hash")
        status, _, body = world.request("GET", f"/blob/{vault}")
        check(status == 404, f"/blob gives a rune of the server: {status}")
        nothing = world.request("GET", "/blob/" + "0" * 64)
        check((nothing[0], nothing[2]) == (status, body), "it differs from what is not there")
        for path, found in hashes.items():
            status, headers, body = world.request("GET", f"/blob/{found}")
            packed = world.request("GET", f"/packed/{packing}/{found}")
            if "ServerScriptService" in path:
                check(status == 404, f"{path}: {status}")
                check((packed[0], packed[2]) == (missing[0], missing[2]), f"{path} packed: {packed}")
            else:
                check(packed[0] == 200 and len(packed[2]) < len(body), f"{path} packed: {packed}")
                check(status == 200 and hashlib.sha256(body).hexdigest() == found, path)
                check("immutable" in headers["Cache-Control"], "it never changes")
            heard += body
        for path in ("/", "/metrics", "/api/rooms/" + world.room, "/.sandlot/server/soul/manifest.json",
                     "/ServerScriptService/Vault.lua", "/blob/../.sandlot/data/ticket.key",
                     "/assets/../.sandlot/client/soul/manifest.json"):
            heard += world.request("GET", path)[2]
        heard += world.request("POST", "/join", {})[2]
        for what in (SECRET, "Vault", "Clumsy", "ServerScriptService", vault):
            check(what.encode() not in heard, f"{what} was told")
        check(bytes.fromhex(vault) not in heard, "its hash was told")
        check(b"StarterGui/Hello" in heard, "the others were")
    finally:
        world.kill()


# --- lives ------------------------------------------------------------------------------------------

def test_costs_and_faults_leave_the_world(program, places, folder):
    """What scripts cost, and how they fail, can be asked for while the world runs."""
    world = World(program, write_place(folder), os.path.join(folder, "data"))
    try:
        room = json.loads(world.request("GET", f"/api/rooms/{world.room}")[2])
        path = f"/api/worlds/{room['worldId']}/scripts"

        def table():
            status, _, body = world.request("GET", path)
            check(status == 200, f"{status} {body}")
            return json.loads(body)

        def row(rows, name):
            return next((item for item in rows if item["path"] == name), None)

        clumsy = "ServerScriptService/Clumsy"
        wait_until(lambda: (row(table()["scripts"], clumsy) or {"faults": 0})["faults"] >= 3,
                   "the faults of a script are in its row")
        found = table()
        script = row(found["scripts"], clumsy)
        check(script["state"] in ("throttled", "off", "running") and script["throttles"] >= 1,
              f"{script}")
        lift = row(found["scripts"], "Workspace/Lift")
        check(lift["calls"] > 0 and lift["steps"] > 0 and lift["timeUs"] > 0
              and lift["timeP99Us"] >= lift["timeMeanUs"] and lift["compileUs"] > 0
              and lift["memoryBytes"] > 0, f"{lift}")
        check(row(found["entities"], "Workspace/Lift")["entity"] > 0, "by entity")
        fault = row(found["faults"], clumsy)
        check(fault["line"] == 4 and fault["kind"] == "error" and "nil" in fault["message"],
              f"{fault}")
        # Sums for /metrics, without a label for each script.
        wait_until(lambda: world.metric("sandlot_world_script_faults_total") >= 3, "in /metrics")
        check(world.metric("sandlot_world_script_seconds_total") > 0, "time")
        check(world.metric("sandlot_world_script_compile_seconds_total") > 0, "compile time")
        check(world.metric("sandlot_world_script_throttles_total") >= 1, "throttles")
        metrics = world.request("GET", "/metrics")[2].decode()
        check("Clumsy" not in metrics, "no names of scripts in /metrics")
        # Not for others, nor for what is not there.
        check(world.request("GET", path, headers={"X-Forwarded-For": "1.2.3.4"})[0] == 404, "proxied")
        check(world.request("GET", path, headers={"Origin": "http://evil.example"})[0] == 404,
              "another page")
        check(world.request("GET", "/api/worlds/world_other/scripts")[0] == 404, "no such world")
        check(fault["file"] == clumsy + ".lua" and fault["number"] >= 1, f"{fault}")
        check(found["scriptCount"] >= len(found["scripts"]), f"{found['scriptCount']}")
        world.stop()
    finally:
        world.kill()


FOLLOWED = {
    "Workspace/Lift.lua": SCRIPTS["Workspace/Lift.lua"],
    "Workspace/Pit.lua": SCRIPTS["Workspace/Pit.lua"],
    "ServerScriptService/Loud.lua": """
Network.OnClientEvent("shout", function(player, text)
    Network.Broadcast("echo", text)
end)
Network.OnClientEvent("break", function(player, text)
    error("broken by " .. text)
end)
""",
    "StarterGui/Bad.lua": """
function onUpdate()
    local x = (nil).field
end
""",
}


def test_costs_are_followed(program, places, folder):
    """Remotes by name; a fault at once; who follows is bounded; what clients report is marked as that."""
    world = World(program, write_place(folder, FOLLOWED), os.path.join(folder, "data"))
    bots = None
    try:
        room = json.loads(world.request("GET", f"/api/rooms/{world.room}")[2])
        path = f"/api/worlds/{room['worldId']}/scripts"

        def table(query=""):
            status, _, body = world.request("GET", path + query)
            check(status == 200, f"{status} {body}")
            return json.loads(body)

        def remote(name):
            return next((row for row in table()["remotes"] if row["name"] == name), None)

        player = Player(world, name="mal", ticket=world.join(name="mal")["ticket"])
        version = manifest_of(player)["version"]
        hello = base64.b64encode(bytes([6, 1, 5, 2]) + b"hi").decode()
        for name in ["shout"] * 3 + [f"invented {i}" for i in range(30)]:
            player.say("remote", "fire", {"name": name, "payload": hello, "generation": version})
        heard = wait_until(lambda: remote("echo"), "the remotes are counted")
        check(heard["downCount"] >= 1 and heard["downBytes"] == heard["downCount"] * 10, f"{heard}")
        wait_until(lambda: remote("shout")["upCount"] == 3 and remote("")["upCount"] == 30, "all of them")
        check(remote("shout")["upBytes"] == 3 * 11, f"{remote('shout')}")
        wait_until(lambda: remote("")["refusedNobody"] == 30, "nobody listens to them")
        check(remote("shout")["dropped"] == 0, f"{remote('shout')}")
        check(not any("invented" in row["name"] for row in table()["remotes"]), "names of a client")
        # A fault does not wait for the numbers, which come when a second of ticks is over.
        at_once = 0
        for _ in range(3):
            seen = table()
            number = max([fault["number"] for fault in seen["faults"]] + [0])
            player.say("remote", "fire", {"name": "break", "payload": hello, "generation": version})
            for _ in range(60):
                if any(fault["number"] > number for fault in seen["faults"]):
                    break
                seen = table(f"?follow=1&after={seen['version']}")
            fault = seen["faults"][-1]
            check("broken by hi" in fault["message"] and fault["line"] == 6, f"{fault}")
            check(fault["file"] == "ServerScriptService/Loud.lua", f"{fault}")
            at_once += seen["tick"] % 60 != 0
            time.sleep(0.3)
        check(at_once > 0, "faults come with the numbers alone")
        for query in ("?follow=2", "?follow=x", "?after=-1", "?follow=1&after=x"):
            check(world.request("GET", path + query)[0] == 400, query)
        # What clients report is apart from what the server counted, and the path must be one of theirs.
        row = {"path": "StarterGui/Bad", "calls": 5, "timeUs": 100, "faults": 5}
        player.say("script", "costs", {
            "version": version, "fault_path": "StarterGui/Bad", "fault_line": 3,
            "fault_message": "it \u001b[2J broke",
            "costs": [row, {"path": "ServerScriptService/Loud", "calls": 7}]})
        found = wait_until(lambda: table()["clients"]["reports"] == 1 and table()["clients"], "a report")
        check([one["path"] for one in found["scripts"]] == ["StarterGui/Bad"], f"{found}")
        check(found["scripts"][0]["calls"] == 5 and found["refused"] == 1, f"{found}")
        check(found["faults"][0]["line"] == 3 and "\x1b" not in found["faults"][0]["message"], f"{found}")
        # Real clients report by themselves.
        bots = Bots(program, world.port, 2, 25, "walk", "--scripts")
        wait_until(lambda: table()["clients"]["reports"] >= 3, "bots report what their scripts cost", 30)
        found = table()["clients"]
        check(found["scripts"][0]["steps"] > 0 and found["scripts"][0]["memoryBytes"] > 0, f"{found}")
        bots.kill()
        world.stop()
    finally:
        if bots:
            bots.kill()
        world.kill()


def test_attributes_stay_with_their_entity(program, places, folder):
    """A part is put before another one that has no name: what was stored of that one stays with it."""
    place = write_place(folder, {"Workspace/Chest.lua": """
function onStart(self)
    print("chest", self.Position.X, "has", self:GetAttribute("gold"))
    if self.Position.X == 9 then
        self:SetAttribute("gold", 12, {persistent = true})
    end
end
"""})

    def chest(number, x):
        return {"id": number, "transform": {"position": [x, 0.5, 9]},
                "shape": {"size": [1, 1, 1]}, "scriptPath": "Workspace/Chest"}

    start = {"id": 1, "type": "spawn", "transform": {"position": [0, 0, 0]}}
    terrain = SCENE["terrain"]
    data = os.path.join(folder, "data")
    for entities, lines in (
            ([start, chest(7, 9)], [r"chest 9(\.0)? has nil"]),
            ([start, chest(8, 5), chest(7, 9)], [r"chest 5(\.0)? has nil", r"chest 9(\.0)? has 12"])):
        write(place, "scene.json", {"format": 1, "terrain": terrain, "entities": entities})
        world = World(program, place, data)
        try:
            for line in lines:
                world.wait_line(line)
            world.stop()
        finally:
            world.kill()


def test_versions_rise_over_every_death(program, places, folder):
    place = write_place(folder)
    data = os.path.join(folder, "data")
    world = World(program, place, data)
    bots = None
    try:
        def newest():
            player = Player(world, name="ann", ticket=world.join(name="ann")["ticket"])
            manifest = manifest_of(player)
            player.close()
            return manifest
        first = newest()
        bots = Bots(program, world.port, 2, 8, "walk", "--scripts", "--allow-weak-jail")
        time.sleep(4)
        for pid in world.children():
            os.kill(pid, 9)
        wait_until(lambda: world.metric("sandlot_world_starts_total") >= 2, "it runs again")
        wait_until(world.is_ready, "it is ready again")
        second = newest()
        check(second["version"] > first["version"], f"{first['version']}, {second['version']}")
        check(second["signature"] != first["signature"], "it is signed anew")
        check(second["server_tick"] > 0, "with the time the world has run")
        out, err = bots.process.communicate(timeout=90)
        result = json.loads(out.splitlines()[-1])
        check(result["scripted"] == 2, f"the bots run scripts no more: {result} {err}")
        check(result["manifest_version"] >= second["version"], f"of the new manifest: {result}")
        check(not any("manifest" in reason for reason in result["reasons"]),
              f"a client refused: {result['reasons']}")
        world.kill()
        world = World(program, place, data)
        third = newest()
        check(third["version"] > second["version"], f"{second['version']}, {third['version']}")
    finally:
        if bots is not None and bots.runs():
            bots.kill()
        world.kill()


def test_a_warm_start_compiles_nothing(program, places, folder):
    place = write_place(folder)
    world = World(program, place, None)
    world.wait_line(r"build: 7 scripts compiled")
    world.stop()
    world = World(program, place, None)
    try:
        world.wait_line(r"build: 7 scripts, nothing compiled")
    finally:
        world.kill()
    write(place, "StarterGui/Hello.lua", "print('other')\n")
    world = World(program, place, None)
    try:
        world.wait_line(r"build: 7 scripts, 1 compiled")
    finally:
        world.kill()


def test_a_place_that_does_not_build_does_not_start(program, places, folder):
    place = write_place(folder, {"Workspace/Lift.lua": "local = 1\n", "Workspace/Pit.lua": ""})
    ended = subprocess.run([program, "world", "--place", place, "--port", "0",
                            "--allow-weak-jail"], capture_output=True, text=True, timeout=60)
    check(ended.returncode == 1, f"exit code {ended.returncode}")
    check(re.search(r"live/Workspace/Lift\.lua:1(:\d+)?: error: ", ended.stderr), ended.stderr)
    check("cannot be built" in ended.stderr, ended.stderr)


# --- what somebody changed --------------------------------------------------------------------------

def files_of(root):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(root) for name in names)


def flip(path, at=-1):
    mode = os.stat(path).st_mode
    os.chmod(path, 0o600)
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        if data:
            data[at] ^= 1
        file.seek(0)
        file.write(data)
    os.chmod(path, mode)


def runs_right(program, place, expect=r"guards 22 good day"):
    world = World(program, place, None)
    try:
        world.wait_line(expect)
        bots = Bots(program, world.port, 1, 1, "stand", "--scripts", "--allow-weak-jail")
        result = bots.result(60)
        check(result["scripted"] == 1 and result["failures"] == 0, f"clients: {result}")
        world.wait_line(r"heard good day")
    finally:
        world.kill()


def test_changed_artifacts_are_made_again(program, places, folder):
    """A world runs what the pipeline gives it, and that reads back nothing unverified: a rune whose
    bytes are not its hash's is compiled again, and the artifacts are written anew."""
    place = write_place(folder)
    runs_right(program, place)
    soul = os.path.join(place, ".sandlot/server/soul")
    flip(os.path.join(soul, "ServerScriptService/Vault.rune"))
    runs_right(program, place)
    manifest = os.path.join(soul, "manifest.json")
    with open(manifest, encoding="utf-8") as file:
        text = file.read()
    os.chmod(manifest, 0o600)
    with open(manifest, "w", encoding="utf-8") as file:
        file.write(text.replace('"version":', '"version":9'))
    runs_right(program, place)
    for path in files_of(os.path.join(place, ".sandlot/cache")):
        flip(path)
    runs_right(program, place)
    for path in files_of(os.path.join(place, ".sandlot/cache")):
        flip(path, 0)
    runs_right(program, place)
    shutil.rmtree(os.path.join(place, ".sandlot/cache"))
    runs_right(program, place)
    verified = subprocess.run([program, "build", place, "--verify"], capture_output=True, text=True,
                              timeout=60)
    check(verified.returncode == 0, verified.stdout + verified.stderr)


def test_another_key_signs_anew(program, places, folder):
    place = write_place(folder)
    runs_right(program, place)
    key = os.path.join(place, ".sandlot/data/ticket.key")
    os.remove(key)
    runs_right(program, place)  # with a key of its own
    flip(key)
    ended = subprocess.run([program, "world", "--place", place, "--port", "0",
                            "--allow-weak-jail"], capture_output=True, text=True, timeout=60)
    check(ended.returncode == 1 and "ticket.key" in ended.stderr, ended.stderr)


if __name__ == "__main__":
    sys.exit(run({**globals()}, sys.argv))

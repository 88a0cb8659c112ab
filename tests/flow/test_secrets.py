"""Nothing of server scripts reaches a client. A place has markers in its server scripts: in their names,
constants, function names, comments, DataStore keys and fault texts, and their hashes are known. Everything
that is sent to people who did not make it, by socket (JSON and binary) and by every HTTP route, errors
included, is searched for them in every form in which bytes travel. Markers of a client script prove that
the search finds what is there."""

import base64
import hashlib
import json
import sys
import time
import types

import support
from publish import Publisher, package
from support import PATIENCE, Player, WebSocket, check, run, wait_until
from test_live_scripts import binary_handshake, manifest_of, varint

SECRET = "zq7xj4wk"  # in every marker of the server's; long, so that no random bytes are equal to it
SHOWN = "pk5tn8rd"   # the same of what players may have

GAME = """-- zq7xj4wk comment of the game
local module = require("ServerScriptService/Zq7xj4wkModule")
local zq7xj4wk_number = 1
local zq7xj4wk_text = "zq7xj4wk constant"
function zq7xj4wk_function(text)
    return text .. zq7xj4wk_text
end
local store = DataStore.GetDataStore("zq7xj4wk store")
task.spawn(function()
    store:SetAsync("zq7xj4wk key", {zq7xj4wk_field = "zq7xj4wk value"})
    print("zq7xj4wk stored", module.zq7xj4wk_member)
end)
Network.OnClientEvent("shout", function(player, text)
    Network.Broadcast("echo", "pk5tn8rd " .. text)
    error("zq7xj4wk fault of a handler")
end)
Network.OnInvoke("ask", function(player, text)
    error("zq7xj4wk fault of a call")
end)
Network.OnInvoke("wrong", function(player, text)
    return {zq7xj4wk_function = zq7xj4wk_function}
end)
Network.OnInvoke("slow", function(player, text)
    store:SetAsync("zq7xj4wk key", zq7xj4wk_function)
end)
Network.Declare("typed", {types = {"number"}})
Network.OnInvoke("typed", function(player, zq7xj4wk_argument)
    return zq7xj4wk_argument.zq7xj4wk_nothing.zq7xj4wk_more
end)
function onStart()
    local zq7xj4wk_nothing = (nil).zq7xj4wk_index
end
"""
FILES = {
    "ServerScriptService__Zq7xj4wkGame": GAME,
    "ServerScriptService__Zq7xj4wkModule": '-- zq7xj4wk comment\nreturn {zq7xj4wk_member = "zq7xj4wk member"}\n',
    "ServerScriptService__zq7xj4wkfolder__Zq7xj4wkDeep": 'error("zq7xj4wk fault while loading")\n',
    "StarterGui__Hud": """local text = "pk5tn8rd constant"
Network.OnServerEvent("echo", function(said) print(text, said) end)
""",
}


# --- what is searched -------------------------------------------------------------------------------

def base64_forms(raw):
    """As it stands inside a longer text that was encoded whole, at any of the three offsets."""
    for pad in range(3):
        text = base64.b64encode(bytes(pad) + raw)
        text = text[(pad * 8 + 5) // 6:(pad + len(raw)) * 8 // 6]
        yield text
        yield text.translate(bytes.maketrans(b"+/", b"-_"))


def forms(raw):
    yield raw
    yield raw.hex().encode()
    yield from base64_forms(raw)


def needles_of(marker, hashes):
    """Every form, and what it is."""
    found = {}
    for text in (marker, marker.capitalize(), marker.upper()):
        found.update({form: f"the marker {text}" for form in forms(text.encode())})
    for path, digest in hashes.items():
        found.update({form: f"the hash of {path}" for form in forms(bytes.fromhex(digest))})
        found[digest.upper().encode()] = f"the hash of {path}"
    return found


class Searched:
    """Everything that was heard, by who heard it and how."""

    def __init__(self):
        self.heard = []

    def add(self, where, data):
        self.heard.append((where, data))

    def find(self, needles):
        """(where, what, around it) of everything that is in it."""
        return [(where, what, data[max(0, data.find(form) - 80):data.find(form) + 80])
                for where, data in self.heard for form, what in needles.items() if form in data]


class Tap:
    """A socket that keeps every byte that comes."""

    def __init__(self, line, keep):
        self.line, self.keep = line, keep

    def recv(self, count):
        data = self.line.recv(count)
        self.keep(data)
        return data

    def __getattr__(self, name):
        return getattr(self.line, name)


def tapped(searched, where):
    """A kind of WebSocket whose bytes are searched, the answer to its upgrade too."""
    class Tapped(WebSocket):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            kept = bytearray(self.head.encode() + self.buffer)
            searched.heard.append((where, kept))
            self.socket = Tap(self.socket, kept.extend)
    return Tapped


# --- people -----------------------------------------------------------------------------------------

def begin(program, places, folder):
    """A server with ann's place, and those who did not make it."""
    up = Publisher(program, places, folder)
    up.begin("ann", "bob", "tess", "bogdan")
    up.tokens["pat"] = up.register("pat")["session_token"]
    up.tokens["gus"] = up.post("/login", {"username": "gus"})[1]["session_token"]
    made = up.publish("ann", package("Secrets", **FILES), visibility="listed", channel="live")
    place = made["place_id"]
    for name, role in (("tess", "tester"), ("bogdan", "blocked")):
        up.good("PUT", f"/api/places/{place}/team/{name}", {"role": role}, "ann")
    return up, made


OTHERS = ("gus", "pat", "bob", "tess", "bogdan", None)


def hashes_of(up, place):
    """Runes and sources of the server's scripts, by path; and the runes of the players'."""
    manifest = up.good("GET", f"/api/places/{place}/revisions/r1/manifest", who="ann")
    rows = {row["path"]: row["rune_hash"].removeprefix("sha256:") for row in manifest["scripts"]}
    hidden = {path: digest for path, digest in rows.items() if path.startswith("ServerScriptService/")}
    check(len(hidden) == 3 and len(rows) == 4, rows)
    for path, text in FILES.items():
        if path.startswith("Server"):
            hidden[f"the source of {path}"] = hashlib.sha256(text.encode()).hexdigest()
    return hidden, {path: digest for path, digest in rows.items() if path not in hidden}


def enter(up, searched, who, place, **wish):
    """A world, as Player wants it, and the ticket for it."""
    answer = up.good("POST", "/join", wish or {"place_id": place}, who)
    searched.add(f"POST /join of {who}", json.dumps(answer).encode())
    return types.SimpleNamespace(port=up.port, room=answer["room_code"], world_id=answer["world_id"]), answer


HELLO = bytes([6, 1, 5, 2]) + b"hi"  # a list of one text


INPUT_BATCH, SNAPSHOT = 3, 68  # numbers of messages


def binary_remote(seq, name, invoke, generation):
    return (bytes([13]) + varint(seq) + varint(0) + varint(len(name)) + name.encode() +
            varint(len(HELLO)) + HELLO + varint(invoke) + varint(generation))


CALLS = ("ask", "wrong", "slow", "typed", "nobody")


def play_json(up, searched, who, place):
    """Makes the server's scripts fail in every way, and asks for what is not there; the world."""
    world, answer = enter(up, searched, who, place)
    support.WebSocket = tapped(searched, f"the JSON socket of {who}")
    try:
        player = Player(world, ticket=answer["ticket"])
    finally:
        support.WebSocket = WebSocket
    version = manifest_of(player)["version"]
    payload = base64.b64encode(HELLO).decode()
    player.say("remote", "fire", {"name": "shout", "payload": payload, "generation": version})
    player.listen(0.3)  # three faults in a tick would be the last that reach the script
    for number, name in enumerate(CALLS, 1):
        player.say("remote", "fire", {"name": name, "payload": payload, "invokeId": number,
                                      "generation": version})
    for path in ("ServerScriptService/Zq7xj4wkGame", "ServerScriptService", "../Zq7xj4wkGame", "StarterGui/Hud"):
        player.say("script", "ScriptRequest", {"script_paths": [path]})
        player.say("script", "ScriptVerify", {"script_path": path, "success": False})
        player.say("script", "costs", {"version": version, "costs": [{"path": path, "calls": 1}]})
    player.say("script", "nothing", {})

    def answered():
        player.listen(0.2)
        told = [one for message in player.snapshots
                for one in message["payload"].get("features", {}).get("script", {}).get("remote", [])]
        return sum("invokeId" in one for one in told) >= len(CALLS)
    wait_until(answered, "the calls are answered")
    player.close()
    return world, version


def play_binary(up, searched, who, world, version):
    """Somebody else: the remotes of a player who made scripts fail do not reach them for a while."""
    _, answer = enter(up, searched, who, None, world_id=world.world_id)
    door = tapped(searched, f"the binary socket of {who}")(
        up.port, f"/api/rooms/{world.room}/ws", protocol="sandlot.v2.bin")
    door.send(binary_handshake(answer["ticket"]), opcode=2)
    seq, frames, heard = 1, 0, b""
    end = time.monotonic() + 15 * PATIENCE
    while b"refusal" not in heard:
        check(time.monotonic() < end, f"no call is answered to {who}")
        data = door.receive()
        heard += data
        if data[0] != SNAPSHOT:
            continue
        frames += 1
        seq += 1
        door.send(bytes([INPUT_BATCH]) + varint(seq) + varint(0) + varint(frames) + bytes(4), opcode=2)
        if frames != 3:
            continue
        for name in ("shout", *CALLS):
            seq += 1
            door.send(binary_remote(seq, name, seq if name != "shout" else 0, version), opcode=2)
    door.close()


# --- HTTP -------------------------------------------------------------------------------------------

def addresses(path, values):
    """The path with everything that might fit its names."""
    made = [path]
    for name in [part.split("}")[0] for part in path.split("{")[1:]]:
        made = [one.replace("{" + name + "}", value) for one in made
                for value in values.get(name, values["id"])]
    return made


def crawl(up, searched, values):
    """Every route as everybody, and what changes something with a body that means nothing. Routes about
    whoever asks are asked with GET alone, or they would sign out or delete themselves."""
    document = up.good("GET", "/api/openapi.json")
    asked = 0
    for path, item in document["paths"].items():
        for method in item:
            is_change = method != "get"
            if path.endswith("/ws") or (is_change and "{" not in path):
                continue
            for address in addresses(path, values):
                for who in ("bob", "gus") if is_change else OTHERS:
                    status, headers, body = up.raw(method.upper(), address, b"{}" if is_change else None, who)
                    where = f"{method.upper()} {address} as {who}: {status}"
                    searched.add(where, json.dumps(headers).encode() + body)
                    asked += 1
    return asked


def test_secrets_of_server_scripts_stay(program, places, folder):
    up, made = begin(program, places, folder)
    searched = Searched()
    try:
        place = made["place_id"]
        hidden, shown = hashes_of(up, place)
        world, version = play_json(up, searched, "gus", place)
        play_binary(up, searched, "tess", world, version)
        play_json(up, searched, "pat", place)
        play_binary(up, searched, "bob", world, version)
        # A private world of somebody who did not make the place: theirs, but not its scripts.
        own = up.good("POST", "/api/worlds", {"place_id": place, "name": "Den", "private": True}, "pat")
        enter(up, searched, "pat", place, world_id=own["world_id"])
        wrong = up.upload("ann", package("Wrong", ServerScriptService__Zq7xj4wkBad="zq7xj4wk_text = = 1"), place)[1]
        check(up.job("ann", wrong["job_id"])["status"] == "failed", "it is built")
        table = wait_until(lambda: up.ask("GET", f"/api/worlds/{world.world_id}/scripts", who="ann")[1]
                           .get("faults"), "the owner of the place sees the faults")
        check(any("zq7xj4wk fault of a handler" in fault["message"] for fault in table), table)
        blobs = list(hidden.values()) + list(shown.values())
        row = up.good("GET", f"/api/places/{place}/revisions/r1", who="ann")
        packing = up.good("POST", "/join", {"world_id": world.world_id}, "pat")["rune_packing"]
        values = {"place_id": [place], "revision_id": ["r1", "r2"], "sha256": blobs + [row["sha256"]],
                  "path": ["scene.json", "ServerScriptService/Zq7xj4wkGame.lua"], "number": [str(packing)],
                  "world_id": [world.world_id, own["world_id"]], "code": [world.room],
                  "id": [place, world.world_id, made["job_id"], wrong["job_id"]],
                  "account": ["ann"], "name": ["ann"], "username": ["ann"]}
        asked = crawl(up, searched, values)
        print(f"{asked} requests, {sum(len(data) for _, data in searched.heard)} bytes")
        found = searched.find(needles_of(SECRET, hidden))
        check(not found, "\n".join(f"{what} is in {where}: {around}" for where, what, around in found[:20]))
        # The search finds what is there: on both sockets, and by HTTP.
        found = searched.find(needles_of(SHOWN, shown))
        for where in ("the JSON socket of gus", "the binary socket of tess", "GET /blob/"):
            check(any(place.startswith(where) for place, _, _ in found), f"nothing is found in {where}")
        whats = {what for _, what, _ in found}
        check("the hash of StarterGui/Hud.lua" in whats and f"the marker {SHOWN}" in whats, whats)
        up.stop()
    finally:
        up.kill()


def test_secrets_who_sees_costs(program, places, folder):
    """The owner and editors of the place and operators; nobody else, not even the owner of the world."""
    up, made = begin(program, places, folder)
    try:
        place = made["place_id"]
        up.creator("edda")
        up.good("PUT", f"/api/places/{place}/team/edda", {"role": "editor"}, "ann")
        own = up.good("POST", "/api/worlds", {"place_id": place, "name": "Den", "private": True}, "pat")
        path = f"/api/worlds/{own['world_id']}/scripts"
        check(up.raw("GET", path, who="ann")[0] == 503, "it does not run yet")
        enter(up, Searched(), "pat", place, world_id=own["world_id"])
        for who in ("ann", "edda", "boss"):
            found = wait_until(lambda who=who: up.ask("GET", path, who=who)[1].get("scripts"), f"for {who}")
            check(any(row["path"] == "ServerScriptService/Zq7xj4wkGame" for row in found), found)
        unknown = up.raw("GET", "/api/worlds/world_never/scripts", who="ann")
        check(unknown[0] == 404, unknown)
        for who in OTHERS:
            for query in ("", "?follow=1", "?follow=x"):
                answer = up.raw("GET", path + query, who=who)
                check((answer[0], answer[2]) == (404, unknown[2]), f"{who}: {answer}")
        token = up.good("POST", "/api/account/tokens", {"name": "t", "scope": "play"}, "ann")
        up.tokens["tool"] = token["token"]
        check(up.raw("GET", path, who="tool")[0] == 404, "a token that is for playing alone")
        # What an editor may see ends with being one.
        up.good("DELETE", f"/api/places/{place}/team/edda", who="ann")
        check(up.raw("GET", path, who="edda")[0] == 404, "no editor any more")
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

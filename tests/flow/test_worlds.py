"""Worlds of accounts: joining, private worlds, limits, who may see what, sign-ins as a way in, and a
world as one file."""

import base64
import http.client
import json
import os
import sys

from hosts import Room, enter, leave
from support import PATIENCE, Closed, Failure, Player, check, run, wait_until
from test_up import SECRET, Up, one_place

KEY = {"SECRET_KEY": SECRET}


class Guest:
    """Somebody who signed in by /login, and asks as themselves."""

    def __init__(self, up, name="bo"):
        self.up, self.name = up, name
        status, _, body = up.request("POST", "/login", {"username": name})
        check(status == 200, f"/login says {status}: {body}")
        self.token = json.loads(body)["session_token"]

    def ask(self, method, path, body=None):
        """Status and answer; of an error its code."""
        status, _, text = self.up.request(method, path, body,
                                          {"Authorization": f"Bearer {self.token}"})
        answer = json.loads(text) if text else None
        return status, answer if status < 400 else answer["error"]

    def get(self, path):
        status, answer = self.ask("GET", path)
        check(status == 200, f"{path} says {status}: {answer}")
        return answer

    def join(self, **wish):
        status, answer = self.ask("POST", "/join", wish)
        check(status == 200, f"/join says {status}: {answer}")
        return answer

    def refused(self, status, code, method, path, body=None):
        got, answer = self.ask(method, path, body)
        check((got, answer.get("code")) == (status, code),
              f"{method} {path} {body} says {got} {answer}, not {status} {code}")
        return answer["message"]

    def play(self, **wish):
        return enter(self.up, token=self.token, **wish)


def started(program, places, folder, *options, variables=None):
    return Up(program, folder, "--places", one_place(places, folder), *options,
              variables=variables)


# --- joining --------------------------------------------------------------------------------------

def test_worlds_join_needs_a_sign_in(program, places, folder):
    up = started(program, places, folder)
    try:
        status, _, body = up.request("POST", "/join", {})
        error = json.loads(body)["error"]
        check(status == 401 and "/login" in error["message"], f"{status} {error}")
        up.stop()
    finally:
        up.kill()


def test_worlds_join_with_nothing_gives_a_guest_its_own_world_again(program, places, folder):
    """One world for each guest, and three from one address."""
    up = started(program, places, folder, variables=KEY)
    try:
        bo = Guest(up)
        first = bo.join()
        check(bo.join()["world_id"] == first["world_id"], "another world for the same guest")
        others = [Guest(up, f"g{number}").join()["world_id"] for number in range(2)]
        check(len({first["world_id"], *others}) == 3, f"{first} {others}")
        late = Guest(up, "late")
        message = late.refused(429, "too_many_worlds", "POST", "/join", {})
        check("place_id" in message, message)
        by_place = late.join(place_id=first["place_id"])
        check(by_place["world_id"] in {first["world_id"], *others}, f"{by_place}")
        up.stop()
    finally:
        up.kill()


def test_worlds_join_names_what_is_misspelt(program, places, folder):
    up = started(program, places, folder)
    try:
        bo = Guest(up)
        message = bo.refused(400, "unknown_member", "POST", "/join", {"wolrd_id": "x"})
        check("wolrd_id" in message and "world_id" in message, message)
        message = bo.refused(400, "unknown_member", "POST", "/join", {"zzz": 1})
        check("place_id" in message, message)
        bo.refused(400, "malformed", "POST", "/join", {"world_id": 7})
        bo.refused(400, "malformed", "POST", "/join", {"room_code": "A" * 17})
        check(bo.get("/worlds")["worlds"] == [], "a world was made all the same")
        bo.refused(404, "not_found", "POST", "/join", {"world_id": "world_nowhere"})
        bo.refused(404, "not_found", "POST", "/join", {"place_id": "nowhere"})
        bo.refused(404, "not_found", "POST", "/join", {"room_code": "NOROOM"})
        up.stop()
    finally:
        up.kill()


def test_worlds_join_by_room_code_and_place(program, places, folder):
    up = started(program, places, folder)
    try:
        bo, ann = Guest(up), Guest(up, "ann")
        world = bo.join()
        check(ann.join(room_code=world["room_code"].lower())["world_id"] == world["world_id"],
              "by its code")
        for code in (f"{world['room_code'][:3]}-{world['room_code'][3:]}",
                     f" {world['room_code'][:3].lower()} {world['room_code'][3:].lower()} "):
            check(ann.join(room_code=code)["world_id"] == world["world_id"], f"as {code!r}")
        check(ann.join(place_id=world["place_id"])["world_id"] == world["world_id"],
              "the fullest of the place")
        ann.refused(404, "not_found", "POST", "/join",
                    {"room_code": world["room_code"], "world_id": "world_other"})
        check(world["server_address"] ==
              f"ws://127.0.0.1:{up.port}/api/rooms/{world['room_code']}/ws",
              world["server_address"])
        up.stop()
    finally:
        up.kill()


# --- private worlds -------------------------------------------------------------------------------

def test_worlds_private(program, places, folder):
    """Only by its code; to others it is not there."""
    up = started(program, places, folder)
    try:
        bo, ann = Guest(up), Guest(up, "ann")
        status, made = bo.ask("POST", "/api/worlds", {"name": "Den", "private": True})
        check(status == 201 and made["name"] == "Den" and made["private"], f"{status} {made}")
        check(len(made["room_code"]) == 10, made["room_code"])
        check(made["created_at"].endswith("Z"), made["created_at"])
        room = bo.get(f"/api/rooms/{made['world_id']}")
        check(room["isPrivate"] and room["name"] == "Den", room)
        ann.refused(404, "not_found", "GET", f"/api/rooms/{made['world_id']}")
        ann.refused(403, "forbidden", "POST", "/join", {"world_id": made["world_id"]})
        check(made["world_id"] not in
              {world["worldId"] for world in ann.get("/worlds")["worlds"]}, "it is listed")
        check(made["world_id"] in
              {world["worldId"] for world in bo.get("/worlds")["worlds"]}, "it is not listed")
        check(ann.join(place_id=room["placeId"])["world_id"] != made["world_id"],
              "found by its place")
        check(ann.join(room_code=made["room_code"])["world_id"] == made["world_id"],
              "by its code")
        check(bo.join(world_id=made["world_id"])["world_id"] == made["world_id"], "its owner")
        # To who is not invited it is not there, whatever they want with it.
        ann.refused(404, "not_found", "POST", f"/api/worlds/{made['world_id']}/guests", {"username": "bo"})
        for method, path in (("GET", ""), ("GET", "/export"), ("DELETE", "")):
            ann.refused(404, "not_found", method, f"/world/{made['world_id']}{path}")
        bo.refused(404, "no_account", "POST", f"/api/worlds/{made['world_id']}/guests",
                   {"username": "nobody"})
        bo.refused(409, "too_many_worlds", "POST", "/api/worlds", {})
        bo.refused(400, "unknown_member", "POST", "/api/worlds", {"privat": True})
        bo.refused(400, "malformed", "POST", "/api/worlds", {"private": "yes"})
        bo.refused(400, "invalid_name", "POST", "/api/worlds", {"name": "a\u202eb"})
        bo.refused(404, "not_found", "POST", "/api/worlds", {"place_id": "nowhere"})
        up.stop()
        up = Up(program, folder, "--places", os.path.join(folder, "own"))
        bo.up = ann.up = up
        ann.refused(403, "forbidden", "POST", "/join", {"world_id": made["world_id"]})
        check(bo.get(f"/api/rooms/{made['world_id']}")["name"] == "Den", "after a restart")
        up.stop()
    finally:
        up.kill()


def test_worlds_private_code_changes(program, places, folder):
    """When an invitation is taken back, the code that the invited one knew is worth nothing."""
    up = started(program, places, folder, "--registration", "open")
    try:
        def account(name):
            made = Guest(up, name)
            status, answer = made.ask("POST", "/register", {"username": name, "password": "a fine password"})
            check(status == 200, answer)
            made.token = answer["session_token"]
            return made

        bo, ann, eve = account("bo1"), account("ann"), account("eve")
        _, made = bo.ask("POST", "/api/worlds", {"name": "Den", "private": True})
        world, code = made["world_id"], made["room_code"]
        guests = f"/api/worlds/{world}/guests"
        for name in ("ann", "eve"):
            status, answer = bo.ask("POST", guests, {"username": name})
            check((status, answer["room_code"]) == (200, code), answer)
        # Who is invited knows that it is there, and is told that its file is not for them.
        for method, path in (("GET", ""), ("GET", "/export"), ("DELETE", "")):
            ann.refused(403, "denied", method, f"/world/{world}{path}")
        player = eve.play(room_code=code)
        status, answer = bo.ask("DELETE", f"{guests}/eve")
        eve.refused(404, "not_found", "GET", f"/world/{world}")
        new = answer["room_code"]
        check(status == 200 and len(new) == 10 and new != code, answer)
        wait_until(lambda: bo.get(f"/api/rooms/{world}")["roomCode"] == new, "the world has it")
        try:
            player.listen(10 * PATIENCE)
            check(False, "eve is still there")
        except Closed:
            pass
        eve.refused(404, "not_found", "POST", "/join", {"room_code": code})
        eve.refused(404, "not_found", "GET", f"/api/rooms/{code}")
        eve.refused(403, "forbidden", "POST", "/join", {"world_id": world})
        check(up.request("GET", f"/api/rooms/{code}/ws")[0] == 404, "nor by its socket")
        # Those who are invited join by the id, and by the new code, also the world that runs.
        check(ann.join(world_id=world)["room_code"] == new, "ann is invited")
        ann.play(room_code=new).walk(0.5)
        check(bo.join(world_id=world)["room_code"] == new, "its owner")
        bo.refused(404, "not_found", "DELETE", f"{guests}/eve")
        check(bo.get(f"/api/rooms/{world}")["roomCode"] == new, "it changes with an invitation alone")
        up.stop()
        up = Up(program, folder, "--places", os.path.join(folder, "own"))
        bo.up = ann.up = eve.up = up
        check(bo.get(f"/api/rooms/{world}")["roomCode"] == new, "after a restart")
        eve.refused(404, "not_found", "GET", f"/api/rooms/{code}")
        up.stop()
    finally:
        up.kill()


def test_worlds_wrong_codes_are_limited(program, places, folder):
    """After sixty misses an address finds no private room, and public ones as before."""
    up = started(program, places, folder, variables=KEY)
    try:
        bo, ann = Guest(up), Guest(up, "ann")
        public = ann.join()
        den = bo.ask("POST", "/api/worlds", {"private": True})[1]
        for number in range(60):
            path = f"/api/rooms/NOROOM{number:04}" + ("/ws" if number % 3 == 0 else "")
            status = up.request("GET", path)[0]
            check(status == 404, f"miss {number} says {status}")
        ann.refused(429, "too_many_tries", "POST", "/join", {"room_code": den["room_code"]})
        check(up.request("GET", "/api/rooms/NOROOMX/ws")[0] == 429, "a socket")
        check(up.request("GET", f"/api/rooms/{den['room_code']}")[0] == 429, "the private room")
        check(up.request("GET", f"/api/rooms/{public['room_code']}")[0] == 200, "a public room")
        check(bo.join(world_id=public["world_id"])["ticket"], "a public world")
        up.stop()
    finally:
        up.kill()


# --- sign-ins as a way in -------------------------------------------------------------------------

def refused_handshake(room, **proof):
    try:
        Player(room, **proof)
    except Failure as failure:
        return str(failure)
    raise Failure(f"let in with {proof}")


def test_worlds_handshake_with_a_sign_in(program, places, folder):
    """As the server document has it: HANDSHAKE {session_token} after /join, without a ticket."""
    up = started(program, places, folder, variables=KEY)
    try:
        bo, ann = Guest(up), Guest(up, "ann")
        answer = bo.join()
        player = Player(Room(up, answer), session=bo.token)
        check(player.welcome["playerId"], player.welcome)
        other = Player(Room(up, answer), session=ann.token)
        check("auth_failed" in refused_handshake(Room(up, answer), session="A" * 43), "garbage")
        check("auth_failed" in refused_handshake(Room(up, answer), session="x" * 900), "long")
        den = ann.ask("POST", "/api/worlds", {"private": True})[1]
        ann.join(world_id=den["world_id"])
        check("forbidden" in refused_handshake(Room(up, den), session=bo.token), "private")
        Player(Room(up, den), session=ann.token).close()
        player.close()
        other.close()
        up.stop()
    finally:
        up.kill()


# --- the list -------------------------------------------------------------------------------------

def test_worlds_list_in_pages(program, places, folder):
    up = started(program, places, folder)
    try:
        made = [Guest(up, f"g{number}").ask("POST", "/api/worlds", {"name": f"W{number}"})[1]
                for number in range(7)]
        reader = Guest(up, "reader")
        seen, after = [], ""
        while True:
            page = reader.get(f"/worlds?limit=3&after={after}")
            check(len(page["worlds"]) <= 3, page)
            seen += [world["worldId"] for world in page["worlds"]]
            after = page["next"]
            if after is None:
                break
        check(seen == sorted(world["world_id"] for world in made), f"{seen}")
        check(reader.get("/worlds?mine=1")["worlds"] == [], "none is mine")
        check(len(reader.get("/worlds?mine=false")["worlds"]) == 7, "mine=false is no filter")
        for mine in ("2", "yes", ""):
            reader.refused(400, "malformed", "GET", f"/worlds?mine={mine}")
        for limit in ("0", "501", "x", "99999999999"):
            reader.refused(400, "malformed", "GET", f"/worlds?limit={limit}")
        check(up.request("GET", "/worlds")[0] == 200, "for everybody")
        up.stop()
    finally:
        up.kill()


# --- characters -----------------------------------------------------------------------------------

def test_worlds_characters_belong_to_the_account(program, places, folder):
    """One set for all worlds, over HTTP and in the game; a world that runs hears of a change."""
    up = started(program, places, folder)
    try:
        bo = Guest(up)
        first = bo.get("/api/account/profiles")
        check(first["active"] == "default" and len(first["profiles"]) == 1, first)
        player = bo.play()
        player.say("profile", "save", {"profiles": [{
            "characterId": "knight", "name": "Sir Bo", "body": 1, "colourSkin": 1,
            "colourShirt": 2, "colourLegs": 3}]})
        player.wait("ack")
        wait_until(lambda: len(bo.get("/api/account/profiles")["profiles"]) == 2, "it is stored")
        leave(player)
        ann = Guest(up, "ann")
        other = ann.join()
        check(other["world_id"] != player.world_id, other)
        player = bo.play(world_id=other["world_id"])
        check({one["characterId"] for one in profiles_of(player)} == {"default", "knight"},
              "another world does not know them")
        mine = bo.get("/api/account/profiles")
        mine["active"] = "knight"
        mine["profiles"][1]["name"] = "Bo the Bold"
        check(bo.ask("PUT", "/api/account/profiles", mine) == (200, mine), "changed")
        wait_until(lambda: "Bo the Bold" in {one["name"] for one in profiles_of(player)},
                   "the world hears of it")
        player.close()
        good = mine["profiles"][0]
        for body in ({"active": "nobody", "profiles": mine["profiles"]},
                     {"active": "default", "profiles": []},
                     {"active": "default", "profiles": [good, good]},
                     {"active": "x", "profiles": [{**good, "character_id": "x"}]},
                     {"active": "default", "profiles": [{**good, "body": 256}]},
                     {"active": "default", "profiles": [{**good, "zzz": 1}]},
                     {"active": "default", "profiles": [good] * 17}, {"active": "default"}):
            bo.refused(400, "malformed", "PUT", "/api/account/profiles", body)
        bo.refused(400, "unknown_member", "PUT", "/api/account/profiles", {"actve": 1})
        bo.refused(400, "invalid_name", "PUT", "/api/account/profiles",
                   {"active": "default", "profiles": [{**good, "name": "\u202e"}]})
        check(bo.get("/api/account/profiles") == mine, "unchanged")
        check(up.request("GET", "/api/account/profiles")[0] == 401, "nobody")
        up.stop()
    finally:
        up.kill()


def profiles_of(player):
    player.say("profile", "list", {})
    return player.wait("event", "profiles")["payload"]["profiles"]


USER_ID = """
Players.PlayerAdded:Connect(function(player)
    print("user", player.UserId, math.type(player.UserId))
end)
"""


def test_worlds_user_id_is_the_accounts_number(program, places, folder):
    """In every world of every place, in Lua and in JSON."""
    up = Up(program, folder, "--places",
            one_place(places, folder, ("island/ServerScriptService/Id.lua", USER_ID)))
    try:
        bo, ann = Guest(up), Guest(up, "ann")
        number = int(bo.join()["client_id"].split("_")[1], 16)
        check(0 < number < 2 ** 53, number)
        for world in (bo.join(), ann.join()):
            player = bo.play(world_id=world["world_id"])
            check(player.welcome["player"] == number, player.welcome)
            player.close()
        wait_until(lambda: sum(f"user {number} integer" in line for line in up.lines) == 2,
                   "both worlds print it", 10)
        up.stop()
    finally:
        up.kill()


# --- a world as a file ----------------------------------------------------------------------------

def wait_stopped(guest, world_id):
    """Deletes or imports are refused until the world has stopped; asks until it has."""
    def look():
        status, answer = guest.ask("GET", f"/api/rooms/{world_id}")
        return status == 200 and answer["state"] == "stopped"
    wait_until(look, "the world has stopped", 30)


def restart(program, folder, up, *guests):
    up.stop()
    again = Up(program, folder, "--places", os.path.join(folder, "own"))
    for guest in guests:
        guest.up = again
    return again


def test_worlds_export_and_import(program, places, folder):
    """What was built is in the file, and comes back from it; nobody else gets it."""
    up = started(program, places, folder)
    try:
        bo, ann = Guest(up), Guest(up, "ann")
        player = bo.play()
        world_id = player.world_id
        player.walk(1.0)
        x, y, z = player.position()
        seq = player.say("voxel", "terraform",
                         {"shape": 0, "min": [int(x) + 2, int(y) + 2, int(z)], "voxelKind": 1})
        player.walk(1.0)
        check(not [error for error in player.errors if error.get("commandSeq") == seq],
              player.errors)
        ann.refused(403, "denied", "GET", f"/world/{world_id}")
        ann.refused(403, "denied", "DELETE", f"/world/{world_id}")
        bo.refused(409, "running", "DELETE", f"/world/{world_id}")
        player.close()
        up = restart(program, folder, up, bo, ann)
        file = bo.get(f"/world/{world_id}")
        check(file["world_id"] == world_id and file["version"] == 1, file["world_id"])
        check(file["metadata"]["created_at"].endswith("Z"), file["metadata"])
        check(file["chunks"] and base64.b64decode(file["chunks"][0]["data"])[:4] ==
              b"\x28\xb5\x2f\xfd", f"chunks are zstd: {file['chunks'][:1]}")
        check([entity for entity in file["entities"] if entity["type"] == "player"],
              file["entities"])
        check(bo.get(f"/world/{world_id}/export") == file, "export is the same")
        ann.refused(403, "denied", "POST", f"/world/{world_id}", file)
        changed = json.loads(json.dumps(file))
        changed["metadata"]["name"] = "Copy"
        changed["chunks"] = changed["chunks"][:1]
        hidden = json.loads(json.dumps(changed))
        next(entity for entity in hidden["entities"] if entity["type"] == "player")["name"] = "a\u202e"
        status, answer = bo.ask("POST", f"/world/{world_id}/import", hidden)
        check(status == 400 and "].name: a name has 1 to 32" in str(answer), f"{status} {answer}")
        status, answer = bo.ask("POST", f"/world/{world_id}/import", changed)
        check(status == 200 and answer["name"] == "Copy", f"{status} {answer}")
        changed["world_id"] = world_id
        check(bo.get(f"/world/{world_id}") == changed, "what was imported is what is exported")
        status, answer = ann.ask("POST", "/world/world_copy", file)
        check(status == 200 and answer["world_id"] == "world_copy", f"{status} {answer}")
        copy = ann.get("/world/world_copy")
        check(copy["chunks"] == file["chunks"] and copy["entities"] == file["entities"], "a copy")
        ann.refused(409, "too_many_worlds", "POST", "/world/world_third", file)
        again = ann.play(world_id="world_copy")
        again.walk(0.5)
        ann.refused(409, "running", "POST", "/world/world_copy", file)
        leave(again)
        up = restart(program, folder, up, bo, ann)
        check(ann.ask("DELETE", "/world/world_copy")[0] == 200, "deleted")
        ann.refused(404, "not_found", "GET", "/world/world_copy")
        ann.refused(404, "not_found", "POST", "/join", {"world_id": "world_copy"})
        check(ann.ask("POST", "/api/worlds", {"name": "next"})[0] == 201, "there is room again")
        up.stop()
    finally:
        up.kill()


def test_worlds_import_refuses_what_is_broken(program, places, folder):
    """A clear reason for each, and nothing is half written."""
    up = started(program, places, folder)
    try:
        bo = Guest(up)
        made = bo.ask("POST", "/api/worlds", {"name": "Mine"})[1]
        path = f"/world/{made['world_id']}"
        good = bo.get(path)
        entity = {"type": "structure", "net_id": 900000, "owner": 7, "piece": 0, "x": 0, "y": 0,
                  "z": 0, "turn": 0, "health": 10}

        def broken(**change):
            return {**good, **change}
        cases = [
            ("no object", [1, 2]),
            ("metadata", {key: good[key] for key in ("chunks", "entities")}),
            ("wolrd", broken(wolrd=1)),
            ("version", broken(version=2)),
            ("chunks[0]", broken(chunks=[{"x": 0, "y": 0, "z": 0, "data": "?"}])),
            ("chunks[0]", broken(chunks=[{"x": 0, "y": 0, "z": 0, "data": "AAAA"}])),
            ("chunks[1]", broken(chunks=[{"x": 0, "y": 0, "z": 0, "data":
                                          "KLUv/SAEIQAAAAAAAA=="}, 7])),
            ("entities[0]", broken(entities=[{"type": "ghost"}])),
            ("entities[1]", broken(entities=[entity, {**entity, "net_id": "x"}])),
            ("entities[0]", broken(entities=[{**entity, "net_id": 2 ** 60}])),
            ("entities[0]", broken(entities=[{**entity, "zzz": 1}])),
            ("metadata", broken(metadata={**good["metadata"], "created_at": "yesterday"})),
        ]
        for word, body in cases:
            message = bo.refused(400, "malformed", "POST", path, body)
            check(word in message or word == "no object", f"{word}: {message}")
        for text in (b"", b"{", b"{}x", b'{"a', b"\xff\xff", b'{"chunks":[', b'{"chunks":[[[[',
                     b'{"metadata":{"name":"\\'):
            status, _, answer = raw(up, bo, path, text)
            check(status == 400, f"{text!r}: {status} {answer}")
        check(bo.get(path) == good, "something was written")
        other = broken(metadata={**good["metadata"], "place_id": "elsewhere"})
        bo.refused(409, "other_place", "POST", path, other)
        up.stop()
    finally:
        up.kill()


def raw(up, guest, path, body):
    link = http.client.HTTPConnection("127.0.0.1", up.port, timeout=10 * PATIENCE)
    try:
        link.request("POST", path, body=body, headers={"Authorization": f"Bearer {guest.token}"})
        answer = link.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        link.close()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

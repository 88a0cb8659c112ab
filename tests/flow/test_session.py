"""Who comes in, and as whom: sign-ins, resume tokens, names, and worlds that somebody tries to fill.

    test_session.py PROGRAM PLACES [TEST]
"""

import json
import re
import os
import sys
import time

from support import Failure, Player, World, check, run, wait_until


def island(program, places, folder, *options):
    return World(program, os.path.join(places, "island"), os.path.join(folder, "data"), *options)


def login(world, **wish):
    status, _, body = world.request("POST", "/login", wish)
    check(status == 200, f"/login says {status}: {body}")
    return json.loads(body)


def refusal(world, **proof):
    """The code by which somebody is refused at the door."""
    try:
        Player(world, **proof)
    except Failure as failure:
        return str(failure)
    raise Failure(f"let in with {proof}")


def names_here(player):
    """Who a player was told of, by name."""
    player.walk(0.5, move_z=0)  # who confirms nothing is told nothing more
    return {someone["name"] for snapshot in player.snapshots
            for someone in snapshot["payload"]["features"].get("presence", {}).get("joined", [])}


def test_session_token_is_the_person(program, places, folder):
    world = island(program, places, folder)
    try:
        watcher = Player(world, player_id="watcher")
        zoe = login(world, username="zoe")
        check(re.fullmatch(r"[A-Za-z0-9_-]{43}", zoe["session_token"]), f"nothing can be read from it: {zoe}")
        first = Player(world, name="", session=zoe["session_token"])
        check("zoe" in names_here(watcher), f"{names_here(watcher)}")
        knight = {"characterId": "knight", "name": "Sir Zoe", "body": 1}
        asked = first.say("profile", "save", {"profiles": [knight]})
        durable = first.wait("event", "durable")
        check(durable["payload"]["commandSeq"] == asked, f"{durable}")
        # The same sign-in a second time: the same player, and the first connection ends.
        again = Player(world, name="", session=zoe["session_token"])
        check(again.welcome["player"] == first.welcome["player"], "one player")
        check(again.welcome["entityId"] == first.welcome["entityId"], "one body")
        check(first.wait("error")["payload"]["code"] == "replaced", f"{first.errors}")
        for garbage in ("garbage", zoe["session_token"][:-4] + "AAAA", "é" * 40):
            said = refusal(world, name="", session=garbage)
            check("'auth_failed'" in said and "'fatal': True" in said, said)
        world.stop()
        # It was stored under the person, and the person is found again.
        world = island(program, places, folder)
        back = Player(world, name="", session=zoe["session_token"])
        back.say("profile", "list", {})
        profiles = back.wait("event", "profiles")["payload"]["profiles"]
        check("Sir Zoe" in [profile["name"] for profile in profiles], f"{profiles}")
        world.stop()
    finally:
        world.kill()


def test_session_nobody_is_promised_nothing(program, places, folder):
    world = island(program, places, folder)
    try:
        nobody = Player(world, name="")
        asked = nobody.say("profile", "save",
                           {"profiles": [{"characterId": "knight", "name": "Sir Nobody"}]})
        error = nobody.wait("error")["payload"]
        check(error["code"] == "denied" and error["commandSeq"] == asked, f"{error}")
        check("sign in" in error["message"], f"{error}")
        world.stop()
    finally:
        world.kill()


def test_session_resume_token_of_another(program, places, folder):
    world = island(program, places, folder)
    try:
        ann = Player(world, ticket=world.join(username="ann")["ticket"])
        token = ann.welcome["resumeToken"]
        # While ann is here, and when only her body is.
        for _ in range(2):
            eve = Player(world, ticket=world.join(username="eve")["ticket"], resume=token)
            check(not eve.welcome["resumed"], f"{eve.welcome}")
            check(eve.welcome["player"] != ann.welcome["player"], "her own player")
            check(eve.welcome["entityId"] != ann.welcome["entityId"], "her own body")
            eve.socket.close()
            ann.socket.close()
            time.sleep(0.3)
        # The token was not spent by that.
        back = Player(world, resume=token)
        check(back.welcome["resumed"] and back.welcome["entityId"] == ann.welcome["entityId"],
              f"{back.welcome}")
        world.stop()
    finally:
        world.kill()


def test_session_names_are_refused_alike(program, places, folder):
    world = island(program, places, folder)
    try:
        for name in ("bo\u200b", "\u202eob", "bo\u2066", "bo\ufeff", "bo\u00ad", " bo", "b\no",
                     "\ue000", "x" * 33, "x" * 100, 7):
            for path in ("/join", "/login"):
                status, _, body = world.request("POST", path, {"username": name})
                code = json.loads(body)["error"]["code"] if status != 200 else "none"
                check(status == 400 and code == "invalid_name", f"{path} {name!r}: {status} {body}")
            if isinstance(name, str) and len(name) <= 64:
                check("'invalid_name'" in refusal(world, name=name), f"name {name!r}")
                if name != "x" * 33:
                    check("'invalid_name'" in refusal(world, name="", player_id=name),
                          f"playerId {name!r}")
        check(world.join(username="Zoë 小龍")["username"] == "Zoë 小龍", "names of people")
        world.stop()
    finally:
        world.kill()


def test_session_coming_and_going_fills_nothing(program, places, folder):
    world = island(program, places, folder)
    try:
        token = login(world, username="hasty")["session_token"]
        for _ in range(48):
            Player(world, name="", session=token).socket.close()
        wait_until(lambda: world.metric("sandlot_world_players") == 1, "one body")
        # As many strangers as fit, and more, all of them gone at once.
        for number in range(55):
            Player(world, name="", player_id=f"hasty-{number}").socket.close()
        late = Player(world, ticket=world.join(username="late")["ticket"])
        late.walk(0.3)
        wait_until(lambda: world.metric("sandlot_world_bodies_gave_way_total") >= 5, "they gave way")
        check(world.metric("sandlot_world_players") <= 50, "as many as the place may have")
        world.stop()
    finally:
        world.kill()


def test_session_terrain_from_the_first_moment(program, places, folder):
    world = island(program, places, folder)
    try:
        for _ in range(6):
            player = Player(world, ticket=world.join(username="bo")["ticket"])
            while player.wait("snapshot")["payload"]["mode"] != "full":
                pass
            at = [int(axis // 32) for axis in player.position()]
            asked = player.say("voxel", "chunk_request", {"chunks": [{"at": at}]})
            check(player.wait("ack")["payload"]["commandSeq"] == asked, "its own chunk")
            player.socket.close()
        digger = Player(world, ticket=world.join(username="digger")["ticket"])
        digger.walk(0.3, move_z=0)
        x, y, z = (int(axis // 1) for axis in digger.position())
        for kind in (5, 900, 1023):
            asked = digger.say("voxel", "terraform",
                               {"shape": 0, "min": [x + 2, y + 3, z], "voxelKind": kind})
            error = digger.wait("error")["payload"]
            check(error["code"] == "not_found" and error["commandSeq"] == asked, f"{error}")
        digger.errors.clear()
        asked = digger.say("voxel", "terraform",
                           {"shape": 0, "min": [x + 2, y + 3, z], "voxelKind": 4})
        check(digger.wait("ack")["payload"]["commandSeq"] == asked, "one that there is")
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

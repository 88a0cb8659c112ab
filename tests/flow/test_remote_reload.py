"""New scripts reach worlds on other machines while they run: signed by the control plane, rolled back there if
they fail, with the reason shown to their creator; a revision that changes more starts named worlds again there, and
others once they are empty; what scripts cost is shown from there too; and a host that lies about all of it gets
nothing and disturbs nobody."""

import json
import os
import signal
import sys

from hosts import leave
from publish import Publisher, package
from support import Closed, Failure, Player, check, run, wait_until
from test_reload import REASON, SCENE, game, hear_beat, read_beats
from test_remote import OK, TAKE, Liar, Remote, Room, kill_all, port_of, renew

WORLD = "world_far"
KEPT = """local floor = World.Find("Floor")
count = floor:GetAttribute("count") or 0
function onUpdate()
    count = count + 1
    if count % 6 == 0 then
        floor:SetAttribute("count", count, {persistent = true})
        Network.Broadcast("beat", "{word}", count)
    end
end
"""


def kept_game(word, walls):
    """What it counts is stored with its world; each wall makes another scene."""
    wall = {"name": "Wall", "transform": {"position": [0, 0, 9]}, "shape": {"size": [4, 4, 1]}}
    entities = SCENE["entities"] + [{**wall, "id": 3 + number} for number in range(walls)]
    return package("Beats", scene={**SCENE, "entities": entities},
                   **{"ServerScriptService__Beat": KEPT.replace("{word}", word)})


class Pair:
    """A control plane with a published place, and a host on another machine that runs a world of it."""

    def __init__(self, program, places, folder, first=None):
        self.up = self.remote = None
        self.world = WORLD
        self.up = Publisher(program, places, folder)
        self.up.begin("ann", "bob")
        self.place = self.up.publish("ann", first or game("one"), channel="live")["place_id"]
        self.up.good("PATCH", f"/api/places/{self.place}", {"visibility": "listed"}, "ann")

    def start(self, program, world=WORLD):
        self.world = world
        self.remote = Remote(program, f"http://127.0.0.1:{self.up.port}", self.key(), "--place-id", self.place,
                             world=world)
        wait_until(self.is_reported, "it is reported", 20)

    def is_reported(self):
        return self.up.ask("GET", f"/api/rooms/{self.world}")[1].get("isReported")

    def key(self):
        return self.up.good("POST", "/admin/host-keys", {"name": "second machine"}, "boss")["key"]

    def enter(self, who="bob"):
        answer = self.up.good("POST", "/join", {"world_id": self.world}, who)
        check(port_of(answer) == self.remote.port, f"not at the host: {answer}")
        return Player(Room(self.remote, answer), ticket=answer["ticket"])

    def come_back(self, who="bob"):
        """As a page does: it asks for another ticket until one is good for the life that is there then."""
        def attempt():
            try:
                return self.enter(who)
            except (Closed, OSError):
                return None
            except Failure as failure:
                check("auth_failed" in str(failure), failure)  # a ticket for the life before
                return None
        return wait_until(attempt, "the player is back", 40)

    def live(self):
        """What the place's page says of the last reload."""
        page = self.up.good("GET", f"/api/places/{self.place}", who="ann")
        return next((one for one in page["reloads"] if one["channel"] == "live"), {})

    def publish(self, data):
        self.up.publish("ann", data, self.place, channel="live")

    def told(self, state):
        return wait_until(lambda: self.live() if self.live().get("reload") == state else None,
                          f"it is {state}", 40)

    def kill(self):
        kill_all(self.remote, self.up)


def test_remote_reload(program, places, folder):
    pair = Pair(program, places, folder)
    try:
        pair.start(program)
        player = pair.enter()
        before = hear_beat(player, "one")
        worlds = pair.remote.children()
        pair.publish(game("two"))
        check(hear_beat(player, "two", 40) > before, "it goes on with its state")
        check(pair.remote.children() == worlds and not player.errors, "in place")
        told = pair.told("reloaded")
        check(told["reloaded_worlds"] == 1 and told["manifest_version"] > 1, told)
        # One that fails: the set before comes back, there, and its creator is told why.
        pair.publish(package("Beats", scene=SCENE, **{
            "ServerScriptService__Beat": f"error('{REASON}')"}))
        told = pair.told("rolled_back")
        check(REASON in told["reload_reason"] and "on another machine" in told["reload_reason"], told)
        hear_beat(player, "two", 40)
        check(pair.remote.children() == worlds and not player.errors, "nobody left")
        # What its scripts cost, for who made it; not for others.
        costs = pair.up.good("GET", f"/api/worlds/{WORLD}/scripts", who="ann")
        check(costs["reported"] and [row["path"] for row in costs["scripts"]] == ["ServerScriptService/Beat"],
              costs)
        check(any(REASON in fault["message"] for fault in costs["faults"]), costs["faults"])
        later = pair.up.good("GET", f"/api/worlds/{WORLD}/scripts?follow=1&after={costs['version']}", who="ann")
        check(later["version"] > costs["version"] and later["tick"] > costs["tick"], "it is followed")
        check(pair.up.ask("GET", f"/api/worlds/{WORLD}/scripts", who="bob")[0] == 404, "not for players")
        # And on: a good one again, and a world that dies begins with it.
        pair.publish(game("three"))
        hear_beat(player, "three", 40)
        os.kill(worlds[0], signal.SIGKILL)
        try:
            player.listen(5)
        except Closed:
            pass
        wait_until(lambda: pair.remote.children() not in ([], worlds), "it begins again", 30)
        wait_until(pair.remote.is_ready, "it is ready", 30)
        # Within its trial it comes back to the last good set; after it, to the new one.
        player = pair.enter()
        wait_until(lambda: player.listen(0.3) or {word for word, _ in read_beats(player)} & {"two", "three"},
                   "it beats again", 30)
        pair.remote.stop()
        pair.up.stop()
    finally:
        pair.kill()


def hear_end(player):
    """The world tells its players why it ends."""
    try:
        wait_until(lambda: player.listen(0.2) or player.errors, "who is in it is told", 40)
    except Closed:
        pass
    return player.errors[-1]


def test_remote_reload_restarts(program, places, folder):
    """A revision that changes more than scripts: the world there starts again with it, with what was stored."""
    pair = Pair(program, places, folder, kept_game("one", 0))
    try:
        pair.start(program)
        player = pair.enter()
        before = hear_beat(player, "one")
        host, worlds = pair.remote.process.pid, pair.remote.children()
        for word, walls in (("two", 1), ("three", 2)):  # once, and once more after that
            pair.publish(kept_game(word, walls))
            why = hear_end(player)
            check(why["code"] == "stopped" and "the place was changed" in why["message"], why)
            player = pair.come_back()
            after = hear_beat(player, word, 40)
            check(after >= before - 120, f"what was stored is there: {before}, then {after}")
            told = pair.told("restarted")
            check(told["reloaded_worlds"] == 1, told)
            now = pair.remote.children()
            check(pair.remote.process.poll() is None and pair.remote.process.pid == host, "the host itself goes on")
            check(len(now) == 1 and now != worlds, f"another process of the world: {worlds}, {now}")
            before, worlds = after, now
        # What runs now is the newest form: scripts alone change in place again.
        pair.publish(kept_game("four", 2))
        hear_beat(player, "four", 40)
        pair.told("reloaded")
        check(pair.remote.children() == worlds and not player.errors, "in place")
        pair.remote.stop()
        pair.up.stop()
    finally:
        pair.kill()


def test_remote_reload_drains(program, places, folder):
    """A world that nobody named goes on for those who are in it, is given to nobody else, and starts again with the
    new revision once it is empty."""
    pair = Pair(program, places, folder, kept_game("one", 0))
    try:
        answer = pair.up.good("POST", "/join", {"place_id": pair.place}, "bob")
        leave(Player(Room(pair.up, answer), ticket=answer["ticket"]))
        pair.start(program, answer["world_id"])
        player = pair.enter()
        before = hear_beat(player, "one")
        worlds = pair.remote.children()
        again = pair.up.good("POST", "/join", {"place_id": pair.place}, "ann")
        check(again["world_id"] == pair.world, "whoever asks for the place gets it")
        pair.publish(kept_game("two", 1))
        pair.remote.wait_line("the control plane orders: reload")
        other = pair.up.good("POST", "/join", {"place_id": pair.place}, "ann")
        check(other["world_id"] != pair.world and port_of(other) == pair.up.port, f"new joins get new ones: {other}")
        there = Player(Room(pair.up, other), ticket=other["ticket"])
        hear_beat(there, "two")
        last = hear_beat(player, "one")
        check(last > before and pair.remote.children() == worlds and not player.errors, "nobody disturbs it")
        leave(player)
        leave(there)
        wait_until(lambda: pair.remote.children() not in ([], worlds), "it starts again once it is empty", 60)
        player = pair.come_back()
        after = hear_beat(player, "two", 40)
        check(after >= last - 120, f"what was stored is there: {last}, then {after}")
        pair.remote.stop()
        pair.up.stop()
    finally:
        pair.kill()


def test_remote_reload_lies(program, places, folder):
    """It holds its own world, and says what it likes about it."""
    pair = Pair(program, places, folder)
    try:
        up, key = pair.up, pair.key()
        up.tokens["host"] = key
        plane = type("Plane", (), {"port": up.port, "ask": lambda _, method, path, body=None, token=None:
                                   up.ask(method, path, body, "host")})()
        liar = Liar(plane, key, WORLD)
        other = up.publish("bob", package("Other"), channel="live")["place_id"]
        status, answer = plane.ask("POST", "/api/hosts/register", {
            "world_id": WORLD, "boot": liar.boot.hex(), "place_id": pair.place})
        check(status == 200, answer)
        liar.revision, now = bytes.fromhex(answer["revision"]), answer["place_hash"]

        def sign(**change):
            body = {"world_id": WORLD, "boot": liar.boot.hex(), "place_hash": now, "version": 5, "tick": 9, **change}
            return up.raw("POST", "/api/hosts/sign", json.dumps(body), "host")

        def costs(body, boot=None):
            return up.raw("POST", f"/api/hosts/scripts?world_id={WORLD}&boot={boot or liar.boot.hex()}", body,
                          "host")[0]
        # Without the world it gets no signature and says nothing of scripts.
        check(sign()[0] == 409 and costs(b"") == 409, "it does not hold it yet")
        check(liar.codes(renew(), bytes([TAKE])) == [OK, OK], "now it does")
        check(sign()[0] == 200 and b'"signature"' in sign()[2], "of its own place")
        for wrong in ({"place_hash": "0" * 64}, {"place_hash": ""}):
            check(sign(**wrong)[0] == 404, f"{wrong} is known to nobody")
        theirs = up.good("POST", "/api/hosts/register", {"world_id": "w2", "boot": "0" * 32, "place_id": other},
                         "host")["place_hash"]
        check(sign(place_hash=theirs)[0] == 404, "of another place")
        for wrong in ({"version": -1}, {"version": 1 << 32}, {"tick": "x"}, {"boot": "zz"}, {"world_id": 5}):
            check(sign(**wrong)[0] == 400, f"{wrong} is nothing to sign")
        check(liar.report(place_hash=now)[0] == 200, "it reports")
        for body in (b"", os.urandom(300), b"\xff" * 2000):
            check(costs(body) == 400, "no table")
        check(costs(b"x" * (65 << 10)) == 413, "too large")
        for wrong in ({}, {"order": 0}, {"order": 1, "state": "fine", "manifest_version": 1, "reason": ""},
                      {"order": 1, "state": "reloaded", "manifest_version": 1 << 40, "reason": ""},
                      {"order": 1, "state": "reloaded", "manifest_version": 1, "reason": "x" * 5000}, 5):
            check(liar.report(reload=wrong)[0] == 400, f"{wrong} is no report of a reload")
        # Of an order that nobody gave.
        said = {"order": 7, "state": "rolled_back", "manifest_version": 9, "reason": "never", "settled": False}
        check(liar.report(place_hash=now, reload=said)[0] == 200 and pair.live() == {}, "it is not believed")
        pair.publish(game("two"))
        orders = wait_until(lambda: [one for one in liar.report(place_hash=now)[1]["orders"]
                                     if one["order"] == "reload"], "it is told", 20)
        check(len(orders) == 1 and orders[0]["place_hash"] != now, orders)
        # It says this and that, in any order: each step is taken once, and forwards.
        def say(state, reason=""):
            reload = {"order": orders[0]["number"], "state": state, "manifest_version": 3, "reason": reason,
                      "settled": False}
            check(liar.report(done=orders[0]["number"], place_hash=now, reload=reload)[0] == 200, state)
        say("waiting")
        check(pair.live()["reload"] == "waiting", pair.live())
        say("rolled_back", "\u001b[31mbad\u0007 " + "y" * 480)
        said = pair.told("rolled_back")["reload_reason"]
        check(said.startswith("on another machine: ") and "\u001b" not in said and "\u0007" not in said, said)
        check(len(said) < 512, "it is bounded")
        for state in ("reloaded", "waiting", "rolled_back", "reloaded"):
            say(state, "changed its mind")
        check(pair.live()["reload"] == "rolled_back" and pair.live()["reload_reason"] == said, pair.live())
        # One that never answers: whoever waits is told so in the end.
        pair.publish(game("three"))
        def given_up():
            check(liar.codes(renew()) == [OK] and liar.report(place_hash=now)[0] == 200, "it still holds it")
            return pair.live()["reload"] == "refused"
        wait_until(given_up, "it is given up", 60)
        check("not answered in time" in pair.live()["reload_reason"], pair.live())
        up.stop()
    finally:
        pair.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

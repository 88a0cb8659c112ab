"""New scripts reach worlds on other machines while they run: signed by the control plane, rolled back there if
they fail, with the reason shown to their creator; what scripts cost is shown from there too; and a host that
lies about all of it gets nothing and disturbs nobody."""

import json
import os
import signal
import sys

from publish import Publisher, package
from support import Closed, Player, check, run, wait_until
from test_reload import REASON, SCENE, game, hear_beat, read_beats
from test_remote import OK, TAKE, Liar, Remote, Room, kill_all, port_of, renew

WORLD = "world_far"


class Pair:
    """A control plane with a published place, and a host on another machine that runs a world of it."""

    def __init__(self, program, places, folder):
        self.up = self.remote = None
        self.up = Publisher(program, places, folder)
        self.up.begin("ann", "bob")
        self.place = self.up.publish("ann", game("one"), channel="live")["place_id"]
        self.up.good("PATCH", f"/api/places/{self.place}", {"visibility": "listed"}, "ann")

    def start(self, program):
        self.remote = Remote(program, f"http://127.0.0.1:{self.up.port}", self.key(), "--place-id", self.place,
                             world=WORLD)
        wait_until(lambda: self.up.ask("GET", f"/api/rooms/{WORLD}")[1].get("status") != "cold", "it is reported", 20)

    def key(self):
        return self.up.good("POST", "/admin/host-keys", {"name": "second machine"}, "boss")["key"]

    def enter(self, who="bob"):
        answer = self.up.good("POST", "/join", {"world_id": WORLD}, who)
        check(port_of(answer) == self.remote.port, f"not at the host: {answer}")
        return Player(Room(self.remote, answer), ticket=answer["ticket"])

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

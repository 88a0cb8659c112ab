"""Keeping order in worlds on other machines: chat rules, blocks, lists, evidence and banned ranges of addresses
reach a host that runs a world, and what a host says of people is kept as its word."""

import http.client
import json
import sys
import time

from bots import write_meadow
from support import PATIENCE, Player, WebSocket, check, run, wait_until
from test_classes import hand_out, places_of, publish, school_class, sign_in
from test_moderate import Talkers, closes, path_of
from test_remote import (OK, TAKE, WORLD, ControlPlane, Liar, Line, Remote, Room, heard, kill_all, port_of,
                         renew)


class Pair:
    """A control plane and a host on another machine, and players who are led there."""

    def __init__(self, program, folder, *options):
        self.plane = self.remote = None
        self.plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        self.line = Line(self.plane.port)
        self.remote = Remote(program, f"http://127.0.0.1:{self.line.port}", self.plane.key()["key"], *options)
        self.talk = Elsewhere(self)

    def ask(self, method, path, body=None, token=None):
        status, answer = self.plane.ask(method, path, body, token)
        check(status in (200, 201), f"{method} {path} says {status}: {answer}")
        return answer

    def guest(self, name):
        return self.ask("POST", "/login", {"username": name})

    def put_list(self, path, text):
        link = http.client.HTTPConnection("127.0.0.1", self.plane.port, timeout=20 * PATIENCE)
        try:
            link.request("PUT", path, text.encode(), {"Content-Type": "text/plain"})
            answer = link.getresponse()
            check(answer.status == 200, f"{path}: {answer.status} {answer.read()}")
        finally:
            link.close()

    def teacher(self):
        """The session_token of a teacher."""
        link = self.plane.wait_line(r"/account\?link=([A-Za-z0-9_-]{43})$")[1]
        word = {"password": "long enough 7"}
        boss = self.ask("POST", "/register", {"username": "boss", "invitation": link, **word})["session_token"]
        self.ask("PUT", "/admin/settings", {"registration": "open"}, boss)
        token = self.ask("POST", "/register", {"username": "tea", **word})["session_token"]
        self.ask("POST", "/api/accounts/tea/roles", {"roles": "teacher creator"}, boss)
        return token

    def stop(self):
        self.remote.stop()
        self.plane.stop()

    def kill(self):
        kill_all(self.remote, self.plane)


class Elsewhere(Talkers):
    def __init__(self, pair, world=WORLD):
        super().__init__(pair.plane)
        self.pair, self.world = pair, world

    def enter(self, token):
        answer = self.pair.plane.join_world(self.world, token)
        check(port_of(answer) == self.pair.remote.port, f"not at the host: {answer}")
        player = Player(Room(self.pair.remote, answer), ticket=answer["ticket"])
        player.heard, inner = [], player.hear

        def hear(seconds=10.0):
            message = inner(seconds)
            player.heard.append(message)
            return message
        player.hear = hear
        self.all.append(player)
        return player


def test_remote_order_chat(program, _places, folder):
    """The rules of the installation, the place, the class and the account; the strictest holds."""
    pair = Pair(program, folder)
    try:
        talk, ask = pair.talk, pair.ask
        ann, bo = pair.guest("ann"), pair.guest("bo")
        first, second = talk.enter(ann["session_token"]), talk.enter(bo["session_token"])
        talk.says_at_last(first, "hello")  # nobody chats until the host was told what holds
        check(talk.hears(second, "hello"), "she is heard")
        pair.put_list("/admin/phrases", "Hello!\nWell done.\n")
        ask("PUT", "/admin/settings", {"chat": "phrases"})
        talk.says_at_last(first, "what I want", "chat_restricted")
        talk.says_at_last(first, "Well done.")
        check(talk.hears(second, "Well done."), "a phrase is said")
        # Of one account, also when she comes anew.
        ask("PUT", f"/admin/users/{ann['client_id']}/chat", {"rule": "off"})
        talk.says_at_last(first, "Hello!", "chat_restricted")
        check(talk.say(second, "Hello!") is None, "he may")
        ask("PUT", "/admin/settings", {"chat": "free"})
        talk.says_at_last(second, "anything")
        talk.leave(first)
        first = talk.enter(ann["session_token"])
        check(talk.say(first, "hello again") == "chat_restricted", "a new connection is free")
        talk.play(2.5)
        check(talk.say(first, "hello again") == "chat_restricted", "and later")
        ask("PUT", f"/admin/users/{ann['client_id']}/chat", {"rule": "free"})
        talk.says_at_last(first, "at last")
        # Of a class, whose pupil plays somewhere else.
        token = pair.teacher()
        made = ask("POST", "/api/classes", {"name": "5b"}, token)["class_id"]
        code = ask("POST", f"/api/classes/{made}/pupils", {"names": ["Zoe"]}, token)["pupils"][0]["code"]
        pupil = ask("POST", "/login", {"code": code})
        third = talk.enter(pupil["session_token"])
        talk.says_at_last(third, "I am here", "chat_restricted")  # until the teacher allows it
        ask("PUT", f"/api/classes/{made}/chat", {"rule": "free"}, token)
        talk.says_at_last(third, "I am here")
        ask("PUT", f"/api/classes/{made}/chat", {"rule": "off"}, token)
        talk.says_at_last(third, "and now", "chat_restricted")
        check(talk.say(second, "I may") is None, "others may")
        pair.stop()
    finally:
        pair.kill()


def test_remote_order_class(program, _places, folder):
    """A class's place that a machine of the school runs: the teacher's chat rule holds there, and a pause ends it."""
    plane = remote = None
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        pair = Pair.__new__(Pair)
        pair.plane = plane
        kim = pair.teacher()
        made, pupils = school_class(plane, kim, "5b", ["Anna", "Bert"])
        anna = sign_in(plane, pupils[0]["code"])
        hand_out(plane, kim, made, title="Our town")
        place = places_of(plane, kim, made)[pupils[0]["username"]]
        publish(plane, anna, place)
        pair.ask("POST", "/join", {"place_id": place}, anna)  # it is open from now on
        world = "world_class"
        remote = pair.remote = Remote(program, f"http://127.0.0.1:{plane.port}", plane.key()["key"],
                                      "--place-id", place, world=world)
        talk = Elsewhere(pair, world)
        first = talk.enter(anna)
        talk.says_at_last(first, "hello", "chat_restricted")  # until the teacher allows it
        pair.ask("PUT", f"/api/classes/{made}/chat", {"rule": "free"}, kim)
        talk.says_at_last(first, "hello")
        pair.ask("PUT", f"/api/classes/{made}/chat", {"rule": "off"}, kim)
        talk.says_at_last(first, "still here", "chat_restricted")
        pair.ask("POST", f"/api/classes/{made}/pause", None, kim)
        check(heard(first, "your class pauses"), "she is told:\n" + "\n".join(remote.lines[-9:]))
        check(remote.ends() == 0, "the host ends:\n" + "\n".join(remote.lines[-9:]))
        status, answer = plane.ask("POST", "/join", {"world_id": world}, anna)
        check((status, answer["error"]["code"]) == (403, "class_paused"), answer)
        plane.stop()
    finally:
        kill_all(remote, plane)


def test_remote_order_blocks(program, _places, folder):
    pair = Pair(program, folder)
    try:
        talk, ask = pair.talk, pair.ask
        ann, bo, cy = pair.guest("ann"), pair.guest("bo"), pair.guest("cy")
        mine = ann["session_token"]
        ask("PUT", f"/api/me/blocks/{cy['client_id']}", None, mine)  # before she comes
        first, second = talk.enter(mine), talk.enter(bo["session_token"])
        third = talk.enter(cy["session_token"])
        talk.says_at_last(second, "one")
        check(talk.hears(first, "one"), "she hears him")
        talk.says_at_last(third, "zero")
        check(talk.hears(second, "zero"), "the other one is heard by him")
        ask("PUT", f"/api/me/blocks/{bo['client_id']}", None, mine)
        talk.play(2.5)
        check(talk.say(second, "two") is None and talk.hears(third, "two"), "he may talk")
        talk.play(1.0)
        check(not set(talk.texts(first)) & {"zero", "two"}, "she hears whom she blocks")
        ask("DELETE", f"/api/me/blocks/{bo['client_id']}", None, mine)
        talk.play(2.5)
        check(talk.say(second, "four") is None and talk.hears(first, "four"), "she hears him again")
        pair.stop()
    finally:
        pair.kill()


class Counter(Line):
    """Counts what comes from the control plane."""

    def __init__(self, port):
        self.count = 0
        super().__init__(port)

    def _carry(self, near):
        line = self

        class Counted:
            def __init__(self, inner):
                self.inner = inner

            def sendall(self, data):
                line.count += len(data)
                self.inner.sendall(data)

            def __getattr__(self, name):
                return getattr(self.inner, name)

            def fileno(self):
                return self.inner.fileno()
        super()._carry(Counted(near))


def test_remote_order_lists(program, _places, folder):
    """Words and phrases are fetched once for each version, not with every report."""
    plane = remote = None
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        line = Counter(plane.port)
        remote = Remote(program, f"http://127.0.0.1:{line.port}", plane.key()["key"])
        pair = Pair.__new__(Pair)
        pair.plane, pair.remote = plane, remote
        pair.talk = talk = Elsewhere(pair)
        first = talk.enter(pair.guest("ann")["session_token"])
        second = talk.enter(pair.guest("bo")["session_token"])
        talk.says_at_last(first, "hello")
        # 2,000 words of 25 letters.
        letters = "abcdefghiklmnopqrstuvwxy"
        words = [letters[i % 24] + letters[i // 24 % 24] + letters[i // 576 % 24] + "q" * 2 + letters[:20]
                 for i in range(1998)]
        pair.put_list("/admin/words", "\n".join(["troll", "*worm*"] + words) + "\n")
        talk.play(2.5)
        check(talk.say(first, "you tr\u043ell, bookworm") is None and
              talk.hears(second, "you *****, book****"), talk.texts(second))
        before = line.count
        talk.play(4.0)
        check(line.count - before < 20000, f"the list comes again and again: {line.count - before} bytes")
        pair.put_list("/admin/words", "")
        talk.play(2.5)
        check(talk.say(first, "troll") is None and talk.hears(second, "troll"), "stars without a list")
        remote.stop()
        plane.stop()
    finally:
        kill_all(remote, plane)


def report_of(pair, number):
    return pair.ask("GET", f"/admin/reports/{number}")


def test_remote_order_evidence(program, _places, folder):
    """Reports from the game and from a page have what was said at the host, marked as its word."""
    pair = Pair(program, folder)
    try:
        talk, ask = pair.talk, pair.ask
        ann, bo = pair.guest("ann"), pair.guest("bo")
        first, second = talk.enter(ann["session_token"]), talk.enter(bo["session_token"])
        talk.says_at_last(second, "something rude")
        number = int(bo["client_id"].split("_")[1], 16)
        first.say("moderation", "report", {"player": number, "reason": "spam", "text": "again"})
        wait_until(lambda: talk.play() or ask("GET", "/admin/reports")["reports"], "it came from the game")
        row = report_of(pair, 1)
        check(row["source"] == "game" and row["account"] == bo["client_id"] and
              row["reporter"] == ann["client_id"] and row["world_id"] == WORLD and row["from_host"], row)
        check(row["place_id"].startswith("place_"), row)
        lines = [(line["kind"], line["account"], line["text"], line["known"]) for line in row["evidence"]]
        check(("said", bo["client_id"], "something rude", True) in lines, lines)
        check("came" in [line[0] for line in lines], lines)
        # From a page: the host is asked for the evidence. Where she played last is found out.
        made = ask("POST", "/api/reports", {"reason": "abuse", "text": "he is rude",
                                            "account": bo["client_id"]}, ann["session_token"])
        wait_until(lambda: talk.play() or report_of(pair, made["report_id"])["evidence"], "the host sent it")
        row = report_of(pair, made["report_id"])
        check(row["source"] == "page" and row["from_host"] and row["world_id"] == WORLD, row)
        check("something rude" in [line["text"] for line in row["evidence"]], row)
        # Once, also when the control plane was away.
        pair.line.is_cut = True
        first.say("moderation", "report", {"player": number, "reason": "spam", "text": "third"})
        talk.play(3.0)
        pair.line.is_cut = False
        wait_until(lambda: talk.play() or len(ask("GET", "/admin/reports")["reports"]) == 3, "it came later", 40)
        talk.play(3.0)
        check(len(ask("GET", "/admin/reports")["reports"]) == 3, "it came twice")
        pair.stop()
    finally:
        pair.kill()


def test_remote_order_addresses(program, _places, folder):
    """The host's own listener refuses banned addresses, and who plays from there is cut off."""
    pair = Pair(program, folder, "--trusted-proxy", "127.0.0.1")
    forwarded = ["X-Forwarded-For: 203.0.113.7"]
    try:
        def enter(headers):
            joined = pair.plane.join_world(token=pair.guest("bo")["session_token"])
            link = WebSocket(pair.remote.port, path_of(joined), headers=headers)
            if link.status == 101:
                link.send(json.dumps({"v": 2, "kind": "command", "seq": 1, "feature": "session",
                                      "action": "handshake", "payload": {"ticket": joined["ticket"]}}))
                link.receive(10 * PATIENCE)
            return link
        link = enter(forwarded)
        check(link.status == 101, link.head)
        pair.ask("POST", "/admin/bans/addresses", {"range": "203.0.113.0/24", "reason": "spam", "minutes": 5})
        check(closes(link), "who plays from there goes on")
        check(enter(forwarded).status == 403, "a socket is opened")
        other = enter(["X-Forwarded-For: 198.51.100.7"])
        check(other.status == 101, "others are refused")
        pair.ask("DELETE", "/admin/bans/addresses?range=203.0.113.0/24")
        wait_until(lambda: enter(forwarded).status == 101, "it still holds")
        pair.stop()
    finally:
        pair.kill()


def test_remote_order_lies(program, _places, folder):
    """What a host may say of reports, of whom, and how often."""
    plane = None
    try:
        plane = ControlPlane(program, write_meadow(folder + "/places"), folder + "/data")
        key = plane.key("liar")["key"]
        own = Liar(plane, key, "world_own")
        own.register()
        check(own.codes(renew(), bytes([TAKE])) == [OK, OK], "it has a world")
        check(own.report()[0] == 200, "and reports it")
        bo = plane.ask("POST", "/login", {"username": "bo"})[1]
        boss = plane.ask("POST", "/login", {"username": "boss"})[1]
        now = int(time.time() * 1000)
        line = {"at": now, "kind": "said", "account": bo["client_id"], "text": "I am bad"}
        body = {"world_id": own.world, "boot": own.boot.hex(), "report_id": 0, "number": 1,
                "reporter": boss["client_id"], "account": bo["client_id"], "at": now + 10**9,
                "reason": "abuse", "text": "believe me\u202e", "lines": [line]}

        def send(**change):
            return plane.ask("POST", "/api/hosts/evidence", {**body, **change}, key)
        # Nobody was led to its world: it cannot speak for anybody, and the line is not known.
        check(send() == (200, {"report_id": 1}), "it is stored as its word")
        row = plane.ask("GET", "/admin/reports/1")[1]
        check(row["reporter"] is None and row["from_host"] and not row["evidence"][0]["known"], row)
        check("\u202e" not in row["text"] and row["created"][:4] == time.strftime("%Y"), row)
        # The same again is the same report.
        check(send(text="another") == (200, {"report_id": 1}), "done twice")
        check(len(plane.ask("GET", "/admin/reports")[1]["reports"]) == 1, "two rows")
        # Somebody who was led there is known.
        joined = plane.join_world(own.world, bo["session_token"])
        check("127.0.0.1:1/" in joined["server_address"], joined)
        check(send(number=2, reporter=bo["client_id"])[0] == 200, "of somebody who is there")
        row = plane.ask("GET", "/admin/reports/2")[1]
        check(row["reporter"] == bo["client_id"] and row["evidence"][0]["known"], row)
        full = [{**line, "text": '"' * 512}] * 500
        check(send(number=3, reporter=bo["client_id"], lines=full)[0] == 200, "as much as there may be")
        check(len(plane.ask("GET", "/admin/reports/3")[1]["evidence"]) == 500, "all of it")
        # Worlds and reports that are not its own.
        check(send(world_id=WORLD)[0] == 409, "of another's world")
        check(send(boot="0" * 32)[0] == 409, "of another process")
        made = plane.ask("POST", "/api/reports", {"reason": "spam", "account": bo["client_id"]},
                         boss["session_token"])[1]["report_id"]
        check(send(report_id=made, number=0)[0] == 404, "evidence that nobody asked for")
        for wrong in ({"number": 0}, {"reason": "envy"}, {"lines": [line] * 501}, {"lines": 5},
                      {"lines": [{**line, "kind": "sang"}]}, {"lines": [{**line, "text": "x" * 600}]},
                      {"reporter": "user_xyz"}, {"at": -1}, {"odd": 1}, {"boot": "zz"}):
            status, answer = send(**{"number": 3, **wrong})
            check(status == 400, f"{wrong} is no report: {status} {answer}")
        statuses = [send(number=10 + i)[0] for i in range(14)]
        check(statuses[0] == 200 and statuses[-1] == 429, f"without end: {statuses}")
        # The evidence of a report from a page about its world, once.
        check(own.codes(renew()) == [OK] and own.report()[0] == 200, "it still holds the world")
        made = plane.ask("POST", "/api/reports", {"reason": "spam", "world_id": own.world},
                         bo["session_token"])[1]["report_id"]
        orders = wait_until(lambda: [one for one in own.report()[1]["orders"] if one["order"] == "evidence"],
                            "it is asked")
        check(orders[0]["report_id"] == made, orders)
        check(send(report_id=made, number=0) == (200, {"report_id": made}), "it is taken")
        check(send(report_id=made, number=0, lines=[line] * 5) == (200, {"report_id": made}), "once")
        row = plane.ask("GET", f"/admin/reports/{made}")[1]
        check(len(row["evidence"]) == 1 and row["from_host"] and row["reporter"] == bo["client_id"], row)
        # Lists are for hosts.
        check(plane.ask("GET", "/api/hosts/lists", None, key)[0] == 200, "lists")
        check(plane.ask("GET", "/api/hosts/lists", None, bo["session_token"])[0] == 401, "for anybody")
        plane.stop()
    finally:
        kill_all(plane)


if __name__ == "__main__":
    sys.exit(run(globals(), sys.argv))

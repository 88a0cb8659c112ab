"""Keeping order: reports with evidence, chat rules that the world enforces, people who block others,
the operator's lists."""

import http.client
import json
import sys
import time

from hosts import enter
from support import PATIENCE, Closed, Failure, WebSocket, check, run, wait_until
from test_accounts import People, code_of
from test_admin import PLACE, SECRET, ask, begin, guest


class Talkers:
    """Players who are kept in the game while one of them is asked: all acknowledge what they get."""

    def __init__(self, up, place=PLACE):
        self.up, self.place, self.all = up, place, []

    def enter(self, token):
        player = enter(self.up, token=token, place_id=self.place)
        player.heard, inner = [], player.hear

        def hear(seconds=10.0):
            message = inner(seconds)
            player.heard.append(message)
            return message
        player.hear = hear
        self.all.append(player)
        return player

    def leave(self, player):
        self.all.remove(player)
        player.close()

    def play(self, seconds=0.2):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for player in self.all:
                player.walk(0.05, move_z=0)

    def say(self, player, text):
        """The code of the refusal, or None once it was said."""
        seq = player.say("chat", "say", {"text": text})
        end = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < end:
            self.play()
            for message in player.heard:
                payload = message.get("payload", {})
                if payload.get("commandSeq") == seq and message["kind"] in ("ack", "error"):
                    return payload.get("code")
        raise Failure(f"nobody answered {text!r}")

    def says_at_last(self, player, text, code=None):
        """After a change, which takes a moment."""
        def once():
            self.play(1.1)
            return self.say(player, text) == code
        wait_until(once, f"{text!r} is answered with {code}")

    def texts(self, player):
        found = []
        for snapshot in player.snapshots:
            said = snapshot["payload"].get("features", {}).get("chat", {}).get("said", [])
            found += [event["text"] for event in said]
        return found

    def hears(self, player, text):
        end = time.monotonic() + 5 * PATIENCE
        while time.monotonic() < end:
            if text in self.texts(player):
                return True
            self.play()
        return False


def put(up, path, text, token):
    """A list as text."""
    link = http.client.HTTPConnection("127.0.0.1", up.port, timeout=20 * PATIENCE)
    try:
        link.request("PUT", path, text.encode(),
                     {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"})
        answer = link.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        link.close()


def begin_talking(program, folder):
    """Guests may chat, which they may not by default."""
    up, boss = begin(program, folder)
    ask(up, "PUT", "/admin/settings", {"guest_chat": "free"}, boss)
    return up, boss


def test_moderate_guests(program, _places, folder):
    """Guests are silent until an operator says otherwise, or until they have an account."""
    up, boss = begin(program, folder)
    try:
        ann, bo = up.register("ann"), guest(up, "bo")
        talk = Talkers(up)
        first, second = talk.enter(ann["session_token"]), talk.enter(bo["session_token"])
        check(talk.say(first, "hello") is None and talk.hears(second, "hello"), "an account may chat")
        check(talk.say(second, "hello ann") == "chat_restricted", "a guest may chat")
        answer = ask(up, "GET", "/api/chat", None, bo["session_token"])
        check(answer == {"rule": "off", "guest": True, "phrases": []}, answer)
        answer = ask(up, "GET", "/api/chat", None, ann["session_token"])
        check(answer == {"rule": "free", "guest": False, "phrases": []}, answer)
        check(ask(up, "GET", "/admin/settings", None, boss)["guest_chat"] == "off", "setting")
        check(code_of(up.post("/admin/settings", {"guest_chat": "loud"}, boss, method="PUT"))
              == (400, "malformed"), "any rule")
        check(code_of(up.post("/admin/settings", {"guest_chat": "phrases"}, boss, method="PUT"))
              == (409, "no_phrases"), "without phrases")
        check(ask(up, "PUT", "/admin/settings", {"guest_chat": "free"}, boss)["guest_chat"] == "free", "set")
        talk.says_at_last(second, "at last")
        ask(up, "PUT", "/admin/settings", {"guest_chat": "off"}, boss)
        talk.says_at_last(second, "and now", "chat_restricted")
        up.stop()
    finally:
        up.kill()


def test_moderate_reports(program, _places, folder):
    """From a page and from the game; what was said before is in them, and only operators read it."""
    up, boss = begin_talking(program, folder)
    try:
        ann, bo = up.register("ann"), guest(up, "bo")
        talk = Talkers(up)
        first, second = talk.enter(ann["session_token"]), talk.enter(bo["session_token"])
        check(talk.say(second, "something rude") is None, "it was not said")
        ours = ann["session_token"]
        status, made = up.post("/api/reports", {"reason": "abuse", "text": "he is rude",
                                                "account": bo["client_id"]}, ours)
        check(status == 201 and made["report_id"] == 1, made)
        # From the game: the number of a player is that of the account.
        number = int(bo["client_id"].split("_")[1], 16)
        seq = first.say("moderation", "report", {"player": number, "reason": "spam", "text": "again"})
        wait_until(lambda: len(ask(up, "GET", "/admin/reports?state=open", None, boss)["reports"]) == 2,
                   "the report from the game came")
        check(seq, "a command has a number")
        rows = ask(up, "GET", "/admin/reports", None, boss)["reports"]
        check([row["source"] for row in rows] == ["game", "page"], rows)
        check(all(row["account"] == bo["client_id"] and row["reporter"] == ann["client_id"]
                  and row["place_id"] == PLACE for row in rows), rows)
        one = ask(up, "GET", "/admin/reports/1", None, boss)
        lines = [(line["kind"], line["account"], line["text"], line["known"]) for line in one["evidence"]]
        check(("said", bo["client_id"], "something rude", True) in lines, lines)
        check(("came", bo["client_id"], one["evidence"][1]["text"], True) in lines, lines)
        # Page by page.
        page = ask(up, "GET", "/admin/reports?limit=1", None, boss)
        check(page["next"] == 2 and ask(up, "GET", "/admin/reports?limit=1&before=2", None, boss)
              ["reports"][0]["report_id"] == 1, page)
        closed = ask(up, "POST", "/admin/reports/1", {"state": "acted", "note": "muted"}, boss)
        check(closed["state"] == "acted" and closed["handler"] and closed["handled"], closed)
        check(len(ask(up, "GET", "/admin/reports?state=open", None, boss)["reports"]) == 1, "it is open")
        actions = [row["action"] for row in ask(up, "GET", "/admin/audit", None, boss)["audit"]]
        check(actions[:2] == ["report.close", "report.read"], actions)
        # What can be wrong.
        for body in ({"reason": "envy", "account": "ann"}, {"reason": "spam"},
                     {"reason": "spam", "account": "ann", "text": "a\nb"}):
            check(code_of(up.post("/api/reports", body, ours)) == (400, "malformed"), body)
        check(code_of(up.post("/api/reports", {"reason": "spam", "account": "nobody"}, ours))
              == (404, "not_found"), "nobody was reported")
        check(code_of(up.post("/api/reports", {"reason": "spam", "world_id": "world_none"}, ours))
              == (404, "not_found"), "no world was reported")
        check(up.post("/api/reports", {"reason": "spam", "account": "ann"})[0] == 401, "without a sign-in")
        check(up.post("/admin/reports", None, ours, method="GET")[0] == 403, "anybody reads reports")
        # Nobody reports without end.
        answers = [up.post("/api/reports", {"reason": "spam", "account": "boss"}, ours)[0]
                   for _ in range(12)]
        check(429 in answers, answers)
        # The person's own data has what they said and reported, and not who reported them.
        export = json.loads(up.request("GET", "/api/account/export", None,
                                       {"Authorization": f"Bearer {bo['session_token']}"})[2])
        check({line["text"] for line in export["said"] if line["kind"] == 1} == {"something rude"}
              and export["reports"] == [], export)
        up.stop()
    finally:
        up.kill()


def test_moderate_chat_rules(program, _places, folder):
    """The world enforces them, in a JSON session too; a change reaches those who play."""
    up, boss = begin_talking(program, folder)
    try:
        ann, bo = up.register("ann"), guest(up, "bo")
        talk = Talkers(up)
        first, second = talk.enter(ann["session_token"]), talk.enter(bo["session_token"])
        check(talk.say(first, "hello") is None and talk.hears(second, "hello"), "chat is free at first")
        for path, body in (("/admin/settings", {"chat": "phrases"}), ("/admin/users/ann/chat", {"rule": "phrases"}),
                           (f"/api/places/{PLACE}/chat", {"rule": "phrases"})):
            check(code_of(up.post(path, body, boss, method="PUT")) == (409, "no_phrases"), f"{path} without phrases")
        check(put(up, "/admin/phrases", "Hello!\nWell done.\n", boss) == (200, {"count": 2}), "phrases")
        check(ask(up, "PUT", "/admin/settings", {"chat": "phrases"}, boss)["chat"] == "phrases", "setting")
        talk.says_at_last(first, "what I want", "chat_restricted")
        check(talk.say(first, "Well done.") is None and talk.hears(second, "Well done."), "a phrase is refused")
        answer = ask(up, "GET", "/api/chat", None, ann["session_token"])
        check(answer == {"rule": "phrases", "guest": False, "phrases": ["Hello!", "Well done."]}, answer)
        # The strictest: of one account.
        ask(up, "PUT", "/admin/users/ann/chat", {"rule": "off"}, boss)
        talk.says_at_last(first, "Hello!", "chat_restricted")
        check(talk.say(second, "Hello!") is None, "he may")
        check(ask(up, "GET", "/api/chat", None, ann["session_token"])["rule"] == "off", "rule of ann")
        # Free again; whoever comes anew has the rule of their account at once.
        ask(up, "PUT", "/admin/settings", {"chat": "free"}, boss)
        talk.says_at_last(second, "anything")
        talk.leave(first)
        first = talk.enter(ann["session_token"])
        check(talk.say(first, "hello again") == "chat_restricted", "a new connection is free")
        ask(up, "PUT", "/admin/users/ann/chat", {"rule": "free"}, boss)
        talk.says_at_last(first, "at last")
        check(code_of(up.post("/admin/users/ann/chat", {"rule": "loud"}, boss, method="PUT"))
              == (400, "malformed"), "any rule")
        check(up.post("/admin/users/ann/chat", {"rule": "off"}, ann["session_token"], method="PUT")[0]
              == 403, "anybody sets rules")
        check(code_of(up.post("/api/places/place_none/chat", {"rule": "off"}, boss, method="PUT"))
              == (404, "not_found"), "no place")
        up.stop()
    finally:
        up.kill()


def test_moderate_blocks(program, _places, folder):
    """Whoever blocks somebody does not hear them, now and when they come later."""
    up, boss = begin_talking(program, folder)
    try:
        ann, bo, cy = up.register("ann"), guest(up, "bo"), guest(up, "cy")
        mine = ann["session_token"]
        talk = Talkers(up)
        first, second = talk.enter(mine), talk.enter(bo["session_token"])
        check(talk.say(second, "one") is None and talk.hears(first, "one"), "she hears him")
        ask(up, "PUT", f"/api/me/blocks/{bo['client_id']}", None, mine)
        ask(up, "PUT", f"/api/me/blocks/{cy['client_id']}", None, mine)
        blocks = ask(up, "GET", "/api/me/blocks", None, mine)["blocks"]
        check({block["account"] for block in blocks} == {bo["client_id"], cy["client_id"]}, blocks)
        talk.play(1.1)
        third = talk.enter(cy["session_token"])  # comes after the block
        check(talk.say(second, "two") is None and talk.say(third, "three") is None, "they may talk")
        check(talk.hears(third, "two"), "the others hear each other")
        talk.play(1.0)
        check(not set(talk.texts(first)) & {"two", "three"}, "she hears whom she blocks")
        ask(up, "DELETE", f"/api/me/blocks/{bo['client_id']}", None, mine)
        talk.play(1.1)
        check(talk.say(second, "four") is None and talk.hears(first, "four"), "she hears him again")
        check(code_of(up.post("/api/me/blocks/ann", None, mine, method="PUT")) == (409, "yourself"), "self")
        check(code_of(up.post("/api/me/blocks/nobody", None, mine, method="PUT")) == (404, "not_found"),
              "nobody")
        check(ask(up, "GET", "/api/me/blocks", None, bo["session_token"])["blocks"] == [], "he is told")
        up.stop()
    finally:
        up.kill()


def test_moderate_words(program, _places, folder):
    """Stars in chat; names with such a word are refused."""
    up, boss = begin_talking(program, folder)
    try:
        ann, bo = up.register("ann"), guest(up, "bo")
        talk = Talkers(up)
        first, second = talk.enter(ann["session_token"]), talk.enter(bo["session_token"])
        check(put(up, "/admin/words", "troll\n*worm*\n", boss) == (200, {"count": 2}), "words")
        talk.play(1.1)  # the world hears of it
        check(talk.say(first, "you tr0ll, bookworm") is None and
              talk.hears(second, "you *****, book****"), talk.texts(second))
        status, _, body = up.request("GET", "/admin/words", None, {"Authorization": f"Bearer {boss}"})
        check(status == 200 and body.decode() == "troll\n*worm*\n", body)
        check(code_of(up.post("/api/account", {"shown_name": "A Troll"}, ann["session_token"]))
              == (400, "word_not_allowed"), "a shown name")
        check(code_of(up.post("/login", {"username": "t.r.o.l.l"})) == (400, "word_not_allowed"), "a guest")
        # Letters that look the same, styled ones, and what shows nothing do not get around it.
        for text, shown in (("a tr\u043ell", "a *****"), ("b \U0001d42d\U0001d42b\u24de\U0001d425l", "b *****"),
                            ("c t\ufe0fr\ufe0foll", "c *\ufe0f*\ufe0f***")):
            check(talk.say(first, text) is None and talk.hears(second, shown), text)
        # Controls that turn the order of letters around, and spaces of no width, are taken out; joiners are not.
        check(talk.say(first, "d \u202edrow\u202c \u200bx\ufeff \u0645\u200c\u0646") is None and
              talk.hears(second, "d drow x \u0645\u200c\u0646"), talk.texts(second))
        check(talk.say(first, "\u202e\u2066") is not None, "nothing is said")
        profiles = ask(up, "GET", "/api/account/profiles", None, ann["session_token"])
        profiles["profiles"][0]["name"] = "A tr\u043ell"
        check(code_of(up.post("/api/account/profiles", profiles, ann["session_token"], method="PUT"))
              == (400, "word_not_allowed"), "a character's name")

        # What a character is called is for its player: others see the name of the account, also when it changes.
        def names_of_ann():
            talk.play()
            return [one["name"] for snapshot in second.snapshots
                    for one in snapshot["payload"].get("features", {}).get("presence", {}).get("joined", [])
                    if one.get("playerId") == first_id]
        first_id = next(one["playerId"] for snapshot in second.snapshots
                        for one in snapshot["payload"].get("features", {}).get("presence", {}).get("joined", [])
                        if one["name"] == "ann")
        before = len(names_of_ann())
        first.say("profile", "save", {"profiles": [{"characterId": "default", "name": "boss", "colourShirt": 7}]})
        wait_until(lambda: len(names_of_ann()) > before, "nobody is told of the new shirt")
        check(set(names_of_ann()) == {"ann"}, names_of_ann())
        world = up.post("/api/worlds", {"name": "Fine", "place_id": PLACE}, ann["session_token"])[1]["world_id"]
        saved = up.request("GET", f"/world/{world}", None, {"Authorization": f"Bearer {ann['session_token']}"})[2]
        for name, code in (("A tr0ll", "word_not_allowed"), ("Fi\u202ene", "invalid_name"),
                           ("Fi\u200bne", "invalid_name")):
            file = json.loads(saved)
            file["metadata"]["name"] = name
            check(code_of(up.post(f"/world/{world}", file, ann["session_token"])) == (400, code), name)
        status, answer = put(up, "/admin/words", "fine\nx\n", boss)
        check(status == 400 and "line 2" in answer["error"]["message"], answer)
        check(put(up, "/admin/words", "", ann["session_token"])[0] == 403, "anybody changes words")
        check(put(up, "/admin/words", "", boss) == (200, {"count": 0}), "no words")
        talk.play(1.1)
        check(talk.say(first, "troll") is None and talk.hears(second, "troll"), "stars without a list")
        up.stop()
    finally:
        up.kill()


def test_moderate_acts(program, _places, folder):
    """A place is removed and put back, the owner reads why; a place waits to be approved."""
    up, boss = begin(program, folder)
    try:
        talk = Talkers(up)
        player = talk.enter(guest(up, "bo")["session_token"])
        world = player.world_id
        for body in ({"act": "remove"}, {"act": "explode", "reason": "x"}):
            check(code_of(up.post(f"/admin/packages/{PLACE}", body, boss)) == (400, "malformed"), body)
        check(code_of(up.post("/admin/packages/place_none", {"act": "restore"}, boss))
              == (404, "not_found"), "no such place")
        answer = ask(up, "POST", f"/admin/packages/{PLACE}", {"act": "remove", "reason": "spam"}, boss)
        check(answer["moderation"]["state"] == "removed" and answer["moderation"]["reason"] == "spam", answer)
        page = ask(up, "GET", f"/api/places/{PLACE}", None, boss)
        check(page["removed"] and page["moderation"]["reason"] == "spam", page)
        wait_until(lambda: world not in {one["world_id"] for one in
                                         ask(up, "GET", "/admin/servers", None, boss)["servers"]},
                   "its worlds stop")
        token = guest(up, "cy")["session_token"]
        check(up.post("/join", {"place_id": PLACE}, token)[0] in (403, 404), "it can be played")
        ask(up, "POST", f"/admin/packages/{PLACE}", {"act": "restore"}, boss)
        check(up.post("/join", {"place_id": PLACE}, token)[0] == 200, "it is not back")
        check(ask(up, "GET", f"/api/places/{PLACE}", None, boss)["moderation"] is None, "moderation")
        # Approval.
        ask(up, "PUT", "/admin/settings", {"approve_listing": "yes"}, boss)
        ask(up, "POST", f"/admin/packages/{PLACE}", {"act": "refuse", "reason": "no picture"}, boss)
        waiting = ask(up, "GET", "/admin/approvals", None, boss)
        check(PLACE not in [one["package_id"] for one in waiting["approvals"]], waiting)
        ask(up, "POST", f"/admin/packages/{PLACE}", {"act": "approve"}, boss)
        actions = [row["action"] for row in ask(up, "GET", "/admin/audit", None, boss)["audit"]]
        check(actions[:5] == ["approve", "refuse", "settings", "restore", "remove"], actions)
        check(up.post(f"/admin/packages/{PLACE}", {"act": "restore"}, token)[0] == 403, "anybody acts")
        up.stop()
    finally:
        up.kill()


def test_moderate_addresses(program, _places, folder):
    """Nobody comes in from a banned range, and who plays from there is cut off."""
    up = People(program, folder, "--trusted-proxy", "127.0.0.1", variables=SECRET)
    boss = up.operator()

    def from_range(method, path, body=None, token=None):
        headers = {"X-Forwarded-For": "203.0.113.7", "Content-Type": "application/json",
                   **({"Authorization": f"Bearer {token}"} if token else {})}
        status, _, text = up.request(method, path, body, headers)
        return status, json.loads(text)
    try:
        status, bo = from_range("POST", "/login", {"username": "bo"})
        check(status == 200, bo)
        status, joined = from_range("POST", "/join", {"place_id": PLACE}, bo["session_token"])
        check(status == 200, joined)
        link = WebSocket(up.port, path_of(joined), headers=["X-Forwarded-For: 203.0.113.7"])
        check(link.status == 101, link.head)
        link.send(json.dumps({"v": 2, "kind": "command", "seq": 1, "feature": "session",
                              "action": "handshake", "payload": {"ticket": joined["ticket"]}}))
        link.receive(10 * PATIENCE)
        for text in ("203.0.113.7/24", "x", "300.0.0.0/8"):
            check(code_of(up.post("/admin/bans/addresses", {"range": text}, boss)) == (400, "malformed"), text)
        check(code_of(up.post("/admin/bans/addresses", {"range": "127.0.0.0/8"}, boss))
              == (409, "yourself"), "one's own address")
        made = ask(up, "POST", "/admin/bans/addresses",
                   {"range": "203.0.113.0/24", "reason": "spam", "minutes": 5}, boss)
        check(made["range"] == "203.0.113.0/24" and made["until"], made)
        check(closes(link), "who plays from there goes on")
        for method, path, body in (("POST", "/login", {"username": "cy"}),
                                   ("POST", "/register", {"username": "cyd", "password": "long enough 7"}),
                                   ("POST", "/join", {"place_id": PLACE})):
            status, answer = from_range(method, path, body, bo["session_token"] if path == "/join" else None)
            check(status == 403 and answer["error"]["code"] == "banned"
                  and "spam" in answer["error"]["message"], (path, answer))
        check(WebSocket(up.port, path_of(joined), headers=["X-Forwarded-For: 203.0.113.7"]).status == 403,
              "a socket is opened")
        check(up.post("/login", {"username": "dee"})[0] == 200, "others are refused")
        check(from_range("GET", "/api/session")[0] == 200, "nothing can be read")
        check(from_range("POST", "/admin/announce", {"text": "hi"}, boss)[0] == 200, "an operator is refused")
        check(from_range("POST", "/api/peers", {})[0] == 404, "a ban of addresses holds for other machines")
        check(ask(up, "GET", "/admin/bans/addresses", None, boss)["total"] == 1, "it is not listed")
        ask(up, "DELETE", "/admin/bans/addresses?range=203.0.113.0/24", None, boss)
        check(from_range("POST", "/login", {"username": "cy"})[0] == 200, "it still holds")
        ask(up, "POST", "/admin/bans/addresses", {"range": "2001:DB8::/32"}, boss)
        check(ask(up, "GET", "/admin/bans/addresses", None, boss)["bans"][0]["range"] == "2001:db8::/32", "v6")
        up.stop()
    finally:
        up.kill()


def path_of(joined):
    return "/" + joined["server_address"].split("/", 3)[3]


def closes(link):
    end = time.monotonic() + 10 * PATIENCE
    try:
        while time.monotonic() < end:
            link.receive(2 * PATIENCE)
    except (Closed, TimeoutError, OSError) as error:
        return isinstance(error, Closed)
    return False


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

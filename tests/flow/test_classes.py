"""Classes: a teacher makes thirty accounts from a list of names, hands out a template, reads what the
pupils make of it, and nobody outside of the class learns anything."""

import json
import os
import re
import sys
import time
import urllib.parse

from hosts import Room, enter
from support import PATIENCE, Closed, Player, check, needs_file, run, wait_until
from test_accounts import PASSWORD, People
from test_drafts import SECRET, ask, code_of, good, tag_of
from test_moderate import PLACE as ISLAND
from test_moderate import Talkers

PUPILS = int(os.environ.get("SANDLOT_PUPILS", "25"))  # of the class that much is handed out to
CODE = re.compile(r"^[a-hjkmnp-z1-9]{4}-[a-hjkmnp-z1-9]{4}-[a-hjkmnp-z1-9]{4}$")
NAMES = ["Anna", "Bert", "Anna", "Zoë", "Ωμέγα", "李", "Jean-Luc", "O'Neil"] + [f"Kid {i}" for i in range(22)]


def teacher(up, boss, name):
    token = up.register(name)["session_token"]
    status, answer = up.post(f"/api/accounts/{name}/roles", {"roles": "teacher creator"}, boss)
    check(status == 200, answer)
    return token


def school_class(up, who, name, names):
    """The class's id, and its pupils with their codes."""
    made = good(ask(up, "POST", "/api/classes", who, {"name": name}))["class_id"]
    return made, good(ask(up, "POST", f"/api/classes/{made}/pupils", who, {"names": names}))["pupils"]


def sign_in(up, code, **more):
    return good(ask(up, "POST", "/login", None, {"code": code, **more}))["session_token"]


def begin_handout(up, who, made, **what):
    return good(ask(up, "POST", f"/api/classes/{made}/handout", who, what), 202)


def end_handout(up, who, made, begun, seconds=60):
    at = f"/api/classes/{made}/handouts/{begun['handout']}"
    return wait_until(lambda: (lambda one: one if one["state"] != "running" else None)(
        good(ask(up, "GET", at, who))), "it is handed out", seconds)


def hand_out(up, who, made, **what):
    return end_handout(up, who, made, begin_handout(up, who, made, **what))


def places_of(up, who, made):
    """By account name."""
    places, after = {}, ""
    while after is not None:
        page = good(ask(up, "GET", f"/api/classes/{made}/places?limit=7&after={after}", who))
        places.update({place["username"]: place["place_id"] for place in page["places"]})
        after = page["next"]
    return places


def audit(up, boss, action):
    rows = good(ask(up, "GET", "/admin/audit", boss))["audit"]
    return [row for row in rows if row["action"] == action]


def publish(up, who, place):
    made = good(ask(up, "POST", f"/api/places/{place}/draft/publish", who,
                    {"notes": "first", "channel": "live"}), 202)
    at = f"/api/places/{place}/revisions/{made['revision_id']}"
    wait_until(lambda: good(ask(up, "GET", at, who))["state"] == "ready", "it is built", 60)


def test_classes(program, _places, folder):
    needs_file()
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim, lee = teacher(up, boss, "kim"), teacher(up, boss, "lee")
        check(ask(up, "POST", "/api/classes", up.register("cyd")["session_token"], {"name": "x"})[0] == 403,
              "who is no teacher makes no classes")
        made, pupils = school_class(up, kim, "5b", NAMES)
        check([one["name"] for one in pupils] == NAMES, "not everybody, or in another order")
        check(len({one["username"].lower() for one in pupils}) == 30, "two have the same name")
        check(all(CODE.match(one["code"]) for one in pupils), pupils)
        check(len({one["code"] for one in pupils}) == 30, "two have the same code")
        listed = good(ask(up, "GET", f"/api/classes/{made}", kim))
        check(len(listed["pupils"]) == 30 and "code" not in json.dumps(listed["pupils"]), listed)
        check([one["class_id"] for one in good(ask(up, "GET", "/api/classes", kim))["classes"]] == [made],
              "one's classes")
        with open(f"{folder}/data/sandlot.db", "rb") as file:
            stored = file.read()
        plain = pupils[0]["code"]
        check(not any(text.encode() in stored for text in (plain, plain.replace("-", ""))),
              "a code is on the disk")

        # By the code alone, as it is typed, or with the name; not by another's name.
        anna, bert = sign_in(up, plain.upper().replace("-", " ")), sign_in(up, pupils[1]["code"])
        check(up.who(anna)["username"] == pupils[0]["username"] and up.who(anna)["roles"] == [], up.who(anna))
        sign_in(up, plain, username=pupils[0]["username"])
        wrong = ask(up, "POST", "/login", None, {"code": plain, "username": pupils[1]["username"]})
        check((wrong[0], code_of(wrong)) == (401, "wrong_credentials"), wrong)
        check(ask(up, "POST", "/login", None, {"code": "aaaa-aaaa-aaaa"})[0] == 401, "no such code")
        check(ask(up, "POST", "/login", None, {"code": ""})[0] == 400, "an empty code makes a guest")
        check('name="code"' in ask(up, "GET", "/account")[2].decode(), "the page has no place for a code")
        status, headers, _ = up.form("/login", {"code": plain})
        check(status == 303 and "sandlot=" in headers["Set-Cookie"], headers)
        check(ask(up, "POST", "/api/drafts", anna, {"title": "x"})[0] == 403, "pupils get their places")

        # A template for everybody, once; those who come later get it the next time.
        given = hand_out(up, kim, made, title="Our town", template="blank")
        check((given["given"], given["had"], given["failed"]) == (30, 0, 0), given)
        more = good(ask(up, "POST", f"/api/classes/{made}/pupils", kim, {"names": ["Late"]}))["pupils"][0]
        again = hand_out(up, kim, made, title="Our town", template="blank")
        check((again["given"], again["had"], again["handout"]) == (1, 30, given["handout"]), again)
        places = places_of(up, kim, made)
        check(len(places) == 31 and len(set(places.values())) == 31, places)
        named = f"/api/places/{places[more['username']]}/draft/files/place.json"
        named = ask(up, "GET", named, sign_in(up, more["code"]))[2]
        check(json.loads(named)["name"] == "Our town", named)

        # Each pupil writes in their own, and nobody else in it.
        mine, theirs = places[pupils[0]["username"]], places[pupils[1]["username"]]
        at = f"/api/places/{mine}/draft"
        good(ask(up, "PUT", f"{at}/files/notes.md", anna, b"Anna was here", If_None_Match="*"))
        check(ask(up, "GET", at, bert)[0] == 404, "another pupil reads it")
        check(ask(up, "GET", f"/api/places/{mine}", bert)[0] == 404, "another pupil sees it")

        # The teacher reads it, which is in the audit once, and writes nothing.
        for path in (at, f"{at}/files/notes.md", f"{at}/history/notes.md", f"{at}/history/notes.md?version=1"):
            check(ask(up, "GET", path, kim)[0] == 200, f"{path} is not for the teacher")
        check(ask(up, "GET", f"{at}/files/notes.md", kim)[2] == b"Anna was here", "another text")
        rows = audit(up, boss, "read draft")
        check([row["detail"] for row in rows] == [mine], rows)
        for method, path, body in (("PUT", f"{at}/files/notes.md", b"x"), ("DELETE", f"{at}/files/notes.md", None),
                                   ("POST", f"{at}/publish", {"notes": "x"}),
                                   ("PATCH", f"/api/places/{mine}", {"title": "x"}),
                                   ("DELETE", f"/api/places/{mine}", None)):
            status = ask(up, method, path, kim, body, If_Match=tag_of(b"Anna was here"))[0]
            check(status == 403, f"{method} {path}: {status}")

        # Another teacher, and a pupil of another class: nothing is there.
        other, others = school_class(up, lee, "6c", ["Anna"])
        outside = sign_in(up, others[0]["code"])
        calls = [("GET", f"/api/classes/{made}", None), ("DELETE", f"/api/classes/{made}", None),
                 ("POST", f"/api/classes/{made}/pupils", {"names": ["x"]}),
                 ("DELETE", f"/api/classes/{made}/pupils/{pupils[0]['account']}", None),
                 ("POST", f"/api/classes/{made}/pupils/{pupils[0]['account']}/code", None),
                 ("POST", f"/api/classes/{made}/handout", {"title": "x"}),
                 ("GET", f"/api/classes/{made}/places", None), ("PUT", f"/api/classes/{made}/chat", {"rule": "off"}),
                 ("POST", f"/api/classes/{made}/pause", None), ("POST", f"/api/classes/{made}/resume", None),
                 ("GET", f"/api/places/{mine}", None), ("GET", at, None), ("GET", f"{at}/files/notes.md", None),
                 ("GET", f"{at}/history/notes.md", None), ("POST", "/join", {"place_id": mine})]
        for who in (lee, outside):
            for method, path, body in calls:
                status = ask(up, method, path, who, body)[0]
                check(status == 404, f"{method} {path}: {status}")
        # A pupil of one class is none of another.
        check(ask(up, "POST", f"/api/classes/{other}/pupils/{pupils[0]['account']}/code", lee)[0] == 404,
              "another class's pupil has a new code")

        # From a place of the teacher: its draft, as it is.
        own = good(ask(up, "POST", "/api/drafts", kim, {"title": "Bridge"}))["place_id"]
        good(ask(up, "PUT", f"/api/places/{own}/draft/files/task.md", kim, b"Build a bridge.", If_None_Match="*"))
        check(hand_out(up, kim, made, title="Bridge", place_id=own)["given"] == 31, "not everybody has it")
        bridge = places_of(up, kim, made)[more["username"]]
        late = sign_in(up, more["code"])
        titles = {one["title"]: one["place_id"] for one in good(ask(up, "GET", "/api/me/places", late))["places"]}
        check(set(titles) == {"Our town", "Bridge"} and bridge in titles.values(), titles)
        check(ask(up, "GET", f"/api/places/{titles['Bridge']}/draft/files/task.md", late)[2] == b"Build a bridge.",
              "another text")
        check(ask(up, "POST", f"/api/classes/{other}/handout", lee, {"title": "x", "place_id": own})[0] == 404,
              "somebody else's place is handed out")

        # A new code ends the old one and the sign-ins. A pupil who leaves keeps the account.
        fresh = good(ask(up, "POST", f"/api/classes/{made}/pupils/{pupils[0]['username']}/code", kim))["code"]
        check(up.who(anna) is None, "the sign-in goes on")
        check(ask(up, "POST", "/login", None, {"code": plain})[0] == 401, "the old code is good")
        anna = sign_in(up, fresh)
        check(ask(up, "GET", f"{at}/files/notes.md", anna)[0] == 200, "her place is not hers")
        good(ask(up, "DELETE", f"/api/classes/{made}/pupils/{more['account']}?accounts=delete", kim))
        check(ask(up, "GET", f"/admin/users/{more['username']}", boss)[0] == 404, "the account is there")
        good(ask(up, "DELETE", f"/api/classes/{made}", kim))
        check(ask(up, "GET", f"/api/classes/{made}", kim)[0] == 404, "the class is there")
        check(up.who(anna) is None and ask(up, "POST", "/login", None, {"code": fresh})[0] == 401,
              "a code of a class that is gone")
        check(ask(up, "GET", at, kim)[0] == 404, "the teacher of no class reads a draft")
        check(ask(up, "GET", f"/admin/users/{pupils[0]['username']}", boss)[0] == 200, "the account is gone")
    finally:
        up.kill()


# --- a crawl ----------------------------------------------------------------------------------------

def fill(path, parts):
    """The path with every brace filled by each of those."""
    names = re.findall(r"{(\w+)}", path)
    if not names:
        return [path]
    found = []
    for number in range(max(len(parts.get(name, parts[None])) for name in names)):
        one = path
        for name in names:
            values = parts.get(name, parts[None])
            one = one.replace(f"{{{name}}}", urllib.parse.quote(values[number % len(values)], safe="/"), 1)
        found.append(one)
    return found


def test_classes_crawl(program, _places, folder):
    """Every route, as a pupil, with all ids of another class: nothing of it is in any answer."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim, lee = teacher(up, boss, "kim"), teacher(up, boss, "lee")
        marks = {"name": "Markname", "class": "Markclass", "title": "Marktitle", "text": "Marktext"}
        made, pupils = school_class(up, kim, marks["class"], [marks["name"]])
        handed = hand_out(up, kim, made, title=marks["title"])
        place = places_of(up, kim, made)[pupils[0]["username"]]
        victim = sign_in(up, pupils[0]["code"])
        good(ask(up, "PUT", f"/api/places/{place}/draft/files/secret.md", victim, marks["text"].encode(),
                 If_None_Match="*"))
        # Its owner shows it to all the world, but cannot let the other pupil into the team.
        good(ask(up, "PATCH", f"/api/places/{place}", victim,
                 {"visibility": "listed", "open": True, "description": marks["text"]}))
        publish(up, victim, place)
        _, others = school_class(up, lee, "6c", ["Spy"])
        spy = sign_in(up, others[0]["code"])
        # By the name nobody of another class is found; by the number the place stays closed.
        for who, wanted in ((others[0]["username"], (404, "no_account")), (str(others[0]["account"]), (409, "class_closed"))):
            for refused in (ask(up, "PUT", f"/api/places/{place}/team/{who}", victim, {"role": "editor"}),
                            ask(up, "POST", f"/api/places/{place}/give", victim, {"account": who})):
                check((refused[0], code_of(refused)) == wanted, refused)
        room = good(ask(up, "POST", "/join", victim, {"place_id": place}))
        parts = {None: [place, made, str(pupils[0]["account"])], "place_id": [place], "class_id": [made],
                 "account": [str(pupils[0]["account"]), pupils[0]["username"]], "name": [pupils[0]["username"]],
                 "path": ["secret.md", "place.json"], "revision_id": ["r1"], "number": ["0"], "channel": ["live"],
                 "handout": [handed["handout"]],
                 "hash": [tag_of(marks["text"].encode()).strip('"')]}
        routes = good(ask(up, "GET", "/api/openapi.json"))["paths"]
        count = 0
        for path, methods in routes.items():
            if "get" not in methods or "logs" in path:
                continue
            for address in fill(path, {**parts, None: [*parts[None], room["world_id"], room["room_code"]]}):
                for query in ("", f"?q={marks['title']}", f"?place_id={place}", "?version=1"):
                    status, headers, body = ask(up, "GET", address + query, spy)
                    count += 1
                    text = body.decode("utf-8", "replace") + json.dumps(headers)
                    for what, mark in marks.items():
                        if query.endswith(mark):
                            text = text.replace(query, "")
                        check(mark.lower() not in text.lower(), f"the {what} is in GET {address}{query} ({status})")
        for path, methods in routes.items():
            if not re.search("{(place_id|class_id|id)}", path):
                continue
            for method in (one for one in methods if one != "get"):
                for address in fill(path, parts):
                    status, headers, body = ask(up, method.upper(), address, spy, {})
                    count += 1
                    text = body.decode("utf-8", "replace") + json.dumps(headers)
                    for what, mark in marks.items():
                        check(mark.lower() not in text.lower(), f"the {what} is in {method} {address} ({status})")
                    check(status >= 400, f"{method} {address} says {status}")
        check(count > 300, f"only {count} requests")
        # The owner and the teacher find it by the same addresses: the crawl looked at the right ones.
        for who in (victim, kim):
            check(marks["text"].encode() in ask(up, "GET", f"/api/places/{place}/draft/files/secret.md", who)[2],
                  "nobody finds it")
        check(ask(up, "POST", "/join", spy, {"place_id": place})[0] == 404, "an outsider comes in")
        check(ask(up, "POST", "/join", spy, {"world_id": room["world_id"]})[0] == 404, "an outsider comes in")
    finally:
        up.kill()


# --- children ---------------------------------------------------------------------------------------

def heard_by(player):
    return json.dumps(player.heard, ensure_ascii=False)


def test_classes_names(program, _places, folder):
    """A pupil does all they can to be known outside of the class, and a stranger all they can to learn a
    pupil's name: there is an alias, no free chat and no text of theirs, until the teacher allows it."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim = teacher(up, boss, "kim")
        made, pupils = school_class(up, kim, "5b", ["Markname", "Bert"])
        child, number = pupils[0]["username"], pupils[0]["account"]
        mark, bert = (sign_in(up, one["code"]) for one in pupils)
        cyd = up.register("cyd")["session_token"]

        def knows(text):
            return any(one in text.lower() for one in ("markname", "marktext"))

        # In a world with strangers: whatever the characters are called, and by a ticket or a sign-in.
        refused = ask(up, "POST", "/api/account", mark, {"shown_name": "Marktext"})
        check((refused[0], code_of(refused)) == (403, "name_closed"), refused)
        profiles = good(ask(up, "GET", "/api/account/profiles", mark))
        profiles["profiles"][0]["name"] = "Marktext"
        good(ask(up, "PUT", "/api/account/profiles", mark, profiles))
        talk = Talkers(up)
        stranger, player = talk.enter(cyd), talk.enter(mark)
        check(stranger.world_id == player.world_id, "two worlds")
        player.say("profile", "save", {"profiles": [{"characterId": "second", "name": "Marktext"}]})
        player.say("profile", "select", {"characterId": "second"})
        check(talk.say(player, "Marktext is my name") == "chat_restricted", "a child chats with strangers")
        check("Pupil " in heard_by(stranger) and not knows(heard_by(stranger)), "a stranger reads the name")
        talk.leave(player)
        answer = up.join(token=mark, place_id=ISLAND)
        again = Player(Room(up, answer), name="Marktext", ticket=mark)  # the sign-in itself
        talk.play(1)
        check(not knows(heard_by(stranger)), "by a sign-in the name is there")
        again.close()
        refused = ask(up, "POST", "/api/worlds", mark, {"place_id": ISLAND, "name": "Marktext was here"})
        check((refused[0], code_of(refused)) == (403, "name_closed"), refused)
        check(ask(up, "POST", "/api/worlds", mark, {"place_id": ISLAND})[0] == 201, "no world at all")

        # By the number of the account, which every player of a world learns.
        good(ask(up, "PUT", f"/api/me/blocks/{number}", cyd))
        blocks = ask(up, "GET", "/api/me/blocks", cyd)[2].decode()
        check("Pupil " in blocks and not knows(blocks), blocks)
        good(ask(up, "POST", "/api/accounts/cyd/roles", boss, {"roles": "creator"}))
        trap = good(ask(up, "POST", "/api/drafts", cyd, {"title": "Trap"}))["place_id"]
        for team in (ask(up, "PUT", f"/api/places/{trap}/team/{number}", cyd, {"role": "tester"}),
                     ask(up, "GET", f"/api/places/{trap}/team", cyd)):
            check(team[0] == 200 and b"Pupil " in team[2] and not knows(team[2].decode()), team)

        # Names that are tried find nobody, so that nothing tells which alias is whose.
        own = good(ask(up, "POST", "/api/worlds", cyd, {"place_id": ISLAND, "private": True}), 201)["world_id"]

        def tries(who, name):
            return [ask(up, method, path, who, body)[0] for method, path, body in (
                ("PUT", f"/api/me/blocks/{name}", None), ("PUT", f"/api/places/{trap}/team/{name}", {"role": "tester"}),
                ("POST", f"/api/places/{trap}/give", {"account": name}), ("POST", f"/api/worlds/{own}/guests", {"username": name}),
                ("POST", "/api/reports", {"reason": "other", "account": name}))]
        check(tries(cyd, child) == [404] * 5 == tries(cyd, "nobody-here"), tries(cyd, child))
        check(ask(up, "PUT", f"/api/me/blocks/{child}", bert)[0] == 200, "a classmate knows the name")

        # As the maker of a place that everybody finds.
        good(ask(up, "POST", f"/api/accounts/{child}/roles", boss, {"roles": "creator"}))
        place = good(ask(up, "POST", "/api/drafts", mark, {"title": "A tower"}))["place_id"]
        publish(up, mark, place)
        good(ask(up, "PATCH", f"/api/places/{place}", mark, {"visibility": "listed"}))
        for who in (None, cyd):
            for path in (f"/api/places/{place}", f"/api/places/{place}/revisions", "/api/places?sort=new",
                         f"/place/{place}",
                         "/api/places?q=tower", f"/api/places/{place}/worlds"):
                status, _, text = ask(up, "GET", path, who)
                check(status == 200 and not knows(text.decode()), f"{path}: {status} {text}")
            for query in ("q=markname", f"creator={child}"):
                found = good(ask(up, "GET", f"/api/places?{query}", who))["places"]
                check(found == [], f"a stranger finds it by {query}")
        check(good(ask(up, "GET", "/api/places?q=tower"))["places"][0]["creator"].startswith("Pupil "), "its maker")

        # Those who are in the class know each other.
        for who in (bert, kim, boss, mark):
            creator = good(ask(up, "GET", f"/api/places/{place}", who))["creator"]
            check(creator == {"username": child, "shown_name": "Markname"}, creator)
        town = good(ask(up, "GET", f"/api/classes/{made}", bert))
        check({one["shown_name"] for one in town["pupils"]} == {"Bert", "Markname"}, town)

        # The teacher allows it, alone; and takes it back.
        names = f"/api/classes/{made}/names"
        check([ask(up, "PUT", names, who, {"public": True})[0] for who in (mark, cyd)] == [403, 404], "anybody does")
        check(ask(up, "PUT", names, kim, {})[0] == 400, "nothing is said")
        check(good(ask(up, "PUT", names, kim, {"public": True}))["public_names"] is True, "rule")
        check(len(audit(up, boss, "class names")) == 1, "audit")
        check(good(ask(up, "GET", f"/api/places/{place}"))["creator"]["shown_name"] == "Markname", "it is public")
        check(set(tries(cyd, child)) <= {200, 201}, "a public name is found")
        good(ask(up, "POST", "/api/account", mark, {"shown_name": "Mark"}))
        good(ask(up, "PUT", names, kim, {"public": False}))
        up.stop()
        up = People(program, folder, variables=SECRET)
        check("Mark" not in json.dumps(good(ask(up, "GET", f"/api/places/{place}"))["creator"]), "after a restart")

        # Who leaves the class and keeps the account stays a child.
        good(ask(up, "DELETE", f"/api/classes/{made}/pupils/{number}", kim))
        check("Mark" not in json.dumps(good(ask(up, "GET", f"/api/places/{place}", cyd))["creator"]), "it leaks then")
        link = good(ask(up, "POST", f"/api/accounts/{child}/reset", boss))["link"].split("link=")[1]
        back = good(ask(up, "POST", "/api/account/recover", None, {"link": link, "new": PASSWORD}))
        check(good(ask(up, "GET", "/api/chat", back["session_token"]))["rule"] == "off", "free chat at last")
        up.stop()
    finally:
        up.kill()


def test_classes_pupils(program, _places, folder):
    """What a pupil sees of the class: what it is, and the places that they may play; nothing to lead it."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim = teacher(up, boss, "kim")
        made, pupils = school_class(up, kim, "5b", ["Anna", "Bert"])
        anna, bert = (sign_in(up, one["code"]) for one in pupils)
        hand_out(up, kim, made, title="Our town")
        listed = good(ask(up, "GET", "/api/classes", anna))
        check([(one["class_id"], one["part"]) for one in listed["classes"]] == [(made, "pupil")], listed)
        check(listed["may_make"] is False, listed)
        mine = good(ask(up, "GET", "/api/classes", kim))
        check(mine["may_make"] is True and mine["classes"][0]["part"] == "teacher", mine)
        check(good(ask(up, "GET", "/api/classes", up.register("cyd")["session_token"]))["classes"] == [], "others")
        seen = good(ask(up, "GET", f"/api/classes/{made}", anna))
        check(seen["part"] == "pupil" and seen["chat"] == "off" and "code" not in json.dumps(seen), seen)
        places = places_of(up, kim, made)
        first = places[pupils[0]["username"]]
        check(places_of(up, bert, made) == {pupils[1]["username"]: places[pupils[1]["username"]]}, "private ones")
        good(ask(up, "PATCH", f"/api/places/{first}", anna, {"visibility": "unlisted"}))
        check(places_of(up, bert, made) == places, "what is shown to the class")
        good(ask(up, "DELETE", f"/api/places/{first}", anna))
        check(first not in places_of(up, kim, made).values(), "the trash is in the gallery")
        for method, path, body in (("DELETE", "", None), ("POST", "/pupils", {"names": ["x"]}),
                                   ("POST", f"/pupils/{pupils[1]['account']}/code", None), ("POST", "/pause", None),
                                   ("PUT", "/chat", {"rule": "free"}), ("PUT", "/names", {"public": True}),
                                   ("POST", "/handout", {"title": "x"}), ("GET", "/handouts", None),
                                   ("PUT", "/teachers/kim", None), ("POST", "/cards", {"renew": True}),
                                   ("DELETE", f"/pupils/{pupils[1]['account']}", None)):
            status = ask(up, method, f"/api/classes/{made}{path}", anna, body)[0]
            check(status == 403, f"a pupil: {method} {path} says {status}")
        up.stop()
    finally:
        up.kill()


# --- worlds -----------------------------------------------------------------------------------------

def test_classes_worlds(program, _places, folder):
    """Pupils play each other's places where these are shown, under the names that the teacher typed; the
    teacher's chat rule holds; a pause stops all of it, and nobody comes in until it ends."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim = teacher(up, boss, "kim")
        up.register("anna")  # somebody else, who keeps that name elsewhere
        made, pupils = school_class(up, kim, "5b", ["Anna", "Bert"])
        anna, bert = (sign_in(up, one["code"]) for one in pupils)
        hand_out(up, kim, made, title="Our town")
        place = places_of(up, kim, made)[pupils[0]["username"]]
        publish(up, anna, place)
        wish = {"place_id": place}
        check(ask(up, "POST", "/join", bert, wish)[0] == 404, "it is private")
        check(ask(up, "POST", "/join", kim, wish)[0] == 200, "the teacher plays it")
        good(ask(up, "PATCH", f"/api/places/{place}", anna, {"visibility": "unlisted"}))
        talk = Talkers(up, place)
        first, second = talk.enter(anna), talk.enter(bert)
        check(first.world_id == second.world_id, "two worlds")
        check(up.who(anna)["shown_name"] == "Anna", "what she reads of herself")
        town = json.dumps([good(ask(up, "GET", f"/api/classes/{made}{part}", bert)) for part in ("", "/places")])
        check('"Anna"' in town and "Anna 2" not in town, town)
        check(good(ask(up, "GET", f"/api/places/{place}", bert))["creator"]["shown_name"] == "Anna", "her place")
        _, _, cards = ask(up, "POST", f"/api/classes/{made}/cards", kim, {"codes": [pupils[0]["code"]]})
        check("<h2>Anna</h2>" in cards.decode(), cards)
        outside = good(ask(up, "GET", f"/admin/users/{pupils[0]['username']}", boss))
        check(outside["shown_name"] == "Anna 2", "operators tell the two apart")
        check(talk.say(first, "hello") == "chat_restricted", "a new class chats freely")
        heard = heard_by(second)
        check('"Anna"' in heard and "Anna 2" not in heard, heard)
        check(good(ask(up, "PUT", f"/api/classes/{made}/chat", kim, {"rule": "free"}))["chat"] == "free", "rule")
        talk.says_at_last(first, "hello", None)
        check(good(ask(up, "PUT", f"/api/classes/{made}/chat", kim, {"rule": "off"}))["chat"] == "off", "rule")
        talk.says_at_last(first, "still here", "chat_restricted")
        check(good(ask(up, "GET", "/api/chat", bert))["rule"] == "off", "it holds for pupils everywhere")
        ask(up, "PUT", f"/api/places/{place}/chat", anna, {"rule": "free"})
        check(talk.say(first, "and now") == "chat_restricted", "the owner undoes the teacher's rule")
        good(ask(up, "PUT", f"/api/classes/{made}/chat", kim, {"rule": "free"}))
        talk.says_at_last(first, "again", None)

        check(good(ask(up, "POST", f"/api/classes/{made}/pause", kim))["paused"] is True, "it does not pause")

        def is_out(player):
            try:
                player.listen(0.2)
                return False
            except Closed:
                return True
        wait_until(lambda: is_out(first) and is_out(second), "all are out", 15 * PATIENCE)
        for who in (anna, bert, kim):
            for one in (wish, {"world_id": first.world_id}):
                refused = ask(up, "POST", "/join", who, one)
                check((refused[0], code_of(refused)) == (403, "class_paused"), refused)
        check(ask(up, "GET", f"/api/places/{place}/draft", anna)[0] == 200, "work goes on")
        good(ask(up, "POST", f"/api/classes/{made}/resume", kim))
        back = enter(up, anna, "anna", **wish)
        back.close()
    finally:
        up.kill()


def test_classes_teachers(program, _places, folder):
    """Several teachers have the same rights; the last one stays."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim, lee = teacher(up, boss, "kim"), teacher(up, boss, "lee")
        made, pupils = school_class(up, kim, "5b", ["Anna", "Bert"])
        hand_out(up, kim, made, title="Our town")
        place = places_of(up, kim, made)[pupils[0]["username"]]
        at = f"/api/classes/{made}"
        check(ask(up, "GET", at, lee)[0] == 404 and ask(up, "GET", f"/api/places/{place}/draft", lee)[0] == 404,
              "another teacher sees it")
        check(ask(up, "PUT", f"{at}/teachers/lee", lee)[0] == 404, "they add themselves")
        up.register("cyd")
        check(code_of(ask(up, "PUT", f"{at}/teachers/cyd", kim)) == "no_teacher", "anybody is a teacher")
        check(ask(up, "PUT", f"{at}/teachers/nobody", kim)[0] == 404, "nobody")
        answer = good(ask(up, "PUT", f"{at}/teachers/lee", kim))
        check([one["username"] for one in answer["teachers"]] == ["kim", "lee"], answer)
        good(ask(up, "PUT", f"{at}/teachers/lee", kim))  # twice is once
        # All of a teacher's rights.
        check([one["class_id"] for one in good(ask(up, "GET", "/api/classes", lee))["classes"]] == [made], "hers")
        check(len(good(ask(up, "GET", at, lee))["pupils"]) == 2, "the pupils")
        good(ask(up, "GET", f"/api/places/{place}/draft", lee))
        check(len(audit(up, boss, "read draft")) == 1, "it is on record")
        good(ask(up, "PUT", f"{at}/chat", lee, {"rule": "off"}))
        good(ask(up, "POST", f"{at}/pupils/{pupils[1]['username']}/code", lee))
        good(ask(up, "POST", f"{at}/pause", lee))
        good(ask(up, "POST", f"{at}/resume", lee))
        check(hand_out(up, lee, made, title="Second")["given"] == 2, "she hands out")
        # One leaves, the last one does not.
        answer = good(ask(up, "DELETE", f"{at}/teachers/kim", lee))
        check([one["username"] for one in answer["teachers"]] == ["lee"], answer)
        check(ask(up, "GET", at, kim)[0] == 404 and ask(up, "GET", f"/api/places/{place}/draft", kim)[0] == 404,
              "who left sees it")
        last = ask(up, "DELETE", f"{at}/teachers/lee", lee)
        check((last[0], code_of(last)) == (409, "last_teacher"), last)
        check(ask(up, "DELETE", f"{at}/teachers/kim", lee)[0] == 404, "twice")
        check(len(audit(up, boss, "add teacher")) == 2 and len(audit(up, boss, "remove teacher")) == 3, "audit")
        up.stop()
    finally:
        up.kill()


def test_classes_cards(program, _places, folder):
    """A page to print, for teachers alone, never cached; codes on it sign in."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim, lee = teacher(up, boss, "kim"), teacher(up, boss, "lee")
        made, pupils = school_class(up, kim, "5b & co", ["Anna <b>", "Bert", "Zoë"])
        at = f"/api/classes/{made}/cards"
        codes = [one["code"] for one in pupils]
        status, headers, page = ask(up, "POST", at, kim, {"codes": codes})
        text = page.decode()
        check(status == 200 and headers["Content-Type"].startswith("text/html"), headers)
        check(headers["Cache-Control"] == "no-store" and "script" not in text.lower(), headers)
        check(all(code in text for code in codes) and text.count("<li>") == 3, text)
        check("Anna &lt;b&gt;" in text and "<b>" not in text and "5b &amp; co" in text, text)
        check(pupils[0]["username"] in text and f":{up.port}/account" in text, text)
        style = up.request("GET", "/cards.css")
        check(style[0] == 200 and b"@media print" in style[2], style)
        anna = sign_in(up, codes[0])
        # Codes of others, and nobody else gets the page.
        other, theirs = school_class(up, lee, "6a", ["Cyd"])
        check(ask(up, "POST", at, kim, {"codes": [theirs[0]["code"]]})[0] == 409, "codes of another class")
        check(ask(up, "POST", at, kim, {"codes": ["aaaa-aaaa-aaaa"]})[0] == 409, "no code")
        for who in (lee, anna, None):
            check(ask(up, "POST", at, who, {"codes": codes})[0] in (401, 403, 404), "the page is anybody's")
        for wrong in ({}, {"codes": [], "renew": False}, {"codes": codes, "renew": True}, {"codes": 5}):
            check(ask(up, "POST", at, kim, wrong)[0] == 400, wrong)
        # New ones for all: the old ones end, and their sign-ins.
        status, _, page = ask(up, "POST", at, kim, {"renew": True})
        fresh = re.findall(r"<code>([^<]+)</code>", page.decode())
        check(status == 200 and len(fresh) == 3 and not set(fresh) & set(codes), fresh)
        check(ask(up, "POST", "/login", None, {"code": codes[0]})[0] == 401, "an old code signs in")
        check(up.who(anna) is None and up.who(sign_in(up, fresh[0])), "the sign-in ended")
        check(len(audit(up, boss, "reset codes")) == 1, "audit")
        # Whom an operator lets run the server is nobody's pupil: no code leads to that role, and no teacher deletes it.
        good(ask(up, "POST", f"/api/accounts/{pupils[1]['username']}/roles", boss, {"roles": "operator"}))
        signs = sorted(ask(up, "POST", "/login", None, {"code": code})[0] for code in fresh)
        check(signs == [200, 200, 401], f"the code of an operator signs in: {signs}")
        ben = f"/api/classes/{made}/pupils/{pupils[1]['account']}"
        check(ask(up, "POST", f"{ben}/code", kim)[0] == 403, "a teacher becomes operator")
        check(ask(up, "DELETE", f"{ben}?accounts=delete", kim)[0] == 403, "a teacher deletes an operator")
        _, _, page = ask(up, "POST", at, kim, {"renew": True})
        check(page.count(b"<code>") == 2, "a card of an operator")
        good(ask(up, "DELETE", f"/api/classes/{made}?accounts=delete", kim))
        check(ask(up, "GET", f"/admin/users/{pupils[1]['username']}", boss)[0] == 200, "deleted with the class")
        empty = good(ask(up, "POST", "/api/classes", kim, {"name": "none"}))["class_id"]
        check(ask(up, "POST", f"/api/classes/{empty}/cards", kim, {"renew": True})[0] == 409, "no pupils")
        up.stop()
    finally:
        up.kill()


def test_classes_handouts(program, _places, folder):
    """A job: it answers at once, goes on after a kill, and asked for again gives nothing twice."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim = teacher(up, boss, "kim")
        made, _ = school_class(up, kim, "5b", [f"Kid {number}" for number in range(PUPILS)])
        begin = time.monotonic()
        begun = begin_handout(up, kim, made, title="Our town")
        took = time.monotonic() - begin
        check(begun["state"] == "running" and begun["total"] == PUPILS, begun)
        again = begin_handout(up, kim, made, title="Our town")
        check(again["handout"] == begun["handout"], again)
        at = f"/api/classes/{made}/handouts/{begun['handout']}"
        some = wait_until(lambda: (lambda one: one if one["given"] >= 8 else None)(
            good(ask(up, "GET", at, kim))), "some have it")
        check(some["state"] == "running" or took > 1, some)
        up.kill()
        up = People(program, folder, variables=SECRET)
        done = end_handout(up, kim, made, begun, 20 + PUPILS)
        check((done["state"], done["given"], done["had"], done["failed"]) == ("done", PUPILS, 0, 0), done)
        places = places_of(up, kim, made)
        check(len(places) == PUPILS and len(set(places.values())) == PUPILS, "somebody has none, or two")
        for place in list(places.values())[::PUPILS // 5]:
            check(good(ask(up, "GET", f"/api/places/{place}/draft", kim))["files"], "a draft is empty")
        once_more = hand_out(up, kim, made, title="Our town")
        check((once_more["given"], once_more["had"]) == (0, PUPILS), once_more)
        check(len(places_of(up, kim, made)) == PUPILS, "something was given twice")
        rows = good(ask(up, "GET", f"/api/classes/{made}/handouts", kim))["handouts"]
        check([(row["title"], row["state"]) for row in rows] == [("Our town", "done")], rows)
        check(ask(up, "GET", f"/api/classes/{made}/handouts/none", kim)[0] == 404, "no such handout")
        up.stop()
    finally:
        up.kill()


def test_classes_handout_cancelled(program, _places, folder):
    """Who was given a place keeps it, the others get none; once more gives it to them, and a kill does not bring it back."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        kim, lee = teacher(up, boss, "kim"), teacher(up, boss, "lee")
        made, _ = school_class(up, kim, "5b", [f"Kid {number}" for number in range(PUPILS)])
        begun = begin_handout(up, kim, made, title="Our town")
        at = f"/api/classes/{made}/handouts/{begun['handout']}"
        check(ask(up, "DELETE", at, lee)[0] == 404, "a teacher of another class cancels")
        check(ask(up, "DELETE", f"/api/classes/{made}/handouts/none", kim)[0] == 404, "no such handout")
        check(good(ask(up, "DELETE", at, kim))["state"] in ("stopping", "cancelled"), "it is cancelled")
        ended = wait_until(lambda: (lambda one: one if one["state"] != "stopping" else None)(
            good(ask(up, "GET", at, kim))), "it stops")
        check(ended["state"] == "cancelled" and ended["given"] < PUPILS and ended["failed"] == 0, ended)
        time.sleep(1)
        places = places_of(up, kim, made)
        check(len(places) == ended["given"], f"{len(places)} places, {ended}")
        for place in list(places.values())[:3]:
            check(good(ask(up, "GET", f"/api/places/{place}/draft", kim))["files"], "a draft is empty")
        check(good(ask(up, "DELETE", at, kim))["state"] == "cancelled", "twice is once")
        up.kill()
        up = People(program, folder, variables=SECRET)
        check(good(ask(up, "GET", at, kim)) == ended, "it goes on after a restart")
        rest = hand_out(up, kim, made, title="Our town")
        check((rest["state"], rest["given"], rest["had"]) == ("done", PUPILS - ended["given"], ended["given"]), rest)
        check(len(places_of(up, kim, made)) == PUPILS, "somebody has none, or two")
        check(good(ask(up, "DELETE", at, kim))["state"] == "done", "what has ended is cancelled")
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""A creator who uses the command line alone: from nothing to a place that others play, revisions, roll back,
forks, a team, the trash; and what the operator does with reports and approvals."""

import json
import os
import re
import sys

from publish import SCENE, Publisher
from support import check, run
from test_tools import Tool


def begin(program, places, folder, *creators):
    up = Publisher(program, places, os.path.join(folder, "server"))
    up.begin(*creators)
    return up


def sign_in(program, folder, up, name):
    tool = Tool(program, os.path.join(folder, f"home-{name}"), f"http://127.0.0.1:{up.port}")
    tool.login(name)
    return tool


def write_place(folder, name="Den", script="print('hello')\n"):
    """The folder of a small place."""
    path = os.path.join(folder, name.lower())
    os.makedirs(os.path.join(path, "ServerScriptService"), exist_ok=True)
    for file, text in (("place.json", json.dumps({"format": 1, "name": name})), ("scene.json", SCENE),
                       ("ServerScriptService/Game.lua", script)):
        with open(os.path.join(path, file), "w", encoding="utf-8") as out:
            out.write(text)
    return path


def test_creator_place(program, places, folder):
    """Every verb of `sandlot place` that looks at a place or changes it."""
    up = begin(program, places, folder, "ann")
    try:
        ann = sign_in(program, folder, up, "ann")
        check("ServerScriptService" not in ann("place", "list") and ann("place", "list") == "", "a place")
        den = write_place(folder)
        said = json.loads(ann("publish", den, "--notes", "the first", "--json"))
        place = said["place_id"]
        for text in ("second", "third"):
            write_place(folder, script=f"print('{text}')\n")
            ann("publish", den, "--notes", text)
        row = ann("place", "list")
        check(re.search(rf"^{place} +private +live r3 +beta - +owner +Den$", row, re.MULTILINE), row)
        check(json.loads(ann("place", "list", "--json"))["places"][0]["place_id"] == place, "JSON")
        # By its id, without place_, and by its folder.
        for name in (place, place.removeprefix("place_"), den):
            page = ann("place", "show", name)
            check(f"place         {place}\n" in page and "visibility    private" in page, page)
        check("revisions     3, live r3, beta -" in page, page)
        lines = ann("place", "revisions", den).splitlines()
        check([line.split()[0] for line in lines] == ["r3", "r2", "r1"] and "the first" in lines[2], lines)
        # Channels.
        check(f"live of {place} is r2 now; it was r3" in ann("place", "rollback", den), "no roll back")
        check("is r1 now; it was r2" in ann("place", "rollback", den), "no roll back")
        check("no ready revision before r1" in ann("place", "rollback", den, code=1), "before the first")
        check("beta of" in ann("place", "promote", den, "r3", "--channel", "beta"), "beta")
        check("is r2 now" in ann("place", "rollback", den, "--channel", "beta"), "beta, back")
        check("is nothing now; it was r2" in ann("place", "withdraw", den, "--channel", "beta"), "none")
        check("has no beta revision" in ann("place", "rollback", den, "--channel", "beta", code=1), "of none")
        check("there is no such revision (404 not_found)" in ann("place", "promote", den, "r9", code=1), "r9")
        moved = json.loads(ann("place", "promote", den, "r3", "--json"))
        check((moved["revision_id"], moved["before"]) == ("r3", "r1"), moved)
        # A broken revision is not what one rolls back to.
        ann("place", "promote", den, "r3")
        # The page.
        ann("place", "title", den, "The Den")
        ann("place", "description", den, "A *quiet* place")
        ann("place", "visibility", den, "listed")
        ann("place", "source", den, "open")
        check(ann("place", "tags", den, "quiet", "small") == "quiet small\n", "tags")
        check(ann("place", "tags", den) == "quiet small\n", "tags are shown")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check((page["title"], page["description"], page["visibility"], page["open"], page["tags"]) ==
              ("The Den", "A *quiet* place", "listed", True, ["quiet", "small"]), page)
        check(ann("place", "tags", den, "--none") == "-\n", "no tags")
        ann("place", "source", den, "closed")
        check(up.raw("PUT", "/admin/phrases", b"hello\n", "boss")[0] == 200, "there are no phrases")
        check("phrases" in ann("place", "chat", den, "phrases"), "chat")
        check(re.search(r"^day +visits", ann("place", "stats", den, "--days", "7"), re.MULTILINE), "stats")
        check(len(json.loads(ann("place", "stats", den, "--days", "7", "--json"))["days"]) == 7, "days")
        quota = ann("place", "quota")
        check(re.search(r"^used +\S+ \S+ of 1024.0 MiB$", quota, re.MULTILINE) and place in quota, quota)
        # A copy of its file; nothing is written over.
        file = os.path.join(folder, "den.game")
        ann("place", "download", den, file, "--revision", "r1")
        first = open(file, "rb").read()
        check(up.raw("GET", f"/api/places/{place}/package?revision=r1", who="ann")[2] == first, "not the file")
        check("--force" in ann("place", "download", den, file, code=1), "written over")
        ann("place", "download", den, file, "--force")
        check(open(file, "rb").read() != first, "r3 is another file")
        check("404" in ann("place", "download", den, os.path.join(folder, "x"), "--revision", "r9", code=1)
              and not os.path.exists(os.path.join(folder, "x")), "half a file")
        # For good: a revision that no channel names.
        check("--yes" in ann("place", "delete", den, "r1", code=2), "it does not ask")
        check("409" in ann("place", "delete", den, "r3", "--yes", code=1), "live is deleted")
        check(f"r1 of {place} is deleted" in ann("place", "delete", den, "r1", "--yes"), "delete")
        check(len(ann("place", "revisions", den).splitlines()) == 2, "it is still there")
        check("not in the trash" in ann("place", "purge", den, "--yes", code=1), "purged at once")
        # The trash.
        check("30 days" in ann("place", "trash", den), "trash")
        check("in the trash" in ann("place", "list"), ann("place", "list"))
        check("place         " in ann("place", "restore", den), "restore")
        check("not_in_trash" in ann("place", "restore", den, code=1), "twice")
        ann("place", "trash", den)
        check(f"{place} is deleted" in ann("place", "purge", den, "--yes"), "purge")
        check(ann("place", "list") == "", "it is there")
        up.stop()
    finally:
        up.kill()


def test_creator_publish(program, places, folder):
    """What publish is told is done or refused, also of a place that is there; a beta has a link."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        ann = sign_in(program, folder, up, "ann")
        den = write_place(folder)
        place = json.loads(ann("publish", den, "--json"))["place_id"]
        ann("publish", den, "--visibility", "unlisted", "--title", "Lair")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check((page["visibility"], page["title"]) == ("unlisted", "Lair"), page)
        check("private, unlisted or listed" in ann("publish", den, "--visibility", "public", code=2), "a word")
        check(up.good("GET", f"/api/places/{place}", who="ann")["revisions"] == 2, "it was sent")
        # Of a beta the link is printed, opens the page, and lets in those who may test.
        said = ann("publish", den, "--channel", "beta")
        link = f"/place/{place}?channel=beta"
        check(f"test      {ann.url}{link}\n" in said, said)
        check(json.loads(ann("publish", den, "--channel", "beta", "--json"))["url"] == ann.url + link, "JSON")
        wish = {"place_id": place, "channel": "beta"}
        check(up.good("POST", "/join", wish, "ann")["place_id"] == place + "-beta", "ann tests it")
        status, answer = up.ask("POST", "/join", wish, "bob")
        check((status, answer["error"]["code"]) == (403, "beta_denied"), answer)
        # A name with spaces around it becomes a title; without one, nothing is sent.
        spaced = write_place(folder, "Spaced")
        for name, title in (("  Wide  ", "Wide"), ("   ", None)):
            with open(os.path.join(spaced, "place.json"), "w", encoding="utf-8") as file:
                json.dump({"format": 1, "name": name}, file)
            if title is None:
                os.remove(os.path.join(spaced, ".sandlot", "publish.json"))
                check("--title" in ann("publish", spaced, code=1), "no hint")
                made = json.loads(ann("publish", spaced, "--title", "Named", "--json"))["place_id"]
                title = "Named"
            else:
                made = json.loads(ann("publish", spaced, "--json"))["place_id"]
            check(up.good("GET", f"/api/places/{made}", who="ann")["title"] == title, title)
        # Packing writes over nothing.
        game = os.path.join(folder, "it.game")
        with open(game, "wb") as file:
            file.write(b"mine")
        check("--force" in ann("pack", den, "-o", game, code=1), "no hint")
        check(open(game, "rb").read() == b"mine", "it was written over")
        ann("pack", den, "-o", game, "--force")
        check(open(game, "rb").read() != b"mine", "it was not packed")
        up.stop()
    finally:
        up.kill()


def test_creator_people(program, places, folder):
    """A team, offers, and a fork, each by the command line of those whom it concerns."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        ann, bob = (sign_in(program, folder, up, name) for name in ("ann", "bob"))
        den = write_place(folder)
        place = json.loads(ann("publish", den, "--json"))["place_id"]
        check("404" in bob("place", "show", place, code=1), "it is private")
        check(ann("place", "team", den, "bob", "tester") == "bob is a tester now\n", "a tester")
        check(re.search(rf"^{place} .* tester +Den$", bob("place", "list"), re.MULTILINE), bob("place", "list"))
        check("403" in bob("place", "promote", place, "r1", code=1), "a tester changes it")
        ann("place", "team", den, "bob", "editor")
        check(re.fullmatch(r"owner +ann\neditor +bob\n", ann("place", "team", den)), ann("place", "team", den))
        bob("place", "title", place, "Bob's title")
        # An editor forks: a place of their own, which they change and publish.
        made = json.loads(bob("place", "fork", place, "--title", "Fork", "--json"))["place_id"]
        check(made != place, made)
        game, copy = os.path.join(folder, "fork.game"), os.path.join(folder, "fork")
        bob("place", "download", made, game)
        bob("unpack", game, copy)
        bob("publish", copy, "--place", made, "--notes", "changed")
        check("live r2" in bob("place", "show", copy), bob("place", "show", copy))
        check("not of its team" in ann("place", "team", den, "bob", "none"), "out")
        check("404" in bob("place", "show", place, code=1), "still there")
        # Offered, found, declined; offered again, and taken.
        check(bob("place", "offers") == "", "an offer of nobody")
        ann("place", "give", den, "bob")
        check(re.search(rf"^{place} +from ann ", bob("place", "offers"), re.MULTILINE), bob("place", "offers"))
        check("not offered any more" in ann("place", "give", den, "--none"), "taken back")
        check(bob("place", "offers") == "", "it was taken back")
        ann("place", "give", den, "bob")
        bob("place", "decline", place)
        check(bob("place", "offers") == "", "it was declined")
        ann("place", "give", den, "bob")
        check("is yours now" in bob("place", "accept", place), "accept")
        check(re.fullmatch(r"owner +bob\neditor +ann\n", bob("place", "team", place)), bob("place", "team", place))
        check("no_account" in bob("place", "give", place, "nobody", code=1), "to nobody")
        up.stop()
    finally:
        up.kill()


def test_creator_operator(program, places, folder):
    """Reports with their evidence, approvals, and what is done about a place."""
    up = begin(program, places, folder, "ann")
    try:
        ann, boss = (sign_in(program, folder, up, name) for name in ("ann", "boss"))
        up.good("PUT", "/admin/settings", {"approve_listing": "yes"}, "boss")
        place = json.loads(ann("publish", write_place(folder), "--visibility", "listed", "--json"))["place_id"]
        waiting = boss("moderate", "waiting")
        check(re.search(rf"^{place} .* Den$", waiting, re.MULTILINE), waiting)
        check("approved" in boss("moderate", "approve", place) and boss("moderate", "waiting") == "", "approve")
        number = up.good("POST", "/api/reports", {"reason": "spam", "text": "it is an advert", "place_id": place},
                         "ann")["report_id"]
        check(re.search(rf"^ +{number}  open .* spam .*{place} +it is an advert$", boss("reports"), re.MULTILINE),
              boss("reports"))
        shown = boss("reports", "show", str(number))
        check("evidence" in shown and re.search("^reason +spam$", shown, re.MULTILINE), shown)
        check("evidence" in json.loads(boss("reports", "show", str(number), "--json")), "JSON")
        check("--reason" in boss("moderate", "remove", place, code=2), "no reason")
        boss("moderate", "remove", place, "--reason", "an advert")
        check("an advert" in ann("place", "show", place), ann("place", "show", place))
        closed = boss("reports", "close", str(number), "acted", "--note", "removed it")
        check(re.search("^state +acted$", closed, re.MULTILINE) and "removed it" in closed, closed)
        check(boss("reports") == "" and str(number) in boss("reports", "--state", "acted"), "it is closed")
        check(str(number) in boss("reports", "list", "--state", "all"), "all of them")
        boss("reports", "reopen", str(number))
        check(str(number) in boss("reports"), "it is open again")
        boss("moderate", "restore", place)
        check("404" in boss("reports", "show", "999", code=1), "no such report")
        check("for operators" in ann("reports", code=1), "ann reads reports")
        check("for operators" in ann("moderate", "approve", place, code=1), "ann approves")
        up.stop()
    finally:
        up.kill()


def test_creator_worlds(program, places, folder):
    """Bots in a private place and in its beta; worlds that are stored are listed after a restart."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        ann, boss = (sign_in(program, folder, up, name) for name in ("ann", "boss"))
        den = write_place(folder)
        place = json.loads(ann("publish", den, "--json"))["place_id"]
        ann("publish", den, "--channel", "beta")
        bots = ("-n", "2", "--seconds", "1", "--best-effort", "--ramp", "30", "--json", "--truth", "0")
        for channel in ((), ("--channel", "beta")):
            done = json.loads(ann("bots", "--place", den, *bots, *channel))
            check((done["playing"], done["failures"]) == (2, 0), done)
        check(ann("place", "team", den) == "owner     ann\n", "bots stay in the team")
        # Who may not let them in is told so; a place for everybody needs no sign-in.
        bob = sign_in(program, folder, up, "bob")
        check("404" in bob("bots", "--place", place, *bots, code=1), "it is private")
        ann("place", "visibility", den, "unlisted")
        nobody = Tool(program, os.path.join(folder, "nobody"), ann.url)
        done = json.loads(nobody("bots", "--server", ann.url, "--place", place, *bots))
        check(done["playing"] == 2, done)
        check("no server given" in nobody("bots", "--place", place, code=2), "which server?")
        world = up.good("POST", "/api/worlds", {"place_id": place, "name": "Kept"}, "ann")["world_id"]
        up.stop()
        up = Publisher(program, places, os.path.join(folder, "server"), tokens=up.tokens)
        ann, bob, boss = (sign_in(program, folder, up, name) for name in ("ann", "bob", "boss"))
        rows = boss("worlds")
        check(re.search(rf"^{world} .* stopped +0  {place}$", rows, re.MULTILINE), rows)
        check(re.search(rf"^{world} .* stopped ", ann("worlds"), re.MULTILINE), ann("worlds"))
        check(world not in bob("worlds"), "bob sees it")
        check("last_sign_in" in json.loads(boss("user", "show", "ann", "--json")), "it is named for what it is")
        up.stop()
    finally:
        up.kill()


def test_creator_misused(program, places, folder):
    """Invalid arguments are said so, and nobody is asked."""
    tool = Tool(program, folder, "http://127.0.0.1:9")
    for name in ("place", "reports", "moderate"):
        check(tool(name, "--help").startswith("usage: sandlot " + name), name)
        check("--help" in tool(name, "--no-such-option", code=2), name)
    check("did you mean \"revisions\"" in tool("place", "revision", "x", code=2), "no suggestion")
    for words in (["place"], ["place", "show"], ["place", "show", "a", "b"], ["place", "promote", "x"],
                  ["place", "list", "x"], ["place", "show", "../x"], ["place", "show", "x", "--days", "3"],
                  ["place", "stats", "x", "--days", "0"], ["place", "promote", "x", "r1", "--channel", "no"],
                  ["place", "source", "x", "half"], ["place", "team", "x", "bob"], ["place", "show", ""],
                  ["place", "show", "x" * 80], ["place", "tags", "x", *"abcdefghi"], ["reports", "shwo", "1"],
                  ["reports", "show"], ["reports", "show", "x"], ["reports", "close", "1"],
                  ["reports", "close", "1", "open"], ["moderate"], ["moderate", "approve"],
                  ["moderate", "unlist", "x"], ["moderate", "reject", "x"]):
        tool(*words, "--server", tool.url, code=2)
    for words in (["place", "list"], ["reports"], ["moderate", "waiting"]):
        failure = tool(*words, "--server", tool.url, code=1)
        check(failure.startswith(f"sandlot {words[0]}: {tool.url}: "), failure)
    # A folder that was never published is said to be one.
    check("was not published" in tool("place", "show", write_place(folder), "--server", tool.url, code=1), "why")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

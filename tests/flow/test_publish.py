"""Publishing: from a folder to a place that is played, revisions and channels, who may do what,
hostile packages, quotas, and what a kill at any moment leaves behind."""

import hashlib
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
import zipfile

import package_corpus
from hosts import enter
from publish import SECRET, Publisher, package
from support import PATIENCE, blob_folder, check, needs_file, run, wait_until
from test_accounts import PASSWORD
from test_tools import Tool

SCRIPT = 'print("hello")\n'


def begin(program, places, folder, *creators, options=()):
    up = Publisher(program, places, folder, *options)
    up.begin(*(creators or ("ann",)))
    return up


def copy_place(places, name, folder):
    path = os.path.join(folder, name)
    shutil.copytree(os.path.join(places, name), path, ignore=shutil.ignore_patterns(".sandlot"))
    return path


# --- the command ----------------------------------------------------------------------------------

def test_publish_command(program, places, folder):
    """A place is published, and published again as a revision; mistakes are said before anything
    is sent."""
    up = begin(program, places, folder)
    tool = Tool(program, os.path.join(folder, "home"), f"http://127.0.0.1:{up.port}")
    try:
        place = copy_place(places, "obby", folder)
        check("run `sandlot login" in tool("publish", place, "--server", tool.url, code=1), "no hint")
        tool.login("ann")
        began = time.monotonic()
        said = tool("publish", place, "--notes", "the first")
        took = time.monotonic() - began
        print(said, f"from the command to ready: {took:.2f} s")
        with open(os.path.join(place, ".sandlot", "publish.json"), encoding="utf-8") as file:
            place_id = json.load(file)[tool.url]
        check(place_id.startswith("place_") and f"/place/{place_id}" in said, said)
        page = up.good("GET", f"/api/places/{place_id}", who="ann")
        check((page["live"], page["beta"], page["revisions"]) == ("r1", None, 1), page)
        # It is played.
        player = enter(up, token=up.tokens["ann"], place_id=place_id)
        print(f"from the command to being in it: {time.monotonic() - began:.2f} s")
        stranger = up.register("stranger")["session_token"]
        check(up.ask_join(stranger, place_id=place_id)[0] == 404, "it is private")
        check(page["title"] and page["visibility"] == "private", page)
        again = json.loads(tool("publish", place, "--channel", "beta", "--json"))
        check((again["place_id"], again["revision_id"]) == (place_id, "r2"), again)
        page = up.good("GET", f"/api/places/{place_id}", who="ann")
        check((page["live"], page["beta"]) == ("r1", "r2"), page)
        # Scripts that fail in a world that runs: who publishes them is told so, and why.
        boom = os.path.join(place, "ServerScriptService", "Boom.lua")
        with open(boom, "w", encoding="utf-8") as file:
            file.write("task.wait() error('boom of the publisher')\n")
        said = tool("publish", place)
        check(re.search(r"world     world_\w+: rolled_back: .*Boom\.lua:1: boom of the publisher", said), said)
        os.remove(boom)
        player.close()
        # A mistake has its file and line, and nothing is sent.
        script = next(os.path.join(at, name) for at, _, names in os.walk(place) for name in names
                      if name.endswith(".lua") and ".sandlot" not in at)
        with open(script, "a", encoding="utf-8") as file:
            file.write("\nlocal = 1\n")
        wrong = tool("publish", place, code=1)
        check(f"{script}:" in wrong and "error" in wrong, wrong)
        check(up.good("GET", f"/api/places/{place_id}", who="ann")["revisions"] == 3, "it was sent")
        check("did you mean --channel" in tool("publish", place, "--chanel", "x", code=2), "typo")
        up.stop()
    finally:
        up.kill()


# --- revisions ------------------------------------------------------------------------------------

def test_publish_revisions(program, places, folder):
    """Revisions are immutable, need notes, and channels name them; rolling back is the same."""
    up = begin(program, places, folder)
    try:
        first = package("First", ServerScriptService__Game=SCRIPT)
        made = up.publish("ann", first, title="My First Place", visibility="unlisted")
        place = made["place_id"]
        check(place.startswith("place_my-first-place-") and made["revision_id"] == "r1", made)
        page = up.good("GET", f"/api/places/{place}")
        check((page["title"], page["live"], page["rights"]) == ("My First Place", None,
                                                               ["see", "play"]), page)
        status, answer = up.upload("ann", first, place, notes="")
        check((status, answer["error"]["code"]) == (400, "malformed"), answer)
        status, answer = up.ask("POST", f"/api/places/{place}/channels/live", {"revision_id": "r2"},
                                "ann")
        check(status == 404, answer)
        up.good("POST", f"/api/places/{place}/channels/live", {"revision_id": "r1"}, "ann")
        second = package("Second", ServerScriptService__Game=SCRIPT + SCRIPT)
        up.publish("ann", second, place, channel="live", notes="twice")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check((page["live"], page["revisions"], page["title"]) == ("r2", 2, "My First Place"), page)
        back = up.good("POST", f"/api/places/{place}/channels/live", {"revision_id": "r1"}, "ann")
        check((back["revision_id"], back["before"]) == ("r1", "r2"), back)
        audit = up.good("GET", "/admin/audit", who="boss")
        check([row["detail"].split()[-1] for row in audit["audit"] if row["action"] == "channel"]
              == ["revision=1", "revision=2", "revision=1"], audit)
        # All of them, newest first, in pages; others see those that are or were live.
        up.publish("ann", first, place, channel="beta", notes="a secret beta")
        up.publish("ann", second, place, notes="of no channel")
        for who, query in ((None, ""), ("ann", "live=1&")):
            path = f"/api/places/{place}/revisions?{query}limit="
            rows = up.good("GET", f"{path}5", who=who)
            check([(row["revision_id"], row["notes"], row["live"], row["was_live"])
                   for row in rows["revisions"]]
                  == [("r2", "twice", False, True), ("r1", "something new", True, True)]
                  and rows["next"] is None, rows)
            check("beta\": true" not in json.dumps(rows) and "secret" not in json.dumps(rows), rows)
            rows = up.good("GET", f"{path}1", who=who)
            check(len(rows["revisions"]) == 1 and rows["next"] == "r2", rows)
            rows = up.good("GET", f"{path}1&after=r2", who=who)
            check(rows["revisions"][0]["revision_id"] == "r1" and rows["next"] is None, rows)
        check(up.ask("GET", f"/api/places/{place}/revisions?live=2")[0] == 400, "live=2")
        check(up.ask("GET", f"/api/places/{place}/revisions/r2")[0] == 404, "its page")
        up.good("POST", f"/api/places/{place}/channels/beta", {"revision_id": None}, "ann")
        for revision in ("r3", "r4"):
            up.good("DELETE", f"/api/places/{place}/revisions/{revision}", who="ann")
        rows = up.good("GET", f"/api/places/{place}/revisions?limit=1", who="ann")
        check([row["revision_id"] for row in rows["revisions"]] == ["r2"] and rows["next"] == "r2",
              rows)
        rows = up.good("GET", f"/api/places/{place}/revisions?after=r2", who="ann")
        check([row["revision_id"] for row in rows["revisions"]] == ["r1"] and rows["next"] is None,
              rows)
        rows = up.good("GET", f"/api/places/{place}/revisions")["revisions"]
        check([(row["revision_id"], row["sha256"], row["job_id"]) for row in rows]
              == [("r2", None, None), ("r1", None, None)], rows)
        # What was sent is what is given.
        for revision, data in (("r1", first), ("r2", second)):
            status, headers, body = up.raw("GET", f"/api/places/{place}/package?revision={revision}",
                                           who="ann")
            check((status, body == data, headers["Content-Disposition"][:10]) ==
                  (200, True, "attachment"), (status, headers))
        files = up.good("GET", f"/api/places/{place}/revisions/r1/files", who="ann")["files"]
        check([file["path"] for file in files] == ["ServerScriptService/Game.lua", "place.json",
                                                   "scene.json"], files)
        status, headers, body = up.raw(
            "GET", f"/api/places/{place}/revisions/r1/files/ServerScriptService/Game.lua", who="ann")
        check((status, body) == (200, SCRIPT.encode()), body)
        check(headers["X-Content-Type-Options"] == "nosniff" and headers["Content-Disposition"]
              and "sandbox" in headers["Content-Security-Policy"], headers)
        for path in ("../../ticket.key", "%2e%2e/%2e%2e/ticket.key", "nothing.lua", ".sandlot/x", ""):
            status, _, body = up.raw("GET", f"/api/places/{place}/revisions/r1/files/{path}", who="ann")
            check(status in (400, 404), (path, status, body))
        manifest = up.good("GET", f"/api/places/{place}/revisions/r1/manifest", who="ann")
        check("ServerScriptService/Game" in json.dumps(manifest), manifest)
        manifest = up.good("GET", f"/api/places/{place}/revisions/r1/manifest")
        check("Game" not in json.dumps(manifest), manifest)
        status, answer = up.ask("GET", f"/api/places/{place}/revisions/r2/manifest")
        check(status == 404, answer)
        up.stop()
    finally:
        up.kill()


def test_publish_page(program, places, folder):
    """The page is changed by one at a time; the trash gives back what was thrown away."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        place = up.publish("ann", package("Named by its file"))["place_id"]
        path = f"/api/places/{place}"
        status, headers, body = up.raw("GET", path, who="ann")
        page = json.loads(body)
        check(page["title"] == "Named by its file", page)
        status, answer = up.ask("PATCH", path, {"title": "New", "description": "# Hi", "open": True},
                                "ann", **{"If-Match": headers["ETag"]})
        check((status, answer["title"], answer["open"]) == (200, "New", True), answer)
        status, answer = up.ask("PATCH", path, {"title": "Late"}, "ann",
                                **{"If-Match": headers["ETag"]})
        check((status, answer["error"]["code"]) == (412, "changed"), answer)
        for wrong in ({"title": ""}, {"title": "two\nlines"}, {"visibility": "secret"}, {"titel": "x"}):
            check(up.ask("PATCH", path, wrong, "ann")[0] == 400, wrong)
        mine = up.good("GET", "/api/me/places", who="ann")
        check([one["place_id"] for one in mine["places"]] == [place] and mine["next"] is None, mine)
        check(up.good("GET", "/api/me/places", who="bob")["places"] == [], "bob has a place")
        up.good("PATCH", path, {"visibility": "listed"}, "ann")
        check(up.ask("DELETE", path, who="bob")[0] == 403, "bob deletes it")
        up.good("DELETE", path, who="ann")
        check(up.ask("GET", path, who="bob")[0] == 404, "bob sees what was thrown away")
        status, answer = up.upload("ann", package(), place)  # not that she may not
        check((status, answer["error"]["code"]) == (409, "trashed"), answer)
        check(up.good("GET", path, who="ann")["trashed_at"], "no time")
        check(up.good("POST", f"{path}/restore", who="ann")["trashed_at"] is None, "it is still there")
        check(up.good("GET", path, who="bob")["title"] == "New", "it is not back")
        check(up.ask("POST", f"{path}/restore", who="ann")[0] == 409, "twice")
        # Not before 30 days it is gone for good (test_store_publish has those that are older).
        up.good("DELETE", path, who="ann")
        check(up.good("POST", "/admin/cleanup", who="boss")["places"] == 0, "it was deleted")
        up.good("POST", f"{path}/restore", who="ann")
        up.stop()
    finally:
        up.kill()


# --- people ---------------------------------------------------------------------------------------

def test_publish_team(program, places, folder):
    """Owner, editor, tester, blocked, stranger, guest: what each may do; giving it away."""
    up = begin(program, places, folder, "ann", "eddy", "tess", "bogdan", "sam")
    try:
        data = package("Team", ServerScriptService__Game=SCRIPT)
        place = up.publish("ann", data, channel="live")["place_id"]
        path = f"/api/places/{place}"
        for name in ("eddy", "tess", "bogdan", "sam", None):
            check(up.ask("GET", path, who=name)[0] == 404, f"{name} sees a private place")
        for name, role in (("eddy", "editor"), ("tess", "tester"), ("bogdan", "blocked")):
            answer = up.good("PUT", f"{path}/team/{name}", {"role": role}, "ann")
            check((answer["username"], answer["role"]) == (name, role), answer)
        check(up.ask("PUT", f"{path}/team/nobody", {"role": "editor"}, "ann")[0] == 404, "nobody")
        check(up.ask("PUT", f"{path}/team/ann", {"role": "editor"}, "ann")[0] == 409, "the owner")
        check(up.ask("PUT", f"{path}/team/sam", {"role": "king"}, "ann")[0] == 400, "a king")
        rights = {name: up.ask("GET", path, who=name) for name in ("eddy", "tess", "bogdan", "sam")}
        check(rights["eddy"][1]["rights"] == ["see", "play", "test", "read", "edit", "draft"], rights)
        check(rights["tess"][1]["rights"] == ["see", "play", "test"], rights)
        check(rights["bogdan"][0] == rights["sam"][0] == 404, rights)
        # What they may do.
        check(up.publish("eddy", data, place)["revision_id"] == "r2", "an editor cannot publish")
        check(up.upload("tess", data, place)[0] == 403, "a tester publishes")
        check(up.upload("sam", data, place)[0] == 404, "a stranger publishes")
        check(up.ask("GET", f"{path}/package", who="tess")[0] == 403, "a tester reads")
        check(up.ask("PUT", f"{path}/team/sam", {"role": "tester"}, "eddy")[0] == 403, "not the owner")
        check(up.ask("DELETE", path, who="eddy")[0] == 403, "an editor deletes")
        team = up.good("GET", f"{path}/team", who="eddy")
        check(team["owner"]["username"] == "ann" and len(team["team"]) == 3, team)
        check(up.ask("GET", f"{path}/team", who="tess")[0] == 403, "a tester sees the team")
        # A tester leaves; who is kept out cannot undo that.
        up.good("PATCH", path, {"visibility": "unlisted"}, "ann")
        check(up.good("GET", path, who="bogdan")["rights"] == ["see"], "kept out, and plays")
        check(up.ask("DELETE", f"{path}/team/bogdan", who="bogdan")[0] == 403, "bo is back")
        up.good("DELETE", f"{path}/team/tess", who="tess")
        # It is offered, and accepted.
        check(up.ask("POST", f"{path}/accept", who="sam")[0] == 404, "nobody offered it")
        check(up.good("POST", f"{path}/give", {"account": "sam"}, "ann")["given"] is False, "at once")
        up.good("POST", f"{path}/accept", who="sam")
        check("own" in up.good("GET", path, who="sam")["rights"], "sam does not own it")
        check(up.good("GET", path, who="ann")["rights"][-2:] == ["edit", "draft"], "ann is no editor")
        check(up.good("POST", f"{path}/give", {"account": "ann"}, "boss")["given"] is True, "operator")
        check("own" in up.good("GET", path, who="ann")["rights"], "ann does not own it")
        up.stop()
    finally:
        up.kill()


def test_publish_fork(program, places, folder):
    """What is open is forked; a fork during the deletion of its source is whole, or is not there."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        data = package("Origin", ServerScriptService__Game=SCRIPT)
        place = up.publish("ann", data, visibility="listed", channel="live")["place_id"]
        path = f"/api/places/{place}"
        check(up.ask("POST", f"{path}/fork", {}, "bob")[0] == 403, "it is not open")
        up.good("PATCH", path, {"open": True}, "ann")
        fork = up.good("POST", f"{path}/fork", {"title": "Mine"}, "bob")
        check(up.job("bob", fork["job_id"])["status"] == "done", "the fork is not built")
        page = up.good("GET", f"/api/places/{fork['place_id']}", who="bob")
        check((page["title"], page["forked_from"], page["revisions"]) == ("Mine", place, 1), page)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(
            up.ask("POST", f"{path}/fork", {}, "bob"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        up.good("DELETE", path, who="ann")
        for thread in threads:
            thread.join()
        for status, answer in answers:
            check(status in (202, 403, 404, 429), answer)
            if status == 202:
                check(up.job("bob", answer["job_id"])["status"] == "done", answer)
                _, _, body = up.raw("GET", f"/api/places/{answer['place_id']}/package", who="bob")
                check(body == data, "the fork has no package")
        mine = up.good("GET", "/api/me/places", who="bob")["places"]
        check(len(mine) == 1 + sum(status == 202 for status, _ in answers), mine)
        up.stop()
    finally:
        up.kill()


# --- at once, and too much ------------------------------------------------------------------------

def test_publish_at_once(program, places, folder):
    """Two publishes of one place at the same moment are two revisions, and the later one is live."""
    up = begin(program, places, folder)
    try:
        place = up.publish("ann", package("Race"))["place_id"]
        answers = []
        threads = [threading.Thread(target=lambda n=number: answers.append(up.upload(
            "ann", package("Race", ServerScriptService__Game=f"print({n})"), place, channel="live")))
            for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(sorted(answer["revision_id"] for _, answer in answers) == ["r2", "r3"], answers)
        for _, answer in answers:
            check(up.job("ann", answer["job_id"])["status"] == "done", answer)
        check(up.good("GET", f"/api/places/{place}", who="ann")["live"] == "r3", "r2 is live")
        up.stop()
    finally:
        up.kill()


def test_publish_quota(program, places, folder):
    """An account stores so much and no more, and is told how much that is."""
    up = begin(program, places, folder, options=("--account-mb", "1"))
    try:
        random = os.urandom(300_000).hex()[:500_000]
        data = package("Large", ServerScriptService__A="--" + random[:200_000],
                       ServerScriptService__B="--" + random[200_000:400_000])
        made = up.publish("ann", data)
        quota = up.good("GET", "/api/me/quota", who="ann")
        check(quota["bytes_max"] == 1 << 20 and quota["bytes_used"] >= len(data), quota)
        check(quota["places"][0]["place_id"] == made["place_id"]
              and quota["places"][0]["datastore_bytes"] == 0, quota)
        for number in range(20):
            other = package("Large", ServerScriptService__A=f"--{number}{random[:200_000]}",
                            ServerScriptService__B="--" + random[200_000:400_000])
            status, answer = up.upload("ann", other, made["place_id"])
            if status != 202:
                break
            up.job("ann", answer["job_id"])
        check((status, answer["error"]["code"]) == (413, "quota"), (status, answer))
        check("of 1048576 bytes are used" in answer["error"]["message"], answer)
        status, answer = up.upload("ann", data, None)
        check((status, answer["error"]["code"]) == (413, "quota"), (status, answer))
        check(len(up.good("GET", "/api/me/places", who="ann")["places"]) == 1, "half a place")
        up.stop()
    finally:
        up.kill()


def test_publish_refused(program, places, folder):
    """Who may not create cannot upload; too large a body is refused as it arrives."""
    up = begin(program, places, folder)
    try:
        data = package()
        up.tokens["pat"] = up.register("pat")["session_token"]
        _, guest = up.post("/login", {"username": "gus"})
        up.tokens["gus"] = guest["session_token"]
        for name, want in ((None, 401), ("gus", 403), ("pat", 403)):
            check(up.upload(name, data)[0] == want, name)
        for query in ({"channel": "gamma"}, {"visibility": "x"}, {"title": "a\nb"}, {"notes": "x" * 2001}):
            check(up.upload("ann", data, **query)[0] == 400, query)
        status, answer = up.upload("ann", b"", title="Empty")
        check(status in (202, 400), answer)
        if status == 202:
            check(up.job("ann", answer["job_id"])["status"] == "failed", answer)
        aside = os.path.join(blob_folder(os.path.join(folder, "data")), "aside")
        check(os.listdir(aside) == [], os.listdir(aside))
        up.stop()
    finally:
        up.kill()


def test_publish_pictures(program, places, folder):
    """Screenshots are decoded in the jail before they are shown; nothing else becomes a picture."""
    up = begin(program, places, folder)
    try:
        place = up.publish("ann", package("Pictures"), visibility="listed")["place_id"]
        path = f"/api/places/{place}/pictures"
        for number, data, kind in ((1, package_corpus.png(), "image/png"),
                                   (2, package_corpus.jpeg(), "image/jpeg")):
            status, _, body = up.raw("PUT", f"{path}/{number}", data, "ann")
            check(status == 200, body)
            status, headers, body = up.raw("GET", f"{path}/{number}")
            check((status, headers["Content-Type"], body == data) == (200, kind, True), headers)
        check(up.good("GET", f"/api/places/{place}")["pictures"] == [1, 2], "numbers")
        for data in (b"<html><script>alert(1)</script>", package_corpus.png()[:40], b"",
                     package_corpus.png(70000, 1, pixels=b"")):
            status, _, body = up.raw("PUT", f"{path}/3", data, "ann")
            check(status == 400, (status, body))
        for number in ("9", "x", "01"):
            check(up.raw("PUT", f"{path}/{number}", package_corpus.png(), "ann")[0] == 404, number)
        up.good("DELETE", f"{path}/1", who="ann")
        check(up.raw("GET", f"{path}/1")[0] == 404, "it is still there")
        check(up.raw("DELETE", f"{path}/1", who="ann")[0] == 404, "twice")
        up.stop()
    finally:
        up.kill()


def test_publish_thumbnail(program, places, folder):
    """The thumbnail is the one that was put on the page, or else the live revision's, or else drawn from the id.
    Whoever may not change the place puts none there."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        place = up.publish("ann", package("Pictures"), channel="live", visibility="listed")["place_id"]
        path = f"/api/places/{place}/pictures/0"

        def shown(who=None):
            status, headers, body = up.raw("GET", path, who=who)
            check(status == 200 and headers["Content-Type"] == "image/png", headers)
            check(up.raw("GET", path, None, who, **{"If-None-Match": headers["ETag"]})[0] == 304, "its tag")
            return struct.unpack(">II", body[16:24]), body

        size, drawn = shown()
        check(size == (640, 360) and shown()[1] == drawn, "it is drawn, the same each time")
        other = up.publish("ann", package("Others"), visibility="listed")["place_id"]
        check(up.raw("GET", f"/api/places/{other}/pictures/0")[2] != drawn, "each has another one")
        check(up.good("GET", f"/api/places/{place}")["pictures"] == [], "that is no picture of its own")
        check(up.raw("PUT", path, package_corpus.png(), "bob")[0] == 403, "bob changes it")
        check(up.raw("PUT", path, b"<svg/>", "ann")[0] == 400, "that is no picture")
        status, _, body = up.raw("PUT", path, package_corpus.png(800, 400), "ann")
        check(status == 200, body)
        check(shown()[0] == (384, 192), "it was made smaller")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check(page["own_thumbnail"] is True and page["pictures"] == [0], page)
        wait_until(lambda: [row["thumbnail"] for row in up.good("GET", "/api/places?limit=100")["places"]
                            if row["id"] == place] == [path], "the cards show it", 10)

        # A revision that has a picture does not take its place, and is shown when it is gone.
        data = io.BytesIO(package("Pictures"))
        with zipfile.ZipFile(data, "a") as archive:
            archive.writestr("assets/thumbnail.png", package_corpus.png(60, 30))
        up.publish("ann", data.getvalue(), place, channel="live")
        check(shown()[0] == (384, 192), "its own stays")
        up.good("DELETE", path, who="ann")
        check(shown()[0] == (60, 30), "the live revision's")
        check(up.raw("DELETE", path, who="ann")[0] == 404, "that one is the revision's")
        up.good("POST", f"/api/places/{place}/channels/live", {"revision_id": "r1"}, "ann")
        check(shown()[1] == drawn, "drawn again")
        up.good("PATCH", f"/api/places/{place}", {"visibility": "private"}, "ann")
        check(up.raw("GET", path)[0] == 404 and up.raw("GET", path, who="bob")[0] == 404, "it tells of itself")
        up.stop()
    finally:
        up.kill()


# --- hostile packages -----------------------------------------------------------------------------

def test_publish_hostile(program, places, folder):
    """Every hostile package ends as a failed job that names the rule, and leaves only its row."""
    up = begin(program, places, folder)
    try:
        place = up.publish("ann", package("Target"), channel="live")["place_id"]
        used = up.good("GET", "/api/me/quota", who="ann")["bytes_used"]
        unpacked = os.path.join(folder, "data", "unpacked")
        folders = sorted(os.listdir(unpacked))
        rules = set()  # one package for each: the reader of packages has tests with all of them
        for name, data, rule, *_ in package_corpus.hostile():
            if len(data) > 8 << 20 or rule in rules:
                continue
            rules.add(rule)
            status, answer = up.upload("ann", data, place, channel="live", notes=name)
            check(status == 202, f"{name}: {status} {answer}")
            job = up.job("ann", answer["job_id"])
            check(job["status"] == "failed" and rule in job["reason"], f"{name} ({rule}): {job}")
            row = up.good("GET", f"/api/places/{place}/revisions/{answer['revision_id']}", who="ann")
            check(row["state"] == "failed" and rule in row["reason"], row)
            status, _, _ = up.raw("GET", f"/api/places/{place}/package?revision={row['revision_id']}",
                                  who="ann")
            check(status == 404, f"{name} is still given")
        check(up.good("GET", f"/api/places/{place}", who="ann")["live"] == "r1", "one is live")
        paid = up.good("GET", "/api/me/quota", who="ann")["bytes_used"] - used
        check(paid == min(len(rules), 20) * 4096, f"their bytes are paid for: {paid}")
        check(sorted(os.listdir(unpacked)) == folders, "a folder stays")
        print(f"{len(rules)} rules: {sorted(rules)}")
        check(len(rules) > 15, rules)
        # A mistake in a script has its file and line.
        wrong = package("Wrong", ServerScriptService__Game="local = 1\n")
        _, answer = up.upload("ann", wrong, place)
        job = up.job("ann", answer["job_id"])
        check(any("ServerScriptService/Game.lua:1" in line for line in job["log"]), job)
        up.stop()
    finally:
        up.kill()


# --- jobs -----------------------------------------------------------------------------------------

def test_publish_jobs(program, places, folder):
    """Jobs are seen by those who may read the place, can be cancelled, and are bounded."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        made = up.publish("ann", package("Jobs"))
        job = f"/api/jobs/{made['job_id']}"
        check(up.ask("GET", job, who="ann")[1]["result_revision_id"] == "r1", "no result")
        for name in ("bob", None):
            check(up.ask("GET", job, who=name)[0] == 404, f"{name} sees a job")
            check(up.ask("DELETE", job, who=name)[0] == 404, f"{name} cancels a job")
        check(up.ask("GET", "/api/jobs/" + "0" * 32, who="ann")[0] == 404, "an unknown one")
        # Many at once: some are refused, none is lost.
        answers = []

        def send(number):
            data = package("Jobs", ServerScriptService__Game=f"print({number})")
            answers.append(up.upload("ann", data, made["place_id"]))
        threads = [threading.Thread(target=send, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses = [status for status, _ in answers]
        check(set(statuses) <= {202, 429, 503} and 202 in statuses and 429 in statuses, statuses)
        cancelled = next(answer for status, answer in answers[::-1] if status == 202)
        up.good("DELETE", f"/api/jobs/{cancelled['job_id']}", who="ann")
        for status, answer in answers:
            if status == 202:
                check(up.job("ann", answer["job_id"])["status"] in ("done", "cancelled"), answer)
        rows = up.good("GET", f"/api/places/{made['place_id']}/revisions", who="ann")["revisions"]
        check(all(row["state"] != "building" for row in rows), rows)
        # After a restart the ids are as good as before.
        up.stop()
        up = Publisher(program, places, folder, tokens=up.tokens)
        check(up.ask("GET", job, who="ann")[1]["status"] == "done", "it is forgotten")
        check(up.ask("GET", job, who="bob")[0] == 404, "bob sees it now")
        up.stop()
    finally:
        up.kill()


def test_publish_right_lost_while_it_builds(program, places, folder):
    """An editor is taken off the team, or the owner banned, or the place thrown away, while a build waits
    or runs: it is built, its channel stays, and the job says why."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        place = up.publish("ann", package("Lost"), channel="live")["place_id"]
        at = f"/api/places/{place}"
        up.good("PUT", f"{at}/team/bob", {"role": "editor"}, "ann")

        def lose(who, channel, *change):
            code = f"print('{who} {change[1]}')\n" * 300  # none of it is cached, so that it takes a while
            many = {f"ServerScriptService__Game{number}": f"print({number})\n{code}" for number in range(25)}
            status, begun = up.upload(who, package("Lost", **many), place, channel=channel)
            check(status == 202, begun)
            up.good(*change)
            job = up.good("GET", f"/api/jobs/{begun['job_id']}", who="boss")
            check(job["status"] in ("waiting", "running"), f"too late to lose anything: {job}")
            job = up.job("boss", begun["job_id"])
            check(job["status"] == "done" and "may not publish" in job["reason"], job)
            page = up.good("GET", at, who="boss")
            check((page["live"], page["beta"]) == ("r1", None), page)
            row = up.good("GET", f"{at}/revisions/{begun['revision_id']}", who="boss")
            check(row["state"] == "ready" and row["reason"] == job["reason"], row)
            return begun["job_id"]

        lose("bob", "live", "DELETE", f"{at}/team/bob", None, "ann")
        lose("ann", "beta", "DELETE", at, None, "ann")
        up.good("POST", f"{at}/restore", None, "ann")
        job = lose("ann", "live", "POST", "/admin/ban", {"account": "ann"}, "boss")
        up.good("DELETE", "/admin/ban?account=ann", None, "boss")
        again = up.publish("ann", package("Lost", ServerScriptService__Game=SCRIPT), place, channel="live")
        check(up.good("GET", at, who="ann")["live"] == again["revision_id"], "the ban is over")
        up.stop()
        up = Publisher(program, places, folder, tokens=up.tokens)
        check("may not publish" in up.good("GET", f"/api/jobs/{job}", who="ann")["reason"], "forgotten")
        up.stop()
    finally:
        up.kill()


def test_publish_right_lost_while_it_is_sent(program, places, folder):
    """A body that is complete only after its sender was banned or has signed out changes nothing, whatever the
    route; what was complete before goes on."""
    up = begin(program, places, folder, "ann")
    try:
        place = up.publish("ann", package("Late"), channel="live")["place_id"]
        at = f"/api/places/{place}"
        up.good("POST", f"{at}/draft", {}, "ann")
        code = b"-- " + b"x" * 50000
        game = package("Late", ServerScriptService__Game=SCRIPT)
        sends = [("PUT", f"{at}/draft/files/Late.lua", code, {"If-None-Match": "*"}),
                 ("PUT", f"{at}/blob/{hashlib.sha256(code).hexdigest()}", code, {}),
                 ("POST", "/api/places?notes=x&title=Late", game, {}),
                 ("POST", f"{at}/revisions?notes=x&channel=live", game, {}),
                 ("PATCH", at, b'{"title": "Late"}', {}),
                 ("POST", "/api/drafts", b'{"title": "Late", "template": "blank"}', {}),
                 ("PUT", f"{at}/pictures/1", b"no picture", {})]

        def ban():
            up.good("POST", "/admin/ban", {"account": "ann", "minutes": 5}, "boss")

        def sign_out():
            check(up.raw("POST", "/logout", who="ann")[0] in (200, 204), "signing out")

        used = up.good("GET", "/api/me/quota", who="ann")["bytes_used"]
        for method, path, body, headers in sends:
            status, answer = up.halved(method, path, body, "ann", ban, **headers)
            check((status, answer["error"]["code"]) == (403, "banned"), f"{method} {path}: {status} {answer}")
            up.good("DELETE", "/admin/ban?account=ann", None, "boss")
            status, answer = up.halved(method, path, body, "ann", sign_out, **headers)
            check((status, answer["error"]["code"]) == (401, "auth_failed"), f"{method} {path}: {status} {answer}")
            up.tokens["ann"] = up.post("/login", {"username": "ann", "password": PASSWORD})[1]["session_token"]
        mine = up.good("GET", "/api/me/places", who="ann")["places"]
        check([one["place_id"] for one in mine] == [place], mine)
        rows = up.good("GET", f"{at}/revisions", who="ann")["revisions"]
        check([row["revision_id"] for row in rows] == ["r1"], rows)
        check(up.good("GET", "/api/me/quota", who="ann")["bytes_used"] == used, "something was stored")

        # Complete before its sender signs out: it is built, and published.
        status, begun = up.upload("ann", game, place, channel="live")
        check(status == 202, begun)
        sign_out()
        up.tokens["ann"] = up.post("/login", {"username": "ann", "password": PASSWORD})[1]["session_token"]
        check(up.job("ann", begun["job_id"])["status"] == "done", "it is built")
        check(up.good("GET", at, who="ann")["live"] == begun["revision_id"], "it is live")
        up.stop()
    finally:
        up.kill()


# --- scopes ---------------------------------------------------------------------------------------

def test_publish_scopes(program, places, folder):
    """A token of a tool does what its scope says, although its owner may do all of this."""
    up = begin(program, places, folder, "ann")
    try:
        up.good("POST", "/api/accounts/ann/roles", {"roles": "creator teacher"}, "boss")
        for who, scope in (("ann", "play"), ("ann", "create"), ("ann", "operate"), ("boss", "create"),
                           ("boss", "operate")):
            up.tokens[f"{who} {scope}"] = up.good("POST", "/api/account/tokens",
                                                  {"name": scope, "scope": scope}, who)["token"]
        place = up.good("POST", "/api/drafts", {"title": "Scopes"}, "ann create")["place_id"]
        other = up.publish("ann", package("Other"), channel="live")["place_id"]
        at = f"/api/places/{place}"
        script = {"id": f"{place}/ServerScriptService/Door.lua", "code": SCRIPT, "knownHash": None}
        creators = [("PUT", f"{at}/draft/files/ServerScriptService/A.lua", "print(1)"),
                    ("GET", f"{at}/draft", None), ("POST", "/api/script/save", script),
                    ("GET", f"/api/script?id={script['id']}", None),
                    ("POST", f"{at}/draft/publish", {"notes": "new", "channel": "live"}),
                    ("PATCH", at, {"visibility": "unlisted"}), ("PUT", f"{at}/tags", {"tags": ["a"]}),
                    ("PUT", f"{at}/team/boss", {"role": "editor"}), ("GET", f"{at}/team", None),
                    ("POST", f"/api/places/{other}/channels/live", {"revision_id": "r1"}),
                    ("POST", f"/api/places/{other}/give", {"account": "boss"}),
                    ("DELETE", f"/api/places/{other}/give", None),
                    ("GET", "/api/me/places", None), ("GET", "/api/me/quota", None),
                    ("DELETE", f"/api/places/{other}", None),
                    ("DELETE", f"/api/places/{other}?purge=1", None)]
        source = f"/api/places/{other}/package"
        check([up.raw("GET", source, who=f"ann {scope}")[0] for scope in ("play", "create")]
              == [403, 200], "the source of a place is no player's")
        for one in creators:
            got = up.ask(*one, "ann play")
            check((got[0], got[1].get("error", {}).get("code")) == (403, "scope"), (one, got))
            if one[0] != "GET":
                got = up.ask(*one, "ann operate")
                check((got[0], got[1].get("error", {}).get("code")) == (403, "scope"), (one, got))
            up.good(*one, "ann create", **({"If-None-Match": "*"} if "/files/" in one[1] else {}))
        # Players'.
        check(up.good("GET", f"{at}/vote", None, "ann play"), "no vote")
        up.good("PUT", f"{at}/favourite", None, "ann play")
        check(up.ask("PUT", f"{at}/favourite", None, "ann create")[0] == 403, "it is for creating")
        # Teachers' and operators'.
        for who in ("ann play", "ann create"):
            check(up.ask("POST", "/api/classes", {"name": "4b"}, who)[0] == 403, who)
        made = f"/api/classes/{up.good('POST', '/api/classes', {'name': '4b'}, 'ann operate')['class_id']}"
        for one in (("POST", f"{made}/pupils", {"names": ["Kim"]}), ("GET", made, None),
                    ("PUT", f"{made}/chat", {"rule": "off"}), ("POST", f"{made}/pause", None),
                    ("POST", f"{made}/handout", {"place_id": place, "title": "Doors"}),
                    ("DELETE", made, None)):
            for who in ("ann play", "ann create"):
                got = up.ask(*one, who)
                check((got[0], got[1].get("error", {}).get("code")) == (403, "scope"), (one, who, got))
            up.good(*one, "ann operate")
        check(up.ask("GET", "/admin/users", None, "boss create")[0] == 403, "it is for creating")
        check(up.ask("GET", "/admin/users", None, "ann operate")[0] == 403, "she is no operator")
        up.good("GET", "/admin/users", None, "boss operate")
        up.good("PUT", f"{at}/team/boss", {"role": "tester"}, "ann")
        check(up.ask("PATCH", at, {"visibility": "private"}, "boss create")[0] == 403, "not hers")
        up.good("PATCH", at, {"visibility": "private"}, "boss operate")
        for scope in ("play", "create", "operate"):
            check(up.good("GET", "/api/account", None, f"ann {scope}")["scopes"] == [scope], scope)
        up.stop()
    finally:
        up.kill()


# --- kill -9 --------------------------------------------------------------------------------------

def rows_of(folder):
    """Packages and revisions, as the file has them."""
    needs_file()
    database = sqlite3.connect(f"file:{folder}/data/sandlot.db?mode=ro", uri=True)
    try:
        packages = database.execute("SELECT package_id, live, last_revision FROM packages "
                                    "WHERE owner_id <> 1").fetchall()
        revisions = database.execute("SELECT package_id, revision, state, hex(package_hash) "
                                     "FROM revisions WHERE maker_id <> 1").fetchall()
        return packages, revisions
    finally:
        database.close()


def test_publish_killed(program, places, folder):
    """kill -9 during upload, build and promotion, at many moments: after the next start every row has
    its blob, every build ends, and live names a revision that is ready."""
    up = begin(program, places, folder)
    try:
        place = up.publish("ann", package("Killed"), channel="live")["place_id"]
        accepted = {}
        for number in range(8):
            data = package("Killed", **{f"ServerScriptService__S{i}": f"print({number * 50 + i})"
                                        for i in range(20)})
            delay = number * 0.03

            def send():
                try:
                    status, answer = up.upload("ann", data, place, channel="live")
                    if status == 202:
                        accepted[answer["revision_id"]] = answer["job_id"]
                except (OSError, ValueError):
                    pass  # it was killed
            thread = threading.Thread(target=send)
            thread.start()
            time.sleep(delay)
            up.process.send_signal(signal.SIGKILL)
            up.process.wait()
            thread.join()
            up = Publisher(program, places, folder, tokens=up.tokens)
            for revision, job in accepted.items():
                check(up.job("ann", job)["status"] == "done", f"{revision} is lost")
            rows = up.good("GET", f"/api/places/{place}/revisions", who="ann")["revisions"]
            wait_until(lambda: all(row["state"] == "ready" for row in up.good(
                "GET", f"/api/places/{place}/revisions", who="ann")["revisions"]), "all are built")
            page = up.good("GET", f"/api/places/{place}", who="ann")
            check(page["live"] == f"r{len(rows)}" == f"r{page['revisions']}", (page, rows))
            for row in rows:
                path = os.path.join(blob_folder(os.path.join(folder, "data")), row["sha256"][:2],
                                    row["sha256"][2:])
                check(os.path.exists(path), f"{row} has no blob")
            aside = os.path.join(blob_folder(os.path.join(folder, "data")), "aside")
            check(os.listdir(aside) == [], os.listdir(aside))
        print(f"{len(accepted)} of 8 uploads were answered, {len(rows) - 1} are stored")
        packages, revisions = rows_of(folder)
        check(len(packages) == 1 and len(revisions) == len(rows), (packages, revisions))
        up.stop()
    finally:
        up.kill()


# --- nothing leaks --------------------------------------------------------------------------------

def test_publish_crawl(program, places, folder):
    """Sources have markers; every GET route is asked as a guest, as another creator, as a tester and
    as somebody who is kept out, and no marker is in any answer."""
    up = begin(program, places, folder, "ann", "bob", "tess", "bogdan")
    try:
        marker = "MARKER_of_the_server_7c1e"
        data = package("Secret sources", ServerScriptService__Game=f'local {marker} = 1\nprint("{marker}")',
                       ServerScriptService__Kept=f'return "{marker}"')
        made = up.publish("ann", data, visibility="listed", channel="live")
        place = made["place_id"]
        beta = package("Secret beta", ServerScriptService__Game=f'print("{marker}")')
        up.publish("ann", beta, place, channel="beta")
        _, wrong = up.upload("ann", package("Wrong", ServerScriptService__Game=f"{marker} = = 1"), place)
        check(up.job("ann", wrong["job_id"])["status"] == "failed", "it is built")
        for name, role in (("tess", "tester"), ("bogdan", "blocked")):
            up.good("PUT", f"/api/places/{place}/team/{name}", {"role": role}, "ann")
        _, guest = up.post("/login", {"username": "gus"})
        up.tokens["gus"] = guest["session_token"]
        row = up.good("GET", f"/api/places/{place}/revisions/r1", who="ann")
        document = up.good("GET", "/api/openapi.json")
        asked = 0
        for path, item in document["paths"].items():
            if "get" not in item or path.endswith("/ws") or path == "/admin/logs":
                continue
            for address in addresses(path, place, made["job_id"], wrong["job_id"], row["sha256"]):
                for name in ("gus", "bob", "tess", "bogdan", None):
                    status, _, body = up.raw("GET", address, who=name)
                    check(marker.encode() not in body, f"{name} reads {address}: {body[:300]}")
                    asked += 1
        print(f"{asked} requests")
        _, _, body = up.raw("GET", f"/api/places/{place}/revisions/r1/files/ServerScriptService/Game.lua",
                            who="ann")
        check(marker.encode() in body, "the owner does not see it either")
        up.stop()
    finally:
        up.kill()


def addresses(path, place, *ids):
    """The path with everything that might fit its names."""
    values = {"place_id": [place], "revision_id": ["r1", "r2", "r3"], "sha256": [ids[-1]],
              "path": ["ServerScriptService/Game.lua", "ServerScriptService/Kept.lua", "scene.json"],
              "number": ["0", "1"], "id": [place, *ids, "ann"], "code": ["X"], "world_id": ["w"]}
    made = [path]
    for name in [part.split("}")[0] for part in path.split("{")[1:]]:
        made = [one.replace("{" + name + "}", value) for one in made
                for value in values.get(name, [place, "ann", "1"])]
    extra = [one + "?revision=r1" for one in made if one.endswith("/package")]
    return made + extra


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

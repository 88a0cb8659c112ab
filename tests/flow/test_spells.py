"""Spells: the document's flow from build to publish, places that are built with them, the lock that
keeps what was taken, and who may use what."""

import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile

from model_server import KEY, ModelServer, lua
from publish import SCENE, Publisher
from support import PATIENCE, check, run, wait_until
from test_tools import Tool
from test_up import environment

CODE = "local fire = {}\nfunction fire.name() return 'one' end\nreturn fire\n"
GAME = "local fire = require('ReplicatedStorage/spells/fire')\nprint(fire.name())\n"


def spelled(spells, lock=None, script=GAME, name="Spelled"):
    """A .game file of a place that uses spells."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("place.json", json.dumps({"format": 1, "name": name, "spells": spells}))
        archive.writestr("scene.json", SCENE)
        archive.writestr("ServerScriptService/Game.lua", script)
        if lock is not None:
            archive.writestr("spells.lock.json", lock if isinstance(lock, str) else json.dumps(lock))
    return out.getvalue()


def build(up, who, spell, code=CODE, wanted="done", **more):
    """The job of a build, once it has ended."""
    made = up.good("POST", f"/api/spells/{spell}/build", {"prompt": "", "code": code, **more}, who)
    check(set(made) == {"job_id", "spell_id"} and made["spell_id"] == spell, made)
    job = up.job(who, made["job_id"])
    check(job["status"] == wanted, job)
    return job


def publish(up, who, spell, revision, channel="live"):
    return up.good("POST", f"/api/spells/{spell}/publish",
                   {"revision_id": revision, "channel": channel}, who)


def module_of(up, who, place, revision, spell="fire"):
    """What the manifest of a place's revision says of the module."""
    manifest = up.good("GET", f"/api/places/{place}/revisions/{revision}/manifest", who=who)
    found = [one for one in json_walk(manifest) if one.get("path") == f"ReplicatedStorage/spells/{spell}.lua"]
    check(len(found) == 1, f"no module of {spell} in {manifest}")
    return found[0]


def json_walk(node):
    if isinstance(node, dict):
        yield node
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from json_walk(one)


def failed(up, who, data, place=None):
    """Why the build of a place fails."""
    status, answer = up.upload(who, data, place)
    check(status == 202, answer)
    job = up.job(who, answer["job_id"])
    check(job["status"] == "failed", job)
    return job["reason"]


def test_spells_document(program, places, folder):
    """Every endpoint, as the document has it."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob")
        job = build(up, "ann", "fire", options={"metadata": {"author": "Ann", "cost": 3}})
        check(job["result_revision_id"] == "r1" and job["progress_pct"] == 100 and job["stage"], job)
        said = publish(up, "ann", "fire", "r1", "beta")
        manifest = up.good("GET", "/api/spells/fire/revisions/r1/manifest", who="ann")
        check(said == {"spell_id": "fire", "revision_id": "r1", "channel": "beta",
                       "manifest": manifest} and manifest, said)
        rows = up.good("GET", "/api/spells/fire/revisions", who="ann")["revisions"]
        check([(one["revision_id"], one["state"], one["beta"]) for one in rows] == [("r1", "ready", True)],
              rows)
        status, _, text = up.raw("GET", "/api/spells/fire/revisions/r1/files/ReplicatedStorage/spells/fire.lua",
                                 who="ann")
        check((status, text) == (200, CODE.encode()), text)
        status, _, text = up.raw("GET", "/api/spells/fire/revisions/r1/files/metadata.json", who="ann")
        check(json.loads(text) == {"author": "Ann", "cost": 3}, text)
        listed = up.good("GET", "/api/spells/fire/revisions/r1/files", who="ann")["files"]
        check("ReplicatedStorage/spells/fire.lua" in [one["path"] for one in listed], listed)

        # A spell is no place, and a place no spell.
        check(up.ask("GET", "/api/places/fire", who="ann")[0] == 404, "a spell is no place")
        check(up.ask("GET", "/api/spells/place_island", who="boss")[0] == 404, "a place is no spell")
        check(up.ask("POST", "/join", {"place_id": "fire"}, "ann")[0] == 404, "nobody plays a spell")

        # What is no spell.
        for spell in ("place_x", "a.b", "x" * 65, "%2e%2e"):
            status, answer = up.ask("POST", f"/api/spells/{spell}/build", {"code": CODE}, "ann")
            check(status == 404, f"{spell}: {status} {answer}")
        for body in ({}, {"code": "", "prompt": ""}, {"code": 7}, {"code": CODE, "options": 1},
                     {"code": CODE, "options": {"metadata": []}}, {"code": CODE, "options": {"meta": 1}},
                     {"cod": CODE}):
            status, answer = up.ask("POST", "/api/spells/other/build", body, "ann")
            check(status == 400, f"{body}: {status} {answer}")
        check(up.ask("POST", "/api/spells/other/build", {"code": "x" * (256 * 1024 + 1)}, "ann")[0] == 413,
              "too much code")
        check(up.ask("POST", "/api/spells/other/build",
                     {"code": CODE, "options": {"metadata": {"a": "x" * 20000}}}, "ann")[0] == 413, "too much")
        check(up.ask("GET", "/api/spells/other", who="ann")[0] == 404, "nothing was made of those")

        # Others know nothing of a private one; of an unlisted one they see, and change nothing.
        for method, path, body in (("GET", "", None), ("GET", "/revisions", None), ("PATCH", "", {}),
                                   ("GET", "/revisions/r1/manifest", None), ("DELETE", "", None),
                                   ("GET", "/revisions/r1/files/place.json", None),
                                   ("POST", "/build", {"code": CODE}),
                                   ("POST", "/publish", {"revision_id": "r1", "channel": "live"})):
            status, answer = up.ask(method, f"/api/spells/fire{path}", body, "bob")
            check(status == 404, f"{method} {path}: {status} {answer}")
        up.good("PATCH", "/api/spells/fire", {"visibility": "unlisted"}, "ann")
        publish(up, "ann", "fire", "r1")
        check(up.good("GET", "/api/spells/fire", who="bob")["live"] == "r1", "it is to be seen")
        for method, path, body in (("PATCH", "", {"title": "mine"}), ("POST", "/build", {"code": CODE}),
                                   ("DELETE", "", None), ("GET", "/revisions/r1/files/place.json", None)):
            status, answer = up.ask(method, f"/api/spells/fire{path}", body, "bob")
            check(status == 403, f"{method} {path}: {status} {answer}")
        up.good("PATCH", "/api/spells/fire", {"open": True}, "ann")
        check(up.raw("GET", "/api/spells/fire/revisions/r1/files/place.json", who="bob")[0] == 200, "open")

        # Revisions that are none, and one that is not ready.
        check(up.ask("POST", "/api/spells/fire/publish", {"revision_id": "r9", "channel": "live"},
                     "ann")[0] == 404, "no such revision")
        check(up.ask("POST", "/api/spells/fire/publish", {"revision_id": "r1", "channel": "x"},
                     "ann")[0] == 400, "no such channel")
        job = build(up, "ann", "fire", "local = 1", "failed")
        check(any("fire" in line and "error" in line for line in job["log"]), job)
        check(up.ask("POST", "/api/spells/fire/publish", {"revision_id": "r2", "channel": "live"},
                     "ann")[0] == 409, "it has failed")
    finally:
        up.stop()


def test_spells_hostile_and_at_once(program, places, folder):
    """Code that never ends or breaks the rules is a failed job; two builds at once are two revisions, and
    two who want the same new id at once are one owner and one who is refused."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob")
        for code in ("return (", "local x <const> = 1; x = 2", "goto nowhere"):
            build(up, "ann", "bad", code, "failed")
        for code in ("\0\0\0", "\x1bLua"):  # no text, so no file of a package
            status, answer = up.ask("POST", "/api/spells/bad/build", {"code": code}, "ann")
            check((status, answer["error"]["code"]) == (400, "invalid_spell"), answer)
        # What it does is tried out with who requires it.
        build(up, "ann", "endless", "while true do end")
        made = up.publish("ann", spelled({"endless": "r1"}, script="require('ReplicatedStorage/spells/endless')"))
        job = up.job("ann", made["job_id"])
        check(job["warnings"] > 0 and any("ran for more than" in line for line in job["log"]), job)
        answers = []

        def begin(who, spell):
            answers.append((who, up.ask("POST", f"/api/spells/{spell}/build", {"code": CODE}, who)))
        for makers, spell in ((("ann", "ann"), "twice"), (("ann", "bob"), "mine")):
            answers.clear()
            threads = [threading.Thread(target=begin, args=(who, spell)) for who in makers]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            if spell == "twice":
                check([status for _, (status, _) in answers] == [202, 202], answers)
                jobs = [up.job(who, answer["job_id"]) for who, (_, answer) in answers]
                check(all(job["status"] == "done" for job in jobs), jobs)
                check({job["result_revision_id"] for job in jobs} == {"r1", "r2"}, jobs)
            else:
                check(sorted(status for _, (status, _) in answers) == [202, 404], answers)
    finally:
        up.stop()


def test_spells_prompt(program, places, folder):
    """A prompt without code is a .soul; a place is built with the Lua that was made of it, and nobody asks
    the model again."""
    with ModelServer(lua(CODE)) as model:
        up = Publisher(program, places, folder, variables={
            "SANDLOT_MODEL_URL": model.url, "SANDLOT_MODEL_KEY": KEY, "SANDLOT_MODEL": "test-model"})
        try:
            up.begin("ann")
            build(up, "ann", "fire", "", prompt="a module fire whose name() is one")
            path = "/api/spells/fire/revisions/r1/files/ReplicatedStorage/spells/fire"
            status, _, text = up.raw("GET", f"{path}.soul", who="ann")
            check((status, text) == (200, b"a module fire whose name() is one"), text)
            status, _, made = up.raw("GET", f"{path}.lua", who="ann")
            check(status == 200 and b"function fire.name()" in made, made)
            publish(up, "ann", "fire", "r1")
            asked = len(model.seen)
            place = up.publish("ann", spelled({"fire": "live"}))["place_id"]
            module_of(up, "ann", place, "r1")
            check(len(model.seen) == asked, "the model is asked again")
        finally:
            up.stop()


def test_spells_lock(program, places, folder):
    """What was taken stays, over new revisions of the spell and of the place, until somebody asks for
    another; also when the spell is gone."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob")
        build(up, "ann", "fire")
        check("no live revision" in failed(up, "ann", spelled({"fire": "live"})), "nothing is live yet")
        publish(up, "ann", "fire", "r1")
        place = up.publish("ann", spelled({"fire": "live"}), channel="live")["place_id"]
        first = module_of(up, "ann", place, "r1")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check(page["spell_updates"] == [], page)
        up.good("POST", "/join", {"place_id": place}, "ann")

        # A new revision is offered, and not taken.
        build(up, "ann", "fire", CODE.replace("one", "two"))
        publish(up, "ann", "fire", "r2")
        status, answer = up.upload("ann", spelled({"fire": "live"}), place)
        job = up.job("ann", answer["job_id"])
        check(status == 202 and job["status"] == "done", job)
        check(any("r1 stays" in line and "r2" in line for line in job["log"]), job["log"])
        check(module_of(up, "ann", place, "r2") == first, "the module has changed by itself")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check(page["spell_updates"] == [{"spell_id": "fire", "revision_id": "r1", "update": "r2"}], page)

        # By its name it is taken, and by a lock that does not have it.
        up.publish("ann", spelled({"fire": "r2"}), place)
        check(module_of(up, "ann", place, "r3") != first, "r2 was asked for")
        up.publish("ann", spelled({"fire": "r1"}), place)
        check(module_of(up, "ann", place, "r4") == first, "r1 was asked for")
        up.publish("ann", spelled({"fire": "live"}, {"spells": {}}), place)
        check(module_of(up, "ann", place, "r5") != first, "the lock was emptied")
        check(up.good("GET", f"/api/places/{place}", who="ann")["spell_updates"] == [], "all is new")

        # A lock that lies.
        zero = {"wanted": "live", "revision": "r1", "sha256": "0" * 64, "module": "0" * 64}
        for lock, why in (({"spells": {"fire": zero}}, "hashes"), ("{", "no JSON"),
                          ({"spells": {"fire": {"revision": "r1"}}}, "wanted"), ("x" * 20000, "16 KiB")):
            reason = failed(up, "ann", spelled({"fire": "live"}, lock), place)
            check("spells.lock.json" in reason, f"{why}: {reason}")
        for spells in ([], 7, {"fire": "r0"}, {"fire": 1}, {"../x": "live"}, {"place_island": "live"},
                       {f"s{i}": "live" for i in range(17)}):
            reason = failed(up, "ann", spelled(spells), place)
            check("place.json" in reason, f"{spells}: {reason}")

        # Another creator may not use a private one, whatever their lock says.
        reason = failed(up, "bob", spelled({"fire": "live"}))
        check("no spell fire that you may use" in reason, reason)
        up.good("PATCH", "/api/spells/fire", {"visibility": "unlisted"}, "ann")
        other = up.publish("bob", spelled({"fire": "live"}))["place_id"]
        check("no spell fire" in failed(up, "bob", spelled({"fire": "r1"}), other), "r1 is not public")

        # In the trash: places that have it keep it, nobody else gets it, and it is not offered.
        build(up, "ann", "fire", CODE.replace("one", "three"))
        publish(up, "ann", "fire", "r3")
        check(len(up.good("GET", f"/api/places/{other}", who="bob")["spell_updates"]) == 1, "r3 is offered")
        up.good("DELETE", "/api/spells/fire", who="ann")
        check(up.ask("GET", "/api/spells/fire", who="bob")[0] == 404, "it is in the trash")
        check(up.good("GET", f"/api/places/{other}", who="bob")["spell_updates"] == [], "it is offered")
        before = module_of(up, "bob", other, "r1")
        again = up.publish("bob", spelled({"fire": "live"}), other)["revision_id"]
        check(module_of(up, "bob", other, again) == before, "it kept what it had")
        for who in ("ann", "bob"):
            check("no spell fire" in failed(up, who, spelled({"fire": "live"})), "it is taken from the trash")
        up.good("POST", "/api/spells/fire/restore", who="ann")
        check(up.ask("POST", "/api/spells/fire/restore", who="ann")[0] == 409, "not in the trash")

        # The next life runs with the same.
        up.stop()
        up = Publisher(program, places, folder, tokens=up.tokens)
        up.good("POST", "/join", {"place_id": place}, "ann")
    finally:
        up.stop()


def test_spells_secret(program, places, folder):
    """Who may read a place may not therefore read the spells that it uses."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob")
        marker = "local secret = 'marker-4711'\n" + CODE
        build(up, "ann", "fire", marker)
        publish(up, "ann", "fire", "r1")
        place = up.publish("ann", spelled({"fire": "live"}), channel="live")["place_id"]
        up.good("PATCH", f"/api/places/{place}", {"visibility": "listed", "open": True}, "ann")
        files = up.good("GET", f"/api/places/{place}/revisions/r1/files", who="bob")["files"]
        check(not [one for one in files if "spells/" in one["path"]], files)
        module = hashlib.sha256(marker.encode()).hexdigest()
        check(up.raw("GET", f"/blob/{module}", who="bob")[0] == 404, "the module is to be had by its hash")
        check(up.raw("GET", f"/blob/{module}", who="ann")[0] == 200, "its owner reads it")
        # A fork is built by who forks, who may not use the spell.
        fork = up.good("POST", f"/api/places/{place}/fork", {}, "bob")
        check(up.job("bob", fork["job_id"])["status"] == "failed", "a fork uses a spell that is private")
    finally:
        up.stop()


def test_spells_draft(program, places, folder):
    """A draft is built with its spells; its lock is one of its files, the module is none."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann")
        build(up, "ann", "fire")
        publish(up, "ann", "fire", "r1")
        place = up.good("POST", "/api/drafts", {"title": "Drafted"}, "ann")["place_id"]
        address = f"/api/places/{place}/draft"

        def put(path, text):
            _, headers, _ = up.raw("GET", f"{address}/files/{path}", who="ann")
            known = {"If-Match": headers["ETag"]} if "ETag" in headers else {"If-None-Match": "*"}
            status, _, answer = up.raw("PUT", f"{address}/files/{path}", text, "ann", **known)
            check(status == 200, answer)

        def save(code, known=None):
            made = up.good("POST", "/api/script/save",
                           {"id": f"{place}/ServerScriptService/Game.lua", "code": code,
                            "knownHash": known}, "ann")
            return made["hash"], up.job("ann", made["job_id"])

        document = json.loads(up.raw("GET", f"{address}/files/place.json", who="ann")[2])
        put("place.json", json.dumps({**document, "spells": {"fire": "live"}}))
        known, job = save(GAME)
        check(job["status"] == "done", job)
        files = [one["path"] for one in up.good("GET", address, who="ann")["files"]]
        check("spells.lock.json" in files and not [one for one in files if "spells/" in one], files)
        lock = up.raw("GET", f"{address}/files/spells.lock.json", who="ann")[2]
        check(json.loads(lock)["spells"]["fire"]["revision"] == "r1", lock)

        build(up, "ann", "fire", CODE.replace("one", "two"))
        publish(up, "ann", "fire", "r2")
        known, job = save(GAME + "-- more\n", known)
        check(job["status"] == "done" and any("r1 stays" in line for line in job["log"]), job)
        check(up.raw("GET", f"{address}/files/spells.lock.json", who="ann")[2] == lock, "the lock has changed")
        made = up.good("POST", f"{address}/publish", {"notes": "first"}, "ann")
        check(up.job("ann", made["job_id"])["status"] == "done", made)
        check(up.good("GET", f"/api/places/{place}", who="ann")["spell_updates"][0]["revision_id"] == "r1",
              "the revision took what the draft has")
        put("spells.lock.json", "{}")
        _, job = save(GAME + "-- even more\n", known)
        check(job["status"] == "done", job)
        lock = json.loads(up.raw("GET", f"{address}/files/spells.lock.json", who="ann")[2])
        check(lock["spells"]["fire"]["revision"] == "r2", lock)
    finally:
        up.stop()


def test_spells_without_accounts(program, _places, folder):
    """`sandlot build` reads the copies in .sandlot/spells; a script of the place's own under that name is
    an error."""
    place = os.path.join(folder, "place")
    with zipfile.ZipFile(io.BytesIO(spelled({"fire": "live"}))) as archive:
        archive.extractall(place)

    def built():
        return subprocess.run([program, "build", place], capture_output=True, text=True, check=False,
                              timeout=60 * PATIENCE)
    answer = built()
    check(answer.returncode != 0 and 'requires the spell "fire"' in answer.stderr and
          "sandlot spell fetch" in answer.stderr, answer)
    for path in (".sandlot/spells", "ReplicatedStorage/spells"):
        os.makedirs(os.path.join(place, path), exist_ok=True)
        with open(os.path.join(place, path, "fire.lua"), "w", encoding="utf-8") as file:
            file.write(CODE)
        answer = built()
        check((answer.returncode == 0) == path.startswith("."), answer)


PARTS = {"first": "local part = require('@fire/part')\nreturn {name = function() return part.name end}\n",
         "part": "return {name = 'of the part'}\n"}
USES = "assert(require('@fire').name() == 'of the part')\nassert(require('@fire/part').name == 'of the part')\n"


def test_spells_modules(program, places, folder):
    """A spell of several modules, which require each other by the spell's name, wherever they are built."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann")
        build(up, "ann", "fire", PARTS["first"], modules={"part": PARTS["part"]})
        publish(up, "ann", "fire", "r1")
        files = [one["path"] for one in up.good("GET", "/api/spells/fire/revisions/r1/files", who="ann")["files"]]
        check({"ReplicatedStorage/spells/fire.lua", "ReplicatedStorage/spells/fire/part.lua"} <= set(files), files)
        for path, text in (("fire.lua", PARTS["first"]), ("fire/part.lua", PARTS["part"])):
            got = up.raw("GET", f"/api/spells/fire/revisions/r1/files/ReplicatedStorage/spells/{path}", who="ann")
            check((got[0], got[2]) == (200, text.encode()), got)
        bundle = json.loads(up.raw("GET", "/api/spells/fire/revisions/r1/module", who="ann")[2])
        check(bundle == {"modules": {"": PARTS["first"], "part": PARTS["part"]}}, bundle)
        # What a place does with it is tried out by its build; a name that is not there is said with its line.
        made = up.publish("ann", spelled({"fire": "live"}, script=USES), channel="live")
        job = up.job("ann", made["job_id"])
        check(job["warnings"] == 0, job)
        module_of(up, "ann", made["place_id"], "r1", "fire/part")
        up.good("POST", "/join", {"place_id": made["place_id"]}, "ann")
        wrong = spelled({"fire": "live"}, script="require('@fire/prat')\n")
        status, answer = up.upload("ann", wrong)
        job = up.job("ann", answer["job_id"])
        check(job["status"] == "failed" and any("Game.lua:1:" in line and "fire/prat" in line
                                                for line in job["log"]), job)
        # One that names a part which it has not; and what is no module.
        build(up, "ann", "lame", "return require('@lame/other')", "failed")
        for modules in ([], {"a b": "return 1"}, {"": "return 1"}, {"a": 1}, {"x" * 33: ""}, {"../a": ""},
                        {f"m{i}": "return 1" for i in range(16)}):
            status, answer = up.ask("POST", "/api/spells/other/build", {"code": CODE, "modules": modules}, "ann")
            check(status == 400, f"{modules}: {status} {answer}")
        check(up.ask("POST", "/api/spells/other/build", {"code": CODE, "modules": {"a": "x" * (256 * 1024 + 1)}},
                     "ann")[0] == 413, "too much of a module")
    finally:
        up.stop()


def write_files(folder, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)


def fetched(place):
    """The modules that a build reads, and what the lock says."""
    at, found = os.path.join(place, ".sandlot", "spells"), {}
    for where, _, names in os.walk(at):
        for name in (one for one in names if one.endswith(".lua")):
            path = os.path.join(where, name)
            found[os.path.relpath(path, at)] = open(path, encoding="utf-8").read()
    lock = os.path.join(place, "spells.lock.json")
    return found, json.load(open(lock, encoding="utf-8"))["spells"] if os.path.exists(lock) else {}


def begin_command(program, places, folder, *names):
    up = Publisher(program, places, os.path.join(folder, "server"))
    up.begin(*names)
    tools = []
    for name in names:
        tools.append(Tool(program, os.path.join(folder, f"home-{name}"), f"http://127.0.0.1:{up.port}"))
        tools[-1].login(name)
    spell, place = os.path.join(folder, "fire"), os.path.join(folder, "place")
    write_files(spell, {"fire.lua": PARTS["first"], "part.lua": PARTS["part"]})
    with zipfile.ZipFile(io.BytesIO(spelled({"fire": "live"}, script=USES))) as archive:
        archive.extractall(place)
    return up, tools, spell, place


def test_spells_command(program, places, folder):
    """A spell is published from a folder and fetched into one; updates are offered and never taken by
    themselves; with a lock no server is needed."""
    up, (ann, bob), spell, place = begin_command(program, places, folder, "ann", "bob")
    try:
        check("sandlot spell fetch" in ann("build", place, code=1), "no hint")
        check("404" in ann("spell", "fetch", place, code=1) and fetched(place) == ({}, {}), "there is none yet")
        check("r1 of the spell fire is ready and live" in ann("spell", "publish", spell), "publish")
        said = ann("spell", "fetch", place)
        check("fire" in said and "r1  new" in said, said)
        modules, lock = fetched(place)
        check(modules == {"fire.lua": PARTS["first"], "fire/part.lua": PARTS["part"]}, modules)
        check(lock["fire"]["revision"] == "r1" and lock["fire"]["wanted"] == "live", lock)
        ann("build", place)
        # The server agrees with this lock.
        made = json.loads(ann("publish", place, "--json"))
        check(made["revision_id"] == "r1", made)
        # Another revision is offered, not taken; by its name it is.
        write_files(spell, {"part.lua": PARTS["part"] + "-- newer\n"})
        check(json.loads(ann("spell", "publish", spell, "--json"))["revision_id"] == "r2", "r2")
        check("r1" in (said := ann("spell", "list", place)) and "there is r2" in said, said)
        ann("spell", "fetch", place)
        check(fetched(place) == (modules, lock), "it was taken by itself")
        check("names no spell ice" in ann("spell", "update", place, "ice", code=1), "ice")
        ann("spell", "update", place, "fire")
        check(fetched(place)[1]["fire"]["revision"] == "r2" and
              fetched(place)[0]["fire/part.lua"].endswith("newer\n"), fetched(place))
        check("there is" not in ann("spell", "list", place), "it is the newest")
        # Who may not read it gets no source.
        check("404" in bob("spell", "fetch", place, code=1) or fetched(place)[1], "private")
        other = os.path.join(folder, "other")
        shutil.copytree(place, other, ignore=shutil.ignore_patterns(".sandlot", "spells.lock.json"))
        up.good("PATCH", "/api/spells/fire", {"visibility": "unlisted"}, "ann")
        check("not open" in bob("spell", "fetch", other, code=1) and fetched(other) == ({}, {}), fetched(other))
        up.good("PATCH", "/api/spells/fire", {"open": True}, "ann")
        bob("spell", "fetch", other)
        check(fetched(other)[0]["fire.lua"] == PARTS["first"], fetched(other))
        # A lock that names another module is refused.
        lied = json.loads(open(os.path.join(other, "spells.lock.json"), encoding="utf-8").read())
        lied["spells"]["fire"]["module"] = "0" * 64
        write_files(other, {"spells.lock.json": json.dumps(lied)})
        check("is not what spells.lock.json names" in bob("spell", "fetch", other, code=1), "it was taken")
        # Without a server: from the cache, by its hash.
        up.stop()
        shutil.rmtree(os.path.join(place, ".sandlot"))
        ann("spell", "fetch", place)
        ann("build", place)
        check("fetched" in ann("spell", "list", place), ann("spell", "list", place))
        for words in (["spell"], ["spell", "fetch"], ["spell", "update", place], ["spell", "take", place],
                      ["spell", "fetch", place, "--name", "x"], ["spell", "publish", spell, "--channel", "x"]):
            ann(*words, code=2)
        check(ann("spell", "--help").startswith("usage: sandlot spell"), "help")
    finally:
        up.kill()


def test_spells_killed(program, places, folder):
    """kill -9 of the server while a spell is published, and of the command while it fetches: every revision
    that was promised is there, and nothing is half."""
    up, (ann,), spell, place = begin_command(program, places, folder, "ann")
    dice = random.Random(7)
    try:
        promised = 0
        for number in range(6):
            def send():
                nonlocal promised
                try:
                    answer = up.good("POST", "/api/spells/fire/build",
                                     {"code": PARTS["first"], "modules": {"part": f"return {{name = {number}}}"}}, "ann")
                    promised += 1
                    up.job("ann", answer["job_id"])
                    publish(up, "ann", "fire", f"r{promised}")
                except Exception:  # pylint: disable=broad-except
                    pass  # it was killed
            thread = threading.Thread(target=send)
            thread.start()
            time.sleep(number * 0.3)
            up.process.send_signal(signal.SIGKILL)
            up.process.wait()
            thread.join()
            up = Publisher(program, places, os.path.join(folder, "server"), tokens=up.tokens)
            status, answer = up.ask("GET", "/api/spells/fire/revisions", who="ann")
            if status == 404:
                check(promised == 0, "what was promised is gone")
                continue
            rows = answer["revisions"]
            check(len(rows) >= promised, (promised, rows))
            promised = len(rows)
            wait_until(lambda: all(one["state"] == "ready" for one in up.good(
                "GET", "/api/spells/fire/revisions", who="ann")["revisions"]), "all are built")
            for one in rows:
                status, _, text = up.raw("GET", f"/api/spells/fire/revisions/{one['revision_id']}/module", who="ann")
                check(status == 200 and set(json.loads(text)["modules"]) == {"", "part"}, text)
        check(promised > 0, "no build was ever begun")
        publish(up, "ann", "fire", "r1")
        ann = Tool(program, os.path.join(folder, "home-ann"), f"http://127.0.0.1:{up.port}")
        ann.login("ann")
        begun = time.monotonic()
        ann("spell", "fetch", place)
        span, whole = time.monotonic() - begun, fetched(place)
        seen = set()
        for _ in range(25):
            shutil.rmtree(os.path.join(place, ".sandlot"))
            shutil.rmtree(os.path.join(ann.home, ".cache"), ignore_errors=True)
            os.remove(os.path.join(place, "spells.lock.json"))
            process = subprocess.Popen([program, "spell", "fetch", place], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=environment(ann.home))
            time.sleep(dice.random() * span)
            process.kill()
            process.wait()
            modules, lock = fetched(place)
            check(modules in ({}, whole[0]) and lock in ({}, whole[1]), (modules, lock))
            check(not lock or modules, "a lock of modules that are not here")
            seen.add((bool(modules), bool(lock)))
            ann("spell", "fetch", place)
            check(fetched(place) == whole, "the next one does not mend it")
        print(seen)
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

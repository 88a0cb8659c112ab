"""Save, and it runs: `sandlot dev`, drafts that are tried out, and channels that name another revision. The
worlds that run go on with new scripts, or start again; a set that fails is rolled back; who may not edit a
place reaches no world of its draft."""

import base64
import glob
import hashlib
import json
import os
import signal
import sys
import threading
import time

from bots import Bots
from publish import Publisher, package
from support import Closed, Failure, Player, World, check, come_back, run, wait_until

BEAT = """count = count or 0
function onUpdate()
    count = count + 1
    if count % 6 == 0 then
        Network.Broadcast("beat", "{word}", count)
    end
end
function onReload(old)
    count = old.count
end
"""
PLACE = {"format": 1, "name": "Beats", "limits": {"players": 16}}
SCENE = {"format": 1, "entities": [
    {"id": 1, "name": "Spawn", "type": "spawn", "transform": {"position": [0, 0, 0]}},
    {"id": 2, "name": "Floor", "transform": {"position": [0, -1, 0]}, "shape": {"size": [40, 1, 40]}}]}
SCRIPT = "ServerScriptService/Beat.lua"
REASON = "boom at the top"


def write(place, path, text):
    full = os.path.join(place, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text, indent=2))


def read(place, path):
    with open(os.path.join(place, path), encoding="utf-8") as file:
        return file.read()


def beat(word):
    return BEAT.replace("{word}", word)


def write_place(folder, script=None):
    place = os.path.join(folder, "beats")
    write(place, "place.json", PLACE)
    write(place, "scene.json", SCENE)
    write(place, SCRIPT, beat("one") if script is None else script)
    return place


class Dev(World):
    """`sandlot dev` on any free port."""

    @staticmethod
    def arguments(place, data, options):
        return ["dev", place, "--port", "0", *(["--data", data] if data else []), "--allow-weak-jail",
                *options]


def read_beats(player):
    """(word, count) of every beat that it heard."""
    found = []
    for message in player.snapshots:
        for remote in message["payload"].get("features", {}).get("script", {}).get("remote", []):
            if remote["name"] == "beat":
                data = base64.b64decode(remote["payload"])  # a list of a text and an integer
                length = data[3]
                number, shift = 0, 0
                for byte in data[5 + length:]:
                    number |= (byte & 127) << shift
                    shift += 7
                found.append((data[4:4 + length].decode(), number // 2))
    return found


def hear_beat(player, word, seconds=20.0):
    """The count of the next beat with this word."""
    def look():
        player.snapshots.clear()
        player.listen(0.15)
        beats = [count for said, count in read_beats(player) if said == word]
        return beats[0] if beats else None
    return wait_until(look, f"a beat says {word}", seconds)


def reload_of(server, job_id, **ask):
    """What the job says once its worlds have answered."""
    def look():
        answer = server.good("GET", f"/api/jobs/{job_id}", **ask)
        ended = answer["status"] not in ("waiting", "running")
        return answer if ended and answer["reload"] != "waiting" else None
    return wait_until(look, "the worlds have answered", 60)


# --- sandlot dev -----------------------------------------------------------------------------------


def test_reload_dev(program, places, folder):
    place = write_place(folder)
    dev = Dev(program, place, None)
    try:
        worlds = dev.children()
        player = Player(dev)
        before = hear_beat(player, "one")
        # A script is saved: the same process runs it, and nobody has left.
        write(place, SCRIPT, beat("two"))
        after = hear_beat(player, "two")
        check(after > before, f"onReload carried the count: {before}, then {after}")
        found = dev.wait_line(r"dev   reloaded in (\d+) ms: version (\d+), 1 world")
        check(int(found[2]) >= 2, found[0])
        check(dev.children() == worlds and not player.errors, f"{dev.children()} {player.errors}")
        # An error: file and line, and nothing changes.
        write(place, SCRIPT, beat("three") + "local x = = 1\n")
        dev.wait_line(r"beats/ServerScriptService/Beat\.lua:11: error: .*\[syntax\]")
        dev.wait_line(r"dev   not built: 1 error; the world runs on as it was")
        check(hear_beat(player, "two") > after, "it runs on")
        # Taken back: that it is good again is said, though nothing has to be reloaded.
        write(place, SCRIPT, beat("two"))
        dev.wait_line(r"dev   built in \d+ ms: nothing that runs has changed")
        # What fails at the top level brings back what ran before.
        write(place, SCRIPT, beat("four") + f'error("{REASON}")\n')
        dev.wait_line(r"dev   rolled back: version (\d+) failed as said above, so the scripts of before run again")
        # Once it runs, the mistake is said once, however many parts of the server know of it.
        mistakes = [line for line in dev.lines if REASON in line and "[dry-run]" not in line]
        check(len(mistakes) == 1, mistakes)
        check(hear_beat(player, "two") > after, "the last good one is back")
        check(dev.children() == worlds and not player.errors, f"{dev.children()} {player.errors}")
        # And the next good one takes its place.
        write(place, SCRIPT, beat("five"))
        hear_beat(player, "five")
        # The folder is away for a moment, and watched again once it is back.
        os.rename(place, place + ".away")
        dev.wait_line(r"dev   changes are not seen: .*; the world runs on")
        os.rename(place + ".away", place)
        dev.wait_line(r"dev   changes are seen again")
        write(place, SCRIPT, beat("six"))
        before = hear_beat(player, "six")
        # A file that an editor has emptied and not written yet is not built, though another one is saved.
        with open(os.path.join(place, SCRIPT), "w", encoding="utf-8") as file:
            write(place, "ServerScriptService/Other.lua", "print('another one')\n")
            time.sleep(0.1)
            file.write(beat("seven"))
        check(hear_beat(player, "seven") > before, "with its count")
        check(dev.children() == worlds, "still the same process")
        player.close()
        dev.stop(signal.SIGINT)
    finally:
        dev.kill()


def test_reload_dev_keeps_typescript_ready(program, places, folder):
    """Its compiler takes seconds to start: that is over before the first script is saved."""
    place = write_place(folder)
    write(place, "ServerScriptService/Note.ts", "export const note = 1;\n")

    def compilers(dev):
        found = []
        for path in glob.glob(f"/proc/{dev.process.pid}/task/*/children"):
            with open(path, encoding="ascii") as file:
                pids = file.read().split()
            for pid in pids:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    found += [pid] if b"compiler.mjs" in file.read() else []
        return found
    for life in range(2):  # the second time all is cached
        dev = Dev(program, place, None)
        try:
            wait_until(lambda: compilers(dev), "the compiler runs")
            before = compilers(dev)
            write(place, SCRIPT, beat(f"life {life}"))
            dev.wait_line(r"dev   reloaded in \d+ ms: version \d+")
            check(compilers(dev) == before, "the same one")
            dev.stop(signal.SIGINT)
        finally:
            dev.kill()


def test_reload_dev_parameters(program, places, folder):
    """A script that an entity has, and its parameters: both change in place."""
    place = write_place(folder)
    scene = json.loads(json.dumps(SCENE))
    scene["entities"][1] |= {"scriptRef": {"path": "Workspace/Floor.lua", "codeHash": ""},
                             "parameters": {"word": "old"}}
    script = """function onUpdate(self)
    Network.Broadcast("beat", "{word} " .. self.params.word, 1)
end
function onReload(old) end
"""
    write(place, "scene.json", scene)
    write(place, "Workspace/Floor.lua", script.replace("{word}", "one"))
    dev = Dev(program, place, None)
    try:
        worlds = dev.children()
        player = Player(dev)
        hear_beat(player, "one old")
        write(place, "Workspace/Floor.lua", script.replace("{word}", "two"))
        hear_beat(player, "two old")
        scene = json.loads(read(place, "scene.json"))  # the build has written its codeHash
        check(scene["entities"][1]["scriptRef"]["codeHash"], scene)
        scene["entities"][1]["parameters"]["word"] = "new"
        write(place, "scene.json", scene)
        hear_beat(player, "two new")
        check(dev.children() == worlds and not player.errors, f"{dev.children()} {player.errors}")
        dev.stop(signal.SIGINT)
    finally:
        dev.kill()


def write_counted(place, version):
    """A client script that says its version, and a server script that counts who has."""
    write(place, "StarterGui/Say.lua", f'Network.FireServer("runs", {version})\n')
    write(place, "ServerScriptService/Count.lua", f"""local count = 0
Network.OnClientEvent("runs", function(player, version)
    if version == {version} then
        count = count + 1
        print("clients run {version}:", count)
    end
end)
""")


def test_reload_dev_reaches_clients(program, places, folder):
    """Native clients that run scripts, while they play: each runs what was saved."""
    place = write_place(folder)
    write_counted(place, 1)
    dev = Dev(program, place, None)
    bots = Bots(program, dev.port, 4, 120, "walk", "--scripts", "--allow-weak-jail")
    try:
        worlds = dev.children()
        dev.wait_line(r"clients run 1: 4", 60)
        write_counted(place, 2)
        dev.wait_line(r"clients run 2: 4", 60)
        check(dev.children() == worlds, "the same process")
        # What fails on clients is shown once, as their word, and brings nothing back.
        write(place, "StarterGui/Bad.lua", "function onUpdate() error('client boom') end\n")
        dev.wait_line(r"dev   a client says that StarterGui/Bad failed in line 1: .*client boom", 60)
        bots.stop()
        result = bots.result(90, code=None)
        said = [line for line in dev.lines if "a client says" in line]
        check(len(said) == 1 and not any("rolled back" in line for line in dev.lines), said)
        check(result["connects"] == 4, f"nobody left: {result}")
        dev.stop(signal.SIGINT)
    finally:
        bots.kill()
        dev.kill()


def test_reload_dev_restarts_for_the_scene(program, places, folder):
    place = write_place(folder)
    dev = Dev(program, place, os.path.join(folder, "data"))
    try:
        worlds = dev.children()
        player = Player(dev, ticket=dev.join(username="bo")["ticket"])
        hear_beat(player, "one")
        scene = json.loads(json.dumps(SCENE))
        scene["entities"].append({"id": 3, "name": "Wall", "transform": {"position": [0, 0, 9]},
                                  "shape": {"size": [4, 4, 1]}})
        write(place, "scene.json", scene)
        dev.wait_line(r"dev   built in \d+ ms; more than scripts .* the world starts again")
        try:
            wait_until(lambda: player.listen(0.2) or player.errors, "the player is told", 20)
        except Closed:
            pass
        check(player.errors and player.errors[-1]["code"] == "stopped", f"{player.errors}")
        wait_until(lambda: dev.children() not in ([], worlds) and dev.is_ready(), "another process")
        player = come_back(dev, player)
        check(player.welcome["resumed"], f"{player.welcome}")
        hear_beat(player, "one")
        # Numbers of place.json decide how large a world is.
        worlds = dev.children()
        write(place, "place.json", {**PLACE, "limits": {"players": 5}})
        wait_until(lambda: dev.children() not in ([], worlds) and dev.is_ready(), "another process")
        check(not os.path.exists(os.path.join(place, ".sandlot/server")), "with --data no artifacts")
        dev.stop(signal.SIGINT)
    finally:
        dev.kill()


def test_reload_dev_begins_with_an_error(program, places, folder):
    """It waits until the place is mended, and can be stopped meanwhile."""
    place = write_place(folder, script="local x = = 1\n")
    dev = Dev(program, place, None, wait=False)
    try:
        dev.wait_line(r"Beat\.lua:1: error: ")
        dev.wait_line(r"dev   the world starts when this is mended")
        write(place, SCRIPT, beat("one"))
        dev.find_port()
        hear_beat(Player(dev), "one")
        dev.stop(signal.SIGINT)
    finally:
        dev.kill()
    write(place, SCRIPT, "local x = = 1\n")
    dev = Dev(program, place, None, wait=False)
    try:
        dev.wait_line(r"dev   the world starts when this is mended")
        dev.process.send_signal(signal.SIGINT)
        check(dev.process.wait(10) == 1, "it never started")
    finally:
        dev.kill()


def test_reload_dev_saves_over_http(program, places, folder):
    """POST /api/script/save beside `sandlot dev`: the job says what became of the world."""
    place = write_place(folder)
    dev = Dev(program, place, None)
    try:
        player = Player(dev)
        hear_beat(player, "one")
        known = hashlib.sha256(beat("one").encode()).hexdigest()
        status, _, body = dev.request("POST", "/api/script/save", {
            "id": f"beats/{SCRIPT}", "code": beat("two"), "knownHash": known})
        saved = json.loads(body)
        check(status == 200, f"{status} {saved}")
        hear_beat(player, "two")

        def look():
            answer = json.loads(dev.request("GET", f"/api/jobs/{saved['job_id']}")[2])
            return answer if answer.get("reload") not in (None, "waiting", "none") else None
        job = wait_until(look, "the world has answered")
        check(job["reload"] == "reloaded" and job["reloaded_worlds"] == 1, job)
        check(job["manifest_version"] >= 2, job)
        # The watch sees the same file, which is not worth another line.
        write(place, SCRIPT, beat("three"))
        hear_beat(player, "three")
        dev.wait_line(r"dev   reloaded in \d+ ms: version 3")
        check(not any("nothing that runs" in line for line in dev.lines), dev.lines)
        dev.stop(signal.SIGINT)
    finally:
        dev.kill()


# --- drafts ----------------------------------------------------------------------------------------


def enter(up, who, name="bo", **wish):
    answer = up.good("POST", "/join", {"username": name, **wish}, who)

    class Room:
        port, room = up.port, answer["room_code"]
    player = Player(Room, name=name, ticket=answer["ticket"])
    player.answer = answer
    return player


def draft_of(up, who, title):
    place = up.good("POST", "/api/drafts", {"title": title, "template": "blank"}, who)["place_id"]
    return place


def save(up, who, place, text, known):
    saved = up.good("POST", "/api/script/save", {
        "id": f"{place}/{SCRIPT}", "code": text,
        "knownHash": known and hashlib.sha256(known.encode()).hexdigest()}, who)
    return saved["job_id"]


def test_reload_draft(program, places, folder):
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob", "cyd")
        place = draft_of(up, "ann", "Beats")
        first = reload_of(up, save(up, "ann", place, beat("one"), None), who="ann")
        check(first["status"] == "done" and first["reload"] == "none", first)
        player = enter(up, "ann", place_id=place, channel="draft")
        check(player.answer["place_id"] == f"{place}-draft", player.answer)
        before = hear_beat(player, "one")
        worlds = up.children()
        # Saved, built, and the test world goes on with it.
        job = reload_of(up, save(up, "ann", place, beat("two"), beat("one")), who="ann")
        check(job["reload"] == "reloaded" and job["reloaded_worlds"] == 1 and
              job["manifest_version"] >= 2, job)
        check(hear_beat(player, "two") > before, "with what it knew")
        check(up.children() == worlds and not player.errors, f"{up.children()} {player.errors}")
        # A set that fails: who works on the place sees why.
        bad = beat("three") + f'error("{REASON}")\n'
        job_id = save(up, "ann", place, bad, beat("two"))

        def rolled_back():
            job = up.good("GET", f"/api/jobs/{job_id}", who="ann")
            return job if job["reload"] == "rolled_back" else None
        job = wait_until(rolled_back, "it is rolled back", 60)
        check("Beat.lua:11" in job["reload_reason"] and REASON in job["reload_reason"], job)
        hear_beat(player, "two")
        page = up.good("GET", f"/api/places/{place}", who="ann")
        check([one["reload"] for one in page["reloads"] if one["channel"] == "draft"] ==
              ["rolled_back"] and REASON in page["reloads"][0]["reload_reason"], page["reloads"])
        # A file of the draft that is no script: the world starts again and says so.
        status, _, scene = up.raw("GET", f"/api/places/{place}/draft/files/scene.json", who="ann")
        check(status == 200, status)
        doc = json.loads(scene)
        doc["entities"].append({"id": 77, "name": "Wall", "transform": {"position": [0, 5, 9]},
                                "shape": {"size": [4, 4, 1]}})
        save(up, "ann", place, beat("four"), bad)
        status, _, body = up.raw("PUT", f"/api/places/{place}/draft/files/scene.json",
                                 json.dumps(doc), "ann",
                                 **{"If-Match": f'"{hashlib.sha256(scene).hexdigest()}"'})
        check(status == 200, f"{status} {body}")
        job = reload_of(up, json.loads(body)["job_id"], who="ann")
        check(job["reload"] == "restarted" and job["reloaded_worlds"] == 1, job)
        again = wait_until(lambda: retry_enter(up, "ann", place), "ann comes back", 30)
        hear_beat(again, "four")
        # Without the draft there is nothing to try out.
        up.good("DELETE", f"/api/places/{place}/draft", who="ann")
        try:
            wait_until(lambda: again.listen(0.2) or again.errors, "ann is told", 20)
        except Closed:
            pass
        check(again.errors and again.errors[-1]["code"] == "stopped", f"{again.errors}")
        status, answer = up.ask("POST", "/join", {"place_id": place, "channel": "draft"}, "ann")
        check(status == 404 and answer["error"]["code"] == "no_draft", answer)
        up.stop()
    finally:
        up.kill()


def retry_enter(up, who, place):
    try:
        return enter(up, who, place_id=place, channel="draft")
    except (Closed, OSError):
        return None


def test_reload_draft_is_for_its_team(program, places, folder):
    """Editors and testers meet in it; testers read none of its files. Another creator, a guest and nobody:
    no ticket, no world, no file of the draft. Who is taken off the team leaves."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob", "cyd", "eve")
        up.tokens["guest"] = up.post("/login", {"username": "guest"})[1]["session_token"]
        place = draft_of(up, "ann", "Hidden Beats")
        reload_of(up, save(up, "ann", place, beat("one"), None), who="ann")
        published = up.good("POST", f"/api/places/{place}/draft/publish",
                            {"notes": "first", "channel": "live"}, "ann")
        check(up.job("ann", published["job_id"])["status"] == "done", "published")
        up.good("PATCH", f"/api/places/{place}", {"visibility": "listed"}, "ann")
        up.good("PUT", f"/api/places/{place}/team/bob", {"role": "tester"}, "ann")
        up.good("PUT", f"/api/places/{place}/team/eve", {"role": "editor"}, "ann")
        player = enter(up, "ann", place_id=place, channel="draft")
        world, code = player.answer["world_id"], player.answer["room_code"]
        eve = enter(up, "eve", place_id=place, channel="draft")
        check(eve.answer["world_id"] == world, "those who work on it meet")
        bob = enter(up, "bob", place_id=place, channel="draft")
        check(bob.answer["world_id"] == world, "a tester meets them")
        check(up.good("GET", f"/api/places/{place}", who="bob")["draft"] is True, "the page tells him of it")
        wait_until(lambda: [room["room_code"] for room in up.good(
            "GET", f"/api/places/{place}/worlds?channel=draft", who="bob")["worlds"]] == [code],
                   "he sees its world", 10)
        for path in ("draft", "draft/files/place.json", "draft/history/place.json", "package"):
            check(up.raw("GET", f"/api/places/{place}/{path}", who="bob")[0] == 403, f"bob reads {path}")
        check("reloads" not in up.good("GET", f"/api/places/{place}", who="bob"), "bob sees reloads")
        for who in ("cyd", "guest"):
            status, answer = up.ask("POST", "/join", {"place_id": place, "channel": "draft"}, who)
            check(status == 403 and answer["error"]["code"] == "draft_denied", f"{who}: {answer}")
            for wish in ({"place_id": f"{place}-draft"}, {"world_id": world}, {"room_code": code}):
                status, answer = up.ask("POST", "/join", wish, who)
                check(status in (403, 404) and "ticket" not in answer, f"{who} {wish}: {answer}")
            status, answer = up.ask("POST", "/api/worlds", {"place_id": f"{place}-draft"}, who)
            check(status in (403, 404), f"{who}: {status} {answer}")
            listed = up.good("GET", "/worlds", who=who)
            check(world not in json.dumps(listed), f"{who} sees it in the list")
            # With the code and a sign-in, straight at the socket.
            try:
                Player(type("Room", (), {"port": up.port, "room": code}), name=who,
                       session=up.tokens[who])
                check(False, f"{who} is in")
            except (Closed, Failure) as end:
                check(" is in" not in str(end), str(end))
            page = up.good("GET", f"/api/places/{place}", who=who)
            check("reloads" not in page and "draft" not in page, f"{who}: {page}")
            check(up.ask("GET", f"/api/places/{place}/worlds?channel=draft", who=who)[0] == 403, who)
            check(up.ask("GET", f"/world/{world}", who=who)[0] in (403, 404), f"{who} asks for it")
        check(up.ask("POST", "/join", {"place_id": place, "channel": "draft"})[0] == 401, "nobody")
        status, answer = up.ask("POST", "/join", {"place_id": place, "channel": "drafts"}, "ann")
        check(status == 400, f"{status} {answer}")
        # Who stops working on it leaves, and does not come back.
        for name, left in (("eve", eve), ("bob", bob)):
            up.good("DELETE", f"/api/places/{place}/team/{name}", who="ann")
            try:
                wait_until(lambda gone=left: gone.listen(0.2) or gone.errors, f"{name} is told", 20)
            except Closed:
                pass
            check(left.errors and left.errors[-1]["code"] == "kicked", f"{left.errors}")
            status, answer = up.ask("POST", "/join", {"place_id": place, "channel": "draft"}, name)
            check(status == 403 and answer["error"]["code"] == "draft_denied", f"{name}: {answer}")
        try:
            Player(type("Room", (), {"port": up.port, "room": code}),
                   resume=eve.welcome["resumeToken"])
            check(False, "eve is back")
        except (Closed, Failure) as end:
            check("eve is back" not in str(end), str(end))
        # Its worlds and DataStores are not those of players.
        live = enter(up, "cyd", place_id=place)
        check(live.answer["world_id"] != world and live.answer["place_id"] == place, live.answer)
        up.stop()
    finally:
        up.kill()


# --- channels --------------------------------------------------------------------------------------


def game(word, more=()):
    scene = {**SCENE, "entities": [*SCENE["entities"], *more]}
    return package("Beats", **{"ServerScriptService__Beat": beat(word)}, scene=scene)


def test_reload_live(program, places, folder):
    """What only changes scripts goes to the worlds that run; anything else starts named and private
    worlds again, and the others are left to those who are in them."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann", "bob")
        place = up.publish("ann", game("one"), channel="live")["place_id"]
        up.good("PATCH", f"/api/places/{place}", {"visibility": "listed"}, "ann")
        public = enter(up, "bob", place_id=place)
        named = up.good("POST", "/api/worlds", {"place_id": place, "name": "Ours", "private": True}, "ann")
        inside = enter(up, "ann", name="ann", world_id=named["world_id"])
        before = hear_beat(public, "one"), hear_beat(inside, "one")
        worlds = sorted(up.children())
        up.publish("ann", game("two"), place, channel="live")
        check(hear_beat(public, "two") > before[0], "the public one goes on")
        check(hear_beat(inside, "two") > before[1], "and so does the private one")
        check(sorted(up.children()) == worlds and not public.errors + inside.errors, "in place")

        def live():
            page = up.good("GET", f"/api/places/{place}", who="ann")
            return [one for one in page["reloads"] if one["channel"] == "live"]
        wait_until(lambda: live() and live()[0]["reloaded_worlds"] == 2, f"both are told: {live()}")
        # The job says the same of each world, and of a set that fails in them why.
        bad = package("Beats", scene=SCENE, **{"ServerScriptService__Beat": f"error('{REASON}')"})
        made = up.publish("ann", bad, place, channel="live")

        def settled():
            job = up.good("GET", f"/api/jobs/{made['job_id']}", who="ann")
            return job if job["reload_settled"] else None
        job = wait_until(settled, "the worlds have answered", 60)
        check(job["reload"] == "rolled_back" and REASON in job["reload_reason"], job)
        check(sorted(one["world_id"] for one in job["worlds"]) ==
              sorted([public.answer["world_id"], named["world_id"]]), job["worlds"])
        check(all(one["reload"] == "rolled_back" and REASON in one["reason"] for one in job["worlds"]), job)
        hear_beat(public, "two")
        # Who loses the right while they follow what scripts cost gets nothing more.
        costs = f"/api/worlds/{public.answer['world_id']}/scripts"
        for _ in range(5):
            up.good("PUT", f"/api/places/{place}/team/bob", {"role": "editor"}, "ann")
            version = up.good("GET", costs, who="bob")["version"]
            got = []
            follower = threading.Thread(target=lambda: got.append(
                up.ask("GET", f"{costs}?follow=1&after={version}", who="bob")[0]))
            follower.start()
            up.good("DELETE", f"/api/places/{place}/team/bob", who="ann")
            is_late = bool(got)  # it was answered before
            follower.join(40)
            if not is_late:
                break
        check(got == [404], f"he still sees them: {got}")
        wall = {"id": 3, "name": "Wall", "transform": {"position": [0, 0, 9]},
                "shape": {"size": [4, 4, 1]}}
        up.publish("ann", game("three", [wall]), place, channel="live")
        try:
            wait_until(lambda: inside.listen(0.2) or inside.errors, "who is in it is told", 20)
        except Closed:
            pass
        check(inside.errors and inside.errors[-1]["code"] == "stopped", f"{inside.errors}")
        wait_until(lambda: live()[0]["reload"] == "restarted", f"it is told: {live()}")
        again = enter(up, "ann", name="ann", world_id=named["world_id"])
        hear_beat(again, "three")
        hear_beat(public, "two")  # nobody disturbs it
        other = enter(up, "ann", name="ann", place_id=place)
        check(other.answer["world_id"] != public.answer["world_id"], "new joins get new ones")
        hear_beat(other, "three")
        # A place that becomes private: who may not play it any more leaves, and its owner stays.
        up.good("PATCH", f"/api/places/{place}", {"visibility": "private"}, "ann")
        try:
            wait_until(lambda: public.listen(0.2) or public.errors, "bob is told", 20)
        except Closed:
            pass
        check(public.errors and public.errors[-1]["code"] == "kicked", f"{public.errors}")
        hear_beat(other, "three")
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

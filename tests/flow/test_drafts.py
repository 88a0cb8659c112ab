"""Drafts over HTTP: a place is made from a template, its files are written by several people who never
lose each other's work, and every version can be had back."""

import hashlib
import http.client
import json
import os
import signal
import sys
import threading

from support import PATIENCE, check, run, wait_until
from test_accounts import People

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}


def ask(up, method, path, token=None, body=None, **headers):
    """Status, headers and bytes; a body of bytes goes as it is."""
    link = http.client.HTTPConnection("127.0.0.1", up.port, timeout=30 * PATIENCE)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        given["Authorization"] = f"Bearer {token}"
    try:
        link.request(method, path, headers=given,
                     body=body if isinstance(body, (bytes, type(None))) else json.dumps(body))
        answer = link.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        link.close()


def good(answer, wanted=200):
    status, _, body = answer
    check(status == wanted, f"{status}, not {wanted}: {body[:300]}")
    return json.loads(body)


def code_of(answer):
    return json.loads(answer[2])["error"]["code"]


def creator(up, boss, name):
    token = up.register(name)["session_token"]
    status, answer = up.post(f"/api/accounts/{name}/roles", {"roles": "creator"}, boss)
    check(status == 200, answer)
    return token


def tag_of(data):
    return f'"{hashlib.sha256(data).hexdigest()}"'


def test_drafts(program, _places, folder):
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        ann, bob = creator(up, boss, "ann"), creator(up, boss, "bob")
        check(ask(up, "POST", "/api/drafts", up.register("cyd")["session_token"], {"title": "x"})[0] == 403,
              "who is no creator makes no places")
        made = good(ask(up, "POST", "/api/drafts", ann, {"title": "Lava Run"}))
        place = made["place_id"]
        check(place.startswith("place_lava-run-"), place)
        about = json.loads(ask(up, "GET", f"/api/places/{place}/draft/files/place.json", ann)[2])
        check(about["name"] == "Lava Run", about)
        check("place.json" in [one["path"] for one in made["files"]], made)
        address = f"/api/places/{place}/draft"
        check(os.path.isfile(os.path.join(folder, "data", "drafts", place, "place.json")), "no folder")

        # Nobody else knows of it.
        for who in (None, bob, up.register("dan")["session_token"]):
            for method, path in (("GET", address), ("GET", f"{address}/files/place.json"),
                                 ("GET", f"{address}/history/place.json")):
                status = ask(up, method, path, who)[0]
                check(status == (401 if who is None else 404), f"{method} {path}: {status}")
        check(ask(up, "GET", address, boss)[0] == 200, "an operator sees it")

        # A new file, a conflict, a second version.
        door = f"{address}/files/Workspace/Door.lua"
        check(ask(up, "PUT", door, ann, b"print(1)")[0] == 428, "a write says what it replaces")
        status, headers, _ = first = ask(up, "PUT", door, ann, b"print(1)", If_None_Match="*")
        check(status == 200 and headers["ETag"] == tag_of(b"print(1)"), first)
        late = ask(up, "PUT", door, ann, b"print(9)", If_None_Match="*")
        check(late[0] == 412 and late[1]["ETag"] == tag_of(b"print(1)"), late)
        good(ask(up, "PUT", door, ann, b"print(2)", If_Match=tag_of(b"print(1)")))
        check(ask(up, "PUT", door, ann, b"print(3)", If_Match=tag_of(b"print(1)"))[0] == 412, "conflict")
        check(ask(up, "GET", door, ann)[2] == b"print(2)", "the second version")
        check(ask(up, "GET", door, ann, None, If_None_Match=tag_of(b"print(2)"))[0] == 304, "304")
        for bad in ("../x.lua", "%2e%2e/x.lua", ".sandlot/data/key", "x.exe", "Workspace/door.lua", "node_modules/b.txt",
                    "A/node_modules/q.ts"):
            status = ask(up, "PUT", f"{address}/files/{bad}", ann, b"x", If_None_Match="*")[0]
            check(status in (400, 404), f"{bad}: {status}")

        # What it was, and back.
        history = good(ask(up, "GET", f"{address}/history/Workspace/Door.lua", ann))
        check([one["version"] for one in history["versions"]] == [2, 1], history)
        check(ask(up, "GET", f"{address}/history/Workspace/Door.lua?version=1", ann)[2] == b"print(1)", "v1")
        good(ask(up, "POST", f"{address}/restore", ann,
                 {"path": "Workspace/Door.lua", "version": 1, "hash": tag_of(b"print(2)").strip('"')}))
        check(ask(up, "GET", door, ann)[2] == b"print(1)", "restored")
        moved = good(ask(up, "POST", f"{address}/move", ann,
                         {"from": "Workspace/Door.lua", "to": "ServerScriptService/Door.lua",
                          "hash": tag_of(b"print(1)").strip('"')}))
        check(moved["path"] == "ServerScriptService/Door.lua", moved)
        gone = f"{address}/files/ServerScriptService/Door.lua"
        check(ask(up, "DELETE", gone, ann, If_Match=tag_of(b"print(7)"))[0] == 412, "not what was known")
        good(ask(up, "DELETE", gone, ann, If_Match=tag_of(b"print(1)")))
        check(ask(up, "GET", gone, ann)[0] == 404, "deleted")
        good(ask(up, "POST", f"{address}/restore", ann, {"path": "ServerScriptService/Door.lua", "version": 1}))
        check(ask(up, "GET", gone, ann)[2] == b"print(1)", "a deleted file comes back")

        # Ten people write one file at once: one at a time wins, and nothing that won is lost.
        good(ask(up, "PUT", f"{address}/files/notes.txt", ann, b"0", If_None_Match="*"))
        wins = []

        def write(number):
            data = str(number).encode()
            if ask(up, "PUT", f"{address}/files/notes.txt", ann, data, If_Match=tag_of(b"0"))[0] == 200:
                wins.append(data)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 11)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(len(wins) == 1, f"{len(wins)} of ten writes won")
        check(ask(up, "GET", f"{address}/files/notes.txt", ann)[2] == wins[0], "the winner's")
        listed = good(ask(up, "GET", address, ann))
        check(listed["bytes_used"] > 0 and listed["bytes_allowed"] > listed["bytes_used"], listed)

        # A place that never had a revision, and throws its draft away, gets a blank one.
        good(ask(up, "DELETE", address, ann))
        check(ask(up, "GET", address, ann)[0] == 404, "it is gone")
        check(ask(up, "POST", address, ann, {"revision_id": "r1"})[0] == 404, "there is no such revision")
        check(ask(up, "POST", address, bob, {})[0] == 404, "bob knows of no place")
        again = good(ask(up, "POST", address, ann, {}))
        check("scene.json" in [one["path"] for one in again["files"]], again)
        about = json.loads(ask(up, "GET", f"{address}/files/place.json", ann)[2])
        check(about["name"] == "Lava Run", about)
        check(ask(up, "POST", address, ann, {"replace": True})[0] == 404, "nothing to replace it by")
    finally:
        up.kill()


def job_end(up, token, job):
    def look():
        status = good(ask(up, "GET", f"/api/jobs/{job}", token))
        return status if status["status"] in ("done", "failed", "cancelled") else None
    return wait_until(look, "the job ends", 120)


def test_drafts_scripts_are_saved_built_and_published(program, _places, folder):
    """POST /api/script/save for accounts: conflict, build, the Lua that was made; then a revision that
    can be played."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        ann, bob = creator(up, boss, "ann"), creator(up, boss, "bob")
        place = good(ask(up, "POST", "/api/drafts", ann, {"title": "Doors"}))["place_id"]
        code = "export function onStart() { print('hello'); }\n"
        body = {"id": f"{place}/ServerScriptService/Door.ts", "code": code, "knownHash": None}
        check(ask(up, "POST", "/api/script/save", None, body)[0] == 401, "sign in first")
        check(ask(up, "POST", "/api/script/save", bob, body)[0] == 404, "another creator knows nothing")
        saved = good(ask(up, "POST", "/api/script/save", ann, body))
        check(saved["hash"] == hashlib.sha256(code.encode()).hexdigest(), saved)
        check(ask(up, "GET", f"/api/jobs/{saved['job_id']}", bob)[0] == 404, "nor of its job")
        done = job_end(up, ann, saved["job_id"])
        check(done["status"] == "done", done)
        made = [one for one in done["made"] if one["path"] == "ServerScriptService/Door.ts"]
        check(made, done)
        with open(os.path.join(folder, "data", "drafts", place, made[0]["lua"]), encoding="utf-8") as file:
            check("hello" in file.read(), "the Lua that was made")
        again = ask(up, "POST", "/api/script/save", ann, body)
        check(again[0] == 409 and json.loads(again[2])["code"] == code, again)
        history = good(ask(up, "GET", f"/api/places/{place}/draft/history/ServerScriptService/Door.ts", ann))
        check(len(history["versions"]) == 1 and history["versions"][0]["by"], history)
        read = good(ask(up, "GET", f"/api/script?id={place}/ServerScriptService/Door.ts", ann))
        check(read["code"] == code, read)
        check(ask(up, "GET", f"/api/script?id={place}/ServerScriptService/Door.ts", bob)[0] == 404, "bob")

        # A mistake is a failed job with file and line, and the script is saved all the same.
        bad = good(ask(up, "POST", "/api/script/save", ann,
                       {"id": f"{place}/ServerScriptService/Bad.lua", "code": "x = = 1", "knownHash": None}))
        failed = job_end(up, ann, bad["job_id"])
        check(failed["status"] == "failed" and any("Bad.lua:1" in line for line in failed["log"]), failed)
        check(ask(up, "POST", f"/api/places/{place}/draft/publish", ann, {"notes": ""})[0] == 400, "notes")
        check(ask(up, "POST", f"/api/places/{place}/draft/publish", bob, {"notes": "x"})[0] == 404, "bob")
        begun = good(ask(up, "POST", f"/api/places/{place}/draft/publish", ann, {"notes": "first"}), 202)
        check(job_end(up, ann, begun["job_id"])["status"] == "failed", "a broken draft is no revision to play")
        tag = tag_of(b"x = = 1")
        good(ask(up, "DELETE", f"/api/places/{place}/draft/files/ServerScriptService/Bad.lua", ann, If_Match=tag))
        begun = good(ask(up, "POST", f"/api/places/{place}/draft/publish", ann,
                         {"notes": "second", "channel": "live"}), 202)
        end = job_end(up, ann, begun["job_id"])
        check(end["status"] == "done" and end["result_revision_id"] == "r2", end)
        page = good(ask(up, "GET", f"/api/places/{place}", ann))
        check(page["live"] == "r2", page)

        # A second draft of it begins from a revision.
        check(ask(up, "POST", f"/api/places/{place}/draft", ann, {})[0] == 409, "there is one")
    finally:
        up.kill()


def test_drafts_killed(program, _places, folder):
    """kill -9 while files are written: what was acknowledged is there, with its history."""
    kept = {}
    place = None
    for turn in range(6):
        up = People(program, folder, variables=SECRET)
        if place is None:
            boss = up.operator()
            ann = creator(up, boss, "ann")
            place = good(ask(up, "POST", "/api/drafts", ann, {"title": "k"}))["place_id"]
        address = f"/api/places/{place}/draft"
        for path, data in kept.items():
            check(ask(up, "GET", f"{address}/files/{path}", ann)[2] == data, f"{path} is lost")
        last = {}

        def work(turn=turn, up=up, last=last, address=address):
            try:
                for number in range(1000):
                    path, data = f"notes{turn}.txt", f"{turn} {number}".encode()
                    before = last.get(path)
                    known = {"If_Match": tag_of(before)} if before else {"If_None_Match": "*"}
                    if ask(up, "PUT", f"{address}/files/{path}", ann, data, **known)[0] != 200:
                        return
                    last[path] = data
            except (OSError, http.client.HTTPException):
                return

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(0.05 + 0.07 * turn)
        up.process.send_signal(signal.SIGKILL)
        up.process.wait()
        thread.join()
        up.kill()
        # One more may have been written than was answered.
        kept.update(last)
        file = os.path.join(folder, "data", "drafts", place, f"notes{turn}.txt")
        if os.path.exists(file):
            with open(file, "rb") as opened:
                now = opened.read()
            at = int(last[f"notes{turn}.txt"].split()[1]) if last else -1
            check(now in (f"{turn} {at}".encode(), f"{turn} {at + 1}".encode()), f"{now} after {at}")
            kept[f"notes{turn}.txt"] = now
    up = People(program, folder, variables=SECRET)
    try:
        for path, data in kept.items():
            check(ask(up, "GET", f"{address}/files/{path}", ann)[2] == data, f"{path} is lost")
            versions = good(ask(up, "GET", f"{address}/history/{path}", ann))["versions"]
            check(versions[0]["hash"] == hashlib.sha256(data).hexdigest(), versions[:2])
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

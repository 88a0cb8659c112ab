"""Saving scripts over HTTP while a world runs: the replies that an editor gets, the files on disk, and who
may not save."""

import fcntl
import hashlib
import http.client
import json
import os
import shutil
import socket
import sys
import threading

from support import WebSocket, World, check, run, wait_until

KILL = "Workspace/KillBrick.lua"


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def make_place(places, folder):
    place = os.path.join(folder, "mine")
    shutil.copytree(os.path.join(places, "obby"), place,
                    ignore=shutil.ignore_patterns(".sandlot"))
    return place


def read(place, path):
    with open(os.path.join(place, path), encoding="utf-8") as file:
        return file.read()


def save(world, path, code, known, headers=None, place="mine"):
    status, _, body = world.request("POST", "/api/script/save",
                                    {"id": f"{place}/{path}", "code": code, "knownHash": known},
                                    headers)
    return status, json.loads(body)


def job(world, job_id, method="GET"):
    status, _, body = world.request(method, f"/api/jobs/{job_id}")
    return status, json.loads(body)


def ended(world, job_id):
    def look():
        status, answer = job(world, job_id)
        check(status == 200, f"{status} {answer}")
        return answer if answer["status"] not in ("waiting", "running") else None
    return wait_until(look, "the job ends", 60.0)


def with_world(test):
    def wrapped(program, places, folder):
        place = make_place(places, folder)
        world = World(program, place, os.path.join(folder, "data"))
        try:
            test(world, place)
            world.stop()
        finally:
            world.kill()
    return wrapped


def save_and_build(world, place):
    status, _, body = world.request("GET", f"/api/script?id=mine/{KILL}")
    script = json.loads(body)
    check(status == 200 and script["code"] == read(place, KILL), f"{status} {script}")
    check(script["hash"] == script["codeHash"] == hash_of(script["code"]), f"{script}")
    # What the editor knows is there: written, built, and the scene names the new source.
    code = script["code"] + "-- changed: grün\n"
    status, answer = save(world, KILL, code, script["hash"])
    check(status == 200, f"{status} {answer}")
    check(answer["id"] == f"mine/{KILL}" and answer["path"] == KILL, f"{answer}")
    check(answer["hash"] == answer["codeHash"] == hash_of(code), f"{answer}")
    check(read(place, KILL) == code, "it is on disk")
    done = ended(world, answer["job_id"])
    check(done["status"] == "done" and done["errors"] == 0 and done["progress_pct"] == 100,
          f"{done}")
    check(done["compiled"] == 1 and int(done["result_revision_id"]) >= 1, f"{done}")
    scene = json.loads(read(place, "scene.json"))
    refs = [e["scriptRef"] for e in scene["entities"]
            if e.get("scriptRef", {}).get("path") == KILL]
    check(len(refs) == 4 and all(ref["codeHash"] == hash_of(code) for ref in refs), f"{refs}")
    check(not os.path.exists(os.path.join(place, ".sandlot/server")), "with --data no artifacts")
    # An error: saved all the same, and the job says where.
    status, answer = save(world, "Workspace/Broken.lua", "local x = = 1\n", None)
    check(status == 200, f"{status} {answer}")
    done = ended(world, answer["job_id"])
    check(done["status"] == "failed" and done["errors"] == 1, f"{done}")
    check(any(line.startswith("Workspace/Broken.lua:1") and "[syntax]" in line
              for line in done["log"]), f"{done}")
    check(done["result_revision_id"] is None, f"{done}")
    # What is no text at all: the same.
    for code, problem in (("-- a\n-\u0001\n", "a text has no control characters"),
                          ("-- a\na\0b", "is no UTF-8")):
        status, answer = save(world, "Workspace/Broken.lua", code, hash_of(read(
            place, "Workspace/Broken.lua")))
        check(status == 200, f"{status} {answer}")
        done = ended(world, answer["job_id"])
        check(done["status"] == "failed" and done["errors"] == 1, f"{done}")
        check(any(line.startswith("Workspace/Broken.lua:2") and problem in line
                  for line in done["log"]), f"{done}")


def save_conflicts(world, place):
    before = read(place, KILL)
    status, answer = save(world, KILL, "mine", hash_of("what I saw"))
    check(status == 409 and answer["error"]["code"] == "conflict", f"{status} {answer}")
    check(answer["knownHash"] == hash_of("what I saw") and answer["hash"] == hash_of(before) and
          answer["code"] == before, f"{answer}")
    status, answer = save(world, KILL, "mine", None)
    check(status == 409 and answer["knownHash"] is None and answer["code"] == before, f"{answer}")
    status, answer = save(world, "Workspace/Gone.lua", "mine", hash_of("x"))
    check(status == 409 and answer["hash"] is None and answer["code"] is None, f"{answer}")
    check(read(place, KILL) == before, "nothing was written")
    check(not os.path.exists(os.path.join(place, "Workspace/Gone.lua")), "nothing was written")


def save_refusals(world, place):
    before = sorted(os.listdir(os.path.join(place, "Workspace")))
    outside = os.path.join(os.path.dirname(place), "secret.lua")
    with open(outside, "w", encoding="utf-8") as file:
        file.write("secret")
    os.symlink(outside, os.path.join(place, "Workspace/Link.lua"))
    rows = [("Workspace/../../secret.lua", 400), ("../secret.lua", 400), ("scene.json", 400),
            ("Nowhere/x.lua", 400), ("Workspace/x.txt", 400), ("Workspace/.x.lua", 400),
            ("Workspace/Link.lua", 403), (".sandlot/x.lua", 400), ("Workspace/a\\b.lua", 400),
            ("ReplicatedStorage/lualib_bundle.lua", 400)]
    for path, want in rows:
        status, answer = save(world, path, "x", None)
        check(status == want and answer["error"]["message"], f"{path}: {status} {answer}")
        status, _, body = world.request("GET", f"/api/script?id=mine/{path}".replace("\\", "%5C"))
        check(status == want, f"{path}: {status} {body}")
        check(b"secret\"" not in body, f"{body}")
    status, answer = save(world, KILL, "x", None, place="other")
    check(status == 404 and '"mine"' in answer["error"]["message"], f"{status} {answer}")
    status, answer = save(world, "Workspace/Big.lua", "x" * (256 * 1024 + 1), None)
    check(status == 413, f"{status} {answer}")
    link = http.client.HTTPConnection("127.0.0.1", world.port, timeout=10)
    link.request("POST", "/api/script/save", '{"id": "mine/Workspace/Big.lua", "knownHash": null, '
                 '"code": "' + "\\u002d" * (256 * 1024) + '"}')
    answer = link.getresponse()
    check(answer.status == 200, f"every byte escaped: {answer.status} {answer.read()}")
    link.close()
    for body in ({}, {"id": f"mine/{KILL}"}, {"id": 3, "code": ""}, [], "x",
                 {"id": f"mine/{KILL}", "code": "x", "knownHash": 3},
                 {"id": f"mine/{KILL}", "code": "x", "knownHash": "abc"},
                 {"id": f"mine/{KILL}\0", "code": "x", "knownHash": None}):
        status, _, answer = world.request("POST", "/api/script/save", body)
        check(status == 400 and b'"error"' in answer, f"{body}: {status} {answer}")
    for code, rule in ((r"a\ud800b", "surrogate"), (r"\udc00", "surrogate"), (r"\x", "escape")):
        link = http.client.HTTPConnection("127.0.0.1", world.port, timeout=10)
        link.request("POST", "/api/script/save",
                     f'{{"id": "mine/{KILL}", "knownHash": null, "code": "{code}"}}')
        answer = link.getresponse()
        message = json.loads(answer.read())["error"]["message"]
        check(answer.status == 400 and "$.code" in message and rule in message,
              f"{answer.status} {message}")
        link.close()
    check(world.request("GET", "/api/script")[0] == 400, "no id")
    for name in ("mine/Workspace/%ff.lua", "mine/%ed%a0%80/x.lua", "%ff", "mine%ff/Workspace/x.lua"):
        status, _, answer = world.request("GET", f"/api/script?id={name}")
        check(status == 400 and "UTF-8" in json.loads(answer)["error"]["message"],
              f"{name}: {status} {answer}")
    check(job(world, "0" * 32)[0] == 404 and job(world, "0" * 32, "DELETE")[0] == 404, "no job")
    check(world.request("PUT", "/api/script/save", {})[0] == 405, "no such method")
    # Pages of other sites, and names that a stranger made to point here.
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"},
                    {"Host": "evil.example"},
                    {"Origin": "http://evil.example", "Host": "evil.example"}):
        want = 421 if "Host" in headers else 403
        status, answer = save(world, "Workspace/Evil.lua", "x", None, headers)
        check(status == want, f"{headers}: {status} {answer}")
        check(world.request("GET", f"/api/script?id=mine/{KILL}", None, headers)[0] == want,
              f"{headers}")
        check(world.request("DELETE", "/api/jobs/x", None, headers)[0] == want, f"{headers}")
    origin = {"Origin": f"http://127.0.0.1:{world.port}"}
    status, answer = save(world, "Workspace/Ours.lua", "return 1", None, origin)
    check(status == 200, f"our own page: {status} {answer}")
    check(sorted(os.listdir(os.path.join(place, "Workspace"))) ==
          sorted(before + ["Big.lua", "Link.lua", "Ours.lua"]), "nothing else was written")
    with open(outside, encoding="utf-8") as file:
        check(file.read() == "secret", "nothing outside was written")


def save_together(world, place):
    """Ten editors began from the same text."""
    known = hash_of(read(place, KILL))
    answers = {}
    def one(number):
        answers[number] = save(world, KILL, f"-- {number}\n", known)
    threads = [threading.Thread(target=one, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [number for number, (status, _) in answers.items() if status == 200]
    check(len(winners) == 1, f"{answers}")
    text = read(place, KILL)
    check(text == f"-- {winners[0]}\n", text)
    for number, (status, answer) in answers.items():
        check(number in winners or (status == 409 and answer["code"] == text), f"{answer}")
    ended(world, answers[winners[0]][1]["job_id"])


def cancel_a_build(program, places, folder):
    """A build that cannot go on until it is cancelled: the lock of the artifacts is ours. The file
    stays saved, and the next save builds it."""
    place = make_place(places, folder)
    world = World(program, place, None)
    try:
        code = read(place, KILL) + "-- once\n"
        with open(os.path.join(place, ".sandlot/build.lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            status, answer = save(world, KILL, code, hash_of(read(place, KILL)))
            check(status == 200, f"{answer}")
            held = answer["job_id"]
            wait_until(lambda: job(world, held)[1]["stage"] == "write", "the build waits", 60.0)
            status, told = job(world, held)
            check(status == 200 and told["status"] == "running", f"{status} {told}")
            status, told = job(world, held, "DELETE")
            check(status == 200 and told["job_id"] == held, f"{status} {told}")
            done = ended(world, held)
            check(done["status"] == "cancelled" and done["result_revision_id"] is None, f"{done}")
            check(read(place, KILL) == code, "it stays saved")
            # One that has ended stays as it is.
            status, told = job(world, held, "DELETE")
            check(status == 200 and told["status"] == "cancelled", f"{status} {told}")
        status, answer = save(world, KILL, code + "-- twice\n", hash_of(code))
        check(status == 200 and answer["job_id"] != held, f"{answer}")
        check(ended(world, answer["job_id"])["status"] == "done", f"{answer}")
        status, told = job(world, answer["job_id"], "DELETE")
        check(status == 200 and told["status"] == "done", f"{status} {told}")
        world.stop()
    finally:
        world.kill()


test_save_and_build = with_world(save_and_build)
test_save_conflicts = with_world(save_conflicts)
test_save_refusals = with_world(save_refusals)
test_save_together = with_world(save_together)


def test_save_over_http(program, places, folder):
    """All of these; each has a world of its own."""
    for name, part in (("build", test_save_and_build), ("conflicts", test_save_conflicts),
                       ("refusals", test_save_refusals), ("together", test_save_together),
                       ("cancel", cancel_a_build)):
        inner = os.path.join(folder, name)
        os.mkdir(inner)
        part(program, places, inner)


class OpenWorld(World):
    """One that does not listen on a loopback address."""

    def wait_line(self, pattern, seconds=20.0):
        return super().wait_line(pattern.replace(r"127\.0\.0\.1", r"[^/]+"), seconds)


def priorities(world):
    """Of all processes that the host started, by process id; a larger number is less."""
    found = {}
    for task in os.listdir(f"/proc/{world.process.pid}/task"):
        with open(f"/proc/{world.process.pid}/task/{task}/children", encoding="ascii") as file:
            for pid in map(int, file.read().split()):
                found[pid] = os.getpriority(os.PRIO_PROCESS, pid)
    return found


def test_save_makes_artifacts(program, places, folder):
    place = make_place(places, folder)
    world = World(program, place, None)
    try:
        before = priorities(world)
        status, answer = save(world, "Workspace/New.lua", "print(1)\n", None)
        check(status == 200, f"{status} {answer}")
        done = ended(world, answer["job_id"])
        # Worlds go before builds.
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        check(set(before.values()) == {mine}, f"the world is as we are: {before}")
        started = {pid: nice for pid, nice in priorities(world).items() if pid not in before}
        check(set(started.values()) == {max(mine, 10)}, f"builds are nice: {started}")
        manifest = json.loads(read(place, ".sandlot/server/soul/manifest.json"))
        check(manifest["version"] == int(done["result_revision_id"]) and
              any(row["path"] == "Workspace/New.lua" for row in manifest["scripts"]), f"{manifest}")
        check('orkspace/New"' in read(place, ".sandlot/types/modules.d.ts"),
              "editors know the new module")
        world.stop()
    finally:
        world.kill()


def test_save_in_a_folder_without_a_name(program, places, folder):
    """One whose name is not UTF-8, which no JSON can hold."""
    place = os.path.join(folder, os.fsdecode(b"mi\xffne"))
    os.rename(make_place(places, folder), place)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        for name in ("mi%ffne", "mine"):
            status, _, body = world.request("GET", f"/api/script?id={name}/{KILL}")
            check(status == 400 and "rename it" in json.loads(body)["error"]["message"],
                  f"{status} {body}")
        status, answer = save(world, "Workspace/New.lua", "x", None)
        check(status == 400 and "rename it" in answer["error"]["message"], f"{status} {answer}")
        world.stop()
    finally:
        world.kill()


def test_save_versions_rise_elsewhere(program, places, folder):
    """Where nothing is written into the place there is no manifest to count from; the note beside
    the key counts, also for the next world."""
    place, data = make_place(places, folder), os.path.join(folder, "data")
    versions = []
    for start in (0, 2):
        world = World(program, place, data)
        try:
            for i in range(start, start + 2):
                status, answer = save(world, f"Workspace/New{i}.lua", f"print({i})\n", None)
                check(status == 200, f"{status} {answer}")
                versions.append(int(ended(world, answer["job_id"])["result_revision_id"]))
            world.stop()
        finally:
            world.kill()
    check(versions == [2, 3, 4, 5], f"{versions}")
    root = hashlib.sha256(os.path.realpath(place).encode()).hexdigest()[:16]
    check(read(data, f"ticket.key.version.{root}").startswith("version 5\n"), "noted")
    check(not os.path.exists(os.path.join(place, ".sandlot/data")), "and nothing in the place")


def obstacles(home, is_own):
    """What keeps a build from beginning, in the folder with the key and the cache: what it is called, and
    what is to be done and undone."""
    def swapped(name, text):
        path = os.path.join(home, name)
        def do():
            os.rename(path, path + ".away")
            if text is not None:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            else:
                os.mkdir(path)
        def undo():
            os.remove(path) if text is not None else os.rmdir(path)
            os.rename(path + ".away", path)
        return do, undo
    yield "ticket.key", *swapped("data/ticket.key" if is_own else "ticket.key", "junk")
    yield "ticket.key", *swapped("data/ticket.key" if is_own else "ticket.key", None)
    yield "cache", *swapped("cache", "no folder")
    if is_own:
        yield ".sandlot", lambda: os.chmod(home, 0o777), lambda: os.chmod(home, 0o700)
    if is_own and os.getuid() == 0:
        yield ".sandlot", lambda: os.chown(home, 65534, 65534), lambda: os.chown(home, 0, 0)


def test_save_tells_no_paths(program, places, folder):
    """Where a place is on the server is for its operator: in the world's log, and in no answer."""
    root = os.path.join(folder, "private parts", "of this server")
    for is_own in (True, False):
        inner = os.path.join(root, "own" if is_own else "apart")
        os.makedirs(inner)
        place, data = make_place(places, inner), os.path.join(inner, "data")
        world = World(program, place, None if is_own else data)
        try:
            for number, (name, do, undo) in enumerate(
                    obstacles(os.path.join(place, ".sandlot") if is_own else data, is_own)):
                do()
                status, answer = save(world, f"Workspace/New{number}.lua", "print(1)\n", None)
                check(status == 200, f"{name}: {status} {answer}")
                done = ended(world, answer["job_id"])
                undo()
                check(done["status"] == "failed" and name in done["reason"], f"{name}: {done}")
                told = json.dumps(done)
                check("private" not in told and "this server" not in told and folder not in told,
                      f"{name}: {done}")
                world.wait_line("build: a build failed: .*" + name.replace(".", r"\."))
            check(any("a build failed: " + inner in line for line in world.lines), "\n".join(world.lines))
            status, answer = save(world, "Workspace/Last.lua", "print(1)\n", None)
            check(ended(world, answer["job_id"])["status"] == "done", f"{answer}")
            world.stop()
        finally:
            world.kill()


def test_save_is_for_development(program, places, folder):
    """A world that others can reach gives nothing away and takes nothing."""
    place = make_place(places, folder)
    before = read(place, KILL)
    world = OpenWorld(program, place, os.path.join(folder, "data"), "--address", "0.0.0.0")
    try:
        status, answer = save(world, KILL, "x", hash_of(before))
        check(status == 403 and "development" in answer["error"]["message"], f"{status} {answer}")
        for path in (f"/api/script?id=mine/{KILL}", "/api/jobs/" + "0" * 32):
            check(world.request("GET", path)[0] == 403, path)
        check(read(place, KILL) == before, "nothing was written")
        world.stop()
    finally:
        world.kill()


def raw_status(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
        link.sendall(text.encode())
        return int(link.recv(4096).split()[1])


def test_save_through_a_proxy(program, places, folder):
    """A proxy on the same machine makes everybody local: what passed one gets nothing that only
    development gives."""
    place = make_place(places, folder)
    before = read(place, KILL)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        script, room = f"/api/script?id=mine/{KILL}", f"/api/rooms/{world.room}"
        check(world.request("GET", script)[0] == 200, "directly")
        for name, value in (("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9"),
                            ("x-real-ip", "203.0.113.9"), ("Via", "1.1 proxy"),
                            ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "a.example"),
                            ("x-forwarded-port", "443"), ("X-Forwarded-Server", "a.example"),
                            ("CF-Connecting-IP", "203.0.113.9"), ("True-Client-IP", "203.0.113.9")):
            headers = {name: value}
            status, answer = save(world, KILL, "x", hash_of(before), headers)
            check(status == 403 and answer["error"]["code"] == "proxied" and
                  "--address" in answer["error"]["message"], f"{headers}: {status} {answer}")
            for method, path in (("GET", script), ("GET", "/api/jobs/" + "0" * 32),
                                 ("DELETE", "/api/jobs/" + "0" * 32), ("POST", "/login"),
                                 ("POST", "/join")):
                body = {} if method == "POST" else None
                check(world.request(method, path, body, headers)[0] == 403, f"{path} {headers}")
            link = WebSocket(world.port, room + "/ws", headers=(f"{name}: {value}",))
            check(link.status == 403, f"{headers}: {link.head}")
            for path in ("/healthz", "/metrics", room):
                check(world.request("GET", path, None, headers)[0] == 200, f"{path} {headers}")
        # As nginx asks when nothing is configured.
        check(raw_status(world.port, f"GET {script} HTTP/1.0\r\nHost: 127.0.0.1:{world.port}\r\n"
                                     "Connection: close\r\n\r\n") == 403, "HTTP/1.0")
        check(read(place, KILL) == before, "nothing was written")
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Plain-language souls through `sandlot build` and `sandlot soul`, against our own model server, which
returns what each test needs: see support.py and model_server.py."""

import json
import os
import pty
import re
import select
import shutil
import signal
import ssl
import subprocess
import sys
import time

import model_server
from model_server import KEY, Answer, ModelServer, lua, message
from support import check, run, wait_until

GOOD = "function onStart(self)\n    print(\"the door is here\")\nend"
OTHER = "function onStart(self)\n    print(\"another door\")\nend"
BROKEN = "function onStart(self"
SOUL = "Open when somebody steps on the mat.\n"
KEPT = "Workspace/Door.soul.lua"
SCENE = {"format": 1, "entities": [
    {"id": 1, "name": "Start", "type": "spawn"},
    {"id": 2, "name": "Door", "transform": {"position": [4, 1, 0]},
     "scriptRef": {"path": "Workspace/Door.soul"}},
    {"id": 3, "name": "Mat", "transform": {"position": [4, 0, 2]}, "trigger": True},
    {"id": 4, "name": "Rock", "transform": {"position": [400, 0, 2]}}]}


def write(place, path, text):
    full = os.path.join(place, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))


def read(place, path):
    with open(os.path.join(place, path), encoding="utf-8") as file:
        return file.read()


def exists(place, path):
    return os.path.lexists(os.path.join(place, path))


def make_place(folder, soul=SOUL, scene=None):
    place = os.path.join(folder, "place")
    write(place, "place.json", {"format": 1, "name": "Doors"})
    write(place, "scene.json", scene or SCENE)
    if soul is not None:
        write(place, "Workspace/Door.soul", soul)
    return place


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.text = out + err

    def codes(self):
        return re.findall(r"\[(soul[a-z-]*)\]", self.text)


def environment(server=None, key=KEY, timeout=20, **more):
    values = {name: value for name, value in os.environ.items()
              if not name.startswith("SANDLOT_MODEL")}
    if server:
        values["SANDLOT_MODEL_URL"] = server if isinstance(server, str) else server.url
    if key:
        values["SANDLOT_MODEL_KEY"] = key
    values["SANDLOT_MODEL"] = "test-model"
    values["SANDLOT_MODEL_TIMEOUT"] = str(timeout)
    values.update(more)
    return values


def command(program, arguments, values, seconds=90):
    done = subprocess.run([program, *arguments, "--allow-weak-jail"], env=values,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
    check(KEY not in done.stdout + done.stderr, "the key was printed")
    check("AddressSanitizer" not in done.stderr, done.stderr[-3000:])
    return Result(done.returncode, done.stdout, done.stderr)


def build(program, place, server=None, key=KEY, timeout=20, **more):
    return command(program, ["build", place], environment(server, key, timeout, **more))


def expect(result, code, *texts):
    check(result.code == code, f"exit code {result.code}, not {code}:\n{result.text}")
    for text in texts:
        check(text in result.text, f"does not say {text!r}:\n{result.text}")
    return result


def soul(program, *arguments, **options):
    return command(program, ["soul", *arguments], environment(**options))


def body_of(place):
    return read(place, KEPT).split("\n", 1)[1]


# --- asking -------------------------------------------------------------------------------------------

def test_soul_success(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        result = expect(build(program, place, server), 0, "soul-unreviewed")
        check(len(server.seen) == 1, "asked once")
        request = server.seen[0]
        check(request["path"] == "/v1/messages", request["path"])
        headers = {name.lower(): value for name, value in request["headers"].items()}
        check(headers["x-api-key"] == KEY, "the key")
        check(headers["anthropic-version"] == "2023-06-01", "the version")
        check(headers["content-type"] == "application/json", "the type")
        sent = request["body"]
        check(sent["model"] == "test-model" and sent["max_tokens"] > 0, str(sent)[:200])
        check([m["role"] for m in sent["messages"]] == ["user"], "one message")
        text = sent["messages"][0]["content"]
        check(SOUL.strip() in text and '"Door"' in text and '"Mat"' in text, text)
        check("Rock" not in text, "what is far away is not told")
        check("World.Find" in sent["system"], "the API")
        header, body = read(place, KEPT).split("\n", 1)
        check(body == GOOD + "\n", body)
        check(re.fullmatch(r"-- made from Door\.soul · sha256:[0-9a-f]{64} · source:[0-9a-f]{64} · "
                           r"body:[0-9a-f]{64} · reviewed:none · model:test-model", header), header)
        # Nothing has changed: nobody is asked, with a key or without.
        before = read(place, KEPT)
        expect(build(program, place, server), 0)
        expect(build(program, place, server, key=None), 0)
        expect(command(program, ["build", place, "--force"], environment(None, None)), 0)
        check(len(server.seen) == 1, "asked again")
        check(read(place, KEPT) == before, "it was written again")
        check(exists(place, ".sandlot/server/soul/Workspace/Door.rune"), "the rune")
        leftovers = [name for name in os.listdir(os.path.join(place, "Workspace"))
                     if name not in ("Door.soul", "Door.soul.lua")]
        check(not leftovers, str(leftovers))
        return result


def test_soul_no_key(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server, key=None), 1, "SANDLOT_MODEL_KEY", "soul-no-key",
               "Workspace/Door.soul")
        check(not server.seen and not exists(place, KEPT), "nothing happened")
        expect(build(program, place, server, key="two words"), 1, "SANDLOT_MODEL_KEY")
        check(not server.seen, "such a key is not sent")
        # What an editor does to a text needs none; another text does, and is told what to do.
        expect(build(program, place, server), 0)
        text = read(place, "Workspace/Door.soul")
        for same in (text.replace("\n", "\r\n"), "\ufeff" + text, text.rstrip("\n")):
            write(place, "Workspace/Door.soul", same)
            expect(build(program, place, server, key=None), 0)
        write(place, "Workspace/Door.soul", text + "And ring.\n")
        expect(build(program, place, server, key=None), 1, "has changed", "SANDLOT_MODEL_KEY",
               "sandlot soul accept DIR Workspace/Door")


def test_soul_repair(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(BROKEN), lua(GOOD)) as server:
        expect(build(program, place, server), 0)
        check(len(server.seen) == 2, f"{len(server.seen)} requests")
        messages = server.seen[1]["body"]["messages"]
        check([m["role"] for m in messages] == ["user", "assistant", "user"], str(messages)[-500:])
        check(BROKEN in messages[1]["content"], "the answer before")
        check("line 2: error" in messages[2]["content"], messages[2]["content"])
        check(messages[0] == server.seen[0]["body"]["messages"][0], "the same question")
        check(body_of(place) == GOOD + "\n", "the second answer is kept")


def test_soul_repair_of_what_does_not_exist(program, places, folder):
    place = make_place(folder)
    wrong = "function onStart(self)\n    game.Workspace.Door:Open()\nend"
    with ModelServer(lua(wrong), lua(GOOD)) as server:
        expect(build(program, place, server), 0)
        check(len(server.seen) == 2, "it is worth a round")
        check("game" in server.seen[1]["body"]["messages"][2]["content"], "which one")
        check(body_of(place) == GOOD + "\n", "the second answer is kept")
        # Nor has a library what it has not. It compiles, so after two rounds it is taken as it is.
        os.remove(os.path.join(place, KEPT))
        server.say(lua("function onStart(self)\n    World.Teleport(self)\nend"))
        expect(build(program, place, server), 0, "Teleport")
        check(len(server.seen) == 5, "two rounds")


def test_soul_repair_exhausted(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(BROKEN)) as server:
        expect(build(program, place, server), 1, "soul-broken", "Workspace/Door.soul", "2 repairs")
        check(len(server.seen) == 3, f"{len(server.seen)} requests, not 3")
        check(not exists(place, KEPT), "what is broken is not kept")
        # Two blocks are no answer either, and are sent back.
        server.say(Answer(message("```lua\na()\n```\nor\n```lua\nb()\n```")), lua(GOOD))
        expect(build(program, place, server), 0)
        check("exactly one" in server.seen[4]["body"]["messages"][2]["content"], "what is wanted")


def test_soul_refusal(program, places, folder):
    place = make_place(folder)
    with ModelServer(Answer(message("I won't.", stop="refusal"))) as server:
        expect(build(program, place, server), 1, "soul-refused", "refuses", "I won't.")
        server.say(Answer(message("CANNOT: there is no weather.")))
        expect(build(program, place, server), 1, "soul-refused", "there is no weather")
        server.say(Answer(message("")))
        expect(build(program, place, server), 1, "soul-refused")
        server.say(Answer(message("\x1b[31mred " + KEY)))
        result = expect(build(program, place, server), 1, "soul-refused", "[key]")
        check("\x1b" not in result.text, "it speaks to the terminal")
        server.say(Answer(message("```lua\n" + GOOD, stop="max_tokens")))
        expect(build(program, place, server), 1, "soul-too-long", "cut off")
        check(len(server.seen) == 5, "a refusal is not asked again")
        check(not exists(place, KEPT), "nothing is kept")


def test_soul_busy(program, places, folder):
    place = make_place(folder)
    busy = Answer(model_server.error("rate_limit_error", "slow down"), 429, {"retry-after": "2"})
    with ModelServer(busy, lua(GOOD)) as server:
        expect(build(program, place, server), 0)
        check(len(server.seen) == 2, "asked twice")
        waited = server.seen[1]["time"] - server.seen[0]["time"]
        check(waited >= 1.9, f"waited {waited} s, was asked to wait 2")
        # Longer than there is time for.
        os.remove(os.path.join(place, KEPT))
        server.say(Answer(model_server.error("rate_limit_error", "slow down"), 429,
                          {"retry-after": "3600"}))
        expect(build(program, place, server), 1, "soul-model", "3600 s")
        check(len(server.seen) == 3, "asked once")
        # Overloaded, for ever: at most three times more.
        server.say(Answer(model_server.error("overloaded_error", "Overloaded"), 529))
        expect(build(program, place, server), 1, "overloaded", "529", "later")
        check(len(server.seen) == 7, f"{len(server.seen) - 3} requests, not 4")
        # And once, out of order.
        server.say(Answer("<html>", 502, kind="text/html"), lua(GOOD))
        expect(build(program, place, server), 0)


def test_soul_refused_requests(program, places, folder):
    place = make_place(folder)
    cases = [
        (Answer(model_server.error("authentication_error", "invalid key " + KEY), 401),
         ["SANDLOT_MODEL_KEY", "401", "[key]"]),
        (Answer(model_server.error("permission_error", "no"), 403), ["SANDLOT_MODEL_KEY", "403"]),
        (Answer(model_server.error("not_found_error", "model: x"), 404), ["SANDLOT_MODEL", "404"]),
        (Answer(model_server.error("invalid_request_error", "max_tokens"), 400), ["400"]),
        (Answer("", 301, {"location": "http://127.0.0.1:1/"}), ["redirect", "SANDLOT_MODEL_URL"]),
        (Answer("", 307, {"location": "/v1/messages"}), ["redirect"]),
        (Answer("<html>hello</html>", kind="text/html"), ["JSON", "SANDLOT_MODEL_URL"]),
        (Answer(message(GOOD), kind="text/plain"), ["JSON"]),
        (Answer("hello"), ["not a model's answer"]),
        (Answer("[1,2,3]"), ["not a model's answer"]),
        (Answer("{\"type\":\"message\",\"content\":7}"), ["not a model's answer"]),
        (Answer(b"\xff\xfe{}"), ["not a model's answer"]),
        (Answer(model_server.error("api_error", "hm")), ["an error", "hm"]),
        (Answer(message("x" * (1 << 20))), ["1024 KiB"]),
        (Answer(message("```lua\n-- " + "x" * (300 << 10) + "\n```")), ["255 KiB"]),
        (Answer(message("```lua\nprint(1) -- ‮evil\n```")), ["would not see"]),
        (Answer(headers={f"x-{i}": "y" * 4000 for i in range(40)}), ["1024 KiB"]),
    ]
    with ModelServer(cases[0][0]) as server:
        for answer, texts in cases:
            server.say(answer)
            before = len(server.seen)
            expect(build(program, place, server), 1, "Workspace/Door.soul", *texts)
            check(len(server.seen) == before + 1, f"asked once: {texts}")
            check(not exists(place, KEPT), "nothing is kept")
        check(all(request["method"] == "POST" for request in server.seen), "no redirect is followed")


def test_soul_setting_that_is_none(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        for wrong in ("abc", "0", "3601", "-1", "20s"):
            if exists(place, KEPT):
                os.remove(os.path.join(place, KEPT))
            expect(build(program, place, server, timeout=wrong), 0,
                   f'warning: SANDLOT_MODEL_TIMEOUT is "{wrong}"', "1 to 3600; it is 120 now")
        result = expect(build(program, place, server, timeout="abc"), 0)  # nobody is asked
        check("TIMEOUT" not in result.text, result.text)


def test_soul_slow_and_cut(program, places, folder):
    place = make_place(folder)
    with ModelServer(model_server.silent(30)) as server:
        expect(build(program, place, server, timeout=1), 1, "within 1 s", "SANDLOT_MODEL_TIMEOUT")
        server.say(model_server.drip(30))
        expect(build(program, place, server, timeout=1), 1, "within 1 s")
        before = len(server.seen)
        server.say(model_server.cut(), lua(GOOD))
        expect(build(program, place, server), 0)
        check(len(server.seen) == before + 2, "once more after a cut")
        os.remove(os.path.join(place, KEPT))
        server.say(model_server.cut())
        expect(build(program, place, server), 1, "broke off")
    # No server any more.
    expect(build(program, place, server), 1, "cannot be reached", f"127.0.0.1:{server.port}")
    for url in ("ftp://127.0.0.1/", "file:///etc/passwd", "nonsense", "http://a:b@127.0.0.1/"):
        expect(build(program, place, url), 1, "SANDLOT_MODEL_URL")
    check(not exists(place, KEPT), "nothing is kept")


def test_soul_cancel(program, places, folder):
    place = make_place(folder)
    with ModelServer(model_server.silent(60)) as server:
        process = subprocess.Popen([program, "build", place, "--allow-weak-jail"],
                                   env=environment(server, timeout=60), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            wait_until(lambda: server.seen, "it asks")
            process.send_signal(signal.SIGINT)
            process.wait(20)
        finally:
            process.kill()
        out = process.stdout.read()
        check(process.returncode == 1 and "cancelled" in out, f"{process.returncode}: {out}")
        check(not exists(place, KEPT), "nothing is kept")


def test_soul_watch_does_not_pay_twice(program, places, folder):
    place = make_place(folder)
    with ModelServer(Answer(message("CANNOT: no."))) as server:
        log = os.path.join(folder, "log")
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen([program, "build", place, "--watch", "--allow-weak-jail"],
                                       env=environment(server), stdin=subprocess.DEVNULL,
                                       stdout=file, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: read(folder, "log").count("[soul-refused]") == 1, "a first build")
            write(place, "ServerScriptService/Main.lua", "print(1)")
            wait_until(lambda: "not asked again" in read(folder, "log"), "a second build")
            check(len(server.seen) == 1, "the same question twice")
            server.say(lua(GOOD))
            write(place, "Workspace/Door.soul", SOUL + "Please.")
            wait_until(lambda: exists(place, KEPT), "another question is asked")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def test_soul_a_build_asks_only_so_much(program, places, folder):
    """A stranger's place may have any number of souls; the operator's key pays for twenty questions."""
    place = make_place(folder, soul=None,
                       scene={"format": 1, "entities": [{"id": 1, "name": "Start", "type": "spawn"}]})
    for number in range(23):
        write(place, f"Workspace/S{number:02}.soul", SOUL)
    with ModelServer(lua(GOOD)) as server:
        result = expect(build(program, place, server), 1, "S20.soul: error: not asked",
                        "S22.soul: error: not asked", "build again, or `sandlot soul ask`")
        check(len(server.seen) == 20, f"{len(server.seen)} questions")
        check(result.codes().count("soul-questions") == 3, result.text)
        expect(soul(program, "ask", place, "Workspace/S22", server=server), 0)
        check(len(server.seen) == 21, f"{len(server.seen)} questions")
        expect(build(program, place, server), 0)
        check(len(server.seen) == 23, f"{len(server.seen)} questions")
    # Repairs are questions too.
    for number in range(23):
        os.remove(os.path.join(place, f"Workspace/S{number:02}.soul.lua"))
    with ModelServer(lua(BROKEN)) as server:
        expect(build(program, place, server), 1, "S22.soul: error: not asked")
        check(len(server.seen) == 20, f"{len(server.seen)} questions")


def test_soul_certificate(program, places, folder):
    """A server that anybody could be is not told the key."""
    if shutil.which("openssl") is None:
        return
    place = make_place(folder)
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                    "-out", certificate, "-days", "2", "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ModelServer(lua(GOOD)) as server:
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        expect(build(program, place, f"https://localhost:{server.port}/v1/messages",
                     no_proxy="localhost"), 1, "cannot be reached", "certificate")
        check(not server.seen, "it was asked")


# --- keys ---------------------------------------------------------------------------------------------

def test_soul_what_makes_it_stale(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server), 0)

        def asks(what, wanted):
            before = len(server.seen)
            expect(build(program, place, server), 0)
            got = len(server.seen) - before
            check(got == wanted, f"{what}: {got} requests, not {wanted}")

        scene = json.loads(read(place, "scene.json"))
        scene["entities"][3]["transform"]["position"] = [500, 1, 2]
        scene["entities"].append({"id": 5, "name": "Tree", "transform": {"position": [0, 0, 300]}})
        write(place, "scene.json", scene)
        asks("what is far away", 0)
        write(place, "ServerScriptService/Main.lua", "print(1)")
        write(place, "prefabs/Coin.json", {"format": 1, "kind": "prop"})
        asks("other scripts and prefabs", 0)
        scene = json.loads(read(place, "scene.json"))
        scene["entities"][2]["tags"] = ["soft"]
        write(place, "scene.json", scene)
        asks("the mat", 1)
        asks("nothing", 0)
        write(place, "Workspace/Door.soul", SOUL + "And close after two seconds.\n")
        asks("the soul", 1)
        write(place, "Workspace/Door.soul", SOUL + "And close after two seconds. Drop a coin.\n")
        asks("the soul names a prefab", 1)
        check('"prefab":"Coin"' in server.seen[-1]["body"]["messages"][0]["content"], "which is told")
        write(place, "prefabs/Coin.json", {"format": 1, "kind": "prop", "tags": ["gold"]})
        asks("the prefab that it names", 1)
        # Without a key what is stale is an error.
        write(place, "Workspace/Door.soul", SOUL)
        expect(build(program, place, server, key=None), 1, "SANDLOT_MODEL_KEY")
        # Another model is no reason.
        expect(build(program, place, server), 0)
        before = len(server.seen)
        expect(command(program, ["build", place], dict(environment(server), SANDLOT_MODEL="other")), 0)
        check(len(server.seen) == before, "another model's name asks again")


def test_soul_another_service(program, places, folder):
    place = make_place(folder, soul=None, scene={"format": 1, "entities": [
        {"id": 1, "name": "Start", "type": "spawn"}]})
    code = "print(\"hello\")"
    write(place, "ServerScriptService/Hello.soul", "Say hello.")
    with ModelServer(lua(code)) as server:
        expect(build(program, place, server), 0)
        system = server.seen[0]["body"]["system"]
        check("KillPlayer" in system and "SpawnLocal" not in system, "the server's API")
        for name in ("Hello.soul", "Hello.soul.lua"):
            os.makedirs(os.path.join(place, "StarterGui"), exist_ok=True)
            os.rename(os.path.join(place, "ServerScriptService", name),
                      os.path.join(place, "StarterGui", name))
        expect(build(program, place, server), 0)
        check(len(server.seen) == 2, "another service is another prompt")
        system = server.seen[1]["body"]["system"]
        check("KillPlayer" not in system and "SpawnLocal" in system, "the client's API")


# --- review -------------------------------------------------------------------------------------------

def states(program, place):
    result = soul(program, "list", place, "--json")
    expect(result, 0)
    return {item["path"]: item for item in json.loads(result.out)["souls"]}


def test_soul_accept(program, places, folder):
    place = make_place(folder)
    check(states(program, place)["Workspace/Door"]["state"] == "missing", "nothing yet")
    expect(soul(program, "accept", place, "Workspace/Door", "--yes"), 1, "build the place first")
    with ModelServer(lua(GOOD), lua(OTHER)) as server:
        expect(build(program, place, server), 0, "soul-unreviewed")
        item = states(program, place)["Workspace/Door"]
        check(item["state"] == "fits" and not item["reviewed"] and not item["edited"], str(item))
        expect(soul(program, "accept", place), 2, "--yes")  # no terminal
        result = expect(soul(program, "accept", place, "--yes"), 0, "accepted")
        check("+function onStart(self)" in result.out and "never reviewed" in result.out, result.out)
        result = expect(build(program, place, server), 0)
        check("soul-" not in result.text, result.text)
        expect(soul(program, "accept", place, "--yes"), 0, "nothing to review")
        # Another text, another Lua: the difference from what was accepted.
        write(place, "Workspace/Door.soul", SOUL + "Differently.")
        check(states(program, place)["Workspace/Door"]["state"] == "stale", "stale")
        expect(soul(program, "accept", place, "--yes"), 1, "stale")
        expect(build(program, place, server), 0, "soul-unreviewed")
        result = expect(soul(program, "accept", place, "--yes", "--json"), 0)
        item = json.loads(result.out)["souls"][0]
        check(item["accepted"] and "-    print(\"the door is here\")\n+    print(\"another door\")\n"
              in item["diff"], str(item))
        check(states(program, place)["Workspace/Door"]["reviewed"], "reviewed")
        check(len(server.seen) == 2, "asked twice in all")


def test_soul_accept_shows_what_nobody_here_has_read(program, places, folder):
    """A stranger's place says that nearly all of the script was reviewed, and brings that text along."""
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server), 0)
    expect(soul(program, "accept", place, "--yes"), 0, "accepted")
    kept = read(place, KEPT)
    review = re.search(r"reviewed:([0-9a-f]{64})", kept)[1]
    stranger = os.path.join(folder, "stranger")
    shutil.copytree(place, stranger)
    base = kept.split("\n", 1)[1]
    write(stranger, f".sandlot/reviewed/{review}.lua", base)
    for changed in (kept, kept + "print('and more')\n"):
        write(stranger, KEPT, re.sub(r"(sha256|source):[0-9a-f]{64}", r"\1:" + "0" * 64, changed))
        result = expect(soul(program, "accept", stranger, "Workspace/Door", "--yes"), 0,
                        "+function onStart(self)", "reviewed elsewhere")
        check("is the one that was reviewed" not in result.text, result.text)
    # Their data folder is not trusted, so nothing was stored there; ours is.
    shutil.rmtree(os.path.join(stranger, ".sandlot"))
    write(stranger, KEPT, kept + "print('more')\n")
    expect(soul(program, "accept", stranger, "--yes"), 0, "+function onStart(self)")
    write(stranger, KEPT, read(stranger, KEPT) + "print('less')\n")
    result = expect(soul(program, "accept", stranger, "--yes"), 0, "+print('less')")
    check("+function onStart(self)" not in result.text, result.text)


def test_soul_accept_asks_on_a_terminal(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server), 0)
    for answer, code in ((b"n\n", 1), (b"\n", 1), (b"y\n", 0)):
        master, slave = pty.openpty()
        process = subprocess.Popen([program, "soul", "accept", place, "--allow-weak-jail"],
                                   stdin=slave, stdout=slave, stderr=slave, env=environment(),
                                   close_fds=True)
        os.close(slave)
        shown = b""
        try:
            end = time.monotonic() + 30
            while b"[y/N]" not in shown and time.monotonic() < end:
                if select.select([master], [], [], 0.2)[0]:
                    shown += os.read(master, 4096)
            check(b"[y/N]" in shown and b"\x1b[32m+" in shown, repr(shown))
            os.write(master, answer)
            process.wait(20)
        finally:
            process.kill()
            os.close(master)
        check(process.returncode == code, f"{answer}: {process.returncode}")
        check(("reviewed:none" in read(place, KEPT)) == (code == 1), "recorded")


def test_soul_edited_by_hand(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server), 0)
        mine = read(place, KEPT).replace("the door is here", "my door")
        write(place, KEPT, mine)
        expect(build(program, place, server), 0, "soul-edited", "by hand")
        check(states(program, place)["Workspace/Door"]["edited"], "edited")
        # Its lines are those of the kept file.
        write(place, KEPT, mine.replace("print(", "show("))
        expect(build(program, place, server), 0, KEPT + ":3: warning: show")
        write(place, KEPT, mine)
        # The soul changes too: a person decides.
        write(place, "Workspace/Door.soul", SOUL + "More.")
        expect(build(program, place, server), 1, "soul-edited", "Workspace/Door.soul.lua",
               "sandlot soul accept")
        expect(soul(program, "ask", place, "Workspace/Door", server=server), 1, "edited by hand")
        check(read(place, KEPT) == mine and len(server.seen) == 1, "it stays, and nobody was asked")
        expect(soul(program, "accept", place, "--yes"), 1, "stale")
        expect(soul(program, "accept", place, "Workspace/Door.soul", "--yes"), 0, "accepted")
        result = expect(build(program, place, server), 0)
        check("soul-" not in result.text and "my door" in read(place, KEPT), result.text)
        # It is still a hand's work.
        write(place, "Workspace/Door.soul", SOUL)
        expect(build(program, place, server), 1, "soul-edited")
        os.remove(os.path.join(place, KEPT))
        expect(build(program, place, server), 0)
        check(body_of(place) == GOOD + "\n" and len(server.seen) == 2, "made again")


def test_soul_written_by_hand(program, places, folder):
    place = make_place(folder)
    write(place, KEPT, GOOD + "\n")
    expect(build(program, place, None, key=None), 1, "soul-edited", "accept")
    check(states(program, place)["Workspace/Door"]["state"] == "foreign", "foreign")
    expect(soul(program, "accept", place, "--yes"), 1, "name it")
    expect(soul(program, "accept", place, "Workspace/Door", "--yes"), 0)
    result = expect(build(program, place, None, key=None), 0)
    check("soul-" not in result.text, result.text)
    check(" · body:none · " in read(place, KEPT), read(place, KEPT))


def test_soul_tampered_header(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server), 0)
        good = read(place, KEPT)
        # Only the hash of the prompt differs: older, used, and reported as such.
        write(place, KEPT, re.sub(r"sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, good))
        expect(build(program, place, server), 0, "soul-older")
        # Both: stale, and as the model wrote it: made again.
        write(place, KEPT, re.sub(r"(sha256|source):[0-9a-f]{64}", r"\1:" + "0" * 64, good))
        expect(build(program, place, server), 0)
        check(len(server.seen) == 2 and read(place, KEPT) == good, "made again, the same")
        # The body's hash: as if edited, which is never overwritten.
        write(place, KEPT, re.sub(r"body:[0-9a-f]{64}", "body:" + "0" * 64, good))
        expect(build(program, place, server), 0, "soul-edited")
        # A review of something else does not count.
        write(place, KEPT, good.replace("reviewed:none", "reviewed:" + "0" * 64))
        expect(build(program, place, server), 0, "soul-unreviewed")
        # A line that is not of the form: somebody's own file.
        for bad in (good.replace(" · ", " | "), good[1:], " " + good,
                    good.replace("sha256:", "md5:"), good.replace("\n", " x\n", 1), ""):
            write(place, KEPT, bad)
            expect(build(program, place, server), 1, "soul-edited")
            check(read(place, KEPT) == bad, "it stays")
        # Other ends of lines are no edit.
        write(place, KEPT, good.replace("\n", "\r\n"))
        result = expect(build(program, place, server), 0, "soul-unreviewed")
        check("soul-edited" not in result.text, result.text)
        check(len(server.seen) == 2, "nobody else was asked")


def test_soul_links(program, places, folder):
    place = make_place(folder)
    outside = os.path.join(folder, "outside.lua")
    with open(outside, "w", encoding="ascii") as file:
        file.write("print('outside')\n")
    with ModelServer(lua(GOOD)) as server:
        os.symlink(outside, os.path.join(place, KEPT))
        expect(build(program, place, server), 1, "link")
        os.remove(os.path.join(place, KEPT))
        check(not server.seen, "nobody was asked")

        # A link that appears while the model thinks.
        def swap(handler):
            os.symlink(outside, os.path.join(place, KEPT))
            data = message(f"```lua\n{GOOD}\n```").encode()
            handler.send_response(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        server.say(Answer(act=swap))
        expect(build(program, place, server), 1, "link")
        check(os.path.islink(os.path.join(place, KEPT)), "it stays")
        os.remove(os.path.join(place, KEPT))

        # Somebody saves meanwhile.
        def save(handler):
            write(place, KEPT, "-- mine\n")
            data = message(f"```lua\n{GOOD}\n```").encode()
            handler.send_response(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        server.say(Answer(act=save))
        expect(build(program, place, server), 1, "meanwhile")
        check(read(place, KEPT) == "-- mine\n", "it stays")
        os.remove(os.path.join(place, KEPT))

        # The folder itself is exchanged.
        def exchange(handler):
            os.rename(os.path.join(place, "Workspace"), os.path.join(folder, "Moved"))
            os.symlink(folder, os.path.join(place, "Workspace"))
            data = message(f"```lua\n{GOOD}\n```").encode()
            handler.send_response(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        server.say(Answer(act=exchange))
        expect(build(program, place, server), 1)
        check(not os.path.exists(os.path.join(folder, "Door.soul.lua")), "nothing is written outside")
    with open(outside, encoding="ascii") as file:
        check(file.read() == "print('outside')\n", "outside is as it was")


def test_soul_bad_sources(program, places, folder):
    place = make_place(folder, soul="  \n\t\n")
    with ModelServer(lua(GOOD)) as server:
        expect(build(program, place, server), 1, "is empty")
        write(place, "Workspace/Door.soul", "word " * 4000)
        expect(build(program, place, server), 1, "16 KiB")
        with open(os.path.join(place, "Workspace/Door.soul"), "wb") as file:
            file.write(b"open \xff the door")
        expect(build(program, place, server), 1, "UTF-8")
        with open(os.path.join(place, "Workspace/Door.soul"), "wb") as file:
            file.write(b"open \0 the door")
        expect(build(program, place, server), 1, "UTF-8")
        write(place, "Workspace/Door.soul", SOUL)
        write(place, "scene.json", "{\"format\":1,\"entities\":[{\"id\":\"x\"}]}")
        expect(build(program, place, server), 1, "scene.json")
        check(not server.seen, "nobody was asked")


def test_soul_command_line(program, places, folder):
    place = make_place(folder)
    with ModelServer(lua(GOOD), lua(OTHER)) as server:
        expect(soul(program, "ask", place, "Workspace/Door", server=server), 0, "written, 0 repairs")
        expect(soul(program, "ask", place, "SoulService/Workspace/Door.soul.lua", server=server), 0)
        check(body_of(place) == OTHER + "\n", "asked again, whatever was kept")
        expect(soul(program, "ask", place, "Workspace/Door", server=server, key=None), 1,
               "SANDLOT_MODEL_KEY")
    result = expect(soul(program, "list", place), 0)
    check(re.search(r"fits +unreviewed +Workspace/Door", result.out), result.out)
    expect(soul(program, "accept", place, "Workspace/Nothing", "--yes"), 1, "no such")
    expect(soul(program, "list", os.path.join(folder, "nowhere")), 1)
    expect(soul(program, "list"), 2)
    expect(soul(program, "dance", place), 2, "dance")
    expect(soul(program, "list", place, "--yes"), 2, "--yes")
    expect(soul(program, "ask", place), 2)
    expect(soul(program, "accept", place, "--json"), 2, "--yes")
    expect(soul(program, "accept", "--help"), 0, "usage")
    write(place, "Workspace/Door.soul", "")
    expect(soul(program, "list", place), 1, "is empty")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""`sandlot world` from outside: it starts, players walk, it recovers from a crash, it stops."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request

from support import (PATIENCE, Closed, Failure, Player, WebSocket, World, check, come_back, needs_file, run,
                     wait_until)


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5


def island(program, places, folder, *options):
    return World(program, os.path.join(places, "island"), os.path.join(folder, "data"), *options)


def test_walk(program, places, folder):
    world = island(program, places, folder)
    try:
        ticket = world.join(name="bo")
        check(ticket["server_address"].endswith(f"/api/rooms/{world.room}/ws"), "server_address")
        player = Player(world, ticket=ticket["ticket"])
        check(player.welcome["worldId"] == "world_island", "worldId")
        player.walk(0.3, move_z=0)
        begin = wait_until(player.position, "a position")
        player.walk(1.5)
        check(distance(begin, player.position()) > 2, f"{begin} to {player.position()}")
        status, headers, scene = world.request("GET", "/blob/" + player.welcome["sceneHash"][7:])
        check(status == 200 and len(scene) == player.welcome["sceneBytes"], "the scene")
        check("immutable" in headers["Cache-Control"], "the scene may be cached")
        # A ticket is good once.
        again = WebSocket(world.port, f"/api/rooms/{world.room}/ws")
        again.send('{"v":2,"kind":"command","seq":1,"feature":"session","action":"handshake",'
                   f'"payload":{{"ticket":"{ticket["ticket"]}"}}}}')
        check('"auth_failed"' in again.receive(), "a ticket that was used before")
        # Nor is it a sign-in, and the answer says which of the two it is.
        for token, why in ((world.join(name="bo")["ticket"], b"this is a ticket"),
                           ("nonsense", b"ask /login for a new one")):
            status, _, body = world.request("POST", "/join", {},
                                            {"Authorization": f"Bearer {token}"})
            check(status == 401 and b'"auth_failed"' in body and why in body, f"{status} {body}")
        player.close()
        world.stop()
    finally:
        world.kill()


def test_token_in_the_address(program, places, folder):
    world = island(program, places, folder)
    try:
        path = f"/api/rooms/{world.room}/ws"
        ticket = world.join(name="bo")["ticket"]

        def welcome(query):
            link = WebSocket(world.port, f"{path}?{query}")
            check(link.status == 101, link.head)
            return link, json.loads(link.receive())

        # Without a header of its own the client is let in, by the address.
        first, message = welcome(f"token={ticket}&playerId=ignored")
        check(message["kind"] == "welcome", f"{message}")
        body, resume = message["payload"]["entityId"], message["payload"]["resumeToken"]
        first.send('{"v":2,"kind":"command","seq":1,"feature":"session","action":"handshake",'
                   '"payload":{"playerId":"bo"}}')
        while message["kind"] != "error":
            message = json.loads(first.receive())
        check("over" in message["payload"]["message"], f"one handshake is enough: {message}")
        first.close()
        message = welcome(f"playerId=bo&resumeToken={resume}")[1]
        check(message["payload"].get("resumed") and message["payload"]["entityId"] == body,
              f"the same body: {message}")
        message = welcome(f"token={ticket}")[1]
        check(message["payload"].get("code") == "auth_failed", f"a ticket is good once: {message}")
        message = welcome("token=nonsense")[1]
        check(message["payload"].get("code") == "auth_failed", f"{message}")
        check(welcome("playerId=anna")[1]["payload"]["playerId"] == "anna", "permissive mode")
        # Bits instead of JSON: it is answered too.
        link = WebSocket(world.port, f"{path}?token={world.join()['ticket']}", "sandlot.v2.bin")
        check(isinstance(link.receive(), bytes), "a welcome in binary")
        wait_until(lambda: world.metric("sandlot_tickets_admitted_total") == 2, "two tickets")
        for query in ("token=" + "a" * 3000, "playerId=" + "a" * 65, "token=%00", "token=%22%5c",
                      "resumeToken=%ff%fe"):
            refused = WebSocket(world.port, f"{path}?{query}")
            # What has no end that we know of may also be cut off by the HTTP server.
            check(refused.status in (400, 414), f"{query[:20]}: {refused.head}")
        check(WebSocket(world.port, f"{path}?other=1").status == 101, "other words mean nothing")
        world.stop()
    finally:
        world.kill()


def test_two_see_each_other(program, places, folder):
    world = island(program, places, folder)
    try:
        one, two = Player(world, name="one", player_id="one"), Player(world, "two", player_id="two")
        one.walk(0.5)
        two.listen(0.5)
        check(one.entity in two.positions, "two sees one")
        check(one.entity != two.entity, "two bodies")
        world.stop()
    finally:
        world.kill()


def structures(player):
    """Ids of the structures that the player has been told of."""
    found = set()
    for message in player.snapshots:
        build = message["payload"].get("features", {}).get("build", {})
        found |= {item["entityId"] for item in build.get("enter", [])}
        found -= set(build.get("leave", []))
    return found


def build_something(player):
    """Builds a piece near the player and waits until that is durable; its entity id."""
    x, y, z = (int(number // 1) for number in player.position())
    for dx, dz in ((3, 0), (-3, 0), (0, 3), (0, -3), (4, 4), (-4, -4)):
        for dy in (0, -1, 1, -2, 2):
            seq = player.say("build", "place", {"piece": 0, "cell": [x + dx, y + dy, z + dz]})
            while True:
                message = player.hear()
                payload = message.get("payload", {})
                if message["kind"] == "ack" and payload["commandSeq"] == seq:
                    entity = payload["entityId"]
                    while not (message["kind"] == "event" and message["action"] == "durable" and
                               message["payload"]["commandSeq"] == seq):
                        message = player.hear()
                    return entity
                if message["kind"] == "error" and payload.get("commandSeq") == seq:
                    break
            time.sleep(0.12)  # ten a second
    raise Failure("there is no place to build")


def test_manifest_versions_rise(program, places, folder):
    """Clients ignore a manifest whose version does not rise. So it rises while a host runs, even if
    the database has lost what the last world stored of it."""
    needs_file()
    world = island(program, places, folder)
    try:
        versions = []
        for epoch in range(1, 4):
            found = world.wait_line(rf"the world runs: epoch {epoch}, manifest (\d+)")
            versions.append(int(found[1]))
            victim = world.children()[0]
            os.kill(victim, signal.SIGSTOP)
            time.sleep(0.3)  # the host stores what it has sent
            database = sqlite3.connect(os.path.join(folder, "data", "sandlot.db"), timeout=10)
            database.execute("DELETE FROM world_meta")
            database.commit()
            database.close()
            os.kill(victim, signal.SIGKILL)
        check(versions[0] < versions[1] < versions[2], f"versions {versions}")
    finally:
        world.kill()


def test_killed_world_comes_back(program, places, folder):
    world = island(program, places, folder)
    try:
        player = Player(world, ticket=world.join(name="bo")["ticket"])
        player.walk(1.0)
        built = build_something(player)
        player.walk(1.0, move_z=-127)
        player.walk(0.8, move_z=0)
        before = player.position()
        victim = world.children()[0]
        os.kill(victim, signal.SIGKILL)
        try:
            player.listen(5 * PATIENCE)
            raise Failure("the connection outlived its world")
        except (Closed, OSError):
            pass
        back = come_back(world, player)
        check(back.welcome["resumed"], "resumed")
        check(back.welcome["player"] == player.welcome["player"], "the same player")
        back.walk(0.5, move_z=0)
        where = wait_until(back.position, "a position")
        check(distance(before, where) < 0.5, f"{before} became {where}")
        check(built in structures(back), f"structure {built} of {structures(back)}")
        check(world.children()[0] != victim, "another process")
        check(world.metric("sandlot_world_crashes_total") == 1, "one crash")
        check(world.metric("sandlot_world_epoch") == 2, "the next epoch")
        world.stop()
    finally:
        world.kill()


def test_killed_host_comes_back(program, places, folder):
    world = island(program, places, folder)
    try:
        player = Player(world, player_id="bo")
        player.walk(0.5)
        built = build_something(player)
        child = world.children()[0]
        world.process.kill()
        world.process.wait()
        wait_until(lambda: not os.path.exists(f"/proc/{child}"), "the world dies with its host", 3)
        world = island(program, places, folder)
        back = come_back(world, player)
        check(back.welcome["resumed"], "resumed")
        back.walk(0.5, move_z=0)
        check(built in structures(back), "the structure")
        world.stop()
    finally:
        world.kill()


def test_stop_tells_players(program, places, folder):
    world = island(program, places, folder)
    try:
        player = Player(world)
        player.walk(0.3)
        world.process.send_signal(signal.SIGTERM)
        code = None
        try:
            while True:
                player.hear(5 * PATIENCE)
        except Closed as end:
            code = end.code
        check(code == 1001, f"close code {code}")
        check(any(error["code"] == "stopped" for error in player.errors), f"{player.errors}")
        check(world.process.wait(5 * PATIENCE) == 0, "exit code 0")
    finally:
        world.kill()


def end_of(program, *arguments, cwd=None):
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=30, cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def test_place_with_an_error(program, places, folder):
    place = os.path.join(folder, "place")
    shutil.copytree(os.path.join(places, "island"), place)
    path = os.path.join(place, "scene.json")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    lines[3] = "  oops"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    code, text = end_of(program, "world", "--place", place, "--port", "0")
    check(code == 1 and "scene.json:4:3: error: " in text, f"{code}: {text}")
    code, text = end_of(program, "world", "--place", ".", "--port", "0", cwd=place)
    check(code == 1 and "\nscene.json:4:3: error: " in "\n" + text, f"as it is named here: {text}")
    os.remove(path)
    os.symlink("/etc/hostname", path)
    code, text = end_of(program, "world", "--place", place, "--port", "0")
    check(code == 1 and "scene.json" in text and "link" in text, f"{code}: {text}")
    shutil.rmtree(place)
    code, text = end_of(program, "world", "--place", place, "--port", "0")
    check(code == 1 and "place" in text, f"{code}: {text}")


def test_script_in_no_service(program, places, folder):
    place = os.path.join(folder, "place")
    shutil.copytree(os.path.join(places, "island"), place, ignore=shutil.ignore_patterns(".sandlot"))
    with open(os.path.join(place, "Secret.lua"), "w", encoding="utf-8") as file:
        file.write("print(1)\n")
    code, text = end_of(program, "world", "--place", place, "--port", "0")
    check(code == 1 and "Secret.lua" in text and "ServerScriptService" in text, f"{code}: {text}")


def test_taken(program, places, folder):
    world = island(program, places, folder)
    try:
        place = os.path.join(places, "island")
        code, text = end_of(program, "world", "--place", place, "--port", str(world.port),
                            "--data", os.path.join(folder, "other"))
        check(code == 1 and "taken" in text and str(world.port) in text, f"{code}: {text}")
        code, text = end_of(program, "world", "--place", place, "--port", "0",
                            "--data", os.path.join(folder, "data"))
        check(code == 1 and "another sandlot" in text, f"{code}: {text}")
        check(world.is_ready(), "the first one goes on")
        world.stop()
    finally:
        world.kill()


def test_wrong_usage(program, places, folder):
    for arguments in ([], ["--place"], ["--place", places, "--port", "x"], ["--port", "70000"],
                      ["--place", places, "--wings"]):
        code, text = end_of(program, "world", *arguments)
        check(code == 2 and "usage" in text, f"{arguments}: {code}: {text}")
    code, text = end_of(program, "world", "--help")
    check(code == 0 and "--place" in text, "help")


def first_lines(program, folder, *options):
    """What a world says until it listens, and the answer to GET / on the port that it names."""
    place = os.path.join(folder, "place")
    if not os.path.exists(place):
        code, text = end_of(program, "new", place)
        check(code == 0, text)
    process = subprocess.Popen([program, "world", "--place", ".", "--port", "0",
                                "--allow-weak-jail", *options], cwd=place, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        lines = ""
        while "join  ws://" not in lines:
            line = process.stdout.readline()
            check(line, f"it ended: {lines}")
            lines += line
        link = re.search(r"join  ws://([^/]+)/", lines)[1]
        try:
            with urllib.request.urlopen(f"http://{link}/", timeout=10) as answer:
                page = answer.read().decode()
        except urllib.error.HTTPError as error:
            page = str(error.code)
        process.terminate()
        lines += process.stdout.read()
        check(process.wait(10) == 0, lines)
        return lines, page
    finally:
        process.kill()


def test_page(program, places, folder):
    """A link that is printed leads to the page, wherever the program was started; or it is said that
    there is none."""
    web = os.path.join(os.path.dirname(places), "build/web/index.html")
    if os.path.exists(web):
        lines, page = first_lines(program, folder)
        check("\nplay  http://127.0.0.1:" in lines and "<canvas" in page, f"{lines}{page}")
    elsewhere = os.path.join(folder, "sandlot")
    shutil.copy(program, elsewhere)
    lines, page = first_lines(elsewhere, folder)
    check("play" not in lines and "page  none" in lines and "make build" in lines, lines)
    check(page == "404", page)
    own = os.path.join(folder, "own")
    os.mkdir(own)
    with open(os.path.join(own, "index.html"), "w", encoding="ascii") as file:
        file.write("mine")
    lines, page = first_lines(elsewhere, folder, "--web", own)
    check("\nplay  http://127.0.0.1:" in lines and page == "mine", f"{lines}{page}")
    code, text = end_of(program, "world", "--place", folder, "--web", folder + "/nosuch")
    check(code == 2 and "nosuch" in text and "index.html" in text, f"{code}: {text}")


def test_address_for_others(program, places, folder):
    """The links can be opened, and it is said that nobody can join there."""
    own = os.path.join(folder, "own")
    os.mkdir(own)
    with open(os.path.join(own, "index.html"), "w", encoding="ascii") as file:
        file.write("mine")
    lines, page = first_lines(program, folder, "--web", own, "--address", "0.0.0.0")
    check("0.0.0.0:" not in lines and "nobody can join on 0.0.0.0" in lines, lines)
    check("play" not in lines.split("note")[0] and page == "mine", f"{lines}{page}")
    lines, page = first_lines(program, folder, "--web", own, "--address", "::1")
    check("\nplay  http://[::1]:" in lines and page == "mine", f"{lines}{page}")


def test_stalls_disturb_nobody(program, places, folder):
    world = island(program, places, folder)
    try:
        stalls = []
        for number in range(20):
            if number % 2 == 0:
                stalls.append(WebSocket(world.port, f"/api/rooms/{world.room}/ws"))
            else:
                half = WebSocket(world.port, f"/api/rooms/{world.room}/ws")
                half.socket.sendall(b"\x81\xfe")  # the beginning of a frame
                stalls.append(half)
        player = Player(world)
        count = len(player.snapshots)
        player.walk(2.0)
        snapshots = len(player.snapshots) - count
        check(snapshots > 20, f"{snapshots} snapshots in 2 s")
        check(wait_until(lambda: world.metric("sandlot_world_sockets") == 21, "21 sockets", 3), "")
        check(world.metric("sandlot_world_sessions") == 1, "stalls have no session")
        world.stop()
    finally:
        world.kill()


def test_broken_frames(program, places, folder):
    world = island(program, places, folder)
    try:
        path = f"/api/rooms/{world.room}/ws"
        cases = [(b"\x81\x05hello", 1002), (b"\xf1\x80abcd", 1002), (b"\x83\x80abcd", 1002),
                 (b"\x82\x81abcdx", 1003), (b"\x81\x82\0\0\0\0\xff\xff", 1007),
                 (b"\x81\xff\0\0\0\0\0\x10\0\0abcd", 1009)]
        for frame, code in cases:
            link = WebSocket(world.port, path)
            link.socket.sendall(frame)
            try:
                link.receive(5)
                raise Failure(f"{frame!r} was taken")
            except Closed as end:
                check(end.code == code, f"{frame!r}: {end.code}, not {code}")
        link = WebSocket(world.port, path)
        link.send(b"there?", 9)
        link.socket.settimeout(3)
        check(link.socket.recv(100) == b"\x8a\x06there?", "a pong")
        other = WebSocket(world.port, "/api/rooms/NOROOM/ws")
        check(other.status == 404, other.head)
        foreign = WebSocket(world.port, path, headers=("Origin: http://elsewhere.example",))
        check(foreign.status == 403, foreign.head)
        own = WebSocket(world.port, path, headers=(f"Origin: http://127.0.0.1:{world.port}",))
        check(own.status == 101, own.head)
        strange = WebSocket(world.port, path, protocol="chat")
        check(strange.status == 400, strange.head)
        check(world.metric("sandlot_world_crashes_total") == 0, "no crash")
        world.stop()
    finally:
        world.kill()


def test_origins_that_are_named(program, places, folder):
    world = island(program, places, folder, "--origin", "https://play.example",
                   "--origin", "http://school.example:8080")
    try:
        path = f"/api/rooms/{world.room}/ws"
        for origin, status in (("https://play.example", 101), ("http://school.example:8080", 101),
                               ("http://play.example", 403), ("https://play.example.evil", 403)):
            link = WebSocket(world.port, path, headers=(f"Origin: {origin}",))
            check(link.status == status, f"{origin}: {link.head}")
        world.stop()
    finally:
        world.kill()
    wrong = subprocess.run([program, "world", "--place", places + "/island", "--origin", "play"],
                           capture_output=True, text=True, timeout=30)
    check(wrong.returncode == 2 and "--origin" in wrong.stderr, wrong.stderr)


def test_stuck_world_is_ended(program, places, folder):
    world = island(program, places, folder)
    try:
        victim = world.children()[0]
        os.kill(victim, signal.SIGSTOP)
        world.wait_line("it does not respond", 30)
        wait_until(world.is_ready, "another one", 20)
        check(world.children()[0] != victim, "another process")
        Player(world).walk(0.2)
        world.stop()
    finally:
        world.kill()


def status_of(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return re.search(rf"^{name}:\s*(\S+)", file.read(), re.MULTILINE)[1]


def address_space(pid):
    """In bytes; None without a limit."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        found = re.search(r"^Max address space\s+(\S+)\s+(\S+)", file.read(), re.MULTILINE)
    check(found[1] == found[2], "it can raise the limit again")
    return None if found[1] == "unlimited" else int(found[1])


def test_world_process_has_little(program, places, folder):
    """Nothing of the host's environment, no capability to get, and memory by what the place needs.
    A build with AddressSanitizer has one option in the environment and no limit on addresses."""
    os.environ["SANDLOT_MODEL_KEY"] = "a secret of the host's"
    world = island(program, places, folder)
    try:
        pid = world.children()[0]
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
        is_sanitized = environment == b"ASAN_OPTIONS=detect_leaks=0\0"
        check(is_sanitized or environment == b"", f"the environment is {environment}")
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            check(int(status_of(pid, name), 16) == 0, f"{name} is {status_of(pid, name)}")
        limit = address_space(pid)
        check(limit is None if is_sanitized else 0 < limit < 1 << 30, f"address space {limit}")
        world.wait_line(r"the world runs: .* jail: .*cgroup", 5)
        Player(world).walk(0.3)
        world.stop()
    finally:
        world.kill()
        del os.environ["SANDLOT_MODEL_KEY"]


def truths_of(player):
    return [event for event in player.events if event["action"] == "debug_truth"]


def test_debug_truth(program, places, folder):
    world = island(program, places, folder)
    try:
        plain = Player(world, ticket=world.join(name="plain")["ticket"])
        told = Player(world, ticket=world.join(name="told", debug=True)["ticket"])
        wait_until(lambda: told.walk(1.5, move_z=0) or truths_of(told), "the truth")
        plain.listen(0.1)
        truths = truths_of(told)
        own = [item["p"] for item in truths[-1]["payload"]["entities"]
               if item["entityId"] == told.entity]
        check(own and distance(own[0], told.position()) < 0.05, f"{own} and {told.position()}")
        check(not truths_of(plain), "only for those who may know")

        # The world dies. Returning players may see what they could see before, and no more.
        os.kill(world.children()[0], signal.SIGKILL)
        for player in (plain, told):
            try:
                player.listen(5 * PATIENCE)
                raise Failure("the connection outlived its world")
            except (Closed, OSError):
                pass
        plain = come_back(world, plain)
        told = come_back(world, told)
        check(plain.welcome["resumed"] and told.welcome["resumed"], "resumed")
        wait_until(lambda: told.walk(1.5, move_z=0) or truths_of(told),
                   "the truth, after a restart too")
        plain.listen(0.1)
        check(not truths_of(plain), "still only for those who may know")
        world.stop()
    finally:
        world.kill()


def test_replay(program, places, folder):
    journal = os.path.join(folder, "journal")
    world = island(program, places, folder, "--journal", journal)
    try:
        player = Player(world, player_id="bo")
        player.walk(1.0)
        build_something(player)
        player.walk(2.2, move_x=127)
        world.stop()
    finally:
        world.kill()
    place = os.path.join(places, "island")
    code, text = end_of(program, "replay", journal, "--place", place)
    check(code == 0 and "all equal" in text, f"{code}: {text}")
    with open(journal, "rb") as file:
        whole = file.read()
    # The player goes elsewhere: the replay must notice, and say when.
    at = whole.find(b'"moveX": 127')
    check(at > 0, "the inputs are in the journal")
    with open(journal, "wb") as file:
        file.write(whole.replace(b'"moveX": 127', b'"moveX": -99'))
    code, text = end_of(program, "replay", journal, "--place", place)
    check(code == 1 and "differs at tick" in text, f"{code}: {text}")
    with open(journal, "wb") as file:
        file.write(whole[:len(whole) - 5])
    code, text = end_of(program, "replay", journal, "--place", place)
    check(code == 0 and "cut off" in text, f"{code}: {text}")


def test_metrics(program, places, folder):
    world = island(program, places, folder)
    try:
        text = world.request("GET", "/metrics")[2].decode()
        families, seen, helped = {}, set(), set()
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name, words = line.split(" ", 3)[2:]
                check(name not in helped and words, f"the help of {name}")
                helped.add(name)
            elif line.startswith("# TYPE "):
                name, kind = line.split(" ")[2:4]
                check(name not in families and name in helped, f"{name} twice, or without help")
                check(kind in ("counter", "gauge", "histogram"), f"{name} is a {kind}")
                families[name] = kind
            elif not line.startswith("#"):
                series = line.split(" ")[0]
                name = series.split("{")[0]
                check(series not in seen, f"{series} twice")
                seen.add(series)
                base = [name, *(name[:-len(end)] for end in ("_bucket", "_sum", "_count")
                                if name.endswith(end))]
                kind = next((families[one] for one in base if one in families), None)
                check(kind, f"{name} has no type")
                check((kind == "counter") == name.endswith("_total"), f"{name} is a {kind}")
                float(line.split(" ")[1])
        check(len(families) > 50, f"{len(families)} families")
        for name in [name for name, kind in families.items() if kind == "histogram"]:
            values = [float(value) for value in
                      re.findall(rf"^{name}_(?:bucket|count){{[^}}]*}} (\S+)$", text, re.MULTILINE)]
            check(values == sorted(values) and len(values) > 2 and values[-1] == values[-2],
                  f"{name}: {values}")
        # The rules above are ours; tools/setup brings promtool where it can.
        promtool = os.path.join(os.path.dirname(places), "build", "promtool", "promtool")
        if os.path.exists(promtool):
            done = subprocess.run([promtool, "check", "metrics"], input=text, text=True,
                                  capture_output=True, check=False)
            check(done.returncode == 0, done.stdout + done.stderr)
        for path in ("/healthz", "/health", "/api/health", "/readyz"):
            check(world.request("GET", path)[0] == 200, path)
        check(world.request("GET", "/blob/" + "0" * 64)[0] == 404, "no such blob")
        check(world.request("GET", "/api/rooms/" + world.room)[0] == 200, "the room")
        check(world.request("POST", "/join", {"world_id": "other"})[0] == 404, "another world")
        check(world.request("POST", "/join", {}, {"Origin": "http://evil.example"})[0] == 403,
              "a page of another site")
        check(world.request("POST", "/join", {}, {"Authorization": "Bearer x"})[0] == 401, "auth")
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

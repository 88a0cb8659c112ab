"""`sandlot up`: a newcomer starts it without options, settings from everywhere, what it refuses, what
it logs, how it stops, and what is there after a restart."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

from hosts import Host, enter
from support import Closed, Database, PATIENCE, check, needs_file, run, wait_until

SECRET = "correct-horse-battery-staple"


def environment(folder, **more):
    """Nothing of ours in it, and a home folder of its own."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("SANDLOT_")
             and name not in ("HOST", "PORT", "SECRET_KEY", "XDG_DATA_HOME", "GODOT_PATH",
                              "GAME_SERVER_PATH")}
    return {**clean, "HOME": folder, **more}


def store_variables(folder, options):
    data = options[options.index("--data") + 1] if "--data" in options else folder
    url = Database.url(data)
    return {"SANDLOT_STORE": url} if url else {}


class Up(Host):
    """`sandlot up` as a process; `lines` are of its standard error, `said` of its standard output."""

    def __init__(self, program, folder, *options, port="0", variables=None, command="up"):
        self.lines, self.said = [], []
        self.process = subprocess.Popen(
            [program, command, "--allow-weak-jail", *(["--port", port] if port else []), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(folder, **store_variables(folder, options), **(variables or {})))
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        threading.Thread(target=self._read_said, daemon=True).start()
        self.port = int(wait_until(self._find_port, "it says where it runs", 60))
        wait_until(self.is_ready, "it is ready")

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def _read_said(self):
        for line in self.process.stdout:
            self.said.append(line.rstrip("\n"))

    def _find_port(self):
        found = re.search(r"Sandlot runs at http://[^/]*:(\d+)/", "\n".join(self.said))
        check(found or self.process.poll() is None, "it ended:\n" + "\n".join(self.lines))
        return found and found[1]


def play(up, **wish):
    """A guest who signs in and joins."""
    status, _, body = up.request("POST", "/login", {"username": "bo"})
    check(status == 200, f"/login says {status}: {body}")
    return enter(up, token=json.loads(body)["session_token"], **wish)


def sandlot_up(program, folder, *options, code=0, variables=None):
    """Runs `sandlot up` with options that make it end at once; what it printed, both streams."""
    done = subprocess.run([program, "up", *options], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=30 * PATIENCE,
                          env=environment(folder, **(variables or {})))
    check(done.returncode == code, f"exit code {done.returncode}, not {code}: {done}")
    return done.stdout, done.stderr


def values(text):
    """What --print-config says: name → (value, where it comes from)."""
    rows = re.findall(r"^(?:# )?(\w+) = (.*?) *# (.*)$", text, re.MULTILINE)
    return {name: (value, origin) for name, value, origin in rows}


def logfmt(line):
    """The fields of a line; the line must be nothing but fields."""
    fields = re.findall(r'([a-z_]+)=("(?:[^"\\]|\\.)*"|[^ "]+)(?: |$)', line)
    check(" ".join(f"{name}={value}" for name, value in fields) == line, f"no logfmt: {line}")
    return {name: json.loads(value) if value[0] == '"' else value for name, value in fields}


def place_of(up, player):
    return json.loads(up.request("GET", f"/api/rooms/{player.welcome['roomCode']}")[2])["placeId"]


# --- the start ------------------------------------------------------------------------------------

def test_up_for_a_newcomer(program, _places, folder):
    """No option but the port: everything is in one folder of the home, both places are there, the
    link and what to do next are printed, and a player can play."""
    up = Up(program, folder)
    try:
        text = "\n".join(up.said)
        check("place   place_island: Island (default)" in text, text)
        check("place   place_obby: Obby" in text, text)
        wait_until(lambda: "Ctrl-C" in "\n".join(up.said), "what to do next is printed")
        data = os.path.join(folder, ".local/share/sandlot")
        check(os.listdir(folder) == [".local"], f"more than one folder: {os.listdir(folder)}")
        check(stat.S_IMODE(os.stat(data).st_mode) == 0o700, "the data folder is for others too")
        key = os.stat(os.path.join(data, "secret.key"))
        check(stat.S_IMODE(key.st_mode) == 0o600 and key.st_size == 32, f"secret.key: {key}")
        player = play(up)
        check(place_of(up, player) == "place_island", player.welcome)
        player.close()
        other = play(up, place_id="place_obby")
        check(place_of(up, other) == "place_obby", other.welcome)
        other.close()
        up.stop()
    finally:
        up.kill()


def test_up_on_port_5000(program, places, folder):
    """The default port is 5000, unless somebody else has it: then the message says so."""
    try:
        holder = socket.create_server(("127.0.0.1", 5000))
    except OSError:
        holder = None  # taken already: the same answer
    try:
        _, text = sandlot_up(program, folder, "--allow-weak-jail", "--places", one_place(places, folder),
                             "--log-format", "text", code=1)
        check("cannot listen on 127.0.0.1 port 5000: the port is taken" in text, text)
    finally:
        if holder:
            holder.close()


def one_place(places, folder, *more):
    """A folder with the island, and these files: (path, text)."""
    own = os.path.join(folder, "own")
    shutil.copytree(os.path.join(places, "island"), os.path.join(own, "island"),
                    ignore=shutil.ignore_patterns(".sandlot"))
    for path, text in more:
        os.makedirs(os.path.dirname(os.path.join(own, path)), exist_ok=True)
        with open(os.path.join(own, path), "w", encoding="utf-8") as file:
            file.write(text)
    return own


def test_up_a_broken_place_keeps_nobody_down(program, places, folder):
    own = one_place(places, folder, ("broken/place.json", "{"), ("notes/readme.txt", "no place"),
                    ("deep/" + 20 * "a/" + "file.lua", ""), ("deep/place.json", '{"format": 1}'),
                    ("empty/place.json", ""), ("folder/place.json/x", ""))
    os.mkdir(os.path.join(own, "pipe"))
    os.mkfifo(os.path.join(own, "pipe", "place.json"))
    os.mkdir(os.path.join(own, "large"))
    with open(os.path.join(own, "large", "place.json"), "wb") as file:
        file.truncate(300 << 20)
    subprocess.run([program, "new", os.path.join(own, "typed"), "--typescript"], check=True,
                   stdout=subprocess.DEVNULL)
    up = Up(program, folder, "--places", own,
            variables={"GODOT_PATH": "/usr/bin/godot", "SANDLOT_NODE": "/nowhere/node",
                       "SANDLOT_HOST_KEY": "of another command"})
    try:
        check("place   place_island: Island (default)" in "\n".join(up.said), up.said)
        check(sum(line.startswith("place ") for line in up.said) == 1, up.said)
        check(any(logfmt(line)["area"] == "settings" for line in up.lines), up.lines)
        errors = [logfmt(line) for line in up.lines if "level=error" in line]
        for name in ("broken", "deep", "empty", "folder", "pipe", "large", "typed"):
            check(any(f"/{name} is not served" in row["msg"] for row in errors), up.lines)
        play(up).close()
        up.stop()
    finally:
        up.kill()


def test_up_restart_keeps_the_data(program, places, folder):
    own = one_place(places, folder)
    up = Up(program, folder, "--places", own)
    try:
        player = play(up)
        world = player.world_id
        player.close()
        with open(os.path.join(folder, ".local/share/sandlot/secret.key"), "rb") as file:
            key = file.read()
        up.stop()
        up = Up(program, folder, "--places", own)
        again = play(up, world_id=world)
        check(again.world_id == world, again.welcome)
        again.close()
        with open(os.path.join(folder, ".local/share/sandlot/secret.key"), "rb") as file:
            check(file.read() == key, "another key")
        up.stop()
    finally:
        up.kill()


def test_up_damaged_secret_key(program, places, folder):
    """A key that is damaged or that others can read is said, and left as it is."""
    own = one_place(places, folder)
    path = os.path.join(folder, "data", "secret.key")
    os.makedirs(os.path.dirname(path))
    options = ("--allow-weak-jail", "--port", "0", "--places", own, "--data",
               os.path.dirname(path), "--log-format", "text")
    for content, mode, reason in ((b"short", 0o600, "it is damaged"),
                                  (b"x" * 32, 0o644, "readable by nobody else")):
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        _, text = sandlot_up(program, folder, *options, code=1)
        check("secret.key" in text and reason in text, text)
        with open(path, "rb") as file:
            check(file.read() == content, "it was changed")


# --- settings -------------------------------------------------------------------------------------

def test_up_precedence(program, _places, folder):
    """Flag, environment, file, default; --print-config says which."""
    data = os.path.join(folder, "data")
    os.mkdir(data)
    conf = os.path.join(data, "sandlot.conf")
    with open(conf, "w", encoding="utf-8") as file:
        file.write("# ours\nport = 81\nidle_stop = 82\nworlds = 83\n")
    variables = {"PORT": "84", "SANDLOT_IDLE_STOP": "85", "GODOT_PATH": "/usr/bin/godot"}
    out, notes = sandlot_up(program, folder, "--data", data, "--idle-stop", "86", "--print-config",
                            variables=variables)
    rows = values(out)
    check(rows["idle_stop"] == ("86", "flag --idle-stop"), out)
    check(rows["port"] == ("84", "environment PORT"), out)
    check(rows["worlds"] == ("83", f"{conf}:4"), out)
    check(rows["host"] == ("127.0.0.1", "default"), out)
    check("GODOT_PATH is not used" in notes, notes)
    again = os.path.join(folder, "again.conf")
    with open(again, "w", encoding="utf-8") as file:
        file.write(out)
    out, _ = sandlot_up(program, folder, "--config", again, "--print-config")
    check(values(out)["port"] == ("84", f"{again}:2"), out)


def test_up_check_config(program, places, folder):
    out, _ = sandlot_up(program, folder, "--check-config", "--places", places)
    check(out == "ok\n", out)
    conf = os.path.join(folder, "bad.conf")
    with open(conf, "w", encoding="utf-8") as file:
        file.write("port = 70000\nregistraton = open\nnonsense\n")
    _, text = sandlot_up(program, folder, "--check-config", "--config", conf, "--wrolds", "3",
                         code=1, variables={"SANDLOT_ORIGIN": "x"})
    for wanted in (f"{conf}:1: port: \"70000\" is not a number from 0 to 65535",
                   f"{conf}:2: there is no setting \"registraton\"; did you mean \"registration\"?",
                   f"{conf}:3: a line is `name = value`",
                   "unknown option --wrolds; did you mean --worlds?",
                   "environment SANDLOT_ORIGIN: there is no such setting; did you mean SANDLOT_ORIGINS?"):
        check(wanted in text, f"not said: {wanted}\n{text}")
    check(not os.path.exists(os.path.join(folder, ".local")), "a check made a folder")
    _, text = sandlot_up(program, folder, "--default-place", "iland", "--check-config", code=1)
    check('has no place "iland"; did you mean "island"?' in text, text)
    _, text = sandlot_up(program, folder, "--web", folder, "--check-config", code=1)
    check("there is no index.html" in text, text)
    sandlot_up(program, folder, "--wrolds", "3", code=2)


def test_up_secrets_are_hidden(program, _places, folder):
    for variables in ({"SECRET_KEY": SECRET}, {"SANDLOT_SECRET_KEY": SECRET}):
        out, text = sandlot_up(program, folder, "--print-config", variables=variables)
        check(SECRET not in out + text, out)
        check(values(out)["secret_key"] == ("(hidden)", "environment " + list(variables)[0]), out)
    out, text = sandlot_up(program, folder, "--print-config", code=1,
                           variables={"SECRET_KEY": "short-sesame"})
    check("short-sesame" not in out + text and "a secret has 16" in text, out + text)
    _, text = sandlot_up(program, folder, "--secret-key", SECRET, code=2)
    check("could read it" in text and SECRET not in text, text)


def test_up_beyond_this_machine_needs_a_key(program, places, folder):
    """HOST=0.0.0.0 is refused with the command that makes a key; after that command it starts, and is
    never in development, not even for this machine."""
    needs_file("on a shared database it also asks for the address of this host")
    own = one_place(places, folder)
    _, text = sandlot_up(program, folder, variables={"HOST": "0.0.0.0"}, code=2)
    found = re.search(r"`sandlot (up [^`]*--new-secret-key)` makes one", text)
    check(found and "environment HOST" in text, text)
    out, _ = sandlot_up(program, folder, *found[1].split()[1:])
    conf = os.path.join(folder, ".local/share/sandlot/sandlot.conf")
    check(conf in out and stat.S_IMODE(os.stat(conf).st_mode) == 0o600, out)
    with open(conf, encoding="utf-8") as file:
        secret = re.search(r"secret_key = ([0-9a-f]{64})\n", file.read())
    check(secret and secret[1] not in out, out)
    sandlot_up(program, folder, "--new-secret-key", code=1)  # never a second one
    up = Up(program, folder, "--places", own, variables={"HOST": "0.0.0.0"})
    try:
        check(not os.path.exists(os.path.join(folder, ".local/share/sandlot/secret.key")),
              "a second key")
        status, _, body = up.request("GET", "/api/worlds/world_x/scripts")
        check(status == 404, f"development with a key: {status} {body}")
        up.wait_line("level=warn area=accounts msg=\"passwords travel readable")
        up.stop()
        check(secret[1] not in "\n".join(up.lines + up.said), "the key is printed")
    finally:
        up.kill()


def test_up_with_a_key_is_never_in_development(program, places, folder):
    up = Up(program, folder, "--places", one_place(places, folder), "--public-url",
            "https://play.example", variables={"SECRET_KEY": SECRET})
    try:
        check("open https://play.example/" in "\n".join(up.said) or "pages " in "\n".join(up.said),
              up.said)
        check("readable" not in "\n".join(up.lines), up.lines)
        status, _, body = up.request("GET", "/api/worlds/world_x/scripts")
        check(status == 404, f"development with a key: {status} {body}")
        up.stop()
    finally:
        up.kill()


def test_up_settings_are_documented(_program, places, _folder):
    """The table in docs/OPERATIONS.md has the rows of settings.def: names, defaults, flags and
    variables."""
    root = os.path.dirname(places)
    with open(os.path.join(root, "server/control/settings/settings.def"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r'^SETTING\(\w+, "(\w+)", \w+, \w+,\s+\w+,\s+(?:NULL|"[^"]*"),\s+("[^"]*"),\s+'
                      r'(NULL|"[^"]*"),\s+("[^"]*"),\s+(NULL|"[^"]*"),\s+(?:true|false),\s+(true|false)',
                      text, re.MULTILINE)
    check(len(rows) == text.count("\nSETTING("), f"{len(rows)} rows could be read")
    with open(os.path.join(root, "docs/OPERATIONS.md"), encoding="utf-8") as file:
        table = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \| ", file.read(), re.MULTILINE)
    documented = {name: (flag, variables, default) for name, flag, variables, default in table}
    for name, default, flag, variable, alias, is_live in rows:
        check(name in documented, f"docs/OPERATIONS.md has no row for {name}")
        flags, variables, says = documented.pop(name)
        check((flag == "NULL" and flags == "none") or f"`{flag.strip(chr(34))}" in flags,
              f"{name}: {flags}")
        check(f"`{variable.strip(chr(34))}`" in variables, f"{name}: {variables}")
        check(alias == "NULL" or f"`{alias.strip(chr(34))}`" in variables, f"{name}: {variables}")
        check(default == '""' or f"`{default.strip(chr(34))}`" in says, f"{name}: {says}")
        check((is_live == "true") == ("(live)" in says), f"{name}: live {is_live}, says {says}")
    check(not documented, f"docs/OPERATIONS.md has rows of no setting: {list(documented)}")


# --- logs -----------------------------------------------------------------------------------------

FORBIDDEN = ("query-secret", "cookie-secret", "bearer-secret", "password-secret", "path-secret")


def provoke(up):
    """Requests with a secret wherever one can be."""
    for path in ("/readyz?token=query-secret", "/invite/path-secret", "/api/rooms/path-secret",
                 "/api/rooms/path-secret/ws?token=query-secret", "/blob/path-secret"):
        up.request("GET", path, headers={"Cookie": "session=cookie-secret",
                                         "Authorization": "Bearer bearer-secret"})
    _, headers, _ = up.request("POST", "/login?password=query-secret",
                               {"username": "a\nlevel=error msg=forged",
                                "password": "password-secret"},
                               {"Authorization": "Basic bearer-secret"})
    return headers["X-Request-Id"]


def check_events(up, events, last_id, forged):
    text = "\n".join(up.lines)
    for secret in FORBIDDEN:
        check(secret not in text, f"{secret} is in the log:\n{text}")
    for event in events:
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["time"]), event)
        check(event["level"] in ("debug", "info", "warn", "error"), event)
        check(event["area"] and event["msg"], event)
    check(not forged, f"a forged line: {forged}")
    requests = [event for event in events if event["msg"] == "request"]
    last = [event for event in requests if event["request_id"] == last_id]
    check(len(last) == 1 and last[0]["method"] == "POST" and last[0]["path"] == "/login" and
          float(last[0]["ms"]) >= 0, requests)
    ids = [event["request_id"] for event in requests]
    check(len(set(ids)) == len(ids), "an id twice")
    check({event["path"] for event in requests} >= {"/readyz", "/invite/*", "/api/rooms/*",
                                                    "/api/rooms/*/ws", "/blob/*"}, requests)
    failed = [event for event in requests if event["path"] == "/invite/*"]
    check(str(failed[0]["status"]) == "404" and failed[0]["error"] == "not_found", failed)


def logged(up, request_id):
    wait_until(lambda: request_id in "\n".join(up.lines), "the request is logged")
    up.stop()


def test_up_logfmt(program, places, folder):
    """Standard error is no terminal: every line is logfmt, with a request id and without secrets."""
    up = Up(program, folder, "--places", one_place(places, folder))
    try:
        request_id = provoke(up)
        play(up).close()
        cleanup_id = up.request("POST", "/admin/cleanup")[1]["X-Request-Id"]
        logged(up, request_id)
        events = [logfmt(line) for line in up.lines]
        check_events(up, events, request_id, [e for e in events if e["msg"] == "forged"])
        check(any(event["area"].startswith("world_") for event in events), up.lines)
        done = [event for event in events if event["area"] == "admin"]
        check(len(done) == 1 and done[0]["request_id"] == cleanup_id, f"{done}, not {cleanup_id}")
    finally:
        up.kill()


def test_up_json(program, places, folder):
    up = Up(program, folder, "--places", one_place(places, folder), "--log-format", "json")
    try:
        request_id = provoke(up)
        logged(up, request_id)
        events = [json.loads(line) for line in up.lines]
        check_events(up, events, request_id, [e for e in events if e["msg"] == "forged"])
        check(all(isinstance(event.get("status", 0), int) for event in events), events)
    finally:
        up.kill()


def test_up_log_level(program, places, folder):
    up = Up(program, folder, "--places", one_place(places, folder), "--log-level", "error")
    try:
        provoke(up)
        up.stop()
        check(up.lines == [], up.lines)
    finally:
        up.kill()


def test_up_a_log_that_nobody_reads(program, places, folder):
    """Whoever reads the log stops: requests are answered all the same, and those that are not in the
    log are counted in it."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [program, "up", "--allow-weak-jail", "--port", "0", "--places", one_place(places, folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, text=True,
        env=environment(folder))
    os.close(writer)
    try:
        port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=10 * PATIENCE)
        for _ in range(1500):  # at least 100 bytes each; a pipe holds 64 KiB
            link.request("GET", "/healthz")
            check(link.getresponse().read() == b'{"status":"ok"}', "no answer")
        drained = threading.Thread(target=lambda: lines.extend(os.fdopen(reader)), daemon=True)
        lines = []
        drained.start()
        wait_until(lambda: len(lines) > 10, "the log is read")

        def is_said():
            link.request("GET", "/healthz")
            link.getresponse().read()
            return re.search(r'msg="(\d+) requests are not in the log', "".join(list(lines)))
        found = wait_until(is_said, "the lost lines are counted")
        written = sum("path=/healthz" in line for line in list(lines))
        check(int(found[1]) > 100 and int(found[1]) + written >= 1500, f"{found[1]}, {written}")
        process.send_signal(signal.SIGTERM)
        check(process.wait(5 * PATIENCE) == 0, "exit code")
    finally:
        process.kill()
        process.wait()


# --- the end --------------------------------------------------------------------------------------

def close_code(player):
    try:
        while True:
            player.hear(10 * PATIENCE)
    except Closed as closed:
        return closed.code


def test_up_sigterm_drains(program, places, folder):
    """SIGTERM: unready at once, players are told, all is saved, and it ends within 5 s."""
    up = Up(program, folder, "--places", one_place(places, folder))
    try:
        player = play(up)
        player.walk(0.5)
        answers = []

        def watch():
            while up.process.poll() is None:
                try:
                    status, _, body = up.request("GET", "/readyz")
                    answers.append((status, json.loads(body)))
                except OSError:
                    pass
                time.sleep(0.002)
        watcher = threading.Thread(target=watch)
        watcher.start()
        begin = time.monotonic()
        up.process.send_signal(signal.SIGTERM)
        codes = []
        listener = threading.Thread(target=lambda: codes.append(close_code(player)))
        listener.start()
        check(up.process.wait(5 * PATIENCE) == 0, "\n".join(up.lines))
        seconds = time.monotonic() - begin
        listener.join()
        watcher.join()
        check(seconds < 5.0, f"it took {seconds:.1f} s")
        check(codes == [1001], f"closed with {codes}")
        refused = [body["error"]["code"] for status, body in answers if status == 503]
        check(refused and set(refused) == {"stopping"}, f"/readyz says {answers[-5:]}")
        up = Up(program, folder, "--places", os.path.join(folder, "own"))
        again = play(up, world_id=player.world_id)
        again.close()
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

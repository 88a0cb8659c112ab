"""The commands that ask a running server: login, worlds, logs, top, user, invite. What they print,
where they keep tokens, and how they fail."""

import json
import os
import pty
import re
import stat
import subprocess
import sys
import time

from support import PATIENCE, check, run, wait_until
from test_accounts import PASSWORD, People
from test_up import environment

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}


class Tool:
    """The program with a home folder of its own, where it keeps its token."""

    def __init__(self, program, home, url):
        os.makedirs(home, exist_ok=True)
        self.program, self.home, self.url = program, home, url
        self.tokens = os.path.join(home, ".config", "sandlot", "tokens")

    def __call__(self, *words, code=0, given="", **variables):
        done = subprocess.run([self.program, *words], input=given, capture_output=True, text=True,
                              timeout=30 * PATIENCE, env=environment(self.home, **variables))
        check(done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done}")
        return done.stdout if code == 0 else done.stderr

    def login(self, name, *options, code=0):
        return self("login", self.url, *options, given=f"{name}\n{PASSWORD}\n", code=code)


def begin(program, folder):
    up = People(program, os.path.join(folder, "server"), variables=SECRET)
    boss = up.operator()
    return up, boss, Tool(program, os.path.join(folder, "home"), f"http://127.0.0.1:{up.port}")


def test_tools_login(program, _places, folder):
    up, boss, tool = begin(program, folder)
    try:
        check("run `sandlot login" in tool("top", "--once", "--server", tool.url, code=1),
              "it does not say what to do")
        check(f"signed in to {tool.url} as boss" in tool.login("boss", "--name", "desk"), "no word")
        check(stat.S_IMODE(os.stat(tool.tokens).st_mode) == 0o600, "others can read the token")
        check(PASSWORD not in open(tool.tokens, encoding="ascii").read(), "the password is kept")
        # It is a token with that name, and the sign-in that made it has ended.
        _, answer = up.post("/api/account/sign-ins", token=boss, method="GET")
        kinds = sorted((one["kind"], one["name"]) for one in answer["sign_ins"])
        check(kinds == [("session", ""), ("token", "desk")], kinds)
        # The server of the last login is the one that is asked.
        check("boss" in tool("user", "list"), "the last login does not count")
        # A wrong password is not kept, and said.
        wrong = tool("login", tool.url, given="boss\nwrong wrong wrong\n", code=1)
        check("wrong_credentials" in wrong and "run `sandlot login" not in wrong, wrong)
        check("boss" in tool("user", "list"), "the old token is lost")
        # What others can read is not used.
        os.chmod(tool.tokens, 0o644)
        check("chmod 600" in tool("worlds", code=1), "a token that others can read was used")
        os.chmod(tool.tokens, 0o600)
        # A token that was given by hand, and one that is none.
        other = Tool(program, os.path.join(folder, "other"), tool.url)
        _, made = up.post("/api/account/tokens", {"name": "hand", "scope": "operate"}, boss)
        other("login", tool.url, "--token", given=made["token"] + "\n")
        check("boss" in other("user", "list"), "a given token does not work")
        check("auth_failed" in tool("login", tool.url, "--token", given="nonsense\n", code=1), "why?")
        tool("login", tool.url, "--forget")
        check(tool.url not in open(tool.tokens, encoding="ascii").read(), "it is not forgotten")
        up.stop()
    finally:
        up.kill()


def test_tools_terminal(program, _places, folder):
    """A password that is typed is not shown."""
    up, _boss, tool = begin(program, folder)
    try:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(program, [program, "login", tool.url], environment(tool.home))
        seen = b""

        def until(word):
            nonlocal seen
            end = time.monotonic() + 10 * PATIENCE
            while word not in seen and time.monotonic() < end:
                try:
                    seen += os.read(terminal, 4096)
                except OSError:
                    break
            check(word in seen, f"no {word} in {seen}")
        until(b"name: ")
        os.write(terminal, b"boss\n")
        until(b"password: ")
        time.sleep(0.2)
        os.write(terminal, PASSWORD.encode() + b"\n")
        until(b"signed in to")
        check(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "it failed")
        os.close(terminal)
        check(PASSWORD.encode() not in seen, "the password was shown")
        up.stop()
    finally:
        up.kill()


def test_tools_worlds_top_logs(program, _places, folder):
    up, _boss, tool = begin(program, folder)
    try:
        tool.login("boss")
        token = up.post("/login", {"username": "bo"})[1]["session_token"]
        _, joined = up.post("/join", {"place_id": "place_island"}, token)
        world = joined["world_id"]
        check(re.search(rf"^{world} +{joined['room_code']} +running", tool("worlds"), re.MULTILINE),
              tool("worlds"))
        check(any(one.get("world_id", one.get("worldId")) == world
                  for one in json.loads(tool("worlds", "--json"))["worlds"]), "not in the JSON")
        table = tool("top", "--once")
        check(table.startswith(f"{tool.url}: 1 worlds, 0 players\nWORLD") and world in table, table)
        check(json.loads(tool("top", "--once", "--json"))["servers"][0]["world_id"] == world, "JSON")
        # One world: what its scripts cost.
        def scripts():
            found = json.loads(tool("top", world, "--once", "--json"))
            return found["scripts"] and found
        found = wait_until(scripts, "the world says what its scripts cost")
        shown = tool("top", world, "--once")
        check(shown.startswith(f"{world} on {tool.url}: tick ") and "SCRIPT ON THE SERVER" in shown and
              found["scripts"][0]["path"] in shown, shown)
        check("no such world" in tool("top", "world_of_nobody", "--once", code=1), "a world that is not there")
        check("did you mean" in tool("top", world, "--onec", code=2), "no suggestion")
        # Live: it is drawn again.
        live = subprocess.Popen([program, "top", "--every", "1"], stdout=subprocess.PIPE, text=True,
                                env=environment(tool.home))
        heads = [line for line in (live.stdout.readline() for _ in range(6)) if "1 worlds" in line]
        live.kill()
        live.wait()
        check(len(heads) >= 2, heads)
        # The log, of the server and of one world; followed, a new line comes by itself.
        check(world in tool("logs"), "the log does not name the world")
        lines = tool("logs", world).splitlines()
        check(lines and all(f" {world}: " in line for line in lines), lines)
        check(tool("logs", joined["room_code"]).splitlines()[:1] == lines[:1], "not by the room code")
        check("no such world" in tool("logs", "world_of_nobody", code=1), "a world that is not there")
        follow = subprocess.Popen([program, "logs", "-f"], stdout=subprocess.PIPE, text=True,
                                  env=environment(tool.home))
        try:
            time.sleep(0.5)
            tool("user", "kick", "boss")
            while "kick by" not in follow.stdout.readline():
                check(follow.poll() is None, "it does not follow")
        finally:
            follow.kill()
            follow.wait()
        up.stop()
    finally:
        up.kill()


def test_tools_users(program, _places, folder):
    up, _boss, tool = begin(program, folder)
    try:
        tool.login("boss")
        link = tool("invite", "--role", "creator").strip()
        check(re.fullmatch(r"http://\S+/account\?link=[A-Za-z0-9_-]{43}", link), link)
        up.register("ann", invitation=link.split("=")[1])
        check(re.search(r"^ann +creator +\S+Z  ann$", tool("user", "list"), re.MULTILINE),
              tool("user", "list"))
        tool("user", "role", "ann", "teacher creator")
        check(re.search(r"^roles +creator teacher$", tool("user", "show", "ann"), re.MULTILINE),
              tool("user", "show", "ann"))
        reset = tool("user", "reset", "ann").strip()
        check("/account?link=" in reset, reset)
        tool("user", "ban", "ann", "--minutes", "5", "--reason", "rude")
        check(re.search(r"^banned +yes$", tool("user", "show", "ann"), re.MULTILINE), "no ban")
        tool("user", "unban", "ann")
        check(json.loads(tool("user", "show", "ann", "--json"))["banned"] is False, "still banned")
        check("there is no such account" in tool("user", "show", "nobody", code=1), "a message")
        # Deleting cannot be undone, so it must be meant.
        up.register("dee", invitation=tool("invite").strip().split("=")[1])
        check("--yes" in tool("user", "delete", "dee", code=2), "it does not ask")
        tool("user", "delete", "dee", "--yes")
        tool("user", "show", "dee", code=1)
        # A player may not.
        ann = Tool(program, os.path.join(folder, "ann"), tool.url)
        ann.login("ann")
        check("for operators" in ann("user", "list", code=1), "ann is an operator")
        up.stop()
    finally:
        up.kill()


def test_tools_bots(program, _places, folder):
    """Bots that name no world come into one; a world that is not there ends them at once."""
    up, _boss, tool = begin(program, folder)
    try:
        begun = time.monotonic()
        wrong = tool("bots", "--server", tool.url, "-n", "2", "--world", "nowhere", code=1)
        check("no such world" in wrong and time.monotonic() - begun < 20 * PATIENCE, wrong)
        tool("bots", "--server", tool.url, "-n", "3", "--seconds", "1", "--best-effort",
             "--ramp", "20")
        worlds = json.loads(up.request("GET", "/worlds")[2])["worlds"]
        check(len(worlds) == 1, worlds)
        up.stop()
    finally:
        up.kill()


def test_tools_misused(program, _places, folder):
    """Invalid arguments are said so, and nobody is asked."""
    tool = Tool(program, folder, "http://127.0.0.1:9")
    for name in ("login", "worlds", "logs", "top", "user", "invite"):
        check(tool(name, "--help").startswith("usage: sandlot " + name), name)
        check("--help" in tool(name, "--no-such-option", code=2), name)
    for hours in ("0", "9000", "abc"):
        check("1 to 8760" in tool("invite", "--hours", hours, code=2), hours)
    check("did you mean --once?" in tool("top", "--onec", code=2), "no suggestion")
    for words in (["login"], ["login", "ftp://x"], ["login", "http://a/b"], ["login", "http://"],
                  ["logs", "--lines", "0"], ["top", "--every", "x"], ["user"], ["user", "shwo", "x"],
                  ["user", "show"], ["user", "role", "ann"], ["user", "ban", "x", "--minutes", "0"],
                  ["worlds", "--server", "nonsense"], ["invite", "--hours", "0"]):
        tool(*words, code=2)
    for words in (["worlds"], ["top", "--once"], ["logs"], ["user", "list"]):
        failure = tool(*words, "--server", tool.url, code=1)
        check(failure.startswith(f"sandlot {words[0]}: {tool.url}: "), failure)
    done = subprocess.run([program, "worlds", "--json", "--server", tool.url], capture_output=True,
                          text=True, timeout=30 * PATIENCE, env=environment(folder))
    check(done.returncode == 1 and json.loads(done.stdout)["ok"] is False, done)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""What operators do over HTTP: stopping worlds, draining, kicking, banning, muting, announcing, the
audit, the log from afar, cleaning up, and the numbers about it."""

import json
import os
import re
import subprocess
import sys
import threading
import time

from hosts import enter
from support import Closed, PATIENCE, check, run, wait_until
from test_accounts import People, code_of

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}
PLACE = "place_island"


def begin(program, folder):
    """A server that is not in development, and its operator's token."""
    up = People(program, folder, variables=SECRET)
    return up, up.operator()


def ask(up, method, path, body=None, token=None):
    status, answer = up.post(path, body, token, method=method)
    check(status == 200, f"{method} {path} says {status}: {answer}")
    return answer


def guest(up, name):
    return up.post("/login", {"username": name})[1]


def ended(player):
    """The player's connection was closed; what was said before."""
    try:
        while True:
            player.socket.receive(1.0 * PATIENCE)
    except Closed:
        return True
    except TimeoutError:
        return False


def heard(player, words):
    """What the player was told with these words; "": nothing."""
    end = time.monotonic() + 10 * PATIENCE
    while time.monotonic() < end:
        try:
            text = player.socket.receive(2.0 * PATIENCE)
        except (Closed, TimeoutError):
            return ""
        text = text if isinstance(text, str) else text.decode(errors="replace")
        if words in text:
            return text
    return ""


def test_admin_stops_and_drains(program, _places, folder):
    up, boss = begin(program, folder)
    try:
        bo = guest(up, "bo")
        player = enter(up, token=bo["session_token"], place_id=PLACE)
        servers = wait_until(lambda: [one for one in ask(up, "GET", "/admin/servers", None, boss)["servers"]
                                      if one["players"] == 1], "the player is counted")
        world = servers[0]["world_id"]
        check(servers[0]["pid"] in up.children() and servers[0]["memory_bytes"] > 1 << 20
              and servers[0]["server_address"].startswith(f"ws://127.0.0.1:{up.port}/"), servers)
        # Draining: what runs goes on and can be joined, nothing new is started.
        check(ask(up, "POST", "/admin/drain", None, boss) == {"draining": True}, "it does not drain")
        status, _, body = up.request("GET", "/readyz")
        check(status == 503 and json.loads(body)["error"]["code"] == "draining", body)
        token = guest(up, "ann")["session_token"]
        check(up.post("/join", {"world_id": world}, token)[0] == 200, "the world cannot be joined")
        check(code_of(up.post("/join", {}, token)) == (503, "draining"), "a new world was started")
        check(ask(up, "DELETE", "/admin/drain", None, boss) == {"draining": False}, "it drains on")
        wait_until(up.is_ready, "it is ready again")
        # Stopping: who is in it is told, and the next join starts it again.
        answer = ask(up, "DELETE", f"/admin/servers/{world}", None, boss)
        check(answer == {"world_id": world, "state": "stopping"}, answer)
        # As after a kick, so that no page brings the world back by itself.
        told = heard(player, "an operator stopped this world")
        check(told and '"kicked"' in told, told)
        wait_until(lambda: not ask(up, "GET", "/admin/servers", None, boss)["servers"], "it stopped")
        check(code_of(up.post(f"/admin/servers/{world}", None, boss, method="DELETE"))
              == (409, "not_running"), "a world that does not run was stopped")
        check(up.post("/join", {"world_id": world}, token)[0] == 200, "it does not start again")
        # All of it is in the audit, the newest first, and page by page.
        rows = ask(up, "GET", "/admin/audit", None, boss)["audit"]
        actions = [row["action"] for row in rows]
        check(actions[:4] == ["stop", "stop", "undrain", "drain"], actions)
        check(rows[0]["detail"] == world and rows[0]["account"].startswith("user_"), rows[0])
        first = ask(up, "GET", "/admin/audit?limit=2", None, boss)
        rest = ask(up, "GET", f"/admin/audit?limit=200&before={first['next']}", None, boss)
        check(first["audit"] + rest["audit"] == rows, "the pages are not the whole")
        up.stop()
    finally:
        up.kill()


def test_admin_people(program, _places, folder):
    """Kick, announce, mute and ban reach somebody who plays."""
    up, boss = begin(program, folder)
    try:
        ann = up.register("ann")["session_token"]
        player = enter(up, token=ann, place_id=PLACE)
        world = wait_until(lambda: [one for one in ask(up, "GET", "/admin/servers", None, boss)["servers"]
                                    if one["players"] == 1], "she is counted")[0]["world_id"]
        time.sleep(1.1)  # what the world says about itself comes once a second
        check(ask(up, "POST", "/admin/announce", {"text": "Tea at five."}, boss) == {"worlds": 1},
              "no world was told")
        said = heard(player, "Tea at five.")
        check('"operator"' in said, f"it does not say who says it: {said}")
        for text in ("a\u202eb", "a\nb", "a\x07b"):
            check(code_of(up.post("/admin/announce", {"text": text}, boss)) == (400, "malformed"), text)
        check(ask(up, "POST", "/admin/kick", {"account": "ann", "reason": "too loud"}, boss)
              == {"worlds": 1}, "no world was told")
        check(heard(player, "too loud") or ended(player), "she was not removed")
        check(up.post("/join", {"world_id": world}, ann)[0] == 200, "a kick is no ban")
        # A ban is listed, holds, and ends when it is lifted.
        ask(up, "POST", "/admin/ban", {"account": "ann", "reason": "rude", "minutes": 5}, boss)
        bans = ask(up, "GET", "/admin/ban", None, boss)
        check(bans["total"] == 1 and bans["bans"][0]["reason"] == "rude" and bans["bans"][0]["until"],
              bans)
        status, answer = up.post("/join", {"world_id": world}, ann)
        check(status == 403 and "rude" in answer["error"]["message"], answer)
        check(ask(up, "GET", "/admin/users/ann", None, boss)["banned"], "it is not shown")
        ask(up, "DELETE", "/admin/ban?account=ann", None, boss)
        check(code_of(up.post("/admin/ban?account=ann", None, boss, method="DELETE"))
              == (404, "not_found"), "it was lifted twice")
        check(up.post("/join", {"world_id": world}, ann)[0] == 200, "the ban still holds")
        ask(up, "POST", "/admin/mute", {"account": "ann"}, boss)
        check(ask(up, "GET", "/admin/mute", None, boss)["total"] == 1
              and ask(up, "GET", "/admin/ban", None, boss)["total"] == 0, "a mute is a ban")
        # Nobody else may, and a token that may only play is no operator's.
        for path in ("/admin/kick", "/admin/ban", "/admin/mute"):
            check(code_of(up.post(path, {"account": "boss"}, ann)) == (403, "denied"), path)
        check(code_of(up.post("/admin/announce", {"text": "x"}, ann)) == (403, "denied"), "announce")
        token = ask(up, "POST", "/api/account/tokens", {"name": "t", "scope": "play"}, boss)["token"]
        check(up.post("/admin/servers", None, token, method="GET")[0] == 403, "play is enough")
        up.stop()
    finally:
        up.kill()


def test_admin_log_and_cleanup(program, _places, folder):
    up, boss = begin(program, folder)
    try:
        lines = ask(up, "GET", "/admin/logs", None, boss)
        check(lines["lines"] and lines["last"] >= lines["lines"][-1]["id"], lines)
        # Somebody waits for the next line, and gets it when it is there.
        got = []
        waiter = threading.Thread(target=lambda: got.append(
            ask(up, "GET", f"/admin/logs?after={lines['last']}&wait=20", None, boss)))
        waiter.start()
        time.sleep(0.3)
        check(not got, "it did not wait")
        ask(up, "POST", "/admin/cleanup", None, boss)
        waiter.join(10 * PATIENCE)
        check(got and got[0]["lines"][0]["area"] == "admin"
              and got[0]["lines"][0]["text"].startswith("cleanup"), got)
        # Of one world alone.
        token = guest(up, "bo")["session_token"]
        world = ask(up, "POST", "/join", {"place_id": PLACE}, token)["world_id"]
        found = wait_until(lambda: ask(up, "GET", f"/admin/logs?world={world}", None, boss)["lines"],
                           "the world says something")
        check(all(line["area"] == world for line in found), found)
        # Sign-ins are shown without anything that signs in.
        _, _, body = up.request("GET", "/admin/sessions", None, {"Authorization": f"Bearer {boss}"})
        sessions = json.loads(body)
        check(sessions["total"] == len(sessions["sessions"]) >= 2, sessions)
        check(boss not in body.decode() and token not in body.decode(), "a token is shown")
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", sessions["sessions"][0]["since"]),
              sessions)
        # At most 16 follow the log.
        seen = []
        waiters = [threading.Thread(target=lambda: seen.append(
            up.post("/admin/logs?after=1000000&wait=5", None, boss, method="GET")[0]))
            for _ in range(20)]
        for one in waiters:
            one.start()
        for one in waiters:
            one.join(10 * PATIENCE)
        check(sorted(seen) == [200] * 16 + [429] * 4, seen)
        up.stop()
    finally:
        up.kill()


def test_admin_settings_and_numbers(program, places, folder):
    up, boss = begin(program, folder)
    try:
        check(ask(up, "PUT", "/admin/settings", {"registration": "invite"}, boss)["registration"]
              == "invite", "it is not changed")
        wish = {"username": "cyd", "password": "a fine long password"}
        answer = up.post("/register", wish)
        check(code_of(answer) == (403, "invitation_required"), answer)
        for body in ({"registration": "maybe"}, {"registartion": "open"}, {}):
            check(code_of(up.post("/admin/settings", body, boss, method="PUT"))
                  in ((400, "malformed"), (400, "unknown_member")), body)
        # Accounts by name, page by page.
        ask(up, "PUT", "/admin/settings", {"registration": "open"}, boss)
        for name in ("dee", "Cyd", "ann"):
            up.register(name)
        users = ask(up, "GET", "/admin/users", None, boss)["users"]
        check([user["username"] for user in users] == ["ann", "boss", "Cyd", "dee"], users)
        page = ask(up, "GET", "/admin/users?limit=3", None, boss)
        rest = ask(up, "GET", f"/admin/users?limit=3&after={page['next']}", None, boss)
        check(page["users"] + rest["users"] == users and rest["next"] is None, (page, rest))
        check("password" not in json.dumps(users).replace("fine", ""), "a password is shown")
        # Numbers, in the form that Prometheus reads.
        up.post("/join", {"world_id": "world_none"}, boss)
        status, _, body = up.request("GET", "/metrics")
        text = body.decode()
        check(status == 200, status)
        for pattern in (r'sandlot_joins_refused_total\{why="no_world"\} 1',
                        r'sandlot_http_responses_total\{method="PUT",route="/admin/settings",class="4xx"\} 3',
                        r"sandlot_sign_ins \d+", r"sandlot_draining 0"):
            check(re.search(f"^{pattern}$", text, re.MULTILINE), f"no {pattern}")
        promtool = os.path.join(os.path.dirname(places), "build", "promtool", "promtool")
        if os.path.exists(promtool):
            done = subprocess.run([promtool, "check", "metrics"], input=text, text=True,
                                  capture_output=True, timeout=60)
            check(done.returncode == 0, done.stdout + done.stderr)
        up.stop()
    finally:
        up.kill()


def test_admin_mute_says_until_when(program, _places, folder):
    """And who loses the invitation to a private world is out of it."""
    up, boss = begin(program, folder)
    try:
        ann = up.register("ann")["session_token"]
        _, world = up.post("/api/worlds", {"private": True}, boss)
        path = f"/api/worlds/{world['world_id']}/guests"
        check(up.post(path, {"username": "ann"}, boss)[0] in (200, 201), "not invited")
        player = enter(up, token=ann, world_id=world["world_id"])
        wait_until(lambda: [one for one in ask(up, "GET", "/admin/servers", None, boss)["servers"]
                            if one["players"] == 1], "she is counted")
        until = ask(up, "POST", "/admin/mute", {"account": "ann", "minutes": 5, "reason": "loud"},
                    boss)["until"]
        time.sleep(1.1)
        player.say("chat", "say", {"text": "hi"})
        check(heard(player, f"until {until[:16]}"), "it does not say until when")
        check(up.post(f"{path}/ann", None, boss, method="DELETE")[0] == 200, "not taken back")
        check(heard(player, "invitation to this world was taken back") or ended(player), "still in")
        up.stop()
    finally:
        up.kill()


def test_admin_shows_scripts_of_clients(program, _places, folder):
    """Who has verified which scripts, of two clients of one world: one does, the other never."""
    up, boss = begin(program, folder)
    try:
        ann, bob = up.register("ann")["session_token"], up.register("bob")["session_token"]
        player = enter(up, token=ann, place_id="place_obby")
        silent = enter(up, token=bob, world_id=player.world_id)
        manifest = player.wait("event", "ScriptManifest")["payload"]
        scripts = [{"script_path": row["path"], "hash": row["rune_hash"], "success": True}
                   for row in manifest["scripts"]]
        count = len(scripts)
        check(count >= 2 and all("ServerScript" not in one["script_path"] for one in scripts), scripts)

        def shown(**wanted):
            """Both clients, once the first has these numbers."""
            def look():
                rows = ask(up, "GET", "/admin/sessions", None, boss)["sessions"]
                both = {one["username"]: one["scripts"] for one in rows if one["kind"] == "session"}
                check(both.get(boss_name) is None, both)
                mine = both["ann"]
                return both if mine and all(mine[name] == wanted[name] for name in wanted) else None
            both = wait_until(look, f"{wanted} is shown")
            wait_until(lambda: player.hear(5) and silent.hear(5), "both play on")
            return both["ann"], both["bob"]

        boss_name = next(one["username"] for one in ask(up, "GET", "/admin/sessions", None, boss)["sessions"]
                         if one["username"] not in ("ann", "bob"))
        nothing = {"version": manifest["version"], "wanted": count, "verified": 0, "failed": 0,
                   "settled": False}
        check(shown(**nothing) == (nothing, nothing), "before anybody has said anything")
        # One cannot be verified at first, and one is told twice; a wrong hash is of another set.
        player.say("script", "ScriptVerify", {**scripts[0], "success": False, "reason": "damaged"})
        player.say("script", "ScriptVerifyList", {"scripts": scripts[1:] + scripts[1:2]})
        player.say("script", "ScriptVerify", {**scripts[0], "hash": "sha256:" + "00" * 32})
        some = {**nothing, "verified": count - 1, "failed": 1}
        check(shown(**some) == (some, nothing), "one has failed")
        player.say("script", "ScriptVerify", scripts[0])
        done = {**nothing, "verified": count, "settled": True}
        check(shown(**done) == (done, nothing), "all are verified")

        def playing():
            return sorted({one["username"] for one in ask(up, "GET", "/admin/sessions", None, boss)["sessions"] if one["is_playing"]})
        check(playing() == ["ann", "bob"], playing())
        player.close()
        wait_until(lambda: playing() == ["bob"], "who is gone is not listed")
        wait_until(lambda: ask(up, "GET", "/admin/sessions", None, boss)["sessions"] and all(
            one["scripts"] is None for one in ask(up, "GET", "/admin/sessions", None, boss)["sessions"]
            if one["username"] == "ann"), "who is gone has none")
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

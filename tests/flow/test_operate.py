"""What the operator's pages ask for: builds with their logs, who stores how much, backups that are made
while the server runs, settings with their help, people by a part of their name; by a page's cookie too."""

import json
import os
import sys

from support import check, needs_file, run, wait_until
from test_accounts import PASSWORD, People, code_of, cookie_of

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}


def ask(up, method, path, body=None, token=None, wanted=200):
    status, answer = up.post(path, body, token, method=method)
    check(status == wanted, f"{method} {path} says {status}: {answer}")
    return answer


def test_operate_backups(program, _places, folder):
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        if os.environ.get("STORE") == "postgres":  # it is not in the folder: the answer says what to do
            check(code_of(up.post("/admin/backups", token=boss)) == (409, "on_postgresql"), "a backup of nothing")
            return
        ann = up.register("ann")["session_token"]
        check(code_of(up.post("/admin/backups", token=ann)) == (403, "denied"), "a player makes backups")
        before = ask(up, "GET", "/admin/backups", token=boss)
        check(before["state"] == "none" and before["backups"] == [] and before["name"] is None, before)
        begun = ask(up, "POST", "/admin/backups", token=boss, wanted=202)
        check(begun["state"] == "running" and begun["name"].endswith(".tar"), begun)
        def look():
            answer = ask(up, "GET", "/admin/backups", token=boss)
            return answer if answer["state"] != "running" else None
        done = wait_until(look, "the backup ends")
        check(done["state"] == "done" and [one["name"] for one in done["backups"]] == [begun["name"]], done)
        # It lies beside the data folder, for its owner alone, and can be restored.
        path = os.path.join(done["folder"], begun["name"])
        check(done["folder"] == os.path.join(folder, "data-backups") and os.path.getsize(path) == done["backups"][0]["bytes"]
              and os.stat(path).st_mode & 0o077 == 0, (path, oct(os.stat(path).st_mode)))
        # A name that is none of ours is none: nothing else is ever deleted.
        with open(os.path.join(done["folder"], "mine.tar"), "w", encoding="ascii") as file:
            file.write("x")
        for name in ("mine.tar", "..%2Fdata%2Fsandlot.db", "sandlot-1.tar%2F..", "sandlot-.tar", "sandlot-x.tar"):
            check(up.post(f"/admin/backups/{name}", token=boss, method="DELETE")[0] in (400, 404), name)
        check(os.path.exists(os.path.join(done["folder"], "mine.tar")), "another file is gone")
        # The audit says who did it, by their name's number.
        acts = ask(up, "GET", "/admin/audit", token=boss)["audit"]
        check([one["action"] for one in acts if one["action"].startswith("backup")] == ["backup"]
              and next(one for one in acts if one["action"] == "backup")["account"].startswith("user_"), acts)
        # A full shelf is no reason to delete anything unasked.
        for number in range(15):
            with open(os.path.join(done["folder"], f"sandlot-{number}.tar"), "w", encoding="ascii") as file:
                file.write("x")
        check(code_of(up.post("/admin/backups", token=boss)) == (409, "too_many"), "a seventeenth")
        ask(up, "DELETE", f"/admin/backups/{begun['name']}", token=boss)
        check(not os.path.exists(path), "it is still there")
        # Stopping the server ends a backup that runs, and leaves no half of one.
        ask(up, "POST", "/admin/backups", token=boss, wanted=202)
        up.stop()
        check(not [one for one in os.listdir(done["folder"]) if ".part" in one], os.listdir(done["folder"]))
    finally:
        up.kill()


def test_operate_backup_cancelled(program, _places, folder):
    needs_file()
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        with open(os.path.join(folder, "data", "blobs", "large"), "wb") as file:
            file.truncate(2 << 30)  # zeros that take no room here, and some seconds to copy
        begun = ask(up, "POST", "/admin/backups", token=boss, wanted=202)
        check(ask(up, "GET", "/admin/backups", token=boss)["state"] == "running", "it is over already")
        ask(up, "DELETE", f"/admin/backups/{begun['name']}", token=boss)
        def look():
            answer = ask(up, "GET", "/admin/backups", token=boss)
            return answer if answer["state"] != "running" else None
        ended = wait_until(look, "the backup ends")
        check(ended["state"] == "cancelled" and ended["backups"] == [] and ended["reason"] is None and ended["ended"], ended)
        check(os.listdir(ended["folder"]) == [], os.listdir(ended["folder"]))
        check(code_of(up.post(f"/admin/backups/{begun['name']}", token=boss, method="DELETE")) == (404, "not_found"), "gone")
        acts = [one["action"] for one in ask(up, "GET", "/admin/audit", token=boss)["audit"]]
        check([one for one in acts if one.startswith("backup")] == ["backup_cancel", "backup"], acts)
        # The next one is made as if nothing had been.
        os.unlink(os.path.join(folder, "data", "blobs", "large"))
        ask(up, "POST", "/admin/backups", token=boss, wanted=202)
        check(wait_until(look, "the next backup ends")["state"] == "done", "the next one fails")
        up.stop()
    finally:
        up.kill()


def test_operate_looks(program, _places, folder):
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        made = up.register("maker", shown_name="Мария <b>")["session_token"]
        ask(up, "POST", "/api/accounts/maker/roles", {"roles": "creator"}, boss)
        draft = ask(up, "POST", "/api/drafts", {"title": "<i>A course</i>"}, made)["place_id"]
        job = ask(up, "POST", f"/api/places/{draft}/draft/publish", {"notes": "first"}, made, 202)["job_id"]
        # Builds: whose, of what, with their logs.
        def find():
            found = [one for one in ask(up, "GET", "/admin/jobs", token=boss)["jobs"] if one["job"]["job_id"] == job]
            return found[0] if found and found[0]["job"]["status"] == "done" else None
        built = wait_until(find, "the build is shown as done")
        check(built["about"]["place_id"] == draft and built["about"]["revision_id"] == "r1" and built["job"]["log"]
              and built["about"]["account"].startswith("user_") and built["about"]["ended"], built)
        check(len(ask(up, "GET", "/admin/jobs?limit=1", token=boss)["jobs"]) == 1, "one is not one")
        check(code_of(up.post("/admin/jobs?limit=0", token=boss, method="GET")) == (400, "malformed"), "none")
        check(up.post("/admin/jobs", token=made, method="GET")[0] == 403, "a creator sees all builds")
        # Storage: the most first, with names.
        storage = ask(up, "GET", "/admin/storage", token=boss)
        mine = next(one for one in storage["accounts"] if one["username"] == "maker")
        quota = ask(up, "GET", "/api/me/quota", token=made)
        check(mine["shown_name"] == "Мария <b>" and mine["places"] == 1 and 0 < mine["bytes"] <= quota["bytes_used"],
              (mine, quota["bytes_used"]))
        sizes = [one["bytes"] for one in storage["accounts"]]
        check(sizes == sorted(sizes, reverse=True) and storage["disk_total_bytes"] > storage["disk_free_bytes"] > 0
              and storage["account_bytes_max"] == quota["bytes_max"], storage)
        # People by a part of a name, whatever its case, page by page.
        names = sorted(f"pupil{number:02}" for number in range(12))
        for name in names:
            up.register(name)
        def people(query):
            return ask(up, "GET", f"/admin/users?{query}", token=boss)
        check([one["username"] for one in people("q=UPIL0")["users"]] == names[:10], "a part of a name")
        check([one["username"] for one in people("q=%D0%B0%D1%80%D0%B8")["users"]] == ["maker"], "a shown name")
        check(people("q=nobody-here") == {"users": [], "next": None}, "nobody")
        found, after = [], ""
        while after is not None:
            page = people(f"q=pupil&limit=5{'&after=' + after if after else ''}")
            check(len(page["users"]) <= 5, page)
            found += [one["username"] for one in page["users"]]
            after = page["next"]
        check(found == names, found)
        check(up.post(f"/admin/users?q={'x' * 300}", token=boss, method="GET")[0] == 400, "a long one")
        # Settings say what they may be and what they do, and every value that they name is taken.
        settings = ask(up, "GET", "/admin/settings", token=boss)
        check({one["name"] for one in settings["about"]} == set(settings) - {"about"}, settings)
        for one in settings["about"]:
            check(settings[one["name"]] in one["values"] and len(one["help"]) > 20, one)
            for value in one["values"]:
                status, answer = up.post("/admin/settings", {one["name"]: value}, boss, "PUT")
                check(status == 200 and answer[one["name"]] == value or
                      (value == "phrases" and answer["error"]["code"] == "no_phrases"), (one["name"], value, answer))
    finally:
        up.kill()


def test_operate_by_page(program, _places, folder):
    """An operator's browser: its cookie with the header, never without; the audit names the operator."""
    up = People(program, folder, variables=SECRET)
    try:
        up.operator()
        status, headers, _ = up.page("/login", {"username": "boss", "password": PASSWORD})
        check(status == 200, status)
        cookie = cookie_of(headers)
        status, _, answer = up.page("/admin/drain", cookie=cookie)
        check(status == 200 and answer == {"draining": True}, answer)
        for wrong in ({"Origin": "http://evil.example"}, {"X-Sandlot": ""}):
            headers = {"Origin": up.origin, "X-Sandlot": "1", "Cookie": cookie, **wrong}
            headers = {name: value for name, value in headers.items() if value}
            status, _, text = up.request("DELETE", "/admin/drain", None, headers)
            check(status == 403 and json.loads(text)["error"]["code"] == "origin", (wrong, text))
        status, _, answer = up.page("/admin/audit", cookie=cookie, method="GET")
        drains = [one for one in answer["audit"] if "drain" in one["action"]]
        check([one["action"] for one in drains] == ["drain"] and drains[0]["account"].startswith("user_"), drains)
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

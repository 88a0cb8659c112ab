"""What an account may store and how it makes room again; places that are given away, or whose owner is
deleted; who is banned; what was approved and changes."""

import hashlib
import os
import random
import sqlite3
import sys
import threading

from publish import Publisher, package
from support import check, needs_file, run, wait_until
from test_accounts import PASSWORD


def begin(program, places, folder, *creators, options=()):
    up = Publisher(program, places, folder, *options)
    up.begin(*creators)
    return up


def refused(answer, status, code):
    check((answer[0], answer[1].get("error", {}).get("code")) == (status, code),
          f"not {status} {code}, but {answer}")


def large(number):
    """A package of about 300 KiB that is not the same as others."""
    return package(f"Large {number}", **{f"ServerScriptService__S{i}": "-- " + os.urandom(100000).hex()
                                         for i in range(3)})


def bytes_used(up, who):
    return up.good("GET", "/api/me/quota", who=who)["bytes_used"]


def test_room_is_made(program, places, folder):
    """An account whose room is used up is told how to make some, and does so."""
    up = begin(program, places, folder, "ann", "bob", options=("--account-mb", "1"))
    try:
        place = up.publish("ann", large(1), channel="live")["place_id"]
        path = f"/api/places/{place}"
        up.publish("ann", large(2), place)
        up.publish("ann", large(3), place)
        status, answer = up.upload("ann", large(4), place)
        refused((status, answer), 413, "quota")
        check("?purge=1" in answer["error"]["message"] and "revisions" in answer["error"]["message"], answer)
        before = bytes_used(up, "ann")
        refused(up.ask("DELETE", f"{path}/revisions/r1", who="ann"), 409, "in_use")
        refused(up.ask("DELETE", f"{path}/revisions/r9", who="ann"), 404, "not_found")
        refused(up.ask("DELETE", f"{path}/revisions/r2", who="bob"), 404, "not_found")
        up.good("PATCH", path, {"visibility": "listed"}, "ann")
        # Others know of the live one alone, and may not delete that.
        refused(up.ask("DELETE", f"{path}/revisions/r1", who="bob"), 403, "denied")
        check(up.good("DELETE", f"{path}/revisions/r2", who="ann")["revision_id"] == "r2", "no answer")
        check(bytes_used(up, "ann") < before - (200 << 10), (before, bytes_used(up, "ann")))
        rows = up.good("GET", f"{path}/revisions", who="ann")["revisions"]
        check([row["revision_id"] for row in rows] == ["r3", "r1"], rows)
        check(up.publish("ann", large(4), place)["revision_id"] == "r4", "there is no room")
        refused(up.ask("DELETE", f"{path}?purge=1", who="ann"), 409, "not_in_trash")
        up.good("DELETE", path, who="ann")
        for method, part, body in (("PATCH", "", {"title": "x"}), ("POST", "/channels/live", {"revision_id": "r3"}),
                                   ("PUT", "/team/bob", {"role": "tester"}), ("GET", "/draft", None)):
            refused(up.ask(method, path + part, body, "ann"), 409, "trashed")
        check(bytes_used(up, "ann") > 0, "what is in the trash costs nothing")
        refused(up.ask("DELETE", f"{path}?purge=1", who="bob"), 404, "not_found")
        check(up.good("DELETE", f"{path}?purge=1", who="ann")["purged"], "it is there")
        check(bytes_used(up, "ann") == 0, "it still costs")
        refused(up.ask("GET", path, who="ann"), 404, "not_found")
        acts = [row["action"] for row in up.good("GET", "/admin/audit?limit=20", who="boss")["audit"]]
        check("purge" in acts and "revision.delete" in acts, acts)
    finally:
        up.kill()


def test_room_of_rows(program, places, folder):
    """What has no bytes costs room too, failed revisions do not pile up, and an empty body is refused."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        made = up.publish("ann", package(), channel="live")
        check(made["place_id"] == "place_" + made["place_id"][6:] and len(made["place_id"]) == 12, made)
        place = made["place_id"]
        before = bytes_used(up, "ann")
        refused(up.upload("ann", b"", place), 400, "malformed")
        refused(up.upload("ann", b""), 400, "malformed")
        check(bytes_used(up, "ann") == before, "nothing costs something")
        for number in range(25):
            _, answer = up.upload("ann", b"no package at all", place, notes=f"{number}")
            check(up.job("ann", answer["job_id"])["status"] == "failed", "it is built")
        rows = up.good("GET", f"/api/places/{place}/revisions", who="ann")["revisions"]
        check(len(rows) == 21 and rows[-1]["revision_id"] == "r1" and rows[-2]["notes"] == "5", rows)
        check(bytes_used(up, "ann") >= before + 20 * 4096, "rows are free")
        up.good("POST", f"/api/places/{place}/draft", {}, "ann")
        with_draft = bytes_used(up, "ann")
        file = f"/api/places/{place}/draft/files/ServerScriptService/Empty.lua"
        check(up.raw("PUT", file, b"", "ann", **{"If-None-Match": "*"})[0] == 200, "it is not written")
        check(bytes_used(up, "ann") == with_draft + 2 * 512, "an empty file is free")
        # Started anew from the live revision: what was there stays in the history.
        refused(up.ask("POST", f"/api/places/{place}/draft", {}, "ann"), 409, "exists")
        files = up.good("POST", f"/api/places/{place}/draft", {"replace": True}, "ann")["files"]
        check({one["path"] for one in files} == {"place.json", "scene.json"}, files)
        history = up.good("GET", file.replace("/files/", "/history/"), who="ann")["versions"]
        check([row["deleted"] for row in history] == [True, False], history)
        # Thrown away for good, with its history, which an editor cannot do; the audit says who did.
        up.good("PUT", f"/api/places/{place}/team/bob", {"role": "editor"}, "ann")
        status, answer = up.ask("DELETE", f"/api/places/{place}/draft", who="bob")
        refused((status, answer), 403, "denied")
        check("owner" in answer["error"]["message"], answer)
        check(up.good("GET", file.replace("/files/", "/history/"), who="ann")["versions"] == history, "it is gone")
        up.good("DELETE", f"/api/places/{place}/draft", who="ann")
        acts = [(row["action"], row["detail"]) for row in up.good("GET", "/admin/audit?limit=20", who="boss")["audit"]]
        check(("draft.delete", f"place_id={place}") in acts, acts)
        refused(up.ask("GET", f"/api/places/{place}/draft", who="ann"), 404, "not_found")
        refused(up.ask("DELETE", f"/api/places/{place}/draft", who="ann"), 404, "not_found")
        check(bytes_used(up, "ann") == before + 20 * 4096, (before, bytes_used(up, "ann")))
        check(not os.path.exists(os.path.join(folder, "data", "drafts", place)), "the folder is there")
    finally:
        up.kill()


def test_room_of_saved_scripts(program, places, folder):
    """What an editor saves by POST /api/script/save costs room like any other file of a draft."""
    up = begin(program, places, folder, "ann", options=("--account-mb", "1"))
    try:
        place = up.publish("ann", package(), channel="live")["place_id"]
        up.good("POST", f"/api/places/{place}/draft", {}, "ann")
        answers = []
        for number in range(6):
            text = "-- " + random.Random(number).randbytes(100 << 10).hex()
            answers.append(up.ask("POST", "/api/script/save", {
                "id": f"{place}/ServerScriptService/S{number}.lua", "code": text, "knownHash": None}, "ann"))
        found = [status for status, _ in answers]
        check(found == sorted(found) and found[0] == 200, found)
        refused(answers[-1], 413, "quota")
        check(bytes_used(up, "ann") <= 1 << 20, bytes_used(up, "ann"))
    finally:
        up.kill()


def test_room_of_uploads_at_once(program, places, folder):
    """Of uploads that end together only as many are stored as there is room for."""
    up = begin(program, places, folder, "ann", "bob", options=("--account-mb", "1"))
    try:
        def together(who, address, body, **headers):
            """The places of those that were stored, and the others."""
            drafts = [up.good("POST", "/api/drafts", {"title": f"Draft {number}"}, who)["place_id"]
                      for number in range(8)]
            ready, answers = threading.Barrier(len(drafts)), {}

            def send(place):
                data = body()
                answers[place] = up.halved("PUT", address(place, data), data, who, ready.wait, **headers)

            threads = [threading.Thread(target=send, args=(place,)) for place in drafts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            check(bytes_used(up, who) <= 1 << 20, bytes_used(up, who))
            check(len(answers) == len(drafts), answers)
            lost = [place for place, answer in answers.items() if answer[0] != 200]
            for place in lost:
                refused(answers[place], 413, "quota")
            return [place for place in drafts if place not in lost], lost

        _, lost = together("ann", lambda place, _: f"/api/places/{place}/draft/files/ServerScriptService/Large.lua",
                           lambda: b"-- " + os.urandom(90 << 10).hex().encode(), **{"If-None-Match": "*"})
        check(len(lost) in (3, 4), "five of 180 KiB fit, less the rows")
        for place in lost:  # what found no room is in no folder, where it would be found later
            path = os.path.join(folder, "data", "drafts", place, "ServerScriptService", "Large.lua")
            check(not os.path.exists(path), path)
        kept, _ = together("bob", lambda place, data: f"/api/places/{place}/blob/{hashlib.sha256(data).hexdigest()}",
                           lambda: os.urandom(600 << 10))
        check(len(kept) == 1, "one of 600 KiB fits")
    finally:
        up.kill()


def test_room_of_people_who_leave(program, places, folder):
    """Places go with their owner; listed ones are in the trash, where an operator can restore them."""
    up = begin(program, places, folder, "ann", "bob")
    try:
        secret = up.publish("ann", package("Secret"), channel="live")["place_id"]
        up.good("POST", f"/api/places/{secret}/draft", {}, "ann")
        known = up.publish("ann", package("Known"), channel="live", visibility="listed")["place_id"]
        status, answer = up.post("/api/account", {"password": PASSWORD}, up.tokens["ann"], method="DELETE")
        check(status == 200, answer)
        for who in ("boss", "bob"):
            refused(up.ask("GET", f"/api/places/{secret}", who=who), 404, "not_found")
        refused(up.ask("GET", f"/api/places/{known}", who="bob"), 404, "not_found")
        check(up.good("GET", f"/api/places/{known}", who="boss")["trashed_at"], "it is not in the trash")
        up.good("POST", "/admin/cleanup", who="boss")
        check(not os.path.exists(os.path.join(folder, "data", "drafts", secret)), "her draft is there")
        up.good("POST", f"/api/places/{known}/restore", who="boss")
        check(up.good("GET", f"/api/places/{known}", who="bob")["creator"] is None, "whose is it?")
        up.good("POST", f"/api/places/{known}/give", {"account": "bob"}, "boss")
        check(up.good("GET", f"/api/places/{known}", who="bob")["creator"]["username"] == "bob", "not his")
    finally:
        up.kill()


def test_room_offers(program, places, folder):
    """An offer leaves the team as it is until it is accepted, is found, declined, taken back; it must fit."""
    up = begin(program, places, folder, "ann", "bob", "carl", options=("--account-mb", "1"))
    try:
        place = up.publish("ann", large(1), channel="live")["place_id"]
        path = f"/api/places/{place}"
        up.good("PUT", f"{path}/team/bob", {"role": "editor"}, "ann")
        up.good("POST", f"{path}/give", {"account": "bob"}, "ann")
        check("edit" in up.good("GET", path, who="bob")["rights"], "the offer took bob's role")
        team = up.good("GET", f"{path}/team", who="ann")
        check(team["offered_to"]["username"] == "bob" and team["team"][0]["role"] == "editor", team)
        offers = up.good("GET", "/api/me/offers", who="bob")
        check([(one["place_id"], one["creator"]["username"]) for one in offers["offers"]] == [(place, "ann")]
              and offers["next"] is None and offers["offers"][0]["bytes"] > 280 << 10, offers)
        check(up.good("GET", "/api/me/offers", who="carl")["offers"] == [], "carl has offers")
        up.good("POST", f"{path}/decline", who="bob")
        refused(up.ask("POST", f"{path}/accept", who="bob"), 404, "not_found")
        check("edit" in up.good("GET", path, who="bob")["rights"], "declining took bob's role")
        up.good("PUT", f"{path}/team/carl", {"role": "blocked"}, "ann")
        up.good("POST", f"{path}/give", {"account": "carl"}, "ann")
        check(up.good("GET", path, who="carl")["rights"] == ["see"], "an offer lets carl in")
        people = up.good("GET", f"{path}/team", who="ann")["team"]
        check(sorted(one["role"] for one in people) == ["blocked", "editor"], people)
        up.good("DELETE", f"{path}/give", who="ann")
        refused(up.ask("DELETE", f"{path}/give", who="ann"), 404, "not_found")
        refused(up.ask("GET", path, who="carl"), 404, "not_found")
        up.good("POST", f"{path}/give", {"account": "carl"}, "ann")
        other = up.publish("carl", large(2))["place_id"]
        up.publish("carl", large(3), other)
        up.publish("carl", large(4), other)
        refused(up.ask("POST", f"{path}/accept", who="carl"), 409, "quota")
        up.good("DELETE", f"/api/places/{other}/revisions/r1", who="carl")
        up.good("POST", f"{path}/accept", who="carl")
        check("own" in up.good("GET", path, who="carl")["rights"], "not carl's")
        check(up.good("GET", "/api/me/offers", who="carl")["offers"] == [], "it is offered still")
    finally:
        up.kill()


def test_room_for_the_banned(program, places, folder):
    """Who is banned changes nothing by any route, but for what is about nobody else."""
    up = begin(program, places, folder, "ann")
    try:
        place = up.publish("ann", package("Hers"), channel="live", visibility="listed")["place_id"]
        up.good("POST", "/admin/ban", {"account": "ann", "reason": "spam"}, "boss")
        refused(up.upload("ann", package("More")), 403, "banned")
        refused(up.ask("PATCH", f"/api/places/{place}", {"title": "x"}, "ann"), 403, "banned")
        asked = 0
        document = up.good("GET", "/api/openapi.json")
        for path, item in document["paths"].items():
            for method, route in item.items():
                # Signing in and out and joining are outside /api/; joining asks about bans itself.
                is_own = route["x-access"] == "anyone" and not path.startswith("/api/")
                if method == "get" or route["x-access"] in ("self", "host") or is_own:
                    continue
                real = path.replace("{place_id}", place)
                for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
                    real = real.replace("{" + name + "}", "x")
                status, answer = up.ask(method.upper(), real, {}, "ann")
                check((status, answer["error"]["code"]) == (403, "banned"), f"{method} {path}: {status} {answer}")
                asked += 1
        check(asked > 60, asked)
        check(up.good("GET", f"/api/places/{place}", who="ann")["title"] == "Hers", "she changed it")
        up.good("DELETE", "/admin/ban?account=ann", who="boss")
        up.good("PATCH", f"/api/places/{place}", {"title": "x"}, "ann")
        up.good("POST", "/admin/ban", {"account": "ann"}, "boss")
        status, answer = up.post("/api/account", {"password": PASSWORD}, up.tokens["ann"], method="DELETE")
        check(status == 200, answer)
    finally:
        up.kill()


def test_room_for_approval(program, places, folder):
    """What was approved and changes is not listed until it is approved again; its creator sees that."""
    up = begin(program, places, folder, "ann")
    try:
        up.good("PUT", "/admin/settings", {"approve_listing": "yes"}, "boss")

        def listed(place):
            rows = up.good("GET", "/api/places?limit=100")["places"]
            return place in [row.get("place_id", row.get("id")) for row in rows]
        made = up.publish("ann", package("First"), channel="live", visibility="listed")
        place = made["place_id"]
        path = f"/api/places/{place}"
        check(made["waits_for_approval"], made)
        check(up.good("GET", path, who="ann")["waits_for_approval"] and not listed(place), "it does not wait")
        up.good("POST", f"/admin/packages/{place}", {"act": "approve"}, "boss")
        check(not up.good("GET", path, who="ann")["waits_for_approval"], "it waits still")
        wait_until(lambda: listed(place), "it is listed")
        made = up.publish("ann", package("Second"), place, channel="live")
        check(made["waits_for_approval"], made)
        check(up.good("GET", path, who="ann")["waits_for_approval"], "it does not wait")
        wait_until(lambda: not listed(place), "it is not listed")
        waiting = up.good("GET", "/admin/approvals", who="boss")["approvals"]
        check([row["package_id"] for row in waiting] == [place], waiting)
        up.good("POST", f"/admin/packages/{place}", {"act": "approve"}, "boss")
        up.good("PATCH", path, {"title": "Something else"}, "ann")
        check(up.good("GET", path, who="ann")["waits_for_approval"], "a title needs no approval")
        # Whom an operator trusts.
        up.good("POST", "/api/accounts/ann/roles", {"roles": "creator trusted"}, "boss")
        up.good("POST", f"/admin/packages/{place}", {"act": "approve"}, "boss")
        back = up.good("POST", f"{path}/channels/live", {"revision_id": "r1"}, "ann")
        check(not back["waits_for_approval"], back)
        wait_until(lambda: listed(place), "it is listed")

        # The name in place.json is the title of a place that comes without one, and players read it: by the same rules.
        check(up.raw("PUT", "/admin/words", b"zebra\n", "boss", **{"Content-Type": "text/plain"})[0] == 200, "words")
        for name, title, problem in (("A z3bra", None, "$.name has a word that is not allowed"),
                                     ("A zebra", "Fine", "$.name has a word that is not allowed"),
                                     ("\u202egnp\u200b", None, "$.name must have no characters that show nothing"),
                                     ("\u3164", "Fine", "$.name must have no characters that show nothing")):
            status, answer = up.upload("ann", package(name), channel="live", **({"title": title} if title else {}))
            check(status == 202, answer)
            job = up.job("ann", answer["job_id"])
            check(job["status"] == "failed" and problem in job["reason"] + "".join(job["log"]), job)
            page = up.good("GET", f"/api/places/{answer['place_id']}", who="ann")
            check(page["live"] is None and page["title"] in ("", title), page)
    finally:
        up.kill()


def test_room_keeps_no_secret(program, places, folder):
    """What was compiled for somebody else before cannot be seen by the answers of a build."""
    needs_file()
    up = begin(program, places, folder, "ann", "bob")
    try:
        data = package("Same", ServerScriptService__Game="print('a guess of what ann has')")
        jobs = []
        for who in ("ann", "bob"):
            answer = up.publish(who, data)
            job = up.job(who, answer["job_id"])
            jobs.append({name: value for name, value in job.items() if name != "job_id"})
        check(jobs[0] == jobs[1], jobs)
        check("cached" not in jobs[0] and "compiled" not in jobs[0], jobs[0])
        rows = sqlite3.connect(f"file:{folder}/data/sandlot.db?mode=ro", uri=True).execute(
            "SELECT count(*) FROM revisions WHERE revision > 0 AND state = 2").fetchone()
        check(rows[0] >= 2, rows)
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

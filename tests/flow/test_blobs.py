"""Blobs by their hash: who may have them, how long they may be kept by others, and that those which nobody
uses are removed while those in use never are."""

import hashlib
import json
import os
import sys

from support import check, needs_file, run, wait_until
from test_accounts import People
from test_drafts import SECRET, ask, creator, good, job_end


def published(up, token, title, visibility, **files):
    """A place of that title with a live revision; more files, the path with / as __."""
    place = good(ask(up, "POST", "/api/drafts", token, {"title": title, "template": "obby"}))["place_id"]
    tag = ask(up, "GET", f"/api/places/{place}", token)[1]["ETag"]
    good(ask(up, "PATCH", f"/api/places/{place}", token, {"visibility": visibility}, If_Match=tag))
    # Its scene is like no other's.
    path = f"/api/places/{place}/draft/files/scene.json"
    _, headers, body = ask(up, "GET", path, token)
    scene = json.loads(body)
    scene["entities"][0]["name"] = f"Own_{title}"
    good(ask(up, "PUT", path, token, json.dumps(scene).encode(), If_Match=headers["ETag"]))
    for name, text in files.items():
        path = f"/api/places/{place}/draft/files/{name.replace('__', '/')}.lua"
        good(ask(up, "PUT", path, token, text.encode(), If_None_Match="*"))
    begun = good(ask(up, "POST", f"/api/places/{place}/draft/publish", token,
                     {"notes": "first", "channel": "live"}), 202)
    end = job_end(up, token, begun["job_id"])
    check(end["status"] == "done", end)
    return place


def scene_of(up, token, place):
    joined = good(ask(up, "POST", "/join", token, {"place_id": place}))
    room = good(ask(up, "GET", f"/api/rooms/{joined['room_code']}", token))
    return room["sceneHash"]


def test_blobs_are_for_those_who_may_have_them(program, _places, folder):
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        ann, bob = creator(up, boss, "ann"), creator(up, boss, "bob")
        guest = good(ask(up, "POST", "/login", None, {"username": "gus"}))["session_token"]
        listed, private = published(up, ann, "open", "listed"), published(up, ann, "secret", "private")
        hash_listed, hash_private = scene_of(up, ann, listed), scene_of(up, ann, private)
        check(hash_listed != hash_private, "two scenes")

        def public():
            status, headers, _ = ask(up, "GET", f"/blob/{hash_listed}", guest)
            return status == 200 and headers["Cache-Control"].startswith("public")
        wait_until(public, "anybody may keep what players of a listed place get")
        check(ask(up, "GET", f"/blob/{hash_listed}")[0] == 200, "also nobody who is signed in")
        for who in (None, guest, bob):
            check(ask(up, "GET", f"/blob/{hash_private}", who)[0] == 404, "a private place's scene is not there")
        status, headers, _ = ask(up, "GET", f"/blob/{hash_private}", ann)
        check(status == 200 and headers["Cache-Control"].startswith("private"), (status, headers))

        # The package itself, by its hash: for those who may read it.
        page = good(ask(up, "GET", f"/api/places/{private}/revisions/r1", ann))
        game = ask(up, "GET", f"/api/places/{private}/package", ann)[2]
        name = hashlib.sha256(game).hexdigest()
        check(name in json.dumps(page), page)
        status, headers, body = ask(up, "GET", f"/blob/{name}", ann)
        check(status == 200 and body == game and headers["Cache-Control"].startswith("private"), headers)
        part = ask(up, "GET", f"/blob/{name}", ann, None, Range="bytes=10-19")
        check(part[0] == 206 and part[2] == game[10:20], part[:2])
        for who in (None, guest, bob):
            check(ask(up, "GET", f"/blob/{name}", who)[0] == 404, "a package is not there for strangers")
        game = ask(up, "GET", f"/api/places/{listed}/package", ann)[2]
        for who in (None, guest, bob):
            check(ask(up, "GET", f"/blob/{hashlib.sha256(game).hexdigest()}", who)[0] == 404,
                  "nor is that of a listed place which is not open")
    finally:
        up.kill()


def test_blobs_of_several_places_in_one_answer(program, _places, folder):
    """A module that many have and one of its own: of two places that everybody plays, and of a private one."""
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        ann, bob = creator(up, boss, "ann"), creator(up, boss, "bob")
        names, runes, packing = ("one", "two", "den"), {}, 0
        for name in names:
            place = published(up, ann, name, "private" if name == "den" else "listed",
                              ReplicatedStorage__Common="return 'of all of them'\n",
                              **{f"ReplicatedStorage__Own_{name}": f"return '{name}'\n"})
            joined = good(ask(up, "POST", "/join", ann, {"place_id": place}))
            packing = joined["rune_packing"]
            rows = good(ask(up, "GET", f"/api/places/{place}/revisions/r1/manifest", ann))["scripts"]
            own = {row["path"].split("/")[-1]: row["rune_hash"].removeprefix("sha256:") for row in rows}
            runes[name] = (place, own["Common.lua"], own[f"Own_{name}.lua"], joined["rune_set"])
        common = runes["one"][1]
        check({entry[1] for entry in runes.values()} == {common}, "one rune for all")

        def forms(who, hashes, **more):
            status, _, body = ask(up, "POST", f"/packed/{packing}", who, {"runes": hashes, **more})
            found, at = [], 0
            while status == 200 and at < len(body):
                found.append(body[at])
                at += 5 + int.from_bytes(body[at + 1:at + 5], "little")
            return found if status == 200 else status
        own = {name: runes[name][2] for name in names}
        wait_until(lambda: isinstance(forms(None, [own["one"]]), list), "one is for everybody")
        wait_until(lambda: isinstance(forms(None, [own["two"]]), list), "two is for everybody")
        for hashes in ([common, own["one"], own["two"]], [own["two"], common, own["one"]],
                       [own["one"], own["two"], common]):
            found = forms(None, hashes)
            check(isinstance(found, list) and 0 not in found, f"{found}: some come one by one")
        # The private place: for who may play it and names it; to others it is like one that is nowhere.
        den = runes["den"][0]
        for who, place in ((None, den), (bob, den), (ann, runes["one"][0]), (ann, "nowhere")):
            found = forms(who, [own["one"], own["den"], "0" * 64], place_id=place)
            check(found[0] != 0 and found[1:] == [0, 0], f"{found}")
            check(forms(who, [own["den"]], place_id=place) == forms(who, ["0" * 64], place_id=place) == 404,
                  "as if there were none")
        found = forms(ann, [common, own["den"], own["two"]], place_id=den)
        check(0 not in found, f"{found}")
        # All runes of a place, under their one name.
        check(ask(up, "GET", f"/packed/{packing}/{runes['one'][3]}")[0] == 200, "the set of a listed place")
        status, headers, body = ask(up, "GET", f"/packed/{packing}/{runes['den'][3]}", ann)
        check(status == 200 and headers["Cache-Control"].startswith("private"), headers)
        check(bytes.fromhex(own["den"]) in body and bytes.fromhex(own["one"]) not in body, "only its own")
        for who in (None, bob):
            check(ask(up, "GET", f"/packed/{packing}/{runes['den'][3]}", who)[0] == 404, "not for strangers")
    finally:
        up.kill()


def blob_names(folder):
    needs_file()
    found = set()
    for root, _, files in os.walk(os.path.join(folder, "data", "blobs")):
        found |= {os.path.basename(root) + name for name in files if len(os.path.basename(root)) == 2}
    return found


def test_blobs_unused_ones_are_removed(program, _places, folder):
    needs_file()
    up = People(program, folder, variables=SECRET)
    boss = up.operator()
    ann = creator(up, boss, "ann")
    place = published(up, ann, "kept", "listed")
    used = blob_names(folder)
    up.process.terminate()
    up.process.wait()
    up.kill()
    # As an upload that nobody wrote a row for leaves it.
    stray = hashlib.sha256(b"nobody's").hexdigest()
    shelf = os.path.join(folder, "data", "blobs", stray[:2])
    os.makedirs(shelf, exist_ok=True)
    with open(os.path.join(shelf, stray[2:]), "wb") as file:
        file.write(b"nobody's")
    up = People(program, folder, variables=SECRET)
    try:
        wait_until(lambda: stray not in blob_names(folder), "it is removed at the start, or an hour later")
        check(blob_names(folder) >= used, "those in use stay")
        cleaned = good(ask(up, "POST", "/admin/cleanup", boss))
        check(cleaned["blobs"] == 0, cleaned)
        begun = good(ask(up, "POST", f"/api/places/{place}/draft/publish", ann, {"notes": "again"}), 202)
        good(ask(up, "POST", "/admin/cleanup", boss))  # while it is built
        check(job_end(up, ann, begun["job_id"])["status"] == "done", "what was just uploaded stays")
        check(ask(up, "GET", f"/api/places/{place}/package", ann)[0] == 200, "the package is there")
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

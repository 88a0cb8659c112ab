"""Places that come and go while `sandlot up` runs: folders that become packages at the start, opening on
demand, and what becomes of worlds and joins when a place changes."""

import glob
import json
import os
import shutil
import sys
import threading
import time

from hosts import leave
from support import check, run, wait_until
from test_up import Up, one_place
from test_worlds import Guest


def own_places(places, folder):
    """The island, and a small copy of it with another name."""
    own = one_place(places, folder)
    second = os.path.join(own, "second")
    shutil.copytree(os.path.join(own, "island"), second)
    rename(second, "Second")
    return own


def rename(place, name):
    path = os.path.join(place, "place.json")
    with open(path, encoding="utf-8") as file:
        text = json.load(file)
    text["name"] = name
    with open(path, "w", encoding="utf-8") as file:
        json.dump(text, file)


def said(up, words):
    return sum(words in line for line in up.lines)


def of_room(up, answer):
    return json.loads(up.request("GET", f"/api/rooms/{answer['room_code']}")[2])


def remove_all(pattern):
    found = glob.glob(pattern)
    check(found, f"nothing is at {pattern}")
    for path in found:
        shutil.rmtree(path)


# --- the start ------------------------------------------------------------------------------------

def test_places_folders_become_revisions(program, places, folder):
    """A folder that changed is the next revision; one that did not is left alone; one that cannot be
    built leaves what is live."""
    own = own_places(places, folder)
    second = os.path.join(own, "second")
    up = Up(program, folder, "--places", own)
    try:
        check(said(up, "place_second: revision 1, from") == 1, up.lines)
        check(said(up, "place_island: revision 1, from") == 1, up.lines)
        check(any("place_second: Second" in line for line in up.said), up.said)
        guest = Guest(up)
        world = guest.join(place_id="place_second")["world_id"]
        up.stop()

        up = Up(program, folder, "--places", own)
        check(said(up, "revision") == 0, f"nothing changed: {up.lines}")
        up.stop()

        os.utime(os.path.join(second, "place.json"))  # touched, and the same
        up = Up(program, folder, "--places", own)
        check(said(up, "revision") == 0, f"the same files: {up.lines}")
        up.stop()

        rename(second, "Second again")
        up = Up(program, folder, "--places", own)
        check(said(up, "place_second: revision 2, from") == 1, up.lines)
        check(any("place_second: Second again" in line for line in up.said), up.said)
        guest = Guest(up)
        answer = guest.join(place_id="place_second")
        check(answer["world_id"] == world, "the world of the first revision, with the second")
        check(of_room(up, answer)["placeName"] == "Second again", of_room(up, answer))
        up.stop()

        with open(os.path.join(second, "place.json"), "w", encoding="utf-8") as file:
            file.write("{")
        up = Up(program, folder, "--places", own)
        check(said(up, "/second is not served") == 1, up.lines)
        guest = Guest(up)
        check(guest.join(place_id="place_second")["world_id"] == world, "what was live still is")
        up.stop()
    finally:
        up.kill()


# --- on demand ------------------------------------------------------------------------------------

def test_places_open_on_demand(program, places, folder):
    """Only the default place is open at the start. Whoever joins another one, by its id or by the code
    of a world, waits for one build; many wait for the same one."""
    own = own_places(places, folder)
    up = Up(program, folder, "--places", own)
    try:
        guest = Guest(up)
        first = guest.join(place_id="place_second")
        named = guest.ask("POST", "/api/worlds", {"place_id": "place_second", "name": "Ours"})[1]
        check(said(up, "place_second: revision 1 is open") == 1, up.lines)
        up.stop()

        # As after an upgrade: what was built by another program does not count.
        remove_all(os.path.join(folder, ".local/share/sandlot/cache/entry"))
        up = Up(program, folder, "--places", own)
        guests = [Guest(up, f"bo{i}") for i in range(8)]
        check(said(up, "place_second") == 0, f"it is not open: {up.lines}")
        room = of_room(up, first)
        check(room["placeId"] == "place_second" and room["state"] == "stopped", room)
        wishes = [{"place_id": "place_second"}, {"room_code": first["room_code"]},
                  {"world_id": first["world_id"]}, {"world_id": named["world_id"]}]
        answers = [None] * len(guests)

        def join(i):
            answers[i] = guests[i].ask("POST", "/join", wishes[i % len(wishes)])

        threads = [threading.Thread(target=join, args=(i,)) for i in range(len(guests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(all(status == 200 for status, _ in answers), answers)
        check(said(up, "place_second: revision 1 is open") == 1, f"one build: {up.lines}")
        player = guests[0].play(world_id=named["world_id"])
        leave(player)
        check(guests[0].ask("POST", "/join", {"place_id": "place_none"})[0] == 404, "no such place")
        check(guests[0].ask("POST", "/join", {"place_id": "place_second", "channel": "alpha"})[0] == 400,
              "no such channel")
        guests[0].refused(403, "beta_denied", "POST", "/join",
                          {"place_id": "place_second", "channel": "beta"})
        up.stop()
    finally:
        up.kill()


def test_places_that_cannot_be_opened(program, places, folder):
    """What was unpacked is made again from the package. Without the package the place is broken, which
    is said, and the others are played."""
    own = own_places(places, folder)
    data = os.path.join(folder, ".local/share/sandlot")
    up = Up(program, folder, "--places", own)
    try:
        up.stop()
        remove_all(os.path.join(data, "unpacked", "*"))
        remove_all(os.path.join(data, "cache", "entry"))
        up = Up(program, folder, "--places", own)
        guest = Guest(up)
        check(guest.join(place_id="place_second")["place_id"] == "place_second", "made again")
        world = guest.join(place_id="place_second")["world_id"]
        up.stop()

        remove_all(os.path.join(data, "unpacked", "*"))
        games = glob.glob(os.path.join(data, "blobs", "??", "*"))
        check(len(games) >= 2, games)
        up = Up(program, folder, "--places", own)  # the default place is unpacked now
        for game in games:
            os.remove(game)
        guest = Guest(up)
        for wish in ({"place_id": "place_second"}, {"world_id": world}):
            message = guest.refused(502, "broken", "POST", "/join", wish)
            check("publish" in message, message)
        check(said(up, "place_second: revision 1 cannot be opened") == 1, "it is not tried at once again")
        check(guest.join(place_id="place_island")["place_id"] == "place_island", "others go on")
        up.stop()
    finally:
        up.kill()


def test_places_start_is_quick(program, places, folder):
    """A start without changes packs and builds nothing: it takes a fraction of the first one."""
    own = own_places(places, folder)
    times = []
    up = None
    try:
        for _ in range(3):
            begin = time.monotonic()
            up = Up(program, folder, "--places", own)
            times.append(time.monotonic() - begin)
            up.stop()
    finally:
        if up is not None:
            up.kill()
    print(f"starts: {', '.join(f'{t:.2f} s' for t in times)}")
    check(min(times[1:]) < times[0], f"{times}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

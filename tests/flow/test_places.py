"""Places that come and go while `sandlot up` runs: folders that become packages at the start, opening on
demand, and what becomes of worlds and joins when a place changes."""

import glob
import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time

from hosts import Room, leave
from support import Closed, PATIENCE, Player, check, needs_file, run, wait_until
from test_accounts import People
from test_up import Up, one_place
from test_world import build_something, structures
from test_worlds import Guest, refused_handshake


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

        # Without its folder it is not played, and with it again it is, with its worlds.
        rename(os.path.join(own, "island"), "Island")
        aside = os.path.join(folder, "aside")
        os.rename(second, aside)
        up = Up(program, folder, "--places", own)
        Guest(up).refused(409, "not_published", "POST", "/join", {"world_id": world})
        up.stop()
        shutil.copy(os.path.join(own, "island", "place.json"), aside)
        rename(aside, "Second again")
        os.rename(aside, second)
        up = Up(program, folder, "--places", own)
        check(Guest(up).join(place_id="place_second")["world_id"] == world, up.lines)
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
    needs_file()
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


def test_places_close_when_nobody_plays(program, places, folder):
    """A place that nobody plays is closed, and opened again by the next join, or in development by a
    socket. The default place stays, and so does one that is played."""
    own = own_places(places, folder)
    up = Up(program, folder, "--places", own, "--idle-stop", "2", "--idle-place", "3")
    try:
        guest = Guest(up)
        player = guest.play(place_id="place_second")
        world = player.world_id
        time.sleep(6)
        check(said(up, "place_second is closed") == 0, "somebody plays it")
        scene = json.loads(up.request("GET", f"/api/rooms/{world}")[2])["sceneHash"]
        check(up.request("GET", f"/blob/{scene}")[0] == 200, "its files are sent")
        leave(player)
        wait_until(lambda: said(up, "place_second is closed: nobody plays it") == 1, "it is closed", 30)
        check(said(up, "place_island is closed") == 0, "the default place")
        check(json.loads(up.request("GET", f"/api/rooms/{world}")[2])["placeName"] is None, "not open")
        player = guest.play(world_id=world)
        check(said(up, "place_second: revision 1 is open") == 2, "opened again")
        leave(player)
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


# --- places that change while they are played -----------------------------------------------------

class Publisher:
    """A server, and a creator on it with a place of which every revision has another name."""

    def __init__(self, program, places, folder, *options):
        self.program, self.folder = program, folder
        own = one_place(places, folder)
        self.source = os.path.join(own, "island")
        self.up = People(program, folder, "--places", own, "--registration", "open", *options)
        self.ann = self.account("ann")
        self.place_id, self.version = None, 0

    def account(self, name):
        """Somebody with an account, who asks as Guest does."""
        somebody = Guest.__new__(Guest)
        somebody.up, somebody.name = self.up, name
        somebody.token = self.up.register(name)["session_token"]
        return somebody

    def send(self, method, path, body):
        link = http.client.HTTPConnection("127.0.0.1", self.up.port, timeout=60 * PATIENCE)
        try:
            link.request(method, path, body, {"Authorization": f"Bearer {self.ann.token}",
                                              "Content-Type": "application/octet-stream"})
            answer = link.getresponse()
            text = json.loads(answer.read())
            check(answer.status == 202, f"{path} says {answer.status}: {text}")
            return text
        finally:
            link.close()

    def publish(self, channel="live", visibility="listed", waits=True):
        """The next revision, named by its number; gives its id."""
        self.version += 1
        copy, game = (os.path.join(self.folder, name) for name in ("next", "next.game"))
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.source, copy)
        rename(copy, f"Form {self.version}")
        subprocess.run([self.program, "pack", copy, "-o", game, "--force", "--allow-weak-jail"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60 * PATIENCE)
        with open(game, "rb") as file:
            body = file.read()
        if self.place_id is None:
            path = f"/api/places?notes=first&title=Meadow&visibility={visibility}"
        else:
            path = f"/api/places/{self.place_id}/revisions?notes=next"
        made = self.send("POST", path + (f"&channel={channel}" if channel else ""), body)
        self.place_id = made["place_id"]
        if waits:
            at = f"/api/places/{self.place_id}/revisions/{made['revision_id']}"
            wait_until(lambda: self.ann.get(at)["state"] == "ready", "it is built", 60)
        return made["revision_id"]

    def promote(self, revision, channel="live"):
        status, answer = self.ann.ask("POST", f"/api/places/{self.place_id}/channels/{channel}",
                                      {"revision_id": revision})
        check(status == 200, f"{status}: {answer}")

    def form(self, answer):
        """Which revision the world of a join runs with."""
        return self.form_of(self.ann, answer)

    def form_of(self, who, answer):
        return who.get(f"/api/rooms/{answer['room_code']}")["placeName"]

    def join_form(self, wanted, who):
        """A join that leads to a world of this form, soon."""
        found = []

        def is_there():
            found[:] = [who.join(place_id=self.place_id)]
            return self.form(found[0]) == wanted
        wait_until(is_there, f"a world of {wanted}", 30)
        return found[0]


def hears_stop(player):
    """Its world begins again: it is told so and cut."""
    try:
        for _ in range(100):
            player.listen(0.2)
    except Closed:
        pass
    # Who hears nothing while a busy machine builds for five seconds is cut for that, before it is told.
    check([error["code"] for error in player.errors] in (["stopped"], ["behind"]), f"{player.errors}")


def test_places_owners_kick(program, places, folder):
    """The owner of the place removes players from its worlds, and the owner of a world from that one; who
    is removed reads why and may come again. Operators cannot be removed, and nobody else may."""
    all_ = Publisher(program, places, folder)
    up = all_.up
    try:
        boss = up.operator()
        all_.publish()
        bo, cy = Guest(up, "bo"), Guest(up, "cy")
        room = bo.play(place_id=all_.place_id)
        path = f"/api/worlds/{room.world_id}"
        name = f"guest_{bo.get('/api/account')['user_id']:x}"
        check(all_.ann.get(f"{path}/rights") == {"world_id": room.world_id, "kick": True, "scripts": True}, "the owner may")
        check(cy.get(f"{path}/rights") == {"world_id": room.world_id, "kick": False, "scripts": False}, "a stranger may not")
        cy.refused(403, "denied", "POST", f"{path}/kick", {"player": name})
        cy.refused(404, "not_found", "POST", "/api/worlds/world_none/kick", {"player": name})
        all_.ann.refused(404, "not_found", "POST", f"{path}/kick", {"player": "nobody"})
        all_.ann.refused(409, "yourself", "POST", f"{path}/kick", {"player": "ann"})
        all_.ann.refused(403, "denied", "POST", f"{path}/kick", {"player": "boss"})
        for reason in ("a\u202eb", "a\nb", "x" * 65, 7):
            all_.ann.refused(400, "malformed", "POST", f"{path}/kick", {"player": name, "reason": reason})
        status, answer = all_.ann.ask("POST", f"{path}/kick", {"player": name, "reason": "no digging"})
        check(status == 200 and answer["reason"] == "the place's owner wrote: no digging", f"{status} {answer}")
        why = told_why(room)
        check(why == ("kicked", "you were removed from this world: the place's owner wrote: no digging"), why)
        check(bo.join(world_id=room.world_id)["world_id"] == room.world_id, "a kick is no ban")

        # A world of one's own, in somebody else's place.
        den = cy.ask("POST", "/api/worlds", {"place_id": all_.place_id, "name": "Den"})[1]["world_id"]
        inside = bo.play(world_id=den)
        check(cy.ask("POST", f"/api/worlds/{den}/kick", {"player": name})[0] == 200, "its owner may")
        check(told_why(inside)[1].endswith(": its owner decided so"), "he was not told")
        status, rows = up.post("/admin/audit", None, boss, method="GET")
        kicks = [row for row in rows["audit"] if row["action"] == "world.kick"]
        check(len(kicks) == 2 and "no digging" in kicks[1]["detail"] and room.world_id in kicks[1]["detail"], kicks)
        up.stop()
    finally:
        up.kill()


def told_why(player):
    """The code and the words with which a session ended."""
    try:
        for _ in range(100):
            player.listen(0.2)
    except Closed:
        pass
    check(player.errors, "nothing was said")
    return player.errors[-1]["code"], player.errors[-1]["message"]


def test_places_a_new_revision(program, places, folder):
    """More than scripts changed. A public world goes on with the revision that it began with, and who
    asks for the place gets a new one; a named world begins again with the new revision, and with all
    that was stored."""
    all_ = Publisher(program, places, folder, "--idle-stop", "3")
    up = all_.up
    try:
        all_.publish()
        guest, other = Guest(up, "bo"), Guest(up, "cy")
        old = guest.join(place_id=all_.place_id)
        inside = guest.play(world_id=old["world_id"])
        named = other.ask("POST", "/api/worlds", {"place_id": all_.place_id, "name": "Ours"})[1]
        builder = other.play(world_id=named["world_id"])
        builder.walk(0.3, move_z=0)
        built = build_something(builder)
        check(all_.form(old) == all_.form(named) == "Form 1", all_.form(old))
        scene = of_room(up, old)["sceneHash"]

        all_.publish()
        new = all_.join_form("Form 2", Guest(up, "di"))
        check(new["world_id"] not in (old["world_id"], named["world_id"]), "a new world")
        check(all_.form(old) == "Form 1", "a public one goes on")
        hears_stop(builder)
        wait_until(lambda: all_.form(named) == "Form 2", "the named one begins again", 30)
        again = other.play(world_id=named["world_id"])
        again.listen(1.0)
        check(built in structures(again), f"{built} is not in {structures(again)}")
        leave(again)
        check(up.request("GET", f"/blob/{scene}")[0] == 200, "their players still get its files")
        inside.walk(0.3, move_z=1)
        by_code = other.join(room_code=old["room_code"])
        check(by_code["world_id"] == old["world_id"], "who names it comes in")

        leave(inside)
        for world in (old, named):
            wait_until(lambda w=world: of_room(up, w)["state"] == "stopped", "it ends when it is empty", 60)
        all_.promote("r1")  # back
        all_.join_form("Form 1", Guest(up, "ed"))
        check(said(up, "cannot be opened") == 0, up.lines)
        up.stop()
    finally:
        up.kill()


def test_places_rights(program, places, folder):
    """A private place and its worlds are not there for strangers; its beta is its team's, with worlds and
    data of its own; who is kept out leaves; the trash takes the worlds along."""
    all_ = Publisher(program, places, folder)
    up, ann = all_.up, all_.ann
    try:
        bob, eve = all_.account("bob"), all_.account("eve")
        all_.publish(channel="", visibility="private")
        place = {"place_id": all_.place_id}
        eve.refused(404, "not_found", "POST", "/join", place)
        ann.refused(409, "not_published", "POST", "/join", place)
        all_.promote("r1")
        world = ann.join(**place)
        for wish in (place, {"world_id": world["world_id"]}, {"room_code": world["room_code"]}):
            eve.refused(404, "not_found", "POST", "/join", wish)
        eve.refused(404, "not_found", "GET", f"/api/rooms/{world['room_code']}")
        eve.refused(404, "not_found", "POST", "/api/worlds", place)
        eve.refused(404, "not_found", "GET", f"/api/assets?place={all_.place_id}")
        check(world["world_id"] not in [w["worldId"] for w in eve.get("/worlds")["worlds"]], "it is listed")
        check("forbidden" in refused_handshake(Room(up, world), session=eve.token), "by a sign-in")
        Player(Room(up, ann.join(**place)), session=ann.token).close()
        check("forbidden" in refused_handshake(Room(up, world), session=ann.token), "once")

        # The beta.
        status, answer = ann.ask("PUT", f"/api/places/{all_.place_id}/team/bob", {"role": "tester"})
        check(status == 200, answer)
        all_.publish(channel="beta")
        beta = bob.join(channel="beta", **place)
        check(beta["place_id"] == all_.place_id + "-beta" and all_.form_of(bob, beta) == "Form 2", beta)
        check(bob.join(**place)["world_id"] == world["world_id"], "live is another world")
        check(ann.ask("PATCH", f"/api/places/{all_.place_id}", {"visibility": "listed"})[0] == 200, "listed")
        eve.refused(403, "beta_denied", "POST", "/join", {"channel": "beta", **place})
        for wish in ({"world_id": beta["world_id"]}, {"room_code": beta["room_code"]}):
            eve.refused(404, "not_found", "POST", "/join", wish)
        check(beta["world_id"] not in [w["worldId"] for w in eve.get("/worlds")["worlds"]], "it is listed")

        # Who is kept out.
        player = eve.play(**place)
        check(ann.ask("PUT", f"/api/places/{all_.place_id}/team/eve", {"role": "blocked"})[0] == 200, "kept out")
        wait_until(lambda: is_closed(player), "they have to leave", 20)
        message = eve.refused(403, "kept_out", "POST", "/join", place)
        check("team" in message, message)
        eve.refused(403, "kept_out", "POST", "/join", {"room_code": world["room_code"]})

        # The trash.
        player = bob.play(**place)
        check(ann.ask("DELETE", f"/api/places/{all_.place_id}")[0] == 200, "the trash")
        wait_until(lambda: is_closed(player), "the world stops", 20)
        bob.refused(404, "not_found", "POST", "/join", place)
        bob.refused(404, "not_found", "POST", "/join", {"world_id": world["world_id"]})
        ann.refused(409, "trashed", "POST", "/join", place)
        check(ann.ask("POST", f"/api/places/{all_.place_id}/restore")[0] == 200, "restored")
        check(bob.join(world_id=world["world_id"])["place_id"] == all_.place_id, "with its worlds")
        up.stop()
    finally:
        up.kill()


def is_closed(player):
    try:
        player.listen(0.2)
    except (Closed, OSError):
        return True
    return False


def test_places_changes_during_joins(program, places, folder):
    """Promoted, rolled back, thrown away and restored while people join: every join is answered, and
    whoever gets a ticket gets a whole world."""
    all_ = Publisher(program, places, folder)
    up, ann = all_.up, all_.ann
    place = {"place_id": None}
    ends, answers, fetched = threading.Event(), [], []
    try:
        all_.publish()
        all_.publish(channel="")
        place["place_id"] = all_.place_id
        guests = [Guest(up, f"bo{i}") for i in range(4)]
        late = Guest(up, "late")

        def join(guest):
            while not ends.is_set():
                begin = time.monotonic()
                status, answer = guest.ask("POST", "/join", place)
                answers.append((status, answer, time.monotonic() - begin))

        scene = of_room(up, guests[0].join(**place))["sceneHash"]

        def fetch():
            while not ends.is_set():
                for path in (f"/blob/{scene}", f"/api/assets?place={all_.place_id}"):
                    fetched.append(up.request("GET", path)[0])

        threads = [threading.Thread(target=join, args=(guest,)) for guest in guests]
        threads.append(threading.Thread(target=fetch))
        for thread in threads:
            thread.start()
        for i in range(12):
            all_.promote("r2" if i % 2 == 0 else "r1")
            if i % 4 == 3:  # from now on nobody gets the revision of before
                answer = late.join(**place)
                check(all_.form(answer) == "Form 1", of_room(up, answer))
            time.sleep(0.05 * (i % 4))
            if i % 3 == 2:
                check(ann.ask("DELETE", f"/api/places/{all_.place_id}")[0] == 200, "the trash")
                late.refused(404, "not_found", "POST", "/join", place)
                time.sleep(0.05 * (i % 5))
                check(ann.ask("POST", f"/api/places/{all_.place_id}/restore")[0] == 200, "restored")
        ends.set()
        for thread in threads:
            thread.join(60 * PATIENCE)
        check(not any(thread.is_alive() for thread in threads), "a join is not answered")
        statuses = {status for status, _, _ in answers}
        check(statuses <= {200, 404, 503} and 200 in statuses, f"{statuses}")
        check(set(fetched) <= {200, 404} and 200 in fetched, f"{set(fetched)}")
        for status, answer, _ in answers:
            check(status == 200 or answer["code"] in ("not_found", "unavailable"), answer)
        print(f"{len(answers)} joins, the longest took {max(s for _, _, s in answers):.2f} s")
        worlds = {answer["world_id"]: answer for status, answer, _ in answers if status == 200}
        late.join(**place)  # perhaps nobody came since the place was restored, and it is not open yet
        for world in worlds.values():
            check(all_.form(world) in ("Form 1", "Form 2"), of_room(up, world))
        all_.promote("r2")
        last = all_.join_form("Form 2", guests[0])
        player = guests[0].play(world_id=last["world_id"])
        player.walk(0.3, move_z=1)
        leave(player)
        up.stop()
    finally:
        ends.set()
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

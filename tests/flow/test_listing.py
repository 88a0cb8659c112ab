"""The listing: places in order and by search, tags, collections, votes, favourites, how much places
are played, and worlds with room. The places are put straight into the store, most of them; one is
really played."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from clock import DAY_S, clock_ahead
from hosts import enter, leave
from support import PATIENCE, check, needs_file, run, wait_until
from test_accounts import PASSWORD, People

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}
PLAYED = "place_island"
PLACES = 1500
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def fill(program, folder, count):
    """Puts places into the database of a server that is stopped; in memory, where nothing waits for
    the disk."""
    needs_file()
    database = os.path.join(folder, "data", "sandlot.db")
    helper = os.path.join(os.path.dirname(program), "control_helper")
    work = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else folder)
    try:
        shutil.copy(database, os.path.join(work, "sandlot.db"))
        subprocess.run([helper, "places", os.path.join(work, "sandlot.db"), str(count), PLAYED],
                       check=True, timeout=120 * PATIENCE)
        shutil.copy(os.path.join(work, "sandlot.db"), database)
    finally:
        shutil.rmtree(work)


def begin(program, folder, count):
    """A server with so many places, and its operator's token."""
    up = People(program, folder, variables=SECRET)
    token = up.operator()
    up.stop()
    fill(program, folder, count)
    return People(program, folder, "--vote-seconds", "3", variables=SECRET), token


def ask(up, path, token=None, body=None, method="GET", status=200):
    found, answer = up.post(path, body, token, method=method)
    check(found == status, f"{method} {path} says {found}, not {status}: {answer}")
    return answer


def walk(up, path):
    """All rows of all pages."""
    rows, after, pages = [], "", 0
    while after is not None:
        answer = ask(up, f"{path}&after={after}")
        rows += answer["places"]
        after = answer["next"]
        pages += 1
        check(pages < 200, f"{path} has no end")
    return rows


def ids(rows):
    return [row["id"] for row in rows]


# --- lists ----------------------------------------------------------------------------------------

def check_orders(up):
    for sort in ("popular", "new"):
        rows = walk(up, f"/api/places?sort={sort}&limit=100")
        bench = [row for row in ids(rows) if row.startswith("place_bench-")]
        check(len(bench) == PLACES and len(set(ids(rows))) == len(rows),
              f"{sort}: {len(bench)} of {PLACES} places, {len(set(ids(rows)))} different ones")
    new = walk(up, "/api/places?sort=new&limit=100")
    times = [row["published_at"] for row in new]
    check(times == sorted(times, reverse=True), "new places are not in order")
    first = ask(up, "/api/places?limit=1")["places"][0]
    check(set(first) == {"id", "title", "description", "thumbnail", "creator", "creator_id", "players",
                         "visits", "unique_players", "votes_up", "votes_down", "updated_at",
                         "published_at", "tags", "open"}, f"a row is {first}")
    check(first["unique_players"] == 49 and first["creator"].startswith("Creator "), f"first: {first}")


def check_search(up):
    everything = walk(up, "/api/places?limit=100")
    bench = [row for row in everything if row["id"].startswith("place_bench-")]

    def words(row):
        text = f"{row['title']} {row['description']} {row['creator']} {' '.join(row['tags'])}"
        return re.findall(r"[a-z0-9]+", text.lower())

    for query in ("golden", "gol", "t", "frozen maze", "CASTLE lo", "creator 7", "obby"):
        wanted = {row["id"] for row in bench
                  if all(any(word.startswith(part) for word in words(row)) for part in query.lower().split())}
        found = [row for row in ids(walk(up, f"/api/places?limit=100&q={query.replace(' ', '+')}"))
                 if row.startswith("place_bench-")]
        check(set(found) == wanted and len(found) == len(wanted),
              f"{query}: {len(found)} found, {len(wanted)} wanted")
    tagged = [row for row in bench if "puzzle" in row["tags"]]
    check(set(ids(walk(up, "/api/places?limit=100&tag=puzzle"))) >= set(ids(tagged)), "tag=puzzle")
    counts = {row["tag"]: row["places"] for row in ask(up, "/api/tags")["tags"]}
    check(counts["puzzle"] >= len(tagged), f"tags: {counts}")
    own = ids(walk(up, "/api/places?limit=100&creator=creator7"))
    check(set(own) >= {row["id"] for row in bench if row["creator"] == "Creator 7"}, "creator=")
    check(ask(up, "/api/places?creator=nobody")["places"] == [], "an unknown creator has places")
    check(ask(up, "/api/places?q=%21%3f")["places"] == [], "a query without words finds something")


def check_refusals(up):
    for query in ("sort=best", "limit=0", "limit=101", "limit=x", "after=zzz", "after=o1.2.%2e%2e%2fx",
                  "tag=No", f"q={'a' * 201}", "q=%ff", "sort=featured&q=a", "sort=featured&collection=A+b"):
        ask(up, f"/api/places?{query}", status=400)


def check_tags(up):
    """Who has the page is told so, until something changes."""
    status, headers, _ = up.request("GET", "/api/places?limit=7")
    headers = {name.lower(): value for name, value in headers.items()}
    check(status == 200 and "etag" in headers, f"no ETag: {headers}")
    tag = {"If-None-Match": headers["etag"]}
    check(up.request("GET", "/api/places?limit=7", headers=tag)[0] == 304, "the same page is sent again")
    return tag


def test_listing_lists(program, _places, folder):
    """Orders, search, cursors, tags and refusals over many places; what is hidden is gone at once."""
    up, operator = begin(program, folder, PLACES)
    try:
        check_orders(up)
        check_search(up)
        check_refusals(up)
        tag = check_tags(up)
        first = ask(up, "/api/places?limit=7")["places"][0]["id"]
        ask(up, f"/api/places/{first}", operator, {"visibility": "unlisted"}, "PATCH")
        check(up.request("GET", "/api/places?limit=7", headers=tag)[0] == 200, "the page is still as it was")
        check(first not in ids(ask(up, "/api/places?limit=7")["places"]), "a hidden place is listed")
        up.stop()
    finally:
        up.kill()


def test_listing_collections(program, _places, folder):
    """The operator's collections, in the operator's order; tags by those who work on a place."""
    up, operator = begin(program, folder, 20)
    try:
        ann = up.register("annie")["session_token"]
        chosen = ["place_bench-000007", "place_bench-000003", "place_bench-000005"]
        path = "/admin/collections/featured"
        ask(up, path, ann, {"places": chosen}, "PUT", 403)
        ask(up, path, operator, {"places": ["place_none"]}, "PUT", 404)
        ask(up, path, operator, {"places": [7]}, "PUT", 400)
        ask(up, "/admin/collections/A%20b", operator, {"places": chosen}, "PUT", 400)
        check(ask(up, "/api/places?sort=featured")["places"] == [], "something is featured already")
        ask(up, path, operator, {"places": chosen, "title": "Best of all"}, "PUT")
        ask(up, "/admin/collections/easy", operator, {"places": chosen[:1]}, "PUT")
        check(ids(walk(up, "/api/places?sort=featured&limit=2")) == chosen, "another order")
        check(ids(ask(up, "/api/places?sort=featured&collection=easy")["places"]) == chosen[:1], "easy")
        found = ask(up, "/api/collections")["collections"]
        check(found == [{"name": "easy", "title": "", "places": 1},
                        {"name": "featured", "title": "Best of all", "places": 3}], f"{found}")
        audit = ask(up, "/admin/audit", operator)["audit"]
        check(audit[0]["action"] == "collection", f"not in the audit: {audit[0]}")
        ask(up, "/admin/collections/easy", operator, {"places": []}, "PUT")
        check(len(ask(up, "/api/collections")["collections"]) == 1, "it is still there")
        place = f"/api/places/{chosen[0]}"
        ask(up, f"{place}/tags", ann, {"tags": ["mine"]}, "PUT", 403)
        ask(up, f"{place}/tags", operator, {"tags": ["Not-A-Tag"]}, "PUT", 400)
        ask(up, f"{place}/tags", operator, {"tags": ["a"] * 9}, "PUT", 400)
        ask(up, f"{place}/tags", operator, {"tags": ["parkour", "hard"]}, "PUT")
        check(ids(ask(up, "/api/places?tag=parkour")["places"]) == chosen[:1], "tag=parkour")
        check(ask(up, place)["tags"] == ["parkour", "hard"], "the page has other tags")
        ask(up, "/admin/settings", operator, {"approve_listing": "yes"}, "PUT")
        found = [row for row in ids(ask(up, "/api/places?limit=100")["places"]) if "bench" in row]
        check(found == [], f"places are listed that nobody has approved: {found}")
        ask(up, "/admin/settings", operator, {"approve_listing": "no"}, "PUT")
        check(len(ask(up, "/api/places?limit=100")["places"]) >= 20, "approved places are gone")
        # Who may not see it does not learn that it is there.
        ask(up, place, operator, {"visibility": "private"}, "PATCH")
        for method, part, body in (("PUT", "vote", {"vote": 1}), ("PUT", "favourite", None),
                                   ("PUT", "tags", {"tags": []}), ("GET", "worlds", None),
                                   ("GET", "stats", None), ("GET", "vote", None)):
            ask(up, f"{place}/{part}", ann, body, method, 404)
        up.stop()
    finally:
        up.kill()


# --- play -----------------------------------------------------------------------------------------

def counts(up):
    return ask(up, f"/api/places/{PLAYED}")


def test_listing_play(program, _places, folder):
    """Visits are counted when somebody plays, and survive kill -9; who has played for long enough may vote."""
    up, operator = begin(program, folder, 5)
    try:
        ann = up.register("annie")["session_token"]
        guest = ask(up, "/login", None, {"username": "gus"}, "POST")["session_token"]
        place = f"/api/places/{PLAYED}"
        before = counts(up)
        ask(up, f"{place}/vote", ann, {"vote": 1}, "PUT", 403)  # she has not played it
        ask(up, f"{place}/vote", guest, {"vote": 1}, "PUT", 403)
        players = [enter(up, token=token, place_id=PLAYED) for token in (ann, guest)]
        wait_until(lambda: counts(up)["visits"] == before["visits"] + 2, "two visits are counted",
                   20 * PATIENCE)
        wait_until(lambda: counts(up)["players"] == 2, "two players are there", 10 * PATIENCE)
        check(counts(up)["unique_players"] == before["unique_players"] + 2, f"{counts(up)}")
        row = next(row for row in walk(up, "/api/places?limit=100") if row["id"] == PLAYED)
        wait_until(lambda: next(row for row in walk(up, "/api/places?limit=100")
                                if row["id"] == PLAYED)["players"] == 2, "the list says so", 10 * PATIENCE)
        check(row["unique_players"] >= 2, f"{row}")
        worlds = ask(up, f"{place}/worlds")
        check([world["players"] for world in worlds["worlds"]] == [2] and worlds["next"] is None, f"{worlds}")
        check(worlds["worlds"][0]["room_code"] == players[0].welcome["roomCode"], f"{worlds}")
        wait_until(lambda: counts(up)["seconds_played"] >= 4 and counts(up)["cost"], "time is counted",
                   30 * PATIENCE)
        cost = counts(up)["cost"]
        check(cost["players"] in (1, 2) and 0 < cost["tick_ms"] < 1000, f"{cost}")
        wait_until(lambda: up.post(f"{place}/vote", {"vote": 1}, ann, method="PUT")[0] == 200,
                   "three seconds are enough for a vote", 20 * PATIENCE)
        voted = ask(up, f"{place}/vote", ann, {"vote": 1}, "PUT")
        check(voted == {"place_id": PLAYED, "vote": 1, "favourite": False, "played": True}, f"{voted}")
        ask(up, f"{place}/vote", ann, {"vote": 2}, "PUT", 400)
        ask(up, f"{place}/vote", guest, {"vote": 1}, "PUT", 403)
        check(ask(up, f"{place}/favourite", ann, None, "PUT")["favourite"], "no favourite")
        check(ids(ask(up, "/api/me/favourites", ann)["places"]) == [PLAYED], "favourites")
        check(ids(ask(up, "/api/me/recent", guest)["places"]) == [PLAYED], "recently played")
        known = counts(up)
        up.process.kill()
        up.process.wait()
        for player in players:
            player.close()
        up = People(program, folder, variables=SECRET)
        after = counts(up)
        for name in ("visits", "unique_players", "votes_up", "favourites", "peak_players"):
            check(after[name] >= known[name] > 0, f"{name} was {known[name]} and is {after[name]}")
        check(after["seconds_played"] >= known["seconds_played"], f"{after}")
        stats = ask(up, f"{place}/stats?days=3", operator)
        check(len(stats["days"]) == 3 and sum(day["visits"] for day in stats["days"]) >= 2, f"{stats}")
        check(sum(day["returned"] for day in stats["days"]) == 0, f"{stats}")
        ask(up, f"{place}/stats", ann, status=403)
        ask(up, f"{place}/stats?days=0", operator, status=400)
        ask(up, f"{place}/favourite", ann, None, "DELETE")
        check(ask(up, "/api/me/favourites", ann)["places"] == [], "it is still a favourite")
        up.stop()
    finally:
        up.kill()


def play_together(up, names, seconds):
    """So many play at once, for so long; gives the least and the most seconds that this can be."""
    before = time.monotonic()
    players = [enter(up, token=up.tokens[name], place_id=PLAYED) for name in names]
    began = time.monotonic()
    wait_until(lambda: counts(up)["players"] == len(names), "they are there", 10 * PATIENCE)
    wait_until(lambda: time.monotonic() >= began + seconds or [player.listen(0.2) for player in players]
               and False, "they play", 30 * PATIENCE)
    ended = time.monotonic()
    for player in players:
        leave(player)
    wait_until(lambda: counts(up)["players"] == 0, "they are gone", 10 * PATIENCE)
    return len(names) * (ended - began - 1), len(names) * (time.monotonic() - before + 1)


def stats_of(up, days):
    answer = ask(up, f"/api/places/{PLAYED}/stats?days={days}", up.tokens["boss"])
    return answer, answer["days"][::-1]


def test_listing_stats(program, _places, folder):
    """What is counted of two days of play: on the first Ann, twice within ten minutes, with Bob; on the second
    Ann again, with Cyd. From the first player on."""
    needs_file("on a shared database the days are those of its server")
    to_ten = (DAY_S + 10 * 3600 - int(time.time()) % DAY_S)  # tomorrow at ten: no midnight comes meanwhile
    clocks = [clock_ahead(folder, to_ten + day * DAY_S) for day in (0, 1)]
    if not clocks[0]:
        print("there is no compiler to make another clock with")
        sys.exit(77)
    up = People(program, folder, variables={**SECRET, **clocks[0]})
    try:
        up.tokens = {"boss": up.operator()}
        for name in ("ann", "bob", "cyd"):
            up.tokens[name] = up.register(name)["session_token"]
        sums, days = stats_of(up, 2)
        names = ("visits", "unique_players", "returned", "seconds_played", "peak_players")
        check([day[name] for day in days for name in names] == 10 * [0], f"before anybody came: {days}")
        least, most = play_together(up, ["ann"], 0)
        second = play_together(up, ["ann", "bob"], 4)
        least, most = least + second[0], most + second[1]
        wait_until(lambda: stats_of(up, 1)[0]["visits"] == 2, "both are counted", 20 * PATIENCE)
        wait_until(lambda: stats_of(up, 1)[1][0]["seconds_played"] >= least, "their time is", 20 * PATIENCE)
        up.stop()  # what was not counted yet is now
        up = People(program, folder, variables={**SECRET, **clocks[1]})
        up.tokens = {name: ask(up, "/login", None, {"username": name, "password": PASSWORD}, "POST")["session_token"]
                     for name in ("boss", "ann", "cyd")}
        sums, days = stats_of(up, 2)
        first = days[1]
        check([first[name] for name in ("visits", "unique_players", "returned", "peak_players")] ==
              [2, 2, 0, 2], f"the first day: {first}")
        check(least <= first["seconds_played"] <= most, f"{first['seconds_played']} s, at most {most:.1f}")
        play_together(up, ["ann", "cyd"], 0)
        wait_until(lambda: stats_of(up, 1)[0]["visits"] == 4 and stats_of(up, 1)[1][0]["peak_players"] == 2,
                   "the second day is counted", 20 * PATIENCE)
        sums, days = stats_of(up, 2)
        check([days[0][name] for name in ("visits", "unique_players", "returned", "peak_players")] ==
              [2, 2, 1, 2], f"the second day: {days}")
        check(days[1] == first, f"the first day was {first} and is {days[1]}")
        check((sums["visits"], sums["unique_players"]) == (4, 3), f"{sums}")
        check(sums["seconds_played"] == sum(day["seconds_played"] for day in days), f"{sums}")
        page = counts(up)  # the sums are everybody's
        check((page["visits"], page["unique_players"], page["peak_players"]) == (4, 3, 2), f"{page}")
        up.stop()
    finally:
        up.kill()


def test_listing_bench(program, _places, _folder):
    """The bench runs and asks nothing that is refused; how fast it is, is measured elsewhere."""
    if shutil.which("wrk") is None:
        print("wrk is not installed; tools/setup installs it")
        sys.exit(77)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "bench_listing"), "--build",
                           os.path.dirname(program), "--places", "300", "--seconds", "1", "--json"],
                          capture_output=True, text=True, timeout=200 * PATIENCE)
    rows = {row["bench"]: row["value"] for row in map(json.loads, done.stdout.splitlines())}
    check(len(rows) == 12 and rows["listing.errors"] == 0, f"{done.stdout}{done.stderr}")
    check(all(value > 0 for name, value in rows.items()
              if name != "listing.errors" and not name.endswith("_cpu")), f"{rows}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

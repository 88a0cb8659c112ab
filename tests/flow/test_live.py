"""Live numbers for pages: GET /api/live, a stream of server-sent events. Who may follow what, that only
changes are sent, and that streams are bounded and end."""

import http.client
import json
import sys
import time

from hosts import enter
from support import PATIENCE, check, run, wait_until
from test_accounts import People, code_of

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}
PLACE = "place_island"


class Stream:
    """A stream as a page reads it: events one by one."""

    def __init__(self, up, query, token=None):
        self.link = http.client.HTTPConnection("127.0.0.1", up.port, timeout=20 * PATIENCE)
        self.link.request("GET", f"/api/live?{query}",
                          headers={"Authorization": f"Bearer {token}"} if token else {})
        self.answer = self.link.getresponse()
        self.status = self.answer.status

    def error(self):
        return self.status, json.loads(self.answer.read())["error"]["code"]

    def event(self):
        """The next one: its name and data; None: the stream has ended."""
        name = data = None
        while True:
            line = self.answer.readline().decode()
            if line == "":
                return None
            if line.startswith("event: "):
                name = line[7:].strip()
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif line == "\n" and name is not None:
                return name, data

    def rows(self, name, wanted, seconds=15):
        """Reads on until the rows of this topic are as wanted; gives them."""
        rows, end = {}, time.monotonic() + seconds * PATIENCE
        while time.monotonic() < end:
            event = self.event()
            check(event is not None, "the stream has ended")
            if event[0] == name:
                rows = {} if event[1]["full"] else rows
                rows.update(event[1]["rows"])
                rows = {key: row for key, row in rows.items() if row is not None}
                if wanted(rows):
                    return rows
        check(False, f"{name} never came as wanted: {rows}")

    def close(self):
        self.answer.close()
        self.link.close()


def follows(up, boss):
    """How many streams there are, as the operator's topic says."""
    stream = Stream(up, "topics=operator", boss)
    try:
        return stream.rows("operator", lambda rows: "server" in rows)["server"]["streams"]
    finally:
        stream.close()


def test_live_numbers_and_rights(program, _places, folder):
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        ann = up.register("ann")["session_token"]
        # Whoever may not gets nothing of it, also not beside what everybody may have.
        check(Stream(up, "topics=operator").error() == (401, "auth_required"), "a stranger")
        check(Stream(up, "topics=operator", ann).error() == (403, "denied"), "a player")
        check(Stream(up, "topics=places,operator", ann).error() == (403, "denied"), "both")
        check(Stream(up, f"place={PLACE}", ann).error() == (404, "not_found"), "another's place")
        check(Stream(up, f"place={PLACE}").error() == (404, "not_found"), "nobody's")
        for query in ("", "topics=", "topics=secrets", "topics=places,places", "place=", "place=" + "x" * 80):
            check(Stream(up, query).error() == (400, "malformed"), query)
        check(code_of(up.post("/api/live?topics=places", method="POST")) == (405, "method"), "a POST")
        scoped = up.post("/api/account/tokens", {"name": "tool", "scope": "play create"}, boss)[1]["token"]
        check(Stream(up, "topics=operator", scoped).error() == (403, "denied"), "a tool's token")

        everybody = Stream(up, "topics=places")
        check(everybody.status == 200 and everybody.answer.getheader("Content-Type") == "text/event-stream"
              and everybody.answer.getheader("Cache-Control") == "no-store", everybody.answer.getheaders())
        name, data = everybody.event()
        check(name == "places" and data["full"] is True, (name, data))
        operator = Stream(up, f"topics=places,operator&place={PLACE}", boss)
        player = enter(up, token=ann, place_id=PLACE)
        rows = everybody.rows("places", lambda rows: rows.get(PLACE, {}).get("players") == 1)
        check(rows[PLACE] == {"players": 1, "worlds": 1}, rows)
        rows = operator.rows("operator", lambda rows: rows.get("server", {}).get("players") == 1)
        world = next(key for key in rows if key != "server")
        row = wait_until(lambda: operator.rows("operator", lambda rows: world in rows)[world], "its row")
        check(row["place_id"] == PLACE and row["memory_bytes"] > 1 << 20 and row["bytes_down"] > 0
              and row["state"] == "running" and row["reported_by"] is None, row)
        mine = operator.rows("place", lambda rows: rows.get(world, {}).get("scriptCount", 0) > 0)[world]
        check(mine["channel"] == "live" and mine["faultTotal"] == 0 and mine["faults"] == []
              and mine["scripts"][0]["path"], mine)
        # What everybody gets never has a word of the rest.
        check(set(rows["server"]) >= {"worlds", "memory_bytes", "draining"}, rows["server"])
        player.close()
        rows = everybody.rows("places", lambda rows: rows.get(PLACE, {"players": 0})["players"] == 0)
        check(world not in json.dumps(rows), "strangers are told of worlds")

        # The stream of somebody who signs out ends; everybody's goes on.
        check(up.post("/logout", token=boss)[0] == 200, "the operator cannot leave")
        end = time.monotonic() + 10 * PATIENCE
        while operator.event() is not None:
            check(time.monotonic() < end, "a stream goes on without a sign-in")
        everybody.close()
        up.stop()
    finally:
        up.kill()


def test_live_streams_are_bounded(program, _places, folder):
    up = People(program, folder, variables=SECRET)
    try:
        boss = up.operator()
        ann = up.register("ann")["session_token"]
        mine = [Stream(up, "topics=places", ann) for _ in range(8)]
        check(all(one.status == 200 for one in mine), "eight pages of one person")
        one_more = Stream(up, "topics=places", ann)
        check(one_more.answer.getheader("Retry-After") == "15" and one_more.error() == (429, "too_many"),
              "a ninth page of one person")
        others = [Stream(up, "topics=places") for _ in range(24)]
        check(all(one.status == 200 for one in others), "pages of one address")
        check(Stream(up, "topics=places").error() == (429, "too_many"), "one more of that address")
        # Everything else is answered meanwhile, and who follows is told.
        check(up.request("GET", "/healthz")[0] == 200, "the server answers nobody else")
        check(follows(up, boss) >= 32, "streams are not counted, or an operator is kept out")
        for stream in others + mine:
            check(stream.event()[0] == "places", "somebody is told nothing")
        # Those who leave make room, though nothing is sent to them.
        for stream in others + mine:
            stream.close()
        wait_until(lambda: follows(up, boss) <= 3, "closed streams are forgotten", 20)
        again = Stream(up, "topics=places", ann)
        check(again.status == 200, "there is no room again")
        # Stopping does not wait for them.
        begin = time.monotonic()
        up.stop()
        check(time.monotonic() - begin < 5 * PATIENCE, "streams hold the server")
        again.close()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

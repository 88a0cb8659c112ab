"""Three hosts on one PostgreSQL: any of them lets players in, a world runs on one of them, and when that
one dies or is stopped its players go on elsewhere."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import socket
import threading
from concurrent import futures

from clock import clock_ahead
from hosts import is_world_process
from publish import Publisher
from support import Closed, Player, WebSocket, check, run, wait_until
from test_accounts import People
from test_reload import game, hear_beat
from test_tools import Tool
from test_up import SECRET, environment, sandlot_up

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import postgres  # noqa: E402

HOSTS = 3


class Address:
    """What a Player needs to know of the host that an answer to /join names."""

    def __init__(self, answer):
        found = re.match(r"ws://127\.0\.0\.1:(\d+)/api/rooms/([^/]+)/ws$", answer["server_address"])
        check(found, f"server_address: {answer['server_address']}")
        self.port, self.room = int(found[1]), found[2]


class Member(Publisher):
    """A host of a club, with its own folder and the places that came with the program."""

    def __init__(self, *arguments, **more):
        People.__init__(self, *arguments, **more)  # pylint: disable=super-init-not-called,non-parent-init-called
        self.tokens = {}


class Club:
    """Hosts on one database, with the same secret and places, each with a data folder of its own."""

    def __init__(self, program, folder, url, count=HOSTS):
        self.program, self.folder, self.url = program, folder, url
        self.count, self.hosts, self.boss = count, [], None

    def open(self):
        with futures.ThreadPoolExecutor(max(1, self.count)) as pool:  # all at once on a new database
            self.hosts = list(pool.map(self.start, range(self.count)))
        wait_until(lambda: all(self.load(host) is not None for host in self.hosts), "all are ready")

    def start(self, number, *options, command="up", **variables):
        home = os.path.join(self.folder, f"host{number}")
        os.makedirs(os.path.join(home, "data"), exist_ok=True)
        return Member(self.program, home, "--store", self.url, *options, command=command,
                      variables={"SANDLOT_SECRET_KEY": SECRET, **variables})

    def operator(self):
        """The token of an account that operates all hosts; the link of any of them is good."""
        if self.boss is None:
            self.boss = self.hosts[0].operator()
            for host in self.living():
                wait_until(lambda host=host: host.post("/api/session", method="GET")[1]["registration"] == "open",
                           "every host knows that everybody may register", 12)
        return self.boss

    @staticmethod
    def load(host):
        return host.request("GET", "/readyz")[0] == 200 or None

    def owner(self, answer):
        port = Address(answer).port
        return next(host for host in self.hosts if host.port == port)

    def living(self):
        return [host for host in self.hosts
                if host.process.poll() is None and not getattr(host, "stopping", False)]

    def close(self):
        for host in self.hosts:
            host.kill()


def sign_in(host, name):
    status, _, body = host.request("POST", "/login", {"username": name})
    check(status == 200, f"/login says {status}: {body}")
    return json.loads(body)["session_token"]


def ask(host, token, **wish):
    return host.request("POST", "/join", wish, headers={"Authorization": f"Bearer {token}"})


def join(host, token, seconds=20.0, **wish):
    """Asks as the page does: what is refused for now is asked again after Retry-After."""
    end = time.monotonic() + seconds
    while True:
        status, headers, body = ask(host, token, **wish)
        if status == 200:
            return json.loads(body)
        check(status == 503 and time.monotonic() < end, f"/join says {status}: {body}")
        time.sleep(min(1.0, float(headers.get("Retry-After", 1))))


def play(host, token, name, resume=None, seconds=20.0, **wish):
    answer = join(host, token, seconds, **wish)
    player = Player(Address(answer), name=name, ticket=answer["ticket"], resume=resume)
    player.world_id = answer["world_id"]
    player.answer = answer
    return player


def come_back(club, player, token, name):
    """The world of a player is gone: any host that lives brings them back. Gives the player again, and how
    long that took."""
    begin, player.detours = time.monotonic(), 0
    while True:
        host = club.living()[0]
        try:
            return (play(host, token, name, resume=player.welcome["resumeToken"],
                         world_id=player.world_id), time.monotonic() - begin)
        except (Closed, OSError):
            player.detours += 1
            check(time.monotonic() - begin < 60, "the player does not come back")
            time.sleep(0.1)


def stand(player):
    """Where they stand, once they do; nobody is where they came in."""
    begin = wait_for_position(player)
    player.walk(1.2)
    end = None
    while end != player.position():  # their last steps; and it is saved
        end = player.position()
        player.walk(1.0, move_z=0)  # whoever acknowledges nothing is told nothing
    check(distance(begin, end) > 1, f"they did not walk: {begin} {end}")
    return end


def wait_for_position(player):
    end = time.monotonic() + 10
    while player.position() is None:
        check(time.monotonic() < end, "their body is not there")
        player.hear()
    return player.position()


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5


def with_club(program, folder, work, count=HOSTS):
    with postgres.Running() as server:
        club = Club(program, folder, server.url(), count)
        try:
            club.open()
            work(club)
        except Exception:
            for host in club.hosts:
                print(f"host {host.port}:\n  " + "\n  ".join(host.lines[-25:]))
            raise
        finally:
            club.close()


def test_one_world_for_all(program, _, folder):
    def work(club):
        tokens = [sign_in(host, f"p{i}") for i, host in enumerate(club.hosts)]
        first = play(club.hosts[0], tokens[0], "p0", place_id="place_island")
        # Signed in here, and known there: by the same place they meet in one world.
        for number, host in enumerate(club.hosts):
            answer = join(host, tokens[number - 1], place_id="place_island")
            check(answer["world_id"] == first.world_id, f"another world: {answer}")
            check(answer["server_address"].split("/api")[0] ==
                  first.answer["server_address"].split("/api")[0], f"another host: {answer}")
            check(answer["signing_key"] == first.answer["signing_key"], "another key")
        others = [play(host, tokens[number], f"p{number}", world_id=first.world_id)
                  for number, host in enumerate(club.hosts) if number > 0]
        check(len({other.answer["ticket"] for other in others}) == 2, "tickets of two hosts")
        # Worlds are placed by load. On one machine that is a matter of chance; all are served.
        owners = set()
        for number in range(3):
            token = sign_in(club.hosts[0], f"w{number}")
            owner = play(club.hosts[number], token, f"w{number}")
            owners.add(Address(owner.answer).port)
        print(f"3 worlds on {len(owners)} hosts")
    with_club(program, folder, work)


def test_a_host_dies(program, _, folder):
    def work(club):
        club.operator()
        tokens = [sign_in(host, f"p{i}") for i, host in enumerate(club.hosts)]
        players = [play(host, tokens[i], f"p{i}", place_id="place_island")
                   for i, host in enumerate(club.hosts)]
        with futures.ThreadPoolExecutor(len(players)) as pool:  # whoever does not read is put out
            where = list(pool.map(stand, players))
        owner = club.owner(players[0].answer)
        owner.process.send_signal(signal.SIGKILL)
        owner.process.wait()
        with futures.ThreadPoolExecutor(len(players)) as pool:
            back = list(pool.map(lambda i: come_back(club, players[i], tokens[i], f"p{i}"),
                                 range(len(players))))
        took = [seconds for _, seconds in back]
        for player, (again, _), at in zip(players, back, where):
            check_body(player, again, at)
        check(max(took) < 8, f"it took {took}")
        print(f"back after a kill: {max(took):.2f} s")
        # A host that stops says so, and its players go on.
        drain(program, club, back[2][0], tokens[2])
    with_club(program, folder, work)


def check_body(before, after, where):
    """It is the same player, where they were."""
    check(after.world_id == before.world_id, "another world")
    check(after.welcome["playerId"] == before.welcome["playerId"], "another player")
    now = wait_for_position(after)
    check(distance(now, where) < 0.5, f"they were at {where} and are at {now}")


def drain(program, club, player, token):
    host = club.owner(player.answer)
    where = stand(player)
    url = f"http://127.0.0.1:{host.port}"
    tool = Tool(program, os.path.join(club.folder, "home"), url)
    tool.login("boss")
    begin = time.monotonic()
    command = subprocess.Popen([program, "drain", "--server", url], env=environment(tool.home),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told = wait_told(player)
    at = time.monotonic()
    check(told == "moved", f"the players are told {told}")
    host.stopping = True
    again, _ = come_back(club, player, token, "p2")
    end = time.monotonic()
    check(player.detours == 0, "they were led to the host that ends")
    check_body(player, again, where)
    said, _ = command.communicate(timeout=60)
    check(command.returncode == 0 and "has ended" in said, said)
    check(host.process.wait(30) == 0, "\n".join(host.lines[-10:]))
    print(f"told after {at - begin:.3f} s, plays again {end - at:.3f} s after that")


def test_while_the_database_is_away(program, _, folder):
    """Readiness and /join say so, also at the host whose world runs on; and libpq writes nothing into the log."""
    with postgres.Running() as server:
        club = Club(program, folder, server.url(), 1)
        try:
            club.open()
            host = club.hosts[0]
            token = sign_in(host, "ann")
            player = play(host, token, "ann", place_id="place_island")
            server.stop(signal.SIGINT)  # the mode `fast`

            def code(*request, **more):
                status, _, text = host.request(*request, **more)
                return status, json.loads(text).get("error", {}).get("code")

            wait_until(lambda: code("GET", "/readyz") == (503, "database_away"), "/readyz says so", 15)
            found = code("POST", "/join", {"place_id": "place_obby"},
                         headers={"Authorization": f"Bearer {token}"})
            check(found == (503, "database_away"), f"/join says {found}")
            player.walk(0.5)  # the world runs on
            raw = [line for line in host.lines if "terminating connection" in line and "level=" not in line]
            check(not raw, f"lines of libpq: {raw}")
        finally:
            club.close()
            server.start()
            server.wait()


def test_one_secret_for_all(program, _, folder):
    """Whoever has another secret would not know the sign-ins of the others."""
    def work(club):
        for variables, said in (({"SANDLOT_SECRET_KEY": "another" + SECRET}, "the secret key is not"),
                                ({}, "there is no secret key")):
            home = os.path.join(folder, "late" + str(len(variables)))
            _, text = sandlot_up(program, home, "--allow-weak-jail", "--port", "0", "--store", club.url,
                                 "--data", os.path.join(home, "data"), code=1, variables=variables)
            check(said in text and "Start every host with the same SANDLOT_SECRET_KEY" in text, text)
        check(club.load(club.hosts[0]), "the first one goes on")
    with_club(program, folder, work, 1)


def test_names_of_hosts(program, _, folder):
    """One name for people, and one of each host: what is answered, what pages may connect to."""
    def work(club):
        host = club.start(0, "--public-url", "http://play.localhost", "--host-url", "http://a.play.localhost")
        club.hosts = [host]
        for name, wanted in (("play.localhost", 200), ("a.play.localhost", 200), ("stranger.example", 421)):
            status, headers, _ = host.request("GET", "/healthz", headers={"Host": name})
            check(status == wanted, f"{name}: {status}")
            check("connect-src 'self' ws://*.play.localhost;" in headers["Content-Security-Policy"],
                  headers["Content-Security-Policy"])
        answer = join(host, sign_in(host, "p0"), place_id="place_island")
        found = re.match(r"ws://a[.]play[.]localhost/api/rooms/([^/]+)/ws$", answer["server_address"])
        check(found, f"server_address: {answer['server_address']}")
        for origin, wanted in (("http://play.localhost", 101), ("http://a.play.localhost", 101),
                               ("http://b.play.localhost", 403)):
            check(socket_status(host.port, found[1], answer["ticket"], origin) == wanted, origin)
        # A second machine with the name of the first one, and the first one again.
        home = os.path.join(folder, "copied")
        _, text = sandlot_up(program, home, "--allow-weak-jail", "--port", "0", "--store", club.url, "--host-url",
                             "http://a.play.localhost", "--data", os.path.join(home, "data"), code=1,
                             variables={"SANDLOT_SECRET_KEY": SECRET})
        check("runs with host_url http://a.play.localhost already" in text, text)
        host.kill()
        again = club.start(0, "--public-url", "http://play.localhost", "--host-url", "http://a.play.localhost")
        club.hosts.append(again)
        check(not [line for line in again.lines if "has the address" in line], "it waits for itself")
    with_club(program, folder, work, 0)


def test_patroni_is_refused(program, _, folder):
    """What it lost when a frozen leader thawed had been acknowledged."""
    with postgres.Running() as server:
        with subprocess.Popen(server.psql() + ["-c", "SELECT pg_sleep(600)"],
                              env=dict(os.environ, PGAPPNAME="Patroni")) as manager:
            wait_until(lambda: server.ask("SELECT count(*) FROM pg_stat_activity WHERE "
                                          "application_name = 'Patroni'").strip() == "1", "it is there")
            _, text = sandlot_up(program, folder, "--allow-weak-jail", "--port", "0", "--store",
                                 server.url(), "--data", os.path.join(folder, "data"), code=1,
                                 variables={"SANDLOT_SECRET_KEY": SECRET})
            check("managed by Patroni" in text and "pg_auto_failover" in text, text)
            manager.kill()


def leads(host, token, world):
    """Questions of others have waited for a host that stood still: it may refuse more connections at first."""
    try:
        return ask(host, token, world_id=world)[0] == 200
    except OSError:
        return False


def test_an_owner_that_says_nothing(program, _, folder):
    """Nobody knows whether it runs its world: whoever asks is told to ask again in a second. Before its lease
    ends, so does its world, which nobody could stop; then another host runs it."""
    def work(club):
        tokens = [sign_in(host, f"p{i}") for i, host in enumerate(club.hosts)]
        player = play(club.hosts[0], tokens[0], "p0", place_id="place_island")
        owner = club.owner(player.answer)
        other = next(host for host in club.hosts if host is not owner)
        check(ask(other, tokens[1], world_id=player.world_id)[0] == 200, "it does not lead to the owner")
        own_worlds = [pid for pid in owner.children() if is_world_process(pid)]
        check(len(own_worlds) == 1, f"it runs {own_worlds}")
        owner.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(3)  # until it was found silent
            begin = time.monotonic()
            status, headers, body = ask(other, tokens[1], world_id=player.world_id)
            print(f"refused after {time.monotonic() - begin:.2f} s")
            check(status == 503 and json.loads(body)["error"]["code"] == "moving", f"{status}: {body}")
            check(headers["Retry-After"] == "1", f"Retry-After: {headers['Retry-After']}")
            answer = join(other, tokens[1], 60, world_id=player.world_id)
            print(f"let in {time.monotonic() - begin:.2f} s later")
            check(club.owner(answer) is other, "it leads to the owner that says nothing")
            check(not any(is_world_process(pid) for pid in own_worlds), "the world runs twice")
        finally:
            owner.process.send_signal(signal.SIGCONT)
        wait_until(lambda: leads(owner, tokens[0], player.world_id), "it leads to the other one", 20)
    with_club(program, folder, work, 2)


def servers(host, boss):
    """What /admin/servers says: the worlds by id, the hosts."""
    status, answer = host.post("/admin/servers", token=boss, method="GET")
    check(status == 200, f"/admin/servers says {status}: {answer}")
    return {world["world_id"]: world for world in answer["servers"]}, answer["hosts"]


def listed(host, path, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    status, _, body = host.request("GET", path, headers=headers)
    check(status == 200, f"{path} says {status}: {body}")
    return json.loads(body)


def keep_up(player):
    """Acknowledges what came, once, and reads all that is there."""
    player.walk(0.001, move_z=0)
    with contextlib.suppress(TimeoutError):
        while True:
            player.hear(0.001)


@contextlib.contextmanager
def staying(players):
    """Whoever does not read is put out: they do, while the test does something else."""
    ends = threading.Event()

    def read():
        while not ends.wait(0.1):
            for player in list(players):
                with contextlib.suppress(Closed, OSError):
                    keep_up(player)
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def two_owners(club):
    """Players in public worlds of the default place, on more than one host."""
    players = []
    with staying(players):
        while len({club.owner(player.answer) for player in players}) < 2:
            number = len(players)
            check(number < 12, "all worlds are on one host")
            token = club.hosts[-1].register(f"walker{number}")["session_token"]
            players.append(play(club.hosts[number % HOSTS], token, f"walker{number}"))
    return players


class Shown:
    """Lists, the tools and operators' orders, asked of hosts that do not run the world."""

    def __init__(self, program, folder, club):
        self.program, self.folder, self.club = program, folder, club
        self.boss = club.operator()
        self.players = two_owners(club)
        self.worlds = {player.world_id: club.owner(player.answer) for player in self.players}

    def tool(self, host):
        tool = Tool(self.program, os.path.join(self.folder, f"home{host.port}"),
                    f"http://127.0.0.1:{host.port}")
        tool.login("boss")
        return tool

    def is_whole(self, host):
        """It knows all hosts, and everybody who plays."""
        shown, hosts = servers(host, self.boss)
        rooms = {room["worldId"]: room for room in listed(host, "/worlds")["worlds"]}
        return (len(hosts) == HOSTS and all(one["answers"] for one in hosts) and
                all(world in shown and world in rooms and
                    shown[world]["players"] == rooms[world]["players"] == 1 for world in self.worlds))

    def look(self, host):
        wait_until(lambda: self.is_whole(host), "all worlds are shown with their players", 20)
        shown, hosts = servers(host, self.boss)
        rooms = {room["worldId"]: room for room in listed(host, "/worlds")["worlds"]}
        check([one["self"] for one in hosts] == [True, False, False], hosts)
        for world, owner in self.worlds.items():
            row, room, is_here = shown[world], rooms[world], owner is host
            check((row["reported_by"] is None) == is_here, row)
            check(row["memory_bytes"] > 0 and row["tick"] > 0 and row["player_max"] > 1, row)
            check(room["ready"] and room["isReported"] == (not is_here) and room["playerMax"] > 1, room)
        # The browser of servers on a place's page.
        place = shown[self.players[0].world_id]["place_id"]
        wait_until(lambda: {world["world_id"] for world in listed(host, f"/api/places/{place}/worlds")["worlds"]}
                   >= set(self.worlds), "the worlds of the place", 10)
        tool = self.tool(host)
        top, text = tool("top", "--once"), tool("worlds")
        check(all(world in top and world in text for world in self.worlds), top + text)
        check(all(one["id"] in top for one in hosts), top)

    def costs(self, host, world, query=""):
        """What its scripts cost; None: it has not said so yet."""
        status, _, body = host.request("GET", f"/api/worlds/{world}/scripts{query}",
                                       headers={"Authorization": f"Bearer {self.boss}"})
        check(status in (200, 503), f"{status}: {body}")
        return json.loads(body) if status == 200 else None

    def ask_costs(self, host, world):
        said = wait_until(lambda: self.costs(host, world), "what scripts cost", 20)
        check(said["reported"] is True and said["tick"] > 0, said)
        check(len(said["scripts"]) == said["scriptCount"] > 0, said)
        check(self.costs(host, world, "?follow=1&after=0"), "whoever knows none waits")

    def order(self, host, player):
        """Announced, kicked by name, stopped; from a host that does not run that world."""
        world = player.world_id
        texts, receive = [], player.socket.receive

        def keep(seconds):
            texts.append(str(receive(seconds)))
            return texts[-1]
        player.socket.receive = keep
        with staying([player]):
            status, answer = host.post("/admin/announce", {"text": "soon", "world_id": world}, self.boss)
            check(status == 200 and answer["worlds"] == 1, f"{status}: {answer}")
            wait_until(lambda: any('"soon"' in text for text in texts), "it is heard", 10)
        status, answer = host.post("/admin/kick", {"account": "walker0", "world_id": world}, self.boss)
        check(status == 200 and answer["worlds"] == 1, f"{status}: {answer}")
        check(wait_told(player) == "kicked", "they play on")
        again = play(host, self.club.hosts[-1].register("again")["session_token"], "again", world_id=world)
        with staying([again]):
            wait_until(lambda: servers(host, self.boss)[0][world]["players"] == 1, "they are in again", 20)
        status, answer = host.post(f"/admin/servers/{world}", token=self.boss, method="DELETE")
        check(status == 200 and answer["state"] == "stopping", f"{status}: {answer}")
        shown = servers(host, self.boss)[0].get(world, {"state": "stopping"})
        check(shown["state"] == "stopping", f"the list does not know yet: {shown}")
        check(wait_told(again) is not None, "they play on")
        wait_until(lambda: world not in servers(host, self.boss)[0], "it is listed no more", 20)
        check(host.post(f"/admin/servers/{world}", token=self.boss, method="DELETE")[0] == 409, "twice")

    def freeze(self, host, frozen):
        """One that says nothing is named, and what it said before is forgotten."""
        def is_named():
            shown, hosts = servers(host, self.boss)
            heard_of = {one["id"] for one in hosts if one["answers"]}
            return (len(hosts) == len(heard_of) + 1 and listed(host, "/worlds")["hostsSilent"] == 1 and
                    all(world["reported_by"] in {None, *heard_of} for world in shown.values()))
        frozen.process.send_signal(signal.SIGSTOP)
        try:
            wait_until(is_named, "the silent host is named", 20)
            check("silent" in self.tool(host)("top", "--once"), "top does not name it")
        finally:
            frozen.process.send_signal(signal.SIGCONT)

    def drain(self, host, other):
        """One is told by another one to take no worlds, to take them again, and to end."""
        name = next(one["id"] for one in servers(host, self.boss)[1]
                    if one["address"].endswith(f":{other.port}"))
        status, answer = host.post("/admin/drain", {"host": name}, self.boss)
        check(status == 200 and answer["draining"] is True, f"{status}: {answer}")
        check(other.request("GET", "/readyz")[0] == 503, "it still takes worlds")
        status, answer = host.post(f"/admin/drain?host={name}", token=self.boss, method="DELETE")
        check(status == 200 and answer["draining"] is False, f"{status}: {answer}")
        check(host.post("/admin/drain", {"host": "nobody"}, self.boss)[0] == 404, "there is no such host")
        said = self.tool(host)("drain", "--host", name)
        check("has ended" in said and other.process.wait(30) == 0, said)


def test_any_host_shows_and_reaches_all_worlds(program, _, folder):
    def work(club):
        shown = Shown(program, folder, club)
        first = shown.players[0]
        owner = shown.worlds[first.world_id]
        host, third = (one for one in club.hosts if one is not owner)
        with staying(shown.players):
            for one in club.hosts:
                shown.look(one)
            shown.ask_costs(host, first.world_id)
        shown.order(host, first)
        shown.freeze(host, owner)
        shown.drain(host, third)
    with_club(program, folder, work)


def test_what_operators_do_reaches_all(program, _, folder):
    """At one host; the other one hears of it by a hint of the database. It reads the events by itself
    every 5 s: changes that had to wait for that would take 2.5 s each, on the average."""
    def work(club):
        boss, took = club.operator(), []
        headers = {"Authorization": f"Bearer {boss}"}
        first, second = club.hosts

        def act(method, path, body, heard):
            status, _, text = first.request(method, path, body, headers=headers)
            check(status == 200, f"{path} says {status}: {text}")
            begin = time.monotonic()
            wait_until(heard, f"{path} {body} is known to the other host", 12)
            took.append(time.monotonic() - begin)

        def setting(name):
            return json.loads(second.request("GET", "/admin/settings", headers=headers)[2])[name]

        for value in ("invite", "open") * 3:
            act("PUT", "/admin/settings", {"registration": value},
                lambda value=value: setting("registration") == value)
        act("PUT", "/admin/settings", {"chat": "off"}, lambda: setting("chat") == "off")
        # What is announced at one host is heard in worlds of the other, straight from it.
        listener = play(second, sign_in(second, "ann"), "ann", place_id="place_island")
        teller = first if club.owner(listener.answer) is second else second
        tries = 0
        # Until its host knows that somebody is there.
        while "back in a minute" not in json.dumps(listener.events + listener.snapshots):
            tries += 1
            check(tries <= 20, f"nobody hears it: {listener.events}")
            status, _, text = teller.request("POST", "/admin/announce", {"text": "back in a minute"},
                                             headers=headers)
            check(status == 200, f"announce says {status}: {text}")
            listener.walk(1.0)
        token = second.register("cat")["session_token"]
        player = play(second, token, "cat", place_id="place_island")
        act("POST", "/admin/ban", {"account": "cat", "reason": "x"},
            lambda: second.request("POST", "/join", {"world_id": player.world_id},
                                   headers={"Authorization": f"Bearer {token}"})[0] == 403)
        check(wait_told(player) == "kicked", f"they play on: {player.errors}")
        # A revision that is published at the host which does not run the world.
        first.tokens = second.tokens = {"boss": boss}
        place = first.publish("boss", game("one"), channel="live")["place_id"]
        player = play(second, boss, "boss", place_id=place)
        hear_beat(player, "one", 40)
        teller = first if club.owner(player.answer) is second else second
        teller.publish("boss", game("two"), place, channel="live")
        begin = time.monotonic()
        hear_beat(player, "two", 40)
        check(not player.errors, f"the world began again: {player.errors}")
        took.append(time.monotonic() - begin)
        print("known elsewhere after", " ".join(f"{one:.2f}" for one in took), "s")
        check(sum(took) < 1.2 * len(took), f"it took {took}")
    with_club(program, folder, work, 2)


def socket_status(port, room, ticket, origin):
    """Of a WebSocket from a page of that origin."""
    link = WebSocket(port, f"/api/rooms/{room}/ws?token={ticket}", headers=[f"Origin: {origin}"])
    link.close()
    return link.status


def test_control_apart_from_hosts(program, _, folder):
    """Joins are answered by one that runs no worlds; hosts answer their players and nothing else. Pages
    of one machine play at another."""
    def work(club):
        control = club.start(0, command="control")
        hosts = [club.start(number, command="host") for number in (1, 2)]
        club.hosts = [control, *hosts]
        token = sign_in(control, "p0")
        players = [play(control, token, "p0", seconds=60, place_id="place_island")]
        for number in range(3):
            one = sign_in(control, f"w{number}")
            players.append(play(control, one, f"w{number}", seconds=60))
        check({Address(one.answer).port for one in players} <= {host.port for host in hosts},
              f"the control plane runs a world: {[one.answer for one in players]}")
        for path in ("/join", "/register", "/api/places"):
            status, _, body = hosts[0].request("POST", path, {})
            check(status == 421 and b"control plane" in body, f"{path} says {status}: {body}")
        status, _, body = hosts[0].request("GET", "/", headers={"Accept": "text/html"})
        check(status in (404, 421), f"a page at a host: {status}")
        at = Address(players[0].answer)
        visitor = sign_in(control, "visitor")  # a second socket of p0 would replace the first
        for origin, wanted in ((f"http://127.0.0.1:{control.port}", 101), (f"http://127.0.0.1:{at.port}", 101),
                               ("http://stranger.example", 403), ("http://127.0.0.1:1", 403)):
            ticket = join(control, visitor, world_id=players[0].world_id)["ticket"]
            got = wait_until(lambda ticket=ticket, origin=origin, wanted=wanted:
                             socket_status(at.port, at.room, ticket, origin) == wanted,
                             f"{wanted} for a page of {origin}", 5)
            check(got, origin)
        control.kill()  # who plays goes on
        before = wait_for_position(players[0])
        players[0].walk(1.0)
        check(distance(before, players[0].position()) > 0.5, "they cannot walk")
    with_club(program, folder, work, 0)


def test_a_host_with_a_wrong_clock(program, _, folder):
    """An hour ahead it sees everybody's rows as expired, an hour late everybody sees its own so."""
    def work(club):
        ahead, late = (clock_ahead(folder, seconds) for seconds in (3600, -3600))
        check(ahead and late, "there is no compiler")
        club.hosts = [club.start(0), club.start(1, **ahead), club.start(2, **late)]
        tokens = [sign_in(host, f"p{i}") for i, host in enumerate(club.hosts)]
        players = [play(host, tokens[i], f"p{i}", seconds=60) for i, host in enumerate(club.hosts)]
        where = [Address(player.answer).port for player in players]
        for host, token in zip(club.hosts, tokens):  # tickets of one are good at the others
            for player, port in zip(players, where):
                answer = join(host, token, world_id=player.world_id)
                check(Address(answer).port == port, f"another host runs it: {answer}")
                Player(Address(answer), name="x", ticket=answer["ticket"])
        lines = "\n".join(line for host in club.hosts for line in host.lines)
        check("of the database's" in lines, "nobody says that a clock is wrong:\n" + lines)
        check("lease" not in lines, "a lease was lost:\n" + lines)
        club.hosts[1].stop(seconds=10)
    with_club(program, folder, work, 0)


class Tap:
    """Stands before a host and keeps what others send to it."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.behind, self.heard = self.listener.getsockname()[1], None, []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near = self.listener.accept()[0]
            threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.behind))
            threading.Thread(target=self._back, args=(far, near), daemon=True).start()
            while data := near.recv(65536):
                self.heard.append(data)
                far.sendall(data)
            far.close()
        except (OSError, TypeError):
            near.close()

    @staticmethod
    def _back(far, near):
        try:
            while data := far.recv(65536):
                near.sendall(data)
        except OSError:
            pass
        near.close()

    def bodies(self):
        """Of what hosts asked."""
        text = b"".join(list(self.heard))
        found = []
        for part in text.split(b"POST /api/peers")[1:]:
            head, _, rest = part.partition(b"\r\n\r\n")
            length = re.search(rb"[Cc]ontent-[Ll]ength: (\d+)", head)
            if length and len(rest) >= int(length[1]):
                found.append(rest[:int(length[1])])
        return found


def test_peers_that_lie(program, _, folder):
    """What hosts say to each other is recorded, repeated, changed and sent to others; a ticket for one
    is shown at another."""
    def work(club):
        tap = Tap()
        first = club.start(0, "--host-url", f"http://127.0.0.1:{tap.port}")
        tap.behind = first.port
        second = club.start(1, "--trusted-proxy", "127.0.0.1")
        club.hosts = [first, second]
        heard = wait_until(lambda: len(tap.bodies()) > 3 and tap.bodies(), "hosts talk")
        boss = {"Authorization": f"Bearer {club.operator()}", "X-Forwarded-For": "203.0.113.7"}
        for more, wanted in (({}, 409), ({"force": True}, 200)):
            status, _, body = second.request("POST", "/admin/bans/addresses", {"range": "127.0.0.0/8", **more}, boss)
            check(status == wanted and (status == 200 or b"a machine of this server" in body),
                  f"the machines themselves are banned: {status} {body}")

        def post(host, body):
            link = socket.create_connection(("127.0.0.1", host.port), timeout=20)
            link.sendall(b"POST /api/peers HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                         b"Content-Length: %d\r\n\r\n" % len(body) + body)
            answer = b""
            while data := link.recv(65536):
                answer += data
            link.close()
            return int(answer.split(b" ", 2)[1])

        body = heard[-1]
        check(post(first, body) == 409, "a question is answered twice")
        # To another host than it was asked of: its sender is no peer of itself, or it is for another boot.
        check(post(second, body) in (401, 409), "a question to one host is answered by another")
        for number in range(0, len(body), 3):
            changed = body[:number] + bytes([body[number] ^ 1]) + body[number + 1:]
            check(post(first, changed) in (400, 401, 409), f"changed at {number}, and answered")
        for cut in (b"", body[:40], body[:-1], body + b"x", os.urandom(len(body)), bytes(1024)):
            check(post(first, cut) in (400, 401, 409, 413), f"{cut[:20]} is answered")
        # Tickets name the host that they are for.
        token = sign_in(first, "p0")
        answer = join(first, token, seconds=60, place_id="place_island")
        other = next(host for host in (first, second)
                     if host.port != (first.port if Address(answer).port == tap.port
                                      else Address(answer).port))
        at = Address(answer)
        link = WebSocket(other.port, f"/api/rooms/{at.room}/ws?token={answer['ticket']}")
        if link.status == 101:
            try:
                link.send(json.dumps({"v": 2, "kind": "session", "seq": 1, "feature": "session",
                                      "action": "handshake", "payload": {"ticket": answer["ticket"]}}))
                said = json.loads(link.receive())
                check(said["kind"] == "error", f"a ticket for another host is good: {said}")
            except Closed:
                pass
        link.close()
        Player(at, name="p0", ticket=answer["ticket"])  # it was not used up
        status, _, body = first.request("GET", "/readyz")
        check(status == 200, f"{status}: {body}")
    with_club(program, folder, work, 0)


def wait_told(player):
    """The code of the error with which a world ends."""
    while True:
        try:
            player.hear()
        except (Closed, OSError):
            return player.errors[-1]["code"] if player.errors else None


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

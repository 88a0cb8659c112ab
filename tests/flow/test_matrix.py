"""Every endpoint of the API, from the description that the server gives of itself: a good request, and
everything that can be wrong with one. Prints the matrix. An endpoint that the tables below do not know
fails the test; a new one needs, here or in a file matrix_<part>.py beside this one:

  GOOD      what a good request is. All columns but the next two follow from it.
  CONFLICT  a request that is answered 409, or in words why there is none. Not for GET, unless its route
            says 409 among its `fails`.
  LIMITED   only if its route says 429: what is done until it is answered so. For all other endpoints the
            column is 503 "busy" while too many requests wait for their answers.
  AT_ONCE   only if it never waits: then it is answered even while so many others wait.

The server runs with a secret key, so it is not in development: who may ask what counts. What only
development has is asked of a second server, for its good request."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

from hosts import is_world_process
from matrix import Ask, add_parts
from matrix_issuer import Discovery
from support import PATIENCE, WebSocket, World, check, needs_file, run, wait_until
from test_accounts import PASSWORD, People

COLUMNS = ["good", "missing", "malformed", "oversized", "no sign-in", "bad token", "forbidden",
           "scope", "forged", "method", "unknown", "conflict", "limited"]
SCOPES = ("play", "create", "operate")
CONFLICTS = {409, 412}
COSTLY = "too costly to try here: "  # how a reason in CONFLICT begins although the route says 409
ANYWHERE = {405, 421}  # of every address, and so not in the description of each
NOTHING = "-"
# None of these is a JSON object: broken, another value, two of them, bytes that are no UTF-8, half of a
# surrogate pair, a number that is none, a member twice, too deep. An empty body is one without members.
WRONG_JSON = ['{"a":', " ", "[1]", '"text"', "7", "null", "{}{}", "{} x", "\xff{}", '{"a":"\xff"}',
              '{"a":"\\ud800"}', '{"a":NaN}', '{"a":01}', "{'a':1}", '{"a":1,}', '{"a":1,"a":2}',
              '{"a":' * 100 + "1" + "}" * 100, '{"a":"\n"}', '{"a":1e999999}']


class Endpoint:
    def __init__(self, method, path, operation):
        self.method, self.path, self.operation = method.upper(), path, operation
        self.name = f"{self.method} {path}"
        self.access, self.scope = operation["x-access"], operation["x-scope"]
        self.body_max = operation.get("x-body-max")
        content = operation.get("requestBody", {}).get("content", {})
        self.takes_json = "application/json" in content
        schema = content.get("application/json", {}).get("schema", {})
        self.members = schema.get("required", [])
        self.types = {name: one.get("type") for name, one in schema.get("properties", {}).items()}
        self.query = [one["name"] for one in operation.get("parameters", [])
                      if one["in"] == "query" and one["required"]]
        self.statuses = {int(status) for status in operation["responses"]}
        self.success = min(self.statuses)
        answer = operation["responses"][str(self.success)].get("content", {})
        self.gives = answer.get("application/json", {}).get("schema")

    def address(self, ask):
        path = self.path
        for name, value in ask.parts.items():
            path = path.replace("{" + name + "}", str(value))
        check("{" not in path, f"{self.name}: the table does not say what {path} is")
        return path


class Server:
    """The server with an operator, an account, a guest, and a world that runs."""

    def __init__(self, program, places, folder):
        self.folder = folder
        # The test is a proxy too, so that it can be many addresses.
        self.up = People(program, os.path.join(folder, "up"), "--trusted-proxy", "127.0.0.0/8",
                         "--oidc-issuer", Discovery().url, "--oidc-client-id", "sandlot",
                         variables={"SECRET_KEY": "correct-horse-battery-staple"})
        self.count, self.tokens, self.own = 0, {}, None
        self.tokens = {"operator": self.up.operator(),
                       "account": self.up.register("ann")["session_token"],
                       "guest": self.guest()}
        answer = self.join()
        self.world, self.code = answer["world_id"], answer["room_code"]
        place = os.path.join(folder, "island")
        shutil.copytree(os.path.join(places, "island"), place,
                        ignore=shutil.ignore_patterns(".sandlot"))
        self.development = World(program, place, os.path.join(folder, "data"))

    def stop(self):
        self.up.kill()
        self.development.kill()

    def new_name(self):
        self.count += 1
        return f"person{self.count}"

    def guest(self):
        self.count += 1
        return self.post("/login", {"username": f"g{self.count}"})["session_token"]

    def register(self):
        """A new account: its name and token."""
        name = self.new_name()
        return name, self.up.register(name)["session_token"]

    def post(self, path, body=None, who=None, method="POST", **headers):
        status, answer = self.up.post(path, body, self.tokens.get(who, who), method=method, **headers)
        check(status in (200, 201, 202), f"{path} says {status}: {answer}")
        return answer

    def tool(self, scope):
        """A token that is for this alone."""
        name = f"tool for {scope}"
        if name not in self.tokens:
            self.tokens[name] = self.post("/api/account/tokens", {"name": "t", "scope": scope},
                                          self.register()[1])["token"]
        return self.tokens[name]

    def account(self):
        """The name of a new account, which is that of its token too."""
        name, token = self.register()
        self.tokens[name] = token
        return name

    def database(self):
        needs_file()
        return sqlite3.connect(os.path.join(self.folder, "up", "data", "sandlot.db"),
                               isolation_level=None)

    def join(self):
        return self.post("/join", {"place_id": "place_island"}, "guest")

    def started(self):
        """A world of the operator's that runs."""
        return self.post("/join", {"place_id": "place_island"}, "operator")["world_id"]

    def own_world(self):
        """A world of the account's, which may have a few."""
        if self.own is None:
            self.own = self.post("/api/worlds", {"name": "mine"}, "account")["world_id"]
        return self.own

    def ban(self, kind):
        name, _ = self.register()
        self.post(f"/admin/{kind}", {"account": name}, "operator")
        return name

    def rune(self):
        """The hash of the scene, which anybody may have."""
        _, _, body = self.up.request("GET", f"/api/rooms/{self.code}")
        return json.loads(body)["sceneHash"]

    def request(self, method, path, body=None, token=None, server=None, raw=None, headers=()):
        """Status, headers, bytes."""
        link = http.client.HTTPConnection("127.0.0.1", (server or self.up).port,
                                          timeout=20 * PATIENCE)
        text = raw if raw is not None else body if isinstance(body, (bytes, type(None))) else json.dumps(body)
        given = {**dict(headers), **({"Authorization": f"Bearer {token}"} if token else {}),
                 **({"Content-Type": "application/json"} if text is not None else {})}
        try:
            link.request(method, path, body=text, headers=given)
            answer = link.getresponse()
            headers = dict(answer.getheaders())
            if headers.get("Content-Type") == "text/event-stream":
                return answer.status, headers, b""  # it does not end
            return answer.status, headers, answer.read()
        finally:
            link.close()

    def open_stream(self, path, token):
        """A stream that stays open; its link."""
        link = http.client.HTTPConnection("127.0.0.1", self.up.port, timeout=20 * PATIENCE)
        link.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        check(link.getresponse().status == 200, path)
        return link

    def wait_for_backup(self):
        wait_until(lambda: self.post("/admin/backups", None, "operator", "GET")["state"] != "running",
                   "the backup ends")


# --- good requests --------------------------------------------------------------------------------

def someone_new(server):
    """A token of an account that may be spoilt."""
    return server.register()[1]


def recovery(server):
    name = server.new_name()
    code = server.up.register(name)["recovery_codes"][0]
    return Ask(body={"username": name, "code": code, "new": PASSWORD + "!"})


def sign_in_to_end(server):
    name, token = server.register()
    server.tokens[name] = token
    server.up.post("/api/account/tokens", {"name": "t", "scope": "play"}, token)
    _, answer = server.up.post("/api/account/sign-ins", token=token, method="GET")
    tool = next(one for one in answer["sign_ins"] if one["kind"] == "token")
    return Ask(who=name, id=tool["id"])


def password_change(server):
    name, token = server.register()
    server.tokens[name] = token
    return Ask(who=name, body={"old": PASSWORD, "new": PASSWORD + "!"})


def leaving(server):
    name, token = server.register()
    server.tokens[name] = token
    return Ask(who=name, body={"password": PASSWORD})


def guest_of_world(server):
    world = server.own_world()
    server.post(f"/api/worlds/{world}/guests", {"username": "boss"}, "account")
    return Ask(who="account", world_id=world, username="boss")


def owner_kicks(server):
    """By somebody new: nobody removes people without end."""
    ask = own_world(server)
    return Ask(ask.who, {"player": "ann"}, world_id=server.post("/api/worlds", ask.body, ask.who)["world_id"])


def many_kicks(server):
    ask = owner_kicks(server)
    for _ in range(60):
        server.post(f"/api/worlds/{ask.parts['world_id']}/kick", ask.body, ask.who)
    return ask


def kicks_herself(server):
    ask = owner_kicks(server)
    return Ask(ask.who, {"player": ask.who}, **ask.parts)


def own_world(server):
    """By somebody new: nobody may have many."""
    name, token = server.register()
    server.tokens[name] = token
    return Ask(name, {"name": "mine"})


def world_file(server):
    world = server.own_world()
    return Ask("account", server.post(f"/world/{world}", None, "account", "GET"), world_id=world)


def world_to_delete(server):
    ask = own_world(server)
    return Ask(ask.who, world_id=server.post("/api/worlds", ask.body, ask.who)["world_id"])


def logging_out(server):
    name, token = server.register()
    server.tokens[name] = token
    return Ask(who=name)


def script(server):
    path = "/api/script?id=island/ServerScriptService/Game.lua"
    names = os.listdir(os.path.join(server.folder, "island", "ServerScriptService"))
    path = f"island/ServerScriptService/{sorted(names)[0]}"
    _, _, body = server.development.request("GET", f"/api/script?id={path}")
    return path, json.loads(body)


def save(server):
    path, known = script(server)
    return Ask(server=server.development,
               body={"id": path, "code": known["code"], "knownHash": known["hash"]})


def job(server):
    ask = save(server)
    _, _, body = server.development.request("POST", "/api/script/save", ask.body)
    return Ask(server=server.development, id=json.loads(body)["job_id"])


def development_world(server):
    return Ask(server=server.development, world_id=server.development.room)


def host_key(server):
    """A host key becomes a token of the table; its id."""
    answer = server.post("/admin/host-keys", {"name": "second machine"}, "operator")
    server.tokens["host"] = answer["key"]
    return answer["id"]


def host(server, body=None, **parts):
    host_key(server)
    return Ask("host", body, **parts)


def host_batch(server):
    """One without jobs."""
    body = bytes([1, 0]) + bytes(8) + bytes(16) + b"\x01\0\0\0w" + bytes(32) + b"\0"
    return host(server, body)


def host_report(server):
    """Of a world that the host holds: it has registered, renewed its row and taken the world."""
    host_key(server)
    world, boot = server.new_name(), "1" * 32
    made = server.post("/api/hosts/register", {"world_id": world, "boot": boot}, "host")
    jobs = b"\x02" + b"\x01\0" + (20000).to_bytes(4, "little") + bytes(4) + b"\x02"
    body = (bytes([1, 0]) + (1).to_bytes(8, "little") + bytes.fromhex(boot) +
            len(world).to_bytes(4, "little") + world.encode() + bytes.fromhex(made["revision"]) + jobs)
    server.request("POST", "/api/hosts/batch", body, server.tokens["host"])
    return Ask("host", {"world_id": world, "boot": boot, "done": 0, "state": "running", "players": 0,
                        "tick": 0, "late_p99_us": 0, "work_max_us": 0, "memory_bytes": 0,
                        "uptime_seconds": 0, "crashes": 0, "accounts": []})


def host_evidence(server):
    body = host_report(server).body
    return Ask("host", {"world_id": body["world_id"], "boot": body["boot"], "report_id": 0, "number": 1,
                        "at": 0, "reason": "spam", "text": "", "lines": []})


def host_sign(server):
    """A new form of the place of a world that the host holds: here the one that it has."""
    body = host_report(server).body
    place = server.post("/api/hosts/register", {"world_id": body["world_id"], "boot": body["boot"]}, "host")
    return Ask("host", {"world_id": body["world_id"], "boot": body["boot"], "place_hash": place["place_hash"],
                        "version": 1, "tick": 1})


def host_scripts(server):
    """An empty table, of a world that the host has reported."""
    body = host_report(server).body
    server.request("POST", "/api/hosts/report", body, server.tokens["host"])
    return Ask("host", bytes(13), query={"world_id": body["world_id"], "boot": body["boot"]})


def many_evidence(server):
    ask = host_evidence(server)
    for number in range(2, 40):
        ask.body["number"] = number
        server.request("POST", "/api/hosts/evidence", ask.body, server.tokens["host"])
    return ask


PLAIN = {name: (lambda server: Ask()) for name in [
    "GET /healthz", "GET /health", "GET /api/health", "GET /readyz", "GET /metrics",
    "GET /api/openapi.json", "GET /api/docs", "GET /api/assets", "GET /api/session",
    "GET /account", "GET /cards.css"]}
OPERATOR = {name: (lambda server: Ask("operator")) for name in [
    "GET /admin/servers", "GET /admin/sessions", "POST /admin/cleanup", "GET /admin/ban",
    "GET /admin/mute", "GET /admin/drain", "POST /admin/drain", "DELETE /admin/drain",
    "GET /admin/host-keys", "GET /admin/audit", "GET /admin/logs", "GET /admin/users", "GET /admin/settings"]}

GOOD = {
    **PLAIN, **OPERATOR,
    "GET /blob/{sha256}": lambda server: Ask(sha256=server.rune()),
    # No rune is told of before a game is joined: this one is not there.
    "GET /packed/{number}/{sha256}": lambda server: Ask(number=1, sha256="0" * 64, status=404),
    "POST /packed/{number}": lambda server: Ask(number=1, body={"runes": ["0" * 64]}, status=404),
    "GET /worlds": lambda server: Ask("guest"),
    "GET /world/{world_id}": lambda server: Ask("account", world_id=server.own_world()),
    "GET /world/{world_id}/export": lambda server: Ask("account", world_id=server.own_world()),
    "POST /world/{world_id}": world_file,
    "POST /world/{world_id}/import": world_file,
    "DELETE /world/{world_id}": world_to_delete,
    "GET /api/rooms/{code}": lambda server: Ask(code=server.code),
    "GET /api/rooms/{code}/ws": lambda server: Ask(code=server.code),
    "GET /api/worlds/{world_id}/scripts": development_world,
    "POST /login": lambda server: Ask(body={"username": "ann", "password": PASSWORD}),
    "POST /register": lambda server: Ask(body={"username": server.new_name(), "password": PASSWORD}),
    "POST /logout": logging_out,
    "POST /join": lambda server: Ask("guest", {"place_id": "place_island"}),
    "GET /api/account": lambda server: Ask("account"),
    "POST /api/account": lambda server: Ask("account", {"shown_name": "Ann"}),
    "POST /api/account/password": password_change,
    "POST /api/account/recover": recovery,
    "POST /api/account/link": lambda server: Ask(
        body={"link": server.post("/api/invitations", {}, "operator")["link"].split("=")[1]}),
    "GET /api/account/sign-ins": lambda server: Ask("account"),
    "DELETE /api/account/sign-ins/{id}": sign_in_to_end,
    "POST /api/account/tokens": lambda server: Ask("account", {"name": "t", "scope": "play"}),
    "POST /api/invitations": lambda server: Ask("operator", {"role": "creator"}),
    "DELETE /api/account": leaving,
    "GET /api/account/export": lambda server: Ask("account"),
    "DELETE /api/accounts/{name}": lambda server: Ask("operator", name=server.register()[0]),
    "GET /api/accounts/{name}/export": lambda server: Ask("operator", name="ann"),
    "POST /api/accounts/{name}/reset": lambda server: Ask("operator", name="ann"),
    "POST /api/accounts/{name}/roles": lambda server: Ask("operator", {"roles": "player"},
                                                         name="ann"),
    "POST /api/worlds": own_world,
    "POST /api/worlds/{world_id}/guests": lambda server: Ask(
        "account", {"username": "boss"}, world_id=server.own_world()),
    "DELETE /api/worlds/{world_id}/guests/{username}": guest_of_world,
    "GET /api/worlds/{world_id}/rights": lambda server: Ask("account", world_id=server.own_world()),
    "POST /api/worlds/{world_id}/kick": owner_kicks,
    "GET /api/script": lambda server: Ask(server=server.development,
                                          query={"id": script(server)[0]}),
    "POST /api/script/save": save,
    "GET /api/jobs/{id}": job,
    "DELETE /api/jobs/{id}": job,
    "GET /admin/users/{id}": lambda server: Ask("operator", id="ann"),
    "GET /admin/host-keys": lambda server: Ask("operator"),
    "POST /admin/host-keys": lambda server: Ask("operator", {"name": server.new_name()}),
    "DELETE /admin/host-keys/{id}": lambda server: Ask("operator", id=server.post(
        "/admin/host-keys", {"name": server.new_name()}, "operator")["id"]),
    "GET /api/account/profiles": lambda server: Ask("account"),
    "PUT /api/account/profiles": lambda server: Ask("account", server.post(
        "/api/account/profiles", who="account", method="GET")),
    "PUT /admin/settings": lambda server: Ask("operator", {"registration": "open"}),
    "DELETE /admin/servers/{id}": lambda server: Ask("operator", id=server.started()),
    "POST /admin/kick": lambda server: Ask("operator", {"account": "ann"}),
    "POST /admin/announce": lambda server: Ask("operator", {"text": "hello"}),
    "POST /admin/ban": lambda server: Ask("operator", {"account": server.register()[0]}),
    "POST /admin/mute": lambda server: Ask("operator", {"account": server.register()[0]}),
    "DELETE /admin/ban": lambda server: Ask("operator", query={"account": server.ban("ban")}),
    "POST /admin/host-keys": lambda server: Ask("operator", {"name": "second machine"}),
    "DELETE /admin/host-keys/{id}": lambda server: Ask("operator", id=host_key(server)),
    "POST /api/hosts/register": lambda server: host(server, {"world_id": "w", "boot": "0" * 32}),
    "POST /api/hosts/batch": host_batch,
    "POST /api/hosts/report": host_report,
    "POST /api/hosts/sign": host_sign,
    "POST /api/hosts/scripts": host_scripts,
    "GET /api/hosts/lists": lambda server: host(server),
    "POST /api/hosts/evidence": host_evidence,
    "GET /api/hosts/place/{place_id}": lambda server: host(server, place_id="place_island"),
    "DELETE /admin/mute": lambda server: Ask("operator", query={"account": server.ban("mute")}),
}

# Forms without JavaScript send these, so our own Origin is enough.
FORMS = {"POST /login", "POST /register", "POST /logout", "POST /api/account/issuer/unlink", "POST /api/account/password",
         "POST /api/account/recover"}

# What must be undone after a good request.
AFTER = {"POST /admin/drain": lambda server: server.post("/admin/drain", None, "operator", "DELETE")}

# --- conflicts ------------------------------------------------------------------------------------

def without_accounts(body=None, query=None, **parts):
    """`sandlot world` has no accounts."""
    return lambda server: Ask(None, body, query, server=server.development, **parts)


def running_world(server):
    """A world that runs, and its file."""
    world = server.started()
    return Ask("operator", server.post(f"/world/{world}", None, "operator", "GET"), world_id=world)


def account_with_worlds(server):
    """It has as many as it may have."""
    name = server.account()
    for _ in range(20):
        server.post("/api/worlds", {}, name)
    return name


def account_with_tokens(server):
    name = server.account()
    for number in range(32):
        server.post("/api/account/tokens", {"name": f"t{number}", "scope": "play"}, name)
    return Ask(name, {"name": "one more", "scope": "play"})


def world_with_guests(server):
    """As many as may be invited. They are nobody, but they count."""
    world = server.own_world()
    with contextlib.closing(server.database()) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(world_guests)")]
        database.execute("BEGIN IMMEDIATE")
        for number in range(256):
            given = {"world_id": world.encode(), "account_id": 1_000_000 + number}
            database.execute(f"INSERT INTO world_guests VALUES ({','.join('?' * len(columns))})",
                             [given.get(column, 0) for column in columns])
        database.execute("COMMIT")
    return Ask("account", {"username": "boss"}, world_id=world)


def host_keys(server):
    """As many as there may be; many at once are stored faster."""
    def make():
        link = http.client.HTTPConnection("127.0.0.1", server.up.port, timeout=20 * PATIENCE)
        with contextlib.closing(link):
            for _ in range(32):
                link.request("POST", "/admin/host-keys", '{"name":"k"}',
                             {"Authorization": f"Bearer {server.tokens['operator']}"})
                link.getresponse().read()
    threads = [threading.Thread(target=make) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Ask("operator", {"name": "one more"})


def batch_again(server):
    """A batch that is sent again while it is being stored: who waits for its first answer is told so."""
    host_key(server)
    job = b"\x03" + bytes(8)  # release epoch 0
    body = bytes(8) + bytes(16) + b"\x01\0\0\0w" + bytes(32) + b"\x01" + job
    links = [http.client.HTTPConnection("127.0.0.1", server.up.port, timeout=20 * PATIENCE)
             for _ in range(2)]
    waiting = server.up.metric("sandlot_http_waiting")
    with contextlib.closing(server.database()) as database:
        database.execute("BEGIN IMMEDIATE")  # nothing is stored while the test holds the lock
        for again, link in enumerate(links):
            link.request("POST", "/api/hosts/batch", bytes([1, again]) + body,
                         {"Authorization": f"Bearer {server.tokens['host']}"})
            if again == 0:
                wait_until(lambda: server.up.metric("sandlot_http_waiting") > waiting, "it waits")
        answer = links[0].getresponse()
        database.execute("ROLLBACK")
    second = links[1].getresponse()
    check(second.status == 200, f"the second time it is answered {second.status}: {second.read()}")
    return answer.status, dict(answer.getheaders()), answer.read()


# A request that is answered 409, or why there is none.
CONFLICT = {
    "POST /login": lambda server: Ask(body={"username": "ann"}),  # a guest with an account's name
    "POST /register": lambda server: Ask(body={"username": "ANN", "password": PASSWORD}),
    "POST /logout": "the sign-in ends, and is 401 from then on",
    "POST /packed/{number}": "it only reads",
    "POST /api/account": lambda server: Ask("account", {"shown_name": "boss"}),
    "POST /api/hosts/sign": lambda server: host(
        server, {"world_id": "w", "boot": "0" * 32, "place_hash": "0" * 64, "version": 1, "tick": 1}),
    "POST /api/hosts/scripts": lambda server: Ask(
        "host", bytes(13), query={**host_scripts(server).query, "boot": "2" * 32}),
    "POST /api/hosts/report": lambda server: Ask(
        "host", {**host_report(server).body, "boot": "2" * 32}),
    "POST /api/hosts/evidence": lambda server: Ask(
        "host", {**host_evidence(server).body, "boot": "2" * 32}),
    "DELETE /api/account": lambda server: Ask("operator", {"password": PASSWORD}),  # the last one
    "POST /api/account/password": "a password that was changed meanwhile makes the old one wrong, 401",
    "POST /api/account/link": "it only reads; a link that was used is gone, 410",
    "POST /api/account/recover": "a code that was used is wrong, 401, and such a link is gone, 410",
    "DELETE /api/account/sign-ins/{id}": "one that has ended is 404",
    "POST /api/account/tokens": account_with_tokens,
    "PUT /api/account/profiles": "all are replaced: the last one wins",
    "POST /api/invitations": "each is a new one",
    "DELETE /api/accounts/{name}": lambda server: Ask("operator", name="boss"),
    "POST /api/accounts/{name}/reset": "the new link takes the place of the old one",
    "POST /api/accounts/{name}/roles": lambda server: Ask("operator", {"roles": "player"}, name="boss"),
    "POST /join": lambda server: Ask(account_with_worlds(server), {}),
    "POST /api/worlds": lambda server: Ask(account_with_worlds(server), {}),
    "POST /world/{world_id}": running_world,
    "POST /world/{world_id}/import": running_world,
    "DELETE /world/{world_id}": lambda server: Ask("operator", world_id=server.started()),
    "POST /api/worlds/{world_id}/guests": world_with_guests,
    "DELETE /api/worlds/{world_id}/guests/{username}": "an invitation that was taken back is 404",
    "POST /api/worlds/{world_id}/kick": kicks_herself,
    "POST /api/script/save": lambda server: Ask(
        server=server.development, body={**save(server).body, "knownHash": "0" * 64}),
    "DELETE /api/jobs/{id}": "a build that is over stays as it is",
    "POST /api/hosts/register": COSTLY + "4,096 worlds of the place; it takes the place of an older "
                                "registration",
    "POST /api/hosts/batch": batch_again,
    "POST /admin/host-keys": host_keys,
    "DELETE /admin/host-keys/{id}": "one that was revoked is 404",
    "GET /admin/users": without_accounts(),
    "GET /admin/users/{id}": without_accounts(id="ann"),
    "GET /admin/settings": without_accounts(),
    "PUT /admin/settings": without_accounts({"registration": "open"}),
    "DELETE /admin/servers/{id}": lambda server: Ask("operator", id=server.own_world()),
    "POST /admin/cleanup": "what nobody uses any more is gone, if it is there",
    "POST /admin/kick": "who is not there is not told",
    "POST /admin/announce": "it is said to whoever is there",
    "GET /admin/ban": without_accounts(),
    "POST /admin/ban": lambda server: Ask("operator", {"account": "boss"}),
    "DELETE /admin/ban": without_accounts(query={"account": "ann"}),
    "GET /admin/mute": without_accounts(),
    "POST /admin/mute": lambda server: Ask("operator", {"account": "boss"}),
    "DELETE /admin/mute": without_accounts(query={"account": "ann"}),
    "POST /admin/drain": "it says how it shall be",
    "DELETE /admin/drain": "it says how it shall be",
}


# --- limits ---------------------------------------------------------------------------------------

def from_address(number):
    """The test as a proxy passes on what this address asks."""
    return {"X-Forwarded-For": f"198.51.100.{number}"}


def wrong_passwords(server):
    """Until the name has failed too often."""
    name, _ = server.register()
    body = {"username": name, "password": "wrong wrong wrong"}
    for _ in range(10):
        server.request("POST", "/login", body, headers=from_address(1))
    return Ask(body=body, headers=from_address(2))  # from anywhere


def wrong_own_passwords(body):
    """The same by somebody who is signed in: until the account has failed too often."""
    def fail(server):
        name = server.account()
        for _ in range(10):
            server.request("POST", "/api/account/password",
                           {"old": "wrong wrong wrong", "new": PASSWORD}, server.tokens[name])
        return Ask(name, body)
    return fail


def wrong_codes(server):
    ask = recovery(server)
    body = {**ask.body, "code": "AAAA-AAAA-AAAA"}
    for _ in range(10):
        server.request("POST", "/api/account/recover", body, headers=from_address(1))
    return Ask(body=ask.body, headers=from_address(2))  # the right code is refused too


def many_guests(server):
    """As many as may be made from one address."""
    for _ in range(300):
        server.request("POST", "/login", {}, headers=from_address(3))
    return Ask(body={"username": server.new_name(), "password": PASSWORD}, headers=from_address(3))


def worlds_of_address(number):
    """Guests of one address have made as many as they may."""
    def make(server):
        for guest in range(4):
            _, _, body = server.request("POST", "/login", {}, headers=from_address(number))
            server.tokens[f"guest{number}"] = json.loads(body)["session_token"]
            if guest < 3:
                server.post("/api/worlds", {}, f"guest{number}", **from_address(number))
        return Ask(f"guest{number}", {}, headers=from_address(number))
    return make


def wrong_rooms(server):
    for number in range(60):
        server.request("GET", f"/api/rooms/wrong{number}", headers=from_address(6))
    return Ask(code="wrong", headers=from_address(6))


def many_sockets(server):
    address = ["X-Forwarded-For: 198.51.100.7"]
    links = [WebSocket(server.up.port, f"/api/rooms/{server.join()['room_code']}/ws", headers=address)
             for _ in range(65)]
    last = links[-1]
    head = dict(line.split(": ", 1) for line in last.head.split("\r\n")[1:])
    while len(last.buffer) < int(head.get("Content-Length", 0)):
        last.buffer += last.socket.recv(4096)
    for link in links:
        link.close()
    check([link.status for link in links[:-1]] == [101] * 64, [link.status for link in links])
    return last.status, head, last.buffer


def many_followers(server):
    """As many as may follow the log, of a world that says nothing."""
    query = f"/admin/logs?after=0&wait=30&world={server.own_world()}"
    with contextlib.ExitStack() as links:
        for _ in range(16):
            send_only(links, server.up.port, "GET", query, token=server.tokens["operator"])
        wait_until(lambda: server.up.metric("sandlot_http_waiting") >= 16, "they wait")
        return server.request("GET", query, token=server.tokens["operator"])


# What is done until it is answered 429.
LIMITED = {
    "POST /login": wrong_passwords,
    "POST /register": many_guests,
    "POST /api/account/password": wrong_own_passwords({"old": PASSWORD, "new": PASSWORD}),
    "DELETE /api/account": wrong_own_passwords({"password": PASSWORD}),
    "POST /api/account/recover": wrong_codes,
    "POST /join": worlds_of_address(4),
    "POST /api/worlds": worlds_of_address(5),
    "POST /api/worlds/{world_id}/kick": many_kicks,
    "GET /api/rooms/{code}": wrong_rooms,
    "GET /api/rooms/{code}/ws": many_sockets,
    "GET /admin/logs": many_followers,
    "POST /api/hosts/evidence": many_evidence,
}

# These are answered from memory by whoever reads the request, and wait for nobody.
AT_ONCE = {
    "GET /healthz", "GET /health", "GET /api/health", "GET /readyz", "GET /api/openapi.json",
    "GET /api/docs", "GET /blob/{sha256}", "GET /api/session",
    "GET /api/account", "GET /cards.css", "GET /api/account/sign-ins", "GET /admin/host-keys",
    "GET /admin/settings", "GET /admin/ban", "GET /admin/mute",
}

add_parts(GOOD=GOOD, CONFLICT=CONFLICT, LIMITED=LIMITED, AT_ONCE=AT_ONCE, AFTER=AFTER)


def send_only(links, port, method, path, body=None, token=None, headers=(), source=""):
    """A request whose answer nobody reads; the link is closed with the others."""
    link = links.enter_context(socket.create_connection(
        ("127.0.0.1", port), timeout=10 * PATIENCE, source_address=(source, 0)))
    text = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(text)}",
             *(f"{name}: {value}" for name, value in dict(headers).items()),
             *([f"Authorization: Bearer {token}"] if token else [])]
    link.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + text)
    return link


@contextlib.contextmanager
def frozen(process, start):
    """A world that has begun to start, and does not go on: who joins it waits. One that is ready
    before it is caught is let go, and the next one is tried."""
    for _ in range(20):
        before = set(process.children())
        joining = start()
        pid = wait_until(lambda: next((pid for pid in set(process.children()) - before
                                       if is_world_process(pid)), None), "a world starts")
        os.kill(pid, signal.SIGSTOP)
        joining.settimeout(0.2)
        try:
            joining.recv(1)
        except TimeoutError:
            try:
                yield
            finally:
                os.kill(pid, signal.SIGCONT)
            return
        os.kill(pid, signal.SIGCONT)
    check(False, "no world could be stopped while it started")


@contextlib.contextmanager
def crowd_up(server):
    """As many requests of one address wait as may: they join two worlds that do not get ready. The
    headers of another request of that address."""
    address = from_address(9)
    names = [server.account() for _ in range(2)]
    with contextlib.ExitStack() as links:
        for name in names:
            world = server.post("/api/worlds", {}, name)["world_id"]
            def join():
                return send_only(links, server.up.port, "POST", "/join", {"world_id": world},
                                 server.tokens[name], address, "127.0.0.2")
            links.enter_context(frozen(server.up, join))
            for _ in range(31):
                join()
        wait_until(lambda: server.up.metric("sandlot_http_waiting") >= 64, "all wait")
        yield address


@contextlib.contextmanager
def crowd_world(server):
    """In development nobody's address counts, but all requests that wait do."""
    world = server.development
    with contextlib.ExitStack() as links:
        def join():
            return send_only(links, world.port, "POST", "/join", {})
        def start_again():
            for pid in world.children():
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not world.is_ready(), "it has ended")
            return join()
        links.enter_context(frozen(world, start_again))
        for _ in range(255):
            join()
        wait_until(lambda: world.request("GET", "/metrics")[0] == 503, "all wait")
        yield {}
    wait_until(lambda: world.request("GET", "/metrics")[0] != 503, "nobody waits any more")


# --- what is asked --------------------------------------------------------------------------------

class Matrix:
    def __init__(self, server):
        self.server = server
        self.failures = []
        self.reasons = []
        self.rows = {}  # by the endpoint's name

    def send(self, endpoint, ask, **change):
        token = self.server.tokens.get(ask.who) if ask.who else None
        token = change.pop("token", token)
        query = {**ask.query, **change.pop("query", {})}
        for name in change.pop("without", []):
            query.pop(name, None)
        address = endpoint.address(ask)
        if query:
            address += "?" + "&".join(f"{name}={value}" for name, value in query.items())
        body = change.pop("body", ask.body)
        headers = {**dict(ask.headers), **dict(change.pop("headers", {}))}
        return self.server.request(change.pop("method", endpoint.method), address, body, token,
                                   ask.server, headers=headers, **change)

    def expect(self, endpoint, column, answer, wanted):
        """A refusal with one of these statuses, in our form, and described."""
        status, headers, body = answer
        problem = None
        try:
            error = json.loads(body)["error"]
            if not (set(error) == {"code", "message"} and all(error.values())):
                problem = f"the error is {error}"
        except (ValueError, KeyError, TypeError):
            problem = f"no error in our form: {body[:100]!r}"
        if status not in wanted:
            problem = f"{status}, not {sorted(wanted)}: {body[:150]!r}"
        elif status not in endpoint.statuses | ANYWHERE:
            problem = f"{status} is not in the description"
        elif status == 405 and "Allow" not in headers:
            problem = "405 without Allow"
        if problem:
            self.failures.append(f"{endpoint.name}, {column}: {problem}")
        return str(status) + ("!" if problem else "")

    def good(self, endpoint, column="good", **change):
        ask = GOOD[endpoint.name](self.server)
        wanted = ask.status or endpoint.success
        if wanted == 101:
            query = "&".join(f"{name}={value}" for name, value in ask.query.items())
            socket = WebSocket(self.server.up.port, endpoint.address(ask) + ("?" + query if query else ""),
                               ask.protocol)
            socket.socket.close()
            return self.result(endpoint, column, socket.status, 101, b"")
        status, headers, body = self.send(endpoint, ask, **change)
        AFTER.get(endpoint.name, lambda server: None)(self.server)
        if status == wanted and wanted < 400 and endpoint.gives and column == "good":
            self.compare(endpoint, json.loads(body))
        return self.result(endpoint, column, status, wanted, body)

    def result(self, endpoint, column, status, wanted, body):
        if status != wanted:
            self.failures.append(f"{endpoint.name}, {column}: {status}, not {wanted}: {body[:200]!r}")
        return str(status) + ("!" if status != wanted else "")

    def compare(self, endpoint, answer):
        """The members are those of the description."""
        required, known = set(endpoint.gives["required"]), set(endpoint.gives["properties"])
        names = {"array": list, "object": dict, "string": str, "boolean": bool, "integer": int,
                 "number": (int, float)}
        if required - set(answer):
            self.failures.append(f"{endpoint.name}: the answer lacks {required - set(answer)}")
        if set(answer) - known:
            self.failures.append(f"{endpoint.name}: not described: {set(answer) - known}")
        for name, value in answer.items():
            wanted = endpoint.gives["properties"].get(name, {}).get("type")
            if wanted and value is not None and not isinstance(value, names[wanted]):
                self.failures.append(f"{endpoint.name}: {name} is {value!r}, no {wanted}")

    def missing(self, endpoint):
        marks = set()
        for name in endpoint.members:
            ask = GOOD[endpoint.name](self.server)
            body = {key: value for key, value in ask.body.items() if key != name}
            marks.add(self.expect(endpoint, f"without {name}", self.send(endpoint, ask, body=body),
                                  {400}))
        for name in endpoint.query:
            ask = GOOD[endpoint.name](self.server)
            marks.add(self.expect(endpoint, f"without {name}",
                                  self.send(endpoint, ask, without=[name]), {400}))
        return "/".join(sorted(marks)) or NOTHING

    def malformed(self, endpoint, ask):
        if not endpoint.takes_json:
            return NOTHING
        marks = {self.expect(endpoint, f"malformed {text[:40]}", self.send(endpoint, ask, raw=text), {400})
                 for text in WRONG_JSON}
        for name, value in (ask.body or {}).items():
            for wrong in (7, "x", [], {}, True, None):
                is_wrong = type(wrong) is not type(value) and endpoint.types.get(name) is not None
                if is_wrong and (wrong is not None or name in endpoint.members):
                    answer = self.send(endpoint, ask, body={**ask.body, name: wrong})
                    marks.add(self.expect(endpoint, f"{name} = {wrong!r}", answer, {400}))
        return "/".join(sorted(marks))

    def oversized(self, endpoint, ask):
        if endpoint.method == "GET":
            return NOTHING
        if (endpoint.body_max or 0) > 1 << 16:  # it is refused before it is sent, and the link may be closed
            answer = self.announce(endpoint, ask, endpoint.body_max + 1)
            return self.expect(endpoint, "oversized", answer, {413})
        text = json.dumps({"a": "x" * max(endpoint.body_max or 0, 1024)})  # a little is never too much
        return self.expect(endpoint, "oversized", self.send(endpoint, ask, raw=text), {413})

    def announce(self, endpoint, ask, size):
        link = http.client.HTTPConnection("127.0.0.1", (ask.server or self.server.up).port,
                                          timeout=20 * PATIENCE)
        try:
            link.putrequest(endpoint.method, endpoint.address(ask))
            link.putheader("Content-Length", str(size))
            if ask.who:
                link.putheader("Authorization", f"Bearer {self.server.tokens[ask.who]}")
            link.endheaders()
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def run(self, endpoint):
        server = self.server
        marks = [self.good(endpoint), self.missing(endpoint)]
        ask = GOOD[endpoint.name](server)
        marks += [self.malformed(endpoint, ask), self.oversized(endpoint, ask)]
        plain = Ask(ask.who, ask.body, ask.query, **ask.parts)  # not in development
        is_open = endpoint.access in ("anyone", "local")  # the test is on the same machine
        marks.append(NOTHING if is_open else self.expect(
            endpoint, "no sign-in", self.send(endpoint, plain, token=None), {401}))
        marks.append(self.expect(endpoint, "bad token", self.send(endpoint, plain, token="no" * 20),
                                 {401}))
        needs_role = endpoint.access in ("account", "creator", "teacher", "operator", "machine")
        if ask.server is not None:  # in development only
            marks.append(self.expect(endpoint, "forbidden", self.send(endpoint, plain), {401, 403, 404}))
        else:
            marks.append(NOTHING if not needs_role else self.expect(
                endpoint, "forbidden", self.send(endpoint, plain, token=server.tokens["guest"]),
                {403}))
        marks.append(self.scope(endpoint, ask))
        marks.append(self.forged(endpoint, ask))
        marks.append(self.expect(endpoint, "method", self.send(endpoint, plain, method="LOCK",
                                                               body=None), {405}))
        marks.append(self.unknown(endpoint))
        self.rows[endpoint.name] = marks

    def scope(self, endpoint, ask):
        """Tokens of a tool that are for something else. They are an account's that is no operator."""
        wrong = [one for one in SCOPES if endpoint.scope not in (one, "any")]
        if endpoint.access == "host" or ask.server is not None or not wrong:
            return NOTHING
        marks = set()
        for one in wrong:
            answer = self.send(endpoint, ask, token=self.server.tool(one))
            marks.add(self.expect(endpoint, f"scope {one}", answer, {403}))
            if b'"code":"scope"' not in answer[2]:
                self.failures.append(f"{endpoint.name}, scope {one}: {answer[2][:150]!r}")
        return "/".join(sorted(marks))

    def forged(self, endpoint, ask):
        """A page of another site, with the cookie of whoever is signed in, or without one; our own page
        without the header that no form can send."""
        if endpoint.method == "GET" or ask.server is not None:
            return NOTHING  # it changes nothing, and no other page can read it
        origin = f"http://127.0.0.1:{self.server.up.port}"
        evil = {"Origin": "http://evil.example", "X-Sandlot": "1"}
        tries = [(True, evil), (False, evil), (True, {"Origin": "null"}), (True, {"X-Sandlot": "1"})]
        if endpoint.name not in FORMS:
            tries.append((True, {"Origin": origin}))
        marks = set()
        for has_cookie, headers in tries:
            if has_cookie:
                if ask.who in (None, "host"):
                    continue
                headers = {**headers, "Cookie": f"sandlot={self.server.tokens[ask.who]}"}
            answer = self.send(endpoint, ask, token=None, headers=headers)
            wanted = {403} if has_cookie or endpoint.access == "anyone" else {401, 403}
            marks.add(self.expect(endpoint, f"forged {headers}", answer, wanted))
        return "/".join(sorted(marks))

    def conflict(self, endpoint):
        """After all other requests, because some of them use up what there may be."""
        conflict = CONFLICT.get(endpoint.name)
        if conflict is None and endpoint.method == "GET" and not endpoint.statuses & CONFLICTS:
            return NOTHING  # it reads only
        if isinstance(conflict, str):
            if endpoint.statuses & CONFLICTS and not conflict.startswith(COSTLY):
                self.failures.append(f"{endpoint.name}: its route says 409, but CONFLICT says why not")
            self.reasons.append(f"{endpoint.name} does not conflict: {conflict}")
            return NOTHING
        if conflict is None:
            self.failures.append(f"{endpoint.name}: say in CONFLICT what is answered 409, or why nothing is")
            return "?"
        answer = conflict(self.server)
        if isinstance(answer, Ask):
            answer = self.send(endpoint, answer)
        if endpoint.name == "POST /api/script/save":  # says both texts beside the error
            status, headers, body = answer
            answer = status, headers, json.dumps({"error": json.loads(body)["error"]}).encode()
        return self.expect(endpoint, "conflict", answer, CONFLICTS)

    def limited(self, endpoint):
        if (429 in endpoint.statuses) != (endpoint.name in LIMITED):
            self.failures.append(f"{endpoint.name}: its route says 429, but nothing in LIMITED; or the "
                                 "other way round")
            return "?"
        answer = LIMITED[endpoint.name](self.server)
        if isinstance(answer, Ask):
            answer = self.send(endpoint, answer, headers=answer.headers)
        if answer[0] == 429 and not int(answer[1].get("Retry-After", 0)) > 0:
            self.failures.append(f"{endpoint.name}: 429 without Retry-After")
        return self.expect(endpoint, "limited", answer, {429})

    def crowded(self, every):
        """Requests while so many others wait for their answers that no other one may. What has a limit
        of its own is among them: it may wait too. By the endpoint's name, what its column says."""
        asks = {one.name: GOOD[one.name](self.server) for one in every
                if one.success != 101 and one.name not in LIMITED}
        marks = {}
        for server, crowd in ((None, crowd_up), (self.server.development, crowd_world)):
            with crowd(self.server) as headers:
                for one in every:
                    ask = asks.get(one.name)
                    if ask is not None and ask.server == server:
                        marks[one.name] = self.crowded_one(one, ask, headers)
        return marks

    def crowded_one(self, endpoint, ask, headers):
        if endpoint.access == "local":
            ask = Ask("operator", ask.body, ask.query, **ask.parts)  # the test is a proxy now
        answer = self.send(endpoint, ask, headers=headers)
        wanted = ask.status or endpoint.success
        if endpoint.name in AT_ONCE:
            return self.result(endpoint, "limited", answer[0], wanted, answer[2])
        if answer[0] == wanted:
            self.failures.append(f"{endpoint.name} waits for nothing: say so in AT_ONCE")
            return "?"
        if answer[0] == 503 and b'"busy"' not in answer[2]:
            self.failures.append(f"{endpoint.name}: not because others wait: {answer[2]!r}")
        return self.expect(endpoint, "limited", answer, {503})

    def unknown(self, endpoint):
        """Members that nobody knows are refused, parameters are ignored."""
        if endpoint.takes_json:
            ask = GOOD[endpoint.name](self.server)
            body = {**(ask.body or {}), "unknown_zz": 1}
            return self.expect(endpoint, "unknown member", self.send(endpoint, ask, body=body), {400})
        return self.good(endpoint, "unknown query", query={"unknown_zz": "1"})

    def print(self):
        width = max(len(name) for name in self.rows)
        print("".ljust(width), *(column.rjust(10) for column in COLUMNS))
        for name, marks in self.rows.items():
            print(name.ljust(width), *(mark.rjust(10) for mark in marks))
        print("\n".join(self.reasons))


def description(server):
    status, headers, body = server.request("GET", "/api/openapi.json")
    check(status == 200 and headers["Content-Type"] == "application/json", (status, headers))
    return json.loads(body)


def endpoints(document):
    return [Endpoint(method, path, operation) for path, item in document["paths"].items()
            for method, operation in item.items()]


PARTS = 4  # each with a server of its own, so that they run beside each other


def run_part(program, places, folder, part):
    server = Server(program, places, folder)
    try:
        began = time.monotonic()
        matrix = Matrix(server)
        every = endpoints(description(server))
        new = [one.name for one in every if one.name not in GOOD]
        check(not new, f"say in GOOD of {__file__} what a good request to these is: {new}")
        old = (set(GOOD) | set(CONFLICT) | set(LIMITED) | AT_ONCE) - {one.name for one in every}
        check(not old, f"the tables of {__file__} have what is no endpoint (any more): {old}")
        every = every[part::PARTS]
        for endpoint in every:
            matrix.run(endpoint)
        crowded = matrix.crowded(every)
        for endpoint in every:
            matrix.rows[endpoint.name].append(matrix.conflict(endpoint))
            matrix.rows[endpoint.name].append(crowded.get(endpoint.name) or matrix.limited(endpoint))
        matrix.print()
        print(f"{len(every)} endpoints, {time.monotonic() - began:.1f} s")
        check(not matrix.failures, "\n".join(matrix.failures))
    finally:
        server.stop()


def test_matrix_first(program, places, folder):
    run_part(program, places, folder, 0)


def test_matrix_second(program, places, folder):
    run_part(program, places, folder, 1)


def test_matrix_third(program, places, folder):
    run_part(program, places, folder, 2)


def test_matrix_fourth(program, places, folder):
    run_part(program, places, folder, 3)


def table(document):
    """All endpoints, as docs/HTTP.md lists them."""
    rows = [f"| `{one.method} {one.path}` | {one.access} | {one.operation['summary']} |"
            for one in sorted(endpoints(document), key=lambda one: (one.path, one.method))]
    return "\n".join(["| endpoint | who may ask | what it does |", "| --- | --- | --- |", *rows])


def check_page(document):
    """SANDLOT_UPDATE=1 writes the table into the page."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "..", "..", "docs", "HTTP.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split("<!-- endpoints -->\n")
    written, after = rest.split("\n<!-- end of endpoints -->")
    if written != table(document) and os.environ.get("SANDLOT_UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{before}<!-- endpoints -->\n{table(document)}\n<!-- end of endpoints -->{after}")
        return
    lines = set(written.split("\n")) ^ set(table(document).split("\n"))
    check(written == table(document), "the table of docs/HTTP.md is not that of the server; run this "
          "test with SANDLOT_UPDATE=1 to write it. These rows differ:\n" + "\n".join(sorted(lines)))


def test_matrix_description(program, _places, folder):
    """The description is valid OpenAPI 3.1, the page is there, and docs/HTTP.md has the same table."""
    up = People(program, folder)
    try:
        status, _, body = up.request("GET", "/api/openapi.json")
        check(status == 200, status)
        here = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run(
            [os.path.join(here, "..", "..", "tools", "node"),
             os.path.join(here, "validate_openapi.mjs")],
            input=body, capture_output=True, timeout=60 * PATIENCE)
        check(done.returncode == 0, done.stderr.decode())
        answer = json.loads(done.stdout)
        check(answer["valid"] and answer["version"] == "3.1", answer)
        check_page(json.loads(body))
        broken = json.loads(body)
        del broken["info"]["title"]  # can it fail at all?
        done = subprocess.run(done.args, input=json.dumps(broken).encode(), capture_output=True,
                              timeout=60 * PATIENCE)
        check(not json.loads(done.stdout)["valid"], "a description without a title is valid")
        status, headers, page = up.request("GET", "/api/docs")
        check(status == 200 and headers["Content-Type"].startswith("text/html"), headers)
        for path in broken["paths"]:
            check(path.encode() in page, f"{path} is not on the page")
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

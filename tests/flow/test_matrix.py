"""Every endpoint of the API, from the description that the server gives of itself: a good request, and
everything that can be wrong with one. What a good request looks like is in the table GOOD; an
endpoint that is not in it fails the test. Prints the matrix.

The server runs with a secret key, so it is not in development: who may ask what counts. What only
development has is asked of a second server, for its good request."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import time

from support import PATIENCE, WebSocket, World, check, run
from test_accounts import PASSWORD, People

COLUMNS = ["good", "missing", "malformed", "oversized", "no sign-in", "bad token", "forbidden",
           "conflict", "limited", "method", "unknown"]
ANYWHERE = {405, 421}  # of every address, and so not in the description of each
NOTHING = "-"


class Ask:
    """A request: what fills the braces of the path, the query, the body, and whose token."""

    def __init__(self, who=None, body=None, query=None, status=None, server=None, **parts):
        self.who, self.body, self.query, self.status = who, body, query or {}, status
        self.server, self.parts = server, parts


class Endpoint:
    def __init__(self, method, path, operation):
        self.method, self.path, self.operation = method.upper(), path, operation
        self.name = f"{self.method} {path}"
        self.access = operation["x-access"]
        self.body_max = operation.get("x-body-max")
        content = operation.get("requestBody", {}).get("content", {})
        self.takes_json = "application/json" in content
        schema = content.get("application/json", {}).get("schema", {})
        self.members = schema.get("required", [])
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
        self.up = People(program, os.path.join(folder, "up"),
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

    def post(self, path, body=None, who=None, method="POST"):
        status, answer = self.up.post(path, body, self.tokens.get(who), method=method)
        check(status in (200, 201), f"{path} says {status}: {answer}")
        return answer

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
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()


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
    return Ask(server=server.development, id=server.development.room)


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


PLAIN = {name: (lambda server: Ask()) for name in [
    "GET /healthz", "GET /health", "GET /api/health", "GET /readyz", "GET /metrics",
    "GET /api/openapi.json", "GET /api/docs", "GET /api/assets", "GET /api/session",
    "GET /api/registration", "GET /account", "GET /account.css"]}
OPERATOR = {name: (lambda server: Ask("operator")) for name in [
    "GET /admin/servers", "GET /admin/sessions", "POST /admin/cleanup", "GET /admin/ban",
    "GET /admin/mute", "GET /admin/drain", "POST /admin/drain", "DELETE /admin/drain",
    "GET /admin/host-keys", "GET /admin/audit", "GET /admin/logs", "GET /admin/users", "GET /admin/settings"]}

GOOD = {
    **PLAIN, **OPERATOR,
    "GET /blob/{sha256}": lambda server: Ask(sha256=server.rune()),
    # No rune is told of before a game is joined: this one is not there.
    "GET /packed/{number}/{sha256}": lambda server: Ask(number=1, sha256="0" * 64, status=404),
    "GET /worlds": lambda server: Ask("guest"),
    "GET /world/{world_id}": lambda server: Ask("account", world_id=server.own_world()),
    "GET /world/{world_id}/export": lambda server: Ask("account", world_id=server.own_world()),
    "POST /world/{world_id}": world_file,
    "POST /world/{world_id}/import": world_file,
    "DELETE /world/{world_id}": world_to_delete,
    "GET /api/rooms/{code}": lambda server: Ask(code=server.code),
    "GET /api/rooms/{code}/ws": lambda server: Ask(code=server.code),
    "GET /api/worlds/{id}/scripts": development_world,
    "POST /login": lambda server: Ask(body={"username": "ann", "password": PASSWORD}),
    "POST /register": lambda server: Ask(body={"username": server.new_name(), "password": PASSWORD}),
    "POST /logout": logging_out,
    "POST /join": lambda server: Ask("guest", {"place_id": "place_island"}),
    "GET /api/account": lambda server: Ask("account"),
    "POST /api/account": lambda server: Ask("account", {"shown_name": "Ann"}),
    "POST /api/account/password": password_change,
    "POST /api/account/recover": recovery,
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
    "POST /api/registration": lambda server: Ask("operator", {"registration": "open"}),
    "POST /api/worlds": own_world,
    "POST /api/worlds/{world_id}/guests": lambda server: Ask(
        "account", {"username": "boss"}, world_id=server.own_world()),
    "DELETE /api/worlds/{world_id}/guests/{username}": guest_of_world,
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
    "GET /api/hosts/place/{place_id}": lambda server: host(server, place_id="place_island"),
    "DELETE /admin/mute": lambda server: Ask("operator", query={"account": server.ban("mute")}),
}

# What must be undone after a good request.
AFTER = {"POST /admin/drain": lambda server: server.post("/admin/drain", None, "operator", "DELETE")}

# Requests that conflict with what is there.
CONFLICT = {
    "POST /register": lambda server: Ask(body={"username": "ANN", "password": PASSWORD}),
    "POST /api/account": lambda server: Ask("account", {"shown_name": "boss"}),
    "POST /admin/ban": lambda server: Ask("operator", {"account": "boss"}),
    "POST /admin/mute": lambda server: Ask("operator", {"account": "boss"}),
    "POST /api/hosts/report": lambda server: Ask(
        "host", {**host_report(server).body, "boot": "2" * 32}),
    "POST /api/script/save": lambda server: Ask(
        server=server.development, body={**save(server).body, "knownHash": "0" * 64}),
}


def wrong_passwords(server):
    """Until the name has failed too often."""
    name, _ = server.register()
    body = {"username": name, "password": "wrong wrong wrong"}
    for _ in range(10):
        server.request("POST", "/login", body)
    return server.request("POST", "/login", body)


LIMITED = {"POST /login": wrong_passwords}


# --- what is asked --------------------------------------------------------------------------------

class Matrix:
    def __init__(self, server):
        self.server = server
        self.failures = []
        self.rows = []

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
        return self.server.request(change.pop("method", endpoint.method), address, body, token,
                                   ask.server, **change)

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
            socket = WebSocket(self.server.up.port, endpoint.address(ask))
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
        marks = {self.expect(endpoint, f"malformed {text}", self.send(endpoint, ask, raw=text), {400})
                 for text in ('{"a":', "[1]", '"text"', "\xff{}")}
        return "/".join(sorted(marks))

    def oversized(self, endpoint, ask):
        if endpoint.method == "GET":
            return NOTHING
        if (endpoint.body_max or 0) > 1 << 20:  # it is refused before it is sent
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
            marks.append(self.expect(endpoint, "forbidden", self.send(endpoint, plain), {403}))
        else:
            marks.append(NOTHING if not needs_role else self.expect(
                endpoint, "forbidden", self.send(endpoint, plain, token=server.tokens["guest"]),
                {403}))
        if endpoint.name in CONFLICT:
            marks.append(self.expect(endpoint, "conflict", self.conflict(endpoint), {409}))
        else:
            marks.append(NOTHING)
        marks.append(self.expect(endpoint, "limited", LIMITED[endpoint.name](server), {429})
                     if endpoint.name in LIMITED else NOTHING)
        marks.append(self.expect(endpoint, "method", self.send(endpoint, plain, method="PATCH",
                                                               body=None), {405}))
        marks.append(self.unknown(endpoint))
        self.rows.append((endpoint.name, marks))

    def conflict(self, endpoint):
        answer = self.send(endpoint, CONFLICT[endpoint.name](self.server))
        if endpoint.name == "POST /api/script/save":  # says both texts beside the error
            status, headers, body = answer
            return status, headers, json.dumps({"error": json.loads(body)["error"]}).encode()
        return answer

    def unknown(self, endpoint):
        """Members that nobody knows are refused, parameters are ignored."""
        if endpoint.takes_json:
            ask = GOOD[endpoint.name](self.server)
            body = {**(ask.body or {}), "unknown_zz": 1}
            return self.expect(endpoint, "unknown member", self.send(endpoint, ask, body=body), {400})
        return self.good(endpoint, "unknown query", query={"unknown_zz": "1"})

    def print(self):
        width = max(len(name) for name, _ in self.rows)
        print("".ljust(width), *(column.rjust(10) for column in COLUMNS))
        for name, marks in self.rows:
            print(name.ljust(width), *(mark.rjust(10) for mark in marks))


def description(server):
    status, headers, body = server.request("GET", "/api/openapi.json")
    check(status == 200 and headers["Content-Type"] == "application/json", (status, headers))
    return json.loads(body)


def endpoints(document):
    return [Endpoint(method, path, operation) for path, item in document["paths"].items()
            for method, operation in item.items()]


def test_matrix(program, places, folder):
    server = Server(program, places, folder)
    try:
        began = time.monotonic()
        matrix = Matrix(server)
        every = endpoints(description(server))
        new = [one.name for one in every if one.name not in GOOD]
        check(not new, f"say in GOOD of {__file__} what a good request to these is: {new}")
        for endpoint in every:
            matrix.run(endpoint)
        matrix.print()
        print(f"{len(every)} endpoints, {time.monotonic() - began:.1f} s")
        check(not matrix.failures, "\n".join(matrix.failures))
    finally:
        server.stop()


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

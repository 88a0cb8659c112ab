"""The site from outside: what each kind of person may see at every address that can be read, against the
table site_rights.txt; who may show the game inside a page; what a place says without JavaScript; and how
heavy the front page is. SANDLOT_UPDATE=1 writes the table."""

import gzip
import json
import os
import re
import subprocess
import sys

from publish import Publisher, package
from support import check, run
from test_head import make_web

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "site_rights.txt")
WEB = os.path.join(HERE, "..", "..", "build", "web")
SECRET = "Hidden den"  # only those who may know of the private place ever read this
PAGES = ["/", "/search?q=den", "/account", "/create", "/create/{private}", "/create/{listed}",
         "/place/{listed}", "/place/{private}", "/place/{draft}", "/play", "/play/{room}", "/play/{private_room}",
         "/class", "/class/{class_id}", "/operate", "/operator", "/operator/people", "/studio/{private}"]
# Of the private place, beside what the description names once.
MORE = ["/api/rooms/{private_room}", "/api/rooms/{private_room_id}", "/api/worlds/{private_room}/scripts",
        "/world/{private_room_id}", "/api/places/{listed}/worlds?channel=beta",
        "/api/places/{listed}/worlds?channel=draft", "/api/places/{listed}/worlds?channel=moon",
        "/api/places/{private}/worlds?channel=draft"]
# What is asked with a query, so that it says something.
QUERIES = {"/api/assets": "?place_id={place}", "/api/chat": "?place_id={place}", "/api/script": "?path=x",
           "/api/places": "?q=den"}
# The answer is a socket, changes with every request, or tells whether this machine is well.
NOT_ASKED = ("/ws", "/events", "/live")
PEOPLE = ["nobody", "guest", "player", "pupil", "creator", "teacher", "operator"]
ALLOWED_KB = 60  # of JavaScript before somebody sees what there is to play


class Site(Publisher):
    """A creator with a listed and a private place and a draft, a teacher with a class, and worlds."""

    def __init__(self, program, places, folder):
        super().__init__(program, places, folder, "--web", make_web(folder))
        self.begin("creator", "teacher")
        self.good("POST", "/api/accounts/teacher/roles", {"roles": "teacher creator"}, "boss")
        self.tokens["operator"] = self.tokens["boss"]
        self.tokens["player"] = self.register("player")["session_token"]
        self.tokens["guest"] = self.post("/login", {"username": "Gus"})[1]["session_token"]
        self.names = {}
        for name, title in (("listed", "Open den"), ("private", SECRET)):
            self.names[name] = self.publish("creator", package(title), channel="live",
                                            visibility=name)["place_id"]
        self.names["draft"] = self.good("POST", "/api/drafts", {"title": f"{SECRET} draft"},
                                        "creator")["place_id"]
        for name, place in (("room", "listed"), ("private_room", "private")):
            made = self.good("POST", "/api/worlds", {"place_id": self.names[place]}, "creator")
            self.names[name], self.names[f"{name}_id"] = made["room_code"], made["world_id"]
        made = self.good("POST", "/api/classes", {"name": f"{SECRET} class"}, "teacher")
        self.names["class_id"] = made["class_id"]
        pupil = self.good("POST", f"/api/classes/{made['class_id']}/pupils", {"names": ["Pia"]},
                          "teacher")["pupils"][0]
        status, answer = self.post("/login", {"code": pupil["code"]})
        check(status == 200, answer)
        self.tokens["pupil"] = answer["session_token"]

    def parts(self, place):
        """What stands for the names in the paths of the description."""
        room = "private_room" if place == "private" else "room"
        return {"place_id": self.names[place], "id": self.names[place], "revision_id": "r1",
                "path": "place.json", "number": "0", "account": "player", "name": "player",
                "code": self.names[room], "class_id": self.names["class_id"], "spell_id": "none",
                "handout": "none"}

    def addresses(self):
        """Every page, and every GET that the server describes: what the table calls it, and its path."""
        found = [(page, page.format(**self.names)) for page in PAGES + MORE]
        document = self.good("GET", "/api/openapi.json")
        for path, methods in sorted(document["paths"].items()):
            if "get" not in methods or path.endswith(NOT_ASKED):
                continue
            for place in ("listed", "private", "draft") if "{place_id}" in path else ("listed",):
                parts = self.parts(place)
                if path.startswith(("/api/worlds/", "/world/", "/admin/servers/")):
                    parts["id"] = parts["world_id"] = self.names["room_id"]
                elif path.startswith(("/admin/", "/api/jobs/", "/api/accounts/")):
                    parts["id"] = "player"
                query = QUERIES.get(path, "").format(place=self.names["listed"])
                called = path if "{place_id}" not in path else path.replace("{place_id}", f"{{{place}}}")
                found.append((called, re.sub(r"\{(\w+)\}", lambda name: str(parts.get(name[1], "none")), path)
                              + query))
        return found

    def seen(self, path, who):
        """The status, with a * if the secret is in the answer."""
        status, _, body = self.raw("GET", path, who=None if who == "nobody" else who)
        return f"{status}{'*' if SECRET.encode() in body else ''}"


def read_table():
    """Rows by name. A line that begins with # is for people."""
    rows = {}
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, *seen = line.split()
                rows[name] = seen
    return rows


def write_table(rows):
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write("# What each kind of person is answered at each address of the site (tests/flow/test_site.py). A * says\n"
                   "# that the answer has the name of the private place, its draft or the class of somebody: only the\n"
                   "# creator whose they are, the teacher, of their class pupils, and operators may have one. SANDLOT_UPDATE=1 writes this file.\n")
        file.write(f"# {'address':<72}" + " ".join(f"{who:<8}" for who in PEOPLE).rstrip() + "\n")
        for name, seen in rows.items():
            file.write(f"{name:<74}" + " ".join(f"{one:<8}" for one in seen).rstrip() + "\n")


def test_site_rights(program, places, folder):
    site = Site(program, places, folder)
    try:
        rows = {name: [site.seen(path, who) for who in PEOPLE] for name, path in site.addresses()}
        if os.environ.get("SANDLOT_UPDATE"):
            write_table(rows)
        wanted = read_table()
        differ = [f"{name}: {' '.join(rows.get(name, ['not there']))} instead of "
                  f"{' '.join(wanted.get(name, ['nothing: it is not in the table']))}"
                  for name in sorted(rows.keys() | wanted.keys()) if rows.get(name) != wanted.get(name)]
        check(not differ, "site_rights.txt says otherwise; look at each, and write the table with "
                          "SANDLOT_UPDATE=1:\n" + "\n".join(differ))
        # Whatever the table says: these never read the secret, and nothing fails.
        for name, seen in rows.items():
            for who, one in zip(PEOPLE, seen):
                is_own = who == "pupil" and name.startswith("/api/classes")
                check(is_own or who in ("creator", "teacher", "operator") or "*" not in one,
                      f"{name} by {who}: {one}")
                check(not one.startswith("500"), f"{name} by {who}: {one}")
        # A page is the same for everybody: what one may see comes from the API.
        for name in PAGES:
            check(len(set(rows[name])) == 1, f"{name}: {rows[name]}")
        site.stop()
    finally:
        site.kill()


def test_site_changes_nothing_by_get(program, places, folder):
    """A page of another site can make a browser ask for anything: after all that, all is as it was."""
    site = Site(program, places, folder)
    try:
        def state():
            return [site.good("GET", path, who=who) for path, who in (
                (f"/api/places/{site.names['listed']}/revisions", "creator"), ("/api/me/places", "creator"),
                ("/api/me/favourites", "operator"), (f"/api/classes/{site.names['class_id']}", "teacher"),
                ("/admin/settings", "operator"), ("/admin/ban", "operator"))]
        before = [json.dumps([one for one in site_state.items() if one[0] != "updated_s"]) for site_state in state()]
        for _, path in site.addresses():
            site.raw("GET", path, who="operator")
        document = site.good("GET", "/api/openapi.json")
        for path, methods in document["paths"].items():  # and what only other methods do
            if "get" not in methods:
                status, _, _ = site.raw("GET", re.sub(r"\{(\w+)\}", site.names["listed"], path), who="operator")
                check(status in (404, 405), f"GET {path}: {status}")
        after = [json.dumps([one for one in site_state.items() if one[0] != "updated_s"]) for site_state in state()]
        strip = re.compile(r'"(updated_s|players|last_seen_at|used_at)": [^,}]*')
        check([strip.sub("", one) for one in before] == [strip.sub("", one) for one in after], "a GET changed something")
        site.stop()
    finally:
        site.kill()


# --- pages ----------------------------------------------------------------------------------------

def frames(up, path):
    """Who may show the page inside theirs."""
    _, headers, _ = up.raw("GET", path)
    found = re.search(r"frame-ancestors ([^;]*)", headers["Content-Security-Policy"])
    return found[1] if found else "anybody"


def test_site_embed(program, places, folder):
    """Only the game, and only in our own pages and in those of sites that the operator names."""
    web = make_web(folder)
    up = Publisher(program, places, folder, "--web", web)
    try:
        for path in ("/", "/account", "/create", "/api/docs", "/place/place_island"):
            check(frames(up, path) == "'none'", f"{path} without the setting")
        for path in ("/play", "/play/ABCDEF"):
            check(frames(up, path) == "'self'", f"{path} in the studio")
        up.stop()
    finally:
        up.kill()
    up = Publisher(program, places, folder, "--web", web, "--embed-origin", "https://club.example",
                   "--embed-origin", "http://school.example:8080")
    try:
        for path in ("/play", "/play/ABCDEF", "/play?place=place_island"):
            check(frames(up, path) == "'self' https://club.example http://school.example:8080", frames(up, path))
        for path in ("/", "/account", "/create", "/create/x", "/api/docs", "/place/place_island", "/search"):
            check(frames(up, path) == "'none'", f"{path} may be shown in other pages")
        up.stop()
    finally:
        up.kill()


def test_site_embed_refused(program, _places, _folder):
    """A value that would say something else in the policy is no site."""
    for value in ("https://a.example/path", "a.example", "https://a.example;script-src *", "'self'", "https://a.example'"):
        done = subprocess.run([program, "up", "--embed-origin", value, "--print-config"], capture_output=True,
                              text=True, timeout=60, check=False)
        check(done.returncode != 0 and "embed_origins" in done.stderr, f"{value}: {done}")


def test_site_without_javascript(program, places, folder):
    """A place says what it is, who made it and what is new, and strangers' texts stay texts."""
    web = make_web(folder, "<!doctype html><html><head><title>Sandlot</title></head><body><main>"
                           "<!-- about: here --></main></body></html>")
    up = Publisher(program, places, folder, "--web", web)
    try:
        up.begin("ann")
        place = up.publish("ann", package("Tower"), visibility="listed", channel="live",
                           notes="<b>lifts</b> & more")["place_id"]
        up.good("PATCH", f"/api/places/{place}", {"description": "Go up.\n\n<script>alert(1)</script>"}, "ann")
        text = up.raw("GET", f"/place/{place}")[2].decode()
        for wanted in ("<h1>Tower</h1>", "by ann</p>", "Go up.\n\n&lt;script&gt;alert(1)", "r1",
                       "&lt;b&gt;lifts&lt;/b&gt; &amp; more"):
            check(wanted in text, f"{wanted!r} is not in {text}")
        check("<script" not in text and "<b>" not in text, text)
        # Versions that are or were live, newest first, five of them; others are not told of.
        up.publish("ann", package("Tower"), place, channel="beta", notes="not for you")
        for _ in range(5):
            last = up.publish("ann", package("Tower"), place, channel="live", notes="\"" * 2000)
        check(last["revision_id"] == "r7", last)
        text = up.raw("GET", f"/place/{place}")[2].decode()
        check(re.findall(r"<li>(r\d+) \(20\d\d-\d\d-\d\d\): &quot;", text) == ["r7", "r6", "r5", "r4", "r3"], text)
        check("not for you" not in text and "lifts" not in text, text)
        # The longest texts, each letter of which becomes six.
        up.good("PATCH", f"/api/places/{place}", {"title": "&" * 120, "description": "\"" * 8192}, "ann")
        text = up.raw("GET", f"/place/{place}")[2].decode()
        check(text.count("&quot;") >= 8192 + 5 * 2000 and text.endswith("</html>"), f"{len(text)}")
        up.good("PATCH", f"/api/places/{place}", {"visibility": "private"}, "ann")
        check("&quot;" not in up.raw("GET", f"/place/{place}", who="ann")[2].decode(), "a private one is told")
        # Those that came with the program say what they are.
        check("An island in the sea" in up.raw("GET", "/place/place_island")[2].decode(), "the island")
        up.stop()
    finally:
        up.kill()


def test_site_lost(program, places, folder):
    """An address that nothing has: a page for people, an error as JSON for programs and below the API."""
    up = Publisher(program, places, folder, "--web", make_web(folder))
    try:
        browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        for path in ("/no/such/address", "/Create", "/wp-login.php"):
            status, headers, text = up.raw("GET", path, **browser)
            check(status == 404 and headers["Content-Type"].startswith("text/html"), f"{path}: {status} {headers}")
            check("frame-ancestors 'none'" in headers["Content-Security-Policy"], headers)
            check(b"<html" in text and path.encode() not in text, text)
            check(b"not_found" in up.raw("GET", path)[2], "a program asks")
            check(b"not_found" in up.raw("POST", path, b"{}", **browser)[2], "nothing is looked at")
        for path in ("/api/nothing", "/admin/nothing"):
            check(b'"error"' in up.raw("GET", path, **browser)[2], path)
        up.stop()
    finally:
        up.kill()


def test_site_names(program, places, folder):
    """Operators read names, not numbers; a page learns what a child's account cannot do."""
    site = Site(program, places, folder)
    try:
        site.good("POST", "/admin/mute", {"account": "player", "reason": "loud"}, "operator")
        ban = site.good("GET", "/admin/mute", None, "operator")["bans"][0]
        check((ban["name"], ban["by_name"]) == ("player", "boss"), ban)
        acts = site.good("GET", "/admin/audit?limit=5", None, "operator")["audit"]
        check(acts[0]["name"] == "boss" and acts[0]["action"] == "mute", acts[0])
        site.good("POST", "/api/reports", {"reason": "other", "account": "boss", "text": "x"}, "guest")
        report = site.good("GET", "/admin/reports", None, "operator")["reports"][0]
        check((report["reporter_name"], report["account_name"]) == ("~Gus", "boss"), report)
        check((report["reporter_shown_name"], report["account_shown_name"]) == ("~Gus", "boss"), report)
        # What one may not see is as what is not there, also for who reports it.
        for subject, path in (("place_id", "private"), ("world_id", "private_room_id")):
            def says(who, name):
                _, _, body = site.raw("POST", "/api/reports", json.dumps(
                    {"reason": "other", subject: name}).encode(), who=who)
                return body
            hidden, missing = says("player", site.names[path]), says("player", "none")
            check(hidden == missing and b"not_found" in hidden, f"{hidden} {missing}")
            check(b"report_id" in says("creator", site.names[path]), "its owner may report it")
            check(b"report_id" in says("player", site.names[path.replace("private_room", "room").replace("private", "listed")]),
                  "what everybody sees")
        report = site.good("GET", "/admin/reports", None, "operator")["reports"][0]
        check(report["place_title"] == "Open den", report)
        # Who is banned changes nothing that others read, and makes nothing that could.
        site.good("POST", "/admin/ban", {"account": "player", "reason": "loud"}, "operator")
        for path, body in (("/api/account", {"shown_name": "New"}), ("/api/account/tokens", {"name": "t", "scope": "play"})):
            status, _, text = site.raw("POST", path, json.dumps(body).encode(), who="player")
            check(status == 403 and b'"banned"' in text, f"{path}: {status} {text}")
        check(site.raw("GET", "/api/account/export", who="player")[0] == 200, "what is theirs")
        site.good("DELETE", "/admin/ban?account=player", None, "operator")
        jobs = site.good("GET", "/admin/jobs", None, "operator")["jobs"]
        check({job["about"]["name"] for job in jobs} == {"creator"}, jobs)
        for who, wanted in (("pupil", (True, False)), ("player", (False, True)), ("guest", (False, False))):
            told = site.good("GET", "/api/session", None, who)
            check((told["is_pupil"], told["may_rename"]) == wanted, f"{who}: {told}")
        site.good("PUT", f"/api/classes/{site.names['class_id']}/names", {"public": True}, "teacher")
        check(site.good("GET", "/api/session", None, "pupil")["may_rename"], "the teacher said so")
        site.stop()
    finally:
        site.kill()


def test_site_weight(_program, _places, _folder):
    """What is fetched before one sees what there is to play, where the pages are built."""
    if not os.path.exists(WEB + ".made"):
        return
    with open(os.path.join(WEB, "site.html"), encoding="utf-8") as file:
        page = file.read()
    scripts = re.findall(r'<script[^>]*src="/([^"]+)"', page)
    scripts += re.findall(r'<link rel="modulepreload"[^>]*href="/([^"]+)"', page)
    check(scripts, page)
    total = 0
    for name in sorted(set(scripts)):
        with open(os.path.join(WEB, name), "rb") as file:
            total += len(gzip.compress(file.read(), 9))
    check(total <= ALLOWED_KB * 1000, f"discover has {total} bytes of JavaScript, gzipped, in {scripts}")
    check(total > 5000, f"{total} bytes are not the site")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""The head of a page, which the server writes: what a stranger may know of a place, and nothing that is
not text."""

import html.parser
import io
import os
import re
import sys
import zipfile

import package_corpus
from publish import Publisher, package
from support import World, check, run

PAGE = ("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sandlot</title>"
        "<link rel=\"icon\" href=\"/icon.svg\"></head><body><p>the body</p></body></html>")
CORPUS = [
    "</title><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onload='alert(1)",
    "<!--", "--><svg/onload=alert(1)>", "&lt;b&gt; & &amp; &#x22;", "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}}", "</style><script>alert(1)</script>",
    "<title>again</title>", "a < b > c \" d ' e", "%s%n%d", "\u65e5\u672c\u8a9e \U0001f3dd"]


def make_web(folder, text=PAGE):
    web = os.path.join(folder, "web")
    os.makedirs(web, exist_ok=True)
    for name in ("index.html", "site.html", "studio.html"):
        with open(os.path.join(web, name), "w", encoding="utf-8") as file:
            file.write(text)
    return web


class Head(html.parser.HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.meta, self.title, self.nonce, self.inside = [], {}, "", None, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append((tag, tuple(sorted(values))))
        self.inside = tag
        if tag == "meta" and "content" in values and "charset" not in values:
            name = values.get("name") or values.get("property")
            check(name not in self.meta, f"{name} twice")
            self.meta[name] = values["content"]
        if tag == "style":
            self.nonce = values["nonce"]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "title":
            self.title += data


def read_head(server, path):
    status, headers, body = server.request("GET", path)
    check(status == 200 and headers["Content-Type"].startswith("text/html"), f"{path}: {headers}")
    policy = headers["Content-Security-Policy"]
    check("unsafe-inline" not in policy and "script-src 'self' 'wasm-unsafe-eval';" in policy, policy)
    head = Head(body.decode())
    check(re.fullmatch("[0-9a-f]{32}", head.nonce or ""), f"{path}: {head.nonce}")
    check(f"style-src 'self' 'nonce-{head.nonce}';" in policy, f"{head.nonce}: {policy}")
    check(headers["Cache-Control"] == "no-store", headers)  # a nonce is used once
    for tag, names in head.tags:
        check(tag in ("html", "head", "meta", "title", "style", "link", "body", "p") and
              not any(name.startswith("on") for name in names), f"{path}: {tag} {names}")
    check(b"<p>the body</p></body></html>" in body, body)
    return head


def test_head_of_places(program, places, folder):
    up = Publisher(program, places, os.path.join(folder, "data"), "--web", make_web(folder))
    try:
        up.begin("ann")
        place = up.publish("ann", package("Obby Run"), visibility="listed", channel="live")["place_id"]
        path, site = f"/place/{place}", f"http://127.0.0.1:{up.port}"
        up.good("PATCH", f"/api/places/{place}",
                {"description": "# Jump!\n\n> **Twelve** steps\n- _up_ - fast, 3 > 2."}, "ann")
        head = read_head(up, path)
        check(head.title == "Obby Run · Sandlot" and head.meta["og:title"] == "Obby Run", head.title)
        check(head.meta["description"] == head.meta["og:description"] == "Jump! Twelve steps up - fast, 3 > 2.",
              head.meta)
        check(head.meta["og:url"] == site + path, head.meta)
        check(head.meta["og:image"] == f"{site}/api/places/{place}/pictures/0", "one is drawn for it")
        check(head.nonce != read_head(up, path).nonce, "the same nonce twice")
        check(up.raw("HEAD", path)[2] == b"", "HEAD has a body")
        # Strangers' texts stay texts, and are all of it.
        for text in CORPUS:
            up.good("PATCH", f"/api/places/{place}", {"title": text, "description": text}, "ann")
            head = read_head(up, path)
            check(head.title == f"{text} · Sandlot" and head.meta["og:title"] == text,
                  f"{text!r}: {head.title!r}")
        up.good("PATCH", f"/api/places/{place}", {"title": "&" * 128, "description": "\"é" * 2000}, "ann")
        check(len(read_head(up, path).meta["description"].encode()) <= 240, "a long description")

        # A world's page is about its place.
        made = up.good("POST", "/api/worlds", {"place_id": place}, "ann")
        up.good("PATCH", f"/api/places/{place}", {"title": "Den", "description": ""}, "ann")
        check(read_head(up, f"/play/{made['room_code']}").title == "Den · Sandlot", "of a world")
        for visibility, by_place, by_world in (("unlisted", "Den · Sandlot", "Sandlot"),
                                               ("private", "Sandlot", "Sandlot")):
            up.good("PATCH", f"/api/places/{place}", {"visibility": visibility}, "ann")
            check(read_head(up, path).title == by_place, visibility)
            check(read_head(up, f"/play?place={place}").title == by_place, f"to play: {visibility}")
            check(read_head(up, f"/play/{made['room_code']}").title == by_world, visibility)
            status, _, body = up.raw("GET", path, who="ann")
            check(status == 200 and (b"Den" in body) == (visibility == "unlisted"),
                  "the head depends on who asks")
        for strange in ("/place/nowhere", "/play?place=nowhere", "/play?place=" + "x" * 200, "/play/NOROOM", "/place/" + "x" * 200, "/place/%3Cscript%3E",
                        "/play/%00", "/"):
            head = read_head(up, strange)
            check(head.title == "Sandlot" and "<" not in str(head.meta), f"{strange}: {head.meta}")
        check(up.raw("GET", "/place/a/b")[0] == 404 and up.raw("POST", path)[0] in (404, 405), "others")
        up.stop()
    finally:
        up.kill()


def test_head_picture(program, places, folder):
    """The thumbnail, at the address that players reach the server by."""
    up = Publisher(program, places, os.path.join(folder, "data"), "--web", make_web(folder),
                   "--public-url", "https://play.example/")
    try:
        up.begin("ann")
        data = io.BytesIO(package("Pretty"))
        with zipfile.ZipFile(data, "a") as archive:
            archive.writestr("assets/thumbnail.png", package_corpus.png())
        place = up.publish("ann", data.getvalue(), visibility="listed", channel="live")["place_id"]
        address = read_head(up, f"/place/{place}").meta["og:image"]
        check(address == f"https://play.example/api/places/{place}/pictures/0", address)
        status, headers, _ = up.raw("GET", address.removeprefix("https://play.example"))
        check(status == 200 and headers["Content-Type"] == "image/png", headers)
        up.stop()
    finally:
        up.kill()


def test_head_of_one_world(program, places, folder):
    """Without accounts every page is about the only place; a page without a title is sent as it is."""
    web = make_web(folder)
    world = World(program, os.path.join(places, "island"), os.path.join(folder, "data"), "--web", web)
    try:
        for path in ("/", "/play/ABC", "/place/x"):
            check(read_head(world, path).title.endswith(" · Sandlot"), path)
        make_web(folder, "<p>a page</p>")
        check(world.request("GET", "/")[2] == b"<p>a page</p>", "a page without a title")
        os.remove(os.path.join(web, "index.html"))
        check(world.request("GET", "/")[0] == 404, "no page")
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

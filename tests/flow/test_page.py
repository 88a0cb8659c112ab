"""The page's files as a browser gets them: every encoding gives the same file, the headers are right,
and no request, however strange, gets an encoding that its sender cannot read."""

import gzip
import os
import random
import socket
import subprocess
import sys

from support import World, check, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NODE = os.path.join(ROOT, "tools", "node")
ISLAND = "island"


def brotli(data):
    """What brotli makes of it again, by Node."""
    program = ("const bytes = require('fs').readFileSync(0);"
               "process.stdout.write(require('zlib').brotliDecompressSync(bytes))")
    return subprocess.run([NODE, "-e", program], input=data, capture_output=True, check=True).stdout


READERS = {"br": brotli, "gzip": gzip.decompress, None: bytes}
ENDINGS = {"br": ".br", "gzip": ".gz", None: ""}


def compress(web):
    subprocess.run([NODE, os.path.join(ROOT, "web", "compress.mjs"), web], check=True)


def make_page(folder):
    """A folder with files of every kind; those that nothing makes smaller too."""
    web = os.path.join(folder, "web")
    noise = random.Random(7).randbytes(5000)
    files = {"index.html": b"<!doctype html><p>a page</p>" * 40, "empty.txt": b"", "tiny.txt": b"x",
             "assets/code-1a2b.js": b"function f(x) { return x + 1; }\n" * 4000,
             "assets/core-9z8y.wasm": b"\0asm\1\0\0\0" + bytes(range(256)) * 3000,
             "assets/noise-3c.png": noise, "assets/deep/more-4d.css": b"p { color: red; }\n" * 99}
    for name, data in files.items():
        path = os.path.join(web, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    compress(web)
    return web


def names_in(web):
    return sorted(os.path.relpath(os.path.join(path, name), web)
                  for path, _, names in os.walk(web) for name in names)


def read(web, name):
    with open(os.path.join(web, name), "rb") as file:
        return file.read()


def check_file(world, web, name, accepts, plain):
    """One file for one client; the encoding that it came in."""
    headers = {"Accept-Encoding": accepts}
    status, got, body = world.request("GET", "/" + name, headers=headers)
    coding = got.get("Content-Encoding")
    what = f"{name} for {accepts!r}: {status} {got}"
    check(status == 200 and coding in READERS, what)
    check(READERS[coding](body) == plain, what)
    check(body == read(web, name + ENDINGS[coding]), what)
    check(got["Content-Length"] == str(len(body)) and got["Vary"] == "Accept-Encoding", what)
    check(("immutable" in got["Cache-Control"]) == name.startswith("assets/"), what)
    check(got["Cache-Control"] == "no-cache" or name.startswith("assets/"), what)
    check(not name.endswith(".wasm") or got["Content-Type"] == "application/wasm", what)
    check(got["X-Content-Type-Options"] == "nosniff", what)
    tag = got["ETag"]
    status, head, body = world.request("HEAD", "/" + name, headers=headers)
    check(status == 200 and body == b"", what)
    for member in ("Content-Length", "Content-Encoding", "Content-Type", "ETag", "Vary"):
        check(head.get(member) == got.get(member), f"{what}; HEAD: {head}")
    status, got, body = world.request("GET", "/" + name, headers={**headers, "If-None-Match": tag})
    check(status == 304 and body == b"" and got["ETag"] == tag and got["Vary"], f"{what}; {got}")
    return coding, tag


def check_page(world, web):
    """Every file with every encoding; bytes of all of them, by encoding."""
    names = names_in(web)
    total = {}
    for name in names:
        form = next((name[:-3] for end in (".br", ".gz") if name.endswith(end)), None)
        if form in names:
            status, _, _ = world.request("GET", "/" + name, headers={"Accept-Encoding": "br, gzip"})
            check(status == 404, f"{name} is a file of its own")
            continue
        plain = read(web, name)
        tags = set()
        for accepts, best in (("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"),
                              ("identity", None)):
            want = best if best and name + ENDINGS[best] in names else None
            coding, tag = check_file(world, web, name, accepts, plain)
            check(coding == want, f"{name} for {accepts}: {coding} instead of {want}")
            tags.add((coding, tag))
            total[best] = total.get(best, 0) + len(read(web, name + ENDINGS[coding]))
        check(len({tag for _, tag in tags}) == len(tags), f"{name}: {tags}")
        status, got, body = world.request("GET", "/" + name, headers={"Accept-Encoding": "br, gzip",
                                                                      "Range": "bytes=3-9"})
        check(len(plain) < 4 or (status == 206 and body == plain[3:10] and
                                 "Content-Encoding" not in got), f"{name}: {status} {got}")
    return total


def test_page_encodings(program, places, folder):
    web = make_page(folder)
    before = names_in(web)
    for name in ("empty.txt", "tiny.txt", "assets/noise-3c.png"):
        check(name + ".br" not in before and name + ".gz" not in before, f"{name}: {before}")
    check("index.html.br" in before and "assets/core-9z8y.wasm.gz" in before, f"{before}")
    compress(web)  # again: nothing of nothing
    check(names_in(web) == before, f"{names_in(web)}")
    world = World(program, os.path.join(places, ISLAND), os.path.join(folder, "data"), "--web", web)
    try:
        check_page(world, web)
        # Changed by hand while it is served: what was made of it before is no longer it.
        with open(os.path.join(web, "index.html"), "wb") as file:
            file.write(b"another page" * 100)
        coding, _ = check_file(world, web, "index.html", "br, gzip", b"another page" * 100)
        check(coding is None, f"{coding}")
        compress(web)
        coding, _ = check_file(world, web, "index.html", "br, gzip", b"another page" * 100)
        check(coding == "br", f"{coding}")
        world.stop()
    finally:
        world.kill()


def test_page_built(program, places, folder):
    """The real one, where it is built; tools/web says so when all of it is."""
    web = os.path.join(ROOT, "build", "web")
    if not os.path.exists(web + ".made"):
        return
    world = World(program, os.path.join(places, ISLAND), os.path.join(folder, "data"), "--web", web)
    try:
        total = check_page(world, web)
        check(total["br"] < total["gzip"] < total[None] / 2, f"{total}")
        world.stop()
    finally:
        world.kill()


def ask(world, lines):
    """A request as bytes; its status, headers and body. None: it was cut off."""
    with socket.create_connection(("127.0.0.1", world.port), timeout=10) as link:
        try:
            link.sendall(b"\r\n".join([b"GET /index.html HTTP/1.1", b"Host: localhost", *lines,
                                       b"Connection: close", b"", b""]))
            answer = b""
            while more := link.recv(65536):
                answer += more
        except ConnectionError:
            return None
    head, _, body = answer.partition(b"\r\n\r\n")
    headers = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    return int(answer.split(b" ", 2)[1]), headers, body


def test_page_odd_headers(program, places, folder):
    """Whatever a stranger says: the plain file, a form that was named, or a refusal."""
    web = make_page(folder)
    files = {None: read(web, "index.html"), b"br": read(web, "index.html.br"),
             b"gzip": read(web, "index.html.gz")}
    name = b"Accept-Encoding: "
    rng = random.Random(11)
    names = [b"br", b"gzip", b"identity", b"*", b"GZIP", b"zstd", b"x-gzip"]
    weights = [b"", b"", b";q=0", b";q=1", b" ; q=0.5", b";Q=0.001"]
    noise = [b";q=7", b";", b"\"", b"\xff", b"\x7f", b" x", b"=", b"br" * 50, b";q=0;q=1"]

    def item():
        bad = rng.choice(noise) if rng.random() < 0.06 else b""
        return rng.choice(names) + rng.choice(weights) + bad

    odd = [[name + b"gzip" * 6000], [name + b"br," * 9000], [name + b"br" + b" " * 20000],
           [name + b"x" * 30000 + b", br"], [name + b"x" * 40000], [b"Accept-Encoding:"],
           [name + b"br"] * 500, [b"accept-ENCODING: br;q=0", name + b"gzip;q=0"],
           [name + b"br\x00gzip"], [name + b"br", b" gzip"], [name[:-1] + b"br"],
           [name + b"br", b"If-None-Match: " + b"\"" * 9999]]
    odd += [[name + b" ,".join(item() for _ in range(rng.randrange(5)))
             for _ in range(rng.randrange(1, 4))] for _ in range(300)]
    world = World(program, os.path.join(places, ISLAND), os.path.join(folder, "data"), "--web", web)
    try:
        seen = set()
        for lines in odd:
            answer = ask(world, lines)
            if answer is None or answer[0] != 200:
                check(answer is None or answer[0] in (400, 406, 431), f"{lines}: {answer}")
                continue
            coding = answer[1].get(b"Content-Encoding")
            text = b" ".join(lines).lower()
            seen.add(coding)
            check(answer[2] == files[coding], f"{lines}: {answer}")
            check(coding is None or coding in text or b"*" in text, f"{lines}: {answer}")
        check(seen == set(files), f"{seen}")
        check(ask(world, [name + b"br"])[2] == files[b"br"], "it still does as it is told")
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

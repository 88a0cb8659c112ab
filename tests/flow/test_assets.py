"""Assets of a place: a build checks each once and names it by its hash; a world serves exactly those
bytes, even if the files change later."""

import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

import package_corpus as make
from support import World, check, run

SCENE = '{"format": 1, "entities": [{"id": 1, "name": "Start", "type": "spawn"}]}'
# For so long a file must be left alone before its stamp is trusted.
SETTLED = 3.2

GOOD = {
    "assets/cover.png": make.gradient_png(512, 300),
    "assets/sky/dusk.jpg": make.jpeg(16, 8),
    "assets/sound/bell.ogg": make.ogg(),
    "assets/sound/step.wav": make.wav(),
    "assets/tree.glb": make.glb(),
    "assets/models/rock.gltf": make.gltf(uri="../buffers/rock%201.bin"),
    "assets/buffers/rock 1.bin": make.TRIANGLE,
    "assets/CREDITS": b"made by hand\n",
}


def write(place, path, data):
    full = os.path.join(place, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def make_place(folder, files, name="place"):
    place = os.path.join(folder, name)
    write(place, "place.json", make.PLACE)
    write(place, "scene.json", SCENE)
    for path, data in files.items():
        write(place, path, data)
    return place


def build(program, place, *options, code=0):
    done = subprocess.run([program, "build", place, "--allow-weak-jail", "--json", *options],
                          capture_output=True, text=True, timeout=100)
    check(done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def read_list(place):
    with open(os.path.join(place, ".sandlot/client/assets.json"), "rb") as file:
        return file.read()


def settle():
    """Until all files are old enough; the time of change cannot be set."""
    time.sleep(SETTLED)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def png_size(data):
    check(data[:8] == b"\x89PNG\r\n\x1a\n", "a PNG")
    return struct.unpack(">II", data[16:24])


# --- building -------------------------------------------------------------------------------------

def test_assets_are_listed(program, places, folder):
    place = make_place(folder, GOOD)
    first = build(program, place)
    check(first["assets"]["count"] == 7 and first["assets"]["checked"] == 7, first["assets"])
    text = read_list(place)
    listed = json.loads(text)
    check(json.dumps(listed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
          == text, "sorted, and on one line")
    rows = {row["path"]: row for row in listed["assets"]}
    check(list(rows) == sorted(path for path in GOOD if not path.endswith("CREDITS")), list(rows))
    for path, row in rows.items():
        check(row["hash"] == "sha256:" + sha(GOOD[path]), row)
        check(row["size_bytes"] == len(GOOD[path]), row)
    check((rows["assets/cover.png"]["width"], rows["assets/cover.png"]["height"]) == (512, 300), "px")
    check((rows["assets/sky/dusk.jpg"]["kind"], rows["assets/sky/dusk.jpg"]["width"]) == ("jpeg", 16),
          "jpeg")
    check(rows["assets/sound/bell.ogg"]["seconds"] == 1, rows["assets/sound/bell.ogg"])
    check(rows["assets/sound/step.wav"]["seconds"] == 0.009, rows["assets/sound/step.wav"])
    check(rows["assets/tree.glb"]["triangles"] == 1 and
          rows["assets/models/rock.gltf"]["triangles"] == 1, "triangles")
    check(rows["assets/buffers/rock 1.bin"]["kind"] == "bin", "bin")
    check(re.fullmatch("sha256:[0-9a-f]{64}", listed["thumbnail"]), listed["thumbnail"])
    # The same folder elsewhere, the same bytes; and by the same rules as a package.
    other = os.path.join(folder, "other")
    shutil.copytree(place, other, ignore=shutil.ignore_patterns(".sandlot"))
    build(program, other)
    check(read_list(other) == text, "the same folder gives the same bytes")
    game = os.path.join(folder, "p.game")
    run_pack = subprocess.run([program, "pack", place, "-o", game, "--allow-weak-jail"],
                              capture_output=True, text=True, timeout=100)
    check(run_pack.returncode == 0, run_pack.stderr)
    # A place without any has a list as well.
    empty = make_place(folder, {}, "empty")
    build(program, empty)
    check(json.loads(read_list(empty)) == {"assets": [], "thumbnail": None}, read_list(empty))


def test_assets_unchanged_are_not_read(program, places, folder):
    place = make_place(folder, GOOD)
    build(program, place)
    again = build(program, place)
    check(again["assets"]["checked"] == 0 and again["unchanged"], "known by their bytes")
    settle()
    build(program, place)  # whose stamps count
    path = os.path.join(place, ".sandlot/client/assets.json")
    aside = os.path.join(place, ".sandlot/cache/aside")
    before = os.stat(path).st_mtime_ns, os.stat(path).st_ino, os.stat(aside).st_mtime_ns
    third = build(program, place)
    check(third["assets"] == {"count": 7, "read": 0, "checked": 0}, third["assets"])
    check(third["unchanged"], "nothing changed")
    check((os.stat(path).st_mtime_ns, os.stat(path).st_ino, os.stat(aside).st_mtime_ns) == before,
          "neither the list nor the cache was written")
    # One changes, and keeps its size and its time of writing; only that one is looked at.
    wav = os.path.join(place, "assets/sound/step.wav")
    about = os.stat(wav)
    changed = bytearray(GOOD["assets/sound/step.wav"])
    changed[-1] ^= 1
    write(place, "assets/sound/step.wav", bytes(changed))
    os.utime(wav, ns=(about.st_atime_ns, about.st_mtime_ns))
    fourth = build(program, place)
    check(fourth["assets"] == {"count": 7, "read": 1, "checked": 1}, fourth["assets"])
    check(sha(bytes(changed)).encode() in read_list(place), "its new hash is listed")
    # What a model names is part of what it is.
    write(place, "assets/buffers/rock 1.bin", struct.pack("<9f", *range(9)) + make.TRIANGLE[36:])
    check(build(program, place)["assets"]["checked"] == 2, "the buffer and its model")
    # A new name alone changes nothing; and what is cached for another folder is not used for this one.
    os.rename(os.path.join(place, "assets/tree.glb"), os.path.join(place, "assets/oak.glb"))
    moved = build(program, place)
    check(moved["assets"]["checked"] == 0 and b"assets/oak.glb" in read_list(place), moved)
    check(build(program, place, "--force")["assets"]["read"] >= 7, "all of them")


def test_assets_that_are_bad(program, places, folder):
    exif = make.jpeg(before=b"\xff\xe1" + struct.pack(">H", 16) + b"Exif\0\0MM\0*\0\0\0\x08")
    place = make_place(folder, {
        "assets/bad/short.png": GOOD["assets/cover.png"][:-20],
        "assets/bad/huge.png": make.png(70000, 1, pixels=b"\0"),
        "assets/bad/tail.wav": make.wav() + b"x",
        "assets/bad/script.png": b"<script>alert(1)</script>",
        "assets/bad/lonely.bin": b"anything",
        "assets/bad/reach.gltf": make.gltf(uri="../../place.json"),
        "assets/bad/gone.gltf": make.gltf(uri="gone.bin"),
        "assets/bad/painting.psd": b"8BPS",
        "assets/bad/more.png": make_zip(),
        "assets/exif.jpg": exif,
        **GOOD,
    })
    os.symlink("/etc/hostname", os.path.join(place, "assets/bad/link.png"))
    os.symlink("/etc", os.path.join(place, "assets/bad/etc"))
    os.mkfifo(os.path.join(place, "assets/bad/pipe.png"))
    said = build(program, place, code=1)
    errors = {row["file"].removeprefix("assets/bad/"): row["code"]
              for row in said["diagnostics"] if row["level"] == "error"}
    want = {"short.png": "truncated", "huge.png": "dimensions", "tail.wav": "trailing",
            "script.png": "content", "lonely.bin": "content", "reach.gltf": "content",
            "gone.gltf": "content", "painting.psd": "kind", "more.png": "nested",
            "link.png": "link", "etc": "link", "pipe.png": "special"}
    check(errors == want, f"{errors}")
    check(not os.path.exists(os.path.join(place, ".sandlot/client/assets.json")), "nothing written")
    warnings = [row["file"] for row in said["diagnostics"] if row["level"] == "warning"]
    check(warnings == ["assets/exif.jpg"], warnings)
    # A person sees file and rule.
    plain = subprocess.run([program, "build", place, "--allow-weak-jail"], capture_output=True,
                           text=True, timeout=100)
    check("assets/bad/huge.png: error: 70000" in plain.stderr and "[dimensions]" in plain.stderr,
          plain.stderr)
    # Without them it builds; the warning is repeated each time, also from the cache.
    shutil.rmtree(os.path.join(place, "assets/bad"))
    for _ in range(2):
        said = build(program, place)
        check([row["code"] for row in said["diagnostics"]] == ["exif"], said["diagnostics"])
    # A folder of assets that is a link leads nowhere.
    os.rename(os.path.join(place, "assets"), os.path.join(folder, "elsewhere"))
    os.symlink(os.path.join(folder, "elsewhere"), os.path.join(place, "assets"))
    said = build(program, place, code=1)
    check([(row["file"], row["code"]) for row in said["diagnostics"]] == [("assets", "link")], said)


def test_assets_are_verified(program, places, folder):
    """`build --verify`: the list is that of the files, whoever changed which of them."""
    place = make_place(folder, GOOD)
    build(program, place)
    listed = os.path.join(place, ".sandlot/client/assets.json")
    good = read_list(place)

    def verify(*want):
        done = subprocess.run([program, "build", place, "--allow-weak-jail", "--verify"],
                              capture_output=True, text=True, timeout=100)
        check(done.returncode == (1 if want else 0), f"{want}: {done.stdout}{done.stderr}")
        for words in want:
            check(any(all(word in line for word in words) for line in done.stderr.splitlines()),
                  f"{words} in\n{done.stderr}")

    def listed_as(text):
        with open(listed, "wb") as file:
            file.write(text)

    verify()
    # What was changed, removed, added.
    changed = bytearray(GOOD["assets/sound/step.wav"])
    changed[-1] ^= 1
    write(place, "assets/sound/step.wav", bytes(changed))
    os.rename(os.path.join(place, "assets/tree.glb"), os.path.join(place, "assets/oak.glb"))
    write(place, "assets/cover.png", GOOD["assets/cover.png"] + b"x")
    verify(("assets/sound/step.wav", "has changed", "build again"),
           ("assets/cover.png", "has changed", "build again"),
           ("assets/tree.glb", "is not now", "build again"),
           ("assets/oak.glb", "not in the list", "build again"))
    shutil.rmtree(os.path.join(place, "assets"))
    for path, content in GOOD.items():
        write(place, path, content)
    verify()  # the same bytes: only the time differs
    # Damage, and what a stranger could have written.
    first = json.loads(good)["assets"][0]
    for text, said in ((good[:-1], "damaged"), (b"", "damaged"), (good + b"\n", "form"),
                       (b"[" * 100000, "damaged"), (json.dumps(json.loads(good)).encode(), "form"),
                       (good.replace(first["path"].encode(), b"assets/../../key.png"), "no path"),
                       (good.replace(b'"thumbnail":"sha256:', b'"thumbnail":"sha257:'), "hex"),
                       (re.sub(rb'"thumbnail":"[^"]*"', b'"thumbnail":null', good), "no thumbnail"),
                       (good.replace(b'"kind":"wav"', b'"kind":"ogg"'), "form"),
                       (b" " * (5 << 20), "larger")):
        check(text != good, "it is another text")
        listed_as(text)
        verify(("client/assets.json", said, "build again"))
    os.remove(listed)
    verify(("client/assets.json", "missing", "build again"))
    os.symlink(os.path.join(folder, "elsewhere"), listed)
    verify(("client/assets.json", "link"))
    os.remove(listed)
    os.mkfifo(listed)
    verify(("client/assets.json", "cannot be read"))
    os.remove(listed)
    check(build(program, place)["unchanged"] is False and read_list(place) == good, "mended")
    verify()
    # Files that no build would accept are reported as in a build.
    os.symlink("/etc/hostname", os.path.join(place, "assets/link.png"))
    verify(("assets/link.png", "links are not followed"))


def make_zip():
    return make.make_zip([("a.txt", b"x")])


def test_assets_stamps_are_not_believed_from_strangers(program, places, folder):
    """A place that comes with a cache of its own: what it says of a bad file is nothing."""
    place = make_place(folder, {"assets/a.png": make.png()})
    build(program, place)
    settle()
    build(program, place)
    os.remove(os.path.join(place, ".sandlot/data/ticket.key"))  # another host's
    said = build(program, place)
    check(said["assets"] == {"count": 1, "read": 1, "checked": 1}, said["assets"])


# --- serving --------------------------------------------------------------------------------------

def hashes(world):
    status, headers, body = world.request("GET", "/api/assets")
    check(status == 200 and headers["Content-Type"] == "application/json", f"{status} {headers}")
    listed = json.loads(body)
    return {row["path"]: row["hash"].removeprefix("sha256:") for row in listed["assets"]}, listed


def test_assets_are_served_by_hash(program, places, folder):
    place = make_place(folder, GOOD)
    world = World(program, place, None)
    try:
        names, listed = hashes(world)
        check(json.dumps(listed, separators=(",", ":"), sort_keys=True).encode() ==
              read_list(place), "the list that was built")
        types = {".png": "image/png", ".jpg": "image/jpeg", ".ogg": "audio/ogg",
                 ".wav": "audio/wav", ".glb": "model/gltf-binary",
                 ".gltf": "application/octet-stream", ".bin": "application/octet-stream"}
        for path, name in names.items():
            status, headers, body = world.request("GET", "/blob/" + name)
            check(status == 200 and body == GOOD[path], f"{path}: {status}")
            check(headers["Content-Type"] == types[os.path.splitext(path)[1]], f"{path}: {headers}")
            check(headers["X-Content-Type-Options"] == "nosniff" and
                  headers["Content-Security-Policy"] == "sandbox" and
                  headers["Content-Disposition"] == "attachment" and
                  "immutable" in headers["Cache-Control"], f"{path}: {headers}")
        cover, name = GOOD["assets/cover.png"], names["assets/cover.png"]
        for wanted, want in (("bytes=0-0", cover[:1]), ("bytes=1000-41000", cover[1000:41001]),
                             ("bytes=-7", cover[-7:]), ("bytes=90000-", cover[90000:])):
            status, headers, body = world.request("GET", "/blob/" + name, headers={"Range": wanted})
            check(status == 206 and body == want, f"{wanted}: {status}, {len(body)} bytes")
            check(headers["Content-Range"].endswith(f"/{len(cover)}"), f"{headers}")
        status, _, _ = world.request("GET", "/blob/" + name, headers={"Range": "bytes=999999-"})
        check(status == 416, f"outside: {status}")
        status, headers, body = world.request("HEAD", "/blob/" + name)
        check(status == 200 and int(headers["Content-Length"]) == len(cover) and body == b"", "HEAD")
        thumbnail = listed["thumbnail"].removeprefix("sha256:")
        status, headers, body = world.request("GET", "/blob/" + thumbnail)
        check(status == 200 and sha(body) == thumbnail and png_size(body) == (256, 150) and
              headers["Content-Type"] == "image/png", f"thumbnail: {status}")
        with open(os.path.join(place, "assets/CREDITS"), "rb") as file:
            notes = sha(file.read())
        for unknown in ("0" * 64, notes, sha(make.PLACE), name.upper(), name[:-1], name + "0",
                        "assets", "..%2fplace.json", "%2e%2e"):
            status, headers, body = world.request("GET", "/blob/" + unknown)
            check(status == 404 and b"error" in body, f"{unknown}: {status}")
        world.stop()
    finally:
        world.kill()


def test_assets_that_changed_are_not_served(program, places, folder):
    place = make_place(folder, GOOD)
    settle()
    world = World(program, place, None)
    try:
        names, _ = hashes(world)

        def get(path):
            status, _, body = world.request("GET", "/blob/" + names[path])
            check(status != 200 or sha(body) == names[path], f"{path}: other bytes")
            return status

        check(all(get(path) == 200 for path in names), "all of them")
        wav = os.path.join(place, "assets/sound/step.wav")
        about = os.stat(wav)
        changed = bytearray(GOOD["assets/sound/step.wav"])
        changed[-1] ^= 1
        write(place, "assets/sound/step.wav", bytes(changed))  # the same size, the same time
        os.utime(wav, ns=(about.st_atime_ns, about.st_mtime_ns))
        check(get("assets/sound/step.wav") == 404, "changed in place")
        status, _, _ = world.request("GET", "/blob/" + sha(bytes(changed)))
        check(status == 404, "and the new one was not checked")
        write(place, "assets/sound/step.wav", GOOD["assets/sound/step.wav"])
        check(get("assets/sound/step.wav") == 200, "as it was")
        os.utime(os.path.join(place, "assets/cover.png"))
        check(get("assets/cover.png") == 200, "only touched")
        write(place, "assets/cover.png", GOOD["assets/cover.png"] + b"x")
        check(get("assets/cover.png") == 404, "longer")
        os.remove(os.path.join(place, "assets/tree.glb"))
        check(get("assets/tree.glb") == 404, "gone")
        # A link is not followed, although what it leads to has the very bytes.
        kept = os.path.join(folder, "kept.jpg")
        os.rename(os.path.join(place, "assets/sky/dusk.jpg"), kept)
        os.symlink(kept, os.path.join(place, "assets/sky/dusk.jpg"))
        check(get("assets/sky/dusk.jpg") == 404, "a link")
        os.rename(os.path.join(place, "assets/models"), os.path.join(folder, "models"))
        os.symlink(os.path.join(folder, "models"), os.path.join(place, "assets/models"))
        check(get("assets/models/rock.gltf") == 404, "a link on the way")
        os.remove(os.path.join(place, "assets/sound/bell.ogg"))
        os.mkfifo(os.path.join(place, "assets/sound/bell.ogg"))
        check(get("assets/sound/bell.ogg") == 404, "a pipe keeps nobody waiting")
        world.stop()
    finally:
        world.kill()


def resident(world):
    with open(f"/proc/{world.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_assets_large_ones_cost_no_memory(program, places, folder):
    """Sixty at once, of a sound of 32 MiB; one that is changed while it is sent is cut."""
    sound = make.wav(rate=48000, channels=2, frames=8 << 20)
    place = make_place(folder, {"assets/long.wav": sound})
    settle()
    world = World(program, place, None)
    links = []
    try:
        names, _ = hashes(world)
        name = names["assets/long.wav"]
        check(sha(world.request("GET", "/blob/" + name)[2]) == name, "the whole of it")
        before = resident(world)
        for _ in range(60):
            link = http.client.HTTPConnection("127.0.0.1", world.port, timeout=10)
            link.request("GET", "/blob/" + name)
            answer = link.getresponse()
            check(answer.status == 200 and len(answer.read(100000)) == 100000, "it begins")
            links.append((link, answer))
        grown = resident(world) - before
        check(grown < 24 << 20, f"60 of them take {grown >> 20} MiB")
        with open(os.path.join(place, "assets/long.wav"), "r+b") as file:
            file.seek(len(sound) - 1000)
            file.write(b"changed")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            rest = list(pool.map(lambda link: is_whole(link[1], len(sound) - 100000), links))
        check(not any(rest), f"{sum(rest)} were sent to their ends")
        check(world.request("GET", "/blob/" + name)[0] == 404, "and no more")
        world.stop()
    finally:
        for link, _ in links:
            link.close()
        world.kill()


def is_whole(answer, left):
    try:
        return len(answer.read()) == left
    except (http.client.IncompleteRead, OSError):
        return False


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

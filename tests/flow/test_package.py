"""Valid and hostile packages, with the real program and the real jail."""

import hashlib
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import zipfile
import zlib

import package_corpus as corpus
from support import check, run


def sandlot(program, *arguments, cwd=None, env=None):
    return subprocess.run([os.path.abspath(program), *arguments], capture_output=True, text=True,
                          cwd=cwd, env=env, timeout=100)


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def good_place(folder, name="place"):
    for path, data in corpus.GOOD:
        write(os.path.join(folder, name), path, data)
    return os.path.join(folder, name)


def tree(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def judge(program, paths):
    """One worker for all; (pid, status, reason) of each."""
    helper = os.path.join(os.path.dirname(program), "package_judge")
    done = subprocess.run([helper, *paths], capture_output=True, text=True, timeout=110)
    check(done.returncode == 0, f"package_judge ended with {done.returncode}: {done.stderr}")
    lines = [line.split("\t", 2) for line in done.stdout.splitlines()]
    check(len(lines) == len(paths), f"{len(lines)} answers for {len(paths)} packages")
    return lines


def test_package_hostile_corpus(program, places, folder):
    """Each is refused by its rule; the worker is the same from the first to the last, and answers
    a good package between any two bad ones."""
    good = write(folder, "good.game", corpus.zip_by_python(corpus.GOOD))
    cases = [(write(folder, f"h/{name}", data), rule) for name, data, rule in corpus.hostile()]
    check(len(cases) >= 60, f"only {len(cases)} packages")
    answers = judge(program, [path for case in cases for path in (case[0], good)])
    wrong = []
    for (path, rule), bad, fine in zip(cases, answers[0::2], answers[1::2]):
        if bad[1] != "MALFORMED" or f": {rule}: " not in bad[2]:
            wrong.append(f"{os.path.basename(path)}: {rule} expected, but {bad[1:]}")
        if fine[1] != "OK":
            wrong.append(f"after {os.path.basename(path)}: {fine[1:]}")
        if any(ord(c) < 32 for c in bad[2]):
            wrong.append(f"{os.path.basename(path)}: speaks to the terminal: {bad[2]!r}")
    check(len({answer[0] for answer in answers}) == 1, "a worker died")
    check(not wrong, "\n".join(wrong))


def test_package_hostile_unpack(program, places, folder):
    """The program itself: exit code 1, entry and rule named, and not a file more than before."""
    cases = list(corpus.hostile())[::4]
    for name, data, rule in cases:
        path = write(folder, f"in/{name}", data)
        out = os.path.join(folder, "out")
        os.makedirs(out, exist_ok=True)
        done = sandlot(program, "unpack", path, os.path.join(out, "place"), "--allow-weak-jail")
        check(done.returncode == 1, f"{name}: exit code {done.returncode}: {done.stderr}")
        check(f": {rule}: " in done.stderr, f"{name}: {done.stderr}")
        check(os.listdir(out) == [], f"{name}: wrote {os.listdir(out)}")


def test_package_friendly(program, places, folder):
    """As tools write them; every one gives the same files."""
    cases = [(write(folder, name, data), warnings) for name, data, warnings in corpus.friendly()]
    if shutil.which("zip"):
        place = good_place(folder)
        subprocess.run(["zip", "-q", "-r", "../info.zip", "."], cwd=place, check=True)
        cases.append((os.path.join(folder, "info.zip"), []))
    for (path, warnings), (_, status, text) in zip(cases, judge(program, [c[0] for c in cases])):
        check(status == "OK", f"{os.path.basename(path)}: {text}")
        check(set(warnings) == set(text.split()[2:]), f"{os.path.basename(path)}: {text}")
    want = {name: data for name, data in corpus.GOOD}
    for name in ("streamed.zip", "folder.zip", "junk.zip", "pax.tar", "plain.tar.gz", "plain.tar.zst"):
        out = os.path.join(folder, "out-" + name)
        done = sandlot(program, "unpack", os.path.join(folder, name), out, "--allow-weak-jail")
        check(done.returncode == 0, f"{name}: {done.stderr}")
        check(tree(out) == want, f"{name}: other files: {sorted(tree(out))}")


def test_package_same_bytes(program, places, folder):
    """Two folders, made in another order, at another time, by another locale, clock and umask; and
    pack → unpack → pack."""
    first, second = good_place(folder, "one"), os.path.join(folder, "two")
    for path, data in reversed(corpus.GOOD):
        os.utime(write(second, path, data), (1, 1))
        os.chmod(os.path.join(second, path), 0o700)
    write(second, ".sandlot/server/soul/x.rune", b"\x1bLua")
    write(second, ".vscode/settings.json", b"{}")
    env = dict(os.environ, LC_ALL="tr_TR.UTF-8", TZ="Asia/Kolkata", LANG="de_DE", HOME="/nowhere")
    a = sandlot(program, "pack", first, "-o", folder + "/a.game", "--json", "--allow-weak-jail")
    b = sandlot(program, "pack", second, "-o", folder + "/b.game", "--allow-weak-jail", env=env)
    check(a.returncode == 0 and b.returncode == 0, a.stderr + b.stderr)
    with open(folder + "/a.game", "rb") as file:
        bytes_a = file.read()
    with open(folder + "/b.game", "rb") as file:
        check(file.read() == bytes_a, "two folders, two packages")
    said = json.loads(a.stdout)
    check(said["sha256"] == hashlib.sha256(bytes_a).hexdigest(), said)
    check(said["files"] == len(corpus.GOOD), said)
    done = sandlot(program, "unpack", folder + "/a.game", folder + "/three", "--allow-weak-jail")
    check(done.returncode == 0, done.stderr)
    check(tree(folder + "/three") == dict(corpus.GOOD), "unpacked is not what was packed")
    done = sandlot(program, "pack", "three", "--allow-weak-jail", cwd=folder)
    check(done.returncode == 0, done.stderr)
    with open(folder + "/Test Place.game", "rb") as file:
        check(file.read() == bytes_a, "pack, unpack, pack gives other bytes")
    with zipfile.ZipFile(folder + "/a.game") as archive:
        check(archive.testzip() is None, "Python finds it damaged")
        check(sorted(archive.namelist()) == sorted(dict(corpus.GOOD)), archive.namelist())


def test_package_pack_refuses(program, places, folder):
    """What no reader would take is not packed; the message names file and rule."""
    cases = [("notes.exe", b"MZ", "kind"), ("assets/A.PNG", b"x", "kind"),
             ("assets/b.png", b"x", "content"), ("Workspace/x.rune", b"x", "kind"),
             ("a\nb.txt", b"x", "control"), ("README.MD", b"x", "kind"),
             ("readme.md", b"x", "case"), ("con.txt", b"x", "name"),
             ("assets/c.png", corpus.png(5000, 1), "dimensions")]
    for name, data, rule in cases:
        place = good_place(folder, "p" + str(len(os.listdir(folder))))
        write(place, name, data)
        out = os.path.join(folder, "out.game")
        done = sandlot(program, "pack", place, "-o", out, "--allow-weak-jail")
        # As editors follow it; a name that cannot be printed has no line to follow.
        pattern = (rf"sandlot pack: .*: a\\x0ab\.txt: {rule}: " if "\n" in name else
                   rf"{re.escape(place)}/{name}: error: .* \[{rule}\]\n.*: not packed: 1 error\n")
        check(done.returncode == 1 and re.match(pattern, done.stderr), f"{name}: {done.stderr}")
        check(not os.path.exists(out), f"{name}: something was written")
    place = good_place(folder, "linked")
    os.symlink("/etc/hostname", os.path.join(place, "a.txt"))
    done = sandlot(program, "pack", place, "-o", folder + "/out.game", "--allow-weak-jail")
    check(done.returncode == 1 and f"{place}/a.txt: error: is a link" in done.stderr, done.stderr)
    os.remove(os.path.join(place, "a.txt"))
    os.remove(os.path.join(place, "scene.json"))
    done = sandlot(program, "pack", place, "-o", folder + "/out.game", "--allow-weak-jail")
    check(done.returncode == 1 and "scene.json: missing: " in done.stderr, done.stderr)
    done = sandlot(program, "pack", folder + "/nowhere", "--allow-weak-jail")
    check(done.returncode == 1 and "nowhere" in done.stderr, done.stderr)
    # Silence packs so well that a reader would take it for a bomb: it is stored instead.
    place = good_place(folder, "quiet")
    write(place, "assets/quiet.wav", corpus.wav(frames=2 << 20))
    done = sandlot(program, "pack", place, "-o", folder + "/quiet.game", "--allow-weak-jail")
    check(done.returncode == 0, done.stderr)


def test_package_inspect(program, places, folder):
    place = good_place(folder)
    done = sandlot(program, "inspect", place, "--json", "--thumbnail", folder + "/t.png", "--allow-weak-jail")
    check(done.returncode == 0, done.stderr)
    said = json.loads(done.stdout)
    files = {file["path"]: file for file in said["files"]}
    check(set(files) == set(dict(corpus.GOOD)), sorted(files))
    for path, data in corpus.GOOD:
        check(files[path]["sha256"] == hashlib.sha256(data).hexdigest(), path)
        check(files[path]["bytes"] == len(data), path)
    check(files["ServerScriptService/Secret.lua"]["context"] == "Server", files)
    check(files["ServerScriptService/Secret.lua"]["sentToPlayers"] is False, files)
    check(files["StarterGui/Hud.ts"]["sentToPlayers"] is True, files)
    check((files["assets/Tür.png"]["width"], files["assets/Tür.png"]["height"]) == (40, 20), files)
    check(files["assets/tree.glb"]["triangles"] == 1, files)
    check(files["assets/song.ogg"]["durationMs"] == 1000, files)
    check(said["name"] == "Test Place" and said["format"] == "folder", said)
    with open(folder + "/t.png", "rb") as file:
        png = file.read()
    check(struct.unpack(">II", png[16:24]) == (40, 20), "a small picture stays as it is")
    write(place, "assets/thumbnail.png", corpus.gradient_png(600, 300))
    done = sandlot(program, "inspect", place, "--thumbnail", folder + "/t.png", "--allow-weak-jail")
    check(done.returncode == 0 and "sent to players" in done.stdout, done.stdout + done.stderr)
    with open(folder + "/t.png", "rb") as file:
        png = file.read()
    check(struct.unpack(">II", png[16:24]) == (256, 128), "a large one becomes 256 wide")
    rows = zlib.decompress(png[41:-16])
    first, last = rows[1:5], rows[:1025]
    check(first[0] < 3 and first[2] == 90 and first[3] == 255 and len(last) == 1025, "not that picture")
    done = sandlot(program, "inspect", folder + "/t.png", "--allow-weak-jail")
    check(done.returncode == 1 and "(package): format: " in done.stderr, done.stderr)


def test_package_inspect_counts_mistakes(program, places, folder):
    """Errors are no warnings, and what two readers stumble over is one mistake."""
    place = good_place(folder)

    def inspect(text, errors, warnings):
        write(place, "place.json", text)
        done = sandlot(program, "inspect", place, "--allow-weak-jail")
        check(done.returncode == 0, done.stderr)
        counted = (f"{errors} error{'' if errors == 1 else 's'}, "
                   f"{warnings} warning{'' if warnings == 1 else 's'}\n")
        check(counted in done.stdout, done.stdout)
        check(done.stdout.count(": error: ") == errors, done.stdout)
        check(done.stdout.count(": warning: ") == warnings, done.stdout)
        said = json.loads(sandlot(program, "inspect", place, "--json", "--allow-weak-jail").stdout)
        check((said["ok"], said["errors"], said["warnings"]) == (True, errors, warnings), said)
        levels = [row["level"] for row in said["diagnostics"]]
        check((levels.count("error"), levels.count("warning")) == (errors, warnings), said)
        return said["diagnostics"]

    good = dict(corpus.GOOD)["place.json"]
    check(inspect(good, 0, 0) == [], "nothing is wrong")
    wrong = json.dumps(json.loads(good) | {"contexts": {"Workspace/Nobody": "Server"}}).encode()
    row, = inspect(wrong, 1, 0)
    check((row["file"], row["line"], row["code"]) == ("place.json", 1, "place") and row["column"] > 1, row)
    row, = inspect(b'{\n  "name": x\n}\n', 1, 0)
    check((row["file"], row["line"], row["code"]) == ("place.json", 2, "place"), row)
    row, = inspect(b'{"name": 1}\n', 0, 1)
    check((row["file"], row["code"]) == ("place.json", "json"), row)


def test_package_rules_documented(program, places, folder):
    """Every rule of the header has its row in SECURITY.md and its hostile package, and no other."""
    root = os.path.dirname(os.path.abspath(places))
    with open(root + "/server/build/package/package_rules.h", encoding="utf-8") as file:
        rules = set(re.findall(r'X\([A-Z0-9]+, "([a-z0-9]+)"\)', file.read()))
    with open(root + "/docs/SECURITY.md", encoding="utf-8") as file:
        text = file.read().split("## Packages")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([a-z0-9]+)`", row)}
    check(rules == documented, f"only in one of them: {rules ^ documented}")
    tried = {rule for _, _, rule in corpus.hostile()}
    check(tried == rules - {"memory"}, f"only in one of them: {tried ^ rules}")


def test_package_usage(program, places, folder):
    for arguments in (["pack"], ["unpack"], ["inspect"], ["pack", "a", "b"], ["pack", "--what"],
                      ["unpack", "a", "b", "c"], ["pack", "a", "-o"], ["unpack", "a", "--json"]):
        done = sandlot(program, *arguments)
        check(done.returncode == 2 and "--help" in done.stderr, f"{arguments}: {done}")
    for command in ("pack", "unpack", "inspect"):
        done = sandlot(program, command, "--help")
        check(done.returncode == 0 and done.stdout.startswith("usage: sandlot " + command), done)
    done = sandlot(program, "unpack", folder + "/nothing.game")
    check(done.returncode == 1 and "No such file" in done.stderr, done.stderr)


def test_package_unpack_target(program, places, folder):
    """Only into a folder that is new or empty; links are not followed."""
    game = write(folder, "g.game", corpus.zip_by_python(corpus.GOOD))
    want = dict(corpus.GOOD)

    def unpack(*target, cwd=folder):
        return sandlot(program, "unpack", game, *target, "--allow-weak-jail", cwd=cwd)
    os.mkdir(folder + "/empty")
    check(unpack("empty").returncode == 0 and tree(folder + "/empty") == want, "an empty folder")
    done = unpack("empty")
    check(done.returncode == 1 and "not empty" in done.stderr, done.stderr)
    check(unpack("new/").returncode == 0 and tree(folder + "/new") == want, "a slash at the end")
    check(unpack().returncode == 0 and tree(folder + "/g") == want, "the file's own name")
    write(folder, "file", b"x")
    check(unpack("file").returncode == 1, "onto a file")
    os.mkdir(folder + "/real")
    os.symlink("real", folder + "/link")
    check(unpack("link").returncode == 1 and os.listdir(folder + "/real") == [], "through a link")
    check(unpack("missing/new").returncode == 1, "into a folder that is not there")
    os.mkdir(folder + "/here")
    done = unpack("../here", cwd=folder + "/here")
    check(done.returncode == 1 and "you are in" in done.stderr, done.stderr)
    check(not [name for name in os.listdir(folder) if "unpacking" in name], os.listdir(folder))


def test_package_kill(program, places, folder):
    """kill -9 at any moment: under the name there is nothing or everything, and the next try
    cleans up."""
    place = good_place(folder)
    source = random.Random(4)
    for i in range(60):
        write(place, f"assets/n{i}.txt", source.randbytes(20000).hex().encode())
    want = tree(place)
    done = sandlot(program, "pack", place, "-o", folder + "/whole.game", "--allow-weak-jail")
    check(done.returncode == 0, done.stderr)
    with open(folder + "/whole.game", "rb") as file:
        whole = file.read()
    begin = time.monotonic()
    check(sandlot(program, "unpack", folder + "/whole.game", folder + "/timed",
                  "--allow-weak-jail").returncode == 0, "unpack")
    span = (time.monotonic() - begin) * 1.1
    seen = {"unpack": set(), "pack": set()}
    for round in range(40):
        command = "unpack" if round % 2 else "pack"
        target = folder + ("/out" if command == "unpack" else "/out.game")
        arguments = [folder + "/whole.game", target] if command == "unpack" else [place, "-o", target]
        process = subprocess.Popen([program, command, *arguments, "--allow-weak-jail"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(source.random() * span)
        process.kill()
        process.wait()
        seen[command].add(os.path.exists(target))
        if command == "unpack" and os.path.exists(target):
            check(tree(target) == want, "half a folder")
            shutil.rmtree(target)
        elif os.path.exists(target):
            with open(target, "rb") as file:
                check(file.read() == whole, "half a package")
            os.remove(target)
    check(False in seen["unpack"] and False in seen["pack"], f"never killed in time: {seen}")
    done = sandlot(program, "unpack", folder + "/whole.game", folder + "/out", "--allow-weak-jail")
    check(done.returncode == 0 and tree(folder + "/out") == want, done.stderr)
    check(not [name for name in os.listdir(folder) if "unpacking" in name], os.listdir(folder))


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

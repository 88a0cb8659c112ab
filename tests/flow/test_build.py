"""`sandlot build` from outside: which files it writes and which it does not touch, its error messages,
two builds of one place at the same time, and that a killed build leaves no incomplete files."""

import hashlib
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from clock import DAY_S, clock_ahead
from model_server import KEY, ModelServer, lua
from package_corpus import ogg, png
from support import Failure, check, run

EXPECTED = os.path.join(os.path.dirname(__file__), "..", "vectors", "island_runes.json")
SCENE = '{"format": 1, "entities": [{"id": 1, "name": "Start", "type": "spawn"}]}'
MODULE = "return {answer = function() return 42 end}\n"
SERVER_SECRET = 'local vault = require("ServerScriptService/VaultOfSecrets")\nprint(vault)\n'


def build(program, place, *options, cwd=None, env=None, code=0):
    done = subprocess.run([program, "build", place, "--allow-weak-jail", *options], cwd=cwd, env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    check(done.returncode == code, f"exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def build_json(program, place, *options, code=0, env=None):
    return json.loads(build(program, place, "--json", *options, code=code, env=env).stdout)


def write(place, path, text):
    os.makedirs(os.path.dirname(os.path.join(place, path)), exist_ok=True)
    with open(os.path.join(place, path), "w", encoding="utf-8") as file:
        file.write(text)


def island(places, folder, name="island"):
    place = os.path.join(folder, name)
    shutil.copytree(os.path.join(places, "island"), place,
                    ignore=shutil.ignore_patterns(".sandlot"))
    return place


def small_place(folder, name="small", scripts=None):
    place = os.path.join(folder, name)
    write(place, "place.json", '{"format": 1, "name": "Small"}')
    write(place, "scene.json", SCENE)
    for path, text in (scripts or {}).items():
        write(place, path, text)
    return place


def side(place, which):
    """The files of one side by their paths; {} when it was not built."""
    root = os.path.join(place, ".sandlot", which, "soul")
    files = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, root)] = file.read()
    return files


def check_side(place, which):
    """Whole and of one piece, or not there at all."""
    files = side(place, which)
    if not files and not os.path.exists(os.path.join(place, ".sandlot", which, "soul")):
        return None
    check("manifest.json" in files, f"{which}: no manifest among {sorted(files)}")
    manifest = json.loads(files["manifest.json"])
    for script in manifest["scripts"]:
        name = os.path.splitext(script["path"])[0] + ".rune"
        check(name in files, f"{which}: {name} is missing")
        found = "sha256:" + hashlib.sha256(files[name]).hexdigest()
        check(found == script["rune_hash"] and len(files[name]) == script["size_bytes"],
              f"{which}: {name} is not what the manifest names")
    runes = sum(name.endswith(".rune") for name in files)
    check(runes == len(manifest["scripts"]), f"{which}: {sorted(files)} are too many")
    return manifest


def check_both(place):
    return check_side(place, "server"), check_side(place, "client")


def state(place):
    """Names, inodes and times: what tells whether anything was written."""
    found = {}
    for which in ("server", "client"):
        for folder, _, names in os.walk(os.path.join(place, ".sandlot", which)):
            for name in [".", *names]:
                about = os.stat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (about.st_ino, about.st_mtime_ns)
    return found


# --- what it makes --------------------------------------------------------------------------------

def test_build_island(program, places, folder):
    place = island(places, folder)
    said = build(program, place)
    check("built, version 1" in said.stdout and "compiled" in said.stdout, said.stdout)
    server, client = check_both(place)
    check(server["version"] == 1 and server["server_tick"] == 0, f"{server}")
    check(list(server) == sorted(server), "members are sorted")
    check([script["path"] for script in server["scripts"]] ==
          ["ServerScriptService/Sea.lua", "Workspace/DoorMat.lua"], f"{server}")
    check(server["scripts"][0]["run_context"] == "Server" and
          not server["scripts"][0]["replicate"], f"{server}")
    check([script["path"] for script in client["scripts"]] == ["Workspace/DoorMat.lua"],
          f"{client}")
    check(re.fullmatch("[0-9a-f]{128}", client["signature"]), f"{client}")
    check(oct(os.stat(os.path.join(place, ".sandlot", "data", "ticket.key")).st_mode) ==
          "0o100600", "the key is private")
    before = state(place)
    said = build(program, place)
    check("up to date, version 1" in said.stdout and "nothing compiled" in said.stdout, said.stdout)
    check(state(place) == before, "nothing was written")
    build(program, place, "--verify")


def test_build_what_changed(program, places, folder):
    place = small_place(folder, scripts={f"Workspace/S{i}.lua": f"local x = {i}\n" for i in range(9)})
    first = build_json(program, place)
    check(first["compiled"] == 9 and first["cached"] == 0 and first["version"] == 1, f"{first}")
    write(place, "Workspace/S3.lua", "local x = 33\nlocal y = 34\n")
    second = build_json(program, place)
    check(second["compiled"] == 1 and second["cached"] == 8 and second["version"] == 2, f"{second}")
    changed = [script["path"] for script in second["scripts"] if not script["cached"]]
    check(changed == ["Workspace/S3"], f"{changed}")
    # Back again: the cache still has it, and the version continues.
    write(place, "Workspace/S3.lua", "local x = 3\n")
    third = build_json(program, place)
    check(third["compiled"] == 0 and third["version"] == 3, f"{third}")
    check([s["rune_hash"] for s in third["scripts"]] == [s["rune_hash"] for s in first["scripts"]],
          "the same source is the same rune")
    # Two new lines at the end change nothing that runs, but the rune may; a comment likewise.
    os.remove(os.path.join(place, "Workspace/S3.lua"))
    fourth = build_json(program, place)
    check(fourth["compiled"] == 0 and fourth["version"] == 4, f"{fourth}")
    check("Workspace/S3.rune" not in side(place, "server") and
          "Workspace/S3.rune" not in side(place, "client"), "it is gone from both")
    forced = build_json(program, place, "--force")
    check(forced["compiled"] == 8 and forced["version"] == 4 and forced["unchanged"], f"{forced}")
    check_both(place)


def test_build_damaged_artifacts_are_mended(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    build(program, place)
    rune = os.path.join(place, ".sandlot/client/soul/Workspace/A.rune")
    for damage in (lambda: os.remove(rune), lambda: write(place, os.path.relpath(rune, place), "x"),
                   lambda: write(place, ".sandlot/client/soul/Workspace/B.rune", "x"),
                   lambda: shutil.rmtree(os.path.join(place, ".sandlot/server"))):
        damage()
        said = build(program, place, "--verify", code=1)
        check("not verified" in said.stderr, said.stderr)
        mended = build_json(program, place)
        check(not mended["unchanged"] and mended["compiled"] == 0, f"{mended}")
        build(program, place, "--verify")
        check_both(place)
        check("Workspace/B.rune" not in side(place, "client"), "what nobody signed is gone")


def test_build_verify_knows_who_signed(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    build(program, place)
    manifest = os.path.join(place, ".sandlot/server/soul/manifest.json")
    with open(manifest, encoding="utf-8") as file:
        text = file.read()
    write(place, ".sandlot/server/soul/manifest.json", text.replace('"version":1', '"version":9'))
    said = build(program, place, "--verify", code=1)
    check("manifest.json" in said.stderr and "not signed by this host" in said.stderr, said.stderr)
    answer = build_json(program, place)
    check(answer["version"] == 1 and not answer["unchanged"],
          f"a version that nobody signed does not count: {answer}")
    again = build_json(program, place, "--rotate-key")
    check(again["version"] == 1 and not again["unchanged"], f"{again}")
    build(program, place, "--verify")
    check(os.path.getsize(os.path.join(place, ".sandlot/data/ticket.key.old")) == 65, "one old key")
    # What the key before signed is still ours.
    key = os.path.join(place, ".sandlot/data/ticket.key")
    signed = side(place, "server")["manifest.json"]
    build(program, place, "--rotate-key")
    check(side(place, "server")["manifest.json"] != signed, "signed again")
    with open(manifest, "wb") as file:
        file.write(signed)
    said = build(program, place, "--verify")
    check("earlier key" in said.stderr, said.stderr)
    os.chmod(key, 0o644)
    said = build(program, place, code=1)
    check("is not your own, or others may read it" in said.stderr, said.stderr)


def test_build_verify_follows_no_link(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    build(program, place)
    for name in ("client", "client/soul", "client/soul/Workspace", "server", "server/soul", ""):
        inside = os.path.join(place, ".sandlot", name).rstrip("/")
        other = os.path.join(folder, "elsewhere")
        os.rename(inside, other)
        os.symlink(other, inside)
        said = build(program, place, "--verify", code=1)
        check("link" in said.stderr and "verified" not in said.stdout, f"{name}: {said}")
        os.remove(inside)
        os.rename(other, inside)
    build(program, place, "--verify")


def test_build_verify_knows_the_lua(program, places, folder):
    """What scriptPath calls the Lua that runs is what was made, and of these runes."""
    place = small_place(folder, scripts={
        "Workspace/Lift.ts": "[1].forEach((x) => print(x));\n", "Workspace/Plain.lua": "print(1)\n"})
    soul = os.path.join(place, ".sandlot/server/soul")
    lift, made = os.path.join(soul, "Workspace/Lift.lua"), os.path.join(soul, "made.sha256")
    library = os.path.join(soul, "ReplicatedStorage/lualib_bundle.lua")
    build(program, place)
    with open(made, "rb") as file:
        first = file.read()
    done = subprocess.run(["sha256sum", "-c", "made.sha256"], cwd=soul, capture_output=True,
                          text=True, check=False)
    check(done.returncode == 0 and done.stdout.count(": OK") == 3, f"{done}")
    check("made.sha256" not in side(place, "client"), "it names nothing to clients")

    def damaged(path, text):
        with open(path, "rb") as file:
            before = file.read()
        with open(path, "wb") as file:
            file.write(text(before))

    for path, text in ((lift, lambda text: text + b"-- more\n"),
                       (library, lambda text: text.replace(b"local", b"LOCAL", 1)),
                       (made, lambda text: text.replace(b"Lift", b"Lost")),
                       (made, lambda text: text[:-20]), (made, lambda text: b""),
                       (lift, None), (library, None), (made, None)):
        os.remove(path) if text is None else damaged(path, text)
        said = build(program, place, "--verify", code=1)
        check(os.path.relpath(path, place) in said.stderr, f"{path}: {said.stderr}")
        answer = build_json(program, place)
        check(not answer["unchanged"] and answer["version"] == 1, f"{answer}")
        build(program, place, "--verify")
    # Another build's list and Lua, both signed by us, are not those of this manifest.
    with open(lift, "rb") as file:
        old = file.read()
    write(place, "Workspace/Lift.ts", "[2].forEach((x) => print(x));\n")
    build(program, place)
    damaged(lift, lambda _: old)
    damaged(made, lambda _: first)
    said = build(program, place, "--verify", code=1)
    check("soul/manifest.json: error: is not what made.sha256 names" in said.stderr, said.stderr)
    # Without other languages there is no such list, and none may be there.
    os.remove(os.path.join(place, "Workspace/Lift.ts"))
    build(program, place)
    check("made.sha256" not in side(place, "server"), "there is none")
    with open(made, "wb") as file:
        file.write(first)
    build(program, place, "--verify", code=1)


def test_build_version_never_falls(program, places, folder):
    """Whatever is deleted beside the key, however often the key was changed."""
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    noted = os.path.join(place, ".sandlot/data/ticket.key.version")

    def versions(source, *options):
        write(place, "Workspace/A.lua", source)
        answer = build_json(program, place, *options)
        server, client = check_both(place)
        check(server["version"] == client["version"] == answer["version"], f"{answer}")
        build(program, place, "--verify")
        return answer["version"]

    def forget():
        for name in os.listdir(os.path.join(place, ".sandlot")):
            path = os.path.join(place, ".sandlot", name)
            if os.path.isdir(path) and name != "data":
                shutil.rmtree(path)
    check(versions("local a = 1\n") == 1 and versions("local a = 2\n") == 2, "it rises")
    forget()
    check(versions("local a = 2\n") == 2, "the same set keeps its version")
    forget()
    check(versions("local a = 1\n") == 3, "another set has another one")
    # More keys than are kept, and no build that signed again in between.
    write(place, "Workspace/A.lua", "local a = = 1\n")
    for _ in range(17):
        build(program, place, "--rotate-key", code=1)
    said = build(program, place, "--verify", code=1)
    check("not signed by this host" in said.stderr, said.stderr)
    check(versions("local a = 1\n") == 3 and versions("local a = 3\n") == 4, "nor then")
    # A file that is not ours counts as missing; the manifests still count.
    for damage in (lambda: write(place, noted, "version 900\nset x\n"),
                   lambda: write(place, noted, "version 900"), lambda: write(place, noted, ""),
                   lambda: (write(place, noted, f"version 900\nset {'0' * 64}\n"),
                            os.chmod(noted, 0o666)), lambda: os.remove(noted)):
        damage()
        check(versions("local a = 3\n") == 4, "what others could have written is not believed")
        check(os.stat(noted).st_mode & 0o777 == 0o600, "it is there again")
    # A note from a backup beside newer artifacts, of the very same set.
    with open(noted, "rb") as file:
        older = file.read()
    check(versions("local a = 5\n") == 5 and versions("local a = 3\n") == 6, "it rises")
    with open(noted, "wb") as file:
        file.write(older)
    check(versions("local a = 3\n") == 6, "what was signed counts as well")


def test_build_client_has_no_trace(program, places, folder):
    secret = "local treasure = 'sunken gold'\nreturn treasure\n" * 1
    place = small_place(folder, scripts={
        "ServerScriptService/VaultOfSecrets.lua": secret,
        "ServerScriptService/Main.lua": SERVER_SECRET,
        "ReplicatedStorage/Hidden.lua": MODULE + "-- narrowed\n",
        "ReplicatedStorage/Shared.lua": MODULE,
        "Workspace/Door.lua": 'local t = require("ReplicatedStorage/Shared")\nprint(t.answer())\n'})
    write(place, "place.json", json.dumps({
        "format": 1, "name": "Small", "contexts": {"ReplicatedStorage/Hidden": "Server"}}))
    build(program, place)
    server, client = check_both(place)
    check(len(server["scripts"]) == 5 and len(client["scripts"]) == 2, f"{client}")
    hidden = [s for s in server["scripts"] if not s["replicate"]]
    check(len(hidden) == 3, f"{hidden}")
    seen = b""
    for root, folders, names in os.walk(os.path.join(place, ".sandlot", "client")):
        seen += "\n".join([*folders, *names]).encode()
        for name in names:
            with open(os.path.join(root, name), "rb") as file:
                seen += file.read()
    for script in hidden:
        name = os.path.splitext(script["path"])[0]
        digest = script["rune_hash"].removeprefix("sha256:")
        for trace in (name.encode(), name.rsplit("/", 1)[1].encode(), digest.encode(),
                      bytes.fromhex(digest), f'"size_bytes":{script["size_bytes"]}'.encode()):
            shared = any(f'"size_bytes":{s["size_bytes"]}'.encode() == trace
                         for s in client["scripts"])
            check(trace not in seen or shared, f"a trace of {name}: {trace}")
    for word in (b"ServerScriptService", b"sunken gold", b"Vault", b"Hidden"):
        check(word not in seen, f"a trace: {word}")


def test_build_typescript(program, places, folder):
    place = small_place(folder, scripts={
        "ReplicatedStorage/Maths.ts": "export function twice(x: number): number { return 2 * x; }\n",
        "ServerScriptService/Main.ts": 'import { twice } from "../ReplicatedStorage/Maths";\n'
                                       "for (const n of [1, 2].map((x) => twice(x))) print(n);\n",
        "Workspace/Door.lua": 'local m = require("ReplicatedStorage/Maths")\nprint(m.twice(2))\n'})
    first = build_json(program, place)
    check(first["ok"] and first["errors"] == 0, f"{first}")
    server, client = check_both(place)
    check([s["path"] for s in server["scripts"]] ==
          ["ReplicatedStorage/Maths.ts", "ReplicatedStorage/lualib_bundle.lua",
           "ServerScriptService/Main.ts", "Workspace/Door.lua"], f"{server}")
    check([s["path"] for s in client["scripts"]] ==
          ["ReplicatedStorage/Maths.ts", "Workspace/Door.lua"],
          "the library stays with the server when only the server needs it")
    main = side(place, "server")["ServerScriptService/Main.lua"].decode()
    found = re.search("-- source map: ([0-9a-f]{2})([0-9a-f]{62}) ", main)
    check(found, main)
    with open(os.path.join(place, ".sandlot/cache/blobs", found[1], found[2]),
              encoding="utf-8") as file:
        check(json.load(file)["version"] == 3, "a source map")
    check(not any(name.endswith((".lua", ".map")) for name in side(place, "client")), "none there")
    second = build_json(program, place)
    check(second["unchanged"] and second["compiled"] == 0, f"{second}")
    write(place, "ReplicatedStorage/Maths.ts",
          "export function twice(x: number): number { return x + x; }\n")
    third = build_json(program, place)
    check(third["compiled"] == 1, f"only what became other Lua: {third}")
    write(place, "Workspace/Roof.ts", "[1].forEach((x) => print(x));\n")
    build_json(program, place)
    check("ReplicatedStorage/lualib_bundle.rune" in side(place, "client"), "now a client needs it")
    build(program, place, "--verify")
    # What Lua does not take.
    write(place, "Workspace/Roof.ts",
          "export {};\n" + "".join(f"const a{i} = {i};\n" for i in range(250)))
    said = build(program, "small", cwd=folder, code=1).stderr
    check(re.search(r"^small/Workspace/Roof\.ts:20\d: error: .*at most 200 variables", said, re.M), said)
    # Wrong types, what stays on the server, and a script that the compiler gives up on: none hides
    # another.
    write(place, "ServerScriptService/Main.ts", "export const gold = 3;\n")
    write(place, "Workspace/Roof.ts", "const x: number = 'no';\n")
    write(place, "Workspace/Wall.ts", "interface Wall {\n  height: number;\n}\n"
          'import { gold } from "../ServerScriptService/Main";\n'
          "const wall: Wall = { height: gold };\nprint(wall.height);\n")
    write(place, "Workspace/Tower.ts", "export const x =\n    1" + " + 1" * 50000 + ";\n")
    said = build(program, "small", cwd=folder, code=1).stderr
    for row in (r"Roof\.ts:1:7: error: .* \[TS2322\]", r"Wall\.ts:4:10: error: .*stays on the server",
                r"Tower\.ts:2:5: error: .*50004 deep.* \[too-deep\]"):
        check(re.search(rf"^small/Workspace/{row}", said, re.M), said)


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def segments(mappings):
    """(line, column) of the Lua → (source, line, column), all from 0, of a source map of version 3."""
    found, sums = {}, [0, 0, 0]
    for line, group in enumerate(mappings.split(";")):
        column = 0
        for segment in filter(None, group.split(",")):
            numbers, value, shift = [], 0, 0
            for digit in map(DIGITS.index, segment):
                value, shift = value | (digit & 31) << shift, shift + 5
                if not digit & 32:
                    numbers.append(-(value >> 1) if value & 1 else value >> 1)
                    value, shift = 0, 0
            check(shift == 0 and len(numbers) in (1, 4, 5), f"a segment {segment}")
            column += numbers[0]
            if len(numbers) > 1:
                sums = [a + b for a, b in zip(sums, numbers[1:4])]
                found[line, column] = tuple(sums)
    return found


def test_build_luau(program, places, folder):
    """A module and a script in Luau: they are built, found, tried out and packed like Lua."""
    place = small_place(folder, scripts={
        "ReplicatedStorage/Tools.luau":
            "export type Tool = { uses: number }\nlocal Tools = {}\n"
            "function Tools.use(tool: Tool)\n\ttool.uses += 1\n\treturn `used {tool.uses} times`\nend\n"
            "return Tools\n",
        "ServerScriptService/Game.luau":
            'local Tools = require("ReplicatedStorage/Tools")\nlocal tool: Tools.Tool = { uses = 0 }\n'
            "for _ in { 1, 2 } do\n\tprint(Tools.use(tool))\nend\n",
        "SoulService/Workspace/Door.luau": "local n = 1\nn += 1\n"})
    answer = build_json(program, place)
    check(answer["ok"] and [d["code"] for d in answer["diagnostics"]] == ["unused"], f"{answer}")
    server, client = check_both(place)
    check([script["path"] for script in server["scripts"]] ==
          ["ReplicatedStorage/Tools.luau", "ServerScriptService/Game.luau", "Workspace/Door.luau"],
          f"{server}")
    check(server["scripts"][1]["requires"] == ["ReplicatedStorage/Tools"], f"{server}")
    check(len(client["scripts"]) == 2, f"{client}")
    check(not any(name.endswith(".lua") for name in side(place, "server")), "its Lua is kept nowhere")
    build(program, place, "--verify")
    check(build_json(program, place)["compiled"] == 0, "all from the cache")
    packed = subprocess.run([program, "pack", place, "-o", os.path.join(folder, "luau.game"),
                             "--allow-weak-jail"], capture_output=True,
                            text=True, timeout=100, check=False)
    check(packed.returncode == 0, packed.stdout + packed.stderr)
    bound = small_place(folder, "bound", {"Workspace/Gate.lua": "function onStart() end\n",
                                          "ServerScriptService/Any.luau": "return {}\n"})
    write(bound, "scene.json", '{"format": 1, "entities": [{"id": 1, "name": "Start", "type": "spawn"},\n'
          ' {"id": 2, "name": "Gate", "shape": {"size": [1, 1, 1]}, "scriptRef": {"path": "Workspace/Gate.lua"}}]}')
    check(build_json(program, bound)["diagnostics"] == [], "the scene's script is known beside a .luau")
    with open(os.path.join(bound, "scene.json"), encoding="utf-8") as file:
        check("codeHash" in file.read(), "the build wrote what it derives")
    write(place, "Workspace/Door.lua", "return 1\n")
    write(place, "ServerScriptService/Game.luau", "local n: number = 1\n\nn += = 2\n")
    said = build(program, place, code=1).stderr
    check("Workspace/Door.lua: error:" in said or "Workspace/Door.luau: error:" in said, said)
    check("ServerScriptService/Game.luau:3: error: unexpected symbol near '='" in said, said)
    os.remove(os.path.join(place, "Workspace/Door.lua"))
    write(place, "ServerScriptService/Game.luau", "local t = nil\n\nt.x.y += 1\n")
    said = build(program, place).stderr
    check("ServerScriptService/Game.luau:3: warning:" in said, "it is tried out: " + said)


def test_build_source_maps(program, places, folder):
    """Each Lua names a map, which is one of that Lua and is there; one that was lost is made again."""
    tall = ("interface Roof {\n  height: number;\n}\n\n"
            "export function isTall(roof: Roof): boolean {\n  // comment\n"
            "  const limit = 99;\n\n  return roof.height > limit;\n}\n")
    place = small_place(folder, scripts={"ReplicatedStorage/Tall.ts": tall,
                                         "Workspace/Roof.ts": "print(1);\n"})
    build(program, place)

    def maps():
        named = {}
        for path, text in side(place, "server").items():
            found = re.search("\n-- source map: ([0-9a-f]{2})([0-9a-f]{62}) in .*\n$", text.decode()) \
                if path.endswith(".lua") else None
            if found:
                named[path] = os.path.join(place, ".sandlot/cache/blobs", found[1], found[2])
        return named
    named = maps()
    check(sorted(named) == ["ReplicatedStorage/Tall.lua", "Workspace/Roof.lua"], f"{named}")
    with open(named["ReplicatedStorage/Tall.lua"], encoding="utf-8") as file:
        text = file.read()
    source_map = json.loads(text)
    check(source_map["version"] == 3 and source_map["sources"] == ["ReplicatedStorage/Tall.ts"],
          text)
    lua = side(place, "server")["ReplicatedStorage/Tall.lua"].decode().split("\n")
    source, lines = tall.split("\n"), {}
    for (line, column), (which, at, where) in segments(source_map["mappings"]).items():
        check(which == 0 and column <= len(lua[line]) and where <= len(source[at]),
              f"{line}:{column} → {at}:{where} is nowhere")
        lines.setdefault(line, []).append(at)
        word, own = re.match(r"\w*", lua[line][column:])[0], source[at][where:]
        if word in ("roof", "limit", "isTall", "height", "return"):
            check(own.startswith((word, "function " + word, "const " + word, "export")),
                  f"{lua[line]!r} at {column} is not {own!r}")
    for part, line in (("function", 5), ("99", 7), (".height >", 9)):
        at = next(i for i, text in enumerate(lua) if part in text)
        check(lines[at][0] + 1 == line, f"{lua[at]!r} is line {line}, not {lines[at][0] + 1}")
    # Lost, cut off, or something else of the same size.
    for damage in (os.remove, lambda path: os.truncate(path, 9),
                   lambda path: write(place, path, text.replace("3", "4"))):
        damage(named["ReplicatedStorage/Tall.lua"])
        answer = build_json(program, place)
        check(answer["ok"] and answer["unchanged"], f"{answer}")
        with open(named["ReplicatedStorage/Tall.lua"], encoding="utf-8") as file:
            check(file.read() == text, "it is there again")


NUMBERS = """0 -0 0.0 1.0 7 -7 0.5 -2.25 0.1 0.3 1e3 0x10 0b11 1_000 123456789 9007199254740991
9007199254740993 1e15 1e16 1e18 -1e18 9223372036854775807 9223372036854775808 -9223372036854775808
1e19 1e20 -1e20 1e21 1e22 -1e21 1.5e21 1.5e300 1e308 1e309 -1e309 1e-3 0.0001 0.00012 1e-5 0.00001
1e-7 1.5e-7 5e-324 -1e-6 0.1234567890123 0.12345678901234 0.123456789012345 3.141592653589793
12345678901234.5 1234567890123.25 1234567890123.75 99999999999999.9 10000000000000.5 NaN Infinity -Infinity -NaN
Number.MAX_SAFE_INTEGER Number.MIN_SAFE_INTEGER Number.EPSILON Number.MAX_VALUE Number.MIN_VALUE
Number.NaN Number.POSITIVE_INFINITY Number.NEGATIVE_INFINITY -Number.EPSILON (1e20) (-(0.5))
A B C D E.One E.Big E.Part""".split()
NUMBERS_BEFORE = """const A = 1e20, B = 0.25, C = -A, D: number = Infinity;
let all = "";
enum E { One = 1, Big = 1e25 }
enum E { Part = 0.00002 }
export {};
"""
NUMBERS_BEFORE_SCRIPT = """const A = 1e20, B = 0.25, C = -A, D = Infinity;
let all = "";
const E = { One: 1, Big: 1e25, Part: 0.00002 };
const print = console.log, task = { wait() {} };
"""


def test_build_typescript_numbers_as_text(program, places, folder):
    """A number that is known prints as in JavaScript, or there is a warning; and never both."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    forms = [form for number in NUMBERS for form in
             (f"`<${{{number}}}>`", f'"<" + {number} + ">"', f'"<" + String({number}) + ">"')]
    # A line of the source each; lines that are printed have a length and a number in a second.
    shown = "".join(f"all += {form};\n" if at % 7 else
                    f"print(all); task.wait(0.1); all = {form};\n"
                    for at, form in enumerate(forms)) + "print(all);\n"
    place = small_place(folder, scripts={"ServerScriptService/Numbers.ts": NUMBERS_BEFORE + shown})
    said = build_json(program, place)
    codes = {row["code"] for row in said["diagnostics"]}
    check(codes == {"trap-number-text"}, codes)
    warned = {row["line"] - NUMBERS_BEFORE.count("\n"): row["message"]
              for row in said["diagnostics"]}
    # A long line is cut, and the path is a part of each.
    lua = os.path.join(place, ".sandlot/server/soul/ServerScriptService")
    done = subprocess.run([program, "script", "run", "Numbers.lua", "--ticks", "400"], capture_output=True,
                          cwd=lua, text=True, timeout=100)
    in_lua = re.findall("<(.*?)>", done.stdout)
    check(done.returncode == 0 and len(in_lua) == len(forms), done.stdout + done.stderr)
    write(folder, "numbers.mjs", NUMBERS_BEFORE_SCRIPT + shown)
    done = subprocess.run([os.path.join(root, "tools/node"), os.path.join(folder, "numbers.mjs")],
                          capture_output=True, text=True, timeout=100)
    in_script = re.findall("<(.*?)>", done.stdout)
    check(len(in_script) == len(forms), done.stdout + done.stderr)
    for at, (form, here, there) in enumerate(zip(forms, in_lua, in_script), 1):
        check((here != there) == (at in warned),
              f"{form}: {here} in Lua, {there} in JavaScript, {warned.get(at)}")
        check(here == there or f'"{here}" in Lua, not "{there}"' in warned[at], warned.get(at))


def test_build_typescript_forgets_modules_that_went(program, places, folder):
    """What an import means depends on which other scripts there are, also when nothing of it is used."""
    place = small_place(folder, scripts={
        "ServerScriptService/Main.ts": 'import * as Words from "ReplicatedStorage/Words";\nprint(1);\n',
        "ReplicatedStorage/Words.lua": "return {}\n"})
    build(program, place)
    os.remove(os.path.join(place, "ReplicatedStorage/Words.lua"))
    said = build(program, place, code=1)
    check("ServerScriptService/Main.ts:1:24: error: " in said.stderr and "TS2307" in said.stderr, said.stderr)
    write(place, "ReplicatedStorage/Words.lua", "return {}\n")
    build(program, place)


def test_build_typescript_only_of_its_own_tree(program, places, folder):
    """A compiler, or packages, that lie in a folder above are anybody's: they are not run."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files = os.path.join(root, "server/build/typescript")
    place = small_place(folder, scripts={"ServerScriptService/Main.ts": "print(1);\n"})
    os.chmod(folder, 0o755)  # of root Node is nobody's

    def outcome(path, code):
        own = os.path.join(folder, path)
        os.makedirs(os.path.dirname(own), exist_ok=True)
        shutil.copyfile(program, own)
        os.chmod(own, 0o755)
        done = build(own, place, "--force", code=code)
        os.remove(own)
        return done.stdout + done.stderr

    def provide(path, source):
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        os.symlink(source, os.path.join(folder, path))

    # Strangers' files all the way up.
    for above in ("", "tree/deep/"):
        provide(above + "server/build/typescript", files)
        provide(above + "share/sandlot/typescript", files)
        provide(above + "node_modules", os.path.join(root, "node_modules"))
    text = outcome("tree/deep/down/release/sandlot", 1)
    check("in no source tree" in text and "install it whole" in text, text)
    text = outcome("tree/deep/down/build/release/sandlot", 1)
    check("there is no compiler.mjs in " in text and
          "tree/deep/down/server/build/typescript" in text, text)
    text = outcome("tree/deep/down/bin/sandlot", 1)
    check("tree/deep/down/share/sandlot/typescript" in text, text)
    # Its own files, but packages only above.
    provide("tree/deep/down/server/build/typescript", files)
    text = outcome("tree/deep/down/build/release/sandlot", 1)
    check("typescript-to-lua" in text and "tree/deep/down/node_modules" in text and
          "Run tools/setup" in text, text)
    # Whole: a source tree, and an installation.
    provide("tree/deep/down/node_modules", os.path.join(root, "node_modules"))
    outcome("tree/deep/down/build/release/sandlot", 0)
    shutil.copytree(files, os.path.join(folder, "usr/share/sandlot/typescript"))
    provide("usr/share/sandlot/node_modules", os.path.join(root, "node_modules"))
    outcome("usr/bin/sandlot", 0)


# --- mistakes -------------------------------------------------------------------------------------

def test_build_says_what_is_wrong(program, places, folder):
    place = small_place(folder, scripts={
        "Workspace/Good.lua": "local a = 1\n",
        "Workspace/Bad.lua": "local a = 1\nlocal b = = 2\n",
        "Workspace/Lost.lua": '\n\nrequire("ReplicatedStorage/Nowhere")\n',
        "Workspace/Spy.lua": 'local function f()\n\treturn require("ServerScriptService/Secret")\nend\nf()\n',
        "ServerScriptService/Odd.lua": 'require("StarterGui/Bar")\n',
        "ServerScriptService/Secret.lua": "return 1\n",
        "StarterGui/Bar.lua": "return 1\n",
        "scripts/Stray.lua": "",
        "Workspace/Twice.lua": "", "Workspace/Twice.ts": ""})
    said = build(program, "small", cwd=folder, code=1)
    for pattern in (r"^small/Workspace/Bad\.lua:2(:\d+)?: error: .*near '='",
                    r"^small/Workspace/Lost\.lua:3: error: requires \"ReplicatedStorage/Nowhere\"",
                    r"^small/Workspace/Spy\.lua:2: error: .*stays on the server",
                    r"^small/ServerScriptService/Odd\.lua:1: error: .*on the client alone",
                    r"^small/scripts/Stray\.lua: error: .*ServerScriptService, ReplicatedStorage",
                    r"^small/Workspace/Twice\.ts: error: .*Workspace/Twice\.lua"):
        check(re.search(pattern, said.stderr, re.M), f"{pattern} in\n{said.stderr}")
    check("not built: 6 errors" in said.stderr, said.stderr)
    check(side(place, "server") == {}, "nothing was made")
    answer = build_json(program, place, code=1)
    check(not answer["ok"] and answer["errors"] == 6, f"{answer}")
    first = [d for d in answer["diagnostics"] if d["file"] == "Workspace/Bad.lua"][0]
    check(first["line"] == 2 and first["level"] == "error", f"{first}")
    again = build_json(program, place, code=1)
    check(again["cached"] > 0 and again["diagnostics"] == answer["diagnostics"], f"{again}")
    here = build(program, ".", cwd=place, code=1)
    check(re.search(r"^Workspace/Bad\.lua:2", here.stderr, re.M), here.stderr)


def test_build_names_modules_in_a_circle(program, places, folder):
    """What `require` would say when it runs, with file and line, and once for each circle."""
    def module(*paths):
        return "\n" + "".join(f'require("ReplicatedStorage/{path}")\n' for path in paths)
    place = small_place(folder, scripts={
        "ReplicatedStorage/A.lua": module("B"), "ReplicatedStorage/B.lua": module("Leaf", "C"),
        "ReplicatedStorage/C.lua": module("A", "Leaf"), "ReplicatedStorage/Leaf.lua": "return 1\n",
        "ReplicatedStorage/Self.lua": module("Self"), "Workspace/Main.lua": module("C", "B", "Self"),
        "ReplicatedStorage/X.ts": 'import { y } from "./Y";\nexport const x = 1;\nprint(y);\n',
        "ReplicatedStorage/Y.ts": 'import { x } from "./X";\nexport const y = 2;\nprint(x);\n',
        "ReplicatedStorage/Types.ts": 'import type { Z } from "./More";\nexport type T = Z;\n',
        "ReplicatedStorage/More.ts": 'import type { T } from "./Types";\nexport type Z = 1 | T[];\n'})
    for _ in range(2):  # from the cache too
        answer = build_json(program, place)
        found = [d for d in answer["diagnostics"] if d["code"] == "require"]
        check(answer["ok"] and [(d["file"], d["line"], d["level"]) for d in found] ==
              [("ReplicatedStorage/A.lua", 2, "warning"), ("ReplicatedStorage/Self.lua", 2, "warning"),
               ("ReplicatedStorage/X.ts", 1, "warning")], f"{found}")
        for one, chain in zip(found, ("A B C A", "Self Self", "X Y X")):
            names = " -> ".join("ReplicatedStorage/" + name for name in chain.split())
            check(f"modules require each other: {names};" in one["message"], f"{one}")


def test_build_failed_leaves_the_last_good(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    build(program, place)
    before, last = side(place, "server"), state(place)
    write(place, "Workspace/A.lua", "local a = \n")
    build(program, place, code=1)
    write(place, "Workspace/A.lua", "local a = 1\n")
    write(place, "scene.json", '{"format": 1, "entities": [{"id": -3}]}')
    said = build(program, place, code=1)
    check("scene.json:1:" in said.stderr, said.stderr)
    write(place, "place.json", '{"format": 1, "name": "x", "contexts": {"Workspace/A": "Srver"}}')
    said = build(program, place, code=1)
    check("place.json:1:" in said.stderr and "Server" in said.stderr, said.stderr)
    write(place, "place.json", '{"format": 1,')
    said = build(program, place, code=1)
    check(said.stderr.count("place.json:") == 1, said.stderr)
    check(side(place, "server") == before and state(place) == last, "as it was")


def test_build_warnings_come_from_the_cache_too(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "print(undefinedThing)\n"})
    first, second = build_json(program, place), build_json(program, place)
    check(first["warnings"] >= 1 and first["ok"], f"{first}")
    check(second["compiled"] == 0 and second["diagnostics"] == first["diagnostics"], f"{second}")


def test_build_tries_scripts_out_with_their_modules(program, places, folder):
    """Also TypeScript, which hardly ever comes without its library."""
    place = small_place(folder, scripts={
        "ReplicatedStorage/Tools.lua": 'return {more = require("ReplicatedStorage/More")}\n',
        "ReplicatedStorage/More.lua": "return {}\n",
        "ReplicatedStorage/Maths.ts": "export function twice(x: number) { return [x, x]; }\n",
        "Workspace/Bad.lua": 'local t = require("ReplicatedStorage/Tools")\nprint(t.more.one.two)\n',
        "Workspace/Good.lua": 'local t = require("ReplicatedStorage/Tools")\nprint(t.more.one)\n',
        "Workspace/Bad2.ts": 'import { twice } from "../ReplicatedStorage/Maths";\n'
                             "const seen = new Map<number, number>();\n"
                             "for (const n of twice(2)) seen.set(n, n);\n"
                             "const t: any = undefined;\n\nt.x();\n",
        "Workspace/Good2.ts": "print([...new Set([1, 2])].map((x) => x + 1).join());\n",
        "StarterGui/Bad3.ts": "const all = new Set([1]);\nconst t: any = undefined;\nall.add(t.x);\n"})
    for options in ((), (), ("--force",)):
        answer = build_json(program, place, *options)
        found = [(d["file"], d["line"]) for d in answer["diagnostics"] if d["code"] == "dry-run"]
        check(answer["ok"] and found == [("StarterGui/Bad3.ts", 3), ("Workspace/Bad.lua", 2),
                                         ("Workspace/Bad2.ts", 6)], f"{answer['diagnostics']}")
    # Another module, another outcome.
    write(place, "ReplicatedStorage/More.lua", "return {one = {}}\n")
    answer = build_json(program, place)
    found = [d["file"] for d in answer["diagnostics"] if d["code"] == "dry-run"]
    check(answer["compiled"] == 1 and found == ["StarterGui/Bad3.ts", "Workspace/Bad2.ts"],
          f"{answer['diagnostics']}")
    # And one that fails itself: the script that requires it is named, with its line.
    write(place, "ReplicatedStorage/More.lua", "local t\nreturn t.x\n")
    answer = build_json(program, place)
    found = [(d["file"], d["line"], "ReplicatedStorage/More.lua:2: " in d["message"])
             for d in answer["diagnostics"] if d["code"] == "dry-run" and ".lua" in d["file"]]
    check(found == [("Workspace/Bad.lua", 1, True), ("Workspace/Good.lua", 1, True)],
          f"{answer['diagnostics']}")


def test_build_moves_no_cursor(program, places, folder):
    place = small_place(folder, scripts={"Work\x1b[31mspace/\nA.lua": ""})
    said = build(program, place, code=1)
    check("Work?[31mspace/ A.lua: error:" in said.stderr and "\x1b" not in said.stderr, said.stderr)
    write(place, "Workspace/B.lua", "local a = 1\n\x1b = 2\n")
    said = build(program, place, code=1)
    check("Workspace/B.lua:2: error:" in said.stderr and "\x1b" not in said.stderr, said.stderr)
    link = os.path.join(place, "Workspace/\x1b[2J.lua")
    os.symlink("/etc/passwd", link)
    said = build(program, place, code=1)
    check("is a link" in said.stderr and "\x1b" not in said.stderr, said.stderr)


def test_build_says_what_cannot_be_read(program, places, folder):
    deep = "Workspace/" + "/".join("d" * 12) + "/Deep.lua"
    place = small_place(folder, scripts={
        "Workspace/A.lua": 'require("ReplicatedStorage/Big")\n',
        "ReplicatedStorage/Big.lua": "-" * (256 * 1024 + 1), deep: "return 1\n",
        "Workspace/" + "n" * 120 + ".lua": "return 1\n"})
    os.symlink("/etc/passwd", os.path.join(place, "Workspace/Link.lua"))
    os.mkfifo(os.path.join(place, "Workspace/Pipe.lua"))
    said = build(program, "small", cwd=folder, code=1)
    for pattern in (r"^small/ReplicatedStorage/Big\.lua: error: has 262145 bytes.* 262144",
                    r"^small/Workspace(/d)+: error: .*deeper than 12",
                    r"^small/Workspace/n+.*: error: .*longer than 127",
                    r"^small/Workspace/Link\.lua: error: is a link",
                    r"^small/Workspace/Pipe\.lua: error: is no plain file"):
        check(re.search(pattern, said.stderr, re.M), f"{pattern} in\n{said.stderr}")
    check("not built: 5 errors" in said.stderr, "and nobody misses Big.lua: " + said.stderr)
    answer = build_json(program, place, code=1)
    check(not answer["ok"] and answer["errors"] == 5, f"{answer}")
    first = answer["diagnostics"][0]
    check((first["file"], first["level"], first["line"]) ==
          ("ReplicatedStorage/Big.lua", "error", 0), f"{first}")


def test_build_names_what_only_looks_like_a_script(program, places, folder):
    strange = ("Workspace/Door.LUA", "Workspace/Door.js", "ReplicatedStorage/a/Door.LUAU",
               "SoulService/Workspace/Gate.Ts", "StarterGui/Bar.lua.txt")
    fine = ("Workspace/notes.txt", "Workspace/types.d.ts", "tools/make.js", "Workspace/picture.png")
    place = small_place(folder, scripts={name: "" for name in strange + fine})
    for _ in range(2):  # an unchanged place is reported too
        answer = build_json(program, place)
        warned = [d["file"] for d in answer["diagnostics"] if d["level"] == "warning"]
        check(sorted(warned) == sorted(strange) and answer["ok"], f"{answer}")
        check(all(".lua, .luau, .ts or .soul" in d["message"] for d in answer["diagnostics"]), f"{answer}")


def test_build_usage(program, places, folder):
    def outcome(*arguments):
        done = subprocess.run([program, "build", *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        return done.returncode, done.stdout + done.stderr
    check(outcome("--help")[0] == 0 and "--rotate-key" in outcome("--help")[1], "help")
    for arguments in ((), ("a", "b"), ("--frce", "a"), ("a", "--verify", "--watch"), ("",)):
        check(outcome(*arguments)[0] == 2, f"{arguments}: {outcome(*arguments)}")
    code, text = outcome(os.path.join(folder, "nowhere"))
    check(code == 1 and "nowhere" in text and "no such folder" in text, text)
    code, text = outcome(os.path.join(folder, "nowhere"), "--verify")
    check(code == 1 and "nowhere: not verified: there is no such folder" in text, text)
    os.mkdir(os.path.join(folder, "empty"))
    code, text = outcome(os.path.join(folder, "empty"), "--allow-weak-jail")
    check(code == 1 and "place.json" in text, text)
    code, text = outcome(os.path.join(folder, "empty"), "--verify")
    check(code == 1 and "not built" in text, text)


def test_build_follows_no_link(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    victim = os.path.join(folder, "victim")
    write(victim, "server/soul/precious", "do not touch")
    os.symlink(victim, os.path.join(place, ".sandlot"))
    said = build(program, place, code=1)
    check("link" in said.stderr, said.stderr)
    os.remove(os.path.join(place, ".sandlot"))
    os.mkdir(os.path.join(place, ".sandlot"))
    for name in ("server", "cache", "data", "aside", "build.lock"):
        link = os.path.join(place, ".sandlot", name)
        if os.path.isdir(link):
            shutil.rmtree(link)
        elif os.path.exists(link):
            os.remove(link)
        os.symlink(os.path.join(victim, "server"), link)
        build(program, place, code=1)
        os.remove(link)
    check(os.listdir(os.path.join(victim, "server")) == ["soul"] and
          os.listdir(os.path.join(victim, "server/soul")) == ["precious"], "the victim is whole")
    build(program, place)
    # Nor into folders of scripts, and this is reported.
    for name, what in (("StarterGui", "link"), ("Workspace/In", "link"), ("prefabs", "link"),
                       ("SoulService", "pipe"), ("StarterPlayer", "file"), ("Notes", "link")):
        path = os.path.join(place, name)
        if what == "link":
            os.symlink(victim, path)
        elif what == "pipe":
            os.mkfifo(path)
        else:
            write(place, name, "a file")
        said = build(program, place, code=0 if name == "Notes" else 1)
        wanted = "is a link; links are not followed" if what == "link" else "is no folder"
        check(name == "Notes" or f"{name}: error: {wanted}" in said.stderr, said.stderr)
        os.remove(path)


def test_build_names_what_is_in_the_way(program, places, folder):
    """The path that is wrong, not one behind it, and what to do."""
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    home, other = os.path.join(place, ".sandlot"), os.path.join(folder, "other")
    os.makedirs(os.path.join(other, "data"))

    def refused(path, *options):
        said = build(program, place, *options, code=1).stderr
        check(f"{path}: is no folder, or a link; remove it" in said, f"{options}: {said}")
    for make in (lambda: os.symlink(other, home), lambda: os.symlink(folder, home),
                 lambda: write(place, ".sandlot", "")):
        make()
        for options in ((), ("--adopt",), ("--verify",), ("--rotate-key",)):
            refused(".sandlot", *options)
        done = subprocess.run([program, "world", "--place", place, "--port", "0"], timeout=60,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        check(done.returncode == 1 and f"{home}: is no folder, or a link; remove it" in done.stderr,
              f"{done}")
        os.remove(home)
    build(program, place)
    for name in ("server", "client", "aside", "data", "cache"):
        path = os.path.join(home, name)
        os.rename(path, path + ".kept")
        os.symlink(path + ".kept", path)
        write(place, "Workspace/A.lua", f"print('{name}')\n")
        refused(f".sandlot/{name}")
        os.remove(path)
        os.rename(path + ".kept", path)
    build(program, place)
    # Files among what was made: all of them, as editors parse it.
    soul = os.path.join(home, "server/soul/Workspace")
    os.rename(os.path.join(soul, "A.rune"), os.path.join(folder, "A.rune"))
    os.symlink(os.path.join(folder, "A.rune"), os.path.join(soul, "A.rune"))
    os.mkfifo(os.path.join(soul, "B.rune"))
    said = build(program, "small", "--verify", cwd=folder, code=1).stderr
    for name, what in (("A", "is a link"), ("B", "is no plain file")):
        check(f"small/.sandlot/server/soul/Workspace/{name}.rune: error: {what}" in said, said)
    check("not verified: 2 problems" in said, said)
    answer = build_json(program, place, "--verify", code=1)
    check([(d["file"], d["level"], d["code"]) for d in answer["diagnostics"]] ==
          [(f".sandlot/server/soul/Workspace/{name}.rune", "error", "verify") for name in "AB"],
          f"{answer}")
    build(program, place, "--force")
    build(program, place, "--verify")


def test_build_trusts_no_foreign_cache(program, places, folder):
    one = small_place(folder, "one", {"Workspace/A.lua": "local a = 1\n"})
    two = small_place(folder, "two", {"Workspace/A.lua": "local a = 1\n"})
    build(program, one)
    os.mkdir(os.path.join(two, ".sandlot"))
    shutil.copytree(os.path.join(one, ".sandlot/cache"), os.path.join(two, ".sandlot/cache"))
    answer = build_json(program, two)
    check(answer["compiled"] == 1, "what another host kept is not signed here")


# --- the same everywhere --------------------------------------------------------------------------

def hashes(answer):
    return {script["path"]: script["rune_hash"] for script in answer["scripts"]}


def test_build_believes_no_key_that_came_along(program, places, folder):
    """A place with everything in it, as somebody packs their folder with tar: their key is not ours."""
    one, two = small_place(folder, "one", {"Workspace/A.lua": "print(1)\n"}), f"{folder}/two"
    build(program, one)
    shutil.copytree(one, two)
    for options in ((), ("--verify",), ("--force",)):
        said = build(program, two, *options, code=1).stderr
        check("made elsewhere" in said and "--adopt" in said, f"{options}: {said}")
    build(program, two, "--adopt")
    build(program, two)
    build(program, two, "--verify")
    build(program, one, "--verify")


MATHS = """export class Tally {
  private readonly seen = new Map<string, number>();
  add(name: string): void { this.seen.set(name, (this.seen.get(name) ?? 0) + 1.5); }
  text(): string { return [...this.seen].map(([k, v]) => `${k.toLowerCase()}=${v}`).join(";"); }
}
"""
TALLY = """import { Tally } from "../ReplicatedStorage/Tally";
const tally = new Tally();
["I", "\u0130", "a", "B", "\u00df"].sort().forEach((name) => tally.add(name));
print(tally.text(), (0.1 + 0.2).toFixed(3));
"""


def mixed(places, folder, name):
    """The island, and TypeScript and a picture in it."""
    place = island(places, folder, name)
    write(place, "ReplicatedStorage/Tally.ts", MATHS)
    write(place, "ServerScriptService/Count.ts", TALLY)
    os.makedirs(os.path.join(place, "assets"), exist_ok=True)
    with open(os.path.join(place, "assets/mark.png"), "wb") as file:
        file.write(png(9, 7))
    return place


def made(place):
    """All that a build made, without what its key signed."""
    files = {}
    for which in ("server", "client"):
        for path, data in side(place, which).items():
            if path == "manifest.json":
                data = {name: value for name, value in json.loads(data).items()
                        if name != "signature"}
            if path != "made.sha256":
                files[which, path] = data
    with open(os.path.join(place, ".sandlot/client/assets.json"), "rb") as file:
        files["assets"] = file.read()
    return files


def age(place, seconds):
    for root, _, names in os.walk(place):
        for path in [root, *(os.path.join(root, name) for name in names)]:
            os.utime(path, (seconds, seconds))


def test_build_same_everywhere(program, places, folder):
    """In two folders, with other times, clocks, zones and languages, by another user."""
    first = mixed(places, folder, "one")
    one = build_json(program, first, env=dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC"))
    with open(EXPECTED, encoding="utf-8") as file:
        expected = json.load(file)["runes"]
    check({path: one_hash for path, one_hash in hashes(one).items() if path in expected} == expected,
          f"not the committed ones: {hashes(one)}")
    said = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    languages = ["C"] + [name for name in said.split() if name.startswith(("tr_", "de_", "hi_"))][:2]
    ahead = clock_ahead(folder, 20 * 365 * DAY_S)  # years
    for number, (language, when) in enumerate(zip(languages, (631152000, 4102444800, 86400))):
        place = mixed(places, folder, f"a place with spaces, ünd 象, {number}")
        age(place, when)  # 1990, 2100, 1970
        environment = dict(os.environ, LANG=language, LC_ALL=language, TZ="Asia/Kolkata", **ahead)
        answer = build_json(program, place, env=environment)
        check(answer["compiled"] == one["compiled"] == 5, f"{answer}")
        check(hashes(one) == hashes(answer) and made(first) == made(place), f"{language}: {answer}")
    if os.getuid() == 0:
        # A tree of its own, for the other user may not look into ours.
        tree, root = os.path.join(folder, "tree"), os.path.dirname(os.path.abspath(places))
        os.makedirs(os.path.join(tree, "build/release"))
        os.makedirs(os.path.join(tree, "server/build"))
        own = os.path.join(tree, "build/release/sandlot")
        shutil.copy(program, own)
        shutil.copytree(os.path.join(root, "server/build/typescript"),
                        os.path.join(tree, "server/build/typescript"))
        os.symlink(os.path.join(root, "node_modules"), os.path.join(tree, "node_modules"))
        third = mixed(places, folder, "three")
        for path in (folder, own):
            os.chmod(path, 0o755)
        for top, _, names in os.walk(third):
            for path in [top, *(os.path.join(top, name) for name in names)]:
                os.chown(path, 65534, 65534)
        done = subprocess.run([own, "build", third, "--json", "--allow-weak-jail"], user=65534,
                              group=65534, extra_groups=[], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=100)
        check(done.returncode == 0, done.stdout + done.stderr)
        check(hashes(one) == hashes(json.loads(done.stdout)), "another user")
        check(made(first) == made(third), "another user")
        check(not done.stderr, done.stderr)


# --- on a terminal --------------------------------------------------------------------------------

def watched(program, place, *options, env=None):
    """A build whose standard error is a terminal: the process, and what to read of the terminal."""
    own, theirs = pty.openpty()
    process = subprocess.Popen([program, "build", place, "--allow-weak-jail", *options], env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                               text=True)
    os.close(theirs)
    return process, own


def read_some(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # it has no writer any more
        return b""


def interrupted(program, *arguments, stage):
    """Ctrl-C on the terminal that a command is on, once it shows this stage: the exit code and all
    that stood on the terminal."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(program, [program, *arguments, "--allow-weak-jail"])
    text = b""
    while stage.encode() not in text:
        more = read_some(terminal)
        check(more, f"no sign of {stage}: {text}")
        text += more
    time.sleep(0.5)  # the compiler is about to start, or has
    os.write(terminal, b"\x03")
    text += b"".join(iter(lambda: read_some(terminal), b""))
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), text.decode()


def on_terminal(program, place, *options):
    process, terminal = watched(program, place, *options)
    text = b"".join(iter(lambda: read_some(terminal), b"")).decode()
    os.close(terminal)
    out = process.communicate(timeout=100)[0]
    return process.returncode, out, text


def test_build_progress_on_a_terminal(program, places, folder):
    """One line that is written over and gone in the end; in a pipe nothing moves."""
    place = many(folder)
    code, out, text = on_terminal(program, place)
    check(code == 0 and "built, version 1" in out, f"{code} {out}")
    shown = text.split("\r\x1b[K")
    check(shown[0] == "" and shown[-1] == "" and "\n" not in text and "\x1b" not in "".join(shown),
          f"not one line: {text!r}")
    lines = [re.fullmatch(r"build: ([a-z]+)(?: (\d+)/(\d+))? (.*)", line) for line in shown[1:-1]]
    check(all(lines), f"{shown}")
    stages = list(dict.fromkeys(line[1] for line in lines))
    check(stages == ["read", "scan", "compile", "scene", "write"], f"{stages}")
    compiled = [(int(line[2]), int(line[3]), line[4]) for line in lines if line[1] == "compile"]
    names = sorted(f"StarterGui/S{i}.lua" for i in range(16))
    check(compiled == [(i, 16, name) for i, name in enumerate(names)], f"{compiled}")
    # What is wrong stands below, on lines of its own.
    write(place, "StarterGui/S7.lua", "local x = = 1\n")
    code, out, text = on_terminal(program, place)
    last = text.rsplit("\r\x1b[K", 1)[1]
    check(code == 1 and re.match(r"\S*/many/StarterGui/S7\.lua:1(:\d+)?: error: .*\r\n", last),
          f"{last!r}")
    code, out, text = on_terminal(program, place, "--json")
    check(code == 1 and json.loads(out)["errors"] == 1 and "\x1b" not in text, f"{text!r}")
    for options in ((), ("--force",)):
        done = build(program, place, *options, code=1)
        check("\r" not in done.stderr and "\x1b" not in done.stdout + done.stderr, done.stderr)


def test_build_progress_of_typescript(program, places, folder):
    """All of it is one question to one process, which says how far it is with each script."""
    names = [f"Workspace/S{i:02}.ts" for i in range(20)]
    place = small_place(folder, scripts={name: "export const x = 1;\n" for name in names})
    code, out, text = on_terminal(program, place)
    check(code == 0, f"{code} {out} {text!r}")
    shown = [re.fullmatch(r"build: typescript (\d+)/20 ?(.*)", line)
             for line in text.split("\r\x1b[K") if line.startswith("build: typescript")]
    check(all(shown), f"{text!r}")
    done = [int(line[1]) for line in shown]
    check(done == sorted(done) and done[0] == 0 and done[-1] == 19 and len(set(done)) >= 10,
          f"{done}")
    check({line[2] for line in shown} - {""} == set(names), f"{text!r}")


def test_build_interrupted_on_a_terminal(program, places, folder):
    """Node is on that terminal too; what is told is what the creator did, by `world` as well. The
    type is one that would be worked on for minutes."""
    place = small_place(folder, scripts={"Workspace/Bomb.ts": (
        'type Two<N extends unknown[]> = N["length"] extends 40 ? 1 :\n'
        "    [Two<[...N, 0]>, Two<[...N, 1]>];\nexport const x: Two<[]> = 1;\n")})
    for arguments, said in ((("build", place), "not built: cancelled"),
                            (("world", place, "--port", "0"), "cannot be built: cancelled")):
        code, text = interrupted(program, *arguments, stage="build: typescript")
        last = text.rsplit("\r\x1b[K", 1)[1]
        check(code == 1 and last == f"sandlot {arguments[0]}: {place}"
              f"{':' if arguments[0] == 'build' else ''} {said}\r\n", f"{code} {text!r}")


# --- killed, at once, and again -------------------------------------------------------------------

def many(folder, count=16):
    return small_place(folder, "many", {
        f"StarterGui/S{i}.lua": f"local x = {i}\nlocal t = {{}}\nfor j = 1, 9 do t[j] = x end\n"
        for i in range(count)})


def after_kill(program, place, env=None):
    check_both(place)
    answer = build_json(program, place, env=env)
    server, client = check_both(place)
    check(answer["ok"] and server["version"] == client["version"] == answer["version"], f"{answer}")
    build(program, place, "--verify")
    check(os.listdir(os.path.join(place, ".sandlot", "aside")) == [], "leftovers are gone")
    check(os.listdir(os.path.join(place, ".sandlot", "cache", "aside")) == [], "there too")
    return answer["version"]


def test_build_asset_names(program, _places, folder):
    """A picture, model or sound that is not there: in a scene or prefab an error with its JSON path, in a script
    a warning with its line; each with the nearest name."""
    scripts = {"ServerScriptService/A.lua": """local part = World.Find("Ground")
part.Texture = "assets/dor.png"
part.Texture = "door"
Sound.Play("crek", {loop = true})
Sound.Play("creak")
Sound.Play("deep/creak.ogg")
Sound.Play("clik")
Sound.Play("click")
part:SetLook({colour = "#112233", texture = "dooor", model = "tree"})
local name = "unknown" .. tostring(part)
Sound.Play(name)
local own = {Texture = "not an entity's"}
own.Texture = "neither"
""", "StarterGui/B.lua": 'UI.Show(UI.List({anchor = "top",\n  UI.Image({image = "dor", alt = "x"}),\n'
                             '  UI.Image({image = "door.png"})}))\nSound.Music("deep/creak")\n'}
    place = small_place(folder, scripts=scripts)
    os.makedirs(os.path.join(place, "assets/deep"))
    for path, data in (("door.png", png(9, 7)), ("deep/creak.ogg", ogg())):
        with open(os.path.join(place, "assets", path), "wb") as file:
            file.write(data)
    said = [(one["file"], one["line"], one["message"].split(": ")[0]) for one in build_json(program, place)["diagnostics"]
            if one["code"] == "asset"]
    check(said == [
        ("ServerScriptService/A.lua", 2, 'there is no asset "assets/dor.png"; did you mean "assets/door.png"?'),
        ("ServerScriptService/A.lua", 4, 'there is no asset "crek"; did you mean "creak"?'),
        ("ServerScriptService/A.lua", 7, 'there is no asset "clik"; did you mean "click"?'),
        ("ServerScriptService/A.lua", 9, 'there is no asset "dooor"; did you mean "door"?'),
        ("ServerScriptService/A.lua", 9, 'there is no asset "tree"'),
        ("StarterGui/B.lua", 2, 'there is no asset "dor"; did you mean "door"?')], said)
    # A file that is there since is found without a change of the script.
    shutil.copy(os.path.join(place, "assets/door.png"), os.path.join(place, "assets/dor.png"))
    said = [one["line"] for one in build_json(program, place)["diagnostics"] if one["code"] == "asset"]
    check(said == [4, 7, 9, 9], said)
    with open(os.path.join(place, "scene.json"), encoding="utf-8") as file:
        scene = json.load(file)
    scene["entities"].append({"id": 99, "name": "Wall", "shape": {"size": [1, 1, 1]}, "texture": "dorr"})
    write(place, "scene.json", json.dumps(scene))
    wrong = [one for one in build_json(program, place, code=1)["diagnostics"] if one["level"] == "error"]
    check(len(wrong) == 1 and wrong[0]["file"] == "scene.json" and
          re.search(r"\$\.entities\[\d+\]\.texture", wrong[0]["message"]) and "did you mean" in wrong[0]["message"], wrong)


def test_build_killed_at_random(program, places, folder):
    place = many(folder)
    build(program, place)
    generator = random.Random(6)

    def change(i):
        for j in generator.sample(range(16), 6):
            write(place, f"StarterGui/S{j}.lua", f"local x = {i}, {j}\nprint(x)\n")
    change(-1)
    begin = time.monotonic()
    version, unfinished = build_json(program, place)["version"], 0
    took = time.monotonic() - begin
    for i in range(30):
        change(i)
        process = subprocess.Popen([program, "build", place, "--allow-weak-jail"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(generator.uniform(0, took))
        process.send_signal(signal.SIGKILL)
        unfinished += process.wait() == -signal.SIGKILL
        now = after_kill(program, place)
        check(now > version, f"version {now} after {version}")
        version = now
    check(unfinished > 0, "not one of 30 was killed while it worked")


def test_build_killed_at_every_stage(program, places, folder):
    """Lua, TypeScript, a soul that a model translates, and a picture."""
    place = many(folder)
    os.mkdir(os.path.join(place, "assets"))
    with ModelServer(*[lua(f"print({i})") for i in range(99)]) as server:
        environment = dict(os.environ, SANDLOT_MODEL_URL=server.url, SANDLOT_MODEL_KEY=KEY,
                           SANDLOT_MODEL="test-model")
        rounds = [(stage, delay)
                  for stage in ("read", "scan", "translate", "typescript", "compile", "scene",
                                "assets", "write")
                  for delay in (0, 0.002, 0.01)]
        for number, (stage, delay) in enumerate(rounds):
            write(place, "StarterGui/S1.lua", f"print('{stage} {delay}')\n")
            if stage == "translate" or number == 0:
                write(place, "Workspace/Door.soul", f"Say {number}.\n")
            if stage == "typescript" or number == 0:
                write(place, "Workspace/Roof.ts", f"print([{number}].map((x) => x + 1));\n")
            if stage == "assets" or number == 0:
                with open(os.path.join(place, "assets/mark.png"), "wb") as file:
                    file.write(png(4 + number, 4))
            process, terminal = watched(program, place, env=environment)
            seen = b""
            while f"build: {stage}".encode() not in seen:
                more = read_some(terminal)
                check(more, f"no sign of stage {stage}: {seen}")
                seen += more
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            os.close(terminal)
            after_kill(program, place, environment)
    check(len(server.seen) >= 4, "the model was asked")


def test_build_two_at_once(program, places, folder):
    place = many(folder)
    for i in range(4):
        write(place, "StarterGui/S0.lua", f"print({i})\n")
        processes = [subprocess.Popen([program, "build", place, "--json", "--allow-weak-jail"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
                     for _ in range(3)]
        answers = [json.loads(process.communicate(timeout=100)[0]) for process in processes]
        check(all(answer["ok"] for answer in answers), f"{answers}")
        check({answer["version"] for answer in answers} == {i + 1}, "one change, one version")
        check(sum(not answer["unchanged"] for answer in answers) == 1, "written once")
        check_both(place)


# --- watching -------------------------------------------------------------------------------------

def test_build_many_scripts_wait_for_the_disk_once(program, places, folder):
    """A thousand files that are synced one by one are a thousand waits."""
    if shutil.which("strace") is None:
        print("strace is not there")
        return
    place = os.path.join(folder, "many")
    shutil.copytree(os.path.join(places, "island"), place, ignore=shutil.ignore_patterns(".sandlot"))
    for i in range(150):
        write(place, f"ReplicatedStorage/Module{i}.lua", f"return {i}\n")
    counts = os.path.join(folder, "counts")
    done = subprocess.run(["strace", "-f", "-o", counts, "-e", "trace=fsync,syncfs", program, "build", place,
                           "--allow-weak-jail"], capture_output=True, text=True, timeout=300,
                          # The leak checker cannot work beside strace.
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    check(done.returncode == 0, done.stdout + done.stderr)
    with open(counts, encoding="utf-8", errors="replace") as file:
        calls = re.findall(r" (fsync|syncfs)\(", file.read())
    check(calls.count("syncfs") == 2, f"once for each side: {calls.count('syncfs')}")
    check(calls.count("fsync") < 60, f"{calls.count('fsync')} for 150 scripts")


def test_build_watch(program, places, folder):
    place = small_place(folder, scripts={"Workspace/A.lua": "local a = 1\n"})
    process = subprocess.Popen(
        [program, "build", place, "--watch", "--json", "--allow-weak-jail"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def next_where(condition):
        for line in process.stdout:
            answer = json.loads(line)
            if condition(answer):
                return answer
        raise Failure("it ended")
    try:
        next_where(lambda answer: answer["ok"] and answer["version"] == 1)
        write(place, "Workspace/A.lua", "local a = 2\nprint(a)\n")
        answer = next_where(lambda answer: answer["ok"] and answer["version"] == 2)
        check(answer["compiled"] == 1, f"{answer}")
        write(place, "Workspace/A.lua", "local a = \n")
        next_where(lambda answer: not answer["ok"] and answer["errors"] == 1)
        # A new folder is seen too, and what an editor does: write aside, rename.
        write(place, "ReplicatedStorage/deep/er/M.lua", MODULE)
        write(place, "Workspace/.A.lua.swp", "local a = 3\n")
        os.rename(os.path.join(place, "Workspace/.A.lua.swp"),
                  os.path.join(place, "Workspace/A.lua"))
        next_where(lambda answer: answer["ok"] and len(answer["scripts"]) == 2)
        os.remove(os.path.join(place, "ReplicatedStorage/deep/er/M.lua"))
        next_where(lambda answer: answer["ok"] and len(answer["scripts"]) == 1)
        process.send_signal(signal.SIGINT)
        check(process.wait(20) == 0, f"exit code {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

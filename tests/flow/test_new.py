"""`sandlot new`: every template in every language builds without a warning and runs, and the obby is
played from the start to the finish."""

import base64
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

from obby_run import Runner, run_course, steer
from support import Player, World, check, run, wait_until

TEMPLATES = ("blank", "obby")
NO_ARGUMENTS = base64.b64encode(b"\x06\x00").decode()  # an empty list, as values travel


def sandlot(program, *arguments, code=0, **options):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=110,
                          stdin=subprocess.DEVNULL, check=False, **options)
    check(done.returncode == code,
          f"sandlot {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def make(program, folder, template, typescript=False):
    place = os.path.join(folder, f"{template}{'-ts' if typescript else ''}")
    options = ["--typescript"] if typescript else []
    said = sandlot(program, "new", place, "--template", template, *options)
    check(("Node 20" in said) == typescript, said)
    return place


def files_of(place):
    found = set()
    for folder, _, names in os.walk(place):
        found |= {os.path.relpath(os.path.join(folder, name), place) for name in names}
    return found


def check_built(program, place):
    """Without a warning; and once more without compiling, so that the scene it wrote is its own."""
    for attempt in range(2):
        text = sandlot(program, "build", place, "--json", "--allow-weak-jail")
        result = json.loads(text[text.index("{"):])
        check(result.get("diagnostics") == [], f"{place} has {result}")
        if attempt == 1:
            check(result["compiled"] == 0, f"{place} was compiled again: {result}")


def test_new_in_lua(program, _places, folder):
    for template in TEMPLATES:
        place = make(program, folder, template)
        files = files_of(place)
        check({"place.json", "scene.json", "README.md", ".gitignore", ".luarc.json",
               ".sandlot/types/sandlot.lua"} <= files, f"{files}")
        check(not any(name.endswith(".ts") and ".sandlot" not in name for name in files),
              f"{files}")
        with open(os.path.join(place, "place.json"), encoding="utf-8") as file:
            about = json.load(file)
        check(about["name"] == template, "the place has the folder's name")
        check(about.get("source", "closed") == "closed", "nobody's sources are open by default")
        with open(os.path.join(place, "README.md"), encoding="utf-8") as file:
            check(file.read().startswith(f"# {template}\n"), "the page has the folder's name")
        with open(os.path.join(place, ".luarc.json"), encoding="utf-8") as file:
            settings = json.load(file)
        check(settings["workspace.library"] == [".sandlot/types"], ".luarc.json")
        check({"?.lua", "SoulService/?.lua"} <= set(settings["runtime.path"]), f"{settings}")
        with open(os.path.join(place, ".sandlot/types/sandlot.lua"), encoding="utf-8") as file:
            check("function World.Spawn(" in file.read(), "the annotations name the API")
        check_built(program, place)


def test_new_in_typescript(program, places, folder):
    root = os.path.dirname(places)
    for template in TEMPLATES:
        place = make(program, folder, template, typescript=True)
        files = files_of(place)
        check("tsconfig.json" in files and ".sandlot/types/sandlot.d.ts" in files, f"{files}")
        check(not any(name.endswith(".lua") and ".sandlot" not in name for name in files),
              f"{files}")
        # What a plain editor would say: TypeScript itself, with the settings that were written.
        compiler = [os.path.join(root, "tools/node"),
                    os.path.join(root, "node_modules/typescript/bin/tsc"), "-p", place]
        done = subprocess.run(compiler, capture_output=True, text=True, timeout=110, check=False)
        check(done.returncode == 0, f"tsc: {done.stdout}{done.stderr}")
        script = next(os.path.join(place, name) for name in sorted(files)
                      if name.endswith(".ts") and ".sandlot" not in name)
        with open(script, encoding="utf-8") as file:
            text = file.read()
        with open(script, "a", encoding="utf-8") as file:
            file.write("\nWorld.Spwn(3);\n")
        done = subprocess.run(compiler, capture_output=True, text=True, timeout=110, check=False)
        check("Property 'Spwn' does not exist" in done.stdout, f"tsc knows the API: {done.stdout}")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        check_built(program, place)


def test_types_come_back(program, places, folder):
    """A place that was cloned has no .sandlot; a build brings the types of this program."""
    place = make(program, folder, "blank", typescript=True)
    types = os.path.join(place, ".sandlot/types")
    whole = files_of(types)
    old = os.path.join(types, "sandlot.d.ts")
    with open(old, encoding="utf-8") as file:
        current = file.read()

    def check_types():
        with open(old, encoding="utf-8") as file:
            check(file.read() == current and files_of(types) == whole, f"{files_of(types)}")
    shutil.rmtree(os.path.join(place, ".sandlot"))
    sandlot(program, "build", place, "--allow-weak-jail")
    check_types()
    with open(old, "w", encoding="utf-8") as file:
        file.write("// of another version")
    sandlot(program, "build", place, "--allow-weak-jail")
    check_types()
    times = os.stat(old)
    sandlot(program, "build", place, "--allow-weak-jail")
    check(os.stat(old).st_mtime_ns == times.st_mtime_ns, "what is right is not written again")
    os.remove(os.path.join(types, "sandlot.lua"))
    world = World(program, place, None)
    world.stop()
    check_types()
    # Who keeps the data elsewhere wants nothing written here.
    shutil.rmtree(os.path.join(place, ".sandlot"))
    world = World(program, place, os.path.join(folder, "data"))
    world.stop()
    check(not os.path.exists(types), "no types are written")


def test_types_for_typescript(program, places, folder):
    """--types writes tsconfig.json where there are scripts in TypeScript, or where it is asked for."""
    place = make(program, folder, "blank")
    settings = os.path.join(place, "tsconfig.json")
    sandlot(program, "new", place, "--types")
    check(not os.path.exists(settings), "no TypeScript here")
    sandlot(program, "new", place, "--types", "--typescript")
    check(os.path.exists(settings), "asked for")
    os.remove(settings)
    with open(os.path.join(place, "ServerScriptService/More.ts"), "w", encoding="utf-8") as file:
        file.write("print(1);\n")
    sandlot(program, "new", place, "--types")
    check(os.path.exists(settings), "there is a .ts")
    root = os.path.dirname(places)
    done = subprocess.run([os.path.join(root, "tools/node"),
                           os.path.join(root, "node_modules/typescript/bin/tsc"), "-p", place],
                          capture_output=True, text=True, timeout=110, check=False)
    check(done.returncode == 0, f"tsc: {done.stdout}{done.stderr}")
    with open(settings, "w", encoding="utf-8") as file:
        file.write("{}")
    sandlot(program, "new", place, "--types", "--typescript")
    with open(settings, encoding="utf-8") as file:
        check(file.read() == "{}", "somebody's own stays")


# Every way to import; what is behind a // is the error that it is, for editor and build alike.
IMPORTING = {
    "ReplicatedStorage/Words.ts": "export const words = 1;\nexport type Word = string;\n"
                                  "export default 3;\n",
    "ReplicatedStorage/Lib/index.ts": "export const library = 1;\n",
    "ReplicatedStorage/Tools.lua": "return {cut = function(n) return n end}\n",
    "ReplicatedStorage/Kit/index.lua": "return {}\n",
    "ReplicatedStorage/Größe 1.2-b.lua": "return {}\n",
    "ReplicatedStorage/Kit/Far.lua": "return {}\n",
    "ReplicatedStorage/Both.ts": "export const both = 1;\n",  # before the folder
    "ReplicatedStorage/Both/index.lua": "return {}\n",
    "Workspace/Tools.lua": "return {}\n",  # the same last name
    "SoulService/ReplicatedStorage/Deep.ts":
        'import { words } from "./Words";\nimport { cut } from "./Tools";\n'
        'import { cut as again } from "../Workspace/Tools";\n'
        "export const deep: number = words + cut(again);\n",
    "SoulService/ReplicatedStorage/DeepTools.lua": "return {}\n",
    "ReplicatedStorage/Kit/Near.ts": 'import kit from "./index";\nimport * as tools from "../Tools";\n'
                                     "export const near: string = kit.a + tools.b;\n",
    "ServerScriptService/All.ts": """
import { words } from "ReplicatedStorage/Words";
import three, { words as w2, type Word } from "../ReplicatedStorage/Words";
import { words as w3 } from "../ReplicatedStorage/Words.ts";
import { words as w4 } from "ReplicatedStorage/Words.js";
import { library } from "ReplicatedStorage/Lib";
import { deep } from "ReplicatedStorage/Deep";
import { deep as d2 } from "../ReplicatedStorage/Deep.ts";
import { cut } from "ReplicatedStorage/Tools";
import * as all from "../ReplicatedStorage/Tools";
import tools from "../ReplicatedStorage/Tools.lua";
import { cut as c2 } from "Workspace/Tools";
import { far } from "../ReplicatedStorage/Kit/Far.js";
import { a } from "ReplicatedStorage/Größe 1.2-b";
import { kit } from "../ReplicatedStorage/Kit";
import { some } from "ReplicatedStorage/DeepTools";
import { near } from "ReplicatedStorage/Kit/Near";
import "ReplicatedStorage/Tools";
export { cut as given } from "ReplicatedStorage/Tools";

const word: Word = near;
const sum: number = words + w2 + w3 + w4 + library + deep + d2 + three;
print(word, sum, cut(1), all.cut(2), tools.cut(3).what, c2, a, kit, some, far);
""",
}
WRONG_IMPORTS = """
import { a } from "ReplicatedStorage/Nowhere"; // TS2307
import { b } from "./Nowhere"; // TS2307
import { c } from "../ReplicatedStorage/Nowhere.ts"; // TS2307
import { d } from "Nowhere"; // TS2307
import { e } from "SoulService/ReplicatedStorage/Deep"; // TS2307
import { f } from "ReplicatedStorage/Gone"; // TS2307
import { g } from "ReplicatedStorage/Nowhere/Tools"; // TS2307
import { h } from "../Nowhere/Tools"; // TS2307
import { i } from "Nowhere/Tools"; // TS2307
import { j } from "SoulService/ReplicatedStorage/DeepTools"; // TS2307
import { k } from "ReplicatedStorage/tools"; // TS2307
import { l } from "../ReplicatedStorage/Tools/index"; // TS2307
import { m } from "../ReplicatedStorage/Kit.lua"; // TS2307
import "ReplicatedStorage/Nowhere"; // TS2882
import { wrods } from "ReplicatedStorage/Words"; // TS2724
import { words } from "ReplicatedStorage/Words";
import { declared } from "ReplicatedStorage/Kit/Near"; // TS2305
import { both } from "ReplicatedStorage/Both";
import { both as both2 } from "../ReplicatedStorage/Both";
const no: string = words; // TS2322
const no2: string = both; // TS2322
const no3: string = both2; // TS2322
print(a, b, c, d, e, f, g, h, i, j, k, l, m, wrods, no, no2, no3, declared, ambient); // TS2304
"""


def write_all(place, files):
    for path, text in files.items():
        path = os.path.join(place, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def said_by_editor(places, place):
    root = os.path.dirname(places)
    done = subprocess.run([os.path.join(root, "tools/node"),
                           os.path.join(root, "node_modules/typescript/bin/tsc"), "-p",
                           os.path.join(place, "tsconfig.json")], cwd=place,
                          capture_output=True, text=True, timeout=110, check=False)
    found = re.findall(r"^(\S.*)\((\d+),(\d+)\): error (TS\d+)", done.stdout, re.MULTILINE)
    check((done.returncode != 0) == (len(found) > 0), f"tsc: {done.stdout}{done.stderr}")
    return {(file, int(line), int(column), code) for file, line, column, code in found}


def said_by_build(program, place, code=0):
    text = sandlot(program, "build", place, "--json", "--allow-weak-jail", code=code)
    result, _ = json.JSONDecoder().raw_decode(text[text.index("{"):])
    return {(one["file"], one["line"], one["column"], one["code"])
            for one in result["diagnostics"] if one["level"] == "error"}


def test_types_of_imports(program, places, folder):
    """A plain editor says of imports what the build says, after the first build of a clone too."""
    place = make(program, folder, "blank", typescript=True)
    wrong = "ServerScriptService/Wrong.ts"
    write_all(place, IMPORTING)
    shutil.rmtree(os.path.join(place, ".sandlot"))
    said = said_by_build(program, place)
    check(said == set(), f"the build: {said}")
    said = said_by_editor(places, place)
    check(said == set(), f"the editor: {said}")
    # What is wrong is wrong in both, with its line; a declaration that no build reads helps neither.
    gone = os.path.join(place, "ReplicatedStorage/Gone.lua")
    write_all(place, {wrong: WRONG_IMPORTS, gone: "return {}\n",
                      "ReplicatedStorage/More.d.ts": "declare const ambient: number;\n"})
    meant = {(i, code) for i, line in enumerate(WRONG_IMPORTS.split("\n"), 1)
             for code in re.findall(r"// (TS\d+)", line)}
    for is_gone in (False, True):
        if is_gone:
            os.remove(gone)
        built = said_by_build(program, place, code=1)
        edited = said_by_editor(places, place)
        check(built == edited, f"build alone: {built - edited}; editor alone: {edited - built}")
        wanted = {one for one in meant if is_gone or one[0] != WRONG_IMPORTS[
            :WRONG_IMPORTS.index("Gone")].count("\n") + 1}
        check({(line, code) for _, line, _, code in built} == wanted, f"{built}")
    # The last one goes as well.
    for path in IMPORTING:
        os.remove(os.path.join(place, path))
    os.remove(os.path.join(place, wrong))
    sandlot(program, "build", place, "--allow-weak-jail")
    with open(os.path.join(place, ".sandlot/types/modules.d.ts"), encoding="utf-8") as file:
        check("declare" not in file.read(), "no module is left")


def test_new_in_a_fresh_repository(program, _places, folder):
    here = os.path.join(folder, "repository")
    os.makedirs(os.path.join(here, ".git/refs"))
    for name in (".gitattributes", "LICENSE", "README.rst"):
        with open(os.path.join(here, name), "w", encoding="utf-8") as file:
            file.write("mine\n")
    # What a template writes itself is not touched, in any case of its letters, and nothing is made.
    for name in (".gitignore", "README.md", "readme.md", "notes.txt"):
        before = files_of(here)
        with open(os.path.join(here, name), "w", encoding="utf-8") as file:
            file.write("mine\n")
        text = sandlot(program, "new", here, code=1)
        check(f"({name} is in it)" in text, text)
        check("move that one away" in text or name == "notes.txt", text)
        os.remove(os.path.join(here, name))
        check(files_of(here) == before, f"{files_of(here) - before} was made")
    sandlot(program, "new", here)
    sandlot(program, "build", here)
    with open(os.path.join(here, "LICENSE"), encoding="utf-8") as file:
        check(file.read() == "mine\n", "somebody's own stays")
    check(os.path.isdir(os.path.join(here, ".git/refs")), "the repository stays")


def test_new_refuses(program, _places, folder):
    place = make(program, folder, "blank")
    text = sandlot(program, "new", place, code=1)
    check("is not empty" in text, text)
    text = sandlot(program, "new", os.path.join(folder, "x"), "--template", "castle", code=2)
    check("no template castle" in text and "blank, obby" in text, text)
    check(not os.path.exists(os.path.join(folder, "x")), "nothing is made")
    sandlot(program, "new", code=2)
    sandlot(program, "new", os.path.join(folder, "no/such/parent"), code=1)
    # Here, in an empty folder; and a name that cannot stand in JSON.
    here = os.path.join(folder, 'a "b"')
    os.mkdir(here)
    sandlot(program, "new", ".", cwd=here)
    with open(os.path.join(here, "place.json"), encoding="utf-8") as file:
        check(json.load(file)["name"] == "My place", "another name")
    # The types alone, into a place that is there.
    os.remove(os.path.join(here, ".sandlot/types/sandlot.lua"))
    sandlot(program, "new", here, "--types")
    check(os.path.exists(os.path.join(here, ".sandlot/types/sandlot.lua")), "types are back")
    # Into one that was unpacked: the settings of editors too, but somebody's own stay.
    settings = os.path.join(here, ".luarc.json")
    os.remove(settings)
    sandlot(program, "new", here, "--types")
    check(os.path.exists(settings), "settings are back")
    with open(settings, "w", encoding="utf-8") as file:
        file.write("{}")
    sandlot(program, "new", here, "--types")
    with open(settings, encoding="utf-8") as file:
        check(file.read() == "{}", "somebody's own settings stay")


def test_new_leaves_no_half(program, _places, folder):
    """The disk ends in the middle: what was made is gone again."""
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
    there = os.path.join(folder, "there")
    os.mkdir(there)
    for place in (os.path.join(folder, "missing"), there):
        for options in ((), ("--typescript", "--template", "obby")):
            text = sandlot(program, "new", place, *options, code=1, preexec_fn=small_files,
                           restore_signals=False)
            check("cannot be written: File too large" in text, text)
            check(os.listdir(folder) == ["there"] and os.listdir(there) == [],
                  f"{os.listdir(folder)} {os.listdir(there)}")
    sandlot(program, "new", there)
    # What is there already is not touched, neither by a new place nor by types that do not fit.
    before = files_of(there)
    sandlot(program, "new", there, code=1)
    sandlot(program, "new", there, "--types", code=1, preexec_fn=small_files,
            restore_signals=False)
    check(files_of(there) == before, f"{files_of(there) ^ before}")


def new_and_signal(program, place, number, entries):
    """Sends the signal when there are so many entries in the place."""
    process = subprocess.Popen([program, "new", place, "--template", "obby"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while process.poll() is None:
        if os.path.isdir(place) and len(os.listdir(place)) >= entries:
            process.send_signal(number)
            break
    text, _ = process.communicate(timeout=100)
    return process.returncode, text


def test_new_interrupted_leaves_no_half(program, _places, folder):
    """Ctrl-C and the like: all of a place, or nothing; of kill -9 what is left is completed."""
    whole = files_of(make(program, folder, "obby"))
    there = os.path.join(folder, "there")
    os.mkdir(there)
    interrupted = 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for place in (os.path.join(folder, "missing"), there):
            for entries in (0, 1, 2, 4, 6, 8):
                code, text = new_and_signal(program, place, number, entries)
                # Before it has begun a signal ends it as any program.
                check((code, "interrupted" in text) in ((0, False), (1, True), (-number, False)),
                      f"{code}: {text}")
                interrupted += code == 1
                left = files_of(place) if os.path.exists(place) else set()
                check(left == (set() if code else whole), f"{code}: {sorted(left)}")
                check(place == there or code == 0 or not os.path.exists(place), "the folder stays")
                shutil.rmtree(place, ignore_errors=True)
                os.makedirs(there, exist_ok=True)
    halves = 0
    for entries in (0, 1, 2, 3, 4, 5, 6, 7, 8):
        place = os.path.join(folder, "killed")
        code, _ = new_and_signal(program, place, signal.SIGKILL, entries)
        is_half = os.path.exists(os.path.join(place, ".sandlot-new"))
        if is_half:
            halves += 1
            sandlot(program, "new", place, "--template", "obby")
        if code == 0 or is_half:
            check(files_of(place) == whole, f"{files_of(place) ^ whole}")
        shutil.rmtree(place, ignore_errors=True)
    print(f"      {interrupted} interrupted in the middle, {halves} halves completed")
    # What somebody has written into the half is theirs.
    os.makedirs(place)
    for name, text in ((".sandlot-new", ""), ("place.json", "{}")):
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    text = sandlot(program, "new", place, "--template", "obby", code=1)
    check("place.json cannot be written: File exists" in text, text)
    check(files_of(place) == {"place.json"}, f"{files_of(place)}")


def test_a_strangers_links_lead_nowhere(program, _places, folder):
    """A place that was cloned may hold links: nothing is written behind them."""
    elsewhere = os.path.join(folder, "elsewhere")
    os.mkdir(elsewhere)
    for link in (".sandlot", ".sandlot/types", ".sandlot/types/@typescript-to-lua",
                 ".sandlot/data", ".sandlot/data/sandlot.db"):
        place = os.path.join(folder, "place")
        sandlot(program, "new", place)
        if link.endswith(".db"):
            sandlot(program, "build", place)  # or the folder would be refused for not being ours
        shutil.rmtree(os.path.join(place, link), ignore_errors=True)
        os.makedirs(os.path.join(place, os.path.dirname(link)), exist_ok=True)
        name = "some.db" if link.endswith(".db") else ""
        os.symlink(os.path.join(elsewhere, name), os.path.join(place, link))
        if link.endswith(".db"):
            text = sandlot(program, "world", "--place", place, "--port", "0", code=1)
            check("is a link" in text, text)
        elif link != ".sandlot/data":
            text = sandlot(program, "new", place, "--types", code=1)
            check("a link is on the way" in text, text)
        if link in (".sandlot", ".sandlot/data"):
            for command in (("build", place), ("world", "--place", place, "--port", "0")):
                text = sandlot(program, *command, code=1)
                check("link" in text, text)
        check(os.listdir(elsewhere) == [], f"{link}: {os.listdir(elsewhere)}")
        shutil.rmtree(place)


def check_quiet(world):
    """No script has failed, or said that something is wrong."""
    bad = [line for line in world.lines if re.search(r" (error|warn) +script", line)]
    check(not bad, "\n".join(bad))


def test_new_blank_greets(program, _places, folder):
    place = make(program, folder, "blank")
    world = World(program, place, os.path.join(folder, "data"))
    try:
        Player(world, "Ada").close()
        world.wait_line(r"ServerScriptService/Hello: Hello, Ada!")
        check_quiet(world)
        world.stop()
    finally:
        world.kill()


def fall_and_come_back(program, folder, typescript):
    """Falls from the start, then from behind the first checkpoint, and into a red brick."""
    place = make(program, folder, "obby", typescript)
    world = World(program, place, os.path.join(folder, "data"))
    try:
        player = Runner(world)
        begin = wait_until(lambda: player.hear() and player.position(), "it is somewhere")
        check(begin[2] < 0, f"it begins at the start: {begin}")
        # Walks up the stairs and off the ledge.
        check(player.play(lambda p: {"move_z": 127}, lambda p: p[2] > 12 and p[1] > 2.3, 20),
              f"the stairs were not climbed: {player.position()}")
        check(player.play(lambda p: {"move_z": 127}, lambda p: p[1] < -3, 20), "it did not fall")
        check(player.play(lambda p: {}, lambda p: p[2] < 0 and p[1] > -0.1, 20),
              f"it is not back at the start: {player.position()}")
        # To the first checkpoint and into the brick behind it.
        def straight(position):
            return {**steer(player)(position), **({"move_x": 40} if position[2] > 35 else {})}
        check(player.play(straight, lambda p: "Checkpoint 1!" in player.said, 30),
              f"no checkpoint: {player.position()}")
        def left(position):
            return {"move_z": 127, "move_x": int((position[0] + 1) * 120) if position[2] > 33 else 0}
        check(player.play(left, lambda p: p[2] > 38, 20), f"no bridge: {player.position()}")
        check(player.play(left, lambda p: abs(p[2] - 32) < 0.7 and p[1] > 2.3, 20),
              f"the brick did not send it back to the checkpoint: {player.position()}")
        check_quiet(world)
        world.stop()
    finally:
        world.kill()


def test_new_obby_falls(program, _places, folder):
    fall_and_come_back(program, folder, False)


def test_new_obby_falls_in_typescript(program, _places, folder):
    fall_and_come_back(program, folder, True)


def ask_board(player):
    """The bytes that a client's script gets from Network.Invoke("Board")."""
    player.say("remote", "fire", {"name": "Board", "invokeId": 1, "payload": NO_ARGUMENTS,
                                  "generation": player.welcome["manifestVersion"]})
    def answered():
        message = player.hear()
        rows = message.get("payload", {}).get("features", {}).get("script", {}).get("remote", [])
        return next((row for row in rows if row.get("name") == "answer"), None)
    return base64.b64decode(wait_until(answered, "the board")["payload"])


def test_new_obby_finish(program, _places, folder):
    """From the start to the finish; the time is kept when the world ends."""
    place = make(program, folder, "obby")
    data = os.path.join(folder, "data")
    world = World(program, place, data)
    try:
        runner = Runner(world, "Ada")
        run_course(runner)
        check(runner.said[:2] == ["Checkpoint 1!", "Checkpoint 2!"], f"{runner.said}")
        check(runner.play(lambda p: {}, lambda p: p[2] < 5, 20), "not back at the start")
        check_quiet(world)
        world.stop()
        world = World(program, place, data)
        board = ask_board(Player(world, "Bo"))
        check(b"Ada" in board, f"the time was not kept: {board}")
        world.stop()
    finally:
        world.kill()


def test_new_obby_scripts_on_clients(program, _places, folder):
    """What players' machines run: native players with scripts, verified and locked in."""
    for typescript in (False, True):
        place = make(program, folder, "obby", typescript)
        world = World(program, place, os.path.join(folder, f"data{typescript}"))
        try:
            text = sandlot(program, "bots", "--server", f"http://127.0.0.1:{world.port}", "-n", "2",
                           "--seconds", "3", "--scripts", "--best-effort", "--allow-weak-jail")
            check(re.search(r"^ *scripted +2$", text, re.MULTILINE) and
                  re.search(r"^ *script_faults +0$", text, re.MULTILINE), text)
            check_quiet(world)
            world.stop()
        finally:
            world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

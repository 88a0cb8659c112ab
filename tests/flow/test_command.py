"""The command line for a new user: help, typing errors, and messages about files that do not exist."""

import contextlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import zipfile

from package_corpus import png
from support import check, run


def sandlot(program, *arguments, code=0, cwd=None):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=110,
                          stdin=subprocess.DEVNULL, check=False, cwd=cwd)
    check(done.returncode == code,
          f"sandlot {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def test_help_and_version(program, _places, folder):
    for command in ("new", "build", "pack", "unpack", "inspect", "world", "bots", "replay", "script",
                    "soul"):
        check(sandlot(program, "help", command) == sandlot(program, command, "--help"), command)
    check("  new " in sandlot(program, "help") == sandlot(program, "--help"), "all of them")
    check(sandlot(program, "--version") == sandlot(program, "version"), "--version")
    check('no command "biuld"; did you mean "build"?' in sandlot(program, "biuld", code=2), "biuld")
    check('did you mean "unpack"?' in sandlot(program, "help", "unpak", code=2), "help unpak")
    check("did you mean" not in sandlot(program, "frobnicate", code=2), "nothing is near")
    text = sandlot(program, "new", folder + "/a", "--template", "obbi", code=2)
    check("no template obbi; did you mean obby?" in text, text)
    for command, given, meant in (
            ("world", "--prot", "--port"), ("world", "--port=7", "--port"), ("new", "--templat", "--template"),
            ("replay", "--plase", "--place"), ("build", "--wach", "--watch"), ("soul", "--jsn", "--json"),
            ("inspect", "--thumbnial", "--thumbnail"), ("unpack", "--alow-weak-jail", "--allow-weak-jail"),
            ("bots", "--secnods", "--seconds"), ("script", "--tiks", "--ticks")):
        first = {"soul": ["list"], "script": ["run"]}.get(command, [])
        text = sandlot(program, command, *first, given, "5", code=2).splitlines()[0]
        check("unknown option" in text and f"did you mean {meant}?" in text, f"{command}: {text}")
    text = sandlot(program, "world", "--frobnicate", "5", code=2).splitlines()[0]
    check("unknown option --frobnicate" in text and "did you mean" not in text, text)
    text = sandlot(program, "world", "--port", "many", code=2).splitlines()[0]
    check("the value of --port is missing or invalid" in text, text)
    text = sandlot(program, "build", "no such", "--allow-weak-jail", code=1, cwd=folder)
    check("no such: not built: there is no such folder; `sandlot new` makes a place" in text, text)
    for command in ("pack", "unpack", "inspect"):  # options stand together, prose below them
        before = sandlot(program, command, "--help").split("--allow-weak-jail")[0]
        check("\n\n" not in before.split("\n\n", 1)[1], f"{command}: {before}")


def test_next_commands_can_be_copied(program, _places, folder):
    name = "Ada's $HOME game"
    for line in sandlot(program, "new", name, cwd=folder).splitlines():
        if "sandlot " in line:
            words = shlex.split(line[line.index("sandlot "):])
            check(words[-1] == name, line)
    sandlot(program, "pack", name, "-o", "it.game", "--allow-weak-jail", cwd=folder)
    text = sandlot(program, "unpack", "it.game", "my copy", "--allow-weak-jail", cwd=folder)
    for command in ("sandlot build 'my copy'", "sandlot world --place 'my copy'",
                    "sandlot new 'my copy' --types"):
        check(command in text, text)


def test_two_dashes_end_the_options(program, _places, folder):
    text = sandlot(program, "new", "--", "-dash", cwd=folder)
    words = [shlex.split(line[line.index("sandlot "):])[-1] for line in text.splitlines() if "sandlot " in line]
    check(words == ["./-dash"] * 3, text)
    weak = "--allow-weak-jail"
    check("-dash: built" in sandlot(program, "build", weak, "--", "-dash", cwd=folder), "build")
    check("-dash: verified" in sandlot(program, "build", "--verify", "--", "-dash", cwd=folder), "verify")
    sandlot(program, "soul", "list", weak, "--", "-dash", cwd=folder)
    sandlot(program, "pack", "-o", "-x.game", weak, "--", "-dash", cwd=folder)
    sandlot(program, "inspect", weak, "--", "-x.game", cwd=folder)
    # The folder's name comes from the file's, and what is advised works.
    check("sandlot build ./-x\n" in sandlot(program, "unpack", weak, "--", "-x.game", cwd=folder), "unpack")
    sandlot(program, "unpack", weak, "--", "-x.game", "--json", cwd=folder)
    check(os.path.isdir(os.path.join(folder, "--json")), "behind it nothing is an option")
    write(os.path.join(folder, "-s.lua"), "print('ran')\n")
    check("ran" in sandlot(program, "script", "run", weak, "--", "-s.lua", cwd=folder), "script")
    check("-none: there is no such folder" in sandlot(program, "world", "--port", "0", "--", "-none",
                                                      code=1, cwd=folder), "world")
    check("unknown option" in sandlot(program, "build", "-dash", "--", code=2, cwd=folder), "before it they are")
    check("name the place" in sandlot(program, "build", "--", code=2, cwd=folder), "nothing behind it")
    check("--json" in sandlot(program, "build", "--", "a", "--json", code=2, cwd=folder), "two places")


def test_names_that_speak_to_terminals(program, _places, folder):
    """A folder's name is any bytes. It is shown cleaned, and advice holds in a form that works."""
    for name in (b"\x1b[31mred", b"two\nlines", b"\xffbad", "flip\u202eped".encode(), b"it's \\ \x07"):
        def say(*arguments, code=0):
            done = subprocess.run([program.encode(), *arguments], capture_output=True, timeout=110,
                                  stdin=subprocess.DEVNULL, check=False, cwd=folder)
            out = done.stdout + done.stderr
            check(done.returncode == code, f"{arguments}: {done.returncode} {out}")
            check(all(char in "\n" or char.isprintable() for char in out.decode()), f"{arguments}: {out}")
            return out.decode()
        text = say(b"new", name)
        advice = [line[line.index("sandlot "):] for line in text.splitlines() if "sandlot " in line]
        check(len(advice) == 3, text)
        for line in advice:
            done = subprocess.run(["bash", "-c", "sandlot() { printf '%s\\0' \"$@\"; }; " + line],
                                  capture_output=True, check=True)
            check(done.stdout.split(b"\0")[-2] == name, f"{line}: {done.stdout}")
        weak = b"--allow-weak-jail"
        check(len(say(b"build", name, weak).splitlines()) == 1, "built")
        check(len(say(b"build", name, b"--verify").splitlines()) == 1, "verified")
        check(len(say(b"soul", b"list", name, weak).splitlines()) == 1, "souls")
        check(len(say(b"new", name, b"--types").splitlines()) == 1, "types")
        say(b"pack", name, weak, b"-o", name + b".game")
        say(b"inspect", name + b".game", weak)
        say(b"unpack", name + b".game", name + b"2", weak)
        for command in (b"new", b"world", b"replay", b"build"):
            say(command, b"--" + name, code=2)


def test_build_warns_of_what_pack_refuses(program, _places, folder):
    weak = "--allow-weak-jail"
    sandlot(program, "new", "game", cwd=folder)
    here = sum(not any(part.startswith(".") for part in os.path.relpath(at, folder).split("/")) and
               sum(not name.startswith(".") for name in names)
               for at, _, names in os.walk(os.path.join(folder, "game")))
    for number in range(here, 4000):
        write(os.path.join(folder, f"game/assets/{number}.txt"), "x")
    check("warning" not in sandlot(program, "build", "game", weak, cwd=folder), "4000 are allowed")
    write(os.path.join(folder, "game/assets/more.txt"), "x")
    text = sandlot(program, "build", "game", weak, cwd=folder)
    check("`sandlot pack` will refuse the place: it has more than 4000 files" in text, text)
    check("more than 4000 files" in sandlot(program, "pack", "game", weak, code=1, cwd=folder), "pack")
    shutil.rmtree(os.path.join(folder, "game/assets"))
    write(os.path.join(folder, "game/notes.txt"), "")
    os.truncate(os.path.join(folder, "game/notes.txt"), 257 << 20)
    text = sandlot(program, "build", "game", weak, cwd=folder)
    check("`sandlot pack` will refuse the place: it is larger than 256 MiB" in text, text)


def test_limits_are_said(program, _places, folder):
    sandlot(program, "new", "game", cwd=folder)
    for number in range(1025):
        write(os.path.join(folder, f"game/prefabs/p{number:04}.json"), '{"format": 1, "kind": "part"}')
    text = sandlot(program, "build", "game", "--allow-weak-jail", code=1, cwd=folder)
    check("p1024.json: error: is one prefab too many: a place has at most 1024" in text, text)


def test_texts_of_packages(program, _places, folder):
    sandlot(program, "new", "game", cwd=folder)
    text = sandlot(program, "inspect", "game", "--allow-weak-jail", cwd=folder)
    check("; 1 script, " in text, text)
    # A message about the whole place begins with the package's name.
    with zipfile.ZipFile(os.path.join(folder, "it.zip"), "w") as package:
        for name in ("place.json", "scene.json"):
            package.write(os.path.join(folder, "game", name), name)
        for number in range(40):
            package.writestr(f".hidden{number}", "")
    for command in ("inspect", "unpack"):
        lines = sandlot(program, command, "it.zip", "--allow-weak-jail", cwd=folder).splitlines()
        check(any(line.startswith("it.zip: warning: ") for line in lines) and
              not any(line.startswith(":") for line in lines), f"{lines}")


def test_world_takes_the_folder(program, _places, folder):
    text = sandlot(program, "world", folder + "/nosuch", "--port", "0", code=1)
    check("nosuch: there is no such folder" in text, text)
    check("one place at a time" in sandlot(program, "world", "a", "b", code=2), "two")
    check("one place at a time" in sandlot(program, "world", "--place", "a", "b", code=2), "two")
    check("no place given" in sandlot(program, "world", "--port", "0", code=2), "none")


def test_no_place_stays_as_it_was(program, _places, folder):
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    text = sandlot(program, "build", empty, "--allow-weak-jail", code=1)
    check("empty/place.json: error: " in text and "sandlot new" in text, text)
    check("no place.json" in sandlot(program, "world", empty, "--port", "0", code=1), "world")
    check(os.listdir(empty) == [], f"{os.listdir(empty)}")
    sandlot(program, "new", empty)


def test_names_are_said_once(program, _places, folder):
    for command, why in (("build", "no such folder"), ("pack", "No such file")):
        text = sandlot(program, command, "nosuch", "--allow-weak-jail", code=1, cwd=folder)
        check(text.count("nosuch") == 1 and why in text, text)
    text = sandlot(program, "build", code=2)
    check("?;" not in text and "folder" in text, text)


def test_pack_says_which_file(program, _places, folder):
    sandlot(program, "new", "game", cwd=folder)
    text = sandlot(program, "inspect", "game", "--allow-weak-jail", cwd=folder)
    check(text.startswith("game: folder, game\n"), text)
    answer = json.loads(sandlot(program, "inspect", "game", "--json", "--allow-weak-jail", cwd=folder))
    check(answer["format"] == "folder", answer["format"])
    # What an editor keeps of a file is not read by a build, and not packed.
    for name in ("ServerScriptService/Game.lua~", "ServerScriptService/#Game.lua#", "scene.json~"):
        write(os.path.join(folder, "game", name), "old")
    sandlot(program, "build", "game", "--allow-weak-jail", cwd=folder)
    sandlot(program, "pack", "game", "-o", "it.game", "--allow-weak-jail", cwd=folder)
    text = sandlot(program, "inspect", "it.game", "--allow-weak-jail", cwd=folder)
    check("it.game: zip" in text and "~" not in text and "#" not in text, text)
    # What cannot be packed is named as editors follow it.
    write(os.path.join(folder, "game/assets/run.exe"), "MZ")
    text = sandlot(program, "pack", "game", "--allow-weak-jail", code=1, cwd=folder)
    check(text.startswith("game/assets/run.exe: error: ") and "[" in text.split("\n")[0] and
          text.endswith("sandlot pack: game: not packed: 1 error\n"), text)


def test_build_says_each_thing_once(program, _places, folder):
    """A line of what came out on standard output; what is wrong, on standard error, above the reason."""
    sandlot(program, "new", "game", "--template", "obby", cwd=folder)

    def change(path, text):
        return lambda: write(os.path.join(folder, "game", path), text)

    def remove(path):
        return lambda: os.remove(os.path.join(folder, "game", path))
    rune = ".sandlot/server/soul/Workspace/KillBrick.rune"
    warning = "game/StarterGui/W.lua:1: warning: Wrold is defined nowhere"
    for number, (before, options, out, *errors) in enumerate((
            (None, ["--verify"], None, "sandlot build: game: not verified: game/.sandlot/data/ticket.key: "),
            (None, [], "game: built, version 1: 6 scripts compiled"),
            (None, [], "game: up to date, version 1: 6 scripts, nothing compiled"),
            (change("StarterGui/N.lua", "print(1)"), [], "game: built, version 2: 7 scripts, 1 compiled"),
            (change("StarterGui/N.lua", "print(1)  "), [], "game: unchanged, version 2: 7 scripts, 1 compiled"),
            (None, ["--force"], "game: unchanged, version 2: 7 scripts compiled"),
            (remove("StarterGui/N.lua"), [], "game: built, version 3: 6 scripts, nothing compiled"),
            (change("assets/a.png", png()), [],
             "game: built, version 3: 6 scripts, 1 asset checked"),
            (change("assets/b.png", png()), [],
             "game: built, version 3: 6 scripts, 2 assets, nothing compiled"),  # the same bytes
            (None, ["--verify"], "game: verified, version 3"),
            (change(rune, "x"), ["--verify"], None, f"game/{rune}: error: ",
             "sandlot build: game: not verified: 1 problem"),
            (None, [], "game: built, version 3: 6 scripts, 2 assets, nothing compiled"),
            (change("StarterGui/W.lua", "print(Wrold)"), [],
             "game: built, version 4: 7 scripts, 1 compiled, 2 assets; 1 warning", warning),
            (None, [], "game: up to date, version 4: 7 scripts, 2 assets, nothing compiled; 1 warning", warning),
            (change("ServerScriptService/E.lua", "print("), [], None, "game/ServerScriptService/E.lua:1: error: ", warning,
             "sandlot build: game: not built: 1 error"))):
        if before is not None:
            before()
        done = subprocess.run([program, "build", "game", "--allow-weak-jail", *options], cwd=folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=110, check=False)
        said = re.sub(r" \(\d+ ms\)\n$", "", done.stdout).rstrip("\n")
        check(done.returncode == (0 if out else 1) and said == (out or ""), f"{number}: {done}")
        # A build that takes a second shows its progress, which a busy machine makes of any build.
        lines = [line for line in done.stderr.splitlines() if not line.startswith("build: ")]
        check(len(lines) == len(errors) and all(line.startswith(error) for line, error in zip(lines, errors)),
              f"{number}: {done.stderr}")
        check(out is None or "--verify" in options or done.stdout.endswith(" ms)\n"), done.stdout)
    os.remove(os.path.join(folder, "game/ServerScriptService/E.lua"))
    os.remove(os.path.join(folder, "game/StarterGui/W.lua"))
    sandlot(program, "new", "empty", cwd=folder)
    shutil.rmtree(os.path.join(folder, "empty/ServerScriptService"))
    check("built, version 1: no scripts (" in sandlot(program, "build", "empty", WEAK, cwd=folder), "none")
    # How to end a watch is printed once, whatever is built meanwhile.
    with subprocess.Popen([program, "build", "game", "--watch", "--allow-weak-jail"], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for i in range(3):
            line = process.stdout.readline()
            check(line.startswith("game: built, version "), line)
            if i < 2:
                write(os.path.join(folder, "game/StarterGui/N.lua"), f"print({i})")
        process.send_signal(signal.SIGINT)
        lines = [line for line in process.stderr.read().splitlines() if not line.startswith("build: ")]
        check(lines == ["sandlot build: waiting for changes; press Ctrl-C to stop"] and
              process.wait(30) == 0, f"said once, and ended as asked: {lines}")


def as_json(program, folder, code, *arguments, **options):
    """Standard output of a command with --json: one object on one line, whatever happens."""
    done = subprocess.run([program, *arguments], capture_output=True, timeout=110, check=False,
                          stdin=subprocess.DEVNULL, cwd=folder, **options)
    check(done.returncode == code, f"{arguments} ended with {done.returncode}: {done.stderr}")
    lines = done.stdout.decode().splitlines()
    check(len(lines) == 1, f"{arguments}: {lines} {done.stderr}")
    answer = json.loads(lines[0])
    check(answer["ok"] is (code == 0), f"{arguments}: {answer}")
    check(code == 0 or answer["reason"] != "", f"{arguments}: {answer}")
    return answer


def test_json_in_all_outcomes(program, _places, folder):
    sandlot(program, "new", "game", cwd=folder)
    write(os.path.join(folder, "game/Workspace/Wind.soul"), "Blow.\n")
    weak = "--allow-weak-jail"
    for code, *arguments in (
            (2, "build", "--json"), (2, "build", "game", "--bogus", "--json"),
            (2, "build", "a", "b", "--json"), (2, "build", "game", "--json", "--verify", "--watch"),
            (1, "build", "nosuch", "--json"), (1, "build", "nosuch", "--json", "--watch"),
            (1, "build", "nosuch", "--json", "--adopt"), (1, "build", "game", "--verify", "--json"),
            (2, "pack", "--json"), (2, "pack", "game", "--json", "-o"),
            (2, "pack", "game", "--bogus", "--json"), (1, "pack", "nosuch", "--json", weak),
            (1, "pack", "game", "--json", weak, "-o", "no/such/folder.game"),
            (0, "pack", "game", "--json", weak, "-o", "it.game"),
            (0, "pack", "game", "--json", weak, "-o", b"\xff.game"),
            (2, "inspect", "--json"), (1, "inspect", "nosuch", "--json", weak),
            (1, "inspect", "game/place.json", "--json", weak), (0, "inspect", "it.game", "--json", weak),
            (1, "inspect", "game", "--json", "--thumbnail", "t.png", weak),
            (2, "soul", "--json"), (2, "soul", "lisst", "--json"), (2, "soul", "list", "--json"),
            (2, "soul", "accept", "game", "--json"), (1, "soul", "list", "nosuch", "--json", weak),
            (1, "soul", "accept", "nosuch", "--json", "--yes", weak),
            (1, "soul", "accept", "game", "Workspace/Nobody", "--json", "--yes", weak),
            (0, "soul", "list", "game", "--json", weak),
            (0, "soul", "accept", "game", "--json", "--yes", weak)):
        as_json(program, folder, code, *arguments)
    answer = as_json(program, folder, 1, "soul", "accept", "game", "Workspace/Wind", "--json", "--yes",
                     weak)
    check("no Lua yet" in answer["reason"] and answer["souls"] == [], f"{answer}")
    write(os.path.join(folder, "game/assets/run.exe"), "MZ")
    answer = as_json(program, folder, 1, "pack", "game", "--json", weak)
    check("assets/run.exe: " in answer["reason"], f"{answer}")
    for name in ("assets/run.exe", "Workspace/Wind.soul"):
        os.remove(os.path.join(folder, "game", name))
    # What a build has signed has a version, and verifying prints it.
    built = as_json(program, folder, 0, "build", "game", "--json", weak)
    answer = as_json(program, folder, 0, "build", "game", "--verify", "--json")
    check(answer["version"] == built["version"] == 1, f"{answer}")
    write(os.path.join(folder, "game/.sandlot/data/ticket.key"), "junk")
    answer = as_json(program, folder, 1, "build", "game", "--rotate-key", "--json", weak)
    check("ticket.key: is no signing key" in answer["reason"], f"{answer}")


# Every command that has --json: what is before the place, what behind it, and its options that take
# a value. For bots the place is a server, and nothing answers there.
JSON_COMMANDS = (
    (("build",), (), ()),
    (("build",), ("--watch",), ()),
    (("build",), ("--verify",), ()),
    (("build",), ("--force", "--rotate-key"), ()),
    (("pack",), (), ("-o",)),
    (("inspect",), (), ("--thumbnail",)),
    (("soul", "list"), (), ()),
    (("soul", "accept"), ("--yes",), ()),
    (("script", "run"), (), ("--ticks", "--time-ms", "--memory-mb", "--context", "--entity")),
    (("bots", "--server"), ("--ramp", "1"), ("-n", "--seconds", "--behaviour", "--world", "--seed",
                                             "--truth", "--frames", "--ramp", "--ledger", "--check")),
)
# test_tools.py, test_publish.py, test_creator.py, test_spells.py, test_downloads.py
ASK_A_SERVER = {"login", "worlds", "logs", "top", "user", "invite", "publish", "place", "reports", "moderate", "spell", "drain",
                "export-cdn"}
NOBODY = 65534
WEAK = "--allow-weak-jail"  # all of them have it


def test_json_commands_are_all_there(program, _places, _folder):
    """So that the next one is added to the table."""
    names = [line.split()[0] for line in sandlot(program, "help").splitlines() if line.startswith("  ")]
    known = {before[0] for before, _, _ in JSON_COMMANDS} | ASK_A_SERVER
    found = {name for name in names if name != "help" and "--json" in sandlot(program, "help", name)}
    check(found == known, f"{found} {known}")


def test_json_of_wrong_usage(program, _places, folder):
    for before, after, valued in JSON_COMMANDS:
        for wrong in ((*before, "--json"), (*before, "it", *after, "--bogus", "--json"),
                      (*before, "it", "--json", *after, "-x")):
            as_json(program, folder, 2, *wrong)
        for option in valued:
            for rest in ((option, "--json"), ("--json", option)):
                answer = as_json(program, folder, 2, *before, "it", *after, *rest)
                check(option in answer["reason"], f"{before} {rest}: {answer}")
    for before in (("soul",), ("script",), ("soul", "lisst"), ("script", "rum")):
        as_json(program, folder, 2, *before, "--json")
    check(os.listdir(folder) == [], f"nothing is made, not even a file called --json: {os.listdir(folder)}")


def test_json_of_places_that_are_none(program, _places, folder):
    """Not there, of the other kind, a link to itself, closed to us; and named by bytes that are no text."""
    os.chmod(folder, 0o755)
    sandlot(program, "new", "game", cwd=folder)
    write(os.path.join(folder, "file"), "print(1)\n")
    os.symlink("loop", os.path.join(folder, "loop"))
    for name in ("game", "file"):
        path = os.path.join(folder, "shut-" + name)
        (os.rename if name == "game" else shutil.copy)(os.path.join(folder, name), path)
        os.chmod(path, 0)
    os.mkdir(os.path.join(folder, "empty"))
    options, own = {}, program
    if os.getuid() == 0:  # whom nothing is closed to
        own = shutil.copy(program, os.path.join(folder, "sandlot"))
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for before, after, _ in JSON_COMMANDS:
        is_script, is_bots = before[0] == "script", before[0] == "bots"
        cases = ["nosuch", "loop", "empty" if is_script else "file", b"no\xffsuch"]
        cases += ["shut-file"] if is_script or before[0] == "inspect" else []
        cases += [] if is_script else ["shut-game"]
        for place in ["ftp://127.0.0.1", "http://127.0.0.1:1"] if is_bots else cases:
            answer = as_json(own, folder, 1, *before, place, *after, WEAK, "--json", **options)
            named = place.replace(b"\xff", b"?").decode() if isinstance(place, bytes) else place
            check(is_bots or "--verify" in after or named in answer["reason"], f"{before} {place}: {answer}")
    os.chmod(os.path.join(folder, "shut-game"), 0o755)  # so that it can be removed


def test_json_with_nobody_to_read_it(program, _places, folder):
    """What could not be printed is no success, and lands in no file that happens to be open."""
    sandlot(program, "new", "game", cwd=folder)
    write(os.path.join(folder, "it.lua"), "print(1)\n")
    for before, after, _ in JSON_COMMANDS:
        place = {"script": "it.lua", "bots": "http://127.0.0.1:1"}.get(before[0], "game")
        for form in ((), ("--json",)):
            command = (program, *before, place, *after, WEAK, *form)
            done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], cwd=folder, timeout=110,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if before[0] != "bots" or form:  # whose failure is not on standard output, but for --json
                check(done.returncode == 1 and "standard output" in done.stderr, f"{command}: {done}")
    for command in ("help", "version", "--version", "--help"):
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", program, command], timeout=110,
                              stderr=subprocess.PIPE, text=True, check=False)
        check(done.returncode == 1 and "standard output" in done.stderr, f"{command}: {done}")
    sandlot(program, "build", "game", "--verify", cwd=folder)


def test_json_of_scripts_that_say_anything(program, _places, folder):
    write(os.path.join(folder, "it.lua"), 'print("a\\xff\\27[31m\\n\\u{202e}")\nerror("\\xfe b")\n')
    answer = as_json(program, folder, 3, "script", "run", "it.lua", "--ticks", "2", "--json")
    check(answer["log"][0]["text"] == "it.lua: a?\x1b[31m\n\u202e", f"{answer['log']}")
    check("? b" in answer["faults"][0]["message"] == answer["reason"], f"{answer}")
    # More than is kept, of which every byte is escaped: whole all the same.
    write(os.path.join(folder, "it.lua"), 'local a = ("\\1"):rep(200)\n'
          "function onUpdate()\n for i = 1, 20 do print(a) end\nend\n")
    answer = as_json(program, folder, 0, "script", "run", "it.lua", "--ticks", "31000", "--json")
    check(len(answer["log"]) == 10000 and answer["logDropped"] > 0,
          f"{len(answer['log'])} {answer['logDropped']}")


@contextlib.contextmanager
def ended_after(process, seconds):
    """Whoever waits for a line that does not come is freed, and so is whoever failed."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        process.kill()


def test_a_watch_does_not_wake_itself(program, _places, folder):
    """A build writes codeHash into the scene: that is no save, and one save is one build."""
    sandlot(program, "new", "game", cwd=folder)
    script = os.path.join(folder, "game/Workspace/Spin.lua")
    write(script, "print(0)\n")
    write(os.path.join(folder, "game/scene.json"), json.dumps({"format": 1, "entities": [
        {"id": 1, "name": "Start", "type": "spawn"},
        {"id": 2, "name": "Wheel", "shape": {"size": [1, 1, 1]},
         "scriptRef": {"path": "Workspace/Spin.lua"}}]}))
    with subprocess.Popen([program, "build", "game", "--watch", "--json", "--allow-weak-jail"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=folder,
                          stderr=subprocess.DEVNULL) as process, ended_after(process, 90):
        def scene():
            with open(os.path.join(folder, "game/scene.json"), encoding="utf-8") as file:
                return file.read()
        seen = set()
        for number in range(1, 6):
            answer = json.loads(process.stdout.readline())
            check(answer["ok"] and answer["version"] == number and not answer["unchanged"],
                  f"{number}: {answer}")
            check("codeHash" in scene() and scene() not in seen, scene())
            seen.add(scene())
            # At once, as the watch is already on; or when it would have built again by itself.
            check(number % 2 == 0 or select.select([process.stdout], [], [], 0.6)[0] == [],
                  "it woke itself")
            write(script, f"print({number})\n")
        check(json.loads(process.stdout.readline())["version"] == 6, "the last one")
        # What another program writes into the scene, in whatever way, is a change.
        for name in (".sandlot-1-0123456789abcdef", ".scene.json.swp", "scene.json"):
            path = os.path.join(folder, "game", name)
            write(path, scene() + "\n")
            os.rename(path, os.path.join(folder, "game/scene.json"))
            answer = json.loads(process.stdout.readline())
            check(answer["ok"] and answer["version"] == 6, f"{name}: {answer}")
        process.send_signal(signal.SIGINT)
        check(process.stdout.read() == "" and process.wait(30) == 0, "nothing more was built")


def test_json_at_the_end_of_a_watch(program, _places, folder):
    sandlot(program, "new", "game", cwd=folder)
    with subprocess.Popen([program, "build", "game", "--watch", "--json", "--allow-weak-jail"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=folder,
                          stderr=subprocess.DEVNULL) as process:
        check(json.loads(process.stdout.readline())["ok"], "built")
        os.rename(os.path.join(folder, "game"), os.path.join(folder, "away"))
        rest = [json.loads(line) for line in process.stdout]
        check(process.wait(30) == 1, f"{process.returncode}")
        check(rest and not rest[-1]["ok"] and "game" in rest[-1]["reason"], f"{rest}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

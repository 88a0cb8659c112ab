"""Names and messages from strangers on a terminal: no text of a place, a package or a script can send
control characters to the terminal that shows it."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

from bots import Bots
from support import World, check, run

TITLE = "\x1b]0;gotcha\x07"  # sets a terminal's title
C1 = "\x9b31m"  # the same as ESC [ 3 1 m, in one character


def sandlot(program, *arguments, **options):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=110,
                          stdin=subprocess.DEVNULL, check=False, **options)
    return done.returncode, done.stdout + done.stderr


def check_quiet(text, about):
    loud = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
    check(loud is None, f"{about} speaks to the terminal: {text!r}")


def new_place(program, folder):
    place = os.path.join(folder, "place")
    code, text = sandlot(program, "new", place)
    check(code == 0, text)
    return place


def test_terminal_names_in_a_place(program, _places, folder):
    place = new_place(program, folder)
    os.makedirs(os.path.join(place, "Workspace"), exist_ok=True)
    os.symlink("/etc/passwd", os.path.join(place, f"Workspace/{TITLE}\u202ex{C1}.lua"))
    for command in (("pack", place), ("inspect", place),
                    ("soul", "list", place), ("build", place), ("new", place),
                    ("world", "--place", place, "--port", "0", "--allow-weak-jail")):
        code, text = sandlot(program, *command, cwd=folder)
        check(code == 1 and "gotcha" in text or command[0] == "new", f"{command}: {code} {text!r}")
        check_quiet(text, command)
    # A folder that holds only that is not empty; the file is named.
    os.mkdir(os.path.join(folder, "other"))
    open(os.path.join(folder, "other", f"{TITLE}{C1}"), "wb").close()
    code, text = sandlot(program, "new", os.path.join(folder, "other"))
    check(code == 1, text)
    check_quiet(text, "new")


def test_terminal_names_of_packages(program, _places, folder):
    place = new_place(program, folder)
    package = os.path.join(folder, "good.game")
    code, text = sandlot(program, "pack", place, "-o", package)
    check(code == 0, text)
    loud = os.path.join(folder, f"{TITLE}{C1}.game")
    shutil.copy(package, loud)
    for command in (("inspect", loud), ("unpack", loud)):
        code, text = sandlot(program, *command, cwd=folder)
        check(code == 0 and "gotcha" in text, f"{command}: {code} {text!r}")
        check_quiet(text, command)


SCRIPT = f"""function onStart()
    print("said \\27]0;gotcha\\7 \\u{{9b}}31m \\u{{202e}}")
    error("\\27]0;gotcha\\7 \\u{{9b}}31m")
end
"""


def test_terminal_words_of_scripts(program, _places, folder):
    place = new_place(program, folder)
    for service in ("ReplicatedFirst", "ServerScriptService"):
        path = os.path.join(place, service, "Loud.lua")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
    code, text = sandlot(program, "script", "run", path)
    check("gotcha" in text, f"{code} {text!r}")
    check_quiet(text, "script run")
    world = World(program, place, os.path.join(folder, "data"))
    try:
        world.wait_line("gotcha", 20)
        bots = Bots(program, world.port, 1, 2, "walk", "--scripts", "--allow-weak-jail")
        _, err = bots.process.communicate(timeout=90)
        check("gotcha" in err, f"no fault: {err!r}")
        check_quiet(err, "bots")
        check_quiet("".join(world.lines), "the world's log")
    finally:
        world.kill()


def test_terminal_progress_fits(program, _places, folder):
    """One line is rewritten all the time: wider than the terminal it would leave pieces behind."""
    place = new_place(program, folder)
    path = os.path.join(place, "StarterGui", "ä" * 20, "a" + "日" * 20 + ".lua")
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write("local a = 1\n")
    for columns, shown in ((40, 40), (0, 80), (200, 200), (1, 1)):
        own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([program, "build", place, "--force", "--allow-weak-jail"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=theirs) as process:
            os.close(theirs)
            said = b""
            try:
                while piece := os.read(own, 65536):
                    said += piece
            except OSError:
                pass  # the other end is closed
            os.close(own)
        check(process.returncode == 0, f"{process.returncode}: {said!r}")
        lines = said.decode().split("\r\x1b[K")  # decode: no character is cut in two
        widths = [sum(2 if letter > "ᄀ" else 1 for letter in line) for line in lines]
        check(max(widths) < shown, f"{columns} columns: {lines}")
        check(max(widths) >= min(shown, 80) - 3, f"{columns} columns, and cut shorter: {lines}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Follows docs/FIRST_PLACE.md step by step. It runs the commands of the `sh` blocks in one new folder. The
`text` block after a command is the expected output, in that order, where … matches anything. A `lua` block
is written into the file that the text before it names. Ctrl-C is pressed where the page says so, and the
link is opened. There are three differences: another port, because 7777 may be in use; --allow-weak-jail,
for machines that lack a layer of the jail; and a page of one line if the web page was not built."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from obby_run import Runner
from support import Failure, check, run, wait_until

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "7777"


def read_page(path):
    """(prose, language, text) in order; the last has no block."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    at, steps = 0, []
    for block in BLOCK.finditer(page):
        steps.append((page[at:block.start()], block[1], block[2]))
        at = block.end()
    return steps + [(page[at:], "", "")]


def line_pattern(line):
    return ".*".join(re.escape(part) for part in line.split("…")).replace(PORT, r"(\d+)")


class Reader:
    """Does what the page says."""

    def __init__(self, program, folder, web):
        self.folder, self.world, self.port = folder, None, None
        self.output, self.from_line = [], 0
        self.sandlot_calls, self.written = [], []
        # `sandlot`, as the page calls it: with what only a test needs.
        tools = os.path.join(folder, ".tools")
        os.mkdir(tools)
        page = ""
        if not os.path.exists(os.path.join(web, "index.html")):
            page = f"--web {tools}"
            with open(os.path.join(tools, "index.html"), "w", encoding="ascii") as file:
                file.write("<title>Sandlot</title>")
        with open(os.path.join(tools, "sandlot"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncase $1 in\n"
                       f"world) set -- \"$@\" --port 0 --allow-weak-jail {page} ;;\n"
                       "build|pack|unpack|inspect) set -- \"$@\" --allow-weak-jail ;;\nesac\n"
                       f"exec {program} \"$@\"\n")
        os.chmod(os.path.join(tools, "sandlot"), 0o755)
        self.environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"]}

    def start(self, command):
        return subprocess.Popen(["sh", "-c", "exec " + command], cwd=self.folder,
                                env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, commands):
        self.from_line = len(self.output)
        for command in commands.strip().splitlines():
            check(self.world is None, f"the world still runs when the page says: {command}")
            self.sandlot_calls.append(command.split()[1])
            process = self.start(command)
            if command.startswith("sandlot world"):
                self.world = process
                threading.Thread(target=self.listen, args=(process,), daemon=True).start()
            else:
                self.output += process.communicate(timeout=110)[0].splitlines()

    def listen(self, process):
        for line in process.stdout:
            self.output.append(line.rstrip("\n"))

    def expect(self, text):
        for wanted in text.strip().splitlines():
            pattern = re.compile("^" + line_pattern(wanted) + "$")
            def look():
                for index in range(self.from_line, len(self.output)):
                    found = pattern.match(self.output[index])
                    if found:
                        self.from_line = index + 1
                        return found
                return None
            try:
                found = wait_until(look, wanted, 30.0 if self.world else 0.1)
            except Failure:
                raise Failure(f"the page promises\n  {wanted}\nbut there was\n  " +
                              "\n  ".join(self.output)) from None
            if PORT in wanted:
                self.port = int(found[1])
                self.open(found[0].split()[1])

    def open(self, link):
        with urllib.request.urlopen(link, timeout=10) as answer:
            check(b" \xc2\xb7 Sandlot</title>" in answer.read(), f"{link} is not the page")

    def write(self, prose, text):
        names = re.findall(r"`([\w./-]+\.lua)`", prose)
        check(names, "the page does not say where to write the script")
        path = os.path.join(self.folder, names[-1])
        check(os.path.exists(path), f"there is no {names[-1]} to change")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.written.append(names[-1])

    def interrupt(self):
        self.world.send_signal(signal.SIGINT)
        check(self.world.wait(10) == 0, "\n".join(self.output))
        self.world = None

    def room(self):
        """A world, as players want it."""
        found = next(re.search(r"/api/rooms/(\w+)/ws", line) for line in reversed(self.output)
                     if "/api/rooms/" in line)
        return type("Room", (), {"port": self.port, "room": found[1]})


def play_together(reader):
    """Two people; one walks off the edge, both read it, and it is back at the start."""
    ada, bo = Runner(reader.room(), "Ada"), Runner(reader.room(), "Bo")
    wait_until(lambda: ada.hear() and ada.position(), "Ada is somewhere")
    check(ada.play(lambda p: {"move_z": -127}, lambda p: "Ouch, Ada!" in ada.said, 30),
          f"no Ouch: {ada.position()}")
    end = time.monotonic() + 10
    while "Ouch, Ada!" not in bo.said and time.monotonic() < end:
        bo.hear()
    check("Ouch, Ada!" in bo.said, "Bo reads it too")
    check(ada.play(lambda p: {}, lambda p: p[1] > -0.1 and abs(p[2]) < 5, 20), "back at the start")


def test_first_place(program, places, folder):
    root = os.path.dirname(places)
    reader = Reader(program, folder, os.path.join(root, "build/web"))
    page = os.path.join(root, "docs/FIRST_PLACE.md")
    previous = ""
    try:
        for prose, language, text in read_page(page):
            if "Ouch, …!" in prose and reader.world:
                play_together(reader)
            if "Ctrl-C" in prose and reader.world:
                reader.interrupt()
            if language == "sh":
                reader.run(text)
            elif language == "text":
                check(previous == "sh", "expected output without a command")
                reader.expect(text)
            elif language == "lua":
                reader.write(prose, text)
            previous = language
        # The page has all that it is for; a test of an empty page would pass too.
        check(reader.sandlot_calls == ["new", "world", "build", "build", "world", "pack", "inspect"],
              f"{reader.sandlot_calls}")
        check(len(reader.written) == 2, f"{reader.written}")
    finally:
        if reader.world:
            reader.world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

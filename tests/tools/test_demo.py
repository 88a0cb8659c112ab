"""Tests the demo: in a terminal, into a file, with invalid arguments.

    test_demo.py PROGRAM

It uses a pseudo-terminal. Whatever ends the demo, the terminal's settings, the cursor and the contents
of the screen must be restored.
"""

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zlib
from pathlib import Path

PROGRAM = ""
SCREEN_BACK = b"\x1b[?25h\x1b[?1049l"
PATIENCE_S = 60


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=10 * PATIENCE_S)


def last_hash(text):
    return text.strip().splitlines()[-1].rpartition("hash ")[2]


def read_png(path):
    """Width, height and the rows; every checksum on the way is checked."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        body = data[at + 4:at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert crc == zlib.crc32(body), body[:4]
        chunks.append((body[:4], body[4:]))
        at += 12 + length
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[0][1])
    assert kind == [8, 2, 0, 0, 0]
    rows = zlib.decompress(chunks[1][1])
    assert len(rows) == height * (1 + 3 * width)
    return width, height, rows


class Terminal:
    """The demo in a pseudo-terminal of 80 x 16 cells."""

    def __init__(self, case, *arguments):
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, (16, 80))
        self.before = termios.tcgetattr(self.theirs)
        environment = {**os.environ, "COLORTERM": "truecolor"}
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=self.theirs, stdout=self.theirs,
                                        stderr=self.theirs, env=environment, start_new_session=True)
        self.output = b""
        case.addCleanup(self.process.kill) # harmless when it has ended

    def read(self, seconds):
        ready, _, _ = select.select([self.ours], [], [], seconds)
        if ready:
            self.output += os.read(self.ours, 65536)

    def wait_for(self, text):
        end = time.monotonic() + PATIENCE_S
        while text not in self.output:
            assert time.monotonic() < end, f"{text!r} did not come"
            self.read(1)

    def end(self):
        """The exit code, after all output was read."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, "it does not end"
            self.read(0.1)
        after = termios.tcgetattr(self.theirs)
        # What was written last may take the kernel a moment to pass on, and it is lost if nobody
        # holds the other side then.
        end = time.monotonic() + 10
        while SCREEN_BACK not in self.output and time.monotonic() < end:
            self.read(0.1)
        os.close(self.theirs)
        try: # the rest, until there is nobody on the other side
            while time.monotonic() < end:
                self.read(1)
        except OSError:
            pass
        os.close(self.ours)
        assert after == self.before, "the terminal's settings are not restored"
        assert SCREEN_BACK in self.output, "the screen is not restored"
        return self.process.returncode


class DemoTest(unittest.TestCase):
    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            done = run("--seconds", "2", "--width", "48", "--height", "27", "--png", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"wrote {path}", done.stdout)
            self.assertIn("tick   120", done.stdout)
            width, height, rows = read_png(path)
            self.assertEqual((width, height), (48, 27))
            self.assertGreater(len(set(rows)), 50) # something is to be seen
            self.assertEqual(os.listdir(folder), ["picture.png"])

    def test_numbered_files(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--seconds", "3", "--every", "1", "--width", "9", "--height", "5", "--png",
                       f"{folder}/a%d.png")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["a0000.png", "a0001.png", "a0002.png"])

    def test_terminal_and_file_agree(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--seconds", "1", "--width", "4", "--height", "4", "--png", f"{folder}/a.png")
        terminal = Terminal(self, "--seconds", "1")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(last_hash(terminal.output.decode()), last_hash(done.stdout))

    def test_keys_end_it(self):
        for key in (b"q", b"\x03"):
            terminal = Terminal(self, "--seconds", "0")
            terminal.wait_for(b"q quits")
            os.write(terminal.ours, key)
            if key == b"\x03": # no controlling terminal here, so nobody makes a signal of it
                terminal.process.send_signal(signal.SIGINT)
            self.assertEqual(terminal.end(), 0)

    def test_signals_end_it(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT):
            terminal = Terminal(self, "--seconds", "0")
            terminal.wait_for(b"q quits")
            terminal.process.send_signal(number)
            self.assertEqual(terminal.end(), -number)

    def test_wrong_arguments(self):
        for arguments, message in ((["--sconds", "3"], "no such option"),
                                   (["--seconds", "three"], "takes a number"),
                                   (["--seconds"], "takes a number"),
                                   (["--width", "0"], "takes a number"),
                                   (["--png"], "takes a file name"),
                                   (["extra"], "no such option"),
                                   (["--seconds", "0"], "needs a terminal")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, done.stderr)

    def test_no_such_folder(self):
        done = run("--seconds", "1", "--width", "4", "--height", "4", "--png", "/nowhere/a.png")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/a.png: No such file or directory", done.stderr)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("usage: sim_demo"))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()

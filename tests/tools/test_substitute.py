"""Tests that a substitution which does not match exactly once fails (tools/substitute)."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = "int a = 1;\nint b = 2;\n    int b = 2;\nint c = 3;\nint c = 3;\nlast\n"
HEAD = "name: n\nfile: x.c\nwhy: to try\n"


def substitute(text, files=("x.c",)):
    """The exit code, what was written to x.c (None if nothing), and the error text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "x.c").write_text(SOURCE)
        (folder / "list").write_text(text)
        result = subprocess.run([ROOT / "tools/substitute", folder / "list", folder, folder / "out",
                                 *files], capture_output=True, text=True)
        out = folder / "out/x.c"
        return result.returncode, out.read_text() if out.exists() else None, result.stderr


class SubstituteTest(unittest.TestCase):
    def fits(self, text, expected):
        self.assertEqual(substitute(text), (0, expected, ""))

    def fails(self, text, message):
        code, written, error = substitute(text)
        self.assertEqual((code, written), (1, None))
        self.assertIn(message, error)

    def test_fits(self):
        self.fits("# nothing\n", SOURCE)
        self.fits(HEAD + "-int a = 1;\n+int a = 9;\n+more\n", SOURCE.replace("a = 1;", "a = 9;\nmore"))
        self.fits(HEAD + "-int a = 1;\n-int b = 2;\n+both\n",
                  SOURCE.replace("int a = 1;\nint b = 2;\n", "both\n", 1))
        self.fits(HEAD + "-last\n", SOURCE.replace("last\n", ""))
        self.fits(HEAD + "-int b = 2;\n+B\n", SOURCE.replace("int b = 2;\n", "B\n", 1))
        # The second is applied to what the first left.
        self.fits(HEAD + "-last\n+middle\n\n" + HEAD + "-middle\n+end\n",
                  SOURCE.replace("last", "end"))

    def test_does_not_fit(self):
        self.fails(HEAD + "-int z;\n+x\n", "occurs 0 times in x.c")
        self.fails(HEAD + "-int c = 3;\n+x\n", "occurs 2 times in x.c")
        self.fails(HEAD + "-int a = 1\n+x\n", "occurs 0 times in x.c")
        self.fails(HEAD.replace("x.c", "y.c") + "-a\n+b\n", "y.c is not among the files copied")

    def test_cannot_be_read(self):
        self.fails(HEAD + "+x\n", "no old text")
        self.fails(HEAD + "-last\n+last\n", "changes nothing")
        self.fails("name: n\nfile: x.c\n-last\n", "no `why:` line")
        self.fails(HEAD + "old: last\n", "cannot read `old: last`")
        self.fails("-last\n", "cannot read")
        self.fails(HEAD + "-last\n+x\nwhy: again\n", "cannot read")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()

"""Tests that tools/check-warnings finds the files that clang warns of or cannot read."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent.parent.parent / "tools" / "check-warnings"


class WarningsTest(unittest.TestCase):
    def run_tool(self, sources):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            entries = []
            for source, text in sources.items():
                (folder / source).write_text(text)
                entries.append({"directory": name, "file": str(folder / source),
                                "command": f"clang-14 -Wall -Wextra -Werror -o {source}.o -c {source}"})
            (folder / "compile_commands.json").write_text(json.dumps(entries))
            done = subprocess.run([TOOL, folder], capture_output=True, text=True)
            self.assertFalse(list(folder.glob("*.o")), "it only reads")
            return done.returncode, done.stdout

    def test_what_was_compiled_is_not_read_again(self):
        bad = "static int unused;\n"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            for source in ("compiled.c", "other.c"):
                (folder / source).write_text(bad)
            compile_one = f"clang-14 -Wall -Werror -o {{0}}.o -c {folder}/{{0}}"
            (folder / "compile_commands.json").write_text(json.dumps(
                [{"directory": name, "file": f"{folder}/{source}",
                  "command": compile_one.format(source)} for source in ("compiled.c", "other.c")]))
            (folder / "build.ninja").write_text(
                f"rule compile\n command = {compile_one.format('$in')}\n"
                "build compiled.o: compile compiled.c\nbuild tests: phony compiled.o\n"
                .replace(f"{folder}/$in", f"{folder}/compiled.c"))
            done = subprocess.run([TOOL, folder, "tests"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("other.c:", done.stdout)
            self.assertNotIn("compiled.c:", done.stdout)
            self.assertIn("1 files, 1 findings", done.stdout)

    def test_clean(self):
        self.assertEqual(self.run_tool({"fine.c": "int f(void);\n", "too.c": "int g(void);\n"}),
                         (0, "tools/check-warnings: 2 files, 0 findings\n"))

    def test_findings(self):
        # The second is found only by following what a variable holds, which clang does as it reads.
        for text, said in (("static int unused;\n", "unused variable"),
                           ("int f(int a)\n{\n    int b;\n    return a ? 1 : b;\n}\n", "uninitialized"),
                           ('#include "gone.h"\n', "gone.h")):
            code, out = self.run_tool({"fine.c": "int f(void);\n", "bad.c": text})
            self.assertEqual(code, 1)
            self.assertIn("bad.c:", out)
            self.assertIn(said, out)
            self.assertIn("2 files, 1 findings", out)

    def test_no_file_hides_what_is_in_another(self):
        # All are read by one process, in this order.
        quiet = '#pragma clang diagnostic ignored "-Wunused-variable"\nstatic int unused;\n'
        bad = "static int unused;\n"
        code, out = self.run_tool({"quiet.c": quiet, "bad.c": bad, "other.c": '#define bad(\n', "too.c": bad})
        self.assertEqual(code, 1)
        for name in ("bad.c:", "other.c:", "too.c:"):
            self.assertIn(name, out)
        self.assertNotIn("quiet.c:", out)
        self.assertIn("4 files, 3 findings", out)
        self.assertEqual(self.run_tool({"quiet.c": quiet, "bad.c": bad})[0], 1)


if __name__ == "__main__":
    unittest.main()

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


if __name__ == "__main__":
    unittest.main()

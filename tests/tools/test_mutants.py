"""Tests that tools/mutants distinguishes bugs that are detected from bugs that are not.

A copy of the tool runs in a small tree. Its `scenarios` tests one function and never calls another;
its `net_scenarios` tests that other one.
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

TREE = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES C)
add_subdirectory(tests/scenario)
""",
    "cmake/none.cmake": "",
    "core/numbers.h": "#define BASE 1\nint seen(void);\nint unseen(void);\n",
    "core/numbers.c": '#include "core/numbers.h"\n'
        "int seen(void)\n{\n    return 1;\n}\nint unseen(void)\n{\n    return 1 + BASE;\n}\n",
    "tests/scenario/CMakeLists.txt":
        "add_library(numbers STATIC ${PROJECT_SOURCE_DIR}/core/numbers.c)\n"
        "target_include_directories(numbers PUBLIC ${PROJECT_SOURCE_DIR})\n"
        "add_executable(scenarios main.c)\n"
        "target_link_libraries(scenarios numbers)\n"
        "add_subdirectory(net)\n",
    "tests/scenario/net/CMakeLists.txt":
        "add_executable(net_scenarios main.c)\ntarget_link_libraries(net_scenarios numbers)\n",
    "tests/scenario/net/main.c":
        '#include "../../../core/numbers.h"\n#include <stdio.h>\n#include <string.h>\n'
        'int main(int argc, char **argv)\n{\n    if (argc < 3 || strcmp(argv[1], "--seeds") != 0) {\n'
        '        return 2;\n    }\n    puts(unseen() == 2 ? "fine" : "FAILED walk seed 1: it is off");\n'
        '    return unseen() != 2;\n}\n',
    "tests/scenario/main.c":
        '#include "../../core/numbers.h"\nint main(void)\n{\n    return seen() != 1;\n}\n',
}


def mutant(name, old, new):
    return {f"tests/mutants/{name}.mutant":
            f"name: {name}\nfile: core/numbers.c\nwhy: to try\n-{old}\n+{new}\n"}


NOTICED = mutant("noticed", "    return 1;", "    return 3;")
DIES = mutant("dies", "    return 1;", "    __builtin_trap();")
UNNOTICED = mutant("unnoticed", "    return 1 + BASE;", "    return 3;")
NET_NOTICED = mutant("net_noticed", "    return 1 + BASE;", "    return 3;")
NET_UNNOTICED = mutant("net_unnoticed", "    return 1;", "    return 3;")
MISFIT = mutant("misfit", "    return 7;", "    return 3;")
SYNTAX = mutant("syntax", "    return 1 + BASE;", "    return (;")
HEADER = {"tests/mutants/net_header.mutant":
          "name: net_header\nfile: core/numbers.h\nwhy: to try\n-#define BASE 1\n+#define BASE 2\n"}


class MutantsTest(unittest.TestCase):
    def run_tool(self, files, *arguments):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for path, text in {**TREE, **files}.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
            (folder / "tools").mkdir()
            for tool in ("mutants", "substitution.py"):
                shutil.copy(ROOT / "tools" / tool, folder / "tools")
            subprocess.run(["cmake", "-S", folder, "-B", folder / "build/release", "-G", "Ninja"],
                           check=True, capture_output=True)
            result = subprocess.run([folder / "tools/mutants", *arguments],
                                    capture_output=True, text=True)
            for path, text in {**TREE, **files}.items():
                self.assertEqual((folder / path).read_text(), text, "the sources stay as they were")
            return result.returncode, result.stdout, result.stderr

    def test_killed(self):
        code, out, error = self.run_tool({**NOTICED, **DIES})
        self.assertEqual((code, error), (0, ""))
        self.assertIn("killed    noticed: to try", out)
        self.assertIn("killed    dies: to try", out)
        self.assertTrue(out.endswith("2 passed, 0 failed\n"))

    def test_survivors_and_misfits_fail(self):
        code, out, _ = self.run_tool({**NOTICED, **UNNOTICED, **MISFIT, **SYNTAX})
        self.assertEqual(code, 1)
        self.assertIn("killed    noticed", out)
        self.assertIn("survived  unnoticed", out)
        self.assertIn("broken    misfit", out)
        self.assertIn("occurs 0 times", out)
        self.assertIn("broken    syntax", out)
        self.assertTrue(out.endswith("1 passed, 3 failed\n"))

    def test_files_named_net_are_tried_on_the_other_program(self):
        code, out, error = self.run_tool({**NOTICED, **NET_NOTICED})
        self.assertEqual((code, error), (0, ""))
        self.assertIn("killed    noticed: to try", out)
        self.assertIn("killed    net_noticed: to try", out)
        self.assertIn("FAILED walk seed 1: it is off", out)
        code, out, error = self.run_tool({**HEADER})
        self.assertEqual((code, error), (0, ""), out)
        self.assertIn("killed    net_header: to try", out)
        code, out, _ = self.run_tool({**NET_UNNOTICED})
        self.assertEqual(code, 1)
        self.assertIn("survived  net_unnoticed", out)

    def test_choice(self):
        code, out, _ = self.run_tool({**NOTICED, **UNNOTICED}, "noticed")
        self.assertEqual((code, "unnoticed" in out), (0, False))
        self.assertEqual(self.run_tool({**NOTICED}, "gone")[0], 1)
        self.assertEqual(self.run_tool({})[0], 1)

    def test_a_choice_includes_those_that_do_not_match(self):
        code, out, _ = self.run_tool({**DIES, **MISFIT, **NOTICED}, "--pick", "1")
        self.assertEqual((code, "noticed" in out), (1, False), out)
        self.assertIn("broken    misfit", out)
        self.assertTrue(out.endswith("1 passed, 1 failed\n"))

    def test_scenarios_must_pass_unchanged(self):
        broken = {"core/numbers.c": TREE["core/numbers.c"].replace("return 1", "return 9")}
        wrong = mutant("any", "    return 9;", "    return 3;")
        code, _, error = self.run_tool({**broken, **wrong})
        self.assertEqual(code, 1)
        self.assertIn("the scenarios fail without any mutant", error)
        # Unless another test sees that: then they are not run unchanged.
        self.assertEqual(self.run_tool({**broken, **wrong}, "--seen", "net")[0], 1)
        code, out, error = self.run_tool({**broken, **wrong}, "--seen", "sim")
        self.assertEqual((code, error), (0, ""))
        self.assertIn("killed    any", out)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()

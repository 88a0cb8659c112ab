"""Tests that tools/check finds each kind of violation, and nothing in a clean tree.

Every case adds files with one violation, or none, to a clean tree, and compares the output with the
expected one. Some violating texts are assembled from pieces, because tools/check would otherwise
find them in this file.
"""

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
LOADER = importlib.machinery.SourceFileLoader("check", str(ROOT / "tools/check"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", LOADER))
LOADER.exec_module(check)

CLEAN = {
    ".clang-format": (ROOT / ".clang-format").read_text(),
    "core/base/CMakeLists.txt": "sandlot_library(base SOURCES a.c heap.c check.c)\n",
    "core/base/a.h": "// A.\n#pragma once\n\nint a(void);\n",
    "core/base/a.c": '// A.\n#include "core/base/a.h"\n\nint a(void)\n{\n    return 0;\n}\n',
    "core/base/heap.c": "// Gate.\nvoid *heap(void)\n{\n    return malloc(1);\n}\n",
    "core/base/check.c": "// Gate.\nvoid check(void)\n{\n    abort();\n}\n",
    "core/sim/CMakeLists.txt": "sandlot_library(sim SOURCES s.c EDGES base)\n",
    "core/sim/s.h": "// S.\n#pragma once\n",
    "core/client/s.h": "// S.\n#pragma once\n",
    "core/sim/s.c": '// S.\n#include "s.h"\n\n#include "core/base/a.h"\n\n#include <stdint.h>\n',
    "server/net/n.h": "// N.\n#pragma once\n",
    "README.md": "# Read me\n\nSee [the guide](docs/guide.md#second-part) and [core](core/base).\n",
    "docs/guide.md": "# Guide\n\n## Second part!\n\n[up](../README.md) [web](https://example.org/x)\n",
    "Makefile": "test:\n\techo\n",
}


def in_core(body):
    """core/sim/s.c with one statement, on line 4."""
    return {"core/sim/s.c": f"// S.\nvoid s(void)\n{{\n    {body}\n}}\n"}


def in_world(body):
    """core/world/w.c with one statement, on line 4, and one error code."""
    return {"core/wire/error.def": 'ERROR_CODE(WORLD_FULL, "world_full", ALWAYS, "x", "y")\n',
            "core/world/w.c": f"// W.\nvoid w(void)\n{{\n    {body}\n}}\n",
            "core/world/CMakeLists.txt": "sandlot_library(world SOURCES w.c)\n"}


def in_build(name, include, body):
    """A file of server/build with one statement, on line 4 without an include."""
    return {f"server/build/{name}": f"// B.\n{include}void b(void)\n{{\n    {body}\n}}\n",
            "server/build/CMakeLists.txt": f"sandlot_library(b SOURCES {name})\n"}


# name: (files laid over the clean tree, the findings expected)
CASES = {
    "clean": ({}, []),
    # includes
    "edge up": ({"core/base/a.h": '// A.\n#include "core/sim/s.h"\n'},
                ["core/base/a.h:2: core/base may not include core/sim"]),
    "edge up, relative": ({"core/base/a.h": '// A.\n#include "../sim/s.h"\n'},
                          ["core/base/a.h:2: core/base may not include core/sim"]),
    "edge sideways": ({"core/world/w.h": '// W.\n#include "core/client/s.h"\n'},
                      ["core/world/w.h:2: core/world may not include core/client"]),
    "server from core": ({"core/base/a.h": '// A.\n#include "server/net/n.h"\n'},
                         ["core/base/a.h:2: core/base may not include server/net"]),
    "server upward": ({"server/sys/y.h": '// Y.\n#include "server/net/n.h"\n'},
                      ["server/sys/y.h:2: server/sys may not include server/net"]),
    "server may see core": ({"server/sys/y.h": '// Y.\n#include "core/sim/s.h"\n'}, []),
    "missing header": ({"core/base/a.h": '// A.\n#include "core/base/gone.h"\n'},
                       ['core/base/a.h:2: "core/base/gone.h" is not in the repository']),
    "world room upward": (
        {"core/world/session/s.h": '// S.\n#include "core/world/save/v.h"\n',
         "core/world/save/v.h": "// V.\n#pragma once\n"},
        ["core/world/session/s.h:2: core/world/session may not include core/world/save"]),
    "world room to the top": (
        {"core/world/act/a.h": '// A.\n#include "core/world/w.h"\n',
         "core/world/w.h": "// W.\n#pragma once\n"},
        ["core/world/act/a.h:2: core/world/act may not include core/world"]),
    "world room downward": (
        {"core/world/act/a.h": '// A.\n#include "core/world/save/v.h"\n',
         "core/world/save/v.h": "// V.\n#pragma once\n"}, []),
    "edge of a world room in CMake": (
        {"core/world/session/CMakeLists.txt": "sandlot_library(world_session EDGES world_save)\n",
         "core/world/save/CMakeLists.txt": "sandlot_library(world_save EDGES base)\n"},
        ["core/world/session/CMakeLists.txt:1: world_session may not have the edge world_save"]),
    "edge in CMake": ({"core/base/CMakeLists.txt":
                       "sandlot_library(base SOURCES a.c heap.c check.c EDGES sim)\n"},
                      ["core/base/CMakeLists.txt:1: base may not have the edge sim"]),
    "edge from core to the server in CMake": (
        {"core/sim/CMakeLists.txt": "sandlot_library(sim SOURCES s.c EDGES base net)\n",
         "server/net/CMakeLists.txt": "sandlot_library(net EDGES base)\n"},
        ["core/sim/CMakeLists.txt:1: sim may not have the edge net"]),
    "edge in CMake of the server": (
        {"server/sys/CMakeLists.txt": "sandlot_library(sys SOURCES y.c EDGES base shell)\n",
         "server/sys/y.c": "// Y.\n",
         "server/shell/CMakeLists.txt": "sandlot_library(shell SOURCES s.c EDGES sys)\n",
         "server/shell/s.c": "// S.\n"},
        ["server/sys/CMakeLists.txt:1: sys may not have the edge shell"]),
    "the simulation with the store, over another header": (
        {"server/store/store.h": '// S.\n#include "core/world/w.h"\n',
         "core/world/w.h": '// W.\n#include "core/sim/s.h"\n'},
        ["server/store/store.h:1: must not include core/sim/, and core/sim/s.h comes with it"]),
    "room upward": ({"core/script/vm/v.h": '// V.\n#include "core/script/api/p.h"\n',
                     "core/script/api/p.h": "// P.\n#pragma once\n"},
                    ["core/script/vm/v.h:2: core/script/vm may not include core/script/api"]),
    "room downward": ({"core/script/api/p.h": '// P.\n#include "core/script/runtime/r.h"\n',
                       "core/script/runtime/r.h": "// R.\n#pragma once\n"}, []),
    "room that a folder may not see": (
        {"core/client/c.h": '// C.\n#include "core/script/lint/l.h"\n',
         "core/script/lint/l.h": "// L.\n#pragma once\n"},
        ["core/client/c.h:2: core/client may not include core/script/lint"]),
    "unknown room": ({"core/script/attic/x.h": '// X.\n#include "core/base/a.h"\n'},
                     ["core/script/attic/x.h:2: core/script/attic may not include core/base"]),
    "server from a room": ({"core/script/vm/v.h": '// V.\n#include "server/net/n.h"\n'},
                           ["core/script/vm/v.h:2: core/script/vm may not include server/net"]),
    "edge of a room in CMake": (
        {"core/script/vm/CMakeLists.txt": "sandlot_library(script_vm EDGES base script_api)\n",
         "core/script/api/CMakeLists.txt": "sandlot_library(script_api EDGES base)\n"},
        ["core/script/vm/CMakeLists.txt:1: script_vm may not have the edge script_api"]),
    "include in a comment": ({"core/base/a.h": "// #include <time.h>\n/*\n#include <time.h>\n*/\n"},
                             []),
    **{f"<{header}>": ({"core/base/a.h": f"// A.\n#include <{header}>\n"},
                       [f"core/base/a.h:2: core/ may not include <{header}>"])
       for header in ("unistd.h", "time.h", "pthread.h", "sys/socket.h", "lua.h")},
    "Lua in script": ({"core/script/vm/v.h": "// V.\n#include <lua.h>\n"}, []),
    "Lua's inside": ({"core/script/vm/v.h": "// V.\n#include <lobject.h>\n"},
                     ["core/script/vm/v.h:2: core/ may not include <lobject.h>: it is not the same on "
                      "both sides, or does I/O"]),
    "Lua's inside in the lints": (
        {"core/script/lint/CMakeLists.txt": "sandlot_library(script_lint SOURCES lint.c)\n",
         "core/script/lint/lint.c": "// L.\n#include <lobject.h>\n"}, []),
    # calls
    **{f"{name} in core": (in_core(f"{name}(x);"), [f"core/sim/s.c:4: {name} "])
       for name in ("malloc", "calloc", "realloc", "free", "strcpy", "strcat", "sprintf", "gets",
                    "strtok", "rand", "srand", "time", "clock", "gettimeofday", "printf", "fopen",
                    "alloca", "sinf", "cosf", "powf", "expf", "atan2f", "sin", "qsort", "abort")},
    "builtin": (in_core("x = __builtin_sinf(x);"), ["core/sim/s.c:4: sinf "]),
    "allowed calls": (in_core("x = sqrtf(floorf(y)) + snprintf(b, 4, f) + my_rand(z);"), []),
    "members": (in_core("heap->free(x) + heap.time(y);"), []),
    "comment and string": (in_core('say("malloc(1) // \\" rand()"); // strcpy(a, b)'), []),
    "call after a string": (in_core("say(\"'\\\\\", '\"'), rand();"), ["core/sim/s.c:4: rand "]),
    "printf outside core": ({"tests/unit/t.c": '// T.\nint t = printf("malloc") + rand();\n',
                             "tests/unit/CMakeLists.txt": "sandlot_test(t SOURCES t.c)\n"},
                            ["tests/unit/t.c:2: rand "]),
    # contents
    "contents outside": (in_build("p.c", "", "place_json_parse(x);"),
                         ["server/build/p.c:4: place_json_parse parses what may be a stranger's"]),
    "contents in the jail": (in_build("inside/p.c", "", "json_parse(x);"), []),
    "contents of the API": (
        {"server/host/h.c": "// H.\nvoid h(void)\n{\n    json_parse(x);\n}\n",
         "server/host/CMakeLists.txt": "sandlot_library(h SOURCES h.c)\n"}, []),
    "a header of the jail": (
        {**in_build("p.c", '#include "server/build/inside/op.h"\n', "x = 1;"),
         "server/build/inside/op.h": "// Ops.\n#pragma once\n"},
        ["server/build/p.c:2: server/build/inside/op.h is of a room that runs in the jail"]),
    "a header of the jail in the table of roles": (
        {"server/cli/main.c": '// M.\n#include "server/build/inside/op.h"\n',
         "server/cli/CMakeLists.txt": "add_executable(m main.c)\n",
         "server/build/inside/op.h": "// Ops.\n#pragma once\n"}, []),
    "a declaration": ({"server/build/p.h": "// P.\nMUST_USE Status json_parse(int x);\n"}, []),
    "a member of that name": (in_build("p.c", "", "doc->json_parse(x);"), []),
    # codes
    "a code written out": (in_world('say(x, "world_full");'),
                           ["core/world/w.c:4: the code world_full is a constant"]),
    "a code of HTTP": (in_world('http_fail(x, 503, "world_full");'), []),
    "another text": (in_world('say(x, "world_full_of_sheep"); // "world_full"'), []),
    # draws
    "two draws": (in_core("v = vec3(rng_range(r, 0, 1), rng_range(r, 0, 1));"),
                  ["core/sim/s.c:4: two draws"]),
    "two draws, one deeper": (in_core("add(rng_unit(r), vec3(1, rng_unit(r), 0));"),
                              ["core/sim/s.c:4: two draws"]),
    "draws in a list": (in_core("v = (Vec2){rng_unit(r), rng_unit(r)};"), []),
    "draws in order": (in_core("v = rng_below(r, 3) == 0 ? 0 : rng_unit(r);\n    w = rng_unit(r);"),
                       []),
    # format
    "not formatted": (in_core("x  =  1;"), ["core/sim/s.c:4: not formatted"]),
    # listed
    "not listed": ({"core/sim/t.c": "// T.\n"}, ["core/sim/t.c:1: listed in no CMakeLists.txt"]),
    "listed in a comment only": ({"core/sim/t.c": "// T.\n", "CMakeLists.txt": "# core/sim/t.c\n"},
                                 ["core/sim/t.c:1: listed in no CMakeLists.txt"]),
    "listed and gone": ({"core/sim/CMakeLists.txt":
                         "sandlot_library(sim SOURCES s.c\n  gone.c EDGES base)\n"},
                        ["core/sim/CMakeLists.txt:2: core/sim/gone.c is listed and does not exist"]),
    "listed further up": ({"tests/support/t.c": "// T.\n",
                           "tests/CMakeLists.txt": "sandlot_library(t SOURCES support/t.c)\n"}, []),
    # links
    "dead link": ({"docs/guide.md": "# Guide\n\n## Second part\n\n[x](gone.md)\n"},
                  ["docs/guide.md:5: dead link: gone.md"]),
    "dead anchor": ({"docs/guide.md": "# Guide\n"},
                    ["README.md:3: dead link: docs/guide.md has no heading #second-part"]),
    # map
    "file that moved": ({"docs/ARCHITECTURE.md": "# Map\n\n`sim/s.c`, `a.h`, then `net/s.c`\n"},
                        ["docs/ARCHITECTURE.md:3: no such file: net/s.c"]),
    "link in code": ({"docs/a.md": "`[x](gone.md)`\n\n```\n[x](gone.md)\n```\n"}, []),
    # machine
    "machine path": ({"docs/a.md": "in the folder " + "/ho" + "me/someone/x\n"},
                     ["docs/a.md:1: a path of one machine"]),
    "path that is not one": ({"docs/a.md": "build/work/x and ${root}/work/y\n"}, []),
    "registry host": ({"lock.json": '"https://' + "registry." + 'npmthing.org/a.tgz"\n'},
                      ["lock.json:1: a package registry's host"]),
    "mirror": ({"tools/x": "deb http://" + "ftp.de." + "debian." + "org/debian\n"},
               ["tools/x:1: a package registry's host"]),
    # whitespace
    "tab": ({"docs/a.md": "a\tb\n"}, ["docs/a.md:1: a tab"]),
    "trailing space": ({"docs/a.md": "a\nb \n"}, ["docs/a.md:2: trailing space"]),
    "carriage return": ({"docs/a.md": "a\r\n"}, ["docs/a.md:1: a carriage return"]),
    "no last newline": ({"docs/a.md": "a"}, ["docs/a.md:1: no newline at the end"]),
    "binary file": ({"docs/a.bin": "\0 \t \n"}, []),
}


def lay(folder, files):
    for path, text in {**CLEAN, **files}.items():
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


class CheckTest(unittest.TestCase):
    def test_cases(self):
        for name, (files, expected) in CASES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                lay(folder, files)
                found = [f"{path}:{line}: {message}"
                         for path, line, message in check.find_all(check.Tree(Path(folder)))]
                self.assertEqual(len(found), len(expected), found)
                for line, start in zip(found, sorted(expected)):
                    self.assertTrue(line.startswith(start), f"{line!r}, want {start!r}")

    def test_program(self):
        for name, code in (("clean", 0), ("tab", 1)):
            with tempfile.TemporaryDirectory() as folder:
                lay(folder, CASES[name][0])
                result = subprocess.run([ROOT / "tools/check", "--root", folder],
                                        capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (code, ""))
                for line in CASES[name][1]:
                    self.assertIn(line + "\n", result.stdout)


if __name__ == "__main__":
    unittest.main()

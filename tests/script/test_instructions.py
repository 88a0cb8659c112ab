"""Counts the instructions of a few fixed scripts under callgrind and compares them with stored bounds, so
that a regression shows without a stopwatch. A bound is one fifth above what was counted.

    test_instructions.py RUN_ALONE BOUNDS [--write]

BOUNDS is a text file: a name and the most millions of instructions, one script a line.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = {
    "loop": "function onStart() local n = 0 for i = 1, 200000 do n = n + i end end",
    "calls": "local function f(x) return x + 1 end\n"
             "function onStart() local n = 0 for i = 1, 100000 do n = f(n) end end",
    "tables": "function onStart() local t = {} for i = 1, 20000 do t[i] = {i} end\n"
              "table.sort(t, function(a, b) return a[1] > b[1] end) end",
    "strings": "function onStart() local t = {} for i = 1, 5000 do t[i] = ('%d'):format(i) end\n"
               "local s = table.concat(t, ',') local n = 0 for w in s:gmatch('%d+') do n = n + #w end end",
    "vectors": "function onStart() local v = Vector3.zero local d = Vector3.new(1, 2, 3)\n"
               "for i = 1, 20000 do v = v + d * 0.5 end end",
    "world": "function onStart() local d = World.Find('Door') for i = 1, 5000 do d.Position = d.Position end end",
    "updates": "local n = 0 function onUpdate(self, dt) n = n + dt end",
}


def count(program, code):
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.lua"
        script.write_text(code)
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=vm_resume",
             f"--callgrind-out-file={folder}/out", program, str(script)],
            capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"test_instructions: {code}\n{run.stdout}{run.stderr}")
    return int(found.group(1)) / 1e6


def main(program, bounds_path, *options):
    counts = {name: count(program, code) for name, code in SCRIPTS.items()}
    if "--write" in options:
        lines = [f"{name} {value * 1.2:.2f}\n" for name, value in counts.items()]
        Path(bounds_path).write_text("".join(lines))
    bounds = dict(line.split() for line in Path(bounds_path).read_text().splitlines())
    failed = 0
    for name, value in counts.items():
        over = name not in bounds or value > float(bounds[name])
        failed += over
        print(f"{name:8} {value:8.2f} million instructions, bound {bounds.get(name)}"
              f"{'  TOO MANY' if over else ''}")
    print(f"{len(counts) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))

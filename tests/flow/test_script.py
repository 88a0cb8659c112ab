"""Running a single script (`sandlot script run`), and what a world's log shows when a script fails."""

import json
import os
import subprocess
import sys

from support import World, check, run

LOOP_LUA = """-- one
local n = 0

while true do
 n = n + 1
end
"""

LOOP_TS = """// one
const list = [1, 2, 3].map((x) => x + 1);
let n = list.length;

function spin() {
    while (true) {
        n += 1;
    }
}

export function onStart() {
    spin();
}
"""


def script_run(program, folder, name, text, *options, **more):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run([os.path.abspath(program), "script", "run", name, "--ticks", "30", *options], cwd=folder,
                          capture_output=True, text=True, timeout=110, check=False, **more)


def test_script_run_names_the_loop(program, _places, folder):
    done = script_run(program, folder, "L.lua", LOOP_LUA)
    check(done.returncode == 3 and "L.lua:5: ran for more than 5 ms" in done.stdout, done.stdout)
    check("L.lua:5: in main chunk" in done.stdout, done.stdout)


def test_script_run_luau(program, _places, folder):
    done = script_run(program, folder, "Fine.luau",
                      "local n: number = 1\nn += 1\nfor _, v in { n } do print(`is {v}`) end\n")
    check(done.returncode == 0 and "is 2" in done.stdout, done.stdout + done.stderr)
    done = script_run(program, folder, "Wrong.luau", "local n = 1\n\nn += = 1\n")
    check(done.returncode == 3 and "Wrong.luau:3: unexpected symbol near '='" in done.stdout, done.stdout)
    done = script_run(program, folder, "Wrong.luau", "local n = 1\n\nn += = 1\n", "--json")
    check("Wrong.luau:3: " in json.loads(done.stdout)["compileError"], done.stdout)
    done = script_run(program, folder, "Fault.luau", "local t: any = nil\nlocal s = `\n`\nt.x += 1\n")
    check(done.returncode == 3 and "Fault.luau:4: attempt to index a nil value" in done.stdout, done.stdout)


def test_script_run_typescript(program, _places, folder):
    weak = "--allow-weak-jail"
    done = script_run(program, folder, "Loop.ts", LOOP_TS, weak)
    check(done.returncode == 3 and "Loop.ts:7: ran for more than 5 ms" in done.stdout, done.stdout)
    check("Loop.ts:7: in function" in done.stdout and "Loop.ts:12: in" in done.stdout, done.stdout)
    done = script_run(program, folder, "Fine.ts", "print(`one ${[1, 2].includes(2)}`);\n", weak)
    check(done.returncode == 0 and "one true" in done.stdout, done.stdout + done.stderr)
    done = script_run(program, folder, "Wrong.ts", "\nconst x: string = 1;\nprint(x);\n", weak)
    check(done.returncode == 3 and "Wrong.ts:2:7: error: " in done.stdout, done.stdout)
    done = script_run(program, folder, "Wrong.ts", "\nconst x: string = 1;\nprint(x);\n", weak,
                      "--json")
    check("Wrong.ts:2:7: error: " in json.loads(done.stdout)["compileError"], done.stdout)
    # What is no fault of the script.
    done = script_run(program, folder, "Fine.ts", "print(1);\n", weak,
                      env={**os.environ, "SANDLOT_NODE": "/nowhere"})
    check(done.returncode == 1 and "SANDLOT_NODE" in done.stderr, done.stdout + done.stderr)


def test_a_world_says_where_a_script_failed(program, _places, folder):
    place = os.path.join(folder, "place")
    made = subprocess.run([program, "new", place], capture_output=True, text=True, check=False)
    check(made.returncode == 0, made.stderr)
    with open(os.path.join(place, "ServerScriptService/N.lua"), "w", encoding="utf-8") as file:
        file.write("local function spin()\n local n = 0\n while true do\n  n = n + 1\n end\nend\n"
                   "function onStart()\n spin()\nend\n")
    world = World(program, place, os.path.join(folder, "data"))
    try:
        world.wait_line(r"ServerScriptService/N\.lua:4: ran for more than 5 ms", 20)
        world.wait_line(r"    ServerScriptService/N\.lua:4: in .*'spin'", 20)
        world.wait_line(r"    ServerScriptService/N\.lua:8: in ", 20)
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

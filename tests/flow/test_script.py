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


def test_script_run_has_the_lints_of_a_build(program, _places, folder):
    done = script_run(program, folder, "A.lua", "local door = World.Find('Door')\ndoor.CanCollide = false\n")
    check(done.returncode == 0 and "A.lua:2: CanCollide is no member of Entity here: write entity:SetSolid(false)"
          in done.stdout, done.stdout)
    done = script_run(program, folder, "B.lua", "local n = 0\nn += 1\n", "--json")
    answer = json.loads(done.stdout)
    check(done.returncode == 3 and answer["compileError"].startswith("B.lua:2: this assignment"), done.stdout)
    check(answer["log"][0]["text"].endswith("A file that ends in .luau may have it."), done.stdout)
    done = script_run(program, folder, "C.lua", "Network.FireServer('a')\n", "--json")
    check(done.returncode == 3 and "works on clients only" in json.loads(done.stdout)["compileError"], done.stdout)
    done = script_run(program, folder, "D.lua", "wait(1)\n")
    check("D.lua:1: wait is not here, so it is nil: write task.wait(seconds)" in done.stdout, done.stdout)


# Twenty mistakes that creators make, and what each is told, with the line.
MISTAKES = [
    ("Server", "\nwhile true do end", "2: ran for more than 5 ms (", "): put task.wait() into the loop"),
    ("Server", "local e = World.Find('Door')\ne:TakeDamage(5)", "2: Entity.TakeDamage works on a character or a "
     "structure; this entity is a Part"),
    ("Server", "Players.PlayerAdded:Connect(function(p)\np.Character:MoveTo(Vector3.new(), 1) end)",
     "2: Entity.MoveTo works on a part; write SetPosition to put a character somewhere; this entity is a Player"),
    ("Server", "local e = World.Find('Door')\ne:Destroy() task.wait(0.1)\ne:SetPosition(Vector3.new())",
     "3: Entity.SetPosition: entity 1 is gone"),
    ("Server", "\nNpc.MoveTo(World.Find('Door'), Vector3.new())", "2: Npc.MoveTo works on an NPC; this entity is a Part"),
    ("Server", "Players.PlayerAdded:Connect(function(p)\np.leaderstats.Coins = 'five' end)",
     "2: leaderstats.Coins must be a number, not a string"),
    ("Server", "Players.PlayerAdded:Connect(function(p)\nprint(p.Nam) end)", "2: Player has no member Nam; did you "
     "mean Name?"),
    ("Server", "Players.PlayerAdded:Connect(function(p)\np.vip = true end)", "2: Player has no member vip; keep values "
     "of your own in a table by player"),
    ("Server", "Players.PlayerAdded:Connect(function(p)\np:LoadCharacter() end)", "2: Player has no member "
     "LoadCharacter: write player:Spawn()"),
    ("Server", "local v = Vector3.new()\nprint(v + 1)", "2: Vector3 + number: the other side must be a Vector3 too"),
    ("Server", "local v = Vector3.new()\nv.Y = 1", "2: Vector3.Y cannot be set: a Vector3 never changes; write "
     "Vector3.new(x, y, z)"),
    ("Server", "local v = Vector3.new()\nprint(v.magnitude)", "2: Vector3 has no member magnitude; did you mean "
     "Magnitude?"),
    ("Server", "World.Find('Door').Touched:connect(print)", "1: Signal has no member connect; did you mean Connect?"),
    ("Server", "World.Gravity = 5", "1: World.Gravity cannot be set: what the API gives cannot be changed"),
    ("Server", "World.GetInRadius(Vector3.new(), 5, 'Palyer')", '1: World.GetInRadius: argument 3 (type) cannot be '
     '"Palyer": it is Player, Npc, Projectile, Part, Prop, Structure or Spawn; did you mean Player?'),
    ("Server", "DataStore.GetDataStore('a'):SetAsync(5, 1)", "1: DataStore:SetAsync: argument 1 (key) must be a string, "
     "got number; write tostring("),
    ("Server", "local t = _G.t or {1}\nfor k, v in t do print(k, v) end", "2: attempt to call a table value (for iterator 'for "
     "iterator'): write for i, value in ipairs(list) do"),
    ("Server", "\nWorld.Find('Nothing'):Destroy()", "2: attempt to index a nil value: what stands before the dot or "
     "colon returned nil"),
    ("Server", "\nprint('a' .. nil)", "2: attempt to concatenate a nil value: write tostring(value) if it may be nil"),
    ("Client", "\ncamera.Position = Vector3.new()", "2: camera.Position cannot be set: it is read only"),
    ("Client", "UI.Show(UI.Button{text = 'a',\nonClick = print})", 'UI.Button has no option "onClick"; did you mean '
     '"OnClick"?'),
    ("Client", "UI.Show(UI.List{anchor = 'topp'})", '1: UI.List: anchor cannot be "topp": it is top-left, top, '),
]


def test_each_message_says_what_to_do(program, _places, folder):
    for number, (side, text, *parts) in enumerate(MISTAKES):
        done = script_run(program, folder, f"M{number}.lua", text + "\n", "--context", side)
        check(done.returncode == 3, text + done.stdout)
        at = 0
        for part in parts:
            at = done.stdout.find(part, at)
            check(at >= 0, f"{text}\n{done.stdout}")


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

"""A live world asks for all its memory before its first tick. In a build with slow checks a later call
of its heap ends the process; elsewhere it is counted, and refused."""

import itertools
import os
import sys

from bots import Bots, write_meadow
from support import Player, World, check, come_back, run, wait_until

SCRIPTS = {
    "ServerScriptService/Busy.lua": """local store = DataStore.GetDataStore("s")
task.spawn(function()
    for n = 1, 1000 do
        store:UpdateAsync("k", function(old) return (old or 0) + 1 end)
        task.wait(0.2)
    end
end)
Timer.Every(0.3, function()
    Chat.Send("still here")
    World.SetVoxel(Vector3.new(math.random(-20, 20), 2, math.random(-20, 20)), 1)
end)
Players.PlayerAdded:Connect(function(player)
    Network.FireClient(player, "hello", {player.Name, os.time()})
end)
Network.OnClientEvent("answer", function(player, text) print("heard", text) end)
function onUpdate()
    local texts = {}
    for i = 1, 50 do texts[i] = tostring(i) .. "x" end
end
""",
    "StarterGui/Hud.lua": """Network.OnServerEvent("hello", function(values)
    Network.FireServer("answer", values[1])
end)
""",
}


def write_place(folder):
    place = write_meadow(folder)
    for path, text in SCRIPTS.items():
        os.makedirs(os.path.join(place, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(place, path), "w", encoding="utf-8") as file:
            file.write(text)
    return place


# Where a piece is put, as seen from the player: each time elsewhere, because one may still stand there.
PIECES = itertools.cycle([(3, 3), (3, -3), (-3, 3), (-3, -3), (0, 4), (4, 0), (0, -4), (-4, 0)])


def do_everything(world, player):
    """Chat, a piece, terrain, a character: each is answered."""
    player.walk(0.3, move_z=0)
    x, y, z = (int(axis // 1) for axis in wait_until(player.position, "a position"))
    east, north = next(PIECES)
    for feature, action, payload in (
            ("chat", "say", {"text": "hello"}),
            ("build", "place", {"piece": 0, "cell": [x + east, y, z + north]}),
            ("voxel", "terraform", {"shape": 0, "min": [x + 2, y + 3, z], "voxelKind": 1}),
            ("voxel", "chunk_request", {"chunks": [{"at": [x // 32, y // 32, z // 32]}]}),
            ("profile", "save", {"profiles": [{"characterId": "knight", "name": "Sir Bo"}]})):
        asked = player.say(feature, action, payload)
        while player.wait("ack")["payload"].get("commandSeq") != asked:
            pass
    player.walk(0.5)


def test_frozen_world(program, places, folder):
    world = World(program, write_place(folder), os.path.join(folder, "data"))
    try:
        pid = world.children()
        wait_until(lambda: world.metric("sandlot_world_heap_frozen") == 1, "it is frozen")
        held = world.metric("sandlot_world_heap_bytes")
        bots = Bots(program, world.port, 12, 8, "mixed", "--scripts", "--allow-weak-jail")
        for round_number in range(3):
            player = Player(world, name=f"bo{round_number}",
                            ticket=world.join(name=f"bo{round_number}")["ticket"])
            do_everything(world, player)
            player.close()  # cut, not left
            player = come_back(world, player)
            player.walk(0.3)
            player.say("session", "leave", {})
            player.close()
        bots.result(60)
        wait_until(lambda: world.metric("sandlot_world_saves_total") > 3, "it saves")
        check(world.metric("sandlot_world_script_calls_total") > 100, "scripts run")
        check(world.metric("sandlot_world_heap_late_calls_total") == 0, "it asked for more memory")
        check(world.metric("sandlot_world_heap_bytes") == held, "it holds what it held")
        check(world.children() == pid and world.metric("sandlot_world_crashes_total") == 0,
              "\n".join(world.lines[-20:]))
        world.stop()
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run(globals(), sys.argv))

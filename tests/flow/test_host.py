"""`sandlot host`: many worlds in one host. Worlds start when somebody joins, once however many ask; they
stop when nobody is in them; what a player's scripts stored in one world is there in the next; and the
death of one world is nobody else's business.

SANDLOT_KILL_SECONDS and SANDLOT_WORLDS make the test of neighbours longer and larger; SANDLOT_SEED
repeats a run.
"""

import http.client
import json
import os
import random
import re
import shutil
import signal
import sys
import threading
import time

from bots import Bots, write_meadow
from hosts import Host, Killer, enter, leave, parallel, pss_kb
from support import PATIENCE, check, run, wait_until

SEED = int(os.environ.get("SANDLOT_SEED", "0")) or random.randrange(1, 1 << 30)
SECONDS = int(os.environ.get("SANDLOT_KILL_SECONDS", "4"))
WORLDS = int(os.environ.get("SANDLOT_WORLDS", "12"))
VICTIMS = 12
IDLE_SECONDS = 6
SLOW_S = 0.4  # a world stands still; the host ends one after a second
IDLE_KB = 6 << 10  # of memory that a world shares with nobody
CROWD = 100
KILL_EVERY_S = 0.1


def copy_island(places, folder, name="island", scripts=None):
    """The island under its own name, with these server scripts."""
    place = os.path.join(folder, name)
    shutil.copytree(os.path.join(places, "island"), place, ignore=shutil.ignore_patterns(".sandlot"))
    service = os.path.join(place, "ServerScriptService")
    os.makedirs(service, exist_ok=True)
    for file_name, text in (scripts or {}).items():
        with open(os.path.join(service, file_name + ".lua"), "w", encoding="utf-8") as file:
            file.write(text)
    return place


def place_ids(host):
    """Ids of the places by their folder's order."""
    return [re.search(r"^place +(\S+?):", line)[1] for line in host.lines
            if re.search(r"^place +\S+:", line)]


def wait_stopped(host, world_id):
    wait_until(lambda: host.worlds()[world_id]["state"] == "stopped", f"{world_id} stops", 40)


# --- starting and stopping -------------------------------------------------------------------------


def crowd(host, world_id, count):
    """That many joins at the same moment. They come from several addresses: one address may not have
    as many requests waiting."""
    def ask(number):
        link = http.client.HTTPConnection("127.0.0.1", host.port, timeout=30 * PATIENCE,
                                          source_address=(f"127.0.0.{2 + number % 8}", 0))
        try:
            link.request("POST", "/join", body=json.dumps({"world_id": world_id}))
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            link.close()
    return parallel(count, ask)


def test_host_starts_a_world_once(program, places, folder):
    """A hundred joins at once to a world without a process start one."""
    host = Host(program, [os.path.join(places, "island")], folder + "/data", "--idle-stop", "1")
    try:
        check(host.children() == [], "nothing runs before somebody joins")
        world_id = leave(enter(host)).world_id
        wait_stopped(host, world_id)
        check(host.children() == [], "its process is gone")
        answers = crowd(host, world_id, CROWD)
        bad = [answer for status, answer in answers if status != 200]
        check(not bad, f"{len(bad)} of {CROWD} were refused: {bad[:2]}")
        check({answer["world_id"] for _, answer in answers} == {world_id}, "the same world")
        check(len({answer["ticket"] for _, answer in answers}) == CROWD, "a ticket each")
        check(len(host.children()) == 1, f"processes: {host.children()}")
        started = host.metric("sandlot_processes_started_total")
        check(started == 2, f"{started} processes were started, one for each time")
        host.stop()
    finally:
        host.kill()


KEEPER = """local store = DataStore.GetDataStore("coins")
local coins = {}
local function welcome(player)
    coins[player.UserId] = (store:GetAsync(player.Name) or 0) + 1
    print("has", player.Name, coins[player.UserId])
end
Players.PlayerAdded:Connect(welcome)
Players.PlayerRemoving:Connect(function(player)
    store:SetAsync(player.Name, coins[player.UserId])
end)
"""


def coins_of(host, name, world_id):
    """What the script of a world said last about a player."""
    found = [re.search(rf"{world_id}: .*has\s+{name}\s+(\d+)", line) for line in list(host.lines)]
    found = [int(line[1]) for line in found if line]
    return found[-1] if found else None


def enter_new_world(host, token, coins):
    """A world of their own, where the script has seen so many coins; and its process."""
    others = set(host.children())
    player = enter(host, token=token, name="bo")
    wait_until(lambda: coins_of(host, "bo", player.world_id) == coins, f"{coins} in a new world")
    return player.world_id, (set(host.children()) - others).pop()


def go_on(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass  # the host has ended it


def move_from_slow_world(host, token, to_world, coins):
    """From a new world whose process stands still while they join another. How many coins they have
    then; None: on a busy machine it was so slow, every time, that the host took it for dead."""
    for _ in range(4):
        _, slow = enter_new_world(host, token, coins + 1)
        killed = host.metric("sandlot_processes_killed_total")
        os.kill(slow, signal.SIGSTOP)
        timer = threading.Timer(SLOW_S, go_on, (slow,))
        timer.start()
        enter(host, token=token, name="bo", world_id=to_world)
        timer.join()
        if host.metric("sandlot_processes_killed_total") == killed:
            wait_until(lambda: coins_of(host, "bo", to_world) == coins + 2,
                       f"{coins + 2} after a slow world, not {coins_of(host, 'bo', to_world)}")
            return coins + 2
        coins += 1  # what the dead one had was not stored
        wait_until(lambda: coins_of(host, "bo", to_world) == coins, "after a world that died")
    return None


def test_host_worlds_share_what_a_place_stores(program, places, folder):
    """A value that a script stores when a player leaves a world is what another world of the place
    reads when that player comes, however soon; and it outlives the worlds and the host."""
    place = copy_island(places, folder, scripts={"Keeper": KEEPER})
    host = Host(program, [place], folder + "/data", "--idle-stop", "2")
    try:
        first = enter(host, name="bo")
        second = leave(enter(host, name="al")).world_id  # nothing named: a new world
        check(first.world_id != second, "two worlds")
        wait_until(lambda: coins_of(host, "bo", first.world_id) == 1, "the first world knows bo")
        token, here, coins = first.session_token, first, 1
        for there in (second, first.world_id, second, first.world_id, second):
            if coins % 2 == 0:
                leave(here)  # otherwise they are still there when they come here
            here = enter(host, token=token, name="bo", world_id=there)
            coins += 1
            wait_until(lambda there=there: coins_of(host, "bo", there) == coins,
                       f"{there} reads {coins}, not {coins_of(host, 'bo', there)}")
        moves = host.metric("sandlot_player_moves_total")
        check(moves == 5, f"{moves} moves")
        check(host.metric("sandlot_player_moves_late_total") == 0, "no move was late")
        # A world that is slow for a moment: the next one waits for what it stores.
        coins = move_from_slow_world(host, token, second, coins)
        check(coins, "the host ended a slow world")
        # One that does not answer at all keeps nobody waiting for ever.
        third, stuck = enter_new_world(host, token, coins + 1)
        os.kill(stuck, signal.SIGSTOP)
        here = enter(host, token=token, name="bo", world_id=second)
        coins += 1
        wait_until(lambda: coins_of(host, "bo", second) == coins, "let in all the same")
        wait_until(lambda: stuck not in host.children(), "and that one ends", 30)
        # An empty world stops, and begins again with what was stored.
        leave(here)
        wait_until(lambda: host.children() == [], "all worlds have stopped", 40)
        here = enter(host, token=token, name="bo", world_id=second)
        coins += 1
        wait_until(lambda: coins_of(host, "bo", second) == coins, "stored over a stop")
        leave(here)
        wait_until(lambda: host.children() == [], "all worlds have stopped again", 40)
        host.stop()
        host = Host(program, [place], folder + "/data")
        check({first.world_id, second, third} <= set(host.worlds()), "the host knows its worlds")
        here = enter(host, token=token, name="bo", world_id=second)
        wait_until(lambda: coins_of(host, "bo", second) == coins + 1, "stored over a start of the host")
        host.stop()  # with bo in it: scripts see everybody leave, and what they store then counts
        host = Host(program, [place], folder + "/data")
        enter(host, token=token, name="bo", world_id=second)
        wait_until(lambda: coins_of(host, "bo", second) == coins + 2, "stored while the host stopped")
        host.stop()
    finally:
        host.kill()


WRITERS = """
local board = DataStore.GetOrderedDataStore("board")
local begun, done = false, 0
local function write(key)
    for _ = 1, 3 do
        local ok
        repeat
            ok = pcall(board.UpdateAsync, board, key, function(old) return (old or 0) + 1 end)
        until ok
        board:IncrementAsync("all")
    end
    done = done + 1
    if done == 50 then print("written") end
end
Players.PlayerAdded:Connect(function(player)
    if player.Name == "reader" then
        local keys, sum, page = 0, 0, board:GetSortedAsync(true, 20, 1, 6)
        while #page > 0 do
            for _, entry in ipairs(page) do keys, sum = keys + 1, sum + entry.value end
            page = board:GetSortedAsync(true, 20, 1, 6, page[#page])
        end
        local first = board:GetSortedAsync(false, 1)[1]
        print("found", keys, sum, first.key, first.value, board:GetVersionAsync("1001", 5))
    elseif not begun then
        begun = true
        for i = 1, 50 do task.spawn(write, tostring(1000 + i)) end
    end
end)
"""


def test_host_two_worlds_write_one_board(program, places, folder):
    """Fifty coroutines in each of two worlds of a place raise the same keys of one ordered store by
    UpdateAsync: no write is lost, and the pages of the sorted store are exact."""
    place = copy_island(places, folder, scripts={"Writers": WRITERS})
    host = Host(program, [place], folder + "/data")
    try:
        first = enter(host, name="bo")
        second = enter(host, name="al")
        check(first.world_id != second.world_id, "two worlds")
        for world in (first.world_id, second.world_id):
            wait_until(lambda world=world: any(f"{world}: " in line and "written" in line
                                               for line in list(host.lines)), f"{world} has written")
        enter(host, name="reader", world_id=first.world_id)
        wait_until(lambda: any("found" in line for line in list(host.lines)), "the reader has read")
        found = next(line for line in list(host.lines) if "found" in line).split("found")[1].split()
        check(found[:5] == ["50", "300", "all", "300", "5"], f"{found}")
        host.stop()
    finally:
        host.kill()


def wakeups(pids):
    """How often these processes went to sleep by themselves: once for each time they woke up."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", file.read(), re.MULTILINE)[1])
    return total


def test_host_idle_worlds(program, places, folder):
    """Worlds that nobody is in cost almost nothing: they sleep, and take little memory each."""
    host = Host(program, [os.path.join(places, "island")], folder + "/data")
    try:
        for _ in range(WORLDS):
            host.join()
        wait_until(lambda: host.sum("sandlot_world_paused") == WORLDS, "all are paused", 40)
        worlds = host.children()
        memory = [pss_kb(pid) for pid in worlds]
        before = wakeups(worlds)
        time.sleep(IDLE_SECONDS)
        woken = wakeups(worlds) - before
        print(f"      {WORLDS} worlds: at most {max(memory)} kB each, {woken} wake-ups "
              f"in {IDLE_SECONDS} s")
        check(host.children() == worlds, "none of them was started again")
        check(woken <= WORLDS * IDLE_SECONDS, f"{woken} wake-ups")
        check(max(memory) <= IDLE_KB, f"{memory} kB")
        host.stop()
    finally:
        host.kill()


# --- trouble in one world --------------------------------------------------------------------------


def test_host_broken_worlds_disturb_nobody(program, places, folder):
    """Of two places the processes of one are ended as soon as they start: joins to it are refused with
    a reason, and joins to the other place go on as if nothing was."""
    good, bad = copy_island(places, folder, "good"), copy_island(places, folder, "bad")
    host = Host(program, [good, bad], folder + "/data")
    try:
        good_id, bad_id = place_ids(host)
        player = enter(host, place_id=good_id)
        healthy = host.children()
        check(len(healthy) == 1, f"{healthy}")
        over = threading.Event()

        def end_others():
            while not over.is_set():
                for pid in host.children():
                    if pid not in healthy:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                time.sleep(0.001)
        killer = threading.Thread(target=end_others, daemon=True)
        killer.start()
        status, answer = host.ask_join(place_id=bad_id)
        check((status, answer["error"]["code"]) in ((502, "failing"), (503, "unavailable")),
              f"{status} {answer}")
        for _ in range(5):
            check(host.join(place_id=good_id)["world_id"] == player.world_id, "the good one goes on")
        check(host.children()[:1] == healthy, "its process is the same")
        player.walk(0.5)
        over.set()
        killer.join()
        # Nothing is held against it for ever.
        wait_until(lambda: host.ask_join(place_id=bad_id)[0] == 200, "the other one is back", 30)
        starts = host.of_worlds("sandlot_world_starts_total")
        check(starts[player.world_id] == 1, f"{starts}")
        host.stop()
    finally:
        host.kill()


def test_host_keeps_its_limit_of_worlds(program, places, folder):
    """With --worlds 2 a third world is refused, and nothing is made for who is refused."""
    host = Host(program, [os.path.join(places, "island")], folder + "/data", "--worlds", "2",
                "--idle-stop", "1")
    try:
        players = [enter(host, name=f"p{number}") for number in range(2)]
        known = set(host.worlds())
        check(known == {player.world_id for player in players}, f"{known}")
        answers = parallel(8, lambda _: host.ask_join())
        check(all(status == 503 and answer["error"]["code"] == "full" for status, answer in answers),
              f"{answers}")
        check(set(host.worlds()) == known, "a world was made for somebody who was refused")
        check(len(host.children()) == 2, f"{host.children()}")
        leave(players[0])
        wait_stopped(host, players[0].world_id)
        # Several at once for the one place that is free: one of them gets it.
        answers = parallel(8, lambda _: host.ask_join())
        check(sum(status == 200 for status, _ in answers) == 1, f"{answers}")
        check(len(host.children()) == 2 and len(host.worlds()) == 3, f"{list(host.worlds())}")
        host.stop()
    finally:
        host.kill()


def counted(host, worlds):
    """Ticks of these worlds: how many were missed, and how many were not."""
    missed = host.of_worlds("sandlot_world_ticks_missed_total")
    ticks = host.of_worlds("sandlot_world_ticks_total")
    return sum(missed[world] for world in worlds), sum(ticks[world] for world in worlds)


def test_host_kills_beside_others(program, places, folder):
    """A world is killed ten times a second while others are played in: they miss no more ticks than in
    the quiet times in between, and none of them is started again."""
    host = Host(program, [write_meadow(folder)], folder + "/data")
    some = []
    try:
        spared = [host.join()["world_id"] for _ in range(WORLDS)]
        killer = Killer(host, host.children())
        victims = [host.join()["world_id"] for _ in range(VICTIMS)]
        some = [Bots(program, host.port, 2, 86400, "walk", "--world", world) for world in spared[:4]]
        wait_until(lambda: host.sum("sandlot_world_players") >= 8, "the bots play")
        missed, ticks = {"quiet": 0, "killing": 0}, {"quiet": 0, "killing": 0}
        for kind in ("quiet", "killing", "quiet", "killing"):
            before = counted(host, spared[:4])  # the others pause
            if kind == "killing":
                killer.kill_for(SECONDS, KILL_EVERY_S)
            else:
                time.sleep(SECONDS)
            after = counted(host, spared[:4])
            missed[kind] += after[0] - before[0]
            ticks[kind] += after[1] - before[1]
        print(f"      {killer.kills} kills; ticks missed {missed} of {ticks}")
        crashed = host.of_worlds("sandlot_world_crashes_total")
        check(killer.kills >= SECONDS and sum(crashed[world] for world in victims) >= SECONDS,
              f"{killer.kills} kills, {crashed}")
        check(all(crashed[world] == 0 for world in spared), f"others died: {crashed}")
        check(killer.spared <= set(host.children()), "the others are the same processes")
        # A twentieth of all ticks is what a busy machine may miss by itself.
        check(missed["killing"] <= 1.1 * missed["quiet"] + ticks["killing"] / 20,
              f"ticks missed beside kills: {missed} of {ticks}")
        wait_until(lambda: all(host.worlds()[world]["ready"] for world in victims), "all are back", 30)
        host.stop()
    finally:
        for bots in some:
            bots.kill()
        host.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

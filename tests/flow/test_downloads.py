"""How clients get runes: many in one answer, from a cache that survives, and from static files on
another server. What is of the server's own services is in none of them."""

import hashlib
import json
import os
import struct
import subprocess
import sys

import package_corpus as make
from support import Player, World, check, run

MARKER = "plugh-of-the-server-alone"


def write_scripts(folder, count, prefix="Module"):
    """A place with so many replicated scripts, and one of the server. Long names make a long manifest."""
    write(folder, "place.json", json.dumps({
        "format": 1, "name": "Many",
        "voxelKinds": [{"name": "grass", "material": "grass", "colour": "#5d9c4d"}]}))
    write(folder, "scene.json", json.dumps({
        "format": 1, "bounds": {"min": [-32, -8, -32], "max": [32, 24, 32]},
        "terrain": [{"min": [-32, -2, -32], "max": [31, -1, 31], "kind": "grass"}],
        "entities": [{"id": 1, "name": "Start", "type": "spawn",
                      "transform": {"position": [0, 1, 0]}}]}))
    write(folder, f"ServerScriptService/{MARKER}.lua", f'local secret = "{MARKER}"\nprint(#secret)\n')
    for i in range(count):
        write(folder, f"ReplicatedStorage/{prefix}{i:04}.lua", f"""local Module = {{number = {i}}}
function Module.update(items, factor)
    local total = {i * 7}
    for index, item in ipairs(items) do
        total = total + item.value * factor + index
    end
    return total, "module {i}"
end
return Module
""")
    # All are needed: a script may require 64 others, so some hubs are between.
    hubs = range(0, count, 50)
    for hub in hubs:
        write(folder, f"ReplicatedStorage/Hub{hub}.lua", "".join(
            f'require("ReplicatedStorage/{prefix}{i:04}")\n' for i in range(hub, min(hub + 50, count)))
            + "return 1\n")
    write(folder, "StarterGui/Hello.lua", "".join(
        f'require("ReplicatedStorage/Hub{hub}")\n' for hub in hubs)
        + 'function onStart()\n    print("in the client")\nend\n')
    return folder


def write(folder, path, text):
    where = os.path.join(folder, path)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with open(where, "w", encoding="utf-8") as file:
        file.write(text)


def runes_of(place, side="client"):
    """Hash by path, as the manifest of a build has it."""
    with open(os.path.join(place, ".sandlot", side, "soul/manifest.json"), encoding="utf-8") as file:
        return {row["path"]: row["rune_hash"].removeprefix("sha256:")
                for row in json.load(file)["scripts"]}


def entries_of(body):
    """The entries of a bundle: (form, bytes)."""
    found, at = [], 0
    while at < len(body):
        form, size = struct.unpack_from("<BI", body, at)
        check(at + 5 + size <= len(body), "the last entry is not whole")
        found.append((form, body[at + 5:at + 5 + size]))
        at += 5 + size
    return found


def test_many_runes_in_one_answer(program, places, folder):
    place = write_scripts(os.path.join(folder, "many"), 60)
    world = World(program, place, None)
    try:
        packing = world.join(name="ann")["rune_packing"]
        runes = runes_of(place)
        hashes = list(runes.values())
        many = (hashes * 5)[:256]  # as many as a request may name
        ask = lambda number, names: world.request("POST", f"/packed/{number}", {"runes": names})
        # Packed ones are what /packed gives one by one, plain ones are the runes.
        status, headers, body = ask(packing, many)
        check(status == 200 and headers["Cache-Control"] == "no-store", f"{status} {headers}")
        packed = entries_of(body)
        check([form for form, _ in packed] == [2] * 256, "all of them are packed")
        for name, (_, data) in list(zip(many, packed))[::50]:
            check(world.request("GET", f"/packed/{packing}/{name}")[2] == data, "another rune")
        plain = entries_of(ask(0, many)[2])
        for name, (form, data) in zip(many, plain):
            check(form == 1 and hashlib.sha256(data).hexdigest() == name, f"another rune: {name}")
        small, large = (sum(len(data) for _, data in each) for each in (packed, plain))
        check(small <= 0.45 * large, f"{small} of {large}")
        # The order is that of the request; what is not for clients is as unknown as anything.
        server = next(name for path, name in runes_of(place, "server").items() if "ServerScript" in path)
        check(server not in hashes, "it is replicated")
        status, _, body = ask(packing, [hashes[3], server, "0" * 64, hashes[2], hashes[3]])
        check([form for form, _ in entries_of(body)] == [2, 0, 0, 2, 2], f"{entries_of(body)}")
        check(entries_of(body)[3][1] == packed[2][1], "another order")
        check(ask(packing, [server])[0] == 404, "of the server alone")
        # Bad requests.
        for number in (packing + 1, "x", "-1", f"{packing}x", "99999999999"):
            check(ask(number, hashes[:2])[0] == 404, f"{number}")
        for bad in ([], [hashes[0]] * 257, ["x"], [1], [hashes[0] + "0"], "no list", [None], [[]]):
            check(ask(packing, bad)[0] in (400, 413), f"{bad}"[:80])
        check(world.request("POST", f"/packed/{packing}", {})[0] == 400, "nothing was asked for")
    finally:
        world.kill()


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(base, name), folder)
                  for base, _, names in os.walk(folder) for name in names)


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def export(program, place, out):
    done = subprocess.run([program, "export-cdn", place, out, "--json", "--allow-weak-jail"],
                          capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, done.stdout + done.stderr)
    return json.loads(done.stdout)


def test_static_files_are_what_the_host_has(program, places, folder):
    place = write_scripts(os.path.join(folder, "many"), 20)
    os.makedirs(os.path.join(place, "assets"))
    with open(os.path.join(place, "assets/door.png"), "wb") as file:
        file.write(make.png(40, 20))
    out = os.path.join(folder, "cdn")
    told = export(program, place, out)
    files = files_of(out)
    check(told["files"] == told["written"] == len(files) - 1, f"{told} {files}")  # and the index
    index = json.loads(read(out, "index.json"))
    runes = sorted(set(runes_of(place).values()))
    check(index["runes"] == runes, f"other runes: {index}")
    name = hashlib.sha256("".join(f"{rune}\n" for rune in runes).encode()).hexdigest()
    check(index["set"] == f"sha256:{name}" or index["set"] == name, f"another set: {index['set']}")
    # What is there is what a host answers, and nothing else is there.
    world = World(program, place, None, "--cdn-base", "http://127.0.0.1:9")
    try:
        joined = world.join(name="ann")
        check(joined["cdn_base"] == "http://127.0.0.1:9", f"{joined}")
        for path in files:
            if path != "index.json" and not path.endswith(name):
                status, headers, body = world.request("GET", f"/{path}")
                check(status == 200 and body == read(out, path), f"{path}: {status}")
                check(headers.get("Access-Control-Allow-Origin") == "*", f"{path}: {headers}")
        asked = entries_of(world.request("POST", f"/packed/{index['packing']}", {"runes": runes})[2])
        together = b"".join(bytes.fromhex(rune) + struct.pack("<BI", form, len(data)) + data
                            for rune, (form, data) in zip(runes, asked))
        check(together == read(out, f"packed/{index['packing']}/{name}"), "the set is another")
        check(world.request("GET", f"/packed/{index['packing']}/{name}")[2] == together, "the host's too")
        check(joined["rune_set"] == name, f"{joined}")
        page = world.request("GET", "/nothing")[1]
        check("connect-src 'self' ws: wss: http://127.0.0.1:9;" in page["Content-Security-Policy"],
              f"{page}")
        check("Access-Control-Allow-Origin" not in page, "only what is for everybody is for all sites")
        player = Player(world, name="bo", ticket=joined["ticket"])
        manifest = [event for event in player.events if event.get("action") == "ScriptManifest"]
        while not manifest:
            player.listen(0.2)
            manifest = [event for event in player.events if event.get("action") == "ScriptManifest"]
        check(manifest[0]["payload"]["cdn_base"] == "http://127.0.0.1:9", "the manifest names it")
    finally:
        world.kill()
    # The server's own services: neither name nor text nor hash nor bytes.
    server = {path: found for path, found in runes_of(place, "server").items() if "ServerScript" in path}
    check(len(server) == 1, f"{server}")
    for path in files:
        data = read(out, path)
        check(MARKER.encode() not in data and b"ServerScript" not in data, f"the marker is in {path}")
        for found in server.values():
            check(found not in path and found.encode() not in data, f"its hash is in {path}")
            check(hashlib.sha256(data).hexdigest() != found, f"it is {path}")
    # Again: nothing is written; a change adds what is new.
    check(export(program, place, out)["written"] == 0, "it was all there")
    write(place, "ReplicatedStorage/Module0003.lua", "return 4\n")
    check(export(program, place, out)["written"] == 4,
          "a rune, packed, and the new set and list of them")
    for arguments in (["export-cdn"], ["export-cdn", place], ["export-cdn", place, out, "x"]):
        check(subprocess.run([program, *arguments], capture_output=True, timeout=30).returncode == 2,
              f"{arguments}")
    failed = subprocess.run([program, "export-cdn", place, "/proc/nowhere", "--allow-weak-jail"],
                            capture_output=True, text=True, timeout=60)
    check(failed.returncode == 1 and "cannot be made" in failed.stderr, failed.stderr)


def play(program, world, cache):
    """A bot until its scripts run; on a busy machine a second may be too short, and nothing is kept."""
    for seconds in (1, 4, 16):
        done = subprocess.run([program, "bots", "--server", f"http://127.0.0.1:{world.port}", "-n", "1",
                               "--seconds", str(seconds), "--scripts", "--cache", cache, "--json",
                               "--best-effort", "--allow-weak-jail"],
                              capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        if result["scripted"] == 1:
            check(result["script_faults"] == 0, f"{result}")
            return result
    check(False, f"no script runs: {result}")


def test_native_clients_keep_large_manifests(program, places, folder):
    """So many scripts that their list fits no message: it is fetched once, in all lives of the world."""
    place = write_scripts(os.path.join(folder, "many"), 260, f"{'a' * 50}/{'b' * 40}/Module")
    cache = os.path.join(folder, "cache/runes")
    found = []
    for _ in range(2):
        world = World(program, place, None)
        try:
            found.append(play(program, world, cache))
        finally:
            world.kill()
    cold, warm = found
    sent = len(runes_of(place))
    # On a busy machine a first try may have ended after the list was kept.
    check(cold["manifests_fetched"] + cold["manifests_cached"] == 1, f"{cold}")
    check(len(files_of(cache)) == sent + 1, "the runes and the list")
    check(warm["manifests_fetched"] == 0 and warm["manifests_cached"] >= 1, f"{warm}")
    check(warm["runes_cached"] == sent and warm["runes_unpacked"] == 0, f"{warm}")


def test_native_clients_keep_runes(program, places, folder):
    place = write_scripts(os.path.join(folder, "many"), 30)
    world = World(program, place, None)
    cache = os.path.join(folder, "cache/runes")
    try:
        sent = len(runes_of(place))
        names = sorted(set(runes_of(place).values()))
        cold = play(program, world, cache)
        check(cold["runes_cached"] == 0 and cold["runes_unpacked"] == sent, f"{cold}")
        check(files_of(cache) == names, "what runs is kept, and nothing else")
        for name in names:
            check(hashlib.sha256(read(cache, name)).hexdigest() == name, f"another rune: {name}")
        warm = play(program, world, cache)
        check(warm["runes_cached"] == sent and warm["runes_unpacked"] == 0, f"{warm}")
        # Damaged: noticed, fetched, and kept anew.
        for name, data in ((names[0], b"x" + read(cache, names[0])[1:]), (names[1], b"")):
            with open(os.path.join(cache, name), "wb") as file:
                file.write(data)
        mended = play(program, world, cache)
        check(mended["runes_unpacked"] == 2, f"{mended}")
        check(hashlib.sha256(read(cache, names[0])).hexdigest() == names[0], "it is mended")
        check(play(program, world, cache)["runes_unpacked"] == 0, "and used")
        # Two at once, and a folder that cannot be written.
        both = [subprocess.Popen([program, "bots", "--server", f"http://127.0.0.1:{world.port}", "-n",
                                  "1", "--seconds", "4", "--scripts", "--cache",
                                  os.path.join(folder, "shared"), "--json", "--best-effort",
                                  "--allow-weak-jail", "--seed", str(seed)], stdout=subprocess.PIPE)
                for seed in (5, 6)]
        for process in both:
            out, _ = process.communicate(timeout=120)
            check(process.returncode == 0 and json.loads(out)["scripted"] == 1, f"{out}")
        check(files_of(os.path.join(folder, "shared")) == names, "both kept the same")
        check(play(program, world, "/proc/nowhere")["runes_unpacked"] == sent, "it runs without")
    finally:
        world.kill()


if __name__ == "__main__":
    sys.exit(run({**globals()}, sys.argv))

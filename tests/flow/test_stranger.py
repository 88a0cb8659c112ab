"""A place from a stranger that contains a .sandlot folder: the program does not follow its links, wait
for its locks, trust its data, or leave it where others could replace it."""

import ctypes
import os
import shutil
import subprocess
import sys

from support import Skip, World, check, run
from test_build import build, build_json, side, small_place, write
from test_disk import fill, small_disk
from test_save import ended, save

NOBODY = 65534
SCRIPTS = {"Workspace/A.lua": "local a = 1\nprint(a)\n"}


def as_nobody(command):
    subprocess.run(["sh", "-c", command], user=NOBODY, group=NOBODY, extra_groups=[], check=True,
                   timeout=60)


def brought(place, path, mode=0o700, owner=None):
    """A folder that was in the archive, as root's `tar x` makes it."""
    path = os.path.join(place, path)
    os.makedirs(path, mode=0o700, exist_ok=True)
    os.chmod(path, mode)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


# --- whose folders they are -----------------------------------------------------------------------

def test_stranger_owns_no_folder_of_ours(program, places, folder):
    if os.getuid() != 0:
        raise Skip("only root can give files away")
    os.chmod(folder, 0o755)
    for name, around, inside in (("a", None, NOBODY), ("b", NOBODY, None)):
        place = small_place(folder, name, SCRIPTS)
        brought(place, ".sandlot", 0o755, around)
        data = brought(place, ".sandlot/data", 0o777, inside)
        said = build(program, place, code=1).stderr
        check("another user" in said and "chown" in said, said)
        check(os.listdir(data) == [], "nothing was written into it")
        done = subprocess.run([program, "world", "--place", place, "--port", "0"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        check(done.returncode == 1 and "another user" in done.stderr, done.stderr)
        build(program, place, "--adopt", code=1)
        # As it is told to.
        for path in (f"{place}/.sandlot", data):
            os.chown(path, 0, 0)
            os.chmod(path, 0o700)
        build(program, place)
        build(program, place, "--verify")
    # The cache, too: its content is not trusted, but it is written to.
    place = small_place(folder, "c", SCRIPTS)
    brought(place, ".sandlot")
    brought(place, ".sandlot/cache", 0o755, NOBODY)
    check("another user" in build(program, place, code=1).stderr, "the cache is nobody's")


def test_stranger_puts_no_key_of_his_in(program, places, folder):
    """A folder that the operator named may be anybody's; the key in it must be our own."""
    if os.getuid() != 0:
        raise Skip("only root can give files away")
    os.chmod(folder, 0o755)
    place, data = small_place(folder, "place", SCRIPTS), brought(folder, "data", 0o777, NOBODY)
    world = World(program, place, data)
    world.stop()
    as_nobody(f"umask 077; cd '{data}' && mv ticket.key ours && head -c 64 /dev/zero > ticket.key")
    done = subprocess.run([program, "world", "--place", place, "--port", "0", "--data", data],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    check(done.returncode == 1 and "ticket.key: " in done.stderr, done.stderr)
    os.remove(f"{data}/ticket.key")
    os.rename(f"{data}/ours", f"{data}/ticket.key")
    World(program, place, data).stop()


def test_stranger_writes_to_no_folder_of_ours(program, places, folder):
    for name in (".sandlot", ".sandlot/data", ".sandlot/cache"):
        place = small_place(folder, name.replace("/", "-"), SCRIPTS)
        brought(place, ".sandlot")
        path = brought(place, name, 0o777)
        said = build(program, place, code=1).stderr
        check("others may write" in said and "chmod" in said, said)
        os.chmod(path, 0o755)
        build(program, place)
    # Our own folders are never so, whatever the umask is.
    place = os.path.join(folder, "new")
    command = f'umask 000; exec "$0" new "{place}"'
    subprocess.run(["sh", "-c", command, program], check=True, capture_output=True, timeout=60)
    build(program, place)


def test_stranger_fills_no_data_folder(program, places, folder):
    """Links where the blobs will be, a log for the database that is still to be made."""
    place = small_place(folder, "place", SCRIPTS)
    brought(place, ".sandlot")
    brought(place, ".sandlot/data/blobs")
    os.symlink(folder, f"{place}/.sandlot/data/blobs/00")
    check("made elsewhere" in build(program, place, code=1).stderr, "it is not empty")


# --- git ------------------------------------------------------------------------------------------

def test_stranger_shows_no_key_to_git(program, places, folder):
    place = small_place(folder, "place", SCRIPTS)
    for path in (".sandlot", ".sandlot/data", ".sandlot/cache"):
        brought(place, path)
        write(place, f"{path}/.gitignore", "!*\n")
    environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")

    def git(*words):
        return subprocess.run(["git", *words], cwd=place, env=environment, check=True, text=True,
                              capture_output=True, timeout=60).stdout
    has_git = shutil.which("git") is not None
    if has_git:
        git("init", "-q")
        git("add", "-A")
    build(program, place)
    for again in range(2):
        for path in (".sandlot", ".sandlot/data"):
            with open(f"{place}/{path}/.gitignore", encoding="utf-8") as file:
                check(file.read() == "*\n", f"{path}/.gitignore is ours")
            # A pull brings them back.
            write(place, f"{path}/.gitignore", "!*\n")
        build(program, place)
        if has_git:
            git("add", "-A")
            check("ticket.key" not in git("ls-files"), git("ls-files"))


# --- links, pipes, things aside -------------------------------------------------------------------

def everything(folder):
    found = []
    for root, _, names in os.walk(folder):
        found += [os.path.join(root, name) for name in names]
    return found


def test_stranger_links_lead_no_cache_out(program, places, folder):
    outside = os.path.join(folder, "outside")
    place = small_place(folder, "place", SCRIPTS)
    os.mkdir(outside)
    for part in ("entry", "blobs"):
        brought(place, ".sandlot/cache/" + part)
        for i in range(256):
            os.mkdir(f"{outside}/{part}{i:02x}")
            os.symlink(f"{outside}/{part}{i:02x}", f"{place}/.sandlot/cache/{part}/{i:02x}")
    os.chmod(f"{place}/.sandlot", 0o700)
    os.chmod(f"{place}/.sandlot/cache", 0o700)
    build(program, place)
    build(program, place)
    check(everything(outside) == [], f"written outside: {everything(outside)}")
    two = small_place(folder, "two", SCRIPTS)
    brought(two, ".sandlot")
    brought(two, ".sandlot/cache")
    os.symlink(outside, f"{two}/.sandlot/cache/aside")
    write(outside, "1.0", "precious")
    build(program, two, code=1)
    check(everything(outside) == [f"{outside}/1.0"], f"outside: {everything(outside)}")


def test_stranger_pipes_keep_nobody_waiting(program, places, folder):
    place = small_place(folder, "place", SCRIPTS)
    build(program, place)
    entries = everything(f"{place}/.sandlot/cache")
    check(len(entries) > 3, f"there is a cache: {entries}")
    for path in entries:
        if not path.endswith(".gitignore"):
            os.remove(path)
            os.mkfifo(path)
    answer = build_json(program, place)
    check(answer["compiled"] == 1, f"{answer}")
    answer = build_json(program, place)
    check(answer["compiled"] == 0, f"they were replaced: {answer}")
    os.remove(f"{place}/.sandlot/types/sandlot.lua")
    os.mkfifo(f"{place}/.sandlot/types/sandlot.lua")
    done = subprocess.run([program, "new", place, "--types"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)
    check(done.returncode == 1 and "sandlot.lua" in done.stderr, done.stderr)
    said = build(program, place).stderr
    check("no types for editors" in said and "sandlot.lua" in said, f"it is built all the same: {said}")
    for name in ("build.lock", "client/assets.json", "data/made-here", "data/ticket.key",
                 "data/ticket.key.old", "data/.gitignore", ".gitignore", "save.lock"):
        path = f"{place}/.sandlot/{name}"
        kept = path + ".kept"
        if os.path.exists(path):
            os.rename(path, kept)
        os.mkfifo(path)
        done = subprocess.run([program, "build", place, "--allow-weak-jail"], timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(done.returncode in (0, 1), f"{name}: {done}")
        os.remove(path)
        if os.path.exists(kept):
            os.rename(kept, path)
    build(program, place)


def test_stranger_leaves_nothing_in_artifacts(program, places, folder):
    place = small_place(folder, "place", SCRIPTS)
    deep = "/".join(["d"] * 40)
    for path in (f"client/{deep}/evil.rune", f"server/{deep}/evil.rune", f"assets.json/{deep}/x",
                 f"{deep}/x"):
        write(place, f".sandlot/aside/{path}", "evil")
    os.chmod(f"{place}/.sandlot", 0o700)
    build(program, place)
    check(sorted(side(place, "client")) == ["Workspace/A.rune", "manifest.json"],
          f"{sorted(side(place, 'client'))}")
    check(sorted(side(place, "server")) == ["Workspace/A.rune", "manifest.json"],
          f"{sorted(side(place, 'server'))}")
    check(os.path.isfile(f"{place}/.sandlot/client/assets.json"), "and the list")
    # Strays whose names are hidden are strays.
    write(place, ".sandlot/client/soul/.evil.rune", "evil")
    write(place, ".sandlot/client/soul/node_modules/evil.rune", "evil")
    build(program, place, "--verify", code=1)
    build(program, place)
    build(program, place, "--verify")
    check(sorted(side(place, "client")) == ["Workspace/A.rune", "manifest.json"],
          f"{sorted(side(place, 'client'))}")


# --- data elsewhere -------------------------------------------------------------------------------

def test_stranger_place_stays_as_it_is(program, places, folder):
    """With --data elsewhere nothing is written into the place, which may be read-only."""
    place, data = small_place(folder, "place", SCRIPTS), os.path.join(folder, "data")
    before = sorted(everything(place))
    for path in (place, f"{place}/Workspace"):
        os.chmod(path, 0o555)  # root is not held by that, and must not try
    World(program, place, data).stop()
    for path in (place, f"{place}/Workspace"):
        os.chmod(path, 0o755)
    check(sorted(everything(place)) == before and not os.path.exists(f"{place}/.sandlot"),
          f"{everything(place)}")
    # Saving writes the script, and the job that follows no artifacts.
    world = World(program, place, data)
    status, answer = save(world, "Workspace/B.lua", "print(2)\n", None, place="place")
    check(status == 200, f"{status} {answer}")
    check(ended(world, answer["job_id"])["status"] == "done", "it is built")
    world.stop()
    check(sorted(everything(place)) == sorted([*before, f"{place}/.sandlot/save.lock",
                                                f"{place}/Workspace/B.lua"]),
          f"{everything(place)}")


def remount(folder, read_only):
    flags = 0x20 | (0x1 if read_only else 0)  # MS_REMOUNT, MS_RDONLY
    check(ctypes.CDLL(None).mount(None, folder.encode(), None, flags, None) == 0, "remount")


def test_stranger_disk_refuses(program, places, folder):
    """What the disk refuses is said as that, with what to do."""
    disk = os.path.join(folder, "disk")
    if not small_disk(disk, 8):
        raise Skip("no file system can be mounted here")
    place, data = small_place(disk, "place", SCRIPTS), os.path.join(folder, "data")
    fill(os.path.join(disk, "filler"))
    said = build(program, place, code=1).stderr
    check("No space left on device" in said and "remove it" not in said, said)
    os.remove(os.path.join(disk, "filler"))
    shutil.rmtree(os.path.join(place, ".sandlot"), ignore_errors=True)
    for is_built in (False, True):
        if is_built:
            build(program, place)
        remount(disk, read_only=True)
        said = build(program, place, code=1).stderr
        check("read-only: build a copy" in said, said)
        done = subprocess.run([program, "world", place, "--port", "0", "--allow-weak-jail"], timeout=60,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        check(done.returncode == 1 and "sandlot world DIR --data FOLDER" in done.stderr, done.stderr)
        World(program, place, data).stop()
        remount(disk, read_only=False)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

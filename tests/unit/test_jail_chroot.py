"""test_jail again where the root directory is no mount point, as in a chroot made by debootstrap.

`test_jail_chroot.py TEST_JAIL`: makes a folder with that program, the libraries that it needs and a
few commands, and runs it there. Root runs every test. An ordinary user does it in a user namespace,
which has one user and so cannot become another: there the tests of what is forbidden are run. Where
no namespace can be had the test says so and is skipped (exit code 77).
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
SKIPPED = 77
COMMANDS = ("/bin/sh", "/bin/ls", "/bin/cat", "/bin/sleep", "/bin/true")

libc = ctypes.CDLL(None, use_errno=True)


def copy_with_libraries(path, root, name):
    """Copies a program, and whatever the loader would bring with it."""
    said = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    for source, target in [(path, name)] + [(one, one) for one in re.findall(r"(/\S+) \(", said)]:
        copy = root + target
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if not os.path.exists(copy):
            shutil.copy(os.path.realpath(source), copy)


def make_root(program, root):
    copy_with_libraries(program, root, "/test_jail")
    for command in COMMANDS:
        copy_with_libraries(command, root, command)
    for folder in ("etc", "dev", "proc", "tmp", "usr"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    for name in ("passwd", "ld.so.cache"):
        shutil.copy(f"/etc/{name}", f"{root}/etc/{name}")
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o755)  # nobody has to reach the program's files too


def own_mounts():
    """A mount namespace of this process's own; as an ordinary user, by a user namespace."""
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user != 0 else 0)) != 0:
        return False
    if user != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"),
                           ("gid_map", f"0 {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    return libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0


def run_inside(root, tests):
    """In a child: /proc and /dev of the system, then the chroot, then the program."""
    if not own_mounts():
        print("skip  test_jail_chroot: no mount namespace can be had here")
        sys.stdout.flush()
        os._exit(SKIPPED)
    for folder in ("proc", "dev"):
        if libc.mount(f"/{folder}".encode(), f"{root}/{folder}".encode(), None,
                      MS_BIND | MS_REC, None) != 0:
            print(f"FAIL  /{folder}: {os.strerror(ctypes.get_errno())}")
            sys.stdout.flush()
            os._exit(1)
    os.chroot(root)
    os.chdir("/")
    for test in tests:
        code = subprocess.run(["/test_jail", *test], check=False).returncode
        if code != 0:
            os._exit(1)
    os._exit(0)


def main():
    root = tempfile.mkdtemp(prefix="sandlot-chroot-")
    try:
        make_root(sys.argv[1], root)
        if os.path.ismount(root):
            print(f"FAIL  {root} is a mount point, which is not what is tested")
            return 1
        tests = [[]] if os.getuid() == 0 else [["nothing_that_is_forbidden"], ["not_below"],
                                               ["options_of_sockets"], ["is_no_layer"]]
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            run_inside(root, tests)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

"""contrib/sandlot.service: systemd accepts it, and the jail has all its layers under its filter of system
calls, as an ordinary user without capabilities. The same for the profile that containers get.

There is no systemd that runs services where tests run. So the filter is made here as systemd makes it:
the sets of system calls are those that systemd-analyze prints, and the filter is libseccomp's.
"""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

from support import PATIENCE, Skip, check, run, wait_until

CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib")
UNIT = os.path.join(CONTRIB, "sandlot.service")
EXPOSURE_MAX = 3.0  # of systemd-analyze security; what is left is what the jail needs
NAMESPACES = {"cgroup": 0x02000000, "ipc": 0x08000000, "mnt": 0x20000, "net": 0x40000000,
              "pid": 0x20000000, "user": 0x10000000, "uts": 0x04000000}
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
ACT_ALLOW, ACT_EPERM, ACT_ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
CMP_MASKED_EQ = 7


def unit_value(name, path=UNIT):
    with open(path, encoding="utf-8") as file:
        values = re.findall(rf"^{name}=(.*)$", file.read(), re.MULTILINE)
    check(len(values) == 1, f"{name} stands in the unit once: {values}")
    return values[0].split()


def test_systemd_unit_is_valid(program, places, folder):
    """systemd finds nothing wrong but the program, which is not installed here."""
    analyze = "systemd-analyze"
    names = ("sandlot.service", "sandlot-backup.service", "sandlot-backup.timer")
    done = subprocess.run([analyze, "verify", *(os.path.join(CONTRIB, name) for name in names)],
                          capture_output=True, text=True, timeout=60, check=False)
    left = [line for line in done.stderr.splitlines()
            if line and "is not executable: No such file or directory" not in line and "sandlot" in line]
    check(not left, "\n".join(left))
    done = subprocess.run([analyze, "security", "--offline=true", "--no-pager", UNIT],
                          capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    check(found and float(found[1]) <= EXPOSURE_MAX, done.stdout[-200:] + done.stderr)
    print(f"      exposure {found[1]}")


# --- the filter of system calls --------------------------------------------------------------------


def calls_of(names):
    """The system calls of a SystemCallFilter=, with those of its sets."""
    listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], check=True,
                            capture_output=True, text=True, timeout=60).stdout
    sets, current = {}, None
    for line in listed.splitlines():
        word = line.strip().split(" ")[0]
        if line.startswith("@"):
            current = sets.setdefault(word, [])
        elif current is not None and word and not word.startswith("#"):
            current.append(word)
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        waiting += sets.pop(name, []) if name.startswith("@") else []
        found |= set() if name.startswith("@") else {name}
    return found


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]


def make_filter(call_names, namespaces):
    """As systemd makes it; the function that installs it."""
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                           ctypes.POINTER(Compare)]
    lib.seccomp_load.argtypes = [ctypes.c_void_p]
    filters = []
    # RestrictNamespaces=
    spaces = lib.seccomp_init(ACT_ALLOW)
    for name in set(NAMESPACES) - set(namespaces):
        flag = NAMESPACES[name]
        for call in (b"unshare", b"clone"):
            compare = Compare(0, CMP_MASKED_EQ, flag, flag)
            check(lib.seccomp_rule_add_array(spaces, ACT_EPERM, lib.seccomp_syscall_resolve_name(call), 1,
                                             ctypes.byref(compare)) == 0, f"{name}")
    check(lib.seccomp_rule_add_array(spaces, ACT_ENOSYS, lib.seccomp_syscall_resolve_name(b"clone3"), 0,
                                     None) == 0, "clone3")
    filters.append(spaces)
    # SystemCallFilter=
    calls = lib.seccomp_init(ACT_EPERM)
    for name in call_names:
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # else it is of another machine
            lib.seccomp_rule_add_array(calls, ACT_ALLOW, number, 0, None)
    filters.append(calls)

    def install():
        for one in filters:
            if lib.seccomp_load(one) != 0:
                os._exit(99)
    return install


def restricted(install, user):
    """In the child: an ordinary user, without capabilities, under the filter."""
    libc = ctypes.CDLL(None)

    def before():
        if user is not None:
            for number in range(64):
                libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        install()
    return before


def layers_under(program, place, data, before):
    """What the log says of the jail; the whole output if it says nothing."""
    process = subprocess.Popen([program, "world", "--place", place, "--data", data, "--port", "0"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, preexec_fn=before, cwd=data)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True)
    reader.start()
    try:
        wait_until(lambda: process.poll() is not None or any("jail: " in line for line in lines),
                   "a line about the jail", 30)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(6 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        reader.join(5)
    found = [re.search(r"jail: ([^,]*)", line) for line in lines]
    return next((line[1] for line in found if line), "".join(lines))


def check_layers(program, places, folder, install):
    """The jail has all layers under this filter, for an ordinary user without capabilities."""
    user = 65534 if os.getuid() == 0 else None
    place, data = folder + "/island", folder + "/data"
    copy = folder + "/sandlot"  # where an ordinary user can read it
    shutil.copytree(os.path.join(places, "island"), place, ignore=shutil.ignore_patterns(".sandlot"))
    shutil.copy(program, copy)
    os.makedirs(data, mode=0o700)
    os.chmod(folder, 0o755)
    if user is not None:
        os.chown(data, user, user)
    plain = layers_under(copy, place, data, restricted(lambda: None, user))
    if plain != "all layers":
        raise Skip(f"an ordinary user has no whole jail here: {plain[-300:]}")
    found = layers_under(copy, place, data, restricted(install, user))
    check(found == "all layers", f"under the filter: {found}")


def test_systemd_unit_holds_the_jail(program, places, folder):
    calls = calls_of(unit_value("SystemCallFilter"))
    check_layers(program, places, folder, make_filter(calls, unit_value("RestrictNamespaces")))


def test_systemd_container_profile_holds_the_jail(program, places, folder):
    """The same under contrib/seccomp.json, which containers get."""
    with open(os.path.join(CONTRIB, "seccomp.json"), encoding="utf-8") as file:
        profile = json.load(file)
    check(profile["defaultAction"] == "SCMP_ACT_ERRNO" and len(profile["syscalls"]) == 1, "a list")
    calls = profile["syscalls"][0]["names"]
    check(not {"bpf", "kexec_load", "init_module", "ptrace", "open_by_handle_at"} & set(calls), "not these")
    check_layers(program, places, folder, make_filter(calls, NAMESPACES))


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Machines for tests, on one machine: a network namespace each, joined by a bridge, and PostgreSQL nodes
under pg_auto_failover. It needs root, and the Debian packages nftables, postgresql-15-auto-failover and
pg-auto-failover-cli.

Every process that is started here is ended by its own id, and every namespace and folder removed."""

import glob
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import postgres  # noqa: E402

SECONDS = 90
PORT = 5432
NET = "10.78.0."
MONITOR = 20


def missing():
    """Why there can be no machines here; None: there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "nft", "nsenter", "pg_autoctl"):
        if shutil.which(program) is None:
            return f"there is no program {program}; tools/setup installs it"
    if not glob.glob("/usr/lib/postgresql/*/lib/pgautofailover.so"):
        return "there is no extension pgautofailover; tools/setup installs it"
    return None


def children(pid):
    """A process and all that it started, and they."""
    found, left = [], [pid]
    while left:
        at = left.pop()
        found.append(at)
        for path in glob.glob(f"/proc/{at}/task/*/children"):
            try:
                with open(path, encoding="ascii") as file:
                    left += [int(word) for word in file.read().split()]
            except OSError:
                pass
    return found


def tell(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Network:
    """A bridge in a namespace of its own; machines are namespaces with one address each."""

    def __init__(self):
        self.mark = f"sl{os.getpid()}"
        self.names, self.cuts = [], []
        self.ip("netns", "add", f"{self.mark}s")
        self.names.append(f"{self.mark}s")
        self.ip("-n", f"{self.mark}s", "link", "add", "br0", "type", "bridge")
        self.ip("-n", f"{self.mark}s", "link", "set", "br0", "up")

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=SECONDS)

    def add(self, number):
        """The machine with that last number of its address."""
        name = f"{self.mark}m{number}"
        self.ip("netns", "add", name)
        self.names.append(name)
        self.ip("link", "add", f"v{number}", "netns", f"{self.mark}s", "type", "veth", "peer", "name",
                "eth0", "netns", name)
        self.ip("-n", f"{self.mark}s", "link", "set", f"v{number}", "master", "br0", "up")
        self.ip("-n", name, "addr", "add", f"{NET}{number}/24", "dev", "eth0")
        self.ip("-n", name, "link", "set", "eth0", "up")
        self.ip("-n", name, "link", "set", "lo", "up")
        return f"{NET}{number}"

    def inside(self, number, *words):
        # Not `ip netns exec`, which mounts, and fails where the root directory is no mount point.
        return ["nsenter", f"--net=/run/netns/{self.mark}m{number}", "--", *words]

    def rules(self, number, text):
        subprocess.run(self.inside(number, "nft", "-f", "-"), input=text, text=True, check=True,
                       capture_output=True, timeout=SECONDS)

    def cut(self, one, other):
        """Nothing gets through between two machines, and nobody is told so."""
        self.rules(one, "table inet cut\ndelete table inet cut\ntable inet cut {\n"
                   f" chain i {{ type filter hook input priority 0\n  ip saddr {NET}{other} drop\n }}\n"
                   f" chain o {{ type filter hook output priority 0\n  ip daddr {NET}{other} drop\n }}\n"
                   "}\n")
        self.cuts.append(one)

    def mend(self):
        for number in self.cuts:
            self.rules(number, "delete table inet cut\n")
        self.cuts = []

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True,
                           timeout=SECONDS)


class Node:
    """pg_autoctl with its PostgreSQL, on a machine of its own."""

    def __init__(self, network, number, folder, what, *options):
        self.network, self.number, self.folder = network, number, folder
        self.address = network.add(number)
        self.data = os.path.join(folder, "data")
        nobody = pwd.getpwnam("nobody")
        os.makedirs(folder)
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        # PostgreSQL refuses to run as root, and Debian's has its Unix socket in /run/postgresql: each
        # node has a folder of its own there.
        self.as_user = ["unshare", "--mount", "--", "sh", "-c",
                        f'mount --bind "{folder}" /run/postgresql && exec setpriv '
                        f'--reuid={nobody.pw_uid} --regid={nobody.pw_gid} --clear-groups "$@"', "sh"]
        self.variables = {**os.environ, "HOME": folder, "XDG_DATA_HOME": f"{folder}/share",
                          "XDG_CONFIG_HOME": f"{folder}/config", "XDG_RUNTIME_DIR": folder,
                          "LC_ALL": "C", "TMPDIR": folder,
                          "PATH": f"{postgres.programs()}:{os.environ['PATH']}"}
        self.process, self.said = None, ""
        self.autoctl("create", what, "--hostname", self.address, "--pgport", str(PORT), "--auth",
                     "trust", "--no-ssl", *options)
        # Everybody on this network may do everything.
        with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="ascii") as file:
            file.write(f"host all all {NET}0/24 trust\nhost replication all {NET}0/24 trust\n")

    def autoctl(self, *words):
        done = subprocess.run(
            self.network.inside(self.number, *self.as_user, "pg_autoctl", *words, "--pgdata", self.data),
            cwd=self.folder, env=self.variables, capture_output=True, text=True, timeout=SECONDS,
            check=False)
        if done.returncode != 0:
            raise SystemExit(f"pg_autoctl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def configure(self, text):
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="ascii") as file:
            file.write(text)

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.network.inside(self.number, *self.as_user, "pg_autoctl", "run", "--pgdata",
                                    self.data),
                cwd=self.folder, env=self.variables, stdout=log, stderr=log)

    def ask(self, text, database="postgres", seconds=SECONDS):
        """What the statements print; None if they failed."""
        try:
            done = subprocess.run(
                self.network.inside(self.number, os.path.join(postgres.programs(), "psql"), "-h",
                                    self.address, "-U", "nobody", "-d", database, "-X", "-q", "-v",
                                    "ON_ERROR_STOP=1", "-A", "-t"),
                input=text, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return None
        self.said = done.stderr
        return done.stdout.strip() if done.returncode == 0 else None

    def pids(self):
        """With the postmaster, which pg_autoctl may have left alone."""
        found = children(self.process.pid) if self.process.poll() is None else []
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
                postmaster = int(file.readline())
            with open(f"/proc/{postmaster}/cmdline", "rb") as file:
                if self.data.encode() in file.read():
                    found += [pid for pid in children(postmaster) if pid not in found]
        except (OSError, ValueError):
            pass
        return found

    def freeze(self):
        tell(self.pids(), signal.SIGSTOP)

    def thaw(self):
        tell(self.pids(), signal.SIGCONT)

    def kill(self):
        if self.process is not None:
            pids = self.pids()
            tell(pids, signal.SIGKILL)
            tell(pids, signal.SIGCONT)
            self.process.wait(SECONDS)


CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib")


def contrib(name):
    """What operators are told to use."""
    with open(os.path.join(CONTRIB, name), encoding="utf-8") as file:
        return "\n" + file.read()


MONITOR_OPTIONS = contrib("pg-monitor.conf") + "fsync = off\nshared_buffers = '16MB'\n"
NODE_OPTIONS = contrib("pg-node.conf") + "shared_buffers = '32MB'\n"
TIMEOUTS = re.findall(r"^# +pg_autoctl config set (\S+) (\d+)$", NODE_OPTIONS, re.MULTILINE)


class Databases:
    """A monitor and two nodes, one of them the synchronous standby of the other."""

    def __init__(self, network, folder):
        self.network, self.folder, self.nodes = network, folder, []
        self.monitor = None

    def open(self):
        self.monitor = Node(self.network, MONITOR, f"{self.folder}/monitor", "monitor")
        self.monitor.configure(MONITOR_OPTIONS)
        self.monitor.start()
        self.wait(lambda: self.monitor.ask("SELECT 1", "pg_auto_failover") == "1", "the monitor")
        for number in (MONITOR + 1, MONITOR + 2):
            self.add(number)
        primary = self.primary()
        for text in ("CREATE ROLE sandlot LOGIN SUPERUSER",
                     "CREATE DATABASE sandlot OWNER sandlot ENCODING UTF8 LOCALE 'C' TEMPLATE template0"):
            if primary.ask(text) is None:
                raise SystemExit(f"{text}: {primary.said}")

    def add(self, number):
        url = f"postgres://autoctl_node@{self.monitor.address}:{PORT}/pg_auto_failover?sslmode=disable"
        node = Node(self.network, number, f"{self.folder}/node{number}", "postgres", "--monitor", url,
                    "--name", f"node{number}", "--pg-hba-lan")
        node.configure(NODE_OPTIONS)
        for name, value in TIMEOUTS:
            node.autoctl("config", "set", name, value)
        self.nodes.append(node)
        node.start()
        states = ("single",) if len(self.nodes) == 1 else ("primary", "secondary")
        self.wait(lambda: sorted(self.states()) == sorted(states), f"node {number}")

    def states(self):
        text = self.monitor.ask("SELECT CASE WHEN reportedstate = goalstate AND health = 1 "
                                "THEN reportedstate::text ELSE 'not yet' END FROM pgautofailover.node",
                                "pg_auto_failover", 5)
        return text.split("\n") if text else []

    def is_whole(self):
        return sorted(self.states()) == ["primary", "secondary"]

    def wait(self, condition, what, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"not within {seconds} s: {what}; {self.states()}")
            time.sleep(0.2)

    def primary(self):
        """The node that can be written to; None: neither now."""
        for node in self.nodes:
            if node.ask("SELECT pg_is_in_recovery()", seconds=3) == "f":
                return node
        return None

    def other(self, node):
        return next(one for one in self.nodes if one is not node)

    def url(self):
        hosts = ",".join(f"{node.address}:{PORT}" for node in self.nodes)
        return f"postgres://sandlot@{hosts}/sandlot"

    def close(self):
        for node in [*self.nodes, self.monitor]:
            if node is not None:
                node.kill()


class Machines:
    """with Machines() as (network, databases): …"""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="sandlot-machines-")
        os.chmod(self.folder, 0o755)
        self.network = Network()
        self.databases = Databases(self.network, self.folder)

    def __enter__(self):
        try:
            self.databases.open()
        except BaseException:
            self.__exit__()
            raise
        return self.network, self.databases

    def __exit__(self, *_):
        self.databases.close()
        self.network.close()
        shutil.rmtree(self.folder, ignore_errors=True)

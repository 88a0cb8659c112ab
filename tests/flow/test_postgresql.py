"""The store's statements on a real PostgreSQL: every table is made, every statement prepares, and the
two statements that keep hosts apart do so when two connections run them at the same time.
  test_postgresql.py PRINT_STATEMENTS
The server runs in a temporary folder, on a Unix socket alone, and ends with the test."""
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

SECONDS = 60
DATABASE = ["-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-A", "-t"]


def fail(text):
    print(f"FAIL  {text}")
    sys.exit(1)


def check(condition, text):
    if not condition:
        fail(text)


def programs():
    """The folder of initdb and postgres, which Debian keeps out of PATH."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    folders += [os.path.dirname(shutil.which("initdb") or "")]
    for folder in folders:
        if folder and os.path.exists(os.path.join(folder, "initdb")):
            return folder
    return fail("PostgreSQL is not installed; tools/setup installs it (Debian package postgresql)")


class Server:
    """PostgreSQL refuses to run as root: then it runs as nobody."""

    def __init__(self, folder):
        self.bin, self.folder = programs(), folder
        self.as_user = []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self.as_user = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}",
                            "--clear-groups"]
        data = os.path.join(folder, "data")
        self.run("initdb", "-D", data, "-U", "sandlot", "-A", "trust", "-N", "-E", "UTF8",
                 "--locale=C")
        with open(os.path.join(folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                self.as_user + [os.path.join(self.bin, "postgres"), "-D", data, "-k", folder,
                                "-c", "listen_addresses=", "-c", "fsync=off"],
                cwd=folder, stdout=log, stderr=log)

    def run(self, name, *arguments):
        done = subprocess.run(self.as_user + [os.path.join(self.bin, name), *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=SECONDS,
                              check=False)
        check(done.returncode == 0, f"{name}: {done.stderr}")

    def wait(self):
        end = time.monotonic() + SECONDS
        while subprocess.run(self.psql() + ["-c", "SELECT 1"], capture_output=True,
                             timeout=SECONDS, check=False).returncode != 0:
            check(self.process.poll() is None and time.monotonic() < end, "the server does not start")
            time.sleep(0.05)

    def psql(self):
        return [os.path.join(self.bin, "psql"), "-h", self.folder, "-U", "sandlot", *DATABASE]

    def ask(self, text):
        """Runs statements on a connection of their own; gives what they print."""
        done = subprocess.run(self.psql(), input=text, capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        check(done.returncode == 0, f"{done.stderr}\nafter:\n{done.stdout}")
        return done.stdout

    def both(self, first, second):
        """Two connections: the second one runs while the transaction of the first is open."""
        one = subprocess.Popen(self.psql(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        one.stdin.write(f"BEGIN;\n{first}SELECT 'open';\n")
        one.stdin.flush()
        got = []
        while not got or got[-1] != "open\n":
            got.append(one.stdout.readline())
            check(got[-1] != "", "the first connection ended")
        two = subprocess.Popen(self.psql(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        two.stdin.write(second)
        two.stdin.close()
        end = time.monotonic() + SECONDS
        while "1" not in self.ask("SELECT count(*) FROM pg_locks WHERE NOT granted;"):
            check(time.monotonic() < end, "the second one does not wait for the first")
            time.sleep(0.05)
        one.stdin.write("COMMIT;\n")
        one.stdin.close()
        rest, other = one.stdout.read(), two.stdout.read()
        check(one.wait(SECONDS) == 0 and two.wait(SECONDS) == 0, "a connection failed")
        return "".join(got) + rest, other

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(SECONDS)


def check_races(server, statements):
    prepare = "".join(line + "\n" for line in statements.splitlines()
                      if re.match(r"PREPARE (HEAD_TAKE|HEAD_NEXT)\(", line))
    check(prepare.count("PREPARE") == 2, "the statements that are raced")
    # Columns without a checksum are enough: nothing reads them here.
    server.ask("INSERT INTO hosts(host_id, boot, expires_unix_ms) VALUES('a', '1', 1000), "
               "('b', '1', 1000);"
               "INSERT INTO world_head(world_id, epoch, seq, checksum) VALUES('w', 0, 0, 0);")
    echo = "\\set QUIET off\n"  # prints UPDATE and how many rows

    def take(host, old, now=1):
        return (f"{prepare}{echo}EXECUTE HEAD_TAKE({old + 1}, 0, 'w', {old}, '{host}', {now}, '1');\n"
                "\\set QUIET on\n")

    def save(epoch, seq):
        return (f"{prepare}{echo}EXECUTE HEAD_NEXT({seq}, 0, 'w', {epoch}, {seq - 1}, 0);\n"
                "\\set QUIET on\n")

    def lease(host, epoch):
        return (f"INSERT INTO world_leases(world_id, host_id, boot, epoch) "
                f"VALUES('w', '{host}', '1', {epoch}) ON CONFLICT(world_id) DO UPDATE "
                "SET host_id = excluded.host_id, epoch = excluded.epoch;\n")

    first, second = server.both(take("a", 0) + lease("a", 1), take("b", 0))
    check("UPDATE 1" in first and "UPDATE 0" in second, f"two take a world: {first} {second}")
    first, second = server.both(save(1, 1), save(1, 1))
    check("UPDATE 1" in first and "UPDATE 0" in second, f"one save twice: {first} {second}")
    # Host b takes it when the row of host a has run out; a save of host a is on its way.
    server.ask("UPDATE hosts SET expires_unix_ms = 2 WHERE host_id = 'a';")
    first, second = server.both(take("b", 1, 2) + lease("b", 2), save(1, 2))
    check("UPDATE 1" in first and "UPDATE 0" in second, f"a late save: {first} {second}")
    check("UPDATE 0" in server.ask(take("a", 2, 2)), "a host whose row has run out takes nothing")
    check("UPDATE 1" in server.ask(save(2, 1)), "the new holder saves")


def main():
    statements = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    wanted = len(re.findall("^PREPARE ", statements, re.MULTILINE))
    check(wanted > 60, f"{wanted} statements")
    with tempfile.TemporaryDirectory(prefix="sandlot-postgresql-") as folder:
        server = Server(folder)
        try:
            server.wait()
            prepared = server.ask(statements +
                                  "SELECT count(*) FROM pg_prepared_statements;").split()
            check(prepared == [str(wanted)], f"{prepared} of {wanted} statements prepare")
            check_races(server, statements)
            print(f"ok    {wanted} statements prepare, and races have one winner")
        finally:
            server.stop()


main()

"""A PostgreSQL server for tests: in a folder of its own, on a Unix socket alone, ended with the test.
  postgres.py PROGRAM [ARGUMENT]…     runs the program with SANDLOT_TEST_STORE set to the server's URL
"""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 60


def programs():
    """The folder of initdb and postgres, which Debian keeps out of PATH."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    folders += [os.path.dirname(shutil.which("initdb") or "")]
    for folder in folders:
        if folder and os.path.exists(os.path.join(folder, "initdb")):
            return folder
    raise SystemExit("PostgreSQL is not installed; tools/setup installs it (Debian package postgresql)")


class Server:
    """PostgreSQL refuses to run as root: then it runs as nobody."""

    def __init__(self, folder, options=()):
        self.bin, self.folder, self.options = programs(), folder, list(options)
        self.as_user = []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self.as_user = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}",
                            "--clear-groups"]
        self.data = os.path.join(folder, "data")
        self.run("initdb", "-D", self.data, "-U", "sandlot", "-A", "trust", "-N", "-E", "UTF8",
                 "--locale=C")
        self.process = None
        self.start()

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.as_user + [os.path.join(self.bin, "postgres"), "-D", self.data, "-k", self.folder,
                                "-c", "listen_addresses=", "-c", "fsync=off", *self.options],
                cwd=self.folder, stdout=log, stderr=log)

    def run(self, name, *arguments):
        done = subprocess.run(self.as_user + [os.path.join(self.bin, name), *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=SECONDS,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")

    def wait(self):
        end = time.monotonic() + SECONDS
        while subprocess.run(self.psql() + ["-c", "SELECT 1"], capture_output=True,
                             timeout=SECONDS, check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the PostgreSQL server does not start")
            time.sleep(0.05)

    def psql(self, database="postgres"):
        return [os.path.join(self.bin, "psql"), "-h", self.folder, "-U", "sandlot", "-d", database,
                "-X", "-q", "-v", "ON_ERROR_STOP=1", "-A", "-t"]

    def ask(self, text, database="postgres"):
        """Runs statements on a connection of their own; gives what they print."""
        done = subprocess.run(self.psql(database), input=text, capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{done.stderr}\nafter:\n{done.stdout}")
        return done.stdout

    def url(self, database="postgres"):
        folder = self.folder.replace("/", "%2F")
        return f"postgres://sandlot@{folder}/{database}"

    def stop(self, how=signal.SIGQUIT):
        self.process.send_signal(how)
        self.process.wait(SECONDS)


class Running:
    """with Running() as server: …"""

    def __init__(self, options=()):
        self.folder = tempfile.mkdtemp(prefix="sandlot-postgresql-")
        self.options = options
        self.server = None

    def __enter__(self):
        self.server = Server(self.folder, self.options)
        self.server.wait()
        return self.server

    def __exit__(self, *_):
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    with Running() as server:
        environment = dict(os.environ, SANDLOT_TEST_STORE=server.url())
        done = subprocess.run(sys.argv[1:], env=environment, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()

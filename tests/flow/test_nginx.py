"""contrib/nginx.conf in a real nginx, in front of a real `sandlot up`."""

import contextlib
import json
import os
import socket
import subprocess
import sys

from hosts import Host
from support import Player, check, run, wait_until
from test_up import Up

CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib")
KEY = "k" * 48
NGINX = os.environ.get("SANDLOT_NGINX", "/usr/sbin/nginx")

WRAPPER = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/sandlot.conf;
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def nginx(folder, sandlot_port):
    """The file of contrib/ with other ports, in front of that port; gives its own."""
    port = free_port()
    with open(os.path.join(CONTRIB, "nginx.conf"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("127.0.0.1:5000", f"127.0.0.1:{sandlot_port}") \
        .replace("    listen 80;\n    listen [::]:80;\n", f"    listen 127.0.0.1:{port};\n")
    check(f"127.0.0.1:{port}" in text and f":{sandlot_port};" in text, "the ports are replaced")
    for name, content in (("sandlot.conf", text), ("nginx.conf", WRAPPER.format(folder=folder))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    command = [NGINX, "-p", folder, "-c", folder + "/nginx.conf", "-e", folder + "/error.log"]
    done = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=30, check=False)
    check(done.returncode == 0, done.stderr)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), "nginx listens", 10)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


class Front(Host):
    """Looks like a host; is reached through nginx, by the name of the public URL."""

    host_name = "play.example"

    def __init__(self, port):
        self.port = port

    def request(self, method, path, body=None, headers=None):
        return super().request(method, path, body, {"Host": self.host_name, **(headers or {})})


def test_nginx_passes_websockets(program, places, folder):
    """A guest signs in, joins and plays through a real nginx, by the name of the public URL and by no other."""
    up = Up(program, folder, "--public-url", "http://play.example", "--trusted-proxy", "127.0.0.1",
            variables={"SECRET_KEY": KEY})
    try:
        with nginx(folder, up.port) as port:
            front = Front(port)
            check(front.request("GET", "/healthz")[0] == 200, "health")
            check(front.request("GET", "/healthz", headers={"Host": "evil.example"})[0] == 421, "other name")
            status, _, body = front.request("POST", "/login", {"username": "bo"})
            check(status == 200, f"/login says {status}: {body}")
            answer = front.join(token=json.loads(body)["session_token"])
            check(answer["server_address"].startswith("ws://play.example/"), f"{answer}")
            front.room = answer["room_code"]
            player = Player(front, ticket=answer["ticket"])
            player.walk(1.0)
            print(f"      {len(player.snapshots)} snapshots in a second")
            check(len(player.snapshots) > 5, f"{len(player.snapshots)} snapshots through nginx")
            player.close()
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

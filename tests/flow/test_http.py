"""Who may ask a world for strangers, and how often: the public URL, trusted proxies, and the number of
WebSockets of one address."""

import json
import os
import signal
import subprocess
import sys
import time

from support import WebSocket, World, check, run, wait_until

PER_ADDRESS = 64
SILENT_S = 8  # the world closes sockets that say nothing a little later


class OpenWorld(World):
    def wait_line(self, pattern, seconds=90.0):
        return super().wait_line(pattern.replace(r"127\.0\.0\.1", r"[^:/]*"), seconds)


def open_world(program, places, folder, *options):
    return OpenWorld(program, os.path.join(places, "island"), os.path.join(folder, "data"),
                     "--address", "0.0.0.0", *options)


def upgrade(world, address):
    return WebSocket(world.port, f"/api/rooms/{world.room}/ws",
                     headers=[f"X-Forwarded-For: 6.6.6.6, {address}"] if address else ())


def metric(world, name):
    text = world.request("GET", "/metrics")[2].decode()
    return int(next(line.split()[1] for line in text.splitlines()
                    if line.startswith(f"sandlot_{name} ")))


def fill(world, address_of):
    """Opens sockets until one is refused. The address of the nth is address_of(n)."""
    began = time.monotonic()
    links = []
    while len(links) < 4 * PER_ADDRESS:
        link = upgrade(world, address_of(len(links)))
        if link.status != 101:
            check(link.status == 429 and "too_many_sockets" in link.buffer.decode(), link.head)
            check("Retry-After" in link.head, link.head)
            quick = time.monotonic() - began < SILENT_S
            check(len(links) == PER_ADDRESS if quick else len(links) >= PER_ADDRESS,
                  f"refused after {len(links)} sockets")
            return links
        links.append(link)
    raise AssertionError(f"{len(links)} sockets of one address are open")


def test_http_names_and_proxies(program, places, folder):
    world = open_world(program, places, folder, "--public-url", "https://play.example",
                       "--trusted-proxy", "127.0.0.0/8")
    try:
        for host, want in (("play.example", 200), ("play.example:443", 200), ("localhost", 200),
                           ("evil.example", 421), ("play.example.evil.example", 421)):
            status, _, body = world.request("GET", "/healthz", None, {"Host": host})
            check(status == want, f"{host}: {status} {body}")
            check(status == 200 or json.loads(body)["error"]["code"] == "misdirected", f"{body}")
        for origin, want in (("https://play.example", 101), ("https://evil.example", 403),
                             ("http://play.example", 403)):
            link = WebSocket(world.port, f"/api/rooms/{world.room}/ws",
                             headers=[f"Origin: {origin}"])
            check(link.status == want, f"{origin}: {link.head}")
            link.socket.close()
        # Nobody behind the proxy is on this machine, whatever they claim.
        for forwarded in ("127.0.0.1, 192.0.2.1", "nonsense"):
            status, _, body = world.request("POST", "/join", {}, {"X-Forwarded-For": forwarded})
            check(status == 403, f"{forwarded}: {status} {body}")
        check(metric(world, "http_misdirected_total") == 2, "misdirected requests are counted")
        world.stop()
    finally:
        world.kill()


def test_http_sockets_of_one_address(program, places, folder):
    world = open_world(program, places, folder, "--trusted-proxy", "127.0.0.1")
    try:
        links = fill(world, lambda number: "192.0.2.1")
        other = upgrade(world, "192.0.2.2")
        check(other.status == 101, f"another address: {other.head}")
        # The world says when one is over, and then there is room again.
        links.pop().socket.close()
        wait_until(lambda: upgrade(world, "192.0.2.1").status == 101, "there is room again")
        # A /64 of IPv6 is one address.
        links += fill(world, lambda number: f"2001:db8::{number:x}")
        check(metric(world, "http_sockets_refused_total") >= 2, "refused sockets are counted")
        # A process that is killed takes its sockets with it.
        os.kill(world.children()[0], signal.SIGKILL)
        wait_until(lambda: metric(world, "http_sockets") == 0, "no socket is counted any more")
        wait_until(world.is_ready, "the world is ready again", 30)
        link = upgrade(world, "192.0.2.1")
        check(link.status == 101, f"after the crash: {link.head}")
        for link in [*links, other]:
            link.socket.close()
        world.stop()
    finally:
        world.kill()


def test_http_without_trusted_proxies(program, places, folder):
    """What a stranger says about where it comes from counts for nothing."""
    world = open_world(program, places, folder)
    try:
        status, _, body = world.request("GET", "/healthz", None, {"Host": "play.example"})
        check(status == 421, f"there is no public URL: {status} {body}")
        for link in fill(world, lambda number: f"192.0.2.{number}"):
            link.socket.close()
        world.stop()
    finally:
        world.kill()


def test_http_invalid_options(program, places, folder):
    for options in (["--trusted-proxy", "10.0.0.1/8"], ["--trusted-proxy", "proxy.example"],
                    ["--public-url", "play.example"], ["--public-url", "https://play.example/a"],
                    ["--trusted-proxy", "10.0.0.1"] * 17):
        done = subprocess.run([program, "world", os.path.join(places, "island"), *options],
                              capture_output=True, text=True, timeout=20, check=False)
        check(done.returncode == 2 and f"the value of {options[0]} is missing or invalid"
              in done.stderr, f"{options}: {done.returncode} {done.stderr[:300]}")


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

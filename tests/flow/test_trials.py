"""What a stranger tries against `sandlot up`: to be counted as somebody else by X-Forwarded-For, to be
believed by Host, to use a ticket again, to leave somebody a sign-in that the stranger knows, and to have
passwords hashed where others wait. Guessing, forged requests, second cookies, names that look alike and
wrong JSON are in test_accounts and test_matrix; docs/SECURITY.md lists all."""

import json
import socket
import sys
import time

from hosts import Room
from publish import Publisher, package
from support import PATIENCE, Closed, Failure, Player, check, run, wait_until
from test_accounts import PASSWORD, People, code_of, cookie_of

KEY = {"SECRET_KEY": "correct-horse-battery-staple"}
BLOCKED = {"role": "blocked"}
MISSES = 60  # rooms that are not there, from one address


def misses_of(up, header):
    """How many wrong rooms are asked for until it is refused; header(n) are those of the nth."""
    for number in range(3 * MISSES):
        status = up.request("GET", f"/api/rooms/none{number}", None, header(number))[0]
        if status == 429:
            return number
        check(status == 404, status)
    return None


def from_client(text):
    return {"X-Forwarded-For": text}


def test_trials_forwarded(program, _places, folder):
    up = People(program, folder, variables=KEY)
    try:
        # Nobody is trusted: whatever the header says, it is one address.
        for number, limit in (("192.0.2.{}", MISSES), ("2001:db8:{:x}::1", 0), ("{}", 0)):
            found = misses_of(up, lambda n: from_client(number.format(n % 250 + 1)))
            check(found == limit, f"{number}: refused after {found}")
        up.stop()
        up = People(program, folder, "--trusted-proxy", "127.0.0.0/8", variables=KEY)
        # What the client itself wrote stands before what the proxy added, and counts for nothing.
        for header in (lambda n: from_client(f"198.51.100.{n % 250}, 192.0.2.1"),
                       lambda n: from_client(f"127.0.0.1, 10.0.0.{n % 250},, 192.0.2.2"),
                       lambda n: from_client(f"2001:db8:0:1:{n:x}::{n:x}"),  # a /64 is one customer
                       lambda n: from_client(f"192.0.2.3:{n + 1}"),
                       lambda n: from_client("::ffff:192.0.2.4" if n % 2 else "192.0.2.4"),
                       lambda n: from_client(f"nonsense{n}")):
            found = misses_of(up, header)
            check(found == MISSES, f"{header(1)}: refused after {found}")
        # Others are not: nobody is kept out by what somebody else claims to be.
        status = up.request("GET", "/api/rooms/none", None, from_client("198.51.100.7"))[0]
        check(status == 404, f"another client: {status}")
        # A name is counted wherever the guesses come from.
        up.operator()
        up.register("ann")
        wrong = {"username": "ann", "password": "not it at all"}
        statuses = [up.request("POST", "/login", wrong, from_client(f"203.0.113.{n}"))[0]
                    for n in range(11)]
        check(statuses == [401] * 10 + [429], statuses)
        # Behind a proxy nobody is on this machine.
        status = up.request("GET", "/metrics", None, from_client("127.0.0.1"))[0]
        check(status in (401, 403), f"the numbers of the server: {status}")
        up.stop()
    finally:
        up.kill()


def raw(up, text):
    """The first line and the rest of what is answered to these bytes."""
    with socket.create_connection(("127.0.0.1", up.port), timeout=10 * PATIENCE) as link:
        link.sendall(text.encode("latin-1"))
        got = b""
        while more := link.recv(65536):
            got += more
    return got.decode("latin-1")


def test_trials_host(program, _places, folder):
    """Links and addresses that are given out never name a server that a request named."""
    up = People(program, folder, variables=KEY)
    try:
        boss = up.operator()
        up.register("ann")
        token = {"Authorization": f"Bearer {boss}"}
        claims = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example",
                  "X-Host": "evil.example", "X-Forwarded-Proto": "https"}
        for path, body in (("/api/accounts/ann/reset", None), ("/api/invitations", {}), ("/join", {})):
            for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example"):
                status, _, text = up.request("POST", path, body, {**token, "Host": host})
                check(status == 421 and b"evil" not in text, f"{path} {host}: {status} {text}")
            for host in ("127.0.0.1@evil.example", "127.0.0.1/evil.example", "127.0.0.1 evil.example", ""):
                answer = raw(up, f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n"
                             f"Authorization: Bearer {boss}\r\nConnection: close\r\n\r\n")
                check(answer.split()[1] in ("400", "421") and "evil" not in answer, f"{host!r}: {answer}")
            status, _, text = up.request("POST", path, body, {**token, **claims})
            check(status == 200 and b"evil" not in text and b"wss:" not in text, f"{path}: {text}")
            answer = raw(up, f"POST http://evil.example{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                         f"Authorization: Bearer {boss}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            check(answer.split()[1] != "200" and "evil" not in answer, f"{path}: {answer}")
        up.stop()
        # With a public URL links name that, however the server was reached.
        up = People(program, folder, "--public-url", "https://play.example", variables=KEY)
        status, _, text = up.request("POST", "/api/accounts/ann/reset", None, token)
        link = json.loads(text)["link"]
        check(status == 200 and link.startswith("https://play.example/account?link="), link)
        up.stop()
    finally:
        up.kill()


def is_let_in(room, **proof):
    try:
        Player(room, **proof).close()
    except (Closed, Failure):
        return False
    return True


def test_trials_ticket(program, _places, folder):
    """A ticket is good once, in its world, in this life of the server, and for nothing else."""
    up = People(program, folder, variables=KEY)
    try:
        _, ann = up.post("/login", {"username": "ann"})
        _, bob = up.post("/login", {"username": "bob"})
        first = up.join(ann["session_token"])
        check(is_let_in(Room(up, first), ticket=first["ticket"]), "a good ticket")
        for _ in range(2):
            check(not is_let_in(Room(up, first), ticket=first["ticket"]), "a used ticket")
        other = up.join(bob["session_token"])
        again = up.join(ann["session_token"])
        check(other["world_id"] != again["world_id"], "two worlds")
        check(not is_let_in(Room(up, other), ticket=again["ticket"]), "a ticket of another world")
        changed = again["ticket"][:40] + ("A" if again["ticket"][40] != "A" else "B") + again["ticket"][41:]
        check(not is_let_in(Room(up, again), ticket=changed), "a ticket that was changed")
        for path, method in (("/api/account", "GET"), ("/join", "POST"), ("/worlds", "GET")):
            status, _ = up.post(path, {} if method == "POST" else None, again["ticket"], method)
            check(status == 401, f"a ticket as a sign-in at {path}: {status}")
        check(is_let_in(Room(up, again), ticket=again["ticket"]), "the same in its own world")
        last = up.join(ann["session_token"])
        up.kill()
        up = People(program, folder, variables=KEY)
        up.join(ann["session_token"])
        check(not is_let_in(Room(up, last), ticket=last["ticket"]), "a ticket of an earlier life")
        up.stop()
    finally:
        up.kill()


def test_trials_ticket_of_a_lost_right(program, places, folder):
    """A ticket is good no more once the right that it was given for is lost, and neither is the sign-in
    that it would have let in; who has the right again comes in with a new one."""
    up = Publisher(program, places, folder)
    try:
        up.begin("ann")
        people = ("edi", "tess", "bob", "gus", "dora")
        up.tokens.update({name: up.register(name)["session_token"] for name in people})

        def join(who, **wish):
            answer = up.good("POST", "/join", wish, who)
            return {**answer, "room_code": answer["world_id"]}  # codes change with invitations

        def lose(who, what, method, path, body=None, by="ann", **wish):
            first, second = join(who, **wish), join(who, **wish)
            other = join("ann", world_id=first["world_id"]) if by == "ann" else None
            check(is_let_in(Room(up, first), ticket=first["ticket"]), f"{what}: a ticket before")
            last = join(who, **wish)
            refused = up.metric("sandlot_tickets_refused_total")
            up.good(method, path, body, by)
            check(not is_let_in(Room(up, second), ticket=second["ticket"]), f"{what}: a ticket lets them in")
            check(up.metric("sandlot_tickets_refused_total") == refused + 1, f"{what}: it is not counted")
            if body != BLOCKED:  # whose sign-in is refused once the list of those was read
                check(not is_let_in(Room(up, last), session=up.tokens[who]), f"{what}: a sign-in lets them in")
            check(not is_let_in(Room(up, last), ticket=last["ticket"]), f"{what}: another ticket")
            if other:
                check(is_let_in(Room(up, other), ticket=other["ticket"]), f"{what}: somebody else's")

        draft = up.good("POST", "/api/drafts", {"title": "Beats", "template": "blank"}, "ann")["place_id"]
        edi = f"/api/places/{draft}/team/edi"
        up.good("PUT", edi, {"role": "editor"}, "ann")
        lose("edi", "an editor of a draft", "DELETE", edi, place_id=draft, channel="draft")
        up.good("PUT", edi, {"role": "editor"}, "ann")
        again = join("edi", place_id=draft, channel="draft")
        check(is_let_in(Room(up, again), ticket=again["ticket"]), "an editor again")

        place = up.publish("ann", package(), channel="live", visibility="private")["place_id"]
        up.good("PUT", f"/api/places/{place}/team/tess", {"role": "tester"}, "ann")
        lose("tess", "a tester of a private place", "DELETE", f"/api/places/{place}/team/tess", place_id=place)
        up.good("PATCH", f"/api/places/{place}", {"visibility": "listed"}, "ann")
        lose("bob", "who is kept out", "PUT", f"/api/places/{place}/team/bob", BLOCKED, place_id=place)

        den = up.good("POST", "/api/worlds", {"name": "Den", "private": True}, "ann")["world_id"]
        up.good("POST", f"/api/worlds/{den}/guests", {"username": "gus"}, "ann")
        lose("gus", "who was invited", "DELETE", f"/api/worlds/{den}/guests/gus", world_id=den)
        lose("dora", "who deletes the account", "DELETE", "/api/account", {"password": PASSWORD}, "dora",
             place_id=place)
        up.stop()
    finally:
        up.kill()


def test_trials_fixation(program, _places, folder):
    """Somebody who plants a cookie of their own never gets what is done with it afterwards."""
    up = People(program, folder, variables=KEY)
    try:
        up.operator()
        up.register("ann")
        for planted in (cookie_of(up.page("/login", {"username": "Eve"})[1]), "sandlot=" + "A" * 43):
            # By the form, which works without JavaScript, and by the page.
            status, headers, _ = up.form("/login", {"username": "ann", "password": PASSWORD}, planted)
            check(status == 303 and cookie_of(headers) != planted, f"{status} {headers}")
            check(up.page("/api/account", cookie=planted, method="GET")[0] == 401, "the form keeps it")
            check(up.page("/api/account", cookie=cookie_of(headers), method="GET")[2]["username"] == "ann",
                  "who?")
        # An address gives nobody a sign-in.
        token = up.post("/login", {"username": "ann", "password": PASSWORD})[1]["session_token"]
        for query in (f"?token={token}", f"?session_token={token}", f"?sandlot={token}"):
            status, _ = up.post(f"/api/account{query}", method="GET")
            check(status == 401, f"{query}: {status}")
        # Who is signed in as somebody does not register: what they have stays theirs.
        check(code_of(up.post("/register", {"username": "eve", "password": PASSWORD}, token))
              == (409, "has_account"), "a second account in a sign-in")
        up.stop()
    finally:
        up.kill()


def test_trials_hashing_stays_apart(program, _places, folder):
    """However the member is written, a password is hashed on the threads that are for it: the others
    read the disk for everybody."""
    up = People(program, folder)
    try:
        up.operator()

        def is_quiet():  # what is done at the start is over
            before = up.metric("sandlot_pool_done_total")
            time.sleep(0.5)
            return up.metric("sandlot_pool_waiting") == 0 and up.metric("sandlot_pool_done_total") == before
        wait_until(is_quiet, "nothing waits")
        bodies = [('{"username":"boss","password":"not it at all"}', "application/json"),
                  ('{"username":"boss","p\\u0061ssword":"not it at all"}', "application/json"),
                  ("username=boss&p%61ssword=not+it+at+all", "application/x-www-form-urlencoded")]
        for body, kind in bodies:
            before = up.metric("sandlot_pool_done_total")
            answer = raw(up, f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{up.port}\r\nOrigin: {up.origin}\r\n"
                         f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                         f"X-Sandlot: 1\r\nConnection: close\r\n\r\n{body}")
            check("401" in answer.split("\r\n")[0], answer)
            check(up.metric("sandlot_pool_done_total") == before, f"{body} was hashed among other work")
        up.stop()
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Signing in at an issuer of identities: npm's oidc-provider as a process of its own, with its real
forms; and tokens of Clerk's form at /join and at the socket."""

import html
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse

from support import Closed, Player, WebSocket, check, run, wait_until
from test_accounts import PASSWORD, People
from test_up import sandlot_up

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECRET = "a-secret/with+signs%of:all&kinds"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Issuer:
    def __init__(self, redirect_port, port=None, algorithm="RS256"):
        self.port = port or free_port()
        self.redirect_port = redirect_port
        self.process = subprocess.Popen(
            [os.path.join(ROOT, "tools/node"), os.path.join(ROOT, "tests/flow/issuer_server.mjs"), str(self.port),
             f"http://127.0.0.1:{redirect_port}/login/issuer/callback", SECRET, algorithm],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        check(self.process.stdout.readline() == "ready\n", "the issuer does not start")
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.kill()
        self.process.wait()

    def ask(self, path, **body):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        link.request("POST", path, json.dumps(body))
        answer = json.loads(link.getresponse().read())
        link.close()
        return answer


class Browser:
    """Follows links and forms, without a script, and keeps cookies by host and port."""

    def __init__(self):
        self.cookies = {}
        self.trail = []

    def load(self, url, form=None, follow=True):
        for _ in range(20):
            parts = urllib.parse.urlsplit(url)
            jar = self.cookies.setdefault(parts.netloc, {})
            headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
            body = None
            if form is not None:
                body = urllib.parse.urlencode(form)
                headers |= {"Content-Type": "application/x-www-form-urlencoded",
                            "Origin": f"{parts.scheme}://{parts.netloc}"}
            link = http.client.HTTPConnection(parts.netloc, timeout=60)
            link.request("GET" if form is None else "POST", parts.path + ("?" + parts.query if parts.query else ""),
                         body, headers)
            answer = link.getresponse()
            text = answer.read().decode()
            for line in answer.headers.get_all("Set-Cookie") or []:
                name, _, value = line.split(";")[0].partition("=")
                jar[name] = value
                if value == "" or "Max-Age=0" in line or "expires=Thu, 01 Jan 1970" in line:
                    jar.pop(name, None)
            link.close()
            self.url, self.status = url, answer.status
            self.trail.append(url)
            if answer.status in (301, 302, 303, 307) and follow:
                url, form = urllib.parse.urljoin(url, answer.headers["Location"]), None
                continue
            self.location = answer.headers.get("Location")
            return text
        raise AssertionError(f"around and around: {self.trail[-4:]}")

    def submit(self, text, **fields):
        """The first form of a page of the issuer."""
        action = html.unescape(re.search(r'<form[^>]* action="([^"]+)"', text)[1])
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text))
        return self.load(urllib.parse.urljoin(self.url, action), {**hidden, **fields})

    def sign_in(self, up, name, start="/login/issuer", text=None):
        """Through the issuer's forms, back to Sandlot; the last page."""
        text = text if text is not None else self.load(up.origin + start)
        for _ in range(4):
            if urllib.parse.urlsplit(self.url).port == up.port:
                return text
            text = self.submit(text, **({"login": name, "password": "x"} if 'name="login"' in text else {}))
        raise AssertionError(f"not back: {self.url} {text[:400]}")

    def who(self, up):
        text = self.load(f"{up.origin}/api/session")
        return json.loads(text)


def start(program, folder, *options, algorithm="RS256", **variables):
    port = free_port()
    issuer = Issuer(port, algorithm=algorithm)
    up = People(program, folder, "--oidc-issuer", f"{issuer.url}/oidc", "--oidc-client-id", "sandlot",
                "--oidc-name", "School", *options, port=str(port),
                variables={"OIDC_CLIENT_SECRET": SECRET, **variables})
    return issuer, up


def test_issuer_signs_in(program, places, folder):
    del places
    issuer, up = start(program, folder, "--oidc-role-claim", "groups", "--oidc-role", "creator=makers",
                       "--oidc-role", "operator=chiefs")
    try:
        # The button is a link, and leads through the forms of the issuer.
        browser = Browser()
        text = browser.load(f"{up.origin}/account?next=/create%3Fa%3D1%26b")
        button = html.unescape(re.search(r'href="(/login/issuer\?next=[^"]*)">Sign in with School', text)[1])
        browser.sign_in(up, "ada.1", button)
        check(browser.url == f"{up.origin}/create?a=1&b", f"it leads to {browser.url}")
        begun = next(url for url in browser.trail if "/oidc/auth?" in url)
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun).query))
        check(asked["code_challenge_method"] == "S256" and len(asked["code_challenge"]) == 43 and
              asked["response_type"] == "code" and len(asked["nonce"]) == 43, f"it asks {asked}")
        who = browser.who(up)
        check(who["username"] == "ada" and who["roles"] == [] and not who["is_guest"], f"it is {who}")
        check(not any("issuer" in name for name in browser.cookies[f"127.0.0.1:{up.port}"]), "the cookie stays")
        # Again, in another browser: the same account. Somebody else of that name is another one.
        again = Browser()
        again.sign_in(up, "ada.1")
        check(again.who(up)["username"] == "ada", "another account")
        other = Browser()
        other.sign_in(up, "ada.2")
        check(other.who(up)["username"] == "ada2", f"it is {other.who(up)}")
        # Roles follow the claim that the settings name, at every sign-in.
        maker, chief = Browser(), Browser()
        maker.sign_in(up, "maker.1")
        check(maker.who(up)["roles"] == ["creator"], f"roles: {maker.who(up)}")
        chief.sign_in(up, "chief.1")
        check(chief.who(up)["roles"] == ["operator"], f"roles: {chief.who(up)}")
        audit = json.loads(chief.load(f"{up.origin}/admin/audit"))
        check(any(row["action"] == "issuer.roles" and "operator yes" in row["detail"] for row in audit["audit"]),
              f"it is not written down: {audit}")
        # Signing out ends it here; a guest who signs in keeps everything.
        browser.load(f"{up.origin}/logout", {})
        check(not browser.who(up)["signed_in"], "still signed in")
        browser.load(f"{up.origin}/login", {"username": "zoe"})
        number = json.loads(browser.load(f"{up.origin}/api/account"))["user_id"]
        browser.cookies.pop(f"127.0.0.1:{issuer.port}")
        browser.sign_in(up, "zoe.9")
        account = json.loads(browser.load(f"{up.origin}/api/account"))
        check(account["user_id"] == number and not account["is_guest"], f"another: {account}")
        text = browser.load(f"{up.origin}/logout/issuer")
        check("/oidc/session/end?" in browser.url and browser.status == 200, f"signing out there: {browser.url}")
        # What is stored about somebody says it, and deleting them forgets it.
        exported = json.loads(browser.load(f"{up.origin}/api/account/export"))
        check(exported["identities"][0]["subject"] == "zoe.9", f"exported: {exported['identities']}")
        # The first password, and then the account is one like any other.
        browser.load(f"{up.origin}/api/account/password", {"old": "", "new": PASSWORD})
        status, answer = up.post("/login", {"username": "zoe", "password": PASSWORD})
        check(status == 200 and answer["user_id"] == number, f"the password is not good: {answer}")
        status, _ = up.post("/api/account", {"password": PASSWORD}, answer["session_token"], method="DELETE")
        check(status == 200, f"not deleted: {status}")
        fresh = Browser()
        fresh.sign_in(up, "zoe.9")
        check(json.loads(fresh.load(f"{up.origin}/api/account"))["user_id"] != number, "still the same")
    finally:
        up.stop()
        issuer.stop()


def test_issuer_links(program, places, folder):
    del places
    issuer, up = start(program, folder, "--registration", "open", "--oidc-new-accounts", "no", algorithm="EdDSA")
    try:
        stranger, browser = Browser(), Browser()
        text = stranger.sign_in(up, "eve.1")
        check(stranger.status == 403 and "invitation" in text, f"an account is made: {stranger.status} {text[-900:]}")
        browser.load(f"{up.origin}/register", {"username": "bob", "password": PASSWORD})
        number = browser.who(up)["username"]
        # Only our own page begins linking.
        browser.load(f"{up.origin}/login/issuer?link={'a' * 43}")
        check(browser.status == 403, f"anybody links: {browser.status}")
        text = browser.load(f"{up.origin}/account")
        link = re.search(r'href="(/login/issuer\?link=[^"]+)">Link it', text)[1]
        stranger.load(up.origin + link)
        check(stranger.status == 403, f"another browser links: {stranger.status}")
        text = browser.sign_in(up, "bo.7", link)
        check(browser.url.endswith("/account?done=linked") and "Unlink it" in text, f"not linked: {browser.url}")
        fresh = Browser()
        fresh.sign_in(up, "bo.7")
        check(fresh.who(up)["username"] == number, f"not the same: {fresh.who(up)}")
        # The identity of one account is not another's too.
        rival = Browser()
        rival.load(f"{up.origin}/register", {"username": "cyd", "password": PASSWORD})
        text = rival.load(f"{up.origin}/account")
        text = rival.sign_in(up, "bo.7", re.search(r'href="(/login/issuer\?link=[^"]+)"', text)[1])
        check(rival.status == 409 and "omebody else" in text, f"linked twice: {rival.status}")
        # Coming back as somebody else than who began links nobody.
        text = rival.load(f"{up.origin}/account")
        rival.cookies.pop(f"127.0.0.1:{issuer.port}")
        text = rival.load(up.origin + re.search(r'href="(/login/issuer\?link=[^"]+)"', text)[1])
        mine = rival.cookies[f"127.0.0.1:{up.port}"]
        mine["sandlot"] = fresh.cookies[f"127.0.0.1:{up.port}"]["sandlot"]
        rival.sign_in(up, "cy.8", text=text)
        check(rival.status == 403, f"linked to another account: {rival.status}")
        # Unlinked, it signs in nowhere.
        text = browser.load(f"{up.origin}/api/account/issuer/unlink", {})
        check(browser.url.endswith("?done=unlinked") and "Link it" in text, f"not unlinked: {browser.url}")
        fresh = Browser()
        fresh.sign_in(up, "bo.7")
        check(fresh.status == 403 and not fresh.who(up)["signed_in"], "still linked")
        # With no password there would be no way back.
        status, _, answer = up.page("/api/account/issuer", cookie="sandlot=" + browser.cookies[
            f"127.0.0.1:{up.port}"]["sandlot"], method="GET")
        check(status == 200 and answer["linked"] is False and answer["has_password"] is True, f"it says {answer}")
    finally:
        up.stop()
        issuer.stop()


def test_issuer_is_not_believed_blindly(program, places, folder):
    del places
    issuer, up = start(program, folder, algorithm="ES256")
    try:
        browser = Browser()
        # A state of another browser, a changed one, none; a code of nobody.
        other = Browser()
        other.load(f"{up.origin}/login/issuer", follow=False)
        state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(other.location).query))["state"]
        browser.load(f"{up.origin}/login/issuer", follow=False)
        for query in (f"code=x&state={state}", "code=x&state=", "code=x", f"code=x&state={state[:-1]}A"):
            text = browser.load(f"{up.origin}/login/issuer/callback?{query}")
            check(browser.status == 400 and "not begun in this browser" in text, f"{query}: {browser.status}")
        browser.cookies.clear()
        browser.load(f"{up.origin}/login/issuer/callback?code=x&state={state}")
        check(browser.status == 400, f"without a cookie: {browser.status}")
        text = other.load(f"{up.origin}/login/issuer/callback?code=made-up&state={state}")
        check(other.status == 401 and "refused to say who it is" in text, f"a code of nobody: {other.status} {text}")
        other.load(f"{up.origin}/login/issuer/callback?code=made-up&state={state}")
        check(other.status == 400, f"a state is good twice: {other.status}")
        other.load(f"{up.origin}/login/issuer", follow=False)
        state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(other.location).query))["state"]
        other.load(f"{up.origin}/login/issuer/callback?code=x&state={state}&iss=https://evil.example")
        check(other.status == 400, f"another issuer: {other.status}")
        text = other.load(f"{up.origin}/login/issuer/callback?error=access_denied&state={state}")
        check(other.status == 401 and "School did not sign you in" in text, f"refused there: {other.status}")
        # Other keys, as after a rotation: they are fetched again because a token names one.
        browser = Browser()
        browser.sign_in(up, "ada.1")
        issuer.stop()
        issuer = Issuer(up.port, issuer.port, "ES256")
        browser = Browser()
        browser.sign_in(up, "ada.1")
        check(browser.who(up)["username"] == "ada", f"after other keys: {browser.url}")
        # The issuer is gone: it is said, and nothing else suffers.
        issuer.stop()
        browser = Browser()
        browser.load(f"{up.origin}/login/issuer", follow=False)
        state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(browser.location).query))["state"]
        text = browser.load(f"{up.origin}/login/issuer/callback?code=x&state={state}")
        check(browser.status == 503 and "cannot be had now" in text, f"it is down: {browser.status}")
        up.wait_line("of School cannot be had now")  # the log is read by a thread
        status, _ = up.post("/login", {"username": "guest"})
        check(status == 200, f"others suffer: {status}")
    finally:
        up.stop()
        issuer.stop()


def test_issuer_settings(program, places, folder):
    del places
    rows = [((), "oidc_issuer", {"OIDC_ISSUER": "https://i.example"}, "oidc_client_id"),
            (("--oidc-issuer", "http://i.example"), "", {}, "http is only for this machine"),
            (("--oidc-issuer", "https://i.example", "--oidc-client-id", "x", "--oidc-scopes", "profile"), "", {},
             "openid must be one of them"),
            (("--oidc-issuer", "https://i.example", "--oidc-client-id", "x", "--oidc-role", "operator=a"), "", {},
             "oidc_role_claim go together"),
            (("--oidc-issuer", "https://i.example", "--oidc-client-id", "x", "--oidc-role", "trusted=a",
              "--oidc-role-claim", "groups"), "", {}, "creator=VALUE"),
            ((), "", {"CLERK_SECRET_KEY": "sk_test_sesame"}, "one of them is missing"),
            (("--oidc-client-id", "x"), "", {}, "no oidc_issuer"),
            (("--host", "0.0.0.0", "--oidc-issuer", "https://i.example", "--oidc-client-id", "x"), "",
             {"SECRET_KEY": "k" * 40}, "public_url")]
    for options, _, variables, words in rows:
        _, text = sandlot_up(program, folder, "--data", folder, "--check-config", *options, code=1, variables=variables)
        check(words in text and "sesame" not in text, f"{options} {variables}: {text}")
    sandlot_up(program, folder, "--data", folder, "--check-config", "--oidc-issuer", "https://i.example/club",
               "--oidc-client-id", "x", "--clerk-issuer", "https://c.example",
               variables={"CLERK_SECRET_KEY": "sk_test_sesame", "OIDC_CLIENT_SECRET": "s"})
    # An issuer that calls itself otherwise, and one that is none.
    issuer, up = start(program, folder)
    up.stop()
    for path, words in (("/oidc/", "calls itself otherwise"), ("/clerk", "no discovery document")):
        up = People(program, folder, "--oidc-issuer", issuer.url + path, "--oidc-client-id", "sandlot")
        try:
            browser = Browser()
            text = browser.load(f"{up.origin}/login/issuer")
            check(browser.status == 502 and words in text, f"{path}: {browser.status} {text[-600:]}")
        finally:
            up.stop()
    issuer.stop()


def test_issuer_clerk(program, places, folder):
    del places
    port = free_port()
    issuer = Issuer(port)
    up = People(program, folder, "--clerk-issuer", f"{issuer.url}/clerk", "--clerk-api", f"{issuer.url}/api",
                "--clerk-origin", "https://game.example", port=str(port),
                variables={"CLERK_SECRET_KEY": "sk_test_sesame"})
    try:
        token = issuer.ask("/mint", sub="user_1", azp="https://game.example")["token"]
        status, answer = up.post("/join", {}, token)
        check(status == 200 and answer["client_id"].startswith("user_"), f"/join says {status} {answer}")
        check("session_token" not in answer, "the token is given back")
        account = answer["client_id"]
        up.room = answer["room_code"]
        # The ticket, the token in the first message, and the token in the address.
        player = Player(up, ticket=answer["ticket"])
        check(player.welcome["playerId"], "no ticket")
        player.close()
        token = issuer.ask("/mint", sub="user_1")["token"]  # another one, and not seen before
        player = Player(up, session=token)
        name = player.welcome
        player.close()
        token = issuer.ask("/mint", sub="user_2")["token"]
        link = WebSocket(up.port, f"/api/rooms/{up.room}/ws?token={token}&playerId=p_1")
        wait_until(lambda: json.loads(link.receive())["kind"] == "welcome", "it comes in by the address")
        link.close()
        status, answer = up.post("/join", {}, issuer.ask("/mint", sub="user_1")["token"])
        check(status == 200 and answer["client_id"] == account, f"another account: {answer}")
        # Refused: other sites, other issuers, expired ones, ended sessions, changed ones.
        status, answer = up.post("/join", {}, issuer.ask("/mint", sub="user_3", azp="https://evil.example")["token"])
        check(status == 401 and "another site" in answer["error"]["message"], f"azp: {status} {answer}")
        status, answer = up.post("/join", {}, issuer.ask("/mint", sub="user_3", issuer="https://i.example")["token"])
        check(status == 401, f"iss: {status} {answer}")
        status, answer = up.post("/join", {}, issuer.ask("/mint", sub="user_3", seconds=-60)["token"])
        check(status == 401 and "expired" in answer["error"]["message"], f"exp: {status} {answer}")
        issuer.ask("/end", session="sess_4")
        ended = issuer.ask("/mint", sub="user_4")["token"]
        status, answer = up.post("/join", {}, ended)
        check(status == 401 and "session has ended" in answer["error"]["message"], f"ended: {status} {answer}")
        good = issuer.ask("/mint", sub="user_5")["token"]
        for bad in (ended, good[:-6] + "AAAAAA", good.rsplit(".", 1)[0] + "."):
            link = WebSocket(up.port, f"/api/rooms/{up.room}/ws?token={bad}")
            said = []
            try:
                while True:
                    said.append(json.loads(link.receive()))
            except Closed:
                pass
            check(not any(message["kind"] == "welcome" for message in said), f"let in: {said}")
        status, answer = up.post("/api/account/tokens", {"name": "x", "scope": "play"}, good)
        check(status == 401, f"a token that nobody looked at: {status}")
        # The issuer is gone: a token that was seen is still good, another one is not decided.
        seen, unseen = (issuer.ask("/mint", sub=f"user_{n}")["token"] for n in (1, 6))
        check(up.post("/join", {}, seen)[0] == 200, "not let in")
        issuer.stop()
        check(up.post("/join", {}, seen)[0] == 200, "a token that was seen is forgotten")
        status, answer = up.post("/join", {}, unseen)
        check(status == 503 and answer["error"]["code"] == "issuer_unavailable", f"undecided: {status} {answer}")
        del name
    finally:
        up.stop()
        issuer.stop()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

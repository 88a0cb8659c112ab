"""Accounts of `sandlot up`: registering, signing in with a password, cookies and forms, links that are
good once, recovery, limits, and what a kill leaves behind."""

import html
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from hosts import enter
from support import PATIENCE, Closed, check, needs_file, prepared_data, run, wait_until
from test_up import Up, sandlot_up

PASSWORD = "a fine long password"


class People(Up):
    """`sandlot up` with all data in the folder."""

    def processor_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __init__(self, program, folder, *options, prepared="default", **more):
        """`prepared`: the name of a data folder to begin with, see prepared_data; None: an empty one."""
        data = os.path.join(folder, "data")
        if prepared and not {"--places", "--default-place"} & set(options):
            key = {name: value for name, value in (more.get("variables") or {}).items()
                   if name == "SECRET_KEY"}  # hashes in the database are made with it
            prepared_data(program, "-".join((prepared, *(value[:8] for value in key.values()))), data,
                          lambda made: People(program, made, prepared=None, variables=key))
        super().__init__(program, folder, "--data", data, *options, **more)
        self.origin = f"http://127.0.0.1:{self.port}"

    def operator_token(self):
        """Of the link that is printed; None without one."""
        wait_until(lambda: "Ctrl-C" in "\n".join(self.said), "all is printed")
        found = re.search(r"/account\?link=([A-Za-z0-9_-]{43})$", "\n".join(self.said), re.MULTILINE)
        return found and found[1]

    def post(self, path, body=None, token=None, method="POST", **headers):
        """As a tool does: the status, and the answer as JSON."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        status, _, text = self.request(method, path, body, headers)
        return status, json.loads(text)

    def page(self, path, body=None, cookie=None, method="POST", **headers):
        """As our page does: with the header, the Origin and the cookie. Status, headers, answer."""
        headers = {"X-Sandlot": "1", "Origin": self.origin, **headers}
        if cookie:
            headers["Cookie"] = cookie
        status, got, text = self.request(method, path, body, headers)
        return status, got, json.loads(text)

    def form(self, path, fields, cookie=None, origin=None):
        """As a browser without JavaScript does. Status, headers, text."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
        headers = {"Content-Type": "application/x-www-form-urlencoded",
                   "Origin": origin or self.origin}
        if cookie:
            headers["Cookie"] = cookie
        try:
            link.request("POST", path, urllib.parse.urlencode(fields), headers)
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            link.close()

    def register(self, name, token=None, **more):
        status, answer = self.post("/register", {"username": name, "password": PASSWORD, **more}, token)
        check(status == 200, f"/register says {status}: {answer}")
        return answer

    def operator(self):
        """The session_token of the operator, who opened registration to everybody."""
        token = self.register("boss", invitation=self.operator_token())["session_token"]
        status, answer = self.post("/admin/settings", {"registration": "open"}, token, "PUT")
        check(status == 200 and answer["registration"] == "open", answer)
        return token

    def who(self, token):
        """What /api/account says; None: the sign-in is not valid."""
        status, answer = self.post("/api/account", token=token, method="GET")
        check(status in (200, 401), f"{status}: {answer}")
        return answer if status == 200 else None


def cookie_of(headers):
    return headers["Set-Cookie"].split(";")[0]


def code_of(answer):
    return answer[0], answer[-1].get("error", {}).get("code")


# --- accounts -------------------------------------------------------------------------------------

def test_accounts_register_and_sign_in(program, _places, folder):
    up = People(program, folder)
    try:
        # Who is not invited does not register.
        wish = {"username": "ann", "password": PASSWORD}
        check(code_of(up.post("/register", wish)) == (403, "invitation_required"), "it was open")
        boss = up.operator()
        check(up.who(boss)["roles"] == ["creator", "operator"], up.who(boss))
        check(code_of(up.post("/register", {**wish, "invitation": up.operator_token()}))
              == (410, "link_gone"), "the operator's link was good twice")
        # A guest registers, and keeps the number.
        _, guest = up.post("/login", {"username": "Ann"})
        check(guest["username"] == "~Ann", guest)
        made = up.register("ann", guest["session_token"], shown_name="Ann from 5b")
        check(made["user_id"] == guest["user_id"], f"another account: {guest} {made}")
        check(len(set(made["recovery_codes"])) == 8, made)
        check(up.who(guest["session_token"]) is None, "the guest's sign-in is still good")
        ann = up.who(made["session_token"])
        check((ann["username"], ann["shown_name"], ann["is_guest"], ann["roles"])
              == ("ann", "Ann from 5b", False, []), ann)
        # Signing in, whatever the case; out again.
        for name, password, want in [("ANN", PASSWORD, 200), ("ann", PASSWORD + "!", 401),
                                     ("nobody", PASSWORD, 401), ("", PASSWORD, 401)]:
            status, answer = up.post("/login", {"username": name, "password": password})
            check(status == want, f"{name}: {status} {answer}")
        token = up.post("/login", wish)[1]["session_token"]
        check(up.who(token)["user_id"] == guest["user_id"], "somebody else")
        check(up.post("/logout", token=token)[0] == 200 and up.who(token) is None, "still signed in")
        check(up.who(made["session_token"]), "logout ended another sign-in")
        # All of it is there after a restart; the operator's link is not printed any more.
        up.stop()
        up = People(program, folder)
        check(up.operator_token() is None, "the operator's link is printed again")
        check(up.who(made["session_token"])["username"] == "ann", "a restart ended a sign-in")
        check(up.who(token) is None, "a restart brought a sign-in back")
        check(up.post("/api/registration", method="GET")[0] == 404, "one route switches it: /admin/settings")
    finally:
        up.kill()


def test_accounts_refuse_bad_names_and_passwords(program, _places, folder):
    up = People(program, folder)
    try:
        up.operator()
        for name, code in [("ab", "invalid_name"), ("a" * 21, "invalid_name"), ("a b c", "invalid_name"),
                           ("~ann", "invalid_name"), ("änn", "invalid_name"), ("", "invalid_name"),
                           ("B0SS", "name_taken"), ("bo-ss", "name_taken"), ("Guest1", "name_taken"),
                           ("server", "name_taken"), ("admin", "name_taken"),
                           ("user_8fb859ad55aa9", "invalid_name"), ("Guest_1", "invalid_name")]:
            got = code_of(up.post("/register", {"username": name, "password": PASSWORD}))
            check(got[1] == code, f"{name}: {got}")
        for shown, code in [("~bo", "invalid_name"), ("∼bo", "invalid_name"), ("a\u200bb", "invalid_name"),
                            ("Вoss", "name_taken"), ("b.o.s.s", "name_taken"), ("ＢＯＳＳ", "name_taken")]:
            got = code_of(up.post("/register", {"username": "ann", "password": PASSWORD,
                                                "shown_name": shown}))
            check(got[1] == code, f"{shown}: {got}")
        for password, code in [("short", "invalid_password"), ("Password1", "common_password"),
                               ("annannann", "common_password"), ("x" * 257, "malformed"),
                               ("", "invalid_password")]:
            got = code_of(up.post("/register", {"username": "annannann", "password": password}))
            check(got == (400, code), f"{password}: {got}")
        # A guest shows nobody's name either, whatever it is written with.
        for name in ["boss", "BOSS", "b0ss", "Вoss", "bóss", "~boss", "B o s s"]:
            got = code_of(up.post("/login", {"username": name}))
            check(got == (409, "name_taken"), f"{name}: {got}")
        for body in ["[]", "{", '{"username": 5, "password": "' + PASSWORD + '"}', '"x"']:
            link = http.client.HTTPConnection("127.0.0.1", up.port, timeout=40)
            link.request("POST", "/register", body)
            answer = link.getresponse()
            check((answer.status, json.loads(answer.read())["error"]["code"]) == (400, "malformed"),
                  body)
            link.close()
    finally:
        up.kill()


def test_accounts_password_and_sign_ins(program, _places, folder):
    up = People(program, folder)
    try:
        up.operator()
        one = up.register("ann")["session_token"]
        two = up.post("/login", {"username": "ann", "password": PASSWORD})[1]["session_token"]
        wish = {"old": PASSWORD, "new": "another password"}
        check(code_of(up.post("/api/account/password", {**wish, "old": "wrong one"}, one))
              == (401, "wrong_credentials"), "a wrong old password was good")
        check(up.post("/api/account/password", wish, one)[0] == 200, "it was not changed")
        check(up.who(one) and up.who(two) is None, "the other sign-in did not end")
        check(up.post("/login", {"username": "ann", "password": PASSWORD})[0] == 401, "old password")
        three = up.post("/login", {"username": "ann", "password": wish["new"]})[1]["session_token"]
        # Tools' tokens: what they may do, listed, and ended.
        status, made = up.post("/api/account/tokens", {"name": "my bot", "scope": "play"}, one)
        check(status == 200 and up.who(made["token"])["scopes"] == ["play"], made)
        for path in ["/api/account/tokens", "/api/account", "/api/account/password"]:
            got = code_of(up.post(path, {"name": "x", "scope": "operate", "shown_name": "x",
                                         "old": "x", "new": "x"}, made["token"]))
            check(got == (403, "scope"), f"{path}: {got}")
        check(code_of(up.post("/api/account/tokens", {"name": "x", "scope": "rule"}, one))
              == (400, "malformed"), "a scope that is none")
        rows = up.post("/api/account/sign-ins", token=one, method="GET")[1]["sign_ins"]
        check(sorted((row["kind"], row["name"], row["is_this"]) for row in rows)
              == [("session", "", False), ("session", "", True), ("token", "my bot", False)], rows)
        check(all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["used"]) for row in rows), rows)
        for row in rows:
            if not row["is_this"]:
                check(up.post(f"/api/account/sign-ins/{row['id']}", token=one, method="DELETE")[0]
                      == 200, row)
        check(up.who(one) and not up.who(three) and not up.who(made["token"]), "they did not end")
        # Nobody ends another's.
        bob = up.register("bob")["session_token"]
        row = up.post("/api/account/sign-ins", token=one, method="GET")[1]["sign_ins"][0]
        check(up.post(f"/api/account/sign-ins/{row['id']}", token=bob, method="DELETE")[0] == 404,
              "bob ended ann's sign-in")
        # The shown name.
        check(up.post("/api/account", {"shown_name": "Ännchen"}, one)[0] == 200, "no new name")
        check(up.who(one)["shown_name"] == "Ännchen", up.who(one))
        check(code_of(up.post("/api/account", {"shown_name": "BOB"}, one)) == (409, "name_taken"),
              "bob's name")
        _, guest = up.post("/login", {"username": "eve"})
        check(code_of(up.post("/api/account", {"shown_name": "annchen"}, guest["session_token"]))
              == (409, "name_taken"), "a guest shows a name of an account")
    finally:
        up.kill()


def test_accounts_keep_the_key_that_was_used(program, _places, folder):
    """Who runs without a secret key and then makes one, as the README says, loses no sign-in and no code.
    With another key they do not hold, and the log says so once."""
    needs_file("hosts that share a database refuse another key for a minute")
    data = os.path.join(folder, "data")
    up = People(program, folder)
    try:
        ann = up.register("ann", invitation=up.operator_token())
        up.stop()
        out, _ = sandlot_up(program, folder, "--data", data, "--new-secret-key")
        check("that was used so far" in out, out)
        up = People(program, folder)
        check(up.who(ann["session_token"]), "the sign-in does not hold")
        wish = {"username": "ann", "code": ann["recovery_codes"][2], "new": "another password"}
        status, answer = up.post("/api/account/recover", wish)
        check(status == 200, f"the recovery code does not hold: {answer}")
        check("another one than before" not in "\n".join(up.lines), up.lines)
        up.stop()
        for lines in (1, 0):
            up = People(program, folder, variables={"SECRET_KEY": "quite-another-secret-key"})
            check(up.who(answer["session_token"]) is None, "signed in with another key")
            said = [line for line in up.lines if "another one than before" in line]
            check(len(said) == lines, up.lines)
            up.stop()
    finally:
        up.kill()


def test_accounts_recovery_and_links(program, _places, folder):
    up = People(program, folder)
    try:
        boss = up.operator()
        ann = up.register("ann")
        code = ann["recovery_codes"][3]
        wish = {"username": "ann", "code": code.upper().replace("-", " "), "new": "another password"}
        check(code_of(up.post("/api/account/recover", {**wish, "code": "aaaa-bbbb-cccc"}))
              == (401, "wrong_credentials"), "a code that is none")
        status, answer = up.post("/api/account/recover", wish)
        check(status == 200 and up.who(answer["session_token"])["username"] == "ann", answer)
        check(up.who(ann["session_token"]) is None, "the old sign-in is still good")
        check(up.post("/api/account/recover", wish)[0] == 401, "the code was good twice")
        check(up.post("/login", {"username": "ann", "password": "another password"})[0] == 200, "no")
        # The operator's link for a new password; it ends with the password that it was for.
        late = up.post("/api/accounts/ann/reset", token=boss)[1]["link"].split("=")[1]
        wish = {"username": "ann", "code": ann["recovery_codes"][4], "new": "another password 2"}
        status, answer = up.post("/api/account/recover", wish)
        check(status == 200, answer)
        check(up.post("/api/account/recover", {"link": late, "new": PASSWORD})[0] == 410, "still good")
        check(up.post("/api/accounts/ann/reset", token=answer["session_token"])[0] == 403, "not boss")
        check(up.post("/api/accounts/nobody/reset", token=boss)[0] == 404, "nobody has a link")
        old = up.post("/api/accounts/ann/reset", token=boss)[1]["link"]
        link = up.post("/api/accounts/ann/reset", token=boss)[1]["link"]
        token = urllib.parse.parse_qs(urllib.parse.urlparse(link).query)["link"][0]
        text = up.request("GET", urllib.parse.urlparse(link).path + "?link=" + token)[2].decode()
        check("Choose a new password" in text, text)
        wish = {"link": token, "new": "the third password"}
        check(up.post("/api/account/recover", {**wish, "link": old.split("=")[1]})[0] == 410,
              "an older link is good beside the newer one")
        status, answer = up.post("/api/account/recover", wish)
        check(status == 200 and len(answer["recovery_codes"]) == 8, answer)
        check(up.post("/api/account/recover", wish)[0] == 410, "the link was good twice")
        check(up.post("/api/account/recover", {"username": "ann", "code": ann["recovery_codes"][0],
                                               "new": "yet another one"})[0] == 401, "old codes")
        # Invitations.
        check(up.post("/admin/settings", {"registration": "invite"}, boss, "PUT")[0] == 200, "not closed")
        link = up.post("/api/invitations", {"role": "teacher"}, boss)[1]["link"]
        teacher = up.register("smith", invitation=link.split("=")[1])["session_token"]
        check(up.who(teacher)["roles"] == ["teacher"], up.who(teacher))
        check(up.post("/api/invitations", {"role": "operator"}, teacher)[0] == 403, "a teacher made one")
        check(up.post("/api/invitations", {"role": "king"}, boss)[0] == 400, "there are no kings")
        check(up.post("/api/invitations", {}, answer["session_token"])[0] == 403, "a player invites")
        link = up.post("/api/invitations", {}, teacher)[1]["link"].split("=")[1]
        # Twelve at once: one of them gets it.
        got = []
        threads = [threading.Thread(target=lambda i=i: got.append(up.post(
            "/register", {"username": f"pupil{i}", "password": PASSWORD, "invitation": link})[0]))
            for i in range(12)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        check(sorted(got) == [200] + [410] * 11, f"{got}")
        # Roles.
        check(up.post("/api/accounts/smith/roles", {"roles": "creator"}, boss)[0] == 200, "no role")
        check(up.who(teacher)["roles"] == ["creator"], up.who(teacher))
        # The last operator stays one.
        for answer in (up.post("/api/accounts/boss/roles", {"roles": "player"}, boss),
                       up.post("/api/account", {"password": PASSWORD}, boss, "DELETE"),
                       up.post("/api/accounts/boss", None, boss, "DELETE")):
            check(answer[0] == 409 and answer[1]["error"]["code"] == "last_operator", answer)
        check(up.post("/api/invitations", {}, teacher)[0] == 403, "an old role still works")
    finally:
        up.kill()


# --- browsers -------------------------------------------------------------------------------------

def test_accounts_cookies(program, _places, folder):
    """A page gets a cookie and no token; another site's page can do nothing with it."""
    up = People(program, folder)
    try:
        up.operator()
        status, headers, guest = up.page("/login", {"username": "Ann"})
        check(status == 200 and "session_token" not in guest, guest)
        check(re.fullmatch(r"sandlot=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Lax",
                           headers["Set-Cookie"]), headers["Set-Cookie"])
        cookie = cookie_of(headers)
        status, answer, _ = up.request("POST", "/login", {"username": "Bo"}, {})
        check("Set-Cookie" not in answer, "a tool got a cookie")
        check(up.page("/api/account", cookie=cookie, method="GET")[2]["shown_name"] == "~Ann", "who?")
        # Fixation: whoever gave or knows the guest's cookie is out once there is an account.
        status, headers, made = up.page("/register", {"username": "ann", "password": PASSWORD}, cookie)
        check(status == 200 and made["user_id"] == guest["user_id"], made)
        new = cookie_of(headers)
        check(new != cookie, "the sign-in kept its id")
        check(up.page("/api/account", cookie=cookie, method="GET")[0] == 401, "the old cookie is good")
        status, headers, _ = up.page("/login", {"username": "ann", "password": PASSWORD}, new)
        check(status == 200 and up.page("/api/account", cookie=new, method="GET")[0] == 401,
              "the sign-in before is still good")
        cookie = cookie_of(headers)
        # Forged requests.
        wish = {"old": PASSWORD, "new": "another password"}
        for headers in [{"Cookie": cookie}, {"Cookie": cookie, "X-Sandlot": "1"},
                        {"Cookie": cookie, "Origin": "http://evil.example", "X-Sandlot": "1"},
                        {"Cookie": cookie, "Origin": "null"}]:
            status, _, body = up.request("POST", "/api/account/password", wish, headers)
            check((status, json.loads(body)["error"]["code"]) == (403, "origin"), f"{headers} {body}")
        status, _, body = up.request("POST", "/api/account", {"shown_name": "x"},
                                     {"Cookie": cookie, "Origin": up.origin})
        check(status == 403, "without the header")
        # Another site signs nobody in or out.
        for path in ["/login", "/register", "/logout"]:
            for headers in [{"Origin": "http://evil.example"}, {"X-Sandlot": "1"},
                            {"Origin": "http://evil.example", "X-Sandlot": "1"}]:
                body = None if path == "/logout" else {}
                check(up.request("POST", path, body, headers)[0] == 403, f"{path} {headers}")
        # Cookie tossing: of two cookies neither counts, and the name must be exact.
        other = cookie_of(up.page("/login", {"username": "Eve"})[1])
        for text in [f"{cookie}; {other}", f"{other}; {cookie}", f"x{cookie}", f"Sandlot{cookie[7:]}"]:
            check(up.page("/api/account", cookie=text, method="GET")[0] == 401, text)
        check(up.page("/api/account", cookie=f"a=b; {cookie}; c=d", method="GET")[0] == 200, "beside")
        # Joining, without a token in the answer.
        status, _, joined = up.page("/join", {}, cookie)
        check(status == 200 and "session_token" not in joined and joined["ticket"], joined)
        status, headers, _ = up.page("/logout", None, cookie)
        check(status == 200 and headers["Set-Cookie"].startswith("sandlot=;")
              and "Max-Age=0" in headers["Set-Cookie"], headers)
        check(up.page("/api/account", cookie=cookie, method="GET")[0] == 401, "still signed in")
    finally:
        up.kill()


def test_accounts_cookies_by_https(program, _places, folder):
    up = People(program, folder, "--public-url", "https://play.example",
                variables={"SECRET_KEY": "correct-horse-battery-staple"})
    try:
        up.origin = "https://play.example"
        _, headers, _ = up.page("/login", {"username": "Ann"}, Host="play.example")
        check(re.fullmatch(r"__Host-sandlot=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Lax; Secure",
                           headers["Set-Cookie"]), headers["Set-Cookie"])
        cookie = cookie_of(headers)
        check(up.page("/api/account", cookie=cookie, method="GET")[0] == 200, "not signed in")
        check(up.page("/api/account", cookie=cookie[7:], method="GET")[0] == 401, "without the prefix")
    finally:
        up.kill()


def test_accounts_forms(program, _places, folder):
    """The page works without JavaScript, and shows what is wrong."""
    up = People(program, folder)
    try:
        status, headers, text = up.request("GET", f"/account?link={up.operator_token()}")
        text = text.decode()
        check(status == 200 and headers["Content-Type"].startswith("text/html"), headers)
        check(not re.search('<script(?! type="module" crossorigin src="/assets/)| style=', text), text)
        check('<meta name="referrer" content="same-origin">' in text, "forms would say Origin: null")
        action = re.search(r'action="(/register)"', text)[1]
        hidden = re.search(r'name="invitation" value="([^"]+)"', text)[1]
        fields = {"username": "boss", "shown_name": "The \"Boss\"", "password": "short",
                  "invitation": hidden}
        status, _, text = up.form(action, fields)
        check(status == 400 and "A password has 8 to 256 characters." in text and hidden in text, text)
        check("data-answer" in text, "the script of the page would take it away")
        check('value="boss"' in text and 'value="The &quot;Boss&quot;"' in text, "typed names are gone")
        fields["password"] = PASSWORD
        for origin in ["http://evil.example", "null"]:
            check(up.form(action, fields, origin=origin)[0] == 403, origin)
        status, headers, text = up.form(action, {**fields, "shown_name": '<b>"Boss"&\'+'})
        codes = re.findall(r"<code>([a-z0-9-]{14})</code>", text)
        check(status == 200 and len(codes) == 8, text)
        check("<b>" not in text and html.escape('<b>"Boss"&\'+').replace("&#x27;", "&#39;") in text,
              text)
        cookie = cookie_of(headers)
        text = up.request("GET", "/account", headers={"Cookie": cookie})[2].decode()
        check("Account name: boss" in text and 'action="/logout"' in text, text)
        status, headers, _ = up.form("/api/account/password",
                                     {"old": PASSWORD, "new": "another password"}, cookie)
        check((status, headers["Location"]) == (303, "/account?done=password"), headers)
        text = up.request("GET", headers["Location"], headers={"Cookie": cookie})[2].decode()
        check("Your password is changed" in text, text)
        status, headers, _ = up.form("/logout", {}, cookie)
        check((status, headers["Location"]) == (303, "/account"), headers)
        status, _, text = up.form("/login", {"username": "boss", "password": PASSWORD})
        check(status == 401 and 'role="alert"' in text and "is wrong" in text, text)
        status, headers, _ = up.form("/login", {"username": "boss", "password": "another password"})
        check((status, headers["Location"]) == (303, "/") and "sandlot=" in headers["Set-Cookie"],
              headers)
        status, headers, _ = up.form("/api/account/recover", {"username": "boss", "code": codes[0],
                                                              "new": PASSWORD})
        check(status == 303 and cookie_of(headers), headers)
        boss = up.post("/login", {"username": "boss", "password": PASSWORD})[1]["session_token"]
        link = up.post("/api/invitations", {"role": "operator"}, boss)[1]["link"].split("=")[1]
        cookie = cookie_of(headers)
        text = up.request("GET", f"/account?link={link}", headers={"Cookie": cookie})[2].decode()
        check("signed in as boss" in text and "Sign out and go on" in text and link in text
              and 'action="/register"' not in text, text)
        # The button signs out and goes on with the link; nothing else in its place leads elsewhere.
        for wrong in ("//evil.example", "x" * 44, "a&b=c", "%0d%0aX: y"):
            _, headers, _ = up.form("/logout", {"link": wrong})
            check(headers["Location"] == "/account", headers)
        status, headers, _ = up.form("/logout", {"link": link}, cookie)
        check((status, headers["Location"]) == (303, f"/account?link={link}")
              and "Max-Age=0" in headers["Set-Cookie"], headers)
        check(up.page("/api/account", cookie=cookie, method="GET")[0] == 401, "still signed in")
        text = up.request("GET", headers["Location"])[2].decode()
        check('action="/register"' in text and link in text, text)
        # An empty password makes no guest; a member with a typing error neither.
        for body, code in (({"username": "x", "password": ""}, "invalid_password"),
                           ({"usernam": "x"}, "unknown_member")):
            status, answer = up.post("/login", body)
            check((status, answer["error"]["code"]) == (400, code), answer)
        # Whatever stands in the address stays text.
        for path in ['/account?link="><script>', "/account?done=<script>", "/account?link=%00%ff"]:
            text = up.request("GET", urllib.parse.quote(path, safe="/?=%"))[2].decode()
            check("<script>" not in text, text)
        status, headers, _ = up.form("/login", {"username": "Bo"})
        check(status == 303 and cookie_of(headers), "a guest by a form")
    finally:
        up.kill()


# --- deletion and export --------------------------------------------------------------------------

# The first two are paths of this server; whatever else may be read as another one leads to "/".
NEXT_GOOD = ["/place/obby?channel=beta", "/create"]
NEXT_BAD = ["//evil.example", "https://evil.example/", "/\\evil.example", "/\t/evil.example", "evil",
            "/.//evil.example", "javascript:alert(1)", "/a\r\nX-Evil: 1", "/" + "a" * 600, "/é", ""]


def test_accounts_form_returns_to_own_paths(program, _places, folder):
    """After signing in one is where one came from, and never on another site."""
    up = People(program, folder)
    try:
        up.operator()
        for path in NEXT_GOOD + NEXT_BAD:
            want = path if path in NEXT_GOOD else ""
            text = up.request("GET", "/account?" + urllib.parse.urlencode({"next": path}))[2].decode()
            check(text.count(f'name="next" value="{html.escape(want)}"') == (5 if want else 0)
                  and (want or 'name="next"' not in text), (path, text))
            status, headers, _ = up.form("/login", {"username": "boss", "password": PASSWORD,
                                                    "next": path})
            check((status, headers["Location"]) == (303, want or "/"), (path, headers))
            check("X-Evil" not in headers, headers)
        status, _, text = up.form("/login", {"username": "boss", "password": "wrong one",
                                             "next": NEXT_GOOD[0]})
        check(status == 401 and f'value="{NEXT_GOOD[0]}"' in text, "a typing error forgets it")
        status, _, text = up.form("/register", {"username": "ann", "password": PASSWORD,
                                                "next": NEXT_GOOD[0]})
        check(status == 200 and f'href="{NEXT_GOOD[0]}">Go on<' in text, text)
    finally:
        up.kill()


def test_accounts_session_says_what_typescript_lacks(program, places, folder):
    """Node or the packages: pages say which, and the log says where it was looked for."""
    root = os.path.dirname(os.path.abspath(places))
    own = os.path.join(folder, "tree/build/release/sandlot")
    os.makedirs(os.path.dirname(own))
    os.makedirs(os.path.join(folder, "tree/server/build"))
    os.symlink(os.path.join(root, "server/build/typescript"), os.path.join(folder, "tree/server/build/typescript"))
    shutil.copy(program, own)
    for run_of, variables, lacks, said in (
            (own, {}, "packages", "typescript-to-lua are not in"),
            (program, {"SANDLOT_NODE": "/nowhere/node"}, "node", "SANDLOT_NODE names no program: /nowhere/node")):
        data = os.path.join(folder, lacks)
        up = Up(run_of, folder, "--places", places, "--data", data, variables=variables)
        try:
            session = json.loads(up.request("GET", "/api/session")[2])
            check((session["typescript"], session.get("typescript_lacks")) == (False, lacks), session)
            check(sum(said in line for line in up.lines) == 1, up.lines)
        finally:
            up.kill()


def test_accounts_page_says_what_is_needed(program, _places, folder):
    """Without an invitation it says where to get one; sentences are sentences; waiting has an end."""
    up = People(program, folder)
    try:
        boss = up.operator()
        up.post("/admin/settings", {"registration": "invite"}, boss, "PUT")
        text = up.request("GET", "/account")[2].decode()
        check('action="/register"' not in text and "you need an invitation" in text, text)
        check(up.post("/api/session", method="GET")[1]["registration"] == "invite", "not said")
        check(up.post("/api/session", token=boss, method="GET")[1]["roles"][-1] == "operator", "roles")
        link = up.post("/api/invitations", {"role": "creator"}, boss)[1]["link"].split("=")[1]
        status, answer = up.post("/api/account/link", {"link": link})
        check((status, answer) == (200, {"purpose": "register", "roles": ["creator"]}), answer)
        reset = up.post("/api/accounts/boss/reset", token=boss)[1]["link"].split("=")[1]
        check(up.post("/api/account/link", {"link": reset})[1]["purpose"] == "password", "not said")
        for wrong in ("", "x" * 43, "<b>"):
            check(code_of(up.post("/api/account/link", {"link": wrong})) == (410, "link_gone"), wrong)
        check(code_of(up.post("/api/account/link", {"link": "x" * 99})) == (400, "malformed"), "long")
        text = up.request("GET", f"/account?link={link}")[2].decode()
        check('action="/register"' in text, text)
        up.post("/api/account/recover", {"link": reset, "new": PASSWORD})
        for _ in range(11):
            status, headers, text = up.form("/login", {"username": "boss", "password": "wrong one"})
        check(status == 429 and re.search(
            r"Too many attempts. The next try is possible in 1?[0-9] minutes\.", text)
            and int(headers["Retry-After"]) > 0, text)
    finally:
        up.kill()


def test_accounts_sign_ins_name_the_browser(program, _places, folder):
    """In our own words: nothing of what a browser says of itself is stored."""
    up = People(program, folder)
    try:
        up.operator()
        for agent, name in (("Mozilla/5.0 (X11; Linux x86_64; rv:1) Gecko/2 Firefox/1", "Firefox on Linux"),
                            ("Mozilla/5.0 (Linux; Android 9) Chrome/1 Safari/2", "Chrome on Android"),
                            ("<b>evil</b> Safari/", "Safari"), ("<script>", "")):
            token = up.post("/login", {"username": "boss", "password": PASSWORD},
                            **{"User-Agent": agent})[1]["session_token"]
            rows = up.post("/api/account/sign-ins", token=token, method="GET")[1]["sign_ins"]
            check([row["name"] for row in rows if row["is_this"]] == [name], rows)
    finally:
        up.kill()


def test_accounts_deletion_and_export(program, _places, folder):
    up = People(program, folder)
    try:
        boss = up.operator()
        ann = up.register("ann", shown_name="Ann Other")
        token, number = ann["session_token"], ann["user_id"]
        player = enter(up, token)
        up.post("/api/account/tokens", {"name": "my bot", "scope": "play"}, token)
        status, headers, text = up.request("GET", "/api/account/export", headers={
            "Authorization": f"Bearer {token}"})
        check(status == 200 and headers["Content-Disposition"] == "attachment", headers)
        mine = json.loads(text)
        check(mine["account"][0]["account_id"] == number, mine)
        check(mine["account"][0]["shown_name"] == "Ann Other" and "argon2" not in text.decode(), mine)
        check(sorted(row["name"] for row in mine["sign_ins"]) == ["", "my bot"], mine)
        wait_until(lambda: up.post("/api/account/export", token=token, method="GET")[1]["presence"],
                   "the world has saved that she is there")
        theirs = up.post("/api/accounts/ann/export", token=boss, method="GET")[1]
        check(theirs["account"] == mine["account"], theirs)
        check(up.post("/api/accounts/ann/export", token=token, method="GET")[0] == 403, "not boss")
        # With the password, and nothing is left: she is out, and the name is free.
        check(up.post("/api/account", {"password": "wrong one"}, token, "DELETE")[0] == 401, "wrong")
        check(up.post("/api/account", {}, token, "DELETE")[0] == 401, "without a password")
        check(up.post("/api/account", {"password": PASSWORD}, token, "DELETE")[0] == 200, "not deleted")
        check(up.who(token) is None, "still signed in")

        def is_out():
            try:
                player.socket.receive()
                return False
            except Closed:
                return True
        wait_until(is_out, "she is out of the world")
        check(up.post("/api/accounts/ann/export", token=boss, method="GET")[0] == 404, "still there")
        check(up.post("/login", {"username": "ann", "password": PASSWORD})[0] == 401, "still signs in")
        check(up.register("ann")["user_id"] != number, "the number was given again")
        with open(os.path.join(folder, "data", "deletions.log"), encoding="ascii") as file:
            check(file.read().startswith(f"{number}\t"), "it is not in the log of deletions")
        # A guest, by themselves and by the operator; the audit has the number.
        guest = up.post("/login", {"username": "bo"})[1]
        check(up.post("/api/account", None, guest["session_token"], "DELETE")[0] == 200, "a guest")
        guest = up.post("/login", {"username": "bo"})[1]
        check(up.post(f"/api/accounts/~{guest['user_id']}", token=boss, method="DELETE")[0] == 200, "~")
        check(up.who(guest["session_token"]) is None, "the guest is still there")
        for name in ["nobody", "~1", "~", "~x", "~99999999999999999999999"]:
            status = up.post(f"/api/accounts/{name}", token=boss, method="DELETE")[0]
            check(status == 404, f"{name}: {status}")
        rows = up.post("/admin/audit", token=boss, method="GET")[1]["audit"]
        check(any(row["action"] == "account.delete" and str(guest["user_id"]) in row["detail"]
                  for row in rows), rows)
        check("ann" not in json.dumps(rows), "the audit has a name of somebody who was deleted")
    finally:
        up.kill()


def test_accounts_stay_deleted_in_a_restored_backup(program, _places, folder):
    needs_file()
    up = People(program, folder)
    data, backup, other = os.path.join(folder, "data"), folder + "/b.tar", folder + "/other"
    try:
        up.operator()
        ann, bob = up.register("ann"), up.register("bob")
        subprocess.run([program, "backup", "--data", data, backup], check=True, timeout=100,
                       stdout=subprocess.DEVNULL)
        check(up.post("/api/account", {"password": PASSWORD}, ann["session_token"], "DELETE")[0] == 200,
              "not deleted")
        up.stop()
        subprocess.run([program, "restore", backup, "--data", other, "--deletions",
                        os.path.join(data, "deletions.log")], check=True, timeout=100,
                       stdout=subprocess.DEVNULL)
        os.rename(data, data + ".old")
        os.rename(other, data)
        up = People(program, folder)
        for name, want in [("ann", 401), ("bob", 200)]:
            status, answer = up.post("/login", {"username": name, "password": PASSWORD})
            check(status == want, f"{name}: {status} {answer}")
        check(answer["user_id"] == bob["user_id"], "another bob")
    finally:
        up.kill()


def test_accounts_sockets_of_a_class(program, _places, folder):
    """A class shares one address: sockets of accounts count for the accounts."""
    up = People(program, folder, variables={"SECRET_KEY": "correct-horse-battery-staple"})
    links = []
    try:
        up.operator()
        tokens = [up.register(f"pupil-{'abcdef'[i]}")["session_token"] for i in range(5)]
        room = up.join(tokens[0])["room_code"]

        def upgrade(**headers):
            link = socket.create_connection(("127.0.0.1", up.port), 40)
            links.append(link)
            lines = [f"GET /api/rooms/{room}/ws HTTP/1.1", f"Host: 127.0.0.1:{up.port}",
                     "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                     *(f"{name}: {value}" for name, value in headers.items())]
            link.sendall("\r\n".join([*lines, "", ""]).encode())
            return int(link.recv(4096).split()[1])
        for token in tokens:  # eighty, more than one address may have
            for i in range(16):
                status = upgrade(Authorization=f"Bearer {token}")
                check(status == 101, f"socket {i}: {status}")
        check(upgrade(Authorization=f"Bearer {tokens[0]}") == 429, "one account has too many")
        check(upgrade() == 101, "who is not signed in counts for the address")
    finally:
        for link in links:
            link.close()
        up.kill()


# --- limits ---------------------------------------------------------------------------------------

def test_accounts_guessing_is_limited(program, _places, folder):
    up = People(program, folder)
    try:
        up.operator()
        up.register("ann")
        up.register("bob")
        got = []

        def guess():
            status, headers, _ = up.request("POST", "/login",
                                            {"username": "Ann", "password": "guess " + "x" * 8})
            got.append((status, headers.get("Retry-After")))
        threads = [threading.Thread(target=guess) for _ in range(25)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        statuses = [status for status, _ in got]
        check(statuses.count(401) == 10 and statuses.count(429) == 15, f"{statuses}")
        waits = [int(wait) for status, wait in got if status == 429]
        check(min(waits) > 800 and max(waits) <= 901, f"{waits}")
        # Also with the right password; others are not disturbed, and a recovery code still helps her.
        wish = {"username": "ann", "password": PASSWORD}
        check(code_of(up.post("/login", wish)) == (429, "too_many_attempts"), "guessing goes on")
        codes = [up.post("/api/account/recover", {"username": "ann", "code": "x", "new": PASSWORD})[0]
                 for _ in range(11)]
        check(codes == [401] * 10 + [429], f"codes are counted apart: {codes}")
        for _ in range(15):  # what went well counts nothing
            check(up.post("/login", {"username": "bob", "password": PASSWORD})[0] == 200, "bob is out")
        # A hundred from one address, whatever the names.
        statuses = []
        for i in range(100):
            statuses.append(up.post("/login", {"username": f"no{i}", "password": PASSWORD})[0])
        check(statuses[0] == 401 and statuses[-1] == 429, f"{statuses}")
        check(up.post("/login", {"username": "bob", "password": PASSWORD})[0] == 429, "the address")
    finally:
        up.kill()


def sign_in_by_page(up, name, password, cookie=None):
    """Status, and all cookies that were set."""
    link = http.client.HTTPConnection("127.0.0.1", up.port, timeout=30 * PATIENCE)
    headers = {"Origin": up.origin, "X-Sandlot": "1", "Content-Type": "application/json",
               **({"Cookie": cookie} if cookie else {})}
    link.request("POST", "/login", json.dumps({"username": name, "password": password}), headers)
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer.status, answer.headers.get_all("Set-Cookie") or []


def test_accounts_guessing_locks_out_no_known_device(program, _places, folder):
    """Strangers lock a name out, but not for a device that signed in to it before."""
    up = People(program, folder)
    try:
        up.operator()
        up.register("ann")
        up.register("bob")
        status, cookies = sign_in_by_page(up, "ann", PASSWORD)
        check(status == 200 and len(cookies) == 2, cookies)
        found = next(one for one in cookies if one.startswith("sandlot-device="))
        check(re.fullmatch(r"sandlot-device=[A-Za-z0-9_-]{43}\.[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Lax; "
                           r"Max-Age=31536000", found), found)
        ann = found.split(";")[0]
        bob = next(one for one in sign_in_by_page(up, "bob", PASSWORD)[1] if "device" in one).split(";")[0]
        check(len(up.page("/login", {"username": "Guest"})[1]["Set-Cookie"].split("sandlot")) == 2,
              "a guest's device is nobody's")
        for _ in range(10):
            check(up.post("/login", {"username": "ann", "password": "guessed"})[0] == 401, "a guess")
        forged = ann[:-1] + ("0" if ann[-1] != "0" else "1")
        swapped = ann.split(".")[0] + "." + bob.split(".")[1]
        for cookie in (None, bob, forged, swapped, ann[:-2], f"{ann}; {bob}", "sandlot-device="):
            check(sign_in_by_page(up, "ann", PASSWORD, cookie)[0] == 429, f"locked out: {cookie}")
        check(sign_in_by_page(up, "ann", PASSWORD, ann)[0] == 200, "the owner's device is not")
        # It has ten of its own, and takes none of those of others.
        statuses = [sign_in_by_page(up, "bob", "guessed", bob)[0] for _ in range(12)]
        check(statuses == [401] * 10 + [429] * 2, statuses)
        check(up.post("/login", {"username": "bob", "password": PASSWORD})[0] == 200, "others are not locked out")
        check(sign_in_by_page(up, "bob", PASSWORD, bob)[0] == 429, "the device is")
        # It holds after a restart, and signs nobody in.
        check(up.page("/api/account", cookie=ann, method="GET")[0] == 401, "it is no sign-in")
        up.stop()
        up = People(program, folder)
        for _ in range(10):
            up.post("/login", {"username": "ann", "password": "guessed"})
        check(sign_in_by_page(up, "ann", PASSWORD, ann)[0] == 200, "after a restart")
    finally:
        up.kill()


def test_accounts_unknown_names_cost_the_same(program, _places, folder):
    up = People(program, folder)
    try:
        up.operator()
        up.register("ann")

        def cost(name):
            """Processor time of the server, because the clock shows what else the machine does."""
            before = up.processor_s()
            for i in range(9):
                wish = {"username": name.format(i), "password": "not it at all"}
                check(up.post("/login", wish)[0] == 401, wish)
            return up.processor_s() - before
        known, unknown = cost("ann"), cost("zed{}")
        check(unknown > known / 2 and known > unknown / 2, f"{known:.3f} s and {unknown:.3f} s")
    finally:
        up.kill()


# --- kill -9 --------------------------------------------------------------------------------------

def test_accounts_killed(program, _places, folder):
    """Whatever the moment: a registration that was answered is there, whole; one that was not is there
    whole or not at all."""
    up = People(program, folder)
    up.operator()
    answered, kills = {}, int(os.environ.get("SANDLOT_ACCOUNT_KILLS", "5"))
    for turn in range(kills):
        def work(turn=turn, up=up):
            for i in range(100):
                name = f"t{turn}p{i}"
                try:
                    guest = up.post("/login", {"username": f"g{turn}-{i}"})[1]
                    made = up.register(name, guest["session_token"])
                except Exception:  # it was killed
                    return
                answered[name] = made
                try:
                    wish = {"username": name, "password": PASSWORD}
                    answered[name] = {**made, "again": up.post("/login", wish)[1]["session_token"]}
                except Exception:
                    return
        worker = threading.Thread(target=work)
        before = len(answered)
        worker.start()
        wait_until(lambda before=before: len(answered) > before, "somebody registered", 30)
        time.sleep(0.07 * turn)
        up.kill()
        worker.join()
        up = People(program, folder)
    try:
        check(len(answered) >= kills, f"only {len(answered)} registered before they were killed")
        for name, made in answered.items():
            who = up.who(made["session_token"])
            check(who and who["username"] == name and who["user_id"] == made["user_id"],
                  f"{name} is lost: {who}")
            check("again" not in made or up.who(made["again"]), f"a sign-in of {name} is lost")
        for turn in range(kills):
            count = sum(name.startswith(f"t{turn}p") for name in answered)
            name = f"t{turn}p{count}"  # the one that was cut off
            status, answer = up.post("/login", {"username": name, "password": PASSWORD})
            if status == 401:
                status, answer = up.post("/register", {"username": name, "password": PASSWORD})
            check(status == 200, f"{name} is half there: {answer}")
        check(up.who(list(answered.values())[-1]["session_token"]), "gone")
    finally:
        up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Editing a draft live: several people in one document, files that follow, and nothing lost by
kill -9 of the edit process or of the server."""

import contextlib
import hashlib
import json
import os
import signal
import sqlite3
import sys
import time

from clock import DAY_S, clock_ahead
from edit_client import PROTOCOL, Editor, Schema, block, hash_of, text_value, varint, vector_value
from support import PATIENCE, Closed, WebSocket, World, check, needs_file, run, wait_until
from test_accounts import PASSWORD, People
from test_drafts import SECRET, ask, creator, good, tag_of


class Desk:
    """A server with a draft that ann owns and bob edits."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.up = People(program, folder, variables=SECRET)
        self.boss = self.up.operator()
        self.ann, self.bob = creator(self.up, self.boss, "ann"), creator(self.up, self.boss, "bob")
        self.place = good(ask(self.up, "POST", "/api/drafts", self.ann, {"title": "Lava"}))["place_id"]
        good(ask(self.up, "PUT", f"/api/places/{self.place}/team/bob", self.ann, {"role": "editor"}))
        self.path = os.path.join(folder, "data", "drafts", self.place)
        self.schema = Schema(good(ask(self.up, "GET", "/api/schema")))

    def editor(self, token=None, **more):
        return Editor(self.up, self.place, token or self.ann, **more)

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        aside = os.path.join(self.path, ".aside")
        with open(aside, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(aside, os.path.join(self.path, name))

    def entities(self):
        return {one["id"]: one for one in json.loads(self.read("scene.json"))["entities"]}

    def rename(self, entity, name):
        return self.schema.transaction(self.schema.set("entity", [entity], "name", text_value(name)))

    def upload(self, data, token=None):
        return ask(self.up, "PUT", f"/api/places/{self.place}/blob/{hashlib.sha256(data).hexdigest()}",
                   token or self.ann, data)

    def file(self, path, content, known=None):
        return self.schema.transaction(self.schema.file(path, content, known))

    def processes(self):
        """The edit processes of the server."""
        found = []
        tasks = f"/proc/{self.up.process.pid}/task"
        for task in os.listdir(tasks):  # each is the child of the thread that speaks with it
            with contextlib.suppress(OSError):
                with open(f"{tasks}/{task}/children", encoding="ascii") as file:
                    children = file.read().split()
                for child in children:
                    with open(f"/proc/{child}/cmdline", "rb") as file:
                        if b"edit-process" in file.read():
                            found.append(int(child))
        return found

    def restart(self):
        self.up = People(self.program, self.folder, variables=SECRET)

    def names(self):
        return {number: one.get("name") for number, one in self.entities().items()}


def test_edit_together(program, _places, folder):
    desk = Desk(program, folder)
    try:
        first, second = desk.editor(), desk.editor(desk.bob)
        check(first.editor != second.editor and first.document == second.document, "one document")
        check([one["name"] for one in first.wait("editors")["editors"]] == ["ann", "bob"], "who is here")

        # Both see everything, in one order, and the file follows: one changed name, one changed line.
        before = desk.read("scene.json").splitlines()
        for i in range(10):
            first.send(desk.rename(1, f"a{i}"))
            second.send(desk.rename(2, f"b{i}"))
        for one in (first, second):
            while one.seq < 20:
                one.hear()
        check([(one["seq"], one["editor"], one["n"]) for one in first.told] ==
              [(one["seq"], one["editor"], one["n"]) for one in second.told], "another order")
        second.wait("written", seq=20)
        check(desk.names() == {1: "a9", 2: "b9"}, desk.names())
        after = desk.read("scene.json").splitlines()
        check(len(before) == len(after) and
              sum(a != b for a, b in zip(before, after)) == 2, "other lines have changed")

        # Undo is one's own; a change of the settings goes into place.json.
        n = second.undo(1)
        check(second.wait("refused", n=n)["message"].startswith("cannot be undone"), "another's undo")
        mine = first.edit(desk.rename(1, "mine"))
        first.undo(mine["seq"])
        check(first.wait("told")["undone"] == mine["seq"], "not undone")
        told = first.edit(desk.schema.transaction(
            desk.schema.set("settings", [0], "name", text_value("Hot"))))
        first.wait("written", seq=told["seq"])
        check(desk.names()[1] == "a9" and json.loads(desk.read("place.json"))["name"] == "Hot", "files")

        # What cannot be applied is refused with a reason, and nothing has changed.
        n = first.send(desk.rename(99, "nobody"))
        check(first.wait("refused", n=n)["message"], "no reason")
        n = first.send(desk.schema.transaction(
            desk.schema.set("entity", [1], "transform.position", vector_value(0, float("inf"), 0))))
        first.wait("refused", n=n)

        # Presence passes by and is not stored; somebody says which file they write.
        first.say({"kind": "presence", "camera": [1, 2, 3], "selection": [1], "editor": 7})
        seen = second.wait("presence")
        check(seen["editor"] == first.editor and seen["camera"] == [1, 2, 3], seen)
        first.say({"kind": "writer", "path": "Workspace/Door.lua", "take": False})
        check(second.wait("writers")["writers"] ==
              [{"path": "Workspace/Door.lua", "editor": first.editor}], "who writes")
        second.say({"kind": "writer", "path": "Workspace/Door.lua", "take": True})
        check(first.wait("writers", )["writers"] is not None, "taken over")
        second.close()
        check([one["name"] for one in first.wait("editors")["editors"]] == ["ann"], "bob left")

        # Back again with what it knows: only what is missing, and the same number by the token.
        first.edit(desk.rename(1, "late"))
        again = desk.editor(desk.bob, epoch=second.epoch, seq=second.seq, resume=second.welcome["resume"])
        check(not again.welcome["document"] and again.editor == second.editor, again.welcome)
        check([one["label"] for one in again.told] == ["Test"] * len(again.told) and again.told, again.told)
        undone = [one["undone"] for one in good(ask(desk.up, "GET", f"/api/places/{desk.place}/ops", desk.ann))["ops"]]
        check(mine["seq"] in undone, undone)
        history = good(ask(desk.up, "GET", f"/api/places/{desk.place}/ops?from=20&limit=2", desk.ann))
        check([one["seq"] for one in history["ops"]] == [21, 22] and history["next"] == 22, history)
        check(history["ops"][0]["label"] == "Test" and history["ops"][0]["by"] and history["ops"][0]["undone"] == 0, history)
        check(history["ops"][0]["name"] == "ann", history)
    finally:
        desk.up.kill()


def test_edit_paste(program, _places, folder):
    desk = Desk(program, folder)
    parts = 2000
    try:
        # The other place, where somebody copies: its scene has that many parts.
        other = good(ask(desk.up, "POST", "/api/drafts", desk.ann, {"title": "Parts"}))["place_id"]
        scene = {"entities": [{"id": i + 1, "name": f"Part {i}", "transform": {"position": [i % 100, 1, i // 100]}}
                              for i in range(parts)]}
        there = os.path.join(folder, "data", "drafts", other, "scene.json")
        with open(there, encoding="utf-8") as file:
            scene = {**json.loads(file.read()), **scene}
        with open(there, "w", encoding="utf-8") as file:
            json.dump(scene, file)
        source = Editor(desk.up, other, desk.ann)
        clip = desk.schema.clip(source.document)
        digest = hash_of(clip)
        aside = set(desk.processes())
        source.close()

        first, second = desk.editor(), desk.editor(desk.bob)
        before = desk.entities()

        def refused(words, data, upload=True):
            if upload:
                good(desk.upload(data))
            n = first.send(desk.schema.transaction(desk.schema.paste(hash_of(data))))
            message = first.wait("refused", n=n)["message"]
            check(words in message, message)

        # A content that belongs to another place alone is not here, as if nobody had it.
        refused("was not uploaded", clip, upload=False)
        good(ask(desk.up, "PUT", f"/api/places/{other}/blob/{digest.hex()}", desk.ann, clip))
        refused("was not uploaded", clip, upload=False)
        refused("cannot be read", b"")
        refused("cannot be read", b"this is no clip")
        refused("cannot be read", clip[:-1])
        refused("pastes more than", desk.schema.head + varint(65537))

        # One pastes all of it, the other sees it, and both have the same rows.
        good(desk.upload(clip))
        both = desk.schema.transaction(desk.schema.paste(digest), desk.schema.paste(digest, 2))
        check("twice" in first.wait("refused", n=first.send(both))["message"], "two pastes")
        n = second.send(desk.rename(1, "beside"))
        told = first.edit(desk.schema.transaction(desk.schema.paste(digest)), "Paste 2000")
        while second.seq < told["seq"]:
            second.hear()
        seen = next(one for one in second.told if one["seq"] == told["seq"])
        check(seen["ops"] == told["ops"] and seen["ops"].count(b"Part ") == parts, "the creations are told")
        check(digest not in seen["ops"], "the log needs no clip")
        first.wait("written", seq=max(first.seq, second.seq))
        after = desk.entities()
        pasted = {number: one for number, one in after.items() if number not in before}
        check(len(pasted) == parts and sorted(one["name"] for one in pasted.values()) ==
              sorted(f"Part {i}" for i in range(parts)), f"{len(pasted)} parts")

        # A new process makes it again from the rows, without the clip; one step of undo takes all away.
        mine = set(desk.processes()) - aside
        check(len(mine) == 1, f"{mine} edit processes")
        os.kill(next(iter(mine)), signal.SIGKILL)
        wait_until(lambda: set(desk.processes()) - aside not in (set(), mine), "another process")
        again = desk.editor()
        check(again.editor == first.editor and again.document.count(b"Part ") == parts, "after kill -9")
        again.undo(told["seq"])
        check(again.wait("told")["undone"] == told["seq"], "not undone")
        again.wait("written", seq=again.seq)
        check(set(desk.entities()) == set(before), "all of it is gone")
        check(desk.names()[1] == "beside" and n, "what the other did stays")
        again.close()
    finally:
        desk.up.kill()


def test_edit_files(program, _places, folder):
    desk = Desk(program, folder)
    try:
        editor = desk.editor()
        door = "Workspace/Door.lua"

        # A content is uploaded, named, and written into the draft with a version of its history.
        n = editor.send(desk.file(door, b"print(1)"))
        check("not uploaded" in editor.wait("refused", n=n)["message"], "without its content")
        check(ask(desk.up, "PUT", f"/api/places/{desk.place}/blob/{'0' * 64}", desk.ann, b"x")[0] == 400, "hash")
        good(desk.upload(b"print(1)"))
        editor.wait("written", seq=editor.edit(desk.file(door, b"print(1)"))["seq"])
        check(desk.read(door) == "print(1)", "the file")
        listed = good(ask(desk.up, "GET", f"/api/places/{desk.place}/draft/history/{door}", desk.ann))
        check(len(listed["versions"]) == 1 and listed["versions"][0]["by"], listed)
        blob = f"/api/places/{desk.place}/blob/{hashlib.sha256(b'print(1)').hexdigest()}"
        check(ask(desk.up, "GET", blob, desk.ann)[2] == b"print(1)", "the content comes back")
        check(ask(desk.up, "GET", f"/api/places/{desk.place}/blob/{'0' * 64}", desk.ann)[0] == 404, "no such")

        # Who knows an old content is told so, and nothing is overwritten.
        good(desk.upload(b"print(2)"))
        n = editor.send(desk.file(door, b"print(2)", b"print(0)"))
        check(editor.wait("refused", n=n)["message"], "a stale hash")

        # A save over HTTP and a PUT become operations, and conflicts are as without an editor.
        saved = good(ask(desk.up, "POST", "/api/script/save", desk.ann,
                         {"id": f"{desk.place}/{door}", "code": "print(3)",
                          "knownHash": hashlib.sha256(b"print(1)").hexdigest()}))
        told = editor.wait("told")
        check(told["editor"] == 0 and hash_of(b"print(3)") in told["ops"], told)
        check(saved["hash"] == hashlib.sha256(b"print(3)").hexdigest(), saved)
        late = ask(desk.up, "POST", "/api/script/save", desk.ann,
                   {"id": f"{desk.place}/{door}", "code": "print(4)",
                    "knownHash": hashlib.sha256(b"print(1)").hexdigest()})
        check(late[0] == 409, late)
        # Even right after an operation whose file is not written yet.
        good(desk.upload(b"print(5)"))
        editor.edit(desk.file(door, b"print(5)", b"print(3)"))
        late = ask(desk.up, "PUT", f"/api/places/{desk.place}/draft/files/{door}", desk.ann, b"print(6)",
                   If_Match=tag_of(b"print(3)"))
        check(late[0] == 412 and desk.read(door) == "print(5)", late)
        good(ask(desk.up, "PUT", f"/api/places/{desk.place}/draft/files/{door}", desk.ann, b"print(6)",
                 If_Match=tag_of(b"print(5)")))
        check(hash_of(b"print(6)") in editor.wait("told")["ops"], "the PUT")

        # Undo brings an older content back.
        good(desk.upload(b"print(7)"))
        mine = editor.edit(desk.file(door, b"print(7)", b"print(6)"))
        editor.undo(mine["seq"])
        editor.wait("written", seq=editor.wait("told")["seq"])
        check(desk.read(door) == "print(6)", desk.read(door))

        # scene.json by PUT is a difference too; what an editor does meanwhile stays.
        text = desk.read("scene.json").replace("#5d9c4d", "#112233")
        editor.send(desk.rename(1, "kept"))
        known = desk.read("scene.json").encode()
        status = ask(desk.up, "PUT", f"/api/places/{desk.place}/draft/files/scene.json", desk.ann,
                     text.encode(), If_Match=tag_of(known))[0]
        check(status in (200, 412), status)
        wait_until(lambda: desk.names()[1] == "kept", "the editor's change is written")
        if status == 200:
            check("#112233" in desk.read("scene.json"), "the PUT's change is lost")

        # A name that no draft may have is refused when it is applied.
        good(desk.upload(b"MZ"))
        for name in ("Workspace/virus.exe", ".git/config", "x.sh", "Coin.lua ", "con.lua", "a" * 130 + ".lua"):
            n = editor.send(desk.file(name, b"MZ"))
            check(editor.wait("refused", n=n)["message"], name)

        # What the host cannot write (names that differ by case alone) is taken back all at once, and
        # delays nobody's writing.
        twins = [f"Workspace/twin{i}.lua" for i in range(60)]
        made = editor.edit(desk.schema.transaction(*(desk.schema.file(name, b"print(1)") for name in twins)))
        editor.wait("written", seq=made["seq"])
        bad = editor.edit(desk.schema.transaction(
            desk.schema.set("entity", [1], "name", text_value("beside")),
            *(desk.schema.file(name.replace("twin", "TWIN"), b"print(1)") for name in twins)))
        while editor.wait("told")["label"] != "Could not be written":
            pass
        check(any(one["type"] == "failed" for one in editor.notes), "not said")
        check(editor.seq == bad["seq"] + 1, "taken back one by one")
        editor.wait("written", seq=editor.seq)
        check(desk.names()[1] == "beside", "the rest is not written")
        there = os.listdir(os.path.join(desk.path, "Workspace"))
        check(sum(one.startswith("twin") for one in there) == 60 and
              not any(one.startswith("TWIN") for one in there), there)

        # Publishing has everything that was told.
        editor.edit(desk.rename(1, "published"))
        made = good(ask(desk.up, "POST", f"/api/places/{desk.place}/draft/publish", desk.ann,
                        {"notes": "first"}), 202)
        package = ask(desk.up, "GET", f"/api/places/{desk.place}/package?revision={made['revision_id']}",
                      desk.ann)
        check(package[0] in (200, 404) and desk.names()[1] == "published", "not all of it")

        # Whoever throws the draft away ends the session.
        good(ask(desk.up, "DELETE", f"/api/places/{desk.place}/draft", desk.ann))
        try:
            while True:
                editor.hear()
        except Closed:
            pass
        check(not os.path.exists(desk.path), "it came back")
        check(ask(desk.up, "POST", f"/api/places/{desk.place}/edit", desk.ann)[0] == 404, "no draft")
    finally:
        desk.up.kill()


def test_edit_disk(program, _places, folder):
    desk = Desk(program, folder)
    try:
        editor = desk.editor()
        # A text editor beside the page: a difference, while edits that are not written yet stay.
        text = desk.read("scene.json")
        editor.send(desk.rename(1, "mine"))
        desk.write("scene.json", text.replace("Ground", "Floor"))
        wait_until(lambda: desk.names() == {1: "mine", 2: "Floor"}, "both changes")
        while editor.seq < 2:
            editor.hear()
        check({one["editor"] for one in editor.told} == {0, editor.editor}, editor.told)
        os.makedirs(os.path.join(desk.path, "Workspace"), exist_ok=True)
        desk.write("Workspace/New.lua", "print(1)")
        check(hash_of(b"print(1)") in editor.wait("told")["ops"], "a new file")

        # What cannot be read is shown and stays as it is, while people go on; then both meet.
        editor.wait("written", seq=editor.seq)
        text = desk.read("scene.json")
        desk.write("scene.json", text.replace('"Floor"', '"Floor'))
        blocked = editor.wait("blocked")
        check(blocked["file"] == "scene.json" and blocked["line"] > 0 and blocked["message"], blocked)
        editor.edit(desk.rename(1, "blocked"))
        late = desk.editor(desk.bob)
        check(late.wait("blocked")["file"] == "scene.json", "who comes later is told too")
        check('"Floor' in desk.read("scene.json") and "blocked" not in desk.read("scene.json"), "overwritten")
        desk.write("scene.json", text.replace("Floor", "Ice"))
        editor.wait("unblocked")
        wait_until(lambda: desk.names() == {1: "blocked", 2: "Ice"}, "both changes again")

        # What a build writes beside the path of a script is told as that, and not as somebody's change.
        def goes_on(old, new, part, label):
            desk.write("scene.json", desk.read("scene.json").replace(old, new))
            told = editor.wait("told")
            while part not in told["ops"]:
                told = editor.wait("told")
            check(told["editor"] == 0 and told["label"] == label, told)

        goes_on('"Ice"', '"Ice", "scriptRef": {"path": "Workspace/New.lua"}', b"New.lua", "Changed on disk")
        goes_on('New.lua"', 'New.lua", "codeHash": "ab12"', b"ab12", "Built")

        # Unreadable while nobody edits: the first who comes is told where.
        for one in (editor, late):
            one.close()
        desk.up.stop()
        desk.write("place.json", "{")
        desk.restart()
        again = Editor(desk.up, desk.place, desk.ann)
        check(again.wait("blocked")["file"] == "place.json", "there is a log, so there is a document")
    finally:
        desk.up.kill()


def kill_edit_process(desk):
    before = desk.processes()
    check(len(before) == 1, f"{before} edit processes")
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: desk.processes() not in ([], before), "another process")


def test_edit_killed(program, _places, folder):
    desk = Desk(program, folder)
    try:
        # kill -9 of the process, in the middle of edits: what was told is there, and goes on.
        editor = desk.editor()
        for life in range(3):
            told = editor.edit(desk.rename(1, f"told{life}"))
            editor.send(desk.rename(2, f"perhaps{life}"))
            kill_edit_process(desk)
            try:
                while True:
                    editor.hear()
            except (Closed, OSError):
                pass
            again = Editor(desk.up, desk.place, desk.ann, epoch=editor.epoch, seq=editor.seq,
                           resume=editor.welcome["resume"])
            check(not again.welcome["document"] and again.editor == editor.editor, again.welcome)
            check(again.welcome["seq"] >= told["seq"], "lost")
            if again.n < editor.n:  # it was not decided: a page sends it again
                again.send(desk.rename(2, f"perhaps{life}"))
                again.wait("told")
            editor = again
            wait_until(lambda life=life: desk.names() == {1: f"told{life}", 2: f"perhaps{life}"},
                       f"the files of life {life}: {desk.names()}")

        # One that hangs is ended too, and holds up nobody for long.
        hung = desk.processes()
        os.kill(hung[0], signal.SIGSTOP)
        wait_until(lambda: desk.processes() not in ([], hung), "another process")
        expect_end(editor)
        editor = Editor(desk.up, desk.place, desk.ann, epoch=editor.epoch, seq=editor.seq)

        # kill -9 of the server right after something was told: the files follow at the next start,
        # also if nobody edits; and it can still be undone.
        good(desk.upload(b"print(1)"))
        mine = editor.edit(desk.rename(1, "last"))
        editor.edit(desk.file("Workspace/Door.lua", b"print(1)"))
        desk.up.kill()
        desk.restart()
        wait_until(lambda: desk.names()[1] == "last" and
                   os.path.exists(os.path.join(desk.path, "Workspace/Door.lua")), "files after kill -9")
        again = Editor(desk.up, desk.place, desk.ann, epoch=editor.epoch, seq=editor.seq)
        check(not again.welcome["document"] and again.editor == editor.editor, again.welcome)
        again.undo(mine["seq"])
        check(again.wait("told")["undone"] == mine["seq"], "no undo after a restart")
        wait_until(lambda: desk.names()[1] == "told2", "the undo is written")

        # Changed on disk while the server was down: taken when it is opened again.
        again.wait("written", seq=again.seq)
        desk.up.stop()
        desk.write("scene.json", desk.read("scene.json").replace("perhaps2", "by hand"))
        desk.restart()
        last = Editor(desk.up, desk.place, desk.ann, epoch=again.epoch, seq=again.seq)
        while last.seq == again.seq:
            last.hear()
        check(last.told[0]["editor"] == 0 and b"by hand" in last.told[0]["ops"], last.told)
    finally:
        desk.up.kill()


def expect_end(editor, code=None):
    """It is told why, and closed."""
    error = None
    try:
        while True:
            note = editor.hear()
            error = note if note["type"] == "error" else error
    except (Closed, OSError):
        pass
    check(code is None or (error and error["code"] == code), f"{error}, not {code}")


def test_edit_strangers(program, _places, folder):
    desk = Desk(program, folder)
    try:
        edit = f"/api/places/{desk.place}/edit"
        tester, stranger = creator(desk.up, desk.boss, "tess"), creator(desk.up, desk.boss, "sid")
        good(ask(desk.up, "PUT", f"/api/places/{desk.place}/team/tess", desk.ann, {"role": "tester"}))
        for token, status in ((None, 401), (stranger, 404), (tester, 403)):
            for method, path in (("POST", edit), ("GET", f"/api/places/{desk.place}/ops")):
                check(ask(desk.up, method, path, token)[0] == status, f"{method} {path}: not {status}")
        check(desk.upload(b"x", tester)[0] == 403 and desk.upload(b"x", stranger)[0] == 404, "a blob")

        editor = desk.editor()
        # An operator reads, which is written into the audit, and changes nothing.
        boss = desk.editor(desk.boss)
        check(not boss.can_write and not boss.welcome["can_write"], boss.welcome)
        n = boss.send(desk.rename(1, "boss"))
        check("not change" in boss.wait("refused", n=n)["message"], "an operator wrote")
        check(desk.upload(b"x", desk.boss)[0] == 403, "an operator uploaded")
        audit = good(ask(desk.up, "GET", "/admin/audit", desk.boss))
        check(any(one["action"] == "read draft" for one in audit["rows" if "rows" in audit else "audit"]), audit)

        # Tickets: none, an invented one, one of before.
        used = desk.up.post(edit, None, desk.ann)[1]["ticket"]
        Editor(desk.up, desk.place, desk.ann, ticket=used).close()
        address = desk.up.post(edit, None, desk.ann)[1]["address"]
        for ticket in (used, "x", "", "é" * 60, "0" * 64):
            socket = WebSocket(desk.up.port, address, PROTOCOL)
            socket.send(json.dumps({"kind": "hello", "ticket": ticket, "epoch": 0, "seq": 0}))
            try:
                note = json.loads(socket.receive())
                check(note["kind"] == "error", note)
                socket.receive()
                check(False, "it is open")
            except Closed:
                pass
        for protocol in ("sandlot.v2.json", None):
            check(WebSocket(desk.up.port, address, protocol).status == 400, protocol)
        # Without a ticket of this place the socket does not tell whether somebody edits, or what exists.
        quiet = good(ask(desk.up, "POST", "/api/drafts", desk.ann, {"title": "Quiet"}))["place_id"]
        answers = set()
        for place in (desk.place, quiet, "place_none"):
            for ticket in (None, "x", used, address.split("ticket=")[1] if place != desk.place else "y"):
                socket = WebSocket(desk.up.port, f"/api/places/{place}/edit" +
                                   (f"?ticket={ticket}" if ticket else ""), PROTOCOL)
                head = [line for line in socket.head.split("\r\n")
                        if not line.startswith(("Date:", "X-Request-Id:"))]
                answers.add((socket.status, *head))
        check(len(answers) == 1 and next(iter(answers))[0] == 404, answers)
        check(WebSocket(desk.up.port, address, PROTOCOL, headers=["Origin: http://evil.example"]).status == 403,
              "a stranger's page")

        # Whoever loses the right leaves.
        bob = desk.editor(desk.bob)
        good(ask(desk.up, "DELETE", f"/api/places/{desk.place}/team/bob", desk.ann))
        expect_end(bob, "denied")

        # Frames that no page sends: each ends its own connection, and nobody else's.
        for bad in (b"", b"\x02", b"\x04xx", b"\0" + b"\xff" * 40, b"\0\1", b"\0" * 65537, "{", "[]", "{}",
                    '{"kind":7}', '{"kind":"hello","ticket":"x"}', "x" * 20000):
            one = desk.editor()
            one.socket.send(bad)
            expect_end(one)
        one = desk.editor()
        one.socket.send(json.dumps({"kind": "hello", "ticket": 7}))
        expect_end(one, "malformed")
        address = desk.up.post(edit, None, desk.ann)[1]["address"]
        check(WebSocket(desk.up.port, address, PROTOCOL).status == 101, "it may be silent for a while")
        early = WebSocket(desk.up.port, address, PROTOCOL)
        early.send(b"\0\1\1\0\0\0")
        check(json.loads(early.receive())["code"] == "malformed", "before hello")

        # Operations that are wrong are refused, and the connection stays.
        for bad in (b"", b"\1", b"\2" + varint(1), desk.schema.head + b"\x63",
                    desk.schema.head + b"\3\3" + varint(500) + b"\1" + block(b"\1\0") + b"\1\1",
                    b"\1" + varint(1) + b"\3"):
            n = editor.send(bad)
            editor.wait("refused", n=n)

        # Too large, and too many. The process lives, and says how often.
        big = desk.editor()
        big.send(desk.schema.head + b"\7" * (1 << 21))
        expect_end(big, "too_large")
        flood = desk.editor()
        for i in range(500):
            flood.send(desk.rename(2, f"f{i}"))
        refused = 0
        while True:
            heard = flood.hear()
            refused += heard["type"] == "refused"
            if heard.get("n") == flood.n and heard["type"] in ("told", "refused"):
                break
        check(refused > 0, "a flood was let through")
        for i in range(200):
            flood.say({"kind": "presence", "camera": [i]})
        check(editor.edit(desk.rename(1, "still here")), "others go on")
        check(len(desk.processes()) == 1, "the process died")
        wait_until(lambda: desk.up.metric("sandlot_edit_limited_total") > 0, "not counted")
        check(desk.up.metric("sandlot_edit_process_deaths_total") == 0, "a process died")
    finally:
        desk.up.kill()


def refused_ticket(desk, ticket, place=None):
    """A ticket of before, whose right is gone."""
    socket = WebSocket(desk.up.port, f"/api/places/{place or desk.place}/edit?ticket={ticket}", PROTOCOL)
    if socket.status != 101:
        check(socket.status == 404, socket.head)  # its session has ended
        return
    socket.send(json.dumps({"kind": "hello", "ticket": ticket, "epoch": 0, "seq": 0}))
    try:
        note = json.loads(socket.receive())
        check(note["kind"] == "error", f"the ticket outlived its right: {note}")
    except (Closed, ConnectionError):
        pass


def test_edit_lost_rights(program, _places, folder):
    """Whoever loses a right leaves at once, and no ticket of before brings them back."""
    needs_file()
    desk = Desk(program, folder)
    try:
        team = f"/api/places/{desk.place}/team/bob"
        edit = f"/api/places/{desk.place}/edit"

        def sign_in(password=PASSWORD):
            return good(ask(desk.up, "POST", "/login", None,
                            {"username": "bob", "password": password}))["session_token"]

        def lose(what, token, act, place=None):
            path = f"/api/places/{place or desk.place}/edit"
            bob = Editor(desk.up, place or desk.place, token)
            ticket = desk.up.post(path, None, token)[1]["ticket"]
            status = act()[0]
            check(status in (200, 204), f"{what}: {status}")
            began = time.monotonic()
            refused_ticket(desk, ticket, place)
            expect_end(bob)
            took = time.monotonic() - began
            check(took < 2.5 * PATIENCE, f"{what}: it took {took:.1f} s")

        def role(name):
            return ask(desk.up, "PUT", team, desk.ann, {"role": name})

        owner = desk.editor()  # stays through all of it
        lose("off the team", desk.bob, lambda: ask(desk.up, "DELETE", team, desk.ann))
        for name in ("tester", "blocked"):
            good(role("editor"))
            lose(name, desk.bob, lambda name=name: role(name))
        good(role("editor"))
        one = sign_in()
        lose("signed out", one, lambda: ask(desk.up, "POST", "/logout", one))
        made = good(ask(desk.up, "POST", "/api/account/tokens", desk.bob, {"name": "t", "scope": "create"}))
        lose("a token", made["token"],
             lambda: ask(desk.up, "DELETE", f"/api/account/sign-ins/{made['id']}", desk.bob))
        two = sign_in()
        lose("another password", two, lambda: ask(desk.up, "POST", "/api/account/password", desk.bob,
                                                  {"old": PASSWORD, "new": PASSWORD + "2"}))
        lose("a ban", desk.bob, lambda: ask(desk.up, "POST", "/admin/ban", desk.boss,
                                            {"account": "bob", "minutes": 5}))
        check(ask(desk.up, "POST", edit, desk.bob)[0] == 403, "banned")
        good(ask(desk.up, "DELETE", "/admin/ban?account=bob", desk.boss))

        good(ask(desk.up, "DELETE", team, desk.ann))
        owner.wait("written", seq=owner.edit(desk.rename(1, "after"))["seq"])

        # An operator who was an editor goes on as one who reads, with another ticket.
        good(ask(desk.up, "PUT", f"/api/places/{desk.place}/team/boss", desk.ann, {"role": "editor"}))
        boss = desk.editor(desk.boss)
        check(boss.can_write, "an operator in the team")
        ticket = desk.up.post(edit, None, desk.boss)[1]["ticket"]
        good(ask(desk.up, "DELETE", f"/api/places/{desk.place}/team/boss", desk.ann))
        expect_end(boss)
        reader = Editor(desk.up, desk.place, desk.boss, ticket=ticket)
        check(not reader.welcome["can_write"], "an operator writes")

        # One account does not take everybody's seats.
        good(role("editor"))
        many = [desk.editor(desk.bob) for _ in range(8)]
        refused_ticket(desk, desk.up.post(edit, None, desk.bob)[1]["ticket"])
        for one in many:
            one.close()

        # An account that is deleted takes its drafts along, also while they are edited.
        place = good(ask(desk.up, "POST", "/api/drafts", desk.bob, {"title": "Gone"}))["place_id"]
        path = os.path.join(folder, "data", "drafts", place)
        last = Editor(desk.up, place, desk.bob)
        for i in range(20):
            last.send(desk.rename(1, f"gone{i}"))
        good(ask(desk.up, "DELETE", "/api/account", desk.bob, {"password": PASSWORD + "2"}))
        expect_end(last)
        check(not os.path.exists(path), "the folder stayed")
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "data", "sandlot.db"))) as store:
            left = [store.execute(f"SELECT count(*) FROM {table} WHERE package_id = ?", (place.encode(),))
                    .fetchone()[0] for table in ("edit_heads", "edit_rows", "edit_checkpoints")]
        check(left == [0, 0, 0], f"rows of a place that is gone: {left}")

        # In the trash and removed by an operator: nobody edits it, and restored it goes on.
        lose("the trash", desk.ann, lambda: ask(desk.up, "DELETE", f"/api/places/{desk.place}", desk.ann))
        expect_end(owner)
        good(ask(desk.up, "POST", f"/api/places/{desk.place}/restore", desk.ann))
        back = desk.editor(epoch=owner.epoch, seq=owner.seq)
        check(back.epoch == owner.epoch and not back.told, f"{back.welcome} {back.told}, not {owner.seq}")
        lose("removed", desk.ann, lambda: ask(desk.up, "POST", f"/admin/packages/{desk.place}", desk.boss,
                                              {"act": "remove", "reason": "bad"}))
    finally:
        desk.up.kill()


def test_edit_shares(program, _places, folder):
    """Nobody takes what is there for all: numbers, labels, tickets, drafts, sockets."""
    desk = Desk(program, folder)
    try:
        edit = f"/api/places/{desk.place}/edit"
        editor = desk.editor()
        # A number far ahead is refused, and the next one is good.
        before = editor.n
        n = editor.send(desk.rename(1, "far"), n=2**64 - 1)
        check(editor.wait("refused", n=n)["message"], "n")
        editor.n = before
        # Labels speak to no terminal, and turn no text around.
        told = editor.edit(desk.rename(1, "a"), label="a\x1b[2J\x07\u202eb")
        check(told["label"] == "a?[2J??b", told)
        history = good(ask(desk.up, "GET", f"/api/places/{desk.place}/ops", desk.ann))
        check(history["ops"][-1]["label"] == told["label"], history)
        other = desk.editor(desk.bob)
        for text in ("\u202e", "\x1b", "fine"):
            editor.say({"kind": "presence", "camera": [text]})
        check(other.wait("presence")["camera"] == ["fine"], "presence")

        # Tickets: the oldest of an account give way to its newer ones, and nobody else's.
        first = desk.up.post(edit, None, desk.bob)[1]["ticket"]
        kept = desk.up.post(edit, None, desk.ann)[1]["ticket"]
        for _ in range(16):
            last = desk.up.post(edit, None, desk.bob)[1]["ticket"]
        refused_ticket(desk, first)
        for ticket in (kept, last):
            Editor(desk.up, desk.place, None, ticket=ticket).close()

        # A content that no file names yet costs a row too. What was renamed is a version first: it is
        # in the file, and a list waits for whoever still holds the draft.
        wait_until(lambda: desk.names()[1] == "a", "the new name is written")
        good(ask(desk.up, "GET", f"/api/places/{desk.place}/draft", desk.ann))
        used = good(ask(desk.up, "GET", "/api/me/quota", desk.ann))
        for i in range(4):
            good(desk.upload(b"%d" % i))
        more = good(ask(desk.up, "GET", "/api/me/quota", desk.ann))
        check(more["bytes_used"] - used["bytes_used"] == 4 * 513, f"{used} {more}")

        # Sockets that say nothing keep nobody out.
        address = desk.up.post(edit, None, desk.ann)[1]["address"]
        silent = [WebSocket(desk.up.port, address, PROTOCOL) for _ in range(50)]
        check(all(one.status == 101 for one in silent), "sockets")
        desk.editor(desk.bob).close()
        for one in silent:
            one.close()

        # Drafts that somebody only opens make room for the next one; those with an editor do not.
        opened = []
        for i in range(9):
            place = good(ask(desk.up, "POST", "/api/drafts", desk.bob, {"title": f"Draft {i}"}))["place_id"]
            opened.append(place)
            good(ask(desk.up, "POST", f"/api/places/{place}/edit", desk.bob))
        wait_until(lambda: len(desk.processes()) == 9, f"{len(desk.processes())} processes")  # ann's too
        held = [Editor(desk.up, place, desk.bob) for place in opened[:8]]
        check(ask(desk.up, "POST", f"/api/places/{opened[8]}/edit", desk.bob)[0] == 503, "a ninth")
        desk.editor().close()
        held[0].close()
    finally:
        desk.up.kill()


def test_edit_dev(program, _places, folder):
    """`sandlot dev DIR`: the same on a folder of one's own, without accounts."""
    place = os.path.join(folder, "mine")
    os.makedirs(place)
    for name, text in (("place.json", '{"format": 1, "name": "Mine"}'),
                       ("scene.json", '{"format": 1, "entities": [{"id": 1, "name": "Spawn", "type": "spawn"}]}')):
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)

    class Dev(World):
        @staticmethod
        def arguments(path, data, options):
            return ["dev", path, "--port", "0", *options]

        def post(self, path, body=None, token=None, method="POST"):
            check(token is None, "there are no accounts")
            status, _, text = self.request(method, path, body)
            return status, json.loads(text)

    dev = Dev(program, place, folder)
    try:
        schema = Schema(json.loads(dev.request("GET", "/api/schema")[2]))
        editor = Editor(dev, "place_mine", None)
        check(editor.can_write, "one's own folder")
        told = editor.edit(schema.transaction(schema.set("entity", [1], "name", text_value("Start"))))
        editor.wait("written", seq=told["seq"])
        with open(os.path.join(place, "scene.json"), encoding="utf-8") as file:
            check(json.load(file)["entities"][0]["name"] == "Start", "not written")
        wait_until(lambda: any("the world starts again" in line for line in dev.lines), "what was edited is played")
        with open(os.path.join(place, "Door.lua"), "w", encoding="utf-8") as file:
            file.write("print(1)")
        check(hash_of(b"print(1)") in editor.wait("told")["ops"], "a file of the folder")
        check(WebSocket(dev.port, "/api/places/place_mine/edit", PROTOCOL,
                        headers=["Origin: http://evil.example"]).status == 403, "a stranger's page")
    finally:
        dev.kill()


def test_edit_uploads_that_nothing_names_end(program, _places, folder):
    """After a week, if nobody edits the draft; what the log names stays."""
    needs_file()
    desk = Desk(program, folder)
    try:
        editor = desk.editor()
        used, lost = b"print('used')", b"print('lost')"
        for data in (used, lost):
            good(desk.upload(data))
        editor.wait("written", seq=editor.edit(desk.file("Workspace/Door.lua", used))["seq"])
        good(ask(desk.up, "POST", "/admin/cleanup", desk.boss))

        def blob(data):
            return ask(desk.up, "GET", f"/api/places/{desk.place}/blob/{hashlib.sha256(data).hexdigest()}", desk.ann)
        check(blob(lost)[2] == lost, "somebody may still name it")
        desk.up.stop()
        desk.up = People(program, folder, variables={**SECRET, **clock_ahead(folder, 9 * DAY_S)})
        digest = hashlib.sha256(lost).hexdigest()
        path = os.path.join(folder, "data", "blobs", digest[:2], digest[2:])
        wait_until(lambda: not os.path.exists(path), "it is removed as the server starts")
        desk.ann = good(ask(desk.up, "POST", "/login", None, {"username": "ann", "password": PASSWORD}))["session_token"]
        check(blob(lost)[0] == 404 and blob(used)[2] == used, "what a file has stays")
        desk.up.stop()
    finally:
        desk.up.kill()


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

"""Helpers of the tests of publishing: a server with few places, creators, and packages."""

import http.client
import io
import json
import os
import shutil
import time
import urllib.parse
import zipfile

from support import PATIENCE, check, prepared_data, wait_until
from test_accounts import People

SECRET = {"SECRET_KEY": "correct-horse-battery-staple"}
SCENE = json.dumps({"format": 1, "entities": [
    {"id": 1, "name": "Spawn", "type": "spawn", "transform": {"position": [0, 0, 0]}}]})


def small_places(places, folder):
    """A folder with one place, so that a server starts quickly."""
    made = os.path.join(folder, "few")
    if not os.path.exists(made):
        shutil.copytree(os.path.join(places, "island"), os.path.join(made, "island"),
                        ignore=shutil.ignore_patterns(".sandlot"))
    return made


def package(name="Test Place", scene=None, **files):
    """A .game file; the scripts are given as path with / as __."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("place.json", json.dumps({"format": 1, "name": name}))
        archive.writestr("scene.json", SCENE if scene is None else json.dumps(scene))
        for path, text in files.items():
            archive.writestr(path.replace("__", "/") + ".lua", text)
    return out.getvalue()


class Publisher(People):
    """A server with an operator, and requests of creators."""

    def __init__(self, program, places, folder, *options, tokens=None, variables=None,
                 prepared="publisher"):
        if prepared and not {"--places", "--default-place"} & set(options):
            prepared_data(program, prepared, os.path.join(folder, "data"),
                          lambda made: Publisher(program, places, made, prepared=None))
        super().__init__(program, folder, "--places", small_places(places, folder), *options,
                         variables={**SECRET, **(variables or {})}, prepared=None)
        self.tokens = tokens or {}

    def begin(self, *creators):
        self.tokens = {"boss": self.operator()}
        for name in creators:
            self.creator(name)

    def creator(self, name):
        self.tokens[name] = self.register(name)["session_token"]
        status, answer = self.post(f"/api/accounts/{name}/roles", {"roles": "creator"},
                                   self.tokens["boss"])
        check(status == 200, answer)

    def raw(self, method, path, body=None, who=None, timeout=20 * PATIENCE, **headers):
        """Status, headers and bytes."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        if who:
            headers["Authorization"] = f"Bearer {self.tokens[who]}"
        try:
            link.request(method, path, body=body, headers=headers)
            answer = link.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            link.close()

    def halved(self, method, path, body, who, act, **headers):
        """Status and answer to a body of which half is sent, then `act` is called, then the rest is sent."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20 * PATIENCE)
        try:
            link.putrequest(method, path)
            for name, value in {"Authorization": f"Bearer {self.tokens[who]}", "Content-Length": len(body),
                                **headers}.items():
                link.putheader(name, value)
            link.endheaders(body[:len(body) // 2])
            time.sleep(0.2)  # the server has the headers by then
            act()
            link.send(body[len(body) // 2:])
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            link.close()

    def ask(self, method, path, body=None, who=None, **headers):
        """Status and answer."""
        status, _, text = self.raw(method, path, None if body is None else json.dumps(body), who,
                                   **headers)
        return status, json.loads(text)

    def good(self, method, path, body=None, who=None, **headers):
        status, answer = self.ask(method, path, body, who, **headers)
        check(status in (200, 201, 202), f"{method} {path} by {who} says {status}: {answer}")
        return answer

    def upload(self, who, data, place=None, **query):
        """Status and answer."""
        query.setdefault("notes", "something new")
        path = f"/api/places/{place}/revisions" if place else "/api/places"
        status, _, text = self.raw("POST", f"{path}?{urllib.parse.urlencode(query)}", data, who)
        return status, json.loads(text)

    def job(self, who, job_id):
        """How it ended."""
        def look():
            answer = self.good("GET", f"/api/jobs/{job_id}", who=who)
            return answer if answer["status"] not in ("waiting", "running") else None
        return wait_until(look, f"the job {job_id} ends", 60)

    def publish(self, who, data, place=None, **query):
        """The answer to the upload, once its job is done."""
        status, answer = self.upload(who, data, place, **query)
        check(status == 202, f"the upload says {status}: {answer}")
        job = self.job(who, answer["job_id"])
        check(job["status"] == "done", job)
        check(job["result_revision_id"] == answer["revision_id"], (job, answer))
        return answer

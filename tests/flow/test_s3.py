"""Blobs in a bucket of S3: npm's s3rver as a process of its own, with signatures checked before it."""

import os
import shutil
import subprocess
import sys
import time

from publish import Publisher, package
from support import check, run, wait_until
from test_issuer import ROOT, free_port
from test_up import sandlot_up

KEYS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}


class Bucket:
    def __init__(self, folder, port=None):
        self.port = port or free_port()
        self.folder = os.path.join(folder, "bucket")
        self.process = subprocess.Popen(
            [os.path.join(ROOT, "tools/node"), "--openssl-legacy-provider", "--no-deprecation",
             os.path.join(ROOT, "tests/flow/s3_server.mjs"), str(self.port), self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        check(self.process.stdout.readline() == "ready\n", "the S3 server does not start")
        self.address = f"s3://club/a/b?endpoint=http://127.0.0.1:{self.port}"

    def files(self):
        return [name for _, _, names in os.walk(os.path.join(self.folder, "club", "a")) for name in names
                if name.endswith("_object")]

    def lie(self, count):
        """So many objects that are asked for come back as other bytes."""
        with open(self.folder + "-lies", "w", encoding="utf-8") as file:
            file.write(str(count))

    def stop(self):
        self.process.kill()
        self.process.wait()


def test_s3_keeps_blobs(program, places, folder):
    """The store of blobs itself: large ones, another machine, retries, wrong keys, collection."""
    del places
    bucket = Bucket(folder)
    try:
        driver = os.path.join(os.path.dirname(program), "tests/unit/test_blob_s3")
        done = subprocess.run([driver, "bucket"], env={**os.environ, "SANDLOT_TEST_S3": bucket.address},
                              capture_output=True, text=True, timeout=280)
        check(done.returncode == 0 and "1 passed" in done.stdout, f"{done.stdout} {done.stderr[-2000:]}")
        check(bucket.files() == [], f"left over: {len(bucket.files())}")
    finally:
        bucket.stop()


def test_s3_of_a_server(program, places, folder):
    bucket = Bucket(folder)
    up = Publisher(program, places, folder, "--blobs", bucket.address, variables=KEYS, prepared=None)
    try:
        up.begin("ada")
        game = package("Bucket Place")
        made = up.publish("ada", game, channel="live")
        place, token = made["place_id"], up.tokens["ada"]
        check(len(bucket.files()) >= 1, "the bucket has nothing")
        check(not os.path.exists(os.path.join(folder, "data", "blobs")), "files are used as well")
        path = f"/api/places/{place}/package"
        status, _, body = up.request("GET", path, None, {"Authorization": f"Bearer {token}"})
        check(status == 200 and len(body) > 100, f"{path} says {status}")
        # A machine that has lost its copies has them again; a backup has none of them.
        up.stop()
        for name in ("blob-cache", "unpacked"):
            shutil.rmtree(os.path.join(folder, "data", name))
        up = Publisher(program, places, folder, "--blobs", bucket.address, variables=KEYS)
        up.tokens["ada"] = token
        bucket.lie(3)  # as often as it is asked
        status, answer = up.ask("POST", "/join", {"place_id": place}, "ada")
        check(status == 503, f"a bucket that gives other bytes: {status} {answer}")
        check(any("gave other bytes than were put for" in line for line in up.lines), "the log does not say so")
        bucket.lie(1)
        answered = time.monotonic()
        wait_until(lambda: up.ask("POST", "/join", {"place_id": place}, "ada")[0] == 200, "it can be joined")
        print(f"joined {time.monotonic() - answered:.1f} s after the bucket was mended")
        status, _, again = up.request("GET", path, None, {"Authorization": f"Bearer {token}"})
        check(status == 200 and again == body, f"without the cache {path} says {status}")
        # The bucket is away: what is copied here is served, an upload is refused and leaves nothing.
        bucket.stop()
        status, _, again = up.request("GET", path, None, {"Authorization": f"Bearer {token}"})
        check(status == 200 and again == body, f"without the bucket {path} says {status}")
        status, answer = up.upload("ada", package("Another Place"))
        check(status == 503 and answer["error"]["code"] == "blobs_away"
              and "s3://club/a/b" in answer["error"]["message"], f"an upload says {status} {answer}")
        check(any("s3://club/a/b does not answer" in line for line in up.lines), "the log does not say so")
        check(up.request("GET", "/api/health")[0] == 200, "the server suffers")
    finally:
        up.stop()
        bucket.stop()
    # Settings that cannot work are said at the start.
    _, text = sandlot_up(program, folder, "--data", folder, "--check-config", "--blobs", "s3://x", code=1)
    check("s3://BUCKET/PREFIX" in text and "3 to 63 letters" in text, text)
    _, text = sandlot_up(program, folder, "--data", folder, "--check-config", "--blobs", "s3://club", code=1)
    check("AWS_ACCESS_KEY_ID" in text, text)
    _, text = sandlot_up(program, folder, "--data", os.path.join(folder, "other"), "--port", "0", "--blobs",
                         bucket.address, code=1, variables=KEYS)
    check("the bucket cannot be reached" in text, text)


if __name__ == "__main__":
    sys.exit(run(dict(globals()), sys.argv))

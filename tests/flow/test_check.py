"""What `sandlot build --json` says about the scripts of tests/script/check, about the hostile and other
scripts of the tests, and about the island: the diagnostics of tests/script/check/expected.txt, which
test_check_corpus (natively and in WASM) and tests/wasm/test_check.mjs (the page's own check) have too.
"""

import json
import os
import shutil
import subprocess
import sys

from support import check, run

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "script")
CORPUS = os.path.join(SCRIPTS, "check")
# Other scripts of the tests, and where they are in the place. What is in ReplicatedStorage is not tried
# out, which takes long with hostile scripts.
MORE = {"hostile": "ReplicatedStorage", "neighbours": "ReplicatedStorage", "same": "ReplicatedStorage",
        "api": "Workspace"}
# A build says more: it tries scripts out, and looks at what is beside them.
BUILD_ALONE = ("asset", "dry-run", "pack", "orphan", "unused")


def expected():
    cases, rows = {}, []
    with open(os.path.join(CORPUS, "expected.txt"), encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.startswith("== "):
                rows = cases.setdefault(line[3:].strip(), [])
            else:
                rows.append(json.loads(line))
    return cases


def copy_scripts(place):
    for name, service in MORE.items():
        shutil.copytree(os.path.join(SCRIPTS, name), os.path.join(place, service, name),
                        ignore=lambda _, files: [file for file in files if not file.endswith(".lua")])


def write_made(name, place):
    with open(os.path.join(CORPUS, "made.txt"), encoding="utf-8") as file:
        for row in file:
            path, count, line = row.split()
            if path.startswith(name + "/"):
                path = os.path.join(place, path.removeprefix(name + "/"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as made:
                    made.write((line + "\n") * int(count))


def diagnostics(program, place):
    told = subprocess.run([os.path.abspath(program), "build", place, "--json", "--allow-weak-jail"],
                          capture_output=True, text=True, timeout=600, check=False)
    check(told.returncode in (0, 1), f"{place}: {told.stderr}")
    return json.loads(told.stdout)["diagnostics"]


def compare(name, found, wanted):
    found = [row for row in found if row["code"] not in BUILD_ALONE]
    if any(row["code"] == "file" for row in wanted):  # a build reads no further then
        wanted = [row for row in wanted if row["code"] == "file"]
    for row in found:
        check(row in wanted, f"{name}: the build alone says {row}")
    for row in wanted:
        check(row in found, f"{name}: the build does not say {row}")
    check(found == wanted, f"{name}: another order")


def test_check_build_says_the_same(program, places, folder):
    cases = expected()
    check(len(cases) > 10 and len(cases["whole"]) > 100, "there is a corpus")
    for name, wanted in cases.items():
        place = os.path.join(folder, name)
        shutil.copytree(os.path.join(places, name) if name == "island" else os.path.join(CORPUS, name),
                        place, ignore=shutil.ignore_patterns(".sandlot"))
        if name == "whole":
            copy_scripts(place)
        write_made(name, place)
        compare(name, diagnostics(program, place), wanted)


if __name__ == "__main__":
    sys.exit(run(globals(), sys.argv))

"""Runs every example of docs/SCRIPTING.md and of the generated reference by `sandlot script run`, on the side that
it is for: none may fault. A TypeScript example that imports a module is built as part of a place.

    test_guide.py SANDLOT GUIDE
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The module that the guide imports.
WORDS_TS = 'export function greet(name: string) {\n    return "Hello " + name;\n}\n'


def snippets(text):
    """(line, side, ending, code) of each example."""
    for match in re.finditer(r"^```(luau?|ts)( client)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        yield line, "Client" if match.group(2) else "Server", match.group(1), match.group(3)


def run_alone(sandlot, folder, name, side, code):
    (Path(folder) / name).write_text(code)
    command = [sandlot, "script", "run", name, "--context", side, "--ticks", "200", "--allow-weak-jail"]
    if "self" in code:
        command += ["--entity", "Zone"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    # A lint in an example would teach a mistake.
    told = re.findall(rf"^ +0\.00  warn +{re.escape(name)}:\d+: .*$", run.stdout, re.MULTILINE)
    return run.returncode == 0 and not told, run.stdout + run.stderr


def build_in_place(sandlot, folder, code):
    place = Path(folder) / "place"
    subprocess.run([sandlot, "new", str(place)], capture_output=True, timeout=300, check=True)
    for name, text in (("ReplicatedStorage/Words.ts", WORDS_TS), ("ServerScriptService/Example.ts", code)):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    run = subprocess.run([sandlot, "build", str(place), "--json", "--allow-weak-jail"], capture_output=True, text=True,
                         timeout=300, check=False)
    told = [row for row in json.loads(run.stdout)["diagnostics"] if "Example" in row["file"] or "Words" in row["file"]]
    return run.returncode == 0 and not told, run.stdout + run.stderr


def main(sandlot, guide):
    sandlot = str(Path(sandlot).resolve())
    reference = subprocess.run([sandlot, "script", "api"], capture_output=True, text=True, check=True).stdout
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for source, text in ((guide, Path(guide).read_text()), ("reference", reference)):
            found = list(snippets(text))
            for line, side, ending, code in found:
                if re.search(r"^import ", code, re.MULTILINE):
                    good, said = build_in_place(sandlot, folder, code)
                else:
                    good, said = run_alone(sandlot, folder, f"line_{line}.{ending}", side, code)
                passed, failed = passed + good, failed + (not good)
                if not good:
                    print(f"{source}:{line}:\n{said}")
            failed += len(found) < 10
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))

"""Runs every Lua and Luau example of docs/SCRIPTING.md by `sandlot script run`: none may fault.

    test_guide.py SANDLOT GUIDE
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def snippets(text):
    """(line, language, side, code) of each example."""
    for match in re.finditer(r"^```(luau?)( client)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        yield line, match.group(1), "Client" if match.group(2) else "Server", match.group(3)


def main(sandlot, guide):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for line, language, side, code in snippets(Path(guide).read_text()):
            script = Path(folder) / f"line_{line}.{language}"
            script.write_text(code)
            command = [sandlot, "script", "run", str(script), "--context", side, "--ticks", "200"]
            if "self" in code:
                command += ["--entity", "Zone"]
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode == 0:
                passed += 1
            else:
                failed += 1
                print(f"{guide}:{line}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 10 else 0


sys.exit(main(*sys.argv[1:]))

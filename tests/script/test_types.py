"""Compiles every script of tests/script/types with the generated declarations.

    test_types.py SANDLOT FOLDER

A line that ends in `// wrong` must have an error, and no other line may. A file without one runs too, without a
fault: what the types promise is there.
"""

import re
import subprocess
import sys
from pathlib import Path


def check_file(sandlot, path):
    side = "Client" if path.name.startswith("client") else "Server"
    wanted = {number for number, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("// wrong")}
    run = subprocess.run([sandlot, "script", "run", path.name, "--context", side, "--ticks", "60", "--allow-weak-jail"],
                         cwd=path.parent, capture_output=True, text=True, timeout=300, check=False)
    found = {int(line) for line in re.findall(rf"^{re.escape(path.name)}:(\d+):\d+: error", run.stdout, re.MULTILINE)}
    good = found == wanted and run.returncode == (3 if wanted else 0)
    if not good:
        print(f"{path}: exit {run.returncode}; no error at {sorted(wanted - found)}, "
              f"an error at {sorted(found - wanted)}\n{run.stdout}{run.stderr}")
    return good


def main(sandlot, folder):
    files = sorted(Path(folder).glob("*.ts"))
    good = sum(check_file(str(Path(sandlot).resolve()), path) for path in files)
    print(f"{good} passed, {len(files) - good} failed")
    return 0 if good == len(files) >= 4 else 1


sys.exit(main(*sys.argv[1:]))

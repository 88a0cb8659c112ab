"""Runs programs one after another: run_all.py PROGRAM…  Fails if one of them does."""
import os
import subprocess
import sys
import tempfile

failed = []
with tempfile.TemporaryDirectory(prefix="sandlot-run-") as folder:
    for program in sys.argv[1:]:
        print(f"== {os.path.basename(program)}", flush=True)
        done = subprocess.run([program], cwd=folder, check=False)
        if done.returncode != 0:
            failed.append(os.path.basename(program))
print(f"failed: {' '.join(failed)}" if failed else "all passed")
sys.exit(1 if failed else 0)

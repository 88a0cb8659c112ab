"""Compares what the functions and properties of the API cost with what scripts are charged for them, in counted
instructions and not in time: a step of any of them may take at most so many times the instructions of a step of a
plain loop. Without that a script could take many times its share of a tick without a fault.

    test_api_cost.py API_COST LINES [--all]

Under callgrind it runs each seventh loop, or all if SANDLOT_CASES is "all", which takes some minutes. --all prints
every row that it counted, the dearest first.
"""

import os
import subprocess
import sys
import tempfile

# The budget of a tick is half of its length, so what is half as dear again still leaves a tick in time.
MOST = 1.5
EVERY = "1" if os.environ.get("SANDLOT_CASES") == "all" else "7"


def run_all(program, lines):
    """Every row has a line and can be called; that takes less than a second."""
    run = subprocess.run([program, lines], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"test_api_cost: the program failed\n{run.stderr[-4000:]}")


def count(program, lines):
    """The instructions of each loop, in the order in which the program runs them, and what it says about them."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=vm_resume", "--combine-dumps=yes",
             "--zero-before=api_cost_begin", "--dump-after=api_cost_end",
             f"--callgrind-out-file={folder}/out", program, lines, EVERY],
            capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"test_api_cost: the program failed\n{run.stderr[-4000:]}")
        with open(f"{folder}/out") as file:
            counts = [int(line.split()[1]) for line in file if line.startswith("totals:")]
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    if len(counts) < len(rows):
        sys.exit(f"test_api_cost: {len(rows)} loops, but {len(counts)} counts")
    return [(side, name, int(turns), int(steps), instructions, call)
            for (side, name, turns, steps, call), instructions in zip(rows, counts)]


def main(program, lines, *options):
    run_all(program, lines)
    rows = count(program, lines)
    plain = {side: instructions / steps for side, name, _, steps, instructions, _ in rows if name == "plain"}
    found = sorted(((instructions / max(steps, 1) / plain[side], side, name, turns, steps, instructions, call)
                    for side, name, turns, steps, instructions, call in rows), reverse=True)
    failed = 0
    for ratio, side, name, turns, steps, instructions, call in found:
        failed += ratio > MOST
        if ratio > MOST or "--all" in options:
            print(f"{ratio:6.2f} x  {side} {name}: {steps / turns:.0f} steps, {instructions / turns:.0f} instructions"
                  f"  {call}")
    print(f"a step of a plain loop: {plain['server']:.1f} instructions")
    print(f"{len(found) - failed} passed, {failed} failed: more than {MOST} times that")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))

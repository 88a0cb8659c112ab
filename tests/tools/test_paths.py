"""A program does not tell where it was built: neither its messages nor its debug information name the
folder of the sources.

    test_paths.py SOURCE_FOLDER PROGRAM...
"""

import re
import sys
from pathlib import Path


# The folder alone may be called like something that a program names.
INSIDE = rb"/(?:bench|build|cmake|core|server|templates|tests|tools|web)/[ -~]*"


def findings(program, folder):
    for match in re.finditer(re.escape(folder) + INSIDE, Path(program).read_bytes()):
        yield f"{program}: {match.group().decode()}"


def main():
    folder = str(Path(sys.argv[1]).resolve()).encode()
    found = sorted({finding for program in sys.argv[2:] for finding in findings(program, folder)})
    for finding in found[:20]:
        print(finding)
    print(f"{len(found)} paths of this machine in {len(sys.argv) - 2} programs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""figures.py BUILD LINES BRANCHES: what the recorder's rooms have of both, of all that gcov counted in BUILD."""

import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

ROOMS = re.compile(r"(?:^|/)(src/(?:record|api|format|code|base)/.*|include/qprof.*)$")


def counts(build):
    """Lines and branches: of each file, how often each was run."""
    lines = collections.defaultdict(collections.Counter)
    branches = collections.defaultdict(collections.Counter)
    data = []
    for objects in ("qprof_recorder", "qprof_ground"):
        data += glob.glob(os.path.abspath(f"{build}/CMakeFiles/{objects}.dir/**/*.gcda"), recursive=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "-b", "-c", "-j", "-p"] + data, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for name in glob.glob(folder + "/*.gcov.json.gz"):
            for file in json.load(gzip.open(name))["files"]:
                room = ROOMS.search(file["file"])
                for line in file["lines"] if room else []:
                    number = line["line_number"]
                    lines[room[1]][number] += line["count"]
                    for i, branch in enumerate(line["branches"]):
                        if not branch["throw"]:
                            branches[room[1]][number, i] += branch["count"]
    return lines, branches


def main():
    build, least = sys.argv[1], [float(word) for word in sys.argv[2:4]]
    lines, branches = counts(build)
    figures = []
    with open(f"{build}/not-run.txt", "w") as to:
        for what, all_of in ("line", lines), ("branch", branches):
            n = sum(map(len, all_of.values()))
            n_run = sum(1 for file in all_of.values() for count in file.values() if count)
            figures.append(100 * n_run / max(n, 1))
            print(f"{what}: {n_run} of {n}, {figures[-1]:.1f} %")
            for file in sorted(all_of):
                for place in sorted(p for p, count in all_of[file].items() if not count):
                    number = place if what == "line" else place[0]
                    to.write(f"{file}:{number}: {what}\n")
    sys.exit(any(figure < bound for figure, bound in zip(figures, least)))


if __name__ == "__main__":
    main()

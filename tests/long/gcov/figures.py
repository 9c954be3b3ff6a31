"""figures.py BUILD LINES BRANCHES: see tests/long/gcov.sh. What the recorder's rooms have of both, of all that gcov
counted in BUILD, by file; then the lines that were not run and have no reason in unreached.txt. Functions of the common
rooms that the library does not contain are the tool's, and are not counted."""

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
REASONS = "tests/long/gcov/unreached.txt"


class Counts:
    """Of each file, how often each line and each branch of a line was run, and what its functions' lines are."""

    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)
        self.branches = collections.defaultdict(collections.Counter)
        self.functions = collections.defaultdict(dict)

    def add(self, report, is_wanted):
        for file in report["files"]:
            room = ROOMS.search(file["file"])
            if not room:
                continue
            for function in file["functions"]:
                self.functions[room[1]][function["name"]] = function["start_line"], function["end_line"]
            for line in file["lines"]:
                number = line["line_number"]
                if not is_wanted(room[1], line.get("function_name")):
                    continue
                self.lines[room[1]][number] += line["count"]
                branches = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                for i, count in enumerate(branches): # of the other library, a line may have others
                    self.branches[room[1]][number, len(branches), i] += count


def read(counts, data, is_wanted):
    """What gcov says of these objects. A few at a time: it names its files after the sources."""
    for i in range(0, len(data), 20):
        with tempfile.TemporaryDirectory() as folder:
            for n, name in enumerate(data[i : i + 20]):
                os.mkdir(f"{folder}/{n}")
                subprocess.run(["gcov", "-b", "-c", "-j", name], cwd=f"{folder}/{n}", check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name in glob.glob(folder + "/*/*.gcov.json.gz"):
                counts.add(json.load(gzip.open(name)), is_wanted)


def functions_of(build, library):
    """(file's base name, function) of all functions that the library contains; the file of a global one is "", and
    each is also in ".h", as a header's function is in any file."""
    found, file = set(), ""
    words = ["readelf", "-sW", f"{build}/{library}_whole.o"]
    for line in subprocess.run(words, capture_output=True, check=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FILE":
            file = words[7]
        elif len(words) == 8 and words[3] == "FUNC" and words[6] != "UND":
            found |= {(file if words[4] == "LOCAL" else "", words[7]), (".h", words[7])}
    return found


def counts_of(build):
    """The recorder's objects in both libraries, and what hosts compile of it: the test programs are such hosts."""
    counts = Counts()
    for library in ("qprof", "cprof"):
        contained = functions_of(build, library)
        data = []
        for objects in ("recorder", "ground"):
            data += glob.glob(os.path.abspath(f"{build}/CMakeFiles/{library}_{objects}.dir/**/*.gcda"), recursive=True)
        read(counts, data, lambda name, function: {
            ("", function), (os.path.basename(name) if name.endswith(".c") else ".h", function)} & contained)
    hosts = glob.glob(os.path.abspath(f"{build}/tests/CMakeFiles/**/*.gcda"), recursive=True)
    read(counts, hosts, lambda name, function: name.startswith("include/"))
    return counts


def reasons():
    """(file, what it is of) of all lines of the list. What: the text of a line, or "function()"."""
    for number, line in enumerate(open(REASONS), 1):
        if " | " not in line:
            continue
        place, _, reason = line.rstrip("\n").rpartition(" | ")
        name, _, what = place.partition(": ")
        if not reason.strip() or not what:
            sys.exit(f"{REASONS}:{number}: no reason")
        yield number, name, what


def explained(counts):
    """The places that have a reason; a reason of nothing ends the program, as the source has changed."""
    places = collections.defaultdict(set)
    wrong = 0
    for number, name, what in reasons():
        if what.endswith("()"):
            first, last = counts.functions.get(name, {}).get(what[:-2], (0, -1))
            found = set(range(first, last + 1))
        else:
            text = open(name).read().splitlines() if os.path.exists(name) else []
            found = {n for n, line in enumerate(text, 1) if line.strip() == what}
        if not found:
            print(f"{REASONS}:{number}: the source has no such line: {name}: {what}")
            wrong += 1
        elif all(counts.lines[name].get(n, 1) for n in found):
            print(f"{REASONS}:{number}: it was run: {name}: {what}")
        places[name] |= found
    return places, wrong


def share(counter):
    n_run = sum(1 for count in counter.values() if count)
    return n_run, len(counter), 100 * n_run / max(len(counter), 1)


def main():
    build, least = sys.argv[1], [float(word) for word in sys.argv[2:4]]
    counts = counts_of(build)
    places, n_wrong = explained(counts)
    unexplained = []
    print(f"{'file':45} {'lines':>12} {'%':>6} {'branches':>12} {'%':>6} {'no reason':>10}")
    with open(f"{build}/not-run.txt", "w") as to:
        for name in sorted(counts.lines):
            text = open(name).read().splitlines()
            missing = sorted(n for n, count in counts.lines[name].items() if not count)
            bare = [n for n in missing if n not in places[name]]
            unexplained += [f"{name}:{n}: {text[n - 1].strip()}" for n in bare]
            to.writelines(f"{name}:{n}: line: {text[n - 1].strip()}\n" for n in missing)
            to.writelines(f"{name}:{n}: branch {i} of {n_branches}: {text[n - 1].strip()}\n"
                          for n, n_branches, i in sorted(p for p, count in counts.branches[name].items() if not count))
            a, b, percent = share(counts.lines[name])
            c, d, percent_of_branches = share(counts.branches[name])
            if a < b or c < d:
                print(f"{name:45} {a:5} /{b:5} {percent:6.1f} {c:5} /{d:5} {percent_of_branches:6.1f} {len(bare) or '':>10}")
    for line in unexplained:
        print(f"not run: {line}")
    figures = []
    for what, files in ("lines", counts.lines), ("branches", counts.branches):
        n_run, n, percent = share({(name, place): count for name in files for place, count in files[name].items()})
        figures.append(percent)
        print(f"{what}: {n_run} of {n}, {percent:.1f} %")
    print(f"{len(unexplained)} lines without a reason")
    sys.exit(bool(unexplained) or n_wrong > 0 or any(figure < bound for figure, bound in zip(figures, least)))


if __name__ == "__main__":
    main()

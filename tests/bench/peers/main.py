"""main.py: runs the peers in rounds and prints or writes the page; started by ../peers.sh, which see.

A row's program runs right after the same program without a recorder, all rows in turn, round after round.
A figure is the median over the rounds of what the row costs above that, and the lower decile.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import sys
import tempfile
import time

import interpreters
import native
import page
from common import ROOT, Missing, Wrong, command, lower_decile, median

BATCHES = 7
ROUNDS_LEAST = 3
SECONDS_MOST = {"native": 60, "interpreters": 90}  # of a row, once it had its least rounds
OPTIONAL = re.compile("tokens|without loss")  # of ours: not in every version
TRIES_SHORT = 3  # of a row whose records are not complete


def log(text):
    print(text, file=sys.stderr, flush=True)


def make(rows, work, left_out, only):
    """The rows that build, each in its folder; bases are never left out."""
    made = []
    for i, row in enumerate(rows):
        if only and row.group != "base" and not re.search(only, row.name):
            continue
        row.folder = work / str(i)
        row.folder.mkdir(parents=True)
        try:
            row.build()
            made.append(row)
        except Missing as missing:
            left_out.append({"name": row.name, "reason": str(missing), "ours": row.is_ours})
    return made


class Part:
    """The native programs, or those of interpreters: what differs between them."""

    def __init__(self, name, rows, programs, run, above):
        self.name, self.rows, self.programs = name, rows, programs
        self.run = run  # (row) -> {program: figure, ...}
        self.above = above  # (figure of the row, of its base) -> figure
        self.figures = {row.name: {p: [] for p in programs} for row in rows}
        self.seconds = {row.name: 0.0 for row in rows}
        self.left_out = []

    def measure(self, rounds, seconds_most, is_short):
        bases = {row.name: row for row in self.rows if row.group == "base"}
        rows = [row for row in self.rows if row.group != "base" and row.base in bases]
        for k in range(rounds):
            log(f"{self.name}: round {k + 1} of {rounds}")
            for row in list(rows):
                if k >= ROUNDS_LEAST and self.seconds[row.name] > seconds_most:
                    continue
                try:
                    self.round_of(row, bases[row.base], is_first=k == 0, is_short=is_short)
                except Missing as missing:
                    rows.remove(row)
                    self.left_out.append({"name": row.name, "reason": str(missing), "ours": row.is_ours})
        self.kept = rows

    def round_of(self, row, base, is_first, is_short):
        began = time.monotonic()
        for attempt in range(TRIES_SHORT if is_short else 1):
            without = self.run(base)
            result = self.run(row)
            if is_first:
                row.is_wrong = False
                try:
                    row.checked = row.check(result)
                except Wrong as wrong:
                    row.checked, row.is_wrong = f"not all: {wrong}", True
                except Missing as missing:
                    row.checked, row.is_wrong = f"not read: {missing}", True
                if not row.is_wrong:
                    break
        for p in self.programs:
            self.figures[row.name][p].append(self.above(result[p], without[p]))
        self.seconds[row.name] += time.monotonic() - began

    def table(self):
        return [{
            "name": row.name, "group": row.group, "ours": row.is_ours, "note": row.note,
            "checked": row.checked, "is_wrong": row.is_wrong,
            "rounds": {p: [round(x, 3) for x in v] for p, v in self.figures[row.name].items()},
            "figures": {p: [round(median(v), 3), round(lower_decile(v), 3)]
                        for p, v in self.figures[row.name].items()},
        } for row in self.kept]


def first_line(words):
    try:
        return next(iter(command(words, ROOT).splitlines()), "")
    except Missing:
        return ""


def facts(arguments):
    """What the figures depend on."""
    cpu = platform.machine()
    with open("/proc/cpuinfo") as lines:
        found = dict(re.findall(r"^(model name|cpu family|model|flags)\s*:\s*(.*)$", lines.read(), re.M))
    if "model name" in found:
        cpu = found["model name"]
        if "cpu family" in found:
            cpu += f" (family {found['cpu family']}, model {found['model']})"
        if " hypervisor" in found.get("flags", ""):
            cpu += ", a virtual machine"
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M))
    packages = ["gcc", "clang", "uftrace", "liblttng-ust1", "binutils", "python3", "python3-yappi",
                "python3-coverage", "perl", "libdevel-nytprof-perl", "php[0-9]*-cli", "php[0-9]*-xdebug",
                "php[0-9]*-pcov", "ruby", "ruby-prof", "ruby-stackprof"]
    versions = {}
    for package in packages:
        found = first_line(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", package]).split()
        if len(found) == 2:
            versions[found[0]] = found[1]
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": cpu, "cores": os.cpu_count(), "os": release.get("PRETTY_NAME", "Linux"),
        "kernel": platform.release(),
        "commit": first_line(["git", "rev-parse", "--short", "HEAD"]),
        "command": " ".join(["tests/bench/peers.sh", *arguments]),
        "variables": sorted(v for v, _ in [*native.FOREIGN.values(), ("LUACOV", "")] if os.environ.get(v)),
        "versions": versions,
    }


def run_all(options, work):
    left_out = [{"name": "Perfetto SDK", "ours": False,
                 "reason": "not a package of Debian, and its source is made by a build of its own"}]
    document = facts(options.words)
    document["load"] = [os.getloadavg()[0]]
    document["clock"] = native.clock_kind(work)
    parts = []
    try:
        prepare(options, work, parts, left_out)
        for part in parts:
            rounds = options.rounds
            if part.name == "interpreters" and not options.part:
                rounds = (rounds + 1) // 2
            part.measure(rounds, SECONDS_MOST[part.name], options.short)
            document[part.name] = part.table()
            left_out += part.left_out
    finally:
        native.Lttng.stop()
    document["load"].append(os.getloadavg()[0])
    document["left_out"] = left_out
    return document


def prepare(options, work, parts, left_out):
    """Build all rows."""
    if options.part != "interpreters":
        rows = make(native.all_rows(options.build), work / "native", left_out, options.only)
        parts.append(Part("native", rows, native.PROGRAMS, lambda row: row.run(options.batches),
                          lambda x, base: x - base))
    if options.part != "native":
        rows = interpreters.all_rows(options.build)
        for row in rows:
            if options.short and row.group != "samples":  # of which a short run has none
                row.sizes = interpreters.SIZES_SHORT
        rows = make(rows, work / "interpreters", left_out, options.only)
        parts.append(Part("interpreters", rows, interpreters.PROGRAMS,
                          lambda row: {p: row.run(p) for p in reversed(interpreters.PROGRAMS)},
                          lambda x, base: x / base))


def parse_arguments():
    parser = argparse.ArgumentParser(prog="peers.sh", description=__doc__)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=15, help="of native programs; half of interpreters")
    parser.add_argument("--part", choices=("native", "interpreters"), help="only this part")
    parser.add_argument("--only", help="only rows whose names match this regular expression")
    parser.add_argument("--short", action="store_true",
                        help="one short round; fails unless every row recorded all calls")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md and its plots")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--from", dest="source", type=pathlib.Path,
                        help="measure nothing, take the figures of this file of --json")
    options = parser.parse_args()
    options.words = [w for w in sys.argv[1:] if not w.startswith("--json")]
    options.build = options.build.resolve()
    options.batches = BATCHES
    if options.short:
        options.rounds = options.batches = 1
    return options


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that nothing is left running, and no file
        signal.signal(number, lambda *_: sys.exit(1))
    options = parse_arguments()
    if options.source:
        document = json.loads(options.source.read_text())
    else:
        work = pathlib.Path(tempfile.mkdtemp(prefix="qprof-peers-"))
        try:
            document = run_all(options, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    page.print_tables(document)
    if options.write:
        page.write(document)
    if not options.short:
        return 0
    rows = document.get("native", []) + document.get("interpreters", [])
    wrong = [row for row in rows if row["is_wrong"]]
    lost = [row for row in document["left_out"] if row["ours"] and not OPTIONAL.search(row["name"])]
    for row in wrong:
        print(f"peers.sh: {row['name']}: {row['checked']}")
    for row in lost:
        print(f"peers.sh: {row['name']}: {row['reason']}")
    peers = [row for row in rows if not row["ours"] and row["checked"]]
    print(f"{len(rows) - len(wrong)} passed, {len(wrong) + len(lost)} failed")
    return 1 if wrong or lost or not peers else 0


if __name__ == "__main__":
    sys.exit(main())

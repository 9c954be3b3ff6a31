#!/usr/bin/env python3
"""overhead.py BUILD [--rounds=N] [--programs=A,B] [--modes=A;B] [--seconds=N]: is the overhead that a report states true?

Runs each program of overhead.lua in turn without recording and in each mode, round after round. `measured` is
the median of the processor time of the program's thread, less that without recording; `stated` is the median of
what the report states. True is what differs by at most 25 % of the measured time or 2 % of the run, whichever is
larger. The other threads of the recorder are in the last column, and in what is measured with adaptive and sampled
times, where it is they that look at the program. That of a trace disturbs the program only where no processor is idle. The row `collector` compares the time of the collector with what a run without it takes less. Ends with 1 if
a figure is not true. Not part of the tests: it takes ten minutes, and times depend on what else
the machine does.
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ["fib", "methods", "strings", "coroutines", "tables", "luacheck"]
FUNCTIONS = " -collection-granularity=function"
MODES = {
    "exact": "-time=exact" + FUNCTIONS,
    "exact, lines": "-time=exact",
    "adaptive": "-time=adaptive" + FUNCTIONS,
    "adaptive, lines": "-time=adaptive",
    "counts": "-time=none" + FUNCTIONS,
    "counts, lines": "-time=none",
    "sampled": "-time=sampled" + FUNCTIONS,
    "sampled, lines": "-time=sampled",
    "traced": "-time=exact -trace-output={folder}/run.qtrace" + FUNCTIONS,
    "traced, lines": "-time=exact -trace-output={folder}/run.qtrace",
    "CPU clock": "-clock=user+kernel" + FUNCTIONS,
    "CPU clock, lines": "-clock=user+kernel",
    "allocations": "-allocations=yes",
    # a part of the run, or of the functions, is recorded
    "stopped": "-time=exact" + FUNCTIONS,
    "stopped, counts": "-time=none" + FUNCTIONS,
    "area": "-time=exact -config={folder}/area.conf" + FUNCTIONS,
    "area, adaptive": "-time=adaptive -config={folder}/area.conf" + FUNCTIONS,
    "area, counts": "-time=none -config={folder}/area.conf" + FUNCTIONS,
    "off": "-time=exact -config={folder}/off.conf" + FUNCTIONS,
    # its row, and what the program takes less when the collector is stopped
    "collector": "-time=exact" + FUNCTIONS,
}
# what is called in turn with what is measured: about half of the calls of each program
FILES = {
    "area.conf": "area some exclude : width height square line fib glob:*wrap* glob:string.* glob:lex* glob:skip*",
    "off.conf": "trigger some off : visit quote line filter check glob:lex*",
}


# How the program runs: PART of overhead.lua. A clock that each call asks the system for makes it slow.
def part_of(mode):
    return "stopped" if mode.startswith("stopped") else "collect" if mode == "collector" else ""


def share_of(mode):
    return "0.05" if mode.startswith("CPU") else "0.4" if mode.startswith("stopped") else "1"


def run(build, program, share, part, options, folder):
    """@return ns of the program's thread, of all threads, and of the report its run and its methods"""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("QPROF", "LUA"))}
    env["MALLOC_TRIM_THRESHOLD_"] = str(4 << 30)  # for "collect" and "stop"
    profile = os.path.join(folder, "run.qprof")
    for name, line in FILES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(line + "\n")
    if options is not None:
        env["QPROF"] = f"-output={profile} " + options.format(folder=folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([f"{build}/bin/qlua", f"{HERE}/overhead.lua", program, share, part], env=env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = int(re.search(r"used (\d+)", done.stderr).group(1))
    everything = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9
    about = {"overhead": 0, "calls": 0, "collector": 0}
    if options is not None:
        report = subprocess.run([f"{build}/bin/qprof", "report", "--format=json", profile],
                                stdout=subprocess.PIPE, text=True, check=True)
        report = json.loads(report.stdout)
        about = report["run"]
        about["overhead"] += about["overhead_skipped"]
        about["collector"] = sum(m.get("total_run", 0) for m in report["methods"] if m["name"] == "<Garbage collector>")
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
    return used, everything, about


def rounds_of(build, program, modes, n, until):
    """@return by mode: pairs of a run without recording, and one with it, of the same round"""
    pairs = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(n):
            plain = {}
            for mode in modes:
                if time.monotonic() > until:
                    return pairs
                how = share_of(mode), part_of(mode)
                if how not in plain:
                    plain[how] = run(build, program, *how, None, folder)
                if mode == "collector":  # it, in place of recording, is what is compared
                    stopped = run(build, program, how[0], "stop", None, folder)
                    recorded = run(build, program, *how, MODES[mode], folder)
                    pairs[mode].append((stopped, (plain[how][0], plain[how][1], recorded[2])))
                else:
                    pairs[mode].append((plain[how], run(build, program, *how, MODES[mode], folder)))
    return pairs


def is_shown_true(mode, program, pairs):
    """Print the row of a mode. @return whether what is stated is true"""
    stated_by = "collector" if mode == "collector" else "overhead"
    plain = statistics.median(p[0] for p, r in pairs)
    recorded = statistics.median(r[0] for p, r in pairs)
    # each run beside the plain one of its round: what disturbs lasts longer than a round
    cost = statistics.median(r[0] - p[0] for p, r in pairs)
    stated = statistics.median(r[2][stated_by] for p, r in pairs)
    calls = pairs[0][1][2]["calls"]
    others = statistics.median((r[1] - r[0]) - (p[1] - p[0]) for p, r in pairs)
    if mode.startswith(("adaptive", "sampled")):  # those that look at the program are in what is stated
        cost += max(0, others)
    is_true = abs(stated - cost) <= max(0.25 * abs(cost), 0.02 * recorded)
    print(f"{mode:18} {program:11} {plain / 1e6:7.0f} {recorded / 1e6:8.0f} {calls:10,}"
          f" {cost / 1e6:7.0f} {100 * cost / recorded:5.1f} % {cost / max(calls, 1):7.1f}"
          f" {stated / 1e6:7.0f} {100 * stated / recorded:5.1f} %"
          f" {stated / cost if cost else 0:7.2f} {'true' if is_true else 'WRONG':5}"
          f" {others / 1e6:7.0f}", flush=True)
    return is_true


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--modes", default=";".join(MODES), help="separated by ;")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="no run begins later; programs have equal parts of it")
    asked = parser.parse_args()
    programs = asked.programs.split(",")
    modes = [m.strip() for m in asked.modes.split(";")]
    n_wrong = n_rows = 0
    begun = time.monotonic()
    print(f"{'mode':18} {'program':11} {'plain':>7} {'recorded':>8} {'calls':>10} {'measured':>15} {'ns/call':>7}"
          f" {'stated':>15} {'stated/measured':>7}  others")
    for i, program in enumerate(programs):
        until = begun + asked.seconds * (i + 1) / len(programs)
        for mode, pairs in rounds_of(asked.build, program, modes, asked.rounds, until).items():
            n_rows += bool(pairs)
            n_wrong += bool(pairs) and not is_shown_true(mode, program, pairs)
    print(f"{n_rows - n_wrong} of {n_rows} are true")
    return n_wrong > 0


sys.exit(main())

#!/usr/bin/env python3
"""overhead.py BUILD [--rounds=N] [--programs=A,B] [--modes=A,B]: is the overhead that a report states true?

Runs each program of overhead.lua in turn without recording and in each mode, round after round. `measured` is
the median of the processor time of the program's thread, less that without recording; `stated` is the median of
what the report states. True is what differs by at most 25 % of the measured time or 2 % of the run, whichever is
larger. The other threads of the recorder are in the last column: they disturb the program only where no processor
is idle. Ends with 1 if a figure is not true. Not part of the tests: it takes ten minutes, and times depend on what else
the machine does.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

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
}


def run(build, program, share, options, folder):
    """@return ns of the program's thread, of all threads, and what the report states"""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("QPROF", "LUA"))}
    profile = os.path.join(folder, "run.qprof")
    if options is not None:
        env["QPROF"] = f"-output={profile} " + options.format(folder=folder)
    before = os.times()
    done = subprocess.run([f"{build}/bin/qlua", f"{HERE}/overhead.lua", program, share], env=env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = os.times()
    used = int(re.search(r"used (\d+)", done.stderr).group(1))
    everything = (after.children_user + after.children_system
                  - before.children_user - before.children_system) * 1e9
    stated = calls = 0
    if options is not None:
        report = subprocess.run([f"{build}/bin/qprof", "report", "--format=json", profile],
                                stdout=subprocess.PIPE, text=True, check=True)
        about = json.loads(report.stdout)["run"]
        stated, calls = about["overhead"], about["calls"]
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
    return used, everything, stated, calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--modes", default=";".join(MODES), help="separated by ;")
    asked = parser.parse_args()
    programs = asked.programs.split(",")
    modes = [m.strip() for m in asked.modes.split(";")]
    n_wrong = 0
    print(f"{'mode':18} {'program':11} {'plain':>7} {'recorded':>8} {'calls':>10} {'measured':>15} {'ns/call':>7}"
          f" {'stated':>15} {'stated/measured':>7}  others")
    for program in programs:
        rounds = {mode: [] for mode in modes}
        plains = {mode: [] for mode in modes}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(asked.rounds):
                plain = {}
                for mode in modes:
                    share = "0.05" if mode.startswith("CPU") else "1"
                    if share not in plain:
                        plain[share] = run(asked.build, program, share, None, folder)
                    plains[mode].append(plain[share])
                    rounds[mode].append(run(asked.build, program, share, MODES[mode], folder))
        for mode in modes:
            plain = statistics.median(r[0] for r in plains[mode])
            recorded = statistics.median(r[0] for r in rounds[mode])
            # each run beside the plain one of its round: what disturbs lasts longer than a round
            cost = statistics.median(r[0] - p[0] for r, p in zip(rounds[mode], plains[mode]))
            stated = statistics.median(r[2] for r in rounds[mode])
            calls = rounds[mode][0][3]
            others = statistics.median((r[1] - r[0]) - (p[1] - p[0])
                                       for r, p in zip(rounds[mode], plains[mode]))
            is_true = abs(stated - cost) <= max(0.25 * abs(cost), 0.02 * recorded)
            n_wrong += not is_true
            print(f"{mode:18} {program:11} {plain / 1e6:7.0f} {recorded / 1e6:8.0f} {calls:10,}"
                  f" {cost / 1e6:7.0f} {100 * cost / recorded:5.1f} % {cost / max(calls, 1):7.1f}"
                  f" {stated / 1e6:7.0f} {100 * stated / recorded:5.1f} %"
                  f" {stated / cost if cost else 0:7.2f} {'true' if is_true else 'WRONG':5}"
                  f" {others / 1e6:7.0f}", flush=True)
    print("all are true" if not n_wrong else f"{n_wrong} are wrong")
    return n_wrong > 0


sys.exit(main())

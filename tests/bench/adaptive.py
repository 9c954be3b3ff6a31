#!/usr/bin/env python3
"""adaptive.py BUILD [--rounds=N] [--programs=A,B] [--long]: are adaptive times as good as exact ones?

Runs each program in turn with counts, adaptive and exact times, round after round, and compares run time, as a part of
that of the run. Each program has four verdicts:
first    the first five functions of an adaptive report are among the first five of an exact one, in each round
large    each function with more than 5 % of the run is within 10 % of exact, or its interval holds the exact part
rows     at least 95 % of the intervals hold it, of functions with more than 1 %
price    processor time above that with counts, in percent of what exact times are above it, is at most 50
Exact parts vary from run to run: an interval holds what lies between the least and the most of all rounds. Large
functions are judged by the median of the exact rounds. Ends with 1 if a verdict is not met.

Programs: luacheck, ldoc, and users of dkjson, inspect, basexx and Penlight, from the packages lua-check, lua-ldoc,
lua-dkjson, lua-inspect, lua-basexx and lua-penlight; the compilers of Fennel and Teal, which compile a part of themselves,
if the variables FENNEL and TEAL name the folders of their sources. What is missing is left out by name.
Not part of the tests: it takes five minutes, and times depend on what else the machine does.
"""
import argparse
import collections
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LUA = "/usr/share/lua"
FOLDERS = [f"{LUA}/{version}/{name}" for version in ("5.4", "5.1", "5.2") for name in ("?.lua", "?/init.lua")]
MODES = ("none", "adaptive", "exact")
LARGE, ROW = 0.05, 0.01
Run = collections.namedtuple("Run", "cpu order part half")


def programs_of(work):
    """@return by name: the folder to begin in, the words of the program, the file that it needs"""
    fennel, teal = os.environ.get("FENNEL", ""), os.environ.get("TEAL", "")
    found = {
        "fennel": (fennel, ["bootstrap/aot.lua", "src/launcher.fnl", "--require-as-include"],
                   fennel and f"{fennel}/bootstrap/fennel.lua"),
        "teal": (teal, ["tl", "check", "teal/init.tl"], teal and f"{teal}/tl.lua"),
        "luacheck": (work, ["/usr/bin/luacheck", "--no-color", "--no-cache", "-qqq", f"{LUA}/5.1/pl"],
                     "/usr/bin/luacheck"),
        "ldoc": (work, ["/usr/bin/ldoc", "-d", f"{work}/doc", f"{LUA}/5.1/pl"], "/usr/bin/ldoc"),
    }
    for name, file in (("dkjson", "5.4/dkjson.lua"), ("inspect", "5.1/inspect.lua"), ("basexx", "5.1/basexx.lua"),
                       ("penlight", "5.4/pl/pretty.lua")):
        found[name] = (work, [f"{HERE}/adaptive.lua", name], f"{LUA}/{file}")
    return found


def run(build, program, mode, profile):
    folder, words, _ = program
    env = {k: v for k, v in os.environ.items() if not k.startswith(("QPROF", "LUA"))}
    env["LUA_PATH"] = ";".join(["./?.lua", "./?/init.lua"] + FOLDERS + [""])
    env["FENNEL_PATH"] = "src/?.fnl"
    env["QPROF"] = f"-time={mode} -output={profile}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([f"{build}/bin/qlua", *words], cwd=folder, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not os.path.exists(profile):
        raise SystemExit(f"{words}: {done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    shown = subprocess.run([f"{build}/bin/qprof", "report", "--format=json", profile], stdout=subprocess.PIPE,
                           text=True, check=True)
    os.unlink(profile)
    return figures_of(cpu, json.loads(shown.stdout)["methods"])


def figures_of(cpu, methods):
    """Functions in the report's order; what several of one name have is that of the first. @return Run"""
    total = sum(m.get("self_run", 0) for m in methods) or 1
    part, half = {}, {}
    for m in methods:
        name = m["name"], m["file"], m["line"], m["class"]
        part[name] = part.get(name, 0) + m.get("self_run", 0) / total
        half[name] = (half.get(name, 0) ** 2 + (m.get("self_half", 0) / total) ** 2) ** 0.5
    return Run(cpu, list(part), part, half)


def first_of(runs):
    """@return rounds whose first five adaptive functions are first ones of exact times; what others have there"""
    first = {n for r in runs["exact"] for n in r.order[:5]}
    wrong = [[n for n in r.order[:5] if n not in first] for r in runs["adaptive"]]
    notes = [f"{n[0]}, found first with {100 * r.part[n]:.1f} ±{100 * r.half[n]:.1f} %"
             for r, names in zip(runs["adaptive"], wrong) for n in names]
    return sum(not names for names in wrong), notes


def rows_of(runs):
    """@return of large rows, and of all: how many, and how many are right; what is wrong with large ones"""
    large, rows, notes = [0, 0], [0, 0], []
    for n in {n for r in runs["exact"] for n in r.part}:
        parts = [r.part.get(n, 0) for r in runs["exact"]]
        truth = statistics.median(parts)
        for r in runs["adaptive"] if truth > ROW else ():
            found, half = r.part.get(n, 0), r.half.get(n, 0)
            rows[0] += 1
            rows[1] += found + half >= min(parts) and found - half <= max(parts)
            is_right = abs(found - truth) <= max(0.1 * truth, half)
            large[0] += truth > LARGE
            large[1] += truth > LARGE and is_right
            if truth > LARGE and not is_right:
                notes.append(f"{n[0]}, {100 * found:.1f} ±{100 * half:.1f} % for {100 * truth:.1f} %")
    return large, rows, notes


def price_of(runs):
    """@return ms of CPU time with counts, and what adaptive and exact times are above it"""
    above = [statistics.median(r.cpu - c.cpu for c, r in zip(runs["none"], runs[mode])) for mode in MODES[1:]]
    return 1e3 * statistics.median(r.cpu for r in runs["none"]), 1e3 * above[0], 1e3 * above[1]


def is_shown(name, runs, is_long):
    """Print the row of a program. @return whether all is met"""
    n_rounds = len(runs["exact"])
    n_first, first_notes = first_of(runs)
    large, rows, notes = rows_of(runs)
    counts, adaptive, exact = price_of(runs)
    verdicts = {"first": n_first == n_rounds, "large": large[1] == large[0], "rows": rows[1] >= 0.95 * rows[0],
                "price": adaptive <= 0.5 * exact}
    missed = [verdict for verdict, is_met in verdicts.items() if not is_met]
    price = f"{100 * adaptive / exact:6.0f} %" if exact > 0 else f"{'?':>8}"
    print(f"{name:10} {counts:7.0f} {adaptive:8.0f} {exact:8.0f} {price} {n_first:3}/{n_rounds:<3}"
          f" {large[1]:4}/{large[0]:<4} {rows[1]:4}/{rows[0]:<4}"
          f" {'missed: ' + ', '.join(missed) if missed else 'all met'}", flush=True)
    for note in notes + first_notes if is_long else ():
        print(f"           {note}")
    return not missed


def run_rounds(build, program, n, profile):
    """@return by mode: a Run of each round"""
    runs = {mode: [] for mode in MODES}
    for _ in range(n):
        for mode in MODES:
            runs[mode].append(run(build, program, mode, profile))
    return runs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs")
    parser.add_argument("--long", action="store_true", help="what is wrong, function by function")
    asked = parser.parse_args()
    build = os.path.abspath(asked.build)
    n_met = n_programs = 0
    print(f"{'program':10} {'counts':>7} {'adaptive':>8} {'exact':>8} {'price':>8} {'first':>7} {'large':>9} {'rows':>9}")
    with tempfile.TemporaryDirectory() as work:
        programs = programs_of(work)
        for name in asked.programs.split(",") if asked.programs else programs:
            if not os.path.exists(programs[name][2] or "/missing"):
                print(f"{name:10} left out: its files are missing")
                continue
            n_programs += 1
            n_met += is_shown(name, run_rounds(build, programs[name], asked.rounds, f"{work}/run.qprof"), asked.long)
    print(f"{n_met} of {n_programs} programs meet all four; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return n_met < n_programs


sys.exit(main())

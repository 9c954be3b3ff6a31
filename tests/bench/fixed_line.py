#!/usr/bin/env python3
"""fixed_line.py BUILD FENNEL [--rounds=N]: does `qprof diff` list what one line changes, and nothing else?

FENNEL is a folder of the sources of the Fennel compiler, of 1.6 for example. In line 469 of bootstrap/fennel.lua, in a copy, getb() no longer
makes a table for each byte that it reads. Both compile Fennel in turn, round after round, with exact times. What may
change is getb, what calls it, directly or not, and the collector. Ends with 1 if another function is listed, or if
mixedConcat moves by 1 ms or more. Not part of the tests: times depend on what else the machine does.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

LINE, BEFORE, AFTER = 469, "getbyte({ stackSize = #stack })", "getbyte()"


def run_json(build, *words):
    done = subprocess.run([f"{build}/bin/qprof", *words, "--format=json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def record(build, folder, profile):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("QPROF", "LUA"))}
    env["FENNEL_PATH"] = "src/?.fnl"
    env["QPROF"] = f"-time=exact -output={profile}"
    subprocess.run([f"{build}/bin/qlua", "bootstrap/aot.lua", "src/launcher.fnl", "--require-as-include"], cwd=folder,
                   env=env, stdout=subprocess.DEVNULL, check=True)


def fix(fennel, to):
    """A copy with the line fixed."""
    shutil.copytree(fennel, to)
    path = f"{to}/bootstrap/fennel.lua"
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    assert BEFORE in lines[LINE - 1], f"line {LINE} is another one: {lines[LINE - 1]}"
    lines[LINE - 1] = lines[LINE - 1].replace(BEFORE, AFTER)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def callers_of(build, name, profile):
    """@return names of the functions on the call paths above one"""
    tree = run_json(build, "tree", profile)
    names = {m["id"]: m["name"] for m in tree["methods"]}
    nodes = {n["id"]: n for n in tree["nodes"]}
    found = set()
    for node in tree["nodes"]:
        if names.get(node["method"]) != name:
            continue
        while node["parent"] in nodes:
            node = nodes[node["parent"]]
            found.add(names.get(node["method"]))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("fennel")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    build, fennel = os.path.abspath(asked.build), os.path.abspath(asked.fennel)
    with tempfile.TemporaryDirectory() as work:
        fix(fennel, f"{work}/fixed")
        sides = {"base": fennel, "new": f"{work}/fixed"}
        profiles = {side: [f"{work}/{side}{i}.qprof" for i in range(asked.rounds)] for side in sides}
        for i in range(asked.rounds):
            for side, folder in sides.items():
                record(build, folder, profiles[side][i])
        allowed = callers_of(build, "getb", profiles["base"][0]) | {"getb", "<Garbage collector>"}
        diff = run_json(build, "diff", "--base", *profiles["base"], "--new", *profiles["new"])
    figure = "self_run" if diff["judged_by_run"] else "self"
    others = [row for row in diff["rows"] if row["name"] not in allowed]
    moved = sum(row[figure]["change"] for row in others if row["name"] == "mixedConcat")
    for row in others:
        print(f"{row['name']:40} {row[figure]['change'] / 1e6:+9.3f} ms, noise {row[figure]['noise'] / 1e6:.3f} ms,"
              f" of {row[figure]['base'] / 1e6:.3f} ms")
    print(f"{len(diff['rows'])} functions changed; {len(others)} of them neither call getb nor are the collector: they move by"
          f" {sum(abs(r[figure]['change']) for r in others) / 1e6:.3f} ms in all, mixedConcat by {moved / 1e6:+.3f} ms")
    return bool(others) or abs(moved) >= 1e6


sys.exit(main())

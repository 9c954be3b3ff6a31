"""python_calls.py lsprof|qprof OUTPUT SCRIPT|-m MODULE [ARGUMENT...]: calls of a program by two counters.

With lsprof, OUTPUT is a JSON object: calls by "file:line name", of C functions by "name", as the profiler of
the standard library has counted them. With qprof, OUTPUT is a profile.
With NO_GC in the environment the collector runs only where the program asks for it, and random numbers are always the same.
python_calls.py compare LSPROF.json REPORT.json: the same from `qprof report --format=json`; they must agree.
"""
import _lsprof
import gc
import json
import os
import random
import re
import sys

from python_load import load
import qprof
from qprof import _recorder


def record_lsprof(output, code, names):
    profiler = _lsprof.Profiler()
    try:
        profiler.enable()
        _recorder.execute(code, names)
    except SystemExit:
        pass
    finally:
        profiler.disable()
    calls = {}
    for entry in profiler.getstats():
        if isinstance(entry.code, str) and re.search("_lsprof|_recorder", entry.code):
            continue
        if isinstance(entry.code, str):  # "<built-in method builtins.len>", "<method 'append' of 'list' objects>"
            key = re.search(r"function (.+) at 0x|(?:method|function) '?([\w.]+)|([\w.]+)>$", entry.code).groups()
            key = (key[0] or key[1] or key[2]).rpartition(".")[2]
        else:
            key = f"{entry.code.co_filename}:{entry.code.co_firstlineno} {entry.code.co_name}"
        calls[key] = calls.get(key, 0) + entry.callcount
    with open(output, "w") as file:
        json.dump(calls, file, sort_keys=True)


def record_qprof(output, code, names):
    try:
        qprof._start("-output=" + output, False, False)
        _recorder.execute(code, names)
    except SystemExit:
        pass
    finally:
        qprof.stop()


def calls_of_report(path):
    with open(path) as file:
        report = json.load(file)
    assert report["diagnostics"] == {}, report["diagnostics"]
    calls = {}
    for m in report["methods"]:
        name = m["name"].rpartition(".")[2]
        if m["file"] or m["name"].startswith("<module "):
            name = "<module>" if m["name"].startswith("<module ") else name
            name = f'{m["file"]}:{m["line"]} {name}'
        calls[name] = calls.get(name, 0) + m["calls"] + m["resumes"]
    return calls


def compare(wanted_path, report_path):
    with open(wanted_path) as file:
        wanted = json.load(file)
    found = calls_of_report(report_path)
    wrong = [key for key in sorted(wanted.keys() | found.keys()) if wanted.get(key) != found.get(key)]
    for key in wrong[:20]:
        print(f"{key}: lsprof {wanted.get(key)}, qprof {found.get(key)}")
    print(f"{len(wanted)} functions, {sum(wanted.values())} calls, {len(wrong)} differ")
    sys.exit(1 if wrong else 0)


if sys.argv[1] == "compare":
    compare(sys.argv[2], sys.argv[3])
else:
    if os.environ.get("NO_GC"):  # else finalizers run where the counter's own objects make the collector run
        gc.disable()
        random.seed(7)
    record = record_lsprof if sys.argv[1] == "lsprof" else record_qprof
    out = sys.argv[2]
    record(out, *load(sys.argv[3:]))

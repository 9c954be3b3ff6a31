"""php_bench.py EXTENSION ROUNDS: processor time of programs with qprof and other tools, as multiples of that without.

Rounds take the tools in turn; each time is divided by that without a tool in the same round. Medians.
"""
import glob
import os
import statistics
import subprocess
import sys

extension, rounds = sys.argv[1], int(sys.argv[2])
bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "php_bench.php")
xdebug = ["-d", "zend_extension=xdebug.so", "-d", "xdebug.start_with_request=yes", "-d", "xdebug.output_dir=.",
          "-d", "xdebug.max_nesting_level=-1"]


def qprof(options, *more):
    return ["-d", f"extension={extension}", "-d", f"qprof.options={options}", *more], ""


TOOLS = {
    "without": ([], ""),
    "Xdebug 3.2, profile": (xdebug + ["-d", "xdebug.mode=profile"], ""),
    "Xdebug 3.2, trace": (xdebug + ["-d", "xdebug.mode=trace"], ""),
    "qprof, exact times": qprof("-output=b.qprof"),
    "qprof `-time=adaptive`": qprof("-output=b.qprof -time=adaptive"),
    "qprof `-time=none`": qprof("-output=b.qprof -time=none"),
    "qprof, loaded and not recording": qprof(""),
    "Xdebug 3.2, coverage": (xdebug + ["-d", "xdebug.mode=coverage"], "xdebug"),
    "pcov 1.0": (["-d", "extension=pcov.so", "-d", "pcov.enabled=1", "-d", "pcov.directory=/"], "pcov"),
    "qprof, coverage of lines and branches": qprof("-output=b.qprof -collect=coverage -cover-root=/"),
    "qprof, exact times and lines": qprof("-output=b.qprof", "-d", "qprof.lines=1"),
}
PROGRAMS = ("fib", "mixed", "parser")


def run(program, tool):
    options, argument = TOOLS[tool]
    done = subprocess.run(["php", "-n", "-d", "extension=tokenizer.so", "-d", "extension=ctype.so", *options, bench, program, argument],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    for name in glob.glob("*.qprof*") + glob.glob("cachegrind.out.*") + glob.glob("trace.*"):
        os.remove(name)
    return int(done.stderr.split()[-1])


found = {tool: [] for tool in TOOLS}
for program in PROGRAMS:
    ratios = {tool: [] for tool in TOOLS}
    for _ in range(rounds):
        plain = run(program, "without")
        for tool in TOOLS:
            if tool != "without":
                ratios[tool].append(run(program, tool) / plain)
    for tool in TOOLS:
        found[tool].append(statistics.median(ratios[tool]) if ratios[tool] else 1)
print("| | " + " | ".join(PROGRAMS) + " |\n|---|" + "---|" * len(PROGRAMS))
for tool, values in found.items():
    print(f"| {tool} | " + " | ".join(f"{value:.2f}" for value in values) + " |")

"""python_bench.py [--rounds=N] [--python=FILE] [TOOL...]: how much slower programs run under each tool.

Each round runs every tool on every program once, each in a process of its own, and divides its time by that of the
same round without a tool. Times are those of the processor. Shown are the medians. What a tool does before and after the program does not count.
"""
import os
import statistics
import subprocess
import sys
import time

N_FIB = 22
N_MIXED = 4000


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Shape:
    def __init__(self, size):
        self.size = size
        self.points = []

    def add(self, x):
        self.points.append(x)
        return len(self.points)

    def area(self):
        total = 0
        for x in self.points:
            if x % 3 == 0:
                total += x
            else:
                total -= 1
        return total * self.scale()

    def scale(self):
        return max(self.size, 1)


def words(n):
    for i in range(n):
        yield "word%d" % i


def mixed(n):
    total = 0
    for i in range(n):
        shape = Shape(i % 7)
        for k in range(5):
            shape.add(k)
        total += shape.area()
        text = " ".join(words(3))
        total += len(text.split())
    return total


def real():
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer
    with open(__file__) as file:
        text = file.read()
    return len(highlight(text, PythonLexer(), HtmlFormatter()))


PROGRAMS = {"fib": lambda: fib(N_FIB), "mixed": lambda: mixed(N_MIXED), "pygments": real}


def under_nothing(work):
    return work()


def under_cprofile(work):
    import cProfile
    return cProfile.Profile().runcall(work)


def under_yappi(work):
    import yappi
    yappi.set_clock_type("wall")
    yappi.start(builtins=True)
    result = work()
    yappi.stop()
    return result


def under_coverage(work, **options):
    import coverage
    cover = coverage.Coverage(data_file=None, config_file=False, include=["*"], **options)
    cover.start()
    result = work()
    cover.stop()
    return result


def under_coverage_monitoring(work):
    if sys.version_info < (3, 12):
        sys.exit(1)
    os.environ["COVERAGE_CORE"] = "sysmon"
    return under_coverage(work)


def under_qprof(work, lines=False, **options):
    import qprof
    qprof.start(output="bench.qprof", open_frames=False, lines=lines, **options)
    result = work()
    qprof.stop()
    os.unlink("bench.qprof")
    return result


TOOLS = {
    "nothing": under_nothing,
    "cProfile": under_cprofile,
    "yappi": under_yappi,
    "qprof": under_qprof,
    "qprof adaptive": lambda work: under_qprof(work, time="adaptive"),
    "qprof counts": lambda work: under_qprof(work, time="none"),
    "coverage.py": under_coverage,
    "coverage.py branches": lambda work: under_coverage(work, branch=True),
    "coverage.py sys.monitoring": under_coverage_monitoring,
    "qprof coverage": lambda work: under_qprof(work, collect="coverage", cover_include="**"),
}


def measure(program, tool):
    """Processor seconds of a program, in this process."""
    work = PROGRAMS[program]
    work()  # its imports and caches
    times = []

    def timed():
        for _ in range(3):
            begun = time.process_time()
            work()
            times.append(time.process_time() - begun)

    TOOLS[tool](timed)
    return min(times)


def main(words):
    rounds, python, chosen = 5, sys.executable, []
    for word in words:
        name, _, value = word.partition("=")
        if name == "--rounds":
            rounds = int(value)
        elif name == "--python":
            python = value
        else:
            chosen.append(word)
    tools = ["nothing"] + (chosen or [tool for tool in TOOLS if tool != "nothing"])
    ratios = {}
    for _ in range(rounds):
        for program in PROGRAMS:
            seconds = {}
            for tool in tools:
                done = subprocess.run([python, __file__, "measure", program, tool], capture_output=True, text=True)
                if done.returncode == 0:
                    seconds[tool] = float(done.stdout)
            for tool, time_of_tool in seconds.items():
                ratios.setdefault((tool, program), []).append(time_of_tool / seconds["nothing"])
    print("| | " + " | ".join(PROGRAMS) + " |")
    print("|---" * (len(PROGRAMS) + 1) + "|")
    for tool in tools[1:]:
        cells = [ratios.get((tool, program)) for program in PROGRAMS]
        print(f"| {tool} | " + " | ".join(f"{statistics.median(c):.2f}" if c else "–" for c in cells) + " |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        print(measure(*sys.argv[2:]))
    else:
        main(sys.argv[1:])

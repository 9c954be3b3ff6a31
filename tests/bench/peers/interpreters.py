"""interpreters.py: profilers and coverage tools of interpreters, as slow-down over the same interpreter.

Each language has fib and a mixed program of the same shape. They print the processor time of their work;
what a tool does at the end of the process is not in it.
"""

import json
import os
import pathlib
import pstats
import re

from common import HERE, Missing, Row, Wrong, command, environment, expect

PROGRAMS = ("fib", "mixed")
GROUPS = {
    "off": "nothing is recorded",
    "samples": "samples of the stack",
    "hooks": "a hook that does nothing",
    "counts": "counts of calls, no times",
    "calls": "times of calls",
    "coverage": "coverage of lines",
}
SIZES = {  # of fib and mixed
    "Lua": (32, 12), "Python": (30, 6), "Perl": (27, 5), "PHP": (29, 12), "Ruby": (29, 6),
    "Lua, small": (27, 2),  # for a tool that takes a hundred times as long
}
DEBIAN_PYTHON = "/usr/bin/python3"  # the one that has the packages
ENDINGS = {"Lua": "lua", "Python": "py", "Perl": "pl", "PHP": "php", "Ruby": "rb"}
SIZES_SHORT = {language: (18, 1) for language in SIZES}


def fib_calls(n):
    a, b = 0, 1
    for _ in range(n + 1):
        a, b = b, a + b
    return 2 * a - 1


class Script(Row):
    """`words` is the command before the program; `checker` a function (folder, calls of fib) -> text."""

    def __init__(self, name, group, language, words, env=None, checker=None, size=None, needs=None,
                 base=None, prepare=None, **more):
        super().__init__(name, group, base, **more)
        self.language, self.words, self.env = language, words, env or {}
        self.sizes = SIZES
        self.checker, self.size, self.needs, self.prepare = checker, size or language, needs, prepare

    def build(self):
        if self.needs:
            command(self.needs, self.folder)
        if self.prepare:
            self.prepare(self.folder)

    def run(self, program):
        """The processor time of one program in seconds."""
        self.empty_records()
        language = self.language
        folder = HERE.parent if language == "Lua" else HERE
        file = folder / f"{program}.{ENDINGS[language]}"
        size = self.sizes[self.size][PROGRAMS.index(program)]
        out = command([*self.words, file, size], self.records, environment(**self.env))
        figures = re.findall(r"^[\d.]+(?:e-\d+)?$", out, re.M)
        if not figures:
            raise Missing("printed no figure")
        return float(figures[0])

    def check(self, result):
        """Compares what the last run of fib left."""
        return self.checker(self.records, fib_calls(self.sizes[self.size][0])) if self.checker else ""


def only_file(folder, pattern):
    found = sorted(folder.glob(pattern))
    if not found:
        raise Wrong("no file was written")
    return found[0]


# ---- the checks ---------------------------------------------------------------------------------------

def qprof_calls(tool):
    def check(folder, calls):
        report = json.loads(command([tool, "report", "--format=json", "run.qprof"], folder))
        return expect(sum(m["calls"] for m in report["methods"] if m["name"] == "fib"), calls)
    return check


def qprof_samples(tool):
    def check(folder, calls):
        table = json.loads(command([tool, "list", "--format=json", "run.qprof"], folder))
        found = sum(row["shallow"] for row in table["rows"])
        if not found:
            raise Wrong("no samples")
        return f"{found} samples"
    return check


def qprof_lines(tool):
    def check(folder, calls):
        command([tool, "cover", "export", "--to=lcov", "-o", "run.info", "run.qprof"], folder)
        text = (folder / "run.info").read_text()
        part = text[text.index("fib.lua"):]
        found, hit = (int(re.search(rf"^{key}:(\d+)", part, re.M).group(1)) for key in ("LF", "LH"))
        return expect(hit, found, "lines reached")
    return check


def nothing_written(folder, calls):
    if list(folder.glob("*.qprof")):
        raise Wrong("a profile was written")
    return "nothing recorded"


def luacov_lines(folder, calls):
    lines = only_file(folder, "luacov.stats.out").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith("fib.lua"))
    return expect(max(map(int, lines[at + 1].split())), calls, "executions of a line")


def python_stats(folder, calls):
    """All calls and those that are not recursive are two numbers, which yappi writes in another order."""
    stats = pstats.Stats(str(only_file(folder, "out.pstat"))).stats
    return expect(sum(max(v[:2]) for k, v in stats.items() if k[2] == "fib"), calls)


def python_coverage(folder, calls):
    command([DEBIAN_PYTHON, "-m", "coverage", "json", "--data-file=out", "-o", "out.json"], folder)
    files = json.loads((folder / "out.json").read_text())["files"]
    found = next(v for k, v in files.items() if k.endswith("fib.py"))
    return expect(len(found["executed_lines"]), len(found["executed_lines"]) + len(found["missing_lines"]),
                  "lines reached")


def nytprof_calls(folder, calls):
    found = command(["perl", "-MDevel::NYTProf::Data", "-e",
                     'my $p = Devel::NYTProf::Data->new({filename => "nytprof.out", quiet => 1});'
                     'print $p->subinfo_of("main::fib")->calls'], folder)
    return expect(int(found.split()[-1]), calls)


def xdebug_calls(folder, calls):
    """A block of a call is `calls=1 0 0` after `cfn=` of what is called; names are numbered."""
    found, number, is_fib = 0, None, False
    with open(only_file(folder, "cachegrind.out*"), errors="replace") as lines:
        for line in lines:
            if line.startswith("cfn="):
                if number is None and line.rstrip().endswith(" fib"):
                    number = line[4:line.index(")") + 1]
                is_fib = number is not None and line.startswith("cfn=" + number)
            elif line.startswith("fn=") and number is None and line.rstrip().endswith(" fib"):
                number = line[3:line.index(")") + 1]
            elif line.startswith("calls=") and is_fib:
                found += int(line[6:].split()[0])
    return expect(found, calls)


def php_lines(folder, calls):
    files = json.loads(only_file(folder, "lines.json").read_text())
    lines = next(v for k, v in files.items() if k.endswith("fib.php"))
    reached = [n for n, hits in lines.items() if int(hits) > 0 and 4 <= int(n) <= 9]
    return expect(len(reached), 3, "lines of fib reached")


def ruby_number(folder, calls):
    return expect(int(only_file(folder, "calls.txt").read_text()), calls)


def stackprof_samples(folder, calls):
    found = int(only_file(folder, "calls.txt").read_text())
    if not found:
        raise Wrong("no samples")
    return f"{found} samples"


# ---- the rows -----------------------------------------------------------------------------------------

RUBY_PROF = """require "ruby-prof"
profile = RubyProf::Profile.new
profile.start
load ARGV.shift
found = profile.stop.threads.flat_map(&:methods).select { |m| m.full_name.end_with?("#fib") }
File.write("calls.txt", found.sum(&:called))
"""
STACKPROF = """require "stackprof"
result = StackProf.run(mode: :wall, interval: 1000) { load ARGV.shift }
File.write("calls.txt", result[:samples])
"""
RUBY_COVERAGE = """require "coverage"
Coverage.start
load ARGV.shift
found = Coverage.result.find { |file, _| file.end_with?("fib.rb") }
File.write("calls.txt", found ? found[1].compact.max : 0)
"""
PHP_COVERAGE = {
    "xdebug": "xdebug_start_code_coverage(); register_shutdown_function(function () {"
              " file_put_contents('lines.json', json_encode(xdebug_get_code_coverage())); });",
    "pcov": "\\pcov\\start(); register_shutdown_function(function () { \\pcov\\stop();"
            " file_put_contents('lines.json', json_encode(\\pcov\\collect())); });",
}


def lua_rows(build):
    qlua, plain, tool = (build / "bin" / name for name in ("qlua", "lua-base", "qprof"))
    hooks = {"LUA_CPATH": f"{build / 'examples' / 'lua-host'}/?.so"}

    def ours(mode, group, options, checker, **more):
        env = {"QPROF": f"-output=run.qprof {options}"} if options else {}
        return Script(f"qlua, {mode}", group, "Lua", [qlua], env, checker, is_ours=True, base="Lua", **more)

    def hook(name, group, what, **more):
        return Script(name, group, "Lua", [plain, "-l", "hooks"], {**hooks, "BENCH_HOOK": what}, base="Lua",
                      **more)

    calls = "-collection-granularity=function"
    rows = [
        Script("Lua", "base", "Lua", [plain]),
        ours("not recording", "off", "", nothing_written),
        ours("samples only", "samples", "-collect=samples -pc='REAL 1000'", qprof_samples(tool)),
        hook("a thread that wakes 1,000 times a second", "samples", "waking", note="floor of samples"),
        ours("counts", "counts", f"-time=none {calls}", qprof_calls(tool)),
        ours("counts and sampled times", "calls", f"-time=sampled {calls}", qprof_calls(tool)),
        ours("adaptive", "calls", f"-time=adaptive {calls}", qprof_calls(tool)),
        ours("exact", "calls", f"-time=exact {calls}", qprof_calls(tool)),
        ours("counts of calls, lines and blocks", "coverage",
             "-time=none -collection-granularity=line", qprof_calls(tool)),
        ours("coverage", "coverage", "-collect=coverage", qprof_lines(tool)),
        ours("coverage, once", "coverage", "-collect=coverage -cover=once", qprof_lines(tool)),
        ours("coverage of functions", "coverage", f"-collect=coverage {calls}", None,
             note="functions only"),
        Script("qlua, coverage, 1,000 contexts a second", "coverage", "Lua", [qlua, "-l", "hooks"],
               {**hooks, "BENCH_HOOK": "contexts", "QPROF": "-output=run.qprof -collect=coverage"},
               qprof_lines(tool), is_ours=True, base="Lua"),
        hook("Lua, empty hook of calls, in C", "hooks", "calls"),
        hook("Lua, empty hook of lines, in C", "hooks", "empty"),
        Script("Lua, empty hook of calls, in Lua", "hooks", "Lua",
               [plain, "-e", "debug.sethook(function() end, 'cr')"], base="Lua"),
        Script("Lua, empty hook of lines, in Lua", "hooks", "Lua",
               [plain, "-e", "debug.sethook(function() end, 'l')"], base="Lua"),
        hook("Lua, hook in C that marks lines", "coverage", "mark"),
    ]

    def luacov(folder):
        root = os.environ.get("LUACOV")
        if not root or not (pathlib.Path(root) / "src" / "luacov.lua").is_file():
            raise Missing("not a package of Debian; $LUACOV can name a folder with src/luacov.lua")
        source = pathlib.Path(root).resolve() / "src"
        found.env["LUA_PATH"] = f"{source}/?.lua;{source}/?/init.lua"

    found = Script("LuaCov", "coverage", "Lua", [plain, "-l", "luacov"], {}, luacov_lines, base="Lua, small",
                   size="Lua, small", prepare=luacov)
    return [*rows, Script("Lua, small", "base", "Lua", [plain], size="Lua, small"), found]


def python_rows():
    python = [DEBIAN_PYTHON]

    def row(name, group, words, checker, **more):
        return Script(name, group, "Python", python + words, {}, checker, base="Python", **more)

    return [
        Script("Python", "base", "Python", python),
        row("Python: cProfile", "calls", ["-m", "cProfile", "-o", "out.pstat"], python_stats),
        row("Python: yappi, wall clock", "calls", ["-m", "yappi", "-c", "wall", "-f", "pstat", "-o",
                                                  "out.pstat"], python_stats),
        row("Python: coverage.py", "coverage", ["-m", "coverage", "run", "--data-file=out"],
            python_coverage),
    ]


def perl_rows():
    def row(name, group, words, env, checker, **more):
        return Script(name, group, "Perl", ["perl", *words], env, checker, base="Perl", **more)

    return [
        Script("Perl", "base", "Perl", ["perl"]),
        row("Perl: NYTProf, subs only", "calls", ["-d:NYTProf"], {"NYTPROF": "stmts=0"}, nytprof_calls),
        row("Perl: NYTProf, subs and statements", "calls", ["-d:NYTProf"], {}, nytprof_calls),
    ]


def php_rows():
    def row(name, group, words, checker, extension, prepend=None):
        def prepare(folder):
            if prepend:
                (folder / "start.php").write_text(f"<?php {PHP_COVERAGE[prepend]}\n")
        return Script(name, group, "PHP", ["php", "-n", *words], {}, checker, base="PHP", prepare=prepare,
                      needs=["php", "-n", *words[:2], "-r",
                             f"exit(extension_loaded('{extension}') ? 0 : 1);"])

    first = ["-d", "auto_prepend_file=../start.php"]
    return [
        Script("PHP", "base", "PHP", ["php", "-n"]),
        row("PHP: xdebug, profile", "calls", ["-d", "zend_extension=xdebug", "-d", "xdebug.mode=profile",
            "-d", "xdebug.output_dir=.", "-d", "xdebug.use_compression=0"], xdebug_calls, "xdebug"),
        row("PHP: xdebug, coverage", "coverage", ["-d", "zend_extension=xdebug", "-d",
            "xdebug.mode=coverage", *first], php_lines, "xdebug", "xdebug"),
        row("PHP: pcov", "coverage", ["-d", "extension=pcov", "-d", "pcov.enabled=1", "-d",
            f"pcov.directory={HERE}", *first], php_lines, "pcov", "pcov"),
    ]


def ruby_rows():
    def row(name, group, text, checker, library):
        return Script(name, group, "Ruby", ["ruby", "-e", text], {}, checker, base="Ruby",
                      needs=["ruby", "-e", f'require "{library}"'])

    return [
        Script("Ruby", "base", "Ruby", ["ruby"]),
        row("Ruby: ruby-prof", "calls", RUBY_PROF, ruby_number, "ruby-prof"),
        row("Ruby: stackprof", "samples", STACKPROF, stackprof_samples, "stackprof"),
        row("Ruby: Coverage", "coverage", RUBY_COVERAGE, ruby_number, "coverage"),
    ]


def all_rows(build):
    return [*lua_rows(build), *python_rows(), *perl_rows(), *php_rows(), *ruby_rows()]

#!/usr/bin/env python3
"""lua_module.py BUILD [INTERPRETER...]: what recording costs with bindings/lua, beside an empty debug hook.

CPU time of a program that calls, sorts and formats, run in turn without and with each of them: medians of seven turns,
as multiples of the plain interpreter. The empty hook is a Lua function, as of profilers in Lua.
"""
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 7
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for round = 1, 4 do
    for i = 1, 20000 do words[i] = ("w%d"):format(i * 7919 % 20011) end
    table.sort(words, function(a, b) return a < b end)
    fib(23)
end
"""
WAYS = {
    "plain": ([], ""),
    "empty hook": (["-lempty"], ""),
    "calls, exact": (["-lqprof"], "-output=%s -collection-granularity=function"),
    "calls, counts": (["-lqprof"], "-output=%s -collection-granularity=function -time=none"),
    "empty line hook": (["-lemptyline"], ""),
    "calls and lines, exact": (["-lqprof"], "-output=%s"),
    "coverage": (["-lqprof"], "-output=%s -collect=coverage"),
}


def cpu_seconds(command, environment):
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command}: status {status}")
    return usage.ru_utime + usage.ru_stime


def main():
    build = os.path.abspath(sys.argv[1])
    interpreters = sys.argv[2:] or ["lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in (("program", PROGRAM), ("empty", "debug.sethook(function() end, 'cr')"),
                           ("emptyline", "debug.sethook(function() end, 'crl')")):
            with open(name + ".lua", "w") as file:
                file.write(text)
        for lua in interpreters:
            subprocess.check_call(["make", "-s", "-C", SOURCE + "/bindings/lua", "LUA=" + lua, "OUT=" + folder + "/" + lua,
                                   "QPROF_LIBRARY=" + build + "/lib/libqprof.a"])
            times = {way: [] for way in WAYS}
            for _ in range(ROUNDS):
                for way, (words, options) in WAYS.items():
                    environment = dict(os.environ, LUA_CPATH=f"{folder}/{lua}/?.so;;", LUA_PATH="./?.lua;;")
                    environment.pop("QPROF", None)
                    if options:
                        environment["QPROF"] = options % "run.qprof"
                    times[way].append(cpu_seconds([lua, *words, "program.lua"], environment))
                    if os.path.exists("run.qprof"):
                        os.remove("run.qprof")
            plain = statistics.median(times["plain"])
            print(f"{lua}: plain {plain:.3f} s;", ", ".join(
                f"{way} {statistics.median(values) / plain:.2f}" for way, values in times.items() if way != "plain"))


main()

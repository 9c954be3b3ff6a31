"""native.py: native peers: how each is built and run, and whether it recorded all calls.

The programs are those of native.c. A peer of Debian is installed by peers.sh. Others are used where
an environment variable names the folder of their sources: see FOREIGN.
"""

import json
import os
import pathlib
import re
import signal
import struct

from common import HERE, ROOT, Missing, Row, Wrong, command, environment, expect

PROGRAMS = ("flat", "mixed", "recursion")
GROUPS = {
    "floor": "floors: nothing is kept",
    "off": "off: the calls of the recorder are in the program, nothing is recorded",
    "counts": "counts of calls, no times",
    "tree": "times of calls, added up in the process",
    "trace": "a record of each entry and exit",
}
# Peers that Debian does not have: the variable names a folder with these files.
FOREIGN = {
    "Spall": ("SPALL", "spall.h"),
    "Tracy": ("TRACY", "public/TracyClient.cpp"),
    "microprofile": ("MICROPROFILE", "microprofile.cpp"),
    "easy_profiler": ("EASY_PROFILER", "easy_profiler_core/include/easy/profiler.h"),
    "Remotery": ("REMOTERY", "lib/Remotery.c"),
}


def foreign(peer):
    """The folder of a peer's sources; raises Missing."""
    variable, file = FOREIGN[peer]
    folder = os.environ.get(variable)
    if not folder:
        raise Missing(f"not a package of Debian; ${variable} can name a folder with {file}")
    if not (pathlib.Path(folder) / file).is_file():
        raise Missing(f"${variable}: no {file} in {folder}")
    return pathlib.Path(folder).resolve()


def parse(text):
    """{program: ns, 'calls': n} of what native.c prints."""
    pairs = dict(line.split() for line in text.splitlines() if line.count(" ") == 1)
    if not set(PROGRAMS) <= set(pairs):
        raise Missing("printed no figures")
    result = {p: float(pairs[p]) for p in PROGRAMS}
    result["calls"] = int(pairs["calls"])
    result["kept"] = int(pairs.get("kept", -1))  # by the peer's own count
    return result


class Native(Row):
    """A program of native.c; `words` go to the compiler, before() are the words that start it."""

    def __init__(self, name, group, base="gcc", compiler="gcc", words=(), peer=None, after=(),
                 env=None, is_off=False, language="c", **more):
        super().__init__(name, group, base, **more)
        self.compiler, self.words, self.peer = compiler, list(words), peer
        self.after, self.env, self.is_off, self.language = list(after), env or {}, is_off, language

    def build(self):
        peer = [f'-DPEER="{self.peer}"'] if self.peer else []
        standard = "-std=gnu11" if self.language == "c" else "-std=gnu++17"
        command([self.compiler, "-O2", standard, "-x", self.language, "-I", HERE, *self.words, *peer,
                 HERE / "native.c", "-x", "none", *self.after, "-o", "native"], self.folder)

    def run(self, batches):
        self.empty_records()
        return parse(command(self.before() + ["../native", batches] + ["off"] * self.is_off,
                             self.records, environment(**self.env)))

    def before(self):
        return []

    def files(self, pattern):
        found = sorted(self.records.glob(pattern))
        if not found:
            raise Wrong("no file was written")
        return found


class Ours(Native):
    """qprof itself."""

    def __init__(self, way, mode, group, options, build):
        names = {"INLINE": "inline", "EXPORTED": "exported", "TOKEN": "tokens"}
        super().__init__(f"qprof, {mode}, {names[way]}", group, peer="with_qprof.h", is_ours=True,
                         words=[f"-DWAY={way}", "-fno-plt", "-I", ROOT / "include"],
                         after=[f"-L{build / 'lib'}", "-lqprof", f"-Wl,-rpath,{build / 'lib'}"],
                         is_off=mode == "off", env={"QPROF": f"-output=run.qprof {options}"})
        self.way, self.mode, self.tool = way, mode, build / "bin" / "qprof"

    def build(self):
        header = (ROOT / "include" / "qprof" / "inline.h").read_text()
        version = int(re.search(r"define QPROF_INLINE_VERSION (\d+)", header).group(1))
        if "-trace-full" in self.env["QPROF"] and (
                "`-trace-full`" not in (ROOT / "docs" / "options.md").read_text()):
            raise Missing("there is no option -trace-full")
        if self.way == "TOKEN" and version < 3:
            raise Missing(f"QPROF_INLINE_VERSION is {version}; tokens begin with 3")
        super().build()

    def check(self, result):
        if self.mode == "off":
            if any(self.records.iterdir()):
                raise Wrong("a profile was written")
            return "nothing recorded"
        report = json.loads(command([self.tool, "report", "--format=json", "run.qprof"], self.records))
        calls = sum(m["calls"] for m in report["methods"] if m["name"].split(".")[-1] != "m24")
        text = expect(calls, result["calls"])
        if not self.mode.startswith("traced to a file"):
            return text
        stat = json.loads(command([self.tool, "trace", "stat", "--format=json", "run.qtrace"],
                                  self.records))
        lost = 2 * result["calls"] + 2 - stat["trace"]["records"]
        return text + ("; every record" if lost <= 0 else f"; {lost:,} records lost, counted")


def ours(build):
    rows = []
    for way in ("INLINE", "EXPORTED", "TOKEN"):
        rows += [
            Ours(way, "off", "off", "", build),
            Ours(way, "counts", "counts", "-time=none", build),
            Ours(way, "adaptive", "tree", "-time=adaptive", build),
            Ours(way, "exact", "tree", "-time=exact", build),
            Ours(way, "exact and traced to a ring", "trace",
                 "-time=exact -collect=profile,trace -trace-mode=overwrite", build),
        ]
    traced = "-time=exact -collect=profile,trace -trace-output=run.qtrace"
    rows.append(Ours("INLINE", "traced to a file", "trace", traced, build))
    rows.append(Ours("INLINE", "traced to a file without loss", "trace", f"{traced} -trace-full=wait", build))
    return rows


class EmptyCalls(Native):
    """Two calls of a library that return at once: what an exported interface costs at least."""

    def build(self):
        command(["gcc", "-O2", "-shared", "-fPIC", HERE.parent / "empty.c", "-o", "libempty.so"],
                self.folder)
        self.after = ["-fno-plt", self.folder / "libempty.so"]
        super().build()


class Gprof(Native):
    def check(self, result):
        table = command(["gprof", "-b", "-q", "../native", "gmon.out"], self.records)
        calls = re.findall(r"^\[\d+\].* (\d+)(?:\+(\d+))? +\w+ \[\d+\]$", table, re.M)
        return expect(sum(int(a) + int(b or 0) for a, b in calls), result["calls"])


class Uftrace(Native):
    def before(self):
        return ["uftrace", "record", "--no-pager", "--force", "--no-event", "-d", "data"]

    def check(self, result):
        table = command(["uftrace", "report", "--no-pager", "-d", "data"], self.records)
        calls = re.findall(r"(\d+)  (?:flat|fib|(?:inner|middle|outer)_\d)$", table, re.M)
        return expect(sum(map(int, calls)), result["calls"])


class Xray(Native):
    def check(self, result):
        """Entries in the flight data recorder's file: 8 bytes a record, 16 where bit 0 is set."""
        if self.is_off:
            return "nothing recorded" if not list(self.records.glob("xray-log*")) else "a file"
        data = self.files("xray-log*")[0].read_bytes()
        at, entries = 32, 0
        while at < len(data):
            first = data[at]
            entries += first & 0xF == 0
            at += 16 if first & 1 else 8
        return expect(entries, result["calls"])


class Lttng(Native):
    """The functions that gcc calls at entry and exit are those of liblttng-ust-cyg-profile-fast."""

    session = f"qprof-peers-{os.getpid()}"
    n_started, daemon = 0, None

    def build(self):
        super().build()
        if not self.is_off and Lttng.daemon is None:
            try:
                command(["lttng", "--no-sessiond", "list"], self.folder)
            except Missing:
                command(["lttng-sessiond", "--no-kernel", "--daemonize", "--pidfile=" +
                         str(self.folder / "daemon.pid")], self.folder)
                Lttng.daemon = int((self.folder / "daemon.pid").read_text())

    def run(self, batches):
        preload = ["env", "LD_PRELOAD=liblttng-ust-cyg-profile-fast.so", "LTTNG_UST_REGISTER_TIMEOUT=-1"]
        self.empty_records()
        if self.is_off:
            return parse(command([*preload, "../native", batches], self.records))
        name = f"{self.session}-{self.n_started}"
        Lttng.n_started += 1
        lttng = ["lttng", "--no-sessiond"]
        command([*lttng, "create", name, f"--output={self.records / 'data'}"], self.folder)
        try:
            command([*lttng, "enable-channel", "-u", "-s", name, "--subbuf-size=8M",
                     "--num-subbuf=16", "c"], self.folder)
            command([*lttng, "enable-event", "-u", "-s", name, "-c", "c",
                     "lttng_ust_cyg_profile_fast:*"], self.folder)
            command([*lttng, "start", name], self.folder)
            out = command([*preload, "../native", batches], self.records)
            command([*lttng, "stop", name], self.folder)
        finally:
            command([*lttng, "destroy", name], self.folder)
        return parse(out)

    def check(self, result):
        if self.is_off:
            return "nothing recorded"
        table = command(["babeltrace2", "data", "-c", "sink.utils.counter"], self.records)
        events = re.findall(r"(\d+) Event messages", table)
        return expect(int(events[-1]), 2 * result["calls"], "events")

    @classmethod
    def stop(cls):
        """End the session daemon if it is ours."""
        if cls.daemon:
            os.kill(cls.daemon, signal.SIGTERM)
            cls.daemon = None


class Foreign(Native):
    """A peer whose sources an environment variable names."""

    def __init__(self, name, group, which, files=(), flags=(), **more):
        super().__init__(name, group, **more)
        self.which, self.sources, self.flags = which, files, list(flags)

    def build(self):
        folder = foreign(self.which)
        flags = [f.replace("@", str(folder)) for f in self.flags]
        objects = []
        for i, source in enumerate(self.sources):
            compiler = "gcc" if source.endswith(".c") else "g++"
            objects.append(f"peer{i}.o")
            command([compiler, "-O2", "-w", *flags, "-c", folder / source, "-o", objects[-1]],
                    self.folder, seconds=600)
        self.words = [*self.words, *flags]
        self.after = objects + ["-lpthread", "-ldl", "-lm"] + (["-lstdc++"] if self.language == "c++" else [])
        super().build()

    def check(self, result):
        if self.group == "off":
            return ""
        if result["kept"] < 0:
            return "not checked: only its viewer counts"
        return expect(result["kept"], result["calls"])


class SpallFile(Foreign):
    def check(self, result):
        """A header of 32 bytes, then blocks: 20 bytes, the first 4 its size, then packed events."""
        data = self.files("run.spall")[0].read_bytes()
        at, n_begin, n_end = 32, 0, 0
        while at < len(data):
            end = at + 20 + struct.unpack_from("<I", data, at)[0]
            at += 20
            while at < end:
                is_begin = data[at] == 3  # kind, time, length of the name, of the arguments
                n_begin += is_begin
                n_end += not is_begin
                at += 11 + data[at + 9] + data[at + 10] if is_begin else 9
        if n_begin != n_end:
            raise Wrong(f"{n_begin:,} begins, {n_end:,} ends")
        return expect(n_begin, result["calls"])


EASY = tuple(f"easy_profiler_core/{name}.cpp" for name in (
    "base_block_descriptor", "block", "block_descriptor", "easy_socket", "nonscoped_block",
    "profile_manager", "profiler", "reader", "serialized_block", "thread_storage", "writer"))


def all_rows(build):
    tracy = dict(which="Tracy", files=("public/TracyClient.cpp",), peer="with_tracy.h", language="c++",
                 compiler="g++", base="gcc")
    on = ["-DTRACY_ENABLE", "-DTRACY_NO_CRASH_HANDLER", "-DTRACY_NO_SYSTEM_TRACING", "-DTRACY_NO_SAMPLING",
          "-DTRACY_ONLY_LOCALHOST", "-DTRACY_NO_BROADCAST", "-I@/public"]
    fdr = {"XRAY_MODE": "xray-fdr", "XRAY_WORDS":
           "func_duration_threshold_us=0:buffer_size=1048576:buffer_max=400"}
    cpu = pathlib.Path("/sys/devices/system/cpu/cpu0")
    has_frequency = (cpu / "tsc_freq_khz").exists() or (cpu / "cpufreq" / "cpuinfo_max_freq").exists()
    xray = dict(base="clang", compiler="clang++", language="c++", peer="with_xray.h",
                words=["-fxray-instrument", "-fxray-instruction-threshold=1"])
    return [
        Native("gcc", "base", base=None),
        Native("clang", "base", base=None, compiler="clang++", language="c++"),
        Native("two clock reads", "floor", peer="with_clock.h"),
        EmptyCalls("two empty calls of a library", "floor", peer="with_empty.h", words=["-fno-plt"]),
        *ours(build),
        Gprof("gprof's mcount (gcc -pg)", "counts", words=["-pg"], after=["-pg"],
              note="arcs only, no exits"),
        Uftrace("uftrace (gcc -pg)", "trace", words=["-pg"], after=["-pg"]),
        Xray("XRay, flight data recorder", "trace", env=fdr, **xray, note="" if has_frequency else
             "by clock_gettime, since Linux does not state the frequency of the clock here"),
        Xray("XRay, not patched", "off", is_off=True, **xray),
        Lttng("LTTng-UST (-finstrument-functions)", "trace", words=["-finstrument-functions"]),
        Lttng("LTTng-UST, no session", "off", words=["-finstrument-functions"], is_off=True),
        Foreign("Spall's header, records dropped", "trace", "Spall", note="no tree, no sums", peer="with_spall.h",
                flags=["-I@"]),
        SpallFile("Spall's header, to a file", "trace", "Spall", peer="with_spall.h",
                  flags=["-I@", "-DTO_FILE"]),
        Foreign("Tracy, static location", "trace", flags=on, **tracy),
        Foreign("Tracy, location given at run time", "trace", flags=[*on, "-DDYNAMIC"], **tracy),
        Foreign("Tracy, on demand, not connected", "off", flags=[*on, "-DTRACY_ON_DEMAND"], **tracy),
        Foreign("microprofile", "tree", "microprofile", files=("microprofile.cpp",),
                flags=["-I@", "-DMICROPROFILE_USE_CONFIG=0", "-DMICROPROFILE_WEBSERVER=0", "-DMICROPROFILE_GPU_TIMERS=0",
                       "-DMICROPROFILE_PER_THREAD_BUFFER_SIZE=33554432", "-DMICROPROFILE_BUILD_MULTI=0"],
                peer="with_microprofile.h", language="c++", compiler="g++"),
        Foreign("Remotery, aggregated", "tree", "Remotery",
                note="recursion is one record: a counter, no clock", files=("lib/Remotery.c",),
                flags=["-I@/lib"], peer="with_remotery.h"),
        Foreign("easy_profiler", "trace", "easy_profiler", files=EASY,
                flags=["-I@/easy_profiler_core/include", "-I@/easy_profiler_core", "-DBUILD_WITH_EASY_PROFILER",
                       "-D_BUILD_PROFILER=1", "-DEASY_PROFILER_STATIC", "-DEASY_DEFAULT_PORT=28077",
                       "-DEASY_PROFILER_VERSION_MAJOR=2", "-DEASY_PROFILER_VERSION_MINOR=1",
                       "-DEASY_PROFILER_VERSION_PATCH=0"],
                peer="with_easy_profiler.h", language="c++", compiler="g++"),
    ]


def clock_kind(folder):
    """Nanoseconds of two clock reads with loads before each, and whether a read waits for them."""
    command(["gcc", "-O2", "-I", ROOT / "src", HERE / "clock.c", "-o", "clock"], folder)
    figures = {k: float(v) for k, v in (line.split() for line in command(["./clock"], folder).splitlines())}
    figures["waits"] = bool(figures["waits"])
    return figures

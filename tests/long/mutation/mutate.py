"""mutate.py N SEED: see tests/long/mutation.sh. One change at a time of the files below, in a copy of the sources; the
quick tests are built and run until the first fails."""

import os
import random
import re
import shutil
import subprocess
import sys
import time

FILES = ["include/qprof/inline.h", "src/api/record_calls.c", "src/api/requests.c", "src/api/threads.c", "src/record/ring/trace_fast.h"]
FILES += [f"src/record/event/{name}.c" for name in
          "actions event exit fast life memory mount park request request_open token".split()]
FILES += ["src/record/tree/stack.c", "src/record/tree/tree.c"]
# Those that see most changes come first; what has noticed a change of a file is tried first at the next change of it.
TESTS = """qii_stack stack qii_time tokens embed qii_threads qii_blocks qii_data qii_life qii_methods requests memory park
triggers_areas triggers_lines triggers_names triggers_calls callees deep creators contexts clock_reads trace pairs
charge cost events_list events_chain events_act events_check embed_stacks triggers_counters triggers_harm
events_config events_random wide pc pc_waiting reentrancy transparency process fork memory limits threads apart
sampling model signal_instructions sample_instructions""".split()
ROOMS = "unit model threads reliability kill".split()
REASONS = "tests/long/mutation/equivalent.txt"
WORK = os.path.abspath("build/mutation")
SURVIVORS = os.path.join(WORK, "survivors.txt")
SECONDS = 10  # a change may make a test run for ever: this, and ten times as long as without a change

SWAPS = [
    (r"==", "!="), (r"!=", "=="), (r"<=", "<"), (r">=", ">"), (r"(?<![<\-])<(?![<=])", "<="), (r"(?<![>\-])>(?![>=])", ">="),
    (r"&&", "||"), (r"\|\|", "&&"), (r" \+ ", " - "), (r" - ", " + "), (r"\+=", "-="), (r"-=", "+="),
    (r"\+\+", "--"), (r"(?<!-)--(?!-)", "++"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\b0\b", "1"), (r"\b1\b", "2"),
    (r"(?<![!=])!(?!=)", ""), (r"QP_LIKELY\(", "!("), (r"\|=", "&="),
]


def blank_comments(text):
    """Blank comments and texts, so that nothing in them is changed."""
    keep = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', keep, text, flags=re.S)


def changes_of(path):
    """All changes of a file: (line, before, after, text of the whole)."""
    text = open(path).read()
    code = blank_comments(text)
    found = []
    at = 0
    for number, line in enumerate(code.splitlines(keepends=True), 1):
        begin, at = at, at + len(line)
        if re.match(r"\s*#|\s*_Static_assert|\s*(static |extern |typedef |enum )[^=]*[;{]?$|[^\s}].*\)\s*$", line):
            continue
        for pattern, other in SWAPS:
            for m in re.finditer(pattern, line):
                found.append((number, begin + m.start(), begin + m.end(), other))
        if re.match(r"    +(?!return|break|continue|case|default|const |static )[^{}]*;\s*$", line) and not re.match(
            r"    +(\w+\s+)+\*?\w+( =.*|;)", line
        ):
            found.append((number, begin + len(line) - len(line.lstrip()), begin + len(line.rstrip()), ";"))
    result = []
    for number, first, end, other in found:
        changed = text[:first] + other + text[end:]
        before = text.splitlines()[number - 1].strip()
        after = changed.splitlines()[number - 1].strip()
        result.append((path, number, before, after, changed))
    return result


def copy_sources():
    source = os.path.join(WORK, "source")
    shutil.rmtree(source, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if os.path.isfile(name) and not name.startswith(("docs/", "bindings/")):
            to = os.path.join(source, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy2(name, to)
    for name in FILES:  # what an earlier run has built last contains a change
        os.utime(os.path.join(source, name))
    return source


def programs():
    found = []
    for name in TESTS:
        for room in ROOMS:
            if os.path.exists(f"tests/{room}/test_{name}.c"):
                found.append((room, name))
    return found


def build(targets):
    words = ["cmake", "--build", os.path.join(WORK, "build"), "--parallel", str(os.cpu_count()), "--target"]
    return subprocess.run(words + targets, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def run(room, name, seconds):
    """Return whether the test passes, within that time."""
    folder = os.path.join(WORK, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    program = os.path.join(WORK, "build", "tests", f"test_{room}_{name}")
    environment = {k: v for k, v in os.environ.items() if k != "QPROF"} | {"QPROF_MODEL_EVENTS": "2000000"}
    with open(os.path.join(WORK, "log"), "w") as log:
        child = subprocess.Popen([program], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=log, start_new_session=True)
    try:
        return child.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.wait()
        return False


def reasons():
    return [line.split(" | ")[0] for line in open(REASONS) if " | " in line]


def key(change):
    """What names a change: without the line's number, which moves."""
    return f"{change[0]}: {change[2]} -> {change[3]}"


def judge(change, source, tests, limits):
    """Return the test that noticed the change, "compiler", or None. It becomes the first of the tests."""
    path = os.path.join(source, change[0])
    original = open(path).read()
    with open(path, "w") as file:
        file.write(change[4])
    try:
        for room, name in list(tests):
            if not build([f"test_{room}_{name}"]):
                return "compiler"
            if not run(room, name, limits[room, name]):
                tests.remove((room, name))
                tests.insert(0, (room, name))
                return f"{room}.{name}"
        return None
    finally:
        with open(path, "w") as file:
            file.write(original)


def main():
    again = open(SURVIVORS).read().splitlines() if sys.argv[1] == "again" else []
    n, seed = (0, 0) if again else (int(sys.argv[1]), int(sys.argv[2]))
    source = copy_sources()
    fast = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", source, "-B", os.path.join(WORK, "build"), *fast, "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DQPROF_EXAMPLES=OFF", "-DQPROF_HTML=OFF", "-DQPROF_INSTALL=OFF"],
                   check=True, stdout=subprocess.DEVNULL)
    tests = programs()
    if not build([f"test_{room}_{name}" for room, name in tests]):
        sys.exit("mutation: the build failed")
    limits = {}
    for room, name in tests:
        begun = time.monotonic()
        if not run(room, name, 600):
            sys.exit(f"mutation: {room}.{name} fails without a change: see build/mutation/log")
        limits[room, name] = SECONDS + 10 * (time.monotonic() - begun)
    tests_of = {path: list(tests) for path in FILES}
    every = [c for path in FILES for c in changes_of(path)]
    if again:
        drawn = [c for c in every if key(c) in again]
        print(f"{len(drawn)} changes that survived before", flush=True)
    else:
        drawn = random.Random(seed).sample(every, min(n, len(every)))
        print(f"{len(every)} changes, {len(drawn)} of them drawn with seed {seed}", flush=True)
    equivalent, left, noticed, tried = reasons(), [], 0, 0
    for change in drawn:
        by = judge(change, source, tests_of[change[0]], limits)
        if by == "compiler":
            continue
        tried += 1
        noticed += by is not None
        print(f"{tried}: {by}", flush=True)
        if by is None:
            left.append(change)
            mark = "equivalent" if key(change) in equivalent else "SURVIVED"
            print(f"{mark} {change[0]}:{change[1]}: {change[2]} -> {change[3]}", flush=True)
    unexplained = [c for c in left if key(c) not in equivalent]
    with open(SURVIVORS, "w") as file:
        file.writelines(key(c) + "\n" for c in unexplained)
    real = tried - (len(left) - len(unexplained))
    percent = 100 * noticed / max(real, 1)
    print(f"{tried} compiled, {noticed} noticed, {len(left) - len(unexplained)} equivalent, "
          f"{len(unexplained)} survived: {percent:.1f} %")
    sys.exit(percent < 95)


if __name__ == "__main__":
    main()

"""python_claims_cover.py: what the package qprof promises about coverage. Run by test_python.sh."""
import json
import os
import subprocess
import sys
import unittest

import qprof
from python_claims import HAS_MONITORING, TOOL, Recorded, run_script

COVERED = """\
def choose(x):
    if x > 1:
        return 1
    for i in range(3):
        if i == x:
            break
    else:
        return 2

def never():
    '''Says nothing.'''
    if never:
        return 3

class Empty:
    '''Says nothing.'''

choose(5)
choose(1)
choose(0)
"""
# choose(5) returns; choose(1) leaves the loop in its second turn, choose(0) in its first
LINES = {1: 1, 2: 3, 3: 1, 4: 3, 5: 3, 6: 2, 8: 0, 10: 1, 12: 0, 13: 0, 15: 1, 18: 1, 19: 1, 20: 1}
BRANCHES = {(2, 3): 1, (2, 4): 2, (4, 5): 3, (4, 8): 0, (5, 4): 1, (5, 6): 2, (12, 13): 0, (12, 0): 0}
CALLS = {"<module __main__>": 1, "choose": 3, "never": 0, "Empty": 1}


class Coverage(Recorded):
    def covered(self, *words):
        text = subprocess.check_output([TOOL, "cover", "export", "--to=json", *words, self.path])
        self.files = {os.path.basename(f["path"]): f for f in json.loads(text)["files"]}
        return self.files

    def run_covered(self, text, *words, **keywords):
        done = run_script(text, "-o", self.path, "--collect=coverage", *words, "script.py", **keywords)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def lines(self, file="script.py", *words):
        return {line["line"]: line["hits"] for line in self.covered(*words)[file]["lines"]}

    def branches(self, file="script.py"):
        return {(b["line"], b["to_line"]): b["hits"] for b in self.covered()[file]["branches"]}

    def calls_of(self, file="script.py"):
        return {f["name"]: f["hits"] for f in self.covered()[file]["functions"]}

    def test_lines_and_branches_are_counted(self):
        self.run_covered(COVERED)
        self.assertEqual(self.lines(), LINES)
        self.assertEqual(self.branches(), BRANCHES)
        self.assertEqual(self.calls_of(), CALLS)

    def test_coverage_with_a_profile_has_the_same_counts(self):
        self.run_covered(COVERED, "--collect=profile,coverage")
        self.assertEqual(self.lines(), LINES)
        self.assertEqual(self.branches(), BRANCHES)
        self.assertEqual(self.calls_of(), CALLS)
        self.assertEqual(self.calls("choose"), [3])

    def test_lines_of_a_profile_have_counts(self):
        run_script(COVERED, "-o", self.path, "--lines", "script.py")
        text = subprocess.check_output([TOOL, "annotate", "--format=json", self.path])
        counts = {line["line"]: line["count"] for file in json.loads(text)["files"] for line in file["lines"]}
        hit = {n: hits for n, hits in LINES.items() if hits and n not in (1, 10, 15)}  # a def: its calls
        self.assertEqual({n: counts.get(n) for n in hit}, hit)

    def test_functions_alone_can_be_covered(self):
        self.run_covered(COVERED, "--collection-granularity=function")
        self.assertEqual(self.calls_of(), CALLS)
        self.assertEqual(self.files["script.py"]["lines"], [])

    def test_coverage_may_be_yes_or_no(self):
        self.run_covered(COVERED, "--cover=once")
        self.assertEqual(self.lines(), {n: min(hits, 1) for n, hits in LINES.items()})

    def test_an_exception_is_no_way_of_a_branch(self):
        self.run_covered("def fail():\n    raise ValueError\ndef f(x):\n    if x or fail():\n        pass\nf(1)\n"
                         "try:\n    f(0)\nexcept ValueError:\n    pass\n")
        branches = self.branches()
        self.assertEqual((branches[4, 5], branches[4, 0], self.lines()[4]), (1, 0, 2))

    def test_a_generator_remembers_its_branch(self):
        self.run_covered("def g():\n    for i in (1, 2):\n        if (yield i):\n            pass\n"
                         "        else:\n            i = 0\nlist(g())\n")
        self.assertEqual(self.branches(), {(2, 3): 2, (2, 0): 1, (3, 4): 0, (3, 6): 2})
        self.assertEqual(self.calls_of()["g"], 1)

    def test_a_condition_over_several_lines_is_a_branch_where_the_interpreter_chooses(self):
        self.run_covered("def f(a, b):\n    if (a and\n            b):\n        return 1\n    return 2\n"
                         "f(1, 1)\nf(0, 1)\nf(1, 0)\n")
        first_line = {(2, 3): 2, (2, 4): 1, (2, 5): 2}
        each_line = {(2, 3): 2, (2, 5): 1, (3, 4): 1, (3, 5): 1}
        self.assertEqual(self.branches(), each_line if HAS_MONITORING else first_line)

    def test_a_with_and_a_comprehension_are_no_branches(self):
        self.run_covered("import io\nwith io.StringIO() if io else None as f:\n    pass\nx = [i for i in (1, 2) if i]\n")
        self.assertEqual(self.branches(), {})

    def test_annotations_are_no_functions(self):
        self.run_covered("class Point:\n    x: int\n    y: int = 0\n\ndef size(p: Point) -> int:\n    return 1\n\nsize(Point())\n")
        self.assertEqual(self.calls_of(), {"<module __main__>": 1, "Point": 1, "size": 1})
        lines = self.lines()
        # from 3.14 on line 2 has no code, and the class keeps its annotations on its first line
        self.assertEqual(lines, {1: 2, 3: 1, 5: 1, 6: 1, 8: 1} if sys.version_info >= (3, 14) else
                         {1: 1, 2: 1, 3: 1, 5: 1, 6: 1, 8: 1})

    def test_threads_count_together(self):
        self.run_covered("import threading\ndef work(n):\n    for i in range(n):\n        pass\n"
                         "threads = [threading.Thread(target=work, args=(n,)) for n in (10, 20, 30)]\n"
                         "for t in threads:\n    t.start()\nfor t in threads:\n    t.join()\n")
        self.assertEqual(self.lines()[4], 60)
        self.assertEqual(self.calls_of()["work"], 3)

    def test_libraries_are_not_covered_unless_asked_for(self):
        text = "import colorsys\ncolorsys.rgb_to_hsv(1, 0, 0)\n"
        self.run_covered(text)
        self.assertEqual(set(self.covered()), {"script.py"})
        os.unlink(self.path)
        self.run_covered(text, "--cover-include=**/colorsys.py")
        self.assertEqual(set(self.covered()), {"colorsys.py"})

    def test_files_are_chosen_by_root_and_globs(self):
        os.makedirs("chosen/inner", exist_ok=True)
        for name in ("a.py", "b.py", "inner/c.py", "inner/d.py"):
            with open("chosen/" + name, "w") as file:
                file.write("x = 1\n")
        text = "import sys\nsys.path[:0] = ['chosen', 'chosen/inner']\nimport a, b, c\n"
        for words, files in ((("--cover-root=chosen",), {"a.py", "b.py", "c.py"}),
                             (("--cover-root=chosen", "--cover-unloaded"), {"a.py", "b.py", "c.py", "d.py"}),
                             (("--cover-root=chosen", "--cover-include=inner"), {"c.py"}),
                             (("--cover-root=chosen", "--cover-include=[!b].py:inner/*"), {"a.py", "c.py"}),
                             (("--cover-root=chosen", "--cover-exclude=?.py"), {"c.py"}),
                             (("--cover-exclude=**/b.py,script.py",), {"a.py", "c.py"})):
            self.path = "chosen.qprof"
            if os.path.exists(self.path):
                os.unlink(self.path)
            self.run_covered(text, *words)
            self.assertEqual(set(self.covered()), files, words)

    def test_a_file_that_was_loaded_before_is_known_whole(self):
        with open("loaded.py", "w") as file:
            file.write("def used():\n    pass\ndef unused():\n    pass\n")
        with open("loads.py", "w") as file:
            file.write(f"import loaded, qprof\nwith qprof.profile(output='{self.path}', collect='coverage'):\n"
                       "    loaded.used()\n")
        subprocess.run([sys.executable, "loads.py"], check=True)
        self.assertEqual(self.calls_of("loaded.py"), {"<module loaded>": 0, "used": 1, "unused": 0})
        self.assertEqual(self.lines("loads.py")[3], 1)

    def test_contexts_tell_which_test_ran_a_line(self):
        self.run_covered("import qprof\ndef a():\n    pass\ndef b():\n    pass\n"
                         "qprof.context('one')\na()\nqprof.context('two')\na()\nb()\nqprof.context(None)\n")
        self.assertEqual([self.lines("script.py", "--context=" + name)[3] for name in ("one", "two")], [1, 1])
        self.assertEqual([self.lines("script.py", "--context=" + name)[5] for name in ("one", "two")], [0, 1])

    def test_a_pause_is_not_counted(self):
        self.run_covered("import qprof\ndef f():\n    pass\nf()\nqprof.pause()\nf()\nf()\nqprof.resume()\nf()\n")
        self.assertEqual((self.lines()[3], self.calls_of()["f"]), (2, 2))

    @unittest.skipIf(HAS_MONITORING, "no hooks")
    def test_a_tracer_is_not_disturbed(self):
        sys.settrace(lambda *_: None)
        try:
            with self.assertRaisesRegex(RuntimeError, "debugger"):
                qprof.start(output=self.path, collect="coverage")
        finally:
            sys.settrace(None)
        self.assertFalse(qprof.is_running())

    @unittest.skipIf(HAS_MONITORING, "no hooks")
    def test_a_tracer_that_takes_the_hook_works_and_is_reported(self):
        text = ("import sys\nseen = []\ndef f():\n    pass\nf()\n"
                "def trace(frame, *_):\n    seen.append(frame.f_lineno)\n    return trace\n"
                "sys.settrace(trace)\nf()\nsys.settrace(None)\nprint(seen)\n")
        done = run_script(text, "-o", self.path, "--collect=coverage", "script.py")
        self.assertEqual(done.stdout, "[3, 4, 4]\n")
        self.assertEqual((done.stderr.count("\n"), "debugger" in done.stderr), (1, True), done.stderr)
        self.assertEqual(self.lines()[4], 1)


if __name__ == "__main__":
    unittest.main()

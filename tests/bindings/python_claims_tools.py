"""python_claims_tools.py: the package qprof inside of pytest and IPython, and profiles as rows."""
import importlib.util
import json
import os
import subprocess
import sys
import unittest

import qprof
from python_claims import HAS_MONITORING, TOOL, Recorded, call_leaf, leaf, numbers, report

os.environ["QPROF_TOOL"] = TOOL


def has(module):
    return importlib.util.find_spec(module) is not None


class Reader(Recorded):
    def test_functions_are_rows(self):
        with qprof.profile(output=self.path):
            call_leaf(7)
            list(numbers(3))
        rows = {row["name"]: row for row in qprof.read(self.path).functions}
        self.assertEqual((rows["leaf"]["calls"], rows["numbers"]["calls"], rows["numbers"]["resumes"]), (7, 1, 3))

    def test_the_tree_is_rows_with_parents_first(self):
        with qprof.profile(output=self.path):
            call_leaf(7)
        rows = qprof.read(self.path).tree
        by_id = {row["id"]: row for row in rows}
        row = next(row for row in rows if row["name"] == "leaf")
        parent = by_id[row["parent"]]
        self.assertEqual((row["calls"], row["line"], parent["name"]), (7, leaf.__code__.co_firstlineno, "call_leaf"))
        self.assertEqual(row["depth"], parent["depth"] + 1)

    def test_a_file_that_is_no_profile_raises_its_message(self):
        with open("no.qprof", "w") as file:
            file.write("no")
        with self.assertRaisesRegex(RuntimeError, "no.qprof"):
            qprof.read("no.qprof")

    def test_without_the_tool_the_message_says_so(self):
        done = subprocess.run([sys.executable, "-m", "qprof", "report"], capture_output=True, text=True,
                              env={**os.environ, "PATH": "/nowhere", "QPROF_TOOL": ""})
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("not installed", done.stderr)

    def test_commands_of_the_tool_can_be_given_to_the_package(self):
        with qprof.profile(output=self.path):
            call_leaf(2)
        text = subprocess.check_output([sys.executable, "-m", "qprof", "report", "--format=json", self.path])
        self.assertEqual(json.loads(text)["methods"], report(self.path, "--limit=20")["methods"])


SHOP = """\
def price(n, member):
    if member:
        n = n * 9 // 10
    return n

def never():
    pass
"""
TESTS = """\
import shop
def test_full():
    assert shop.price(10, False) == 10
def test_member():
    assert shop.price(10, True) == 9
def test_fails():
    assert shop.price(10, False) == 9
"""


@unittest.skipUnless(has("pytest"), "no pytest")
class Pytest(Recorded):
    def run_tests(self, *words):
        os.makedirs("shop_tests/src", exist_ok=True)
        for name, text in (("src/shop.py", SHOP), ("test_shop.py", TESTS)):
            with open("shop_tests/" + name, "w") as file:
                file.write(text)
        self.path = os.path.join("shop_tests", self.path)
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "qprof.pytest_plugin",
                               "-p", "no:cacheprovider", "--qprof=" + os.path.basename(self.path), *words],
                              cwd="shop_tests", capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"] + ":src"})

    def test_the_calls_of_a_test_run_are_recorded(self):
        done = self.run_tests()
        self.assertIn("1 failed, 2 passed", done.stdout)
        self.assertIn("qprof report", done.stdout)
        self.assertEqual(self.calls("price", "test_member"), [3, 1])

    def test_each_test_is_a_context_of_the_coverage(self):
        self.assertIn("1 failed, 2 passed", self.run_tests("--qprof-cover=src").stdout)
        text = subprocess.check_output([TOOL, "cover", "export", "--to=json", self.path])
        file, = json.loads(text)["files"]
        self.assertEqual({line["line"]: line["hits"] for line in file["lines"]}, {1: 1, 2: 3, 3: 1, 4: 3, 6: 1, 7: 0})
        text = subprocess.check_output([TOOL, "cover", "context", "src/shop.py:3", os.path.basename(self.path)],
                                       cwd="shop_tests", text=True)
        self.assertIn("test_shop.py::test_member", text)
        self.assertNotIn("test_full", text)

    @unittest.skipIf(HAS_MONITORING, "no hooks")
    def test_a_second_tracer_is_a_usage_error(self):
        with open("traced.py", "w") as file:
            file.write("import sys, pytest\nsys.settrace(lambda *_: None)\n"
                       "sys.exit(pytest.main(['-q', '-p', 'qprof.pytest_plugin', '--qprof-cover=.', '/dev/null']))\n")
        done = subprocess.run([sys.executable, "traced.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("qprof: a debugger", done.stderr)


CELLS = """\
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%load_ext qprof")
shell.run_cell("def f(n): return n if n < 2 else f(n - 1) + f(n - 2)")
shell.run_cell("%qprof f(12)")
shell.run_cell("%%qprof -o cell.qprof --time=adaptive\\nx = f(10)\\ny = 2\\n")
shell.run_cell("print(x + y)")
shell.run_cell("%qprof --time=never 1")
shell.run_cell("%qprof 1/0")
"""


@unittest.skipUnless(has("IPython"), "no IPython")
class IPython(Recorded):
    def test_a_line_and_a_cell_are_recorded(self):
        with open("cells.py", "w") as file:
            file.write(CELLS)
        done = subprocess.run([sys.executable, "cells.py"], capture_output=True, text=True,
                              env={**os.environ, "HOME": os.getcwd(), "IPYTHONDIR": os.getcwd() + "/ipython"})
        rows = [line.split()[:2] for line in done.stdout.splitlines()]
        self.assertEqual([row for row in rows if row[:1] == ["f"]], [["f", "465"], ["f", "177"]])
        self.assertIn(["57"], rows)
        self.assertIn("ZeroDivisionError", done.stdout)
        self.assertIn("qprof: -time=never", done.stdout)
        self.path = "cell.qprof"
        self.assertEqual(self.calls("f"), [177])


if __name__ == "__main__":
    unittest.main()

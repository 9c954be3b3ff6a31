"""python_claims.py: what the package qprof promises, each promise a test. Run by test_python.sh."""
import asyncio
import json
import os
import subprocess
import sys
import threading
import unittest
import _thread

import qprof

HAS_MONITORING = sys.version_info >= (3, 12)  # with which other profilers and debuggers do not matter
HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TOOL = os.path.join(os.environ["QPROF_BIN"], "qprof")


def report(path, *words):
    text = subprocess.run([TOOL, "report", "--format=json", "--limit=0", *words, path], check=True,
                          capture_output=True).stdout
    return json.loads(text)


def run_script(text, *words, name="script.py", python_options=(), **variables):
    """A script under python3 -m qprof run. Returns what it printed, and its status."""
    with open(name, "w") as file:
        file.write(text)
    return subprocess.run([sys.executable, *python_options, "-m", "qprof", "run", *words], capture_output=True,
                          text=True, env={**os.environ, **variables})


class Recorded(unittest.TestCase):
    """Each test records in a file of its own."""

    def setUp(self):
        self.path = self.id().rpartition(".")[2] + ".qprof"

    def figures(self, diagnostics=()):
        result = report(self.path)
        self.assertEqual(set(result["diagnostics"]), set(diagnostics))
        self.threads = result["threads"]
        return {m["name"].rpartition(".")[2]: m for m in result["methods"]}

    def calls(self, *names):
        figures = self.figures()
        return [figures[name]["calls"] if name in figures else 0 for name in names]

    def calls_and_resumes(self, *names):
        figures = self.figures()
        return [(figures[name]["calls"], figures[name]["resumes"]) for name in names]


def leaf():
    pass


def call_leaf(n):
    for _ in range(n):
        leaf()


def count_down(n):
    if n:
        count_down(n - 1)


def numbers(n):
    for i in range(n):
        yield i


def raise_from(depth):
    if depth == 0:
        raise ValueError
    raise_from(depth - 1)


class Calls(Recorded):
    def test_calls_are_counted_by_function(self):
        with qprof.profile(output=self.path):
            call_leaf(7)
            count_down(4)
        self.assertEqual(self.calls("call_leaf", "leaf", "count_down"), [1, 7, 5])

    def test_c_functions_have_the_name_of_their_type_or_module(self):
        with qprof.profile(output=self.path):
            words = []
            words.append(len("abc"))
            {}.get(1)
        names = {m["name"]: m["module"] for m in report(self.path)["methods"]}
        self.assertEqual(names["list.append"], "builtins")
        self.assertEqual(names["builtins.len"], "builtins")
        self.assertEqual(names["dict.get"], "builtins")

    def test_an_exception_ends_all_frames_up_to_its_handler(self):
        with qprof.profile(output=self.path):
            for _ in range(3):
                try:
                    raise_from(5)
                except ValueError:
                    leaf()
        self.assertEqual(self.calls("raise_from", "leaf"), [18, 3])
        nodes = json.loads(subprocess.check_output([TOOL, "tree", "--format=json", self.path]))
        leaf_id = next(m["id"] for m in nodes["methods"] if m["name"] == "leaf")
        self.assertEqual(sum(n["method"] == leaf_id for n in nodes["nodes"]), 1)

    def test_an_exception_of_a_c_function_ends_it(self):
        with qprof.profile(output=self.path):
            for _ in range(3):
                try:
                    int.from_bytes(1)
                except TypeError:
                    leaf()
        self.assertEqual(self.calls("leaf", "from_bytes"), [3, 3])

    def test_a_generator_is_called_once_and_resumed(self):
        with qprof.profile(output=self.path):
            for _ in numbers(10):
                leaf()
        figure = self.figures()["numbers"]
        self.assertEqual((figure["calls"], figure["resumes"]), (1, 10))

    def test_a_generator_that_is_closed_or_gets_an_exception_is_resumed(self):
        with qprof.profile(output=self.path):
            generator = numbers(10)
            next(generator)
            try:
                generator.throw(ValueError)
            except ValueError:
                leaf()
            generator = numbers(10)
            next(generator)
            generator.close()
        figure = self.figures()["numbers"]
        # 3.13 ends a generator that catches nothing without continuing it
        self.assertEqual((figure["calls"], figure["resumes"]), (2, 1 if sys.version_info[:2] == (3, 13) else 2))

    def test_a_generator_continues_after_an_inner_one_that_caught_an_exception(self):
        def inner():
            try:
                yield 1
            except ValueError:
                return 2

        def outer():
            yield (yield from inner())
            leaf()

        with qprof.profile(output=self.path):
            generator = outer()
            values = next(generator), generator.throw(ValueError)
            leaf()
            for _ in generator:
                pass
        self.assertEqual(values, (1, 2))
        self.assertEqual(self.calls_and_resumes("inner", "outer", "leaf"), [(1, 1), (1, 2), (2, 0)])

    def test_a_generator_that_was_open_before_may_be_left_out(self):
        def outer():
            qprof.start(output=self.path, open_frames=False)
            yield 1
            leaf()

        for _ in outer():
            leaf()
        qprof.stop()
        self.assertEqual(self.calls_and_resumes("outer", "leaf"), [(0, 1), (2, 0)])

    def test_a_task_is_called_once_and_resumed(self):
        async def turn(n):
            for _ in range(n):
                await asyncio.sleep(0)

        async def all_turns():
            await asyncio.gather(turn(3), turn(4))

        with qprof.profile(output=self.path):
            asyncio.run(all_turns())
        figures = self.figures()
        self.assertEqual((figures["turn"]["calls"], figures["turn"]["resumes"]), (2, 7))
        self.assertEqual(figures["all_turns"]["calls"], 1)

    def requests(self):
        """[requests, failed, cut] of each endpoint, and calls below it."""
        self.figures()
        listed = json.loads(subprocess.check_output([TOOL, "requests", "--format=json", self.path]))["endpoints"]
        below = {e["endpoint"]: {m["name"].rpartition(".")[2]: m["hits"] for m in
                                 report(self.path, "--endpoint=" + e["endpoint"])["methods"]} for e in listed}
        return {e["endpoint"]: [e["requests"], e["failed"], e["cut"]] for e in listed}, below, listed

    def test_requests_are_counted_by_endpoint(self):
        def serve(i):
            with qprof.request("GET /odd" if i % 2 else "GET /even", HEADER) as request:
                call_leaf(2)
                if i % 5 == 0:
                    raise_from(2)
                if i % 5 == 1:
                    request.fail()
            leaf()

        with qprof.profile(output=self.path, check_host=True):
            for i in range(100):
                try:
                    serve(i)
                except ValueError:
                    pass
        counts, below, listed = self.requests()
        self.assertEqual(counts, {"GET /even": [50, 20, 0], "GET /odd": [50, 20, 0]})
        for calls in below.values():
            self.assertEqual((calls["call_leaf"], calls["leaf"], calls["raise_from"]), (50, 100, 30))
        self.assertEqual(self.calls("leaf", "serve"), [280, 100])
        self.assertEqual({e["slowest_trace"] for e in listed}, {HEADER[3:35]})

    def test_requests_may_be_nested_and_in_threads(self):
        @qprof.request("GET /inner")
        def inner(n):
            call_leaf(n)
            return n

        def outer():
            with qprof.request("GET /outer"):
                self.assertEqual(inner(3), 3)
                leaf()

        with qprof.profile(output=self.path, check_host=True):
            outer()
            threads = [threading.Thread(target=outer) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with self.assertRaises(TypeError):
                inner("x")
        counts, below, _ = self.requests()
        self.assertEqual(counts, {"GET /outer": [5, 0, 0], "GET /inner": [6, 1, 0]})
        self.assertEqual((below["GET /outer"]["leaf"], below["GET /inner"]["leaf"]), (20, 15))

    def test_a_request_in_no_recorded_call(self):
        qprof.start(output=self.path, open_frames=False, check_host=True)
        for _ in range(3):
            with qprof.request("GET /first", "no header"):
                call_leaf(2)
            leaf()
        qprof.stop()
        counts, below, _ = self.requests()
        self.assertEqual((counts, below["GET /first"]["leaf"]), ({"GET /first": [3, 0, 0]}, 6))

    def test_a_request_that_awaits_is_cut(self):
        async def serve():
            with qprof.request("GET /slow"):
                leaf()
                await asyncio.sleep(0)
                leaf()

        with self.assertRaises(TypeError):
            qprof.request("GET /slow")(serve)
        with qprof.profile(output=self.path):
            asyncio.run(serve())
        listed = json.loads(subprocess.check_output([TOOL, "requests", "--format=json", self.path]))["endpoints"]
        self.assertEqual([(e["requests"], e["failed"], e["cut"]) for e in listed], [(1, 0, 1)])

    def test_requests_without_a_run(self):
        with qprof.request("GET /"):
            leaf()
        with self.assertRaises(TypeError):
            with qprof.request(None):
                pass

    def test_open_frames_are_resumes_and_no_calls(self):
        def outer():
            qprof.start(output=self.path)
            leaf()
            qprof.stop()

        outer()
        figures = self.figures()
        self.assertEqual((figures["outer"]["calls"], figures["outer"]["resumes"]), (0, 1))
        self.assertEqual(figures["leaf"]["calls"], 1)
        self.assertGreaterEqual(figures["outer"]["total"], figures["leaf"]["total"])

    def test_recording_may_begin_in_a_function_and_end_in_its_caller(self):
        def begin():
            leaf()
            qprof.start(output=self.path, open_frames=False)
            leaf()

        begin()
        call_leaf(2)
        qprof.stop()
        self.assertEqual(self.calls("begin", "call_leaf", "leaf"), [0, 1, 3])

    def test_code_that_is_compiled_again_is_one_function(self):
        with qprof.profile(output=self.path):
            for _ in range(3):
                names = {}
                exec(compile("def again(): pass", "again.py", "exec"), names)
                names["again"]()
        self.assertEqual(self.calls("again"), [3])

    def test_the_package_itself_is_not_recorded(self):
        with qprof.profile(output=self.path):
            qprof.is_running()
            qprof.context("x")
        folder = os.path.dirname(qprof.__file__)
        own = [m["name"] for m in report(self.path)["methods"]
               if m["file"].startswith(folder) or m["module"].startswith("qprof")]
        self.assertEqual(own, [])


class Control(Recorded):
    def test_a_second_run_has_its_own_figures(self):
        for n in (3, 5):
            self.path = f"second{n}.qprof"
            with qprof.profile(output=self.path):
                call_leaf(n)
            self.assertEqual(self.calls("leaf"), [n])

    def test_a_decorated_function_is_recorded_at_each_call(self):
        @qprof.profile(output=self.path)
        def work(n):
            """Does it."""
            call_leaf(n)
            return n

        self.assertEqual((work(2), work(3), work.__doc__), (2, 3, "Does it."))
        self.assertEqual(self.calls("work", "leaf"), [1, 2])
        self.path += ".1"
        self.assertEqual(self.calls("work", "leaf"), [1, 3])

    def test_a_pause_is_not_recorded(self):
        with qprof.profile(output=self.path):
            call_leaf(2)
            qprof.pause()
            call_leaf(100)
            qprof.resume()
            call_leaf(3)
        figure = self.figures()["leaf"]
        self.assertEqual((figure["hits"], figure["skips"]), (5, 100))

    def test_a_run_can_be_saved_while_it_goes_on(self):
        with qprof.profile(output=self.path):
            call_leaf(2)
            self.assertTrue(qprof.save("saved.qprof"))
            call_leaf(3)
        self.assertEqual(self.calls("leaf"), [5])
        self.path = "saved.qprof"
        self.assertEqual(self.figures(diagnostics=["still_live"])["leaf"]["calls"], 2)

    def test_a_second_start_and_wrong_options_raise(self):
        with self.assertRaisesRegex(RuntimeError, "time"):
            qprof.start(time="never")
        self.assertFalse(qprof.is_running())
        with qprof.profile(output=self.path):
            with self.assertRaisesRegex(RuntimeError, "already"):
                qprof.start(output="other.qprof")
        qprof.stop()

    def test_values_of_options_may_have_blanks_and_quotes(self):
        self.path = 'a "b" \\c.qprof'
        with qprof.profile(output=self.path):
            leaf()
        self.assertEqual(self.calls("leaf"), [1])

    @unittest.skipUnless(HAS_MONITORING, "hooks")
    def test_other_profilers_and_tracers_record_beside_it(self):
        import cProfile
        profiler, lines = cProfile.Profile(), []
        with qprof.profile(output=self.path):
            profiler.runcall(call_leaf, 2)
            sys.settrace(lambda *_: lambda frame, event, _: lines.append(frame.f_lineno))
            call_leaf(1)
            sys.settrace(None)
        counts = [e.callcount for e in profiler.getstats() if getattr(e.code, "co_name", "") == "leaf"]
        self.assertEqual((counts, len(lines) > 2), ([2], True))
        self.assertEqual(self.calls("leaf"), [3])

    @unittest.skipIf(HAS_MONITORING, "no hooks")
    def test_another_profiler_is_not_disturbed(self):
        seen = []
        sys.setprofile(lambda *event: seen.append(event))
        try:
            with self.assertRaisesRegex(RuntimeError, "another profiler"):
                qprof.start(output=self.path)
            leaf()
        finally:
            sys.setprofile(None)
        self.assertTrue(any(frame.f_code is leaf.__code__ for frame, *_ in seen))

    @unittest.skipIf(HAS_MONITORING, "no hooks")
    def test_a_profiler_that_takes_the_hook_works_and_is_reported(self):
        done = run_script("import cProfile\ndef leaf(): pass\nleaf()\n"
                          "p = cProfile.Profile()\np.runcall(leaf)\nleaf()\n"
                          "print([e.callcount for e in p.getstats() if getattr(e.code, 'co_name', '') == 'leaf'])",
                          "-o", self.path, "script.py")
        self.assertEqual((done.returncode, done.stdout), (0, "[1]\n"))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("another profiler", done.stderr)
        self.assertEqual(self.calls("leaf"), [1])

    def test_a_debugger_keeps_its_events(self):
        lines = []

        def trace(frame, event, _):
            if event == "line" and frame.f_code is call_leaf.__code__:
                lines.append(frame.f_lineno)
            return trace

        sys.settrace(trace)
        try:
            with qprof.profile(output=self.path):
                call_leaf(2)
        finally:
            sys.settrace(None)
        self.assertEqual(len(lines), 5)  # for, leaf, for, leaf, for
        self.assertEqual(self.calls("leaf"), [2])


class Threads(Recorded):
    def test_each_thread_has_its_own_calls(self):
        with qprof.profile(output=self.path):
            threads = [threading.Thread(target=call_leaf, args=(n,)) for n in (10, 20, 30)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(self.calls("call_leaf", "leaf"), [3, 60])
        self.assertEqual(len(self.threads), 4)

    def test_a_thread_without_the_module_threading_is_recorded(self):
        lock = _thread.allocate_lock()

        def work():
            call_leaf(5)
            lock.release()

        with qprof.profile(output=self.path):
            lock.acquire()
            _thread.start_new_thread(work, ())
            lock.acquire()
        self.assertEqual(self.calls("work", "leaf"), [1, 5])

    def test_a_thread_that_runs_already_is_recorded(self):
        begun, go = threading.Event(), threading.Event()

        def work():
            begun.set()
            go.wait()
            call_leaf(5)

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        with qprof.profile(output=self.path):
            go.set()
            thread.join()
        figures = self.figures()
        self.assertEqual(figures["leaf"]["calls"], 5)
        self.assertEqual((figures["work"]["calls"], figures["work"]["resumes"]), (0, 1))

    def test_a_thread_may_outlive_the_run(self):
        go = threading.Event()
        thread = threading.Thread(target=lambda: (go.wait(), call_leaf(3)))
        with qprof.profile(output=self.path):
            thread.start()
        go.set()
        thread.join()
        self.assertNotIn("leaf", self.figures(diagnostics=["still_live"]))

    def test_many_threads_in_turn(self):
        with qprof.profile(output=self.path):
            for _ in range(100):
                thread = threading.Thread(target=call_leaf, args=(2,))
                thread.start()
                thread.join()
        self.assertEqual(self.calls("leaf"), [200])


FORKS = """
import os
def leaf(): pass
leaf()
child = os.fork()
if child == 0:
    leaf(); leaf()
else:
    assert os.waitpid(child, 0)[1] == 0
    leaf(); leaf(); leaf()
"""


class Processes(Recorded):
    def test_a_forked_child_records_nothing(self):
        self.assertEqual(run_script(FORKS, "-o", self.path, "script.py").returncode, 0)
        self.assertEqual(self.calls("leaf"), [4])
        self.assertEqual([name for name in os.listdir() if name.startswith(self.path + ".")], [])

    def test_a_forked_child_that_follows_has_a_file_of_its_own(self):
        self.assertEqual(run_script(FORKS, "-o", self.path, "--follow-child-processes", "script.py").returncode, 0)
        self.assertEqual(self.calls("leaf"), [4])
        self.path, = [name for name in os.listdir() if name.startswith(self.path + ".")]
        self.assertEqual(self.calls("leaf"), [2])

    def test_a_script_runs_as_with_python(self):
        text = ("import sys, os, atexit\natexit.register(print, 'end')\n"
                "print(sys.argv, __name__, __file__, sys.path[0] == os.getcwd())\n"
                "import __main__\nprint(__main__.__dict__ is globals())\n")
        done = run_script(text, "-o", self.path, "script.py", "a")
        plain = subprocess.run([sys.executable, "script.py", "a"], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), (plain.stdout, ""))

    def test_an_error_is_shown_as_without_recording(self):
        text = "def f():\n    raise ValueError('no')\nf()\n"
        done = run_script(text, "-o", self.path, "script.py")
        plain = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, plain.stderr))
        self.assertEqual(self.calls("f"), [1])

    def test_the_status_of_the_script_is_kept(self):
        self.assertEqual(run_script("import sys\nsys.exit(7)", "-o", self.path, "script.py").returncode, 7)
        self.assertTrue(os.path.exists(self.path))

    def test_a_module_is_run_by_its_name(self):
        done = run_script("import sys\nprint(__name__, sys.argv[1:])", "-o", self.path, "-m", "by_name", "x", name="by_name.py")
        self.assertEqual((done.stdout, done.stderr), ("__main__ ['x']\n", ""))

    def test_threads_after_the_end_of_the_script_are_recorded(self):
        text = ("import threading, time\ndef late():\n    time.sleep(0.05)\n    leaf()\ndef leaf(): pass\n"
                "threading.Thread(target=late).start()\n")
        self.assertEqual(run_script(text, "-o", self.path, "script.py").returncode, 0)
        self.assertEqual(self.calls("leaf", "late"), [1, 1])

    def test_options_come_from_the_environment_too(self):
        run_script("pass", "script.py", QPROF=f"-output={self.path} -time=none")
        self.assertTrue(os.path.exists(self.path))

    def test_mistakes_of_the_command_are_one_line(self):
        for words, text in (((), "nothing to run"), (("-x",), "unknown option -x"), (("gone.py",), "gone.py: No such file"),
                            (("-m", "gone"), "gone"), (("--time=never", "script.py"), "time")):
            done = run_script("pass", *words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()

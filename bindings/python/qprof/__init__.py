"""Exact profiles of Python programs.

    with qprof.profile(output="run.qprof"):
        work()

    python3 -m qprof run script.py        the same for a whole program

The figures are in the file, which the program qprof shows: qprof report run.qprof. Options are those of
docs/options.md, as keywords: time="adaptive", memory_limit="1G". Guide: docs/python.md.
"""
import atexit
import functools
import inspect
import os
import sys
import threading

from . import _cost, _cover, _monitor, _recorder

__all__ = ["profile", "start", "stop", "is_running", "pause", "resume", "save", "context", "read"]
__version__ = _recorder.version()

is_running = _recorder.is_running
pause = _recorder.pause
resume = _recorder.resume


_COVERS_ALONE = 2
_HOOKS = {"profile": "another profiler has replaced the profile hook of a thread (sys.setprofile): the rest of its calls",
          "trace": "a debugger or another tracer has replaced the trace hook of a thread (sys.settrace): the rest of its lines"}


def _say_conflict(hook):
    print(f"qprof: {_HOOKS[hook]} is not recorded", file=sys.stderr)


def _option(name, value):
    text = {True: "yes", False: "no"}.get(value, str(os.fspath(value) if isinstance(value, os.PathLike) else value))
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'-{name.replace("_", "-")}="{quoted}"'


def _options_text(options, named):
    words = [options] if options else []
    return " ".join(words + [_option(name, value) for name, value in named.items()])


def _host():
    return "Python " + sys.version.split()[0]


def _start(text, open_frames, lines):
    _cover.begin()
    records = _recorder.start(text, open_frames, lines)
    if not records:
        return
    has_calls, has_lines = records != _COVERS_ALONE, _recorder.wants_lines()
    try:
        if _monitor.IS_USED:
            _monitor.begin(has_calls, has_lines)
        elif not has_calls and threading.gettrace() is None:
            threading.settrace(_recorder.trace_thread)
        if has_calls and not has_lines and not _monitor.IS_USED:
            _recorder.measure(_cost.loop, _cost.nothing, _recorder.nothing, None)
        _recorder.watch()
    except RuntimeError:
        stop()
        raise


def start(options="", *, open_frames=True, lines=False, **named):
    """Begin a run.

    options      text of options, "-output=run.qprof -time=adaptive"
    open_frames  functions that are open now are recorded too, from now on: as resumes, not as calls
    lines        executions of lines are counted too, which takes much longer
    named        options as keywords, collect="coverage"
    Raises RuntimeError if a run is on already, or the options are wrong.
    """
    script = sys.argv[0] if sys.argv and sys.argv[0] != "-c" else None
    _recorder.set_program(script, sys.argv[1:], _host())
    _start(_options_text(options, named), open_frames, lines)


def stop():
    """End the run and write its file. If no run is on, nothing happens."""
    if _recorder.is_running():
        _monitor.end()
        _recorder.unwatch()
        if threading.gettrace() is _recorder.trace_thread:
            threading.settrace(None)
        if _recorder.has_option("cover-unloaded"):
            _cover.register_unloaded()
    _recorder.stop()


def _forked():
    if not _recorder.is_continued():
        _monitor.end()
        _recorder.stop()


def save(name=None):
    """Write what was recorded so far, and continue. Returns whether it was written."""
    return _recorder.save(None if name is None else os.fspath(name))


def context(name):
    """What runs from now on belongs to a context, for example a test; None: to no context."""
    return _recorder.context(name)


class profile:
    """Record a block, or each call of a function: with qprof.profile(output="run.qprof"): ... or
    @qprof.profile(output="run.qprof").

    Parameters are those of start().
    """

    def __init__(self, options="", **named):
        self.options = options
        self.named = named

    def __enter__(self):
        start(self.options, **self.named)
        return self

    def __exit__(self, *_):
        stop()

    def __call__(self, function):
        @functools.wraps(function)
        def recorded(*arguments, **keywords):
            with self:
                return function(*arguments, **keywords)
        return recorded


class request:
    """A request of a server: with qprof.request("GET /users/:id", header): ..., or for each call of a function
    @qprof.request("GET /users").

    endpoint     the name of the route: what runs meanwhile is shown below it
    traceparent  the header of W3C Trace Context; None or a wrong one: no ids
    An exception counts it as failed; so does fail(). A request must not await: it is cut there.
    """

    def __init__(self, endpoint, traceparent=None):
        self.endpoint = endpoint
        self.traceparent = traceparent
        self.has_failed = False

    def fail(self):
        """It is counted as failed, though no exception leaves it."""
        self.has_failed = True

    def __enter__(self):
        _recorder.enter_request(self.endpoint, self.traceparent)
        return self

    def __exit__(self, error, *_):
        _recorder.leave_request(self.has_failed or error is not None)

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError("qprof.request: a function that is suspended is no request")

        @functools.wraps(function)
        def recorded(*arguments, **keywords):
            with request(self.endpoint, self.traceparent):
                return function(*arguments, **keywords)
        return recorded


def read(path):
    """A profile as rows, for data frames: see qprof.reader."""
    from . import reader
    return reader.read(path)


def load_ipython_extension(shell):
    """%load_ext qprof"""
    from . import ipython
    ipython.load(shell)


_recorder.configure(os.path.dirname(os.path.abspath(__file__)) + os.sep, _say_conflict,
                    _cover.is_covered)
atexit.register(stop)
os.register_at_fork(after_in_child=_forked)

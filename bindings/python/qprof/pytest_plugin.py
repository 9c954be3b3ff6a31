"""pytest records the run of the tests, and which test ran what.

    pytest --qprof=tests.qprof                    calls and times
    pytest --qprof=tests.qprof --qprof-cover=src  coverage of the files below src as well
"""
import os

import pytest

import qprof

_FILE = "qprof_file"


def pytest_addoption(parser):
    group = parser.getgroup("qprof", "profiles and coverage by qprof")
    group.addoption("--qprof", dest=_FILE, metavar="FILE", help="record the tests into FILE")
    group.addoption("--qprof-cover", dest="qprof_cover", metavar="FOLDER", action="append",
                    help="record coverage of the files below FOLDER, without times unless --qprof-times is given")
    group.addoption("--qprof-times", dest="qprof_times", action="store_true", help="record times beside coverage")
    group.addoption("--qprof-options", dest="qprof_options", metavar="TEXT", default="",
                    help="options of the run: '-time=adaptive -cover-unloaded'")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    options = early_config.known_args_namespace
    file, folders = getattr(options, _FILE), options.qprof_cover
    if not file and not folders:
        return
    named = {"output": file or "tests.qprof"}
    if folders:
        named["collect"] = "profile,coverage" if options.qprof_times else "coverage"
        root = os.path.commonpath([os.path.realpath(folder) for folder in folders])
        named["cover_root"] = root
        if len(folders) > 1:
            named["cover_include"] = ":".join(os.path.relpath(os.path.realpath(folder), root) for folder in folders)
    try:
        qprof.start(options.qprof_options, open_frames=False, **named)
    except RuntimeError as error:
        raise pytest.UsageError(f"qprof: {error}") from None
    early_config.add_cleanup(qprof.stop)
    early_config.pluginmanager.register(_Contexts(named["output"], bool(folders)), "qprof-contexts")


class _Contexts:
    """Each test is a context."""

    def __init__(self, file, has_coverage):
        self.file = file
        self.command = "cover report" if has_coverage else "report"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        qprof.context(item.nodeid)
        yield
        qprof.context(None)

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(f"qprof: the run is recorded in {self.file}; qprof {self.command} {self.file}")

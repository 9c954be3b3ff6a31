"""common.py: what native.py and interpreters.py share: rows, commands with bounds, statistics."""

import os
import pathlib
import shutil
import signal
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SECONDS_MOST = 120  # of one process


class Missing(Exception):
    """A peer that cannot be built or run here; the text is the reason."""


class Wrong(Exception):
    """A peer that did not record what the program did."""


class Row:
    """One line of a table.

    name    what is measured, with the mode
    group   rows that do the same: those are compared
    base    name of the row that is the same program, not recorded
    folder  of its own, for its program; what it records is in folder / "run"
    """

    def __init__(self, name, group, base, is_ours=False, note=""):
        self.name, self.group, self.base = name, group, base
        self.is_ours, self.note = is_ours, note
        self.folder = None
        self.checked = ""  # what the check found

    def build(self):
        """Make what run() needs; raises Missing."""

    def run(self, batches):
        """Run the programs once: {program: figure, ..., 'calls': number}."""
        raise NotImplementedError

    def check(self, result):
        """Compare the records of the last run with its calls; returns a text, raises Wrong."""
        return ""

    def empty_records(self):
        """The folder of the records, empty."""
        shutil.rmtree(self.records, ignore_errors=True)
        self.records.mkdir()

    @property
    def records(self):
        return self.folder / "run"


def environment(**more):
    """The caller's, without what would change how a peer records."""
    unwanted = ("QPROF", "LUA_", "PYTHON", "PERL5", "NYTPROF", "XDEBUG", "RUBY", "LTTNG", "XRAY")
    words = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    words.update(LANG="C.UTF-8", LC_ALL="C.UTF-8", **more)
    return words


def command(words, folder, env=None, seconds=SECONDS_MOST):
    """Run a command in its own process group; its output. Raises Missing if it fails or lasts."""
    try:
        process = subprocess.Popen(
            [str(w) for w in words], cwd=folder, env=env or environment(), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            errors="replace", start_new_session=True)
    except OSError as error:
        raise Missing(f"{words[0]}: {error.strerror}") from error
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Missing(f"more than {seconds} s") from None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    if process.returncode:
        said = [line for line in (errors + out).splitlines() if line.strip()]
        telling = [line for line in said if "error:" in line or "undefined reference" in line]
        worst = (telling or said[-1:] or ["no output"])[0]
        raise Missing(f"{pathlib.Path(str(words[0])).name} failed: {worst.strip()[:150]}")
    return out


def expect(found, wanted, what="calls"):
    """The text of a check that every call was recorded."""
    if found != wanted:
        raise Wrong(f"{found:,} of {wanted:,} {what}")
    return f"all {wanted:,} {what}"


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def lower_decile(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 10]

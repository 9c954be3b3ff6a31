"""IPython: %load_ext qprof, then %qprof STATEMENT, or %%qprof in a cell."""
import os
import tempfile

import qprof

from . import _recorder, _tool

_ROWS = 20


def _magic(shell, line, cell=None):
    """Record a statement, or a cell, and show where its time went.

    %qprof [-o FILE] [--NAME=VALUE ...] STATEMENT
    %%qprof [-o FILE] [--NAME=VALUE ...]

    -o FILE keeps the profile; the other options are those of a run, --time=adaptive.
    """
    output, options = None, []
    while line.startswith("-"):
        word, _, line = line.partition(" ")
        line = line.lstrip()
        if word == "-o":
            output, _, line = line.partition(" ")
        else:
            options.append("-" + word.lstrip("-"))
    folder = None if output else tempfile.TemporaryDirectory()
    path = output or os.path.join(folder.name, "cell.qprof")
    try:
        _record(shell, shell.transform_cell(line if cell is None else cell), " ".join(options), path)
        if _tool.find():
            print(_tool.run("report", f"--limit={_ROWS}", path), end="")
        if output:
            print(f"The profile is in {output}.")
    except RuntimeError as error:
        print(f"qprof: {error}")
    finally:
        if folder:
            folder.cleanup()


def _record(shell, text, options, path):
    try:
        code = compile(text, shell.compile.cache(text), "exec")
    except SyntaxError:
        shell.showsyntaxerror()
        return
    qprof.start(options, output=path, open_frames=False)
    try:
        _recorder.execute(code, shell.user_ns)
    except BaseException:
        qprof.stop()
        shell.showtraceback()
    finally:
        qprof.stop()


def load(shell):
    def qprof_magic(line, cell=None):
        _magic(shell, line, cell)
    qprof_magic.__doc__ = _magic.__doc__
    shell.register_magic_function(qprof_magic, "line_cell", "qprof")

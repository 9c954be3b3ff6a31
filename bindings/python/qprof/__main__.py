"""python3 -m qprof run [OPTION...] SCRIPT|-m MODULE [ARGUMENT...]

Every other command is one of the program qprof, which must be installed: python3 -m qprof report FILE.
"""
import io
import os
import runpy
import sys
import types

from . import _host, _option, _recorder, _start, _tool

USAGE = """\
Usage: python3 -m qprof run [OPTION...] SCRIPT [ARGUMENT...]
       python3 -m qprof run [OPTION...] -m MODULE [ARGUMENT...]
       python3 -m qprof COMMAND ...             a command of the program qprof: report, tree, html, ...

  -o FILE            the profile; default: the name of the script, ending in .qprof
  --lines            count executions of lines, which takes much longer; coverage does it as well
  --NAME=VALUE       any option of a run: --time=adaptive, --collect=coverage (docs/options.md)

Options of the variable QPROF apply too; those of the command line take precedence.
"""


def _fail(text):
    print("qprof: " + text, file=sys.stderr)
    sys.exit(2)


def _load_script(path):
    """Code and globals of a script, or of a folder or archive with a __main__.py."""
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.path.insert(0, path)
        return _load_module("__main__")
    path = os.path.abspath(path)
    try:
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as error:
        _fail(f"{path}: {error.strerror}")
    sys.path.insert(0, os.path.dirname(path))
    return code, {"__file__": path, "__spec__": None, "__package__": None, "__cached__": None, "__loader__": None}


def _load_module(name):
    try:
        _, spec, code = runpy._get_module_details(name)
    except ImportError as error:
        _fail(str(error))
    return code, {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent,
                  "__cached__": spec.cached, "__loader__": spec.loader}


def _execute(code, names):
    module = types.ModuleType("__main__")
    module.__dict__.update(names)
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    try:
        _recorder.execute(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _run(words):
    options, output, lines = [], None, False
    while words and words[0].startswith("-") and words[0] != "-m":
        word = words.pop(0)
        if word in ("-h", "--help"):
            print(USAGE, end="")
            return
        if word == "-o" and words:
            output = words.pop(0)
        elif word == "--lines":
            lines = True
        elif word.startswith("--") and len(word) > 2:
            name, has_value, value = word[2:].partition("=")
            options.append(_option(name, value) if has_value else "-" + name)
            if name in ("output", "filename-prefix"):
                output = ""
        else:
            _fail(f"unknown option {word}; see python3 -m qprof run --help")
    is_module = words[:1] == ["-m"]
    if is_module:
        words.pop(0)
    if not words:
        _fail("nothing to run; see python3 -m qprof run --help")
    if output is None and "output" not in os.environ.get("QPROF", ""):
        output = os.path.splitext(os.path.basename(words[0]))[0] + ".qprof"
    if output:
        options.append(_option("output", output))
    if is_module:
        sys.path[0] = os.getcwd()
        code, names = _load_module(words[0])
        sys.argv[:] = [names["__file__"]] + words[1:]
    else:
        del sys.path[0]
        code, names = _load_script(words[0])
        sys.argv[:] = words
    _recorder.set_program(words[0], words[1:], _host())
    try:
        _start(" ".join(options), False, lines)
    except RuntimeError as error:
        _fail(str(error))
    _execute(code, names)


def main():
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        sys.exit(0 if words else 2)
    if words[0] == "run":
        _run(words[1:])
        return
    tool = _tool.find()
    if tool is None:
        _fail("the program qprof is not installed, or not in PATH (nor named by QPROF_TOOL)")
    os.execv(tool, [tool] + words)


main()

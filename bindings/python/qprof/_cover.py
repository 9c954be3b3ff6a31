"""Which files are covered, by the options -cover-root, -cover-include, -cover-exclude and -cover-unloaded."""
import os
import re
import sysconfig
import warnings

from . import _recorder

_LIBRARIES = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep
                    for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {"/usr/lib/python3/"})


def _pattern(globs):
    """A regular expression for globs: *, ?, [a-z], and ** for any number of folders. A folder is all in it."""
    words = []
    for glob in re.split("[:,]", globs):
        text, at = "", 0
        for part in re.finditer(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^]]*\]|\\.|.", glob):
            word = part.group()
            text += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(word) or (
                "[" + word[1:-1].replace("!", "^", 1 if word[1] == "!" else 0) + "]" if word[0] == "[" and len(word) > 1
                else re.escape(word[-1]))
            at = part.end()
        if at:
            words.append(text.rstrip("/"))
    return re.compile("(?:" + "|".join(words) + ")(?:/.*)?") if words else None


class _Choice:
    """The files of one run."""

    def __init__(self):
        root = _recorder.option("cover-root")
        self.root = os.path.realpath(root or ".") + os.sep
        self.has_root = bool(root)
        self.included = _pattern(_recorder.option("cover-include"))
        self.excluded = _pattern(_recorder.option("cover-exclude"))

    def has(self, file):
        if file.startswith("<"):
            return False
        path = os.path.realpath(file)
        is_below = path.startswith(self.root)
        shown = path[len(self.root):] if is_below else path
        if self.has_root and not is_below:
            return False
        if self.included is None and not self.has_root and path.startswith(_LIBRARIES):
            return False
        return not (self.included and not self.included.fullmatch(shown) or
                    self.excluded and self.excluded.fullmatch(shown))


_choice = None
_known = {}  # files that were met, and whether they are covered


def _register(file, module, has_all_code):
    """Record the text of a file, and its functions if it was loaded before the run or never."""
    try:
        with open(file, "rb") as source:
            text = source.read()
        _recorder.register_source(file, text)
        if not has_all_code:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _recorder.register_code(compile(text, file, "exec", dont_inherit=True), module)
    except (OSError, SyntaxError, ValueError):
        pass


def is_covered(file, module, has_all_code):
    """Whether a file is covered."""
    global _choice
    answer = _known.get(file)
    if answer is None:
        if _choice is None:
            _choice = _Choice()
        answer = _known[file] = _choice.has(file)
        if answer:
            _register(file, module, has_all_code)
    return answer


def begin():
    """A run begins."""
    global _choice
    _choice = None
    _known.clear()


def register_unloaded():
    """Register the files below the root that were never loaded."""
    root = _choice.root if _choice else os.path.realpath(".") + os.sep
    known = {os.path.realpath(file) for file in list(_known)}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and os.path.realpath(path) not in known:
                is_covered(path, name[:-3], False)

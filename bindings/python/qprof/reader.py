"""Profiles as rows, for data frames: pandas.DataFrame(qprof.read("run.qprof").functions).

The figures are those of the program qprof, which does the reading: docs/measurement.md defines them, and
docs/json.md lists the names. Times are nanoseconds.
"""
import functools
import json
import os

from . import _tool


class Profile:
    """A profile. Each property is a list of rows, which are dictionaries; it is read when it is first asked for."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._report = json.loads(_tool.run("report", "--format=json", "--limit=0", self.path))

    @property
    def run(self):
        """What was recorded: program, arguments, times, losses. A dictionary."""
        return self._report["run"]

    @property
    def functions(self):
        """Every function, with calls, resumes, self, total and the rest."""
        return self._report["methods"]

    @property
    def threads(self):
        return self._report["threads"]

    @functools.cached_property
    def tree(self):
        """Every call path: id, parent, depth, name, file, line, calls, self, total. Parents come first."""
        tree = json.loads(_tool.run("tree", "--format=json", "--limit=0", self.path))
        methods = {m["id"]: m for m in tree["methods"]}
        depths, rows = {}, []
        for node in tree["nodes"]:
            depths[node["id"]] = depth = depths.get(node["parent"], -1) + 1
            method = methods[node.pop("method")]
            rows.append({**node, "depth": depth, "name": method["name"], "file": method["file"],
                         "line": method["line"]})
        return rows

    @functools.cached_property
    def lines(self):
        """Source lines with counts or times, with the name of their file."""
        files = json.loads(_tool.run("annotate", "--format=json", self.path))["files"]
        return [{"file": file["file"], **line} for file in files for line in file["lines"]]

    def _cover(self, what):
        files = json.loads(_tool.run("cover", "export", "--to=json", self.path))["files"]
        return [{"file": file["path"], **row} for file in files for row in file[what]]

    @functools.cached_property
    def covered_lines(self):
        """Lines with code: hits, blocks, branches; of a run with coverage."""
        return self._cover("lines")

    @functools.cached_property
    def covered_branches(self):
        """The ways of every branch: line, to_line (0: out of the code), hits."""
        return self._cover("branches")


def read(path):
    """Read a profile. Raises RuntimeError if it cannot be read, or the program qprof is not installed."""
    return Profile(path)

"""python_cover.py coverage|qprof OUTPUT ROOT SCRIPT|-m MODULE [ARGUMENT...]: coverage of the files below ROOT.

With coverage, OUTPUT is JSON: of each file what coverage.py has measured, and how it maps lines to statements.
python_cover.py compare COVERAGE.json QPROF.json: the same from `qprof cover export --to=json`. Executed lines must
be the same lines, statements and missed statements the same, and so must branches, executed and missed.
"""
import ast
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def record_coverage(output, root, code, names):
    import coverage
    from qprof import _recorder
    cov = coverage.Coverage(data_file=None, config_file=False, branch=True, include=[root + "/*"])
    cov.start()
    try:
        _recorder.execute(code, names)
    except SystemExit:
        pass
    finally:
        cov.stop()
    files = {}
    for file in cov.get_data().measured_files():
        analysis = cov._analyze(file)
        parser = cov._get_file_reporter(file).parser
        possible = getattr(analysis, "arc_possibilities", None) or analysis.arc_possibilities_set
        possible = possible() if callable(possible) else possible
        n_lines = parser.text.count("\n") + 1
        files[file] = {
            "lines": sorted(cov.get_data().lines(file)),
            "statements": sorted(analysis.statements),
            "missing": sorted(analysis.missing),
            "excluded": sorted(analysis.excluded),
            "first": [parser.first_line(n) for n in range(n_lines + 2)],
            "possible": sorted(possible),
            "executed_branches": {n: sorted(to) for n, to in analysis.executed_branch_arcs().items()},
            "missing_branches": {n: sorted(to) for n, to in analysis.missing_branch_arcs().items()},
        }
    with open(output, "w") as out:
        json.dump(files, out)


def record_qprof(output, root, code, names):
    import qprof
    from qprof import _recorder
    qprof._start(f"-output={output} -collect=coverage -cover-root={root}", False, False)
    try:
        _recorder.execute(code, names)
    except SystemExit:
        pass
    finally:
        qprof.stop()


def branches_of(ours, first, excluded):
    """Branches of first lines: {line: {to: was it taken}}; to 0 is the end of the code."""
    branches = {}
    for b in ours["branches"]:
        line, to = first[b["line"]], b["to_line"] and first[b["to_line"]]
        if line != to and to not in excluded:
            ways = branches.setdefault(line, {})
            ways[to] = ways.get(to, False) or b["hits"] > 0
    return {line: ways for line, ways in branches.items() if len(ways) > 1}


def branches_of_coverage(theirs, syntax):
    """The same, of statements that choose. coverage.py also counts ways of other lines: in and out of a with, and
    begin and end of functions and comprehensions that share a line; of a line to itself; and by an exception."""
    branches = {}
    possible = {(line, to) for line, to in theirs["possible"]}
    for name, taken in (("executed_branches", True), ("missing_branches", False)):
        for line, ways in theirs[name].items():
            line = int(line)
            for to in ways:
                if to != line and (line, to) in possible:
                    branches.setdefault(line, {})[max(to, 0)] = taken
    return {line: ways for line, ways in branches.items() if line in syntax.choices}


class Syntax:
    """Of a source, by first lines: statements that choose between ways; lines with functions or comprehensions, and
    of finally blocks, whose ways out of the code are not compared; docstrings."""

    def __init__(self, file, first):
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
        self.choices, self.unclear, self.docstrings, self.headers = set(), set(), set(), set()
        self.chains = []  # (line of an except, line of the next one)
        self.withs = []  # (its line, its last line)
        for node in ast.walk(tree):
            if isinstance(node, (ast.With, ast.AsyncWith)):
                self.withs.append((first[node.lineno], node.end_lineno))
            elif isinstance(node, ast.Try):
                lines = [first[handler.lineno] for handler in node.handlers]
                self.chains += zip(lines, lines[1:])
            if isinstance(node, ast.For) and node.iter.end_lineno != node.lineno:
                self.headers.add(first[node.lineno])  # of several lines: another one of them chooses
            elif isinstance(node, (ast.If, ast.While, ast.For, ast.ExceptHandler)):
                self.choices.add(first[node.lineno])
            elif isinstance(node, ast.match_case):
                self.choices.add(first[node.pattern.lineno])
            elif isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                self.unclear.add(first[node.lineno])
            elif isinstance(node, ast.Try) and node.finalbody:
                self.unclear.update(range(node.finalbody[0].lineno, node.end_lineno + 1))
            elif isinstance(node, (ast.Module, ast.ClassDef)) and ast.get_docstring(node, False) is not None:
                self.docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))


def without_end_of_with(line, mine, yours, syntax):
    """The end of a with is a way to its line; to newer versions of coverage.py, to what is executed after it."""
    for to in [to for to in mine if to not in yours and any(to == w and w < line <= end for w, end in syntax.withs)]:
        after = [other for other in yours if other not in mine and yours[other] == mine[to]]
        if len(after) == 1:
            mine = {**mine, after[0]: mine[to]}
            del mine[to]
    return mine


def are_equal(mine, yours, is_unclear):
    """To coverage.py an exception that leaves the code takes the way out; to qprof only a return does."""
    if mine and yours and yours.get(0) and mine.get(0) is False:
        mine = {**mine, 0: True}
    if is_unclear and mine:
        mine = {to: n for to, n in mine.items() if to}
        if yours is None:
            return len(mine) == 1
        yours = {to: n for to, n in yours.items() if to}
    return mine == yours


def compare_file(file, theirs, ours, counts):
    wrong = []
    hit = {line["line"] for line in ours["lines"] if line["hits"]}
    first = theirs["first"]
    syntax = Syntax(file, first)
    executed = set(theirs["lines"]) - syntax.docstrings
    # newer versions name the first line of a statement, which may have no code, beside the one that was executed
    executed -= {first[line] for line in executed if first[line] != line} - {line["line"] for line in ours["lines"]}
    if hit != executed:
        wrong.append(f"executed lines: {sorted(hit ^ executed)[:20]}")
    statements = {first[line["line"]] for line in ours["lines"]} - set(theirs["excluded"])
    wanted = set(theirs["statements"]) - syntax.docstrings
    if statements != wanted:
        wrong.append(f"statements: {sorted(statements ^ wanted)[:20]}")
    missing = statements - {first[line] for line in hit}
    wanted = set(theirs["missing"]) - syntax.docstrings
    if missing != wanted:
        wrong.append(f"missed: {sorted(missing ^ wanted)[:20]}")
    mine, yours = branches_of(ours, first, theirs["excluded"]), branches_of_coverage(theirs, syntax)
    lines = (mine.keys() | yours.keys()) - set(theirs["excluded"]) - syntax.headers
    if not any(list(way) in theirs["possible"] for way in syntax.chains):  # newer versions count no ways of an except
        lines -= {line for line, _ in syntax.chains}
    for line in mine.keys() & yours.keys():
        mine[line] = without_end_of_with(line, mine[line], yours[line], syntax)
    differ = sorted(line for line in lines if not are_equal(mine.get(line), yours.get(line), line in syntax.unclear))
    for line in differ[:int(os.environ.get("SHOWN", "0"))]:
        print(f"{file}:{line}: branches {mine.get(line)}, coverage.py {yours.get(line)}")
    counts["lines"] += len(hit)
    counts["statements"] += len(statements)
    counts["branches"] += len(yours)
    counts["branches that differ"] += len(differ)
    for text in wrong:
        print(f"{file}: {text}")
    return len(wrong)


def compare(wanted_path, found_path):
    with open(wanted_path) as file:
        wanted = json.load(file)
    with open(found_path) as file:
        found = {os.path.realpath(f["path"] if os.path.isabs(f["path"]) else f["file"]): f for f in json.load(file)["files"]}
    counts = dict.fromkeys(("lines", "statements", "branches", "branches that differ"), 0)
    n_wrong = 0
    for file, theirs in sorted(wanted.items()):
        if file not in found:
            print(f"{file}: not in qprof's")
            n_wrong += 1
        else:
            n_wrong += compare_file(file, theirs, found[file], counts)
    for file in found.keys() - wanted.keys():
        print(f"{file}: not in coverage.py's")
        n_wrong += 1
    print(f"{len(wanted)} files; " + ", ".join(f"{n} {name}" for name, n in counts.items()) + f"; {n_wrong} sets differ")
    sys.exit(1 if n_wrong or counts["branches that differ"] else 0)


if sys.argv[1] == "compare":
    compare(sys.argv[2], sys.argv[3])
else:
    mode, out, folder, *words = sys.argv[1:]
    sys.argv[1:] = ["", ""]
    from python_load import load
    (record_coverage if mode == "coverage" else record_qprof)(out, os.path.realpath(folder), *load(words))

"""php_cover.py TOOL RESULT COVER ROOT: is what qprof covers (cover export --to=json) what another tool has found?

RESULT is of php_cover.php. pcov: lines with code, and those that were executed, are the same; of closures pcov tells
nothing of those that were not. xdebug: lines that it saw executed were executed; the ways of every branch of an if, while,
for and foreach are as many, and as many of them taken.
"""
import collections
import json
import os
import re
import sys

tool, result, cover, root = sys.argv[1:]
theirs = json.load(open(result))
counts = collections.Counter()
wrong = []
CHOICES = r"^\s*(}\s*)?(if|elseif|else if|while|for|foreach)\b[^?]*$"


def compare_lines(file, ours, found):
    mine = {line["line"]: bool(line["hits"]) for line in ours["lines"]}
    yours = {int(line): n == 1 for line, n in found.items() if n != -2}
    if tool == "xdebug":  # it also counts the ends of functions, declarations and what is only passed
        extra = mine.keys() - yours.keys()
        last = len(text_of(file)) - 1
        yours = {line: hit for line, hit in yours.items() if hit and line in mine and line < last}
        mine = {line: hit for line, hit in mine.items() if line in yours}
    else:
        n_lines = len(text_of(file))
        for line in {n for n, hit in yours.items() if hit and not mine.get(n) and n >= n_lines - 1}:
            del yours[line]  # of a file that only declares: the engine includes it without executing it
            mine.pop(line, None)
        extra = {line for line in mine.keys() - yours.keys() if line not in closures(file)}
        mine = {line: hit for line, hit in mine.items() if line in yours}
    differ = sorted(extra | {line for line in mine.keys() | yours.keys() if mine.get(line) != yours.get(line)})
    counts["lines"] += len(mine)
    counts["executed"] += sum(mine.values())
    if differ:
        wrong.append(f"{file}: lines {[(line, mine.get(line), yours.get(line)) for line in differ[:15]]}")


def text_of(file):
    with open(file, errors="replace") as source:
        return source.read().split("\n")


def closures(file):
    """Lines from one with a closure or a function in a function on, as far as its indentation."""
    lines, inside, found = text_of(file), None, set()
    for number, text in enumerate(lines, 1):
        indent = len(text) - len(text.lstrip())
        if any(word in text for word in ("function (", "function(", "fn (", "fn(", "eval(")) or (
                "function " in text and indent and text.lstrip().startswith("function ")):
            found.add(number)
            inside = indent if inside is None else inside
        elif inside is not None:
            found.add(number)
            if text.strip() and indent <= inside:
                inside = None
    return found


def compare_branches(file, ours, found):
    mine, yours = collections.defaultdict(list), collections.defaultdict(list)
    for branch in ours["branches"]:
        mine[branch["line"]].append(branch["hits"] > 0)
    for line, to, taken in found:
        yours[line].append(bool(taken))
    text = text_of(file)
    for line in sorted(mine.keys() | yours.keys()):
        if not re.search(CHOICES, text[line - 1]):
            continue
        counts["ways"] += len(yours[line])
        if sorted(mine[line]) != sorted(yours[line]):
            wrong.append(f"{file}:{line}: ways {sorted(mine[line])}, {tool} {sorted(yours[line])}")


found = {f["file"]: f for f in json.load(open(cover))["files"]}
for file, lines in theirs["lines"].items():
    if not os.path.realpath(file).startswith(root) or not lines or file.endswith("php_cover.php") or " : eval" in file:
        continue
    if file not in found and len(lines) == 1:
        continue  # it only declares
    if file not in found:
        wrong.append(f"{file}: is not covered")
        continue
    counts["files"] += 1
    compare_lines(file, found[file], lines)
    if tool == "xdebug":
        compare_branches(file, found[file], theirs["branches"].get(file, []))
if not counts["executed"]:
    wrong.append("nothing was executed")
print("\n".join(wrong[:20]) or ", ".join(f"{n} {name}" for name, n in counts.items()) + ": the same")
sys.exit(bool(wrong))

#!/bin/sh
# test_performance.sh: the tables and plots of docs/performance.md follow from the figures, worked out by hand for
# three rounds; and the page has the places into which tests/bench/peers.sh writes them.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$QPROF_SOURCE/tests/bench/peers python3 - <<'END_OF_TEST'
import xml.dom.minidom

import interpreters
import native
import page
import plot
from common import lower_decile, median


def row(name, group, ours, *rounds):
    figures = {p: [median(list(rounds)), lower_decile(list(rounds))] for p in native.PROGRAMS}
    return {"name": name, "group": group, "ours": ours, "note": "", "checked": "all 3 calls", "is_wrong": False,
            "rounds": {p: list(rounds) for p in native.PROGRAMS}, "figures": figures}


assert median([9, 1, 2]) == 2 and median([4, 1, 2, 9]) == 3
assert lower_decile(list(range(20, 0, -1))) == 3 and lower_decile([7, 5]) == 5

document = {"clock": {"waits": False}, "interpreters": [], "left_out": [], "native": [
    row("two clock reads", "floor", False, 9, 10, 19),
    # round by round 1, 20 and 1 above two clock reads, while the medians differ by 10
    row("qprof, exact, inline", "tree", True, 10, 30, 20),
    row("qprof, counts, inline", "counts", True, 2.6, 2.6, 2.6),
    row("gprof's mcount (gcc -pg)", "counts", False, 2, 2, 2),
    row("microprofile", "tree", False, 60, 50, 70),
]}
goals = page.goals(document)
assert "| qprof, exact, inline, above two clock reads | 1.5 | 1.0 | met |" in goals, goals
assert "| qprof, counts, inline | 2.5 | 2.6 | **missed** |" in goals, goals
assert "tokens" not in goals, "no row, no verdict"

document["clock"]["waits"] = True
assert "above two clock reads | 4 | 1.0 | met |" in page.goals(document)

rivals = page.rivals(document)
assert "| qprof, counts, inline | gprof's mcount (gcc -pg) | 2.6 : 2.0, **missed** |" in rivals, rivals
assert "| qprof, exact, inline | microprofile | 20.0 : 60.0 |" in rivals, rivals

ahead = page.ahead(document).splitlines()
assert ahead[2] == "| gprof's mcount (gcc -pg) | flat | 2.0 ns | 2.6 ns, counts, inline |", ahead
assert len(ahead) == 2 + 3, "one line for each program, and none for microprofile"

table = page.figures_table(document, "native", native.GROUPS, native.PROGRAMS, page.number)
assert table.index("gprof") < table.index("**qprof, counts, inline**"), "the fastest of a group is first"
assert "| two clock reads | 10.0 (9.0) | 10.0 (9.0) | 10.0 (9.0) | all 3 calls |" in table, table

# a decade is as wide as any other; what is below the axis is at its beginning
low = plot.draw(document["native"], native.GROUPS, native.PROGRAMS, "<times>", 1, 100, page.number)
texts = [t.firstChild.data for t in xml.dom.minidom.parseString(low).getElementsByTagName("text")]
assert "<times>" in texts and "qprof, exact, inline" in texts
circles = [float(c.getAttribute("cx")) for c in
           xml.dom.minidom.parseString(low).getElementsByTagName("circle")]
width = plot.WIDTH - plot.LABEL - plot.RIGHT
assert abs(circles[1] - (plot.LABEL + width / 2)) < 0.06, "10 is in the middle of 1 to 100"
off = plot.draw([row("a", "off", True, 0, 0, 0)], native.GROUPS, native.PROGRAMS, "t", 1, 100, page.number)
assert f'cx="{plot.LABEL:.1f}"' in off

assert interpreters.fib_calls(1) == 1 and interpreters.fib_calls(5) == 15  # counted by hand

text = page.PAGE.read_text()
for name in ("head", "ahead", "native", "interpreters", "goals", "rivals", "left out"):
    assert text.count(f"<!-- peers: {name} -->") == 1, name
for file in page.PLOTS.values():
    xml.dom.minidom.parse(str(file))
    assert f"({file.name})" in text, file
END_OF_TEST

"""page.py: docs/performance.md, its tables and its plots, out of the figures of main.py.

The page's text is written by hand; what stands between <!-- peers: NAME --> and <!-- end --> is made here.
"""

import re

import interpreters
import native
import plot
from common import ROOT, median

PAGE = ROOT / "docs" / "performance.md"
PLOTS = {"native": ROOT / "docs" / "performance-native.svg",
         "interpreters": ROOT / "docs" / "performance-interpreters.svg"}

# What was wanted when the event path was designed: nanoseconds of the flat program above a floor, second
# figure: where a clock read waits for loads.
NATIVE_GOALS = [
    ("qprof, off, inline", None, 0.5, 0.5),
    ("qprof, off, exported", "two empty calls of a library", 1, 1),
    ("qprof, counts, inline", None, 2.5, 2.5),
    ("qprof, counts, tokens", None, 1.2, 1.2),
    ("qprof, counts, exported", None, 5, 5),
    ("qprof, adaptive, inline", None, 3.5, 3.5),
    ("qprof, adaptive, tokens", None, 2, 2),
    ("qprof, adaptive, exported", None, 6, 6),
    ("qprof, exact, inline", "two clock reads", 1.5, 4),
    ("qprof, exact, tokens", "two clock reads", 0.5, 3),
    ("qprof, exact, exported", "two clock reads", 3, 6),
    ("qprof, exact and traced to a ring, inline", "two clock reads", 3, 6),
    ("qprof, exact and traced to a ring, exported", "two clock reads", 5, 8),
]
# Slow-down of fib and mixed; where a clock read waits.
INTERPRETER_GOALS = [
    ("qlua, not recording", (1.01, 1.01), (1.01, 1.01)),
    ("qlua, samples only", (1.03, 1.02), (1.03, 1.02)),
    ("qlua, counts", (1.08, 1.03), (1.08, 1.03)),
    ("qlua, adaptive", (1.15, 1.05), (1.15, 1.05)),
    ("qlua, exact", (1.7, 1.12), (2.1, 1.18)),
    ("qlua, coverage", (1.05, 1.03), (1.05, 1.03)),
    ("qlua, coverage, once", (1.05, 1.03), (1.05, 1.03)),
    ("qlua, coverage of functions", (1.05, 1.03), (1.05, 1.03)),
]
# Ours that must be below another, or below all of a group.
AHEAD_OF = [
    ("qprof, exact and traced to a ring, inline", "Spall's header, records dropped"),
    ("qprof, counts, inline", "gprof's mcount (gcc -pg)"),
    ("qprof, counts, exported", "gprof's mcount (gcc -pg)"),
    ("qprof, off, exported", "Tracy, on demand, not connected"),
    ("qprof, exact, inline", "every peer that adds up times"),
    ("qprof, exact, exported", "every peer that adds up times"),
]


def by_name(document, part):
    return {row["name"]: row for row in document.get(part, [])}


def number(value):
    if abs(value) < 0.05:
        value = 0.0
    return f"{value:.1f}" if abs(value) < 99.95 else f"{value:.0f}"


def ratio(value):
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def table(rows):
    """Rows of cells as Markdown; the first is the head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def by_group(rows, groups, program):
    """(title, rows of the group, the fastest first)."""
    for key, title in groups.items():
        found = sorted((row for row in rows if row["group"] == key), key=lambda r: r["figures"][program][0])
        if found:
            yield title, found


def figures_table(document, part, groups, programs, form):
    rows = [["", *programs, "recorded"]]
    for title, found in by_group(document.get(part, []), groups, "mixed"):
        rows.append([f"*{title}*"] + [""] * (len(programs) + 1))
        for row in found:
            name = f"**{row['name']}**" if row["ours"] else row["name"]
            cells = [f"{form(row['figures'][p][0])} ({form(row['figures'][p][1])})" for p in programs]
            remark = "; ".join(t for t in (row["checked"], row["note"]) if t)
            rows.append([name, *cells, remark or "–"])
    return table(rows)


def head(document):
    clock = document["clock"]
    waits = "waits" if clock["waits"] else "does not wait"
    loads = ", ".join(number(clock[k]) for k in ("0", "2", "4", "8"))
    load = " to ".join(f"{v:.1f}" for v in document["load"])
    versions = ", ".join(f"{k} {v}" for k, v in document["versions"].items())
    names = ", ".join(f"`{v}`" for v in document["variables"]) or "none"
    rows = [
        ["measured", f"{document['date']}, commit {document['commit']}"],
        ["command", f"`{document['command']}`"],
        ["CPU", f"{document['cpu']}, {document['cores']} cores"],
        ["clock", f"a read **{waits}** for earlier loads: two reads with 0, 2, 4 and 8 dependent loads before "
                  f"each take {loads} ns; 16 such loads alone take {number(clock['alone'])} ns"],
        ["system", f"{document['os']}, Linux {document['kernel']}; load {load} in one minute"],
        ["packages", versions],
        ["sources named by", names],
    ]
    return table([["", ""], *rows])


def verdict(is_met):
    return "met" if is_met else "**missed**"


def above(row, floor, program):
    """The median of what a row costs above a floor, round by round."""
    if not floor:
        return row["figures"][program][0]
    return median([a - b for a, b in zip(row["rounds"][program], floor["rounds"][program])])


def goals(document):
    waits = document["clock"]["waits"]
    found, rows = by_name(document, "native"), [["ns of a call, flat", "goal", "measured", ""]]
    for name, floor, goal, goal_waits in NATIVE_GOALS:
        if name not in found or (floor and floor not in found):
            continue
        value = above(found[name], found.get(floor), "flat")
        most = goal_waits if waits else goal
        text = f"{name}, above {floor}" if floor else name
        rows.append([text, f"{most}", number(value), verdict(round(value, 1) <= most)])
    text = table(rows)
    found, rows = by_name(document, "interpreters"), [["slow-down, fib and mixed", "goal", "measured", ""]]
    for name, goal, goal_waits in INTERPRETER_GOALS:
        if name in found:
            most = goal_waits if waits else goal
            values = [found[name]["figures"][p][0] for p in interpreters.PROGRAMS]
            is_met = all(round(v, 2) <= m for v, m in zip(values, most))
            rows.append([name, " · ".join(map(str, most)), " · ".join(map(ratio, values)), verdict(is_met)])
    return text + "\n\n" + table(rows)


def rivals(document):
    found = by_name(document, "native")
    rows = [["must be below", "", *native.PROGRAMS]]
    for name, other in AHEAD_OF:
        others = [found[other]] if other in found else [] if not other.startswith("every") else [
            row for row in document.get("native", []) if row["group"] == "tree" and not row["ours"]]
        if name not in found or not others:
            continue
        for row in others:
            cells = []
            for p in native.PROGRAMS:
                a, b = found[name]["figures"][p][0], row["figures"][p][0]
                cells.append(f"{number(a)} : {number(b)}" + ("" if a < b else ", **missed**"))
            rows.append([name, row["name"], *cells])
    return table(rows)


def ahead(document):
    """Peers of a group that are faster than the fastest of ours, by more than noise."""
    rows = [["ahead of qprof", "program", "peer", "qprof"]]
    parts = [("native", native.GROUPS, native.PROGRAMS, number, "ns"),
             ("interpreters", interpreters.GROUPS, interpreters.PROGRAMS, ratio, "times")]
    for part, groups, programs, form, unit in parts:
        for key in groups:
            found = [row for row in document.get(part, []) if row["group"] == key and row["checked"]]
            for p in programs:
                best = min((r for r in found if r["ours"]), key=lambda r, p=p: r["figures"][p][0], default=None)
                for row in found:
                    a, b = row["figures"][p][0], best["figures"][p][0] if best else 0
                    if best and not row["ours"] and a < b * 0.98 and (part != "native" or a < b - 0.3):
                        rows.append([row["name"], p, f"{form(a)} {unit}",
                                     f"{form(b)} {unit}, {best['name'].split(', ', 1)[1]}"])
    if len(rows) == 1:
        return "In no group is a peer ahead of the fastest row of qprof by more than noise."
    return table(rows)


def left_out(document):
    by_reason = {}
    for row in document["left_out"]:
        by_reason.setdefault(row["reason"], []).append(row["name"])
    if not by_reason:
        return "Nothing was left out."
    rows = [["left out", "because"]]
    for reason, names in by_reason.items():
        rows.append(["; ".join(names), reason.replace("|", "\\|")])
    return table(rows)


def sections(document):
    return {
        "head": head(document),
        "ahead": ahead(document),
        "native": figures_table(document, "native", native.GROUPS, native.PROGRAMS, number),
        "interpreters": figures_table(document, "interpreters", interpreters.GROUPS, interpreters.PROGRAMS,
                                      ratio),
        "goals": goals(document),
        "rivals": rivals(document),
        "left out": left_out(document),
    }


def print_tables(document):
    for name, text in sections(document).items():
        print(f"\n== {name}\n\n{text}")


def write(document):
    text = PAGE.read_text()
    for name, part in sections(document).items():
        marks = re.compile(rf"(<!-- peers: {name} -->\n).*?(<!-- end -->)", re.S)
        text, n = marks.subn(lambda found, part=part: f"{found[1]}\n{part}\n\n{found[2]}", text)
        if n != 1:
            raise SystemExit(f"{PAGE}: {n} places for {name}")
    PAGE.write_text(text)
    PLOTS["native"].write_text(plot.draw(
        document.get("native", []), native.GROUPS, native.PROGRAMS,
        "Nanoseconds of a call above the program without a recorder", 0.2, 500, number))
    PLOTS["interpreters"].write_text(plot.draw(
        document.get("interpreters", []), interpreters.GROUPS, interpreters.PROGRAMS,
        "Times as slow as the same interpreter without a recorder", 0.9, 300, ratio))

"""plot.py: a plot of rows, one mark a program on a logarithmic axis, as SVG for light and dark pages."""

import math
from xml.sax.saxutils import escape

WIDTH, LABEL, RIGHT, ROW, TITLE, TOP, BOTTOM = 900, 330, 70, 19, 28, 74, 26
STYLE = """
svg { --page: #ffffff; --text: #1f2328; --faint: #656d76; --line: #d8dee4; --ours: #0b62c4; --other: #6e7781;
  font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --text: #e6edf3; --faint: #9198a1;
  --line: #2f3742; --ours: #5aa9ff; --other: #9aa4af; } }
.page { fill: var(--page); } text { fill: var(--text); } .faint { fill: var(--faint); }
.head { font-weight: 600; } .title { font-weight: 600; font-size: 14px; }
.ours text { fill: var(--ours); font-weight: 600; } .grid { stroke: var(--line); }
.ours { --mark: var(--ours); } .other { --mark: var(--other); }
.span { stroke: var(--mark); stroke-width: 2; opacity: .45; }
.mark { fill: var(--page); stroke: var(--mark); stroke-width: 1.8; } .ours .mark { fill: var(--mark); }
"""


def shape(index, x, y):
    """Circle, diamond, triangle: told apart without color."""
    if index == 0:
        return f'<circle class="mark" cx="{x:.1f}" cy="{y}" r="3.6"/>'
    points = {1: [(0, -5), (5, 0), (0, 5), (-5, 0)], 2: [(0, -4.6), (4.6, 3.6), (-4.6, 3.6)]}[index]
    text = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in points)
    return f'<polygon class="mark" points="{text}"/>'


def ticks(low, high):
    for power in range(-2, 4):
        for step in (1, 2, 5):
            value = step * 10.0 ** power
            if low <= value <= high:
                yield value


def draw(rows, groups, programs, title, low, high, form):
    """Rows by group, the fastest on the mixed program first; what is below `low` is drawn at `low`."""
    plot_width = WIDTH - LABEL - RIGHT

    def at(value):
        value = min(max(value, low), high)
        return LABEL + plot_width * math.log(value / low) / math.log(high / low)

    body, y, mixed = [], TOP, programs.index("mixed")
    for key, text in groups.items():
        found = sorted((r for r in rows if r["group"] == key), key=lambda r: r["figures"]["mixed"][0])
        if not found:
            continue
        body.append(f'<text class="head" x="12" y="{y + 18}">{escape(text)}</text>')
        y += TITLE
        for row in found:
            values = [row["figures"][p][0] for p in programs]
            middle = y + ROW // 2
            marks = "".join(shape(i, at(v), middle) for i, v in enumerate(values))
            body.append(
                f'<g class="{"ours" if row["ours"] else "other"}"><text x="24" y="{middle + 4}">'
                f'{escape(row["name"])}</text><line class="span" x1="{at(min(values)):.1f}" '
                f'x2="{at(max(values)):.1f}" y1="{middle}" y2="{middle}"/>{marks}'
                f'<text x="{WIDTH - 12}" y="{middle + 4}" text-anchor="end">{form(values[mixed])}</text></g>')
            y += ROW
    grid = "".join(
        f'<line class="grid" x1="{at(v):.1f}" x2="{at(v):.1f}" y1="{TOP - 8}" y2="{y + 4}"/>'
        f'<text class="faint" x="{at(v):.1f}" y="{TOP - 14}" text-anchor="middle">{v:g}</text>'
        for v in ticks(low, high))
    legend, x = "", LABEL
    for i, program in enumerate(programs):
        legend += f'<g class="other">{shape(i, x + 5, 36)}</g><text x="{x + 16}" y="40">{program}</text>'
        x += 40 + 7 * len(program)
    legend += f'<text class="faint" x="{x}" y="40">filled: qprof</text>'
    legend += f'<text class="faint" x="{WIDTH - 12}" y="{TOP - 14}" text-anchor="end">mixed</text>'
    height = y + BOTTOM
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="{escape(title)}"><style>{STYLE}</style>'
            f'<rect class="page" width="{WIDTH}" height="{height}"/>'
            f'<text class="title" x="12" y="24">{escape(title)}</text>{legend}{grid}{"".join(body)}</svg>\n')

# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs as one SVG file: who had the CPU when, a panel per policy."""
import xml.etree.ElementTree as ET

WIDTH, LEFT, RIGHT, TOP = 800, 20, 20, 50
PANEL, PLOT = 170, 110
COLOURS = ("#4c9f50", "#3a8fb7", "#d9a521")
STEP = .5  # seconds that a share is the mean of
STYLE = ("text{font:12px sans-serif;fill:#333}.heading{font-size:16px}.name{font-weight:bold}"
         ".x{text-anchor:middle}.axis{stroke:#999;fill:none}.end{stroke:#333;stroke-dasharray:2 2}")


def shares(samples):
    """[(time, share of each)], of steps of at least STEP seconds."""
    found, begin = [], samples[0]
    for sample in samples[1:]:
        wall = sample[0] - begin[0]
        if wall >= STEP:
            found.append((sample[0], [max(0, b - a) / wall for a, b in zip(begin[1], sample[1])]))
            begin = sample
    return found


def text(parent, x, y, what, kind=""):
    ET.SubElement(parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind}).text = what


def area(parent, lower, upper, x_of, y_of, colour):
    """Between two lines of (time, share)."""
    points = [(t, v) for t, v in upper] + [(t, v) for t, v in reversed(lower)]
    ET.SubElement(parent, "polygon", {
        "points": " ".join(f"{x_of(t):.1f},{y_of(v):.1f}" for t, v in points), "fill": colour})


def panel(svg, top, run, longest):
    policy, what, samples, rows = run

    def x_of(t):
        return LEFT + max(0, t) / longest * (WIDTH - LEFT - RIGHT)

    def y_of(v):
        return top + (1 - min(v, 1)) * PLOT

    text(svg, LEFT, top - 8, f"{policy}: {what}", "name")
    steps = shares(samples)
    lower = [(t, 0) for t, _ in steps]
    for i in range(len(rows)):
        upper = [(t, base + part[i]) for (t, base), (_, part) in zip(lower, steps)]
        area(svg, lower, upper, x_of, y_of, COLOURS[i % len(COLOURS)])
        lower = upper
    for row in rows:
        x = x_of(row["arrival"] + row["completion"])
        ET.SubElement(svg, "path", {"class": "end", "d": f"M{x:.1f} {top}v{PLOT}"})
        text(svg, x, top + PLOT + 14, f"{row['name']} {row['completion']:.1f} s", "x")
    ET.SubElement(svg, "path", {"class": "axis", "d": f"M{LEFT} {top + PLOT}H{WIDTH - RIGHT}"})


def draw(runs):
    """runs: (policy, what it does, [(seconds, CPU-seconds of each job)], rows of results)."""
    height = TOP + PANEL * len(runs)
    svg = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "width": str(WIDTH),
                             "height": str(height), "viewBox": f"0 0 {WIDTH} {height}"})
    ET.SubElement(svg, "title").text = "Who had the CPU when"
    ET.SubElement(svg, "style").text = STYLE
    ET.SubElement(svg, "rect", {"width": "100%", "height": "100%", "fill": "#fff"})
    text(svg, LEFT, 20, "Who had the CPU when, and how long each job took", "heading")
    longest = max(row["arrival"] + row["completion"] for run in runs for row in run[3]) * 1.08
    for i, run in enumerate(runs):
        panel(svg, TOP + 14 + i * PANEL, run, longest)
    for i, row in enumerate(runs[0][3]):
        ET.SubElement(svg, "rect", {"x": str(500 + 100 * i), "y": "10", "width": "12",
                                    "height": "12", "fill": COLOURS[i % len(COLOURS)]})
        text(svg, 518 + 100 * i, 20, row["name"])
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + ET.tostring(svg, encoding="unicode") + "\n"

"""Figures as SVG: for run a bar per system and shape, for growth a line per dimension."""

import math

COLOURS = {"trainyard": "#1b6ca8", "volcano": "#d1495b", "kube-scheduler": "#8d99ae"}
PANELS = (
    ("pods/s, first binding to last (line: API server alone)", lambda row: row["scheduler_only"]["binding_pods_per_second"], "binding_pods_per_second"),
    ("pods/s, from its start (line: API server alone)", lambda row: row["scheduler_only"]["pods_per_second"], "pods_per_second"),
    ("pods/s, end to end", lambda row: row.get("end_to_end", {}).get("pods_per_second", 0), ""),
    ("CPU ms per pod, scheduler only, with its events", lambda row: row["scheduler_only"]["settled"]["cpu_ms_per_pod"], ""),
    ("peak MiB of the scheduler", lambda row: row["scheduler_only"]["peak_mib"][0], ""),
)
PANEL_WIDTH, BAR, GAP, LEFT, TOP = 330, 12, 14, 130, 60


def panel(rows, groups, title, value, line, x):
    alone = {(row["nodes"], row["shape"]): row["bare"][line] for row in rows if line and row["bare"][line]}
    most = max([value(row) for row in rows] + list(alone.values()) + [1e-9])
    parts = [f'<text x="{x}" y="{TOP - 14}" font-weight="bold">{title}</text>']
    y = TOP
    for group in groups:
        members = [row for row in rows if (row["nodes"], row["shape"]) == group]
        for row in members:
            if not value(row):  # not measured
                y += BAR
                continue
            length = (PANEL_WIDTH - 70) * value(row) / most
            number = f"{value(row):.0f}" if value(row) >= 20 else f"{value(row):.2f}"
            parts.append(f'<rect x="{x}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{COLOURS.get(row["system"], "#555")}"/>')
            parts.append(f'<text x="{x + length + 4:.1f}" y="{y + BAR - 3}">{number}</text>')
            y += BAR
        if group in alone:
            at = x + (PANEL_WIDTH - 70) * alone[group] / most
            parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y - BAR * len(members) - 2}" y2="{y}" stroke="black" stroke-dasharray="3 2"/>')
        y += GAP
    return parts


def frame(width, height, parts):
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="10">',
            f'<rect width="{width}" height="{height}" fill="white"/>']
    return "\n".join(head + parts + ["</svg>"]) + "\n"


def scale(values, low, high):
    """Where each lies between low and high, on a logarithmic scale that they fill."""
    least, most = math.log(min(values)), math.log(max(values))
    return [low + (high - low) * (math.log(value) - least) / (most - least) for value in values]


def lines(charts):
    """charts: [(title, name of x, name of y, [(x, y)])]; both axes are logarithmic: so labels of small and great values have room."""
    width, height, side = 300, 220, 50
    parts = []
    for i, (title, x_name, y_name, points) in enumerate(charts):
        left, points = i * width + side, sorted(points)
        across = scale([x for x, _ in points], left + 10, left + width - 1.5 * side)
        up = scale([y for _, y in points], height - side - 10, side + 10)
        at = [(px, py, x, y) for px, py, (x, y) in zip(across, up, points)]
        parts.append(f'<text x="{left}" y="20" font-weight="bold">{title}</text>')
        parts.append(f'<path d="M{left} {side} V{height - side} H{left + width - 1.5 * side}" fill="none" stroke="#999"/>')
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in at)}" fill="none" stroke="#1b6ca8"/>')
        for px, py, x, y in at:
            parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.5" fill="#1b6ca8"/>')
            parts.append(f'<text x="{px:.1f}" y="{py - 6:.1f}" text-anchor="middle">{y:.3g}</text>')
            parts.append(f'<text x="{px:.1f}" y="{height - side + 14}" text-anchor="middle" font-size="8">{x:g}</text>')
        parts.append(f'<text x="{left + (width - side) / 2:.0f}" y="{height - 14}" text-anchor="middle">{x_name} (both axes logarithmic)</text>')
        parts.append(f'<text x="{left - 8}" y="{side - 8}">{y_name}</text>')
    return frame(len(charts) * width + side, height, parts)


def plot(rows):
    rows = [row for row in rows if row["system"] != "bare"]
    groups = sorted({(row["nodes"], row["shape"]): None for row in rows}, key=lambda group: group[0])
    systems = list(dict.fromkeys(row["system"] for row in rows))
    height = TOP + len(rows) * BAR + len(groups) * GAP + 20
    panels = [each for each in PANELS if any(each[1](row) for row in rows)]  # those that were measured
    width = LEFT + len(panels) * PANEL_WIDTH
    parts = []
    for i, system in enumerate(systems):
        parts.append(f'<rect x="{LEFT + 140 * i}" y="10" width="10" height="10" fill="{COLOURS.get(system, "#555")}"/>')
        parts.append(f'<text x="{LEFT + 140 * i + 14}" y="19">{system}</text>')
    y = TOP
    for nodes, shape in groups:
        count = sum((row["nodes"], row["shape"]) == (nodes, shape) for row in rows)
        parts.append(f'<text x="{LEFT - 8}" y="{y + count * BAR / 2 + 3}" text-anchor="end">{shape}, {nodes} nodes</text>')
        y += count * BAR + GAP
    for i, (title, value, line) in enumerate(panels):
        parts += panel(rows, groups, title, value, line, LEFT + i * PANEL_WIDTH)
    return frame(width, height, parts)

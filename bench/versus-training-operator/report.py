"""Results as a table and as a plot. Pure."""

from xml.sax.saxutils import escape

NAMES = {"ours": "trainyard", "best": "training-operator, best flags", "default": "training-operator, default flags"}
COLOURS = {"ours": "#1a7f5a", "best": "#c4622d", "default": "#8a8a8a"}
PANELS = [
    ("seconds per 1,000 jobs of 4 replicas", lambda step: step["seconds"] * 1000 / step["count"]),
    ("CPU seconds per 1,000 jobs", lambda step: step["cpu"] * 1000 / step["count"]),
    ("peak memory, MB", lambda step: step["peak_mb"]),
    ("requests per job, Events among them", lambda step: requests_of(step) / step["count"]),
]
STEPS = ["jobs of 4 replicas created", "all running", "idle", "restarted", "all succeeded and cleaned up",
         "one job of many replicas created", "it runs", "it succeeded and is cleaned up", "started beside finished jobs", "one new job beside finished jobs"]
ROW, LEFT, WIDTH = 22, 250, 420


def requests_of(step):
    return sum(step["requests"].values()) + step["events"]


def in_words(step):
    verbs = " ".join(f"{verb} {count}" for verb, count in step["requests"].items()) or "none"
    kubelet = f" (the kubelet took {step['kubelet']:.1f} s to tell)" if "kubelet" in step else ""
    lost = f", {step['lost']} lost" if "lost" in step else ""
    failed = f"; {step['failed']} refused" if step["failed"] else ""
    return (f"{step['step']} ({step['count']}): {step['seconds']:.1f} s{kubelet}; CPU {step['cpu_done']:.2f} s, {step['cpu']:.2f} s until still; "
            f"peak {step['peak_mb']:.0f} MB; requests {verbs}; Events {step['events']}{lost}{failed}")


def beside_bare_clients(step):
    """How long a step took, and how long until its last Event, as a share of what the server alone needs."""
    return (f"{step['seconds'] / step['alone']:.2f} of what the server alone needs for the pods and services ({step['alone']:.1f} s), "
            f"{step['last'] / step['same']:.2f} with the last Event ({step['last']:.1f} s) of what it needs for the same requests ({step['same']:.1f} s)")


def cell(step):
    if step is None:
        return "-"
    verbs = ", ".join(f"{count} {verb}" for verb, count in step["requests"].items()) or "none"
    events = f", {step['events']} Events" if step["events"] else ""
    lost = f" ({step['lost']} lost)" if "lost" in step else ""
    kubelet = f" (kubelet {step['kubelet']:.1f} s)" if "kubelet" in step else ""
    bare = f" ({beside_bare_clients(step)})" if "same" in step else ""
    return f"{step['count']:,}: {step['seconds']:.1f} s{kubelet}{bare}; {step['cpu']:.2f} CPU-s; {step['peak_mb']:.0f} MB; {verbs}{events}{lost}"


def table(results):
    rows = [["step"] + [NAMES[each["kind"]] for each in results], ["---"] * (len(results) + 1)]
    rows.append(["the server alone, objects/s at 16 connections, before and after"]
                + [f"{1 / each['alone_before']:.0f}, {1 / each['alone_after']:.0f}" for each in results])
    for name in STEPS:
        if any(name in each["steps"] for each in results):
            rows.append([name] + [cell(each["steps"].get(name)) for each in results])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def bars(top, title, figures):
    """One panel: a title and a bar for each contestant."""
    most = max([value for _, value in figures] + [1e-9])
    lines = [f'<text x="10" y="{top + 14}" font-weight="bold">{escape(title)}</text>']
    for at, (kind, value) in enumerate(figures):
        y = top + ROW * (at + 1)
        lines.append(f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(NAMES[kind])}</text>')
        lines.append(f'<rect x="{LEFT}" y="{y + 2}" width="{max(1.0, WIDTH * value / most):.1f}" height="{ROW - 6}" fill="{COLOURS[kind]}"/>')
        lines.append(f'<text x="{LEFT + WIDTH * value / most + 6:.1f}" y="{y + 14}">{value:,.1f}</text>')
    return lines


def plot(results):
    """The first step, scaled to a thousand jobs where fewer were run."""
    height = ROW * (len(results) + 2)
    lines = []
    for at, (title, figure) in enumerate(PANELS):
        figures = [(each["kind"], figure(each["steps"][STEPS[0]])) for each in results if STEPS[0] in each["steps"]]
        lines += bars(10 + at * height, title, figures)
    size = f'width="{LEFT + WIDTH + 90}" height="{20 + len(PANELS) * height}"'
    style = 'font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(lines) + "\n</svg>\n"

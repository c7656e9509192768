"""A picture of the CPU ratios: horizontal bars, one group a workload, as SVG. It has a background of its own, so that it is
readable in a page of any colour."""

from xml.sax.saxutils import escape

import summary

COLOURS = {"forwarder": "#9aa0a6", "pgbouncer-session": "#8ab4e8", "pgbouncer-transaction": "#3b78c4", "pgpool": "#d9822b",
           "pgweir": "#2e8b57", "pgweir-transaction": "#1b5e3a"}
OTHER_COLOUR = "#777777"
BAR, GAP, LEFT, RIGHT, TOP, WIDTH = 14, 12, 130, 60, 74, 820
FONT = 'font-family="Helvetica, Arial, sans-serif"'


def _text(x, y, text, size=12, anchor="start", colour="#222222", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" {FONT} font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{escape(text)}</text>')


def axis_step(highest):
    """Distance of grid lines: about six of them, at a number that is easily read."""
    for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50):
        if highest / step <= 8:
            return step
    return 100


def _groups(rows):
    groups = {}
    for row in rows:
        if row.cpu is not None and row.peer != summary.BASE:
            groups.setdefault((row.workload, row.clients), []).append(row)
    return groups


def _legend(peers):
    parts, x = [], LEFT
    for peer in peers:
        parts.append(f'<rect x="{x}" y="46" width="11" height="11" fill="{COLOURS.get(peer, OTHER_COLOUR)}"/>')
        parts.append(_text(x + 16, 56, peer))
        x += 34 + 7 * len(peer)
    return parts


def _grid(highest, scale, height):
    parts, step, at = [], axis_step(highest), 0.0
    while at <= highest:
        x = LEFT + at * scale
        strong = at == 1
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 26}" '
                     f'stroke="{"#444444" if strong else "#dddddd"}" stroke-width="{1.5 if strong else 1}"/>')
        parts.append(_text(x, height - 10, f"{at:g}×", 11, "middle", "#555555"))
        at += step
    if not (1 / step).is_integer():
        x = LEFT + scale
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 26}" stroke="#444444" stroke-width="1.5"/>')
    return parts


def _bars(groups, scale):
    parts, y = [], TOP
    for (workload, clients), rows in groups.items():
        middle = y + len(rows) * BAR / 2
        parts.append(_text(LEFT - 10, middle, workload, 12, "end", weight="bold"))
        parts.append(_text(LEFT - 10, middle + 13, f"{clients} client{'s' if clients != 1 else ''}", 10, "end", "#555555"))
        for row in rows:
            width = max(1.0, row.cpu * scale)
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" '
                         f'fill="{COLOURS.get(row.peer, OTHER_COLOUR)}"><title>{escape(row.peer)}: {row.cpu:.2f}</title></rect>')
            parts.append(_text(LEFT + width + 4, y + BAR - 4, f"{row.cpu:.2f}", 10, colour="#333333"))
            y += BAR
        y += GAP
    return parts


def draw(rows, note):
    """SVG text. NOTE is a line on how it was measured."""
    groups = _groups(rows)
    bars = sum(len(g) for g in groups.values())
    height = TOP + bars * BAR + max(len(groups), 1) * GAP + 26
    highest = max([1.0] + [row.cpu for g in groups.values() for row in g])
    scale = (WIDTH - LEFT - RIGHT) / highest
    peers = list(dict.fromkeys(row.peer for g in groups.values() for row in g))
    title = "CPU time of the proxy per transaction, as a multiple of a plain TCP forwarder's (less is better)"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
             f"<title>{escape(title)}</title>",
             f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
             _text(14, 20, title, 14, weight="bold"), _text(14, 37, note, 11, colour="#555555")]
    parts += _legend(peers) + _grid(highest, scale, height) + _bars(groups, scale)
    if not groups:
        parts.append(_text(LEFT, TOP + 8, "no figures"))
    return "\n".join(parts) + "\n</svg>\n"

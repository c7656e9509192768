"""From measurements to ratios. Nothing here touches a clock, a process or a network."""

import statistics
from collections import namedtuple

BASE = "forwarder"
COLUMNS = ("round", "workload", "clients", "peer", "transactions", "cpu_us_per_transaction", "tps", "standby_share", "error")

# One run of pgbench. ERROR is empty or says why there are no figures. STANDBY_SHARE is the part (0 to 1) of the servers'
# transactions that ran on standbys.
Measurement = namedtuple("Measurement", COLUMNS)

# One peer in one workload: medians over the rounds of the ratio to the base in the same round, and the CPU ratio's range.
# CPU and RATE are None without a round in which both have figures.
Row = namedtuple("Row", "workload clients peer rounds cpu cpu_low cpu_high rate standby_share errors")


def to_tsv(measurements):
    lines = ["\t".join(COLUMNS)]
    for m in measurements:
        lines.append("\t".join(f"{v:.4f}" if isinstance(v, float) else " ".join(str(v).split()) for v in m))
    return "\n".join(lines) + "\n"


def from_tsv(text):
    lines = text.splitlines()
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise ValueError("not a result of ./bench: the first line must name its columns")
    result = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            raise ValueError(f"line {number} has {len(fields)} columns, not {len(COLUMNS)}")
        result.append(Measurement(int(fields[0]), fields[1], int(fields[2]), fields[3], int(fields[4]),
                                  float(fields[5]), float(fields[6]), float(fields[7]), fields[8]))
    return result


def summarize(measurements):
    """Rows in the order in which workloads and peers first appear, the base left in (its ratios are 1)."""
    bases = {(m.round, m.workload, m.clients): m for m in measurements if m.peer == BASE and not m.error}
    groups = {}
    for m in measurements:
        groups.setdefault((m.workload, m.clients), {}).setdefault(m.peer, []).append(m)
    rows = []
    for (workload, clients), peers in groups.items():
        for peer, runs in sorted(peers.items(), key=lambda item: _first_seen(measurements, item[0])):
            good = [m for m in runs if not m.error]
            pairs = [(m, bases[key]) for m in good if (key := (m.round, m.workload, m.clients)) in bases]
            cpu = [m.cpu_us_per_transaction / b.cpu_us_per_transaction for m, b in pairs if b.cpu_us_per_transaction > 0]
            rate = [m.tps / b.tps for m, b in pairs if b.tps > 0]
            rows.append(Row(
                workload, clients, peer, len(pairs),
                statistics.median(cpu) if cpu else None, min(cpu, default=None), max(cpu, default=None),
                statistics.median(rate) if rate else None,
                statistics.median(m.standby_share for m in good) if good else None,
                [m.error for m in runs if m.error]))
    return rows


def _first_seen(measurements, peer):
    """Position in round 1's order of the peers: rounds alternate it."""
    return min((m.round, i) for i, m in enumerate(measurements) if m.peer == peer)


def table(rows):
    """Markdown. Each cell of a peer is its ratio to the base; one line a workload and client count."""
    lines = ["| workload | clients | peer | CPU | range | throughput | on standbys | rounds |",
             "|---|---:|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        number = lambda v, digits=2: "-" if v is None else f"{v:.{digits}f}"
        span = "" if row.cpu is None else f"{row.cpu_low:.2f} to {row.cpu_high:.2f}"
        share = "-" if row.standby_share is None else f"{100 * row.standby_share:.0f}%"
        rounds = str(row.rounds) if not row.errors else f"{row.rounds}; failed: {row.errors[0][:60]}"
        lines.append(f"| {row.workload} | {row.clients} | {row.peer} | {number(row.cpu)} | {span} | "
                     f"{number(row.rate)} | {share} | {rounds} |")
    return "\n".join(lines)

"""What pgbench is asked to do, and how its report is read."""

import re

# Name: (pgbench's arguments, client counts of a full run, does it write?, what it is)
# A script is given as {NAME.sql}; the runner writes SCRIPTS into its folder.
SCRIPTS = {
    "select1.sql": "SELECT 1;\n",
    "rows.sql": "SELECT generate_series(1, 100000);\n",
}
WORKLOADS = {
    "simple": (["-S", "-M", "simple"], [1, 16, 64], False, "a select by key, simple protocol"),
    "extended": (["-S", "-M", "extended"], [1, 16, 64], False, "the same, extended protocol"),
    "prepared": (["-S", "-M", "prepared"], [1, 16, 64], False, "the same, prepared"),
    "tpcb": (["-b", "tpcb-like"], [16], True, "TPC-B: a transaction of seven statements that writes"),
    "select1": (["-f", "{select1.sql}"], [16], False, "SELECT 1"),
    "rows": (["-f", "{rows.sql}"], [4], False, "a result of 100,000 rows"),
    "connect": (["-S", "-C"], [8], False, "a select with a connection of its own"),
}
QUICK = "simple:16,prepared:16,tpcb:16,rows:4,connect:8"


def parse_list(text):
    """[(name, clients)] of "simple:16,rows"; a name without a count stands for all counts of a full run."""
    chosen = []
    for word in text.split(","):
        name, _, count = word.strip().partition(":")
        if name not in WORKLOADS:
            raise ValueError(f"no workload '{name}': there are {', '.join(WORKLOADS)}")
        if count and not (count.isdecimal() and 1 <= int(count) <= 100):
            raise ValueError(f"clients of '{word.strip()}' must be a number from 1 to 100")
        chosen.extend((name, clients) for clients in ([int(count)] if count else WORKLOADS[name][1]))
    return chosen


def arguments(name, folder):
    return [f"{folder}/{a[1:-1]}" if a.startswith("{") else a for a in WORKLOADS[name][0]]


def parse_report(text):
    """(transactions, transactions per second) of pgbench's report; ValueError if clients were lost or statements failed."""
    transactions = re.search(r"^number of transactions actually processed: (\d+)", text, re.M)
    failed = re.search(r"^number of failed transactions: (\d+)", text, re.M)
    rate = re.search(r"^tps = ([0-9.]+)", text, re.M)
    if not transactions or not rate or int(transactions[1]) == 0:
        raise ValueError("pgbench reports no transactions: " + "; ".join(text.splitlines()[-6:]))
    if failed and int(failed[1]) > 0:
        raise ValueError(f"{failed[1]} transactions failed")
    return int(transactions[1]), float(rate[1])

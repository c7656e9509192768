"""Compares what two runs of a suite printed. Pure functions; the table of explained differences is differences.tsv."""

import dataclasses
import difflib
import re


@dataclasses.dataclass
class Explained:
    """A difference that is not pgweir's fault: in this setup and test, a hunk of the diff in which the pattern is found, be
    it in the changed lines or in the three before and after them; with the reason."""
    setup: str
    test: str
    hunk: re.Pattern
    reason: str


@dataclasses.dataclass
class Verdict:
    test: str
    state: str  # same, accepted (both are results that the suite itself accepts), explained, differs, missing
    reason: str = ""
    diff: str = ""


def read_explained(text):
    """Lines of setup, test, pattern and reason, separated by tabs; # begins a comment line."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or not all(fields):
            raise ValueError(f"differences.tsv, line {number}: four fields separated by tabs are expected")
        rows.append(Explained(fields[0], fields[1], re.compile(fields[2]), fields[3]))
    return rows


def hunks(direct, pooled):
    """The parts of the diff, each as text, without the head."""
    parts = []
    for line in list(difflib.unified_diff(direct.split("\n"), pooled.split("\n"), lineterm=""))[2:]:
        if line.startswith("@@"):
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def compare(setup, test, direct, pooled, expected, explained):
    """direct, pooled: the two results, None where there is none; expected: the variants that the suite accepts."""
    if direct is None or pooled is None:
        return Verdict(test, "missing", "no result " + ("directly" if direct is None else "through pgweir"))
    if direct == pooled:
        return Verdict(test, "same")
    if direct in expected and pooled in expected:
        return Verdict(test, "accepted")
    diff = "\n".join(difflib.unified_diff(direct.split("\n"), pooled.split("\n"), f"{test} directly", f"{test} through pgweir", lineterm=""))
    rows = [row for row in explained if row.setup in (setup, "*") and row.test in (test, "*")]
    used = []
    for hunk in hunks(direct, pooled):
        row = next((row for row in rows if row.hunk.search(hunk)), None)
        if row is None:
            return Verdict(test, "differs", diff=diff)
        if row.reason not in used:
            used.append(row.reason)
    return Verdict(test, "explained", "; ".join(used), diff)

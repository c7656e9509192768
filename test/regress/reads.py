"""The reads of the regression suite once more, on the database that it leaves, when nothing changes any more: a primary and two
standbys, each statement directly on the primary and through pgweir with the reads spread. Whatever pgweir sends to a standby
must give there what the primary gives.

The statements are taken from the server's log of the suite's run. In the suite itself nearly every read stands between
changes of the catalogue and so stays on the primary."""

import csv
import re

CHUNK = 40  # statements of one session: what one does to its session is not met by all that follow
MARK = "=== statement "
csv.field_size_limit(1 << 30)  # a statement is as long as it is
READ = re.compile(r"\s*(?:\(\s*)*(select|with|values|table)\b", re.IGNORECASE)
# Would end sessions, wait for others or take very long.
LEFT_OUT = re.compile(r"pg_sleep|pg_terminate_backend|pg_cancel_backend|pg_promote|pg_reload_conf|pg_rotate_logfile|pg_switch_wal|infinite_recurse"
                      r"|pg_advisory|\binto\s+(?:temp\b|unlogged\b|table\b|\w)|copy_", re.IGNORECASE)
SETTINGS = "\\set QUIET on\n\\pset pager off\nSET statement_timeout = '20s';\n"


def statements_of(log):
    """The texts of the reads in a server's log in CSV form (an iterable of lines), each once, in their order. A text with a
    backslash or a colon that psql would take for a variable is left out."""
    found = {}
    for row in csv.reader(log):
        if len(row) < 14 or not row[13].startswith("statement: "):
            continue
        text = row[13].removeprefix("statement: ").strip()
        if READ.match(text) and not LEFT_OUT.search(text) and "\\" not in text and not re.search(r"(?<!:):[A-Za-z'\"{]", text) and text.endswith(";"):
            found[text] = None
    return list(found)


def script(statements, first):
    """What psql runs; FIRST is the number of the first statement."""
    return SETTINGS + "".join(f"\\echo {MARK}{number}\n{text}\n" for number, text in enumerate(statements, first))


def answers_of(output):
    """What psql printed by the number of the statement."""
    parts = re.split(rf"(?m)^{MARK}(\d+)\n", output)
    return {int(number): text for number, text in zip(parts[1::2], parts[2::2])}


def differing(first, pooled, second):
    """(compared, those that differ): numbers of statements. Only what the primary answers twice alike is compared."""
    compared = [number for number, text in first.items() if second.get(number) == text]
    return len(compared), [number for number in compared if pooled.get(number) != first[number]]

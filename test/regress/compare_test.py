"""Tests of the pure parts: what counts as a difference, and how sources and versions are chosen."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))

import compare
import material
import reads
from servers import Failure

EXPLAINED = compare.read_explained("# comment\n\nprimary\tpids\t(?m)^[-+] *pid \\d+$\tshows a pid\n*\tany\tport\tshows a port\n")
FAR = "\n" * 8


class Compare(unittest.TestCase):
    def state(self, setup, test, direct, pooled, expected=()):
        return compare.compare(setup, test, direct, pooled, expected, EXPLAINED).state

    def test_states(self):
        for want, *arguments in (
            ("same", "primary", "a", "x\n", "x\n"),
            ("missing", "primary", "a", "x\n", None),
            ("missing", "primary", "a", None, None),
            ("differs", "primary", "a", "x\n", "y\n"),
            ("accepted", "primary", "a", "x\n", "y\n", ["x\n", "y\n"]),
            ("differs", "primary", "a", "x\n", "y\n", ["x\n"]),
            ("differs", "primary", "a", "x\n", "y\n", ["y\n"]),
            ("explained", "primary", "pids", "x\n pid 12\n", "x\n pid 13\n"),
            ("explained", "primary", "pids", f"x{FAR}pid 12\n", f"x{FAR}pid 13\n"),
            ("differs", "primary", "pids", f"x{FAR}pid 12\n", f"y{FAR}pid 13\n"),
            ("differs", "standbys", "pids", "pid 12\n", "pid 13\n"),
            ("differs", "primary", "other", "pid 12\n", "pid 13\n"),
            ("explained", "standbys", "any", "port 1\n", ""),
            ("explained", "standbys", "any", "port 1\nx\n", "port 1\ny\n"),
            ("differs", "standbys", "any", f"port 1{FAR}x\n", f"port 1{FAR}y\n"),
            ("differs", "primary", "pids", "x", "x\n"),
        ):
            with self.subTest(want=want, arguments=arguments):
                self.assertEqual(self.state(*arguments), want)

    def test_reason_and_diff(self):
        verdict = compare.compare("primary", "pids", "pid 1\n", "pid 2\n", (), EXPLAINED)
        self.assertEqual(verdict.reason, "shows a pid")
        self.assertIn("-pid 1\n+pid 2", verdict.diff)

    def test_lines_that_look_like_a_head(self):
        self.assertEqual(compare.hunks("-- a\n++ b\n", ""), ["@@ -1,3 +1 @@\n--- a\n-++ b\n "])

    def test_bad_table(self):
        for text in ("primary\tpids\tx\n", "primary\tpids\t\treason\n", "a\tb\tc\td\te\n"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                compare.read_explained(text)

    def test_the_table_itself(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.tsv"), encoding="utf-8") as file:
            compare.read_explained(file.read())


class Material(unittest.TestCase):
    def test_sources(self):
        self.assertEqual(material.with_sources("Types: deb\nURIs: u\n\nTypes: deb deb-src\nURIs: v\n", True),
                         "Types: deb deb-src\nURIs: u\n\nTypes: deb deb-src\nURIs: v\n")
        self.assertEqual(material.with_sources("# c\ndeb [a=b] u s c\ndeb-src u s c\n", False),
                         "deb [a=b] u s c\ndeb-src [a=b] u s c\n")

    def test_version(self):
        self.assertEqual(material.choose_version(["15.1", "15.2"], "15.1"), "15.1")
        self.assertEqual(material.choose_version(["15.1", "15.2"], "15.3"), "15.2")
        with self.assertRaises(Failure):
            material.choose_version([], "15.3")


class Reads(unittest.TestCase):
    def test_statements(self):
        def row(message):
            return ",".join(["x"] * 13 + ['"' + message.replace('"', '""') + '"'])

        log = "\n".join(row(m) for m in ("statement: SELECT 1;", "statement: SELECT 1;", "statement: (TABLE\n\"a\");", "statement: INSERT INTO t SELECT 1;",
                                       "duration: 1", "statement: SELECT :a;", "statement: SELECT 1::int;", "statement: SELECT pg_sleep(1);",
                                       "statement: SELECT 1 INTO t;", "statement: selected;", "statement: SELECT " + "1" * 200000)) + "\nshort,row\n"
        self.assertEqual(reads.statements_of(log.splitlines(keepends=True)), ["SELECT 1;", '(TABLE\n"a");', "SELECT 1::int;"])

    def test_answers(self):
        output = f"SET\n{reads.MARK}7\na\nb\n{reads.MARK}8\n{reads.MARK}9\nc\n"
        self.assertEqual(reads.answers_of(output), {7: "a\nb\n", 8: "", 9: "c\n"})

    def test_differing(self):
        first, second = {1: "a", 2: "b", 3: "c", 4: "d"}, {1: "a", 2: "x", 3: "c", 4: "d"}
        self.assertEqual(reads.differing(first, {1: "a", 2: "b", 3: "z"}, second), (3, [3, 4]))


if __name__ == "__main__":
    unittest.main()

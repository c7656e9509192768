"""Runs PostgreSQL's own regression and isolation suites directly and through pgweir, and compares what they print.

  --pgweir PROGRAM     the program, a release build's
  --work FOLDER        for what is fetched and for the results
  --suites LIST        of regress,isolation,reads (see reads.py; always with standbys); regress if not given
  --setups LIST        of primary (one server behind pgweir), standbys (reads are spread over a primary and two standbys);
                       primary if not given
  --tests LIST         only these, one after the other, after those that they need; the whole schedule if not given
  --reuse-direct       keep the results of the last direct run
Environment: PGWEIR_REGRESS_PORT 26432 (and 9 ports from it on), PGWEIR_REGRESS_TMP /var/tmp.
Ends non-zero if any result differs that differences.tsv does not explain. As root, servers and pgweir run as postgres."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))

import compare  # noqa: E402
import reads  # noqa: E402
from installation import ROLE, Pgweir, Servers  # noqa: E402
from material import Material  # noqa: E402
from servers import Failure, Runner  # noqa: E402

SETUPS = {"direct": None, "primary": 0, "standbys": 2}  # standbys behind pgweir
SCHEDULES = {"regress": "parallel_schedule", "isolation": "isolation_schedule"}
SUITES = (*SCHEDULES, "reads")
SUITE_SECONDS = 3600  # far more than a suite takes on a busy machine: something hangs


def say(text):
    print(text, flush=True)


class Suite:
    """One run of a suite in one setup."""

    def __init__(self, name, setup, options, material):
        self.name, self.setup, self.options, self.material = name, setup, options, material
        self.results = f"{options.work}/results/{name}-{setup}"

    def run(self):
        base = os.environ.get("PGWEIR_REGRESS_TMP", "/var/tmp")
        folder = tempfile.mkdtemp(prefix="pgweir-regress-", dir=base)
        os.chmod(folder, 0o755)
        runner = Runner(folder)
        if runner.user:
            shutil.chown(folder, runner.user, runner.user)
        port = int(os.environ.get("PGWEIR_REGRESS_PORT", "26432"))
        servers = Servers(runner, self.material.bin, port, SETUPS[self.setup] or 0)
        pgweir = Pgweir(runner, self.options.pgweir, port + 8, servers) if self.setup != "direct" else None
        try:
            servers.start()
            began = time.monotonic()
            result = self._steps(runner, servers, pgweir)
            say(f"  {self.name}, {self.setup}: {time.monotonic() - began:.0f} s")
            return result
        finally:
            orderly = pgweir is None or pgweir.stop()
            servers.stop()
            self._keep_logs(folder)
            shutil.rmtree(folder, ignore_errors=True)
        if not orderly:
            say(f"  {self.name}, {self.setup}: pgweir did not end in order: {self.results}/pgweir.log")

    def _steps(self, runner, servers, pgweir):
        if pgweir:
            pgweir.start()
        self._drive(runner, pgweir.port if pgweir else servers.ports[0])
        self._keep(runner.folder)

    def _drive(self, runner, port):
        folder, material = runner.folder, self.material
        for name, source in ((self.name, f"{material.folder}/tests/{self.name}"), ("lib", f"{material.folder}/lib")):
            shutil.copytree(source, f"{folder}/{name}")
        arguments = [material.program(self.name), f"--inputdir={folder}/{self.name}", f"--outputdir={folder}/output", f"--bindir={material.bin}",
                     f"--dlpath={folder}/lib", f"--host={folder}", f"--port={port}", f"--user={ROLE}"]
        if self.options.tests:
            arguments += (["test_setup"] if self.name == "regress" else []) + self.options.tests
        else:
            arguments.append(f"--schedule={folder}/{self.name}/{SCHEDULES[self.name]}")
        runner.run(["mkdir", "output"])
        if self.name == "isolation":
            runner.environment["LD_PRELOAD"] = f"{folder}/lib/backend_pid.so"
        process = runner.start(arguments, f"{folder}/driver.log")
        try:
            process.wait(SUITE_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"  {self.name}, {self.setup}: still running after {SUITE_SECONDS} s, ended")
        finally:
            runner.environment.pop("LD_PRELOAD", None)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)  # the leader of a group of its own
                process.wait()
        with open(f"{folder}/driver.log", errors="replace") as file:
            text = file.read()
        if not os.path.isdir(f"{folder}/output/results"):
            raise Failure(f"{self.name}, {self.setup}: no test was run: {text.strip()[-400:]}")

    def _keep(self, folder):
        shutil.rmtree(self.results, ignore_errors=True)
        shutil.copytree(f"{folder}/output/results", f"{self.results}/results", ignore=lambda at, names: [n for n in names if not n.endswith(".out")])

    def _keep_logs(self, folder):
        os.makedirs(self.results, exist_ok=True)
        for name in os.listdir(folder):
            if name.endswith(".log"):
                shutil.copy(f"{folder}/{name}", self.results)

    def read(self, test):
        return read(f"{self.results}/results/{test}.out")


class Reads(Suite):
    """The suite runs directly; then its reads are repeated. See reads.py."""

    def __init__(self, options, material):
        super().__init__("regress", "standbys", options, material)
        self.results = f"{options.work}/results/reads-standbys"

    def _steps(self, runner, servers, pgweir):
        """The number of statements that differ."""
        servers.log_statements()
        self._drive(runner, servers.ports[0])
        with open(servers.statement_log(), newline="", encoding="utf-8", errors="replace") as file:
            statements = reads.statements_of(file)
        servers.settle()
        pgweir.start()
        compared, differ, diffs = 0, 0, []
        for first in range(0, len(statements), reads.CHUNK):
            chunk = statements[first:first + reads.CHUNK]
            runner.write(f"{runner.folder}/reads.sql", reads.script(chunk, first))
            answers = [reads.answers_of(servers.run_script(port, "regression", f"{runner.folder}/reads.sql"))
                       for port in (servers.ports[0], pgweir.port, servers.ports[0])]
            count, numbers = reads.differing(*answers)
            compared, differ = compared + count, differ + len(numbers)
            for number in numbers:
                diffs.append(f"{chunk[number - first]}\n" + "".join(f"{sign} {line}\n" for sign, answer in (("-", answers[0]), ("+", answers[1]))
                                                                   for line in answer.get(number, "no answer").splitlines()))
        with open(f"{self.options.work}/reads-standbys.diffs", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(diffs))
        with open(f"{runner.folder}/pgweir.log", errors="replace") as file:
            spread = sum(bool(re.search(r"DB node id: [12] ", line)) for line in file)
        say(f"reads: {len(statements)} statements, {compared} compared, {spread} ran on a standby, {differ} differ")
        return differ


def read(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:
        return None


def tests_of(suite, options, material):
    if options.tests:
        return options.tests
    with open(f"{material.folder}/tests/{suite}/{SCHEDULES[suite]}") as file:
        return [name for line in file if (found := re.match(r"test:(.*)", line)) for name in found[1].split()]


def expected_of(suite, test, material):
    folder = f"{material.folder}/tests/{suite}/expected"
    names = [f"{test}.out"] + [f"{test}_{i}.out" for i in range(10)]
    return [text for name in names if (text := read(f"{folder}/{name}")) is not None]


def judge(direct, pooled, options, material):
    """Prints the verdicts and writes the diffs; returns the number of differences that nothing explains."""
    explained = compare.read_explained(read(f"{os.path.dirname(os.path.abspath(__file__))}/differences.tsv"))
    verdicts = []
    for test in tests_of(pooled.name, options, material):
        verdicts.append(compare.compare(pooled.setup, test, direct.read(test), pooled.read(test), expected_of(pooled.name, test, material), explained))
    with open(f"{options.work}/{pooled.name}-{pooled.setup}.diffs", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("".join(verdict.diff + "\n" for verdict in verdicts if verdict.diff))
    count = {state: sum(v.state == state for v in verdicts) for state in ("same", "accepted", "explained", "differs", "missing")}
    say(f"{pooled.name}, {pooled.setup}: {len(verdicts)} tests: {count['same']} print the same, {count['accepted']} otherwise but as the suite "
        f"accepts, {count['explained']} explained, {count['differs'] + count['missing']} differ")
    for verdict in verdicts:
        if verdict.state in ("explained", "differs", "missing"):
            say(f"  {verdict.state:9} {verdict.test}" + (f": {verdict.reason}" if verdict.reason else ""))
    return count["differs"] + count["missing"]


def run(options):
    material = Material(options.work)
    os.makedirs(options.work, exist_ok=True)
    material.prepare()
    say(f"PostgreSQL {material.installed()}, the suites of {material.version()}")
    differ = 0
    for name in options.suites:
        if name == "reads":
            differ += Reads(options, material).run()
            continue
        direct = Suite(name, "direct", options, material)
        if not (options.reuse_direct and os.path.isdir(f"{direct.results}/results")):
            direct.run()
        for setup in options.setups:
            pooled = Suite(name, setup, options, material)
            pooled.run()
            differ += judge(direct, pooled, options, material)
    if differ:
        say(f"The differences: {options.work}/SUITE-SETUP.diffs")
    return 1 if differ else 0


def parse_options(arguments):
    def names(known):
        def parse(text):
            chosen = [name for name in text.split(",") if name]
            for name in chosen:
                if known and name not in known:
                    raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(known)}")
            return chosen
        return parse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pgweir", required=True, type=os.path.abspath)
    parser.add_argument("--work", required=True, type=os.path.abspath)
    parser.add_argument("--suites", type=names(SUITES), default=["regress"])
    parser.add_argument("--setups", type=names([name for name in SETUPS if name != "direct"]), default=["primary"])
    parser.add_argument("--tests", type=names(()), default=[])
    parser.add_argument("--reuse-direct", action="store_true")
    return parser.parse_args(arguments)


def main(arguments):
    try:
        return run(parse_options(arguments))
    except (Failure, OSError, ValueError) as error:
        say(f"regress: {error}")
        return 2
    except KeyboardInterrupt:
        say("regress: interrupted")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

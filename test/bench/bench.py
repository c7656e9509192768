"""The part of ./bench that measures; ./bench itself installs and builds what is needed before. See doc/benchmarks.md.

  bench.py packages OPTION...              Debian packages of the peers that the options choose; fails on bad options
  bench.py run OPTION...                   measures build/release/pgweir, in a folder of its own that is removed at the end
  bench.py draw RESULT.tsv [OPTION...]     table and picture of an earlier result
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import chart
import peers
import servers
import summary
import workloads

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def positive(text):
    if not text.isdecimal() or not 1 <= int(text) <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 to 3600")
    return int(text)


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="bench", add_help=False, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=positive)
    parser.add_argument("--seconds", type=positive)
    parser.add_argument("--peers", default=",".join(peers.PEERS))
    parser.add_argument("--workloads")
    parser.add_argument("--output", default=ROOT)
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.seconds = options.seconds or (2 if options.quick else 6)
    try:
        options.peers = peers.parse_list(options.peers)
        default = workloads.QUICK if options.quick else ",".join(workloads.WORKLOADS)
        options.workloads = workloads.parse_list(options.workloads or default)
    except ValueError as error:
        parser.error(str(error))
    return options


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.runner = servers.Runner(folder)
        port = int(os.environ.get("PGWEIR_BENCH_PORT", "25432"))
        self.cluster = servers.Cluster(self.runner, port, scale=int(os.environ.get("PGWEIR_BENCH_SCALE", "10")))
        self.peers = []
        # Two a peer: the second is for its administration, which is switched off.
        used = self.cluster.ports + [port + 10 + i for i in range(2 * len(options.peers))]
        refuse_used_ports(used)
        for i, peer in enumerate(options.peers):
            candidate = peer(self.runner, self.cluster, port + 10 + 2 * i)
            if candidate.program() and os.access(candidate.program(), os.X_OK):
                self.peers.append(candidate)
            else:
                say(f"{peer.name} is left out: it is not installed")

    def run(self):
        for name, text in workloads.SCRIPTS.items():
            self.runner.write(f"{self.runner.folder}/{name}", text)
        say("Making a primary and two standbys")
        self.cluster.start()
        measurements = []
        for number in range(1, self.options.rounds + 1):
            # Every other round runs backwards: what drifts during a round then hits no peer always the same way.
            order = self.peers if number % 2 else self.peers[::-1]
            for workload, clients in self.options.workloads:
                measured = [self.measure(number, workload, clients, peer) for peer in order
                            if not self.skipped(number, workload, peer)]
                say(f"round {number}, {workload} with {clients} client(s): " + progress(measured))
                measurements += measured
        return measurements

    def skipped(self, number, workload, peer):
        reason = peer.lacks(workload)
        if reason and number == 1:
            say(f"{peer.name} is left out of {workload}: {reason}")
        return bool(reason)

    def pgbench(self, peer, workload, clients, *limit):
        done = self.runner.run(
            [f"{self.cluster.bin}/pgbench", "-n", *workloads.arguments(workload, self.runner.folder), "-c", str(clients),
             "-j", str(min(clients, 2)), *limit, "-h", "127.0.0.1", "-p", str(peer.port),
             "-U", servers.ROLE, servers.DATABASE],
            check=False, timeout=self.options.seconds + 60)
        if done.returncode != 0:
            raise ValueError((done.stderr.strip().splitlines() or ["pgbench failed"])[-1][:200])
        return workloads.parse_report(done.stdout)

    def measure(self, number, workload, clients, peer):
        """The peer runs alone: started before, stopped after, so that what others do when idle is in no figure."""
        if workloads.WORKLOADS[workload][2]:
            self.cluster.tidy()
        self.cluster.settle()
        before = self.cluster.transactions()
        count, cpu, rate, error = 0, 0.0, 0.0, ""
        try:
            peer.start(clients)
            self.pgbench(peer, workload, clients, "-t", "10")  # fills its pool and caches
            cpu = peer.cpu_ns()
            count, rate = self.pgbench(peer, workload, clients, "-T", str(self.options.seconds))
            cpu = (peer.cpu_ns() - cpu) / 1000 / count
        except (ValueError, servers.Failure, subprocess.TimeoutExpired) as failure:
            count, cpu, rate, error = 0, 0.0, 0.0, str(failure)
        finally:
            peer.stop()
        # A server tells its counts when a connection ends: the peer, and with it its pool, is gone now.
        nodes = [after - b for after, b in zip(self.settled_counts(), before)]
        share = sum(nodes[1:]) / sum(nodes) if sum(nodes) > 0 else 0.0
        return summary.Measurement(number, workload, clients, peer.name, count, cpu, rate, share, error)

    def settled_counts(self):
        connections = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{servers.DATABASE}'"
        for port in self.cluster.ports:
            servers.wait_for("the peer's connections to end", lambda p=port: self.cluster.sql(p, connections) == "0")
        return self.cluster.transactions()

    def stop(self):
        for peer in self.peers:
            peer.stop()
        self.cluster.stop()


def refuse_used_ports(ports):
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                raise servers.Failure(f"port {port} is in use: PGWEIR_BENCH_PORT names another first port")


def progress(measured):
    base = next((m for m in measured if m.peer == summary.BASE and not m.error), None)
    parts = []
    for m in measured:
        if m.error:
            parts.append(f"{m.peer} FAILED ({m.error[:120]})")
        elif base and base.cpu_us_per_transaction > 0:
            parts.append(f"{m.peer} {m.cpu_us_per_transaction / base.cpu_us_per_transaction:.2f}")
    return ", ".join(parts)


def write_results(measurements, options, with_tsv=True):
    rows = summary.summarize(measurements)
    rounds = max((m.round for m in measurements), default=0)
    note = f"median of {rounds} round{'s' if rounds != 1 else ''} on one machine, servers and clients included"
    os.makedirs(f"{options.output}/doc", exist_ok=True)
    written = [(f"{options.output}/doc/bench.svg", chart.draw(rows, note))]
    if with_tsv:
        written.append((f"{options.output}/bench-result.tsv", summary.to_tsv(measurements)))
    for path, text in written:
        with open(path, "w") as file:
            file.write(text)
        say(f"wrote {path}")
    print(f"\nRatios to the plain forwarder, medians over {rounds} round(s). CPU: of the proxy per transaction, less is better.\n")
    print(summary.table(rows))


def make_folder():
    """With copies of the programs: the servers' user may not be allowed into the folder of the sources."""
    folder = tempfile.mkdtemp(prefix="pgweir-bench.", dir=os.environ.get("PGWEIR_BENCH_TMP", "/var/tmp"))
    os.mkdir(f"{folder}/bin")
    for program in ("pgweir", "bench_forwarder"):
        shutil.copy(f"{ROOT}/build/release/{program}", f"{folder}/bin/{program}")
    if os.geteuid() == 0:
        os.chmod(f"{folder}/bin", 0o755)
        shutil.chown(folder, "postgres", "postgres")
    return folder


def interrupt(*_):
    raise KeyboardInterrupt


def run(options):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    folder = make_folder()
    bench = None
    try:
        bench = Bench(options, folder)
        measurements = bench.run()
    finally:
        if bench:
            bench.stop()
        shutil.rmtree(folder, ignore_errors=True)
    write_results(measurements, options)
    return 1 if any(m.error for m in measurements) else 0


def main(arguments):
    what, rest = (arguments or [""])[0], arguments[1:]
    try:
        if what == "packages":
            print(" ".join(dict.fromkeys(p.package for p in parse_options(rest).peers if p.package)))
            return 0
        if what == "run":
            return run(parse_options(rest))
        if what == "draw" and rest:
            with open(rest[0]) as file:
                write_results(summary.from_tsv(file.read()), parse_options(rest[1:]), with_tsv=False)
            return 0
    except (servers.Failure, OSError, ValueError) as error:
        say(f"bench: {error}")
        return 1
    except KeyboardInterrupt:
        say("bench: interrupted")
        return 130
    say(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

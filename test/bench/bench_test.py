"""Tests of what ./bench computes, reads and draws; no server is needed. BENCH_FORWARDER names the built forwarder."""

import os
import socket
import subprocess
import sys
import threading
import time
import unittest
import xml.etree.ElementTree as xml

import bench
import chart
import peers
import process_tree
import summary
import workloads

REPORT = """pgbench (15.1)
transaction type: <builtin: select only>
number of transactions actually processed: 1200
number of failed transactions: 0 (0.000%)
latency average = 0.5 ms
initial connection time = 3.1 ms
tps = 400.25 (without initial connection time)
"""


def measurement(number, peer, cpu, tps=100.0, share=0.0, error="", workload="simple", clients=16):
    return summary.Measurement(number, workload, clients, peer, 0 if error else 10, cpu, tps, share, error)


class Summary(unittest.TestCase):
    def row(self, measurements, peer):
        return next(r for r in summary.summarize(measurements) if r.peer == peer)

    def test_ratio_is_taken_within_a_round_and_then_the_median(self):
        # Ratios 2, 1.5 and 10: the median is 2. The ratio of the medians would be 60 / 20 = 3, the mean 4.5.
        runs = []
        for number, base, other in ((1, 10.0, 20.0), (2, 40.0, 60.0), (3, 20.0, 200.0)):
            runs += [measurement(number, "forwarder", base), measurement(number, "x", other)]
        row = self.row(runs, "x")
        self.assertEqual((row.cpu, row.cpu_low, row.cpu_high, row.rounds), (2.0, 1.5, 10.0, 3))

    def test_median_of_two_rounds_is_their_mean(self):
        runs = [measurement(1, "forwarder", 10.0), measurement(1, "x", 20.0), measurement(2, "forwarder", 10.0), measurement(2, "x", 30.0)]
        self.assertEqual(self.row(runs, "x").cpu, 2.5)

    def test_rates_are_ratios_too(self):
        runs = [measurement(1, "forwarder", 10.0, tps=200.0), measurement(1, "x", 10.0, tps=50.0)]
        self.assertEqual(self.row(runs, "x").rate, 0.25)

    def test_base_is_one(self):
        row = self.row([measurement(1, "forwarder", 7.0), measurement(2, "forwarder", 9.0)], "forwarder")
        self.assertEqual((row.cpu, row.rate), (1.0, 1.0))

    def test_failed_runs_and_rounds_without_base_are_no_figures(self):
        runs = [measurement(1, "forwarder", 10.0), measurement(1, "x", 30.0),
                measurement(2, "forwarder", 0.0, error="lost"), measurement(2, "x", 5.0),
                measurement(3, "forwarder", 10.0), measurement(3, "x", 0.0, error="hung")]
        row = self.row(runs, "x")
        self.assertEqual((row.cpu, row.rounds, row.errors), (3.0, 1, ["hung"]))

    def test_all_failed(self):
        row = self.row([measurement(1, "forwarder", 10.0), measurement(1, "x", 0.0, error="no")], "x")
        self.assertEqual((row.cpu, row.rate, row.standby_share, row.rounds), (None, None, None, 0))
        self.assertIn("failed: no", summary.table([row]))

    def test_workloads_and_client_counts_are_kept_apart(self):
        runs = [measurement(1, "forwarder", 10.0), measurement(1, "x", 20.0),
                measurement(1, "forwarder", 40.0, clients=1), measurement(1, "x", 40.0, clients=1)]
        self.assertEqual([(r.clients, r.cpu) for r in summary.summarize(runs) if r.peer == "x"], [(16, 2.0), (1, 1.0)])

    def test_a_backward_round_does_not_change_the_order(self):
        runs = [measurement(1, "forwarder", 1.0), measurement(1, "x", 1.0), measurement(2, "x", 1.0), measurement(2, "forwarder", 1.0)]
        self.assertEqual([r.peer for r in summary.summarize(runs)], ["forwarder", "x"])

    def test_table_has_ratios_only(self):
        text = summary.table(summary.summarize([measurement(1, "forwarder", 123.0, tps=777.0), measurement(1, "x", 246.0, tps=777.0, share=0.66)]))
        self.assertIn("| simple | 16 | x | 2.00 | 2.00 to 2.00 | 1.00 | 66% | 1 |", text)
        self.assertNotIn("777", text)
        self.assertNotIn("246", text)

    def test_tsv_there_and_back(self):
        runs = [measurement(1, "forwarder", 10.5, share=0.25), measurement(1, "x", 0.0, tps=0.0, error="a\tb\nc")]
        back = summary.from_tsv(summary.to_tsv(runs))
        self.assertEqual(back, [runs[0], runs[1]._replace(error="a b c")])

    def test_a_wrong_file_is_refused(self):
        for text in ("", "a\tb\n", "\t".join(summary.COLUMNS) + "\n1\tsimple\n"):
            with self.assertRaises(ValueError):
                summary.from_tsv(text)


class Report(unittest.TestCase):
    def test_counts(self):
        self.assertEqual(workloads.parse_report(REPORT), (1200, 400.25))

    def test_failures_are_errors(self):
        for text in ("", REPORT.replace("processed: 1200", "processed: 0"), REPORT.replace("failed transactions: 0", "failed transactions: 7")):
            with self.assertRaises(ValueError):
                workloads.parse_report(text)


class Options(unittest.TestCase):
    def test_workloads(self):
        self.assertEqual(workloads.parse_list("rows, simple:2"), [("rows", 4), ("simple", 2)])
        self.assertEqual(workloads.parse_list("simple"), [("simple", 1), ("simple", 16), ("simple", 64)])
        self.assertTrue(workloads.parse_list(workloads.QUICK))
        for bad in ("", "nothing", "simple:0", "simple:101", "simple:x"):
            with self.subTest(bad), self.assertRaises(ValueError):
                workloads.parse_list(bad)

    def test_no_workload_has_more_clients_than_the_peers_pools(self):
        self.assertLessEqual(max(c for w in workloads.WORKLOADS.values() for c in w[1]), peers.CLIENTS)

    def test_the_forwarder_is_always_measured(self):
        self.assertEqual([p.name for p in peers.parse_list("pgweir")], ["forwarder", "pgweir"])
        with self.assertRaises(ValueError):
            peers.parse_list("pgwier")

    def test_quick(self):
        self.assertEqual((bench.parse_options(["--quick"]).rounds, bench.parse_options([]).rounds), (1, 3))
        self.assertEqual(bench.parse_options(["--quick", "--rounds", "4"]).rounds, 4)

    def test_help_of_the_command(self):
        done = subprocess.run([bench.ROOT + "/bench", "--help"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--quick", "--rounds N", "--seconds S", "--peers LIST", "--workloads LIST", "--help"):
            self.assertIn(option, done.stdout)
        for name in [p for p in peers.PEERS if p != "forwarder"] + list(workloads.WORKLOADS):
            self.assertIn(name, done.stdout)


class Picture(unittest.TestCase):
    def draw(self, measurements):
        return xml.fromstring(chart.draw(summary.summarize(measurements), "a < b & c"))

    def bars(self, tree):
        return {r[0].text: float(r.get("width")) for r in tree.iter("{http://www.w3.org/2000/svg}rect") if len(r)}

    def test_lengths_are_the_ratios(self):
        tree = self.draw([measurement(1, "forwarder", 10.0), measurement(1, "pgpool", 40.0), measurement(1, "pgweir", 10.0)])
        bars = self.bars(tree)
        self.assertEqual(set(bars), {"pgpool: 4.00", "pgweir: 1.00"})
        self.assertAlmostEqual(bars["pgpool: 4.00"], 4 * bars["pgweir: 1.00"], delta=0.5)

    def test_nothing_leaves_the_picture(self):
        tree = self.draw([measurement(1, "forwarder", 1.0), measurement(1, "pgpool", 321.0)])
        for rect in tree.iter("{http://www.w3.org/2000/svg}rect"):
            self.assertLessEqual(float(rect.get("x", 0)) + float(rect.get("width")), float(tree.get("width")))

    def test_no_figures(self):
        self.assertEqual(self.bars(self.draw([])), {})


class ProcessTree(unittest.TestCase):
    def test_stat_with_a_hostile_name(self):
        fields = "S 7 1 1 0 -1 0 0 0 0 0 3 4 5 6 20 0 1 0 9 0 0"
        self.assertEqual(process_tree.parse_stat(f"42 (a) R 1 (b) {fields}\n"),
                         (7, 7 * process_tree.TICK_NS, 11 * process_tree.TICK_NS))

    def test_tree(self):
        processes = {1: (0, 0, 0), 5: (1, 0, 0), 6: (5, 0, 0), 7: (6, 0, 0), 8: (1, 0, 0)}
        self.assertEqual(sorted(process_tree.tree(processes, 5)), [5, 6, 7])
        self.assertEqual(process_tree.tree(processes, 99), [])

    def test_time_of_living_and_ended_processes_counts(self):
        burn = "import time\ndef burn(s):\n e=time.process_time()+s\n while time.process_time()<e: pass\n"
        child = f"{burn}burn(0.15)"
        parent = (f"{burn}import subprocess,sys\nsubprocess.run([sys.executable,'-c',{child!r}])\nburn(0.15)\n"
                  "print('done',flush=True)\nsys.stdin.read()")
        process = subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            used = process_tree.cpu_ns(process.pid) / 1e9
            self.assertGreater(used, 0.27)
            self.assertLess(used, 3)
        finally:
            process.communicate()


@unittest.skipUnless(os.environ.get("BENCH_FORWARDER"), "the forwarder is not built")
class Forwarder(unittest.TestCase):
    """The base of all ratios does forward, whole and in both directions at once."""

    def setUp(self):
        self.target = socket.create_server(("127.0.0.1", 0))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        self.process = subprocess.Popen([os.environ["BENCH_FORWARDER"], str(port), str(self.target.getsockname()[1])])
        deadline = time.monotonic() + 10
        while True:
            try:
                self.client = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
        self.client.settimeout(30)
        self.server = self.target.accept()[0]
        self.server.settimeout(30)

    def tearDown(self):
        self.client.close()
        self.server.close()
        self.target.close()
        self.process.terminate()
        self.process.wait()

    def receive(self, from_socket, size):
        parts = []
        while size > 0 and (part := from_socket.recv(min(size, 1 << 16))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def test_much_in_both_directions_against_slow_readers(self):
        there, back = os.urandom(1 << 20) * 8, os.urandom(1 << 20) * 8
        # Both send before either reads: all buffers on the way fill, and the forwarder has to wait for room.
        senders = [threading.Thread(target=s.sendall, args=(d,)) for s, d in ((self.client, there), (self.server, back))]
        for sender in senders:
            sender.start()
        self.assertEqual(self.receive(self.server, len(there)), there)
        self.assertEqual(self.receive(self.client, len(back)), back)
        for sender in senders:
            sender.join()

    def test_an_end_reaches_the_other_side_after_the_bytes(self):
        data = os.urandom(1 << 20)
        sender = threading.Thread(target=lambda: (self.server.sendall(data), self.server.close()))
        sender.start()
        self.assertEqual(self.receive(self.client, len(data)), data)
        self.assertEqual(self.client.recv(1), b"")
        sender.join()


if __name__ == "__main__":
    unittest.main()

"""The proxies that are compared: how each is configured, started and stopped. All of them trust everybody, speak plain TCP
and log next to nothing."""

import os
import re
import shutil
import signal
import subprocess

import process_tree
from servers import DATABASE, ROLE, SERVICE_DATABASE, Failure, wait_for

CLIENTS = 100  # at most, of any workload


class Peer:
    name = ""       # as in --peers
    package = ""    # Debian's, if it is one
    splits = False  # reads go to standbys: ready when it says that all three nodes are up
    stop_signal = signal.SIGTERM

    def __init__(self, runner, cluster, port):
        self.runner, self.cluster, self.port = runner, cluster, port
        self.folder = f"{runner.folder}/{self.name}"
        self.process = None

    def program(self):
        """Its path, or None: then it is left out."""
        return shutil.which(self.package, path=self.runner.environment["PATH"])

    def lacks(self, workload):
        """Why a workload cannot be run through it, or nothing."""
        return ""

    def command(self, clients):
        """Writes the configuration; returns program and arguments, to run in the foreground."""
        raise NotImplementedError

    def _ready(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended at its start")
        if not self.splits:
            return self.cluster.sql(self.port, "SELECT 1", check=False, database=DATABASE) == "1"
        # Both programs that split name their nodes' state so; pgpool from 4.3 on also has columns beside it.
        lines = self.cluster.sql(self.port, "SHOW POOL_NODES", check=False, database=DATABASE).splitlines()
        return sum("up" in line.split("|") for line in lines) == len(self.cluster.ports)

    def _last_words(self):
        try:
            with open(f"{self.folder}/log", errors="replace") as file:
                return file.read().strip()[-300:]
        except OSError:
            return "no log"

    def start(self, clients):
        """Ready for a workload of so many clients."""
        self.runner.run(["mkdir", "-p", self.folder])
        command = self.command(clients)
        self.process = self.runner.start(command, f"{self.folder}/log")
        try:
            wait_for(f"{self.name} to be ready", self._ready)
        except Failure as failure:
            self.stop()
            raise Failure(f"{failure}: {self._last_words()}") from failure

    def stop(self):
        if self.process is None:
            return
        processes = process_tree.tree(process_tree.snapshot(), self.process.pid)
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            for pid in processes:  # this tree's, taken when it still lived
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
        self.process = None

    def cpu_ns(self):
        return process_tree.cpu_ns(self.process.pid)


class Forwarder(Peer):
    name = "forwarder"

    def program(self):
        return f"{self.runner.folder}/bin/bench_forwarder"

    def command(self, clients):
        return [self.program(), str(self.port), str(self.cluster.port)]


class PgBouncer(Peer):
    package = "pgbouncer"
    mode = ""

    def version(self):
        text = subprocess.run([self.program(), "--version"], capture_output=True, text=True).stdout
        found = re.search(r"PgBouncer (\d+)\.(\d+)", text)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def command(self, clients):
        prepared = "max_prepared_statements = 200\n" if self.version() >= (1, 21) else ""
        self.runner.write(f"{self.folder}/users", f'"{ROLE}" ""\n')
        self.runner.write(f"{self.folder}/pgbouncer.ini", f"""
[databases]
{DATABASE} = host=127.0.0.1 port={self.cluster.port} dbname={DATABASE}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {self.folder}/users
pool_mode = {self.mode}
default_pool_size = {CLIENTS if self.mode == "session" else 20}
max_client_conn = 1000
log_connections = 0
log_disconnections = 0
{prepared}""")
        return [self.program(), f"{self.folder}/pgbouncer.ini"]


class PgBouncerSession(PgBouncer):
    name, mode = "pgbouncer-session", "session"


class PgBouncerTransaction(PgBouncer):
    name, mode = "pgbouncer-transaction", "transaction"

    def lacks(self, workload):
        return "prepared statements in transaction mode need 1.21" if workload == "prepared" and self.version() < (1, 21) else ""


class Pgpool(Peer):
    # A process for each client and one for the question whether it is ready: with more of them the measured clients would
    # meet processes whose caches the warming up has not filled.
    name, package, splits, stop_signal = "pgpool", "pgpool2", True, signal.SIGINT

    def program(self):
        return shutil.which("pgpool", path=self.runner.environment["PATH"])

    def command(self, clients):
        said = subprocess.run([self.program(), "--version"], capture_output=True, text=True)
        found = re.search(r"version (\d+)\.(\d+)", said.stdout + said.stderr)
        sockets = "unix_socket_directories" if found and (int(found[1]), int(found[2])) >= (4, 4) else "socket_dir"
        nodes = "".join(f"backend_hostname{i} = '127.0.0.1'\nbackend_port{i} = {port}\nbackend_weight{i} = 1\n"
                        f"backend_flag{i} = 'DISALLOW_TO_FAILOVER'\n" for i, port in enumerate(self.cluster.ports))
        for empty in ("pcp.conf", "pool_hba.conf", "pool_passwd"):
            self.runner.write(f"{self.folder}/{empty}", "")
        self.runner.write(f"{self.folder}/pgpool.conf", f"""
backend_clustering_mode = 'streaming_replication'
listen_addresses = '127.0.0.1'
port = {self.port}
{sockets} = '{self.folder}'
pcp_listen_addresses = ''
pcp_port = {self.port + 1}
pcp_socket_dir = '{self.folder}'
wd_ipc_socket_dir = '{self.folder}'
pid_file_name = '{self.folder}/pid'
logdir = '{self.folder}'
work_dir = '{self.folder}'
num_init_children = {clients + 1}
max_pool = 1
connection_cache = on
load_balance_mode = on
enable_pool_hba = off
sr_check_period = 10
sr_check_user = '{ROLE}'
sr_check_database = '{SERVICE_DATABASE}'
health_check_period = 0
log_min_messages = warning
{nodes}""")
        return [self.program(), "-n", "-D", "-f", f"{self.folder}/pgpool.conf", "-F", f"{self.folder}/pcp.conf",
                "-a", f"{self.folder}/pool_hba.conf"]


class Pgweir(Peer):
    name, splits, stop_signal = "pgweir", True, signal.SIGINT
    mode = "session"

    def program(self):
        return f"{self.runner.folder}/bin/pgweir"

    def command(self, clients):
        nodes = "".join(f"backend_hostname{i} = '127.0.0.1'\nbackend_port{i} = {port}\nbackend_weight{i} = 1\n"
                        for i, port in enumerate(self.cluster.ports))
        self.runner.write(f"{self.folder}/pgweir.conf", f"""
listen_addresses = '127.0.0.1'
port = {self.port}
unix_socket_directories = '{self.folder}'
pcp_listen_addresses = ''
pcp_port = {self.port + 1}
pcp_socket_dir = '{self.folder}'
pid_file_name = '{self.folder}/pid'
work_dir = '{self.folder}'
num_init_children = 2
max_pool = {CLIENTS}
default_pool_size = {CLIENTS if self.mode == 'session' else 20}
pool_mode = '{self.mode}'
load_balance_mode = on
enable_pool_hba = off
sr_check_user = '{ROLE}'
sr_check_database = '{SERVICE_DATABASE}'
{nodes}""")
        return [self.program(), "-n", "-f", f"{self.folder}/pgweir.conf"]


class PgweirTransaction(Pgweir):
    name = "pgweir-transaction"
    mode = "transaction"


PEERS = {peer.name: peer for peer in (Forwarder, PgBouncerSession, PgBouncerTransaction, Pgpool, Pgweir, PgweirTransaction)}


def parse_list(text):
    """Classes of the peers named, in the order of PEERS; the forwarder is always among them, as the base."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in PEERS:
            raise ValueError(f"no peer '{name}': there are {', '.join(PEERS)}")
    return [peer for name, peer in PEERS.items() if name in names or peer is Forwarder]

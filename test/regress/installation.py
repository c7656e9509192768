"""The servers that a suite runs on, alone or with pgweir in front: all in one folder, all stopped and removed at the end."""

import os
import shutil
import signal
import subprocess

from servers import Failure, wait_for

ROLE, DATABASE = "postgres", "postgres"
SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
port = {port}
cluster_name = 'node{node}'
log_line_prefix = '%m [%p] %q%a '
# As pg_regress sets up a server of its own.
log_autovacuum_min_duration = 0
log_checkpoints = on
log_lock_waits = on
log_temp_files = 128kB
max_prepared_transactions = 2
shared_buffers = 128MB
max_wal_size = 2GB
fsync = off
"""
# Reads go to standbys: each has replayed a commit before its client is told, and a read that stands in the way of
# replay soon gives up.
REPLICATED = """
synchronous_commit = remote_apply
hot_standby_feedback = on
max_standby_streaming_delay = 3s
wal_receiver_status_interval = 1s
"""


class Servers:
    def __init__(self, runner, binaries, port, standbys):
        self.runner, self.bin = runner, binaries
        self.ports = [port + i for i in range(1 + standbys)]

    def node(self, i):
        return f"{self.runner.folder}/node{i}"

    def _program(self, name, *arguments, timeout=120):
        return self.runner.run([f"{self.bin}/{name}", *arguments], timeout=timeout).stdout

    def sql(self, port, statement):
        return self._program("psql", "-XqAt", "-h", self.runner.folder, "-p", str(port), "-U", ROLE, "-d", DATABASE, "-c", statement).strip()

    def _configure(self, i, more):
        text = SETTINGS.format(folder=self.runner.folder, port=self.ports[i], node=i) + more
        self.runner.write(f"{self.node(i)}/regress.conf", text)
        with open(f"{self.node(i)}/postgresql.conf", "a") as file:
            file.write("include 'regress.conf'\n")

    def _start(self, i):
        self._program("pg_ctl", "-s", "-w", "-D", self.node(i), "-l", f"{self.runner.folder}/node{i}.log", "start")

    def start(self):
        self._program("initdb", "-D", self.node(0), "-U", ROLE, "-A", "trust", "--no-locale", "--no-sync", "-E", "UTF8")
        standbys = range(1, len(self.ports))
        self._configure(0, REPLICATED if standbys else "")
        self._start(0)
        for i in standbys:
            self._program("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.ports[0]), "-U", ROLE, "-D", self.node(i), "-R", "-C",
                          "-S", f"node{i}", "-c", "fast", "--no-sync")
            self._configure(i, REPLICATED)
            self._start(i)
        if standbys:
            names = ", ".join(f"node{i}" for i in standbys)
            self.sql(self.ports[0], f"ALTER SYSTEM SET synchronous_standby_names = '{len(standbys)} ({names})'")
            self.sql(self.ports[0], "SELECT pg_reload_conf()")
            wait_for("the standbys to be synchronous", lambda: self.sql(
                self.ports[0], "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == str(len(standbys)))

    def settle(self):
        """Until the standbys have replayed all."""
        position = self.sql(self.ports[0], "SELECT pg_current_wal_insert_lsn()")
        for port in self.ports[1:]:
            wait_for("the standbys to catch up", lambda p=port: self.sql(p, f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn") == "t", 120)

    def log_statements(self):
        """From now on in the primary's statement_log(), in CSV form."""
        for setting in ("logging_collector = on", "log_destination = 'csvlog'", "log_filename = 'statements'", "log_rotation_age = 0",
                        "log_rotation_size = 0", "log_statement = 'all'", f"log_directory = '{self.runner.folder}'"):
            self.sql(self.ports[0], f"ALTER SYSTEM SET {setting}")
        self._program("pg_ctl", "-s", "-w", "-D", self.node(0), "-l", f"{self.runner.folder}/node0.log", "-m", "fast", "restart")

    def statement_log(self):
        return f"{self.runner.folder}/statements.csv"

    def run_script(self, port, database, path):
        """What psql prints, errors among the answers."""
        done = self.runner.run(["sh", "-c", 'exec "$@" 2>&1', "sh", f"{self.bin}/psql", "-X", "-h", self.runner.folder, "-p", str(port), "-U", ROLE,
                                "-d", database, "-f", path], check=False, timeout=600)
        return done.stdout

    def stop(self):
        for i in reversed(range(len(self.ports))):
            if os.path.exists(f"{self.node(i)}/postmaster.pid"):
                self._program("pg_ctl", "-s", "-w", "-D", self.node(i), "-m", "immediate", "stop")


class Pgweir:
    def __init__(self, runner, program, port, servers):
        self.runner, self.port, self.servers = runner, port, servers
        # Where the user that it runs as can read it.
        self.program = shutil.copy(program, f"{runner.folder}/pgweir")
        self.process = None

    def start(self):
        folder = self.runner.folder
        nodes = "".join(f"backend_hostname{i} = '127.0.0.1'\nbackend_port{i} = {port}\nbackend_weight{i} = 1\n"
                        for i, port in enumerate(self.servers.ports))
        self.runner.write(f"{folder}/pgweir.conf", f"""
listen_addresses = '127.0.0.1'
port = {self.port}
unix_socket_directories = '{folder}'
pcp_listen_addresses = ''
pcp_socket_dir = '{folder}'
pid_file_name = '{folder}/pgweir.pid'
work_dir = '{folder}'
num_init_children = 2
pool_mode = 'session'
load_balance_mode = on
log_per_node_statement = {'on' if len(self.servers.ports) > 1 else 'off'}
sr_check_user = '{ROLE}'
sr_check_database = '{DATABASE}'
{nodes}""")
        self.process = self.runner.start([self.program, "-n", "-f", f"{folder}/pgweir.conf"], f"{folder}/pgweir.log")
        wait_for("pgweir to see its nodes", self._ready)

    def _ready(self):
        if self.process.poll() is not None:
            with open(f"{self.runner.folder}/pgweir.log", errors="replace") as file:
                raise Failure(f"pgweir ended at its start: {file.read().strip()[-400:]}")
        if not os.path.exists(f"{self.runner.folder}/pgweir.pid"):
            return False
        lines = self.servers.sql(self.port, "SHOW POOL_NODES").splitlines()
        return sum("up" in line.split("|") for line in lines) == len(self.servers.ports)

    def stop(self):
        """True if it ended by itself, in order."""
        if self.process is None:
            return True
        orderly = self.process.poll() is None
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # started as the leader of a group of its own
            self.process.wait()
            orderly = False
        return orderly and self.process.returncode == 0

"""The cluster that is measured on: a primary and two streaming standbys on 127.0.0.1, in a folder of its own."""

import glob
import os
import subprocess
import time

ROLE, DATABASE = "bench", "bench"
SERVICE_DATABASE = "postgres"  # of all that is no workload, so that DATABASE's statistics are the workload's
SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
port = {port}
max_connections = 300
shared_buffers = 128MB
max_wal_size = 4GB
checkpoint_timeout = 1h
autovacuum = off
# What is measured is the proxy: no waiting for a disk.
fsync = off
synchronous_commit = off
full_page_writes = off
"""
HBA = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"


class Failure(Exception):
    """Something that ./bench cannot go on without; the text is for the user."""


def find_bin():
    """The newest PostgreSQL's folder of programs."""
    folders = [f for f in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f + "/postgres") and os.path.exists(f + "/pgbench")]
    if not folders:
        raise Failure("no PostgreSQL servers under /usr/lib/postgresql")
    return max(folders, key=lambda f: float(f.split("/")[-2]))


def wait_for(what, condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"gave up waiting: {what}")
        time.sleep(0.05)


class Runner:
    """Starts programs as the user that servers run as: postgres where ./bench itself is root's."""

    def __init__(self, folder):
        self.folder = folder
        self.user = "postgres" if os.geteuid() == 0 else None
        self.environment = {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "HOME": folder, "LC_ALL": "C",
                            "PGSSLMODE": "disable", "PGCONNECT_TIMEOUT": "10"}

    def _options(self):
        options = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL}
        if self.user:
            options.update(user=self.user, group=self.user, extra_groups=[])
        return options

    def run(self, arguments, check=True, timeout=120):
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, **self._options())
        if check and done.returncode != 0:
            raise Failure(f"{os.path.basename(arguments[0])} failed: {(done.stderr or done.stdout).strip()[-400:]}")
        return done

    def start(self, arguments, log):
        # A session of its own: an interrupt at the terminal reaches ./bench alone, which then stops everything in order.
        with open(log, "ab") as file:
            return subprocess.Popen(arguments, stdout=file, stderr=file, start_new_session=True, **self._options())

    def write(self, path, text):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o600)
        if self.user:
            import pwd

            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)


class Cluster:
    def __init__(self, runner, port, scale):
        self.runner, self.port, self.scale = runner, port, scale
        self.bin = find_bin()
        self.ports = [port, port + 1, port + 2]

    def node(self, i):
        return f"{self.runner.folder}/node{i}"

    def sql(self, port, *statements, check=True, timeout=60, database=SERVICE_DATABASE):
        arguments = [f"{self.bin}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(port), "-U", ROLE, "-d", database]
        for statement in statements:
            arguments += ["-c", statement]
        return self.runner.run(arguments, check=check, timeout=timeout).stdout.strip()

    def _configure(self, i):
        self.runner.write(f"{self.node(i)}/postgresql.auto.conf.bench", SETTINGS.format(folder=self.runner.folder, port=self.ports[i]))
        with open(f"{self.node(i)}/postgresql.auto.conf.bench") as more, open(f"{self.node(i)}/postgresql.auto.conf", "a") as conf:
            conf.write(more.read())

    def _control(self, i, *arguments, check=True):
        return self.runner.run([f"{self.bin}/pg_ctl", "-s", "-w", "-D", self.node(i), *arguments], check=check)

    def _start(self, i):
        # The server inherits pg_ctl's output: with a log file, run() does not wait for the server to close it.
        self._control(i, "-l", f"{self.runner.folder}/node{i}.log", "start")

    def start(self):
        run, binaries = self.runner.run, self.bin
        run([f"{binaries}/initdb", "-D", self.node(0), "-U", ROLE, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        self._configure(0)
        self.runner.write(f"{self.node(0)}/pg_hba.conf", HBA)
        self._start(0)
        run([f"{binaries}/createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", ROLE, "--maintenance-db", SERVICE_DATABASE, DATABASE])
        run([f"{binaries}/pgbench", "-i", "-q", "-s", str(self.scale), "-h", "127.0.0.1", "-p", str(self.port), "-U", ROLE, DATABASE], timeout=600)
        for i in (1, 2):
            run([f"{binaries}/pg_basebackup", "-h", "127.0.0.1", "-p", str(self.port), "-U", ROLE, "-D", self.node(i), "-R", "-c", "fast", "--no-sync"], timeout=600)
            self._configure(i)
            self._start(i)
        self.settle()

    def settle(self):
        """Until the standbys have replayed all: their work for one measurement is no part of the next."""
        position = self.sql(self.port, "SELECT pg_current_wal_insert_lsn()")
        for port in self.ports[1:]:
            wait_for(f"the standby on port {port} to catch up",
                     lambda p=port: self.sql(p, f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn", check=False) == "t", 120)

    def tidy(self):
        """Before a workload that writes: each run finds tables of the same size."""
        self.sql(self.port, "VACUUM pgbench_branches", "VACUUM pgbench_tellers", "TRUNCATE pgbench_history", database=DATABASE)

    def transactions(self):
        """Committed transactions in the database so far, a node."""
        return [int(self.sql(p, f"SELECT xact_commit FROM pg_stat_database WHERE datname = '{DATABASE}'")) for p in self.ports]

    def stop(self):
        for i in (2, 1, 0):
            if os.path.exists(f"{self.node(i)}/postmaster.pid"):
                self._control(i, "-m", "immediate", "stop", check=False)

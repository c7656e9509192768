"""What a run needs of PostgreSQL beside the installed programs: the suites, from Debian's source package, and the library of
C functions that they call, compiled against the server's headers. Fetched by apt from where this machine gets its packages,
with lists of its own: nothing of the machine's is changed, and no rights are needed."""

import glob
import os
import re
import shutil
import subprocess
import tarfile

from servers import Failure, find_bin

SUITES = ("src/test/regress", "src/test/isolation")
LIBRARIES = ("refint", "autoinc")  # PostgreSQL's own contrib modules that the triggers of the suite use


def run(arguments, cwd=None):
    done = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Failure(f"{' '.join(arguments[:2])} failed: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


def with_sources(text, deb822):
    """The text of a file of apt's list of sources, so that it names the source packages beside the binary ones."""
    if deb822:
        return re.sub(r"(?mi)^Types:.*$", "Types: deb deb-src", text)
    binary = [line for line in text.splitlines() if line.startswith("deb ")]
    return "".join(f"{line}\ndeb-src {line[4:]}\n" for line in binary)


def choose_version(versions, installed):
    """Of the versions of a source package, in apt's order, the installed one; else the last that is left of that release:
    within a release the suite's tests differ little, and what counts is that both runs use the same ones."""
    if installed in versions:
        return installed
    if not versions:
        raise Failure("no source package of PostgreSQL: are the machine's package lists there?")
    return versions[-1]


class Apt:
    def __init__(self, folder):
        self.folder, self.sources = f"{folder}/apt", f"{folder}/apt/sources.list.d"
        lists, cache = f"{self.folder}/lists", f"{self.folder}/cache"
        self.options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={self.sources}",
                        "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={cache}", "-o", "APT::Sandbox::User="]
        for path in (self.sources, f"{lists}/partial", f"{cache}/archives/partial"):
            os.makedirs(path, exist_ok=True)

    def update(self):
        for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*")]:
            if not path.endswith((".list", ".sources")) or not os.path.isfile(path):
                continue
            with open(path) as file:
                text = with_sources(file.read(), path.endswith(".sources"))
            with open(f"{self.sources}/{os.path.basename(path)}", "w") as file:
                file.write(text)
        run(["apt-get", *self.options, "update"])

    def versions(self, package):
        return re.findall(r"(?m)^Version: (.*)$", run(["apt-cache", *self.options, "showsrc", package]))

    def get(self, *arguments):
        run(["apt-get", *self.options, *arguments], cwd=self.folder)


class Material:
    """In FOLDER, kept for the next run: tests/ (the suites), lib/ (the library), version."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = find_bin()
        self.major = self.bin.split("/")[-2]
        self.pgxs = f"/usr/lib/postgresql/{self.major}/lib/pgxs/src/test"

    def program(self, suite):
        return f"{self.pgxs}/" + {"regress": "regress/pg_regress", "isolation": "isolation/pg_isolation_regress"}[suite]

    def installed(self):
        return run(["dpkg-query", "-W", "-f", "${Version}", f"postgresql-{self.major}"])

    def version(self):
        with open(f"{self.folder}/version") as file:
            return file.read().strip()

    def prepare(self):
        if not os.path.exists(self.program("regress")):
            raise Failure(f"{self.program('regress')} is missing: it comes with postgresql-client-{self.major}")
        if os.path.exists(f"{self.folder}/version"):
            return
        apt, package = Apt(self.folder), f"postgresql-{self.major}"
        apt.update()
        self._fetch_source(apt, package)
        self._unpack()
        self._compile(apt)

    def _fetch_source(self, apt, package):
        versions = apt.versions(package)
        chosen = choose_version(versions, self.installed())
        try:
            apt.get("source", "--download-only", f"{package}={chosen}")
        except Failure:
            # An archive's index can name a version that the archive has removed.
            others = [version for version in versions if version != chosen]
            if not others:
                raise
            chosen = choose_version(others, "")
            apt.get("source", "--download-only", f"{package}={chosen}")
        self.chosen = chosen

    def _unpack(self):
        archives = glob.glob(f"{self.folder}/apt/postgresql-{self.major}_*.orig.tar.*")
        if len(archives) != 1:
            raise Failure(f"expected one source archive of PostgreSQL, found {len(archives)}")
        tests = f"{self.folder}/tests"
        shutil.rmtree(tests, ignore_errors=True)
        with tarfile.open(archives[0]) as archive:
            for member in archive:
                path = member.name.partition("/")[2]
                if member.isfile() and path.startswith(SUITES) and ".." not in path.split("/"):
                    target = f"{tests}/{path.removeprefix('src/test/')}"
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "wb") as file:
                        shutil.copyfileobj(archive.extractfile(member), file)

    def _compile(self, apt):
        headers = f"/usr/include/postgresql/{self.major}/server"
        if not os.path.exists(f"{headers}/postgres.h"):
            apt.get("download", f"postgresql-server-dev-{self.major}")
            [package] = glob.glob(f"{apt.folder}/postgresql-server-dev-{self.major}_*.deb")
            run(["dpkg-deb", "-x", package, f"{self.folder}/headers"])
            headers = f"{self.folder}/headers{headers}"
        library = f"{self.folder}/lib"
        os.makedirs(library, exist_ok=True)
        run(["cc", "-O1", "-w", "-shared", "-fPIC", f"-I{headers}", "-I/usr/include/postgresql", f"{self.folder}/tests/regress/regress.c",
             "-o", f"{library}/regress.so"])
        for name in LIBRARIES:
            shutil.copy(f"/usr/lib/postgresql/{self.major}/lib/{name}.so", library)
        # isolationtester asks libpq for the pid of a session's server process, to see in the server who waits for whom. A proxy
        # gives its clients a number of its own there, so the tester is made to ask the server. For both runs alike.
        run(["cc", "-O1", "-Wall", "-shared", "-fPIC", "-I/usr/include/postgresql", f"{os.path.dirname(__file__)}/backend_pid.c",
             "-o", f"{library}/backend_pid.so", "-lpq"])
        with open(f"{self.folder}/version", "w") as file:
            file.write(self.chosen + "\n")

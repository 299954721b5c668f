"""Content-addressed bytes on disk, a folder per tenant.

A blob is there, whole and synced, before any row names it. Its name is the SHA-256 of its content, so writing it twice
is writing it once, and reading it can always tell whether the disk kept its word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from glob import escape
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from engross.replies import Failed, Invalid, codes

from .arrivals import Arrivals
from .failures import disk_failure, translated
from .tenancy import tenant_name

STAGED = ".staged"
PUBLISHING, ERASING = ".publishing", ".erasing"
ARRIVING = ".arriving."
PIECE = 1 << 18

Pieces = Generator[bytes, None, None]


class Blobs:
    """One tenant's blobs."""

    def __init__(self, folder: Path, tenant: str, arrivals: Arrivals | None = None) -> None:
        self._folder = folder / tenant_name(tenant)
        self._tenant = tenant
        self._arrivals = arrivals

    def put(self, content: bytes) -> str:
        """Keep the bytes; the answer is their digest."""
        digest = sha256(content).hexdigest()
        path = self._path(digest)
        with translated(disk_failure):
            # Whoever takes the same bytes away at this moment may take what is staged along.
            while not path.exists():
                make_folder(path.parent)
                with suppress(FileNotFoundError):
                    put_in_place(stage(path, content), path)
        self._note(digest)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes with that digest."""
        try:
            content = self._path(digest).read_bytes()
        except FileNotFoundError:
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "blob", "id": digest}) from None
        except OSError as error:
            raise disk_failure(error) from error
        if sha256(content).hexdigest() != digest:
            raise Failed(codes.STORE_CORRUPT)
        return content

    def arriving(self) -> Arriving:
        """A place for bytes that come piece by piece, too many to hold in memory."""
        return Arriving(self._folder, self._path, self._note)

    def pieces(self, digest: str, first: int = 0, last: int | None = None) -> Pieces:
        """The bytes with that digest, or those from the first to the last of a part, piece by piece.

        Whoever reads all of them gets the end only if they are still what the digest says. A part cannot be looked at
        like that.
        """
        try:
            file = self._path(digest).open("rb")
        except FileNotFoundError:
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "blob", "id": digest}) from None
        except OSError as error:
            raise disk_failure(error) from error
        return _whole(file, digest) if first == 0 and last is None else _part(file, first, last)

    def drop_abandoned(self) -> int:
        """Take away what never arrived whole and whose process is gone; how many that were."""
        return sum(map(_drop_unless_locked, self._folder.glob(f"{ARRIVING}*{STAGED}")))

    def has(self, digest: str) -> bool:
        """Whether the bytes are here."""
        return self._path(digest).exists()

    def erase(self, digest: str) -> bool:
        """Take the bytes away for good, with what a crash left of an attempt to put them there."""
        path = self._path(digest)
        if not path.parent.is_dir():
            return False
        drop_staged(path)
        there = path.exists()
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
        return there

    def one_publisher(self) -> AbstractContextManager[None]:
        """Keep everybody else, of whatever process, from publishing this tenant's blobs meanwhile."""
        return self._alone(PUBLISHING)

    def one_eraser(self) -> AbstractContextManager[None]:
        """Keep everybody else, of whatever process, from taking this tenant's blobs away meanwhile."""
        return self._alone(ERASING)

    @contextmanager
    def _alone(self, lock: str) -> Iterator[None]:
        import fcntl

        make_folder(self._folder)
        handle = os.open(self._folder / lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in sorted(self._folder.glob("??/*")) if len(path.name) == 64)

    def _note(self, digest: str) -> None:
        if self._arrivals is not None:
            self._arrivals.note(self._tenant, digest)

    def _path(self, digest: str) -> Path:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "blob", "id": digest[:80]})
        return self._folder / digest[:2] / digest


class Arriving:
    """Bytes on their way in. Once kept they are a blob; left before that, they were never there."""

    def __init__(self, folder: Path, place: Callable[[str], Path], note: Callable[[str], None]) -> None:
        self._place = place
        self._note = note
        self._digest = sha256()
        self.size = 0
        with translated(disk_failure):
            make_folder(folder)
            self._handle, self._staged = _locked_file(folder)

    def write(self, piece: bytes) -> None:
        """Add the next piece."""
        self._digest.update(piece)
        self.size += len(piece)
        rest = memoryview(piece)
        with translated(disk_failure):
            while rest:
                rest = rest[os.write(self._handle, rest) :]

    @property
    def digest(self) -> str:
        """The digest of what has arrived so far."""
        return self._digest.hexdigest()

    def keep(self) -> str:
        """Make a blob of what has arrived, durably; the answer is its digest."""
        path = self._place(self.digest)
        with translated(disk_failure):
            os.fsync(self._handle)
            make_folder(path.parent)
            os.replace(self._staged, path)
            sync_folder(path.parent)
        self._note(path.name)
        return path.name

    def __enter__(self) -> Arriving:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Once it is kept, its name here is gone, and nothing is left to take away.
        self._staged.unlink(missing_ok=True)
        os.close(self._handle)


def _whole(file: BinaryIO, digest: str) -> Pieces:
    hashed = sha256()
    with file, translated(disk_failure):
        held = file.read(PIECE)
        while held:
            hashed.update(held)
            following = file.read(PIECE)
            if following:
                yield held
            elif hashed.hexdigest() == digest:
                yield held
                return
            held = following
    if hashed.hexdigest() != digest:
        raise Failed(codes.STORE_CORRUPT)


def _part(file: BinaryIO, first: int, last: int | None) -> Pieces:
    with file, translated(disk_failure):
        file.seek(first)
        left = PIECE if last is None else last - first + 1
        while left > 0 and (piece := file.read(min(PIECE, left))):
            yield piece
            left -= len(piece) if last is not None else 0


def _locked_file(folder: Path) -> tuple[int, Path]:
    """A new file that nobody takes for an abandoned one, because this process holds a lock on it."""
    import fcntl
    import tempfile

    while True:
        handle, name = tempfile.mkstemp(prefix=ARRIVING, suffix=STAGED, dir=folder)
        fcntl.flock(handle, fcntl.LOCK_EX)
        # Between the two lines above somebody may have taken it for abandoned.
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)


def _drop_unless_locked(path: Path) -> bool:
    import fcntl

    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def stage(target: Path, content: bytes) -> Path:
    """The bytes, synced, in a temporary file beside the target."""
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=STAGED, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def drop_staged(target: Path) -> None:
    """Take away what a crash left beside a target that nobody else is staging for."""
    for staged in target.parent.glob(f".{escape(target.name)}.*{STAGED}"):
        staged.unlink(missing_ok=True)


def put_in_place(staged: Path, target: Path) -> None:
    """Rename a staged file to its real name, durably."""
    try:
        os.replace(staged, target)
    except BaseException:
        os.unlink(staged)
        raise
    sync_folder(target.parent)


def make_folder(folder: Path) -> None:
    """A folder, and those above it, that a power cut does not take away again."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

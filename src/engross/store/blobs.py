"""Content-addressed bytes on disk, a folder per tenant.

A blob is there, whole and synced, before any row names it. Its name is the SHA-256 of its content, so writing it twice
is writing it once, and reading it can always tell whether the disk kept its word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from hashlib import sha256
from pathlib import Path

from engross.replies import Failed, Invalid, codes

from .failures import disk_failure, translated
from .tenancy import tenant_name

STAGED = ".staged"
LOCK = ".publishing"


class Blobs:
    """One tenant's blobs."""

    def __init__(self, folder: Path, tenant: str) -> None:
        self._folder = folder / tenant_name(tenant)

    def put(self, content: bytes) -> str:
        """Keep the bytes; the answer is their digest."""
        digest = sha256(content).hexdigest()
        path = self._path(digest)
        with translated(disk_failure):
            if not path.exists():
                make_folder(path.parent)
                put_in_place(stage(path, content), path)
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

    def has(self, digest: str) -> bool:
        """Whether the bytes are here."""
        return self._path(digest).exists()

    def erase(self, digest: str) -> bool:
        """Take the bytes away for good."""
        try:
            self._path(digest).unlink()
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def one_publisher(self) -> Iterator[None]:
        """Keep everybody else, of whatever process, from publishing this tenant's blobs meanwhile."""
        import fcntl

        make_folder(self._folder)
        handle = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in sorted(self._folder.glob("??/*")) if len(path.name) == 64)

    def _path(self, digest: str) -> Path:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "blob", "id": digest[:80]})
        return self._folder / digest[:2] / digest


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

"""Folders reached step by step, without ever following a link: what lies below a root stays below it.

A path is walked with the folders on it held open, each step with `O_NOFOLLOW`. Somebody who puts a link in the place
of a folder between two looks therefore gains nothing: what was opened stays what it was, and a link is not walked.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a pipe in the place of a file would be waited for.
LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Linux has files without a name; not on every file system, and nowhere else.
NAMELESS = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC if hasattr(os, "O_TMPFILE") else None
STAGED = ".staged"
PIECE = 1 << 18
LINKED = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


class Astray(Exception):
    """A step of the path is a link, or not what it has to be."""


class TooLarge(Exception):
    """A file has more bytes than whoever reads it can take."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Found(NamedTuple):
    """A file's bytes and their digest."""

    content: bytes
    digest: str


class Folder:
    """An open folder. Names in it are names, never paths."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def find(self, name: str, longest: int) -> Found | None:
        """What a regular file holds; None when there is none."""
        handle = self._opened(name)
        if handle is None:
            return None
        try:
            size = os.fstat(handle).st_size
            if size > longest:
                raise TooLarge(size)
            content = b"".join(_pieces(handle, longest))
        finally:
            os.close(handle)
        return Found(content, sha256(content).hexdigest())

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a regular file, whatever its size; None when there is none."""
        handle = self._opened(name)
        if handle is None:
            return None
        hashed = sha256()
        try:
            while piece := os.read(handle, PIECE):
                hashed.update(piece)
        finally:
            os.close(handle)
        return hashed.hexdigest()

    def below(self, name: str, *, make: bool = False) -> Folder | None:
        """A folder in this one; None when it is not there and not to be made."""
        try:
            return Folder(_open(name, FOLDER, self._handle))
        except FileNotFoundError:
            if not make:
                return None
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self._handle)
            os.fsync(self._handle)
        return Folder(_open(name, FOLDER, self._handle))

    def try_out(self, size: int) -> None:
        """Take the room for a new file and give it back: raises what the disk would refuse it with."""
        handle = self._nameless()
        try:
            _allocate(handle, size)
        finally:
            os.close(handle)

    def replace(self, name: str, content: bytes, mode: int | None = None) -> None:
        """Put a file in the place of another, whole or not at all, durably. It keeps the mode of the one before."""
        before = self._status(name)
        handle, staged = self._staged(name)
        try:
            try:
                _take_after(handle, before, mode)
                _write(handle, content)
                os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(staged, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(staged, dir_fd=self._handle)
            raise
        os.fsync(self._handle)

    def remove(self, name: str) -> None:
        """Take a file away, durably."""
        os.unlink(name, dir_fd=self._handle)
        os.fsync(self._handle)

    def drop_staged(self, name: str) -> None:
        """Take away what a crash left of an attempt to replace a file."""
        beginning = _mark(name)
        for other in os.listdir(self._handle):
            if other.startswith(beginning) and other.endswith(STAGED):
                with suppress(FileNotFoundError):
                    os.unlink(other, dir_fd=self._handle)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep everybody else who locks this folder out meanwhile, of whatever process."""
        import fcntl

        handle = os.open(".", FOLDER, dir_fd=self._handle)
        try:
            # A file system that has no locks has no better way either.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)

    def _opened(self, name: str) -> int | None:
        try:
            handle = _open(name, LOOK, self._handle)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise Astray(name)
        return handle

    def _status(self, name: str) -> os.stat_result | None:
        try:
            found = os.stat(name, dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Astray(name)
        return found

    def _nameless(self) -> int:
        """A new file that is gone with whoever holds it open, however that ends."""
        try:
            if NAMELESS is not None:
                return os.open(".", NAMELESS, 0o666, dir_fd=self._handle)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT):
                raise
        handle, name = self._staged("trial")
        os.unlink(name, dir_fd=self._handle)
        return handle

    def _staged(self, name: str) -> tuple[int, str]:
        """A new file with a name of its own that says for which it is meant."""
        while True:
            staged = f"{_mark(name)}{os.urandom(6).hex()}{STAGED}"
            with suppress(FileExistsError):
                return os.open(staged, NEW, 0o666, dir_fd=self._handle), staged


@contextmanager
def descend(root: Path, parts: Sequence[str], *, make: bool = False) -> Iterator[Folder | None]:
    """The folder that a path below a root leads to; None when it is not there and not to be made.

    The root itself is the operator's word, so links on the way to it are followed.
    """
    folder: Folder | None = Folder(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    try:
        for part in parts:
            assert folder is not None
            above, folder = folder, folder.below(part, make=make)
            above.close()
            if folder is None:
                break
        yield folder
    finally:
        if folder is not None:
            folder.close()


@contextmanager
def nearest_folder(root: Path, parts: Sequence[str]) -> Iterator[Folder]:
    """The deepest folder on a path that is there already."""
    folder = Folder(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    try:
        for part in parts:
            below = folder.below(part)
            if below is None:
                break
            folder.close()
            folder = below
        yield folder
    finally:
        folder.close()


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in LINKED or error.errno == errno.ENXIO:
            raise Astray(name) from error
        raise


def _pieces(handle: int, longest: int) -> Iterator[bytes]:
    """The bytes of a file that may be growing."""
    size = 0
    while piece := os.read(handle, PIECE):
        size += len(piece)
        if size > longest:
            raise TooLarge(size)
        yield piece


def _write(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _allocate(handle: int, size: int) -> None:
    try:
        if size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise


def _take_after(handle: int, before: os.stat_result | None, mode: int | None) -> None:
    """Give a new file the rights of the one it takes the place of; one that is new has what the umask leaves."""
    if before is not None:
        own = os.fstat(handle)
        if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
            with suppress(PermissionError):
                os.fchown(handle, before.st_uid, before.st_gid)
        os.fchmod(handle, stat.S_IMODE(before.st_mode))
    elif mode is not None:
        os.fchmod(handle, mode)


def _mark(name: str) -> str:
    """How the names of files begin that are meant to become this one. Short, since names have a longest."""
    return f".{sha256(name.encode()).hexdigest()[:12]}."

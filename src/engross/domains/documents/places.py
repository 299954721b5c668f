"""From the path that a caller names to a place below one of the roots, and what lies there."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from engross.replies import Coded
from engross.store.blobs import make_folder
from engross.store.confined import Astray, Found, TooLarge, descend, nearest_folder
from engross.store.failures import disk_failure

from .refusals import bad_input, bad_path, not_written
from .ways import LONGEST, Ways

SUFFIXES = (".oct.md", ".octave", ".md")
LONGEST_NAME = 255
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


class Place(NamedTuple):
    """Where a document lies, or would: below a root, by folders and a name. `subject` is what the record calls it."""

    root: Path
    folders: tuple[str, ...]
    name: str
    subject: str

    @property
    def path(self) -> str:
        """The whole path."""
        return str(self.root.joinpath(*self.folders, self.name))

    def read(self) -> Found | None:
        """What lies there; None when there is no file."""
        with self._told(), descend(self.root, self.folders) as folder:
            return None if folder is None else folder.find(self.name, LONGEST)
        return None

    def try_out(self, size: int) -> None:
        """Refuse now what the disk would refuse later."""
        try:
            with nearest_folder(self.root, self.folders) as folder:
                folder.try_out(size)
        except Astray:
            raise self._astray() from None
        except OSError as error:
            raise _write_failure(error) from error

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what is wrong with the place in the caller's words."""
        try:
            yield
        except FileNotFoundError:
            # The root itself: nothing lies below it.
            return
        except Astray:
            raise self._astray() from None
        except TooLarge as found:
            problem = f"the file has {found.size:,} bytes, {LONGEST:,} are the limit"
            raise bad_input(problem, "target_path", "E_TOO_LARGE", path=self.path) from None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise bad_path(self.path, "it is too long") from None
            if error.errno in REFUSED:
                raise bad_path(self.path, "the office may not read it", "E_READ") from None
            raise disk_failure(error) from error

    def _astray(self) -> Coded:
        return bad_path(self.path, "a link, or something that is no plain file, is on the way")


def place_of(ways: Ways, tenant: str, target_path: str) -> Place:
    """The place that a path names, absolute or relative to a root."""
    parts = _parts(target_path)
    roots = ways.roots_for(tenant)
    if not roots:
        raise bad_path(target_path, "there is no document root for this tenant")
    found = _below(roots, target_path, parts) if target_path.startswith("/") else _first(ways, tenant, roots, parts)
    if found is None:
        raise bad_path(target_path, "it lies outside of the document roots", roots=[str(root) for root in roots])
    return _placed(ways, tenant, *found)


def ready(ways: Ways, tenant: str, place: Place) -> None:
    """Make the tenant's own root, if the place lies in it; a root that the operator named has to be there."""
    if place.root.is_dir():
        return
    if not ways.is_home(place.root, tenant):
        raise bad_path(place.path, "its document root is not there")
    try:
        make_folder(place.root)
    except OSError as error:
        raise _write_failure(error) from error


def _parts(target_path: str) -> tuple[str, ...]:
    parts = tuple(part for part in PurePosixPath(target_path).parts if part != "/")
    if not parts or target_path.endswith("/"):
        raise bad_path(target_path, "it names no file")
    if ".." in parts:
        raise bad_path(target_path, "no .. may stand in it")
    if "\\" in target_path or not target_path.isprintable():
        raise bad_path(target_path, "it holds a character that no path should")
    if max(len(part.encode()) for part in parts) > LONGEST_NAME:
        raise bad_path(target_path, "a name on it is too long")
    if not parts[-1].endswith(SUFFIXES) or parts[-1] in SUFFIXES:
        raise bad_path(target_path, f"its name does not end in {', '.join(SUFFIXES)}")
    return parts


def _below(roots: list[Path], target_path: str, parts: tuple[str, ...]) -> tuple[Path, tuple[str, ...]] | None:
    path = Path("/", *parts)
    for root in roots:
        for spelled in (root, root.resolve()):
            if path.is_relative_to(spelled):
                return root, path.relative_to(spelled).parts
    return None


def _first(ways: Ways, tenant: str, roots: list[Path], parts: tuple[str, ...]) -> tuple[Path, tuple[str, ...]] | None:
    """The first root that has such a file; where none has, the first."""
    for root in roots[1:] and roots:
        if _placed(ways, tenant, root, parts).read() is not None:
            return root, parts
    return roots[0], parts


def _placed(ways: Ways, tenant: str, root: Path, parts: tuple[str, ...]) -> Place:
    if not parts:
        raise bad_path(str(root), "it is a document root")
    relative = "/".join(parts)
    subject = relative if ways.is_home(root, tenant) else str(root / relative)
    return Place(root, parts[:-1], parts[-1], subject)


def _write_failure(error: OSError) -> BaseException:
    return not_written() if error.errno in (*REFUSED, errno.EFBIG) else disk_failure(error)

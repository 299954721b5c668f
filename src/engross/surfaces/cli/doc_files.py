"""Documents as files on this machine: found in folders, checked and formatted without an office."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer

from engross.plainfile import NoPlainFile, only_plain
from engross.surfaces.client.content import arriving_at
from engross.visible import visible

from .looks import is_fancy
from .place import Place
from .printing import say

if TYPE_CHECKING:
    from engross.octave import OctaveError, Shelf

SUFFIXES = (".oct.md", ".octave")
LONGEST = 64 * 1024 * 1024
STDIN = "-"
WORTH_A_BAR = 5

T = TypeVar("T")


class Finding(NamedTuple):
    """What is wrong with a file, and where."""

    code: str
    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None

    @classmethod
    def of(cls, error: OctaveError) -> Finding:
        """What the language refused."""
        return cls(error.code, error.message, error.line, error.column, error.hint)

    def told(self, path: str) -> str:
        """The finding as compilers write them."""
        place = "" if self.line is None else f"{self.line}:" + ("" if self.column is None else f"{self.column}:")
        return f"{path}:{place} {self.code} {self.message}" + ("" if self.hint is None else f" ({self.hint})")


class Looked(NamedTuple):
    """What came of looking at one file."""

    path: str
    findings: list[Finding]
    more: dict[str, Any]
    """What there is to say besides: a status, a difference, whether it was changed."""

    def as_data(self) -> dict[str, Any]:
        """The outcome for programs."""
        return {"path": self.path, **self.more, "errors": [finding._asdict() for finding in self.findings]}


def files_in(paths: Sequence[str]) -> tuple[list[str], list[Looked]]:
    """The files that are named, and every document in the folders that are; and what of them cannot be read."""
    files: list[str] = []
    refused: list[Looked] = []

    def note(error: OSError) -> None:
        refused.append(Looked(str(error.filename), [_unreadable(error)], {"status": "error"}))

    for path in paths:
        if path != STDIN and not os.path.exists(path):
            raise typer.BadParameter(f"there is no {path}", param_hint="FILES")
        if not os.path.isdir(path):
            files.append(path)
            continue
        for folder, below, names in os.walk(path, onerror=note):
            below[:] = sorted(name for name in below if not name.startswith("."))
            files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES)]
    return files, refused


def read(path: str) -> bytes:
    """What a file holds, or standard input; raises OctaveError for what is no plain file of a bearable size."""
    from engross.octave import OctaveError

    if path == STDIN:
        content = sys.stdin.buffer.read(LONGEST + 1)
    else:
        try:
            with open(path, "rb", opener=only_plain) as file:
                content = file.read(LONGEST + 1)
        except NoPlainFile as error:
            raise OctaveError("E_READ", "this is no plain file") from error
        except OSError as error:
            raise OctaveError("E_READ", _unreadable(error).message) from error
    if len(content) > LONGEST:
        raise OctaveError("E_TOO_LARGE", f"the file has more than {LONGEST:,} bytes")
    return content


def each(files: Sequence[str], look: Callable[[str], T]) -> Iterator[T]:
    """Look at every file, with a bar for whoever watches a long row of them."""
    if len(files) < WORTH_A_BAR or not is_fancy(sys.stderr):
        yield from map(look, files)
        return
    from rich.console import Console
    from rich.progress import track

    yield from map(look, track(files, "documents", console=Console(stderr=True), transient=True))


def replace(path: str, content: bytes) -> None:
    """Put new content in a file's place, whole or not at all; it keeps its rights."""
    with arriving_at(path) as arriving:
        os.fchmod(arriving.file.fileno(), stat.S_IMODE(os.stat(path).st_mode))
        arriving.file.write(content)
        arriving.file.flush()
        os.fsync(arriving.file.fileno())
        arriving.whole = True


def schemas(folder: Path | None, place: Place) -> Shelf:
    """The shipped schemas, and those of a folder, or else of the office in a folder."""
    from engross.octave import Shelf

    if folder is None and place.url is None:
        folder = place.settings.schema_folder
    return Shelf() if folder is None else Shelf(folder)


def tell(looked: Sequence[Looked]) -> None:
    """Print what was found, file by file."""
    for one in looked:
        for finding in one.findings:
            say(visible(finding.told(one.path)), style="red")


def _unreadable(error: OSError) -> Finding:
    return Finding("E_READ", f"it cannot be read ({error.strerror or type(error).__name__})")

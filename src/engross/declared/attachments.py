"""Files that belong to a document without being part of it: those of skills, prompts and resources.

They are read when the document is, and count in its digest: what was accepted is what is served.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from .binding import located
from .fault import Faults
from .model import Exposes, McpExposes, Place, SkillExposes

MOST_FILES = 500
MOST_BYTES = 16 * 1024 * 1024

Files: TypeAlias = Mapping[str, bytes]
"""Contents by path below a folder; a file alone has an empty path."""


def attachment(location: str, place: Place) -> str:
    """The name under which the files of a location are kept."""
    return str(located(location, Path(place.file).parent).resolve())


def attached(exposes: Iterable[Exposes], faults: Faults) -> dict[str, Files]:
    """The files of all locations that exposures name."""
    found: dict[str, Files] = {}
    for location, place, rule in _locations(exposes):
        name = attachment(location, place)
        if name not in found:
            found[name] = _read(Path(name), location, place, rule, faults)
    return found


def digest_of(files: Mapping[str, Files]) -> bytes:
    """Over all contents, with their paths."""
    found = sha256()
    for contents in files.values():
        for path, content in contents.items():
            found.update(path.encode("utf-8", "surrogateescape") + b"\0" + sha256(content).digest())
    return found.digest()


def _locations(exposes: Iterable[Exposes]) -> Iterator[tuple[str, Place, str]]:
    for one in exposes:
        if isinstance(one, SkillExposes):
            yield from ((skill.location, skill.place, "V15") for skill in one.skills.values() if skill.location)
        elif isinstance(one, McpExposes):
            yield from ((part.location, part.place, "V13") for part in one.resources.values() if part.location)
            yield from ((part.location, part.place, "V13") for part in one.prompts.values() if part.location)


def _read(path: Path, location: str, place: Place, rule: str, faults: Faults) -> Files:
    found: dict[str, bytes] = {}
    size = 0
    try:
        if path.is_file():
            return {"": path.read_bytes()[:MOST_BYTES]}
        if not path.is_dir():
            faults.error(rule, place, f"There is nothing at {location}.")
            return {}
        for file in sorted(path.rglob("*")):
            # Links that lead out of the folder are not followed.
            inside = file.resolve()
            if inside.is_file() and inside.is_relative_to(path):
                size += inside.stat().st_size
                if size > MOST_BYTES or len(found) >= MOST_FILES:
                    faults.error(rule, place, f"{location} holds more than {MOST_FILES} files or {MOST_BYTES} bytes.")
                    return {}
                found[file.relative_to(path).as_posix()] = inside.read_bytes()
    except OSError:
        faults.error(rule, place, f"{location} cannot be read.")
        return {}
    return found

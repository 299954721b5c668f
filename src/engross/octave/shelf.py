"""Where schemas are found: those that come with the package, then folders of one's own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from .error import OctaveError
from .parser import parse
from .schema import Schema, schema_of

LONGEST_SCHEMA: Final = 1024 * 1024
_SUFFIX: Final = ".oct.md"
_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*").fullmatch


class Shelf:
    """Schemas by name. A name that comes with the package cannot be taken by a file in a folder."""

    def __init__(self, *folders: str | Path) -> None:
        self._folders = tuple(map(Path, folders))

    def names(self) -> list[str]:
        """The names of all schemas, in alphabetical order."""
        own = (path.name.removesuffix(_SUFFIX).upper() for path in self._files())
        return sorted({*_shipped(), *filter(_NAME, own)})

    def get(self, name: str) -> Schema | None:
        """The schema of that name, or nothing; raises E_SCHEMA for a file that cannot be read as one."""
        if _NAME(name) is None:
            return None
        return _shipped().get(name) or self._from_folder(name)

    def listing(self) -> list[dict[str, object]]:
        """Every schema in a few words; of one that cannot be read, why."""
        return [self._entry(name) for name in self.names()]

    def _entry(self, name: str) -> dict[str, object]:
        told: dict[str, object] = {"name": name, "shipped": name in _shipped()}
        try:
            schema = self.get(name)
        except OctaveError as error:
            return {**told, "problem": error.message}
        if schema is None:
            return {**told, "problem": "the file is gone"}
        return {**told, "version": schema.version, "purpose": schema.purpose, "fields": len(schema.fields)}

    def _files(self) -> Iterable[Path]:
        for folder in self._folders:
            try:
                yield from sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIX))
            except OSError:
                continue

    def _from_folder(self, name: str) -> Schema | None:
        for folder in self._folders:
            for file in (f"{name.lower()}{_SUFFIX}", f"{name}{_SUFFIX}"):
                if os.path.lexists(folder / file):
                    return _read(folder / file, name)
        return None


def _read(path: Path, name: str) -> Schema:
    if not path.is_file():
        raise OctaveError("E_SCHEMA", f"the file of schema {name}: it is no plain file")
    try:
        schema = schema_of(parse(path.read_bytes(), longest=LONGEST_SCHEMA))
    except (OSError, OctaveError) as error:
        told = error.message if isinstance(error, OctaveError) else "it cannot be opened"
        raise OctaveError("E_SCHEMA", f"the file of schema {name}: {told}") from error
    if schema.name != name:
        raise OctaveError("E_SCHEMA", f"the file of schema {name} holds {schema.name}")
    return schema


@cache
def _shipped() -> dict[str, Schema]:
    # Imported late: it costs more than all the rest of this room, and only schemas need it.
    from importlib.resources import files

    folder = files(__package__).joinpath("schemas")
    texts = [entry.read_bytes() for entry in folder.iterdir() if entry.name.endswith(_SUFFIX)]
    schemas = [schema_of(parse(text)) for text in texts]
    return {schema.name: schema for schema in sorted(schemas, key=lambda schema: schema.name)}


SHIPPED: Final = Shelf()

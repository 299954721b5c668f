"""Binds: values that a document names but does not hold.

They come from the environment or from files. Nothing here shows them: not in a representation, not in a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from engross.plainfile import stands_at

from .fault import Faults
from .model import Bind, Document
from .node import Keyed, Scalar
from .reading import LARGEST, read


class Binds:
    """The values by variable, and by `namespace.VARIABLE` where two namespaces have the same one."""

    def __init__(self, values: Mapping[str, Mapping[str, str]]) -> None:
        self._values: dict[str, str] = {}
        seen: dict[str, int] = {}
        for namespace, found in values.items():
            for name, value in found.items():
                self._values[f"{namespace}.{name}"] = value
                seen[name] = seen.get(name, 0) + 1
                self._values[name] = value
        for name, times in seen.items():
            if times > 1:
                del self._values[name]

    def __repr__(self) -> str:
        return f"<Binds {', '.join(sorted(self._values))}>"

    def value(self, name: str) -> str | None:
        """The value of VARIABLE or namespace.VARIABLE."""
        return self._values.get(name)

    @property
    def names(self) -> frozenset[str]:
        """The names that can be used in templates."""
        return frozenset(self._values)

    @property
    def secrets(self) -> tuple[str, ...]:
        """All values, the longest first, for whoever has to keep them out of a text."""
        return tuple(sorted({value for value in self._values.values() if value}, key=len, reverse=True))


NO_BINDS = Binds({})


def bind_names(document: Document) -> frozenset[str]:
    """The names that templates may use, without looking up what they stand for."""
    return Binds({one.namespace: dict.fromkeys(one.keys, "") for one in document.binds.values()}).names


def resolve(document: Document, environ: Mapping[str, str], faults: Faults) -> Binds:
    """Look up what the document binds. V14 for everything that is not there."""
    return Binds({one.namespace: dict(_resolved(one, document, environ, faults)) for one in document.binds.values()})


def _resolved(bind: Bind, document: Document, environ: Mapping[str, str], faults: Faults) -> Iterator[tuple[str, str]]:
    source: Mapping[str, str] | None = environ
    where = "the environment"
    if bind.location is not None:
        where = bind.location
        source = _file_values(bind, document, faults)
    if source is None:
        return
    for name, key in bind.keys.items():
        if key in source:
            yield name, source[key]
        else:
            place = bind.key_places.get(name, bind.place)
            faults.error("V14", place, f"Invalid bind: {key} is not found in {where}.")


def _file_values(bind: Bind, document: Document, faults: Faults) -> dict[str, str] | None:
    location = bind.location or ""
    if not location.startswith("file://"):
        faults.error(
            "V14", bind.place, f"Invalid bind: {location} is no file; binds come from the environment or files."
        )
        return None
    file = located(location, Path(bind.place.file).parent)
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError:
        faults.error("V14", bind.place, f"Invalid bind: the file of {location} cannot be read.")
        return None
    # What is wrong inside is not told: a syntax error would quote the secret.
    node = read(content, location, Faults())
    if not isinstance(node, Keyed):
        faults.error("V14", bind.place, f"Invalid bind: {location} is not a map of keys to values.")
        return None
    return {key: _stringified(part) for key, part in node.entries.items() if isinstance(part, Scalar)}


def _stringified(node: Scalar) -> str:
    return node.text


def located(location: str, folder: Path) -> Path:
    """The file that a `file://` address means: relative to the document, then to where we run."""
    path = unquote(location.removeprefix("file://"))
    for relative in ("/./", "./"):
        if path.startswith(relative):
            rest = path.removeprefix(relative)
            beside = folder / rest
            return beside if stands_at(beside) else Path(rest)
    return Path(path) if path.startswith("/") else folder / path

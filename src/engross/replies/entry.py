"""One registered reply code, and the rules that a set of them has to keep.

The rules raise: a registry that contradicts itself must never come as far as an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .template import places

# Who may answer what. Only EN denies, and EN never says that a request is wrong.
LAYERS: Mapping[str, str] = {"WA": "SIE", "EN": "SDE", "CT": "SIE", "MCP": "SIE"}
AREAS = (
    "SYS",
    "RES",
    "VIS",
    "IO",
    "READ",
    "WRITE",
    "EXEC",
    "DB",
    "PARSE",
    "VAL",
    "GATE",
    "LOG",
    "CFG",
    "LINT",
)
TYPES: Mapping[str, str] = {"S": "Success", "I": "Invalid", "D": "Denied", "E": "Error"}
STATUSES = ("active", "reserved", "retired")
PARAM_TYPES = ("string", "integer", "number", "boolean")
CODE = re.compile(rf"({'|'.join(LAYERS)})-({'|'.join(AREAS)})-([{''.join(TYPES)}])-([0-9]{{3}})")
_KEY = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_HTTP: Mapping[str, Callable[[int], bool]] = {
    "S": lambda status: 200 <= status < 300,
    "I": lambda status: 400 <= status < 500,
    "D": lambda status: status in (403, 429),
    "E": lambda status: 500 <= status < 600,
}


class RegistryError(ValueError):
    """The registry contradicts itself; nothing can be answered until it is mended."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered code and everything that follows from it."""

    code: str
    layer: str
    area: str
    type: str
    number: int
    key: str
    template: str
    params: Mapping[str, str]
    http: int
    retryable: bool
    advice: str
    title: str
    since: str
    status: str
    replaced_by: str | None = None


def entry_of(code: str, fields: Mapping[str, Any]) -> Entry:
    """An entry from its table in registry.toml; the parts of the code are read off the code itself."""
    parts = CODE.fullmatch(code)
    if parts is None:
        raise RegistryError(f"{code!r} is not LAYER-AREA-TYPE-NNN with a known layer and area")
    layer, area, kind, number = parts.groups()
    given = {"params": {}, "retryable": False, "status": "active", **fields}
    try:
        return Entry(code=code, layer=layer, area=area, type=kind, number=int(number), **given)
    except TypeError as wrong:
        raise RegistryError(f"{code}: {wrong}") from None


def check(entries: Iterable[Entry]) -> None:
    """Raise RegistryError unless the entries agree with each other and with the rules of ownership."""
    codes: dict[str, Entry] = {}
    keys: dict[str, str] = {}
    for entry in entries:
        _check_alone(entry)
        if entry.code in codes:
            raise RegistryError(f"{entry.code} is registered twice, and no code is ever used again")
        if entry.key in keys:
            raise RegistryError(f"{entry.code} and {keys[entry.key]} share the message key {entry.key}")
        codes[entry.code], keys[entry.key] = entry, entry.code
    for entry in codes.values():
        _check_replacement(entry, codes)


def _check_alone(entry: Entry) -> None:
    for holds, complaint in (
        (_is_its_parts(entry), "the code is not made of its parts"),
        (entry.type in LAYERS.get(entry.layer, ""), f"{entry.layer} may not answer {entry.type}"),
        (_KEY.fullmatch(entry.key), "the message key is not UPPER_CASE"),
        (places(entry.template) == set(entry.params), "the template's places are not its params"),
        (set(entry.params.values()) <= set(PARAM_TYPES), f"a param is none of {', '.join(PARAM_TYPES)}"),
        (_HTTP.get(entry.type, bool)(entry.http), f"HTTP {entry.http} does not fit type {entry.type}"),
        (entry.type == "E" or not entry.retryable, "only an E can be retryable"),
        (entry.status in STATUSES, f"the status is none of {', '.join(STATUSES)}"),
        (entry.advice and entry.title and entry.since, "advice, title and since must be there"),
    ):
        if not holds:
            raise RegistryError(f"{entry.code}: {complaint}")


def _is_its_parts(entry: Entry) -> bool:
    built = f"{entry.layer}-{entry.area}-{entry.type}-{entry.number:03}"
    return entry.code == built and CODE.fullmatch(built) is not None


def _check_replacement(entry: Entry, codes: Mapping[str, Entry]) -> None:
    if entry.replaced_by is None:
        return
    if entry.status != "retired":
        raise RegistryError(f"{entry.code}: only a retired code is replaced")
    successor = codes.get(entry.replaced_by)
    if successor is None or successor.status == "retired" or successor.type != entry.type:
        raise RegistryError(f"{entry.code}: {entry.replaced_by} is no living code of the same type")

"""Which state of each document was accepted, and what a newer one would change for those who call it.

What agents read about a tool decides what they do with it. So a document that changes under a running office changes
nothing there until somebody has looked at the difference and taken it, with `engross flow accept` or by a new start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from engross.calls import instant, now
from engross.flows import Aggregate
from engross.plainfile import only_plain, stands_at
from engross.replies import Failed, codes

NAME = "accepted.json"


class Accepted(NamedTuple):
    """A state of a document: its digest, and what callers are told of it."""

    digest: str
    told: Mapping[str, Any]
    at: str = ""


def stamp_of(file: Path) -> tuple[int, int]:
    """Changes when a file does."""
    try:
        found = file.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


class Acceptances:
    """The file in the data folder that keeps them, by the document's path."""

    def __init__(self, data: Path) -> None:
        self.file = data / NAME

    def stamp(self) -> tuple[int, int]:
        """Changes when the file does."""
        return stamp_of(self.file)

    def get(self, document: Path) -> Accepted | None:
        """What was accepted of a document."""
        found = self._read().get(_key(document))
        return None if found is None else Accepted(found["digest"], found["told"], found["at"])

    def put(self, document: Path, digest: str, told: Mapping[str, Any]) -> None:
        """Accept a state of a document. Whoever reads meanwhile sees the old file or the new one."""
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone():
            entries = {**self._read(), _key(document): {"digest": digest, "told": told, "at": instant(now())}}
            beside = self.file.with_suffix(".new")
            beside.touch(mode=0o600)
            beside.write_bytes(orjson.dumps(entries, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
            os.replace(beside, self.file)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Of two who accept at once, the second adds to what the first has written."""
        import fcntl

        descriptor = os.open(self.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> dict[str, Any]:
        if not stands_at(self.file):
            return {}
        try:
            with open(self.file, "rb", opener=only_plain) as file:
                found = orjson.loads(file.read())
        except (OSError, ValueError) as error:
            told = {"file": str(self.file), "problem": "it cannot be read; remove it to accept every document anew"}
            raise Failed(codes.CONFIG_INVALID, {"setting": NAME}, data=told) from error
        return found if isinstance(found, dict) else {}


def told_of(aggregates: Iterable[Aggregate]) -> dict[str, Any]:
    """What callers are told: of each flow, tool, address, prompt and skill."""
    told: dict[str, Any] = {}
    for aggregate in aggregates:
        for flow in aggregate.flows.values():
            told[f"flow {flow.ref}"] = {
                "description": flow.description,
                "hints": flow.hints(),
                "input": flow.published,
                "output": {name: part for name, part in flow.output["properties"].items() if name != "reply"},
            }
        for exposure in aggregate.exposures:
            told[f"tool {exposure.tool}"] = {"ref": exposure.ref, **exposure.overrides}
        for resource in aggregate.resources:
            told[f"resource {resource.address.template}"] = {"ref": resource.ref, "description": resource.description}
        for prompt in aggregate.prompts:
            told[f"prompt {prompt.name}"] = {"description": prompt.description}
        for route in aggregate.routes:
            told[f"route {route.method} {route.address}"] = {"ref": route.ref, "description": route.description}
        for skill in aggregate.skills:
            told[f"skill {skill.name}"] = {"description": skill.description, "files": sorted(skill.files or ())}
    return told


def difference(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> str:
    """What changes, as lines with plus and minus; nothing if callers are told the same."""
    from difflib import unified_diff

    lines: list[str] = []
    for name in sorted({*(before or {}), *after}):
        old, new = _lines((before or {}).get(name)), _lines(after.get(name))
        if old != new:
            sign = "+" if not old else "-" if not new else "~"
            body = list(unified_diff(old, new, lineterm="", n=1))[2:]
            lines += [f"{sign} {name}", *(f"    {line}" for line in body if not line.startswith("@@"))]
    return "\n".join(lines)


def _lines(told: Any) -> list[str]:
    if told is None:
        return []
    return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode().splitlines()


def _key(document: Path) -> str:
    return str(document.resolve())

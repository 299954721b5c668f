"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """The pointer that a path of keys and indexes spells."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def steps(pointer: str) -> tuple[str, ...]:
    """The steps that a pointer names, all as text."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])

"""What a flow does to the world, said once, and the hints that clients get from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .definition import FlowDefinitionError

HINTS = ("readOnly", "destructive", "idempotent", "openWorld")


@dataclass(frozen=True, slots=True)
class Semantics:
    """Transport-neutral behaviour. `destructive` stays None where nobody said."""

    safe: bool = False
    idempotent: bool = False
    cacheable: bool = False
    destructive: bool | None = None

    def __post_init__(self) -> None:
        if self.safe and self.destructive:
            raise FlowDefinitionError("semantics", "A safe flow destroys nothing: drop safe or destructive.")


def hints(semantics: Semantics | None, overrides: Mapping[str, bool | None] | None = None) -> dict[str, bool]:
    """The MCP hints that follow from semantics. Each override that is not None wins over the derived one.

    Without any semantics nothing is derived: a client's own defaults then apply.
    """
    derived = _derived(semantics) if semantics else {}
    for name, value in (overrides or {}).items():
        if name not in HINTS:
            raise FlowDefinitionError("hints", f"There is no hint {name!r}; the hints are {', '.join(HINTS)}.")
        if value is not None:
            derived[name] = value
    return {name: derived[name] for name in HINTS if name in derived}


def _derived(semantics: Semantics) -> dict[str, bool]:
    derived = {"readOnly": semantics.safe}
    if semantics.safe:
        derived["destructive"] = False
    elif semantics.destructive is not None:
        derived["destructive"] = semantics.destructive
    if semantics.idempotent:
        derived["idempotent"] = True
    return derived

"""Whether the same call gives the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from .definition import FlowDefinitionError


@dataclass(frozen=True, slots=True)
class Determinism:
    """Same state and arguments, same answer; or the reason why not."""

    deterministic: bool = True
    reason: str | None = None

    def __post_init__(self) -> None:
        if not self.deterministic and not self.reason:
            raise FlowDefinitionError("determinism", "Give the reason why the answer may differ.")
        if self.deterministic and self.reason:
            raise FlowDefinitionError("determinism", "A deterministic flow needs no reason: drop one of the two.")

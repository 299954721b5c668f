"""How soon a read sees a write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .definition import FlowDefinitionError


@dataclass(frozen=True, slots=True)
class Consistency:
    """Strong: at once. Eventual: within `max_delay_ms`."""

    tier: Literal["strong", "eventual"] = "strong"
    max_delay_ms: int | None = None

    def __post_init__(self) -> None:
        if self.tier not in ("strong", "eventual"):
            raise FlowDefinitionError("consistency", f"The tier is strong or eventual, not {self.tier!r}.")
        if self.tier == "strong" and self.max_delay_ms is not None:
            raise FlowDefinitionError("consistency", "A strong flow has no delay: drop max_delay_ms.")
        if self.tier == "eventual" and (self.max_delay_ms is None or self.max_delay_ms <= 0):
            raise FlowDefinitionError("consistency", "An eventual flow promises a bound: give max_delay_ms.")

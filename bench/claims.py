"""What was promised, what was measured, and whether the one is true of the other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Claim:
    """One promised ratio and the measured one."""

    what: str
    ratio: float
    bound: Literal["at least", "at most"]
    promised: float
    figures: dict[str, float]
    unit: str

    @property
    def holds(self) -> bool:
        """Whether the promise was kept in this run."""
        return self.ratio >= self.promised if self.bound == "at least" else self.ratio <= self.promised

    def as_data(self) -> dict[str, Any]:
        """The claim as it is saved."""
        return {**asdict(self), "holds": self.holds}

    def row(self) -> tuple[str, ...]:
        """The claim as a row of a table."""
        figures = ", ".join(f"{name} {value:,.0f}" for name, value in self.figures.items())
        verdict = "holds" if self.holds else "MISSED"
        return (self.what, f"{self.ratio:.2f}", f"{self.bound} {self.promised}", verdict, f"{figures} {self.unit}")

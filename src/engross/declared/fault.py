"""What is wrong with a document, and where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from .model import Place

Severity = Literal["error", "warning"]
MOST_FAULTS = 500


class Fault(NamedTuple):
    """One finding: an error keeps a document from being used, a warning does not."""

    place: Place
    rule: str
    message: str
    severity: Severity = "error"
    did_you_mean: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.place}: {self.severity} {self.rule}: {self.told}"

    @property
    def told(self) -> str:
        """The message, with what was probably meant."""
        return f"{self.message} Did you mean {self.did_you_mean[0]}?" if self.did_you_mean else self.message


class Faults:
    """Collects what is found, in whatever order it is found."""

    def __init__(self) -> None:
        self._found: dict[tuple[Place, str, str], Fault] = {}

    def error(self, rule: str, place: Place, message: str, did_you_mean: Iterable[str] = ()) -> None:
        """Something that keeps the document from being used."""
        self._add(Fault(place, rule, message, "error", tuple(did_you_mean)))

    def warning(self, rule: str, place: Place, message: str, did_you_mean: Iterable[str] = ()) -> None:
        """Something that its author should know."""
        self._add(Fault(place, rule, message, "warning", tuple(did_you_mean)))

    def _add(self, fault: Fault) -> None:
        # What is imported twice, or shared by an alias, is complained about once.
        self._found.setdefault((fault.place, fault.rule, fault.message), fault)

    @property
    def broken(self) -> bool:
        """Is there an error?"""
        return any(fault.severity == "error" for fault in self._found.values())

    def sorted(self) -> tuple[Fault, ...]:
        """What was found, by file and line; errors that hide others stay even when there are too many."""
        return tuple(sorted(self._found.values(), key=lambda fault: (fault.place, fault.rule))[:MOST_FAULTS])


def near(word: object, candidates: Iterable[str]) -> list[str]:
    """The candidate that was probably meant, if there is one."""
    from engross.flows.nearest import nearest

    return nearest(word, candidates, 1)


class BadDocument(Exception):
    """A document that cannot be used, with everything that was found."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))

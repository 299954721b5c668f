"""When things came in: at the time of their commit, which of what was proposed is that of the approval.

A fact's own time is that of the call that drafted it. Receipts say when it was committed; what has none yet, because it
is only laid over the record, goes by its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engross.ledger import Reader, Unit, facts_about, position_at
from engross.ledger.facts import envelopes_at

from .entity_rows import parts
from .ids import NAMESPACE

Place = tuple[int, str]
"""A position in the ledger, and the subject of a fact that stands there."""


def commit_times(reader: Reader, places: Iterable[Place]) -> dict[int, str]:
    """The times of the commits at these places, by their positions."""
    asked = sorted(set(places))
    found: dict[int, str] = {}
    for some in parts(asked):
        stated = envelopes_at(reader.reading, NAMESPACE, some)
        found |= {fact.position: receipt["time"] for fact, receipt in stated}
    return found


def known_then(reader: Reader, rows: Iterable[Mapping[str, Any]], known: str) -> list[Mapping[str, Any]]:
    """Of the rows of observations, those that had come in by an instant and had not been withdrawn."""
    has_come = _coming(reader, known)
    return [
        row
        for row in rows
        if has_come(row["created_at"], row["position"]) and not has_come(row["withdrawn_at"], row["withdrawn_position"])
    ]


def was_merged(reader: Reader, owner: str, redirect: Mapping[str, Any], known: str) -> bool:
    """Whether a redirect stood at an instant: it had come in, and its end had not."""
    stated = facts_about(
        reader.reading, NAMESPACE, f"{owner}/{redirect['from_id']}", after_version=redirect["number"] - 1, most=2
    )
    began, ended, *_ = [*(fact.position for fact, _ in stated), None, None]
    has_come = _coming(reader, known)
    return has_come(redirect["merged_at"], began) and not has_come(redirect["ended_at"], ended)


def _coming(reader: Reader, known: str) -> Callable[[str | None, int | None], bool]:
    """Tells whether what was drafted at a time, and stands at a position, had come in by an instant."""
    last = position_at(reader.reading, known)
    unsettled = reader.transaction.position if isinstance(reader, Unit) else None

    def has_come(drafted_at: str | None, position: int | None) -> bool:
        if drafted_at is None or drafted_at > known:
            return False
        return position is None or position == unsettled or position <= last

    return has_come

"""When things came in: at the time of their commit, which of what was proposed is that of the approval.

A fact's own time is that of the call that drafted it. Receipts say when it was committed; what has none yet, because it
is only laid over the record, goes by its own time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engross.ledger import Reader, facts_about
from engross.ledger.facts import envelopes_at

from .entity_rows import ASKED_AT_ONCE
from .ids import NAMESPACE

Place = tuple[int, str]
"""A position in the ledger, and the subject of a fact that stands there."""


def commit_times(reader: Reader, places: Iterable[Place]) -> dict[int, str]:
    """The times of the commits at these places, by their positions."""
    asked = sorted(set(places))
    found: dict[int, str] = {}
    for start in range(0, len(asked), ASKED_AT_ONCE):
        stated = envelopes_at(reader.reading, NAMESPACE, asked[start : start + ASKED_AT_ONCE])
        found |= {fact.position: receipt["time"] for fact, receipt in stated}
    return found


def known_then(reader: Reader, rows: Iterable[Mapping[str, Any]], known: str) -> list[Mapping[str, Any]]:
    """Of the rows of observations, those that had come in by an instant and had not been withdrawn."""
    drafted = [row for row in rows if row["created_at"] <= known]
    gone = [row for row in drafted if _is_by(row["withdrawn_at"], known)]
    places = [(row["position"], row["subject"]) for row in drafted]
    times = commit_times(reader, [*places, *((row["withdrawn_position"], row["record_id"]) for row in gone)])

    def is_by(position: int) -> bool:
        return times.get(position, "") <= known

    return [
        row
        for row in drafted
        if is_by(row["position"]) and not (_is_by(row["withdrawn_at"], known) and is_by(row["withdrawn_position"]))
    ]


def was_merged(reader: Reader, owner: str, redirect: Mapping[str, Any], known: str) -> bool:
    """Whether a redirect stood at an instant: it had come in, and its end had not."""
    if redirect["merged_at"] > known:
        return False
    stated = facts_about(
        reader.reading, NAMESPACE, f"{owner}/{redirect['from_id']}", after_version=redirect["number"] - 1, most=2
    )
    times = [receipt["time"] for _, receipt in stated]
    if times and times[0] > known:
        return False
    return not (_is_by(redirect["ended_at"], known) and (len(times) < 2 or times[1] <= known))


def _is_by(time: str | None, known: str) -> bool:
    return time is not None and time <= known

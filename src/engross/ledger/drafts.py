"""What a fact has to be before it may be stated: the ledger never forgets one that does not fit in.

A subject's facts are numbered from 1 without a gap. A commit cannot leave one: the row of a fact that follows none has
no version. Whether a plan that is only proposed would is looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engross.calls import FactDraft
from engross.store import Transaction

ASKED_AT_ONCE = 200

Place = tuple[str, str, int]
"""Aggregate, subject and version of a fact."""


class UnsoundFact(ValueError):
    """A domain stated a fact that the ledger cannot take: the domain is to be mended, not the call."""


def require_sound(draft: FactDraft) -> None:
    """Refuse a draft that could not be written down and read again as the same fact."""
    if type(draft.version) is not int or draft.version < 1:
        raise UnsoundFact(f"{draft.type} follows version {draft.version!r} - 1, which is no number from 0 on")
    require_names(draft.type, draft.fields)


def require_names(type: str, fields: Iterable[str]) -> None:
    """Refuse fields that could not be told apart in a fact's row."""
    for field in fields:
        if not isinstance(field, str) or not field or "," in field:
            raise UnsoundFact(f"{type} names the field {field!r}: a name is a text without a comma")


def require_unbroken(transaction: Transaction, drafts: Sequence[FactDraft]) -> None:
    """Refuse facts of which one follows a fact that there is not."""
    places = {(draft.aggregate, draft.subject, draft.version) for draft in drafts}
    followed = {(draft.aggregate, draft.subject, draft.version - 1) for draft in drafts if draft.version > 1}
    sought = sorted(followed - places)
    for start in range(0, len(sought), ASKED_AT_ONCE):
        for aggregate, subject, version in _missing(transaction, sought[start : start + ASKED_AT_ONCE]):
            raise UnsoundFact(f"version {version + 1} of {aggregate}/{subject} follows version {version}, which is not")


def _missing(transaction: Transaction, places: Sequence[Place]) -> list[Place]:
    params = {f"{name}{n}": value for n, place in enumerate(places) for name, value in zip("asv", place, strict=True)}
    wanted = ", ".join(f"(:a{n}, :s{n}, :v{n})" for n in range(len(places)))
    rows = transaction.rows(
        f"WITH wanted (aggregate, subject, version) AS (VALUES {wanted})"
        " SELECT w.aggregate, w.subject, w.version FROM wanted w JOIN facts f"
        " ON f.tenant = :tenant AND f.aggregate = w.aggregate AND f.subject = w.subject AND f.version = w.version",
        params,
    )
    found = {(row["aggregate"], row["subject"], row["version"]) for row in rows}
    return [place for place in places if place not in found]

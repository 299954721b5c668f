"""How a subject of any aggregate came to be what it is: by the facts about it that the caller may see.

This is the account of every aggregate that gives none of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from engross.flows import nearest
from engross.ledger import Fact, Reader, facts_about
from engross.ledger.facts import facts_of_versions
from engross.ledger.reasons import Stated, reasons_of, worth_telling
from engross.pipeline import Fittings
from engross.replies import Invalid, codes

from .seen import seen_facts

PAGE = 500
MOST_REASONS = 50
MOST_NAMES = 100


class Told(NamedTuple):
    """What is kept of a fact while the others are read."""

    version: int
    fact_id: str
    fields: Sequence[str]
    ends: bool


def account_of(
    fittings: Fittings, reader: Reader, aggregate: str, subject: str, field: str | None
) -> dict[str, Any] | None:
    """The account of a subject, or of one of its fields; None if there is nothing about it that the caller may see."""
    known = [
        Told(fact.version, fact.id, fact.fields, fact.ends) for fact in _seen(fittings, reader, aggregate, subject)
    ]
    if not known:
        return None
    told = known if field is None else _setting(known, subject, field)
    versions = worth_telling([one.version for one in told], MOST_REASONS)
    stated = seen_facts(fittings, reader, facts_of_versions(reader.reading, aggregate, subject, versions))
    return {
        "aggregate": aggregate,
        "subject": subject,
        "is_deleted": known[-1].ends,
        "reasons": reasons_of(reader.reading, [_with_fields(one) for one in stated]),
        "reasons_in_all": len(told),
        "fields": {name: one.fact_id for one in told for name in one.fields if _is_inside(name, field)},
    }


def _seen(fittings: Fittings, reader: Reader, aggregate: str, subject: str) -> Iterator[Fact]:
    after = 0
    while found := facts_about(reader.reading, aggregate, subject, after_version=after, most=PAGE):
        after = found[-1][0].version
        for one in seen_facts(fittings, reader, found):
            yield _with_fields(one)[0]


def _with_fields(stated: Stated) -> Stated:
    """A fact that names no fields sets those that it tells."""
    fact, receipt = stated
    return replace(fact, fields=fact.fields or tuple(fact.payload or ())), receipt


def _setting(known: Sequence[Told], subject: str, field: str) -> list[Told]:
    """The facts that set a field, or what is inside it."""
    told = [one for one in known if any(_is_inside(name, field) for name in one.fields)]
    if not told:
        names = sorted({name for one in known for name in one.fields})
        suggestions = {"did_you_mean": nearest(field, names), "allowed_values": names[:MOST_NAMES]}
        params = {"id": subject[:80], "field": field[:80]}
        raise Invalid(codes.FIELD_NOT_FOUND, params, field="field", suggestions=suggestions)
    return told


def _is_inside(name: str, field: str | None) -> bool:
    return field is None or name == field or name.startswith(f"{field}.")

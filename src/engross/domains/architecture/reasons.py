"""Why an element is what it is: its facts, who wanted and who approved them, and the receipts that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from engross.flows import nearest
from engross.ledger import Fact, Reader, facts_about
from engross.ledger.facts import envelopes_about, facts_of_versions
from engross.ledger.reasons import reasons_of, worth_telling
from engross.replies import Invalid, codes

from .checks import NAMESPACE
from .elements import ambiguous, find_element, referred
from .looking import Arguments, asked_for, cited
from .metamodel import metamodel
from .models import all_models
from .patch import MAPS, spread, value_of
from .relationships import relationships_of

CREATED = "ElementCreated"
SETTABLE = ("description", "properties")
"""What any element may have and need not."""
MOST_NAMES = 100


class Told(NamedTuple):
    """A fact without its payload, and what it sets of that which is asked about."""

    fact: Fact
    fields: tuple[str, ...]


def reasons(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The reasons of an element, also of one that is gone; of too many, the newest and how it came to be."""
    limit, field = arguments.get("limit", 50), arguments.get("field")
    subject, element = _subject(reader, arguments)
    facts = envelopes_about(reader.reading, NAMESPACE, subject)
    told = [Told(fact, fact.fields) for fact in facts] if field is None else _setting(reader, facts, field)
    if field is not None and not told:
        raise _no_such_field(subject, field, facts, element)
    versions = [one.fact.version for one in told]
    stated = facts_of_versions(reader.reading, NAMESPACE, subject, worth_telling(versions, limit))
    answer = {
        "element": element,
        "subject": subject,
        "element_id": subject,
        "is_deleted": element is None,
        "reasons": reasons_of(reader.reading, stated),
        "reasons_in_all": len(told),
        "fields": {name: one.fact.id for one in told for name in one.fields},
        "relationships": relationships_of(reader, [subject], most=limit),
    }
    return cited(reader, element["model_id"] if element else None, answer, [element] if element else [])


def _setting(reader: Reader, facts: Sequence[Fact], field: str) -> list[Told]:
    """The facts that set the field or what is inside it, and those that set a whole map with the field in it."""
    name, dot, key = field.partition(".")
    is_entry = bool(dot) and name in MAPS
    # Callers name an entry by its key, or as the ledger does.
    called = {field, *spread({name: {key: None}})} if is_entry else {field}
    holding = _holding(reader, [fact for fact in facts if name in fact.fields], called) if is_entry else set()
    told = []
    for fact in facts:
        inside = {field if one in called else one for one in fact.fields if _is_inside(one, called)}
        if inside or fact.version in holding:
            told.append(Told(fact, tuple(sorted(inside)) or (field,)))
    return told


def _holding(reader: Reader, facts: Sequence[Fact], called: Iterable[str]) -> set[int]:
    """The versions of facts that set a map with such an entry. One that was erased may have had it."""
    versions = [fact.version for fact in facts]
    found = facts_of_versions(reader.reading, NAMESPACE, facts[0].subject, versions) if facts else []
    return {
        fact.version
        for fact, _ in found
        if fact.payload is None or any(value_of(fact.payload, one) is not None for one in called)
    }


def _is_inside(field: str, called: Iterable[str]) -> bool:
    return any(field == one or field.startswith(f"{one}.") for one in called)


def _no_such_field(subject: str, field: str, facts: Iterable[Fact], element: Mapping[str, Any] | None) -> Invalid:
    """The element never had the field; with those it has or had."""
    had = {name for fact in facts for name in fact.fields}
    has = set(spread({name: element[name] for name in MAPS if name in element})) if element else set()
    names = sorted(had | has)
    hint = f"{field} may be set, but never was." if _may_be_set(field, element) else "Take one of allowed_values."
    return Invalid(
        codes.FIELD_NOT_FOUND,
        {"id": subject, "field": field[:80]},
        field="field",
        suggestions={"did_you_mean": nearest(field, names), "allowed_values": names[:MOST_NAMES], "hint": hint},
    )


def _may_be_set(field: str, element: Mapping[str, Any] | None) -> bool:
    name, _, key = field.partition(".")
    if name != "profile" or element is None:
        return field in SETTABLE
    rules = metamodel().profiles.get(element["type"])
    return rules is not None and (not key or key in rules["fields"])


def _subject(reader: Reader, arguments: Arguments) -> tuple[str, dict[str, Any] | None]:
    called = [arguments[name] for name in ("id", "ref") if name in arguments]
    # Also one that is gone, which no name leads to any more.
    if len(called) == 1 and _was_an_element(reader, called[0]):
        return called[0], find_element(reader, called[0])
    by_name_alone = "ref" in arguments and "model_id" not in arguments
    element = _anywhere(reader, arguments) if by_name_alone else asked_for(reader, arguments)
    return element["id"], element


def _was_an_element(reader: Reader, subject: str) -> bool:
    first = facts_about(reader.reading, NAMESPACE, subject, after_version=0, most=1)
    return any(fact.type == CREATED for fact, _ in first)


def _anywhere(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The element of a name: of the caller's model, else of the only other model that has one."""
    try:
        return asked_for(reader, arguments)
    except Invalid as refused:
        if refused.code != codes.ELEMENT_NOT_FOUND:
            raise
        found = [one for model in all_models(reader) for one in _called(reader, model["id"], arguments["ref"])]
        if not found:
            raise
    if len(found) > 1:
        raise ambiguous(reader, found, arguments["ref"], "ref")
    return found[0]


def _called(reader: Reader, model_id: str, reference: str) -> list[dict[str, Any]]:
    try:
        return [referred(reader, model_id, reference, "ref")]
    except Invalid:
        return []

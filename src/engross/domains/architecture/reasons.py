"""Why an element is what it is: its facts, who wanted and who approved them, and the receipts that prove it."""

from __future__ import annotations

from typing import Any

from engross.ledger import Fact, Reader, facts_about
from engross.ledger.reasons import last_setters, reasons_of
from engross.replies import Invalid, codes

from .checks import NAMESPACE
from .elements import ambiguous, find_element, no_such_element, referred
from .looking import Arguments, asked_for
from .models import all_models
from .relationships import relationships_of
from .rows import citation


def reasons(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The reasons of an element, also of one that is gone."""
    limit = arguments.get("limit", 50)
    subject, element = _subject(reader, arguments)
    found = facts_about(reader.reading, NAMESPACE, subject, after_version=0, most=limit)
    if not found:
        raise Invalid.many([no_such_element(reader, subject, "id")])
    wanted = arguments.get("field")
    listed = reasons_of(reader.reading, [(fact, receipt) for fact, receipt in found if _sets(fact, wanted)])
    return {
        "element": element,
        "subject": subject,
        "element_id": subject,
        "is_deleted": element is None,
        "reasons": listed,
        "fields": last_setters(listed),
        "relationships": relationships_of(reader, [subject], most=limit),
        "citations": [citation(element)] if element else [],
    }


def _subject(reader: Reader, arguments: Arguments) -> tuple[str, dict[str, Any] | None]:
    called = [arguments[name] for name in ("id", "ref") if name in arguments]
    # Also one that is gone, which no name leads to any more.
    if len(called) == 1 and facts_about(reader.reading, NAMESPACE, called[0], after_version=0, most=1):
        return called[0], find_element(reader, called[0])
    by_name_alone = "ref" in arguments and "model_id" not in arguments
    element = _anywhere(reader, arguments) if by_name_alone else asked_for(reader, arguments)
    return element["id"], element


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
        raise ambiguous(found, arguments["ref"], "ref")
    return found[0]


def _called(reader: Reader, model_id: str, reference: str) -> list[dict[str, Any]]:
    try:
        return [referred(reader, model_id, reference, "ref")]
    except Invalid:
        return []


def _sets(fact: Fact, field: str | None) -> bool:
    """Whether the fact says something about the field, or about what is inside it."""
    return field is None or any(one == field or one.startswith(f"{field}.") for one in fact.fields)

"""Why an element is what it is: its facts, who wanted and who approved them, and the receipts that prove it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.ledger import Fact, Reader, facts_about
from engross.replies import Invalid, codes

from .checks import NAMESPACE
from .elements import ambiguous, find_element, no_such_element, referred
from .looking import Arguments, asked_for
from .models import all_models
from .relationships import relationships_of
from .rows import citation

PROPOSALS = "proposals"


def reasons(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The reasons of an element, also of one that is gone."""
    limit = arguments.get("limit", 50)
    subject, element = _subject(reader, arguments)
    found = facts_about(reader.reading, NAMESPACE, subject, after_version=0, most=limit)
    if not found:
        raise Invalid.many([no_such_element(reader, subject, "id")])
    told = _told_reasons(reader, {receipt.get("proposal") for _, receipt in found})
    wanted = arguments.get("field")
    listed = [_reason(fact, receipt, told) for fact, receipt in found if _sets(fact, wanted)]
    return {
        "element": element,
        "subject": subject,
        "element_id": subject,
        "is_deleted": element is None,
        "reasons": listed,
        "fields": {field: one["fact_id"] for one in listed for field in one["fields"]},
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


def _told_reasons(reader: Reader, proposals: set[str | None]) -> dict[str, str]:
    """What the authors of proposals gave as their reason: the first fact of each says it."""
    found: dict[str, str] = {}
    for proposal in proposals:
        for fact, _ in facts_about(reader.reading, PROPOSALS, proposal, after_version=0, most=1) if proposal else ():
            if fact.payload and fact.payload.get("reason"):
                found[fact.subject] = fact.payload["reason"]
    return found


def _reason(fact: Fact, receipt: Mapping[str, Any], told_reasons: Mapping[str, str]) -> dict[str, Any]:
    told = {
        "fact": fact.type,
        "fact_id": fact.id,
        "version": fact.version,
        "position": fact.position,
        "time": fact.time,
        "fields": list(fact.fields),
        "payload": fact.payload,
        "erased": fact.payload is None,
        "by": receipt.get("author") or receipt["principal"],
        "flow": receipt["flow"],
        "reason": told_reasons.get(receipt.get("proposal", "")) or receipt.get("reason"),
        "proposal": receipt.get("proposal"),
        "approvers": receipt.get("approvers", []),
        "receipt": {"position": fact.position, "facts_digest": receipt.get("facts_digest")},
    }
    return {name: value for name, value in told.items() if value is not None}

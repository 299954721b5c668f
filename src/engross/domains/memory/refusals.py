"""What a call is refused with. Nothing in it repeats a value: personal data does not belong into errors and logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from engross.flows import nearest
from engross.replies import Invalid, Issue, codes

LOOK_FOR_IT = "Look it up with get_entity_by_identifier or search_memory."
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
"""What may be repeated in a refusal: a word that fields or types are called by, and nothing longer."""


def called(name: str, otherwise: str = "of that name") -> str:
    """A name as a refusal may repeat it: what is no single word may be anything, a person's address too."""
    return name if _WORD.fullmatch(name) else otherwise


def malformed(pointer: str, problem: str, hint: str | None = None, **details: Any) -> Issue:
    """Something that only the domain can see is wrong with the shape of a call."""
    code = codes.VALIDATION_ERROR  # reply-lint: L7 because a schema cannot say it, and the fault is one of shape
    return Issue(code, {"problem": problem}, pointer, details or None, {"hint": hint} if hint else None)


def unfit(at: str, kind: str) -> Issue:
    """A value is of another type than the schema of the entity's type says."""
    article = "an" if kind[0] in "aeiou" else "a"
    return malformed(at, f"the schema of the type wants {article} {kind} here", expected=kind)


def too_many(pointer: str, what: str, limit: int, actual: int, hint: str) -> Issue:
    """More than one call may hold."""
    code = codes.LIMIT_EXCEEDED  # reply-lint: L7 because the limit is a setting, which no schema knows
    details = {"limit": limit, "actual": actual}
    return Issue(code, {"what": what, "limit": limit}, pointer, details, {"hint": hint})


def no_such_entity(identifier: str, field: str = "entity_id") -> Invalid:
    """There is no such entity, for this caller."""
    return Invalid(codes.ENTITY_NOT_FOUND, {"id": identifier}, field=field, suggestions={"hint": LOOK_FOR_IT})


def no_such_field(identifier: str, field: str, known: Iterable[str]) -> Invalid:
    """The entity has no such field; with those it has."""
    names = sorted(known)
    return Invalid(
        codes.FIELD_NOT_FOUND,
        {"id": identifier, "field": called(field)},
        field="field",
        suggestions={"did_you_mean": nearest(field, names), "allowed_values": names[:100]},
    )


def no_such_record(identifier: str, field: str = "node_id", kind: str = "record") -> Invalid:
    """There is no such record, for this caller."""
    return Invalid(codes.RECORD_NOT_FOUND, {"kind": kind, "id": identifier}, field=field)


def already_merged(identifier: str, survivor: str, field: str) -> Invalid:
    """The entity went into another one before."""
    suggestions = {"merged_to_entity_id": survivor, "hint": "Name the entity it was merged into."}
    return Invalid(codes.ENTITY_ALREADY_MERGED, {"id": identifier}, field=field, suggestions=suggestions)


def target_merged(identifier: str, survivor: str, field: str) -> Invalid:
    """The entity to merge into went into another one before."""
    suggestions = {"merged_to_entity_id": survivor, "hint": "Merge into that one."}
    return Invalid(codes.MERGE_TARGET_ALREADY_MERGED, {"id": identifier}, field=field, suggestions=suggestions)


def raise_all(issues: Sequence[Issue]) -> None:
    """Refuse, with everything that is wrong, if anything is."""
    if issues:
        raise Invalid.many(issues)

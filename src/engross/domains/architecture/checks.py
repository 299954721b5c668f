"""Checks that several writes make; what is wrong is added to a list, so that all of it is told at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engross.ledger import Unit, facts_about
from engross.replies import Invalid, Issue, codes

from .elements import elements_named
from .models import effective_model
from .notices import Notices, name_shared
from .refusals import name_taken
from .ways import Habits

NAMESPACE = "architecture"
MOST_LOOKED_AT = 100
"""How many versions back a conflict is explained."""


def model_for(unit: Unit, model_id: str | None, issues: list[Issue]) -> str | None:
    """The model that a write is about."""
    try:
        return effective_model(unit, model_id)
    except Invalid as refused:
        issues.extend(refused.issues)
        return None


def name_for(
    unit: Unit,
    habits: Habits,
    model_id: str | None,
    kind: str | None,
    name: str | None,
    issues: list[Issue],
    *,
    field: str = "name",
    unless: str = "",
) -> Notices:
    """Refuse a name that is taken, or warn of it, as the house sees fit."""
    policy = habits.on_duplicate(unit.context)
    if model_id is None or kind is None or name is None or policy == "allow":
        return []
    taken = [one for one in elements_named(unit, model_id, name, [kind]) if one["id"] != unless]
    if not taken:
        return []
    if policy == "warn":
        return [name_shared(taken[0], field)]
    issues.append(name_taken(unit, taken[0], name, field))
    return []


def outdated(unit: Unit, thing: Mapping[str, Any], expected: int | None, wanted: Collection[str]) -> list[Issue]:
    """The caller had another version in mind; with what was changed since."""
    if expected is None or expected == thing["version"]:
        return []
    since = facts_about(unit.reading, NAMESPACE, thing["id"], after_version=expected, most=MOST_LOOKED_AT)
    touched = {field for fact, _ in since for field in fact.fields}
    authors = {(receipt.get("author") or receipt["principal"])["id"] for _, receipt in since}
    return [
        Issue(
            codes.VERSION_CONFLICT,
            {"expected": expected, "current": thing["version"]},
            "/expected_version",
            suggestions={
                "current_version": thing["version"],
                "changed_fields": sorted(touched),
                "changed_by": sorted(authors),
                "overlapping_fields": sorted(touched & set(wanted)),
            },
        )
    ]

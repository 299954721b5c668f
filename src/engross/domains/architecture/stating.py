"""Facts about elements and relationships, stated, and what comes of them as callers see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engross.calls import Answer
from engross.ledger import Unit

from .rows import element_of, relationship_of
from .ways import Habits

Arguments = Mapping[str, Any]
Write = Callable[[Unit, Arguments, Habits], Answer]
Told = frozenset[str]
NOTHING_TOLD: Told = frozenset()
"""Fields that a call is refused for already: a look at the rest of it need not miss them."""


def add_element(unit: Unit, model_id: str, kind: str, **fields: Any) -> dict[str, Any]:
    """State that there is a new element; what it looks like to callers."""
    said = {"model_id": model_id, "type": kind, **{name: value for name, value in fields.items() if value}}
    identifier = unit.new_id("el_")
    unit.append("ElementCreated", identifier, 0, said, fields=said)
    return element_of({"id": identifier, "version": 1, **said})


def add_relationship(
    unit: Unit, model_id: str, kind: str, source_id: str, target_id: str, **fields: Any
) -> dict[str, Any]:
    """State that there is a new relationship; what it looks like to callers."""
    said = {"model_id": model_id, "type": kind, "source_id": source_id, "target_id": target_id, **fields}
    identifier = unit.new_id("rel_")
    unit.append("RelationshipCreated", identifier, 0, said, fields=said)
    return relationship_of({"id": identifier, "version": 1, **said})


def end_relationship(unit: Unit, relationship: Mapping[str, Any]) -> None:
    """State that a relationship is gone."""
    unit.append("RelationshipDeleted", relationship["id"], relationship["version"], {}, before=relationship, ends=True)

"""What could be better about a new element: said with the write that makes it, and with its dry run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.ledger import Unit

from .metamodel import metamodel
from .notices import Notices, like_another, profile_missing, undescribed
from .search import plainly_similar, similar

SIMILAR_SHOWN = 3


def remarks(unit: Unit, element: Mapping[str, Any]) -> Notices:
    """That it says too little about itself, or is called much like another."""
    kind = element["type"]
    found: Notices = []
    if not element["description"] and not metamodel().is_junction(kind):
        found.append(undescribed())
    if kind in metamodel().profiles and "profile" not in element:
        found.append(lacks_profile(kind))
    return [*found, *likenesses(unit, element["model_id"], element["name"], unless=element["id"])]


def lacks_profile(element_type: str) -> dict[str, Any]:
    """That nobody said what the profile of this type asks for."""
    return profile_missing(element_type, ", ".join(metamodel().profiles[element_type]["required"]))


def likenesses(unit: Unit, model_id: str, name: str, field: str = "name", *, unless: str = "") -> Notices:
    """That others are called much like this one."""
    # A real write has no time for a thorough look.
    look, most = (similar, SIMILAR_SHOWN) if unit.context.dry_run else (plainly_similar, 1)
    return [like_another(one, field) for one in look(unit, model_id, name, most=most, unless=unless)]

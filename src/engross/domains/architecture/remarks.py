"""What could be better about a new element: said with the write that makes it, and with its dry run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.ledger import Reader

from .metamodel import metamodel
from .notices import Notices, like_another, profile_missing, undescribed
from .search import plainly_similar

SIMILAR_SHOWN = 3


def remarks(element: Mapping[str, Any]) -> Notices:
    """That it says too little about itself."""
    kind = element["type"]
    found: Notices = []
    if not element["description"] and not metamodel().is_junction(kind):
        found.append(undescribed())
    if kind in metamodel().profiles and "profile" not in element:
        found.append(lacks_profile(kind))
    return found


def lacks_profile(element_type: str) -> dict[str, Any]:
    """That nobody said what the profile of this type asks for."""
    return profile_missing(element_type, ", ".join(metamodel().profiles[element_type]["required"]))


def likenesses(reader: Reader, model_id: str, name: str, field: str = "name") -> Notices:
    """That others are called much like this. Asked before it is there, or it would be one of them."""
    return [like_another(one, field) for one in plainly_similar(reader, model_id, name, most=SIMILAR_SHOWN)]

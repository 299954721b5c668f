"""Under which terms an entity is found: identifiers as `email=...`, and single words; each with its rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .names import ADDRESSES, IDENTIFIERS, alike_key, identifier_terms, words

MOST_TERMS = 80
NAME, IDENTIFIER, ALIKE = 0, 1, 2
TOLD = 16
"""The rank from which on a word stems from another field than the name; below it, from a name with so many words."""


def terms_of(entity_type: str, name: str, snapshot: Mapping[str, Any]) -> dict[str, int]:
    """The terms of an entity. The lower a rank, the more the term says about it."""
    found = {f"name={name}": NAME}
    alike = alike_key(entity_type, name)
    if alike != name:
        found[f"alike={alike}"] = ALIKE
    told: list[str] = []
    for field, value in snapshot.items():
        if field in IDENTIFIERS:
            for term in identifier_terms(field, value):
                found.setdefault(term, IDENTIFIER)
        if field not in ADDRESSES:
            _collect(value, told)
    own = dict.fromkeys(words(name))
    rank = min(len(own) + ALIKE, TOLD - 1)
    for word in own:
        found.setdefault(word, rank)
    for text in told:
        if len(found) >= MOST_TERMS:
            break
        for word in words(text):
            found.setdefault(word, TOLD)
    return found


def _collect(value: Any, told: list[str], depth: int = 2) -> None:
    if isinstance(value, str):
        told.append(value)
    elif depth and isinstance(value, list | tuple):
        for one in value[:50]:
            _collect(one, told, depth - 1)
    elif depth and isinstance(value, Mapping):
        for key in sorted(value)[:50]:
            _collect(value[key], told, depth - 1)

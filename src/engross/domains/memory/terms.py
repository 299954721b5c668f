"""Under which terms an entity is found: identifiers as `email=...`, and single words; each with its rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .names import ADDRESSES, IDENTIFIERS, alike_key, identifier_terms, words

MOST_TERMS = 80
NAME, IDENTIFIER, ALIKE = 0, 1, 2
LEAST_NUMBER, NUMBERS_END = 100, 10**15
"""Numbers in between are looked for: smaller ones say nothing, and greater ones are no numbers to their readers."""
TOLD = 16
"""The rank from which on a word stems from another field than the name; below it, from a name with so many words."""


def terms_of(entity_type: str, name: str, snapshot: Mapping[str, Any]) -> dict[str, int]:
    """The terms of an entity. The lower a rank, the more the term says about it."""
    found = {f"name={name}": NAME}
    alike = alike_key(entity_type, name)
    if alike != name:
        found[f"alike={alike}"] = ALIKE
    for field, value in snapshot.items():
        if field in IDENTIFIERS:
            for term in identifier_terms(field, value):
                found.setdefault(term, IDENTIFIER)
    own = dict.fromkeys(words(name))
    rank = min(len(own) + ALIKE, TOLD - 1)
    for word in own:
        found.setdefault(word, rank)
    for text in texts_in(snapshot):
        if len(found) >= MOST_TERMS:
            break
        for word in words(text):
            found.setdefault(word, TOLD)
    return found


def texts_in(snapshot: Mapping[str, Any]) -> list[str]:
    """What is said in words or numbers about an entity, but for what only identifies it."""
    told: list[str] = []
    for field, value in snapshot.items():
        if field not in ADDRESSES:
            _collect(value, told)
    return told


def _collect(value: Any, told: list[str], depth: int = 2) -> None:
    if isinstance(value, str):
        told.append(value)
    elif isinstance(value, int | float):
        if LEAST_NUMBER <= abs(value) < NUMBERS_END:
            told.append(str(abs(int(value))))
    elif depth and isinstance(value, list | tuple):
        for one in value[:50]:
            _collect(one, told, depth - 1)
    elif depth and isinstance(value, Mapping):
        for key in sorted(value)[:50]:
            _collect(value[key], told, depth - 1)

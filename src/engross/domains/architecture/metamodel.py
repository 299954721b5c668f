"""The metamodel: which element and relationship types there are, and which may be related how.

One data file says it (`metamodel.json`, made by tools/archimate.py). Enums, schemas, checks, suggestions and hints all
follow from it, and its digest tells two versions of it apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from engross.flows import nearest

SOURCE = Path(__file__).with_name("metamodel.json")
RELATIONSHIP = "Relationship"
"""Stands for the type of an end that is itself a relationship."""
OTHER = "other"
FEW_PREFIXES = 3

_FIRST_WORD = re.compile(r"[A-Z][a-z]*")
_SEPARATORS = re.compile(r"[\s_\-]+")


class Meant(NamedTuple):
    """The type that a word stands for, and whether it was spelled in its own way."""

    type: str
    spelled_out: bool


class Metamodel:
    """The types of a modelling language and the relationships that it allows."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.name: str = data["name"]
        self.version: str = data["version"]
        self.layers: tuple[str, ...] = tuple(data["layers"])
        self.element_types: tuple[str, ...] = tuple(data["elements"])
        self.connectors: Mapping[str, str] = data["connectors"]
        self.relationship_types: tuple[str, ...] = tuple(data["relationships"])
        self.profiles: Mapping[str, Any] = data["profiles"]

    @cached_property
    def digest(self) -> str:
        """What tells this metamodel from every other."""
        return "sha256:" + sha256(orjson.dumps(self._data, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def mark(self) -> str:
        """Name, version and the beginning of the digest, as part of another version."""
        return f"{self.name.lower()}.{self.version}.{self.digest.removeprefix('sha256:')[:16]}"

    @property
    def stamp(self) -> dict[str, str]:
        """Which metamodel an answer was made by."""
        return {"name": self.name, "version": self.version, "digest": self.digest}

    @cached_property
    def creatable_types(self) -> tuple[str, ...]:
        """What an element may be: the element types, then the junctions."""
        return (*self.element_types, *self.connectors)

    def layer(self, element_type: str) -> str:
        """The layer that a type belongs to."""
        known = self._data["elements"].get(element_type)
        return str(known["layer"]) if known else OTHER

    def describe(self, element_type: str) -> Mapping[str, str]:
        """Layer, group, aspect and description of an element type."""
        known: Mapping[str, str] | None = self._data["elements"].get(element_type)
        if known is not None:
            return known
        return {"layer": OTHER, "group": "connector", "aspect": "", "description": self.connectors[element_type]}

    def relationship(self, relationship_type: str) -> Mapping[str, str]:
        """Verb, inverse, category and description of a relationship type."""
        found: Mapping[str, str] = self._data["relationships"][relationship_type]
        return found

    def types_in(self, layer: str) -> tuple[str, ...]:
        """The element types of a layer."""
        return tuple(name for name in self.element_types if self.layer(name) == layer)

    def is_junction(self, element_type: str) -> bool:
        """Does this type only join relationships?"""
        return element_type in self.connectors

    def allows(self, relationship_type: str, source: str, target: str) -> bool:
        """May such a relationship lead from the one type to the other?"""
        return relationship_type in self.allowed(source, target)

    @lru_cache(maxsize=8192)  # noqa: B019 there is one metamodel, and it stays
    def allowed(self, source: str, target: str) -> tuple[str, ...]:
        """The relationship types that may lead from the one type to the other, the most specific first."""
        letters = self._letters(source, target)
        return tuple(name for name in self.relationship_types if self.relationship(name)["letter"] in letters)

    def sources_for(self, relationship_type: str, target: str) -> list[str]:
        """The element types from which such a relationship may lead there."""
        return [source for source in self.element_types if self.allows(relationship_type, source, target)]

    def targets_for(self, relationship_type: str, source: str) -> list[str]:
        """The element types to which such a relationship may lead from there."""
        return [target for target in self.element_types if self.allows(relationship_type, source, target)]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many pairs of element types each relationship type may join."""
        found = dict.fromkeys(self.relationship_types, 0)
        for source in self.element_types:
            for target in self.element_types:
                for name in self.allowed(source, target):
                    found[name] += 1
        return found

    def element_type(self, word: object) -> Meant | None:
        """The element type that a word stands for, also by an older name or another spelling."""
        return self._meant(word, self.creatable_types, self._element_words)

    def relationship_type(self, word: object) -> Meant | None:
        """The relationship type that a word stands for, also by an older name or another spelling."""
        return self._meant(word, self.relationship_types, self._relationship_words)

    def close_element_types(self, word: object) -> list[str]:
        """Element types that were perhaps meant."""
        return nearest(word, self.creatable_types)

    def close_relationship_types(self, word: object) -> list[str]:
        """Relationship types that were perhaps meant."""
        return nearest(word, self.relationship_types)

    def layer_hint(self, layer: str) -> str:
        """How to tell the types of a layer."""
        types = self.types_in(layer)
        words = list(dict.fromkeys(_FIRST_WORD.findall(name)[0] for name in types))
        title = layer.replace("_", " and ").capitalize()
        if len(words) <= FEW_PREFIXES:
            quoted = [f"'{word}'" for word in words]
            return f"{title} layer types start with {_enumerated(quoted, 'or')}"
        return f"{title} layer types are {_enumerated(list(types), 'and')}"

    def relationship_hint(self, relationship_type: str) -> str:
        """What a relationship type says, with a pair that it may join."""
        told = self.relationship(relationship_type)
        return f"{relationship_type}: {told['description']} (source {told['verb']} target)"

    def _letters(self, source: str, target: str) -> str:
        if source == RELATIONSHIP or target == RELATIONSHIP:
            return self._letters_with_relationship(source, target)
        if self.is_junction(source) or self.is_junction(target):
            return self._letters_with_junction(source, target)
        row = self._rows.get(source, {})
        return row.get(target, "")

    def _letters_with_relationship(self, source: str, target: str) -> str:
        ends = self._data["to_relationship"]
        if source == target or self.is_junction(source) or self.is_junction(target):
            return ""
        if source == RELATIONSHIP:
            return str(ends["usual"]) if target in self._rows else ""
        return str(ends.get(source, ends["usual"])) if source in self._rows else ""

    def _letters_with_junction(self, source: str, target: str) -> str:
        rules = self._data["junctions"]
        if self.is_junction(source):
            return str(rules["usable"] if self.is_junction(target) else rules["out"].get(target, ""))
        if source not in self._rows:
            return ""
        members = "cg" if source in rules["members_of"] else ""
        return str(rules["usable"]) + members

    @cached_property
    def _rows(self) -> dict[str, dict[str, str]]:
        order = self._data["order"]
        return {source: dict(zip(order, row.split(), strict=True)) for source, row in self._data["matrix"].items()}

    @cached_property
    def _element_words(self) -> dict[str, str]:
        aliases: Mapping[str, str] = self._data["aliases"]["elements"]
        own = {name: name for name in self.creatable_types}
        return {_squeezed(word): name for word, name in {**aliases, **own}.items()}

    @cached_property
    def _relationship_words(self) -> dict[str, str]:
        aliases: Mapping[str, str] = self._data["aliases"]["relationships"]
        own = {name: name for name in self.relationship_types}
        suffixed = {f"{name}Relationship": name for name in self.relationship_types}
        return {_squeezed(word): name for word, name in {**aliases, **suffixed, **own}.items()}

    @staticmethod
    def _meant(word: object, types: tuple[str, ...], words: Mapping[str, str]) -> Meant | None:
        if not isinstance(word, str):
            return None
        if word in types:
            return Meant(word, True)
        found = words.get(_squeezed(word))
        return Meant(found, False) if found else None


@lru_cache(maxsize=1)
def metamodel() -> Metamodel:
    """The metamodel in force."""
    return Metamodel(orjson.loads(SOURCE.read_bytes()))


def _squeezed(word: str) -> str:
    return _SEPARATORS.sub("", word).casefold()


def _enumerated(words: list[str], joint: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"

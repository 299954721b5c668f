"""The ids of one exchange file: each as XML allows it, none of them twice, and every reference following its id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Tree = list[Any]

_FIRST = re.compile(r"[^\W\d]|_")
_STRANGE = re.compile(r"[^\w.\-]")
TO_THE_MODEL = frozenset({"identifierRef", "elementRef", "relationshipRef", "viewpointRef", "propertyDefinitionRef"})
WITHIN = frozenset({"source", "target"})


def ncname(identifier: str) -> str:
    """An id as XML allows it: no digit in front, nothing strange inside."""
    mended = _STRANGE.sub("-", identifier)
    return mended if _FIRST.match(mended) else f"id-{mended}"


class Identifiers:
    """Gives out ids, and knows what became of those that things have elsewhere."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._became: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def claim(self, outside: str) -> str:
        """An id for what is called so elsewhere."""
        wanted = name = ncname(outside)
        while name in self._taken:
            # Where many have one name, nobody counts from the beginning.
            number = self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            name = f"{wanted}-{number}"
        self._taken.add(name)
        self._became.setdefault(outside, name)
        return name

    def fresh(self, prefix: str) -> str:
        """An id for what is not called anything elsewhere."""
        number = self._numbers.get(prefix, 0) + 1
        while f"{prefix}{number}" in self._taken:
            number += 1
        self._numbers[prefix] = number
        return self.claim(f"{prefix}{number}")

    def __contains__(self, outside: str) -> bool:
        """Whether what is called so elsewhere is in this file."""
        return outside in self._became

    def __getitem__(self, outside: str) -> str:
        """The id here of what is called so elsewhere."""
        return self._became.get(outside) or ncname(outside)

    def translated(self, tree: Tree, own: str | None = None) -> Tree:
        """A tree of another file with ids of this one; `own` is what the tree's root is called here already."""
        local = {} if own is None else {tree[1].get("identifier", ""): own}
        for identifier in identifiers_in(tree):
            if identifier not in local:
                local[identifier] = self.claim(identifier)
        return self._translated(tree, local)

    def _translated(self, tree: Tree, local: dict[str, str]) -> Tree:
        name, attributes, text, children = tree
        said = {key: self._reference(key, value, local) for key, value in attributes.items()}
        return [name, said, text, [self._translated(child, local) for child in children]]

    def _reference(self, key: str, value: str, local: dict[str, str]) -> str:
        if key == "identifier":
            return local[value]
        if key in WITHIN:
            return local.get(value) or ncname(value)
        return self[value] if key in TO_THE_MODEL else value


def identifiers_in(tree: Tree) -> Iterator[str]:
    """Every id that a tree gives to something."""
    pending = [tree]
    while pending:
        _, attributes, _, children = pending.pop()
        if "identifier" in attributes:
            yield attributes["identifier"]
        pending.extend(reversed(children))

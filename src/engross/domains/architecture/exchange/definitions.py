"""Property definitions: what properties are called, how their values are read, and under which one each goes out.

A definition has one kind. Where values of several kinds have one name, there are several definitions of that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .identifiers import Identifiers
from .texts import Texts, shown, variants
from .trees import Node
from .values import KINDS, TEXT, Value, as_text, as_value, shown_values, survives, usual_kind

NAMED, FURTHER = "property_definitions", "further_definitions"
"""Where a model keeps them: those by the names of their properties, and others of the same names."""

Extra = Mapping[str, Any]


class Definition(NamedTuple):
    """One of them, with the name that its properties have here."""

    name: str
    kind: str
    id: str
    title: str = ""
    """What it is called in a file."""


class Definitions:
    """Those of a file, by their ids, as they are found."""

    def __init__(self, root: Node) -> None:
        self.extra: dict[str, Any] = {}
        self._known: dict[str, Definition] = {}
        self._taken: set[tuple[str, str]] = set()
        holder = root.first("propertyDefinitions")
        for one in holder.all("propertyDefinition") if holder else ():
            self._add(one)

    def _add(self, node: Node) -> None:
        identifier, said = node.get("identifier") or "", node.get("type")
        kind = said if said in KINDS else TEXT
        titles = variants(node, "name")
        name = title = (shown(titles) or "") if titles else identifier
        named: dict[str, dict[str, str]] = self.extra.setdefault(NAMED, {})
        if (name, kind) in self._taken:
            name = f"{name} [{identifier}]"
        if identifier in self._known or (name, kind) in self._taken:
            return
        self._taken.add((name, kind))
        self._known[identifier] = Definition(name, kind, identifier)
        kept = {"id": identifier, "type": kind, "title": title}
        if named.setdefault(name, kept) is not kept:
            self.extra.setdefault(FURTHER, []).append({"name": name, **kept})

    def read(self, raw: Mapping[str, Texts], undefined: Counter[str]) -> tuple[dict[str, Value], dict[str, Any]]:
        """Properties by their names, and all values of those that have several or say their language."""
        found: dict[str, Value] = {}
        several: dict[str, list[dict[str, str]]] = {}
        for reference, texts in raw.items():
            definition = self._known.get(reference)
            if definition is None:
                undefined[reference] += 1
                definition = Definition(reference, TEXT, reference)
            name = definition.name
            if isinstance(texts, str) and name not in found and name not in several:
                found[name] = as_value(texts, definition.kind)
                continue
            before = several.pop(name, None) or ([{"value": as_text(found[name])}] if name in found else [])
            several[name] = [*before, *([{"value": texts}] if isinstance(texts, str) else texts)]
            found[name] = _shown(several[name], definition.kind)
        return found, several


def _shown(values: Sequence[Mapping[str, str]], kind: str) -> Value:
    text, count = shown_values(values)
    return as_value(text, kind) if count == 1 else text


class Outgoing:
    """The definitions of a file that goes out: those that came in, and more where a value needs another kind."""

    def __init__(self, extra: Extra, ids: Identifiers, used: Iterable[tuple[str, Value]]) -> None:
        self._known: dict[str, list[Definition]] = {}
        named: Mapping[str, Mapping[str, str]] = extra.get(NAMED, {})
        for name, one in (*named.items(), *((one["name"], one) for one in extra.get(FURTHER, ()))):
            definition = Definition(name, one["type"], ids.claim(one["id"]), _title(name, one))
            self._known.setdefault(name, []).append(definition)
        missing = {(name, usual_kind(value)) for name, value in used if self._of(name, value) is None}
        for name, kind in sorted(missing):
            self._known.setdefault(name, []).append(Definition(name, kind, ids.fresh("propid-"), name))

    def _of(self, name: str, value: Value) -> Definition | None:
        return next((one for one in self._known.get(name, ()) if survives(value, one.kind)), None)

    def reference(self, name: str, value: Value) -> str:
        """The id of the definition under which a value comes back as what it is."""
        return (self._of(name, value) or self._known[name][-1]).id

    def all(self) -> list[Definition]:
        """All of them, in an order that a reader makes the same names of."""
        found = (one for several in self._known.values() for one in several)
        return sorted(found, key=lambda one: (one.title, one.kind, one.name != one.title, one.id))


def _title(name: str, one: Mapping[str, str]) -> str:
    """What a definition is called in a file; it was not always kept, but told from its name."""
    return one["title"] if "title" in one else name.removesuffix(f" [{one['id']}]")


def defined_by_both(before: Extra, new: Extra) -> dict[str, Any]:
    """The definitions of a model and of a file that goes into it; of two of one name and kind, the file's."""
    told = [(name, one) for said in (before, new) for name, one in said.get(NAMED, {}).items()]
    told += [(one["name"], one) for said in (before, new) for one in said.get(FURTHER, ())]
    latest = {(name, one["type"]): {key: said for key, said in one.items() if key != "name"} for name, one in told}
    named: dict[str, Any] = {}
    further: list[dict[str, str]] = []
    for (name, _), one in latest.items():
        if named.setdefault(name, one) is not one:
            further.append({"name": name, **one})
    return {key: found for key, found in ((NAMED, named), (FURTHER, further)) if found}

"""Shapes: what may stand at a place of a document.

The format is written down once, as shapes (`grammar.py`). Taking a node apart by its shape gives plain values and
faults that name the very place; the JSON Schema for editors is made from the same shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from .fault import Faults, near
from .model import MISSING, Place
from .node import Keyed, Listed, Node, Scalar, kind_of, plain

RULE: Final = "V3"
LEGACY: Final[Mapping[str, str]] = {"functions": "flows", "label": "display"}
"""Names that the format had once, and what they became."""


class Taken:
    """A map that was taken apart: values by name, and where each stands. What was broken is left out."""

    __slots__ = ("broken", "place", "places", "values")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.values: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.broken = False

    def get(self, name: str, default: Any = None) -> Any:
        """What stands there, or the default."""
        return self.values.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self.values or name in self.places

    def at(self, name: str) -> Place:
        """Where the key stands; where the map begins if there is none."""
        return self.places.get(name, self.place)

    def items(self) -> Iterable[tuple[str, Any]]:
        """The values by name."""
        return self.values.items()


class Text(NamedTuple):
    """A text, perhaps of a pattern or one of a few."""

    what: str = "a text"
    pattern: str | None = None
    among: tuple[str, ...] = ()
    longest: int | None = None
    empty: bool = True
    loosely: bool = False
    """Numbers and truths are taken as the text they are written as."""

    def take(self, node: Node, faults: Faults) -> Any:
        """The text."""
        if not isinstance(node, Scalar) or not (isinstance(node.value, str) or (self.loosely and node.text)):
            hint = ": quote it" if isinstance(node, Scalar) and node.value is not None else ""
            faults.error(RULE, node.place, f"This has to be {self.what}, not {kind_of(node)}{hint}.")
            return MISSING
        text = node.text if self.loosely else node.value
        if self.among and text not in self.among:
            one_of = f"This is one of {', '.join(self.among)}, not {_short(text)}."
            faults.error(RULE, node.place, one_of, near(text, self.among))
            return MISSING
        if self.pattern is not None and not _compiled(self.pattern)(text):
            faults.error(RULE, node.place, f"{_short(text)} is not {self.what}.")
            return MISSING
        if not self.empty and not text.strip():
            faults.error(RULE, node.place, "This must not be empty.")
            return MISSING
        if self.longest is not None and len(text) > self.longest:
            faults.error(RULE, node.place, f"This has {len(text)} characters; at most {self.longest} are allowed.")
            return MISSING
        return text

    def schema(self, _: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        if self.loosely:
            return {"type": ["string", "number", "boolean"]}
        schema: dict[str, Any] = {"type": "string"}
        if self.among:
            schema["enum"] = list(self.among)
        if self.pattern is not None:
            schema["pattern"] = f"^(?:{self.pattern})$"
        if not self.empty:
            schema["pattern"] = r"\S"
        if self.longest is not None:
            schema["maxLength"] = self.longest
        return schema


class Number(NamedTuple):
    """A number within bounds."""

    least: float | None = None
    most: float | None = None
    whole: bool = False

    def take(self, node: Node, faults: Faults) -> Any:
        """The number."""
        value = node.value if isinstance(node, Scalar) else None
        kinds = (int,) if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            what = "a whole number" if self.whole else "a number"
            faults.error(RULE, node.place, f"This has to be {what}, not {kind_of(node)}.")
            return MISSING
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            faults.error(RULE, node.place, f"{value} is not within {self.least} and {self.most}.")
            return MISSING
        return value

    def schema(self, _: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        bounds = {"minimum": self.least, "maximum": self.most}
        return {"type": "integer" if self.whole else "number", **{k: v for k, v in bounds.items() if v is not None}}


class Flag(NamedTuple):
    """True or false."""

    def take(self, node: Node, faults: Faults) -> Any:
        """The truth."""
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(value, bool):
            faults.error(RULE, node.place, f"This has to be true or false, not {_shown(node)}.")
            return MISSING
        return value

    def schema(self, _: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        return {"type": "boolean"}


class Anything(NamedTuple):
    """Any data."""

    def take(self, node: Node, _: Faults) -> Any:
        """The data."""
        return plain(node)

    def schema(self, _: Callable[[Shape], Any]) -> bool:
        """As JSON Schema."""
        return True


class Raw(NamedTuple):
    """Any data, handed on as the node, for whoever needs the places inside."""

    def take(self, node: Node, _: Faults) -> Any:
        """The node itself."""
        return node

    def schema(self, _: Callable[[Shape], Any]) -> bool:
        """As JSON Schema."""
        return True


class Listing(NamedTuple):
    """A list of things of one shape."""

    each: Shape
    least: int = 0

    def take(self, node: Node, faults: Faults) -> Any:
        """The things, without the broken ones."""
        if not isinstance(node, Listed):
            faults.error(RULE, node.place, f"This has to be a list, not {kind_of(node)}.")
            return MISSING
        if len(node.items) < self.least:
            faults.error(RULE, node.place, "The list must not be empty.")
        taken = (self.each.take(item, faults) for item in node.items)
        return [one for one in taken if one is not MISSING]

    def schema(self, inner: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        schema = {"type": "array", "items": inner(self.each)}
        return {**schema, "minItems": self.least} if self.least else schema


class Named(NamedTuple):
    """Things by name: a map, or, as the format once had it, a list of maps with the name inside."""

    each: Shape
    name: Text
    key: str = "name"
    """What holds the name in the old spelling; empty where there never was one."""
    least: int = 0

    def take(self, node: Node, faults: Faults) -> Any:
        """The things by name, as a `Taken`."""
        taken = Taken(node.place)
        if isinstance(node, Listed) and self.key:
            self._take_list(node, taken, faults)
        elif isinstance(node, Keyed):
            for name, value in node.entries.items():
                self._add(taken, Scalar(node.keys[name], name, name, True), value, faults)
        else:
            faults.error(RULE, node.place, f"This has to be a map, not {kind_of(node)}.")
            return MISSING
        if len(taken.values) < self.least and not taken.broken:
            faults.error(RULE, node.place, "At least one has to be here.")
        return taken

    def _add(self, taken: Taken, name: Scalar, value: Node, faults: Faults) -> None:
        if self.name.take(name, faults) is MISSING:
            taken.broken = True
            return
        if isinstance(value, Keyed):
            # A thing with a name stands where its name does.
            value.place = name.place
        found = self.each.take(value, faults)
        taken.places[name.text] = name.place
        if found is MISSING:
            taken.broken = True
        else:
            taken.values[name.text] = found

    def _take_list(self, node: Listed, taken: Taken, faults: Faults) -> None:
        told = f"A list with {self.key} inside is the old spelling: write a map whose keys are the names."
        faults.warning(RULE, node.place, told)
        for item in node.items:
            name = item.entries.get(self.key) if isinstance(item, Keyed) else None
            if not isinstance(item, Keyed) or not isinstance(name, Scalar):
                faults.error(RULE, item.place, f"Each entry of this list is a map with {self.key}.")
                taken.broken = True
            elif name.text in taken.places:
                first = taken.places[name.text].line
                faults.error(RULE, name.place, f"The {self.key} {_short(name.text)} is taken in line {first} already.")
            else:
                self._add(taken, name, _without(item, self.key), faults)

    def schema(self, inner: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        each = inner(self.each)
        by_name: dict[str, Any] = {"type": "object", "additionalProperties": each}
        if self.name.pattern is not None:
            by_name["propertyNames"] = {"pattern": f"^(?:{self.name.pattern})$"}
        if self.least:
            by_name["minProperties"] = self.least
        return {"anyOf": [by_name, _old_list(self.key, self.least)]} if self.key else by_name


class Field(NamedTuple):
    """What may stand under a name of a record."""

    shape: Shape
    needed: bool = False
    unused: str = ""
    """Known to the format, without effect here: the warning that says so."""
    refused: tuple[str, str] | None = None
    """Known, and wrong here: the rule and what to do instead."""


class Record:
    """A map of known names."""

    def __init__(self, what: str, *, also: Record | None = None, **fields: Shape | Field) -> None:
        """Names that are no Python names are given with their trailing or inner underscores as in `SPELLED`."""
        self.what = what
        given = {name: one if isinstance(one, Field) else Field(one) for name, one in fields.items()}
        named = {SPELLED.get(name, name): one for name, one in given.items()}
        self.fields: dict[str, Field] = {**(also.fields if also else {}), **named}

    def take(self, node: Node, faults: Faults) -> Any:
        """The values, as a `Taken`."""
        if not isinstance(node, Keyed):
            faults.error(RULE, node.place, f"{self.what} is a map, not {kind_of(node)}.")
            return MISSING
        taken = Taken(node.place)
        for name, value in node.entries.items():
            taken.places[name] = node.keys[name]
            self._take_field(taken, name, value, faults)
        for name, field in self.fields.items():
            if field.needed and name not in node.entries:
                faults.error(RULE, node.place, f"{self.what} needs {name}.")
                taken.broken = True
        return taken

    def _take_field(self, taken: Taken, name: str, value: Node, faults: Faults) -> None:
        field = self.fields.get(name)
        place = taken.places[name]
        if field is None:
            known = [offered for offered, its in self.fields.items() if not its.refused]
            meant = [LEGACY[name]] if LEGACY.get(name) in known else near(name, known)
            faults.error(RULE, place, f"{self.what} has no {_short(name)}.", meant)
            taken.broken = True
            return
        if field.refused:
            faults.error(field.refused[0], place, field.refused[1])
            taken.broken = True
            return
        if field.unused:
            faults.warning(RULE, place, field.unused)
            return
        found = field.shape.take(value, faults)
        if found is MISSING:
            taken.broken = True
        else:
            taken.values[name] = found

    def schema(self, inner: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: inner(field.shape) for name, field in self.fields.items() if not field.refused},
            "additionalProperties": False,
        }
        needed = [name for name, field in self.fields.items() if field.needed]
        return {**schema, "required": needed} if needed else schema


class Chosen(NamedTuple):
    """A map whose field says which record it is."""

    what: str
    key: str
    records: Mapping[str, Shape]
    hint: str = ""

    def take(self, node: Node, faults: Faults) -> Any:
        """What the record gives."""
        if not isinstance(node, Keyed):
            faults.error(RULE, node.place, f"{self.what} is a map, not {kind_of(node)}.")
            return MISSING
        named = node.entries.get(self.key)
        allowed = ", ".join(self.records)
        if named is None:
            faults.error(RULE, node.place, f"{self.what} needs {self.key}: one of {allowed}.")
            return MISSING
        chosen = named.value if isinstance(named, Scalar) else None
        if not isinstance(chosen, str) or chosen not in self.records:
            told = f"{self.key} is one of {allowed}, not {_shown(named)}.{self.hint}"
            faults.error(RULE, named.place, told, near(chosen, self.records))
            return MISSING
        return self.records[chosen].take(node, faults)

    def schema(self, inner: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        return {
            "type": "object",
            "required": [self.key],
            "properties": {self.key: {"enum": list(self.records)}},
            "allOf": [
                {"if": {"properties": {self.key: {"const": name}}}, "then": inner(record)}
                for name, record in self.records.items()
            ],
        }


class Picked(NamedTuple):
    """One of several shapes, told apart by a look at the node."""

    pick: Callable[[Node], int]
    shapes: tuple[Shape, ...]

    def take(self, node: Node, faults: Faults) -> Any:
        """What the picked shape gives."""
        return self.shapes[self.pick(node)].take(node, faults)

    def schema(self, inner: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        return {"anyOf": [inner(shape) for shape in self.shapes]}


class Later(NamedTuple):
    """A shape that contains itself, by its name."""

    name: str
    shapes: Mapping[str, Shape]

    def take(self, node: Node, faults: Faults) -> Any:
        """What the shape of that name gives."""
        return self.shapes[self.name].take(node, faults)

    def schema(self, _: Callable[[Shape], Any]) -> dict[str, Any]:
        """As JSON Schema."""
        return {"$ref": f"#/$defs/{self.name}"}


Shape = Text | Number | Flag | Anything | Raw | Listing | Named | Record | Chosen | Picked | Later

SPELLED: Final[Mapping[str, str]] = {
    "with_": "with",
    "in_": "in",
    "import_": "import",
    "from_": "from",
    "as_": "as",
    "allowed_tools": "allowed-tools",
    "argument_hint": "argument-hint",
    "user_invocable": "user-invocable",
    "disable_model_invocation": "disable-model-invocation",
}


def _old_list(key: str, least: int) -> dict[str, Any]:
    entry = {"type": "object", "required": [key]}
    return {"type": "array", "deprecated": True, "items": entry, "minItems": least}


def _without(node: Keyed, key: str) -> Keyed:
    rest = Keyed(node.place)
    rest.entries = {name: value for name, value in node.entries.items() if name != key}
    rest.keys = {name: place for name, place in node.keys.items() if name != key}
    return rest


def _compiled(pattern: str) -> Callable[[str], object]:
    # The standard library keeps compiled patterns.
    return re.compile(pattern).fullmatch


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(node: Node) -> str:
    return _short(node.text) if isinstance(node, Scalar) and node.text else kind_of(node)


def parts(taken: Taken | None) -> Iterator[tuple[str, Any]]:
    """The named things of a `Taken`, none of nothing."""
    yield from taken.values.items() if taken is not None else ()

"""The ArchiMate Model Exchange File Format, out.

The file is the same for the same model: things come by layer, type and id, and nothing in it says when it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..markup import escaped, quoted
from ..metamodel import metamodel
from .definitions import Definition, Outgoing
from .exchange_xml import NAMELESS, NAMESPACE
from .identifiers import Identifiers, identifiers_in, ncname
from .trees import XSI
from .values import as_text, current

SCHEMA = "http://www.opengroup.org/xsd/archimate/3.1/archimate3_Diagram.xsd"
DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
_FOREIGN = re.compile(r"\{([^}]*)\}(.*)", re.DOTALL)

Thing = Mapping[str, Any]


def write_exchange(
    model: Thing, elements: Sequence[Thing], relationships: Sequence[Thing], views: Sequence[Thing]
) -> str:
    """A model as an exchange file. Things come with `external_id`, the id that they have outside."""
    return "".join(_Writer(model, elements, relationships, views).lines())


class _Writer:
    """Writes one file."""

    def __init__(
        self, model: Thing, elements: Sequence[Thing], relationships: Sequence[Thing], views: Sequence[Thing]
    ) -> None:
        self._model = model
        self._extra: Mapping[str, Any] = model.get("extra") or {}
        self._elements = sorted(elements, key=_place)
        self._relationships = sorted(relationships, key=lambda one: (one["type"], ncname(one["external_id"])))
        self._views = sorted(views, key=lambda one: ncname(one["external_id"]))
        self._ids = Identifiers()
        self._own = self._ids.claim(model["external_id"])
        things = (*self._elements, *self._relationships, *self._views)
        self._names = {one["id"]: self._ids.claim(one["external_id"]) for one in things}
        self._definitions = Outgoing(self._extra, self._ids, self._used())
        self._prefixes: dict[str, str] = {}

    def lines(self) -> Iterator[str]:
        """The file, piece by piece."""
        body = list(self._body())
        spaces = "".join(f" xmlns:{prefix}={quoted(uri)}" for uri, prefix in sorted(self._prefixes.items()))
        version = f" version={quoted(self._extra['version'])}" if "version" in self._extra else ""
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield (
            f'<model xmlns="{NAMESPACE}" xmlns:xsi="{XSI}"{spaces} xsi:schemaLocation="{NAMESPACE} {SCHEMA}"'
            f" identifier={quoted(self._own)}{version}>\n"
        )
        yield from body
        yield "</model>\n"

    def _body(self) -> Iterator[str]:
        yield from self._described(self._model, " ")
        yield from self._properties(self._model, " ")
        for tree in self._extra.get("metadata", ()):
            yield from self._tree(tree, " ")
        yield from self._list("elements", (self._element(one) for one in self._elements))
        yield from self._list("relationships", (self._relationship(one) for one in self._relationships))
        for tree in self._extra.get("organizations", ()):
            kept = self._organised(tree)
            if kept is not None:
                yield from self._tree(self._ids.translated(kept), " ")
        yield from self._list("propertyDefinitions", map(self._definition, self._definitions.all()))
        yield from self._all_views()

    @staticmethod
    def _list(name: str, parts: Iterable[str]) -> Iterator[str]:
        """A container; an empty one must not be there."""
        inside = list(parts)
        if inside:
            yield f" <{name}>\n"
            yield from inside
            yield f" </{name}>\n"

    def _element(self, one: Thing) -> str:
        attributes = f"identifier={quoted(self._names[one['id']])} xsi:type={quoted(one['type'])}"
        inside = "".join((*self._described(one, "   "), *self._properties(one, "   ")))
        return f"  <element {attributes}>\n{inside}  </element>\n" if inside else f"  <element {attributes}/>\n"

    def _relationship(self, one: Thing) -> str:
        attributes = (
            f"identifier={quoted(self._names[one['id']])} source={quoted(self._names[one['source_id']])}"
            f" target={quoted(self._names[one['target_id']])} xsi:type={quoted(one['type'])}"
        )
        if one["type"] == "Access":
            # Tools disagree on the default, so it is never left to them.
            attributes += f" accessType={quoted(one.get('access_type') or 'Access')}"
        if one.get("modifier"):
            attributes += f" modifier={quoted(one['modifier'])}"
        if one.get("is_directed") is not None:
            attributes += f' isDirected="{"true" if one["is_directed"] else "false"}"'
        inside = "".join((*self._described(one, "   "), *self._properties(one, "   ")))
        name = "relationship"
        return f"  <{name} {attributes}>\n{inside}  </{name}>\n" if inside else f"  <{name} {attributes}/>\n"

    def _described(self, one: Thing, indent: str) -> Iterator[str]:
        extra: Mapping[str, Any] = one.get("extra") or {}
        name = one.get("name") or ("" if "source_id" in one or one.get("type") in NAMELESS else "Unnamed")
        for tag, value, kept in (
            ("name", name, extra.get("names")),
            ("documentation", one.get("description"), extra.get("documentation")),
        ):
            for text in _current(value, kept):
                lang = f" xml:lang={quoted(text['lang'])}" if "lang" in text else ""
                yield f"{indent}<{tag}{lang}>{escaped(text['value'])}</{tag}>\n"

    def _properties(self, one: Thing, indent: str) -> Iterator[str]:
        extra: Mapping[str, Any] = one.get("extra") or {}
        told = _all_properties(one)
        if not told:
            return
        yield f"{indent}<properties>\n"
        for key, value in told.items():
            reference = quoted(self._definitions.reference(key, value))
            for together in current(as_text(value), extra, key):
                yield f"{indent} <property propertyDefinitionRef={reference}>"
                for text in together:
                    lang = f" xml:lang={quoted(text['lang'])}" if "lang" in text else ""
                    yield f"<value{lang}>{escaped(text['value'])}</value>"
                yield "</property>\n"
        yield f"{indent}</properties>\n"

    def _used(self) -> Iterator[tuple[str, Any]]:
        things = (self._model, *self._elements, *self._relationships)
        return (told for one in things for told in _all_properties(one).items())

    @staticmethod
    def _definition(one: Definition) -> str:
        return (
            f"  <propertyDefinition identifier={quoted(one.id)} type={quoted(one.kind)}>\n"
            f"   <name>{escaped(one.title)}</name>\n  </propertyDefinition>\n"
        )

    def _all_views(self) -> Iterator[str]:
        viewpoints = self._extra.get("viewpoints")
        if not self._views and not viewpoints:
            return
        yield " <views>\n"
        if viewpoints:
            yield from self._tree(self._ids.translated(viewpoints), "  ")
        if self._views:
            yield "  <diagrams>\n"
            for view in self._views:
                shown = self._shown(view["body"]["tree"])
                yield from self._tree(self._ids.translated(shown, self._names[view["id"]]), "   ")
            yield "  </diagrams>\n"
        yield " </views>\n"

    def _shown(self, tree: list[Any]) -> list[Any]:
        """A view without what is no longer there: nodes of deleted elements, and lines that end at them."""
        gone: set[str] = set()
        kept = self._pruned(tree, self._lost_node, gone)
        return self._pruned(kept or tree, lambda one: self._lost_line(one, gone), set()) or tree

    def _pruned(self, tree: list[Any], lost: Callable[[list[Any]], bool], gone: set[str]) -> list[Any] | None:
        name, attributes, text, children = tree
        if lost(tree):
            gone.update(identifiers_in(tree))
            return None
        kept = [one for child in children if (one := self._pruned(child, lost, gone)) is not None]
        return [name, attributes, text, kept]

    def _lost_node(self, tree: list[Any]) -> bool:
        reference = tree[1].get("elementRef")
        return tree[0] == "node" and reference is not None and reference not in self._ids

    def _lost_line(self, tree: list[Any], gone: set[str]) -> bool:
        if tree[0] != "connection":
            return False
        reference = tree[1].get("relationshipRef")
        is_gone = reference is not None and reference not in self._ids
        return is_gone or tree[1].get("source") in gone or tree[1].get("target") in gone

    def _organised(self, tree: list[Any]) -> list[Any] | None:
        """A folder tree without what is no longer there; folders stay, also empty ones of the user's."""
        name, attributes, text, children = tree
        reference = attributes.get("identifierRef")
        if reference is not None and reference not in self._ids:
            return None
        kept = [one for child in children if (one := self._organised(child)) is not None]
        return [name, attributes, text, kept] if kept or name != "organizations" else None

    def _tree(self, tree: list[Any], indent: str) -> Iterator[str]:
        name, attributes, text, children = tree
        tag = self._qualified(name)
        told = "".join(f" {self._qualified(key)}={quoted(value)}" for key, value in attributes.items())
        if not children:
            yield f"{indent}<{tag}{told}>{escaped(text)}</{tag}>\n" if text else f"{indent}<{tag}{told}/>\n"
            return
        yield f"{indent}<{tag}{told}>\n"
        if text:
            yield f"{indent} {escaped(text)}\n"
        for child in children:
            yield from self._tree(child, indent + " ")
        yield f"{indent}</{tag}>\n"

    def _qualified(self, name: str) -> str:
        match = _FOREIGN.fullmatch(name)
        if match is None:
            return name
        usual = "dc" if match[1] == DUBLIN_CORE else f"ns{len(self._prefixes)}"
        prefix = self._prefixes.setdefault(match[1], usual)
        return f"{prefix}:{match[2]}"


def _place(one: Thing) -> tuple[int, str, str]:
    return metamodel().layers.index(metamodel().layer(one["type"])), one["type"], ncname(one["external_id"])


def _all_properties(one: Thing) -> dict[str, Any]:
    own = dict(one.get("properties") or {})
    own |= {f"profile.{key}": value for key, value in (one.get("profile") or {}).items()}
    return dict(sorted(own.items()))


def _current(value: str | None, kept: Sequence[Mapping[str, str]] | None) -> list[Mapping[str, str]]:
    """All languages of a text, as long as the one that is shown is still one of them."""
    if kept and any(one["value"] == value or " ".join(one["value"].split()) == value for one in kept):
        return list(kept)
    return [{"value": value}] if value else []

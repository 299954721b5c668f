"""Reading XML from anybody: no document types, no entities, nothing fetched, and an end to depth and size.

The standard library's expat does the parsing. A document type is where entities, external files and exponential growth
come from, and no model has one: the first sign of it ends the reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.parsers import expat

from .parcel import MOST_BYTES, unreadable, unsafe

MOST_DEPTH = 100
MOST_NODES = 5_000_000
XSI = "http://www.w3.org/2001/XMLSchema-instance"
XML = "http://www.w3.org/XML/1998/namespace"
PREFIXES = {XSI: "xsi", XML: "xml"}
PIECE = 1 << 20
CONTAINER = 2
"""How deep containers are: the root, and one of them."""


class Node:
    """An element of an XML document. Names have the prefix `xsi:` or `xml:`, none, or their namespace in braces."""

    __slots__ = ("attributes", "children", "name", "space", "text")

    def __init__(self, name: str, space: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.space = space
        self.attributes = attributes
        self.children: list[Node] = []
        self.text = ""

    def all(self, name: str) -> Iterator[Node]:
        """The children of a name."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> Node | None:
        """The first child of a name."""
        return next(self.all(name), None)

    def get(self, name: str) -> str | None:
        """An attribute."""
        return self.attributes.get(name)

    @property
    def kind(self) -> str | None:
        """What `xsi:type` says, without a prefix."""
        said = self.attributes.get("xsi:type")
        return said.rpartition(":")[2] if said else None

    def as_data(self) -> list[Any]:
        """The whole of it as JSON: name, attributes, text, children."""
        name = self.name if not self.space else f"{{{self.space}}}{self.name}"
        return [name, self.attributes, self.text if self.text.strip() else "", [one.as_data() for one in self.children]]


Takers = Mapping[str, Callable[[Node], None]]
"""Who takes the things in a container of the document, by the container's name, as soon as one is whole."""


class _Builder:
    """Builds the tree while expat reads. What somebody takes is no part of it: a large model is never held twice."""

    def __init__(self, own: str, takers: Takers) -> None:
        self.root: Node | None = None
        self._own = own
        self._takers = takers
        self._names: dict[str, str] = {}
        self._open: list[Node] = []
        self._texts: list[list[str]] = []
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= MOST_DEPTH:
            raise unsafe("elements nested too deeply")
        if self._count > MOST_NODES:
            raise unsafe("too many elements")
        space, _, name = tag.rpartition("\n")
        known = self._names
        node = Node(
            name,
            "" if space == self._own else space,
            {known.get(key) or self._name(key): one for key, one in attributes.items()},
        )
        if self._open:
            self._open[-1].children.append(node)
        else:
            self.root = node
        self._open.append(node)
        self._texts.append([])

    def end(self, tag: str) -> None:
        node = self._open.pop()
        node.text = "".join(self._texts.pop())
        if len(self._open) == CONTAINER and (taker := self._takers.get(self._open[-1].name)):
            self._open[-1].children.pop()
            taker(node)

    def _name(self, key: str) -> str:
        return self._names.setdefault(key, _attribute(key))

    def characters(self, text: str) -> None:
        if self._texts:
            self._texts[-1].append(text)


def read_tree(content: bytes, format: str, namespace: str, takers: Takers | None = None) -> Node:
    """The document's root; Invalid for what is no XML, or could do harm."""
    if len(content) > MOST_BYTES:
        raise unsafe(f"more than {MOST_BYTES} bytes")
    builder = _Builder(namespace, takers or {})
    parser = _parser(builder)
    try:
        for start in range(0, len(content), PIECE):
            parser.Parse(content[start : start + PIECE], False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        line = getattr(error, "lineno", None)
        raise unreadable(format, "this is not well-formed XML", **({"line": line} if line else {})) from None
    if builder.root is None:
        raise unreadable(format, "this is not well-formed XML")
    return builder.root


def _parser(builder: _Builder) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator="\n")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.EntityDeclHandler = _refuse_entity
    parser.ExternalEntityRefHandler = _refuse_entity
    parser.UnparsedEntityDeclHandler = _refuse_entity
    return parser


def _refuse_document_type(*_: Any) -> None:
    raise unsafe("a document type")


def _refuse_entity(*_: Any) -> int:
    raise unsafe("entities")


def _attribute(name: str) -> str:
    space, separator, local = name.rpartition("\n")
    if not separator:
        return local
    prefix = PREFIXES.get(space)
    return f"{prefix}:{local}" if prefix else f"{{{space}}}{local}"

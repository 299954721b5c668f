"""A document in another format, or a view of it; a template where there is no document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, get_args
from typing import Literal as Choice

from .ascii import ascii_text
from .document import INFERRED, Document
from .error import OctaveError
from .json_text import from_json, to_json
from .markdown import to_markdown
from .node import Assignment
from .outline import data_of, document_of, left_out, tree_of
from .parser import parse
from .sameness import faithful
from .schema import Schema
from .shelf import SHIPPED, Shelf
from .template import template_of
from .value import Item, List, Pair
from .verdict import Status, validate
from .view import MODES, view_of
from .yaml_text import from_yaml, to_yaml, yaml_spells

Format = Choice["octave", "json", "yaml", "markdown"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)


@dataclass(slots=True)
class Ejected:
    """A text in the format asked for. `name` is the envelope's, which the data forms do not hold.

    `lossy` when the output says less than the document: `fields_omitted` are the paths that a view left out,
    `left_out` what the format has no place for.
    """

    output: str
    name: str
    fields_omitted: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    validation_status: Status = "UNVALIDATED"

    @property
    def lossy(self) -> bool:
        """Whether something of the document is not in the output."""
        return bool(self.fields_omitted or self.left_out)


def eject(
    content: str | bytes | Document | None,
    schema: str | Schema | None = None,
    mode: str = "canonical",
    format: str = "octave",
    shelf: Shelf = SHIPPED,
) -> Ejected:
    """Write a document in a format and from a point of view; without content, the schema's template."""
    if mode not in MODES:
        raise _unknown("mode", mode, MODES)
    if format not in FORMATS:
        raise _unknown("format", format, FORMATS)
    document = _document(content, schema, shelf)
    view = view_of(document, mode)
    ejected = Ejected(
        "", document.name, view.omitted, ["comments"] if view.comments_omitted else [], _status(document, schema, shelf)
    )
    ejected.output = _written(view.document, mode == "authoring", format, ejected)
    return ejected


def read_json(text: str, name: str = INFERRED) -> Document:
    """The document that a JSON text of ours says; the authoring view holds all of it, the others its data."""
    return document_of(from_json(text), name)


def read_yaml(text: str, name: str = INFERRED) -> Document:
    """The same for a YAML text."""
    return document_of(from_yaml(text), name)


def _document(content: str | bytes | Document | None, schema: str | Schema | None, shelf: Shelf) -> Document:
    if isinstance(content, Document):
        return content
    if content is not None:
        return parse(content, lenient=True)
    wanted = shelf.get(schema) if isinstance(schema, str) else schema
    if wanted is None:
        raise OctaveError("E_INPUT", f"there is no schema {schema}", hint=f"one of {', '.join(shelf.names())}")
    return template_of(wanted)


def _status(document: Document, schema: str | Schema | None, shelf: Shelf) -> Status:
    return "UNVALIDATED" if schema is None else validate(document, schema, shelf=shelf).validation_status


def _written(document: Document, authoring: bool, format: Format, ejected: Ejected) -> str:
    if format == "octave":
        return ascii_text(document) if authoring else faithful(document)
    if format == "markdown":
        return to_markdown(document)
    if authoring:
        return to_json(tree_of(document)) if format == "json" else to_yaml(tree_of(document))
    lost = left_out(document) + (["spelling of numbers"] if format == "yaml" and _respells(document) else [])
    ejected.left_out = sorted({*ejected.left_out, *lost})
    return to_json(data_of(document)) if format == "json" else to_yaml(data_of(document))


def _respells(document: Document) -> bool:
    """Whether a number would come back from YAML in another spelling."""
    pending: list[Item] = [node.value for node in document.walk() if isinstance(node, Assignment)]
    while pending:
        item = pending.pop()
        if isinstance(item, Pair):
            pending.append(item.value)
        elif isinstance(item, List):
            pending.extend(item.items)
        elif not yaml_spells(item):
            return True
    return False


def _unknown(what: str, given: str, known: tuple[str, ...]) -> OctaveError:
    return OctaveError("E_INPUT", f"{given!r} is no {what}", hint=f"one of {', '.join(known)}")

"""A document to start from, made of a schema's fields and their examples."""

from __future__ import annotations

from typing import Final

from .document import Document, Envelope
from .node import Assignment, Block, Comment, Node, Section, Separator
from .pattern import Rule
from .schema import Schema
from .spelling import spelled
from .value import List, Pattern, Value

NAME: Final = "TEMPLATE"
_STARTING_VERSION: Final = "1.0"
_STARTS: Final = {"STRING": "text", "LIST": "[]", "BOOLEAN": "false"}
_META_FIELDS: Final = frozenset({"TYPE", "VERSION"})


def template_of(schema: Schema) -> Document:
    """A template: examples stand in for values, and every line says what is asked for."""
    fields = schema.fields
    type_ = schema.name if schema.name != "META" else _example(fields["TYPE"])
    meta: list[Node] = [Assignment("TYPE", type_), Assignment("VERSION", _STARTING_VERSION)]
    body = [_field(name, rule) for name, rule in fields.items() if name not in _META_FIELDS]
    if schema.name == "META":
        return Document([Envelope(NAME, [Block("META", [*meta, *body])])])
    note = Comment(schema.purpose or f"fields of {schema.name}")
    nodes = [Block("META", meta), Separator(), note, *body, *_sections(schema)]
    return Document([Envelope(NAME, nodes)], _frontmatter(schema))


def described(rule: Rule) -> str:
    """What is asked for, in words that fit a comment."""
    first = "required" if rule.required else "optional"
    rest = [str(constraint) for constraint in rule.constraints if constraint.name not in ("REQ", "OPT")]
    return " ".join([first, *rest])


def _field(name: str, rule: Rule) -> Node:
    return Assignment(name, _example(rule), comment=described(rule))


def _sections(schema: Schema) -> list[Node]:
    policy = schema.policy
    notes: list[Node] = [
        Comment(f"a section {name} holds {', '.join(wanted)}") for name, wanted in policy.section_fields.items()
    ]
    return [*notes, *(Section(id, f"SECTION_{id}") for id in policy.required_sections)]


def _frontmatter(schema: Schema) -> str | None:
    if not schema.frontmatter or not schema.policy.needs_frontmatter:
        return None
    return "\n".join(f"{name}: {_STARTS[wanted.type]}" for name, wanted in schema.frontmatter.items())


def _example(rule: Rule) -> Value:
    """The pattern's example, if it would pass as a value; else the first thing that the constraints name."""
    for name in ("CONST", "ENUM"):
        arguments = rule.arguments(name)
        if arguments and (name == "CONST" or rule.example is None):
            return arguments[0]
    if rule.arguments("TYPE") == ("LIST",) and not isinstance(rule.example, List):
        return List([] if rule.example is None else [rule.example])
    return spelled(rule.example, 0) if isinstance(rule.example, Pattern) else rule.example

"""A schema: the fields that a document of a kind has, and what is demanded of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .constraint import Constraint, checked, text_of
from .document import Document
from .error import OctaveError
from .node import Assignment, Block, Node
from .pattern import Rule, rule_of
from .value import List, Pair, Pattern, Value

UNKNOWN_FIELDS: Final = ("REJECT", "WARN", "IGNORE")
BUILTIN_TARGETS: Final = frozenset({"SELF", "META", "INDEXER", "DECISION_LOG", "RISK_LOG", "KNOWLEDGE_BASE"})
FRONTMATTER_TYPES: Final = ("STRING", "LIST", "BOOLEAN")


@dataclass(frozen=True, slots=True)
class Policy:
    """How strictly a schema is meant."""

    version: str = ""
    unknown_fields: str = "REJECT"
    targets: tuple[str, ...] = ()
    default_target: str | None = None
    required_sections: tuple[str, ...] = ()
    section_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sections_that_may_be_empty: frozenset[str] = frozenset()
    needs_frontmatter: bool = True


@dataclass(frozen=True, slots=True)
class FrontmatterField:
    """What a field of the frontmatter must be."""

    required: bool
    type: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema, taken from its document. `problems` are the parts of it that could not be used."""

    name: str
    version: str
    purpose: str
    policy: Policy
    fields: Mapping[str, Rule]
    frontmatter: Mapping[str, FrontmatterField]
    turns: Mapping[str, Rule]
    problems: tuple[str, ...]

    @property
    def required(self) -> list[str]:
        """The names of the fields that must be there."""
        return [name for name, rule in self.fields.items() if rule.required]

    def as_data(self) -> dict[str, object]:
        """The schema, described."""
        return {
            "name": self.name,
            "version": self.version,
            "purpose": self.purpose,
            "unknown_fields": self.policy.unknown_fields,
            "fields": [
                {
                    "name": name,
                    "required": rule.required,
                    "constraints": [str(constraint) for constraint in rule.constraints],
                    "targets": list(rule.targets),
                    "example": None if rule.example is None else text_of(rule.example),
                }
                for name, rule in self.fields.items()
            ],
            "required_sections": list(self.policy.required_sections),
            "problems": list(self.problems),
        }


def schema_of(document: Document) -> Schema:
    """Read a schema out of a document. What is malformed is told, and taken strictly."""
    problems: list[str] = []
    return Schema(
        document.name,
        text_of(document.meta_value("VERSION")),
        text_of(document.meta_value("PURPOSE") or ""),
        _policy(_children(document.nodes, "POLICY"), problems),
        _rules(_children(document.nodes, "FIELDS"), problems),
        _frontmatter(_children(document.nodes, "FRONTMATTER"), problems),
        _rules(_children(document.nodes, "TURN_SCHEMA"), problems),
        tuple(problems),
    )


def _children(nodes: list[Node], key: str) -> list[Node]:
    return [child for node in nodes if isinstance(node, Block) and node.key == key for child in node.children]


def _rules(nodes: list[Node], problems: list[str]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for node in nodes:
        if isinstance(node, Assignment):
            rules[node.key] = _rule(node, problems)
        elif isinstance(node, Block):
            rules[node.key] = _plain_rule(node, problems)
    return rules


def _rule(node: Assignment, problems: list[str]) -> Rule:
    """The rule of a pattern; what is none leaves its field free."""
    try:
        if isinstance(node.value, Pattern):
            return rule_of(node.value.text)
        problems.append(f"W002 {node.key}: no pattern, so nothing is demanded of it")
    except OctaveError as error:
        problems.append(f"W002 {node.key}: {error.message}")
    return Rule(None, (), ())


def _plain_rule(block: Block, problems: list[str]) -> Rule:
    """The rule of a field that is described by a block of REQUIRED, TYPE and ENUM."""
    said = _values(block.children)
    constraints = [Constraint("REQ" if said.get("REQUIRED") is True else "OPT")]
    if "TYPE" in said:
        constraints.append(Constraint("TYPE", (said["TYPE"],)))
    if isinstance(members := said.get("ENUM"), List):
        constraints.append(Constraint("ENUM", tuple(_plain_items(members))))
    try:
        return Rule(None, checked(constraints), ())
    except OctaveError as error:
        problems.append(f"W002 {block.key}: {error.message}")
        return Rule(None, (), ())


def _policy(nodes: list[Node], problems: list[str]) -> Policy:
    said = _values(nodes)
    unknown = text_of(said.get("UNKNOWN_FIELDS", "REJECT"))
    presence = text_of(said.get("FRONTMATTER_PRESENCE", "REQUIRED"))
    _demand(unknown in UNKNOWN_FIELDS, f"UNKNOWN_FIELDS::{unknown}", problems)
    _demand(presence in ("REQUIRED", "OPTIONAL"), f"FRONTMATTER_PRESENCE::{presence}", problems)
    default = said.get("DEFAULT_TARGET")
    return Policy(
        text_of(said.get("VERSION", "")),
        unknown if unknown in UNKNOWN_FIELDS else "REJECT",
        tuple(text.removeprefix("§") for text in _texts(said, "TARGETS", problems)),
        None if default is None else text_of(default).removeprefix("§"),
        tuple(_texts(said, "REQUIRED_SECTION_IDS", problems)),
        {
            key: tuple(_texts({key: value}, key, problems))
            for key, value in _values(_children(nodes, "SECTION_CONDITIONAL_REQUIRED")).items()
        },
        frozenset(_texts(said, "SECTION_ALLOWS_EMPTY", problems)),
        presence != "OPTIONAL",
    )


def _frontmatter(nodes: list[Node], problems: list[str]) -> dict[str, FrontmatterField]:
    fields: dict[str, FrontmatterField] = {}
    for node in nodes:
        if isinstance(node, Block):
            said = _values(node.children)
            type_ = text_of(said.get("TYPE", "STRING"))
            _demand(type_ in FRONTMATTER_TYPES, f"FRONTMATTER.{node.key}.TYPE::{type_}", problems)
            fields[node.key] = FrontmatterField(
                said.get("REQUIRED") is not False, type_ if type_ in FRONTMATTER_TYPES else "STRING"
            )
    return fields


def _demand(fits: bool, what: str, problems: list[str]) -> None:
    if not fits:
        problems.append(f"W_MALFORMED_POLICY {what}")


def _texts(said: Mapping[str, Value], key: str, problems: list[str]) -> list[str]:
    value = said.get(key, List())
    _demand(isinstance(value, List), f"{key} is no list", problems)
    return [text_of(item) for item in _plain_items(value)] if isinstance(value, List) else [text_of(value)]


def _plain_items(value: List) -> list[Value]:
    return [item.value if isinstance(item, Pair) else item for item in value.items]


def _values(nodes: list[Node]) -> dict[str, Value]:
    return {node.key: node.value for node in nodes if isinstance(node, Assignment)}

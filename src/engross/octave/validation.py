"""One validator for everybody: what a document says, held against a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple

from .constraint import Breach, breach, text_of
from .document import Document, Envelope
from .frontmatter import frontmatter_types
from .node import Assignment, Block, Comment, Container, Node, Section
from .pattern import Rule
from .schema import BUILTIN_TARGETS, Schema

MOST_TOLD: Final = 100
_BLOCKS_FOR: Final = frozenset({"REQ", "OPT"})


class Violation(NamedTuple):
    """One thing that a schema does not allow."""

    code: str
    name: str
    message: str
    field: str
    line: int = 0

    def as_data(self) -> dict[str, object]:
        """The violation as an entry of an answer's `errors` or `warnings`."""
        return {**self._asdict(), "line": self.line or None}


class Route(NamedTuple):
    """Where a field's value goes, for whoever moves it there."""

    source_path: str
    target_name: str
    value_hash: str
    constraint_passed: bool


@dataclass(slots=True)
class Findings:
    """What a validation found. `instances` is how many things it looked at; the lists are cut, the counts are not."""

    violations: list[Violation] = field(default_factory=list)
    warnings: list[Violation] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    instances: int = 0
    violation_count: int = 0
    warning_count: int = 0

    def violate(self, found: Violation) -> None:
        """Take note of a violation."""
        self.violation_count += 1
        if len(self.violations) < MOST_TOLD:
            self.violations.append(found)

    def warn(self, found: Violation) -> None:
        """Take note of something that does no harm."""
        self.warning_count += 1
        if len(self.warnings) < MOST_TOLD:
            self.warnings.append(found)


def check(document: Document, schema: Schema) -> Findings:
    """Hold a document against a schema."""
    return _Check(document, schema).findings()


class _Check:
    def __init__(self, document: Document, schema: Schema) -> None:
        self._document = document
        self._schema = schema
        self._found = Findings()
        self._targets = BUILTIN_TARGETS | set(schema.policy.targets) | set(_block_targets(document))

    def findings(self) -> Findings:
        """Everything that was found."""
        for problem in self._schema.problems:
            code, _, message = problem.partition(" ")
            self._found.warn(Violation(code, "SCHEMA_PROBLEM", message, self._schema.name))
        if self._schema.name == "META":
            for envelope in self._document.envelopes:
                self._meta(envelope)
            return self._found
        is_document = text_of(self._document.meta_value("TYPE")) == self._schema.name
        instances = self._instances()
        for path, container in instances:
            self._instance(path, container)
        if is_document:
            self._whole(instances)
            self._sections()
            self._frontmatter()
        return self._found

    def _meta(self, envelope: Envelope) -> None:
        self._found.instances += 1
        self._instance("META", envelope.meta or Block("META"), counted=True)

    def _instances(self) -> list[tuple[str, Container]]:
        """Every block or section that goes by the schema's name."""
        name = self._schema.name
        return [
            (path, node)
            for path, node, _ in _containers(self._document)
            if (node.key if isinstance(node, Block) else node.name) == name
        ]

    def _instance(self, path: str, container: Container, counted: bool = False) -> None:
        """A block with all its fields: none may be missing, none unknown."""
        self._found.instances += not counted
        present = _fields(container.children)
        self._unknown(path, present)
        target = container.target if isinstance(container, Block) else None
        for name, rule in self._schema.fields.items():
            field_path = f"{path}.{name}"
            if name in present:
                self._field(field_path, present[name], rule, target)
            elif rule.required:
                self._missing(field_path, container.line)

    def _unknown(self, path: str, present: Mapping[str, Assignment | Block]) -> None:
        policy = self._schema.policy.unknown_fields
        for name in sorted(set(present) - set(self._schema.fields)) if policy != "IGNORE" else ():
            line = present[name].line
            if policy == "REJECT":
                self._found.violate(
                    Violation("E007", "UNKNOWN_FIELD", f"{name} is no field of it", f"{path}.{name}", line)
                )
            else:
                self._found.warn(
                    Violation("W001", "UNKNOWN_FIELD", f"{name} is no field of it", f"{path}.{name}", line)
                )

    def _whole(self, instances: list[tuple[str, Container]]) -> None:
        """A document of this kind: its fields may stand anywhere, but each that is required must stand somewhere."""
        judged = {id(container) for _, container in instances}
        present: set[str] = set()
        self._found.instances += 1
        for path, nodes, target, container in _scopes(self._document):
            fields = _fields(nodes)
            known = [name for name in fields if name in self._schema.fields]
            present.update(known)
            if container is not None and id(container) in judged:
                continue
            for name in known:
                field_path = f"{path}.{name}" if path else name
                self._field(field_path, fields[name], self._schema.fields[name], target)
        for name in self._schema.required:
            if name not in present:
                self._missing(name, 0)

    def _field(self, path: str, node: Assignment | Block, rule: Rule, target: str | None) -> None:
        found = self._breach(node, rule)
        if found is not None:
            self._found.violate(Violation(found.code, found.name, found.message, path, node.line))
        if isinstance(node, Assignment):
            self._route(path, node, rule, target, found is None)
        elif self._schema.turns and node.key == "TURNS":
            self._turns(path, node)

    def _breach(self, node: Assignment | Block, rule: Rule) -> Breach | None:
        if isinstance(node, Assignment):
            return breach(node.value, rule.constraints)
        listed = ("TYPE", ("LIST",))
        if all(one.name in _BLOCKS_FOR or (self._schema.turns and tuple(one) == listed) for one in rule.constraints):
            return None
        return Breach("E007", "WRONG_TYPE", "must be a value, is a block")

    def _missing(self, path: str, line: int) -> None:
        self._found.violate(Violation("E003", "REQUIRED_MISSING", "is required, but not there", path, line))

    def _route(self, path: str, node: Assignment, rule: Rule, target: str | None, passed: bool) -> None:
        default = self._schema.policy.default_target
        targets = rule.targets or ((target,) if target else ()) or ((default,) if default else ())
        for name in targets:
            if name not in self._targets and not name.startswith("./"):
                self._found.violate(Violation("E009", "UNKNOWN_TARGET", f"§{name} is no target", path, node.line))
            digest = sha256(text_of(node.value).encode()).hexdigest()
            self._found.routes.append(Route(path, name, digest, passed))

    def _turns(self, path: str, turns: Block) -> None:
        """Each child of TURNS is a turn of its own; no two have the same index."""
        seen: dict[str, str] = {}
        for turn in turns.children:
            if not isinstance(turn, (Block, Section)):
                continue
            turn_path = f"{path}.{turn.key}"
            present = _fields(turn.children)
            for name, rule in self._schema.turns.items():
                node = present.get(name)
                field_path = f"{turn_path}.{name}"
                if node is None and rule.required:
                    self._turn("E_TURN_FIELD", "TURN_FIELD", "is required, but not there", field_path, turn.line)
                elif isinstance(node, Assignment) and (found := breach(node.value, rule.constraints)):
                    is_index = name == "TURN_INDEX" and found.name == "WRONG_TYPE"
                    code = "E_TURN_INDEX_TYPE" if is_index else "E_TURN_FIELD"
                    self._turn(code, found.name, found.message, field_path, node.line)
            index = present.get("TURN_INDEX")
            if isinstance(index, Assignment):
                text = text_of(index.value)
                if text in seen:
                    message = f"is the index of {seen[text]} too"
                    self._turn("E_TURN_INDEX", "TURN_INDEX_TWICE", message, f"{turn_path}.TURN_INDEX", index.line)
                seen.setdefault(text, turn.key)

    def _turn(self, code: str, name: str, message: str, path: str, line: int) -> None:
        self._found.violate(Violation(code, name, message, path, line))

    def _sections(self) -> None:
        """Sections that must be there, and fields that a section must have if it is there."""
        policy = self._schema.policy
        sections = [(path, node) for path, node, _ in _containers(self._document) if isinstance(node, Section)]
        for wanted in policy.required_sections:
            if all(node.id != wanted for _, node in sections):
                self._found.violate(
                    Violation("E003", "SECTION_MISSING", "the section is required, but not there", f"§{wanted}")
                )
        for path, section in sections:
            wanted_fields = policy.section_fields.get(section.name, ())
            held = [_fields(nodes) for nodes in _parts(section)]
            if not any(held) and section.name in policy.sections_that_may_be_empty:
                continue
            for fields in held if any(held) else [{}]:
                for name in wanted_fields:
                    if name not in fields:
                        self._missing(f"{path}.{name}", section.line)

    def _frontmatter(self) -> None:
        wanted = self._schema.frontmatter
        text = self._document.frontmatter
        if not wanted or (text is None and not self._schema.policy.needs_frontmatter):
            return
        types = frontmatter_types(text or "")
        if types is None:
            self._found.violate(Violation("E_FM_PARSE", "FRONTMATTER_UNREADABLE", "is no YAML", "frontmatter", 1))
            return
        for name, rule in wanted.items():
            path = f"frontmatter.{name}"
            if name not in types:
                if rule.required:
                    self._found.violate(
                        Violation("E_FM_REQUIRED", "FRONTMATTER_MISSING", "is required, but not there", path, 1)
                    )
            elif types[name] != rule.type and not (rule.type == "STRING" and types[name] == "NUMBER"):
                message = f"must be {rule.type}, is {types[name]}"
                self._found.violate(Violation("E_FM_TYPE", "FRONTMATTER_TYPE", message, path, 1))


def _fields(nodes: list[Node]) -> dict[str, Assignment | Block]:
    """The fields among nodes; the last of a name counts."""
    return {node.key: node for node in nodes if isinstance(node, (Assignment, Block)) and node.key}


def _parts(section: Section) -> list[list[Node]]:
    """The findings of a section: its blocks, if it has blocks only; else it is one itself."""
    nodes = [node for node in section.children if not isinstance(node, Comment)]
    blocks = [node.children for node in nodes if isinstance(node, Block)]
    return blocks if blocks and len(blocks) == len(nodes) else [section.children]


def _containers(document: Document) -> Iterator[tuple[str, Container, str | None]]:
    """Every block and section but META, with its path and the target it stands under."""
    pending: list[tuple[str, Node, str | None]] = []
    for envelope in reversed(document.envelopes):
        pending.extend(("", node, None) for node in reversed(envelope.nodes) if node is not envelope.meta)
    while pending:
        above, node, target = pending.pop()
        if isinstance(node, (Block, Section)):
            path = f"{above}.{node.key}" if above else node.key
            inner = (node.target if isinstance(node, Block) else None) or target
            yield path, node, inner
            pending.extend((path, child, inner) for child in reversed(node.children))


def _scopes(document: Document) -> Iterator[tuple[str, list[Node], str | None, Container | None]]:
    """Every list of nodes in which fields may stand: META, the top, then blocks and sections."""
    for envelope in document.envelopes:
        if envelope.meta is not None:
            yield "META", envelope.meta.children, None, envelope.meta
        yield "", [node for node in envelope.nodes if node is not envelope.meta], None, None
    for path, container, target in _containers(document):
        yield path, container.children, target, container


def _block_targets(document: Document) -> Iterator[str]:
    for _, container, _target in _containers(document):
        if isinstance(container, Block) and container.target:
            yield container.target

"""A document as plain data, in two forms.

The data form is what a program wants: `{"META": {...}, "KEY": value}`, blocks and sections as objects. It has no place
for comments, notes, repeated keys and the like; `left_out` names what a document loses by it. The tree form loses
nothing: it says node by node what is there, and reads back to the same document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from .document import INFERRED, Document, Envelope
from .error import OctaveError
from .given import DEEPEST_DATA, ZONE_MARK, is_zone, key_of, literal_of, pair_key, text_of, utf8, value_of
from .node import Assignment, Block, Comment, Node, Section, Separator
from .token import is_envelope_name, is_identifier, is_number_text
from .value import Item, List, Literal, Number, Pair, Pattern, Value, number

Data: TypeAlias = Any
"""Mappings, lists, texts, numbers, true, false and null; a Number where the spelling counts."""

TREE_MARK: Final = "octave"
_SECTION: Final = re.compile(r"§(.+?)::(.*)", re.DOTALL).fullmatch
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").fullmatch
_NUMBER_PARTS: Final = re.compile(r"(-?)0*([0-9]+)(?:(\.[0-9]+)|\.)?([eE].*)?").fullmatch
_SECTION_ID: Final = re.compile(r"-?[0-9]+(?:\.[0-9]*)?[A-Za-z]?").fullmatch


def data_of(document: Document) -> dict[str, Data]:
    """The data form of the first envelope; the last of a repeated key counts."""
    top: dict[str, Data] = {}
    pending: list[tuple[list[Node], dict[str, Data]]] = [(document.nodes, top)]
    while pending:
        nodes, fields = pending.pop()
        for node in nodes:
            if isinstance(node, Assignment):
                fields[node.key] = plain_of(node.value)
            elif isinstance(node, (Block, Section)):
                inner: dict[str, Data] = {}
                fields[node.key] = inner
                pending.append((node.children, inner))
    return top


def left_out(document: Document) -> list[str]:
    """What the data form does not say."""
    found = set(_around(document))
    pending = [document.nodes]
    while pending:
        nodes = pending.pop()
        keys = [node.key for node in nodes if not isinstance(node, (Comment, Separator))]
        if len(set(keys)) < len(keys):
            found.add("repeated keys")
        for node in nodes:
            found.update(_lost_with(node))
            if isinstance(node, (Block, Section)):
                pending.append(node.children)
    return sorted(found)


def _around(document: Document) -> Iterator[str]:
    if len(document.envelopes) > 1:
        yield "further envelopes"
    if document.frontmatter:
        yield "frontmatter"
    if document.version is not None:
        yield "version line"
    if document.after or any(envelope.before for envelope in document.envelopes):
        yield "comments"


def _lost_with(node: Node) -> Iterator[str]:
    if isinstance(node, Comment):
        yield "comments"
    elif isinstance(node, Separator):
        yield "separator"
    else:
        if node.note is not None:
            yield "notes and targets"
        if isinstance(node, Assignment):
            if node.comment is not None:
                yield "comments"
            yield from _lost_in(node.value)


def _lost_in(value: Value) -> Iterator[str]:
    pending: list[Item] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Pair):
            pending.append(item.value)
        elif isinstance(item, List):
            if item.comments:
                yield "comments"
            pending.extend(item.items)
        elif isinstance(item, Pattern):
            yield "patterns as such"
        elif isinstance(item, Number) and _JSON_NUMBER(item.lexeme) is None:
            yield "spelling of numbers"


def plain_of(item: Item) -> Data:
    """A value or an item of a list as plain data."""
    if isinstance(item, Pair):
        return {item.key: plain_of(item.value)}
    if isinstance(item, List):
        return [plain_of(inner) for inner in item.items]
    if isinstance(item, Pattern):
        return item.text
    if isinstance(item, Number):
        return item if _JSON_NUMBER(item.lexeme) else _json_number(item)
    if isinstance(item, Literal):
        return {ZONE_MARK: True, "content": item.content, "info_tag": item.info, "fence_marker": item.fence}
    return item


def _json_number(number: Number) -> Number:
    """The same number as JSON spells it; however large it is."""
    parts = _NUMBER_PARTS(number.lexeme)
    assert parts is not None
    return Number("".join(part or "" for part in parts.groups()))


def tree_of(document: Document) -> dict[str, Data]:
    """The tree form."""
    around = {"frontmatter": document.frontmatter or None, "version": document.version, "after": document.after or None}
    return {
        TREE_MARK: "document",
        **{name: value for name, value in around.items() if value is not None},
        "envelopes": [_envelope_tree(envelope) for envelope in document.envelopes],
    }


def _envelope_tree(envelope: Envelope) -> dict[str, Data]:
    made: dict[str, Data] = {"name": envelope.name}
    if envelope.before:
        made["before"] = envelope.before
    made["nodes"] = []
    pending: list[tuple[list[Node], list[Data]]] = [(envelope.nodes, made["nodes"])]
    while pending:
        nodes, told = pending.pop()
        for node in nodes:
            entry = _node_tree(node)
            told.append(entry)
            if isinstance(node, (Block, Section)):
                entry["nodes"] = []
                pending.append((node.children, entry["nodes"]))
    return made


def _node_tree(node: Node) -> dict[str, Data]:
    if isinstance(node, Comment):
        return {"comment": node.text}
    if isinstance(node, Separator):
        return {"separator": True}
    if isinstance(node, Section):
        told: dict[str, Data] = {"section": node.id, "name": node.name}
    elif isinstance(node, Block):
        told = {"block": node.key}
    else:
        told = {"key": node.key, "value": _value_tree(node.value)}
        if node.comment is not None:
            told["behind"] = node.comment
    if node.note is not None:
        told["note"] = node.note
    return told


def _value_tree(item: Item) -> Data:
    if isinstance(item, Number):
        return {"number": item.lexeme}
    if isinstance(item, float) and "e" in repr(item):
        # Readers of YAML disagree about such numbers.
        return {"number": repr(item)}
    if isinstance(item, Pattern):
        return {"pattern": item.text}
    if isinstance(item, Literal):
        return {"literal": item.content, "info": item.info, "fence": item.fence}
    if isinstance(item, Pair):
        return {"pair": item.key, "value": _value_tree(item.value)}
    if isinstance(item, List):
        items = [_value_tree(inner) for inner in item.items]
        if not item.comments:
            return items
        return {"items": items, "comments": [[index, text] for index, text in item.comments]}
    return item


def document_of(data: Data, name: str = INFERRED) -> Document:
    """The document that data says, in either form; the data form does not hold the name."""
    if not isinstance(data, Mapping):
        raise _unfit("a document is a mapping")
    if data.get(TREE_MARK) == "document" and "envelopes" in data:
        return _from_tree(data)
    if not is_envelope_name(name):
        raise _unfit(f"{name!r} cannot be the name of an envelope")
    return Document([Envelope(name, _nodes_from(data, 0))])


def _nodes_from(data: Mapping[Any, Data], depth: int) -> list[Node]:
    if depth > DEEPEST_DATA:
        raise _unfit(f"it is nested more than {DEEPEST_DATA} deep")
    return [_node_from(key, value, depth) for key, value in data.items()]


def _node_from(key: Any, value: Data, depth: int) -> Node:
    if isinstance(key, str) and key.startswith("§") and isinstance(value, Mapping):
        found = _SECTION(key)
        if found is None:
            raise _unfit(f"{key} is no section")
        return Section(*_section_head(found[1], found[2]), _nodes_from(value, depth + 1))
    if key != "" or not is_zone(value):
        key = key_of(key)
    if isinstance(value, Mapping) and not is_zone(value):
        return Block(key, _nodes_from(value, depth + 1))
    return Assignment(key, value_of(value))


def _section_head(id: Any, name: Any) -> tuple[str, str]:
    if not isinstance(id, str) or not (_SECTION_ID(id) or is_identifier(id)):
        raise _unfit(f"{id!r} cannot be a section's id")
    if not isinstance(name, str) or not (name == id or is_identifier(name)):
        raise _unfit(f"{name!r} cannot be a section's name")
    return id, name


def _from_tree(data: Mapping[Any, Data]) -> Document:
    envelopes = [_envelope_from(entry) for entry in _sequence(data["envelopes"])]
    if not envelopes:
        raise _unfit("a document has an envelope")
    version, frontmatter = data.get("version"), data.get("frontmatter")
    return Document(
        envelopes,
        None if frontmatter is None else _raw(frontmatter),
        None if version is None else _text(version),
        [_comment(text) for text in _sequence(data.get("after", []))],
    )


def _envelope_from(data: Data) -> Envelope:
    entry = _mapping(data)
    name = entry.get("name")
    if not isinstance(name, str) or not is_envelope_name(name):
        raise _unfit(f"{name!r} cannot be the name of an envelope")
    before = [_comment(text) for text in _sequence(entry.get("before", []))]
    return Envelope(name, _tree_nodes(entry.get("nodes", []), 0), before)


def _tree_nodes(data: Data, depth: int) -> list[Node]:
    if depth > DEEPEST_DATA:
        raise _unfit(f"it is nested more than {DEEPEST_DATA} deep")
    return [_tree_node(_mapping(entry), depth) for entry in _sequence(data)]


def _tree_node(entry: Mapping[Any, Data], depth: int) -> Node:
    note = entry.get("note")
    note = None if note is None else _text(note)
    if "section" in entry:
        head = _section_head(entry["section"], entry.get("name"))
        return Section(*head, _tree_nodes(entry.get("nodes", []), depth + 1), 0, note)
    if "block" in entry:
        return Block(key_of(entry["block"]), _tree_nodes(entry.get("nodes", []), depth + 1), 0, note)
    if "key" in entry:
        value = _tree_value(entry.get("value"))
        key = "" if entry["key"] == "" and isinstance(value, Literal) else key_of(entry["key"])
        behind = entry.get("behind")
        return Assignment(key, _no_pair(value), 0, note, None if behind is None else _comment(behind))
    if "comment" in entry:
        return Comment(_comment(entry["comment"]))
    if "separator" in entry:
        return Separator()
    raise _unfit("an entry is no node")


def _tree_value(data: Data) -> Item:
    if isinstance(data, Mapping):
        if "number" in data:
            return _number(data["number"])
        if "pattern" in data:
            return Pattern(_text(data["pattern"]))
        if "literal" in data:
            names = {"content": data["literal"], "info_tag": data.get("info"), "fence_marker": data.get("fence", "```")}
            return literal_of(names)
        if "pair" in data:
            return Pair(pair_key(data["pair"]), _no_pair(_tree_value(data.get("value"))))
        if "items" in data:
            comments = [(int(index), _comment(text)) for index, text in _sequence(data.get("comments", []))]
            return List((_tree_value(item) for item in _sequence(data["items"])), comments)
        raise _unfit("an entry is no value")
    if isinstance(data, (list, tuple)):
        return List(_tree_value(item) for item in data)
    return value_of(data)


def _number(data: Data) -> int | float | Number:
    lexeme = _text(data)
    if not is_number_text(lexeme):
        raise _unfit(f"{lexeme!r} is no number")
    return number(lexeme)


def _no_pair(item: Item) -> Value:
    if isinstance(item, Pair):
        raise _unfit("a pair stands in a list")
    return item


def _text(data: Data) -> str:
    return text_of(_raw(data))


def _raw(data: Data) -> str:
    if not isinstance(data, str):
        raise _unfit(f"{data!r} is no text")
    return utf8(data)


def _comment(data: Data) -> str:
    text = _text(data)
    if "\n" in text or "\r" in text or "\t" in text or text != text.strip(" "):
        raise _unfit("a comment is one line")
    return text


def _mapping(data: Data) -> Mapping[Any, Data]:
    if not isinstance(data, Mapping):
        raise _unfit("a mapping is expected")
    return data


def _sequence(data: Data) -> Iterable[Data]:
    if not isinstance(data, (list, tuple)):
        raise _unfit("a list is expected")
    return data


def _unfit(message: str) -> OctaveError:
    return OctaveError("E_INPUT", message)

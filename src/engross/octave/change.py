"""Changes of single fields: what is not named stays, DELETE removes, null is a value, anything else is set.

All or nothing: a change that cannot be made refuses them all, and the document given is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final, NamedTuple, NoReturn
from typing import Literal as Choice

from .document import Document, Envelope
from .error import OctaveError
from .faults import Faults
from .given import RESERVED, composed_key, is_zone, node_of, nodes_of, pair_of, utf8, written_value
from .names import Names
from .node import Assignment, Block, Comment, Container, Node, Section, Separator
from .path import Place, find, locate, pairs_of, segments
from .spelling import fence_for
from .value import Item, List, Literal, Pair, Value

Done = Choice["set", "added", "deleted", "absent"]


class _Delete(dict[str, str]):
    """Removes a field. It is the mapping that stands for it in JSON, so every serialiser knows how to write it."""

    def __repr__(self) -> str:
        return "DELETE"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("DELETE does not change")

    __setitem__ = __delitem__ = update = clear = pop = popitem = setdefault = _refuse

    def __deepcopy__(self, _: object) -> _Delete:
        return self

    def __reduce__(self) -> str:
        return "DELETE"


DELETE: Final = _Delete({"$op": "DELETE"})


class Change(NamedTuple):
    """What became of one field."""

    path: str
    done: Done


class Edited(NamedTuple):
    """A changed copy, and what was done."""

    document: Document
    changes: list[Change]


def apply_changes(document: Document, changes: Mapping[str, Any]) -> Edited:
    """Change fields by dotted path, at any depth and of any kind."""
    return _applied(document, changes, below="")


def apply_mutations(document: Document, mutations: Mapping[str, Any]) -> Edited:
    """Change fields of META, which is made if it is missing."""
    return _applied(document, mutations, below="META")


def refuse_reserved(document: Document) -> None:
    """Refuse a document in which the reserved text is a value."""
    for node in document.walk():
        if isinstance(node, Assignment) and _holds_reserved(node.value):
            raise OctaveError(
                "E_INPUT", f"{RESERVED} is reserved for changes", node.line, 1, "use DELETE in changes, not in content"
            )


def copied(document: Document) -> Document:
    """A copy whose nodes are its own; values do not change, so they are shared."""
    copy = Document([], document.frontmatter, document.version, list(document.after))
    copy.receipts = list(document.receipts)
    for envelope in document.envelopes:
        made = Envelope(envelope.name, [], list(envelope.before), envelope.line)
        copy.envelopes.append(made)
        pending = [(envelope.nodes, made.nodes)]
        while pending:
            source, target = pending.pop()
            for node in source:
                twin = _twin(node)
                target.append(twin)
                if isinstance(node, (Block, Section)) and isinstance(twin, (Block, Section)):
                    pending.append((node.children, twin.children))
    return copy


def _twin(node: Node) -> Node:
    if isinstance(node, Assignment):
        if node.lexeme is not None:
            return Assignment.written(node.key, node.lexeme, node.line, node.comment)
        return Assignment(node.key, node.value, node.line, node.note, node.comment)
    if isinstance(node, Block):
        return Block(node.key, [], node.line, node.note)
    if isinstance(node, Section):
        return Section(node.id, node.name, [], node.line, node.note)
    return Comment(node.text, node.line) if isinstance(node, Comment) else Separator(node.line)


def _applied(document: Document, changes: Mapping[str, Any], below: str) -> Edited:
    edited, names = copied(document), Names()
    faults = Faults()
    done: list[Change] = []
    for path, data in changes.items():
        try:
            done.append(_apply(edited, names, path, data, below))
        except OctaveError as error:
            faults.add(error)
    faults.tell()
    names.close_gaps()
    for envelope in edited.envelopes:
        envelope.nodes[:] = _settled(envelope.nodes, envelope.meta)
    return Edited(edited, done)


def _apply(document: Document, names: Names, path: object, data: object, below: str) -> Change:
    if not isinstance(path, str) or not path:
        raise _refused("E_INPUT", f"{path!r} is no path")
    path = composed_key(path)
    deletes = _deletes(path, data)
    whole = f"{below}.{path}" if below else path
    place = find(document, whole, names) if not below else _find_in_meta(document, names, path)
    if deletes:
        return Change(whole, "absent" if place is None else _delete(place, names))
    if whole == "META" and isinstance(data, Mapping) and not is_zone(data):
        return _merge_meta(document, names, data)
    if whole == "META" and (place is None or any(place.node is envelope.meta for envelope in document.envelopes)):
        raise _refused("E_OP_TARGET_MISMATCH", "META is a block; it takes fields, not a value")
    if place is not None:
        _set(place, names, data)
        return Change(whole, "set")
    _add(document, names, whole, data)
    return Change(whole, "added")


def _deletes(path: str, data: object) -> bool:
    if isinstance(data, Mapping) and "$op" in data:
        if dict(data) != DELETE:
            raise _refused("E_INVALID_OP_DESCRIPTOR", f"{path}: the only operation is {{'$op': 'DELETE'}}")
        return True
    return isinstance(data, str) and data == RESERVED


def _find_in_meta(document: Document, names: Names, path: str) -> Place | None:
    return None if document.meta is None else locate(document.meta.children, segments(path), names)


def _delete(place: Place, names: Names) -> Done:
    node = place.node
    if place.pair is not None and isinstance(node, Assignment) and isinstance(node.value, List):
        kept = [item for item in node.value.items if not (isinstance(item, Pair) and item.key == place.pair)]
        node.value = List(kept, _moved_comments(node.value, kept))
        return "deleted"
    name = node.key if not isinstance(node, (Comment, Separator)) else ""
    names.remove(place.nodes, [place.at, *names.places(place.nodes, name)])
    return "deleted"


def _moved_comments(before: List, kept: list[Item]) -> list[tuple[int, str]]:
    """Comments stay before the items they stood before, or at the end."""
    left = {id(item) for item in kept}
    counts = [0, *accumulate(id(item) in left for item in before.items)]
    return [(counts[min(index, len(before.items))], text) for index, text in before.comments]


def _set(place: Place, names: Names, data: object) -> None:
    node = place.node
    if place.pair is not None:
        _set_pair(place, data)
    elif isinstance(node, Section) and (not isinstance(data, Mapping) or is_zone(data)):
        raise _refused("E_OP_TARGET_MISMATCH", f"{node.key} is a section; it takes fields, not a value")
    elif isinstance(node, (Block, Section)) and isinstance(data, Mapping) and not is_zone(data):
        node.children[:] = nodes_of(data)
        names.forget(node.children)
    elif isinstance(node, (Assignment, Block)):
        made = place.nodes[place.at] = _replaced(node, data)
        if isinstance(made, Assignment) and made.comment is not None and isinstance(made.value, Literal):
            # Nothing can stand behind a fence, so the comment stands above.
            place.nodes.insert(place.at, Comment(made.comment))
            made.comment = None
            names.forget(place.nodes)


def _replaced(node: Assignment | Block, data: object) -> Assignment | Block:
    """A node of the same key with another value. A text that replaces a literal zone is one."""
    literal = node.value if isinstance(node, Assignment) else None
    if isinstance(literal, Literal) and isinstance(data, str):
        data = Literal(utf8(data), literal.info, fence_for(Literal(data, literal.info, literal.fence)))
    if not node.key:
        made: Assignment | Block = Assignment("", written_value(data))
    else:
        made = node_of(node.key, data)
    made.note = node.note
    if isinstance(made, Block) and made.note is not None and made.note.startswith("→"):
        # A block's target always carries its mark.
        made.note = f"→§{made.note[1:].removeprefix('§')}"
    made.line = node.line
    comment = node.comment if isinstance(node, Assignment) else None
    if comment is not None and isinstance(made, Assignment):
        made.comment = comment
    elif comment is not None and isinstance(made, Block):
        made.children.insert(0, Comment(comment))
    return made


def _set_pair(place: Place, data: object) -> None:
    node = place.node
    if isinstance(node, Assignment) and isinstance(node.value, List):
        items = list(node.value.items)
        index = max(at for at, item in enumerate(items) if isinstance(item, Pair) and item.key == place.pair)
        items[index] = pair_of(place.pair, data)
        node.value = List(items, node.value.comments)


def _add(document: Document, names: Names, path: str, data: object) -> None:
    """Add a field at the end of the block, section or inline map that the path names, or at the end of all."""
    parts = segments(path)
    for end in range(len(parts) - 1, 0, -1):
        parent, key = ".".join(parts[:end]), ".".join(parts[end:])
        in_meta = parent == "META" and document.meta is None
        place = _made_meta(document, names) if in_meta else find(document, parent, names)
        if place is not None and _add_below(place.node, names, key, data):
            return
    if path.startswith("§"):
        hint = "changes make no sections: write the whole document, or name a section that is there"
        raise _refused("E_UNRESOLVABLE_PATH", f"{path} leads nowhere", hint)
    if len(parts) > 1:
        above = ".".join(parts[:-1])
        hint = f"name a block that is there, or make one: {parts[0]} with its fields as a mapping"
        raise _refused("E_UNRESOLVABLE_PATH", f"{path} leads nowhere: no block {above} is there", hint)
    names.add(document.nodes, node_of(path, data))


def _add_below(parent: Node, names: Names, key: str, data: object) -> bool:
    if isinstance(parent, (Block, Section)):
        names.add(parent.children, node_of(key, data))
        return True
    if isinstance(parent, Assignment) and isinstance(parent.value, List):
        items = parent.value.items
        if items and len(pairs_of(parent.value)) == len(items):
            parent.value = List([*items, pair_of(key, data)], parent.value.comments)
            return True
    return False


def _made_meta(document: Document, names: Names) -> Place:
    """A new META, before everything but the comments at the top."""
    nodes = document.nodes
    index = 0
    while index < len(nodes) and isinstance(nodes[index], Comment):
        index += 1
    nodes.insert(index, Block("META"))
    names.forget(nodes)
    return Place(nodes, index)


def _merge_meta(document: Document, names: Names, data: Mapping[Any, object]) -> Change:
    """META is never replaced: its fields are changed one by one."""
    if document.meta is None:
        _made_meta(document, names)
    for key, value in data.items():
        _apply(document, names, key, value, "META")
    return Change("META", "set")


def _settled(nodes: list[Node], meta: Container | None) -> list[Node]:
    """Comments at the margin where a reader would find them: at the end of the block above, if it has an end."""
    settled: list[Node] = []
    holder: Container | None = None
    for node in nodes:
        if isinstance(node, Comment) and holder is not None:
            holder.children.append(node)
            continue
        settled.append(node)
        holder = None if node is meta else _holder(node)
    return settled


def _holder(node: Node) -> Container | None:
    """The innermost block at the end of a node that a comment at the margin would end."""
    chain: list[Container] = []
    last: Node | None = node
    while isinstance(last, (Block, Section)):
        chain.append(last)
        last = last.children[-1] if last.children else None
    for container in reversed(chain):
        children = container.children
        ends_with_zone = bool(children) and isinstance(children[-1], Assignment) and not children[-1].key
        if not ends_with_zone and any(not isinstance(child, Comment) for child in children):
            return container
    return None


def _holds_reserved(value: Value) -> bool:
    pending: list[Item] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str) and item == RESERVED:
            return True
        if isinstance(item, Pair):
            pending.append(item.value)
        elif isinstance(item, List):
            pending.extend(item.items)
    return False


def _refused(code: str, message: str, hint: str | None = None) -> OctaveError:
    return OctaveError(code, message, hint=hint)

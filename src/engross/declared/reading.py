"""From bytes to nodes: safe YAML, read event by event.

The library's parser hands out events one at a time, so a document that is too deep or too large is given up before
anything is built of it. An alias shares the node it names instead of copying it; what the document would weigh if all
were copied is counted, so that a few lines cannot unfold into millions. Scalars follow the core schema of YAML 1.2:
`yes` and dates are texts, `010` is ten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from .fault import Faults
from .model import Place
from .node import Keyed, Listed, Node, Scalar

LARGEST: Final = 2 * 1024 * 1024
DEEPEST: Final = 40
HEAVIEST: Final = 400_000

_INTEGER: Final = re.compile(r"[-+]?[0-9]+").fullmatch
_OTHER_BASE: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+").fullmatch
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?").fullmatch
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)").fullmatch
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NUMBERLIKE: Final = frozenset("0123456789+-.")
_LONGEST_NUMBER: Final = 40


class _Stop(Exception):
    """The rest is not worth reading: the fault is noted."""


def read(text: bytes | str, file: str, faults: Faults) -> Node | None:
    """The document in this text; None, with a fault, if it cannot be read."""
    start = Place(file, 1, 1)
    decoded = _decoded(text, start, faults)
    if decoded is None:
        return None
    builder = _Builder(file, faults)
    try:
        for event in _events(decoded):
            builder.take(event)
    except _Stop:
        return None
    except Exception as error:
        # The library has other exceptions than its own for broken texts, and all of them mean the same to us.
        faults.error("V1", *_told(error, builder))
        return None
    if builder.root is None:
        faults.error("V1", start, "The file is empty.")
    return builder.root


def _decoded(text: bytes | str, start: Place, faults: Faults) -> str | None:
    if len(text) > LARGEST:
        faults.error("V1", start, f"The file has {len(text)} bytes; at most {LARGEST} are read.")
        return None
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        faults.error("V1", start._replace(line=line), "The file is not UTF-8.")
        return None


def _events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML

    return iter(YAML(typ="safe", pure=True).parse(text))


def _told(error: Exception, builder: _Builder) -> tuple[Place, str]:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = builder.at if mark is None else Place(builder.file, mark.line + 1, mark.column + 1)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    context = getattr(error, "context", None)
    told = ", ".join(str(part) for part in (context, problem) if part)
    return place, f"This is not YAML: {told}." if told else "This is not YAML."


class _Builder:
    """Puts the nodes together; what is open is a stack, never a recursion."""

    def __init__(self, file: str, faults: Faults) -> None:
        self.file = file
        self.faults = faults
        self.at = Place(file, 1, 1)
        self.root: Node | None = None
        self._documents = 0
        self._weight = 0
        self._open: list[tuple[Keyed | Listed, str | None]] = []
        self._key: tuple[str, Place] | None = None
        self._anchors: dict[str, Node] = {}
        self._take: dict[str, Callable[[Any], None]] = {
            "DocumentStartEvent": self._document,
            "ScalarEvent": self._scalar,
            "MappingStartEvent": self._start,
            "SequenceStartEvent": self._start,
            "MappingEndEvent": self._end,
            "SequenceEndEvent": self._end,
            "AliasEvent": self._alias,
        }

    def take(self, event: Any) -> None:
        """Go on by one event."""
        mark = event.start_mark
        self.at = Place(self.file, mark.line + 1, mark.column + 1)
        step = self._take.get(type(event).__name__)
        if step is not None:
            step(event)

    def _document(self, _: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop("A file holds one document: put the others into files of their own.")

    def _scalar(self, event: Any) -> None:
        self._refuse_tag(event)
        quoted = event.style is not None
        if self._wants_key:
            self._take_key(event.value)
            self._anchor(event, Scalar(self.at, event.value, event.value, True))
            return
        value = event.value if quoted else self._resolved(event.value)
        node = Scalar(self.at, event.value, value, quoted)
        self._anchor(event, node)
        self._add(node)

    def _start(self, event: Any) -> None:
        self._refuse_tag(event)
        self._refuse_as_key()
        if len(self._open) >= DEEPEST:
            self._stop(f"This is deeper than {DEEPEST} levels.")
        node = Keyed(self.at) if type(event).__name__ == "MappingStartEvent" else Listed(self.at)
        self._add(node)
        self._open.append((node, _anchor_of(event)))

    def _end(self, _: Any) -> None:
        node, anchor = self._open.pop()
        inside = list(node.entries.values() if isinstance(node, Keyed) else node.items)
        node.weight += sum(part.weight for part in inside)
        node.depth += max((part.depth for part in inside), default=0)
        if anchor is not None:
            self._anchors[anchor] = node

    def _alias(self, event: Any) -> None:
        self._refuse_as_key()
        name = str(_anchor_of(event))
        found = self._anchors.get(name)
        if found is None:
            self._stop(f"There is no anchor &{name} before this, or it contains the alias itself.")
            return
        if len(self._open) + found.depth > DEEPEST:
            self._stop(f"This is deeper than {DEEPEST} levels.")
        self._add(found)

    def _add(self, node: Node) -> None:
        self._weight += node.weight
        if self._weight > HEAVIEST:
            self._stop(f"The document has more than {HEAVIEST} values.")
        if not self._open:
            self.root = node
            return
        parent = self._open[-1][0]
        if isinstance(parent, Listed):
            parent.items.append(node)
        elif self._key is not None:
            name, place = self._key
            self._key = None
            if name not in parent.entries:
                parent.entries[name] = node
                parent.keys[name] = place

    @property
    def _wants_key(self) -> bool:
        return self._key is None and bool(self._open) and isinstance(self._open[-1][0], Keyed)

    def _take_key(self, name: str) -> None:
        parent = self._open[-1][0]
        assert isinstance(parent, Keyed)
        first = parent.keys.get(name)
        if first is not None:
            told = f"The key {name} is there twice: in line {first.line} and in line {self.at.line}."
            self.faults.error("V1", self.at, told)
        self._key = (name, self.at)

    def _refuse_as_key(self) -> None:
        if self._wants_key:
            self._stop("A key is a text; a value that begins with a brace has to be quoted.")

    def _refuse_tag(self, event: Any) -> None:
        tag = getattr(event, "ctag", None)
        if tag is not None and str(tag) != "!":
            self.faults.error("V1", self.at, f"Tags such as {str(tag)[:60]} are not read: write the value alone.")

    def _anchor(self, event: Any, node: Node) -> None:
        anchor = _anchor_of(event)
        if anchor is not None:
            self._anchors[anchor] = node

    def _resolved(self, text: str) -> Any:
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in _NUMBERLIKE:
            return text
        if len(text) <= _LONGEST_NUMBER:
            if _INTEGER(text):
                return int(text)
            if _OTHER_BASE(text):
                return int(text, 0)
            if _FLOAT(text):
                return self._finite(float(text))
        if _NOT_FINITE(text) or (len(text) > _LONGEST_NUMBER and _FLOAT(text)):
            return self._finite(float("inf"))
        return text

    def _finite(self, number: float) -> float:
        if number - number == 0:
            return number
        self.faults.error("V1", self.at, "This number cannot be told in JSON: quote it if it is a text.")
        return 0.0

    def _stop(self, told: str) -> None:
        self.faults.error("V1", self.at, told)
        raise _Stop


def _anchor_of(event: Any) -> str | None:
    return getattr(event, "anchor", None)

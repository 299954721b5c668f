"""The lines of a document as a tree."""

from __future__ import annotations

from typing import TypeAlias

from .value import Value, atom


class Comment:
    """A comment on a line of its own."""

    __slots__ = ("line", "text")

    def __init__(self, text: str, line: int = 0) -> None:
        self.text = text
        self.line = line

    def __repr__(self) -> str:
        return f"Comment({self.text!r})"


class Separator:
    """The `---` that may stand before the first node, usually after META."""

    __slots__ = ("line",)

    def __init__(self, line: int = 0) -> None:
        self.line = line

    def __repr__(self) -> str:
        return "Separator()"


class Assignment:
    """`KEY::value`, or a bare literal zone, whose key is empty.

    `note` is what stands in brackets behind the key, `comment` what stands behind the value. `lexeme` is the canonical
    spelling of a value that was read in that form; the value is made of it when somebody asks.
    """

    __slots__ = ("_value", "comment", "key", "lexeme", "line", "note")
    _value: Value

    def __init__(
        self, key: str, value: Value, line: int = 0, note: str | None = None, comment: str | None = None
    ) -> None:
        self.key = key
        self._value = value
        self.line = line
        self.note = note
        self.comment = comment
        self.lexeme: str | None = None

    @classmethod
    def written(cls, key: str, lexeme: str, line: int, comment: str | None = None) -> Assignment:
        """An assignment whose value is a single lexeme, known to be canonical."""
        made = cls.__new__(cls)
        made.key = key
        made.lexeme = lexeme
        made.line = line
        made.note = None
        made.comment = comment
        return made

    @property
    def value(self) -> Value:
        """What is assigned."""
        try:
            return self._value
        except AttributeError:
            self._value = atom(self.lexeme or "")
            return self._value

    @value.setter
    def value(self, value: Value) -> None:
        self._value = value
        self.lexeme = None

    def __repr__(self) -> str:
        return f"Assignment({self.key!r}, {self.value!r})"


class Block:
    """`KEY:` and what is indented below it. A note such as `→§LOG` is the block's target."""

    __slots__ = ("children", "key", "line", "note")

    def __init__(self, key: str, children: list[Node] | None = None, line: int = 0, note: str | None = None) -> None:
        self.key = key
        self.children: list[Node] = [] if children is None else children
        self.line = line
        self.note = note

    @property
    def target(self) -> str | None:
        """Where the block's fields are routed, without the mark."""
        return self.note[2:] if self.note is not None and self.note.startswith("→§") else None

    def __repr__(self) -> str:
        return f"Block({self.key!r}, {len(self.children)} children)"


class Section:
    """`§ID::NAME` and what is indented below it."""

    __slots__ = ("children", "id", "line", "name", "note")

    def __init__(
        self, id: str, name: str, children: list[Node] | None = None, line: int = 0, note: str | None = None
    ) -> None:
        self.id = id
        self.name = name
        self.children: list[Node] = [] if children is None else children
        self.line = line
        self.note = note

    @property
    def key(self) -> str:
        """The section's head without its note: what it is called in paths and in exports."""
        return f"§{self.id}::{self.name}"

    def __repr__(self) -> str:
        return f"Section({self.key!r}, {len(self.children)} children)"


Node: TypeAlias = Assignment | Block | Section | Comment | Separator
Container: TypeAlias = Block | Section

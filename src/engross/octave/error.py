"""What went wrong with a document, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """A change of one place in a text that would mend it."""

    rule: str
    line: int
    column: int
    before: str
    after: str


class OctaveError(Exception):
    """A document, a change or a request that cannot be honoured: code, place and a hint.

    `others` holds the further errors of the same text, up to a limit; `count` says how many there were in all, and
    `edits` what would mend those that can be mended.
    """

    def __init__(
        self,
        code: str,
        message: str,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
        edit: Edit | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint
        self.edit = edit
        self.others: Sequence[OctaveError] = ()
        self.count = 1
        self.edits: Sequence[Edit] = () if edit is None else (edit,)

    def __str__(self) -> str:
        where = "" if self.line is None else f" at line {self.line}, column {self.column}"
        hint = "" if self.hint is None else f" ({self.hint})"
        return f"{self.code}{where}: {self.message}{hint}"

    def as_data(self) -> dict[str, object]:
        """The error as an entry of an answer's `errors`."""
        told: dict[str, object] = {"code": self.code, "message": self.message}
        if self.line is not None:
            told |= {"line": self.line, "column": self.column}
        if self.hint is not None:
            told["hint"] = self.hint
        return told


class Unreadable(OctaveError):
    """An error behind which nothing more can be made out."""

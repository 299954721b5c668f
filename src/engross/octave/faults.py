"""The errors of one text, collected: an author wants to see them all, but not ten thousand."""

from __future__ import annotations

from typing import Final

from .error import Edit, OctaveError

SHOWN: Final = 100


class Faults:
    """Keeps the first errors and counts the rest.

    What no token can begin with is told before what no statement can be made of: whoever reads a text in two passes
    finds it in that order.
    """

    def __init__(self) -> None:
        self.count = 0
        self._shown: list[OctaveError] = []
        self._first_lexical: OctaveError | None = None
        self._edits: list[Edit] = []

    def add(self, error: OctaveError, lexical: bool = False) -> None:
        """Take note of an error."""
        self.count += 1
        if lexical and self._first_lexical is None:
            self._first_lexical = error
        if error.edit is not None:
            self._edits.append(error.edit)
        if len(self._shown) < SHOWN:
            self._shown.append(error)

    def lexical(
        self, code: str, message: str, line: int, column: int, hint: str | None = None, edit: Edit | None = None
    ) -> None:
        """Take note of something that is no token."""
        self.add(OctaveError(code, message, line, column, hint, edit), lexical=True)

    def tell(self, last: OctaveError | None = None) -> None:
        """Raise the first error, the others with it; `last` is one that ended the reading."""
        if last is not None:
            self.add(last)
        if not self._shown:
            return
        first = self._first_lexical or last or self._shown[0]
        first.others = tuple(error for error in self._shown if error is not first)
        first.count = self.count
        first.edits = tuple(self._edits)
        raise first

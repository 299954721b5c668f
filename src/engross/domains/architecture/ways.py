"""What the house decides for the domain: habits that an operator sets, and ports to what lies outside of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from engross.calls import Context

if TYPE_CHECKING:
    from engross.ledger import Reader
    from engross.searching.meaning import Embedder

Duplicates = Literal["by-caller", "reject", "warn", "allow"]


class Habits(NamedTuple):
    """Knobs that turn what a write does, as they stand for one call."""

    duplicate_name: Duplicates = "by-caller"
    template_reuse: bool = True
    max_bulk: int = 100

    def on_duplicate(self, context: Context) -> Literal["reject", "warn", "allow"]:
        """What becomes of a name that is taken: people are warned, agents and services are refused."""
        if self.duplicate_name != "by-caller":
            return self.duplicate_name
        return "warn" if context.principal.type == "human" else "reject"


class Ways(NamedTuple):
    """Everything that the domain asks of the house around it. The defaults do for a house without knobs."""

    habits: Callable[[Context], Habits] = lambda context: Habits()
    content: Callable[[Reader, str], bytes] | None = None
    """The bytes of a file that the caller has uploaded, by its content hash."""
    embedder: Embedder | None = None


USUAL_WAYS = Ways()

"""What an event loop's tasks learn from one another within a turn.

The requests whose tasks run in one turn of a loop had all arrived before the turn began. What one of them found out
about a credential is therefore younger than all of them, and good for each. Whatever arrives later is handled in a
later turn, and by then it is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engross.calls import Caller

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


class Turns:
    """The callers that were admitted in the present turn, by credential, for each loop."""

    def __init__(self) -> None:
        self._present: dict[AbstractEventLoop, dict[str, Caller]] = {}

    def known(self) -> dict[str, Caller]:
        """Those of the loop at hand. Who adds to it only when the turn is over adds to something forgotten."""
        import asyncio

        loop = asyncio.get_running_loop()
        known = self._present.get(loop)
        if known is None:
            known = self._present[loop] = {}
            loop.call_soon(self._present.pop, loop)
        return known

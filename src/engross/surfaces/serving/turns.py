"""What requests learn from one another within a turn of the event loop.

The requests whose tasks run in one turn of the loop had all arrived before the turn began: bytes are taken in between
turns. What one of them found out about a credential is therefore younger than all of them, and good for each. Whatever
arrives later is handled in a later turn, and by then it is forgotten.
"""

from __future__ import annotations

import asyncio

from engross.calls import Caller


class Turns:
    """The callers that were admitted in the present turn, by what they showed."""

    def __init__(self) -> None:
        self._present: dict[bytes, Caller] | None = None

    def caller(self, shown: bytes | None) -> Caller | None:
        """Who was admitted with this in this turn."""
        return None if self._present is None or shown is None else self._present.get(shown)

    def known(self) -> dict[bytes, Caller]:
        """Those of this turn. Who adds to it when the turn is over adds to something forgotten."""
        if self._present is None:
            self._present = {}
            asyncio.get_running_loop().call_soon(self._forget)
        return self._present

    def _forget(self) -> None:
        self._present = None

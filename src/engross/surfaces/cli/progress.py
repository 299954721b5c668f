"""How far a long call is, for the person who waits at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from engross.calls import CONVERSATION, Question, unanswered
from engross.visible import visible

from .looks import is_fancy

CLEAR = "\r\x1b[K"


class Narrator:
    """Tells on standard error how far a call is. Nobody can be asked through it."""

    def __init__(self) -> None:
        self._told = False

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """One line that is written over."""
        share = f" ({done / total:.0%})" if total else ""
        self._told = True
        print(f"{CLEAR}{visible(message or 'Working')}{share}", end="", file=sys.stderr, flush=True)

    def remark(self, data: Any, level: str) -> None:
        """Something worth knowing, on a line of its own."""
        print(f"{CLEAR}{visible(str(data))}", file=sys.stderr, flush=True)

    def can_ask(self, means: str) -> bool:
        """No."""
        return False

    def ask(self, questions: Mapping[str, Question]) -> dict[str, Mapping[str, Any]]:
        """Refuse."""
        raise unanswered(questions)

    def end(self) -> None:
        """Take the line away again."""
        if self._told:
            print(CLEAR, end="", file=sys.stderr, flush=True)


@contextmanager
def telling_progress(*, json: bool) -> Iterator[None]:
    """Have the calls in here tell how far they are, where there is somebody to see it."""
    if json or not is_fancy(sys.stderr):
        yield
        return
    narrator = Narrator()
    before = CONVERSATION.set(narrator)
    try:
        yield
    finally:
        CONVERSATION.reset(before)
        narrator.end()

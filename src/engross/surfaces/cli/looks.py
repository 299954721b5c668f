"""How help looks: with colours and frames for people at a terminal, plain anywhere else."""

from __future__ import annotations

import os
import re
import sys
from typing import IO, Literal

_MARKUP = re.compile(r"(\\*)(\[[a-z#/@][^[]*?])")


def is_fancy(stream: IO[str]) -> bool:
    """Whether a person looks at the stream, and wants colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def markup() -> Literal["rich"] | None:
    """How help texts are read."""
    return "rich" if is_fancy(sys.stdout) and is_fancy(sys.stderr) else None


def unmarked(text: str) -> str:
    """A help text that is shown as it is, also where help texts are read as markup."""
    return _MARKUP.sub(r"\1\1\\\2", text) if markup() else text

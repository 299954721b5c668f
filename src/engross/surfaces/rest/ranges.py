"""Parts of a file: the Range header, for one range of bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

from engross.replies import Invalid, codes

_ONE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.ASCII)


class Part(NamedTuple):
    """From the first to the last byte, both included."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """How many bytes that are."""
        return self.last - self.first + 1


def wanted_part(header: str | None, size: int) -> Part | None:
    """The part that was asked for; None for the whole. What is no range, or several, is the whole too."""
    found = _ONE.fullmatch(header) if header is not None else None
    if found is None:
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        part = Part(max(0, size - int(suffix)), size - 1)
    else:
        part = Part(int(first), min(int(last), size - 1) if last else size - 1)
        if last and int(last) < int(first):
            return None
    if part.first >= size or part.size < 1:
        raise Invalid(codes.RANGE_NOT_SATISFIABLE, {"size": size}, data={"size": size})
    return part

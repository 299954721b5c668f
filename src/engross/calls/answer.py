"""What a flow's own code hands back when a bare mapping does not say enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engross.replies import EMPTY

# The garbage collector looks into these, as it has to wherever there may be something that a flow made: an exception
# that was caught and kept leads through its traceback back to the call that holds it.


class Errand(Struct, frozen=True):
    """A call to another system that a commit brings with it, carried out after the commit."""

    flow: str
    arguments: Mapping[str, Any]
    author: Mapping[str, Any]
    key: str


class Answer(Struct, frozen=True):
    """A flow's fields, with the code of its success, what the receipt should name, and errands to follow."""

    data: Mapping[str, Any]
    code: str | None = None
    params: Mapping[str, Any] = EMPTY
    warnings: tuple[Mapping[str, Any], ...] = ()
    receipt: Mapping[str, Any] = EMPTY
    errands: tuple[Errand, ...] = ()
    would: tuple[Mapping[str, Any], ...] = ()
    """In a dry run: the calls to other systems that were not made."""

"""What a flow's own code hands back when a bare mapping does not say enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Errand:
    """A call to another system that a commit brings with it, carried out after the commit."""

    flow: str
    arguments: Mapping[str, Any]
    author: Mapping[str, Any]
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A flow's fields, with the code of its success, what the receipt should name, and errands to follow."""

    data: Mapping[str, Any]
    code: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Mapping[str, Any], ...] = ()
    receipt: Mapping[str, Any] = field(default_factory=dict)
    errands: tuple[Errand, ...] = ()

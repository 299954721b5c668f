"""What a call would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class FactDraft(Struct, frozen=True):
    """One fact as a plan holds it: not yet in the ledger, and perhaps never."""

    aggregate: str
    type: str
    schema_version: int
    subject: str
    version: int
    payload: Mapping[str, Any]
    before: Mapping[str, Any] | None = None
    fields: tuple[str, ...] = ()
    ends: bool = False

    def as_data(self) -> dict[str, Any]:
        """The part of a fact that a reviewer judges and a digest covers."""
        return {
            "aggregate": self.aggregate,
            "type": self.type,
            "schema_version": self.schema_version,
            "subject": self.subject,
            "version": self.version,
            "payload": self.payload,
            "ends": self.ends,
        }


class Plan(Struct, frozen=True):
    """The outcome of performing a flow, before anybody decided about it."""

    flow: str
    flow_version: str
    arguments: Mapping[str, Any]
    facts: tuple[FactDraft, ...]
    base: Mapping[str, int]
    tier: int
    answer: Mapping[str, Any]
    warnings: tuple[Mapping[str, Any], ...] = ()
    unseen: int = 0
    """How many further facts there are, of a change too large to be held: it can be committed, not proposed."""

    @property
    def size(self) -> int:
        """How many facts it states."""
        return len(self.facts) + self.unseen

"""What the stages work with. The office fits it together once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engross.calls import Clock
from engross.flows import Catalogue
from engross.governance import Knobs, Limits, PlanTokens, Policy
from engross.ledger import FactBook
from engross.store import Blobs, Store

from .answers import Answers
from .flights import Flights
from .workers import Workers


class Fittings(Struct, frozen=True):
    """Everything that a call may need on its way."""

    store: Store
    catalogue: Catalogue
    book: FactBook
    policy: Policy
    knobs: Knobs
    limits: Limits
    tokens: PlanTokens
    digest: Callable[[Any], str]
    answers: Answers
    clock: Clock
    blobs: Callable[[str], Blobs]
    flights: Flights
    workers: Workers
    call_seconds: float
    lease_seconds: float
    most_reply_bytes: int
    entered: set[str]
    """Tenants that are known to be in the list of tenants."""
    unsealed: set[str]
    """Tenants that have receipts without a seal."""
    bulk_seconds: float = 600.0
    stir: Callable[[str], None] = lambda tenant: None
    """Told of every commit that this process made, by its tenant."""

"""How agents go about it: many single writes in a row are better made by one call."""

from __future__ import annotations

from engross.calls import instant_after
from engross.ledger import Unit, latest_receipts

from .notices import Notices, in_single_steps

SINGLE = ("architecture.create-element", "architecture.create-relationship")
MOST_SINGLE = 5
SECONDS = 60
LOOKED_AT = 12


def pace_notices(unit: Unit) -> Notices:
    """A hint for an agent that has made several single writes within a minute, this one not counted."""
    context = unit.context
    if context.principal.type == "human" or context.flow not in SINGLE:
        return []
    since = instant_after(unit.now, seconds=-SECONDS)
    latest = (receipt.body for receipt in latest_receipts(unit.reading, LOOKED_AT))
    own = [
        body
        for body in latest
        if body["principal"]["id"] == context.principal.id and body["flow"] in SINGLE and body["time"] >= since
    ]
    return [in_single_steps(len(own) + 1)] if len(own) >= MOST_SINGLE else []

"""Which facts a caller may see, whichever flow shows them."""

from __future__ import annotations

from collections.abc import Sequence

from engross.flows import Catalogue
from engross.governance import NAMESPACE, Audience, audience_of, seen_proposals
from engross.ledger import Fact, Reader
from engross.ledger.reasons import Stated
from engross.pipeline import Fittings
from engross.replies import Failed

from .door.flows import may_see_tokens
from .door.tokens import NAMESPACE as DOOR

NOBODY = ""
"""Stands for an owner whom nobody knows."""


def seen_facts(fittings: Fittings, reader: Reader, found: Sequence[Stated]) -> list[Stated]:
    """The facts that this caller may see, as the present program would have written them.

    What there is to know about tokens is for whoever may list them; what belongs to one user, for that user and for
    those who review, and so is a proposal about it, and what an aggregate stated that is no longer there to say whose
    it is.
    """
    context = reader.context
    if not may_see_tokens(fittings, context):
        found = [(fact, receipt) for fact, receipt in found if fact.aggregate != DOOR]
    known = {name for name in {fact.aggregate for fact, _ in found} if _is_there(fittings.catalogue, name)}
    seen = [(fittings.book.upcast(fact), receipt) for fact, receipt in found]
    audience = audience_of(fittings.catalogue, context.principal)
    if audience is None:
        return seen
    hidden = _hidden_proposals(reader, audience, [fact for fact, _ in seen])
    owners = [fittings.book.owner(fact) if fact.aggregate in known else NOBODY for fact, _ in seen]
    return [
        (fact, receipt)
        for (fact, receipt), owner in zip(seen, owners, strict=True)
        if (owner is None or owner in audience.ids) and (fact.aggregate, fact.subject) not in hidden
    ]


def _hidden_proposals(reader: Reader, audience: Audience, facts: list[Fact]) -> set[tuple[str, str]]:
    told = sorted({fact.subject for fact in facts if fact.aggregate == NAMESPACE})
    seen = seen_proposals(reader, told, audience) if told else ()
    return {(NAMESPACE, one) for one in told if one not in seen}


def _is_there(catalogue: Catalogue, aggregate: str) -> bool:
    """A domain that nobody has used so far joins now: it knows whose its facts are, and how old ones are read."""
    try:
        return catalogue.aggregate(aggregate) is not None
    except Failed:
        return False

"""Who sees what belongs to single users: they themselves with their agents, and the people who review."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engross.calls import Principal
from engross.flows import Catalogue
from engross.store import Params

REVIEWERS = frozenset({"curator", "admin"})


class Audience(NamedTuple):
    """Somebody who sees only their own of what belongs to single users."""

    ids: tuple[str, ...]
    """Under which ids it may be theirs: their own, that of the person behind them, and that of the person's agent."""
    everybodys: tuple[str, ...]
    """The aggregates whose facts are everybody's."""

    def among(self, proposals: str) -> tuple[str, Params]:
        """The condition for rows of proposals, by the alias of their table, and its parameters.

        A proposal about what belongs to single users is its author's. What an aggregate states that is no longer there
        may belong to anybody.
        """
        own = {f"own_{n}": one for n, one in enumerate(self.ids)}
        open_to_all = {f"open_{n}": f"{one}/%" for n, one in enumerate(self.everybodys)}
        about = " OR ".join(f"touched.subject LIKE :{name}" for name in open_to_all)
        condition = (
            f" AND ({proposals}.author_id IN ({_named(own)}) OR NOT EXISTS (SELECT 1 FROM proposal_subjects touched"
            f" WHERE touched.tenant = {proposals}.tenant AND touched.proposal = {proposals}.id AND NOT ({about})))"
        )
        return condition, {**own, **open_to_all}


def reviews(principal: Principal) -> bool:
    """Whether it is a person who decides about others' proposals, and so sees everything."""
    return principal.type == "human" and not REVIEWERS.isdisjoint(principal.roles)


def audience_of(catalogue: Catalogue, principal: Principal) -> Audience | None:
    """What somebody sees only in part; None for a person who reviews, and sees everything."""
    if reviews(principal):
        return None
    return Audience(principal.likes, catalogue.everybodys)


def _named(params: Iterable[str]) -> str:
    return ", ".join(f":{name}" for name in params)

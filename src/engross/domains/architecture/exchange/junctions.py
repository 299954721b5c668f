"""Junctions: what comes together there, also through several of them in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..metamodel import metamodel
from ..rules import MEMBERSHIP, MOST_PAIRS
from .parcel import Piece


class AtOdds(NamedTuple):
    """A relationship that does not go with the others at a junction."""

    piece: Piece
    junction: str
    existing_type: str
    """What most of the relationships there are."""
    offending_pairs: list[dict[str, str]]
    """Types that it would join through the junction and may not; none where it is merely of another type."""


def at_odds_at_junctions(
    relationships: Sequence[Piece], kinds: Mapping[str, str], settled: Collection[str] = ()
) -> list[AtOdds]:
    """Relationships that meet others of another type at a junction, or join through it what they may not.

    Those that are settled were there first: the others have to go with them, and are the ones at odds.
    """
    joined: dict[str, list[Piece]] = {}
    for piece in relationships:
        if piece.said["type"] in MEMBERSHIP:
            continue
        for end in ("source_id", "target_id"):
            if metamodel().is_junction(kinds[piece.said[end]]):
                joined.setdefault(piece.said[end], []).append(piece)
    wrong: dict[str, AtOdds] = {}
    for chain in _chains(joined, kinds):
        there = [piece for junction in chain for piece in joined[junction]]
        for one in _at_odds(chain, there, kinds, settled):
            for piece in _to_blame(one, there, kinds, settled):
                wrong[piece.id] = one._replace(piece=piece)
    return list(wrong.values())


def _chains(joined: Mapping[str, Sequence[Piece]], kinds: Mapping[str, str]) -> list[list[str]]:
    """The junctions, those together that lead into one another."""
    chains: list[list[str]] = []
    seen: set[str] = set()
    for start in joined:
        if start in seen:
            continue
        chain, pending = [], [start]
        seen.add(start)
        while pending:
            junction = pending.pop()
            chain.append(junction)
            for piece in joined[junction]:
                for end in (piece.said["source_id"], piece.said["target_id"]):
                    if end in joined and end not in seen:
                        seen.add(end)
                        pending.append(end)
        chains.append(chain)
    return chains


def _to_blame(
    one: AtOdds, pieces: Sequence[Piece], kinds: Mapping[str, str], settled: Collection[str]
) -> Sequence[Piece]:
    """The relationship at odds; where that was there first, those that bring to the junction what it may not join."""
    if one.piece.id not in settled:
        return [one.piece]
    brought = {pair["source_type"] for pair in one.offending_pairs}
    return [piece for piece in pieces if piece.id not in settled and kinds[piece.said["source_id"]] in brought]


def _at_odds(
    chain: Sequence[str], pieces: Sequence[Piece], kinds: Mapping[str, str], settled: Collection[str]
) -> Iterator[AtOdds]:
    """In one chain, those of another type than most, and those that lead from a junction to what may not be joined."""
    first = [piece for piece in pieces if piece.id in settled] or pieces
    usual = Counter(piece.said["type"] for piece in first).most_common(1)[0][0]
    coming = _coming(chain, [piece for piece in pieces if piece.said["type"] == usual], kinds)
    for piece in pieces:
        source, target = piece.said["source_id"], piece.said["target_id"]
        if piece.said["type"] != usual:
            yield AtOdds(piece, source if source in coming else target, usual, [])
        elif source in coming and not metamodel().is_junction(kinds[target]):
            pairs = [
                {"source_type": one, "target_type": kinds[target]}
                for one in sorted(coming[source])
                if not metamodel().allows(usual, one, kinds[target])
            ]
            if pairs:
                yield AtOdds(piece, source, usual, pairs[:MOST_PAIRS])


def _coming(chain: Sequence[str], pieces: Sequence[Piece], kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """The types that come together at each junction, those from the junctions before it included."""
    coming: dict[str, set[str]] = {junction: set() for junction in chain}
    leads: dict[str, list[str]] = {}
    for piece in pieces:
        source, target = piece.said["source_id"], piece.said["target_id"]
        if target in coming and source in coming:
            leads.setdefault(source, []).append(target)
        elif target in coming:
            coming[target].add(kinds[source])
    pending = [junction for junction in chain if coming[junction]]
    while pending:
        junction = pending.pop()
        for target in leads.get(junction, ()):
            if not coming[junction] <= coming[target]:
                coming[target] |= coming[junction]
                pending.append(target)
    return coming

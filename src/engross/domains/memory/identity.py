"""Who speaks for whom: redirects of merged entities, and the columns that follow from them."""

from __future__ import annotations

from engross.ledger import Reader, State

from .directory import relist
from .entity_rows import GONE, OWNED, entity_rows

STANDS = "ended_at IS NULL"


def resettle(state: State, owner: str, identifiers: list[str]) -> None:
    """Find out anew who speaks for these entities and for all that was merged into them."""
    concerned: list[str] = []
    for identifier in identifiers:
        concerned += [one for one in (identifier, *below(state, owner, identifier)) if one not in concerned]
    before = entity_rows(state, owner, concerned)
    for identifier in concerned:
        survivor, merged_at = _survivor(state, owner, identifier)
        state.execute(
            f"UPDATE memory_redirects SET survivor_id = :survivor {OWNED} AND from_id = :id AND {STANDS}",
            owner=owner,
            id=identifier,
            survivor=survivor,
        )
        _write(state, owner, identifier, survivor, merged_at)
    for identifier in concerned:
        _count(state, owner, identifier)
    relist(state, owner, before)


def below(reader: Reader, owner: str, identifier: str) -> list[str]:
    """Whatever was merged into an entity, or into what was merged into it."""
    found: list[str] = []
    waiting = [identifier]
    while waiting:
        rows = reader.rows(
            f"SELECT from_id FROM memory_redirects {OWNED} AND to_id = :to_id AND {STANDS} ORDER BY from_id",
            owner=owner,
            to_id=waiting.pop(),
        )
        found += [row["from_id"] for row in rows]
        waiting += [row["from_id"] for row in rows]
    return found


def _survivor(state: State, owner: str, identifier: str) -> tuple[str, str | None]:
    """Who stands at the end of the redirects, and since when the first of them leads there."""
    current, merged_at = identifier, None
    while redirect := state.row(
        f"SELECT to_id, merged_at FROM memory_redirects {OWNED} AND from_id = :id AND {STANDS}",
        owner=owner,
        id=current,
    ):
        current, merged_at = redirect["to_id"], merged_at or redirect["merged_at"]
    return current, merged_at


def _write(state: State, owner: str, identifier: str, survivor: str, merged_at: str | None) -> None:
    state.execute(
        f"UPDATE memory_entities SET survivor_id = :survivor, merged_at = :merged_at {OWNED} AND id = :id",
        owner=owner,
        id=identifier,
        survivor=None if survivor == identifier else survivor,
        merged_at=merged_at,
    )


def _count(state: State, owner: str, identifier: str) -> None:
    """How many an entity speaks for; one that speaks for nobody, and of which nothing is known, is gone."""
    state.execute(
        f"UPDATE memory_entities SET absorbed = (SELECT count(*) FROM memory_redirects {OWNED}"
        f" AND survivor_id = :id AND {STANDS}) {OWNED} AND id = :id",
        owner=owner,
        id=identifier,
    )
    state.execute(
        f"UPDATE memory_entities SET survivor_id = :gone {OWNED} AND id = :id AND survivor_id IS NULL"
        " AND observations = 0 AND absorbed = 0",
        owner=owner,
        id=identifier,
        gone=GONE,
    )

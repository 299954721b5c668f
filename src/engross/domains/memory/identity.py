"""Who speaks for whom: redirects of merged entities, and the columns that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engross.ledger import Reader, State

from .directory import relist
from .entity_rows import GONE, OWNED, entity_rows, parts

STANDS = "ended_at IS NULL"


def entangled(reader: Reader, owner: str, identifiers: Sequence[str]) -> list[str]:
    """Those of the entities that were merged into others, or others into them."""
    if reader.row("SELECT 1 AS some FROM memory_redirects WHERE tenant = :tenant LIMIT 1") is None:
        return []
    found: set[str] = set()
    for some in parts(identifiers):
        places = ", ".join(f":id_{n}" for n in range(len(some)))
        for end in ("from_id", "to_id"):
            rows = reader.rows(
                f"SELECT {end} AS id FROM memory_redirects {OWNED} AND {end} IN ({places}) AND {STANDS}",
                owner=owner,
                **{f"id_{n}": one for n, one in enumerate(some)},
            )
            found.update(row["id"] for row in rows)
    return sorted(found)


def spoken_for_by(reader: Reader, owner: str, identifier: str) -> list[str]:
    """Whoever an entity is redirected to; nobody, if it is not."""
    rows = reader.rows(
        f"SELECT survivor_id FROM memory_redirects {OWNED} AND from_id = :id AND {STANDS}", owner=owner, id=identifier
    )
    return [row["survivor_id"] for row in rows]


def end_redirect(state: State, owner: str, identifier: str, at: str, last: str) -> list[str]:
    """Redirect an entity no longer, and note who spoke for it last; whoever speaks for it as things stand.

    The two are not always the same when facts are applied again: of those before, some may have been erased since.
    """
    speaking = spoken_for_by(state, owner, identifier)
    state.execute(
        f"UPDATE memory_redirects SET ended_at = :at, survivor_id = :last {OWNED} AND from_id = :id AND {STANDS}",
        owner=owner,
        id=identifier,
        at=at,
        last=last,
    )
    return speaking


def resettle(state: State, owner: str, identifiers: Iterable[str]) -> None:
    """Find out anew who speaks for these entities and for all that was merged into them."""
    concerned: dict[str, None] = {}
    for identifier in identifiers:
        concerned |= dict.fromkeys((identifier, *below(state, owner, identifier)))
    speakers = {identifier: _survivor(state, owner, identifier) for identifier in concerned}
    counted = list(dict.fromkeys((*concerned, *(survivor for survivor, _ in speakers.values()))))
    before = entity_rows(state, owner, counted) if counted else {}
    for identifier, (survivor, merged_at) in speakers.items():
        state.execute(
            f"UPDATE memory_redirects SET survivor_id = :survivor {OWNED} AND from_id = :id AND {STANDS}",
            owner=owner,
            id=identifier,
            survivor=survivor,
        )
        _write(state, owner, identifier, survivor, merged_at)
    for identifier in counted:
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
    """Who speaks for an entity, and since when it is redirected to somebody else.

    That is the last on the way of the redirects of whom anything was ever told: nobody can speak who was erased. A
    redirect to one who was waits until that one is told of again.
    """
    way: list[str] = [identifier]
    merged_at: str | None = None
    while redirect := state.row(
        f"SELECT to_id, merged_at FROM memory_redirects {OWNED} AND from_id = :id AND {STANDS}",
        owner=owner,
        id=way[-1],
    ):
        way.append(redirect["to_id"])
        merged_at = merged_at or redirect["merged_at"]
    survivor = next((one for one in reversed(way) if _is_known(state, owner, one)), way[-1])
    return survivor, None if survivor == identifier else merged_at


def _is_known(state: State, owner: str, identifier: str) -> bool:
    known = state.row(f"SELECT 1 AS some FROM memory_entities {OWNED} AND id = :id", owner=owner, id=identifier)
    return known is not None


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
        f" AND survivor_id = :id AND from_id <> :id AND {STANDS}) {OWNED} AND id = :id",
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

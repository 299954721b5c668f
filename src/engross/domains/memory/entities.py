"""Looking entities up. Whoever asks for one that was merged gets the one that speaks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid

from .directory import count_listed, listed_ids
from .entity_rows import GONE, OWNED, entity_rows
from .ids import ENTITY_ID
from .owners import owner_of
from .reducer import Board, merge, provenance_of, read, snapshot_of
from .refusals import malformed, no_such_entity
from .registry import schema_for
from .schema import EntitySchema

STANDS = "ended_at IS NULL AND from_id <> survivor_id"
"""A redirect to one who was erased leaves an entity to speak for itself."""
PAGE = 200
FEW = 5_000
"""So many of a type are sorted; of more, a page is looked for among all entities."""


class Entity:
    """An entity with everything that was merged into it."""

    def __init__(self, reader: Reader, row: dict[str, Any], members: Sequence[dict[str, Any]] = ()) -> None:
        self._reader = reader
        self.row = row
        self.members = tuple(members)
        self.id: str = row["id"]
        self.type: str = row["type"]
        self.name: str = row["name"]

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """Its own row, then those of what was merged into it."""
        return (self.row, *self.members)

    @property
    def ids(self) -> list[str]:
        """Its id, then those of what was merged into it."""
        return [row["id"] for row in self.rows]

    @property
    def observations(self) -> int:
        """How many observations stand about it."""
        return sum(row["observations"] for row in self.rows)

    @property
    def last_observed_at(self) -> str | None:
        """When something was last observed about it."""
        return max((row["last_observed_at"] or "" for row in self.rows), default="") or None

    @property
    def updated_at(self) -> str:
        """When what is known about it last changed."""
        return str(max(row["updated_at"] for row in self.rows))

    @property
    def aliases(self) -> list[str]:
        """The names of what was merged into it."""
        return sorted({row["name"] for row in self.members} - {self.name})

    @cached_property
    def schema(self) -> EntitySchema:
        """The schema that holds for it."""
        return schema_for(self._reader, self.type)

    @cached_property
    def board(self) -> Board:
        """Everything that competes for its fields."""
        board: Board = read(self.row["board"]) if self.row["board"] else {}
        for member in self.members:
            if member["board"]:
                merge(board, read(member["board"]), self.schema.policies)
        return board

    @property
    def snapshot(self) -> dict[str, Any]:
        """What is held to be true about it."""
        return snapshot_of(self.board)

    @property
    def provenance(self) -> dict[str, str]:
        """Which observation each field comes from."""
        return provenance_of(self.board)

    def shown(self, *, snapshot: bool = True) -> dict[str, Any]:
        """The entity as lists show it."""
        told = {
            "id": self.id,
            "entity_id": self.id,
            "entity_type": self.type,
            "canonical_name": self.name,
            "observation_count": self.observations,
            "last_observation_at": self.last_observed_at or self.row["created_at"],
        }
        if self.members:
            told["aliases"] = self.aliases
        if self.row["survivor_id"]:
            told |= {"merged_to_entity_id": self.row["survivor_id"], "merged_at": self.row["merged_at"]}
        return {**told, "snapshot": self.snapshot} if snapshot else told


def require_id(identifier: str, field: str = "entity_id") -> str:
    """The id, if it has the form of an entity's."""
    if not ENTITY_ID.fullmatch(identifier):
        raise Invalid.many([malformed(f"/{field}", "this is no entity id", "An entity id begins with ent_.")])
    return identifier


def require_entity(reader: Reader, identifier: str, field: str = "entity_id") -> Entity:
    """The entity that speaks for the id; Invalid where there is none."""
    found = find_entity(reader, require_id(identifier, field))
    if found is None:
        raise no_such_entity(identifier, field)
    return found


def find_entity(reader: Reader, identifier: str) -> Entity | None:
    """The entity that speaks for the id, if it is there."""
    owner = owner_of(reader.context)
    row = entity_rows(reader, owner, [identifier]).get(identifier)
    if row is not None and row["survivor_id"]:
        row = entity_rows(reader, owner, [row["survivor_id"]]).get(row["survivor_id"])
    if row is None or row["survivor_id"] == GONE:
        return None
    return Entity(reader, row, _members(reader, owner, row["id"]) if row["absorbed"] else ())


def own_row(reader: Reader, identifier: str) -> dict[str, Any] | None:
    """The row of exactly this entity, whoever speaks for it; None where nothing stands about it."""
    row = entity_rows(reader, owner_of(reader.context), [identifier]).get(identifier)
    return None if row is None or row["survivor_id"] == GONE else row


def find_entities(reader: Reader, identifiers: Iterable[str]) -> dict[str, Entity]:
    """The entities that speak for these ids, by the ids that were asked for."""
    owner = owner_of(reader.context)
    asked = sorted(set(identifiers))
    rows = entity_rows(reader, owner, asked) if asked else {}
    speakers = {one: row["survivor_id"] or one for one, row in rows.items() if row["survivor_id"] != GONE}
    more = sorted(set(speakers.values()) - set(rows))
    if more:
        rows |= entity_rows(reader, owner, more)
    made = {
        one: Entity(reader, rows[one], _members(reader, owner, one) if rows[one]["absorbed"] else ())
        for one in sorted(set(speakers.values()))
        if one in rows and rows[one]["survivor_id"] is None
    }
    return {one: made[speaker] for one, speaker in speakers.items() if speaker in made}


def count_entities(reader: Reader, entity_type: str | None, *, merged: bool) -> int:
    """How many entities there are; with `merged`, those count too that another one speaks for."""
    owner = owner_of(reader.context)
    count = count_listed(reader, owner, entity_type)
    if not merged:
        return count
    rows = reader.rows(f"SELECT from_id FROM memory_redirects {OWNED} AND {STANDS}", owner=owner)
    found = entity_rows(reader, owner, [row["from_id"] for row in rows]) if rows else {}
    return count + sum(entity_type in (None, row["type"]) for row in found.values())


def page_of_entities(
    reader: Reader, entity_type: str | None, *, merged: bool, limit: int, offset: int = 0, after: str = ""
) -> list[Entity]:
    """Entities in the order of their ids."""
    owner = owner_of(reader.context)
    if entity_type is not None and not merged and count_listed(reader, owner, entity_type) <= FEW:
        ids = [one for one in listed_ids(reader, owner, entity_type) if one > after][offset : offset + limit]
    else:
        ids = _scanned(reader, owner, entity_type, merged, limit, offset, after)
    found = entity_rows(reader, owner, ids) if ids else {}
    return [Entity(reader, found[one], _members(reader, owner, one) if found[one]["absorbed"] else ()) for one in ids]


def _scanned(
    reader: Reader, owner: str, entity_type: str | None, merged: bool, limit: int, offset: int, after: str
) -> list[str]:
    """A page in the order of the key: of what there is much of, the next few are never far."""
    wanted = " AND (survivor_id IS NULL OR survivor_id <> '')" if merged else " AND survivor_id IS NULL"
    of_type = "" if entity_type is None else " AND type = :type"
    rows = reader.rows(
        f"SELECT id FROM memory_entities {OWNED}{wanted}{of_type} AND id > :after ORDER BY id"
        " LIMIT :limit OFFSET :offset",
        owner=owner,
        after=after,
        limit=limit,
        offset=offset,
        **({} if entity_type is None else {"type": entity_type}),
    )
    return [row["id"] for row in rows]


def every_entity(reader: Reader, entity_type: str | None = None) -> Iterator[Entity]:
    """All entities that speak for themselves, in the order of their ids, a page at a time."""
    after = ""
    while page := page_of_entities(reader, entity_type, merged=False, limit=PAGE, after=after):
        yield from page
        after = page[-1].id


def _members(reader: Reader, owner: str, survivor: str) -> list[dict[str, Any]]:
    merged = reader.rows(
        f"SELECT from_id FROM memory_redirects {OWNED} AND survivor_id = :survivor AND {STANDS} ORDER BY from_id",
        owner=owner,
        survivor=survivor,
    )
    rows = entity_rows(reader, owner, [row["from_id"] for row in merged]) if merged else {}
    return [rows[identifier] for identifier in sorted(rows)]

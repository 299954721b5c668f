"""Keeping boards: each write adds to the boards of the entities it is about, and to nothing else about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engross.ledger import Fact, State
from engross.store import Insert, Statement

from .checkpoints import checkpoint, is_boundary, late_checkpoints
from .directory import entered, is_listed
from .entity_rows import COLUMNS, UPDATE_ENTITY, Statements, birth, entity_rows
from .index import Posting, added_terms, changed_terms, removed_terms
from .names import COMPANIES, normalise
from .reducer import Board, Claimed, Policies, add, read, snapshot_of, written
from .rows import as_text
from .schema import EntitySchema
from .shipped_schemas import shipped_schema
from .terms import terms_of

ENTITY = ("owner", *COLUMNS.split(", "))
OBSERVATION = (
    *("owner", "born", "entity_id", "observed_at", "id", "position", "fact", "ordinal", "subject", "record_id"),
    *("run_id", "schema_version", "priority", "specificity", "name", "fields", "spans", "created_at"),
)


class Standing:
    """An entity while one fact adds observations to it, all of one instant."""

    __slots__ = (
        *("at", "before", "board", "claims", "in_order", "is_boundary"),
        *("known", "owner", "policies", "row", "was_listed"),
    )

    def __init__(self, owner: str, row: dict[str, Any], policies: Policies, at: str, *, known: bool) -> None:
        self.owner = owner
        self.row = row
        self.policies = policies
        self.at = at
        self.known = known
        self.board: Board = read(row["board"]) if row["board"] else {}
        self.before = terms_of(row["type"], row["name"], snapshot_of(self.board)) if row["observations"] else {}
        self.was_listed = known and is_listed(row)
        self.claims: list[Claimed] = []
        self.is_boundary = False
        last = row["last_observed_at"]
        self.in_order = last is None or at > last
        if last is not None and at < last:
            row["late"] = 1

    def add(self, claim: Claimed) -> None:
        """Let an observation compete."""
        add(self.board, claim, self.policies)
        self.claims.append(claim)
        if is_boundary(claim.id):
            self.is_boundary = True

    def settle(self, now: str) -> None:
        """Bring the entity's row up to date."""
        row = self.row
        if self.known:
            # A clock may be set back; the times of a row are the first and the last, in whatever order they come.
            row["created_at"] = min(row["created_at"], now)
            row["updated_at"] = max(row["updated_at"], now)
            row["last_observed_at"] = max(row["last_observed_at"] or "", self.at)
            row["survivor_id"] = row["survivor_id"] or None
        else:
            row["last_observed_at"] = self.at
        row["observations"] += len(self.claims)
        row["board"] = written(self.board)

    def checkpoint(self) -> Statement:
        """The statement that sets the board aside. The row must be up to date."""
        row = self.row
        return checkpoint(self.owner, row["id"], self.at, row["observations"], row["board"])

    def terms(self) -> tuple[dict[str, int], dict[str, int]]:
        """The terms that go, and those that come."""
        after = terms_of(self.row["type"], self.row["name"], snapshot_of(self.board))
        return changed_terms(self.before, after) if self.before else ({}, after)


def stated_claims(state: State, fact: Fact) -> tuple[Statements, int]:
    """What a fact about observations changes, and how many entities it is the first to tell of."""
    said = fact.payload or {}
    owner, observations, at = said["owner"], said["observations"], said["at"]
    priority, specificity = said["priority"], said["specificity"]
    schemas = _schemas(said)
    standing = _standing(state, fact, observations, schemas)
    record, run = said["record_id"], said["run"]["id"] if "run" in said else None
    weight = priority, None if specificity is None else str(specificity)
    place = fact.position, fact.ordinal
    observed: list[tuple[Any, ...]] = []
    for ordinal, one in enumerate(observations):
        identifier, entity_id, kind, fields = one["id"], one["entity"], one["type"], one["fields"]
        entity = standing[entity_id]
        entity.add(Claimed(identifier, at, priority, specificity, fields))
        observed.append(
            (
                *(owner, entity.row["born"], entity_id, at, identifier, *place, ordinal, fact.subject, record, run),
                *(schemas(kind).version, *weight, _first_name(kind, one["name"]), as_text(fields)),
                *(as_text(one["spans"]) if "spans" in one else None, fact.time),
            )
        )
    statements: Statements = [Insert("memory_observations", OBSERVATION, observed)]
    first_told: list[tuple[Any, ...]] = []
    come: list[Posting] = []
    new: list[Mapping[str, Any]] = []
    for identifier, entity in standing.items():
        entity.settle(fact.time)
        row = entity.row
        if entity.known:
            statements.append((UPDATE_ENTITY, {**row, "owner": owner}))
        else:
            first_told.append((owner, *row.values()))
        if not entity.was_listed and is_listed(row):
            new.append(row)
        if not entity.in_order:
            statements += late_checkpoints(state, owner, identifier, entity.claims, entity.policies)
        elif entity.is_boundary:
            statements.append(entity.checkpoint())
        gone, added = entity.terms()
        born = row["born"]
        if gone:
            statements += removed_terms(owner, identifier, born, gone)
        come += [(owner, term, rank, born, identifier) for term, rank in added.items()]
    # Side by side, terms that begin alike share their pages.
    come.sort()
    statements += [Insert("memory_entities", ENTITY, first_told), entered(owner, new), added_terms(come)]
    return statements, len(first_told)


def _schemas(said: Mapping[str, Any]) -> Callable[[str], EntitySchema]:
    """The schemas that held when a fact was stated: its own, else those that come with the domain."""
    if "schemas" not in said:
        return shipped_schema
    own = {kind: EntitySchema.from_data(schema) for kind, schema in said["schemas"].items()}
    return lambda kind: own.get(kind) or shipped_schema(kind)


def _first_name(entity_type: str, name: str) -> str | None:
    """A name that would be another if it were normalised once more: a company may end in two legal forms."""
    return name if entity_type in COMPANIES and normalise(entity_type, name) != name else None


def _standing(
    state: State, fact: Fact, observations: Sequence[Mapping[str, Any]], schemas: Callable[[str], EntitySchema]
) -> dict[str, Standing]:
    said = fact.payload or {}
    owner, at = said["owner"], said["at"]
    first: dict[str, Mapping[str, Any]] = {}
    born: dict[str, int] = {}
    for ordinal, one in enumerate(observations):
        if one["entity"] not in first:
            first[one["entity"]], born[one["entity"]] = one, birth(fact.position, ordinal)
    rows = entity_rows(state, owner, list(first))
    found: dict[str, Standing] = {}
    for identifier, one in first.items():
        known = identifier in rows
        row = rows[identifier] if known else _new_row(one, born[identifier], fact.time)
        found[identifier] = Standing(owner, row, schemas(one["type"]).policies, at, known=known)
    return found


def _new_row(observation: Mapping[str, Any], born: int, now: str) -> dict[str, Any]:
    """A row as an entity begins, in the order of its columns."""
    return {
        "id": observation["entity"],
        "type": observation["type"],
        "name": observation["name"],
        "born": born,
        "created_at": now,
        "updated_at": now,
        "observations": 0,
        "last_observed_at": None,
        "late": 0,
        "absorbed": 0,
        "survivor_id": None,
        "merged_at": None,
        "board": "",
    }

"""Keeping boards: each write adds to the boards of the entities it is about, and every so often a board is set aside.

A checkpoint is the board of an entity as of an instant of observation. About every thirty-second observation has one,
told by its id, so that the state at any instant is read from one checkpoint and a few observations. An observation that
comes late is added to all checkpoints behind it. Everything here depends on which observations stand, and not on the
order in which they came: what was built up step by step is the same as what is built anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from engross.ledger import Fact, Reader, State

from .names import COMPANIES, normalise
from .reducer import Board, Claimed, Policies, add, read, snapshot_of, written
from .registry import policies_for, schema_for
from .rows import CLAIM_COLUMNS, as_text, claim_of
from .schema import EntitySchema
from .terms import terms_of

Statement = tuple[str, dict[str, Any]]
Statements = list[Statement]

SPACING = 32
"""How many observations lie between two checkpoints, on average."""
GONE = ""
"""Stands for the survivor of an entity about which nothing stands any more."""
ASKED_AT_ONCE = 200
WRITTEN_AT_ONCE = 64
OWNED = "WHERE tenant = :tenant AND owner = :owner"
COLUMNS = (
    "id, type, name, created_at, updated_at, observations, last_observed_at, late, absorbed, survivor_id, merged_at,"
    " board"
)
INSERT_ENTITY = (
    f"INSERT INTO memory_entities (tenant, owner, {COLUMNS}) VALUES (:tenant, :owner, :id, :type, :name, :created_at,"
    " :updated_at, :observations, :last_observed_at, :late, :absorbed, :survivor_id, :merged_at, :board)"
)
UPDATE_ENTITY = (
    "UPDATE memory_entities SET name = :name, created_at = :created_at, updated_at = :updated_at,"
    " observations = :observations, last_observed_at = :last_observed_at, late = :late, survivor_id = :survivor_id,"
    f" board = :board {OWNED} AND id = :id"
)
INSERT_OBSERVATION = (
    "INSERT INTO memory_observations (tenant, owner, entity_id, observed_at, id, position, ordinal, subject, record_id,"
    " run_id, schema_version, priority, specificity, name, fields, spans, created_at, withdrawn_at) VALUES (:tenant,"
    " :owner, :entity_id, :observed_at, :id, :position, :ordinal, :subject, :record_id, :run_id, :schema_version,"
    " :priority, :specificity, :name, :fields, :spans, :created_at, NULL)"
)
STATED = ("owner", "subject", "position", "observed_at")
INSERT_STATEMENT = (
    "INSERT INTO memory_statements (tenant, owner, subject, position, observed_at, stated)"
    " VALUES (:tenant, :owner, :subject, :position, :observed_at, :stated)"
)
INSERT_CHECKPOINT = (
    "INSERT INTO memory_checkpoints (tenant, owner, entity_id, observed_at, observations, board)"
    " VALUES (:tenant, :owner, :entity_id, :observed_at, :observations, :board)"
)
UPDATE_CHECKPOINT = (
    f"UPDATE memory_checkpoints SET observations = :observations, board = :board {OWNED}"
    " AND entity_id = :entity_id AND observed_at = :observed_at"
)
OF_ENTITY = f"FROM memory_observations {OWNED} AND entity_id = :entity_id AND withdrawn_at IS NULL"


class Standing:
    """An entity while one fact adds observations to it, all of one instant."""

    __slots__ = ("at", "before", "board", "claims", "in_order", "known", "owner", "policies", "row")

    def __init__(self, owner: str, row: dict[str, Any], policies: Policies, at: str, *, known: bool) -> None:
        self.owner = owner
        self.row = row
        self.policies = policies
        self.at = at
        self.known = known
        self.board: Board = read(row["board"]) if row["board"] else {}
        self.before = terms_of(row["type"], row["name"], snapshot_of(self.board)) if row["observations"] else {}
        self.claims: list[Claimed] = []
        last = row["last_observed_at"]
        self.in_order = last is None or at > last
        if last is not None and at < last:
            row["late"] = 1

    def add(self, claim: Claimed) -> None:
        """Let an observation compete."""
        add(self.board, claim, self.policies)
        self.claims.append(claim)

    def entry(self, now: str) -> Statement:
        """The statement that writes the entity's row."""
        row = self.row
        # A clock may be set back; the times of a row are the first and the last, in whatever order they come.
        row["created_at"] = min(row["created_at"], now)
        row["updated_at"] = max(row["updated_at"], now)
        row["observations"] += len(self.claims)
        row["last_observed_at"] = max(row["last_observed_at"] or "", self.at)
        row["survivor_id"] = row["survivor_id"] or None
        row["board"] = written(self.board)
        return UPDATE_ENTITY if self.known else INSERT_ENTITY, {**row, "owner": self.owner}

    def checkpoint(self) -> Statements:
        """The statement that sets the board aside, if it is time for that. The row must have been written."""
        if not any(is_boundary(claim.id) for claim in self.claims):
            return []
        return [
            checkpoint(self.owner, self.row["id"], self.at, self.row["observations"], self.row["board"]),
        ]

    def terms(self) -> tuple[dict[str, int], dict[str, int]]:
        """The terms that go, and those that come."""
        return changed_terms(self.before, terms_of(self.row["type"], self.row["name"], snapshot_of(self.board)))


def stated_claims(state: State, fact: Fact) -> Statements:
    """What a fact about observations changes."""
    said = fact.payload or {}
    owner, observations, at = said["owner"], said["observations"], said["at"]
    priority, specificity = said["priority"], said["specificity"]
    schemas = {kind: schema_for(state, kind) for kind in sorted({one["type"] for one in observations})}
    standing = _standing(state, fact, observations, schemas)
    shared = {
        "owner": owner,
        "observed_at": at,
        "position": fact.position,
        "subject": fact.subject,
        "record_id": said["record_id"],
        "run_id": said["run"]["id"] if "run" in said else None,
        "priority": priority,
        "specificity": None if specificity is None else str(specificity),
        "spans": None,
        "created_at": fact.time,
    }
    stated = as_text([[one["entity"], one["id"]] for one in observations])
    statements: Statements = [(INSERT_STATEMENT, {name: shared[name] for name in STATED} | {"stated": stated})]
    for ordinal, one in enumerate(observations):
        identifier, entity_id, fields = one["id"], one["entity"], one["fields"]
        standing[entity_id].add(Claimed(identifier, at, priority, specificity, fields))
        params = shared | {
            "entity_id": entity_id,
            "id": identifier,
            "ordinal": ordinal,
            "schema_version": schemas[one["type"]].version,
            "name": _first_name(one["type"], one["name"]),
            "fields": as_text(fields),
        }
        if "spans" in one:
            params["spans"] = as_text(one["spans"])
        statements.append((INSERT_OBSERVATION, params))
    come: list[tuple[str, int, str]] = []
    for identifier, entity in standing.items():
        statements.append(entity.entry(fact.time))
        statements += entity.checkpoint() if entity.in_order else _late_checkpoints(state, entity)
        gone, added = entity.terms()
        statements += removed_terms(owner, identifier, gone)
        come += [(term, rank, identifier) for term, rank in added.items()]
    return statements + added_terms(owner, come)


def _first_name(entity_type: str, name: str) -> str | None:
    """A name that would be another if it were normalised once more: a company may end in two legal forms."""
    return name if entity_type in COMPANIES and normalise(entity_type, name) != name else None


def is_boundary(observation_id: str) -> bool:
    """Does an observation with this id have a checkpoint?"""
    return int(observation_id[-2:], 16) % SPACING == 0


def checkpoint(owner: str, entity_id: str, at: str, observations: int, board: str) -> Statement:
    """The statement that sets a board aside."""
    params = {"owner": owner, "entity_id": entity_id, "observed_at": at, "observations": observations, "board": board}
    return INSERT_CHECKPOINT, params


def nearest_checkpoint(reader: Reader, owner: str, entity_id: str, *, before: str) -> dict[str, Any] | None:
    """The last checkpoint before an instant."""
    return reader.row(
        f"SELECT observed_at, observations, board FROM memory_checkpoints {OWNED} AND entity_id = :entity_id"
        " AND observed_at < :before ORDER BY observed_at DESC LIMIT 1",
        owner=owner,
        entity_id=entity_id,
        before=before,
    )


def rebuild_entities(state: State, owner: str, identifiers: Iterable[str]) -> None:
    """Reduce entities again from all that still stands about them."""
    for identifier in identifiers:
        rows = entity_rows(state, owner, [identifier])
        if identifier in rows:
            _rebuild(state, owner, rows[identifier])


def _rebuild(state: State, owner: str, row: dict[str, Any]) -> None:
    identifier = row["id"]
    owned = {"owner": owner, "entity_id": identifier}
    old = terms_of(row["type"], row["name"], snapshot_of(read(row["board"]))) if row["observations"] else {}
    state.execute(f"DELETE FROM memory_checkpoints {OWNED} AND entity_id = :entity_id", **owned)
    ever = _ever_said(state, owned)
    if ever["created_at"] is None:
        state.execute(f"DELETE FROM memory_entities {OWNED} AND id = :entity_id", **owned)
        state.execute_all(removed_terms(owner, identifier, old))
        return
    policies = policies_for(state, row["type"])
    claims = state.rows(f"SELECT {CLAIM_COLUMNS}, position {OF_ENTITY} ORDER BY observed_at, position", **owned)
    board: Board = {}
    statements: Statements = []
    pending = False
    for place, one in enumerate(claims):
        add(board, claim_of(one), policies)
        pending = pending or is_boundary(one["id"])
        # A checkpoint stands for all observations of its instant.
        if pending and (place + 1 == len(claims) or claims[place + 1]["observed_at"] != one["observed_at"]):
            statements.append(checkpoint(owner, identifier, one["observed_at"], place + 1, written(board)))
            pending = False
    first = ever["name"] or normalise(row["type"], row["name"])
    fresh = {
        **row,
        "name": first,
        "created_at": ever["created_at"],
        "updated_at": max(ever["last_created"], ever["last_withdrawn"] or ""),
        "observations": len(claims),
        "last_observed_at": claims[-1]["observed_at"] if claims else None,
        "late": int(ever["last_withdrawn"] is not None or _is_jumbled(claims)),
        "survivor_id": row["survivor_id"] or (None if claims or row["absorbed"] else GONE),
        "board": written(board) if claims else "",
    }
    statements.append((UPDATE_ENTITY, {**fresh, "owner": owner}))
    gone, new = changed_terms(old, terms_of(row["type"], first, snapshot_of(board)) if claims else {})
    statements += removed_terms(owner, identifier, gone)
    statements += added_terms(owner, [(term, rank, identifier) for term, rank in new.items()])
    state.execute_all(statements)


def _is_jumbled(claims: Sequence[Mapping[str, Any]]) -> bool:
    """Did any of what is here in the order of observation come in before the one in front of it?"""
    return any(later["position"] < earlier["position"] for earlier, later in pairwise(claims))


def _ever_said(state: State, owned: Mapping[str, str]) -> dict[str, Any]:
    """When an entity was first and last heard of, and under which name first."""
    said = f"FROM memory_observations {OWNED} AND entity_id = :entity_id"
    times = state.row(
        "SELECT min(created_at) AS created_at, max(created_at) AS last_created, max(withdrawn_at) AS last_withdrawn"
        f" {said}",
        **owned,
    )
    first = state.row(f"SELECT name {said} ORDER BY position, ordinal LIMIT 1", **owned)
    return {**(times or {}), "name": first["name"] if first else None}


def _standing(
    state: State, fact: Fact, observations: Sequence[Mapping[str, Any]], schemas: Mapping[str, EntitySchema]
) -> dict[str, Standing]:
    said = fact.payload or {}
    owner, at = said["owner"], said["at"]
    first: dict[str, Mapping[str, Any]] = {}
    for one in observations:
        first.setdefault(one["entity"], one)
    rows = entity_rows(state, owner, list(first))
    new = [identifier for identifier in first if identifier not in rows]
    redirects = _redirects(state, owner, new) if new else {}
    found: dict[str, Standing] = {}
    for identifier, one in first.items():
        known = identifier in rows
        row = rows[identifier] if known else _new_row(one, fact.time, redirects.get(identifier))
        found[identifier] = Standing(owner, row, schemas[one["type"]].policies, at, known=known)
    return found


def _new_row(observation: Mapping[str, Any], now: str, redirect: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "id": observation["entity"],
        "type": observation["type"],
        "name": observation["name"],
        "created_at": now,
        "updated_at": now,
        "observations": 0,
        "last_observed_at": None,
        "late": 0,
        "absorbed": 0 if redirect is None else redirect["absorbed"],
        "survivor_id": None if redirect is None else redirect["survivor_id"],
        "merged_at": None if redirect is None else redirect["merged_at"],
        "board": "",
    }


def _redirects(state: State, owner: str, identifiers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Who speaks for entities that are new: somebody may have been told to before all that was known was erased."""
    if state.row("SELECT 1 AS some FROM memory_redirects WHERE tenant = :tenant LIMIT 1") is None:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for identifier in identifiers:
        absorbed = state.value(
            f"SELECT count(*) FROM memory_redirects {OWNED} AND survivor_id = :id AND ended_at IS NULL",
            owner=owner,
            id=identifier,
        )
        redirect = state.row(
            f"SELECT survivor_id, merged_at FROM memory_redirects {OWNED} AND from_id = :id AND ended_at IS NULL",
            owner=owner,
            id=identifier,
        )
        if redirect or absorbed:
            found[identifier] = {"survivor_id": None, "merged_at": None, **(redirect or {}), "absorbed": absorbed}
    return found


def entity_rows(reader: Reader, owner: str, identifiers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The rows of entities by their ids; those that are not there are left out."""
    if len(identifiers) == 1:
        row = reader.row(f"SELECT {COLUMNS} FROM memory_entities {OWNED} AND id = :id", owner=owner, id=identifiers[0])
        return {} if row is None else {identifiers[0]: row}
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(identifiers), ASKED_AT_ONCE):
        some = identifiers[start : start + ASKED_AT_ONCE]
        places = ", ".join(f":id_{n}" for n in range(len(some)))
        rows = reader.rows(
            f"SELECT {COLUMNS} FROM memory_entities {OWNED} AND id IN ({places})",
            owner=owner,
            **{f"id_{n}": identifier for n, identifier in enumerate(some)},
        )
        found |= {row["id"]: row for row in rows}
    return found


def changed_terms(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The terms that go, and those that come."""
    gone = {term: rank for term, rank in old.items() if new.get(term) != rank}
    return gone, {term: rank for term, rank in new.items() if old.get(term) != rank}


def removed_terms(owner: str, entity_id: str, gone: Mapping[str, int]) -> Statements:
    """Statements that take terms away, one by one."""
    return [
        (
            f"DELETE FROM memory_terms {OWNED} AND term = :term AND rank = :rank AND entity_id = :entity_id",
            {"owner": owner, "term": term, "rank": rank, "entity_id": entity_id},
        )
        for term, rank in gone.items()
    ]


def added_terms(owner: str, come: Sequence[tuple[str, int, str]]) -> Statements:
    """Statements that add terms, many at once."""
    statements: Statements = []
    for start in range(0, len(come), WRITTEN_AT_ONCE):
        some = come[start : start + WRITTEN_AT_ONCE]
        params: dict[str, Any] = {"owner": owner}
        for n, (term, rank, entity_id) in enumerate(some):
            params[f"t{n}"], params[f"r{n}"], params[f"e{n}"] = term, rank, entity_id
        statements.append((_insert_terms(len(some)), params))
    return statements


@cache
def _insert_terms(count: int) -> str:
    places = ", ".join(f"(:tenant, :owner, :t{n}, :r{n}, :e{n})" for n in range(count))
    return f"INSERT INTO memory_terms (tenant, owner, term, rank, entity_id) VALUES {places}"


def _late_checkpoints(state: State, entity: Standing) -> Statements:
    """Add what does not come last to the checkpoints behind it, and set a board of its own instant aside if need be."""
    owned = {"owner": entity.owner, "entity_id": entity.row["id"]}
    rows = state.rows(
        f"SELECT observed_at, observations, board FROM memory_checkpoints {OWNED} AND entity_id = :entity_id"
        " AND observed_at >= :at ORDER BY observed_at",
        **owned,
        at=entity.at,
    )
    statements: Statements = []
    for row in rows:
        board = read(row["board"])
        for claim in entity.claims:
            add(board, claim, entity.policies)
        params = {"observations": row["observations"] + len(entity.claims), "board": written(board)}
        statements.append((UPDATE_CHECKPOINT, {**owned, "observed_at": row["observed_at"], **params}))
    is_there = bool(rows) and rows[0]["observed_at"] == entity.at
    if not is_there and any(is_boundary(claim.id) for claim in entity.claims):
        statements.append(_inserted_checkpoint(state, entity))
    return statements


def _inserted_checkpoint(state: State, entity: Standing) -> Statement:
    board, count = board_at(state, entity.owner, entity.row["id"], entity.at, entity.policies)
    for claim in entity.claims:
        add(board, claim, entity.policies)
    return checkpoint(entity.owner, entity.row["id"], entity.at, count + len(entity.claims), written(board))


def board_at(reader: Reader, owner: str, entity_id: str, at: str, policies: Policies) -> tuple[Board, int]:
    """The board of what was observed up to an instant, that instant included, and from how many observations it is."""
    nearest = nearest_checkpoint(reader, owner, entity_id, before=f"{at}~")
    board: Board = read(nearest["board"]) if nearest else {}
    rows = reader.rows(
        f"SELECT {CLAIM_COLUMNS} {OF_ENTITY} AND observed_at > :after AND observed_at <= :at",
        owner=owner,
        entity_id=entity_id,
        after=nearest["observed_at"] if nearest else "",
        at=at,
    )
    for row in rows:
        add(board, claim_of(row), policies)
    return board, (nearest["observations"] if nearest else 0) + len(rows)

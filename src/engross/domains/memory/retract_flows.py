"""Taking a source back, with everything that depends on it."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Reader, Unit
from engross.replies import Invalid, codes

from .arguments import GIVEN_ACME, Answered, UserId
from .entity_rows import OWNED
from .ids import RECORD_ID
from .observations import stated_by
from .owners import owner_of
from .records import find_record
from .refusals import malformed, raise_all
from .ways import Ways

MOST_SHOWN = 100


class RetractSource(TypedDict):
    """Which source, or payload."""

    user_id: NotRequired[UserId]
    source_id: Annotated[str, Described("Source or payload to withdraw.", minLength=1, maxLength=128)]


def add_retract_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flow that takes a source back."""

    @memory.record(
        effect="delete",
        tier=3,
        owner_field="user_id",
        answers=None,
        examples=[
            Example(
                "It must be confirmed",
                {"source_id": "$0.source_id"},
                given=GIVEN_ACME,
                reply="CONFIRMATION_REQUIRED",
            ),
            Example("No such source", {"source_id": "nowhere"}, reply="SOURCE_NOT_FOUND"),
        ],
    )
    def retract_source(unit: Unit, arguments: RetractSource) -> Answered:
        """Withdraw a source and everything that rests on it, as one change. The ledger still shows what it said."""
        return _retracted(unit, arguments["source_id"])


def _retracted(unit: Unit, identifier: str) -> Answered:
    if not RECORD_ID.fullmatch(identifier):
        raise_all([malformed("/source_id", "this is no source id")])
    record = find_record(unit, identifier)
    if record is None:
        raise Invalid(codes.SOURCE_NOT_FOUND, {"id": identifier}, field="source_id")
    if record["retracted_at"] is not None:
        return {"source_id": identifier, "retracted_at": record["retracted_at"], **_nothing()}
    told = dependants(unit, identifier)
    owner = owner_of(unit.context)
    said = {"owner": owner, "depends": {name: told[name] for name in ("entity_ids", "relationship_ids")}}
    unit.append(
        "RecordRetracted",
        identifier,
        record["version"],
        said,
        before={"type": record["type"], "name": record["name"], "content_hash": record["content_hash"]},
        ends=True,
    )
    gone = unit.rows(
        f"SELECT id FROM memory_entities {OWNED} AND survivor_id = '' AND updated_at = :at ORDER BY id LIMIT :most",
        owner=owner,
        at=unit.now,
        most=MOST_SHOWN,
    )
    return {
        "source_id": identifier,
        "retracted_at": unit.now,
        **told,
        "entities_gone": [row["id"] for row in gone if row["id"] in set(told["entity_ids"])],
    }


def dependants(reader: Reader, record_id: str) -> dict[str, Any]:
    """What rests on a record: how much, and the first of it by id."""
    params = {"owner": owner_of(reader.context), "record_id": record_id}
    stated = list(stated_by(reader, params["owner"], record_id))
    entities = sorted({one.entity_id for one in stated})
    told: dict[str, Any] = {
        "observations_withdrawn": len(stated),
        "entities_affected": len(entities),
        "entity_ids": entities[:MOST_SHOWN],
    }
    for name, (table, column, condition) in _DEPENDING.items():
        told[f"{name}_withdrawn"] = reader.value(
            f"SELECT count(DISTINCT {column}) FROM {table} {OWNED} AND {condition}", **params
        )
        rows = reader.rows(
            f"SELECT DISTINCT {column} AS id FROM {table} {OWNED} AND {condition} ORDER BY {column} LIMIT :most",
            **params,
            most=MOST_SHOWN,
        )
        told[f"{name.removesuffix('s')}_ids"] = [row["id"] for row in rows]
    return told


_SUPPORTED = (
    "record_id = :record_id AND NOT EXISTS (SELECT 1 FROM memory_supports o WHERE o.tenant = memory_supports.tenant"
    " AND o.owner = memory_supports.owner AND o.relationship_id = memory_supports.relationship_id"
    " AND o.record_id <> :record_id)"
)
_DEPENDING: Mapping[str, tuple[str, str, str]] = {
    "relationships": ("memory_supports", "relationship_id", _SUPPORTED),
    "events": ("memory_events", "id", "record_id = :record_id"),
}


def _nothing() -> dict[str, Any]:
    counts = {f"{name}_withdrawn": 0 for name in ("observations", "relationships", "events")}
    lists: dict[str, Any] = {name: [] for name in ("entity_ids", "relationship_ids", "event_ids", "entities_gone")}
    return {**counts, "entities_affected": 0, **lists}

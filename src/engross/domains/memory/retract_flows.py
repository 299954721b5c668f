"""Taking a source back, with everything that depends on it."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.ledger import Reader, Unit
from engross.replies import Invalid, codes

from .arguments import GIVEN_ACME, Answered, UserId
from .entity_rows import GONE, OWNED, entity_rows
from .ids import RECORD_ID
from .observations import Stated, find_observation, stated_by
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
        refuses=[codes.SOURCE_NOT_FOUND],
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
        before={name: record[name] for name in ("type", "name", "content_hash")} | _shown(told),
        ends=True,
    )
    rows = entity_rows(unit, owner, told["entity_ids"]) if told["entity_ids"] else {}
    return {
        "source_id": identifier,
        "retracted_at": unit.now,
        **told,
        "entities_gone": sorted(one for one, row in rows.items() if row["survivor_id"] == GONE),
    }


def dependants(reader: Reader, record_id: str) -> dict[str, Any]:
    """What rests on a record: how much, and the first of it by id."""
    owner = owner_of(reader.context)
    standing = [one for one in stated_by(reader, owner, record_id) if _stands(reader, one)]
    entities = sorted({one.entity_id for one in standing})
    relationships, events = _only_supported(reader, owner, record_id), _events(reader, owner, record_id)
    return {
        "observations_withdrawn": len(standing),
        "entities_affected": len(entities),
        "entity_ids": entities[:MOST_SHOWN],
        "relationships_withdrawn": len(relationships),
        "relationship_ids": relationships[:MOST_SHOWN],
        "events_withdrawn": len(events),
        "event_ids": events[:MOST_SHOWN],
    }


def _shown(told: dict[str, Any]) -> dict[str, Any]:
    """What whoever decides is shown of it."""
    return {name: value for name, value in told.items() if value}


def _stands(reader: Reader, stated: Stated) -> bool:
    row = find_observation(reader, [stated.entity_id], stated.id, stated.at)
    return row is not None and row["withdrawn_at"] is None


def _only_supported(reader: Reader, owner: str, record_id: str) -> list[str]:
    """The relationships that nobody else states."""
    rows = reader.rows(
        f"SELECT relationship_id AS id FROM memory_supports {OWNED} AND record_id = :record_id"
        " ORDER BY relationship_id",
        owner=owner,
        record_id=record_id,
    )
    others = (
        f"SELECT 1 AS some FROM memory_supports {OWNED} AND relationship_id = :id AND record_id <> :record_id LIMIT 1"
    )
    return [row["id"] for row in rows if reader.row(others, owner=owner, id=row["id"], record_id=record_id) is None]


def _events(reader: Reader, owner: str, record_id: str) -> list[str]:
    rows = reader.rows(
        f"SELECT id FROM memory_events {OWNED} AND record_id = :record_id", owner=owner, record_id=record_id
    )
    return sorted(row["id"] for row in rows)


def _nothing() -> dict[str, Any]:
    counts = {f"{name}_withdrawn": 0 for name in ("observations", "relationships", "events")}
    lists: dict[str, Any] = {name: [] for name in ("entity_ids", "relationship_ids", "event_ids", "entities_gone")}
    return {**counts, "entities_affected": 0, **lists}
